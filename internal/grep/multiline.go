// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"

	"github.com/ambitfs/ambit"
)

// searchText matches the whole text at once.
func (s *Searcher) searchText() error {
	w := &s.window
	for {
		n := int64(len(w.data) - s.next)
		if missing := w.size - w.read; w.err == nil && missing > 0 {
			n += missing
		}
		if n > int64(s.limits.text) {
			return &ambit.Error{
				Reason: ambit.ErrTooLarge, Limit: int64(s.limits.text), Size: n,
				Detail: "a search across lines takes the whole text at once",
			}
		}
		if w.err != nil {
			break
		}
		if want := w.size + 1; w.size > 0 && want > int64(cap(w.data)) {
			w.data = append(make([]byte, 0, want), w.data...)
		}
		if len(w.data) == cap(w.data) {
			w.makeRoom(0)
		}
		w.fill()
	}
	if err := w.failed(); err != nil {
		return err
	}
	w.data = w.data[:s.next+dropCR(w.data[s.next:])]

	m := multiline{s: s, base: s.next}
	m.enter(s.next)
	s.matcher.FindAll(w.data[s.next:], m.match)
	if !m.leave() {
		s.reportAfter(w.data, len(w.data))
	}
	s.flush()
	return nil
}

// dropCR makes the endings of the text LF, in place, and returns its new length.
func dropCR(text []byte) int {
	n := bytes.Index(text, []byte("\r\n"))
	if n < 0 {
		return len(text)
	}
	for i := n; i < len(text); {
		// The CR at i is dropped, and what is up to the next one moved.
		i++
		next := bytes.Index(text[i:], []byte("\r\n"))
		if next < 0 {
			next = len(text) - i
		}
		n += copy(text[n:], text[i:i+next])
		i += next
	}
	return n
}

// A multiline makes lines of the matches in a text.
type multiline struct {
	s    *Searcher
	base int // offset of the text in the window

	// The line that the last match touches, or the first one.
	start, stop, next int
	touched           bool
	spans             [][2]int
	done              bool // nothing more is wanted
}

// enter goes to the line that begins at start.
func (m *multiline) enter(start int) {
	data := m.s.window.data
	m.start, m.stop, m.next = start, len(data), len(data)
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		m.stop, m.next = start+i, start+i+1
	}
	m.touched, m.spans = false, m.spans[:0]
}

// leave hands the line over if a match touches it. It returns true when nothing
// more is wanted.
func (m *multiline) leave() bool {
	if m.touched && !m.done {
		m.done = m.s.hit(m.s.window.data, m.start, m.stop, m.next, m.spans)
		m.touched = false
	}
	return m.done
}

// match takes the next match, from one offset in the text to another. It returns
// false when no more is wanted.
func (m *multiline) match(start, end int) bool {
	data := m.s.window.data
	start, end = start+m.base, end+m.base
	if start == len(data) && (start == m.base || data[start-1] == '\n') {
		return true // behind the last line
	}
	if start >= m.next && m.next < len(data) {
		if m.leave() {
			return false
		}
		m.enter(m.next + bytes.LastIndexByte(data[m.next:start], '\n') + 1)
	}
	for {
		m.touch(max(start, m.start), min(end, m.stop))
		if end <= m.next {
			return true
		}
		if m.leave() {
			return false
		}
		m.enter(m.next)
	}
}

func (m *multiline) touch(start, end int) {
	m.touched = true
	if len(m.spans) < maxSpans {
		m.spans = append(m.spans, [2]int{start - m.start, end - m.start})
	}
}
