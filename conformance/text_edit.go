// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
)

// An editCase is what becomes of a file that is edited.
type editCase struct {
	old  string
	ops  []edit.Op
	want string
	// reason is set where the edit is refused.
	reason ambit.Reason
	o      *edit.Options
	// check looks at what else came back.
	check func(p *probe, outcome edit.Outcome, refusal *ambit.Error)
}

// editCheck is a check of edits, each of a file of its own.
func editCheck(id, rule string, cases ...editCase) *check {
	var contents []string
	for _, c := range cases {
		contents = append(contents, c.old)
	}
	return &check{
		id: id, rule: rule, requires: needsEdit, tree: textTree(contents...),
		run: func(p *probe) {
			var paths []string
			var tried []editCase
			for i, c := range cases {
				if p.fits(c.old, c.want) {
					paths, tried = append(paths, textPath(i)), append(tried, c)
				}
			}
			if len(tried) == 0 {
				p.cannotHold(tooSmall)
			}
			p.rows(paths, func(p *probe, i int) {
				c := tried[i]
				var outcome edit.Outcome
				var refusal *ambit.Error
				if c.reason == "" {
					outcome = p.edits(paths[i], c.want, c.o, c.ops...)
				} else {
					refusal = p.editRefused(paths[i], c.o, []ambit.Reason{c.reason}, c.ops...)
				}
				if c.check != nil {
					c.check(p, outcome, refusal)
				}
			})
		},
	}
}

func ops(list ...edit.Op) []edit.Op { return list }

// replaced is the Replace of one text.
func replaced(old, with string) []edit.Op { return ops(edit.Replace{Old: old, New: with}) }

// rewritten is the Rewrite of lines.
func rewritten(first, last int, text string) []edit.Op {
	return ops(edit.Rewrite{Range: lines(first, last), Text: text})
}

// detailed checks that an error says in words what is meant.
func detailed(word string) func(*probe, edit.Outcome, *ambit.Error) {
	return func(p *probe, _ edit.Outcome, e *ambit.Error) {
		if !strings.Contains(e.Detail, word) {
			p.errorf("the refusal does not tell of %q: %v", word, e)
		}
	}
}

// found checks the places that a refusal tells.
func found(total int, at ...int) func(*probe, edit.Outcome, *ambit.Error) {
	return func(p *probe, _ edit.Outcome, e *ambit.Error) {
		if e.Total != total || fmt.Sprint(e.Lines) != fmt.Sprint(at) {
			p.errorf("the refusal tells of %d places in the lines %v, want %d in %v", e.Total, e.Lines, total, at)
		}
	}
}

// editChecks: what an edit makes of the content of a file.
func editChecks() []*check {
	const (
		three = "one\ntwo\nthree\n"
		five  = "begin\n  p 1\n  q 2\n  r 3\nend\n"
	)
	var literal, rewriteLiteral []editCase
	for _, text := range literals {
		literal = append(literal, editCase{old: "cost: @P@\nend\n", ops: replaced("@P@", text), want: "cost: " + text + "\nend\n"})
		rewriteLiteral = append(rewriteLiteral,
			editCase{old: three, ops: append(rewritten(2, 2, text), edit.Insert{After: 3, Text: text}), want: "one\n" + text + "\nthree\n" + text + "\n"})
	}
	literal = append(literal,
		editCase{old: "a.c abc (x) [y] $1\n", ops: replaced("a.c", "%d"), want: "%d abc (x) [y] $1\n"},
		editCase{old: "a (x) [y] $1 ^\n", ops: replaced("(x) [y] $1 ^", "."), want: "a .\n"},
		editCase{old: "abc\n", ops: replaced("a.c", "x"), reason: ambit.ErrNoMatch},
	)
	long := strings.Repeat("a", 70_000)
	return []*check{
		editCheck("text/edit-literal", "A Replace puts in the new text as it stands: no character of it or of the old text means anything else.", literal...),
		editCheck("text/rewrite-literal", "A Rewrite and an Insert put in their text as it stands.", rewriteLiteral...),
		editCheck("text/edit-to-nothing", "A Replace by nothing removes the text that is named and nothing around it, no line ending either.",
			editCase{old: "HOST=h.test:old\nN=3\n", ops: replaced(":old", ""), want: "HOST=h.test\nN=3\n"},
			editCase{old: "Hello World", ops: replaced("World", ""), want: "Hello "},
			editCase{old: "all of it\n", ops: replaced("all of it\n", ""), want: ""},
			editCase{old: "k\nmid k end\n", ops: replaced("k", ""), reason: ambit.ErrAmbiguous, check: found(2, 1, 2)},
		),
		editCheck("text/edit-lone-cr", "A CR that ends no line is content, and stays where it is.",
			editCase{old: "p 10%\rp 50%\rdone\nnext\n", ops: replaced("next", "NEXT"), want: "p 10%\rp 50%\rdone\nNEXT\n"},
			editCase{old: "p 10%\rp 50%\rdone\nnext\n", ops: replaced("p 50%\r", ""), want: "p 10%\rdone\nnext\n"},
			editCase{old: "a\rb\nc\n", ops: rewritten(2, 2, "C"), want: "a\rb\nC\n"},
			editCase{old: "a\rb\nc", ops: replaced("a\nb", "x"), reason: ambit.ErrNoMatch},
		),
		editCheck("text/edit-crlf", "A line break of the old text is found where the file has CR LF, what is put in takes the endings of its place, and no other ending changes.",
			editCase{old: "foo()\r\nbar()\r\nend\r\n", ops: replaced("bar", "qux"), want: "foo()\r\nqux()\r\nend\r\n"},
			editCase{old: "foo()\r\nbar()\r\nend\r\n", ops: replaced("foo()\nbar()", "foo()\nbaz()"), want: "foo()\r\nbaz()\r\nend\r\n"},
			editCase{old: "foo()\r\nbar()\r\nend\r\n", ops: replaced("bar()", "bar()\nmore()"), want: "foo()\r\nbar()\r\nmore()\r\nend\r\n"},
			editCase{old: "a\nb\r\nc\n", ops: replaced("b", "B"), want: "a\nB\r\nc\n"},
			editCase{old: "a\nb\r\nc\n", ops: rewritten(1, 1, "A\n"), want: "A\nb\r\nc\n"},
		),
		editCheck("text/edit-near-match", "Text that is nearly there is not there: a block whose first and last lines agree is no-match.",
			editCase{old: five, ops: replaced(strings.Replace(five, "q 2", "q 7", 1), "begin\nend"), reason: ambit.ErrNoMatch},
			editCase{old: five, ops: replaced("begin\np 1\nq 2\nr 3\nend\n", "x\n"), reason: ambit.ErrNoMatch},
			editCase{old: five, ops: replaced("BEGIN", "x"), reason: ambit.ErrNoMatch},
			editCase{old: five, ops: replaced("  p 1 \n", "x\n"), reason: ambit.ErrNoMatch},
		),
		editCheck("text/edit-look-alikes", "Characters that look alike are different ones: none is taken for another, and none is put in for another.",
			editCase{old: "don\u2019t\n", ops: replaced("don\u2019t", "don't"), want: "don't\n"},
			editCase{old: "don't\n", ops: replaced("don't", "don\u2019t"), want: "don\u2019t\n"},
			editCase{old: "She said, \u201cHello.\u201d\n", ops: replaced("said, \"Hello.\"", "said, \"Hi.\""), reason: ambit.ErrNoMatch},
			editCase{old: "MAX\u00a0N = 3; // \uff08\uff13\u56de\uff09\uff71 \u2014\n", ops: replaced("MAX N = 3", "MAX_N = 5"), reason: ambit.ErrNoMatch},
			editCase{old: "x\n", ops: replaced("x", "\u2019\u201c\u2014\u2026"), want: "\u2019\u201c\u2014\u2026\n"},
			editCase{old: "e\u0301\n", ops: replaced("\u00e9", "e"), reason: ambit.ErrNoMatch},
		),
		editCheck("text/edit-which", "Text that is found several times is ambiguous with the lines of all places, unless the Replace says which it means, or all.",
			editCase{old: "x = 1\ny = 1\nx = 1\n", ops: replaced("= 1", "= 2"), reason: ambit.ErrAmbiguous, check: found(3, 1, 2, 3)},
			editCase{old: "aaa\n", ops: replaced("aa", "b"), reason: ambit.ErrAmbiguous, check: found(2, 1, 1)},
			editCase{old: "x = 1\ny = 1\nx = 1\n", ops: ops(edit.Replace{Old: "= 1", New: "= 2", All: true}), want: "x = 2\ny = 2\nx = 2\n"},
			editCase{old: "x = 1\ny = 1\nx = 1\n", ops: ops(edit.Replace{Old: "= 1", New: "= 2", Occurrence: 2}), want: "x = 1\ny = 2\nx = 1\n"},
			editCase{old: "aaa\n", ops: ops(edit.Replace{Old: "aa", New: "b", All: true}), want: "ba\n"},
			editCase{old: "x = 1\n", ops: ops(edit.Replace{Old: "= 1", New: "= 2", Occurrence: 2}), reason: ambit.ErrNoMatch},
			editCase{old: "x\n", ops: ops(edit.Replace{Old: "y", New: "z", All: true}), reason: ambit.ErrNoMatch},
		),
		editCheck("text/edit-all-or-none", "All ops of a call see the file as it was before, and all are made or none.",
			editCase{old: "source 'https:x'\n", ops: replaced("nope", "y"), reason: ambit.ErrNoMatch},
			editCase{old: "source 'https:x'\n", ops: append(replaced("source", "origin"), replaced("nope", "y")...), reason: ambit.ErrNoMatch},
			editCase{old: three, ops: append(replaced("one", "ONE"), edit.Insert{After: 4, Text: "x"}), reason: ambit.ErrOutOfRange},
			editCase{old: three, ops: append(replaced("one", "two"), replaced("two", "four")...), want: "two\nfour\nthree\n"},
			editCase{old: three, ops: append(rewritten(1, 1, ""), rewritten(3, 3, "THREE")...), want: "two\nTHREE\n"},
			editCase{old: three, ops: append(rewritten(1, 2, "x"), replaced("two", "y")...), reason: ambit.ErrInvalid},
		),
		editCheck("text/rewrite-to-empty", "A Rewrite of all lines by nothing leaves an empty file.",
			editCase{old: "abc\n", ops: rewritten(1, 1, ""), want: ""},
			editCase{old: "a\nb\n", ops: rewritten(1, 2, ""), want: ""},
			editCase{old: "a\nb\n", ops: rewritten(1, 0, ""), want: ""},
			editCase{old: "a\r\nb", ops: rewritten(1, 0, ""), want: ""},
			editCase{old: "a\nb\nc\n", ops: rewritten(2, 3, ""), want: "a\n"},
			editCase{old: "a\nb\nc\n", ops: rewritten(1, 1, ""), want: "b\nc\n"},
		),
		editCheck("text/rewrite-endings", "The text of a Rewrite and an Insert is whole lines: it is neither joined to the next one nor followed by an empty one, and the end of the file stays as it was.",
			editCase{old: three, ops: rewritten(2, 2, "TWO"), want: "one\nTWO\nthree\n"},
			editCase{old: "one\ntwo\n", ops: rewritten(2, 2, "NEW\n"), want: "one\nNEW\n"},
			editCase{old: "one\ntwo", ops: rewritten(2, 2, "TWO"), want: "one\nTWO"},
			editCase{old: "one\ntwo", ops: rewritten(2, 2, "TWO\n"), want: "one\nTWO"},
			editCase{old: "one\r\ntwo\r\n", ops: rewritten(1, 1, "ONE"), want: "ONE\r\ntwo\r\n"},
			editCase{old: "one\r\ntwo\r\n", ops: rewritten(1, 1, "1\n2"), want: "1\r\n2\r\ntwo\r\n"},
			editCase{old: "one\ntwo", ops: ops(edit.Insert{After: 2, Text: "three"}), want: "one\ntwo\nthree"},
			editCase{old: "one\ntwo\n", ops: ops(edit.Insert{After: 0, Text: "zero"}), want: "zero\none\ntwo\n"},
			editCase{old: "", ops: ops(edit.Insert{After: 0, Text: "first\n"}), want: "first\n"},
		),
		editCheck("text/rewrite-own-text", "Lines that are rewritten by their own text are the bytes they were.",
			editCase{old: three, ops: rewritten(1, 3, three), want: three},
			editCase{old: "one\r\ntwo\nthree", ops: rewritten(1, 3, "one\r\ntwo\nthree"), want: "one\r\ntwo\nthree"},
			editCase{old: "a\n\n\n", ops: rewritten(2, 3, "\n\n"), want: "a\n\n\n"},
			editCase{old: "\ufeffa\n", ops: rewritten(1, 1, "\ufeffa\n"), want: "\ufeffa\n"},
		),
		editCheck("text/edit-byte-order-mark", "A byte order mark stays at the beginning, once, whatever is changed, and is not in the way of the first line.",
			editCase{old: "\ufeffhello\n中文\n", ops: replaced("hello", "hello2"), want: "\ufeffhello2\n中文\n"},
			editCase{old: "\ufeffhello\n中文\n", ops: rewritten(1, 1, "hi"), want: "\ufeffhi\n中文\n"},
			editCase{old: "\ufeffhello\n中文\n", ops: rewritten(1, 1, ""), want: "\ufeff中文\n"},
			editCase{old: "\ufeffhello\n中文\n", ops: rewritten(1, 1, "\ufeffhi\n"), want: "\ufeffhi\n中文\n"},
			editCase{old: "\ufeffhello\n中文\n", ops: ops(edit.Insert{After: 0, Text: "top"}), want: "\ufefftop\nhello\n中文\n"},
			editCase{old: "\ufeffhello\n中文\n", ops: replaced("hello\n中", "x"), want: "\ufeffx文\n"},
		),
		editCheck("text/edit-stray-bytes", "Bytes that are not UTF-8 stay what they are, beside what is changed.",
			editCase{old: "n = 1;\n# stra\xdfe\n", ops: replaced("n = 1", "n = 2"), want: "n = 2;\n# stra\xdfe\n"},
			editCase{old: "n = 1;\n# stra\xdfe\n", ops: rewritten(1, 1, "n = 2;"), want: "n = 2;\n# stra\xdfe\n"},
			editCase{old: "n = 1;\n\xd6\xd0\xce\xc4\n", ops: replaced("n = 1", "n = 2"), want: "n = 2;\n\xd6\xd0\xce\xc4\n"},
			editCase{old: "n = 1; \xe4\xb8", ops: replaced("n = 1", "n = 2"), want: "n = 2; \xe4\xb8"},
			editCase{old: "\xff\xfd x \x00\n", ops: replaced("x", "y"), want: "\xff\xfd y \x00\n"},
		),
		editCheck("text/edit-utf-16", "A file in UTF-16 with a byte order mark is edited as text, and stays in UTF-16.",
			editCase{old: "\xff\xfeh\x00i\x00\n\x00", ops: replaced("hi", "ho"), want: "\xff\xfeh\x00o\x00\n\x00"},
			editCase{old: "\xfe\xff\x00h\x00i\x00\n", ops: rewritten(1, 1, "\u4e2d"), want: "\xfe\xff\x4e\x2d\x00\n"},
			editCase{old: "\xff\xfeh\x00i\x00\n", ops: replaced("hi", "ho"), reason: ambit.ErrNotText},
		),
		editCheck("text/edit-long-lines", "A line of any length can be edited, and what is behind it.",
			editCase{old: long + "\nTARGET\n", ops: replaced("TARGET", "HIT"), want: long + "\nHIT\n"},
			editCase{old: long + "\nTARGET\n", ops: rewritten(2, 2, "HIT"), want: long + "\nHIT\n"},
			editCase{old: long + "\nTARGET\n", ops: rewritten(1, 1, "short"), want: "short\nTARGET\n"},
			editCase{old: long + "b" + long + "\n", ops: replaced("aba", "x"), want: long[1:] + "x" + long[1:] + "\n"},
		),
		editCheck("text/edit-large", "A file of several megabytes is edited as a small one is, at its beginning, in the middle and at its end.",
			editCase{
				old:  "first\n" + manyMegabytes + "TARGET\n" + manyMegabytes + "last",
				ops:  ops(edit.Replace{Old: "TARGET", New: "HIT"}, edit.Replace{Old: "first\n", New: ""}, edit.Insert{After: 1, Text: "second"}, edit.Replace{Old: "last", New: "the end\n"}),
				want: "second\n" + manyMegabytes + "HIT\n" + manyMegabytes + "the end\n",
			},
			editCase{old: strings.Repeat("b", 5<<20) + "\r\nTARGET", ops: rewritten(2, 2, "HIT\n"), want: strings.Repeat("b", 5<<20) + "\r\nHIT"},
		),
		editCheck("text/edit-empty-text", "A Replace of the empty text is invalid, since that is everywhere, and one of a text by itself, since that changes nothing.",
			editCase{old: "abc", ops: replaced("", "X"), reason: ambit.ErrInvalid, check: detailed("empty")},
			editCase{old: "", ops: replaced("", "X"), reason: ambit.ErrInvalid, check: detailed("empty")},
			editCase{old: "abc", ops: ops(edit.Replace{Old: "", New: "X", All: true}), reason: ambit.ErrInvalid, check: detailed("empty")},
			editCase{old: "abc", ops: replaced("b", "b"), reason: ambit.ErrInvalid},
			editCase{old: "abc", ops: ops(edit.Insert{After: 1}), reason: ambit.ErrInvalid},
			editCase{old: "abc", ops: nil, reason: ambit.ErrInvalid},
		),
		editCheck("text/edit-absurd-numbers", "Numbers of lines that no file could have are invalid, and those that the file has not are out-of-range with the number of its lines.", absurdEdits(three)...),
		editCheck("text/edit-clips-no-character", "What an edit and its refusal tell of long lines is text: no character of them is cut.", clippedEdits()...),
		{
			id: "text/edit-max-bytes", requires: needsEdit, tree: textTree(strings.Repeat("a", 99)+"\n", strings.Repeat("a", 100)+"\n", strings.Repeat("a", 101)+"\n", strings.Repeat("a", 99)),
			rule: "A file of as many bytes as MaxBytes is edited whole, and a larger one is too-large with the limit: never is a part taken for the whole.",
			run: func(p *probe) {
				o := &edit.Options{MaxBytes: 101}
				for i, size := range []int{99, 100} {
					p.edits(textPath(i), "b"+strings.Repeat("a", size)+"\n", o, rewritten(1, 1, "b"+strings.Repeat("a", size))...)
				}
				// The edit of f1 has made it one larger than the limit.
				for _, path := range []string{"f1", "f2"} {
					if e := p.editRefused(path, o, []ambit.Reason{ambit.ErrTooLarge}, rewritten(1, 1, "x")...); e.Limit != 101 {
						p.errorf("too-large with the limit %d, want 101", e.Limit)
					}
				}
				p.editRefused("f3", &edit.Options{MaxBytes: -1}, []ambit.Reason{ambit.ErrInvalid}, rewritten(1, 1, "x")...)
			},
		},
	}
}

// manyMegabytes is text of more than two.
var manyMegabytes = strings.Repeat("a line of the middle, as long as lines are\n", 50_000)

// absurdEdits are ops whose numbers the text, of three lines, has not.
func absurdEdits(three string) []editCase {
	outOfRange := func(p *probe, _ edit.Outcome, e *ambit.Error) {
		if e.Total != 3 {
			p.errorf("out-of-range with %d lines, want 3", e.Total)
		}
	}
	var cases []editCase
	for _, rng := range absurdRanges {
		cases = append(cases, editCase{old: three, ops: ops(edit.Rewrite{Range: rng, Text: "x"}), reason: ambit.ErrInvalid})
	}
	for _, n := range []int{-1, math.MinInt} {
		cases = append(cases,
			editCase{old: three, ops: ops(edit.Insert{After: n, Text: "x"}), reason: ambit.ErrInvalid},
			editCase{old: three, ops: ops(edit.Replace{Old: "two", New: "x", Occurrence: n}), reason: ambit.ErrInvalid},
		)
	}
	for _, op := range []edit.Op{
		edit.Rewrite{Range: lines(4, 0), Text: "x"},
		edit.Rewrite{Range: lines(4, 4)},
		edit.Rewrite{Range: lines(2, 4)},
		edit.Rewrite{Range: lines(1, math.MaxInt), Text: "x"},
		edit.Rewrite{Range: lines(math.MaxInt, math.MaxInt)},
		edit.Insert{After: 4, Text: "x"},
		edit.Insert{After: math.MaxInt, Text: "x"},
	} {
		cases = append(cases, editCase{old: three, ops: ops(op), reason: ambit.ErrOutOfRange, check: outOfRange})
	}
	return append(cases,
		editCase{old: three, ops: ops(edit.Replace{Old: "two", New: "x", Occurrence: math.MaxInt}), reason: ambit.ErrNoMatch},
		editCase{old: three, ops: rewritten(1, 0, "x"), want: "x\n"},
	)
}

// clippedEdits are edits in lines of wide characters, longer than what a message
// or a diff may hold, at each of their bytes.
func clippedEdits() []editCase {
	text := func(p *probe, outcome edit.Outcome, e *ambit.Error) {
		if !utf8.ValidString(outcome.Diff) {
			p.errorf("the diff is not UTF-8: %s", brief(outcome.Diff))
		}
		if e != nil && (!utf8.ValidString(e.Detail) || !utf8.ValidString(e.Error())) {
			p.errorf("the refusal is not UTF-8: %q", e.Detail)
		}
	}
	var cases []editCase
	for shift := range 4 {
		line := strings.Repeat("x", shift) + strings.Repeat("\U0001F600", 3000) + "tail"
		cases = append(cases,
			editCase{old: line + "\nnext\n", ops: replaced("tail", "end"), want: strings.TrimSuffix(line, "tail") + "end\nnext\n", check: text},
			editCase{old: line + "\nnext\n", ops: replaced(strings.Replace(line, "tail", "trail", 1), "end"), reason: ambit.ErrNoMatch, check: text},
		)
	}
	return cases
}
