// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

// shift shows what lies beneath /in under /out, and nothing else.
var shift = ambit.PathMap{
	In: func(path string) (string, error) {
		clean, dir, err := ambit.Resolve("/out", path)
		if err != nil {
			return "", err
		}
		if !ambit.Contains("/out", clean) {
			return "", &ambit.Error{Reason: ambit.ErrOutside}
		}
		if dir {
			clean += "/"
		}
		return "/in" + strings.TrimPrefix(clean, "/out"), nil
	},
	Out: func(canonical string) (string, bool) {
		rest, ok := strings.CutPrefix(canonical, "/in")
		return "/out" + rest, ok
	},
	ID: func(id string) string { return "mapped:" + id },
}

// pathBearing are the fields of results and errors that hold canonical paths; plain are all other texts. A field that comes
// later is in neither and fails the tests until somebody has thought about it.
var (
	pathBearing = []string{
		"FileInfo.Path", "WriteResult.CreatedDirs", "Listing.Dir", "GrepMatch.Path", "Skip.Path", "Error.Target", "Error.MissingDirs",
	}
	plain = []string{
		"FileInfo.Version", "Listing.Next", "Entry.Name", "GrepMatch.Text", "Skip.Reason",
		"Error.Op", "Error.Path", "Error.Reason", "Error.Rule", "Error.Detail",
	}
)

// translated returns v as a wrapper with shift must show it.
func translated(t *testing.T, v any) any {
	t.Helper()
	if v == nil {
		return nil
	}
	c := reflect.New(reflect.TypeOf(v)).Elem()
	c.Set(reflect.ValueOf(v))
	translate(t, c, "")
	return c.Interface()
}

func translate(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		switch {
		case slices.Contains(pathBearing, name):
			v.SetString("/out" + strings.TrimPrefix(v.String(), "/in"))
		case name == "FileInfo.ID":
			v.SetString("mapped:" + v.String())
		case !slices.Contains(plain, name):
			t.Errorf("%s is new: does it hold a path?", name)
		}
	case reflect.Slice:
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v.Set(c)
		for i := range v.Len() {
			translate(t, v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				translate(t, v.Field(i), v.Type().Name()+"."+f.Name)
			}
		}
	case reflect.Pointer:
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(v.Elem())
		v.Set(c)
		translate(t, v.Elem(), name)
	}
}

func TestMapPathsTranslatesResults(t *testing.T) {
	s := &spy{caps: full()}
	mapped := ambit.MapPaths(s, shift)
	if mapped.Capabilities() != full() {
		t.Errorf("%+v", mapped.Capabilities())
	}
	for _, m := range methods {
		direct, err := m.call(t.Context(), s, "/in/a")
		if err != nil {
			t.Fatal(err)
		}
		s.calls = nil
		got, err := m.call(t.Context(), mapped, "/out/a")
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		want := m.name + " /in/a"
		if m.name == "Rename" {
			want += " /in/a"
		}
		if !slices.Equal(s.calls, []string{want}) {
			t.Errorf("%s: calls %q", m.name, s.calls)
		}
		switch direct := direct.(type) {
		case ambit.FileSystem: // a Sub has paths of its own
		case ambit.File:
			if diff := cmp.Diff(translated(t, direct.Info()), any(got.(ambit.File).Info())); diff != "" {
				t.Errorf("File.Info (-want +got):\n%s", diff)
			}
		case ambit.Staged:
			if diff := cmp.Diff(translated(t, direct.Info()), any(got.(ambit.Staged).Info())); diff != "" {
				t.Errorf("Staged.Info (-want +got):\n%s", diff)
			}
			r, err := got.(ambit.Staged).Publish(t.Context())
			if diff := cmp.Diff(translated(t, filled[ambit.WriteResult]()), any(r)); diff != "" || err != nil {
				t.Errorf("Publish %v (-want +got):\n%s", err, diff)
			}
		case string:
			if got != "/out/ReadLink" {
				t.Errorf("%s: %v", m.name, got)
			}
		case []string:
			if !slices.Equal(got.([]string), []string{"/out/Mkdir"}) {
				t.Errorf("%s: %v", m.name, got)
			}
		default:
			if diff := cmp.Diff(translated(t, direct), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", m.name, diff)
			}
		}
	}
}

func TestMapPathsTranslatesErrors(t *testing.T) {
	inside := filled[ambit.Error]()
	inside.Path, inside.Reason, inside.Err = "/in/a", ambit.ErrAmbiguous, errors.New("cause")
	s := &spy{caps: full(), err: &inside}
	mapped := ambit.MapPaths(s, shift)
	check := func(where string, err error, op string) {
		t.Helper()
		e, ok := err.(*ambit.Error)
		if !ok {
			t.Errorf("%s: %#v", where, err)
			return
		}
		want := translated(t, inside).(ambit.Error)
		want.Op, want.Path, want.Err = op, "/out/a", e.Err
		if diff := cmp.Diff(want, *e, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", where, diff)
		}
		if !errors.Is(err, inside.Err) {
			t.Errorf("%s: the cause is lost", where)
		}
	}
	for _, m := range methods {
		_, err := m.call(t.Context(), mapped, "/out/a")
		check(m.name, err, m.op)
	}
	s.err = nil
	f, err := mapped.Open(t.Context(), "/out/a")
	if err != nil {
		t.Fatal(err)
	}
	staged, err := mapped.(ambit.Stager).Stage(t.Context(), "/out/a", strings.NewReader(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.err = &inside
	_, err = f.Read(nil)
	check("Read", err, ambit.OpRead)
	_, err = f.(io.ReaderAt).ReadAt(nil, 0)
	check("ReadAt", err, ambit.OpRead)
	check("Verify", f.Verify(t.Context()), ambit.OpVerify)
	_, err = staged.Publish(t.Context())
	check("Publish", err, ambit.OpPublish)
	check("Discard", staged.Discard(t.Context()), ambit.OpDiscard)
	if err := f.Close(); ambit.ReasonOf(err) != ambit.ErrAmbiguous {
		t.Errorf("Close: %v", err)
	}
	s.err = io.EOF
	if _, err := f.Read(nil); err != io.EOF {
		t.Errorf("the end of a file is %v", err)
	}
	if _, err := f.(io.ReaderAt).ReadAt(nil, 0); err != io.EOF {
		t.Errorf("the end of a file is %v", err)
	}
}

// TestMapPathsNamesThePathItMeans: of several paths an error has the one that it speaks of, as the caller wrote it.
func TestMapPathsNamesThePathItMeans(t *testing.T) {
	s := &spy{caps: full()}
	mapped := ambit.MapPaths(s, shift)
	rename := func(from, to string) error {
		_, err := mapped.(ambit.Renamer).Rename(t.Context(), from, to, nil)
		return err
	}
	commit := func(paths ...string) error {
		var changes []ambit.Change
		for _, p := range paths {
			changes = append(changes, ambit.Change{Op: ambit.OpRemove, Path: p})
		}
		_, err := mapped.(ambit.Committer).Commit(t.Context(), changes)
		return err
	}
	s.err = &ambit.Error{Path: "/in/a", Reason: ambit.ErrDenied}
	wantReason(t, rename("a", "b"), ambit.OpRename, "a", ambit.ErrDenied)
	wantReason(t, rename("b", "a"), ambit.OpRename, "a", ambit.ErrDenied)
	wantReason(t, rename("x/../a", "b"), ambit.OpRename, "x/../a", ambit.ErrDenied)
	wantReason(t, commit("b", "x/../a", "c"), ambit.OpCommit, "x/../a", ambit.ErrDenied)
	s.err = nil
	wantReason(t, rename("a", "../../b"), ambit.OpRename, "../../b", ambit.ErrOutside)
	wantReason(t, rename("../../a", ""), ambit.OpRename, "../../a", ambit.ErrOutside)
	wantReason(t, commit("a", ""), ambit.OpCommit, "", ambit.ErrInvalidPath)
	if err := commit(); err != nil {
		t.Errorf("no changes: %v", err)
	}
}

// TestMapPathsOrderOfJudgement: what comes before the path is judged before it, and Base is not reached.
func TestMapPathsOrderOfJudgement(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range methods {
		s := &spy{caps: full()}
		mapped := ambit.MapPaths(s, shift)
		for path, reason := range map[string]ambit.Reason{"": ambit.ErrInvalidPath, "../..": ambit.ErrOutside, "/elsewhere": ambit.ErrOutside} {
			if path == "" && (m.name == "Glob" || m.name == "Grep") {
				continue // "" is "." there
			}
			_, err := m.call(t.Context(), mapped, path)
			wantReason(t, err, m.op, path, reason)
			_, err = m.call(done, mapped, path)
			wantReason(t, err, m.op, path, ambit.ErrCanceled)
			if m.bit == "" {
				continue
			}
			refused := ambit.ErrUnsupported
			if m.change {
				refused = ambit.ErrReadOnly
			}
			_, err = m.call(done, ambit.MapPaths(&spy{}, shift), path)
			wantReason(t, err, m.op, path, refused)
		}
		if len(s.calls) != 0 {
			t.Errorf("%s reached the base: %q", m.name, s.calls)
		}
	}
}

// unshown answers with paths that the map cannot show.
type unshown struct{ *spy }

func hide(i ambit.FileInfo) ambit.FileInfo { i.Path = "/secret/x"; return i }

func (u unshown) List(context.Context, string, *ambit.ListOptions) (*ambit.Listing, error) {
	e := filled[ambit.Entry]()
	secret := e
	secret.Info = hide(e.Info)
	return &ambit.Listing{Dir: "/in/d", Entries: []ambit.Entry{secret, e}, Next: "next"}, nil
}

func (u unshown) Write(context.Context, string, io.Reader, *ambit.WriteOptions) (ambit.WriteResult, error) {
	return ambit.WriteResult{Info: hide(ambit.FileInfo{}), CreatedDirs: []string{"/secret", "/in/d"}}, nil
}

func (u unshown) Remove(context.Context, string, *ambit.RemoveOptions) error {
	return &ambit.Error{Reason: ambit.ErrNotFound, Target: "/secret/x", MissingDirs: []string{"/secret", "/in/d"}}
}

func (u unshown) ReadLink(_ context.Context, path string) (string, error) {
	return strings.TrimPrefix(path, "/in/"), nil
}

func (u unshown) Lstat(_ context.Context, path string) (ambit.FileInfo, error) {
	return ambit.FileInfo{Path: "/in/d/l", Kind: ambit.KindSymlink}, nil
}

func (u unshown) Glob(_ context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	if q.Keep != nil && q.Keep("/secret/x", ambit.KindRegular) {
		return ambit.SearchSummary{}, errors.New("kept")
	}
	yield(ambit.GlobMatch{Info: hide(ambit.FileInfo{})})
	return ambit.SearchSummary{Skipped: []ambit.Skip{{Path: "/secret/x"}, {Path: "/in/x"}}, MoreSkipped: 3}, nil
}

func (u unshown) Grep(_ context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	yield(ambit.GrepMatch{Path: "/secret/x"})
	return ambit.SearchSummary{}, nil
}

func (u unshown) Guard(ask func(context.Context, ambit.Op, string) error) ambit.FileSystem {
	return &spy{err: ask(context.Background(), ambit.OpStat, "/secret/x")}
}

func TestMapPathsShowsNothingElse(t *testing.T) {
	ctx := t.Context()
	mapped := ambit.MapPaths(unshown{&spy{caps: full()}}, shift)
	l, err := mapped.List(ctx, "/out/d", nil)
	if err != nil || l.Dir != "/out/d" || l.Next != "next" || len(l.Entries) != 1 || l.Entries[0].Info.Path != "/out/FileInfo.Path" {
		t.Errorf("List: %+v, %v", l, err)
	}
	r, err := mapped.(ambit.WritableFileSystem).Write(ctx, "/out/d", nil, nil)
	if err != nil || r.Info.Path != "" || !slices.Equal(r.CreatedDirs, []string{"/out/d"}) {
		t.Errorf("Write: %+v, %v", r, err)
	}
	e := wantReason(t, mapped.(ambit.WritableFileSystem).Remove(ctx, "/out/d", nil), ambit.OpRemove, "/out/d", ambit.ErrNotFound)
	if e.Target != "" || !slices.Equal(e.MissingDirs, []string{"/out/d"}) {
		t.Errorf("Remove: %+v", e)
	}
	sum, err := mapped.(ambit.Searcher).Glob(ctx, ambit.GlobQuery{Keep: func(string, ambit.Kind) bool { return true }}, func(m ambit.GlobMatch) bool {
		t.Errorf("Glob: %+v", m)
		return false
	})
	if err != nil || sum.MoreSkipped != 4 || !slices.Equal(sum.Skipped, []ambit.Skip{{Path: "/out/x"}}) {
		t.Errorf("Glob: %+v, %v", sum, err)
	}
	if _, err := mapped.(ambit.Searcher).Grep(ctx, ambit.GrepQuery{}, func(m ambit.GrepMatch) bool {
		t.Errorf("Grep: %+v", m)
		return false
	}); err != nil {
		t.Error(err)
	}
	guarded := mapped.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { t.Error("asked"); return nil })
	if _, err := guarded.Stat(ctx, "/out/a"); ambit.ReasonOf(err) != ambit.ErrDenied {
		t.Errorf("Guard: %v", err)
	}
}

// TestMapPathsReadLink: a text that leads where the wrapper shows nothing is not told, relative or absolute. The folder of
// the link is /in/d, and /in is what is shown as the root.
func TestMapPathsReadLink(t *testing.T) {
	beneath := ambit.PathMap{
		In: func(path string) (string, error) { return "/in" + path, nil },
		Out: func(canonical string) (string, bool) {
			if canonical == "/in" {
				return "/", true
			}
			return strings.TrimPrefix(canonical, "/in"), ambit.Contains("/in", canonical)
		},
	}
	for text, want := range map[string]string{
		"x":             "x",
		"../x":          "../x",
		"..":            "..",
		"../../in/x":    "../../in/x",
		"..x":           "..x",
		"../../x":       "",
		"../..":         "",
		"../../../x":    "",
		"/in/x":         "/x",
		"/in":           "/",
		"/in//x/":       "/x",
		"/in/../x":      "",
		"/etc/passwd":   "",
		"/inside/x":     "",
		"../../inside":  "",
		"/../in/x":      "",
		"x/../../../ix": "",
	} {
		mapped := ambit.MapPaths(linkTo{unshown{&spy{caps: full()}}, text}, beneath)
		got, err := mapped.(ambit.Linker).ReadLink(t.Context(), "/d/l")
		if want == "" {
			wantReason(t, err, ambit.OpReadLink, "/d/l", ambit.ErrOutside)
			if got != "" {
				t.Errorf("%q: %q", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

type linkTo struct {
	unshown
	text string
}

func (l linkTo) ReadLink(context.Context, string) (string, error) { return l.text, nil }

// TestMapPathsKeepsItsRoot: what the wrapper shows as "/" can neither be removed nor renamed through it.
func TestMapPathsKeepsItsRoot(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	root := ambit.PathMap{
		In: func(path string) (string, error) {
			clean, _, err := ambit.Resolve("/", path)
			return "/in" + clean, err
		},
		Out: func(canonical string) (string, bool) { return strings.CutPrefix(canonical, "/in") },
	}
	s := &spy{caps: full()}
	mapped := ambit.MapPaths(s, root)
	remove := func(ctx context.Context, path string, o *ambit.RemoveOptions) error {
		return mapped.(ambit.WritableFileSystem).Remove(ctx, path, o)
	}
	for _, path := range []string{"/", ".", "a/..", "//"} {
		for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true}, {Recursive: true, MissingOK: true}, {If: ambit.IfVersion("v")}} {
			wantReason(t, remove(t.Context(), path, o), ambit.OpRemove, path, ambit.ErrInvalid)
		}
		wantReason(t, remove(done, path, nil), ambit.OpRemove, path, ambit.ErrCanceled)
		_, err := mapped.(ambit.Renamer).Rename(t.Context(), path, "/b", nil)
		wantReason(t, err, ambit.OpRename, path, ambit.ErrInvalid)
	}
	if len(s.calls) != 0 {
		t.Errorf("calls %q", s.calls)
	}
	if err := remove(t.Context(), "/a", nil); err != nil {
		t.Error(err)
	}
	if _, err := mapped.(ambit.Renamer).Rename(t.Context(), "/a", "/", nil); err != nil {
		t.Error(err) // whether something is in the way is the base's to say
	}
	if want := []string{"Remove /in/a", "Rename /in/a /in/"}; !slices.Equal(s.calls, want) {
		t.Errorf("calls %q, want %q", s.calls, want)
	}
	wantReason(t, ambit.MapPaths(&spy{}, root).(ambit.WritableFileSystem).Remove(done, "/", nil), ambit.OpRemove, "/", ambit.ErrReadOnly)
}

func TestMapPathsSearchArguments(t *testing.T) {
	s := &spy{caps: full()}
	mapped := ambit.MapPaths(s, shift).(ambit.Searcher)
	var asked []string
	keep := func(path string, k ambit.Kind) bool {
		asked = append(asked, path)
		return false
	}
	if _, err := mapped.Glob(t.Context(), ambit.GlobQuery{Keep: keep}, func(ambit.GlobMatch) bool { return false }); err != nil {
		t.Error(err)
	}
	if _, err := mapped.Grep(t.Context(), ambit.GrepQuery{Base: "d", Keep: keep}, func(ambit.GrepMatch) bool { return false }); err != nil {
		t.Error(err)
	}
	if want := []string{"kept: false", "Glob /in/", "stopped", "kept: false", "Grep /in/d", "stopped"}; !slices.Equal(s.calls, want) {
		t.Errorf("calls %q, want %q", s.calls, want)
	}
	if want := []string{"/out/Keep", "/out/Keep"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	s.err = ambit.ErrBadPattern
	_, err := mapped.Glob(t.Context(), ambit.GlobQuery{}, nil)
	wantReason(t, err, ambit.OpGlob, "", ambit.ErrBadPattern)
}
