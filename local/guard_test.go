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
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A rule is what a test gives to Guard: it keeps what it was asked, and
// refuses what refuse names.
type rule struct {
	mu     sync.Mutex
	all    []string
	refuse func(op ambit.Op, path string) error
	before func(op ambit.Op, path string) // called first
}

func (r *rule) ask(_ context.Context, op ambit.Op, path string) error {
	if r.before != nil {
		r.before(op, path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, string(op)+" "+path)
	if r.refuse == nil {
		return nil
	}
	return r.refuse(op, path)
}

// take returns the questions since the last time, each once, sorted.
func (r *rule) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.all)
	all := strings.Join(slices.Compact(r.all), ", ")
	r.all = nil
	return all
}

// guarded is what a guarded file system has beside the contract.
type guarded interface {
	ambit.WritableFileSystem
	ambit.Linker
}

func (r *rule) on(t testing.TB, fsys ambit.FileSystem) guarded {
	t.Helper()
	g, ok := fsys.(ambit.Guarder)
	if !ok || !fsys.Capabilities().Guard {
		t.Fatalf("%T has no Guard, or does not claim it", fsys)
	}
	under, ok := g.Guard(r.ask).(guarded)
	if !ok {
		t.Fatal("a guarded file system lacks methods")
	}
	if a, b := under.Capabilities(), fsys.Capabilities(); a != b {
		t.Errorf("guarded it claims %+v, unguarded %+v", a, b)
	}
	return under
}

const guardable = `
	source = S
	f = F
	single = 1
	d/
	d/x = X
	d/e/
	d/e/y = Y
	d/up -> ..
	empty/
	lf -> f
	ld -> d
	lx -> ld/x
	labs -> $ROOT/d/x
	dangling -> d/none
	out -> $OUT/secret-name
	loop -> loop
`

// Section 10 of the contract, row by row: what is asked, on the resolved path.
func TestGuardIsAsked(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), guardable)
		must(t, os.WriteFile(w.host(leftover), []byte("L"), 0o666))
		r := &rule{}
		fsys := r.on(t, serve(t, w.root, with(&local.Options{Durability: local.NotDurable})))
		all := acts("source")
		do := func(name, path string) func() error {
			i := slices.IndexFunc(all, func(a act) bool { return a.name == name })
			return func() error { return all[i].do(fsys, path) }
		}
		list := func(path string, o *ambit.ListOptions) func() error {
			return func() error { return second(fsys.List(ctx, path, o)) }
		}
		parents := &ambit.WriteOptions{Parents: true}
		rename := func(from, to string, o *ambit.RenameOptions) func() error {
			return func() error { return second(ambit.Rename(ctx, fsys, from, to, o)) }
		}
		const rest = "stat /d, stat /dangling, stat /empty, stat /f, stat /labs, stat /ld, stat /lf, stat /loop, stat /lx, stat /out, stat /single, stat /source"
		for _, c := range []struct {
			what string
			do   func() error
			want string
			err  ambit.Reason
		}{
			{"open", do("open", "d/../f"), "open /f", ""},
			{"open a link", do("open", "lf"), "open /f", ""},
			{"open a chain", do("open", "lx"), "open /d/x", ""},
			{"open an absolute link", do("open", "labs"), "open /d/x", ""},
			{"open through a link", do("open", "ld/up/ld/x"), "open /d/x", ""},
			{"open what is missing", do("open", "ld/none"), "open /d/none", ambit.ErrNotFound},
			{"open what is missing far away", do("open", "ld/no/where"), "open /d/no/where", ambit.ErrNotFound},
			{"open a dangling link", do("open", "dangling"), "open /d/none", ambit.ErrNotFound},
			{"open a folder", do("open", "ld"), "open /d", ambit.ErrNotAFile},
			{"stat", do("stat", "ld/"), "stat /d", ""},
			{"stat the root", do("stat", "d/up"), "stat /", ""},
			{"lstat", do("lstat", "ld/x"), "lstat /d/x", ""},
			{"lstat a link", do("lstat", "ld"), "lstat /ld", ""},
			{"lstat a link with a slash", do("lstat", "ld/"), "lstat /d", ""},
			{"lstat a link that leads out", do("lstat", "out"), "lstat /out", ""},
			{"readlink", do("readlink", "ld/up"), "readlink /d/up", ""},
			{"readlink of a loop", do("readlink", "loop"), "readlink /loop", ""},
			{"readlink of a file", do("readlink", "lf/../f"), "readlink /f", ambit.ErrInvalid},
			{"list", list("ld", nil), "list /d, stat /d/e, stat /d/up, stat /d/x", ""},
			{"list the root", list("/", &ambit.ListOptions{Details: true}), "list /, " + rest, ""},
			{"sub", do("sub", "ld/e"), "sub /d/e", ""},
			{"write", do("write", "f"), "write /f", ""},
			{"write a link", do("write", "lx"), "write /d/x", ""},
			{"write a new file", do("write", "ld/new"), "write /d/new", ""},
			{"write with parents that are there", func() error { return second(fsys.Write(ctx, "ld/e/n", readerOf("N"), parents)) }, "write /d/e/n", ""},
			{"write with parents", func() error { return second(fsys.Write(ctx, "ld/p/q/n", readerOf("N"), parents)) }, "mkdir /d/p, mkdir /d/p/q, write /d/p/q/n", ""},
			{"append", do("append", "lf"), "append /f", ""},
			{"append to a new file", do("append", "appended"), "append /appended", ""},
			{"stage", do("stage", "lf"), "write /f", ""},
			{"stage with parents", func() error {
				s, err := ambit.Stage(ctx, fsys, "s/t", readerOf("N"), parents)
				if err == nil {
					err = s.Discard(ctx)
				}
				return err
			}, "mkdir /s, write /s/t", ""},
			{"commit", func() error {
				return second(ambit.Commit(ctx, fsys, []ambit.Change{
					{Op: ambit.OpWrite, Path: "c/new", Content: readerOf("N"), Parents: true},
					{Op: ambit.OpWrite, Path: "lf", Content: readerOf("N")},
					{Op: ambit.OpRemove, Path: "single"},
				}))
			}, "mkdir /c, remove /single, write /c/new, write /f", ""},
			{"mkdir", do("mkdir", "ld/made"), "mkdir /d/made", ""},
			{"mkdir with parents", do("mkdir with parents", "ld/m/n"), "mkdir /d/m, mkdir /d/m/n", ""},
			{"mkdir of what is there", do("mkdir", "d"), "mkdir /d", ambit.ErrExists},
			{"mkdir with parents of what is there", do("mkdir with parents", "d/m/n"), "mkdir /d/m/n", ""},
			{"mkdir of a link", do("mkdir", "lf"), "mkdir /lf", ambit.ErrExists},
			{"rename a file", rename("appended", "ld/appended", nil), "rename /appended, rename /d/appended", ""},
			{"rename a link", rename("lf", "lmoved", nil), "rename /lf, rename /lmoved", ""},
			{"rename over a link", rename("lmoved", "labs", &ambit.RenameOptions{Replace: true}), "rename /labs, rename /lmoved", ""},
			{"rename a folder with parents", rename("ld/p", "r/s", &ambit.RenameOptions{Parents: true}), "mkdir /r, rename /d/p, rename /d/p/q, rename /d/p/q/n, rename /r/s", ""},
			{"rename what is missing", rename("none", "other", nil), "rename /none", ambit.ErrNotFound},
			{"remove a link", do("remove", "out"), "remove /out", ""},
			{"remove a link to a folder", do("remove all", "ld"), "remove /ld", ""},
			{"remove what is missing", do("remove if there", "none"), "remove /none", ""},
			{"remove a file", do("remove", "d/x"), "remove /d/x", ""},
			{"remove a folder", do("remove all", "r"), "remove /r, remove /r/s, remove /r/s/q, remove /r/s/q/n", ""},
			{"remove an empty folder", do("remove all", "empty"), "remove /empty", ""},
			{"outside by text", do("open", ".."), "", ambit.ErrOutside},
			{"outside by more steps than there are", do("open", "d/../../x"), "", ambit.ErrOutside},
		} {
			r.take()
			err := c.do()
			if ambit.ReasonOf(err) != c.err {
				t.Errorf("%s: %v, want %q", c.what, err, c.err)
			}
			got := r.take()
			if c.what == "rename what is missing" {
				// Whether to is asked about as well is nobody's business.
				got, _, _ = strings.Cut(got, ", ")
			}
			if got != c.want {
				t.Errorf("%s: asked %s, want %s", c.what, got, c.want)
			}
			if strings.Contains(got, w.root) || strings.Contains(got, "beside") || strings.Contains(got, ".ambit.") {
				t.Errorf("%s: the question shows the host, or a hidden name: %s", c.what, got)
			}
		}
	})
}

// A refusal is the same whether or not anything is there, and nothing is done;
// links to what is refused are themselves free.
func TestGuardRefuses(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		world := func() (*world, guarded, []string) {
			w := newWorldIn(t, fastDir(t), guardable+`
				ldx -> d/x
				ldn -> d/n
				lex -> ld/e/y
			`)
			r := &rule{refuse: func(_ ambit.Op, path string) error {
				if ambit.Contains("/d", path) || path == "/later" {
					return &ambit.Error{Reason: ambit.ErrDenied, Rule: "of the test", Detail: "not for you"}
				}
				return nil
			}}
			return w, r.on(t, serve(t, w.root, with(&local.Options{}))), w.snapshot(t)
		}
		w, fsys, before := world()
		for _, a := range acts("source") {
			paths := []string{"d", "d/", "d/x", "d/none", "d/no/where", "d/e", "d/e/y", "d/x/x", "later", "later/", "ld/x", "ld/none", "ld/e/y", "./d/../d/x"}
			if a.name != "mkdir" && a.name != "mkdir with parents" && a.name != "create" && !strings.HasPrefix(a.name, "rename") && !strings.HasPrefix(a.name, "remove") && a.name != "commit of a removal" {
				paths = append(paths, "ld/")
			}
			if a.follows {
				paths = append(paths, "ld", "lx", "labs", "ldx", "ldn", "lex", "dangling")
			}
			for _, path := range paths {
				err := a.do(fsys, path)
				var e *ambit.Error
				if !errors.As(err, &e) || e.Reason != ambit.ErrDenied || e.Rule != "of the test" || e.Detail != "not for you" {
					t.Errorf("%s %q: %v, want the rule's refusal", a.name, path, err)
				}
				w.clean(t, err, a.op, path)
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("%s %q changed %q", a.name, path, diff)
					w, fsys, before = world()
				}
			}
		}
		if got := fmt.Sprint(names(t, fsys, "/")); got != "[dangling empty f labs ld ldn ldx lex lf loop lx out single source]" {
			t.Errorf("listed %s", got)
		}
		for _, link := range []string{"ld", "lx", "labs", "dangling"} {
			if info, err := fsys.Lstat(ctx, link); err != nil || info.Kind != ambit.KindSymlink {
				t.Errorf("Lstat %q: %+v, %v", link, info, err)
			}
			if err := second(ambit.Rename(ctx, fsys, link, link+"2", nil)); err != nil {
				t.Errorf("rename %q: %v", link, err)
			}
			if err := fsys.Remove(ctx, link+"2", &ambit.RemoveOptions{Recursive: true}); err != nil {
				t.Errorf("remove %q: %v", link, err)
			}
		}
	})
}

// One refusal beneath a folder keeps all of it, one of the parents keeps the
// others from being made, one of a commit all of it.
func TestGuardRefusesAPart(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), guardable)
		base := serve(t, w.root, with(&local.Options{}))
		before := w.snapshot(t)
		for what, c := range map[string]struct {
			refuse string
			do     func(fsys guarded) error
		}{
			"remove":               {"remove /d/e/y", func(fsys guarded) error { return fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}) }},
			"remove, a link in it": {"remove /d/up", func(fsys guarded) error { return fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}) }},
			"plain removal":        {"remove /d/e/y", func(fsys guarded) error { return fsys.Remove(ctx, "d", nil) }},
			"rename":               {"rename /d/e/y", func(fsys guarded) error { return second(ambit.Rename(ctx, fsys, "d", "n", nil)) }},
			"rename to":            {"rename /n", func(fsys guarded) error { return second(ambit.Rename(ctx, fsys, "f", "n", nil)) }},
			"rename from":          {"rename /f", func(fsys guarded) error { return second(ambit.Rename(ctx, fsys, "f", "n", nil)) }},
			"a parent of rename": {"mkdir /n/m", func(fsys guarded) error {
				return second(ambit.Rename(ctx, fsys, "f", "n/m/f", &ambit.RenameOptions{Parents: true}))
			}},
			"a parent of write": {"mkdir /n/m", func(fsys guarded) error {
				return second(fsys.Write(ctx, "n/m/f", readerOf("N"), &ambit.WriteOptions{Parents: true}))
			}},
			"the file of write": {"write /n/m/f", func(fsys guarded) error {
				return second(fsys.Write(ctx, "n/m/f", readerOf("N"), &ambit.WriteOptions{Parents: true}))
			}},
			"a parent of append": {"mkdir /n", func(fsys guarded) error {
				return second(ambit.Append(ctx, fsys, "n/f", readerOf("N"), &ambit.AppendOptions{Parents: true}))
			}},
			"a parent of stage": {"mkdir /n", func(fsys guarded) error {
				return second(ambit.Stage(ctx, fsys, "n/f", readerOf("N"), &ambit.WriteOptions{Parents: true}))
			}},
			"a parent of mkdir": {"mkdir /n/m", func(fsys guarded) error {
				return second(ambit.Mkdir(ctx, fsys, "n/m/o", &ambit.MkdirOptions{Parents: true}))
			}},
			"mkdir of what is there": {"mkdir /d", func(fsys guarded) error {
				return second(ambit.Mkdir(ctx, fsys, "d", &ambit.MkdirOptions{Parents: true}))
			}},
			"the last of commit": {"remove /f", func(fsys guarded) error {
				return second(ambit.Commit(ctx, fsys, []ambit.Change{
					{Op: ambit.OpWrite, Path: "n/m", Content: readerOf("N"), Parents: true}, {Op: ambit.OpWrite, Path: "d/x", Content: readerOf("N")}, {Op: ambit.OpRemove, Path: "f"},
				}))
			}},
			"a parent of commit": {"mkdir /n", func(fsys guarded) error {
				return second(ambit.Commit(ctx, fsys, []ambit.Change{
					{Op: ambit.OpRemove, Path: "f"}, {Op: ambit.OpWrite, Path: "n/m", Content: readerOf("N"), Parents: true},
				}))
			}},
		} {
			r := &rule{refuse: func(op ambit.Op, path string) error {
				if string(op)+" "+path == c.refuse {
					return ambit.ErrNotObserved
				}
				return nil
			}}
			if err := c.do(r.on(t, base)); ambit.ReasonOf(err) != ambit.ErrNotObserved {
				t.Errorf("%s: %v", what, err)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("%s: changed %q", what, diff)
			}
			if !strings.Contains(r.take(), c.refuse) {
				t.Errorf("%s: never asked %s", what, c.refuse)
			}
		}
	})
}

// A listing leaves out what is refused, in pages and as a cursor too; the
// folder refused is a refusal.
func TestGuardInListings(t *testing.T) {
	w := newWorldIn(t, fastDir(t), guardable)
	r := &rule{refuse: func(op ambit.Op, path string) error {
		switch {
		case op == ambit.OpStat && (path == "/d" || path == "/lf" || path == "/single"), op == ambit.OpList && path == "/d/e":
			return ambit.ErrDenied
		}
		return nil
	}}
	fsys := r.on(t, w.fsys)
	want := []string{"dangling", "empty", "f", "labs", "ld", "loop", "lx", "out", "source"}
	for limit := 0; limit <= len(want); limit++ {
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
	if l, err := fsys.List(ctx, "d/e", nil); ambit.ReasonOf(err) != ambit.ErrDenied || l != nil {
		t.Errorf("List of a refused folder: %+v, %v", l, err)
	}
}

// Rules given one after the other all hold, the first one first.
func TestTwoGuards(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), guardable)
		base := serve(t, w.root, with(&local.Options{}))
		order := ""
		outer := &rule{before: func(ambit.Op, string) { order += "1" }, refuse: func(_ ambit.Op, path string) error {
			if path == "/f" || path == "/d/x" {
				return &ambit.Error{Reason: ambit.ErrDenied, Rule: "first"}
			}
			return nil
		}}
		inner := &rule{before: func(ambit.Op, string) { order += "2" }, refuse: func(_ ambit.Op, path string) error {
			if path == "/single" || path == "/d/x" {
				return &ambit.Error{Reason: ambit.ErrNotObserved, Rule: "second"}
			}
			return nil
		}}
		one := outer.on(t, base)
		both := inner.on(t, one)
		for path, want := range map[string]string{"f": "denied first", "lf": "denied first", "single": "not-observed", "d/x": "denied first", "source": "ok"} {
			if got := sketch(second(both.Stat(ctx, path))); got != want {
				t.Errorf("Stat %q: %s, want %s", path, got, want)
			}
			if got := sketch(second(both.Write(ctx, path, readerOf("N"), nil))); got != want {
				t.Errorf("Write %q: %s, want %s", path, got, want)
			}
		}
		if strings.HasPrefix(order, "2") || !strings.Contains(order, "12") {
			t.Errorf("asked in the order %s", order)
		}
		if got := fmt.Sprint(names(t, both, "/")); strings.Contains(got, " f ") || strings.Contains(got, "single") || !strings.Contains(got, "source") {
			t.Errorf("listed %s", got)
		}
		// Each is a file system of its own.
		inner.take()
		if err := second(one.Stat(ctx, "single")); err != nil || inner.take() != "" {
			t.Errorf("under the first rule alone: %v", err)
		}
		outer.take()
		if err := second(base.Stat(ctx, "f")); err != nil || outer.take() != "" {
			t.Errorf("under no rule: %v", err)
		}
	})
}

// A Sub of a guarded file system is guarded by the parent's paths, a guard on
// a Sub by its own, and both together by each.
func TestGuardAndSub(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), guardable+"d/le -> e/y\n")
		base := serve(t, w.root, with(&local.Options{}))
		outer := &rule{refuse: func(_ ambit.Op, path string) error {
			if path == "/d/e/y" {
				return ambit.ErrDenied
			}
			return nil
		}}
		s, err := ambit.Sub(ctx, outer.on(t, base), "ld")
		must(t, err)
		defer s.(io.Closer).Close()
		if got := outer.take(); got != "sub /d" {
			t.Errorf("asked %s", got)
		}
		inner := &rule{}
		both := inner.on(t, s)
		must(t, second(both.Stat(ctx, "x")))
		if o, i := outer.take(), inner.take(); o != "stat /d/x" || i != "stat /x" {
			t.Errorf("asked %s and %s", o, i)
		}
		must(t, second(both.Write(ctx, "p/q", readerOf("N"), &ambit.WriteOptions{Parents: true})))
		if o, i := outer.take(), inner.take(); o != "mkdir /d/p, write /d/p/q" || i != "mkdir /p, write /p/q" {
			t.Errorf("asked %s and %s", o, i)
		}
		for _, path := range []string{"e/y", "le"} {
			if err := second(both.Open(ctx, path)); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("open %q: %v", path, err)
			}
		}
		if err := both.Remove(ctx, "e", &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("remove: %v", err)
		}
		deeper, err := ambit.Sub(ctx, both, "e")
		must(t, err)
		defer deeper.(io.Closer).Close()
		outer.take()
		inner.take()
		if err := second(deeper.Open(ctx, "y")); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("open in the Sub of the Sub: %v", err)
		}
		must(t, second(deeper.Stat(ctx, "/")))
		if o, i := outer.take(), inner.take(); o != "open /d/e/y, stat /d/e" || !strings.Contains(i, "stat /e") {
			t.Errorf("asked %s and %s", o, i)
		}
		if got := names(t, deeper, "/"); len(got) != 0 {
			t.Errorf("listed %q", got)
		}
		refusing := &rule{refuse: func(op ambit.Op, _ string) error {
			if op == ambit.OpSub {
				return ambit.ErrDenied
			}
			return nil
		}}
		for _, dir := range []string{"d", "none", "f"} {
			if err := second(ambit.Sub(ctx, refusing.on(t, base), dir)); ambit.ReasonOf(err) != ambit.ErrDenied {
				t.Errorf("Sub of %q: %v", dir, err)
			}
		}
	})
}

// The rules of the options come before those of Guard, and both hold.
func TestGuardAndOptions(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), guardable)
		r := &rule{}
		fsys := r.on(t, serve(t, w.root, with(&local.Options{Deny: []string{"/d/e"}, ReadOnly: []string{"/empty"}})))
		if err := second(fsys.Open(ctx, "ld/e/y")); sketch(err) != "denied deny" {
			t.Errorf("open of what is denied: %v", err)
		}
		if err := second(fsys.Write(ctx, "empty/n", readerOf("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("write of what is read-only: %v", err)
		}
		if err := fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("removal above what is denied: %v", err)
		}
		if got := r.take(); strings.Contains(got, "/d/e") {
			t.Errorf("asked %s: what is denied is told to nobody", got)
		}
		if got := fmt.Sprint(names(t, fsys, "d")); got != "[up x]" {
			t.Errorf("listed %s", got)
		}
		// With links refused nothing is asked about what they lead to.
		refused := r.on(t, serve(t, w.root, with(&local.Options{Links: ambit.LinksRefused})))
		r.take()
		if err := second(refused.Open(ctx, "lf")); sketch(err) != "denied links" {
			t.Errorf("open of a link: %v", err)
		}
		if got := r.take(); strings.Contains(got, "/f") {
			t.Errorf("asked %s", got)
		}
	})
}

// A rule that is nil cannot be kept: all is refused.
func TestNilGuard(t *testing.T) {
	w := newWorldIn(t, fastDir(t), guardable)
	g, ok := any(w.fsys).(ambit.Guarder)
	if !ok {
		t.Fatal("there is no Guard")
	}
	before := w.snapshot(t)
	fsys := g.Guard(nil)
	for _, a := range acts("source") {
		for _, path := range []string{"f", "d", "new", "/", "lf"} {
			if err := a.do(fsys, path); err == nil {
				t.Errorf("%s %q got through", a.name, path)
			}
		}
	}
	if diff := difference(before, w.snapshot(t)); diff != nil {
		t.Errorf("changed %q", diff)
	}
}

// A guarded Host is asked by the host's own paths, links between roots
// resolved, and never about a place in no root.
func TestGuardOnAHost(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+"one/to-g -> ../way/to/two/g\none/to-u -> ../unlisted/u\n")
		r := &rule{}
		fsys := r.on(t, h.serve(t, with(&local.Options{}), "one", "way/to/two"))
		for path, want := range map[string]string{
			"f": "open $/one/f", "to-g": "open $/way/to/two/g", h.host("way/to/two/none"): "open $/way/to/two/none", "to-u": "", h.host("unlisted/u"): "",
		} {
			_ = second(fsys.Open(ctx, path))
			if got := strings.ReplaceAll(r.take(), h.base, "$"); got != want {
				t.Errorf("open %q: asked %s, want %s", path, got, want)
			}
		}
		must(t, second(fsys.List(ctx, h.base, nil)))
		if got := strings.ReplaceAll(r.take(), h.base, "$"); got != "list $, stat $/one, stat $/way" {
			t.Errorf("list above the roots: asked %s", got)
		}
		r.refuse = func(_ ambit.Op, path string) error {
			if path == h.host("way/to") {
				return ambit.ErrDenied
			}
			return nil
		}
		if got := names(t, fsys, h.host("way")); len(got) != 0 {
			t.Errorf("listed %q", got)
		}
		if err := second(fsys.Stat(ctx, h.host("way/to"))); ambit.ReasonOf(err) != ambit.ErrDenied {
			t.Errorf("stat: %v", err)
		}
	})
}

// What the rule was asked about is what is acted on: a stranger who makes the
// name lead to what the rule refuses, after the answer, does not get that read,
// described, listed, changed or added to.
func TestGuardedNameIsSwapped(t *testing.T) {
	const tree = `
		source = S
		open/
		open/x = OPEN
		open/sub/
		hidden/
		hidden/x = HIDDEN
		hidden/sub/
		hidden/only = ONLY
		way -> open
		lx -> open/x
	`
	swapFor := func(w *world, name, text string) {
		must(t, os.Rename(w.host(name), w.host("parked")))
		must(t, os.Symlink(text, w.host(name)))
	}
	swaps := map[string]struct {
		swap func(w *world)
		path string // of the control
	}{
		"the link to a folder":  {func(w *world) { swapFor(w, "way", "hidden") }, "way/x"},
		"the link to a file":    {func(w *world) { swapFor(w, "lx", "hidden/x") }, "lx"},
		"the folder for a link": {func(w *world) { swapFor(w, "open", "hidden") }, "way/x"},
		"the file for a link":   {func(w *world) { swapFor(w, "open/x", "../hidden/x") }, "lx"},
	}
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for how, c := range swaps {
			// The control: who looks first and acts then is fooled.
			control := newWorldIn(t, fastDir(t), tree)
			if info, err := control.fsys.Stat(ctx, c.path); err != nil || info.Path != "/open/x" {
				t.Fatalf("%s: %+v, %v", how, info, err)
			}
			c.swap(control)
			if text, _ := read(t, control.fsys, c.path); text != "HIDDEN" {
				t.Fatalf("%s: the control reads %q: the test proves nothing", how, text)
			}
			swapped := 0
			for _, a := range acts("source") {
				for _, path := range []string{"way/x", "lx", "way", "way/sub", "way/new", "way/n/m", "open/x", "open/sub/../new"} {
					w := newWorldIn(t, fastDir(t), tree)
					before := hiddenOf(w.snapshot(t))
					var once sync.Once
					r := &rule{refuse: func(_ ambit.Op, path string) error {
						if ambit.Contains("/hidden", path) {
							return ambit.ErrDenied
						}
						once.Do(func() { c.swap(w); swapped++ })
						return nil
					}}
					fsys := r.on(t, serve(t, w.root, with(&local.Options{Durability: local.NotDurable})))
					seen := ""
					switch a.name {
					case "open":
						if f, err := fsys.Open(ctx, path); err == nil {
							data, _ := io.ReadAll(f)
							seen = string(data) + f.Info().Path
							f.Close()
						}
					case "stat":
						if info, err := fsys.Stat(ctx, path); err == nil && info.Size == int64(len("HIDDEN")) && info.Kind == ambit.KindRegular {
							seen = "HIDDEN"
						}
					case "list":
						if l, err := fsys.List(ctx, path, nil); err == nil {
							for _, e := range l.Entries {
								seen += e.Info.Path + "\n"
							}
						}
					case "sub":
						if sub, err := ambit.Sub(ctx, fsys, path); err == nil {
							data, _, _ := ambit.ReadFile(ctx, sub, "x")
							only, _, _ := ambit.ReadFile(ctx, sub, "only")
							seen = string(data) + string(only)
							sub.(io.Closer).Close()
						}
					default:
						_ = a.do(fsys, path)
					}
					if strings.Contains(seen, "HIDDEN") || strings.Contains(seen, "ONLY") || strings.Contains(seen, "only") || strings.Contains(seen, "/hidden") {
						t.Errorf("%s is swapped: %s %q shows %q", how, a.name, path, seen)
					}
					if diff := difference(before, hiddenOf(w.snapshot(t))); diff != nil {
						t.Errorf("%s is swapped: %s %q changed what is hidden: %q", how, a.name, path, diff)
					}
				}
			}
			if swapped < 10 {
				t.Errorf("%s was swapped %d times: the test proves nothing", how, swapped)
			}
		}
	})
}

// hiddenOf returns the lines of a snapshot that are beneath the folder hidden.
func hiddenOf(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "hidden/") })
}

// While a stranger swaps a name for what a rule refuses, and back, no call
// gets at that: what the rule was asked about is what was opened.
func TestGuardWhileNamesAreSwapped(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), `
			open/
			open/x = OPEN
			hidden/
			hidden/x = HIDDEN
			way -> open
			other -> hidden
		`)
		r := &rule{refuse: func(_ ambit.Op, path string) error {
			if ambit.Contains("/hidden", path) {
				return ambit.ErrDenied
			}
			return nil
		}}
		fsys := r.on(t, serve(t, w.root, with(&local.Options{})))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, step := range [][2]string{{"way", "spare"}, {"other", "way"}, {"spare", "other"}} {
					if err := os.Rename(w.host(step[0]), w.host(step[1])); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
		read, refused, control := 0, 0, 0
		for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end) && !t.Failed(); {
			f, err := fsys.Open(ctx, "way/x")
			switch ambit.ReasonOf(err) {
			case "":
				data, _ := io.ReadAll(f)
				if string(data) != "OPEN" || f.Info().Path != "/open/x" {
					t.Errorf("read %q at %s", data, f.Info().Path)
				}
				f.Close()
				read++
			case ambit.ErrDenied:
				refused++
			case ambit.ErrNotFound, ambit.ErrChanged:
			default:
				t.Errorf("open: %v", err)
			}
			if data, err := os.ReadFile(w.host("way/x")); err == nil && string(data) == "HIDDEN" {
				control++
			}
			r.take()
		}
		close(stop)
		wg.Wait()
		if !t.Failed() && (read == 0 || refused == 0 || control == 0) {
			t.Errorf("%d read, %d refused, %d times the control read what is hidden: the test proves nothing", read, refused, control)
		}
	})
}
