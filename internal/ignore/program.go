// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import "strings"

// A program is a compiled pattern: of one segment, or of several with opSlash
// between them. opAnyFolders stands at the beginning of a segment only, and
// never twice in a row; two of opStar are never neighbours.
type program struct {
	ops  []op
	sets []set
}

// An op matches one byte, or is one of those below. One of opSets or above
// matches a byte that is in the set of that index.
type op int32

const (
	opAny        op = 256 + iota // any one byte
	opStar                       // any bytes
	opSlash                      // the end of a segment
	opAnyFolders                 // any number of folders, or none
	opSets
)

// A set holds the bytes that a class matches.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }

func (s *set) addRange(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s[c/64] |= 1 << (c % 64)
	}
}

// classes are those that git knows, which are not quite those of C: a space is
// what may stand between words.
var classes = map[string]set{
	"alnum":  setOf("09AZaz"),
	"alpha":  setOf("AZaz"),
	"blank":  setOf("\t\t  "),
	"cntrl":  setOf("\x00\x1f\x7f\x7f"),
	"digit":  setOf("09"),
	"graph":  setOf("!~"),
	"lower":  setOf("az"),
	"print":  setOf(" ~"),
	"punct":  setOf("!/:@[`{~"),
	"space":  setOf("\t\n\r\r  "),
	"upper":  setOf("AZ"),
	"xdigit": setOf("09AFaf"),
}

// setOf returns the set of the ranges whose first and last bytes are given.
func setOf(ranges string) (s set) {
	for i := 0; i < len(ranges); i += 2 {
		s.addRange(ranges[i], ranges[i+1])
	}
	return s
}

// compilePath compiles the pattern of a path, which in git is matched in two
// steps: what stands before the first wildcard is compared, and the rest is
// matched as a pattern by itself. So a ** right behind a literal spans folders
// too, though it does not in the midst of other segments: "foo**/bar" matches
// foobar and foo1/2/bar. Such a pattern is the sum of several programs. One
// that is not valid has none.
func compilePath(pattern string) []program {
	var programs []program
	literal := pattern[:literalPrefix(pattern)]
	rest := pattern[len(literal):]
	for {
		stars := countStars(rest)
		after := rest[stars:]
		if literal == "" || strings.HasSuffix(literal, "/") || stars < 2 || !endsSegment(after) {
			return appendCompiled(programs, literal+rest)
		}
		if after == "" {
			programs = appendCompiled(programs, literal+"*")
			return appendCompiled(programs, literal+"*/**")
		}
		if after[0] == '\\' {
			return appendCompiled(programs, literal+"*/**/"+after[2:])
		}
		for endsGroup(after[1:]) {
			after = after[1+countStars(after[1:]):]
		}
		programs = appendCompiled(programs, literal+"*/**/"+after[1:])
		rest = after[1:]
	}
}

// endsSegment reports whether a segment ends where rest begins.
func endsSegment(rest string) bool {
	return rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)
}

// endsGroup reports whether rest begins with "**/".
func endsGroup(rest string) bool {
	stars := countStars(rest)
	return stars >= 2 && strings.HasPrefix(rest[stars:], "/")
}

func appendCompiled(programs []program, pattern string) []program {
	if p, ok := compile(pattern); ok {
		return append(programs, p)
	}
	return programs
}

func countStars(pattern string) int {
	return len(pattern) - len(strings.TrimLeft(pattern, "*"))
}

// literalPrefix returns how much of the pattern has no special character.
func literalPrefix(pattern string) int {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return i
	}
	return len(pattern)
}

// compile compiles a pattern. It is not ok for one that is not valid, which
// matches nothing.
func compile(pattern string) (p program, ok bool) {
	for begins := true; pattern != ""; {
		c := pattern[0]
		stars := countStars(pattern)
		if begins && stars >= 2 && endsSegment(pattern[stars:]) {
			pattern = pattern[stars:]
			switch {
			case pattern == "":
				p.anyFolders()
				p.emit(opStar)
			case pattern[0] == '/':
				p.anyFolders()
				pattern = pattern[1:]
			default:
				p.emit(opStar, opSlash, opAnyFolders)
				pattern = pattern[2:]
			}
			continue
		}
		begins = false
		pattern = pattern[1:]
		switch c {
		case '*':
			p.emit(opStar)
			pattern = pattern[stars-1:]
			continue
		case '?':
			p.emit(opAny)
			continue
		case '[':
			var s set
			if s, pattern, ok = parseClass(pattern); !ok {
				return p, false
			}
			p.emit(opSets + op(len(p.sets)))
			p.sets = append(p.sets, s)
			continue
		case '\\':
			if pattern == "" {
				return p, false
			}
			c, pattern = pattern[0], pattern[1:]
		}
		if c == '/' {
			p.emit(opSlash)
			begins = true
			continue
		}
		p.emit(op(c))
	}
	return p, true
}

func (p *program) emit(ops ...op) { p.ops = append(p.ops, ops...) }

func (p *program) anyFolders() {
	if len(p.ops) == 0 || p.ops[len(p.ops)-1] != opAnyFolders {
		p.emit(opAnyFolders)
	}
}

// parseClass reads what follows a "[", through the "]".
func parseClass(pattern string) (s set, rest string, ok bool) {
	pattern, negated := cutNegation(pattern)
	var before byte // what may begin a range, or 0
	for first := true; ; first = false {
		if pattern == "" {
			return s, "", false
		}
		c := pattern[0]
		pattern = pattern[1:]
		switch {
		case c == ']' && !first:
			if negated {
				for i := range s {
					s[i] = ^s[i]
				}
			}
			return s, pattern, true
		case c == '-' && before != 0 && pattern != "" && pattern[0] != ']':
			if c, pattern, ok = cutEscaped(pattern); !ok {
				return s, "", false
			}
			s.addRange(before, c)
			before = 0
			continue
		case c == '[' && strings.HasPrefix(pattern, ":"):
			end := strings.IndexByte(pattern[1:], ']')
			if end < 0 {
				return s, "", false
			}
			name, isClass := strings.CutSuffix(pattern[1:1+end], ":")
			if !isClass {
				break
			}
			named, known := classes[name]
			if !known {
				return s, "", false
			}
			for i := range s {
				s[i] |= named[i]
			}
			pattern = pattern[1+end+1:]
			before = 0
			continue
		case c == '\\':
			if pattern == "" {
				return s, "", false
			}
			c, pattern = pattern[0], pattern[1:]
		}
		s.addRange(c, c)
		before = c
	}
}

func cutNegation(pattern string) (rest string, negated bool) {
	if pattern != "" && (pattern[0] == '!' || pattern[0] == '^') {
		return pattern[1:], true
	}
	return pattern, false
}

// cutEscaped cuts off one byte and the backslash before it, if any.
func cutEscaped(pattern string) (c byte, rest string, ok bool) {
	pattern = strings.TrimPrefix(pattern, `\`)
	if pattern == "" {
		return 0, "", false
	}
	return pattern[0], pattern[1:], true
}

// segment returns the end of the segment that begins at from.
func (p *program) segment(from int) int {
	for i := from; i < len(p.ops); i++ {
		if p.ops[i] == opSlash {
			return i
		}
	}
	return len(p.ops)
}

// matches reports whether the segment of p from one op to another matches
// name. To widen the last star is enough: what an earlier one could take
// besides, the last one takes.
func (p *program) matches(from, to int, name string) bool {
	ops := p.ops[from:to]
	at, star, starName := 0, -1, 0
	for i := 0; i < len(name); {
		if at < len(ops) {
			switch o := ops[at]; {
			case o == opStar:
				if at++; at == len(ops) {
					return true
				}
				star, starName = at, i
				continue
			case o == op(name[i]), o == opAny, o >= opSets && p.sets[o-opSets].has(name[i]):
				at++
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		starName++
		at, i = star, starName
	}
	return at == len(ops) || ops[at] == opStar && at+1 == len(ops)
}
