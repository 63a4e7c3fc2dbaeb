// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

func TestWritable(t *testing.T) {
	for _, test := range []struct {
		name string
		fsys ambit.FileSystem
		want ambit.Reason
	}{
		{"everything", &spy{caps: full()}, ""},
		{"the bit alone", readOnlyBase{&spy{caps: full()}}, ambit.ErrReadOnly},
		{"the methods alone", &spy{caps: set(full(), "Write", false)}, ambit.ErrReadOnly},
		{"nil", nil, ambit.ErrReadOnly},
	} {
		w, err := ambit.Writable(test.fsys)
		if ambit.ReasonOf(err) != test.want || (w == nil) != (test.want != "") {
			t.Errorf("%s: %v, %v", test.name, w, err)
		}
	}
}

// TestFunctionsUseTheInterface: where the bit is claimed and the method is there, the function is that method.
func TestFunctionsUseTheInterface(t *testing.T) {
	own := &ambit.Error{Reason: ambit.ErrChanged}
	content := strings.NewReader("x")
	for name, call := range map[string]func(ctx context.Context, fsys ambit.FileSystem) error{
		"Write a": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.WriteFile(ctx, fsys, "a", []byte("x"), nil)
			return err
		},
		"Append a": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Append(ctx, fsys, "a", content, nil)
			return err
		},
		"Rename a b": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Rename(ctx, fsys, "a", "b", nil)
			return err
		},
		"Mkdir a": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Mkdir(ctx, fsys, "a", nil)
			return err
		},
		"Remove a": func(ctx context.Context, fsys ambit.FileSystem) error { return ambit.Remove(ctx, fsys, "a", nil) },
		"Stage a": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Stage(ctx, fsys, "a", content, nil)
			return err
		},
		"Commit a b": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Commit(ctx, fsys, []ambit.Change{{Path: "a"}, {Path: "b"}})
			return err
		},
		"Sub a": func(ctx context.Context, fsys ambit.FileSystem) error {
			_, err := ambit.Sub(ctx, fsys, "a")
			return err
		},
	} {
		s := &spy{caps: full(), err: own}
		if err := call(t.Context(), s); err != own || !slices.Equal(s.calls, []string{name}) {
			t.Errorf("%s: %v, calls %q", name, err, s.calls)
		}
		op := strings.ToLower(strings.Fields(name)[0])
		if op == "sub" {
			continue
		}
		// On a read-only file system, whatever else it lacks, a change is read-only.
		for _, fsys := range []ambit.FileSystem{&spy{caps: full().ReadOnly()}, ambit.ReadOnly(s), readOnlyBase{s}} {
			wantReason(t, call(t.Context(), fsys), op, "a", ambit.ErrReadOnly)
		}
		// Without what a fallback stands on it is unsupported, and nothing is tried.
		if op == "write" || op == "remove" || op == "stage" {
			continue
		}
		for _, lacking := range []ambit.Capabilities{
			{Write: true, Remove: true, Swap: ambit.SwapExact},
			{Write: true, Remove: true, Versions: true},
			{Write: true},
		} {
			s := &spy{caps: lacking}
			wantReason(t, call(t.Context(), s), op, "a", ambit.ErrUnsupported)
			if len(s.calls) > 0 {
				t.Errorf("%s: calls %q", name, s.calls)
			}
		}
	}
	if n := content.Len(); n != 1 {
		t.Errorf("%d of 1 byte left", n)
	}
}

func TestReadFile(t *testing.T) {
	ctx := t.Context()
	for _, size := range []int{0, 1, 510, 511, 512, 513, 100_000} {
		want := bytes.Repeat([]byte("x"), size)
		for _, claimed := range []int64{int64(size), -1, 0, int64(size) + 1000, math.MaxInt64} {
			fsys := fileOf{newDouble(nil), bytes.NewReader(want), claimed, nil}
			got, info, err := ambit.ReadFile(ctx, fsys, "f")
			if err != nil || !bytes.Equal(got, want) || info.Size != claimed {
				t.Errorf("%d bytes, claimed %d: %d, %+v, %v", size, claimed, len(got), info, err)
			}
			for _, limit := range []int64{int64(size) - 1, int64(size), int64(size) + 1, math.MaxInt64} {
				if limit < 0 {
					continue
				}
				fsys := fileOf{newDouble(nil), bytes.NewReader(want), claimed, nil}
				got, _, err := ambit.ReadFileMax(ctx, fsys, "f", limit)
				if int64(size) > limit || claimed > limit {
					e := wantReason(t, err, ambit.OpOpen, "f", ambit.ErrTooLarge)
					if got != nil || e.Limit != limit || e.Size <= limit {
						t.Errorf("%d bytes, claimed %d, limit %d: %d, %+v", size, claimed, limit, len(got), e)
					}
				} else if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, claimed %d, limit %d: %d, %v", size, claimed, limit, len(got), err)
				}
			}
		}
	}
	_, _, err := ambit.ReadFileMax(ctx, newDouble(map[string]string{"/f": ""}), "f", -1)
	wantReason(t, err, ambit.OpOpen, "f", ambit.ErrInvalid)
	_, _, err = ambit.ReadFileMax(ctx, newDouble(nil), "", math.MinInt64)
	wantReason(t, err, ambit.OpOpen, "", ambit.ErrInvalidPath)
}

// fileOf is a file system whose Open returns a file that reads from r.
type fileOf struct {
	*double
	r       io.Reader
	claimed int64
	verify  error
}

func (f fileOf) Open(context.Context, string) (ambit.File, error) {
	if f.r == nil {
		return nil, nil
	}
	return readsFrom{f}, nil
}

type readsFrom struct{ f fileOf }

func (r readsFrom) Read(p []byte) (int, error) { return r.f.r.Read(p) }
func (r readsFrom) Close() error               { return nil }
func (r readsFrom) Info() ambit.FileInfo {
	return ambit.FileInfo{Path: "/f", Kind: ambit.KindRegular, Size: r.f.claimed}
}
func (r readsFrom) Verify(context.Context) error { return r.f.verify }

func TestReadFileOfHostileFiles(t *testing.T) {
	own := errors.New("own")
	for name, test := range map[string]struct {
		fsys fileOf
		op   string
		want ambit.Reason
	}{
		"neither file nor error": {fileOf{}, ambit.OpOpen, ambit.ErrIO},
		"nothing for ever":       {fileOf{r: readerFunc(func([]byte) (int, error) { return 0, nil })}, ambit.OpRead, ambit.ErrIO},
		"negative":               {fileOf{r: readerFunc(func([]byte) (int, error) { return -1, nil })}, ambit.OpRead, ambit.ErrIO},
		"more than asked":        {fileOf{r: readerFunc(func(p []byte) (int, error) { return len(p) + 1, io.EOF })}, ambit.OpRead, ambit.ErrIO},
		"an error":               {fileOf{r: failingReader{own}}, ambit.OpRead, ambit.ErrIO},
		"changed meanwhile":      {fileOf{r: strings.NewReader("x"), verify: ambit.ErrChanged}, ambit.OpVerify, ambit.ErrChanged},
	} {
		test.fsys.double = newDouble(nil)
		data, info, err := ambit.ReadFile(t.Context(), test.fsys, "as/written")
		wantReason(t, err, test.op, "as/written", test.want)
		if data != nil || info != (ambit.FileInfo{}) {
			t.Errorf("%s: %q, %+v beside an error", name, data, info)
		}
	}
}

// cellTree has one of each kind of thing that a path can end at.
func cellTree() map[string]string {
	return map[string]string{
		"/file": "old", "/readonly": "ro", "/folder/inner": "in", "/empty/": "", "/fifo": "|",
		"/link": "-> file", "/link-folder": "-> folder", "/dangling": "-> missing", "/dangling-deep": "-> no/such",
		"/outward": "-> ../x", "/loop": "-> loop", "/chain": "-> link",
	}
}

var cellPaths = []string{
	"/", ".", "", "..", "a\x00", "file", "/file", "readonly", "folder", "folder/inner", "empty", "fifo",
	"link", "link-folder", "link-folder/inner", "link-folder/new", "dangling", "dangling-deep", "outward", "loop", "chain",
	"missing", "missing/deep", "missing/deep/er", "file/x", "fifo/x", "dangling/x", "outward/x", "loop/x", "folder/new",
	"file/", "folder/", "missing/", "link/", "link-folder/", "dangling/", "outward/", "loop/", "fifo/", "folder/.", "folder/..",
	"missing/../file", "link-folder/../file", strings.Repeat("n", 256), "../" + strings.Repeat("n", 256),
}

// newCells makes a double of the tree, and returns the version of its file.
func newCells(change func(c *ambit.Capabilities)) (*double, ambit.Version) {
	d := newDouble(cellTree())
	d.nodes["/readonly"].mode = 0o444
	if change != nil {
		change(&d.caps)
	}
	return d, ambit.Version(fmt.Sprintf("v%d", d.nodes["/file"].version))
}

// variants are file systems whose fallbacks go different ways.
var variants = map[string]func(c *ambit.Capabilities){
	"whole":                  nil,
	"without ReadLink":       func(c *ambit.Capabilities) { c.ReadLink = false },
	"links refused":          func(c *ambit.Capabilities) { c.Links = ambit.LinksRefused },
	"refused, no ReadLink":   func(c *ambit.Capabilities) { c.Links, c.ReadLink = ambit.LinksRefused, false },
	"links unknown":          func(c *ambit.Capabilities) { c.Links, c.ReadLink = ambit.LinksUnknown, false },
	"modes not kept":         func(c *ambit.Capabilities) { c.KeepsMode = false },
	"checked, not exact":     func(c *ambit.Capabilities) { c.Swap = ambit.SwapChecked },
	"a limit for each file":  func(c *ambit.Capabilities) { c.MaxFileSize = 1 << 20 },
	"Mkdir not there either": func(c *ambit.Capabilities) { c.Mkdir = false },
}

// sameFailure compares what a program may want of two errors.
func sameFailure(a, b error) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if a == nil {
		return true
	}
	x, y := a.(*ambit.Error), b.(*ambit.Error)
	return x.Reason == y.Reason && x.Path == y.Path && x.Kind == y.Kind && x.Rule == y.Rule && slices.Equal(x.MissingDirs, y.MissingDirs)
}

// TestFallbackCells puts the fallbacks of Stage, Append and Commit beside Write, for every kind of path, precondition and
// option: the same reason with the same facts, the same result where it works, and nothing changed where it does not.
func TestFallbackCells(t *testing.T) {
	seen := make(map[ambit.Reason]int)
	for name, change := range variants {
		_, version := newCells(change)
		for _, path := range cellPaths {
			for _, p := range []ambit.Precondition{{}, ambit.IfAbsent(), ambit.IfVersion(version), ambit.IfVersion("other"), ambit.IfVersion("")} {
				for _, parents := range []bool{false, true} {
					what := fmt.Sprintf("%s: %q, %+v, parents %t", name, path, p, parents)
					d, _ := newCells(change)
					before := d.dump()
					want, wantErr := d.Write(t.Context(), path, strings.NewReader("new"), &ambit.WriteOptions{If: p, Parents: parents})
					wanted := d.dump()
					seen[ambit.ReasonOf(wantErr)]++

					judge := func(how string, d *double, err error, wanted map[string]string) {
						t.Helper()
						if !sameFailure(wantErr, err) {
							t.Errorf("%s, %s: %#v, Write says %#v", how, what, err, wantErr)
						}
						if err != nil {
							wanted = before
						}
						if diff := cmp.Diff(wanted, d.dump()); diff != "" {
							t.Errorf("%s, %s (-want +got):\n%s", how, what, diff)
						}
					}

					d, _ = newCells(change)
					r, err := stageAndPublish(t, d, path, &ambit.WriteOptions{If: p, Parents: parents})
					judge("Stage", d, err, wanted)
					if err == nil && !sameResult(r, want) {
						t.Errorf("Stage, %s: %+v, want %+v", what, r, want)
					}

					d, _ = newCells(change)
					results, err := ambit.Commit(t.Context(), d, []ambit.Change{
						{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("new"), If: p, Parents: parents},
					})
					judge("Commit", d, err, wanted)
					if err == nil && (len(results) != 1 || !sameResult(results[0], want)) {
						t.Errorf("Commit, %s: %+v, want %+v", what, results, want)
					}

					d, _ = newCells(change)
					r, err = ambit.Append(t.Context(), d, path, strings.NewReader("new"), &ambit.AppendOptions{If: p, Parents: parents})
					appended := maps.Clone(wanted)
					if wantErr == nil && !want.Created {
						appended[want.Info.Path] = before[want.Info.Path] + "new"
						want.Info.Size = int64(len(appended[want.Info.Path]))
					}
					judge("Append", d, err, appended)
					if err == nil && !sameResult(r, want) {
						t.Errorf("Append, %s: %+v, want %+v", what, r, want)
					}
				}
			}
		}
	}
	for _, reason := range []ambit.Reason{
		"", ambit.ErrInvalidPath, ambit.ErrOutside, ambit.ErrInvalid, ambit.ErrDenied, ambit.ErrLoop, ambit.ErrNotADirectory,
		ambit.ErrNotFound, ambit.ErrNotAFile, ambit.ErrExists, ambit.ErrChanged, ambit.ErrPermission,
	} {
		if seen[reason] == 0 {
			t.Errorf("no case of %q", reason)
		}
	}
}

func stageAndPublish(t *testing.T, fsys ambit.FileSystem, path string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	t.Helper()
	s, err := ambit.Stage(t.Context(), fsys, path, strings.NewReader("new"), o)
	if err != nil {
		return ambit.WriteResult{}, err
	}
	info := s.Info()
	r, err := s.Publish(t.Context())
	if err == nil && (info.Path != r.Info.Path || info.Size != 3 || info.Version != "" || info.Kind != ambit.KindRegular) {
		t.Errorf("staged %+v, published %+v", info, r.Info)
	}
	again, againErr := s.Publish(t.Context())
	wantReason(t, againErr, ambit.OpPublish, path, ambit.ErrClosed)
	if again.Info != (ambit.FileInfo{}) {
		t.Errorf("a second Publish: %+v", again)
	}
	if err := s.Discard(t.Context()); err != nil {
		t.Errorf("Discard after Publish: %v", err)
	}
	return r, err
}

func sameResult(a, b ambit.WriteResult) bool {
	return a.Info.Path == b.Info.Path && a.Info.Size == b.Info.Size && a.Info.Mode == b.Info.Mode && a.Created == b.Created &&
		slices.Equal(a.CreatedDirs, b.CreatedDirs)
}

// TestCommitRemovalCells puts Commit's removal beside Remove, with the differences that docs/contract.md names.
func TestCommitRemovalCells(t *testing.T) {
	for name, change := range variants {
		_, version := newCells(change)
		for _, path := range cellPaths {
			for _, p := range []ambit.Precondition{{}, ambit.IfAbsent(), ambit.IfVersion(version), ambit.IfVersion("other"), ambit.IfVersion("")} {
				what := fmt.Sprintf("%s: %q, %+v", name, path, p)
				d, _ := newCells(change)
				before := d.dump()
				wantErr := d.Remove(t.Context(), path, &ambit.RemoveOptions{If: p})
				wanted := d.dump()
				want := ambit.ReasonOf(wantErr)
				clean, _, _ := ambit.Resolve("/", strings.Replace(path, "link-folder/inner", "folder/inner", 1))
				switch kind := d.kindOf(cellTree(), clean); {
				case want == ambit.ErrInvalid && (p.Absent() || p == ambit.IfVersion("")):
				case kind == ambit.KindSymlink && (want == "" || want == ambit.ErrInvalid):
					want = ambit.ErrUnsupported
				case kind == ambit.KindDirectory && want != ambit.ErrNotADirectory,
					kind == ambit.KindFIFO && (want == "" || want == ambit.ErrInvalid):
					want = ambit.ErrNotAFile
				}
				d, _ = newCells(change)
				results, err := ambit.Commit(t.Context(), d, []ambit.Change{{Op: ambit.OpRemove, Path: path, If: p}})
				if ambit.ReasonOf(err) != want {
					t.Errorf("%s: %v, want %q (Remove: %v)", what, err, want, wantErr)
				}
				if want == "" && (len(results) != 1 || results[0].Info.Path != clean || results[0].Created) {
					t.Errorf("%s: %+v", what, results)
				}
				if err != nil {
					wanted = before
				}
				if diff := cmp.Diff(wanted, d.dump()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		}
	}
}

// kindOf returns the kind of what tree has at path itself.
func (d *double) kindOf(tree map[string]string, path string) ambit.Kind {
	if n := newDouble(tree).nodes[path]; n != nil {
		return n.kind
	}
	return ambit.KindUnknown
}

func TestCommitOverlap(t *testing.T) {
	write := func(path string) ambit.Change {
		return ambit.Change{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("new"), Parents: true}
	}
	remove := func(path string) ambit.Change { return ambit.Change{Op: ambit.OpRemove, Path: path} }
	for _, changes := range [][]ambit.Change{
		{write("file"), write("/file")},
		{write("file"), write("x/../file")},
		{write("file"), remove("file")},
		{remove("file"), remove("./file")},
		{write("file"), write("link")},
		{write("link"), write("chain")},
		{write("folder/inner"), write("link-folder/inner")},
		{write("new"), write("folder/inner"), write("new")},
		{write("new"), write("new/deep")},
		{write("new/deep/er"), write("new")},
		{write("/new"), write("new/deep")},
		{write("folder/new"), write("link-folder/new/deep")},
	} {
		d, _ := newCells(nil)
		before := d.dump()
		last := changes[len(changes)-1].Path
		_, err := ambit.Commit(t.Context(), d, changes)
		e, ok := err.(*ambit.Error)
		if !ok || e.Reason != ambit.ErrInvalid || e.Op != ambit.OpCommit || e.Path != last && e.Path != changes[0].Path {
			t.Errorf("%q and %q: %v", changes[0].Path, last, err)
		}
		if diff := cmp.Diff(before, d.dump()); diff != "" {
			t.Errorf("%q and %q (-want +got):\n%s", changes[0].Path, last, diff)
		}
	}
	for _, changes := range [][]ambit.Change{
		{write("new"), write("newer")},
		{write("new"), write("new-deep/x")},
		{write("new/a"), write("new/b")},
		{write("folder/new"), write("empty/new"), remove("file")},
		{},
	} {
		d, _ := newCells(nil)
		results, err := ambit.Commit(t.Context(), d, changes)
		if err != nil || len(results) != len(changes) {
			t.Errorf("%d changes: %+v, %v", len(changes), results, err)
		}
	}
}

func TestRenameFallbackCells(t *testing.T) {
	replace, parents := &ambit.RenameOptions{Replace: true}, &ambit.RenameOptions{Parents: true}
	_, version := newCells(nil)
	at := func(v ambit.Version) *ambit.RenameOptions { return &ambit.RenameOptions{If: ambit.IfVersion(v)} }
	for _, test := range []struct {
		from, to string
		o        *ambit.RenameOptions
		want     ambit.Reason
		blamed   string // the path of the error; "" is from
		moved    string // where the file is then
	}{
		{from: "file", to: "new", moved: "/new"},
		{from: "/file", to: "folder/new", moved: "/folder/new"},
		{from: "file", to: "link-folder/new", moved: "/folder/new"},
		{from: "link-folder/inner", to: "new", moved: "/new"},
		{from: "file", to: "new", o: at(version), moved: "/new"},
		{from: "file", to: "missing/deep/new", o: parents, moved: "/missing/deep/new"},
		{from: "file", to: "folder/inner", o: replace, moved: "/folder/inner"},
		{from: "file", to: "readonly", o: replace, want: ambit.ErrPermission, blamed: "readonly"},
		{from: "file", to: "file", moved: "/file"},
		{from: "file", to: "./file", o: replace, moved: "/file"},
		{from: "folder/inner", to: "link-folder/inner", moved: "/folder/inner"},

		{from: "file", to: "new", o: at("other"), want: ambit.ErrChanged},
		{from: "missing", to: "new", o: at(version), want: ambit.ErrChanged},
		{from: "missing/deep", to: "new", o: at(version), want: ambit.ErrChanged},
		{from: "folder", to: "new", o: at(version), want: ambit.ErrInvalid},
		{from: "link", to: "new", o: at(version), want: ambit.ErrInvalid},
		{from: "file", to: "new", o: at(""), want: ambit.ErrInvalid},
		{from: "file", to: "new", o: &ambit.RenameOptions{If: ambit.IfAbsent()}, want: ambit.ErrInvalid},

		{from: "missing", to: "new", want: ambit.ErrNotFound},
		{from: "missing/deep", to: "new", want: ambit.ErrNotFound},
		{from: "file/", to: "new", want: ambit.ErrNotADirectory},
		{from: "file/x", to: "new", want: ambit.ErrNotADirectory},
		{from: "outward/x", to: "new", want: ambit.ErrOutside},
		{from: "loop/x", to: "new", want: ambit.ErrLoop},
		{from: "", to: "new", want: ambit.ErrInvalidPath},
		{from: "..", to: "", want: ambit.ErrOutside},
		{from: "/", to: "new", want: ambit.ErrInvalid},
		{from: "folder", to: "new", want: ambit.ErrUnsupported},
		{from: "link", to: "new", want: ambit.ErrUnsupported},
		{from: "link-folder/", to: "new", want: ambit.ErrNotADirectory},
		{from: "link-folder/.", to: "new", want: ambit.ErrNotADirectory},
		{from: "folder/", to: "new", want: ambit.ErrUnsupported},
		{from: "dangling", to: "new", want: ambit.ErrUnsupported},
		{from: "fifo", to: "new", want: ambit.ErrUnsupported},

		{from: "file", to: "", want: ambit.ErrInvalidPath, blamed: "-"},
		{from: "file", to: "a/../..", want: ambit.ErrOutside, blamed: "a/../.."},
		{from: "file", to: "missing/new", want: ambit.ErrNotFound, blamed: "missing/new"},
		{from: "file", to: "missing/new", o: replace, want: ambit.ErrNotFound, blamed: "missing/new"},
		{from: "file", to: "file/x", want: ambit.ErrNotADirectory, blamed: "file/x"},
		{from: "file", to: "file/", want: ambit.ErrNotADirectory, blamed: "file/"},
		{from: "file", to: "missing/", want: ambit.ErrNotADirectory, blamed: "missing/"},
		{from: "file", to: "folder/", o: replace, want: ambit.ErrNotADirectory, blamed: "folder/"},
		{from: "file", to: "outward/", want: ambit.ErrNotADirectory, blamed: "outward/"},
		{from: "file", to: "loop/", o: replace, want: ambit.ErrNotADirectory, blamed: "loop/"},
		{from: "file", to: "link-folder/", want: ambit.ErrNotADirectory, blamed: "link-folder/"},
		{from: "file", to: "outward/x", want: ambit.ErrOutside, blamed: "outward/x"},
		{from: "file", to: "dangling/x", o: parents, want: ambit.ErrDenied, blamed: "dangling/x"},
		{from: "file", to: "folder", want: ambit.ErrExists, blamed: "folder"},
		{from: "file", to: "folder", o: replace, want: ambit.ErrExists, blamed: "folder"},
		{from: "file", to: "empty", o: replace, want: ambit.ErrExists, blamed: "empty"},
		{from: "file", to: "/", o: replace, want: ambit.ErrNotADirectory, blamed: "/"},
		{from: "file", to: "folder/inner", want: ambit.ErrExists, blamed: "folder/inner"},
		{from: "file", to: "link", want: ambit.ErrExists, blamed: "link"},
		{from: "file", to: "dangling", want: ambit.ErrExists, blamed: "dangling"},
		{from: "file", to: "outward", want: ambit.ErrExists, blamed: "outward"},
		{from: "file", to: "loop", want: ambit.ErrExists, blamed: "loop"},
		{from: "file", to: "fifo", want: ambit.ErrExists, blamed: "fifo"},
		{from: "file", to: "link", o: replace, want: ambit.ErrUnsupported, blamed: "link"},
		{from: "file", to: "fifo", o: replace, want: ambit.ErrUnsupported, blamed: "fifo"},
	} {
		for _, name := range []string{"whole", "without ReadLink", "links unknown", "modes not kept"} {
			what := fmt.Sprintf("%s: %q to %q, %+v", name, test.from, test.to, test.o)
			d, _ := newCells(variants[name])
			if name == "modes not kept" && test.want == ambit.ErrPermission {
				continue
			}
			before := d.dump()
			source, _, _ := ambit.Resolve("/", strings.Replace(test.from, "link-folder", "folder", 1))
			info, err := ambit.Rename(t.Context(), d, test.from, test.to, test.o)
			wanted := maps.Clone(before)
			if test.want != "" {
				blamed := test.from
				if test.blamed == "-" {
					blamed = ""
				} else if test.blamed != "" {
					blamed = test.blamed
				}
				wantReason(t, err, ambit.OpRename, blamed, test.want)
				if info != (ambit.FileInfo{}) {
					t.Errorf("%s: %+v beside an error", what, info)
				}
			} else {
				if err != nil || info.Path != test.moved || info.Size != int64(len(before[source])) || info.Version == "" || info.Mode != 0o644 {
					t.Errorf("%s: %+v, %v", what, info, err)
				}
				delete(wanted, source)
				wanted[test.moved] = before[source]
				for dir := ambit.Dir(test.moved); dir != "/"; dir = ambit.Dir(dir) {
					wanted[dir+"/"] = ""
				}
			}
			if diff := cmp.Diff(wanted, d.dump()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
	}
}

// TestStageFallback: what Stage holds is of no file system, and goes when it is published or dropped.
func TestStageFallback(t *testing.T) {
	ownTemporaryFolder(t)
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		d := newDouble(map[string]string{"/f": "old"})
		before := d.dump()
		given := bytes.Clone(data)
		s, err := ambit.Stage(t.Context(), d, "f", bytes.NewReader(given), nil)
		if err != nil {
			t.Fatal(err)
		}
		clear(given) // the caller's buffer is the caller's own
		if diff := cmp.Diff(before, d.dump()); diff != "" {
			t.Errorf("Stage changed something (-want +got):\n%s", diff)
		}
		if got := s.Info().Size; got != int64(size) {
			t.Errorf("%d bytes of %d staged", got, size)
		}
		r, err := s.Publish(t.Context())
		if err != nil || r.Created || d.dump()["/f"] != string(data) {
			t.Errorf("%d bytes: %+v, %v", size, r, err)
		}

		s, err = ambit.Stage(t.Context(), d, "g", bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Discard(t.Context()); err != nil {
				t.Error(err)
			}
		}
		_, err = s.Publish(t.Context())
		wantReason(t, err, ambit.OpPublish, "g", ambit.ErrClosed)

		s, err = ambit.Stage(t.Context(), d, "g", bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Publish(done)
		wantReason(t, err, ambit.OpPublish, "g", ambit.ErrCanceled)
		_, err = s.Publish(t.Context())
		wantReason(t, err, ambit.OpPublish, "g", ambit.ErrClosed)
		if _, there := d.dump()["/g"]; there {
			t.Error("what was dropped is there")
		}
	}
	noTemporaryFiles(t)
}

// TestFallbackContentErrors: a failing reader fails the call with its own error, and a large content leaves nothing behind.
func TestFallbackContentErrors(t *testing.T) {
	ownTemporaryFolder(t)
	own := errors.New("own")
	for _, size := range []int{0, 100, 2 << 20} {
		for _, test := range []struct {
			err  error
			want ambit.Reason
		}{{own, ambit.ErrIO}, {context.Canceled, ambit.ErrCanceled}, {&ambit.Error{Reason: ambit.ErrDenied, Target: "/elsewhere"}, ambit.ErrDenied}} {
			for how, call := range map[string]func(d *double, r io.Reader) error{
				"append": func(d *double, r io.Reader) error { _, err := ambit.Append(t.Context(), d, "f", r, nil); return err },
				"stage":  func(d *double, r io.Reader) error { _, err := ambit.Stage(t.Context(), d, "f", r, nil); return err },
				"commit": func(d *double, r io.Reader) error {
					_, err := ambit.Commit(t.Context(), d, []ambit.Change{
						{Op: ambit.OpWrite, Path: "g", Content: strings.NewReader("x")}, {Op: ambit.OpWrite, Path: "f", Content: r},
					})
					return err
				},
			} {
				d := newDouble(map[string]string{"/f": "old"})
				before := d.dump()
				err := call(d, io.MultiReader(bytes.NewReader(make([]byte, size)), failingReader{test.err}))
				e := wantReason(t, err, how, "f", test.want)
				if test.err == own && !errors.Is(err, own) {
					t.Errorf("%s: the reader's error is not in the chain of %v", how, err)
				}
				if e.Target != "" {
					t.Errorf("%s: the target %q is of another file system", how, e.Target)
				}
				if diff := cmp.Diff(before, d.dump()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		}
	}
	noTemporaryFiles(t)
}

// TestFallbackLimit: the file system's own limit holds for what a fallback collects.
func TestFallbackLimit(t *testing.T) {
	for _, size := range []int{9, 10, 11} {
		d := newDouble(map[string]string{"/f": "1"})
		d.caps.MaxFileSize = 10
		_, err := ambit.Append(t.Context(), d, "new", strings.NewReader(strings.Repeat("x", size)), nil)
		if (size > 10) != (ambit.ReasonOf(err) == ambit.ErrTooLarge) {
			t.Errorf("%d bytes in a new file: %v", size, err)
		}
		_, err = ambit.Append(t.Context(), d, "f", strings.NewReader(strings.Repeat("x", size)), nil)
		if (size > 9) != (ambit.ReasonOf(err) == ambit.ErrTooLarge) {
			t.Errorf("%d bytes after one: %v", size, err)
		}
	}
}

// ownTemporaryFolder gives temporary files a folder where nobody else has any.
func ownTemporaryFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // on Windows
}

// noTemporaryFiles looks into the folder that the test gave to temporary files.
func noTemporaryFiles(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(os.TempDir())
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// endless is content that never ends, and tells how much of it was taken.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	e.taken += len(p)
	return len(p), nil
}

// TestFallbacksRefuseBeforeTheyRead: a call that is refused for another reason does not read endless content to its end.
func TestFallbacksRefuseBeforeTheyRead(t *testing.T) {
	for _, path := range []string{"folder", "missing/deep", "file/x", "loop", "dangling", "", ".."} {
		d, _ := newCells(nil)
		content := &endless{}
		_, err := ambit.Append(t.Context(), d, path, content, nil)
		if err == nil {
			t.Errorf("append %q works", path)
		}
		_, err = ambit.Stage(t.Context(), d, path, content, nil)
		if err == nil {
			t.Errorf("stage %q works", path)
		}
		_, err = ambit.Commit(t.Context(), d, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: content}})
		if err == nil {
			t.Errorf("commit %q works", path)
		}
		if content.taken > 0 {
			t.Errorf("%q: %d bytes were read", path, content.taken)
		}
	}
}

// TestFallbackAppendsAllSurvive: none is lost, none is inside another.
func TestFallbackAppendsAllSurvive(t *testing.T) {
	const writers, each = 6, 25
	d := newDouble(nil)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				line := fmt.Sprintf("<%d:%d%s>\n", w, i, strings.Repeat("x", i))
				if _, err := ambit.Append(context.Background(), d, "log", strings.NewReader(line), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	next := make([]int, writers)
	for line := range strings.Lines(d.dump()["/log"]) {
		var w, i int
		if n, err := fmt.Sscanf(line, "<%d:%d", &w, &i); n != 2 || err != nil || line != fmt.Sprintf("<%d:%d%s>\n", w, i, strings.Repeat("x", i)) {
			t.Fatalf("line %q", line)
		}
		if next[w] != i {
			t.Fatalf("writer %d: line %d after %d", w, i, next[w]-1)
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: %d of %d lines", w, n, each)
		}
	}
}

// TestFallbackAppendGivesUp: a file that always changes is not waited for for ever.
func TestFallbackAppendGivesUp(t *testing.T) {
	d := newDouble(map[string]string{"/f": ""})
	d.before = func(op, canonical string) error {
		if op == ambit.OpWrite {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.clock++
			d.nodes["/f"] = &doubleNode{kind: ambit.KindRegular, version: d.clock, mode: 0o644}
		}
		return nil
	}
	_, err := ambit.Append(t.Context(), d, "f", strings.NewReader("x"), nil)
	wantReason(t, err, ambit.OpAppend, "f", ambit.ErrChanged)
}

func TestCopy(t *testing.T) {
	ctx := t.Context()
	src := newDouble(map[string]string{"/f": "content", "/d/": ""})
	src.nodes["/f"].mode = 0o750
	dst := newDouble(map[string]string{"/old": "old"})

	r, err := ambit.Copy(ctx, dst, "new", src, "f", nil)
	if err != nil || !r.Created || r.Info.Mode != 0o750 || dst.dump()["/new"] != "content" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ambit.Copy(ctx, dst, "old", src, "f", nil)
	if err != nil || r.Created || r.Info.Mode != 0o644 || dst.dump()["/old"] != "content" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ambit.Copy(ctx, dst, "other", src, "f", &ambit.WriteOptions{Mode: 0o600})
	if err != nil || r.Info.Mode != 0o600 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ambit.Copy(ctx, src, "x/y/f", src, "f", &ambit.WriteOptions{Parents: true})
	if err != nil || !slices.Equal(r.CreatedDirs, []string{"/x", "/x/y"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := ambit.Copy(ctx, src, "f", src, "f", nil); err != nil || src.dump()["/f"] != "content" {
		t.Errorf("onto itself: %v", err)
	}

	for _, test := range []struct {
		to, from string
		o        *ambit.WriteOptions
		blamed   string
		want     ambit.Reason
	}{
		{to: "new", from: "missing", blamed: "missing", want: ambit.ErrNotFound},
		{to: "new", from: "d", blamed: "d", want: ambit.ErrNotAFile},
		{to: "", from: "..", blamed: "", want: ambit.ErrInvalidPath},
		{to: "x", from: "..", blamed: "..", want: ambit.ErrOutside},
		{to: "no/such", from: "f", blamed: "no/such", want: ambit.ErrNotFound},
		{to: "old", from: "f", o: &ambit.WriteOptions{If: ambit.IfAbsent()}, blamed: "old", want: ambit.ErrExists},
		{to: "old", from: "missing", o: &ambit.WriteOptions{If: ambit.IfVersion("")}, blamed: "old", want: ambit.ErrInvalid},
	} {
		before := dst.dump()
		_, err := ambit.Copy(ctx, dst, test.to, src, test.from, test.o)
		wantReason(t, err, ambit.OpCopy, test.blamed, test.want)
		if diff := cmp.Diff(before, dst.dump()); diff != "" {
			t.Errorf("%q to %q (-want +got):\n%s", test.from, test.to, diff)
		}
	}

	// A source that changes under way is the source's fault, and leaves the target as it was.
	before := dst.dump()
	src.before = func(op, canonical string) error {
		if op == ambit.OpRead {
			src.mu.Lock()
			defer src.mu.Unlock()
			src.nodes["/f"] = &doubleNode{kind: ambit.KindRegular, data: []byte("other"), version: 99, mode: 0o644}
		}
		return nil
	}
	_, err = ambit.Copy(ctx, dst, "old", src, "f", nil)
	wantReason(t, err, ambit.OpCopy, "f", ambit.ErrChanged)
	if diff := cmp.Diff(before, dst.dump()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = ambit.Copy(ctx, ambit.ReadOnly(dst), "old", src, "f", nil)
	wantReason(t, err, ambit.OpCopy, "old", ambit.ErrReadOnly)
}
