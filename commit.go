// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"fmt"
	"io"
	"io/fs"
)

// Change is one change of a [Commit]: a file that is written, or one that is
// removed. A move is the two together: the bytes written under the new name
// with IfAbsent, and the old name removed with IfVersion.
type Change struct {
	Op      Op           // OpWrite or OpRemove
	Path    string       // OpWrite follows a link, OpRemove acts on the link itself
	Content io.Reader    // OpWrite: the whole new content
	If      Precondition // as for Write and Remove
	Parents bool         // OpWrite: make missing parents
	Mode    fs.FileMode  // OpWrite: as WriteOptions.Mode
}

// CheckChanges is for authors of backends: it returns the fault of the first
// change that is wrong by itself, as [WriteOptions.Check] does, with the path
// of that change: an Op that is neither OpWrite nor OpRemove, fields that do
// not go with the Op, or a precondition that cannot be kept. That no two
// changes name one file is left to the backend, which knows the canonical
// paths: such a repetition is [ErrInvalid].
func CheckChanges(changes []Change, caps Capabilities) error {
	for _, c := range changes {
		var err error
		switch c.Op {
		case OpWrite:
			err = (&WriteOptions{If: c.If, Mode: c.Mode}).Check(caps)
			if err == nil && isNil(c.Content) {
				err = &Error{Reason: ErrInvalid, Detail: "the content is a nil reader"}
			}
		case OpRemove:
			err = (&RemoveOptions{If: c.If}).Check(caps)
			if err == nil && (c.Content != nil || c.Parents || c.Mode != 0) {
				err = &Error{Reason: ErrInvalid, Detail: "Content, Parents and Mode do not go with the removal of a file"}
			}
		default:
			err = &Error{Reason: ErrInvalid, Detail: fmt.Sprintf("the change's Op is %q, not %q or %q", string(c.Op), OpWrite, OpRemove)}
		}
		if err != nil {
			return Wrap(OpCommit, c.Path, err)
		}
	}
	return nil
}

func firstPath(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	return changes[0].Path
}

// repeated is the error of two changes that name one file.
func repeated(path, canonical string) error {
	return &Error{
		Op: OpCommit, Path: path, Reason: ErrInvalid, Target: canonical,
		Detail: "two changes name this file",
	}
}

// Commit makes several changes, all or none, and returns one result for each,
// in order; for a removal it tells what was removed. No two changes may name
// one file, by whatever path; folders are neither written nor removed
// ([ErrNotAFile]). An error has the path of the change that failed, and
// nothing is changed, but for [ErrPartial]: then the results of those changes
// that stand are filled.
//
// It asks fsys itself where [Capabilities].Commit is claimed. Elsewhere it
// stages all writes, then publishes one after the other, each only over what
// it saw before; when one fails it puts the files back that were published
// before, unless someone else has changed them meanwhile, which is
// [ErrPartial]. That way others can see a part of the changes, a crash may
// leave a part of them, folders that were made for a change that was undone
// stay, and a link cannot be removed (ErrUnsupported): no call could put it
// back. The files that it replaces are held in memory, the larger ones in
// temporary files of this process. It needs Write, Versions and at least
// [SwapChecked], and Remove where a change or its undoing removes; without,
// it is ErrUnsupported.
func Commit(ctx context.Context, fsys FileSystem, changes []Change) ([]WriteResult, error) {
	caps := fsys.Capabilities()
	if c, ok := fsys.(Committer); ok && caps.Commit {
		return c.Commit(ctx, changes)
	}
	w, err := Writable(fsys)
	if err != nil {
		return nil, Wrap(OpCommit, firstPath(changes), err)
	}
	if !caps.Versions || caps.Swap == SwapNone || !caps.Remove {
		return nil, Unsupported(OpCommit, firstPath(changes))
	}
	if err := CheckChanges(changes, caps); err != nil {
		return nil, err
	}
	plan := make([]*plannedChange, 0, len(changes))
	defer func() {
		for _, p := range plan {
			p.close()
		}
	}()
	seen := make(map[string]bool, len(changes))
	for _, c := range changes {
		p, err := planChange(ctx, w, c)
		if err != nil {
			return nil, Wrap(OpCommit, c.Path, err)
		}
		plan = append(plan, p)
		if seen[p.path] {
			return nil, repeated(c.Path, p.path)
		}
		seen[p.path] = true
	}
	results := make([]WriteResult, len(plan))
	for i, p := range plan {
		results[i], err = p.publish(ctx, w)
		if err == nil || ReasonOf(err) == ErrNotDurable {
			continue
		}
		// The caller's context may be what failed; undoing must not fail with it.
		undoing := context.WithoutCancel(ctx)
		failed := Wrap(OpCommit, p.change.Path, err)
		stands := ReasonOf(err) == ErrOutcomeUnknown || ReasonOf(err) == ErrPartial
		for j := i - 1; j >= 0; j-- {
			if plan[j].undo(undoing, w, results[j]) != nil {
				stands = true
				continue
			}
			results[j] = WriteResult{}
		}
		if stands {
			e := failed.(*Error)
			e.Detail = fmt.Sprintf("%s; changes before it could not be undone", e.Reason)
			e.Reason = ErrPartial
			return results, e
		}
		return nil, failed
	}
	return results, nil
}

// plannedChange is one change with what it needs to be made and undone.
type plannedChange struct {
	change Change
	path   string    // canonical
	before *FileInfo // nil: nothing was there
	old    *spool    // the bytes of before
	staged Staged    // of a write
}

func planChange(ctx context.Context, w WritableFileSystem, c Change) (*plannedChange, error) {
	if c.Op == OpRemove {
		info, err := lstat(ctx, w, c.Path)
		if err == nil && info.Kind == KindSymlink {
			err = &Error{Reason: ErrUnsupported, Kind: KindSymlink, Detail: "the removal of a link could not be undone"}
		}
		if err != nil && ReasonOf(err) != ErrNotFound {
			return nil, err
		}
	}
	p := &plannedChange{change: c}
	f, err := w.Open(ctx, c.Path)
	switch {
	case err == nil:
		info := f.Info()
		p.before, p.path = &info, info.Path
		p.old, err = readSpool(f)
		if err == nil {
			err = f.Verify(ctx)
		}
		f.Close()
	case ReasonOf(err) == ErrNotFound && (c.Op == OpWrite || !c.If.IsZero()):
		err = nil
	}
	if err == nil {
		err = c.If.Check(p.before)
	}
	if err == nil && c.Op == OpWrite {
		p.staged, err = Stage(ctx, w, c.Path, c.Content, &WriteOptions{If: seenNow(p.before), Parents: c.Parents, Mode: c.Mode})
		if err == nil {
			p.path = p.staged.Info().Path
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// seenNow is the precondition that what was seen is still there.
func seenNow(info *FileInfo) Precondition {
	if info == nil {
		return IfAbsent()
	}
	return IfVersion(info.Version)
}

func (p *plannedChange) publish(ctx context.Context, w WritableFileSystem) (WriteResult, error) {
	if p.staged != nil {
		r, err := p.staged.Publish(ctx)
		if ReasonOf(err) == ErrExists && !p.change.If.Absent() {
			// Something came to be where nothing was seen; the caller did not
			// ask for a creation.
			err = &Error{Reason: ErrChanged, Detail: "a file came to be meanwhile"}
		}
		return r, err
	}
	err := w.Remove(ctx, p.change.Path, &RemoveOptions{If: seenNow(p.before)})
	return WriteResult{Info: *p.before}, err
}

func (p *plannedChange) undo(ctx context.Context, w WritableFileSystem, r WriteResult) error {
	o := &WriteOptions{If: IfAbsent()}
	switch {
	case p.staged == nil:
	case p.before == nil:
		return w.Remove(ctx, p.path, &RemoveOptions{If: IfVersion(r.Info.Version)})
	default:
		o.If = IfVersion(r.Info.Version)
	}
	if w.Capabilities().KeepsMode {
		o.Mode = p.before.Mode
	}
	_, err := w.Write(ctx, p.path, p.old.reader(), o)
	return err
}

func (p *plannedChange) close() {
	if p.staged != nil {
		p.staged.Discard(context.Background())
	}
	p.old.close()
}
