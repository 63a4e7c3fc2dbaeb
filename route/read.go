// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

func (r *router) Open(ctx context.Context, path string) (ambit.File, error) {
	t, err := r.look(ctx, ambit.OpOpen, path)
	if err != nil {
		return nil, err
	}
	f, err := t.fsys.Open(ctx, path)
	if err != nil {
		return nil, r.fail(ambit.OpOpen, path, t, err)
	}
	if r.strays(t, f.Info()) {
		f.Close()
		return nil, astray(ambit.OpOpen, path)
	}
	return f, nil
}

// look finds who answers a call that changes nothing.
func (r *router) look(ctx context.Context, op, path string) (target, error) {
	t, err := r.find(ctx, op, path)
	if err == nil {
		err = r.settle(ctx, op, path, &t)
	}
	return t, err
}

func (r *router) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	t, err := r.look(ctx, ambit.OpStat, path)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	info, err := t.fsys.Stat(ctx, path)
	if err == nil && r.strays(t, info) {
		err = astray(ambit.OpStat, path)
	}
	if err != nil {
		return ambit.FileInfo{}, r.fail(ambit.OpStat, path, t, err)
	}
	return info, nil
}

func (r *router) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	t, err := r.look(ctx, ambit.OpLstat, path)
	if err == nil {
		err = r.follow(ctx, ambit.OpLstat, ambit.OpLstat, path, t, t.dir)
	}
	if err != nil {
		return ambit.FileInfo{}, err
	}
	info, err := t.fsys.(ambit.Linker).Lstat(ctx, path)
	if err != nil {
		return ambit.FileInfo{}, r.fail(ambit.OpLstat, path, t, err)
	}
	return info, nil
}

func (r *router) ReadLink(ctx context.Context, path string) (string, error) {
	t, err := r.look(ctx, ambit.OpReadLink, path)
	if err == nil {
		err = r.follow(ctx, ambit.OpReadLink, ambit.OpReadLink, path, t, t.dir)
	}
	if err != nil {
		return "", err
	}
	text, err := t.fsys.(ambit.Linker).ReadLink(ctx, path)
	if err == nil && t.m.over && t.m.links && t.fsys != r.ways {
		err = r.mayTell(ctx, path, t, text)
	}
	if err != nil {
		return "", r.fail(ambit.OpReadLink, path, t, err)
	}
	return text, nil
}

// mayTell keeps the text of a link that leads to what a mount hides from being
// told.
func (r *router) mayTell(ctx context.Context, path string, t target, text string) error {
	link, err := t.fsys.(ambit.Linker).Lstat(ctx, path)
	if err != nil {
		return err
	}
	leads, _, err := ambit.Resolve(ambit.Dir(link.Path), text)
	if err == nil && r.owner(leads) != t.m {
		return astray(ambit.OpReadLink, path)
	}
	return nil // what climbs out of its root by text is the member's to judge
}

func (r *router) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	t, err := r.find(ctx, ambit.OpList, dir)
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	if err := r.settle(ctx, ambit.OpList, dir, &t); err != nil {
		return nil, err
	}
	l, err := t.fsys.List(ctx, dir, o)
	if err == nil && r.strays(t, ambit.FileInfo{Path: l.Dir, Kind: ambit.KindDirectory}) {
		err = astray(ambit.OpList, dir)
	}
	if err != nil {
		return nil, r.fail(ambit.OpList, dir, t, err)
	}
	o = orZero(o)
	if t.fsys != r.ways {
		return r.merge(ctx, l, o), nil
	}
	for i, e := range l.Entries {
		l.Entries[i].Info = r.describe(ctx, e.Info.Path, o.Details)
	}
	return l, nil
}

// merge adds to a page of a member's listing what leads to mount points, and
// takes away what that hides.
func (r *router) merge(ctx context.Context, l *ambit.Listing, o *ambit.ListOptions) *ambit.Listing {
	names := r.ways.names[l.Dir]
	if len(names) == 0 {
		return l
	}
	entries := make([]ambit.Entry, 0, len(l.Entries)+len(names))
	for _, e := range l.Entries {
		// A folder above a mount point that the member has is the member's.
		if !slices.Contains(names, e.Name) || e.Info.Kind == ambit.KindDirectory && r.isWay(ambit.Join(l.Dir, e.Name)) {
			entries = append(entries, e)
		}
	}
	shown := len(entries)
	for _, name := range names {
		// What lies behind a page that is not the last comes with the next.
		if name <= o.After || l.Next != "" && name > l.Next ||
			slices.ContainsFunc(entries[:shown], func(e ambit.Entry) bool { return e.Name == name }) {
			continue
		}
		path := ambit.Join(l.Dir, name)
		if r.ways.allow(ctx, ambit.OpStat, path) != nil {
			continue
		}
		entries = append(entries, ambit.Entry{Name: name, Info: r.describe(ctx, path, o.Details)})
	}
	page := ambit.Page(l.Dir, entries, &ambit.ListOptions{Limit: o.Limit})
	if page.Next == "" {
		page.Next = l.Next
	}
	return page
}

// describe describes a mount point, or a folder above one that its member has
// not.
func (r *router) describe(ctx context.Context, path string, details bool) ambit.FileInfo {
	if m := r.members[path]; m != nil && details {
		if info, err := m.fsys.Stat(ctx, path); err == nil && info.IsDir() && info.Path == path {
			return info
		}
	}
	return r.ways.info(path)
}

// Sub returns the folder dir with what is mounted beneath it. Where dir is no
// more than the way to a mount point, the Sub has no fallback.
func (r *router) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	sub, err := r.sub(ctx, dir)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	return sub, nil
}

func (r *router) sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	t, err := r.look(ctx, ambit.OpSub, dir)
	if err != nil {
		return nil, err
	}
	if t.m.over && t.m.links && t.fsys != r.ways && !r.ways.leadsOn(t.clean) {
		// A link may lead to a folder above a mount point.
		info, err := r.Stat(ctx, dir)
		if err == nil && !info.IsDir() {
			err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.Kind, Target: info.Path}
		}
		if err != nil {
			return nil, err
		}
		t.clean = info.Path
		dir = t.clean
	}
	if !r.ways.leadsOn(t.clean) {
		if t.fsys == r.ways {
			if err := r.ways.allow(ctx, ambit.OpSub, t.clean); err != nil {
				return nil, err
			}
			_, err := r.ways.List(ctx, dir, nil) // nothing is there, and the error says so
			return nil, err
		}
		sub, err := ambit.Sub(ctx, t.m.whole, dir)
		return sub, r.fail(ambit.OpSub, dir, t, err)
	}
	if err := r.ways.allow(ctx, ambit.OpSub, t.clean); err != nil {
		return nil, err
	}
	bases := make(map[string]ambit.FileSystem)
	if t.fsys != r.ways {
		below, err := ambit.Sub(ctx, ambit.MapPaths(t.m.base, mountedAt(t.m.at, nil)), t.clean)
		if err != nil {
			return nil, r.fail(ambit.OpSub, dir, t, err)
		}
		bases["/"] = below
	}
	for at, m := range r.members {
		if at != t.clean && ambit.Contains(t.clean, at) && m.base != nil {
			bases[strings.TrimPrefix(at, strings.TrimSuffix(t.clean, "/"))] = m.base
		}
	}
	return newRouter(bases, beneath(t.clean, r.ways.ask)), nil
}

// beneath asks a rule of the machine about the paths of a file system that is
// mounted at the folder dir of it.
func beneath(dir string, ask rule) rule {
	if ask == nil || dir == "/" {
		return ask
	}
	return func(ctx context.Context, op ambit.Op, canonical string) error {
		if canonical == "/" {
			return ask(ctx, op, dir)
		}
		return ask(ctx, op, dir+canonical)
	}
}

// Guard puts the rule around every member, and asks it about the ways too.
func (r *router) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	if !r.caps.Guard || ask == nil {
		return ambit.Forward{}.Guard(ask)
	}
	bases := make(map[string]ambit.FileSystem, len(r.members))
	for at, m := range r.members {
		if m.base != nil {
			bases[at] = m.base.(ambit.Guarder).Guard(beneath(at, ask))
		}
	}
	both := ask
	if before := r.ways.ask; before != nil {
		both = func(ctx context.Context, op ambit.Op, canonical string) error {
			if err := before(ctx, op, canonical); err != nil {
				return err
			}
			return ask(ctx, op, canonical)
		}
	}
	return newRouter(bases, both)
}
