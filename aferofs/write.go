// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero/mem"
)

// writing is what Write, Stage, Append and Commit ask for one file.
type writing struct {
	cond    ambit.Precondition
	parents bool
	mode    fs.FileMode
}

// Write creates or replaces the whole file at path.
func (v *FileSystem) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	var c call
	var t target
	w, err := v.beginWrite(ctx, ambit.OpWrite, path, content, o, &c, &t)
	if err != nil {
		return ambit.WriteResult{}, err
	}
	var held payload
	defer held.drop()
	if err := c.prepare(&t, w, content, &held, &place{}); err != nil {
		return ambit.WriteResult{}, err
	}
	return c.publish(&t, w, &held)
}

// Stage prepares a Write. What it holds lies under a reserved name in the
// deepest folder above path that exists, and moves along with it.
func (v *FileSystem) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	var c call
	var t target
	w, err := v.beginWrite(ctx, ambit.OpStage, path, content, o, &c, &t)
	if err != nil {
		return nil, err
	}
	held := &payload{}
	keep := false
	defer func() {
		// After a panic of content or of the hook too.
		if !keep {
			held.drop()
		}
	}()
	var p place
	if err := c.prepare(&t, w, content, held, &p); err != nil {
		return nil, err
	}
	// The hook has the last word here too, and then nothing may stay.
	err = c.decide(false, func() error { return c.last(&t) })
	if err != nil {
		return nil, err
	}
	keep = true
	info := ambit.FileInfo{Path: t.out(t.in), Kind: ambit.KindRegular, Size: held.size, Mode: w.mode}
	switch {
	case info.Mode != 0:
	case p.found:
		info.Mode = p.look.mode
	case held.temp != nil:
		info.Mode = held.temp.look.mode
	default:
		info.Mode = v.store.newFile
	}
	return &staged{t: t, w: w, info: info, held: held}, nil
}

func (v *FileSystem) beginWrite(
	ctx context.Context, op, path string, content io.Reader, o *ambit.WriteOptions, c *call, t *target,
) (w writing, err error) {
	err = v.begin(ctx, op, path, true, c, t)
	if err == nil {
		err = t.wrap(o.Check(v.caps))
	}
	if err == nil {
		err = t.wrap(ambit.CheckContent(content))
	}
	if o != nil {
		w = writing{cond: o.If, parents: o.Parents, mode: o.Mode}
	}
	return w, err
}

// staged is content that waits for its Publish.
type staged struct {
	t    target
	w    writing
	info ambit.FileInfo

	mu   sync.Mutex
	held *payload // nil: published or discarded
}

func (s *staged) Info() ambit.FileInfo { return s.info }

func (s *staged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	t := s.t
	t.op = ambit.OpPublish
	held := s.take()
	if held == nil {
		return ambit.WriteResult{}, t.err(ambit.ErrClosed, "")
	}
	defer held.drop()
	if ctx.Err() != nil {
		return ambit.WriteResult{}, contextError(ctx, t.op, t.written)
	}
	c := call{v: t.v, ctx: ctx}
	return c.publish(&t, s.w, held)
}

func (s *staged) Discard(context.Context) error {
	s.take().drop()
	return nil
}

func (s *staged) take() *payload {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	return held
}

// judge judges a write of one file: the place, the last step and the
// precondition. It fills p. The caller holds mu.
func (c *call) judge(t *target, w writing, ask ambit.Op, p *place) error {
	*p = place{}
	if t.isRoot() {
		if w.cond.Absent() {
			return t.kindErr(ambit.ErrExists, ambit.KindDirectory, t.in)
		}
		return t.kindErr(ambit.ErrNotAFile, ambit.KindDirectory, t.in)
	}
	if err := c.allowed(ask, t.in); err != nil {
		return t.wrap(err)
	}
	if err := t.locate(p); err != nil {
		return err
	}
	if !p.found {
		if t.slash {
			return t.notADirectory(p.path, ambit.KindUnknown)
		}
		if err := w.cond.Check(nil); err != nil {
			return t.wrap(err)
		}
		return c.parents(t, p, w.parents)
	}
	l := &p.look
	switch {
	case t.slash && l.kind != ambit.KindDirectory && l.kind != ambit.KindSymlink:
		return t.notADirectory(p.path, l.kind)
	case w.cond.Absent():
		return t.kindErr(ambit.ErrExists, l.kind, p.path)
	case l.kind == ambit.KindSymlink:
		return t.linkRefused()
	case l.kind != ambit.KindRegular:
		return t.kindErr(ambit.ErrNotAFile, l.kind, p.path)
	}
	if err := c.v.store.mayWrite(p.path, l); err != nil {
		return t.foreign(err)
	}
	if v, ok := w.cond.Version(); ok && v != p.version {
		return t.wrap(w.cond.Check(&ambit.FileInfo{Path: t.out(p.path), Version: p.version}))
	}
	return nil
}

// parents judges the folders above a place that are missing.
func (c *call) parents(t *target, p *place, wanted bool) error {
	switch {
	case len(p.missing) == 0:
		return nil
	case !wanted:
		return t.notFound(p)
	}
	return t.wrap(c.allowed(ambit.OpMkdir, p.missing...))
}

// mayWrite returns fs.ErrPermission for a file that its own bits or the disk
// do not let the caller write: a rename would not ask. No bits at all are
// unknown bits, except on a disk.
func (s *store) mayWrite(path string, l *look) error {
	if l.mode&0o222 == 0 && (l.mode != 0 || l.real) {
		return fs.ErrPermission
	}
	if !l.real || !s.plainDisk {
		return nil
	}
	f, err := s.fsys.OpenFile(s.name(path), probeFlags, 0)
	if err == nil && f != nil {
		f.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// prepare judges a write and reads its content into held. It fills p as it was
// before the content was read.
func (c *call) prepare(t *target, w writing, content io.Reader, held *payload, p *place) error {
	s := c.v.store
	held.s = s
	err := c.decide(false, func() error {
		err := c.judge(t, w, ambit.OpWrite, p)
		if err != nil || s.mem != nil {
			return err
		}
		perm := s.newFile
		if final(w, p) != 0 {
			perm = 0o600
		}
		if held.temp, err = s.createTemp(p.near(), perm); err != nil {
			return t.foreign(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.mem != nil {
		return t.wrap(held.read(c.ctx, content))
	}
	held.size, err = s.fill(held.temp, ambit.Content(c.ctx, content, s.limit))
	if err != nil {
		return t.contentError(err)
	}
	err = s.step(false, func() error { return s.complete(held.temp, held.size, final(w, p)) })
	if errors.Is(err, errTempGone) {
		// What took it away has an answer of its own, mostly.
		again := c.decide(false, func() error { return c.judge(t, w, ambit.OpWrite, p) })
		if again != nil {
			return again
		}
	}
	if err != nil {
		return t.storage(err)
	}
	return nil
}

// final returns the mode that a file is to have, 0 where it is left to the
// storage.
func final(w writing, p *place) fs.FileMode {
	if w.mode == 0 && p.found {
		return p.look.mode
	}
	return w.mode
}

// contentError tells errors of the storage from those of content.
func (t *target) contentError(err error) error {
	var ours *storageError
	if !errors.As(err, &ours) {
		return t.wrap(err)
	}
	return t.storage(ours.err)
}

// storage makes an error of the storage one of this target.
func (t *target) storage(err error) error {
	if errors.Is(err, errTempGone) {
		return t.err(ambit.ErrChanged, errTempGone.Error())
	}
	return t.foreign(err)
}

// publish judges the write again and gives the content its name.
func (c *call) publish(t *target, w writing, held *payload) (r ambit.WriteResult, err error) {
	err = c.decide(true, func() error {
		var p place
		if err := c.judge(t, w, ambit.OpWrite, &p); err != nil {
			return err
		}
		if err := c.last(t); err != nil {
			return err
		}
		l, made, err := c.v.store.install(&p, w, held)
		if err != nil {
			return t.storage(err)
		}
		r.Created = !p.found
		r.CreatedDirs = t.outs(made)
		r.Info = l.info(t.out(p.path), c.v.store.renew(p.path, &l))
		return nil
	})
	return r, err
}

// install puts content in its place and returns what lies there then and the
// folders that it made. The caller holds mu alone.
func (s *store) install(p *place, w writing, held *payload) (look, []string, error) {
	made, err := s.makeDirs(p.missing)
	if err != nil {
		return look{}, nil, err
	}
	var l look
	if s.mem != nil {
		l, err = s.put(p, w, *held.buf)
	} else {
		l, err = s.rename(p, w, held.temp)
	}
	if err != nil {
		return look{}, nil, undone(err, s.removeDirs(made))
	}
	if held.temp != nil {
		s.dropTemp(held.temp)
		held.temp = nil
	}
	return l, made, nil
}

// put writes into this process's own tree in memory: in place where no open
// File reads what lies there, else into a new file under the same name.
func (s *store) put(p *place, w writing, content []byte) (look, error) {
	l := look{kind: ambit.KindRegular, mode: final(w, p), size: int64(len(content)), data: p.look.data}
	if l.mode == 0 && !p.found {
		l.mode = s.newFile
	}
	// Content that is not shorter is one step even for who looks into the
	// tree itself.
	if !p.found || p.open() || p.look.size > l.size {
		f, err := s.mem.Create(p.path)
		if err != nil {
			return look{}, err
		}
		l.data = f.(*mem.File).Data()
	}
	if _, err := mem.NewFileHandle(l.data).Write(content); err != nil {
		return look{}, err
	}
	if !p.found || l.data != p.look.data || l.mode != p.look.mode {
		mem.SetMode(l.data, l.mode)
	}
	l.mtime = mem.GetFileInfo(l.data).ModTime()
	return l, nil
}

// rename gives a temporary file its name.
func (s *store) rename(p *place, w writing, t *temp) (look, error) {
	from := s.pathOf(t)
	if from == "" {
		return look{}, errTempGone
	}
	if mode := final(w, p); mode != 0 && mode != t.look.mode {
		if err := s.chmod(from, mode); err != nil {
			return look{}, err
		}
		t.look.mode = mode
	}
	hold := !p.found && w.cond.Absent() && !s.exclusive && !s.strange
	if hold {
		// An empty file first: nothing else in afero fails when a stranger
		// has made the name meanwhile.
		f, err := s.fsys.OpenFile(s.name(p.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return look{}, err
		}
		if f != nil {
			f.Close()
		}
	}
	if err := s.fsys.Rename(s.name(from), s.name(p.path)); err != nil {
		if _, found, lookErr := s.look(from); lookErr == nil && !found && missing(err) {
			err = errTempGone
		}
		if hold {
			l, found, lookErr := s.look(p.path)
			if lookErr == nil && found && l.size == 0 && l.kind == ambit.KindRegular {
				lookErr = s.fsys.Remove(s.name(p.path))
			}
			err = undone(err, lookErr)
		}
		return look{}, err
	}
	if s.tellsTruth(t.leaf) {
		return t.look, nil
	}
	// It may have other times under its new name.
	l, found, err := s.look(p.path)
	switch {
	case err != nil:
		return t.look, nil
	case !found || l.kind != ambit.KindRegular || l.size != t.look.size:
		return look{}, partial("the afero.Fs has not published what it was given")
	}
	return l, nil
}

// undone adds to the failure err whether all could be put back as it was.
func undone(err, undoing error) error {
	if undoing == nil {
		return err
	}
	return partial(string(reasonOf(err)) + "; not all could be put back as it was")
}

// partial is a failure that has changed something: what, and why.
type partial string

func (p partial) Error() string { return string(p) }

// reasonOf is ambit.ReasonOf for errors of the storage.
func reasonOf(err error) ambit.Reason {
	var p partial
	if errors.As(err, &p) {
		return ambit.ErrPartial
	}
	return ambit.ReasonOf(err)
}

// tellsTruth reports whether a rename is known to keep what was seen of a
// file.
func (s *store) tellsTruth(l leaf) bool { return l != leafUnknown && !s.layered }

// makeDirs makes folders, outermost first, and returns those that it made:
// all, or none and an error.
func (s *store) makeDirs(dirs []string) (made []string, err error) {
	for _, dir := range dirs {
		err := s.fsys.Mkdir(s.name(dir), s.newDir)
		if err == nil {
			made = append(made, dir)
			continue
		}
		if l, found, lookErr := s.look(dir); lookErr == nil && found && l.kind == ambit.KindDirectory {
			continue // a stranger was faster
		}
		return nil, undone(err, s.removeDirs(made))
	}
	return made, nil
}

// removeDirs takes back the folders that makeDirs made, as far as nobody else
// uses them.
func (s *store) removeDirs(made []string) error {
	for i := len(made) - 1; i >= 0; i-- {
		names, err := s.everyName(made[i])
		if err == nil && len(names) == 0 {
			err = s.fsys.Remove(s.name(made[i]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
