// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// circle is a patch of git over a few names, which says what it brings and takes.
type circle struct {
	text    string
	brings  []string // lines that are nowhere before
	deletes int
}

// circles returns a patch of up to five sections. What they make of the names is
// followed roughly, so that many fit and some do not.
func circles(files map[string]string, random *rand.Rand) (c circle) {
	names := []string{"a", "b", "c", "d"}
	now := maps.Clone(files)
	for i := range 1 + random.IntN(5) {
		from, to := names[random.IntN(4)], names[random.IntN(4)]
		line := fmt.Sprintf("line %d", i)
		inserted := func(content string) string {
			first, _, _ := strings.Cut(content, "\n")
			return fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1 +1,2 @@\n %s\n+%s\n", from, to, first, line)
		}
		changed := func(content string) string {
			first, rest, _ := strings.Cut(content, "\n")
			return first + "\n" + line + "\n" + rest
		}
		kind := random.IntN(10)
		if kind > 3 {
			to = map[bool]string{true: from, false: to}[kind < 8]
		}
		head := fmt.Sprintf("diff --git a/%s b/%s\n", from, to)
		switch {
		case kind < 4 || kind > 7: // rename, copy
			how := "rename"
			if kind > 7 {
				how = "copy"
			}
			c.text += head + fmt.Sprintf("similarity index 90%%\n%s from %s\n%s to %s\n", how, from, how, to)
			content := files[from]
			if random.IntN(3) == 0 && content != "" {
				c.text += inserted(content)
				c.brings = append(c.brings, line)
				content = changed(content)
			}
			if how == "rename" && now[from] == files[from] {
				delete(now, from)
			}
			now[to] = content
		case kind < 6 && now[from] != "":
			c.text += head + inserted(now[from])
			c.brings = append(c.brings, line)
			now[from] = changed(now[from])
		case kind == 6 && now[from] != "":
			n := strings.Count(now[from], "\n")
			span := fmt.Sprint("1,", n)
			c.text += head + fmt.Sprintf("deleted file mode 100644\n--- a/%s\n+++ /dev/null\n@@ -%s +0,0 @@\n-%s\n", from, span,
				strings.ReplaceAll(strings.TrimSuffix(now[from], "\n"), "\n", "\n-"))
			c.deletes++
			delete(now, from)
		default:
			c.text += head + fmt.Sprintf("new file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n", from, line)
			c.brings = append(c.brings, line)
			now[from] = line + "\n"
		}
	}
	return c
}

// TestCircles: whatever renames, copies, changes, deletions and new files do to
// each other in one patch, no content gets lost that no section deletes, nothing
// that is told as applied is nowhere, and what git makes of the patch is the same.
func TestCircles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 13))
	files := map[string]string{"a": "A\n", "b": "B\n", "c": "C\n"}
	n, compared := 9_000, 120
	if testing.Short() {
		n, compared = 2_000, 30
	}
	applied, several := 0, 0
	for i := range n {
		c := circles(files, random)
		p, err := patch.Parse(c.text)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.text)
		}
		mixed := i%3 == 0 // of both formats, as no text is
		for j := range p.Sections {
			p.Sections[j].Original = p.Sections[j].Original && !(mixed && random.IntN(2) == 0)
		}
		fsys := memory.New(files, nil)
		before := snapshot(t, fsys)
		_, err = patch.Apply(t.Context(), fsys, p, nil)
		got := snapshot(t, fsys)
		if err != nil {
			if !maps.Equal(before, got) {
				t.Fatalf("refused, and changed: %v\n%s", err, c.text)
			}
			continue
		}
		applied++
		all := strings.Join(slices.Collect(maps.Values(got)), "")
		lost := 0
		for _, content := range files {
			if !strings.Contains(all, content) {
				lost++
			}
		}
		for _, line := range c.brings {
			if !strings.Contains(all, line+"\n") && c.deletes == 0 {
				t.Fatalf("%q is nowhere: %q\n%s", line, got, c.text)
			}
		}
		if lost > c.deletes {
			t.Fatalf("%d files are lost, of which the patch deletes %d: %q\n%s", lost, c.deletes, got, c.text)
		}
		if mixed || len(p.Sections) < 2 || several >= compared || differs(p) {
			continue
		}
		several++
		want, refused := byGit(t, files, c.text, "--unidiff-zero")
		if refused || !maps.Equal(got, want) {
			t.Errorf("git refuses: %v\n%s\n%s", refused, c.text, gocmp.Diff(want, got))
		}
	}
	t.Logf("%d of %d are applied, %d of several sections are compared", applied, n, several)
	if several < compared {
		t.Errorf("only %d patches are compared with git", several)
	}
}

// differs reports that git is known to make something else of a patch: it leaves
// a file that one section writes and a later one deletes, takes a file that is
// renamed to its own name for one that has moved away, and refuses to change what
// has come to a name before the file that was there has moved away.
func differs(p *patch.Patch) bool {
	written, left := make(map[string]bool), make(map[string]bool)
	for _, s := range p.Sections {
		if s.Action == patch.Delete && written[s.Path] || s.Action == patch.Update && s.To == "" && left[s.Path] || s.Path == s.To {
			return true
		}
		if s.To == "" {
			written[s.Path] = s.Action != patch.Delete
			continue
		}
		if s.Action == patch.Update {
			left[s.Path] = true
		}
		written[s.To], left[s.To] = true, false
	}
	return false
}

// TestCirclesRefused: what cannot be done without loss.
func TestCirclesRefused(t *testing.T) {
	files := map[string]string{"a": "AAA\n", "b": "BBB\n"}
	moved := func(how, from, to string) string {
		return fmt.Sprintf("diff --git a/%s b/%s\n%s from %s\n%s to %s\n", from, to, how, from, how, to)
	}
	update := "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-BBB\n+CCC\n"
	for name, c := range map[string]struct {
		text, detail string
		want         ambit.Reason
	}{
		"a rename onto what keeps its name": {moved("rename", "a", "b") + moved("rename", "b", "b"), "", ambit.ErrExists},
		"a copy onto what keeps its name":   {moved("copy", "a", "b") + moved("rename", "b", "b"), "", ambit.ErrExists},
		"it keeps its name, then moves":     {moved("rename", "a", "b") + moved("rename", "b", "b") + moved("rename", "b", "c"), "", ambit.ErrExists},
		"a copy onto itself":                {moved("copy", "b", "b") + moved("rename", "b", "c"), "", ambit.ErrExists},
		"a change above the rename": {
			update + moved("rename", "b", "c"), "line 1 of the patch changes the file, and line 7 moves it away as it was before the patch", ambit.ErrInvalid,
		},
		"a mode above the rename": {
			"diff --git a/b b/b\nold mode 100644\nnew mode 100755\n" + moved("rename", "b", "c"), "line 1 of the patch changes the file", ambit.ErrInvalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := memory.New(files, nil)
			_, err := patch.Apply(t.Context(), fsys, parse(t, c.text), nil)
			if ambit.ReasonOf(err) != c.want || !strings.Contains(fmt.Sprint(err), c.detail) {
				t.Errorf("%v; want %s, with %q", err, c.want, c.detail)
			}
			if got := snapshot(t, fsys); !maps.Equal(got, files) {
				t.Errorf("refused, and changed: %q", got)
			}
		})
	}
}
