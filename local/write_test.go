// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

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
	"testing"
	"testing/iotest"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

func readerOf(text string) io.Reader { return strings.NewReader(text) }

// readerFunc is a reader that does something when it is read.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A write that fails, at whatever point, leaves every name and byte as it was.
func TestFailedWriteLeavesNothing(t *testing.T) {
	w := newWorld(t, `
		f = old
		dir/
		dir/x = X
		empty/
	`)
	before := w.snapshot(t)
	cause := errors.New("the reader's own")
	canceled := func() (context.Context, io.Reader) {
		c, cancel := context.WithCancel(ctx)
		return c, io.MultiReader(readerOf("begun"), readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }))
	}
	late, cancelLate := context.WithTimeout(ctx, time.Millisecond)
	defer cancelLate()
	slow := readerFunc(func(p []byte) (int, error) { <-late.Done(); return len(p), nil })
	for _, path := range []string{"f", "new", "empty/new", "a/b/new"} {
		o := &ambit.WriteOptions{Parents: true}
		fail := func(name string, want ambit.Reason, do func() error) {
			t.Helper()
			err := do()
			if ambit.ReasonOf(err) != want {
				t.Errorf("%s: %s: %v, want %s", path, name, err, want)
			}
			if want == ambit.ErrIO && !errors.Is(err, cause) {
				t.Errorf("%s: %s: the reader's error is not in the chain of %v", path, name, err)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("%s: %s left %q", path, name, diff)
			}
		}
		write := func(c context.Context, r io.Reader) func() error {
			return func() error { _, err := w.fsys.Write(c, path, r, o); return err }
		}
		fail("an error at once", ambit.ErrIO, write(ctx, iotest.ErrReader(cause)))
		fail("an error later", ambit.ErrIO, write(ctx, io.MultiReader(readerOf(strings.Repeat("x", 100_000)), iotest.ErrReader(cause))))
		fail("an error with a reason", ambit.ErrTooLarge, write(ctx, iotest.ErrReader(ambit.ErrTooLarge)))
		fail("no reader", ambit.ErrInvalid, write(ctx, nil))
		fail("a nil reader", ambit.ErrInvalid, write(ctx, (*bytes.Buffer)(nil)))
		c, r := canceled()
		fail("a context cancelled while it reads", ambit.ErrCanceled, write(c, r))
		fail("a context cancelled before", ambit.ErrCanceled, write(c, readerOf("x")))
		fail("a deadline", ambit.ErrTimeout, write(late, slow))
		fail("impossible counts", ambit.ErrInvalid, write(ctx, readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil })))
		fail("a reader that never gets on", ambit.ErrIO, func() error {
			_, err := w.fsys.Write(ctx, path, readerFunc(func([]byte) (int, error) { return 0, nil }), o)
			if errors.Is(err, io.ErrNoProgress) {
				return &ambit.Error{Reason: ambit.ErrIO, Err: cause}
			}
			return err
		})
		fail("a panic", "", func() (err error) {
			defer func() {
				if recover() == nil {
					err = errors.New("no panic came through")
				}
			}()
			return write(ctx, readerFunc(func([]byte) (int, error) { panic("the reader's") }))()
		})
		fail("a discarded stage", "", func() error {
			s, err := w.fsys.Stage(ctx, path, readerOf("staged"), o)
			if err != nil {
				return err
			}
			return errors.Join(s.Discard(ctx), s.Discard(ctx))
		})
		fail("a publication with a cancelled context", ambit.ErrCanceled, func() error {
			s, err := w.fsys.Stage(ctx, path, readerOf("staged"), o)
			must(t, err)
			_, err = s.Publish(c)
			if _, again := s.Publish(ctx); ambit.ReasonOf(again) != ambit.ErrClosed {
				t.Errorf("Publish after one that failed: %v", again)
			}
			return err
		})
	}
	for _, path := range []string{"dir", "empty", "dir/", "f/", "f/x"} {
		if _, err := w.fsys.Write(ctx, path, readerOf("x"), nil); err == nil {
			t.Errorf("%s was written", path)
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("%s: left %q", path, diff)
		}
	}
}

// While a write is under way nobody sees more than before, and its content may
// come from the same file system, the replaced file included.
func TestWriteWhileReading(t *testing.T) {
	w := newWorld(t, "f = old")
	seen := false
	look := readerFunc(func([]byte) (int, error) {
		seen = true
		if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"f"}) {
			t.Errorf("a write under way shows %q", got)
		}
		other := serve(t, w.root, nil)
		if got := names(t, other, "/"); !slices.Equal(got, []string{"f"}) {
			t.Errorf("a write under way shows %q to another", got)
		}
		write(t, other, "g", "G", nil)
		if text, _ := read(t, w.fsys, "f"); text != "old" {
			t.Errorf("the file has %q before it is published", text)
		}
		must(t, w.fsys.Remove(ctx, "g", nil))
		return 0, io.EOF
	})
	f, err := w.fsys.Open(ctx, "f")
	must(t, err)
	defer f.Close()
	r, err := w.fsys.Write(ctx, "f", io.MultiReader(f, look, readerOf(" and new")), nil)
	must(t, err)
	if text, info := read(t, w.fsys, "f"); text != "old and new" || info != r.Info || !seen {
		t.Errorf("the file has %q", text)
	}
	leftovers(t, w.root)
}

func TestBytesAreKept(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	for i, text := range []string{
		"", "\x00", `print('hello\nworld')`, `\title{x}`, `'\0'`, `'\''`, "ends in \\\n", "a\r\nb\rc\n", "\ufefftext", "\xff\xfe\x00",
		strings.Repeat("0123456789abcdef", 1<<17) + "tail",
	} {
		path := fmt.Sprint("f", i)
		for range 2 { // created, then replaced
			r, err := w.fsys.Write(ctx, path, iotest.HalfReader(readerOf(text)), nil)
			must(t, err)
			got, info := read(t, w.fsys, path)
			if got != text || info != r.Info || info.Size != int64(len(text)) {
				t.Errorf("%.30q came back as %.30q", text, got)
			}
		}
	}
}

// The temporary file is made beside its target, wherever TMPDIR points.
func TestTemporaryFolderIsNotUsed(t *testing.T) {
	w := newWorld(t, "f = old")
	t.Setenv("TMPDIR", filepath.Join(w.root, "no", "such"))
	write(t, w.fsys, "f", strings.Repeat("x", 5<<20), nil)
	write(t, w.fsys, "new", "N", &ambit.WriteOptions{If: ambit.IfAbsent()})
	if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"f", "new"}) {
		t.Errorf("there is %q", got)
	}
}

// Every change gives a version that the path has not had, however fast they
// come and whatever inode the disk hands out; and all methods agree on it.
func TestVersions(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	had := map[ambit.Version]int{}
	for i := range 1500 {
		o := &ambit.WriteOptions{}
		if i%7 == 0 {
			if i > 0 {
				must(t, w.fsys.Remove(ctx, "f", nil))
			}
			o.If = ambit.IfAbsent()
		}
		v := write(t, w.fsys, "f", "same size", o).Info.Version
		if before, ok := had[v]; ok || !v.Valid() {
			t.Fatalf("change %d has the version %q of change %d", i, v, before)
		}
		had[v] = i
	}
	r := write(t, w.fsys, "f", "agree", nil)
	f, err := w.fsys.Open(ctx, "f")
	must(t, err)
	defer f.Close()
	stat, err := w.fsys.Stat(ctx, "f")
	must(t, err)
	lstat, err := w.fsys.Lstat(ctx, "f")
	must(t, err)
	l, err := w.fsys.List(ctx, "/", &ambit.ListOptions{Details: true})
	must(t, err)
	for _, info := range []ambit.FileInfo{f.Info(), stat, lstat, l.Entries[0].Info} {
		if info != r.Info {
			t.Errorf("%+v differs from %+v", info, r.Info)
		}
	}
	// A change by others gives another version too.
	last := r.Info.Version
	for name, do := range map[string]func() error{
		"a write in place": func() error { return os.WriteFile(w.host("f"), []byte("AGREE"), 0) },
		"a restored time": func() error {
			return errors.Join(os.WriteFile(w.host("f"), []byte("Agree"), 0), os.Chtimes(w.host("f"), time.Time{}, r.Info.ModTime))
		},
		"a truncation": func() error { return os.Truncate(w.host("f"), 3) },
		"a replacement": func() error {
			return errors.Join(os.WriteFile(w.host("g"), []byte("agree"), 0o666), os.Chtimes(w.host("g"), time.Time{}, r.Info.ModTime), os.Rename(w.host("g"), w.host("f")))
		},
	} {
		must(t, do())
		info, err := w.fsys.Stat(ctx, "f")
		must(t, err)
		if info.Version == last {
			t.Errorf("%s was not seen", name)
		}
		last = info.Version
		if _, err := ambit.WriteFile(ctx, w.fsys, "f", nil, &ambit.WriteOptions{If: ambit.IfVersion(r.Info.Version)}); ambit.ReasonOf(err) != ambit.ErrChanged {
			t.Errorf("a write over %s: %v", name, err)
		}
	}
}

// A replacement is younger than what it replaces, also where a clock went back.
func TestReplacementIsYounger(t *testing.T) {
	w := newWorld(t, "f = old\ng = old")
	future := time.Now().Add(time.Hour)
	staged, err := w.fsys.Stage(ctx, "g", readerOf("new"), nil)
	must(t, err)
	for _, name := range []string{"f", "g"} {
		must(t, os.Chtimes(w.host(name), time.Time{}, future))
	}
	r, err := staged.Publish(ctx)
	must(t, err)
	for _, info := range []ambit.FileInfo{write(t, w.fsys, "f", "new", nil).Info, r.Info} {
		if now, err := w.fsys.Stat(ctx, info.Path); err != nil || !info.ModTime.After(future) || now != info {
			t.Errorf("%+v replaced a file of %v; there is %+v, %v", info, future, now, err)
		}
	}
	if now := write(t, w.fsys, "new", "new", nil).Info.ModTime; time.Since(now).Abs() > time.Minute {
		t.Errorf("a new file is of %v", now)
	}
}

// countdown is a context that ends when it is asked for the nth time.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a context ends, the call has done all or nothing.
func TestCancelledAnywhere(t *testing.T) {
	for name, do := range map[string]func(c context.Context, fsys *local.FileSystem) error{
		"write": func(c context.Context, fsys *local.FileSystem) error {
			return second(ambit.WriteFile(c, fsys, "f", []byte("new"), nil))
		},
		"create": func(c context.Context, fsys *local.FileSystem) error {
			return second(ambit.WriteFile(c, fsys, "a/b/c/new", []byte("new"), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true}))
		},
		"publish": func(c context.Context, fsys *local.FileSystem) error {
			s, err := fsys.Stage(ctx, "a/b/c/new", readerOf("new"), &ambit.WriteOptions{Parents: true})
			must(t, err)
			return second(s.Publish(c))
		},
		"mkdir": func(c context.Context, fsys *local.FileSystem) error {
			return second(fsys.Mkdir(c, "a/b/c", &ambit.MkdirOptions{Parents: true}))
		},
		"rename": func(c context.Context, fsys *local.FileSystem) error {
			return second(fsys.Rename(c, "f", "a/b/c/new", &ambit.RenameOptions{Parents: true}))
		},
		"remove": func(c context.Context, fsys *local.FileSystem) error {
			return fsys.Remove(c, "d", &ambit.RemoveOptions{Recursive: true})
		},
	} {
		for n := range 1000 {
			w := newWorldIn(t, fastDir(t), "f = old\nd/\nd/f = F")
			before := w.snapshot(t)
			left := n
			err := do(countdown{ctx, &left}, w.fsys)
			diff := difference(before, w.snapshot(t))
			if err == nil {
				if n < 2 || len(diff) == 0 {
					t.Errorf("%s asked its context %d times and changed %q", name, n, diff)
				}
				break
			}
			if ambit.ReasonOf(err) != ambit.ErrCanceled || diff != nil {
				t.Errorf("%s, cancelled at the %dth look: %v, changed %q", name, n, err, diff)
			}
		}
	}
}

// A caller's own write does not make it stale.
func TestVersionChain(t *testing.T) {
	w := newWorld(t, "f = 0")
	_, t0 := read(t, w.fsys, "f")
	t1 := write(t, w.fsys, "f", "1", &ambit.WriteOptions{If: ambit.IfVersion(t0.Version)}).Info
	if _, fresh := read(t, w.fsys, "f"); fresh.Version != t1.Version {
		t.Errorf("the write said %s, a fresh read %s", t1.Version, fresh.Version)
	}
	t2 := write(t, w.fsys, "f", "2", &ambit.WriteOptions{If: ambit.IfVersion(t1.Version)}).Info
	r, err := ambit.Append(ctx, w.fsys, "f", readerOf("3"), &ambit.AppendOptions{If: ambit.IfVersion(t2.Version)})
	must(t, err)
	if _, err := ambit.WriteFile(ctx, w.fsys, "f", nil, &ambit.WriteOptions{If: ambit.IfVersion(t0.Version)}); ambit.ReasonOf(err) != ambit.ErrChanged {
		t.Errorf("a write over the first version: %v", err)
	}
	must(t, w.fsys.Remove(ctx, "f", &ambit.RemoveOptions{If: ambit.IfVersion(r.Info.Version)}))
	if _, err := ambit.WriteFile(ctx, w.fsys, "f", nil, &ambit.WriteOptions{If: ambit.IfVersion(r.Info.Version)}); ambit.ReasonOf(err) != ambit.ErrChanged {
		t.Errorf("a write over a file that is gone: %v", err)
	}
}

// An open file gives the bytes that it was opened with; Verify tells what has
// become of its path.
func TestFile(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world) error
		want ambit.Reason
	}{
		{"nothing", func(*world) error { return nil }, ""},
		{"another file is written", func(w *world) error { return os.WriteFile(w.host("other"), nil, 0o666) }, ""},
		{"it is replaced", func(w *world) error {
			_, err := ambit.WriteFile(ctx, w.fsys, "d/f", []byte("text of the file"), nil)
			return err
		}, ambit.ErrChanged},
		{"it is removed", func(w *world) error { return w.fsys.Remove(ctx, "d/f", nil) }, ambit.ErrChanged},
		{"it is renamed", func(w *world) error { _, err := w.fsys.Rename(ctx, "d/f", "g", nil); return err }, ambit.ErrChanged},
		{"its folder is removed", func(w *world) error {
			return w.fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
		}, ambit.ErrChanged},
		{"its folder is a file", func(w *world) error {
			return errors.Join(os.RemoveAll(w.host("d")), os.WriteFile(w.host("d"), nil, 0o666))
		}, ambit.ErrChanged},
		{"its folder is a link that leads out", func(w *world) error {
			return errors.Join(os.Rename(w.host("d"), w.host("e")), os.Symlink(w.outside, w.host("d")))
		}, ambit.ErrChanged},
		{"it is a loop", func(w *world) error {
			return errors.Join(os.Remove(w.host("d/f")), os.Symlink("f", w.host("d/f")))
		}, ambit.ErrChanged},
		{"it is a folder", func(w *world) error {
			return errors.Join(os.Remove(w.host("d/f")), os.Mkdir(w.host("d/f"), 0o777))
		}, ambit.ErrChanged},
		{"the link to it leads elsewhere", func(w *world) error {
			return errors.Join(os.Remove(w.host("l")), os.WriteFile(w.host("l"), []byte("text of the file"), 0o666))
		}, ambit.ErrChanged},
	} {
		w := newWorldIn(t, fastDir(t), `
			d/
			d/f = text of the file
			l -> d/f
		`)
		f, err := w.fsys.Open(ctx, "l")
		must(t, err)
		must(t, f.Verify(ctx))
		must(t, c.do(w))
		data, err := io.ReadAll(f)
		if string(data) != "text of the file" || err != nil {
			t.Errorf("%s: read %q, %v", c.name, data, err)
		}
		if err := f.Verify(ctx); ambit.ReasonOf(err) != c.want {
			t.Errorf("%s: Verify: %v, want %q", c.name, err, c.want)
		} else {
			w.clean(t, err, ambit.OpVerify, "l")
		}
		must(t, f.Close())
	}
	w := newWorld(t, "f = 0123456789")
	limited, cancel := context.WithCancel(ctx)
	f, err := w.fsys.Open(limited, "f")
	must(t, err)
	at := f.(io.ReaderAt)
	for _, c := range []struct {
		off  int64
		n    int
		want string
	}{{0, 4, "0123 <nil>"}, {8, 4, "89 EOF"}, {10, 4, " EOF"}, {99, 4, " EOF"}, {10, 0, " EOF"}, {9, 0, " <nil>"}, {0, 10, "0123456789 <nil>"}, {-1, 4, " read f: invalid: the offset is -1"}} {
		b := make([]byte, c.n)
		n, err := at.ReadAt(b, c.off)
		if got := fmt.Sprintf("%s %v", b[:n], err); got != c.want {
			t.Errorf("ReadAt of %d at %d: %s, want %s", c.n, c.off, got, c.want)
		}
	}
	cancel()
	b := make([]byte, 4)
	_, err = f.Read(b)
	_, errAt := at.ReadAt(b, 0)
	for _, err := range []error{err, errAt, f.Verify(ctx)} {
		if ambit.ReasonOf(err) != ambit.ErrCanceled {
			t.Errorf("after the end of the context: %v", err)
		}
	}
	must(t, f.Close())
	must(t, f.Close())
	_, err = f.Read(b)
	_, errAt = at.ReadAt(b, 0)
	for _, err := range []error{err, errAt, f.Verify(ctx)} {
		if ambit.ReasonOf(err) != ambit.ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	}
	if f.Info().Size != 10 {
		t.Errorf("Info after Close: %+v", f.Info())
	}
}

// Publish judges again: what has come to be there since Stage is not replaced
// under a condition, and a path that leads elsewhere is not written blindly.
func TestPublishJudgesAgain(t *testing.T) {
	type step func(w *world) error
	for _, c := range []struct {
		name string
		path string
		o    *ambit.WriteOptions
		do   step
		want string
		diff []string // of the names in the root
	}{
		{"the file came to be", "new", &ambit.WriteOptions{If: ambit.IfAbsent()}, func(w *world) error { return os.WriteFile(w.host("new"), nil, 0o666) }, "exists file", nil},
		{"a folder came to be", "new", nil, func(w *world) error { return os.Mkdir(w.host("new"), 0o777) }, "not-a-file directory T=/new", nil},
		{"a dangling link came to be", "new", nil, func(w *world) error { return os.Symlink("nowhere", w.host("new")) }, "denied dangling-link", nil},
		{"a link that leads out came to be", "new", nil, func(w *world) error { return os.Symlink(w.outside, w.host("new")) }, "outside", nil},
		{"the folder is gone", "d/new", nil, func(w *world) error { return os.RemoveAll(w.host("d")) }, "not-found T=/d/new M=/d", nil},
		{"the folder is gone, with Parents", "d/new", &ambit.WriteOptions{Parents: true}, func(w *world) error { return os.Rename(w.host("d"), w.host("e")) }, "ok", nil},
		{"the folder leads out", "d/new", &ambit.WriteOptions{Parents: true}, func(w *world) error {
			return errors.Join(os.RemoveAll(w.host("d")), os.Symlink(w.outside, w.host("d")))
		}, "outside", nil},
		{"the parents came to be", "a/b/new", &ambit.WriteOptions{Parents: true}, func(w *world) error { return os.MkdirAll(w.host("a/b"), 0o777) }, "ok", nil},
		{"a parent is a file", "a/b/new", &ambit.WriteOptions{Parents: true}, func(w *world) error {
			return errors.Join(os.Mkdir(w.host("a"), 0o777), os.WriteFile(w.host("a/b"), nil, 0o666))
		}, "not-a-directory", nil},
		{"the file was removed", "f", nil, func(w *world) error { return os.Remove(w.host("f")) }, "ok", nil},
		{"the file is read-only", "f", nil, func(w *world) error { return os.Chmod(w.host("f"), 0o444) }, "permission", nil},
		{"the link leads elsewhere", "l", nil, func(w *world) error {
			return errors.Join(os.Remove(w.host("l")), os.Symlink("d/g", w.host("l")))
		}, "ok", nil},
	} {
		w := newWorldIn(t, fastDir(t), `
			f = F
			d/
			d/g = G
			l -> f
		`)
		s, err := w.fsys.Stage(ctx, c.path, readerOf("staged"), c.o)
		must(t, err)
		must(t, c.do(w))
		before := w.snapshot(t)
		r, err := s.Publish(ctx)
		if got := sketch(err); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		after := w.snapshot(t)
		for _, line := range after {
			if strings.Contains(line, ".ambit.tmp.") {
				t.Errorf("%s: left %s", c.name, line)
			}
		}
		if err != nil {
			for _, line := range difference(before, after) {
				if !strings.HasPrefix(line, "-") || !strings.Contains(line, ".ambit.tmp.") {
					t.Errorf("%s: changed %s", c.name, line)
				}
			}
			continue
		}
		if text, info := read(t, w.fsys, c.path); text != "staged" || info != r.Info {
			t.Errorf("%s: there is %q, %+v; the result is %+v", c.name, text, info, r.Info)
		}
	}
}

// Of a condition on a version nothing is left when the file is changed by
// others between Stage and Publish.
func TestPublishOverAnotherVersion(t *testing.T) {
	w := newWorld(t, "f = F")
	_, info := read(t, w.fsys, "f")
	s, err := w.fsys.Stage(ctx, "f", readerOf("staged"), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	must(t, err)
	must(t, os.WriteFile(w.host("f"), []byte("X"), 0))
	if _, err := s.Publish(ctx); ambit.ReasonOf(err) != ambit.ErrChanged {
		t.Errorf("Publish: %v", err)
	}
	if text, _ := read(t, w.fsys, "f"); text != "X" {
		t.Errorf("the file has %q", text)
	}
	leftovers(t, w.root)
}

const leftover = ".ambit.tmp.00112233445566778899aabbccddeeff"

// Temporary names are nobody's: no call shows, opens, makes or removes one.
func TestTemporaryNames(t *testing.T) {
	w := newWorld(t, "d/\nf = F")
	must(t, os.WriteFile(w.host(leftover), []byte("L"), 0o666))
	upper := strings.ToUpper(leftover)
	for _, name := range []string{leftover, upper} {
		for _, op := range []string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpLstat, ambit.OpReadLink} {
			if got := w.look(t, op, name); got != "not-found T=/"+name {
				t.Errorf("%s of a temporary name: %s", op, got)
			}
		}
		for what, err := range map[string]error{
			"write":             second(w.fsys.Write(ctx, name, readerOf("x"), nil)),
			"create":            second(w.fsys.Write(ctx, name, readerOf("x"), &ambit.WriteOptions{If: ambit.IfAbsent()})),
			"create beneath":    second(w.fsys.Write(ctx, name+"/x", readerOf("x"), &ambit.WriteOptions{Parents: true})),
			"create far above":  second(w.fsys.Write(ctx, "a/"+name+"/x", readerOf("x"), &ambit.WriteOptions{Parents: true})),
			"stage":             second(w.fsys.Stage(ctx, name, readerOf("x"), nil)),
			"make":              second(w.fsys.Mkdir(ctx, name, nil)),
			"make with parents": second(w.fsys.Mkdir(ctx, "a/"+name, &ambit.MkdirOptions{Parents: true})),
			"rename to":         second(w.fsys.Rename(ctx, "f", name, &ambit.RenameOptions{Replace: true})),
		} {
			if sketch(err) != "denied temporary-name" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := w.fsys.Remove(ctx, name, nil); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("remove: %v", err)
		}
		if _, err := w.fsys.Rename(ctx, name, "g", nil); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("rename from: %v", err)
		}
	}
	must(t, os.WriteFile(w.host("d/"+leftover), nil, 0o666))
	if err := w.fsys.Remove(ctx, "d", nil); sketch(err) != "not-a-file directory T=/d" {
		t.Errorf("a folder with nothing that shows: %v", err)
	}
	for _, name := range []string{leftover[:len(leftover)-1], leftover + "0", leftover[:len(leftover)-1] + "g", ".ambit.tmp.", ".ambit.tmp"} {
		write(t, w.fsys, name, "mine", nil)
		if text, _ := read(t, w.fsys, name); text != "mine" {
			t.Errorf("%s has %q", name, text)
		}
	}
}

func second[A any](_ A, err error) error { return err }

// What a dead writer has left is removed by the next who comes by, folders by
// the next who writes; what a living one has is not.
func TestSweep(t *testing.T) {
	plant := func(w *world) {
		must(t, os.WriteFile(w.host(leftover), []byte("L"), 0o666))
		must(t, os.MkdirAll(w.host("d/"+leftover+"/a/b"), 0o777))
		must(t, os.WriteFile(w.host("d/"+leftover+"/a/f"), []byte("L"), 0o444))
	}
	count := func(w *world) (n int) {
		for _, line := range w.snapshot(t) {
			if strings.Contains(line, ".ambit.tmp.") {
				n++
			}
		}
		return n
	}
	look := func(fsys *local.FileSystem) { names(t, fsys, "/"); names(t, fsys, "d") }
	add := func(fsys *local.FileSystem) { write(t, fsys, "x", "X", nil); write(t, fsys, "d/x", "X", nil) }
	for how, c := range map[string]struct {
		sweep func(fsys *local.FileSystem)
		want  int
	}{
		"a listing": {look, 6},
		"a write":   {add, 2},
	} {
		w := newWorld(t, "d/")
		w.fsys = serve(t, w.root, local.Portable(nil)) // which gives what is staged a name
		s, err := w.fsys.Stage(ctx, "d/staged", readerOf("staged"), nil)
		must(t, err)
		s2, err := w.fsys.Stage(ctx, "staged", readerOf("staged"), nil)
		must(t, err)
		plant(w)
		if count(w) != 7 {
			t.Fatalf("the fixture has %q", w.snapshot(t))
		}
		c.sweep(serve(t, w.root, nil))
		if n := count(w); n != c.want {
			t.Errorf("after %s there are %d temporary names: %q", how, n, w.snapshot(t))
		}
		for _, s := range []ambit.Staged{s, s2} {
			r, err := s.Publish(ctx)
			must(t, err)
			if text, _ := read(t, w.fsys, r.Info.Path); text != "staged" {
				t.Errorf("published %q", text)
			}
		}
		add(serve(t, w.root, nil))
		leftovers(t, w.root)
	}
}

// A removal that is under way when its folder is moved, and a folder full of
// links: only what lies beneath is removed.
func TestRemoveTree(t *testing.T) {
	w := newWorld(t, `
		keep/
		keep/f = F
		tree/
		tree/a/
		tree/a/b/
		tree/a/b/f = F
		tree/a/in -> ../../keep
		tree/out -> $OUT
		tree/file -> $OUT/secret-name
		tree/loop -> loop
		tree/p |
		link -> tree
	`)
	before := w.snapshot(t)
	must(t, w.fsys.Remove(ctx, "tree", &ambit.RemoveOptions{Recursive: true}))
	for _, line := range difference(before, w.snapshot(t)) {
		if !strings.HasPrefix(line, "-tree/") {
			t.Errorf("changed: %s", line)
		}
	}
	if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"keep", "link"}) {
		t.Errorf("there is %q", got)
	}
}

// Two names of one file: a rename of one over the other leaves one.
func TestRenameOverItself(t *testing.T) {
	w := newWorld(t, "a = A\nd/")
	must(t, os.Link(w.host("a"), w.host("b")))
	must(t, os.Link(w.host("a"), w.host("d/c")))
	if _, err := w.fsys.Rename(ctx, "a", "b", nil); sketch(err) != "exists file" {
		t.Errorf("without Replace: %v", err)
	}
	for _, to := range []string{"b", "d/c"} {
		from := map[string]string{"b": "a", "d/c": "b"}[to]
		info, err := w.fsys.Rename(ctx, from, to, &ambit.RenameOptions{Replace: true})
		must(t, err)
		if text, now := read(t, w.fsys, to); text != "A" || now != info {
			t.Errorf("%s has %q, %+v, want %+v", to, text, now, info)
		}
	}
	if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"d"}) {
		t.Errorf("there is %q", got)
	}
}

// The root is described as it is, and not as it was when it was opened.
func TestRootIsDescribedAnew(t *testing.T) {
	w := newWorld(t, "")
	before, err := w.fsys.Stat(ctx, "/")
	must(t, err)
	must(t, os.Chmod(w.root, 0o700))
	must(t, os.Chtimes(w.root, time.Time{}, time.Unix(1e9, 0)))
	after, err := w.fsys.Stat(ctx, "/")
	must(t, err)
	if after.Mode != 0o700 || !after.ModTime.Equal(time.Unix(1e9, 0)) || after.ID != before.ID {
		t.Errorf("the root is %+v", after)
	}
}

func TestIdentity(t *testing.T) {
	w := newWorld(t, "a = A\nother = A\nd/\nl -> a")
	must(t, os.Link(w.host("a"), w.host("d/b")))
	id := func(path string) string {
		info, err := w.fsys.Stat(ctx, path)
		must(t, err)
		return info.ID
	}
	if id("a") == "" || id("a") != id("l") || id("a") != id("d/b") || id("a") == id("other") || id("d") == id("/") {
		t.Error("the same file has not the same ID, or another has")
	}
	if info, _ := w.fsys.Stat(ctx, "a"); info.Links != 2 {
		t.Errorf("a has %d names", info.Links)
	}
}

// Pages put together are the whole listing, whatever their size.
func TestListPages(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("%x", i*7919%1000)
		must(t, os.WriteFile(w.host(name), nil, 0o666))
		want = append(want, name)
	}
	must(t, os.WriteFile(w.host(leftover), nil, 0o666))
	slices.Sort(want)
	for _, limit := range []int{0, 1, 7, 299, 300, 301} {
		var got []string
		after := ""
		for {
			l, err := w.fsys.List(ctx, "/", &ambit.ListOptions{After: after, Limit: limit})
			must(t, err)
			for _, e := range l.Entries {
				got = append(got, e.Name)
				if e.Info.Path != "/"+e.Name || e.Info.Kind != ambit.KindRegular {
					t.Fatalf("an entry %+v", e)
				}
			}
			if after = l.Next; after == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %d names", limit, len(got))
		}
	}
	if _, err := w.fsys.List(ctx, "/", &ambit.ListOptions{Limit: -1}); ambit.ReasonOf(err) != ambit.ErrInvalid {
		t.Errorf("a negative Limit: %v", err)
	}
	if _, err := w.fsys.List(ctx, "..", &ambit.ListOptions{Limit: -1}); ambit.ReasonOf(err) != ambit.ErrOutside {
		t.Errorf("a bad path before a bad option: %v", err)
	}
}

// What was staged for one disk is published on another when the path leads
// there by then.
func TestPublishOnAnotherDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no Host on Windows")
	}
	w := newWorldIn(t, fastDir(t), "here/\nthere/\nd -> here")
	other := t.TempDir()
	if sameDisk(t, w.root, other) {
		t.Skip("both folders for tests lie on one disk")
	}
	for name, o := range map[string]*local.Options{"native": nil, "portable": local.Portable(nil)} {
		fsys, err := local.Host([]string{w.root, other}, o)
		must(t, err)
		must(t, os.Remove(w.host("d")))
		must(t, os.Symlink(w.host("here"), w.host("d")))
		s, err := fsys.Stage(ctx, "d/"+name, readerOf("staged"), nil)
		must(t, err)
		must(t, os.Remove(w.host("d")))
		must(t, os.Symlink(other, w.host("d")))
		r, err := s.Publish(ctx)
		must(t, err)
		if want := other + "/" + name; r.Info.Path != want {
			t.Errorf("%s: published as %s, want %s", name, r.Info.Path, want)
		}
		if b, err := os.ReadFile(filepath.Join(other, name)); string(b) != "staged" {
			t.Errorf("%s: it holds %q, %v", name, b, err)
		}
		fsys.Close()
		leftovers(t, w.root)
		leftovers(t, other)
	}
}

func sameDisk(t *testing.T, a, b string) bool {
	t.Helper()
	// A hard link is what one disk alone can hold.
	f := filepath.Join(a, "probe")
	must(t, os.WriteFile(f, nil, 0o666))
	defer os.Remove(f)
	err := os.Link(f, filepath.Join(b, "probe"))
	if err == nil {
		must(t, os.Remove(filepath.Join(b, "probe")))
	}
	return err == nil
}
