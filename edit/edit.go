// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/lineaddr"
)

// Op is one edit: a [Replace], [Rewrite] or [Insert].
type Op interface{ isOp() }

// Replace replaces the text Old by New, both literal: no character of either
// has a meaning of its own.
//
// Old must occur exactly once, overlapping places counted, unless All or
// Occurrence says otherwise: [ambit.ErrNoMatch] and [ambit.ErrAmbiguous]. An
// LF in Old matches a CRLF of the file too, and each LF of New then takes the
// ending of the place it lands in. An Old that holds a CRLF says which ending
// it wants: it and New are taken byte for byte.
//
// An empty Old, and a New that is Old, are [ambit.ErrInvalid]: the one is found
// everywhere, the other changes nothing.
type Replace struct {
	Old, New   string
	All        bool // every place, from the left, where places do not overlap
	Occurrence int  // 1: the first place, and so on; 0: the only one
}

// Rewrite replaces whole lines by Text, or removes them where Text is empty. A
// Text without a final newline takes the ending of the lines around it, one
// with a newline gets no second; other newlines of Text take the endings of the
// lines they replace. A file without a final newline keeps lacking it. A
// Range that goes past the last line is [ambit.ErrOutOfRange]; the whole of an
// empty file is {1, 0}.
type Rewrite struct {
	Range lineaddr.Range
	Text  string
}

// Insert adds Text as whole lines behind the line After, 0 for the beginning,
// by the rules of [Rewrite]. An empty Text is [ambit.ErrInvalid].
type Insert struct {
	After int
	Text  string
}

func (Replace) isOp() {}
func (Rewrite) isOp() {}
func (Insert) isOp()  {}

// Match says how the Old of a [Replace] is compared with the file.
type Match uint8

// The ways to compare.
const (
	// Exact compares byte by byte, but for line endings as [Replace] says.
	Exact Match = iota

	// Tolerant looks, where there is no exact place, for one that differs in
	// nothing but blanks at the ends of lines, Unicode spaces, typographic
	// quotes and dashes. It must be the only one, and does not go with All or
	// Occurrence. [Edit].Tolerant tells that it was needed.
	Tolerant
)

// Options says how to edit. A nil *Options means all defaults.
type Options struct {
	Match Match

	// Encoding is that of the file; Old, New and Text are UTF-8. The zero value
	// goes by the file's byte order mark and takes a file without one for UTF-8
	// or any other bytes that agree with ASCII: bytes that are not UTF-8 stay
	// as they are. New text beyond ASCII for a file that has such bytes and no
	// character in UTF-8 is [ambit.ErrNotText]: its encoding must be named.
	Encoding charset.Encoding

	// If is the version that the caller has seen, for [File]: another one, and
	// a missing file, are [ambit.ErrChanged] before anything is looked for, and
	// there is no second try. Only [ambit.IfVersion] goes.
	If ambit.Precondition

	// DryRun makes [File] do all but publish.
	DryRun bool

	// MaxBytes limits the size of a file that must be held in memory by [File]:
	// more is [ambit.ErrTooLarge]. 0 means [DefaultMaxBytes]. A file that can be
	// edited by streaming has no limit.
	MaxBytes int64
}

// DefaultMaxBytes is the value of [Options].MaxBytes that 0 stands for.
const DefaultMaxBytes = 64 << 20

// Result tells what the ops did.
type Result struct {
	// Content is the whole new content. It is nil where [File] edited a file
	// by streaming.
	Content []byte

	// Edits are the changed places in the order of the file: one for each op,
	// and one for each place of a [Replace] with All.
	Edits []Edit

	// Diff is the unified diff, "" where nothing changed.
	Diff string

	// DiffClipped tells that Diff leaves out hunks at its end, or all, for
	// their size.
	DiffClipped bool
}

// Edit is one changed place.
type Edit struct {
	Op       int   // index of the op
	Before   Lines // what it touched in the old text
	After    Lines // what stands there in the new text
	Tolerant bool  // Old was found only by [Tolerant]
}

// Lines is a run of lines. First is 1-based; where Count is 0 it is the line
// before which the run would stand.
type Lines struct{ First, Count int }

// Outcome tells what [File] did.
type Outcome struct {
	Result
	Before ambit.FileInfo // the file whose text was edited
	After  ambit.FileInfo // as published; zero in a dry run, Before where nothing changed
}

// checked returns the ops as values, or the fault of the first that is wrong by
// itself.
func checked(ops []Op, o *Options) ([]Op, error) {
	if len(ops) == 0 {
		return nil, invalid("there is no edit to make")
	}
	if o.Match > Tolerant {
		return nil, invalid(fmt.Sprintf("Match is %d", o.Match))
	}
	values := make([]Op, len(ops))
	for i, op := range ops {
		value, fault := check(op, o)
		if fault != "" {
			return nil, opError(ops, i, &ambit.Error{Reason: ambit.ErrInvalid, Detail: fault})
		}
		values[i] = value
	}
	return values, nil
}

// check returns the op as a value, and a sentence on what is wrong with it.
func check(op Op, o *Options) (value Op, fault string) {
	switch op := op.(type) {
	case *Replace:
		if op != nil {
			return check(*op, o)
		}
	case *Rewrite:
		if op != nil {
			return check(*op, o)
		}
	case *Insert:
		if op != nil {
			return check(*op, o)
		}
	case Replace:
		switch {
		case op.Old == "":
			fault = "Old, the text to search for, is empty"
		case op.Old == op.New:
			fault = "New is the same as Old"
		case op.Occurrence < 0:
			fault = fmt.Sprintf("Occurrence is %d", op.Occurrence)
		case op.All && op.Occurrence > 0:
			fault = "All and Occurrence exclude each other"
		case o.Match == Tolerant && (op.All || op.Occurrence > 0):
			fault = "Tolerant wants the only place: it does not go with All or Occurrence"
		}
		return op, fault
	case Rewrite:
		if err := op.Range.Check(); err != nil {
			fault = err.Error()
			if e, ok := err.(*ambit.Error); ok {
				fault = e.Detail
			}
		}
		return op, fault
	case Insert:
		switch {
		case op.After < 0:
			fault = fmt.Sprintf("After is %d", op.After)
		case op.Text == "":
			fault = "there is no text to insert"
		}
		return op, fault
	}
	return nil, "the edit is nil"
}

func invalid(detail string) error {
	return &ambit.Error{Reason: ambit.ErrInvalid, Detail: detail}
}

// opError makes e say which of several ops it speaks of.
func opError(ops []Op, i int, e *ambit.Error) *ambit.Error {
	if len(ops) > 1 {
		which := fmt.Sprintf("edit %d of %d", i+1, len(ops))
		if e.Detail == "" {
			e.Detail = which
		} else {
			e.Detail = which + ": " + e.Detail
		}
	}
	return e
}
