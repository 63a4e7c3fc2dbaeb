// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// Open opens the regular file at path. The File is an [io.ReaderAt] whose
// ReadAt may be called from several goroutines.
func (v *FileSystem) Open(ctx context.Context, path string) (ambit.File, error) {
	if f := v.openKnown(ctx, path); f != nil {
		return f, nil
	}
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpOpen, path, false, &c, &t); err != nil {
		return nil, err
	}
	var f *file
	err := c.decide(false, func() (err error) {
		f, err = c.open(&t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat describes the file or folder at path.
func (v *FileSystem) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpStat, path, false, &c, &t); err != nil {
		return ambit.FileInfo{}, err
	}
	var info ambit.FileInfo
	err := c.decide(false, func() error {
		if err := c.allowed(ambit.OpStat, t.in); err != nil {
			return t.wrap(err)
		}
		var p place
		if err := t.locate(&p); err != nil {
			return err
		}
		if err := t.mustExist(&p); err != nil {
			return err
		}
		if k := p.look.kind; k != ambit.KindDirectory && k != ambit.KindRegular {
			return t.kindErr(ambit.ErrNotAFile, k, p.path)
		}
		info = p.look.info(t.out(p.path), p.version)
		return c.last(&t)
	})
	if err != nil {
		return ambit.FileInfo{}, err
	}
	return info, nil
}

// mustExist judges the last step for everything that follows a link there.
func (t *target) mustExist(p *place) error {
	switch {
	case !p.found && t.slash:
		return t.notADirectory(p.path, ambit.KindUnknown)
	case !p.found:
		return t.notFound(p)
	case p.look.kind == ambit.KindSymlink:
		return t.linkRefused()
	case t.slash && p.look.kind != ambit.KindDirectory:
		return t.notADirectory(p.path, p.look.kind)
	}
	return nil
}

func (t *target) mustBeFolder(p *place) error {
	if err := t.mustExist(p); err != nil {
		return err
	}
	if p.look.kind != ambit.KindDirectory {
		return t.notADirectory(p.path, p.look.kind)
	}
	return nil
}

func (c *call) open(t *target) (*file, error) {
	if err := c.allowed(ambit.OpOpen, t.in); err != nil {
		return nil, t.wrap(err)
	}
	var p place
	if err := t.locate(&p); err != nil {
		return nil, err
	}
	if err := t.mustExist(&p); err != nil {
		return nil, err
	}
	if p.look.kind != ambit.KindRegular {
		return nil, t.kindErr(ambit.ErrNotAFile, p.look.kind, p.path)
	}
	if err := c.last(t); err != nil {
		return nil, err
	}
	return t.take(c.ctx, &p)
}

// file is an open File.
type file struct {
	v    *FileSystem
	ctx  context.Context
	path string          // as the caller wrote it
	info *ambit.FileInfo // shared; never changed
	node *node

	data *mem.FileData // read from here, or
	from *source       // from here

	bound int64 // bytes that belong to the file as it was opened; -1: to its end
	pos   int64

	// uses counts what keeps the file open: itself, until it is closed, and
	// each read under way.
	uses  atomic.Int32
	short atomic.Bool // it ended before its size
}

// A source is where a file outside of memory is read from.
type source struct {
	at    io.ReaderAt
	under afero.File
}

var _ io.ReaderAt = (*file)(nil)

// openKnown is Open for the most common case, a file in memory that was seen
// before and that no rule watches; else it returns nil.
func (v *FileSystem) openKnown(ctx context.Context, path string) *file {
	s := v.store
	if s.mem == nil || v.root != "" || len(v.rules) > 0 || s.faults != nil || ctx.Err() != nil {
		return nil
	}
	clean, slash, err := ambit.Resolve("/", path)
	if err != nil || slash {
		return nil
	}
	defer s.mu.RLock().RUnlock()
	n := s.nodes[clean]
	if n == nil {
		return nil
	}
	info := n.describe(clean)
	f := &file{v: v, ctx: ctx, path: path, info: info, node: n, data: n.seen.data, bound: info.Size}
	n.opens.Add(1)
	f.uses.Store(1)
	return f
}

// openTries bounds how often a file that changes between the look at it and
// its opening is looked at again.
const openTries = 8

// take opens what p found. The caller holds the store's mu.
func (t *target) take(ctx context.Context, p *place) (*file, error) {
	s := t.v.store
	f := &file{v: t.v, ctx: ctx, path: t.written, bound: -1}
	l := p.look
	for range openTries {
		if s.mem != nil {
			f.data = l.data
			break
		}
		under, err := s.openRead(p.path, l.real)
		if err != nil {
			return nil, t.foreign(err)
		}
		f.from = &source{under: under}
		switch under := unwrapped(under).(type) {
		case *mem.File:
			f.data = under.Data()
			l = lookAt(f.data)
		case *os.File:
			fi, err := under.Stat()
			if err != nil {
				f.from.under.Close()
				return nil, t.foreign(err)
			}
			f.from.at = under
			l = lookOf(fi, l.real)
		default:
			f.from.at = &seekingReader{f: f.from.under}
			again, found, err := s.look(p.path)
			if err == nil && found && !again.same(&l) && again.kind == ambit.KindRegular {
				f.from.under.Close()
				l = again
				continue
			}
		}
		break
	}
	if l.kind != ambit.KindRegular {
		f.from.under.Close()
		return nil, t.kindErr(ambit.ErrNotAFile, l.kind, p.path)
	}
	var version ambit.Version
	f.node, version = s.nodeOf(p.path, &l)
	info := l.info(t.out(p.path), version)
	f.info = &info
	// What Append adds later lies behind the size. A disk has files whose
	// size says nothing, and a strange file system may not know it: there
	// Append keeps away from files that are open.
	if l.bounds() {
		f.bound = l.size
	}
	f.node.opens.Add(1)
	f.uses.Store(1)
	return f, nil
}

// bounds reports whether the size seen tells where the file ends.
func (l *look) bounds() bool { return l.data != nil || l.inode != nil && l.size > 0 }

func (s *store) openRead(path string, real bool) (afero.File, error) {
	var f afero.File
	var err error
	if real && s.plainDisk {
		f, err = s.fsys.OpenFile(s.name(path), readFlags, 0)
	} else {
		f, err = s.fsys.Open(s.name(path))
	}
	if err == nil && f == nil {
		err = errNothing
	}
	return f, err
}

// A seekingReader reads from anywhere by moving the one position that a file
// of afero has.
type seekingReader struct {
	mu sync.Mutex
	f  afero.File
	at int64 // where f stands; -1: unknown
}

func (r *seekingReader) ReadAt(p []byte, off int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at != off {
		r.at = -1
		if at, err := r.f.Seek(off, io.SeekStart); err != nil {
			return 0, err
		} else if at != off {
			return 0, errSeek
		}
		r.at = off
	}
	for n < len(p) {
		m, err := r.f.Read(p[n:])
		if m < 0 || m > len(p)-n {
			r.at = -1
			return n, errCount
		}
		n += m
		r.at += int64(m)
		if err != nil {
			return n, err
		}
		if m == 0 {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}

// Info describes the file as it was opened.
func (f *file) Info() ambit.FileInfo { return *f.info }

// Read reads on from where the last Read ended.
func (f *file) Read(p []byte) (int, error) {
	if err := f.begin(ambit.OpRead); err != nil {
		return 0, err
	}
	defer f.end()
	n, err := f.readAt(p, f.pos)
	f.pos += int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt reads from the offset off.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.begin(ambit.OpRead); err != nil {
		return 0, err
	}
	defer f.end()
	if off < 0 {
		return 0, &ambit.Error{Op: ambit.OpRead, Path: f.path, Reason: ambit.ErrInvalid, Detail: fmt.Sprintf("the offset is %d", off)}
	}
	if len(p) == 0 {
		// Whether off lies at the end shows only by reading there.
		if n, err := f.readAt(make([]byte, 1), off); n == 0 {
			return 0, err
		}
		return 0, nil
	}
	return f.readAt(p, off)
}

// errCount and errSeek are faults of a strange afero.Fs.
var (
	errCount = errors.New("the afero.Fs returned an impossible count of bytes")
	errSeek  = errors.New("the afero.Fs moved to another offset")
)

// readAt fills p unless the file ends, with io.EOF beside a short count.
func (f *file) readAt(p []byte, off int64) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	cut := false
	if f.bound >= 0 {
		rest := f.bound - off
		if rest <= 0 {
			return 0, io.EOF
		}
		if int64(len(p)) > rest {
			p, cut = p[:rest], true
		}
	}
	if f.data != nil {
		h := mem.NewReadOnlyFileHandle(f.data)
		h.Seek(off, io.SeekStart)
		n, err = h.Read(p)
		if err == io.ErrUnexpectedEOF || err == nil && n < len(p) {
			err = io.EOF
		}
	} else {
		n, err = f.from.at.ReadAt(p, off)
		if n < 0 || n > len(p) {
			n, err = 0, errCount
		}
	}
	switch {
	case err == io.EOF || err == nil && n < len(p):
		if off+int64(n) < f.info.Size {
			f.short.Store(true)
		}
		return n, io.EOF
	case err != nil:
		t := f.target(ambit.OpRead)
		return n, t.foreign(err)
	case cut:
		return n, io.EOF
	}
	return n, nil
}

// Verify returns nil while the file is the one opened and unchanged. Where the
// storage has a second change within one tick of its clock that keeps the
// size, and comes from outside, it can be missed.
func (f *file) Verify(ctx context.Context) error {
	if err := f.begin(ambit.OpVerify); err != nil {
		return err
	}
	defer f.end()
	c := call{v: f.v, ctx: ctx}
	t := f.target(ambit.OpVerify)
	if ctx.Err() != nil {
		return contextError(ctx, ambit.OpVerify, f.path)
	}
	return c.decide(false, func() error {
		var p place
		err := t.locate(&p)
		switch ambit.ReasonOf(err) {
		case "", ambit.ErrDenied, ambit.ErrNotADirectory, ambit.ErrNotFound:
		default:
			return err
		}
		if err := c.last(&t); err != nil {
			return err
		}
		if err != nil || !p.found || p.version != f.info.Version || f.short.Load() {
			return t.err(ambit.ErrChanged, "")
		}
		return nil
	})
}

func (f *file) target(op string) target {
	return target{v: f.v, op: op, written: f.path, in: f.v.inner(f.info.Path)}
}

// closed is the bit of uses that says that Close was called.
const closed = 1 << 30

// begin keeps the file open until end, and judges whether it may be used.
func (f *file) begin(op string) error {
	for {
		n := f.uses.Load()
		if n&closed != 0 {
			return &ambit.Error{Op: op, Path: f.path, Reason: ambit.ErrClosed}
		}
		if f.uses.CompareAndSwap(n, n+1) {
			break
		}
	}
	if f.ctx.Err() != nil {
		f.end()
		return contextError(f.ctx, op, f.path)
	}
	if faults := f.v.store.faults; faults != nil && op == ambit.OpRead {
		if err := faults(op, f.v.inner(f.info.Path)); err != nil {
			f.end()
			return ambit.Wrap(op, f.path, err)
		}
	}
	return nil
}

func (f *file) end() {
	if f.uses.Add(-1) != closed {
		return
	}
	f.node.opens.Add(-1)
	if f.from != nil {
		f.from.under.Close()
	}
}

// Close closes the file; reads that are under way end first.
func (f *file) Close() error {
	for {
		n := f.uses.Load()
		if n&closed != 0 {
			return nil
		}
		if f.uses.CompareAndSwap(n, n|closed) {
			f.end()
			return nil
		}
	}
}
