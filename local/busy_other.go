// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package local

func busy(error) bool { return false }

func interrupted(error) bool { return false }

func outOfDescriptors(error) bool { return false }

func untilUnleased(open func() error) error { return open() }
