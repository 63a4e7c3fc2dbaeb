// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"slices"
	"strings"
)

// Page is for authors of backends: it makes the listing of the folder dir out
// of all its entries, in any order, by sorting them by name in byte order and
// cutting out the page that o asks for. It takes the slice over. Judge o with
// [ListOptions.Check] first.
func Page(dir string, entries []Entry, o *ListOptions) *Listing {
	byName := func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(entries, byName) {
		slices.SortFunc(entries, byName)
	}
	l := &Listing{Dir: dir, Entries: entries}
	if o == nil {
		return l
	}
	if o.After != "" {
		i, found := slices.BinarySearchFunc(entries, o.After, func(e Entry, after string) int {
			return strings.Compare(e.Name, after)
		})
		if found {
			i++
		}
		l.Entries = entries[i:]
	}
	if o.Limit > 0 && len(l.Entries) > o.Limit {
		l.Entries = l.Entries[:o.Limit:o.Limit]
		l.Next = l.Entries[o.Limit-1].Name
	}
	return l
}
