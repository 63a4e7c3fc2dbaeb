// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// astray is the error of a path that a link led to what a mount hides. Target
// is the path's own text.
func astray(clean string) error {
	return &ambit.Error{Reason: ambit.ErrOutside, Target: clean, Detail: "a link leads to what another mount hides"}
}

// strays reports that canonical, where a link of m led, is hidden by another
// mount.
func (r *router) strays(m *mount, canonical string) bool {
	return m.over && canonical != "" && r.owner(canonical) != m
}

func (r *router) Open(ctx context.Context, path string) (ambit.File, error) {
	m, clean, _, err := r.find(ctx, ambit.OpOpen, path)
	if err != nil {
		return nil, err
	}
	if r.isWay(clean) {
		return nil, r.notAFile(ctx, ambit.OpOpen, path, clean)
	}
	f, err := m.fsys.Open(ctx, path)
	if err != nil {
		return nil, r.fail(ambit.OpOpen, path, clean, m, err)
	}
	if at := f.Info().Path; r.strays(m, at) || r.isWay(at) {
		f.Close()
		return nil, ambit.Wrap(ambit.OpOpen, path, astray(clean))
	}
	return f, nil
}

// notAFile is the error of a folder on the way to a mount point, where a file
// is wanted.
func (r *router) notAFile(ctx context.Context, op, path, clean string) error {
	if err := r.ask(ctx, ambit.Op(op), clean); err != nil {
		return ambit.Wrap(op, path, err)
	}
	return &ambit.Error{Op: op, Path: path, Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: clean}
}

// ask asks the rules about what no member answers.
func (r *router) ask(ctx context.Context, op ambit.Op, canonical string) error {
	for _, ask := range r.asks {
		if err := ask(ctx, op, canonical); err != nil {
			e := ambit.Wrap("", "", err).(*ambit.Error)
			if e.Reason == ambit.ErrIO {
				e = &ambit.Error{Reason: ambit.ErrDenied, Err: err}
			}
			return e
		}
	}
	return nil
}

// fail gives an error of a member the view of the machine: a folder on the way
// to a mount point is never missing, and nothing is told of what is hidden.
func (r *router) fail(op, path, clean string, m *mount, err error) error {
	e := ambit.Wrap(op, path, err).(*ambit.Error)
	if e.Target != "" && r.strays(m, e.Target) && e.Target != clean {
		return ambit.Wrap(op, path, astray(clean))
	}
	e.MissingDirs = slices.DeleteFunc(e.MissingDirs, r.isWay)
	return e
}

func (r *router) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	return r.inspect(ctx, ambit.OpStat, path, true, func(m *mount) (ambit.FileInfo, error) { return m.fsys.Stat(ctx, path) })
}

func (r *router) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	return r.inspect(ctx, ambit.OpLstat, path, false, func(m *mount) (ambit.FileInfo, error) {
		return m.fsys.(ambit.Linker).Lstat(ctx, path)
	})
}

func (r *router) inspect(ctx context.Context, op, path string, follow bool, look func(*mount) (ambit.FileInfo, error)) (ambit.FileInfo, error) {
	m, clean, dir, err := r.find(ctx, op, path)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if r.isWay(clean) && clean != m.at {
		if err := r.ask(ctx, ambit.Op(op), clean); err != nil {
			return ambit.FileInfo{}, ambit.Wrap(op, path, err)
		}
		return r.way(ctx, m, clean), nil
	}
	if m.over && !follow && !dir {
		if err := r.settle(ctx, op, path, clean, m, false); err != nil {
			return ambit.FileInfo{}, err
		}
	}
	info, err := look(m)
	if err != nil {
		return ambit.FileInfo{}, r.fail(op, path, clean, m, err)
	}
	if (follow || dir) && (r.strays(m, info.Path) || !info.IsDir() && r.isWay(info.Path)) {
		return ambit.FileInfo{}, ambit.Wrap(op, path, astray(clean))
	}
	return info, nil
}

// way describes a folder above a mount point: the member's own, else one of
// which no more is known than that it is there.
func (r *router) way(ctx context.Context, m *mount, clean string) ambit.FileInfo {
	info, err := m.fsys.Stat(ctx, clean)
	if err != nil || !info.IsDir() || info.Path != clean {
		info = ambit.FileInfo{Path: clean, Kind: ambit.KindDirectory}
	}
	return info
}

// settle refuses a call whose path a link leads to what a mount hides, before
// it acts. last: the last step is followed too. The answer can be out of date
// when the call acts, for a link that is swapped meanwhile, which then reaches
// a hidden file of the same member. With rules the member asks them with the
// path that it acts on.
func (r *router) settle(ctx context.Context, op, path, clean string, m *mount, last bool) error {
	if !m.over || m.fsys.Capabilities().Links == ambit.LinksNone {
		return nil
	}
	at := clean
	if !last {
		at = ambit.Dir(clean)
	}
	info, err := m.fsys.Stat(ctx, at)
	canonical := info.Path
	if err != nil {
		canonical = ambit.Wrap(op, path, err).(*ambit.Error).Target
	}
	if canonical != at && r.strays(m, canonical) {
		return ambit.Wrap(op, path, astray(clean))
	}
	return nil
}

func (r *router) ReadLink(ctx context.Context, path string) (string, error) {
	m, clean, _, err := r.find(ctx, ambit.OpReadLink, path)
	if err != nil {
		return "", err
	}
	if r.isWay(clean) {
		if err := r.ask(ctx, ambit.OpReadLink, clean); err != nil {
			return "", ambit.Wrap(ambit.OpReadLink, path, err)
		}
		return "", &ambit.Error{Op: ambit.OpReadLink, Path: path, Reason: ambit.ErrInvalid, Kind: ambit.KindDirectory, Target: clean}
	}
	if err := r.settle(ctx, ambit.OpReadLink, path, clean, m, false); err != nil {
		return "", err
	}
	text, err := m.fsys.(ambit.Linker).ReadLink(ctx, path)
	if err != nil {
		return "", r.fail(ambit.OpReadLink, path, clean, m, err)
	}
	return text, nil
}

func (r *router) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	m, clean, _, err := r.find(ctx, ambit.OpList, dir)
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	l, err := m.fsys.List(ctx, dir, o)
	switch {
	case err == nil && r.strays(m, l.Dir):
		return nil, ambit.Wrap(ambit.OpList, dir, astray(clean))
	case err == nil:
	case r.isWay(clean) && clean != m.at && (ambit.ReasonOf(err) == ambit.ErrNotFound || ambit.ReasonOf(err) == ambit.ErrNotADirectory):
		if err := r.ask(ctx, ambit.OpList, clean); err != nil {
			return nil, ambit.Wrap(ambit.OpList, dir, err)
		}
		l = &ambit.Listing{Dir: clean}
	default:
		return nil, r.fail(ambit.OpList, dir, clean, m, err)
	}
	return r.merge(ctx, l, o), nil
}

// merge adds to a page of a member's listing the mount points in that folder
// and the ways to them, and takes away what they hide.
func (r *router) merge(ctx context.Context, l *ambit.Listing, o *ambit.ListOptions) *ambit.Listing {
	names := r.namesIn(l.Dir)
	if len(names) == 0 {
		return l
	}
	if o == nil {
		o = &ambit.ListOptions{}
	}
	entries := slices.DeleteFunc(slices.Clone(l.Entries), func(e ambit.Entry) bool { return slices.Contains(names, e.Name) })
	for _, name := range names {
		path := ambit.Join(l.Dir, name)
		// What lies behind a page that is not the last comes with the next.
		if name <= o.After || l.Next != "" && name > l.Next || r.ask(ctx, ambit.OpStat, path) != nil {
			continue
		}
		info := ambit.FileInfo{Path: path, Kind: ambit.KindDirectory}
		if o.Details {
			info = r.way(ctx, r.owner(path), path)
		}
		entries = append(entries, ambit.Entry{Name: name, Info: info})
	}
	page := ambit.Page(l.Dir, entries, &ambit.ListOptions{Limit: o.Limit})
	if page.Next == "" {
		page.Next = l.Next
	}
	return page
}

// namesIn returns the names in the folder dir that are mount points or lead to
// one.
func (r *router) namesIn(dir string) []string {
	var names []string
	for _, m := range r.mounts {
		if m.at == dir || !ambit.Contains(dir, m.at) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(m.at, dir), "/"), "/")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (r *router) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	m, clean, _, err := r.find(ctx, ambit.OpSub, dir)
	if err != nil {
		return nil, err
	}
	if m.over && m.fsys.Capabilities().Links != ambit.LinksNone {
		info, err := r.Stat(ctx, dir)
		if err == nil && !info.IsDir() {
			err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.Kind, Target: info.Path}
		}
		if err != nil {
			return nil, ambit.Wrap(ambit.OpSub, dir, err)
		}
		m, clean = r.owner(info.Path), info.Path
	}
	if !r.isWay(clean) {
		sub, err := ambit.Sub(ctx, m.fsys, dir)
		return sub, ambit.Wrap(ambit.OpSub, dir, err)
	}
	if err := r.ask(ctx, ambit.OpSub, clean); err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	// What its member has beneath dir, with the mounts beneath it.
	below, err := ambit.Sub(ctx, m.fsys, clean)
	if ambit.ReasonOf(err) == ambit.ErrNotFound {
		err = &ambit.Error{Reason: ambit.ErrUnsupported, Detail: "the folder is no more than the way to a mount point"}
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	at := make(map[string]ambit.FileSystem)
	for _, n := range r.mounts {
		if n.at == clean || !ambit.Contains(clean, n.at) {
			continue
		}
		sub, err := ambit.Sub(ctx, n.fsys, n.at)
		if err != nil {
			return nil, ambit.Wrap(ambit.OpSub, dir, err)
		}
		at[strings.TrimPrefix(n.at, strings.TrimSuffix(clean, "/"))] = sub
	}
	sub, err := New(below, at)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	for _, ask := range r.asks {
		s := sub.(*router)
		s.asks = append(s.asks, func(ctx context.Context, op ambit.Op, canonical string) error {
			if clean != "/" {
				canonical = strings.TrimSuffix(clean+canonical, "/")
			}
			return ask(ctx, op, canonical)
		})
	}
	return sub, nil
}

func (r *router) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	if !r.caps.Guard {
		return ambit.Forward{Base: r}.Guard(ask)
	}
	guarded := &router{caps: r.caps, asks: append(slices.Clip(r.asks), ask)}
	for _, m := range r.mounts {
		n := *m
		n.fsys = m.fsys.(ambit.Guarder).Guard(ask)
		guarded.mounts = append(guarded.mounts, &n)
	}
	return guarded
}
