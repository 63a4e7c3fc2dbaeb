// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/lines"
)

// missing returns the error of an Old that is not in the text, with what may
// help: the text that is nearest to it and how that differs, and whether New is
// there.
func (p *planner) missing(op Replace) error {
	e := &ambit.Error{Reason: ambit.ErrNoMatch}
	var hints []string
	near, err := p.findFolded(op.Old, foldAll)
	if err != nil {
		return err
	}
	switch {
	case near.total > 0:
		e.Lines = linesOf(near.places[:min(len(near.places), listed)])
		hint, err := p.howDifferent(op.Old, near.places[0])
		if err != nil {
			return err
		}
		hints = append(hints, hint)
	default:
		n, err := p.nearest(op.Old)
		if err != nil {
			return err
		}
		if n.line == 0 {
			hints = append(hints, "nothing in the file is like it")
			break
		}
		hint, line, err := p.firstDifference(op.Old, n)
		if err != nil {
			return err
		}
		e.Lines = []int{line}
		hints = append(hints, hint)
	}
	if op.New != "" {
		there := newSearch(Replace{Old: op.New}, false)
		if _, err := scan(p.ctx, p.source, []*search{there}, nil); err != nil {
			return err
		}
		for _, at := range there.places {
			if ok, err := p.standsAlone(at); err != nil {
				return err
			} else if ok {
				hints = append(hints, fmt.Sprintf("the new text is there already, in line %d", at.line))
				break
			}
		}
	}
	head, err := p.source.span(0, min(p.source.size, charset.HeadSize))
	if err != nil {
		return err
	}
	switch class := charset.Classify(head, p.source.size <= charset.HeadSize); {
	case !class.Text:
		hints = append(hints, "the file does not look like text ("+class.MediaType+")")
	case !class.Encoding.IsZero() && p.o.Encoding.IsZero() && class.Encoding != charset.UTF8:
		hints = append(hints, "the file looks like "+class.Encoding.String()+": say so by Encoding")
	}
	e.Detail = strings.Join(hints, "; ")
	return e
}

// howDifferent tells how what is at the place differs from old, which is the same
// but for what all folds disregard.
func (p *planner) howDifferent(old string, at place) (string, error) {
	found, err := p.source.span(at.start, at.end)
	if err != nil {
		return "", err
	}
	how := differences(old, string(found))
	if !strings.Contains(strings.TrimRight(old, "\r\n"), "\n") {
		line, err := p.lineOf(at.start)
		return fmt.Sprintf("line %d differs only in %s: %s", at.line, how, quoted(line)), err
	}
	start, ok, err := p.source.lineStart(at.start, maxDiff)
	if err != nil {
		return "", err
	}
	if !ok {
		return fmt.Sprintf("the text in line %d differs only in %s", at.line, how), nil
	}
	hint, _, err := p.firstDifference(old, near{line: at.line, start: start})
	return fmt.Sprintf("the text from line %d on differs only in %s: %s", at.line, how, hint), err
}

// standsAlone reports whether a place is no part of a longer word, and is itself
// long enough to be meant.
func (p *planner) standsAlone(at place) (bool, error) {
	const least = 4
	if at.end-at.start < least {
		return false, nil
	}
	b, err := p.source.span(max(at.start-1, 0), min(at.end+1, p.source.size))
	if err != nil {
		return false, err
	}
	inWord := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
	}
	if at.start > 0 && inWord(b[0]) && inWord(b[1]) {
		return false, nil
	}
	return at.end == p.source.size || !inWord(b[len(b)-1]) || !inWord(b[len(b)-2]), nil
}

// A difference is what two texts may differ in.
var kindsOfDifference = []struct {
	fold fold
	name string
}{
	{foldEndings, "line endings"},
	{foldTrailing, "white space at the ends of lines"},
	{foldTypography, "typographic quotes, dashes or spaces"},
	{foldCase, "case"},
	{foldSpace, "white space"},
}

// differences names what two texts differ in that are the same with all of it
// disregarded: as little as can be.
func differences(a, b string) string {
	same := func(f fold) bool {
		return bytes.Equal(foldText([]byte(a), f).text, foldText([]byte(b), f).text)
	}
	needed := foldAll
	for i := len(kindsOfDifference) - 1; i >= 0; i-- {
		if without := needed &^ kindsOfDifference[i].fold; same(without) {
			needed = without
		}
	}
	var names []string
	for _, kind := range kindsOfDifference {
		if needed&kind.fold != 0 {
			names = append(names, kind.name)
		}
	}
	return strings.Join(names, " and ")
}

// lineOf returns the line that holds the offset, or its beginning.
func (p *planner) lineOf(offset int64) ([]byte, error) {
	const enough = 4 * maxQuoted
	start, ok, err := p.source.lineStart(offset, enough)
	if err != nil {
		return nil, err
	}
	if !ok {
		start = offset
	}
	text, err := p.source.span(start, min(start+enough, p.source.size))
	line, _ := lines.Next(text)
	return line, err
}

// maxQuoted is how much of a line an error shows, in bytes.
const maxQuoted = 160

func quoted(line []byte) string {
	line = bytes.TrimSuffix(line, []byte(endingOf(line)))
	if len(line) <= maxQuoted {
		return fmt.Sprintf("%q", line)
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%q…", line[:cut])
}

// near is a line that is most like a line of a text that was not found.
type near struct {
	line  int // 1-based; 0: there is none
	start int64
	index int // of the line in the text that was not found
}

// firstDifference lays old over the text so that the lines of n meet, and tells
// of the first line in which they differ, and which that is.
func (p *planner) firstDifference(old string, n near) (hint string, line int, err error) {
	wanted := lines.Split([]byte(old))
	at := n.start
	for range min(n.index, n.line-1) {
		var ok bool
		if at, ok, err = p.source.lineStart(at-1, maxDiff); err != nil || !ok {
			return "", n.line, err
		}
		n.line--
		n.index--
	}
	for i := n.index; i < len(wanted) && at < p.source.size; i++ {
		there, err := p.lineOf(at)
		if err != nil {
			return "", 0, err
		}
		want := bytes.TrimSuffix(wanted[i], []byte(endingOf(wanted[i])))
		have := bytes.TrimSuffix(there, []byte(endingOf(there)))
		same := bytes.Equal(want, have)
		switch { // the first and the last line need not be whole
		case i == 0 && len(wanted) == 1:
			same = bytes.Contains(have, want)
		case i == 0:
			same = bytes.HasSuffix(have, want)
		case i == len(wanted)-1:
			same = bytes.HasPrefix(have, want)
		}
		if !same {
			return fmt.Sprintf("the nearest text has in line %d %s, where the search text has %s", n.line+i-n.index, quoted(there), quoted(wanted[i])), n.line + i - n.index, nil
		}
		var ok bool
		if at, ok, err = p.source.lineEnd(at, maxDiff); err != nil || !ok {
			return "", n.line, err
		}
	}
	return fmt.Sprintf("the file ends where the search text goes on, which begins like line %d", n.line), n.line, nil
}

const (
	longLine  = 4 << 10 // how much of a line is compared for a hint
	alikeness = 0.5     // how much of two lines must be the same for a hint
)

// nearest finds the line that is most like the longest one of old.
func (p *planner) nearest(old string) (near, error) {
	var longest []byte
	var result near
	for i, line := range lines.Split([]byte(old)) {
		if len(bytes.TrimSpace(line)) > len(bytes.TrimSpace(longest)) {
			longest, result.index = line, i
		}
	}
	want := foldText(longest[:min(len(longest), longLine)], foldAll).text
	if len(want) < 2 {
		return near{}, nil
	}
	var table [1 << 16 / 64]uint64
	for i := range len(want) - 1 {
		pair := uint16(want[i])<<8 | uint16(want[i+1])
		table[pair/64] |= 1 << (pair % 64)
	}
	part := !strings.Contains(strings.TrimRight(old, "\r\n"), "\n") // it may be of a part of a line
	best, number := alikeness, 0
	err := p.source.windows(p.ctx, longLine, func(w window) error {
		for at := w.from; at < w.to || w.last && at < len(w.text); {
			line, rest := lines.Next(w.text[at:])
			atStart := at == 0 && w.offset == 0 || at > 0 && w.text[at-1] == '\n'
			if atStart {
				number++
				score := likeness(line[:min(len(line), longLine)], &table, len(want)-1, part)
				if score > best {
					best, result.line, result.start = score, number, w.offset+int64(at)
				}
			}
			if rest == nil {
				break
			}
			at = len(w.text) - len(rest)
		}
		return nil
	})
	return result, err
}

// likeness is the part that two lines have in common of their pairs of bytes,
// white space aside, after Dice. The pairs of the one are in the table. If that is
// part of a line, what it has in common with one counts nearly as much.
func likeness(line []byte, table *[1 << 16 / 64]uint64, pairs int, part bool) float64 {
	common, n := 0, 0
	var last byte
	for _, c := range line {
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if last != 0 {
			n++
			if pair := uint16(last)<<8 | uint16(c); table[pair/64]&(1<<(pair%64)) != 0 {
				common++
			}
		}
		last = c
	}
	if n+pairs == 0 {
		return 0
	}
	common = min(common, pairs)
	score := 2 * float64(common) / float64(n+pairs)
	const fewest, slack = 3, 0.75
	if part && pairs >= fewest {
		score = max(score, slack*float64(common)/float64(pairs))
	}
	return score
}
