// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// Open opens the regular file at path. It does not wait for the other end of a
// FIFO, whatever is put in the file's place meanwhile.
func (fsys *FileSystem) Open(ctx context.Context, path string) (ambit.File, error) {
	f, err := fsys.open(ctx, path)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpOpen, path, err)
	}
	return f, nil
}

func (fsys *FileSystem) open(ctx context.Context, path string) (*file, error) {
	clean, dir, err := fsys.resolve(ctx, path)
	if err != nil {
		return nil, err
	}
	if !dir {
		if f, err := fsys.openDirect(ctx, path, clean); f != nil || err != nil {
			return f, err
		}
	}
	for range maxTries {
		f, err := fsys.openOnce(ctx, clean, dir)
		if err != nil || f != nil {
			if f != nil {
				f.fsys, f.ctx, f.path = fsys.machine, ctx, path
			}
			return f, err
		}
	}
	return nil, restless()
}

// openDirect opens the file at a path without links, whose text is the
// canonical path. It returns neither a file nor an error when the path has to
// be walked.
func (fsys *FileSystem) openDirect(ctx context.Context, path, clean string) (*file, error) {
	r, rest, ok := fsys.directRoot(clean)
	if !ok {
		return nil, nil
	}
	before, ok := fsys.mayGoDirect()
	if !ok {
		return nil, nil
	}
	if len(fsys.guards) > 0 {
		// What a rule refuses is not even opened: a FIFO would notice.
		if n, err := r.top.dir.lookupDirect(rest); err != nil || !n.isRegular() || !fsys.stayed(before) {
			return nil, nil
		}
		if err := fsys.ask(ctx, ambit.OpOpen, clean); err != nil {
			return nil, err
		}
	}
	c, n, err := r.top.dir.openDirect(rest)
	if err != nil {
		if err == errIndirect {
			err = nil
		}
		return nil, err
	}
	if fsys.isDenied(n) || !fsys.stayed(before) {
		c.Close()
		return nil, nil
	}
	f := newFile(c, n, clean)
	f.fsys, f.ctx, f.path, f.direct = fsys.machine, ctx, path, true
	return f, nil
}

// openOnce returns neither a file nor an error when the name was given to
// something else under it.
func (fsys *FileSystem) openOnce(ctx context.Context, clean string, dir bool) (*file, error) {
	p, err := fsys.walkFor(ctx, ambit.OpOpen, clean, true)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if err := p.readable(dir); err != nil {
		return nil, err
	}
	if p.kind() != ambit.KindRegular {
		return nil, p.fault(ambit.ErrNotAFile, "")
	}
	opened, err := p.parent.dir.open(p.name)
	if err != nil {
		return nil, unlessSwapped(err)
	}
	n, err := describeFile(opened)
	if err == nil && (!n.isRegular() || fsys.isDenied(n)) {
		opened.Close()
		return nil, nil
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return newFile(contentOf(opened), n, p.path()), nil
}

// file is an open regular file.
type file struct {
	fsys    *machine
	content content
	ctx     context.Context
	path    string // as the caller wrote it
	direct  bool   // the path has no links
	node    *node
	info    ambit.FileInfo
	read    int64 // bytes so far

	closed atomic.Bool
}

// youth is how long ago a file must have been changed at least for its times
// to tell every later change.
const youth = 2 * time.Second

func newFile(c content, n *node, path string) *file {
	f := &file{content: c, node: n, info: describe(path, n)}
	if changed := n.changed.time(); f.info.Version != "" && time.Since(changed) < youth {
		// A program that has the file open for writing may have stamped a time
		// for bytes that it has not yet written.
		if alone, known := f.alone(); known && !alone {
			f.info.Version = ambit.Version(token(randomDigits()))
		}
	}
	return f
}

// alone reports whether nobody has the file open for writing, as far as that
// is known.
func (f *file) alone() (alone, known bool) {
	if c, ok := f.content.(interface{ unwritten() (alone, known bool) }); ok {
		return c.unwritten()
	}
	return false, false
}

var _ io.ReaderAt = (*file)(nil)

func (f *file) usable() error {
	if f.closed.Load() {
		return ambit.ErrClosed
	}
	return ended(f.ctx)
}

func (f *file) Read(b []byte) (int, error) {
	if err := f.usable(); err != nil {
		return 0, ambit.Wrap(ambit.OpRead, f.path, err)
	}
	// What another program adds meanwhile belongs to another version.
	if left := f.node.size - f.read; f.sized() && int64(len(b)) > left {
		if left <= 0 {
			return 0, io.EOF
		}
		b = b[:left]
	}
	return f.readOn(b)
}

// sized reports that the size of the file is that of its content. Some files
// that the system makes up say that they are empty, and are not.
func (f *file) sized() bool { return f.direct || f.node.size > 0 }

func (f *file) readOn(b []byte) (int, error) {
	n, err := f.content.Read(b)
	f.read += int64(n)
	if err != nil && err != io.EOF {
		err = ambit.Wrap(ambit.OpRead, f.path, err)
	}
	return n, err
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.usable(); err != nil {
		return 0, ambit.Wrap(ambit.OpRead, f.path, err)
	}
	if off < 0 {
		err := &ambit.Error{Reason: ambit.ErrInvalid, Detail: fmt.Sprintf("the offset is %d", off)}
		return 0, ambit.Wrap(ambit.OpRead, f.path, err)
	}
	left := f.node.size - off
	if f.sized() && left <= 0 {
		return 0, io.EOF
	}
	short := f.sized() && int64(len(b)) > left
	if short {
		b = b[:left]
	}
	n, err := f.content.ReadAt(b, off)
	switch {
	case !f.sized() && (len(b) == 0 || ambit.ReasonOf(err) == ambit.ErrInvalid):
		// The system refuses a read that would end behind the largest offset.
		return n, io.EOF
	case err == nil && short:
		err = io.EOF
	case err != nil && err != io.EOF:
		err = ambit.Wrap(ambit.OpRead, f.path, err)
	}
	return n, err
}

func (f *file) Info() ambit.FileInfo { return f.info }

func (f *file) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	return ambit.Wrap(ambit.OpRead, f.path, f.content.Close())
}

func (f *file) Verify(ctx context.Context) error {
	return ambit.Wrap(ambit.OpVerify, f.path, f.verify(ctx))
}

func (f *file) verify(ctx context.Context) error {
	if err := f.usable(); err != nil {
		return err
	}
	clean, dir, err := f.fsys.resolve(ctx, f.path)
	if err != nil {
		return err
	}
	if r, rest, _ := f.fsys.rootOf(clean); f.direct {
		// That it is the very file, in the very state, is all that counts here,
		// whatever way the system has found to it.
		if now, err := r.top.dir.peek(rest); err == nil && now.unchanged(f.node) {
			return nil
		}
	}
	p, err := f.fsys.walk(clean, true)
	if err == nil {
		defer p.close()
		err = p.readable(dir)
	}
	switch ambit.ReasonOf(err) {
	case "":
	case ambit.ErrNotFound, ambit.ErrNotADirectory, ambit.ErrOutside, ambit.ErrLoop:
		return &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path, Detail: "the path does not lead to a file any more"}
	default:
		return err
	}
	if p.path() != f.info.Path || !p.info.same(f.node) {
		return &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path, Detail: "the path leads to another file"}
	}
	if now := p.info; now.size != f.node.size || now.modified != f.node.modified || now.version() != f.node.version() {
		return &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path, Detail: "the file was written to"}
	}
	return nil
}
