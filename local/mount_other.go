// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import "os"

// mountOf knows of no mounts, only whether the thing called name in d is a
// folder.
func mountOf(d *os.Root, _ *os.File, name string) (m mount, dir bool, err error) {
	if name == "" {
		return mount{}, true, nil
	}
	info, err := d.Lstat(name)
	return mount{}, err == nil && info.IsDir(), err
}

func chmodFolder(d *os.Root, _ *os.File, name string, mode os.FileMode) error {
	return d.Chmod(name, mode)
}
