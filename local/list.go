// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"os"

	"github.com/ambitfs/ambit"
)

// List returns one level of the folder dir. On its way it removes temporary
// files that a writer who died has left there, but no folders.
func (fsys *FileSystem) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := fsys.list(ctx, dir, o)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	return l, nil
}

func (fsys *FileSystem) list(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	clean, asserted, err := fsys.resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	for range maxTries {
		l, err := fsys.listOnce(ctx, clean, asserted, o)
		if err != nil || l != nil {
			return l, err
		}
	}
	return nil, restless()
}

// listOnce returns neither a listing nor an error when the folder was moved
// away under it.
func (fsys *FileSystem) listOnce(ctx context.Context, clean string, asserted bool, o *ambit.ListOptions) (*ambit.Listing, error) {
	p, err := fsys.walk(clean, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, p.missing(asserted)
	}
	if !p.info.IsDir() {
		return nil, p.fault(ambit.ErrNotADirectory, "")
	}
	d, names, err := p.names()
	if err != nil || names == nil {
		return nil, err
	}
	if d != nil {
		defer d.close()
	}
	entries := make([]ambit.Entry, 0, len(names))
	left := names[:0]
	for _, name := range names {
		if isTemporary(name) {
			left = append(left, name)
			continue
		}
		entries = append(entries, ambit.Entry{Name: name})
	}
	if d != nil {
		sweep(d, left, false)
	}
	l := ambit.Page(p.path(), entries, o)
	entries = l.Entries
	l.Entries = entries[:0]
	for _, e := range entries {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		path := ambit.Join(l.Dir, e.Name)
		e.Info = ambit.FileInfo{Path: path, Size: -1}
		if d != nil {
			info, err := d.lstat(e.Name)
			switch {
			case err == nil && info == nil:
				continue // removed meanwhile
			case err == nil:
				e.Info = describe(path, info)
			}
		}
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

// names returns the open folder at p and all names in it, in any order and not
// nil. A folder that may be read and not searched is returned as nil beside
// its names; nil names mean that something else is there by now.
func (p *place) names() (*folder, []string, error) {
	name := p.name
	if name == "" {
		name = "."
	}
	f, err := p.parent.dir.OpenFile(name, os.O_RDONLY|nonBlocking|onlyFolder, 0)
	if err != nil {
		if swapped(err) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(info, p.info) {
		return nil, nil, nil
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, nil, err
	}
	if names == nil {
		names = []string{}
	}
	d, err := p.folder()
	switch {
	case ambit.ReasonOf(err) == ambit.ErrPermission:
		return nil, names, nil
	case err != nil:
		return nil, nil, err
	case d == nil:
		return nil, nil, nil
	}
	return d, names, nil
}

// folder opens the folder at p. It is nil when something else is there by now.
func (p *place) folder() (*folder, error) {
	if p.isRoot() {
		return p.parent.retain(), nil
	}
	d, ok, err := p.parent.enter(p.name, p.info)
	if !ok {
		return nil, err
	}
	return d, nil
}
