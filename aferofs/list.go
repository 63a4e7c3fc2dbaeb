// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// List returns one level of the folder dir.
func (v *FileSystem) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpList, dir, false, &c, &t); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, t.wrap(err)
	}
	if o == nil {
		o = &ambit.ListOptions{}
	}
	var names []named
	err := c.decide(false, func() error {
		if err := c.allowed(ambit.OpList, t.in); err != nil {
			return t.wrap(err)
		}
		var p place
		if err := t.locate(&p); err != nil {
			return err
		}
		if err := t.mustBeFolder(&p); err != nil {
			return err
		}
		if err := c.last(&t); err != nil {
			return err
		}
		var err error
		if names, err = v.store.readDir(t.in); err != nil {
			return t.foreign(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b named) int { return strings.Compare(a.name, b.name) })
	names, next := c.page(t.in, names, o)
	if ctx.Err() != nil {
		// The rules may have refused for no other reason.
		return nil, contextError(ctx, t.op, t.written)
	}
	l := &ambit.Listing{Dir: t.out(t.in), Next: next}
	err = c.decide(false, func() (err error) {
		l.Entries, err = t.entries(names, o.Details)
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// A named is one name of a folder with what reading the folder told of it.
type named struct {
	name string
	look look
}

// page cuts what o asks for out of the sorted names, without those that the
// rules refuse, and returns the cursor of the next page.
func (c *call) page(dir string, names []named, o *ambit.ListOptions) (page []named, next string) {
	if o.After != "" {
		start, found := slices.BinarySearchFunc(names, o.After, func(n named, after string) int {
			return strings.Compare(n.name, after)
		})
		if found {
			start++
		}
		names = names[start:]
	}
	if len(c.v.rules) > 0 {
		kept := names[:0:0]
		for _, n := range names {
			if o.Limit > 0 && len(kept) > o.Limit || c.ctx.Err() != nil {
				break
			}
			if c.v.ask(c.ctx, question{ambit.OpStat, ambit.Join(dir, n.name)}) == nil {
				kept = append(kept, n)
			}
		}
		names = kept
	}
	if o.Limit > 0 && len(names) > o.Limit {
		names = names[:o.Limit]
		next = names[o.Limit-1].name
	}
	return names, next
}

// entries describes names of the target, a folder. What has gone meanwhile is
// left out. The caller holds the store's mu.
func (t *target) entries(names []named, details bool) ([]ambit.Entry, error) {
	s := t.v.store
	entries := make([]ambit.Entry, 0, len(names))
	for _, n := range names {
		in := ambit.Join(t.in, n.name)
		l := n.look
		if details || l.kind == ambit.KindUnknown {
			again, found, err := s.look(in)
			if err == nil && !found {
				continue
			}
			if l = again; err != nil {
				l.kind = ambit.KindUnknown
			}
		}
		info := ambit.FileInfo{Path: t.out(in), Kind: l.kind, Size: -1}
		if details && l.kind != ambit.KindUnknown {
			var version ambit.Version
			if l.kind == ambit.KindRegular {
				var n *node
				if n, version = s.nodeOf(in, &l); n == nil {
					return nil, errAlone
				}
			}
			info = l.info(info.Path, version)
		}
		entries = append(entries, ambit.Entry{Name: n.name, Info: info})
	}
	return entries, nil
}

// readDir reads the names in a folder, without the reserved ones.
func (s *store) readDir(dir string) ([]named, error) {
	names, err := s.everyName(dir)
	return slices.DeleteFunc(names, func(n named) bool { return s.reserved(n.name) }), err
}

// everyName reads the names in a folder, without what could be no name.
func (s *store) everyName(dir string) ([]named, error) {
	f, err := s.fsys.Open(s.name(dir))
	if err == nil && f == nil {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []named
	add := func(name string, l look) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return
		}
		names = append(names, named{name, l})
	}
	if disk, ok := unwrapped(f).(*os.File); ok {
		// Without a look at each entry, which one bad entry would fail.
		entries, err := disk.ReadDir(-1)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			l := look{kind: ambit.KindOf(e.Type())}
			if e.Type()&fs.ModeIrregular != 0 {
				l.kind = ambit.KindUnknown
			}
			add(e.Name(), l)
		}
		return names, nil
	}
	infos, err := f.Readdir(-1)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(infos))
	for _, fi := range infos {
		if fi == nil || seen[fi.Name()] {
			continue
		}
		seen[fi.Name()] = true
		add(fi.Name(), lookOf(fi, false))
	}
	return names, nil
}

// empty reports whether a folder shows nothing.
func (s *store) empty(dir string) (bool, error) {
	names, err := s.readDir(dir)
	return len(names) == 0, err
}

// beneath returns the paths of everything beneath a folder, no link followed.
func (c *call) beneath(dir string) ([]string, error) {
	var paths []string
	folders := []string{dir}
	for len(folders) > 0 {
		at := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		names, err := c.v.store.readDir(at)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			in := ambit.Join(at, n.name)
			paths = append(paths, in)
			l, found, err := c.v.store.look(in)
			if err == nil && found && l.kind == ambit.KindDirectory {
				folders = append(folders, in)
			}
		}
	}
	return paths, nil
}

// allowedBeneath asks the rules about a folder and everything in it.
func (c *call) allowedBeneath(op ambit.Op, t *target) error {
	if len(c.v.rules) == 0 {
		return nil
	}
	paths, err := c.beneath(t.in)
	if err != nil {
		return t.foreign(err)
	}
	return t.wrap(c.allowed(op, paths...))
}
