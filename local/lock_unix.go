// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local

import (
	"errors"
	"os"
	"syscall"
)

const (
	nonBlocking = syscall.O_NONBLOCK
	// locksFolders says that an advisory lock on an open folder is seen by all
	// processes.
	locksFolders = true
)

// tryLock takes the lock of an open file or folder for itself alone, if nobody
// has it.
func tryLock(f *os.File) (ok bool, err error) { return flock(f, syscall.LOCK_EX) }

// shareLock takes a lock that keeps tryLock from succeeding: the owner of a
// temporary file lives. Several descriptors may have it.
func shareLock(f *os.File) (ok bool, err error) { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) (ok bool, err error) {
	err = withFile(f, func(fd int) error {
		for {
			if err := syscall.Flock(fd, how|syscall.LOCK_NB); err != syscall.EINTR {
				return err
			}
		}
	})
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
