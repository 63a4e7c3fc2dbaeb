// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

import (
	"errors"
	"io/fs"
	"os"
)

func (d *rootDir) link(name string, to dir, newName string) error {
	t := to.(*rootDir)
	if d.sameFolder(t) {
		return d.root.Link(name, newName)
	}
	return d.between(name, t, newName, (*os.Root).Link, func(root *os.Root, _, made string) { _ = root.Remove(made) })
}

func (d *rootDir) rename(name string, to dir, newName string, how renameMode) error {
	if how != replacing {
		return errors.ErrUnsupported
	}
	t := to.(*rootDir)
	if d.sameFolder(t) {
		return d.root.Rename(name, newName)
	}
	return d.between(name, t, newName, (*os.Root).Rename, func(root *os.Root, old, made string) { _ = root.Rename(made, old) })
}

// sameFolder reports that to is the folder of d, of which one handle is as
// good as another.
func (d *rootDir) sameFolder(to *rootDir) bool {
	if d == to {
		return true
	}
	a, err := d.root.Stat(".")
	if err != nil {
		return false
	}
	b, err := to.root.Stat(".")
	return err == nil && os.SameFile(a, b)
}

// between acts from the top, where both paths are looked up again: a folder
// that a stranger swaps for a link meanwhile can lead the name to another place
// within the root, which is seen and undone.
func (d *rootDir) between(name string, to *rootDir, newName string, do func(root *os.Root, old, made string) error, undo func(root *os.Root, old, made string)) error {
	if d.top != to.top {
		return errCrossRoots
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	old, made := d.beneath(name), to.beneath(newName)
	if err := do(d.top, old, made); err != nil {
		return err
	}
	if now, err := to.root.Lstat(newName); err != nil || !os.SameFile(now, info) {
		undo(d.top, old, made)
		return errMoved
	}
	return nil
}

func (d *rootDir) chmodFolder(name string, mode fs.FileMode) error { return d.root.Chmod(name, mode) }

func (d *rootDir) mayWrite(name string) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *rootDir) attributes(string, *os.File) (bool, error) { return false, nil }

func (d *rootDir) generation(_ string, info fs.FileInfo) (string, error) { return birth(info), nil }

func generationOf(_ *os.File, info fs.FileInfo) (string, error) { return birth(info), nil }

func openTop(path string, _ bool) (dir, error) { return openRoot(path) }

// leased says that it is not known whether somebody writes to the file.
func leased(*os.File) (alone, known bool) { return false, false }
