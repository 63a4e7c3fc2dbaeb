// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// mkdirMutants have a fault in Mkdir.
func mkdirMutants() []mutant {
	return []mutant{
		{name: "Mkdir of a folder that exists is success", check: "write/mkdir-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if info, err := f.base.Stat(ctx, dir); err == nil && info.IsDir() {
					return nil, nil
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir with Parents of a file is success", check: "write/mkdir-parents-file", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if ambit.ReasonOf(err) == ambit.ErrExists && o.Parents {
					return nil, nil
				}
				return created, err
			}
		}},
		{name: "Mkdir with Parents of a folder that exists is exists", check: "write/mkdir-parents-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if info, err := f.base.Stat(ctx, dir); err == nil && info.IsDir() {
					return nil, &ambit.Error{Op: ambit.OpMkdir, Path: dir, Reason: ambit.ErrExists, Kind: ambit.KindDirectory, Target: info.Path}
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir makes parents without being asked", check: "write/mkdir-missing-parent", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if _, err := f.base.Stat(ctx, dir); ambit.ReasonOf(err) == ambit.ErrNotFound {
					o.Parents = true
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir tells the folder alone", check: "write/mkdir-parents", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				return created[max(len(created)-1, 0):], err
			}
		}},
		{name: "Mkdir tells innermost first", check: "write/mkdir-parents", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				slices.Reverse(created)
				return created, err
			}
		}},
		{name: "Mkdir tells the path as written", check: "write/mkdir-missing", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if len(created) > 0 {
					created[len(created)-1] = dir
				}
				return created, err
			}
		}},
		{name: "Mkdir with Parents tells a folder that was there", check: "write/mkdir-parents-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				info, statErr := f.base.Stat(ctx, dir)
				created, err := f.base.Mkdir(ctx, dir, &o)
				if err == nil && statErr == nil {
					created = []string{info.Path}
				}
				return created, err
			}
		}},
		{name: "a made folder takes no files", check: "write/mkdir-is-a-folder", breaks: func(f *faulty) {
			var made sync.Map
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				for _, c := range created {
					made.Store(c, true)
				}
				return created, err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, err := ambit.Resolve("/", path)
				if _, ok := made.Load(ambit.Dir(clean)); ok && err == nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrPermission)
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Mkdir refuses a trailing slash", check: "write/mkdir-with-slash", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if len(dir) > 1 && strings.HasSuffix(dir, "/") {
					return nil, ambit.Wrap(ambit.OpMkdir, dir, ambit.ErrNotADirectory)
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir of more than three folders names the last one", check: "write/mkdir-parents", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if len(created) > 3 {
					created = created[len(created)-1:]
				}
				return created, err
			}
		}},
	}
}
