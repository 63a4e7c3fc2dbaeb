// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero/mem"
)

// Append adds the bytes of content at the end of the file at path. It adds
// them in place, and cuts back what a failure left there, except where a File
// that is open could tell: then it writes the file anew.
func (v *FileSystem) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	var r ambit.WriteResult
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpAppend, path, true, &c, &t); err != nil {
		return r, err
	}
	if err := o.Check(v.caps); err != nil {
		return r, t.wrap(err)
	}
	if err := ambit.CheckContent(content); err != nil {
		return r, t.wrap(err)
	}
	var w writing
	if o != nil {
		w = writing{cond: o.If, parents: o.Parents, mode: o.Mode}
	}
	added := payload{s: v.store}
	defer added.drop()
	if err := c.prepareAppend(&t, w, content, &added); err != nil {
		return r, err
	}
	err := c.decide(true, func() error {
		var p place
		if err := c.judge(&t, w, ambit.OpAppend, &p); err != nil {
			return err
		}
		if total := p.look.size + added.size; p.found && v.store.limit > 0 && total > v.store.limit {
			return &ambit.Error{
				Op: t.op, Path: t.written, Reason: ambit.ErrTooLarge, Limit: v.store.limit, Size: total, Target: t.out(t.in),
			}
		}
		if err := c.last(&t); err != nil {
			return err
		}
		l, made, err := v.store.extend(&p, w, &added)
		if err != nil {
			return t.storage(err)
		}
		r.Created = !p.found
		r.CreatedDirs = t.outs(made)
		r.Info = l.info(t.out(p.path), v.store.renew(p.path, &l))
		return nil
	})
	return r, err
}

// appendInMemory is how many bytes to be added are held in memory.
const appendInMemory = 1 << 20

// prepareAppend judges an append and reads its content: a small one into
// memory, where a temporary file would only be copied.
func (c *call) prepareAppend(t *target, w writing, content io.Reader, added *payload) error {
	s := c.v.store
	err := c.decide(false, func() error {
		var p place
		return c.judge(t, w, ambit.OpAppend, &p)
	})
	if err != nil {
		return err
	}
	if s.mem != nil {
		return t.wrap(added.read(c.ctx, content))
	}
	r := ambit.Content(c.ctx, content, s.limit)
	added.buf = buffers.Get().(*[]byte)
	data, ended, err := readAll((*added.buf)[:0], r, content, appendInMemory)
	*added.buf, added.size = data, int64(len(data))
	if err == nil && !ended {
		err = c.spill(t, w, added, r)
	}
	if err != nil {
		return t.contentError(err)
	}
	return nil
}

// spill moves a payload into a temporary file, and the rest of its content
// with it.
func (c *call) spill(t *target, w writing, held *payload, rest io.Reader) error {
	s := c.v.store
	err := c.decide(false, func() error {
		var p place
		if err := c.judge(t, w, ambit.OpAppend, &p); err != nil {
			return err
		}
		var err error
		held.temp, err = s.createTemp(p.near(), s.newFile)
		if err != nil {
			return &storageError{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	held.size, err = s.fill(held.temp, io.MultiReader(bytes.NewReader(*held.buf), rest))
	if err != nil {
		return err
	}
	giveBack(held.buf)
	held.buf = nil
	err = s.step(false, func() error { return s.complete(held.temp, held.size, w.mode) })
	if err != nil {
		return &storageError{err}
	}
	return nil
}

// extend adds the payload to the file at p. The caller holds mu alone.
func (s *store) extend(p *place, w writing, added *payload) (look, []string, error) {
	if !p.found {
		if s.mem == nil && added.temp == nil {
			tmp, err := s.createTemp(p.near(), s.newFile)
			if err != nil {
				return look{}, nil, err
			}
			whole := &payload{s: s, temp: tmp}
			defer func() {
				if whole.temp != nil {
					s.removeTempLocked(whole.temp)
				}
			}()
			if whole.size, err = s.fill(tmp, bytes.NewReader(*added.buf)); err != nil {
				return look{}, nil, bare(err)
			}
			if err := s.complete(tmp, whole.size, w.mode); err != nil {
				return look{}, nil, err
			}
			return s.install(p, w, whole)
		}
		return s.install(p, w, added)
	}
	if s.mem != nil {
		h := mem.NewFileHandle(p.look.data)
		h.Seek(0, io.SeekEnd)
		if err := writeAll(h, *added.buf); err != nil {
			h.Truncate(p.look.size)
			return look{}, nil, err
		}
		return lookAt(p.look.data), nil, nil
	}
	content, done, err := s.contentOf(added)
	if err != nil {
		return look{}, nil, err
	}
	defer done()
	if s.strange || p.open() && !p.look.bounds() {
		l, err := s.rewrite(p, content)
		return l, nil, err
	}
	l, err := s.addTo(p, content, added.size)
	return l, nil, err
}

// bare takes the mark of the storage off an error.
func bare(err error) error {
	var ours *storageError
	if errors.As(err, &ours) {
		return ours.err
	}
	return err
}

// contentOf opens what a payload holds.
func (s *store) contentOf(held *payload) (io.Reader, func(), error) {
	if held.buf != nil {
		return bytes.NewReader(*held.buf), func() {}, nil
	}
	path := s.pathOf(held.temp)
	if path == "" {
		return nil, nil, errTempGone
	}
	f, err := s.fsys.Open(s.name(path))
	if err == nil && f == nil {
		err = errNothing
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}

// addTo writes content behind the end of the file at p.
func (s *store) addTo(p *place, content io.Reader, size int64) (look, error) {
	f, err := s.fsys.OpenFile(s.name(p.path), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil && f == nil {
		err = errNothing
	}
	if err != nil {
		return look{}, err
	}
	_, err = io.CopyBuffer(onlyWriter{f}, content, make([]byte, copyChunk))
	if err != nil {
		err = undone(err, f.Truncate(p.look.size))
		f.Close()
		return look{}, err
	}
	if err := f.Close(); err != nil {
		return look{}, undone(err, s.cutBack(p))
	}
	l, found, err := s.look(p.path)
	switch {
	case err != nil:
		// It is done; its time will be seen as another's change.
		l = p.look
		l.size, l.mtime = l.size+size, time.Time{}
	case !found || l.kind != ambit.KindRegular || l.size != p.look.size+size && s.exclusive:
		return look{}, partial("the afero.Fs has not added what it was given")
	}
	return l, nil
}

func (s *store) cutBack(p *place) error {
	f, err := s.fsys.OpenFile(s.name(p.path), os.O_WRONLY, 0)
	if err == nil && f == nil {
		err = errNothing
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(p.look.size)
}

// onlyWriter hides that a file can read from a reader by itself, and finds
// short counts.
type onlyWriter struct{ w io.Writer }

func (o onlyWriter) Write(p []byte) (int, error) {
	if err := writeAll(o.w, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// rewrite replaces the file at p by itself and more.
func (s *store) rewrite(p *place, more io.Reader) (look, error) {
	old, err := s.openRead(p.path, p.look.real)
	if err != nil {
		return look{}, err
	}
	defer old.Close()
	tmp, err := s.createTemp(p.near(), 0o600)
	if err != nil {
		return look{}, err
	}
	size, err := s.fill(tmp, io.MultiReader(old, more))
	if err == nil {
		err = s.complete(tmp, size, p.look.mode)
	}
	var l look
	if err == nil {
		l, err = s.rename(p, writing{}, tmp)
	}
	if err != nil {
		s.removeTempLocked(tmp)
		return look{}, bare(err)
	}
	s.dropTemp(tmp)
	return l, nil
}
