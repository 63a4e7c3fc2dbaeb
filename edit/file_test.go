// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// overBackends runs the test on a file system in memory and on one on disk, that
// hold the files.
func overBackends(t *testing.T, files map[string]string, test func(t *testing.T, fsys ambit.WritableFileSystem)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New(files, nil)) })
	t.Run("local", func(t *testing.T) { test(t, onDisk(t, files)) })
}

func onDisk(t testing.TB, files map[string]string) *local.FileSystem {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := local.New(dir, &local.Options{Durability: local.NotDurable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func read(t testing.TB, fsys ambit.FileSystem, path string) (string, ambit.FileInfo) {
	t.Helper()
	content, info, err := ambit.ReadFile(t.Context(), fsys, path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content), info
}

func holds(t testing.TB, fsys ambit.FileSystem, path, want string) {
	t.Helper()
	if got, _ := read(t, fsys, path); got != want {
		t.Errorf("%s holds %.200q, want %.200q", path, got, want)
	}
}

func TestFile(t *testing.T) {
	overBackends(t, map[string]string{"d/f": "one\ntwo\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		_, before := read(t, fsys, "d/f")
		got, err := edit.File(t.Context(), fsys, "d/f", replace("two", "TWO"), nil)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, fsys, "d/f", "one\nTWO\n")
		_, after := read(t, fsys, "d/f")
		want := edit.Outcome{
			Result: edit.Result{
				Content: []byte("one\nTWO\n"),
				Edits:   []edit.Edit{{Before: edit.Lines{First: 2, Count: 1}, After: edit.Lines{First: 2, Count: 1}}},
				Diff:    "--- a/d/f\n+++ b/d/f\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n",
			},
			Before: before, After: after,
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if before.Version == after.Version {
			t.Error("the version stayed")
		}
	})
}

func TestFileRefused(t *testing.T) {
	files := map[string]string{"f": "a\nb\n", "empty": "", "d/x": "x"}
	overBackends(t, files, func(t *testing.T, fsys ambit.WritableFileSystem) {
		_, info := read(t, fsys, "f")
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, test := range []struct {
			name, path string
			ops        []edit.Op
			o          *edit.Options
			ctx        context.Context
			want       ambit.Reason
		}{
			{name: "empty Old of a missing file", path: "missing", ops: replace("", "x"), want: ambit.ErrInvalid},
			{name: "missing", path: "missing", ops: replace("a", "x"), want: ambit.ErrNotFound},
			{name: "missing, of a version", path: "missing", ops: replace("a", "x"), o: &edit.Options{If: ambit.IfVersion(info.Version)}, want: ambit.ErrChanged},
			{name: "another version before no match", path: "empty", ops: replace("nope", "x"), o: &edit.Options{If: ambit.IfVersion(info.Version)}, want: ambit.ErrChanged},
			{name: "the version, no match", path: "f", ops: replace("nope", "x"), o: &edit.Options{If: ambit.IfVersion(info.Version)}, want: ambit.ErrNoMatch},
			{name: "no version", path: "f", ops: replace("a", "x"), o: &edit.Options{If: ambit.IfVersion("")}, want: ambit.ErrInvalid},
			{name: "absent", path: "f", ops: replace("a", "x"), o: &edit.Options{If: ambit.IfAbsent()}, want: ambit.ErrInvalid},
			{name: "MaxBytes -1", path: "f", ops: replace("a", "x"), o: &edit.Options{MaxBytes: -1}, want: ambit.ErrInvalid},
			{name: "too large", path: "f", ops: replace("a", "x"), o: &edit.Options{MaxBytes: 3}, want: ambit.ErrTooLarge},
			{name: "folder", path: "d", ops: replace("a", "x"), want: ambit.ErrNotAFile},
			{name: "trailing slash", path: "f/", ops: replace("a", "x"), want: ambit.ErrNotADirectory},
			{name: "outside", path: "../f", ops: replace("a", "x"), want: ambit.ErrOutside},
			{name: "canceled", path: "f", ops: replace("a", "x"), ctx: canceled, want: ambit.ErrCanceled},
			{name: "second misses", path: "f", ops: append(replace("a", "x"), replace("nope", "y")...), want: ambit.ErrNoMatch},
		} {
			t.Run(test.name, func(t *testing.T) {
				ctx := test.ctx
				if ctx == nil {
					ctx = t.Context()
				}
				got, err := edit.File(ctx, fsys, test.path, test.ops, test.o)
				var e *ambit.Error
				if !errors.As(err, &e) || e.Reason != test.want || e.Op != "edit" || e.Path != test.path {
					t.Errorf("%+v, want %s of edit %q", err, test.want, test.path)
				}
				if !gocmp.Equal(got, edit.Outcome{}) {
					t.Errorf("beside the error there is an outcome: %+v", got)
				}
				for name, content := range files {
					holds(t, fsys, name, content)
				}
			})
		}
		if _, after := read(t, fsys, "f"); after != info {
			t.Errorf("the file was touched: %+v, before %+v", after, info)
		}
		if n := edit.Editing(); n != 0 {
			t.Errorf("%d files are still held", n)
		}
	})
}

func TestFileWithoutWriteSide(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "a\n"}, nil)
	if _, err := edit.File(t.Context(), ambit.ReadOnly(fsys), "f", replace("a", "b"), nil); ambit.ReasonOf(err) != ambit.ErrReadOnly {
		t.Errorf("%v, want read-only", err)
	}
	got, err := edit.File(t.Context(), ambit.ReadOnly(fsys), "f", replace("a", "b"), &edit.Options{DryRun: true})
	if err != nil || got.Diff == "" {
		t.Errorf("a dry run: %+v, %v", got, err)
	}
	keep := fsys.Capabilities()
	keep.Versions, keep.Swap = false, ambit.SwapNone
	if _, err := edit.File(t.Context(), &ambit.Forward{Base: fsys, Keep: keep}, "f", replace("a", "b"), nil); ambit.ReasonOf(err) != ambit.ErrUnsupported {
		t.Errorf("%v, want unsupported", err)
	}
	holds(t, fsys, "f", "a\n")
}

func TestDryRun(t *testing.T) {
	overBackends(t, map[string]string{"f": "a\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		_, before := read(t, fsys, "f")
		dry, err := edit.File(t.Context(), fsys, "f", replace("a", "b"), &edit.Options{DryRun: true})
		if err != nil || dry.After != (ambit.FileInfo{}) {
			t.Errorf("%+v, %v", dry.After, err)
		}
		if _, after := read(t, fsys, "f"); after != before {
			t.Error("a dry run has touched the file")
		}
		real, err := edit.File(t.Context(), fsys, "f", replace("a", "b"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !gocmp.Equal(real.Result, dry.Result) || real.Before != dry.Before {
			t.Errorf("a dry run told %+v, the edit did %+v", dry, real)
		}
	})
}

// TestNothingChanges: what leaves the content as it is writes nothing.
func TestNothingChanges(t *testing.T) {
	large := strings.Repeat("line\n", 1<<20)
	overBackends(t, map[string]string{"f": "a\nb", "large": large}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		for path, ops := range map[string][]edit.Op{"f": rewrite(1, 2, "a\nb"), "large": rewrite(5, 5, "line")} {
			_, before := read(t, fsys, path)
			got, err := edit.File(t.Context(), fsys, path, ops, nil)
			if err != nil || got.After != before || got.Diff != "" || len(got.Edits) != 1 {
				t.Errorf("%s: %+v, %v", path, got, err)
			}
			if _, after := read(t, fsys, path); after != before {
				t.Errorf("%s was touched", path)
			}
		}
	})
}

// disturbed is a file system on which somebody else is quick: before each of the
// first writes, one of disturb is called.
type disturbed struct {
	ambit.WritableFileSystem
	disturb []func()
	opens   int
}

func (d *disturbed) Open(ctx context.Context, path string) (ambit.File, error) {
	d.opens++
	return d.WritableFileSystem.Open(ctx, path)
}

func (d *disturbed) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if len(d.disturb) > 0 {
		d.disturb[0]()
		d.disturb = d.disturb[1:]
	}
	return d.WritableFileSystem.Write(ctx, path, content, o)
}

// TestChangedMeanwhile: one more try, where the edit still fits.
func TestChangedMeanwhile(t *testing.T) {
	overBackends(t, map[string]string{"f": "old\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		var seen ambit.Version
		becomes := func(text string) func() {
			return func() {
				if _, err := ambit.WriteFile(t.Context(), fsys, "f", []byte(text), nil); err != nil {
					t.Error(err)
				}
			}
		}
		goes := func() {
			if err := fsys.Remove(t.Context(), "f", nil); err != nil {
				t.Error(err)
			}
		}
		for _, test := range []struct {
			name    string
			disturb []func()
			ofSeen  bool
			reason  ambit.Reason
			want    string // "": gone
			opens   int
		}{
			{"not at all", nil, false, "", "new\n", 1},
			{"elsewhere", []func(){becomes("first\nold\n")}, false, "", "first\nnew\n", 2},
			{"elsewhere, with a version", []func(){becomes("first\nold\n")}, true, ambit.ErrChanged, "first\nold\n", 1},
			{"twice", []func(){becomes("first\nold\n"), becomes("second\nold\n")}, false, ambit.ErrChanged, "second\nold\n", 2},
			{"the text itself", []func(){becomes("gone\n")}, false, ambit.ErrChanged, "gone\n", 2},
			{"there are two now", []func(){becomes("old\nold\n")}, false, ambit.ErrChanged, "old\nold\n", 2},
			{"removed", []func(){goes}, false, ambit.ErrChanged, "", 2},
		} {
			t.Run(test.name, func(t *testing.T) {
				becomes("old\n")()
				_, info := read(t, fsys, "f")
				seen = info.Version
				d := &disturbed{WritableFileSystem: fsys, disturb: test.disturb}
				o := &edit.Options{}
				if test.ofSeen {
					o.If = ambit.IfVersion(seen)
				}
				_, err := edit.File(t.Context(), d, "f", replace("old", "new"), o)
				if ambit.ReasonOf(err) != test.reason {
					t.Errorf("%v, want %q", err, test.reason)
				}
				if d.opens != test.opens {
					t.Errorf("opened %d times, want %d", d.opens, test.opens)
				}
				if test.want != "" {
					holds(t, fsys, "f", test.want)
				} else if _, err := fsys.Stat(t.Context(), "f"); ambit.ReasonOf(err) != ambit.ErrNotFound {
					t.Errorf("the file is there again: %v", err)
				}
			})
		}
	})
}

// TestManyEditors: all edits of one file by one process succeed that do not
// exclude each other, also through two file systems over one folder.
func TestManyEditors(t *testing.T) {
	const editors = 50
	var text strings.Builder
	for i := range editors {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	edited := strings.NewReplacer("<", "[", ">", "]").Replace(text.String())
	overBackends(t, map[string]string{"f": text.String()}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		var failed atomic.Int64
		var wait sync.WaitGroup
		for i := range editors {
			wait.Go(func() {
				path := []string{"f", "/f", "./f"}[i%3]
				_, err := edit.File(t.Context(), fsys, path, replace(fmt.Sprintf("<%d>", i), fmt.Sprintf("[%d]", i)), nil)
				if err != nil {
					failed.Add(1)
					t.Error(err)
				}
			})
		}
		wait.Wait()
		holds(t, fsys, "f", edited)
		if n := edit.Editing(); n != 0 {
			t.Errorf("%d files are still held", n)
		}
	})
	t.Run("without turns most fail, and none is lost", func(t *testing.T) {
		// What the turns are for, and that the test can fail: the same by hand.
		fsys := onDisk(t, map[string]string{"f": text.String()})
		var succeeded sync.Map
		var wait sync.WaitGroup
		begin := make(chan struct{})
		for i := range editors {
			wait.Go(func() {
				<-begin
				content, info, err := ambit.ReadFile(t.Context(), fsys, "f")
				if err != nil {
					return
				}
				r, err := edit.Apply(content, replace(fmt.Sprintf("<%d>", i), fmt.Sprintf("[%d]", i)), nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := ambit.WriteFile(t.Context(), fsys, "f", r.Content, &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}); err == nil {
					succeeded.Store(i, true)
				}
			})
		}
		close(begin)
		wait.Wait()
		content, _ := read(t, fsys, "f")
		for i := range editors {
			_, want := succeeded.Load(i)
			if got := strings.Contains(content, fmt.Sprintf("[%d]", i)); got != want {
				t.Errorf("word %d: in the file %v, reported %v", i, got, want)
			}
		}
	})
}

// TestTurnCanBeLeft: who waits for others may give up.
func TestTurnCanBeLeft(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "a\n"}, nil)
	inside, leave := make(chan struct{}), make(chan struct{})
	slow := &disturbed{WritableFileSystem: fsys, disturb: []func(){func() { close(inside); <-leave }}}
	done := make(chan error)
	go func() {
		_, err := edit.File(t.Context(), slow, "f", replace("a", "b"), nil)
		done <- err
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := edit.File(ctx, fsys, "f", replace("a", "c"), nil); ambit.ReasonOf(err) != ambit.ErrTimeout {
		t.Errorf("%v, want timeout", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	holds(t, fsys, "f", "b\n")
	if n := edit.Editing(); n != 0 {
		t.Errorf("%d files are still held", n)
	}
}

// TestTurnOfReplacedFile: the turns are those of a name, whose file is another one
// after each write.
func TestTurnOfReplacedFile(t *testing.T) {
	overBackends(t, map[string]string{"f": "a\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		first := &disturbed{WritableFileSystem: fsys, disturb: []func(){func() {
			if _, err := ambit.WriteFile(t.Context(), fsys, "f", []byte("a\nx\n"), nil); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			if _, err := edit.File(ctx, fsys, "f", replace("x", "y"), nil); ambit.ReasonOf(err) != ambit.ErrTimeout {
				t.Errorf("%v, want timeout", err)
			}
		}}}
		if _, err := edit.File(t.Context(), first, "f", replace("a", "b"), nil); err != nil {
			t.Error(err)
		}
		holds(t, fsys, "f", "b\nx\n")
	})
}

// TestTurnOfVersion: who has waited for a turn finds that the version that was
// asked for is gone.
func TestTurnOfVersion(t *testing.T) {
	overBackends(t, map[string]string{"f": "a\n"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		_, info := read(t, fsys, "f")
		second := make(chan error)
		first := &disturbed{WritableFileSystem: fsys, disturb: []func(){func() {
			go func() {
				_, err := edit.File(t.Context(), fsys, "f", replace("a", "c"), &edit.Options{If: ambit.IfVersion(info.Version)})
				second <- err
			}()
			for edit.Editors() < 2 {
				time.Sleep(time.Millisecond)
			}
		}}}
		if _, err := edit.File(t.Context(), first, "f", replace("a", "b"), nil); err != nil {
			t.Error(err)
		}
		if err := <-second; ambit.ReasonOf(err) != ambit.ErrChanged {
			t.Errorf("%v, want changed", err)
		}
		holds(t, fsys, "f", "b\n")
	})
}

// TestModeAndLink: a file keeps its mode, and a link stays one.
func TestModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps no modes")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "conf": 0o640} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("R\n"), 0o600), os.Chmod(path, mode), os.Symlink(name, path+".link")); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := local.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "conf": 0o640} {
		got, err := edit.File(t.Context(), fsys, name+".link", replace("R", "S"), nil)
		if err != nil || got.After.Path != "/"+name || got.After.Mode != mode {
			t.Errorf("%+v, %v", got.After, err)
		}
		if _, err := edit.File(t.Context(), fsys, name, rewrite(1, 1, "T"), nil); err != nil {
			t.Error(err)
		}
		holds(t, fsys, name, "T\n")
		info, err := os.Lstat(filepath.Join(dir, name+".link"))
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s.link: %v, %v", name, info, err)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestEncodedFile(t *testing.T) {
	latin, err := charset.Lookup("windows-1252")
	if err != nil {
		t.Fatal(err)
	}
	overBackends(t, map[string]string{"latin": "stra\xdfe\r\nx\r\n", "wide": "\xfe\xff\x00a\x00\n\x00b"}, func(t *testing.T, fsys ambit.WritableFileSystem) {
		if _, err := edit.File(t.Context(), fsys, "latin", replace("straße", "Gäßchen\nGasse"), &edit.Options{Encoding: latin}); err != nil {
			t.Error(err)
		}
		holds(t, fsys, "latin", "G\xe4\xdfchen\r\nGasse\r\nx\r\n")
		if _, err := edit.File(t.Context(), fsys, "latin", replace("x", "中"), &edit.Options{Encoding: latin}); ambit.ReasonOf(err) != ambit.ErrNotText {
			t.Errorf("%v, want not-text", err)
		}
		if _, err := edit.File(t.Context(), fsys, "wide", rewrite(2, 2, "中"), nil); err != nil {
			t.Error(err)
		}
		holds(t, fsys, "wide", "\xfe\xff\x00a\x00\n\x4e\x2d")
	})
}

// TestLargeFile: a file that is not held in memory, of each kind of op, and what
// memory it takes.
func TestLargeFile(t *testing.T) {
	const lines = 140_000
	var b bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&b, "line %07d of a large file\r\n", i+1)
	}
	content := b.String()
	for _, head := range []string{"", bom} {
		overBackends(t, map[string]string{"f": head + content}, func(t *testing.T, fsys ambit.WritableFileSystem) {
			got, err := edit.File(t.Context(), fsys, "f", []edit.Op{
				edit.Replace{Old: "line 0070000 of a large file\nline 0070001", New: "line 0070000 of a\nsmall file\nline 0070001"},
				edit.Rewrite{Range: lineRange(10, 11), Text: "ten and eleven"},
				edit.Insert{After: lines, Text: "the end"},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Content != nil || got.DiffClipped {
				t.Errorf("%d bytes of content, diff clipped: %v", len(got.Content), got.DiffClipped)
			}
			want := strings.Replace(content, "line 0070000 of a large file", "line 0070000 of a\r\nsmall file", 1)
			want = strings.Replace(want, "line 0000010 of a large file\r\nline 0000011 of a large file", "ten and eleven", 1)
			if now, _ := read(t, fsys, "f"); now != head+want+"the end\r\n" {
				t.Error("the file is not what it should be")
			}
			if edits := []edit.Edit{
				{Op: 1, Before: edit.Lines{First: 10, Count: 2}, After: edit.Lines{First: 10, Count: 1}},
				{Op: 0, Before: edit.Lines{First: 70000, Count: 2}, After: edit.Lines{First: 69999, Count: 3}},
				{Op: 2, Before: edit.Lines{First: lines + 1}, After: edit.Lines{First: lines + 1, Count: 1}},
			}; !gocmp.Equal(got.Edits, edits) {
				t.Errorf("edits %+v, want %+v", got.Edits, edits)
			}
			if n := strings.Count(got.Diff, "\n@@ "); n != 3 {
				t.Errorf("the diff has %d hunks:\n%s", n, got.Diff)
			}
			_, err = edit.File(t.Context(), fsys, "f", replace("of a large file\nline 0080000", "x"), nil)
			if err != nil {
				t.Error(err)
			}
			_, err = edit.File(t.Context(), fsys, "f", replace("line 0090000 OF A LARGE file", "x"), nil)
			if e := (*ambit.Error)(nil); !errors.As(err, &e) || e.Reason != ambit.ErrNoMatch || !gocmp.Equal(e.Lines, []int{89999}) {
				t.Errorf("%+v, want no-match and line 89999", err)
			}
			_, err = edit.File(t.Context(), fsys, "f", replace("of a large file", "x"), nil)
			if e := (*ambit.Error)(nil); !errors.As(err, &e) || e.Reason != ambit.ErrAmbiguous || e.Total != lines-4 {
				t.Errorf("%+v, want ambiguous and %d places", err, lines-4)
			}
		})
	}
}

// TestSource of a large edit: what it is written from must still be there.
func TestLargeFileChanges(t *testing.T) {
	fsys := onDisk(t, map[string]string{"f": strings.Repeat("x\n", 4<<20) + "old\n"})
	host, err := fsys.HostPath("f")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.Truncate(host, 1<<20) },
		func() error { return os.WriteFile(host, []byte("quite another\n"), 0o666) },
	} {
		if _, err := ambit.WriteFile(t.Context(), fsys, "f", []byte(strings.Repeat("x\n", 4<<20)+"old\n"), nil); err != nil {
			t.Fatal(err)
		}
		d := &disturbed{WritableFileSystem: fsys, disturb: []func(){func() {
			if err := change(); err != nil {
				t.Error(err)
			}
		}}}
		_, err := edit.File(t.Context(), d, "f", replace("old", "new"), nil)
		if ambit.ReasonOf(err) != ambit.ErrChanged {
			t.Errorf("%v, want changed", err)
		}
	}
}

func ExampleFile() {
	ctx := context.Background()
	fsys := memory.New(map[string]string{"config": "host = a\nport = 80\n"}, nil)
	outcome, err := edit.File(ctx, fsys, "config", []edit.Op{
		edit.Replace{Old: "port = 80", New: "port = 8080"},
		edit.Insert{After: 2, Text: "user = me"},
	}, nil)
	fmt.Println(outcome.Diff, err)

	_, err = edit.File(ctx, fsys, "config", []edit.Op{edit.Replace{Old: " = ", New: ": "}}, nil)
	fmt.Println(err)
	// Output:
	// --- a/config
	// +++ b/config
	// @@ -1,2 +1,3 @@
	//  host = a
	// -port = 80
	// +port = 8080
	// +user = me
	//  <nil>
	// edit config: ambiguous (3 places, lines [1 2 3]): give more of the text around it, or say which or all
}
