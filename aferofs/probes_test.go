// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// fill writes a tree through the contract: path to content, a folder's path
// with a slash behind it.
func fill(t testing.TB, fsys ambit.WritableFileSystem, files map[string]string) {
	t.Helper()
	for path, content := range files {
		var err error
		if dir, ok := strings.CutSuffix(path, "/"); ok {
			_, err = ambit.Mkdir(t.Context(), fsys, dir, &ambit.MkdirOptions{Parents: true})
		} else {
			_, err = ambit.WriteFile(t.Context(), fsys, path, []byte(content), &ambit.WriteOptions{Parents: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// contents reads a tree through the contract, as fill takes it, "/" left out.
func contents(t testing.TB, fsys ambit.FileSystem) string {
	t.Helper()
	var lines []string
	for e, err := range ambit.Walk(t.Context(), fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		line := e.Info.Path
		switch e.Info.Kind {
		case ambit.KindDirectory:
			line += "/"
		case ambit.KindRegular:
			data, _, err := ambit.ReadFile(t.Context(), fsys, e.Info.Path)
			if err != nil {
				t.Fatal(err)
			}
			line += "=" + string(data)
		default:
			line += " " + e.Info.Kind.String()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}

// told is an error as the tests compare it: its reason, or "ok".
func told(err error) string {
	if err == nil {
		return "ok"
	}
	return string(ambit.ReasonOf(err))
}

// A probe is a deed that a bare MemMapFs does in its own way. The guard does
// it in one way over everything.
type probe struct {
	name string
	tree map[string]string
	do   func(t *testing.T, fsys ambit.WritableFileSystem) string
	want string // what do tells, and the tree behind it

	modes bool // speaks of permission bits

	// bare does the same on a MemMapFs of that tree without the guard: the
	// control that there is a fault to hide.
	bare  func(fs afero.Fs) string
	fault string
}

func write(path, content string) func(*testing.T, ambit.WritableFileSystem) string {
	return func(t *testing.T, fsys ambit.WritableFileSystem) string {
		_, err := fsys.Write(t.Context(), path, strings.NewReader(content), nil)
		return told(err)
	}
}

func remove(path string, o *ambit.RemoveOptions) func(*testing.T, ambit.WritableFileSystem) string {
	return func(t *testing.T, fsys ambit.WritableFileSystem) string {
		return told(fsys.Remove(t.Context(), path, o))
	}
}

func move(from, to string, o *ambit.RenameOptions) func(*testing.T, ambit.WritableFileSystem) string {
	return func(t *testing.T, fsys ambit.WritableFileSystem) string {
		_, err := ambit.Rename(t.Context(), fsys, from, to, o)
		return told(err)
	}
}

func mkdir(path string) func(*testing.T, ambit.WritableFileSystem) string {
	return func(t *testing.T, fsys ambit.WritableFileSystem) string {
		made, err := ambit.Mkdir(t.Context(), fsys, path, nil)
		return fmt.Sprint(told(err), made)
	}
}

func open(path string) func(*testing.T, ambit.WritableFileSystem) string {
	return func(t *testing.T, fsys ambit.WritableFileSystem) string {
		data, _, err := ambit.ReadFile(t.Context(), fsys, path)
		return fmt.Sprintf("%s %q", told(err), data)
	}
}

func bareWrite(path string) func(afero.Fs) string {
	return func(fs afero.Fs) string { return fmt.Sprint(afero.WriteFile(fs, path, []byte("x"), 0o644)) }
}

func bareOpen(path string) func(afero.Fs) string {
	return func(fs afero.Fs) string {
		_, err := fs.Open(path)
		return fmt.Sprint(err)
	}
}

var recursive = &ambit.RemoveOptions{Recursive: true}

var probes = []probe{
	{
		name: "a file beneath a file", tree: map[string]string{"/t": "T"},
		do: write("/t/x", "x"), want: "not-a-directory: /t=T",
		bare: bareWrite("/t/x"), fault: "<nil>",
	},
	{
		name: "a file deep beneath a file", tree: map[string]string{"/t": "T"},
		do: write("/t/x/y", "x"), want: "not-a-directory: /t=T",
		bare: bareWrite("/t/x/y"), fault: "<nil>",
	},
	{
		name: "reading beneath a file", tree: map[string]string{"/t": "T"},
		do: open("/t/x"), want: `not-a-directory "": /t=T`,
	},
	{
		name: "a file in a missing folder", do: write("/no/where/x", "x"), want: "not-found: ",
		bare: bareWrite("/no/where/x"), fault: "<nil>",
	},
	{
		name: "writing over a folder", tree: map[string]string{"/d/c": "C"},
		do: write("/d", "bar"), want: "not-a-file: /d/ /d/c=C",
		bare: func(fs afero.Fs) string {
			_, err := fs.Create("/d")
			_, inside := fs.Stat("/d/c")
			info, _ := fs.Stat("/d")
			return fmt.Sprint(err, inside, info.IsDir())
		}, fault: "<nil> <nil> false",
	},
	{
		name: "a folder beneath a file", tree: map[string]string{"/t": "T"},
		do: mkdir("/t/x"), want: "not-a-directory[]: /t=T",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Mkdir("/t/x", 0o755)) }, fault: "<nil>",
	},
	{
		name: "a folder in a missing folder", do: mkdir("/no/x"), want: "not-found[]: ",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Mkdir("/no/x", 0o755)) }, fault: "<nil>",
	},
	{
		name: "a folder that is there", tree: map[string]string{"/d/": ""},
		do: mkdir("/d"), want: "exists[]: /d/",
	},
	{
		name: "a folder where a file is", tree: map[string]string{"/t": "T"},
		do: mkdir("/t"), want: "exists[]: /t=T",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.MkdirAll("/t", 0o755)) }, fault: "<nil>",
	},
	{
		name: "a folder with a slash", do: mkdir("/some/"), want: "ok[/some]: /some/",
	},
	{
		name: "removing a full folder", tree: map[string]string{"/dir/file": "F"},
		do: remove("/dir", nil), want: "not-empty: /dir/ /dir/file=F",
		bare: func(fs afero.Fs) string {
			err := fs.Remove("/dir")
			_, orphan := fs.Stat("/dir/file")
			return fmt.Sprint(err, orphan)
		}, fault: "<nil> <nil>",
	},
	{
		name: "removing an empty folder", tree: map[string]string{"/dir/": ""},
		do: remove("/dir", nil), want: "not-a-file: /dir/",
	},
	{
		name: "removing nothing with all beneath it", do: remove("/none", recursive), want: "not-found: ",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.RemoveAll("/none")) }, fault: "<nil>",
	},
	{
		name: "removing a folder beside others like it", tree: map[string]string{"/lib/a": "A", "/libs/b": "B", "/lib.txt": "T"},
		do: remove("/lib", recursive), want: "ok: /lib.txt=T /libs/ /libs/b=B",
	},
	{
		name: "removing the root", tree: map[string]string{"/a": "A"},
		do: remove("/", recursive), want: "invalid: /a=A",
		bare: func(fs afero.Fs) (told string) {
			defer func() { told = fmt.Sprint("panic ", recover() != nil) }()
			fs.Remove("/")
			fs.RemoveAll("/")
			_, err := fs.Stat("/")
			return fmt.Sprint(err)
		}, fault: "panic false",
	},
	{
		name: "moving a folder", tree: map[string]string{"/src/f": "F", "/src/sub/g": "G"},
		do: move("/src", "/dst", nil), want: "ok: /dst/ /dst/f=F /dst/sub/ /dst/sub/g=G",
	},
	{
		name: "moving a folder beside others like it", tree: map[string]string{"/lib/a": "A", "/libs/b": "B", "/lib.txt": "T"},
		do: move("/lib", "/new", nil), want: "ok: /lib.txt=T /libs/ /libs/b=B /new/ /new/a=A",
	},
	{
		name: "moving a folder whose name is in its paths again", tree: map[string]string{"/a/a/a": "A"},
		do: move("/a", "/b", nil), want: "ok: /b/ /b/a/ /b/a/a=A",
	},
	{
		name: "moving a folder into itself", tree: map[string]string{"/d/f": "F"},
		do: move("/d", "/d/e", nil), want: "invalid: /d/ /d/f=F",
	},
	{
		name: "moving a folder deep into itself", tree: map[string]string{"/d/f": "F"},
		do: move("/d", "/d/e/g", &ambit.RenameOptions{Parents: true}), want: "invalid: /d/ /d/f=F",
	},
	{
		name: "moving a folder over a folder", tree: map[string]string{"/a/x": "A", "/b/x": "B", "/b/y": "Y"},
		do: move("/a", "/b", &ambit.RenameOptions{Replace: true}), want: "exists: /a/ /a/x=A /b/ /b/x=B /b/y=Y",
		bare: func(fs afero.Fs) string {
			err := fs.Rename("/a", "/b")
			x, _ := afero.ReadFile(fs, "/b/x")
			return fmt.Sprint(err, string(x))
		}, fault: "<nil>A",
	},
	{
		name: "moving a folder over an empty one", tree: map[string]string{"/a/x": "A", "/b/": ""},
		do: move("/a", "/b", &ambit.RenameOptions{Replace: true}), want: "exists: /a/ /a/x=A /b/",
	},
	{
		name: "moving a folder over a file", tree: map[string]string{"/a/x": "A", "/b": "B"},
		do: move("/a", "/b", &ambit.RenameOptions{Replace: true}), want: "exists: /a/ /a/x=A /b=B",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Rename("/a", "/b")) }, fault: "<nil>",
	},
	{
		name: "moving a file over a folder", tree: map[string]string{"/a": "A", "/b/x": "B"},
		do: move("/a", "/b", &ambit.RenameOptions{Replace: true}), want: "exists: /a=A /b/ /b/x=B",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Rename("/a", "/b")) }, fault: "<nil>",
	},
	{
		name: "moving a file over a file unasked", tree: map[string]string{"/a": "A", "/b": "B"},
		do: move("/a", "/b", nil), want: "exists: /a=A /b=B",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Rename("/a", "/b")) }, fault: "<nil>",
	},
	{
		name: "moving a file over a file", tree: map[string]string{"/a": "A", "/b": "B"},
		do: move("/a", "/b", &ambit.RenameOptions{Replace: true}), want: "ok: /b=A",
	},
	{
		name: "moving a file into a missing folder", tree: map[string]string{"/a": "A"},
		do: move("/a", "/no/a", nil), want: "not-found: /a=A",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Rename("/a", "/no/a")) }, fault: "<nil>",
	},
	{
		name: "moving a file beneath a file", tree: map[string]string{"/a": "A", "/t": "T"},
		do: move("/a", "/t/a", nil), want: "not-a-directory: /a=A /t=T",
		bare: func(fs afero.Fs) string { return fmt.Sprint(fs.Rename("/a", "/t/a")) }, fault: "<nil>",
	},
	{
		name: "moving a file beneath itself", tree: map[string]string{"/a": "A"},
		do: move("/a", "/a/b", &ambit.RenameOptions{Parents: true}), want: "not-a-directory: /a=A",
	},
	{
		name: "moving onto itself", tree: map[string]string{"/d/f": "F"},
		do: move("/d/f", "/d/../d/f", nil), want: "ok: /d/ /d/f=F",
	},
	{
		name: "moving the root", tree: map[string]string{"/a": "A"},
		do: move("/", "/b", nil), want: "invalid: /a=A",
	},
	{
		name: "moving nothing", do: move("/none", "/b", nil), want: "not-found: ",
	},
	{
		name: "reading a folder as a file", tree: map[string]string{"/d/": ""},
		do: open("/d"), want: `not-a-file "": /d/`,
		bare: bareOpen("/d"), fault: "<nil>",
	},
	{
		name: "reading a file with a slash", tree: map[string]string{"/t": "T"},
		do: open("/t/"), want: `not-a-directory "": /t=T`,
		bare: bareOpen("/t/"), fault: "<nil>",
	},
	{
		name: "writing a file with a slash", tree: map[string]string{"/t": "T"},
		do: write("/t/", "x"), want: "not-a-directory: /t=T",
		bare: bareWrite("/t/"), fault: "<nil>",
	},
	{
		name: "writing nothing with a slash", do: write("/t/", "x"), want: "not-a-directory: ",
		bare: bareWrite("/t/"), fault: "<nil>",
	},
	{
		name: "reading the empty path", do: open(""), want: `invalid-path "": `,
		bare: bareOpen(""), fault: "<nil>",
	},
	{
		name: "reading above the root", tree: map[string]string{"/a": "A"},
		do: open("../a"), want: `outside "": /a=A`,
		bare: bareOpen(".."), fault: "<nil>",
	},
	{
		name: "a name with a NUL", do: write("/a\x00b", "x"), want: "invalid-path: ",
		bare: bareWrite("/a\x00b"), fault: "<nil>",
	},
	{
		name: "an open file stays what it was", tree: map[string]string{"/a": "before"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			f, err := fsys.Open(t.Context(), "/a")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			changed := write("/a", "X")(t, fsys)
			data, err := io.ReadAll(f)
			return fmt.Sprintf("%s %q %v %s", changed, data, err, told(f.Verify(t.Context())))
		}, want: `ok "before" <nil> changed: /a=X`,
		bare: func(fs afero.Fs) string {
			f, _ := fs.Open("/a")
			afero.WriteFile(fs, "/a", []byte("X"), 0o644)
			data, err := io.ReadAll(f)
			return fmt.Sprintf("%q %v", data, err)
		}, fault: `"X" <nil>`,
	},
	{
		name: "an open file stays when it shrinks after a read", tree: map[string]string{"/a": "before"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			f, err := fsys.Open(t.Context(), "/a")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			first := make([]byte, 2)
			io.ReadFull(f, first)
			write("/a", "")(t, fsys)
			rest, err := io.ReadAll(f)
			return fmt.Sprintf("%q %q %v", first, rest, err)
		}, want: `"be" "fore" <nil>: /a=`,
		bare: func(fs afero.Fs) string {
			f, _ := fs.Open("/a")
			first := make([]byte, 2)
			io.ReadFull(f, first)
			afero.WriteFile(fs, "/a", nil, 0o644)
			rest, err := io.ReadAll(f)
			return fmt.Sprintf("%q %q %v", first, rest, err)
		}, fault: `"be" "" unexpected EOF`,
	},
	{
		name: "an open file stays when it is removed", tree: map[string]string{"/d/a": "before"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			f, err := fsys.Open(t.Context(), "/d/a")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			removed := remove("/d", recursive)(t, fsys)
			data, err := io.ReadAll(f)
			return fmt.Sprintf("%s %q %v %s", removed, data, err, told(f.Verify(t.Context())))
		}, want: `ok "before" <nil> changed: `,
	},
	{
		name: "an open file does not see what is added", tree: map[string]string{"/a": "one", "/empty": ""},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			var got []string
			for _, path := range []string{"/a", "/empty"} {
				f, err := fsys.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := ambit.Append(t.Context(), fsys, path, strings.NewReader("two"), nil); err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(f)
				got = append(got, fmt.Sprintf("%q %v", data, err))
			}
			return fmt.Sprint(got)
		}, want: `["one" <nil> "" <nil>]: /a=onetwo /empty=two`,
	},
	{
		name: "ReadAt", tree: map[string]string{"/a": "abcdef"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			f, err := fsys.Open(t.Context(), "/a")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			at := f.(io.ReaderAt)
			var got []string
			for _, size := range []int{3, 0} {
				for _, off := range []int64{-1, 0, 4, 6, 7, 1 << 40} {
					b := make([]byte, size)
					n, err := at.ReadAt(b, off)
					if err != nil && err != io.EOF {
						err = errors.New(told(err))
					}
					got = append(got, fmt.Sprintf("%q %v", b[:n], err))
				}
			}
			return strings.Join(got, ", ")
		}, want: `"" invalid, "abc" <nil>, "ef" EOF, "" EOF, "" EOF, "" EOF, ` +
			`"" invalid, "" <nil>, "" <nil>, "" EOF, "" EOF, "" EOF: /a=abcdef`,
		bare: func(fs afero.Fs) (told string) {
			defer func() { told = fmt.Sprint("panic ", recover() != nil) }()
			f, _ := fs.Open("/a")
			f.ReadAt(make([]byte, 3), -1)
			return "no panic"
		}, fault: "panic true",
	},
	{
		name: "a listing is sorted in byte order", tree: map[string]string{"/b": "", "/B": "", "/a/": "", "/_": "", "/é": "", "/b.c/": "", "/b-c": ""},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			l, err := fsys.List(t.Context(), "/", nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range l.Entries {
				names = append(names, e.Name)
			}
			return fmt.Sprint(names)
		}, want: "[B _ a b b-c b.c é]: /B= /_= /a/ /b= /b-c= /b.c/ /é=",
	},
	{
		name: "listing a file", tree: map[string]string{"/t": "T"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			_, err := fsys.List(t.Context(), "/t", nil)
			return told(err)
		}, want: "not-a-directory: /t=T",
	},
	{
		name: "modes", modes: true, tree: map[string]string{"/new": "", "/d/": ""},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			var got []string
			stat := func(path string) {
				info, err := fsys.Stat(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, info.Mode.String())
			}
			stat("/new")
			stat("/d")
			o := &ambit.WriteOptions{Mode: 0o750}
			if _, err := fsys.Write(t.Context(), "/new", strings.NewReader("x"), o); err != nil {
				t.Fatal(err)
			}
			stat("/new")
			write("/new", "y")(t, fsys)
			stat("/new")
			return fmt.Sprint(got)
		}, want: "[-rw-r--r-- -rwxr-xr-x -rwxr-x--- -rwxr-x---]: /d/ /new=y",
		bare: func(fs afero.Fs) string {
			fs.Create("/x")
			fs.MkdirAll("/made/in/between", 0o755)
			file, _ := fs.Stat("/x")
			return fmt.Sprint(file.Mode().Perm())
		}, fault: "----------",
	},
	{
		name: "a file that may not be written", modes: true, tree: map[string]string{"/a": "A"},
		do: func(t *testing.T, fsys ambit.WritableFileSystem) string {
			o := &ambit.WriteOptions{Mode: 0o444}
			if _, err := fsys.Write(t.Context(), "/a", strings.NewReader("locked"), o); err != nil {
				t.Fatal(err)
			}
			_, added := ambit.Append(t.Context(), fsys, "/a", strings.NewReader("x"), nil)
			return write("/a", "x")(t, fsys) + " " + told(added)
		}, want: "permission permission: /a=locked",
		bare: func(fs afero.Fs) string {
			fs.Chmod("/a", 0o444)
			return bareWrite("/a")(fs)
		}, fault: "<nil>",
	},
}

// Nothing of a MemMapFs's own ways shows through the guard, and every file
// system under it behaves the same.
func TestProbes(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		for _, p := range probes {
			if p.modes && !fsys.Capabilities().KeepsMode {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				fsys := b.fresh(t)
				fill(t, fsys, p.tree)
				got := p.do(t, fsys) + ": " + contents(t, fsys)
				if got != p.want {
					t.Errorf("told %s\nwant %s", got, p.want)
				}
			})
		}
	})
}

// The faults are there: without the guard the same deeds end otherwise.
func TestProbeControls(t *testing.T) {
	controls := 0
	for _, p := range probes {
		if p.bare == nil {
			continue
		}
		controls++
		t.Run(p.name, func(t *testing.T) {
			bare := afero.NewMemMapFs()
			fill(t, aferofs.New(bare, nil), p.tree)
			if got := p.bare(bare); got != p.fault {
				t.Errorf("a bare MemMapFs tells %s, want %s", got, p.fault)
			}
		})
	}
	if controls < 25 {
		t.Errorf("only %d controls", controls)
	}
}

// The claims are those that the file system under the guard can keep.
func TestCapabilities(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		c := fsys.Capabilities()
		if c.Links != b.links {
			t.Errorf("links are claimed %v, want %v", c.Links, b.links)
		}
		if c.Swap != ambit.SwapChecked {
			t.Errorf("swap is claimed %v", c.Swap)
		}
		if c.Confined || c.Durable || c.AtomicCommit || c.Identity {
			t.Errorf("claimed too much: %+v", c)
		}
	})
	if c := aferofs.New(afero.NewMemMapFs(), &aferofs.Options{Exclusive: true, ID: "one", MaxFileSize: 9}).Capabilities(); c.Swap != ambit.SwapExact || c.ID != "one" || c.MaxFileSize != 9 || !c.AtomicRemove {
		t.Errorf("claimed over a tree of its own: %+v", c)
	}
}

func readOnlyFileSystems(t *testing.T) map[string]*aferofs.FileSystem {
	tree := afero.NewMemMapFs()
	if err := afero.WriteFile(tree, "/d/f", []byte("F"), 0o644); err != nil {
		t.Fatal(err)
	}
	return map[string]*aferofs.FileSystem{
		"ReadOnlyFs":             aferofs.New(afero.NewReadOnlyFs(tree), nil),
		"BasePathFs(ReadOnlyFs)": aferofs.New(afero.NewBasePathFs(afero.NewReadOnlyFs(tree), "/"), nil),
		"an option":              aferofs.New(tree, &aferofs.Options{ReadOnly: true}),
		"FromIOFS":               aferofs.New(afero.FromIOFS{FS: fstest.MapFS{"d/f": {Data: []byte("F"), Mode: 0o644}}}, nil),
	}
}

// A file system that refuses every change claims none, and says read-only.
func TestReadOnly(t *testing.T) {
	for name, fsys := range readOnlyFileSystems(t) {
		t.Run(name, func(t *testing.T) {
			c := fsys.Capabilities()
			if c != c.ReadOnly() || !c.List || !c.ReadAt {
				t.Errorf("claimed %+v", c)
			}
			for op, do := range map[string]func(*testing.T, ambit.WritableFileSystem) string{
				"write": write("/d/f", "x"), "remove": remove("/d/f", nil),
				"stage": func(t *testing.T, fsys ambit.WritableFileSystem) string {
					_, err := fsys.(ambit.Stager).Stage(t.Context(), "/x", strings.NewReader(""), nil)
					return told(err)
				},
				"append": func(t *testing.T, fsys ambit.WritableFileSystem) string {
					_, err := fsys.(ambit.Appender).Append(t.Context(), "/d/f", strings.NewReader(""), nil)
					return told(err)
				},
				"rename": func(t *testing.T, fsys ambit.WritableFileSystem) string {
					_, err := fsys.(ambit.Renamer).Rename(t.Context(), "/d/f", "/g", nil)
					return told(err)
				},
				"mkdir": func(t *testing.T, fsys ambit.WritableFileSystem) string {
					_, err := fsys.(ambit.DirMaker).Mkdir(t.Context(), "/e", nil)
					return told(err)
				},
				"commit": func(t *testing.T, fsys ambit.WritableFileSystem) string {
					_, err := fsys.(ambit.Committer).Commit(t.Context(), nil)
					return told(err)
				},
			} {
				if got := do(t, fsys); got != "read-only" {
					t.Errorf("%s is %s", op, got)
				}
			}
			if got := contents(t, fsys); got != "/d/ /d/f=F" {
				t.Errorf("it holds %s", got)
			}
		})
	}
}

// Without a file system there is nothing, and no panic.
func TestNil(t *testing.T) {
	for name, none := range map[string]afero.Fs{
		"nothing":      nil,
		"nil MemMapFs": (*afero.MemMapFs)(nil),
		"nil BasePath": (*afero.BasePathFs)(nil),
		"nil layers":   (*afero.CopyOnWriteFs)(nil),
	} {
		fsys := aferofs.New(none, &aferofs.Options{ID: "x", Exclusive: true})
		if c := fsys.Capabilities(); c != (ambit.Capabilities{}) {
			t.Errorf("%s: claimed %+v", name, c)
		}
		_, opened := fsys.Open(t.Context(), "/")
		_, listed := fsys.List(t.Context(), "/", nil)
		_, written := fsys.Write(t.Context(), "/a", strings.NewReader(""), nil)
		_, inside := fsys.Guard(func(context.Context, ambit.Op, string) error { return nil }).Stat(t.Context(), "/")
		if got := []string{told(opened), told(listed), told(written), told(inside)}; slices.ContainsFunc(got, func(s string) bool { return s != "unsupported" }) {
			t.Error(name, got)
		}
	}
}
