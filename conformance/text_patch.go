// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// A patchCase is what becomes of a file that is patched, by one format or by
// both: the lines are those behind the name of the file.
type patchCase struct {
	old     string
	marked  []string // between "*** Begin Patch" and "*** End Patch"
	unified []string
	crlf    bool // the text of the patch has CR LF
	want    string
	reason  ambit.Reason // set where the patch is refused
}

func texts(lines ...string) []string { return lines }

// patchCheck is a check of patches, each of a file of its own.
func patchCheck(id, rule string, cases ...patchCase) *check {
	var contents []string
	for _, c := range cases {
		contents = append(contents, c.old, c.old)
	}
	return &check{
		id: id, rule: rule, requires: needsPatch, tree: textTree(contents...),
		run: func(p *probe) {
			var paths, patches []string
			var tried []patchCase
			for i, c := range cases {
				for format, lines := range [][]string{c.marked, c.unified} {
					if len(lines) == 0 || !p.fits(c.old, c.want) {
						continue
					}
					path := textPath(2*i + format)
					text := unified(path, lines...)
					if format == 0 {
						text = marked(append(texts("*** Update File: "+path), lines...)...)
					}
					if c.crlf {
						text = strings.ReplaceAll(text, "\n", "\r\n")
					}
					paths, patches, tried = append(paths, path), append(patches, text), append(tried, c)
				}
			}
			if len(tried) == 0 {
				p.cannotHold(tooSmall)
			}
			p.rows(paths, func(p *probe, i int) {
				if c := tried[i]; c.reason == "" {
					p.patched(patches[i], map[string]string{"/" + paths[i]: c.want})
				} else {
					p.patchRefused(patches[i], paths[i], []ambit.Reason{c.reason})
				}
			})
		},
	}
}

// patchChecks: what the hunks of a patch make of the content of a file.
func patchChecks() []*check {
	const (
		defs    = "def a():\n    pass\n\ndef b():\n    pass\n"
		blocks  = "a:\n\tflush()\n\treturn\nb:\n\tflush()\n\treturn\n"
		classes = "class X:\n    def m():\n        return 0\nclass Y:\n    def m():\n        return 0\n"
		eight   = "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\n"
		typed   = "def f():\n    x = 1  \n    y = \u2019a\u2019\n    z = 3\n"
	)
	var literal []patchCase
	for _, text := range literals {
		literal = append(literal, patchCase{
			old: "cost: @P@\nend\n", want: "cost: " + text + "\nend\n",
			marked:  texts("@@", "-cost: @P@", "+cost: "+text),
			unified: texts("@@ -1 +1 @@", "-cost: @P@", "+cost: "+text),
		})
	}
	long := strings.Repeat("a", 70_000)
	return []*check{
		patchCheck("text/patch-literal", "A patch puts in its lines as they stand: no character of them means anything else.", literal...),
		patchCheck(
			"text/patch-final-newline", "A file that has no final newline gets none by a hunk that leaves its end alone.",
			patchCase{
				old: "line1\nline2\nline3", want: "LINE1\nline2\nline3",
				marked:  texts("@@", "-line1", "+LINE1"),
				unified: texts("@@ -1 +1 @@", "-line1", "+LINE1"),
			},
			patchCase{
				old: "line1\nline2\nline3", want: "line1\nLINE2\nline3",
				marked:  texts("@@", "-line2", "+LINE2", " line3"),
				unified: texts("@@ -2,2 +2,2 @@", "-line2", "+LINE2", " line3", noNewline),
			},
		),
		patchCheck(
			"text/patch-end-of-file", "What is added at the end of a file stands behind its last line, without an empty one in between, and the file ends as it did.",
			patchCase{
				old: "a\nb\n", want: "a\nb\nc\n",
				marked:  texts("@@", "+c", "*** End of File"),
				unified: texts("@@ -2,0 +3 @@", "+c"),
			},
			patchCase{
				old: "a\nb", want: "a\nb\nc",
				marked:  texts("@@", "+c", "*** End of File"),
				unified: texts("@@ -2 +2,2 @@", "-b", noNewline, "+b", "+c", noNewline),
			},
			patchCase{
				old: "x\na\nx\na\n", want: "x\na\nx\nb\n",
				marked: texts("@@", "-a", "+b", "*** End of File"),
			},
		),
		patchCheck(
			"text/patch-anchor", "Lines that a hunk only adds go where its anchor or its number says, and nowhere if that is not there.",
			patchCase{
				old: defs, want: "def a():\n    # new\n    pass\n\ndef b():\n    pass\n",
				marked:  texts("@@ def a():", "+    # new"),
				unified: texts("@@ -1,0 +2 @@", "+    # new"),
			},
			patchCase{old: defs, reason: ambit.ErrNoMatch, marked: texts("@@ def zzz():", "+    # new")},
			patchCase{old: defs, reason: ambit.ErrOutOfRange, unified: texts("@@ -9,0 +10 @@", "+    # new")},
		),
		patchCheck(
			"text/patch-context-kept", "Context is compared byte by byte and never written: a hunk whose context is not there is no-match.",
			patchCase{
				old: typed, reason: ambit.ErrNoMatch,
				marked:  texts("@@", "   x = 1", "    y = 'a'", "-    z = 3", "+    z = 4"),
				unified: texts("@@ -2,3 +2,3 @@", "   x = 1", "    y = 'a'", "-    z = 3", "+    z = 4"),
			},
			patchCase{
				old: typed, want: strings.Replace(typed, "z = 3", "z = 4", 1),
				marked:  texts("@@", "     x = 1  ", "     y = \u2019a\u2019", "-    z = 3", "+    z = 4"),
				unified: texts("@@ -2,3 +2,3 @@", "     x = 1  ", "     y = \u2019a\u2019", "-    z = 3", "+    z = 4"),
			},
		),
		patchCheck(
			"text/patch-ambiguous", "A hunk that fits several places is ambiguous, unless an anchor or its number says which.",
			patchCase{
				old: blocks, reason: ambit.ErrAmbiguous,
				marked:  texts("@@", "-\tflush()", "-\treturn"),
				unified: texts("@@ -3,2 +2,0 @@", "-\tflush()", "-\treturn"),
			},
			patchCase{
				old: blocks, reason: ambit.ErrNoMatch,
				marked:  texts("@@", "-flush()", "-return"),
				unified: texts("@@ -2,2 +1,0 @@", "-flush()", "-return"),
			},
			patchCase{
				old: blocks, want: "a:\n\tflush()\n\treturn\nb:\n",
				marked:  texts("@@ b:", "-\tflush()", "-\treturn"),
				unified: texts("@@ -5,2 +4,0 @@", "-\tflush()", "-\treturn"),
			},
			patchCase{
				old: blocks, want: "a:\nb:\n\tflush()\n\treturn\n",
				unified: texts("@@ -2,2 +1,0 @@", "-\tflush()", "-\treturn"),
			},
		),
		patchCheck(
			"text/patch-crlf", "A file with CR LF is patched by a patch with any line endings, and what is added takes the endings of its place.",
			patchCase{
				old: "p\r\nq\r\nr\r\n", want: "p\r\nQ1\r\nQ2\r\nr\r\n",
				marked:  texts("@@", " p", "-q", "+Q1", "+Q2"),
				unified: texts("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"),
			},
			patchCase{
				old: "p\r\nq\r\nr\r\n", want: "p\r\nQ1\r\nQ2\r\nr\r\n", crlf: true,
				marked:  texts("@@", " p", "-q", "+Q1", "+Q2"),
				unified: texts("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"),
			},
			patchCase{
				old: "p\nq\nr\n", want: "p\nQ1\nQ2\nr\n", crlf: true,
				marked:  texts("@@", " p", "-q", "+Q1", "+Q2"),
				unified: texts("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"),
			},
			patchCase{
				old: "a\rb\nc\n", want: "a\rb\nC\n",
				marked:  texts("@@", " a\rb", "-c", "+C"),
				unified: texts("@@ -1,2 +1,2 @@", " a\rb", "-c", "+C"),
			},
		),
		patchCheck(
			"text/patch-hunk-order", "A hunk stands behind the one before it: one that would have to go back is refused, and nothing is doubled.",
			patchCase{
				old: eight, want: "l1\nL2\nl3\nl4\nl5\nL6\nl7\nl8\n",
				marked:  texts("@@", "-l2", "+L2", "@@", "-l6", "+L6"),
				unified: texts("@@ -2 +2 @@", "-l2", "+L2", "@@ -6 +6 @@", "-l6", "+L6"),
			},
			patchCase{old: eight, reason: ambit.ErrNoMatch, marked: texts("@@", "-l6", "+L6", "@@", "-l2", "+L2")},
		),
		patchCheck(
			"text/patch-stacked-anchors", "Several anchors in a row narrow the place step by step.",
			patchCase{
				old: classes, want: strings.TrimSuffix(classes, "0\n") + "1\n",
				marked:  texts("@@ class Y:", "@@     def m():", "-        return 0", "+        return 1"),
				unified: texts("@@ -6 +6 @@ def m():", "-        return 0", "+        return 1"),
			},
			patchCase{old: classes, reason: ambit.ErrAmbiguous, marked: texts("@@ class X:", "@@     def m():", "-        return 0", "+        return 1")},
			patchCase{old: classes, reason: ambit.ErrNoMatch, marked: texts("@@ class Y:", "@@     def n():", "-        return 0", "+        return 1")},
		),
		patchCheck(
			"text/patch-content-like-headers", "The lines of a hunk are content whatever stands behind their sign.",
			patchCase{
				old: "a\n-- x\nb\n", want: "a\n++ y\nb\n",
				marked:  texts("@@", " a", "--- x", "+++ y", " b"),
				unified: texts("@@ -1,3 +1,3 @@", " a", "--- x", "+++ y", " b"),
			},
			patchCase{
				old: "@@ z\n*** note\nb\n", want: "@@ z\n@@ y\n*** End Patch\nb\n",
				marked:  texts("@@", " @@ z", "-*** note", "+@@ y", "+*** End Patch", " b"),
				unified: texts("@@ -1,3 +1,4 @@", " @@ z", "-*** note", "+@@ y", "+*** End Patch", " b"),
			},
			patchCase{
				old: "+p\n-m\n\\ n\n", want: "+p\n-M\n\\ n\n",
				marked:  texts("@@", " +p", "--m", "+-M", " \\ n"),
				unified: texts("@@ -1,3 +1,3 @@", " +p", "--m", "+-M", " \\ n"),
			},
		),
		patchCheck(
			"text/patch-byte-order-mark", "A byte order mark stays at the beginning, once, and is not in the way of the first line.",
			patchCase{
				old: "\ufeffhello\n中文\n", want: "\ufeffhi\n中文\n",
				marked:  texts("@@", "-hello", "+hi"),
				unified: texts("@@ -1 +1 @@", "-hello", "+hi"),
			},
			patchCase{
				old: "\ufeffhello\n中文\n", want: "\ufeff中文\n",
				marked:  texts("@@", "-hello"),
				unified: texts("@@ -1,2 +1 @@", "-hello", " 中文"),
			},
			patchCase{
				old: "\ufeffhello\n中文\n", want: "\ufeffhi\n中文\n",
				unified: texts("@@ -1,2 +1,2 @@", "-\ufeffhello", "+\ufeffhi", " 中文"),
			},
		),
		patchCheck(
			"text/patch-stray-bytes", "Bytes that are not UTF-8 stay what they are, beside what is changed and as context.",
			patchCase{
				old: "n = 1;\n# stra\xdfe\n", want: "n = 2;\n# stra\xdfe\n",
				marked:  texts("@@", "-n = 1;", "+n = 2;"),
				unified: texts("@@ -1 +1 @@", "-n = 1;", "+n = 2;"),
			},
			patchCase{
				old: "n = 1;\n\xd6\xd0\xce\xc4\n\xe4\xb8", want: "n = 2;\n\xd6\xd0\xce\xc4\n\xe4\xb8",
				marked:  texts("@@", "-n = 1;", "+n = 2;", " \xd6\xd0\xce\xc4"),
				unified: texts("@@ -1,2 +1,2 @@", "-n = 1;", "+n = 2;", " \xd6\xd0\xce\xc4"),
			},
		),
		patchCheck(
			"text/patch-long-lines", "A line of any length can be patched, and what is behind it.",
			patchCase{
				old: long + "\nTARGET\n", want: long + "\nHIT\n",
				marked:  texts("@@", "-TARGET", "+HIT"),
				unified: texts("@@ -2 +2 @@", "-TARGET", "+HIT"),
			},
			patchCase{
				old: long + "\nTARGET\n", want: "short\nTARGET\n",
				marked:  texts("@@", "-"+long, "+short", " TARGET"),
				unified: texts("@@ -1,2 +1,2 @@", "-"+long, "+short", " TARGET"),
			},
		),
	}
}
