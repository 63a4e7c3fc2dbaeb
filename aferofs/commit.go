// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
)

// Commit makes all changes or none, as one step for every user of this
// storage. It holds the new contents, and the bytes of all files that it
// replaces but the last, until the end.
func (v *FileSystem) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	first := ""
	if len(changes) > 0 {
		first = changes[0].Path
	}
	if err := v.mayBegin(ctx, ambit.OpCommit, first, true); err != nil {
		return nil, err
	}
	plan, err := v.plan(changes)
	if err != nil || len(plan) == 0 {
		return nil, err
	}
	c := call{v: v, ctx: ctx}
	defer func() {
		for _, p := range plan {
			p.held.drop()
			p.backup.drop()
		}
	}()
	// Nothing of content is read before every change has been judged.
	err = c.decide(false, func() error {
		_, err := c.judgeAll(plan)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range plan {
		if p.Op != ambit.OpWrite {
			continue
		}
		p.held = &payload{}
		if err := c.prepare(&p.t, p.w, p.Content, p.held, &place{}); err != nil {
			return nil, err
		}
	}
	if err := c.backUp(plan); err != nil {
		return nil, err
	}
	results := make([]ambit.WriteResult, len(plan))
	err = c.decide(true, func() error {
		places, err := c.judgeAll(plan)
		if err != nil {
			return err
		}
		for i, p := range plan {
			p.place = places[i]
		}
		if err := c.lastAll(plan); err != nil {
			return err
		}
		return c.apply(plan, results)
	})
	if err != nil && ambit.ReasonOf(err) != ambit.ErrPartial {
		return nil, err
	}
	return results, err
}

// A planned change is a change with what it needs to be made and undone.
type planned struct {
	ambit.Change
	t      target
	w      writing
	held   *payload // of a write
	place  place    // as judged last
	backup *payload // the bytes of the file that a write replaces
	saved  ambit.Version
	made   []string // folders
	gone   *temp    // where a removed file lies until the end
}

// plan judges the changes by themselves.
func (v *FileSystem) plan(changes []ambit.Change) ([]*planned, error) {
	plan := make([]*planned, len(changes))
	for i, change := range changes {
		plan[i] = &planned{
			Change: change,
			w:      writing{cond: change.If, parents: change.Parents, mode: change.Mode},
		}
		if err := v.resolve(ambit.OpCommit, change.Path, &plan[i].t); err != nil {
			return nil, err
		}
	}
	if err := ambit.CheckChanges(changes, v.caps); err != nil {
		return nil, err
	}
	for i, p := range plan {
		for _, before := range plan[:i] {
			if ambit.Contains(before.t.in, p.t.in) || ambit.Contains(p.t.in, before.t.in) {
				return nil, &ambit.Error{
					Op: p.t.op, Path: p.t.written, Reason: ambit.ErrInvalid, Target: p.t.out(p.t.in),
					Detail: "two changes name this file, or a place beneath it",
				}
			}
		}
	}
	return plan, nil
}

// judgeAll judges every change against the state before the first.
func (c *call) judgeAll(plan []*planned) ([]place, error) {
	places := make([]place, len(plan))
	for i, p := range plan {
		var err error
		if p.Op == ambit.OpWrite {
			err = c.judge(&p.t, p.w, ambit.OpWrite, &places[i])
		} else {
			places[i], err = c.judgeRemove(&p.t, &ambit.RemoveOptions{If: p.w.cond}, true)
		}
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}

func (c *call) lastAll(plan []*planned) error {
	if c.v.store.faults != nil && !c.faulted {
		for _, p := range plan {
			c.fault = append(c.fault, p.t)
		}
		return errPending
	}
	return c.last(&plan[0].t)
}

// backUp copies the files that will be replaced, but for the last change:
// behind it nothing can fail. In a tree of this process nothing fails at all.
func (c *call) backUp(plan []*planned) error {
	s := c.v.store
	if s.mem != nil {
		return nil
	}
	for _, p := range plan[:len(plan)-1] {
		if p.Op != ambit.OpWrite {
			continue
		}
		var at place
		err := s.step(false, func() error { return p.t.locate(&at) })
		if err == nil && at.found && at.look.kind == ambit.KindRegular {
			err = p.save(s, at, func(do func() error) error { return s.step(false, do) })
		}
		if err != nil {
			return p.t.contentError(err)
		}
	}
	return nil
}

// save copies what lies at a place, unless it changes meanwhile. Its steps are
// run by locked.
func (p *planned) save(s *store, at place, locked func(do func() error) error) error {
	if p.backup != nil {
		s.removeTempLocked(p.backup.temp)
		p.backup = nil
	}
	var old afero.File
	var tmp *temp
	err := locked(func() (err error) {
		if old, err = s.openRead(at.path, at.look.real); err != nil {
			return err
		}
		tmp, err = s.createTemp(ambit.Dir(at.path), 0o600)
		return err
	})
	if old != nil {
		defer old.Close()
	}
	if err != nil {
		return &storageError{err}
	}
	p.backup = &payload{s: s, temp: tmp}
	if p.backup.size, err = s.fill(tmp, old); err != nil {
		return &storageError{bare(err)}
	}
	if p.backup.size != at.look.size && at.look.bounds() {
		return nil // it has another version now, and is copied again
	}
	err = locked(func() error {
		// Put back, it should look as it did.
		if path := s.pathOf(tmp); path != "" {
			s.fsys.Chtimes(s.name(path), time.Now(), at.look.mtime)
		}
		return s.complete(tmp, p.backup.size, at.look.mode)
	})
	if err != nil {
		return &storageError{err}
	}
	p.saved = at.version
	return nil
}

// apply makes the changes, or none. The caller holds mu alone.
func (c *call) apply(plan []*planned, results []ambit.WriteResult) error {
	s := c.v.store
	for _, p := range plan[:len(plan)-1] {
		// Whoever was faster than the second judgement has given it other
		// bytes, and the change has no condition against that.
		if s.mem == nil && p.Op == ambit.OpWrite && p.place.found && p.saved != p.place.version {
			err := p.save(s, p.place, func(do func() error) error { return do() })
			if err == nil && p.saved != p.place.version {
				err = &storageError{errCount}
			}
			if err != nil {
				return p.t.contentError(err)
			}
		}
	}
	looks := make([]look, len(plan))
	for i, p := range plan {
		var err error
		looks[i], err = p.make(s)
		if err == nil {
			continue
		}
		failed := p.t.storage(err)
		stands := reasonOf(err) == ambit.ErrPartial
		for j := i - 1; j >= 0; j-- {
			if plan[j].undo(s, looks[j]) != nil {
				stands = true
				results[j] = plan[j].result(s, looks[j])
			}
		}
		if !stands {
			return failed
		}
		return &ambit.Error{
			Op: p.t.op, Path: p.t.written, Reason: ambit.ErrPartial,
			Detail: string(ambit.ReasonOf(failed)) + "; changes before it could not be undone",
		}
	}
	for i, p := range plan {
		results[i] = p.result(s, looks[i])
		if p.gone != nil {
			s.removeTempLocked(p.gone)
		}
	}
	return nil
}

func (p *planned) make(s *store) (look, error) {
	if p.Op == ambit.OpWrite {
		// Parents may have been made for a change before.
		missing := p.place.missing
		for len(missing) > 0 {
			if _, found, err := s.look(missing[0]); err != nil || !found {
				break
			}
			missing = missing[1:]
		}
		at := p.place
		at.missing = missing
		l, made, err := s.install(&at, p.w, p.held)
		p.made = made
		return l, err
	}
	if s.mem != nil {
		return p.place.look, s.mem.Remove(p.place.path)
	}
	var err error
	p.gone, err = s.moveAway(p.place)
	return p.place.look, err
}

// result tells what the change has made, and gives it its version.
func (p *planned) result(s *store, l look) ambit.WriteResult {
	if p.Op == ambit.OpRemove {
		s.forget(p.place.path, false)
		return ambit.WriteResult{Info: l.info(p.t.out(p.place.path), p.place.version)}
	}
	return ambit.WriteResult{
		Info:        l.info(p.t.out(p.place.path), s.renew(p.place.path, &l)),
		Created:     !p.place.found,
		CreatedDirs: p.t.outs(p.made),
	}
}

// undo puts back what was there before the change left l, unless a stranger
// has changed that meanwhile. The file keeps the version that it had: it has
// the same bytes.
func (p *planned) undo(s *store, l look) error {
	now, found, err := s.look(p.place.path)
	if err != nil {
		return err
	}
	if found != (p.gone == nil) || found && !now.same(&l) {
		return partial("somebody else has changed it")
	}
	switch {
	case p.gone != nil:
		err = s.fsys.Rename(s.name(p.gone.path), s.name(p.place.path))
		s.dropTemp(p.gone)
	case p.backup != nil:
		err = s.fsys.Rename(s.name(p.backup.temp.path), s.name(p.place.path))
		s.dropTemp(p.backup.temp)
		p.backup.temp = nil
	default:
		err = s.fsys.Remove(s.name(p.place.path))
		if err == nil {
			err = s.removeDirs(p.made)
		}
		return err
	}
	if err != nil {
		return err
	}
	if l, found, err := s.look(p.place.path); err == nil && found && l.kind == ambit.KindRegular {
		s.restore(p.place.path, &l, p.place.version)
	}
	return nil
}
