// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"slices"

	"github.com/ambitfs/ambit"
)

// maxSkipped is how many files and folders a summary names.
const maxSkipped = 100

// tally counts what does not show in the results.
type tally struct {
	searched, hidden, ignored int
	skipped                   []ambit.Skip
	moreSkipped               int
}

func (t *tally) skip(path string, r ambit.Reason) {
	t.skipped, t.moreSkipped = AddSkip(t.skipped, t.moreSkipped, ambit.Skip{Path: path, Reason: r})
}

// AddSkip adds s to those that a summary names, and counts what it does not. What
// is no text is the first that is not named: trees are full of it.
func AddSkip(named []ambit.Skip, more int, s ambit.Skip) ([]ambit.Skip, int) {
	if len(named) < maxSkipped {
		return append(named, s), more
	}
	if s.Reason != ambit.ErrNotText {
		for i := len(named) - 1; i >= 0; i-- {
			if named[i].Reason == ambit.ErrNotText {
				return append(slices.Delete(named, i, i+1), s), more + 1
			}
		}
	}
	return named, more + 1
}

// Taking hands the results of a search over, as far as its limit goes.
type Taking struct {
	Limit, After int                 // those of the query
	Summary      ambit.SearchSummary // Matched and Truncated are kept by Hit and Match

	taken int
	path  string // of the last match
	line  int
}

func (t *Taking) add(f *tally) {
	s := &t.Summary
	s.Searched += f.searched
	s.Hidden += f.hidden
	s.Ignored += f.ignored
	for _, skip := range f.skipped {
		s.Skipped, s.MoreSkipped = AddSkip(s.Skipped, s.MoreSkipped, skip)
	}
	s.MoreSkipped += f.moreSkipped
}

// Hit hands over a name, and reports whether to go on.
func (t *Taking) Hit(h ambit.GlobMatch, keep func(string, ambit.Kind) bool, yield func(ambit.GlobMatch) bool) bool {
	if keep != nil && !keep(h.Info.Path, h.Info.Kind) {
		return true
	}
	if t.full() {
		t.Summary.Truncated = true
		return false
	}
	t.taken++
	t.Summary.Matched++
	if !yield(h) {
		t.Summary.Truncated = true
		return false
	}
	return true
}

func (t *Taking) full() bool { return t.Limit > 0 && t.taken == t.Limit }

// Match hands over a line or a file. After the last match come the lines that
// belong to it, and nothing else.
func (t *Taking) Match(m ambit.GrepMatch, yield func(ambit.GrepMatch) bool) bool {
	if t.full() {
		if m.Line == 0 || m.Path != t.path || m.Line-t.line > t.After {
			if m.Context {
				return true // before a match that is to come, if one is
			}
			t.Summary.Truncated = true
			return false
		}
		if !m.Context {
			t.Summary.Truncated = true
			m.Context, m.Spans, m.Column = true, nil, 0
		}
	}
	if !m.Context {
		t.taken++
		t.line = m.Line
		if m.Path != t.path || t.taken == 1 {
			t.path = m.Path
			t.Summary.Matched++
		}
	}
	if !yield(m) {
		t.Summary.Truncated = true
		return false
	}
	return true
}
