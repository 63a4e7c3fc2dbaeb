// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/find"
	"github.com/ambitfs/ambit/search"
)

var _ ambit.Searcher = (*router)(nil)

// Glob has each member search what it holds beneath the base, and puts the
// answers together in the order of all paths.
func (r *router) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	plan, fault := find.PlanGlob(q)
	t, err := r.searchBase(ctx, ambit.OpGlob, &q.Base, fault)
	if err != nil {
		return ambit.SearchSummary{}, err
	}
	written := q.Base
	if r.searchesAlone(t) {
		q.Base = t.clean
		sum, err := search.GlobEach(ctx, r.visible(t), q, yield)
		return sum, r.fail(ambit.OpGlob, written, t, err)
	}
	s := newMerging(ctx, r, q.Limit, 0, q.Keep)
	if s.keep != nil {
		given := yield
		yield = func(m ambit.GlobMatch) bool {
			s.calls.Lock()
			defer s.calls.Unlock()
			return given(m)
		}
	}
	s.tell = func(path string) bool {
		if s.keep != nil && !s.keep(path, ambit.KindDirectory) {
			return true
		}
		return s.taking.Hit(ambit.GlobMatch{Info: r.folder(ctx, path, q.Details)}, nil, yield)
	}
	s.search = func(p part, each func(path string) bool) (ambit.SearchSummary, error) {
		inner := q
		inner.Base, inner.Keep = p.base, s.keeps(p.hides)
		if p.rest {
			include, _ := p.view.Rest()
			inner.Pattern = include[0] // what one pattern leaves is one
		}
		return search.GlobEach(ctx, p.fsys, inner, func(m ambit.GlobMatch) bool {
			return each(m.Info.Path) && s.goesOn(s.taking.Hit(m, nil, yield))
		})
	}
	sum, err := s.run(ambit.OpGlob, t, plan.Start())
	return sum, r.fail(ambit.OpGlob, written, t, err)
}

// Grep is to Glob what it is elsewhere.
func (r *router) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	plan, fault := find.PlanGrep(q)
	t, err := r.searchBase(ctx, ambit.OpGrep, &q.Base, fault)
	if err != nil {
		return ambit.SearchSummary{}, err
	}
	written := q.Base
	if r.searchesAlone(t) {
		q.Base = t.clean
		sum, err := search.GrepEach(ctx, r.visible(t), q, yield)
		return sum, r.fail(ambit.OpGrep, written, t, err)
	}
	s := newMerging(ctx, r, q.Limit, q.After, q.Keep)
	if s.keep != nil {
		given := yield
		yield = func(m ambit.GrepMatch) bool {
			s.calls.Lock()
			defer s.calls.Unlock()
			return given(m)
		}
	}
	s.search = func(p part, each func(path string) bool) (ambit.SearchSummary, error) {
		inner := q
		inner.Base, inner.Keep = p.base, s.keeps(p.hides)
		if p.rest {
			include, exclude := p.view.Rest()
			if len(q.Include) > 0 {
				inner.Include = anchored(include)
			}
			inner.Exclude = anchored(exclude)
		}
		inner.Exclude = slices.Concat(inner.Exclude, p.without)
		return search.GrepEach(ctx, p.fsys, inner, func(m ambit.GrepMatch) bool {
			return each(m.Path) && s.goesOn(s.taking.Match(m, yield))
		})
	}
	sum, err := s.run(ambit.OpGrep, t, plan.Start())
	return sum, r.fail(ambit.OpGrep, written, t, err)
}

// searchBase finds who has the base of a search, and what it leads to: the path
// of the target is canonical. fault is that of the query. It writes out the base
// that "" stands for.
func (r *router) searchBase(ctx context.Context, op string, base *string, fault error) (target, error) {
	if *base == "" {
		*base = "."
	}
	path := *base
	_, err := r.find(ctx, op, path)
	if fault != nil && (err == nil || ambit.ReasonOf(err) == ambit.ErrOutside) {
		err = ambit.Wrap(op, path, fault)
	}
	if err != nil {
		return target{}, err
	}
	t, err := r.look(ctx, op, path)
	if err != nil {
		return target{}, err
	}
	info, err := t.fsys.Stat(ctx, path)
	switch {
	case err != nil:
		return target{}, r.fail(op, path, t, err)
	case r.strays(t, info):
		return target{}, astray(op, path)
	}
	t.clean = info.Path
	return t, nil
}

// searchesAlone reports that all that lies beneath t is its member's.
func (r *router) searchesAlone(t target) bool { return !r.ways.leadsOn(t.clean) && !t.m.loose }

// visible is what such a search is made of: ignore files above the base may be
// hidden.
func (r *router) visible(t target) ambit.FileSystem {
	if !t.m.over {
		return t.fsys
	}
	fsys, _ := t.uncovered(func(path string) bool { return r.owner(path) != t.m })
	return fsys
}

// folder describes a mount point or a folder on the way to one.
func (r *router) folder(ctx context.Context, path string, details bool) ambit.FileInfo {
	if details {
		if info, err := r.Stat(ctx, path); err == nil && info.IsDir() && info.Path == path {
			return info
		}
		return r.ways.info(path)
	}
	return ambit.FileInfo{Path: path, Kind: ambit.KindDirectory, Size: -1}
}

// merging is one search over several members.
type merging struct {
	*router
	ctx    context.Context
	keep   func(path string, k ambit.Kind) bool // the query's; nil keeps all
	calls  sync.Mutex                           // held while keep runs, and yield where there is a keep
	tell   func(path string) bool               // hands over a folder that the machine has by itself; nil for a grep
	search func(p part, each func(path string) bool) (ambit.SearchSummary, error)

	taking  find.Taking
	sum     ambit.SearchSummary // but for Matched and Truncated
	stopped bool                // nothing more is to be handed over
	failed  error               // why, if it was not for the caller's or the limit's sake
}

// part is what one member searches.
type part struct {
	fsys    ambit.FileSystem
	base    string
	view    find.View // of the base
	rest    bool      // the patterns are those that are left there
	hides   func(path string) bool
	without []string // filters of what is hidden, where fsys shows it
}

// stop is where a search comes to a folder that leads to a mount, or is one.
type stop struct {
	path   string
	hit    bool
	hidden bool      // left out for its dot
	enters *member   // the member to search, if there is anything to find in it
	view   find.View // of the folder
}

func newMerging(ctx context.Context, r *router, limit, after int, keep func(string, ambit.Kind) bool) *merging {
	s := &merging{router: r, ctx: ctx, taking: find.Taking{Limit: limit, After: after}}
	if keep != nil {
		s.keep = func(path string, k ambit.Kind) bool {
			s.calls.Lock()
			defer s.calls.Unlock()
			return keep(path, k)
		}
	}
	return s
}

// goesOn remembers that a search has come to its end.
func (s *merging) goesOn(more bool) bool {
	if !more {
		s.stopped = true
	}
	return more
}

// keeps is the Keep of a part.
func (s *merging) keeps(hides func(path string) bool) func(string, ambit.Kind) bool {
	if hides == nil {
		return s.keep
	}
	return func(path string, k ambit.Kind) bool { return !hides(path) && (s.keep == nil || s.keep(path, k)) }
}

// run searches beneath t.
func (s *merging) run(op string, t target, view find.View) (ambit.SearchSummary, error) {
	var err error
	if t.fsys == s.ways {
		if err = s.ways.allow(s.ctx, ambit.OpList, t.clean); err == nil {
			stops, _ := s.stops(t, view)
			s.visit(stops)
		}
	} else {
		err = s.beneath(t, view, false)
	}
	if s.failed != nil {
		err = s.failed
	}
	sum := s.sum
	sum.Matched, sum.Truncated = s.taking.Summary.Matched, s.taking.Summary.Truncated
	slices.SortStableFunc(sum.Skipped, func(a, b ambit.Skip) int { return bySegments(a.Path, b.Path) })
	var named []ambit.Skip
	for _, skip := range sum.Skipped {
		named, sum.MoreSkipped = find.AddSkip(named, sum.MoreSkipped, skip)
	}
	sum.Skipped = named
	return sum, err
}

// beneath searches the folder t of a member and what is mounted in it. The error
// is one of the folder itself, and nothing in it is searched then.
func (s *merging) beneath(t target, view find.View, rest bool) error {
	stops, buried := s.stops(t, view)
	p := part{fsys: t.fsys, base: t.clean, view: view, rest: rest}
	covered := func(path string) bool { return s.owner(path) != t.m || buried[path] }
	if s.ways.leadsOn(t.clean) || t.m.loose {
		// The names that lead on come from the machine, once.
		p.hides = func(path string) bool { return covered(path) || s.isWay(path) }
		var all bool
		if p.fsys, all = t.uncovered(covered); !all {
			p.without = s.filters(t.clean, stops, buried)
		}
	}
	sum, err := s.search(p, func(path string) bool {
		for len(stops) > 0 && bySegments(stops[0].path, path) < 0 {
			next := stops[0]
			stops = stops[1:]
			if !s.visit([]stop{next}) {
				return false
			}
		}
		return true
	})
	s.add(sum, covered)
	switch {
	case s.stopped:
		return nil
	case err != nil && s.ctx.Err() != nil:
		s.fail(contextError(s.ctx))
		return nil
	case err != nil && (!rest || ambit.ReasonOf(err) == ambit.ErrDenied):
		return err
	case err != nil:
		s.skip(t.clean, err)
	}
	if sum.Truncated {
		s.taking.Summary.Truncated = true // by a bound of the member's own
	}
	s.visit(stops)
	return nil
}

func (s *merging) fail(err error) { s.stopped, s.failed = true, err }

// skip tells that a member could not be searched, unless a rule keeps that secret.
func (s *merging) skip(path string, err error) {
	switch reason := ambit.ReasonOf(err); reason {
	case ambit.ErrDenied, ambit.ErrOutside:
	default:
		s.sum.Skipped = append(s.sum.Skipped, ambit.Skip{Path: path, Reason: reason})
	}
}

// add counts what a part has counted.
func (s *merging) add(sum ambit.SearchSummary, covered func(path string) bool) {
	s.sum.Searched += sum.Searched
	s.sum.Hidden += sum.Hidden
	s.sum.Ignored += sum.Ignored
	s.sum.MoreSkipped += sum.MoreSkipped
	for _, skip := range sum.Skipped {
		if !covered(skip.Path) {
			s.sum.Skipped = append(s.sum.Skipped, skip)
		}
	}
}

// visit does what is to be done at stops, and reports whether to go on.
func (s *merging) visit(stops []stop) bool {
	for _, at := range stops {
		if s.ctx.Err() != nil {
			s.fail(contextError(s.ctx))
			return false
		}
		switch {
		case at.hidden:
			s.sum.Hidden++
		case at.hit && !s.goesOn(s.tell(at.path)):
			return false
		}
		if at.enters == nil {
			continue
		}
		if err := s.beneath(target{m: at.enters, fsys: at.enters.fsys, clean: at.path}, at.view, true); err != nil {
			s.skip(at.path, err)
		}
		if s.stopped {
			return false
		}
	}
	return true
}

// stops returns where a search of t meets mount points and what leads to them,
// sorted, and of the latter those that bury whatever its member has there.
func (s *merging) stops(t target, view find.View) (stops []stop, buried map[string]bool) {
	buried = make(map[string]bool)
	var look func(dir string, view find.View, there bool)
	look = func(dir string, view find.View, there bool) {
		if s.tell != nil && !there {
			s.sum.Searched++ // no member does
		}
		for _, name := range s.ways.names[dir] {
			path := ambit.Join(dir, name)
			fate, ok := view.Folder(name)
			if !ok || s.ways.allow(s.ctx, ambit.OpStat, path) != nil {
				buried[path] = true
				continue
			}
			at := stop{path: path, hit: fate.Hit, hidden: fate.Hidden, view: fate.In}
			m := s.members[path]
			if m != nil && !fate.In.Dead() {
				at.enters = m
			}
			stops = append(stops, at)
			switch {
			case m != nil:
			case fate.In.Dead():
				buried[path] = true
			default:
				there := there && s.hasFolder(s.ctx, t.m, path)
				buried[path] = !there
				if s.ways.allow(s.ctx, ambit.OpList, path) == nil {
					look(path, fate.In, there)
				}
			}
		}
	}
	look(t.clean, view, t.fsys != s.ways)
	return stops, buried
}

// hasFolder reports whether m has the folder way, which leads to a mount point.
func (r *router) hasFolder(ctx context.Context, m *member, way string) bool {
	t := target{m: m, fsys: m.fsys, clean: way}
	// Where that cannot be told, the search finds out.
	return r.settle(ctx, ambit.OpStat, way, &t) != nil || t.fsys != r.ways
}

// uncovered returns the file system of t without what is covered: a search then
// neither looks at that nor counts it. It is not all where that cannot be had.
func (t target) uncovered(covered func(path string) bool) (fsys ambit.FileSystem, all bool) {
	caps := t.fsys.Capabilities()
	if !caps.Search {
		caps.Sub, caps.Guard = false, false
		return uncovering{ambit.Forward{Base: t.fsys, Keep: caps}, covered}, true
	}
	guarder, ok := t.m.whole.(ambit.Guarder)
	if !ok || !t.m.whole.Capabilities().Guard {
		return t.fsys, false
	}
	return ambit.Forward{Base: guarder.Guard(func(_ context.Context, _ ambit.Op, canonical string) error {
		if covered(canonical) {
			return ambit.ErrDenied
		}
		return nil
	}), Keep: caps}, true
}

// filters are patterns of what is hidden beneath dir, and of nothing else.
func (s *merging) filters(dir string, stops []stop, buried map[string]bool) []string {
	var filters []string
	for _, at := range stops {
		if s.members[at.path] != nil {
			filters = append(filters, filter(dir, at.path))
		}
	}
	for path, is := range buried {
		if is {
			filters = append(filters, filter(dir, path))
		}
	}
	slices.Sort(filters)
	return slices.Compact(filters)
}

// uncovering is a file system that has nothing that is covered, for a search: of
// canonical paths.
type uncovering struct {
	ambit.Forward
	covered func(path string) bool
}

func (u uncovering) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if u.covered(path) {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, ambit.ErrNotFound)
	}
	return u.Forward.Stat(ctx, path)
}

func (u uncovering) Open(ctx context.Context, path string) (ambit.File, error) {
	if u.covered(path) {
		return nil, ambit.Wrap(ambit.OpOpen, path, ambit.ErrNotFound)
	}
	return u.Forward.Open(ctx, path)
}

func (u uncovering) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := u.Forward.List(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	shown := &ambit.Listing{Dir: l.Dir, Entries: make([]ambit.Entry, 0, len(l.Entries)), Next: l.Next}
	for _, e := range l.Entries {
		if !u.covered(ambit.Join(l.Dir, e.Name)) {
			shown.Entries = append(shown.Entries, e)
		}
	}
	return shown, nil
}

// filter is a pattern of path and nothing else, for a search of dir.
func filter(dir, path string) string {
	return "/" + literal.Replace(strings.TrimPrefix(strings.TrimPrefix(path, dir), "/"))
}

var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `,`, `\,`)

// anchored makes filters of patterns whose paths begin at a base: without a slash
// in them they would match at any depth.
func anchored(patterns []string) []string {
	var filters []string
	for _, p := range patterns {
		filters = append(filters, "/"+p)
	}
	return filters
}

// bySegments compares paths segment by segment.
func bySegments(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
