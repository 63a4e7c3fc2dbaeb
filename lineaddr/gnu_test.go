// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/lineaddr"
)

// TestAgainstGNU compares with head, tail and sed, where they are GNU's.
func TestAgainstGNU(t *testing.T) {
	for _, tool := range []string{"head", "tail", "sed"} {
		version, err := exec.Command(tool, "--version").Output()
		if err != nil || !bytes.Contains(version, []byte("GNU")) {
			t.Skipf("there is no GNU %s here: %v", tool, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	run := func(tool string, args ...string) string {
		t.Helper()
		command := exec.Command(tool, append(args, file)...)
		command.Env = append(os.Environ(), "LC_ALL=C")
		output, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", command.Args, err)
		}
		return string(output)
	}
	random := rand.New(rand.NewPCG(11, 1))
	contents := []string{"", "a", "\n", "a\nb\nc\n", "a\r\nb\r\n", "a\n\n\nb", strings.Repeat("line\n", 70_000), strings.Repeat("x", 70_000) + "\nTARGET\n"}
	for range 30 {
		contents = append(contents, strings.ReplaceAll(randomContent(random), "\x00", "0"))
	}
	for _, content := range contents {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		n := random.IntN(8)
		start := 1 + random.IntN(6)
		end := start + random.IntN(4)
		for _, c := range []struct {
			name string
			want string
			got  func() (lineaddr.Window, error)
		}{
			{fmt.Sprintf("head -n %d", n), run("head", "-n", fmt.Sprint(n)), func() (lineaddr.Window, error) {
				return lineaddr.Head(strings.NewReader(content), n)
			}},
			{fmt.Sprintf("tail -n %d", n), run("tail", "-n", fmt.Sprint(n)), func() (lineaddr.Window, error) {
				return lineaddr.Tail(newRandomFile(content), n)
			}},
			{fmt.Sprintf("tail -n +%d", start), run("tail", "-n", fmt.Sprintf("+%d", start)), func() (lineaddr.Window, error) {
				return lineaddr.Slice(strings.NewReader(content), lineaddr.Range{Start: start})
			}},
			{fmt.Sprintf("sed -n %d,%dp", start, end), run("sed", "-n", fmt.Sprintf("%d,%dp", start, end)), func() (lineaddr.Window, error) {
				return lineaddr.Slice(strings.NewReader(content), lineaddr.Range{Start: start, End: end})
			}},
			{fmt.Sprintf("sed -n %d,$p", start), run("sed", "-n", fmt.Sprintf("%d,$p", start)), func() (lineaddr.Window, error) {
				x, err := lineaddr.NewIndex(newRandomFile(content))
				if err != nil {
					return lineaddr.Window{}, err
				}
				return x.Slice(lineaddr.Range{Start: start})
			}},
		} {
			w, err := c.got()
			if string(w.Text) != c.want {
				t.Errorf("%s of %s: %s, %v; want %s", c.name, shown(content), shown(string(w.Text)), err, shown(c.want))
			}
		}
	}
}
