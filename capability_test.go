// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ambitfs/ambit"
)

// capabilityFields returns the names of the fields of one type.
func capabilityFields[T any]() []string {
	var names []string
	for f := range fieldsOf[ambit.Capabilities]() {
		if f.Type == reflect.TypeFor[T]() {
			names = append(names, f.Name)
		}
	}
	return names
}

// bits are the fields that promise by being true.
var bits = capabilityFields[bool]()

// full claims everything there is.
func full() ambit.Capabilities {
	c := ambit.Capabilities{ID: "id", Links: ambit.LinksFollowed, Swap: ambit.SwapForeign, MaxFileSize: 1 << 40}
	v := reflect.ValueOf(&c).Elem()
	for _, name := range bits {
		v.FieldByName(name).SetBool(true)
	}
	return c
}

func bit(c ambit.Capabilities, name string) bool {
	return reflect.ValueOf(c).FieldByName(name).Bool()
}

// set returns c with one bit as given.
func set(c ambit.Capabilities, name string, value bool) ambit.Capabilities {
	reflect.ValueOf(&c).Elem().FieldByName(name).SetBool(value)
	return c
}

// random returns capabilities with anything in each field.
func randomCapabilities(r *rand.Rand) ambit.Capabilities {
	c := ambit.Capabilities{
		ID:          []string{"", "a", "b"}[r.IntN(3)],
		Links:       ambit.LinkRule(r.IntN(4)),
		Swap:        ambit.SwapLevel(r.IntN(4)),
		MaxFileSize: []int64{0, 0, 1, 1000, math.MaxInt64}[r.IntN(5)],
	}
	for _, name := range bits {
		c = set(c, name, r.IntN(2) == 0)
	}
	return c
}

func TestCapabilitiesFields(t *testing.T) {
	// A field of another type than these needs a rule in Intersect, and in the tests here.
	known := len(bits) + len(capabilityFields[string]()) + len(capabilityFields[ambit.LinkRule]()) +
		len(capabilityFields[ambit.SwapLevel]()) + len(capabilityFields[int64]())
	if n := reflect.TypeFor[ambit.Capabilities]().NumField(); n != known || n-len(bits) != 4 {
		t.Fatalf("%d fields, %d of them are known, %d are bits", n, known, len(bits))
	}
}

func TestIntersect(t *testing.T) {
	if got := full().Intersect(full()); got != full() {
		t.Errorf("everything with itself is %+v", got)
	}
	// Each bit by itself: a bit that Intersect forgets, or takes from one side, shows here.
	for _, name := range bits {
		for _, c := range []bool{false, true} {
			for _, d := range []bool{false, true} {
				got := set(full(), name, c).Intersect(set(full(), name, d))
				if want := set(full(), name, c && d); got != want {
					t.Errorf("%s: %t and %t give %+v", name, c, d, got)
				}
			}
		}
	}
	for _, test := range []struct{ c, d, want int64 }{
		{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 7, 5}, {7, 5, 5}, {5, 5, 5},
	} {
		got := ambit.Capabilities{MaxFileSize: test.c}.Intersect(ambit.Capabilities{MaxFileSize: test.d})
		if got.MaxFileSize != test.want {
			t.Errorf("limits %d and %d give %d", test.c, test.d, got.MaxFileSize)
		}
	}
	for c := ambit.LinksUnknown; c <= ambit.LinksFollowed; c++ {
		for d := ambit.LinksUnknown; d <= ambit.LinksFollowed; d++ {
			got := ambit.Capabilities{Links: c}.Intersect(ambit.Capabilities{Links: d}).Links
			if want := map[bool]ambit.LinkRule{true: c, false: ambit.LinksUnknown}[c == d]; got != want {
				t.Errorf("links %s and %s give %s", c, d, got)
			}
		}
	}
	for c := ambit.SwapNone; c <= ambit.SwapForeign; c++ {
		for d := ambit.SwapNone; d <= ambit.SwapForeign; d++ {
			if got := (ambit.Capabilities{Swap: c}).Intersect(ambit.Capabilities{Swap: d}).Swap; got != min(c, d) {
				t.Errorf("swap %s and %s give %s", c, d, got)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c, d, e := randomCapabilities(r), randomCapabilities(r), randomCapabilities(r)
		if c.Intersect(d) != d.Intersect(c) {
			t.Fatalf("%+v and %+v: the order matters", c, d)
		}
		if c.Intersect(c) != c {
			t.Fatalf("%+v with itself is %+v", c, c.Intersect(c))
		}
		// ID and Links are lost for good only when nothing else agrees later: compare the rest.
		left, right := c.Intersect(d).Intersect(e), c.Intersect(d.Intersect(e))
		left.ID, right.ID, left.Links, right.Links = "", "", 0, 0
		if left != right {
			t.Fatalf("%+v, %+v and %+v: the grouping matters", c, d, e)
		}
	}
}

// changeBits are the bits that speak of change: those that ReadOnly must clear, and no other.
var changeBits = []string{
	"Write", "Remove", "Append", "Rename", "Mkdir", "Stage", "Commit",
	"AtomicReplace", "AtomicRemove", "AtomicCommit", "Durable", "KeepsMode",
}

func TestCapabilitiesReadOnly(t *testing.T) {
	got := full().ReadOnly()
	want := full()
	want.Swap = ambit.SwapNone
	for _, name := range bits {
		want = set(want, name, !slices.Contains(changeBits, name))
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (ambit.Capabilities{}).ReadOnly(); got != (ambit.Capabilities{}) {
		t.Errorf("nothing becomes %+v", got)
	}
}

func TestLevelNames(t *testing.T) {
	for got, want := range map[string]string{
		ambit.LinksUnknown.String(): "unknown", ambit.LinksNone.String(): "none", ambit.LinksRefused.String(): "refused",
		ambit.LinksFollowed.String(): "followed", ambit.LinkRule(200).String(): "invalid",
		ambit.SwapChecked.String(): "checked", ambit.SwapExact.String(): "exact", ambit.SwapForeign.String(): "foreign",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := ambit.SwapNone.String(); got != "none" {
		t.Errorf("%q", got)
	}
	if got := ambit.SwapLevel(200).String(); got != "invalid" {
		t.Errorf("%q", got)
	}
}
