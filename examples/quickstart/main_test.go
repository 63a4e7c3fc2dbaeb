// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// The steps run from the repository's own folder, as the README says.
func output(t *testing.T, step func(context.Context, io.Writer) error) string {
	t.Helper()
	t.Chdir("../..")
	var out bytes.Buffer
	if err := step(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

func TestRead(t *testing.T) {
	wantLines(t, output(t, read), "/LICENSE: ", "verified as one version", "/docs: ")
}

func TestRefuse(t *testing.T) {
	got := output(t, refuse)
	wantLines(t, got,
		`"gone.txt"     not-found `, `"src"          not-a-file `, `"../secret"    outside `,
		`"etc/passwd"   outside `, `"src/gone/x.go" not-found `, `""             invalid-path `)
	if strings.Contains(got, "quickstart-") {
		t.Errorf("a host path is shown:\n%s", got)
	}
}

func TestChange(t *testing.T) {
	wantLines(t, output(t, change),
		"created /notes/todo.txt and [/notes]", "a second write with the same version: changed", `the file holds "two\n"`)
}

func TestFind(t *testing.T) {
	got := output(t, find)
	wantLines(t, got, "\n/examples/quickstart/main.go\n/go.mod\n/go.work\n", "/aferofs/", "func New(", "more: true\n", "bad-pattern")
	if strings.Contains(got, "go.sum") {
		t.Errorf("a denied name is shown:\n%s", got)
	}
}

func TestText(t *testing.T) {
	wantLines(t, output(t, text),
		"lines 2 to 4 of /LICENSE:", "the last one:    limitations under the License.",
		"2 edits:\n--- a/LICENSE\n+++ b/LICENSE\n@@ -1,7 +1,8 @@\n", "+A copy, and not for use.\n",
		"what stands in several places is refused: ambiguous, lines [", "what is not there too: edit LICENSE: no-match: ", "differs only in case",
		"applied update /LICENSE", "applied add /notes/licenses.txt", "applied update /CONTRIBUTING.md /docs/contributing.md",
		"line 6 of the patch: LICENSE no-match", "line 9 of the patch: gone.txt not-found", "nothing was done: /notes has 1 file, licenses.txt")
}

func TestProve(t *testing.T) {
	wantLines(t, output(t, prove), "memory: full: ", "local: full: ")
}
