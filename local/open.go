// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"

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
	for range maxTries {
		f, err := fsys.openOnce(clean, dir)
		if err != nil || f != nil {
			if f != nil {
				f.fsys, f.ctx, f.path = fsys, ctx, path
			}
			return f, err
		}
	}
	return nil, restless()
}

// openOnce returns neither a file nor an error when the name was given to
// something else under it.
func (fsys *FileSystem) openOnce(clean string, dir bool) (*file, error) {
	p, err := fsys.walk(clean, true)
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
	f, err := p.parent.dir.OpenFile(p.name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		if swapped(err) {
			return nil, nil
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, p.info) {
		// A replacement is fine; a link that was put there is not, since then
		// the path would be another.
		now, _ := p.parent.lstat(p.name)
		if now == nil || !os.SameFile(info, now) {
			f.Close()
			return nil, nil
		}
	}
	if err == nil && !info.Mode().IsRegular() {
		f.Close()
		return nil, nil
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{f: f, stat: info, info: describe(p.path(), info)}, nil
}

// file is an open regular file.
type file struct {
	fsys *FileSystem
	f    *os.File
	ctx  context.Context
	path string // as the caller wrote it
	stat os.FileInfo
	info ambit.FileInfo

	closed atomic.Bool
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
	n, err := f.f.Read(b)
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
	n, err := f.f.ReadAt(b, off)
	if len(b) == 0 || ambit.ReasonOf(err) == ambit.ErrInvalid {
		// Package os asks nothing about an empty read, and the system refuses
		// one that would end behind the largest offset.
		if info, statErr := f.f.Stat(); statErr != nil {
			err = statErr
		} else if off >= info.Size() {
			err = io.EOF
		}
	}
	if err != nil && err != io.EOF {
		err = ambit.Wrap(ambit.OpRead, f.path, err)
	}
	return n, err
}

func (f *file) Info() ambit.FileInfo { return f.info }

func (f *file) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	return ambit.Wrap(ambit.OpRead, f.path, f.f.Close())
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
	if p.path() != f.info.Path || !os.SameFile(p.info, f.stat) {
		return &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path, Detail: "the path leads to another file"}
	}
	now := describe(f.info.Path, p.info)
	if now.Version != f.info.Version || now.Size != f.info.Size || !now.ModTime.Equal(f.info.ModTime) {
		return &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path, Detail: "the file was written to"}
	}
	return nil
}
