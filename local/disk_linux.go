// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"

	"golang.org/x/sys/unix"
)

// The magic numbers of disks of which it is known that they exchange names.
var exchangingDisks = []uint32{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// Disks on which a file is a door to something else.
var strangeDisks = []uint32{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.SECURITYFS_MAGIC}

func diskOf(fd int) disk {
	var st unix.Statfs_t
	// A descriptor that only names a folder will do.
	if err := unix.Fstatfs(fd, &st); err != nil {
		return disk{}
	}
	magic := uint32(st.Type)
	return disk{
		// An overlay does not give another name to what lies in its lower
		// layer.
		movesFolders: magic != unix.OVERLAYFS_SUPER_MAGIC,
		exchanges:    slices.Contains(exchangingDisks, magic),
		folds:        !slices.Contains(exchangingDisks, magic) && magic != unix.RAMFS_MAGIC && foldsIn(fd),
		volatile:     magic == unix.TMPFS_MAGIC || magic == unix.RAMFS_MAGIC,
		plain:        !slices.Contains(strangeDisks, magic) && !holdsDevices(fd),
	}
}

// foldsIn reports that the disk takes letters of either case for the same, as a
// name in the folder shows. Where none has letters it may.
func foldsIn(fd int) bool {
	all, err := newDescriptor(fd).entries(".") // the caller closes it
	if err != nil {
		return true
	}
	for _, e := range all {
		other := swapCase(e.name)
		if other == e.name {
			continue
		}
		a, err := statAt(fd, e.name)
		if err != nil {
			continue
		}
		b, err := statAt(fd, other)
		return err == nil && a.same(b)
	}
	return true
}

// holdsDevices reports that the folder is where a system keeps its devices,
// which do things when they are opened.
func holdsDevices(fd int) bool {
	n, err := statAt(fd, "null")
	return err == nil && !n.isRegular() && !n.isDir() && !n.isLink()
}
