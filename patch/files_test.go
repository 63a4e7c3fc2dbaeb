// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// TestFiles applies patches to several files: want is the tree then, files that
// are not in it are as they were, and "" for a path means that nothing is there.
// Where problems are wanted, the tree is to be as it was.
func TestFiles(t *testing.T) {
	files := map[string]string{"a.txt": "A\n", "b.txt": "B\n", "u.txt": "k\n", "del.txt": "gone\n", "d/f": "F\n", "empty/": "", "zero": ""}
	type tree = map[string]string
	for _, c := range []struct {
		name     string
		patch    string
		want     tree
		problems []string
	}{
		{name: "PATCH-09 (i)", patch: begin("*** Add File: b.txt", "+new"), problems: []string{"2 exists"}},
		{name: "PATCH-09 (ii)", patch: begin("*** Update File: a.txt", "*** Move to: b.txt", "@@", "-A", "+C"), problems: []string{"2 exists"}},
		{name: "PATCH-09 a folder", patch: begin("*** Add File: empty", "+new"), problems: []string{"2 exists"}},
		{name: "PATCH-09 a move onto a folder", patch: begin("*** Update File: a.txt", "*** Move to: d"), problems: []string{"2 exists"}},
		{name: "PATCH-11", patch: begin("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: u.txt", "@@", "-nothing", "+x"), problems: []string{"6 no-match"}},
		{name: "PATCH-11 missing", patch: begin("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: missing", "@@", "-nothing", "+x"), problems: []string{"5 not-found"}},
		{name: "PATCH-11 outside", patch: begin("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: ../../x", "@@", "-nothing", "+x"), problems: []string{"5 outside"}},
		{name: "PATCH-11 a folder", patch: begin("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: d", "@@", "-nothing", "+x"), problems: []string{"5 not-a-file"}},
		{name: "PATCH-12 add, then update", patch: begin("*** Add File: f", "+one", "*** Update File: f", "@@", "-one", "+two"), want: tree{"f": "two\n"}},
		{name: "PATCH-12 delete, then add", patch: begin("*** Delete File: a.txt", "*** Add File: a.txt", "+new"), want: tree{"a.txt": "new\n"}},
		{name: "add, then delete", patch: begin("*** Add File: new/f", "+one", "*** Delete File: new/f"), want: tree{}},
		{name: "delete, then update", patch: begin("*** Delete File: a.txt", "*** Update File: a.txt", "@@", "-A", "+C"), problems: []string{"3 not-found"}},
		{name: "delete twice", patch: begin("*** Delete File: a.txt", "*** Delete File: a.txt"), problems: []string{"3 not-found"}},
		{name: "add twice", patch: begin("*** Add File: f", "+1", "*** Add File: ./f", "+2"), problems: []string{"4 exists"}},
		{name: "move, then update", patch: begin("*** Update File: a.txt", "*** Move to: c/a.txt", "*** Update File: c/a.txt", "@@", "-A", "+C"), want: tree{"a.txt": "", "c/": "+", "c/a.txt": "C\n"}},
		{name: "move, then update the old name", patch: begin("*** Update File: a.txt", "*** Move to: c", "*** Update File: a.txt", "@@", "-A", "+C"), problems: []string{"4 not-found"}},
		{name: "move and change", patch: begin("*** Update File: a.txt", "*** Move to: c.txt", "@@", "-A", "+C"), want: tree{"a.txt": "", "c.txt": "C\n"}},
		{name: "a move onto itself", patch: begin("*** Update File: a.txt", "*** Move to: ./d/../a.txt"), want: tree{}},
		{name: "a move onto itself with a change", patch: begin("*** Update File: a.txt", "*** Move to: a.txt", "@@", "-A", "+C"), want: tree{"a.txt": "C\n"}},
		{name: "two files change places", patch: begin("*** Update File: a.txt", "*** Move to: t", "*** Update File: b.txt", "*** Move to: a.txt", "*** Update File: t", "*** Move to: b.txt"), want: tree{"a.txt": "B\n", "b.txt": "A\n"}},
		{name: "there and back", patch: begin("*** Update File: a.txt", "*** Move to: t", "*** Update File: t", "*** Move to: a.txt"), want: tree{}},
		{name: "changed and changed back", patch: begin("*** Update File: a.txt", "@@", "-A", "+C", "*** Update File: a.txt", "@@", "-C", "+A"), want: tree{}},
		{name: "a copy", patch: "diff --git a/a.txt b/c/copy\nsimilarity index 100%\ncopy from a.txt\ncopy to c/copy\n", want: tree{"c/": "+", "c/copy": "A\n"}},
		{name: "a copy that is changed", patch: "diff --git a/a.txt b/copy\nsimilarity index 50%\ncopy from a.txt\ncopy to copy\n--- a/a.txt\n+++ b/copy\n@@ -1 +1,2 @@\n A\n+B\n", want: tree{"copy": "A\nB\n"}},
		{name: "delete by content", patch: "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-A\n", want: tree{"a.txt": ""}},
		{name: "delete by other content", patch: "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-B\n", problems: []string{"3 no-match"}},
		{name: "delete by less", patch: "--- a/d/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-F\n-G\n", problems: []string{"3 no-match"}},
		{name: "a file in a new file", patch: begin("*** Add File: x", "+1", "*** Add File: x/y", "+2"), problems: []string{"4 not-a-directory"}},
		{name: "a file for a new folder", patch: begin("*** Add File: x/y", "+1", "*** Add File: x", "+2"), problems: []string{"4 exists"}},
		{name: "a file in a file", patch: begin("*** Add File: a.txt/y", "+1"), problems: []string{"2 not-a-directory"}},
		{name: "a file in a file that goes", patch: begin("*** Delete File: a.txt", "*** Add File: a.txt/y", "+1"), problems: []string{"3 not-a-directory"}},
		{name: "a folder is deleted", patch: begin("*** Delete File: d"), problems: []string{"2 not-a-file"}},
		{name: "a folder is moved", patch: begin("*** Update File: d", "*** Move to: e"), problems: []string{"2 not-a-file"}},
		{name: "the root", patch: begin("*** Delete File: /"), problems: []string{"2 not-a-file"}},
		{name: "a trailing slash", patch: begin("*** Add File: new/", "+1"), problems: []string{"2 not-a-directory"}},
		{name: "an empty file", patch: begin("*** Add File: e"), want: tree{"e": ""}},
		{name: "all problems at once", patch: begin(
			"*** Add File: a.txt", "+x",
			"*** Delete File: missing",
			"*** Update File: b.txt", "@@", "-A", "+C", "@@", "-D", "+E",
			"*** Update File: ../x", "@@", "-A", "+C",
			"*** Update File: u.txt", "*** Move to: d",
			"*** Update File: d/f", "@@", "+x",
			"*** Add File: fine", "+x",
			"*** Delete File: d",
		), problems: []string{"2 exists", "4 not-found", "6 no-match", "9 no-match", "12 outside", "16 exists", "19 ambiguous", "23 not-a-file"}},
		{name: "a problem does not make more of them", patch: begin(
			"*** Update File: missing", "*** Move to: m2", "*** Update File: m2", "@@", "-A", "+C",
			"*** Update File: a.txt", "@@", "-X", "+Y", "*** Update File: a.txt", "@@", "-Y", "+Z",
		), problems: []string{"2 not-found", "9 no-match"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			backends(t, files, func(t *testing.T, fsys ambit.WritableFileSystem) {
				p := parse(t, c.patch)
				before := snapshot(t, fsys)
				dry, dryErr := patch.Apply(t.Context(), fsys, p, &patch.Options{DryRun: true})
				if diff := cmp.Diff(before, snapshot(t, fsys)); diff != "" {
					t.Fatalf("a dry run changed something:\n%s", diff)
				}
				r, err := patch.Apply(t.Context(), fsys, p, nil)
				if got := problems(r); !slices.Equal(got, c.problems) {
					t.Errorf("problems %q, want %q: %v", got, c.problems, err)
				}
				if got := problems(dry); !slices.Equal(got, c.problems) || fmt.Sprint(dryErr) != fmt.Sprint(err) || dry.Diff != r.Diff {
					t.Errorf("a dry run tells %q: %v\n%s", got, dryErr, dry.Diff)
				}
				want := maps.Clone(before)
				for path, content := range c.want {
					switch {
					case content != "":
						want[path] = strings.TrimSuffix(content, "+")
					case path == "e":
						want[path] = ""
					default:
						delete(want, path)
					}
				}
				if diff := cmp.Diff(want, snapshot(t, fsys)); diff != "" {
					t.Errorf("the tree is not as it should be:\n%s", diff)
				}
				judgeReport(t, fsys, p, r, err)
				if len(c.problems) > 0 {
					return
				}
				predicted(t, dry, r)
				gitAgrees(t, before, snapshot(t, fsys), r.Diff)
			})
		})
	}
}

// judgeReport compares a report with what there is.
func judgeReport(t *testing.T, fsys ambit.FileSystem, p *patch.Patch, r *patch.Report, err error) {
	t.Helper()
	if r.Applied != (err == nil) || (err == nil) != (len(r.Problems) == 0) || len(r.Files) != len(p.Sections) {
		t.Errorf("applied: %v, %d problems, %d of %d files: %v", r.Applied, len(r.Problems), len(r.Files), len(p.Sections), err)
	}
	for _, f := range r.Files {
		want := patch.StateApplied
		if err != nil {
			want = patch.StateUnchanged
		}
		if f.State != want {
			t.Errorf("%s is %s, want %s", f.Path, f.State, want)
		}
		path := f.Path
		if f.To != "" {
			path = f.To
		}
		if err != nil {
			if f.To == "" && f.After != f.Before || f.After.Path != "" && f.After.Path != path || len(f.CreatedDirs) > 0 {
				t.Errorf("nothing was done, and %s is %+v after it", path, f.After)
			}
			continue
		}
		info, statErr := fsys.Stat(t.Context(), path)
		if f.After.Path == "" {
			if statErr == nil {
				t.Errorf("the report says that %s is gone", path)
			}
			continue
		}
		if diff := cmp.Diff(info, f.After); statErr != nil || diff != "" {
			t.Errorf("the report tells other things of %s: %v\n%s", path, statErr, diff)
		}
	}
	var e *ambit.Error
	if errors.As(err, &e) {
		first := r.Problems[0]
		if e.Op != "patch" || e.Path != first.Path || e.Reason != first.Err.Reason {
			t.Errorf("the error %v is not about the first problem %v", e, first)
		}
		for _, problem := range r.Problems {
			if line := fmt.Sprintf("line %d of the patch", problem.Line); !strings.Contains(e.Detail, line) {
				t.Errorf("the error does not name %s: %v", line, e)
			}
		}
	}
	data, jsonErr := json.Marshal(r)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	var back patch.Report
	if jsonErr := json.Unmarshal(data, &back); jsonErr != nil {
		t.Fatal(jsonErr)
	}
	if again, _ := json.Marshal(back); string(again) != string(data) {
		t.Errorf("the report does not survive JSON:\n%s\n%s", data, again)
	}
}

// predicted compares what a dry run tells with what was done.
func predicted(t *testing.T, dry, r *patch.Report) {
	t.Helper()
	for i, f := range r.Files {
		d := dry.Files[i]
		if d.Path != f.Path || d.To != f.To || d.After.Path != f.After.Path || d.After.Size != f.After.Size || !slices.Equal(d.CreatedDirs, f.CreatedDirs) || !slices.Equal(d.Hunks, f.Hunks) || d.State != patch.StateUnchanged {
			t.Errorf("a dry run tells %+v, then it was %+v", d, f)
		}
	}
}

// gitAgrees has git apply the diff to what was there before.
func gitAgrees(t *testing.T, before, after map[string]string, diff string) {
	t.Helper()
	if diff == "" {
		if !cmp.Equal(before, after) {
			t.Error("the diff is empty")
		}
		return
	}
	dir := t.TempDir()
	onDisk(t, dir, before, nil)
	if _, stderr := run(t, dir, diff, "git", "apply", "-"); stderr != "" {
		t.Fatalf("git refuses the diff: %s\n%s", stderr, diff)
	}
	got := make(map[string]string)
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		got[filepath.ToSlash(name)] = string(data)
		return err
	})
	want := maps.Clone(after)
	maps.DeleteFunc(want, func(path, _ string) bool { return strings.HasSuffix(path, "/") })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("git makes something else of the diff:\n%s\n%s", diff, d)
	}
}

func linked(t *testing.T, links map[string]string) (dir string, fsys *local.FileSystem) {
	t.Helper()
	dir = t.TempDir()
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	return dir, onDisk(t, dir, map[string]string{"real": "R\n", "d/f": "F\n", "other": "O\n"}, nil)
}

func TestLinks(t *testing.T) {
	links := map[string]string{"link": "real", "twice": "link", "dangling": "nothing", "folder": "d", "out": "/etc/passwd", "loop": "loop"}
	for _, c := range []struct {
		name, patch, reason string
		want                map[string]string // contents, "" for nothing at all, "@" for a link
	}{
		{"update", begin("*** Update File: link", "@@", "-R", "+S"), "", map[string]string{"real": "S\n", "link": "@"}},
		{"update by two names", begin("*** Update File: twice", "@@", "-R", "+S", "*** Update File: real", "@@", "-S", "+T", "*** Update File: link", "@@", "-T", "+U"), "", map[string]string{"real": "U\n", "link": "@"}},
		{"update in a linked folder", begin("*** Update File: folder/f", "@@", "-F", "+G", "*** Update File: d/f", "@@", "-G", "+H"), "", map[string]string{"d/f": "H\n", "folder": "@"}},
		{"add in a linked folder", begin("*** Add File: folder/new/n", "+N", "*** Update File: d/new/n", "@@", "-N", "+M"), "", map[string]string{"d/new/n": "M\n"}},
		{"delete", begin("*** Delete File: link"), "", map[string]string{"link": "", "real": "R\n"}},
		{"delete a dangling link", begin("*** Delete File: dangling"), "", map[string]string{"dangling": ""}},
		{"delete one that leads out", begin("*** Delete File: out"), "", map[string]string{"out": ""}},
		{"delete, then update", begin("*** Delete File: link", "*** Update File: link", "@@", "-R", "+S"), "not-found", nil},
		{"delete, then add", begin("*** Delete File: link", "*** Add File: link", "+S"), "exists", nil},
		{"move", begin("*** Update File: link", "*** Move to: moved"), "not-a-file", nil},
		{"copy", "diff --git a/link b/copy\nsimilarity index 100%\ncopy from link\ncopy to copy\n", "not-a-file", nil},
		{"delete by content", "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-R\n", "not-a-file", nil},
		{"add onto a link", begin("*** Add File: link", "+x"), "exists", nil},
		{"add onto a dangling link", begin("*** Add File: dangling", "+x"), "exists", nil},
		{"add onto one that leads out", begin("*** Add File: out", "+x"), "exists", nil},
		{"add onto a loop", begin("*** Add File: loop", "+x"), "exists", nil},
		{"move onto a link", begin("*** Update File: other", "*** Move to: link"), "exists", nil},
		{"move onto a dangling link", begin("*** Update File: other", "*** Move to: dangling"), "exists", nil},
		{"move onto the link to itself", begin("*** Update File: real", "*** Move to: link"), "exists", nil},
		{"update what leads out", begin("*** Update File: out", "@@", "-root", "+x"), "outside", nil},
		{"update a dangling link", begin("*** Update File: dangling", "@@", "-root", "+x"), "not-found", nil},
		{"update a loop", begin("*** Update File: loop", "@@", "-root", "+x"), "loop", nil},
		{"add behind a dangling link", begin("*** Add File: dangling/x", "+x"), "denied", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, fsys := linked(t, links)
			before := snapshot(t, fsys)
			dry, dryErr := patch.Apply(t.Context(), fsys, parse(t, c.patch), &patch.Options{DryRun: true})
			r, err := patch.Apply(t.Context(), fsys, parse(t, c.patch), nil)
			if string(ambit.ReasonOf(err)) != c.reason {
				t.Errorf("%v, want %q", err, c.reason)
			}
			if fmt.Sprint(err) != fmt.Sprint(dryErr) || dry.Diff != r.Diff {
				t.Errorf("a dry run tells %v\n%s", dryErr, dry.Diff)
			}
			judgeReport(t, fsys, parse(t, c.patch), r, err)
			if c.reason != "" {
				if diff := cmp.Diff(before, snapshot(t, fsys)); diff != "" {
					t.Errorf("something has changed:\n%s", diff)
				}
			}
			for name, want := range c.want {
				host := filepath.Join(dir, name)
				info, err := os.Lstat(host)
				switch {
				case want == "" && err == nil:
					t.Errorf("%s is still there", name)
				case want == "":
				case err != nil:
					t.Error(err)
				case want == "@" && info.Mode()&fs.ModeSymlink == 0:
					t.Errorf("%s is no link any more", name)
				case want != "@":
					if data, err := os.ReadFile(host); string(data) != want || err != nil {
						t.Errorf("%s is %q, %v; want %q", name, data, err, want)
					}
				}
			}
		})
	}
}

func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	fsys := onDisk(t, dir, map[string]string{"a": "A\n"}, &local.Options{Durability: local.NotDurable, HardLinks: local.HardLinksBroken})
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	for _, lines := range []string{
		begin("*** Update File: a", "@@", "-A", "+B", "*** Update File: b", "@@", "-A", "+C"),
		begin("*** Update File: a", "@@", "-A", "+B", "*** Delete File: b"),
	} {
		r, err := patch.Apply(t.Context(), fsys, parse(t, lines), nil)
		if ambit.ReasonOf(err) != ambit.ErrInvalid {
			t.Errorf("%v, want it refused as invalid", err)
		}
		judgeReport(t, fsys, parse(t, lines), r, err)
		if got := snapshot(t, fsys); !cmp.Equal(got, map[string]string{"a": "A\n", "b": "A\n"}) {
			t.Errorf("the files are %q", got)
		}
	}
	if _, err := patch.Apply(t.Context(), fsys, parse(t, begin("*** Update File: a", "@@", "-A", "+B")), nil); err != nil {
		t.Error(err)
	}
}

func modeOf(t *testing.T, dir, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestModes is WRITE-01, and what git says of modes.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	fsys := onDisk(t, dir, map[string]string{"run.sh": "1\n", "conf": "1\n", "private": "1\n", "plain": "1\n", "moved.sh": "1\n", "only": "1\n"}, nil)
	if !fsys.Capabilities().KeepsMode {
		t.Skip("this system has no modes")
	}
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "conf": 0o640, "private": 0o600, "moved.sh": 0o750, "only": 0o755} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	text := "diff --git a/run.sh b/run.sh\n--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-1\n+2\n" +
		"diff --git a/conf b/conf\n--- a/conf\n+++ b/conf\n@@ -1 +1 @@\n-1\n+2\n" +
		"diff --git a/private b/private\nold mode 100644\nnew mode 100755\n--- a/private\n+++ b/private\n@@ -1 +1 @@\n-1\n+2\n" +
		"diff --git a/moved.sh b/to.sh\nsimilarity index 100%\nrename from moved.sh\nrename to to.sh\n" +
		"diff --git a/plain b/copy\nold mode 100644\nnew mode 100755\nsimilarity index 100%\ncopy from plain\ncopy to copy\n" +
		"diff --git a/only b/only\nold mode 100755\nnew mode 100644\n" +
		"diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n" +
		"diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+1\n"
	r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	judgeReport(t, fsys, parse(t, text), r, err)
	if err := os.WriteFile(filepath.Join(dir, "usual"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"run.sh": 0o755, "conf": 0o640, "private": 0o700, "to.sh": 0o750, "copy": 0o755, "plain": 0o644, "only": 0o644,
		"new": modeOf(t, dir, "usual"), "new.sh": 0o755,
	} {
		if got := modeOf(t, dir, name); got != want {
			t.Errorf("%s has the mode %o, want %o", name, got, want)
		}
	}
	for _, header := range []string{"rename from moved.sh\nrename to to.sh\n", "copy from plain\ncopy to copy\n", "old mode 100755\nnew mode 100644\n", "new file mode 100755\n"} {
		if !strings.Contains(r.Diff, header) {
			t.Errorf("the diff lacks %q:\n%s", header, r.Diff)
		}
	}
	if again, err := patch.Parse(r.Diff); err != nil || len(again.Sections) != len(r.Files) {
		t.Errorf("the diff cannot be read: %v\n%s", err, r.Diff)
	}
}

func TestUTF16(t *testing.T) {
	utf16 := func(text string) string {
		b := []byte("\xff\xfe")
		for _, r := range text {
			b = append(b, byte(r), byte(r>>8))
		}
		return string(b)
	}
	backends(t, map[string]string{"f": utf16("eins\r\nzwei\r\n"), "broken": "\xff\xfea\x00b"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		r, err := patch.Apply(t.Context(), fsys, parse(t, begin("*** Update File: f", "@@", "-zwei", "+дваñ")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshot(t, fsys)["f"]; got != utf16("eins\r\nдваñ\r\n") {
			t.Errorf("%q", got)
		}
		if !strings.Contains(r.Diff, "+дваñ") {
			t.Errorf("the diff is not to be read:\n%q", r.Diff)
		}
		for text, want := range map[string]ambit.Reason{
			begin("*** Update File: f", "@@", "-eins", "+\xff"): ambit.ErrNotText,
			begin("*** Update File: broken", "@@", "-a", "+b"):  ambit.ErrNotText,
		} {
			if _, err := patch.Apply(t.Context(), fsys, parse(t, text), nil); ambit.ReasonOf(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// TestDiffOfMark: the diff shows a byte order mark where it comes or goes alone.
func TestDiffOfMark(t *testing.T) {
	const mark = "\ufeff"
	for _, c := range []struct {
		name, before, patch, diff string
	}{
		{"it stays", mark + "a\nb\n", begin("*** Update File: f", "@@", "-b", "+c"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"it stays before a new line", mark + "a\n", begin("*** Update File: f", "@@", "-a", "+b"), "@@ -1 +1 @@\n-a\n+b\n"},
		{"it is named and stays", mark + "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-" + mark + "a\n+" + mark + "b\n", "@@ -1 +1 @@\n-a\n+b\n"},
		{"it stays through two sections", mark + "a\n", begin("*** Update File: f", "@@", "-a", "+b", "*** Update File: f", "@@", "-b", "+c"), "@@ -1 +1 @@\n-a\n+c\n"},
		{"it moves along", mark + "a\n", begin("*** Update File: f", "*** Move to: g", "@@", "-a", "+b"), "@@ -1 +1 @@\n-a\n+b\n"},
		{"it goes", mark + "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-" + mark + "a\n+a\n", "@@ -1 +1 @@\n-" + mark + "a\n+a\n"},
		{"it comes", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+" + mark + "a\n", "@@ -1 +1 @@\n-a\n+" + mark + "a\n"},
		{"it goes with the file", mark + "a\n", begin("*** Delete File: f"), "@@ -1 +0,0 @@\n-" + mark + "a\n"},
	} {
		r, err := patch.Apply(t.Context(), memory.New(map[string]string{"f": c.before}, nil), parse(t, c.patch), nil)
		if err != nil || !strings.HasSuffix(r.Diff, "\n"+c.diff) {
			t.Errorf("%s: %v\n%q, want the end %q", c.name, err, r.Diff, c.diff)
		}
	}
}

func TestLimits(t *testing.T) {
	large := strings.Repeat("0123456789\n", 30)
	backends(t, map[string]string{"large": large, "small": "a\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		o := &patch.Options{MaxBytes: 100}
		for _, c := range []struct {
			patch string
			want  ambit.Reason
		}{
			{begin("*** Update File: large", "@@", "-a", "+b"), ambit.ErrTooLarge},
			{begin("*** Update File: small", "@@", "-a", "+"+strings.Repeat("b", 101)), ambit.ErrTooLarge},
			{begin("*** Update File: small", "@@", "-a", "+"+strings.Repeat("b", 99)), ""},
			{begin("*** Add File: new", "+"+strings.Repeat("b", 101)), ambit.ErrTooLarge},
			{begin("*** Update File: large", "*** Move to: moved"), ""},
			{begin("*** Delete File: moved"), ""},
		} {
			_, err := patch.Apply(t.Context(), fsys, parse(t, c.patch), o)
			if ambit.ReasonOf(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
			var e *ambit.Error
			if errors.As(err, &e) && (e.Limit != 100 || e.Size <= 100) {
				t.Errorf("limit %d, size %d", e.Limit, e.Size)
			}
		}
		if got := snapshot(t, fsys); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// TestLargeMove moves what has more bytes than are read.
func TestLargeMove(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 1<<16)
	backends(t, map[string]string{"large": content}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		text := "diff --git a/large b/copy\nsimilarity index 100%\ncopy from large\ncopy to copy\n" +
			"diff --git a/large b/to/moved\nsimilarity index 100%\nrename from large\nrename to to/moved\n"
		r, err := patch.Apply(t.Context(), fsys, parse(t, text), &patch.Options{MaxBytes: 10})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshot(t, fsys); !cmp.Equal(got, map[string]string{"copy": content, "to/": "", "to/moved": content}) {
			t.Error("the files are wrong")
		}
		judgeReport(t, fsys, parse(t, text), r, err)
	})
}

func TestLargeDiff(t *testing.T) {
	fsys := memory.New(map[string]string{"f": ""}, nil)
	text := begin("*** Add File: a", "+"+strings.Repeat("x", 600<<10), "*** Add File: b", "+"+strings.Repeat("x", 600<<10), "*** Add File: c", "+c")
	r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.DiffClipped || len(r.Diff) > 1<<20 || !strings.Contains(r.Diff, "+++ b/a\n") || strings.Contains(r.Diff, "b/b") {
		t.Errorf("clipped: %v, %d bytes", r.DiffClipped, len(r.Diff))
	}
}

// TestBound: however many problems there are, the error can be read.
func TestBound(t *testing.T) {
	lines := []string{}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("*** Delete File: %s%d", strings.Repeat("ü", 100), i))
	}
	r, err := patch.Apply(t.Context(), memory.New(nil, nil), parse(t, begin(lines...)), nil)
	if len(r.Problems) != 1000 || len(err.Error()) > 4000 || !strings.Contains(err.Error(), "1000 problems") || !strings.Contains(err.Error(), "more") {
		t.Errorf("%d problems: %v", len(r.Problems), err)
	}
}

func TestRefusedFileSystems(t *testing.T) {
	files := map[string]string{"a": "A\n"}
	p := parse(t, begin("*** Update File: a", "@@", "-A", "+B"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	bare := &ambit.Forward{Base: memory.New(files, nil), Keep: ambit.Capabilities{Write: true, Remove: true, List: true}}
	for _, c := range []struct {
		name string
		ctx  context.Context
		fsys ambit.FileSystem
		p    *patch.Patch
		o    *patch.Options
		want ambit.Reason
	}{
		{"read-only", t.Context(), ambit.ReadOnly(memory.New(files, nil)), p, nil, ambit.ErrReadOnly},
		{"no versions", t.Context(), bare, p, nil, ambit.ErrUnsupported},
		{"canceled", ended, memory.New(files, nil), p, nil, ambit.ErrCanceled},
		{"nil", t.Context(), memory.New(files, nil), nil, nil, ambit.ErrInvalid},
		{"empty", t.Context(), memory.New(files, nil), &patch.Patch{}, nil, ambit.ErrInvalid},
		{"MaxBytes", t.Context(), memory.New(files, nil), p, &patch.Options{MaxBytes: -1}, ambit.ErrInvalid},
	} {
		r, err := patch.Apply(c.ctx, c.fsys, c.p, c.o)
		if ambit.ReasonOf(err) != c.want || r == nil || r.Applied || len(r.Problems) != 1 {
			t.Errorf("%s: %v, want %s; report %+v", c.name, err, c.want, r)
		}
	}
}

// TestMoveOfDenied: a file that may not be written is not changed by a move, in
// whose course it is removed. A move alone leaves its bytes.
func TestMoveOfDenied(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"locked": "A\n", "h1": "A\n", "plain": "A\n"}
	fsys := onDisk(t, dir, files, nil)
	if err := os.Chmod(filepath.Join(dir, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "h1"), filepath.Join(dir, "h2")); err != nil {
		t.Skip(err)
	}
	before := snapshot(t, fsys)
	move := func(hunk ...string) *patch.Patch {
		var lines []string
		for _, name := range []string{"locked", "h1", "plain"} {
			lines = append(append(lines, "*** Update File: "+name, "*** Move to: to/"+name), hunk...)
		}
		return parse(t, begin(lines...))
	}
	for _, dry := range []bool{true, false} {
		r, err := patch.Apply(t.Context(), fsys, move("@@", "-A", "+B"), &patch.Options{DryRun: dry})
		if got := problems(r); !slices.Equal(got, []string{"2 permission", "7 denied"}) {
			t.Errorf("dry %v: %q: %v", dry, got, err)
		}
		judgeReport(t, fsys, move("@@", "-A", "+B"), r, err)
		if diff := cmp.Diff(before, snapshot(t, fsys)); diff != "" || r.Diff != "" {
			t.Errorf("refused, and changed:\n%s\n%s", diff, r.Diff)
		}
	}
	if _, err := patch.Apply(t.Context(), fsys, move(), nil); err != nil {
		t.Errorf("a move alone: %v", err)
	}
}

// TestDenied: what only the commit finds out is found out by a dry run too, and
// told with all else of its kind.
func TestDenied(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"a": "A\n", "secret/s": "S\n", "kept/k": "K\n", "locked": "L\n"}
	fsys := onDisk(t, dir, files, &local.Options{Durability: local.NotDurable, Deny: []string{"secret"}, ReadOnly: []string{"kept"}})
	os.Chmod(filepath.Join(dir, "locked"), 0o444)
	text := begin(
		"*** Update File: a", "@@", "-A", "+B",
		"*** Update File: secret/s", "@@", "-S", "+T",
		"*** Add File: secret/new", "+T",
	)
	for _, dry := range []bool{true, false} {
		r, err := patch.Apply(t.Context(), fsys, parse(t, text), &patch.Options{DryRun: dry})
		if got := problems(r); !slices.Equal(got, []string{"6 denied", "10 denied"}) {
			t.Errorf("%q: %v", got, err)
		}
	}
	text = begin(
		"*** Update File: a", "@@", "-A", "+B",
		"*** Update File: kept/k", "@@", "-K", "+L",
		"*** Add File: kept/n/new", "+T",
		"*** Update File: locked", "@@", "-L", "+M",
	)
	for _, dry := range []bool{true, false} {
		r, err := patch.Apply(t.Context(), fsys, parse(t, text), &patch.Options{DryRun: dry})
		if got := problems(r); !slices.Equal(got, []string{"6 read-only", "10 read-only", "12 permission"}) {
			t.Errorf("%q: %v", got, err)
		}
		judgeReport(t, fsys, parse(t, text), r, err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a")); string(got) != "A\n" {
		t.Errorf("a is %q", got)
	}
}
