// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

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
	"sync"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// searches are the acts of a Searcher at a base.
func searches() []act {
	return []act{
		{name: "glob", op: ambit.OpGlob, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			return second(fsys.(ambit.Searcher).Glob(ctx, ambit.GlobQuery{Pattern: "**", Base: path, All: true, NoIgnore: true}, func(ambit.GlobMatch) bool { return true }))
		}},
		{name: "grep", op: ambit.OpGrep, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			return second(fsys.(ambit.Searcher).Grep(ctx, ambit.GrepQuery{Base: path, All: true, NoIgnore: true}, func(ambit.GrepMatch) bool { return true }))
		}},
	}
}

// found is all that searches tell of what is beneath base, a line for each
// fact.
func found(fsys ambit.FileSystem, base string) string {
	s := fsys.(ambit.Searcher)
	var b strings.Builder
	glob := func(q ambit.GlobQuery) {
		q.Base = base
		sum, err := s.Glob(ctx, q, func(m ambit.GlobMatch) bool {
			fmt.Fprintf(&b, "%q %v %d\n", m.Info.Path, m.Info.Kind, m.Info.Size)
			return true
		})
		fmt.Fprintf(&b, "glob %+v %s %v\n", sum, sketch(err), err)
	}
	grep := func(q ambit.GrepQuery) {
		q.Base = base
		sum, err := s.Grep(ctx, q, func(m ambit.GrepMatch) bool {
			fmt.Fprintf(&b, "%q:%d: %q %d\n", m.Path, m.Line, m.Text, m.Count)
			return true
		})
		fmt.Fprintf(&b, "grep %+v %s %v\n", sum, sketch(err), err)
	}
	glob(ambit.GlobQuery{Pattern: "**", All: true, NoIgnore: true, Details: true})
	glob(ambit.GlobQuery{Pattern: "**"})
	glob(ambit.GlobQuery{Pattern: "*", All: true})
	glob(ambit.GlobQuery{Pattern: "**/{secret,.env,key,alias,*.log}{,/**}", Details: true})
	grep(ambit.GrepQuery{All: true, NoIgnore: true})
	grep(ambit.GrepQuery{Mode: ambit.GrepCount})
	grep(ambit.GrepQuery{Pattern: "KEY|LEAF|ENV|FUTURE", Mode: ambit.GrepFiles, All: true})
	return b.String()
}

// sameFound fails where searches tell more, or less, of one file system than of
// another.
func sameFound(t *testing.T, what string, got, want ambit.FileSystem, bases ...string) {
	t.Helper()
	for _, base := range bases {
		a, b := found(got, base), found(want, base)
		if diff := difference(strings.Split(b, "\n"), strings.Split(a, "\n")); diff != nil {
			t.Errorf("%s: in %q searches differ:\n%s", what, base, strings.Join(diff, "\n"))
		}
	}
}

func TestSearchDenied(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		o := with(&local.Options{Deny: denied})
		w := newWorldIn(t, fastDir(t), deniable)
		fsys := serve(t, w.root, o)
		for _, a := range searches() {
			for _, path := range append(slices.Clone(deniedPaths), deniedLinks...) {
				err := a.do(fsys, path)
				if sketch(err) != "denied deny" {
					t.Errorf("%s in %q: %v, want denied by the rule deny", a.name, path, err)
				}
				w.clean(t, err, a.op, path)
			}
		}
		if text := found(w.fsys, "/"); strings.Count(text, "KEY")+strings.Count(text, "ENV")+strings.Count(text, "LEAF") < 3 || !strings.Contains(text, "secret/deep") {
			t.Errorf("without the option there is\n%s", text)
		}
		// From above all is as if what is denied were not there.
		w.add(t, "future = FUTURE")
		w.add(t, "no/where/yet/")
		w.add(t, "no/where/yet/y = FUTURE")
		without := newWorldIn(t, fastDir(t), deniable+"no/where/\n")
		must(t, os.RemoveAll(without.host("secret")))
		must(t, os.Remove(without.host("box/.env")))
		nothing := serve(t, without.root, o)
		sameFound(t, "denied", fsys, nothing, "/", "box", "lbox", "secrets-public", "no", "no/where", "top")
		sameFound(t, "denied, guarded", fsys.Guard(allow), nothing, "/", "box")
		sub, err := fsys.Sub(ctx, "box")
		must(t, err)
		defer sub.(io.Closer).Close()
		if text := found(sub, "/"); strings.Contains(strings.ToLower(text), "env") || !strings.Contains(text, "other") {
			t.Errorf("in a Sub there is\n%s", text)
		}
	})
}

func allow(context.Context, ambit.Op, string) error { return nil }

func TestSearchDeniedByIdentity(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for name, alias := range map[string]func(t *testing.T, w *world){
			"a hard link": func(t *testing.T, w *world) {
				must(t, os.Link(w.host("box/.env"), w.host("alias")))
				must(t, os.Link(w.host("box/.env"), w.host("plain/alias")))
				must(t, os.Link(w.host("box/.env"), w.host("plain/.gitignore")))
			},
			"moved": func(t *testing.T, w *world) {
				must(t, os.Rename(w.host("secret"), w.host("plain/alias")))
				must(t, os.Rename(w.host("box/.env"), w.host("alias")))
				must(t, os.Mkdir(w.host("secret"), 0o777))
				must(t, os.WriteFile(w.host("secret/key"), []byte("KEY"), 0o666))
			},
			"what it lies in moved": func(t *testing.T, w *world) {
				must(t, os.Rename(w.host("secret"), w.host("box/alias")))
				must(t, os.Rename(w.host("box"), w.host("plain/box")))
				must(t, os.Rename(w.host("plain/box"), w.host("box")))
			},
			"a bind mount": func(t *testing.T, w *world) {
				must(t, os.Mkdir(w.host("alias"), 0o777))
				mountWith(t, w.host("secret"), w.host("alias"), "", syscall.MS_BIND, "")
				must(t, os.WriteFile(w.host("plain/alias"), nil, 0o666))
				mountWith(t, w.host("box/.env"), w.host("plain/alias"), "", syscall.MS_BIND, "")
			},
			"another disk": func(t *testing.T, w *world) {
				must(t, os.Mkdir(w.host("plain/alias"), 0o777))
				mountWith(t, "tmpfs", w.host("plain/alias"), "tmpfs", 0, "")
				must(t, os.WriteFile(w.host("plain/alias/key"), []byte("KEY"), 0o666))
			},
		} {
			t.Run(name, func(t *testing.T) {
				const more = "plain/\nplain/f = F\nplain/x.log = L\n"
				w := newWorldIn(t, fastDir(t), deniable+more)
				o := with(&local.Options{Deny: denied})
				fsys := serve(t, w.root, o)
				alias(t, w)
				without := newWorldIn(t, fastDir(t), deniable+more)
				must(t, os.RemoveAll(without.host("secret")))
				must(t, os.Remove(without.host("box/.env")))
				sameFound(t, name, fsys, serve(t, without.root, o), "/", "plain", "box")
				for _, path := range []string{"alias", "plain/alias"} {
					if _, err := os.Stat(w.host(path)); err != nil {
						continue
					}
					for _, a := range searches() {
						if err := a.do(fsys, path); ambit.ReasonOf(err) != ambit.ErrDenied {
							t.Errorf("%s in %q: %v", a.name, path, err)
						}
					}
				}
			})
		}
	})
}

// Ignore files and repositories that are denied have no effect, and nothing
// tells of them.
func TestSearchDeniedIgnoreFiles(t *testing.T) {
	const tree = `
		a/
		a/x.log = L
		a/y = Y
		a/sub/
		a/sub/x.log = L
		a/sub/z.tmp = T
		a/sub/.gitignore = !y
		.gitignore = *.log
	`
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		deny := []string{"a/.gitignore", "a/.git", "a/sub/.git"}
		o := with(&local.Options{Deny: deny})
		w := newWorldIn(t, fastDir(t), tree+`
			a/.gitignore = y
			a/.git/
			a/.git/info/
			a/.git/info/exclude = *.tmp
			a/sub/.git = gitdir: elsewhere
		`)
		without := serve(t, newWorldIn(t, fastDir(t), tree).root, o)
		bases := []string{"/", "a", "a/sub", "a/sub/z.tmp"}
		sameFound(t, "denied", serve(t, w.root, o), without, bases...)
		refuse := func(_ context.Context, _ ambit.Op, path string) error {
			for _, dir := range deny {
				if ambit.Contains("/"+dir, path) {
					return errors.New("no")
				}
			}
			return nil
		}
		sameFound(t, "guarded", serve(t, w.root, with(nil)).Guard(refuse), without, bases...)
		if text := found(w.fsys, "/"); strings.Contains(text, "grep {Truncated:false Searched:7") {
			t.Errorf("nothing is ignored:\n%s", text)
		}
		for _, base := range bases[:3] {
			if found(w.fsys, base) == found(without, base) {
				t.Errorf("in %q what is denied has no effect anyway", base)
			}
		}
	})
}

func TestSearchGuard(t *testing.T) {
	const tree = `
		d/
		d/a = A
		d/b = B
		d/e/
		d/e/f = F
		g/
		g/h = H
		top = T
		link -> d
	`
	type question struct {
		op   ambit.Op
		path string
	}
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), tree)
		fsys := serve(t, w.root, with(nil))
		var mu sync.Mutex
		var asked []question
		refused := map[question]bool{}
		guarded := fsys.Guard(func(_ context.Context, op ambit.Op, path string) error {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, question{op, path})
			if refused[question{op, path}] {
				return errors.New("no")
			}
			return nil
		})
		must(t, searches()[0].do(guarded, "link"))
		want := []question{{ambit.OpStat, "/d"}, {ambit.OpList, "/d"}, {ambit.OpStat, "/d/a"}, {ambit.OpStat, "/d/b"}, {ambit.OpStat, "/d/e"}, {ambit.OpList, "/d/e"}, {ambit.OpStat, "/d/e/f"}}
		if !slices.Equal(asked, want) {
			t.Errorf("a glob asks %v, want %v", asked, want)
		}
		asked = nil
		must(t, searches()[1].do(guarded, "link"))
		for _, path := range []string{"/d/a", "/d/b", "/d/e/f"} {
			want = append(want, question{ambit.OpOpen, path})
		}
		for _, q := range want {
			if !slices.Contains(asked, q) {
				t.Errorf("a grep does not ask %v", q)
			}
		}
		if len(asked) != len(want) {
			t.Errorf("a grep asks %v, want %v", asked, want)
		}

		remove := func(names ...string) *world {
			w := newWorldIn(t, fastDir(t), tree)
			for _, name := range names {
				must(t, os.RemoveAll(w.host(name)))
			}
			w.fsys = serve(t, w.root, with(nil))
			return w
		}
		for _, path := range []string{"d", "d/a", "d/e", "d/e/f", "top", "link"} {
			refused = map[question]bool{{ambit.OpStat, "/" + path}: true}
			sameFound(t, "stat of "+path, guarded, remove(path).fsys, "/", "g")
		}
		grep := func(fsys ambit.FileSystem, base string) string {
			var b strings.Builder
			sum, err := fsys.(ambit.Searcher).Grep(ctx, ambit.GrepQuery{Base: base}, func(m ambit.GrepMatch) bool {
				fmt.Fprintln(&b, m)
				return true
			})
			fmt.Fprintln(&b, sum, err)
			return b.String()
		}
		for q, gone := range map[question]string{
			{ambit.OpOpen, "/d/a"}: "d/a", {ambit.OpOpen, "/d/e/f"}: "d/e/f", {ambit.OpList, "/d/e"}: "d/e", {ambit.OpList, "/d"}: "d",
		} {
			refused = map[question]bool{q: true}
			if got, want := grep(guarded, "/"), grep(remove(gone).fsys, "/"); got != want {
				t.Errorf("with %v refused a grep finds\n%s, want\n%s", q, got, want)
			}
		}
		for _, q := range []question{{ambit.OpStat, "/d"}, {ambit.OpList, "/d"}} {
			refused = map[question]bool{q: true}
			for _, a := range searches() {
				if err := a.do(guarded, "link"); ambit.ReasonOf(err) != ambit.ErrDenied {
					t.Errorf("with %v refused %s: %v", q, a.name, err)
				}
			}
		}
		// A file that is named needs no right to list what it lies in.
		refused = map[question]bool{{ambit.OpList, "/d"}: true}
		if got, want := grep(guarded, "d/a"), grep(fsys, "d/a"); got != want || !strings.Contains(got, "A") {
			t.Errorf("in a file there is\n%s, want\n%s", got, want)
		}
		refused = map[question]bool{{ambit.OpOpen, "/d/a"}: true}
		if err := searches()[1].do(guarded, "d/a"); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("grep in a file that may not be opened: %v", err)
		}
	})
}

// Links are names, and nobody goes through one; what is no file is not opened.
func TestSearchLinksAndSpecialFiles(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), `
			a/
			a/f = F
			a/loop -> ..
			self -> self
			out -> $OUT
			out-file -> $OUT/secret-name
			up -> ../$OUTBASE
			dangling -> nothing
			inside -> a
			file -> a/f
			fifo |
			socket !
		`)
		must(t, syscall.Mknod(w.host("null"), syscall.S_IFCHR|0o666, 1<<8|3))
		fsys := serve(t, w.root, with(nil))
		var got []string
		sum, err := fsys.Glob(ctx, ambit.GlobQuery{Pattern: "**"}, func(m ambit.GlobMatch) bool {
			got = append(got, m.Info.Path+" "+m.Info.Kind.String())
			return true
		})
		must(t, err)
		want := []string{
			"/a directory", "/a/f file", "/a/loop symlink", "/dangling symlink", "/fifo fifo", "/file symlink", "/inside symlink", "/null device",
			"/out symlink", "/out-file symlink", "/self symlink", "/socket socket", "/up symlink",
		}
		if !slices.Equal(got, want) || sum.Skipped != nil || sum.Matched != len(want) {
			t.Errorf("found %q, want %q; %+v", got, want, sum)
		}
		got = nil
		sum, err = fsys.Grep(ctx, ambit.GrepQuery{}, func(m ambit.GrepMatch) bool {
			got = append(got, m.Path+" "+m.Text)
			return true
		})
		if err != nil || !slices.Equal(got, []string{"/a/f F"}) || sum.Searched != 1 || sum.Skipped != nil {
			t.Errorf("found %q, %+v, %v", got, sum, err)
		}
		for base, want := range map[string]ambit.Reason{
			"out": ambit.ErrOutside, "out-file": ambit.ErrOutside, "up/secret-name": ambit.ErrOutside, "self": ambit.ErrLoop, "dangling": ambit.ErrNotFound,
			"fifo": ambit.ErrNotAFile, "socket": ambit.ErrNotAFile, "null": ambit.ErrNotAFile, "a/f/": ambit.ErrNotADirectory,
		} {
			for _, a := range searches() {
				err := a.do(fsys, base)
				if ambit.ReasonOf(err) != want {
					t.Errorf("%s in %q: %v, want %s", a.name, base, err, want)
				}
				w.clean(t, err, a.op, base)
			}
		}
		sameFound(t, "through a link", searchOnly{fsys, "a/loop/inside"}, searchOnly{fsys, "a"}, "")
	})
}

// searchOnly searches at one base.
type searchOnly struct {
	*local.FileSystem
	base string
}

func (s searchOnly) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	q.Base = s.base
	return s.FileSystem.Glob(ctx, q, yield)
}

func (s searchOnly) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	q.Base = s.base
	return s.FileSystem.Grep(ctx, q, yield)
}

func TestSearchSeveralRoots(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		base := fastDir(t)
		put := func(name, text string) {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o777))
			must(t, os.WriteFile(filepath.Join(base, name), []byte(text), 0o666))
		}
		put("way/one/f", "ONE")
		put("way/one/in/ner/f", "NESTED")
		put("way/one/in/ner/secret/f", "SECRET-BYTES")
		put("two/f", "TWO")
		put("way/beside", "SECRET-BYTES")
		put("beside", "SECRET-BYTES")
		in := func(name string) string { return filepath.Join(base, name) }
		fsys, err := local.Host([]string{in("way/one"), in("two"), in("way/one/in/ner")}, with(&local.Options{Deny: []string{in("way/one/in/ner/secret")}}))
		must(t, err)
		defer fsys.Close()
		lines := func(base string) []string {
			var got []string
			_, err := fsys.Grep(ctx, ambit.GrepQuery{Base: base}, func(m ambit.GrepMatch) bool {
				got = append(got, m.Path+" "+m.Text)
				return true
			})
			must(t, err)
			return got
		}
		one, nested, two := in("way/one/f")+" ONE", in("way/one/in/ner/f")+" NESTED", in("two/f")+" TWO"
		for base, want := range map[string][]string{
			"": {one, nested}, in("way/one"): {one, nested}, in("two"): {two}, in("way/one/in"): {nested}, in("way/one/in/ner"): {nested},
			in("way"): {one, nested}, "/": {two, one, nested}, base: {two, one, nested}, in("two/f"): {two},
		} {
			if got := lines(base); !slices.Equal(got, want) {
				t.Errorf("in %q there is %q, want %q", base, got, want)
			}
		}
		if text := found(fsys, "/"); strings.Contains(text, "beside") || strings.Contains(text, "secret") || strings.Contains(text, "SECRET") {
			t.Errorf("from above there is\n%s", text)
		}
		must(t, os.WriteFile(in(".gitignore"), []byte("f\n"), 0o666))
		if got := lines(in("two")); !slices.Equal(got, []string{two}) {
			t.Errorf("an ignore file above the roots leaves %q", got)
		}
		// A root is where it was, also when it was moved on the host.
		must(t, os.Rename(in("two"), in("gone")))
		must(t, os.Rename(in("way/one/in/ner"), in("way/one/moved")))
		if got, want := lines("/"), []string{two, one, nested, in("way/one/moved/f") + " NESTED"}; !slices.Equal(got, want) {
			t.Errorf("after a move there is %q, want %q", got, want)
		}
		if text := found(fsys, "/"); strings.Contains(text, "secret") || strings.Contains(text, "SECRET") || strings.Contains(text, "gone") {
			t.Errorf("after a move there is\n%s", text)
		}
	})
}

func TestSearchSubAndCwd(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), `
			.gitignore = *.log
			a/
			a/x.log = X
			a/.gitignore = *.tmp
			a/b/
			a/b/y.log = Y
			a/b/z.tmp = Z
		`)
		fsys := serve(t, w.root, with(&local.Options{Cwd: "/a"}))
		names := func(fsys ambit.FileSystem, base string) []string {
			var got []string
			_, err := fsys.(ambit.Searcher).Glob(ctx, ambit.GlobQuery{Pattern: "**/*.*", Base: base}, func(m ambit.GlobMatch) bool {
				got = append(got, m.Info.Path)
				return true
			})
			must(t, err)
			return got
		}
		if got := names(fsys, ""); got != nil {
			t.Errorf("in the working directory there is %q", got)
		}
		must(t, os.Remove(w.host("a/.gitignore")))
		if got := names(fsys, ""); !slices.Equal(got, []string{"/a/b/z.tmp"}) {
			t.Errorf("in the working directory there is %q", got)
		}
		for _, dir := range []string{"/a", "b"} {
			sub, err := fsys.Sub(ctx, dir)
			must(t, err)
			want := []string{"/y.log", "/z.tmp"}
			if dir == "/a" {
				want = []string{"/b/y.log", "/b/z.tmp", "/x.log"}
			}
			if got := names(sub, ""); !slices.Equal(got, want) {
				t.Errorf("in the Sub of %q there is %q, want %q", dir, got, want)
			}
			must(t, sub.(io.Closer).Close())
		}
	})
}
