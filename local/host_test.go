// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A household is a folder of the host with roots in it and other things.
type household struct {
	base string // the folder above all
	fsys *local.FileSystem
}

// newHousehold lays lines of the form of newWorld out in a new folder; $BASE
// stands for it.
func newHousehold(t testing.TB, lines string) *household {
	t.Helper()
	base := filepath.Join(fastDir(t), "base")
	must(t, os.Mkdir(base, 0o777))
	w := &world{root: base, outside: base}
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			w.add(t, strings.ReplaceAll(line, "$BASE", base))
		}
	}
	return &household{base: base}
}

// host is not cleaned: how a path is written is often the point.
func (h *household) host(name string) string { return h.base + "/" + name }

// serve serves folders of the household as a Host.
func (h *household) serve(t testing.TB, o *local.Options, dirs ...string) *local.FileSystem {
	t.Helper()
	for i := range dirs {
		dirs[i] = h.host(dirs[i])
	}
	fsys, err := local.Host(dirs, o)
	must(t, err)
	t.Cleanup(func() { fsys.Close() })
	h.fsys = fsys
	return fsys
}

func (h *household) snapshot(t testing.TB) []string {
	t.Helper()
	return (&world{root: h.base, outside: h.base}).snapshot(t)
}

// unchanged fails when the household is not what it was.
func (h *household) unchanged(t testing.TB, before []string, what string) {
	t.Helper()
	if diff := difference(before, h.snapshot(t)); diff != nil {
		t.Fatalf("%s changed %q", what, diff)
	}
}

const twoRoots = `
	one/
	one/source = S
	one/f = ONE
	one/d/
	one/d/x = X
	one/d/deep/
	one-secret/
	one-secret/loot = LOOT
	way/
	way/to/
	way/to/two/
	way/to/two/g = TWO
	way/to/beside = B
	way/aside/
	unlisted/
	unlisted/u = U
`

func TestHostPaths(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		for path, want := range map[string]string{
			h.host("one/f"): "ONE", h.host("one/d/x"): "X", h.host("way/to/two/g"): "TWO",
			"f": "ONE", "d/../f": "ONE", "../way/to/two/g": "TWO", h.host("unlisted/../one/f"): "ONE", "/../" + h.base: "",
		} {
			f, err := fsys.Open(ctx, path)
			if want == "" {
				if ambit.ReasonOf(err) != ambit.ErrOutside {
					t.Errorf("open %q: %v", path, err)
				}
				continue
			}
			must(t, err)
			data, err := io.ReadAll(f)
			must(t, errors.Join(err, f.Verify(ctx), f.Close()))
			info := f.Info()
			if string(data) != want || !strings.HasPrefix(info.Path, h.base+"/") {
				t.Errorf("%q holds %q, at %s", path, data, info.Path)
			}
			if again, same := read(t, fsys, info.Path); again != want || same != info {
				t.Errorf("the canonical %s holds %q, %+v; it was %+v", info.Path, again, same, info)
			}
			if bytesOf(t, info.Path) != want {
				t.Errorf("%s is no path of the host", info.Path)
			}
		}
		r := write(t, fsys, "new/folder/file", "N", &ambit.WriteOptions{Parents: true})
		if r.Info.Path != h.host("one/new/folder/file") || !slices.Equal(r.CreatedDirs, []string{h.host("one/new"), h.host("one/new/folder")}) {
			t.Errorf("written %+v", r)
		}
		made, err := fsys.Mkdir(ctx, h.host("way/to/two/m/n"), &ambit.MkdirOptions{Parents: true})
		if err != nil || !slices.Equal(made, []string{h.host("way/to/two/m"), h.host("way/to/two/m/n")}) {
			t.Errorf("made %q, %v", made, err)
		}
		l, err := fsys.List(ctx, h.host("way/to/two"), nil)
		must(t, err)
		if l.Dir != h.host("way/to/two") || len(l.Entries) != 2 || l.Entries[0].Info.Path != h.host("way/to/two/g") {
			t.Errorf("listed %+v", l)
		}
		err = second(fsys.Open(ctx, h.host("one/no/where")))
		if sketch(err) != "not-found T="+h.host("one/no/where")+" M="+h.host("one/no") {
			t.Errorf("open of what is missing: %s", sketch(err))
		}
		for _, path := range []string{"", "a\x00b", strings.Repeat("n", 256), h.host("unlisted/a\x00b")} {
			for _, a := range acts("source") {
				if err := a.do(fsys, path); ambit.ReasonOf(err) != ambit.ErrInvalidPath {
					t.Errorf("%s %q: %v", a.name, path, err)
				}
			}
		}
		c := fsys.Capabilities()
		one := serve(t, h.host("one"), with(&local.Options{})).Capabilities()
		if c.ID == one.ID {
			t.Errorf("a Host has the ID of a folder, %q", c.ID)
		}
		c.ID, one.ID = "", ""
		if c != one {
			t.Errorf("on one disk a Host claims %+v, a folder %+v", c, one)
		}
	})
}

// What lies in no root and above none is outside, the same whether or not
// anything is there, in every method, and costs no look.
func TestHostOutside(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+`
			one/to-loot -> $BASE/one-secret/loot
			one/to-none -> $BASE/one-secret/none
			one/up-loot -> ../one-secret/loot
			one/to-base -> $BASE
			one/to-way -> ../way
			one/to-way-to -> $BASE/way/to
			one/to-etc -> /etc
		`)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		before := h.snapshot(t)
		paths := []string{
			h.host("one-secret"), h.host("one-secret/"), h.host("one-secret/loot"), h.host("one-secret/none"), h.host("one-secret/loot/x"), h.host("on"), h.host("onef"),
			h.host("unlisted"), h.host("unlisted/u"), h.host("way/to/beside"), h.host("way/to/tw"), h.host("way/to/two2/x"), h.host("way/aside"), h.host("way/nothing/at/all"),
			h.host("nothing"), h.base + "-not/x", "/etc", "/etc/passwd", "/nothing/at/all", "../one-secret/loot", "../../../../../../../etc/passwd", "../unlisted", "/..", "../../../../../../..",
		}
		links := []string{"to-loot", "to-none", "up-loot", "to-base", "to-way", "to-way-to", "to-etc"}
		facts := func(err error, path string) string {
			var e *ambit.Error
			if !errors.As(err, &e) {
				return fmt.Sprint(err)
			}
			return strings.NewReplacer(path, "PATH", e.Target, "TARGET").Replace(fmt.Sprintf("%v | %q %v %q %q %q %v", err, e.Reason, e.Kind, e.Target, e.MissingDirs, e.Detail, e.Err))
		}
		for _, a := range acts("source") {
			for _, path := range paths {
				err := a.do(fsys, path)
				var e *ambit.Error
				if !errors.As(err, &e) || e.Reason != ambit.ErrOutside || e.Op != a.op || e.Path != path {
					t.Errorf("%s %q: %v (%+v), want outside", a.name, path, err, e)
					continue
				}
				if want, _, textErr := ambit.Resolve(h.host("one"), path); textErr == nil && e.Target != want {
					t.Errorf("%s %q: the Target is %q, by text it is %q", a.name, path, e.Target, want)
				}
				h.unchanged(t, before, a.name+" "+path)
			}
			there, none := h.host("one-secret/loot"), h.host("one-secret/none")
			if is, not := facts(a.do(fsys, there), there), facts(a.do(fsys, none), none); is != not {
				t.Errorf("%s of what is there tells %s, of what is not %s", a.name, is, not)
			}
			beneath := []string{"to-loot/x", "to-none/x", "to-base/unlisted/u", "to-base/one/f", "to-way/to/two/g", "to-way-to/two/g", "to-etc/passwd", "to-base/nothing"}
			if a.follows {
				beneath = append(beneath, links...)
			}
			for _, path := range beneath {
				err := a.do(fsys, path)
				if ambit.ReasonOf(err) != ambit.ErrOutside {
					t.Errorf("%s %q: %v, want outside", a.name, path, err)
				}
				if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), "one-secret") {
					t.Errorf("%s %q tells where a link led: %v", a.name, path, err)
				}
				h.unchanged(t, before, a.name+" "+path)
			}
		}
		for _, link := range links {
			if text, err := fsys.ReadLink(ctx, link); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("the text of %s is told as %q, %v", link, text, err)
			}
		}
		// The control: what is listed is there.
		if text, _ := read(t, fsys, "../way/to/two/g"); text != "TWO" {
			t.Errorf("read %q", text)
		}
	})
}

// A folder above the roots shows the way to them and nothing else.
func TestHostAboveTheRoots(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		above := map[string][]string{h.base: {"one", "way"}, h.host("way"): {"to"}, h.host("way/to"): {"two"}}
		for dir := filepath.Dir(h.base); ; dir = filepath.Dir(dir) {
			first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(h.base, dir), "/"), "/")
			above[dir] = []string{first}
			if dir == "/" {
				break
			}
		}
		for dir, want := range above {
			for _, spelled := range []string{dir, dir + "/", dir + "/.", dir + "/x/.."} {
				for what, describe := range map[string]func(context.Context, string) (ambit.FileInfo, error){"Stat": fsys.Stat, "Lstat": fsys.Lstat} {
					info, err := describe(ctx, spelled)
					if err != nil || info.Path != dir || info.Kind != ambit.KindDirectory || !info.ModTime.IsZero() || info.Version != "" {
						t.Errorf("%s %q: %+v, %v", what, spelled, info, err)
					}
				}
				for _, details := range []bool{false, true} {
					l, err := fsys.List(ctx, spelled, &ambit.ListOptions{Details: details})
					if err != nil || l.Dir != dir || l.Next != "" || len(l.Entries) != len(want) {
						t.Errorf("List %q: %+v, %v", spelled, l, err)
						continue
					}
					for i, e := range l.Entries {
						if e.Name != want[i] || e.Info.Path != ambit.Join(dir, want[i]) || e.Info.Kind != ambit.KindDirectory {
							t.Errorf("List %q: %+v, want %s", spelled, e, want[i])
						}
					}
				}
				if err := second(fsys.Open(ctx, spelled)); sketch(err) != "not-a-file directory T="+dir {
					t.Errorf("Open %q: %v", spelled, err)
				}
				if err := second(fsys.ReadLink(ctx, spelled)); ambit.ReasonOf(err) != ambit.ErrInvalid {
					t.Errorf("ReadLink %q: %v", spelled, err)
				}
			}
		}
		// Pages of them, too.
		l, err := fsys.List(ctx, h.base, &ambit.ListOptions{Limit: 1})
		if err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "one" || l.Next == "" {
			t.Errorf("the first page: %+v, %v", l, err)
		} else if l, err = fsys.List(ctx, h.base, &ambit.ListOptions{Limit: 1, After: l.Next}); err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "way" || l.Next != "" {
			t.Errorf("the second page: %+v, %v", l, err)
		}
		if err := second(fsys.List(ctx, h.base, &ambit.ListOptions{Limit: -1})); ambit.ReasonOf(err) != ambit.ErrInvalid {
			t.Errorf("a negative Limit: %v", err)
		}
		// A root in the listing of the folder above is what Stat says of it.
		l, err = fsys.List(ctx, h.base, &ambit.ListOptions{Details: true})
		must(t, err)
		if info, err := fsys.Stat(ctx, h.host("one")); err != nil || l.Entries[0].Info != info || info.ModTime.IsZero() {
			t.Errorf("listed %+v, described %+v, %v", l.Entries[0].Info, info, err)
		}
		var walked []string
		for e, err := range ambit.Walk(ctx, fsys, h.base) {
			must(t, err)
			walked = append(walked, strings.TrimPrefix(e.Info.Path, h.base))
		}
		if want := "/one /one/d /one/d/deep /one/d/x /one/f /one/source /way /way/to /way/to/two /way/to/two/g"; strings.TrimSpace(strings.Join(walked, " ")) != want {
			t.Errorf("the walk met %q", walked)
		}
		// As a machine of its own it is the same.
		sub, err := ambit.Sub(ctx, fsys, h.base)
		if err != nil {
			t.Fatalf("Sub of a folder above: %v", err)
		}
		defer sub.(io.Closer).Close()
		if text, info := read(t, sub, "/way/to/two/g"); text != "TWO" || info.Path != "/way/to/two/g" {
			t.Errorf("read %q at %s", text, info.Path)
		}
		if got := names(t, sub, "/"); !slices.Equal(got, []string{"one", "way"}) {
			t.Errorf("the Sub lists %q", got)
		}
		if err := second(sub.Open(ctx, "/unlisted/u")); ambit.ReasonOf(err) != ambit.ErrOutside {
			t.Errorf("open outside in the Sub: %v", err)
		}
	})
}

// Nothing is changed at or above a root, and nothing is made beside one.
func TestHostChangesAboveTheRoots(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		before := h.snapshot(t)
		check := func(what, path string, err error, want string) {
			t.Helper()
			if got := sketch(err); got != want {
				t.Errorf("%s %q: %s (%v), want %s", what, path, got, err, want)
			}
			h.unchanged(t, before, what+" "+path)
		}
		for _, path := range []string{h.base, h.host("way"), h.host("way/to"), "/", h.host("one"), h.host("way/to/two"), "/tmp/.."} {
			clean := filepath.Clean(path)
			for _, path := range []string{path, strings.TrimSuffix(path, "/") + "/"} {
				for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true}, {Recursive: true, MissingOK: true}} {
					check("Remove", path, fsys.Remove(ctx, path, o), "invalid")
				}
				check("Rename from", path, second(fsys.Rename(ctx, path, h.host("one/moved"), nil)), "invalid")
				check("Rename from", path, second(fsys.Rename(ctx, path, h.host("way/to/two/moved"), &ambit.RenameOptions{Replace: true, Parents: true})), "invalid")
				check("Rename a folder to", path, second(fsys.Rename(ctx, h.host("one/d/deep"), path, &ambit.RenameOptions{Replace: true})), "exists directory")
				notAFile := "not-a-file directory T=" + clean
				check("Write", path, second(fsys.Write(ctx, path, readerOf("N"), nil)), notAFile)
				check("Write with Parents", path, second(fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{Parents: true})), notAFile)
				check("Write a version", path, second(fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{If: ambit.IfVersion("v")})), notAFile)
				check("Write to create", path, second(fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{If: ambit.IfAbsent()})), "exists directory")
				check("Stage", path, second(fsys.Stage(ctx, path, readerOf("N"), nil)), notAFile)
				check("Append", path, second(ambit.Append(ctx, fsys, path, readerOf("N"), nil)), notAFile)
				check("Commit", path, second(ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: readerOf("N")}})), notAFile)
				check("Commit a removal", path, second(ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpRemove, Path: path}})), "invalid")
				check("Mkdir", path, second(fsys.Mkdir(ctx, path, nil)), "exists directory")
				made, err := fsys.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: true})
				check("Mkdir with Parents", path, err, "ok")
				if len(made) != 0 {
					t.Errorf("Mkdir %q made %q", path, made)
				}
			}
			if path != "/tmp/.." && path != "/" {
				check("Rename a file to", path, second(fsys.Rename(ctx, h.host("one/source"), path, nil)), "exists directory")
			}
		}
		parents := true
		for _, path := range []string{h.host("new"), h.host("way/new"), h.host("way/to/new"), h.host("new/deep/er"), "/ambit-new", "/ambit-new/x"} {
			check("Write", path, second(fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{Parents: parents})), "outside")
			check("Stage", path, second(fsys.Stage(ctx, path, readerOf("N"), &ambit.WriteOptions{Parents: parents})), "outside")
			check("Append", path, second(ambit.Append(ctx, fsys, path, readerOf("N"), &ambit.AppendOptions{Parents: parents})), "outside")
			check("Mkdir", path, second(fsys.Mkdir(ctx, path, nil)), "outside")
			check("Mkdir with Parents", path, second(fsys.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: parents})), "outside")
			check("Rename to", path, second(fsys.Rename(ctx, h.host("one/f"), path, &ambit.RenameOptions{Parents: parents})), "outside")
			check("Rename a folder to", path, second(fsys.Rename(ctx, h.host("one/d"), path, &ambit.RenameOptions{Parents: parents})), "outside")
			check("Commit", path, second(ambit.Commit(ctx, fsys, []ambit.Change{
				{Op: ambit.OpWrite, Path: h.host("one/f"), Content: readerOf("N")}, {Op: ambit.OpWrite, Path: path, Content: readerOf("N"), Parents: parents},
			})), "outside")
		}
	})
}

// A root inside a root is part of the other's tree, has its own rights, and
// stays where it is.
func TestHostNestedRoots(t *testing.T) {
	const lines = `
		outer/
		outer/source = S
		outer/f = F
		outer/sub/
		outer/sub/s = SUB
		outer/sub/inner/
		outer/sub/inner/i = INNER
		outer/sub/inner/d/
		outer/sub/inner/d/x = X
		outer/to-inner -> sub/inner
		outer/sub/inner/to-outer -> ../../f
	`
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for name, c := range map[string]struct {
			dirs         []string
			readOnly     []string
			outer, inner bool
		}{
			"both writable":                 {dirs: []string{"outer", "outer/sub/inner"}, outer: true, inner: true},
			"the inner first":               {dirs: []string{"outer/sub/inner", "outer"}, outer: true, inner: true},
			"the inner read-only":           {dirs: []string{"outer", "outer/sub/inner"}, readOnly: []string{"outer/sub/inner"}, outer: true},
			"the outer read-only":           {dirs: []string{"outer", "outer/sub/inner"}, readOnly: []string{"outer"}, inner: true},
			"the outer read-only and last":  {dirs: []string{"outer/sub/inner", "outer"}, readOnly: []string{"outer"}, inner: true},
			"both read-only":                {dirs: []string{"outer", "outer/sub/inner"}, readOnly: []string{"outer", "outer/sub/inner"}},
			"a part of the inner read-only": {dirs: []string{"outer", "outer/sub/inner"}, readOnly: []string{"outer/sub/inner/d"}, outer: true, inner: true},
		} {
			t.Run(name, func(t *testing.T) {
				h := newHousehold(t, lines)
				o := &local.Options{Cwd: h.host("outer")}
				for _, dir := range c.readOnly {
					o.ReadOnly = append(o.ReadOnly, h.host(dir))
				}
				fsys := h.serve(t, with(o), slices.Clone(c.dirs)...)
				if got := fsys.Capabilities().Write; got != (c.outer || c.inner) {
					t.Errorf("Write is claimed: %v", got)
				}
				if got := fmt.Sprint(names(t, fsys, "sub")); got != "[inner s]" {
					t.Errorf("the outer lists %s", got)
				}
				for path, want := range map[string]string{"sub/inner/i": "INNER", "to-inner/i": "INNER", "to-inner/to-outer": "F", h.host("outer/sub/s"): "SUB"} {
					text, info := read(t, fsys, path)
					if text != want || bytesOf(t, info.Path) != want {
						t.Errorf("%q holds %q, at %s", path, text, info.Path)
					}
				}
				before := h.snapshot(t)
				for _, path := range []string{"sub", "sub/", "sub/inner", "sub/inner/"} {
					want := "invalid"
					for what, err := range map[string]error{
						"remove":     fsys.Remove(ctx, path, nil),
						"remove all": fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}),
						"rename":     second(fsys.Rename(ctx, path, "moved", nil)),
					} {
						if got := sketch(err); got != want && (got != "read-only" || len(c.readOnly) == 0) {
							t.Errorf("%s %q: %v, want %s", what, path, err, want)
						}
						h.unchanged(t, before, what+" "+path)
					}
				}
				allowed := func(want bool, what string, err error) {
					t.Helper()
					if want != (err == nil) || err != nil && ambit.ReasonOf(err) != ambit.ErrReadOnly {
						t.Errorf("%s: %v, want success: %v", what, err, want)
					}
				}
				allowed(c.outer, "write in the outer", second(fsys.Write(ctx, "sub/s", readerOf("N"), nil)))
				allowed(c.outer && c.inner, "write in the outer through a link in the inner", second(fsys.Write(ctx, "sub/inner/to-outer", readerOf("N"), nil)))
				allowed(c.inner, "write in the inner", second(fsys.Write(ctx, "sub/inner/new", readerOf("N"), nil)))
				// A path that goes through what is read-only changes nothing.
				allowed(c.inner && c.outer, "write in the inner through a link in the outer", second(fsys.Write(ctx, "to-inner/i", readerOf("N"), nil)))
				allowed(c.outer, "mkdir in the outer", second(fsys.Mkdir(ctx, "m", nil)))
				allowed(c.inner, "mkdir in the inner", second(fsys.Mkdir(ctx, "sub/inner/m", nil)))
				part := c.inner && !strings.HasPrefix(name, "a part")
				allowed(part, "write in a folder of the inner", second(fsys.Write(ctx, "sub/inner/d/x", readerOf("N"), nil)))
				allowed(c.outer && c.inner, "move in", second(fsys.Rename(ctx, "f", "sub/inner/f", nil)))
				allowed(c.outer && c.inner, "move out", second(fsys.Rename(ctx, "sub/inner/i", "i", nil)))
				allowed(part, "remove in the inner", fsys.Remove(ctx, "sub/inner/d", &ambit.RemoveOptions{Recursive: true}))
				if _, err := os.Stat(h.host("outer/sub/inner")); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// A root that is given through a link is served under both names.
func TestHostRootThroughALink(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, `
			real/
			real/y = Y
			alias -> real
			real/by-alias -> $BASE/alias/y
			real/by-real -> $BASE/real/y
			real/up-by-alias -> ../alias/y
			real/up-by-real -> ../real/y
			real/out -> $BASE/beside/b
			two/
			two/there -> $BASE/alias/y
			two/over -> ../real/y
			beside/
			beside/b = B
		`)
		fsys := h.serve(t, with(&local.Options{}), "alias", "two")
		canonical := ""
		for _, path := range []string{
			"y", h.host("alias/y"), h.host("real/y"), "by-alias", "by-real", "up-by-alias", "up-by-real", h.host("alias/by-real"), h.host("real/by-alias"), h.host("two/there"), h.host("two/over"),
		} {
			f, err := fsys.Open(ctx, path)
			if err != nil {
				t.Errorf("open %q: %v", path, err)
				continue
			}
			f.Close()
			if canonical == "" {
				canonical = f.Info().Path
			}
			if f.Info().Path != canonical {
				t.Errorf("%q is canonically %s, another name %s", path, f.Info().Path, canonical)
			}
		}
		if canonical != h.host("alias/y") && canonical != h.host("real/y") {
			t.Errorf("the canonical path is %q", canonical)
		}
		if err := second(fsys.Open(ctx, "out")); ambit.ReasonOf(err) != ambit.ErrOutside {
			t.Errorf("open of a link that leads out: %v", err)
		}
		write(t, fsys, h.host("real/x"), "X", nil)
		write(t, fsys, h.host("alias/z"), "Z", nil)
		if got := fmt.Sprint(names(t, fsys, ".")); got != "[by-alias by-real out up-by-alias up-by-real x y z]" {
			t.Errorf("listed %s", got)
		}
		for _, path := range []string{h.host("alias"), h.host("real"), h.host("alias/"), h.host("real/")} {
			if err := fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Errorf("remove %q: %v", path, err)
			}
			if err := second(fsys.Rename(ctx, path, "moved", nil)); ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Errorf("rename %q: %v", path, err)
			}
		}
		if info, err := os.Lstat(h.host("alias")); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("the alias is %v, %v", info, err)
		}
	})
}

// The host's own root may be served: then nothing is outside, and all else
// holds.
func TestRootOfTheHost(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, `
			d/
			d/f = F
			abs -> $BASE/d/f
			up -> ../base/d/f
			fixed/
			fixed/f = F
		`)
		o := &local.Options{Cwd: h.base, ReadOnly: []string{h.host("fixed")}}
		host, err := local.Host([]string{"/"}, with(o))
		must(t, err)
		defer host.Close()
		for name, fsys := range map[string]*local.FileSystem{"New": serve(t, "/", with(&local.Options{Cwd: h.base})), "Host": host} {
			for _, path := range []string{"d/f", h.host("d/f"), "abs", "up"} {
				text, info := read(t, fsys, path)
				if text != "F" || info.Path != h.host("d/f") {
					t.Errorf("%s: %q holds %q, at %s", name, path, text, info.Path)
				}
			}
			if info, err := fsys.Stat(ctx, "/"); err != nil || info.Path != "/" || info.ModTime.IsZero() {
				t.Errorf("%s: the root is %+v, %v", name, info, err)
			}
			entries, err := os.ReadDir("/")
			must(t, err)
			if got := names(t, fsys, "/"); len(got) != len(entries) {
				t.Errorf("%s: listed %q", name, got)
			}
			for _, path := range []string{"/..", "../../../../../../../.."} {
				if err := second(fsys.Stat(ctx, path)); ambit.ReasonOf(err) != ambit.ErrOutside {
					t.Errorf("%s: Stat %q: %v", name, path, err)
				}
			}
			if err := fsys.Remove(ctx, "/", &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Fatalf("%s: removal of the root: %v", name, err)
			}
			if err := second(fsys.Rename(ctx, "/", h.host("x"), nil)); ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Errorf("%s: move of the root: %v", name, err)
			}
			r := write(t, fsys, "n/m", "N", &ambit.WriteOptions{Parents: true})
			if r.Info.Path != h.host("n/m") || bytesOf(t, h.host("n/m")) != "N" {
				t.Errorf("%s: wrote %+v", name, r)
			}
			must(t, fsys.Remove(ctx, "n", &ambit.RemoveOptions{Recursive: true}))
			if p, err := fsys.HostPath("d/f"); err != nil || p != h.host("d/f") {
				t.Errorf("%s: HostPath: %q, %v", name, p, err)
			}
			if p, err := fsys.MachinePath(h.host("d/f")); err != nil || p != h.host("d/f") {
				t.Errorf("%s: MachinePath: %q, %v", name, p, err)
			}
		}
		if err := second(host.Write(ctx, "fixed/f", readerOf("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("write of what is read-only: %v", err)
		}
		inner, err := local.Host([]string{"/", h.host("d")}, with(&local.Options{ReadOnly: []string{"/"}}))
		must(t, err)
		defer inner.Close()
		write(t, inner, h.host("d/f"), "N", nil)
		if err := second(inner.Write(ctx, h.host("x"), readerOf("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("write beside the writable root: %v", err)
		}
	})
}

// What cannot be served is an error, which shows no path but those that the
// caller has written.
func TestHostErrors(t *testing.T) {
	h := newHousehold(t, twoRoots+"alias -> one\ndangling -> nothing\nfile = F\nloop -> loop\n")
	t.Chdir(h.base)
	for name, c := range map[string]struct {
		dirs []string
		o    *local.Options
		want []ambit.Reason
	}{
		"no roots":                   {nil, nil, []ambit.Reason{ambit.ErrInvalid}},
		"an empty list":              {[]string{}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"no name":                    {[]string{""}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"one without a name":         {[]string{"one", ""}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"a NUL":                      {[]string{"one", "a\x00b"}, nil, []ambit.Reason{ambit.ErrInvalid, ambit.ErrInvalidPath}},
		"the same twice":             {[]string{"one", "one"}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"the same with a slash":      {[]string{"one", "one/"}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"the same by a detour":       {[]string{"one", "way/to", "./way/../one"}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"the same through a link":    {[]string{"one", "alias"}, nil, []ambit.Reason{ambit.ErrInvalid}},
		"missing":                    {[]string{"nothing"}, nil, []ambit.Reason{ambit.ErrNotFound}},
		"one missing":                {[]string{"one", "nothing/at/all"}, nil, []ambit.Reason{ambit.ErrNotFound}},
		"a dangling link":            {[]string{"dangling"}, nil, []ambit.Reason{ambit.ErrNotFound}},
		"a loop":                     {[]string{"loop"}, nil, []ambit.Reason{ambit.ErrLoop}},
		"a file":                     {[]string{"file"}, nil, []ambit.Reason{ambit.ErrNotADirectory}},
		"one a file":                 {[]string{"one", "file"}, nil, []ambit.Reason{ambit.ErrNotADirectory}},
		"beneath a file":             {[]string{"file/x"}, nil, []ambit.Reason{ambit.ErrNotADirectory}},
		"a missing start":            {[]string{"one"}, &local.Options{Cwd: h.host("one/nothing")}, []ambit.Reason{ambit.ErrNotFound}},
		"a file to start":            {[]string{"one"}, &local.Options{Cwd: h.host("one/f")}, []ambit.Reason{ambit.ErrNotADirectory}},
		"a start outside":            {[]string{"one"}, &local.Options{Cwd: h.host("unlisted")}, []ambit.Reason{ambit.ErrOutside}},
		"a start at /etc":            {[]string{"one"}, &local.Options{Cwd: "/etc"}, []ambit.Reason{ambit.ErrOutside}},
		"read-only outside":          {[]string{"one"}, &local.Options{ReadOnly: []string{"/etc"}}, []ambit.Reason{ambit.ErrOutside, ambit.ErrInvalid}},
		"denied outside":             {[]string{"one"}, &local.Options{Deny: []string{"/etc/passwd"}}, []ambit.Reason{ambit.ErrOutside, ambit.ErrInvalid}},
		"a bad mode":                 {[]string{"one"}, &local.Options{NewFileMode: 0o1644}, []ambit.Reason{ambit.ErrInvalid}},
		"a negative limit":           {[]string{"one"}, &local.Options{MaxFileSize: -1}, []ambit.Reason{ambit.ErrInvalid}},
		"a root denied by its name":  {[]string{"one", "way"}, &local.Options{Deny: []string{h.host("one/../way")}}, []ambit.Reason{ambit.ErrInvalid, ambit.ErrOutside}},
		"a root denied with its own": {[]string{"one", "way"}, &local.Options{Deny: []string{h.host("one")}}, []ambit.Reason{ambit.ErrInvalid, ambit.ErrOutside}},
	} {
		fsys, err := local.Host(c.dirs, c.o)
		if fsys != nil || !slices.Contains(c.want, ambit.ReasonOf(err)) {
			t.Errorf("%s: %v, want one of %q", name, err, c.want)
		}
		if fsys != nil {
			fsys.Close()
		}
		var e *ambit.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v is no *ambit.Error", name, err)
		}
		// With a folder to start from, or what is denied, machine paths are the
		// host's own, and the roots' may be told.
		if told := fmt.Sprintf("%v %+v %#v", err, err, e); c.o == nil && strings.Contains(told, h.base) {
			t.Errorf("%s shows the host: %s", name, told)
		}
	}
}

// A relative root is where it was when Host was called.
func TestHostRelativeRoots(t *testing.T) {
	h := newHousehold(t, twoRoots)
	t.Chdir(h.host("way"))
	fsys, err := local.Host([]string{"../one", "to/two/"}, nil)
	must(t, err)
	defer fsys.Close()
	t.Chdir(h.host("unlisted"))
	for path, want := range map[string]string{h.host("one/f"): "ONE", "f": "ONE", h.host("way/to/two/g"): "TWO"} {
		if text, _ := read(t, fsys, path); text != want {
			t.Errorf("%q holds %q", path, text)
		}
	}
	if err := second(fsys.Open(ctx, "u")); sketch(err) != "not-found T="+h.host("one/u") {
		t.Errorf("open of a name of the process's own folder: %v", err)
	}
}

// The list of roots is the caller's: changed after Host it changes nothing.
func TestHostCopiesItsRoots(t *testing.T) {
	h := newHousehold(t, twoRoots)
	dirs := []string{h.host("one"), h.host("way/to/two")}
	fsys, err := local.Host(dirs, nil)
	must(t, err)
	defer fsys.Close()
	dirs[0], dirs[1] = h.host("unlisted"), h.host("unlisted")
	if text, _ := read(t, fsys, h.host("way/to/two/g")); text != "TWO" {
		t.Errorf("read %q", text)
	}
	if err := second(fsys.Open(ctx, h.host("unlisted/u"))); ambit.ReasonOf(err) != ambit.ErrOutside {
		t.Errorf("open: %v", err)
	}
}

// Relative paths start at the first root, or where Cwd says.
func TestHostCwd(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+"one/to-two -> $BASE/way/to/two\n")
		for cwd, want := range map[string]map[string]string{
			"":                        {"f": "ONE", "../way/to/two/g": "TWO", "d/x": "X"},
			h.host("one/d"):           {"x": "X", "../f": "ONE"},
			h.host("way/to/two"):      {"g": "TWO", "../../../one/f": "ONE"},
			h.host("one/to-two"):      {"g": "TWO", "../../../one/f": "ONE"},
			h.base:                    {"one/f": "ONE", "way/to/two/g": "TWO"},
			"/":                       {strings.TrimPrefix(h.host("one/f"), "/"): "ONE"},
			h.host("way/aside/../to"): {"two/g": "TWO"},
		} {
			fsys := h.serve(t, with(&local.Options{Cwd: cwd}), "one", "way/to/two")
			for path, text := range want {
				if got, _ := read(t, fsys, path); got != text {
					t.Errorf("from %q: %q holds %q, want %q", cwd, path, got, text)
				}
			}
			if info, err := fsys.Stat(ctx, "."); err != nil || !info.IsDir() {
				t.Errorf("from %q: %+v, %v", cwd, info, err)
			}
		}
	})
}

// What lies in two roots on one disk is moved, and committed at once.
func TestHostBetweenRoots(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+`
			one/l -> f
			one/abs -> $BASE/way/to/two/g
			one/rel -> ../way/to/two/g
			one/folder -> ../way/to/two
			way/to/two/back -> ../../../one/d
			way/to/two/chain -> $BASE/one/abs
			one/dangling -> $BASE/way/to/two/none
			one/odd -> $BASE/way/to/./two//g
			one/roundabout -> ../way/to/two/../../../one/f
			one/missing -> ../nothing/../way/to/two/g
		`)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		for path, want := range map[string]string{
			"abs": "way/to/two/g", "rel": "way/to/two/g", "folder/g": "way/to/two/g", "folder/back/x": "one/d/x", h.host("way/to/two/back/x"): "one/d/x",
			h.host("way/to/two/chain"): "way/to/two/g", "odd": "way/to/two/g", "roundabout": "one/f",
		} {
			if _, info := read(t, fsys, path); info.Path != h.host(want) {
				t.Errorf("%q is at %s, want %s", path, info.Path, want)
			}
			link, err := fsys.Lstat(ctx, path)
			must(t, err)
			if link.Kind == ambit.KindSymlink {
				if text, err := fsys.ReadLink(ctx, path); err != nil {
					t.Errorf("the text of %q: %q, %v", path, text, err)
				}
			}
		}
		if err := second(fsys.Open(ctx, "dangling")); sketch(err) != "not-found T="+h.host("way/to/two/none") {
			t.Errorf("a link to what is missing in another root: %v", err)
		}
		if err := second(fsys.Write(ctx, "dangling", readerOf("N"), nil)); sketch(err) != "denied dangling-link" {
			t.Errorf("writing through it: %v", err)
		}
		if err := second(fsys.Open(ctx, "missing")); ambit.ReasonOf(err) != ambit.ErrOutside {
			t.Errorf("a link through a folder outside: %v", err)
		}
		if text, err := fsys.ReadLink(ctx, "abs"); err != nil || text != h.host("way/to/two/g") {
			t.Errorf("the text is %q, %v", text, err)
		}
		r := write(t, fsys, "rel", "N", nil)
		if r.Info.Path != h.host("way/to/two/g") || bytesOf(t, h.host("way/to/two/g")) != "N" {
			t.Errorf("written through a link to another root: %+v", r)
		}

		version := func(path string) ambit.Version {
			info, err := fsys.Stat(ctx, path)
			must(t, err)
			return info.Version
		}
		to := h.host("way/to/two/f")
		if info, err := fsys.Rename(ctx, "f", to, &ambit.RenameOptions{If: ambit.IfVersion(version("f"))}); err != nil || info.Path != to || bytesOf(t, to) != "ONE" {
			t.Errorf("move of a file: %+v, %v", info, err)
		}
		if info, err := fsys.Rename(ctx, "d", h.host("way/to/two/n/d"), &ambit.RenameOptions{Parents: true}); err != nil || info.Path != h.host("way/to/two/n/d") {
			t.Errorf("move of a folder: %+v, %v", info, err)
		}
		if text := bytesOf(t, h.host("way/to/two/n/d/x")); text != "X" {
			t.Errorf("the moved folder has %q", text)
		}
		if info, err := fsys.Rename(ctx, "l", h.host("way/to/two/l"), nil); err != nil || info.Kind != ambit.KindSymlink {
			t.Errorf("move of a link: %+v, %v", info, err)
		}
		if err := second(fsys.Rename(ctx, "source", to, nil)); sketch(err) != "exists file" {
			t.Errorf("move onto a file: %v", err)
		}
		must(t, second(fsys.Rename(ctx, "source", to, &ambit.RenameOptions{Replace: true})))
		write(t, fsys, "again", "A", nil)
		results, err := ambit.Commit(ctx, fsys, []ambit.Change{
			{Op: ambit.OpWrite, Path: h.host("way/to/two/again"), Content: readerOf("A"), If: ambit.IfAbsent()},
			{Op: ambit.OpRemove, Path: "again", If: ambit.IfVersion(version("again"))},
		})
		if err != nil || results[0].Info.Path != h.host("way/to/two/again") {
			t.Errorf("a commit over two roots: %+v, %v", results, err)
		}
		before := h.snapshot(t)
		err = second(ambit.Commit(ctx, fsys, []ambit.Change{
			{Op: ambit.OpWrite, Path: h.host("way/to/two/again"), Content: readerOf("B")},
			{Op: ambit.OpWrite, Path: "no/where", Content: readerOf("B")},
		}))
		if ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("a commit with a fault in another root: %v", err)
		}
		h.unchanged(t, before, "the refused commit")
		leftovers(t, h.base)
	})
}

// Two roots on two disks: what would have to be copied is refused.
func TestHostAcrossDisks(t *testing.T) {
	memory, disk := fastDir(t), t.TempDir()
	disk, err := filepath.EvalSymlinks(disk)
	must(t, err)
	device := func(dir string) uint64 {
		info, err := os.Stat(dir)
		must(t, err)
		return uint64(info.Sys().(*syscall.Stat_t).Dev)
	}
	if device(memory) == device(disk) {
		t.Skip("the folders for tests are on one disk here")
	}
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for _, dir := range []string{memory, disk} {
			must(t, os.RemoveAll(filepath.Join(dir, "root")))
			must(t, os.MkdirAll(filepath.Join(dir, "root/d"), 0o777))
			must(t, os.WriteFile(filepath.Join(dir, "root/f"), []byte("F"), 0o666))
			must(t, os.WriteFile(filepath.Join(dir, "root/d/x"), []byte("X"), 0o666))
		}
		a, b := filepath.Join(memory, "root"), filepath.Join(disk, "root")
		must(t, os.Symlink(filepath.Join(b, "d"), filepath.Join(a, "across")))
		must(t, os.Symlink("f", filepath.Join(a, "l")))
		fsys, err := local.Host([]string{a, b}, with(&local.Options{}))
		must(t, err)
		defer fsys.Close()
		both := &world{root: a, outside: b}
		before := both.snapshot(t)
		for _, from := range []string{"f", "d", "l"} {
			for _, to := range []string{b + "/new", b + "/n/m/new", b + "/f", "across/new"} {
				for _, o := range []*ambit.RenameOptions{{Parents: true}, {Parents: true, Replace: true}} {
					err := second(fsys.Rename(ctx, from, to, o))
					want := ambit.ErrCrossDevice
					if strings.HasSuffix(to, "/f") && (!o.Replace || from == "d") {
						want = ambit.ErrExists
					}
					if r := ambit.ReasonOf(err); r != want {
						t.Errorf("rename %q to %q with %+v: %v, want %s", from, to, *o, err, want)
					}
					if diff := difference(before, both.snapshot(t)); diff != nil {
						t.Fatalf("rename %q to %q changed %q", from, to, diff)
					}
				}
			}
		}
		if text, info := read(t, fsys, "across/x"); text != "X" || info.Path != filepath.Join(b, "d/x") {
			t.Errorf("read %q at %s", text, info.Path)
		}
		write(t, fsys, "across/x", "N", nil)
		results, err := ambit.Commit(ctx, fsys, []ambit.Change{
			{Op: ambit.OpWrite, Path: "f", Content: readerOf("1")}, {Op: ambit.OpWrite, Path: b + "/f", Content: readerOf("2")},
		})
		if err != nil || bytesOf(t, a+"/f") != "1" || bytesOf(t, b+"/f") != "2" {
			t.Errorf("a commit over two disks: %+v, %v", results, err)
		}
		// Equal numbers of two disks are two files.
		ids := map[string]string{}
		for e, err := range ambit.Walk(ctx, fsys, "/") {
			must(t, err)
			if e.Info.Kind != ambit.KindRegular {
				continue
			}
			info, err := fsys.Stat(ctx, e.Info.Path)
			must(t, err)
			if other, ok := ids[info.ID]; ok {
				t.Errorf("%s and %s have one ID", other, info.Path)
			}
			ids[info.ID] = info.Path
		}
		leftovers(t, a)
		leftovers(t, b)
	})
}

// One of several roots, or a part of one, is read-only.
func TestHostReadOnly(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+"one/to-two -> $BASE/way/to/two\none/to-g -> ../way/to/two/g\n")
		fsys := h.serve(t, with(&local.Options{ReadOnly: []string{h.host("way/to/two"), h.host("one/d")}}), "one", "way/to/two")
		if c := fsys.Capabilities(); !c.Write || !c.Remove {
			t.Errorf("claims %+v", c)
		}
		before := h.snapshot(t)
		for _, a := range acts("source") {
			if !a.changes {
				continue
			}
			paths := []string{h.host("way/to/two/g"), h.host("way/to/two/new"), h.host("way/to/two/n/m"), "to-two/g", "to-two/new", "d/x", "d/new", "d", "d/deep/"}
			if a.follows {
				paths = append(paths, "to-g")
			}
			for _, path := range paths {
				err := a.do(fsys, path)
				if ambit.ReasonOf(err) != ambit.ErrReadOnly {
					t.Errorf("%s %q: %v", a.name, path, err)
				}
				h.unchanged(t, before, a.name+" "+path)
			}
		}
		for _, c := range [][2]string{{"f", h.host("way/to/two/f")}, {h.host("way/to/two/g"), "g"}, {"d/x", "x"}, {"f", "d/f"}} {
			if err := second(fsys.Rename(ctx, c[0], c[1], nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
				t.Errorf("rename %q to %q: %v", c[0], c[1], err)
			}
		}
		h.unchanged(t, before, "a refused rename")
		write(t, fsys, "f", "N", nil)
		all := h.serve(t, with(&local.Options{ReadOnly: []string{h.host("way/to/two"), h.host("one")}}), "one", "way/to/two")
		if c := all.Capabilities(); c.Write || c.Swap != ambit.SwapNone || c != c.ReadOnly() {
			t.Errorf("all roots read-only: claims %+v", c)
		}
		if err := second(all.Write(ctx, "f", readerOf("M"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("write: %v", err)
		}
	})
}

// A root that is moved away or replaced by a stranger stays the folder that
// was opened, and its name in the folder above stays.
func TestHostRootIsMoved(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots)
		fsys := h.serve(t, with(&local.Options{}), "one", "way/to/two")
		must(t, os.Rename(h.host("one"), h.host("moved")))
		must(t, os.Symlink("unlisted", h.host("one")))
		if text, _ := read(t, fsys, h.host("one/f")); text != "ONE" {
			t.Errorf("read %q", text)
		}
		if err := second(fsys.Open(ctx, h.host("one/u"))); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("what was put in its place: %v", err)
		}
		if got := names(t, fsys, h.base); !slices.Equal(got, []string{"one", "way"}) {
			t.Errorf("listed %q", got)
		}
	})
}

// The way to the roots is known from their names: nothing is looked at there.
func TestHostLooksAtNothingAbove(t *testing.T) {
	h := newHousehold(t, twoRoots)
	fsys := h.serve(t, nil, "one", "way/to/two")
	must(t, os.Rename(h.base, h.base+"-gone"))
	if got := names(t, fsys, h.base); !slices.Equal(got, []string{"one", "way"}) {
		t.Errorf("listed %q", got)
	}
	if info, err := fsys.Stat(ctx, h.host("way/to")); err != nil || !info.IsDir() {
		t.Errorf("%+v, %v", info, err)
	}
	if text, _ := read(t, fsys, "f"); text != "ONE" {
		t.Errorf("read %q", text)
	}
}
