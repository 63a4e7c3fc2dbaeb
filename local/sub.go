// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
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
		sub, err := fsys.subOnce(clean, asserted)
		if err != nil || sub != nil {
			return sub, err
		}
	}
	return nil, restless()
}

// subOnce returns neither a file system nor an error when the folder was moved
// away under it.
func (fsys *FileSystem) subOnce(clean string, asserted bool) (*FileSystem, error) {
	p, err := fsys.walk(clean, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.readable(asserted); err != nil {
		return nil, err
	}
	if !p.info.IsDir() {
		return nil, p.fault(ambit.ErrNotADirectory, "")
	}
	name := p.name
	if p.isRoot() {
		name = "."
	}
	d, ok, err := p.parent.enter(name, p.info)
	if err != nil || !ok {
		return nil, err
	}
	sub := &FileSystem{
		top:   &folder{dir: d.dir, root: d.dir, path: "/", info: d.info, top: true},
		cwd:   "/",
		caps:  capabilities(d.dir, d.info),
		local: fsys.local,
	}
	// Links name the host by the parent's names, however far down they are.
	beneath := hostNames(p.path())
	sub.above = slices.Concat(fsys.above, beneath)
	for _, host := range fsys.hosts {
		sub.hosts = append(sub.hosts, slices.Concat(host, beneath))
	}
	return sub, nil
}
