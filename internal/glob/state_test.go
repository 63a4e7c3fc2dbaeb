// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"slices"
	"testing"
)

func mustCompile(t testing.TB, pattern string) *Pattern {
	t.Helper()
	p, err := Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNames is about the folders of a walk that need no listing.
func TestNames(t *testing.T) {
	for _, test := range []struct {
		pattern string
		folders []string // entered before
		want    []string
		ok      bool
	}{
		{pattern: "src/app/*.go", want: []string{"src"}, ok: true},
		{pattern: "src/app/*.go", folders: []string{"src"}, want: []string{"app"}, ok: true},
		{pattern: "src/app/*.go", folders: []string{"src", "app"}},
		{pattern: "{src,docs/{b,a}}/**", want: []string{"docs", "src"}, ok: true},
		{pattern: "{src,docs/{b,a}}/**", folders: []string{"docs"}, want: []string{"a", "b"}, ok: true},
		{pattern: "{src,docs/{b,a}}/**", folders: []string{"src"}},
		{pattern: `app/\[slug\]/[[]x]`, folders: []string{"app", "[slug]"}, want: []string{"[x]"}, ok: true},
		{pattern: "a", folders: []string{"b"}, ok: true},
		{pattern: "**/a"},
		{pattern: "a{,b}/c", want: []string{"a", "ab"}, ok: true},
	} {
		s := mustCompile(t, test.pattern).Start(true)
		for _, name := range test.folders {
			s = s.Enter(name)
		}
		if names, ok := s.Names(); !slices.Equal(names, test.want) || ok != test.ok {
			t.Errorf("%s in %q: %q, %v; want %q, %v", test.pattern, test.folders, names, ok, test.want, test.ok)
		}
	}
}

// TestRest shows what a rest looks like; that it means the same is compared with the oracle elsewhere.
func TestRest(t *testing.T) {
	for _, test := range []struct {
		pattern string
		folders []string
		want    string
	}{
		{"**/*.go", nil, "**/*.go"},
		{"**/*.go", []string{"a", "b"}, "**/*.go"},
		{"src/**", []string{"src"}, "**"},
		{"src/*.go", []string{"src"}, "*.go"},
		{"src/*.go", []string{"a"}, ""},
		{"**/a/**/b", []string{"a"}, "{**/a/**/,**/}b"},
		{"{a,b/c}/d", []string{"b"}, "c/d"},
		{"{a,*}/{d,e},f", []string{"a"}, `{d,e}\,f`},
		{"a**b/c", []string{"ax"}, "**/*b/c"},
		{"a**b**c", []string{"ax", "bx"}, "**/*c"},
		{"{a/*,b}**c", []string{"a"}, "{*}**c"},
	} {
		s := mustCompile(t, test.pattern).Start(true)
		for _, name := range test.folders {
			s = s.Enter(name)
		}
		if got := s.Rest(); got != test.want {
			t.Errorf("%s in %q: %q, want %q", test.pattern, test.folders, got, test.want)
		}
	}
}

// TestNoAllocations keeps the walk of ordinary patterns free of garbage.
func TestNoAllocations(t *testing.T) {
	for _, pattern := range []string{"**/*.go", "src/**/{a,b}/*.{go,mod}", "a/b/c", "**/[a-z]*_test.go"} {
		s := mustCompile(t, pattern).Start(false)
		if n := testing.AllocsPerRun(100, func() {
			s.Match("main_test.go", false)
			s.Enter("src").Enter("a").Dead()
		}); n > 0 {
			t.Errorf("%s: %v allocations", pattern, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, test := range []struct{ name, pattern string }{
		{"suffix", "**/*.go"},
		{"suffixes", "**/*.{go,mod,sum}"},
		{"literal", "**/main_test.go"},
		{"segment", "**/ma*_t?st.go"},
	} {
		b.Run(test.name, func(b *testing.B) {
			s := mustCompile(b, test.pattern).Start(false).Enter("src")
			names := []string{"main_test.go", "main_test.c", "README.md", "testdata"}
			for i := 0; b.Loop(); i++ {
				s.Match(names[i%len(names)], false)
			}
		})
	}
}

func BenchmarkEnter(b *testing.B) {
	s := mustCompile(b, "**/*.go").Start(false)
	for b.Loop() {
		s.Enter("testdata")
	}
}
