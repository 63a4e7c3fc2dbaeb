// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ambitfs/ambit"
)

// Write creates or replaces the file at path. The content goes into a
// temporary file in the same folder, which is synced and then takes the name,
// so that a kill at any moment leaves the old bytes or the new.
func (fsys *FileSystem) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	s, err := fsys.stage(ctx, path, content, o)
	if err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	r, err := s.publish(ctx)
	return r, ambit.Wrap(ambit.OpWrite, path, err)
}

// Stage prepares a Write. What it holds until Publish or Discard is a
// descriptor and a temporary file, which is removed by a later call should
// this process die.
func (fsys *FileSystem) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	s, err := fsys.stage(ctx, path, content, o)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpStage, path, err)
	}
	return s, nil
}

// judgeWrite finds where a write goes and says whether it may.
func (fsys *FileSystem) judgeWrite(clean string, asserted bool, o *ambit.WriteOptions) (*place, error) {
	p, err := fsys.walk(clean, asserted || !o.If.Absent())
	if err != nil {
		return nil, err
	}
	if p.info == nil {
		err = p.creatable(asserted, o)
	} else {
		err = p.replaceable(asserted, o)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
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
	if isTemporary(p.name) {
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
		if isTemporary(name) {
			return reserved(p)
		}
	}
	return nil
}

func (p *place) replaceable(asserted bool, o *ambit.WriteOptions) error {
	switch {
	case asserted && !p.info.IsDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case o.If.Absent():
		return p.fault(ambit.ErrExists, "")
	case !p.info.Mode().IsRegular():
		return p.fault(ambit.ErrNotAFile, "")
	}
	if err := p.writable(); err != nil {
		return err
	}
	info := describe(p.path(), p.info)
	return o.If.Check(&info)
}

// writable refuses a file that may not be written in place: that its folder
// lets it be replaced must not be a way around its mode.
func (p *place) writable() error {
	if p.info.Mode().Perm()&0o222 == 0 {
		return p.fault(ambit.ErrPermission, "the file has no write permission")
	}
	err := mayWrite(p.parent.dir, p.name)
	switch ambit.ReasonOf(err) {
	case ambit.ErrPermission, ambit.ErrReadOnly:
		return err
	}
	return nil
}

func (fsys *FileSystem) stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (*staged, error) {
	clean, asserted, err := fsys.resolve(ctx, path)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &ambit.WriteOptions{}
	}
	// It refuses a nil reader too.
	change := ambit.Change{Op: ambit.OpWrite, Path: path, Content: content, If: o.If, Mode: o.Mode}
	if err := ambit.CheckChanges([]ambit.Change{change}, fsys.caps); err != nil {
		return nil, err
	}
	s := &staged{fsys: fsys, path: path, clean: clean, asserted: asserted, o: *o}
	for range maxTries {
		p, err := fsys.judgeWrite(clean, asserted, o)
		if err != nil {
			return nil, err
		}
		ok, err := s.fill(ctx, p, content)
		p.close()
		if ok || err != nil {
			return s, err
		}
	}
	return nil, restless()
}

// fill puts the content into a temporary file in the folder of p. Nothing of
// it was read yet when ok is false, for a folder that was removed meanwhile.
func (s *staged) fill(ctx context.Context, p *place, content io.Reader) (ok bool, err error) {
	s.fsys.sweepOnce(p.parent)
	t, err := p.parent.create(p.info != nil || s.o.Mode != 0)
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
	if _, err := io.Copy(t.file, ambit.Content(ctx, content, s.fsys.caps.MaxFileSize)); err != nil {
		return false, err
	}
	s.temporary = t
	if err := s.dress(p); err != nil {
		return false, err
	}
	// A folder that was removed meanwhile is found out by the judgement that
	// comes before publication.
	if err := s.stamp(p); err != nil && !swapped(err) {
		return false, err
	}
	if err := s.sync(); err != nil {
		return false, err
	}
	s.info = ambit.FileInfo{Path: p.path(), Kind: ambit.KindRegular, Size: s.stat.Size(), ModTime: s.stat.ModTime(), Mode: s.stat.Mode().Perm()}
	return true, nil
}

// dress gives the temporary file the owner and the permission bits that it
// will have at p.
func (s *staged) dress(p *place) error {
	info, err := s.temporary.file.Stat()
	if err != nil {
		return err
	}
	want := s.o.Mode
	if p.info != nil {
		keepOwner(s.temporary.file, p.info)
		if want == 0 {
			want = p.info.Mode().Perm()
		}
	}
	if want == 0 {
		if want, err = s.temporary.umasked(); err != nil {
			return err
		}
	}
	if info.Mode().Perm() == want {
		return nil
	}
	return setMode(s.temporary.file, want)
}

// umasked returns the permission bits that a new file gets in this folder. The
// umask is asked of the kernel by making a file: reading it would set it, for
// the whole process.
func (t *temporary) umasked() (fs.FileMode, error) {
	if t.natural == 0 {
		probe, err := t.dir.create(false)
		if err != nil {
			return 0, err
		}
		t.natural = probe.natural
		probe.discard()
	}
	return t.natural, nil
}

// stamp gives the file a modification time that the file at p did not have:
// the clock that the kernel stamps with may stand still between the two, and a
// disk may keep whole seconds only, or even ones.
func (s *staged) stamp(p *place) error {
	now := time.Now()
	if p.info == nil {
		return setTime(s.temporary, now)
	}
	old := p.info.ModTime()
	if !now.After(old) {
		now = old.Add(1)
	}
	second := old.Truncate(time.Second)
	for _, t := range []time.Time{now, old.Add(time.Microsecond), second.Add(time.Second), second.Add(2 * time.Second)} {
		if err := setTime(s.temporary, t); err != nil {
			return err
		}
		if kept, err := s.temporary.file.Stat(); err != nil || kept.ModTime().After(old) {
			return err
		}
	}
	return nil
}

// staged is content in a temporary file.
type staged struct {
	fsys     *FileSystem
	path     string // as the caller wrote it
	clean    string
	asserted bool
	o        ambit.WriteOptions
	info     ambit.FileInfo

	mu        sync.Mutex
	temporary *temporary // nil: published or discarded
	stat      fs.FileInfo
}

func (s *staged) Info() ambit.FileInfo { return s.info }

func (s *staged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	r, err := s.publish(ctx)
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

func (s *staged) publish(ctx context.Context) (r ambit.WriteResult, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temporary == nil {
		return r, ambit.ErrClosed
	}
	var made parents
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
	if _, _, err := s.fsys.resolve(ctx, s.path); err != nil {
		return r, err
	}
	judge := func() (*place, error) { return s.fsys.judgeWrite(s.clean, s.asserted, &s.o) }
	err = s.fsys.change(ctx, s.temporary.dir, judge, func(p *place, l *lock) (bool, error) {
		if len(p.beyond) > 0 {
			deepest, err := made.make(p)
			if err != nil || deepest == nil {
				return false, err
			}
			p = deepest
			defer p.close()
		}
		if ok, err := s.place(p); !ok || err != nil {
			if p.parent.same(s.temporary.dir) && len(made.made) > made.kept {
				// What was made is taken back only empty. Should the content be
				// placed after all, it is copied.
				s.temporary.dir.dir.Remove(s.temporary.name)
			}
			made.takeBack()
			return false, err
		}
		published = true
		r = ambit.WriteResult{Info: s.published(p), Created: p.info == nil, CreatedDirs: made.paths()}
		err = l.sync()
		if err == nil && len(made.made) > 0 {
			if err = p.parent.sync(); err == nil {
				err = made.sync()
			}
		}
		return true, notDurable(err)
	})
	return r, err
}

// place gives the temporary file the name p. It is false when something has
// come to be there that a new judgement will see.
func (s *staged) place(p *place) (bool, error) {
	var err error
	if !s.temporary.dir.has(s.temporary.name, s.stat) {
		err = s.copyTo(p)
	} else if !s.temporary.dir.same(p.parent) {
		err = s.temporary.move(p.parent)
	}
	if err == nil {
		err = s.dressAgain(p)
	}
	if err != nil {
		return false, unlessSwapped(err)
	}
	t := s.temporary
	if s.o.If.Absent() {
		if err = t.dir.dir.Link(t.name, p.name); err == nil {
			t.dir.dir.Remove(t.name)
		} else if noLinks(err) {
			err = s.placeWithoutLink(p)
		}
	} else {
		err = t.dir.dir.Rename(t.name, p.name)
	}
	return err == nil, unlessSwapped(err)
}

// copyTo starts with a new temporary file: the one that there was went away
// with its folder, and only its bytes are left.
func (s *staged) copyTo(p *place) error {
	t, err := p.parent.create(true)
	if err != nil {
		return err
	}
	old := s.temporary
	s.temporary = t
	defer old.release()
	if _, err := io.Copy(t.file, io.NewSectionReader(old.file, 0, s.stat.Size())); err != nil {
		return err
	}
	if err := s.dress(p); err != nil {
		return err
	}
	if err := s.stamp(p); err != nil {
		return err
	}
	return s.sync()
}

// sync makes the content survive a power cut, and notes what the file is like.
func (s *staged) sync() error {
	if err := s.temporary.file.Sync(); err != nil {
		return err
	}
	info, err := s.temporary.file.Stat()
	s.stat = info
	return err
}

// dressAgain follows what has changed at p since the content was staged.
func (s *staged) dressAgain(p *place) error {
	info, err := s.temporary.file.Stat()
	if err != nil {
		return err
	}
	if err := s.dress(p); err != nil {
		return err
	}
	now, err := s.temporary.file.Stat()
	if err != nil {
		return err
	}
	if p.info != nil && !info.ModTime().After(p.info.ModTime()) {
		if err := s.stamp(p); err != nil {
			return err
		}
	} else if now.Mode() == info.Mode() {
		return nil
	}
	return s.sync()
}

// noLinks reports that a disk has no hard links.
func noLinks(err error) bool {
	switch ambit.ReasonOf(err) {
	case ambit.ErrPermission, ambit.ErrUnsupported:
		return true
	}
	return false
}

// placeWithoutLink makes an empty file first, which fails where a link would
// have failed, and replaces that.
func (s *staged) placeWithoutLink(p *place) error {
	f, err := p.parent.dir.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	made, err := f.Stat()
	f.Close()
	if err == nil {
		err = s.temporary.dir.dir.Rename(s.temporary.name, p.name)
	}
	if err != nil && (made == nil || p.parent.has(p.name, made)) {
		p.parent.dir.Remove(p.name)
	}
	return err
}

// published describes the bytes of this call under their name, though somebody
// else may have written to them since.
func (s *staged) published(p *place) ambit.FileInfo {
	info, err := s.temporary.file.Stat()
	if err != nil || info.Size() != s.stat.Size() || !info.ModTime().Equal(s.stat.ModTime()) {
		info = s.stat
	}
	return describe(p.path(), info)
}
