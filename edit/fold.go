// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// fold says what a comparison disregards.
type fold uint8

const (
	foldEndings    fold = 1 << iota // a CR before an LF
	foldTrailing                    // spaces and tabs at the end of a line
	foldTypography                  // Unicode spaces are a space, typographic quotes and dashes plain ones
	foldSpace                       // all white space
	foldCase                        // upper and lower case

	foldTolerant = foldEndings | foldTrailing | foldTypography
	foldAll      = foldTolerant | foldSpace | foldCase
)

// plain maps a typographic character to the plain one; others to themselves.
func plain(r rune) rune {
	switch {
	case r < 0x80:
	case r == 0xa0, r >= 0x2000 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
		return ' '
	case r >= 0x2010 && r <= 0x2015, r == 0x2212:
		return '-'
	case r >= 0x2018 && r <= 0x201b:
		return '\''
	case r >= 0x201c && r <= 0x201f:
		return '"'
	}
	return r
}

// folded is a text as a comparison sees it.
type folded struct {
	text   []byte
	starts []int32 // for each byte of text where the character begins that it is of
	ends   []int32 // and where it ends
}

// foldText folds a text of less than 2 GiB. Bytes that are not UTF-8 stand for
// themselves.
func foldText(text []byte, f fold) folded {
	v := folded{
		text:   make([]byte, 0, len(text)),
		starts: make([]int32, 0, len(text)),
		ends:   make([]int32, 0, len(text)),
	}
	var char [utf8.UTFMax]byte
	blanks := 0 // at the end of v, of the line so far
	for i := 0; i < len(text); {
		start := i
		r, n := utf8.DecodeRune(text[i:])
		stray := r == utf8.RuneError && n == 1
		if r == '\r' && f&foldEndings != 0 && i+1 < len(text) && text[i+1] == '\n' {
			r, n = '\n', 2
		}
		i += n
		if f&foldTypography != 0 && !stray {
			r = plain(r)
		}
		if f&foldSpace != 0 && unicode.IsSpace(r) {
			continue
		}
		if f&foldCase != 0 && !stray {
			r = unicode.ToLower(r)
		}
		switch {
		case r == '\n' && f&foldTrailing != 0:
			v.cut(len(v.text) - blanks)
			blanks = 0
		case r == ' ' || r == '\t':
			blanks++
		default:
			blanks = 0
		}
		written := char[:utf8.EncodeRune(char[:], r)]
		if stray {
			written = text[start:i]
		}
		for _, c := range written {
			v.text, v.starts, v.ends = append(v.text, c), append(v.starts, int32(start)), append(v.ends, int32(i))
		}
	}
	return v
}

// between reports whether the offset i is not within a character.
func (v *folded) between(i int) bool {
	return i == 0 || i == len(v.text) || v.starts[i] != v.starts[i-1]
}

func (v *folded) cut(n int) {
	v.text, v.starts, v.ends = v.text[:n], v.starts[:n], v.ends[:n]
}

// foldSlack is how many bytes more than Old a place can have by what is folded;
// one that has more, by blanks, is not found.
const foldSlack = 64 << 10

// findFolded finds the places of old as f sees both.
func (p *planner) findFolded(old string, f fold) (*search, error) {
	want := foldText([]byte(old), f)
	s := &search{old: old, text: want.text}
	endsLine := false
	if f&foldTrailing != 0 && f&foldSpace == 0 {
		trimmed := bytes.TrimRight(s.text, " \t")
		endsLine = len(trimmed) < len(s.text)
		s.text = trimmed
	}
	if len(s.text) == 0 {
		return s, nil
	}
	newlines := 0
	var found []place
	err := p.source.windows(p.ctx, 4*len(old)+foldSlack, func(w window) error {
		v := foldText(w.text, f)
		found = found[:0]
		s.find(v.text, func(at int) bool {
			end := at + len(s.text)
			if !v.between(at) || !v.between(end) {
				return true
			}
			from, to := int(v.starts[at]), int(v.ends[end-1])
			if endsLine {
				switch {
				case end == len(v.text) && w.last:
					to = len(w.text)
				case end < len(v.text) && v.text[end] == '\n':
					to = int(v.starts[end])
				default:
					return true
				}
			}
			if from >= w.from && (from < w.to || w.last) {
				s.found(&found, w.offset+int64(from), w.offset+int64(to))
			}
			return true
		})
		at := w.from
		for _, one := range found {
			i := int(one.start - w.offset)
			newlines += bytes.Count(w.text[at:i], []byte{'\n'})
			at = i
			one.line = newlines + 1
			s.places = append(s.places, one)
		}
		newlines += bytes.Count(w.text[at:w.to], []byte{'\n'})
		return nil
	})
	return s, err
}

// tolerate finds the places of what s did not find, as Tolerant sees them.
func (p *planner) tolerate(s *search) (*search, error) {
	return p.findFolded(s.old, foldTolerant)
}
