// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// renameBetween moves a name from one open folder to another, replacing what
// is there.
func renameBetween(from *folder, name string, to *folder, newName string) error {
	if from.same(to) {
		return from.dir.Rename(name, newName)
	}
	return withDescriptors(from, to, func(a, b int) error {
		return syscall.Renameat(a, name, b, newName)
	})
}

// linkBetween gives what has a name in one open folder a name in another. A
// link gets the name itself.
func linkBetween(from *folder, name string, to *folder, newName string) error {
	if from.same(to) {
		return from.dir.Link(name, newName)
	}
	return withDescriptors(from, to, func(a, b int) error {
		old, err := syscall.BytePtrFromString(name)
		if err != nil {
			return err
		}
		made, err := syscall.BytePtrFromString(newName)
		if err != nil {
			return err
		}
		_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(a), uintptr(unsafe.Pointer(old)), uintptr(b), uintptr(unsafe.Pointer(made)), 0, 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}

func withDescriptors(a, b *folder, do func(a, b int) error) error {
	return withDescriptor(a.dir, func(fd int) error {
		return withDescriptor(b.dir, func(fd2 int) error { return do(fd, fd2) })
	})
}

func withDescriptor(d *os.Root, do func(fd int) error) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return withFile(f, do)
}

// descriptorPath is a path to what the descriptor of this process is open at.
func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
