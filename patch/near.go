// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// maxVotes bounds what is done to find the nearest place.
const maxVotes = 1 << 17

// noMatch returns the error of a hunk with old lines that fits nowhere from the
// line with the index from on. It tells the place with most of the lines, of
// equal ones that nearest to the line with the index near, and where it differs
// first; and whether the file has what the hunk would make.
func (s *search) noMatch(from, near int) *ambit.Error {
	e := &ambit.Error{
		Reason: ambit.ErrNoMatch,
		Detail: fmt.Sprintf("the hunk's %s stand nowhere one after the other, the first being %s", plural(len(s.old), "line"), quoted(bare(s.old[0]))),
	}
	s.hint(func() {
		if told := s.misses(from, near); told != nil {
			e = told
		}
		if line := s.done(); line > 0 {
			e.Detail += fmt.Sprintf("; the lines that the hunk leaves are there already, from line %d on", line)
		}
	})
	return e
}

// hint calls find, which tells more of what was not found, unless the patch has
// spent too much on that.
func (s *search) hint(find func()) {
	if s.text.hints <= 0 {
		return
	}
	before := s.text.steps
	find()
	s.text.hints -= s.text.steps - before
}

// resembles returns the index of the first line from the one with the index from
// on that begins with the text, white space before it not counted, else of the
// first that contains it, and which of the two it does; "" for neither.
func (s *search) resembles(text string, from int) (at int, how string) {
	for i := from; i < s.text.count(); i++ {
		line := s.text.line(i)
		if !s.text.step(1 + len(line)/64) {
			break
		}
		n := bytes.Index(line, []byte(text))
		switch {
		case n < 0:
		case len(bytes.TrimLeft(line[:n], blank)) == 0:
			return i, "begins with"
		case how == "":
			at, how = i, "contains"
		}
	}
	return at, how
}

// done returns the number of the line from which on the file has what the hunk
// makes of its place, 0 for nowhere.
func (s *search) done() int {
	after := &search{text: s.text, hunk: s.hunk}
	adds := false
	for _, l := range s.hunk.Lines {
		if l.Kind != Removed {
			after.old = append(after.old, l.Text)
		}
		adds = adds || l.Kind == Added && strings.Trim(l.Text, blank) != ""
	}
	if !adds {
		return 0
	}
	if all := after.places(0, true); len(all) > 0 {
		return all[0] + 1
	}
	return 0
}

// misses tells where the hunk comes nearest to fitting, nil if that is not known.
func (s *search) misses(from, near int) *ambit.Error {
	e := &ambit.Error{Reason: ambit.ErrNoMatch}
	count := s.text.count()
	if count == 0 {
		e.Detail = "the file is empty"
		return e
	}
	if above := s.above(from); above > 0 {
		e.Lines = []int{above}
		e.Detail = fmt.Sprintf("the hunk fits only at line %d, above what comes before it in the patch", above)
		return e
	}
	if s.last {
		at := count - len(s.old)
		if at < from {
			e.Detail = fmt.Sprintf("by the patch the hunk's %s are the last ones of the file, below line %d; the file ends with line %d", plural(len(s.old), "line"), from, count)
			return e
		}
		e.Lines = []int{at + 1}
		e.Detail = "at the end of the file, where the patch has the hunk, " + s.difference(at)
		return e
	}
	at, ok := s.nearest(from, near)
	if s.text.index == nil {
		return nil // too many lines
	}
	if !ok {
		e.Detail = fmt.Sprintf("none of the hunk's lines is in the file, the first being %s", quoted(bare(s.old[0])))
		if from > 0 {
			e.Detail = fmt.Sprintf("none of the hunk's lines is in the file below line %d, the first being %s", from, quoted(bare(s.old[0])))
		}
		return e
	}
	e.Lines = []int{at + 1}
	e.Detail = fmt.Sprintf("in the nearest place, from line %d on, %s", at+1, s.difference(at))
	return e
}

// above returns the number of a line above the one with the index from where the
// hunk fits, 0 for none.
func (s *search) above(from int) int {
	anywhere := *s
	anywhere.floor = 0
	for _, at := range anywhere.places(0, true) {
		if at < from {
			return at + 1
		}
	}
	return 0
}

// nearest returns the index of the line at which most of the old lines stand,
// white space around them not counted; ok is false where not one does.
func (s *search) nearest(from, near int) (at int, ok bool) {
	if s.text.index == nil {
		if s.text.index = s.text.makeIndex(); s.text.index == nil {
			return 0, false
		}
	}
	// Rare lines tell more than common ones.
	type standing struct {
		old   int // index of the old line
		lines []int32
	}
	var rarest []standing
	for i, old := range s.old {
		if lines := s.text.index.lines(old, from+i); len(lines) > 0 {
			rarest = append(rarest, standing{i, lines})
		}
	}
	slices.SortStableFunc(rarest, func(a, b standing) int { return len(a.lines) - len(b.lines) })
	votes := make(map[int]int)
	left := maxVotes
	for _, r := range rarest {
		for _, i := range r.lines[:min(len(r.lines), left)] {
			votes[int(i)-r.old]++
		}
		n := min(len(r.lines), left)
		left -= n
		if !s.text.step(4 * n) {
			break
		}
	}
	best := 0
	for i, n := range votes {
		if n > best || n == best && (distance(i, near) < distance(at, near) || distance(i, near) == distance(at, near) && i < at) {
			at, best = i, n
		}
	}
	return at, best > 0
}

func distance(a, b int) int { return max(a-b, b-a) }

// difference tells the first of the old lines that is not what stands at the
// place with the index at.
func (s *search) difference(at int) string {
	for i, old := range s.old {
		if at+i >= s.text.count() {
			return fmt.Sprintf("the file ends with line %d, and the patch goes on with %s", s.text.count(), quoted(bare(old)))
		}
		line := string(bare(s.text.line(at + i)))
		if old = bare(old); line == old {
			continue
		}
		return fmt.Sprintf("line %d is %s, in the patch %s%s", at+i+1, shown(line, old), shown(old, line), manner(line, old))
	}
	return fmt.Sprintf("line %d is not the last one of the file, as it is by the patch", at+len(s.old))
}

// manner says in what two lines differ, where it is little.
func manner(a, b string) string {
	without := func(drop string) func(r rune) rune {
		return func(r rune) rune {
			if strings.ContainsRune(drop, r) {
				return -1
			}
			return r
		}
	}
	switch {
	case strings.TrimRight(a, blank) == strings.TrimRight(b, blank):
		return " (only white space at the end differs)"
	case strings.Trim(a, blank) == strings.Trim(b, blank):
		return " (only white space around it differs)"
	case strings.Map(without(blank), a) == strings.Map(without(blank), b):
		return " (only white space differs)"
	case strings.EqualFold(a, b):
		return " (only upper and lower case differ)"
	}
	return ""
}

// What is shown of a line at most, and of what is the same before the difference.
const (
	maxShown  = 80
	maxBefore = 30
)

// shown returns the line quoted, as far as it takes to see the first difference
// to the other.
func shown(line, other string) string {
	if len(line) <= maxShown {
		return quoted(line)
	}
	n := 0
	for n < len(line) && n < len(other) && line[n] == other[n] {
		n++
	}
	start := min(max(n-maxBefore, 0), len(line)-maxShown)
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	if start == 0 {
		return quoted(line)
	}
	return "…" + quoted(line[start:])
}

// quoted returns the line quoted, cut to a length that can be read.
func quoted(line string) string {
	if len(line) <= maxShown {
		return strconv.Quote(line)
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	if maxShown-cut >= utf8.UTFMax {
		cut = maxShown // no text anyway
	}
	return strconv.Quote(line[:cut]) + "…"
}
