// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"syscall"
)

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

const overlayMagic = 0x794c7630

// movesFolders reports that the disk of root lets every folder have another
// name. An overlay does not, for what lies in its lower layer.
func movesFolders(root *os.Root) bool {
	var st syscall.Statfs_t
	err := withDescriptor(root, func(fd int) error { return syscall.Fstatfs(fd, &st) })
	return err == nil && uint32(st.Type) != overlayMagic
}

// mayWrite asks whether the caller may write to the file name of d. To open it
// would tell too, but makes an overlay copy the file.
func mayWrite(d *os.Root, name string) error {
	const (
		writeOK         = 2
		effectiveUser   = 0x200
		noSymlinkFollow = 0x100
	)
	return withDescriptor(d, func(fd int) error {
		return syscall.Faccessat(fd, name, writeOK, effectiveUser|noSymlinkFollow)
	})
}
