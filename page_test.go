// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ambitfs/ambit"
)

func names(entries []ambit.Entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

func TestPage(t *testing.T) {
	tree := func() []ambit.Entry {
		return []ambit.Entry{{Name: "b"}, {Name: "a-"}, {Name: "a"}, {Name: "B"}, {Name: "\xff"}, {Name: "a\x01"}, {Name: "é"}}
	}
	all := []string{"B", "a", "a\x01", "a-", "b", "é", "\xff"}
	for _, test := range []struct {
		o    *ambit.ListOptions
		want []string
		next string
	}{
		{nil, all, ""},
		{&ambit.ListOptions{}, all, ""},
		{&ambit.ListOptions{Limit: 7}, all, ""},
		{&ambit.ListOptions{Limit: math.MaxInt}, all, ""},
		{&ambit.ListOptions{Limit: 6}, all[:6], "é"},
		{&ambit.ListOptions{Limit: 1}, all[:1], "B"},
		{&ambit.ListOptions{After: "a"}, all[2:], ""},
		{&ambit.ListOptions{After: "a", Limit: 1}, all[2:3], "a\x01"},
		{&ambit.ListOptions{After: "a-absent"}, all[4:], ""},
		{&ambit.ListOptions{After: "A"}, all[:], ""},
		{&ambit.ListOptions{After: "\xff"}, nil, ""},
		{&ambit.ListOptions{After: "\xff\xff", Limit: 3}, nil, ""},
		{&ambit.ListOptions{After: "é", Limit: 1}, all[6:], ""},
	} {
		l := ambit.Page("/d", tree(), test.o)
		if !slices.Equal(names(l.Entries), test.want) || l.Next != test.next || l.Dir != "/d" {
			t.Errorf("%+v: %q, next %q, of %s", test.o, names(l.Entries), l.Next, l.Dir)
		}
	}
	for _, o := range []*ambit.ListOptions{nil, {Limit: 5}, {After: "x", Limit: 5}} {
		if l := ambit.Page("/", nil, o); len(l.Entries) != 0 || l.Next != "" {
			t.Errorf("nothing, %+v: %+v", o, l)
		}
	}
}

// TestPagesAreTheWhole: whatever the limits, pages put together are the sorted whole, and a last page says so.
func TestPagesAreTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		set := make(map[string]bool)
		for range r.IntN(30) {
			name := make([]byte, 1+r.IntN(3))
			for i := range name {
				name[i] = "abz.-\x01\x80\xff"[r.IntN(8)]
			}
			set[string(name)] = true
		}
		var all []ambit.Entry
		var want []string
		for name := range set {
			all = append(all, ambit.Entry{Name: name, Info: ambit.FileInfo{Path: "/" + name, Kind: ambit.KindRegular}})
			want = append(want, name)
		}
		slices.Sort(want)
		var got []string
		after := ""
		for pages := 0; ; pages++ {
			o := &ambit.ListOptions{After: after, Limit: r.IntN(5)}
			l := ambit.Page("/", slices.Clone(all), o)
			if o.Limit > 0 && len(l.Entries) > o.Limit {
				t.Fatalf("%d entries for limit %d", len(l.Entries), o.Limit)
			}
			for _, e := range l.Entries {
				if e.Info.Path != "/"+e.Name {
					t.Fatalf("%q has the path %q", e.Name, e.Info.Path)
				}
			}
			got = append(got, names(l.Entries)...)
			if (l.Next == "") != (len(got) == len(want)) {
				t.Fatalf("next %q with %d of %d names", l.Next, len(got), len(want))
			}
			if l.Next == "" {
				break
			}
			if after = l.Next; pages > len(want) {
				t.Fatal("the pages do not end")
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages: %q\nwhole: %q", got, want)
		}
	}
}

// TestPageIsTheCallersOwn: what is appended to a page does not overwrite what comes after it.
func TestPageIsTheCallersOwn(t *testing.T) {
	entries := []ambit.Entry{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	l := ambit.Page("/", entries, &ambit.ListOptions{Limit: 1})
	_ = append(l.Entries, ambit.Entry{Name: "x"})
	if entries[1].Name != "b" {
		t.Errorf("the entry behind the page became %q", entries[1].Name)
	}
}
