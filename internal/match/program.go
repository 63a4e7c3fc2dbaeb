// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode"
)

// A program is a pattern as a machine that reads rune by rune, in one direction: instructions that wait for a rune, choose,
// look at what is around, or accept.
type program struct {
	insts    []inst
	start    uint32 // where an attempt begins
	search   uint32 // where a search begins: it attempts here and, by lower priority, at each later place
	looks    look   // all that the instructions look at
	alphabet *alphabet
}

type inst struct {
	op       op
	look     look   // of opLook
	out, arg uint32 // arg: of opChoice, the choice of lower priority; of opRune, the index of its set
}

type op uint8

const (
	opFail op = iota
	opRune
	opChoice
	opGo
	opLook
	opMatch
)

// A look is a condition on what is before and behind a place. The first bits are those of [syntax.EmptyOp].
type look uint8

const (
	lookBeginLine  = look(syntax.EmptyBeginLine)
	lookEndLine    = look(syntax.EmptyEndLine)
	lookBeginText  = look(syntax.EmptyBeginText)
	lookEndText    = look(syntax.EmptyEndText)
	lookBoundary   = look(syntax.EmptyWordBoundary)
	lookNoBoundary = look(syntax.EmptyNoWordBoundary)
	lookWordStart  = look(1 << 6) // no word character before, in Unicode's sense
	lookWordEnd    = look(1 << 7) // no word character behind

	looksBehind = lookBeginLine | lookBeginText | lookWordStart // all that depends on the rune before alone
)

// Kinds of runes that looks tell apart, by bits.
type kind uint8

const (
	kindEdge  kind = 1 << iota // not a rune: where the text begins or ends
	kindFeed                   // a line feed
	kindASCII                  // a word character for \b
	kindWord                   // a word character for Word
)

// matters is what of a kind the looks depend on.
func (l look) matters() kind {
	var k kind
	if l&(lookBeginLine|lookEndLine|lookBeginText|lookEndText) != 0 {
		k |= kindEdge | kindFeed
	}
	if l&(lookBoundary|lookNoBoundary) != 0 {
		k |= kindASCII
	}
	if l&(lookWordStart|lookWordEnd) != 0 {
		k |= kindWord
	}
	return k
}

// looksAt returns all the conditions that hold between two runes of these kinds.
func looksAt(before, behind kind) look {
	var l look
	if before&kindEdge != 0 {
		l |= lookBeginText
	}
	if before&(kindEdge|kindFeed) != 0 {
		l |= lookBeginLine
	}
	if behind&kindEdge != 0 {
		l |= lookEndText
	}
	if behind&(kindEdge|kindFeed) != 0 {
		l |= lookEndLine
	}
	if (before^behind)&kindASCII != 0 {
		l |= lookBoundary
	} else {
		l |= lookNoBoundary
	}
	if before&kindWord == 0 {
		l |= lookWordStart
	}
	if behind&kindWord == 0 {
		l |= lookWordEnd
	}
	return l
}

// newProgram makes the program of a simplified tree. With word, matches are not beside a word character.
func newProgram(tree *syntax.Regexp, word bool) (*program, error) {
	compiled, err := syntax.Compile(tree)
	if err != nil {
		return nil, err
	}
	if len(compiled.Inst) > mostInsts {
		return nil, errors.New("the pattern is too large")
	}
	p := &program{insts: make([]inst, len(compiled.Inst), len(compiled.Inst)+4), start: uint32(compiled.Start)}
	var sets [][]rune
	known := make(map[string]uint32)
	for i := range compiled.Inst {
		from, to := &compiled.Inst[i], &p.insts[i]
		to.out = from.Out
		switch from.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			to.op, to.arg = opChoice, from.Arg
		case syntax.InstCapture, syntax.InstNop:
			to.op = opGo
		case syntax.InstEmptyWidth:
			to.op, to.look = opLook, look(from.Arg)
		case syntax.InstMatch:
			to.op = opMatch
			if word {
				to.op, to.look, to.out = opLook, lookWordEnd, uint32(len(p.insts))
			}
		case syntax.InstFail:
			to.op = opFail
		default:
			set := runesOf(from)
			key := string(set)
			at, ok := known[key]
			if !ok {
				at = uint32(len(sets))
				known[key], sets = at, append(sets, set)
			}
			to.op, to.arg = opRune, at
		}
		p.looks |= to.look
	}
	if word {
		p.insts = append(p.insts, inst{op: opMatch}, inst{op: opLook, look: lookWordStart, out: p.start})
		p.start = uint32(len(p.insts) - 1)
		p.looks |= lookWordStart
	}
	p.search = uint32(len(p.insts))
	p.insts = append(
		p.insts,
		inst{op: opChoice, out: p.start, arg: p.search + 1},
		inst{op: opRune, out: p.search, arg: uint32(len(sets))},
	)
	sets = append(sets, []rune{0, unicode.MaxRune})
	p.alphabet = newAlphabet(sets, p.looks)
	return p, nil
}

// runesOf returns the runes that an instruction takes, as sorted pairs of first and last.
func runesOf(i *syntax.Inst) []rune {
	switch i.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	if len(i.Rune) != 1 {
		return i.Rune
	}
	runes := []rune{i.Rune[0]}
	if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(runes[0]); r != runes[0]; r = unicode.SimpleFold(r) {
			runes = append(runes, r)
		}
		slices.Sort(runes)
	}
	pairs := make([]rune, 0, 2*len(runes))
	for _, r := range runes {
		pairs = append(pairs, r, r)
	}
	return pairs
}

// An alphabet has a class for all the runes between which a program makes no difference. A class is a column of a table of
// transitions; the first column belongs to bytes that must be decoded first, the last to the end of the text.
type alphabet struct {
	ofByte   [256]uint8
	bounds   []rune   // the first rune of each range, sorted
	classes  []uint32 // of each range
	kinds    []kind   // of each class
	example  []rune   // of each class, one of its runes
	sets     [][]rune // sorted pairs of first and last
	accepted []bool   // by set and class; nil when that were too many
	columns  uint32
	feed     uint32 // the class of LF
	cr       uint32 // the class of CR
	edge     uint32
}

func newAlphabet(sets [][]rune, looks look) *alphabet {
	alone := func(runes ...rune) []rune {
		var pairs []rune
		for _, r := range runes {
			pairs = append(pairs, r, r)
		}
		return pairs
	}
	all := append(slices.Clip(sets), alone('\n'), alone('\r'))
	if looks&(lookBoundary|lookNoBoundary) != 0 {
		all = append(all, []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'})
	}
	if looks&(lookWordStart|lookWordEnd) != 0 {
		all = append(all, wordPairs())
	}
	bounds := []rune{0, 0x80}
	for _, pairs := range all {
		for i := 0; i < len(pairs); i += 2 {
			bounds = append(bounds, pairs[i], pairs[i+1]+1)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	a := &alphabet{sets: sets, bounds: bounds, classes: make([]uint32, len(bounds))}
	if len(all)*len(bounds) <= 1<<22 {
		a.merge(all)
	} else {
		for i := range a.classes {
			a.classes[i] = uint32(i)
		}
	}
	count := slices.Max(a.classes) + 2
	a.columns, a.edge = count+1, count
	a.kinds = make([]kind, a.columns)
	a.kinds[a.edge] = kindEdge
	a.example = make([]rune, a.columns)
	for i := range bounds {
		a.classes[i]++
		r := bounds[i]
		a.example[a.classes[i]] = r
		var k kind
		if r == '\n' {
			k |= kindFeed
		}
		if isASCIIWord(r) {
			k |= kindASCII
		}
		if isWord(r) {
			k |= kindWord
		}
		a.kinds[a.classes[i]] = k
	}
	if len(sets)*int(a.columns) <= 1<<20 {
		a.accepted = make([]bool, len(sets)*int(a.columns))
		for i := range a.accepted {
			a.accepted[i] = contains(sets[i/int(a.columns)], a.example[i%int(a.columns)])
		}
	}
	for b := range rune(0x80) {
		a.ofByte[b] = uint8(a.class(b))
	}
	a.feed, a.cr = a.class('\n'), a.class('\r')
	return a
}

// merge makes one class of all the ranges that are in the same sets.
func (a *alphabet) merge(sets [][]rune) {
	type part struct {
		class  uint32
		inside bool
	}
	parts := make(map[part]uint32)
	for _, pairs := range sets {
		clear(parts)
		at := 0
		for i, bound := range a.bounds {
			for at < len(pairs) && pairs[at+1] < bound {
				at += 2
			}
			key := part{a.classes[i], at < len(pairs) && pairs[at] <= bound}
			class, ok := parts[key]
			if !ok {
				class = uint32(len(parts))
				parts[key] = class
			}
			a.classes[i] = class
		}
	}
}

// accepts reports whether the set has the runes of the class.
func (a *alphabet) accepts(set, class uint32) bool {
	if a.accepted != nil {
		return a.accepted[set*a.columns+class]
	}
	return contains(a.sets[set], a.example[class])
}

// class returns the class of a rune.
func (a *alphabet) class(r rune) uint32 {
	i, found := slices.BinarySearch(a.bounds, r)
	if !found {
		i--
	}
	return a.classes[i]
}

func contains(pairs []rune, r rune) bool {
	low, high := 0, len(pairs)/2
	for low < high {
		middle := (low + high) / 2
		if pairs[2*middle+1] < r {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low < len(pairs)/2 && pairs[2*low] <= r
}

// reversed returns the tree that matches the same texts backwards.
func reversed(tree *syntax.Regexp) *syntax.Regexp {
	r := *tree
	switch r.Op {
	case syntax.OpBeginLine:
		r.Op = syntax.OpEndLine
	case syntax.OpEndLine:
		r.Op = syntax.OpBeginLine
	case syntax.OpBeginText:
		r.Op = syntax.OpEndText
	case syntax.OpEndText:
		r.Op = syntax.OpBeginText
	case syntax.OpLiteral:
		r.Rune = slices.Clone(r.Rune)
		slices.Reverse(r.Rune)
	}
	r.Sub = make([]*syntax.Regexp, len(tree.Sub))
	for i, sub := range tree.Sub {
		r.Sub[i] = reversed(sub)
	}
	if r.Op == syntax.OpConcat {
		slices.Reverse(r.Sub)
	}
	return &r
}
