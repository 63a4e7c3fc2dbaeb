// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// onFallbacks claims Append, Stage and Commit and has nothing but package
// ambit's fallbacks for them, over what it wraps.
type onFallbacks struct {
	ambit.Forward
	// The fallback of Commit tells that another commit came between its
	// publications, as partial, and cannot keep it out.
	commits *sync.Mutex
}

func newOnFallbacks(base ambit.FileSystem) onFallbacks {
	keep := base.Capabilities()
	keep.Append, keep.Stage, keep.Commit, keep.Sub, keep.Guard = false, false, false, false, false
	return onFallbacks{ambit.Forward{Base: base, Keep: keep}, new(sync.Mutex)}
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
	f.commits.Lock()
	defer f.commits.Unlock()
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
		}, &conformance.Options{Levels: []conformance.Level{conformance.LevelWrite, conformance.LevelText, conformance.LevelHostile, conformance.LevelConcurrent}})
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
		conformance.Test(t, target, &conformance.Options{Levels: []conformance.Level{conformance.LevelText, conformance.LevelHostile}})
	})
}

// vanishing is a file system whose files are gone when they are opened, though
// they were there when they were looked at.
type vanishing struct{ ambit.Forward }

func (f vanishing) Open(ctx context.Context, path string) (ambit.File, error) {
	if err := ambit.Remove(ctx, f.Base, path, nil); err != nil {
		return nil, err
	}
	return f.Forward.Open(ctx, path)
}

// A version that is gone is changed, also when it goes between the look at the
// file and its opening.
func TestCommitOfVersionThatVanishes(t *testing.T) {
	ctx := t.Context()
	for _, change := range []ambit.Change{
		{Op: ambit.OpWrite, Path: "/a", Content: strings.NewReader("new")},
		{Op: ambit.OpRemove, Path: "/a"},
	} {
		base := memory.New(map[string]string{"/a": "old"}, nil)
		keep := base.Capabilities()
		keep.Commit = false
		info, err := base.Stat(ctx, "/a")
		if err != nil {
			t.Fatal(err)
		}
		change.If = ambit.IfVersion(info.Version)
		if _, err := ambit.Commit(ctx, vanishing{ambit.Forward{Base: base, Keep: keep}}, []ambit.Change{change}); ambit.ReasonOf(err) != ambit.ErrChanged {
			t.Errorf("%s of a version that vanished: %v, want changed", change.Op, err)
		}
		if _, err := base.Stat(ctx, "/a"); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("%s of a version that vanished made the file anew (%v)", change.Op, err)
		}
	}
}
