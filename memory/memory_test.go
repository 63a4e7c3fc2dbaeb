// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

// told is an error as the tests compare it: its reason, or "ok".
func told(err error) string {
	if err == nil {
		return "ok"
	}
	return string(ambit.ReasonOf(err))
}

// shown is the whole tree, one word for each name.
func shown(t testing.TB, fsys ambit.FileSystem) string {
	t.Helper()
	var words []string
	for e, err := range ambit.Walk(t.Context(), fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		word := e.Info.Path + "/"
		if e.Info.Kind == ambit.KindRegular {
			data, _, err := ambit.ReadFile(t.Context(), fsys, e.Info.Path)
			if err != nil {
				t.Fatal(err)
			}
			word = e.Info.Path + "=" + string(data)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func mustWrite(t testing.TB, fsys ambit.WritableFileSystem, path, content string, o *ambit.WriteOptions) ambit.FileInfo {
	t.Helper()
	r, err := fsys.Write(t.Context(), path, strings.NewReader(content), o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Info
}

func TestNew(t *testing.T) {
	fsys := memory.New(map[string]string{"a/b/c.txt": "C", "/x": "X", "./y": "", "empty/": "", "a/b/../d": "D", "é\u0301/\xff": "bytes"}, nil)
	if got := shown(t, fsys); got != "/a/ /a/b/ /a/b/c.txt=C /a/d=D /empty/ /x=X /y= /é\u0301/ /é\u0301/\xff=bytes" {
		t.Errorf("it holds %q", got)
	}
	for path, want := range map[string]string{"/x": "-rw-r--r--", "/a": "-rwxr-xr-x", "/empty": "-rwxr-xr-x", "/": "-rwxr-xr-x"} {
		if info, err := fsys.Stat(t.Context(), path); err != nil || info.Mode.String() != want || info.ModTime.IsZero() {
			t.Errorf("%s: %+v, %v, want the mode %s", path, info, err, want)
		}
	}
	if got := shown(t, memory.New(nil, nil)); got != "" {
		t.Errorf("an empty one holds %q", got)
	}
	c := fsys.Capabilities()
	if c.Swap != ambit.SwapExact || c.Links != ambit.LinksNone || !c.AtomicReplace || !c.KeepsMode || !c.Commit || c.Confined || c.Durable {
		t.Errorf("claimed %+v", c)
	}
}

// A fixture that no tree can hold is a mistake in a test, and says which.
func TestNewPanics(t *testing.T) {
	for want, files := range map[string]map[string]string{
		`the path is empty`:                {"": "x"},
		`NUL`:                              {"a\x00": "x"},
		`climbs above the root`:            {"../a": "x"},
		`"/a" is a file and cannot hold`:   {"a": "x", "a/b": "y"},
		`"/a/b" is a file and cannot hold`: {"a/b": "x", "a/b/c/d": "y"},
		`which are one path`:               {"a": "x", "/a": "x"},
		`"a" and "a/", which are one path`: {"a": "x", "a/": ""},
		`content for the folder "a/"`:      {"a/": "x"},
		`"./a" holds other files`:          {"./a": "x", "-/../a/b": "y"},
		`content for the folder "."`:       {".": "x"},
		`a name is longer`:                 {strings.Repeat("n", 256): "x"},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "memory: ") || !strings.Contains(got, want) {
					t.Errorf("it says %q", got)
				}
			}()
			memory.New(files, nil)
			t.Error("no panic")
		})
	}
}

// SetFile is a stranger: no rule, hook or precondition stops it, and every
// version and Verify tells of it.
func TestSetFile(t *testing.T) {
	fsys := memory.New(map[string]string{"a": "one"}, &memory.Options{Faults: func(op, _ string) error {
		if op == ambit.OpWrite {
			return ambit.ErrNoSpace
		}
		return nil
	}})
	ctx := t.Context()
	f, err := fsys.Open(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	versions := map[ambit.Version]bool{f.Info().Version: true}
	for range 5 {
		fsys.SetFile("/a", "one")
		info, err := fsys.Stat(ctx, "a")
		if err != nil || versions[info.Version] {
			t.Fatalf("%+v, %v: the version does not tell of the change", info, err)
		}
		versions[info.Version] = true
	}
	if err := f.Verify(ctx); told(err) != "changed" {
		t.Errorf("Verify: %v", err)
	}
	if data, err := io.ReadAll(f); string(data) != "one" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	fsys.SetFile("new/deep/b", "B")
	if got := shown(t, fsys); got != "/a=one /new/ /new/deep/ /new/deep/b=B" {
		t.Errorf("it holds %s", got)
	}
	if err := ambit.Remove(ctx, fsys, "new", &ambit.RemoveOptions{Recursive: true}); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"a/b", "", "d/", "..", "folder"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("SetFile(%q) does not panic", path)
				}
			}()
			memory.New(map[string]string{"a": "", "folder/": ""}, nil).SetFile(path, "x")
		}()
	}
}

func TestPeek(t *testing.T) {
	fsys := memory.New(map[string]string{"d/a": "one"}, &memory.Options{Faults: func(op, _ string) error {
		if op == ambit.OpOpen {
			return ambit.ErrIO
		}
		return nil
	}})
	mustWrite(t, fsys, "d/a", "two", nil)
	for path, want := range map[string]string{"d/a": "two true", "/d/../d/a": "two true", "d": " false", "d/": " false", "none": " false", "": " false", "d/a/": " false"} {
		content, ok := fsys.Peek(path)
		if got := fmt.Sprint(content, " ", ok); got != want {
			t.Errorf("Peek(%q) is %q, want %q", path, got, want)
		}
	}
}

// Any failure can be made to happen, on any operation, and leaves everything
// as it was.
func TestFaults(t *testing.T) {
	var fail string
	var asked []string
	fsys := memory.New(map[string]string{"d/a": "A", "b": "B"}, &memory.Options{Faults: func(op, path string) error {
		asked = append(asked, op+" "+path)
		if op == fail {
			return &ambit.Error{Reason: ambit.ErrNoSpace, Detail: "the disk is full"}
		}
		return nil
	}})
	ctx := t.Context()
	open := func() ambit.File {
		t.Helper()
		f, err := fsys.Open(ctx, "d/a")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	before := shown(t, fsys)
	for op, do := range map[string]func() error{
		ambit.OpOpen:   func() error { _, err := fsys.Open(ctx, "d/a"); return err },
		ambit.OpStat:   func() error { _, err := fsys.Stat(ctx, "d/a"); return err },
		ambit.OpList:   func() error { _, err := fsys.List(ctx, "d", nil); return err },
		ambit.OpRead:   func() error { _, err := open().Read(make([]byte, 1)); return err },
		ambit.OpVerify: func() error { return open().Verify(ctx) },
		ambit.OpWrite: func() error {
			_, err := fsys.Write(ctx, "n/x", strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
			return err
		},
		ambit.OpAppend: func() error { _, err := fsys.Append(ctx, "d/a", strings.NewReader("x"), nil); return err },
		ambit.OpRemove: func() error { return fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}) },
		ambit.OpRename: func() error { _, err := fsys.Rename(ctx, "d", "n/d", &ambit.RenameOptions{Parents: true}); return err },
		ambit.OpMkdir:  func() error { _, err := fsys.Mkdir(ctx, "n/m", &ambit.MkdirOptions{Parents: true}); return err },
		ambit.OpStage:  func() error { _, err := fsys.Stage(ctx, "d/a", strings.NewReader("x"), nil); return err },
		ambit.OpPublish: func() error {
			s, err := fsys.Stage(ctx, "d/a", strings.NewReader("x"), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Publish(ctx)
			return err
		},
		ambit.OpCommit: func() error {
			_, err := fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "d/a", Content: strings.NewReader("x")}, {Op: ambit.OpRemove, Path: "b"},
			})
			return err
		},
		ambit.OpSub: func() error { _, err := fsys.Sub(ctx, "d"); return err },
	} {
		fail, asked = op, nil
		err := do()
		fail = ""
		var e *ambit.Error
		if !errors.As(err, &e) || e.Reason != ambit.ErrNoSpace || e.Op != op || e.Detail != "the disk is full" {
			t.Errorf("%s: %v", op, err)
		}
		if len(asked) == 0 {
			t.Errorf("%s: not asked", op)
		}
		if got := shown(t, fsys); got != before {
			t.Errorf("%s: left %s", op, got)
		}
	}
	// Asked last: not for what is refused anyway.
	asked = nil
	fsys.Open(ctx, "none")
	fsys.Write(ctx, "d", strings.NewReader(""), nil)
	fsys.Remove(ctx, "/", nil)
	if len(asked) != 0 {
		t.Errorf("asked %v for what was refused", asked)
	}
}

// What the hook changes itself is judged again.
func TestFaultsMayChange(t *testing.T) {
	var fsys *memory.FileSystem
	var once sync.Once
	fsys = memory.New(map[string]string{"a": "A"}, &memory.Options{Faults: func(op, _ string) error {
		if op == ambit.OpWrite {
			once.Do(func() { fsys.SetFile("a", "theirs") })
		}
		return nil
	}})
	info, err := fsys.Stat(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = fsys.Write(t.Context(), "a", strings.NewReader("mine"), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	if told(err) != "changed" {
		t.Error(err)
	}
	if got, _ := fsys.Peek("a"); got != "theirs" {
		t.Errorf("it holds %q", got)
	}
}

// Your own write does not make you stale.
func TestOwnWritesKeepTheVersion(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "0"}, nil)
	ctx := t.Context()
	_, info, err := ambit.ReadFile(ctx, fsys, "f")
	if err != nil {
		t.Fatal(err)
	}
	first := info.Version
	for i := range 3 {
		info = mustWrite(t, fsys, "f", fmt.Sprint(i), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
		_, fresh, err := ambit.ReadFile(ctx, fsys, "f")
		if err != nil || fresh.Version != info.Version {
			t.Errorf("a fresh read tells %q, the write told %q, %v", fresh.Version, info.Version, err)
		}
	}
	if _, err := fsys.Write(ctx, "f", strings.NewReader("x"), &ambit.WriteOptions{If: ambit.IfVersion(first)}); told(err) != "changed" {
		t.Errorf("a write on the first version: %v", err)
	}
}

// Bytes that were handed out are the reader's own, and so are those that were
// handed in.
func TestBytesAreNotShared(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "content"}, nil)
	ctx := t.Context()
	one, _, err := ambit.ReadFile(ctx, fsys, "f")
	if err != nil {
		t.Fatal(err)
	}
	copy(one, "SPOILED")
	mine := []byte("written")
	if _, err := ambit.WriteFile(ctx, fsys, "g", mine, nil); err != nil {
		t.Fatal(err)
	}
	copy(mine, "SPOILED")
	mustWrite(t, fsys, "f", "CHANGED", nil)
	if got := shown(t, fsys); got != "/f=CHANGED /g=written" || string(one) != "SPOILED" {
		t.Errorf("it holds %s, the reader %q", got, one)
	}
}

// Escape sequences in content are bytes like any others.
func TestContentIsNotInterpreted(t *testing.T) {
	fsys := memory.New(nil, nil)
	for _, content := range []string{`print('hello\nworld')`, `\title{x}`, `'\0'`, `'\''`, "ends in one \\\n", "%s %d\r\n\x00\xff"} {
		mustWrite(t, fsys, "f", content, nil)
		if data, _, err := ambit.ReadFile(t.Context(), fsys, "f"); string(data) != content || err != nil {
			t.Errorf("%q came back as %q, %v", content, data, err)
		}
	}
}

// Names that look the same are not.
func TestNamesAreBytes(t *testing.T) {
	names := []string{"v\u00a013.png", "v 13.png", "caf\u00e9", "cafe\u0301", ".env", ".env.", ".env ", ".ENV", "NUL.txt", `a\b`, "a", "~", "%2e", "#", "?", "*", "\xff", "-rf"}
	fsys := memory.New(nil, nil)
	ctx := t.Context()
	for i, name := range names {
		mustWrite(t, fsys, name, fmt.Sprint(i), &ambit.WriteOptions{If: ambit.IfAbsent()})
	}
	l, err := fsys.List(ctx, "/", nil)
	if err != nil || len(l.Entries) != len(names) {
		t.Fatalf("%d of %d listed, %v", len(l.Entries), len(names), err)
	}
	for i, name := range names {
		if data, _, err := ambit.ReadFile(ctx, fsys, name); string(data) != fmt.Sprint(i) || err != nil {
			t.Errorf("%q holds %q, %v", name, data, err)
		}
	}
	if _, err := memory.New(map[string]string{"v\u00a013.png": ""}, nil).Open(ctx, "v 13.png"); told(err) != "not-found" {
		t.Error(err)
	}
}

// A rule speaks of whole names.
func TestPrefixIsNotInside(t *testing.T) {
	fsys := memory.New(map[string]string{"share/x": "X", "share-secret/loot.md": "L", "secret/k": "K", "secrets-public/ok": "OK"}, nil)
	ctx := t.Context()
	sub, err := fsys.Sub(ctx, "share")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../share-secret/loot.md", "x/../../share-secret/loot.md"} {
		if _, err := sub.Open(ctx, path); told(err) != "outside" {
			t.Errorf("%s: %v", path, err)
		}
	}
	guarded := fsys.Guard(func(_ context.Context, _ ambit.Op, path string) error {
		if ambit.Contains("/secret", path) {
			return ambit.ErrDenied
		}
		return nil
	})
	if _, err := guarded.Open(ctx, "secret/k"); told(err) != "denied" {
		t.Error(err)
	}
	if got := shown(t, guarded); strings.Contains(got, "/secret/") || !strings.Contains(got, "/secrets-public/ok=OK") {
		t.Errorf("shown %s", got)
	}
}

// Absurd numbers have a reason, and cost nothing.
func TestAbsurdNumbers(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "abc"}, &memory.Options{MaxFileSize: math.MinInt64})
	ctx := t.Context()
	if c := fsys.Capabilities(); c.MaxFileSize != 0 {
		t.Errorf("the limit is %d", c.MaxFileSize)
	}
	for limit, want := range map[int]string{-1: "invalid", math.MinInt: "invalid", 0: "ok", math.MaxInt: "ok"} {
		if l, err := fsys.List(ctx, "/", &ambit.ListOptions{Limit: limit}); told(err) != want || err == nil && len(l.Entries) != 1 {
			t.Errorf("a limit of %d: %+v, %v", limit, l, err)
		}
	}
	f, err := fsys.Open(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for off, want := range map[int64]string{-1: "invalid", math.MinInt64: "invalid", 0: "ok", 3: "io", math.MaxInt64: "io"} {
		_, err := f.(io.ReaderAt).ReadAt(make([]byte, 2), off)
		if want == "io" && err != io.EOF || want != "io" && told(err) != want {
			t.Errorf("an offset of %d: %v", off, err)
		}
	}
	for n, want := range map[int64]string{-1: "invalid", 2: "too-large", 3: "ok", math.MaxInt64: "ok"} {
		if _, _, err := ambit.ReadFileMax(ctx, fsys, "f", n); told(err) != want {
			t.Errorf("a maximum of %d: %v", n, err)
		}
	}
}

// A file of the limit is taken and read whole, one byte more is refused, and
// never cut.
func TestLimit(t *testing.T) {
	const limit = 1000
	fsys := memory.New(nil, &memory.Options{MaxFileSize: limit})
	for n, want := range map[int]string{limit - 1: "ok", limit: "ok", limit + 1: "too-large", 100 * limit: "too-large"} {
		path := fmt.Sprint("f", n)
		_, err := fsys.Write(t.Context(), path, strings.NewReader(strings.Repeat("x", n)), nil)
		if told(err) != want {
			t.Errorf("%d bytes: %v", n, err)
		}
		content, ok := fsys.Peek(path)
		if ok != (want == "ok") || ok && len(content) != n {
			t.Errorf("%d bytes: %d are there", n, len(content))
		}
	}
}
