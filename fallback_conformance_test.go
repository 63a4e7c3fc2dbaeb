// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"io"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// onFallbacks claims Append, Stage and Commit and has nothing but package
// ambit's fallbacks for them, over what it wraps.
type onFallbacks struct{ ambit.Forward }

func newOnFallbacks(base ambit.FileSystem) onFallbacks {
	keep := base.Capabilities()
	keep.Append, keep.Stage, keep.Commit, keep.Sub, keep.Guard = false, false, false, false, false
	return onFallbacks{ambit.Forward{Base: base, Keep: keep}}
}

func (f onFallbacks) Capabilities() ambit.Capabilities {
	c := f.Forward.Capabilities()
	c.Append, c.Stage, c.Commit = true, true, true
	return c
}

func (f onFallbacks) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	return ambit.Append(ctx, f.Forward, path, content, o)
}

func (f onFallbacks) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	return ambit.Stage(ctx, f.Forward, path, content, o)
}

func (f onFallbacks) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	return ambit.Commit(ctx, f.Forward, changes)
}

// closing lets the suite release what is beneath.
type closing struct {
	onFallbacks
	io.Closer
}

// The fallbacks keep the contract's cells as an operation of the file system's
// own would.
func TestFallbacksConform(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		conformance.Test(t, conformance.Target{
			Name: "fallbacks over memory",
			New: func(ctx context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
				fsys := memory.New(tree.Files(), nil)
				return newOnFallbacks(fsys), nil, tree.SetModes(ctx, fsys)
			},
		}, &conformance.Options{Levels: []conformance.Level{conformance.LevelWrite, conformance.LevelHostile, conformance.LevelConcurrent}})
	})
	t.Run("local", func(t *testing.T) {
		target := conformance.FolderTarget("fallbacks over local", t.TempDir(), func(root string) (ambit.FileSystem, error) {
			fsys, err := local.New(root, nil)
			if err != nil {
				return nil, err
			}
			return closing{newOnFallbacks(fsys), fsys}, nil
		})
		target.Waivers = map[string]conformance.Waiver{
			"hostile/links-commit-removed": {Why: "the fallback of Commit cannot put a link back, so it refuses to remove one"},
		}
		conformance.Test(t, target, &conformance.Options{Levels: []conformance.Level{conformance.LevelHostile}})
	})
}
