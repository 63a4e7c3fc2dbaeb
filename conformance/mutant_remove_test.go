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

// removingMutants have a fault in Remove.
func removingMutants() []mutant {
	removes := func(change func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (done bool, err error)) func(f *faulty) {
		return func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if done, err := change(f, ctx, path, &o); done || err != nil {
					return ambit.Wrap(ambit.OpRemove, path, err)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}
	}
	isFolder := func(f *faulty, ctx context.Context, path string) bool {
		info, err := f.base.Stat(ctx, path)
		return err == nil && info.IsDir() && info.Path != "/"
	}
	return []mutant{
		{name: "Remove removes a full folder without Recursive", check: "write/remove-full-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if err := f.base.Remove(ctx, path, o); ambit.ReasonOf(err) == ambit.ErrNotEmpty {
				o.Recursive = true
			} else {
				return true, err
			}
			return false, nil
		})},
		{name: "Remove removes an empty folder without Recursive", check: "write/remove-empty-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if l, err := f.base.List(ctx, path, nil); err == nil && len(l.Entries) == 0 && isFolder(f, ctx, path) && o.If.IsZero() {
				o.Recursive = true
			}
			return false, nil
		})},
		{name: "Remove of a full folder is not-a-file", check: "write/remove-full-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if isFolder(f, ctx, path) && !o.Recursive {
				return false, &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory}
			}
			return false, nil
		})},
		{name: "Remove of the root empties it", check: "write/remove-recursive-root", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if clean, _, err := ambit.Resolve("/", path); err != nil || clean != "/" || !o.Recursive || !o.If.IsZero() {
				return false, nil
			}
			l, err := f.base.List(ctx, "/", nil)
			if err != nil {
				return false, err
			}
			for _, e := range l.Entries {
				f.base.Remove(ctx, e.Info.Path, &ambit.RemoveOptions{Recursive: true})
			}
			return true, nil
		})},
		{name: "MissingOK is ignored", check: "write/remove-missing-ok", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			o.MissingOK = false
			return false, nil
		})},
		{name: "a missing name is always fine to Remove", check: "write/remove-missing", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			o.MissingOK = true
			return false, nil
		})},
		{name: "MissingOK forgives a file used as a folder", check: "write/remove-missing-ok-file-used-as-folder", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if o.MissingOK && ambit.ReasonOf(err) == ambit.ErrNotADirectory {
					return nil
				}
				return err
			}
		}},
		{name: "MissingOK forgives a lost IfVersion", check: "write/remove-if-version-missing-ok-missing", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if o.MissingOK && ambit.ReasonOf(err) == ambit.ErrChanged {
					return nil
				}
				return err
			}
		}},
		{name: "Remove does nothing", check: "write/remove-file", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			_, err := f.base.Stat(ctx, path)
			return err == nil, nil
		})},
		{name: "Remove ignores IfVersion", check: "write/remove-if-version-another-version", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if v, ok := o.If.Version(); ok && v.Valid() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Remove takes IfAbsent", check: "write/remove-if-absent-file", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if o.If.Absent() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Recursive takes a precondition", check: "write/remove-recursive-if-version-file", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if o.Recursive {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Recursive removes what has the name as a prefix", check: "write/remove-siblings", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				clean, _, resolveErr := ambit.Resolve("/", path)
				if err != nil || !o.Recursive || resolveErr != nil {
					return err
				}
				if l, err := f.base.List(ctx, ambit.Dir(clean), nil); err == nil {
					for _, e := range l.Entries {
						if strings.HasPrefix(e.Info.Path, clean) {
							f.base.Remove(ctx, e.Info.Path, &o)
						}
					}
				}
				return nil
			}
		}},
		{name: "a removed name is not free again", check: "write/remove-and-write-again", breaks: func(f *faulty) {
			var removed sync.Map
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				info, _ := f.base.Stat(ctx, path)
				err := f.base.Remove(ctx, path, &o)
				if err == nil {
					removed.Store(info.Path, true)
				}
				return err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if clean, _, err := ambit.Resolve("/", path); err == nil {
					if _, gone := removed.Load(clean); gone {
						return ambit.WriteResult{}, &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrExists}
					}
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Remove of a folder on a version is changed", check: "write/remove-if-version-folder", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if v, ok := o.If.Version(); ok && v.Valid() && !o.Recursive && isFolder(f, ctx, path) {
					return ambit.Wrap(ambit.OpRemove, path, ambit.ErrChanged)
				}
				return err
			}
		}},
		{name: "Recursive refuses a folder with a slash behind it", check: "write/remove-recursive", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if withoutSlash(path) != path && isFolder(f, ctx, path) {
					return ambit.Wrap(ambit.OpRemove, path, ambit.ErrNotADirectory)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Recursive leaves the folder itself", check: "write/remove-recursive", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				folder := isFolder(f, ctx, path)
				err := f.base.Remove(ctx, path, &o)
				if err == nil && folder {
					f.base.Mkdir(ctx, path, nil)
				}
				return err
			}
		}},
		{name: "Remove takes the parent along when it is empty", check: "write/remove-file", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				clean, _, resolveErr := ambit.Resolve("/", path)
				if err == nil && resolveErr == nil {
					if l, err := f.base.List(ctx, ambit.Dir(clean), nil); err == nil && len(l.Entries) == 0 {
						f.base.Remove(ctx, l.Dir, &ambit.RemoveOptions{Recursive: true})
					}
				}
				return err
			}
		}},
		{name: "Recursive leaves what is behind the first 200 names", check: "write/remove-crowd", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			l, err := f.base.List(ctx, path, &ambit.ListOptions{Limit: 201})
			if err != nil || len(l.Entries) < 201 || !o.Recursive {
				return false, nil
			}
			for _, e := range l.Entries[:200] {
				f.base.Remove(ctx, e.Info.Path, o)
			}
			return true, nil
		})},
	}
}
