// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"fmt"
	"slices"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/filetype"
	"github.com/ambitfs/ambit/internal/glob"
	"github.com/ambitfs/ambit/internal/grep"
	"github.com/ambitfs/ambit/internal/match"
)

// query is what a glob and a grep have in common, compiled.
type query struct {
	include []*glob.Pattern // names that match one of them
	exclude []*glob.Pattern // and none of these, nor lie in such a folder
	types   *filetype.Set   // nil: all
	kinds   []ambit.Kind    // empty: all
	dots    bool
	ignored bool
	details bool
	limit   int
	keep    func(path string, k ambit.Kind) bool

	grep *grep.Query // nil: a glob
}

func compileGlob(q ambit.GlobQuery) (*query, error) {
	if err := notNegative("Limit", q.Limit); err != nil {
		return nil, err
	}
	for _, k := range q.Kinds {
		if k == ambit.KindUnknown || k > ambit.KindDevice {
			return nil, invalid("Kinds has %d, which is no kind of entry", k)
		}
	}
	p, err := glob.Compile(q.Pattern)
	if err != nil {
		return nil, err
	}
	return &query{
		include: []*glob.Pattern{p}, kinds: q.Kinds, dots: q.All, ignored: q.NoIgnore,
		details: q.Details, limit: q.Limit, keep: q.Keep,
	}, nil
}

// everything matches every name.
var everything = func() *glob.Pattern {
	p, err := glob.Compile("**")
	if err != nil {
		panic(err)
	}
	return p
}()

func compileGrep(q ambit.GrepQuery) (*query, error) {
	for _, n := range []struct {
		name  string
		value int
	}{{"Limit", q.Limit}, {"Before", q.Before}, {"After", q.After}, {"MaxLineBytes", q.MaxLineBytes}} {
		if err := notNegative(n.name, n.value); err != nil {
			return nil, err
		}
	}
	if q.Mode > ambit.GrepCount {
		return nil, invalid("Mode is %d, which is no mode", q.Mode)
	}
	p, err := match.Compile(q.Pattern, match.Options{Literal: q.Literal, IgnoreCase: q.IgnoreCase, Word: q.Word, Multiline: q.Multiline})
	if err != nil {
		return nil, err
	}
	c := &query{
		kinds: []ambit.Kind{ambit.KindRegular}, dots: q.All, ignored: q.NoIgnore, limit: q.Limit, keep: q.Keep,
		grep: &grep.Query{
			Pattern: p, Before: q.Before, After: q.After, MaxLineBytes: q.MaxLineBytes,
			Mode: q.Mode, Multiline: q.Multiline,
		},
	}
	if q.Mode != ambit.GrepContent {
		c.grep.Before, c.grep.After = 0, 0
	} else if q.Limit > 0 {
		c.grep.Limit = max(q.Limit, q.Limit+1) // one more tells that there are more
	}
	if c.include, err = filters("Include", q.Include); err != nil {
		return nil, err
	}
	if c.exclude, err = filters("Exclude", q.Exclude); err != nil {
		return nil, err
	}
	if len(c.include) == 0 {
		c.include = []*glob.Pattern{everything}
	}
	if len(q.Types) > 0 {
		if c.types, err = filetype.Compile(q.Types); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func filters(option string, patterns []string) ([]*glob.Pattern, error) {
	var all []*glob.Pattern
	for _, pattern := range patterns {
		p, err := glob.CompileFilter(pattern)
		if err != nil {
			e := *ambit.Wrap("", "", err).(*ambit.Error)
			e.Detail = fmt.Sprintf("%s %q: %s", option, pattern, e.Detail)
			return nil, &e
		}
		all = append(all, p)
	}
	return all, nil
}

func notNegative(option string, n int) error {
	if n < 0 {
		return invalid("%s is %d", option, n)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return &ambit.Error{Reason: ambit.ErrInvalid, Detail: fmt.Sprintf(format, args...)}
}

func (q *query) wants(k ambit.Kind) bool { return len(q.kinds) == 0 || slices.Contains(q.kinds, k) }

// view is a query as seen from a folder: what of its patterns is left.
type view struct {
	include []glob.State
	all     []glob.State // include, if a leading dot hid nothing; nil where it does not
	exclude []glob.State
}

func (q *query) view() view {
	v := view{include: start(q.include, q.dots), exclude: start(q.exclude, true)}
	if !q.dots {
		v.all = start(q.include, true)
	}
	return v
}

// inFile is the view of the one entry of a base that is a file: it is named.
func (q *query) inFile() view {
	return view{include: start(q.include, true), exclude: start(q.exclude, true)}
}

func start(patterns []*glob.Pattern, dots bool) []glob.State {
	states := make([]glob.State, len(patterns))
	for i, p := range patterns {
		states[i] = p.Start(dots)
	}
	return states
}

func enter(states []glob.State, name string) []glob.State {
	var in []glob.State
	for _, s := range states {
		if s = s.Enter(name); !s.Dead() {
			in = append(in, s)
		}
	}
	return in
}

func matches(states []glob.State, name string, dir bool) bool {
	for _, s := range states {
		if s.Match(name, dir) {
			return true
		}
	}
	return false
}

// enter is the view from the folder name.
func (v view) enter(name string) view {
	return view{include: enter(v.include, name), all: enter(v.all, name), exclude: enter(v.exclude, name)}
}

// judgement is what becomes of an entry.
type judgement struct {
	hit   bool // it is one that the search is for
	byDot bool // it is left out for its dot alone
	in    view // of a folder
}

// judge judges an entry of the folder of v by its name and kind. It is not ok when
// the search has nothing to do with it.
func (q *query) judge(v view, name string, kind ambit.Kind) (j judgement, ok bool) {
	isDir := kind == ambit.KindDirectory
	j.hit = q.hits(v.include, name, kind)
	if isDir {
		j.in = v.enter(name)
	}
	if !j.hit && j.in.dead() {
		j.byDot = v.all != nil && name[0] == '.' && (q.hits(v.all, name, kind) || len(j.in.all) > 0)
		if !j.byDot {
			return j, false
		}
	}
	return j, !matches(v.exclude, name, isDir)
}

// hits reports whether an entry is one that the search is for.
func (q *query) hits(states []glob.State, name string, k ambit.Kind) bool {
	return q.wants(k) && matches(states, name, k == ambit.KindDirectory) && (q.types == nil || q.types.Match(name))
}

// dead reports that nothing beneath can match.
func (v view) dead() bool { return len(v.include) == 0 }

// names returns the only names that can match or lead on, nil where there is no
// telling: of a folder on a literal path nothing else has to be looked at.
func (v view) names() []string {
	var all []string
	for _, states := range [][]glob.State{v.include, v.all} {
		for _, s := range states {
			names, ok := s.Names()
			if !ok {
				return nil
			}
			all = append(all, names...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
