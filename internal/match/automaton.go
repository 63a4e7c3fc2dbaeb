// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// An automaton runs a program over text with a table of transitions, which it fills as it goes. The table is bounded: when
// it is full it is dropped. So the time is linear in the text, whatever the program, and the memory is bounded.
//
// A state is the list of the instructions at which the program may be, and what of the last rune they look at.
type automaton struct {
	*alphabet
	program *program
	mode    mode
	entry   uint32 // the instruction at which it starts
	matters kind
	stop    func() bool // nil: never
	moves   int
	raw     bool // lists hold the instructions before anything is followed

	// The row of a state begins at the state's number. The numbers unknown, matched and dead are special, in this order.
	table  []uint32
	dead   uint32
	starts [kindWord << 1]uint32 // by kind of the rune before; 0: not known

	memory []uint32 // the lists of all states
	begins []uint32 // by state, where its list begins in memory, and where that of the last one ends
	notes  []note   // by state
	hashes []uint32 // open addressing; index of a state + 1
	most   int      // states, from which on the cache is dropped
	drops  int      // how often it was

	barren barren

	list, next, resolved []uint32
	stack                []uint32
	seen                 []uint32 // by instruction, the round in which it was last seen
	round                uint32
	recent               [256]struct {
		r     rune
		class uint32
	}
}

// A mode says what an automaton finds.
type mode uint8

const (
	modeLines   mode = iota // the first line with a match: LF and CRLF end lines and the text is as if begun anew
	modeFirst               // the end of the first match, which is the one package regexp prefers
	modeLongest             // the end of the longest match that begins right here
)

// A note is what a state knows beside its list: in the low bits, the kind of the last rune.
type note uint8

const (
	noteCR    note = 1 << 6 // a CR was read, which belongs to the ending when LF follows
	noteMatch note = 1 << 7 // a match ended before the last rune

	noteKind = note(kindEdge | kindFeed | kindASCII | kindWord)
)

const (
	unknown      = 0
	cacheBytes   = 2 << 20
	matchedState = 1
	deadState    = 2
)

// What a transition tells of the state to which it leads, beside its number.
const (
	ended = 1 << 31 // it has noteMatch
	over  = 1 << 30 // and nothing can come of it

	numberBits = over - 1
)

func newAutomaton(p *program, mode mode, stop func() bool) *automaton {
	a := &automaton{
		alphabet: p.alphabet, program: p, mode: mode, stop: stop, entry: p.search, matters: p.looks.matters(),
		dead: deadState * p.alphabet.columns, seen: make([]uint32, len(p.insts)),
	}
	if mode == modeLongest {
		a.entry = p.start
	}
	// Which of two ways to the same instruction has priority can depend on a look on one of them. So where priority counts
	// nothing is followed until all looks are known.
	a.raw = mode == modeFirst && p.looks&^looksBehind != 0
	for i := range a.recent {
		a.recent[i].r = -1
	}
	a.bound(cacheBytes)
	return a
}

// bound sets how much memory the cache may take, about, and drops it.
func (a *automaton) bound(size int) {
	// A state is taken to have a list of eight.
	a.most = max(8, min(size/(4*int(a.columns)+48), 10_000))
	slots := 32
	for slots < 2*a.most {
		slots *= 2
	}
	a.hashes = make([]uint32, slots)
	a.memory = make([]uint32, 0, 64)
	a.drop()
}

// drop forgets all states.
func (a *automaton) drop() {
	a.drops++
	clear(a.hashes)
	clear(a.starts[:])
	a.memory, a.begins, a.notes = a.memory[:0], append(a.begins[:0], 0), a.notes[:0]
	a.table = a.table[:0]
	for range deadState + 1 {
		a.grow()
	}
	for i := range a.columns {
		a.table[a.columns+i] = a.columns
	}
}

// grow adds a state with an empty row, whose list is what memory holds beyond the others.
func (a *automaton) grow() {
	n := len(a.table)
	a.table = slices.Grow(a.table, int(a.columns))[:n+int(a.columns)]
	clear(a.table[n:])
	a.begins = append(a.begins, uint32(len(a.memory)))
	a.notes = append(a.notes, 0)
}

// state returns the number of the state with this list and note. It may drop all others to have room for it.
func (a *automaton) state(list []uint32, n note) uint32 {
	if len(list) == 0 {
		n &= noteMatch
		if n == 0 {
			return a.dead
		}
	}
	h := uint32(n) + 1
	for _, pc := range list {
		h = (h ^ pc) * 0x9E3779B1
		h ^= h >> 15
	}
	mask := uint32(len(a.hashes) - 1)
	at := h & mask
	for ; a.hashes[at] != 0; at = (at + 1) & mask {
		i := a.hashes[at] - 1
		if a.notes[i] == n && slices.Equal(a.memory[a.begins[i]:a.begins[i+1]], list) {
			return i * a.columns
		}
	}
	if len(a.begins) > a.most || len(a.memory)+len(list) > max(cacheBytes/8, 2*len(list)) {
		a.drop()
		at = h & mask
	}
	i := uint32(len(a.notes))
	a.memory = append(a.memory, list...)
	a.grow()
	a.notes[i] = n
	a.hashes[at] = i + 1
	return i * a.columns
}

// startAfter returns the state in which a run starts behind a rune of this kind.
func (a *automaton) startAfter(before kind) uint32 {
	before &= a.matters
	if a.starts[before] == 0 {
		a.newRound()
		a.list = a.list[:0]
		if a.raw {
			a.list = append(a.list, a.entry)
		} else {
			a.list, _ = a.follow(a.list, a.entry, before)
		}
		number := a.columns * matchedState
		if a.mode != modeLines || !a.matches(a.list) {
			a.sort(a.list)
			number = a.state(a.list, note(before)&a.pending(a.list))
		}
		a.starts[before] = number
	}
	return a.starts[before]
}

func (a *automaton) newRound() {
	a.round++
	if a.round == 0 {
		clear(a.seen)
		a.round = 1
	}
}

// pending is the part of a note that a state with this list needs.
func (a *automaton) pending(list []uint32) note {
	if a.raw {
		return noteKind
	}
	for _, pc := range list {
		if a.program.insts[pc].op == opLook {
			return noteKind
		}
	}
	return 0
}

func (a *automaton) matches(list []uint32) bool {
	for _, pc := range list {
		if a.program.insts[pc].op == opMatch {
			return true
		}
	}
	return false
}

// sort brings a list whose order does not matter into the one order.
func (a *automaton) sort(list []uint32) {
	if a.mode != modeFirst {
		slices.Sort(list)
	}
}

// follow appends to the list the instructions that wait at pc: for a rune, for a look that depends on what comes, or that
// accept. It returns false when nothing of lower priority counts. Before is the kind of the rune before.
func (a *automaton) follow(list []uint32, pc uint32, before kind) ([]uint32, bool) {
	behind := looksAt(before, 0)
	return a.walk(list, pc, func(l look) (holds, known bool) {
		return behind&l == l, l&^looksBehind == 0
	})
}

// walk does the work of follow and resolve. Holds tells whether a condition holds, if that is known already.
func (a *automaton) walk(list []uint32, pc uint32, holds func(look) (holds, known bool)) ([]uint32, bool) {
	stack := append(a.stack[:0], pc)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a.seen[pc] == a.round {
			continue
		}
		a.seen[pc] = a.round
		switch i := &a.program.insts[pc]; i.op {
		case opChoice:
			stack = append(stack, i.arg, i.out)
		case opGo:
			stack = append(stack, i.out)
		case opRune:
			list = append(list, pc)
		case opLook:
			if yes, known := holds(i.look); !known {
				list = append(list, pc)
			} else if yes {
				stack = append(stack, i.out)
			}
		case opMatch:
			list = append(list, pc)
			if a.mode == modeFirst {
				a.stack = stack
				return list, false
			}
		}
	}
	a.stack = stack
	return list, true
}

// resolve returns the list with all looks decided, now that the kinds of the runes around are known.
func (a *automaton) resolve(list []uint32, before, behind kind) []uint32 {
	if a.pending(list) == 0 {
		return list
	}
	holding := looksAt(before, behind)
	holds := func(l look) (bool, bool) { return holding&l == l, true }
	a.newRound()
	a.resolved = a.resolved[:0]
	for _, pc := range list {
		var goOn bool
		if a.resolved, goOn = a.walk(a.resolved, pc, holds); !goOn {
			break
		}
	}
	return a.resolved
}

// step puts into next what follows the list when a rune of the class is read. It returns what the new state must note.
// In modeLines, it reports whether there is a match instead.
func (a *automaton) step(list []uint32, n note, class uint32) (note, bool) {
	kind := a.kinds[class] & a.matters
	list = a.resolve(list, kindOf(n), kind)
	a.next = a.next[:0]
	a.newRound()
	var noted note
	if a.matches(list) {
		noted = noteMatch
		if a.mode == modeLines {
			return 0, true
		}
	}
	if class == a.edge {
		return noted, false
	}
	for _, pc := range list {
		i := &a.program.insts[pc]
		if i.op != opRune || !a.accepts(i.arg, class) {
			continue
		}
		if a.raw {
			if a.seen[i.out] != a.round {
				a.seen[i.out] = a.round
				a.next = append(a.next, i.out)
			}
			continue
		}
		var goOn bool
		if a.next, goOn = a.follow(a.next, i.out, kind); !goOn {
			break
		}
	}
	if a.mode == modeLines && a.matches(a.next) {
		return 0, true
	}
	a.sort(a.next)
	return noted | note(kind)&a.pending(a.next), false
}

func kindOf(n note) kind { return kind(n & noteKind) }

// stopped is what a panic is of that ends the work of a matcher early.
type stopped struct{}

// movesToAsk is how many transitions are computed before somebody is asked whether
// to go on. One of them takes a third of a millisecond with the largest programs.
const movesToAsk = 64

// move computes a transition and puts it into the table.
func (a *automaton) move(from, class uint32) uint32 {
	if a.moves++; a.moves%movesToAsk == 0 && a.stop != nil && a.stop() {
		panic(stopped{})
	}
	i := from / a.columns
	list, n := a.memory[a.begins[i]:a.begins[i+1]], a.notes[i]
	drops := a.drops
	number := a.target(list, n, class)
	if a.drops == drops {
		a.table[from+class] = number
	}
	return number
}

func (a *automaton) target(list []uint32, n note, class uint32) uint32 {
	if a.mode != modeLines {
		noted, _ := a.step(list, n, class)
		number := a.state(a.next, noted)
		if noted&noteMatch != 0 {
			number |= ended
			if len(a.next) == 0 {
				number |= over
			}
		}
		return number
	}
	matched := matchedState * a.columns
	if n&noteCR != 0 && class != a.feed {
		noted, ok := a.step(list, n&^noteCR, a.cr)
		if ok {
			return matched
		}
		a.list = append(a.list[:0], a.next...)
		list, n = a.list, noted
	}
	n &^= noteCR
	switch class {
	case a.cr:
		return a.state(list, n|noteCR)
	case a.feed, a.edge:
		if _, ok := a.step(list, n, a.edge); ok {
			return matched
		}
		if class == a.edge {
			return a.dead
		}
		return a.startAfter(kindEdge)
	}
	noted, ok := a.step(list, n, class)
	if ok {
		return matched
	}
	return a.state(a.next, noted)
}

// decode returns the class of the rune at the beginning of text, which is no ASCII, and its width.
func (a *automaton) decode(text []byte) (class uint32, width int) {
	r, width := utf8.DecodeRune(text)
	return a.classOf(r), width
}

// classOf returns the class of a rune.
func (a *automaton) classOf(r rune) uint32 {
	known := &a.recent[r&0xFF]
	if known.r != r {
		known.r, known.class = r, a.class(r)
	}
	return known.class
}

// line finds a byte of the first line with a match, its line feed included. The text begins with a line.
func (a *automaton) line(text []byte) (at int, ok bool) {
	matched := matchedState * a.columns
	s := a.startAfter(kindEdge)
	if s == matched {
		return 0, len(text) > 0
	}
	classes := &a.ofByte
	for i := 0; ; {
		table := a.table
		for len(text)-i >= 8 {
			// The special states are not left but by a line feed, so that it is enough to look at the last of a few.
			t := text[i : i+8 : i+8]
			x := table[s+uint32(classes[t[0]])]
			x = table[x+uint32(classes[t[1]])]
			x = table[x+uint32(classes[t[2]])]
			x = table[x+uint32(classes[t[3]])]
			x = table[x+uint32(classes[t[4]])]
			x = table[x+uint32(classes[t[5]])]
			x = table[x+uint32(classes[t[6]])]
			x = table[x+uint32(classes[t[7]])]
			if x <= a.dead {
				break
			}
			s = x
			i += 8
		}
		for stop := i + 8; i < len(text) && (i < stop || text[i] >= utf8.RuneSelf); {
			class, width := uint32(classes[text[i]]), 1
			if class == 0 {
				class, width = a.decode(text[i:])
				stop = i + 12 // others are likely to be near
			}
			next := a.table[s+class]
			if next == unknown {
				next = a.move(s, class)
			}
			if next == matched {
				return i, true
			}
			s = next
			i += width
			if s == a.dead {
				feed := bytes.IndexByte(text[i:], '\n')
				if feed < 0 {
					return 0, false
				}
				i += feed + 1
				s = a.startAfter(kindEdge)
			}
		}
		if i == len(text) {
			break
		}
	}
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return 0, false
	}
	end := a.table[s+a.edge]
	if end == unknown {
		end = a.move(s, a.edge)
	}
	return len(text) - 1, end == matched
}

// kindBefore is that of the rune before a place.
func kindBefore(text []byte, at int) kind {
	if at == 0 {
		return kindEdge
	}
	r, _ := utf8.DecodeLastRune(text[:at])
	return kindOfRune(r)
}

// kindBehind is that of the rune at a place.
func kindBehind(text []byte, at int) kind {
	if at == len(text) {
		return kindEdge
	}
	r, _ := utf8.DecodeRune(text[at:])
	return kindOfRune(r)
}

func kindOfRune(r rune) kind {
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
	return k
}

// forward returns where the first match that begins at or after at ends.
func (a *automaton) forward(text []byte, at int) (end int, ok bool) {
	var before kind
	if a.matters != 0 {
		before = kindBefore(text, at)
	}
	s := a.startAfter(before)
	a.barren.begin(a.drops)
	check := math.MaxInt
	for i := at; i < len(text); {
		if i >= check {
			if a.barren.has(i, s, a.drops) {
				a.barren.keep(a.drops)
				return end, ok
			}
			check = i/betweenChecks*betweenChecks + betweenChecks
		}
		class, width := uint32(a.ofByte[text[i]]), 1
		if class == 0 {
			class, width = a.decode(text[i:])
		}
		next := a.table[s+class]
		if next == unknown {
			next = a.move(s, class)
		}
		s = next & numberBits
		if next != s {
			end, ok = i, true
			if next&over != 0 {
				return end, ok
			}
			a.barren.passed = a.barren.passed[:0]
			check = a.barren.firstCheck(i)
		} else if s == a.dead {
			a.barren.keep(a.drops)
			return end, ok
		}
		i += width
	}
	next := a.table[s+a.edge]
	if next == unknown {
		next = a.move(s, a.edge)
	}
	if next&ended != 0 {
		return len(text), true
	}
	a.barren.keep(a.drops)
	return end, ok
}

// backward returns where the longest match begins that ends at end and begins at or after limit. There is one. The program
// is that of the reversed pattern.
func (a *automaton) backward(text []byte, limit, end int) (start int) {
	var behind kind
	if a.matters != 0 {
		behind = kindBehind(text, end)
	}
	s := a.startAfter(behind)
	start = end
	for i := end; i > 0; {
		class, width := uint32(a.ofByte[text[i-1]]), 1
		if class == 0 {
			var r rune
			r, width = utf8.DecodeLastRune(text[:i])
			class = a.classOf(r)
		}
		next := a.table[s+class]
		if next == unknown {
			next = a.move(s, class)
		}
		s = next & numberBits
		if next != s {
			start = i
			if next&over != 0 {
				return start
			}
		} else if s == a.dead {
			return start
		}
		if i == limit {
			return start
		}
		i -= width
	}
	next := a.table[s+a.edge]
	if next == unknown {
		next = a.move(s, a.edge)
	}
	if next&ended != 0 {
		return 0
	}
	return start
}
