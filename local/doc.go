// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package local serves folders of this disk: one as a machine of its own
// ([New]), or several under their own paths ([Host]).
//
//	fsys, err := local.New("/srv/project", nil)
//	…
//	defer fsys.Close()
//	data, info, err := ambit.ReadFile(ctx, fsys, "notes/todo.txt")
//
// # Confinement
//
// Every step of a path is taken from the open folder of the step before, and
// every change is made in an open folder: a link or folder that is swapped in
// between a look and an act cannot lead out of the roots. A path without links
// is one call to the kernel, which refuses every other (openat2). Where there
// is a link, the walk reads its text and goes on by itself; the kernel never
// follows one for it.
//
// Links are followed within the roots, or refused ([Options].Links). An
// absolute link, or a relative one that climbs above its root, is followed when
// its text, read as a path of the host, lies in a root, as that was given or as
// it was resolved then; else it is [ambit.ErrOutside].
//
// # Rules
//
// [Options].Deny, ReadOnly and HardLinks refuse what the code above this
// package must not do by accident or by order of a stranger;
// [FileSystem.Guard] asks a function of the caller's. All of them judge where
// a path leads, and not how it is written. What is refused is the same whether
// or not anything is there. [FileSystem.HostPath], [FileSystem.FileURL] and
// [FileSystem.MachinePath] lead from and to the paths of the host, under the
// same rules.
//
// # Writing
//
// New content goes into a temporary file in the folder of its target, which has
// no name where the disk can do that. It gets its mode, owner, access list,
// extended attributes of the user's and time there, is synced, and takes the
// name in one step. Who changes a name holds an advisory lock on its folder, so
// that of several changes with one precondition only one succeeds, in whatever
// process. For that lock the folder must be readable: a change in one that may
// be written and not read is [ambit.ErrPermission].
//
// Where the disk can exchange two names (Swap is foreign), a change with
// IfVersion holds against programs too that know of no lock and replace the
// file by rename: it exchanges, looks at what came out, and puts that back
// unless it is what the caller had seen. Elsewhere (Swap is exact) such a
// program can still slip in between the look and the change. A file that a
// program has open for writing is [ambit.ErrChanged], where the system tells.
//
// A replacement always has a later modification time than what it replaces, if
// need be one or two seconds ahead on a disk that keeps whole seconds; so it
// has another version. What such a disk cannot tell apart: a file that was
// removed and one of the same size made anew within the same second, and
// changes in place within it. An open file ends at the size that it had when it
// was opened; what others add to it later belongs to another version.
//
// [FileSystem.Commit] makes several changes or none. It writes a journal into
// the first root that can be changed; what a killed process has left undone
// there is taken back or finished by the next [New] or [Host] of that root,
// which fails with the reason if it cannot.
//
// # Hidden names
//
// These names, each with 32 hexadecimal digits, belong to the library:
// ".ambit.tmp." for content on its way and folders that are being deleted,
// ".ambit.swap." (the name of the place may follow) for what a conditional
// change has taken out, ".ambit.commit." for what a commit has put aside,
// ".ambit.journal." and ".ambit.done." for its journal. No call lists, opens
// or describes them: asked for by name they are [ambit.ErrNotFound], and to
// make one is [ambit.ErrDenied] by the rule temporary-name. What a process that
// was killed has left is removed by the first write into its folder through a
// new FileSystem; the next listing removes files, and no folders. A file of
// another program that a killed change had taken out goes back to its place.
// [Options].Recovered is told of all that was more than deleted. Folders that
// a killed process had made on the way to its file stay, empty.
//
// # Systems
//
// On Linux and macOS the capabilities are Links followed or refused, Identity,
// Versions, ReadAt, Streams, Confined, Write, List, Remove, Append, Rename,
// Mkdir, Stage, Commit, ReadLink, Sub, Guard, AtomicReplace, AtomicRemove (not
// on overlay file systems), AtomicCommit, Durable (unless NotDurable is
// chosen, or a root lies on tmpfs or ramfs) and KeepsMode. Swap is foreign
// where every root lies on ext4, xfs, btrfs, tmpfs or an overlay of Linux, else
// exact. They speak of the disks that the roots lie on, and
// not of others that are mounted inside a root.
//
// Linux before 5.6, a sandbox that forbids openat2, and the other systems are
// served through [os.Root]: slower, with Swap exact at most, and every folder
// on the way must be readable. What is mounted inside a root is told from the
// rest by its device alone on macOS and before Linux 5.8, and not at all on
// other systems.
//
// On systems that are neither Linux nor macOS there is no lock that all
// processes see: preconditions are [ambit.ErrUnsupported] there, and so are
// Append and Commit; versions, identities, modes, atomic replacement and
// durability are not claimed; nothing is swept; and the number of a file's
// names is not known, so that no write is refused for it. On Windows
// confinement is not claimed, there is no Host, and further texts are
// [ambit.ErrInvalidPath]: backslashes, drives, streams, device names, and names
// that end in a dot or a space.
package local
