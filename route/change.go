// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/ambitfs/ambit"
)

var (
	_ ambit.WritableFileSystem = (*router)(nil)
	_ ambit.Appender           = (*router)(nil)
	_ ambit.Renamer            = (*router)(nil)
	_ ambit.DirMaker           = (*router)(nil)
	_ ambit.Stager             = (*router)(nil)
	_ ambit.Committer          = (*router)(nil)
	_ ambit.Linker             = (*router)(nil)
	_ ambit.Subber             = (*router)(nil)
	_ ambit.Guarder            = (*router)(nil)
)

// creation is a call that may make a file: where it goes, and what the machine
// knows of its path that the member does not.
type creation struct {
	m     *mount
	clean string
	dir   bool
	ways  bool // the folder of the path is a way to a mount point: it is there, so it may be made
}

// create judges a call that may make a file at path.
func (r *router) create(ctx context.Context, op, path string, p ambit.Precondition, check func(ambit.Capabilities) error) (c creation, err error) {
	c.m, c.clean, c.dir, err = r.find(ctx, op, path)
	if err != nil {
		return c, err
	}
	if r.isWay(c.clean) && c.clean != c.m.at {
		// The folder is there, whatever the member has.
		if err := check(r.caps); err != nil {
			return c, ambit.Wrap(op, path, err)
		}
		asked := op
		if asked == ambit.OpStage {
			asked = ambit.OpWrite
		}
		if err := r.ask(ctx, ambit.Op(asked), c.clean); err != nil {
			return c, ambit.Wrap(op, path, err)
		}
		e := &ambit.Error{Op: op, Path: path, Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: c.clean}
		if p.Absent() {
			e.Reason = ambit.ErrExists
		}
		return c, e
	}
	_, conditional := p.Version()
	c.ways = !conditional && c.clean != "/" && r.isWay(ambit.Dir(c.clean))
	return c, r.settle(ctx, op, path, c.clean, c.m, !p.Absent() || c.dir)
}

// made is a member's result in the view of the machine: the folders on the way
// to a mount point were there before.
func (r *router) made(w ambit.WriteResult) ambit.WriteResult {
	w.CreatedDirs = r.withoutWays(w.CreatedDirs)
	return w
}

func (r *router) withoutWays(dirs []string) []string {
	dirs = slices.DeleteFunc(slices.Clone(dirs), r.isWay)
	if len(dirs) == 0 {
		return nil
	}
	return dirs
}

func (r *router) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	c, err := r.create(ctx, ambit.OpWrite, path, o.If, o.Check)
	if err != nil {
		return ambit.WriteResult{}, err
	}
	o.Parents = o.Parents || c.ways
	w, err := c.m.fsys.(ambit.WritableFileSystem).Write(ctx, path, content, o)
	return r.made(w), r.changeFailed(ambit.OpWrite, path, c, err)
}

func (r *router) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	c, err := r.create(ctx, ambit.OpAppend, path, o.If, o.Check)
	if err != nil {
		return ambit.WriteResult{}, err
	}
	o.Parents = o.Parents || c.ways
	w, err := c.m.fsys.(ambit.Appender).Append(ctx, path, content, o)
	return r.made(w), r.changeFailed(ambit.OpAppend, path, c, err)
}

func (r *router) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	o = orZero(o)
	c, err := r.create(ctx, ambit.OpStage, path, o.If, o.Check)
	if err != nil {
		return nil, err
	}
	o.Parents = o.Parents || c.ways
	s, err := c.m.fsys.(ambit.Stager).Stage(ctx, path, content, o)
	if err != nil {
		return nil, r.changeFailed(ambit.OpStage, path, c, err)
	}
	return &staged{Staged: s, r: r, path: path, c: c}, nil
}

type staged struct {
	ambit.Staged
	r    *router
	path string
	c    creation
}

func (s *staged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	w, err := s.Staged.Publish(ctx)
	return s.r.made(w), s.r.changeFailed(ambit.OpPublish, s.path, s.c, err)
}

func (r *router) changeFailed(op, path string, c creation, err error) error {
	if err == nil {
		return nil
	}
	return r.fail(op, path, c.clean, c.m, err)
}

// orZero returns a copy of o that may be changed.
func orZero[T any](o *T) *T {
	if o == nil {
		return new(T)
	}
	c := *o
	return &c
}

// immovable refuses what would take a mount point away.
func (r *router) immovable(ctx context.Context, op, path, clean string) error {
	root, above := r.isRoot(clean), r.isWay(clean)
	if !root && !above {
		return nil
	}
	if err := r.ask(ctx, ambit.Op(op), clean); err != nil {
		return ambit.Wrap(op, path, err)
	}
	e := &ambit.Error{Op: op, Path: path, Reason: ambit.ErrInvalid, Kind: ambit.KindDirectory, Target: clean, Detail: "the root of a file system stays where it is"}
	if !root {
		e.Reason, e.Rule, e.Detail = ambit.ErrDenied, "mount", "a file system is mounted beneath this folder"
	}
	return e
}

func (r *router) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	m, clean, _, err := r.find(ctx, ambit.OpRemove, path)
	if err != nil {
		return err
	}
	if r.isRoot(clean) || r.isWay(clean) {
		if err := o.Check(r.caps); err != nil {
			return ambit.Wrap(ambit.OpRemove, path, err)
		}
		return r.immovable(ctx, ambit.OpRemove, path, clean)
	}
	if err := r.settle(ctx, ambit.OpRemove, path, clean, m, false); err != nil {
		return err
	}
	if err := m.fsys.(ambit.WritableFileSystem).Remove(ctx, path, o); err != nil {
		return r.fail(ambit.OpRemove, path, clean, m, err)
	}
	return nil
}

func (r *router) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	o = orZero(o)
	m, clean, _, err := r.find(ctx, ambit.OpMkdir, dir)
	if err != nil {
		return nil, err
	}
	if r.isWay(clean) && clean != m.at {
		if err := r.ask(ctx, ambit.OpMkdir, clean); err != nil {
			return nil, ambit.Wrap(ambit.OpMkdir, dir, err)
		}
		if o.Parents {
			return nil, nil
		}
		return nil, &ambit.Error{Op: ambit.OpMkdir, Path: dir, Reason: ambit.ErrExists, Kind: ambit.KindDirectory, Target: clean}
	}
	if err := r.settle(ctx, ambit.OpMkdir, dir, clean, m, false); err != nil {
		return nil, err
	}
	// Making parents takes a folder that exists for success, which Mkdir
	// without them must not.
	parent := ambit.Dir(clean)
	if !o.Parents && clean != "/" && r.isWay(parent) && r.owner(parent) == m {
		if _, err := m.fsys.(ambit.DirMaker).Mkdir(ctx, parent, &ambit.MkdirOptions{Parents: true}); err != nil {
			return nil, r.fail(ambit.OpMkdir, dir, clean, m, err)
		}
	}
	created, err := m.fsys.(ambit.DirMaker).Mkdir(ctx, dir, o)
	if err != nil {
		err = r.fail(ambit.OpMkdir, dir, clean, m, err)
	}
	return r.withoutWays(created), err
}

func (r *router) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	fromMount, fromClean, _, err := r.find(ctx, ambit.OpRename, from)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	toMount, toClean, toDir, err := r.find(ctx, ambit.OpRename, to)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if err := o.Check(r.caps); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	if err := r.immovable(ctx, ambit.OpRename, from, fromClean); err != nil {
		return ambit.FileInfo{}, err
	}
	if err := r.settle(ctx, ambit.OpRename, from, fromClean, fromMount, false); err != nil {
		return ambit.FileInfo{}, err
	}
	o = orZero(o)
	toWay := r.isRoot(toClean) || r.isWay(toClean)
	if toWay || toMount != fromMount {
		return ambit.FileInfo{}, r.renameRefused(ctx, from, to, fromMount, fromClean, toClean, toDir, toWay, o)
	}
	if err := r.settle(ctx, ambit.OpRename, to, toClean, toMount, false); err != nil {
		return ambit.FileInfo{}, err
	}
	o.Parents = o.Parents || r.isWay(ambit.Dir(toClean))
	info, err := fromMount.fsys.(ambit.Renamer).Rename(ctx, from, to, o)
	if err != nil {
		blamed, clean := from, fromClean
		var e *ambit.Error
		if errors.As(err, &e) && e.Path == to {
			blamed, clean = to, toClean
		}
		err = r.fail(ambit.OpRename, blamed, clean, fromMount, err)
	}
	return info, err
}

// renameRefused is the error of a move that cannot be made: onto a mount point
// or the way to one, or from one mount to another. What is at from is judged
// first, as its member judges it.
func (r *router) renameRefused(ctx context.Context, from, to string, m *mount, fromClean, toClean string, toDir, toWay bool, o *ambit.RenameOptions) error {
	// A name that cannot be there makes the member judge from alone: the move
	// onto itself.
	info, err := m.fsys.(ambit.Renamer).Rename(ctx, from, from, &ambit.RenameOptions{If: o.If})
	if err != nil {
		return r.fail(ambit.OpRename, from, fromClean, m, err)
	}
	if err := r.ask(ctx, ambit.OpRename, toClean); err != nil {
		return ambit.Wrap(ambit.OpRename, to, err)
	}
	e := &ambit.Error{Op: ambit.OpRename, Path: to, Reason: ambit.ErrCrossDevice}
	switch {
	case toDir && !info.IsDir():
		e.Reason, e.Kind = ambit.ErrNotADirectory, info.Kind
	case toWay && info.IsDir() && ambit.Contains(info.Path, toClean):
		e.Reason = ambit.ErrInvalid
	case toWay:
		e.Reason, e.Kind, e.Target = ambit.ErrExists, ambit.KindDirectory, toClean
	}
	return e
}

// Commit makes changes of one mount.
func (r *router) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	path := ""
	if len(changes) > 0 {
		path = changes[0].Path
	}
	if err := r.caps.Refusal(ambit.OpCommit, path); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ambit.Wrap(ambit.OpCommit, path, contextError(ctx))
	}
	if len(changes) == 0 {
		return nil, nil
	}
	changes = slices.Clone(changes)
	var first *mount
	cleans := make([]string, len(changes))
	for i, c := range changes {
		m, clean, _, err := r.find(ctx, ambit.OpCommit, c.Path)
		if err != nil {
			return nil, err
		}
		cleans[i] = clean
		if first == nil {
			first = m
		}
	}
	if err := ambit.CheckChanges(changes, r.caps); err != nil {
		return nil, err
	}
	for i, c := range changes {
		m, clean := r.owner(cleans[i]), cleans[i]
		switch {
		case r.isWay(clean) && clean != m.at || r.isRoot(clean):
			e := &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: clean}
			if c.If.Absent() {
				e.Reason = ambit.ErrExists
			}
			return nil, ambit.Wrap(ambit.OpCommit, c.Path, e)
		case m != first:
			return nil, ambit.Wrap(ambit.OpCommit, c.Path, ambit.ErrCrossDevice)
		}
		if err := r.settle(ctx, ambit.OpCommit, c.Path, clean, m, c.Op == ambit.OpWrite && !c.If.Absent()); err != nil {
			return nil, err
		}
		_, conditional := c.If.Version()
		if c.Op == ambit.OpWrite && !conditional && r.isWay(ambit.Dir(clean)) {
			changes[i].Parents = true
		}
	}
	results, err := first.fsys.(ambit.Committer).Commit(ctx, changes)
	for i := range results {
		results[i] = r.made(results[i])
	}
	if err != nil {
		path := changes[0].Path
		var e *ambit.Error
		if errors.As(err, &e) {
			path = e.Path
		}
		err = r.fail(ambit.OpCommit, path, "", first, err)
	}
	return results, err
}
