// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/search"
)

// soaking says that there is time for all:
//
//	AMBIT_SOAK=1 go test -run Same -timeout 30m ./search
func soaking() bool { return os.Getenv("AMBIT_SOAK") != "" && !testing.Short() }

var (
	literals = []string{"foo", "TODO:", "a.b", "日本", "(", "nowhere to be found", "return", " ", "foo(bar)", "é", "}"}
	regexps  = []string{
		"foo", `f[a-z]+r`, `\bfoo\b`, `^foo`, `foo$`, `^$`, `^`, `$`, `^x*`, `(foo|_)*$`, `(foo|bar)+`, `[0-9]{2,}`, `\b[a-z]+[0-9]+\b`, `fo{2}.bar`, `a\.b`, `[^a-z\s]+`,
		`\w+\s\w+`, `\S+`, `(?i)foo`, `ä|ö`, `.*`, `.+r$`, `^.?$`, `\(.*\)`, `日.`, `[[:upper:]]+`, `\d+|_`, `\Boo`, `foo|foobar`, `foobar|foo`, `(?:ab?c)?1`, `\pL\pN`,
	}
	multilines = []string{`foo\n`, `(?s)foo.*?bar`, `\}\n\n`, `r$\n^`, `foo\s+bar`, `bar[^x]*foo`, `(?m)^foo$`, `\n\n\n`}
	includes   = []string{"*.go", "*.{go,py}", "**/*.md", "src/**", "/*.go", "lib/*", "*.t?t", "[a-m]*", "*", "**/src/*.go", "README.md", "*_test.go", "Makefile"}
	types      = []string{"go", "py", "md", "js", "css", "make", "json", "yaml", "html", "sh", "rust", "java", "c", "cpp", "txt", "h", "markdown", "ts", "log"}
)

// kinds are kinds of questions, each made from a pattern of its kind.
var kinds = []struct {
	name string
	make func(rng *rand.Rand, q *ambit.GrepQuery)
}{
	{"literal", func(rng *rand.Rand, q *ambit.GrepQuery) { q.Literal, q.Pattern = true, from(rng, literals) }},
	{"regexp", func(*rand.Rand, *ambit.GrepQuery) {}},
	{"ignore-case", func(_ *rand.Rand, q *ambit.GrepQuery) { q.IgnoreCase = true }},
	{"literal, ignore-case", func(rng *rand.Rand, q *ambit.GrepQuery) {
		q.Literal, q.IgnoreCase, q.Pattern = true, true, from(rng, literals)
	}},
	{"word", func(rng *rand.Rand, q *ambit.GrepQuery) {
		q.Word, q.Literal, q.Pattern = true, true, from(rng, []string{"foo", "bar", "foo_bar", "x", "42", "é", "a.b", "äö"})
	}},
	{"context", func(rng *rand.Rand, q *ambit.GrepQuery) { q.Before, q.After = rng.IntN(4), rng.IntN(4) }},
	{"count", func(_ *rand.Rand, q *ambit.GrepQuery) { q.Mode = ambit.GrepCount }},
	{"files", func(_ *rand.Rand, q *ambit.GrepQuery) { q.Mode = ambit.GrepFiles }},
	{"include", func(rng *rand.Rand, q *ambit.GrepQuery) { q.Include = globs(rng) }},
	{"include with a dot", func(rng *rand.Rand, q *ambit.GrepQuery) {
		q.Include = []string{from(rng, []string{".*", "**/.env", ".e*"})}
	}},
	{"exclude", func(rng *rand.Rand, q *ambit.GrepQuery) { q.Exclude = globs(rng) }},
	{"types", func(rng *rand.Rand, q *ambit.GrepQuery) {
		q.Types = []string{from(rng, types), from(rng, types)}[:1+rng.IntN(2)]
	}},
	{"all", func(_ *rand.Rand, q *ambit.GrepQuery) { q.All = true }},
	{"no-ignore", func(_ *rand.Rand, q *ambit.GrepQuery) { q.NoIgnore = true }},
	{"all, no-ignore", func(_ *rand.Rand, q *ambit.GrepQuery) { q.All, q.NoIgnore = true, true }},
	{"all, include, count", func(rng *rand.Rand, q *ambit.GrepQuery) {
		q.All, q.Include, q.Mode = true, globs(rng), ambit.GrepCount
	}},
	{"multiline", func(rng *rand.Rand, q *ambit.GrepQuery) { q.Multiline, q.Pattern = true, from(rng, multilines) }},
}

func from[T any](rng *rand.Rand, all []T) T { return all[rng.IntN(len(all))] }

func globs(rng *rand.Rand) []string {
	return []string{from(rng, includes), from(rng, includes)}[:1+rng.IntN(2)]
}

// TestSameLinesAsRipgrep asks ripgrep and every engine the same questions.
func TestSameLinesAsRipgrep(t *testing.T) {
	needs(t, "rg", "git")
	asked := 0
	// ask compares at least so many questions of each kind.
	ask := func(tree *diskTree, rng *rand.Rand, each int, patterns, bases []string) {
		for range each {
			for _, kind := range kinds {
				q := ambit.GrepQuery{Pattern: from(rng, patterns), Base: from(rng, bases)}
				kind.make(rng, &q)
				if !tree.isFolder(q.Base) {
					q.Include, q.Exclude, q.Types = nil, nil, nil
				}
				if q.Multiline && tree.crlf {
					continue // it means LF here and not there
				}
				want := askRipgrep(t, tree, q)
				compareLines(t, tree, kind.name, q, want)
				asked++
			}
		}
	}
	each := 2
	if testing.Short() {
		each = 1
	} else if soaking() {
		each = 12
	}
	onTrees(t, 4, func(tree *diskTree, rng *rand.Rand) { ask(tree, rng, each, regexps, tree.bases(t)) })
	src := goTree(t)
	rng := rand.New(rand.NewPCG(0, 6))
	// Nobody learns from all lines of so much.
	choosy := slices.DeleteFunc(slices.Clone(regexps), func(pattern string) bool { return regexp.MustCompile(pattern).MatchString("A b\tc") })
	if soaking() {
		ask(src, rng, 5, regexps, []string{""})
	}
	ask(src, rng, each+1, choosy, []string{"/archive", "/encoding/json", "/encoding/xml", "/internal/trace/testdata", "/net/http/httptest", "/os/exec", "/regexp", "/strings/strings.go", "/text"})
	t.Logf("%d questions", asked)
	if !testing.Short() && asked < 160 {
		t.Errorf("only %d questions were asked", asked)
	}
}

// onTrees calls ask with generated trees, of which each fourth has CRLF lines.
func onTrees(t *testing.T, seeds int, ask func(tree *diskTree, rng *rand.Rand)) {
	t.Helper()
	if testing.Short() {
		seeds = 2
	} else if soaking() {
		seeds = 60
	}
	for seed := range seeds {
		ask(generated(t, seed, seed%4 == 3), rand.New(rand.NewPCG(uint64(seed), 6)))
	}
}

// isFolder reports whether path is a folder and no link to one.
func (tree *diskTree) isFolder(path string) bool {
	info, err := os.Lstat(filepath.Join(tree.root, path))
	return err == nil && info.IsDir()
}

// bases are the root, as often as anything else, and all folders and files that
// are not ignored.
func (tree *diskTree) bases(t *testing.T) []string {
	t.Helper()
	var bases []string
	args := append(slices.Clone(ripgrep), "--hidden", "--files", "--null")
	for path := range zeroSplit(output(t, tree.root, args...)) {
		path = tree.canonical(tree.root)(path)
		if content, err := os.ReadFile(tree.root + path); err != nil {
			t.Fatal(err)
		} else if !bytes.HasPrefix(content, []byte("\x7fELF")) {
			bases = append(bases, path)
		}
		for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
			bases = append(bases, dir)
		}
	}
	slices.Sort(bases)
	bases = slices.Compact(bases)
	return append(bases, slices.Repeat([]string{""}, len(bases))...)
}

// goTree is the source of Go.
func goTree(t *testing.T) *diskTree {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree := &diskTree{name: "Go", root: filepath.Join(strings.TrimSpace(string(out)), "src"), outside: true}
	tree.serve(t, false)
	return tree
}

func compareLines(t *testing.T, tree *diskTree, kind string, q ambit.GrepQuery, want []ambit.GrepMatch) {
	t.Helper()
	for name, fsys := range tree.engines {
		r, err := search.Grep(t.Context(), fsys, q)
		if err != nil {
			t.Errorf("%s, %s, %s: %v", tree.name, name, show(q), err)
			continue
		}
		if !slices.EqualFunc(want, r.Matches, sameMatch) {
			t.Errorf("%s in %s, %s: %s\n%q\n%s", kind, tree.name, name, show(q), ripgrepFor(tree, q), differences(want, r.Matches))
			return
		}
		limited := q
		if limited.Limit = (len(want) + 1) / 2; limited.Limit == 0 || q.Before+q.After > 0 {
			continue
		}
		first := want[:limited.Limit]
		r, err = search.Grep(t.Context(), fsys, limited)
		if err != nil || !slices.EqualFunc(first, r.Matches, sameMatch) || r.Summary.Truncated != (len(first) < len(want)) {
			t.Errorf("%s in %s, %s: %s\nTruncated %v, %v\n%s", kind, tree.name, name, show(limited), r.Summary.Truncated, err, differences(first, r.Matches))
		}
	}
}

func sameMatch(a, b ambit.GrepMatch) bool {
	return a.Path == b.Path && a.Line == b.Line && a.Column == b.Column && a.Text == b.Text && slices.Equal(a.Spans, b.Spans) &&
		a.Context == b.Context && a.Clipped == b.Clipped && a.Count == b.Count
}

// differences tells of a few matches that only one side has.
func differences(want, got []ambit.GrepMatch) string {
	var b strings.Builder
	only := func(sign string, these, those []ambit.GrepMatch) {
		n := 0
		have := map[string]bool{}
		for _, m := range those {
			have[fmt.Sprintf("%q", fmt.Sprint(m))] = true
		}
		for _, m := range these {
			if text := fmt.Sprintf("%q", fmt.Sprint(m)); !have[text] {
				if n++; n <= 5 {
					fmt.Fprintf(&b, "%s %.300s\n", sign, text)
				}
			}
		}
		fmt.Fprintf(&b, "%s %d of %d\n", sign, n, len(these))
	}
	only("they:", want, got)
	only("we:  ", got, want)
	return b.String()
}
