// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"io"
)

// ReadOnly returns fsys without its write side: every change is [ErrReadOnly],
// and everything else, the optional interfaces for reading included, is passed
// on as it is.
func ReadOnly(fsys FileSystem) FileSystem {
	if r, ok := fsys.(readOnly); ok {
		return r
	}
	return readOnly{Forward{Base: fsys, Keep: fsys.Capabilities().ReadOnly()}}
}

type readOnly struct{ Forward }

func readOnlyError(op, path string) error {
	return &Error{Op: op, Path: path, Reason: ErrReadOnly}
}

func (readOnly) Write(_ context.Context, path string, _ io.Reader, _ *WriteOptions) (WriteResult, error) {
	return WriteResult{}, readOnlyError(OpWrite, path)
}

func (readOnly) Remove(_ context.Context, path string, _ *RemoveOptions) error {
	return readOnlyError(OpRemove, path)
}

func (readOnly) Append(_ context.Context, path string, _ io.Reader, _ *AppendOptions) (WriteResult, error) {
	return WriteResult{}, readOnlyError(OpAppend, path)
}

func (readOnly) Rename(_ context.Context, from, _ string, _ *RenameOptions) (FileInfo, error) {
	return FileInfo{}, readOnlyError(OpRename, from)
}

func (readOnly) Mkdir(_ context.Context, dir string, _ *MkdirOptions) ([]string, error) {
	return nil, readOnlyError(OpMkdir, dir)
}

func (readOnly) Stage(_ context.Context, path string, _ io.Reader, _ *WriteOptions) (Staged, error) {
	return nil, readOnlyError(OpStage, path)
}

func (readOnly) Commit(_ context.Context, changes []Change) ([]WriteResult, error) {
	return nil, readOnlyError(OpCommit, firstPath(changes))
}

func (r readOnly) Sub(ctx context.Context, dir string) (FileSystem, error) {
	s, ok := r.Base.(Subber)
	if err := r.refusal(OpSub, dir, ok); err != nil {
		return nil, err
	}
	sub, err := s.Sub(ctx, dir)
	if err != nil {
		return nil, err
	}
	return ReadOnly(sub), nil
}

func (r readOnly) Guard(ask func(ctx context.Context, op Op, canonical string) error) FileSystem {
	g, ok := r.Base.(Guarder)
	if !ok || !r.Capabilities().Guard || ask == nil {
		return closedFileSystem{}
	}
	return ReadOnly(g.Guard(ask))
}
