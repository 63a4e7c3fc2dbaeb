// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// asked records what a rule was asked, and refuses what refuse names.
type asked struct {
	mu     sync.Mutex
	all    []string
	refuse func(op ambit.Op, path string) error
}

func (a *asked) ask(_ context.Context, op ambit.Op, path string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, fmt.Sprintf("%s %s", op, path))
	if a.refuse == nil {
		return nil
	}
	return a.refuse(op, path)
}

func (a *asked) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.all
	a.all = nil
	slices.Sort(all)
	return all
}

// closed checks that neither a Guard nor a Sub opens anything where links might
// be followed unseen, and reports whether that is so.
func closed(t *testing.T, b backend, fsys ambit.WritableFileSystem) bool {
	t.Helper()
	if b.links != ambit.LinksUnknown {
		return false
	}
	if c := fsys.Capabilities(); c.Guard || c.Sub {
		t.Errorf("claimed %+v", c)
	}
	_, err := fsys.(ambit.Subber).Sub(t.Context(), "/")
	_, inside := fsys.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return nil }).Stat(t.Context(), "/")
	if told(err) != "unsupported" || told(inside) != "unsupported" {
		t.Errorf("%v, %v", err, inside)
	}
	return true
}

func memoryTree(t testing.TB, files map[string]string) (*aferofs.FileSystem, afero.Fs) {
	t.Helper()
	tree := afero.NewMemMapFs()
	fsys := aferofs.New(tree, &aferofs.Options{Exclusive: true})
	fill(t, fsys, files)
	return fsys, tree
}

// A rule is asked for what is acted on, once, by the paths of the file system
// that it was given to.
func TestRulesAreAsked(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		if closed(t, b, fsys) {
			return
		}
		fill(t, fsys, map[string]string{"/d/f": "F", "/d/e/g": "G", "/a": "A"})
		var a asked
		guarded := fsys.(ambit.Guarder).Guard(a.ask).(ambit.WritableFileSystem)
		ctx := t.Context()
		for _, step := range []struct {
			do   func() error
			want string
		}{
			{func() error { _, err := guarded.Open(ctx, "/d/../a"); return err }, "[open /a]"},
			{func() error { _, err := guarded.Stat(ctx, "/d/"); return err }, "[stat /d]"},
			{func() error { _, err := guarded.List(ctx, "/d", nil); return err }, "[list /d stat /d/e stat /d/f]"},
			{func() error {
				_, err := guarded.List(ctx, "/d", &ambit.ListOptions{Limit: 1, Details: true})
				return err
			}, "[list /d stat /d/e stat /d/f]"},
			{func() error { _, err := guarded.List(ctx, "/d", &ambit.ListOptions{After: "e"}); return err }, "[list /d stat /d/f]"},
			{func() error {
				_, err := guarded.Write(ctx, "/n/m/x", strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
				return err
			}, "[mkdir /n mkdir /n/m write /n/m/x]"},
			{func() error { _, err := ambit.Append(ctx, guarded, "/a", strings.NewReader("x"), nil); return err }, "[append /a]"},
			{func() error {
				s, err := ambit.Stage(ctx, guarded, "/a", strings.NewReader("x"), nil)
				if err == nil {
					err = s.Discard(ctx)
				}
				return err
			}, "[write /a]"},
			{func() error {
				_, err := ambit.Mkdir(ctx, guarded, "/k/l", &ambit.MkdirOptions{Parents: true})
				return err
			}, "[mkdir /k mkdir /k/l]"},
			{func() error {
				_, err := ambit.Mkdir(ctx, guarded, "/k", &ambit.MkdirOptions{Parents: true})
				return err
			}, "[mkdir /k]"},
			{func() error { _, err := ambit.Rename(ctx, guarded, "/a", "/z", nil); return err }, "[rename /a rename /z]"},
			{func() error { _, err := ambit.Rename(ctx, guarded, "/d", "/n/d", nil); return err }, "[rename /d rename /d/e rename /d/e/g rename /d/f rename /n/d]"},
			{func() error { return guarded.Remove(ctx, "/n/d", recursive) }, "[remove /n/d remove /n/d/e remove /n/d/e/g remove /n/d/f]"},
			{func() error {
				_, err := ambit.Commit(ctx, guarded, []ambit.Change{
					{Op: ambit.OpWrite, Path: "/q/w", Content: strings.NewReader("x"), Parents: true},
					{Op: ambit.OpRemove, Path: "/z"},
				})
				return err
			}, "[mkdir /q remove /z write /q/w]"},
		} {
			if err := step.do(); err != nil {
				t.Errorf("%v; it should be asked %s", err, step.want)
			}
			if got := fmt.Sprint(a.take()); got != step.want {
				t.Errorf("asked %s, want %s", got, step.want)
			}
		}
	})
}

// A refusal hides whether anything is there, and nothing is done.
func TestRulesRefuse(t *testing.T) {
	fsys, _ := memoryTree(t, map[string]string{"/d/secret": "S", "/d/open": "O", "/file": "F"})
	a := asked{refuse: func(_ ambit.Op, path string) error {
		if strings.Contains(path, "secret") {
			return errors.New("not for you")
		}
		return nil
	}}
	guarded := fsys.Guard(a.ask).(*aferofs.FileSystem)
	before := contents(t, fsys)
	ctx := t.Context()
	for _, path := range []string{"/d/secret", "/d/secret-too", "/no/secret", "/file/secret", "/d/secret/"} {
		_, opened := guarded.Open(ctx, path)
		_, stated := guarded.Stat(ctx, path)
		_, listed := guarded.List(ctx, path, nil)
		_, written := guarded.Write(ctx, path, strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
		_, made := guarded.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: true})
		_, moved := guarded.Rename(ctx, path, "/x", nil)
		_, target := guarded.Rename(ctx, "/file", path, &ambit.RenameOptions{Parents: true})
		for what, err := range map[string]error{
			"open": opened, "stat": stated, "list": listed, "write": written, "mkdir": made, "rename": moved, "rename to": target,
			"remove": guarded.Remove(ctx, path, &ambit.RemoveOptions{MissingOK: true}),
		} {
			if told(err) != "denied" {
				t.Errorf("%s %s: %v", what, path, err)
			}
		}
	}
	if err := guarded.Remove(ctx, "/d", recursive); told(err) != "denied" {
		t.Errorf("removal of a folder with something denied in it: %v", err)
	}
	if err := guarded.Remove(ctx, "/d", nil); told(err) != "denied" {
		t.Errorf("plain removal of a folder with something denied in it: %v", err)
	}
	if _, err := guarded.Rename(ctx, "/d", "/e", nil); told(err) != "denied" {
		t.Errorf("move of a folder with something denied in it: %v", err)
	}
	if got := contents(t, guarded); got != "/d/ /d/open=O /file=F" {
		t.Errorf("shown %s", got)
	}
	if got := contents(t, fsys); got != before {
		t.Errorf("changed to %s", got)
	}
}

// A rule's own reason comes through; an error without one is denied, whatever
// it would match.
func TestRefusalReasons(t *testing.T) {
	fsys, _ := memoryTree(t, map[string]string{"/a": "A"})
	for _, c := range []struct {
		err  error
		want ambit.Reason
	}{
		{errors.New("no"), ambit.ErrDenied},
		{fs.ErrNotExist, ambit.ErrDenied},
		{ambit.ErrNotObserved, ambit.ErrNotObserved},
		{&ambit.Error{Reason: ambit.ErrReadOnly, Detail: "plan"}, ambit.ErrReadOnly},
		{context.Canceled, ambit.ErrCanceled},
	} {
		_, err := fsys.Guard(func(context.Context, ambit.Op, string) error { return c.err }).Open(t.Context(), "/a")
		e, ok := err.(*ambit.Error)
		if !ok || e.Reason != c.want || e.Path != "/a" || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a rule that returns %v: %v", c.err, err)
		}
	}
}

// Rules given one after the other all hold, each by its own paths; those of a
// parent hold in its Sub.
func TestRulesAndSub(t *testing.T) {
	fsys, _ := memoryTree(t, map[string]string{"/d/e/f": "F", "/d/e/s": "S"})
	ctx := t.Context()
	var outer, inner asked
	outer.refuse = func(_ ambit.Op, path string) error {
		if path == "/d/e/s" {
			return ambit.ErrDenied
		}
		return nil
	}
	sub, err := fsys.Guard(outer.ask).(ambit.Subber).Sub(ctx, "d")
	if err != nil {
		t.Fatal(err)
	}
	outer.take()
	both := sub.(ambit.Guarder).Guard(inner.ask)
	if _, err := both.Stat(ctx, "/e/f"); err != nil {
		t.Fatal(err)
	}
	if o, i := fmt.Sprint(outer.take()), fmt.Sprint(inner.take()); o != "[stat /d/e/f]" || i != "[stat /e/f]" {
		t.Errorf("asked %s and %s", o, i)
	}
	if _, err := both.Stat(ctx, "/e/s"); told(err) != "denied" {
		t.Error(err)
	}
	deeper, err := both.(ambit.Subber).Sub(ctx, "e")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deeper.Open(ctx, "s"); told(err) != "denied" {
		t.Error(err)
	}
	if got := contents(t, deeper); got != "/f=F" {
		t.Errorf("shown %s", got)
	}
}

// Sub shows one folder as a whole machine, in results and in errors, and
// nothing above it.
func TestSub(t *testing.T) {
	each(t, func(t *testing.T, b backend, fsys ambit.WritableFileSystem) {
		if closed(t, b, fsys) {
			return
		}
		fill(t, fsys, map[string]string{"/share/f": "F", "/share/d/g": "G", "/share-secret/loot": "L"})
		ctx := t.Context()
		s, err := fsys.(ambit.Subber).Sub(ctx, "share/")
		if err != nil {
			t.Fatal(err)
		}
		sub := s.(*aferofs.FileSystem)
		if got := contents(t, sub); got != "/d/ /d/g=G /f=F" {
			t.Errorf("shown %s", got)
		}
		for _, path := range []string{"../share-secret/loot", "/../share-secret/loot", ".."} {
			if _, err := sub.Open(ctx, path); told(err) != "outside" {
				t.Errorf("open %s: %v", path, err)
			}
		}
		if _, err := sub.Open(ctx, "/share/f"); told(err) != "not-found" {
			t.Errorf("open by the path above: %v", err)
		}
		_, err = sub.Open(ctx, "no/where/x")
		var e *ambit.Error
		if !errors.As(err, &e) || e.Target != "/no/where/x" || fmt.Sprint(e.MissingDirs) != "[/no /no/where]" {
			t.Errorf("%#v", err)
		}
		r, err := sub.Write(ctx, "n/m/x", strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
		if err != nil || r.Info.Path != "/n/m/x" || fmt.Sprint(r.CreatedDirs) != "[/n /n/m]" {
			t.Errorf("%+v, %v", r, err)
		}
		if err := sub.Remove(ctx, "/", recursive); told(err) != "invalid" {
			t.Errorf("removal of its root: %v", err)
		}
		if _, err := sub.Rename(ctx, "/", "/x", nil); told(err) != "invalid" {
			t.Errorf("move of its root: %v", err)
		}
		if _, err := sub.Rename(ctx, "f", "/", nil); told(err) != "not-a-directory" {
			t.Errorf("move over its root: %v", err)
		}
		if _, err := sub.Write(ctx, "/", strings.NewReader("x"), nil); told(err) != "not-a-file" {
			t.Errorf("writing its root: %v", err)
		}
		if _, err := fsys.(ambit.Subber).Sub(ctx, "share/f"); told(err) != "not-a-directory" {
			t.Errorf("Sub of a file: %v", err)
		}
		// It follows the name.
		if err := fsys.Remove(ctx, "share", recursive); err != nil {
			t.Fatal(err)
		}
		if _, err := sub.Stat(ctx, "/"); told(err) != "not-found" {
			t.Errorf("Stat of a root that was removed: %v", err)
		}
		if _, err := sub.Open(ctx, "f"); told(err) != "not-found" {
			t.Errorf("open beneath a root that was removed: %v", err)
		}
		if _, err := sub.Write(ctx, "n/x", strings.NewReader("x"), &ambit.WriteOptions{Parents: true}); told(err) != "not-found" {
			t.Errorf("writing beneath a root that was removed: %v", err)
		}
		if _, err := sub.Mkdir(ctx, "/", &ambit.MkdirOptions{Parents: true}); told(err) != "not-found" {
			t.Errorf("making a root that was removed: %v", err)
		}
	})
}

// A rule may take its time, and use the file system: no lock is held.
func TestRulesHoldNoLock(t *testing.T) {
	fsys, _ := memoryTree(t, map[string]string{"/d/f": "F", "/e": ""})
	ctx := t.Context()
	n := 0
	guarded := fsys.Guard(func(ctx context.Context, op ambit.Op, path string) error {
		n++
		_, err := fsys.Write(ctx, fmt.Sprintf("/e%d", n), strings.NewReader("x"), nil)
		return err
	}).(*aferofs.FileSystem)
	if _, err := guarded.Write(ctx, "/d/g", strings.NewReader("x"), nil); err != nil {
		t.Error(err)
	}
	if _, err := guarded.List(ctx, "/", nil); err != nil {
		t.Error(err)
	}
	if err := guarded.Remove(ctx, "/d", recursive); err != nil {
		t.Error(err)
	}
	if n < 5 {
		t.Errorf("asked %d times", n)
	}
}

// What comes to be beneath a folder while its rules are asked is asked about
// too: nothing is removed that was not allowed.
func TestRulesAndWhatComesMeanwhile(t *testing.T) {
	fsys, _ := memoryTree(t, map[string]string{"/d/f": "F"})
	ctx := t.Context()
	guarded := fsys.Guard(func(ctx context.Context, _ ambit.Op, path string) error {
		switch path {
		case "/d/f":
			_, err := fsys.Write(ctx, "/d/secret", strings.NewReader("S"), nil)
			return err
		case "/d/secret":
			return ambit.ErrDenied
		}
		return nil
	}).(*aferofs.FileSystem)
	if err := guarded.Remove(ctx, "/d", recursive); told(err) != "denied" {
		t.Error(err)
	}
	if got := contents(t, fsys); got != "/d/ /d/f=F /d/secret=S" {
		t.Errorf("it holds %s", got)
	}
}

// The hook is asked last: what it fails has done nothing, and a context that
// it ends is seen.
func TestFaults(t *testing.T) {
	for _, ends := range []bool{false, true} {
		for _, c := range changes {
			for _, exclusive := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/context %v/exclusive %v", c.name, ends, exclusive), func(t *testing.T) {
					tree := afero.NewMemMapFs()
					fill(t, aferofs.New(tree, nil), changeTree)
					ctx, cancel := context.WithCancel(t.Context())
					var ops []string
					fsys := aferofs.New(tree, &aferofs.Options{Exclusive: exclusive, Faults: func(op, path string) error {
						ops = append(ops, op+" "+path)
						if ends {
							cancel()
							return nil
						}
						return io.ErrUnexpectedEOF
					}})
					err := c.do(ctx, fsys)
					want, sentinel := "io", io.ErrUnexpectedEOF
					if ends {
						want, sentinel = "canceled", context.Canceled
					}
					if told(err) != want || !errors.Is(err, sentinel) {
						t.Errorf("%v, want %s", err, want)
					}
					if len(ops) == 0 {
						t.Error("the hook was not asked")
					}
					if got := contents(t, aferofs.New(tree, nil)); got != changeTreeText {
						t.Errorf("left %s", got)
					}
					if names := bareNames(t, tree); strings.Contains(names, ".ambit") {
						t.Errorf("left behind %s", names)
					}
				})
			}
		}
	}
}
