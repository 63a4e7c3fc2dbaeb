// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// A found line is one that is going to be reported: offsets in the window, as
// long as that is not moved.
type found struct {
	start, end       int // of the text
	line, column     int
	spans            int // the end of its spans in those of the batch
	context, clipped bool
}

// A batch collects lines and makes matches of them: three pieces of memory for
// all, which are small enough that it does no harm to keep one match.
type batch struct {
	full struct{ text, lines, spans int } // how much makes a batch full

	path  string
	emit  func([]ambit.GrepMatch) bool
	found []found
	spans spans
	bytes int // of text
}

func (b *batch) open(path string, emit func([]ambit.GrepMatch) bool) {
	b.path, b.emit = path, emit
	b.clear()
}

func (b *batch) close() {
	b.path, b.emit = "", nil
	if cap(b.spans.all) > 2*batchSpans {
		b.spans.all = nil
	}
}

func (b *batch) clear() {
	b.found, b.spans.all, b.bytes = b.found[:0], b.spans.all[:0], 0
}

// add takes a line whose spans are what has been appended to those of
// the batch.
func (b *batch) add(f found) {
	f.spans = len(b.spans.all)
	b.found = append(b.found, f)
	b.bytes += f.end - f.start
}

func (b *batch) isFull() bool {
	return b.bytes >= b.full.text || len(b.found) >= b.full.lines || len(b.spans.all) >= b.full.spans
}

// flush emits what there is. It returns false when emit wants no more.
func (b *batch) flush(window []byte) bool {
	if len(b.found) == 0 {
		return true
	}
	var text strings.Builder
	text.Grow(b.bytes)
	for i := range b.found {
		f := &b.found[i]
		text.Write(window[f.start:f.end])
	}
	rest, spans := text.String(), slices.Clone(b.spans.all)
	matches := make([]ambit.GrepMatch, len(b.found))
	done := 0
	for i := range b.found {
		f, m := &b.found[i], &matches[i]
		n := f.end - f.start
		m.Path, m.Line, m.Column = b.path, f.line, f.column
		m.Text, rest = rest[:n], rest[n:]
		m.Context, m.Clipped = f.context, f.clipped
		if done < f.spans {
			m.Spans = spans[done:f.spans:f.spans]
			done = f.spans
		}
	}
	b.clear()
	return b.emit(matches)
}
