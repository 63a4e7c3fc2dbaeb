// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// target serves folders beneath dir to the conformance suite.
func target(dir string) conformance.Target {
	var roots sync.Map // of each file system
	root := func(fsys ambit.FileSystem) string {
		r, _ := roots.Load(fsys)
		return r.(string)
	}
	open := func(root string) (*local.FileSystem, error) {
		fsys, err := local.New(root, nil)
		if err == nil {
			roots.Store(fsys, root)
		}
		return fsys, err
	}
	return conformance.Target{
		Name: "local",
		New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			base, err := os.MkdirTemp(dir, "")
			if err != nil {
				return nil, nil, err
			}
			root := filepath.Join(base, "root")
			if err := os.Mkdir(root, 0o777); err != nil {
				return nil, nil, err
			}
			if err := tree.LayOut(root); err != nil {
				return nil, nil, err
			}
			fsys, err := open(root)
			if err != nil {
				return nil, nil, err
			}
			return fsys, func() error {
				if err := fsys.Close(); err != nil {
					return err
				}
				return os.RemoveAll(base)
			}, nil
		},
		Peer: func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) {
			return open(root(fsys))
		},
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			return conformance.DisturbFolder(root(fsys), c)
		},
		Beside: func(_ context.Context, fsys ambit.FileSystem) (map[string]string, error) {
			return conformance.BesideFolder(root(fsys))
		},
	}
}

func TestConformance(t *testing.T) {
	conform(t, fastDir(t))
}

// conform wants every check to pass, with none waived or left out.
func conform(t *testing.T, dir string) {
	t.Helper()
	report := conformance.Test(t, target(dir), nil)
	for _, r := range report.Results {
		if r.Outcome != conformance.Pass && r.Outcome != conformance.Refused {
			t.Errorf("%s: %v", r.ID, r.Outcome)
		}
	}
}
