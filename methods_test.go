// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// method is one method of the contract, called with a path that stands in all its places.
type method struct {
	name   string
	op     string
	bit    string // of Capabilities; "" for what every file system has
	change bool
	call   func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error)
	// conditional is call with a precondition, nil where there is none.
	conditional func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error
}

// methods is every method of the contract but Capabilities and Guard.
var methods = []method{
	{name: "Open", op: ambit.OpOpen, call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.Open(ctx, path)
	}},
	{name: "Stat", op: ambit.OpStat, call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.Stat(ctx, path)
	}},
	{name: "List", op: ambit.OpList, bit: "List", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.List(ctx, path, nil)
	}},
	{
		name: "Write", op: ambit.OpWrite, bit: "Write", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return fsys.(ambit.WritableFileSystem).Write(ctx, path, strings.NewReader("x"), nil)
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			_, err := fsys.(ambit.WritableFileSystem).Write(ctx, path, strings.NewReader("x"), &ambit.WriteOptions{If: p})
			return err
		},
	},
	{
		name: "Remove", op: ambit.OpRemove, bit: "Remove", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return nil, fsys.(ambit.WritableFileSystem).Remove(ctx, path, nil)
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			return fsys.(ambit.WritableFileSystem).Remove(ctx, path, &ambit.RemoveOptions{If: p})
		},
	},
	{
		name: "Append", op: ambit.OpAppend, bit: "Append", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return fsys.(ambit.Appender).Append(ctx, path, strings.NewReader("x"), nil)
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			_, err := fsys.(ambit.Appender).Append(ctx, path, strings.NewReader("x"), &ambit.AppendOptions{If: p})
			return err
		},
	},
	{
		name: "Rename", op: ambit.OpRename, bit: "Rename", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return fsys.(ambit.Renamer).Rename(ctx, path, path, nil)
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			_, err := fsys.(ambit.Renamer).Rename(ctx, path, path, &ambit.RenameOptions{If: p})
			return err
		},
	},
	{name: "Mkdir", op: ambit.OpMkdir, bit: "Mkdir", change: true, call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.(ambit.DirMaker).Mkdir(ctx, path, nil)
	}},
	{
		name: "Stage", op: ambit.OpStage, bit: "Stage", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return fsys.(ambit.Stager).Stage(ctx, path, strings.NewReader("x"), nil)
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			_, err := fsys.(ambit.Stager).Stage(ctx, path, strings.NewReader("x"), &ambit.WriteOptions{If: p})
			return err
		},
	},
	{
		name: "Commit", op: ambit.OpCommit, bit: "Commit", change: true,
		call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
			return fsys.(ambit.Committer).Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x")}})
		},
		conditional: func(ctx context.Context, fsys ambit.FileSystem, path string, p ambit.Precondition) error {
			_, err := fsys.(ambit.Committer).Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x"), If: p}})
			return err
		},
	},
	{name: "Lstat", op: ambit.OpLstat, bit: "ReadLink", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.(ambit.Linker).Lstat(ctx, path)
	}},
	{name: "ReadLink", op: ambit.OpReadLink, bit: "ReadLink", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.(ambit.Linker).ReadLink(ctx, path)
	}},
	{name: "Glob", op: ambit.OpGlob, bit: "Search", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		var found globbed
		sum, err := fsys.(ambit.Searcher).Glob(ctx, ambit.GlobQuery{Base: path}, func(m ambit.GlobMatch) bool {
			found.Matches = append(found.Matches, m)
			return true
		})
		found.Summary = sum
		return found, err
	}},
	{name: "Grep", op: ambit.OpGrep, bit: "Search", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		var found grepped
		sum, err := fsys.(ambit.Searcher).Grep(ctx, ambit.GrepQuery{Base: path}, func(m ambit.GrepMatch) bool {
			found.Matches = append(found.Matches, m)
			return true
		})
		found.Summary = sum
		return found, err
	}},
	{name: "Sub", op: ambit.OpSub, bit: "Sub", call: func(ctx context.Context, fsys ambit.FileSystem, path string) (any, error) {
		return fsys.(ambit.Subber).Sub(ctx, path)
	}},
}

type globbed struct {
	Matches []ambit.GlobMatch
	Summary ambit.SearchSummary
}

type grepped struct {
	Matches []ambit.GrepMatch
	Summary ambit.SearchSummary
}

// TestMethodsAreWhole finds the method of the contract that was added and not told to the table, on which the tests of the
// wrappers stand.
func TestMethodsAreWhole(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fs.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if iface, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range iface.Methods.List {
				for _, name := range m.Names {
					found++
					if name.Name != "Capabilities" && name.Name != "Guard" &&
						!slices.ContainsFunc(methods, func(m method) bool { return m.name == name.Name }) {
						t.Errorf("%s.%s has no row", spec.Name, name.Name)
					}
				}
			}
		}
		return true
	})
	if found != len(methods)+2 {
		t.Errorf("%d methods, %d rows", found, len(methods))
	}
	for _, m := range methods {
		if m.bit != "" && !slices.Contains(bits, m.bit) {
			t.Errorf("%s: no such bit", m.name)
		}
		if m.change && !slices.Contains(changeBits, m.bit) {
			t.Errorf("%s is a change and %s no bit of change", m.name, m.bit)
		}
	}
}

// spy has every interface of the contract. It does nothing but note each call, and answers with results that have something
// in every field.
type spy struct {
	caps  ambit.Capabilities
	err   error    // of every call
	calls []string // method and paths
}

func (s *spy) note(format string, args ...any) error {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
	return s.err
}

func (s *spy) Capabilities() ambit.Capabilities { return s.caps }

func (s *spy) Open(_ context.Context, path string) (ambit.File, error) {
	return &spyFile{s: s}, s.note("Open %s", path)
}

func (s *spy) Stat(_ context.Context, path string) (ambit.FileInfo, error) {
	return filled[ambit.FileInfo](), s.note("Stat %s", path)
}

func (s *spy) List(_ context.Context, dir string, _ *ambit.ListOptions) (*ambit.Listing, error) {
	l := filled[ambit.Listing]()
	return &l, s.note("List %s", dir)
}

func (s *spy) Write(_ context.Context, path string, _ io.Reader, _ *ambit.WriteOptions) (ambit.WriteResult, error) {
	return filled[ambit.WriteResult](), s.note("Write %s", path)
}

func (s *spy) Remove(_ context.Context, path string, _ *ambit.RemoveOptions) error {
	return s.note("Remove %s", path)
}

func (s *spy) Append(_ context.Context, path string, _ io.Reader, _ *ambit.AppendOptions) (ambit.WriteResult, error) {
	return filled[ambit.WriteResult](), s.note("Append %s", path)
}

func (s *spy) Rename(_ context.Context, from, to string, _ *ambit.RenameOptions) (ambit.FileInfo, error) {
	return filled[ambit.FileInfo](), s.note("Rename %s %s", from, to)
}

func (s *spy) Mkdir(_ context.Context, dir string, _ *ambit.MkdirOptions) ([]string, error) {
	return []string{inner("Mkdir")}, s.note("Mkdir %s", dir)
}

func (s *spy) Stage(_ context.Context, path string, _ io.Reader, _ *ambit.WriteOptions) (ambit.Staged, error) {
	return &spyStaged{s}, s.note("Stage %s", path)
}

func (s *spy) Commit(_ context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return []ambit.WriteResult{filled[ambit.WriteResult]()}, s.note("Commit %s", strings.Join(paths, " "))
}

func (s *spy) Lstat(_ context.Context, path string) (ambit.FileInfo, error) {
	return filled[ambit.FileInfo](), s.note("Lstat %s", path)
}

func (s *spy) ReadLink(_ context.Context, path string) (string, error) {
	return inner("ReadLink"), s.note("ReadLink %s", path)
}

func (s *spy) Glob(_ context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	if q.Keep != nil {
		s.note("kept: %t", q.Keep(inner("Keep"), ambit.KindRegular))
	}
	err := s.note("Glob %s", q.Base)
	if err == nil && !yield(filled[ambit.GlobMatch]()) {
		s.note("stopped")
	}
	return filled[ambit.SearchSummary](), err
}

func (s *spy) Grep(_ context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	if q.Keep != nil {
		s.note("kept: %t", q.Keep(inner("Keep"), ambit.KindRegular))
	}
	err := s.note("Grep %s", q.Base)
	if err == nil && !yield(filled[ambit.GrepMatch]()) {
		s.note("stopped")
	}
	return filled[ambit.SearchSummary](), err
}

func (s *spy) Sub(_ context.Context, dir string) (ambit.FileSystem, error) {
	return &spy{caps: s.caps}, s.note("Sub %s", dir)
}

func (s *spy) Guard(ask func(context.Context, ambit.Op, string) error) ambit.FileSystem {
	return &spy{caps: s.caps, err: ask(context.Background(), ambit.OpStat, inner("Guard"))}
}

type spyFile struct{ s *spy }

func (f *spyFile) Read([]byte) (int, error)          { return 0, f.s.note("Read") }
func (f *spyFile) ReadAt([]byte, int64) (int, error) { return 0, f.s.note("ReadAt") }
func (f *spyFile) Close() error                      { return f.s.note("Close") }
func (f *spyFile) Verify(context.Context) error      { return f.s.note("Verify") }
func (f *spyFile) Info() ambit.FileInfo              { return filled[ambit.FileInfo]() }

type spyStaged struct{ s *spy }

func (s *spyStaged) Info() ambit.FileInfo          { return filled[ambit.FileInfo]() }
func (s *spyStaged) Discard(context.Context) error { return s.s.note("Discard") }

func (s *spyStaged) Publish(context.Context) (ambit.WriteResult, error) {
	return filled[ambit.WriteResult](), s.s.note("Publish")
}

// inner is a path that a spy tells.
func inner(name string) string { return "/in/" + name }

// filled returns a T with something in every field: a string is a path named for it.
func filled[T any]() T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), reflect.TypeFor[T]().Name())
	return v
}

func fill(v reflect.Value, name string) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
		return
	case reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(errors.New("cause")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(inner(name))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
		}
	default:
		panic("fill does not know " + v.Type().String())
	}
}
