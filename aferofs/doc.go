// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package aferofs joins ambit and package afero, in both directions.
//
// # An afero.Fs under the contract
//
// [New] puts the contract's meaning over any [afero.Fs]: missing parents, files
// used as folders, full folders, a position for each open file, readers that
// keep what they opened, whole replacements, preconditions, reasons. None of
// them is an afero.Fs's own: a MemMapFs makes a file beneath a file, removes a
// full folder and lets a reader see a half-written file. Nothing of that shows
// through here.
//
// All users of one FileSystem, and of those that its Sub and Guard return, are
// in step: what a call has judged is what it acts on. Somebody who changes the
// afero.Fs behind its back is seen, whenever a file is looked at again, by its
// size and modification time and, in a MemMapFs and on a disk other than
// Windows', by its identity. Not seen is a change in place that keeps the size
// within one tick of the clock; and what Options.Exclusive said would not
// happen.
//
// # What is claimed
//
//   - Everything but ReadLink, Search, Identity, Confined, Durable and
//     AtomicCommit.
//   - Swap is [ambit.SwapExact] where Options.Exclusive says that nobody else
//     changes the afero.Fs, else [ambit.SwapChecked].
//   - Links is [ambit.LinksNone] over memory, [ambit.LinksRefused] where afero
//     can look at links themselves, as on a disk, and [ambit.LinksUnknown]
//     elsewhere; Sub and Guard are not claimed there.
//   - KeepsMode holds over memory and, but for Windows, over disks;
//     AtomicRemove over memory.
//   - A file system that refuses every change, as afero.ReadOnlyFs does, has
//     no write side.
//
// Versions hold as long as the FileSystem: it remembers them, one small record
// for each file whose version was told.
//
// # What lies in the storage
//
// Content waits under names of the form .ambit-tmp- and 26 letters and digits,
// in the folder that it is meant for. No call shows such a name or takes one. A
// process that dies leaves them behind; they can be removed when nothing runs.
//
// # What is not safe
//
// Over [afero.OsFs] a path is walked name by name: a program that puts a link
// in the place of a folder at the right moment leads the call astray. Use
// package local for folders of a disk. A file with several hard links is
// replaced under one name, and keeps its bytes under the others.
//
// In an [afero.CopyOnWriteFs] nothing that the base holds can be removed or
// renamed: ErrReadOnly. For an [io/fs.FS] take ambit.FromIOFS, not afero's.
//
// # The contract as an afero.Fs
//
// [Afero] is the way back, for code that wants an [afero.Fs].
package aferofs
