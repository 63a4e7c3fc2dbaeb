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
// called name, and reports whether it touched f's access list. What is granted
// by capabilities or labels (security.*) is for the old content alone.
func copyAttributes(folder int, name string, f *os.File) (touched bool, err error) {
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
		return false, err
	}
	defer unix.Close(old)
	names, err := growing(list)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = withFile(f, func(fd int) error {
		if !strings.Contains(string(names), accessList+"\x00") {
			var removeErr error
			if touched, removeErr = removeAccessList(fd); removeErr != nil {
				return removeErr
			}
		}
		for name := range strings.SplitSeq(string(names), "\x00") {
			if name != accessList && !strings.HasPrefix(name, "user.") {
				continue
			}
			touched = touched || name == accessList
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
	return touched, err
}

// removeAccessList takes the access list away that the folder may have given a
// new file.
func removeAccessList(fd int) (bool, error) {
	// To ask first is cheaper.
	if _, err := unix.Fgetxattr(fd, accessList, nil); errors.Is(err, unix.ENODATA) || errors.Is(err, unix.EOPNOTSUPP) {
		return false, nil
	}
	return true, unix.Fremovexattr(fd, accessList)
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
