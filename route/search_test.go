// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// searcher is a file system that searches by itself, and has a Guard or none.
type searcher struct {
	ambit.FileSystem
	guard bool
}

func (s searcher) Capabilities() ambit.Capabilities {
	c := s.FileSystem.Capabilities()
	c.Search, c.Guard = true, s.guard
	c.Write, c.Sub = false, false
	return c.ReadOnly()
}

func (s searcher) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	return search.GlobEach(ctx, s.FileSystem, q, yield)
}

func (s searcher) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	return search.GrepEach(ctx, s.FileSystem, q, yield)
}

func (s searcher) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	return searcher{s.FileSystem.(ambit.Guarder).Guard(ask), s.guard}
}

// The kinds of members.
const (
	plain     = iota // no search of its own
	guarded          // a search and a Guard
	unguarded        // a search alone
	disk
	kinds
)

func newMember(t *testing.T, kind int, files map[string]string) ambit.FileSystem {
	t.Helper()
	switch kind {
	case plain:
		return memory.New(files, nil)
	case guarded, unguarded:
		return searcher{memory.New(files, nil), kind == guarded}
	}
	root := t.TempDir()
	for path, content := range files {
		name := filepath.Join(root, path)
		dir := filepath.Dir(name)
		if strings.HasSuffix(path, "/") {
			dir = name
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if dir == name {
			continue
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// split is a tree in one file system, and the same on a machine of several.
type split struct {
	whole  ambit.FileSystem
	routed ambit.FileSystem
	paths  []string // of all that is there
	exact  bool     // nothing is hidden that a member's search cannot be kept from counting
	dotted bool     // a mount lies at or beneath a name with a dot
	shape  string
}

var searchNames = []string{"a", "b", "ab", "a.go", "b.md", "a-b", "a b", ".a", ".b.go", "ä", "a\nb", "[a]", "a,b", "{a}", "*", `\a`}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(8) {
		for range rng.IntN(5) {
			b.WriteString([]string{"x", "y", "foo", " ", "Foo", "é"}[rng.IntN(6)])
		}
		b.WriteString([]string{"\n", "\n", "\r\n"}[rng.IntN(3)])
	}
	if rng.IntN(3) == 0 {
		b.WriteString("foo")
	}
	return b.String()
}

func newSplit(t *testing.T, rng *rand.Rand) *split {
	t.Helper()
	files := make(map[string]string) // by absolute path, a folder's with a slash behind
	var dirs []string
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		for _, name := range searchNames {
			switch n := rng.IntN(12); {
			case n < 2:
				files[dir+name] = randomText(rng)
			case n < 4 && depth < 3 && len(files) < 60, n == 4 && depth < 1:
				dirs = append(dirs, dir+name)
				files[dir+name+"/"] = ""
				fill(dir+name+"/", depth+1)
			}
		}
	}
	for len(dirs) == 0 {
		clear(files)
		fill("/", 0)
	}
	s := &split{whole: memory.New(files, nil), exact: true}
	for path := range files {
		s.paths = append(s.paths, strings.TrimSuffix(path, "/"))
	}
	slices.Sort(s.paths)

	points := []string{"/"}
	for range rng.IntN(6) {
		if at := dirs[rng.IntN(len(dirs))]; !slices.Contains(points, at) {
			points = append(points, at)
			s.dotted = s.dotted || strings.Contains(at, "/.")
		}
	}
	ownerOf := func(path string) string {
		best := "/"
		for _, at := range points {
			if ambit.Contains(at, path) && len(at) > len(best) {
				best = at
			}
		}
		return best
	}
	leadsOn := func(dir string) bool {
		return slices.ContainsFunc(points, func(at string) bool { return at != dir && ambit.Contains(dir, at) })
	}
	held := make(map[string]map[string]string)
	for _, at := range points {
		held[at] = make(map[string]string)
	}
	bare := make(map[string]bool) // ways that their member has not, in which nothing of it can be
	for _, path := range slices.Sorted(maps.Keys(files)) {
		clean, content := strings.TrimSuffix(path, "/"), files[path]
		at := ownerOf(clean)
		if strings.HasSuffix(path, "/") && leadsOn(clean) && at != clean && !slices.ContainsFunc(s.paths, func(other string) bool {
			return other != clean && ambit.Contains(clean, other) && ownerOf(other) == at && !leadsOn(other)
		}) && rng.IntN(2) == 0 {
			bare[clean] = true
			continue
		}
		held[at]["/"+strings.TrimPrefix(strings.TrimPrefix(path, at), "/")] = content
	}
	// What is hidden: files at bare ways, and whatever in the place of mounts.
	within := func(at, path string) string { return "/" + strings.TrimPrefix(strings.TrimPrefix(path, at), "/") }
	for _, way := range slices.Sorted(maps.Keys(bare)) {
		at := ownerOf(way)
		if !bare[ambit.Dir(way)] {
			below := func(path string) bool { return ambit.Contains(within(at, way), path) }
			switch n := rng.IntN(3); {
			case n == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(held[at])), below):
				held[at][within(at, way)] = "foo hidden"
			case n == 1:
				if _, has := held[at][within(at, way)+"/"]; !has {
					held[at][within(at, way)+"/"] = ""
				}
			}
		}
	}
	for _, point := range points[1:] {
		at := ownerOf(ambit.Dir(point))
		above := within(at, ambit.Dir(point))
		if _, has := held[at][above+"/"]; rng.IntN(3) == 0 || above != "/" && !has {
			continue
		}
		name := within(at, point)
		if rng.IntN(3) == 0 {
			held[at][name] = "foo hidden"
			continue
		}
		for _, below := range []string{"/a", "/.a", "/h.go", "/.h/foo", "/a/.foo"} {
			if _, has := held[at][name+"/a"]; has && below == "/a/.foo" {
				continue
			}
			if rng.IntN(2) == 0 {
				held[at][name+below] = "foo hidden"
			}
		}
	}
	mounts := make(map[string]ambit.FileSystem)
	var fallback ambit.FileSystem
	for _, at := range points {
		kind := rng.IntN(kinds)
		s.shape += fmt.Sprintf("%q, kind %d: %q\n", at, kind, held[at])
		if at == "/" && len(points) > 1 && len(held[at]) == 0 {
			continue // no fallback
		}
		s.exact = s.exact && (kind != unguarded || !leadsOn(at))
		member := newMember(t, kind, held[at])
		if rng.IntN(6) == 0 {
			member = machine(t, member, nil) // a machine in a machine
		}
		if at == "/" {
			fallback = member
		} else {
			mounts[at] = member
		}
	}
	s.routed = machine(t, fallback, mounts)
	return s
}

// sub goes into a folder of the tree, on both sides.
func (s *split) sub(t *testing.T, rng *rand.Rand) {
	t.Helper()
	dir := s.paths[rng.IntN(len(s.paths))]
	whole, err := ambit.Sub(t.Context(), s.whole, dir)
	if err != nil {
		return // a file
	}
	if s.routed, err = ambit.Sub(t.Context(), s.routed, dir); err != nil {
		t.Fatal(err)
	}
	s.whole = whole
	var paths []string
	for _, path := range s.paths {
		if path != dir && ambit.Contains(dir, path) {
			paths = append(paths, strings.TrimPrefix(path, dir))
		}
	}
	if s.paths = paths; len(paths) == 0 {
		s.paths = []string{"/"}
	}
	s.shape += fmt.Sprintf("from then on in %q\n", dir)
}

func randomPattern(rng *rand.Rand) string {
	var parts []string
	for range 1 + rng.IntN(3) {
		if rng.IntN(2) == 0 {
			parts = append(parts, []string{"**", "*"}[rng.IntN(2)])
			continue
		}
		parts = append(parts, []string{
			"**", "*", "a", "a*", "*.go", "?", "{a,b}", "[a-b]*", ".a", ".*", "**", "[!a]*", "{a,.b*}", "{a/**,*/b*}", "**/a*", "{.a/,}*", "?[a]?", "\\*",
		}[rng.IntN(18)])
	}
	p := strings.Join(parts, "/")
	if rng.IntN(10) == 0 {
		p += "/"
	}
	return p
}

func (s *split) randomBase(rng *rand.Rand) string {
	switch rng.IntN(12) {
	case 0, 1, 2, 3:
		return ""
	case 4:
		return "/none"
	}
	base := s.paths[rng.IntN(len(s.paths))]
	switch rng.IntN(6) {
	case 0:
		return base + "/"
	case 1:
		return base[1:]
	case 2:
		return base + "/none"
	}
	return base
}

// keeping is a Keep that tells what it was asked, and whether it was ever asked
// beside itself or a yield.
type keeping struct {
	salt    int
	asked   []string
	running atomic.Int32
	beside  atomic.Bool
}

func (k *keeping) keep(path string, _ ambit.Kind) bool {
	defer k.alone()()
	k.asked = append(k.asked, path)
	return (len(path)+k.salt)%3 != 0
}

func (k *keeping) alone() func() {
	if k.running.Add(1) > 1 {
		k.beside.Store(true)
	}
	return func() { k.running.Add(-1) }
}

// answer is what a search has found, as one text for each match.
type answer struct {
	Found               []string
	Reason              ambit.Reason
	Truncated           bool
	Matched             int
	Hidden, Searched    int
	Asked               []string
	Skipped             []ambit.Skip
	Ignored, MoreSkiped int
}

func (s *split) answer(found []string, sum ambit.SearchSummary, err error, k *keeping, grep bool) answer {
	a := answer{
		Found: found, Reason: ambit.ReasonOf(err), Truncated: sum.Truncated, Matched: sum.Matched, Hidden: sum.Hidden, Searched: sum.Searched,
		Skipped: sum.Skipped, Ignored: sum.Ignored, MoreSkiped: sum.MoreSkipped,
	}
	if k != nil {
		a.Asked = slices.Sorted(slices.Values(k.asked))
	}
	if a.Truncated {
		a.Hidden, a.Searched = 0, 0 // of what was looked at
		a.Asked = nil
	}
	return a
}

// diff compares two answers. Of what the dots hide the number cannot always be
// the same.
func (s *split) diff(want, got answer, grep bool) string {
	switch {
	case !s.exact && !grep:
		got.Hidden, got.Searched = want.Hidden, want.Searched
	case s.dotted && got.Hidden < want.Hidden:
		// In a folder with a dot that one pattern names, and another does not,
		// the latter is no part of what is left for the mount there.
		got.Hidden = want.Hidden
	}
	return cmp.Diff(want, got)
}

func (s *split) glob(t *testing.T, fsys ambit.FileSystem, q ambit.GlobQuery, salt, stop int) answer {
	t.Helper()
	k := &keeping{salt: salt}
	if salt >= 0 {
		q.Keep = k.keep
	}
	var found []string
	sum, err := search.GlobEach(t.Context(), fsys, q, func(m ambit.GlobMatch) bool {
		defer k.alone()()
		size := int64(-1)
		if m.Info.Kind == ambit.KindRegular {
			size = m.Info.Size
		}
		found = append(found, fmt.Sprintf("%q %v %d", m.Info.Path, m.Info.Kind, size))
		return len(found) != stop
	})
	if k.beside.Load() {
		t.Fatal("Keep was asked beside something")
	}
	return s.answer(found, sum, err, k, false)
}

func (s *split) grep(t *testing.T, fsys ambit.FileSystem, q ambit.GrepQuery, salt, stop int) answer {
	t.Helper()
	k := &keeping{salt: salt}
	if salt >= 0 {
		q.Keep = k.keep
	}
	var found []string
	sum, err := search.GrepEach(t.Context(), fsys, q, func(m ambit.GrepMatch) bool {
		defer k.alone()()
		found = append(found, fmt.Sprintf("%+v", m))
		return len(found) != stop
	})
	if k.beside.Load() {
		t.Fatal("Keep was asked beside something")
	}
	return s.answer(found, sum, err, k, true)
}

func randomLimits(rng *rand.Rand) (limit, salt, stop int) {
	salt = -1
	if rng.IntN(3) == 0 {
		limit = 1 + rng.IntN(8)
	}
	if rng.IntN(3) == 0 {
		salt = rng.IntN(3)
	}
	if rng.IntN(6) == 0 {
		stop = 1 + rng.IntN(6)
	}
	return limit, salt, stop
}

func (s *split) randomGlob(rng *rand.Rand) ambit.GlobQuery {
	q := ambit.GlobQuery{
		Pattern: randomPattern(rng), Base: s.randomBase(rng), All: rng.IntN(3) == 0, NoIgnore: rng.IntN(2) == 0, Details: rng.IntN(3) == 0,
	}
	if rng.IntN(4) == 0 {
		q.Kinds = []ambit.Kind{[]ambit.Kind{ambit.KindRegular, ambit.KindDirectory}[rng.IntN(2)]}
	}
	return q
}

func (s *split) randomGrep(rng *rand.Rand) ambit.GrepQuery {
	q := ambit.GrepQuery{
		Pattern: []string{"foo", "x", "^", "$", "x+y?", "^foo$", "o*", "é", "[^x]", "hidden"}[rng.IntN(10)], Base: s.randomBase(rng),
		All: rng.IntN(3) == 0, NoIgnore: rng.IntN(2) == 0, IgnoreCase: rng.IntN(3) == 0, Mode: ambit.GrepMode(rng.IntN(3)),
		Word: rng.IntN(6) == 0, Literal: rng.IntN(6) == 0, Multiline: rng.IntN(6) == 0,
	}
	for range max(0, rng.IntN(4)-1) {
		q.Include = append(q.Include, randomPattern(rng))
	}
	for range max(0, rng.IntN(4)-2) {
		q.Exclude = append(q.Exclude, randomPattern(rng))
	}
	if rng.IntN(6) == 0 {
		q.Types = []string{"go"}
	}
	if rng.IntN(3) == 0 {
		q.Before, q.After = rng.IntN(3), rng.IntN(3)
	}
	if rng.IntN(6) == 0 {
		q.MaxLineBytes = 4
	}
	return q
}

// TestSearchOfASplitTree searches random trees that are split at random over the
// members of a machine, and the same in one file system: there is no difference.
func TestSearchOfASplitTree(t *testing.T) {
	rounds := uint64(24)
	if testing.Short() {
		rounds = 8
	}
	seen := make(map[string]int)
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := newSplit(t, rng)
		for i := range 40 {
			switch i {
			case 25:
				s.sub(t, rng)
			case 35:
				s.routed = ambit.ReadOnly(s.routed)
			}
			g := s.randomGlob(rng)
			limit, salt, stop := randomLimits(rng)
			g.Limit = limit
			want, got := s.glob(t, s.whole, g, salt, stop), s.glob(t, s.routed, g, salt, stop)
			if diff := s.diff(want, got, false); diff != "" {
				t.Fatalf("seed %d: %+v, salt %d, stop %d\n%s\n%s", seed, g, salt, stop, s.shape, diff)
			}
			q := s.randomGrep(rng)
			q.Limit = limit
			wantLines, gotLines := s.grep(t, s.whole, q, salt, stop), s.grep(t, s.routed, q, salt, stop)
			if diff := s.diff(wantLines, gotLines, true); diff != "" {
				t.Fatalf("seed %d: %+v, salt %d, stop %d\n%s\n%s", seed, q, salt, stop, s.shape, diff)
			}
			for kind, a := range map[string]answer{"glob": want, "grep": wantLines} {
				seen[kind+" "+string(a.Reason)]++
				if a.Truncated {
					seen[kind+" truncated"]++
				}
				if len(a.Found) > 3 {
					seen[kind+" several"]++
				}
				if a.Hidden > 0 {
					seen[kind+" hidden"]++
				}
			}
		}
	}
	t.Log(seen)
	for _, what := range []string{"", "not-found", "truncated", "several", "hidden"} {
		for _, kind := range []string{"glob ", "grep "} {
			if seen[kind+what] < int(rounds) {
				t.Errorf("%d cases of %q", seen[kind+what], kind+what)
			}
		}
	}
}
