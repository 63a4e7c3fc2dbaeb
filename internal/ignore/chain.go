// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package ignore tells what .gitignore files leave out, exactly as git reads
// them: it answers what git check-ignore --no-index answers, in a repository
// whose core.ignoreCase is false.
//
// A walk carries a Chain from folder to folder. For each folder it takes, in
// this order, Repository where the folder is the root of a repository, With
// where it has a .gitignore, and then Ignored for each entry; Enter leads to a
// folder beneath. A folder that is ignored is not entered: git lets no rule
// bring back what lies in it.
//
// Whatever the files hold, an answer takes time at most in proportion to the
// number of their rules and to the square of the length of a name.
package ignore

import "slices"

// A Chain holds the rules that apply to the entries of one folder. The nil
// Chain has no rules and is where a walk begins. A Chain does not change, so
// any number of goroutines may use it at once.
type Chain struct {
	layers []layer // what lies deeper comes later, and is asked first
}

// A layer is what is left of the rules of one file for one folder.
type layer struct {
	rules   *Rules
	place   place
	beneath []place   // whose rules for any depth apply here
	open    []partial // rules of several segments that may go on here
}

// Repository returns the chain for a folder that is the root of a repository:
// the rules from above end there. Exclude holds the rules of the repository's
// info/exclude, which all others outrank, and may be nil.
func (c *Chain) Repository(exclude *Rules) *Chain {
	return (*Chain)(nil).With(exclude)
}

// With returns the chain with the rules of the folder's own .gitignore, which
// outrank those from above. They may be nil.
func (c *Chain) With(r *Rules) *Chain {
	if r.empty() {
		return c
	}
	first := layer{rules: r}
	first.arrive(top)
	if c == nil {
		return &Chain{[]layer{first}}
	}
	return &Chain{append(slices.Clip(c.layers), first)}
}

// Enter returns the chain for the folder name beneath this one.
func (c *Chain) Enter(name string) *Chain {
	if c == nil {
		return nil
	}
	for i := range c.layers {
		if !c.layers[i].stays(name) {
			return c.enter(name)
		}
	}
	return c
}

func (c *Chain) enter(name string) *Chain {
	layers := make([]layer, 0, len(c.layers))
	for i := range c.layers {
		if next := c.layers[i].enter(name); next.alive() {
			layers = append(layers, next)
		}
	}
	if len(layers) == 0 {
		return nil
	}
	return &Chain{layers}
}

// Ignored reports whether the rules leave out name, an entry of the folder;
// dir says whether it is a folder itself, which a link to one is not. It
// supposes that the folder is not ignored.
func (c *Chain) Ignored(name string, dir bool) bool {
	if c == nil {
		return false
	}
	for i := len(c.layers) - 1; i >= 0; i-- {
		if last := c.layers[i].last(name, dir); last != none {
			return !last.negated()
		}
	}
	return false
}

// last returns the rank of the last rule that matches name.
func (l *layer) last(name string, dir bool) rank {
	found := none
	if l.place != nowhere {
		at := &l.rules.places[l.place]
		if at.exact {
			found = found.or(l.rules.exact[edge{l.place, name}], dir)
		}
		if at.here != nil {
			found = at.here.last(name, dir, found)
		}
	}
	for _, p := range l.beneath {
		if names := l.rules.places[p].beneath; names != nil {
			found = names.last(name, dir, found)
		}
	}
	for i := range l.open {
		found = l.open[i].last(name, dir, found)
	}
	return found
}

// alive reports whether the layer can still match anything.
func (l *layer) alive() bool {
	return l.place != nowhere || len(l.beneath) > 0 || len(l.open) > 0
}

// stays reports whether the layer is the same in the folder name beneath.
func (l *layer) stays(name string) bool {
	if l.place != nowhere {
		return false
	}
	for i := range l.open {
		if p := &l.open[i]; !p.again || p.leads(name) {
			return false
		}
	}
	return true
}

// enter returns the layer for the folder name beneath.
func (l *layer) enter(name string) layer {
	next := layer{rules: l.rules, beneath: l.beneath, open: advance(l.open, name)}
	if l.place != nowhere {
		next.arrive(l.rules.children[edge{l.place, name}])
	}
	return next
}

// arrive adds what begins at a place.
func (l *layer) arrive(p place) {
	l.place = p
	if p == nowhere {
		return
	}
	at := &l.rules.places[p]
	if at.beneath != nil {
		l.beneath = append(slices.Clip(l.beneath), p)
	}
	if len(at.open) > 0 {
		l.open = append(slices.Clip(l.open), at.open...)
	}
}
