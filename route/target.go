// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"slices"

	"github.com/ambitfs/ambit"
)

// target is who answers a call, and what the machine knows of its path.
type target struct {
	m      *member
	fsys   ambit.FileSystem // m's, or the ways where m has nothing to say
	clean  string
	dir    bool // the path's text asserts a folder
	absent bool // m lacks the folder above a mount point that the path lies in
}

// find is what every method begins with. It judges what comes before the walk:
// the operation, the context, the path's text.
func (r *router) find(ctx context.Context, op, path string) (target, error) {
	if err := r.caps.Refusal(op, path); err != nil {
		return target{}, err
	}
	if ctx.Err() != nil {
		return target{}, ambit.Wrap(op, path, contextError(ctx))
	}
	clean, dir, err := ambit.Resolve("/", path)
	if err != nil {
		return target{}, ambit.Wrap(op, path, err)
	}
	m := r.owner(clean)
	return target{m: m, fsys: m.fsys, clean: clean, dir: dir}, nil
}

// settle looks whether the folders above mount points that t's path passes are
// what they seem: its member may have none there, or something else that they
// hide.
func (r *router) settle(ctx context.Context, op, path string, t *target) error {
	way := t.clean
	for way != t.m.at && !r.isWay(way) {
		way = ambit.Dir(way)
	}
	if way == t.m.at || t.fsys == r.ways {
		return nil
	}
	info, err := t.m.fsys.Stat(ctx, way)
	switch ambit.ReasonOf(err) {
	case "":
		if !info.IsDir() || info.Path != way {
			t.fsys = r.ways
		}
		return nil
	case ambit.ErrNotFound:
		if at := ambit.Wrap(op, path, err).(*ambit.Error).Target; at != "" && at != way {
			t.fsys = r.ways // a dangling link
			return nil
		}
		t.absent = true
		if way == t.clean {
			t.fsys = r.ways
		}
		return nil
	case ambit.ErrNotADirectory, ambit.ErrNotAFile, ambit.ErrOutside, ambit.ErrLoop:
		t.fsys = r.ways
		return nil
	case ambit.ErrDenied, ambit.ErrPermission:
		return nil // the member refuses the call itself as well, or it does not
	}
	return ambit.Wrap(op, path, err)
}

// makesWay reports whether a call that makes something at t has to make the
// folder it lies in first, which the machine shows already.
func (r *router) makesWay(t target) bool { return t.absent && r.isWay(ambit.Dir(t.clean)) }

// follow keeps a call of a loose member from what a mount hides, and from
// changing a folder above a mount point through a link. last: the last step is
// followed too.
func (r *router) follow(ctx context.Context, op, asked ambit.Op, path string, t target, last bool) error {
	if !t.m.loose || t.clean == t.m.at {
		return nil
	}
	at := t.clean
	if !last {
		at = ambit.Dir(at)
	}
	info, err := t.m.fsys.Stat(ctx, at)
	canonical := info.Path
	if err != nil {
		canonical = ambit.Wrap(string(op), path, err).(*ambit.Error).Target
	}
	if canonical == "" {
		return nil // the call will fail in the same way
	}
	if !last {
		canonical = ambit.Join(canonical, ambit.Base(t.clean))
	}
	if canonical == t.clean {
		return nil
	}
	return ambit.Wrap(string(op), path, r.mayReach(t.m, asked, canonical))
}

// strays reports whether a link of t's member led to what is hidden: to what
// another member is mounted over, or to what a folder above a mount point is
// put in place of.
func (r *router) strays(t target, i ambit.FileInfo) bool {
	if !t.m.over || t.fsys == r.ways {
		return false
	}
	return r.owner(i.Path) != t.m || !i.IsDir() && r.isWay(i.Path)
}

func astray(op, path string) error {
	return &ambit.Error{Op: op, Path: path, Reason: ambit.ErrOutside, Detail: hidden}
}

// fail gives an error of a member the view of the machine: a folder that leads
// to a mount point is never missing, and nothing is told of what is hidden.
func (r *router) fail(op, path string, t target, err error) error {
	if err == nil {
		return nil
	}
	e := ambit.Wrap(op, path, err).(*ambit.Error)
	if t.m != nil && t.m.over && e.Target != "" && r.owner(e.Target) != t.m {
		return astray(op, path)
	}
	e.MissingDirs = r.withoutWays(e.MissingDirs)
	return e
}

// withoutWays leaves out the folders that were there before, in the view of
// the machine.
func (r *router) withoutWays(dirs []string) []string {
	dirs = slices.DeleteFunc(slices.Clone(dirs), r.ways.there)
	if len(dirs) == 0 {
		return nil
	}
	return dirs
}
