// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "golang.org/x/sys/unix"

// mountAt tells where the thing called name in the folder lies. "" is the
// folder itself.
func mountAt(fd int, name string) (mount, error) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	for {
		err := unix.Statx(fd, name, flags, unix.STATX_TYPE|unix.STATX_MNT_ID, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return mount{}, err
		}
	}
	return mountOfStat(&st), nil
}

func mountOfStat(st *unix.Statx_t) mount {
	if st.Mask&unix.STATX_MNT_ID == 0 { // before Linux 5.8
		return mount{id: unix.Mkdev(st.Dev_major, st.Dev_minor), device: true}
	}
	return mount{id: st.Mnt_id}
}
