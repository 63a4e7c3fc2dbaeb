// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/memory"
)

// household is a file system as a stranger would have one.
func household() *memory.FileSystem {
	return memory.New(map[string]string{
		"home/me/notes.txt": "one\ntwo\n", "home/me/src/main.go": "package main\n", "home/me/src/a.go": "", "home/me/src/z/": "",
		"etc/passwd": "root\n", "tmp/": "", "home/me/Zebra": "z", "home/me/.hidden": "h",
	}, nil)
}

// guarded denies /etc.
func guarded(fsys ambit.Guarder) ambit.FileSystem {
	return fsys.Guard(func(_ context.Context, _ ambit.Op, path string) error {
		if ambit.Contains("/etc", path) {
			return ambit.ErrDenied
		}
		return nil
	})
}

func readFixture(fsys *memory.FileSystem) conformance.ReadFixture {
	return conformance.ReadFixture{
		ExistingFile: "/home/me/notes.txt", Bytes: []byte("one\ntwo\n"), MissingPath: "/home/me/gone", DirectoryPath: "home/me/src",
		RefusedPath: "/etc/passwd", ListDirectory: "/home/me",
		Mutate: func(context.Context) error {
			fsys.SetFile("/home/me/notes.txt", "one\nTWO\n")
			return nil
		},
	}
}

func outcomes(r *conformance.Report) map[string]conformance.Outcome {
	m := make(map[string]conformance.Outcome)
	for _, res := range r.Results {
		m[res.ID] = res.Outcome
	}
	return m
}

func TestCheckFileSystem(t *testing.T) {
	fsys := household()
	r := conformance.CheckFileSystem(t.Context(), guarded(fsys), readFixture(fsys))
	if r.Grade() != conformance.Full {
		t.Errorf("grade %s: %s", r.Grade(), r)
	}
	if len(r.Results) < 40 {
		t.Errorf("only %d checks", len(r.Results))
	}
	suite := make(map[string]string)
	for _, c := range conformance.Checks() {
		suite[c.ID] = c.Rule
	}
	seen := make(map[string]bool)
	for _, res := range r.Results {
		if seen[res.ID] {
			t.Errorf("%s ran twice", res.ID)
		}
		seen[res.ID] = true
		if res.Rule == "" {
			t.Errorf("%s has no rule", res.ID)
		}
		if rule, ok := suite[res.ID]; ok && rule != res.Rule {
			t.Errorf("%s has the rule %q, and in the suite %q", res.ID, res.Rule, rule)
		} else if !ok && !strings.Contains(res.ID, "/fixture-") {
			t.Errorf("%s is no check of the suite", res.ID)
		}
	}
	for _, id := range []string{"core/open-missing", "core/stat-file-with-slash", "core/list-file", "core/open-folder", "core/open-above-the-root", "core/stat-context-done"} {
		if !seen[id] {
			t.Errorf("%s did not run", id)
		}
	}
}

// A check that is given nothing to work on says so.
func TestCheckFileSystemNotRun(t *testing.T) {
	fsys := household()
	full := outcomes(conformance.CheckFileSystem(t.Context(), guarded(fsys), readFixture(fsys)))
	for _, c := range []struct {
		field  string
		drop   func(f *conformance.ReadFixture)
		notRun string
	}{
		{"ExistingFile", func(f *conformance.ReadFixture) { f.ExistingFile = "" }, "core/list-file"},
		{"Bytes", func(f *conformance.ReadFixture) { f.Bytes = nil }, "core/open-file"},
		{"MissingPath", func(f *conformance.ReadFixture) { f.MissingPath = "" }, "core/open-missing"},
		{"DirectoryPath", func(f *conformance.ReadFixture) { f.DirectoryPath = "" }, "core/open-folder"},
		{"RefusedPath", func(f *conformance.ReadFixture) { f.RefusedPath = "" }, "core/fixture-refused-path"},
		{"ListDirectory", func(f *conformance.ReadFixture) { f.ListDirectory = "" }, "core/list-pages"},
		{"Mutate", func(f *conformance.ReadFixture) { f.Mutate = nil }, "core/verify-foreign-replacement"},
	} {
		t.Run(c.field, func(t *testing.T) {
			fsys := household()
			f := readFixture(fsys)
			c.drop(&f)
			r := conformance.CheckFileSystem(t.Context(), guarded(fsys), f)
			if r.Grade() != conformance.Partial {
				t.Errorf("grade %s, want partial: %s", r.Grade(), r)
			}
			got := outcomes(r)
			if got[c.notRun] != conformance.NotRun {
				t.Errorf("%s: %q, want not run", c.notRun, got[c.notRun])
			}
			for id := range full {
				if _, ok := got[id]; !ok {
					t.Errorf("%s is left out, want it as not run", id)
				}
			}
		})
	}
	r := conformance.CheckFileSystem(t.Context(), fsys, conformance.ReadFixture{})
	if r.Grade() != conformance.Failed || len(r.Problems) != 1 {
		t.Errorf("an empty fixture: %s", r)
	}
}

// altered overrides single methods of a file system.
type altered struct {
	ambit.WritableFileSystem
	open   func(path string) (ambit.File, error)
	list   func(dir string, l *ambit.Listing) *ambit.Listing
	write  func(path string) error
	remove func(path string) error
}

func (f altered) Capabilities() ambit.Capabilities {
	c := f.WritableFileSystem.Capabilities()
	c.Append, c.Rename, c.Mkdir, c.Stage, c.Commit, c.Sub, c.Guard = false, false, false, false, false, false, false
	return c
}

func (f altered) Open(ctx context.Context, path string) (ambit.File, error) {
	if f.open != nil {
		if file, err := f.open(path); file != nil || err != nil {
			return file, err
		}
	}
	return f.WritableFileSystem.Open(ctx, path)
}

func (f altered) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	l, err := f.WritableFileSystem.List(ctx, dir, o)
	if err == nil && f.list != nil {
		l = f.list(dir, l)
	}
	return l, err
}

func (f altered) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if f.write != nil {
		if err := f.write(path); err != nil {
			return ambit.WriteResult{}, err
		}
	}
	return f.WritableFileSystem.Write(ctx, path, content, o)
}

func (f altered) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if f.remove != nil {
		if err := f.remove(path); err != nil {
			return err
		}
	}
	return f.WritableFileSystem.Remove(ctx, path, o)
}

// Each fault of a file system is found by the check that names the rule.
func TestCheckFileSystemFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  func(fsys *memory.FileSystem) altered
		failed string
	}{
		{"missing is reported as denied", func(fsys *memory.FileSystem) altered {
			return altered{WritableFileSystem: fsys, open: func(path string) (ambit.File, error) {
				if path == "/home/me/gone" {
					return nil, ambit.Wrap(ambit.OpOpen, path, ambit.ErrDenied)
				}
				return nil, nil
			}}
		}, "core/open-missing"},
		{"another file's bytes", func(fsys *memory.FileSystem) altered {
			return altered{WritableFileSystem: fsys, open: func(path string) (ambit.File, error) {
				if strings.HasSuffix(path, "notes.txt") {
					return fsys.Open(t.Context(), "/etc/passwd")
				}
				return nil, nil
			}}
		}, "core/open-file"},
		{"a listing in reverse", func(fsys *memory.FileSystem) altered {
			return altered{WritableFileSystem: fsys, list: func(_ string, l *ambit.Listing) *ambit.Listing {
				slices.Reverse(l.Entries)
				return l
			}}
		}, "core/list-sorted"},
		{"pages that lose an entry", func(fsys *memory.FileSystem) altered {
			return altered{WritableFileSystem: fsys, list: func(_ string, l *ambit.Listing) *ambit.Listing {
				if l.Next != "" && len(l.Entries) > 1 {
					l.Entries = l.Entries[1:]
				}
				return l
			}}
		}, "core/list-pages"},
		{"a refusal that is none", func(fsys *memory.FileSystem) altered { return altered{WritableFileSystem: fsys} }, "core/fixture-refused-path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := household()
			r := conformance.CheckFileSystem(t.Context(), c.fault(fsys), readFixture(fsys))
			if got := outcomes(r); got[c.failed] != conformance.Fail {
				t.Errorf("%s: %q, want fail: %s", c.failed, got[c.failed], r)
			}
		})
	}
	t.Run("Mutate that does nothing", func(t *testing.T) {
		fsys := household()
		f := readFixture(fsys)
		f.Mutate = func(context.Context) error { return nil }
		r := conformance.CheckFileSystem(t.Context(), guarded(fsys), f)
		if got := outcomes(r); got["core/verify-foreign-replacement"] != conformance.Fail {
			t.Errorf("%s", r)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		fsys := household()
		r := conformance.CheckFileSystem(t.Context(), altered{WritableFileSystem: fsys, open: func(string) (ambit.File, error) { panic("boom") }}, readFixture(fsys))
		if got := outcomes(r); got["core/open-file"] != conformance.Fail || got["core/stat-missing"] != conformance.Pass {
			t.Errorf("%s", r)
		}
	})
}

// everything is all that fsys holds.
func everything(t *testing.T, fsys ambit.FileSystem) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for e, err := range ambit.Walk(t.Context(), fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		all[e.Info.Path] = e.Info.Kind.String()
		if e.Info.Kind == ambit.KindRegular {
			data, info, err := ambit.ReadFile(t.Context(), fsys, e.Info.Path)
			if err != nil {
				t.Fatal(err)
			}
			all[e.Info.Path] = fmt.Sprintf("%q at %s", data, info.Version)
		}
	}
	return all
}

func TestCheckWritableFileSystem(t *testing.T) {
	fsys := household()
	before := everything(t, fsys)
	r := conformance.CheckWritableFileSystem(t.Context(), guarded(fsys), conformance.WriteFixture{ScratchDirectory: "tmp", RefusedPath: "/etc/passwd"})
	if r.Count(conformance.Fail) > 0 || len(r.Problems) > 0 {
		t.Errorf("%s", r)
	}
	if r.Count(conformance.Pass) < 100 {
		t.Errorf("only %d checks passed", r.Count(conformance.Pass))
	}
	if after := everything(t, fsys); !maps.Equal(before, after) {
		t.Errorf("the file system is not as it was: %v, was %v", after, before)
	}
	got := outcomes(r)
	for _, id := range []string{"write/fixture-refused-path", "text/lines-long", "text/edit-concurrently", "text/patch-all-or-none", "concurrent/swap-one-wins", "concurrent/updates-all-survive"} {
		if got[id] != conformance.Pass {
			t.Errorf("%s: %q, want pass", id, got[id])
		}
	}
	if got["concurrent/peer-agrees"] != conformance.NotRun {
		t.Errorf("a check that needs a second client: %q", got["concurrent/peer-agrees"])
	}
}

// A scratch folder that is not there, or has something in it, is left alone.
func TestCheckWritableFileSystemRefusesScratch(t *testing.T) {
	for _, dir := range []string{"", "gone", "home", "home/me/notes.txt", "etc", "..", "\x00"} {
		fsys := household()
		before := everything(t, fsys)
		r := conformance.CheckWritableFileSystem(t.Context(), guarded(fsys), conformance.WriteFixture{ScratchDirectory: dir})
		if r.Grade() != conformance.Failed || len(r.Problems) != 1 || len(r.Results) != 0 {
			t.Errorf("the scratch folder %q: %s", dir, r)
		}
		if after := everything(t, fsys); !maps.Equal(before, after) {
			t.Errorf("the scratch folder %q: the file system is not as it was: %v", dir, after)
		}
	}
	fsys := household()
	r := conformance.CheckWritableFileSystem(t.Context(), ambit.ReadOnly(fsys), conformance.WriteFixture{ScratchDirectory: "tmp"})
	if r.Grade() != conformance.Failed || len(r.Problems) != 1 {
		t.Errorf("a read-only file system: %s", r)
	}
}

// Whatever a check meets, the scratch folder is clean in the end.
func TestCheckWritableFileSystemCleansUp(t *testing.T) {
	var n atomic.Int64 // checks of many callers write at once
	for name, fault := range map[string]func(path string) error{
		"writes that panic": func(path string) error {
			if n.Add(1)%3 == 0 {
				panic("boom")
			}
			return nil
		},
		"writes that fail": func(path string) error {
			if n.Add(1)%3 == 0 {
				return ambit.Wrap(ambit.OpWrite, path, errors.New("a fault"))
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := household()
			before := everything(t, fsys)
			r := conformance.CheckWritableFileSystem(t.Context(), altered{WritableFileSystem: fsys, write: fault}, conformance.WriteFixture{ScratchDirectory: "tmp"})
			if r.Count(conformance.Fail) == 0 {
				t.Error("no check failed")
			}
			if len(r.Problems) > 0 {
				t.Errorf("problems: %q", r.Problems)
			}
			if after := everything(t, fsys); !maps.Equal(before, after) {
				t.Errorf("the file system is not as it was: %v", after)
			}
		})
	}
	t.Run("what cannot be removed is a problem", func(t *testing.T) {
		fsys := household()
		r := conformance.CheckWritableFileSystem(t.Context(), altered{WritableFileSystem: fsys, remove: func(path string) error {
			if strings.HasPrefix(path, "/tmp/check-7") && strings.Count(path, "/") == 2 {
				return ambit.Wrap(ambit.OpRemove, path, ambit.ErrPermission)
			}
			return nil
		}}, conformance.WriteFixture{ScratchDirectory: "tmp"})
		if r.Grade() != conformance.Failed || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "/tmp/check-7") {
			t.Errorf("problems: %q", r.Problems)
		}
	})
	t.Run("a run that is ended", func(t *testing.T) {
		fsys := household()
		before := everything(t, fsys)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		r := conformance.CheckWritableFileSystem(ctx, altered{WritableFileSystem: fsys, write: func(string) error {
			if n++; n == 200 {
				cancel()
			}
			return nil
		}}, conformance.WriteFixture{ScratchDirectory: "tmp"})
		if r.Grade() != conformance.Failed {
			t.Errorf("grade %s", r.Grade())
		}
		if after := everything(t, fsys); !maps.Equal(before, after) {
			t.Errorf("the file system is not as it was: %v", after)
		}
	})
}
