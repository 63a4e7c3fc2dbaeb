// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// HeadSize is how many bytes of the beginning of a file [Classify] wants to see.
// It looks at no more.
const HeadSize = 8 << 10

// Class is what the first bytes of a file tell about it.
type Class struct {
	Text bool

	// Encoding is UTF8 if all bytes that were seen are (ASCII is), and UTF16LE
	// or UTF16BE. It is the zero value for binary content and for text in an
	// encoding that cannot be known from the bytes: ISO 8859-1, GBK, UTF-8 with
	// stray bytes. Bytes that were not seen may say otherwise: where these shall
	// not be refused, text of UTF8 is read under the zero value.
	Encoding Encoding

	BOM int // length of the byte order mark in bytes

	// MediaType is of the form "image/png", and for text "text/plain;
	// charset=utf-8" or of a more special type, such as "application/json" or
	// "image/svg+xml". The parameter charset is given for types text/* whose
	// Encoding is known. It is "application/octet-stream" for binary content of
	// no known type.
	MediaType string
}

// Classify tells text from binary by head, the first bytes of a file, up to
// [HeadSize] of them. With whole head is the whole file; otherwise a character
// that is cut at the end of head is not held against it, and the beginning of a
// text is text wherever it ends.
//
//   - Content that begins with the signature of a binary format is binary, also
//     where it looks like text (PDF, GIF).
//   - Behind a byte order mark of UTF-16 text is what is valid and has no NUL.
//   - Without one it is taken for UTF-16 if the first character is of ASCII, and
//     all are valid and plausible: no control characters but those below, no
//     noncharacters, nothing of the private use areas.
//   - Other content with a NUL byte is binary.
//   - UTF-8 without one is text, also with other control characters: programs
//     separate fields with them.
//   - Other bytes are text in some encoding that contains ASCII, unless there is a
//     control byte that no text has: all below 0x20, and 0x7f, but for bell,
//     backspace, tab, line feed, vertical tab, form feed, carriage return, shift
//     out and in, substitute (the end of a file in DOS) and escape.
//   - An empty file is text.
//
// Names of files play no part.
func Classify(head []byte, whole bool) Class {
	if len(head) > HeadSize {
		head, whole = head[:HeadSize], false
	}
	c, text := classify(head, whole)
	if c.Text {
		c.MediaType = textMediaType(text, c.Encoding)
	} else {
		c = Class{MediaType: binaryMediaType(head)}
	}
	return c
}

// classify returns the text as well, as UTF-8 if its encoding is known, without a
// mark.
func classify(head []byte, whole bool) (c Class, text []byte) {
	for _, m := range unicodeMarks {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			c.Encoding, c.BOM = m.encoding, len(m.bytes)
		}
	}
	text = head[c.BOM:]
	switch c.Encoding.name {
	case utf16leName, utf16beName:
		text, c.Text = utf16Text(text, c.Encoding, whole, func(r rune) bool { return r != 0 })
		return c, text
	}
	c.Encoding = Encoding{}
	if hasSignature(text) {
		return c, nil
	}
	if bytes.IndexByte(text, 0) >= 0 {
		if c.BOM == 0 {
			if e := unmarkedUTF16(text, whole); !e.IsZero() {
				if text, c.Text = utf16Text(text, e, whole, plausible); c.Text {
					c.Encoding = e
				}
			}
		}
		return c, text
	}
	known := text
	if !whole {
		known = text[:len(text)-cutCharacter(text)]
	}
	switch {
	case utf8.Valid(known):
		c.Text, c.Encoding = true, Encoding{utf8Name}
	case !bytes.ContainsFunc(text, isForeignControl):
		c.Text = true
	}
	return c, text
}

// unmarkedUTF16 returns the encoding in which the first character would be of
// ASCII. A beginning must be judged as the whole is: so it is enough that nothing
// speaks against it yet.
func unmarkedUTF16(head []byte, whole bool) Encoding {
	const leastWhole = 4 // bytes: a letter and a NUL are no text
	isASCII := func(b byte) bool { return b != 0 && b < utf8.RuneSelf }
	switch {
	case whole && len(head) < leastWhole:
		return Encoding{}
	case head[0] == 0 && (len(head) == 1 || isASCII(head[1])):
		return Encoding{utf16beName}
	case isASCII(head[0]) && head[1] == 0:
		return Encoding{utf16leName}
	}
	return Encoding{}
}

// utf16Text returns the text of head as UTF-8, and whether it is valid and all its
// characters are accepted.
func utf16Text(head []byte, e Encoding, whole bool, accept func(rune) bool) (text []byte, ok bool) {
	unit := func(i int) rune {
		if e.name == utf16leName {
			return rune(head[i]) | rune(head[i+1])<<8
		}
		return rune(head[i])<<8 | rune(head[i+1])
	}
	text = make([]byte, 0, len(head))
	i := 0
	for ; i+1 < len(head); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(head) {
				// Its second half may follow, if it is a first one.
				return text, !whole && r < 0xdc00
			}
			if r = utf16.DecodeRune(r, unit(i+2)); r == utf8.RuneError {
				return nil, false
			}
			i += 2
		}
		if !accept(r) {
			return nil, false
		}
		text = utf8.AppendRune(text, r)
	}
	return text, !whole || i == len(head)
}

// plausible reports whether text in UTF-16 without a mark has that character.
func plausible(r rune) bool {
	switch {
	case r < 0x80:
		return r != 0 && !isForeignControl(r)
	case r < 0xa0:
		return r == 0x85 // the line break of ISO 6429
	case 0xe000 <= r && r < 0xf900, r >= 0xf_0000: // private use
		return false
	case 0xfdd0 <= r && r < 0xfdf0, r&0xfffe == 0xfffe: // noncharacters
		return false
	}
	return true
}

// isForeignControl reports whether r is a control byte that no text has.
func isForeignControl(r rune) bool {
	switch r {
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r', 0x0e, 0x0f, 0x1a, 0x1b:
		return false
	}
	return r < 0x20 || r == 0x7f
}
