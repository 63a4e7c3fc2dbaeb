// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package local serves a folder of this disk as a machine of its own.
//
//	fsys, err := local.New("/srv/project", nil)
//	…
//	defer fsys.Close()
//	data, info, err := ambit.ReadFile(ctx, fsys, "notes/todo.txt")
//
// # Confinement
//
// Every step of a path is taken from the open folder of the step before, and
// every change is made in an open folder ([os.Root] underneath): a link or
// folder that is swapped in between a look and an act cannot lead out of the
// root. Links are followed within it. An absolute link, or a relative one that
// climbs above the root, is followed when its text, read as a path of the
// host, lies in the root, as it was given to [New] or as it was resolved
// there; else it is [ambit.ErrOutside].
//
// A folder must be readable to be passed through, and not only searchable.
//
// # Writing
//
// New content goes into a temporary file in the folder of its target, gets its
// mode, owner and time there, is synced, and takes the name in one step. Who
// changes a name holds an advisory lock on its folder, so that of several
// changes with one precondition only one succeeds, in whatever process. A
// program that does not use this library can still slip in between check and
// publication.
//
// A replacement always has a later modification time than what it replaces, if
// need be one or two seconds ahead on a disk that keeps whole seconds; so it
// has another version. What such a disk cannot tell apart: a file that was
// removed and one of the same size made anew within the same second, and
// changes in place within it.
//
// Temporary names are “.ambit.tmp.” and 32 hexadecimal digits. No call lists,
// opens or describes them: asked for by name they are [ambit.ErrNotFound], and
// to make one is [ambit.ErrDenied] by the rule temporary-name. What a process
// that was killed has left is removed by the first write into its folder through
// a new FileSystem; the next listing removes files, and no folders.
//
// # Systems
//
// On Linux and macOS the capabilities are Links followed, Swap exact,
// Identity, Versions, ReadAt, Streams, Confined, Write, List, Remove, Rename,
// Mkdir, Stage, ReadLink, Sub, AtomicReplace, AtomicRemove (not on overlay file
// systems), Durable and KeepsMode. Append and Commit work through the
// fallbacks of package ambit; Guard and Search are not there. On other systems
// there is no lock that all processes see, so preconditions are
// [ambit.ErrUnsupported], and versions, identities, modes and durability are
// not claimed; nor is confinement on Windows. Windows
// refuses further texts as [ambit.ErrInvalidPath]: backslashes, drives,
// streams, device names, and names that end in a dot or a space.
package local
