// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// The lines of the format's own, whole or as far as the name.
const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File: "
	deleteMark = "*** Delete File: "
	updateMark = "*** Update File: "
	moveMark   = "*** Move to: "
	eofMark    = "*** End of File"
)

// marked parses the format of [beginMark].
type marked struct {
	cursor
	ahead cursor // what upcoming found: no line between the two is other than empty
}

// parseMarked parses the text from the cursor on, which stands at the first line
// that counts.
func parseMarked(c cursor, closings []closing) (*Patch, error) {
	if c.own() != beginMark {
		return nil, invalid(c.number, "expected %q, not %s", beginMark, c.found())
	}
	c.crlf = strings.HasSuffix(c.line, "\r")
	p := marked{cursor: c}
	p.advance()
	var patch Patch
	for {
		p.skipBlank()
		if p.own() == endMark {
			break
		}
		s, err := p.section()
		if err != nil {
			return nil, err
		}
		patch.Sections = append(patch.Sections, s)
	}
	if len(patch.Sections) == 0 {
		return nil, invalid(p.number, "the patch is empty: expected %q, %q or %q and a name", addMark, deleteMark, updateMark)
	}
	p.advance()
	if err := p.closeWrapping(closings); err != nil {
		return nil, err
	}
	return &patch, nil
}

func (p *marked) section() (s Section, err *ambit.Error) {
	s.Line = p.number
	line := p.own()
	for _, m := range []struct {
		mark   string
		action Action
	}{{addMark, Add}, {deleteMark, Delete}, {updateMark, Update}} {
		if name, ok := strings.CutPrefix(line, m.mark); ok {
			s.Action, s.Path = m.action, name
		}
	}
	if s.Action == "" {
		return s, invalid(p.number, "expected %q, %q or %q and a name, or %q, not %s", addMark, deleteMark, updateMark, endMark, p.found())
	}
	if s.Path == "" {
		return s, invalid(p.number, "expected a name behind %q", line)
	}
	p.advance()
	switch s.Action {
	case Add:
		err = p.added(&s)
	case Update:
		err = p.updated(&s)
	}
	if err != nil {
		return s, err
	}
	p.skipBlank()
	if p.end || !strings.HasPrefix(p.line, "***") {
		want := "another section"
		if s.Action == Add {
			want = `a line that begins with "+", another section`
		}
		return s, invalid(p.number, "expected %s or %q, not %s", want, endMark, p.found())
	}
	return s, nil
}

// added reads the lines of a new file.
func (p *marked) added(s *Section) *ambit.Error {
	if !strings.HasPrefix(p.line, "+") {
		return nil
	}
	h := Hunk{Line: p.number}
	for strings.HasPrefix(p.line, "+") {
		h.Lines = append(h.Lines, Line{Kind: Added, Text: p.text()[1:]})
		p.advance()
	}
	s.Hunks = []Hunk{h}
	return nil
}

// updated reads where a file goes and its hunks.
func (p *marked) updated(s *Section) *ambit.Error {
	if name, ok := strings.CutPrefix(p.own(), moveMark); ok {
		if name == "" {
			return invalid(p.number, "expected a name behind %q", moveMark)
		}
		s.To = name
		p.advance()
	}
	for {
		h, ok, err := p.hunk(len(s.Hunks) == 0)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		s.Hunks = append(s.Hunks, h)
	}
	if len(s.Hunks) == 0 && s.To == "" {
		return invalid(p.number, "expected a hunk of %q, which line %d begins, not %s", s.Path, s.Line, p.found())
	}
	return nil
}

// hunk reads one hunk; ok is false where none begins. The first of a section may
// begin without its "@@".
func (p *marked) hunk(first bool) (h Hunk, ok bool, err *ambit.Error) {
	for strings.HasPrefix(p.upcoming(), "@@") {
		p.skipBlank()
		anchor, spaced := strings.CutPrefix(p.own(), "@@ ")
		if !spaced && anchor != "@@" {
			return h, false, invalid(p.number, `expected "@@", or "@@ " and a line of the file, not %s`, p.found())
		}
		if h.Line == 0 {
			h.Line = p.number
		}
		if spaced && anchor != "" {
			h.Anchors = append(h.Anchors, anchor)
		}
		p.advance()
	}
	if h.Line == 0 {
		if p.separates() {
			return h, false, nil
		}
		if !first {
			p.skipBlank()
			return h, false, invalid(p.number, `expected "@@", another section or %q, not %s`, endMark, p.found())
		}
		h.Line = p.number
	}
	changes := false
	for !p.end && !p.separates() {
		kind, text := Context, p.text()
		if !p.blank() {
			kind, text = LineKind(text[0]), text[1:]
		}
		if kind != Context && kind != Removed && kind != Added {
			break
		}
		changes = changes || kind != Context
		h.Lines = append(h.Lines, Line{Kind: kind, Text: text})
		p.advance()
	}
	switch {
	case len(h.Lines) == 0:
		return h, false, invalid(p.number, `expected a line that begins with " ", "-" or "+", not %s`, p.found())
	case p.own() == eofMark:
		h.EndOfFile = true
		p.advance()
	case !p.separates():
		return h, false, invalid(p.number, `expected a line that begins with " ", "-", "+", "@@" or "***", not %s`, p.found())
	}
	if !changes {
		return h, false, invalid(h.Line, `the hunk changes nothing: expected a line that begins with "-" or "+" in it`)
	}
	return h, true, nil
}

// upcoming returns the first line from the cursor on that is not empty, without
// its ending.
func (p *marked) upcoming() string {
	if p.ahead.number < p.number {
		p.ahead = p.cursor
		p.ahead.skipBlank()
	}
	return p.ahead.own()
}

// separates tells whether the cursor stands at what ends a hunk, or at empty
// lines before it, which are then no lines of the file.
func (p *marked) separates() bool {
	next := p.upcoming()
	return p.ahead.end || strings.HasPrefix(next, "@@") || strings.HasPrefix(next, "***") && next != eofMark
}
