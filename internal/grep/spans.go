// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

// reportMatch reports the matching line text[start:stop] with its spans, which
// are looked for if they are nil.
func (s *Searcher) reportMatch(text []byte, start, stop int, spans [][2]int) {
	line := text[start:stop]
	f := found{line: s.number(start), column: 1, start: start, end: stop}
	b := &s.batch
	b.spans.begin(line, s.query.MaxLineBytes)
	if spans == nil {
		s.matcher.FindAll(line, b.spans.take)
	}
	for _, span := range spans {
		if !b.spans.add(span[0], span[1]) {
			break
		}
	}
	if b.spans.taken {
		f.column = b.spans.first + 1
	}
	if b.spans.clip {
		f.clipped = true
		f.start, f.end = start+b.spans.from, start+b.spans.to
	}
	b.add(f)
}

// spans collects the matches in a line, as far as they are in the part of it that
// is shown.
type spans struct {
	take func(start, end int) bool // the method add
	all  [][2]int                  // of all lines of a batch, relative to what is shown

	line     []byte
	most     int  // bytes to be shown, if they are less than the line has
	clip     bool // they are
	from, to int  // the part that is shown
	base     int  // spans of earlier lines
	taken    bool
	first    int // where the first match begins
}

// begin begins a line of which most bytes may be shown (0: all).
func (s *spans) begin(line []byte, most int) {
	s.line, s.most, s.clip = line, most, most > 0 && len(line) > most
	s.from, s.to = 0, len(line)
	if s.clip {
		s.to = characterEnd(line, most)
	}
	s.base, s.taken = len(s.all), false
}

// add takes the next match. It returns false when no more are wanted.
func (s *spans) add(start, end int) bool {
	if !s.taken {
		s.taken, s.first = true, start
		if s.clip {
			s.from, s.to = clip(s.line, start, end, s.most)
		}
	}
	if start > s.to {
		return false
	}
	from, to := max(start, s.from), min(end, s.to)
	if from < to || start == end {
		s.all = append(s.all, [2]int{from - s.from, to - s.from})
	}
	return len(s.all)-s.base < maxSpans
}
