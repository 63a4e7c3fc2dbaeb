// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package diff_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/internal/diff"
	"github.com/ambitfs/ambit/internal/lines"
	"github.com/ambitfs/ambit/patch"
)

// pick returns one of them.
func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// randomText returns a text of lines that repeat, with and without a final
// newline.
func randomText(r *rand.Rand, most int) []byte {
	var b bytes.Buffer
	ending := pick(r, "\n", "\n", "\r\n")
	for range r.IntN(most) {
		b.WriteString(pick(r, "", "a", "b", "-- x", "++ y", "@@ -1 +1 @@", " ", `\ No newline at end of file`, "\u00e9", "\xff", "\r", "x\ty") + ending)
	}
	if r.IntN(3) == 0 {
		b.WriteString("the end")
	}
	return b.Bytes()
}

// changed returns the text with some lines of [from, to) changed, removed or
// added.
func changed(r *rand.Rand, text []byte, from, to int) []byte {
	split := lines.Split(text)
	part := slices.Clone(split[from:to])
	for range 1 + r.IntN(3) {
		i := r.IntN(len(part) + 1)
		switch line := []byte(fmt.Sprintf("%s%d\n", pick(r, "new ", "-- ", "++ "), r.IntN(3))); {
		case r.IntN(3) == 0 || len(part) == 0:
			part = slices.Insert(part, i, line)
		case r.IntN(2) == 0:
			i = min(i, len(part)-1)
			part = slices.Delete(part, i, i+1)
		default:
			part[min(i, len(part)-1)] = line
		}
	}
	return bytes.Join(part, nil)
}

// twoRegions changes a text in two places and returns the regions of the change
// as one who knows the places gives them, with enough unchanged lines around.
func twoRegions(r *rand.Rand) (before, after []byte, regions []diff.Region) {
	before = randomText(r, 60)
	split := lines.Split(before)
	n := len(split)
	cuts := []int{r.IntN(n + 1), r.IntN(n + 1), r.IntN(n + 1), r.IntN(n + 1)}
	slices.Sort(cuts)
	if cuts[2]-cuts[1] < 2*diff.Context+1 || cuts[3] == n {
		return before, after, nil
	}
	join := func(from, to int) []byte { return bytes.Join(split[from:to], nil) }
	after = slices.Clone(join(0, cuts[0]))
	for i := 0; i < 4; i += 2 {
		from, to := cuts[i], cuts[i+1]
		middle := changed(r, before, from, to)
		above, below := max(from-diff.Context-r.IntN(2), 0), min(to+diff.Context+r.IntN(2), n)
		if i == 0 {
			below = min(below, cuts[2]-diff.Context)
			below = max(below, min(to+diff.Context, n))
		} else {
			above = max(above, cuts[1]+diff.Context)
			above = min(above, max(from-diff.Context, 0))
		}
		regions = append(regions, diff.Region{
			Line:   above + 1,
			Before: join(above, below),
			After:  slices.Concat(join(above, from), middle, join(to, below)),
		})
		next := n
		if i == 0 {
			next = cuts[2]
		}
		after = slices.Concat(after, middle, join(to, next))
	}
	return before, after, regions
}

// apply applies the hunks of the text, which must fit exactly where they say in
// both files.
func apply(old, text string, hunks []patch.Hunk) (string, error) {
	split := strings.SplitAfter(old, "\n")
	if split[len(split)-1] == "" {
		split = split[:len(split)-1]
	}
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		start := h.Start - 1
		if !slices.ContainsFunc(h.Lines, func(l patch.Line) bool { return l.Kind != patch.Added }) {
			start++
		}
		if start < at || start > len(split) {
			return "", fmt.Errorf("line %d: at %d of %d lines, behind %d", h.Line, start, len(split), at)
		}
		out.WriteString(strings.Join(split[at:start], ""))
		at = start
		first, count := strings.Count(out.String(), "\n")+1, 0
		for _, l := range h.Lines {
			if l.Kind != patch.Removed {
				count++
			}
		}
		want := fmt.Sprintf(" +%d,%d @@", first, count)
		switch count {
		case 0:
			want = fmt.Sprintf(" +%d,0 @@", first-1)
		case 1:
			want = fmt.Sprintf(" +%d @@", first)
		}
		if head := strings.Split(text, "\n")[h.Line-1]; !strings.HasSuffix(head, want) {
			return "", fmt.Errorf("line %d is %q, want %q at its end", h.Line, head, want)
		}
		for _, l := range h.Lines {
			if l.Kind != patch.Added {
				if at == len(split) || split[at] != l.Text {
					return "", fmt.Errorf("line %d: old line %d is not %q", h.Line, at+1, l.Text)
				}
				at++
			}
			if l.Kind != patch.Removed {
				out.WriteString(l.Text)
			}
		}
	}
	return out.String() + strings.Join(split[at:], ""), nil
}

// randomDiff returns two texts and the regions in which they differ: the whole,
// or two windows.
func randomDiff(r *rand.Rand) (before, after []byte, regions []diff.Region) {
	if before, after, regions = twoRegions(r); regions != nil {
		return before, after, regions
	}
	after = before
	if r.IntN(8) > 0 {
		after = changed(r, before, 0, len(lines.Split(before)))
	}
	if r.IntN(8) == 0 {
		after = randomText(r, 60)
	}
	return before, after, diff.Whole(before, after)
}

var names = []string{
	"f", "d/e", "with space", " lead", "trail ", "\u00e9", "\xff\x01", "q\"q", `back\slash`, "tab\tname", "line\nname", "a/x", "x\x7fy", "f\t2001-01-01", "b/b b/b",
}

// The diff of known regions, read and applied where it says, gives the second
// text out of the first.
func TestUnified(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	windows := 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 8))
		before, after, regions := randomDiff(r)
		if len(regions) == 2 {
			windows++
		}
		name := pick(r, names...)
		text, clipped := diff.Unified("a/"+name, "b/"+name, regions, 0)
		if clipped || (text == "") != bytes.Equal(before, after) {
			t.Fatalf("seed %d: %t, %q", seed, clipped, text)
		}
		if text == "" {
			continue
		}
		p, err := patch.Parse(text)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if len(p.Sections) != 1 || p.Sections[0].Path != name {
			t.Fatalf("seed %d: %+v, want %q", seed, p.Sections, name)
		}
		got, err := apply(string(before), text, p.Sections[0].Hunks)
		if err != nil || got != string(after) {
			t.Fatalf("seed %d: %v\n%q\n%q\n%q\n%+v\n%s", seed, err, before, got, after, regions, text)
		}

		limit := r.IntN(len(text) + 2)
		part, clipped := diff.Unified("a/"+name, "b/"+name, regions, limit)
		if limit > 0 && len(part) > limit || !strings.HasPrefix(text, part) || clipped != (part != text) {
			t.Fatalf("seed %d: limit %d: %t\n%q\nof\n%q", seed, limit, clipped, part, text)
		}
		if part != "" {
			if _, err := patch.Parse(part); err != nil {
				t.Fatalf("seed %d: limit %d: %v\n%s", seed, limit, err, part)
			}
		}
	}
	if windows < rounds/20 {
		t.Errorf("only %d of %d texts differ in two windows", windows, rounds)
	}
}

// GNU patch and git apply make of it what is meant, name included.
func TestUnifiedForOtherPrograms(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skipf("the names of this test are not possible on %s", runtime.GOOS)
	}
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for _, program := range [][]string{{"patch", "-p1", "-s", "--fuzz=0", "--binary", "--no-backup-if-mismatch", "-i"}, {"git", "apply", "-p1", "--unidiff-zero", "--whitespace=nowarn"}} {
		t.Run(program[0], func(t *testing.T) {
			found, err := exec.LookPath(program[0])
			if err != nil {
				t.Skipf("no program %s: %v", program[0], err)
			}
			for seed := range uint64(rounds) {
				r := rand.New(rand.NewPCG(seed, 9))
				before, after, regions := randomDiff(r)
				name := names[seed%uint64(len(names))]
				text, _ := diff.Unified("a/"+name, "b/"+name, regions, 0)
				if text == "" {
					continue
				}
				dir := t.TempDir()
				file := filepath.Join(dir, name)
				patchFile := filepath.Join(t.TempDir(), "patch")
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				for path, content := range map[string][]byte{file: before, patchFile: []byte(text)} {
					if err := os.WriteFile(path, content, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				c := exec.Command(found, append(program[1:len(program):len(program)], patchFile)...)
				c.Dir = dir
				c.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("seed %d %q: %v: %s\n%q\n%s", seed, name, err, out, before, text)
					continue
				}
				got, err := os.ReadFile(file)
				if os.IsNotExist(err) && len(after) == 0 {
					continue // a file that comes out empty is removed
				}
				if err != nil || !bytes.Equal(got, after) {
					t.Errorf("seed %d %q: %v\n%q\n%q\n%q\n%s", seed, name, err, before, got, after, text)
				}
			}
		})
	}
}
