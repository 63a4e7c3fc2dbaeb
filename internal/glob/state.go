// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"math/bits"
	"slices"
)

// An activeSet is a set of states, those without edges left out.
type activeSet struct {
	few  uint64
	many []uint64 // when there are more than 64 states
}

// A State is how far a pattern has come in a folder. It is a value: a walk may keep one for each folder.
type State struct {
	pattern *Pattern
	active  activeSet
	dots    bool
}

// Start returns the state at the base. With dots a wildcard matches a leading dot, and ** enters folders whose names have one.
func (p *Pattern) Start(dots bool) State {
	return State{pattern: p, active: p.start, dots: dots}
}

// Match reports whether name, an entry of the folder, matches the whole pattern. It does not allocate.
func (s State) Match(name string, dir bool) bool {
	if name == "" {
		return false
	}
	hidden := !s.dots && name[0] == '.'
	if s.active.many == nil {
		for active := s.active.few & s.pattern.accepting; active != 0; active &= active - 1 {
			if s.pattern.states[bits.TrailingZeros64(active)].match(name, dir, hidden) {
				return true
			}
		}
		return false
	}
	for i, word := range s.active.many {
		for ; word != 0; word &= word - 1 {
			if s.pattern.states[i*64+bits.TrailingZeros64(word)].match(name, dir, hidden) {
				return true
			}
		}
	}
	return false
}

func (s *state) match(name string, dir, hidden bool) bool {
	for i := range s.accepting {
		e := &s.accepting[i]
		if (dir || e.accept == acceptAny) && (!hidden || e.segment.dot) && e.segment.match(name) {
			return true
		}
	}
	return false
}

// Enter returns the state within the folder name, an entry of this one.
func (s State) Enter(name string) State {
	in := State{pattern: s.pattern, dots: s.dots}
	if s.active.many != nil {
		in.active.many = make([]uint64, len(s.active.many))
	}
	if name == "" {
		return in
	}
	hidden := !s.dots && name[0] == '.'
	if s.active.many == nil {
		for active := s.active.few; active != 0; active &= active - 1 {
			from := &s.pattern.states[bits.TrailingZeros64(active)]
			for i := range from.leading {
				if e := &from.leading[i]; e.matches(name, hidden) {
					in.active.few |= s.pattern.closures[e.to]
				}
			}
		}
		return in
	}
	for i, word := range s.active.many {
		for ; word != 0; word &= word - 1 {
			from := &s.pattern.states[i*64+bits.TrailingZeros64(word)]
			for j := range from.leading {
				if e := &from.leading[j]; e.matches(name, hidden) {
					s.pattern.activate(in.active, e.to)
				}
			}
		}
	}
	return in
}

func (e *edge) matches(name string, hidden bool) bool {
	return (!hidden || e.segment.dot) && e.segment.match(name)
}

// activate adds a state, and all that are active with it, to a set that has words for all.
func (p *Pattern) activate(set activeSet, s int) {
	st := &p.states[s]
	if len(st.leading) > 0 || len(st.accepting) > 0 {
		if set.many[s/64]&(1<<(s%64)) != 0 {
			return
		}
		set.many[s/64] |= 1 << (s % 64)
	}
	for _, other := range st.same {
		p.activate(set, other)
	}
}

// Dead reports that nothing beneath the folder can match.
func (s State) Dead() bool {
	if s.active.many == nil {
		return s.active.few == 0
	}
	return !slices.ContainsFunc(s.active.many, func(word uint64) bool { return word != 0 })
}

// Names returns, sorted, the only names of entries that can match or lead on to a match. It is not ok when there are others,
// because a segment is more than a literal.
func (s State) Names() (names []string, ok bool) {
	for st := range s.states {
		for _, edges := range [][]edge{st.accepting, st.leading} {
			for i := range edges {
				if edges[i].segment.kind != exact {
					return nil, false
				}
				names = append(names, edges[i].segment.text)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// states yields the active states.
func (s State) states(yield func(*state) bool) {
	words := s.active.many
	if words == nil {
		words = []uint64{s.active.few}
	}
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			if !yield(&s.pattern.states[i*64+bits.TrailingZeros64(word)]) {
				return
			}
		}
	}
}
