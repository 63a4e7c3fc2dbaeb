// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// searchLimitChecks are about searches that do not tell all.
func searchLimitChecks() []*check {
	return []*check{
		{
			id: "text/glob-limit", requires: needsSearch, tree: searchTree,
			rule: "A limit cuts the sorted names, and Truncated says whether there is one more: not where there are just so many.",
			run: func(p *probe) {
				for limit := 1; limit <= len(searchNames)+1; limit++ {
					p.globLimited(ambit.GlobQuery{Pattern: "**", Base: "/", Limit: limit}, searchNames)
				}
				for limit := 1; limit <= 4; limit++ {
					p.globLimited(ambit.GlobQuery{Pattern: "*.py", Base: "/", Limit: limit}, []string{"/top.py"})
				}
			},
		},
		{
			id: "text/grep-limit", requires: needsSearch, tree: searchTree,
			rule: "A limit cuts the sorted lines, or files, and Truncated says whether there is one more: not where there are just so many.",
			run: func(p *probe) {
				for _, mode := range []ambit.GrepMode{ambit.GrepContent, ambit.GrepFiles, ambit.GrepCount} {
					q := ambit.GrepQuery{Pattern: "o", Base: "/", Mode: mode}
					all := p.grep(p.ctx, q, nil).lines()
					if len(all) < 8 {
						p.errorf("a grep for o in mode %d finds %q", mode, all)
					}
					for limit := 1; limit <= len(all)+1; limit++ {
						q.Limit = limit
						for _, way := range p.ways() {
							g := way.grep(p.ctx, q, nil)
							p.cutAt(shownQuery(q), limit, g.lines(), all, g.sum, g.err)
						}
					}
				}
			},
		},
		{
			id: "text/grep-limit-context", requires: needsSearch, tree: textTree("a\nb\nc\nd\ne\n", "k\n1\nk\n2\n3\nk\n", "c\n"),
			rule: "A limit counts matches and no context, and behind the last one its context still comes, a line of which is context though it matches.",
			run: func(p *probe) {
				for _, c := range []struct {
					q         ambit.GrepQuery
					want      []string
					truncated bool
				}{
					{ambit.GrepQuery{Pattern: "c", Base: "f0", Limit: 1, After: 2}, []string{"/f0:3:c", "/f0-4-d", "/f0-5-e"}, false},
					{ambit.GrepQuery{Pattern: "c", Base: "f0", Limit: 1, Before: 2, After: 2}, []string{"/f0-1-a", "/f0-2-b", "/f0:3:c", "/f0-4-d", "/f0-5-e"}, false},
					{ambit.GrepQuery{Pattern: "c", Base: "/", Limit: 1, After: 1}, []string{"/f0:3:c", "/f0-4-d"}, true},
					{ambit.GrepQuery{Pattern: "k", Base: "f1", Limit: 1, After: 2}, []string{"/f1:1:k", "/f1-2-1", "/f1-3-k"}, true},
					{ambit.GrepQuery{Pattern: "k", Base: "f1", Limit: 2, Before: 1, After: 1}, []string{"/f1:1:k", "/f1-2-1", "/f1:3:k", "/f1-4-2"}, true},
					{ambit.GrepQuery{Pattern: "k", Base: "f1", Limit: 3, Before: 1, After: 1}, []string{"/f1:1:k", "/f1-2-1", "/f1:3:k", "/f1-4-2", "/f1-5-3", "/f1:6:k"}, false},
					{ambit.GrepQuery{Pattern: "k", Base: "/", Limit: 3, Before: 1}, []string{"/f1:1:k", "/f1-2-1", "/f1:3:k", "/f1-5-3", "/f1:6:k"}, false},
				} {
					if sum := p.greps(c.q, c.want...); sum.Truncated != c.truncated {
						p.errorf("grep %s: Truncated is %v", shownQuery(c.q), sum.Truncated)
					}
				}
			},
		},
		{
			id: "text/search-stops", requires: needsSearch, tree: searchTree,
			rule: "A yield that returns false is the last one, and the search is Truncated, with success.",
			run: func(p *probe) {
				for _, way := range p.ways() {
					for n := 1; n < len(searchNames); n += 3 {
						left := n
						g := way.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/"}, func(ambit.GlobMatch) bool {
							left--
							return left > 0
						})
						if g.err != nil || !g.sum.Truncated || !slices.Equal(g.paths(), searchNames[:n]) {
							p.errorf("glob whose match %d was the last one wanted: %q, truncated %v, %v", n, g.paths(), g.sum.Truncated, g.err)
						}
					}
					for mode := ambit.GrepContent; mode <= ambit.GrepCount; mode++ {
						for n := 1; n < 6; n++ {
							left := n
							g := way.grep(p.ctx, ambit.GrepQuery{Pattern: "o", Base: "/", Mode: mode, Before: 1}, func(ambit.GrepMatch) bool {
								left--
								return left > 0
							})
							if g.err != nil || !g.sum.Truncated || len(g.matches) != n {
								p.errorf("grep in mode %d whose match %d was the last one wanted: %q, truncated %v, %v", mode, n, g.lines(), g.sum.Truncated, g.err)
							}
						}
					}
				}
			},
		},
		{
			id: "text/search-keep", requires: needsSearch, tree: searchTree,
			rule: "Keep is asked once for each name that would be found, or file that would be searched, with its kind, before it counts: limits, counts and Truncated are those of what is kept.",
			run: func(p *probe) {
				for _, way := range p.ways() {
					way.keeps()
				}
			},
		},
		{
			id: "text/search-keep-alone", requires: needsSearch, tree: manyFiles(),
			rule: "Keep is never asked twice at once, nor while yield runs.",
			run: func(p *probe) {
				for _, way := range p.ways() {
					var inside, calls atomic.Int32
					enter := func(what string) {
						if inside.Add(1) > 1 {
							p.errorf("%s is called while Keep or yield runs", what)
						}
						if calls.Add(1)%16 == 1 {
							time.Sleep(time.Millisecond)
						}
						inside.Add(-1)
					}
					keep := func(string, ambit.Kind) bool {
						enter("Keep")
						return true
					}
					way.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/", Keep: keep}, func(ambit.GlobMatch) bool {
						enter("yield")
						return true
					})
					way.grep(p.ctx, ambit.GrepQuery{Pattern: "k", Base: "/", Keep: keep}, func(ambit.GrepMatch) bool {
						enter("yield")
						return true
					})
				}
			},
		},
	}
}

// manyFiles has files with a match in many folders.
func manyFiles() Tree {
	var t Tree
	for dir := range 24 {
		for file := range 8 {
			t = append(t, Node{Path: fmt.Sprintf("d%02d/f%d", dir, file), Kind: ambit.KindRegular, Data: "k\n"})
		}
	}
	return t
}

// globLimited checks a glob with a limit that would find all without.
func (p *probe) globLimited(q ambit.GlobQuery, all []string) {
	for _, way := range p.ways() {
		g := way.glob(p.ctx, q, nil)
		p.cutAt(shownQuery(q), q.Limit, g.paths(), all, g.sum, g.err)
	}
}

func (p *probe) cutAt(query string, limit int, got, all []string, sum ambit.SearchSummary, err error) {
	want := all[:min(limit, len(all))]
	if err != nil || !slices.Equal(got, want) || sum.Truncated != (limit < len(all)) {
		p.errorf("%s: %q, truncated %v, %v, want the first %d of %d", query, got, sum.Truncated, err, len(want), len(all))
	}
}

// keeps searches with a Keep that keeps every second path.
func (p *probe) keeps() {
	var mu sync.Mutex
	asked := map[string]int{}
	keep := func(path string, k ambit.Kind) bool {
		mu.Lock()
		defer mu.Unlock()
		asked[path]++
		if want, ok := p.tree.kindAt(path); !ok || want != k {
			p.errorf("Keep is asked for %q as a %s", path, k)
		}
		return len(path)%2 == 0
	}
	var kept []string
	for _, path := range searchNames {
		if len(path)%2 == 0 {
			kept = append(kept, path)
		}
	}
	g := p.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/", Keep: keep}, nil)
	if g.err != nil || !slices.Equal(g.paths(), kept) || g.sum.Truncated {
		p.errorf("glob with Keep: %q, truncated %v, %v, want %q", g.paths(), g.sum.Truncated, g.err, kept)
	}
	p.askedOnce("glob", asked, searchNames)
	for limit := 1; limit <= len(kept); limit++ {
		q := ambit.GlobQuery{Pattern: "**", Base: "/", Limit: limit, Keep: keep}
		g := p.glob(p.ctx, q, nil)
		p.cutAt("glob with Keep", limit, g.paths(), kept, g.sum, g.err)
	}

	asked = map[string]int{}
	q := ambit.GrepQuery{Pattern: "import", Base: "/", Mode: ambit.GrepFiles, Exclude: []string{"*.go"}, Keep: keep}
	r := p.grep(p.ctx, q, nil)
	want := []string{"/docs/a/1.txt", "/docs/a.b/3.txt", "/docs/a-b/2.txt", "/src/app/main.py", "/src/app/util/text.py", "/src/app/util/text.txt", "/top.py"}
	slices.SortFunc(want, bySegments)
	files := append(slices.Clone(want), "/readme.txt")
	want = slices.DeleteFunc(want, func(path string) bool { return len(path)%2 != 0 })
	if r.err != nil || !slices.Equal(r.lines(), want) || r.sum.Truncated {
		p.errorf("grep with Keep: %q, truncated %v, %v, want %q", r.lines(), r.sum.Truncated, r.err, want)
	}
	if n := len(slices.DeleteFunc(slices.Clone(files), func(path string) bool { return len(path)%2 != 0 })); r.sum.Searched != n {
		p.errorf("grep with Keep: %d files searched, and %d are kept", r.sum.Searched, n)
	}
	p.askedOnce("grep", asked, files)
	for q.Limit = 1; q.Limit <= len(want); q.Limit++ {
		r := p.grep(p.ctx, q, nil)
		p.cutAt("grep with Keep", q.Limit, r.lines(), want, r.sum, r.err)
	}
}

func (p *probe) askedOnce(search string, asked map[string]int, want []string) {
	for path, n := range asked {
		if n != 1 || !slices.Contains(want, path) {
			p.errorf("%s asks Keep %d times for %q", search, n, path)
		}
	}
	if len(asked) != len(want) {
		p.errorf("%s asks Keep for %d paths, want %d", search, len(asked), len(want))
	}
}

// searchArgumentChecks are about queries that make no sense.
func searchArgumentChecks() []*check {
	bases := []string{"/", "src", "hollow/deep", "gone", "top.py", "top.py/x"}
	return []*check{
		{
			id: "text/glob-bad-pattern", requires: needsSearch, tree: searchTree,
			rule: "A glob that cannot be read is bad-pattern and the error says why, also where nothing would be searched or there.",
			run: func(p *probe) {
				for _, base := range bases {
					for _, pattern := range []string{"", "[", "[a", "{a", "{a,{b}", "a\x00b", `a\`} {
						p.globRefused(ambit.GlobQuery{Pattern: pattern, Base: base}, ambit.ErrBadPattern)
						if pattern != "" {
							p.grepRefused(ambit.GrepQuery{Pattern: "x", Base: base, Include: []string{"*", pattern}}, ambit.ErrBadPattern)
							p.grepRefused(ambit.GrepQuery{Pattern: "x", Base: base, Exclude: []string{pattern}}, ambit.ErrBadPattern)
						}
					}
				}
			},
		},
		{
			id: "text/grep-bad-pattern", requires: needsSearch, tree: searchTree,
			rule: "A regular expression that cannot be read is bad-pattern with the parser's message, also where nothing would be searched or there.",
			run: func(p *probe) {
				for _, base := range bases {
					for _, pattern := range []string{"(", "[", "a{2,1}", "(?P<x", "*", `\`, `(?=x)`, "a)"} {
						p.grepRefused(ambit.GrepQuery{Pattern: pattern, Base: base}, ambit.ErrBadPattern)
						p.grepRefused(ambit.GrepQuery{Pattern: pattern, Base: base, IgnoreCase: true, Word: true, Multiline: true}, ambit.ErrBadPattern)
					}
				}
			},
		},
		{
			id: "text/search-absurd-numbers", requires: needsSearch, tree: searchTree,
			rule: "A negative number, a mode or a kind that is none is invalid, also where nothing is, and the largest number is no limit.",
			run: func(p *probe) {
				for _, base := range bases {
					for _, n := range []int{-1, math.MinInt} {
						p.globRefused(ambit.GlobQuery{Pattern: "**", Base: base, Limit: n}, ambit.ErrInvalid)
						for _, q := range []ambit.GrepQuery{{Limit: n}, {Before: n}, {After: n}, {MaxLineBytes: n}, {Mode: ambit.GrepCount, Before: n}} {
							q.Pattern, q.Base = ".", base
							p.grepRefused(q, ambit.ErrInvalid)
						}
					}
					p.globRefused(ambit.GlobQuery{Pattern: "**", Base: base, Kinds: []ambit.Kind{ambit.KindRegular, 99}}, ambit.ErrInvalid)
					p.grepRefused(ambit.GrepQuery{Pattern: ".", Base: base, Mode: ambit.GrepCount + 1}, ambit.ErrInvalid)
				}
				p.finds(ambit.GlobQuery{Pattern: "*.py", Base: "/", Limit: math.MaxInt}, "/top.py")
				p.greps(ambit.GrepQuery{
					Pattern: "print", Base: "src/app/main.py", Limit: math.MaxInt, Before: math.MaxInt, After: math.MaxInt, MaxLineBytes: math.MaxInt,
				}, "/src/app/main.py-1-import os", "/src/app/main.py:2:print(os.name)")
				p.greps(ambit.GrepQuery{Pattern: "import", Base: "src/app/main.py", After: math.MaxInt, Limit: 1}, "/src/app/main.py:1:import os", "/src/app/main.py-2-print(os.name)")
			},
		},
		{
			id: "text/search-order-of-judgement", requires: needsSearch, tree: searchTree,
			rule: "A context that is done goes before a base that is no path, that before a pattern that cannot be read, and that before a base that is missing.",
			run: func(p *probe) {
				done, cancel := context.WithCancel(p.ctx)
				cancel()
				for _, way := range p.ways() {
					for _, base := range []string{"src", "a\x00b", "gone"} {
						p.refused(ambit.OpGlob, base, way.glob(done, ambit.GlobQuery{Pattern: "[", Base: base, Limit: -1}, nil).err, ambit.ErrCanceled)
						p.refused(ambit.OpGrep, base, way.grep(done, ambit.GrepQuery{Pattern: "(", Base: base, Limit: -1}, nil).err, ambit.ErrCanceled)
					}
				}
				p.globRefused(ambit.GlobQuery{Pattern: "[", Base: "a\x00b"}, ambit.ErrInvalidPath)
				p.grepRefused(ambit.GrepQuery{Pattern: "(", Base: "a\x00b"}, ambit.ErrInvalidPath)
				p.grepRefused(ambit.GrepQuery{Pattern: "x", Base: "a\x00b", Limit: -1}, ambit.ErrInvalidPath)
			},
		},
		{
			id: "text/search-context-done", requires: needsSearch, tree: searchTree,
			rule: "A search whose context is done is canceled or timeout, and finds nothing.",
			run: func(p *probe) {
				canceled, cancel := context.WithCancel(p.ctx)
				cancel()
				late, cancelLate := context.WithDeadline(p.ctx, time.Unix(1, 0))
				defer cancelLate()
				for _, way := range p.ways() {
					for ctx, want := range map[context.Context]ambit.Reason{canceled: ambit.ErrCanceled, late: ambit.ErrTimeout} {
						for _, base := range bases {
							g := way.glob(ctx, ambit.GlobQuery{Pattern: "**", Base: base}, nil)
							p.refused(ambit.OpGlob, base, g.err, want)
							r := way.grep(ctx, ambit.GrepQuery{Pattern: ".", Base: base}, nil)
							p.refused(ambit.OpGrep, base, r.err, want)
							if len(g.infos)+len(r.matches) > 0 || !errors.Is(g.err, ctx.Err()) || !errors.Is(r.err, ctx.Err()) {
								p.errorf("searches of %q with a context that is done: %q, %v; %q, %v", base, g.paths(), g.err, r.lines(), r.err)
							}
						}
					}
				}
			},
		},
	}
}

// searchBesideChecks are about searches while other things happen.
func searchBesideChecks() []*check {
	changing := append([]requirement{needWrite, needList}, needsSearch...)
	return []*check{
		{
			id: "text/search-canceled", requires: needsSearch, tree: manyFiles(),
			rule: "A search whose context ends while it runs is canceled soon, and when it has returned nothing of it goes on.",
			run: func(p *probe) {
				for _, way := range p.ways() {
					way.canceledSoon(false)
					way.canceledSoon(true)
				}
			},
		},
		{
			id: "text/search-at-once", requires: needsSearch, tree: searchTree,
			rule: "Of many searches at once each has the answer that it has alone.",
			run: func(p *probe) {
				errs := p.contend(callers, func(i int) error {
					for range 4 {
						p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, searchNames...)
						p.finds(ambit.GlobQuery{Pattern: "*", Base: "docs"}, "/docs/a", "/docs/a-b", "/docs/a.b")
						p.greps(ambit.GrepQuery{Pattern: "import", Base: "docs"}, "/docs/a/1.txt:1:one import", "/docs/a-b/2.txt:1:two import", "/docs/a.b/3.txt:1:three import")
						p.greps(ambit.GrepQuery{Pattern: "print", Base: "/", Before: i % 2}, append([]string{"/src/app/main.py-1-import os"}[1-i%2:], "/src/app/main.py:2:print(os.name)")...)
					}
					return nil
				})
				for _, err := range errs {
					if err != nil {
						p.errorf("searches at once: %v", err)
					}
				}
			},
		},
		{
			id: "text/search-all-created", requires: changing, tree: namesTree("f"),
			rule: "What many callers have created in a folder that none of them had found there is found, all of it, as List shows it.",
			run: func(p *probe) {
				const each = 6
				errs := p.contend(callers, func(i int) error {
					for n := range each {
						_, err := p.writable().Write(p.ctx, fmt.Sprintf("new/dir/f-%d-%d", i, n), strings.NewReader("k\n"), &ambit.WriteOptions{Parents: true})
						if err != nil {
							return err
						}
					}
					return nil
				})
				var want, lines []string
				for i, err := range errs {
					if err != nil {
						p.errorf("caller %d: %v", i, err)
					}
					for n := range each {
						want = append(want, fmt.Sprintf("/new/dir/f-%d-%d", i, n))
						lines = append(lines, want[len(want)-1]+":1:k")
					}
				}
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "new", Kinds: []ambit.Kind{ambit.KindRegular}}, want...)
				p.greps(ambit.GrepQuery{Pattern: "k", Base: "new"}, lines...)
				if names := p.names("new/dir"); len(names) != len(want) {
					p.errorf("list shows %d of %d files", len(names), len(want))
				}
			},
		},
		{
			id: "text/search-unpublished", requires: changing, tree: searchTree,
			rule: "While content is being written no search finds it, nor a name that the write makes use of.",
			run: func(p *probe) {
				all := func() string {
					g := p.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/", All: true, NoIgnore: true}, nil)
					r := p.grep(p.ctx, ambit.GrepQuery{Pattern: "", Base: "/", All: true, NoIgnore: true}, nil)
					return fmt.Sprintf("%q %v %q %v", g.paths(), g.err, r.lines(), r.err)
				}
				before := all()
				for _, path := range []string{"src/new", "new/deep/x", "top.py"} {
					during := before
					content := interrupted("begun\n", func() { during = all() }, "and ended\n")
					if !p.caps.AtomicReplace && path == "top.py" {
						continue
					}
					if !p.caps.AtomicReplace {
						content = interrupted("", func() { during = all() }, "whole\n")
					}
					failed := fmt.Errorf("no more")
					_, err := p.writable().Write(p.ctx, path, &failsAtEnd{content, failed}, &ambit.WriteOptions{Parents: true})
					if !errors.Is(err, failed) {
						p.errorf("write %q of content that fails: %v", path, err)
					}
					if p.caps.AtomicReplace && during != before {
						p.errorf("while %q is written, searches find %s, and before %s", path, during, before)
					}
					if after := all(); after != before {
						p.errorf("after a write of %q that failed, searches find %s, and before %s", path, after, before)
					}
				}
			},
		},
		{
			id: "text/search-vanishing", requires: append([]requirement{needRemove}, changing...), tree: manyFiles(),
			rule: "What goes between the listing that shows it and the look at it is not missed: the search succeeds, and skips nothing.",
			run: func(p *probe) {
				keep := p.caps
				keep.Search, keep.Sub, keep.Guard = false, false, false
				for _, gone := range []string{"/d05", "/d07/f0", "/d11/f7", "/d23"} {
					again := p.read("d00/f0")
					for _, op := range []string{ambit.OpGlob, ambit.OpGrep} {
						over := p.on(&vanishing{Forward: ambit.Forward{Base: p.fs, Keep: keep}, dir: ambit.Dir(gone), remove: sync.OnceFunc(func() {
							if err := ambit.Remove(p.ctx, p.fs, gone, &ambit.RemoveOptions{Recursive: true}); err != nil {
								p.errorf("remove: %v", err)
							}
						})})
						left := 24 * 8
						want := left - 1
						if ambit.Dir(gone) == "/" {
							want = left - 8
						}
						var err error
						var sum ambit.SearchSummary
						files := 0
						if op == ambit.OpGlob {
							g := over.glob(p.ctx, ambit.GlobQuery{Pattern: "*/*", Base: "/"}, nil)
							files, sum, err = len(slices.DeleteFunc(g.paths(), func(path string) bool { return path == gone })), g.sum, g.err
						} else {
							g := over.grep(p.ctx, ambit.GrepQuery{Pattern: "k", Base: "/"}, nil)
							files, sum, err = len(g.matches), g.sum, g.err
						}
						if err != nil || len(sum.Skipped)+sum.MoreSkipped > 0 || files != want {
							p.errorf("%s while %q goes: %d files of %d, skipped %+v, %v", op, gone, files, want, sum.Skipped, err)
						}
						for file := range 8 {
							path := gone
							if ambit.Dir(gone) == "/" {
								path = fmt.Sprintf("%s/f%d", gone, file)
							}
							p.write(path, again, &ambit.WriteOptions{Parents: true})
						}
					}
				}
			},
		},
		{
			id: "text/search-beside-writers", requires: append([]requirement{needAtomicReplace}, changing...), tree: besideTree(),
			rule: "Searches beside writers succeed: what is there all the time is found, what is replaced is found whole, old or new, and nothing is found that nobody wrote.",
			run:  func(p *probe) { p.searchesBeside() },
		},
	}
}

// failsAtEnd fails where its reader ends.
type failsAtEnd struct {
	r   interface{ Read([]byte) (int, error) }
	err error
}

func (f *failsAtEnd) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil {
		err = f.err
	}
	return n, err
}

// canceledSoon ends a glob and a grep in the middle, by Keep or by yield.
func (p *probe) canceledSoon(byKeep bool) {
	const first = 3
	var over atomic.Bool
	for _, op := range []string{ambit.OpGlob, ambit.OpGrep} {
		over.Store(false)
		ctx, cancel := context.WithCancel(p.ctx)
		var mu sync.Mutex
		n := 0
		step := func(mine bool) {
			mu.Lock()
			defer mu.Unlock()
			if over.Load() {
				p.errorf("%s: Keep is asked after the search has returned", op)
			}
			if !mine {
				return
			}
			if n++; n == first {
				cancel()
			}
			if n >= first {
				time.Sleep(2 * time.Millisecond) // so long does it take to be seen
			}
		}
		keep := func(string, ambit.Kind) bool {
			step(byKeep)
			return true
		}
		var err error
		if op == ambit.OpGlob {
			err = p.glob(ctx, ambit.GlobQuery{Pattern: "**", Base: "/", Keep: keep}, func(ambit.GlobMatch) bool {
				step(!byKeep)
				return true
			}).err
		} else {
			err = p.grep(ctx, ambit.GrepQuery{Pattern: "k", Base: "/", Keep: keep}, func(ambit.GrepMatch) bool {
				step(!byKeep)
				return true
			}).err
		}
		over.Store(true)
		cancel()
		mu.Lock()
		done := n
		mu.Unlock()
		p.refused(op, "/", err, ambit.ErrCanceled)
		if err != nil && !errors.Is(err, context.Canceled) {
			p.errorf("%s: errors.Is(err, context.Canceled) is false: %v", op, err)
		}
		if done > 120 {
			p.errorf("%s: canceled at match %d, and ended at %d", op, first, done)
		}
	}
	time.Sleep(20 * time.Millisecond) // in which what goes on would show
}

// vanishing is a file system in which something goes right behind the listing of
// a folder.
type vanishing struct {
	ambit.Forward
	dir    string
	remove func()
}

func (v *vanishing) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := v.Forward.List(ctx, dir, o)
	if err == nil && l.Dir == v.dir {
		v.remove()
	}
	return l, err
}

const besideLines = 100

func besideContent(letter string) string {
	return strings.Repeat(strings.Repeat(letter, 8)+"\n", besideLines)
}

// besideTree has files that stay, and files that are changed.
func besideTree() Tree {
	var t Tree
	for i := range 6 {
		t = append(t, Node{Path: fmt.Sprintf("stays/s%d", i), Kind: ambit.KindRegular, Data: "aaa\n"})
		t = append(t, Node{Path: fmt.Sprintf("changes/c%d", i), Kind: ambit.KindRegular, Data: besideContent("a")})
	}
	return t
}

func (p *probe) searchesBeside() {
	const searches = 3 // at least, of each way
	var writing, searched atomic.Int32
	ways := p.ways()
	var tasks []func(p *probe)
	for w := range 2 {
		writing.Add(1)
		tasks = append(tasks, func(p *probe) {
			defer writing.Add(-1)
			for n := 0; n < 18 || n < 300 && searched.Load() < int32(searches*len(ways)); n++ {
				path := fmt.Sprintf("changes/c%d", (n*2+w)%6)
				p.write(path, besideContent(string(rune('b'+n%5))), nil)
				p.write(fmt.Sprintf("comes/%d/n%d", w, n%3), besideContent("n"), &ambit.WriteOptions{Parents: true})
				if p.caps.Remove && n%3 == 2 {
					if err := p.writable().Remove(p.ctx, fmt.Sprintf("comes/%d", w), &ambit.RemoveOptions{Recursive: true}); err != nil {
						p.errorf("remove: %v", err)
					}
				}
			}
		})
	}
	known := func(path string) bool {
		for _, form := range []string{"/stays", "/changes", "/comes", "/stays/s?", "/changes/c?", "/comes/?", "/comes/?/n?"} {
			if len(form) == len(path) && strings.HasPrefix(path, strings.TrimRight(form, "?/n")) {
				return true
			}
		}
		return false
	}
	for _, way := range ways {
		tasks = append(tasks, func(*probe) {
			for once := true; once || writing.Load() > 0; once = false {
				g := way.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/", All: true}, nil)
				stays := 0
				for _, info := range g.infos {
					if !known(info.Path) {
						p.errorf("glob beside writers finds %q, which nobody wrote", info.Path)
					}
					if strings.HasPrefix(info.Path, "/stays/") {
						stays++
					}
				}
				if g.err != nil || stays != 6 || len(g.sum.Skipped) > 0 {
					p.errorf("glob beside writers: %d of 6 files that stay, skipped %+v, %v", stays, g.sum.Skipped, g.err)
				}
				r := way.grep(p.ctx, ambit.GrepQuery{Pattern: "^.", Base: "/", All: true}, nil)
				lines := map[string][]string{}
				for _, m := range r.matches {
					lines[m.Path] = append(lines[m.Path], m.Text)
				}
				stays = 0
				for path, texts := range lines {
					switch {
					case !known(path):
						p.errorf("grep beside writers finds lines in %q, which nobody wrote", path)
					case strings.HasPrefix(path, "/stays/"):
						stays++
					case len(texts) != besideLines || len(slices.Compact(texts)) != 1:
						p.errorf("grep beside writers finds %d lines in %q of which some differ, want %d alike", len(texts), path, besideLines)
					}
				}
				if r.err != nil || stays != 6 || len(r.sum.Skipped) > 0 {
					p.errorf("grep beside writers: %d of 6 files that stay, skipped %+v, %v", stays, r.sum.Skipped, r.err)
				}
				searched.Add(1)
			}
		})
	}
	p.together(tasks...)
}
