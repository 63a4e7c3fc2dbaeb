// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"slices"
	"strings"
	"testing"
)

func TestEnterNamed(t *testing.T) {
	for _, c := range []struct {
		content, base, yes, no string // as in examples
	}{
		{"build/", "build/out", "", "a|build/"},
		{"build/**", "build/out", "", "a|build"},
		{"build/**\n*.o", "build/out", "a.o", "a"},
		{"*\n!*/\n!*.go", "a", "b", "b/|b.go"},
		{"*", "a", "", "b"},
		{"*\n*.o\na", "a", "b.o", "b|a"},
		{"a/*\n!a/b\n*.o", "a/b", "x.o", "x"},
		{"a/**/x/y\na/b/", "a/b/x", "y", "x"},
		{"/a/b/c", "a/b/c", "", "c"},
		{strings.Repeat("*\n", maxLapsed) + "*.o", "a", "b.o", "b"},
		{strings.Repeat("*\n", maxLapsed+1) + "*.o", "a", "", "b|b.o"},
	} {
		chain := (*Chain)(nil).With(Parse([]byte(c.content)))
		for name := range strings.SplitSeq(c.base, "/") {
			chain = chain.EnterNamed(name)
		}
		for name := range strings.SplitSeq(c.yes, "|") {
			entry, dir := strings.CutSuffix(name, "/")
			if name != "" && !chain.Ignored(entry, dir) {
				t.Errorf("%q: %s is not ignored in %s", c.content, name, c.base)
			}
		}
		for name := range strings.SplitSeq(c.no, "|") {
			entry, dir := strings.CutSuffix(name, "/")
			if name != "" && chain.Ignored(entry, dir) {
				t.Errorf("%q: %s is ignored in %s", c.content, name, c.base)
			}
		}
	}
}

// TestEnterNamedAgainstNaive crosses out the lines that ignore a folder on the
// way, and compares the answers beneath.
func TestEnterNamedAgainstNaive(t *testing.T) {
	seeds, first := batches(t, 1000)
	lapsed, answers := 0, map[bool]int{}
	for seed := first; seed < first+seeds; seed++ {
		g := newGrammar(seed)
		base := strings.Split(g.path(), "/")
		entries := []string{strings.Join(base, "/")}
		for range 20 {
			entries = append(entries, strings.Join(base, "/")+"/"+g.path())
		}
		var chain *Chain
		var files []string // of the folders on the way
		var rules [][]naiveRule
		for i, name := range base {
			var near []string
			for _, entry := range entries {
				near = append(near, strings.Join(strings.Split(entry, "/")[i:], "/"))
			}
			files = append(files, g.file(near, 6))
			chain = chain.With(Parse([]byte(files[i])))
			rules = append(rules, naiveParse(files[i]))
			for {
				file, last := naiveDecides(rules, base[:i+1], true)
				if last == nil || last.negated {
					break
				}
				line := last.line
				rules[file] = slices.DeleteFunc(rules[file], func(r naiveRule) bool { return r.line == line })
				lapsed++
			}
			chain = chain.EnterNamed(name)
		}
		for _, entry := range entries[1:] {
			path := strings.Split(entry, "/")
			at := chain
			for i := len(base); i < len(path); i++ {
				dir := i+1 < len(path)
				_, last := naiveDecides(rules, path[:i+1], dir)
				want := last != nil && !last.negated
				answers[want]++
				if got := at.Ignored(path[i], dir); got != want {
					t.Fatalf("seed %d, files %q, base %q, entry %q: ignored is %v, and is to be %v", seed, files, base, path[:i+1], got, want)
				}
				at = at.Enter(path[i])
			}
		}
	}
	t.Logf("%d rules lapsed; %d entries were ignored and %d not", lapsed, answers[true], answers[false])
	if lapsed == 0 || answers[true] == 0 || answers[false] == 0 {
		t.Error("the samples are too poor")
	}
}

// naiveDecides returns the rule that decides on a path, and its file; rules
// holds those of the folders on the way.
func naiveDecides(rules [][]naiveRule, path []string, dir bool) (file int, last *naiveRule) {
	for i := min(len(rules), len(path)) - 1; i >= 0; i-- {
		if last := naiveLast(rules[i], strings.Join(path[i:], "/"), dir); last != nil {
			return i, last
		}
	}
	return 0, nil
}
