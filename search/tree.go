// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/find"
)

// tree is any file system, by its List and Open alone.
type tree struct {
	fsys    ambit.FileSystem
	details bool
}

func (t tree) Folder(_ context.Context, path string) (find.Folder, error) {
	return &folder{tree: t, path: path}, nil
}

func (t tree) Way(ctx context.Context, path string) (find.Folder, error) { return t.Folder(ctx, path) }

// folder is a folder by its canonical path.
type folder struct {
	tree
	path   string
	listed []ambit.Entry // as long as details are asked for
}

// page is how many entries are asked for at a time.
const page = 1000

func (f *folder) Entries(ctx context.Context, _ []string) ([]find.Entry, error) {
	var entries []find.Entry
	o := &ambit.ListOptions{Limit: page, Details: f.details}
	for {
		l, err := f.fsys.List(ctx, f.path, o)
		if err != nil {
			return nil, err
		}
		if l.Dir != f.path {
			return nil, ambit.ErrNotADirectory // a link by now
		}
		for _, e := range l.Entries {
			if isName(e.Name) {
				entries = append(entries, find.Entry{Name: e.Name, Kind: e.Info.Kind})
			}
		}
		if f.details {
			f.listed = append(f.listed, l.Entries...)
		}
		if l.Next == "" || l.Next <= o.After { // the latter of a file system that pages badly
			return entries, nil
		}
		o = &ambit.ListOptions{Limit: page, Details: f.details, After: l.Next}
	}
}

// isName reports that it is the name of an entry: a search goes where names lead.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

func (f *folder) Lookup(ctx context.Context, name string) (ambit.FileInfo, error) {
	i, ok := slices.BinarySearchFunc(f.listed, name, func(e ambit.Entry, name string) int { return strings.Compare(e.Name, name) })
	if ok {
		return f.listed[i].Info, nil
	}
	path := ambit.Join(f.path, name)
	info, err := f.fsys.Stat(ctx, path)
	if err == nil && info.Path != path {
		info = ambit.FileInfo{Path: path, Kind: ambit.KindSymlink, Size: -1}
	}
	return info, err
}

func (f *folder) Shows(context.Context, string, bool) bool { return true }

func (f *folder) Enter(_ context.Context, name string) (find.Folder, error) {
	return &folder{tree: f.tree, path: ambit.Join(f.path, name)}, nil
}

func (f *folder) Open(ctx context.Context, name string) (find.File, error) {
	path := ambit.Join(f.path, name)
	opened, err := f.fsys.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if opened.Info().Path != path {
		opened.Close()
		return nil, ambit.ErrNotAFile // a link by now
	}
	return file{opened}, nil
}

func (f *folder) Close() {}

// file is an open file.
type file struct{ ambit.File }

func (f file) Size() int64 { return f.Info().Size }
