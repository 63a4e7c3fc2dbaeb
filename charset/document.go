// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

// Document is the whole content of a file as text. It is immutable, and safe for
// concurrent use as long as nobody changes the bytes it was made of.
type Document struct {
	text []byte
	bom  []byte
	beginning
}

// Decode returns the text of raw, the whole content of a file, in the encoding e.
// Encoding the text again gives raw, byte for byte; content for which that would
// not hold is [ambit.ErrNotText], with the offset of the first byte of the first
// sequence that does not come back in Detail. The zero Encoding refuses nothing
// but malformed UTF-16 behind a byte order mark of UTF-16.
//
// The text shares its memory with raw under the zero Encoding, UTF-16 aside, and
// for UTF8.
func Decode(raw []byte, e Encoding) (Document, error) {
	b, _, err := begin(raw, e, true)
	if err != nil {
		return Document{}, err
	}
	d := Document{beginning: b, bom: raw[:b.mark:b.mark], text: raw[b.mark:len(raw):len(raw)]}
	if b.asItIs || len(d.text) == 0 {
		return d, nil
	}
	if b.encoding.name == utf8Name {
		if n := validPrefix(d.text); n < len(d.text) {
			return Document{}, offends(b.encoding, int64(b.mark+n), d.text[n:])
		}
		return d, nil
	}
	decoder := newDecoder(b.encoding, int64(b.mark), len(d.text))
	text, _, err := decoder.appendText(make([]byte, 0, len(raw)+len(raw)/8), d.text, true)
	if err != nil {
		return Document{}, err
	}
	d.text = text
	return d, nil
}

// Text returns the text without a byte order mark: UTF-8, or the bytes as they
// are under the zero Encoding. The caller must not change it.
func (d Document) Text() []byte { return d.text }

// BOM returns the byte order mark that the content begins with, nil or empty if
// there is none. The caller must not change it.
func (d Document) BOM() []byte { return d.bom }

// Encoding returns what was decided: the encoding that was asked for, or the one
// that the byte order mark tells. It is the zero value for content without a
// mark under the zero Encoding, and UTF16 only for empty content asked for as
// that.
func (d Document) Encoding() Encoding { return d.encoding }

// Encode returns the content of the file with text in place of the document's
// own: the byte order mark, if there is one, and text in the document's encoding.
// What cannot be written in it is [ambit.ErrNotText]: a character that the
// encoding does not have, with its line in Detail, or text that is not UTF-8.
// Content that is taken as it is, under the zero Encoding, takes any bytes. The
// result may share its memory with text.
func (d Document) Encode(text []byte) ([]byte, error) {
	switch {
	case d.asItIs:
		return withMark(d.bom, text), nil
	case d.encoding.name == utf16Name: // the content was empty
		return EncodeText(text, d.encoding)
	}
	return encodeBehind(d.bom, text, d.encoding)
}

// EncodeText returns the content of a new file with that text, which must be
// UTF-8 unless e is the zero value. It fails as [Document.Encode] does. No byte
// order mark is added (text may begin with U+FEFF), but for UTF16, which the
// Unicode standard wants to have one: that content begins with the mark of
// little-endian, once, unless text is empty. The result may share its memory with
// text.
func EncodeText(text []byte, e Encoding) ([]byte, error) {
	switch {
	case e.IsZero():
		return text, nil
	case e.name == utf16Name && len(text) == 0:
		return text, nil
	case e.name == utf16Name:
		const bom = "\ufeff"
		if len(text) >= len(bom) && string(text[:len(bom)]) == bom {
			text = text[len(bom):]
		}
		return encodeBehind([]byte("\xff\xfe"), text, Encoding{utf16leName})
	}
	return encodeBehind(nil, text, e)
}

func withMark(bom, text []byte) []byte {
	if len(bom) == 0 {
		return text
	}
	return append(append(make([]byte, 0, len(bom)+len(text)), bom...), text...)
}
