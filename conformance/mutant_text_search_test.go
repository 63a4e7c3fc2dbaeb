// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
)

type (
	globFunc = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error)
	grepFunc = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error)
)

func globsBy(f func(right globFunc) globFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Glob = f(e.Glob) }
}

func grepsBy(f func(right grepFunc) grepFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Grep = f(e.Grep) }
}

// asksGlob has another query answered.
func asksGlob(change func(q *ambit.GlobQuery)) func(e *conformance.TextEngine) {
	return globsBy(func(right globFunc) globFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
			change(&q)
			return right(ctx, fsys, q, yield)
		}
	})
}

func asksGrep(change func(q *ambit.GrepQuery)) func(e *conformance.TextEngine) {
	return grepsBy(func(right grepFunc) grepFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
			change(&q)
			return right(ctx, fsys, q, yield)
		}
	})
}

// globTold tells what change makes of the names that the query asked by ask finds.
func globTold(right globFunc, ask func(q *ambit.GlobQuery), change func(q ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch) globFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
		asked := q
		if ask != nil {
			ask(&asked)
		}
		var found []ambit.GlobMatch
		sum, err := right(ctx, fsys, asked, func(m ambit.GlobMatch) bool {
			found = append(found, m)
			return true
		})
		if err != nil {
			return sum, err
		}
		found = change(q, found, &sum)
		sum.Matched = 0
		for _, m := range found {
			sum.Matched++
			if !yield(m) {
				sum.Truncated = true
				break
			}
		}
		return sum, nil
	}
}

func tellsGlob(change func(q ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch) func(e *conformance.TextEngine) {
	return globsBy(func(right globFunc) globFunc { return globTold(right, nil, change) })
}

func grepTold(right grepFunc, ask func(q *ambit.GrepQuery), change func(q ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch) grepFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
		asked := q
		if ask != nil {
			ask(&asked)
		}
		var found []ambit.GrepMatch
		sum, err := right(ctx, fsys, asked, func(m ambit.GrepMatch) bool {
			found = append(found, m)
			return true
		})
		if err != nil {
			return sum, err
		}
		sum.Matched = 0
		last := ""
		for _, m := range change(q, found, &sum) {
			if !m.Context && m.Path != last {
				sum.Matched++
				last = m.Path
			}
			if !yield(m) {
				sum.Truncated = true
				break
			}
		}
		return sum, nil
	}
}

func tellsGrep(change func(q ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch) func(e *conformance.TextEngine) {
	return grepsBy(func(right grepFunc) grepFunc { return grepTold(right, nil, change) })
}

// seen is a file system that is searched by listing it, as list, stat and open
// have it; nil are as they are.
type seen struct {
	ambit.Forward
	list func(dir string, l *ambit.Listing) error
	open func(path string, f ambit.File) ambit.File
}

func seenAs(fsys ambit.FileSystem, list func(dir string, l *ambit.Listing) error, open func(path string, f ambit.File) ambit.File) ambit.FileSystem {
	keep := fsys.Capabilities()
	keep.Search, keep.Sub, keep.Guard = false, false, false
	return &seen{ambit.Forward{Base: fsys, Keep: keep}, list, open}
}

func (s *seen) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := s.Forward.List(ctx, dir, o)
	if err == nil {
		err = s.list(dir, l)
	}
	return l, err
}

// Stat finds nothing that is not listed.
func (s *seen) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if ambit.Base(path) == ".git" {
		return ambit.FileInfo{}, &ambit.Error{Op: ambit.OpStat, Path: path, Reason: ambit.ErrNotFound}
	}
	return s.Forward.Stat(ctx, path)
}

func (s *seen) Open(ctx context.Context, path string) (ambit.File, error) {
	f, err := s.Forward.Open(ctx, path)
	if err == nil && s.open != nil {
		f = s.open(path, f)
	}
	return f, err
}

// over has searches of another file system.
func over(other func(ctx context.Context, fsys ambit.FileSystem) ambit.FileSystem) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) {
		glob, grep := e.Glob, e.Grep
		e.Glob = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
			return glob(ctx, other(ctx, fsys), q, yield)
		}
		e.Grep = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
			return grep(ctx, other(ctx, fsys), q, yield)
		}
	}
}

// brittle is a file system where what is missing is another fault.
type brittle struct {
	ambit.FileSystem
	fault ambit.Reason
}

func (b brittle) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := b.FileSystem.List(ctx, dir, o)
	return l, b.of(ambit.OpList, dir, err)
}

func (b brittle) Open(ctx context.Context, path string) (ambit.File, error) {
	f, err := b.FileSystem.Open(ctx, path)
	return f, b.of(ambit.OpOpen, path, err)
}

func (b brittle) of(op, path string, err error) error {
	if ambit.ReasonOf(err) == ambit.ErrNotFound {
		return &ambit.Error{Op: op, Path: path, Reason: b.fault}
	}
	return err
}

// followsFiles has links to files taken for files.
func followsFiles(ctx context.Context, fsys ambit.FileSystem) ambit.FileSystem {
	return seenAs(fsys, func(_ string, l *ambit.Listing) error {
		for i, e := range l.Entries {
			if e.Info.Kind != ambit.KindSymlink {
				continue
			}
			if info, err := fsys.Stat(ctx, e.Info.Path); err == nil && info.Kind == ambit.KindRegular {
				l.Entries[i].Info.Kind = ambit.KindRegular
			}
		}
		return nil
	}, func(path string, f ambit.File) ambit.File {
		info := f.Info()
		info.Path = path
		return &faultyFile{File: f, info: func() ambit.FileInfo { return info }}
	})
}

// failsAtBroken has no listing where a link is broken.
func failsAtBroken(ctx context.Context, fsys ambit.FileSystem) ambit.FileSystem {
	return seenAs(fsys, func(_ string, l *ambit.Listing) error {
		for _, e := range l.Entries {
			if _, err := fsys.Stat(ctx, e.Info.Path); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// withoutRepositories shows no folder ".git".
func withoutRepositories(_ context.Context, fsys ambit.FileSystem) ambit.FileSystem {
	return seenAs(fsys, func(_ string, l *ambit.Listing) error {
		l.Entries = slices.DeleteFunc(l.Entries, func(e ambit.Entry) bool { return e.Name == ".git" })
		return nil
	}, nil)
}

// searcher is a file system with searches of its own.
type searcher struct {
	ambit.Forward
	glob globFunc
	grep grepFunc
}

// ownSearch gives a file system that searches by itself the faults of an engine.
func ownSearch(change func(e *conformance.TextEngine)) func(base ambit.FileSystem) ambit.FileSystem {
	return func(base ambit.FileSystem) ambit.FileSystem {
		keep := base.Capabilities()
		keep.Sub, keep.Guard = false, false
		s := &searcher{Forward: ambit.Forward{Base: base, Keep: keep}}
		e := &conformance.TextEngine{
			Glob: func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				return fsys.(ambit.Searcher).Glob(ctx, q, yield)
			},
			Grep: func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				return fsys.(ambit.Searcher).Grep(ctx, q, yield)
			},
		}
		change(e)
		s.glob, s.grep = e.Glob, e.Grep
		return s
	}
}

func (s *searcher) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	return s.glob(ctx, s.Base, q, yield)
}

func (s *searcher) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	return s.grep(ctx, s.Base, q, yield)
}

// unguarded is a guarded file system whose searches ask nobody.
type unguarded struct {
	*faulty
	open ambit.FileSystem
}

func (u unguarded) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	return u.open.(ambit.Searcher).Glob(ctx, q, yield)
}

func (u unguarded) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	return u.open.(ambit.Searcher).Grep(ctx, q, yield)
}

func searchesUnguarded(f *faulty) {
	f.guard = func(ask asker) ambit.FileSystem { return unguarded{f.around(f.baseGuard(ask)), f.inner} }
}

// asWritten is a path beneath a base with the base as the caller wrote it.
func asWritten(base, found string) string {
	clean, _, err := ambit.Resolve("/", base)
	if base == "" || err != nil || clean == "/" {
		return found
	}
	if rest, ok := strings.CutPrefix(found, clean); ok {
		return base + rest
	}
	return base
}

// globMutants find other names.
func globMutants() []mutant {
	drops := func(bad func(m ambit.GlobMatch, all []ambit.GlobMatch) bool) func(e *conformance.TextEngine) {
		return tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
			all := slices.Clone(found)
			return slices.DeleteFunc(found, func(m ambit.GlobMatch) bool { return bad(m, all) })
		})
	}
	pathsAs := func(change func(q ambit.GlobQuery, path string) string) func(e *conformance.TextEngine) {
		return tellsGlob(func(q ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
			for i := range found {
				found[i].Info.Path = change(q, found[i].Info.Path)
			}
			return found
		})
	}
	byText := tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
		slices.SortFunc(found, func(a, b ambit.GlobMatch) int { return strings.Compare(a.Info.Path, b.Info.Path) })
		return found
	})
	dotsToo := asksGlob(func(q *ambit.GlobQuery) { q.All = true })
	return []mutant{
		{name: "** needs a folder", check: "text/glob-double-star", engine: asksGlob(func(q *ambit.GlobQuery) { q.Pattern = strings.ReplaceAll(q.Pattern, "**/", "**/*/") })},
		{name: "** forgets its slash", check: "text/glob-double-star", engine: asksGlob(func(q *ambit.GlobQuery) {
			if rest, ok := strings.CutPrefix(q.Pattern, "**/"); ok {
				q.Pattern = "**/*" + rest
			}
		})},
		{name: "** at the end is its folder too", check: "text/glob-double-star", engine: asksGlob(func(q *ambit.GlobQuery) {
			if rest, ok := strings.CutSuffix(q.Pattern, "/**"); ok {
				q.Pattern = "{" + rest + "," + rest + "/**}"
			}
		})},
		{name: "a question mark is a slash too", check: "text/glob-wildcards", engine: asksGlob(func(q *ambit.GlobQuery) {
			if len(q.Pattern) > 1 {
				q.Pattern = strings.ReplaceAll(q.Pattern, "?", "{?,/}")
			}
		})},
		{name: "negated classes are not known", check: "text/glob-wildcards", engine: asksGlob(func(q *ambit.GlobQuery) { q.Pattern = strings.ReplaceAll(q.Pattern, "[!", "[") })},
		{name: "a base is a pattern", check: "text/glob-brackets", engine: asksGlob(func(q *ambit.GlobQuery) {
			if strings.ContainsAny(q.Base, "[{") {
				q.Base, q.Pattern = "/", q.Base+"/"+q.Pattern
			}
		})},
		{name: "a backslash takes nothing away", check: "text/glob-brackets", engine: asksGlob(func(q *ambit.GlobQuery) { q.Pattern = strings.ReplaceAll(q.Pattern, `\`, "") })},
		{name: "names are sorted by their whole paths", check: "text/glob-order", engine: byText},
		{name: "names of the file system's own search are sorted by their whole paths", check: "text/glob-order", on: onDisk, wraps: ownSearch(byText)},
		{name: "kinds are not asked for", check: "text/glob-kinds", engine: asksGlob(func(q *ambit.GlobQuery) { q.Kinds = nil })},
		{name: "details are left out", check: "text/glob-details", engine: asksGlob(func(q *ambit.GlobQuery) { q.Details = false })},
		{name: "details are left out by the file system's own search", check: "text/glob-details", on: onDisk, wraps: ownSearch(asksGlob(func(q *ambit.GlobQuery) { q.Details = false }))},
		{name: "empty folders are no names", check: "text/glob-empty", engine: drops(func(m ambit.GlobMatch, all []ambit.GlobMatch) bool {
			return m.Info.Kind == ambit.KindDirectory && !slices.ContainsFunc(all, func(o ambit.GlobMatch) bool { return strings.HasPrefix(o.Info.Path, m.Info.Path+"/") })
		})},
		{name: "names that are no text are left out", check: "text/glob-odd-names", engine: drops(func(m ambit.GlobMatch, _ []ambit.GlobMatch) bool { return !utf8.ValidString(m.Info.Path) })},
		{name: "a name ends at a line feed", check: "text/glob-odd-names", engine: pathsAs(func(_ ambit.GlobQuery, path string) string {
			path, _, _ = strings.Cut(path, "\n")
			return path
		})},
		{name: "names that are no text are mended", check: "text/glob-odd-names", on: onDisk, wraps: ownSearch(pathsAs(func(_ ambit.GlobQuery, path string) string { return strings.ToValidUTF8(path, "?") }))},
		{name: "paths begin with the base as it is written", check: "text/search-base", engine: pathsAs(func(q ambit.GlobQuery, path string) string { return asWritten(q.Base, path) })},
		{name: "paths begin with the link that the base is", check: "text/search-base-link", on: onDisk, engine: pathsAs(func(q ambit.GlobQuery, path string) string {
			return asWritten(q.Base, path)
		})},
		{name: "names with a dot are found", check: "text/search-dots", engine: dotsToo},
		{name: "names with a dot are found by the file system's own search", check: "text/search-dots", on: onDisk, wraps: ownSearch(dotsToo)},
		{name: "what is hidden is not counted", check: "text/search-dots", engine: tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch {
			sum.Hidden = 0
			return found
		})},
		{name: "a limit that is met is Truncated", check: "text/glob-limit", engine: tellsGlob(func(q ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch {
			sum.Truncated = q.Limit > 0 && len(found) == q.Limit
			return found
		})},
		{name: "a limit is met one match later", check: "text/glob-limit", engine: asksGlob(func(q *ambit.GlobQuery) {
			if q.Limit > 0 {
				q.Limit++
			}
		})},
		{name: "a link to a file is a file", check: "text/glob-links", on: onDisk, engine: over(followsFiles)},
		{name: "a broken link ends the search", check: "text/glob-links", on: onDisk, engine: over(failsAtBroken)},
		{name: "a bad glob finds nothing", check: "text/glob-bad-pattern", engine: globsBy(func(right globFunc) globFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				if ambit.ReasonOf(err) == ambit.ErrBadPattern {
					err = nil
				}
				return sum, err
			}
		})},
		{name: "a bad glob is told of without its fault", check: "text/glob-bad-pattern", engine: globsBy(func(right globFunc) globFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				if ambit.ReasonOf(err) == ambit.ErrBadPattern {
					err = &ambit.Error{Op: ambit.OpGlob, Path: q.Base, Reason: ambit.ErrBadPattern}
				}
				return sum, err
			}
		})},
		{name: "all that begins with ** finds dots", check: "text/glob-any", engine: asksGlob(func(q *ambit.GlobQuery) { q.All = q.All || strings.HasPrefix(q.Pattern, "**") })},
		{name: "the file system's own search looks only at the last dot", check: "text/glob-any", on: onDisk, wraps: ownSearch(globsBy(func(right globFunc) globFunc {
			return globTold(right, func(q *ambit.GlobQuery) { q.All, q.Limit = true, 0 }, func(q ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch {
				found = slices.DeleteFunc(found, func(m ambit.GlobMatch) bool { return !q.All && path.Base(m.Info.Path)[0] == '.' })
				if q.Limit > 0 && len(found) > q.Limit {
					found, sum.Truncated = found[:q.Limit], true
				}
				return found
			})
		}))},
	}
}

// searchMutants are wrong about globs and greps alike, or about when they end.
func searchMutants() []mutant {
	// withContext has searches run with another context.
	withContext := func(change func(ctx context.Context) context.Context) func(e *conformance.TextEngine) {
		return func(e *conformance.TextEngine) {
			glob, grep := e.Glob, e.Grep
			e.Glob = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				return glob(change(ctx), fsys, q, yield)
			}
			e.Grep = func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				return grep(change(ctx), fsys, q, yield)
			}
		}
	}
	return []mutant{
		{name: "what is ignored is found", check: "text/search-ignored", engine: asksGlob(func(q *ambit.GlobQuery) { q.NoIgnore = true })},
		{name: "what is ignored is searched", check: "text/search-ignored", engine: asksGrep(func(q *ambit.GrepQuery) { q.NoIgnore = true })},
		{name: "what is ignored is found by the file system's own search", check: "text/search-ignored", on: onDisk, wraps: ownSearch(asksGlob(func(q *ambit.GlobQuery) { q.NoIgnore = true }))},
		{name: "what is ignored is not counted", check: "text/search-ignored", engine: tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, sum *ambit.SearchSummary) []ambit.GlobMatch {
			sum.Ignored = 0
			return found
		})},
		{name: "a base that is ignored holds nothing", check: "text/search-ignored-base", engine: asksGlob(func(q *ambit.GlobQuery) {
			if q.Base != "/" {
				q.Base, q.Pattern = "/", q.Base+"/"+q.Pattern
			}
		})},
		{name: "rules end at no repository", check: "text/search-repository", engine: over(withoutRepositories)},
		{name: "a .gitignore that is a link is read", check: "text/search-ignore-link", on: onDisk, engine: over(followsFiles)},
		{name: "searches are not guarded", check: "text/search-denied", on: onDisk, breaks: searchesUnguarded},
		{name: "searches through links are not guarded", check: "text/search-denied-link", on: onDisk, breaks: searchesUnguarded},
		{name: "a base that is a file holds nothing", check: "text/search-base-file", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				if info, err := fsys.Stat(ctx, q.Base); err == nil && info.Kind == ambit.KindRegular {
					return ambit.SearchSummary{}, nil
				}
				return right(ctx, fsys, q, yield)
			}
		})},
		{name: "a base that is a file is a prefix", check: "text/search-base-file", engine: grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) {
				q.Base, q.All, q.NoIgnore = ambit.Dir("/"+strings.Trim(q.Base, "/")), true, true
			},
				func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
					return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool { return !strings.HasPrefix(m.Path, "/"+strings.Trim(q.Base, "/")) })
				})
		})},
		{name: "a missing base holds nothing", check: "text/search-base-refused", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					err = nil
				}
				return sum, err
			}
		})},
		{name: "a yield that returns false is asked again", check: "text/search-stops", engine: globsBy(func(right globFunc) globFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				return right(ctx, fsys, q, func(m ambit.GlobMatch) bool {
					yield(m)
					return true
				})
			}
		})},
		{name: "who stops is not told that there is more", check: "text/search-stops", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				sum.Truncated = false
				return sum, err
			}
		})},
		{name: "yield is called on another goroutine", check: "text/glob-kinds", engine: globsBy(func(right globFunc) globFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
				var sum ambit.SearchSummary
				var err error
				var group sync.WaitGroup
				group.Go(func() { sum, err = right(ctx, fsys, q, yield) })
				group.Wait()
				return sum, err
			}
		})},
		{name: "Keep is asked when the limit has cut", check: "text/search-keep", engine: globsBy(func(right globFunc) globFunc {
			return globTold(right, func(q *ambit.GlobQuery) { q.Keep = nil }, func(q ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
				return slices.DeleteFunc(found, func(m ambit.GlobMatch) bool { return q.Keep != nil && !q.Keep(m.Info.Path, m.Info.Kind) })
			})
		})},
		{name: "Keep is not asked by grep", check: "text/search-keep", engine: asksGrep(func(q *ambit.GrepQuery) { q.Keep = nil })},
		{name: "Keep is asked by the file system's own grep when the limit has cut", check: "text/search-keep", on: onDisk, wraps: ownSearch(grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.Keep = nil }, func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
				return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool { return q.Keep != nil && !q.Keep(m.Path, ambit.KindRegular) })
			})
		}))},
		{name: "Keep is asked twice at once", check: "text/search-keep-alone", engine: asksGlob(func(q *ambit.GlobQuery) {
			keep := q.Keep
			q.Keep = func(path string, k ambit.Kind) bool {
				var group sync.WaitGroup
				for range 2 {
					group.Go(func() { keep(path, k) })
				}
				group.Wait()
				return true
			}
		})},
		{name: "negative numbers are no limit", check: "text/search-absurd-numbers", engine: asksGrep(func(q *ambit.GrepQuery) {
			q.Limit, q.Before, q.After, q.MaxLineBytes = max(q.Limit, 0), max(q.Before, 0), max(q.After, 0), max(q.MaxLineBytes, 0)
		})},
		{name: "a pattern is judged before the context", check: "text/search-order-of-judgement", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				judged := q
				judged.Base = "/"
				if _, err := right(context.WithoutCancel(ctx), fsys, judged, func(ambit.GrepMatch) bool { return false }); err != nil {
					return ambit.SearchSummary{}, ambit.Wrap(ambit.OpGrep, q.Base, err)
				}
				return right(ctx, fsys, q, yield)
			}
		})},
		{name: "a context that is done is not seen", check: "text/search-context-done", engine: withContext(context.WithoutCancel)},
		{name: "a context that ends is not seen", check: "text/search-canceled", engine: withContext(func(ctx context.Context) context.Context {
			if ctx.Err() != nil {
				return ctx
			}
			return context.WithoutCancel(ctx)
		})},
		{name: "Keep is asked after the search", check: "text/search-canceled", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				go func() {
					time.Sleep(3 * time.Millisecond)
					q.Keep("/d00/f0", ambit.KindRegular)
				}()
				return sum, err
			}
		})},
		{name: "searches at once share what they have found", check: "text/search-at-once", engine: func() func(e *conformance.TextEngine) {
			var running atomic.Int32
			var met atomic.Bool
			return globsBy(func(right globFunc) globFunc {
				return globTold(func(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
					defer running.Add(-1)
					if running.Add(1) > 1 {
						met.Store(true)
					}
					time.Sleep(window)
					return right(ctx, fsys, q, yield)
				}, nil, func(_ ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
					if met.Load() {
						return found[:len(found)-1]
					}
					return found
				})
			})
		}()},
		{name: "what is made meanwhile is lost", check: "text/search-all-created", engine: tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
			return slices.DeleteFunc(found, func(m ambit.GlobMatch) bool { return strings.HasSuffix(m.Info.Path, "-3-0") })
		})},
		{name: "a temporary file is found", check: "text/search-unpublished", breaks: func(f *faulty) {
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				const temporary = "/.write-123.tmp"
				if _, err := f.base.Write(ctx, temporary, strings.NewReader("half"), nil); err != nil {
					return ambit.WriteResult{}, err
				}
				defer f.base.Remove(ctx, temporary, nil)
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a temporary file is left where a write fails", check: "text/search-unpublished", breaks: func(f *faulty) {
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &o)
				if err != nil {
					f.base.Write(ctx, "/.write-123.tmp", strings.NewReader("half"), nil)
				}
				return r, err
			}
		}},
		{name: "half of what is written is found", check: "text/search-beside-writers", breaks: func(f *faulty) {
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := io.ReadAll(content)
				if err == nil {
					_, err = f.base.Write(ctx, path, strings.NewReader(string(data[:len(data)/2])), &o)
				}
				if err != nil {
					return ambit.WriteResult{}, err
				}
				time.Sleep(5 * window)
				return f.base.Write(ctx, path, strings.NewReader(string(data)), &o)
			}
		}},
		{name: "a folder that goes is skipped", check: "text/search-vanishing", engine: over(func(_ context.Context, fsys ambit.FileSystem) ambit.FileSystem {
			return brittle{fsys, ambit.ErrIO}
		})},
		{name: "what goes ends the search", check: "text/search-vanishing", engine: over(func(_ context.Context, fsys ambit.FileSystem) ambit.FileSystem {
			return brittle{fsys, ambit.ErrClosed}
		})},
	}
}
