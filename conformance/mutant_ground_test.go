// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// A ground is a correct backend that mutants stand on.
type ground struct {
	name   string
	beside bool // a storage has a place beside its root
	build  func(t *testing.T, tree conformance.Tree) (storage, error)
}

// A storage is one file system of a ground, with the doors behind its back.
type storage struct {
	fsys    ambit.FileSystem
	host    string // the folder of the disk that is the root
	close   func() error
	disturb func(c conformance.Change) error
	beside  func() (map[string]string, error)
	peer    func() (ambit.FileSystem, error)
}

// onDisk is a folder of this disk.
var onDisk = &ground{
	name: "local", beside: true,
	build: func(t *testing.T, tree conformance.Tree) (storage, error) {
		top, err := os.MkdirTemp(t.TempDir(), "")
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
		fsys, err := local.New(root, nil)
		if err != nil {
			return storage{}, err
		}
		return storage{
			fsys: fsys, host: root, close: fsys.Close,
			disturb: func(c conformance.Change) error { return conformance.DisturbFolder(root, c) },
			beside:  func() (map[string]string, error) { return conformance.BesideFolder(root) },
			peer:    func() (ambit.FileSystem, error) { return local.New(root, nil) },
		}, nil
	},
}

// target returns the ground with a mutant's fault; a mutant of none is the
// ground itself.
func (g *ground) target(t *testing.T, m mutant) conformance.Target {
	var storages sync.Map // by the file system that the suite sees
	broken := func(s storage) ambit.FileSystem {
		switch {
		case m.wraps != nil:
			return m.wraps(s.fsys)
		case m.breaks != nil:
			return fault(s.fsys, s.host, m.breaks)
		}
		return s.fsys
	}
	behind := func(fsys ambit.FileSystem) (storage, error) {
		s, ok := storages.Load(fsys)
		if !ok {
			return storage{}, fmt.Errorf("no storage of %s is known for a %T", g.name, fsys)
		}
		return s.(storage), nil
	}
	target := conformance.Target{
		Name: g.name,
		New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			s, err := g.build(t, tree)
			if err != nil {
				return nil, nil, err
			}
			fsys := broken(s)
			storages.Store(fsys, s)
			return fsys, s.close, nil
		},
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			s, err := behind(fsys)
			if err != nil {
				return err
			}
			return s.disturb(c)
		},
		Peer: func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) {
			s, err := behind(fsys)
			if err != nil {
				return nil, err
			}
			s.fsys, err = s.peer()
			if err != nil {
				return nil, err
			}
			return broken(s), nil
		},
	}
	if g.beside {
		target.Beside = func(_ context.Context, fsys ambit.FileSystem) (map[string]string, error) {
			s, err := behind(fsys)
			if err != nil {
				return nil, err
			}
			return s.beside()
		}
	}
	return target
}

// Stand-ins until memory is there.
var (
	inMemory = onDisk
	limited  = onDisk
)
