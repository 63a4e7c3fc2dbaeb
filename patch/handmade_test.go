// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// strange returns a patch made by hand, of anything.
func (c *choices) strange() *patch.Patch {
	path := func() string {
		return []string{"a", "b", "d/f", "d", "n", "n/m", "./a", "/a", "", "/", "..", "a/", "a\x00", "a/b", "\xff", "d/../b"}[c.of(16)]
	}
	text := func() string {
		return []string{"1\n", "2\n", "3\n", "1", "", "\n", "1\n2\n", "\xff\n", "1\r\n", "\ufeff1\n", "x\n"}[c.of(11)]
	}
	p := &patch.Patch{}
	for range c.of(5) {
		s := patch.Section{
			Line: c.of(4), Path: path(),
			Action: []patch.Action{patch.Update, patch.Update, patch.Add, patch.Delete, patch.Copy, "", "other"}[c.of(7)],
			Mode:   []fs.FileMode{0, 0, 0, 0o755, 0o644, 0o600, fs.ModeSymlink | 0o777}[c.of(7)],
		}
		if c.of(3) == 0 {
			s.To = path()
		}
		for range c.of(3) {
			h := patch.Hunk{
				Line: c.of(9), Start: []int{1, 0, 2, -1, math.MaxInt, math.MinInt, 3}[c.of(7)], Numbered: c.of(2) == 0, EndOfFile: c.of(4) == 0,
			}
			if c.of(4) == 0 {
				h.Anchors = []string{text()}
			}
			for range c.of(4) {
				h.Lines = append(h.Lines, patch.Line{Kind: []patch.LineKind{patch.Context, patch.Removed, patch.Added, patch.Added, 0, 'x'}[c.of(6)%(3+c.of(4))], Text: text()})
			}
			s.Hunks = append(s.Hunks, h)
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// survives wants that whatever a patch says is done whole or not at all, and that
// a dry run and the report tell it.
func survives(t *testing.T, data []byte) bool {
	t.Helper()
	c := choices(data)
	p := c.strange()
	fsys := memory.New(map[string]string{"a": "1\n2\n3\n", "b": "1\n2", "d/f": "\ufeff1\r\n"}, nil)
	before := snapshot(t, fsys)
	dry, dryErr := patch.Apply(t.Context(), fsys, p, &patch.Options{DryRun: true})
	r, err := patch.Apply(t.Context(), fsys, p, nil)
	if !slices.Equal(problems(dry), problems(r)) || fmt.Sprint(dryErr) != fmt.Sprint(err) || dry.Diff != r.Diff {
		t.Fatalf("%+v\na dry run tells %v, not %v", p, dryErr, err)
	}
	after := snapshot(t, fsys)
	if err != nil {
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("%+v\nrefused and done: %v\n%s", p, err, diff)
		}
		if r.Applied || ambit.ReasonOf(err) == ambit.ErrIO || ambit.ReasonOf(err) == ambit.ErrChanged {
			t.Fatalf("%+v\napplied: %v, %v", p, r.Applied, err)
		}
		return false
	}
	judgeReport(t, fsys, p, r, err)
	predicted(t, dry, r)
	hasMode := slices.ContainsFunc(p.Sections, func(s patch.Section) bool { return s.Mode != 0 })
	if !hasMode && cmp.Equal(before, after) != (r.Diff == "") {
		t.Fatalf("%+v\nthe diff is\n%s", p, r.Diff)
	}
	return true
}

func TestHandMade(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	applied := 0
	n := 4_000
	if testing.Short() {
		n = 1_000
	}
	for range n {
		data := make([]byte, 120)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if survives(t, data) {
			applied++
		}
	}
	if applied < n/500 {
		t.Errorf("%d of %d are applied: that proves little", applied, n)
	}
	t.Logf("%d of %d are applied", applied, n)
}

func FuzzHandMade(f *testing.F) {
	f.Add([]byte("a first seed, of any bytes"))
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data) })
}
