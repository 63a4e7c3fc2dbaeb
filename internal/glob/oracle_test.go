// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The oracle is docs/glob.md in the plainest code: alternatives are written out to a list of patterns, each is cut at its
// slashes, and everything else is tried in turn. It shares nothing with the code it judges.

// A token is a character, a wildcard, a class or a slash.
type token struct {
	what    byte   // 'c' character, '?', '*', 'D' for **, '[' class, '/'
	char    string // of 'c': one character, or one byte that is no part of UTF-8
	members []runeRange
	negated bool
}

type oracle struct {
	patterns [][][]token // each a list of segments, cleaned
	folders  []bool      // the one of this index had a trailing slash
}

// newOracle returns nil for what is no pattern, and too many alternatives.
func newOracle(pattern string, filter bool) *oracle {
	if pattern == "" || strings.Contains(pattern, "\x00") {
		return nil
	}
	expanded, rest, ok := expand(pattern, false)
	if !ok || rest != "" {
		return nil
	}
	o := new(oracle)
	for _, tokens := range expanded {
		if !o.add(tokens, filter) {
			return nil
		}
	}
	if len(o.patterns) == 0 {
		return nil
	}
	return o
}

const oracleAlternatives = 1000

// expand reads a pattern, or within braces a branch, and returns all ways to write it out.
func expand(s string, within bool) (out [][]token, rest string, ok bool) {
	out = [][]token{nil}
	push := func(t token) {
		for i := range out {
			out[i] = append(slices.Clone(out[i]), t)
		}
	}
	for s != "" {
		switch {
		case s[0] == '\\':
			if len(s) == 1 {
				return nil, "", false
			}
			c := character(s[1:])
			if c == "/" {
				push(token{what: '/'})
			} else {
				push(token{what: 'c', char: c})
			}
			s = s[1+len(c):]
		case strings.HasPrefix(s, "**"):
			push(token{what: 'D'})
			s = strings.TrimLeft(s, "*")
		case s[0] == '*' || s[0] == '?' || s[0] == '/':
			push(token{what: s[0]})
			s = s[1:]
		case s[0] == '[':
			t, after, ok := readClass(s[1:])
			if !ok {
				return nil, "", false
			}
			push(t)
			s = after
		case s[0] == '{':
			var all [][]token
			for again := true; again; {
				branch, after, ok := expand(s[1:], true)
				if !ok || after == "" {
					return nil, "", false
				}
				all = append(all, branch...)
				again = after[0] == ','
				s = after
			}
			s = s[1:]
			if len(all)*len(out) > oracleAlternatives {
				return nil, "", false
			}
			var product [][]token
			for _, begin := range out {
				for _, end := range all {
					product = append(product, slices.Concat(begin, end))
				}
			}
			out = product
		case s[0] == '}' || s[0] == ',' && within:
			if !within {
				return nil, "", false
			}
			return out, s, true
		default:
			c := character(s)
			push(token{what: 'c', char: c})
			s = s[len(c):]
		}
	}
	return out, "", !within
}

func character(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func readClass(s string) (t token, rest string, ok bool) {
	t.what = '['
	if s != "" && (s[0] == '!' || s[0] == '^') {
		t.negated, s = true, s[1:]
	}
	var chars []string // the characters, and "" for a - between two
	escaped := false
	for first := true; ; first = false {
		if s == "" {
			return t, "", false
		}
		if s[0] == ']' && !first && !escaped {
			break
		}
		if s[0] == '\\' && !escaped {
			escaped, s = true, s[1:]
			first = true // what follows is not the end
			if s == "" {
				return t, "", false
			}
		}
		if !escaped && strings.HasPrefix(s, "[:") {
			if end := strings.Index(s[:min(16, len(s))], ":]"); end >= 2 {
				return t, "", false
			}
		}
		c := character(s)
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || c == "/" {
			return t, "", false
		}
		s = s[n:]
		if c == "-" && !escaped {
			c = ""
		}
		escaped = false
		chars = append(chars, c)
	}
	plain := func(c string) rune {
		if c == "" {
			return '-'
		}
		r, _ := utf8.DecodeRuneInString(c)
		return r
	}
	for i := 0; i < len(chars); i++ {
		low, high := plain(chars[i]), plain(chars[i])
		if i+2 < len(chars) && chars[i+1] == "" {
			high = plain(chars[i+2])
			i += 2
		}
		if high < low {
			return t, "", false
		}
		t.members = append(t.members, runeRange{low, high})
	}
	if len(t.members) == 1 && !t.negated && t.members[0].low == t.members[0].high {
		if r := t.members[0].low; r != '.' && r != utf8.RuneError {
			return token{what: 'c', char: string(r)}, s[1:], true
		}
	}
	return t, s[1:], true
}

// add adds one pattern without alternatives. It is false for one that makes the whole pattern bad.
func (o *oracle) add(tokens []token, filter bool) bool {
	segments := [][]token{nil}
	text := ""
	flush := func() {
		// Bytes that have come together may be a character.
		for ; text != ""; text = text[len(character(text)):] {
			last := &segments[len(segments)-1]
			*last = append(*last, token{what: 'c', char: character(text)})
		}
	}
	for _, t := range tokens {
		switch t.what {
		case 'c':
			text += t.char
		case '/':
			flush()
			segments = append(segments, nil)
		default:
			flush()
			segments[len(segments)-1] = append(segments[len(segments)-1], t)
		}
	}
	flush()
	var kept [][]token
	first, folders := false, false
	for i, segment := range segments {
		text, literal, stray := "", true, false
		for _, t := range segment {
			text += t.char
			literal = literal && t.what == 'c'
			stray = stray || t.what == 'c' && !utf8.ValidString(t.char)
		}
		if literal && text == ".." || !literal && stray {
			return false
		}
		if folders = literal && (text == "" || text == "."); folders {
			continue
		}
		first = first || i == 0
		kept = append(kept, segment)
	}
	if len(kept) == 0 {
		return true
	}
	if filter && first && len(kept) == 1 {
		kept = append([][]token{{{what: 'D'}}}, kept...)
	}
	o.patterns = append(o.patterns, kept)
	o.folders = append(o.folders, folders)
	return true
}

func (o *oracle) match(path string, dir, dots bool) bool {
	for i, segments := range o.patterns {
		if (dir || !o.folders[i]) && matchSegments(segments, strings.Split(path, "/"), dots) {
			return true
		}
	}
	return false
}

func isStars(segment []token) bool {
	return !slices.ContainsFunc(segment, func(t token) bool { return t.what != 'D' })
}

func matchSegments(segments [][]token, names []string, dots bool) bool {
	if len(segments) == 0 || len(names) == 0 {
		return len(segments) == len(names)
	}
	segment, rest := segments[0], segments[1:]
	if isStars(segment) {
		if len(rest) == 0 {
			return !slices.ContainsFunc(names, func(name string) bool { return name == "" || !dots && name[0] == '.' })
		}
		return matchSegments(rest, names, dots) ||
			names[0] != "" && (dots || names[0][0] != '.') && matchSegments(segments, names[1:], dots)
	}
	if i := slices.IndexFunc(segment, func(t token) bool { return t.what == 'D' }); i >= 0 {
		one := slices.Clone(segment)
		one[i].what = '*'
		return matchSegments(slices.Concat([][]token{one}, rest), names, dots) ||
			matchSegments(slices.Concat([][]token{one[:i+1], {{what: 'D'}}, one[i:]}, rest), names, dots)
	}
	if names[0] == "" {
		return false
	}
	if names[0][0] == '.' && !dots && segment[0].char != "." {
		return false
	}
	return matchName(segment, names[0]) && matchSegments(rest, names[1:], dots)
}

func matchName(segment []token, name string) bool {
	if len(segment) == 0 {
		return name == ""
	}
	t, rest := segment[0], segment[1:]
	if t.what == '*' {
		for ; ; name = name[len(character(name)):] {
			if matchName(rest, name) {
				return true
			}
			if name == "" {
				return false
			}
		}
	}
	if name == "" {
		return false
	}
	c := character(name)
	r, _ := utf8.DecodeRuneInString(name)
	ok := true
	switch t.what {
	case 'c':
		ok = c == t.char
	case '[':
		ok = t.negated != slices.ContainsFunc(t.members, func(m runeRange) bool { return m.low <= r && r <= m.high })
	}
	return ok && matchName(rest, name[len(c):])
}
