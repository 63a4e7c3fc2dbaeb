// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package conformance proves that a file system keeps the contract of package
// ambit. It knows no backend: it proves ours and a stranger's alike.
//
// A backend that can be built for a test runs everything in one test:
//
//	func TestConformance(t *testing.T) {
//		conformance.Test(t, conformance.Target{
//			Name: "mine",
//			New: func(ctx context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
//				return mine.New(tree.Files()), nil, nil
//			},
//		}, nil)
//	}
//
// [Run] does the same without package testing, for a command. A file system
// that exists already, such as a server's, is checked in place by
// [CheckFileSystem] and, in a scratch folder, by [CheckWritableFileSystem]. A
// wrapper is compared with what it wraps by [CheckForwarding].
//
// # Levels
//
// A check belongs to a level: core is about reading, listing, paths and reasons,
// write about changes, hostile about links, escapes, odd names and disturbances,
// concurrent about many callers. Text runs the packages lineaddr, edit, patch and
// search over the file system: what they promise of lines, edits, patches and
// searches holds only if the file system keeps its part, and where it searches by
// itself, only if that is right. Remote has no checks in this version.
//
// # Outcomes
//
// A check cannot be skipped. Where a file system does not claim what a check
// requires, the check's refusal form runs instead: the operation must be
// refused and change nothing, the fact must not be there. What is claimed and
// refused fails. A check that needs [Target].Disturb, [Target].Peer or
// [Target].Beside reads "not run" without it, and the grade of the report is
// partial. A waived check runs too, and a waiver that is not needed fails the
// run.
//
// Hostile checks have a positive control: the same probe on a file system that
// confines nothing must succeed, or the check proves nothing and fails.
package conformance
