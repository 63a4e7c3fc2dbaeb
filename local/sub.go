// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"runtime"
	"slices"

	"github.com/ambitfs/ambit"
)

// Sub returns the folder dir as a file system of its own, a *FileSystem. It
// has its own handle of the folder, as if [New] had opened it: it stays usable
// after fsys is closed, and Close releases what it holds, as the garbage
// collector does in the end. Links that lead out of dir are
// [ambit.ErrOutside].
func (fsys *FileSystem) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	sub, err := fsys.sub(ctx, dir)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	return sub, nil
}

func (fsys *FileSystem) sub(ctx context.Context, dir string) (*FileSystem, error) {
	clean, asserted, err := fsys.resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	for range maxTries {
		sub, err := fsys.subOnce(ctx, clean, asserted)
		if err != nil || sub != nil {
			return sub, err
		}
	}
	return nil, restless()
}

// subOnce returns neither a file system nor an error when the folder was moved
// away under it.
func (fsys *FileSystem) subOnce(ctx context.Context, clean string, asserted bool) (*FileSystem, error) {
	p, err := fsys.walkFor(ctx, ambit.OpSub, clean, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.readable(asserted); err != nil {
		return nil, err
	}
	if !p.info.isDir() {
		return nil, p.fault(ambit.ErrNotADirectory, "")
	}
	at := p.path()
	m := &machine{cwd: "/", o: fsys.o, readOnlyNodes: fsys.readOnlyNodes, journals: fsys.journals.beneath(at)}
	sub := &FileSystem{machine: m, guards: fsys.guardsBeneath(at)}
	if p.parent != nil {
		r, err := subRoot(p, at)
		if err != nil || r == nil {
			return nil, err
		}
		m.roots = append(m.roots, r)
	}
	for _, r := range fsys.roots {
		if r.at == at || !ambit.Contains(at, r.at) {
			continue
		}
		inner := *r
		inner.at = within(at, r.at)
		own, err := r.top.dir.again()
		if err != nil {
			sub.Close()
			return nil, err
		}
		inner.top = &folder{dir: own, path: inner.at, info: r.top.info, root: &inner, top: true}
		m.roots = append(m.roots, &inner)
	}
	slices.SortStableFunc(m.roots, func(a, b *root) int { return len(b.at) - len(a.at) })
	for _, d := range fsys.denied {
		// One that lay elsewhere is still denied by its identity.
		if ambit.Contains(at, d.path) {
			d.path = within(at, d.path)
		} else {
			d.path = ""
		}
		m.denied = append(m.denied, d)
	}
	for _, path := range fsys.readOnly {
		switch {
		case ambit.Contains(at, path):
			m.readOnly = append(m.readOnly, within(at, path))
		case ambit.Contains(path, at) && fsys.isReadOnly(at):
			m.readOnly = append(m.readOnly, "/")
		}
	}
	runtime.SetFinalizer(m, (*machine).close)
	m.caps = m.capabilities()
	if !slices.ContainsFunc(m.roots, func(r *root) bool { return !m.isReadOnly(r.at) }) {
		m.caps = m.caps.ReadOnly()
	}
	return sub, nil
}

// subRoot opens the folder at p as a root, at "/". It is nil when something
// else is there by now.
func subRoot(p *place, at string) (*root, error) {
	name := p.name
	if p.isRoot() {
		name = "."
	}
	d, ok, err := p.parent.enter(name, p.info)
	if err != nil || !ok {
		return nil, err
	}
	from := p.parent.root
	r := &root{at: "/", disk: from.disk, mount: from.mount}
	if on, err := d.dir.mountOf(""); err == nil && on != from.mount {
		r.mount, r.disk = on, d.dir.disk()
	}
	// Links name the host by the parent's names, however far down they are.
	names := hostNames(within(from.at, at))
	r.above = slices.Concat(from.above, names)
	for _, host := range from.hosts {
		r.hosts = append(r.hosts, slices.Concat(host, names))
	}
	r.top = &folder{dir: asTop(d.dir), path: "/", info: d.info, root: r, top: true}
	return r, nil
}

// within returns the path as it is called from the folder at above it.
func within(at, path string) string {
	if at == "/" {
		return path
	}
	if path == at {
		return "/"
	}
	return path[len(at):]
}
