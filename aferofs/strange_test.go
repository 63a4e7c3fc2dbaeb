// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// failing is an afero.Fs whose calls can be made to fail.
type failing struct {
	afero.Fs
	before func(op, name string) error // nil error: go on
}

func (f *failing) ask(op, name string) error {
	if f.before == nil {
		return nil
	}
	return f.before(op, name)
}

func (f *failing) file(file afero.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f}, nil
}

func (f *failing) Create(name string) (afero.File, error) {
	if err := f.ask("create", name); err != nil {
		return nil, err
	}
	return f.file(f.Fs.Create(name))
}

func (f *failing) Open(name string) (afero.File, error) {
	if err := f.ask("open", name); err != nil {
		return nil, err
	}
	return f.file(f.Fs.Open(name))
}

func (f *failing) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := f.ask("openfile", name); err != nil {
		return nil, err
	}
	return f.file(f.Fs.OpenFile(name, flag, perm))
}

func (f *failing) Mkdir(name string, perm os.FileMode) error {
	if err := f.ask("mkdir", name); err != nil {
		return err
	}
	return f.Fs.Mkdir(name, perm)
}

func (f *failing) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.Fs.Remove(name)
}

func (f *failing) Rename(from, to string) error {
	if err := f.ask("rename", from); err != nil {
		return err
	}
	return f.Fs.Rename(from, to)
}

func (f *failing) Stat(name string) (os.FileInfo, error) {
	if err := f.ask("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

func (f *failing) Chmod(name string, mode os.FileMode) error {
	if err := f.ask("chmod", name); err != nil {
		return err
	}
	return f.Fs.Chmod(name, mode)
}

func (f *failing) Chtimes(name string, a, m time.Time) error {
	if err := f.ask("chtimes", name); err != nil {
		return err
	}
	return f.Fs.Chtimes(name, a, m)
}

type failingFile struct {
	afero.File
	fs *failing
}

func (f *failingFile) Read(p []byte) (int, error) {
	if err := f.fs.ask("read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// Write writes a half before it fails.
func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.fs.ask("write", f.Name()); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *failingFile) Truncate(size int64) error {
	if err := f.fs.ask("truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *failingFile) Readdir(n int) ([]os.FileInfo, error) {
	if err := f.fs.ask("readdir", f.Name()); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f *failingFile) Close() error {
	err := f.fs.ask("close", f.Name())
	if closed := f.File.Close(); err == nil {
		err = closed
	}
	return err
}

var changeTree = map[string]string{"/a": "A", "/b": "B", "/d/f": "F", "/d/e/g": "G", "/hollow/": ""}

// changes are the methods that change something, each with what it leaves.
var changes = []struct {
	name  string
	do    func(ctx context.Context, fsys ambit.WritableFileSystem) error
	after string
}{
	{"create with parents", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := fsys.Write(ctx, "/n/m/f", strings.NewReader("new"), &ambit.WriteOptions{Parents: true, If: ambit.IfAbsent()})
		return err
	}, "/a=A /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/ /n/ /n/m/ /n/m/f=new"},
	{"replace", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := fsys.Write(ctx, "/a", strings.NewReader("new"), nil)
		return err
	}, "/a=new /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"},
	{"replace with a mode", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := fsys.Write(ctx, "/a", strings.NewReader("new"), &ambit.WriteOptions{Mode: 0o600})
		return err
	}, "/a=new /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"},
	{"append", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Append(ctx, fsys, "/a", strings.NewReader("new"), nil)
		return err
	}, "/a=Anew /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"},
	{"append to nothing", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Append(ctx, fsys, "/n/f", strings.NewReader("new"), &ambit.AppendOptions{Parents: true})
		return err
	}, "/a=A /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/ /n/ /n/f=new"},
	{"remove a file", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		return fsys.Remove(ctx, "/a", nil)
	}, "/b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"},
	{"remove a folder", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		return fsys.Remove(ctx, "/d", recursive)
	}, "/a=A /b=B /hollow/"},
	{"move a file with parents", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Rename(ctx, fsys, "/a", "/n/m/a", &ambit.RenameOptions{Parents: true})
		return err
	}, "/b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/ /n/ /n/m/ /n/m/a=A"},
	{"move a file over another", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Rename(ctx, fsys, "/a", "/b", &ambit.RenameOptions{Replace: true})
		return err
	}, "/b=A /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"},
	{"move a folder", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Rename(ctx, fsys, "/d", "/hollow/d", nil)
		return err
	}, "/a=A /b=B /hollow/ /hollow/d/ /hollow/d/e/ /hollow/d/e/g=G /hollow/d/f=F"},
	{"make folders", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Mkdir(ctx, fsys, "/n/m/o", &ambit.MkdirOptions{Parents: true})
		return err
	}, "/a=A /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/ /n/ /n/m/ /n/m/o/"},
	{"stage and publish", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		s, err := ambit.Stage(ctx, fsys, "/n/f", strings.NewReader("new"), &ambit.WriteOptions{Parents: true})
		if err != nil {
			return err
		}
		_, err = s.Publish(ctx)
		return err
	}, "/a=A /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/ /n/ /n/f=new"},
	{"commit", func(ctx context.Context, fsys ambit.WritableFileSystem) error {
		_, err := ambit.Commit(ctx, fsys, []ambit.Change{
			{Op: ambit.OpWrite, Path: "/a", Content: strings.NewReader("one")},
			{Op: ambit.OpWrite, Path: "/n/x", Content: strings.NewReader("two"), Parents: true},
			{Op: ambit.OpRemove, Path: "/b"},
			{Op: ambit.OpWrite, Path: "/n/y", Content: strings.NewReader("three"), Parents: true, If: ambit.IfAbsent()},
			{Op: ambit.OpWrite, Path: "/d/f", Content: strings.NewReader("four")},
		})
		return err
	}, "/a=one /d/ /d/e/ /d/e/g=G /d/f=four /hollow/ /n/ /n/x=two /n/y=three"},
}

const changeTreeText = "/a=A /b=B /d/ /d/e/ /d/e/g=G /d/f=F /hollow/"

// bareNames lists every name in the storage, reserved ones too.
func bareNames(t *testing.T, fs afero.Fs) string {
	t.Helper()
	var names []string
	err := afero.Walk(fs, "/", func(path string, _ os.FileInfo, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// errDisk is what a broken disk would say, with a place of the host in it.
var errDisk = &os.PathError{Op: "pwrite", Path: "/host/secret", Err: syscall.EIO}

// Whichever call of the afero.Fs fails, once or from then on: a method that
// fails has changed nothing and left nothing behind, one that succeeds has
// changed all.
func TestEveryCallFails(t *testing.T) {
	bases := map[string]func() afero.Fs{
		"strange":       func() afero.Fs { return afero.NewMemMapFs() },
		"BasePathFs":    func() afero.Fs { return afero.NewMemMapFs() },
		"CopyOnWriteFs": func() afero.Fs { return afero.NewMemMapFs() },
	}
	for base, open := range bases {
		for _, c := range changes {
			for _, forGood := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/for good %v", base, c.name, forGood), func(t *testing.T) {
					failed := 0
					for k := 1; ; k++ {
						tree := open()
						fill(t, aferofs.New(tree, nil), changeTree)
						broken := &failing{Fs: tree}
						var over afero.Fs = broken
						switch base {
						case "BasePathFs":
							over = afero.NewBasePathFs(broken, "/")
						case "CopyOnWriteFs":
							over = afero.NewCopyOnWriteFs(afero.NewMemMapFs(), broken)
						}
						fsys := aferofs.New(over, nil)
						var calls atomic.Int64
						broken.before = func(op, name string) error {
							n := calls.Add(1)
							if n == int64(k) || forGood && n > int64(k) {
								return errDisk
							}
							return nil
						}
						err := c.do(t.Context(), fsys)
						reached := calls.Load() >= int64(k)
						broken.before = nil
						got := contents(t, aferofs.New(tree, nil))
						switch {
						case err == nil && got != c.after:
							t.Errorf("call %d failed, the method did not, and left %s", k, got)
						case forGood && ambit.ReasonOf(err) == ambit.ErrPartial:
							// It says that it could not undo.
						case err != nil && got != changeTreeText:
							t.Errorf("call %d failed: %v, and left %s", k, err, got)
						}
						if err != nil {
							failed++
							if all := fmt.Sprintf("%v %#v", err, err); strings.Contains(all, "host") {
								t.Errorf("the error names the host: %s", all)
							}
							if names := bareNames(t, tree); !forGood && strings.Contains(names, ".ambit") {
								t.Errorf("call %d failed: %v, and left behind %s", k, err, names)
							}
						}
						if !reached {
							break
						}
					}
					if failed == 0 {
						t.Error("no call could fail")
					}
				})
			}
		}
	}
}

// empty is an afero.Fs that returns neither a result nor an error.
type empty struct{ afero.Fs }

func (empty) Open(string) (afero.File, error)                       { return nil, nil }
func (empty) OpenFile(string, int, os.FileMode) (afero.File, error) { return nil, nil }
func (empty) Create(string) (afero.File, error)                     { return nil, nil }

type blind struct{ afero.Fs }

func (blind) Stat(string) (os.FileInfo, error) { return nil, nil }

// An afero.Fs that answers nothing leads to a reason, not to a panic.
func TestNoAnswer(t *testing.T) {
	for name, wrap := range map[string]func(afero.Fs) afero.Fs{
		"files": func(fs afero.Fs) afero.Fs { return empty{fs} },
		"infos": func(fs afero.Fs) afero.Fs { return blind{fs} },
	} {
		for _, c := range changes {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				tree := afero.NewMemMapFs()
				fill(t, aferofs.New(tree, nil), changeTree)
				err := c.do(t.Context(), aferofs.New(wrap(tree), nil))
				got := contents(t, aferofs.New(tree, nil))
				if err == nil && got != c.after || err != nil && got != changeTreeText {
					t.Errorf("%v, and left %s", err, got)
				}
			})
		}
		tree := afero.NewMemMapFs()
		fill(t, aferofs.New(tree, nil), changeTree)
		fsys := aferofs.New(wrap(tree), nil)
		_, err := fsys.Open(t.Context(), "/a")
		if ambit.ReasonOf(err) != ambit.ErrIO {
			t.Errorf("%s: Open is %v", name, err)
		}
		_, err = fsys.List(t.Context(), "/d", nil)
		if ambit.ReasonOf(err) != ambit.ErrIO {
			t.Errorf("%s: List is %v", name, err)
		}
	}
}

// liar is an afero.File that counts wrongly.
type liar struct {
	afero.File
	read, write func(n int) int
}

func (l liar) Read(p []byte) (int, error) {
	n, err := l.File.Read(p)
	if l.read != nil {
		n = l.read(n)
	}
	return n, err
}

func (l liar) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	if l.write != nil {
		n = l.write(n)
	}
	return n, err
}

type liars struct {
	afero.Fs
	read, write func(n int) int
}

func (l liars) Open(name string) (afero.File, error) {
	f, err := l.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return liar{f, l.read, l.write}, nil
}

func (l liars) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := l.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return liar{f, l.read, l.write}, nil
}

// Impossible and short counts are failures; none is taken for content.
func TestWrongCounts(t *testing.T) {
	add := func(d int) func(int) int { return func(n int) int { return n + d } }
	tree := afero.NewMemMapFs()
	fill(t, aferofs.New(tree, nil), changeTree)
	for _, d := range []int{1000, -1000} {
		_, _, err := ambit.ReadFile(t.Context(), aferofs.New(liars{Fs: tree, read: add(d)}, nil), "/a")
		if ambit.ReasonOf(err) != ambit.ErrIO {
			t.Errorf("reads that count %d more: %v", d, err)
		}
	}
	for _, d := range []int{-1, 1, -1000} {
		fsys := aferofs.New(liars{Fs: tree, write: add(d)}, nil)
		_, written := fsys.Write(t.Context(), "/a", strings.NewReader("new"), nil)
		_, added := fsys.Append(t.Context(), "/a", strings.NewReader("new"), nil)
		if ambit.ReasonOf(written) != ambit.ErrIO || ambit.ReasonOf(added) != ambit.ErrIO {
			t.Errorf("writes that count %d more: %v, %v", d, written, added)
		}
		if got := contents(t, aferofs.New(tree, nil)); got != changeTreeText {
			t.Errorf("writes that count %d more left %s", d, got)
		}
	}
}

// short is an afero.Fs whose files end early.
type short struct{ afero.Fs }

func (s short) Open(name string) (afero.File, error) {
	f, err := s.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return ending{f}, nil
}

type ending struct{ afero.File }

func (ending) Read([]byte) (int, error) { return 0, io.EOF }

// A file that ends before its size does not pass for whole.
func TestEndsEarly(t *testing.T) {
	tree := afero.NewMemMapFs()
	fill(t, aferofs.New(tree, nil), changeTree)
	data, _, err := ambit.ReadFile(t.Context(), aferofs.New(short{tree}, nil), "/a")
	if ambit.ReasonOf(err) != ambit.ErrChanged {
		t.Errorf("read %q, %v", data, err)
	}
}

// names is an afero.Fs whose folders hold what cannot be names.
type names struct{ afero.Fs }

func (n names) Open(name string) (afero.File, error) {
	f, err := n.Fs.Open(name)
	if err != nil {
		return nil, err
	}
	return listing{f}, nil
}

type listing struct{ afero.File }

type odd struct {
	os.FileInfo
	name string
}

func (o odd) Name() string { return o.name }

func (l listing) Readdir(n int) ([]os.FileInfo, error) {
	infos, err := l.File.Readdir(n)
	for _, info := range infos {
		for _, name := range []string{"", ".", "..", "../up", "a/b", "nul\x00", "fine", "fine"} {
			infos = append(infos, odd{info, name})
		}
		infos = append(infos, nil)
	}
	return infos, err
}

func TestImpossibleNames(t *testing.T) {
	tree := afero.NewMemMapFs()
	fill(t, aferofs.New(tree, nil), map[string]string{"/a": "A"})
	l, err := aferofs.New(names{tree}, nil).List(t.Context(), "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.Entries {
		got = append(got, e.Name)
	}
	if strings.Join(got, " ") != "a fine" {
		t.Errorf("listed %q", got)
	}
}

// No error of the afero.Fs brings a path of the host along, in whatever form
// it comes.
func TestNoHostPath(t *testing.T) {
	const place = "/very/secret/host"
	for name, cause := range map[string]error{
		"PathError":       &os.PathError{Op: "open", Path: place, Err: syscall.EACCES},
		"LinkError":       &os.LinkError{Op: "rename", Old: place, New: place + "2", Err: syscall.EXDEV},
		"text":            errors.New("cannot open " + place),
		"wrapped":         fmt.Errorf("at %s: %w", place, syscall.ENOSPC),
		"nested":          &os.PathError{Op: "open", Path: "x", Err: errors.New("at " + place)},
		"of the contract": &os.PathError{Op: "open", Path: "x", Err: &ambit.Error{Reason: ambit.ErrDenied, Target: place, Path: place}},
		"joined":          errors.Join(fs.ErrExist, errors.New(place)),
	} {
		tree := afero.NewMemMapFs()
		fill(t, aferofs.New(tree, nil), changeTree)
		broken := &failing{Fs: tree}
		fsys := aferofs.New(broken, nil)
		for _, at := range []string{"open", "openfile", "stat", "rename", "mkdir", "remove", "write", "read", "readdir"} {
			broken.before = func(op, _ string) error {
				if op == at {
					return cause
				}
				return nil
			}
			check := func(err error) {
				t.Helper()
				if err == nil {
					return
				}
				asJSON, _ := json.Marshal(err)
				if all := fmt.Sprintf("%v %+v %#v %s", err, err, err, asJSON); strings.Contains(all, "secret") {
					t.Errorf("%s at %s: %s", name, at, all)
				}
				for inner := err; inner != nil; inner = errors.Unwrap(inner) {
					if strings.Contains(inner.Error(), "secret") {
						t.Errorf("%s at %s: in the chain %v", name, at, inner)
					}
				}
			}
			for _, c := range changes {
				check(c.do(t.Context(), fsys))
			}
			_, _, err := ambit.ReadFile(t.Context(), fsys, "/a")
			check(err)
			_, err = fsys.List(t.Context(), "/", nil)
			check(err)
		}
	}
}
