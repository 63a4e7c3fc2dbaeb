// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"fmt"
	"slices"
	"strings"
)

// What a pattern may come to. A pattern that is written by hand stays a thousand times below.
const (
	maxSegments  = 10_000    // with all alternatives written out
	maxWildcards = 16_384    // pieces of the segments that are more than a literal or a *
	maxSteps     = 4_000_000 // of writing out
	maxGlobstars = 8         // in a segment that has other pieces too
)

// A budget is what is left of these.
type budget struct{ segments, wildcards, steps int }

func newBudget() *budget { return &budget{maxSegments, maxWildcards, maxSteps} }

func (b *budget) spend(segments, wildcards, steps int) error {
	b.segments -= segments
	b.wildcards -= wildcards
	b.steps -= steps
	if b.segments < 0 || b.wildcards < 0 || b.steps < 0 {
		return badPattern(fmt.Sprintf("too many alternatives: written out, a pattern may have %d segments and %d pieces between wildcards", maxSegments, maxWildcards))
	}
	return nil
}

type acceptance uint8

const (
	acceptNone acceptance = iota
	acceptFolder
	acceptAny
)

// An edge is one segment, and where it leads.
type edge struct {
	segment segment
	accept  acceptance // what the name matches the whole pattern as
	to      int        // state, or -1
}

// A state is a place between two names.
type state struct {
	accepting []edge // with an accept
	leading   []edge // with a to
	same      []int  // states that are active whenever this one is

	// What Rest writes: text and then the rest of the pattern from place on; with no place text alone.
	place  position
	text   string
	within int // a state that matches all that this one does, or -1
}

// A run is one way to write out the pieces from where a segment begins to its end.
type run struct {
	nodes []node
	next  int // state behind the slash, or -1 at the end of the pattern
}

type compiler struct {
	states   []state
	byPlace  map[position]int // the state at a position
	folders  map[position]int // the state of a ** before a position
	runs     [][]run          // by state
	ends     map[int]bool     // memo of endsAt
	trailing int              // the state of a ** at the end, or -1
	anyDepth int              // the state of a filter without a slash, or -1
	prefix   []node
	budget   *budget
}

func compile(pattern string, filter bool) (*Pattern, error) {
	root, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	c := &compiler{
		byPlace:  make(map[position]int),
		folders:  make(map[position]int),
		ends:     make(map[int]bool),
		trailing: -1,
		anyDepth: -1,
	}
	// The first segment has a budget of its own. So a Rest, whose first segment may be any of those to come, never needs more
	// than the pattern that it is of.
	first, rest := newBudget(), newBudget()
	c.budget = first
	start, err := c.at(position{root, 0})
	if err != nil {
		return nil, err
	}
	// Each position that is found on the way adds a state, which comes to its turn.
	for s := start; s < len(c.states); s++ {
		if err := c.writeOut(s, c.states[s].place.sequence, c.states[s].place.index); err != nil {
			return nil, err
		}
		c.prefix = c.prefix[:0]
		c.budget = rest
	}
	c.budget = first
	for s := range len(c.states) {
		if err := c.connect(s, filter && s == start); err != nil {
			return nil, err
		}
		c.budget = rest
	}
	return c.finish(start)
}

// at returns the state of a position.
func (c *compiler) at(p position) (int, error) {
	for p.index == len(p.sequence.nodes) && p.sequence.parent != nil {
		p = position{p.sequence.parent, p.sequence.after}
		if err := c.budget.spend(0, 0, 1); err != nil {
			return 0, err
		}
	}
	s, ok := c.byPlace[p]
	if !ok {
		s = c.add(state{place: p, within: -1})
		c.byPlace[p] = s
		c.runs = append(c.runs, nil)
	}
	return s, nil
}

func (c *compiler) add(s state) int {
	c.states = append(c.states, s)
	return len(c.states) - 1
}

// writeOut finds the runs of state s, from where prefix has come to.
func (c *compiler) writeOut(s int, sequence *sequence, index int) error {
	for ; index < len(sequence.nodes); index++ {
		if err := c.budget.spend(0, 0, 1); err != nil {
			return err
		}
		switch n := &sequence.nodes[index]; n.kind {
		case slash:
			next, err := c.at(position{sequence, index + 1})
			if err != nil {
				return err
			}
			return c.emit(s, next)
		case alternatives:
			mark := len(c.prefix)
			for _, branch := range n.branches {
				c.prefix = c.prefix[:mark]
				if err := c.writeOut(s, branch, 0); err != nil {
					return err
				}
			}
			return nil
		default:
			c.prefix = append(c.prefix, *n)
		}
	}
	if sequence.parent == nil {
		return c.emit(s, -1)
	}
	if err := c.budget.spend(0, 0, 1); err != nil {
		return err
	}
	return c.writeOut(s, sequence.parent, sequence.after)
}

// emit adds prefix to the runs of state s.
func (c *compiler) emit(s, next int) error {
	steps := 0
	for _, n := range c.prefix {
		steps += 1 + len(n.text)
	}
	if err := c.budget.spend(0, 0, steps); err != nil {
		return err
	}
	r := run{nodes: joined(c.prefix), next: next}
	if len(r.nodes) == 1 && r.nodes[0].kind == literal && r.nodes[0].text == ".." {
		return badPattern("a pattern has no ..; say it in the base instead")
	}
	if countGlobstars(r.nodes) > maxGlobstars && len(r.nodes) > countGlobstars(r.nodes) {
		return badPattern(fmt.Sprintf("more than %d ** in one segment", maxGlobstars))
	}
	c.runs[s] = append(c.runs[s], r)
	return c.budget.spend(1, 0, 0)
}

func countGlobstars(nodes []node) int {
	count := 0
	for _, n := range nodes {
		if n.kind == globstar {
			count++
		}
	}
	return count
}

// joined returns the pieces of one segment with literals that touch made one, and stars too.
func joined(nodes []node) []node {
	var out []node
	for _, n := range nodes {
		if len(out) > 0 {
			last := &out[len(out)-1]
			switch {
			case n.kind == literal && last.kind == literal:
				last.text += n.text
				continue
			case n.kind == star && last.kind == star:
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// vanishes tells of a segment that is empty or a dot.
func (r *run) vanishes() bool {
	return len(r.nodes) == 0 || len(r.nodes) == 1 && r.nodes[0].kind == literal && r.nodes[0].text == "."
}

// endsAt tells whether, with some choice of alternatives, nothing follows state s. Then the slash before it was a trailing one.
func (c *compiler) endsAt(s int) bool {
	if s < 0 {
		return true
	}
	ends, ok := c.ends[s]
	if !ok {
		for i := range c.runs[s] {
			if r := &c.runs[s][i]; r.vanishes() && c.endsAt(r.next) {
				ends = true
				break
			}
		}
		c.ends[s] = ends
	}
	return ends
}

// connect makes the edges of the runs of state s.
func (c *compiler) connect(s int, filter bool) error {
	for _, r := range c.runs[s] {
		accept := acceptNone
		switch {
		case r.next < 0:
			accept = acceptAny
		case c.endsAt(r.next):
			accept = acceptFolder
		}
		var err error
		switch {
		case r.vanishes():
			if r.next >= 0 {
				c.states[s].same = append(c.states[s].same, r.next)
			}
		case countGlobstars(r.nodes) == len(r.nodes):
			err = c.connectFolders(s, r.next, accept)
		default:
			if filter && accept != acceptNone {
				err = c.connectAnyDepth(s, r.nodes, accept)
			}
			if err == nil && (!filter || r.next >= 0) {
				err = c.connectRun(s, r.nodes, r.next, accept)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// connectFolders leads from state s over a segment that is **.
func (c *compiler) connectFolders(s, next int, accept acceptance) error {
	if next < 0 {
		if c.trailing < 0 {
			c.trailing = c.add(state{text: "**", within: -1})
			if err := c.edge(c.trailing, []node{{kind: star}}, acceptAny, c.trailing); err != nil {
				return err
			}
		}
		c.states[s].same = append(c.states[s].same, c.trailing)
		return nil
	}
	place := c.states[next].place
	f, ok := c.folders[place]
	if !ok {
		f = c.add(state{place: place, text: "**/", same: []int{next}, within: -1})
		c.folders[place] = f
		c.states[next].within = f
		if err := c.edge(f, []node{{kind: star}}, accept, f); err != nil {
			return err
		}
	}
	c.states[s].same = append(c.states[s].same, f)
	return nil
}

// connectAnyDepth makes a filter's segment without a slash match in every folder.
func (c *compiler) connectAnyDepth(start int, nodes []node, accept acceptance) error {
	if c.anyDepth < 0 {
		c.anyDepth = c.add(state{text: "**/{", within: -1})
		c.states[start].same = append(c.states[start].same, c.anyDepth)
		if err := c.edge(c.anyDepth, []node{{kind: star}}, acceptNone, c.anyDepth); err != nil {
			return err
		}
	} else {
		c.states[c.anyDepth].text = strings.TrimSuffix(c.states[c.anyDepth].text, "}") + ","
	}
	text := string(appendNodes(nil, nodes))
	if accept == acceptFolder {
		text += "/"
	}
	c.states[c.anyDepth].text += text + "}"
	return c.connectRun(c.anyDepth, nodes, -1, accept)
}

// connectRun leads from state s over a segment, or over several where ** stands beside other pieces: there it is any run of
// characters and slashes, so that a**b is a*b or a*/**/*b.
func (c *compiler) connectRun(s int, nodes []node, next int, accept acceptance) error {
	parts := [][]node{nil}
	for _, n := range nodes {
		if n.kind == globstar {
			parts = append(parts, nil)
		} else {
			parts[len(parts)-1] = append(parts[len(parts)-1], n)
		}
	}
	if len(parts) > 1 {
		if err := c.budget.spend(len(parts)*(len(parts)+1)/2, 0, 0); err != nil {
			return err
		}
	}
	// crossed[i] is the state behind a slash within the ** before parts[i]: **/* and what follows.
	crossed := make([]int, len(parts))
	for i := len(parts) - 1; i > 0; i-- {
		crossing := state{within: -1}
		if i+1 < len(parts) {
			crossing.within = crossed[i+1]
		}
		rest := []node{{kind: star}}
		for j, part := range parts[i:] {
			if j > 0 {
				rest = append(rest, node{kind: globstar})
			}
			rest = append(rest, part...)
		}
		crossing.text = "**/" + string(appendNodes(nil, rest))
		if next >= 0 {
			crossing.place = c.states[next].place
		}
		if next >= 0 || accept == acceptFolder {
			crossing.text += "/"
		}
		crossed[i] = c.add(crossing)
		if err := c.edge(crossed[i], []node{{kind: star}}, acceptNone, crossed[i]); err != nil {
			return err
		}
	}
	for from := range parts {
		source, segment := s, []node(nil)
		if from > 0 {
			source, segment = crossed[from], []node{{kind: star}}
		}
		for i := from; i < len(parts); i++ {
			segment = append(segment, parts[i]...)
			if i+1 == len(parts) {
				if err := c.edge(source, segment, accept, next); err != nil {
					return err
				}
				break
			}
			segment = append(segment, node{kind: star})
			if err := c.edge(source, segment, acceptNone, crossed[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// edge adds an edge to state s.
func (c *compiler) edge(s int, nodes []node, accept acceptance, to int) error {
	nodes = joined(nodes)
	segment, err := newSegment(nodes)
	if err != nil {
		return err
	}
	if segment.kind == other {
		cost := 0
		for _, n := range nodes {
			if cost++; n.kind == oneOf {
				cost += len(n.class.ranges)
			}
		}
		if err := c.budget.spend(0, cost, 0); err != nil {
			return err
		}
	}
	e := edge{segment: segment, accept: accept, to: to}
	if accept != acceptNone {
		c.states[s].accepting = append(c.states[s].accepting, e)
	}
	if to >= 0 {
		c.states[s].leading = append(c.states[s].leading, e)
	}
	return nil
}

func (c *compiler) finish(start int) (*Pattern, error) {
	p := &Pattern{states: c.states}
	if len(p.states) <= 64 {
		p.closures = make([]uint64, len(p.states))
		for s := range p.states {
			set := activeSet{many: make([]uint64, 1)}
			p.activate(set, s)
			p.closures[s] = set.many[0]
			if len(p.states[s].accepting) > 0 {
				p.accepting |= 1 << s
			}
		}
		p.start.few = p.closures[start]
	} else {
		p.start.many = make([]uint64, (len(p.states)+63)/64)
		p.activate(p.start, start)
	}
	if !slices.ContainsFunc(p.states, func(s state) bool { return len(s.accepting) > 0 }) {
		return nil, badPattern("the pattern names nothing beneath the folder where it begins; ** finds everything")
	}
	return p, nil
}
