// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local

import (
	"errors"
	"syscall"
	"time"
)

// busy reports that something is mounted at a name.
func busy(err error) bool { return errors.Is(err, syscall.EBUSY) }

func interrupted(err error) bool { return errors.Is(err, syscall.EINTR) }

// outOfDescriptors reports that no more files can be open at a time.
func outOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// untilUnleased repeats an open for writing while somebody looks, by a lease,
// whether anybody writes to the file: an open that does not wait is refused
// then.
func untilUnleased(open func() error) error {
	const patience = 2 * time.Second
	for begun := time.Now(); ; time.Sleep(50 * time.Microsecond) {
		if err := open(); !errors.Is(err, syscall.EAGAIN) || time.Since(begun) > patience {
			return err
		}
	}
}
