// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"strings"

	"github.com/ambitfs/ambit"
)

// renamingMutants have a fault in Rename.
func renamingMutants() []mutant {
	renames := func(change func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (done bool, err error)) func(f *faulty) {
		return func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				innerFrom, innerTo := from, to
				if done, err := change(f, ctx, &innerFrom, &innerTo, &o); done || err != nil {
					info, _ := f.base.Stat(ctx, innerTo)
					return info, ambit.Wrap(ambit.OpRename, from, err)
				}
				return f.base.Rename(ctx, innerFrom, innerTo, &o)
			}
		}
	}
	// after changes something when a rename has succeeded.
	after := func(change func(f *faulty, ctx context.Context, before ambit.FileInfo, from string, info *ambit.FileInfo)) func(f *faulty) {
		return func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				before, _ := f.base.Stat(ctx, from)
				info, err := f.base.Rename(ctx, from, to, &o)
				if err == nil && before.Path != info.Path {
					change(f, ctx, before, from, &info)
				}
				return info, err
			}
		}
	}
	return []mutant{
		{name: "Rename replaces without Replace", check: "write/rename-onto-file", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Replace = true
			return false, nil
		})},
		{name: "Replace is ignored", check: "write/rename-replace", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Replace = false
			return false, nil
		})},
		{name: "Replace replaces an empty folder", check: "write/rename-replace-folder", breaks: renames(func(f *faulty, ctx context.Context, _, to *string, o *ambit.RenameOptions) (bool, error) {
			if l, err := f.base.List(ctx, *to, nil); err == nil && len(l.Entries) == 0 && o.Replace {
				return false, f.base.Remove(ctx, *to, &ambit.RemoveOptions{Recursive: true})
			}
			return false, nil
		})},
		{name: "Replace replaces a file by a folder", check: "write/rename-folder-replace-file", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.IsDir() && target.Kind == ambit.KindRegular && o.Replace {
				return false, f.base.Remove(ctx, *to, nil)
			}
			return false, nil
		})},
		{name: "Rename onto a folder moves into it", check: "write/rename-onto-folder", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			target, err := f.base.Stat(ctx, *to)
			source, sourceErr := f.base.Stat(ctx, *from)
			if err == nil && sourceErr == nil && target.IsDir() && !ambit.Contains(source.Path, target.Path) {
				*to = ambit.Join(target.Path, ambit.Base(source.Path))
			}
			return false, nil
		})},
		{name: "Rename into itself loses the folder", check: "write/rename-into-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			clean, _, resolveErr := ambit.Resolve("/", *to)
			if err == nil && resolveErr == nil && source.IsDir() && clean != source.Path && ambit.Contains(source.Path, clean) && source.Path != "/" {
				return true, f.base.Remove(ctx, source.Path, &ambit.RemoveOptions{Recursive: true})
			}
			return false, nil
		})},
		{name: "Rename into itself is exists", check: "write/rename-into-itself", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				source, statErr := f.base.Stat(ctx, from)
				if ambit.ReasonOf(err) == ambit.ErrInvalid && statErr == nil && source.Path != "/" && strings.HasPrefix(to, strings.TrimPrefix(from, "/")) {
					err = &ambit.Error{Op: ambit.OpRename, Path: to, Reason: ambit.ErrExists, Kind: ambit.KindDirectory}
				}
				return info, err
			}
		}},
		{name: "a sibling with the name as a prefix counts as inside", check: "write/rename-siblings", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			clean, _, resolveErr := ambit.Resolve("/", *to)
			if err == nil && resolveErr == nil && source.IsDir() && clean != source.Path && strings.HasPrefix(clean, source.Path) {
				return false, &ambit.Error{Reason: ambit.ErrInvalid}
			}
			return false, nil
		})},
		{name: "Rename onto itself deletes", check: "write/rename-onto-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.Path == target.Path && source.Kind == ambit.KindRegular {
				f.base.Remove(ctx, *from, nil)
				return true, nil
			}
			return false, nil
		})},
		{name: "Rename onto itself is exists", check: "write/rename-onto-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.Path == target.Path && source.Path != "/" {
				return false, &ambit.Error{Reason: ambit.ErrExists, Kind: source.Kind}
			}
			return false, nil
		})},
		{name: "Rename leaves the source", check: "write/rename-file", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				old, before, readErr := ambit.ReadFile(ctx, f.base, from)
				info, err := f.base.Rename(ctx, from, to, &o)
				if err == nil && readErr == nil && before.Path != info.Path {
					f.base.Write(ctx, from, bytes.NewReader(old), nil)
				}
				return info, err
			}
		}},
		{name: "Rename leaves the children behind", check: "write/rename-folder", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, info.Path, nil)
			if err != nil || !before.IsDir() {
				return
			}
			f.base.Mkdir(ctx, before.Path, nil)
			for _, e := range l.Entries {
				f.base.Rename(ctx, e.Info.Path, ambit.Join(before.Path, e.Name), nil)
			}
		})},
		{name: "Rename moves the first level alone", check: "write/rename-folder", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, info.Path, nil)
			if err != nil || !before.IsDir() {
				return
			}
			for _, e := range l.Entries {
				if e.Info.IsDir() {
					f.base.Remove(ctx, e.Info.Path, &ambit.RemoveOptions{Recursive: true})
				}
			}
		})},
		{name: "Rename returns what was at the old name", check: "write/rename-file", breaks: after(func(_ *faulty, _ context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			*info = before
		})},
		{name: "Rename makes missing parents without being asked", check: "write/rename-to-missing-parent", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Parents = true
			return false, nil
		})},
		{name: "Rename ignores Parents", check: "write/rename-parents", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Parents = false
			return false, nil
		})},
		{name: "Rename ignores IfVersion", check: "write/rename-if-version-another-version", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			if v, ok := o.If.Version(); ok && v.Valid() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Rename takes IfAbsent", check: "write/rename-if-absent-file", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			if o.If.Absent() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Rename blames the source for what is in the way", check: "write/rename-onto-file", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if ambit.ReasonOf(err) == ambit.ErrExists {
					err = ambit.Wrap(ambit.OpRename, from, err)
				}
				return info, err
			}
		}},
		{name: "Rename judges the target first", check: "write/order-first-path-first", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (bool, error) {
			if target, err := f.base.Stat(ctx, *to); err == nil && !o.Replace && target.Path != "/" {
				if source, err := f.base.Stat(ctx, *from); err != nil || source.Path != target.Path {
					return false, &ambit.Error{Reason: ambit.ErrExists, Kind: target.Kind}
				}
			}
			return false, nil
		})},
		{name: "a refused Rename leaves the parents", check: "write/rename-parents-refused", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if err != nil && o.Parents {
					makeParents(f, to)
				}
				return info, err
			}
		}},
		{name: "Rename of a folder on a version is changed", check: "write/rename-if-version-folder", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				source, statErr := f.base.Stat(ctx, from)
				if v, ok := o.If.Version(); ok && v.Valid() && statErr == nil && source.IsDir() && source.Path != "/" {
					err = ambit.Wrap(ambit.OpRename, from, ambit.ErrChanged)
				}
				return info, err
			}
		}},
		{name: "Rename of a folder refuses a slash behind the new name", check: "write/rename-folder", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				source, err := f.base.Stat(ctx, from)
				if err == nil && source.IsDir() && withoutSlash(to) != to {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, ambit.ErrNotADirectory)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename of the root is permission", check: "write/rename-root", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if clean, _, resolveErr := ambit.Resolve("/", from); resolveErr == nil && clean == "/" && ambit.ReasonOf(err) == ambit.ErrInvalid {
					err = ambit.Wrap(ambit.OpRename, from, ambit.ErrPermission)
				}
				return info, err
			}
		}},
		{name: "Rename of a folder moves what begins with its name", check: "write/rename-siblings", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, ambit.Dir(before.Path), nil)
			if err != nil || !before.IsDir() {
				return
			}
			for _, e := range l.Entries {
				if strings.HasPrefix(e.Info.Path, before.Path) && e.Info.Path != info.Path {
					f.base.Rename(ctx, e.Info.Path, info.Path+e.Info.Path[len(before.Path):], nil)
				}
			}
		})},
		{name: "Rename judges the text of its target first", check: "write/order-first-path-first", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if _, _, err := ambit.Resolve("/", to); err != nil {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, err)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename loses the mode", check: "write/rename-keeps-mode", on: onDisk, breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			if before.Kind == ambit.KindRegular {
				data, _, _ := ambit.ReadFile(ctx, f.base, info.Path)
				f.base.Write(ctx, info.Path, bytes.NewReader(data), &ambit.WriteOptions{Mode: 0o640})
			}
		})},
		{name: "Replace loses the target when the version is stale", check: "write/rename-if-version-of-before", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if ambit.ReasonOf(err) == ambit.ErrChanged && o.Replace {
					f.base.Remove(ctx, to, nil)
				}
				return info, err
			}
		}},
		{name: "a Rename on a stale version leaves the parents", check: "write/rename-if-version-of-before", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if ambit.ReasonOf(err) == ambit.ErrChanged && o.Parents {
					makeParents(f, to)
				}
				return info, err
			}
		}},
		{name: "Rename onto itself loses a large file", check: "write/rename-large", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				before, _ := f.base.Stat(ctx, from)
				info, err := f.base.Rename(ctx, from, to, &o)
				if err == nil && before.Path == info.Path && info.Size > 1<<20 {
					f.base.Remove(ctx, info.Path, nil)
				}
				return info, err
			}
		}},
	}
}
