// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/ambitfs/ambit"
)

// walkedPaths returns what a walk yields, an error behind its path.
func walkedPaths(ctx context.Context, fsys ambit.FileSystem, root string) []string {
	var got []string
	for e, err := range ambit.Walk(ctx, fsys, root) {
		line := e.Info.Path
		if err != nil {
			line += ": " + string(ambit.ReasonOf(err))
		}
		got = append(got, line)
	}
	return got
}

func TestWalk(t *testing.T) {
	d := newDouble(map[string]string{
		"/b/x": "", "/b/y/z": "", "/a": "", "/b-": "", "/B/": "", "/l": "-> b", "/loop": "-> loop", "/out": "-> ../x", "/p": "|",
	})
	all := []string{"/B", "/a", "/b", "/b/x", "/b/y", "/b/y/z", "/b-", "/l", "/loop", "/out", "/p"}
	for _, root := range []string{"/", ".", "b/.."} {
		if got := walkedPaths(t.Context(), d, root); !slices.Equal(got, all) {
			t.Errorf("%q: %q, want %q", root, got, all)
		}
	}
	for root, want := range map[string][]string{
		"b":       {"/b/x", "/b/y", "/b/y/z"},
		"/b/y/":   {"/b/y/z"},
		"l":       {"/b/x", "/b/y", "/b/y/z"},
		"B":       nil,
		"a":       {"a: not-a-directory"},
		"missing": {"missing: not-found"},
		"":        {": invalid-path"},
		"..":      {"..: outside"},
		"out":     {"out: outside"},
		"loop":    {"loop: loop"},
	} {
		if got := walkedPaths(t.Context(), d, root); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", root, got, want)
		}
	}
	for e, err := range ambit.Walk(t.Context(), d, "missing") {
		wantReason(t, err, ambit.OpWalk, "missing", ambit.ErrNotFound)
		if e.Info.Kind != ambit.KindDirectory || e.Name != "missing" {
			t.Errorf("%+v", e)
		}
	}
}

// TestWalkGoesOn: a folder that cannot be listed is told once more, with its error, and does not end the walk.
func TestWalkGoesOn(t *testing.T) {
	d := newDouble(map[string]string{"/a/x": "", "/b/x": "", "/c/x": ""})
	d.before = func(op, canonical string) error {
		if op == ambit.OpList && canonical == "/b" {
			return ambit.ErrPermission
		}
		return nil
	}
	want := []string{"/a", "/a/x", "/b", "/b: permission", "/c", "/c/x"}
	if got := walkedPaths(t.Context(), d, "/"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWalkStops(t *testing.T) {
	d := newDouble(map[string]string{"/a/x": "", "/a/y": "", "/b/x": ""})
	for n := range 5 {
		lists := 0
		d.before = func(op, _ string) error { lists++; return nil }
		got := 0
		for range ambit.Walk(t.Context(), d, "/") {
			if got++; got > n {
				break
			}
		}
		if got != n+1 || lists > n+1 {
			t.Errorf("%d entries, %d listings for a break after %d", got, lists, n+1)
		}
	}
}

// TestWalkEndsWithTheContext: its end is told, once, wherever it comes.
func TestWalkEndsWithTheContext(t *testing.T) {
	d := newDouble(map[string]string{"/a/x": "", "/b": "", "/c/x": "", "/d": ""})
	for n := range 7 {
		ctx, cancel := context.WithCancel(t.Context())
		if n == 0 {
			cancel()
		}
		var entries, ends int
		for _, err := range ambit.Walk(ctx, d, "/") {
			switch {
			case ambit.ReasonOf(err) == ambit.ErrCanceled:
				ends++
			case err != nil || ends > 0:
				t.Errorf("after %d: %v behind the end", n, err)
			default:
				if entries++; entries == n {
					cancel()
				}
			}
		}
		cancel()
		if n < 6 && (entries != n || ends != 1) {
			t.Errorf("cancelled after %d: %d entries, %d errors", n, entries, ends)
		}
		if n == 6 && entries != 6 {
			t.Errorf("%d entries", entries)
		}
	}
}

// TestWalkPages: more entries than one listing gives, and a file system whose pages do not go forward.
func TestWalkPages(t *testing.T) {
	tree := make(map[string]string)
	var want []string
	for i := range 2345 {
		path := fmt.Sprintf("/d/%05d", i)
		tree[path] = ""
		want = append(want, path)
	}
	d := newDouble(tree)
	if got := walkedPaths(t.Context(), d, "d"); !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
	for _, next := range []string{"a", "A", "\x00"} {
		n := 0
		for range ambit.Walk(t.Context(), stuck{newDouble(nil), next}, "/") {
			if n++; n > 10 {
				t.Fatalf("next %q: it goes round and round", next)
			}
		}
	}
}

// stuck is a file system whose listings always go on at the same place.
type stuck struct {
	*double
	next string
}

func (s stuck) List(context.Context, string, *ambit.ListOptions) (*ambit.Listing, error) {
	return &ambit.Listing{Dir: "/", Entries: []ambit.Entry{{Name: "a", Info: ambit.FileInfo{Path: "/a", Kind: ambit.KindRegular}}}, Next: s.next}, nil
}

// silent returns neither a result nor an error.
type silent struct{ *double }

func (silent) List(context.Context, string, *ambit.ListOptions) (*ambit.Listing, error) {
	return nil, nil
}

func (silent) Open(context.Context, string) (ambit.File, error) { return nil, nil }

// TestWalkOverSilence: a backend that returns nothing is an error, not a panic, wherever its listing is used.
func TestWalkOverSilence(t *testing.T) {
	ctx := t.Context()
	d := newDouble(map[string]string{"/d/f": "x"})
	d.caps.ReadLink = false // so that the kind of a name is looked for in the listing
	s := silent{d}
	shown, err := ambit.Chdir(ctx, s, "d")
	if err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]ambit.FileSystem{"bare": s, "mapped": shown} {
		n := 0
		for _, err := range ambit.Walk(ctx, fsys, "/d") {
			n++
			wantReason(t, err, ambit.OpWalk, "/d", ambit.ErrIO)
		}
		if n != 1 {
			t.Errorf("%s: Walk yielded %d times", name, n)
		}
		_, _, err := ambit.ReadFile(ctx, fsys, "/d/f")
		wantReason(t, err, ambit.OpOpen, "/d/f", ambit.ErrIO)
		// Its kind cannot be told: what matters is that it is told.
		if _, err := ambit.Rename(ctx, fsys, "/d/f", "/d/g", nil); err == nil {
			t.Errorf("%s: Rename of a file that cannot be opened", name)
		}
	}
	_, err = fs.ReadDir(ambit.IOFS(ctx, s), "d")
	if ambit.ReasonOf(err) != ambit.ErrIO {
		t.Errorf("IOFS: %v", err)
	}
	_, err = shown.List(ctx, "/d", nil)
	wantReason(t, err, ambit.OpList, "/d", ambit.ErrIO)
}
