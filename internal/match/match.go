// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package match finds the lines of a text that match a pattern, and the places in them, exactly as package regexp would.
package match

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// Options say how a pattern is read.
type Options struct {
	Literal    bool // the pattern is a text
	IgnoreCase bool // Unicode simple folding
	Word       bool // a match must not be beside a word character
	Multiline  bool // a match may span lines
}

// A Pattern is a compiled pattern. It may be used by several goroutines at once.
type Pattern struct {
	options Options
	literal []byte         // when every match is this text; may be empty
	exp     *regexp.Regexp // nil when literal says it all
}

// Compile reads a pattern. Without Multiline a pattern with a line feed in it is refused. Errors are *ambit.Error: bad-pattern.
func Compile(pattern string, o Options) (*Pattern, error) {
	if o.Literal && !o.Multiline && strings.Contains(pattern, "\n") {
		return nil, bad("the pattern contains a line feed: that needs multiline")
	}
	if o.Literal && !o.IgnoreCase {
		return &Pattern{options: o, literal: []byte(pattern)}, nil
	}
	source := pattern
	if o.Literal {
		source = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl
	if o.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(source, flags)
	if err != nil {
		return nil, bad(parserMessage(err))
	}
	if !o.Multiline && hasLineFeed(tree) {
		return nil, bad("the pattern contains a line feed: that needs multiline")
	}
	prefix := ""
	if o.IgnoreCase {
		prefix += "(?i)"
	}
	if o.Multiline {
		prefix += "(?m)"
	}
	if o.Word {
		prefix += `(?:\A|[^\pL\pM\p{Nd}\p{Pc}])`
		source = "(" + source + `)(?:\z|[^\pL\pM\p{Nd}\p{Pc}])`
	}
	exp, err := regexp.Compile(prefix + source)
	if err != nil {
		return nil, bad(parserMessage(err))
	}
	return &Pattern{options: o, exp: exp}, nil
}

func bad(detail string) error { return &ambit.Error{Reason: ambit.ErrBadPattern, Detail: detail} }

// parserMessage is the message without the words that tell who speaks.
func parserMessage(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Code.String() + ": `" + e.Expr + "`"
}

// hasLineFeed reports whether a line feed stands in the pattern itself, outside of classes.
func hasLineFeed(tree *syntax.Regexp) bool {
	if tree.Op == syntax.OpLiteral {
		for _, r := range tree.Rune {
			if r == '\n' {
				return true
			}
		}
	}
	for _, sub := range tree.Sub {
		if hasLineFeed(sub) {
			return true
		}
	}
	return false
}

// A Matcher searches for a pattern. It is for one goroutine at a time.
type Matcher struct {
	*Pattern
}

// NewMatcher returns a matcher of the pattern.
func (p *Pattern) NewMatcher() *Matcher { return &Matcher{p} }

// Next finds the first line with a match among those that start at or after from, which is the start of a line or the end
// of text. The line is text[start:end] without its ending. The last line of text may lack an ending.
func (m *Matcher) Next(text []byte, from int) (start, end int, ok bool) {
	for start = from; start < len(text); {
		end, next := len(text), len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
			if end > start && text[end-1] == '\r' {
				end--
			}
		}
		if _, _, ok := m.first(text[start:end], 0); ok {
			return start, end, true
		}
		start = next
	}
	return 0, 0, false
}

// Spans appends the matches in a line, without its ending: those of [regexp.Regexp.FindAllIndex].
func (m *Matcher) Spans(line []byte, spans [][2]int) [][2]int {
	m.FindAll(line, func(start, end int) bool {
		spans = append(spans, [2]int{start, end})
		return true
	})
	return spans
}

// FindAll calls yield for each match in the text, in order, until it returns false. With Multiline, matches may span lines
// and ^ and $ are of lines.
func (m *Matcher) FindAll(text []byte, yield func(start, end int) bool) {
	if m.exp != nil && !m.options.Word {
		for _, span := range m.exp.FindAllIndex(text, -1) {
			if !yield(span[0], span[1]) {
				return
			}
		}
		return
	}
	for at, previous := 0, -1; at <= len(text); {
		start, end, ok := m.first(text, at)
		if !ok {
			return
		}
		if (end > start || start != previous) && !yield(start, end) {
			return
		}
		previous = end
		if at = end; start == end {
			_, width := utf8.DecodeRune(text[at:])
			at += max(width, 1)
		}
	}
}

// first finds the first match that starts at or after at.
func (m *Matcher) first(text []byte, at int) (start, end int, ok bool) {
	if m.exp != nil && !m.options.Word {
		span := m.exp.FindIndex(text[at:])
		if span == nil {
			return 0, 0, false
		}
		return at + span[0], at + span[1], true
	}
	if m.exp != nil {
		_, back := utf8.DecodeLastRune(text[:at])
		span := m.exp.FindSubmatchIndex(text[at-back:])
		if span == nil {
			return 0, 0, false
		}
		return at - back + span[2], at - back + span[3], true
	}
	for ; at <= len(text); at++ {
		i := bytes.Index(text[at:], m.literal)
		if i < 0 {
			break
		}
		at += i
		before, _ := utf8.DecodeLastRune(text[:at])
		after, _ := utf8.DecodeRune(text[at+len(m.literal):])
		if !m.options.Word || !isWord(before) && !isWord(after) {
			return at, at + len(m.literal), true
		}
	}
	return 0, 0, false
}

// isWord reports whether the rune is a word character.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc)
}
