// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"io"
)

// FileSystem is read access to the files of one machine. Implementations are
// safe for concurrent use.
//
// A path is slash-separated and names a place in the machine's own tree; see
// [Resolve] for its syntax. Every method resolves the path, applies the file
// system's rules, follows links within its roots and then acts, as one
// decision: there is no separate check that could be out of date. Every error
// is an [*Error] that carries the path as the caller wrote it.
//
// Interface and method set are frozen; the contract grows by new optional
// interfaces with new bits in [Capabilities].
type FileSystem interface {
	// Capabilities tells what the file system can do and how well. It is
	// constant for the life of the file system and does no I/O.
	Capabilities() Capabilities

	// Open opens the regular file at path, following links within the roots.
	// It returns a File or an error, never both, never neither. It does not
	// block on a FIFO or device: anything but a regular file is ErrNotAFile.
	// ctx governs the File until it is closed.
	Open(ctx context.Context, path string) (File, error)

	// Stat describes the file or folder at path by the same decision as Open,
	// without reading content. Anything but a file or folder is ErrNotAFile.
	Stat(ctx context.Context, path string) (FileInfo, error)

	// List returns one level of the folder dir, sorted by name in byte order.
	// Links are listed as links. An entry that cannot be examined has
	// KindUnknown and never fails the listing. Denied names and the library's
	// own temporary names do not appear; dotfiles do.
	List(ctx context.Context, dir string, o *ListOptions) (*Listing, error)
}

// WritableFileSystem adds change, under the same roots, rules and links. Use
// [Writable] to get one: a type may have these methods and not the capability.
//
// Every method that changes something has one publishing step. Before it, an
// error or a cancelled context leaves every name and byte as it was, parents
// made on the way included. After it the context is not looked at and the call
// succeeds. Three reasons mean "published, or perhaps": ErrNotDurable (the
// result is filled), ErrOutcomeUnknown and ErrPartial.
type WritableFileSystem interface {
	FileSystem

	// Write creates or replaces the whole regular file at path with content,
	// read to its end. A link is followed within the roots and kept; a
	// dangling one is ErrDenied. An error of content is [ErrIO] with that
	// error in the chain, unless it carries a reason of its own that does not
	// mean "published, or perhaps".
	Write(ctx context.Context, path string, content io.Reader, o *WriteOptions) (WriteResult, error)

	// Remove removes the name at path: a file, a link itself wherever it
	// points, or with Recursive a folder and all beneath it.
	Remove(ctx context.Context, path string, o *RemoveOptions) error
}

// Appender is the optional interface behind [Capabilities].Append.
type Appender interface {
	// Append adds the bytes of content at the end of the file at path, which
	// is created when it is missing. Concurrent appends all survive and never
	// mix. A crash may leave a prefix of content, the one exception to
	// all-or-nothing.
	Append(ctx context.Context, path string, content io.Reader, o *AppendOptions) (WriteResult, error)
}

// Renamer is the optional interface behind [Capabilities].Rename.
type Renamer interface {
	// Rename moves the file, folder or link at from to the name to and
	// returns what is there now. A folder is never replaced.
	Rename(ctx context.Context, from, to string, o *RenameOptions) (FileInfo, error)
}

// DirMaker is the optional interface behind [Capabilities].Mkdir.
type DirMaker interface {
	// Mkdir makes the folder dir and returns the canonical paths of all
	// folders that this call made, outermost first.
	Mkdir(ctx context.Context, dir string, o *MkdirOptions) (created []string, err error)
}

// Stager is the optional interface behind [Capabilities].Stage.
type Stager interface {
	// Stage prepares a Write: it reads content to its end and checks all that
	// Write checks, and changes nothing that anyone can see until
	// Staged.Publish.
	Stage(ctx context.Context, path string, content io.Reader, o *WriteOptions) (Staged, error)
}

// Committer is the optional interface behind [Capabilities].Commit.
type Committer interface {
	// Commit makes all changes or none, with one result for each change, in
	// order. See [Commit] for the rules that changes keep.
	Commit(ctx context.Context, changes []Change) ([]WriteResult, error)
}

// Linker is the optional interface behind [Capabilities].ReadLink.
type Linker interface {
	// Lstat describes what is at path itself, a link as a link. With a
	// trailing slash it is Stat.
	Lstat(ctx context.Context, path string) (FileInfo, error)

	// ReadLink returns the text of the link at path. The text of a link that
	// leads out of the roots is not told: ErrOutside. An absolute text is
	// returned as a machine path. What is not a link is ErrInvalid.
	ReadLink(ctx context.Context, path string) (string, error)
}

// Searcher is the optional interface behind [Capabilities].Search: a search
// that runs where the data is. Callers use package search, which serves any file
// system, with and without it.
//
// Both methods call yield on the caller's goroutine, in the order of paths
// (segment by segment, in byte order; lines by number), and stop when it returns
// false. What package search says of what is searched holds for both.
type Searcher interface {
	Glob(ctx context.Context, q GlobQuery, yield func(GlobMatch) bool) (SearchSummary, error)
	Grep(ctx context.Context, q GrepQuery, yield func(GrepMatch) bool) (SearchSummary, error)
}

// Subber is the optional interface behind [Capabilities].Sub.
type Subber interface {
	// Sub returns the folder dir as a file system of its own, anchored anew:
	// dir is its "/", and nothing above dir can be reached through it.
	Sub(ctx context.Context, dir string) (FileSystem, error)
}

// Guarder is the optional interface behind [Capabilities].Guard.
type Guarder interface {
	// Guard returns the same file system with ask consulted by every
	// operation after its path is resolved and before it acts, on the same
	// handle: what ask was told is what is acted on. An error of ask refuses
	// the operation with its reason, ErrDenied when it carries none, and says
	// nothing about what is there; see [Refused]. A nil ask is a rule that
	// cannot be kept: the result refuses every call.
	//
	// ask is called with the canonical path of what the operation acts on:
	// the target of followed links, the name itself where a link is not
	// followed, the path a missing file would have. Rename asks for both
	// ends; Remove and Rename of a folder ask for the folder and for
	// everything beneath it; a method that makes parents asks OpMkdir for
	// each; Stage asks OpWrite, and Commit OpWrite or OpRemove. List asks OpList
	// for the folder and OpStat for each entry, and leaves out the entries
	// that are refused. ask is safe for concurrent use and does not call the
	// file system.
	Guard(ask func(ctx context.Context, op Op, canonical string) error) FileSystem
}

// Op names an operation, in an [Error] and for [Guarder]. The constants are
// untyped, so that they serve as a plain string too.
type Op string

// The operations of the contract.
const (
	OpOpen     = "open"
	OpStat     = "stat"
	OpList     = "list"
	OpRead     = "read"
	OpVerify   = "verify"
	OpWrite    = "write"
	OpRemove   = "remove"
	OpAppend   = "append"
	OpRename   = "rename"
	OpMkdir    = "mkdir"
	OpStage    = "stage"
	OpPublish  = "publish"
	OpDiscard  = "discard"
	OpCommit   = "commit"
	OpLstat    = "lstat"
	OpReadLink = "readlink"
	OpGlob     = "glob"
	OpGrep     = "grep"
	OpSub      = "sub"
	OpCopy     = "copy"
	OpWalk     = "walk"
	OpRun      = "run"

	opResolve = "resolve"
)
