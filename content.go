// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Content is for authors of backends: it returns the caller's content r as a
// backend should read it. Its Read fails with the context's error once ctx is
// done, with [ErrInvalid] when r is nil or returns impossible counts, with
// [ErrTooLarge] when r has more than limit bytes (0: no limit), and with
// [ErrIO] where r fails, r's error staying in the chain; an error of r that
// carries a reason, or is the context's, keeps it, but for the three that mean
// "published, or perhaps".
//
// Read content to its end before you take a lock: r may be a file of the same
// file system, or slow.
func Content(ctx context.Context, r io.Reader, limit int64) io.Reader {
	return &content{ctx: ctx, r: r, limit: limit}
}

// CheckContent is for authors of backends: it returns the fault of a content
// that cannot be read at all: a nil reader, or one that is a nil pointer,
// function, channel, map or slice. It is [ErrInvalid], to be passed through
// [Wrap].
func CheckContent(r io.Reader) error {
	if isNil(r) {
		return &Error{Reason: ErrInvalid, Detail: "the content is a nil reader"}
	}
	return nil
}

type content struct {
	ctx   context.Context
	r     io.Reader
	limit int64
	n     int64
	idle  int // reads in a row that gave nothing
	err   error
}

// maxIdleReads is the patience of package io with a reader that returns
// neither bytes nor an error.
const maxIdleReads = 100

func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.ctx.Err() != nil {
		return 0, c.fail(contextError(c.ctx, context.Cause(c.ctx)))
	}
	if err := CheckContent(c.r); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.r.Read(p)
	if n < 0 || n > len(p) {
		return 0, c.fail(&Error{Reason: ErrInvalid, Detail: fmt.Sprintf("the content's Read returned %d of %d bytes", n, len(p))})
	}
	c.n += int64(n)
	if c.limit > 0 && c.n > c.limit {
		return 0, c.fail(tooLarge(c.limit, c.n))
	}
	switch {
	case err == io.EOF:
		c.err = err
		return n, err
	case err != nil:
		return n, c.fail(callerError(err))
	case n > 0 || len(p) == 0:
		c.idle = 0
	default:
		if c.idle++; c.idle >= maxIdleReads {
			return 0, c.fail(callerError(io.ErrNoProgress))
		}
	}
	return n, nil
}

func (c *content) fail(err error) error {
	c.err = err
	return err
}

// callerError keeps what the caller's own reader said from being classified as
// a fact about the file system. One that carries a reason keeps it, without
// the paths: they are of another file system.
func callerError(err error) error {
	switch ReasonOf(err) {
	case ErrNotDurable, ErrOutcomeUnknown, ErrPartial:
		// Of this call it would say that something is published, or perhaps.
		return &Error{Reason: ErrIO, Err: &callersError{err}}
	}
	var e *Error
	if errors.As(err, &e) && e != nil {
		known := *e
		known.Target, known.MissingDirs = "", nil
		return &known
	}
	var r Reason
	if errors.As(err, &r) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Reason: ErrIO, Err: &callersError{err}}
}

// contextError returns the error of a context that is done, keeping a cause
// that the caller gave in the chain.
func contextError(ctx context.Context, cause error) error {
	e := &Error{Reason: classify(ctx.Err()), Err: ctx.Err()}
	if cause != nil && cause != ctx.Err() && !contradicts(e.Reason, cause) {
		e.Err = errors.Join(ctx.Err(), &callersError{cause})
	}
	return e
}

func tooLarge(limit, size int64) error {
	return &Error{Reason: ErrTooLarge, Limit: limit, Size: size}
}

// isNil sees a nil inside the interface too: most readers of that kind panic
// when they are read, and others wait forever.
func isNil(r io.Reader) bool {
	if r == nil {
		return true
	}
	switch v := reflect.ValueOf(r); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}
