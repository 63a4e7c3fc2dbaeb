// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"strings"

	"github.com/ambitfs/ambit"
)

// subMutants have a fault in Sub.
func subMutants() []mutant {
	subs := func(change func(f *faulty, root string) ambit.PathMap) func(f *faulty) {
		return func(f *faulty) {
			f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				if _, err := f.baseSub(ctx, dir); err != nil {
					return nil, err
				}
				info, err := f.base.Stat(ctx, dir)
				if err != nil {
					return nil, err
				}
				return ambit.MapPaths(f.inner, change(f, info.Path)), nil
			}
		}
	}
	out := func(root string) func(string) (string, bool) {
		return func(canonical string) (string, bool) {
			switch {
			case canonical == root:
				return "/", true
			case ambit.Contains(root, canonical):
				return canonical[len(root):], true
			}
			return "", false
		}
	}
	return []mutant{
		{name: "Sub lets dots out", check: "core/sub-confines", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In:  func(path string) (string, error) { return root + "/" + path, nil },
				Out: func(canonical string) (string, bool) { return canonical, true },
			}
		})},
		{name: "a Sub shows the paths of its parent", check: "core/sub-reads", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In: func(path string) (string, error) {
					clean, dir, err := ambit.Resolve("/", path)
					if dir && err == nil && clean != "/" {
						clean += "/"
					}
					return root + clean, err
				},
				Out: func(canonical string) (string, bool) { return canonical, true },
			}
		})},
		{name: "a Sub starts one folder above", check: "core/sub-confines", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			above := ambit.Dir(root)
			return ambit.PathMap{
				In: func(path string) (string, error) {
					clean, _, err := ambit.Resolve("/", path)
					return strings.TrimSuffix(above, "/") + clean, err
				},
				Out: out(above),
			}
		})},
		{name: "a Sub takes the empty path for its root", check: "core/sub-refuses-as-its-own", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In: func(path string) (string, error) {
					if path == "" {
						return root, nil
					}
					clean, dir, err := ambit.Resolve("/", path)
					if dir && err == nil && clean != "/" {
						clean += "/"
					}
					return root + clean, err
				},
				Out: out(root),
			}
		})},
		{name: "a Sub lists its parent", check: "core/sub-lists", breaks: subFault(func(sub, f *faulty, _ string) {
			sub.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				if clean, _, err := ambit.Resolve("/", dir); err == nil && clean == "/" {
					return f.base.List(ctx, "/", &o)
				}
				return sub.base.List(ctx, dir, &o)
			}
		})},
		{name: "a Sub of a Sub starts at the top", check: "core/sub-of-a-sub", breaks: subFault(func(sub, f *faulty, _ string) { sub.sub = f.baseSub })},
		{name: "a Sub dies with the context of its call", check: "core/sub-outlives-its-call", breaks: func(f *faulty) {
			f.sub = func(subCtx context.Context, dir string) (ambit.FileSystem, error) {
				sub, err := f.baseSub(subCtx, dir)
				if err != nil {
					return nil, err
				}
				g := (&faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}).around(sub)
				g.open = func(ctx context.Context, path string) (ambit.File, error) {
					if err := subCtx.Err(); err != nil {
						return nil, ambit.Wrap(ambit.OpOpen, path, err)
					}
					return g.base.Open(ctx, path)
				}
				return g, nil
			}
		}},
		{name: "the root of a Sub can be removed through it", check: "write/sub-root-stays", breaks: subFault(func(sub, f *faulty, root string) {
			sub.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if clean, _, err := ambit.Resolve("/", path); err == nil && clean == "/" {
					return ambit.Wrap(ambit.OpRemove, path, f.base.Remove(ctx, root, &o))
				}
				return sub.base.Remove(ctx, path, &o)
			}
		})},
		{name: "a Sub writes into its parent", check: "write/sub-writes", breaks: subFault(func(sub, f *faulty, _ string) {
			sub.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return f.base.Write(ctx, path, content, &o)
			}
		})},
		{name: "a Sub tells the made folders in paths of its parent", check: "write/sub-changes", breaks: subFault(func(sub, f *faulty, root string) {
			sub.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := sub.base.Mkdir(ctx, dir, &o)
				for i, c := range created {
					created[i] = root + c
				}
				return created, err
			}
		})},
		{name: "a Sub's refusals name the parent's paths", check: "core/sub-refuses-as-its-own", breaks: subFault(func(sub, _ *faulty, root string) {
			facts(func(e *ambit.Error) {
				if e.Target != "" {
					e.Target = root + e.Target
				}
			})(sub)
		})},
		{name: "Sub of a file is a file system", check: "core/sub-file", breaks: func(f *faulty) {
			f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				sub, err := f.baseSub(ctx, dir)
				if ambit.ReasonOf(err) == ambit.ErrNotADirectory {
					return f.baseSub(ctx, "/")
				}
				return sub, err
			}
		}},
	}
}

// subFault changes each Sub of f, whose folder is root.
func subFault(change func(sub, f *faulty, root string)) func(f *faulty) {
	return func(f *faulty) {
		f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
			base, err := f.baseSub(ctx, dir)
			if err != nil {
				return nil, err
			}
			info, err := f.base.Stat(ctx, dir)
			if err != nil {
				return nil, err
			}
			sub := (&faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}).around(base)
			change(sub, f, strings.TrimSuffix(info.Path, "/"))
			return sub, nil
		}
	}
}
