// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ambitfs/ambit"
)

// listingMutants have a fault in List.
func listingMutants() []mutant {
	// paged lets a mutant change a correct page.
	paged := func(change func(l *ambit.Listing, o ambit.ListOptions)) func(f *faulty) {
		return func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil {
					l = &ambit.Listing{Dir: l.Dir, Entries: slices.Clone(l.Entries), Next: l.Next}
					change(l, o)
				}
				return l, err
			}
		}
	}
	without := func(gone func(e ambit.Entry) bool) func(f *faulty) {
		return paged(func(l *ambit.Listing, _ ambit.ListOptions) { l.Entries = slices.DeleteFunc(l.Entries, gone) })
	}
	return []mutant{
		{name: "entries come in reverse", check: "core/list-sorted", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			slices.Reverse(l.Entries)
		})},
		{name: "folders come first", check: "core/list-sorted", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			slices.SortStableFunc(l.Entries, func(a, b ambit.Entry) int {
				switch {
				case a.Info.IsDir() == b.Info.IsDir():
					return 0
				case a.Info.IsDir():
					return -1
				}
				return 1
			})
		})},
		{name: "a cursor skips a name", check: "core/list-pages", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && o.After != "" && len(l.Entries) > 1 {
					l = &ambit.Listing{Dir: l.Dir, Entries: l.Entries[1:], Next: l.Next}
				}
				return l, err
			}
		}},
		{name: "a cursor repeats a name", check: "core/list-pages", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && l.Next != "" && len(l.Entries) > 1 {
					l = &ambit.Listing{Dir: l.Dir, Entries: l.Entries, Next: l.Entries[len(l.Entries)-2].Name}
				}
				return l, err
			}
		}},
		{name: "After is inclusive", check: "core/list-after", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				all, err := f.base.List(ctx, dir, &ambit.ListOptions{Details: o.Details})
				if err != nil {
					return nil, err
				}
				from := slices.IndexFunc(all.Entries, func(e ambit.Entry) bool { return e.Name >= o.After })
				if from < 0 {
					from = len(all.Entries)
				}
				return ambit.Page(all.Dir, all.Entries[from:], &ambit.ListOptions{Limit: o.Limit}), nil
			}
		}},
		{name: "After must name an entry", check: "core/list-after", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && o.After != "" {
					if _, err := f.base.Stat(ctx, ambit.Join(l.Dir, o.After)); ambit.ReasonOf(err) == ambit.ErrNotFound {
						return nil, ambit.Wrap(ambit.OpList, dir, err)
					}
				}
				return l, err
			}
		}},
		{name: "After is ignored", check: "core/list-after", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				o.After = ""
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && l.Next != "" {
					l = &ambit.Listing{Dir: l.Dir, Entries: l.Entries}
				}
				return l, err
			}
		}},
		{name: "Next is set at the end", check: "core/list-next", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			if n := len(l.Entries); n > 0 {
				l.Next = l.Entries[n-1].Name
			}
		})},
		{name: "Next is set where a full page is the last", check: "core/list-next", breaks: paged(func(l *ambit.Listing, o ambit.ListOptions) {
			if n := len(l.Entries); n > 0 && n == o.Limit {
				l.Next = l.Entries[n-1].Name
			}
		})},
		{name: "Next is never set", check: "core/list-next", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) { l.Next = "" })},
		{name: "Limit is ignored", check: "core/list-pages", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				o.Limit = min(o.Limit, 0)
				return f.base.List(ctx, dir, &o)
			}
		}},
		{name: "a negative Limit means no limit", check: "core/list-negative-limit-folder", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				o.Limit = max(o.Limit, 0)
				return f.base.List(ctx, dir, &o)
			}
		}},
		{name: "dotfiles are left out", check: "core/list-sorted", breaks: without(func(e ambit.Entry) bool { return e.Name[0] == '.' })},
		{name: "empty folders are left out", check: "core/list-complete", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				return &ambit.Listing{Dir: l.Dir, Next: l.Next, Entries: slices.DeleteFunc(slices.Clone(l.Entries), func(e ambit.Entry) bool {
					if !e.Info.IsDir() {
						return false
					}
					inner, err := f.base.List(ctx, e.Info.Path, nil)
					return err == nil && len(inner.Entries) == 0
				})}, nil
			}
		}},
		{name: "a listing is the whole tree", check: "core/list-complete", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &ambit.ListOptions{Details: o.Details})
				if err != nil {
					return nil, err
				}
				var all []ambit.Entry
				for e, err := range ambit.Walk(ctx, f.base, l.Dir) {
					if err == nil {
						e.Name = e.Info.Path[len(l.Dir):]
						all = append(all, e)
					}
				}
				return ambit.Page(l.Dir, all, &o), nil
			}
		}},
		{name: "Details are left empty", check: "core/list-details", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			for i, e := range l.Entries {
				l.Entries[i].Info = ambit.FileInfo{Path: e.Info.Path, Kind: e.Info.Kind}
			}
		})},
		{name: "entries have no kind without Details", check: "core/list-entries", breaks: paged(func(l *ambit.Listing, o ambit.ListOptions) {
			for i := range l.Entries {
				if !o.Details {
					l.Entries[i].Info.Kind = ambit.KindUnknown
				}
			}
		})},
		{name: "an entry's path is its name", check: "core/list-entries", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			for i, e := range l.Entries {
				l.Entries[i].Info.Path = e.Name
			}
		})},
		{name: "Dir is the path as written", check: "core/list-entries", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil {
					l = &ambit.Listing{Dir: dir, Entries: l.Entries, Next: l.Next}
				}
				return l, err
			}
		}},
		{name: "a file is listed as an empty folder", check: "core/list-file", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if ambit.ReasonOf(err) == ambit.ErrNotADirectory {
					if info, err := f.base.Stat(ctx, dir); err == nil {
						return &ambit.Listing{Dir: info.Path}, nil
					}
				}
				return l, err
			}
		}},
		{name: "a missing folder is listed as an empty one", check: "core/list-missing", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					return &ambit.Listing{Dir: ambit.Join("/", dir)}, nil
				}
				return l, err
			}
		}},
		{name: "List gives neither a listing nor an error", check: "core/list-missing", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, nil
				}
				return l, nil
			}
		}},
		{name: "callers share one listing", check: "core/list-is-the-callers", breaks: func(f *faulty) {
			var cache sync.Map
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return l, err
				}
				key := fmt.Sprint(dir, o, len(l.Entries))
				shared, _ := cache.LoadOrStore(key, l)
				return shared.(*ambit.Listing), nil
			}
		}},
		{name: "one broken entry fails the listing", check: "hostile/links-listed", on: onDisk, breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				for _, e := range l.Entries {
					if _, err := f.base.Stat(ctx, e.Info.Path); err != nil {
						return nil, ambit.Wrap(ambit.OpList, dir, err)
					}
				}
				return l, nil
			}
		}},
		{name: "links are listed as what they lead to", check: "hostile/links-listed", on: onDisk, breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				for i, e := range l.Entries {
					if info, err := f.base.Stat(ctx, e.Info.Path); err == nil {
						l.Entries[i].Info.Kind = info.Kind
					}
				}
				return l, nil
			}
		}},
		{name: "dangling links are left out", check: "hostile/links-listed", on: onDisk, breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				l.Entries = slices.DeleteFunc(l.Entries, func(e ambit.Entry) bool {
					_, err := f.base.Stat(ctx, e.Info.Path)
					return ambit.ReasonOf(err) == ambit.ErrNotFound
				})
				return l, nil
			}
		}},
		{name: "a cursor beyond the library's temporary names ends the listing", check: "core/list-after", breaks: paged(func(l *ambit.Listing, o ambit.ListOptions) {
			if o.After > "m" {
				l.Entries, l.Next = nil, ""
			}
		})},
		{name: "a listing ends at 1000 names", check: "core/list-many", breaks: paged(func(l *ambit.Listing, _ ambit.ListOptions) {
			l.Entries = l.Entries[:min(len(l.Entries), 1000)]
		})},
	}
}
