// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package route puts several file systems together as one machine: each is
// mounted at a folder, and the longest mount point that a path lies beneath
// decides who answers.
//
//	machine, err := route.New(project, map[string]ambit.FileSystem{
//		"/scratch": memory.New(nil, nil),
//		"/vendor":  ambit.ReadOnly(modules),
//	})
//
// # What a mount point is
//
// A mount point is a folder, and hides what the file system beneath it has
// under that name. The folders above it are there too, also where the file
// system beneath them has none, so that there is a way to it: writing into
// such a folder makes it in that file system. Where that has something else
// under the name of such a folder, a file or a link, it is hidden, and nothing
// can be made in the folder ([ambit.ErrDenied], rule "mount"). Listings show
// mount points and the ways to them.
//
// A mount point can neither be removed nor renamed: it is a root
// ([ambit.ErrInvalid]). Nor can a folder above one (ErrDenied, rule "mount").
//
// Each file system resolves its own links, and a link that leads to what a
// mount hides, or out of its file system, is [ambit.ErrOutside]: no link leads
// from one mount into another. Where the file system is a [ambit.Guarder] that
// holds against links which are swapped during the call. Elsewhere the path is
// looked at just before, and Confined is not claimed.
//
// Rename and Commit across mounts are [ambit.ErrCrossDevice]. Relative paths
// start at "/".
//
// # Searches
//
// Each member searches what it holds beneath the base, where its data is, and
// the answers come together in the order of all paths: limits, contexts and Keep
// hold for the whole. Mount points and the ways to them are names of the machine
// like any other; names that begin with a dot are left out there too.
//
// For ignore files a mount is a root of its own: none above its mount point has a
// say about it or what is in it, only those that the mounted file system has.
//
// A member whose root cannot be searched stands in the summary, unless it has the
// base. What is hidden is neither found nor counted; only where a member searches
// by itself and is no Guarder it may count what is hidden among what it has left
// out. In a mount the number of names left out for their dots is that of the
// patterns that can match there.
//
// # Capabilities
//
// They are the floor of all: a bit that one member lacks is not claimed, and
// its operation is refused on every path. A member without Write is a
// read-only mount: it lowers nothing that speaks of change, and changes there
// are [ambit.ErrReadOnly]. Links is LinksUnknown and ID is "" where the members
// differ, so that a caller cannot tell what a link does without asking its
// member. Identity is claimed if all members claim it and can be told apart:
// all but one have an ID. Search is claimed if each member searches by itself or
// can be listed, which is enough.
package route
