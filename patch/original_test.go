// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// TestOriginal: git's renames and copies speak of files as they were before the
// whole patch, and of names that are free after it. git itself is the oracle.
func TestOriginal(t *testing.T) {
	rename := func(from, to string) string {
		return "diff --git a/" + from + " b/" + to + "\nsimilarity index 100%\nrename from " + from + "\nrename to " + to + "\n"
	}
	copied := func(from, to string) string {
		return strings.ReplaceAll(rename(from, to), "rename ", "copy ")
	}
	update := func(path, old, text string) string {
		return "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path + "\n@@ -1 +1 @@\n-" + old + "\n+" + text + "\n"
	}
	changed := func(from, to, old, text string) string {
		return strings.Replace(rename(from, to), "100%", "50%", 1) + "--- a/" + from + "\n+++ b/" + to + "\n@@ -1 +1 @@\n-" + old + "\n+" + text + "\n"
	}
	files := map[string]string{"a": "A\n", "b": "B\n", "c": "C\n", "empty": ""}
	deleted := func(path string) string {
		return "diff --git a/" + path + " b/" + path + "\ndeleted file mode 100644\nindex e69de29..0000000\n"
	}
	// git lets the second one take the place of the first.
	_, err := patch.Apply(t.Context(), memory.New(files, nil), parse(t, rename("a", "x")+rename("b", "x")), nil)
	if ambit.ReasonOf(err) != ambit.ErrExists {
		t.Errorf("two files moved to one name: %v, want exists", err)
	}
	for name, text := range map[string]string{
		"an empty file is removed":      deleted("empty"),
		"it is not empty any more":      deleted("a"),
		"names are swapped":             rename("a", "b") + rename("b", "a"),
		"three names go round":          rename("a", "b") + rename("b", "c") + rename("c", "a"),
		"swapped and changed":           changed("a", "b", "A", "A2") + changed("b", "a", "B", "B2"),
		"a copy of what is changed":     update("a", "A", "A2") + copied("a", "x"),
		"a copy of what moves":          rename("a", "y") + copied("a", "x"),
		"a chain":                       rename("b", "c2") + rename("a", "b"),
		"a chain, the other way round":  rename("a", "b") + rename("b", "c2"),
		"onto what stays":               rename("a", "b"),
		"a copy onto what moves away":   copied("c", "a") + rename("a", "x"),
		"moved on under the new name":   rename("a", "x") + rename("x", "y"),
		"moved, and the old name anew":  rename("a", "x") + "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n",
		"a copy of one that is removed": copied("a", "x") + "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-A\n",
	} {
		t.Run(name, func(t *testing.T) {
			want, refused := byGit(t, files, text)
			fsys := memory.New(files, nil)
			_, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
			got := snapshot(t, fsys)
			if (err != nil) != refused {
				t.Errorf("%v; git refuses: %v", err, refused)
			}
			if !maps.Equal(got, want) {
				t.Error(gocmp.Diff(want, got))
			}
		})
	}
}

// byGit applies a patch with git, and returns what is there then.
func byGit(t *testing.T, files map[string]string, text string, args ...string) (tree map[string]string, refused bool) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here to compare with")
	}
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "git", append([]string{"apply"}, args...)...)
	command.Dir, command.Stdin = dir, strings.NewReader(text)
	command.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	output, err := command.CombinedOutput()
	if err != nil {
		t.Logf("git: %s", output)
	}
	tree = make(map[string]string)
	entries, readErr := os.ReadDir(dir)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		tree[e.Name()] = string(content)
	}
	return tree, err != nil
}
