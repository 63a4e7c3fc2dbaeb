// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/search"
)

// globPatterns are read alike by all: a ** is a whole segment, and no pattern
// begins a segment with a dot but where names with a dot are asked for.
var globPatterns = []string{
	"**/*.go", "*.go", "*", "**", "*/*", "**/*.{go,py,md}", "src/**/*.js", "**/src/**", "**/lib/*", "**/[a-m]*", "**/[!a-m]*", "**/?????.go", "**/*_test.go",
	"**/Makefile", "**/build/**/*.log", "lib/**", "**/*.t?t", `**/\[z\].go`, `**/\{x\}.go`, "**/Ün*", "**/tést/*", "**/a b/*", "{src,lib}/**/*.{c,h}",
	"**/{a,b,c}*", "*/**/*.yaml", "**/*.*.*", "nowhere/**", "**/-*", "**/* *",
}

// TestSameNamesAsRipgrep asks ripgrep for files and fd for all that has a name.
func TestSameNamesAsRipgrep(t *testing.T) {
	needs(t, "rg", "git")
	asked := 0
	ask := func(tree *diskTree, rng *rand.Rand, q ambit.GlobQuery) {
		dir, _ := tree.working(q.Base)
		args := append(slices.Clone(ripgrep), hiddenFlags(q.All, q.NoIgnore)...)
		if tree.outside {
			args = append(args, "--no-ignore-parent")
		}
		// A slash in front keeps a pattern without one at the base.
		args = append(args, "--files", "--null", "--glob", "/"+q.Pattern)
		shown := tree.shown(t, q.Base, q.All, q.NoIgnore, []string{q.Pattern})
		var want []string
		for path := range zeroSplit(output(t, dir, args...)) {
			if path = tree.canonical(dir)(path); shown(path) && !strings.Contains(path, "\n") {
				want = append(want, path)
			}
		}
		q.Kinds = []ambit.Kind{ambit.KindRegular}
		compareNames(t, tree, q, args, want)
		asked++
	}
	onTrees(t, 2, func(tree *diskTree, rng *rand.Rand) {
		bases := slices.DeleteFunc(tree.bases(t), func(base string) bool { return !tree.isFolder(base) })
		for _, pattern := range globPatterns {
			ask(tree, rng, ambit.GlobQuery{Pattern: pattern, Base: from(rng, bases), All: rng.IntN(3) == 0, NoIgnore: rng.IntN(3) == 0})
		}
	})
	src := goTree(t)
	for _, pattern := range []string{"**/*.go", "*/*_test.go", "cmd/**/testdata/**", "**/[A-Z]*", "**/*.{s,S}"} {
		ask(src, nil, ambit.GlobQuery{Pattern: pattern})
	}
	t.Logf("%d questions", asked)
}

// TestSameNamesAsFd: fd tells of folders and links as well. It wants a repository
// and whole paths, and knows no order.
func TestSameNamesAsFd(t *testing.T) {
	needs(t, "fdfind", "git")
	asked := 0
	onTrees(t, 2, func(tree *diskTree, rng *rand.Rand) {
		for _, pattern := range globPatterns {
			q := ambit.GlobQuery{Pattern: pattern, All: rng.IntN(2) == 0, NoIgnore: rng.IntN(2) == 0}
			args := append([]string{"fdfind", "--print0"}, hiddenFlags(q.All, q.NoIgnore)...)
			for _, kind := range [][]ambit.Kind{nil, {ambit.KindDirectory}, {ambit.KindSymlink}, {ambit.KindRegular}}[rng.IntN(4)] {
				q.Kinds = append(q.Kinds, kind)
				args = append(args, "--type", map[ambit.Kind]string{ambit.KindDirectory: "d", ambit.KindSymlink: "l", ambit.KindRegular: "f"}[kind])
			}
			args = append(args, "--full-path", "--glob", "--", tree.root+"/"+pattern)
			var want []string
			shown := tree.shown(t, "", q.All, q.NoIgnore, nil)
			for path := range zeroSplit(output(t, tree.root, args...)) {
				if path = tree.canonical(tree.root)(path); shown(path) && !strings.Contains(path, "\n") {
					want = append(want, path)
				}
			}
			slices.SortFunc(want, bySegments)
			compareNames(t, tree, q, args, want)
			asked++
		}
	})
	t.Logf("%d questions", asked)
}

func compareNames(t *testing.T, tree *diskTree, q ambit.GlobQuery, args, want []string) {
	t.Helper()
	for name, fsys := range tree.engines {
		if name == "memory" && (len(q.Kinds) == 0 || q.Kinds[0] == ambit.KindSymlink) {
			continue // it has no links
		}
		r, err := search.Glob(t.Context(), fsys, q)
		if err != nil {
			t.Errorf("%s, %s, %s: %v", tree.name, name, show(q), err)
			continue
		}
		var got []string
		for _, m := range r.Matches {
			if path := m.Info.Path; !strings.Contains(path, "\n") { // a ** of theirs matches no LF
				got = append(got, path)
			}
		}
		if !slices.Equal(want, got) {
			theirs := slices.DeleteFunc(slices.Clone(want), func(path string) bool { return slices.Contains(got, path) })
			ours := slices.DeleteFunc(slices.Clone(got), func(path string) bool { return slices.Contains(want, path) })
			t.Errorf("%s, %s: %s\n%q\nonly they have %d of %d: %.300q\nonly we have %d of %d: %.300q", tree.name, name, show(q), args,
				len(theirs), len(want), strings.Join(theirs, " "), len(ours), len(got), strings.Join(ours, " "))
			return
		}
	}
}
