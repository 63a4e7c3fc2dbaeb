// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/ambitfs/ambit"
)

var newline = []byte{'\n'}

// searchLines searches window by window: all the lines of it that are complete.
func (s *Searcher) searchLines() error {
	w := &s.window
	end := s.next // of the complete lines
	fresh := end  // offset of what has not been looked at for line ends
	for {
		if err := s.checkLine(end, fresh); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(w.data[fresh:], '\n'); i >= 0 {
			end = fresh + i + 1
		}
		if w.err == io.EOF {
			end = len(w.data)
		}
		if done := s.searchRegion(end); !s.flush() || done {
			return nil
		}
		if w.err != nil {
			return w.failed()
		}
		if w.isFull() {
			end -= s.forget(s.kept(end))
		}
		fresh = len(w.data)
		w.fill()
	}
}

// checkLine refuses a line that is too long, which begins at the offset start and
// of which everything from fresh on is new. No other line can be: what is read at once,
// and even the head of the stream, is shorter.
func (s *Searcher) checkLine(start, fresh int) error {
	data := s.window.data
	end := len(data)
	cr := s.window.err == nil // what is last may belong to an ending
	if i := bytes.IndexByte(data[fresh:], '\n'); i >= 0 {
		end, cr = fresh+i, true
	}
	n := end - start
	if cr && n > 0 && data[end-1] == '\r' {
		n--
	}
	if n <= s.limits.line {
		return nil
	}
	return &ambit.Error{
		Reason: ambit.ErrTooLarge, Limit: int64(s.limits.line), Size: int64(n),
		Detail: fmt.Sprintf("line %d is longer than is searched", s.number(start)),
	}
}

// forget drops the beginning of the window and returns how many bytes.
func (s *Searcher) forget(n int) int {
	if s.counted < n && s.query.Mode == ambit.GrepContent {
		s.number(n)
	}
	s.window.makeRoom(n)
	s.next -= n
	s.reported = max(s.reported-n, 0)
	s.counted = max(s.counted-n, 0)
	i, _ := slices.BinarySearch(s.leftOut, n)
	s.leftOut = slices.Delete(s.leftOut, 0, i)
	for i := range s.leftOut {
		s.leftOut[i] -= n
	}
	return n
}

// kept returns the offset of what has still to be in the window when all up to end
// has been searched.
func (s *Searcher) kept(end int) int {
	if s.query.Mode != ambit.GrepContent || s.query.Before == 0 {
		return end
	}
	return s.beforeFrom(end)
}

// searchRegion searches up to end, where a line ends. It returns true when nothing
// more is wanted.
func (s *Searcher) searchRegion(end int) (done bool) {
	text := s.window.data[:end]
	for s.next < end {
		start, stop, ok := s.matcher.Next(text, s.next)
		if !ok {
			break
		}
		next := afterEnding(text, stop)
		if done := s.hit(text, start, stop, next, nil); done {
			return true
		}
		s.next = next
	}
	s.next = end
	return s.reportAfter(text, end)
}

// afterEnding returns the offset behind the ending of the line whose content ends
// at stop.
func afterEnding(text []byte, stop int) int {
	if stop+1 < len(text) && text[stop] == '\r' {
		stop++
	}
	return min(stop+1, len(text))
}

// hit takes note of the matching line text[start:stop], whose ending goes up to
// next. spans are the matches in it, nil if they are not known yet. It returns true
// when nothing more is wanted.
func (s *Searcher) hit(text []byte, start, stop, next int, spans [][2]int) (done bool) {
	if s.query.Mode != ambit.GrepContent {
		if bytes.IndexByte(text[start:stop], 0) >= 0 {
			s.notText = true
			return false
		}
		s.result.Lines++
		return s.query.Mode == ambit.GrepFiles
	}
	if s.after > 0 && s.reportAfter(text, start) {
		return true
	}
	switch {
	case bytes.IndexByte(text[start:stop], 0) >= 0:
		s.leaveOut(start, next)
		return s.beyond && s.after == 0
	case s.query.Limit > 0 && s.result.Lines == s.query.Limit:
		s.result.More, s.beyond = true, true
		return s.reportAfter(text, next)
	}
	if s.query.Before > 0 && s.reported < start && s.reportBefore(text, s.beforeFrom(start), start) {
		return true
	}
	s.result.Lines++
	s.reportMatch(text, start, stop, spans)
	s.passed(next)
	s.after = s.query.After
	return s.batch.isFull() && !s.flush()
}

// number returns the 1-based number of the line that begins at an offset. The
// offsets that it is asked for never go back.
func (s *Searcher) number(at int) int {
	s.line += bytes.Count(s.window.data[s.counted:at], newline)
	s.counted = at
	return s.line + 1
}

// passed notes that the line up to next, whose number was asked for last, has been
// reported.
func (s *Searcher) passed(next int) {
	s.line++
	s.counted, s.reported = next, next
}

// flush emits what has been found. It returns false when no more is wanted.
func (s *Searcher) flush() bool {
	if !s.result.Stopped && !s.batch.flush(s.window.data) {
		s.result.Stopped = true
	}
	return !s.result.Stopped
}
