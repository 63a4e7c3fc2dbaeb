// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"time"

	"golang.org/x/sys/unix"
)

// setTime sets the modification time of the open file, in whole microseconds,
// whatever has its name.
func setTime(t *temporary, at time.Time) error {
	tv := unix.NsecToTimeval(at.UnixNano())
	return withFile(t.file, func(fd int) error { return unix.Futimes(fd, []unix.Timeval{tv, tv}) })
}
