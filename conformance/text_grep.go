// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// grepRow is a pattern and the lines that it finds in a file of a tree of texts.
type grepRow struct {
	q    ambit.GrepQuery
	file int
	want []string // ":3:text" or "-3-text"
}

func (p *probe) grepsRows(rows []grepRow) {
	for _, row := range rows {
		row.q.Base = textPath(row.file)
		want := make([]string, len(row.want))
		for i, line := range row.want {
			want[i] = "/" + textPath(row.file) + line
		}
		p.greps(row.q, want...)
	}
}

// pattern of a plain query.
func lookFor(pattern string) ambit.GrepQuery { return ambit.GrepQuery{Pattern: pattern} }

func lookForText(text string) ambit.GrepQuery { return ambit.GrepQuery{Pattern: text, Literal: true} }

// grepChecks are about patterns and lines.
func grepChecks() []*check {
	return []*check{
		{
			id: "text/grep-lines", requires: needsSearch, tree: textTree("a\nb\n\nc\n\n\nd\n", "x\n", "", "one\nlast", "a\rb\n\f\n", "\n"),
			rule: "A line ends at LF, the end behind the last LF is no line, and a lone CR is content.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookFor("^$"), 0, []string{":3:", ":5:", ":6:"}},
					{lookFor("^"), 0, []string{":1:a", ":2:b", ":3:", ":4:c", ":5:", ":6:", ":7:d"}},
					{lookFor(".*"), 1, []string{":1:x"}},
					{lookFor("^"), 2, nil},
					{lookFor(".*"), 2, nil},
					{lookFor("last$"), 3, []string{":2:last"}},
					{lookFor("e$"), 3, []string{":1:one"}},
					{lookFor("^"), 4, []string{":1:a\rb", ":2:\f"}},
					{lookFor("^a\\rb$"), 4, []string{":1:a\rb"}},
					{lookFor("^b"), 4, nil},
					{lookFor("^$"), 5, []string{":1:"}},
				})
			},
		},
		{
			id: "text/grep-crlf", requires: needsSearch, tree: textTree("needle\r\nneedle x\r\n", "a\r\n\r\nb\n\r\n", "a\r"),
			rule: "A CR right before LF is part of the line's ending: $ stands before it, and the text has none.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookFor("needle$"), 0, []string{":1:needle"}},
					{lookFor("^needle$"), 0, []string{":1:needle"}},
					{lookFor("x$"), 0, []string{":2:needle x"}},
					{lookFor(`x\b`), 0, []string{":2:needle x"}},
					{lookFor(`\r`), 0, nil},
					{lookFor("^$"), 1, []string{":2:", ":4:"}},
					{lookFor("."), 1, []string{":1:a", ":3:b"}},
					{lookFor("a."), 2, []string{":1:a\r"}},
				})
			},
		},
		{
			id: "text/grep-literal", requires: needsSearch, tree: textTree("f() -> Result\n-world\ndef __init__(self):\nstr | int\na.c\nabc\n$1 \\d [x] {2}\n"),
			rule: "A pattern is no option, and with Literal it is the text itself.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookForText("-> Result"), 0, []string{":1:f() -> Result"}},
					{lookForText("-world"), 0, []string{":2:-world"}},
					{lookForText("def __init__(self):"), 0, []string{":3:def __init__(self):"}},
					{lookForText("str | int"), 0, []string{":4:str | int"}},
					{lookForText("a.c"), 0, []string{":5:a.c"}},
					{lookForText(`$1 \d [x] {2}`), 0, []string{`:7:$1 \d [x] {2}`}},
					{lookForText("("), 0, []string{":1:f() -> Result", ":3:def __init__(self):"}},
					{lookFor("-w"), 0, []string{":2:-world"}},
					{lookFor("a.c"), 0, []string{":5:a.c", ":6:abc"}},
				})
			},
		},
		{
			id: "text/grep-spans", requires: needsSearch, tree: textTree("foo bar foo\nxfoo\néfoo\nfoofoo\n", "aXbXc\n"),
			rule: "A line comes once, with the span of each match in it, and the column where the first one starts, in bytes.",
			run: func(p *probe) {
				for _, c := range []struct {
					q    ambit.GrepQuery
					want string
				}{
					{ambit.GrepQuery{Pattern: "foo", Base: "f0"}, "1@1[[0 3] [8 11]] 2@2[[1 4]] 3@3[[2 5]] 4@1[[0 3] [3 6]]"},
					{ambit.GrepQuery{Pattern: "foo$", Base: "f0"}, "1@9[[8 11]] 2@2[[1 4]] 3@3[[2 5]] 4@4[[3 6]]"},
					{ambit.GrepQuery{Pattern: "x?", Base: "f1", IgnoreCase: true}, "1@1[[0 0] [1 2] [3 4] [5 5]]"},
					{ambit.GrepQuery{Pattern: "o b|bar", Base: "f0"}, "1@3[[2 5]]"},
				} {
					for _, way := range p.ways() {
						var got []string
						g := way.grep(p.ctx, c.q, nil)
						for _, m := range g.matches {
							got = append(got, fmt.Sprintf("%d@%d%v", m.Line, m.Column, m.Spans))
						}
						if text := strings.Join(got, " "); g.err != nil || text != c.want {
							p.errorf("grep %s: %s, %v, want %s", shownQuery(c.q), text, g.err, c.want)
						}
					}
				}
			},
		},
		{
			id: "text/grep-word", requires: needsSearch, tree: textTree("foo\nfoobar\nfoo_\nfoo-bar\nxfoo foo\néfoo\n-foo\n(foo)\nfoo9\n", "x -world\nx-world\n- -worldly\n", "a+ b\na+b\na++\n"),
			rule: "With Word no match stands right beside a letter, mark, digit or connector of any script, whatever the pattern begins and ends with.",
			run: func(p *probe) {
				word := func(pattern string, literal bool) ambit.GrepQuery {
					return ambit.GrepQuery{Pattern: pattern, Word: true, Literal: literal}
				}
				p.grepsRows([]grepRow{
					{word("foo", false), 0, []string{":1:foo", ":4:foo-bar", ":5:xfoo foo", ":7:-foo", ":8:(foo)"}},
					{word("foo", true), 0, []string{":1:foo", ":4:foo-bar", ":5:xfoo foo", ":7:-foo", ":8:(foo)"}},
					{word("foo|foobar", false), 0, []string{":1:foo", ":2:foobar", ":4:foo-bar", ":5:xfoo foo", ":7:-foo", ":8:(foo)"}},
					{word("-world", true), 1, []string{":1:x -world"}},
					{word("a+", true), 2, []string{":1:a+ b", ":3:a++"}},
				})
			},
		},
		{
			id: "text/grep-ignore-case", requires: needsSearch, tree: textTree("Word\nWORD\nword\nwörd\nWÖRD\n\u212aelvin\nkelvin\nlong ſ\nLONG S\n", "a.C\nabc\n"),
			rule: "With IgnoreCase letters match whatever folds to them in Unicode, in patterns and in literal texts.",
			run: func(p *probe) {
				for _, literal := range []bool{false, true} {
					fold := func(pattern string) ambit.GrepQuery {
						return ambit.GrepQuery{Pattern: pattern, IgnoreCase: true, Literal: literal}
					}
					p.grepsRows([]grepRow{
						{fold("word"), 0, []string{":1:Word", ":2:WORD", ":3:word"}},
						{fold("wÖrd"), 0, []string{":4:wörd", ":5:WÖRD"}},
						{fold("kelvin"), 0, []string{":6:\u212aelvin", ":7:kelvin"}},
						{fold("LONG S"), 0, []string{":8:long ſ", ":9:LONG S"}},
					})
				}
				p.grepsRows([]grepRow{
					{lookFor("word"), 0, []string{":3:word"}},
					{ambit.GrepQuery{Pattern: "A.c", IgnoreCase: true, Literal: true}, 1, []string{":1:a.C"}},
				})
			},
		},
		{
			id: "text/grep-multiline", requires: needsSearch, tree: textTree("one\nfoo\nbar\ntwo\n", "x foo\r\nbar y\r\nfoo\nbar\n", "a\n\n\nb\n"),
			rule: "With Multiline a match may span lines, CRLF counts as LF, and every line that it touches comes with its part of it; without, a pattern with a line feed is bad-pattern.",
			run: func(p *probe) {
				multi := func(pattern string) ambit.GrepQuery { return ambit.GrepQuery{Pattern: pattern, Multiline: true} }
				p.grepsRows([]grepRow{
					{multi(`foo\nbar`), 0, []string{":2:foo", ":3:bar"}},
					{multi(`foo\nbar`), 1, []string{":1:x foo", ":2:bar y", ":3:foo", ":4:bar"}},
					{multi(`^bar$`), 0, []string{":3:bar"}},
					{multi(`a\n+b`), 2, []string{":1:a", ":2:", ":3:", ":4:b"}},
					{multi(`(?s)one.*two`), 0, []string{":1:one", ":2:foo", ":3:bar", ":4:two"}},
				})
				p.grepsRows([]grepRow{{ambit.GrepQuery{Pattern: "foo\r\nbar", Multiline: true, Literal: true}, 0, []string{":2:foo", ":3:bar"}}})
				for _, pattern := range []string{"foo\nbar", `foo\nbar`} {
					p.grepRefused(ambit.GrepQuery{Pattern: pattern, Base: "f0"}, ambit.ErrBadPattern)
				}
				p.grepRefused(ambit.GrepQuery{Pattern: "foo\nbar", Literal: true, Base: "f0"}, ambit.ErrBadPattern)
				_, matches := p.grepsMatches(ambit.GrepQuery{Pattern: `oo\nba`, Multiline: true, Base: "f0"}, "/f0:2:foo", "/f0:3:bar")
				if len(matches) == 2 && fmt.Sprint(matches[0].Spans, matches[1].Spans) != "[[1 3]] [[0 2]]" {
					p.errorf("the parts of a match over two lines are %v and %v, want 1 to 3 and 0 to 2", matches[0].Spans, matches[1].Spans)
				}
			},
		},
		{
			id: "text/grep-context", requires: needsSearch, tree: textTree("1\n2\nk3\n4\n5\n6\nk7\nk8\n9\n10\n11\nk12", "k\n"),
			rule: "Lines of context come once, in order and marked as such, and a line that matches is a match though it is near another.",
			run: func(p *probe) {
				around := func(before, after int) ambit.GrepQuery {
					return ambit.GrepQuery{Pattern: "k", Before: before, After: after}
				}
				p.grepsRows([]grepRow{
					{around(1, 0), 0, []string{"-2-2", ":3:k3", "-6-6", ":7:k7", ":8:k8", "-11-11", ":12:k12"}},
					{around(0, 1), 0, []string{":3:k3", "-4-4", ":7:k7", ":8:k8", "-9-9", ":12:k12"}},
					{around(2, 2), 0, []string{"-1-1", "-2-2", ":3:k3", "-4-4", "-5-5", "-6-6", ":7:k7", ":8:k8", "-9-9", "-10-10", "-11-11", ":12:k12"}},
					{around(100, 100), 1, []string{":1:k"}},
				})
				p.greps(ambit.GrepQuery{Pattern: "k", Base: "/", Before: 1, Mode: ambit.GrepCount}, "/f0=4", "/f1=1")
			},
		},
		{
			id: "text/grep-modes", requires: needsSearch, tree: searchTree,
			rule: "GrepFiles tells each file with a match once, and GrepCount how many of its lines match, and no line of any.",
			run: func(p *probe) {
				files := []string{"/docs/a/1.txt", "/docs/a-b/2.txt", "/docs/a.b/3.txt", "/src/app/main.py", "/src/app/util/text.py", "/src/app/util/text.txt", "/src/lib.go", "/top.py"}
				sum := p.greps(ambit.GrepQuery{Pattern: "import", Base: "/", Mode: ambit.GrepFiles}, files...)
				if sum.Searched != 9 {
					p.errorf("grep over 9 files says that %d were searched", sum.Searched)
				}
				p.greps(ambit.GrepQuery{Pattern: "import|print|package", Base: "src", Mode: ambit.GrepCount}, "/src/app/main.py=2", "/src/app/util/text.py=1", "/src/app/util/text.txt=1", "/src/lib.go=2")
				p.greps(ambit.GrepQuery{Pattern: "o", Base: "src/app/main.py", Mode: ambit.GrepFiles}, "/src/app/main.py")
				p.greps(ambit.GrepQuery{Pattern: "o", Base: "src/app/main.py", Mode: ambit.GrepCount}, "/src/app/main.py=2")
				p.greps(ambit.GrepQuery{Pattern: "none", Base: "/", Mode: ambit.GrepCount})
				p.greps(ambit.GrepQuery{Pattern: "none", Base: "/", Mode: ambit.GrepFiles})
			},
		},
	}
}

// grepTextChecks are about contents that are not plain.
func grepTextChecks() []*check {
	long := strings.Repeat("a", 70_000)
	return []*check{
		{
			id: "text/grep-byte-order-mark", requires: needsSearch, tree: textTree("\ufeffend\r\nnext\r\n\ufeffx\n"),
			rule: "A byte order mark is outside the text: the first line begins behind it, and so do its columns.",
			run: func(p *probe) {
				for _, q := range []ambit.GrepQuery{lookFor("^end"), lookFor("^end$"), lookForText("end"), lookFor(`\Aend\z`)} {
					q.Base = "f0"
					_, matches := p.grepsMatches(q, "/f0:1:end")
					if len(matches) == 1 && matches[0].Column != 1 {
						p.errorf("grep %s: column %d, want 1", shownQuery(q), matches[0].Column)
					}
				}
				p.grepsRows([]grepRow{{lookFor("^next"), 0, []string{":2:next"}}, {lookFor("x"), 0, []string{":2:next", ":3:\ufeffx"}}})
			},
		},
		{
			id: "text/grep-utf-16", requires: needsSearch, tree: textTree("\xff\xfeh\x00i\x00\xe9\x00\r\x00\n\x00b\x00y\x00e\x00", "\xfe\xff\x00h\x00i\x00\xe9\x00\n"),
			rule: "UTF-16 behind a byte order mark is searched as the text that it is, and its lines come as UTF-8.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookFor("^hié$"), 0, []string{":1:hié"}},
					{lookFor("e$"), 0, []string{":2:bye"}},
					{lookFor("^hié$"), 1, []string{":1:hié"}},
				})
			},
		},
		{
			id: "text/grep-stray-bytes", requires: needsSearch, tree: textTree("k\xffk \xc3\nplain\nk\xe9\n"),
			rule: "Bytes that are no text in a file that is are content like any other, and come unaltered.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookFor("k"), 0, []string{":1:k\xffk \xc3", ":3:k\xe9"}},
					{lookForText("k\xe9"), 0, []string{":3:k\xe9"}},
					{lookFor("plain"), 0, []string{":2:plain"}},
				})
			},
		},
		{
			id: "text/grep-binary", requires: needsSearch,
			tree: Tree{
				{Path: "late", Kind: ambit.KindRegular, Data: "k one\n" + strings.Repeat("text\n", 30_000) + "k \x00\nk two\n"},
				{Path: "lib.a", Kind: ambit.KindRegular, Data: "\x7fELF\x00k\xff\n"},
				{Path: "log", Kind: ambit.KindRegular, Data: "k one\n\x00\nk two\n"},
				{Path: "ok.txt", Kind: ambit.KindRegular, Data: "k\n"},
			},
			rule: "A file that is not text is not searched and stands in Skipped as not-text, and so does one of which a matching line is left out for a NUL byte; the search of all else goes on.",
			run: func(p *probe) {
				for mode, want := range [][]string{{"/late:1:k one", "/late:30003:k two", "/ok.txt:1:k"}, {"/late", "/ok.txt"}, {"/late=2", "/ok.txt=1"}} {
					sum := p.greps(ambit.GrepQuery{Pattern: "k", Base: "/", Mode: ambit.GrepMode(mode)}, want...)
					skipped := []ambit.Skip{{Path: "/late", Reason: ambit.ErrNotText}, {Path: "/lib.a", Reason: ambit.ErrNotText}, {Path: "/log", Reason: ambit.ErrNotText}}
					if ambit.GrepMode(mode) == ambit.GrepFiles {
						skipped = skipped[1:] // one match is enough
					}
					if !slices.Equal(sum.Skipped, skipped) || sum.MoreSkipped != 0 {
						p.errorf("skipped in mode %d: %+v and %d more, want %+v", mode, sum.Skipped, sum.MoreSkipped, skipped)
					}
				}
			},
		},
		{
			id: "text/grep-long-lines", requires: needsSearch, tree: textTree(long+"\nTARGET\n", strings.Repeat("b", 5<<20)+"\nTARGET\n"+long+" TARGET"),
			rule: "A long line ends no search: what is behind it is found, and it is found itself.",
			run: func(p *probe) {
				p.grepsRows([]grepRow{
					{lookFor("TARGET"), 0, []string{":2:TARGET"}},
					{lookFor("^TARGET"), 1, []string{":2:TARGET"}},
					{lookFor("TARGET"), 1, []string{":2:TARGET", ":3:" + long + " TARGET"}},
				})
				p.greps(ambit.GrepQuery{Pattern: "[ab]$", Base: "/", Mode: ambit.GrepCount}, "/f0=1", "/f1=1")
			},
		},
		{
			id: "text/grep-clipped", requires: needsSearch, tree: clippedTree,
			rule: "With MaxLineBytes a longer line is cut to that many bytes at most, between characters, marked and with its first match in view.",
			run:  func(p *probe) { p.clips() },
		},
	}
}

const clippedBytes = 40

// clippedTree has lines in which a character of one to four bytes begins at every
// offset around where they may be cut.
var clippedTree = func() Tree {
	var contents []string
	for _, c := range []string{"a", "é", "€", "\U0001F600"} {
		var b strings.Builder
		for n := range 12 {
			fmt.Fprintf(&b, "%s%stail MATCH and %s\n", strings.Repeat("a", clippedBytes-8+n), c, strings.Repeat(c, 60))
			fmt.Fprintf(&b, "MATCH %s\nnext\n", strings.Repeat("a", clippedBytes-14+n)+strings.Repeat(c, 60))
		}
		contents = append(contents, b.String())
	}
	return textTree(contents...)
}()

func (p *probe) clips() {
	for i, n := range clippedTree {
		lines := slices.Collect(strings.Lines(n.Data))
		for _, way := range p.ways() {
			g := way.grep(p.ctx, ambit.GrepQuery{Pattern: "MATCH|next", Base: textPath(i), MaxLineBytes: clippedBytes}, nil)
			if g.err != nil || len(g.matches) != len(lines) {
				p.errorf("grep of %d lines that are cut: %d, %v", len(lines), len(g.matches), g.err)
				return
			}
			for _, m := range g.matches {
				line := strings.TrimSuffix(lines[m.Line-1], "\n")
				cut := len(line) > clippedBytes
				switch {
				case m.Clipped != cut, len(m.Text) > clippedBytes, !cut && m.Text != line:
					p.errorf("a line of %d bytes, of which there may be %d: clipped %v, %q", len(line), clippedBytes, m.Clipped, m.Text)
				case !utf8.ValidString(m.Text), !strings.Contains(line, m.Text):
					p.errorf("a cut line is no part of the line in whole characters: %q", m.Text)
				case len(m.Spans) != 1 || !slices.Contains([]string{"MATCH", "next"}, m.Text[m.Spans[0][0]:m.Spans[0][1]]):
					p.errorf("a cut line does not show its match: %q, %v", m.Text, m.Spans)
				case m.Column != 1+max(strings.Index(line, "MATCH"), 0):
					p.errorf("the column of a cut line is %d, which is not where the match starts in %q", m.Column, line)
				}
			}
		}
	}
}

// grepFileChecks are about which files are searched.
func grepFileChecks() []*check {
	return []*check{
		{
			id: "text/grep-include", requires: needsSearch, tree: searchTree,
			rule: "With Include only files are searched that match one of the globs: one without a slash by name at any depth, one with by the path from the base.",
			run: func(p *probe) {
				for _, c := range []struct {
					base    string
					include []string
					want    []string
				}{
					{"/", []string{"*.py"}, []string{"/src/app/main.py", "/src/app/util/text.py", "/top.py"}},
					{"/", []string{"**/*.py"}, []string{"/src/app/main.py", "/src/app/util/text.py", "/top.py"}},
					{"/", []string{"src/**/*.py"}, []string{"/src/app/main.py", "/src/app/util/text.py"}},
					{"/", []string{"src/*.py"}, nil},
					{"src", []string{"app/*.py"}, []string{"/src/app/main.py"}},
					{"src", []string{"src/**"}, nil},
					{"/", []string{"*.go", "docs/a/*"}, []string{"/docs/a/1.txt", "/src/lib.go"}},
					{"/", []string{"{top,main}.py"}, []string{"/src/app/main.py", "/top.py"}},
					{"src/app", []string{"text.*"}, []string{"/src/app/util/text.py", "/src/app/util/text.txt"}},
				} {
					p.greps(ambit.GrepQuery{Pattern: "import", Base: c.base, Include: c.include, Mode: ambit.GrepFiles}, c.want...)
				}
			},
		},
		{
			id: "text/grep-exclude", requires: needsSearch, tree: searchTree,
			rule: "With Exclude no file is searched that matches one of the globs, nor any that lies in a folder that does, included or not.",
			run: func(p *probe) {
				for _, c := range []struct {
					include, exclude []string
					want             []string
				}{
					{nil, []string{"*.txt"}, []string{"/src/app/main.py", "/src/app/util/text.py", "/src/lib.go", "/top.py"}},
					{nil, []string{"util", "docs"}, []string{"/src/app/main.py", "/src/lib.go", "/top.py"}},
					{nil, []string{"src/app/**", "docs/a*"}, []string{"/src/lib.go", "/top.py"}},
					{[]string{"*.py"}, []string{"top.*"}, []string{"/src/app/main.py", "/src/app/util/text.py"}},
					{[]string{"text.py"}, []string{"src/app"}, nil},
					{nil, []string{"app/main.py", "**/a*/*"}, []string{"/src/lib.go", "/top.py"}},
				} {
					p.greps(ambit.GrepQuery{Pattern: "import", Base: "/", Include: c.include, Exclude: c.exclude, Mode: ambit.GrepFiles}, c.want...)
				}
			},
		},
		{
			id: "text/grep-types", requires: needsSearch, tree: searchTree,
			rule: "With Types only files of these types are searched, and a type that is not known is invalid.",
			run: func(p *probe) {
				p.greps(ambit.GrepQuery{Pattern: "import", Base: "/", Types: []string{"go"}}, `/src/lib.go:2:import "os"`)
				p.greps(ambit.GrepQuery{Pattern: "import", Base: "/", Types: []string{"py", "go"}, Mode: ambit.GrepFiles}, "/src/app/main.py", "/src/app/util/text.py", "/src/lib.go", "/top.py")
				p.greps(ambit.GrepQuery{Pattern: "import", Base: "src/app", Types: []string{"py"}, Exclude: []string{"main.*"}, Mode: ambit.GrepFiles}, "/src/app/util/text.py")
				p.grepRefused(ambit.GrepQuery{Pattern: "import", Base: "/", Types: []string{"no-such-type"}}, ambit.ErrInvalid)
				p.grepRefused(ambit.GrepQuery{Pattern: "import", Base: "gone", Types: []string{"go", "no-such-type"}}, ambit.ErrInvalid)
			},
		},
	}
}
