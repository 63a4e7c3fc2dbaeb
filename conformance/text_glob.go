// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// namesTree holds empty files, and empty folders where a path ends in a slash.
func namesTree(paths ...string) Tree {
	var t Tree
	for _, path := range paths {
		path, folder := strings.CutSuffix(path, "/")
		n := Node{Path: path, Kind: ambit.KindRegular}
		if folder {
			n.Kind = ambit.KindDirectory
		}
		t = append(t, n)
	}
	return t
}

// globRow is a pattern and the paths that it finds beneath a base.
type globRow struct {
	pattern, base string
	want          []string
}

func (p *probe) findsRows(rows []globRow) {
	for _, row := range rows {
		want := make([]string, len(row.want))
		for i, path := range row.want {
			want[i] = ambit.Join(row.base, path)
		}
		p.finds(ambit.GlobQuery{Pattern: row.pattern, Base: row.base}, want...)
	}
}

// searchTree is one in which most searches find something.
var searchTree = ParseTree(`
-- src/app/main.py --
import os
print(os.name)
-- src/app/util/text.py --
import re
-- src/app/util/text.txt --
import notes
-- src/lib.go --
package lib
import "os"
-- top.py --
import sys
-- readme.txt --
no code
-- docs/a/1.txt --
one import
-- docs/a-b/2.txt --
two import
-- docs/a.b/3.txt --
three import
-- hollow/deep/ --
`[1:])

// searchNames are the names in searchTree in the order of searches.
var searchNames = []string{
	"/docs", "/docs/a", "/docs/a/1.txt", "/docs/a-b", "/docs/a-b/2.txt", "/docs/a.b", "/docs/a.b/3.txt", "/hollow", "/hollow/deep",
	"/readme.txt", "/src", "/src/app", "/src/app/main.py", "/src/app/util", "/src/app/util/text.py", "/src/app/util/text.txt", "/src/lib.go", "/top.py",
}

// globChecks are about patterns, and what a glob tells of names.
func globChecks() []*check {
	return []*check{
		{
			id: "text/glob-double-star", requires: needsSearch,
			tree: namesTree("a", "x/y/b", "axb", "f.java", "test/file", "test/a/b", "abcd", "abc/d/h.txt", "T/awesomefile.txt", "U/v/somefile.txt", "e/ab", "e/a/b", "e/a/xb", "e/a/u/v/b", "e/js/s.js", "e/js/d/t.js"),
			rule: "As a whole segment of a pattern ** is any number of folders, none included, and at its end everything beneath; beside other characters it is **/* there.",
			run: func(p *probe) {
				p.findsRows([]globRow{
					{"**/{a,b}", "/", []string{"a", "e/a", "e/a/b", "e/a/u/v/b", "test/a", "test/a/b", "x/y/b"}},
					{"**/f.java", "/", []string{"f.java"}},
					{"test/**/*", "/", []string{"test/a", "test/a/b", "test/file"}},
					{"a/**/b", "/e", []string{"a/b", "a/u/v/b"}},
					{"a/**b", "/e", []string{"a/b", "a/u/v/b", "a/xb"}},
					{"abc/**", "/", []string{"abc/d", "abc/d/h.txt"}},
					{"T/**/somefile.txt", "/", nil},
					{"U/**/somefile.txt", "/", []string{"U/v/somefile.txt"}},
					{"js/**.js", "/e", []string{"js/d/t.js", "js/s.js"}},
					{"**/**/h.txt", "/", []string{"abc/d/h.txt"}},
				})
			},
		},
		{
			id: "text/glob-wildcards", requires: needsSearch,
			tree: namesTree("axb", "axc", "ab", "abc", "a/b", "é", "x1", "x2", "x12", "xy", "braces/1.go", "braces/2.js", "braces/3.txt", "braces/in/1.go", "d/x/", "d/f"),
			rule: "In a pattern *, ? and classes stand for characters of one name and never for a slash, and braces for any of what they hold, slashes too.",
			run: func(p *probe) {
				p.findsRows([]globRow{
					{"a*{b,c}", "/", []string{"ab", "abc", "axb", "axc"}},
					{"a?b", "/", []string{"axb"}},
					{"?", "/", []string{"a", "d", "é"}},
					{"x[0-9]", "/", []string{"x1", "x2"}},
					{"x[!0-9]", "/", []string{"xy"}},
					{"x[0-9]*", "/", []string{"x1", "x12", "x2"}},
					{"*.{go,js}", "/braces", []string{"1.go", "2.js"}},
					{"{*.{txt,js},in/*.go}", "/braces", []string{"2.js", "3.txt", "in/1.go"}},
					{"*/*", "/", []string{"a/b", "braces/1.go", "braces/2.js", "braces/3.txt", "braces/in", "d/f", "d/x"}},
				})
			},
		},
		{
			id: "text/glob-brackets", requires: needsSearch,
			tree: ParseTree("-- app/[slug]/page.tsx --\nslug\n-- app/s/page.tsx --\ns\n-- app/[[...sign-in]]/page.tsx --\nsign in\n-- app/{a,b}/page.tsx --\nbraces\n-- app/a/page.tsx --\na\n"),
			rule: "A base is a literal path and no pattern, and in a pattern a backslash takes the meaning from what is behind it.",
			run: func(p *probe) {
				p.finds(ambit.GlobQuery{Pattern: "*.tsx", Base: "app/[slug]"}, "/app/[slug]/page.tsx")
				p.finds(ambit.GlobQuery{Pattern: `app/\[slug\]/**`, Base: "/"}, "/app/[slug]/page.tsx")
				p.finds(ambit.GlobQuery{Pattern: "*", Base: "app/[[...sign-in]]"}, "/app/[[...sign-in]]/page.tsx")
				p.finds(ambit.GlobQuery{Pattern: "*", Base: "app/{a,b}"}, "/app/{a,b}/page.tsx")
				p.finds(ambit.GlobQuery{Pattern: "app/[slug]/*", Base: "/"}, "/app/s/page.tsx")
				p.finds(ambit.GlobQuery{Pattern: "app/{a,b}/*", Base: "/"}, "/app/a/page.tsx")
				p.greps(ambit.GrepQuery{Pattern: ".", Base: "app/[slug]"}, "/app/[slug]/page.tsx:1:slug")
				p.greps(ambit.GrepQuery{Pattern: "^s", Base: "/", Include: []string{`app/\[slug\]/*`}}, "/app/[slug]/page.tsx:1:slug")
			},
		},
		{
			id: "text/glob-order", requires: needsSearch,
			tree: namesTree("a-b", "a/c/d", "a.b", "a/c-d", "ab/x", "B", "ä/1", "10", "9", "a b/z"),
			rule: "Names come segment by segment in byte order, a folder before what is in it and that before the names behind the folder.",
			run: func(p *probe) {
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/10", "/9", "/B", "/a", "/a/c", "/a/c/d", "/a/c-d", "/a b", "/a b/z", "/a-b", "/a.b", "/ab", "/ab/x", "/ä", "/ä/1")
			},
		},
		{
			id: "text/glob-kinds", requires: needsSearch, tree: searchTree,
			rule: "With Kinds only names of these kinds are found, and folders are entered all the same.",
			run: func(p *probe) {
				var files, folders []string
				for _, path := range searchNames {
					if kind, _ := p.tree.kindAt(path); kind == ambit.KindDirectory {
						folders = append(folders, path)
					} else {
						files = append(files, path)
					}
				}
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindRegular}}, files...)
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindDirectory}}, folders...)
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindDirectory, ambit.KindRegular}}, searchNames...)
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindSocket}})
			},
		},
		{
			id: "text/glob-details", requires: needsSearch, tree: searchTree,
			rule: "With Details a match describes its name as Stat does.",
			run: func(p *probe) {
				for _, way := range p.ways() {
					g := way.glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/", Details: true}, nil)
					if g.err != nil || !slices.Equal(g.paths(), searchNames) {
						p.errorf("glob with details: %q, %v", g.paths(), g.err)
					}
					for _, info := range g.infos {
						want := p.stat(info.Path)
						p.agree(want, "Glob", info)
						if want.Kind == ambit.KindRegular && (info.Size != want.Size || info.Mode != want.Mode || !info.ModTime.Equal(want.ModTime)) {
							p.errorf("glob with details: %+v, and Stat says %+v", info, want)
						}
					}
				}
			},
		},
		{
			id: "text/glob-empty", requires: needsSearch, tree: namesTree("hollow/deep/", "x/f"),
			rule: "An empty folder is found as a name, and in it nothing, with success.",
			run: func(p *probe) {
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/hollow", "/hollow/deep", "/x", "/x/f")
				for _, pattern := range []string{"**", "*", "?", "none"} {
					p.finds(ambit.GlobQuery{Pattern: pattern, Base: "hollow/deep"})
				}
				p.greps(ambit.GrepQuery{Pattern: "", Base: "hollow"})
				p.greps(ambit.GrepQuery{Pattern: "^", Base: "x"})
			},
		},
		{
			id: "text/glob-odd-names", requires: append([]requirement{needWrite, needList}, needsSearch...), tree: namesTree("plain"),
			rule: "Names of any bytes are found as List shows them, line feeds and bytes that are no text included, and their lines too.",
			run: func(p *probe) {
				var want, lines []string
				for i, name := range []string{"new\nline", "carriage\rreturn", "\xff", "a\xc3", "\xed\xa0\x80", "tab\there", "[x]", "*", "back\\slash", " ", "\u202etxt.exe", "-rf", "café"} {
					for _, path := range []string{"odd/" + name, "odd/in/" + name + "/f"} {
						if _, err := p.writable().Write(p.ctx, path, strings.NewReader("k\n"), &ambit.WriteOptions{Parents: true}); err != nil {
							p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath, ambit.ErrUnsupported)
							continue
						}
						want = append(want, "/"+path)
						lines = append(lines, "/"+path+":1:k")
					}
					if i > 0 && len(want) == 0 {
						p.fatalf("no name at all could be made")
					}
				}
				slices.SortFunc(want, bySegments)
				slices.SortFunc(lines, func(a, b string) int { return bySegments(strings.TrimSuffix(a, ":1:k"), strings.TrimSuffix(b, ":1:k")) })
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "odd", Kinds: []ambit.Kind{ambit.KindRegular}}, want...)
				p.greps(ambit.GrepQuery{Pattern: "k", Base: "odd"}, lines...)
				listed := p.names("odd")
				var top []string
				for _, path := range want {
					if rest := strings.TrimPrefix(path, "/odd/"); !strings.Contains(rest, "/") {
						top = append(top, rest)
					}
				}
				if listed = slices.DeleteFunc(listed, func(name string) bool { return name == "in" }); !slices.Equal(listed, top) {
					p.errorf("list shows %q, and what was written is %q", listed, top)
				}
			},
		},
	}
}

// globBaseChecks are about where a search begins.
func globBaseChecks() []*check {
	inApp := []string{"/src/app/main.py", "/src/app/util", "/src/app/util/text.py", "/src/app/util/text.txt"}
	return []*check{
		{
			id: "text/search-base", requires: needsSearch, tree: searchTree,
			rule: "However a base is written, with slashes, dots or nothing, the paths of what is found are canonical.",
			run: func(p *probe) {
				for _, base := range []string{"src/app", "/src/app", "src/app/", "./src//app/.", "gone/../src/app", "/src/app/util/.."} {
					p.finds(ambit.GlobQuery{Pattern: "**", Base: base}, inApp...)
					p.greps(ambit.GrepQuery{Pattern: "^import", Base: base}, "/src/app/main.py:1:import os", "/src/app/util/text.py:1:import re", "/src/app/util/text.txt:1:import notes")
				}
				for _, base := range []string{"", "/", ".", "./", "//", "src/.."} {
					p.finds(ambit.GlobQuery{Pattern: "*.py", Base: base}, "/top.py")
					p.greps(ambit.GrepQuery{Pattern: "sys", Base: base}, "/top.py:1:import sys")
				}
			},
		},
		{
			id: "text/search-base-file", requires: needsSearch, tree: ParseTree("-- data/rows.txt --\nhit\n-- data/rows.txt.bak --\nhit\n-- data/.dot --\nhit\n-- data/rows/x --\nhit\n-- .gitignore --\nrows.*\n"),
			rule: "A base that is a file is searched as the one entry of its folder, whatever its name begins with and whatever ignores it.",
			run: func(p *probe) {
				for _, path := range []string{"data/rows.txt", "data/.dot"} {
					name := path[len("data/"):]
					p.greps(ambit.GrepQuery{Pattern: "hit", Base: path}, "/"+path+":1:hit")
					for _, pattern := range []string{"*", "**", name, "**/" + name} {
						p.finds(ambit.GlobQuery{Pattern: pattern, Base: path}, "/"+path)
						p.greps(ambit.GrepQuery{Pattern: "hit", Base: "/" + path, Include: []string{pattern}}, "/"+path+":1:hit")
					}
					for _, pattern := range []string{"other", "data/*", "**/x/*"} {
						p.finds(ambit.GlobQuery{Pattern: pattern, Base: path})
						p.greps(ambit.GrepQuery{Pattern: "hit", Base: path, Include: []string{pattern}})
					}
					p.greps(ambit.GrepQuery{Pattern: "hit", Base: path, Exclude: []string{name}})
				}
				p.finds(ambit.GlobQuery{Pattern: "*", Base: "data/rows.txt", Kinds: []ambit.Kind{ambit.KindDirectory}})
			},
		},
		{
			id: "text/search-base-refused", requires: needsSearch, tree: searchTree,
			rule:    "A base that is missing is not-found, one beneath a file or a file with a slash behind it not-a-directory, one above the root outside, and a search of it finds nothing.",
			control: func(p *probe) { p.holds("src/../top.py", "import sys\n") },
			run: func(p *probe) {
				for _, c := range []struct {
					base   string
					reason ambit.Reason
				}{
					{"gone", ambit.ErrNotFound},
					{"gone/deep", ambit.ErrNotFound},
					{"src/gone", ambit.ErrNotFound},
					{"top.py/", ambit.ErrNotADirectory},
					{"top.py/x", ambit.ErrNotADirectory},
					{"..", ambit.ErrOutside},
					{"src/../../x", ambit.ErrOutside},
					{"a\x00b", ambit.ErrInvalidPath},
					{strings.Repeat("n", ambit.MaxName+1), ambit.ErrInvalidPath},
				} {
					p.globRefused(ambit.GlobQuery{Pattern: "**", Base: c.base}, c.reason)
					p.grepRefused(ambit.GrepQuery{Pattern: ".", Base: c.base}, c.reason)
				}
			},
		},
	}
}

// searchLinkChecks are about links in a search, and as its base.
func searchLinkChecks() []*check {
	links := append([]requirement{needLinks}, needsSearch...)
	return []*check{
		{
			id: "text/glob-links", requires: links,
			tree: append(ParseTree("-- a/f.txt --\nk\n-- a/up -> .. --\n-- self -> self --\n-- dead -> missing --\n-- away -> ../beside/secret --\n-- far -> ../beside --\n-- ok.txt --\nk\n-- same -> ok.txt --\n-- to -> a --\n"), Node{Path: "../beside/secret", Kind: ambit.KindRegular, Data: secret}),
			rule: "Glob tells of a link as a link, whatever it leads to, and follows none, so that every name is found once.",
			run: func(p *probe) {
				p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/a", "/a/f.txt", "/a/up", "/away", "/dead", "/far", "/ok.txt", "/same", "/self", "/to")
				p.finds(ambit.GlobQuery{Pattern: "**/*.txt", Base: "/"}, "/a/f.txt", "/ok.txt")
				p.finds(ambit.GlobQuery{Pattern: "{to,far,a/up,self}/**", Base: "/"})
			},
		},
		{
			id: "text/grep-links", requires: links,
			tree: append(ParseTree("-- a/f.txt --\nk\n-- a/up -> .. --\n-- self -> self --\n-- dead -> missing --\n-- away -> ../beside/secret --\n-- far -> ../beside --\n-- ok.txt --\nk\n-- to -> a --\n-- same -> ok.txt --\n"), Node{Path: "../beside/secret", Kind: ambit.KindRegular, Data: secret}),
			rule: "Grep leaves links out, and neither a broken one nor a loop is anything to tell of.",
			run: func(p *probe) {
				for _, pattern := range []string{"k", "k|SECRET"} {
					if sum := p.greps(ambit.GrepQuery{Pattern: pattern, Base: "/", All: true}, "/a/f.txt:1:k", "/ok.txt:1:k"); len(sum.Skipped) > 0 || sum.Searched != 2 {
						p.errorf("grep beside links: %d files searched, skipped %+v", sum.Searched, sum.Skipped)
					}
				}
			},
		},
		{
			id: "text/search-base-link", requires: links, tree: standard,
			rule: "A base that is a link is what it leads to, and the paths of what is found there are canonical; one that leads nowhere, round or out is not-found, loop or outside.",
			run: func(p *probe) {
				for _, base := range []string{"link-folder", "link-folder/", "link-folder/.", "./link-folder//"} {
					p.finds(ambit.GlobQuery{Pattern: "**", Base: base}, "/folder/deep", "/folder/deep/leaf", "/folder/inner")
					p.greps(ambit.GrepQuery{Pattern: "leaf", Base: base}, "/folder/deep/leaf:1:leaf")
				}
				p.finds(ambit.GlobQuery{Pattern: "*", Base: "link-folder/deep"}, "/folder/deep/leaf")
				for link, path := range map[string]string{"link-file": "/file", "link-inner": "/folder/inner", "link-folder/inner": "/folder/inner"} {
					p.finds(ambit.GlobQuery{Pattern: "*", Base: link}, path)
					p.greps(ambit.GrepQuery{Pattern: "^", Base: link, Mode: ambit.GrepFiles}, path)
				}
				for base, reason := range map[string]ambit.Reason{
					"dangling": ambit.ErrNotFound, "dangling-deep/x": ambit.ErrNotFound, "loop": ambit.ErrLoop, "loop-a": ambit.ErrLoop,
					"outward": ambit.ErrOutside, "outward-folder": ambit.ErrOutside, "outward-folder/": ambit.ErrOutside, "outward-folder//": ambit.ErrOutside, "outward-folder/.": ambit.ErrOutside,
					"./outward-folder/": ambit.ErrOutside, "outward-folder/secret": ambit.ErrOutside, "outward-dangling": ambit.ErrOutside,
				} {
					p.globRefused(ambit.GlobQuery{Pattern: "**", Base: base}, reason)
					p.grepRefused(ambit.GrepQuery{Pattern: ".", Base: base}, reason)
				}
			},
		},
		{
			id: "text/search-denied-link", requires: append([]requirement{needGuard}, links...),
			tree: ParseTree("-- secret/key --\nTOKEN\n-- ok -> secret/key --\n-- okdir -> secret --\n-- open.txt --\nTOKEN\n"),
			rule: "A base that is a link to what a rule refuses is refused, and the search of all that is beside it is not.",
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/secret"))
				for _, base := range []string{"secret", "secret/key", "ok", "okdir", "okdir/", "okdir/key"} {
					guarded.globRefused(ambit.GlobQuery{Pattern: "**", Base: base, All: true}, ambit.ErrDenied)
					guarded.grepRefused(ambit.GrepQuery{Pattern: "TOKEN", Base: base, All: true}, ambit.ErrDenied)
				}
				guarded.greps(ambit.GrepQuery{Pattern: "TOKEN", Base: "/"}, "/open.txt:1:TOKEN")
				guarded.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/ok", "/okdir", "/open.txt")
			},
		},
		{
			id: "text/search-denied", requires: append([]requirement{needGuard}, needsSearch...),
			tree: ParseTree("-- docs/private/k.txt --\nTOKEN=1\n-- docs/a.txt --\nTOKEN=x\n-- docs/k.txt --\nTOKEN=2\n"),
			rule: "What a rule refuses is in no answer of a search, neither as a match nor by a count or a skip, and the search of all else succeeds.",
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/docs/private"))
				file, _ := p.guard(denying("/docs/k.txt"))
				for _, base := range []string{"/", "docs"} {
					sum := guarded.greps(ambit.GrepQuery{Pattern: "TOKEN", Base: base, All: true}, "/docs/a.txt:1:TOKEN=x", "/docs/k.txt:1:TOKEN=2")
					if sum.Searched != 2 || len(sum.Skipped) > 0 || sum.Hidden+sum.Ignored > 0 {
						p.errorf("grep beside what a rule refuses: %+v", sum)
					}
					file.greps(ambit.GrepQuery{Pattern: "TOKEN", Base: base, All: true}, "/docs/a.txt:1:TOKEN=x", "/docs/private/k.txt:1:TOKEN=1")
				}
				guarded.finds(ambit.GlobQuery{Pattern: "**", Base: "/", All: true}, "/docs", "/docs/a.txt", "/docs/k.txt")
				guarded.finds(ambit.GlobQuery{Pattern: "**", Base: "docs"}, "/docs/a.txt", "/docs/k.txt")
				guarded.finds(ambit.GlobQuery{Pattern: "docs/private/**/*", Base: "/"})
				guarded.finds(ambit.GlobQuery{Pattern: "docs/private", Base: "/"})
				guarded.globRefused(ambit.GlobQuery{Pattern: "**", Base: "docs/private"}, ambit.ErrDenied)
				guarded.grepRefused(ambit.GrepQuery{Pattern: "TOKEN", Base: "docs/private/k.txt"}, ambit.ErrDenied)
				p.greps(ambit.GrepQuery{Pattern: "=1", Base: "/"}, "/docs/private/k.txt:1:TOKEN=1")
			},
		},
	}
}
