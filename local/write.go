// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/ambitfs/ambit"
)

// Write creates or replaces the file at path. The content goes into a
// temporary file in the same folder, which is synced and then takes the name,
// so that a kill at any moment leaves the old bytes or the new.
func (fsys *FileSystem) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	s, err := fsys.newCall(ctx).stage(ambit.OpWrite, path, content, o)
	if err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	r, err := s.publish(s.call)
	return r, ambit.Wrap(ambit.OpWrite, path, err)
}

// Stage prepares a Write. What it holds until Publish or Discard is a
// descriptor and a temporary file, which is removed by a later call should
// this process die.
func (fsys *FileSystem) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	s, err := fsys.newCall(ctx).stage(ambit.OpWrite, path, content, o)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpStage, path, err)
	}
	return s, nil
}

// judgeWrite finds where a write goes and says whether it may.
func (c *call) judgeWrite(op ambit.Op, clean string, asserted bool, o *ambit.WriteOptions) (*place, error) {
	p, err := c.fsys.walk(clean, asserted || !o.If.Absent())
	if err != nil {
		return nil, c.unlessRefused(op, err)
	}
	if err = c.fsys.changeable(p); err == nil {
		err = c.askAt(op, p)
	}
	switch {
	case err != nil:
	case p.info == nil:
		err = p.creatable(asserted, o)
	default:
		if err = c.fsys.replaceable(p, asserted, o); err == nil {
			err = c.oneName(p)
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// changeable refuses what is read-only.
func (m *machine) changeable(p *place) error {
	if len(m.readOnly) > 0 && m.isReadOnly(p.path()) {
		return &ambit.Error{Reason: ambit.ErrReadOnly, Target: p.path()}
	}
	return nil
}

func (p *place) creatable(asserted bool, o *ambit.WriteOptions) error {
	if asserted {
		return p.missing(true)
	}
	if err := p.parentsMay(o.Parents, o.If); err != nil {
		return err
	}
	if p.dangling {
		return throughDangling(p)
	}
	if isHidden(p.name) {
		return reserved(p)
	}
	return o.If.Check(nil)
}

// parentsMay judges a missing name that is an earlier step of a path.
func (p *place) parentsMay(make bool, c ambit.Precondition) error {
	if !p.early {
		return nil
	}
	_, conditional := c.Version()
	switch {
	case p.dangling && make:
		return throughDangling(p)
	case p.dangling:
		return p.missing(false)
	case conditional:
		return c.Check(nil)
	case !make:
		return p.missing(false)
	}
	for _, name := range append([]string{p.name}, p.beyond...) {
		if isHidden(name) {
			return reserved(p)
		}
	}
	return nil
}

func (m *machine) replaceable(p *place, asserted bool, o *ambit.WriteOptions) error {
	switch {
	case asserted && !p.info.isDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case o.If.Absent():
		return p.fault(ambit.ErrExists, "")
	case !p.info.isRegular():
		return p.fault(ambit.ErrNotAFile, "")
	}
	if err := p.writable(); err != nil {
		return err
	}
	info := describe(p.path(), p.info)
	return o.If.Check(&info)
}

// oneName refuses a file that has several names.
func (c *call) oneName(p *place) error {
	if p.info.links < 2 || c.fsys.o.HardLinks == HardLinksBroken {
		return nil
	}
	now := p.info
	if !c.locked {
		// A change that is at work, or was cut short, can give a file a hidden
		// name for a moment.
		c.fsys.swept.Delete(p.parent.info.key())
		c.fsys.sweepOnce(p.parent)
		l, err := lockFolders(c.ctx, p.parent)
		if err != nil {
			return unlessSwapped(err)
		}
		defer l.unlock()
		if now, err = p.parent.lookup(p.name); err != nil || now == nil || now.links < 2 {
			return err
		}
	}
	return &ambit.Error{
		Reason: ambit.ErrDenied, Rule: "hard-links", Kind: ambit.KindRegular, Target: p.path(),
		Detail: fmt.Sprintf("the file has %d names, some perhaps outside the roots: copy it, remove it and move the copy to its name, or serve the folder with HardLinks: HardLinksBroken", now.links),
	}
}

// writable refuses a file that may not be written in place: that its folder
// lets it be replaced must not be a way around its mode.
func (p *place) writable() error {
	if hasModes && p.info.mode.Perm()&0o222 == 0 {
		return p.fault(ambit.ErrPermission, "the file has no write permission")
	}
	err := p.parent.dir.mayWrite(p.name)
	switch ambit.ReasonOf(err) {
	case ambit.ErrPermission, ambit.ErrReadOnly:
		return err
	}
	return nil
}

func (c *call) stage(op ambit.Op, path string, content io.Reader, o *ambit.WriteOptions) (*staged, error) {
	clean, asserted, err := c.fsys.resolveChange(c.ctx, path)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &ambit.WriteOptions{}
	}
	// It refuses a nil reader too.
	change := ambit.Change{Op: ambit.OpWrite, Path: path, Content: content, If: o.If, Mode: o.Mode}
	if err := ambit.CheckChanges([]ambit.Change{change}, c.fsys.caps); err != nil {
		return nil, err
	}
	s := &staged{owner: c.fsys, call: c, op: op, path: path, clean: clean, asserted: asserted, o: *o}
	for range maxTries {
		p, err := s.judgeWrite(op, clean, asserted, o)
		if err != nil {
			return nil, err
		}
		ok, err := s.fill(p, content)
		p.close()
		if ok || err != nil {
			return s, err
		}
	}
	return nil, restless()
}

// fill puts the content into a temporary file in the folder of p. Nothing of
// it was read yet when ok is false, for a folder that was removed meanwhile.
func (s *staged) fill(p *place, content io.Reader) (ok bool, err error) {
	m := s.fsys.machine
	m.sweepOnce(p.parent)
	want := s.o.Mode
	if want == 0 && p.info != nil {
		want = p.info.mode.Perm()
	} else if want == 0 {
		want = m.o.NewFileMode
	}
	t, err := p.parent.create(want)
	if err != nil {
		if swapped(err) {
			return false, nil
		}
		return false, err
	}
	defer func() {
		if !ok {
			t.discard()
		}
	}()
	if err := s.fillFrom(t.file, content); err != nil {
		return false, err
	}
	if err := t.look(); err != nil {
		return false, err
	}
	s.temporary = t
	// A folder or file that was removed meanwhile is found out by the judgement
	// that comes before publication, which has all of this done again.
	if err := s.finish(p); err != nil && !swapped(err) {
		return false, err
	}
	if err := t.seal(); err != nil {
		return false, err
	}
	s.info = describe(p.path(), t.info)
	s.info.Version, s.info.ID, s.info.Links = "", "", 0
	return true, nil
}

var copyBuffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// pour copies the content into f in flat memory.
func pour(f *os.File, content io.Reader) error {
	buffer := copyBuffers.Get().(*[256 << 10]byte)
	defer copyBuffers.Put(buffer)
	// Only what has no other method is copied through the buffer.
	_, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{content}, buffer[:])
	return err
}

// finish gives the temporary file all that it will have at p, and makes it
// survive a power cut.
func (s *staged) finish(p *place) error {
	s.finished = false
	if err := s.dress(p); err != nil {
		return err
	}
	if err := s.temporary.stamp(p.info); err != nil {
		return err
	}
	if s.fsys.o.Durability == Durable {
		if err := s.temporary.file.Sync(); err != nil {
			return err
		}
	}
	s.finished = true
	return nil
}

// dress gives the temporary file the owner, the permission bits and the
// attributes that it will have at p.
func (s *staged) dress(p *place) error {
	t := s.temporary
	want := s.o.Mode
	s.dressedFor = p.info
	if p.info != nil {
		keepOwner(t.file, t.info, p.info)
		if want == 0 {
			want = p.info.mode.Perm()
		}
	}
	if want == 0 {
		want = s.fsys.o.NewFileMode
	}
	if want == 0 {
		var err error
		if want, err = t.umasked(); err != nil {
			return err
		}
	}
	touched := false
	if p.info != nil {
		// An access list has permission bits of its own.
		var err error
		if touched, err = p.parent.dir.attributes(p.name, t.file); err != nil {
			return err
		}
	}
	if !touched && t.info.mode.Perm() == want {
		return nil
	}
	return setMode(t.file, want)
}

// umasked returns the permission bits that a new file gets in this folder. The
// umask is asked of the kernel by making a file: reading it would set it, for
// the whole process.
func (t *temporary) umasked() (fs.FileMode, error) {
	if t.natural == 0 {
		probe, err := t.dir.create(0)
		if err != nil {
			return 0, err
		}
		t.natural = probe.natural
		probe.discard()
	}
	return t.natural, nil
}

// staged is content in a temporary file.
type staged struct {
	owner    *FileSystem
	*call    // guarded by mu, once others have the staged
	op       ambit.Op
	path     string // as the caller wrote it
	clean    string
	asserted bool
	o        ambit.WriteOptions
	info     ambit.FileInfo

	mu         sync.Mutex
	temporary  *temporary // nil: published or discarded
	dressedFor *node      // what it is to replace
	finished   bool       // it has all that it is to have there
}

func (s *staged) Info() ambit.FileInfo { return s.info }

func (s *staged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	// A rule is asked again: Publish judges everything anew.
	r, err := s.publish(s.owner.newCall(ctx))
	return r, ambit.Wrap(ambit.OpPublish, s.path, err)
}

func (s *staged) Discard(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temporary != nil {
		s.temporary.discard()
		s.temporary = nil
	}
	return nil
}

func (s *staged) publish(c *call) (r ambit.WriteResult, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temporary == nil {
		return r, ambit.ErrClosed
	}
	made := parents{machine: s.fsys.machine}
	published := false
	defer func() {
		if published {
			s.temporary.release()
		} else {
			s.temporary.discard()
		}
		s.temporary = nil
		made.close()
	}()
	if _, _, err := s.fsys.resolveChange(c.ctx, s.path); err != nil {
		return r, err
	}
	s.call = c
	judge := func() (*place, error) { return s.judgeWrite(s.op, s.clean, s.asserted, &s.o) }
	if len(s.fsys.guards) > 0 {
		p, err := judge()
		if err != nil {
			return r, err
		}
		p.close()
	}
	err = s.change(s.temporary.dir, judge, func(p *place, l *lock) (bool, error) {
		if len(p.beyond) > 0 {
			deepest, err := made.make(p)
			if err != nil || deepest == nil {
				return false, err
			}
			p = deepest
			defer p.close()
		}
		unsure, ok, err := s.place(p, l)
		if !ok || err != nil {
			if t := s.temporary; t.name != "" && p.parent.same(t.dir) && len(made.made) > made.kept {
				// What was made is taken back only empty. Should the content be
				// placed after all, it is copied.
				_ = t.dir.dir.remove(t.name, false)
			}
			made.takeBack()
			return false, err
		}
		published = true
		r = ambit.WriteResult{Info: s.published(p), Created: p.info == nil, CreatedDirs: made.paths()}
		if unsure == nil && len(made.made) > 0 {
			if unsure = s.fsys.syncDir(p.parent); unsure == nil {
				unsure = made.sync()
			}
		}
		return true, notDurable(unsure)
	})
	return r, err
}

// place gives the temporary file the name p. It is false when something has
// come to be there that a new judgement will see. unsure is what the disk said
// to the change that was made.
func (s *staged) place(p *place, l *lock) (unsure error, ok bool, err error) {
	if s.temporary.lost() || s.temporary.elsewhere(p.parent) {
		err = s.copyTo(p)
	} else if t := s.temporary; t.name != "" && !t.dir.same(p.parent) {
		err = t.called(p.parent, temporaryName())
	}
	if err == nil {
		err = s.dressAgain(p)
	}
	if err != nil {
		return nil, false, unlessSwapped(err)
	}
	_, conditional := s.o.If.Version()
	switch {
	case conditional:
		return s.swapIn(p, l)
	case p.info == nil:
		err = s.temporary.take(p)
	default:
		err = s.temporary.replace(p)
	}
	if err != nil {
		return nil, false, unlessSwapped(err)
	}
	return s.fsys.sync(l), true, nil
}

// take gives the file a name that nothing has.
func (t *temporary) take(p *place) error {
	if t.name == "" {
		return p.parent.dir.name(t.file, p.name)
	}
	err := t.dir.dir.rename(t.name, p.parent.dir, p.name, keeping)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = t.dir.dir.link(t.name, p.parent.dir, p.name); err == nil {
		_ = t.dir.dir.remove(t.name, false)
	} else if noLinks(err) {
		err = t.createWithoutLink(p)
	}
	return err
}

// noLinks reports that a disk has no hard links.
func noLinks(err error) bool {
	switch ambit.ReasonOf(err) {
	case ambit.ErrPermission, ambit.ErrUnsupported:
		return true
	}
	return false
}

// createWithoutLink makes an empty file first, which fails where a link would
// have failed, and replaces that.
func (t *temporary) createWithoutLink(p *place) error {
	f, err := p.parent.dir.create(p.name, 0o600)
	if err != nil {
		return err
	}
	made, err := describeFile(f)
	f.Close()
	if err == nil {
		err = t.dir.dir.rename(t.name, p.parent.dir, p.name, replacing)
	}
	if err != nil && (made == nil || p.parent.has(p.name, made)) {
		_ = p.parent.dir.remove(p.name, false)
	}
	return err
}

// replace gives the file a name whatever has it.
func (t *temporary) replace(p *place) error {
	if t.name == "" {
		if err := t.called(p.parent, temporaryName()); err != nil {
			return err
		}
	}
	return t.dir.dir.rename(t.name, p.parent.dir, p.name, replacing)
}

// swapIn gives the file the name of the version that was asked for, and of no
// other.
func (s *staged) swapIn(p *place, l *lock) (unsure error, ok bool, err error) {
	version, _ := s.o.If.Version()
	swap, err := newSwap(p, s.temporary, func(n *node) bool { return n.version() == version })
	if swap == nil || err != nil {
		return nil, false, err
	}
	defer swap.release()
	if err := swap.prepare(swapName(s.temporary.info, swap.was, p.name)); err != nil {
		return nil, false, unlessSwapped(err)
	}
	if ok, err := swap.make(); !ok || err != nil {
		return nil, false, err
	}
	unsure = s.fsys.sync(l)
	if s.fsys.o.Durability == Durable {
		if ok, err := swap.again(); !ok || err != nil {
			if backErr := swap.back(); backErr != nil {
				err = backErr
			}
			return nil, false, err
		}
	}
	swap.settle()
	return unsure, true, nil
}

// elsewhere reports that no move leads from the file to d: the path leads to
// another disk by now, or through another mount.
func (t *temporary) elsewhere(d *folder) bool {
	if t.dir.same(d) {
		return false
	}
	from, err := t.dir.dir.mountOf("")
	if err != nil {
		return true
	}
	to, err := d.dir.mountOf("")
	return err != nil || to.crosses(from, true)
}

// copyTo starts with a new temporary file: the one that there was went away
// with its folder, or lies on another disk, and only its bytes are of use.
func (s *staged) copyTo(p *place) error {
	t, err := p.parent.create(0o600)
	if err != nil {
		return err
	}
	old := s.temporary
	s.temporary = t
	defer old.discard()
	if err := pour(t.file, io.NewSectionReader(old.file, 0, old.info.size)); err != nil {
		return err
	}
	if err := t.look(); err != nil {
		return err
	}
	if err := s.finish(p); err != nil {
		return err
	}
	return t.seal()
}

// dressAgain follows what has changed at p since the content was staged.
func (s *staged) dressAgain(p *place) error {
	if was := s.dressedFor; s.finished && (p.info == was || p.info != nil && was != nil && p.info.unchanged(was)) {
		return nil
	}
	return s.finish(p)
}

// published describes the bytes of this call under their name, though somebody
// else may have written to them since: then its version is none that the file
// will have.
func (s *staged) published(p *place) ambit.FileInfo {
	t := s.temporary
	info, err := describeFile(t.file)
	if err != nil || info.size != t.info.size || info.modified != t.info.modified {
		info = t.info
	}
	return describe(p.path(), info)
}
