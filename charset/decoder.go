// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

const (
	blockSize   = 4 << 10
	longestStep = 8 // bytes, more than an escape sequence and a character after it
)

// A decoder turns content behind its byte order mark into text, piece by piece,
// and refuses the first sequence that does not come back when it is encoded
// again. It gives the same text and the same error however the content is cut.
type decoder struct {
	encoding Encoding
	offset   int64 // of the first byte of the content that has not come back yet

	decode, encode transform.Transformer // nil for UTF-8

	// unreturned has what decode has read and encode not given back yet: an
	// escape sequence, which encode writes together with the next character.
	unreturned []byte

	block int // bytes of the content that are decoded at a time
	text  []byte
	again []byte
}

// newDecoder returns a decoder for e, which is neither the zero value nor UTF16,
// of content from that offset on. It is given pieces of that size.
func newDecoder(e Encoding, offset int64, size int) *decoder {
	d := &decoder{encoding: e, offset: offset}
	if e.name != utf8Name {
		how := e.implementation()
		d.decode, d.encode = how.NewDecoder(), how.NewEncoder()
		d.block = max(longestStep, min(size, blockSize))
		d.text, d.again = make([]byte, 4*d.block), make([]byte, 2*d.block)
	}
	return d
}

// appendText appends the text of raw to dst, and returns how many bytes of raw it
// has used: all of them, but for a sequence that is cut at the end of raw. With
// last raw is the end of the content, and then nothing is left. In front of an
// error the text before the offending sequence has been appended.
func (d *decoder) appendText(dst, raw []byte, last bool) (text []byte, n int, err error) {
	switch {
	case d.decode == nil:
		return d.appendUTF8(dst, raw, last)
	case d.encoding.isStateful():
		return d.appendSteps(dst, raw, last)
	}
	for n < len(raw) {
		block := raw[n:min(len(raw), n+d.block)]
		end := last && n+len(block) == len(raw)
		nText, nRaw, _ := d.decode.Transform(d.text, block, end)
		if nRaw == 0 && !end && len(block) < longestStep {
			break // the sequence goes on behind raw
		}
		if nRaw == 0 || !d.comesBack(d.text[:nText], block[:nRaw]) {
			// Somewhere in this block: find it, and keep what is before it.
			dst, _, err = d.appendSteps(dst, block, end)
			if err == nil {
				err = offends(d.encoding, d.offset, nil)
			}
			return dst, n, err
		}
		dst = append(dst, d.text[:nText]...)
		d.offset += int64(nRaw)
		n += nRaw
	}
	return dst, n, nil
}

// appendSteps does what appendText does, one character at a time.
func (d *decoder) appendSteps(dst, raw []byte, last bool) (text []byte, n int, err error) {
	for n < len(raw) {
		var nText, nRaw int
		for size := 1; nRaw == 0; size++ {
			if n+size > len(raw) || size > longestStep {
				if !last && size <= longestStep {
					return dst, n, nil
				}
				return dst, n, offends(d.encoding, d.offset, append(d.unreturned, raw[n:n+size-1]...))
			}
			nText, nRaw, _ = d.decode.Transform(d.text, raw[n:n+size], last && n+size == len(raw))
		}
		d.unreturned = append(d.unreturned, raw[n:n+nRaw]...)
		n += nRaw
		if nText == 0 && len(d.unreturned) <= longestStep {
			continue
		}
		if nText == 0 || !d.comesBack(d.text[:nText], d.unreturned) {
			return dst, n, offends(d.encoding, d.offset, d.unreturned)
		}
		dst = append(dst, d.text[:nText]...)
		d.offset += int64(len(d.unreturned))
		d.unreturned = d.unreturned[:0]
	}
	if !last {
		return dst, n, nil
	}
	// What encode still writes at the end, back to its first state, must be there.
	size, _, err := d.encode.Transform(d.again, nil, true)
	if err != nil || !bytes.Equal(d.again[:size], d.unreturned) {
		return dst, n, offends(d.encoding, d.offset, d.unreturned)
	}
	return dst, n, nil
}

// comesBack reports whether text is raw when it is encoded again. U+FFFD for what
// could not be decoded is not: where an encoding has that character, it has other
// bytes for it.
func (d *decoder) comesBack(text, raw []byte) bool {
	n, _, err := d.encode.Transform(d.again, text, false)
	return err == nil && bytes.Equal(d.again[:n], raw)
}

func (d *decoder) appendUTF8(dst, raw []byte, last bool) (text []byte, n int, err error) {
	whole := raw
	if !last {
		whole = raw[:len(raw)-cutCharacter(raw)]
	}
	n = validPrefix(whole)
	d.offset += int64(n)
	if n < len(whole) {
		err = offends(d.encoding, d.offset, whole[n:])
	}
	return append(dst, whole[:n]...), n, err
}

// validPrefix returns the length of the longest prefix of text that is UTF-8.
func validPrefix(text []byte) int {
	if utf8.Valid(text) {
		return len(text)
	}
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// cutCharacter returns how many bytes at the end of text begin a character of
// UTF-8 that goes on behind it.
func cutCharacter(text []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if end := text[len(text)-i:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return i
		}
	}
	return 0
}

// offends is the refusal of what raw begins with, at that offset of the content.
// How much of it is one sequence is for nobody to say.
func offends(e Encoding, offset int64, raw []byte) error {
	if len(raw) == 0 {
		return notText("the content is not %s: it breaks off at offset %d", e, offset)
	}
	return notText("the content is not %s: offset %d has 0x%02x", e, offset, raw[0])
}
