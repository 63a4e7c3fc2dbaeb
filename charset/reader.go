// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"context"
	"io"

	"github.com/ambitfs/ambit"
)

// NewReader returns a reader of the text of r's content, which is in the encoding
// e: UTF-8, without a byte order mark. It gives what [Decode] gives for the whole
// content, in little memory however much that is: where Decode refuses the
// content, Read gives the text before the offending sequence and then the same
// [ambit.ErrNotText]. Under the zero Encoding only the first bytes are looked at,
// and the rest is passed on, but for UTF-16 behind its mark.
//
// What r fails with comes after the text of all bytes before it, as
// [ambit.Content] passes it on. The reader is for one goroutine at a time.
func NewReader(r io.Reader, e Encoding) io.Reader {
	return &reader{source: ambit.Content(context.Background(), r, 0), encoding: e}
}

// readSize is how much a reader asks its source for at a time.
const readSize = 16 << 10

type reader struct {
	source   io.Reader
	encoding Encoding // as asked for

	begun   bool
	decoder *decoder // nil: bytes are passed on

	raw   []byte // read and not yet decoded
	space []byte // the room that raw is in
	ended error  // of source, once there is nothing more to read

	text []byte // decoded and not yet given
	room []byte // the room that text is in
	err  error  // for when all text is given
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case len(r.text) > 0:
			n := copy(p, r.text)
			r.text = r.text[n:]
			return n, nil
		case r.err != nil:
			return 0, r.err
		case !r.begun:
			r.begin()
		case r.decoder == nil:
			return r.pass(p)
		default:
			r.advance()
		}
	}
}

// begin reads until it is known what the first bytes say.
func (r *reader) begin() {
	b, more, err := begin(r.raw, r.encoding, false)
	if more || len(r.raw) == 0 {
		if r.ended == nil {
			r.fill()
			return
		}
		b, _, err = begin(r.raw, r.encoding, true)
		if err != nil && r.ended != io.EOF {
			err = r.ended // there would have been more
		}
	}
	if err != nil {
		r.err = err
		return
	}
	r.begun = true
	r.raw = r.raw[b.mark:]
	if !b.asItIs && b.encoding.name != utf16Name { // UTF16 is left for empty content only
		r.decoder = newDecoder(b.encoding, int64(b.mark), readSize)
	}
}

// fill reads once behind what there is.
func (r *reader) fill() {
	if r.space == nil {
		r.space = make([]byte, readSize)
	}
	kept := copy(r.space, r.raw) // never all of it: what is kept is a mark or a cut sequence
	n, err := r.source.Read(r.space[kept:])
	r.raw = r.space[:kept+n]
	r.ended = err
}

// pass gives the bytes as they are.
func (r *reader) pass(p []byte) (int, error) {
	if len(r.raw) > 0 {
		n := copy(p, r.raw)
		r.raw = r.raw[n:]
		return n, nil
	}
	if r.ended != nil {
		r.err = r.ended
		return 0, r.err
	}
	r.space, r.raw = nil, nil
	n, err := r.source.Read(p)
	r.ended = err
	return n, err
}

// advance decodes what there is, after reading more if that is too little.
func (r *reader) advance() {
	last := r.ended == io.EOF
	text, n, err := r.decoder.appendText(r.room[:0], r.raw, last)
	r.raw, r.text, r.room = r.raw[n:], text, text
	switch {
	case err != nil:
		r.err = err
	case r.ended != nil:
		r.err = r.ended
	case n == 0:
		r.fill()
	}
}
