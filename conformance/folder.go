// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ambitfs/ambit"
)

// FolderTarget is the target of a backend that serves a folder of this disk:
// open serves root, a new folder beneath dir ("" is the default folder for
// temporary files) that holds the tree of a check. A file system that is an
// [io.Closer] is closed at the end. The target has everything that is optional:
// a Peer is open called once more.
func FolderTarget(name, dir string, open func(root string) (ambit.FileSystem, error)) Target {
	var served sync.Map // file system to the *servedFolder
	of := func(fsys ambit.FileSystem) *servedFolder {
		f, _ := served.Load(fsys)
		return f.(*servedFolder)
	}
	return Target{
		Name: name,
		New: func(_ context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
			scratch, err := os.MkdirTemp(dir, "ambit-conformance-")
			if err != nil {
				return nil, nil, err
			}
			root := filepath.Join(scratch, "root")
			err = errors.Join(os.Mkdir(root, 0o777), tree.LayOut(root))
			f := &servedFolder{root: root}
			var fsys ambit.FileSystem
			if err == nil {
				fsys, err = f.serve(open)
			}
			if err != nil {
				return nil, nil, errors.Join(err, os.RemoveAll(scratch))
			}
			served.Store(fsys, f)
			return fsys, func() error {
				served.Delete(fsys)
				return errors.Join(f.close(), os.RemoveAll(scratch))
			}, nil
		},
		Peer: func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) {
			return of(fsys).serve(open)
		},
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c Change) error {
			return DisturbFolder(of(fsys).root, c)
		},
		Beside: func(_ context.Context, fsys ambit.FileSystem) (map[string]string, error) {
			return BesideFolder(of(fsys).root)
		},
	}
}

// servedFolder is a root and its clients.
type servedFolder struct {
	root string

	mu      sync.Mutex
	clients []ambit.FileSystem
}

func (f *servedFolder) serve(open func(root string) (ambit.FileSystem, error)) (ambit.FileSystem, error) {
	fsys, err := open(f.root)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.clients = append(f.clients, fsys)
	}
	return fsys, err
}

func (f *servedFolder) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, fsys := range f.clients {
		if c, ok := fsys.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
