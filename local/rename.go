// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ambitfs/ambit"
)

// Rename moves what is at from to the name to, a link as a link.
func (fsys *FileSystem) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	fromClean, fromAsserted, err := fsys.resolveChange(ctx, from)
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	toClean, toAsserted, err := fsys.resolveChange(ctx, to)
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, err)
	}
	if err := o.Check(fsys.caps); err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, err)
	}
	m := move{
		call: fsys.newCall(ctx),
		made: parents{machine: fsys.machine},
		from: end{path: from, clean: fromClean, asserted: fromAsserted},
		to:   end{path: to, clean: toClean, asserted: toAsserted},
	}
	if o != nil {
		m.o = *o
	}
	info, err := m.run()
	return info, ambit.Wrap(ambit.OpRename, m.blamed, err)
}

// move is one call of Rename.
type move struct {
	*call
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

func (m *move) run() (ambit.FileInfo, error) {
	defer m.made.close()
	for range maxTries {
		guess, err := m.judge()
		if err != nil {
			return ambit.FileInfo{}, err
		}
		if guess.same {
			info := describe(guess.from.path(), guess.from.info)
			guess.close()
			return info, nil
		}
		m.blamed = m.from.path
		if guess.from.info.isDir() {
			err = m.judgeBeneath(ambit.OpRename, guess.from, false)
		}
		var info ambit.FileInfo
		done := false
		if err == nil {
			info, done, err = m.once(guess)
		}
		guess.close()
		if err == errAsk {
			m.catchUp()
			continue
		}
		if done || err != nil {
			return info, err
		}
	}
	return ambit.FileInfo{}, restless()
}

func (m *move) once(guess *ends) (info ambit.FileInfo, done bool, err error) {
	m.blamed = m.from.path
	l, err := lockFolders(m.ctx, guess.from.parent, guess.to.parent)
	if err != nil {
		return info, false, unlessSwapped(err)
	}
	defer l.unlock()
	m.locked = true
	e, err := m.judge()
	m.locked = false
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
	moved, err := m.act(e)
	if err != nil || !moved {
		m.made.takeBack()
		return info, false, unlessSwapped(err)
	}
	info = describe(e.to.path(), e.from.info)
	if now, err := e.to.parent.lookup(e.to.name); err == nil && now != nil && now.same(e.from.info) {
		info = describe(e.to.path(), now)
	}
	err = m.fsys.sync(l)
	if err == nil && len(m.made.made) > 0 {
		if err = m.fsys.syncDir(e.to.parent); err == nil {
			err = m.made.sync()
		}
	}
	return info, true, notDurable(err)
}

// act moves the name. It is false when something else is there by now.
func (m *move) act(e *ends) (bool, error) {
	from, to := e.from, e.to
	if version, conditional := m.o.If.Version(); conditional {
		return m.moveVersion(e, version)
	}
	if to.info != nil && from.info.same(to.info) && from.info.links > 1 {
		// rename does nothing about two names of one file.
		err := from.parent.dir.remove(from.name, false)
		return err == nil, err
	}
	err := moveName(from.parent, from.name, to.parent, to.name, to.info == nil, from.info.isDir())
	if busy(err) && isMountPoint(from) {
		err = from.fault(ambit.ErrCrossDevice, "something is mounted here")
	}
	return err == nil, err
}

// moveName gives what is called name in d another name, which is free if it is
// said to be so.
func moveName(d *folder, name string, to *folder, newName string, free, isDir bool) error {
	if !free {
		return d.dir.rename(name, to.dir, newName, replacing)
	}
	err := d.dir.rename(name, to.dir, newName, keeping)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if !isDir {
		// A link is never made over something; a rename would be.
		err := d.dir.link(name, to.dir, newName)
		if err == nil {
			if err = d.dir.remove(name, false); err != nil {
				_ = to.dir.remove(newName, false)
			}
			return err
		}
		if !noLinks(err) {
			return err
		}
	}
	return d.dir.rename(name, to.dir, newName, replacing)
}

// moveVersion moves the version of a file that was asked for, and no other.
func (m *move) moveVersion(e *ends, version ambit.Version) (bool, error) {
	from, to := e.from, e.to
	s, err := newSwap(from, nil, func(n *node) bool { return n.version() == version })
	if s == nil || err != nil {
		return false, err
	}
	defer s.release()
	kept := ""
	if to.info != nil {
		if from.info.same(to.info) {
			_ = s.prepare(swapName(nil, s.was, from.name))
			ok, err := s.make()
			if ok {
				s.settle()
			}
			return ok, err
		}
		// What is replaced stays at hand until it is known what has come.
		kept = temporaryName()
		if err := to.parent.dir.link(to.name, to.parent.dir, kept); err != nil {
			if !noLinks(err) {
				return false, err
			}
			kept = ""
		}
	}
	if err := moveName(from.parent, from.name, to.parent, to.name, to.info == nil, false); err != nil {
		if kept != "" {
			_ = to.parent.dir.remove(kept, false)
		}
		return false, err
	}
	came, err := to.parent.dir.lookup(to.name)
	if err == nil && s.still(came) && (!s.leased || s.pin.kept()) {
		if kept != "" {
			_ = to.parent.dir.remove(kept, false)
		}
		return true, nil
	}
	// Another program was faster: its file goes back.
	if err := to.parent.dir.rename(to.name, from.parent.dir, from.name, keeping); errors.Is(err, fs.ErrExist) || errors.Is(err, errors.ErrUnsupported) {
		// It has put a newer one there already, or that is all this disk can do.
		if errors.Is(err, errors.ErrUnsupported) {
			_ = moveName(to.parent, to.name, from.parent, from.name, true, false)
		} else {
			_ = to.parent.dir.remove(to.name, false)
		}
	}
	if kept != "" {
		_ = to.parent.dir.rename(kept, to.parent.dir, to.name, keeping)
	}
	return false, nil
}

// isMountPoint reports that something is mounted at p.
func isMountPoint(p *place) bool {
	on, err := p.parent.dir.mountOf(p.name)
	if err != nil {
		return false
	}
	in, err := p.parent.dir.mountOf("")
	return err == nil && on.crosses(in, true)
}

// judge finds both ends and says whether the move may be made.
func (m *move) judge() (*ends, error) {
	m.blamed = m.from.path
	from, err := m.fsys.walk(m.from.clean, false)
	if err != nil {
		return nil, m.unlessRefused(ambit.OpRename, err)
	}
	if err = m.fsys.takeable(from); err == nil {
		err = m.ask(ambit.OpRename, from.path())
	}
	if err == nil {
		err = m.judgeFrom(from)
	}
	if err != nil {
		from.close()
		return nil, err
	}
	m.blamed = m.to.path
	to, err := m.fsys.walk(m.to.clean, false)
	if err != nil {
		defer from.close()
		// Whatever stops the way beneath a folder, the folder cannot go there.
		var stopped *ambit.Error
		if errors.As(err, &stopped) && stopped.Reason == ambit.ErrNotADirectory && from.info.isDir() && ambit.Contains(from.path(), stopped.Target) {
			return nil, intoItself(stopped.Target)
		}
		return nil, m.unlessRefused(ambit.OpRename, err)
	}
	e := &ends{from: from, to: to}
	if err = m.fsys.changeable(to); err == nil {
		err = m.askParents(to)
	}
	if err == nil {
		err = m.ask(ambit.OpRename, to.path())
	}
	if err == nil {
		err = m.judgeTo(e)
	}
	if err != nil {
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
	case m.from.asserted && !p.info.isDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case conditional && !p.info.isRegular():
		return p.fault(ambit.ErrInvalid, "a precondition speaks of a regular file")
	case conditional:
		info := describe(p.path(), p.info)
		return m.o.If.Check(&info)
	}
	return nil
}

func (m *move) judgeTo(e *ends) error {
	from, to := e.from, e.to
	folder := from.info.isDir()
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
		if isHidden(to.name) {
			return reserved(to)
		}
		return nil
	}
	switch {
	case m.to.asserted && (!to.info.isDir() || !folder):
		return to.fault(ambit.ErrNotADirectory, "")
	case target == from.path():
		e.same = true
		return nil
	case folder && ambit.Contains(from.path(), target):
		return intoItself(target)
	case to.info.isDir() || folder || !m.o.Replace:
		return to.fault(ambit.ErrExists, "")
	}
	return nil
}
