// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import (
	"io/fs"
	"os"

	"github.com/ambitfs/ambit"
)

const hasVersions = false

func nodeOfInfo(info fs.FileInfo) *node {
	return &node{mode: info.Mode(), size: info.Size(), modified: instantOf(info.ModTime()), info: info}
}

func isOwn(*node) bool { return true }

func keepOwner(*os.File, *node, *node) {}

func birth(fs.FileInfo) string { return "" }

// mountOf knows of no mounts.
func (d *rootDir) mountOf(string) (mount, error) { return mount{}, nil }

func (d *rootDir) disk() disk { return disk{folds: true} }

const errCrossRoots = ambit.ErrCrossDevice
