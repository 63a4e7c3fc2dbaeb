// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

func TestListOptionsCheck(t *testing.T) {
	for _, test := range []struct {
		o      *ambit.ListOptions
		reason ambit.Reason
	}{
		{nil, ""},
		{&ambit.ListOptions{}, ""},
		{&ambit.ListOptions{Limit: 1, After: "x", Details: true}, ""},
		{&ambit.ListOptions{Limit: math.MaxInt, After: strings.Repeat("x", 1000)}, ""},
		{&ambit.ListOptions{Limit: -1}, ambit.ErrInvalid},
		{&ambit.ListOptions{Limit: math.MinInt}, ambit.ErrInvalid},
	} {
		if err := test.o.Check(); ambit.ReasonOf(err) != test.reason {
			t.Errorf("%+v: %v, want %q", test.o, err, test.reason)
		}
	}
}

// TestOptionsCheck has every precondition and mode under every level of swap.
func TestOptionsCheck(t *testing.T) {
	preconditions := []struct {
		name  string
		p     ambit.Precondition
		fault ambit.Reason // on every file system
	}{
		{"none", ambit.Precondition{}, ""},
		{"absent", ambit.IfAbsent(), ""},
		{"version", ambit.IfVersion("v1"), ""},
		{"no version", ambit.IfVersion(""), ambit.ErrInvalid},
		{"bad version", ambit.IfVersion("a\"b"), ambit.ErrInvalid},
		{"long version", ambit.IfVersion(ambit.Version(strings.Repeat("v", 129))), ambit.ErrInvalid},
	}
	modes := []struct {
		mode  fs.FileMode
		fault ambit.Reason
	}{
		{0, ""},
		{0o777, ""},
		{0o600, ""},
		{fs.ModeSetuid | 0o755, ambit.ErrInvalid},
		{fs.ModeDir | 0o755, ambit.ErrInvalid},
		{fs.ModeSticky, ambit.ErrInvalid},
		{0o1000, ambit.ErrInvalid},
		{math.MaxUint32, ambit.ErrInvalid},
	}
	for _, swap := range []ambit.SwapLevel{ambit.SwapNone, ambit.SwapChecked, ambit.SwapExact, ambit.SwapForeign} {
		caps := ambit.Capabilities{Swap: swap}
		for _, p := range preconditions {
			held := p.fault
			if held == "" && !p.p.IsZero() && swap == ambit.SwapNone {
				held = ambit.ErrUnsupported
			}
			versionOnly := held
			if p.p.Absent() {
				versionOnly = ambit.ErrInvalid
			}
			recursive := versionOnly
			if !p.p.IsZero() {
				recursive = ambit.ErrInvalid
			}
			check := func(what string, err error, want ambit.Reason) {
				t.Helper()
				if ambit.ReasonOf(err) != want {
					t.Errorf("%s, %s, swap %s: %v, want %q", what, p.name, swap, err, want)
				}
			}
			for _, m := range modes {
				want := m.fault
				if want == "" {
					want = held
				}
				check("write "+m.mode.String(), (&ambit.WriteOptions{If: p.p, Mode: m.mode, Parents: true}).Check(caps), want)
				check("append "+m.mode.String(), (&ambit.AppendOptions{If: p.p, Mode: m.mode, Parents: true}).Check(caps), want)
			}
			check("remove", (&ambit.RemoveOptions{If: p.p, MissingOK: true}).Check(caps), versionOnly)
			check("remove recursively", (&ambit.RemoveOptions{If: p.p, Recursive: true}).Check(caps), recursive)
			check("rename", (&ambit.RenameOptions{If: p.p, Replace: true, Parents: true}).Check(caps), versionOnly)
		}
		for what, err := range map[string]error{
			"write":  (*ambit.WriteOptions)(nil).Check(caps),
			"append": (*ambit.AppendOptions)(nil).Check(caps),
			"remove": (*ambit.RemoveOptions)(nil).Check(caps),
			"rename": (*ambit.RenameOptions)(nil).Check(caps),
		} {
			if err != nil {
				t.Errorf("nil options of %s: %v", what, err)
			}
		}
	}
}

func TestCheckChanges(t *testing.T) {
	content := strings.NewReader("x")
	var nilReader *strings.Reader
	exact, none := ambit.Capabilities{Swap: ambit.SwapExact}, ambit.Capabilities{}
	for _, test := range []struct {
		name   string
		caps   ambit.Capabilities
		change ambit.Change
		reason ambit.Reason
	}{
		{"write", exact, ambit.Change{Op: ambit.OpWrite, Content: content, Parents: true, Mode: 0o600, If: ambit.IfAbsent()}, ""},
		{"write by version", exact, ambit.Change{Op: ambit.OpWrite, Content: content, If: ambit.IfVersion("v1")}, ""},
		{"remove", exact, ambit.Change{Op: ambit.OpRemove, If: ambit.IfVersion("v1")}, ""},
		{"remove without precondition", none, ambit.Change{Op: ambit.OpRemove}, ""},
		{"no Op", exact, ambit.Change{Content: content}, ambit.ErrInvalid},
		{"another Op", exact, ambit.Change{Op: ambit.OpRename}, ambit.ErrInvalid},
		{"a hostile Op", exact, ambit.Change{Op: "x\n\x00"}, ambit.ErrInvalid},
		{"write nothing", exact, ambit.Change{Op: ambit.OpWrite}, ambit.ErrInvalid},
		{"write a typed nil", exact, ambit.Change{Op: ambit.OpWrite, Content: nilReader}, ambit.ErrInvalid},
		{"write with a bad mode", exact, ambit.Change{Op: ambit.OpWrite, Content: content, Mode: fs.ModeDir}, ambit.ErrInvalid},
		{"write without a version", exact, ambit.Change{Op: ambit.OpWrite, Content: content, If: ambit.IfVersion("")}, ambit.ErrInvalid},
		{"write where nothing is checked", none, ambit.Change{Op: ambit.OpWrite, Content: content, If: ambit.IfAbsent()}, ambit.ErrUnsupported},
		{"remove with content", exact, ambit.Change{Op: ambit.OpRemove, Content: content}, ambit.ErrInvalid},
		{"remove with a typed nil", exact, ambit.Change{Op: ambit.OpRemove, Content: nilReader}, ambit.ErrInvalid},
		{"remove with parents", exact, ambit.Change{Op: ambit.OpRemove, Parents: true}, ambit.ErrInvalid},
		{"remove with a mode", exact, ambit.Change{Op: ambit.OpRemove, Mode: 0o600}, ambit.ErrInvalid},
		{"remove what is absent", exact, ambit.Change{Op: ambit.OpRemove, If: ambit.IfAbsent()}, ambit.ErrInvalid},
		{"remove where nothing is checked", none, ambit.Change{Op: ambit.OpRemove, If: ambit.IfVersion("v1")}, ambit.ErrUnsupported},
	} {
		test.change.Path = "as/written"
		fine := ambit.Change{Op: ambit.OpRemove, Path: "fine"}
		err := ambit.CheckChanges([]ambit.Change{fine, test.change, {Op: "worse"}}[:2], test.caps)
		if test.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		wantReason(t, err, ambit.OpCommit, "as/written", test.reason)
	}
	if err := ambit.CheckChanges(nil, none); err != nil {
		t.Errorf("no changes: %v", err)
	}
	if n := content.Len(); n != 1 {
		t.Errorf("%d of 1 byte of the content are left", n)
	}
}
