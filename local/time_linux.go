// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime sets the modification time of the open file, whatever has its name.
func setTime(t *temporary, at time.Time) error {
	modified, err := unix.TimeToTimespec(at)
	if err != nil {
		return err
	}
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, modified}
	return withFile(t.file, func(fd int) error {
		// No path at all is the descriptor itself, on every kernel.
		for {
			_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
			switch errno {
			case 0:
				return nil
			case unix.EINTR:
			default:
				return errno
			}
		}
	})
}
