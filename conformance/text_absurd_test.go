// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"math"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// An absurdText is how an exported function of the packages for text is called
// with what makes no sense; it reports the errors of all calls.
type absurdText struct {
	readers func(r io.Reader) []error                                // a reader or writer that breaks the rules
	files   func(f ambit.File) []error                               // a file that does
	systems func(ctx context.Context, fsys ambit.FileSystem) []error // a file system that does
	pure    func() []error
}

// absurdWriter breaks the rules of io.Writer as a reader breaks those of io.Reader.
type absurdWriter struct{ r io.Reader }

func (w absurdWriter) Write(p []byte) (int, error) { return w.r.Read(p) }

var absurdLines = []lineaddr.Range{{}, {Start: 1}, {Start: 2, End: math.MaxInt}, {Start: math.MaxInt}, {Start: -1, End: 1}, {Start: 3, End: 2}, {Start: math.MinInt, End: math.MinInt}}

var absurdCounts = []int{0, 1, -1, math.MinInt, math.MaxInt}

// absurdOps are lists of ops.
func absurdOps() [][]edit.Op {
	lists := [][]edit.Op{
		nil,
		{},
		{nil},
		{(*edit.Replace)(nil)},
		{edit.Replace{}},
		{edit.Rewrite{}},
		{edit.Insert{}},
		{edit.Replace{Old: "one", New: "x"}},
		{edit.Replace{Old: "\xff", New: strings.Repeat("\x00", 1<<16), All: true, Occurrence: math.MaxInt}},
		{edit.Replace{Old: "one", New: "x", Occurrence: math.MinInt}},
		{edit.Replace{Old: strings.Repeat("no such line\n", 1<<12), New: "x"}},
		{edit.Insert{After: 0, Text: "x"}, edit.Insert{After: 0, Text: "y"}},
	}
	for _, rng := range absurdLines {
		lists = append(lists, []edit.Op{edit.Rewrite{Range: rng, Text: "x"}})
	}
	for _, n := range absurdCounts {
		lists = append(lists, []edit.Op{edit.Insert{After: n, Text: "x"}})
	}
	return lists
}

func absurdEditOptions() []*edit.Options {
	return []*edit.Options{
		nil,
		{},
		{Match: 255},
		{Encoding: charset.UTF16},
		{If: ambit.IfAbsent()},
		{If: ambit.IfVersion("")},
		{If: ambit.IfVersion("v"), DryRun: true},
		{MaxBytes: -1},
		{MaxBytes: math.MinInt64},
		{MaxBytes: math.MaxInt64},
		{DryRun: true},
	}
}

// absurdPatches are patches that Parse would not return.
func absurdPatches() []*patch.Patch {
	one := func(s patch.Section) *patch.Patch { return &patch.Patch{Sections: []patch.Section{s}} }
	added := []patch.Hunk{{Lines: []patch.Line{{Kind: patch.Added, Text: "x\n"}}}}
	update := []patch.Hunk{{Lines: []patch.Line{{Kind: patch.Removed, Text: "one\n"}, {Kind: patch.Added, Text: "x\n"}}}}
	all := []*patch.Patch{
		nil,
		{},
		one(patch.Section{}), one(patch.Section{Action: "\x00", Path: "f"}), one(patch.Section{Action: patch.Update, Path: ""}),
		one(patch.Section{Action: patch.Add, Path: "f", Hunks: added}), one(patch.Section{Action: patch.Add, Path: "new", Hunks: added, Mode: math.MaxUint32}),
		one(patch.Section{Action: patch.Add, Path: "new", To: "elsewhere", Hunks: update}), one(patch.Section{Action: patch.Delete, Path: "f", To: "f"}),
		one(patch.Section{Action: patch.Delete, Path: "f"}), one(patch.Section{Action: patch.Delete, Path: "f", Hunks: added}),
		one(patch.Section{Action: patch.Update, Path: "f", Hunks: update}), one(patch.Section{Action: patch.Update, Path: "f", To: "moved", Hunks: update}),
		one(patch.Section{Action: patch.Update, Path: "f", To: "f"}), one(patch.Section{Action: patch.Update, Path: "f"}), one(patch.Section{Action: patch.Copy, Path: "f"}),
		one(patch.Section{Action: patch.Copy, Path: "f", To: "copy"}),
		{Sections: []patch.Section{
			{Action: patch.Add, Path: "new", Hunks: added}, {Action: patch.Update, Path: "f", Hunks: update}, {Action: patch.Delete, Path: "g"},
		}},
	}
	for _, h := range []patch.Hunk{
		{},
		{Lines: []patch.Line{{}}},
		{Lines: []patch.Line{{Kind: 255, Text: "one\n"}}},
		{Start: math.MinInt, Numbered: true, Lines: update[0].Lines},
		{Start: math.MaxInt, Numbered: true, Lines: update[0].Lines},
		{Start: math.MaxInt, Numbered: true, Lines: added[0].Lines},
		{Line: math.MinInt, Anchors: []string{"", "\n", strings.Repeat("a", 1<<16)}, Lines: added[0].Lines},
		{EndOfFile: true, Lines: added[0].Lines},
		{Lines: []patch.Line{{Kind: patch.Added, Text: ""}}},
		{Lines: []patch.Line{{Kind: patch.Added, Text: "a\nb\nc"}}},
		{Lines: []patch.Line{{Kind: patch.Context, Text: "one"}, {Kind: patch.Context, Text: "two"}, {Kind: patch.Added, Text: "x"}}},
	} {
		all = append(all, one(patch.Section{Action: patch.Update, Path: "f", Hunks: []patch.Hunk{h}}), one(patch.Section{Action: patch.Update, Path: "f", Hunks: []patch.Hunk{h, h}}),
			one(patch.Section{Action: patch.Delete, Path: "f", Hunks: []patch.Hunk{h}}), one(patch.Section{Action: patch.Add, Path: "new", Hunks: []patch.Hunk{h}}))
	}
	return all
}

// absurdTexts has a row for every exported function and method of the packages.
var absurdTexts = map[string]absurdText{
	"lineaddr.Count": {readers: func(r io.Reader) []error { _, err := lineaddr.Count(r); return []error{err} }},
	"lineaddr.Slice": {readers: func(r io.Reader) (errs []error) {
		for _, rng := range absurdLines {
			_, err := lineaddr.Slice(r, rng)
			errs = append(errs, err)
		}
		return errs
	}},
	"lineaddr.Head": {readers: func(r io.Reader) (errs []error) {
		for _, n := range absurdCounts {
			_, err := lineaddr.Head(r, n)
			errs = append(errs, err)
		}
		return errs
	}},
	"lineaddr.Copy": {readers: func(r io.Reader) (errs []error) {
		for _, rng := range absurdLines {
			_, err := lineaddr.Copy(io.Discard, r, rng)
			_, nilErr := lineaddr.Copy(nil, r, rng)
			errs = append(errs, err, nilErr)
			if !isNil(r) {
				_, err := lineaddr.Copy(absurdWriter{r}, strings.NewReader("one\ntwo\n"), rng)
				errs = append(errs, err)
			}
		}
		return errs
	}},
	"lineaddr.Tail": {files: func(f ambit.File) (errs []error) {
		for _, n := range absurdCounts {
			_, err := lineaddr.Tail(f, n)
			errs = append(errs, err)
		}
		return errs
	}},
	"lineaddr.NewIndex": {files: func(f ambit.File) []error { _, err := lineaddr.NewIndex(f); return []error{err} }},
	"lineaddr.Index.Lines": {files: func(f ambit.File) []error {
		if x, err := lineaddr.NewIndex(f); err == nil {
			x.Lines()
		}
		return nil
	}},
	"lineaddr.Index.Slice": {files: func(f ambit.File) (errs []error) {
		if x, err := lineaddr.NewIndex(f); err == nil {
			for _, rng := range absurdLines {
				_, err := x.Slice(rng)
				errs = append(errs, err)
			}
		}
		return errs
	}},
	"lineaddr.Index.Copy": {files: func(f ambit.File) (errs []error) {
		if x, err := lineaddr.NewIndex(f); err == nil {
			for _, rng := range absurdLines {
				_, err := x.Copy(io.Discard, rng)
				_, nilErr := x.Copy(nil, rng)
				errs = append(errs, err, nilErr)
			}
		}
		return errs
	}},
	"lineaddr.Insert": {pure: func() (errs []error) {
		for _, n := range absurdCounts {
			_, err := lineaddr.Insert(nil, n, nil)
			_, some := lineaddr.Insert([]byte("one\r"), n, []byte("\ufeff"))
			errs = append(errs, err, some)
		}
		return errs
	}},
	"lineaddr.Splice": {pure: func() (errs []error) {
		for _, rng := range absurdLines {
			_, err := lineaddr.Splice(nil, rng, nil)
			_, some := lineaddr.Splice([]byte("one\r"), rng, []byte("\ufeff"))
			errs = append(errs, err, some)
		}
		return errs
	}},
	"lineaddr.ParseRange": {pure: func() (errs []error) {
		for _, s := range []string{"", "-", "--", "0", "1-0", "\x00", "99999999999999999999", "1-99999999999999999999", strings.Repeat("1", 1<<20), "-9223372036854775808"} {
			_, err := lineaddr.ParseRange(s)
			errs = append(errs, err)
		}
		return errs
	}},
	"lineaddr.Range.Check": {pure: func() (errs []error) {
		for _, rng := range absurdLines {
			errs = append(errs, rng.Check())
		}
		return errs
	}},
	"lineaddr.Range.String": {pure: func() []error {
		for _, rng := range absurdLines {
			_ = rng.String()
		}
		return nil
	}},

	"edit.Apply": {pure: func() (errs []error) {
		for _, content := range [][]byte{nil, []byte("one\ntwo\nthree"), []byte("\xff\xfe\x00"), []byte("\xff\xfe"), []byte("\ufeff")} {
			for _, ops := range absurdOps() {
				for _, o := range absurdEditOptions() {
					_, err := edit.Apply(content, ops, o)
					errs = append(errs, err)
				}
			}
		}
		return errs
	}},
	"edit.File": {systems: func(ctx context.Context, fsys ambit.FileSystem) (errs []error) {
		for _, ops := range absurdOps() {
			_, err := edit.File(ctx, fsys, "f", ops, nil)
			errs = append(errs, err)
		}
		for _, o := range absurdEditOptions() {
			_, err := edit.File(ctx, fsys, "f", []edit.Op{edit.Replace{Old: "one", New: "x"}}, o)
			errs = append(errs, err)
		}
		for _, path := range []string{"", "\x00", "..", strings.Repeat("x/", 1<<12)} {
			_, err := edit.File(ctx, fsys, path, []edit.Op{edit.Replace{Old: "one", New: "x"}}, nil)
			errs = append(errs, err)
		}
		return errs
	}},

	"patch.Parse": {pure: func() (errs []error) {
		for _, text := range []string{
			"", "\x00", "*** Begin Patch", "*** End Patch\n*** Begin Patch", strings.Repeat("@", 1<<16), strings.Repeat("@@\n", 1<<14), "*** Begin Patch\n" + strings.Repeat("@@ a\n", 1<<12) + "*** End Patch",
			"--- a\n+++ b\n@@ -1,9223372036854775807 +1,99999999999999999999 @@\n x\n", "--- a\n+++ b\n@@ --1 +-1 @@\n", strings.Repeat("diff --git a/x b/x\n", 1<<12), "```\n", "*** Begin Patch\n*** Update File: \x00\n@@\n-\n*** End Patch",
		} {
			_, err := patch.Parse(text)
			errs = append(errs, err)
		}
		return errs
	}},
	"patch.Apply": {systems: func(ctx context.Context, fsys ambit.FileSystem) (errs []error) {
		for _, p := range absurdPatches() {
			for _, o := range []*patch.Options{nil, {DryRun: true}} {
				report, err := patch.Apply(ctx, fsys, p, o)
				if report == nil {
					err = errors.New("no report")
				}
				errs = append(errs, err)
			}
		}
		for _, o := range []*patch.Options{{MaxBytes: -1}, {MaxBytes: math.MinInt64}, {MaxBytes: math.MaxInt64}, {MaxBytes: 1}} {
			_, err := patch.Apply(ctx, fsys, absurdPatches()[len(absurdPatches())/2], o)
			errs = append(errs, err)
		}
		return errs
	}},
	"patch.Report.MarshalJSON": {pure: func() []error {
		_, err := patch.Report{Files: []patch.File{{}}, Problems: []patch.Problem{{}}}.MarshalJSON()
		return []error{err}
	}},
	"patch.Report.UnmarshalJSON":  {pure: func() []error { return unmarshals(func(b []byte) error { return new(patch.Report).UnmarshalJSON(b) }) }},
	"patch.File.MarshalJSON":      {pure: func() []error { _, err := patch.File{Path: "\xff", Action: "\x00"}.MarshalJSON(); return []error{err} }},
	"patch.File.UnmarshalJSON":    {pure: func() []error { return unmarshals(func(b []byte) error { return new(patch.File).UnmarshalJSON(b) }) }},
	"patch.Problem.MarshalJSON":   {pure: func() []error { _, err := patch.Problem{Path: "\xff"}.MarshalJSON(); return []error{err} }},
	"patch.Problem.UnmarshalJSON": {pure: func() []error { return unmarshals(func(b []byte) error { return new(patch.Problem).UnmarshalJSON(b) }) }},
}

// unmarshals returns no errors, since those of package encoding/json are its own.
func unmarshals(f func([]byte) error) []error {
	for _, data := range [][]byte{nil, []byte("\x00"), []byte("null"), []byte("[]"), []byte(`{"error":7,"files":7,"path":7,"pathBytes":7}`), []byte(`{"error":{},"files":[null],"problems":[null]}`)} {
		_ = f(data)
	}
	return nil
}

// absurdFile is a file whose reads and description break the rules.
type absurdFile struct {
	io.Reader
	info   ambit.FileInfo
	verify error
}

func (f absurdFile) Info() ambit.FileInfo         { return f.info }
func (f absurdFile) Verify(context.Context) error { return f.verify }
func (f absurdFile) Close() error                 { return nil }

// absurdFileAt has a ReadAt that breaks them too.
type absurdFileAt struct{ absurdFile }

func (f absurdFileAt) ReadAt(p []byte, _ int64) (int, error) { return f.Read(p) }

var absurdReaders = map[string]io.Reader{
	"nil": nil, "a nil pointer": (*bytes.Buffer)(nil),
	"a negative count":   readerFunc(func([]byte) (int, error) { return math.MinInt, nil }),
	"more than asked":    readerFunc(func([]byte) (int, error) { return math.MaxInt, nil }),
	"one more":           readerFunc(func(p []byte) (int, error) { return len(p) + 1, io.EOF }),
	"nothing, for ever":  readerFunc(func([]byte) (int, error) { return 0, nil }),
	"a negative failure": readerFunc(func([]byte) (int, error) { return -1, io.EOF }),
}

// absurdFiles are files of each reader under each description.
func absurdFiles() map[string]ambit.File {
	files := map[string]ambit.File{"nil": nil, "a nil pointer": (*absurdFileAt)(nil)}
	for name, r := range absurdReaders {
		if isNil(r) {
			continue
		}
		for size, info := range map[string]ambit.FileInfo{
			" of no size": {}, " of unknown size": {Path: "/f", Kind: ambit.KindRegular, Size: -1, Version: "v"}, " of negative size": {Path: "/f", Kind: ambit.KindRegular, Size: math.MinInt64, Version: "v"},
			" of all size": {Path: "/f", Kind: ambit.KindRegular, Size: math.MaxInt64, Version: "v"}, " of some size": {Path: "/f", Kind: ambit.KindRegular, Size: 9 << 20, Version: "v"}, " of no kind": {Path: "\x00", Kind: 255, Size: 14, Mode: math.MaxUint32},
		} {
			f := absurdFile{r, info, nil}
			files[name+size] = f
			files[name+size+" with ReadAt"] = absurdFileAt{f}
		}
	}
	return files
}

// absurdSystem is a file system in memory of which one method is replaced.
type absurdSystem struct {
	*memory.FileSystem
	open   func() (ambit.File, error)
	stat   func() (ambit.FileInfo, error)
	list   func() (*ambit.Listing, error)
	write  func() (ambit.WriteResult, error)
	commit func(n int) ([]ambit.WriteResult, error)
	stage  func() (ambit.Staged, error)
	caps   func(c ambit.Capabilities) ambit.Capabilities
}

func (s *absurdSystem) Capabilities() ambit.Capabilities {
	if s.caps != nil {
		return s.caps(s.FileSystem.Capabilities())
	}
	return s.FileSystem.Capabilities()
}

func (s *absurdSystem) Open(ctx context.Context, path string) (ambit.File, error) {
	if s.open != nil {
		return s.open()
	}
	return s.FileSystem.Open(ctx, path)
}

func (s *absurdSystem) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if s.stat != nil {
		return s.stat()
	}
	return s.FileSystem.Stat(ctx, path)
}

func (s *absurdSystem) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	return s.Stat(ctx, path)
}

func (s *absurdSystem) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if s.list != nil {
		return s.list()
	}
	return s.FileSystem.List(ctx, dir, o)
}

func (s *absurdSystem) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if s.write != nil {
		return s.write()
	}
	return s.FileSystem.Write(ctx, path, content, o)
}

func (s *absurdSystem) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	if s.stage != nil {
		return s.stage()
	}
	return s.FileSystem.Stage(ctx, path, content, o)
}

func (s *absurdSystem) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	if s.commit != nil {
		return s.commit(len(changes))
	}
	return s.FileSystem.Commit(ctx, changes)
}

// absurdSystems are made anew for each function.
func absurdSystems() map[string]*absurdSystem {
	systems := map[string]*absurdSystem{
		"as it should be":    {},
		"Stat gives nothing": {stat: func() (ambit.FileInfo, error) { return ambit.FileInfo{}, nil }},
		"Stat gives what is none": {stat: func() (ambit.FileInfo, error) {
			return ambit.FileInfo{Path: "\x00", Kind: 255, Size: math.MinInt64}, nil
		}},
		"Stat gives another file": {stat: func() (ambit.FileInfo, error) {
			return ambit.FileInfo{Path: "/g", Kind: ambit.KindRegular, Size: math.MaxInt64, Version: "x"}, nil
		}},
		"Stat gives a link":                 {stat: func() (ambit.FileInfo, error) { return ambit.FileInfo{Path: "/f", Kind: ambit.KindSymlink}, nil }},
		"Stat finds nothing":                {stat: func() (ambit.FileInfo, error) { return ambit.FileInfo{}, ambit.ErrNotFound }},
		"Stat fails by a reason of its own": {stat: func() (ambit.FileInfo, error) { return ambit.FileInfo{}, ambit.Reason("") }},
		"Stat fails by a nil error":         {stat: func() (ambit.FileInfo, error) { return ambit.FileInfo{}, (*ambit.Error)(nil) }},
		"List gives nothing": {list: func() (*ambit.Listing, error) { return nil, nil }, caps: func(c ambit.Capabilities) ambit.Capabilities {
			c.ReadLink, c.Links = false, ambit.LinksFollowed
			return c
		}},
		"Write gives nothing":          {write: func() (ambit.WriteResult, error) { return ambit.WriteResult{}, nil }},
		"Write has changed everything": {write: func() (ambit.WriteResult, error) { return ambit.WriteResult{}, ambit.ErrChanged }},
		"Write is not durable":         {write: func() (ambit.WriteResult, error) { return ambit.WriteResult{}, ambit.ErrNotDurable }},
		"Write and no Commit":          {write: func() (ambit.WriteResult, error) { return ambit.WriteResult{}, nil }, caps: func(c ambit.Capabilities) ambit.Capabilities { c.Commit, c.Stage = false, false; return c }},
		"Commit gives nothing":         {commit: func(int) ([]ambit.WriteResult, error) { return nil, nil }},
		"Commit gives one more":        {commit: func(n int) ([]ambit.WriteResult, error) { return make([]ambit.WriteResult, n+1), nil }},
		"Commit is partial":            {commit: func(n int) ([]ambit.WriteResult, error) { return make([]ambit.WriteResult, n+1), ambit.ErrPartial }},
		"Commit fails without a path": {commit: func(int) ([]ambit.WriteResult, error) {
			return nil, &ambit.Error{Path: "elsewhere", Reason: ambit.ErrChanged}
		}},
		"Commit fails by a nil error":  {commit: func(int) ([]ambit.WriteResult, error) { return nil, (*ambit.Error)(nil) }},
		"Stage gives nothing":          {stage: func() (ambit.Staged, error) { return nil, nil }},
		"a negative MaxFileSize":       {caps: func(c ambit.Capabilities) ambit.Capabilities { c.MaxFileSize = math.MinInt64; return c }},
		"all values of Swap and Links": {caps: func(c ambit.Capabilities) ambit.Capabilities { c.Swap, c.Links = 255, 255; return c }},
		"no capabilities":              {caps: func(ambit.Capabilities) ambit.Capabilities { return ambit.Capabilities{} }},
	}
	for name, f := range absurdFiles() {
		if name == "a nil pointer" {
			continue // such a File is a fault of the backend's own code
		}
		systems["Open gives "+name] = &absurdSystem{open: func() (ambit.File, error) { return f, nil }}
	}
	for _, s := range systems {
		s.FileSystem = memory.New(map[string]string{"f": "one\ntwo\nthree\n", "g": "g\n"}, nil)
	}
	return systems
}

// TestAbsurdText: whatever the functions for text are given, they return, with
// a reason if they fail.
func TestAbsurdText(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	calls := 0
	returns := func(what string, call func() []error) {
		t.Helper()
		calls++
		errs := make(chan []error, 1)
		go func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s: panic: %v\n%s", what, v, debug.Stack())
					errs <- nil
				}
			}()
			errs <- call()
		}()
		timer := time.NewTimer(30 * time.Second)
		defer timer.Stop()
		select {
		case all := <-errs:
			for i, err := range all {
				var e *ambit.Error
				if err != nil && !errors.As(err, &e) {
					t.Errorf("%s, call %d: a %T: %v", what, i, err, err)
				}
			}
		case <-timer.C:
			t.Fatalf("%s: does not return", what)
		}
	}
	for name, row := range absurdTexts {
		if row.readers != nil {
			for what, r := range absurdReaders {
				returns(name+" of "+what, func() []error { return row.readers(r) })
			}
		}
		if row.files != nil {
			for what, f := range absurdFiles() {
				returns(name+" of "+what, func() []error { return row.files(f) })
			}
		}
		if row.systems != nil {
			for what, fsys := range absurdSystems() {
				returns(name+", "+what, func() []error { return row.systems(t.Context(), fsys) })
				returns(name+", done, "+what, func() []error { return row.systems(done, fsys) })
			}
		}
		if row.pure != nil {
			returns(name, row.pure)
		}
	}
	if calls < 200 {
		t.Errorf("only %d calls", calls)
	}
}

// TestAbsurdTextsAreWhole finds the exported function or method that has no row.
func TestAbsurdTextsAreWhole(t *testing.T) {
	rows := maps.Clone(absurdTexts)
	for _, name := range []string{"lineaddr", "edit", "patch"} {
		sources, err := filepath.Glob("../" + name + "/*.go")
		if err != nil || len(sources) == 0 {
			t.Fatalf("%d files of %s, %v", len(sources), name, err)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() {
					continue
				}
				key := name + "."
				if f.Recv != nil {
					receiver := f.Recv.List[0].Type
					if p, ok := receiver.(*ast.StarExpr); ok {
						receiver = p.X
					}
					if !receiver.(*ast.Ident).IsExported() {
						continue
					}
					key += receiver.(*ast.Ident).Name + "."
				}
				key += f.Name.Name
				if _, ok := rows[key]; !ok {
					t.Errorf("%s has no row", key)
				}
				delete(rows, key)
			}
		}
	}
	for key := range rows {
		t.Errorf("the row %s is of nothing", key)
	}
}
