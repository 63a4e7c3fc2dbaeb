// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

type (
	globFunc = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error)
	grepFunc = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error)
)

// searchChecks are about searches: what they find is what Open and List show,
// whether the file system searches by itself or is listed and read.
func searchChecks() []*check {
	return slices.Concat(
		globChecks(), globBaseChecks(), hiddenChecks(), grepChecks(), grepTextChecks(), grepFileChecks(),
		searchLinkChecks(), searchLimitChecks(), searchArgumentChecks(), searchBesideChecks(), searchModelChecks(),
	)
}

// A search needs one of two.
var (
	textSearch = operation("List or Search", func(c ambit.Capabilities) bool { return c.List || c.Search }, refuseFolderSearch)

	needsSearch = []requirement{textSearch}
)

// refuseFolderSearch: what cannot be listed cannot be searched, but for a file
// that is named.
func refuseFolderSearch(p *probe) {
	for _, base := range []string{"/", "folder"} {
		p.globRefused(ambit.GlobQuery{Pattern: "**", Base: base}, ambit.ErrUnsupported)
		p.grepRefused(ambit.GrepQuery{Pattern: ".", Base: base}, ambit.ErrUnsupported)
	}
	p.greps(ambit.GrepQuery{Pattern: "beta", Base: "file"}, "/file:2:beta")
}

// ways returns the probes of each way in which the file system can be searched:
// its own, and by List and Open.
func (p *probe) ways() []*probe {
	if !p.caps.Search || !p.caps.List {
		return []*probe{p}
	}
	keep := p.caps
	keep.Search, keep.Sub, keep.Guard = false, false, false
	return []*probe{p, p.on(ambit.Forward{Base: p.fs, Keep: keep})}
}

// manyMatches ends a search that finds more than any check has.
const manyMatches = 20_000

// searching watches over one search.
type searching struct {
	*probe
	caller string // a function on the stack of the goroutine that searches
	yields int
	over   atomic.Bool
}

// yielded notes a match, and reports whether to go on.
func (s *searching) yielded(what string) bool {
	if s.over.Load() {
		s.errorf("%s: found after the search has returned", what)
		return false
	}
	if s.yields++; s.yields <= 50 && !isOnStack(s.caller) {
		s.errorf("%s: yield is called on another goroutine than that of the caller", what)
	}
	if s.yields == manyMatches {
		s.errorf("%s: that is the %dth match, and there are not so many", what, manyMatches)
	}
	return s.yields < manyMatches
}

// isOnStack reports whether a function is on the stack of this goroutine.
func isOnStack(function string) bool {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, function) {
			return true
		}
		if !more {
			return false
		}
	}
}

// globbed is what a glob has found.
type globbed struct {
	infos []ambit.FileInfo
	sum   ambit.SearchSummary
	err   error
}

func (g globbed) paths() []string {
	paths := make([]string, len(g.infos))
	for i, info := range g.infos {
		paths[i] = info.Path
	}
	return paths
}

// glob searches, with yield asked after each match whether to go on if there is
// one, and checks what holds of every glob.
func (p *probe) glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) globbed {
	s := &searching{probe: p, caller: "conformance.(*probe).glob"}
	var g globbed
	g.sum, g.err = p.text.Glob(ctx, p.fs, q, func(m ambit.GlobMatch) bool {
		g.infos = append(g.infos, m.Info)
		return s.yielded(m.Info.Path) && (yield == nil || yield(m))
	})
	s.over.Store(true)
	for i, info := range g.infos {
		p.canonical("what glob has found", info.Path)
		if i > 0 && bySegments(g.infos[i-1].Path, info.Path) >= 0 {
			p.errorf("glob %q in %q: %q comes after %q", q.Pattern, q.Base, info.Path, g.infos[i-1].Path)
		}
	}
	if g.sum.Matched != len(g.infos) {
		p.errorf("glob %q in %q: %d matches, and Matched is %d", q.Pattern, q.Base, len(g.infos), g.sum.Matched)
	}
	p.skips(g.sum)
	return g
}

// grepped is what a grep has found.
type grepped struct {
	matches []ambit.GrepMatch
	sum     ambit.SearchSummary
	err     error
}

func (g grepped) lines() []string {
	lines := make([]string, len(g.matches))
	for i, m := range g.matches {
		lines[i] = lineOf(m)
	}
	return lines
}

// lineOf shows a match as "path:3:text", a line of context as "path-3-text", a
// file as its path, with a count behind "=".
func lineOf(m ambit.GrepMatch) string {
	switch {
	case m.Count > 0:
		return fmt.Sprintf("%s=%d", m.Path, m.Count)
	case m.Line == 0:
		return m.Path
	case m.Context:
		return fmt.Sprintf("%s-%d-%s", m.Path, m.Line, m.Text)
	}
	return fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text)
}

// grep is to glob what Grep is to Glob.
func (p *probe) grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) grepped {
	s := &searching{probe: p, caller: "conformance.(*probe).grep"}
	var g grepped
	g.sum, g.err = p.text.Grep(ctx, p.fs, q, func(m ambit.GrepMatch) bool {
		g.matches = append(g.matches, m)
		return s.yielded(m.Path) && (yield == nil || yield(m))
	})
	s.over.Store(true)
	var files []string
	for i, m := range g.matches {
		p.canonical("what grep has found", m.Path)
		p.matchIsWhole(q, m)
		if i > 0 {
			last := g.matches[i-1]
			if order := bySegments(last.Path, m.Path); order > 0 || order == 0 && last.Line >= m.Line {
				p.errorf("grep %q: line %d of %q comes after line %d of %q", q.Pattern, m.Line, m.Path, last.Line, last.Path)
			}
		}
		if !m.Context && (len(files) == 0 || files[len(files)-1] != m.Path) {
			files = append(files, m.Path)
		}
	}
	if g.sum.Matched != len(files) {
		p.errorf("grep %q: matches in %d files, and Matched is %d", q.Pattern, len(files), g.sum.Matched)
	}
	p.skips(g.sum)
	return g
}

// matchIsWhole checks that a match says all that matches of its mode say, and
// nothing else.
func (p *probe) matchIsWhole(q ambit.GrepQuery, m ambit.GrepMatch) {
	where := fmt.Sprintf("grep %q: line %d of %q", q.Pattern, m.Line, m.Path)
	switch {
	case q.Mode != ambit.GrepContent:
		if m.Line != 0 || m.Column != 0 || m.Text != "" || m.Spans != nil || m.Context || m.Clipped || (q.Mode == ambit.GrepCount) != (m.Count > 0) {
			p.errorf("%s: %+v, in mode %d", where, m, q.Mode)
		}
	case m.Line < 1 || m.Count != 0:
		p.errorf("%s: %+v, in the mode of lines", where, m)
	case m.Context:
		if m.Column != 0 || len(m.Spans) > 0 {
			p.errorf("%s is context, and has the column %d and the spans %v", where, m.Column, m.Spans)
		}
	default:
		at := 0
		for _, span := range m.Spans {
			if span[0] < at || span[1] < span[0] || span[1] > len(m.Text) {
				p.errorf("%s: the spans %v do not stand in order in the text of %d bytes", where, m.Spans, len(m.Text))
				break
			}
			at = span[1]
		}
		if len(m.Spans) == 0 || m.Column < 1 || !m.Clipped && m.Column != m.Spans[0][0]+1 {
			p.errorf("%s: the column is %d, and the spans are %v", where, m.Column, m.Spans)
		}
	}
	if !q.Multiline && strings.Contains(m.Text, "\n") {
		p.errorf("%s: the text holds a line feed: %s", where, brief(m.Text))
	}
}

// skips checks what is said of what could not be searched.
func (p *probe) skips(sum ambit.SearchSummary) {
	for _, skip := range sum.Skipped {
		p.canonical("what was skipped", skip.Path)
		if skip.Reason == "" {
			p.errorf("%q was skipped without a reason", skip.Path)
		}
	}
	if sum.MoreSkipped < 0 || sum.MoreSkipped > 0 && len(sum.Skipped) == 0 {
		p.errorf("the summary names %d files and folders that were skipped, and counts %d more", len(sum.Skipped), sum.MoreSkipped)
	}
}

// finds checks that a glob finds these paths, in whatever way, and returns the
// summary.
func (p *probe) finds(q ambit.GlobQuery, want ...string) ambit.SearchSummary {
	var sum ambit.SearchSummary
	for i, way := range p.ways() {
		g := way.glob(p.ctx, q, nil)
		if g.err != nil {
			p.errorf("glob %s: %v", shownQuery(q), g.err)
			continue
		}
		if got := g.paths(); !slices.Equal(got, want) {
			p.errorf("glob %s: %q, want %q", shownQuery(q), got, want)
		}
		for _, info := range g.infos {
			if kind, ok := p.tree.kindAt(info.Path); ok && kind != info.Kind {
				p.errorf("glob %s: %q is said to be a %s, and is a %s", shownQuery(q), info.Path, info.Kind, kind)
			}
		}
		p.sameSummary(shownQuery(q), i, &sum, g.sum)
		if q.Limit == 0 && g.sum.Truncated {
			p.errorf("glob %s: Truncated without a limit", shownQuery(q))
		}
	}
	return sum
}

// greps checks that a grep finds these lines, as lineOf has them, in whatever
// way, and returns the summary.
func (p *probe) greps(q ambit.GrepQuery, want ...string) ambit.SearchSummary {
	sum, _ := p.grepsMatches(q, want...)
	return sum
}

// grepsMatches also returns the matches.
func (p *probe) grepsMatches(q ambit.GrepQuery, want ...string) (sum ambit.SearchSummary, matches []ambit.GrepMatch) {
	for i, way := range p.ways() {
		g := way.grep(p.ctx, q, nil)
		if g.err != nil {
			p.errorf("grep %s: %v", shownQuery(q), g.err)
			continue
		}
		if got := g.lines(); !slices.Equal(got, want) {
			p.errorf("grep %s: %s, want %s", shownQuery(q), briefly(got), briefly(want))
		}
		if i > 0 && fmt.Sprint(g.matches) != fmt.Sprint(matches) {
			p.errorf("grep %s: %s, and by itself the file system finds %s", shownQuery(q), brief(fmt.Sprintf("%+v", g.matches)), brief(fmt.Sprintf("%+v", matches)))
		}
		matches = g.matches
		p.sameSummary(shownQuery(q), i, &sum, g.sum)
		if q.Limit == 0 && g.sum.Truncated {
			p.errorf("grep %s: Truncated without a limit", shownQuery(q))
		}
	}
	return sum, matches
}

// sameSummary checks that the second way tells what the first did.
func (p *probe) sameSummary(query string, way int, first *ambit.SearchSummary, now ambit.SearchSummary) {
	if way == 0 {
		*first = now
	} else if !now.Truncated && fmt.Sprint(now) != fmt.Sprint(*first) {
		p.errorf("%s: by listing the summary is %+v, and by itself the file system says %+v", query, now, *first)
	}
}

func briefly(texts []string) string {
	var short []string
	for _, text := range texts {
		short = append(short, brief(text))
	}
	return "[" + strings.Join(short, " ") + "]"
}

// shownQuery shows what of a query is set.
func shownQuery(q any) string {
	text := fmt.Sprintf("%+v", q)
	for _, word := range []string{"Base:", "All:false", "NoIgnore:false", "Details:false", "Kinds:[]", "Limit:0", "Keep:<nil>", "Literal:false", "IgnoreCase:false", "Word:false", "Multiline:false", "Include:[]", "Exclude:[]", "Types:[]", "Before:0", "After:0", "MaxLineBytes:0", "Mode:0"} {
		text = strings.Replace(strings.Replace(text, " "+word+" ", " ", 1), " "+word+"}", "}", 1)
	}
	return text
}

// globRefused checks that a glob is refused for one of reasons, and finds
// nothing.
func (p *probe) globRefused(q ambit.GlobQuery, reasons ...ambit.Reason) {
	for _, way := range p.ways() {
		g := way.glob(p.ctx, q, nil)
		p.refused(ambit.OpGlob, q.Base, g.err, reasons...)
		p.patternExplained(g.err)
		if len(g.infos) > 0 {
			p.errorf("glob %s is refused and finds %q", shownQuery(q), g.paths())
		}
	}
}

func (p *probe) grepRefused(q ambit.GrepQuery, reasons ...ambit.Reason) {
	for _, way := range p.ways() {
		g := way.grep(p.ctx, q, nil)
		p.refused(ambit.OpGrep, q.Base, g.err, reasons...)
		p.patternExplained(g.err)
		if len(g.matches) > 0 {
			p.errorf("grep %s is refused and finds %q", shownQuery(q), g.lines())
		}
	}
}

// patternExplained checks that an error about a pattern says what is wrong.
func (p *probe) patternExplained(err error) {
	if e, ok := ambit.Wrap("", "", err).(*ambit.Error); ok && e != nil && e.Reason == ambit.ErrBadPattern && e.Detail == "" {
		p.errorf("the pattern is bad, and the error does not say why: %v", err)
	}
}

// bySegments sorts paths segment by segment in byte order.
func bySegments(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
