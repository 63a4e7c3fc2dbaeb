// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"io"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/find"
)

var _ ambit.Searcher = (*FileSystem)(nil)

// Glob finds names on several goroutines. What a guard refuses, and what is
// denied, is left out; guards are asked for OpList of each folder that is entered
// and for OpStat of what is told of.
func (fsys *FileSystem) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	base := searchBase(q.Base)
	sum, err := find.Glob(ctx, searchTree{fsys}, fsys.baseOf(ctx, base), q, yield)
	return sum, ambit.Wrap(ambit.OpGlob, base, err)
}

// Grep finds lines on several goroutines, on the terms of [FileSystem.Glob];
// guards are asked for OpOpen of each file that is searched as well.
func (fsys *FileSystem) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	base := searchBase(q.Base)
	sum, err := find.Grep(ctx, searchTree{fsys}, fsys.baseOf(ctx, base), q, yield)
	return sum, ambit.Wrap(ambit.OpGrep, base, err)
}

func searchBase(base string) string {
	if base == "" {
		return "."
	}
	return base
}

func (fsys *FileSystem) baseOf(ctx context.Context, base string) func() (find.Base, error) {
	return func() (find.Base, error) {
		info, err := fsys.Stat(ctx, base)
		return find.Base{Path: info.Path, Kind: info.Kind}, err
	}
}

// searchDir is an open folder of the host that is searched. No method follows a
// link.
type searchDir interface {
	entries() ([]entry, error) // once
	enter(name string) (searchDir, error)
	// open opens a file, which is regular or not, and does not wait. With mounts
	// it tells what it lies on as well.
	open(name string, mounts bool) (io.ReadCloser, *node, mount, error)
	lookup(name string) (*node, error)
	self() (*node, error)
	// glance tells what has the name, without what tells files apart that are gone,
	// and what it lies on. "" is the folder itself.
	glance(name string) (*node, mount, error)
	close() error
}

// searchTree is the file system as a search walks it: from handle to handle.
type searchTree struct{ *FileSystem }

func (t searchTree) Folder(ctx context.Context, path string) (find.Folder, error) {
	if t.closed.Load() {
		return nil, ambit.ErrClosed
	}
	for range maxTries {
		f, err := t.folderOnce(ctx, path)
		if err != nil || f != nil {
			return f, err
		}
	}
	return nil, restless()
}

// folderOnce returns nothing when the folder was moved away under it.
func (t searchTree) folderOnce(ctx context.Context, path string) (find.Folder, error) {
	p, err := t.walkFor(ctx, ambit.OpList, path, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return t.folderAt(p, searchDirIn)
}

// Way asks no guard: what is to be known of a name in the folder is asked when it
// is.
func (t searchTree) Way(_ context.Context, path string) (find.Folder, error) {
	if t.closed.Load() {
		return nil, ambit.ErrClosed
	}
	for range maxTries {
		p, err := t.walk(path, false)
		if err != nil {
			return nil, err
		}
		f, err := t.folderAt(p, plainSearchDirIn)
		p.close()
		if err != nil || f != nil {
			return f, err
		}
	}
	return nil, restless()
}

// folderAt opens the folder at p; nothing when it was moved away.
func (t searchTree) folderAt(p *place, open func(d dir, name string) (searchDir, error)) (find.Folder, error) {
	switch {
	case p.info == nil:
		return nil, ambit.ErrNotFound
	case !p.info.isDir():
		return nil, ambit.ErrNotADirectory
	case p.parent == nil:
		return &searchFolder{searchTree: t, path: p.above}, nil
	}
	name := "."
	if !p.isRoot() {
		name = p.name
	}
	d, err := open(p.parent.dir, name)
	if err != nil {
		return nil, unlessSwapped(err)
	}
	if now, err := d.self(); err != nil || !now.same(p.info) {
		d.close()
		return nil, unlessSwapped(err)
	}
	return &searchFolder{searchTree: t, dir: d, root: p.parent.root, path: p.path()}, nil
}

// searchFolder is an open folder of the search.
type searchFolder struct {
	searchTree
	dir  searchDir // nil above the roots
	root *root
	path string
}

func (f *searchFolder) Entries(_ context.Context, names []string) ([]find.Entry, error) {
	var all []entry
	if f.dir != nil {
		var err error
		if names != nil && len(names) <= fewNames && !f.root.disk.folds {
			all, err = lookupAll(f.dir, names)
		} else {
			all, err = f.dir.entries()
		}
		if err != nil {
			return nil, err
		}
	}
	entries := make([]find.Entry, 0, len(all))
	for _, e := range all {
		if e.name[0] != '.' || !isHidden(e.name) {
			entries = append(entries, find.Entry{Name: e.name, Kind: e.kind})
		}
	}
	if len(f.roots) > 1 || f.dir == nil {
		for _, way := range f.ways(f.path) {
			entries = withWay(entries, way.name)
		}
	}
	return entries, nil
}

// fewNames is how many names are looked up one by one in a folder that is not
// listed.
const fewNames = 16

func lookupAll(d searchDir, names []string) ([]entry, error) {
	var all []entry
	for _, name := range names {
		info, err := d.lookup(name)
		switch {
		case err == nil:
			all = append(all, entry{name, info.kind()})
		case unlessSwapped(err) != nil:
			return nil, err
		}
	}
	return all, nil
}

// withWay returns the entries with a folder that leads to a root, which is here
// also when it was moved on the host.
func withWay(entries []find.Entry, name string) []find.Entry {
	for i := range entries {
		if entries[i].Name == name {
			entries[i].Kind = ambit.KindDirectory
			return entries
		}
	}
	return append(entries, find.Entry{Name: name, Kind: ambit.KindDirectory})
}

// elsewhere reports that the name in the folder is no name of the host there: a
// root, or the way to one.
func (f *searchFolder) elsewhere(name string) bool {
	return f.dir == nil || len(f.roots) > 1 && (f.rootAt(ambit.Join(f.path, name)) != nil || f.root.disk.folds)
}

func (f *searchFolder) Lookup(_ context.Context, name string) (ambit.FileInfo, error) {
	path := ambit.Join(f.path, name)
	if f.elsewhere(name) {
		p, err := f.walk(path, false)
		if err != nil {
			return ambit.FileInfo{}, err
		}
		defer p.close()
		if p.info == nil {
			return ambit.FileInfo{}, ambit.ErrNotFound
		}
		return describe(path, p.info), nil
	}
	info, err := f.dir.lookup(name)
	if err == nil && len(f.denied) > 0 {
		err = f.judgeAt(f.dir, name) // also when it was shown: another may have the name by now
	}
	if err != nil {
		return ambit.FileInfo{}, err
	}
	return describe(path, info), nil
}

func (f *searchFolder) Shows(ctx context.Context, name string, about bool) bool {
	if len(f.denied) > 0 {
		if f.judgeText(ambit.Join(f.path, name)) != nil {
			return false
		}
		// What may not be looked at has but a name, which a listing has as well.
		if !about {
			if err := f.judge(ctx, name); err != nil && ambit.ReasonOf(err) != ambit.ErrPermission {
				return false
			}
		}
	}
	return len(f.guards) == 0 || f.ask(ctx, ambit.OpStat, ambit.Join(f.path, name)) == nil
}

// judge refuses an entry that is denied by its identity or mounted there.
func (f *searchFolder) judge(ctx context.Context, name string) error {
	if f.elsewhere(name) {
		_, err := f.Lookup(ctx, name)
		return err
	}
	return f.judgeAt(f.dir, name)
}

// judgeAt judges an entry of d; "" is d itself.
func (f *searchFolder) judgeAt(d searchDir, name string) error {
	info, on, err := d.glance(name)
	if err == nil {
		err = f.refuses(info, on)
	}
	return err
}

func (f *searchFolder) refuses(info *node, on mount) error {
	if f.isDenied(info) || on.crosses(f.root.mount, info.isDir()) {
		return ambit.ErrDenied
	}
	return nil
}

// unlessDenied returns err, with which a step to an entry has failed, unless
// nothing may be told of the entry.
func (f *searchFolder) unlessDenied(ctx context.Context, name string, err error) error {
	if len(f.denied) > 0 && ambit.ReasonOf(f.judge(ctx, name)) == ambit.ErrDenied {
		return ambit.ErrDenied
	}
	return err
}

func (f *searchFolder) Enter(ctx context.Context, name string) (find.Folder, error) {
	path := ambit.Join(f.path, name)
	if f.elsewhere(name) {
		return f.Folder(ctx, path)
	}
	if f.closed.Load() {
		return nil, ambit.ErrClosed
	}
	if err := f.judgeText(path); err != nil {
		return nil, err
	}
	if err := f.ask(ctx, ambit.OpList, path); err != nil {
		return nil, err
	}
	d, err := f.dir.enter(name)
	if err != nil {
		return nil, f.unlessDenied(ctx, name, err)
	}
	if len(f.denied) > 0 {
		if err := f.judgeAt(d, ""); err != nil {
			d.close()
			return nil, err
		}
	}
	return &searchFolder{searchTree: f.searchTree, dir: d, root: f.root, path: path}, nil
}

func (f *searchFolder) Open(ctx context.Context, name string) (find.File, error) {
	if f.dir == nil {
		return nil, ambit.ErrNotAFile
	}
	if f.closed.Load() {
		return nil, ambit.ErrClosed
	}
	if len(f.denied) > 0 || len(f.guards) > 0 {
		path := ambit.Join(f.path, name)
		if err := f.judgeText(path); err != nil {
			return nil, err
		}
		if err := f.ask(ctx, ambit.OpOpen, path); err != nil {
			return nil, err
		}
	}
	opened, info, on, err := f.dir.open(name, len(f.denied) > 0)
	if err != nil {
		return nil, f.unlessDenied(ctx, name, err)
	}
	switch {
	case !info.isRegular():
		err = ambit.ErrNotAFile
	case len(f.denied) > 0:
		err = f.refuses(info, on)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return sizedFile{opened, info.size}, nil
}

func (f *searchFolder) Close() {
	if f.dir != nil {
		f.dir.close()
	}
}

// sizedFile is a file with its size when it was opened.
type sizedFile struct {
	io.ReadCloser
	size int64
}

func (f sizedFile) Size() int64 { return f.size }

// plainSearchDir is a searchDir by the means of any dir.
type plainSearchDir struct{ dir }

func (d plainSearchDir) entries() ([]entry, error) { return d.dir.entries(".") }

func (d plainSearchDir) glance(name string) (info *node, on mount, err error) {
	if name == "" {
		info, err = d.self()
	} else {
		info, err = d.lookup(name)
	}
	if err == nil {
		on, err = d.mountOf(name)
	}
	return info, on, err
}

func (d plainSearchDir) enter(name string) (searchDir, error) { return plainSearchDirIn(d.dir, name) }

func plainSearchDirIn(d dir, name string) (searchDir, error) {
	var sub dir
	var err error
	if name == "." {
		sub, err = d.again()
	} else {
		sub, err = d.enter(name)
	}
	if err != nil {
		return nil, unlessNow(ambit.ErrNotADirectory, err)
	}
	return plainSearchDir{sub}, nil
}

func (d plainSearchDir) open(name string, mounts bool) (io.ReadCloser, *node, mount, error) {
	f, err := d.dir.open(name)
	if err != nil {
		return nil, nil, mount{}, unlessNow(ambit.ErrNotAFile, err)
	}
	info, err := describeFile(f)
	var on mount
	if err == nil && mounts {
		on, err = d.dir.mountOf(name)
	}
	if err != nil {
		f.Close()
		return nil, nil, mount{}, err
	}
	return f, info, on, nil
}

// unlessNow returns err, or what the system does not say: that something else came
// to have the name.
func unlessNow(r ambit.Reason, err error) error {
	if swapped(err) && ambit.ReasonOf(err) == ambit.ErrIO {
		return r
	}
	return err
}
