// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import "bytes"

// beforeFrom returns the offset of the context before the line that begins at
// start: no more lines than asked for, none that has been reported, and not too
// many bytes.
func (s *Searcher) beforeFrom(start int) int {
	data := s.window.data
	floor := max(s.reported, start-s.limits.context)
	from := start
	for n := s.query.Before; n > 0 && from > floor; n-- {
		i := bytes.LastIndexByte(data[floor:from-1], '\n')
		if i < 0 {
			if floor == s.reported || data[floor-1] == '\n' {
				from = floor
			}
			break
		}
		from = floor + i + 1
	}
	return from
}

// reportAfter reports what is left of the context behind the last match, as far as
// it begins before to. It returns true when nothing more is wanted.
func (s *Searcher) reportAfter(text []byte, to int) (done bool) {
	for s.after > 0 && s.reported < to {
		s.after--
		if s.reportContextLine(text, s.reported, to) {
			return true
		}
	}
	return s.beyond && s.after == 0
}

// reportBefore reports the lines from one offset to another, but for those that
// are left out. It returns true when nothing more is wanted.
func (s *Searcher) reportBefore(text []byte, from, to int) (done bool) {
	leftOut := s.leftOut
	s.leftOut = s.leftOut[:0]
	s.reported = from
	for s.reported < to {
		start := s.reported
		for len(leftOut) > 0 && leftOut[0] < start {
			leftOut = leftOut[1:]
		}
		if len(leftOut) > 0 && leftOut[0] == start {
			s.reported = start + bytes.IndexByte(text[start:to], '\n') + 1
			continue
		}
		if s.reportContextLine(text, start, to) {
			return true
		}
	}
	return false
}

// leaveOut notes that the matching line text[start:next] is not reported, nor as
// context.
func (s *Searcher) leaveOut(start, next int) {
	s.notText = true
	switch {
	case s.after > 0:
		s.after--
		s.reported = next
	case s.query.Before > 0:
		if len(s.leftOut) == maxLeftOut {
			kept := s.leftOut[maxLeftOut/2:]
			s.reported = max(s.reported, kept[0]) // no context reaches beyond
			s.leftOut = append(s.leftOut[:0], kept...)
		}
		s.leftOut = append(s.leftOut, start)
	}
}

// reportContextLine reports the line that begins at start and ends before end. It
// returns true when nothing more is wanted.
func (s *Searcher) reportContextLine(text []byte, start, end int) (done bool) {
	stop, next := end, end
	if i := bytes.IndexByte(text[start:end], '\n'); i >= 0 {
		stop, next = start+i, start+i+1
		if stop > start && text[stop-1] == '\r' && !s.query.Multiline {
			stop--
		}
	}
	f := found{line: s.number(start), start: start, end: stop, context: true}
	if most := s.query.MaxLineBytes; most > 0 && stop-start > most {
		f.clipped = true
		f.end = start + characterEnd(text[start:stop], most)
	}
	s.batch.add(f)
	s.passed(next)
	return s.batch.isFull() && !s.flush()
}
