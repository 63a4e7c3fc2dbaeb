// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import "bytes"

// A mark is a byte order mark: U+FEFF in the encoding that it stands for.
type mark struct {
	bytes    string
	encoding Encoding
}

var (
	unicodeMarks = []mark{
		{"\xef\xbb\xbf", Encoding{utf8Name}},
		{"\xff\xfe", Encoding{utf16leName}},
		{"\xfe\xff", Encoding{utf16beName}},
	}
	gb18030Marks = []mark{{"\x84\x31\x95\x33", Encoding{gb18030Name}}}
)

// marksFor returns the marks that content asked for in e may begin with.
func marksFor(e Encoding) []mark {
	switch e.name {
	case "", utf8Name, utf16leName, utf16beName, utf16Name:
		return unicodeMarks
	case gb18030Name:
		return gb18030Marks
	}
	return nil
}

// beginning is what the first bytes of content decide.
type beginning struct {
	encoding Encoding
	mark     int  // bytes of the mark
	asItIs   bool // the content is passed on unchanged, whatever it is
}

// begin reads the byte order mark of content that is asked for in e. With last
// head is all of the content, else more is true where head is too short to tell.
func begin(head []byte, e Encoding, last bool) (b beginning, more bool, err error) {
	for _, m := range marksFor(e) {
		if !last && len(head) < len(m.bytes) && string(head) == m.bytes[:len(head)] {
			return beginning{}, true, nil
		}
		if !bytes.HasPrefix(head, []byte(m.bytes)) {
			continue
		}
		switch {
		case e.IsZero():
			return beginning{m.encoding, len(m.bytes), m.encoding.name == utf8Name}, false, nil
		case e == m.encoding, e.name == utf16Name && m.encoding.name != utf8Name:
			return beginning{m.encoding, len(m.bytes), false}, false, nil
		}
		return beginning{}, false, notText("asked for as %s, the content begins with the byte order mark of %s", e, m.encoding)
	}
	if e.name == utf16Name && len(head) > 0 {
		return beginning{}, false, notText("the content has no byte order mark that tells the order of utf-16: ask for utf-16le or utf-16be")
	}
	return beginning{encoding: e, asItIs: e.IsZero()}, false, nil
}
