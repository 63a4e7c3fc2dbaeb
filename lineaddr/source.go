// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"context"
	"errors"
	"io"
	"reflect"

	"github.com/ambitfs/ambit"
)

// source reads what a caller gave, guarded as [ambit.Content] guards it.
type source struct {
	guarded io.Reader
	given   *witness
}

// witness remembers what the caller's reader failed with.
type witness struct {
	r   io.Reader
	err error
}

func (w *witness) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.err = err
	return n, err
}

func newSource(r io.Reader) (*source, error) {
	if err := ambit.CheckContent(r); err != nil {
		return nil, invalid("the reader is nil")
	}
	w := &witness{r: r}
	return &source{guarded: ambit.Content(context.Background(), w, 0), given: w}, nil
}

// Read ends with plain io.EOF; its other errors are *ambit.Error.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.guarded.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	if known := asError(s.given.err); known != nil {
		return n, known
	}
	return n, failure(err)
}

// failure returns err as an *ambit.Error, as it is where it is one.
func failure(err error) error {
	if known := asError(err); known != nil {
		return known
	}
	return ambit.Wrap("", "", err)
}

// asError returns the *ambit.Error in the chain of err as an error, or nil.
func asError(err error) error {
	if e, ok := errors.AsType[*ambit.Error](err); ok && e != nil && e.Reason != "" {
		return e
	}
	return nil
}

// maxIdleReads is the patience of package io with a reader that returns
// neither bytes nor an error.
const maxIdleReads = 100

// readAt fills p from offset. A file that ends before that is not the one that
// was opened: it is changed.
func readAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := readUpTo(r, p, offset)
	if err == nil && n < len(p) {
		return shortened()
	}
	return err
}

func shortened() error {
	return &ambit.Error{Reason: ambit.ErrChanged, Detail: "the file is shorter than it was when it was opened"}
}

// readUpTo fills p from offset and returns how much of it there was before the
// end of the file.
func readUpTo(r io.ReaderAt, p []byte, offset int64) (int, error) {
	n, idle := 0, 0
	for n < len(p) {
		m, err := r.ReadAt(p[n:], offset+int64(n))
		if m < 0 || m > len(p)-n {
			return n, invalid("the file's ReadAt returned %d of %d bytes", m, len(p)-n)
		}
		n += m
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, failure(err)
		case m > 0:
			idle = 0
		default:
			if idle++; idle >= maxIdleReads {
				return n, failure(io.ErrNoProgress)
			}
		}
	}
	return n, nil
}

// checkFile refuses a nil file.
func checkFile(f ambit.File) error {
	if ambit.CheckContent(f) != nil {
		return invalid("the file is nil")
	}
	return nil
}

// checkWriter refuses a nil writer, and one that is a nil pointer.
func checkWriter(w io.Writer) error {
	isNil := w == nil
	if !isNil {
		switch v := reflect.ValueOf(w); v.Kind() {
		case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
			isNil = v.IsNil()
		}
	}
	if isNil {
		return invalid("the writer is nil")
	}
	return nil
}

// write writes all of p.
func write(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	switch {
	case err != nil:
		return failure(err)
	case n < 0 || n > len(p):
		return invalid("the writer's Write returned %d of %d bytes", n, len(p))
	case n < len(p):
		return failure(io.ErrShortWrite)
	}
	return nil
}
