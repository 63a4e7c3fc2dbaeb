// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const accessList = "system.posix_acl_access"

// copyAttributes gives f the access list and the user's attributes of the file
// called name. What is granted by capabilities or labels (security.*) is for
// the old content alone.
func copyAttributes(folder int, name string, f *os.File) error {
	old, err := openat(folder, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0)
	list := func(b []byte) (int, error) { return unix.Flistxattr(old, b) }
	get := func(name string, b []byte) (int, error) { return unix.Fgetxattr(old, name, b) }
	if err == unix.EACCES {
		// A handle needs no right to read, and can only be asked by its path.
		old, err = openat(folder, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
		list = func(b []byte) (int, error) { return unix.Listxattr(descriptorPath(old), b) }
		get = func(name string, b []byte) (int, error) { return unix.Getxattr(descriptorPath(old), name, b) }
	}
	if err != nil {
		return err
	}
	defer unix.Close(old)
	names, err := growing(list)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return err
	}
	return withFile(f, func(fd int) error {
		if !strings.Contains(string(names), accessList+"\x00") {
			// The folder may have given the new file one.
			if err := unix.Fremovexattr(fd, accessList); err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP) {
				return err
			}
		}
		for name := range strings.SplitSeq(string(names), "\x00") {
			if name != accessList && !strings.HasPrefix(name, "user.") {
				continue
			}
			value, err := growing(func(b []byte) (int, error) { return get(name, b) })
			if err == nil {
				err = unix.Fsetxattr(fd, name, value, 0)
			}
			if err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP) {
				return err
			}
		}
		return nil
	})
}

// growing calls read with a larger buffer while it asks for one.
func growing(read func([]byte) (int, error)) ([]byte, error) {
	for b := make([]byte, 512); ; b = make([]byte, 4*len(b)) {
		n, err := read(b)
		switch {
		case err == unix.EINTR:
		case err != unix.ERANGE:
			return b[:max(n, 0)], err
		case len(b) > 1<<20:
			return nil, err
		}
	}
}
