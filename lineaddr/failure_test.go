// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// openable has /file with this content on each of the backends.
func openable(t *testing.T, content string) map[string]ambit.FileSystem {
	t.Helper()
	disk, err := local.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	if _, err := disk.Write(t.Context(), "/file", strings.NewReader(content), nil); err != nil {
		t.Fatal(err)
	}
	return map[string]ambit.FileSystem{"local": disk, "memory": memory.New(map[string]string{"file": content}, nil)}
}

// miscounting returns counts that no read, write or read at a place can have.
type miscounting struct{ n int }

func (m miscounting) Read([]byte) (int, error)          { return m.n, nil }
func (m miscounting) Write([]byte) (int, error)         { return m.n, nil }
func (m miscounting) ReadAt([]byte, int64) (int, error) { return m.n, nil }

// TestAbsurdArguments: a reason for each, and no panic.
func TestAbsurdArguments(t *testing.T) {
	one := lineaddr.Range{Start: 1, End: 1}
	whole := lineaddr.Range{Start: 1}
	text := func() io.Reader { return strings.NewReader("a\nb\n") }
	window := func(_ lineaddr.Window, err error) error { return err }
	index := func(_ *lineaddr.Index, err error) error { return err }
	content := func(_ []byte, err error) error { return err }
	count := func(_ int, err error) error { return err }
	good, err := lineaddr.NewIndex(newRandomFile("a\nb\n"))
	if err != nil {
		t.Fatal(err)
	}
	var noFile *randomFile
	var noReader *strings.Reader
	var noWriter *strings.Builder
	var noIndex *lineaddr.Index
	if noIndex.Lines() != 0 || new(lineaddr.Index).Lines() != 0 {
		t.Error("no index has lines")
	}
	at := func(r io.ReaderAt) ambit.File {
		f := newRandomFile("a\nb\n")
		f.at = r
		return f
	}
	for name, err := range map[string]error{
		"Slice nil":            window(lineaddr.Slice(nil, one)),
		"Slice typed nil":      window(lineaddr.Slice(noReader, one)),
		"Slice zero range":     window(lineaddr.Slice(text(), lineaddr.Range{})),
		"Slice -1 of read":     window(lineaddr.Slice(miscounting{-1}, one)),
		"Slice too much read":  window(lineaddr.Slice(miscounting{math.MaxInt}, one)),
		"Head nil":             window(lineaddr.Head(nil, 1)),
		"Head nil, no lines":   window(lineaddr.Head(nil, 0)),
		"Head typed nil":       window(lineaddr.Head(noReader, 0)),
		"Head MinInt":          window(lineaddr.Head(text(), math.MinInt)),
		"Tail nil":             window(lineaddr.Tail(nil, 1)),
		"Tail nil, no lines":   window(lineaddr.Tail(nil, 0)),
		"Tail typed nil":       window(lineaddr.Tail(noFile, 1)),
		"Tail MinInt":          window(lineaddr.Tail(newRandomFile("a"), math.MinInt)),
		"Tail -1 of read":      window(lineaddr.Tail(at(miscounting{-1}), 1)),
		"Tail too much read":   window(lineaddr.Tail(at(miscounting{math.MaxInt}), 1)),
		"Copy to nil":          window(lineaddr.Copy(nil, text(), one)),
		"Copy to typed nil":    window(lineaddr.Copy(noWriter, text(), one)),
		"Copy from nil":        window(lineaddr.Copy(io.Discard, nil, one)),
		"Copy zero range":      window(lineaddr.Copy(io.Discard, text(), lineaddr.Range{})),
		"Copy -1 written":      window(lineaddr.Copy(miscounting{-1}, text(), one)),
		"Copy too much":        window(lineaddr.Copy(miscounting{3}, text(), one)),
		"Count nil":            count(lineaddr.Count(nil)),
		"Count typed nil":      count(lineaddr.Count(noReader)),
		"NewIndex nil":         index(lineaddr.NewIndex(nil)),
		"NewIndex typed nil":   index(lineaddr.NewIndex(noFile)),
		"NewIndex -1 of read":  index(lineaddr.NewIndex(at(miscounting{-1}))),
		"no index, Slice":      window(noIndex.Slice(whole)),
		"no index, Copy":       window(noIndex.Copy(io.Discard, whole)),
		"zero index, Slice":    window(new(lineaddr.Index).Slice(whole)),
		"zero index, Copy":     window(new(lineaddr.Index).Copy(io.Discard, whole)),
		"Index.Slice range":    window(good.Slice(lineaddr.Range{Start: math.MinInt, End: math.MinInt})),
		"Index.Copy range":     window(good.Copy(io.Discard, lineaddr.Range{Start: 2, End: 1})),
		"Index.Copy to nil":    window(good.Copy(nil, one)),
		"Index.Copy typed nil": window(good.Copy(noWriter, one)),
		"Splice zero range":    content(lineaddr.Splice(nil, lineaddr.Range{}, nil)),
		"Splice MinInt":        content(lineaddr.Splice([]byte("a"), lineaddr.Range{Start: 1, End: math.MinInt}, nil)),
		"Insert MinInt":        content(lineaddr.Insert(nil, math.MinInt, nil)),
	} {
		e, ok := err.(*ambit.Error)
		if !ok || e.Reason != ambit.ErrInvalid || e.Op != "" || e.Path != "" || e.Detail == "" {
			t.Errorf("%s: %v, want a plain %s that says what is wrong", name, err, ambit.ErrInvalid)
		}
	}
	for name, err := range map[string]error{
		"Splice nothing, line 1":    content(lineaddr.Splice(nil, one, nil)),
		"Splice behind":             content(lineaddr.Splice([]byte("a\n"), lineaddr.Range{Start: math.MaxInt, End: math.MaxInt}, nil)),
		"Splice over the end":       content(lineaddr.Splice([]byte("a\n"), lineaddr.Range{Start: 1, End: math.MaxInt}, nil)),
		"Insert nothing, line 1":    content(lineaddr.Insert(nil, 1, nil)),
		"Insert behind":             content(lineaddr.Insert([]byte("a\n"), math.MaxInt, []byte("x"))),
		"Insert nothing behind":     content(lineaddr.Insert([]byte("a\n"), 2, nil)),
		"Index behind":              window(good.Slice(lineaddr.Range{Start: math.MaxInt})),
		"Slice of nothing, line 1":  window(lineaddr.Slice(strings.NewReader(""), one)),
		"Slice of nothing, MaxInt":  window(lineaddr.Slice(strings.NewReader(""), lineaddr.Range{Start: 1, End: math.MaxInt})),
		"Copy of nothing from line": window(lineaddr.Copy(io.Discard, strings.NewReader(""), lineaddr.Range{Start: 2})),
	} {
		if !errors.Is(err, ambit.ErrOutOfRange) {
			t.Errorf("%s: %v, want %s", name, err, ambit.ErrOutOfRange)
		}
	}
	if w, err := good.Slice(lineaddr.Range{Start: 1, End: math.MaxInt}); err != nil || string(w.Text) != "a\nb\n" {
		t.Errorf("index, to MaxInt: %v, %v", w, err)
	}
	if err := index(lineaddr.NewIndex(newStreamFile("a"))); !errors.Is(err, ambit.ErrUnsupported) {
		t.Errorf("index of a stream: %v", err)
	}
	if err := index(lineaddr.NewIndex(at(refusingReaderAt{}))); !errors.Is(err, ambit.ErrUnsupported) {
		t.Errorf("index of a file whose ReadAt is unsupported: %v", err)
	}
	for name, err := range map[string]error{
		"a reader that gives nothing": window(lineaddr.Slice(miscounting{0}, one)),
		"a file that gives nothing":   window(lineaddr.Tail(at(miscounting{0}), 1)),
		"a writer that takes nothing": window(lineaddr.Copy(miscounting{0}, text(), one)),
	} {
		if ambit.ReasonOf(err) != ambit.ErrIO {
			t.Errorf("%s: %v, want %s", name, err, ambit.ErrIO)
		}
	}
}

// TestTailOfNothing reads nothing.
func TestTailOfNothing(t *testing.T) {
	f := newRandomFile("a\n")
	f.at = nil // reading panics
	if w, err := lineaddr.Tail(f, 0); err != nil || w.Total != -1 || w.Text != nil {
		t.Errorf("%v, %v", w, err)
	}
}

// failing fails in every way that it is used, after some bytes.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.text)
	f.text = f.text[n:]
	if n > 0 {
		return n, nil
	}
	return 0, f.err
}

func (f *failing) Write([]byte) (int, error) { return 0, f.err }

func (f *failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// TestFailures: what a reader, a file or a writer says is what the caller hears.
func TestFailures(t *testing.T) {
	own := errors.New("a stranger's failure")
	known := &ambit.Error{Op: "read", Path: "x", Reason: ambit.ErrChanged, Target: "/x", Detail: "gone"}
	hostPath := &fs.PathError{Op: "read", Path: "/host/place", Err: own}
	all := lineaddr.Range{Start: 1}
	window := func(_ lineaddr.Window, err error) error { return err }
	for _, c := range []struct {
		err    error
		reason ambit.Reason
		in     error // what stays in the chain
	}{
		{own, ambit.ErrIO, own},
		{known, ambit.ErrChanged, known},
		{fmt.Errorf("beneath: %w", known), ambit.ErrChanged, known},
		{hostPath, ambit.ErrIO, own},
		{context.Canceled, ambit.ErrCanceled, context.Canceled},
		{ambit.ErrClosed, ambit.ErrClosed, ambit.ErrClosed},
		{io.ErrUnexpectedEOF, ambit.ErrIO, io.ErrUnexpectedEOF},
	} {
		random := newRandomFile("a\nb\n")
		random.at = &failing{err: c.err}
		stream := newStreamFile("")
		stream.Reader = &failing{text: "a\n", err: c.err}
		_, indexing := lineaddr.NewIndex(random)
		good, err := lineaddr.NewIndex(newRandomFile(strings.Repeat("a\n", 1<<20)))
		if err != nil {
			t.Fatal(err)
		}
		broken := newRandomFile("a\nb\n")
		late, err := lineaddr.NewIndex(broken)
		if err != nil {
			t.Fatal(err)
		}
		broken.at = &failing{err: c.err}
		_, counting := lineaddr.Count(&failing{text: "a\n", err: c.err})
		for name, err := range map[string]error{
			"Slice":                 window(lineaddr.Slice(&failing{text: "a\n", err: c.err}, all)),
			"Head":                  window(lineaddr.Head(&failing{text: "a\n", err: c.err}, 3)),
			"Copy":                  window(lineaddr.Copy(io.Discard, &failing{text: "a\n", err: c.err}, all)),
			"Copy to":               window(lineaddr.Copy(&failing{err: c.err}, strings.NewReader("a\n"), all)),
			"Count":                 counting,
			"Tail":                  window(lineaddr.Tail(random, 1)),
			"NewIndex":              indexing,
			"Index.Slice":           window(late.Slice(all)),
			"Index.Copy":            window(late.Copy(io.Discard, all)),
			"Index.Slice, a line":   window(late.Slice(lineaddr.Range{Start: 2, End: 2})),
			"Index.Copy to":         window(good.Copy(&failing{err: c.err}, all)),
			"Index.Copy to, a line": window(good.Copy(&failing{err: c.err}, lineaddr.Range{Start: 2, End: 2})),
			"forwards":              window(lineaddr.Tail(stream, 1)),
		} {
			if e, ok := err.(*ambit.Error); !ok || e.Reason != c.reason || !errors.Is(err, c.in) {
				t.Errorf("%s, %v: %v, want reason %s and %v in the chain", name, c.err, err, c.reason, c.in)
			} else if c.in == known && err != known {
				t.Errorf("%s, %v: %#v is not what was returned", name, c.err, err)
			} else if strings.Contains(err.Error(), "/host") {
				t.Errorf("%s: %v names a place of the host", name, err)
			}
		}
	}
	if err := window(lineaddr.Slice(&failing{err: fs.ErrNotExist}, all)); ambit.ReasonOf(err) != ambit.ErrIO {
		t.Errorf("a reader says %v: %v, which is no fact about a file", fs.ErrNotExist, err)
	}
	var missing *os.PathError
	if err := window(lineaddr.Copy(&failing{err: os.ErrClosed}, strings.NewReader("a"), all)); !errors.Is(err, ambit.ErrClosed) || errors.As(err, &missing) {
		t.Errorf("a closed writer: %v", err)
	}
}

// TestChangedFile: a file that is not what it was when it was opened.
func TestChangedFile(t *testing.T) {
	const content = "a\nb\nc\nd\n"
	shorter := newRandomFile(content)
	shorter.at = strings.NewReader("a\nb\n")
	if _, err := lineaddr.Tail(shorter, 1); !errors.Is(err, ambit.ErrChanged) {
		t.Errorf("Tail of a file that is shorter now: %v", err)
	}
	if _, err := lineaddr.NewIndex(shorter); !errors.Is(err, ambit.ErrChanged) {
		t.Errorf("index of a file that is shorter now: %v", err)
	}
	huge := newRandomFile(content)
	huge.info.Size = math.MaxInt64
	if _, err := lineaddr.Tail(huge, math.MaxInt); !errors.Is(err, ambit.ErrChanged) {
		t.Errorf("Tail of a file that says it is huge: %v", err)
	}
	if _, err := lineaddr.NewIndex(huge); !errors.Is(err, ambit.ErrChanged) {
		t.Errorf("index of a file that says it is huge: %v", err)
	}
	lying := newRandomFile(content)
	lying.info.Size = 0
	lying.Reader = strings.NewReader(content)
	if w, err := lineaddr.Tail(lying, 1); err != nil || string(w.Text) != "d\n" {
		t.Errorf("Tail of a file that says it is empty: %v, %v", w, err)
	}
	if x, err := lineaddr.NewIndex(lying); err != nil || x.Lines() != 4 {
		t.Errorf("index of a file that says it is empty: %d lines, %v", x.Lines(), err)
	}
	for _, now := range []string{"", "a\n", "a b c d\n", "a\nbcde"} {
		f := newRandomFile(content)
		x, err := lineaddr.NewIndex(f)
		if err != nil {
			t.Fatal(err)
		}
		f.at = strings.NewReader(now)
		if w, err := x.Slice(lineaddr.Range{Start: 2, End: 3}); !errors.Is(err, ambit.ErrChanged) {
			t.Errorf("index of a file that is %q now: %v, %v", now, w, err)
		}
		if w, err := x.Copy(io.Discard, lineaddr.Range{Start: 2}); !errors.Is(err, ambit.ErrChanged) {
			t.Errorf("index copies a file that is %q now: %v, %v", now, w, err)
		}
	}
}

// TestConcurrentIndex is for the race detector too.
func TestConcurrentIndex(t *testing.T) {
	content := strings.Repeat("0123456789\n", 100_000)
	x, err := lineaddr.NewIndex(newRandomFile(content))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				rng := lineaddr.Range{Start: 1 + (worker*7919+i*104729)%99_000}
				rng.End = rng.Start + i*20
				want := naiveSliceOfEqual(content, 11, rng)
				w, err := x.Slice(rng)
				if err != nil || string(w.Text) != want {
					t.Errorf("lines %v: %s, %v", rng, shown(string(w.Text)), err)
				}
				scribble(w.Text)
				var copied strings.Builder
				if _, err := x.Copy(&copied, rng); err != nil || copied.String() != want {
					t.Errorf("lines %v copied: %s, %v", rng, shown(copied.String()), err)
				}
			}
		})
	}
	wg.Wait()
}

func naiveSliceOfEqual(content string, length int, rng lineaddr.Range) string {
	return content[(rng.Start-1)*length : min(rng.End*length, len(content))]
}
