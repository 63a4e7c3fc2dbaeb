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
// A mount point is a folder, whatever the file system beneath it has under
// that name: that is hidden. The folders above a mount point are there too,
// also where the file system beneath them has none, so that there is a way to
// it; writing into such a folder makes it in the file system beneath. Listings
// show mount points and the way to them. A mount point cannot be removed or
// renamed: it is a root ([ambit.ErrInvalid]); nor can a folder above one
// ([ambit.ErrDenied], rule "mount").
//
// Each file system resolves its own links, and a link that leads to what a
// mount hides, or out of its file system, is [ambit.ErrOutside]: no link leads
// from one mount into another. Rename and Commit across mounts are
// [ambit.ErrCrossDevice]. Relative paths start at "/".
//
// # Capabilities
//
// They are the floor of all: a bit that one member lacks is not claimed, and
// its operation is refused on every path. Links is LinksUnknown where the
// members differ, and ID is "". Searching is not claimed.
package route
