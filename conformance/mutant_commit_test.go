// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// committingMutants have a fault in Commit.
func committingMutants() []mutant {
	commits := func(commit func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error)) func(f *faulty) {
		return func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				return commit(f, ctx, changes)
			}
		}
	}
	// one makes one change by itself.
	one := func(f *faulty, ctx context.Context, c ambit.Change) (ambit.WriteResult, error) {
		results, err := f.base.Commit(ctx, []ambit.Change{c})
		if err != nil {
			return ambit.WriteResult{}, err
		}
		return results[0], nil
	}
	return []mutant{
		{name: "Commit leaves half", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			var results []ambit.WriteResult
			for _, c := range changes {
				r, err := one(f, ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		})},
		{name: "Commit takes a repeated path", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			seen := make(map[string]bool)
			var first []ambit.Change
			for _, c := range changes {
				clean, _, _ := ambit.Resolve("/", c.Path)
				if !seen[clean] {
					first = append(first, c)
				}
				seen[clean] = true
			}
			return f.base.Commit(ctx, first)
		})},
		{name: "Commit compares paths as written", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			written, named := make(map[string]bool), make(map[string]bool)
			var distinct []ambit.Change
			for _, c := range changes {
				if written[c.Path] {
					return f.base.Commit(ctx, changes)
				}
				clean, _, err := ambit.Resolve("/", c.Path)
				if err != nil {
					return f.base.Commit(ctx, changes)
				}
				if written[c.Path] = true; !named[clean] {
					distinct = append(distinct, c)
				}
				named[clean] = true
			}
			results, err := f.base.Commit(ctx, distinct)
			return append(results, make([]ambit.WriteResult, len(changes)-len(distinct))...), err
		})},
		{name: "Commit's results come in reverse", check: "write/commit", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			slices.Reverse(results)
			return results, err
		})},
		{name: "Commit takes a change beneath another's file", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			var apart []ambit.Change
			for _, c := range changes {
				if !slices.ContainsFunc(changes, func(other ambit.Change) bool { return strings.HasPrefix(c.Path, other.Path+"/") }) {
					apart = append(apart, c)
				}
			}
			return f.base.Commit(ctx, apart)
		})},
		{name: "Commit takes names that begin alike for one file", check: "write/commit-siblings", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			for i, c := range changes {
				for _, other := range changes[:i] {
					if strings.HasPrefix(c.Path, other.Path) || strings.HasPrefix(other.Path, c.Path) {
						return nil, ambit.Wrap(ambit.OpCommit, c.Path, ambit.ErrInvalid)
					}
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit takes no more than eight changes", check: "write/commit-many", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) > 8 {
				return nil, ambit.Wrap(ambit.OpCommit, changes[8].Path, ambit.ErrInvalid)
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit judges each change against those before it", check: "write/commit-before-the-first", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if err == nil || ambit.ReasonOf(err) == ambit.ErrInvalid {
				return results, err
			}
			results = nil
			for _, c := range changes {
				r, err := one(f, ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		})},
		{name: "Commit moves a file and keeps the old name", check: "write/commit-move", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) != 2 || changes[1].Op != ambit.OpRemove || changes[0].Op != ambit.OpWrite {
				return f.base.Commit(ctx, changes)
			}
			info, err := f.base.Stat(ctx, changes[1].Path)
			if err != nil {
				return f.base.Commit(ctx, changes)
			}
			results, err := f.base.Commit(ctx, changes[:1])
			return append(results, ambit.WriteResult{Info: info}), err
		})},
		{name: "Commit removes without looking at the version", check: "write/commit-remove-if-version-another-version", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i, c := range changes {
				if v, ok := c.If.Version(); ok && v.Valid() && c.Op == ambit.OpRemove {
					if _, err := f.base.Stat(ctx, c.Path); err == nil {
						changes[i].If = ambit.Precondition{}
					}
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit forgives the removal of a missing name", check: "write/commit-remove-missing", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if len(changes) == 1 && changes[0].Op == ambit.OpRemove && ambit.ReasonOf(err) == ambit.ErrNotFound {
				return make([]ambit.WriteResult, 1), nil
			}
			return results, err
		})},
		{name: "Commit does not tell what it removed", check: "write/commit", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			for i := range results {
				if changes[i].Op == ambit.OpRemove {
					results[i] = ambit.WriteResult{}
				}
			}
			return results, err
		})},
		{name: "Commit of nothing is invalid", check: "write/commit-empty", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) == 0 {
				return nil, ambit.Wrap(ambit.OpCommit, "", ambit.ErrInvalid)
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit blames the first change", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if err != nil {
				err = ambit.Wrap(ambit.OpCommit, changes[0].Path, err)
			}
			return results, err
		})},
		{name: "Commit removes a folder", check: "write/commit-remove-folder", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) == 1 && changes[0].Op == ambit.OpRemove {
				if info, err := f.base.Stat(ctx, changes[0].Path); err == nil && info.IsDir() {
					return []ambit.WriteResult{{Info: info}}, f.base.Remove(ctx, info.Path, &ambit.RemoveOptions{Recursive: true})
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit ignores preconditions", check: "write/commit-refused-precondition", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i := range changes {
				changes[i].If = ambit.Precondition{}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "a refused Commit leaves the parents", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			for _, c := range changes {
				if err != nil && c.Parents {
					makeParents(f, c.Path)
				}
			}
			return results, err
		})},
		{name: "Commit takes an unknown Op for a removal", check: "write/commit-invalid", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i, c := range changes {
				if c.Op != ambit.OpWrite {
					changes[i].Op = ambit.OpRemove
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "a stale removal at the end leaves the first write", check: "write/commit-refused-precondition", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if last := len(changes) - 1; ambit.ReasonOf(err) == ambit.ErrChanged && last > 0 {
				if first := changes[0]; first.Op == ambit.OpWrite && first.If.IsZero() && !first.Parents && changes[last].Op == ambit.OpRemove && !changes[last].If.IsZero() {
					f.base.Write(ctx, first.Path, strings.NewReader("half"), nil)
				}
			}
			return results, err
		})},
	}
}
