// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ambitfs/ambit"
)

// New returns the machine on which fallback is "/" and each file system of at
// is mounted at its key: a clean absolute path, with or without a slash behind.
// With a nil fallback there is nothing but the mounts and the ways to them.
//
// A key that is no such path or is "/", two keys for one place, a nil file
// system and a machine of nothing at all are [ambit.ErrInvalid], a key that is
// no path at all [ambit.ErrInvalidPath].
//
// The machine is as safe for concurrent use as its members. It does not close
// them.
func New(fallback ambit.FileSystem, at map[string]ambit.FileSystem) (ambit.FileSystem, error) {
	members := make(map[string]ambit.FileSystem, len(at)+1)
	switch {
	case fallback == nil && len(at) == 0:
		return nil, invalid("/", "there is neither a fallback nor a mount")
	case fallback == nil:
	case isNil(fallback):
		return nil, invalid("/", "the file system is a nil pointer")
	default:
		members["/"] = fallback
	}
	for _, path := range slices.Sorted(maps.Keys(at)) {
		clean, _, err := ambit.Resolve("/", path)
		switch {
		case err != nil:
			return nil, ambit.Wrap(opNew, path, err)
		case clean == "/":
			return nil, invalid(path, "the root is the fallback's")
		case clean != strings.TrimSuffix(path, "/"):
			return nil, invalid(path, "a mount point is a clean absolute path")
		case isNil(at[path]):
			return nil, invalid(path, "the file system is nil")
		case members[clean] != nil:
			return nil, invalid(path, "two file systems are mounted here")
		}
		members[clean] = at[path]
	}
	return newRouter(members, nil), nil
}

const opNew = "route"

// isNil sees a nil pointer inside the interface too.
func isNil(fsys ambit.FileSystem) bool {
	if fsys == nil {
		return true
	}
	v := reflect.ValueOf(fsys)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func invalid(path, detail string) error {
	return &ambit.Error{Op: opNew, Path: path, Reason: ambit.ErrInvalid, Detail: detail}
}

// rule is a function given to Guard.
type rule = func(ctx context.Context, op ambit.Op, canonical string) error

// router is the machine.
type router struct {
	members map[string]*member // by mount point; "/" is always one
	ways    *ways
	caps    ambit.Capabilities
}

// member is one file system of the machine.
type member struct {
	at    string
	base  ambit.FileSystem // as it was given, under the rules
	whole ambit.FileSystem // base, taking and giving paths of the machine
	fsys  ambit.FileSystem // whole, without what the machine does not claim
	over  bool             // others are mounted beneath at, and hide what is there
	links bool             // links may be followed
	loose bool             // both, and nothing but a look keeps links from leading to what is hidden
}

// newRouter makes a machine of bases by their mount points, which are judged.
// ask is asked about what no member answers for; nil allows all.
func newRouter(bases map[string]ambit.FileSystem, ask rule) *router {
	r := &router{members: make(map[string]*member, len(bases)+1)}
	points := slices.Sorted(maps.Keys(bases))
	r.ways = newWays(points, ask)
	r.caps = floor(bases)
	r.ways.identity = r.caps.Identity
	storages := []string{}
	for _, at := range points {
		base := bases[at]
		m := &member{at: at, base: base, over: r.ways.leadsOn(at)}
		caps := base.Capabilities()
		storage := slices.Index(storages, caps.ID)
		if storage < 0 {
			storage = len(storages)
			storages = append(storages, caps.ID)
		}
		paths := mountedAt(at, func(id string) string {
			// Members may use the same IDs for different files.
			return strconv.Itoa(storage) + ":" + id
		})
		m.links = caps.Links != ambit.LinksNone && caps.Links != ambit.LinksRefused
		guarder, guards := base.(ambit.Guarder)
		m.loose = m.over && m.links && !(guards && caps.Guard)
		if m.loose {
			r.caps.Confined = false
		}
		guarded := base
		if m.over && m.links && !m.loose {
			guarded = guarder.Guard(func(_ context.Context, op ambit.Op, canonical string) error {
				shown, _ := paths.Out(canonical)
				return r.mayReach(m, op, shown)
			})
		}
		m.whole = ambit.MapPaths(guarded, paths)
		m.fsys = m.whole
		if caps.Versions != r.caps.Versions || caps.Identity != r.caps.Identity {
			keep := caps
			keep.Versions, keep.Identity = r.caps.Versions, r.caps.Identity
			m.fsys = ambit.MapPaths(ambit.Forward{Base: guarded, Keep: keep}, paths)
		}
		r.members[at] = m
	}
	if r.members["/"] == nil {
		r.members["/"] = &member{at: "/", whole: r.ways, fsys: r.ways}
	}
	return r
}

// mountedAt shows a file system as if its root were at.
func mountedAt(at string, id func(string) string) ambit.PathMap {
	return ambit.PathMap{
		In: func(path string) (string, error) {
			clean, dir, err := ambit.Resolve("/", path)
			if err == nil && !ambit.Contains(at, clean) {
				err = ambit.ErrOutside
			}
			if err != nil {
				return "", err
			}
			inner := "/" + strings.TrimPrefix(strings.TrimPrefix(clean, at), "/")
			if dir && inner != "/" {
				inner += "/"
			}
			return inner, nil
		},
		Out: func(canonical string) (string, bool) {
			path := strings.TrimSuffix(at, "/") + canonical
			if canonical == "/" {
				path = at
			}
			return path, len(path) <= ambit.MaxPath
		},
		ID: id,
	}
}

// floor returns what all members promise: of reading all, of change those that
// can be changed at all. A member that cannot is a read-only mount, which
// refuses as read-only whatever the machine can do elsewhere.
func floor(bases map[string]ambit.FileSystem) ambit.Capabilities {
	var reading, changing *ambit.Capabilities
	nameless := 0
	for _, base := range bases {
		caps := base.Capabilities()
		// What ambit.Sub can do for a member, the machine can do.
		caps.Sub = caps.Sub || caps.Links == ambit.LinksNone || caps.Links == ambit.LinksRefused
		// And package search searches what has a List.
		caps.Search = caps.Search || caps.List
		if caps.ID == "" {
			nameless++
		}
		reading = lower(reading, caps.ReadOnly())
		if caps.Write {
			changing = lower(changing, caps)
		}
	}
	if reading == nil {
		return ambit.Capabilities{}
	}
	all := *reading
	if c := changing; c != nil {
		all.Swap, all.MaxFileSize = c.Swap, c.MaxFileSize
		all.Write, all.Remove, all.Append, all.Rename, all.Mkdir, all.Stage, all.Commit = c.Write, c.Remove, c.Append, c.Rename, c.Mkdir, c.Stage, c.Commit
		all.AtomicReplace, all.AtomicRemove, all.AtomicCommit, all.Durable, all.KeepsMode = c.AtomicReplace, c.AtomicRemove, c.AtomicCommit, c.Durable, c.KeepsMode
	}
	all.Identity = all.Identity && nameless <= 1
	return all
}

// lower returns what floor, nil for none yet, and caps both promise.
func lower(floor *ambit.Capabilities, caps ambit.Capabilities) *ambit.Capabilities {
	if floor != nil {
		caps = floor.Intersect(caps)
	}
	return &caps
}

func (r *router) Capabilities() ambit.Capabilities { return r.caps }

// owner returns the member that answers for a clean path.
func (r *router) owner(clean string) *member {
	for at := clean; ; at = ambit.Dir(at) {
		if m := r.members[at]; m != nil {
			return m
		}
	}
}

// isWay reports whether the clean path is a folder above a mount point that
// belongs to the member beneath it, and is not that member's root.
func (r *router) isWay(clean string) bool {
	return r.ways.leadsOn(clean) && r.members[clean] == nil
}

// mayReach judges what a call of m has resolved its path to.
func (r *router) mayReach(m *member, op ambit.Op, canonical string) error {
	switch {
	case r.owner(canonical) != m:
		return &ambit.Error{Reason: ambit.ErrOutside, Detail: hidden}
	case !r.isWay(canonical):
		return nil
	}
	switch op {
	case ambit.OpWrite, ambit.OpAppend, ambit.OpRemove, ambit.OpRename:
		return onTheWay("")
	}
	return nil
}

const hidden = "a link leads to what a mount hides"

// onTheWay is the error of a change that would take away a folder above a
// mount point, or put something else in its place.
func onTheWay(canonical string) error {
	return &ambit.Error{
		Reason: ambit.ErrDenied, Rule: "mount", Target: canonical,
		Detail: "a folder that leads to a mount point stays where it is",
	}
}

func contextError(ctx context.Context) error {
	e := &ambit.Error{Reason: ambit.ReasonOf(ctx.Err()), Err: ctx.Err()}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		e.Err = errors.Join(ctx.Err(), cause)
	}
	return e
}
