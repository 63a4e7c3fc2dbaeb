// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package ambit is the file system under a coding agent's tools: Open returns
// a handle or a reason, nothing reaches outside the roots, a change is atomic
// and may be conditional on what it replaces, and the same calls work on this
// disk, in memory and on another machine.
//
// # For callers
//
// A [FileSystem] is read access, [Writable] gives the write side, and
// everything beyond is an optional interface with a bit in [Capabilities].
// The functions of this package ([ReadFile], [WriteFile], [Append], [Rename],
// [Stage], [Commit], [Copy], …) use the optional interface where the file
// system has it and a documented fallback where it has not.
//
//	data, info, err := ambit.ReadFile(ctx, fsys, "notes/todo.txt")
//	…
//	_, err = ambit.WriteFile(ctx, fsys, "notes/todo.txt", data, &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
//	if ambit.ReasonOf(err) == ambit.ErrChanged {
//		// Somebody was faster: nothing was written.
//	}
//
// # Paths
//
// A file system is a machine with a POSIX tree. Paths are slash-separated, a
// leading slash is the machine's root and never the host's, anything else is
// relative to the working directory. "." and empty segments vanish, ".."
// resolves by text, and a path that climbs above "/" is [ErrOutside]. A
// trailing slash asserts a folder. Names are bytes: nothing is folded,
// repaired or normalized. Results carry canonical absolute machine paths.
//
// # Failures
//
// Every failure is an [*Error] with a [Reason] and facts in fields;
// [ReasonOf] classifies any error, and errors.Is works with the reasons and
// with the sentinels of package io/fs.
//
// # For authors
//
// A backend implements FileSystem and what else it can, using [Resolve],
// [Content], [Page], [Precondition.Check] and [Wrap]; a wrapper embeds
// [Forward], or uses [MapPaths] when it shows other paths. Package conformance
// proves either. docs/contract.md has every cell of the contract.
package ambit
