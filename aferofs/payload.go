// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
)

// A payload is content that was read to its end: in memory for a tree in
// memory, else in a temporary file of the storage, near the place where it
// will be published.
type payload struct {
	s    *store
	buf  *[]byte
	temp *temp
	size int64
}

// drop lets go of what the payload holds. It takes nil and may be called
// twice.
func (p *payload) drop() {
	if p == nil {
		return
	}
	if p.buf != nil {
		giveBack(p.buf)
		p.buf = nil
	}
	if p.temp != nil {
		p.s.removeTemp(p.temp)
		p.temp = nil
	}
}

// Buffers for content. A larger one is not kept: it would outlive its use.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keptBuffer = 1 << 20

func giveBack(buf *[]byte) {
	if cap(*buf) <= keptBuffer {
		*buf = (*buf)[:0]
		buffers.Put(buf)
	}
}

// trustedLength bounds what is allocated for a length that a reader claims.
const trustedLength = 64 << 20

// readAll reads content to its end, or until there are more than limit bytes;
// limit 0 sets none. hint is the caller's own reader, which may tell its
// length.
func readAll(buf []byte, content io.Reader, hint any, limit int) (data []byte, ended bool, err error) {
	want := 4096
	if l, ok := hint.(interface{ Len() int }); ok {
		want = min(max(l.Len(), 0), trustedLength) + 1
	}
	if cap(buf) < want {
		buf = make([]byte, 0, want)
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := content.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, true, nil
		}
		if err != nil {
			return buf, false, err
		}
		if limit > 0 && len(buf) > limit {
			return buf, false, nil
		}
	}
}

// read takes content into memory.
func (p *payload) read(ctx context.Context, content io.Reader) error {
	p.buf = buffers.Get().(*[]byte)
	if n, ok := whole(content); ok && ctx.Err() == nil && (p.s.limit == 0 || int64(n) <= p.s.limit) {
		*p.buf = slices.Grow((*p.buf)[:0], n)[:n]
		_, err := io.ReadFull(content, *p.buf)
		p.size = int64(n)
		return err
	}
	data, _, err := readAll((*p.buf)[:0], ambit.Content(ctx, content, p.s.limit), content, 0)
	*p.buf, p.size = data, int64(len(data))
	return err
}

// whole returns the length of a content that cannot fail.
func whole(content io.Reader) (length int, ok bool) {
	switch r := content.(type) {
	case *bytes.Reader:
		return r.Len(), true
	case *strings.Reader:
		return r.Len(), true
	}
	return 0, false
}

// A temp is a file, or a folder on its way out, under a reserved name.
type temp struct {
	path string // changes with the folders above; "" when it has gone; guarded by the store's tempsMu
	f    afero.File
	look look // once it is complete
	leaf leaf
}

// addTemp registers a name in the folder dir. The caller holds mu.
func (s *store) addTemp(dir string) *temp {
	t := &temp{path: ambit.Join(dir, s.newTempName())}
	s.tempsMu.Lock()
	defer s.tempsMu.Unlock()
	s.temps[t] = struct{}{}
	return t
}

// pathOf returns where t lies now, "" when it is gone. The caller holds mu, so
// it stays there.
func (s *store) pathOf(t *temp) string {
	s.tempsMu.Lock()
	defer s.tempsMu.Unlock()
	return t.path
}

func (s *store) dropTemp(t *temp) {
	s.tempsMu.Lock()
	defer s.tempsMu.Unlock()
	delete(s.temps, t)
}

// createTemp makes an empty temporary file in the folder dir. The caller holds
// mu: in a tree in memory, the file would bring a folder back that was removed
// meanwhile.
func (s *store) createTemp(dir string, perm fs.FileMode) (*temp, error) {
	t := s.addTemp(dir)
	f, err := s.fsys.OpenFile(s.name(t.path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil && s.strange && !missing(err) && !refusesChange(err) {
		// Some layers, as CacheOnReadFs, can only do it the plain way.
		if f, err = s.fsys.Create(s.name(t.path)); err == nil {
			err = s.chmod(t.path, perm)
		}
	}
	if err == nil && f == nil {
		err = errNothing
	}
	if err != nil {
		s.dropTemp(t)
		return nil, err
	}
	t.f, t.leaf = f, leavesOf(f).top
	return t, nil
}

// copyChunk is how much of content is in memory at a time.
const copyChunk = 128 << 10

// fill writes what r gives into the temporary file, and closes it. Errors of r
// come back as they are, those of the storage as a *storageError.
func (s *store) fill(t *temp, r io.Reader) (size int64, err error) {
	defer func() {
		if closeErr := t.f.Close(); err == nil && closeErr != nil {
			err = &storageError{closeErr}
		}
		t.f = nil
	}()
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	if cap(*buf) < copyChunk {
		*buf = make([]byte, 0, copyChunk)
	}
	chunk := (*buf)[:copyChunk]
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			if err := writeAll(t.f, chunk[:n]); err != nil {
				return size, &storageError{err}
			}
			size += int64(n)
		}
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}

func writeAll(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// A storageError keeps the storage's errors apart from those of content.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }

// complete gives a filled temporary file its mode and looks at it. The caller
// holds mu.
func (s *store) complete(t *temp, size int64, mode fs.FileMode) error {
	path := s.pathOf(t)
	if path == "" {
		return errTempGone
	}
	if mode == 0 && t.leaf == leafMemory && s.newFile != memoryFile {
		mode = memoryFile
	}
	if mode != 0 {
		if err := s.chmod(path, mode); err != nil {
			return err
		}
	}
	l, found, err := s.look(path)
	switch {
	case err != nil:
		return err
	case !found:
		return errTempGone
	case l.kind != ambit.KindRegular || l.size != size:
		return errCount
	}
	t.look = l
	return nil
}

// errTempGone: content that was staged has been taken away, with the folder
// that it lay in or by somebody else.
var errTempGone = errors.New("the staged content has gone")

// chmod sets permission bits. A storage that does not keep them need not take
// them.
func (s *store) chmod(path string, mode fs.FileMode) error {
	err := s.fsys.Chmod(s.name(path), mode)
	if err != nil && !s.keepsMode && !missing(err) {
		return nil
	}
	return err
}

// removeTemp removes a temporary file. The caller does not hold mu.
func (s *store) removeTemp(t *temp) {
	s.step(false, func() error {
		s.removeTempLocked(t)
		return nil
	})
}

func (s *store) removeTempLocked(t *temp) {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
	if path := s.pathOf(t); path != "" {
		s.fsys.Remove(s.name(path))
	}
	s.dropTemp(t)
}

// evacuate moves the temporary names that lie beneath a folder beside it: what
// waits there must outlive the folder. The caller holds mu alone.
func (s *store) evacuate(dir string) {
	s.tempsMu.Lock()
	defer s.tempsMu.Unlock()
	for t := range s.temps {
		if !ambit.Contains(dir, t.path) {
			continue
		}
		to := ambit.Join(ambit.Dir(dir), s.newTempName())
		if s.fsys.Rename(s.name(t.path), s.name(to)) != nil {
			to = ""
		}
		t.path = to
	}
}

// emptyTemp removes a folder under a reserved name with all beneath it. What
// cannot be removed stays there, out of sight.
func (s *store) emptyTemp(t *temp) {
	var empty func(rel string)
	empty = func(rel string) {
		var names []named
		s.step(false, func() error {
			if path := s.pathOf(t); path != "" {
				names, _ = s.everyName(path + rel)
			}
			return nil
		})
		for _, n := range names {
			s.step(false, func() error {
				if path := s.pathOf(t); path != "" {
					in := ambit.Join(path+rel, n.name)
					l, found, err := s.look(in)
					if err == nil && found && l.kind != ambit.KindDirectory {
						s.fsys.Remove(s.name(in))
					}
					n.look = l
				}
				return nil
			})
			if n.look.kind == ambit.KindDirectory {
				empty(rel + "/" + n.name)
			}
		}
		s.step(false, func() error {
			if path := s.pathOf(t); path != "" {
				if left, err := s.everyName(path + rel); err == nil && len(left) == 0 {
					s.fsys.Remove(s.name(path + rel))
				}
			}
			return nil
		})
	}
	empty("")
	s.dropTemp(t)
}
