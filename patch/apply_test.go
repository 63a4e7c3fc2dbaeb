// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// backends calls test with each backend, holding the files.
func backends(t *testing.T, files map[string]string, test func(t *testing.T, fsys ambit.WritableFileSystem)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New(files, nil)) })
	t.Run("local", func(t *testing.T) { test(t, onDisk(t, t.TempDir(), files, nil)) })
}

// onDisk returns dir, with the files in it, as a file system.
func onDisk(t testing.TB, dir string, files map[string]string, o *local.Options) *local.FileSystem {
	t.Helper()
	for path, content := range files {
		host := filepath.Join(dir, filepath.FromSlash(path))
		folder := filepath.Dir(host)
		if strings.HasSuffix(path, "/") {
			folder = host
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if folder == host {
			continue
		}
		if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o == nil {
		o = &local.Options{Durability: local.NotDurable}
	}
	fsys, err := local.New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// snapshot returns all files of the file system, and its folders with a slash
// behind them; a link is shown as one.
func snapshot(t testing.TB, fsys ambit.FileSystem) map[string]string {
	t.Helper()
	ctx := context.Background()
	tree := make(map[string]string)
	for e, err := range ambit.Walk(ctx, fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(e.Info.Path, "/")
		switch e.Info.Kind {
		case ambit.KindRegular:
			data, _, err := ambit.ReadFile(ctx, fsys, e.Info.Path)
			if err != nil {
				t.Fatal(err)
			}
			tree[path] = string(data)
		case ambit.KindDirectory:
			tree[path+"/"] = ""
		default:
			tree[path] = e.Info.Kind.String()
		}
	}
	return tree
}

func parse(t testing.TB, text string) *patch.Patch {
	t.Helper()
	p, err := patch.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// begin puts the frame of its format around the lines of a patch.
func begin(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// problems returns the problems as "line reason".
func problems(r *patch.Report) (all []string) {
	for _, p := range r.Problems {
		all = append(all, fmt.Sprintf("%d %s", p.Line, p.Err.Reason))
	}
	return all
}

// TestContent applies patches to one file named f: want is its content then, or
// a reason in angle brackets.
func TestContent(t *testing.T) {
	defs := "def a():\n    pass\n\ndef b():\n    pass\n"
	blocks := "a:\n\tflush()\n\treturn\nb:\n\tflush()\n\treturn\n"
	classes := "class X:\n    def m():\n        return 0\nclass Y:\n    def m():\n        return 0\n"
	eight := "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\n"
	typed := "def f():\n    x = 1  \n    y = \u2019a\u2019\n    z = 3\n"
	update := func(lines ...string) string {
		return begin(append([]string{"*** Update File: f"}, lines...)...)
	}
	unified := func(lines ...string) string {
		return "--- a/f\n+++ b/f\n" + strings.Join(lines, "\n") + "\n"
	}
	const eof, noNewline = "*** End of File", `\ No newline at end of file`
	for _, c := range []struct {
		name, before, patch, want string
	}{
		{"PATCH-01", "line1\nline2\nline3", update("@@", "-line1", "+LINE1"), "LINE1\nline2\nline3"},
		{"PATCH-03", "a\nb\n", update("@@", "+c", eof), "a\nb\nc\n"},
		{"PATCH-03 without a newline", "a\nb", update("@@", "+c", eof), "a\nb\nc"},
		{"PATCH-05", defs, update("@@ def a():", "+    # new"), "def a():\n    # new\n    pass\n\ndef b():\n    pass\n"},
		{"PATCH-05 unknown anchor", defs, update("@@ def zzz():", "+    # new"), "<no-match>"},
		{"PATCH-06", typed, update("@@", "   x = 1", "    y = 'a'", "-    z = 3", "+    z = 4"), "<no-match>"},
		{"PATCH-06 verbatim", typed, update("@@", "     x = 1  ", "     y = \u2019a\u2019", "-    z = 3", "+    z = 4"), strings.Replace(typed, "3", "4", 1)},
		{"PATCH-07 (i)", blocks, update("@@", "-\tflush()", "-\treturn"), "<ambiguous>"},
		{"PATCH-07 (ii)", blocks, update("@@", "-flush()", "-return"), "<no-match>"},
		{"PATCH-07 (iii)", blocks, update("@@ b:", "-\tflush()", "-\treturn"), "a:\n\tflush()\n\treturn\nb:\n"},
		{"PATCH-08", "p\r\nq\r\nr\r\n", update("@@", " p", "-q", "+Q1", "+Q2"), "p\r\nQ1\r\nQ2\r\nr\r\n"},
		{"PATCH-08 CRLF", "p\r\nq\r\nr\r\n", strings.ReplaceAll(update("@@", " p", "-q", "+Q1", "+Q2"), "\n", "\r\n"), "p\r\nQ1\r\nQ2\r\nr\r\n"},
		{"PATCH-08 unified", "p\r\nq\r\nr\r\n", unified("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"), "p\r\nQ1\r\nQ2\r\nr\r\n"},
		{"PATCH-08 unified CRLF", "p\r\nq\r\nr\r\n", strings.ReplaceAll(unified("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"), "\n", "\r\n"), "p\r\nQ1\r\nQ2\r\nr\r\n"},
		{"CRLF patch, LF file", "p\nq\nr\n", strings.ReplaceAll(update("@@", " p", "-q", "+Q1", "+Q2"), "\n", "\r\n"), "p\nQ1\nQ2\nr\n"},
		{"CRLF unified diff, LF file", "p\nq\nr\n", strings.ReplaceAll(unified("@@ -1,2 +1,3 @@", " p", "-q", "+Q1", "+Q2"), "\n", "\r\n"), "p\nQ1\nQ2\nr\n"},
		{"content with CR", "p\r\nq\r\nr\n", unified("@@ -1,3 +1,3 @@", " p\r", "-q\r", "+Q", " r"), "p\r\nQ\nr\n"},
		{"PATCH-12", "one\ntwo\n", begin("*** Update File: f", "@@", "-one", "+ONE", "*** Update File: f", "@@", "-two", "+TWO"), "ONE\nTWO\n"},
		{"PATCH-12 the second builds on the first", "one\n", begin("*** Update File: f", "@@", "-one", "+two", "*** Update File: f", "@@", "-two", "+three"), "three\n"},
		{"PATCH-13", eight, unified("@@ -6 +6 @@", "-l6", "+L6", "@@ -2 +2 @@", "-l2", "+L2"), "<no-match>"},
		{"PATCH-13 unnumbered", eight, update("@@", "-l6", "+L6", "@@", "-l2", "+L2"), "<no-match>"},
		{"PATCH-15", classes, update("@@ class Y:", "@@     def m():", "-        return 0", "+        return 1"), classes[:len(classes)-2] + "1\n"},
		{"PATCH-15 unindented", classes, update("@@ class Y:", "@@ def m():", "-        return 0", "+        return 1"), classes[:len(classes)-2] + "1\n"},
		{"PATCH-15 the first of two", classes, update("@@ class X:", "@@ def m():", "-        return 0", "+        return 1"), "<ambiguous>"},
		{"PATCH-16", "a\n-- x\nb\n", update("@@", " a", "--- x", "+++ y", " b"), "a\n++ y\nb\n"},
		{"PATCH-16 unified", "a\n-- x\nb\n", unified("@@ -1,3 +1,3 @@", " a", "--- x", "+++ y", " b"), "a\n++ y\nb\n"},
		{"PATCH-16 marks as content", "@@ z\n*** note\nend\n", update("@@", " @@ z", "-*** note", "+*** End Patch", "+@@ y", " end"), "@@ z\n*** End Patch\n@@ y\nend\n"},
		{"EDIT-01", "cost: @P@\n", update("@@", "-cost: @P@", "+cost: $$5 $& $' $` $1 ${name} \\1 %s &"), "cost: $$5 $& $' $` $1 ${name} \\1 %s &\n"},
		{"ENCODING-03", "\ufeffhello\n中文\n", update("@@", "-hello", "+hi"), "\ufeffhi\n中文\n"},
		{"ENCODING-03 unified", "\ufeffhello\n中文\n", unified("@@ -1,2 +1,2 @@", "-hello", "+hi", " 中文"), "\ufeffhi\n中文\n"},
		{"ENCODING-03 named by the diff", "\ufeffhello\n中文\n", unified("@@ -1,2 +1,2 @@", "-\ufeffhello", "+\ufeffhi", " 中文"), "\ufeffhi\n中文\n"},
		{"ENCODING-03 the first line goes", "\ufeffhello\n中文\n", update("@@", "-hello", " 中文"), "\ufeff中文\n"},
		{"ENCODING-03 not twice", "\ufeffhello\n", update("@@", "-hello", "+\ufeffhi"), "\ufeffhi\n"},
		{"the mark is removed", "\ufeffhello\n", unified("@@ -1 +1 @@", "-\ufeffhello", "+hello"), "hello\n"},
		{"the mark is added", "hello\n", unified("@@ -1 +1 @@", "-hello", "+\ufeffhello"), "\ufeffhello\n"},
		{"a mark that is not there", "hello\n", unified("@@ -1 +1 @@", "-\ufeffhello", "+hi"), "<no-match>"},
		{"ENCODING-04", "n = 1;\n# stra\xdfe\n", update("@@", "-n = 1;", "+n = 2;"), "n = 2;\n# stra\xdfe\n"},
		{"ENCODING-04 GBK", "# \xd6\xd0\xce\xc4\nn = 1;\n\xd6", update("@@", "-n = 1;", "+n = 2;"), "# \xd6\xd0\xce\xc4\nn = 2;\n\xd6"},
		{"not UTF-8, and added text that is", "# stra\xdfe\nn\n", update("@@", "-n", "+ü"), "<not-text>"},
		{"not UTF-8, and added bytes that are not", "# stra\xdfe\nn\n", update("@@", "-n", "+\xfc"), "# stra\xdfe\n\xfc\n"},
		{"not UTF-8, and text that was there", "# stra\xdfe\nn = 'ü'\n", update("@@", "-n = 'ü'", "+m = 'ü'"), "# stra\xdfe\nm = 'ü'\n"},
		{"not UTF-8, and more text than was there", "# stra\xdfe\nn = 'ü'\n", update("@@", "-n = 'ü'", "+m = 'üö'"), "<not-text>"},
		{"not UTF-8, until all of it is", "# stra\xdfe\nn\n", update("@@", "-# stra\xdfe", "+# straße"), "# straße\nn\n"},
		{"LIMITS-02", strings.Repeat("a", 70000) + "\nTARGET\n", update("@@", "-TARGET", "+HIT"), strings.Repeat("a", 70000) + "\nHIT\n"},

		{"the number decides", "x\nsame\ny\nsame\n", unified("@@ -4 +4 @@", "-same", "+other"), "x\nsame\ny\nother\n"},
		{"the number is wrong, the place is one", "x\ny\nz\n", unified("@@ -7 +7 @@", "-y", "+Y"), "x\nY\nz\n"},
		{"the number is wrong, the places are two", "same\nx\nsame\n", unified("@@ -2 +2 @@", "-same", "+Y"), "<ambiguous>"},
		{"later numbers are those of the old file", "1\n2\n2\n2\n", unified("@@ -1 +1,3 @@", "-1", "+a", "+b", "+c", "@@ -3 +5 @@", "-2", "+X"), "a\nb\nc\n2\nX\n2\n"},
		{"an insertion by number", "1\n2\n", unified("@@ -1,0 +2 @@", "+x"), "1\nx\n2\n"},
		{"an insertion before the first line", "1\n2\n", unified("@@ -0,0 +1 @@", "+x"), "x\n1\n2\n"},
		{"an insertion past the end", "1\n2\n", unified("@@ -3,0 +4 @@", "+x"), "<out-of-range>"},
		{"an insertion in a CRLF file", "1\r\n2\r\n", unified("@@ -1,0 +2 @@", "+x"), "1\r\nx\n2\r\n"},
		{"an insertion in a CRLF file by a diff without CR", "1\r\n2\r\n", unified("@@ -1 +1 @@", "-1", "+one", "@@ -2,0 +3 @@", "+x"), "one\r\n2\r\nx\r\n"},
		{"an insertion in a CRLF file by a diff with a CR", "1\r\n2\r\n", unified("@@ -1 +1 @@", "-1", "+one\r", "@@ -2,0 +3 @@", "+x"), "one\r\n2\r\nx\n"},
		{"an insertion in a file of both endings", "1\r\n2\n", unified("@@ -1 +1 @@", "-1", "+one", "@@ -2,0 +3 @@", "+x"), "one\r\n2\nx\n"},
		{"insertions that are all there is", "e\r\nf\nb\n", unified("@@ -1,0 +2 @@", "+new", "@@ -2,0 +4 @@", "+new"), "e\r\nnew\nf\nnew\nb\n"},
		{"an insertion that ends in CR", "e\r\nf\n", unified("@@ -2,0 +3 @@", "+\r", noNewline), "e\r\nf\n\r"},
		{"an empty file", "", update("@@", "+x"), "x\n"},
		{"an empty file, by number", "", unified("@@ -0,0 +1 @@", "+x", noNewline), "x"},
		{"lines from nowhere", "1\n2\n", update("@@", "+x"), "<ambiguous>"},
		{"a newline is added", "1\n2", unified("@@ -1,2 +1,2 @@", " 1", "-2", noNewline, "+2"), "1\n2\n"},
		{"a newline is taken away", "1\n2\n", unified("@@ -1,2 +1,2 @@", " 1", "-2", "+2", noNewline), "1\n2"},
		{"a newline is added in a CRLF file", "1\r\n2", unified("@@ -1,2 +1,2 @@", " 1", "-2", noNewline, "+2"), "1\r\n2\r\n"},
		{"a newline is taken away in a CRLF file", "1\r\n2\r\n", unified("@@ -1,2 +1,2 @@", " 1", "-2", "+3", noNewline), "1\r\n3"},
		{"no newline in the file, one in the diff", "1\n2", unified("@@ -1,2 +1,2 @@", " 1", "-2", "+3"), "1\n3"},
		{"a newline in the file, none in the diff", "1\n2\n", unified("@@ -1,2 +1,2 @@", " 1", "-2", noNewline, "+3", noNewline), "1\n3\n"},
		{"the end of the diff is not that of the file", "1\n2\n3\n", unified("@@ -1,2 +1,2 @@", " 1", "-2", noNewline, "+3", noNewline), "<no-match>"},
		{"the last line goes", "1\n2", update("@@", " 1", "-2"), "1"},
		{"all lines go", "1\n2\n", update("@@", "-1", "-2"), ""},
		{"the end", "same\nx\nsame\n", update("@@", "-same", "+last", eof), "same\nx\nlast\n"},
		{"not at the end", "same\nx\n", update("@@", "-same", "+last", eof), "<no-match>"},
		{"an anchor for two hunks", "f:\n a\n b\n c\ng:\n d\n", update("@@ f:", "- a", "+ A", "@@ f:", "- c", "+ C"), "f:\n A\n b\n C\ng:\n d\n"},
		{"an indented anchor", "m:\n  m:\n", update("@@   m:", "+    x"), "m:\n  m:\n    x\n"},
		{"an anchor without its indentation", "m:\n  m:\n", update("@@ m:", "+    x"), "<ambiguous>"},
		{"two places, endings not counted", "same\r\nx\nsame\n", update("@@", "-same", "+y"), "<ambiguous>"},
		{"hunks overlap", "1\n2\n3\n", update("@@", " 1", "-2", "+x", "@@", "-2", "+y", " 3"), "<no-match>"},
		{"nothing changes", "1\n2\n", unified("@@ -1,2 +1,2 @@", " 1", "-2", "+2"), "1\n2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backends(t, map[string]string{"f": c.before}, func(t *testing.T, fsys ambit.WritableFileSystem) {
				p := parse(t, c.patch)
				_, before, err := ambit.ReadFile(t.Context(), fsys, "f")
				if err != nil {
					t.Fatal(err)
				}
				dry, dryErr := patch.Apply(t.Context(), fsys, p, &patch.Options{DryRun: true})
				if _, now, err := ambit.ReadFile(t.Context(), fsys, "f"); err != nil || now.Version != before.Version {
					t.Fatalf("a dry run changed the file, or it is gone: %v", err)
				}
				r, err := patch.Apply(t.Context(), fsys, p, nil)
				want := c.want
				if !cmp.Equal(problems(dry), problems(r)) || fmt.Sprint(dryErr) != fmt.Sprint(err) || dry.Diff != r.Diff || dry.Applied {
					t.Errorf("a dry run tells %v, %q, %v; the other %v, %q", problems(dry), dry.Diff, dry.Applied, problems(r), r.Diff)
				}
				if strings.HasPrefix(c.want, "<") {
					if reason := "<" + string(ambit.ReasonOf(err)) + ">"; reason != c.want || r.Applied {
						t.Errorf("%v (applied: %v); want %s", err, r.Applied, c.want)
					}
					want = c.before
				} else if err != nil || !r.Applied {
					t.Errorf("%v (applied: %v)", err, r.Applied)
				}
				if got := snapshot(t, fsys); !cmp.Equal(got, map[string]string{"f": want}) {
					t.Errorf("the file is %q, want %q", got, want)
				}
			})
		})
	}
}

// TestNearest: what is told of a hunk that fits nowhere.
func TestNearest(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ content, patch, want string }{
		{"a\n\tb\nc\n", begin("*** Update File: f", "@@", " a", "-    b", "+B"), `in the nearest place, from line 1 on, line 2 is "\tb", in the patch "    b" (only white space around it differs)`},
		{"a\nb \nc\n", begin("*** Update File: f", "@@", "-b", "-c", "+B"), `in the nearest place, from line 2 on, line 2 is "b ", in the patch "b" (only white space at the end differs)`},
		{"a\nb\n", begin("*** Update File: f", "@@", "-A", "-b", "+B"), `line 1 is "a", in the patch "A" (only upper and lower case differ)`},
		{"a\nB\nc\n", begin("*** Update File: f", "@@", " a", "-b", "+B"), `; the lines that the hunk leaves are there already, from line 1 on`},
		{"a\n" + long + "1\n", begin("*** Update File: f", "@@", " a", "-"+long+"2", "+B"), `line 2 is …"` + strings.Repeat("x", 79) + `1", in the patch …"` + strings.Repeat("x", 79) + `2"`},
		{"a\nb\n", begin("*** Update File: f", "@@", "-x", "+y"), `none of the hunk's lines is in the file, the first being "x"`},
		{"", begin("*** Update File: f", "@@", "-x", "+y"), `the file is empty`},
		{"a\nb\n", begin("*** Update File: f", "@@", " b", " c", "+y"), `in the nearest place, from line 2 on, the file ends with line 2, and the patch goes on with "c"`},
		{"a\nb\n", begin("*** Update File: f", "@@ b", "-a", "+y"), `the hunk fits only at line 1, above what comes before it in the patch`},
		{"a\nb\n", begin("*** Update File: f", "@@ b", "@@ a", "+y"), `no line is the anchor "a" below line 2, which the anchor before it names`},
		{"x\nif a { // why\n\tdef b(c):\n", begin("*** Update File: f", "@@ def b", "+y"), `no line is the anchor "def b"; line 3 begins with it: "\tdef b(c):"`},
		{"x\nif a { // why\ny\n", begin("*** Update File: f", "@@ a {", "+y"), `no line is the anchor "a {"; line 2 contains it: "if a { // why"`},
		{"a\x00b\x00c\x00\n\x00", begin("*** Update File: f", "@@", "-abc", "+y"), `; the file looks like utf-16le, but has no byte order mark`},
		{"\x00\x01\x02\xff\xfe\x03", begin("*** Update File: f", "@@", "-abc", "+y"), `; the file does not look like text (`},
	} {
		fsys := memory.New(map[string]string{"f": c.content}, nil)
		_, err := patch.Apply(t.Context(), fsys, parse(t, c.patch), nil)
		if ambit.ReasonOf(err) != ambit.ErrNoMatch || !strings.Contains(err.Error(), c.want) {
			t.Errorf("on %q: %v\nwant %s", c.content, err, c.want)
		}
	}
}
