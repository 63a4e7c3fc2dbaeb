// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"os"

	"github.com/ambitfs/ambit"
)

// Rename moves what is at from to the name to, a link as a link.
func (fsys *FileSystem) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	fromClean, fromAsserted, err := fsys.resolve(ctx, from)
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	toClean, toAsserted, err := fsys.resolve(ctx, to)
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, err)
	}
	if err := o.Check(fsys.caps); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	m := move{
		fsys: fsys,
		from: end{path: from, clean: fromClean, asserted: fromAsserted},
		to:   end{path: to, clean: toClean, asserted: toAsserted},
	}
	if o != nil {
		m.o = *o
	}
	info, err := m.run(ctx)
	return info, ambit.Wrap(ambit.OpRename, m.blamed, err)
}

// move is one call of Rename.
type move struct {
	fsys     *FileSystem
	from, to end
	o        ambit.RenameOptions
	made     parents
	blamed   string // the path that an error speaks of
}

type end struct {
	path     string // as the caller wrote it
	clean    string
	asserted bool
}

// ends are the two places of a move.
type ends struct {
	from, to *place
	same     bool // one name: there is nothing to do
}

func (e *ends) close() {
	e.from.close()
	e.to.close()
}

func (m *move) run(ctx context.Context) (ambit.FileInfo, error) {
	defer m.made.close()
	info, _, err := m.loop(ctx)
	return info, err
}

func (m *move) loop(ctx context.Context) (info ambit.FileInfo, done bool, err error) {
	for range maxTries {
		guess, err := m.judge()
		if err != nil {
			return info, false, err
		}
		if guess.same {
			info := describe(guess.from.path(), guess.from.info)
			guess.close()
			return info, true, nil
		}
		info, done, err := m.once(ctx, guess)
		guess.close()
		if done || err != nil {
			return info, done, err
		}
	}
	return info, false, restless()
}

func (m *move) once(ctx context.Context, guess *ends) (info ambit.FileInfo, done bool, err error) {
	m.blamed = m.from.path
	l, err := m.fsys.lock(ctx, guess.from.parent, guess.to.parent)
	if err != nil {
		return info, false, unlessSwapped(err)
	}
	defer l.unlock()
	e, err := m.judge()
	if err != nil {
		return info, false, err
	}
	defer e.close()
	if e.same || !e.from.parent.same(guess.from.parent) || !e.to.parent.same(guess.to.parent) {
		return info, false, nil
	}
	if len(e.to.beyond) > 0 {
		m.blamed = m.to.path
		deepest, err := m.made.make(e.to)
		if err != nil || deepest == nil {
			return info, false, err
		}
		e.to.close()
		e.to = deepest
	}
	m.blamed = m.from.path
	if err := m.act(e); err != nil {
		m.made.takeBack()
		return info, false, unlessSwapped(err)
	}
	info = describe(e.to.path(), e.from.info)
	if now, err := e.to.parent.lstat(e.to.name); err == nil && now != nil && os.SameFile(now, e.from.info) {
		info = describe(e.to.path(), now)
	}
	err = l.sync()
	if err == nil && len(m.made.made) > 0 {
		if err = e.to.parent.sync(); err == nil {
			err = m.made.sync()
		}
	}
	return info, true, notDurable(err)
}

// act moves the name.
func (m *move) act(e *ends) error {
	from, to := e.from, e.to
	switch {
	case to.info != nil && os.SameFile(from.info, to.info) && describe("", from.info).Links > 1:
		// rename does nothing about two names of one file.
		return from.parent.dir.Remove(from.name)
	case to.info == nil && !m.o.Replace && !from.info.IsDir():
		// A link is never made over something; a rename would be.
		err := linkBetween(from.parent, from.name, to.parent, to.name)
		if err == nil {
			if err = from.parent.dir.Remove(from.name); err != nil && to.parent.has(to.name, from.info) {
				to.parent.dir.Remove(to.name)
			}
			return err
		}
		if !noLinks(err) {
			return err
		}
	}
	return renameBetween(from.parent, from.name, to.parent, to.name)
}

// judge finds both ends and says whether the move may be made.
func (m *move) judge() (*ends, error) {
	m.blamed = m.from.path
	from, err := m.fsys.walk(m.from.clean, false)
	if err != nil {
		return nil, err
	}
	if err := m.judgeFrom(from); err != nil {
		from.close()
		return nil, err
	}
	m.blamed = m.to.path
	to, err := m.fsys.walk(m.to.clean, false)
	if err != nil {
		defer from.close()
		// Whatever stops the way beneath a folder, the folder cannot go there.
		var stopped *ambit.Error
		if errors.As(err, &stopped) && stopped.Reason == ambit.ErrNotADirectory && from.info.IsDir() && ambit.Contains(from.path(), stopped.Target) {
			return nil, intoItself(stopped.Target)
		}
		return nil, err
	}
	e := &ends{from: from, to: to}
	if err := m.judgeTo(e); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func intoItself(target string) error {
	return &ambit.Error{Reason: ambit.ErrInvalid, Target: target, Detail: "a folder cannot be moved into itself"}
}

func (m *move) judgeFrom(p *place) error {
	_, conditional := m.o.If.Version()
	switch {
	case p.isRoot():
		return p.fault(ambit.ErrInvalid, "the root cannot be moved")
	case p.info == nil && conditional && !m.from.asserted && !p.dangling:
		return m.o.If.Check(nil)
	case p.info == nil:
		return p.missing(m.from.asserted)
	case m.from.asserted && !p.info.IsDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case conditional && !p.info.Mode().IsRegular():
		return p.fault(ambit.ErrInvalid, "a precondition speaks of a regular file")
	case conditional:
		info := describe(p.path(), p.info)
		return m.o.If.Check(&info)
	}
	return nil
}

func (m *move) judgeTo(e *ends) error {
	from, to := e.from, e.to
	folder := from.info.IsDir()
	target := to.path()
	if to.info == nil {
		switch {
		case m.to.asserted && !folder:
			return to.fault(ambit.ErrNotADirectory, "the path asserts a folder, and what is moved is none")
		case folder && !to.dangling && ambit.Contains(from.path(), target):
			return intoItself(target)
		}
		if err := to.parentsMay(m.o.Parents, ambit.Precondition{}); err != nil {
			return err
		}
		if isTemporary(to.name) {
			return reserved(to)
		}
		return nil
	}
	switch {
	case m.to.asserted && (!to.info.IsDir() || !folder):
		return to.fault(ambit.ErrNotADirectory, "")
	case target == from.path():
		e.same = true
		return nil
	case folder && ambit.Contains(from.path(), target):
		return intoItself(target)
	case to.info.IsDir() || folder || !m.o.Replace:
		return to.fault(ambit.ErrExists, "")
	}
	return nil
}
