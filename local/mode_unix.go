// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local

import (
	"io/fs"
	"os"
)

func setMode(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

// hasModes says that the system keeps permission bits.
const hasModes = true
