// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// folder is a disk with every operation that links concern: what it has not by itself is done by the functions of package
// ambit, Sub opens the folder anew, and Guard looks where a path leads before the call is made.
type folder struct {
	ambit.Forward
	host  string
	asks  []func(ctx context.Context, op ambit.Op, canonical string) error
	loose bool // without Guard
}

// newFolder is a folder of the disk that holds tree.
func newFolder(t testing.TB, tree string) *folder {
	t.Helper()
	f := &folder{host: t.TempDir()}
	if err := conformance.ParseTree(tree).LayOut(f.host); err != nil {
		t.Fatal(err)
	}
	base, err := local.New(f.host, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { base.Close() })
	f.Base, f.Keep = base, base.Capabilities()
	return f
}

func (f *folder) Capabilities() ambit.Capabilities {
	c := f.Forward.Capabilities()
	c.Append, c.Commit, c.Sub, c.Guard = true, true, true, !f.loose
	return c
}

func (f *folder) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	g := *f
	g.asks = append(g.asks[:len(g.asks):len(g.asks)], ask)
	return &g
}

// allow asks the rules where path leads. follow: through its last step too.
func (f *folder) allow(ctx context.Context, op, asked ambit.Op, path string, follow bool) error {
	clean, dir, err := ambit.Resolve("/", path)
	if err != nil || len(f.asks) == 0 {
		return err
	}
	at, name := clean, ""
	if !follow && !dir && clean != "/" {
		at, name = ambit.Dir(clean), ambit.Base(clean)
	}
	info, err := f.Base.Stat(ctx, at)
	canonical := info.Path
	if err != nil {
		canonical = ambit.Wrap(string(op), path, err).(*ambit.Error).Target
	}
	if canonical == "" {
		return nil // the call fails alike
	}
	if name != "" {
		canonical = ambit.Join(canonical, name)
	}
	for _, ask := range f.asks {
		if err := ask(ctx, asked, canonical); err != nil {
			return ambit.Wrap(string(op), path, err)
		}
	}
	return nil
}

func (f *folder) Open(ctx context.Context, path string) (ambit.File, error) {
	if err := f.allow(ctx, ambit.OpOpen, ambit.OpOpen, path, true); err != nil {
		return nil, ambit.Wrap(ambit.OpOpen, path, err)
	}
	return f.Forward.Open(ctx, path)
}

func (f *folder) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if err := f.allow(ctx, ambit.OpStat, ambit.OpStat, path, true); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, err)
	}
	return f.Forward.Stat(ctx, path)
}

func (f *folder) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if err := f.allow(ctx, ambit.OpList, ambit.OpList, dir, true); err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	whole := ambit.ListOptions{}
	if o != nil {
		whole.Details = o.Details
	}
	l, err := f.Forward.List(ctx, dir, &whole)
	if err != nil {
		return nil, err
	}
	var shown []ambit.Entry
	for _, e := range l.Entries {
		refused := false
		for _, ask := range f.asks {
			refused = refused || ask(ctx, ambit.OpStat, e.Info.Path) != nil
		}
		if !refused {
			shown = append(shown, e)
		}
	}
	return ambit.Page(l.Dir, shown, o), nil
}

func (f *folder) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if err := f.allow(ctx, ambit.OpWrite, ambit.OpWrite, path, o == nil || !o.If.Absent()); err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	return f.Forward.Write(ctx, path, content, o)
}

func (f *folder) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	if err := f.allow(ctx, ambit.OpStage, ambit.OpWrite, path, o == nil || !o.If.Absent()); err != nil {
		return nil, ambit.Wrap(ambit.OpStage, path, err)
	}
	return f.Forward.Stage(ctx, path, content, o)
}

func (f *folder) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	if err := f.allow(ctx, ambit.OpAppend, ambit.OpAppend, path, o == nil || !o.If.Absent()); err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpAppend, path, err)
	}
	return ambit.Append(ctx, f.Forward, path, content, o)
}

func (f *folder) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if err := f.allow(ctx, ambit.OpRemove, ambit.OpRemove, path, false); err != nil {
		return ambit.Wrap(ambit.OpRemove, path, err)
	}
	return f.Forward.Remove(ctx, path, o)
}

func (f *folder) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	for _, path := range []string{from, to} {
		if err := f.allow(ctx, ambit.OpRename, ambit.OpRename, path, false); err != nil {
			return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, path, err)
		}
	}
	return f.Forward.Rename(ctx, from, to, o)
}

func (f *folder) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	if err := f.allow(ctx, ambit.OpMkdir, ambit.OpMkdir, dir, false); err != nil {
		return nil, ambit.Wrap(ambit.OpMkdir, dir, err)
	}
	return f.Forward.Mkdir(ctx, dir, o)
}

func (f *folder) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if err := f.allow(ctx, ambit.OpLstat, ambit.OpLstat, path, false); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpLstat, path, err)
	}
	return f.Forward.Lstat(ctx, path)
}

func (f *folder) ReadLink(ctx context.Context, path string) (string, error) {
	if err := f.allow(ctx, ambit.OpReadLink, ambit.OpReadLink, path, false); err != nil {
		return "", ambit.Wrap(ambit.OpReadLink, path, err)
	}
	return f.Forward.ReadLink(ctx, path)
}

func (f *folder) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	for _, c := range changes {
		if err := f.allow(ctx, ambit.OpCommit, c.Op, c.Path, c.Op == ambit.OpWrite && !c.If.Absent()); err != nil {
			return nil, ambit.Wrap(ambit.OpCommit, c.Path, err)
		}
	}
	return ambit.Commit(ctx, f.Forward, changes)
}

func (f *folder) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	if err := f.allow(ctx, ambit.OpSub, ambit.OpSub, dir, true); err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	info, err := f.Base.Stat(ctx, dir)
	if err == nil && !info.IsDir() {
		err = &ambit.Error{Reason: ambit.ErrNotADirectory, Target: info.Path}
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	sub := &folder{host: filepath.Join(f.host, filepath.FromSlash(info.Path)), loose: f.loose}
	base, err := local.New(sub.host, nil)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	context.AfterFunc(ctx, func() { base.Close() })
	sub.Base, sub.Keep = base, base.Capabilities()
	for _, ask := range f.asks {
		sub.asks = append(sub.asks, func(ctx context.Context, op ambit.Op, canonical string) error {
			if info.Path != "/" {
				canonical = filepath.ToSlash(filepath.Clean(info.Path + canonical))
			}
			return ask(ctx, op, canonical)
		})
	}
	return sub, nil
}
