// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"errors"
	"syscall"

	"github.com/ambitfs/ambit"
)

// Remove removes the name at path.
//
// A folder leaves its name in one step, where the afero.Fs can rename it, and
// is emptied out of sight. Where a removed name would uncover another beneath
// it, as in a layer of [afero.CopyOnWriteFs], it is put back and the call is
// ErrReadOnly.
func (v *FileSystem) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpRemove, path, true, &c, &t); err != nil {
		return err
	}
	if err := o.Check(v.caps); err != nil {
		return t.wrap(err)
	}
	if o == nil {
		o = &ambit.RemoveOptions{}
	}
	var gone *temp // a folder that still has to be emptied
	err := c.decide(true, func() error {
		p, err := c.judgeRemove(&t, o, false)
		if err != nil || !p.found {
			return err
		}
		if err := c.last(&t); err != nil {
			return err
		}
		gone, err = v.store.remove(p)
		if err != nil {
			return t.foreign(err)
		}
		return nil
	})
	if gone != nil {
		v.store.emptyTemp(gone)
	}
	return err
}

// judgeRemove returns a place that is not found where there is nothing to do.
// A commit removes files and links only.
func (c *call) judgeRemove(t *target, o *ambit.RemoveOptions, commit bool) (place, error) {
	if t.isRoot() {
		return place{}, t.err(ambit.ErrInvalid, "the root cannot be removed")
	}
	if err := c.allowed(ambit.OpRemove, t.in); err != nil {
		return place{}, t.wrap(err)
	}
	var p place
	if err := t.locate(&p); err != nil {
		return p, err
	}
	_, conditional := o.If.Version()
	if !p.found {
		switch {
		case t.slash && (conditional || !o.MissingOK):
			return p, t.notADirectory(p.path, ambit.KindUnknown)
		case conditional:
			return p, t.wrap(o.If.Check(nil))
		case !o.MissingOK:
			return p, t.notFound(&p)
		}
		return p, nil
	}
	k := p.look.kind
	switch {
	case commit && k != ambit.KindRegular && k != ambit.KindSymlink && !(t.slash && k != ambit.KindDirectory):
		return p, t.kindErr(ambit.ErrNotAFile, k, p.path)
	case k == ambit.KindDirectory:
		if err := c.allowedBeneath(ambit.OpRemove, t); err != nil {
			return p, err
		}
		if conditional {
			return p, t.speaksOfFile(p)
		}
		if o.Recursive {
			return p, nil
		}
		empty, err := c.v.store.empty(p.path)
		if err != nil {
			return p, t.foreign(err)
		}
		if !empty {
			return p, t.kindErr(ambit.ErrNotEmpty, k, p.path)
		}
		return p, t.kindErr(ambit.ErrNotAFile, k, p.path)
	case t.slash:
		return p, t.notADirectory(p.path, k)
	case k != ambit.KindRegular && conditional:
		return p, t.speaksOfFile(p)
	case conditional:
		return p, t.wrap(o.If.Check(&ambit.FileInfo{Path: t.out(p.path), Version: p.version}))
	}
	return p, nil
}

func (t *target) speaksOfFile(p place) error {
	return &ambit.Error{
		Op: t.op, Path: t.written, Reason: ambit.ErrInvalid, Kind: p.look.kind, Target: t.out(p.path),
		Detail: "a precondition speaks of a regular file",
	}
}

// remove removes what lies at p. A folder that was only moved out of sight
// comes back, to be emptied when mu is free. The caller holds mu alone.
func (s *store) remove(p place) (gone *temp, err error) {
	folder := p.look.kind == ambit.KindDirectory
	if folder {
		s.evacuate(p.path)
	}
	switch {
	case folder && s.mem != nil:
		err = s.removeAll(p.path)
	case folder:
		gone, err = s.moveAway(p)
		if err != nil && errors.Is(err, syscall.EXDEV) {
			// Folders of a lower layer, or with a mount in them, cannot be
			// moved on some systems.
			err = s.removeAll(p.path)
		}
	case s.layered:
		if gone, err = s.moveAway(p); err == nil {
			s.removeTempLocked(gone)
			gone = nil
		}
	default:
		err = s.fsys.Remove(s.name(p.path))
	}
	if err != nil {
		return nil, err
	}
	s.forget(p.path, folder)
	return gone, nil
}

// moveAway gives what lies at p a reserved name beside it.
func (s *store) moveAway(p place) (*temp, error) {
	t := s.addTemp(ambit.Dir(p.path))
	if err := s.fsys.Rename(s.name(p.path), s.name(t.path)); err != nil {
		s.dropTemp(t)
		return nil, err
	}
	// Where the look itself fails, the answer of Rename stands.
	if _, found, err := s.look(p.path); err != nil || !found {
		return t, nil
	}
	s.dropTemp(t)
	if s.fsys.Rename(s.name(t.path), s.name(p.path)) != nil {
		return nil, partial("another file came to light beneath the removed one, which could not be put back")
	}
	return nil, syscall.EROFS
}

// removeAll removes a folder and all beneath it, one by one.
func (s *store) removeAll(dir string) error {
	names, err := s.everyName(dir)
	if err != nil {
		return err
	}
	begun := false
	for _, n := range names {
		in := ambit.Join(dir, n.name)
		l, found, err := s.look(in)
		switch {
		case err != nil:
		case !found:
			continue
		case l.kind == ambit.KindDirectory:
			err = s.removeAll(in)
		default:
			err = s.fsys.Remove(s.name(in))
		}
		if err != nil {
			return half(begun, err)
		}
		begun = true
	}
	return half(begun, s.fsys.Remove(s.name(dir)))
}

// half makes an error ErrPartial once something has gone.
func half(begun bool, err error) error {
	if err == nil || !begun {
		return err
	}
	return partial("a part of the folder has been removed")
}
