// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

// A wild is a rule whose pattern has several segments, the first of them with
// wildcards.
type wild struct {
	program
	rule
}

// A partial is a rule of which the path of a folder has matched what comes
// before at.
type partial struct {
	of    *wild
	at    int  // where a segment begins
	end   int  // and where it ends
	again bool // any number of folders may come before that segment
}

// begin returns what is to match from where a segment begins.
func begin(of *wild, at int) partial {
	p := partial{of: of, at: at}
	if at < len(of.ops) && of.ops[at] == opAnyFolders {
		p.again = true
		p.at++
	}
	p.end = of.segment(p.at)
	return p
}

// final reports whether the segment is the last.
func (p *partial) final() bool { return p.end == len(p.of.ops) }

// last returns the rank of the rule if it matches the name in this folder and
// outranks found, and else found.
func (p *partial) last(name string, dir bool, found rank) rank {
	if p.of.rank > found && p.final() && (dir || !p.of.dir) && p.of.matches(p.at, p.end, name) {
		return p.of.rank
	}
	return found
}

// leads reports whether the rule goes on in the folder name.
func (p *partial) leads(name string) bool {
	return !p.final() && p.of.matches(p.at, p.end, name)
}

// advance returns what is to match in the folder name beneath.
func advance(open []partial, name string) []partial {
	unchanged := true
	for i := range open {
		unchanged = unchanged && open[i].again && !open[i].leads(name)
	}
	if unchanged {
		return open
	}
	var next []partial
	var reached map[*wild]int
	for i := range open {
		p := &open[i]
		if p.again {
			next = append(next, *p)
		}
		if !p.leads(name) {
			continue
		}
		q := begin(p.of, p.end+1)
		next = append(next, q)
		if q.again {
			if reached == nil {
				reached = make(map[*wild]int)
			}
			reached[q.of] = max(reached[q.of], q.at)
		}
	}
	if reached == nil {
		return next
	}
	// Whatever could match from before the furthest "**/" of a rule can match
	// from there too.
	kept := next[:0]
	for _, p := range next {
		if p.at >= reached[p.of] {
			kept = append(kept, p)
		}
	}
	return kept
}
