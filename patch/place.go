// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/lines"
)

// text is a text and where its lines begin.
type text struct {
	bytes []byte
	start []int // offset of each line, and behind the last one the length

	scans int    // searches through all of it so far
	index *index // nil until there were some
	*effort
}

// effort is what is spent to find places.
type effort struct {
	ctx   context.Context
	err   error // why the search has ended before it was done
	steps int   // so far, each a look at a line
	hints int   // how many may still be made to tell of what was not found
}

// maxHints is how many steps a patch spends to tell of what was not found.
const maxHints = 1 << 22

// step notes that n lines were looked at, and reports whether to go on.
func (e *effort) step(n int) bool {
	before := e.steps
	e.steps += n
	if before>>12 != e.steps>>12 && e.err == nil && e.ctx.Err() != nil {
		e.err = context.Cause(e.ctx)
	}
	return e.err == nil
}

func newText(content []byte) *text {
	t := &text{bytes: content, start: make([]int, 1, lines.Count(content)+1)}
	for offset := 0; offset < len(content); {
		line, _ := lines.Next(content[offset:])
		offset += len(line)
		t.start = append(t.start, offset)
	}
	return t
}

// count returns the number of lines.
func (t *text) count() int { return len(t.start) - 1 }

// line returns the line with the index i, with its ending.
func (t *text) line(i int) []byte { return t.bytes[t.start[i]:t.start[i+1]] }

// placed is a hunk and the place where it fits.
type placed struct {
	hunk  *Hunk
	at    int  // index of the first old line
	old   int  // number of old lines
	exact bool // its old lines are those of the file, endings included, so that the new ones are right too
}

func (p placed) end() int { return p.at + p.old }

// misfit is a hunk that fits nowhere, or in several places.
type misfit struct {
	hunk *Hunk
	err  *ambit.Error
}

// place finds the places of the hunks of one section, none of which depends on
// what another one changes: every hunk is laid on the lines that the file has
// before the section, behind the one before it. Hunks that do not fit are left
// out of the places.
//
// A hunk fits where its old lines, those that it removes and its context, stand
// one after the other. They are compared as bytes with their endings, or by
// their text alone: the ending that a line has in a patch often is the one that
// somebody's editor or tool has given to all of it. A line that the patch has
// without an ending is the last one of the file in either way.
//
// A numbered hunk goes to its line if it fits there exactly. Otherwise it must
// fit exactly in one place. If there is none, endings no longer count: it goes
// to its line if it fits there, otherwise it must fit in one place. Without old
// lines it adds behind the line with its number, and byte for byte what the patch
// has: there is nothing that it could differ from. Only if all lines of the file
// end in CR LF, the patch has no CR in any line (carriage is false), and another
// hunk of the section fits with endings not counted alone, then the patch is one
// without the file's endings.
//
// A hunk without a number must fit in one place, endings not counted. If it has
// anchors, then of the places behind them: behind a line for the first anchor, a
// later one for the second, and so on to the last. That is, behind the earliest
// such lines: whether a place further on is still what the last anchor means,
// only a person can tell, so that two places are ambiguous, however close one of
// them is. An anchor may name a line above the hunk before, as one for the
// function does in which both are. It names a line that is the same but for
// white space around; if it is indented itself, and some line is so too, then
// only such lines. Without old lines the hunk adds right behind the line of its
// last anchor, and there must be one such line. At the end of the file its old
// lines are the last ones.
//
// Nothing of what it returns counts after an error of the text's effort.
func place(t *text, hunks []Hunk, carriage bool) (all []placed, misfits []misfit) {
	floor := 0
	loose := false
	for i := range hunks {
		p, err := placeOne(t, &hunks[i], floor)
		if !t.step(1) {
			return nil, nil
		}
		if err != nil {
			misfits = append(misfits, misfit{&hunks[i], err})
			continue
		}
		floor = p.end()
		loose = loose || p.old > 0 && !p.exact
		all = append(all, p)
	}
	verbatim := carriage || !loose || !t.endsInCRLF()
	for i := range all {
		if all[i].old == 0 && all[i].hunk.Numbered {
			all[i].exact = verbatim
		}
	}
	return all, misfits
}

// endsInCRLF reports whether all lines end in CR LF, but for a last one without
// an ending.
func (t *text) endsInCRLF() bool {
	for i := range t.count() {
		if ending := lines.Ending(t.line(i)); ending == "\n" || ending == "" && i == 0 {
			return false
		}
	}
	return t.count() > 0
}

func placeOne(t *text, h *Hunk, floor int) (placed, *ambit.Error) {
	s := &search{text: t, hunk: h, floor: floor, last: h.EndOfFile}
	for _, l := range h.Lines {
		if l.Kind != Added {
			s.old = append(s.old, l.Text)
		}
		s.last = s.last || lines.Ending(l.Text) == ""
	}
	p := placed{hunk: h, old: len(s.old)}
	var err *ambit.Error
	switch {
	case h.Numbered && len(s.old) == 0:
		p.at, err = s.behindNumber()
	case h.Numbered:
		p.at, err = s.numbered()
	case len(s.old) == 0:
		p.at, err = s.added()
	default:
		p.at, err = s.unnumbered()
	}
	if err != nil {
		return placed{}, err
	}
	p.exact = len(s.old) > 0 && s.fits(p.at, false)
	return p, nil
}

// search looks for the places of one hunk.
type search struct {
	text  *text
	hunk  *Hunk
	old   []string
	floor int  // index of the first line that it may begin at
	last  bool // it ends at the end of the file
}

// allowed reports whether the hunk may lie at the line with the index at.
func (s *search) allowed(at int) bool {
	end := s.text.count() - len(s.old)
	return at >= s.floor && at <= end && (!s.last || at == end)
}

// fits reports whether the hunk fits at the line with the index at, where it is
// allowed; loose: endings do not count.
func (s *search) fits(at int, loose bool) bool {
	_, fits := s.agree(at, loose)
	return fits
}

// agree returns how many of the old lines, from the first on, stand at the line
// with the index at, and whether all do.
func (s *search) agree(at int, loose bool) (n int, all bool) {
	for i, old := range s.old {
		if !same(s.text.line(at+i), old, loose) {
			return i, false
		}
	}
	return len(s.old), true
}

func same(line []byte, old string, loose bool) bool {
	if string(line) == old {
		return true
	}
	return loose && string(bare(line)) == bare(old)
}

// bare returns the line without its ending.
func bare[Text ~string | ~[]byte](line Text) Text {
	return line[:len(line)-len(lines.Ending(line))]
}

// places returns the indexes of all lines from the one with the index from on
// where the hunk fits, in time that at most grows with the sum of both lengths.
func (s *search) places(from int, loose bool) (all []int) {
	if s.last {
		if at := s.text.count() - len(s.old); at >= from && s.allowed(at) && s.fits(at, loose) {
			return []int{at}
		}
		return nil
	}
	if x := s.text.indexed(); x != nil {
		if all, ok := s.lookUp(x, max(from, s.floor), loose); ok {
			return all
		}
	}
	return s.scan(from, loose)
}

// scan does the same by a look at all lines.
func (s *search) scan(from int, loose bool) (all []int) {
	s.text.scans++
	old := s.old
	if loose {
		old = make([]string, len(s.old))
		for i := range old {
			old[i] = bare(s.old[i])
		}
	}
	// shorter[i]: how many of the old lines up to i begin the hunk again there.
	shorter := make([]int, len(old))
	for i, n := 1, 0; i < len(old); i++ {
		for n > 0 && old[i] != old[n] {
			n = shorter[n-1]
		}
		if old[i] == old[n] {
			n++
		}
		shorter[i] = n
	}
	n := 0
	for i := max(from, s.floor); i < s.text.count() && s.text.step(1); i++ {
		line := s.text.line(i)
		if loose {
			line = bare(line)
		}
		for n > 0 && string(line) != old[n] {
			n = shorter[n-1]
		}
		if string(line) == old[n] {
			n++
		}
		if n == len(old) {
			all = append(all, i+1-n)
			n = shorter[n-1]
		}
	}
	return all
}

func (s *search) behindNumber() (int, *ambit.Error) {
	at := s.hunk.Start
	switch {
	case at > s.text.count():
		return 0, &ambit.Error{
			Reason: ambit.ErrOutOfRange, Total: s.text.count(),
			Detail: fmt.Sprintf("the hunk adds lines behind line %d; the file ends before", at),
		}
	case at < s.floor:
		return 0, &ambit.Error{
			Reason: ambit.ErrNoMatch,
			Detail: fmt.Sprintf("the hunk adds lines behind line %d, and the hunk before it ends further on, with line %d", at, s.floor),
		}
	case !s.allowed(at):
		return 0, &ambit.Error{
			Reason: ambit.ErrNoMatch,
			Detail: fmt.Sprintf("by the patch the file ends with what the hunk adds behind line %d; it has %s", at, plural(s.text.count(), "line")),
		}
	}
	return at, nil
}

func (s *search) numbered() (int, *ambit.Error) {
	at := s.hunk.Start - 1
	for _, loose := range []bool{false, true} {
		if s.allowed(at) && s.fits(at, loose) {
			return at, nil
		}
		switch all := s.places(s.floor, loose); len(all) {
		case 0:
		case 1:
			return all[0], nil
		default:
			return 0, ambiguous(all, 1, fmt.Sprintf("the hunk does not fit at line %d, which it names, and fits in other places", s.hunk.Start))
		}
	}
	return 0, s.noMatch(s.floor, max(at, 0))
}

func (s *search) unnumbered() (int, *ambit.Error) {
	from := s.floor
	if len(s.hunk.Anchors) > 0 {
		behind, err := s.behindAnchors(s.hunk.Anchors)
		if err != nil {
			return 0, err
		}
		from = max(from, behind)
	}
	switch all := s.places(from, true); len(all) {
	case 0:
		return 0, s.noMatch(from, from)
	case 1:
		return all[0], nil
	default:
		help := "more lines around the change, or an anchor above it, tell the places apart"
		return 0, ambiguous(all, 1, help)
	}
}

// added returns the place of a hunk without a number and without old lines.
func (s *search) added() (int, *ambit.Error) {
	anchors := s.hunk.Anchors
	count := s.text.count()
	if len(anchors) == 0 {
		if count == 0 || s.last {
			return count, nil
		}
		return 0, &ambit.Error{
			Reason: ambit.ErrAmbiguous, Total: count + 1,
			Detail: "the hunk adds lines and does not say where: it has no line of the file, no anchor, and is not at the end of the file",
		}
	}
	if s.hunk.EndOfFile {
		_, err := s.behindAnchors(anchors)
		return count, err
	}
	from, err := s.behindAnchors(anchors[:len(anchors)-1])
	if err != nil {
		return 0, err
	}
	var all []int
	found := false
	for _, i := range s.named(anchors[len(anchors)-1], from, false) {
		found = true
		if s.allowed(i + 1) {
			all = append(all, i+1)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return 0, ambiguous(all, 0, fmt.Sprintf("several lines are the anchor %s", quoted(anchors[len(anchors)-1])))
	case found:
		return 0, &ambit.Error{
			Reason: ambit.ErrNoMatch,
			Detail: fmt.Sprintf("the anchor %s stands only above the end of the hunk before", quoted(anchors[len(anchors)-1])),
		}
	}
	return 0, s.noAnchor(anchors[len(anchors)-1], from)
}

// behindAnchors returns the index of the line behind the earliest lines that the
// anchors name, one after the other.
func (s *search) behindAnchors(anchors []string) (int, *ambit.Error) {
	at := 0
	for _, anchor := range anchors {
		named := s.named(anchor, at, true)
		if len(named) == 0 {
			return 0, s.noAnchor(anchor, at)
		}
		at = named[0] + 1
	}
	return at, nil
}

// named returns the indexes of the lines that the anchor names, from the one
// with the index from on; of all of them, or with first of the earliest alone.
func (s *search) named(anchor string, from int, first bool) []int {
	whole := []byte(strings.TrimRight(anchor, blank))
	trimmed := bytes.TrimLeft(whole, blank)
	indented := len(trimmed) < len(whole)
	var alike, exact []int
	for i := range s.like(string(trimmed), from) {
		same := bytes.Equal(bytes.TrimRight(s.text.line(i), blank), whole)
		if first && (same || !indented) {
			return []int{i}
		}
		if same {
			exact = append(exact, i)
		}
		if !first || len(alike) == 0 {
			alike = append(alike, i)
		}
	}
	if indented && len(exact) > 0 {
		return exact
	}
	return alike
}

// like returns the indexes of the lines that are text but for white space around
// them, from the one with the index from on.
func (s *search) like(text string, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		found := func(i int) bool {
			line := bytes.TrimRight(s.text.line(i), blank)
			return len(line) >= len(text) && string(line[len(line)-len(text):]) == text && string(bytes.TrimLeft(line, blank)) == text
		}
		if x := s.text.indexed(); x != nil {
			for _, i := range x.lines(text, from) {
				if !s.text.step(1) || found(int(i)) && !yield(int(i)) {
					return
				}
			}
			return
		}
		s.text.scans++
		for i := from; i < s.text.count(); i++ {
			if !s.text.step(1) || found(i) && !yield(i) {
				return
			}
		}
	}
}

// blank is the white space around the text of a line.
const blank = " \t\r\n\v\f"

func trim(line string) string { return strings.Trim(line, blank) }

func (s *search) noAnchor(anchor string, from int) *ambit.Error {
	detail := fmt.Sprintf("no line is the anchor %s", quoted(anchor))
	if from > 0 {
		detail += fmt.Sprintf(" below line %d, which the anchor before it names", from)
	}
	e := &ambit.Error{Reason: ambit.ErrNoMatch, Detail: detail}
	s.hint(func() {
		if i, how := s.resembles(trim(anchor), from); how != "" {
			e.Lines = []int{i + 1}
			line := string(bare(s.text.line(i)))
			e.Detail += fmt.Sprintf("; line %d %s it: %s", i+1, how, shown(line, anchor))
		}
	})
	return e
}

// maxLines is how many line numbers an error carries at most.
const maxLines = 20

// ambiguous returns the error of a hunk that fits in several places; shift is
// added to their indexes to make them the numbers of lines.
func ambiguous(places []int, shift int, detail string) *ambit.Error {
	e := &ambit.Error{Reason: ambit.ErrAmbiguous, Total: len(places), Detail: detail}
	e.Lines = slices.Clone(places[:min(len(places), maxLines)])
	for i := range e.Lines {
		e.Lines[i] += shift
	}
	return e
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// placeWhole finds whether the hunks, one after the other, are the whole text.
func placeWhole(t *text, hunks []Hunk) ([]placed, []misfit) {
	whole := Hunk{Line: hunks[0].Line, EndOfFile: true}
	var all []placed
	at := 0
	for i := range hunks {
		all = append(all, placed{hunk: &hunks[i], at: at, old: len(hunks[i].Lines)})
		at += len(hunks[i].Lines)
		whole.Lines = append(whole.Lines, hunks[i].Lines...)
	}
	s := &search{text: t, hunk: &whole}
	for _, l := range whole.Lines {
		s.old = append(s.old, l.Text)
	}
	if len(s.old) == t.count() && s.fits(0, true) {
		return all, nil
	}
	e := &ambit.Error{Reason: ambit.ErrNoMatch, Detail: "the file has other content than the patch deletes"}
	if t.count() == 0 {
		e.Detail += ": it is empty"
	} else {
		e.Detail += ": " + s.difference(0)
	}
	return nil, []misfit{{&hunks[0], e}}
}
