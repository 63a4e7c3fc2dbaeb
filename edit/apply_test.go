// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
)

func lineRange(start, end int) lineaddr.Range { return lineaddr.Range{Start: start, End: end} }

func replace(old, text string) []edit.Op { return []edit.Op{edit.Replace{Old: old, New: text}} }

func rewrite(start, end int, text string) []edit.Op {
	return []edit.Op{edit.Rewrite{Range: lineRange(start, end), Text: text}}
}

// TestApply: what is changed, byte for byte.
func TestApply(t *testing.T) {
	long := strings.Repeat("a", 70_000)
	for _, test := range []struct {
		name, before string
		ops          []edit.Op
		want         string
	}{
		{"lone CR is content", "p 10%\rp 50%\rdone\nnext\n", replace("next", "NEXT"), "p 10%\rp 50%\rdone\nNEXT\n"},
		{"LF of Old meets CRLF", "foo()\r\nbar()\r\nend\r\n", replace("foo()\nbar()", "foo()\nbaz()"), "foo()\r\nbaz()\r\nend\r\n"},
		{"one line of CRLF", "foo()\r\nbar()\r\nend\r\n", replace("bar", "qux"), "foo()\r\nqux()\r\nend\r\n"},
		{"more lines in CRLF", "a\r\nb\r\n", replace("a", "a\nx"), "a\r\nx\r\nb\r\n"},
		{"Old that says CRLF is literal", "a\r\nb\r\n", replace("a\r\n", "a\n"), "a\nb\r\n"},
		{"New that says CRLF", "a\nb\n", replace("a", "x\r\ny"), "x\r\ny\nb\n"},
		{"mixed endings stay", "a\r\nb\nc\r\nd\n", replace("a\nb\nc", "a\nX\nc"), "a\r\nX\nc\r\nd\n"},
		{"an ending is one", "a\r\nb", replace("\n", "|"), "a|b"},
		{"Old that ends in a CR", "x\ny\r\n", replace("x\ny\r", "z"), "z\n"},
		{"nothing behind is taken", "HOST=h.test/old\nN=3\n", replace("/old", ""), "HOST=h.test\nN=3\n"},
		{"all from the left", "aaaaa", []edit.Op{edit.Replace{Old: "aa", New: "b", All: true}}, "bba"},
		{"second of three", "x x x", []edit.Op{edit.Replace{Old: "x", New: "y", Occurrence: 2}}, "x y x"},
		{"occurrence far behind", strings.Repeat("x\n", 100), []edit.Op{edit.Replace{Old: "x", New: "y", Occurrence: 77}}, strings.Repeat("x\n", 76) + "y\n" + strings.Repeat("x\n", 23)},
		{"several ops see one text", "a b\n", []edit.Op{edit.Replace{Old: "a", New: "b"}, edit.Replace{Old: "b", New: "a"}}, "b a\n"},
		{"adjacent", "ab", []edit.Op{edit.Replace{Old: "b", New: "B"}, edit.Replace{Old: "a", New: "A"}}, "AB"},
		{"a file is emptied", "abc\n", rewrite(1, 1, ""), ""},
		{"two lines are removed", "a\nb\n", rewrite(1, 2, ""), ""},
		{"ending is added", "one\ntwo\nthree\n", rewrite(2, 2, "TWO"), "one\nTWO\nthree\n"},
		{"ending is not doubled", "one\ntwo\n", rewrite(2, 2, "NEW\n"), "one\nNEW\n"},
		{"final newline stays lacking", "one\ntwo", rewrite(2, 2, "TWO"), "one\nTWO"},
		{"final newline stays lacking, given one", "one\ntwo", rewrite(2, 2, "TWO\n"), "one\nTWO"},
		{"last line goes", "one\ntwo", rewrite(2, 2, ""), "one"},
		{"empty last line stays one", "one\n\ntwo", rewrite(3, 3, ""), "one\n\n"},
		{"CRLF is kept", "one\r\ntwo\r\n", rewrite(1, 1, "ONE"), "ONE\r\ntwo\r\n"},
		{"inner lines take CRLF", "one\r\ntwo\r\n", rewrite(1, 1, "A\nB"), "A\r\nB\r\ntwo\r\n"},
		{"whole of an empty file", "", rewrite(1, 0, "x"), "x"},
		{"in front", "a\n", []edit.Op{edit.Insert{After: 0, Text: "x"}}, "x\na\n"},
		{"behind", "a", []edit.Op{edit.Insert{After: 1, Text: "x"}}, "a\nx"},
		{"into nothing", "", []edit.Op{edit.Insert{After: 0, Text: "x\n"}}, "x\n"},
		{"a line into nothing", "", []edit.Op{edit.Insert{After: 0, Text: "x"}}, "x\n"},
		{"two at one place, in order", "a\nb\n", []edit.Op{edit.Insert{After: 1, Text: "1"}, edit.Insert{After: 1, Text: "2"}}, "a\n1\n2\nb\n"},
		{"rewritten and inserted behind", "a\nb", []edit.Op{edit.Insert{After: 2, Text: "c"}, edit.Rewrite{Range: lineRange(2, 2), Text: "B"}}, "a\nB\nc"},
		{"both of the last lines go", "a\nb", []edit.Op{edit.Rewrite{Range: lineRange(1, 1)}, edit.Rewrite{Range: lineRange(2, 2)}}, ""},
		{"BOM stays", bom + "hello\n中文\n", replace("hello", "hello2"), bom + "hello2\n中文\n"},
		{"BOM stays by lines", bom + "hello\n", rewrite(1, 1, "hi"), bom + "hi\n"},
		{"no second BOM", bom + "hello\n", rewrite(1, 1, bom+"hi"), bom + "hi\n"},
		{"BOM in Old", bom + "hello\n", replace(bom+"hello", bom+"hi"), bom + "hi\n"},
		{"BOM in Old alone", bom + "hello\n", replace(bom+"hello", "hi"), bom + "hi\n"},
		{"a second BOM is text", bom + bom + "x\n", replace(bom+"x", bom+"y"), bom + bom + "y\n"},
		{"line 1 goes, BOM stays", bom + "a\nb\n", rewrite(1, 1, ""), bom + "b\n"},
		{"UTF-8 beside stray bytes", "\u00e4\xff\n", replace("\u00e4", "\u00f6"), "\u00f6\xff\n"},
		{"stray bytes stay", "n = 1;\n# stra\xdfe\n\xd6\xd0\xce\xc4\n\xe4\xb8", replace("n = 1", "n = 2"), "n = 2;\n# stra\xdfe\n\xd6\xd0\xce\xc4\n\xe4\xb8"},
		{"UTF-16", "\xff\xfea\x00\n\x00b\x00", replace("b", "é"), "\xff\xfea\x00\n\x00\xe9\x00"},
		{"quotes are not folded", "don\u2019t\n", replace("don\u2019t", "don't"), "don't\n"},
		{"NUL", "a\x00b", replace("\x00", "\x01"), "a\x01b"},
		{"long line", long + "\nTARGET\n", replace("TARGET", "x"), long + "\nx\n"},
		{"pointers", "a\nb\n", []edit.Op{&edit.Replace{Old: "a", New: "x"}, &edit.Rewrite{Range: lineRange(2, 2), Text: "y"}, &edit.Insert{After: 2, Text: "z"}}, "x\ny\nz\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := edit.Apply([]byte(test.before), test.ops, nil)
			if err != nil || string(r.Content) != test.want {
				t.Errorf("%.100q, %v; want %.100q", r.Content, err, test.want)
			}
		})
	}
}

// TestLiteral: nothing in New has a meaning.
func TestLiteral(t *testing.T) {
	for _, text := range []string{"$$5", "$&", "$'", "$`", "$1", "${name}", `\1`, "%s", "&", `print('hello\nworld')`, `\title{x}`, `'\0'`, `'\''`, "a\\\nb"} {
		for _, ops := range [][]edit.Op{replace("@P@", text), {edit.Replace{Old: "@P@", New: text, All: true}}, rewrite(1, 1, "cost: "+text)} {
			r, err := edit.Apply([]byte("cost: @P@\n"), ops, nil)
			if want := "cost: " + text + "\n"; err != nil || string(r.Content) != want {
				t.Errorf("%+v: %q, %v; want %q", ops, r.Content, err, want)
			}
		}
	}
}

// TestRefused: reasons and facts.
func TestRefused(t *testing.T) {
	five := "begin\n  p 1\n  q 2\n  r 3\nend\n"
	for _, test := range []struct {
		name, before string
		ops          []edit.Op
		o            *edit.Options
		reason       ambit.Reason
		lines        []int
		total        int
		detail       string // part of it
	}{
		{"no ops", "a", nil, nil, ambit.ErrInvalid, nil, 0, "no edit"},
		{"nil op", "a", []edit.Op{nil}, nil, ambit.ErrInvalid, nil, 0, "nil"},
		{"nil pointer", "a", []edit.Op{edit.Insert{Text: "x"}, (*edit.Replace)(nil)}, nil, ambit.ErrInvalid, nil, 0, "edit 2 of 2: the edit is nil"},
		{"empty Old", "abc", replace("", "X"), nil, ambit.ErrInvalid, nil, 0, "empty"},
		{"empty Old, empty file", "", replace("", "X"), nil, ambit.ErrInvalid, nil, 0, "empty"},
		{"no change", "abc", replace("b", "b"), nil, ambit.ErrInvalid, nil, 0, "same"},
		{"All and Occurrence", "abc", []edit.Op{edit.Replace{Old: "b", New: "c", All: true, Occurrence: 1}}, nil, ambit.ErrInvalid, nil, 0, "exclude"},
		{"Occurrence -1", "abc", []edit.Op{edit.Replace{Old: "b", New: "c", Occurrence: -1}}, nil, ambit.ErrInvalid, nil, 0, "-1"},
		{"line 0", "abc", rewrite(0, 1, ""), nil, ambit.ErrInvalid, nil, 0, ""},
		{"lines backwards", "abc", rewrite(2, 1, ""), nil, ambit.ErrInvalid, nil, 0, ""},
		{"After -1", "abc", []edit.Op{edit.Insert{After: -1, Text: "x"}}, nil, ambit.ErrInvalid, nil, 0, "-1"},
		{"nothing to insert", "abc", []edit.Op{edit.Insert{}}, nil, ambit.ErrInvalid, nil, 0, "no text"},
		{"Match 7", "abc", replace("b", "c"), &edit.Options{Match: 7}, ambit.ErrInvalid, nil, 0, "7"},
		{"Tolerant and All", "abc", []edit.Op{edit.Replace{Old: "b", New: "c", All: true}}, &edit.Options{Match: edit.Tolerant}, ambit.ErrInvalid, nil, 0, "Tolerant"},

		{"twice", "k\nmid k end\n", replace("k", ""), nil, ambit.ErrAmbiguous, []int{1, 2}, 2, ""},
		{"overlapping places count", "aaa", replace("aa", "b"), nil, ambit.ErrAmbiguous, []int{1, 1}, 2, ""},
		{"very often", strings.Repeat("x\n", 1000), replace("x", "y"), nil, ambit.ErrAmbiguous, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 1000, ""},
		{"occurrence 3 of 2", "a\na\n", []edit.Op{edit.Replace{Old: "a", New: "b", Occurrence: 3}}, nil, ambit.ErrNoMatch, []int{1, 2}, 0, "2 times"},
		{"occurrence MaxInt", "a\na\n", []edit.Op{edit.Replace{Old: "a", New: "b", Occurrence: math.MaxInt}}, nil, ambit.ErrNoMatch, []int{1, 2}, 0, "2 times"},
		{"second of two is missing", "a\n", []edit.Op{edit.Replace{Old: "a", New: "b"}, edit.Replace{Old: "nope", New: "y"}}, nil, ambit.ErrNoMatch, nil, 0, "edit 2 of 2"},
		{"overlap", "abc", []edit.Op{edit.Replace{Old: "ab", New: "x"}, edit.Replace{Old: "bc", New: "y"}}, nil, ambit.ErrInvalid, []int{1, 1}, 0, "edits 1 and 2"},
		{"overlap of kinds", "a\nb\nc\n", []edit.Op{edit.Rewrite{Range: lineRange(1, 2), Text: "x"}, edit.Insert{After: 1, Text: "y"}}, nil, ambit.ErrInvalid, []int{1, 2}, 0, "edits 1 and 2"},
		{"twice the same", "abc", slices.Concat(replace("b", "x"), replace("b", "y")), nil, ambit.ErrInvalid, []int{1, 1}, 0, ""},

		{"line 4 of 3", "a\nb\nc\n", rewrite(4, 4, "x"), nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"to line 4 of 3", "a\nb\nc\n", rewrite(3, 4, "x"), nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"to line MaxInt", "a\nb\nc", rewrite(3, math.MaxInt, "x"), nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"line MaxInt", "a\nb\nc", rewrite(math.MaxInt, 0, "x"), nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"behind line 4 of 3", "a\nb\nc", []edit.Op{edit.Insert{After: 4, Text: "x"}}, nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"behind line MaxInt", "a\nb\nc", []edit.Op{edit.Insert{After: math.MaxInt, Text: "x"}}, nil, ambit.ErrOutOfRange, nil, 3, ""},
		{"line 1 of none", "", rewrite(1, 1, "x"), nil, ambit.ErrOutOfRange, nil, 0, ""},

		{"white space", "\tfoo()\n", replace("    foo()", "bar"), nil, ambit.ErrNoMatch, []int{1}, 0, `line 1 differs only in white space: "\tfoo()"`},
		{"at the end of a line", "x\nfoo  \nbar\n", replace("foo\nbar", "x"), nil, ambit.ErrNoMatch, []int{2}, 0, "white space at the ends of lines"},
		{"case", "x\nFoo\n", replace("foo", "bar"), nil, ambit.ErrNoMatch, []int{2}, 0, "differs only in case"},
		{"quotes", "She said, \u201cHello.\u201d\n", replace(`said, "Hello."`, `said, "Hi."`), nil, ambit.ErrNoMatch, []int{1}, 0, "typographic"},
		{"quotes and case", "SAID \u201cHello.\u201d\n", replace(`said "Hello."`, `x`), nil, ambit.ErrNoMatch, []int{1}, 0, "typographic quotes, dashes or spaces and case"},
		{"endings", "a\nb\n", replace("a\r\nb", "x"), nil, ambit.ErrNoMatch, []int{1}, 0, "line endings"},
		{"look-alikes", "MAX\u00a0N = 3; // \uff08\uff13\u56de\uff09\uff71 \u2014\n", replace("MAX N = 3", "MAX_N = 5"), nil, ambit.ErrNoMatch, []int{1}, 0, "typographic"},
		{"another middle", five, replace("begin\n  p 1\n  q 7\n  r 3\nend", "begin\nend"), nil, ambit.ErrNoMatch, []int{3}, 0, `line 3 "  q 2", where the search text has "  q 7"`},
		{"New is there", "x = 2\n", replace("y := 1", "x = 2"), nil, ambit.ErrNoMatch, nil, 0, "the new text is there already, in line 1"},
		{"nothing like it", "aaaa\n", replace("zzzz", "y"), nil, ambit.ErrNoMatch, nil, 0, "nothing in the file is like it"},
		{"a blank line between", "foo(1)\n\nend\n", replace("foo(1)\nend", "x"), nil, ambit.ErrNoMatch, []int{1}, 0, `only in white space: the nearest text has in line 2 "", where the search text has "end"`},
		{"a part of a line", "x\nthey say gamma rays are harmful to your health\n", replace("Gama rays", "x"), nil, ambit.ErrNoMatch, []int{2}, 0, "they say gamma"},
		{"both are wrong", "foo\nb\nb\n", append(replace("FOO", "x"), replace("b", "y")...), nil, ambit.ErrNoMatch, []int{1}, 0, "edit 1 of 2: line 1 differs only in case: \"foo\"; edit 2 of 2: ambiguous in lines [2 3]"},
		{"another encoding", "stra\xdfe\n", replace("stra", "Große Stra"), nil, ambit.ErrNotText, nil, 0, "say by Encoding which"},
		{"another encoding, by line", "stra\xdfe\n", rewrite(1, 1, "ä"), nil, ambit.ErrNotText, nil, 0, "say by Encoding which"},
		{"binary", "\x00\x01\x02\x03\x00\x00\xff\xfe\x00", replace("zzzz", "y"), nil, ambit.ErrNoMatch, nil, 0, "does not look like text"},
		{"not the encoding", "a\xff\n", replace("a", "b"), &edit.Options{Encoding: charset.UTF8}, ambit.ErrNotText, nil, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := edit.Apply([]byte(test.before), test.ops, test.o)
			var e *ambit.Error
			if !errors.As(err, &e) {
				t.Fatalf("%q, %v; want %s", r.Content, err, test.reason)
			}
			if e.Reason != test.reason || !gocmp.Equal(e.Lines, test.lines) || e.Total != test.total || !strings.Contains(e.Detail, test.detail) {
				t.Errorf("%s, lines %v, total %d: %q\nwant %s, lines %v, total %d: %q", e.Reason, e.Lines, e.Total, e.Detail, test.reason, test.lines, test.total, test.detail)
			}
			if !gocmp.Equal(r, edit.Result{}) {
				t.Errorf("beside the error there is a result: %+v", r)
			}
		})
	}
}

// TestNewIsThere: that New is there already is said of a text of its own.
func TestNewIsThere(t *testing.T) {
	for content, want := range map[string]bool{"barrier\n": false, "a barr\n": true, "a(barr)\n": true, "barr": true, "rebarr\n": false, "barrier barr\n": true} {
		_, err := edit.Apply([]byte(content), replace("quux(2)", "barr"), nil)
		if got := strings.Contains(fmt.Sprint(err), "there already"); got != want {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := edit.Apply([]byte("x = 1\n"), replace("quux(2)", "x"), nil); strings.Contains(fmt.Sprint(err), "there already") {
		t.Errorf("a single letter: %v", err)
	}
}

// TestTolerant: what it folds, and what it does not.
func TestTolerant(t *testing.T) {
	tolerant := &edit.Options{Match: edit.Tolerant}
	for _, test := range []struct {
		name, before, old, text, want string // want "": refused
	}{
		{"exact", "a 'b'\n", "'b'", "c", "a c\n"},
		{"exact before tolerant", "don't\ndon\u2019t\n", "don't", "x", "x\ndon\u2019t\n"},
		{"quotes", "x\nSay \u201chi\u201d now\n", `"hi"`, "ho", "x\nSay ho now\n"},
		{"dash and space", "a\u00a0\u2014 b\n", "a - b", "c", "c\n"},
		{"trailing blanks", "if x {  \n\ty()\t\n}\n", "if x {\n\ty()\n}", "z", "z\n"},
		{"trailing blanks of Old", "if x {\ny()\n", "if x { \ny()  ", "z", "z\n"},
		{"trailing blanks of both", "foo \n", "foo  ", "z", "z\n"},
		{"Old ends in blanks, the line goes on", "foobar\n", "foo  ", "z", ""},
		{"CRLF", "a \r\nb\r\n", "a\nb", "c\nd", "c\r\nd\r\n"},
		{"indentation is not folded", "\tfoo\n", "    foo", "x", ""},
		{"case is not folded", "Foo\n", "foo", "x", ""},
		{"twice", "\u2018a\u2019 \u201ba\u2019", "'a'", "x", ""},
		{"nothing but blanks", "a\u00a0b", "  ", "x", ""},
		{"rest of the line stays", "MAX\u00a0N = 3; // \uff08\uff13\u56de\uff09\uff71 \u2014\n", "MAX N = 3", "MAX_N = 5", "MAX_N = 5; // \uff08\uff13\u56de\uff09\uff71 \u2014\n"},
		{"stray bytes stay", "\xff\u2019\xff\n", "'", "\"", "\xff\"\xff\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := edit.Apply([]byte(test.before), replace(test.old, test.text), tolerant)
			if test.want == "" {
				if reason := ambit.ReasonOf(err); reason != ambit.ErrNoMatch && reason != ambit.ErrAmbiguous {
					t.Errorf("%q, %v; want a refusal", r.Content, err)
				}
				return
			}
			if err != nil || string(r.Content) != test.want {
				t.Fatalf("%q, %v; want %q", r.Content, err, test.want)
			}
			if exact := strings.Contains(test.before, test.old); r.Edits[0].Tolerant == exact {
				t.Errorf("Tolerant is %v", r.Edits[0].Tolerant)
			}
			for _, window := range []int{1, 16} {
				if streamed, err := edit.Stream([]byte(test.before), replace(test.old, test.text), tolerant, window); err != nil || string(streamed.Content) != test.want {
					t.Errorf("by %d bytes: %q, %v", window, streamed.Content, err)
				}
			}
		})
	}
}

// TestEdits: the lines of each edit, before and after.
func TestEdits(t *testing.T) {
	for _, test := range []struct {
		before string
		ops    []edit.Op
		want   string
	}{
		{"a\nb\nc\n", replace("b", "x\ny"), "2+1 → 2+2"},
		{"a\nb\nc\n", replace("b\n", ""), "2+1 → 2+0"},
		{"a\nb\nc\n", replace("b\n", "x"), "2+2 → 2+1"},
		{"a\nb\nc\n", replace("\nb", ""), "1+2 → 1+1"},
		{"a\nb\nc", replace("\nc", ""), "2+2 → 2+1"},
		{"a\nb\nc", replace("c", ""), "3+1 → 3+0"},
		{"a\n", []edit.Op{edit.Replace{Old: "a", New: "b\n", All: true}}, "1+1 → 1+2"},
		{"a\na\n", []edit.Op{edit.Replace{Old: "a", New: "b\nc", All: true}}, "1+1 → 1+2, 2+1 → 3+2"},
		{"a\nb\n", rewrite(1, 2, ""), "1+2 → 1+0"},
		{"a\nb\n", rewrite(2, 0, "x\ny\nz"), "2+1 → 2+3"},
		{"a\nb", []edit.Op{edit.Insert{After: 2, Text: "c"}, edit.Insert{After: 0, Text: "0\n0"}}, "1+0 → 1+2, 3+0 → 5+1"},
	} {
		r, err := edit.Apply([]byte(test.before), test.ops, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range r.Edits {
			all = append(all, fmt.Sprintf("%d+%d → %d+%d", e.Before.First, e.Before.Count, e.After.First, e.After.Count))
		}
		if got := strings.Join(all, ", "); got != test.want {
			t.Errorf("%q, %+v: lines %s, want %s", test.before, test.ops, got, test.want)
		}
	}
}

// TestOwnText: lines rewritten by their own text are the same, whatever endings
// they have.
func TestOwnText(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		content := randomText(r, alphabets[r.IntN(len(alphabets))], 20)
		if content != "" && r.IntN(4) == 0 {
			content = bom + content
		}
		total, err := lineaddr.Count(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		rng := lineRange(1, 0)
		if total > 0 {
			rng.Start = 1 + r.IntN(total)
			rng.End = rng.Start + r.IntN(total-rng.Start+1)
		}
		w, err := lineaddr.Slice(strings.NewReader(content), rng)
		if err != nil {
			t.Fatal(err)
		}
		got, err := edit.Apply([]byte(content), []edit.Op{edit.Rewrite{Range: rng, Text: string(w.Text)}}, nil)
		if err != nil || string(got.Content) != content || got.Diff != "" {
			t.Fatalf("lines %v of %q rewritten by %q: %q, %v", rng, content, w.Text, got.Content, err)
		}
	}
}

// TestLikeSplice: lines are rewritten and inserted as package lineaddr does it, but
// for inner newlines that take the endings of the place.
func TestLikeSplice(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 10_000 {
		content := randomText(r, "a\n", 8)
		if r.IntN(4) == 0 {
			content = bom + content
		}
		rng := lineRange(1+r.IntN(4), 0)
		if r.IntN(3) > 0 {
			rng.End = rng.Start + r.IntN(3)
		}
		text := randomText(r, "b\n\r", 5)
		want, wantErr := lineaddr.Splice([]byte(content), rng, []byte(text))
		got, err := edit.Apply([]byte(content), []edit.Op{edit.Rewrite{Range: rng, Text: text}}, nil)
		if ambit.ReasonOf(err) != ambit.ReasonOf(wantErr) || string(got.Content) != string(want) {
			t.Fatalf("lines %v of %q rewritten by %q: %q, %v; Splice: %q, %v", rng, content, text, got.Content, err, want, wantErr)
		}
		if text == "" {
			continue
		}
		after := r.IntN(5)
		want, wantErr = lineaddr.Insert([]byte(content), after, []byte(text))
		got, err = edit.Apply([]byte(content), []edit.Op{edit.Insert{After: after, Text: text}}, nil)
		if ambit.ReasonOf(err) != ambit.ReasonOf(wantErr) || string(got.Content) != string(want) {
			t.Fatalf("%q inserted behind line %d of %q: %q, %v; lineaddr: %q, %v", text, after, content, got.Content, err, want, wantErr)
		}
	}
}

// TestInverse: an edit and its inverse restore the content.
func TestInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	done := 0
	for range 20_000 {
		content := randomText(r, "abcdefgh\n\r", 60)
		if len(content) < 3 {
			continue
		}
		start := r.IntN(len(content) - 2)
		old := content[start : start+1+r.IntN(len(content)-start-1)]
		text := strings.ReplaceAll(randomText(r, "xyz", 5), "\n", "") + "X"
		there, err := edit.Apply([]byte(content), replace(old, text), nil)
		if err != nil || strings.Contains(old, "\n") { // the ending of the place decides what comes back
			continue
		}
		back, err := edit.Apply(there.Content, replace(text, old), nil)
		if err != nil || string(back.Content) != content {
			t.Fatalf("%q: %q → %q and back: %q, %v", content, old, text, back.Content, err)
		}
		done++
	}
	if done < 1000 {
		t.Errorf("only %d edits were made", done)
	}
}

// TestHostileSearch: texts that make a search slow which begins anew at each
// byte.
func TestHostileSearch(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size /= 4
	}
	content := strings.Repeat("a", size)
	half := strings.Repeat("a", size/2)
	if _, err := edit.Apply([]byte(content), replace(half, "b"), nil); ambit.ReasonOf(err) != ambit.ErrAmbiguous {
		t.Errorf("%v, want ambiguous", err)
	}
	if _, err := edit.Apply([]byte(content), replace(half+"b", "b"), nil); ambit.ReasonOf(err) != ambit.ErrNoMatch {
		t.Errorf("%v, want no-match", err)
	}
	lines := strings.Repeat("a\n", size/4)
	if _, err := edit.Apply([]byte(lines), replace(lines[:size/4]+"b", "b"), nil); ambit.ReasonOf(err) != ambit.ErrNoMatch {
		t.Errorf("%v, want no-match", err)
	}
	var ops []edit.Op
	for i := range 100 {
		ops = append(ops, edit.Replace{Old: strings.Repeat("a", 1000+i) + "b", New: "c"})
	}
	if _, err := edit.Apply([]byte(content), ops, nil); ambit.ReasonOf(err) != ambit.ErrNoMatch {
		t.Errorf("%v, want no-match", err)
	}
}
