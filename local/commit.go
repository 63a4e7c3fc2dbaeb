// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// Commit makes all changes or none. What it replaces and removes is put aside
// under hidden names until all of it is done; a journal in the first root that
// can be changed says what to do about them. When a change fails, or the process dies, the
// old files take their places again: in the second case by the next [New] of
// the root. Others can see a part of the changes while it works. With more
// than one change it needs the right to make files in that root.
func (fsys *FileSystem) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	first := ""
	if len(changes) > 0 {
		first = changes[0].Path
	}
	if fsys.closed.Load() {
		return nil, ambit.Wrap(ambit.OpCommit, first, ambit.ErrClosed)
	}
	if !fsys.caps.Write {
		return nil, ambit.Wrap(ambit.OpCommit, first, ambit.ErrReadOnly)
	}
	if err := ended(ctx); err != nil {
		return nil, ambit.Wrap(ambit.OpCommit, first, err)
	}
	c := &commit{call: fsys.newCall(ctx)}
	defer c.close()
	r, err := c.run(changes)
	return r, ambit.Wrap(ambit.OpCommit, c.blamed, err)
}

// commit is one call of Commit.
type commit struct {
	*call
	steps   []*step
	made    []*parents
	journal *journal
	litter  bool   // something is left under a hidden name
	blamed  string // the path that an error speaks of
}

// step is one change of a commit.
type step struct {
	change   ambit.Change
	clean    string
	asserted bool
	staged   *staged // of a write
	place    *place  // under the lock
	result   ambit.WriteResult
	swap     *swap
	put      bool // what is staged has its name
}

func (c *commit) close() {
	for _, s := range c.steps {
		if s.place != nil {
			s.place.close()
		}
		if s.swap != nil {
			s.swap.release()
		}
		if s.staged == nil || s.staged.temporary == nil {
			continue
		}
		if s.put {
			s.staged.temporary.release()
			s.staged.temporary = nil
		} else {
			_ = s.staged.Discard(c.ctx)
		}
	}
	for _, m := range c.made {
		m.close()
	}
}

func (c *commit) run(changes []ambit.Change) ([]ambit.WriteResult, error) {
	for _, change := range changes {
		c.blamed = change.Path
		clean, asserted, err := c.fsys.resolveChange(c.ctx, change.Path)
		if err != nil {
			return nil, err
		}
		c.steps = append(c.steps, &step{change: change, clean: clean, asserted: asserted})
	}
	if err := ambit.CheckChanges(changes, c.fsys.caps); err != nil {
		var e *ambit.Error
		if errors.As(err, &e) {
			c.blamed = e.Path
		}
		return nil, err
	}
	if err := c.judgeAll(); err != nil {
		return nil, err
	}
	c.forget()
	for _, s := range c.steps {
		if s.change.Op != ambit.OpWrite {
			continue
		}
		c.blamed = s.change.Path
		var err error
		s.staged, err = c.stage(ambit.OpWrite, s.change.Path, s.change.Content, s.options())
		if err != nil {
			return nil, err
		}
	}
	for range maxTries {
		done, unsure, err := c.publish()
		if err == errAsk {
			c.catchUp()
			err = nil
		}
		if ambit.ReasonOf(err) == ambit.ErrPartial {
			return c.results(), err
		}
		if err != nil {
			return nil, err
		}
		if done {
			return c.results(), notDurable(unsure)
		}
	}
	return nil, restless()
}

func (c *commit) results() []ambit.WriteResult {
	results := make([]ambit.WriteResult, len(c.steps))
	for i, s := range c.steps {
		results[i] = s.result
	}
	return results
}

func (s *step) options() *ambit.WriteOptions {
	return &ambit.WriteOptions{If: s.change.If, Parents: s.change.Parents, Mode: s.change.Mode}
}

// forget closes the places, which are those of a moment.
func (c *commit) forget() {
	for _, s := range c.steps {
		if s.place != nil {
			s.place.close()
			s.place = nil
		}
	}
}

// judgeAll finds where each change goes, and says whether all of them may be
// made together.
func (c *commit) judgeAll() error {
	for _, s := range c.steps {
		c.blamed = s.change.Path
		var err error
		if s.change.Op == ambit.OpWrite {
			s.place, err = c.judgeWrite(ambit.OpWrite, s.clean, s.asserted, s.options())
		} else {
			s.place, err = c.judgeRemove(s.clean, s.asserted, &ambit.RemoveOptions{If: s.change.If}, true)
		}
		if err != nil {
			return err
		}
	}
	return c.judgeTogether()
}

// judgeTogether refuses two changes of one file, and one beneath another's
// file.
func (c *commit) judgeTogether() error {
	seen := make(map[string]bool, len(c.steps))
	files := make(map[fileKey]bool, len(c.steps))
	// A folder can be there under two paths.
	type newFile struct {
		folder fileKey
		names  string
	}
	made := make(map[newFile]bool)
	for _, s := range c.steps {
		c.blamed = s.change.Path
		path := s.place.path()
		if seen[path] {
			return &ambit.Error{Reason: ambit.ErrInvalid, Target: path, Detail: "two changes name this file"}
		}
		seen[path] = true
		if info := s.place.info; info != nil && info.inode != 0 {
			if files[info.key()] {
				return &ambit.Error{Reason: ambit.ErrInvalid, Target: path, Detail: "two changes name this file, by two hard links"}
			}
			files[info.key()] = true
		}
		if s.place.info == nil && hasVersions {
			file := newFile{s.place.parent.info.key(), strings.Join(append([]string{s.place.name}, s.place.beyond...), "/")}
			if made[file] {
				return &ambit.Error{Reason: ambit.ErrInvalid, Target: path, Detail: "two changes name this file, by two paths to its folder"}
			}
			made[file] = true
		}
	}
	for _, s := range c.steps {
		path := s.place.path()
		for above := ambit.Dir(path); above != "/"; above = ambit.Dir(above) {
			if seen[above] {
				c.blamed = s.change.Path
				return &ambit.Error{Reason: ambit.ErrInvalid, Target: path, Detail: "the path lies beneath the file of another change"}
			}
		}
	}
	return nil
}

// publish makes the changes. It is not done, without an error, when something
// was moved meanwhile and all has to be judged anew.
func (c *commit) publish() (done bool, unsure, err error) {
	defer c.forget()
	if err := c.judgeAll(); err != nil {
		return false, nil, err
	}
	folders := c.folders()
	for _, d := range folders {
		defer d.close()
	}
	l, err := lockFolders(c.ctx, folders...)
	if err != nil {
		return false, nil, unlessSwapped(err)
	}
	defer l.unlock()
	c.forget()
	c.locked = true
	err = c.judgeAll()
	c.locked = false
	if err != nil {
		return false, nil, err
	}
	again := c.folders()
	for _, d := range again {
		defer d.close()
	}
	if !slices.EqualFunc(folders, again, (*folder).same) {
		return false, nil, nil
	}
	for _, s := range c.steps {
		if s.staged != nil && s.staged.temporary.lost() {
			c.blamed = s.change.Path
			if err := s.staged.copyTo(s.place); err != nil {
				return false, nil, unlessSwapped(err)
			}
		}
	}
	if c.journal, err = c.fsys.journals.begin(c.steps); err != nil {
		return false, nil, err
	}
	defer func() {
		c.journal.close()
		c.journal = nil
	}()
	for i := range c.steps {
		ok, err := c.make(i)
		if err != nil || !ok {
			return false, nil, c.undo(err)
		}
	}
	unsure = c.sync(l)
	if c.fsys.o.Durability == Durable {
		for _, s := range c.steps {
			if s.swap == nil {
				continue
			}
			if ok, err := s.swap.again(); !ok || err != nil {
				return false, nil, c.undo(err)
			}
		}
	}
	notSure, err := c.journal.finish()
	if err != nil {
		return false, nil, c.undo(err)
	}
	if unsure == nil {
		unsure = notSure
	}
	for _, s := range c.steps {
		if s.swap != nil {
			s.swap.settle()
			c.litter = c.litter || s.swap.litter
		}
		c.describe(s)
	}
	c.endJournal()
	return true, unsure, nil
}

// folders returns the folders whose names are changed, kept open for the
// caller.
func (c *commit) folders() []*folder {
	folders := make([]*folder, len(c.steps))
	for i, s := range c.steps {
		folders[i] = s.place.parent.retain()
	}
	return folders
}

// make makes one change, so that it can be taken back.
func (c *commit) make(i int) (bool, error) {
	s := c.steps[i]
	c.blamed = s.change.Path
	hidden := c.journal.hidden(i)
	if s.change.Op == ambit.OpRemove {
		return c.takeOut(s, hidden)
	}
	if len(s.place.beyond) > 0 {
		ok, err := c.makeParents(s)
		if !ok || err != nil {
			return false, err
		}
	}
	p := s.place
	if err := s.staged.dressAgain(p); err != nil {
		return false, unlessSwapped(err)
	}
	t := s.staged.temporary
	if p.info == nil {
		if t.name != "" && !t.dir.same(p.parent) {
			if err := t.called(p.parent, temporaryName()); err != nil {
				return false, unlessSwapped(err)
			}
		}
		if err := t.take(p); err != nil {
			return false, unlessSwapped(err)
		}
		s.put = true
		return true, nil
	}
	swap, err := newSwap(p, t, p.info.unchanged)
	if swap == nil || err != nil {
		return false, err
	}
	swap.keep = true
	ok := false
	if err = unlessSwapped(swap.prepare(hidden)); err == nil && swap.hidden == t.name {
		ok, err = swap.make()
	}
	c.litter = c.litter || swap.litter
	if !ok {
		swap.release()
		return false, err
	}
	s.swap, s.put = swap, true
	return true, nil
}

// makeParents makes the folders above the place of s, from the folder that was
// judged. An earlier change may have made some of them.
func (c *commit) makeParents(s *step) (bool, error) {
	in, name, beyond := s.place.parent, s.place.name, s.place.beyond
	for len(beyond) > 0 {
		made := c.madeAt(ambit.Join(in.path, name))
		if made == nil {
			break
		}
		in, name, beyond = made, beyond[0], beyond[1:]
	}
	m := &parents{machine: c.fsys.machine}
	c.made = append(c.made, m)
	deepest := &place{parent: in.retain(), name: name, beyond: beyond}
	if len(beyond) > 0 {
		start := deepest
		var err error
		deepest, err = m.make(start)
		start.close()
		if err != nil || deepest == nil {
			return false, err
		}
	}
	s.place.close()
	s.place = deepest
	s.result.CreatedDirs = m.paths()
	return true, nil
}

// madeAt returns the folder at the canonical path that this commit has made.
func (c *commit) madeAt(path string) *folder {
	for _, m := range c.made {
		for _, f := range m.made {
			if f.dir != nil && f.dir.path == path {
				return f.dir
			}
		}
	}
	return nil
}

func (c *commit) takeOut(s *step, hidden string) (bool, error) {
	swap, err := newSwap(s.place, nil, s.place.info.unchanged)
	if swap == nil || err != nil {
		return false, err
	}
	_ = swap.prepare(hidden)
	ok, err := swap.make()
	c.litter = c.litter || swap.litter
	if !ok {
		swap.release()
		return false, err
	}
	s.swap = swap
	return true, nil
}

// undo takes back what was made, the last first, and returns failed, which was
// why, or what could not be taken back.
func (c *commit) undo(failed error) error {
	var stands []string
	for i := len(c.steps) - 1; i >= 0; i-- {
		s := c.steps[i]
		var err error
		switch {
		case s.swap != nil:
			err = s.swap.back()
			c.litter = c.litter || s.swap.litter
			s.swap.release()
			s.swap = nil
		case s.put:
			if s.place.parent.has(s.place.name, s.staged.temporary.info) {
				err = s.place.parent.dir.remove(s.place.name, false)
			}
		}
		if err != nil {
			stands = append(stands, s.place.path())
			c.describe(s)
			continue
		}
		if s.put {
			// What was staged is gone with its name, and its bytes are left.
			s.put = false
			s.staged.temporary.gone = true
		}
		s.result = ambit.WriteResult{}
	}
	for i := len(c.made) - 1; i >= 0; i-- {
		c.made[i].takeBack()
		c.made[i].close()
	}
	c.made = nil
	if len(stands) > 0 {
		// The journal stays, for New to try again.
		detail := fmt.Sprintf("not undone: %q", stands)
		e := &ambit.Error{Reason: ambit.ErrPartial, Detail: detail}
		if failed != nil {
			e.Detail = fmt.Sprintf("%s; %s", ambit.ReasonOf(failed), detail)
		}
		return e
	}
	c.endJournal()
	return failed
}

// endJournal removes the journal, unless something is left that New has to
// clear up by it.
func (c *commit) endJournal() {
	if !c.litter {
		c.journal.remove()
	}
}

// sync makes the changes survive a power cut.
func (c *commit) sync(l *lock) error {
	err := c.fsys.sync(l)
	for _, s := range c.steps {
		if err == nil && len(s.result.CreatedDirs) > 0 {
			err = c.fsys.syncDir(s.place.parent)
		}
	}
	for _, m := range c.made {
		if err == nil {
			err = m.sync()
		}
	}
	return err
}

func (c *commit) describe(s *step) {
	if s.change.Op == ambit.OpRemove {
		s.result.Info = describe(s.place.path(), s.place.info)
		return
	}
	s.result.Info = s.staged.published(s.place)
	s.result.Created = s.place.info == nil
}
