// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
)

const bom = "\ufeff"

// listed is how many places an error lists.
const listed = 20

// search is the Old of an op and where it was found.
type search struct {
	old       string
	folded    bool // lines are compared without regard to a CR before the LF
	endsInCR  bool // of a folded one: old is followed by a CR, which is not in text
	text      []byte
	atStart   []byte // not nil: the text may also begin with this, behind the byte order mark
	keep      int    // which place is wanted, from 1, beyond those listed; -1: every one
	total     int    // places found
	places    []place
	bordersOf []int32 // lazily, of text
}

// place is text[start:end] of the file, which begins in the 1-based line.
type place struct {
	start, end int64
	line       int
	search     *search
}

func newSearch(r Replace, hasBOM bool) *search {
	s := &search{old: r.Old, keep: r.Occurrence, text: []byte(r.Old)}
	if r.All {
		s.keep = -1
	}
	if strings.Contains(r.Old, "\n") && !strings.Contains(r.Old, crlf) {
		s.folded = true
		s.text, s.endsInCR = bytes.CutSuffix(s.text, []byte{'\r'})
	}
	if hasBOM && len(r.Old) > len(bom) && strings.HasPrefix(r.Old, bom) {
		s.atStart = s.text[len(bom):]
	}
	return s
}

// reach returns how many bytes of the file a place can have at most, and one to
// look at behind them.
func (s *search) reach() int {
	return len(s.text) + bytes.Count(s.text, []byte{'\n'}) + 2
}

// found takes a place, unless it is not worth keeping.
func (s *search) found(all *[]place, start, end int64) {
	s.total++
	if s.keep < 0 || s.total <= listed || s.total == s.keep {
		*all = append(*all, place{start: start, end: end, search: s})
	}
}

// lookAfter is after how many places it is looked whether the call is still
// wanted.
const lookAfter = 1 << 16

// scan finds the places of all searches, and the offsets at which the lines of
// starts begin, -1 for those that the text does not have. It returns how
// many lines the text has, which is only known if it had to read to the end:
// else -1.
func scan(ctx context.Context, s *source, searches []*search, starts map[int]int64) (total int, err error) {
	var exact, folded group
	overlap := 2
	for _, one := range searches {
		overlap = max(overlap, one.reach())
		if one.folded {
			folded.add(one)
		} else {
			exact.add(one)
		}
	}
	wanted := make([]int, 0, len(starts))
	for line := range starts {
		wanted = append(wanted, line)
		starts[line] = -1
	}
	sort.Ints(wanted)
	newlines := 0 // before the window's share
	unterminated := false
	var found []place
	err = s.windows(ctx, overlap, func(w window) error {
		found = found[:0]
		told := 0
		tell := func(one *search, start, end int) bool {
			if start >= w.from && (start < w.to || w.last) {
				one.found(&found, w.offset+int64(start), w.offset+int64(end))
			}
			told++
			return told%lookAfter != 0 || ctx.Err() == nil
		}
		if w.offset == 0 && w.from == 0 {
			beginnings(w, searches, tell)
		}
		exact.find(ctx, w.text, tell)
		if len(folded.searches) > 0 {
			v := unixView(w.text)
			folded.find(ctx, v.text, func(one *search, start, end int) bool {
				start, end = v.raw(start), v.raw(end)
				if one.endsInCR {
					if end == len(w.text) || w.text[end] != '\r' {
						return true
					}
					end++
				}
				return tell(one, start, end)
			})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(a.start, b.start) })
		at := w.from
		for _, p := range found {
			i := int(p.start - w.offset)
			newlines += bytes.Count(w.text[at:i], []byte{'\n'})
			at = i
			p.line = newlines + 1
			p.search.places = append(p.search.places, p)
			s.remember(w, i, int(p.end-w.offset))
		}
		share := w.text[w.from:w.to]
		rest := bytes.Count(w.text[at:w.to], []byte{'\n'})
		before := newlines - bytes.Count(w.text[w.from:at], []byte{'\n'})
		newlines += rest
		for offset := 0; len(wanted) > 0 && wanted[0] <= newlines+1; wanted = wanted[1:] {
			for ; before < wanted[0]-1; before++ {
				offset += bytes.IndexByte(share[offset:], '\n') + 1
			}
			starts[wanted[0]] = w.offset + int64(w.from+offset)
		}
		if w.last {
			unterminated = len(w.text) > 0 && w.text[len(w.text)-1] != '\n'
		} else if len(wanted) == 0 && len(searches) == 0 {
			return errEnough
		}
		return nil
	})
	switch {
	case err == errEnough:
		return -1, nil
	case err != nil:
		return 0, err
	case unterminated:
		newlines++
	}
	return newlines, nil
}

// errEnough ends a pass that needs no more.
var errEnough = errors.New("enough")

// beginnings tells the places of those searches that name the byte order mark
// at the beginning of the file.
func beginnings(w window, searches []*search, tell func(one *search, start, end int) bool) {
	for _, one := range searches {
		if one.atStart == nil {
			continue
		}
		v := view{text: w.text}
		if one.folded {
			v = unixView(w.text[:min(len(w.text), one.reach())])
		}
		if !bytes.HasPrefix(v.text, one.atStart) {
			continue
		}
		end := v.raw(len(one.atStart))
		if one.endsInCR {
			if end == len(w.text) || w.text[end] != '\r' {
				continue
			}
			end++
		}
		tell(one, 0, end)
	}
}

// view is a text without some of its bytes.
type view struct {
	text    []byte
	removed []int // for each missing byte the offset in text of what follows it
}

// unixView returns the text without the CR of each CRLF.
func unixView(text []byte) view {
	if !bytes.Contains(text, []byte(crlf)) {
		return view{text: text}
	}
	v := view{text: make([]byte, 0, len(text))}
	for {
		i := bytes.Index(text, []byte(crlf))
		if i < 0 {
			v.text = append(v.text, text...)
			return v
		}
		v.text = append(v.text, text[:i]...)
		v.removed = append(v.removed, len(v.text))
		text = text[i+1:]
	}
}

// raw returns the offset in the whole text of what is at, or ends at, the offset
// i of the view. What is missing before it belongs to it where it begins there,
// and not where it ends there.
func (v view) raw(i int) int {
	return i + sort.SearchInts(v.removed, i)
}

// group is searches in one pass.
type group struct {
	searches []*search
	finder   *finder
}

func (g *group) add(s *search) { g.searches = append(g.searches, s) }

// few is up to how many texts are searched for one after the other.
const few = 3

func (g *group) find(ctx context.Context, text []byte, tell func(one *search, start, end int) bool) {
	if len(g.searches) > few {
		if g.finder == nil {
			texts := make([][]byte, len(g.searches))
			for i, one := range g.searches {
				texts[i] = one.text
			}
			g.finder = newFinder(texts)
		}
		if g.finder.find(text, func(i, at int) bool { return tell(g.searches[i], at, at+len(g.searches[i].text)) }) {
			return
		}
	}
	for _, one := range g.searches {
		if ctx.Err() != nil {
			return
		}
		one.find(text, func(at int) bool { return tell(one, at, at+len(one.text)) })
	}
}

// find calls yield for each place of s.text in text, overlapping ones included,
// in time linear in both, until yield returns false.
func (s *search) find(text []byte, yield func(at int) bool) {
	p := s.text
	for at := 0; ; {
		i := bytes.Index(text[at:], p)
		if i < 0 {
			return
		}
		at += i
		if !yield(at) {
			return
		}
		// What overlaps it is found as Knuth, Morris and Pratt do: searching anew
		// behind each first byte can take the square of the time.
		borders := s.borders()
		end := at + len(p)
		matched := int(borders[len(p)-1])
		for matched > 0 && end < len(text) {
			for matched > 0 && p[matched] != text[end] {
				matched = int(borders[matched-1])
			}
			if p[matched] == text[end] {
				matched++
			}
			end++
			if matched == len(p) {
				if !yield(end - len(p)) {
					return
				}
				matched = int(borders[len(p)-1])
			}
		}
		at = end
	}
}

// borders returns for each prefix of the text how much of its beginning is also
// its end, all of it aside.
func (s *search) borders() []int32 {
	if s.bordersOf != nil {
		return s.bordersOf
	}
	p := s.text
	b := make([]int32, len(p))
	for i, k := 1, int32(0); i < len(p); i++ {
		for k > 0 && p[i] != p[k] {
			k = b[k-1]
		}
		if p[i] == p[k] {
			k++
		}
		b[i] = k
	}
	s.bordersOf = b
	return b
}
