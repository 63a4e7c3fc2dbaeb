// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/patch"
)

// numbered makes a hunk with a line number out of lines as they stand in a patch;
// a line "\" takes the newline off the one before.
func numbered(line, start int, body ...string) patch.Hunk {
	h := patch.Hunk{Line: line, Start: start, Numbered: true}
	for _, b := range body {
		if last := len(h.Lines) - 1; b == `\` {
			h.Lines[last].Text = strings.TrimSuffix(h.Lines[last].Text, "\n")
			continue
		}
		h.Lines = append(h.Lines, patch.Line{Kind: patch.LineKind(b[0]), Text: b[1:] + "\n"})
	}
	return h
}

func TestParseUnified(t *testing.T) {
	const none = `\ No newline at end of file`
	for _, c := range []struct {
		name, text string
		want       []patch.Section
	}{
		{
			"program diff",
			text("diff -ru a/x b/x", "--- a/x\t2024-05-01 10:00:00.000000000 +0200", "+++ b/x\t2024-05-01 10:00:01.000000000 +0200", "@@ -1,2 +1,2 @@", " a", "-b", "+c", "Only in b: y", "diff -ru a/z b/z", "--- a/z\t2024", "+++ b/z", "@@ -3 +3,2 @@ func f()", "-d", "+e", "+f", ""),
			[]patch.Section{
				update(2, "x", numbered(4, 1, " a", "-b", "+c")),
				update(10, "z", numbered(12, 3, "-d", "+e", "+f")),
			},
		},
		{
			"a diff without prefixes, of one file",
			text("Index: a/z", "====", "--- a/z\t(revision 1)", "+++ a/z\t(working copy)", "@@ -3 +3 @@", "-d", "+e"),
			[]patch.Section{update(3, "a/z", numbered(5, 3, "-d", "+e"))},
		},
		{
			"PATCH-16",
			text("--- a/f", "+++ b/f", "@@ -1,7 +1,9 @@", " a", "--- x", "+++ y", " b", "-@@ -1 +1 @@", "+@@ -1 +1 @@", " *** note", "-diff --git a/x b/x", "+\\ No newline", " @@ z", "+ ", "+++ 2", "@@ -20 +22 @@", "--- 3", "+++ 4"),
			[]patch.Section{update(1, "f",
				numbered(3, 1, " a", "--- x", "+++ y", " b", "-@@ -1 +1 @@", "+@@ -1 +1 @@", " *** note", "-diff --git a/x b/x", "+\\ No newline", " @@ z", "+ ", "+++ 2"),
				numbered(16, 20, "--- 3", "+++ 4"),
			)},
		},
		{
			"no newline, on either side, in any language, and empty lines of context",
			text("--- a/f", "+++ b/f", "@@ -1,2 +1,2 @@", "", "-b", none, "+c", "--- a/g", "+++ b/g", "@@ -1 +1 @@", "-b", "+c", `\ x`, "--- a/h", "+++ b/h", "@@ -1,2 +1 @@", "-b", " c", `\ Kein Zeilenumbruch am Dateiende.`),
			[]patch.Section{
				update(1, "f", numbered(3, 1, " ", "-b", `\`, "+c")),
				update(8, "g", numbered(10, 1, "-b", "+c", `\`)),
				update(14, "h", numbered(16, 1, "-b", " c", `\`)),
			},
		},
		{
			"new and deleted files",
			text("--- /dev/null", "+++ b/n", "@@ -0,0 +1,2 @@", "+a", "+b", "--- a/d", "+++ /dev/null", "@@ -1 +0,0 @@", "-a",
				"diff -ruN a/m b/m", "--- a/m\t1969-12-31 16:00:00.000000000 -0800", "+++ b/m\t2024-05-01 10:00:01.000000000 +0200", "@@ -0,0 +1 @@", "+a",
				"--- a/e\t2024-05-01 10:00:01.000000000 +0200", "+++ b/e\t1970-01-01 00:00:00.000000000 +0000", "@@ -1 +0,0 @@", "-a",
				"--- a/old\t1970-01-01 00:00:00.000000000 +0000", "+++ b/old\t1970-01-01 00:00:00.000000000 +0000", "@@ -1 +1 @@", "-a", "+b"),
			[]patch.Section{
				{Line: 1, Action: patch.Add, Path: "n", Hunks: []patch.Hunk{numbered(3, 0, "+a", "+b")}},
				{Line: 6, Action: patch.Delete, Path: "d", Hunks: []patch.Hunk{numbered(8, 1, "-a")}},
				{Line: 11, Action: patch.Add, Path: "m", Hunks: []patch.Hunk{numbered(13, 0, "+a")}},
				{Line: 15, Action: patch.Delete, Path: "e", Hunks: []patch.Hunk{numbered(17, 1, "-a")}},
				update(19, "old", numbered(21, 1, "-a", "+b")),
			},
		},
		{
			"what git says of files",
			text("From 0123 Mon Sep 17 00:00:00 2001", "Subject: x", "", " 1 file changed", "---",
				"diff --git a/n b/n", "new file mode 100755", "index 0..1", "--- /dev/null", "+++ b/n", "@@ -0,0 +1 @@", "+a",
				"diff --git a/e e b/e e", "new file mode 100644", "index 0..1",
				"diff --git a/d b/d", "deleted file mode 100755", "index 1..0", "--- a/d", "+++ /dev/null", "@@ -1 +0,0 @@", "-a",
				"diff --git a/g b/g", "new mode 100644", "deleted file mode 100644",
				"diff --git a/m b/m", "old mode 100755", "new mode 100644",
				"diff --git a/r b/s", "old mode 100644", "new mode 100755", "similarity index 90%", "rename from r", "rename to s", "index 1..2", "--- a/r", "+++ b/s", "@@ -1 +1 @@", "-a", "+b",
				"diff --git a/c d b/e f", "similarity index 100%", "copy from c d", "copy to e f",
				"diff --git a/u b/u", "index 1..2 100755", "--- a/u", "+++ b/u", "@@ -1 +1 @@", "-a", "+b",
				"-- ", "2.39.5", ""),
			[]patch.Section{
				{Line: 6, Action: patch.Add, Path: "n", Mode: 0o755, Hunks: []patch.Hunk{numbered(11, 0, "+a")}},
				{Line: 13, Action: patch.Add, Path: "e e", Mode: 0o644},
				{Line: 16, Action: patch.Delete, Path: "d", Hunks: []patch.Hunk{numbered(21, 1, "-a")}},
				{Line: 23, Action: patch.Delete, Path: "g"},
				{Line: 26, Action: patch.Update, Path: "m", Mode: 0o644},
				{Line: 29, Action: patch.Update, Path: "r", To: "s", Original: true, Mode: 0o755, Hunks: []patch.Hunk{numbered(38, 1, "-a", "+b")}},
				{Line: 41, Action: patch.Copy, Path: "c d", To: "e f", Original: true},
				update(45, "u", numbered(49, 1, "-a", "+b")),
			},
		},
		{
			"lines that end in CR LF: of the file, and of the text",
			"--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n a\r\n-b\r\n--- a/g\r\n+++ b/g\r\n@@ -1,4 +1,3 @@\r\n\r\n a\r\n-b\r\r\n c\n\\ x\r\ndiff --git a/h b/h\r\nold mode 100644\r\nnew mode 100755\r\n",
			[]patch.Section{
				update(1, "f", numbered(3, 1, " a\r", "-b\r")),
				update(6, "g", numbered(8, 1, " ", " a", "-b\r", " c", `\`)),
				{Line: 14, Action: patch.Update, Path: "h", Mode: 0o755},
			},
		},
		{
			"no newline at the end of the text, which ends in a hunk",
			"--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b",
			[]patch.Section{update(1, "f", numbered(3, 1, "-a", "+b"))},
		},
		{
			"an empty line between hunks, and a code fence",
			text("Do this:", "```diff", "--- f", "+++ f", "@@ -1 +1 @@", "-a", "+b", "", "@@ -7 +7 @@", "-c", "+d", "```", "- a list", "+ and more"),
			[]patch.Section{update(3, "f", numbered(5, 1, "-a", "+b"), numbered(9, 7, "-c", "+d"))},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := patch.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Sections); diff != "" {
				t.Error(diff)
			}
			verifyLines(t, c.text, p)
		})
	}
}

// Every way in which a diff can name one file, and what the library alone says.
func TestNamesOfUnifiedDiffs(t *testing.T) {
	const change = "@@ -1 +1 @@\n-a\n+b\n"
	git := func(before, after string) string {
		return "diff --git " + before + " " + after + "\n--- " + before + "\n+++ " + after + "\n" + change
	}
	mode := func(names string) string {
		return "diff --git " + names + "\nold mode 100644\nnew mode 100755\n"
	}
	plain := func(before, after string) string {
		return "--- " + before + "\n+++ " + after + "\n" + change
	}
	const added, deleted = "@@ -0,0 +1 @@\n+a\n", "@@ -1 +0,0 @@\n-a\n"
	wrong := 0
	for _, c := range []struct{ text, path string }{
		{git("a/x/y", "b/x/y"), "x/y"},
		{git("b/x", "a/x"), "x"}, // git diff -R
		{git("i/x", "w/x"), "x"},
		{git("c/x", "i/x"), "x"},
		{git("c/x", "w/x"), "x"},
		{git("o/x", "w/x"), "x"},
		{git("w/x", "i/x"), "x"},
		{git("1/x", "2/x"), "x"},
		{git("x/y", "x/y"), "x/y"},
		{git("a/x", "a/x"), "a/x"},
		{git("b/x", "b/x"), "b/x"},
		{git("x", "x"), "x"},
		{git("a//x", "b//x"), "/x"},
		{git("a/x//y", "b/x//y"), "x//y"},
		{git("a/x/", "b/x/"), "x/"},
		{git(`"a/q\"q"`, `"b/q\"q"`), `q"q`},
		{git(`"a/q\\"`, `"b/q\\"`), `q\`},
		{git(`"a/\\\\"`, `"b/\\\\"`), `\\`},
		{git(`"a/\377\001\303\251\a\b\t\n\v\f\r"`, `"b/\377\001\303\251\a\b\t\n\v\f\r"`), "\xff\x01\u00e9\a\b\t\n\v\f\r"},
		{git("\"a/\xff\\\"\"", "\"b/\xff\\\"\""), "\xff\""}, // core.quotePath=false
		{mode("a/x b/x"), "x"},
		{mode("a/x y b/x y"), "x y"},
		{mode("x x"), "x"},
		{mode("x x x x"), "x x"},
		{mode("a/b b/b b/b b/b"), "b b/b"},
		{mode("i/x w/x"), "x"},
		{mode(`"a/\303\251" "b/\303\251"`), "\u00e9"},
		{mode("\" \\303\\251\"  \u00e9"), " \u00e9"},
		{mode("a/\u00e9 \"b/\\303\\251\""), "\u00e9"},
		{mode("\"a/\\303\\251\" b/\u00e9"), "\u00e9"},
		{"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n" + added, "x"},
		{"diff --git b/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n" + added, "b/x"},
		{"diff --git a/x a/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n" + deleted, "a/x"},
		{"diff --git i/x w/x\nnew file mode 100644\n--- /dev/null\n+++ w/x\n" + added, "x"},
		{"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n" + added, "x"},
		{"diff --git a/x b/x\n" + change, "x"},
		{"diff --git a/x y b/x y\n" + plain("a/x y\t", "b/x y\t"), "x y"},
		{plain("a/x", "b/x"), "x"},
		{plain("x", "x"), "x"},
		{plain("a/x", "a/x"), "a/x"},
		{plain("/a/x", "/a/x"), "/a/x"},
		{plain("./x", "./x"), "./x"},
		{plain("x", "x~"), "x"},
		{plain("x.orig", "x"), "x"},
		{plain("d/x.c\t2001", "d/x.c.new\t2002"), "d/x.c"},
		{plain(`"a/x y"`+"\t2001-01-01", `"b/x y"`), "x y"},
		{plain("a/x y\t2001", "b/x y\t"), "x y"},
		{plain("x ", "x "), "x "},
		{"--- /dev/null\n+++ x\n" + added, "x"},
		{"--- /dev/null\n+++ b/x\n" + added, "x"},
		{"--- /dev/null\n+++ a/x\n" + added, "a/x"},
		{"--- a/x\n+++ /dev/null\n" + deleted, "x"},
		{"--- b/x\t\n+++ /dev/null\t\n" + deleted, "b/x"},
		{"--- /dev/null\n+++ b/\n" + added, "b/"},
	} {
		p, err := patch.Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if s := p.Sections[0]; len(p.Sections) != 1 || s.Path != c.path || s.To != "" {
			t.Errorf("%q: %q %q, want %q", c.text, s.Path, s.To, c.path)
		}
		verifyLines(t, c.text, p)

		files, _, err := gitdiff.Parse(strings.NewReader(c.text))
		if err != nil || len(files) != 1 || files[0].NewName != c.path && files[0].OldName != c.path {
			wrong++
		}
	}
	if wrong < 10 {
		t.Errorf("the library by itself has only %d names wrong: is there a trap left?", wrong)
	}

	for _, c := range []struct{ text, want string }{
		{plain("old/x", "new/x"), "line 1: cannot tell which file"},
		{plain("x", "y"), "line 1: cannot tell which file"},
		{plain("x", "xy"), "line 1: cannot tell which file"},
		{plain("a/x", "b/y"), "line 1: cannot tell which file"},
		{plain("a/x", "w/x"), "line 1: cannot tell which file"},
		{plain("a-x", "b-x"), "line 1: cannot tell which file"},
		{plain("a/", "b/"), "line 1: cannot tell which file"},
		{plain("/dev/null", "/dev/null"), "line 1: expected the name of a file"},
		{plain("x", ""), "line 2: expected the name of a file"},
		{plain(`"x`, "x"), "line 1: expected the name of a file"},
		{plain(`"x"y`, "x"), "line 1: expected the name of a file"},
		{plain(`""`, `""`), "line 1: expected the name of a file"},
		{plain(`"\8"`, "x"), "line 1: expected the name of a file"},
		{plain(`"\400"`, "x"), "line 1: expected the name of a file"},
		{plain(`"\x41"`, "x"), "line 1: expected the name of a file"},
		{git("a/x", "b/y"), "line 2: expected the name"},
		{git("old/x", "new/x"), "line 2: expected the name"},
		{"diff --git a/x b/x\n" + plain("a/y", "b/y"), "line 2: expected the name"},
		{"diff --git a/x b/x\n" + plain("a/x", "b/y"), "line 2: expected the name"},
		{"diff --git x x\n--- /dev/null\n+++ b/x\n" + added, "line 2: expected the name"},
		{"diff --git old/x new/x\n--- /dev/null\n+++ new/x\n" + added, "line 2: expected the name"},
		{mode("a/x b/y"), "line 1: cannot tell which file"},
		{mode("p/x q/x"), "line 1: cannot tell which file"},
		{mode("old/x newer/x"), "line 1: cannot tell which file"},
		{mode(""), "line 1: cannot tell which file"},
		{mode("x"), "line 1: cannot tell which file"},
		{mode(`"a/x"`), "line 1: cannot tell which file"},
		{mode(`"a/x"  "b/x"`), "line 1: cannot tell which file"},
		{mode(`"a/x""b/x"`), "line 1: cannot tell which file"},
		{mode(`"a/x" "b/x" `), "line 1: cannot tell which file"},
		{mode(`"a/x" "b/x`), "line 1: cannot tell which file"},
		{mode(`a/x "b/x`), "line 1: cannot tell which file"},
		{"--- /dev/null\n+++ b/x\n" + added + plain("y", "y"), "line 1: the name may begin with a prefix or not: line 5"},
		{plain("a/y", "a/y") + "--- b/x\n+++ /dev/null\n" + deleted + "--- a/x\n+++ /dev/null\n" + deleted, "line 10: the name may begin"},
	} {
		refused(t, c.text, ambit.ErrInvalid, c.want)
	}
}

func TestParseUnifiedRefuses(t *testing.T) {
	const names = "--- a/f\n+++ b/f\n"
	git := func(lines ...string) string { return text(append([]string{"diff --git a/f b/f"}, lines...)...) }
	for _, c := range []struct {
		text   string
		reason ambit.Reason
		want   string
	}{
		{"some text\n", ambit.ErrInvalid, "line 1: no patch"},
		{"@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, `line 1: expected the names of a file`},
		{"--- a/f\n@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, `line 2: expected the names of a file`},
		{names + "@@ -1 +1 @@\n-a\n+b\nOnly in a: b\n@@ -3 +3 @@\n-a\n+b\n", ambit.ErrInvalid, `line 7: expected the names of a file`},
		{names, ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "text\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "-a\n+b\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "@@ @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "@@ -1 +1\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "@@ --1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "@@ -1,+1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected a hunk"},
		{names + "@@ -1 +1 @@\n-a\n+b\n@@ .. @@\n", ambit.ErrInvalid, "line 6: expected a hunk"},
		{names + "@@ -99999999999999999999 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: the number 99999999999999999999 is too large"},
		{names + "@@ -1,9223372036854775807 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: the number 9223372036854775807 is too large"},
		{names + "@@ -0 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected no lines from line 0 on"},
		{names + "@@ -1 +0 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected no lines from line 0 on"},
		{names + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n", ambit.ErrInvalid, "line 7: expected 1 more old and 1 more new lines of the hunk that line 3 begins, not the end of the text"},
		{names + "@@ -1,3 +1,3 @@\n a\n-b\n+c\ndiff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 7: expected 1 more old and 1 more new lines of the hunk that line 3"},
		{names + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-a\n+b\n", ambit.ErrInvalid, "line 7: expected 1 more old and 1 more new lines of the hunk that line 3"},
		{names + "@@ -1,2 +1,2 @@\n-a\n-b\n-c\n+d\n", ambit.ErrInvalid, "line 6: expected 0 more old and 2 more new lines of the hunk that line 3"},
		{names + "@@ -1 +1 @@\n-a\n+b\n+c\n", ambit.ErrInvalid, "line 6: the hunk of line 3 has more lines than it says"},
		{names + "@@ -1 +1 @@\n-a\n+b\n\n c\n", ambit.ErrInvalid, "line 7: the hunk of line 3 has more lines than it says"},
		{names + "@@ -1 +1 @@\n-a\n+b\n-- \n-c\n", ambit.ErrInvalid, "line 6: the hunk of line 3 has more lines than it says"},
		{names + "@@ -1 +1 @@\n-a\n+b\n-- \n", ambit.ErrInvalid, "line 6: the hunk of line 3 has more lines than it says"},
		{names + "@@ -1 +1 @@\n a\n", ambit.ErrInvalid, "line 3: the hunk changes nothing"},
		{names + "@@ -0,0 +0,0 @@\n", ambit.ErrInvalid, "line 3: the hunk changes nothing"},
		{names + "@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n", ambit.ErrInvalid, "line 4: expected 1 more old and 1 more new"},
		{names + "@@ -1 +1 @@\n-a\n\\ x\n\\ x\n+b\n", ambit.ErrInvalid, "line 6: expected 0 more old and 1 more new"},
		{names + "@@ -1 +1 @@\n-a\n\\x\n+b\n", ambit.ErrInvalid, "line 5: expected 0 more old and 1 more new"},
		{names + "@@ -1,2 +1 @@\n-a\n\\ x\n-b\n+b\n", ambit.ErrInvalid, "line 6: expected nothing behind the line without a newline"},
		{names + "@@ -1 +1 @@\n-a\n+b\n\\ x\n@@ -4 +4 @@\n-a\n+b\n", ambit.ErrInvalid, "line 9: expected nothing behind the line without a newline"},
		{names + "@@ -1,2 +1,2 @@\n\r\n-a\n+b\n", ambit.ErrInvalid, "line 4: expected 2 more old and 2 more new"},
		{names + "@@ -1,2 +1 @@\n-a\nb\n", ambit.ErrInvalid, "line 5: expected 1 more old and 1 more new"},
		{"--- a/f\r\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 2: expected a line that ends as the first one"},
		{"diff --git a/f b/f\nold mode 100644\r\nnew mode 100755\r\n", ambit.ErrInvalid, "line 2: expected a line that ends as the first one"},
		{"*** Begin Patch is a format.\n", ambit.ErrInvalid, `line 1: expected "*** Begin Patch", not`},
		{"My patch:\n*** Begin Patch\n*** Update File: f\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n*** End Patch\n", ambit.ErrInvalid, `line 2: expected "*** Begin Patch" in the first line`},
		{"My patch:\n*** Update File: f\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, `line 2: expected "*** Begin Patch" in the first line`},
		{"--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", ambit.ErrInvalid, "line 3: expected one hunk without old lines"},
		{"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n@@ -0,0 +2 @@\n+c\n", ambit.ErrInvalid, "line 5: expected one hunk without old lines"},
		{"--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-a\n b\n", ambit.ErrInvalid, "line 3: expected one hunk without new lines"},

		{git(), ambit.ErrInvalid, `line 1: expected a change of "f"`},
		{git("index 1..2 100644"), ambit.ErrInvalid, `line 1: expected a change of "f"`},
		{git("index 1..2 100644", "--- a/f", "+++ b/f"), ambit.ErrInvalid, "line 5: expected a hunk"},
		{git("index 1..2 100644", "--- a/f", "@@ -1 +1 @@", "-a", "+b"), ambit.ErrInvalid, "line 3: expected a hunk"},
		{git("new file mode 100644", "+a"), ambit.ErrInvalid, "line 3: expected a hunk"},
		{git("new file mode 100644", "--- a/f", "+++ b/f", "@@ -0,0 +1 @@", "+a"), ambit.ErrInvalid, "line 3: expected /dev/null"},
		{git("old mode 100644", "new mode 100755", "rename from f", "rename to g", "--- /dev/null", "+++ b/g", "@@ -0,0 +1 @@", "+a"), ambit.ErrInvalid, "line 6: expected /dev/null"},
		{git("deleted file mode 100644", "--- a/f", "+++ b/f", "@@ -1 +0,0 @@", "-a"), ambit.ErrInvalid, "line 3: expected /dev/null"},
		{git("new file mode 100644", "deleted file mode 100644"), ambit.ErrInvalid, "line 3: expected a file to be only one of"},
		{git("new file mode 100644", "rename from f", "rename to g"), ambit.ErrInvalid, "line 3: expected a file to be only one of"},
		{git("rename from f", "copy to g"), ambit.ErrInvalid, "line 3: expected a file to be only one of"},
		{git("rename from f"), ambit.ErrInvalid, "line 3: expected both names"},
		{git("rename to f", "rename to g"), ambit.ErrInvalid, `line 3: expected one name behind "rename to "`},
		{git("rename from ", "rename to g"), ambit.ErrInvalid, `line 2: expected one name behind "rename from "`},
		{git(`rename from "f" x`, "rename to g"), ambit.ErrInvalid, `line 2: expected one name behind "rename from "`},
		{git("rename from f", "rename to g", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", "+b"), ambit.ErrInvalid, `line 4: expected the names "f" and "g" again`},
		{git("old mode", "new mode 100755"), ambit.ErrInvalid, `line 1: expected a change of "f"`},
		{git("old mode 100644", "new mode 100x55"), ambit.ErrInvalid, "line 3: expected the mode of a file"},
		{git("old mode 100644", "new mode 040000"), ambit.ErrInvalid, "line 3: expected the mode of a file"},
		{git("old mode 100644", "new mode "), ambit.ErrInvalid, "line 3: expected the mode of a file"},
		{git("old mode 100644", "new mode 100755", "similarity index x%"), ambit.ErrInvalid, "line 4: "},
		{git("old mode 100644", "new mode 100755", "index 12"), ambit.ErrInvalid, "line 4: "},

		{git("new file mode 120000", "index 0..1", "--- /dev/null", "+++ b/f", "@@ -0,0 +1 @@", "+a"), ambit.ErrUnsupported, "line 2: a symbolic link"},
		{git("index 1..2 120000", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", "+b"), ambit.ErrUnsupported, "line 2: a symbolic link"},
		{git("index 1..2 160000", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", "+b"), ambit.ErrUnsupported, "line 2: a submodule"},
		{git("deleted file mode 120000"), ambit.ErrUnsupported, "line 2: a symbolic link"},
		{"diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1 -1 +1 @@@\n- a\n -b\n++c\n", ambit.ErrUnsupported, "line 1: the combined diff"},
		{git("index 1..2 100644", "GIT binary patch", "delta 1", "x"), ambit.ErrNotText, `line 3: "f" is a binary file`},
		{git("new file mode 100644", "index 1..2", "Binary files /dev/null and b/f differ"), ambit.ErrNotText, `line 4: "f" is a binary file`},
		{git("index 1..2 100644", "Binary files a/f and b/f differ\r"), ambit.ErrNotText, `line 3: "f" is a binary file`},
		{"diff --git a/f b/g\nsimilarity index 50%\nrename from f\nrename to g\nindex 1..2\nBinary files a/f and b/g differ\n", ambit.ErrNotText, `line 6: "g" is a binary file`},
		{"Binary files a/f and b/f differ\n", ambit.ErrNotText, `line 1: a binary file: "Binary files a/f and b/f differ"`},
		{names + "@@ -1 +1 @@\n-a\n+b\nBinary files a/g and b/g differ\n", ambit.ErrNotText, "line 6: a binary file"},
	} {
		refused(t, c.text, c.reason, c.want)
	}
}
