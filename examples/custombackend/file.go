// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// file is an open value of a Store.
type file struct {
	ctx    context.Context
	store  *Store
	path   string // as the caller wrote it
	value  *value
	r      *bytes.Reader
	closed atomic.Bool
}

func (f *file) Info() ambit.FileInfo { return f.value.info }

func (f *file) Close() error {
	f.closed.Store(true)
	return nil
}

func (f *file) Read(b []byte) (int, error) {
	if err := f.usable(f.ctx); err != nil {
		return 0, ambit.Wrap(ambit.OpRead, f.path, err)
	}
	return f.r.Read(b)
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	err := f.usable(f.ctx)
	if err == nil && off < 0 {
		err = &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the offset is negative"}
	}
	if err != nil {
		return 0, ambit.Wrap(ambit.OpRead, f.path, err)
	}
	if off >= int64(len(f.value.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.value.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Verify looks whether the very value that was opened is still at its path.
func (f *file) Verify(ctx context.Context) error {
	err := f.usable(f.ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return ambit.Wrap(ambit.OpVerify, f.path, err)
	}
	f.store.mu.RLock()
	defer f.store.mu.RUnlock()
	if f.store.values[f.value.info.Path] != f.value {
		return ambit.Wrap(ambit.OpVerify, f.path, ambit.ErrChanged)
	}
	return nil
}

func (f *file) usable(ctx context.Context) error {
	if f.closed.Load() {
		return ambit.ErrClosed
	}
	return ctx.Err()
}
