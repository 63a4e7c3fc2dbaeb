// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// globbed is what a Glob finds, and its summary.
func globbed(t *testing.T, fsys ambit.FileSystem, q ambit.GlobQuery) (string, ambit.SearchSummary) {
	t.Helper()
	r, err := search.Glob(t.Context(), fsys, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	var found []string
	for _, m := range r.Matches {
		found = append(found, m.Info.Path)
		if m.Info.Kind == ambit.KindDirectory {
			found[len(found)-1] += "/"
		}
	}
	return strings.Join(found, " "), r.Summary
}

func grepped(t *testing.T, fsys ambit.FileSystem, q ambit.GrepQuery) (string, ambit.SearchSummary) {
	t.Helper()
	r, err := search.Grep(t.Context(), fsys, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	var found []string
	for _, m := range r.Matches {
		sep := ":"
		if m.Context {
			sep = "-"
		}
		found = append(found, fmt.Sprintf("%s%s%d", m.Path, sep, m.Line))
	}
	return strings.Join(found, " "), r.Summary
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// overEach runs a test with a fallback of every kind.
func overEach(t *testing.T, files map[string]string, at map[string]ambit.FileSystem, run func(t *testing.T, kind int, fsys ambit.FileSystem)) {
	for kind := range kinds {
		t.Run([]string{"plain", "guarded", "unguarded", "disk"}[kind], func(t *testing.T) {
			run(t, kind, machine(t, newMember(t, kind, files), at))
		})
	}
}

// TestSearchAndIgnoreFiles: a mount is a root of its own.
func TestSearchAndIgnoreFiles(t *testing.T) {
	overEach(t, map[string]string{
		".gitignore": "*.log\n/m\n/w/n\nway\nhidden\n/v\n", "v": "x, a file", "top.log": "x", "top": "x", "way/own": "x", "w/y.log": "x", "w/y": "x",
	}, map[string]ambit.FileSystem{
		"/m":       memory.New(map[string]string{"a.log": "x", "a.tmp": "x", ".gitignore": "*.tmp"}, nil),
		"/w/n":     memory.New(map[string]string{"b.log": "x", "b": "x"}, nil),
		"/way/in":  memory.New(map[string]string{"c.log": "x", "own": "x"}, nil),
		"/m/again": memory.New(map[string]string{"d.tmp": "x"}, nil),
		"/v/n":     memory.New(nil, nil),
	}, func(t *testing.T, kind int, fsys ambit.FileSystem) {
		found, sum := globbed(t, fsys, ambit.GlobQuery{Pattern: "**"})
		same(t, "all", found, "/m/ /m/a.log /m/again/ /m/again/d.tmp /top /v/ /v/n/ /w/ /w/n/ /w/n/b /w/n/b.log /w/y /way/ /way/in/ /way/in/c.log /way/in/own")
		if kind != unguarded {
			same(t, "ignored", sum.Ignored, 4) // top.log, w/y.log, way of the fallback, m/a.tmp
		}
		found, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
		same(t, "lines", found, "/m/a.log:1 /m/again/d.tmp:1 /top:1 /w/n/b:1 /w/n/b.log:1 /w/y:1 /way/in/c.log:1 /way/in/own:1")
		same(t, "ignored", sum.Ignored, 4)
		found, _ = globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Base: "/m"})
		same(t, "of the mount", found, "/m/a.log /m/again/ /m/again/d.tmp")
		found, _ = globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Base: "/w"})
		same(t, "of a way", found, "/w/n/ /w/n/b /w/n/b.log /w/y")
		found, sum = globbed(t, fsys, ambit.GlobQuery{Pattern: "*", Base: "/", NoIgnore: true})
		same(t, "without ignore files", found, "/m/ /top /top.log /v/ /w/ /way/")
		same(t, "ignored", sum.Ignored, 0)
	})
}

// TestSearchReadsNoHiddenRules: neither above a base that is one member's, nor
// above a merged one.
func TestSearchReadsNoHiddenRules(t *testing.T) {
	files := map[string]string{".git/info/exclude": "f\n", ".git/HEAD": "", "d/f": "x", "e/f": "x"}
	for kind := range kinds {
		fallback := newMember(t, kind, files)
		if found, _ := globbed(t, fallback, ambit.GlobQuery{Pattern: "**", Base: "/d"}); found != "" {
			t.Errorf("the control finds %q", found)
		}
		if kind == unguarded {
			continue // it cannot be kept from looking
		}
		fsys := machine(t, fallback, map[string]ambit.FileSystem{"/.git": memory.New(nil, nil), "/e/m": memory.New(nil, nil)})
		found, _ := globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Base: "/d"})
		same(t, "of one member", found, "/d/f")
		found, _ = globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Base: "/e"})
		same(t, "of two members", found, "/e/f /e/m/")
		found, _ = globbed(t, fsys, ambit.GlobQuery{Pattern: "**"})
		same(t, "of all", found, "/d/ /d/f /e/ /e/f /e/m/")
	}
}

// TestSearchOfHiddenParts: what a mount or a way to one hides is neither found
// nor counted.
func TestSearchOfHiddenParts(t *testing.T) {
	overEach(t, map[string]string{
		"m/.dot": "x", "m/.gitignore": "gone", "m/gone": "x", "m/bin": "x\x00\x01", "m/f": "x",
		"w": "x, a file", ".way": "x, a file", "v/f": "x", "v/.m/f": "x",
	}, map[string]ambit.FileSystem{
		"/m": memory.New(map[string]string{"new": "x"}, nil), "/w/n": memory.New(map[string]string{"g": "x"}, nil),
		"/.way/n": memory.New(map[string]string{"h": "x"}, nil), "/v/.m": memory.New(map[string]string{"k": "x"}, nil),
	}, func(t *testing.T, kind int, fsys ambit.FileSystem) {
		found, sum := globbed(t, fsys, ambit.GlobQuery{Pattern: "**"})
		same(t, "all", found, "/m/ /m/new /v/ /v/f /w/ /w/n/ /w/n/g")
		if kind != unguarded {
			same(t, "hidden", sum.Hidden, 2) // /.way, /v/.m
			same(t, "ignored", sum.Ignored, 0)
		}
		found, sum = globbed(t, fsys, ambit.GlobQuery{Pattern: "**", All: true})
		same(t, "with dots", found, "/.way/ /.way/n/ /.way/n/h /m/ /m/new /v/ /v/.m/ /v/.m/k /v/f /w/ /w/n/ /w/n/g")
		same(t, "hidden", sum.Hidden, 0)
		found, sum = globbed(t, fsys, ambit.GlobQuery{Pattern: ".w*/**"})
		same(t, "by a dot of the pattern", found, "/.way/n/ /.way/n/h")
		found, _ = globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Kinds: []ambit.Kind{ambit.KindRegular}, All: true})
		same(t, "files", found, "/.way/n/h /m/new /v/.m/k /v/f /w/n/g")
		found, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
		same(t, "lines", found, "/m/new:1 /v/f:1 /w/n/g:1")
		same(t, "summary", sum, ambit.SearchSummary{Searched: 3, Matched: 3, Hidden: 2})
		found, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x", Exclude: []string{"/m", "w/"}, All: true})
		same(t, "lines without", found, "/.way/n/h:1 /v/.m/k:1 /v/f:1")
		found, _ = grepped(t, fsys, ambit.GrepQuery{Pattern: "x", Exclude: []string{"/.way/n"}, Include: []string{"/*/n/*", "[k-n]"}, All: true})
		same(t, "lines of some", found, "/v/.m/k:1 /w/n/g:1")
	})
}

// TestSearchLimits: of the whole, with the context of the last match.
func TestSearchLimits(t *testing.T) {
	overEach(t, map[string]string{"a": "1\n2 x\n3\n4 x\n", "z": "x\n"}, map[string]ambit.FileSystem{
		"/m": memory.New(map[string]string{"b": "x\n2\n3\nx\nx\n"}, nil),
	}, func(t *testing.T, _ int, fsys ambit.FileSystem) {
		for _, row := range []struct {
			limit  int
			found  string
			more   bool
			before int
		}{
			{1, "/a-1 /a:2 /a-3", true, 1},
			{2, "/a-1 /a:2 /a-3 /a:4", true, 1},
			{3, "/a:2 /a-3 /a:4 /m/b:1 /m/b-2", true, 0},
			{4, "/a:2 /a-3 /a:4 /m/b:1 /m/b-2 /m/b:4 /m/b-5", true, 0},
			{5, "/a:2 /a-3 /a:4 /m/b:1 /m/b-2 /m/b:4 /m/b:5", true, 0},
			{6, "/a:2 /a-3 /a:4 /m/b:1 /m/b-2 /m/b:4 /m/b:5 /z:1", false, 0},
		} {
			found, sum := grepped(t, fsys, ambit.GrepQuery{Pattern: "x", Before: row.before, After: 1, Limit: row.limit})
			same(t, fmt.Sprintf("limit %d", row.limit), found, row.found)
			if sum.Truncated != row.more {
				t.Errorf("limit %d: truncated %t", row.limit, sum.Truncated)
			}
		}
		for limit, want := range []string{"/a /m/ /m/b /z", "/a", "/a /m/", "/a /m/ /m/b", "/a /m/ /m/b /z"} {
			found, sum := globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Limit: limit})
			same(t, fmt.Sprintf("names, limit %d", limit), found, want)
			if more := limit%4 != 0; sum.Truncated != more {
				t.Errorf("names, limit %d: truncated %t", limit, sum.Truncated)
			}
		}
		// Of what Keep refuses nothing counts.
		found, sum := globbed(t, fsys, ambit.GlobQuery{Pattern: "**", Limit: 2, Keep: func(path string, _ ambit.Kind) bool { return path == "/z" || path == "/m/b" }})
		same(t, "kept", found, "/m/b /z")
		same(t, "truncated", sum.Truncated, false)
	})
}

// TestSearchLeavesLinksAlone: that lead behind a mount, as a base and beneath it.
func TestSearchLeavesLinksAlone(t *testing.T) {
	tree := `
-- mnt/real --
x
-- link -> mnt/real --
-- folder -> mnt --
-- to-way -> way --
-- way/file --
x
-- way/deep/inner --
x
-- w -> way --
-- sub/up -> ../mnt/real --
`[1:]
	at := map[string]ambit.FileSystem{
		"/mnt": memory.New(map[string]string{"real": "x\n"}, nil), "/way/deep": memory.New(map[string]string{"g": "x\n"}, nil),
		"/w/n": memory.New(map[string]string{"h": "x\n"}, nil),
	}
	strict, loose := newFolder(t, tree), newFolder(t, tree)
	loose.loose = true
	loose.Keep.Search = true
	disk := newFolder(t, tree).Base
	for name, fallback := range map[string]ambit.FileSystem{"disk": disk, "strict": strict, "loose": loose} {
		t.Run(name, func(t *testing.T) {
			fsys := machine(t, fallback, at)
			found, _ := globbed(t, fsys, ambit.GlobQuery{Pattern: "**"})
			same(t, "all", found, "/folder /link /mnt/ /mnt/real /sub/ /sub/up /to-way /w/ /w/n/ /w/n/h /way/ /way/deep/ /way/deep/g /way/file")
			found, _ = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
			same(t, "lines", found, "/mnt/real:1 /w/n/h:1 /way/deep/g:1 /way/file:1")
			found, _ = grepped(t, fsys, ambit.GrepQuery{Pattern: "x", Base: "to-way"})
			same(t, "through a link to a way", found, "/way/deep/g:1 /way/file:1")
			for _, base := range []string{"/link", "/folder", "/folder/real", "/sub/up", "/to-way/deep", "./folder/"} {
				_, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: "**", Base: base})
				reason(t, base, err, ambit.ErrOutside)
				_, err = search.Grep(t.Context(), fsys, ambit.GrepQuery{Pattern: "x", Base: base})
				reason(t, base, err, ambit.ErrOutside)
				if e := err.(*ambit.Error); e.Path != base || e.Op != string(ambit.OpGrep) || e.Target != "" {
					t.Errorf("%s: %#v", base, e)
				}
			}
		})
	}
	// The control: by itself the disk searches there.
	if found, _ := grepped(t, disk, ambit.GrepQuery{Pattern: "x", Base: "/folder"}); found != "/mnt/real:1" {
		t.Errorf("the control finds %q", found)
	}
}

// broken is a file system whose listings fail in a folder.
type broken struct {
	ambit.Forward
	dir string
	err error
}

func breakIn(fsys ambit.FileSystem, dir string, err error) broken {
	keep := fsys.Capabilities()
	keep.Guard, keep.Sub = false, false
	return broken{ambit.Forward{Base: fsys, Keep: keep}, dir, err}
}

func (b broken) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if dir == b.dir {
		return nil, ambit.Wrap(ambit.OpList, dir, b.err)
	}
	return b.Forward.List(ctx, dir, o)
}

func TestSearchErrors(t *testing.T) {
	files := map[string]string{"a/f": "x\n", "b": "x\n"}
	build := func(fallback, m ambit.FileSystem) ambit.FileSystem {
		return machine(t, fallback, map[string]ambit.FileSystem{"/m": m, "/m/n": memory.New(files, nil), "/w/z": memory.New(files, nil)})
	}
	at := &ambit.Error{Reason: ambit.ErrPermission}
	fsys := build(memory.New(files, nil), breakIn(memory.New(files, nil), "/", at))
	found, sum := grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
	same(t, "with a mount that fails", found, "/a/f:1 /b:1 /m/n/a/f:1 /m/n/b:1 /w/z/a/f:1 /w/z/b:1")
	same(t, "skipped", sum.Skipped, []ambit.Skip{{Path: "/m", Reason: ambit.ErrPermission}})
	found, sum = globbed(t, fsys, ambit.GlobQuery{Pattern: "*/*"})
	same(t, "names", found, "/a/f /m/n/ /w/z/")
	same(t, "skipped", sum.Skipped, []ambit.Skip{{Path: "/m", Reason: ambit.ErrPermission}})
	for _, base := range []string{"m", "/m/"} {
		_, err := search.Grep(t.Context(), fsys, ambit.GrepQuery{Pattern: "x", Base: base})
		reason(t, "as the base", err, ambit.ErrPermission)
		if e := err.(*ambit.Error); e.Path != base || e.Op != ambit.OpGrep {
			t.Errorf("%#v", e)
		}
	}
	fsys = build(breakIn(memory.New(files, nil), "/", at), memory.New(files, nil))
	_, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: "**"})
	reason(t, "the fallback holds the base", err, ambit.ErrPermission)
	if e := err.(*ambit.Error); e.Path != "." || e.Op != ambit.OpGlob {
		t.Errorf("%#v", e)
	}
	// Denied is kept secret, with what lies in it.
	fsys = build(memory.New(files, nil), breakIn(memory.New(files, nil), "/", ambit.ErrDenied))
	found, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
	same(t, "with a mount that is denied", found, "/a/f:1 /b:1 /w/z/a/f:1 /w/z/b:1")
	same(t, "skipped", sum.Skipped, nil)
	// A folder in a member is skipped by its path on the machine, in order.
	fsys = build(breakIn(memory.New(map[string]string{"y/f": "x", "z": "x"}, nil), "/y", at), breakIn(memory.New(files, nil), "/a", at))
	_, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
	same(t, "skipped", sum.Skipped, []ambit.Skip{{Path: "/m/a", Reason: ambit.ErrPermission}, {Path: "/y", Reason: ambit.ErrPermission}})
	fsys = build(breakIn(memory.New(map[string]string{"a/f": "x", "z": "x"}, nil), "/a", at), breakIn(memory.New(files, nil), "/a", at))
	_, sum = grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
	same(t, "skipped", sum.Skipped, []ambit.Skip{{Path: "/a", Reason: ambit.ErrPermission}, {Path: "/m/a", Reason: ambit.ErrPermission}})
	// What cannot be searched and is hidden is not told of.
	fsys = build(searcher{FileSystem: breakIn(memory.New(map[string]string{"m/a/f": "x"}, nil), "/m/a", at)}, memory.New(files, nil))
	found, sum = globbed(t, fsys, ambit.GlobQuery{Pattern: "**/b"})
	same(t, "names", found, "/m/b /m/n/b /w/z/b")
	same(t, "skipped", sum.Skipped, nil)

	// Of several faults the first is told.
	fsys = build(memory.New(files, nil), memory.New(files, nil))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		base string
		want ambit.Reason
	}{
		{done, "m\x00", ambit.ErrCanceled},
		{done, "gone", ambit.ErrCanceled},
		{t.Context(), "m\x00", ambit.ErrInvalidPath},
		{t.Context(), "gone", ambit.ErrBadPattern},
		{t.Context(), "../gone", ambit.ErrBadPattern},
	} {
		_, err := search.Glob(c.ctx, fsys, ambit.GlobQuery{Pattern: "[", Base: c.base})
		reason(t, fmt.Sprintf("glob %q", c.base), err, c.want)
		_, err = search.Grep(c.ctx, fsys, ambit.GrepQuery{Pattern: "(", Base: c.base})
		reason(t, fmt.Sprintf("grep %q", c.base), err, c.want)
	}
	for what, c := range map[string]struct {
		glob ambit.GlobQuery
		grep ambit.GrepQuery
		want ambit.Reason
	}{
		"missing":      {ambit.GlobQuery{Pattern: "*", Base: "w/none"}, ambit.GrepQuery{Base: "w/none"}, ambit.ErrNotFound},
		"bad pattern":  {ambit.GlobQuery{Pattern: "{", Base: "none"}, ambit.GrepQuery{Pattern: "(", Base: "none"}, ambit.ErrBadPattern},
		"bad limit":    {ambit.GlobQuery{Pattern: "*", Base: "none", Limit: -1}, ambit.GrepQuery{Base: "none", Limit: -1}, ambit.ErrInvalid},
		"outside":      {ambit.GlobQuery{Pattern: "*", Base: "../x"}, ambit.GrepQuery{Base: "../x"}, ambit.ErrOutside},
		"file, folder": {ambit.GlobQuery{Pattern: "*", Base: "m/b/"}, ambit.GrepQuery{Base: "m/b/"}, ambit.ErrNotADirectory},
	} {
		_, err := search.Glob(t.Context(), fsys, c.glob)
		reason(t, what, err, c.want)
		if e := err.(*ambit.Error); e.Path != c.glob.Base || e.Op != ambit.OpGlob {
			t.Errorf("%s: %#v", what, e)
		}
		_, err = search.Grep(t.Context(), fsys, c.grep)
		reason(t, what, err, c.want)
		if e := err.(*ambit.Error); e.Path != c.grep.Base || e.Op != ambit.OpGrep {
			t.Errorf("%s: %#v", what, e)
		}
	}
}

// TestSearchManySkipped: a summary names the first hundred.
func TestSearchManySkipped(t *testing.T) {
	at := make(map[string]ambit.FileSystem)
	for i := range 150 {
		at[fmt.Sprintf("/m/%03d", i)] = breakIn(memory.New(nil, nil), "/", ambit.ErrPermission)
	}
	_, sum := grepped(t, machine(t, nil, at), ambit.GrepQuery{Pattern: "x"})
	if len(sum.Skipped) != 100 || sum.MoreSkipped != 50 || sum.Skipped[99].Path != "/m/099" {
		t.Errorf("%d skipped, %d more, the last %v", len(sum.Skipped), sum.MoreSkipped, sum.Skipped[len(sum.Skipped)-1])
	}
}

// TestSearchUnderARule: what it refuses is left out, whatever it refuses.
func TestSearchUnderARule(t *testing.T) {
	for kind := range kinds {
		if kind == unguarded {
			continue
		}
		fsys := machine(t, newMember(t, kind, map[string]string{"f": "x", "real/g": "x", "w/own": "x"}), map[string]ambit.FileSystem{
			"/m": memory.New(map[string]string{"h": "x", "d/i": "x"}, nil), "/m/n": memory.New(map[string]string{"j": "x"}, nil),
			"/way/deep/n": memory.New(map[string]string{"k": "x"}, nil), "/real/n": memory.New(map[string]string{"l": "x"}, nil),
		})
		all, _ := globbed(t, fsys, ambit.GlobQuery{Pattern: "**"})
		lines, _ := grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
		cases := 0
		for path := range strings.FieldsSeq(all) {
			dir := strings.HasSuffix(path, "/")
			path = strings.TrimSuffix(path, "/")
			for _, op := range []ambit.Op{ambit.OpStat, ambit.OpList, ambit.OpOpen} {
				rule := fsys.(ambit.Guarder).Guard(func(_ context.Context, asked ambit.Op, canonical string) error {
					if canonical == path && asked == op {
						return errors.New("refused")
					}
					return nil
				})
				// What is in a folder that may not be told of is not found either.
				wantAll, wantLines := all, lines
				without := func(found string, it bool) string {
					return strings.Join(slices.DeleteFunc(strings.Fields(found), func(f string) bool {
						f = strings.TrimSuffix(strings.TrimSuffix(f, ":1"), "/")
						return f == path && it || f != path && ambit.Contains(path, f)
					}), " ")
				}
				switch {
				case op == ambit.OpStat:
					wantAll, wantLines = without(all, true), without(lines, true)
				case op == ambit.OpList && dir:
					wantAll, wantLines = without(all, false), without(lines, false)
				case op == ambit.OpOpen && !dir:
					wantLines = without(lines, true)
				}
				found, sum := globbed(t, rule, ambit.GlobQuery{Pattern: "**"})
				same(t, fmt.Sprintf("kind %d, %s %s: names", kind, op, path), found, wantAll)
				same(t, "skipped", sum.Skipped, nil)
				found, sum = grepped(t, rule, ambit.GrepQuery{Pattern: "x"})
				same(t, fmt.Sprintf("kind %d, %s %s: lines", kind, op, path), found, wantLines)
				same(t, "skipped", sum.Skipped, nil)
				if dir && (op == ambit.OpStat || op == ambit.OpList) {
					_, err := search.Glob(t.Context(), rule, ambit.GlobQuery{Pattern: "**", Base: path})
					reason(t, fmt.Sprintf("kind %d, %s %s: as the base", kind, op, path), err, ambit.ErrDenied)
				}
				cases++
			}
		}
		if cases < 40 {
			t.Errorf("%d cases", cases)
		}
	}
}

// TestSearchStops: by its context, in whichever member it is.
func TestSearchStops(t *testing.T) {
	overEach(t, map[string]string{"a": "x\n", "p": "x\n"}, map[string]ambit.FileSystem{
		"/m":    memory.New(map[string]string{"b": "x\n", "c": "x\n"}, nil),
		"/m/d":  memory.New(map[string]string{"e": "x\n"}, nil),
		"/w/zz": memory.New(map[string]string{"y": "x\n"}, nil),
	}, func(t *testing.T, _ int, fsys ambit.FileSystem) {
		mine := errors.New("enough")
		for _, at := range []string{"/a", "/m", "/m/b", "/m/d", "/m/d/e", "/p", "/w", "/w/zz"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			last := ""
			_, err := search.GlobEach(ctx, fsys, ambit.GlobQuery{Pattern: "**", Base: ""}, func(m ambit.GlobMatch) bool {
				if last = m.Info.Path; last == at {
					cancel(mine)
				}
				return true
			})
			reason(t, "cancelled at "+at, err, ambit.ErrCanceled)
			if !errors.Is(err, mine) || !errors.Is(err, context.Canceled) || last == "/w/zz/y" {
				t.Errorf("cancelled at %s: %v, after %s", at, err, last)
			}
			_, err = search.GrepEach(ctx, fsys, ambit.GrepQuery{Pattern: "x"}, func(ambit.GrepMatch) bool {
				t.Error("a cancelled search finds something")
				return true
			})
			reason(t, "cancelled before", err, ambit.ErrCanceled)
			cancel(nil)

			last = ""
			sum, err := search.GlobEach(t.Context(), fsys, ambit.GlobQuery{Pattern: "**"}, func(m ambit.GlobMatch) bool {
				last = m.Info.Path
				return last != at
			})
			if err != nil || last != at || !sum.Truncated {
				t.Errorf("stopped at %s: %v, after %s, truncated %t", at, err, last, sum.Truncated)
			}
		}
	})
}

// TestSearchDetails: names come as Stat describes them.
func TestSearchDetails(t *testing.T) {
	overEach(t, map[string]string{"real/f": "f", "way": "hidden"}, map[string]ambit.FileSystem{
		"/m": memory.New(map[string]string{"f": "x"}, nil), "/real/n": memory.New(nil, nil), "/way/n": memory.New(nil, nil),
	}, func(t *testing.T, _ int, fsys ambit.FileSystem) {
		r, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: "**", Details: true})
		if err != nil || len(r.Matches) != 7 {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, m := range r.Matches {
			if info, err := fsys.Stat(t.Context(), m.Info.Path); err != nil || info != m.Info {
				t.Errorf("%+v, and it is %+v, %v", m.Info, info, err)
			}
		}
		if caps := fsys.Capabilities(); !caps.Versions {
			t.Error("no versions to compare")
		}
	})
}

// TestSearchByMembers: a member with a search of its own is asked to search what
// it holds, and nothing else; one without a Guard is told what is hidden.
func TestSearchByMembers(t *testing.T) {
	asked := &asked{FileSystem: memory.New(map[string]string{"src/x.go": "foo", ".d/y.go": "foo"}, nil)}
	fsys := machine(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/w/m": asked, "/w/m/src/deep": memory.New(nil, nil)})
	for _, row := range []struct {
		pattern, base, want string
	}{
		{"**/*.go", "", "/ **/*.go"},
		{"w/*/src/*.go", "/", "/ src/*.go"},
		{"*/{m,k}/*/x*", "", "/ */x*"},
		{"m/**", "w", "/ **"},
		{"*.go", "/w/m/src", "/src *.go"},
		{"v/**", "", ""},
		{"w/m", "", ""},
	} {
		asked.query = ""
		globbed(t, fsys, ambit.GlobQuery{Pattern: row.pattern, Base: row.base})
		same(t, row.pattern, asked.query, row.want)
	}
	for _, row := range []struct {
		include, exclude []string
		base, want       string
	}{
		{nil, nil, "", "/ [] [/src/deep]"},
		{[]string{"*.go"}, []string{"v/*"}, "", "/ [/**/{*.go}] [/src/deep]"},
		{[]string{"/w/m/*.go", "k/**"}, []string{"w/m/src/x*"}, "", "/ [/*.go] [/src/x* /src]"},
		{[]string{"/k"}, nil, "", ""},
		{nil, []string{"m"}, "", ""},
		{nil, []string{"w/"}, "/", ""},
		{[]string{"*.go"}, []string{"/w"}, "/w/m", "/ [*.go] [/w /src/deep]"},
	} {
		asked.query = ""
		grepped(t, fsys, ambit.GrepQuery{Pattern: "foo", Include: row.include, Exclude: row.exclude, Base: row.base})
		same(t, fmt.Sprint(row), asked.query, row.want)
	}
}

type asked struct {
	ambit.FileSystem
	query string
}

func (a *asked) Capabilities() ambit.Capabilities {
	return searcher{a.FileSystem, false}.Capabilities()
}

func (a *asked) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	a.query = q.Base + " " + q.Pattern
	return search.GlobEach(ctx, a.FileSystem, q, yield)
}

func (a *asked) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	a.query = fmt.Sprint(q.Base, " ", q.Include, " ", q.Exclude)
	return search.GrepEach(ctx, a.FileSystem, q, yield)
}

// TestSearchThroughWrappers: and with machines as members.
func TestSearchThroughWrappers(t *testing.T) {
	inner := machine(t, memory.New(map[string]string{"a": "x", "d/e": "x"}, nil), map[string]ambit.FileSystem{"/d/m": memory.New(map[string]string{"f": "x"}, nil)})
	fsys := machine(t, memory.New(map[string]string{"i/hidden": "x", "k": "x"}, nil), map[string]ambit.FileSystem{"/i": inner, "/i/d/o": memory.New(map[string]string{"g": "x"}, nil)})
	want := "/i/a:1 /i/d/e:1 /i/d/m/f:1 /i/d/o/g:1 /k:1"
	found, _ := grepped(t, fsys, ambit.GrepQuery{Pattern: "x"})
	same(t, "a machine in a machine", found, want)
	found, _ = grepped(t, ambit.ReadOnly(fsys), ambit.GrepQuery{Pattern: "x"})
	same(t, "read-only", found, want)
	there, err := ambit.Chdir(t.Context(), fsys, "/i/d")
	if err != nil {
		t.Fatal(err)
	}
	found, _ = grepped(t, there, ambit.GrepQuery{Pattern: "x", Base: "m"})
	same(t, "from a folder", found, "/i/d/m/f:1")
	found, _ = grepped(t, there, ambit.GrepQuery{Pattern: "x"})
	same(t, "a folder", found, "/i/d/e:1 /i/d/m/f:1 /i/d/o/g:1")
	sub, err := ambit.Sub(t.Context(), fsys, "/i/d")
	if err != nil {
		t.Fatal(err)
	}
	found, _ = grepped(t, sub, ambit.GrepQuery{Pattern: "x"})
	same(t, "a Sub", found, "/e:1 /m/f:1 /o/g:1")
	found, _ = globbed(t, ambit.ReadOnly(sub), ambit.GlobQuery{Pattern: "*"})
	same(t, "a read-only Sub", found, "/e /m/ /o/")
}
