// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bareReaders are the system calls alone that confine and read: the floor.
func bareReaders(depth int, at func(int, reader) starter) []contender {
	return []contender{{name: "bare openat2, read, close", start: at(depth, bareOpenat2)}}
}

// bareOpenat2 ends at a short read: in a regular file there is nothing behind
// it.
func bareOpenat2(dir, path string) (func(int) error, func(), error) {
	root, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	}
	bufs := new(buffers)
	return func(worker int) error {
		fd, err := unix.Openat2(root, path, &how)
		if err != nil {
			return err
		}
		n, err := unix.Read(fd, bufs[worker][:])
		if err == nil && n != blockSize {
			err = fmt.Errorf("read %d bytes, want %d", n, blockSize)
		}
		if closeErr := unix.Close(fd); err == nil {
			err = closeErr
		}
		return err
	}, func() { unix.Close(root) }, nil
}
