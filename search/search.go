// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/filetype"
	"github.com/ambitfs/ambit/internal/find"
)

// GlobResult is the whole answer of a [Glob].
type GlobResult struct {
	Matches []ambit.GlobMatch
	Summary ambit.SearchSummary
}

// GrepResult is the whole answer of a [Grep].
type GrepResult struct {
	Matches []ambit.GrepMatch
	Summary ambit.SearchSummary
}

// Glob returns the names beneath q.Base that match q.Pattern, sorted.
//
// The reasons are those of Stat and List for the base, [ambit.ErrBadPattern],
// and [ambit.ErrInvalid] for a negative limit or an unknown kind. What was found
// before an error stands in the result beside it.
func Glob(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery) (*GlobResult, error) {
	r := &GlobResult{}
	var err error
	r.Summary, err = GlobEach(ctx, fsys, q, func(m ambit.GlobMatch) bool {
		r.Matches = append(r.Matches, m)
		return true
	})
	return r, err
}

// GlobEach is [Glob] with each match handed to yield as soon as it is its turn.
// yield ends the search by returning false.
func GlobEach(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	q, err := relative(ctx, fsys, q)
	if err != nil {
		return ambit.SearchSummary{}, err
	}
	if s, ok := fsys.(ambit.Searcher); ok && fsys.Capabilities().Search {
		return s.Glob(ctx, q, yield)
	}
	sum, err := find.Glob(ctx, tree{fsys: fsys, details: q.Details}, baseOf(ctx, fsys, q.Base), q, yield)
	return sum, ambit.Wrap(ambit.OpGlob, baseName(q.Base), err)
}

// Grep returns the lines beneath q.Base that match q.Pattern, sorted by path and
// line, with their context.
//
// The reasons are those of Stat, List and Open for the base,
// [ambit.ErrBadPattern], and [ambit.ErrInvalid] for a negative number or an
// unknown mode or type. What was found before an error stands in the result beside
// it.
func Grep(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery) (*GrepResult, error) {
	r := &GrepResult{}
	var err error
	r.Summary, err = GrepEach(ctx, fsys, q, func(m ambit.GrepMatch) bool {
		r.Matches = append(r.Matches, m)
		return true
	})
	return r, err
}

// GrepEach is [Grep] with each match handed to yield as soon as it is its turn.
// yield ends the search by returning false.
func GrepEach(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	if s, ok := fsys.(ambit.Searcher); ok && fsys.Capabilities().Search {
		return s.Grep(ctx, q, yield)
	}
	sum, err := find.Grep(ctx, tree{fsys: fsys}, baseOf(ctx, fsys, q.Base), q, yield)
	return sum, ambit.Wrap(ambit.OpGrep, baseName(q.Base), err)
}

func baseName(base string) string {
	if base == "" {
		return "."
	}
	return base
}

// baseOf looks at what a base leads to.
func baseOf(ctx context.Context, fsys ambit.FileSystem, base string) func() (find.Base, error) {
	return func() (find.Base, error) {
		info, err := fsys.Stat(ctx, baseName(base))
		return find.Base{Path: info.Path, Kind: info.Kind}, err
	}
}

// Types returns the names of the types of files that GrepQuery.Types takes,
// sorted.
func Types() []string { return filetype.Names() }
