// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

import "os"

// contentOf takes over the open file.
func contentOf(f *os.File) content { return fileContent{f} }
