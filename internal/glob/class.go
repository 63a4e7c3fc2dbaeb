// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A class is one character out of a set, as [a-z].
type class struct {
	source  string // as it was written
	negated bool
	ranges  []runeRange // as written, or with single characters for both ends
}

type runeRange struct{ low, high rune }

// only returns the character, if the class is of just one and means the same as that one alone. A dot in a class is no literal
// dot, and U+FFFD there stands for stray bytes too.
func (c *class) only() (rune, bool) {
	if c.negated || len(c.ranges) != 1 {
		return 0, false
	}
	r := c.ranges[0].low
	return r, r == c.ranges[0].high && r != '.' && r != utf8.RuneError
}

// class reads from an opening bracket to past the closing one.
func (p *parser) class() (*class, error) {
	opened := p.at
	fail := func(format string, args ...any) (*class, error) {
		return nil, badPattern(fmt.Sprintf(format, args...) + `; write \[ for the character [`)
	}
	c := new(class)
	p.at++
	if p.at < len(p.pattern) && (p.pattern[p.at] == '!' || p.pattern[p.at] == '^') {
		c.negated = true
		p.at++
	}
	// member reads one character.
	member := func() (r rune, err error) {
		if p.pattern[p.at] == '\\' {
			p.at++
		}
		if p.at == len(p.pattern) {
			_, err = fail("the [ at byte %d is not closed", opened+1)
			return 0, err
		}
		r, n := utf8.DecodeRuneInString(p.pattern[p.at:])
		switch {
		case r == utf8.RuneError && n == 1:
			_, err = fail("byte %d, in brackets, is not UTF-8: ? matches such a byte", p.at+1)
		case r == '/':
			_, err = fail("a slash in the brackets at byte %d: no name has one", opened+1)
		}
		p.at += n
		return r, err
	}
	for first := true; ; first = false {
		if p.at == len(p.pattern) {
			if first {
				return fail("the [ at byte %d is not closed", opened+1)
			}
			return fail("the [ at byte %d is not closed (a ] right behind it is one of its characters)", opened+1)
		}
		if p.pattern[p.at] == ']' && !first {
			p.at++
			c.source = p.pattern[opened:p.at]
			return c, nil
		}
		if name := posixName(p.pattern[p.at:]); name != "" {
			return fail("%s at byte %d is not known here: write the characters, as in [a-z]", name, p.at+1)
		}
		low, err := member()
		if err != nil {
			return nil, err
		}
		high := low
		if strings.HasPrefix(p.pattern[p.at:], "-") && !strings.HasPrefix(p.pattern[p.at:], "-]") {
			p.at++
			if p.at == len(p.pattern) {
				return fail("the [ at byte %d is not closed", opened+1)
			}
			if high, err = member(); err != nil {
				return nil, err
			}
			if high < low {
				return fail("the range %c-%c in the brackets at byte %d runs backwards", low, high, opened+1)
			}
		}
		c.ranges = append(c.ranges, runeRange{low, high})
	}
}

// posixName returns what s begins with if that is a POSIX class such as [:alpha:].
func posixName(s string) string {
	if len(s) < 4 || s[0] != '[' || s[1] != ':' {
		return ""
	}
	end := strings.Index(s[:min(len(s), 16)], ":]")
	if end < 2 {
		return ""
	}
	return s[:end+2]
}

// merged returns the characters in ascending ranges that do not touch.
func (c *class) merged() []runeRange {
	sorted := slices.Clone(c.ranges)
	slices.SortFunc(sorted, func(a, b runeRange) int { return cmp.Compare(a.low, b.low) })
	out := sorted[:1]
	for _, r := range sorted[1:] {
		if last := &out[len(out)-1]; r.low <= last.high+1 {
			last.high = max(last.high, r.high)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// encodable returns the range with ends that UTF-8 can write, which surrogates are not.
func (r runeRange) encodable() runeRange {
	const firstSurrogate, lastSurrogate = 0xD800, 0xDFFF
	if r.low >= firstSurrogate && r.low <= lastSurrogate {
		r.low = lastSurrogate + 1
	}
	if r.high >= firstSurrogate && r.high <= lastSurrogate {
		r.high = firstSurrogate - 1
	}
	return r
}

// maxSet is how many characters are written out one by one.
const maxSet = 512

// appendGobwas appends the class as gobwas/glob reads it, which has sets of characters and single ranges, not both in one.
func (c *class) appendGobwas(b []byte) []byte {
	ranges := c.merged()
	total := 0
	for _, r := range ranges {
		total += int(r.high-r.low) + 1
	}
	if total <= maxSet {
		return appendSet(b, ranges, c.negated)
	}
	if c.negated {
		ranges = complement(ranges)
	}
	var sets []runeRange
	var parts [][]byte
	for _, r := range ranges {
		// A range cannot begin with "!".
		if r.low == '!' || r.low == r.high {
			sets = append(sets, runeRange{r.low, r.low})
			r.low++
		}
		if r = r.encodable(); r.low > r.high {
			continue
		}
		part := utf8.AppendRune([]byte{'['}, r.low)
		part = utf8.AppendRune(append(part, '-'), r.high)
		parts = append(parts, append(part, ']'))
	}
	if len(sets) > 0 {
		parts = append(parts, appendSet(nil, sets, false))
	}
	if len(parts) == 1 {
		return append(b, parts[0]...)
	}
	b = append(b, '{')
	for i, part := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, part...)
	}
	return append(b, '}')
}

// appendSet writes the characters out. A "-" comes first: behind another character it would be taken for a range.
func appendSet(b []byte, ranges []runeRange, negated bool) []byte {
	b = append(b, '[')
	if negated {
		b = append(b, '!')
	}
	if slices.ContainsFunc(ranges, func(r runeRange) bool { return r.low <= '-' && '-' <= r.high }) {
		b = append(b, '-')
	}
	for _, each := range ranges {
		for r := each.low; r <= each.high; r++ {
			switch {
			case r == '-' || !utf8.ValidRune(r):
				continue
			case r == '\\' || r == ']' || r == '!':
				b = append(b, '\\')
			}
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, ']')
}

// complement returns all other characters. Ranges are ascending and do not touch.
func complement(ranges []runeRange) []runeRange {
	var out []runeRange
	next := rune(0)
	for _, r := range ranges {
		if r.low > next {
			out = append(out, runeRange{next, r.low - 1})
		}
		next = r.high + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out
}
