// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// layered is a CopyOnWriteFs with its tree in both layers.
func layered(t *testing.T) (fsys *aferofs.FileSystem, base, layer afero.Fs) {
	t.Helper()
	base, layer = afero.NewMemMapFs(), afero.NewMemMapFs()
	fill(t, aferofs.New(base, nil), map[string]string{"/b": "base", "/both": "beneath", "/d/b": "base", "/d/both": "beneath", "/only/b": "base"})
	fill(t, aferofs.New(layer, nil), map[string]string{"/l": "layer", "/both": "above", "/d/l": "layer", "/d/both": "above"})
	return aferofs.New(afero.NewCopyOnWriteFs(base, layer), nil), base, layer
}

const layeredText = "/b=base /both=above /d/ /d/b=base /d/both=above /d/l=layer /l=layer /only/ /only/b=base"

// What lies in the base of a CopyOnWriteFs can be written over and not be
// taken away: a removal or a move that would only uncover it is refused, and
// changes nothing.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, fsys ambit.WritableFileSystem) string
		want  string
		after string
	}{
		{"writing over the base", write("/b", "new"), "ok", strings.Replace(layeredText, "/b=base", "/b=new", 1)},
		{"writing over both", write("/both", "new"), "ok", strings.Replace(layeredText, "/both=above", "/both=new", 1)},
		{"a new file in a folder of the base", write("/only/n", "new"), "ok", layeredText + " /only/n=new"},
		{"removing from the layer", remove("/l", nil), "ok", strings.Replace(layeredText, " /l=layer", "", 1)},
		{"removing from the base", remove("/b", nil), "read-only", layeredText},
		{"removing from both", remove("/both", nil), "read-only", layeredText},
		{"removing a folder of the base", remove("/only", recursive), "read-only", layeredText},
		{"removing a folder of both", remove("/d", recursive), "read-only", layeredText},
		{"moving from the layer", move("/l", "/m", nil), "ok", strings.Replace(layeredText, " /l=layer", " /m=layer", 1)},
		{"moving from the base", move("/b", "/m", nil), "read-only", layeredText},
		{"moving from both", move("/both", "/m", nil), "read-only", layeredText},
		{"moving from both over another", move("/both", "/l", &ambit.RenameOptions{Replace: true}), "read-only", layeredText},
		{"moving a folder of the base", move("/only", "/m", nil), "read-only", layeredText},
		{"moving a folder of both", move("/d", "/m", nil), "read-only", layeredText},
		{"moving over the base", move("/l", "/b", &ambit.RenameOptions{Replace: true}), "ok", strings.Replace(strings.Replace(layeredText, " /l=layer", "", 1), "/b=base", "/b=layer", 1)},
		{"appending to the base", func(t *testing.T, fsys ambit.WritableFileSystem) string {
			_, err := ambit.Append(t.Context(), fsys, "/b", strings.NewReader("+"), nil)
			return told(err)
		}, "ok", strings.Replace(layeredText, "/b=base", "/b=base+", 1)},
		{"a commit that removes from the base", func(t *testing.T, fsys ambit.WritableFileSystem) string {
			_, err := ambit.Commit(t.Context(), fsys, []ambit.Change{
				{Op: ambit.OpWrite, Path: "/l", Content: strings.NewReader("new")},
				{Op: ambit.OpWrite, Path: "/n/n", Content: strings.NewReader("new"), Parents: true},
				{Op: ambit.OpRemove, Path: "/both"},
			})
			return told(err)
		}, "read-only", layeredText},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, base, layer := layered(t)
			before := contents(t, aferofs.New(base, nil))
			if got := c.do(t, fsys); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := contents(t, fsys); got != c.after {
				t.Errorf("left %s\nwant %s", got, c.after)
			}
			if got := contents(t, aferofs.New(base, nil)); got != before {
				t.Errorf("the base is %s", got)
			}
			if names := bareNames(t, layer); strings.Contains(names, ".ambit") {
				t.Errorf("left behind %s", names)
			}
		})
	}
	// The control: alone it uncovers the base.
	_, base, layer := layered(t)
	bare := afero.NewCopyOnWriteFs(base, layer)
	if err := bare.Remove("/both"); err != nil {
		t.Fatal(err)
	}
	if data, err := afero.ReadFile(bare, "/both"); string(data) != "beneath" || err != nil {
		t.Errorf("alone it shows %q, %v", data, err)
	}
}

// Whoever changes the afero.Fs behind the guard's back is seen by the version
// and by Verify.
func TestForeignChanges(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(fs afero.Fs) error
		gone  bool
	}{
		{"rewritten", func(fs afero.Fs) error { return afero.WriteFile(fs, "/d/f", []byte("theirs"), 0o644) }, false},
		{"rewritten to the same size", func(fs afero.Fs) error { return afero.WriteFile(fs, "/d/f", []byte("Theirs"), 0o644) }, false},
		{"touched", func(fs afero.Fs) error { return fs.Chtimes("/d/f", time.Now(), time.Unix(1, 0)) }, false},
		{"replaced", func(fs afero.Fs) error {
			if err := afero.WriteFile(fs, "/new", []byte("OURSOF"), 0o644); err != nil {
				return err
			}
			return fs.Rename("/new", "/d/f")
		}, false},
		{"replaced with the same size and time", func(fs afero.Fs) error {
			info, err := fs.Stat("/d/f")
			if err != nil {
				return err
			}
			was := info.ModTime()
			if err := afero.WriteFile(fs, "/new", []byte("Theirs"), 0o644); err != nil {
				return err
			}
			if err := fs.Chtimes("/new", was, was); err != nil {
				return err
			}
			return fs.Rename("/new", "/d/f")
		}, false},
		{"removed", func(fs afero.Fs) error { return fs.Remove("/d/f") }, true},
		{"removed with its folder", func(fs afero.Fs) error { return fs.RemoveAll("/d") }, true},
		{"a folder now", func(fs afero.Fs) error {
			if err := fs.Remove("/d/f"); err != nil {
				return err
			}
			return fs.Mkdir("/d/f", 0o755)
		}, true},
	} {
		for _, over := range []string{"MemMapFs", "BasePathFs(MemMapFs)", "BasePathFs(OsFs)"} {
			t.Run(c.name+"/"+over, func(t *testing.T) {
				i := 0
				for backends[i].name != over {
					i++
				}
				bare := backends[i].new(t)
				fsys := aferofs.New(bare, nil)
				ctx := t.Context()
				fill(t, fsys, map[string]string{"/d/f": "ourson"})
				f, err := fsys.Open(ctx, "/d/f")
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := f.Verify(ctx); err != nil {
					t.Errorf("before the change: %v", err)
				}
				if err := c.spoil(bare); err != nil {
					t.Fatal(err)
				}
				if err := f.Verify(ctx); told(err) != "changed" {
					t.Errorf("after the change: %v", err)
				}
				_, err = fsys.Write(ctx, "/d/f", strings.NewReader("mine"), &ambit.WriteOptions{If: ambit.IfVersion(f.Info().Version)})
				want := "changed"
				if info, statErr := fsys.Stat(ctx, "/d/f"); statErr == nil && info.IsDir() {
					want = "not-a-file"
				}
				if told(err) != want {
					t.Errorf("a write over it: %v", err)
				}
				info, err := fsys.Stat(ctx, "/d/f")
				if c.gone {
					return
				}
				if err != nil || info.Version == f.Info().Version || !info.Version.Valid() {
					t.Errorf("%+v, %v", info, err)
				}
				again, err := fsys.Stat(ctx, "/d/f")
				if err != nil || again.Version != info.Version {
					t.Errorf("it does not keep still: %q, %q, %v", info.Version, again.Version, err)
				}
			})
		}
	}
}

// A version does not come back with the bytes.
func TestVersionsAreNotReused(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		ctx := t.Context()
		had := map[ambit.Version]string{}
		is := func(what string, v ambit.Version) {
			t.Helper()
			if before, ok := had[v]; ok || !v.Valid() {
				t.Errorf("%s: the version %q again, after %s", what, v, before)
			}
			had[v] = what
			info, err := fsys.Stat(ctx, "/f")
			if err != nil || info.Version != v {
				t.Errorf("%s: Stat tells %q, %v, want %q", what, info.Version, err, v)
			}
		}
		for i := range 3 {
			r, err := fsys.Write(ctx, "/f", strings.NewReader("same"), nil)
			if err != nil {
				t.Fatal(err)
			}
			is(fmt.Sprint("write ", i), r.Info.Version)
			if _, err := ambit.Rename(ctx, fsys, "/f", "/g", nil); err != nil {
				t.Fatal(err)
			}
			info, err := ambit.Rename(ctx, fsys, "/g", "/f", nil)
			if err != nil {
				t.Fatal(err)
			}
			is(fmt.Sprint("rename ", i), info.Version)
			if err := fsys.Remove(ctx, "/f", nil); err != nil {
				t.Fatal(err)
			}
		}
		// Nor with a folder that it lies in.
		fill(t, fsys, map[string]string{"/d/f": "same"})
		for range 3 {
			info, err := fsys.Stat(ctx, "/d/f")
			if err != nil || had[info.Version] != "" {
				t.Errorf("%+v, %v: the version comes back with the folder", info, err)
			}
			had[info.Version] = "a move of the folder"
			for _, names := range [][2]string{{"/d", "/e"}, {"/e", "/d"}} {
				if _, err := ambit.Rename(ctx, fsys, names[0], names[1], nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A content that fails, or a context that ends while it is read, leaves
// everything as it was.
func TestContentFails(t *testing.T) {
	boom := errors.New("boom")
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		fill(t, fsys, map[string]string{"/d/f": "F"})
		for name, c := range map[string]struct {
			content func(cancel func()) io.Reader
			want    string
		}{
			"an error": {func(func()) io.Reader { return io.MultiReader(strings.NewReader("half"), iotest.ErrReader(boom)) }, "io"},
			"a late error": {func(func()) io.Reader {
				return io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), iotest.ErrReader(boom))
			}, "io"},
			"a reason": {func(func()) io.Reader { return iotest.ErrReader(&ambit.Error{Reason: ambit.ErrNotText}) }, "not-text"},
			"the context": {func(cancel func()) io.Reader {
				return io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), readerFunc(func(p []byte) (int, error) {
					cancel()
					return copy(p, "y"), nil
				}))
			}, "canceled"},
			"nothing for ever":        {func(func()) io.Reader { return readerFunc(func([]byte) (int, error) { return 0, nil }) }, "io"},
			"too much for the buffer": {func(func()) io.Reader { return readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }) }, "invalid"},
		} {
			for what, do := range map[string]func(ctx context.Context, content io.Reader) error{
				"write": func(ctx context.Context, content io.Reader) error {
					_, err := fsys.Write(ctx, "/d/f", content, nil)
					return err
				},
				"create": func(ctx context.Context, content io.Reader) error {
					_, err := fsys.Write(ctx, "/n/m/f", content, &ambit.WriteOptions{Parents: true})
					return err
				},
				"append": func(ctx context.Context, content io.Reader) error {
					_, err := ambit.Append(ctx, fsys, "/d/f", content, nil)
					return err
				},
				"stage": func(ctx context.Context, content io.Reader) error {
					_, err := ambit.Stage(ctx, fsys, "/d/f", content, nil)
					return err
				},
				"commit": func(ctx context.Context, content io.Reader) error {
					_, err := ambit.Commit(ctx, fsys, []ambit.Change{
						{Op: ambit.OpWrite, Path: "/d/g", Content: strings.NewReader("G")},
						{Op: ambit.OpWrite, Path: "/d/f", Content: content},
					})
					return err
				},
			} {
				ctx, cancel := context.WithCancel(t.Context())
				err := do(ctx, c.content(cancel))
				cancel()
				if told(err) != c.want {
					t.Errorf("%s with %s: %v", what, name, err)
				}
				if got := contents(t, fsys); got != "/d/ /d/f=F" {
					t.Fatalf("%s with %s left %s", what, name, got)
				}
			}
		}
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A content that is a file of the same file system, or uses it, does not
// wait for itself.
func TestContentUsesTheFileSystem(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		fill(t, fsys, map[string]string{"/f": "F"})
		ctx := t.Context()
		f, err := fsys.Open(ctx, "/f")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := fsys.Write(ctx, "/f", io.MultiReader(f, strings.NewReader("+")), nil); err != nil {
			t.Error(err)
		}
		first := true
		busy := readerFunc(func(p []byte) (int, error) {
			if !first {
				return 0, io.EOF
			}
			first = false
			if _, err := fsys.Write(ctx, "/g", strings.NewReader("G"), nil); err != nil {
				return 0, err
			}
			return copy(p, "B"), nil
		})
		if _, err := fsys.Write(ctx, "/b", busy, nil); err != nil {
			t.Error(err)
		}
		if got := contents(t, fsys); got != "/b=B /f=F+ /g=G" {
			t.Errorf("it holds %s", got)
		}
	})
}

// The limit holds for what is written, and for what a file grows to.
func TestMaxFileSize(t *testing.T) {
	const limit = 10
	for _, exclusive := range []bool{false, true} {
		fsys := aferofs.New(afero.NewMemMapFs(), &aferofs.Options{Exclusive: exclusive, MaxFileSize: limit})
		ctx := t.Context()
		for _, n := range []int{limit - 1, limit, limit + 1} {
			_, err := fsys.Write(ctx, "/f", strings.NewReader(strings.Repeat("x", n)), nil)
			if n <= limit && err != nil || n > limit && told(err) != "too-large" {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		_, err := fsys.Append(ctx, "/f", strings.NewReader("y"), nil)
		var e *ambit.Error
		if !errors.As(err, &e) || e.Reason != ambit.ErrTooLarge || e.Limit != limit || e.Size != limit+1 {
			t.Errorf("appending over the limit: %#v", err)
		}
		if data, _, err := ambit.ReadFile(ctx, fsys, "/f"); string(data) != strings.Repeat("x", limit) || err != nil {
			t.Errorf("it holds %q, %v", data, err)
		}
	}
}

// Content of several MiB goes through the storage, not through one buffer, and
// comes out as it went in.
func TestLargeContent(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		ctx := t.Context()
		part := strings.Repeat("0123456789abcdef", 200_000)
		if _, err := fsys.Write(ctx, "/f", strings.NewReader(part), nil); err != nil {
			t.Fatal(err)
		}
		if r, err := ambit.Append(ctx, fsys, "/f", strings.NewReader(part), nil); err != nil || r.Info.Size != int64(2*len(part)) {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := ambit.Append(ctx, fsys, "/n/f", strings.NewReader(part), &ambit.AppendOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{"/f": part + part, "/n/f": part} {
			if data, _, err := ambit.ReadFile(ctx, fsys, path); string(data) != want || err != nil {
				t.Errorf("%s: %d bytes, %v", path, len(data), err)
			}
		}
	})
}

// Staged content is shown by nothing, and outlives its folder.
func TestStagedIsHidden(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		ctx := t.Context()
		fill(t, fsys, map[string]string{"/d/e/f": "F"})
		before := contents(t, fsys)
		s, err := ambit.Stage(ctx, fsys, "/d/e/g", strings.NewReader("staged"), &ambit.WriteOptions{Parents: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, fsys); got != before {
			t.Errorf("staged, it shows %s", got)
		}
		if err := fsys.Remove(ctx, "/d", recursive); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, fsys); got != "" {
			t.Errorf("removed, it shows %s", got)
		}
		r, err := s.Publish(ctx)
		if err != nil || fmt.Sprint(r.CreatedDirs) != "[/d /d/e]" {
			t.Errorf("%+v, %v", r, err)
		}
		if got := contents(t, fsys); got != "/d/ /d/e/ /d/e/g=staged" {
			t.Errorf("published, it shows %s", got)
		}
		s, err = ambit.Stage(ctx, fsys, "/d/e/h", strings.NewReader("staged"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ambit.Rename(ctx, fsys, "/d", "/moved", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Publish(ctx); told(err) != "not-found" {
			t.Errorf("publishing into a folder that was moved: %v", err)
		}
		if got := contents(t, fsys); got != "/moved/ /moved/e/ /moved/e/g=staged" {
			t.Errorf("moved, it shows %s", got)
		}
	})
}

// Names of the library's own form are refused by every method and shown by
// none.
func TestReservedNames(t *testing.T) {
	tree := afero.NewMemMapFs()
	name := "/d/.ambit-tmp-" + strings.Repeat("a", 26)
	for path, content := range map[string]string{name: "left behind", "/d/.ambit-tmp-short": "no", "/d/f": "F"} {
		if err := afero.WriteFile(tree, path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys := aferofs.New(tree, nil)
	ctx := t.Context()
	if got := contents(t, fsys); got != "/d/ /d/.ambit-tmp-short=no /d/f=F" {
		t.Errorf("shown %s", got)
	}
	for _, path := range []string{name, name + "/x", "/d/.ambit-tmp-" + strings.Repeat("b", 26)} {
		_, opened := fsys.Open(ctx, path)
		_, written := fsys.Write(ctx, path, strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
		_, moved := fsys.Rename(ctx, "/d/f", path, &ambit.RenameOptions{Parents: true})
		for what, err := range map[string]error{
			"open": opened, "write": written, "rename": moved, "remove": fsys.Remove(ctx, path, nil),
		} {
			if e, ok := err.(*ambit.Error); !ok || e.Reason != ambit.ErrDenied || e.Rule != "reserved" {
				t.Errorf("%s %s: %v", what, path, err)
			}
		}
	}
	l, err := fsys.List(ctx, "/d", &ambit.ListOptions{Limit: 1})
	if err != nil || l.Next != ".ambit-tmp-short" || len(l.Entries) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	// A folder that holds nothing else is an empty one.
	if err := tree.Rename("/d/f", "/f"); err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove("/d/.ambit-tmp-short"); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove(ctx, "/d", nil); told(err) != "not-a-file" {
		t.Errorf("plain removal: %v", err)
	}
	if err := fsys.Remove(ctx, "/d", recursive); err != nil {
		t.Errorf("removal: %v", err)
	}
	if names := bareNames(t, tree); names != "/ /f" {
		t.Errorf("left behind %s", names)
	}
}

// A folder of the disk is used by its own process's umask, and by the bits of
// what is replaced.
func TestModesOnDisk(t *testing.T) {
	root := t.TempDir()
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	ctx := t.Context()
	control, err := os.OpenFile(root+"/control", os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	fill(t, fsys, map[string]string{"/f": "F"})
	want, _ := control.Stat()
	if got, err := os.Stat(root + "/f"); err != nil || got.Mode() != want.Mode() {
		t.Errorf("a new file has the mode %v, want %v", got.Mode(), want.Mode())
	}
	if !fsys.Capabilities().KeepsMode {
		return
	}
	if err := os.Chmod(root+"/f", 0o751); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Write(ctx, "/f", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(root + "/f"); err != nil || got.Mode() != 0o751 {
		t.Errorf("a replaced file has the mode %v", got.Mode())
	}
}

// In a tree that nobody else was said to change, what is changed all the same
// is seen when it is done by Disturb, and an open File keeps its bytes from
// what the guard does next.
func TestDisturb(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		path   string
		change func(tree afero.Fs) error
		want   string // the tree behind it
	}{
		"rewritten":           {"/d/f", func(tree afero.Fs) error { return afero.WriteFile(tree, "/d/f", []byte("theirs"), 0o644) }, "/d/ /d/f=theirs /e=E"},
		"removed":             {"/d/f", func(tree afero.Fs) error { return tree.Remove("/d/f") }, "/d/ /e=E"},
		"removed with folder": {"/d", func(tree afero.Fs) error { return tree.RemoveAll("/d") }, "/e=E"},
		"moved":               {"/", func(tree afero.Fs) error { return tree.Rename("/e", "/d/f") }, "/d/ /d/f=E"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, tree := memoryTree(t, map[string]string{"/d/f": "ours", "/e": "E"})
			f, err := fsys.Open(ctx, "/d/f")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			fsys.Disturb(c.path, func() { err = c.change(tree) })
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Verify(ctx); told(err) != "changed" {
				t.Errorf("Verify: %v", err)
			}
			_, err = fsys.Write(ctx, "/d/f", strings.NewReader("x"), &ambit.WriteOptions{If: ambit.IfVersion(f.Info().Version)})
			if told(err) != "changed" {
				t.Errorf("a write on the old version: %v", err)
			}
			if got := contents(t, fsys); got != c.want {
				t.Errorf("it holds %s", got)
			}
		})
	}
	fsys, tree := memoryTree(t, map[string]string{"/f": "ours"})
	f, err := fsys.Open(ctx, "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fsys.Disturb("/f", func() { err = tree.Chtimes("/f", time.Now(), time.Unix(1, 0)) })
	if err != nil {
		t.Fatal(err)
	}
	if got := write("/f", "later")(t, fsys); got != "ok" {
		t.Error(got)
	}
	if data, err := io.ReadAll(f); string(data) != "ours" || err != nil {
		t.Errorf("the open file reads %q, %v", data, err)
	}
	fsys.Disturb("..", func() {})
}
