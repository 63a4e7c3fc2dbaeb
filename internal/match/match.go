// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package match finds the lines of a text that match a pattern, and the places in them, exactly as package regexp would.
package match

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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
	sole    []byte   // when all matches are this text
	finder  *finder  // of literals one of which is in every match; nil when there are none
	whole   bool     // a line with one of the literals matches
	ahead   *program // nil when sole says it all
	behind  *program // of the reversed pattern
}

// mostInsts bounds what one byte of a text can cost.
const mostInsts = 1 << 15

// Compile reads a pattern: RE2 syntax, as [regexp.Compile] takes it, or a text, which may hold any bytes. Without Multiline
// a pattern in which a line feed stands, other than in a class, is refused. With Multiline, ^ and $ are of lines, and CRLF
// in a text is read as LF. Errors are *ambit.Error: bad-pattern, with the parser's message.
func Compile(pattern string, o Options) (*Pattern, error) {
	p := &Pattern{options: o}
	if o.Literal {
		if o.Multiline {
			pattern = strings.ReplaceAll(pattern, "\r\n", "\n")
		} else if strings.Contains(pattern, "\n") {
			return nil, badPattern(needsMultiline)
		}
		if !o.IgnoreCase && pattern != "" {
			p.sole, p.whole = []byte(pattern), !o.Word
			p.finder = newFinder([]literal{{pattern, string(make([]byte, len(pattern)))}})
			return p, nil
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl
	if o.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if o.Multiline {
		flags &^= syntax.OneLine
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, badPattern(messageOf(err))
	}
	if !o.Multiline && hasLineFeed(tree) {
		return nil, badPattern(needsMultiline)
	}
	tree = tree.Simplify()
	if need, ok := requiredOf(tree); ok {
		need.literals = unique(need.literals)
		p.finder = newFinder(need.literals)
		p.whole = need.whole && !o.Word
		if text, ok := sole(need.literals); ok && need.whole {
			p.sole = text
			return p, nil
		}
	}
	if p.ahead, err = newProgram(tree, o.Word); err != nil {
		return nil, badPattern(messageOf(err))
	}
	if p.behind, err = newProgram(reversed(tree), o.Word); err != nil {
		return nil, badPattern(messageOf(err))
	}
	return p, nil
}

const needsMultiline = "a line feed in a pattern needs multiline"

func badPattern(detail string) error {
	return &ambit.Error{Reason: ambit.ErrBadPattern, Detail: detail}
}

// messageOf is the parser's message without the words that tell who speaks.
func messageOf(err error) string {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err.Error()
	}
	message := e.Code.String()
	if e.Expr != "" {
		message += ": `" + e.Expr + "`"
	}
	switch lookaround := []string{"(?=", "(?!", "(?<"}; {
	case slices.ContainsFunc(lookaround, func(begin string) bool { return strings.HasPrefix(e.Expr, begin) }):
		return message + " (there is no lookahead and no lookbehind)"
	case len(e.Expr) == 2 && e.Expr[0] == '\\' && e.Expr[1] >= '1' && e.Expr[1] <= '9':
		return message + " (there are no back references)"
	case e.Code == syntax.ErrMissingParen, e.Code == syntax.ErrUnexpectedParen:
		return message + " (a parenthesis that is text has a backslash before it)"
	case e.Code == syntax.ErrTrailingBackslash:
		return message + " (a backslash that is text has another before it)"
	}
	return message
}

// hasLineFeed reports whether a line feed stands in the pattern, other than in a class.
func hasLineFeed(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, '\n') || slices.ContainsFunc(tree.Sub, hasLineFeed)
}

// A Matcher searches for a pattern. It is for one goroutine at a time, and takes a few MiB at most.
type Matcher struct {
	*Pattern
	// Stop is asked now and then while the answer takes long to find. Once it
	// returns true there are no more matches. nil: never.
	Stop func() bool

	lines *automaton // these are nil until they are needed
	ends  *automaton
	start *automaton

	// Literals that are everywhere and seldom part of a match do not help: then they are not searched for, for a while.
	failed  int // hits that were no match
	covered int // bytes from hit to hit
	without int // bytes still to be searched without the literals
}

// NewMatcher returns a matcher of the pattern.
func (p *Pattern) NewMatcher() *Matcher { return &Matcher{Pattern: p} }

const (
	enoughFailed      = 32
	fewBytes          = 96 // between hits, on average, so that they do not help
	bytesWithout      = 1 << 20
	lineFeed     byte = '\n'
)

// Next finds the first line with a match among those that start at or after from, which is the start of a line or the end
// of text. The line is text[start:end], without its ending. The last line of text may lack an ending. It is for patterns
// without Multiline.
func (m *Matcher) Next(text []byte, from int) (start, end int, ok bool) {
	defer func() { ok = m.wentOn(recover()) && ok }()
	for from < len(text) && m.finder != nil && m.without <= 0 {
		at, length := m.finder.index(text, from)
		if at < 0 {
			return 0, 0, false
		}
		start, end, next := lineAround(text, from, at)
		if m.verified(text, start, end, next, at, length) {
			return start, end, true
		}
		m.failed, m.covered = m.failed+1, m.covered+next-from
		if from = next; m.failed == enoughFailed {
			if m.covered < enoughFailed*fewBytes && m.ahead != nil {
				m.without = bytesWithout
			}
			m.failed, m.covered = 0, 0
		}
	}
	if from >= len(text) {
		return 0, 0, false
	}
	at, ok := m.lineAutomaton().line(text[from:])
	if !ok {
		m.without -= len(text) - from
		return 0, 0, false
	}
	start, end, next := lineAround(text, from, from+at)
	m.without -= next - from
	return start, end, true
}

// verified reports whether text[start:end], a line that is followed by the one at next, has a match, when a literal is at a
// place of it.
func (m *Matcher) verified(text []byte, start, end, next, at, length int) bool {
	switch {
	case m.whole:
		// A literal that begins in the line may reach into its ending.
		return at+length <= end || m.within(text[start:end])
	case m.sole != nil:
		_, _, ok := m.first(text[start:end], at-start)
		return ok
	}
	_, ok := m.lineAutomaton().line(text[start:next])
	return ok
}

// within reports whether a literal is within a text.
func (m *Matcher) within(text []byte) bool {
	at, _ := m.finder.index(text, 0)
	return at >= 0
}

// lineAround returns the line that has the byte at a place, and where the next one starts. No line feed is looked for before
// from.
func lineAround(text []byte, from, at int) (start, end, next int) {
	start = from + bytes.LastIndexByte(text[from:at], lineFeed) + 1
	end, next = len(text), len(text)
	if i := bytes.IndexByte(text[at:], lineFeed); i >= 0 {
		end, next = at+i, at+i+1
		if end > start && text[end-1] == '\r' {
			end--
		}
	}
	return start, end, next
}

func (m *Matcher) lineAutomaton() *automaton {
	if m.lines == nil {
		m.lines = newAutomaton(m.ahead, modeLines, m.Stop)
	}
	return m.lines
}

// Spans appends the matches in a line, which has no ending: those that [regexp.Regexp.FindAllIndex] finds.
func (m *Matcher) Spans(line []byte, spans [][2]int) [][2]int {
	m.each(line, func(start, end int) bool {
		spans = append(spans, [2]int{start, end})
		return true
	})
	return spans
}

// FindAll calls yield for each match in a text, in order, until it returns false: those that [regexp.Regexp.FindAllIndex]
// finds.
func (m *Matcher) FindAll(text []byte, yield func(start, end int) bool) {
	if m.finder == nil || m.within(text) {
		m.each(text, yield)
	}
}

func (m *Matcher) each(text []byte, yield func(start, end int) bool) {
	inYield := false // its panics are its own
	defer func() {
		if inYield {
			return
		}
		m.wentOn(recover())
	}()
	if m.ends != nil {
		m.ends.barren.reset()
	}
	for at, previous := 0, -1; at <= len(text); {
		start, end, ok := m.first(text, at)
		if !ok {
			return
		}
		counts := true
		if end == at {
			// An empty match right behind another one does not count.
			counts = start != previous
			_, width := utf8.DecodeRune(text[at:])
			at += max(width, 1)
		} else {
			at = end
		}
		previous = end
		if counts {
			inYield = true
			if !yield(start, end) {
				return
			}
			inYield = false
		}
	}
}

// wentOn reports whether work ended by itself: caught is what was recovered behind
// it.
func (m *Matcher) wentOn(caught any) bool {
	if caught == nil {
		return true
	}
	if _, ok := caught.(stopped); !ok {
		panic(caught)
	}
	return false
}

// first finds the first match that starts at or after a place.
func (m *Matcher) first(text []byte, at int) (start, end int, ok bool) {
	if m.sole == nil {
		if m.ends == nil {
			m.ends, m.start = newAutomaton(m.ahead, modeFirst, m.Stop), newAutomaton(m.behind, modeLongest, m.Stop)
		}
		if end, ok = m.ends.forward(text, at); ok {
			start = m.start.backward(text, at, end)
		}
		return start, end, ok
	}
	for {
		start, _ = m.finder.index(text, at)
		end = start + len(m.sole)
		if start < 0 || !m.options.Word || !wordAround(text, start, end) {
			return start, end, start >= 0
		}
		at = start + 1
	}
}
