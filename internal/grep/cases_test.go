// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/match"
)

// grepString searches a content in one piece.
func grepString(t testing.TB, content, pattern string, o match.Options, q Query) answer {
	t.Helper()
	q.Pattern, q.Multiline = compile(t, pattern, o), o.Multiline
	a, _ := search(New(q), strings.NewReader(content), int64(len(content)))
	return a
}

// shown has each line as number:column:text, or number-text for context.
func shown(a answer) []string {
	all := []string{}
	for _, m := range a.Matches {
		switch {
		case m.Context:
			all = append(all, fmt.Sprintf("%d-%s", m.Line, m.Text))
		default:
			all = append(all, fmt.Sprintf("%d:%d:%s", m.Line, m.Column, m.Text))
		}
	}
	return all
}

func TestCases(t *testing.T) {
	const flags = "f() -> Result\n-world\ndef __init__(self):\nstr | int\na.c\nabc\n"
	literal := match.Options{Literal: true}
	multiline := match.Options{Multiline: true}
	late := strings.Repeat("x\n", 60_000)
	for _, test := range []struct {
		name, content, pattern string
		o                      match.Options
		q                      Query
		want                   []string
		reason                 ambit.Reason
		more                   bool
	}{
		// The end after the last LF is no line.
		{name: "empty lines", content: "a\nb\n\nc\n\n\nd\n", pattern: "^$", want: []string{"3:1:", "5:1:", "6:1:"}},
		{name: "all", content: "x\n", pattern: ".*", want: []string{"1:1:x"}},
		{name: "all of an unfinished line", content: "x", pattern: ".*", want: []string{"1:1:x"}},
		{name: "empty content", content: "", pattern: ".*"},
		{name: "a mark alone", content: "\ufeff", pattern: ".*"},
		{name: "a mark and an empty line", content: "\ufeff\n", pattern: ".*", want: []string{"1:1:"}},
		{name: "empty lines across lines", content: "a\nb\n\nc\n\n\nd\n", pattern: "^$", o: multiline, want: []string{"3:1:", "5:1:", "6:1:"}},

		// CR is part of the ending, or else data.
		{name: "CRLF 1", content: "needle\r\nneedle x\r\n", pattern: "needle$", want: []string{"1:1:needle"}},
		{name: "CRLF 2", content: "needle\r\nneedle x\r\n", pattern: "^needle$", want: []string{"1:1:needle"}},
		{name: "CRLF 3", content: "needle\r\nneedle x\r\n", pattern: "x$", want: []string{"2:8:needle x"}},
		{name: "CRLF across lines", content: "a\r\nb\r\nc\r\n", pattern: "a$\n^b$", o: multiline, q: Query{After: 1}, want: []string{"1:1:a", "2:1:b", "3-c"}},
		{name: "CRLF as context", content: "a\r\nb\r\n", pattern: "b", q: Query{Before: 1}, want: []string{"1-a", "2:1:b"}},
		{name: "lone CR", content: "a\rb\r\r\nc\r", pattern: "$", want: []string{"1:5:a\rb\r", "2:3:c\r"}},

		// Patterns are no flags, and literals no patterns.
		{name: "literal 1", content: flags, pattern: "-> Result", o: literal, want: []string{"1:5:f() -> Result"}},
		{name: "literal 2", content: flags, pattern: "-world", o: literal, want: []string{"2:1:-world"}},
		{name: "literal 3", content: flags, pattern: "def __init__(self):", o: literal, want: []string{"3:1:def __init__(self):"}},
		{name: "literal 4", content: flags, pattern: "str | int", o: literal, want: []string{"4:1:str | int"}},
		{name: "literal 5", content: flags, pattern: "a.c", o: literal, want: []string{"5:1:a.c"}},
		{name: "dash", content: flags, pattern: "-w", want: []string{"2:1:-world"}},

		// The limit and what follows it.
		{name: "limit and after", content: "a\nb\nc\nd\ne\n", pattern: "c", q: Query{Limit: 1, After: 2}, want: []string{"3:1:c", "4-d", "5-e"}},
		{name: "limit and both", content: "a\nb\nc\nd\ne\n", pattern: "c", q: Query{Limit: 1, Before: 2, After: 2}, want: []string{"1-a", "2-b", "3:1:c", "4-d", "5-e"}},
		{name: "a match as context", content: "c1\nc2\nc3\nc4\n", pattern: "c", q: Query{Limit: 1, After: 2}, want: []string{"1:1:c1", "2-c2", "3-c3"}, more: true},
		{name: "no more", content: "c1\nx\ny\n", pattern: "c", q: Query{Limit: 1}, want: []string{"1:1:c1"}},
		{name: "more far away", content: "c1\n" + late + "c2", pattern: "c", q: Query{Limit: 1, After: 1}, want: []string{"1:1:c1", "2-x"}, more: true},
		{name: "limit across lines", content: "c1\nc2\nx\nc3\n", pattern: "c\\d\nc\\d|c3", o: multiline, q: Query{Limit: 1, After: 1}, want: []string{"1:1:c1", "2-c2"}, more: true},
		{name: "contexts meet", content: "k\n1\n2\n3\nk\n4\nk\n", pattern: "k", q: Query{Before: 2, After: 2}, want: []string{"1:1:k", "2-1", "3-2", "4-3", "5:1:k", "6-4", "7:1:k"}},

		// NUL bytes.
		{name: "NUL in the head", content: "k one\n\x00\nk two\n", pattern: "k", reason: ambit.ErrNotText},
		{name: "NUL later", content: late + "k one\n\x00\nk two\n", pattern: "k", want: []string{"60001:1:k one", "60003:1:k two"}},
		{name: "NUL in a match", content: late + "k one\nk\x00\nk two\n", pattern: "k", want: []string{"60001:1:k one", "60003:1:k two"}, reason: ambit.ErrNotText},
		{name: "NUL and context", content: late + "k one\nk\x00\nk two\n", pattern: "k", q: Query{Before: 1, After: 1}, want: []string{"60000-x", "60001:1:k one", "60003:1:k two"}, reason: ambit.ErrNotText},
		{name: "NUL before the first", content: late + "k\x00\nx\nk two\n", pattern: "k", q: Query{Mode: ambit.GrepFiles}, want: []string{"0:0:"}, reason: ambit.ErrNotText},
		{name: "NUL behind the first", content: late + "k\nx\nk\x00\n", pattern: "k", q: Query{Mode: ambit.GrepFiles}, want: []string{"0:0:"}},
		{name: "object file", content: "\x7fELF\x00k\xff", pattern: "k", reason: ambit.ErrNotText},
		{name: "text", content: "k\n", pattern: "k", want: []string{"1:1:k"}},
		{name: "PDF", content: "%PDF-1.7 k\n", pattern: "k", reason: ambit.ErrNotText},
		{name: "Latin-1", content: "n = 1;\n# stra\xdfe\n", pattern: "stra", want: []string{"2:3:# stra\xdfe"}},

		// Long lines.
		{name: "70,000 bytes", content: strings.Repeat("a", 70_000) + "\nTARGET\n", pattern: "TARGET", want: []string{"2:1:TARGET"}},
		{name: "5 MiB", content: strings.Repeat("a", 5<<20) + "\nTARGET\n", pattern: "TARGET", want: []string{"2:1:TARGET"}},
		{name: "5 MiB before", content: strings.Repeat("a", 5<<20) + "\nTARGET\n", pattern: "TARGET", q: Query{Before: 1, MaxLineBytes: 3}, want: []string{"1-aaa", "2:1:TAR"}},
		{name: "5 MiB and no end", content: "TARGET\n" + strings.Repeat("a", 5<<20), pattern: "a$", q: Query{MaxLineBytes: 3}, want: []string{"2:5242880:aaa"}},

		// The byte order mark is outside the text.
		{name: "mark 1", content: "\ufeffend\r\nnext\r\n", pattern: "^end", want: []string{"1:1:end"}},
		{name: "mark 2", content: "\ufeffend\r\nnext\r\n", pattern: "^end$", want: []string{"1:1:end"}},
		{name: "mark 3", content: "\ufeffend\r\nnext\r\n", pattern: "end", o: literal, want: []string{"1:1:end"}},
		{name: "mark 4", content: "\ufeffend\r\nnext\r\n", pattern: "^end$", o: multiline, want: []string{"1:1:end"}},
		{name: "mark 5", content: "\ufeff\ufeffend\n", pattern: "end", want: []string{"1:4:\ufeffend"}},
		{name: "UTF-16LE", content: "\xff\xfee\x00n\x00d\x00\r\x00\n\x00\xe9\x00x\x00", pattern: "^end$|x", want: []string{"1:1:end", "2:3:éx"}},
		{name: "UTF-16BE", content: "\xfe\xff\x00e\x00n\x00d\x00\r\x00\n\x00\xe9\x00x", pattern: "^end$|x", want: []string{"1:1:end", "2:3:éx"}},
		{name: "UTF-16 across lines", content: "\xff\xfee\x00\r\x00\n\x00d\x00", pattern: "e\nd", o: multiline, want: []string{"1:1:e", "2:1:d"}},
		{name: "UTF-16 without a mark", content: "e\x00n\x00d\x00\n\x00", pattern: "end", reason: ambit.ErrNotText},
		{name: "UTF-16 with half a character", content: "\xff\xfee\x00n\x00d\x00\n\x00x", pattern: "end", reason: ambit.ErrNotText},
		{name: "UTF-16 with a stray surrogate", content: "\xff\xfee\x00\n\x00" + strings.Repeat("x\x00\n\x00", 9000) + "\x00\xdce\x00", pattern: "e", want: []string{"1:1:e"}, reason: ambit.ErrNotText},

		// Matches across lines.
		{name: "several lines", content: "a\nb\nc\nd\n", pattern: "b\nc\n", o: multiline, want: []string{"2:1:b", "3:1:c"}},
		{name: "a line feed alone", content: "a\nb", pattern: "\n", o: multiline, want: []string{"1:2:a"}},
		{name: "begins at a line feed", content: "ab\ncd\n", pattern: "\nc", o: multiline, want: []string{"1:3:ab", "2:1:cd"}},
		{name: "behind the end", content: "a\n", pattern: `\z`, o: multiline},
		{name: "at the end", content: "a", pattern: `\z`, o: multiline, want: []string{"1:2:a"}},
		{name: "an unbounded context", content: "1\n2\n3\n", pattern: "2", q: Query{Before: math.MaxInt, After: math.MaxInt}, want: []string{"1-1", "2:1:2", "3-3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := grepString(t, test.content, test.pattern, test.o, test.q)
			if !slices.Equal(shown(got), test.want) || got.Reason != test.reason || got.Result.More != test.more {
				t.Errorf("%.100q, %+v, want %.100q, %q, more %v", shown(got), got, test.want, test.reason, test.more)
			}
		})
	}
}

// TestClip: a cut ends before a character that does not fit, and the next line is
// whole.
func TestClip(t *testing.T) {
	for _, most := range []int{1, 2, 5, 64, 4096, 65536} {
		for _, character := range []string{"\u00e9", "\u3042", "\U0001f600"} {
			for shift := -4; shift <= 4; shift++ {
				n := most - 1 + shift
				if n < 1 {
					continue
				}
				content := strings.Repeat("a", n) + character + "tail\nnext\n"
				for _, pattern := range []string{"^a", "tail", character, "a.*tail", "^"} {
					got := grepString(t, content, pattern, match.Options{}, Query{MaxLineBytes: most, After: 1})
					m, next := got.Matches[0], got.Matches[1]
					if next.Text != "next"[:min(4, most)] || next.Line != 2 || next.Context != (pattern != "^") {
						t.Fatalf("most %d, %d letters before %q: line 2 is %+v", most, n, character, next)
					}
					whole := strings.TrimSuffix(content, "\nnext\n")
					if !m.Clipped || len(m.Text) > most || len(m.Text) < most-3 || !utf8.ValidString(m.Text) || !strings.Contains(whole, m.Text) {
						t.Fatalf("most %d, %q behind %d letters: %+v", most, pattern, n, m)
					}
					switch pattern {
					case "^a", "^":
						want := strings.Repeat("a", min(n, most))
						if n+len(character) <= most {
							want += character
						}
						want += "tail"[:max(0, min(4, most-n-len(character)))]
						if m.Text != want || m.Column != 1 {
							t.Fatalf("most %d, %d letters before %q: %q, want %q", most, n, character, m.Text, want)
						}
					case "tail", character:
						found := len(pattern) <= most
						if got := strings.Contains(m.Text, pattern); got != found || found && (len(m.Spans) != 1 || m.Text[m.Spans[0][0]:m.Spans[0][1]] != pattern) {
							t.Fatalf("most %d: %q is not in view: %+v", most, pattern, m)
						}
						if m.Column != strings.Index(whole, pattern)+1 {
							t.Fatalf("column %d of %q in %q", m.Column, pattern, whole)
						}
					case "a.*tail":
						if len(m.Spans) != 1 || m.Spans[0] != [2]int{0, len(m.Text)} {
							t.Fatalf("most %d, a match that is longer: %+v", most, m)
						}
					}
				}
			}
		}
	}
	// A line that just fits is whole.
	if m := grepString(t, "12345\r\n", "5", match.Options{}, Query{MaxLineBytes: 5}).Matches[0]; m.Clipped || m.Text != "12345" {
		t.Errorf("%+v is cut", m)
	}
	// The other matches in view are told, as far as they are in it.
	m := grepString(t, "ab ab ab ab ab ab", "ab", match.Options{}, Query{MaxLineBytes: 7}).Matches[0]
	if want := (ambit.GrepMatch{Path: "dir/file", Line: 1, Column: 1, Text: "ab ab a", Spans: [][2]int{{0, 2}, {3, 5}, {6, 7}}, Clipped: true}); difference(want, m) != "" {
		t.Error(difference(want, m))
	}
}

// TestManySpans: a line of very many matches does not take all memory.
func TestManySpans(t *testing.T) {
	for _, multiline := range []bool{false, true} {
		for _, most := range []int{0, 10} {
			got := grepString(t, strings.Repeat("a", 2*maxSpans)+"\na\n", "a", match.Options{Multiline: multiline}, Query{MaxLineBytes: most})
			want := maxSpans
			if most > 0 {
				want = most
			}
			if len(got.Matches) != 2 || len(got.Matches[0].Spans) != want || len(got.Matches[1].Spans) != 1 {
				t.Errorf("multiline %v, most %d: %d lines, %d spans, want 2 and %d", multiline, most, len(got.Matches), len(got.Matches[0].Spans), want)
			}
		}
	}
}

// TestLimitOfTexts: more than 64 MiB are not matched across lines.
func TestLimitOfTexts(t *testing.T) {
	s := New(Query{Pattern: compile(t, "ab", match.Options{Multiline: true}), Multiline: true})
	s.limits.text = 1 << 20
	for _, mark := range []string{"", "\ufeff"} {
		for _, over := range []int{-1, 0, 1, 1 << 20} {
			content := mark + "ab\n" + strings.Repeat("x", s.limits.text+over-3)
			for _, size := range []int64{-1, int64(len(content)), 1} {
				if size == 1 {
					size = int64(len(content)) / 2
				}
				got, err := search(s, strings.NewReader(content), size)
				if tooLarge := over > 0; (got.Reason == ambit.ErrTooLarge) != tooLarge || (got.Result.Lines == 0) != tooLarge {
					t.Errorf("%d bytes too many, size %d: %v, %d lines", over, size, err, got.Result.Lines)
				}
			}
		}
	}
	// A binary file is that first.
	if got, err := search(s, strings.NewReader("\x7fELF\x00"), 1<<40); got.Reason != ambit.ErrNotText {
		t.Error(err)
	}
}

// TestAgainstGrep compares with GNU grep.
func TestAgainstGrep(t *testing.T) {
	version, err := exec.CommandContext(t.Context(), "grep", "--version").Output()
	if err != nil || !bytes.Contains(version, []byte("GNU grep")) {
		t.Logf("not compared: there is no GNU grep here: %v", err)
		return
	}
	contents := []string{
		"a\nb\nc\nd\ne\nf\ng\nh\na\nb\n", "a\n\nb\n\n\nab\n", "ab", "", "\n", "\n\na", strings.Repeat("a\nx\ny\nz\nb\n", 50),
		strings.Repeat("x\n", 20_000) + "ab\n" + strings.Repeat("y\n", 20_000) + "ab\nq", strings.Repeat("long ", 50_000) + "ab\nab\n",
	}
	for _, content := range contents {
		for _, pattern := range []string{"a", "^$", "b$", "ab", "[ac]", "zz"} {
			for _, q := range []Query{
				{},
				{Before: 1},
				{After: 1},
				{Before: 2, After: 3},
				{Before: 100_000, After: 100_000},
				{Limit: 1},
				{Limit: 2, After: 2},
				{Limit: 1, Before: 2, After: 2},
				{Mode: ambit.GrepCount},
				{Mode: ambit.GrepFiles},
			} {
				arguments := []string{"-nE", "-B", strconv.Itoa(q.Before), "-A", strconv.Itoa(q.After)}
				if q.Limit > 0 {
					arguments = append(arguments, "-m", strconv.Itoa(q.Limit))
				}
				switch q.Mode {
				case ambit.GrepCount:
					arguments = append(arguments, "-c")
				case ambit.GrepFiles:
					arguments = append(arguments, "-l")
				}
				command := exec.CommandContext(t.Context(), "grep", append(arguments, "--no-group-separator", "-e", pattern)...)
				command.Env = []string{"LC_ALL=C"}
				command.Stdin = strings.NewReader(content)
				output, err := command.Output()
				if err != nil && command.ProcessState.ExitCode() != 1 {
					t.Fatalf("grep: %v", err)
				}
				got := grepString(t, content, pattern, match.Options{}, q)
				var b strings.Builder
				for _, m := range got.Matches {
					switch {
					case q.Mode == ambit.GrepCount:
						fmt.Fprintln(&b, m.Count)
					case q.Mode == ambit.GrepFiles:
						fmt.Fprintln(&b, "(standard input)")
					case m.Context:
						fmt.Fprintf(&b, "%d-%s\n", m.Line, m.Text)
					default:
						fmt.Fprintf(&b, "%d:%s\n", m.Line, m.Text)
					}
				}
				if q.Mode == ambit.GrepCount && got.Result.Lines == 0 {
					b.WriteString("0\n") // there is no count for a file without a match
				}
				if got, want := b.String(), string(output); got != want {
					t.Errorf("%q in %.40q, %v:\n%.300s\ngrep:\n%.300s", pattern, content, arguments, got, want)
				}
			}
		}
	}
}
