// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// cell is one cell of docs/contract.md: a method on one kind of path, and the
// reason that the contract gives. Cells that succeed are checks of their own,
// since there is more to see.
type cell struct {
	kind   string   // the kind of path, as it stands in the check's ID and rule
	path   string   // in the standard tree
	others []string // more paths of that kind
	reason ambit.Reason
	links  bool // the path has a link in it
}

// refusalChecks makes one check for each cell: call must be refused with the
// cell's reason and its facts, in every spelling, and nothing may change.
// title stands for the method and its options in the rules.
func refusalChecks(level Level, method, title string, needs []requirement, cells []cell, call func(p *probe, path string) (op string, err error)) []*check {
	var out []*check
	for _, c := range cells {
		requires := needs
		if c.links {
			requires = append([]requirement{needLinks}, needs...)
		}
		out = append(out, &check{
			id:          fmt.Sprintf("%s/%s-%s", level, method, c.kind),
			rule:        fmt.Sprintf("%s of %s is %s, and changes nothing.", title, article(c.kind), c.reason),
			requires:    requires,
			tree:        standard,
			machine:     c.path == "/" || c.reason == ambit.ErrOutside,
			refusedCell: &refusedCell{c, call},
			run:         (&refusedCell{c, call}).check,
		})
	}
	return out
}

// refusedCell is a call that is refused on the paths of a cell.
type refusedCell struct {
	cell
	call func(p *probe, path string) (op string, err error)
}

func (r *refusedCell) check(p *probe) {
	before := p.snapshot()
	for _, path := range r.spellings() {
		op, err := r.call(p, path)
		p.refused(op, path, err, r.reason)
		p.facts(op, path, err, r.links)
	}
	p.unchanged(before)
}

// spellings returns the cell's paths, each in several texts that mean the same.
func (c *cell) spellings() []string {
	var out []string
	for _, path := range append([]string{c.path}, c.others...) {
		out = append(out, spellings(path)...)
	}
	return out
}

// spellings returns texts that mean the same path. No text means the same as
// the empty one.
func spellings(path string) []string {
	switch {
	case path == "":
		return []string{""}
	case path == "/":
		return []string{"/", ".", "//", "/.", "folder/..", "gone/../"}
	case path[0] == '/', len(path) > ambit.MaxName:
		return []string{path}
	}
	return []string{path, "/" + path, ".//" + path, "gone/../" + path, "folder/./../" + path}
}

// article reads a kind, written with dashes, as a phrase.
func article(kind string) string {
	return "a path of the kind \"" + strings.ReplaceAll(kind, "-", " ") + "\""
}

// facts checks what an error of the call on path has to tell beside its
// reason. Behind a link the path's text does not say where the call ended, so
// there only what holds everywhere is looked at.
func (p *probe) facts(op, path string, err error, links bool) {
	var e *ambit.Error
	if !errors.As(err, &e) || e == nil {
		return
	}
	clean, _, textErr := ambit.Resolve("/", path)
	known := !links && textErr == nil
	switch e.Reason {
	case ambit.ErrNotFound:
		switch missing := p.tree.missingAbove(clean); {
		case e.Target == "":
			p.errorf("%s %q: not-found without a Target", op, path)
		case known && e.Target != clean:
			p.errorf("%s %q: Target is %q, want the missing name %q", op, path, e.Target, clean)
		case known && !slices.Equal(e.MissingDirs, missing):
			p.errorf("%s %q: MissingDirs are %q, want %q, outermost first", op, path, e.MissingDirs, missing)
		}
	case ambit.ErrNotAFile, ambit.ErrExists:
		if e.Kind == ambit.KindUnknown {
			p.errorf("%s %q: %s without the Kind of what is there", op, path, e.Reason)
		}
		if want, ok := p.tree.kindAt(clean); known && ok && e.Kind != want {
			p.errorf("%s %q: %s with Kind %s, want %s", op, path, e.Reason, e.Kind, want)
		}
		if known && e.Target != "" && e.Target != clean {
			p.errorf("%s %q: Target is %q, want %q", op, path, e.Target, clean)
		}
	case ambit.ErrTooLarge:
		if e.Limit <= 0 {
			p.errorf("%s %q: too-large without a Limit", op, path)
		}
	}
	if e.Target != "" {
		p.canonical(fmt.Sprintf("%s %q: the error's Target", op, path), e.Target)
	}
	for _, dir := range e.MissingDirs {
		p.canonical(fmt.Sprintf("%s %q: a MissingDir", op, path), dir)
	}
}

// canonical checks that a path out of a result is clean and absolute.
func (p *probe) canonical(what, path string) {
	if clean, _, err := ambit.Resolve("/", path); err != nil || clean != path || path[0] != '/' {
		p.errorf("%s is %q, not a clean absolute path", what, path)
	}
}

// kindAt returns what t holds at the clean path, folders that are implied
// included. ok is false for nothing.
func (t Tree) kindAt(clean string) (kind ambit.Kind, ok bool) {
	if clean == "/" {
		return ambit.KindDirectory, true
	}
	for _, n := range t {
		if n.Beside() {
			continue
		}
		if path := "/" + n.Path; path == clean {
			return n.Kind, true
		} else if ambit.Contains(clean, path) {
			return ambit.KindDirectory, true
		}
	}
	return ambit.KindUnknown, false
}

// missingAbove returns the folders above the clean path that t does not hold,
// outermost first.
func (t Tree) missingAbove(clean string) []string {
	var missing []string
	for dir := ambit.Dir(clean); dir != "/"; dir = ambit.Dir(dir) {
		if _, ok := t.kindAt(dir); !ok {
			missing = append(missing, dir)
		}
	}
	slices.Reverse(missing)
	return missing
}
