// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/route"
)

// TestNoFallback: there is nothing but the mounts and the ways to them.
func TestNoFallback(t *testing.T) {
	ctx := t.Context()
	build := func() ambit.FileSystem {
		return machine(t, nil, map[string]ambit.FileSystem{
			"/w/x/m": memory.New(map[string]string{"f": "f"}, nil), "/n/": memory.New(nil, nil),
		})
	}
	fsys := build()
	if got, want := tree(t, fsys), "/n directory\n/w directory\n/w/x directory\n/w/x/m directory\n/w/x/m/f file\n  \"f\" /w/x/m/f <nil>\n"; got != want {
		t.Errorf("holds\n%swant\n%s", got, want)
	}
	want := memory.New(nil, nil).Capabilities()
	want.Search = true
	if got := fsys.Capabilities(); got != want {
		t.Errorf("claims %+v, want %+v", got, want)
	}
	open := func(f ambit.FileSystem, path string) error { _, err := f.Open(ctx, path); return err }
	stat := func(f ambit.FileSystem, path string) error { _, err := f.Stat(ctx, path); return err }
	listing := func(f ambit.FileSystem, path string) error { _, err := f.List(ctx, path, nil); return err }
	sub := func(f ambit.FileSystem, path string) error { _, err := ambit.Sub(ctx, f, path); return err }
	creating := func(o *ambit.WriteOptions) func(f ambit.FileSystem, path string) error {
		return func(f ambit.FileSystem, path string) error { return write(ctx, f, path, o) }
	}
	staging := func(f ambit.FileSystem, path string) error {
		_, err := ambit.Stage(ctx, f, path, strings.NewReader("x"), nil)
		return err
	}
	appending := func(f ambit.FileSystem, path string) error {
		_, err := ambit.Append(ctx, f, path, strings.NewReader("x"), nil)
		return err
	}
	making := func(o *ambit.MkdirOptions) func(f ambit.FileSystem, path string) error {
		return func(f ambit.FileSystem, path string) error { _, err := ambit.Mkdir(ctx, f, path, o); return err }
	}
	removing := func(o *ambit.RemoveOptions) func(f ambit.FileSystem, path string) error {
		return func(f ambit.FileSystem, path string) error { return ambit.Remove(ctx, f, path, o) }
	}
	movingTo := func(f ambit.FileSystem, path string) error {
		_, err := ambit.Rename(ctx, f, "/w/x/m/f", path, &ambit.RenameOptions{Replace: true})
		return err
	}
	moving := func(o *ambit.RenameOptions) func(f ambit.FileSystem, path string) error {
		return func(f ambit.FileSystem, path string) error {
			_, err := ambit.Rename(ctx, f, path, "/w/x/m/g", o)
			return err
		}
	}
	committing := func(c ambit.Change) func(f ambit.FileSystem, path string) error {
		return func(f ambit.FileSystem, path string) error {
			c.Path = path
			if c.Op == ambit.OpWrite {
				c.Content = strings.NewReader("x")
			}
			_, err := ambit.Commit(ctx, f, []ambit.Change{c})
			return err
		}
	}
	stale := ambit.IfVersion("stale")
	for _, row := range []struct {
		name string
		call func(f ambit.FileSystem, path string) error
		// what it says of the root, a way, a missing name, one beneath missing folders, a missing name with a slash
		want [5]ambit.Reason
	}{
		{"open", open, [5]ambit.Reason{"not-a-file", "not-a-file", "not-found", "not-found", "not-a-directory"}},
		{"stat", stat, [5]ambit.Reason{"", "", "not-found", "not-found", "not-a-directory"}},
		{"list", listing, [5]ambit.Reason{"", "", "not-found", "not-found", "not-a-directory"}},
		{"sub", sub, [5]ambit.Reason{"", "", "not-found", "not-found", "not-a-directory"}},
		{"write", creating(nil), [5]ambit.Reason{"not-a-file", "not-a-file", "denied", "not-found", "not-a-directory"}},
		{"write with parents", creating(&ambit.WriteOptions{Parents: true}), [5]ambit.Reason{"not-a-file", "not-a-file", "denied", "denied", "not-a-directory"}},
		{"create", creating(&ambit.WriteOptions{If: ambit.IfAbsent()}), [5]ambit.Reason{"exists", "exists", "denied", "not-found", "not-a-directory"}},
		{"replace", creating(&ambit.WriteOptions{If: stale, Parents: true}), [5]ambit.Reason{"not-a-file", "not-a-file", "changed", "changed", "not-a-directory"}},
		{"stage", staging, [5]ambit.Reason{"not-a-file", "not-a-file", "denied", "not-found", "not-a-directory"}},
		{"append", appending, [5]ambit.Reason{"not-a-file", "not-a-file", "denied", "not-found", "not-a-directory"}},
		{"mkdir", making(nil), [5]ambit.Reason{"exists", "exists", "denied", "not-found", "denied"}},
		{"mkdir with parents", making(&ambit.MkdirOptions{Parents: true}), [5]ambit.Reason{"", "", "denied", "denied", "denied"}},
		{"remove", removing(nil), [5]ambit.Reason{"invalid", "denied", "not-found", "not-found", "not-a-directory"}},
		{"remove all", removing(&ambit.RemoveOptions{Recursive: true}), [5]ambit.Reason{"invalid", "denied", "not-found", "not-found", "not-a-directory"}},
		{"remove if there", removing(&ambit.RemoveOptions{MissingOK: true}), [5]ambit.Reason{"invalid", "denied", "", "", ""}},
		{"remove a version", removing(&ambit.RemoveOptions{If: stale}), [5]ambit.Reason{"invalid", "invalid", "changed", "changed", "not-a-directory"}},
		{"remove a version if there", removing(&ambit.RemoveOptions{If: stale, MissingOK: true}), [5]ambit.Reason{"invalid", "invalid", "changed", "changed", "not-a-directory"}},
		{"move", moving(nil), [5]ambit.Reason{"invalid", "denied", "not-found", "not-found", "not-a-directory"}},
		{"move a version", moving(&ambit.RenameOptions{If: stale}), [5]ambit.Reason{"invalid", "invalid", "changed", "changed", "not-a-directory"}},
		{"move to", movingTo, [5]ambit.Reason{"not-a-directory", "exists", "denied", "not-found", "not-a-directory"}},
		{"commit a write", committing(ambit.Change{Op: ambit.OpWrite}), [5]ambit.Reason{"not-a-file", "not-a-file", "denied", "not-found", "not-a-directory"}},
		{"commit a removal", committing(ambit.Change{Op: ambit.OpRemove}), [5]ambit.Reason{"not-a-file", "not-a-file", "not-found", "not-found", "not-a-directory"}},
	} {
		for i, path := range []string{"/", "/w/x", "/w/new", "/w/no/such", "/w/new/"} {
			for _, written := range []string{path, path[1:], "./" + path[1:]} {
				if written == "" {
					written = "."
				}
				if written == "./" && path != "/" {
					continue
				}
				fsys := build()
				before := tree(t, fsys)
				err := row.call(fsys, written)
				if ambit.ReasonOf(err) != row.want[i] {
					t.Errorf("%s %q: %v, want %q", row.name, written, err, row.want[i])
				}
				if err != nil {
					e := err.(*ambit.Error)
					if e.Path != written {
						t.Errorf("%s %q: the error is of %q", row.name, written, e.Path)
					}
					if e.Reason == ambit.ErrDenied && e.Rule != "mount" {
						t.Errorf("%s %q: rule %q", row.name, written, e.Rule)
					}
					if e.Reason == ambit.ErrNotFound && i == 3 && !slices.Equal(e.MissingDirs, []string{"/w/no"}) {
						t.Errorf("%s %q: missing folders %q", row.name, written, e.MissingDirs)
					}
				}
				if after := tree(t, fsys); after != before {
					t.Errorf("%s %q: was\n%snow\n%s", row.name, written, before, after)
				}
			}
		}
	}
}

// TestWhatWaysHide: where the fallback has a file or a link under the name of a folder above a mount point, it is hidden,
// and the folder is one all the same.
func TestWhatWaysHide(t *testing.T) {
	ctx := t.Context()
	for name, fallback := range map[string]func(t *testing.T) ambit.FileSystem{
		"a file": func(*testing.T) ambit.FileSystem {
			return memory.New(map[string]string{"way": "hidden", "other/f": "f"}, nil)
		},
		"a link to a folder": func(t *testing.T) ambit.FileSystem { return newFolder(t, "-- way -> other --\n-- other/f --\nf\n") },
		"a link to a file":   func(t *testing.T) ambit.FileSystem { return newFolder(t, "-- way -> other/f --\n-- other/f --\nf\n") },
		"a dangling link":    func(t *testing.T) ambit.FileSystem { return newFolder(t, "-- way -> none --\n-- other/f --\nf\n") },
		"a link that leads on": func(t *testing.T) ambit.FileSystem {
			return newFolder(t, "-- way -> other/none/f --\n-- other/f --\nf\n")
		},
		"a link out": func(t *testing.T) ambit.FileSystem { return newFolder(t, "-- way -> ../x --\n-- other/f --\nf\n") },
		"a loop":     func(t *testing.T) ambit.FileSystem { return newFolder(t, "-- way -> way --\n-- other/f --\nf\n") },
	} {
		t.Run(name, func(t *testing.T) {
			base := fallback(t)
			fsys := machine(t, base, map[string]ambit.FileSystem{"/way/m": memory.New(map[string]string{"g": "g"}, nil)})
			if got := list(t, fsys, "/", 0); got != "other way" {
				t.Errorf("/ lists %q", got)
			}
			if got := list(t, fsys, "/way", 0); got != "m" {
				t.Errorf("/way lists %q", got)
			}
			l, err := fsys.List(ctx, "/", nil)
			if err != nil || l.Entries[1].Info.Kind != ambit.KindDirectory {
				t.Errorf("%+v, %v", l, err)
			}
			for _, path := range []string{"/way", "/way/", "/way/m"} {
				info, err := fsys.Stat(ctx, path)
				if err != nil || !info.IsDir() || info.Path != strings.TrimSuffix(path, "/") {
					t.Errorf("%s: %+v, %v", path, info, err)
				}
			}
			if data, _, err := ambit.ReadFile(ctx, fsys, "/way/m/g"); err != nil || string(data) != "g" {
				t.Errorf("%q, %v", data, err)
			}
			before := tree(t, base)
			_, err = fsys.Open(ctx, "/way")
			reason(t, "open", err, ambit.ErrNotAFile)
			for _, path := range []string{"/way/f", "/way/f/g"} {
				_, err = fsys.Open(ctx, path)
				reason(t, "open "+path, err, ambit.ErrNotFound)
				reason(t, "remove "+path, ambit.Remove(ctx, fsys, path, nil), ambit.ErrNotFound)
				reason(t, "remove "+path, ambit.Remove(ctx, fsys, path, &ambit.RemoveOptions{MissingOK: true}), "")
				err := write(ctx, fsys, path, &ambit.WriteOptions{Parents: true})
				if e, ok := err.(*ambit.Error); !ok || e.Reason != ambit.ErrDenied || e.Rule != "mount" {
					t.Errorf("write %s: %v", path, err)
				}
				_, err = ambit.Rename(ctx, fsys, "/other/f", path, &ambit.RenameOptions{Parents: true})
				reason(t, "move to "+path, err, ambit.ErrDenied)
			}
			reason(t, "write", write(ctx, fsys, "/way", nil), ambit.ErrNotAFile)
			reason(t, "remove", ambit.Remove(ctx, fsys, "/way", &ambit.RemoveOptions{Recursive: true}), ambit.ErrDenied)
			if after := tree(t, base); after != before {
				t.Errorf("was\n%snow\n%s", before, after)
			}
			sub, err := ambit.Sub(ctx, fsys, "/way")
			if err != nil {
				t.Fatal(err)
			}
			if got := list(t, sub, "/", 0); got != "m" {
				t.Errorf("the Sub lists %q", got)
			}
		})
	}
}

const linkTree = `
-- real/f --
real
-- m/secret --
hidden
-- m/dir/deep --
hidden
-- way/own --
own
-- way/n/secret --
hidden
-- to-mount -> m --
-- to-secret -> m/secret --
-- to-none -> m/none --
-- to-way -> way --
-- to-root -> . --
-- to-real -> real/f --
-- real/up -> ../m/secret --
`

// TestLinksToWhatMountsHide goes by links to what a mount hides, by every method, on a disk with Guard and without.
func TestLinksToWhatMountsHide(t *testing.T) {
	ctx := t.Context()
	type call struct {
		name string
		do   func(f ambit.FileSystem, path string) error
	}
	reads := []call{
		{"open", func(f ambit.FileSystem, path string) error { _, err := f.Open(ctx, path); return err }},
		{"stat", func(f ambit.FileSystem, path string) error { _, err := f.Stat(ctx, path); return err }},
		{"list", func(f ambit.FileSystem, path string) error { _, err := f.List(ctx, path, nil); return err }},
	}
	changes := []call{
		{"write", func(f ambit.FileSystem, path string) error { return write(ctx, f, path, nil) }},
		{"write with parents", func(f ambit.FileSystem, path string) error {
			return write(ctx, f, path, &ambit.WriteOptions{Parents: true})
		}},
		{"append", func(f ambit.FileSystem, path string) error {
			_, err := f.(ambit.Appender).Append(ctx, path, strings.NewReader("x"), nil)
			return err
		}},
		{"stage", func(f ambit.FileSystem, path string) error {
			_, err := f.(ambit.Stager).Stage(ctx, path, strings.NewReader("x"), nil)
			return err
		}},
		{"commit a write", func(f ambit.FileSystem, path string) error {
			_, err := f.(ambit.Committer).Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x")}})
			return err
		}},
	}
	names := []call{ // they act on the name itself
		{"create", func(f ambit.FileSystem, path string) error {
			return write(ctx, f, path, &ambit.WriteOptions{If: ambit.IfAbsent()})
		}},
		{"remove", func(f ambit.FileSystem, path string) error { return ambit.Remove(ctx, f, path, nil) }},
		{"remove all", func(f ambit.FileSystem, path string) error {
			return ambit.Remove(ctx, f, path, &ambit.RemoveOptions{Recursive: true})
		}},
		{"move", func(f ambit.FileSystem, path string) error {
			_, err := ambit.Rename(ctx, f, path, "/moved", nil)
			return err
		}},
		{"move to", func(f ambit.FileSystem, path string) error {
			_, err := ambit.Rename(ctx, f, "/real/f", path, &ambit.RenameOptions{Replace: true, Parents: true})
			return err
		}},
		{"mkdir", func(f ambit.FileSystem, path string) error { _, err := ambit.Mkdir(ctx, f, path, nil); return err }},
		{"lstat", func(f ambit.FileSystem, path string) error { _, err := f.(ambit.Linker).Lstat(ctx, path); return err }},
		{"readlink", func(f ambit.FileSystem, path string) error {
			_, err := f.(ambit.Linker).ReadLink(ctx, path)
			return err
		}},
		{"commit a removal", func(f ambit.FileSystem, path string) error {
			_, err := f.(ambit.Committer).Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: path}})
			return err
		}},
	}
	for _, loose := range []bool{false, true} {
		t.Run(map[bool]string{false: "guarded", true: "loose"}[loose], func(t *testing.T) {
			base := newFolder(t, linkTree[1:])
			base.loose = loose
			mounted := "-- secret --\nmounted\n"
			build := func() ambit.FileSystem {
				return machine(t, base, map[string]ambit.FileSystem{"/m": newFolder(t, mounted), "/way/n": newFolder(t, mounted)})
			}
			fsys := build()
			if fsys.Capabilities().Confined == loose {
				t.Errorf("confinement is claimed: %t", !loose)
			}
			before := tree(t, base)
			check := func(calls []call, path string) {
				t.Helper()
				for _, c := range calls {
					if err := c.do(fsys, path); ambit.ReasonOf(err) != ambit.ErrOutside {
						t.Errorf("%s %s: %v", c.name, path, err)
					} else if e := err.(*ambit.Error); e.Target != "" || e.Path != path || e.MissingDirs != nil {
						t.Errorf("%s %s: %+v", c.name, path, e)
					}
					if after := tree(t, base); after != before {
						t.Fatalf("%s %s: was\n%snow\n%s", c.name, path, before, after)
					}
				}
			}
			for _, path := range []string{"/to-secret", "to-mount/secret", "real/up", "to-root/m/secret", "to-root/to-secret", "/to-way/n/secret", "to-none", "to-mount"} {
				check(reads, path)
				check(changes, path)
			}
			for _, path := range []string{"to-mount/secret", "to-mount/new", "to-mount/no/such", "to-root/m/secret", "to-root/m", "to-way/n", "to-way/n/new", "to-root/way/n"} {
				check(names, path)
			}
			// What links lead to that is not hidden is served, by paths that are what they say.
			for path, want := range map[string]string{"to-real": "/real/f", "to-way/own": "/way/own", "to-root/real/f": "/real/f"} {
				info, err := fsys.Stat(ctx, path)
				if err != nil || info.Path != want {
					t.Errorf("%s: %+v, %v", path, info, err)
				}
			}
			for path, want := range map[string]string{"/": "m real to-mount to-none to-real to-root to-secret to-way way", "to-way": "n own", "to-root/way": "n own"} {
				if got := list(t, fsys, path, 2); got != want {
					t.Errorf("%s lists %q, want %q", path, got, want)
				}
			}
			for path, want := range map[string]string{"to-real": "real/f", "to-way": "way", "to-root": "."} {
				text, err := fsys.(ambit.Linker).ReadLink(ctx, path)
				if err != nil || text != want {
					t.Errorf("%s: %q, %v", path, text, err)
				}
			}
			for _, path := range []string{"to-mount", "to-secret", "to-none", "real/up"} {
				_, err := fsys.(ambit.Linker).ReadLink(ctx, path)
				reason(t, "readlink "+path, err, ambit.ErrOutside)
			}
			// A folder above a mount point stays, by whatever path it is called.
			for _, c := range []call{names[2], names[3]} {
				for _, path := range []string{"to-root/way", "to-root/to-root/way"} {
					err := c.do(fsys, path)
					reason(t, c.name+" "+path, err, ambit.ErrDenied)
					if e, ok := err.(*ambit.Error); !ok || e.Rule != "mount" {
						t.Errorf("%s %s: %v", c.name, path, err)
					}
				}
			}
			if after := tree(t, base); after != before {
				t.Fatalf("was\n%snow\n%s", before, after)
			}
			sub, err := ambit.Sub(ctx, fsys, "to-way")
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(t, sub); got != "/n directory\n/n/secret file\n  \"mounted\\n\" /n/secret <nil>\n/own file\n  \"own\\n\" /own <nil>\n" {
				t.Errorf("the Sub through a link holds\n%s", got)
			}
			sub, err = ambit.Sub(ctx, fsys, "real")
			if err != nil {
				t.Fatal(err)
			}
			_, err = sub.Open(ctx, "up")
			reason(t, "out of a Sub", err, ambit.ErrOutside)
			for _, path := range []string{"to-mount", "to-way/n", "to-root/m"} {
				_, err := ambit.Sub(ctx, fsys, path)
				reason(t, "sub "+path, err, ambit.ErrOutside)
			}
			// The links themselves are the fallback's own.
			if err := ambit.Remove(ctx, build(), "/to-secret", nil); err != nil {
				t.Error(err)
			}
			if data, _, err := ambit.ReadFile(ctx, base, "/m/secret"); err != nil || string(data) != "hidden\n" {
				t.Errorf("what is hidden: %q, %v", data, err)
			}
		})
	}
}

// TestSwappedLinks swaps a link during calls between what is shown and what a mount hides. Nothing hidden is read or
// changed; on the disk itself, without the machine, it is.
func TestSwappedLinks(t *testing.T) {
	base := newFolder(t, "-- shown/f --\nshown\n-- m/f --\nhidden\n-- a -> shown --\n-- b -> m --\n")
	base.loose = true
	fsys := machine(t, base, map[string]ambit.FileSystem{"/m": memory.New(nil, nil)})
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	var hidden, shown, control atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			name := []string{"a", "b"}[i%2]
			base.Rename(context.Background(), name, "link", &ambit.RenameOptions{Replace: true})
			base.Rename(context.Background(), "link", name, nil)
		}
	})
	read := func(f ambit.FileSystem, count *atomic.Int64) {
		data, _, err := ambit.ReadFile(context.Background(), f, "link/f")
		switch {
		case err == nil && string(data) == "hidden\n":
			count.Add(1)
		case err == nil:
			shown.Add(1)
		}
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			read(fsys, &hidden)
			read(base, &control)
			if err := ambit.Remove(context.Background(), fsys, "link/none", nil); err == nil {
				t.Error("removed what is not there")
			}
		}
	})
	wg.Wait()
	if hidden.Load() > 0 {
		t.Errorf("what is hidden was read %d times", hidden.Load())
	}
	if shown.Load() == 0 || control.Load() == 0 {
		t.Errorf("the test shows nothing: %d reads of what is shown, %d of what is hidden without the machine", shown.Load(), control.Load())
	}
}

// TestSwappedBeforePublish: what was staged goes nowhere when a link has come to lead to what a mount hides.
func TestSwappedBeforePublish(t *testing.T) {
	ctx := t.Context()
	base := newFolder(t, "-- shown/f --\nshown\n-- m/f --\nhidden\n-- link -> shown --\n-- other -> m --\n")
	base.loose = true
	fsys := machine(t, base, map[string]ambit.FileSystem{"/m": memory.New(nil, nil)})
	s, err := fsys.(ambit.Stager).Stage(ctx, "link/f", strings.NewReader("new"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base.Rename(ctx, "other", "link", &ambit.RenameOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	before := tree(t, base)
	_, err = s.Publish(ctx)
	reason(t, "publish", err, ambit.ErrOutside)
	_, err = s.Publish(ctx)
	reason(t, "publish again", err, ambit.ErrClosed)
	if after := tree(t, base); after != before {
		t.Errorf("was\n%snow\n%s", before, after)
	}
}

// shortPages lists one entry at a time, whatever was asked for.
type shortPages struct{ ambit.Forward }

func (s shortPages) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	one := ambit.ListOptions{Limit: 1}
	if o != nil {
		one.After, one.Details = o.After, o.Details
	}
	return s.Forward.List(ctx, dir, &one)
}

// TestShortPages: a member may list less than is asked for, and the pages put together are the whole in order.
func TestShortPages(t *testing.T) {
	base := memory.New(map[string]string{"b": "", "d": "hidden", "f": "", "h": ""}, nil)
	short := shortPages{ambit.Forward{Base: base, Keep: base.Capabilities()}}
	short.Keep.Guard, short.Keep.Sub = false, false
	at := make(map[string]ambit.FileSystem)
	for _, name := range strings.Fields("a c d e g i") {
		at["/"+name] = memory.New(nil, nil)
	}
	fsys := machine(t, short, at)
	for limit := range 12 {
		if got, want := list(t, fsys, "/", limit), "a b c d e f g h i"; got != want {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
}

// TestMkdirInAWayMeetsAnother: of two that make one folder where the member has to make the way first, one has made it.
func TestMkdirInAWayMeetsAnother(t *testing.T) {
	ctx := t.Context()
	var base *memory.FileSystem
	met := false
	base = memory.New(nil, &memory.Options{Faults: func(op, path string) error {
		if op == ambit.OpMkdir && !met {
			met = true
			if _, err := base.Mkdir(ctx, "/w/new", &ambit.MkdirOptions{Parents: true}); err != nil {
				t.Error(err)
			}
		}
		return nil
	}})
	fsys := machine(t, base, map[string]ambit.FileSystem{"/w/m": memory.New(nil, nil)})
	created, err := ambit.Mkdir(ctx, fsys, "/w/new", nil)
	if !met {
		t.Fatal("nobody was met")
	}
	e, ok := err.(*ambit.Error)
	if !ok || e.Reason != ambit.ErrExists || e.Kind != ambit.KindDirectory || e.Target != "/w/new" || created != nil {
		t.Errorf("%q, %#v", created, err)
	}
}

// TestFloor: what one member lacks, the machine does not claim, and refuses on every path.
func TestFloor(t *testing.T) {
	ctx := t.Context()
	whole := memory.New(map[string]string{"f": "f"}, nil)
	for name, lose := range map[string]func(c *ambit.Capabilities){
		"Append":   func(c *ambit.Capabilities) { c.Append = false },
		"Versions": func(c *ambit.Capabilities) { c.Versions, c.Swap = false, ambit.SwapNone },
		"Swap":     func(c *ambit.Capabilities) { c.Swap = ambit.SwapNone },
		"List":     func(c *ambit.Capabilities) { c.List = false },
		"Commit":   func(c *ambit.Capabilities) { c.Commit = false },
	} {
		poor := ambit.Forward{Base: memory.New(map[string]string{"f": "f"}, nil), Keep: whole.Capabilities()}
		lose(&poor.Keep)
		poor.Keep.Guard, poor.Keep.Sub = false, false
		for _, fsys := range []ambit.FileSystem{
			machine(t, whole, map[string]ambit.FileSystem{"/m": poor}), machine(t, poor, map[string]ambit.FileSystem{"/m": whole}),
		} {
			want := whole.Capabilities().Intersect(poor.Capabilities())
			want.Sub, want.Search = true, want.List // by a prefix, and by List
			if got := fsys.Capabilities(); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
			for _, path := range []string{"/f", "/m/f"} {
				var err error
				switch name {
				case "Append":
					_, err = fsys.(ambit.Appender).Append(ctx, path, strings.NewReader("x"), nil)
				case "Swap":
					err = fsys.(ambit.WritableFileSystem).Remove(ctx, path, &ambit.RemoveOptions{If: ambit.IfVersion("v")})
				case "List":
					_, err = fsys.(ambit.Searcher).Glob(ctx, ambit.GlobQuery{Pattern: "**", Base: path}, nil)
					reason(t, "Glob without List", err, ambit.ErrUnsupported)
					_, err = fsys.(ambit.Searcher).Grep(ctx, ambit.GrepQuery{Pattern: "f", Base: path}, nil)
					reason(t, "Grep without List", err, ambit.ErrUnsupported)
					_, err = fsys.List(ctx, "/", nil)
				case "Commit":
					_, err = fsys.(ambit.Committer).Commit(ctx, nil)
				case "Versions":
					info, statErr := fsys.Stat(ctx, path)
					r, writeErr := fsys.(ambit.WritableFileSystem).Write(ctx, path, strings.NewReader("f"), nil)
					if statErr != nil || writeErr != nil || info.Version != "" || r.Info.Version != "" {
						t.Errorf("%s: %+v, %v, %+v, %v", path, info, statErr, r, writeErr)
					}
					continue
				}
				reason(t, name+" "+path, err, ambit.ErrUnsupported)
			}
			if guarded := fsys.(ambit.Guarder).Guard(nil); guarded.Capabilities() != (ambit.Capabilities{}) {
				t.Errorf("%s: a rule that one member cannot keep opens something", name)
			}
		}
	}
}

// TestReadOnlyMount: a member that cannot be changed leaves the others what they are.
func TestReadOnlyMount(t *testing.T) {
	ctx := t.Context()
	build := func() (whole, frozen ambit.FileSystem) {
		files := map[string]string{"f": "f", "d/g": "g"}
		return memory.New(files, nil), ambit.ReadOnly(memory.New(files, nil))
	}
	for name, c := range map[string]struct {
		build          func() ambit.FileSystem
		frozen, others string
	}{
		"a frozen mount": {func() ambit.FileSystem {
			whole, frozen := build()
			return machine(t, whole, map[string]ambit.FileSystem{"/m": frozen})
		}, "/m", ""},
		"a frozen fallback": {func() ambit.FileSystem {
			whole, frozen := build()
			return machine(t, frozen, map[string]ambit.FileSystem{"/m": whole})
		}, "", "/m"},
	} {
		fsys := c.build()
		want := memory.New(nil, nil).Capabilities()
		want.ID, want.Search = "", true
		if got := fsys.Capabilities(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		before := everything(t, fsys)
		for what, do := range map[string]func(path string) error{
			"write": func(path string) error { return write(ctx, fsys, path, nil) },
			"create": func(path string) error {
				return write(ctx, fsys, path+"/new", &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true})
			},
			"remove": func(path string) error { return ambit.Remove(ctx, fsys, path, nil) },
			"append": func(path string) error {
				_, err := ambit.Append(ctx, fsys, path, strings.NewReader("x"), nil)
				return err
			},
			"rename": func(path string) error {
				_, err := ambit.Rename(ctx, fsys, path, path+"2", nil)
				return err
			},
			"mkdir": func(path string) error {
				_, err := ambit.Mkdir(ctx, fsys, path+"3", nil)
				return err
			},
			"stage": func(path string) error {
				_, err := ambit.Stage(ctx, fsys, path, strings.NewReader("x"), nil)
				return err
			},
			"commit": func(path string) error {
				_, err := ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpRemove, Path: path}})
				return err
			},
		} {
			reason(t, name+": "+what, do(c.frozen+"/f"), ambit.ErrReadOnly)
		}
		if after := everything(t, fsys); after != before {
			t.Errorf("%s: was\n%snow\n%s", name, before, after)
		}
		info, err := fsys.Stat(ctx, c.others+"/f")
		if err != nil {
			t.Fatal(err)
		}
		if err := write(ctx, fsys, c.others+"/f", &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}); err != nil {
			t.Errorf("%s: the other member: %v", name, err)
		}
		r, err := ambit.Copy(ctx, fsys, c.others+"/copy", fsys, c.frozen+"/d/g", nil)
		if err != nil || r.Info.Path != c.others+"/copy" {
			t.Errorf("%s: a copy out of it: %+v, %v", name, r, err)
		}
	}
}

// TestLinksDiffer: members whose links differ make a machine of which nothing is told about links.
func TestLinksDiffer(t *testing.T) {
	d := newFolder(t, "-- f --\nf\n")
	fsys := machine(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/d": d})
	if got := fsys.Capabilities().Links; got != ambit.LinksUnknown {
		t.Errorf("links are %s", got)
	}
	if got := machine(t, d, map[string]ambit.FileSystem{"/d": d}).Capabilities().Links; got != ambit.LinksFollowed {
		t.Errorf("links are %s", got)
	}
	// Sub does not depend on the rule of the machine: each member has its own.
	if _, err := ambit.Sub(t.Context(), fsys, "/d"); err != nil {
		t.Error(err)
	}
}

// identified gives a memory file system an identity, always the same.
type identified struct {
	ambit.Forward
	id string
}

func (i identified) Capabilities() ambit.Capabilities {
	c := i.Forward.Capabilities()
	c.ID, c.Identity = i.id, true
	return c
}

func (i identified) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	info, err := i.Forward.Stat(ctx, path)
	info.ID = "1"
	return info, err
}

func TestIdentity(t *testing.T) {
	ctx := t.Context()
	with := func(id string) ambit.FileSystem {
		m := memory.New(map[string]string{"f": "f"}, nil)
		i := identified{ambit.Forward{Base: m, Keep: m.Capabilities()}, id}
		i.Keep.Guard, i.Keep.Sub, i.Keep.Identity = false, false, true
		return i
	}
	id := func(fsys ambit.FileSystem, path string) string {
		t.Helper()
		info, err := fsys.Stat(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		return info.ID
	}
	apart := machine(t, with("a"), map[string]ambit.FileSystem{"/m": with("b"), "/w/x/n": with("a"), "/o": with("")})
	if !apart.Capabilities().Identity {
		t.Error("identity is not claimed")
	}
	if a, b, o := id(apart, "/f"), id(apart, "/m/f"), id(apart, "/o/f"); a == b || a == o || b == o || a == "" || b == "" || o == "" {
		t.Errorf("files of three storages are %q, %q and %q", a, b, o)
	}
	if a, n := id(apart, "/f"), id(apart, "/w/x/n/f"); a != n {
		t.Errorf("the same file is %q and %q", a, n)
	}
	if w, x := id(apart, "/w"), id(apart, "/w/x"); w == x || w == "" || x == "" {
		t.Errorf("ways are %q and %q", w, x)
	}
	l, err := apart.List(ctx, "/", &ambit.ListOptions{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		if e.Info.ID != "" && e.Info.ID != id(apart, e.Info.Path) {
			t.Errorf("%s is listed as %q and is %q", e.Info.Path, e.Info.ID, id(apart, e.Info.Path))
		}
	}
	alike := machine(t, with(""), map[string]ambit.FileSystem{"/m": with(""), "/w/n": with("a")})
	if alike.Capabilities().Identity {
		t.Error("identity of storages that nothing tells apart is claimed")
	}
	for _, path := range []string{"/f", "/m/f", "/w", "/w/n/f"} {
		if got := id(alike, path); got != "" {
			t.Errorf("%s is %q", path, got)
		}
	}
}

// TestDetails: mount points and ways are listed as Stat describes them.
func TestDetails(t *testing.T) {
	ctx := t.Context()
	fsys := machine(t, memory.New(map[string]string{"real/f": "f"}, nil), map[string]ambit.FileSystem{
		"/m": memory.New(nil, nil), "/real/n": memory.New(nil, nil), "/way/n": memory.New(nil, nil),
	})
	for _, dir := range []string{"/", "/real", "/way"} {
		l, err := fsys.List(ctx, dir, &ambit.ListOptions{Details: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries {
			info, err := fsys.Stat(ctx, e.Info.Path)
			if err != nil || info != e.Info {
				t.Errorf("%s is listed as %+v and is %+v, %v", e.Info.Path, e.Info, info, err)
			}
		}
	}
	if info, err := fsys.Stat(ctx, "/real"); err != nil || info.Mode == 0 {
		t.Errorf("a way that the fallback has: %+v, %v", info, err)
	}
}

// TestGuardIsAsked: the rule of a machine is asked about every path of it, by the machine's name for it.
func TestGuardIsAsked(t *testing.T) {
	ctx := t.Context()
	fsys := machine(t, memory.New(map[string]string{"f": "f", "real/g": "g"}, nil), map[string]ambit.FileSystem{
		"/m": memory.New(map[string]string{"h": "h"}, nil), "/real/n": memory.New(nil, nil), "/way/deep/n": memory.New(nil, nil),
	})
	var mu sync.Mutex
	var asked []string
	deny := ""
	guarded := fsys.(ambit.Guarder).Guard(func(_ context.Context, op ambit.Op, canonical string) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, string(op)+" "+canonical)
		if canonical == deny {
			return &ambit.Error{Reason: ambit.ErrDenied, Rule: "test"}
		}
		return nil
	})
	if guarded.Capabilities() != fsys.Capabilities() {
		t.Errorf("claims %+v", guarded.Capabilities())
	}
	w := guarded.(ambit.WritableFileSystem)
	calls := map[string]func(path string) error{
		"open":   func(path string) error { _, err := guarded.Open(ctx, path); return err },
		"stat":   func(path string) error { _, err := guarded.Stat(ctx, path); return err },
		"list":   func(path string) error { _, err := guarded.List(ctx, path, nil); return err },
		"write":  func(path string) error { _, err := w.Write(ctx, path, strings.NewReader("x"), nil); return err },
		"remove": func(path string) error { return w.Remove(ctx, path, nil) },
		"append": func(path string) error {
			_, err := w.(ambit.Appender).Append(ctx, path, strings.NewReader("x"), nil)
			return err
		},
		"rename": func(path string) error { _, err := w.(ambit.Renamer).Rename(ctx, path, path+"2", nil); return err },
		"mkdir":  func(path string) error { _, err := w.(ambit.DirMaker).Mkdir(ctx, path, nil); return err },
		"sub":    func(path string) error { _, err := guarded.(ambit.Subber).Sub(ctx, path); return err },
	}
	for _, path := range []string{"/f", "/m/h", "/m", "/real", "/real/n", "/way", "/way/deep", "/way/deep/n", "/way/none", "/none"} {
		for op, call := range calls {
			asked, deny = nil, ""
			before := tree(t, fsys)
			deny = path
			err := call(path)
			if op == "remove" || op == "rename" {
				// That a root cannot be taken away is no rule's matter.
				if ambit.ReasonOf(err) == ambit.ErrInvalid {
					continue
				}
			}
			e, ok := err.(*ambit.Error)
			if !ok || e.Reason != ambit.ErrDenied || e.Rule != "test" || e.Path != path {
				t.Errorf("%s %s with a rule against it: %v", op, path, err)
			}
			if !slices.Contains(asked, op+" "+path) && !(op == "sub" && slices.Contains(asked, "stat "+path)) {
				t.Errorf("%s %s: asked %q", op, path, asked)
			}
			if after := tree(t, fsys); after != before {
				t.Fatalf("%s %s changed something", op, path)
			}
		}
		deny = path
		if got := tree(t, guarded); strings.Contains(got, path+" ") || strings.Contains(got, path+"/") {
			t.Errorf("%s is denied and shown:\n%s", path, got)
		}
	}
	deny = ""
	for _, fsys := range []ambit.FileSystem{fsys, machine(t, nil, map[string]ambit.FileSystem{"/way/m": memory.New(nil, nil)})} {
		vague := fsys.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return errors.New("no reason") })
		for _, path := range []string{"/f", "/m", "/way", "/way/none", "/"} {
			_, err := vague.Stat(ctx, path)
			reason(t, "a rule that gives no reason, "+path, err, ambit.ErrDenied)
		}
	}
	// A second rule is asked too, and a Sub keeps both.
	again := guarded.(ambit.Guarder).Guard(func(_ context.Context, _ ambit.Op, canonical string) error {
		if canonical == "/way/deep" || canonical == "/real/g" {
			return ambit.ErrDenied
		}
		return nil
	})
	_, err := again.Stat(ctx, "/way/deep")
	reason(t, "the second rule", err, ambit.ErrDenied)
	sub, err := ambit.Sub(ctx, again, "/way")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sub.Stat(ctx, "deep")
	reason(t, "the second rule through a Sub of a way", err, ambit.ErrDenied)
	sub, err = ambit.Sub(ctx, again, "/real")
	if err != nil {
		t.Fatal(err)
	}
	_, err = sub.Stat(ctx, "g")
	reason(t, "the second rule through a Sub", err, ambit.ErrDenied)
	deny = "/real/n/x"
	_, err = sub.Open(ctx, "n/x")
	reason(t, "the first rule through a Sub", err, ambit.ErrDenied)
	deny = "/f"
	_, err = again.Open(ctx, "f")
	reason(t, "the first rule", err, ambit.ErrDenied)
}

// TestErrorsHaveTheCallersPath: of files, staged content and every call.
func TestErrorsHaveTheCallersPath(t *testing.T) {
	ctx := t.Context()
	member := memory.New(map[string]string{"f": "f"}, nil)
	fsys := machine(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/m": member})
	path := "./m/x/../f"
	f, err := fsys.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Info().Path != "/m/f" {
		t.Errorf("%+v", f.Info())
	}
	member.SetFile("f", "other")
	check := func(err error, want ambit.Reason) {
		t.Helper()
		if e, ok := err.(*ambit.Error); !ok || e.Path != path || e.Reason != want || e.Target != "" && e.Target != "/m/f" {
			t.Errorf("%#v", err)
		}
	}
	check(f.Verify(ctx), ambit.ErrChanged)
	f.Close()
	_, err = f.Read(make([]byte, 1))
	check(err, ambit.ErrClosed)
	_, err = f.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
	check(err, ambit.ErrClosed)
	_, err = fsys.(ambit.Stager).Stage(ctx, path, strings.NewReader("new"), &ambit.WriteOptions{If: ambit.IfVersion(f.Info().Version)})
	check(err, ambit.ErrChanged)
	info, err := fsys.Stat(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fsys.(ambit.Stager).Stage(ctx, path, strings.NewReader("new"), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	if err != nil || s.Info().Path != "/m/f" {
		t.Fatalf("%v, %v", s, err)
	}
	member.SetFile("f", "another")
	_, err = s.Publish(ctx)
	check(err, ambit.ErrChanged)
	_, err = s.Publish(ctx)
	check(err, ambit.ErrClosed)
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = fsys.Stat(done, path)
	check(err, ambit.ErrCanceled)
}

// TestTogether uses a machine from many goroutines.
func TestTogether(t *testing.T) {
	fsys := machine(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/m": memory.New(nil, nil), "/w/x/n": memory.New(nil, nil)})
	ctx := context.Background()
	var wg sync.WaitGroup
	made := make([]atomic.Int64, 3)
	for g := range 6 {
		wg.Go(func() {
			for i := range 40 {
				for k, dir := range []string{"/m", "/w", "/w/x/n"} {
					path := fmt.Sprintf("%s/%d-%d", dir, g, i)
					if _, err := ambit.WriteFile(ctx, fsys, path, []byte(path), nil); err != nil {
						t.Error(err)
					}
					if data, _, err := ambit.ReadFile(ctx, fsys, path); err != nil || string(data) != path {
						t.Errorf("%q, %v", data, err)
					}
					if _, err := ambit.Append(ctx, fsys, dir+"/log", strings.NewReader("x"), nil); err != nil {
						t.Error(err)
					}
					if created, err := ambit.Mkdir(ctx, fsys, fmt.Sprintf("%s/dir%d", dir, i), nil); err == nil {
						made[k].Add(1)
						if len(created) != 1 {
							t.Errorf("made %q", created)
						}
					} else if ambit.ReasonOf(err) != ambit.ErrExists {
						t.Error(err)
					}
					if _, err := fsys.List(ctx, ambit.Dir(dir), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for k, dir := range []string{"/m", "/w", "/w/x/n"} {
		if n := made[k].Load(); n != 40 {
			t.Errorf("%d folders were made in %s", n, dir)
		}
		if data, _, err := ambit.ReadFile(ctx, fsys, dir+"/log"); err != nil || len(data) != 6*40 {
			t.Errorf("%s/log has %d bytes, %v", dir, len(data), err)
		}
	}
}

func TestNewOfNilPointers(t *testing.T) {
	var none *memory.FileSystem
	_, err := route.New(none, nil)
	reason(t, "a nil pointer as the fallback", err, ambit.ErrInvalid)
	_, err = route.New(memory.New(nil, nil), map[string]ambit.FileSystem{"/m": none})
	reason(t, "a nil pointer", err, ambit.ErrInvalid)
	_, err = route.New(nil, nil)
	reason(t, "nothing at all", err, ambit.ErrInvalid)
	if _, err := route.New(memory.New(nil, nil), nil); err != nil {
		t.Errorf("no mounts: %v", err)
	}
}
