// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package memory is a file system in memory, made for tests: a fixture is one
// line, every failure can be made to happen, and what a stranger would do to a
// disk can be done to it.
//
//	fsys := memory.New(map[string]string{"src/main.go": "package main\n"}, nil)
package memory

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// Options are the options of [New]; nil means the zero value.
type Options struct {
	// Faults, when it is set, is asked last by every operation: all has been
	// judged, nothing has been done yet. op is the operation that was called,
	// such as ambit.OpWrite, path the canonical path: Commit asks
	// ambit.OpCommit for each file, Stage ambit.OpStage and its Publish
	// ambit.OpPublish, each Read of a file ambit.OpRead. So what writes by
	// several ways, as a patch does, is failed by all of them. An error becomes
	// the operation's failure and leaves everything as it was, whatever reason
	// it has; so does the end of the context meanwhile. It may use the file
	// system itself. It is safe for concurrent use.
	Faults func(op, path string) error

	// MaxFileSize is the size in bytes above which content is refused as
	// ErrTooLarge; 0 sets no limit.
	MaxFileSize int64
}

// FileSystem is a file system in memory. It is safe for concurrent use, and
// its methods are those of [aferofs.FileSystem]. New files have the mode 0644,
// new folders 0755.
type FileSystem struct {
	*aferofs.FileSystem
	tree *afero.MemMapFs
}

// The modes of what a fixture holds.
const (
	fileMode = 0o644
	dirMode  = 0o755
)

// New returns a file system that holds files: path to content. Paths are read
// as everywhere, with or without the leading slash; folders above a file are
// implied, and a path that ends in a slash is an empty folder. It panics when
// no tree can hold files: an invalid path, two contents for one path, a file
// that another path uses as a folder.
func New(files map[string]string, o *Options) *FileSystem {
	if o == nil {
		o = &Options{}
	}
	tree := &afero.MemMapFs{}
	fsys := &FileSystem{
		FileSystem: aferofs.New(tree, &aferofs.Options{
			Exclusive:   true,
			MaxFileSize: o.MaxFileSize,
			Faults:      o.Faults,
		}),
		tree: tree,
	}
	written := make(map[string]string, len(files))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		clean, folder, err := ambit.Resolve("/", path)
		if err != nil {
			panic("memory: " + err.Error())
		}
		if before, ok := written[clean]; ok {
			panic(fmt.Sprintf("memory: the fixture has %q and %q, which are one path", before, path))
		}
		written[clean] = path
		if folder {
			if files[path] != "" {
				panic(fmt.Sprintf("memory: the fixture has content for the folder %q", path))
			}
			fsys.makeFolders(clean)
			continue
		}
		fsys.makeFolders(ambit.Dir(clean))
		if info, err := tree.Stat(clean); err == nil && info.IsDir() {
			panic(fmt.Sprintf("memory: %q holds other files and cannot be one", path))
		}
		fsys.put(clean, files[path])
	}
	return fsys
}

// SetFile puts content under path as a stranger would, past the contract: no
// rule, precondition or fault stops it. The file is a new one, so that an open
// File keeps what it opened, while Verify and the version tell of the change.
// Folders above it are made. No call is at work meanwhile. It panics where a
// file cannot be put.
func (f *FileSystem) SetFile(path, content string) {
	clean, folder, err := ambit.Resolve("/", path)
	if err != nil {
		panic("memory: " + err.Error())
	}
	if folder {
		panic(fmt.Sprintf("memory: %q names a folder, not a file", path))
	}
	f.Disturb(clean, func() {
		f.makeFolders(ambit.Dir(clean))
		if info, err := f.tree.Stat(clean); err == nil && info.IsDir() {
			panic(fmt.Sprintf("memory: %q is a folder", clean))
		}
		f.put(clean, content)
	})
}

// put makes a file.
func (f *FileSystem) put(path, content string) {
	file, err := f.tree.Create(path)
	if err != nil {
		panic("memory: " + err.Error())
	}
	data := file.(*mem.File).Data()
	if _, err := mem.NewFileHandle(data).WriteString(content); err != nil {
		panic("memory: " + err.Error())
	}
	mem.SetMode(data, fileMode)
}

// makeFolders makes dir and the folders above it.
func (f *FileSystem) makeFolders(dir string) {
	if dir == "/" {
		return
	}
	info, err := f.tree.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			panic(fmt.Sprintf("memory: %q is a file and cannot hold others", dir))
		}
		return
	}
	f.makeFolders(ambit.Dir(dir))
	f.tree.Mkdir(dir, dirMode)
}

// Peek returns the content of the file at path as a stranger would see it,
// past the contract: no rule or fault stops it. ok is false where there is no
// file.
func (f *FileSystem) Peek(path string) (content string, ok bool) {
	clean, folder, err := ambit.Resolve("/", path)
	if err != nil || folder {
		return "", false
	}
	file, err := f.tree.Open(clean)
	if err != nil {
		return "", false
	}
	data := file.(*mem.File).Data()
	if mem.GetFileInfo(data).IsDir() {
		return "", false
	}
	b, err := io.ReadAll(mem.NewReadOnlyFileHandle(data))
	return string(b), err == nil
}
