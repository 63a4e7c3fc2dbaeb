// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/lines"
)

// check returns the faults that a section has by itself. A patch that was parsed
// has none; one can be made by hand.
func (s *Section) check() (faults []Problem) {
	fault := func(line int, format string, args ...any) {
		e := &ambit.Error{Op: op, Path: s.Path, Reason: ambit.ErrInvalid, Detail: fmt.Sprintf(format, args...)}
		faults = append(faults, Problem{Line: line, Path: s.Path, Err: e})
	}
	switch s.Action {
	case Add, Delete:
		if s.To != "" {
			fault(s.Line, "a section to %s a file has a second name", s.Action)
		}
	case Update:
		if len(s.Hunks) == 0 && s.To == "" && s.Mode == 0 {
			fault(s.Line, "the section changes nothing")
		}
	case Copy:
		if s.To == "" {
			fault(s.Line, "the copy has no name")
		}
	default:
		fault(s.Line, "the section's action is %q", string(s.Action))
	}
	if s.Mode != s.Mode.Perm() {
		fault(s.Line, "the mode %v is not that of a regular file", s.Mode)
	}
	if s.Action == Add && len(s.Hunks) > 1 {
		fault(s.Hunks[1].Line, "a new file has one hunk")
	}
	for i := range s.Hunks {
		if text := s.Hunks[i].fault(s.Action); text != "" {
			fault(s.Hunks[i].Line, "%s", text)
		}
	}
	return faults
}

// fault returns what is wrong with the hunk by itself, "" for nothing.
func (h *Hunk) fault(a Action) string {
	if len(h.Lines) == 0 && a != Add && a != Delete {
		return "the hunk has no lines"
	}
	if h.Start < 0 {
		return fmt.Sprintf("the hunk begins at line %d", h.Start)
	}
	for _, anchor := range h.Anchors {
		if strings.Trim(anchor, blank) == "" {
			return "an anchor is blank"
		}
	}
	for i, l := range h.Lines {
		switch {
		case l.Kind != Context && l.Kind != Removed && l.Kind != Added:
			return fmt.Sprintf("line %d of the hunk is of the kind %q", i+1, rune(l.Kind))
		case a == Add && l.Kind != Added:
			return "a new file has no lines before"
		case a == Delete && l.Kind == Added:
			return "a line is added to a file that goes"
		case l.Text == "" || strings.Contains(bare(l.Text), "\n"):
			return fmt.Sprintf("line %d of the hunk is not one line: %s", i+1, quoted(l.Text))
		}
	}
	for _, side := range []LineKind{Removed, Added} {
		ended := false
		for _, l := range h.Lines {
			if l.Kind != Context && l.Kind != side {
				continue
			}
			if ended {
				return "a line without an ending has others behind it"
			}
			ended = lines.Ending(l.Text) == ""
		}
	}
	return ""
}
