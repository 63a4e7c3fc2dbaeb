// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"os"
	"syscall"

	"github.com/ambitfs/ambit"
)

// Rename moves what is at from to the name to.
func (v *FileSystem) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	var c call
	var source, dest target
	if err := v.begin(ctx, ambit.OpRename, from, true, &c, &source); err != nil {
		return ambit.FileInfo{}, err
	}
	if err := v.resolve(ambit.OpRename, to, &dest); err != nil {
		return ambit.FileInfo{}, err
	}
	if err := o.Check(v.caps); err != nil {
		return ambit.FileInfo{}, source.wrap(err)
	}
	if o == nil {
		o = &ambit.RenameOptions{}
	}
	var info ambit.FileInfo
	err := c.decide(true, func() error {
		p, err := c.judgeSource(&source, o)
		if err != nil {
			return err
		}
		q, err := c.judgeTarget(&dest, p, o)
		if err != nil {
			return err
		}
		if q.path == p.path {
			info = p.look.info(source.out(p.path), p.version)
			return nil
		}
		if err := c.fits(&dest, p, q); err != nil {
			return err
		}
		if err := c.last(&source); err != nil {
			return err
		}
		l, err := v.store.move(p, q)
		if err != nil {
			return source.foreign(err)
		}
		var version ambit.Version
		if l.kind == ambit.KindRegular {
			version = v.store.renew(q.path, &l)
		}
		info = l.info(dest.out(q.path), version)
		return nil
	})
	return info, err
}

func (c *call) judgeSource(t *target, o *ambit.RenameOptions) (place, error) {
	if t.isRoot() {
		return place{}, t.err(ambit.ErrInvalid, "the root cannot be renamed")
	}
	if err := c.allowed(ambit.OpRename, t.in); err != nil {
		return place{}, t.wrap(err)
	}
	var p place
	if err := t.locate(&p); err != nil {
		return p, err
	}
	_, conditional := o.If.Version()
	k := p.look.kind
	switch {
	case !p.found && t.slash:
		return p, t.notADirectory(p.path, ambit.KindUnknown)
	case !p.found && conditional:
		return p, t.wrap(o.If.Check(nil))
	case !p.found:
		return p, t.notFound(&p)
	case t.slash && k != ambit.KindDirectory:
		return p, t.notADirectory(p.path, k)
	}
	if k == ambit.KindDirectory {
		if err := c.allowedBeneath(ambit.OpRename, t); err != nil {
			return p, err
		}
	}
	if !conditional {
		return p, nil
	}
	if k != ambit.KindRegular {
		return p, t.speaksOfFile(p)
	}
	return p, t.wrap(o.If.Check(&ambit.FileInfo{Path: t.out(p.path), Version: p.version}))
}

// judgeTarget returns p itself for a move onto itself.
func (c *call) judgeTarget(t *target, p place, o *ambit.RenameOptions) (place, error) {
	folder := p.look.kind == ambit.KindDirectory
	if err := c.allowed(ambit.OpRename, t.in); err != nil {
		return place{}, t.wrap(err)
	}
	switch {
	case t.slash && !folder:
		return place{}, t.notADirectory(t.in, ambit.KindUnknown)
	case t.isRoot():
		return place{}, t.kindErr(ambit.ErrExists, ambit.KindDirectory, t.in)
	case t.in == p.path:
		return p, nil
	case folder && ambit.Contains(p.path, t.in):
		return place{}, t.err(ambit.ErrInvalid, "a folder cannot be moved into itself")
	}
	var q place
	if err := t.locate(&q); err != nil {
		return q, err
	}
	if !q.found {
		return q, c.parents(t, &q, o.Parents)
	}
	k := q.look.kind
	switch {
	case t.slash && k != ambit.KindDirectory:
		return q, t.notADirectory(q.path, k)
	case k == ambit.KindDirectory || folder || !o.Replace:
		return q, t.kindErr(ambit.ErrExists, k, q.path)
	}
	return q, nil
}

// fits keeps a folder from being moved to where paths beneath it would be too
// long for any call. Only a tree in memory is looked through for that: its move
// visits every name as well, where a disk's is one step.
func (c *call) fits(t *target, p, q place) error {
	longer := len(q.path) - len(p.path)
	if longer <= 0 || p.look.kind != ambit.KindDirectory || !c.v.store.inMemory {
		return nil
	}
	paths, err := c.beneath(p.path)
	if err != nil {
		return t.foreign(err)
	}
	for _, path := range paths {
		if len(path)+longer > ambit.MaxPath {
			return t.err(ambit.ErrInvalidPath, "a path beneath the folder would become too long")
		}
	}
	return nil
}

// move moves what lies at p to q and returns what lies there then. The caller
// holds mu alone.
func (s *store) move(p, q place) (look, error) {
	made, err := s.makeDirs(q.missing)
	if err != nil {
		return look{}, err
	}
	switch {
	case q.found && p.look.inode != nil && q.look.inode != nil && os.SameFile(p.look.inode, q.look.inode):
		// Two names of one file: a disk would keep both.
		err = s.fsys.Remove(s.name(p.path))
	case q.found && s.layered:
		err = s.moveOver(p, q)
	default:
		err = s.moveTo(p, q)
	}
	if err != nil {
		return look{}, undone(err, s.removeDirs(made))
	}
	s.moved(p.path, q.path, p.look.kind == ambit.KindDirectory)
	if s.mem != nil {
		return lookAt(p.look.data), nil
	}
	l, found, err := s.look(q.path)
	if err != nil || !found {
		l = p.look
	}
	return l, nil
}

// moveTo renames p and makes sure that its old name shows nothing: one that
// uncovers something is put back.
func (s *store) moveTo(p, q place) error {
	if err := s.fsys.Rename(s.name(p.path), s.name(q.path)); err != nil {
		return err
	}
	if s.mem != nil {
		return nil
	}
	// Where the look itself fails, the answer of Rename stands.
	if _, found, err := s.look(p.path); err != nil || !found {
		return nil
	}
	if q.found || s.fsys.Rename(s.name(q.path), s.name(p.path)) != nil {
		return partial("another file came to light beneath the moved one")
	}
	return syscall.EROFS
}

// moveOver takes p away from its name before it replaces q, which could not be
// brought back.
func (s *store) moveOver(p, q place) error {
	t, err := s.moveAway(p)
	if err != nil {
		return err
	}
	defer s.dropTemp(t)
	if err := s.fsys.Rename(s.name(t.path), s.name(q.path)); err != nil {
		if s.fsys.Rename(s.name(t.path), s.name(p.path)) != nil {
			return partial("the file was taken from its name and could not be put back")
		}
		return err
	}
	return nil
}
