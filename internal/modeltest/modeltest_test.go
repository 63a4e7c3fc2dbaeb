// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/modeltest"
	"github.com/ambitfs/ambit/memory"
)

// faulty is a correct file system with one fault.
type faulty struct {
	ambit.Forward
	write  func(w ambit.WritableFileSystem, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error)
	remove func(w ambit.WritableFileSystem, path string, o *ambit.RemoveOptions) error
	stat   func(info ambit.FileInfo, err error) (ambit.FileInfo, error)
	list   func(l *ambit.Listing, err error) (*ambit.Listing, error)
	rename func(w ambit.WritableFileSystem, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error)
}

func (f *faulty) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if f.write != nil {
		return f.write(f.Base.(ambit.WritableFileSystem), path, content, o)
	}
	return f.Forward.Write(ctx, path, content, o)
}

func (f *faulty) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if f.remove != nil {
		return f.remove(f.Base.(ambit.WritableFileSystem), path, o)
	}
	return f.Forward.Remove(ctx, path, o)
}

func (f *faulty) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	info, err := f.Forward.Stat(ctx, path)
	if f.stat != nil {
		return f.stat(info, err)
	}
	return info, err
}

func (f *faulty) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := f.Forward.List(ctx, dir, o)
	if f.list != nil {
		return f.list(l, err)
	}
	return l, err
}

func (f *faulty) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	if f.rename != nil {
		return f.rename(f.Base.(ambit.WritableFileSystem), from, to, o)
	}
	return f.Forward.Rename(ctx, from, to, o)
}

// recorder takes a failure for a result.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(string, ...any) {
	r.failed = true
	panic(r)
}

// caught reports whether a sequence fails on fsys.
func caught(t *testing.T, fsys ambit.WritableFileSystem, data []byte) bool {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		modeltest.Run(r, fsys, data)
	}()
	return r.failed
}

// Every fault is found by one of the seeds, and none is found where none is.
func TestFaultsAreFound(t *testing.T) {
	ctx := t.Context()
	for name, fault := range map[string]*faulty{
		"none": {},
		"a precondition is ignored": {write: func(w ambit.WritableFileSystem, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
			free := *o
			if _, ok := o.If.Version(); ok {
				free.If = ambit.Precondition{}
			}
			return w.Write(ctx, path, content, &free)
		}},
		"parents are made unasked": {write: func(w ambit.WritableFileSystem, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
			free := *o
			free.Parents = true
			return w.Write(ctx, path, content, &free)
		}},
		"a byte is lost": {write: func(w ambit.WritableFileSystem, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
			data, err := io.ReadAll(content)
			if err != nil {
				return ambit.WriteResult{}, err
			}
			return w.Write(ctx, path, bytes.NewReader(data[:max(len(data)-1, 0)]), o)
		}},
		"a full folder is removed unasked": {remove: func(w ambit.WritableFileSystem, path string, o *ambit.RemoveOptions) error {
			free := *o
			free.Recursive = o.If.IsZero()
			return w.Remove(ctx, path, &free)
		}},
		"a removal does nothing": {remove: func(ambit.WritableFileSystem, string, *ambit.RemoveOptions) error { return nil }},
		"a move replaces unasked": {rename: func(w ambit.WritableFileSystem, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
			free := *o
			free.Replace = true
			return ambit.Rename(ctx, w, from, to, &free)
		}},
		"a missing parent is not told": {write: func(w ambit.WritableFileSystem, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
			r, err := w.Write(ctx, path, content, o)
			if e, ok := err.(*ambit.Error); ok {
				e.MissingDirs = nil
			}
			return r, err
		}},
		"versions stay": {stat: func(info ambit.FileInfo, err error) (ambit.FileInfo, error) {
			if info.Version != "" {
				info.Version = "always"
			}
			return info, err
		}},
		"modes are hidden": {stat: func(info ambit.FileInfo, err error) (ambit.FileInfo, error) {
			info.Mode = 0
			return info, err
		}},
		"the last page is lost": {list: func(l *ambit.Listing, err error) (*ambit.Listing, error) {
			if err == nil {
				l.Next = ""
			}
			return l, err
		}},
		"a name is listed twice": {list: func(l *ambit.Listing, err error) (*ambit.Listing, error) {
			if err == nil && len(l.Entries) > 0 {
				l.Entries = append(l.Entries, l.Entries[0])
			}
			return l, err
		}},
		"errors have another path": {remove: func(w ambit.WritableFileSystem, path string, o *ambit.RemoveOptions) error {
			err := w.Remove(ctx, path, o)
			if e, ok := err.(*ambit.Error); ok {
				e.Path = strings.Trim(e.Path, "/")
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			found := false
			for _, seed := range modeltest.Seeds() {
				base := memory.New(nil, nil)
				fault.Forward = ambit.Forward{Base: base, Keep: base.Capabilities()}
				found = found || caught(t, fault, seed)
			}
			if found != (name != "none") {
				t.Errorf("found: %v", found)
			}
		})
	}
}
