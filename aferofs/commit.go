// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"time"

	"github.com/ambitfs/ambit"
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
			places[i], err = c.judgeCommitRemove(&p.t, p.w.cond)
		}
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}

func (c *call) judgeCommitRemove(t *target, cond ambit.Precondition) (place, error) {
	p, err := c.judgeRemove(t, &ambit.RemoveOptions{If: cond})
	if err == nil && p.look.kind != ambit.KindRegular && p.look.kind != ambit.KindSymlink || p.found && p.look.kind == ambit.KindDirectory && err != errPending && ambit.ReasonOf(err) != ambit.ErrDenied {
		return p, t.kindErr(ambit.ErrNotAFile, p.look.kind, t.in)
	}
	return p, err
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
		err := s.step(false, func() error {
			var at place
			err := p.t.locate(&at)
			if err != nil || !at.found || at.look.kind != ambit.KindRegular {
				return err
			}
			return p.save(s, at)
		})
		if err != nil {
			return p.t.contentError(err)
		}
	}
	return nil
}

// save copies what lies at a place. The caller holds mu.
func (p *planned) save(s *store, at place) error {
	if p.backup != nil {
		s.removeTempLocked(p.backup.temp)
		p.backup = nil
	}
	old, err := s.openRead(at.path, at.look.real)
	if err != nil {
		return &storageError{err}
	}
	defer old.Close()
	tmp, err := s.createTemp(ambit.Dir(at.path), 0o600)
	if err != nil {
		return &storageError{err}
	}
	p.backup = &payload{s: s, temp: tmp}
	if p.backup.size, err = s.fill(tmp, old); err != nil {
		return err
	}
	if p.backup.size != at.look.size && at.look.bounds() {
		return &storageError{errCount}
	}
	// Put back, it should look as it did.
	s.fsys.Chtimes(s.name(tmp.path), time.Now(), at.look.mtime)
	if err := s.complete(tmp, p.backup.size, at.look.mode); err != nil {
		return &storageError{err}
	}
	p.saved = at.version
	return nil
}

// apply makes the changes, or none. The caller holds mu alone.
func (c *call) apply(plan []*planned, results []ambit.WriteResult) error {
	s := c.v.store
	for i, p := range plan[:len(plan)-1] {
		// Whoever was faster than the second judgement has given it other
		// bytes, and the change has no condition against that.
		if s.mem == nil && p.Op == ambit.OpWrite && p.place.found && p.saved != p.place.version {
			if err := p.save(s, p.place); err != nil {
				return plan[i].t.contentError(err)
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
			if plan[j].undo(s) != nil {
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

// undo puts back what was there before. The file keeps the version that it
// had: it has the same bytes.
func (p *planned) undo(s *store) error {
	var err error
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
