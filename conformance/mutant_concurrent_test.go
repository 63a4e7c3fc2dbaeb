// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ambitfs/ambit"
)

// window is how long the mutants that look and then act wait in between, so
// that a run of a moment meets what would take hours by chance.
const window = 2 * time.Millisecond

// concurrentMutants fail when several callers act at once.
func concurrentMutants() []mutant {
	// lookThenAct checks the precondition and writes without it.
	lookThenAct := writes(func(f *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			if o.If.IsZero() || o.Parents {
				return base(ctx, path, content, o)
			}
			data, err := readAll(content)
			if err != nil {
				return base(ctx, path, rest(data, err), o)
			}
			info, err := f.base.Stat(ctx, path)
			switch {
			case err == nil && o.If.Check(&info) == nil, ambit.ReasonOf(err) == ambit.ErrNotFound && o.If.Check(nil) == nil:
				time.Sleep(window)
				o.If = ambit.Precondition{}
			}
			return base(ctx, path, bytes.NewReader(data), o)
		}
	})
	return []mutant{
		{name: "updates with one IfVersion are lost", check: "concurrent/if-version", breaks: lookThenAct},
		{name: "IfAbsent has two winners", check: "concurrent/if-absent", breaks: lookThenAct},
		{name: "the result's version is what a later look finds", check: "concurrent/result-version", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if err == nil {
					time.Sleep(window)
					if info, err := f.base.Stat(ctx, path); err == nil {
						r.Info = info
					}
				}
				return r, err
			}
		})},
		{name: "a replaced file is empty for a moment", check: "concurrent/atomic-replace", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if _, statErr := f.base.Stat(ctx, path); err == nil && statErr == nil && o.If.IsZero() {
					base(ctx, path, strings.NewReader(""), o)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a replaced file is gone for a moment", check: "concurrent/atomic-replace", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if info, statErr := f.base.Stat(ctx, path); err == nil && statErr == nil && info.Kind == ambit.KindRegular && o.If.IsZero() {
					f.base.Remove(ctx, path, nil)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a replaced file is half new for a moment", check: "concurrent/atomic-replace", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				old, _, oldErr := ambit.ReadFile(ctx, f.base, path)
				if err == nil && oldErr == nil && o.If.IsZero() {
					base(ctx, path, bytes.NewReader(append(slices.Clone(data[:len(data)/2]), old[min(len(old), len(data)/2):]...)), o)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a handle reads old and new bytes", check: "concurrent/atomic-replace", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				var at int64
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					now, err := f.base.Open(context.Background(), path)
					if err != nil {
						return file.Read(p)
					}
					defer now.Close()
					n, err := readerAt(now).ReadAt(p[:min(len(p), 512)], at)
					at += int64(n)
					if n > 0 {
						err = nil
					}
					return n, err
				}}
			}
		}},
		{name: "ReadAt mixes two versions", check: "concurrent/read-at", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					now, err := f.base.Open(context.Background(), path)
					if err != nil {
						return readerAt(file).ReadAt(p, off)
					}
					defer now.Close()
					return readerAt(now).ReadAt(p, off)
				}}
			}
		}},
		{name: "Append loses an append at the same time", check: "concurrent/append", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, _, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				time.Sleep(window)
				data, err := readAll(content)
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old), rest(data, err)), nil)
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append mixes the bytes of two appends", check: "concurrent/append", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil || !o.If.IsZero() || len(data) < 2 {
					return base(ctx, path, rest(data, err), o)
				}
				if r, err := base(ctx, path, bytes.NewReader(data[:len(data)/2]), o); err != nil {
					return r, err
				}
				time.Sleep(window)
				return base(ctx, path, bytes.NewReader(data[len(data)/2:]), o)
			}
		})},
		{name: "Append loses an append to a file that is created at the same time", check: "concurrent/append", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) != ambit.ErrNotFound || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				time.Sleep(window)
				r, err := f.base.Write(ctx, path, content, &ambit.WriteOptions{Parents: o.Parents, Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Mkdir has two makers of one folder", check: "concurrent/mkdir", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				_, err := f.base.Stat(ctx, dir)
				missing := ambit.ReasonOf(err) == ambit.ErrNotFound
				time.Sleep(window)
				created, err := f.base.Mkdir(ctx, dir, &o)
				if clean, _, resolveErr := ambit.Resolve("/", dir); missing && len(created) == 0 && resolveErr == nil && o.Parents && err == nil {
					created = []string{clean}
				}
				return created, err
			}
		}},
		{name: "two writes tell that they made one parent", check: "concurrent/parents", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, resolveErr := ambit.Resolve("/", path)
				_, err := f.base.Stat(ctx, ambit.Dir(clean))
				missing := resolveErr == nil && ambit.ReasonOf(err) == ambit.ErrNotFound
				time.Sleep(window)
				r, err := base(ctx, path, content, o)
				if missing && err == nil && len(r.CreatedDirs) == 0 {
					r.CreatedDirs = []string{ambit.Dir(clean)}
				}
				return r, err
			}
		})},
		{name: "two calls of Publish publish", check: "concurrent/publish", breaks: func(f *faulty) {
			f.staged = func(_ string, s ambit.Staged) ambit.Staged {
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						return ambit.WriteResult{Info: s.Info()}, nil
					}
					return r, err
				}}
			}
		}},
		{name: "a lock is held while content is read", check: "write/write-content-uses-the-file-system", hangs: true, breaks: func(f *faulty) {
			var mu sync.Mutex
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Open(ctx, path)
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a lock is held while a reader is slow", check: "concurrent/slow-content", hangs: true, breaks: func(f *faulty) {
			var mu sync.Mutex
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a folder is removed piece by piece", check: "concurrent/atomic-remove", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); o.Recursive && err == nil && info.IsDir() && info.Path != "/" {
					for e, err := range ambit.Walk(ctx, f.base, info.Path) {
						if err == nil && e.Info.Kind == ambit.KindRegular {
							f.base.Remove(ctx, e.Info.Path, nil)
							time.Sleep(window)
						}
					}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "a write that was published is told as canceled", check: "concurrent/cancel", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if ctx.Err() != nil {
					return base(ctx, path, content, o)
				}
				r, err := base(context.WithoutCancel(ctx), path, content, o)
				if err == nil && ctx.Err() != nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ctx.Err())
				}
				return r, err
			}
		})},
		{name: "Verify sees a replacement late", check: "concurrent/verify", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				opened := time.Now()
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if time.Since(opened) < 20*time.Millisecond {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "a page is of the listing as it was", check: "core/list-after-changes", breaks: func(f *faulty) {
			var cache sync.Map
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &ambit.ListOptions{Details: o.Details})
				if err != nil {
					return l, err
				}
				first, _ := cache.LoadOrStore(l.Dir, l)
				return ambit.Page(l.Dir, slices.Clone(first.(*ambit.Listing).Entries), &o), nil
			}
		}},
	}
}
