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
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	err = withFile(f, func(fd int) error {
		for {
			err := unix.Statx(fd, name, flags, unix.STATX_TYPE|unix.STATX_MNT_ID, &st)
			if err != unix.EINTR {
				return err
			}
		}
	})
	if err != nil {
		return mount{}, false, err
	}
	m = mount{id: st.Mnt_id}
	if st.Mask&unix.STATX_MNT_ID == 0 { // before Linux 5.8
		m = mount{id: unix.Mkdev(st.Dev_major, st.Dev_minor), device: true}
	}
	return m, st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// chmodFolder sets the permission bits of the folder name of f. It follows no
// link.
func chmodFolder(_ *os.Root, f *os.File, name string, mode os.FileMode) error {
	return withFile(f, func(fd int) error {
		err := unix.Fchmodat(fd, name, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EOPNOTSUPP {
			return err
		}
		// Before Linux 6.6 only a handle names it without a look at links.
		handle, err := unix.Openat(fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		h := os.NewFile(uintptr(handle), name)
		defer h.Close()
		return unix.Chmod(descriptorPath(handle), uint32(mode.Perm()))
	})
}
