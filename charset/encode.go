// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/transform"

	"github.com/ambitfs/ambit"
)

// encodeBehind returns bom and text in the encoding e, which is neither the zero
// value nor UTF16. What it returns decodes to text again.
func encodeBehind(bom, text []byte, e Encoding) ([]byte, error) {
	if n := validPrefix(text); n < len(text) {
		return nil, cannotWrite(text, n, e)
	}
	if e.name == utf8Name {
		return withMark(bom, text), nil
	}
	size := len(bom) + len(text)
	if e.name == utf16leName || e.name == utf16beName {
		size += len(text)
	}
	raw, n, err := transform.Append(e.implementation().NewEncoder(), append(make([]byte, 0, size), bom...), text)
	if err != nil {
		return nil, cannotWrite(text, n, e)
	}
	if n := differsAt(raw[len(bom):], text, e); n >= 0 {
		return nil, cannotWrite(text, n, e)
	}
	if _, _, err := begin(raw, e, true); err != nil {
		return nil, cannotWrite(text, 0, e) // it would be read as the mark of another encoding
	}
	return raw, nil
}

// differsAt returns the offset of the first character of text that raw does not
// decode to, -1 if there is none. An encoder may write what means something else
// when it is read, such as an escape character into an encoding that has escape
// sequences.
func differsAt(raw, text []byte, e Encoding) int {
	if e.name == utf16leName || e.name == utf16beName {
		return -1
	}
	d := newDecoder(e, 0, len(raw))
	var piece []byte
	for at := 0; ; {
		block := raw[:min(len(raw), blockSize)]
		last := len(block) == len(raw)
		var n int
		var err error
		piece, n, err = d.appendText(piece[:0], block, last)
		for i, b := range piece {
			if at+i >= len(text) || text[at+i] != b {
				return startOfCharacter(text, at+i)
			}
		}
		at += len(piece)
		if err != nil || last && at < len(text) {
			return startOfCharacter(text, at)
		}
		if last {
			return -1
		}
		raw = raw[n:]
	}
}

func startOfCharacter(text []byte, offset int) int {
	offset = min(offset, len(text)-1)
	for offset > 0 && !utf8.RuneStart(text[offset]) {
		offset--
	}
	return max(offset, 0)
}

// cannotWrite is the refusal of the character at that offset of text.
func cannotWrite(text []byte, offset int, e Encoding) error {
	line := 1 + bytes.Count(text[:offset], []byte{'\n'})
	what := "the end of the text"
	if offset < len(text) {
		r, size := utf8.DecodeRune(text[offset:])
		what = fmt.Sprintf("%#U", r)
		if r == utf8.RuneError && size == 1 {
			what = fmt.Sprintf("the byte 0x%02x, which is not UTF-8,", text[offset])
		}
	}
	return &ambit.Error{
		Reason: ambit.ErrNotText,
		Lines:  []int{line},
		Detail: fmt.Sprintf("%s on line %d of the text cannot be written in %s", what, line, e),
	}
}
