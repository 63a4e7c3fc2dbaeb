// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/ambitfs/ambit"
)

// rootDir is a dir of an [os.Root], for systems without openat2.
type rootDir struct {
	root *os.Root
	// Package os moves names only within one handle: from the top, by path.
	top  *os.Root
	path string // beneath top, when it was opened; "" is top itself
}

// openRoot opens a folder of the host by its path.
func openRoot(path string) (dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		// A path that is not a folder is an error without errno.
		if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		return nil, err
	}
	return &rootDir{root: root, top: root}, nil
}

func (d *rootDir) close() error { return d.root.Close() }

func (d *rootDir) self() (*node, error) {
	info, err := d.lstat(".")
	if err != nil {
		return nil, err
	}
	return nodeOfInfo(info), nil
}

// lstat is os.Root's, which gives up when a signal comes.
func (d *rootDir) lstat(name string) (info fs.FileInfo, err error) {
	for range maxTries {
		if info, err = d.root.Lstat(name); !interrupted(err) {
			break
		}
	}
	return info, err
}

func (d *rootDir) lookup(name string) (*node, error) {
	info, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	n := nodeOfInfo(info)
	if n.isRegular() {
		if err := n.generate(func() (string, error) { return d.generation(name, info) }); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (d *rootDir) readlink(name string) (string, error) { return d.root.Readlink(name) }

func (d *rootDir) enter(name string) (dir, error) {
	info, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	// The step to "." makes the one to name open a folder and nothing else,
	// where an open could wait for the other end of a FIFO.
	root, err := d.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	now, err := (&rootDir{root: root}).lstat(".")
	if err == nil && !os.SameFile(now, info) {
		err = errMoved // a link was put there, which package os follows
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return &rootDir{root: root, top: d.top, path: d.beneath(name)}, nil
}

// errMoved says that something else got the name between two steps.
var errMoved = errors.New("something else has the name by now")

func (d *rootDir) beneath(name string) string {
	if d.path == "" {
		return name
	}
	return d.path + "/" + name
}

func (d *rootDir) again() (dir, error) {
	root, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &rootDir{root: root, top: root}, nil
}

func (d *rootDir) entries(name string) ([]entry, error) {
	var f *os.File
	var err error
	if name == "." {
		f, err = d.root.Open(name)
	} else {
		f, err = d.file(name, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make([]entry, len(names))
	for i, name := range names {
		all[i].name = name
	}
	return all, nil
}

func (d *rootDir) handle() (*os.File, error) { return d.root.Open(".") }

// file opens what is called name and not what a link leads to, which package
// os would.
func (d *rootDir) file(name string, flags int) (*os.File, error) {
	info, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errMoved
	}
	f, err := d.root.OpenFile(name, flags|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, info) {
		// A replacement is fine, if it is what has the name.
		if info, err = d.lstat(name); err == nil && !os.SameFile(now, info) {
			err = errMoved
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (d *rootDir) open(name string) (*os.File, error) { return d.file(name, os.O_RDONLY) }

func (d *rootDir) appendTo(name string) (*os.File, error) {
	var f *os.File
	err := untilUnleased(func() (err error) {
		f, err = d.file(name, os.O_WRONLY|os.O_APPEND)
		return err
	})
	return f, err
}

func (d *rootDir) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d *rootDir) unnamed(fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

func (d *rootDir) name(*os.File, string) error { return errors.ErrUnsupported }

func (d *rootDir) mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm) }

func (d *rootDir) remove(name string, folder bool) error {
	// Package os takes either away.
	info, err := d.lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() != folder {
		if folder {
			return syscall.ENOTDIR
		}
		return syscall.EISDIR
	}
	return d.root.Remove(name)
}

func (d *rootDir) chmod(name string, mode fs.FileMode) error { return d.chmodFolder(name, mode) }

func (d *rootDir) reach(string) (dir, error) { return nil, errIndirect }

func (d *rootDir) openDirect(string) (content, *node, error) { return nil, nil, errIndirect }

func (d *rootDir) lookupDirect(string) (*node, error) { return nil, errIndirect }

func (d *rootDir) peek(string) (*node, error) { return nil, errIndirect }

// fileContent is a content of package os.
type fileContent struct{ *os.File }

func (c fileContent) describe() (*node, error) {
	info, err := c.Stat()
	if err != nil {
		return nil, err
	}
	return nodeOfInfo(info), nil
}

// describeFile describes an open file, with its generation.
func describeFile(f *os.File) (*node, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := nodeOfInfo(info)
	if n.isRegular() {
		if err := n.generate(func() (string, error) { return generationOf(f, info) }); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// version returns the version of the file that n describes.
func (n *node) version() ambit.Version {
	if n.tokens != nil {
		return n.tokens.version
	}
	if !hasVersions || !n.isRegular() {
		return ""
	}
	return ambit.Version(token(n.generation, n.inode, uint64(n.size),
		uint64(n.modified.sec), uint64(n.modified.nsec), uint64(n.changed.sec), uint64(n.changed.nsec)))
}

// asTop returns the folder as one that names are moved beneath.
func asTop(d dir) dir {
	if r, ok := d.(*rootDir); ok {
		return &rootDir{root: r.root, top: r.root}
	}
	return d
}
