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

// TestSubWhoseRootHasGone: whatever is called, no folder above what a Sub shows comes back, nor its "/".
func TestSubWhoseRootHasGone(t *testing.T) {
	ctx := t.Context()
	content := func() *strings.Reader { return strings.NewReader("x") }
	parents := &ambit.WriteOptions{Parents: true}
	calls := map[string]func(sub ambit.FileSystem) error{
		"Write": func(sub ambit.FileSystem) error {
			_, err := sub.(ambit.WritableFileSystem).Write(ctx, "x", content(), parents)
			return err
		},
		"Write deep": func(sub ambit.FileSystem) error {
			_, err := sub.(ambit.WritableFileSystem).Write(ctx, "a/b/x", content(), parents)
			return err
		},
		"Append": func(sub ambit.FileSystem) error {
			_, err := ambit.Append(ctx, sub, "x", content(), &ambit.AppendOptions{Parents: true})
			return err
		},
		"Mkdir": func(sub ambit.FileSystem) error {
			_, err := ambit.Mkdir(ctx, sub, "x", &ambit.MkdirOptions{Parents: true})
			return err
		},
		"Mkdir /": func(sub ambit.FileSystem) error {
			_, err := ambit.Mkdir(ctx, sub, "/", &ambit.MkdirOptions{Parents: true})
			return err
		},
		"Mkdir . plain": func(sub ambit.FileSystem) error {
			_, err := ambit.Mkdir(ctx, sub, ".", nil)
			return err
		},
		"Stage": func(sub ambit.FileSystem) error {
			s, err := ambit.Stage(ctx, sub, "x", content(), parents)
			if err == nil {
				_, err = s.Publish(ctx)
			}
			return err
		},
		"Rename": func(sub ambit.FileSystem) error {
			_, err := ambit.Rename(ctx, sub, "f", "y/x", &ambit.RenameOptions{Parents: true})
			return err
		},
		"Commit": func(sub ambit.FileSystem) error {
			_, err := ambit.Commit(ctx, sub, []ambit.Change{{Op: ambit.OpWrite, Path: "x", Content: content(), Parents: true}})
			return err
		},
	}
	for _, gone := range []string{"p", "p/dir"} {
		for name, call := range calls {
			for _, native := range []bool{true, false} {
				m := memory.New(map[string]string{"p/dir/f": "1", "q": ""}, nil)
				keep := m.Capabilities()
				keep.Sub, keep.Guard = false, false
				keep.Append, keep.Stage, keep.Commit, keep.Rename = native, native, native, native
				sub, err := ambit.Sub(ctx, ambit.Forward{Base: m, Keep: keep}, "p/dir")
				if err != nil {
					t.Fatal(err)
				}
				if err := call(sub); err != nil && !strings.HasPrefix(name, "Mkdir ") {
					t.Fatalf("%s, while all is there: %v", name, err)
				}
				if err := m.Remove(ctx, gone, &ambit.RemoveOptions{Recursive: true}); err != nil {
					t.Fatal(err)
				}
				before := walkedPaths(ctx, m, "/")
				if r := ambit.ReasonOf(call(sub)); r != ambit.ErrNotFound {
					t.Errorf("%s without %s, native %v: %q, want not-found", name, gone, native, r)
				}
				if after := walkedPaths(ctx, m, "/"); !slices.Equal(before, after) {
					t.Errorf("%s without %s, native %v: made %q", name, gone, native, after)
				}
			}
		}
	}
}

// TestSubWhoseRootGoesBeforePublish: the second judgement of a Stage looks for the root again.
func TestSubWhoseRootGoesBeforePublish(t *testing.T) {
	ctx := t.Context()
	m := memory.New(map[string]string{"p/dir/f": "1"}, nil)
	keep := m.Capabilities()
	keep.Sub, keep.Guard = false, false
	sub, err := ambit.Sub(ctx, ambit.Forward{Base: m, Keep: keep}, "p/dir")
	if err != nil {
		t.Fatal(err)
	}
	f, err := sub.Stat(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	stage := func(path string, o *ambit.WriteOptions) ambit.Staged {
		t.Helper()
		o.Parents = true
		s, err := ambit.Stage(ctx, sub, path, strings.NewReader("x"), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	fresh, published := stage("a/x", &ambit.WriteOptions{}), stage("b/x", &ambit.WriteOptions{})
	conditional := stage("f", &ambit.WriteOptions{If: ambit.IfVersion(f.Version)})
	if _, err := published.Publish(ctx); err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(ctx, "p", &ambit.RemoveOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	_, err = fresh.Publish(ctx)
	if e := wantReason(t, err, ambit.OpPublish, "a/x", ambit.ErrNotFound); e.Target != "/a/x" {
		t.Errorf("%+v", e)
	}
	_, err = conditional.Publish(ctx)
	wantReason(t, err, ambit.OpPublish, "f", ambit.ErrChanged)
	for _, s := range []ambit.Staged{fresh, published, conditional} {
		if _, err := s.Publish(ctx); ambit.ReasonOf(err) != ambit.ErrClosed {
			t.Errorf("published again: %v", err)
		}
		if err := s.Discard(ctx); err != nil {
			t.Errorf("discarded: %v", err)
		}
	}
	if left := walkedPaths(ctx, m, "/"); len(left) > 0 {
		t.Errorf("made %q", left)
	}
}
