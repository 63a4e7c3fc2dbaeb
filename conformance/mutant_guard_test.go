// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// guardMutants have a fault in Guard.
func guardMutants() []mutant {
	// guards changes the guarded file system; f is the unguarded one.
	guards := func(change func(g, f *faulty, ask asker)) func(f *faulty) {
		return func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem {
				g := &faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}
				g = g.around(f.baseGuard(ask))
				change(g, f, ask)
				return g
			}
		}
	}
	// asks changes what is asked.
	asks := func(change func(ask asker) asker) func(f *faulty) {
		return func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem { return f.baseGuard(change(ask)) }
		}
	}
	return []mutant{
		{name: "Guard never asks", check: "hostile/open-denied", breaks: func(f *faulty) {
			f.guard = func(asker) ambit.FileSystem { return f.inner }
		}},
		{name: "Guard asks by the path as written", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, ask asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				if err := ask(ctx, ambit.OpOpen, path); err != nil {
					return nil, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrDenied}
				}
				return f.base.Open(ctx, path)
			}
		})},
		{name: "Guard asks when it has acted", check: "hostile/write-denied", breaks: guards(func(g, f *faulty, ask asker) {
			g.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &o)
				if err == nil && ask(ctx, ambit.OpWrite, r.Info.Path) != nil {
					return ambit.WriteResult{}, &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrDenied}
				}
				return r, err
			}
		})},
		{name: "Guard lists what is refused", check: "hostile/guard-listing", breaks: guards(func(g, f *faulty, _ asker) {
			g.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				if l, err := g.base.List(ctx, dir, &o); err != nil {
					return l, err
				}
				return f.base.List(ctx, dir, &o)
			}
		})},
		{name: "Guard fails the listing for one refused entry", check: "hostile/guard-listing", breaks: guards(func(g, f *faulty, _ asker) {
			g.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := g.base.List(ctx, dir, &o)
				if all, allErr := f.base.List(ctx, dir, &o); err == nil && allErr == nil && len(all.Entries) != len(l.Entries) {
					return nil, ambit.Wrap(ambit.OpList, dir, ambit.ErrDenied)
				}
				return l, err
			}
		})},
		{name: "a refused name that does not exist is not-found", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return nil, ambit.Wrap(ambit.OpOpen, path, err)
				}
				return g.base.Open(ctx, path)
			}
		})},
		{name: "a refused name counts as a prefix", check: "hostile/guard-siblings", breaks: asks(func(ask asker) asker {
			var refused sync.Map
			return func(ctx context.Context, op ambit.Op, canonical string) error {
				err := ask(ctx, op, canonical)
				if err != nil {
					refused.Store(canonical, err)
				}
				refused.Range(func(path, earlier any) bool {
					if strings.HasPrefix(canonical, path.(string)) {
						err = earlier.(error)
					}
					return err == nil
				})
				return err
			}
		})},
		{name: "Guard loses the reason of a refusal", check: "hostile/guard-reason", breaks: asks(func(ask asker) asker {
			return func(ctx context.Context, op ambit.Op, canonical string) error {
				if ask(ctx, op, canonical) != nil {
					return ambit.ErrDenied
				}
				return nil
			}
		})},
		{name: "Guard does not ask for the parents that are made", check: "hostile/guard-parents", breaks: guards(func(g, f *faulty, ask asker) {
			g.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if clean, _, err := ambit.Resolve("/", path); err != nil || ask(ctx, ambit.OpWrite, clean) != nil {
					return g.base.Write(ctx, path, content, &o)
				}
				return f.base.Write(ctx, path, content, &o)
			}
		})},
		{name: "Guard does not ask for what is beneath a removed folder", check: "hostile/guard-removal-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if clean, _, err := ambit.Resolve("/", path); err != nil || ask(ctx, ambit.OpRemove, clean) != nil {
					return g.base.Remove(ctx, path, &o)
				}
				return f.base.Remove(ctx, path, &o)
			}
		})},
		{name: "Guard does not ask for what is beneath a moved folder", check: "hostile/guard-rename-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				clean, _, err := ambit.Resolve("/", from)
				if err != nil || ask(ctx, ambit.OpRename, clean) != nil {
					return g.base.Rename(ctx, from, to, &o)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		})},
		{name: "Guard removes what is allowed of a folder", check: "hostile/guard-removal-above", breaks: guards(func(g, f *faulty, _ asker) {
			g.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := g.base.Remove(ctx, path, &o)
				if l, listErr := g.base.List(ctx, path, nil); ambit.ReasonOf(err) == ambit.ErrDenied && o.Recursive && listErr == nil {
					for _, e := range l.Entries {
						g.base.Remove(ctx, e.Info.Path, &o)
					}
				}
				return err
			}
		})},
		{name: "Guard forgets Stage", check: "hostile/stage-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				return f.base.Stage(ctx, path, content, &o)
			}
		})},
		{name: "Guard forgets Commit", check: "hostile/guard-commit", breaks: guards(func(g, f *faulty, _ asker) { g.commit = f.base.Commit })},
		{name: "Guard forgets Append", check: "hostile/append-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				return f.base.Append(ctx, path, content, &o)
			}
		})},
		{name: "Guard forgets the target of a rename", check: "hostile/guard-rename-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				source, _, err := ambit.Resolve("/", from)
				if err != nil || ask(ctx, ambit.OpRename, source) != nil {
					return g.base.Rename(ctx, from, to, &o)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		})},
		{name: "a Sub is free of its Guard", check: "hostile/guard-sub", breaks: guards(func(g, f *faulty, ask asker) {
			g.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				if _, err := g.baseSub(ctx, dir); err != nil {
					return nil, err
				}
				return f.baseSub(ctx, dir)
			}
		})},
		{name: "the refusal of a rule tells the kind of what is there", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := g.base.Open(ctx, path)
				if info, statErr := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrDenied && statErr == nil {
					e := *err.(*ambit.Error)
					e.Kind = info.Kind
					return nil, &e
				}
				return file, err
			}
		})},
		{name: "Publish does not ask again", check: "hostile/guard-publish", breaks: guards(func(g, f *faulty, _ asker) {
			g.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				asked, err := g.base.Stage(ctx, path, strings.NewReader(""), &o)
				if err != nil {
					return nil, err
				}
				asked.Discard(ctx)
				return f.base.Stage(ctx, path, content, &o)
			}
		})},
		{name: "a second Guard takes the place of the first", check: "hostile/guard-twice", breaks: func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem {
				g := &faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}
				g = g.around(f.baseGuard(ask))
				g.guard = func(ask asker) ambit.FileSystem { return f.baseGuard(ask) }
				return g
			}
		}},
		{name: "Guard asks with a context of its own", check: "hostile/guard-context", breaks: asks(func(ask asker) asker {
			return func(_ context.Context, op ambit.Op, canonical string) error {
				return ask(context.Background(), op, canonical)
			}
		})},
		{name: "Guard calls everything a stat", check: "hostile/guard-asked", breaks: asks(func(ask asker) asker {
			return func(ctx context.Context, _ ambit.Op, canonical string) error {
				return ask(ctx, ambit.OpStat, canonical)
			}
		})},
	}
}
