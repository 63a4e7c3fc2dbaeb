// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// sorted holds names that sort differently by byte, by letter, by path and by
// language, in the order that List gives.
var sorted = []string{".hidden", "10", "9", "B", "a", "a b", "a-b", "a.b", "a0", "aC", "ab", "c", "z", "~", "é"}

// sortedTree has them in a folder, in another order; "a" and "c" are folders.
func sortedTree() Tree {
	var t Tree
	for i := range sorted {
		name := sorted[(i*7+3)%len(sorted)]
		n := Node{Path: "names/" + name, Kind: ambit.KindRegular, Data: "data of " + name}
		if name == "a" || name == "c" {
			n.Path, n.Data = n.Path+"/x", "in a folder"
		}
		t = append(t, n)
	}
	return append(t, Node{Path: "hollow", Kind: ambit.KindDirectory})
}

// crowd is how many files crowdedTree has in one folder: more than what
// servers and calls of the system give at once.
const crowd = 1100

// crowdedTree has them in the folder "crowd", and one file beside it.
var crowdedTree = sync.OnceValue(func() Tree {
	t := Tree{{Path: "file", Kind: ambit.KindRegular, Data: fileContent}}
	for _, name := range crowdNames() {
		t = append(t, Node{Path: "crowd/" + name, Kind: ambit.KindRegular})
	}
	return t
})

// crowdNames are the names in it, sorted.
func crowdNames() []string {
	names := make([]string, crowd)
	for i := range names {
		names[i] = fmt.Sprintf("%04d", i)
	}
	return names
}

// listChecks: List and its pages.
func listChecks() []*check {
	needs := []requirement{needList}
	page := func(p *probe, dir string, o ambit.ListOptions) *ambit.Listing {
		l, err := p.fs.List(p.ctx, dir, &o)
		if err != nil || l == nil {
			p.fatalf("list %q %+v: %v, %v", dir, o, l, err)
		}
		return l
	}
	namesOf := func(l *ambit.Listing) []string {
		var names []string
		for _, e := range l.Entries {
			names = append(names, e.Name)
		}
		return names
	}
	return slices.Concat(
		methodList.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone", "hollow/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "file", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrNotADirectory},
			cell{kind: "file-with-slash", path: "file/", others: []string{"file/.", "file/x/.."}, reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/.", "gone/x/"}, reason: ambit.ErrNotADirectory},
		),
		methodList.with("list-negative-limit", "List with a negative Limit", listWith(ambit.ListOptions{Limit: -1})).refusals(
			cell{kind: "folder", path: "folder", others: []string{"hollow"}, reason: ambit.ErrInvalid},
		),
		[]*check{
			{
				id: "core/list-sorted", tree: sortedTree(), requires: needs,
				rule: "A listing holds every name once, dotfiles too, sorted in byte order.",
				run: func(p *probe) {
					for _, dir := range []string{"names", "names/", "/names", "gone/../names//."} {
						for _, o := range []*ambit.ListOptions{nil, {}, {Details: true}} {
							l, err := p.fs.List(p.ctx, dir, o)
							if err != nil || l == nil {
								p.fatalf("list %q: %v, %v", dir, l, err)
							}
							if got := namesOf(l); !slices.Equal(got, sorted) {
								p.errorf("%q lists %q, want %q", dir, got, sorted)
							}
							if l.Dir != "/names" || l.Next != "" {
								p.errorf("list %q: Dir is %q and Next %q, want the canonical path and nothing left", dir, l.Dir, l.Next)
							}
						}
					}
				},
			},
			{
				id: "core/list-complete", tree: standard, requires: needs,
				rule: "A listing holds one level: what is in the folder and nothing beneath or beside it.",
				run: func(p *probe) {
					for dir, want := range map[string][]string{
						"folder": {"deep", "inner"}, "folder/deep": {"leaf"}, "hollow": {}, "sib": {"x"}, "sibling": {"x"},
					} {
						if got := p.names(dir); !slices.Equal(got, want) {
							p.errorf("%q lists %q, want %q", dir, got, want)
						}
					}
					var top []string
					for _, n := range p.tree {
						if name, _, _ := strings.Cut(n.Path, "/"); !n.Beside() && !slices.Contains(top, name) {
							top = append(top, name)
						}
					}
					slices.Sort(top)
					if got := p.names("/"); !slices.Equal(got, top) {
						p.errorf("the root lists %q, want %q", got, top)
					}
				},
			},
			{
				id: "core/list-entries", tree: standard, requires: needs,
				rule: "An entry's path is the folder's canonical path and the name, and with its kind it is what Stat tells.",
				run: func(p *probe) {
					for dir, canonical := range map[string]string{"/": "/", ".": "/", "folder/": "/folder", "gone/../folder//deep": "/folder/deep", "sib": "/sib"} {
						for _, details := range []bool{false, true} {
							l := page(p, dir, ambit.ListOptions{Details: details})
							if l.Dir != canonical {
								p.errorf("list %q: Dir is %q, want %q", dir, l.Dir, canonical)
							}
							for _, e := range l.Entries {
								if e.Info.Path != ambit.Join(canonical, e.Name) {
									p.errorf("list %q: %q has the path %q, want %q", dir, e.Name, e.Info.Path, ambit.Join(canonical, e.Name))
								}
								if e.Info.Kind == ambit.KindSymlink {
									continue
								}
								if info := p.stat(e.Info.Path); info.Kind != e.Info.Kind || info.Path != e.Info.Path {
									p.errorf("list %q: %q is a %s, Stat says %s %q", dir, e.Info.Path, e.Info.Kind, info.Kind, info.Path)
								}
							}
						}
					}
				},
			},
			{
				id: "core/list-details", tree: standard, requires: needs,
				rule: "With Details each entry says all that Stat says.",
				run: func(p *probe) {
					seen := 0
					for _, dir := range []string{"/", "folder", "folder/deep", "sib"} {
						for _, limit := range []int{0, 2} {
							for _, e := range page(p, dir, ambit.ListOptions{Details: true, Limit: limit}).Entries {
								if e.Info.Kind == ambit.KindSymlink {
									continue
								}
								seen++
								p.agree(p.stat(e.Info.Path), "List", e.Info)
								if e.Info.Kind == ambit.KindRegular && e.Info.Size == -1 {
									p.errorf("List with Details does not know the size of %q", e.Info.Path)
								}
							}
						}
					}
					if seen == 0 {
						p.errorf("no entry was listed")
					}
				},
			},
			{
				id: "core/list-empty-folder", tree: standard, requires: needs,
				rule: "An empty folder is listed as no entries.",
				run: func(p *probe) {
					for _, o := range []ambit.ListOptions{{}, {Limit: 1}, {After: "x"}, {Details: true}} {
						if l := page(p, "hollow", o); len(l.Entries) != 0 || l.Next != "" || l.Dir != "/hollow" {
							p.errorf("an empty folder: %+v", l)
						}
					}
				},
			},
			{
				id: "core/list-pages", tree: sortedTree(), requires: needs,
				rule: "Pages of any Limit put together are the whole listing.",
				run: func(p *probe) {
					for limit := 1; limit <= len(sorted)+2; limit++ {
						for _, details := range []bool{false, true} {
							var got []string
							o := ambit.ListOptions{Limit: limit, Details: details}
							for range len(sorted) + 1 {
								l := page(p, "names", o)
								if len(l.Entries) > limit {
									p.errorf("a page of %d has %d entries", limit, len(l.Entries))
								}
								if l.Dir != "/names" {
									p.errorf("a page's Dir is %q", l.Dir)
								}
								got = append(got, namesOf(l)...)
								if o.After = l.Next; l.Next == "" {
									break
								}
							}
							if !slices.Equal(got, sorted) {
								p.errorf("pages of %d together are %q, want %q", limit, got, sorted)
							}
						}
					}
				},
			},
			{
				id: "core/list-many", tree: crowdedTree(), requires: needs,
				rule: "A listing without a Limit is whole however many names there are, and so are long pages put together.",
				run: func(p *probe) {
					want := crowdNames()
					for _, limit := range []int{0, crowd + 50, crowd, crowd - 1, crowd / 2} {
						var got []string
						o := ambit.ListOptions{Limit: limit}
						for range 4 {
							l := page(p, "crowd", o)
							if limit > 0 && len(l.Entries) > limit {
								p.errorf("a page of %d has %d entries", limit, len(l.Entries))
							}
							if limit == 0 && l.Next != "" {
								p.errorf("without a Limit %d of %d names are listed, and Next is %q", len(l.Entries), crowd, l.Next)
							}
							got = append(got, namesOf(l)...)
							if o.After = l.Next; l.Next == "" {
								break
							}
						}
						if !slices.Equal(got, want) {
							p.errorf("with the Limit %d: %d names, want %d: %q", limit, len(got), len(want), brief(strings.Join(got, " ")))
						}
					}
				},
			},
			{
				id: "core/list-next", tree: sortedTree(), requires: needs,
				rule: `Next is "" exactly when nothing is left.`,
				run: func(p *probe) {
					for start := range sorted {
						after := ""
						if start > 0 {
							after = sorted[start-1]
						}
						left := len(sorted) - start
						for limit := range left + 3 {
							l := page(p, "names", ambit.ListOptions{After: after, Limit: limit})
							if (l.Next == "") != (limit == 0 || limit >= left) {
								p.errorf("after %q, %d of %d names with Limit %d: Next is %q", after, len(l.Entries), left, limit, l.Next)
							}
						}
					}
				},
			},
			{
				id: "core/list-after", tree: sortedTree(), requires: needs,
				rule: "A page starts behind After in byte order, which need not name anything.",
				run: func(p *probe) {
					cursors := slices.Concat(sorted, []string{
						"!", "0", "A", "BB", "a ", "a,", "a.", "a.b.c", "a/", "a0 ", "aa", "b", "e", "zz", "\x7f", "\xff", "é\u0301", "A/../z",
						strings.Repeat("b", 300), "..", ".", "/",
					})
					for _, after := range cursors {
						var want []string
						for _, name := range sorted {
							if name > after {
								want = append(want, name)
							}
						}
						for _, limit := range []int{0, 1, 3} {
							expected := want
							if limit > 0 {
								expected = want[:min(limit, len(want))]
							}
							if got := namesOf(page(p, "names", ambit.ListOptions{After: after, Limit: limit})); !slices.Equal(got, expected) {
								p.errorf("after %q with Limit %d: %q, want %q", after, limit, got, expected)
							}
						}
					}
				},
			},
			{
				id: "core/list-is-the-callers", tree: sortedTree(), requires: needs,
				rule: "A listing is the caller's own: changing it changes no later one.",
				run: func(p *probe) {
					for range 2 {
						l := page(p, "names", ambit.ListOptions{})
						if got := namesOf(l); !slices.Equal(got, sorted) {
							p.errorf("the listing is %q, want %q", got, sorted)
						}
						for i := range l.Entries {
							l.Entries[i] = ambit.Entry{Name: "spoilt"}
						}
						_ = append(l.Entries[:0], ambit.Entry{Name: "spoilt"})
					}
				},
			},
			{
				id: "core/list-after-changes", tree: sortedTree(), requires: []requirement{needList, needWrite, needRemove},
				rule: "A page behind a name that is gone goes on behind it, and what came to be behind the cursor appears once.",
				run: func(p *probe) {
					first := page(p, "names", ambit.ListOptions{Limit: 6})
					p.remove("names/"+first.Entries[5].Name, nil)
					p.write("names/8", "before the cursor", nil)
					p.write("names/bb", "behind the cursor", nil)
					p.remove("names/z", nil)
					got := namesOf(page(p, "names", ambit.ListOptions{After: first.Next}))
					want := []string{"a-b", "a.b", "a0", "aC", "ab", "bb", "c", "~", "é"}
					if !slices.Equal(got, want) {
						p.errorf("the second page is %q, want %q", got, want)
					}
				},
			},
		},
	)
}
