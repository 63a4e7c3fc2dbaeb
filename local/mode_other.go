// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package local

import (
	"io/fs"
	"os"
)

// setMode does nothing where KeepsMode is not claimed.
func setMode(*os.File, fs.FileMode) error { return nil }

// hasModes says that the system keeps permission bits.
const hasModes = false
