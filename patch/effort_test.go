// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// manyHunks returns a file and hunks for it by kind.
func manyHunks(lines, hunks int, kind string) (content, text string) {
	var file, p strings.Builder
	for i := range lines {
		switch {
		case strings.HasPrefix(kind, "alike") && i%1000 > 0:
			file.WriteString("the same\n")
		default:
			fmt.Fprintf(&file, "line %d\n", i)
		}
	}
	for i := range hunks {
		at := lines / hunks * i
		switch kind {
		case "fits":
			fmt.Fprintf(&p, "@@\n line %d\n-line %d\n+L%d\n", at, at+1, i)
		case "misfits":
			fmt.Fprintf(&p, "@@\n-nothing %d\n+L%d\n", i, i)
		case "half a hunk fits":
			fmt.Fprintf(&p, "@@\n line %d\n-nothing\n+L%d\n", at, i)
		case "anchors fit":
			fmt.Fprintf(&p, "@@ line %d\n+L%d\n", at, i)
		case "anchors misfit":
			fmt.Fprintf(&p, "@@ nothing %d\n+L%d\n", i, i)
		case "numbers are wrong":
			fmt.Fprintf(&p, "@@ -%d,2 +%d,2 @@\n line %d\n-line %d\n+L%d\n", i+1, i+1, at, at+1, i)
		case "alike":
			fmt.Fprintf(&p, "@@\n-the same\n+L%d\n", i)
		}
	}
	if kind == "numbers are wrong" {
		return file.String(), "--- a/f\n+++ b/f\n" + p.String()
	}
	return file.String(), begin("*** Update File: f", strings.TrimSuffix(p.String(), "\n"))
}

// TestManyHunks bounds the time for many hunks on a large file: it does not grow
// with the product of both.
func TestManyHunks(t *testing.T) {
	lines, hunks := 200_000, 1000
	if testing.Short() {
		lines, hunks = 20_000, 200
	}
	for kind, want := range map[string]ambit.Reason{
		"fits": "", "misfits": ambit.ErrNoMatch, "half a hunk fits": ambit.ErrNoMatch,
		"anchors fit": "", "anchors misfit": ambit.ErrNoMatch, "numbers are wrong": "",
	} {
		t.Run(kind, func(t *testing.T) {
			content, text := manyHunks(lines, hunks, kind)
			p := parse(t, text)
			start := time.Now()
			r, err := patch.Apply(t.Context(), memory.New(map[string]string{"f": content}, nil), p, nil)
			took := time.Since(start)
			t.Log(took)
			if ambit.ReasonOf(err) != want || want != "" && len(r.Problems) != hunks {
				t.Errorf("%v", err)
			}
			if took > 6*time.Second { // a look at each line for each hunk takes longer
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestDeadlineWhilePlacing: the end of the context is seen while hunks are placed,
// whatever they are.
func TestDeadlineWhilePlacing(t *testing.T) {
	lines, hunks := 200_000, 5_000
	if testing.Short() {
		lines, hunks = 50_000, 2_000
	}
	for _, kind := range []string{"alike", "half a hunk fits", "anchors misfit"} {
		content, text := manyHunks(lines, hunks, kind)
		p := parse(t, text)
		fsys := memory.New(map[string]string{"f": content}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, err := patch.Apply(ctx, fsys, p, nil)
		cancel()
		if took := time.Since(start); took > 3*time.Second || ambit.ReasonOf(err) != ambit.ErrTimeout {
			t.Errorf("%s: %v after %v", kind, ambit.ReasonOf(err), took)
		}
	}
}

// TestRareAmongAlike places hunks on lines of which most are the same, so that a
// look at each place would take as long as the hunk is.
func TestRareAmongAlike(t *testing.T) {
	defer patch.SetScansFirst(0)()
	same := strings.Repeat("x\n", 3000)
	content := same + "one\n" + same + "two\n" + strings.Repeat("x\n", 10)
	long := strings.Repeat(" x\n", 2999)
	for name, c := range map[string]struct{ hunk, want string }{
		"behind": {" one\n" + long + "-x\n+y\n two", strings.Replace(content, "x\ntwo", "y\ntwo", 1)},
		"none":   {long + long + "-x\n+y", ""},
		"two":    {long + "-x\n+y", ""},
	} {
		fsys := memory.New(map[string]string{"f": content}, nil)
		_, err := patch.Apply(t.Context(), fsys, parse(t, begin("*** Update File: f", "@@", c.hunk)), nil)
		got, _ := fsys.Peek("f")
		switch {
		case c.want != "" && (err != nil || got != c.want):
			t.Errorf("%s: %v, or it is not what is wanted", name, err)
		case name == "none" && ambit.ReasonOf(err) != ambit.ErrNoMatch, name == "two" && ambit.ReasonOf(err) != ambit.ErrAmbiguous:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// measured is a file system that tells how much memory is in use at a commit.
type measured struct {
	*memory.FileSystem
	live uint64
}

func (m *measured) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	m.live = live()
	return m.FileSystem.Commit(ctx, changes)
}

func live() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestMemoryOfSections: many sections for one file keep its content before and
// after alone, and the diff tells of all of them.
func TestMemoryOfSections(t *testing.T) {
	const size, n = 1 << 20, 40
	fsys := &measured{FileSystem: memory.New(map[string]string{"big": "L0\n" + strings.Repeat(strings.Repeat("x", 1023)+"\n", size>>10)}, nil)}
	var all []string
	for i := range n {
		all = append(all, "*** Update File: big", "@@", fmt.Sprintf("-L%d", i), fmt.Sprintf("+L%d", i+1))
	}
	p := parse(t, begin(all...))
	before := live()
	r, err := patch.Apply(t.Context(), fsys, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if used := int64(fsys.live) - int64(before); used > 8*size {
		t.Errorf("%d sections on a file of %d KiB hold %d KiB", n, size>>10, used>>10)
	}
	if want := fmt.Sprintf("-L0\n+L%d\n", n); !strings.Contains(r.Diff, want) {
		t.Errorf("the diff has no %q: %q", want, r.Diff[:min(len(r.Diff), 200)])
	}
}
