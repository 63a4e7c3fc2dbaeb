// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

func searchDirIn(d dir, name string) (searchDir, error) { return plainSearchDirIn(d, name) }
