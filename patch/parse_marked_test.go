// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/patch"
)

// hunk makes a hunk out of lines as they stand in a patch.
func hunk(line int, anchors []string, body ...string) patch.Hunk {
	h := patch.Hunk{Line: line, Anchors: anchors}
	for _, b := range body {
		h.Lines = append(h.Lines, patch.Line{Kind: patch.LineKind(b[0]), Text: b[1:] + "\n"})
	}
	return h
}

func atEnd(h patch.Hunk) patch.Hunk {
	h.EndOfFile = true
	return h
}

func update(line int, path string, hunks ...patch.Hunk) patch.Section {
	return patch.Section{Line: line, Action: patch.Update, Path: path, Hunks: hunks}
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// marked puts lines between the first and the last one of the format, so that
// the first of them is line 2.
func marked(lines ...string) string {
	return "*** Begin Patch\n" + text(append(lines, "*** End Patch")...)
}

var markedCases = []struct {
	name, text string
	want       []patch.Section
	naive      bool // the naive parser below gives it too
}{
	{
		name: "every action",
		text: marked("*** Add File: n", "+one", "+", "*** Delete File: d", "*** Update File: u", "*** Move to: v", "@@ x", " a", "-b", "+c", "*** Update File: r", "*** Move to: s", "*** Add File: empty"),
		want: []patch.Section{
			{Line: 2, Action: patch.Add, Path: "n", Hunks: []patch.Hunk{hunk(3, nil, "+one", "+")}},
			{Line: 5, Action: patch.Delete, Path: "d"},
			{Line: 6, Action: patch.Update, Path: "u", To: "v", Hunks: []patch.Hunk{hunk(8, []string{"x"}, " a", "-b", "+c")}},
			{Line: 12, Action: patch.Update, Path: "r", To: "s"},
			{Line: 14, Action: patch.Add, Path: "empty"},
		},
		naive: true,
	},
	{
		name: "PATCH-01",
		text: marked("*** Update File: f", "-line1", "+LINE1"),
		want: []patch.Section{update(2, "f", hunk(3, nil, "-line1", "+LINE1"))},
	},
	{
		name: "PATCH-03",
		text: marked("*** Update File: f", "@@", "+c", "*** End of File"),
		want: []patch.Section{update(2, "f", atEnd(hunk(3, nil, "+c")))},
	},
	{
		name:  "PATCH-05",
		text:  marked("*** Update File: f", "@@ def a():", "+    # new"),
		want:  []patch.Section{update(2, "f", hunk(3, []string{"def a():"}, "+    # new"))},
		naive: true,
	},
	{
		name: "PATCH-12",
		text: marked("*** Update File: f", "@@", "-one", "+ONE", "*** Update File: f", "@@", "-two", "+TWO"),
		want: []patch.Section{
			update(2, "f", hunk(3, nil, "-one", "+ONE")),
			update(6, "f", hunk(7, nil, "-two", "+TWO")),
		},
		naive: true,
	},
	{
		name:  "PATCH-13",
		text:  marked("*** Update File: f", "@@", "-l6", "+L6", "@@", "-l2", "+L2"),
		want:  []patch.Section{update(2, "f", hunk(3, nil, "-l6", "+L6"), hunk(6, nil, "-l2", "+L2"))},
		naive: true,
	},
	{
		name: "PATCH-15",
		text: marked("*** Update File: f", "@@ class Y:", "@@     def m():", "-        return 0", "+        return 1"),
		want: []patch.Section{update(2, "f", hunk(3, []string{"class Y:", "    def m():"}, "-        return 0", "+        return 1"))},
	},
	{
		name: "PATCH-16",
		text: marked("*** Update File: f", "@@", " a", "--- x", "+++ y", " b", " @@ z", "-@@ z", "+@@ z", " *** note", "-*** note", "+*** note", "+*** End Patch"),
		want: []patch.Section{update(2, "f", hunk(3, nil, " a", "--- x", "+++ y", " b", " @@ z", "-@@ z", "+@@ z", " *** note", "-*** note", "+*** note", "+*** End Patch"))},
	},
	{
		name:  "content of a new file that looks like the format",
		text:  marked("*** Add File: f", "+*** End Patch", "++", "+-", "+@@", "+ ", "+```", "+EOF"),
		want:  []patch.Section{{Line: 2, Action: patch.Add, Path: "f", Hunks: []patch.Hunk{hunk(3, nil, "+*** End Patch", "++", "+-", "+@@", "+ ", "+```", "+EOF")}}},
		naive: true,
	},
	{
		name: "empty lines are context, and separate only before what follows",
		text: marked("", "*** Update File: f", "", " a", "", "-b", "", "", "@@ x", "", "@@ y", "", "+c", "", "*** End of File", "", "@@", "-d", "", "*** Delete File: g", "", ""),
		want: []patch.Section{
			update(
				3, "f",
				hunk(4, nil, " ", " a", " ", "-b"),
				atEnd(hunk(10, []string{"x", "y"}, " ", "+c", " ")),
				hunk(18, nil, "-d"),
			),
			{Line: 21, Action: patch.Delete, Path: "g"},
		},
	},
	{
		name: "a bare @@ among anchors says nothing",
		text: marked("*** Update File: f", "@@", "@@ x", "@@ ", "@@   y ", "+c"),
		want: []patch.Section{update(2, "f", hunk(3, []string{"x", "  y "}, "+c"))},
	},
	{
		name: "names are taken as they are",
		text: marked("*** Delete File:  two  spaces ", "*** Delete File: \"q\"", "*** Delete File: ./a//b/", "*** Delete File: \xff\u00e9\t"),
		want: []patch.Section{
			{Line: 2, Action: patch.Delete, Path: " two  spaces "},
			{Line: 3, Action: patch.Delete, Path: `"q"`},
			{Line: 4, Action: patch.Delete, Path: "./a//b/"},
			{Line: 5, Action: patch.Delete, Path: "\xff\u00e9\t"},
		},
		naive: true,
	},
	{
		name: "a CR in a text of LF lines is content",
		text: marked("*** Update File: f\r", "@@ x\r", " a\r", "\r", "-b\r\r", "+c"),
		want: []patch.Section{update(2, "f", hunk(3, []string{"x"}, " a\r", " \r", "-b\r\r", "+c"))},
	},
	{
		name:  "no newline at the end of the text",
		text:  strings.TrimSuffix(marked("*** Add File: f", "+x"), "\n"),
		want:  []patch.Section{{Line: 2, Action: patch.Add, Path: "f", Hunks: []patch.Hunk{hunk(3, nil, "+x")}}},
		naive: true,
	},
}

// wrappings are all that may stand around a patch, and how many lines come first.
var wrappings = []struct {
	before, after string
	lines         int
}{
	{"", "", 0},
	{"\n\n", "\n\n", 2},
	{"```\n", "```\n", 1},
	{"```diff\n", "```", 1},
	{"~~~~ patch `x`\n\n", "\n~~~~~  \n\n", 2},
	{"apply_patch <<'EOF'\n", "EOF\n", 1},
	{"\ncat > p.patch <<-\"END_1\" && x\n", "END_1\n", 2},
	{"<<EOF\n", "EOF", 1},
	{"```sh\napply_patch << 'EOF'\n", "EOF\n```\n", 2},
}

func TestParseMarked(t *testing.T) {
	for _, c := range markedCases {
		t.Run(c.name, func(t *testing.T) {
			p, err := patch.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Sections); diff != "" {
				t.Error(diff)
			}
			if same := cmp.Equal(c.want, parseNaively(c.text)); same != c.naive {
				t.Errorf("a naive parser gives the right answer: %t", same)
			}
			verifyLines(t, c.text, p)
		})
	}
}

func TestParseMarkedWrapped(t *testing.T) {
	for _, c := range markedCases {
		for _, w := range wrappings {
			whole := c.text
			if !strings.HasSuffix(whole, "\n") && w.after != "" {
				whole += "\n"
			}
			whole = w.before + whole + w.after
			want := moved(c.want, w.lines)
			texts := []string{whole}
			if !strings.Contains(c.text, "\r") {
				texts = append(texts, strings.ReplaceAll(whole, "\n", "\r\n"))
			}
			for _, text := range texts {
				p, err := patch.Parse(text)
				if err != nil {
					t.Errorf("%q: %v", text, err)
					continue
				}
				if diff := cmp.Diff(want, p.Sections); diff != "" {
					t.Errorf("%q: %s", text, diff)
				}
				verifyLines(t, text, p)
			}
		}
	}
}

// moved returns the sections that many lines further down.
func moved(sections []patch.Section, lines int) []patch.Section {
	var out []patch.Section
	for _, s := range sections {
		s.Line += lines
		s.Hunks = append([]patch.Hunk(nil), s.Hunks...)
		for i := range s.Hunks {
			s.Hunks[i].Line += lines
		}
		out = append(out, s)
	}
	return out
}

// parseNaively has the faults of comparable software: each "@@" begins a hunk,
// "---" and "+++" are headers, "***" is the format's own wherever it stands, and
// the last element of a split text is taken for a line.
func parseNaively(text string) []patch.Section {
	var sections []patch.Section
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		last := len(sections) - 1
		switch {
		case strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "*** Add File: "):
			sections = append(sections, patch.Section{Line: i + 1, Action: patch.Add, Path: line[14:]})
		case strings.HasPrefix(line, "*** Delete File: "):
			sections = append(sections, patch.Section{Line: i + 1, Action: patch.Delete, Path: line[17:]})
		case strings.HasPrefix(line, "*** Update File: "):
			sections = append(sections, patch.Section{Line: i + 1, Action: patch.Update, Path: line[17:]})
		case last < 0:
		case strings.HasPrefix(line, "*** Move to: "):
			sections[last].To = line[13:]
		case strings.HasPrefix(line, "*** End of File"):
			h := sections[last].Hunks
			h[len(h)-1].EndOfFile = true
			h[len(h)-1].Lines = append(h[len(h)-1].Lines, patch.Line{Kind: patch.Context, Text: "\n"})
		case strings.HasPrefix(line, "***"):
		case strings.HasPrefix(line, "@@"):
			h := patch.Hunk{Line: i + 1}
			if len(line) > 3 {
				h.Anchors = []string{line[3:]}
			}
			sections[last].Hunks = append(sections[last].Hunks, h)
		case line != "":
			if sections[last].Action == patch.Add && sections[last].Hunks == nil {
				sections[last].Hunks = []patch.Hunk{{Line: i + 1}}
			}
			if h := sections[last].Hunks; len(h) > 0 {
				h[len(h)-1].Lines = append(h[len(h)-1].Lines, patch.Line{Kind: patch.LineKind(line[0]), Text: line[1:] + "\n"})
			}
		}
	}
	return sections
}

func TestParseMarkedRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // what the detail begins with
	}{
		{"", "line 1: no patch"},
		{"\n\n", "line 1: no patch"},
		{"Here is the patch:\n" + marked("*** Delete File: f"), `line 2: expected "*** Begin Patch" in the first line`},
		{"*** Start Patch\n", `line 1: expected "*** Begin Patch", not "*** Start Patch"`},
		{"*** Update File: f\n-a\n+b\n", `line 1: expected "*** Begin Patch"`},
		{"*** Begin Patch \n*** End Patch\n", `line 1: expected "*** Begin Patch", not "*** Begin Patch "`},
		{"*** a.c\t2001-01-01\n--- b.c\t2001-01-01\n***************\n", `line 1: expected "*** Begin Patch"`},
		{marked(), "line 2: the patch is empty"},
		{"*** Begin Patch\n", `line 2: expected "*** Add File: "`},
		{"*** Begin Patch", `line 2: expected "*** Add File: "`},
		{marked("+x"), `line 2: expected "*** Add File: "`},
		{marked("*** Rename File: f"), `line 2: expected "*** Add File: "`},
		{marked("*** Add File:f"), `line 2: expected "*** Add File: "`},
		{marked("*** Add File: "), "line 2: expected a name"},
		{marked("*** Add File: \r"), "line 2: expected a name"},
		{marked("*** Update File: f", "*** Move to: ", "@@", "+x"), "line 3: expected a name"},
		{marked("*** Add File: f", "+a", "", "+b"), `line 5: expected a line that begins with "+"`},
		{marked("*** Add File: f", "a"), `line 3: expected a line that begins with "+"`},
		{marked("*** Add File: f", "+a", " b"), `line 4: expected a line that begins with "+"`},
		{marked("*** Add File: f", "@@", "+a"), `line 3: expected a line that begins with "+"`},
		{marked("*** Add File: f", "+a", "*** End of File"), `line 4: expected "*** Add File: "`},
		{marked("*** Add File: f", "*** Move to: g"), `line 3: expected "*** Add File: "`},
		{marked("*** Delete File: f", "-a"), `line 3: expected another section or "*** End Patch", not "-a"`},
		{marked("*** Update File: f"), `line 3: expected a hunk of "f", which line 2 begins`},
		{marked("*** Update File: f", "", "*** Delete File: g"), `line 3: expected a hunk of "f"`},
		{marked("*** Update File: f", "@@"), `line 4: expected a line that begins with " ", "-" or "+", not "*** End Patch"`},
		{marked("*** Update File: f", "@@ x", "", "*** End Patch"), `line 4: expected a line that begins with " ", "-" or "+"`},
		{marked("*** Update File: f", "@@ x", "*** End of File"), `line 4: expected a line that begins with " ", "-" or "+"`},
		{marked("*** Update File: f", "*** End of File"), `line 3: expected a line that begins with " ", "-" or "+"`},
		{marked("*** Update File: f", "@@ x", " a", " b"), "line 3: the hunk changes nothing"},
		{marked("*** Update File: f", "@@x", "+a"), `line 3: expected "@@"`},
		{marked("*** Update File: f", "@@ x", "+a", "b"), `line 5: expected a line that begins with " ", "-", "+", "@@" or "***", not "b"`},
		{marked("*** Update File: f", "@@ x", "\tb", "+a"), `line 4: expected a line that begins with " "`},
		{marked("*** Update File: f", "+a", "*** Move to: g"), `line 4: expected "*** Add File: "`},
		{marked("*** Update File: f", "+a", "*** End of File", "+b"), `line 5: expected "@@"`},
		{marked("*** Update File: f", "+a", "*** End of File", "*** End of File"), `line 5: expected "@@"`},
		{marked("*** Update File: f", "+a", "*** note"), `line 4: expected "*** Add File: "`},
		{marked("*** Update File: f", "+a", "*** Begin Patch"), `line 4: expected "*** Add File: "`},
		{"*** Begin Patch\n*** Update File: f\n+a\n", `line 4: expected another section or "*** End Patch", not the end of the text`},
		{"*** Begin Patch\n*** Delete File: f\n", `line 3: expected another section or "*** End Patch", not the end of the text`},
		{marked("*** Delete File: f") + "and more\n", "line 4: expected nothing more behind the patch"},
		{marked("*** Delete File: f") + marked("*** Delete File: g"), "line 4: expected nothing more behind the patch"},
		{marked("*** Delete File: f") + "```\n", "line 4: expected nothing more behind the patch"},
		{"```\n" + marked("*** Delete File: f"), "line 5: expected \"```\", which ends what line 1 begins, not the end of the text"},
		{"````\n" + marked("*** Delete File: f") + "```\n", "line 5: expected \"````\""},
		{"~~~\n" + marked("*** Delete File: f") + "```\n", `line 5: expected "~~~"`},
		{"cat <<EOF\n" + marked("*** Delete File: f") + "EOF2\n", `line 5: expected "EOF", which ends what line 1 begins`},
		{"cat <<EOF\n" + marked("*** Delete File: f") + " EOF\n", `line 5: expected "EOF"`},
		{"cat <<EOF\n```\n" + marked("*** Delete File: f") + "```\nEOF\n", `line 3: expected "*** Begin Patch" in the first line`},
		{"cat <<'EOF\n" + marked("*** Delete File: f") + "EOF\n", `line 2: expected "*** Begin Patch" in the first line`},
		{"\ufeff" + marked("*** Delete File: f"), `line 2: expected "*** Begin Patch" in the first line`},
	} {
		refused(t, c.text, ambit.ErrInvalid, c.want)
	}
}

// refused checks that the text is refused with the reason, and a detail that
// begins as wanted.
func refused(t *testing.T, text string, reason ambit.Reason, want string) {
	t.Helper()
	p, err := patch.Parse(text)
	var e *ambit.Error
	switch {
	case p != nil || !errors.As(err, &e):
		t.Errorf("%q: %+v, %v; want an error", text, p, err)
	case e.Reason != reason || !strings.HasPrefix(e.Detail, want) || e.Op != "" || e.Path != "":
		t.Errorf("%q: %+v; want %s, %s...", text, e, reason, want)
	}
}
