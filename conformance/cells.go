// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"github.com/ambitfs/ambit"
)

// cell is one cell of docs/contract.md: a method on one kind of path, and the
// reason that the contract gives. Cells that succeed are checks of their own,
// since there is more to see.
type cell struct {
	kind   string // the kind of path, as it stands in the check's ID and rule
	path   string // in the standard tree
	reason ambit.Reason
	links  bool // the path has a link in it
}

// refusalCells makes one check for each cell: call must be refused with the
// cell's reason, in every spelling, and nothing may change.
func refusalCells(level Level, method string, needs []requirement, cells []cell, call func(p *probe, path string) (op string, err error)) []*check {
	var out []*check
	for _, c := range cells {
		requires := needs
		if c.links {
			requires = append([]requirement{needLinks}, needs...)
		}
		out = append(out, &check{
			id:       fmt.Sprintf("%s/%s-%s", level, method, c.kind),
			rule:     fmt.Sprintf("%s of %s is %s, and changes nothing.", method, article(c.kind), c.reason),
			requires: requires,
			tree:     standard,
			machine:  c.path == "/" || c.reason == ambit.ErrOutside,
			run: func(p *probe) {
				before := p.snapshot()
				op, err := call(p, c.path)
				p.refused(op, c.path, err, c.reason)
				p.unchanged(before)
			},
		})
	}
	return out
}

// article reads a kind, written with dashes, as a phrase.
func article(kind string) string {
	phrase := []byte(kind)
	for i, b := range phrase {
		if b == '-' {
			phrase[i] = ' '
		}
	}
	return "a path of the kind \"" + string(phrase) + "\""
}
