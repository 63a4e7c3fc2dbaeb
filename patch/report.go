// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// Report tells what a patch has done or would do. It can be written as JSON and
// read back.
type Report struct {
	Files []File // one for each section, in order

	// Diff is all that the patch changes, as a unified diff with the headers of
	// git, whose names are the canonical paths without their first slash behind
	// "a/" and "b/". Of a file in UTF-16 it shows the text, and no byte order mark
	// that stays. It is empty if there are problems.
	Diff        string
	DiffClipped bool // the diff lacks what would make it longer than 1 MiB, and what comes after that

	Problems []Problem // why nothing was done, in the order of the patch
	Applied  bool      // all of the patch is done; false for a dry run
}

// File is what became of one section of the patch.
type File struct {
	Line        int // of the section's first line in the patch
	Action      Action
	Path        string         // canonical, as far as it is known; else as in the patch
	To          string         // the same of the new name, "" where the name is kept
	Before      ambit.FileInfo // what was at Path before the patch; zero: nothing
	After       ambit.FileInfo // what is at To, else at Path, after the whole patch, or still if it is not done; zero: nothing. Of a dry run it has path, size and mode alone
	CreatedDirs []string       // canonical paths of the folders made for it, outermost first
	Hunks       []Placement    // where its hunks fit, in order
	State       State
}

// State is how a file was left.
type State string

// The states.
const (
	StateApplied   State = "applied"   // as the patch wants it
	StateUnchanged State = "unchanged" // as it was before the call
	StateUnknown   State = "unknown"   // one or the other: ErrPartial, ErrOutcomeUnknown
)

// Placement tells where a hunk fits.
type Placement struct {
	Line int `json:"line"` // of the hunk's first line in the patch

	// At is the 1-based number that the first old line of the hunk has in the
	// file, as it is before the section. If the hunk has none, it is the number
	// that the first line has which it adds.
	At int `json:"at"`
}

// Problem is a reason not to apply a patch.
type Problem struct {
	Line int    // of the section or hunk in the patch that cannot be applied; 0: of none
	Path string // as the patch has it
	Err  *ambit.Error
}

// op is the operation of the errors of Apply.
const op = "patch"

// addProblem records that what stands on a line of the patch about a path
// cannot be done, because of err.
func (r *Report) addProblem(line int, path string, err error) {
	e, _ := ambit.Wrap(op, path, err).(*ambit.Error)
	r.Problems = append(r.Problems, Problem{Line: line, Path: path, Err: e})
}

// maxDetail is the length in bytes up to which problems are told in one error.
const maxDetail = 2000

// err returns the problems as one error, that of the first one with the others
// in its detail, nil if there are none.
func (r *Report) err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int { return a.Line - b.Line })
	e := *r.Problems[0].Err
	if len(r.Problems) == 1 {
		e.Detail = at(r.Problems[0].Line, cmp.Or(e.Detail, cause(e)))
		return &e
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems", len(r.Problems))
	separator := ": "
	for i, p := range r.Problems {
		told := *p.Err
		told.Op = ""
		text := at(p.Line, told.Error())
		if b.Len()+len(separator)+len(text) > maxDetail {
			if i == 0 {
				b.WriteString(separator + clip(text, maxDetail/2))
				i++
			}
			fmt.Fprintf(&b, "; and %d more", len(r.Problems)-i)
			break
		}
		b.WriteString(separator + text)
		separator = "; "
	}
	e.Detail = b.String()
	return &e
}

// cause returns what an error without a detail says of its cause, which a detail
// would hide.
func cause(e ambit.Error) string {
	bare := ambit.Error{Reason: e.Reason, Err: e.Err}
	text, _ := strings.CutPrefix(bare.Error(), string(e.Reason))
	return strings.TrimPrefix(text, ": ")
}

// at puts the line of the patch before what is said of it.
func at(line int, text string) string {
	switch {
	case line == 0:
		return text
	case text == "":
		return fmt.Sprintf("line %d of the patch", line)
	}
	return fmt.Sprintf("line %d of the patch: %s", line, text)
}

// clip returns the text cut to n bytes, on a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
