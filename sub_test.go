// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/modeltest"
	"github.com/ambitfs/ambit/memory"
	"github.com/google/go-cmp/cmp"
)

// withoutLinks is a double of a storage that has no links, which Sub may put a prefix before.
func withoutLinks(tree map[string]string) *double {
	d := newDouble(tree)
	d.caps.Links = ambit.LinksNone
	return d
}

func TestSubByPrefix(t *testing.T) {
	ctx := t.Context()
	d := withoutLinks(map[string]string{"/a/b/f": "in", "/a/secret": "out", "/ab/f": "beside"})
	before := d.dump()
	sub, err := ambit.Sub(ctx, d, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	data, info, err := ambit.ReadFile(ctx, sub, "f")
	if err != nil || string(data) != "in" || info.Path != "/f" {
		t.Errorf("%q, %+v, %v", data, info, err)
	}
	for _, path := range []string{"/", ".", "./", "f/.."} {
		l, err := sub.List(ctx, path, nil)
		if err != nil || l.Dir != "/" || !slices.Equal(names(l.Entries), []string{"f"}) || l.Entries[0].Info.Path != "/f" {
			t.Errorf("%q: %+v, %v", path, l, err)
		}
		info, err := sub.Stat(ctx, path)
		if err != nil || info.Path != "/" || !info.IsDir() {
			t.Errorf("%q: %+v, %v", path, info, err)
		}
	}
	for _, path := range []string{"..", "../secret", "/../secret", "f/../../secret", "../b/f"} {
		for _, m := range methods {
			if m.name == "Sub" || m.bit != "" && !bit(sub.Capabilities(), m.bit) {
				continue
			}
			_, err := m.call(ctx, sub, path)
			wantReason(t, err, m.op, path, ambit.ErrOutside)
		}
	}
	e := wantReason(t, func() error { _, err := sub.Stat(ctx, "x/y/z"); return err }(), ambit.OpStat, "x/y/z", ambit.ErrNotFound)
	if e.Target != "/x/y/z" || !slices.Equal(e.MissingDirs, []string{"/x", "/x/y"}) {
		t.Errorf("%+v", e)
	}
	w, err := ambit.Writable(sub)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", ".", "//", "f/.."} {
		for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true}, {Recursive: true, MissingOK: true}} {
			wantReason(t, w.Remove(ctx, path, o), ambit.OpRemove, path, ambit.ErrInvalid)
		}
	}
	if diff := cmp.Diff(before, d.dump()); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	r, err := w.Write(ctx, "x/y/new", strings.NewReader("new"), &ambit.WriteOptions{Parents: true})
	if err != nil || r.Info.Path != "/x/y/new" || !slices.Equal(r.CreatedDirs, []string{"/x", "/x/y"}) || d.dump()["/a/b/x/y/new"] != "new" {
		t.Errorf("%+v, %v", r, err)
	}
	if deeper, err := ambit.Sub(ctx, sub, "x"); err != nil {
		t.Error(err)
	} else if info, err := deeper.Stat(ctx, "y/new"); err != nil || info.Path != "/y/new" {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestSubRefusals(t *testing.T) {
	ctx := t.Context()
	tree := map[string]string{"/d/": "", "/f": "", "/l": "-> d", "/out": "-> ../x"}
	for links, want := range map[ambit.LinkRule]ambit.Reason{
		ambit.LinksUnknown: ambit.ErrUnsupported, ambit.LinksFollowed: ambit.ErrUnsupported,
		ambit.LinksNone: "", ambit.LinksRefused: "",
	} {
		d := newDouble(tree)
		d.caps.Links = links
		sub, err := ambit.Sub(ctx, d, "d")
		if ambit.ReasonOf(err) != want || (sub == nil) != (want != "") {
			t.Errorf("links %s: %v, %v", links, sub, err)
		}
	}
	d := newDouble(tree)
	d.caps.Links = ambit.LinksRefused
	for path, want := range map[string]ambit.Reason{
		"f": ambit.ErrNotADirectory, "f/": ambit.ErrNotADirectory, "missing": ambit.ErrNotFound, "l": ambit.ErrDenied,
		"": ambit.ErrInvalidPath, "..": ambit.ErrOutside,
	} {
		_, err := ambit.Sub(ctx, d, path)
		wantReason(t, err, ambit.OpSub, path, want)
	}
	// A link that comes to be where the folder was is not followed either.
	sub, err := ambit.Sub(ctx, d, "d")
	if err != nil {
		t.Fatal(err)
	}
	d.nodes["/d"] = &doubleNode{kind: ambit.KindSymlink, text: "/"}
	_, err = sub.Stat(ctx, "f")
	wantReason(t, err, ambit.OpStat, "f", ambit.ErrDenied)
}

func TestChdir(t *testing.T) {
	ctx := t.Context()
	d := newDouble(map[string]string{"/w/x/f": "in", "/w/g": "g", "/h": "h", "/l": "-> w/x", "/w/x/up": "-> ../g"})
	for _, dir := range []string{"w/x", "/w/x/", "l", "w/./x"} {
		fsys, err := ambit.Chdir(ctx, d, dir)
		if err != nil {
			t.Fatal(err)
		}
		for written, want := range map[string]string{
			"f": "/w/x/f", "./f": "/w/x/f", "../g": "/w/g", "../../h": "/h", "/h": "/h", "/w/x/f": "/w/x/f", "up": "/w/g",
		} {
			info, err := fsys.Stat(ctx, written)
			if err != nil || info.Path != want {
				t.Errorf("%q in %q: %+v, %v", written, dir, info, err)
			}
		}
		for _, written := range []string{".", "./", "../x"} {
			l, err := fsys.List(ctx, written, nil)
			if err != nil || l.Dir != "/w/x" || l.Entries[0].Info.Path != "/w/x/f" {
				t.Errorf("%q in %q: %+v, %v", written, dir, l, err)
			}
		}
		_, err = fsys.Stat(ctx, "../../../h")
		wantReason(t, err, ambit.OpStat, "../../../h", ambit.ErrOutside)
		_, err = fsys.Stat(ctx, "f/")
		wantReason(t, err, ambit.OpStat, "f/", ambit.ErrNotADirectory)
		text, err := fsys.(ambit.Linker).ReadLink(ctx, "up")
		if err != nil || text != "../g" {
			t.Errorf("%q, %v", text, err)
		}
		again, err := ambit.Chdir(ctx, fsys, "..")
		if err != nil {
			t.Fatal(err)
		}
		if info, err := again.Stat(ctx, "x/f"); err != nil || info.Path != "/w/x/f" {
			t.Errorf("%+v, %v", info, err)
		}
		if fsys.Capabilities() != d.Capabilities() {
			t.Errorf("%+v", fsys.Capabilities())
		}
	}
	for path, want := range map[string]ambit.Reason{
		"h": ambit.ErrNotADirectory, "missing": ambit.ErrNotFound, "": ambit.ErrInvalidPath, "..": ambit.ErrOutside,
	} {
		_, err := ambit.Chdir(ctx, d, path)
		wantReason(t, err, "chdir", path, want)
	}
}

// TestSubAndChdirKeepTheModel: a folder shown as the root, and a working directory, are as good as a file system of their own.
func TestSubAndChdirKeepTheModel(t *testing.T) {
	prefixed := func() ambit.WritableFileSystem {
		base := memory.New(map[string]string{"/x/y/": "", "/xy/other": "other"}, nil)
		f := ambit.Forward{Base: base, Keep: base.Capabilities()}
		f.Keep.Sub = false
		sub, err := ambit.Sub(t.Context(), f, "x/y")
		if err != nil {
			t.Fatal(err)
		}
		return sub.(ambit.WritableFileSystem)
	}
	cwd := func() ambit.WritableFileSystem {
		fsys, err := ambit.Chdir(t.Context(), memory.New(nil, nil), "/")
		if err != nil {
			t.Fatal(err)
		}
		return fsys.(ambit.WritableFileSystem)
	}
	for _, data := range sequences(150) {
		modeltest.Run(t, prefixed(), data)
		modeltest.Run(t, cwd(), data)
	}
}

// TestSubIsItsOwnWorld: what happens in a Sub by prefix stays beneath its folder.
func TestSubIsItsOwnWorld(t *testing.T) {
	for _, data := range sequences(50) {
		base := memory.New(map[string]string{"/x/y/": "", "/xy/other": "other", "/x/z": "z"}, nil)
		f := ambit.Forward{Base: base, Keep: base.Capabilities()}
		f.Keep.Sub = false
		sub, err := ambit.Sub(t.Context(), f, "x/y")
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Run(t, sub.(ambit.WritableFileSystem), data)
		var outside []string
		for e, err := range ambit.Walk(context.Background(), base, "/") {
			if err != nil {
				t.Fatal(err)
			}
			if !ambit.Contains("/x/y", e.Info.Path) {
				outside = append(outside, e.Info.Path)
			}
		}
		if want := []string{"/x", "/x/z", "/xy", "/xy/other"}; !slices.Equal(outside, want) {
			t.Fatalf("%q, want %q", outside, want)
		}
	}
}
