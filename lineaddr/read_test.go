// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

// checkReading compares everything that reads a stream with the oracle.
func checkReading(t *testing.T, content string, rng lineaddr.Range, n int, sizes []byte, lateEOF bool) {
	t.Helper()
	stream := func() io.Reader { return &erratic{content: content, sizes: sizes, lateEOF: lateEOF} }
	want := naiveSlice(content, rng)
	w, err := lineaddr.Slice(stream(), rng)
	if got := resultOf(w, err); got != want {
		t.Fatalf("Slice %v of %s: %v\nwant %v", rng, shown(content), got, want)
	}
	if len(w.Text) != cap(w.Text) {
		t.Errorf("Slice %v of %s: %d bytes in memory of %d", rng, shown(content), len(w.Text), cap(w.Text))
	}
	scribble(w.Text) // what is not the caller's own makes the next answer wrong

	var copied bytes.Buffer
	w, err = lineaddr.Copy(&copied, stream(), rng)
	if w.Text != nil {
		t.Errorf("Copy returns a text of %d bytes", len(w.Text))
	}
	got := resultOf(w, err)
	got.text = copied.String()
	if got != want {
		t.Fatalf("Copy %v of %s: %v\nwant %v", rng, shown(content), got, want)
	}

	want = naiveHead(content, n)
	w, err = lineaddr.Head(stream(), n)
	if got := resultOf(w, err); got != want {
		t.Fatalf("Head %d of %s: %v\nwant %v", n, shown(content), got, want)
	}
	scribble(w.Text)

	lines, err := lineaddr.Count(stream())
	if want := len(naiveLines(content)); lines != want || err != nil {
		t.Fatalf("Count of %s: %d, %v; want %d", shown(content), lines, err, want)
	}
}

func TestReadingAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for range rounds(6_000) {
		content := randomContent(random)
		lines := len(naiveLines(content))
		checkReading(t, content, randomRange(random, lines), random.IntN(lines+4)-1, randomSizes(random), random.IntN(2) == 0)
	}
}

// TestSliceStops: lines that are complete do not wait for what may come.
func TestSliceStops(t *testing.T) {
	for name, read := range map[string]func(io.Reader) (lineaddr.Window, error){
		"Slice": func(r io.Reader) (lineaddr.Window, error) {
			return lineaddr.Slice(r, lineaddr.Range{Start: 2, End: 3})
		},
		"Copy": func(r io.Reader) (lineaddr.Window, error) {
			return lineaddr.Copy(io.Discard, r, lineaddr.Range{Start: 2, End: 3})
		},
		"Head": func(r io.Reader) (lineaddr.Window, error) { return lineaddr.Head(r, 3) },
	} {
		r := &script{steps: []step{{text: "a\nb\n"}, {text: "c\n"}}}
		w, err := read(r)
		if err != nil || w.Last != 3 || w.Total != -1 {
			t.Errorf("%s: %v, %v", name, w, err)
		}
		// The same with an error beside the last bytes: they are all that was asked for.
		r = &script{steps: []step{{text: "a\nb\n"}, {text: "c\n", err: io.ErrUnexpectedEOF}}}
		if w, err := read(r); err != nil || w.Last != 3 || w.Total != -1 {
			t.Errorf("%s, an error beside the last line: %v, %v", name, w, err)
		}
		r = &script{steps: []step{{text: "a\nb\n"}, {text: "c", err: io.ErrUnexpectedEOF}}}
		if w, err := read(r); ambit.ReasonOf(err) != ambit.ErrIO {
			t.Errorf("%s, an error within the last line: %v, %v", name, w, err)
		}
	}
	r := &script{} // any Read fails the test by its error
	if w, err := lineaddr.Head(r, 0); err != nil || w.Total != -1 || r.reads > 0 {
		t.Errorf("Head of 0 lines: %v, %v after %d reads", w, err, r.reads)
	}
}

// script is a reader that gives what the steps say, and then an error.
type script struct {
	steps []step
	reads int
}

type step struct {
	text string
	err  error
}

func (s *script) Read(p []byte) (int, error) {
	s.reads++
	if len(s.steps) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
	return copy(p, next.text), next.err
}

// TestOverReading: what is read behind the lines is a block at most.
func TestOverReading(t *testing.T) {
	content := strings.Repeat("0123456789abcde\n", 1<<20)
	for _, start := range []int{1, 1000, 100_000, 1_000_000} {
		r := strings.NewReader(content)
		if _, err := lineaddr.Slice(r, lineaddr.Range{Start: start, End: start + 1}); err != nil {
			t.Fatal(err)
		}
		if over := len(content) - r.Len() - 16*(start+1); over > 256<<10 {
			t.Errorf("lines from %d: %d bytes were read behind them", start, over)
		}
	}
	r := strings.NewReader(content)
	if _, err := lineaddr.Head(r, 1); err != nil {
		t.Fatal(err)
	}
	if read := len(content) - r.Len(); read > 16<<10 {
		t.Errorf("the first line: %d bytes were read", read)
	}
}

// checkTail compares Tail and Index, over every kind of file, with the oracle.
func checkTail(t *testing.T, content string, rng lineaddr.Range, n int, sizes []byte) {
	t.Helper()
	halting := newRandomFile(content)
	halting.at = &haltingReaderAt{at: halting.at, sizes: slices.DeleteFunc(slices.Clone(sizes), func(b byte) bool { return b == 0 })}
	unknown := newStreamFile(content, sizes...)
	unknown.info.Size = -1
	refusing := &randomFile{streamFile: *newStreamFile(content, sizes...), at: refusingReaderAt{}}
	want := naiveTail(content, n)
	for _, f := range []struct {
		name string
		file ambit.File
	}{
		{"random", newRandomFile(content)},
		{"halting", halting},
		{"stream", newStreamFile(content, sizes...)},
		{"stream of unknown size", unknown},
		{"ReadAt is unsupported", refusing},
	} {
		w, err := lineaddr.Tail(f.file, n)
		if got := resultOf(w, err); got != want {
			t.Fatalf("%s: Tail %d of %s: %v\nwant %v", f.name, n, shown(content), got, want)
		}
		if len(w.Text) != cap(w.Text) {
			t.Errorf("%s: Tail %d of %s: %d bytes in memory of %d", f.name, n, shown(content), len(w.Text), cap(w.Text))
		}
		scribble(w.Text)
	}

	want = naiveSlice(content, rng)
	if want.reason == "" {
		want.total = len(naiveLines(content))
	}
	halting.info.Size = -1
	for _, f := range []struct {
		name string
		file ambit.File
	}{
		{"random", newRandomFile(content)},
		{"halting, of unknown size", halting},
	} {
		x, err := lineaddr.NewIndex(f.file)
		if err != nil {
			t.Fatalf("%s: index of %s: %v", f.name, shown(content), err)
		}
		if x.Lines() != len(naiveLines(content)) {
			t.Fatalf("%s: index of %s has %d lines", f.name, shown(content), x.Lines())
		}
		w, err := x.Slice(rng)
		if got := resultOf(w, err); got != want {
			t.Fatalf("%s: index %v of %s: %v\nwant %v", f.name, rng, shown(content), got, want)
		}
		scribble(w.Text)
		var copied bytes.Buffer
		w, err = x.Copy(&copied, rng)
		got := resultOf(w, err)
		got.text += copied.String()
		if got != want {
			t.Fatalf("%s: index copies %v of %s: %v\nwant %v", f.name, rng, shown(content), got, want)
		}
	}
}

type refusingReaderAt struct{}

func (refusingReaderAt) ReadAt([]byte, int64) (int, error) {
	return 0, &ambit.Error{Reason: ambit.ErrUnsupported}
}

func TestTailAndIndexAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for range rounds(4_000) {
		content := randomContent(random)
		lines := len(naiveLines(content))
		n := random.IntN(lines+4) - 1
		if random.IntN(2) == 0 {
			n = random.IntN(8) - 1
		}
		checkTail(t, content, randomRange(random, lines), n, randomSizes(random))
	}
}
