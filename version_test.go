// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

func TestVersionValid(t *testing.T) {
	for b := range 256 {
		v := ambit.Version([]byte{byte(b)})
		want := b == '!' || b >= '#' && b <= '~'
		if v.Valid() != want {
			t.Errorf("%q is valid: %t", string(v), v.Valid())
		}
		for _, v := range []ambit.Version{"x" + v, v + "x", "x" + v + "x"} {
			if v.Valid() != want {
				t.Errorf("%q is valid: %t", string(v), v.Valid())
			}
		}
		if !want {
			continue
		}
		// What is valid goes through a header as it is.
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("If-Match", `"`+string(v)+`"`)
		var wire strings.Builder
		if err := r.Header.Write(&wire); err != nil || wire.String() != "If-Match: \""+string(v)+"\"\r\n" {
			t.Errorf("%q goes out as %q, %v", string(v), wire.String(), err)
		}
	}
	for _, test := range []struct {
		v    ambit.Version
		want bool
	}{
		{"", false},
		{ambit.Version(strings.Repeat("v", 128)), true},
		{ambit.Version(strings.Repeat("v", 129)), false},
		{`"quoted"`, false},
		{"W/weak", true},
		{"two words", false},
		{"caf\u00e9", false},
		{"a\r\nb", false},
	} {
		if got := test.v.Valid(); got != test.want {
			t.Errorf("%q is valid: %t", string(test.v), got)
		}
	}
}

func TestPrecondition(t *testing.T) {
	var none ambit.Precondition
	if !none.IsZero() || none.Absent() {
		t.Error("the zero value asks for something")
	}
	if p := ambit.IfAbsent(); p.IsZero() || !p.Absent() {
		t.Error("IfAbsent does not ask for absence")
	}
	if v, ok := ambit.IfAbsent().Version(); ok || v != "" {
		t.Errorf("IfAbsent asks for version %q", v)
	}
	for _, v := range []ambit.Version{"v1", "", "bad version"} {
		p := ambit.IfVersion(v)
		if got, ok := p.Version(); !ok || got != v || p.IsZero() || p.Absent() {
			t.Errorf("IfVersion(%q) asks for %q, %t", v, got, ok)
		}
	}

	file := &ambit.FileInfo{Path: "/a", Kind: ambit.KindRegular, Version: "v1"}
	folder := &ambit.FileInfo{Path: "/d", Kind: ambit.KindDirectory}
	for _, test := range []struct {
		name   string
		p      ambit.Precondition
		info   *ambit.FileInfo
		reason ambit.Reason
		kind   ambit.Kind
		target string
	}{
		{name: "none, nothing there", p: none},
		{name: "none, a file", p: none, info: file},
		{name: "absent, nothing there", p: ambit.IfAbsent()},
		{name: "absent, a file", p: ambit.IfAbsent(), info: file, reason: ambit.ErrExists, kind: ambit.KindRegular, target: "/a"},
		{name: "absent, a folder", p: ambit.IfAbsent(), info: folder, reason: ambit.ErrExists, kind: ambit.KindDirectory, target: "/d"},
		{name: "its version", p: ambit.IfVersion("v1"), info: file},
		{name: "another version", p: ambit.IfVersion("v2"), info: file, reason: ambit.ErrChanged, target: "/a"},
		{name: "a prefix of its version", p: ambit.IfVersion("v"), info: file, reason: ambit.ErrChanged, target: "/a"},
		{name: "a version, nothing there", p: ambit.IfVersion("v1"), reason: ambit.ErrChanged},
		{name: "a version, a folder", p: ambit.IfVersion("v1"), info: folder, reason: ambit.ErrChanged, target: "/d"},
		{name: "no version, nothing there", p: ambit.IfVersion(""), reason: ambit.ErrInvalid},
		{name: "no version, a folder without one", p: ambit.IfVersion(""), info: folder, reason: ambit.ErrInvalid},
		{name: "a malformed version", p: ambit.IfVersion("a b"), info: file, reason: ambit.ErrInvalid},
	} {
		err := test.p.Check(test.info)
		if test.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if e := wantReason(t, err, "", "", test.reason); e.Kind != test.kind || e.Target != test.target {
			t.Errorf("%s: %+v", test.name, e)
		}
	}
}
