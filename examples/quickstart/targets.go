// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// memoryTarget tells the suite how to build a memory file system, how to
// change it behind its back, and that it is its own second client.
func memoryTarget() conformance.Target {
	return conformance.Target{
		Name: "memory",
		New: func(ctx context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			fsys := memory.New(tree.Files(), nil)
			return fsys, nil, tree.SetModes(ctx, fsys)
		},
		Peer: func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) { return fsys, nil },
		Disturb: func(ctx context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			switch c.Kind {
			case conformance.DisturbReplace, conformance.DisturbRewrite:
				fsys.(*memory.FileSystem).SetFile(c.Path, c.Data)
				return nil
			case conformance.DisturbRemove:
				return ambit.Remove(ctx, fsys, c.Path, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
			}
			return ambit.ErrUnsupported
		},
	}
}

// localTarget serves a new folder of the disk for each check.
func localTarget() conformance.Target {
	return conformance.FolderTarget("local", "", func(root string) (ambit.FileSystem, error) {
		return local.New(root, nil)
	})
}
