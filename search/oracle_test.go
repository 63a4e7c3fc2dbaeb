// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/glob"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// TestSameAnswersEverywhere compares searches of random trees on every backend
// with what a plain program finds that looks at all files, one after the other.
func TestSameAnswersEverywhere(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		files := randomTree(rng)
		everywhere := backends(t, files)
		for range 25 {
			g := randomGlob(rng, files)
			want := naiveGlob(t, files, g)
			sums := map[string]ambit.SearchSummary{}
			for name, fsys := range everywhere {
				got, sum := globOf(t, fsys, g)
				if sums[name] = sum; !cmp.Equal(got, want) {
					t.Fatalf("seed %d, %s: %s\nfiles %q\n%s", seed, name, show(g), slices.Sorted(maps.Keys(files)), cmp.Diff(want, got))
				}
			}
			sameSummaries(t, seed, g, sums)
			q := randomGrep(rng, files)
			wantLines := naiveGrep(t, files, q)
			for name, fsys := range everywhere {
				got, sum := grepOf(t, fsys, q)
				if sums[name] = sum; !cmp.Equal(got, wantLines) {
					t.Fatalf("seed %d, %s: %s\nfiles %q\n%s", seed, name, show(q), files, cmp.Diff(wantLines, got))
				}
			}
			sameSummaries(t, seed, q, sums)
		}
	}
}

func show(q any) string { return strings.ReplaceAll(fmt.Sprintf("%+v", q), "Keep:<nil>", "") }

// answer is what a search has found, as one text for each match.
type answer struct {
	Found     []string
	Truncated bool
	Hidden    int
}

// sameSummaries fails unless the engines have counted the same.
func sameSummaries(t *testing.T, seed int, q any, sums map[string]ambit.SearchSummary) {
	t.Helper()
	var first string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if first == "" {
			first = name
		} else if diff := cmp.Diff(sums[first], sums[name]); diff != "" {
			t.Fatalf("seed %d: %s: the summaries of %s and %s differ:\n%s", seed, show(q), first, name, diff)
		}
	}
}

func globOf(t *testing.T, fsys ambit.FileSystem, q ambit.GlobQuery) (answer, ambit.SearchSummary) {
	t.Helper()
	r, err := search.Glob(t.Context(), fsys, q)
	if err != nil {
		t.Fatalf("%s: %v", show(q), err)
	}
	a := answer{Truncated: r.Summary.Truncated, Hidden: r.Summary.Hidden}
	for _, m := range r.Matches {
		a.Found = append(a.Found, fmt.Sprintf("%s %v", m.Info.Path, m.Info.Kind))
	}
	if a.Truncated {
		a.Hidden = -1 // of what was looked at
	}
	return a, r.Summary
}

func grepOf(t *testing.T, fsys ambit.FileSystem, q ambit.GrepQuery) (answer, ambit.SearchSummary) {
	t.Helper()
	r, err := search.Grep(t.Context(), fsys, q)
	if err != nil {
		t.Fatalf("%s: %v", show(q), err)
	}
	a := answer{Truncated: r.Summary.Truncated, Hidden: r.Summary.Hidden}
	for _, m := range r.Matches {
		a.Found = append(a.Found, fmt.Sprintf("%+v", m))
	}
	if a.Truncated {
		a.Hidden = -1
	}
	return a, r.Summary
}

// backends returns the tree on each backend, and where its search is by listing.
func backends(t *testing.T, files map[string]string) map[string]ambit.FileSystem {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		name := filepath.Join(root, path)
		if strings.HasSuffix(path, "/") {
			if err := os.MkdirAll(name, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	if !disk.Capabilities().Search {
		t.Fatal("local does not search by itself")
	}
	return map[string]ambit.FileSystem{
		"local":           disk,
		"read-only local": ambit.ReadOnly(disk),
		"local, by List":  withoutSearch(disk),
		"memory":          memory.New(files, nil),
	}
}

// withoutSearch leaves a file system nothing but what any has.
func withoutSearch(fsys ambit.FileSystem) ambit.FileSystem {
	keep := fsys.Capabilities()
	keep.Search = false
	return ambit.Forward{Base: fsys, Keep: keep}
}

var names = []string{"a", "b", "ab", "a.go", "b.go", "a-b", "a b", ".a", ".b.go", "B", "ä", "a\nb", "\xff", "[a]", "a,b"}

// randomTree returns files by path; a key that ends in a slash is an empty folder.
func randomTree(rng *rand.Rand) map[string]string {
	files := make(map[string]string)
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		for _, name := range names {
			switch n := rng.IntN(10); {
			case n < 3:
				files[dir+name] = randomText(rng)
			case n < 5 && depth < 3:
				fill(dir+name+"/", depth+1)
			case n == 9 && rng.IntN(4) == 0:
				files[dir+name+"/"] = ""
			}
		}
		if len(files) == 0 {
			files[dir+"a"] = ""
		}
	}
	fill("", 0)
	return files
}

func randomText(rng *rand.Rand) string {
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

// entries returns the kind of all that is in the tree, by path without a slash in
// front.
func entries(files map[string]string) map[string]ambit.Kind {
	all := map[string]ambit.Kind{}
	for path := range files {
		kind := ambit.KindRegular
		if strings.HasSuffix(path, "/") {
			path, kind = strings.TrimSuffix(path, "/"), ambit.KindDirectory
		}
		all[path] = kind
		for {
			i := strings.LastIndexByte(path, '/')
			if i < 0 {
				break
			}
			path = path[:i]
			all[path] = ambit.KindDirectory
		}
	}
	return all
}

// bySegments sorts paths segment by segment.
func bySegments(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

func randomPattern(rng *rand.Rand) string {
	var parts []string
	for range 1 + rng.IntN(3) {
		parts = append(parts, []string{"**", "*", "a", "a*", "*.go", "?", "{a,b}", "[a-b]*", ".a", ".*", "**", "[!a]*", "{a,.b*}"}[rng.IntN(13)])
	}
	return strings.Join(parts, "/")
}

// randomBase returns the path of a folder of the tree, or of a file, or the root.
func randomBase(rng *rand.Rand, all map[string]ambit.Kind) string {
	if rng.IntN(2) == 0 {
		return ""
	}
	paths := slices.Sorted(maps.Keys(all))
	return "/" + paths[rng.IntN(len(paths))]
}

func randomGlob(rng *rand.Rand, files map[string]string) ambit.GlobQuery {
	q := ambit.GlobQuery{Pattern: randomPattern(rng), Base: randomBase(rng, entries(files)), All: rng.IntN(3) == 0, NoIgnore: rng.IntN(2) == 0}
	if rng.IntN(4) == 0 {
		q.Kinds = []ambit.Kind{ambit.KindRegular}
	}
	if rng.IntN(3) == 0 {
		q.Limit = 1 + rng.IntN(5)
	}
	if rng.IntN(5) == 0 {
		q.Keep = keepShort
	}
	return q
}

func keepShort(path string, _ ambit.Kind) bool { return len(path)%2 == 0 }

func randomGrep(rng *rand.Rand, files map[string]string) ambit.GrepQuery {
	q := ambit.GrepQuery{
		Pattern: []string{"foo", "x", "^", "$", "x+y?", "^foo$", "o*", "é", "[^x]"}[rng.IntN(9)], Base: randomBase(rng, entries(files)),
		All: rng.IntN(3) == 0, NoIgnore: true, IgnoreCase: rng.IntN(3) == 0, Mode: ambit.GrepMode(rng.IntN(3)),
	}
	for range max(0, rng.IntN(4)-1) {
		q.Include = append(q.Include, randomPattern(rng))
	}
	for range max(0, rng.IntN(4)-2) {
		q.Exclude = append(q.Exclude, randomPattern(rng))
	}
	if rng.IntN(3) == 0 {
		q.Before, q.After = rng.IntN(3), rng.IntN(3)
	}
	if rng.IntN(3) == 0 {
		q.Limit = 1 + rng.IntN(5)
	}
	if rng.IntN(5) == 0 {
		q.Keep = keepShort
	}
	return q
}

// within returns path as it lies beneath the base, "" where it does not.
func within(base, path string, all map[string]ambit.Kind) string {
	base = strings.TrimPrefix(base, "/")
	switch {
	case base == "":
		return path
	case path == base && all[path] != ambit.KindDirectory:
		return path[strings.LastIndexByte(path, '/')+1:]
	case strings.HasPrefix(path, base+"/"):
		return path[len(base)+1:]
	}
	return ""
}

// selected walks from the base down to path and reports whether it matches one
// of the patterns under the dot rule.
func selected(patterns []*glob.Pattern, relative string, dir, dots bool) bool {
	parts := strings.Split(relative, "/")
	for _, p := range patterns {
		s := p.Start(dots)
		for _, name := range parts[:len(parts)-1] {
			s = s.Enter(name)
		}
		if s.Match(parts[len(parts)-1], dir) {
			return true
		}
	}
	return false
}

func compiled(t *testing.T, compile func(string) (*glob.Pattern, error), patterns ...string) []*glob.Pattern {
	t.Helper()
	var all []*glob.Pattern
	for _, text := range patterns {
		p, err := compile(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// hidden counts what the dot rule leaves out: the outermost names with a dot that
// have, or lead to, something that matches without the rule, and do not with it.
func hidden(include, exclude []*glob.Pattern, base string, all map[string]ambit.Kind, wants func(ambit.Kind) bool) int {
	n := 0
	for path, kind := range all {
		relative := within(base, path, all)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if relative == "" || base == "/"+path || name[0] != '.' {
			continue
		}
		// Only what a walk comes to is counted.
		parts := strings.Split(relative, "/")
		alive := func(names []string, dots bool) bool {
			for _, p := range include {
				s := p.Start(dots)
				for _, name := range names {
					s = s.Enter(name)
				}
				if !s.Dead() {
					return true
				}
			}
			return false
		}
		if !alive(parts[:len(parts)-1], false) {
			continue
		}
		dir := kind == ambit.KindDirectory
		with := wants(kind) && selected(include, relative, dir, false) || dir && alive(parts, false)
		without := wants(kind) && selected(include, relative, dir, true) || dir && alive(parts, true)
		if without && !with && !isExcluded(exclude, relative, dir) {
			n++
		}
	}
	return n
}

// isExcluded reports whether path or a folder above it matches.
func isExcluded(exclude []*glob.Pattern, relative string, dir bool) bool {
	parts := strings.Split(relative, "/")
	for i := range parts {
		if selected(exclude, strings.Join(parts[:i+1], "/"), dir || i < len(parts)-1, true) {
			return true
		}
	}
	return false
}

func naiveGlob(t *testing.T, files map[string]string, q ambit.GlobQuery) answer {
	t.Helper()
	all := entries(files)
	patterns := compiled(t, glob.Compile, q.Pattern)
	var a answer
	wants := func(k ambit.Kind) bool { return len(q.Kinds) == 0 || slices.Contains(q.Kinds, k) }
	for _, path := range slices.SortedFunc(maps.Keys(all), bySegments) {
		relative := within(q.Base, path, all)
		isBase := q.Base == "/"+path
		if relative == "" || !wants(all[path]) || !selected(patterns, relative, all[path] == ambit.KindDirectory, q.All || isBase) {
			continue
		}
		if q.Keep != nil && !q.Keep("/"+path, all[path]) {
			continue
		}
		if q.Limit > 0 && len(a.Found) == q.Limit {
			a.Truncated = true
			break
		}
		a.Found = append(a.Found, fmt.Sprintf("/%s %v", path, all[path]))
	}
	if !q.All {
		a.Hidden = hidden(patterns, nil, q.Base, all, wants)
	}
	if a.Truncated {
		a.Hidden = -1
	}
	return a
}

func naiveGrep(t *testing.T, files map[string]string, q ambit.GrepQuery) answer {
	t.Helper()
	all := entries(files)
	include := compiled(t, glob.CompileFilter, q.Include...)
	if len(include) == 0 {
		include = compiled(t, glob.Compile, "**")
	}
	exclude := compiled(t, glob.CompileFilter, q.Exclude...)
	pattern := q.Pattern
	if q.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	var a answer
	taken := 0
	for _, path := range slices.SortedFunc(maps.Keys(all), bySegments) {
		relative := within(q.Base, path, all)
		isBase := q.Base == "/"+path
		if relative == "" || all[path] != ambit.KindRegular || !selected(include, relative, false, q.All || isBase) {
			continue
		}
		if isExcluded(exclude, relative, false) || q.Keep != nil && !q.Keep("/"+path, ambit.KindRegular) {
			continue
		}
		if !naiveFile("/"+path, files[path], re, q, &taken, &a) {
			break
		}
	}
	if !q.All {
		a.Hidden = hidden(include, exclude, q.Base, all, func(k ambit.Kind) bool { return k == ambit.KindRegular })
	}
	if a.Truncated {
		a.Hidden = -1
	}
	return a
}

// naiveFile reports whether the search goes on.
func naiveFile(path, text string, re *regexp.Regexp, q ambit.GrepQuery, taken *int, a *answer) bool {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var hits []int
	spans := make([][][2]int, len(lines))
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if !strings.HasSuffix(line, "\n") {
			lines[i] = line
		}
		for _, s := range re.FindAllStringIndex(lines[i], -1) {
			spans[i] = append(spans[i], [2]int{s[0], s[1]})
		}
		if len(spans[i]) > 0 {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 {
		return true
	}
	full := func() bool { return q.Limit > 0 && *taken == q.Limit }
	if q.Mode != ambit.GrepContent {
		if full() {
			a.Truncated = true
			return false
		}
		*taken++
		m := ambit.GrepMatch{Path: path}
		if q.Mode == ambit.GrepCount {
			m.Count = len(hits)
		}
		a.Found = append(a.Found, fmt.Sprintf("%+v", m))
		return true
	}
	told := make([]bool, len(lines))
	isHit := make([]bool, len(lines))
	for _, i := range hits {
		if full() {
			a.Truncated = true
			break
		}
		*taken++
		isHit[i] = true
		for j := max(0, i-q.Before); j <= min(len(lines)-1, i+q.After); j++ {
			told[j] = true
		}
	}
	for i, line := range lines {
		switch {
		case isHit[i]:
			a.Found = append(a.Found, fmt.Sprintf("%+v", ambit.GrepMatch{Path: path, Line: i + 1, Column: spans[i][0][0] + 1, Text: line, Spans: spans[i]}))
		case told[i]:
			a.Found = append(a.Found, fmt.Sprintf("%+v", ambit.GrepMatch{Path: path, Line: i + 1, Text: line, Context: true}))
		}
	}
	return !a.Truncated
}
