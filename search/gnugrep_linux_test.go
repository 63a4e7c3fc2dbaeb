// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/search"
)

// TestSameLinesAsGNUGrep asks what ripgrep is no help with: any bytes, a NUL
// behind text, words of ASCII, context behind the last of a limit, lines that are
// not ended. GNU grep knows neither ignore files nor hidden names, reads the bytes
// of the C locale and takes no CR for a part of an ending.
func TestSameLinesAsGNUGrep(t *testing.T) {
	needs(t, "grep")
	root := t.TempDir()
	if version := output(t, root, "grep", "--version"); !bytes.Contains(version, []byte("GNU grep")) {
		t.Skipf("nothing to compare with: no GNU grep but %q", version)
	}
	for path, content := range map[string]string{
		"latin1.txt":    "caf\xe9 foo\nfoo caf\xe9\nna\xefve\n\xe9\n",
		"no ending":     "foo\nbar\nfoo",
		"empty":         "",
		"lines of none": "\n\n\nfoo\n\n",
		"words":         "foo\nfoo_bar\nfoo-bar\n-foo\nfoo1\nbarfoo\nfoofoo foo\n(foo)\nfoo.bar foo\n",
		"a/many":        strings.Repeat("foo\nx\nbar\n\n", 50),
		"a/.hidden":     "foo\n",
		"a.b":           "a.b\naxb\n",
		"a/long":        strings.Repeat("a", 300_000) + "\nTARGET foo\n" + strings.Repeat("b ", 50_000) + "foo\n",
		"a/far nul":     strings.Repeat("some text without the word\n", 10_000) + "foo \x01 bar\nno nul here: foo\n",
		"[odd]\nname":   "foo\n",
		"z\xff":         "foo bar\n",
		".gitignore":    "a\n",
	} {
		name := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tree := &diskTree{name: "for grep", root: root}
	tree.serve(t, true)
	asked := 0
	for _, pattern := range []string{"foo", "^$", "foo$", "^foo", "caf.", "na.ve", "^.$", `a\.b`, "[^a-z]", "TARGET", "(foo)+", "x|bar", "o*b", "[[:upper:]]{6}", "^[a-z ]+$", "-", "fo{2}"} {
		for _, q := range []ambit.GrepQuery{
			{},
			{IgnoreCase: true},
			{Before: 1, After: 2},
			{Mode: ambit.GrepCount},
			{Mode: ambit.GrepFiles},
			{Word: true, Literal: true},
			{Literal: true},
			{Include: []string{"a*"}},
			{Exclude: []string{"a"}},
		} {
			q.Pattern, q.All, q.NoIgnore = pattern, true, true
			if q.Word && strings.Contains(pattern, "-") {
				continue // \W beside - is no question here
			}
			args := []string{"env", "LC_ALL=C", "grep", "--recursive", "--text", "--null", "--line-number"}
			if q.Literal {
				args = append(args, "--fixed-strings")
			} else {
				args = append(args, "--extended-regexp")
			}
			for _, flag := range []struct {
				name string
				set  bool
			}{
				{"--ignore-case", q.IgnoreCase},
				{"--word-regexp", q.Word},
				{"--count", q.Mode == ambit.GrepCount},
				{"--files-with-matches", q.Mode == ambit.GrepFiles},
				{fmt.Sprintf("--before-context=%d", q.Before), q.Before > 0},
				{fmt.Sprintf("--after-context=%d", q.After), q.After > 0},
				{"--no-group-separator", q.Before+q.After > 0},
			} {
				if flag.set {
					args = append(args, flag.name)
				}
			}
			for _, g := range q.Include {
				args = append(args, "--include="+g)
			}
			for _, g := range q.Exclude {
				args = append(args, "--exclude-dir="+g, "--exclude="+g)
			}
			want := grepLines(t, tree, q.Mode, output(t, root, append(args, "--regexp="+pattern, ".")...))
			for name, fsys := range tree.engines {
				r, err := search.Grep(t.Context(), fsys, q)
				if err != nil {
					t.Fatal(err)
				}
				got := slices.Clone(r.Matches)
				for i := range got {
					got[i].Column, got[i].Spans = 0, nil
				}
				if !slices.EqualFunc(want, got, sameMatch) {
					t.Errorf("%s: %s\n%q\n%s", name, show(q), args, differences(want, got))
				}
			}
			asked++
		}
	}
	t.Logf("%d questions", asked)
}

// TestNULBehindText: a line with a NUL is not told of, and what is behind it is.
func TestNULBehindText(t *testing.T) {
	needs(t, "grep")
	root := t.TempDir()
	text := strings.Repeat("some text without the word\n", 10_000) + "foo first\nfoo \x00\nno word\nfoo second\n"
	if err := os.WriteFile(filepath.Join(root, "file"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	tree := &diskTree{root: root}
	tree.serve(t, true)
	all := grepLines(t, tree, ambit.GrepContent, output(t, root, "grep", "--recursive", "--text", "--null", "--line-number", "foo", "."))
	want := slices.DeleteFunc(slices.Clone(all), func(m ambit.GrepMatch) bool { return strings.Contains(m.Text, "\x00") })
	if len(all) != 3 || len(want) != 2 {
		t.Fatalf("grep finds %v", all)
	}
	for name, fsys := range tree.engines {
		r, err := search.Grep(t.Context(), fsys, ambit.GrepQuery{Pattern: "foo"})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(r.Matches)
		for i := range got {
			got[i].Column, got[i].Spans = 0, nil
		}
		if !slices.EqualFunc(want, got, sameMatch) {
			t.Errorf("%s: %s", name, differences(want, got))
		}
		if s := r.Summary.Skipped; len(s) != 1 || s[0].Path != "/file" || s[0].Reason != ambit.ErrNotText {
			t.Errorf("%s: skipped %v", name, s)
		}
	}
}

// grepLines reads what grep --null prints, sorted: lines are PATH NUL NUMBER : TEXT,
// or - in the place of the colon for context.
func grepLines(t *testing.T, tree *diskTree, mode ambit.GrepMode, out []byte) []ambit.GrepMatch {
	t.Helper()
	var found []ambit.GrepMatch
	for len(out) > 0 {
		path, rest, _ := bytes.Cut(out, []byte{0})
		m := ambit.GrepMatch{Path: tree.canonical(tree.root)(string(path))}
		if out = rest; mode != ambit.GrepFiles {
			var line []byte
			line, out, _ = bytes.Cut(rest, []byte("\n"))
			digits := bytes.IndexFunc(line, func(r rune) bool { return r < '0' || r > '9' })
			if digits < 0 {
				digits = len(line)
			}
			n, err := strconv.Atoi(string(line[:digits]))
			if err != nil {
				t.Fatal(err)
			}
			if mode == ambit.GrepCount {
				if m.Count = n; n == 0 {
					continue
				}
			} else {
				m.Line, m.Context, m.Text = n, line[digits] == '-', string(line[digits+1:])
			}
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b ambit.GrepMatch) int { return bySegments(a.Path, b.Path) })
	return found
}
