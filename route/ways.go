// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route

import (
	"context"
	"io"
	"slices"

	"github.com/ambitfs/ambit"
)

// ways is a file system of nothing but the folders that lead to mount points.
// It answers where no member does: for such a folder that the member beneath
// it has not, and in place of a fallback. Nothing can be made in it.
type ways struct {
	names    map[string][]string // the folders above mount points: what in them leads on, sorted
	points   map[string]bool     // the mount points
	ask      rule                // nil: all is allowed
	identity bool                // folders have an ID
}

func newWays(points []string, ask rule) *ways {
	w := &ways{names: map[string][]string{"/": nil}, points: make(map[string]bool), ask: ask}
	for _, point := range points {
		w.points[point] = true
		for path := point; path != "/"; path = ambit.Dir(path) {
			dir, name := ambit.Dir(path), ambit.Base(path)
			if i, found := slices.BinarySearch(w.names[dir], name); !found {
				w.names[dir] = slices.Insert(w.names[dir], i, name)
			}
		}
	}
	return w
}

// leadsOn reports whether the clean path is a folder above a mount point.
func (w *ways) leadsOn(clean string) bool { return len(w.names[clean]) > 0 }

// there reports whether the clean path is a folder whatever a member has.
func (w *ways) there(clean string) bool {
	_, way := w.names[clean]
	return way || w.points[clean]
}

func (w *ways) Capabilities() ambit.Capabilities {
	return ambit.Capabilities{
		Links: ambit.LinksNone, Swap: ambit.SwapForeign, Versions: true, Identity: w.identity,
		Write: true, List: true, Remove: true, Append: true, Rename: true, Mkdir: true, Stage: true, Commit: true, ReadLink: true,
	}
}

// place is where a path ends.
type place struct {
	clean string
	dir   bool // the path's text asserts a folder
	there bool
}

// find judges what comes before the last step of a path. fault is that of the
// options.
func (w *ways) find(ctx context.Context, op ambit.Op, path string, fault error) (place, error) {
	if ctx.Err() != nil {
		return place{}, contextError(ctx)
	}
	clean, dir, err := ambit.Resolve("/", path)
	if err == nil {
		err = fault
	}
	if err == nil {
		err = w.allow(ctx, op, clean)
	}
	return place{clean: clean, dir: dir, there: w.there(clean)}, err
}

// allow asks the rules.
func (w *ways) allow(ctx context.Context, op ambit.Op, canonical string) error {
	if w.ask == nil {
		return nil
	}
	return ambit.Refused(string(op), canonical, w.ask(ctx, op, canonical))
}

func (p place) is(r ambit.Reason) *ambit.Error {
	return &ambit.Error{Reason: r, Kind: ambit.KindDirectory, Target: p.clean}
}

// missing is the error of a place that is not there.
func (w *ways) missing(p place) *ambit.Error {
	if p.dir {
		return &ambit.Error{Reason: ambit.ErrNotADirectory, Target: p.clean}
	}
	e := &ambit.Error{Reason: ambit.ErrNotFound, Target: p.clean}
	for dir := ambit.Dir(p.clean); !w.there(dir); dir = ambit.Dir(dir) {
		e.MissingDirs = append(e.MissingDirs, dir)
	}
	slices.Reverse(e.MissingDirs)
	return e
}

func (w *ways) info(clean string) ambit.FileInfo {
	i := ambit.FileInfo{Path: clean, Kind: ambit.KindDirectory, Size: -1}
	if w.identity && !w.points[clean] { // a mount point has that of its root
		i.ID = "way:" + clean
	}
	return i
}

func (w *ways) Open(ctx context.Context, path string) (ambit.File, error) {
	p, err := w.find(ctx, ambit.OpOpen, path, nil)
	switch {
	case err != nil:
	case p.there:
		err = p.is(ambit.ErrNotAFile)
	default:
		err = w.missing(p)
	}
	return nil, ambit.Wrap(ambit.OpOpen, path, err)
}

func (w *ways) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	return w.inspect(ctx, ambit.OpStat, path)
}

func (w *ways) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	return w.inspect(ctx, ambit.OpLstat, path)
}

func (w *ways) inspect(ctx context.Context, op ambit.Op, path string) (ambit.FileInfo, error) {
	p, err := w.find(ctx, op, path, nil)
	if err == nil && !p.there {
		err = w.missing(p)
	}
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(string(op), path, err)
	}
	return w.info(p.clean), nil
}

func (w *ways) ReadLink(ctx context.Context, path string) (string, error) {
	p, err := w.find(ctx, ambit.OpReadLink, path, nil)
	switch {
	case err != nil:
	case p.there:
		err = p.is(ambit.ErrInvalid)
	default:
		err = w.missing(p)
	}
	return "", ambit.Wrap(ambit.OpReadLink, path, err)
}

func (w *ways) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	p, err := w.find(ctx, ambit.OpList, dir, o.Check())
	if err == nil && !p.there {
		err = w.missing(p)
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	var entries []ambit.Entry
	for _, name := range w.names[p.clean] {
		path := ambit.Join(p.clean, name)
		if w.allow(ctx, ambit.OpStat, path) == nil {
			entries = append(entries, ambit.Entry{Name: name, Info: w.info(path)})
		}
	}
	return ambit.Page(p.clean, entries, o), nil
}

// create judges a call that would make a file, which ends in an error.
func (w *ways) create(ctx context.Context, op, asked ambit.Op, path string, o *ambit.WriteOptions, fault error) error {
	p, err := w.find(ctx, asked, path, fault)
	_, conditional := o.If.Version()
	switch {
	case err != nil:
	case p.there && o.If.Absent():
		err = p.is(ambit.ErrExists)
	case p.there:
		err = p.is(ambit.ErrNotAFile)
	case p.dir:
		err = w.missing(p)
	case conditional:
		err = o.If.Check(nil)
	default:
		err = w.nothingIsMade(p, o.Parents)
	}
	return ambit.Wrap(string(op), path, err)
}

func (w *ways) nothingIsMade(p place, parents bool) error {
	if e := w.missing(place{clean: p.clean}); len(e.MissingDirs) > 0 && !parents {
		return e
	}
	return &ambit.Error{Reason: ambit.ErrDenied, Rule: "mount", Target: p.clean, Detail: "no file system takes files here"}
}

func (w *ways) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	return ambit.WriteResult{}, w.create(ctx, ambit.OpWrite, ambit.OpWrite, path, o, contentFault(content, o.Check(w.Capabilities())))
}

func (w *ways) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	o = orZero(o)
	return nil, w.create(ctx, ambit.OpStage, ambit.OpWrite, path, o, contentFault(content, o.Check(w.Capabilities())))
}

func (w *ways) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	o = orZero(o)
	as := &ambit.WriteOptions{If: o.If, Parents: o.Parents}
	return ambit.WriteResult{}, w.create(ctx, ambit.OpAppend, ambit.OpAppend, path, as, contentFault(content, o.Check(w.Capabilities())))
}

// contentFault adds to the fault of options that the content is nil.
func contentFault(content io.Reader, fault error) error {
	if fault == nil {
		fault = ambit.CheckContent(content)
	}
	return fault
}

func (w *ways) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	return w.take(ctx, ambit.OpRemove, path, orZero(o), o.Check(w.Capabilities()))
}

// take judges the removal of a name or its move away.
func (w *ways) take(ctx context.Context, op ambit.Op, path string, o *ambit.RemoveOptions, fault error) error {
	p, err := w.find(ctx, op, path, fault)
	_, conditional := o.If.Version()
	switch {
	case err != nil:
	case p.there && (p.clean == "/" || conditional):
		err = p.is(ambit.ErrInvalid)
	case p.there:
		err = onTheWay(p.clean)
	case o.MissingOK && !conditional:
		return nil
	case p.dir:
		err = w.missing(p)
	case conditional:
		err = o.If.Check(nil)
	default:
		err = w.missing(p)
	}
	return ambit.Wrap(string(op), path, err)
}

func (w *ways) Rename(ctx context.Context, from, _ string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	return ambit.FileInfo{}, w.take(ctx, ambit.OpRename, from, &ambit.RemoveOptions{If: orZero(o).If}, o.Check(w.Capabilities()))
}

// receive judges the other end of a move: something that is a folder or not
// would get the name path.
func (w *ways) receive(ctx context.Context, path string, folder, parents bool) error {
	p, err := w.find(ctx, ambit.OpRename, path, nil)
	switch {
	case err != nil:
	case p.dir && !folder:
		err = &ambit.Error{Reason: ambit.ErrNotADirectory, Target: p.clean}
	case p.there:
		err = p.is(ambit.ErrExists)
	default:
		err = w.nothingIsMade(p, parents)
	}
	return ambit.Wrap(ambit.OpRename, path, err)
}

func (w *ways) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	p, err := w.find(ctx, ambit.OpMkdir, dir, nil)
	parents := orZero(o).Parents
	switch {
	case err != nil:
	case p.there && parents:
		return nil, nil
	case p.there:
		err = p.is(ambit.ErrExists)
	default:
		err = w.nothingIsMade(p, parents)
	}
	return nil, ambit.Wrap(ambit.OpMkdir, dir, err)
}

// Commit judges the changes, of which none can be made.
func (w *ways) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	for _, c := range changes {
		var err error
		if c.Op == ambit.OpWrite {
			err = w.create(ctx, ambit.OpCommit, ambit.OpWrite, c.Path, &ambit.WriteOptions{If: c.If, Parents: c.Parents}, nil)
		} else {
			var p place
			if p, err = w.find(ctx, ambit.OpRemove, c.Path, nil); err == nil && p.there {
				err = p.is(ambit.ErrNotAFile)
			} else if err == nil {
				err = w.take(ctx, ambit.OpRemove, c.Path, &ambit.RemoveOptions{If: c.If}, nil)
			}
		}
		if err != nil {
			return nil, ambit.Wrap(ambit.OpCommit, c.Path, err)
		}
	}
	return nil, nil
}

// orZero returns a copy of o that may be changed.
func orZero[T any](o *T) *T {
	if o == nil {
		return new(T)
	}
	c := *o
	return &c
}
