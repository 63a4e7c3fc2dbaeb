// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// everyWay runs a case with each way of opening, and the symbols of the tree
// filled in.
func everyWay(t *testing.T, tree string, o *local.Options, test func(t *testing.T, w *world, fsys *local.FileSystem)) {
	t.Helper()
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), tree)
		if o == nil {
			o = &local.Options{}
		}
		own := *o
		w.fsys = serve(t, w.root, with(&own))
		test(t, w, w.fsys)
	})
}

// linesWith reads every file that a walk finds and returns the paths of those
// that hold text: what a search without an engine finds.
func linesWith(t *testing.T, fsys ambit.FileSystem, root, text string) []string {
	t.Helper()
	var found []string
	for e, err := range ambit.Walk(ctx, fsys, root) {
		if err != nil {
			t.Errorf("the walk of %q: %v", root, err)
			continue
		}
		if data, _, err := ambit.ReadFile(ctx, fsys, e.Info.Path); err == nil && bytes.Contains(data, []byte(text)) {
			found = append(found, e.Info.Path)
		}
	}
	return found
}

// WRITE-01: replacing the inode resets the mode.
func TestCaseModesSurvive(t *testing.T) {
	withUmask(t, 0o022)
	for _, p := range publications {
		everyWay(t, "run.sh = R\nconf = C\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
			must(t, os.Chmod(w.host("run.sh"), 0o755))
			must(t, os.Chmod(w.host("conf"), 0o640))
			for path, want := range map[string]os.FileMode{"run.sh": 0o755, "conf": 0o640, "new": 0o644} {
				must(t, second(p.do(fsys, path, "N", &ambit.WriteOptions{})))
				if got := modeOf(t, w.host(path)); got != want {
					t.Errorf("%s: %s has mode %o, want %o", p.name, path, got, want)
				}
			}
			// A move keeps it, by name and as the two changes of a commit.
			must(t, second(fsys.Rename(ctx, "run.sh", "moved.sh", nil)))
			info, err := fsys.Stat(ctx, "moved.sh")
			must(t, err)
			must(t, second(ambit.Commit(ctx, fsys, []ambit.Change{
				{Op: ambit.OpWrite, Path: "bin/again.sh", Content: readerOf("R"), If: ambit.IfAbsent(), Parents: true, Mode: info.Mode},
				{Op: ambit.OpRemove, Path: "moved.sh", If: ambit.IfVersion(info.Version)},
			})))
			if got := modeOf(t, w.host("bin/again.sh")); got != 0o755 {
				t.Errorf("%s: the moved file has mode %o", p.name, got)
			}
		})
	}
}

// WRITE-02: writing through a link replaces the link.
func TestCaseLinkIsKept(t *testing.T) {
	for _, p := range publications {
		everyWay(t, "real.txt = R\nlink.txt -> real.txt\nd/\nd/far -> ../link.txt\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
			for _, path := range []string{"link.txt", "d/far"} {
				r, err := p.do(fsys, path, "S", &ambit.WriteOptions{})
				if err != nil || r.Info.Path != "/real.txt" {
					t.Errorf("%s of %s: %+v, %v", p.name, path, r, err)
				}
				if text := bytesOf(t, w.host("real.txt")); !strings.HasSuffix(text, "S") {
					t.Errorf("%s of %s: the real file has %q", p.name, path, text)
				}
				for link, want := range map[string]string{"link.txt": "real.txt", "d/far": "../link.txt"} {
					if text, err := os.Readlink(w.host(link)); err != nil || text != want {
						t.Errorf("%s of %s: %s is %q, %v", p.name, path, link, text, err)
					}
				}
			}
		})
	}
}

// WRITE-04: an atomic replacement goes around a file that nobody may write.
func TestCaseReadOnlyFile(t *testing.T) {
	everyWay(t, "locked.txt = L\nlink -> locked.txt\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		must(t, os.Chmod(w.host("locked.txt"), 0o444))
		before := w.snapshot(t)
		info, err := fsys.Stat(ctx, "locked.txt")
		must(t, err)
		for _, p := range publications {
			for _, path := range []string{"locked.txt", "link"} {
				for _, o := range []*ambit.WriteOptions{{}, {If: ambit.IfVersion(info.Version)}} {
					if err := second(p.do(fsys, path, "N", o)); ambit.ReasonOf(err) != ambit.ErrPermission {
						t.Errorf("%s of %s: %v", p.name, path, err)
					}
				}
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("changed %q", diff)
		}
	})
}

// WRITE-05: a failed write leaves its temporary file.
func TestCaseNothingIsLeft(t *testing.T) {
	everyWay(t, "d/\nd/x = X\nf = F\nempty/\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		before := w.snapshot(t)
		fail := func(what string, err error) {
			t.Helper()
			if err == nil {
				t.Errorf("%s succeeded", what)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("%s left %q", what, diff)
			}
		}
		for _, p := range publications {
			fail(p.name+" of a folder", second(p.do(fsys, "d", "N", &ambit.WriteOptions{Parents: true})))
			fail(p.name+" beneath a file", second(p.do(fsys, "f/x", "N", &ambit.WriteOptions{Parents: true})))
			fail(p.name+" of what has changed", second(p.do(fsys, "f", "N", &ambit.WriteOptions{If: ambit.IfVersion("another")})))
		}
		for what, changes := range map[string][]ambit.Change{
			"with a folder at the end": {{Op: ambit.OpWrite, Path: "f", Content: readerOf("N")}, {Op: ambit.OpWrite, Path: "n/m", Content: readerOf("N"), Parents: true}, {Op: ambit.OpWrite, Path: "d", Content: readerOf("N")}},
			"with a stale version":     {{Op: ambit.OpWrite, Path: "n/m", Content: readerOf("N"), Parents: true}, {Op: ambit.OpRemove, Path: "f", If: ambit.IfVersion("another")}},
			"with a missing file":      {{Op: ambit.OpRemove, Path: "f"}, {Op: ambit.OpRemove, Path: "none"}},
			"of one file twice":        {{Op: ambit.OpWrite, Path: "f", Content: readerOf("N")}, {Op: ambit.OpRemove, Path: "d/../f"}},
			"with a failing reader": {{Op: ambit.OpWrite, Path: "f", Content: readerOf("N")}, {Op: ambit.OpWrite, Path: "g", Content: io.MultiReader(readerOf("N"), readerFunc(func([]byte) (int, error) {
				return 0, errors.New("the reader's own")
			}))}},
		} {
			fail("a commit "+what, second(ambit.Commit(ctx, fsys, changes)))
		}
		cancelled := func(do func(c context.Context, content io.Reader) error) error {
			c, cancel := context.WithCancel(ctx)
			defer cancel()
			return do(c, io.MultiReader(readerOf("begun"), readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })))
		}
		fail("a cancelled commit", cancelled(func(c context.Context, content io.Reader) error {
			return second(ambit.Commit(c, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: "f", Content: readerOf("N")}, {Op: ambit.OpWrite, Path: "a/b", Content: content, Parents: true}}))
		}))
		fail("a cancelled append", cancelled(func(c context.Context, content io.Reader) error {
			return second(ambit.Append(c, fsys, "f", content, nil))
		}))

		// While publications are under way nobody sees a name of theirs.
		var stopped atomic.Bool
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for !stopped.Load() {
					for e, err := range ambit.Walk(ctx, fsys, "/") {
						if err == nil && strings.HasPrefix(e.Name, ".ambit.") {
							t.Errorf("the walk met %q", e.Info.Path)
							return
						}
					}
				}
			})
		}
		for i := range 40 {
			for _, p := range publications {
				if err := second(p.do(fsys, fmt.Sprintf("d/n%d", i%3), "N", &ambit.WriteOptions{})); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		}
		stopped.Store(true)
		wg.Wait()
		if got := fmt.Sprint(names(t, fsys, "d")); got != "[n0 n1 n2 x]" {
			t.Errorf("listed %s", got)
		}
	})
}

// WRITE-06: a temporary file on another device or in another folder.
func TestCaseTemporaryFolder(t *testing.T) {
	for _, dir := range []string{"/nowhere/at/all", fastDir(t)} {
		t.Setenv("TMPDIR", dir)
		for _, p := range publications {
			everyWay(t, "f = F\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
				must(t, second(p.do(fsys, "f", "N", &ambit.WriteOptions{})))
				must(t, second(p.do(fsys, "a/b", "N", &ambit.WriteOptions{Parents: true})))
				leftovers(t, w.root)
			})
		}
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			t.Errorf("TMPDIR has %v", entries)
		}
	}
}

// WRITE-07: escape sequences in content are interpreted.
func TestCaseBytesAsGiven(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	for i, text := range []string{`print('hello\nworld')`, `\title{x}`, `'\0'`, `'\''`, "a line that ends in \\\nnext", "\x00\r\n\xff"} {
		for _, p := range publications {
			path := fmt.Sprintf("%s %d", p.name, i)
			must(t, second(p.do(w.fsys, path, text, &ambit.WriteOptions{})))
			if got, _ := read(t, w.fsys, path); got != text || bytesOf(t, w.host(path)) != text {
				t.Errorf("%s: wrote %q, read %q", p.name, text, got)
			}
		}
	}
}

// PATH-01: a sibling with the same prefix counts as inside.
func TestCaseSamePrefix(t *testing.T) {
	everyWay(t, `
		secret/
		secret/k = K
		secrets-public/
		secrets-public/ok = OK
		secret.txt = T
		share/
		share-secret/
		share-secret/loot.md = LOOT
		share/l -> ../share-secret/loot.md
	`, &local.Options{Deny: []string{"secret"}, ReadOnly: []string{"share"}}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		if err := second(fsys.Open(ctx, "secret/k")); sketch(err) != "denied deny" {
			t.Errorf("secret/k: %v", err)
		}
		for path, want := range map[string]string{"secrets-public/ok": "OK", "secret.txt": "T"} {
			if text, _ := read(t, fsys, path); text != want {
				t.Errorf("%s: %q", path, text)
			}
			write(t, fsys, path, "N", nil)
		}
		write(t, fsys, "share-secret/loot.md", "LOOT", nil)
		write(t, fsys, "shares", "N", nil)
		if err := second(fsys.Write(ctx, "share/new", readerOf("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("share/new: %v", err)
		}
		// A root of its own, and one of a Host.
		sub, err := ambit.Sub(ctx, fsys, "share")
		must(t, err)
		defer sub.(io.Closer).Close()
		for _, path := range []string{"../share-secret/loot.md", "l"} {
			if err := second(sub.Open(ctx, path)); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("%s in the Sub: %v", path, err)
			}
		}
		host, err := local.Host([]string{w.host("share")}, nil)
		must(t, err)
		defer host.Close()
		for _, path := range []string{"../share-secret/loot.md", w.host("share-secret/loot.md"), "l", w.host("share-secret"), w.host("shar")} {
			if err := second(host.Open(ctx, path)); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("%s in the Host: %v", path, err)
			}
		}
	})
}

// PATH-03: a trailing slash.
func TestCaseTrailingSlash(t *testing.T) {
	everyWay(t, "f = F\nd/\nd/x = X\nlf -> f\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		made, err := fsys.Mkdir(ctx, "some/path/", &ambit.MkdirOptions{Parents: true})
		if err != nil || !slices.Equal(made, []string{"/some", "/some/path"}) {
			t.Errorf("mkdir: %q, %v", made, err)
		}
		if made, err := fsys.Mkdir(ctx, "some/other/", nil); err != nil || !slices.Equal(made, []string{"/some/other"}) {
			t.Errorf("mkdir: %q, %v", made, err)
		}
		before := w.snapshot(t)
		for _, p := range publications {
			for _, path := range []string{"f/", "f/.", "f//", "lf/", "absent/", "no/where/"} {
				for _, o := range []*ambit.WriteOptions{{}, {Parents: true}, {If: ambit.IfAbsent()}} {
					if err := second(p.do(fsys, path, "N", o)); ambit.ReasonOf(err) != ambit.ErrNotADirectory {
						t.Errorf("%s %q: %v", p.name, path, err)
					}
				}
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("changed %q", diff)
		}
		if got := fmt.Sprint(names(t, fsys, "d/")); got != "[x]" {
			t.Errorf("listed %s", got)
		}
	})
}

// PATH-04: names that look the same.
func TestCaseNamesThatLookTheSame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the disks of this system fold some names themselves")
	}
	files := map[string]string{"v\u00a013.png": "N", "v 13.png": "S", "caf\u00e9": "composed", "cafe\u0301": "decomposed"}
	everyWay(t, "", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		for name, text := range files {
			must(t, os.WriteFile(w.host(name), []byte(text), 0o666))
		}
		if got := names(t, fsys, "/"); len(got) != len(files) {
			t.Errorf("listed %q", got)
		}
		for _, p := range publications {
			for name, text := range files {
				if got, _ := read(t, fsys, name); !strings.HasPrefix(got, text) {
					t.Errorf("%q holds %q", name, got)
				}
				must(t, second(p.do(fsys, name, text+"!", &ambit.WriteOptions{})))
			}
		}
		must(t, fsys.Remove(ctx, "v 13.png", nil))
		if err := second(fsys.Open(ctx, "v 13.png")); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("another name was found: %v", err)
		}
		if got := names(t, fsys, "/"); len(got) != len(files)-1 {
			t.Errorf("listed %q", got)
		}
	})
}

// PATH-06: searches leak what read refuses.
func TestCaseWalksDoNotLeak(t *testing.T) {
	const tree = `
		docs/
		docs/private/
		docs/private/k.txt = TOKEN=1
		docs/private/deep/
		docs/private/deep/k2.txt = TOKEN=2
		docs/a.txt = TOKEN=x
		docs/l -> private
		docs/lk -> private/k.txt
	`
	control := newWorldIn(t, fastDir(t), tree)
	if found := linesWith(t, control.fsys, "/", "TOKEN"); len(found) != 4 {
		t.Fatalf("the control found %q", found)
	}
	everyWay(t, tree, &local.Options{Deny: []string{"docs/private"}}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		for _, root := range []string{"/", "docs", "/docs/"} {
			if found := linesWith(t, fsys, root, "TOKEN"); len(found) != 1 || !strings.HasSuffix(found[0], "docs/a.txt") {
				t.Errorf("from %q found %q", root, found)
			}
		}
		for _, root := range []string{"docs/private", "docs/l", "docs/private/deep"} {
			for e, err := range ambit.Walk(ctx, fsys, root) {
				if ambit.ReasonOf(err) != ambit.ErrDenied || strings.Contains(e.Name, "k") {
					t.Errorf("from %q met %+v, %v", root, e, err)
				}
			}
		}
		if got := fmt.Sprint(names(t, fsys, "docs")); got != "[a.txt l lk]" {
			t.Errorf("listed %s", got)
		}
		for name, served := range map[string]ambit.FileSystem{"IOFS": nil, "Sub": nil} {
			if name == "Sub" {
				sub, err := ambit.Sub(ctx, fsys, "docs")
				must(t, err)
				defer sub.(io.Closer).Close()
				served = sub
			} else {
				served = ambit.FromIOFS(ambit.IOFS(ctx, fsys))
			}
			if found := linesWith(t, served, "/", "TOKEN"); len(found) != 1 || !strings.HasSuffix(found[0], "/a.txt") {
				t.Errorf("through %s found %q", name, found)
			}
		}
	})
}

// PATH-07: Windows spellings of a denied name are ordinary names here.
func TestCaseSpellingsOfWindows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the disks of this system fold some names themselves")
	}
	everyWay(t, ".env = SECRET\n", &local.Options{Deny: []string{".env"}}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		all := []string{".env.", ".env ", ".env::$DATA", ".ENV", "NUL.txt", "COM1", "C:x", `\\?\C:\x`, `a\..\..\b`, `.\.env`}
		for _, name := range all {
			r := write(t, fsys, name, "is "+name, &ambit.WriteOptions{If: ambit.IfAbsent()})
			if r.Info.Path != "/"+name || bytesOf(t, w.host(name)) != "is "+name {
				t.Errorf("%q was made as %q", name, r.Info.Path)
			}
		}
		for _, name := range all {
			if text, info := read(t, fsys, name); text != "is "+name || info.Path != "/"+name {
				t.Errorf("%q holds %q", name, text)
			}
		}
		slices.Sort(all)
		if got := names(t, fsys, "/"); !slices.Equal(got, all) {
			t.Errorf("listed %q, want %q", got, all)
		}
		for _, path := range []string{".env", "./.env", "/.env/", "x/../.env"} {
			if err := second(fsys.Open(ctx, path)); sketch(err) != "denied deny" {
				t.Errorf("open %q: %v", path, err)
			}
		}
		// Two dots and a space are a name as well.
		if err := second(fsys.Open(ctx, ".. /x")); sketch(err) != "not-found T=/.. /x M=/.. " {
			t.Errorf("open: %v", sketch(err))
		}
	})
}

// SYMLINK-01: a link inside points outside.
func TestCaseLinkOutside(t *testing.T) {
	everyWay(t, "source = S\nleak -> $OUT/secret-name\nd -> $OUT\nplain = P\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		if text := bytesOf(t, w.host("leak")); text != secretText {
			t.Fatalf("the control reads %q", text)
		}
		before := w.snapshot(t)
		for _, a := range acts("source") {
			paths := []string{"d/secret-name", "d/none", "d/folder/secret-name"}
			if a.follows {
				paths = append(paths, "leak", "d")
			}
			for _, path := range paths {
				err := a.do(fsys, path)
				if ambit.ReasonOf(err) != ambit.ErrOutside {
					t.Errorf("%s %q: %v", a.name, path, err)
				}
				w.clean(t, err, a.op, path)
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Fatalf("%s %q changed %q", a.name, path, diff)
				}
			}
		}
		if found := linesWith(t, fsys, "/", "SECRET"); len(found) != 0 {
			t.Errorf("found %q", found)
		}
		if got := fmt.Sprint(names(t, fsys, "/")); got != "[d leak plain source]" {
			t.Errorf("listed %s", got)
		}
	})
}

// SYMLINK-02: a write through a dangling last step.
func TestCaseDanglingLink(t *testing.T) {
	everyWay(t, `
		source = S
		draft -> $OUT/not-yet
		up -> ../$OUTBASE/not-yet
		chain -> draft
		inside -> later
		inchain -> inside
	`, nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		before := w.snapshot(t)
		for _, a := range acts("source") {
			if !a.changes || strings.HasPrefix(a.name, "remove") || a.name == "rename from" || a.name == "rename over" || a.name == "commit of a removal" {
				continue
			}
			for _, path := range []string{"draft", "up", "chain", "inside", "inchain"} {
				err := a.do(fsys, path)
				want := ambit.ErrExists
				switch outward := path == "draft" || path == "up" || path == "chain"; {
				case a.follows && outward:
					want = ambit.ErrOutside
				case a.follows:
					want = ambit.ErrDenied
				}
				if ambit.ReasonOf(err) != want {
					t.Errorf("%s %q: %v, want %s", a.name, path, err, want)
				}
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Fatalf("%s %q changed %q", a.name, path, diff)
				}
			}
		}
		// A move over one takes the link's place, and nothing else's.
		must(t, second(fsys.Rename(ctx, "source", "draft", &ambit.RenameOptions{Replace: true})))
		if text := bytesOf(t, w.host("draft")); text != "S" {
			t.Errorf("draft has %q", text)
		}
		if diff := difference(outsideOf(before), outsideOf(w.snapshot(t))); diff != nil {
			t.Errorf("outside changed %q", diff)
		}
	})
}

// SYMLINK-04: a trailing slash makes the kernel follow the link.
func TestCaseSlashBehindALink(t *testing.T) {
	everyWay(t, "source = S\nlink -> $OUT\nin -> d\nd/\nd/x = X\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		before := w.snapshot(t)
		for _, path := range []string{"link/", "link//", "link/.", "./link/", "/link/./", "in/../link/"} {
			for _, a := range acts("source") {
				err := a.do(fsys, path)
				if r := ambit.ReasonOf(err); r != ambit.ErrOutside && (a.follows || r != ambit.ErrNotADirectory && r != ambit.ErrExists) {
					t.Errorf("%s %q: %v", a.name, path, err)
				}
				w.clean(t, err, a.op, path)
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Fatalf("%s %q changed %q", a.name, path, diff)
				}
			}
			for e, err := range ambit.Walk(ctx, fsys, path) {
				if err == nil {
					t.Errorf("the walk of %q met %+v", path, e)
				}
			}
		}
		if got := fmt.Sprint(names(t, fsys, "in/")); got != "[x]" {
			t.Errorf("a link that stays inside lists %s", got)
		}
	})
}

// SYMLINK-05: deny rules and links do not meet.
func TestCaseDenyMeetsLinks(t *testing.T) {
	everyWay(t, `
		dot/
		dot/zshrc = Z
		zshrc -> dot/zshrc
		secret/
		secret/key = K
		ok -> secret/key
		okdir -> secret
	`, &local.Options{Deny: []string{"zshrc", "secret"}}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		for _, path := range []string{"zshrc", "dot/zshrc", "ok", "okdir", "okdir/key", "secret/key"} {
			if err := second(fsys.Open(ctx, path)); sketch(err) != "denied deny" {
				t.Errorf("open %q: %v", path, err)
			}
			if err := second(fsys.Stat(ctx, path)); sketch(err) != "denied deny" {
				t.Errorf("stat %q: %v", path, err)
			}
		}
		if found := linesWith(t, fsys, "/", ""); len(found) != 0 {
			t.Errorf("read %q", found)
		}
	})
}

// SYMLINK-06: a link to a folder above makes the walk endless.
func TestCaseLinkToAFolderAbove(t *testing.T) {
	everyWay(t, "a/\na/f.txt = k\na/up -> ..\nself -> self\na/here -> .\na/abs -> $ROOT/a\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
		var met []string
		for e, err := range ambit.Walk(ctx, fsys, "/") {
			must(t, err)
			met = append(met, e.Info.Path)
		}
		if got := strings.Join(met, " "); got != "/a /a/abs /a/f.txt /a/here /a/up /self" {
			t.Errorf("met %s", got)
		}
		// By name the links are followed, to the same file.
		for _, path := range []string{"a/up/a/f.txt", "a/here/here/f.txt", "a/abs/up/a/abs/f.txt"} {
			if text, info := read(t, fsys, path); text != "k" || info.Path != "/a/f.txt" {
				t.Errorf("%s: %q at %s", path, text, info.Path)
			}
		}
		must(t, fsys.Remove(ctx, "a", &ambit.RemoveOptions{Recursive: true}))
		if got := fmt.Sprint(names(t, fsys, "/")); got != "[self]" {
			t.Errorf("left: %s", got)
		}
	})
}

// SYMLINK-07: one broken link fails the whole listing.
func TestCaseBrokenLinkInAListing(t *testing.T) {
	for _, links := range []ambit.LinkRule{ambit.LinksFollowed, ambit.LinksRefused} {
		everyWay(t, "ok.txt = word\ndead -> missing\nloop -> loop\naway -> /etc/passwd\n", &local.Options{Links: links}, func(t *testing.T, w *world, fsys *local.FileSystem) {
			must(t, os.WriteFile(w.host("zero"), []byte("word"), 0))
			for _, details := range []bool{false, true} {
				l, err := fsys.List(ctx, "/", &ambit.ListOptions{Details: details})
				must(t, err)
				var got []string
				for _, e := range l.Entries {
					got = append(got, fmt.Sprintf("%s %v", e.Name, e.Info.Kind))
				}
				if want := []string{"away symlink", "dead symlink", "loop symlink", "ok.txt file", "zero file"}; !slices.Equal(got, want) {
					t.Errorf("listed %q", got)
				}
			}
			if found := linesWith(t, fsys, "/", "word"); len(found) == 0 || found[0] != "/ok.txt" {
				t.Errorf("found %q", found)
			}
		})
	}
}

// SYMLINK-08: the root itself is reached through a link.
func TestCaseRootThroughALink(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, "real/\nreal/x = X\nalias -> real\nreal/by-alias -> $BASE/alias/x\nreal/by-real -> $BASE/real/x\n")
		machine := serve(t, h.base+"/alias", with(&local.Options{}))
		write(t, machine, "x", "M", nil)
		for _, path := range []string{"x", "/x", "by-alias", "by-real"} {
			if text, info := read(t, machine, path); text != "M" || info.Path != "/x" {
				t.Errorf("%s: %q at %s", path, text, info.Path)
			}
		}
		host := h.serve(t, with(&local.Options{}), "alias")
		for i, path := range []string{"x", h.host("alias/x"), h.host("real/x"), "by-alias", "by-real"} {
			text := fmt.Sprint(i)
			write(t, host, path, text, nil)
			if got, _ := read(t, host, path); got != text || bytesOf(t, h.host("real/x")) != text {
				t.Errorf("%s: %q", path, got)
			}
		}
		if info, err := os.Lstat(h.host("real/by-alias")); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("the link is %v, %v", info, err)
		}
	})
}

// CONC-01: parallel edits of one file lose one. Two handles, and two writes
// with one version.
func TestCaseParallelEdits(t *testing.T) {
	var first strings.Builder
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(&first, "%d\n", i)
	}
	everyWay(t, "", &local.Options{Durability: local.NotDurable}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		other := serve(t, w.root, &local.Options{Durability: local.NotDurable})
		write(t, fsys, "f", first.String(), nil)
		var done [20]atomic.Bool
		var wg sync.WaitGroup
		for i := range done {
			served := fsys
			if i%2 == 1 {
				served = other
			}
			wg.Go(func() {
				for range 5 {
					data, info, err := ambit.ReadFile(ctx, served, "f")
					if err != nil {
						continue
					}
					lines := strings.Split(string(data), "\n")
					lines[i*5] = fmt.Sprintf("word%d.", i)
					o := &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}
					_, err = ambit.WriteFile(ctx, served, "f", []byte(strings.Join(lines, "\n")), o)
					if err == nil {
						done[i].Store(true)
						return
					}
					if ambit.ReasonOf(err) != ambit.ErrChanged {
						t.Errorf("edit %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
		text, info := read(t, fsys, "f")
		count := 0
		for i := range done {
			if done[i].Load() != strings.Contains(text, fmt.Sprintf("word%d.", i)) {
				t.Errorf("edit %d reported %v", i, done[i].Load())
			}
			if done[i].Load() {
				count++
			}
		}
		if count == 0 {
			t.Error("no edit got through")
		}
		var won atomic.Int32
		for i := range 2 {
			served := []*local.FileSystem{fsys, other}[i]
			wg.Go(func() {
				_, err := ambit.WriteFile(ctx, served, "f", []byte(fmt.Sprint(i)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				if err == nil {
					won.Add(1)
				} else if ambit.ReasonOf(err) != ambit.ErrChanged {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of two writes with one version got through", won.Load())
		}
	})
}

// CONC-03: your own write makes you stale.
func TestCaseOwnWriteIsKnown(t *testing.T) {
	for _, p := range publications {
		everyWay(t, "f = 0\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
			_, at0 := read(t, fsys, "f")
			at := at0
			for i := range 3 {
				r, err := p.do(fsys, "f", "N", &ambit.WriteOptions{If: ambit.IfVersion(at.Version)})
				if err != nil {
					t.Fatalf("%s %d: %v", p.name, i, err)
				}
				if _, now := read(t, fsys, "f"); now != r.Info || now.Version == at.Version {
					t.Errorf("%s %d: the result is %+v, a fresh read says %+v", p.name, i, r.Info, now)
				}
				at = r.Info
			}
			if err := second(p.do(fsys, "f", "N", &ambit.WriteOptions{If: ambit.IfVersion(at0.Version)})); ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Errorf("%s over the first version: %v", p.name, err)
			}
		})
	}
}

// CONC-04: create-only replaces a file that was made meanwhile. Every way to
// create, a Commit among them, at once.
func TestCaseCreateOnly(t *testing.T) {
	everyWay(t, "", &local.Options{Durability: local.NotDurable}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		for round := range 5 {
			path := fmt.Sprintf("d%d/new", round)
			var winners sync.Map
			var wg sync.WaitGroup
			for i := range 50 {
				p := publications[i%len(publications)]
				wg.Go(func() {
					err := second(p.do(fsys, path, fmt.Sprint(i), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true}))
					if err == nil {
						winners.Store(i, p.name)
					} else if ambit.ReasonOf(err) != ambit.ErrExists {
						t.Errorf("%s %d: %v", p.name, i, err)
					}
				})
			}
			wg.Wait()
			text, _ := read(t, fsys, path)
			count := 0
			winners.Range(func(i, name any) bool {
				count++
				if fmt.Sprint(i) != text {
					t.Errorf("%v %v has won, and there is %q", name, i, text)
				}
				return true
			})
			if count != 1 {
				t.Errorf("%d have won", count)
			}
		}
		leftovers(t, w.root)
	})
}

// CONC-05: writers share one temporary name.
func TestCaseOwnTemporaryNames(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	everyWay(t, "", &local.Options{Durability: local.NotDurable}, func(t *testing.T, w *world, fsys *local.FileSystem) {
		const size = 1 << 20
		whole := func(data []byte) bool {
			return len(data) == size && bytes.Count(data, data[:1]) == size
		}
		write(t, fsys, "f", strings.Repeat("z", size), nil)
		var stopped atomic.Bool
		var readers, writers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for !stopped.Load() {
					f, err := fsys.Open(ctx, "f")
					if err != nil {
						t.Errorf("open: %v", err)
						return
					}
					data, err := io.ReadAll(f)
					f.Close()
					if err != nil || !whole(data) {
						t.Errorf("read %d bytes that are not one writer's, %v", len(data), err)
						return
					}
				}
			})
		}
		for i := range 8 {
			content := bytes.Repeat([]byte{byte('a' + i)}, size)
			p := publications[i%4]
			if p.name == "write a version" {
				p = publications[0] // the others' writes would take its version away
			}
			writers.Go(func() {
				for range rounds {
					if err := second(p.do(fsys, "f", string(content), &ambit.WriteOptions{})); err != nil {
						t.Errorf("%s: %v", p.name, err)
						return
					}
				}
			})
		}
		writers.Wait()
		stopped.Store(true)
		readers.Wait()
		if data := []byte(bytesOf(t, w.host("f"))); !whole(data) {
			t.Errorf("at the end there are %d mixed bytes", len(data))
		}
		leftovers(t, w.root)
	})
}

// CONC-06: a source that changes between planning and applying several
// changes.
func TestCaseChangedBeforeCommit(t *testing.T) {
	for _, kind := range []string{"update", "remove", "move"} {
		everyWay(t, "a = A\nb = B\n", nil, func(t *testing.T, w *world, fsys *local.FileSystem) {
			_, a := read(t, fsys, "a")
			_, b := read(t, fsys, "b")
			// The stranger comes while the content of the first change is read,
			// as late as a plan can be overtaken.
			late := readerFunc(func([]byte) (int, error) {
				f, err := os.OpenFile(filepath.Join(w.root, "b"), os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteString("MORE")
					err = errors.Join(err, f.Close())
				}
				if err != nil {
					return 0, err
				}
				return 0, io.EOF
			})
			changes := []ambit.Change{{Op: ambit.OpWrite, Path: "a", Content: io.MultiReader(readerOf("N"), late), If: ambit.IfVersion(a.Version)}}
			switch kind {
			case "update":
				changes = append(changes, ambit.Change{Op: ambit.OpWrite, Path: "b", Content: readerOf("N"), If: ambit.IfVersion(b.Version)})
			case "remove":
				changes = append(changes, ambit.Change{Op: ambit.OpRemove, Path: "b", If: ambit.IfVersion(b.Version)})
			case "move":
				changes = append(changes,
					ambit.Change{Op: ambit.OpWrite, Path: "n/c", Content: readerOf("B"), If: ambit.IfAbsent(), Parents: true},
					ambit.Change{Op: ambit.OpRemove, Path: "b", If: ambit.IfVersion(b.Version)})
			}
			var e *ambit.Error
			if err := second(ambit.Commit(ctx, fsys, changes)); ambit.ReasonOf(err) != ambit.ErrChanged || !errors.As(err, &e) || e.Path != "b" {
				t.Errorf("%s: %v", kind, err)
			}
			if got := fmt.Sprint(names(t, fsys, "/")); got != "[a b]" || bytesOf(t, w.host("a")) != "A" || bytesOf(t, w.host("b")) != "BMORE" {
				t.Errorf("%s: there is %s, %q, %q", kind, got, bytesOf(t, w.host("a")), bytesOf(t, w.host("b")))
			}
			leftovers(t, w.root)
		})
	}
}
