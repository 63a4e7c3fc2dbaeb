// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/ambitfs/ambit/conformance"
	"github.com/spf13/afero"
)

// A storage is an afero.Fs as the suite wants it: one that can be filled, and
// changed behind the guard's back.
type storage struct {
	fsys afero.Fs
	fill afero.Fs // where a tree is laid out
	root string   // of a disk: where it lies on the host; ""
}

func layOut(fsys afero.Fs, tree conformance.Tree) error {
	for _, n := range tree {
		if n.Beside() {
			continue
		}
		path := "/" + n.Path
		if err := fsys.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if n.Kind == ambit.KindDirectory {
			if err := fsys.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		mode := n.Mode
		if mode == 0 {
			mode = 0o644
		}
		if err := afero.WriteFile(fsys, path, []byte(n.Data), mode); err != nil {
			return err
		}
		if err := fsys.Chmod(path, mode); err != nil {
			return err
		}
	}
	return nil
}

// disturb is a stranger that uses the afero.Fs itself.
func (s *storage) disturb(c conformance.Change) error {
	if s.root != "" {
		return conformance.DisturbFolder(s.root, c)
	}
	switch c.Kind {
	case conformance.DisturbReplace, conformance.DisturbRewrite:
		if info, err := s.fill.Stat(c.Path); err == nil && info.IsDir() {
			if err := s.fill.RemoveAll(c.Path); err != nil {
				return err
			}
		}
		if err := s.fill.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
			return err
		}
		if c.Kind == conformance.DisturbRewrite {
			return afero.WriteFile(s.fill, c.Path, []byte(c.Data), 0o644)
		}
		const stranger = "/\x00stranger"
		if err := afero.WriteFile(s.fill, stranger, []byte(c.Data), 0o644); err != nil {
			return err
		}
		return s.fill.Rename(stranger, c.Path)
	case conformance.DisturbRemove:
		return s.fill.RemoveAll(c.Path)
	}
	return &ambit.Error{Reason: ambit.ErrUnsupported}
}

func storages(t *testing.T) map[string]func() (*storage, error) {
	onDisk := func() (*storage, error) {
		// A folder of its own, so that there is something beside the root.
		root := filepath.Join(t.TempDir(), "root")
		if err := os.Mkdir(root, 0o777); err != nil {
			return nil, err
		}
		return &storage{fsys: afero.NewBasePathFs(afero.NewOsFs(), root), root: root}, nil
	}
	inMemory := func(wrap func(tree afero.Fs) afero.Fs) func() (*storage, error) {
		return func() (*storage, error) {
			tree := afero.NewMemMapFs()
			return &storage{fsys: wrap(tree), fill: tree}, nil
		}
	}
	return map[string]func() (*storage, error){
		"MemMapFs":         inMemory(func(tree afero.Fs) afero.Fs { return tree }),
		"ReadOnlyFs":       inMemory(afero.NewReadOnlyFs),
		"BasePathFs(OsFs)": onDisk,
		"CopyOnWriteFs(MemMapFs)": inMemory(func(tree afero.Fs) afero.Fs {
			return afero.NewCopyOnWriteFs(afero.NewMemMapFs(), tree)
		}),
		"CopyOnWriteFs(ReadOnlyFs(OsFs), MemMapFs)": inMemory(func(tree afero.Fs) afero.Fs {
			return afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(diskFs(t)), tree)
		}),
	}
}

func TestConformance(t *testing.T) {
	for name, open := range storages(t) {
		t.Run(name, func(t *testing.T) {
			var of sync.Map // of a FileSystem
			target := conformance.Target{
				Name: name,
				New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
					s, err := open()
					if err != nil {
						return nil, nil, err
					}
					if s.root != "" {
						err = tree.LayOut(s.root)
					} else {
						err = layOut(s.fill, tree)
					}
					if err != nil {
						return nil, nil, err
					}
					fsys := aferofs.New(s.fsys, nil)
					of.Store(fsys, s)
					return fsys, nil, nil
				},
				Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
					s, _ := of.Load(fsys)
					return s.(*storage).disturb(c)
				},
			}
			if strings.Contains(name, "BasePathFs") {
				target.Beside = func(_ context.Context, fsys ambit.FileSystem) (map[string]string, error) {
					s, _ := of.Load(fsys)
					return conformance.BesideFolder(s.(*storage).root)
				}
			}
			conformance.Test(t, target, nil)
		})
	}
}
