// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// New returns the machine on which fallback is "/" and each file system of at
// is mounted at its key, an absolute path. A key that is "/" or not a path, two
// keys for one place and a nil file system are [ambit.ErrInvalid].
//
// The file system is as safe for concurrent use as its members. It does not
// close them.
func New(fallback ambit.FileSystem, at map[string]ambit.FileSystem) (ambit.FileSystem, error) {
	if fallback == nil {
		return nil, invalid("/", "the fallback is nil")
	}
	r := &router{}
	r.mounts = append(r.mounts, newMount("/", fallback))
	for _, path := range slices.Sorted(maps.Keys(at)) {
		clean, _, err := ambit.Resolve("/", path)
		switch {
		case err != nil:
			return nil, ambit.Wrap(opNew, path, err)
		case !strings.HasPrefix(path, "/"):
			return nil, invalid(path, "a mount point is an absolute path")
		case clean == "/":
			return nil, invalid(path, "the root is the fallback's")
		case at[path] == nil:
			return nil, invalid(path, "the file system is nil")
		case slices.ContainsFunc(r.mounts, func(m *mount) bool { return m.at == clean }):
			return nil, invalid(path, "two file systems are mounted here")
		}
		r.mounts = append(r.mounts, newMount(clean, at[path]))
	}
	r.finish()
	return r, nil
}

const opNew = "route"

func invalid(path, detail string) error {
	return &ambit.Error{Op: opNew, Path: path, Reason: ambit.ErrInvalid, Detail: detail}
}

// router is the machine.
type router struct {
	mounts []*mount // the longest mount point first
	caps   ambit.Capabilities
	asks   []func(ctx context.Context, op ambit.Op, canonical string) error // rules, for what no member answers
}

// mount is one member.
type mount struct {
	at   string
	fsys ambit.FileSystem // takes and gives paths of the machine
	base ambit.FileSystem // as it was given
	over bool             // another member is mounted beneath at, and hides what is there
}

func newMount(at string, fsys ambit.FileSystem) *mount {
	return &mount{at: at, base: fsys, fsys: ambit.MapPaths(fsys, ambit.PathMap{
		In: func(path string) (string, error) {
			clean, dir, err := ambit.Resolve("/", path)
			if err != nil {
				return "", err
			}
			if !ambit.Contains(at, clean) {
				return "", ambit.ErrOutside
			}
			inner := "/" + strings.TrimPrefix(strings.TrimPrefix(clean, at), "/")
			if dir && inner != "/" {
				inner += "/"
			}
			return inner, nil
		},
		Out: func(canonical string) (string, bool) {
			if canonical == "/" {
				return at, true
			}
			if at == "/" {
				return canonical, true
			}
			return at + canonical, true
		},
		// Members may use the same IDs for different files.
		ID: func(id string) string { return at + ":" + id },
	})}
}

func (r *router) finish() {
	slices.SortFunc(r.mounts, func(a, b *mount) int {
		return cmp.Or(len(b.at)-len(a.at), strings.Compare(a.at, b.at))
	})
	for i, m := range r.mounts {
		caps := m.fsys.Capabilities()
		// What every Sub of a member keeps is kept by prefix too.
		caps.Sub = canSub(m.base.Capabilities())
		if i == 0 {
			r.caps = caps
		} else {
			r.caps = r.caps.Intersect(caps)
		}
		m.over = slices.ContainsFunc(r.mounts, func(n *mount) bool { return n != m && ambit.Contains(m.at, n.at) })
	}
	r.caps.Search = false
	if len(r.mounts) > 1 {
		r.caps.ID = ""
	}
}

func canSub(c ambit.Capabilities) bool {
	return c.Sub || c.Links == ambit.LinksNone || c.Links == ambit.LinksRefused
}

func (r *router) Capabilities() ambit.Capabilities { return r.caps }

// owner returns who answers for a clean path.
func (r *router) owner(clean string) *mount {
	for _, m := range r.mounts {
		if ambit.Contains(m.at, clean) {
			return m
		}
	}
	return r.mounts[len(r.mounts)-1] // not reached: the last is "/"
}

// isRoot: the clean path is a mount point.
func (r *router) isRoot(clean string) bool { return r.owner(clean).at == clean }

// isWay: the clean path lies above a mount point, so that a folder is there.
func (r *router) isWay(clean string) bool {
	return slices.ContainsFunc(r.mounts, func(m *mount) bool { return m.at != clean && ambit.Contains(clean, m.at) })
}

// find is what every method begins with. It judges what comes before the walk:
// the operation, the context, the path's text.
func (r *router) find(ctx context.Context, op, path string) (m *mount, clean string, dir bool, err error) {
	if err := r.caps.Refusal(op, path); err != nil {
		return nil, "", false, err
	}
	if ctx.Err() != nil {
		return nil, "", false, ambit.Wrap(op, path, contextError(ctx))
	}
	clean, dir, err = ambit.Resolve("/", path)
	if err != nil {
		return nil, "", false, ambit.Wrap(op, path, err)
	}
	return r.owner(clean), clean, dir, nil
}

func contextError(ctx context.Context) error {
	return &ambit.Error{Reason: ambit.ReasonOf(ctx.Err()), Err: errors.Join(ctx.Err(), context.Cause(ctx))}
}
