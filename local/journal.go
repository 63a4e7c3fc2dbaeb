// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// journals is where the journals of commits lie: in a root, hidden. Each is one
// file that is written before the commit changes anything, gets another name
// at the moment from which the commit stands, and goes when nothing is left to
// do. The lock on it tells that its owner lives.
type journals struct {
	in     *folder
	prefix string // of the machine's paths within the root, for a Sub
	sync   bool
}

// newJournals puts them into the first root in which something can be changed.
func (m *machine) newJournals(first *root) *journals {
	for _, r := range append([]*root{first}, m.roots...) {
		if m.isReadOnly(r.at) {
			continue
		}
		d, err := r.top.dir.again()
		if err != nil {
			break
		}
		in := &folder{dir: d, root: r, path: r.at, info: r.top.info}
		return &journals{in: in, sync: m.o.Durability == Durable}
	}
	return nil
}

// beneath returns the journals for a Sub at the path, which has its own handle
// of their folder.
func (j *journals) beneath(at string) *journals {
	if j == nil {
		return nil
	}
	d, err := j.in.dir.again()
	if err != nil {
		return nil
	}
	in := &folder{dir: d, root: j.in.root, path: j.in.path, info: j.in.info}
	return &journals{in: in, prefix: beneath(j.prefix, at), sync: j.sync}
}

func (j *journals) close() {
	if j != nil {
		j.in.close()
	}
}

// journalText is what a journal holds, as JSON.
type journalText struct {
	Format  int             `json:"format"` // 1
	Changes []journalChange `json:"changes"`
	Dirs    []journalPath   `json:"dirs,omitempty"` // folders that the commit makes, outermost first
}

// parseJournal reads a journal of the given name. Whatever lies in the root may
// be the work of somebody else: it is only taken for one if it says nothing
// that a commit would not.
func parseJournal(name string, b []byte) (*journalText, bool) {
	// Not at once: a few bytes of JSON can ask for much memory.
	var parts struct {
		Format  int
		Changes []json.RawMessage
		Dirs    []json.RawMessage
	}
	if bytes.Count(b, []byte("{")) > len(b)/leastChange*4+4 || json.Unmarshal(b, &parts) != nil || parts.Format != 1 || len(parts.Changes) > len(b)/leastChange || len(parts.Dirs) > len(b)/leastChange*2 {
		return nil, false
	}
	text := &journalText{Changes: make([]journalChange, len(parts.Changes)), Dirs: make([]journalPath, len(parts.Dirs))}
	digits := name[len(name)-hiddenDigits:]
	for i, part := range parts.Changes {
		c := &text.Changes[i]
		if json.Unmarshal(part, c) != nil || c.Hidden != fmt.Sprintf("%s%s%08x", commitPrefix, digits[:hiddenDigits-8], i) {
			return nil, false
		}
	}
	for i, part := range parts.Dirs {
		if json.Unmarshal(part, &text.Dirs[i]) != nil {
			return nil, false
		}
	}
	return text, true
}

// journalChange is one change. What had the name is under the hidden one once
// the change is made; what is staged may be there before.
type journalChange struct {
	journalPath
	Hidden string       `json:"hidden"` // in the same folder
	Staged *journalFile `json:"staged,omitempty"`
	Base   *journalFile `json:"base,omitempty"`
}

// journalPath is a path within the journal's root, or one of the host. Names
// are bytes, which JSON strings are not.
type journalPath struct {
	Inside []byte `json:"inside,omitempty"`
	Host   []byte `json:"host,omitempty"`
}

// journalFile tells a file from every other that has ever been.
type journalFile struct {
	Inode      uint64 `json:"inode"`
	Generation []byte `json:"generation,omitempty"`
}

func journalFileOf(n *node) *journalFile {
	return &journalFile{Inode: n.inode, Generation: []byte(n.generation)}
}

func (f *journalFile) is(n *node) bool {
	return f != nil && n != nil && f.Inode == n.inode && string(f.Generation) == n.generation
}

// path returns the path of what lies at the canonical path in r.
func (j *journals) path(r *root, canonical string) journalPath {
	full := beneath(j.prefix, canonical)
	if ambit.Contains(j.in.root.at, full) && (j.prefix != "" || r == j.in.root) {
		return journalPath{Inside: []byte(within(j.in.root.at, full))}
	}
	return journalPath{Host: []byte("/" + strings.Join(r.above, "/") + within(r.at, canonical))}
}

// journal is that of one commit.
type journal struct {
	*journals
	in    *folder // a handle of its own: a folder is for one goroutine
	id    string
	name  string   // "" for a commit of one change, which needs none
	file  *os.File // the lock
	steps []*step
}

// begin writes the journal of what is to be done.
func (j *journals) begin(steps []*step) (*journal, error) {
	o := &journal{journals: j, id: randomDigits()[:hiddenDigits-8], steps: steps}
	if len(steps) < 2 {
		return o, nil
	}
	if j == nil {
		return nil, &ambit.Error{Reason: ambit.ErrReadOnly, Detail: "a commit of several files needs a root that can be changed"}
	}
	text := journalText{Format: 1}
	made := make(map[string]bool)
	for i, s := range steps {
		c := journalChange{journalPath: j.path(s.place.parent.root, s.place.path()), Hidden: o.hidden(i)}
		if s.staged != nil {
			c.Staged = journalFileOf(s.staged.temporary.info)
		}
		if s.place.info != nil {
			c.Base = journalFileOf(s.place.info)
		}
		text.Changes = append(text.Changes, c)
		if s.place.info != nil {
			continue
		}
		for _, dir := range s.place.dirs() {
			if !made[dir] {
				made[dir] = true
				text.Dirs = append(text.Dirs, j.path(s.place.parent.root, dir))
			}
		}
	}
	b, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	if len(b) > maxJournal {
		return nil, &ambit.Error{Reason: ambit.ErrTooLarge, Limit: maxJournal, Size: int64(len(b)), Detail: "the commit's journal would be too large"}
	}
	if err := o.write(b); err != nil {
		o.close()
		e := ambit.Wrap("", "", err).(*ambit.Error)
		e.Detail = "the journal of the commit could not be written into the root: " + string(e.Reason)
		return nil, e
	}
	return o, nil
}

func (o *journal) write(b []byte) error {
	own, err := o.journals.in.dir.again()
	if err != nil {
		return err
	}
	at := o.journals.in
	o.in = &folder{dir: own, root: at.root, path: at.path, info: at.info}
	t, err := o.in.create(0o600)
	if err != nil {
		return err
	}
	name := journalPrefix + o.id + "00000000"
	_, err = t.file.Write(b)
	if err == nil && o.sync {
		err = t.file.Sync()
	}
	if err == nil {
		// Alone: a process that starts up must not take it for a leftover.
		_, err = tryLock(t.file)
	}
	if err == nil {
		err = t.called(o.in, name)
	}
	if err != nil {
		t.discard()
		return err
	}
	if err := o.syncFolder(); err != nil {
		t.discard()
		return err
	}
	o.name, o.file = name, t.file
	runtime.SetFinalizer(t, nil)
	t.dir.close()
	return nil
}

func (o *journal) syncFolder() error {
	if !o.sync {
		return nil
	}
	f, err := o.in.dir.handle()
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}

// hidden returns the name that keeps what the change i replaces.
func (o *journal) hidden(i int) string {
	if len(o.steps) < 2 {
		// A sweep knows what to do.
		s := o.steps[i]
		var staged *node
		if s.staged != nil {
			staged = s.staged.temporary.info
		}
		return swapName(staged, s.place.info, s.place.name)
	}
	return fmt.Sprintf("%s%s%08x", commitPrefix, o.id, i)
}

// finish makes the commit stand: from now on it is not undone. unsure is what
// the disk said to that.
func (o *journal) finish() (unsure, err error) {
	if o.name == "" {
		return nil, nil
	}
	done := donePrefix + o.id + "00000000"
	if err := o.in.dir.rename(o.name, o.in.dir, done, replacing); err != nil {
		return nil, err
	}
	o.name = done
	return o.syncFolder(), nil
}

func (o *journal) remove() {
	if o.name != "" {
		_ = o.in.dir.remove(o.name, false)
		o.name = ""
	}
}

func (o *journal) close() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	if o.in != nil {
		o.in.close()
		o.in = nil
	}
}

// recoverCommits finishes or undoes the commits of processes that died.
func (m *machine) recoverCommits() error {
	if !locksFolders {
		return nil
	}
	for _, r := range m.roots {
		if m.isReadOnly(r.at) {
			continue
		}
		all, err := r.top.dir.entries(".")
		if ambit.ReasonOf(err) == ambit.ErrPermission {
			continue // nor could a commit have made a journal here
		}
		if err != nil {
			return err
		}
		for _, e := range all {
			_, rest, undo := cutHidden(e.name, journalPrefix)
			if !undo {
				var done bool
				if _, rest, done = cutHidden(e.name, donePrefix); !done {
					continue
				}
			}
			if rest != "" {
				continue
			}
			if err := m.recoverCommit(r, e.name, undo); err != nil {
				failed := ambit.Wrap("", "", err).(*ambit.Error)
				failed.Detail = "a commit that was cut short could not be put in order: " + string(failed.Reason)
				return failed
			}
		}
	}
	return nil
}

// maxJournal bounds what is read of a journal.
const maxJournal = 8 << 20

// leastChange is how many bytes of a journal one change takes at least.
const leastChange = 64

func (m *machine) recoverCommit(r *root, name string, undo bool) error {
	there, err := lookupOrNone(r.top, name)
	if err != nil || there == nil || !there.isRegular() || !isOwn(there) || there.links != 1 || there.size > maxJournal {
		return err // whoever may make files in the root could ask for anything
	}
	f, err := r.top.dir.open(name)
	if ambit.ReasonOf(err) == ambit.ErrPermission {
		return nil
	}
	if err != nil {
		return unlessSwapped(err)
	}
	defer f.Close()
	if ok, err := tryLock(f); err != nil || !ok {
		return err // its owner lives
	}
	info, err := describeFile(f)
	if err != nil {
		return err
	}
	if now, err := lookupOrNone(r.top, name); err != nil || now == nil || !now.same(info) || !info.same(there) {
		return err // its owner was just done
	}
	b := make([]byte, info.size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return err
	}
	text, ok := parseJournal(name, b)
	if !ok {
		return nil // no work of this library's, or of an edition that knows more
	}
	ctx, cancel := context.WithTimeout(context.Background(), recoveryPatience)
	defer cancel()
	v := &recovery{machine: m, ctx: ctx, root: r, undo: undo, whole: true}
	for i := len(text.Changes) - 1; i >= 0; i-- {
		v.change(&text.Changes[i])
	}
	if undo {
		for i := len(text.Dirs) - 1; i >= 0; i-- {
			v.at(text.Dirs[i], isThere, v.takeBack)
		}
	}
	if !v.whole {
		return v.err
	}
	return r.top.dir.remove(name, false)
}

// recovery puts one commit in order.
type recovery struct {
	*machine
	ctx   context.Context
	root  *root
	undo  bool
	whole bool  // all of it could be done
	err   error // why not
}

// fail notes that something could not be put in order. Only what the disk
// could not do keeps New from serving the root: the rest may be somebody's
// invention.
func (v *recovery) fail(err error) {
	v.whole = false
	switch ambit.ReasonOf(err) {
	case ambit.ErrIO, ambit.ErrNoSpace, ambit.ErrTimeout, ambit.ErrReadOnly:
		if v.err == nil {
			v.err = err
		}
	}
}

func isThere(d *folder, name string) bool {
	info, err := lookupOrNone(d, name)
	return err != nil || info != nil && info.isDir()
}

// takeBack removes a folder that the commit has made, unless something is in
// it.
func (v *recovery) takeBack(d *folder, name string) {
	info, err := lookupOrNone(d, name)
	if err != nil {
		v.fail(err)
		return
	}
	if info == nil || !info.isDir() {
		return
	}
	sub, ok, err := d.enter(name, info)
	if err != nil {
		v.fail(err)
		return
	}
	if ok {
		v.sweepOnce(sub)
		sub.close()
	}
	if err := d.dir.remove(name, true); err != nil && !swapped(err) {
		v.fail(err)
	}
}

// at calls do for the folder and the name of the path, while the folder is
// locked, if the journal concerns them.
func (v *recovery) at(path journalPath, concerns func(d *folder, name string) bool, do func(d *folder, name string)) {
	clean := ambit.Join(v.root.at, strings.TrimPrefix(string(path.Inside), "/"))
	if path.Host != nil {
		r, rest, ok := v.land(hostNames(string(path.Host)))
		if !ok {
			v.whole = false // that root is not served this time
			return
		}
		clean = ambit.Join(r.at, strings.Join(rest, "/"))
	}
	if _, _, err := ambit.Resolve("/", clean); err != nil || strings.Contains(clean, "/../") {
		v.whole = false
		return
	}
	p, err := v.walk(clean, false)
	if err != nil {
		// A folder that is gone took all with it that was in it.
		if r := ambit.ReasonOf(err); r != ambit.ErrNotFound && r != ambit.ErrNotADirectory {
			v.fail(err)
		}
		return
	}
	defer p.close()
	if p.isRoot() || len(p.beyond) > 0 {
		return // the folder is gone, and all that was in it
	}
	if v.isReadOnly(p.path()) {
		v.whole = false
		return
	}
	// Nobody is waited for where there is nothing to do.
	if !concerns(p.parent, p.name) {
		return
	}
	l, err := lockFolders(v.ctx, p.parent)
	if err != nil {
		v.fail(err)
		return
	}
	defer l.unlock()
	do(p.parent, p.name)
}

// recoveryPatience is how long New waits for the locks of the folders of a
// commit: one who holds one longer than any change takes holds it for something
// else.
const recoveryPatience = 3 * time.Second

func (v *recovery) change(c *journalChange) {
	concerns := func(d *folder, name string) bool {
		aside, err := lookupOrNone(d, c.Hidden)
		if aside != nil || err != nil {
			return true
		}
		at, err := lookupOrNone(d, name)
		return err != nil || c.Staged.is(at)
	}
	v.at(c.journalPath, concerns, func(d *folder, name string) {
		at, err := lookupOrNone(d, name)
		if err != nil {
			v.fail(err)
			return
		}
		aside, err := lookupOrNone(d, c.Hidden)
		if err != nil {
			v.fail(err)
			return
		}
		switch {
		case v.undo:
			err = v.undoChange(d, name, c, at, aside)
		case aside != nil:
			err = v.finishChange(d, name, c, aside)
		}
		if err != nil {
			v.fail(err)
		}
	})
}

func lookupOrNone(d *folder, name string) (*node, error) {
	n, err := d.dir.lookup(name)
	if ambit.ReasonOf(err) == ambit.ErrNotFound {
		return nil, nil
	}
	return n, err
}

// undoChange gives the old file its place again, unless somebody else has made
// a newer one.
func (v *recovery) undoChange(d *folder, name string, c *journalChange, at, aside *node) error {
	path := ambit.Join(d.path, name)
	ours := c.Staged.is(at)
	switch {
	case aside == nil && ours && c.Base == nil:
		v.recovered(path, RecoveryUndone)
		return d.dir.remove(name, false)
	case aside == nil:
		return nil // the change was not made
	case c.Staged.is(aside):
		return d.dir.remove(c.Hidden, false) // nor was this one
	case ours:
		if err := d.dir.rename(c.Hidden, d.dir, name, exchanging); err != nil {
			if !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			if err := d.dir.rename(c.Hidden, d.dir, name, replacing); err != nil {
				return err
			}
			v.recovered(path, RecoveryUndone)
			return nil
		}
		v.recovered(path, RecoveryUndone)
		return d.dir.remove(c.Hidden, false)
	case at == nil && c.Base != nil:
		v.recovered(path, RecoveryUndone)
		return moveName(d, c.Hidden, d, name, true, false)
	case c.Base.is(aside):
		// What is there is newer than both.
		return d.dir.remove(c.Hidden, false)
	}
	v.recovered(path, RecoveryKept)
	return nil
}

// finishChange deletes what was replaced.
func (v *recovery) finishChange(d *folder, name string, c *journalChange, aside *node) error {
	if !c.Base.is(aside) && !c.Staged.is(aside) {
		v.recovered(ambit.Join(d.path, name), RecoveryKept)
		return nil
	}
	v.recovered(ambit.Join(d.path, name), RecoveryFinished)
	return d.dir.remove(c.Hidden, false)
}
