// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import "strings"

// Rules are those of one file. They do not change once parsed. The nil *Rules
// has none.
type Rules struct {
	places   []folder // by place; the first, nowhere, is not used
	children map[edge]place
	exact    map[edge]lastTwo // rules that are a path without wildcards, by the folder and the name in it
}

// A folder holds the rules that begin with its path, spelled out.
type folder struct {
	here    *index    // for its own entries
	beneath *index    // for entries of it and of all folders beneath
	open    []partial // of more segments
	exact   bool      // some edge from here is in Rules.exact
}

// A place is an index of Rules.places.
type place int32

const (
	nowhere place = iota // a folder that no rule spells out
	top                  // the folder of the file
)

// An edge leads from a folder to one of its entries.
type edge struct {
	from place
	name string
}

// maxPlaces is how many segments of a rule are looked up by edges; those
// behind them are matched one by one, so that a line of a megabyte does not
// make half a million folders.
const maxPlaces = 8

// A rank orders the rules of a file: that of a later one is higher. Its lowest
// bit says that the rule is negated.
type rank int

// none is the rank of no rule.
const none rank = 0

func (r rank) negated() bool { return r&1 != 0 }

// or returns the higher one of r and what is in two for a folder or another
// entry.
func (r rank) or(two lastTwo, dir bool) rank {
	r = max(r, two.any)
	if dir {
		r = max(r, two.dir)
	}
	return r
}

// lastTwo holds the last of all rules of one kind: of those for any entry, and
// of those for folders only.
type lastTwo struct{ any, dir rank }

// with returns two with a rule that comes behind those in it.
func (two lastTwo) with(r rule) lastTwo {
	if r.dir {
		two.dir = r.rank
	} else {
		two.any = r.rank
	}
	return two
}

// A rule is what a line says beside its pattern.
type rule struct {
	rank rank
	dir  bool // matches folders only
}

// Parse reads a .gitignore or an info/exclude file. Every content can be
// parsed: as in git, a line that is no valid pattern matches nothing.
// The rules take up to a hundred times the memory of the content, so what is
// read of a file is to be bounded.
func Parse(content []byte) *Rules {
	r := &Rules{
		places:   make([]folder, top+1),
		children: make(map[edge]place),
		exact:    make(map[edge]lastTwo),
	}
	text := strings.TrimPrefix(string(content), "\ufeff")
	for number := 1; text != ""; number++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		pattern, negated, dir, ok := parseLine(line)
		if !ok {
			continue
		}
		rank := rank(number) << 1
		if negated {
			rank |= 1
		}
		r.add(pattern, rule{rank, dir})
	}
	return r
}

func (r *Rules) empty() bool {
	if r == nil {
		return true
	}
	at := &r.places[top]
	return len(r.places) == int(top)+1 && at.here == nil && at.beneath == nil && len(at.open) == 0 && !at.exact
}

// parseLine takes a line apart, as git does. It is not ok for a line without a
// pattern.
func parseLine(line string) (pattern string, negated, dir, ok bool) {
	if strings.HasPrefix(line, "#") {
		return "", false, false, false
	}
	line = strings.TrimSuffix(line, "\r")
	line, _, _ = strings.Cut(line, "\x00") // git reads C strings
	pattern = trimSpaces(line)
	pattern, negated = strings.CutPrefix(pattern, "!")
	pattern, dir = strings.CutSuffix(pattern, "/")
	return pattern, negated, dir, pattern != ""
}

// trimSpaces cuts off the spaces at the end that no backslash escapes.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if trimmed == line {
		return line
	}
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 != 0 {
		return line[:len(trimmed)+1]
	}
	return trimmed
}

// add adds a rule behind all others.
func (r *Rules) add(pattern string, of rule) {
	if !strings.Contains(pattern, "/") {
		if p, ok := compile(pattern); ok {
			r.places[top].addBeneath(p, of)
		}
		return
	}
	pattern = strings.TrimPrefix(pattern, "/")
	at := top
	for range maxPlaces {
		slash := strings.IndexAny(pattern, `/*?[\`)
		if slash < 0 {
			key := edge{at, pattern}
			r.places[at].exact = true
			r.exact[key] = r.exact[key].with(of)
			return
		}
		if pattern[slash] != '/' {
			break
		}
		at = r.child(at, pattern[:slash])
		pattern = pattern[slash+1:]
	}
	for _, p := range compilePath(pattern) {
		r.places[at].add(p, of)
	}
}

// child returns the place of an entry, which it makes if need be.
func (r *Rules) child(at place, name string) place {
	key := edge{at, name}
	child, ok := r.children[key]
	if !ok {
		child = place(len(r.places))
		r.places = append(r.places, folder{})
		r.children[key] = child
	}
	return child
}

// add adds what follows the path of the folder in the pattern of a rule.
func (f *folder) add(p program, of rule) {
	first := begin(&wild{p, of}, 0)
	switch {
	case !first.final():
		f.open = append(f.open, first)
	case first.again:
		f.addBeneath(p, of)
	default:
		if f.here == nil {
			f.here = new(index)
		}
		f.here.add(p, of)
	}
}

func (f *folder) addBeneath(p program, of rule) {
	if f.beneath == nil {
		f.beneath = new(index)
	}
	if p.ops[0] == opAnyFolders {
		p.ops = p.ops[1:]
	}
	f.beneath.add(p, of)
}
