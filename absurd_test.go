// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

// An absurdRow says how an exported function or method is called with arguments that make no sense. At least one field is
// set; none of the calls may panic.
type absurdRow struct {
	// path is called with a path that is none, and with contexts that are done. It must be refused.
	path func(ctx context.Context, fsys ambit.FileSystem, path string) error
	// content is called with readers that cannot be read. It must be refused.
	content func(ctx context.Context, fsys ambit.FileSystem, r io.Reader) error
	// options is called with options that cannot be kept. Each error must be ErrInvalid.
	options func(ctx context.Context, fsys ambit.FileSystem) []error
	// pure is called with whatever is absurd there, and has only to return.
	pure func() []any
}

var absurdPaths = map[string]ambit.Reason{
	"":                                   ambit.ErrInvalidPath,
	"\x00":                               ambit.ErrInvalidPath,
	"file\x00":                           ambit.ErrInvalidPath,
	strings.Repeat("x", 256):             ambit.ErrInvalidPath,
	strings.Repeat("x/", 2048):           ambit.ErrInvalidPath,
	strings.Repeat("x", 1<<20):           ambit.ErrInvalidPath,
	strings.Repeat("../", 1<<16):         ambit.ErrInvalidPath,
	"..":                                 ambit.ErrOutside,
	"/../file":                           ambit.ErrOutside,
	"folder/../../file":                  ambit.ErrOutside,
	strings.Repeat("../", 1000) + "file": ambit.ErrOutside,
}

// wide options are as far from the zero value as they go.
var (
	wideWrite  = &ambit.WriteOptions{If: ambit.IfVersion(ambit.Version(strings.Repeat("v", 1<<16))), Parents: true, Mode: math.MaxUint32}
	wideAppend = &ambit.AppendOptions{If: wideWrite.If, Parents: true, Mode: math.MaxUint32}
	wideRemove = &ambit.RemoveOptions{If: ambit.IfAbsent(), Recursive: true, MissingOK: true}
	wideRename = &ambit.RenameOptions{If: ambit.IfAbsent(), Replace: true, Parents: true}
	wideList   = &ambit.ListOptions{Limit: math.MinInt, After: "\x00/" + strings.Repeat("x", 1<<16)}
)

// badChange is a change that is wrong in every field.
func badChange(path string) []ambit.Change {
	return []ambit.Change{{Op: "\n", Path: path, If: wideWrite.If, Mode: math.MaxUint32}}
}

// forwarding calls a method of Forward by its row in methods, with nil options.
func forwarding(name string) func(ctx context.Context, fsys ambit.FileSystem, path string) error {
	m := methods[slices.IndexFunc(methods, func(m method) bool { return m.name == name })]
	return func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := m.call(ctx, ambit.Forward{Base: fsys, Keep: fsys.Capabilities()}, path)
		return err
	}
}

func forwardOf(fsys ambit.FileSystem) ambit.Forward {
	return ambit.Forward{Base: fsys, Keep: fsys.Capabilities()}
}

// absurdRows has a row for every exported function and method of the package.
var absurdRows = map[string]absurdRow{
	"Append": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			_, err := ambit.Append(ctx, fsys, path, strings.NewReader("x"), nil)
			return err
		},
		content: func(ctx context.Context, fsys ambit.FileSystem, r io.Reader) error {
			_, err := ambit.Append(ctx, fsys, "file", r, nil)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.Append(ctx, fsys, "file", strings.NewReader("x"), wideAppend)
			return []error{err}
		},
	},
	"Chdir": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.Chdir(ctx, fsys, path)
		return err
	}},
	"CheckChanges": {options: func(ctx context.Context, fsys ambit.FileSystem) []error {
		return []error{ambit.CheckChanges(badChange(""), fsys.Capabilities())}
	}},
	"Commit": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			_, err := ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x")}})
			return err
		},
		content: func(ctx context.Context, fsys ambit.FileSystem, r io.Reader) error {
			_, err := ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: "file", Content: r}})
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.Commit(ctx, fsys, badChange("file"))
			if _, none := ambit.Commit(ctx, fsys, nil); none != nil {
				err = none
			}
			return []error{err}
		},
	},
	"Copy": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			if _, err := ambit.Copy(ctx, fsys, "new", fsys, path, nil); err == nil {
				return nil
			}
			_, err := ambit.Copy(ctx, fsys, path, fsys, "file", nil)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.Copy(ctx, fsys, "new", fsys, "file", wideWrite)
			return []error{err}
		},
	},
	"Mkdir": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.Mkdir(ctx, fsys, path, &ambit.MkdirOptions{Parents: true})
		return err
	}},
	"ReadFile": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, _, err := ambit.ReadFile(ctx, fsys, path)
		return err
	}},
	"ReadFileMax": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			_, _, err := ambit.ReadFileMax(ctx, fsys, path, -1)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			var errs []error
			for _, n := range []int64{-1, math.MinInt64} {
				_, _, err := ambit.ReadFileMax(ctx, fsys, "file", n)
				errs = append(errs, err)
			}
			if data, _, err := ambit.ReadFileMax(ctx, fsys, "file", math.MaxInt64); err != nil || string(data) != "old" {
				errs = append(errs, errors.New("a limit that is none"))
			}
			return errs
		},
	},
	"Remove": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			return ambit.Remove(ctx, fsys, path, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			return []error{ambit.Remove(ctx, fsys, "folder", wideRemove), ambit.Remove(ctx, fsys, "/", &ambit.RemoveOptions{Recursive: true})}
		},
	},
	"Rename": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			if _, err := ambit.Rename(ctx, fsys, "file", path, nil); err == nil {
				return nil
			}
			_, err := ambit.Rename(ctx, fsys, path, "new", nil)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.Rename(ctx, fsys, "file", "new", wideRename)
			return []error{err}
		},
	},
	"Stage": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			_, err := ambit.Stage(ctx, fsys, path, strings.NewReader("x"), nil)
			return err
		},
		content: func(ctx context.Context, fsys ambit.FileSystem, r io.Reader) error {
			_, err := ambit.Stage(ctx, fsys, "file", r, nil)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.Stage(ctx, fsys, "file", strings.NewReader("x"), wideWrite)
			return []error{err}
		},
	},
	"Sub": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.Sub(ctx, fsys, path)
		return err
	}},
	"Walk": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		for _, err := range ambit.Walk(ctx, fsys, path) {
			return err
		}
		return nil
	}},
	"WriteFile": {
		path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
			_, err := ambit.WriteFile(ctx, fsys, path, nil, nil)
			return err
		},
		options: func(ctx context.Context, fsys ambit.FileSystem) []error {
			_, err := ambit.WriteFile(ctx, fsys, "file", nil, wideWrite)
			return []error{err}
		},
	},
	"IOFS": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.IOFS(ctx, fsys).Open(path)
		return err
	}},
	"FromIOFS": {path: func(ctx context.Context, _ ambit.FileSystem, path string) error {
		_, err := ambit.FromIOFS(fstest.MapFS{"file": {}}).Open(ctx, path)
		return err
	}},
	"MapPaths": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.MapPaths(fsys, ambit.PathMap{
			In:  func(path string) (string, error) { return path, nil },
			Out: func(string) (string, bool) { return "", false },
		}).Open(ctx, path)
		return err
	}},
	"ReadOnly": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := ambit.ReadOnly(fsys).Open(ctx, path)
		return err
	}},
	"Resolve": {path: func(ctx context.Context, _ ambit.FileSystem, path string) error {
		_, _, err := ambit.Resolve("/", path)
		return err
	}},
	"Content": {content: func(ctx context.Context, _ ambit.FileSystem, r io.Reader) error {
		_, err := io.ReadAll(ambit.Content(ctx, r, math.MinInt64))
		return err
	}},
	"CheckContent": {content: func(_ context.Context, _ ambit.FileSystem, r io.Reader) error {
		if err := ambit.CheckContent(r); err != nil {
			return err
		}
		_, err := io.ReadAll(ambit.Content(context.Background(), r, 0)) // only reading finds the others out
		return err
	}},
	"Writable": {pure: func() []any { w, err := ambit.Writable(nil); return []any{w, err} }},
	"Wrap": {pure: func() []any {
		return []any{ambit.Wrap("", "", nil), ambit.Wrap("", "\x00", ambit.Reason(""))}
	}},
	"ReasonOf": {pure: func() []any { return []any{ambit.ReasonOf(nil), ambit.ReasonOf((*ambit.Error)(nil))} }},
	"Refused": {pure: func() []any {
		return []any{ambit.Refused("", "\x00", nil), ambit.Refused("", "\x00", (*ambit.Error)(nil)).Error(), ambit.Refused("", "", ambit.Reason("")).Error()}
	}},
	"Unsupported": {pure: func() []any { return []any{ambit.Unsupported("", "\x00").Error()} }},
	"Page": {pure: func() (pages []any) {
		for _, o := range []*ambit.ListOptions{nil, {}, wideList, {Limit: math.MaxInt}, {Limit: -1}} {
			pages = append(pages, ambit.Page("", nil, o), ambit.Page("\x00", []ambit.Entry{{}, {}, {Name: "/"}}, o))
		}
		return pages
	}},
	"Contains": {pure: func() (all []any) {
		for _, p := range []string{"", "/", "x", "//", "\x00"} {
			all = append(all, ambit.Contains(p, p), ambit.Contains("", p), ambit.Contains(p, ""))
		}
		return all
	}},
	"Join": {pure: func() []any { return []any{ambit.Join("", ""), ambit.Join("\x00", "/")} }},
	"Dir":  {pure: func() []any { return []any{ambit.Dir(""), ambit.Dir("x"), ambit.Dir("//")} }},
	"Base": {pure: func() []any { return []any{ambit.Base(""), ambit.Base("x"), ambit.Base("//")} }},
	"KindOf": {pure: func() (all []any) {
		for i := range 32 {
			all = append(all, ambit.KindOf(1<<i).String())
		}
		return append(all, ambit.KindOf(math.MaxUint32))
	}},
	"IfAbsent":  {pure: func() []any { return []any{ambit.IfAbsent()} }},
	"IfVersion": {pure: func() []any { return []any{ambit.IfVersion(ambit.Version(strings.Repeat("\x00", 1<<20)))} }},

	"ListOptions.Check": {options: func(context.Context, ambit.FileSystem) []error { return []error{wideList.Check()} }},
	"WriteOptions.Check": {options: func(context.Context, ambit.FileSystem) []error {
		return []error{wideWrite.Check(ambit.Capabilities{}), wideWrite.Check(full())}
	}},
	"AppendOptions.Check": {options: func(context.Context, ambit.FileSystem) []error {
		return []error{wideAppend.Check(ambit.Capabilities{}), wideAppend.Check(full())}
	}},
	"RemoveOptions.Check": {options: func(context.Context, ambit.FileSystem) []error {
		return []error{wideRemove.Check(ambit.Capabilities{}), wideRemove.Check(full())}
	}},
	"RenameOptions.Check": {options: func(context.Context, ambit.FileSystem) []error {
		return []error{wideRename.Check(ambit.Capabilities{}), wideRename.Check(full())}
	}},
	"Precondition.Check": {options: func(context.Context, ambit.FileSystem) []error {
		return []error{wideWrite.If.Check(nil), wideWrite.If.Check(&ambit.FileInfo{Version: "v"})}
	}},
	"Precondition.IsZero":  {pure: func() []any { return []any{wideWrite.If.IsZero()} }},
	"Precondition.Absent":  {pure: func() []any { return []any{wideWrite.If.Absent()} }},
	"Precondition.Version": {pure: func() []any { v, ok := wideWrite.If.Version(); return []any{v, ok} }},
	"Version.Valid": {pure: func() []any {
		return []any{ambit.Version("").Valid(), ambit.Version(strings.Repeat("v", 1<<20)).Valid()}
	}},
	"Capabilities.Intersect": {pure: func() []any {
		return []any{ambit.Capabilities{}.Intersect(ambit.Capabilities{MaxFileSize: math.MinInt64, Links: 255, Swap: 255})}
	}},
	"Capabilities.Refusal": {path: func(_ context.Context, _ ambit.FileSystem, path string) error {
		for _, op := range []string{"", "\x00", ambit.OpOpen, ambit.OpStat} {
			if err := (ambit.Capabilities{}).Refusal(op, path); err != nil {
				return err // nothing is known of it, so nothing is refused
			}
		}
		return (ambit.Capabilities{}).Refusal(ambit.OpWrite, path)
	}},
	"Capabilities.ReadOnly": {pure: func() []any { return []any{ambit.Capabilities{}.ReadOnly()} }},
	"LinkRule.String":       {pure: func() []any { return []any{ambit.LinkRule(255).String()} }},
	"SwapLevel.String":      {pure: func() []any { return []any{ambit.SwapLevel(255).String()} }},
	"Kind.String":           {pure: func() []any { return []any{ambit.Kind(255).String()} }},
	"Kind.Mode":             {pure: func() []any { return []any{ambit.Kind(255).Mode()} }},
	"LinkRule.MarshalJSON":  {pure: func() []any { data, err := ambit.LinkRule(255).MarshalJSON(); return []any{data, err} }},
	"LinkRule.UnmarshalJSON": {pure: func() []any {
		return []any{new(ambit.LinkRule).UnmarshalJSON(nil), new(ambit.LinkRule).UnmarshalJSON([]byte("\x00"))}
	}},
	"SwapLevel.MarshalJSON": {pure: func() []any { data, err := ambit.SwapLevel(255).MarshalJSON(); return []any{data, err} }},
	"SwapLevel.UnmarshalJSON": {pure: func() []any {
		return []any{new(ambit.SwapLevel).UnmarshalJSON(nil), new(ambit.SwapLevel).UnmarshalJSON([]byte("\x00"))}
	}},
	"Kind.MarshalJSON": {pure: func() []any { data, err := ambit.Kind(255).MarshalJSON(); return []any{data, err} }},
	"Kind.UnmarshalJSON": {pure: func() []any {
		return []any{new(ambit.Kind).UnmarshalJSON(nil), new(ambit.Kind).UnmarshalJSON([]byte("\x00"))}
	}},
	"FileInfo.IsDir": {pure: func() []any { return []any{ambit.FileInfo{Kind: 255}.IsDir()} }},
	"FileInfo.FS": {pure: func() (all []any) {
		for _, path := range []string{"", "/", "x", "\x00"} {
			std := ambit.FileInfo{Path: path, Kind: 255, Size: math.MinInt64, Mode: math.MaxUint32}.FS()
			all = append(all, fs.FormatFileInfo(std), std.Sys())
		}
		return all
	}},
	"Reason.Error":      {pure: func() []any { return []any{ambit.Reason("").Error()} }},
	"Reason.Is":         {pure: func() []any { return []any{ambit.Reason("").Is(nil)} }},
	"Reason.HTTPStatus": {pure: func() []any { return []any{ambit.Reason("\x00").HTTPStatus()} }},
	"Error.Error":       {pure: func() []any { return []any{(*ambit.Error)(nil).Error(), (&ambit.Error{}).Error()} }},
	"Error.Unwrap":      {pure: func() []any { return []any{(*ambit.Error)(nil).Unwrap()} }},
	"Error.Is":          {pure: func() []any { return []any{(*ambit.Error)(nil).Is(nil), (&ambit.Error{}).Is(nil)} }},
	"Error.LogValue":    {pure: func() []any { return []any{(*ambit.Error)(nil).LogValue(), (&ambit.Error{}).LogValue()} }},
	"Error.MarshalJSON": {pure: func() []any { data, err := (*ambit.Error)(nil).MarshalJSON(); return []any{data, err} }},
	"Error.UnmarshalJSON": {pure: func() []any {
		return []any{new(ambit.Error).UnmarshalJSON(nil), new(ambit.Error).UnmarshalJSON([]byte("\x00"))}
	}},

	"Forward.Capabilities": {pure: func() []any { return []any{ambit.Forward{Base: &spy{}}.Capabilities()} }},
	"Forward.Open":         {path: forwarding("Open")},
	"Forward.Stat":         {path: forwarding("Stat")},
	"Forward.List": {path: forwarding("List"), options: func(ctx context.Context, fsys ambit.FileSystem) []error {
		_, err := forwardOf(fsys).List(ctx, "folder", wideList)
		return []error{err}
	}},
	"Forward.Write": {path: forwarding("Write"), content: func(ctx context.Context, fsys ambit.FileSystem, r io.Reader) error {
		_, err := forwardOf(fsys).Write(ctx, "file", r, nil)
		return err
	}},
	"Forward.Remove":   {path: forwarding("Remove")},
	"Forward.Append":   {path: forwarding("Append")},
	"Forward.Rename":   {path: forwarding("Rename")},
	"Forward.Mkdir":    {path: forwarding("Mkdir")},
	"Forward.Stage":    {path: forwarding("Stage")},
	"Forward.Commit":   {path: forwarding("Commit")},
	"Forward.Lstat":    {path: forwarding("Lstat")},
	"Forward.ReadLink": {path: forwarding("ReadLink")},
	"Forward.Glob":     {path: forwarding("Glob")},
	"Forward.Grep":     {path: forwarding("Grep")},
	"Forward.Sub":      {path: forwarding("Sub")},
	"Forward.Guard": {path: func(ctx context.Context, fsys ambit.FileSystem, path string) error {
		_, err := forwardOf(fsys).Guard(nil).Open(ctx, path)
		return err
	}},
}

// TestAbsurdArguments: a reason and no panic, and nothing is changed.
func TestAbsurdArguments(t *testing.T) {
	var nilBuffer *bytes.Buffer
	var nilFunc readerFunc
	readers := map[string]io.Reader{
		"nil": nil, "a nil pointer": nilBuffer, "a nil function": nilFunc,
		"a negative count":  readerFunc(func([]byte) (int, error) { return math.MinInt, nil }),
		"more than asked":   readerFunc(func([]byte) (int, error) { return math.MaxInt, nil }),
		"nothing, for ever": readerFunc(func([]byte) (int, error) { return 0, nil }),
	}
	live := t.Context()
	done, cancel := context.WithCancel(live)
	cancel()
	late, cancel := context.WithDeadline(live, time.Unix(0, 0))
	defer cancel()
	refusals := []ambit.Reason{ambit.ErrReadOnly, ambit.ErrUnsupported}

	for name, row := range absurdRows {
		d, _ := newCells(nil)
		before := d.dump()
		linkless, _ := newCells(variants["links refused"])
		systems := map[string]ambit.FileSystem{
			"a double": d, "a read-only one": ambit.ReadOnly(d), "without links": linkless, "with all interfaces": withFallbacks(d),
		}
		for which, fsys := range systems {
			if row.path != nil {
				for path, want := range absurdPaths {
					for _, ctx := range []context.Context{live, done, late} {
						err := row.path(ctx, fsys, path)
						reason := ambit.ReasonOf(err)
						fine := reason == want || slices.Contains(refusals, reason) ||
							ctx == done && reason == ambit.ErrCanceled || ctx == late && reason == ambit.ErrTimeout ||
							name == "IOFS" && reason == ambit.ErrInvalidPath // such a path is no name of package io/fs
						if !fine {
							t.Errorf("%s of %s, path %.20q: %v, want %q", name, which, path, err, want)
						}
						var e *ambit.Error
						if !errors.As(err, &e) {
							t.Errorf("%s of %s, path %.20q: %#v", name, which, path, err)
						}
					}
				}
			}
			if row.content != nil {
				for what, r := range readers {
					err := row.content(live, fsys, r)
					reason := ambit.ReasonOf(err)
					want := ambit.ErrInvalid
					if what == "nothing, for ever" {
						want = ambit.ErrIO
					}
					if reason != want && !slices.Contains(refusals, reason) {
						t.Errorf("%s of %s, %s: %v", name, which, what, err)
					}
				}
			}
			if row.options != nil {
				for i, err := range row.options(live, fsys) {
					if reason := ambit.ReasonOf(err); reason != ambit.ErrInvalid && !slices.Contains(refusals, reason) {
						t.Errorf("%s of %s, options %d: %v", name, which, i, err)
					}
				}
			}
		}
		if row.pure != nil {
			if got := row.pure(); len(got) == 0 {
				t.Errorf("%s: nothing was called", name)
			}
		}
		if row.path == nil && row.content == nil && row.options == nil && row.pure == nil {
			t.Errorf("%s: an empty row", name)
		}
		if diff := cmp.Diff(before, d.dump()); diff != "" {
			t.Fatalf("%s changed something (-want +got):\n%s", name, diff)
		}
	}
}

// TestAbsurdRowsAreWhole finds the exported function or method that has no row.
func TestAbsurdRowsAreWhole(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := maps.Clone(absurdRows)
	found := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			key := f.Name.Name
			if f.Recv != nil {
				receiver := f.Recv.List[0].Type
				if p, ok := receiver.(*ast.StarExpr); ok {
					receiver = p.X
				}
				if receiver := receiver.(*ast.Ident); !receiver.IsExported() {
					continue
				} else {
					key = receiver.Name + "." + key
				}
			}
			found++
			if _, ok := rows[key]; !ok {
				t.Errorf("%s: %s has no row", name, key)
			}
			delete(rows, key)
		}
	}
	for key := range rows {
		t.Errorf("the row %s is of nothing", key)
	}
	if found < 60 {
		t.Errorf("only %d functions found", found)
	}
}
