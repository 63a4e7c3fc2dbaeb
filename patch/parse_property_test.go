// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit/patch"
)

// pick returns one of them.
func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// content are lines that a parser may take for something else.
var content = []string{
	"", " ", "a", "b", "-- x", "++ y", "- x", "+ y", "@@ z", "@@ -1 +1 @@", "@ -1 +1 @@", "** note", "*** note", "*** End Patch", "*** Begin Patch",
	"*** End of File", "*** Update File: x", "diff --git a/x b/x", "iff --git", `\ No newline at end of file`, ` No newline`, "```", "~~~", "EOF",
	"-", "+", "tab\there", "\u00e9\u2028\u0085x", "\xff\xfe", "x\r", "\r", "a\rb", "\f", "\x00", "Binary files a and b differ", "/dev/null",
}

var names = []string{
	"f", "d/e/f.go", "with space", " lead", "trail ", "a/x", "b/x", "i/w", "a b/a b", "\u00e9", "\xff\x01", "q\"q", `back\slash`, `\`, "tab\tname", "line\nname",
	"/abs", "./x", "x//y", "dir/", "cr\r", "***", "b/b b/b", "a", "x x", "~", "f.orig",
}

// A writer writes a patch and knows at which line it is.
type writer struct {
	r *rand.Rand
	strings.Builder
	line int
}

func (w *writer) put(line string) {
	w.WriteString(line + "\n")
	w.line++
}

// gap puts some empty lines, or none.
func (w *writer) gap() {
	for w.r.IntN(4) == 0 {
		w.put("")
	}
}

func randomLines(r *rand.Rand, kinds string) []patch.Line {
	var lines []patch.Line
	for range 1 + r.IntN(6) {
		lines = append(lines, patch.Line{Kind: patch.LineKind(kinds[r.IntN(len(kinds))]), Text: pick(r, content...) + "\n"})
	}
	return lines
}

func hasChange(lines []patch.Line) bool {
	return slices.ContainsFunc(lines, func(l patch.Line) bool { return l.Kind != patch.Context })
}

// A name in the marked format cannot have a newline, and none ends in a CR.
func markedName(r *rand.Rand) string {
	for {
		if n := pick(r, names...); !strings.ContainsAny(n, "\r\n") {
			return n
		}
	}
}

// randomMarked returns a patch and its text in the format of "*** Begin Patch".
func randomMarked(r *rand.Rand) (*patch.Patch, string) {
	w := &writer{r: r, line: 1}
	var p patch.Patch
	w.put("*** Begin Patch")
	for range 1 + r.IntN(4) {
		w.gap()
		s := patch.Section{Line: w.line, Path: markedName(r), Action: pick(r, patch.Add, patch.Delete, patch.Update, patch.Update)}
		w.put(map[patch.Action]string{patch.Add: "*** Add File: ", patch.Delete: "*** Delete File: ", patch.Update: "*** Update File: "}[s.Action] + s.Path)
		switch s.Action {
		case patch.Add:
			if r.IntN(4) > 0 {
				s.Hunks = []patch.Hunk{{Line: w.line, Lines: randomLines(r, "+")}}
				for _, l := range s.Hunks[0].Lines {
					w.put("+" + strings.TrimSuffix(l.Text, "\n"))
				}
			}
		case patch.Update:
			if r.IntN(3) == 0 {
				s.To = markedName(r)
				w.put("*** Move to: " + s.To)
			}
			hunks := r.IntN(4)
			if s.To == "" && hunks == 0 {
				hunks = 1
			}
			for i := range hunks {
				s.Hunks = append(s.Hunks, w.markedHunk(i == 0))
			}
		}
		p.Sections = append(p.Sections, s)
	}
	w.gap()
	w.put("*** End Patch")
	return &p, w.String()
}

func (w *writer) markedHunk(first bool) patch.Hunk {
	r := w.r
	h := patch.Hunk{EndOfFile: r.IntN(3) == 0}
	for !hasChange(h.Lines) {
		h.Lines = randomLines(r, "  -+")
	}
	if !first || r.IntN(2) == 0 {
		w.gap()
		h.Line = w.line
		for range 1 + r.IntN(3) {
			anchor := strings.TrimRight(pick(r, content...), "\r")
			if w.line > h.Line && r.IntN(2) == 0 {
				w.gap()
			}
			if anchor == "" {
				w.put(pick(r, "@@", "@@ "))
				continue
			}
			h.Anchors = append(h.Anchors, anchor)
			w.put("@@ " + anchor)
		}
	} else {
		h.Line = w.line
	}
	for i, l := range h.Lines {
		line := string(l.Kind) + strings.TrimSuffix(l.Text, "\n")
		inside := h.EndOfFile || slices.ContainsFunc(h.Lines[i:], func(l patch.Line) bool { return l.Kind != patch.Context || l.Text != "\n" })
		if line == " " && inside && r.IntN(2) == 0 {
			line = ""
		}
		w.put(line)
	}
	if h.EndOfFile {
		w.put("*** End of File")
	}
	return h
}

// randomUnified returns a patch and its text as unified diffs.
func randomUnified(r *rand.Rand) (*patch.Patch, string) {
	w := &writer{r: r, line: 1}
	var p patch.Patch
	prefix := pick(r, [2]string{"a/", "b/"}, [2]string{"a/", "b/"}, [2]string{"i/", "w/"}, [2]string{"1/", "2/"}, [2]string{"", ""})
	for range 1 + r.IntN(4) {
		for r.IntN(3) == 0 {
			w.put(pick(r, "Only in a: b", "diff -ru a/x b/x", "Index: x", "commit 0123", "======", "** x", "=-", "Binary"))
			w.gap()
		}
		if r.IntN(2) == 0 {
			p.Sections = append(p.Sections, w.git(prefix))
		} else {
			p.Sections = append(p.Sections, w.plain(prefix))
		}
	}
	w.gap()
	w.WriteString(pick(w.r, "", "-- \n2.39.5\n\n", "```\n", "trailing text\n- and a list\n"))
	return &p, w.String()
}

// quoted returns the name as git writes it.
func (w *writer) quoted(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0xfffd }) && w.r.IntN(4) > 0 {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '\n' && w.r.IntN(2) == 0:
			b.WriteString(`\n`)
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c >= 0x7f && w.r.IntN(2) == 0:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

func (w *writer) git(prefix [2]string) patch.Section {
	r := w.r
	s := patch.Section{Line: w.line, Path: pick(r, names...), Action: pick(r, patch.Add, patch.Delete, patch.Copy, patch.Update, patch.Update, patch.Update)}
	oldName, newName := s.Path, s.Path
	renamed := s.Action == patch.Copy || s.Action == patch.Update && r.IntN(3) == 0
	if renamed {
		s.To, s.Original = pick(r, names...), true
		newName = s.To
	}
	w.put("diff --git " + w.quoted(prefix[0]+oldName) + " " + w.quoted(prefix[1]+newName))
	s.Mode = pick[fs.FileMode](r, 0, 0o644, 0o755)
	switch {
	case s.Action == patch.Add:
		s.Mode = pick[fs.FileMode](r, 0o644, 0o755)
		w.put(fmt.Sprintf("new file mode 100%o", s.Mode))
	case s.Action == patch.Delete:
		s.Mode = 0
		w.put("deleted file mode 100644")
	case s.Mode != 0:
		w.put("old mode 100644")
		w.put(fmt.Sprintf("new mode 100%o", s.Mode))
	}
	if renamed {
		word := map[patch.Action]string{patch.Copy: "copy", patch.Update: "rename"}[s.Action]
		w.put("similarity index 90%")
		w.put(word + " from " + w.quoted(oldName))
		w.put(word + " to " + w.quoted(newName))
	}
	if r.IntN(4) == 0 && (renamed || s.Mode != 0 || s.Action != patch.Update) {
		w.put("text") // else names that follow would be this file's
		return s
	}
	if s.Mode == 0 && r.IntN(2) == 0 {
		w.put("index 0123456..789abcd 100755")
	} else {
		w.put("index 0123456..789abcd")
	}
	tab := pick(r, "", "\t")
	before, after := w.quoted(prefix[0]+oldName)+tab, w.quoted(prefix[1]+newName)+tab
	if s.Action == patch.Add {
		before = "/dev/null"
	}
	if s.Action == patch.Delete {
		after = "/dev/null"
	}
	w.put("--- " + before)
	w.put("+++ " + after)
	s.Hunks = w.hunks(s.Action)
	return s
}

func (w *writer) plain(prefix [2]string) patch.Section {
	r := w.r
	s := patch.Section{Line: w.line, Path: pick(r, names...), Action: pick(r, patch.Add, patch.Delete, patch.Update, patch.Update)}
	if prefix[0] == "" && s.Action != patch.Update {
		// Names that may have a prefix are for other tests.
		s.Path = "new or deleted"
	}
	if prefix[0] != "a/" && s.Action != patch.Update {
		s.Action = patch.Update
	}
	stamp := func() string { return pick(r, "", "\t", "\t2024-05-01 10:00:00.123456789 +0200", "\t(revision 3)") }
	before, after := w.quoted(prefix[0]+s.Path)+stamp(), w.quoted(prefix[1]+s.Path)+stamp()
	const epoch = "\t1970-01-01 01:00:00.000000000 +0100"
	switch s.Action {
	case patch.Add:
		before = pick(r, "/dev/null", "/dev/null"+stamp(), w.quoted(prefix[0]+s.Path)+epoch)
	case patch.Delete:
		after = pick(r, "/dev/null", "/dev/null"+stamp(), w.quoted(prefix[1]+s.Path)+epoch)
	}
	w.put("--- " + before)
	w.put("+++ " + after)
	s.Hunks = w.hunks(s.Action)
	return s
}

func (w *writer) hunks(action patch.Action) []patch.Hunk {
	r := w.r
	kinds, count := "  -+", 1+r.IntN(3)
	switch action {
	case patch.Add:
		kinds, count = "+", 1
	case patch.Delete:
		kinds, count = "-", 1
	}
	var hunks []patch.Hunk
	for i := range count {
		if i > 0 {
			w.gap()
		}
		h := patch.Hunk{Line: w.line, Numbered: true}
		for !hasChange(h.Lines) {
			h.Lines = randomLines(r, kinds)
		}
		if i == count-1 && r.IntN(3) == 0 {
			// The last line of one file or of both has no newline.
			ends := pick(r, "-", "+", "-+")
			for j := len(h.Lines) - 1; j >= 0 && ends != ""; j-- {
				l := &h.Lines[j]
				if l.Kind == patch.Context && ends == "-+" && j == len(h.Lines)-1 {
					l.Text, ends = strings.TrimSuffix(l.Text, "\n"), ""
				} else if l.Kind == patch.Context {
					ends = ""
				} else if strings.ContainsRune(ends, rune(l.Kind)) {
					l.Text, ends = strings.TrimSuffix(l.Text, "\n"), strings.Trim(ends, string(l.Kind))
				}
			}
		}
		oldLines, newLines := 0, 0
		for _, l := range h.Lines {
			if l.Kind != patch.Added {
				oldLines++
			}
			if l.Kind != patch.Removed {
				newLines++
			}
		}
		span := func(start, lines int) string {
			if lines == 1 && r.IntN(2) == 0 {
				return fmt.Sprint(start)
			}
			return fmt.Sprintf("%d,%d", start, lines)
		}
		newStart := 1 + r.IntN(100)
		if h.Start = 1 + r.IntN(100); oldLines == 0 && (action == patch.Add || r.IntN(2) == 0) {
			h.Start = 0
		}
		if action == patch.Delete {
			newStart = 0
		}
		w.put("@@ -" + span(h.Start, oldLines) + " +" + span(newStart, newLines) + " @@" + pick(r, "", " func f()", " @@"))
		for _, l := range h.Lines {
			text, ended := strings.CutSuffix(l.Text, "\n")
			line := string(l.Kind) + text
			if line == " " && r.IntN(2) == 0 {
				line = ""
			}
			w.put(line)
			if !ended {
				w.put(pick(r, `\ No newline at end of file`, `\ Kein Zeilenumbruch am Dateiende.`, `\ x`))
			}
		}
		hunks = append(hunks, h)
	}
	return hunks
}

// A random patch that is written in a format, and wrapped, is parsed to the same.
func TestParseGivesWhatWasWritten(t *testing.T) {
	t.Parallel()
	rounds := 2500
	if testing.Short() {
		rounds = 1000
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 4))
		want, text := randomMarked(r)
		wrapping := pick(r, wrappings...)
		if seed%2 == 1 {
			want, text = randomUnified(r)
			wrapping = pick(r, wrappings[:5]...)
			if strings.HasSuffix(text, "- and a list\n") {
				wrapping = wrappings[0]
			}
		}
		text = wrapping.before + text + wrapping.after
		want = &patch.Patch{Sections: moved(want.Sections, wrapping.lines)}
		if r.IntN(3) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		got, err := patch.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s\n%q", seed, diff, text)
		}
		if err := linesOff(text, got); err != nil {
			t.Fatalf("seed %d: %v\n%q", seed, err, text)
		}
	}
}
