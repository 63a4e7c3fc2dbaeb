// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// What package os lacks is done on a descriptor of the folder.

func (d *rootDir) withDescriptor(do func(fd int) error) error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return withFile(f, do)
}

func (d *rootDir) withDescriptors(to dir, do func(a, b int) error) error {
	return d.withDescriptor(func(a int) error {
		return to.(*rootDir).withDescriptor(func(b int) error { return do(a, b) })
	})
}

func (d *rootDir) link(name string, to dir, newName string) error {
	return d.withDescriptors(to, func(a, b int) error { return unix.Linkat(a, name, b, newName, 0) })
}

func (d *rootDir) rename(name string, to dir, newName string, how renameMode) error {
	if how != replacing {
		// This is what a kernel has that is too old for more.
		return errors.ErrUnsupported
	}
	return d.withDescriptors(to, func(a, b int) error { return renameAt(a, name, b, newName, how) })
}

func (d *rootDir) chmodFolder(name string, mode fs.FileMode) error {
	return d.withDescriptor(func(fd int) error { return chmodAt(fd, name, mode) })
}

func (d *rootDir) mayWrite(name string) error {
	return d.withDescriptor(func(fd int) error { return mayWriteAt(fd, name) })
}

func (d *rootDir) attributes(name string, f *os.File) (touched bool, err error) {
	err = d.withDescriptor(func(fd int) error {
		touched, err = copyAttributes(fd, name, f)
		return err
	})
	return touched, err
}

func (d *rootDir) mountOf(name string) (m mount, err error) {
	err = d.withDescriptor(func(fd int) error {
		m, err = mountAt(fd, name)
		return err
	})
	return m, err
}

func (d *rootDir) disk() (k disk) {
	_ = d.withDescriptor(func(fd int) error {
		k = diskOf(fd)
		k.exchanges = false
		return nil
	})
	return k
}

func (d *rootDir) generation(name string, _ fs.FileInfo) (g string, err error) {
	err = d.withDescriptor(func(fd int) error {
		g, err = generationAt(fd, name)
		return err
	})
	return g, err
}

func generationOf(f *os.File, _ fs.FileInfo) (g string, err error) {
	err = withFile(f, func(fd int) error {
		g, err = generationAt(fd, "")
		return err
	})
	return g, err
}

// openTop opens the root of a file system.
func openTop(path string, portable bool) (dir, error) {
	if portable || !hasOpenat2() {
		return openRoot(path)
	}
	return openDescriptor(path)
}
