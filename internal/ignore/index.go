// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"slices"
	"strings"
)

// An index finds the last of many rules whose pattern is of one segment.
type index struct {
	all        lastTwo            // of "*"
	names      map[string]lastTwo // of patterns without wildcards
	extensions map[string]lastTwo // of a "*" and what begins with its only dot
	suffixes   affixes            // of a "*" and another literal
	prefixes   affixes            // of a literal and a "*"
	globs      []wild             // of the others, in their order
}

// Affixes find rules by how a name ends, or how it begins.
type affixes struct {
	outer   set // their last bytes, or their first
	lengths []int
	rules   map[string]lastTwo
}

func (x *index) add(p program, of rule) {
	ops := p.ops
	switch {
	case literal(ops):
		put(&x.names, text(ops), of)
	case len(ops) == 1 && ops[0] == opStar:
		x.all = x.all.with(of)
	case ops[0] == opStar && literal(ops[1:]):
		suffix := text(ops[1:])
		if strings.LastIndexByte(suffix, '.') == 0 {
			put(&x.extensions, suffix, of)
		} else {
			x.suffixes.add(suffix, suffix[len(suffix)-1], of)
		}
	case ops[len(ops)-1] == opStar && literal(ops[:len(ops)-1]):
		prefix := text(ops[:len(ops)-1])
		x.prefixes.add(prefix, prefix[0], of)
	default:
		x.globs = append(x.globs, wild{p, of})
	}
}

func (a *affixes) add(affix string, outer byte, of rule) {
	a.outer.addRange(outer, outer)
	if !slices.Contains(a.lengths, len(affix)) {
		a.lengths = append(a.lengths, len(affix))
	}
	put(&a.rules, affix, of)
}

func put(rules *map[string]lastTwo, key string, of rule) {
	if *rules == nil {
		*rules = make(map[string]lastTwo)
	}
	(*rules)[key] = (*rules)[key].with(of)
}

// last returns the rank of the last rule that matches name and outranks found,
// and else found.
func (x *index) last(name string, dir bool, found rank) rank {
	found = found.or(x.all, dir)
	if x.names != nil {
		found = found.or(x.names[name], dir)
	}
	if x.extensions != nil {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			found = found.or(x.extensions[name[dot:]], dir)
		}
	}
	if name != "" && x.suffixes.outer.has(name[len(name)-1]) {
		for _, n := range x.suffixes.lengths {
			if n <= len(name) {
				found = found.or(x.suffixes.rules[name[len(name)-n:]], dir)
			}
		}
	}
	if name != "" && x.prefixes.outer.has(name[0]) {
		for _, n := range x.prefixes.lengths {
			if n <= len(name) {
				found = found.or(x.prefixes.rules[name[:n]], dir)
			}
		}
	}
	for i := len(x.globs) - 1; i >= 0; i-- {
		g := &x.globs[i]
		if g.rank <= found {
			break
		}
		if (dir || !g.dir) && g.matches(0, len(g.ops), name) {
			return g.rank
		}
	}
	return found
}

func literal(ops []op) bool {
	return !slices.ContainsFunc(ops, func(o op) bool { return o >= opAny })
}

func text(ops []op) string {
	b := make([]byte, len(ops))
	for i, o := range ops {
		b[i] = byte(o)
	}
	return string(b)
}
