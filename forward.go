// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"io"
)

// Forward is the base of every wrapper: a file system that passes on to Base
// what Keep names, and refuses everything else. A wrapper embeds it and
// overrides the methods that it changes:
//
//	type counting struct {
//		ambit.Forward
//		opens atomic.Int64
//	}
//
//	func (c *counting) Open(ctx context.Context, path string) (ambit.File, error) {
//		c.opens.Add(1)
//		return c.Forward.Open(ctx, path)
//	}
//
// What Keep does not name is not claimed and its method is closed, so an
// operation that the contract gains later cannot get round a wrapper that was
// written before. A wrapper that overrides Capabilities to claim more, such as
// an operation that it adds itself, says so in its own method.
//
// Sub and Guard hand out another file system, which would be free of the
// wrapper, so Forward never passes them on: a wrapper that can put itself
// around the result overrides them, and only such a wrapper names their bits
// in Keep.
type Forward struct {
	Base FileSystem
	Keep Capabilities
}

var (
	_ WritableFileSystem = Forward{}
	_ Appender           = Forward{}
	_ Renamer            = Forward{}
	_ DirMaker           = Forward{}
	_ Stager             = Forward{}
	_ Committer          = Forward{}
	_ Linker             = Forward{}
	_ Searcher           = Forward{}
	_ Subber             = Forward{}
	_ Guarder            = Forward{}
)

// Capabilities returns what both Base and Keep promise.
func (f Forward) Capabilities() Capabilities {
	base := f.Base.Capabilities()
	c := base.Intersect(f.Keep)
	// Base's own facts hold for what is forwarded, whatever Keep says of them.
	c.ID, c.Links, c.MaxFileSize = base.ID, base.Links, base.MaxFileSize
	return c
}

// Open passes the call on.
func (f Forward) Open(ctx context.Context, path string) (File, error) {
	return f.Base.Open(ctx, path)
}

// Stat passes the call on.
func (f Forward) Stat(ctx context.Context, path string) (FileInfo, error) {
	return f.Base.Stat(ctx, path)
}

// List passes the call on if List is kept.
func (f Forward) List(ctx context.Context, dir string, o *ListOptions) (*Listing, error) {
	if !f.Keep.List || !f.Base.Capabilities().List {
		return nil, Unsupported(OpList, dir)
	}
	return f.Base.List(ctx, dir, o)
}

// Write passes the call on if Write is kept.
func (f Forward) Write(ctx context.Context, path string, content io.Reader, o *WriteOptions) (WriteResult, error) {
	if w, ok := f.Base.(WritableFileSystem); ok && f.Keep.Write && f.Base.Capabilities().Write {
		return w.Write(ctx, path, content, o)
	}
	return WriteResult{}, Unsupported(OpWrite, path)
}

// Remove passes the call on if Remove is kept.
func (f Forward) Remove(ctx context.Context, path string, o *RemoveOptions) error {
	if w, ok := f.Base.(WritableFileSystem); ok && f.Keep.Remove && f.Base.Capabilities().Remove {
		return w.Remove(ctx, path, o)
	}
	return Unsupported(OpRemove, path)
}

// Append passes the call on if Append is kept.
func (f Forward) Append(ctx context.Context, path string, content io.Reader, o *AppendOptions) (WriteResult, error) {
	if a, ok := f.Base.(Appender); ok && f.Keep.Append && f.Base.Capabilities().Append {
		return a.Append(ctx, path, content, o)
	}
	return WriteResult{}, Unsupported(OpAppend, path)
}

// Rename passes the call on if Rename is kept.
func (f Forward) Rename(ctx context.Context, from, to string, o *RenameOptions) (FileInfo, error) {
	if r, ok := f.Base.(Renamer); ok && f.Keep.Rename && f.Base.Capabilities().Rename {
		return r.Rename(ctx, from, to, o)
	}
	return FileInfo{}, Unsupported(OpRename, from)
}

// Mkdir passes the call on if Mkdir is kept.
func (f Forward) Mkdir(ctx context.Context, dir string, o *MkdirOptions) ([]string, error) {
	if m, ok := f.Base.(DirMaker); ok && f.Keep.Mkdir && f.Base.Capabilities().Mkdir {
		return m.Mkdir(ctx, dir, o)
	}
	return nil, Unsupported(OpMkdir, dir)
}

// Stage passes the call on if Stage is kept.
func (f Forward) Stage(ctx context.Context, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	if s, ok := f.Base.(Stager); ok && f.Keep.Stage && f.Base.Capabilities().Stage {
		return s.Stage(ctx, path, content, o)
	}
	return nil, Unsupported(OpStage, path)
}

// Commit passes the call on if Commit is kept.
func (f Forward) Commit(ctx context.Context, changes []Change) ([]WriteResult, error) {
	if c, ok := f.Base.(Committer); ok && f.Keep.Commit && f.Base.Capabilities().Commit {
		return c.Commit(ctx, changes)
	}
	return nil, Unsupported(OpCommit, firstPath(changes))
}

// Lstat passes the call on if ReadLink is kept.
func (f Forward) Lstat(ctx context.Context, path string) (FileInfo, error) {
	if l, ok := f.Base.(Linker); ok && f.Keep.ReadLink && f.Base.Capabilities().ReadLink {
		return l.Lstat(ctx, path)
	}
	return FileInfo{}, Unsupported(OpLstat, path)
}

// ReadLink passes the call on if ReadLink is kept.
func (f Forward) ReadLink(ctx context.Context, path string) (string, error) {
	if l, ok := f.Base.(Linker); ok && f.Keep.ReadLink && f.Base.Capabilities().ReadLink {
		return l.ReadLink(ctx, path)
	}
	return "", Unsupported(OpReadLink, path)
}

// Glob passes the call on if Search is kept.
func (f Forward) Glob(ctx context.Context, q GlobQuery, yield func(GlobMatch) bool) (SearchSummary, error) {
	if s, ok := f.Base.(Searcher); ok && f.Keep.Search && f.Base.Capabilities().Search {
		return s.Glob(ctx, q, yield)
	}
	return SearchSummary{}, Unsupported(OpGlob, q.Base)
}

// Grep passes the call on if Search is kept.
func (f Forward) Grep(ctx context.Context, q GrepQuery, yield func(GrepMatch) bool) (SearchSummary, error) {
	if s, ok := f.Base.(Searcher); ok && f.Keep.Search && f.Base.Capabilities().Search {
		return s.Grep(ctx, q, yield)
	}
	return SearchSummary{}, Unsupported(OpGrep, q.Base)
}

// Sub is never passed on; see [Forward].
func (f Forward) Sub(_ context.Context, dir string) (FileSystem, error) {
	return nil, Unsupported(OpSub, dir)
}

// Guard is never passed on; see [Forward]. It returns a file system that
// refuses every call, so that a rule which cannot be kept opens nothing.
func (f Forward) Guard(func(ctx context.Context, op Op, canonical string) error) FileSystem {
	return closedFileSystem{}
}

// Unsupported is for authors of backends and wrappers: it returns the error of
// an operation that is not supported.
func Unsupported(op, path string) error {
	return &Error{Op: op, Path: path, Reason: ErrUnsupported}
}

// closedFileSystem refuses everything as unsupported.
type closedFileSystem struct{}

func (closedFileSystem) Capabilities() Capabilities { return Capabilities{} }

func (closedFileSystem) Open(_ context.Context, path string) (File, error) {
	return nil, Unsupported(OpOpen, path)
}

func (closedFileSystem) Stat(_ context.Context, path string) (FileInfo, error) {
	return FileInfo{}, Unsupported(OpStat, path)
}

func (closedFileSystem) List(_ context.Context, dir string, _ *ListOptions) (*Listing, error) {
	return nil, Unsupported(OpList, dir)
}
