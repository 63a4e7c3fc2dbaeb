// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import "github.com/ambitfs/ambit"

// maxSkipped is how many files and folders a summary names.
const maxSkipped = 100

// tally counts what does not show in the results.
type tally struct {
	searched, matched, hidden, ignored int
	skipped                            []ambit.Skip
	moreSkipped                        int
}

func (t *tally) skip(path string, r ambit.Reason) {
	if len(t.skipped) < maxSkipped {
		t.skipped = append(t.skipped, ambit.Skip{Path: path, Reason: r})
	} else {
		t.moreSkipped++
	}
}

// taking hands the results over, as far as the limit goes.
type taking struct {
	limit, after int
	summary      ambit.SearchSummary

	taken int
	path  string // of the last match
	line  int
}

func (t *taking) add(f *tally) {
	s := &t.summary
	s.Searched += f.searched
	s.Matched += f.matched
	s.Hidden += f.hidden
	s.Ignored += f.ignored
	for i, skip := range f.skipped {
		if len(s.Skipped) == maxSkipped {
			s.MoreSkipped += len(f.skipped) - i
			break
		}
		s.Skipped = append(s.Skipped, skip)
	}
	s.MoreSkipped += f.moreSkipped
}

// hit hands over a name, and reports whether to go on.
func (t *taking) hit(h ambit.GlobMatch, keep func(string, ambit.Kind) bool, yield func(ambit.GlobMatch) bool) bool {
	if keep != nil && !keep(h.Info.Path, h.Info.Kind) {
		return true
	}
	if t.full() {
		t.summary.Truncated = true
		return false
	}
	t.taken++
	t.summary.Matched++
	if !yield(h) {
		t.summary.Truncated = true
		return false
	}
	return true
}

func (t *taking) full() bool { return t.limit > 0 && t.taken == t.limit }

// match hands over a line or a file. After the last match come the lines that
// belong to it, and nothing else.
func (t *taking) match(m ambit.GrepMatch, yield func(ambit.GrepMatch) bool) bool {
	if t.full() {
		if m.Line == 0 || m.Path != t.path || m.Line-t.line > t.after {
			if m.Context {
				return true // before a match that is to come, if one is
			}
			t.summary.Truncated = true
			return false
		}
		if !m.Context {
			t.summary.Truncated = true
			m.Context, m.Spans, m.Column = true, nil, 0
		}
	}
	if !m.Context {
		t.taken++
		t.line = m.Line
		if m.Path != t.path || t.taken == 1 {
			t.path = m.Path
			t.summary.Matched++
		}
	}
	if !yield(m) {
		t.summary.Truncated = true
		return false
	}
	return true
}
