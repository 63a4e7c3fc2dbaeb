// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package filetype

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		types, match, not string
	}{
		{"go", "a.go a_test.go .go x.y.go", "go a.goo a.go.txt a.GO go.mod"},
		{"gomod", "go.mod go.sum go.work", "a.mod go.mod.bak"},
		{"rust rs", "lib.rs", "rs Cargo.toml"},
		{"make makefile", "Makefile makefile GNUmakefile rules.mk Makefile.am Makefile.linux", "MAKEFILE makefile.txt Makefiles"},
		{"docker dockerfile", "Dockerfile Dockerfile.dev api.Dockerfile", "dockerfile"},
		{"ts typescript", "a.ts a.tsx a.mts a.d.ts", "a.js ts"},
		{"js javascript", "a.js a.jsx a.mjs a.min.js", "a.json a.ts"},
		{"py python", "a.py a.pyi", "a.pyc py"},
		{"c", "a.c a.h a.H a.c.in", "a.C a.cc c"},
		{"cpp c++", "a.C a.cc a.hpp a.hxx.in a.h", "a.c"},
		{"minified", "a.min.js", "min.js.map a.js"},
		{"license", "LICENSE LICENCE.txt COPYING-GPL UNLICENSE MIT-LICENSE Apache-LICENSE.md APACHE-2.0 gpl-3", "lice APACHE- COPYINGS"},
		{"readme", "README README.md my-README", "readme.md"},
		{"man", "ls.1 x.3p printf.3x", "ls.10 ls.1.gz"},
		{"sh", ".bashrc a.sh profile x.profile.sh", "x.profile"},
		{"json yaml", "a.json composer.lock a.yml a.yaml", "a.toml"},
		{"", "anything at.all", "\x00"},
	} {
		s, err := Compile(strings.Fields(test.types))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(test.match) {
			if one := strings.Fields(test.types); !s.Match(name) {
				t.Errorf("%q is not of %v", name, one)
			}
		}
		for _, name := range strings.Fields(test.not) {
			if test.types != "" && s.Match(name) {
				t.Errorf("%q is of %s", name, test.types)
			}
		}
	}
}

// TestAgainstPath asks package path about every glob of the table.
func TestAgainstPath(t *testing.T) {
	names := map[string]bool{}
	for _, list := range globs {
		for glob := range strings.FieldsSeq(list) {
			for _, name := range expand(strings.ReplaceAll(glob, "*", "x.y")) {
				names[name], names[name+"x"], names["x"+name] = true, true, true
				names[strings.ToLower(name)], names[strings.ToUpper(name)] = true, true
			}
			for _, name := range expand(strings.ReplaceAll(glob, "*", "")) {
				names[name] = true
			}
		}
	}
	matched := 0
	for kind, list := range globs {
		s, err := Compile([]string{kind})
		if err != nil {
			t.Fatal(err)
		}
		for name := range names {
			want := false
			for glob := range strings.FieldsSeq(list) {
				ok, err := path.Match(strings.ReplaceAll(glob, "-]", `\-]`), name)
				if err != nil {
					t.Fatalf("%s: %q: %v", kind, glob, err)
				}
				want = want || ok
			}
			if got := s.Match(name); got != want {
				t.Errorf("%s: Match(%q) = %v", kind, name, got)
			}
			if want {
				matched++
			}
		}
	}
	if matched < 1000 {
		t.Errorf("only %d names matched", matched)
	}
}

func TestTable(t *testing.T) {
	names := Names()
	if len(names) < 120 || !slices.IsSorted(names) {
		t.Errorf("%d types, sorted: %v", len(names), slices.IsSorted(names))
	}
	for kind, list := range globs {
		fields := strings.Fields(list)
		if len(fields) == 0 || !slices.IsSorted(fields) || len(slices.Compact(slices.Clone(fields))) != len(fields) || strings.Join(fields, " ") != list {
			t.Errorf("%s: %q is not a sorted list", kind, list)
		}
	}
	for alias, of := range aliases {
		if globs[of] == "" || globs[alias] != "" {
			t.Errorf("alias %s of %s", alias, of)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"pythn": "python", "Go": "go", ".rs": "rs, rust", "*.tsx": "ts, typescript", "java script": "", "golan": "golang", "mark": "markdown",
		"": "", "\xff\x00/": "", strings.Repeat("go", 5000): "", "all": "",
	} {
		for _, types := range [][]string{{name}, {"go", name}} {
			_, err := Compile(types)
			if ambit.ReasonOf(err) != ambit.ErrInvalid || !strings.Contains(err.Error(), "file type") || len(err.Error()) > 300 {
				t.Fatalf("Compile(%.20q): %v", types, err)
			}
			if want != "" && !strings.Contains(err.Error(), want) {
				t.Errorf("Compile(%q): %v, want mention of %s", types, err, want)
			}
		}
	}
}

// newer is what the table has and version 13 of ripgrep has not. Later versions
// have most of it.
var newer = map[string]string{
	"asp":       "*.asp",
	"bazel":     "MODULE.bazel WORKSPACE.bazel WORKSPACE.bzlmod",
	"crystal":   "*.ecr shard.yml",
	"dts":       "*.dtso", // an alias of devicetree here
	"ebuild":    "*.eclass",
	"elixir":    "*.heex *.leex *.livemd",
	"gradle":    "*.gradle.kts gradle-wrapper.* gradle.properties gradlew gradlew.bat",
	"h":         "*.hh",
	"hs":        "*.c2hs *.cpphs *.hsc", // an alias of haskell here
	"js":        "*.cjs *.mjs",
	"json":      "*.sarif",
	"make":      "Makefile.*",
	"markdown":  "*.mdwn *.mdx *.mkd",
	"md":        "*.mdwn *.mdx *.mkd",
	"meson":     "meson.options",
	"msbuild":   "*.sln *.slnf",
	"php":       "*.php7 *.php8 *.pht",
	"puppet":    "*.epp",
	"py":        "*.pyi",
	"r":         "*.rmd *.rnw",
	"ruby":      "*.rake",
	"sh":        "*.env .env",
	"tf":        "*.terraform.lock.hcl *.terraformrc *.tf.json *.tfrc *.tfvars *.tfvars.json terraform.rc",
	"ts":        "*.cts *.mts",
	"vim":       ".gvimrc .vimrc _gvimrc _vimrc gvimrc vimrc",
	"vimscript": ".gvimrc .vimrc _gvimrc _vimrc gvimrc vimrc",
}

// TestAgainstRipgrep: types that both have are the same, but for what is newer.
func TestAgainstRipgrep(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "rg", "--type-list").Output()
	if err != nil {
		t.Logf("the table is not compared: there is no rg here: %v", err)
		return
	}
	theirs := map[string][]string{}
	for line := range strings.Lines(string(output)) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		theirs[name] = strings.Split(list, ", ")
	}
	both := 0
	for name, globs := range theirs {
		list, ok := globsOf(name)
		if !ok {
			continue
		}
		both++
		ours := strings.Fields(list)
		for _, glob := range globs {
			if !slices.Contains(ours, glob) {
				t.Errorf("%s lacks %s", name, glob)
			}
		}
		for _, glob := range ours {
			if !slices.Contains(globs, glob) && !slices.Contains(strings.Fields(newer[name]), glob) {
				t.Errorf("%s has %s", name, glob)
			}
		}
	}
	if both < 120 {
		t.Errorf("only %d types in common with the %d of ripgrep", both, len(theirs))
	}
	for _, name := range slices.Sorted(maps.Keys(newer)) {
		list, _ := globsOf(name)
		for glob := range strings.FieldsSeq(newer[name]) {
			if !slices.Contains(strings.Fields(list), glob) {
				t.Errorf("%s has no %s any more", name, glob)
			}
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, types := range [][]string{{"go"}, {"c", "cpp", "make"}, {"license"}} {
		b.Run(strings.Join(types, ","), func(b *testing.B) {
			s, err := Compile(types)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				s.Match("some_longer_name_test.go")
			}
		})
	}
}
