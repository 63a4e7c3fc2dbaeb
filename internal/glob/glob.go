// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package glob compiles the patterns of docs/glob.md and matches paths and walks of trees with them.
//
// A pattern becomes a small automaton whose steps are whole names. A walk carries a [State] from folder to folder: it tells
// which entries match, where nothing can match any more, and where only a few names need to be looked up. One name against
// one segment is the work of gobwas/glob; segments, alternatives that hold slashes, "**" and dots are decided here.
//
// Patterns and states are safe for concurrent use.
package glob

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// A Pattern is a compiled pattern.
type Pattern struct {
	states []state
	start  activeSet

	// For patterns with at most 64 states, by state: what is active once the state has been reached, and which states can
	// end a match.
	closures  []uint64
	accepting uint64
}

// Compile compiles a pattern whose paths begin at a base. The error is an [*ambit.Error] with the reason bad-pattern and a
// Detail that tells what is wrong.
func Compile(pattern string) (*Pattern, error) { return compile(pattern, false) }

// CompileFilter compiles a pattern that filters files: without a slash, one at its very end aside, it matches the name at any
// depth. Errors are those of [Compile].
func CompileFilter(pattern string) (*Pattern, error) { return compile(pattern, true) }

// Match reports whether the pattern matches a path from its base, such as "a/b.txt"; dir tells whether a folder is there.
// Wildcards match a leading dot.
func (p *Pattern) Match(path string, dir bool) bool {
	s := p.Start(true)
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return s.Match(name, dir)
		}
		if s = s.Enter(name); s.Dead() {
			return false
		}
		path = rest
	}
}

func badPattern(detail string) error {
	return &ambit.Error{Reason: ambit.ErrBadPattern, Detail: detail}
}
