// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// alphabets are what random patterns and names are made of: small, so that they meet.
var alphabets = []struct{ pieces, names []string }{
	{
		pieces: []string{"a", "a", "b", "/", "/", "*", "**", "**/", "/**", "?", "{", "{", ",", ",", "}", "}"},
		names:  []string{"a", "b", "ab", "ba", "aa"},
	},
	{
		pieces: []string{"a", ".", ".", "/", "/", "./", "*", "**", "?", "{", ",", "}", "[.]", "[!a]", "[a.]"},
		names:  []string{"a", ".a", "a.", ".", "..a", "aa", ".aa", "a.a"},
	},
	{
		pieces: []string{"a", "b", "-", "!", "^", "]", "[", "[", "]", `\`, ",", "c", "é", "*", "?"},
		names:  []string{"a", "b", "-", "!", "^", "]", "[", `\`, ",", "c", "é", "ab", "a]", "[a]"},
	},
	{
		pieces: []string{"\xff", "\xc3", "\xa9", "é", "�", "?", "*", "[!a]", "[é-\uffff]", "[�]", "[!�]", "[!b-퟿]", "[a-\uf000]", "/", "a", "**", "{", ",", "}"},
		names:  []string{"\xff", "\xc3", "\xa9", "é", "a", "aé", "é\xff", "\xffé", "�", "a\xa9", "", "\U0010ffff"},
	},
	{
		pieces: []string{"a", "b", "/", "*", "**", "*", "**", "a", "b"},
		names:  []string{"a", "b", "ab", "ba", "aab", "bab", ".a"},
	},
	{
		pieces: []string{"a/", "b/", "**/", "{a/,}", "{b,**}/", "*/", "{**/a,b/}", "a", "b", "{a,b/c}", "**", "a**b", "**c", "{", ",", "}", "?**"},
		names:  []string{"a", "b", "c", "ab", "acb", "bc", ".a"},
	},
}

func randomPattern(r *rand.Rand, pieces []string) string {
	var b strings.Builder
	open := 0
	for range 1 + r.IntN(10) {
		piece := pieces[r.IntN(len(pieces))]
		switch piece {
		case "{":
			open++
		case "}":
			if open == 0 {
				continue
			}
			open--
		}
		b.WriteString(piece)
	}
	for range open {
		if r.IntN(20) > 0 {
			b.WriteByte('}')
		}
	}
	return b.String()
}

func randomPath(r *rand.Rand, names []string) string {
	path := make([]string, 1+r.IntN(4))
	for i := range path {
		path[i] = names[r.IntN(len(names))]
		if r.IntN(4) == 0 {
			path[i] += names[r.IntN(len(names))]
		}
	}
	return strings.Join(path, "/")
}

func compileAs(pattern string, filter bool) (*Pattern, error) {
	if filter {
		return CompileFilter(pattern)
	}
	return Compile(pattern)
}

// TestAgainstOracle compares random patterns on random paths with the oracle, and the parts of a walk with the whole.
func TestAgainstOracle(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	testAgainstOracle(t, 1, 1+seeds, 250)
}

// TestCornersAgainstOracle compares what random patterns seldom come to.
func TestCornersAgainstOracle(t *testing.T) {
	for _, pattern := range []string{
		"**aa{*/*}**//**",
		"x{a/*,b}**/c",
		"a{**/**b,c}",
		"{**/**,a}b",
		"{**/}**/b",
		"{*}**{}**/b",
		"{*,a}**",
		"[\\!-\uffff]x",
		"[!\x01- \u0400-\u0fff]x",
		"*[\\!-\uffff]?[!a\u0100-\uffff]*",
		"{a,b}/{,c}/{,d}",
		"a/{.,b}/{./,}",
		"**/{./,a/}b/",
	} {
		for _, filter := range []bool{false, true} {
			o := newOracle(pattern, filter)
			p, err := compileAs(pattern, filter)
			if err != nil || o == nil {
				t.Errorf("%q: %v; the oracle takes it: %v", pattern, err, o != nil)
				continue
			}
			checkAgainst(t, o, p, pattern, filter, []string{
				"a/ab/aa/bba", "aa/b", "xa/y", "xa/yz/c", "xa/c", "ab", "ab/b", "ax/b", "b", "a/b", "a/x/b", "a", "!x", "ax", " x", "-x", "\u0500x", "a!bb",
				"b/c/d", "b/c", "a/d", "a/b/", "x/a/b", "a/a/b",
			})
		}
	}
}

func testAgainstOracle(t *testing.T, from, to uint64, patterns int) {
	compiled, matched := 0, 0
	for seed := from; seed < to; seed++ {
		for i, alphabet := range alphabets {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range patterns {
				pattern := randomPattern(r, alphabet.pieces)
				filter := r.IntN(3) == 0
				o := newOracle(pattern, filter)
				p, err := compileAs(pattern, filter)
				if (o == nil) != (err != nil) {
					t.Fatalf("%q (filter %v): error %v, the oracle says good: %v", pattern, filter, err, o != nil)
				}
				if err != nil {
					continue
				}
				compiled++
				paths := make([]string, 8)
				for i := range paths {
					paths[i] = randomPath(r, alphabet.names)
				}
				if checkAgainst(t, o, p, pattern, filter, paths) {
					matched++
				}
			}
		}
	}
	t.Logf("%d patterns compiled, %d of them matched something", compiled, matched)
	if matched*4 < compiled || compiled*4 < patterns {
		t.Errorf("of %d patterns %d compiled, and %d matched: the test sees too little", patterns, compiled, matched)
	}
}

// checkAgainst compares p and the states of its walks with o on some paths.
func checkAgainst(t *testing.T, o *oracle, p *Pattern, pattern string, filter bool, paths []string) (matched bool) {
	t.Helper()
	rests := make(map[string]*Pattern)
	for _, path := range paths {
		for _, dir := range []bool{false, true} {
			for _, dots := range []bool{false, true} {
				want := o.match(path, dir, dots)
				matched = matched || want
				if got := p.Match(path, dir); dots && got != want {
					t.Fatalf("%q (filter %v) on %q (folder %v): %v, the oracle says %v", pattern, filter, path, dir, got, want)
				}
				checkWalk(t, p.Start(dots), pattern, path, dir, want, rests)
			}
		}
	}
	return matched
}

// checkWalk walks to path and holds every state on the way to what it says. It keeps the compiled rests.
func checkWalk(t *testing.T, s State, pattern, path string, dir, want bool, rests map[string]*Pattern) {
	t.Helper()
	for rest := path; ; {
		name, beneath, more := strings.Cut(rest, "/")
		if s.Dead() && want {
			t.Fatalf("%q on %q (dots %v): dead before %q", pattern, path, s.dots, rest)
		}
		if names, ok := s.Names(); ok {
			if !slices.IsSorted(names) {
				t.Fatalf("%q before %q: names %q", pattern, rest, names)
			}
			if !slices.Contains(names, name) && (want || s.Match(name, true) || !s.Enter(name).Dead()) {
				t.Fatalf("%q on %q (dots %v): before %q only the names %q", pattern, path, s.dots, rest, names)
			}
		}
		text := s.Rest()
		if (text == "") != s.Dead() {
			t.Fatalf("%q before %q: dead %v, and the rest is %q", pattern, rest, s.Dead(), text)
		}
		if text != "" {
			p := rests[text]
			if p == nil {
				var err error
				if p, err = Compile(text); err != nil {
					t.Fatalf("%q before %q: the rest %q: %v", pattern, rest, text, err)
				}
				rests[text] = p
			}
			if got := walk(p.Start(s.dots), rest, dir); got != want {
				t.Fatalf("%q on %q (folder %v, dots %v): the rest before %q is %q, which says %v", pattern, path, dir, s.dots, rest, text, got)
			}
		}
		if !more {
			if got := s.Match(name, dir); got != want {
				t.Fatalf("%q on %q (folder %v, dots %v): the walk says %v, the oracle %v", pattern, path, dir, s.dots, got, want)
			}
			return
		}
		s, rest = s.Enter(name), beneath
	}
}

func walk(s State, path string, dir bool) bool {
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return s.Match(name, dir)
		}
		s, path = s.Enter(name), rest
	}
}

// FuzzMatch looks for panics and for differences from the oracle.
func FuzzMatch(f *testing.F) {
	for _, pattern := range []string{"**/*.go", "a/**b", "{a,b/**}/c", `app/\[slug\]/**`, "[!]a-z]*", "{,a}", "**/a/**/b/**/c", "*a*a*a*b", "[^\xff]", "./a//", "a**b**c"} {
		f.Add(pattern, "a/b/c", true, false)
		f.Add(pattern, ".a/xb", false, true)
	}
	f.Fuzz(func(t *testing.T, pattern, path string, dir, filter bool) {
		p, err := compileAs(pattern, filter)
		if err != nil {
			if p != nil {
				t.Fatal("a pattern beside an error")
			}
			if len(pattern) < 40 {
				if o := newOracle(pattern, filter); o != nil {
					t.Fatalf("%q: %v, but the oracle takes it", pattern, err)
				}
			}
			return
		}
		p.Match(path, dir)
		if len(pattern) > 40 || len(path) > 40 || strings.Count(pattern, "*") > 8 {
			return
		}
		if o := newOracle(pattern, filter); o != nil {
			checkAgainst(t, o, p, pattern, filter, []string{path})
		}
	})
}
