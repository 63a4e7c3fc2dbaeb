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
//	// frozen keeps everything under /etc as it is.
//	type frozen struct{ ambit.Forward }
//
//	func newFrozen(base ambit.FileSystem) frozen {
//		keep := base.Capabilities()
//		// Closed: what is not overridden below would get round the rule.
//		keep.Append, keep.Rename, keep.Stage, keep.Commit, keep.Mkdir = false, false, false, false, false
//		keep.Sub, keep.Guard = false, false
//		return frozen{ambit.Forward{Base: base, Keep: keep}}
//	}
//
//	func (f frozen) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
//		if err := f.check(path); err != nil {
//			return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
//		}
//		return f.Forward.Write(ctx, path, content, o)
//	}
//	// Remove likewise.
//
// The methods of Forward call Base and never the wrapper's overrides: a rule
// overrides every operation that it keeps, or does not keep it. Callers lose
// nothing by an operation that is not kept, since the functions of this package
// then go through Write and Remove, the overridden ones. A rule about a path's
// text is got round by a link; one that must not be is for [Guarder].
//
// What Keep does not name is not claimed and its method is closed, so an
// operation that the contract gains later cannot get round a wrapper that was
// written before: it is [ErrUnsupported], or [ErrReadOnly] for a change where
// Write is not kept. Preconditions are refused where Swap is not kept, and
// versions and identities are left out of results where they are not. A
// wrapper that overrides Capabilities to claim more, such as an operation that
// it adds itself, says so in its own method.
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

// refusal returns the error of an operation that is not kept, or whose method
// Base lacks, else nil.
func (f Forward) refusal(op, path string, hasMethod bool) error {
	c := f.Capabilities()
	if err := c.Refusal(op, path); err != nil || hasMethod {
		return err
	}
	return Unsupported(op, path)
}

// precondition returns the error of options whose precondition Base would
// judge though Swap is not kept, else nil. What is judged before the options
// is left to Base.
func (f Forward) precondition(ctx context.Context, op, path string, check func(Capabilities) error) error {
	if f.Keep.Swap != SwapNone || ctx.Err() != nil || textFault(path) != nil {
		return nil
	}
	return Wrap(op, path, check(f.Capabilities()))
}

// shown returns i without the facts that are not kept.
func (f Forward) shown(i FileInfo) FileInfo {
	if !f.Keep.Versions {
		i.Version = ""
	}
	if !f.Keep.Identity {
		i.ID = ""
	}
	return i
}

// hides reports whether shown has anything to do.
func (f Forward) hides() bool {
	if f.Keep.Versions && f.Keep.Identity {
		return false
	}
	base := f.Base.Capabilities()
	return base.Versions && !f.Keep.Versions || base.Identity && !f.Keep.Identity
}

func (f Forward) shownResult(r WriteResult) WriteResult {
	r.Info = f.shown(r.Info)
	return r
}

// Open passes the call on.
func (f Forward) Open(ctx context.Context, path string) (File, error) {
	file, err := f.Base.Open(ctx, path)
	if err != nil || file == nil || !f.hides() {
		return file, err
	}
	shown := forwardedFile{File: file, info: f.shown(file.Info())}
	if at, ok := file.(io.ReaderAt); ok {
		return forwardedReaderAt{shown, at}, nil
	}
	return shown, nil
}

type forwardedFile struct {
	File
	info FileInfo
}

func (f forwardedFile) Info() FileInfo { return f.info }

type forwardedReaderAt struct {
	forwardedFile
	io.ReaderAt
}

// Stat passes the call on.
func (f Forward) Stat(ctx context.Context, path string) (FileInfo, error) {
	info, err := f.Base.Stat(ctx, path)
	return f.shown(info), err
}

// List passes the call on if List is kept.
func (f Forward) List(ctx context.Context, dir string, o *ListOptions) (*Listing, error) {
	if err := f.refusal(OpList, dir, true); err != nil {
		return nil, err
	}
	l, err := f.Base.List(ctx, dir, o)
	if err != nil || l == nil || !f.hides() {
		return l, err
	}
	shown := &Listing{Dir: l.Dir, Entries: make([]Entry, len(l.Entries)), Next: l.Next}
	for i, e := range l.Entries {
		shown.Entries[i] = Entry{Name: e.Name, Info: f.shown(e.Info)}
	}
	return shown, nil
}

// Write passes the call on if Write is kept.
func (f Forward) Write(ctx context.Context, path string, content io.Reader, o *WriteOptions) (WriteResult, error) {
	w, ok := f.Base.(WritableFileSystem)
	if err := f.refusal(OpWrite, path, ok); err != nil {
		return WriteResult{}, err
	}
	if err := f.precondition(ctx, OpWrite, path, o.Check); err != nil {
		return WriteResult{}, err
	}
	r, err := w.Write(ctx, path, content, o)
	return f.shownResult(r), err
}

// Remove passes the call on if Remove is kept.
func (f Forward) Remove(ctx context.Context, path string, o *RemoveOptions) error {
	w, ok := f.Base.(WritableFileSystem)
	if err := f.refusal(OpRemove, path, ok); err != nil {
		return err
	}
	if err := f.precondition(ctx, OpRemove, path, o.Check); err != nil {
		return err
	}
	return w.Remove(ctx, path, o)
}

// Append passes the call on if Append is kept.
func (f Forward) Append(ctx context.Context, path string, content io.Reader, o *AppendOptions) (WriteResult, error) {
	a, ok := f.Base.(Appender)
	if err := f.refusal(OpAppend, path, ok); err != nil {
		return WriteResult{}, err
	}
	if err := f.precondition(ctx, OpAppend, path, o.Check); err != nil {
		return WriteResult{}, err
	}
	r, err := a.Append(ctx, path, content, o)
	return f.shownResult(r), err
}

// Rename passes the call on if Rename is kept.
func (f Forward) Rename(ctx context.Context, from, to string, o *RenameOptions) (FileInfo, error) {
	r, ok := f.Base.(Renamer)
	if err := f.refusal(OpRename, from, ok); err != nil {
		return FileInfo{}, err
	}
	if textFault(to) == nil {
		if err := f.precondition(ctx, OpRename, from, o.Check); err != nil {
			return FileInfo{}, err
		}
	}
	info, err := r.Rename(ctx, from, to, o)
	return f.shown(info), err
}

// Mkdir passes the call on if Mkdir is kept.
func (f Forward) Mkdir(ctx context.Context, dir string, o *MkdirOptions) ([]string, error) {
	m, ok := f.Base.(DirMaker)
	if err := f.refusal(OpMkdir, dir, ok); err != nil {
		return nil, err
	}
	return m.Mkdir(ctx, dir, o)
}

// Stage passes the call on if Stage is kept.
func (f Forward) Stage(ctx context.Context, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	s, ok := f.Base.(Stager)
	if err := f.refusal(OpStage, path, ok); err != nil {
		return nil, err
	}
	if err := f.precondition(ctx, OpStage, path, o.Check); err != nil {
		return nil, err
	}
	staged, err := s.Stage(ctx, path, content, o)
	if err != nil || staged == nil || !f.hides() {
		return staged, err
	}
	return forwardedStaged{staged, f}, nil
}

type forwardedStaged struct {
	Staged
	f Forward
}

func (s forwardedStaged) Info() FileInfo { return s.f.shown(s.Staged.Info()) }

func (s forwardedStaged) Publish(ctx context.Context) (WriteResult, error) {
	r, err := s.Staged.Publish(ctx)
	return s.f.shownResult(r), err
}

// Commit passes the call on if Commit is kept.
func (f Forward) Commit(ctx context.Context, changes []Change) ([]WriteResult, error) {
	c, ok := f.Base.(Committer)
	if err := f.refusal(OpCommit, firstPath(changes), ok); err != nil {
		return nil, err
	}
	for _, change := range changes {
		err := f.precondition(ctx, OpCommit, change.Path, func(caps Capabilities) error {
			return checkPrecondition(change.If, caps)
		})
		if err != nil {
			return nil, err
		}
	}
	results, err := c.Commit(ctx, changes)
	for i := range results {
		results[i] = f.shownResult(results[i])
	}
	return results, err
}

// Lstat passes the call on if ReadLink is kept.
func (f Forward) Lstat(ctx context.Context, path string) (FileInfo, error) {
	l, ok := f.Base.(Linker)
	if err := f.refusal(OpLstat, path, ok); err != nil {
		return FileInfo{}, err
	}
	info, err := l.Lstat(ctx, path)
	return f.shown(info), err
}

// ReadLink passes the call on if ReadLink is kept.
func (f Forward) ReadLink(ctx context.Context, path string) (string, error) {
	l, ok := f.Base.(Linker)
	if err := f.refusal(OpReadLink, path, ok); err != nil {
		return "", err
	}
	return l.ReadLink(ctx, path)
}

// Glob passes the call on if Search is kept.
func (f Forward) Glob(ctx context.Context, q GlobQuery, yield func(GlobMatch) bool) (SearchSummary, error) {
	s, ok := f.Base.(Searcher)
	if err := f.refusal(OpGlob, q.Base, ok); err != nil {
		return SearchSummary{}, err
	}
	if !f.hides() {
		return s.Glob(ctx, q, yield)
	}
	return s.Glob(ctx, q, func(m GlobMatch) bool {
		m.Info = f.shown(m.Info)
		return yield(m)
	})
}

// Grep passes the call on if Search is kept.
func (f Forward) Grep(ctx context.Context, q GrepQuery, yield func(GrepMatch) bool) (SearchSummary, error) {
	s, ok := f.Base.(Searcher)
	if err := f.refusal(OpGrep, q.Base, ok); err != nil {
		return SearchSummary{}, err
	}
	return s.Grep(ctx, q, yield)
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
