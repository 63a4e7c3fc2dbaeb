// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package find searches trees of files: it walks them, leaves out what dots and
// ignore files hide, and searches many files at once while what it finds comes in
// the order of their paths. It knows no file system: a [Tree] is what it is given.
package find

import (
	"context"
	"io"

	"github.com/ambitfs/ambit"
)

// Tree is what is searched. It and its folders and files are asked by several
// goroutines at once.
//
// What a rule refuses, and what has gone meanwhile, is told by the reasons of
// [ambit]; the search leaves it out.
type Tree interface {
	// Folder opens the folder at a canonical path.
	Folder(ctx context.Context, path string) (Folder, error)
	// Way opens it for the sake of single names: it is not listed, and need not
	// be readable.
	Way(ctx context.Context, path string) (Folder, error)
}

// Folder is an open folder.
type Folder interface {
	// Entries returns what is in the folder, in any order, without what is hidden
	// from everybody. With names that is asked for these alone, and may be of others
	// too. The slice is the caller's.
	Entries(ctx context.Context, names []string) ([]Entry, error)
	// Lookup describes the entry name itself, also where it is a link.
	Lookup(ctx context.Context, name string) (ambit.FileInfo, error)
	// Shows reports whether the entry may be told of: no rule is against it. What
	// is about to be entered or opened is judged by its name alone: the rest is
	// judged there.
	Shows(ctx context.Context, name string, about bool) bool
	// Enter opens the folder name in it. A link is no folder.
	Enter(ctx context.Context, name string) (Folder, error)
	// Open opens the regular file name in it. A link is no regular file.
	Open(ctx context.Context, name string) (File, error)
	Close()
}

// Entry is one entry of a folder.
type Entry struct {
	Name string
	Kind ambit.Kind
}

// File is an open file, read once from its beginning.
type File interface {
	io.ReadCloser
	Size() int64 // -1: unknown
}
