// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/lines"
	"github.com/ambitfs/ambit/lineaddr"
)

// change replaces text[start:end] by text.
type change struct {
	start, end int64
	line       int // of start, 1-based; of the end of a text without a final newline the last
	text       string
	edit       Edit
	whole      bool // of whole lines
	endsInCR   bool // as content: the ending behind it is an LF alone
}

// plan is what the ops of one call do to a text.
type plan struct {
	changes []change // in order, apart from each other
}

// planner resolves ops to changes of one text.
type planner struct {
	ctx    context.Context
	source *source
	hasBOM bool
	ops    []Op // checked
	o      *Options

	missed int           // how many texts were not found
	total  int           // lines; -1 where nobody needs to know
	starts map[int]int64 // offsets of lines; -1: not there

	// Of the line that was asked for last.
	endingOf int
	ending   string
}

// resolve finds what all ops do to the text as it is. It changes nothing.
func (p *planner) resolve() (*plan, error) {
	p.starts, p.ops = make(map[int]int64), slices.Clone(p.ops)
	var searches []*search
	for i, op := range p.ops {
		switch op := op.(type) {
		case Replace:
			searches = append(searches, newSearch(op, p.hasBOM))
		case Rewrite:
			// Who reads a file of nothing but a byte order mark sees a line.
			if p.hasBOM && p.source.size == 0 && op.Range == (lineaddr.Range{Start: 1, End: 1}) {
				op.Range.End = 0
				p.ops[i] = op
			}
			p.starts[op.Range.Start] = -1
			if end := op.Range.End; end > 0 && end < math.MaxInt {
				p.starts[end+1] = -1
			}
		case Insert:
			if p.hasBOM && p.source.size == 0 && op.After == 1 {
				op.After = 0
				p.ops[i] = op
			}
			if op.After < math.MaxInt {
				p.starts[op.After+1] = -1
			}
		}
	}
	var err error
	if p.total, err = scan(p.ctx, p.source, searches, p.starts); err != nil {
		return nil, err
	}
	result := &plan{}
	var faults []*ambit.Error
	next := 0
	for i, op := range p.ops {
		var changes []change
		var err error
		switch op := op.(type) {
		case Replace:
			changes, err = p.replace(i, op, searches[next])
			next++
		case Rewrite:
			changes, err = p.rewrite(i, op)
		case Insert:
			changes, err = p.insert(i, op)
		}
		var fault *ambit.Error
		switch {
		case errors.As(err, &fault) && isOfOp(fault.Reason):
			faults = append(faults, fault)
		case err != nil:
			return nil, err
		}
		result.changes = append(result.changes, changes...)
	}
	if len(faults) > 0 {
		return nil, together(faults)
	}
	slices.SortStableFunc(result.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	for i := 1; i < len(result.changes); i++ {
		if a, b := result.changes[i-1], result.changes[i]; b.start < a.end {
			return nil, &ambit.Error{
				Reason: ambit.ErrInvalid, Lines: []int{a.edit.Before.First, b.edit.Before.First},
				Detail: fmt.Sprintf("edits %d and %d change the same text, in line %d", a.edit.Op+1, b.edit.Op+1, b.edit.Before.First),
			}
		}
	}
	if err := p.keepWhole(result); err != nil {
		return nil, err
	}
	if err := p.keepEncoding(); err != nil {
		return nil, err
	}
	if err := p.settleEnd(result); err != nil {
		return nil, err
	}
	shift := 0
	for i := range result.changes {
		c := &result.changes[i]
		c.edit.After.First = c.edit.Before.First + shift
		shift += c.edit.After.Count - c.edit.Before.Count
	}
	return result, nil
}

// isOfOp reports that r says what is wrong with one op, and leaves the others to
// be judged.
func isOfOp(r ambit.Reason) bool {
	return r == ambit.ErrNoMatch || r == ambit.ErrAmbiguous || r == ambit.ErrOutOfRange
}

// maxTold is how much of the details of all ops that fail an error has, in bytes.
const maxTold = 4 << 10

// together is the first of the errors, with the details of all.
func together(faults []*ambit.Error) error {
	if len(faults) == 1 {
		return faults[0]
	}
	e := *faults[0]
	told := e.Detail
	for i, other := range faults[1:] {
		if len(told) > maxTold {
			told += fmt.Sprintf("; and %d more", len(faults)-1-i)
			break
		}
		which, why, _ := strings.Cut(other.Detail, ": ")
		told += "; " + which + ": " + string(other.Reason)
		if other.Reason == ambit.ErrAmbiguous {
			told += fmt.Sprintf(" in lines %v", other.Lines)
		} else if why != "" {
			told += ", " + why
		}
	}
	e.Detail = told
	return &e
}

// keepWhole refuses changes of whole lines where a Replace takes away the end of
// the line before.
func (p *planner) keepWhole(r *plan) error {
	ending, err := p.source.endingBefore(p.source.size)
	if err != nil {
		return err
	}
	for i := 1; i < len(r.changes); i++ {
		a, b := r.changes[i-1], r.changes[i]
		atEnd := b.start == p.source.size && b.start > 0 && ending == "" && (!a.whole || a.start == b.start) // there the last line gets an ending
		if !b.whole || b.text == "" || a.end < b.start || atEnd {
			continue
		}
		if before, err := p.tail(r, i, 1); err != nil {
			return err
		} else if before != "" && before != "\n" {
			return &ambit.Error{
				Reason: ambit.ErrInvalid, Lines: []int{a.edit.Before.First, b.edit.Before.First},
				Detail: fmt.Sprintf("edit %d takes away the end of the line behind which edit %d puts whole lines", a.edit.Op+1, b.edit.Op+1),
			}
		}
	}
	return nil
}

// helped is for how many texts that are not found it is told what is like them,
// which takes several looks at all of the file.
const helped = 4

// replace resolves a Replace by what was found.
func (p *planner) replace(i int, op Replace, s *search) ([]change, error) {
	tolerant := false
	if s.total == 0 && p.o.Match == Tolerant {
		var err error
		if s, err = p.tolerate(s); err != nil {
			return nil, err
		}
		tolerant = s.total > 0
	}
	places := s.places
	switch {
	case s.total == 0:
		var err error = &ambit.Error{Reason: ambit.ErrNoMatch}
		if p.missed++; p.missed <= helped {
			err = p.missing(op)
		}
		if e, ok := err.(*ambit.Error); ok {
			err = opError(p.ops, i, e)
		}
		return nil, err
	case op.All:
		places = apart(places)
	case op.Occurrence > s.total:
		return nil, opError(p.ops, i, &ambit.Error{
			Reason: ambit.ErrNoMatch, Lines: linesOf(places),
			Detail: fmt.Sprintf("occurrence %d was asked for, and the text occurs %s", op.Occurrence, times(s.total)),
		})
	case op.Occurrence > 0:
		n := min(op.Occurrence, listed+1, len(places))
		places = places[n-1 : n]
	case s.total > 1:
		return nil, opError(p.ops, i, &ambit.Error{
			Reason: ambit.ErrAmbiguous, Lines: linesOf(places[:min(len(places), listed)]), Total: s.total,
			Detail: "give more of the text around it, or say which or all",
		})
	}
	s.places = nil
	changes := make([]change, len(places))
	for j, at := range places {
		c := &changes[j]
		*c = change{start: at.start, end: at.end, line: at.line, text: op.New, edit: Edit{Op: i, Tolerant: tolerant}}
		old, err := p.source.span(at.start, at.end)
		if err != nil {
			return nil, err
		}
		if s.atStart != nil && at.start == 0 && !bytes.HasPrefix(old, []byte(bom)) {
			c.text = strings.TrimPrefix(c.text, bom) // Old's own is the file's, which stays
		}
		if strings.Contains(op.New, "\n") && !strings.Contains(op.Old, crlf) {
			otherwise := "\n"
			if !strings.Contains(string(old), "\n") {
				if p.endingOf != at.line {
					p.endingOf = at.line
					if p.ending, err = p.source.endingAt(at.end); err != nil {
						return nil, err
					}
				}
				otherwise = p.ending
			}
			c.text = withEndings(c.text, string(old), otherwise)
		}
		if err := p.measure(c, at.line, string(old)); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// measure sets the lines of a change that begins in the line, and replaces old.
func (p *planner) measure(c *change, line int, old string) error {
	before, err := p.source.endingBefore(c.start)
	if err != nil {
		return err
	}
	partBefore := c.start > 0 && before == ""
	c.edit.Before = Lines{First: line, Count: lines.Count([]byte(old))}
	open := c.text == "" && partBefore || c.text != "" && !strings.HasSuffix(c.text, "\n") // the next byte is of the same line
	partBehind := c.end < p.source.size && !strings.HasSuffix(old, "\n")
	if c.end < p.source.size && !partBehind && open {
		// The line behind is joined to it.
		c.edit.Before.Count++
		partBehind = true
	}
	c.edit.After.Count = strings.Count(c.text, "\n")
	if partBehind || open {
		c.edit.After.Count++
	}
	return nil
}

// start returns the offset at which a line begins, with one behind the last.
func (p *planner) start(line int) (offset int64, ok bool) {
	offset = p.starts[line]
	if offset < 0 && p.total >= 0 && line == p.total+1 {
		return p.source.size, true
	}
	return offset, offset >= 0
}

// rewrite resolves a Rewrite.
func (p *planner) rewrite(i int, op Rewrite) ([]change, error) {
	first, last := op.Range.Start, op.Range.End
	start, ok := p.start(first)
	if last == 0 {
		last = p.total
	}
	if p.total >= 0 && (first > p.total || last > p.total) && (p.total > 0 || op.Range.Start != 1 || op.Range.End != 0) {
		e := &ambit.Error{Reason: ambit.ErrOutOfRange, Total: p.total}
		if p.total == 0 {
			e.Detail = "the file is empty: its whole is the range 1-"
		}
		return nil, opError(p.ops, i, e)
	}
	end := p.source.size
	if ok && op.Range.End != 0 {
		end, ok = p.start(last + 1)
	}
	if !ok {
		return nil, opError(p.ops, i, &ambit.Error{Reason: ambit.ErrOutOfRange, Total: max(p.total, 0)})
	}
	old, count, err := p.source.lines(start, end)
	if err != nil {
		return nil, err
	}
	c, err := p.lines(i, op.Text, start, end, old)
	c.line, c.edit.Before = first, Lines{First: first, Count: count}
	return []change{c}, err
}

// insert resolves an Insert.
func (p *planner) insert(i int, op Insert) ([]change, error) {
	if p.total >= 0 && op.After > p.total {
		return nil, opError(p.ops, i, &ambit.Error{Reason: ambit.ErrOutOfRange, Total: p.total})
	}
	start, _ := p.start(op.After + 1)
	c, err := p.lines(i, op.Text, start, start, "")
	c.line, c.edit.Before = op.After+1, Lines{First: op.After + 1}
	return []change{c}, err
}

// lines is the change of whole lines, which are old, to text, each line of which
// gets an ending.
func (p *planner) lines(i int, text string, start, end int64, old string) (change, error) {
	c := change{start: start, end: end, whole: true, edit: Edit{Op: i}}
	if start == 0 && p.hasBOM {
		text = strings.TrimPrefix(text, bom)
	}
	if text == "" {
		return c, nil
	}
	ending := lines.Ending(old[:strings.LastIndexByte(old, '\n')+1])
	if ending == "" {
		var err error
		if ending, err = p.source.endingBefore(start); err != nil {
			return c, err
		}
	}
	if ending == "" {
		var err error
		if ending, err = p.source.endingAt(end); err != nil {
			return c, err
		}
	}
	_, whole := p.ops[i].(Rewrite)
	whole = whole && p.source.size == 0 // the text is the file
	c.endsInCR = strings.HasSuffix(text, "\r")
	if !strings.HasSuffix(text, "\n") && !whole {
		text += "\n" // as a bare one, it gets the ending of the place
	}
	if old != "" && lines.Ending(old) == "" {
		old += ending
	}
	c.text = withEndings(text, old, ending)
	c.edit.After.Count = lines.Count([]byte(c.text))
	return c, nil
}

// settleEnd keeps a text without a final newline without one, where changes of
// whole lines are made at its end: they were resolved as if it had one.
func (p *planner) settleEnd(r *plan) error {
	size := p.source.size
	ending, err := p.source.endingBefore(size)
	if err != nil || ending != "" || size == 0 {
		return err
	}
	first := len(r.changes) // of the changes of whole lines at the end
	covered := false        // the last line itself is rewritten
	for first > 0 && r.changes[first-1].whole && r.changes[first-1].end == size {
		first--
		if r.changes[first].start < size {
			covered = true
		} else {
			r.changes[first].line--
		}
	}
	if first == len(r.changes) {
		return nil
	}
	before, err := p.tail(r, first, 1)
	if err != nil {
		return err
	}
	if !covered && before != "" && before != "\n" {
		ending, err := p.source.endingAt(size)
		if err != nil {
			return err
		}
		r.changes[first].text = ending + r.changes[first].text
	}
	tail, err := p.tail(r, len(r.changes), 3)
	if err != nil {
		return err
	}
	ending = lines.Ending(tail)
	for i := len(r.changes) - 1; i >= 0; i-- {
		c := r.changes[i]
		if c.text != "" && c.endsInCR {
			ending = "\n"
		}
		if c.text != "" || i > 0 && r.changes[i-1].end < c.start {
			break
		}
	}
	// An empty last line cannot do without its newline.
	if rest := strings.TrimSuffix(tail, ending); rest != "" && !strings.HasSuffix(rest, "\n") {
		r.cut(len(ending))
	}
	return nil
}

// tail returns up to n bytes of what the new text has right before the text of
// the change i, or at its end.
func (p *planner) tail(r *plan, i, n int) (tail string, err error) {
	to := p.source.size
	if i < len(r.changes) {
		to = r.changes[i].start
	}
	for i--; len(tail) < n; i-- {
		var from int64
		if i >= 0 {
			from = r.changes[i].end
		}
		kept, err := p.source.span(max(from, to-int64(n-len(tail))), to)
		if err != nil {
			return "", err
		}
		tail = string(kept) + tail
		if i < 0 {
			break
		}
		text := r.changes[i].text
		tail = text[max(0, len(text)-(n-len(tail))):] + tail
		to = r.changes[i].start
	}
	return tail, nil
}

// cut takes n bytes off the end of the new text, where the last change is at the
// end of the old one.
func (r *plan) cut(n int) {
	for i := len(r.changes) - 1; i >= 0; i-- {
		c := &r.changes[i]
		k := min(n, len(c.text))
		c.text = c.text[:len(c.text)-k]
		if n -= k; n == 0 {
			return
		}
		var from int64
		if i > 0 {
			from = r.changes[i-1].end
		}
		if k := min(int64(n), c.start-from); k > 0 {
			c.start -= k
			c.line-- // it is of a line's ending
			if n -= int(k); n == 0 {
				return
			}
		}
	}
}

// apart returns the places, which are in order, without those that overlap one
// before them.
func apart(places []place) []place {
	kept := places[:0:0]
	var end int64
	for _, p := range places {
		if p.start >= end {
			kept, end = append(kept, p), p.end
		}
	}
	return kept
}

func linesOf(places []place) []int {
	var all []int
	for _, p := range places {
		all = append(all, p.line)
	}
	return all
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
