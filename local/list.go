// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"slices"
	"strings"

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
	p, err := fsys.walkFor(ctx, ambit.OpList, clean, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if p.info == nil {
		return nil, p.missing(asserted)
	}
	if !p.info.isDir() {
		return nil, p.fault(ambit.ErrNotADirectory, "")
	}
	d, names, err := fsys.names(p)
	if err != nil || names == nil {
		return nil, err
	}
	if d != nil {
		defer d.close()
	}
	dir := p.path()
	details := o != nil && o.Details
	// Sorted while they are small.
	slices.SortFunc(names, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	first, most := 0, len(names)
	if o != nil && o.After != "" {
		at, found := slices.BinarySearchFunc(names, o.After, func(e entry, after string) int { return strings.Compare(e.name, after) })
		if first = at; found {
			first++
		}
	}
	if o != nil && o.Limit > 0 && o.Limit < len(names) {
		most = o.Limit + 1 // one more tells that there are more
	}
	shown := make([]ambit.Entry, 0, min(most, len(names)))
	var left []string
	for i, e := range names {
		if isHidden(e.name) {
			left = append(left, e.name)
			continue
		}
		if i < first || len(shown) == most {
			continue
		}
		if fsys.hides(d, dir, e.name) || len(fsys.guards) > 0 && fsys.ask(ctx, ambit.OpStat, ambit.Join(dir, e.name)) != nil {
			continue
		}
		shown = append(shown, ambit.Entry{Name: e.name, Info: ambit.FileInfo{Kind: e.kind}})
	}
	if d != nil && len(left) > 0 {
		fsys.sweep(d, left, false)
	}
	l := ambit.Page(dir, shown, o)
	entries := l.Entries
	l.Entries = entries[:0]
	prefix, paths := ambit.Join(dir, ""), joined(dir, entries)
	for i, e := range entries {
		if i%64 == 0 {
			if err := ended(ctx); err != nil {
				return nil, err
			}
		}
		path := paths[:len(prefix)+len(e.Name)]
		paths = paths[len(path):]
		e.Name = path[len(path)-len(e.Name):]
		kind := e.Info.Kind
		e.Info = ambit.FileInfo{Path: path, Kind: kind, Size: -1}
		if r := fsys.rootAt(path); r != nil {
			if info, err := r.top.dir.self(); err == nil && details {
				e.Info = describe(path, info)
			}
		} else if d != nil && (details || kind == ambit.KindUnknown) {
			info, err := d.lookup(e.Name)
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

// joined returns the paths of the entries of dir, one after the other: as one
// string they cost one allocation.
func joined(dir string, entries []ambit.Entry) string {
	prefix := ambit.Join(dir, "")
	size := 0
	for _, e := range entries {
		size += len(prefix) + len(e.Name)
	}
	var b strings.Builder
	b.Grow(size)
	for _, e := range entries {
		b.WriteString(prefix)
		b.WriteString(e.Name)
	}
	return b.String()
}

// names returns the open folder at p and all names in it, in any order and not
// nil. A folder that may be read and not searched is returned as nil beside
// its names, and so is one above the roots; nil names mean that something else
// is there by now.
func (m *machine) names(p *place) (*folder, []entry, error) {
	if p.parent == nil {
		return nil, m.ways(p.above), nil
	}
	d, err := p.folder()
	if err != nil || d == nil {
		return nil, nil, err
	}
	all, err := d.dir.entries(".")
	if ambit.ReasonOf(err) == ambit.ErrPermission && !p.isRoot() {
		d.close()
		if all, err = p.parent.dir.entries(p.name); err == nil && all == nil {
			all = []entry{}
		}
		return nil, all, unlessSwapped(err)
	}
	if err != nil {
		d.close()
		return nil, nil, unlessSwapped(err)
	}
	if all == nil {
		all = []entry{}
	}
	for _, e := range m.ways(d.path) {
		// A root that lies here is here, also when it was moved on the host.
		if !slices.ContainsFunc(all, func(other entry) bool { return other.name == e.name }) {
			all = append(all, e)
		}
	}
	return d, all, nil
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
