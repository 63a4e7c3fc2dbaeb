// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import (
	"io/fs"
	"os"
	"runtime"

	"github.com/ambitfs/ambit"
)

// capabilities claims no more than what package os promises on every system:
// there is no lock that all processes see and no time of the last change, and
// nothing is known of what survives a power cut. On Windows a folder can be
// made outside the root through a junction before Go 1.26.9 (GO-2026-6604).
func capabilities(*os.Root, fs.FileInfo) ambit.Capabilities {
	return ambit.Capabilities{
		Links:    ambit.LinksFollowed,
		ReadAt:   true,
		Streams:  true,
		Confined: runtime.GOOS != "js" && runtime.GOOS != "plan9" && runtime.GOOS != "windows",

		Write:    true,
		List:     true,
		Remove:   true,
		Rename:   true,
		Mkdir:    true,
		Stage:    true,
		ReadLink: true,
		Sub:      true,
	}
}

func identity(fs.FileInfo) string { return "" }

func identify(*ambit.FileInfo, fs.FileInfo) {}

func removed(fs.FileInfo) bool { return false }

func keepOwner(*os.File, fs.FileInfo) {}
