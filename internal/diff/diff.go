// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package diff writes unified diffs of texts of which it is known where they
// differ.
package diff

import (
	"bytes"
	"strconv"
	"strings"

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
	names := "--- " + Header(oldName) + "\n+++ " + Header(newName) + "\n"
	shift := 0
	for _, r := range regions {
		for _, h := range r.hunks() {
			head := names + "@@ -" + span(r.Line+h.old, h.removed) + " +" + span(r.Line+shift+h.new, h.added) + " @@\n"
			if limit > 0 && b.Len()+len(head)+h.text.Len() > limit {
				return b.String(), true
			}
			b.WriteString(head)
			b.Write(h.text.Bytes())
			names = "" // they stand once
		}
		shift += lines.Count(r.After) - lines.Count(r.Before)
	}
	return b.String(), false
}

// span is how a hunk's header names lines, by the first and their number. Of no
// lines it names the one before.
func span(first, count int) string {
	switch count {
	case 0:
		return strconv.Itoa(first-1) + ",0"
	case 1:
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "," + strconv.Itoa(count)
}

// hunk is changes that are close to each other, with the lines around them.
type hunk struct {
	old, new       int // lines of the region before it
	removed, added int // lines that it has of each text
	text           bytes.Buffer
}

func (h *hunk) add(sign byte, all [][]byte) {
	for _, line := range all {
		h.text.WriteByte(sign)
		h.text.Write(line)
		if lines.Ending(line) == "" {
			h.text.WriteString("\n\\ No newline at end of file\n")
		}
		if sign != '+' {
			h.removed++
		}
		if sign != '-' {
			h.added++
		}
	}
}

// hunks returns the hunks of the region.
func (r Region) hunks() (all []*hunk) {
	before := lines.Split(r.Before)
	at, offset := 0, 0 // what of Before is dealt with, in lines and in bytes
	shift := 0         // how many lines more After has of it
	var h *hunk
	for _, edit := range udiff.Lines(string(r.Before), string(r.After)) {
		start := at
		for ; offset < edit.Start; start++ {
			offset += len(before[start])
		}
		end := start
		for ; offset < edit.End; end++ {
			offset += len(before[end])
		}
		if h != nil && start-at > 2*Context {
			h.add(' ', before[at:at+Context])
			h = nil
		}
		if h == nil {
			at = max(start-Context, at)
			h = &hunk{old: at, new: at + shift}
			all = append(all, h)
		}
		added := lines.Split([]byte(edit.New))
		h.add(' ', before[at:start])
		h.add('-', before[start:end])
		h.add('+', added)
		at = end
		shift += len(added) - (end - start)
	}
	if h != nil {
		h.add(' ', before[at:min(at+Context, len(before))])
	}
	return all
}

// Whole returns the one region of two texts, nil where they are the same.
func Whole(before, after []byte) []Region {
	if bytes.Equal(before, after) {
		return nil
	}
	return []Region{{Line: 1, Before: before, After: after}}
}
