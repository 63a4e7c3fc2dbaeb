// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"slices"
	"strings"
)

// Rest returns a pattern for what lies beneath the folder: compiled by [Compile] and started there with the same dots, it
// gives the same answers. It is "" when the state is [State.Dead]. The rest of a pattern close to its limits can be beyond them.
func (s State) Rest() string {
	active := make(map[*state]bool)
	for st := range s.states {
		active[st] = true
	}
	r := rest{entries: make(map[*sequence]map[int][]string)}
	var whole []string
	for st := range s.states {
		if s.coveredBy(st, active) {
			continue
		}
		if st.place.sequence == nil {
			if !slices.Contains(whole, st.text) {
				whole = append(whole, st.text)
			}
			continue
		}
		r.enter(st.place, st.text)
	}
	var root *sequence
	for sequence := range r.entries {
		for root = sequence; root.parent != nil; root = root.parent {
		}
		break
	}
	if root != nil {
		whole = append(whole, string(r.write(root)))
	}
	return union(whole)
}

// coveredBy tells whether another active state matches all that this one does.
func (s State) coveredBy(st *state, active map[*state]bool) bool {
	for i := st.within; i >= 0; i = s.pattern.states[i].within {
		if active[&s.pattern.states[i]] {
			return true
		}
	}
	return false
}

func union(patterns []string) string {
	if len(patterns) == 1 {
		return patterns[0]
	}
	if len(patterns) == 0 {
		return ""
	}
	return "{" + strings.Join(patterns, ",") + "}"
}

// A rest is a pattern from several of its positions on.
type rest struct {
	entries map[*sequence]map[int][]string // by position, what stands before the pattern from there on
}

func (r *rest) enter(p position, text string) {
	if r.entries[p.sequence] == nil {
		r.entries[p.sequence] = make(map[int][]string)
		// The sequences around it are found by having an entry too.
		if parent := p.sequence.parent; parent != nil && r.entries[parent] == nil {
			r.enter(position{parent, -1}, "")
		}
	}
	if p.index >= 0 && !slices.Contains(r.entries[p.sequence][p.index], text) {
		r.entries[p.sequence][p.index] = append(r.entries[p.sequence][p.index], text)
	}
}

// write writes a sequence from its entries on. Each piece comes once, whatever the number of entries before it: from b and
// from c on, a/b/c is {b/,}c.
func (r *rest) write(s *sequence) []byte {
	var b []byte
	begun := false
	for i := 0; ; i++ {
		if texts := r.entries[s][i]; len(texts) > 0 {
			if begun {
				texts = append([]string{string(b)}, texts...)
			}
			b, begun = []byte(union(texts)), true
		}
		if i == len(s.nodes) {
			return b
		}
		n := &s.nodes[i]
		var inside []string
		for _, branch := range n.branches {
			if r.entries[branch] != nil {
				inside = append(inside, string(r.write(branch)))
			}
		}
		if begun {
			b = appendNode(b, n)
			if len(inside) > 0 {
				inside = append([]string{string(b)}, inside...)
			}
		}
		if len(inside) > 0 {
			b, begun = []byte(union(inside)), true
			if b[len(b)-1] == '*' {
				// Without braces a * that follows would make it a **.
				b = append(append([]byte{'{'}, b...), '}')
			}
		}
	}
}

// appendNodes writes the pieces of one segment.
func appendNodes(b []byte, nodes []node) []byte {
	for i := range nodes {
		if nodes[i].kind == star && i > 0 && nodes[i-1].kind == star {
			continue
		}
		b = appendNode(b, &nodes[i])
	}
	return b
}

func appendNode(b []byte, n *node) []byte {
	switch n.kind {
	case literal:
		for i := range len(n.text) {
			if strings.IndexByte(`\*?[]{},`, n.text[i]) >= 0 {
				b = append(b, '\\')
			}
			b = append(b, n.text[i])
		}
	case single:
		b = append(b, '?')
	case star:
		b = append(b, '*')
	case globstar:
		b = append(b, "**"...)
	case oneOf:
		b = append(b, n.class.source...)
	case slash:
		b = append(b, '/')
	case alternatives:
		b = append(b, '{')
		for i, branch := range n.branches {
			if i > 0 {
				b = append(b, ',')
			}
			for j := range branch.nodes {
				b = appendNode(b, &branch.nodes[j])
			}
		}
		b = append(b, '}')
	}
	return b
}
