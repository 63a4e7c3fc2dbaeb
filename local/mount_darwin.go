// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// mountOf tells where the thing called name in the open folder f lies, and
// whether it is a folder. "" is f itself.
func mountOf(_ *os.Root, f *os.File, name string) (m mount, dir bool, err error) {
	var st unix.Stat_t
	err = withFile(f, func(fd int) error {
		if name == "" {
			return unix.Fstat(fd, &st)
		}
		return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return mount{id: uint64(st.Dev), device: true}, st.Mode&unix.S_IFMT == unix.S_IFDIR, err
}

// chmodFolder sets the permission bits of the folder name of f. It follows no
// link.
func chmodFolder(_ *os.Root, f *os.File, name string, mode os.FileMode) error {
	return withFile(f, func(fd int) error {
		return unix.Fchmodat(fd, name, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
	})
}
