// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff writes unified diffs of texts of which it is known where they
// differ.
package diff

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/ambitfs/ambit/internal/lines"
)

// Context is how many unchanged lines stand around a change.
const Context = 3

// Region is a place where two texts differ: whole lines of both, from the same
// unchanged lines on, at least [Context] of them where there are so many, to the
// same unchanged lines. The lines between two regions are the same in both texts.
type Region struct {
	Line          int // 1-based number, in the old text, of the first line of Before
	Before, After []byte
}

// Unified returns the unified diff of two texts that differ in the regions,
// which are in order: "" where they do not differ. It leaves out all hunks from
// the one on with which it would be longer than limit bytes, if limit is not 0;
// then clipped is true.
func Unified(oldName, newName string, regions []Region, limit int) (text string, clipped bool) {
	var b strings.Builder
	shift := 0
	for _, r := range regions {
		before, after := string(r.Before), string(r.After)
		edits := udiff.Lines(before, after)
		u, err := udiff.ToUnifiedDiff("", "", before, edits, Context)
		if err != nil {
			panic("diff: edits of a text do not fit it: " + err.Error()) // both come from one call
		}
		for _, h := range u.Hunks {
			h.FromLine += r.Line - 1
			h.ToLine += r.Line - 1 + shift
		}
		u.From, u.To = name(oldName), name(newName)
		hunks := u.String()
		if b.Len() > 0 {
			// The two lines of the header stand once.
			_, hunks, _ = strings.Cut(hunks, "\n")
			_, hunks, _ = strings.Cut(hunks, "\n")
		}
		if limit > 0 && b.Len()+len(hunks) > limit {
			return b.String(), true
		}
		b.WriteString(hunks)
		shift += lines.Count(r.After) - lines.Count(r.Before)
	}
	return b.String(), false
}

// Whole returns the one region of two texts, nil where they are the same.
func Whole(before, after []byte) []Region {
	if bytes.Equal(before, after) {
		return nil
	}
	return []Region{{Line: 1, Before: before, After: after}}
}

// name returns the name of a file as it stands in a header: quoted as git does
// where it would not be read back, and with a tab behind it where it has a space,
// which ends it for GNU patch.
func name(name string) string {
	odd := !utf8.ValidString(name)
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			odd = true
		}
	}
	if !odd {
		if strings.Contains(name, " ") {
			name += "\t"
		}
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
