// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

type appendFunc = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error)

func appends(change func(f *faulty, base appendFunc) appendFunc) func(f *faulty) {
	return func(f *faulty) {
		f.append = change(f, func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
			return f.base.Append(ctx, path, content, &o)
		})
	}
}

// appendMutants have a fault in Append.
func appendMutants() []mutant {
	return []mutant{
		{name: "Append creates nothing", check: "write/append-missing", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Open(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpAppend, path, err)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append replaces", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &ambit.WriteOptions{If: o.If, Parents: o.Parents, Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append puts the bytes in front", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() || content == nil {
					return base(ctx, path, content, o)
				}
				r, err := f.base.Write(ctx, path, io.MultiReader(content, bytes.NewReader(old)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append starts a new line", check: "write/append-file", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if content != nil {
					content = io.MultiReader(content, strings.NewReader("\n"))
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append ignores IfVersion", check: "write/append-if-version", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if v, ok := o.If.Version(); ok && v.Valid() {
					o.If = ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append ignores IfAbsent", check: "write/append-if-absent-file", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if o.If.Absent() {
					o.If = ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append makes missing parents without being asked", check: "write/append-missing-parent", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				o.Parents = true
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append leaves what a failing reader gave", check: "write/append-failing-reader", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if isNil(content) {
					return base(ctx, path, content, o)
				}
				var got bytes.Buffer
				r, err := base(ctx, path, io.TeeReader(content, &got), o)
				if ambit.ReasonOf(err) == ambit.ErrIO {
					f.base.Append(context.Background(), path, &got, nil)
				}
				return r, err
			}
		})},
		{name: "Append extends a neighbour too", check: "write/append-siblings", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if l, listErr := f.base.List(ctx, ambit.Dir(r.Info.Path), nil); err == nil && listErr == nil {
					for _, e := range l.Entries {
						if e.Info.Path != r.Info.Path && e.Info.Kind == ambit.KindRegular {
							base(ctx, e.Info.Path, strings.NewReader("appended"), ambit.AppendOptions{})
							break
						}
					}
				}
				return r, err
			}
		})},
		{name: "Append of nothing to a missing name makes nothing", check: "write/append-of-nothing", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				_, statErr := f.base.Stat(ctx, path)
				data, err := readAll(content)
				if err == nil && len(data) == 0 && ambit.ReasonOf(statErr) == ambit.ErrNotFound {
					return ambit.WriteResult{Info: ambit.FileInfo{Path: ambit.Join("/", path), Kind: ambit.KindRegular}, Created: true}, nil
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "Append goes to where the file ended first", check: "write/append-many", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			var ends sync.Map
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				end, again := ends.LoadOrStore(info.Path, len(old))
				if !again || end.(int) > len(old) {
					return base(ctx, path, content, o)
				}
				data, err := readAll(content)
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old[:end.(int)]), rest(data, err)), nil)
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append keeps the version", check: "write/version-after-append", breaks: func(f *faulty) {
			var first sync.Map
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if v, ok := first.Load(info.Path); ok && info.Version != "" {
					info.Version = v.(ambit.Version)
				}
				return info
			}
			f.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Stat(ctx, path); err == nil {
					first.LoadOrStore(info.Path, info.Version)
				}
				return f.base.Append(ctx, path, content, &o)
			}
		}},
		{name: "Append's result tells the size of what was added", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, _ := f.base.Stat(ctx, path)
				r, err := base(ctx, path, content, o)
				r.Info.Size -= max(old.Size, 0)
				return r, err
			}
		})},
		{name: "Append sets the mode of a file that was there", check: "write/append-mode-of-a-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || o.Mode == 0 || o.Mode != o.Mode.Perm() || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old), content), &ambit.WriteOptions{If: ambit.IfVersion(info.Version), Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
	}
}
