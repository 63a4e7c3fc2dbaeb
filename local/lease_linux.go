// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "golang.org/x/sys/unix"

// leased takes a read lease of the open file, which the system grants only
// while nobody has it open for writing, and gives it back. known is false
// where it grants this caller none at all: a file of another owner, or a disk
// without leases.
func leased(fd int) (alone, known bool) {
	alone, known = takeLease(fd)
	if alone {
		dropLease(fd)
	}
	return alone, known
}

func takeLease(fd int) (alone, known bool) {
	for {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
		switch err {
		case nil:
			return true, true
		case unix.EAGAIN:
			return false, true
		case unix.EINTR:
		default:
			return false, false
		}
	}
}

func dropLease(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK) }

// keptLease reports that nobody has tried to open the file for writing since
// the lease was taken, as far as is known.
func keptLease(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err != nil || kind == unix.F_RDLCK
}
