// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/route"
)

func machine(t testing.TB, fallback ambit.FileSystem, at map[string]ambit.FileSystem) ambit.FileSystem {
	t.Helper()
	fsys, err := route.New(fallback, at)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func reason(t *testing.T, what string, err error, want ambit.Reason) {
	t.Helper()
	if got := ambit.ReasonOf(err); got != want {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func list(t *testing.T, fsys ambit.FileSystem, dir string, limit int) string {
	t.Helper()
	var names []string
	o := &ambit.ListOptions{Limit: limit}
	for {
		l, err := fsys.List(t.Context(), dir, o)
		if err != nil {
			t.Fatalf("list %s: %v", dir, err)
		}
		for _, e := range l.Entries {
			if e.Info.Path != ambit.Join(l.Dir, e.Name) {
				t.Errorf("%s in %s has the path %s", e.Name, l.Dir, e.Info.Path)
			}
			names = append(names, e.Name)
		}
		if limit > 0 && len(l.Entries) > limit {
			t.Errorf("a page of %d entries, want at most %d", len(l.Entries), limit)
		}
		if l.Next == "" {
			return strings.Join(names, " ")
		}
		o.After = l.Next
	}
}

func TestNew(t *testing.T) {
	m := func() ambit.FileSystem { return memory.New(nil, nil) }
	for _, at := range []map[string]ambit.FileSystem{
		{"/": m()},
		{"relative": m()},
		{"": m()},
		{"/a\x00": m()},
		{"/..": m()},
		{"/a/..": m()},
		{"/a": nil},
		{"/a": m(), "/a/": m()},
		{"/a": m(), "/b/../a": m()},
	} {
		fsys, err := route.New(m(), at)
		if err == nil || fsys != nil {
			t.Errorf("%v: %v, %v, want an error", at, fsys, err)
		}
		switch ambit.ReasonOf(err) {
		case ambit.ErrInvalid, ambit.ErrInvalidPath, ambit.ErrOutside:
		default:
			t.Errorf("%v: %v", at, err)
		}
	}
	_, err := route.New(nil, nil)
	reason(t, "a nil fallback", err, ambit.ErrInvalid)
}

func TestLongestPrefix(t *testing.T) {
	fsys := machine(t,
		memory.New(map[string]string{"f": "root", "abcde/file.txt": "sibling", "abcd/hidden": "hidden"}, nil),
		map[string]ambit.FileSystem{
			"/abcd":      memory.New(map[string]string{"file.txt": "mounted"}, nil),
			"/abcd/deep": memory.New(map[string]string{"g": "deeper"}, nil),
			"/way/to/it": memory.New(map[string]string{"h": "far"}, nil),
		})
	for path, want := range map[string]string{
		"/f": "root", "abcde/file.txt": "sibling", "/abcd/file.txt": "mounted", "abcd//deep/../file.txt": "mounted",
		"/abcd/deep/g": "deeper", "way/to/it/h": "far",
	} {
		data, info, err := ambit.ReadFile(t.Context(), fsys, path)
		if err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v, want %q", path, data, err, want)
			continue
		}
		if again, _, err := ambit.ReadFile(t.Context(), fsys, info.Path); err != nil || string(again) != want {
			t.Errorf("%s, canonical of %s, holds %q, %v", info.Path, path, again, err)
		}
	}
	_, err := fsys.Open(t.Context(), "/abcd/hidden")
	reason(t, "what a mount hides", err, ambit.ErrNotFound)
	for _, dir := range []string{"/", "/abcd", "/abcd/deep", "/way", "/way/to", "way/to/it/"} {
		info, err := fsys.Stat(t.Context(), dir)
		if err != nil || !info.IsDir() {
			t.Errorf("%s: %+v, %v", dir, info, err)
		}
		_, err = fsys.Open(t.Context(), dir)
		reason(t, "open "+dir, err, ambit.ErrNotAFile)
	}
	for dir, want := range map[string]string{
		"/": "abcd abcde f way", "/abcd": "deep file.txt", "/way": "to", "/way/to": "it", "/way/to/it": "h", "/abcd/deep": "g",
	} {
		for limit := range 5 {
			if got := list(t, fsys, dir, limit); got != want {
				t.Errorf("%s lists %q in pages of %d, want %q", dir, got, limit, want)
			}
		}
	}
}

// Every page size over every way that mount points lie among other names.
func TestPages(t *testing.T) {
	names := "abcdefgh"
	for mask := range 1 << len(names) {
		files := map[string]string{}
		at := map[string]ambit.FileSystem{}
		for i, name := range strings.Split(names, "") {
			switch {
			case mask>>i&1 == 1 && i%2 == 0:
				at["/"+name] = memory.New(nil, nil)
				files[name] = "hidden"
			case mask>>i&1 == 1:
				at["/"+name+"/x"] = memory.New(nil, nil)
			default:
				files[name] = ""
			}
		}
		fsys := machine(t, memory.New(files, nil), at)
		for limit := 1; limit <= len(names)+1; limit += 2 {
			if got, want := list(t, fsys, "/", limit), strings.Join(strings.Split(names, ""), " "); got != want {
				t.Fatalf("mask %b, pages of %d: %q, want %q", mask, limit, got, want)
			}
		}
	}
}

func TestMountPointsStay(t *testing.T) {
	ctx := t.Context()
	build := func() ambit.FileSystem {
		return machine(t,
			memory.New(map[string]string{"f": "root", "dir/g": "g", "way/file": "w"}, nil),
			map[string]ambit.FileSystem{"/mnt": memory.New(map[string]string{"x": "x"}, nil), "/way/deep": memory.New(map[string]string{"y": "y"}, nil)})
	}
	all := &ambit.RemoveOptions{Recursive: true}
	replace := &ambit.RenameOptions{Replace: true, Parents: true}
	rename := func(fsys ambit.FileSystem, from, to string) error {
		_, err := ambit.Rename(ctx, fsys, from, to, replace)
		return err
	}
	for name, c := range map[string]struct {
		do   func(fsys ambit.FileSystem) error
		want ambit.Reason
	}{
		"remove a mount point":              {func(f ambit.FileSystem) error { return ambit.Remove(ctx, f, "/mnt", all) }, ambit.ErrInvalid},
		"remove a mount point with a slash": {func(f ambit.FileSystem) error { return ambit.Remove(ctx, f, "/mnt/", all) }, ambit.ErrInvalid},
		"remove the root":                   {func(f ambit.FileSystem) error { return ambit.Remove(ctx, f, "/", all) }, ambit.ErrInvalid},
		"remove a way":                      {func(f ambit.FileSystem) error { return ambit.Remove(ctx, f, "/way", all) }, ambit.ErrDenied},
		"rename a mount point":              {func(f ambit.FileSystem) error { return rename(f, "/mnt", "/n") }, ambit.ErrInvalid},
		"rename a way":                      {func(f ambit.FileSystem) error { return rename(f, "/way", "/n") }, ambit.ErrDenied},
		"rename onto a mount point":         {func(f ambit.FileSystem) error { return rename(f, "/f", "/mnt") }, ambit.ErrExists},
		"rename onto a way":                 {func(f ambit.FileSystem) error { return rename(f, "/dir", "/way") }, ambit.ErrExists},
		"rename into a mount":               {func(f ambit.FileSystem) error { return rename(f, "/f", "/mnt/f") }, ambit.ErrCrossDevice},
		"rename out of a mount":             {func(f ambit.FileSystem) error { return rename(f, "/mnt/x", "/x") }, ambit.ErrCrossDevice},
		"rename a missing name across":      {func(f ambit.FileSystem) error { return rename(f, "/mnt/none", "/x") }, ambit.ErrNotFound},
		"write onto a mount point":          {func(f ambit.FileSystem) error { return write(ctx, f, "/mnt", nil) }, ambit.ErrNotAFile},
		"write onto a way":                  {func(f ambit.FileSystem) error { return write(ctx, f, "/way", nil) }, ambit.ErrNotAFile},
		"create onto a way": {func(f ambit.FileSystem) error {
			return write(ctx, f, "/way", &ambit.WriteOptions{If: ambit.IfAbsent()})
		}, ambit.ErrExists},
		"mkdir a mount point": {func(f ambit.FileSystem) error {
			_, err := ambit.Mkdir(ctx, f, "/mnt", nil)
			return err
		}, ambit.ErrExists},
		"commit across": {func(f ambit.FileSystem) error {
			_, err := ambit.Commit(ctx, f, []ambit.Change{
				{Op: ambit.OpWrite, Path: "/f", Content: strings.NewReader("no")},
				{Op: ambit.OpRemove, Path: "/mnt/x"},
			})
			return err
		}, ambit.ErrCrossDevice},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := build()
			before := everything(t, fsys)
			reason(t, name, c.do(fsys), c.want)
			if after := everything(t, fsys); after != before {
				t.Errorf("was\n%snow\n%s", before, after)
			}
		})
	}
}

func write(ctx context.Context, fsys ambit.FileSystem, path string, o *ambit.WriteOptions) error {
	_, err := ambit.WriteFile(ctx, fsys, path, []byte("new"), o)
	return err
}

func everything(t *testing.T, fsys ambit.FileSystem) string {
	t.Helper()
	var b strings.Builder
	for e, err := range ambit.Walk(t.Context(), fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, e.Info.Path, e.Info.Kind)
		if e.Info.Kind == ambit.KindRegular {
			data, _, err := ambit.ReadFile(t.Context(), fsys, e.Info.Path)
			fmt.Fprintf(&b, "  %q %v\n", data, err)
		}
	}
	return b.String()
}

// A folder on the way to a mount point is there, so a file can be made in it.
func TestWriteIntoAWay(t *testing.T) {
	fsys := machine(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/a/b/c": memory.New(nil, nil)})
	r, err := ambit.WriteFile(t.Context(), fsys, "/a/b/new", []byte("x"), nil)
	if err != nil || r.CreatedDirs != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if created, err := ambit.Mkdir(t.Context(), fsys, "/a/folder", nil); err != nil || len(created) != 1 || created[0] != "/a/folder" {
		t.Errorf("made %v, %v", created, err)
	}
	if got := list(t, fsys, "/a/b", 0); got != "c new" {
		t.Errorf("lists %q", got)
	}
	_, err = ambit.WriteFile(t.Context(), fsys, "/a/gone/new", []byte("x"), nil)
	reason(t, "a parent is missing", err, ambit.ErrNotFound)
	if dirs := err.(*ambit.Error).MissingDirs; len(dirs) != 1 || dirs[0] != "/a/gone" {
		t.Errorf("missing folders %v", dirs)
	}
	_, err = ambit.WriteFile(t.Context(), fsys, "/a/b/gone", []byte("x"), &ambit.WriteOptions{If: ambit.IfVersion("v")})
	reason(t, "a version of nothing", err, ambit.ErrChanged)
}

// Links of a disk do not lead to what a mount hides.
func TestLinksStayInTheirMount(t *testing.T) {
	tree := conformance.ParseTree(`
-- mnt/real --
hidden
-- link -> mnt/real --
-- folder -> mnt --
-- to-way -> way --
-- way/file --
shown
-- way/deep/inner --
hidden too
`[1:])
	root := t.TempDir()
	if err := tree.LayOut(root); err != nil {
		t.Fatal(err)
	}
	disk, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	ctx := t.Context()
	if data, _, err := ambit.ReadFile(ctx, disk, "/link"); err != nil || string(data) != "hidden\n" {
		t.Fatalf("the control: %q, %v", data, err)
	}
	fsys := machine(t, disk, map[string]ambit.FileSystem{
		"/mnt": memory.New(map[string]string{"real": "mounted"}, nil), "/way/deep": memory.New(nil, nil),
	})
	for _, path := range []string{"/link", "/folder/real", "/to-way/deep/inner", "/folder"} {
		_, err := fsys.Stat(ctx, path)
		reason(t, "stat "+path, err, ambit.ErrOutside)
		err = write(ctx, fsys, path, nil)
		reason(t, "write "+path, err, ambit.ErrOutside)
	}
	_, err = fsys.Open(ctx, "/link")
	reason(t, "open", err, ambit.ErrOutside)
	_, err = fsys.List(ctx, "/folder", nil)
	reason(t, "list", err, ambit.ErrOutside)
	reason(t, "write", write(ctx, fsys, "/folder/new", nil), ambit.ErrOutside)
	reason(t, "remove", ambit.Remove(ctx, fsys, "/folder/real", nil), ambit.ErrOutside)
	if got := list(t, fsys, "/to-way", 0); got != "deep file" {
		t.Errorf("the way through a link lists %q", got)
	}
	if data, _, err := ambit.ReadFile(ctx, disk, "/mnt/real"); err != nil || string(data) != "hidden\n" {
		t.Errorf("what is hidden: %q, %v", data, err)
	}
	// A link itself is the member's own.
	if err := ambit.Remove(ctx, fsys, "/link", nil); err != nil {
		t.Error(err)
	}
}

func TestSub(t *testing.T) {
	fsys := machine(t,
		memory.New(map[string]string{"a/own": "own", "top": "top"}, nil),
		map[string]ambit.FileSystem{"/a/m": memory.New(map[string]string{"dir/f": "f"}, nil)})
	sub, err := ambit.Sub(t.Context(), fsys, "a")
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, sub, "/", 0); got != "m own" {
		t.Errorf("lists %q", got)
	}
	data, info, err := ambit.ReadFile(t.Context(), sub, "m/dir/f")
	if err != nil || string(data) != "f" || info.Path != "/m/dir/f" {
		t.Errorf("%q, %+v, %v", data, info, err)
	}
	_, err = sub.Open(t.Context(), "../top")
	reason(t, "above", err, ambit.ErrOutside)
	inner, err := ambit.Sub(t.Context(), fsys, "a/m/dir")
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, inner, "/", 0); got != "f" {
		t.Errorf("lists %q", got)
	}
}

func TestGuard(t *testing.T) {
	fsys := machine(t,
		memory.New(map[string]string{"open": "x", "way/file": "x"}, nil),
		map[string]ambit.FileSystem{"/m": memory.New(map[string]string{"open": "x", "secret": "s"}, nil), "/way/deep": memory.New(nil, nil)})
	guarded := fsys.(ambit.Guarder).Guard(func(_ context.Context, _ ambit.Op, canonical string) error {
		if canonical == "/m/secret" || ambit.Contains("/way", canonical) {
			return ambit.ErrDenied
		}
		return nil
	})
	for _, path := range []string{"/m/secret", "/way/file", "/way", "/way/deep", "/way/deep/x"} {
		_, err := guarded.Open(t.Context(), path)
		reason(t, "open "+path, err, ambit.ErrDenied)
		_, err = guarded.Stat(t.Context(), path)
		reason(t, "stat "+path, err, ambit.ErrDenied)
	}
	if _, _, err := ambit.ReadFile(t.Context(), guarded, "/m/open"); err != nil {
		t.Error(err)
	}
	if got := list(t, guarded, "/", 0); got != "m open" {
		t.Errorf("lists %q", got)
	}
	if got := list(t, guarded, "/m", 0); got != "open" {
		t.Errorf("lists %q", got)
	}
	sub, err := ambit.Sub(t.Context(), guarded, "/m")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sub.Open(t.Context(), "secret")
	reason(t, "through a Sub", err, ambit.ErrDenied)
}

// The machine keeps the contract: with a member for all, and through the
// prefix of a mount, where every call is routed.
func TestConformance(t *testing.T) {
	build := func(wrap func(member ambit.FileSystem) (ambit.FileSystem, error)) conformance.Target {
		return conformance.Target{
			Name: "route",
			New: func(ctx context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
				member := memory.New(tree.Files(), nil)
				if err := tree.SetModes(ctx, member); err != nil {
					return nil, nil, err
				}
				fsys, err := wrap(member)
				return fsys, nil, err
			},
		}
	}
	t.Run("no mounts", func(t *testing.T) {
		conformance.Test(t, build(func(member ambit.FileSystem) (ambit.FileSystem, error) { return route.New(member, nil) }), nil)
	})
	t.Run("in a mount", func(t *testing.T) {
		conformance.Test(t, build(func(member ambit.FileSystem) (ambit.FileSystem, error) {
			fsys, err := route.New(memory.New(map[string]string{"other": "x"}, nil), map[string]ambit.FileSystem{
				"/deep/mnt": member, "/deep/mnt2": memory.New(nil, nil),
			})
			if err != nil {
				return nil, err
			}
			return ambit.MapPaths(fsys, ambit.PathMap{
				In: func(path string) (string, error) {
					clean, dir, err := ambit.Resolve("/", path)
					if dir && clean != "/" {
						clean += "/"
					}
					return "/deep/mnt" + clean, err
				},
				Out: func(canonical string) (string, bool) {
					rest, ok := strings.CutPrefix(canonical, "/deep/mnt")
					return "/" + strings.TrimPrefix(rest, "/"), ok && (rest == "" || rest[0] == '/')
				},
			}), nil
		}), nil)
	})
}

func Example() {
	ctx := context.Background()
	fsys, err := route.New(
		memory.New(map[string]string{"src/main.go": "package main\n"}, nil),
		map[string]ambit.FileSystem{"/scratch": memory.New(nil, nil)},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := ambit.Copy(ctx, fsys, "/scratch/main.go", fsys, "/src/main.go", nil)
	fmt.Println(r.Info.Path, r.Info.Size, err)
	_, err = ambit.Rename(ctx, fsys, "/scratch/main.go", "/main.go", nil)
	fmt.Println(ambit.ReasonOf(err))
	// Output:
	// /scratch/main.go 13 <nil>
	// cross-device
}
