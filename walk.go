// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"iter"
)

// walkPage is how many entries a walk asks for at a time, which bounds what it
// holds of one folder.
const walkPage = 1000

// Walk yields every entry beneath the folder root, but not root itself:
// a folder before what is in it, names in byte order. No link is followed.
// A folder that cannot be listed is yielded once more with its error, and the
// walk goes on; a root that cannot be listed is one Entry, with no more than
// its path as written, and the error. The end of ctx is an error that ends the
// walk.
//
// Entries have what [Entry] promises without details.
func Walk(ctx context.Context, fsys FileSystem, root string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		top := Entry{Name: Base(root), Info: FileInfo{Path: root, Kind: KindDirectory}}
		walk(ctx, fsys, top, yield)
	}
}

// walk reports whether to go on.
func walk(ctx context.Context, fsys FileSystem, dir Entry, yield func(Entry, error) bool) bool {
	o := &ListOptions{Limit: walkPage}
	for {
		l, err := list(ctx, fsys, dir.Info.Path, o)
		if err != nil {
			err = Wrap(OpWalk, dir.Info.Path, err)
			return yield(dir, err) && ctx.Err() == nil
		}
		for _, e := range l.Entries {
			if ctx.Err() != nil {
				yield(dir, Wrap(OpWalk, dir.Info.Path, contextError(ctx, context.Cause(ctx))))
				return false
			}
			if !yield(e, nil) {
				return false
			}
			if e.Info.Kind == KindDirectory && !walk(ctx, fsys, e, yield) {
				return false
			}
		}
		if l.Next == "" || l.Next <= o.After { // the latter of a file system that pages badly
			return true
		}
		o = &ListOptions{Limit: walkPage, After: l.Next}
	}
}
