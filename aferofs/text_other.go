// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package aferofs

// refuseText returns the fault of a clean path that the host's own rules for
// names have.
func refuseText(string) error { return nil }
