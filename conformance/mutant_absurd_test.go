// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// absurdMutants fail for arguments that nobody would give.
func absurdMutants() []mutant {
	return []mutant{
		{name: "the largest Limit overflows", check: "hostile/absurd-pages", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && o.Limit+1 < 0 {
					return &ambit.Listing{Dir: l.Dir}, nil
				}
				return l, err
			}
		}},
		{name: "ReadAt overflows far behind the end", check: "hostile/absurd-reads", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					if off > 0 && off+int64(len(p)) < 0 {
						return 0, ambit.Wrap(ambit.OpRead, path, ambit.ErrInvalid)
					}
					return readerAt(file).ReadAt(p, off)
				}}
			}
		}},
		{name: "a reader that lies about its count is at its end", check: "hostile/absurd-contents", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if isNil(content) {
					return base(ctx, path, content, o)
				}
				return base(ctx, path, readerFunc(func(p []byte) (int, error) {
					n, err := content.Read(p)
					if n < 0 || n > len(p) {
						return 0, io.EOF
					}
					return n, err
				}), o)
			}
		})},
		{name: "Append takes a mode that no file could have", check: "hostile/absurd-options", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				o.Mode = o.Mode.Perm()
				return base(ctx, path, content, o)
			}
		})},
		{name: "a path over 1024 bytes is io", check: "hostile/deep-path", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if info, err := f.base.Stat(ctx, path); err != nil || len(path) <= 1024 {
					return info, err
				}
				return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, ambit.ErrIO)
			}
		}},
		{name: "the names of folders are trimmed", check: "hostile/odd-folders", wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return ambit.MapPaths(base, ambit.PathMap{
				In: func(path string) (string, error) {
					names := strings.Split(path, "/")
					for i, name := range names[:len(names)-1] {
						names[i] = strings.TrimSpace(name)
					}
					return strings.Join(names, "/"), nil
				},
				Out: func(canonical string) (string, bool) { return canonical, true },
			})
		}},
		{name: "a backslash climbs", check: "hostile/names-like-escapes", on: onDisk, wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return ambit.MapPaths(base, ambit.PathMap{
				In:  func(path string) (string, error) { return strings.ReplaceAll(path, `\`, "/"), nil },
				Out: func(canonical string) (string, bool) { return canonical, true },
			})
		}},
		{name: "Write decodes a percent", check: "hostile/write-like-escapes", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return base(ctx, strings.ReplaceAll(path, "%2e", "."), content, o)
			}
		})},
		{name: "a listing is the file system's own", check: "hostile/results-aliased", breaks: func(f *faulty) {
			var cache sync.Map
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return l, err
				}
				shared, _ := cache.LoadOrStore(fmt.Sprint(dir, o, len(l.Entries)), l)
				return shared.(*ambit.Listing), nil
			}
		}},
		{name: "a second File reads out of the first one's buffer", check: "hostile/content-aliased", breaks: func(f *faulty) {
			var buffers sync.Map
			f.file = func(_ string, file ambit.File) ambit.File {
				info := file.Info()
				shared, _ := buffers.Load(info.Version)
				first := true
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					if shared != nil && first {
						copy(p[:n], shared.([]byte))
					} else if first && int64(n) == info.Size {
						buffers.Store(info.Version, p[:n])
					}
					first = false
					return n, err
				}}
			}
		}},
	}
}
