// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// searchModelChecks compare searches with the model of them.
func searchModelChecks() []*check {
	return []*check{
		{
			id: "text/glob-any", requires: needsSearch, tree: anyTree(1),
			rule: "Whatever its base, pattern and options, Glob finds what a walk finds that looks at every name in the tree, and counts what it leaves out.",
			run: func(p *probe) {
				rng, model := rand.New(rand.NewPCG(1, 1)), newSearchModel(p.tree)
				for range anyQueries {
					q := anyGlob(rng, model)
					want := model.glob(q)
					for _, way := range p.ways() {
						g := way.glob(p.ctx, q, nil)
						var found []string
						for _, info := range g.infos {
							found = append(found, fmt.Sprintf("%s %v", info.Path, info.Kind))
						}
						p.answersAs("glob "+shownQuery(q), want, found, g.sum, g.err)
					}
				}
			},
		},
		{
			id: "text/grep-any", requires: needsSearch, tree: anyTree(2),
			rule: "Whatever its base, pattern and options, Grep finds what a program finds that looks at every line of every file, and counts what it leaves out.",
			run: func(p *probe) {
				rng, model := rand.New(rand.NewPCG(1, 2)), newSearchModel(p.tree)
				for range anyQueries {
					q := anyGrep(rng, model)
					want := model.grep(q)
					for _, way := range p.ways() {
						g := way.grep(p.ctx, q, nil)
						var found []string
						for _, m := range g.matches {
							text := lineOf(m)
							if m.Line > 0 && !m.Context {
								text += fmt.Sprint(m.Spans)
							}
							found = append(found, text)
						}
						p.answersAs("grep "+shownQuery(q), want, found, g.sum, g.err)
					}
				}
			},
		},
	}
}

// anyQueries is how many queries each check makes.
const anyQueries = 80

func (p *probe) answersAs(query string, want modelAnswer, found []string, sum ambit.SearchSummary, err error) {
	if err != nil {
		p.errorf("%s: %v", query, err)
		return
	}
	if !slices.Equal(found, want.found) {
		p.errorf("%s: %s, want %s", query, briefly(found), briefly(want.found))
	}
	if sum.Truncated != want.truncated {
		p.errorf("%s: Truncated is %v", query, sum.Truncated)
	}
	if !want.truncated && (sum.Hidden != want.hidden || sum.Ignored != want.ignored || len(sum.Skipped) > 0) {
		p.errorf("%s: %d hidden, %d ignored, skipped %v, want %d, %d and none", query, sum.Hidden, sum.Ignored, sum.Skipped, want.hidden, want.ignored)
	}
}

var anyNames = []string{"a", "b", "ab", "a.go", "b.go", "a-b", "a b", "a.b", ".a", ".b.go", "ä", "[a]", "a,b", "c"}

// anyTree returns a tree of files, folders and ignore files.
func anyTree(seed uint64) Tree {
	rng := rand.New(rand.NewPCG(seed, 3))
	var t Tree
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		if rng.IntN(4) == 0 {
			t = append(t, Node{Path: dir + ".gitignore", Kind: ambit.KindRegular, Data: anyRules(rng)})
		}
		for _, name := range anyNames {
			switch n := rng.IntN(10); {
			case n < 3:
				t = append(t, Node{Path: dir + name, Kind: ambit.KindRegular, Data: anyText(rng)})
			case n == 3 && depth < 3 || n == 4 && depth < 2:
				t = append(t, Node{Path: dir + name, Kind: ambit.KindDirectory})
				if rng.IntN(5) > 0 {
					fill(dir+name+"/", depth+1)
				}
			}
		}
	}
	for fill("", 0); len(t) < 60; fill(fmt.Sprintf("more%d/", len(t)), 1) {
	}
	return t
}

func anyRules(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(3) {
		fmt.Fprintln(&b, []string{"a", "*.go", "/b", "a-b/", "!a.go", "/ab/", ".a", "!*b", "c"}[rng.IntN(9)])
	}
	return b.String()
}

func anyText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(8) {
		for range rng.IntN(5) {
			b.WriteString([]string{"x", "y", "foo", " ", "Foo", "é"}[rng.IntN(6)])
		}
		b.WriteString([]string{"\n", "\n", "\r\n"}[rng.IntN(3)])
	}
	if rng.IntN(3) == 0 {
		b.WriteString("foo")
	}
	return b.String()
}

func anyPattern(rng *rand.Rand) string {
	var segments []string
	for range 1 + rng.IntN(3) {
		segments = append(segments, []string{"**", "*", "a", "a*", "*.go", "?", "{a,b}", "[a-b]*", ".a", ".*", "**", "[!a]*", "{a,.b*}", "{a,b}{.go,}"}[rng.IntN(14)])
	}
	return strings.Join(segments, "/")
}

// anyBase is the root, or anything in the tree.
func anyBase(rng *rand.Rand, m *searchModel) string {
	if rng.IntN(2) == 0 {
		return "/"
	}
	paths := slices.Sorted(maps.Keys(m.kinds))
	return "/" + paths[rng.IntN(len(paths))]
}

func anyGlob(rng *rand.Rand, m *searchModel) ambit.GlobQuery {
	q := ambit.GlobQuery{Pattern: anyPattern(rng), Base: anyBase(rng, m), All: rng.IntN(3) == 0, NoIgnore: rng.IntN(3) == 0}
	if rng.IntN(4) == 0 {
		q.Kinds = []ambit.Kind{ambit.KindRegular}
	}
	if rng.IntN(3) == 0 {
		q.Limit = 1 + rng.IntN(8)
	}
	if rng.IntN(5) == 0 {
		q.Keep = keepsSome
	}
	return q
}

func keepsSome(path string, _ ambit.Kind) bool { return len(path)%2 == 0 }

func anyGrep(rng *rand.Rand, m *searchModel) ambit.GrepQuery {
	q := ambit.GrepQuery{
		Pattern: []string{"foo", "x", "^", "$", "x+y?", "^foo$", "o*", "é", "[^x]", "foo x"}[rng.IntN(10)], Base: anyBase(rng, m),
		All: rng.IntN(3) == 0, NoIgnore: rng.IntN(3) == 0, IgnoreCase: rng.IntN(3) == 0, Literal: rng.IntN(5) == 0, Mode: ambit.GrepMode(max(0, rng.IntN(5)-2)),
	}
	for range max(0, rng.IntN(4)-1) {
		q.Include = append(q.Include, anyPattern(rng))
	}
	for range max(0, rng.IntN(4)-2) {
		q.Exclude = append(q.Exclude, anyPattern(rng))
	}
	if rng.IntN(2) == 0 {
		q.Before, q.After = rng.IntN(3), rng.IntN(3)
	}
	if rng.IntN(3) == 0 {
		q.Limit = 1 + rng.IntN(8)
	}
	if rng.IntN(5) == 0 {
		q.Keep = keepsSome
	}
	return q
}
