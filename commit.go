// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Change is one change of a [Commit]: a file that is written, or one that is
// removed. A move is the two together: the bytes written under the new name
// with IfAbsent, and the old name removed with IfVersion.
type Change struct {
	Op      Op           // OpWrite or OpRemove
	Path    string       // OpWrite follows a link, OpRemove acts on the link itself
	Content io.Reader    // OpWrite: the whole new content, read once: make the Change anew for another try
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
			if err == nil {
				err = CheckContent(c.Content)
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

// Commit makes several changes, all or none, and returns one result for each,
// in order; for a removal it tells what was removed. No two changes may name
// one file, by whatever path (by two hard links, where Identity tells them);
// folders are neither written nor removed
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
// temporary files of this process. It needs Write, Remove, Versions and at
// least [SwapChecked]; without, it is ErrUnsupported.
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
	written := make([]string, len(changes))
	for i, c := range changes {
		written[i] = c.Path
	}
	if err := judgeCall(ctx, fsys, OpCommit, written...); err != nil {
		return nil, err
	}
	if err := CheckChanges(changes, caps); err != nil {
		return nil, err
	}
	if err := overlapping(changes, written); err != nil {
		return nil, err
	}
	plan := make([]*plannedChange, 0, len(changes))
	defer func() {
		for _, p := range plan {
			p.close()
		}
	}()
	for _, c := range changes {
		if err := judgeChange(ctx, w, c); err != nil {
			return nil, Wrap(OpCommit, c.Path, err)
		}
	}
	// All content is read before anything is remembered of what is there: it
	// may be slow, and may come from the very files that are changed.
	contents := make([]*spool, len(changes))
	defer func() {
		for _, s := range contents {
			s.close()
		}
	}()
	for i, c := range changes {
		if c.Op != OpWrite {
			continue
		}
		if contents[i], err = readSpool(Content(ctx, c.Content, caps.MaxFileSize)); err != nil {
			return nil, Wrap(OpCommit, c.Path, err)
		}
	}
	canonical := make([]string, 0, len(changes))
	ids := make(map[string]bool, len(changes))
	for i, c := range changes {
		if c.Op == OpWrite {
			c.Content = contents[i].reader()
		}
		p, err := planChange(ctx, w, c)
		if err != nil {
			return nil, Wrap(OpCommit, c.Path, err)
		}
		plan = append(plan, p)
		canonical = append(canonical, p.path)
		if p.before == nil || p.before.ID == "" {
			continue
		}
		if ids[p.before.ID] {
			return nil, overlap(c.Path, "two changes name this file, by two hard links")
		}
		ids[p.before.ID] = true
	}
	if err := overlapping(changes, canonical); err != nil {
		return nil, err
	}
	results := make([]WriteResult, len(plan))
	var notDurable error
	for i, p := range plan {
		results[i], err = p.publish(ctx, w)
		switch ReasonOf(err) {
		case "":
		case ErrNotDurable:
			if notDurable == nil {
				notDurable = Wrap(OpCommit, p.change.Path, err)
			}
		default:
			return undoAll(ctx, w, plan[:i], p, results, err)
		}
	}
	return results, notDurable
}

// undoAll undoes the changes of done, after err failed the next one.
func undoAll(ctx context.Context, w WritableFileSystem, done []*plannedChange, failed *plannedChange, results []WriteResult, err error) ([]WriteResult, error) {
	// The caller's context may be what failed; undoing must not fail with it.
	ctx = context.WithoutCancel(ctx)
	var stands []string
	if r := ReasonOf(err); r == ErrOutcomeUnknown || r == ErrPartial {
		stands = append(stands, failed.path)
	} else {
		results[len(done)] = WriteResult{}
	}
	for i := len(done) - 1; i >= 0; i-- {
		if undone := done[i].undo(ctx, w, results[i]); undone != nil && ReasonOf(undone) != ErrNotDurable {
			stands = append(stands, done[i].path)
			continue
		}
		results[i] = WriteResult{}
	}
	if len(stands) > 0 {
		return results, partial(OpCommit, failed.change.Path, err, fmt.Sprintf("not undone, or perhaps not: %q", stands))
	}
	return nil, Wrap(OpCommit, failed.change.Path, err)
}

// overlapping returns the error of two changes that name one file, or of one
// that lies beneath another's file, by paths of the changes. Those may be
// relative: all of them start at one place.
func overlapping(changes []Change, paths []string) error {
	clean := make([]string, len(paths))
	seen := make(map[string]bool, len(paths))
	for i, path := range paths {
		c, _, err := Resolve("/", path)
		switch {
		case err != nil: // only the file system knows where it leads
			c = path
		case path[0] != '/':
			c = "." + c
		}
		if seen[c] {
			return overlap(changes[i].Path, "two changes name this file")
		}
		seen[c], clean[i] = true, c
	}
	for i, c := range clean {
		for cut := strings.LastIndexByte(c, '/'); cut > 0; cut = strings.LastIndexByte(c[:cut], '/') {
			if seen[c[:cut]] {
				return overlap(changes[i].Path, "the path lies beneath the file of another change")
			}
		}
	}
	return nil
}

func overlap(path, detail string) error {
	return &Error{Op: OpCommit, Path: path, Reason: ErrInvalid, Detail: detail}
}

// plannedChange is one change with what it needs to be made and undone.
type plannedChange struct {
	change Change
	path   string    // canonical
	before *FileInfo // nil: nothing was there
	old    *spool    // the bytes of before
	staged Staged    // of a write
}

// judgeChange judges c as far as can be seen without reading its content.
func judgeChange(ctx context.Context, w WritableFileSystem, c Change) error {
	if c.Op == OpWrite {
		_, err := judgeWrite(ctx, w, c.Path, &WriteOptions{If: c.If, Parents: c.Parents, Mode: c.Mode})
		return err
	}
	there, err := lstatToTake(ctx, w, c.Path)
	switch {
	case ReasonOf(err) == ErrNotFound:
		return firstError(c.If.Check(nil), err)
	case err != nil:
		return err
	case there.Kind == KindSymlink:
		return &Error{Reason: ErrUnsupported, Kind: KindSymlink, Detail: "the removal of a link could not be undone"}
	case there.Kind != KindRegular:
		return &Error{Reason: ErrNotAFile, Kind: there.Kind, Target: there.Path}
	}
	return c.If.Check(&there)
}

// planChange remembers what is there now and stages what will be.
func planChange(ctx context.Context, w WritableFileSystem, c Change) (p *plannedChange, err error) {
	p = &plannedChange{change: c}
	defer func() {
		if err != nil {
			p.close()
			p = nil
		}
	}()
	if err := judgeChange(ctx, w, c); err != nil {
		return p, err
	}
	f, err := open(ctx, w, c.Path)
	switch {
	case err == nil:
		info := f.Info()
		p.before, p.path = &info, info.Path
		p.old, err = readSpool(&verified{ctx: ctx, f: f})
		f.Close()
		if err == nil {
			err = c.If.Check(p.before)
		}
	case ReasonOf(err) != ErrNotFound:
	case c.Op == OpWrite:
		err = c.If.Check(nil)
	default:
		err = firstError(c.If.Check(nil), err)
	}
	if err != nil || c.Op == OpRemove {
		return p, err
	}
	o := &WriteOptions{If: seenNow(p.before), Parents: c.Parents, Mode: c.Mode}
	p.staged, err = Stage(ctx, w, c.Path, c.Content, o)
	if err != nil {
		return p, p.meanwhile(err)
	}
	p.path = p.staged.Info().Path
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
		return r, p.meanwhile(err)
	}
	err := w.Remove(ctx, p.change.Path, &RemoveOptions{If: seenNow(p.before)})
	if ReasonOf(err) == ErrInvalid {
		err = &Error{Reason: ErrChanged, Detail: "what is there is no file any more"}
	}
	return WriteResult{Info: *p.before}, err
}

// meanwhile is err, but for something that came to be where nothing was seen
// and the caller did not ask for a creation: then it is a change.
func (p *plannedChange) meanwhile(err error) error {
	if ReasonOf(err) == ErrExists && !p.change.If.Absent() {
		return &Error{Reason: ErrChanged, Detail: "a file came to be meanwhile"}
	}
	return err
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
		o.Mode = p.before.Mode.Perm()
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
