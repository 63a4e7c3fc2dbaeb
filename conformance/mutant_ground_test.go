// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// A ground is a correct backend that mutants stand on.
type ground struct {
	name  string
	build func(t *testing.T, tree conformance.Tree) (storage, error)
}

// A storage is one file system of a ground, with the doors behind its back;
// those that it has not are nil.
type storage struct {
	fsys    ambit.FileSystem
	host    string // the folder of the disk that is the root
	close   func() error
	disturb func(c conformance.Change) error
	beside  func() (map[string]string, error)
	peer    func() (ambit.FileSystem, error)
}

// The grounds.
var (
	inMemory = &ground{name: "memory", build: func(_ *testing.T, tree conformance.Tree) (storage, error) {
		return inMemoryStorage(tree, nil)
	}}

	// limited has a MaxFileSize.
	limited = &ground{name: "memory with a limit", build: func(_ *testing.T, tree conformance.Tree) (storage, error) {
		return inMemoryStorage(tree, &memory.Options{MaxFileSize: 1000})
	}}

	// onDisk is a folder of this disk.
	onDisk = &ground{name: "local", build: func(t *testing.T, tree conformance.Tree) (storage, error) {
		return onDiskStorage(t, tree, nil)
	}}

	// inFolder has relative paths that start in a folder of the standard tree,
	// in the trees that have it.
	inFolder = &ground{name: "memory in a folder", build: func(t *testing.T, tree conformance.Tree) (storage, error) {
		s, err := inMemoryStorage(tree, nil)
		if err == nil && hasFolder(tree) {
			s.fsys, err = ambit.Chdir(t.Context(), s.fsys, startFolder)
		}
		return s, err
	}}

	// onDiskInFolder is the same on this disk, by the backend's own option.
	onDiskInFolder = &ground{name: "local in a folder", build: func(t *testing.T, tree conformance.Tree) (storage, error) {
		o := &local.Options{}
		if hasFolder(tree) {
			o.Cwd = startFolder
		}
		return onDiskStorage(t, tree, o)
	}}
)

// startFolder is the working directory of the grounds that have another one
// than the root.
const startFolder = "/folder"

func hasFolder(tree conformance.Tree) bool {
	return slices.ContainsFunc(tree, func(n conformance.Node) bool {
		return strings.HasPrefix("/"+n.Path, startFolder+"/") || "/"+n.Path == startFolder && n.Kind == ambit.KindDirectory
	})
}

func inMemoryStorage(tree conformance.Tree, o *memory.Options) (storage, error) {
	fsys := memory.New(tree.Files(), o)
	ctx := context.Background()
	for _, n := range tree {
		if n.Mode == 0 || n.Beside() {
			continue
		}
		if _, err := ambit.WriteFile(ctx, fsys, "/"+n.Path, []byte(n.Data), &ambit.WriteOptions{Mode: n.Mode}); err != nil {
			return storage{}, err
		}
	}
	remove := func(path string) error {
		return fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
	}
	return storage{fsys: fsys, disturb: func(c conformance.Change) error {
		switch c.Kind {
		case conformance.DisturbRemove:
			return remove(c.Path)
		case conformance.DisturbReplace:
			if info, err := fsys.Stat(ctx, c.Path); err == nil && info.IsDir() {
				if err := remove(c.Path); err != nil {
					return err
				}
			}
			fsys.SetFile(c.Path, c.Data)
			return nil
		}
		return ambit.ErrUnsupported
	}}, nil
}

// sharedMemory is where Linux has a file system in memory.
const sharedMemory = "/dev/shm"

// diskFolder returns a folder of its own. It stands in memory where the system
// has such a place, since the suite makes a storage for every check and a disk
// syncs every write in it.
func diskFolder(t *testing.T) (string, error) {
	parent := os.TempDir()
	if _, err := os.Stat(sharedMemory); err == nil {
		parent = sharedMemory
	}
	dir, err := os.MkdirTemp(parent, "ambit-mutant-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir, err
}

func onDiskStorage(t *testing.T, tree conformance.Tree, o *local.Options) (storage, error) {
	top, err := diskFolder(t)
	if err != nil {
		return storage{}, err
	}
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o777); err != nil {
		return storage{}, err
	}
	if err := tree.LayOut(root); err != nil {
		return storage{}, err
	}
	fsys, err := local.New(root, o)
	if err != nil {
		return storage{}, err
	}
	return storage{
		fsys: fsys, host: root,
		close:   func() error { return errors.Join(fsys.Close(), os.RemoveAll(top)) },
		disturb: func(c conformance.Change) error { return conformance.DisturbFolder(root, c) },
		beside:  func() (map[string]string, error) { return conformance.BesideFolder(root) },
		peer:    func() (ambit.FileSystem, error) { return local.New(root, o) },
	}, nil
}

// target returns g as the suite wants it, with change around each of its file
// systems.
func (g *ground) target(t *testing.T, change func(s storage) ambit.FileSystem) conformance.Target {
	target := conformance.Target{Name: g.name}
	empty, err := g.build(t, nil)
	if err != nil {
		t.Fatalf("the ground %s: %v", g.name, err)
	}
	if empty.close != nil {
		empty.close()
	}
	var storages sync.Map // by the file system that the suite sees
	behind := func(fsys ambit.FileSystem) (storage, error) {
		if reflect.TypeOf(fsys).Comparable() {
			if s, ok := storages.Load(fsys); ok {
				return s.(storage), nil
			}
		}
		return storage{}, fmt.Errorf("no storage of %s is known for a %T", g.name, fsys)
	}
	target.New = func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
		s, err := g.build(t, tree)
		if err != nil {
			return nil, nil, err
		}
		fsys := change(s)
		storages.Store(fsys, s)
		return fsys, s.close, nil
	}
	if empty.disturb != nil {
		target.Disturb = func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			s, err := behind(fsys)
			if err != nil {
				return err
			}
			return s.disturb(c)
		}
	}
	if empty.beside != nil {
		target.Beside = func(_ context.Context, fsys ambit.FileSystem) (map[string]string, error) {
			s, err := behind(fsys)
			if err != nil {
				return nil, err
			}
			return s.beside()
		}
	}
	if empty.peer != nil {
		target.Peer = func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) {
			s, err := behind(fsys)
			if err != nil {
				return nil, err
			}
			if s.fsys, err = s.peer(); err != nil {
				return nil, err
			}
			return change(s), nil
		}
	}
	return target
}
