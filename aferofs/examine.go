// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// Permission bits for what nobody gave bits for: a disk takes its umask away
// from the first, a tree in memory has none.
const (
	diskFile, diskDir     = 0o666, 0o777
	memoryFile, memoryDir = 0o644, 0o755
)

// examine finds out what is known of the afero.Fs.
func (s *store) examine(exclusive bool) {
	s.exclusive = exclusive
	s.newFile, s.newDir = diskFile, diskDir
	s.lstater, _ = s.fsys.(afero.Lstater)
	switch fsys := s.fsys.(type) {
	case *afero.MemMapFs:
		if exclusive {
			s.mem = fsys
		}
	case *afero.OsFs, afero.OsFs, *afero.BasePathFs, *afero.RegexpFs:
	case *afero.ReadOnlyFs:
		s.readOnly = true
	case *afero.CopyOnWriteFs:
		s.layered = true
	default:
		s.layered, s.strange = true, true
	}
	_, s.plainDisk = s.fsys.(*afero.OsFs)
	if _, base := s.fsys.(*afero.BasePathFs); base {
		s.plainDisk = true
	}

	root, err := s.fsys.Open("/")
	if err != nil {
		if root, err = s.fsys.Open("."); err == nil {
			s.relative = true
		}
	}
	if err == nil && root != nil {
		l := leavesOf(root)
		root.Close()
		s.layered = s.layered || l.layered
		s.plainDisk = s.plainDisk && !l.layered
		s.inMemory = l.all(leafMemory)
		s.keepsMode = !s.strange && (l.all(leafMemory) || l.known() && runtime.GOOS != "windows")
		if l.top == leafMemory {
			s.newFile, s.newDir = memoryFile, memoryDir
		}
		switch _, real, err := s.lstat("/"); {
		case s.inMemory:
			s.links = ambit.LinksNone
		case err != nil:
		case real, s.lstater != nil && l.layered && l.known():
			s.links = ambit.LinksRefused
		}
	}
	s.tempPrefix = tempPrefix
	for range stacked {
		// A name that nobody has: it is missing, but for a file system that
		// refuses every change, and for one like this, for which the name is
		// reserved.
		err := s.fsys.Remove(s.name("/" + s.newTempName()))
		if !refusesChange(err) && !errors.Is(err, fs.ErrPermission) {
			return
		}
		s.tempPrefix = tempPrefix + s.tempPrefix
	}
	s.readOnly = true
}

// stacked is how many file systems like this may lie over each other, with
// reserved names of their own.
const stacked = 4

// refusesChange tells the answer of afero's read-only file systems, which is
// the bare errno, from that of a disk, which comes in a PathError.
func refusesChange(err error) bool {
	return err == syscall.EPERM || err == syscall.EROFS
}

// A leaf is what holds the bytes behind afero's wrappers.
type leaf uint8

const (
	leafUnknown leaf = iota
	leafMemory
	leafDisk
)

// leaves are the holders behind one open file: two where one layer lies over
// another. New things come to be in the top one.
type leaves struct {
	top, bottom leaf
	layered     bool
}

func (l leaves) all(k leaf) bool { return l.top == k && l.bottom == k }

func (l leaves) known() bool { return l.top != leafUnknown && l.bottom != leafUnknown }

func leavesOf(f afero.File) leaves {
	switch f := f.(type) {
	case *afero.BasePathFile:
		return leavesOf(f.File)
	case *afero.UnionFile:
		l := leaves{layered: true}
		if f.Layer != nil {
			l.top = leavesOf(f.Layer).top
		}
		if f.Base != nil {
			l.bottom = leavesOf(f.Base).bottom
		}
		return l
	case *mem.File:
		return leaves{top: leafMemory, bottom: leafMemory}
	case *os.File:
		return leaves{top: leafDisk, bottom: leafDisk}
	}
	return leaves{}
}

// unwrapped returns the file behind the wrappers that only rename it.
func unwrapped(f afero.File) afero.File {
	for {
		base, ok := f.(*afero.BasePathFile)
		if !ok || base.File == nil {
			return f
		}
		f = base.File
	}
}
