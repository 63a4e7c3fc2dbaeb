// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package aferofs joins ambit and package afero, in both directions.
//
// # An afero.Fs under the contract
//
// [New] puts the contract's meaning over any [afero.Fs]: missing parents, files used as folders, full folders, a position
// for each open file, readers that keep what they opened, whole replacements, preconditions, reasons. None of them is an
// afero.Fs's own: MemMapFs makes a file beneath a file, removes a full folder and lets two handles share one buffer.
// Nothing of that can be seen through here.
//
// All users of one FileSystem, and of those that its Sub and Guard return, are one: what a call has judged is what it acts
// on. Somebody who changes the afero.Fs behind its back is seen by the size, the modification time and, on a disk or in a
// MemMapFs, the identity of a file, whenever a file is looked at again. A change in place that keeps the size within one
// tick of the clock is not seen.
//
// # What is claimed
//
// Everything but ReadLink, Search, Confined, Durable and AtomicCommit. Swap is [ambit.SwapExact] where Options.Exclusive says that nobody
// else changes the afero.Fs, else [ambit.SwapChecked]. Links is [ambit.LinksNone] over memory, [ambit.LinksRefused] where
// afero can look at links themselves (a disk), and [ambit.LinksUnknown] elsewhere. KeepsMode is claimed over memory and, but
// for Windows, over disks; AtomicRemove over memory. A file system that refuses every change, as afero.ReadOnlyFs does, has
// no write side.
//
// Versions hold as long as the FileSystem: they are remembered by it, one small record for each file whose version was told.
//
// # What lies in the storage
//
// Content waits under names of the form .ambit-tmp- and 26 letters and digits, in the folder that it is meant for. No call
// shows such a name or takes one. A process that dies leaves them there; they can be removed when nothing runs.
//
// # What is not safe
//
// Over [afero.OsFs] a path is walked name by name: a program that puts a link in the place of a folder in that moment
// leads the call astray. Use package local for folders of a disk; nothing here claims Confined.
//
// # The contract as an afero.Fs
//
// [Afero] is the way back, for code that wants an [afero.Fs].
package aferofs
