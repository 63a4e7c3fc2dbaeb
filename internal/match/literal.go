// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A literal is a text of bytes, some of which are letters of either case: a byte b of a text is the one at i when
// b|fold[i] == text[i].
type literal struct{ text, fold string }

const caseBit = 'a' - 'A'

func (l literal) and(m literal) literal { return literal{l.text + m.text, l.fold + m.fold} }

// at reports whether the literal is at the beginning of a text.
func (l literal) at(text []byte) bool {
	if len(text) < len(l.text) {
		return false
	}
	for i := range len(l.text) {
		if text[i]|l.fold[i] != l.text[i] {
			return false
		}
	}
	return true
}

// A required is a set of literals, one of which is in every match.
type required struct {
	literals []literal
	whole    bool // a line matches when, not only only when, one of them is in it
}

const (
	mostLiterals = 64   // in a set
	mostClass    = 12   // runes of a class that are taken one by one
	mostBytes    = 4096 // of all that are put together piece by piece
)

// requiredOf returns what every match of a simplified tree must contain, if that is worth to be searched for.
func requiredOf(tree *syntax.Regexp) (required, bool) {
	r := read(tree)
	if r.finite && r.bare && worth(r.all) > 0 {
		return required{r.all, true}, true
	}
	best := r.best()
	if worth(best) < 4 {
		return required{}, false
	}
	return required{best, false}, true
}

// A reading is what is known of the texts that a tree matches.
type reading struct {
	finite bool      // all holds all of them
	bare   bool      // with no condition on what is around
	all    []literal // when finite
	needed []literal // otherwise: one of them is in each text; nil when nothing is known
}

// best is the best set that each text needs.
func (r reading) best() []literal {
	if r.finite {
		return r.all
	}
	return r.needed
}

func exactly(all ...literal) reading { return reading{finite: true, bare: true, all: all} }

func read(tree *syntax.Regexp) reading {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return exactly(literal{})
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return reading{finite: true, all: []literal{{}}}
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 && !slices.ContainsFunc(tree.Rune, unreadable) {
			text := string(tree.Rune)
			return exactly(literal{text, string(make([]byte, len(text)))})
		}
		parts := make([]reading, len(tree.Rune))
		for i, r := range tree.Rune {
			parts[i] = readRune(r, tree.Flags&syntax.FoldCase != 0)
		}
		return inARow(parts)
	case syntax.OpCharClass:
		return readClass(tree.Rune)
	case syntax.OpCapture:
		return read(tree.Sub[0])
	case syntax.OpPlus:
		return reading{needed: read(tree.Sub[0]).best()}
	case syntax.OpQuest:
		if r := read(tree.Sub[0]); r.finite && len(r.all) < mostLiterals/4 {
			r.all = append(r.all[:len(r.all):len(r.all)], literal{})
			return r
		}
	case syntax.OpConcat:
		parts := make([]reading, len(tree.Sub))
		for i, sub := range tree.Sub {
			parts[i] = read(sub)
		}
		return inARow(parts)
	case syntax.OpAlternate:
		parts := make([]reading, len(tree.Sub))
		for i, sub := range tree.Sub {
			parts[i] = read(sub)
		}
		return oneOf(parts)
	}
	return reading{}
}

func readRune(r rune, fold bool) reading {
	if !fold {
		return readClass([]rune{r, r})
	}
	pairs := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		pairs = append(pairs, f, f)
	}
	return readClass(pairs)
}

// unreadable reports whether texts can hold the rune in other bytes than its own: U+FFFD stands for stray bytes too, and
// what is no character is in no text.
func unreadable(r rune) bool { return r == utf8.RuneError || !utf8.ValidRune(r) }

// readClass reads a class of few runes.
func readClass(pairs []rune) reading {
	var runes []rune
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1]-pairs[i] >= mostClass {
			return reading{}
		}
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if runes = append(runes, r); len(runes) > mostClass || unreadable(r) {
				return reading{}
			}
		}
	}
	r := reading{finite: true, bare: true}
	has := func(r rune) bool { return slices.Contains(runes, r) }
	for _, c := range runes {
		switch {
		case 'a' <= c && c <= 'z' && has(c-caseBit):
			r.all = append(r.all, literal{string(c), string(rune(caseBit))})
		case 'A' <= c && c <= 'Z' && has(c+caseBit):
		default:
			text := string(c)
			r.all = append(r.all, literal{text, string(make([]byte, len(text)))})
		}
	}
	if len(r.all) == 0 {
		return reading{}
	}
	return r
}

// inARow reads a concatenation: runs of finite parts are multiplied; the best run, or the best need of another part, is what
// the whole needs.
func inARow(parts []reading) reading {
	run := exactly(literal{})
	var needed []literal
	broken := false
	offer := func(set []literal) {
		if worth(set) > worth(needed) {
			needed = set
		}
	}
	for _, part := range parts {
		if part.finite && (len(part.all) == 1 && len(part.all[0].text) == 0 || fits(part.all, run.all)) {
			run = reading{finite: true, bare: run.bare && part.bare, all: product(run.all, part.all)}
			continue
		}
		broken = true
		offer(run.all)
		run = exactly(literal{})
		if part.finite {
			run = part
		} else {
			offer(part.needed)
		}
	}
	if !broken {
		return run
	}
	offer(run.all)
	return reading{needed: needed}
}

// fits reports whether the product of two sets is small.
func fits(left, right []literal) bool {
	bytes := 0
	for _, l := range left {
		bytes += len(l.text) * len(right)
	}
	for _, r := range right {
		bytes += len(r.text) * len(left)
	}
	return len(left)*len(right) <= mostLiterals && bytes <= mostBytes
}

func product(left, right []literal) []literal {
	all := make([]literal, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			all = append(all, l.and(r))
		}
	}
	return all
}

// oneOf reads an alternation.
func oneOf(parts []reading) reading {
	union := exactly()
	for _, part := range parts {
		set := part.best()
		if len(set) == 0 || len(set)+len(union.all) > mostLiterals {
			return reading{}
		}
		union.finite = union.finite && part.finite
		union.bare = union.bare && part.bare
		union.all = append(union.all, set...)
	}
	if !union.finite {
		return reading{needed: union.all}
	}
	return union
}

// worth is a guess at how rare it is that one of the literals is at a place of a text, in bits; 0 for a set that is no use.
func worth(set []literal) int {
	if len(set) == 0 {
		return 0
	}
	least := 1 << 10
	for _, l := range set {
		bits := 0
		for i := range len(l.text) {
			bits += max(1, l.rarity(i)/3)
		}
		if len(l.text) > 0 {
			i, _ := l.rarest()
			bits += l.rarity(i) / 2
		}
		least = min(least, bits)
	}
	if least == 0 {
		return 0
	}
	for n := len(set); n > 1; n /= 2 {
		least--
	}
	return max(least, 1)
}

// rarest returns the places of the two rarest bytes of the literal, in ascending order; they are the same in one of one byte.
func (l literal) rarest() (first, second int) {
	for i := range len(l.text) {
		if l.rarity(i) > l.rarity(first) {
			first = i
		}
	}
	second = first
	for i := range len(l.text) {
		if i != first && (second == first || l.rarity(i) > l.rarity(second)) {
			second = i
		}
	}
	return min(first, second), max(first, second)
}

// rarity is how rare the byte at i is in texts, in bits.
func (l literal) rarity(i int) int {
	bits := rarityOf(l.text[i])
	if l.fold[i] != 0 {
		bits = max(1, min(bits, rarityOf(l.text[i]-caseBit))-1)
	}
	return bits
}

func rarityOf(b byte) int {
	if b >= utf8.RuneSelf {
		return 9
	}
	return int(rarities[b])
}

// Measured on source code.
var rarities = [utf8.RuneSelf]uint8{
	25, 25, 25, 25, 25, 25, 25, 25, 25, 4, 5, 25, 25, 7, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25,
	3, 9, 7, 12, 13, 10, 9, 9, 6, 6, 9, 10, 6, 8, 6, 6, 6, 6, 6, 7, 7, 8, 7, 8, 8, 8, 6, 8, 9, 6, 9, 12,
	12, 7, 8, 8, 8, 7, 8, 9, 9, 7, 12, 10, 8, 7, 8, 7, 8, 10, 7, 7, 7, 9, 8, 9, 8, 10, 11, 8, 10, 8, 13, 7,
	11, 5, 7, 6, 6, 4, 6, 6, 7, 5, 10, 8, 6, 6, 5, 5, 6, 10, 5, 5, 5, 6, 7, 8, 7, 7, 10, 8, 9, 8, 14, 25,
}

// sole returns the one text that the literals are, if they are one without letters of either case.
func sole(set []literal) (text []byte, ok bool) {
	if len(set) != 1 || bytes.ContainsRune([]byte(set[0].fold), caseBit) {
		return nil, false
	}
	return []byte(set[0].text), true
}
