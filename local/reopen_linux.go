// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func reopenUnnamed(f *os.File) (opened *os.File, err error) {
	err = withFile(f, func(fd int) error {
		again, err := openat(unix.AT_FDCWD, descriptorPath(fd), unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if err == unix.ENOENT || err == unix.EACCES {
			return errors.ErrUnsupported // no /proc, or a mode that its owner may not read
		}
		if err == nil {
			opened = os.NewFile(uintptr(again), f.Name())
		}
		return err
	})
	return opened, err
}
