// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

// readerFunc is a reader, and as a function may be nil behind the interface.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type (
	chanReader  chan byte
	sliceReader []byte
	mapReader   map[int]byte
)

func (r chanReader) Read(p []byte) (int, error)  { p[0] = <-r; return 1, nil }
func (r sliceReader) Read(p []byte) (int, error) { p[0] = r[0]; return 1, nil }
func (r mapReader) Read(p []byte) (int, error)   { r[0]++; return 0, nil }

func TestContentPassesBytes(t *testing.T) {
	data := []byte(strings.Repeat("0123456789", 1000))
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"plain":               func(r io.Reader) io.Reader { return r },
		"one byte":            iotest.OneByteReader,
		"half":                iotest.HalfReader,
		"data with the error": iotest.DataErrReader,
		"with pauses": func(r io.Reader) io.Reader {
			idle := 0
			return readerFunc(func(p []byte) (int, error) {
				if idle++; idle%50 != 0 {
					return 0, nil
				}
				return r.Read(p[:min(len(p), 700)])
			})
		},
	} {
		for _, limit := range []int64{0, int64(len(data)), int64(len(data)) + 1, math.MaxInt64} {
			got, err := io.ReadAll(ambit.Content(t.Context(), wrap(bytes.NewReader(data)), limit))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
		}
	}
	if err := iotest.TestReader(ambit.Content(t.Context(), bytes.NewReader(data), 0), data); err != nil {
		t.Error(err)
	}
}

func TestContentLimit(t *testing.T) {
	for _, size := range []int{9, 10, 11, 5000} {
		for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
			got, err := io.ReadAll(ambit.Content(t.Context(), wrap(strings.NewReader(strings.Repeat("x", size))), 10))
			if size <= 10 {
				if err != nil || len(got) != size {
					t.Errorf("%d bytes: %d, %v", size, len(got), err)
				}
				continue
			}
			if e := wantReason(t, err, "", "", ambit.ErrTooLarge); e.Limit != 10 || e.Size <= 10 || e.Size > int64(size) {
				t.Errorf("%d bytes: %+v", size, e)
			}
			if len(got) > 10 {
				t.Errorf("%d bytes: %d came through", size, len(got))
			}
		}
	}
}

func TestContentOfHostileReaders(t *testing.T) {
	var nilBuffer *bytes.Buffer
	var nilFunc readerFunc
	own := errors.New("own")
	withFacts := &ambit.Error{Reason: ambit.ErrNotFound, Target: "/of/another", MissingDirs: []string{"/of"}, Limit: 7}
	for name, test := range map[string]struct {
		r      io.Reader
		reason ambit.Reason
		is     error // in the chain
	}{
		"nil":               {nil, ambit.ErrInvalid, nil},
		"a nil pointer":     {nilBuffer, ambit.ErrInvalid, nil},
		"a nil function":    {nilFunc, ambit.ErrInvalid, nil},
		"a nil channel":     {chanReader(nil), ambit.ErrInvalid, nil},
		"a nil slice":       {sliceReader(nil), ambit.ErrInvalid, nil},
		"a nil map":         {mapReader(nil), ambit.ErrInvalid, nil},
		"negative":          {readerFunc(func(p []byte) (int, error) { return -1, nil }), ambit.ErrInvalid, nil},
		"most negative":     {readerFunc(func(p []byte) (int, error) { return math.MinInt, io.EOF }), ambit.ErrInvalid, nil},
		"more than asked":   {readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), ambit.ErrInvalid, nil},
		"the most":          {readerFunc(func(p []byte) (int, error) { return math.MaxInt, io.EOF }), ambit.ErrInvalid, nil},
		"nothing for ever":  {readerFunc(func(p []byte) (int, error) { return 0, nil }), ambit.ErrIO, io.ErrNoProgress},
		"an error":          {failingReader{own}, ambit.ErrIO, own},
		"an error in half":  {io.MultiReader(strings.NewReader("half"), failingReader{own}), ambit.ErrIO, own},
		"a short body":      {failingReader{io.ErrUnexpectedEOF}, ambit.ErrIO, io.ErrUnexpectedEOF},
		"a wrapped end":     {failingReader{fmt.Errorf("x: %w", io.EOF)}, ambit.ErrIO, io.EOF},
		"a sentinel":        {failingReader{fs.ErrNotExist}, ambit.ErrIO, fs.ErrNotExist},
		"a file's error":    {failingReader{&fs.PathError{Op: "read", Path: "/host", Err: fs.ErrClosed}}, ambit.ErrIO, fs.ErrClosed},
		"an Error":          {failingReader{withFacts}, ambit.ErrNotFound, fs.ErrNotExist},
		"a wrapped Error":   {failingReader{fmt.Errorf("x: %w", withFacts)}, ambit.ErrNotFound, fs.ErrNotExist},
		"a reason":          {failingReader{ambit.ErrTooLarge}, ambit.ErrTooLarge, ambit.ErrTooLarge},
		"its own context":   {failingReader{context.Canceled}, ambit.ErrCanceled, context.Canceled},
		"its own deadline":  {failingReader{fmt.Errorf("x: %w", context.DeadlineExceeded)}, ambit.ErrTimeout, context.DeadlineExceeded},
		"another's timeout": {iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xx"))), ambit.ErrIO, iotest.ErrTimeout},
	} {
		content := ambit.Content(t.Context(), test.r, 0)
		_, err := io.ReadAll(content)
		e := wantReason(t, ambit.Wrap("write", "p", err), "write", "p", test.reason)
		if test.is != nil && !errors.Is(e, test.is) {
			t.Errorf("%s: %v is not in the chain of %v", name, test.is, e)
		}
		if e.Target != "" || e.MissingDirs != nil {
			t.Errorf("%s: facts of another file system: %+v", name, e)
		}
		if _, again := content.Read(make([]byte, 10)); again != err {
			t.Errorf("%s: read again: %v", name, again)
		}
	}
	if withFacts.Target == "" {
		t.Error("the reader's own error was changed")
	}
	if e := wantReason(t, ambit.Wrap("write", "p", func() error {
		_, err := io.ReadAll(ambit.Content(t.Context(), failingReader{withFacts}, 0))
		return err
	}()), "write", "p", ambit.ErrNotFound); e.Limit != 7 {
		t.Errorf("facts other than paths are lost: %+v", e)
	}
}

func TestContentContext(t *testing.T) {
	reads := 0
	endless := readerFunc(func(p []byte) (int, error) { reads++; return len(p), nil })

	ctx, cancel := context.WithCancel(t.Context())
	content := ambit.Content(ctx, endless, 0)
	if n, err := content.Read(make([]byte, 10)); n != 10 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	cancel()
	for range 2 {
		n, err := content.Read(make([]byte, 10))
		if n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d, %v", n, err)
		}
		wantReason(t, err, "", "", ambit.ErrCanceled)
	}
	if reads != 1 {
		t.Errorf("%d reads", reads)
	}

	ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := ambit.Content(ctx, nil, 0).Read(nil)
	wantReason(t, err, "", "", ambit.ErrTimeout)

	// A cause is kept unless it says something that the end of a context is not.
	for _, test := range []struct {
		cause error
		kept  bool
	}{
		{errors.New("the user left"), true},
		{stranger{}, true},
		{fs.ErrNotExist, false},
		{&ambit.Error{Reason: ambit.ErrDenied}, false},
		{ambit.ErrChanged, false},
		{context.DeadlineExceeded, false},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		_, err := ambit.Content(ctx, endless, 0).Read(make([]byte, 1))
		err = ambit.Wrap("write", "p", err)
		wantReason(t, err, "write", "p", ambit.ErrCanceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not context.Canceled", err)
		}
		var s stranger
		if got := errors.Is(err, test.cause) || errors.As(err, &s); got != test.kept {
			t.Errorf("the cause %v is in the chain: %t", test.cause, got)
		}
	}
}

// TestContentIsNotPublished: a content that fails for a reason which means "published, or perhaps" does not make the call
// claim that.
func TestContentIsNotPublished(t *testing.T) {
	ctx := t.Context()
	for _, r := range []ambit.Reason{ambit.ErrNotDurable, ambit.ErrOutcomeUnknown, ambit.ErrPartial} {
		for _, own := range []error{r, fmt.Errorf("far away: %w", r), &ambit.Error{Op: "x", Reason: r}} {
			content := func() io.Reader { return io.MultiReader(strings.NewReader("a"), iotest.ErrReader(own)) }
			_, err := io.ReadAll(ambit.Content(ctx, content(), 0))
			if ambit.ReasonOf(err) != ambit.ErrIO || !errors.Is(err, own) {
				t.Errorf("%#v became %v", own, err)
			}
			m := memory.New(map[string]string{"f": "1"}, nil)
			for name, fsys := range map[string]ambit.FileSystem{"memory": m, "fallbacks": withFallbacks(m)} {
				w := fsys.(ambit.WritableFileSystem)
				_, err := w.Write(ctx, "x", content(), nil)
				wantReason(t, err, ambit.OpWrite, "x", ambit.ErrIO)
				if !errors.Is(err, own) {
					t.Errorf("%s: the chain of %v has not %v", name, err, own)
				}
				_, err = ambit.Append(ctx, fsys, "f", content(), nil)
				wantReason(t, err, ambit.OpAppend, "f", ambit.ErrIO)
				_, err = ambit.Stage(ctx, fsys, "x", content(), nil)
				wantReason(t, err, ambit.OpStage, "x", ambit.ErrIO)
				_, err = ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: "x", Content: content()}})
				wantReason(t, err, ambit.OpCommit, "x", ambit.ErrIO)
				if data, ok := m.Peek("f"); data != "1" || !ok {
					t.Errorf("%s: f is %q", name, data)
				}
			}
		}
	}
}
