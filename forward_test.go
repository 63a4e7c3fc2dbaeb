// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

// TestForwardCapabilities: exactly what both have, bit by bit, and Base's own facts.
func TestForwardCapabilities(t *testing.T) {
	facts := ambit.Capabilities{ID: "base", Links: ambit.LinksRefused, MaxFileSize: 5}
	for _, name := range bits {
		for _, base := range []bool{false, true} {
			for _, keep := range []bool{false, true} {
				f := ambit.Forward{Base: &spy{caps: set(facts, name, base)}, Keep: set(ambit.Capabilities{}, name, keep)}
				if got, want := f.Capabilities(), set(facts, name, base && keep); got != want {
					t.Errorf("%s of base %t, kept %t: %+v", name, base, keep, got)
				}
			}
		}
	}
	f := ambit.Forward{Base: &spy{caps: full()}, Keep: ambit.Capabilities{Swap: ambit.SwapChecked, ID: "other", Links: ambit.LinksNone, MaxFileSize: 1}}
	want := ambit.Capabilities{Swap: ambit.SwapChecked, ID: full().ID, Links: full().Links, MaxFileSize: full().MaxFileSize}
	if got := f.Capabilities(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestForwardClosesMethods calls each method under each single bit: it is passed on with its own bit on both sides, and
// with any other it is refused before it reaches Base.
func TestForwardClosesMethods(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range methods {
		for _, name := range bits {
			for _, side := range []string{"base", "keep", "both"} {
				base, keep := set(ambit.Capabilities{}, name, true), set(ambit.Capabilities{}, name, true)
				if side != "base" {
					base = full()
				}
				if side != "keep" {
					keep = full()
				}
				if side == "both" {
					base, keep = full(), full()
					base, keep = set(base, name, false), set(keep, name, false)
				}
				has := m.bit == "" || bit(base, m.bit) && bit(keep, m.bit)
				writable := base.Write && keep.Write
				s := &spy{caps: base}
				for _, ctx := range []context.Context{t.Context(), done} {
					for _, path := range []string{"/a", ""} {
						s.calls = nil
						_, err := m.call(ctx, ambit.Forward{Base: s, Keep: keep}, path)
						switch {
						case m.name == "Sub":
							wantReason(t, err, m.op, path, ambit.ErrUnsupported)
						case has:
							if err != nil || len(s.calls) != 1 {
								t.Errorf("%s with %s of %s: %v, calls %q", m.name, name, side, err, s.calls)
							}
							continue
						case m.change && !writable:
							wantReason(t, err, m.op, path, ambit.ErrReadOnly)
						default:
							wantReason(t, err, m.op, path, ambit.ErrUnsupported)
						}
						if len(s.calls) != 0 {
							t.Errorf("%s with %s of %s reached the base: %q", m.name, name, side, s.calls)
						}
					}
				}
			}
		}
	}
}

// readOnlyBase has the methods of reading alone.
type readOnlyBase struct{ ambit.FileSystem }

func TestForwardOverABaseWithoutMethods(t *testing.T) {
	s := &spy{caps: full()}
	f := ambit.Forward{Base: readOnlyBase{s}, Keep: full()}
	for _, m := range methods {
		_, err := m.call(t.Context(), f, "/a")
		if m.name == "Open" || m.name == "Stat" || m.name == "List" {
			if err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			continue
		}
		wantReason(t, err, m.op, "/a", ambit.ErrUnsupported)
	}
}

// TestForwardRefusesPreconditions: where Swap is not kept an If is unsupported, though Base would take it; and only after
// what comes before options.
func TestForwardRefusesPreconditions(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	unswapped := full()
	unswapped.Swap = ambit.SwapNone
	for _, m := range methods {
		if m.conditional == nil {
			continue
		}
		for _, p := range []ambit.Precondition{{}, ambit.IfVersion("v1"), ambit.IfVersion("")} {
			for _, keep := range []ambit.Capabilities{full(), unswapped} {
				for _, ctx := range []context.Context{t.Context(), done} {
					for _, path := range []string{"/a", "../a", "", "/.."} {
						s := &spy{caps: full()}
						err := m.conditional(ctx, ambit.Forward{Base: s, Keep: keep}, path, p)
						passed := keep.Swap != ambit.SwapNone || p.IsZero() || ctx == done || path == "" || path == "/.."
						switch {
						case passed:
							if err != nil || len(s.calls) != 1 {
								t.Errorf("%s, %+v, swap %s, %q: %v", m.name, p, keep.Swap, path, err)
							}
						case p == ambit.IfVersion(""):
							wantReason(t, err, m.op, path, ambit.ErrInvalid)
						default:
							wantReason(t, err, m.op, path, ambit.ErrUnsupported)
						}
						if !passed && len(s.calls) != 0 {
							t.Errorf("%s reached the base: %q", m.name, s.calls)
						}
					}
				}
			}
		}
	}
}

// TestForwardShowsNoFactsThatItDoesNotClaim looks into every result for versions and identities.
func TestForwardShowsNoFactsThatItDoesNotClaim(t *testing.T) {
	for _, hidden := range [][]string{{}, {"Versions"}, {"Identity"}, {"Versions", "Identity"}} {
		keep := full()
		for _, name := range hidden {
			keep = set(keep, name, false)
		}
		f := ambit.Forward{Base: &spy{caps: full()}, Keep: keep}
		seen := 0
		look := func(where string, result any) {
			eachOf(reflect.ValueOf(result), func(i ambit.FileInfo) {
				seen++
				want := filled[ambit.FileInfo]()
				want.Path, want.Version, want.ID = i.Path, "/in/FileInfo.Version", "/in/FileInfo.ID"
				if slices.Contains(hidden, "Versions") {
					want.Version = ""
				}
				if slices.Contains(hidden, "Identity") {
					want.ID = ""
				}
				if diff := cmp.Diff(want, i); diff != "" {
					t.Errorf("%s without %q (-want +got):\n%s", where, hidden, diff)
				}
			})
		}
		for _, m := range methods {
			result, err := m.call(t.Context(), f, "/a")
			if m.name == "Sub" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			look(m.name, result)
			switch r := result.(type) {
			case ambit.File:
				look("File.Info", r.Info())
				if _, ok := r.(io.ReaderAt); !ok {
					t.Errorf("without %q a File is no ReaderAt", hidden)
				}
			case ambit.Staged:
				look("Staged.Info", r.Info())
				published, err := r.Publish(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				look("Publish", published)
			}
		}
		if seen != 11 {
			t.Errorf("%d descriptions seen", seen)
		}
	}
}

// eachOf calls f with every T in v.
func eachOf[T any](v reflect.Value, f func(T)) {
	if !v.IsValid() {
		return
	}
	if v.Type() == reflect.TypeFor[T]() {
		f(v.Interface().(T))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if _, private := v.Interface().(interface{ Info() ambit.FileInfo }); !private {
			eachOf(v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachOf(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachOf(v.Field(i), f)
			}
		}
	}
}

func TestForwardPassesArguments(t *testing.T) {
	s := &spy{caps: full()}
	f := ambit.Forward{Base: s, Keep: full()}
	for _, m := range methods {
		s.calls = nil
		if _, err := m.call(t.Context(), f, "/a"); m.name == "Sub" {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		want := m.name + " /a"
		if m.name == "Rename" {
			want += " /a"
		}
		if !slices.Equal(s.calls, []string{want}) {
			t.Errorf("%s: calls %q", m.name, s.calls)
		}
	}
	own := &ambit.Error{Op: "x", Path: "y", Reason: ambit.ErrChanged}
	s.err = own
	for _, m := range methods {
		if _, err := m.call(t.Context(), f, "/a"); m.name != "Sub" && err != own {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// TestForwardGuard: a rule that cannot be kept opens nothing.
func TestForwardGuard(t *testing.T) {
	asked := func(context.Context, ambit.Op, string) error { t.Error("asked"); return nil }
	for _, f := range []ambit.Forward{{}, {Base: &spy{caps: full()}, Keep: full()}} {
		g := f.Guard(asked)
		if g.Capabilities() != (ambit.Capabilities{}) {
			t.Errorf("%+v", g.Capabilities())
		}
		_, err := g.Open(t.Context(), "/a")
		wantReason(t, err, ambit.OpOpen, "/a", ambit.ErrUnsupported)
		_, err = g.Stat(t.Context(), "/a")
		wantReason(t, err, ambit.OpStat, "/a", ambit.ErrUnsupported)
		_, err = g.List(t.Context(), "/a", nil)
		wantReason(t, err, ambit.OpList, "/a", ambit.ErrUnsupported)
		if _, err := ambit.Writable(g); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("Writable: %v", err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	s := &spy{caps: full()}
	ro := ambit.ReadOnly(s)
	if got := ro.Capabilities(); got != full().ReadOnly() {
		t.Errorf("%+v", got)
	}
	if ambit.ReadOnly(ro) != ro {
		t.Error("ReadOnly of a read-only file system is another")
	}
	for _, m := range methods {
		s.calls = nil
		result, err := m.call(t.Context(), ro, "/a")
		if m.change {
			wantReason(t, err, m.op, "/a", ambit.ErrReadOnly)
			if len(s.calls) != 0 {
				t.Errorf("%s reached the base: %q", m.name, s.calls)
			}
			continue
		}
		if err != nil || len(s.calls) != 1 {
			t.Errorf("%s: %v, calls %q", m.name, err, s.calls)
		}
		if sub, ok := result.(ambit.FileSystem); ok {
			_, err := sub.(ambit.WritableFileSystem).Write(t.Context(), "/a", nil, nil)
			wantReason(t, err, ambit.OpWrite, "/a", ambit.ErrReadOnly)
		}
	}
	refused := &ambit.Error{Reason: ambit.ErrDenied, Rule: "r"}
	guarded := ro.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return refused })
	if _, err := guarded.Stat(t.Context(), "/a"); err != refused {
		t.Errorf("the guarded base says %v", err)
	}
	err := guarded.(ambit.WritableFileSystem).Remove(t.Context(), "/a", nil)
	wantReason(t, err, ambit.OpRemove, "/a", ambit.ErrReadOnly)

	// What the base has not, nobody gives it.
	poor := ambit.ReadOnly(&spy{caps: ambit.Capabilities{Write: true}})
	for _, m := range methods {
		_, err := m.call(t.Context(), poor, "/a")
		switch {
		case m.change:
			wantReason(t, err, m.op, "/a", ambit.ErrReadOnly)
		case m.bit != "":
			wantReason(t, err, m.op, "/a", ambit.ErrUnsupported)
		case err != nil:
			t.Errorf("%s: %v", m.name, err)
		}
	}
	if _, err := poor.(ambit.Guarder).Guard(nil).Stat(t.Context(), "/a"); ambit.ReasonOf(err) != ambit.ErrUnsupported {
		t.Errorf("a rule that cannot be kept: %v", err)
	}
}
