// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// deniable is a tree with things to deny and ways to them.
const deniable = `
	source = S
	top = T
	secret/
	secret/key = KEY
	secret/deep/
	secret/deep/leaf = LEAF
	secret/home -> ..
	box/
	box/.env = ENV
	box/other = O
	secrets-public/
	secrets-public/ok = P
	lsecret -> secret
	lkey -> secret/key
	labs -> $ROOT/secret/key
	lup -> ../$BASE/secret/key
	lchain -> lkey
	lnone -> secret/nothing
	lfuture -> future
	lbox -> box
	lenv -> lbox/.env
`

var denied = []string{"/secret", "box/.env", "/future", "/no/where/yet"}

// deniedPaths are denied by text or through an earlier link.
var deniedPaths = []string{
	"secret", "secret/", "secret/.", "secret/key", "secret/key/", "secret/key/x", "secret/nothing", "secret/nothing/x", "secret/deep", "secret/deep/leaf", "secret/home",
	"/secret/deep/../key", "./secret//deep/leaf", "top/../secret/key", "secret/home/top",
	"box/.env", "box/.env/", "box/.env/x", "future", "future/", "future/x", "future/x/y", "no/where/yet", "no/where/yet/x",
	"lsecret/key", "lsecret/nothing", "lsecret/deep", "lsecret/deep/leaf", "lsecret/nothing/x", "lbox/.env", "lbox/.env/x", "lkey/x", "lfuture/x",
}

// deniedLinks lead to something denied.
var deniedLinks = []string{"lsecret", "lkey", "labs", "lup", "lchain", "lnone", "lfuture", "lenv"}

func TestDeny(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		world := func() (*world, []string) {
			w := newWorldIn(t, fastDir(t), deniable)
			w.fsys = serve(t, w.root, with(&local.Options{Deny: denied}))
			return w, w.snapshot(t)
		}
		w, before := world()
		for _, a := range append(acts("source"), searches()...) {
			paths := slices.Clone(deniedPaths)
			if a.follows {
				paths = append(paths, deniedLinks...)
			}
			// A link to a folder, and a slash behind, are the folder itself.
			switch a.op {
			case ambit.OpLstat, ambit.OpReadLink:
				paths = append(paths, "lsecret/")
			}
			for _, path := range paths {
				err := a.do(w.fsys, path)
				if sketch(err) != "denied deny" || !errors.Is(err, ambit.ErrDenied) || !errors.Is(err, os.ErrPermission) {
					t.Errorf("%s %q: %v, want denied by the rule deny", a.name, path, err)
				}
				w.clean(t, err, a.op, path)
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("%s %q changed %q", a.name, path, diff)
					w, before = world()
				}
			}
		}
	})
}

// The control: without the option every one of these calls gets through, or is
// refused by what is there.
func TestDenyControl(t *testing.T) {
	for _, path := range []string{"secret/key", "lsecret/key", "lkey", "labs", "lup", "lchain", "secret/deep/leaf", "box/.env", "lenv"} {
		w := newWorldIn(t, fastDir(t), deniable)
		if text, _ := read(t, w.fsys, path); text != "KEY" && text != "LEAF" && text != "ENV" {
			t.Errorf("%q holds %q", path, text)
		}
		for _, a := range append(acts("source"), searches()...) {
			if err := a.do(newWorldIn(t, fastDir(t), deniable).fsys, path); ambit.ReasonOf(err) == ambit.ErrDenied {
				t.Errorf("%s %q: %v", a.name, path, err)
			}
		}
	}
}

// What is refused is told in the same words and facts whether or not it is
// there, and whatever it is.
func TestDenyTellsNothing(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable)
		for _, target := range []string{"key", "yek", "deep"} {
			w.add(t, "to-"+target+" -> secret/"+target)
		}
		fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
		facts := func(err error, path string) string {
			var e *ambit.Error
			if !errors.As(err, &e) {
				return fmt.Sprint(err)
			}
			text := fmt.Sprintf("%v | %q %v %q %q %q %q %v %v", err, e.Reason, e.Kind, e.Target, e.MissingDirs, e.Rule, e.Detail, e.Size, e.Err)
			name := filepath.Base(path)
			return strings.ReplaceAll(text, name, "NAME")
		}
		for _, a := range append(acts("source"), searches()...) {
			for _, alike := range [][]string{
				{"secret/key", "secret/yek", "secret/deep", "secret/home"},
				{"secret/key/", "secret/yek/", "secret/deep/", "secret/home/"},
				{"secret/key/x", "secret/yek/x", "secret/deep/x", "secret/deep/leaf", "secret/home/top"},
				{"secret", "future"},
				{"secret/", "future/"},
				{"lsecret/key", "lsecret/yek", "lsecret/deep"},
			} {
				first := ""
				for _, path := range alike {
					err := a.do(fsys, path)
					if ambit.ReasonOf(err) != ambit.ErrDenied {
						t.Fatalf("%s %q: %v", a.name, path, err)
					}
					told := facts(err, path)
					if strings.HasSuffix(path, "x") || strings.HasSuffix(path, "leaf") || strings.HasSuffix(path, "top") {
						// These differ in two names.
						told = sketch(err)
					}
					if first == "" {
						first = told
					}
					if told != first {
						t.Errorf("%s %q tells %s, of %q it tells %s", a.name, path, told, alike[0], first)
					}
				}
			}
			if !a.follows {
				continue
			}
			want := ""
			for _, target := range []string{"key", "yek", "deep"} {
				link := "to-" + target
				told := strings.ReplaceAll(facts(a.do(fsys, link), link), "secret/"+target, "secret/TARGET")
				if want == "" {
					want = told
				}
				if told != want {
					t.Errorf("%s %q tells %s, of another link %s", a.name, link, told, want)
				}
			}
		}
	})
}

// A denied name appears in no listing, page or cursor, and what is above it is
// listed all the same.
func TestDenyInListings(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable)
		fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
		want := []string{"box", "labs", "lbox", "lchain", "lenv", "lfuture", "lkey", "lnone", "lsecret", "lup", "secrets-public", "source", "top"}
		if got := names(t, fsys, "/"); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		if got := names(t, fsys, "lbox"); !slices.Equal(got, []string{"other"}) {
			t.Errorf("listed %q", got)
		}
		for limit := 1; limit <= len(want)+1; limit++ {
			var got []string
			for o := (&ambit.ListOptions{Limit: limit, Details: limit%2 == 0}); ; {
				l, err := fsys.List(ctx, "/", o)
				must(t, err)
				for _, e := range l.Entries {
					got = append(got, e.Name)
				}
				if l.Next == "" {
					break
				}
				if !slices.Contains(want, l.Next) || l.Next <= o.After {
					t.Fatalf("the cursor behind %q is %q", o.After, l.Next)
				}
				o.After = l.Next
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: %q", limit, got)
			}
		}
		if l, err := fsys.List(ctx, "/", &ambit.ListOptions{After: "secret", Limit: 1}); err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "secrets-public" {
			t.Errorf("behind a denied name: %+v, %v", l, err)
		}
		for e, err := range ambit.Walk(ctx, fsys, "/") {
			if err != nil || strings.Contains(e.Info.Path+"/", "/secret/") || strings.HasPrefix(e.Info.Path, "/box/.env") {
				t.Errorf("the walk met %q, %v", e.Info.Path, err)
			}
		}
		// The folder with a denied file is full, though it looks empty.
		must(t, os.Remove(w.host("box/other")))
		if err := fsys.Remove(ctx, "box", nil); sketch(err) != "denied deny" {
			t.Errorf("plain removal of a folder with a denied file: %v", err)
		}
	})
}

// What has something denied beneath it is not taken away, replaced or moved,
// and nothing of it is.
func TestDenyAbove(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable+`
			outer/
			outer/inner/
			outer/inner/hidden/
			outer/inner/hidden/h = H
			outer/free = F
		`)
		fsys := serve(t, w.root, with(&local.Options{Deny: append([]string{"/outer/inner/hidden"}, denied...)}))
		before := w.snapshot(t)
		for _, path := range []string{"box", "box/", "outer", "outer/", "outer/inner", "lbox/../outer", "./outer//inner"} {
			for what, do := range map[string]func() error{
				"remove":     func() error { return fsys.Remove(ctx, path, nil) },
				"remove all": func() error { return fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}) },
				"remove if":  func() error { return fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true, MissingOK: true}) },
				"rename":     func() error { return second(fsys.Rename(ctx, path, "moved", nil)) },
				"rename replace": func() error {
					return second(fsys.Rename(ctx, path, "a/b", &ambit.RenameOptions{Replace: true, Parents: true}))
				},
			} {
				err := do()
				if sketch(err) != "denied deny" {
					t.Errorf("%s %q: %v", what, path, err)
				}
				w.clean(t, err, strings.Fields(what)[0], path)
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Fatalf("%s %q changed %q", what, path, diff)
				}
			}
		}
		for what, err := range map[string]error{
			"rename a folder over it": second(fsys.Rename(ctx, "secrets-public", "box", &ambit.RenameOptions{Replace: true})),
			"write over it":           second(fsys.Write(ctx, "outer", readerOf("N"), nil)),
			"commit over it":          second(ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: "outer", Content: readerOf("N")}})),
			"commit its removal":      second(ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpRemove, Path: "outer"}})),
		} {
			if err == nil {
				t.Errorf("%s succeeded", what)
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Fatalf("changed %q", diff)
		}
		// Links to them, and what lies beside, are free.
		must(t, second(fsys.Rename(ctx, "lbox", "lmoved", nil)))
		for _, link := range deniedLinks {
			if info, err := fsys.Lstat(ctx, link); err != nil || info.Kind != ambit.KindSymlink {
				t.Errorf("Lstat of the link %q: %+v, %v", link, info, err)
			}
			if err := fsys.Remove(ctx, link, &ambit.RemoveOptions{Recursive: true}); err != nil {
				t.Errorf("removal of the link %q: %v", link, err)
			}
		}
		must(t, fsys.Remove(ctx, "outer/free", nil))
		must(t, second(fsys.Rename(ctx, "box/other", "outer/inner/other", nil)))
		write(t, fsys, "box/.envrc", "N", nil)
		write(t, fsys, "secrets-public/ok", "N", nil)
		write(t, fsys, "no/where/else", "N", &ambit.WriteOptions{Parents: true})
		if text := bytesOf(t, w.host("outer/inner/hidden/h")) + bytesOf(t, w.host("secret/key")) + bytesOf(t, w.host("box/.env")); text != "HKEYENV" {
			t.Errorf("the denied files hold %q", text)
		}
	})
}

// What does not exist yet is denied as soon as somebody makes it, and nobody
// makes it through the file system: not by a parent, a move or a Commit.
func TestDenyBeforeItExists(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable)
		fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
		before := w.snapshot(t)
		for what, err := range map[string]error{
			"a parent":         second(fsys.Write(ctx, "future/a/b", readerOf("N"), &ambit.WriteOptions{Parents: true})),
			"far parents":      second(fsys.Mkdir(ctx, "no/where/yet/a", &ambit.MkdirOptions{Parents: true})),
			"a move":           second(fsys.Rename(ctx, "top", "future", nil)),
			"a move far down":  second(fsys.Rename(ctx, "top", "no/where/yet/top", &ambit.RenameOptions{Parents: true})),
			"a folder's move":  second(fsys.Rename(ctx, "secrets-public", "no/where/yet", &ambit.RenameOptions{Parents: true})),
			"a dangling link":  second(fsys.Write(ctx, "lfuture", readerOf("N"), nil)),
			"a link as parent": second(fsys.Write(ctx, "lfuture/x", readerOf("N"), &ambit.WriteOptions{Parents: true})),
		} {
			if ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("by %s: %v", what, err)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("by %s: changed %q", what, diff)
			}
		}
		// A stranger makes them.
		w.add(t, "future = FUTURE")
		w.add(t, "no/where/yet/")
		w.add(t, "no/where/yet/y = YET")
		before = w.snapshot(t)
		for _, a := range append(acts("source"), searches()...) {
			for _, path := range []string{"future", "no/where/yet", "no/where/yet/y", "no/where/yet/n"} {
				if err := a.do(fsys, path); sketch(err) != "denied deny" {
					t.Errorf("%s %q, which was made since: %v", a.name, path, err)
				}
			}
		}
		for _, path := range []string{"no", "no/where"} {
			if err := fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}); sketch(err) != "denied deny" {
				t.Errorf("removal of %q: %v", path, err)
			}
			if err := second(fsys.Rename(ctx, path, "elsewhere", nil)); sketch(err) != "denied deny" {
				t.Errorf("move of %q: %v", path, err)
			}
		}
		if got := names(t, fsys, "no/where"); len(got) != 0 {
			t.Errorf("listed %q", got)
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("changed %q", diff)
		}
	})
}

// refusedAt fails where an act at one of the paths is not denied, or changes
// anything.
func refusedAt(t *testing.T, w *world, fsys ambit.FileSystem, paths ...string) {
	t.Helper()
	before := w.snapshot(t)
	for _, a := range append(acts("source"), searches()...) {
		for _, path := range paths {
			err := a.do(fsys, path)
			if ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("%s %q: %v, want denied", a.name, path, err)
			}
			w.clean(t, err, a.op, path)
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("%s %q changed %q", a.name, path, diff)
			}
		}
	}
}

// A denied file is denied under each of its names, and a denied folder
// wherever a stranger has moved it.
func TestDenyByIdentity(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		t.Run("hard link to a denied file", func(t *testing.T) {
			w := newWorldIn(t, fastDir(t), deniable+"deep/\ndeep/er/\n")
			must(t, os.Link(w.host("box/.env"), w.host("alias")))
			must(t, os.Link(w.host("box/.env"), w.host("deep/er/alias")))
			w.add(t, "lalias -> deep/er/alias")
			o := &local.Options{Deny: denied, HardLinks: local.HardLinksBroken}
			fsys := serve(t, w.root, with(o))
			if text, _ := read(t, w.fsys, "alias"); text != "ENV" {
				t.Fatalf("without the option the alias has %q", text)
			}
			refusedAt(t, w, fsys, "alias", "deep/er/alias", "box/.env")
			if err := second(fsys.Open(ctx, "lalias")); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("through a link: %v", err)
			}
			// One that is made while the file system is in use.
			must(t, os.Link(w.host("box/.env"), w.host("late")))
			refusedAt(t, w, fsys, "late")
			for _, details := range []bool{false, true} {
				for _, dir := range []string{"/", "deep/er"} {
					l, err := fsys.List(ctx, dir, &ambit.ListOptions{Details: details})
					must(t, err)
					for _, e := range l.Entries {
						if e.Name == "alias" || e.Name == "late" {
							t.Errorf("with Details %v the denied file is listed as %+v", details, e)
						}
					}
				}
			}
			for _, dir := range []string{"deep", "deep/er"} {
				if err := fsys.Remove(ctx, dir, &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrDenied {
					t.Errorf("removal of %q, which holds the alias: %v", dir, err)
				}
				if err := second(fsys.Rename(ctx, dir, "moved", nil)); ambit.ReasonOf(err) != ambit.ErrDenied {
					t.Errorf("move of %q, which holds the alias: %v", dir, err)
				}
			}
		})
		t.Run("moved folder", func(t *testing.T) {
			for _, to := range []string{"elsewhere", "box/deep", "secrets-public/secret", ".hidden"} {
				w := newWorldIn(t, fastDir(t), deniable)
				fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
				refusedAt(t, w, fsys, "secret/key")
				must(t, os.Rename(w.host("secret"), w.host(to)))
				w.add(t, "lmoved -> "+to)
				w.add(t, "lleaf -> "+to+"/deep/leaf")
				if text, _ := read(t, w.fsys, to+"/key"); text != "KEY" {
					t.Fatalf("without the option it has %q", text)
				}
				refusedAt(t, w, fsys, to, to+"/", to+"/key", to+"/deep/leaf", to+"/none", to+"/none/x", "secret", "secret/key", "lmoved/key", "lmoved/deep/leaf", "lmoved/none")
				for _, link := range []string{"lmoved", "lleaf"} {
					if err := second(fsys.Stat(ctx, link)); ambit.ReasonOf(err) != ambit.ErrDenied {
						t.Errorf("Stat through %q: %v", link, err)
					}
				}
				dir, name := filepath.Split("/" + to)
				for _, details := range []bool{false, true} {
					l, err := fsys.List(ctx, dir, &ambit.ListOptions{Details: details})
					must(t, err)
					for _, e := range l.Entries {
						if e.Name == name {
							t.Errorf("with Details %v the moved folder is listed as %+v", details, e)
						}
					}
				}
				if dir != "/" {
					if err := fsys.Remove(ctx, dir, &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrDenied {
						t.Errorf("removal of %q, which it was moved into: %v", dir, err)
					}
					if err := second(fsys.Rename(ctx, dir, "taken", nil)); ambit.ReasonOf(err) != ambit.ErrDenied {
						t.Errorf("move of %q, which it was moved into: %v", dir, err)
					}
				}
				// What is put in its place is denied by name.
				w.add(t, "secret/")
				w.add(t, "secret/key = DECOY")
				refusedAt(t, w, fsys, "secret/key", to+"/key")
			}
		})
		t.Run("moved with what it lies in", func(t *testing.T) {
			w := newWorldIn(t, fastDir(t), deniable)
			fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
			must(t, os.Rename(w.host("box"), w.host("crate")))
			refusedAt(t, w, fsys, "crate/.env", "box/.env")
			if text, _ := read(t, fsys, "crate/other"); text != "O" {
				t.Errorf("what lies beside it has %q", text)
			}
			if got := names(t, fsys, "crate"); !slices.Equal(got, []string{"other"}) {
				t.Errorf("listed %q", got)
			}
			if err := fsys.Remove(ctx, "crate", &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("removal: %v", err)
			}
		})
		t.Run("moved beneath a moved folder", func(t *testing.T) {
			w := newWorldIn(t, fastDir(t), deniable)
			fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
			must(t, os.Rename(w.host("box"), w.host("secret/deep/box")))
			must(t, os.Rename(w.host("secret"), w.host("elsewhere")))
			refusedAt(t, w, fsys, "elsewhere/deep/box/other", "elsewhere/deep/box/.env", "elsewhere/deep")
		})
		t.Run("moved file", func(t *testing.T) {
			w := newWorldIn(t, fastDir(t), deniable)
			fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
			must(t, os.Rename(w.host("box/.env"), w.host("env.txt")))
			refusedAt(t, w, fsys, "env.txt", "box/.env")
			w.add(t, "box/.env = NEW")
			refusedAt(t, w, fsys, "env.txt", "box/.env")
		})
		t.Run("swapped for a link to itself", func(t *testing.T) {
			w := newWorldIn(t, fastDir(t), deniable)
			fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
			must(t, os.Rename(w.host("secret"), w.host("elsewhere")))
			w.add(t, "secret -> elsewhere")
			refusedAt(t, w, fsys, "secret", "secret/key", "elsewhere/key", "lsecret/key", "lsecret/none")
		})
	})
}

// A mount inside the root that the options do not list is refused while
// anything is denied: it could show what is denied once more.
func TestDenyAndMounts(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for name, c := range map[string]struct {
			mount   func(t *testing.T, w *world)
			late    bool   // mounted while the file system is in use
			control string // path and content of what the mount shows
			want    string
			refused []string
		}{
			"the denied folder itself": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("secret"), w.host("at"), "", syscall.MS_BIND) },
				control: "at/key", want: "KEY", refused: []string{"at", "at/key", "at/none", "at/deep/leaf"},
			},
			"the denied folder itself, while in use": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("secret"), w.host("at"), "", syscall.MS_BIND) },
				control: "at/key", want: "KEY", refused: []string{"at", "at/key", "at/none", "at/deep/leaf"}, late: true,
			},
			"a folder beneath it": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("secret/deep"), w.host("at"), "", syscall.MS_BIND) },
				control: "at/leaf", want: "LEAF", refused: []string{"at", "at/leaf", "at/none"}, late: true,
			},
			"a folder above it": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("box"), w.host("at"), "", syscall.MS_BIND) },
				control: "at/.env", want: "ENV", refused: []string{"at", "at/.env", "at/other"},
			},
			"a file beneath it": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("secret/key"), w.host("file"), "", syscall.MS_BIND) },
				control: "file", want: "KEY", refused: []string{"file"},
			},
			"the denied file": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("box/.env"), w.host("file"), "", syscall.MS_BIND) },
				control: "file", want: "ENV", refused: []string{"file"}, late: true,
			},
			"another disk": {
				mount: func(t *testing.T, w *world) {
					mountAt(t, "tmpfs", w.host("at"), "tmpfs", 0)
					w.add(t, "at/x = X")
				},
				control: "at/x", want: "X", refused: []string{"at", "at/x", "at/none"}, late: true,
			},
			"far down": {
				mount:   func(t *testing.T, w *world) { mountAt(t, w.host("secret"), w.host("at/a/b"), "", syscall.MS_BIND) },
				control: "at/a/b/key", want: "KEY", refused: []string{"at/a/b", "at/a/b/key", "at/a/b/none", "lat/b/key"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				base := fastDir(t)
				unmountBeneath(t, base)
				w := newWorldIn(t, base, deniable+"at/\nat/a/\nat/a/b/\nfile = placeholder\nlat -> at/a\n")
				var fsys *local.FileSystem
				open := func() { fsys = serve(t, w.root, with(&local.Options{Deny: denied})) }
				if c.late {
					open()
				}
				c.mount(t, w)
				if !c.late {
					open()
				}
				if text, _ := read(t, w.fsys, c.control); text != c.want {
					t.Fatalf("without the option %s has %q", c.control, text)
				}
				refusedAt(t, w, fsys, c.refused...)
				before := w.snapshot(t)
				top := strings.SplitN(c.refused[0], "/", 2)[0]
				if err := fsys.Remove(ctx, top, &ambit.RemoveOptions{Recursive: true}); err == nil {
					t.Error("it was removed")
				}
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("changed %q", diff)
				}
				// The rest is as ever.
				if text, _ := read(t, fsys, "secrets-public/ok"); text != "P" {
					t.Errorf("read %q", text)
				}
				write(t, fsys, "box/other", "N", nil)
			})
		}
	})
}

// A root that is a mount, or lies in one, and a mount that is listed as a root
// are served.
func TestDenyOnMountedRoots(t *testing.T) {
	base := fastDir(t)
	unmountBeneath(t, base)
	w := newWorldIn(t, base, "")
	mountAt(t, "tmpfs", w.root, "tmpfs", 0)
	for _, line := range []string{"secret/", "secret/key = KEY", "f = F", "mnt/", "d/"} {
		w.add(t, line)
	}
	fsys := serve(t, w.root, &local.Options{Deny: []string{"/secret"}})
	write(t, fsys, "d/new", "N", nil)
	if text, _ := read(t, fsys, "f"); text != "F" {
		t.Errorf("read %q", text)
	}
	if err := second(fsys.Open(ctx, "secret/key")); sketch(err) != "denied deny" {
		t.Errorf("open: %v", err)
	}
	mountAt(t, "tmpfs", w.host("mnt"), "tmpfs", 0)
	w.add(t, "mnt/x = X")
	if err := second(fsys.Open(ctx, "mnt/x")); ambit.ReasonOf(err) != ambit.ErrDenied {
		t.Errorf("a mount that is not listed: %v", err)
	}
	both, err := local.Host([]string{w.root, w.host("mnt")}, &local.Options{Deny: []string{w.host("secret")}})
	must(t, err)
	defer both.Close()
	if text, _ := read(t, both, w.host("mnt/x")); text != "X" {
		t.Errorf("read %q", text)
	}
	write(t, both, w.host("mnt/new"), "N", nil)
	if err := second(both.Open(ctx, w.host("secret/key"))); sketch(err) != "denied deny" {
		t.Errorf("open: %v", err)
	}
}

// The host's own root may have something denied in it.
func TestDenyOnTheRootOfTheHost(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := newWorldIn(t, base, deniable)
	var top, here syscall.Stat_t
	must(t, errors.Join(syscall.Stat("/", &top), syscall.Stat(w.root, &here)))
	if top.Dev != here.Dev {
		t.Skip("the folder for tests is on a mount of its own, which such a root refuses")
	}
	for name, open := range map[string]func(o *local.Options) (*local.FileSystem, error){
		"New":  func(o *local.Options) (*local.FileSystem, error) { return local.New("/", o) },
		"Host": func(o *local.Options) (*local.FileSystem, error) { return local.Host([]string{"/"}, o) },
	} {
		fsys, err := open(&local.Options{Cwd: w.root, Deny: []string{w.host("secret"), w.host("box/.env")}})
		must(t, err)
		for _, path := range []string{"secret/key", "secret/none", "lkey", "labs", "lup", "lbox/.env", w.host("secret/deep/leaf")} {
			if err := second(fsys.Open(ctx, path)); sketch(err) != "denied deny" {
				t.Errorf("%s: open %q: %v", name, path, err)
			}
		}
		if text, _ := read(t, fsys, "secrets-public/ok"); text != "P" {
			t.Errorf("%s: read %q", name, text)
		}
		if err := second(fsys.Stat(ctx, "/proc/self/status")); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("%s: a mount that is not listed: %v", name, err)
		}
		must(t, fsys.Close())
	}
}

// What is denied is denied in a Sub, above, at and beneath its folder.
func TestDenyInASub(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable+"box/lkey -> ../secret/key\nbox/lenv -> .env\n")
		fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
		for _, dir := range []string{"box", "lbox", "box/"} {
			sub, err := ambit.Sub(ctx, fsys, dir)
			must(t, err)
			for path, want := range map[string]ambit.Reason{".env": ambit.ErrDenied, ".env/x": ambit.ErrDenied, "lenv": ambit.ErrDenied, "lkey": ambit.ErrOutside, "other": ""} {
				f, err := sub.Open(ctx, path)
				if ambit.ReasonOf(err) != want {
					t.Errorf("open %q in the Sub of %q: %v", path, dir, err)
				}
				if err == nil {
					f.Close()
				}
				w.clean(t, err, ambit.OpOpen, path)
			}
			if got := names(t, sub, "/"); !slices.Equal(got, []string{"lenv", "lkey", "other"}) {
				t.Errorf("the Sub of %q lists %q", dir, got)
			}
			if err := second(ambit.WriteFile(ctx, sub, ".env", []byte("N"), nil)); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("write in the Sub of %q: %v", dir, err)
			}
			// Moved by a stranger.
			must(t, os.Rename(w.host("secret"), w.host("box/moved")))
			if err := second(sub.Open(ctx, "moved/key")); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("open of what was moved into the Sub of %q: %v", dir, err)
			}
			must(t, os.Rename(w.host("box/moved"), w.host("secret")))
			must(t, sub.(io.Closer).Close())
		}
		whole, err := ambit.Sub(ctx, fsys, "/")
		must(t, err)
		defer whole.(io.Closer).Close()
		if err := second(whole.Open(ctx, "secret/key")); sketch(err) != "denied deny" {
			t.Errorf("in the Sub of the root: %v", err)
		}
		// A folder that is moved into what is denied takes its Sub with it.
		sub, err := ambit.Sub(ctx, fsys, "secrets-public")
		must(t, err)
		defer sub.(io.Closer).Close()
		if text, _ := read(t, sub, "ok"); text != "P" {
			t.Errorf("read %q", text)
		}
	})
}

// Denied names hold in a Host, by the host's own paths.
func TestDenyInAHost(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable)
		must(t, os.Symlink(w.host("secret/key"), filepath.Join(w.outside, "into")))
		fsys, err := local.Host([]string{w.root, w.outside}, with(&local.Options{Deny: []string{w.host("secret"), w.host("box/.env")}}))
		must(t, err)
		defer fsys.Close()
		for _, path := range []string{w.host("secret/key"), w.host("secret/none"), "secret/key", "box/.env", w.host("lkey"), filepath.Join(w.outside, "into")} {
			if err := second(fsys.Open(ctx, path)); sketch(err) != "denied deny" {
				t.Errorf("open %q: %v", path, err)
			}
			if err := second(fsys.Write(ctx, path, readerOf("N"), nil)); sketch(err) != "denied deny" {
				t.Errorf("write %q: %v", path, err)
			}
		}
		// Moved to the other root.
		must(t, os.Rename(w.host("secret"), filepath.Join(w.outside, "taken")))
		for _, path := range []string{"taken", "taken/key", "taken/none"} {
			if err := second(fsys.Stat(ctx, filepath.Join(w.outside, path))); sketch(err) != "denied deny" {
				t.Errorf("stat %q in another root: %v", path, err)
			}
		}
		for _, deny := range []string{filepath.Dir(w.root), "/", filepath.Dir(w.root) + "/nothing", w.root, w.outside, w.root + "/..", w.root + "-not"} {
			bad, err := local.Host([]string{w.root, w.outside}, with(&local.Options{Deny: []string{deny}}))
			if r := ambit.ReasonOf(err); r != ambit.ErrInvalid && r != ambit.ErrOutside {
				t.Errorf("Host that denies %q: %v", deny, err)
			}
			if err == nil {
				bad.Close()
			}
		}
	})
}

// While a stranger moves the denied folder to and fro no content of it is
// read, at whatever name it was found.
func TestDenyWhileItMoves(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), deniable+"lmoved -> elsewhere\n")
		fsys := serve(t, w.root, with(&local.Options{Deny: denied}))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := errors.Join(os.Rename(w.host("secret"), w.host("elsewhere")), os.Rename(w.host("elsewhere"), w.host("secret"))); err != nil {
					t.Error(err)
					return
				}
			}
		})
		paths := []string{"elsewhere/key", "lmoved/key", "secret/key", "elsewhere/deep/leaf"}
		control, leaks := map[string]int{}, map[string]int{}
		refused := 0
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			for _, path := range paths {
				if f, err := w.fsys.Open(ctx, path); err == nil {
					control[path]++
					f.Close()
				}
				f, err := fsys.Open(ctx, path)
				switch ambit.ReasonOf(err) {
				case "":
					leaks["open "+path]++
					f.Close()
				case ambit.ErrDenied:
					refused++
				case ambit.ErrNotFound, ambit.ErrChanged:
				default:
					t.Errorf("open %q: %v", path, err)
				}
				if err := second(fsys.Stat(ctx, path)); err == nil {
					leaks["stat "+path]++
				}
				if err := second(fsys.Lstat(ctx, path)); err == nil {
					leaks["lstat "+path]++
				}
			}
			for _, dir := range []string{"elsewhere", "elsewhere/deep", "lmoved"} {
				if err := second(fsys.List(ctx, dir, nil)); err == nil {
					leaks["list "+dir]++
				}
			}
			if _, err := fsys.Write(ctx, "elsewhere/new", readerOf("N"), nil); err == nil {
				leaks["write elsewhere/new"]++
			}
			if err := fsys.Remove(ctx, "elsewhere/deep/leaf", nil); err == nil {
				leaks["remove elsewhere/deep/leaf"]++
			}
		}
		close(stop)
		wg.Wait()
		if len(leaks) > 0 {
			t.Errorf("what is denied got through, this often: %v", leaks)
		}
		if !t.Failed() && (refused == 0 || control["elsewhere/key"] == 0 || control["secret/key"] == 0 || control["elsewhere/deep/leaf"] == 0) {
			t.Errorf("%d refused, the control has read %v: the test proves nothing", refused, control)
		}
	})
}

// The denied name may itself be a link, or be given through one: what it leads
// to is denied under its own name too.
func TestDenyGivenThroughLinks(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), `
			source = S
			dot/
			dot/zshrc = Z
			zshrc -> dot/zshrc
			real/
			real/sub/
			real/sub/s = SUB
			real/free = F
			way -> real
			abs -> $ROOT/real/sub
		`)
		fsys := serve(t, w.root, with(&local.Options{Deny: []string{"zshrc", "way/sub"}}))
		before := w.snapshot(t)
		for _, a := range append(acts("source"), searches()...) {
			for _, path := range []string{"zshrc", "dot/zshrc", "way/sub", "way/sub/s", "real/sub", "real/sub/s", "real/sub/none", "abs/s"} {
				if err := a.do(fsys, path); sketch(err) != "denied deny" {
					t.Errorf("%s %q: %v", a.name, path, err)
				}
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Fatalf("%s %q changed %q", a.name, path, diff)
				}
			}
		}
		if got := names(t, fsys, "real"); !slices.Equal(got, []string{"free"}) {
			t.Errorf("listed %q", got)
		}
		if got := names(t, fsys, "dot"); len(got) != 0 {
			t.Errorf("listed %q", got)
		}
	})
}
