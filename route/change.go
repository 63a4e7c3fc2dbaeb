// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

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

// change finds who answers a call that changes something. asked is what rules
// are asked, fault that of the options, and last says that the last step of a
// path is followed.
func (r *router) change(ctx context.Context, op, asked ambit.Op, path string, fault error, last bool) (target, error) {
	t, err := r.find(ctx, string(op), path)
	if err != nil {
		return t, err
	}
	if fault != nil {
		return t, ambit.Wrap(string(op), path, fault)
	}
	err = r.reach(ctx, op, asked, path, &t, last)
	return t, err
}

// reach is the part of change that looks at file systems.
func (r *router) reach(ctx context.Context, op, asked ambit.Op, path string, t *target, last bool) error {
	if r.isWay(t.clean) {
		t.fsys = r.ways // whatever the member has there, it stays
		return nil
	}
	if t.clean == t.m.at && asked != ambit.OpRemove && asked != ambit.OpRename {
		// A member may not ask about its own root: nothing can be done to it.
		if err := r.ways.allow(ctx, asked, t.clean); err != nil {
			return ambit.Wrap(string(op), path, err)
		}
	}
	if err := r.settle(ctx, string(op), path, t); err != nil || t.fsys == r.ways {
		return err
	}
	return r.follow(ctx, op, asked, path, *t, last || t.dir)
}

// made is a member's result in the view of the machine.
func (r *router) made(w ambit.WriteResult) ambit.WriteResult {
	w.CreatedDirs = r.withoutWays(w.CreatedDirs)
	return w
}

func (r *router) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	t, err := r.change(ctx, ambit.OpWrite, ambit.OpWrite, path, contentFault(content, o.Check(r.caps)), !o.If.Absent())
	if err != nil {
		return ambit.WriteResult{}, err
	}
	o.Parents = o.Parents || r.makesWay(t)
	w, err := t.fsys.(ambit.WritableFileSystem).Write(ctx, path, content, o)
	return r.made(w), r.fail(ambit.OpWrite, path, t, err)
}

func (r *router) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	t, err := r.change(ctx, ambit.OpAppend, ambit.OpAppend, path, contentFault(content, o.Check(r.caps)), !o.If.Absent())
	if err != nil {
		return ambit.WriteResult{}, err
	}
	o.Parents = o.Parents || r.makesWay(t)
	w, err := t.fsys.(ambit.Appender).Append(ctx, path, content, o)
	return r.made(w), r.fail(ambit.OpAppend, path, t, err)
}

func (r *router) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	o = orZero(o)
	t, err := r.change(ctx, ambit.OpStage, ambit.OpWrite, path, contentFault(content, o.Check(r.caps)), !o.If.Absent())
	if err != nil {
		return nil, err
	}
	o.Parents = o.Parents || r.makesWay(t)
	s, err := t.fsys.(ambit.Stager).Stage(ctx, path, content, o)
	if err != nil {
		return nil, r.fail(ambit.OpStage, path, t, err)
	}
	return &staged{Staged: s, r: r, path: path, t: t, last: !o.If.Absent()}, nil
}

type staged struct {
	ambit.Staged
	r       *router
	path    string
	t       target
	last    bool
	dropped atomic.Bool // by a Publish that was refused here
}

func (s *staged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	if ctx.Err() == nil && !s.dropped.Load() {
		if err := s.r.follow(ctx, ambit.OpPublish, ambit.OpWrite, s.path, s.t, s.last || s.t.dir); err != nil {
			s.dropped.Store(true)
			s.Staged.Discard(context.WithoutCancel(ctx))
			return ambit.WriteResult{}, err
		}
	}
	w, err := s.Staged.Publish(ctx)
	return s.r.made(w), s.r.fail(ambit.OpPublish, s.path, s.t, err)
}

func (r *router) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	t, err := r.change(ctx, ambit.OpRemove, ambit.OpRemove, path, o.Check(r.caps), false)
	if err != nil {
		return err
	}
	return r.fail(ambit.OpRemove, path, t, t.fsys.(ambit.WritableFileSystem).Remove(ctx, path, o))
}

func (r *router) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	t, err := r.change(ctx, ambit.OpMkdir, ambit.OpMkdir, dir, nil, false)
	if err != nil {
		return nil, err
	}
	way := r.makesWay(t) && !orZero(o).Parents
	if way {
		o = &ambit.MkdirOptions{Parents: true}
	}
	created, err := t.fsys.(ambit.DirMaker).Mkdir(ctx, dir, o)
	created = r.withoutWays(created)
	if err == nil && way && len(created) == 0 {
		// Somebody else has made it meanwhile.
		err = place{clean: t.clean}.is(ambit.ErrExists)
	}
	return created, r.fail(ambit.OpMkdir, dir, t, err)
}

func (r *router) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	source, err := r.find(ctx, ambit.OpRename, from)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	dest, err := r.find(ctx, ambit.OpRename, to)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if err := o.Check(r.caps); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	if err := r.reach(ctx, ambit.OpRename, ambit.OpRename, from, &source, false); err != nil {
		return ambit.FileInfo{}, err
	}
	o = orZero(o)
	point := r.members[dest.clean] != nil && dest.clean != source.clean
	if source.m == dest.m && source.fsys != r.ways && !point {
		if err := r.reach(ctx, ambit.OpRename, ambit.OpRename, to, &dest, false); err != nil {
			return ambit.FileInfo{}, err
		}
		if dest.fsys == source.fsys {
			o.Parents = o.Parents || r.makesWay(dest)
			info, err := source.fsys.(ambit.Renamer).Rename(ctx, from, to, o)
			var e *ambit.Error
			if errors.As(err, &e) && e.Path == to {
				return info, r.fail(ambit.OpRename, to, dest, err)
			}
			return info, r.fail(ambit.OpRename, from, source, err)
		}
	}
	// The move cannot be made. What is at from is judged first, as its member
	// judges it: a move onto itself changes nothing.
	info, err := source.fsys.(ambit.Renamer).Rename(ctx, from, from, &ambit.RenameOptions{If: o.If})
	if err != nil {
		return ambit.FileInfo{}, r.fail(ambit.OpRename, from, source, err)
	}
	if point || r.isWay(dest.clean) || dest.fsys == r.ways {
		return ambit.FileInfo{}, r.ways.receive(ctx, to, info.IsDir(), o.Parents)
	}
	e := &ambit.Error{Op: ambit.OpRename, Path: to, Reason: ambit.ErrCrossDevice}
	if err := r.ways.allow(ctx, ambit.OpRename, dest.clean); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, err)
	}
	if dest.dir && !info.IsDir() {
		e.Reason = ambit.ErrNotADirectory
	}
	return ambit.FileInfo{}, e
}

// Commit makes changes of one member.
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
	targets := make([]target, len(changes))
	for i, c := range changes {
		var err error
		if targets[i], err = r.find(ctx, ambit.OpCommit, c.Path); err != nil {
			return nil, err
		}
	}
	if err := ambit.CheckChanges(changes, r.caps); err != nil || len(changes) == 0 {
		return nil, err
	}
	inner := make([]ambit.Change, len(changes))
	for i, c := range changes {
		t := &targets[i]
		if err := r.reach(ctx, ambit.OpCommit, c.Op, c.Path, t, c.Op == ambit.OpWrite && !c.If.Absent()); err != nil {
			return nil, err
		}
		switch {
		case t.fsys == r.ways:
			_, err := r.ways.Commit(ctx, changes[i:i+1])
			return nil, err
		case t.m != targets[0].m:
			return nil, &ambit.Error{Op: ambit.OpCommit, Path: c.Path, Reason: ambit.ErrCrossDevice}
		}
		inner[i] = c
		inner[i].Parents = c.Parents || c.Op == ambit.OpWrite && r.makesWay(*t)
	}
	results, err := targets[0].fsys.(ambit.Committer).Commit(ctx, inner)
	for i := range results {
		results[i] = r.made(results[i])
	}
	var e *ambit.Error
	if errors.As(err, &e) {
		path = e.Path
	}
	return results, r.fail(ambit.OpCommit, path, targets[0], err)
}
