// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// capabilityMutants claim too much or too little.
func capabilityMutants() []mutant {
	claims := func(change func(c *ambit.Capabilities)) func(f *faulty) {
		return func(f *faulty) {
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities {
				change(&c)
				return c
			}
		}
	}
	no := func(op string) error { return ambit.Unsupported(op, "") }
	refuses := func(op string, change func(f *faulty, refuse func(path string) error)) func(f *faulty) {
		return func(f *faulty) {
			change(f, func(path string) error { return ambit.Wrap(op, path, no(op)) })
		}
	}
	return []mutant{
		{name: "Append is claimed and refused", check: "write/append-file", breaks: refuses(ambit.OpAppend, func(f *faulty, refuse func(string) error) {
			f.append = func(_ context.Context, path string, _ io.Reader, _ ambit.AppendOptions) (ambit.WriteResult, error) {
				return ambit.WriteResult{}, refuse(path)
			}
		})},
		{name: "Stage is claimed and refused", check: "write/stage-publish", breaks: refuses(ambit.OpStage, func(f *faulty, refuse func(string) error) {
			f.stage = func(_ context.Context, path string, _ io.Reader, _ ambit.WriteOptions) (ambit.Staged, error) {
				return nil, refuse(path)
			}
		})},
		{name: "Rename is claimed and refused", check: "write/rename-file", breaks: refuses(ambit.OpRename, func(f *faulty, refuse func(string) error) {
			f.rename = func(_ context.Context, from, _ string, _ ambit.RenameOptions) (ambit.FileInfo, error) {
				return ambit.FileInfo{}, refuse(from)
			}
		})},
		{name: "Mkdir is claimed and refused", check: "write/mkdir-missing", breaks: refuses(ambit.OpMkdir, func(f *faulty, refuse func(string) error) {
			f.mkdir = func(_ context.Context, dir string, _ ambit.MkdirOptions) ([]string, error) { return nil, refuse(dir) }
		})},
		{name: "Commit is claimed and refused", check: "write/commit", breaks: refuses(ambit.OpCommit, func(f *faulty, refuse func(string) error) {
			f.commit = func(_ context.Context, _ []ambit.Change) ([]ambit.WriteResult, error) { return nil, refuse("") }
		})},
		{name: "Sub is claimed and refused", check: "core/sub-reads", breaks: refuses(ambit.OpSub, func(f *faulty, refuse func(string) error) {
			f.sub = func(_ context.Context, dir string) (ambit.FileSystem, error) { return nil, refuse(dir) }
		})},
		{name: "Write is claimed without its methods", check: "write/write-file", wraps: func(base ambit.FileSystem) ambit.FileSystem { return bare{base} }},
		{name: "ReadAt is claimed and a File has none", check: "core/read-at", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				return struct{ ambit.File }{file}, nil
			}
		}},
		{name: "ReadLink is claimed where there is none", check: "core/readlink-file", unclaimed: true, breaks: claims(func(c *ambit.Capabilities) { c.ReadLink = true })},
		{name: "Search is claimed where there is none", check: "core/glob-context-done", unclaimed: true, breaks: claims(func(c *ambit.Capabilities) { c.Search = true })},
		{name: "Versions are claimed and empty", check: "core/version-form", breaks: versionsAs(func(ambit.FileInfo) ambit.Version { return "" })},
		{name: "Identity is claimed and empty", check: "core/identity", on: onDisk, breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo { info.ID = ""; return info }
		}},
		{name: "KeepsMode is claimed and no mode is shown", check: "write/write-mode", on: onDisk, breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo { info.Mode = 0; return info }
		}},

		{name: "Append is kept and not claimed", check: "write/append-file", breaks: claims(func(c *ambit.Capabilities) { c.Append = false })},
		{name: "Stage is kept and not claimed", check: "write/stage-publish", breaks: claims(func(c *ambit.Capabilities) { c.Stage = false })},
		{name: "Rename is kept and not claimed", check: "write/rename-file", breaks: claims(func(c *ambit.Capabilities) { c.Rename = false })},
		{name: "Mkdir is kept and not claimed", check: "write/mkdir-missing", breaks: claims(func(c *ambit.Capabilities) { c.Mkdir = false })},
		{name: "Commit is kept and not claimed", check: "write/commit", breaks: claims(func(c *ambit.Capabilities) { c.Commit = false })},
		{name: "Remove is kept and not claimed", check: "write/remove-file", breaks: claims(func(c *ambit.Capabilities) { c.Remove = false })},
		{name: "Write is kept and not claimed", check: "write/write-file", breaks: claims(func(c *ambit.Capabilities) { c.Write = false })},
		{name: "List is kept and not claimed", check: "core/list-sorted", breaks: claims(func(c *ambit.Capabilities) { c.List = false })},
		{name: "Sub is kept and not claimed", check: "core/sub-reads", breaks: claims(func(c *ambit.Capabilities) { c.Sub = false })},
		{name: "Guard is kept and not claimed", check: "hostile/guard-asked", breaks: claims(func(c *ambit.Capabilities) { c.Guard = false })},
		{name: "Versions are filled and not claimed", check: "core/version-form", breaks: claims(func(c *ambit.Capabilities) { c.Versions = false })},
		{name: "Identity is filled and not claimed", check: "core/identity", on: onDisk, breaks: claims(func(c *ambit.Capabilities) { c.Identity = false })},
		{name: "ReadLink is kept and not claimed", check: "core/readlink-file", on: onDisk, breaks: claims(func(c *ambit.Capabilities) { c.ReadLink = false })},
		{name: "preconditions hold and Swap is none", check: "write/write-if-absent-file", breaks: claims(func(c *ambit.Capabilities) { c.Swap = ambit.SwapNone })},

		{name: "capabilities change", check: "core/capabilities-constant", breaks: func(f *faulty) {
			var asked atomic.Int64
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities {
				c.Streams = asked.Add(1)%2 == 0
				return c
			}
		}},
		{name: "nil options panic", check: "write/write-nil-options", panics: true, wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return &needsOptions{fault(base, "", func(*faulty) {}).(*faulty)}
		}},
	}
}

// bare has the methods of a FileSystem and claims what its base claims.
type bare struct{ ambit.FileSystem }

// needsOptions looks into its options.
type needsOptions struct{ *faulty }

func (n *needsOptions) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	plain := *o
	return n.faulty.Write(ctx, path, content, &plain)
}
