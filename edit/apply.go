// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"context"

	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/splice"
)

// Apply makes all ops on the content of a file, or none: each sees the content
// as it is given, and two that change the same text are [ambit.ErrInvalid]. It
// does no I/O and leaves content alone.
//
// The reasons of its errors are [ambit.ErrInvalid], [ambit.ErrNoMatch],
// [ambit.ErrAmbiguous], [ambit.ErrOutOfRange] and [ambit.ErrNotText].
func Apply(content []byte, ops []Op, o *Options) (Result, error) {
	if o == nil {
		o = &Options{}
	}
	ops, err := checked(ops, o)
	if err != nil {
		return Result{}, err
	}
	r, _, err := apply(context.Background(), content, ops, o, "")
	return r, err
}

// apply makes checked ops on the content of the file at path; changed is false
// when the new content is the old one.
func apply(ctx context.Context, content []byte, ops []Op, o *Options, path string) (r Result, changed bool, err error) {
	doc, err := charset.Decode(content, o.Encoding)
	if err != nil {
		return Result{}, false, err
	}
	s := &source{memory: doc.Text(), size: int64(len(doc.Text()))}
	p := &planner{ctx: ctx, source: s, hasBOM: len(doc.BOM()) > 0, ops: ops, o: o}
	plan, err := p.resolve()
	if err != nil {
		return Result{}, false, err
	}
	text := make([]byte, 0, plan.size(s))
	for _, part := range plan.parts(s) {
		text = append(text, part.Bytes...)
	}
	if r, err = plan.result(s, path); err != nil {
		return Result{}, false, err
	}
	if r.Content, err = doc.Encode(text); err != nil {
		return Result{}, false, err
	}
	return r, !bytes.Equal(r.Content, content), nil
}

// size returns the size of the new text.
func (r *plan) size(s *source) int64 {
	n := s.size
	for _, c := range r.changes {
		n += int64(len(c.text)) - (c.end - c.start)
	}
	return n
}

// parts returns the new text of s as what stays and what is new.
func (r *plan) parts(s *source) []splice.Part {
	parts := make([]splice.Part, 0, 2*len(r.changes)+1)
	var at int64
	fresh := false // the last part is our own
	keep := func(to int64) {
		fresh = fresh && at == to
		switch {
		case at == to:
		case s.file == nil:
			parts = append(parts, splice.Part{Bytes: s.memory[at:to]})
		default:
			parts = append(parts, splice.Part{Source: s.file, Offset: s.base + at, Length: to - at})
		}
	}
	for _, c := range r.changes {
		keep(c.start)
		switch last := len(parts) - 1; {
		case c.text == "":
		case c.start == at && last >= 0 && fresh:
			parts[last].Bytes = append(parts[last].Bytes, c.text...)
		default:
			parts = append(parts, splice.Part{Bytes: []byte(c.text)})
			fresh = true
		}
		at = c.end
	}
	keep(s.size)
	return parts
}

// result tells what the changes did, but for the new content.
func (r *plan) result(s *source, path string) (Result, error) {
	result := Result{Edits: make([]Edit, len(r.changes))}
	for i, c := range r.changes {
		result.Edits[i] = c.edit
	}
	var err error
	result.Diff, result.DiffClipped, err = r.diff(s, path)
	return result, err
}
