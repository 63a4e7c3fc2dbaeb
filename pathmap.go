// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
)

// PathMap translates between the paths of a wrapper and those of the file
// system beneath it. Its functions are safe for concurrent use.
type PathMap struct {
	// In turns a path as the wrapper's caller wrote it into a path for the
	// file system beneath; a trailing slash keeps its meaning. Its error goes
	// to the caller through [Wrap].
	In func(path string) (string, error)
	// Out turns a canonical path of the file system beneath into a canonical
	// path of the wrapper. ok is false where there is none: what has such a
	// path is not shown.
	Out func(canonical string) (path string, ok bool)
	// ID turns a FileInfo.ID of the file system beneath into one of the
	// wrapper, for a wrapper that shows several storages side by side. nil
	// keeps it; it is not asked for "".
	ID func(id string) string
}

// MapPaths is for authors of wrappers that show a file system under other
// paths: it returns fsys with every path translated, in arguments, results,
// errors, open files and callbacks. It keeps every optional interface that
// fsys has.
//
// Where the wrapper's "/" is a folder of fsys that is not its root, it is kept
// from being removed and renamed, as a root is. When it has gone all the same,
// no call brings it or a folder above it back: what would make parents, and
// Mkdir of "/", first looks whether the folder is there, with one Stat more.
// Between that look and the act there is a window: a folder that others remove
// just then can come back, with Parents.
func MapPaths(fsys FileSystem, m PathMap) FileSystem {
	return mapPaths(fsys, fsys, m)
}

// mapPaths looks at unruled, which is fsys without the rules of a Guard, for
// the wrapper's "/": a rule is asked about what the caller does.
func mapPaths(fsys, unruled FileSystem, m PathMap) *mapped {
	p := &mapped{Forward: Forward{Base: fsys, Keep: fsys.Capabilities()}, m: m, unruled: unruled}
	if root, err := m.In("/"); err == nil {
		if root, _, err := Resolve("/", root); err == nil && root != "/" {
			p.root = root
		}
	}
	return p
}

type mapped struct {
	Forward
	m       PathMap
	root    string     // what "/" is beneath; "" where that is the root there too
	unruled FileSystem // to look for root
}

// hasRoot reports whether the wrapper's "/" is there, as far as that matters
// to the making of folders.
func (p *mapped) hasRoot(ctx context.Context) bool {
	if p.root == "" {
		return true
	}
	info, err := p.unruled.Stat(ctx, p.root)
	return err == nil && info.IsDir()
}

// isRoot reports whether inner, a path for the file system beneath, is the
// wrapper's "/".
func (p *mapped) isRoot(inner string) bool {
	if p.root == "" || !strings.HasPrefix(inner, "/") {
		return false
	}
	clean, _, err := Resolve("/", inner)
	return err == nil && clean == p.root
}

// enter translates the path of a call. Where that fails it judges first what
// comes before a path in the order of judgement.
func (p *mapped) enter(ctx context.Context, op, path string) (inner string, err error) {
	inner, err = p.m.In(path)
	if err == nil {
		return inner, nil
	}
	if err := p.Capabilities().Refusal(op, path); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		err = contextError(ctx, context.Cause(ctx))
	}
	return "", Wrap(op, path, err)
}

// guardRoot returns the error of a call that would take the wrapper's root
// away, else nil.
func (p *mapped) guardRoot(ctx context.Context, op, path, inner string, check func(Capabilities) error) error {
	if !p.isRoot(inner) {
		return nil
	}
	caps := p.Capabilities()
	if err := caps.Refusal(op, path); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return Wrap(op, path, contextError(ctx, context.Cause(ctx)))
	}
	if err := check(caps); err != nil {
		return Wrap(op, path, err)
	}
	return &Error{Op: op, Path: path, Reason: ErrInvalid, Kind: KindDirectory, Target: "/", Detail: "the root stays where it is"}
}

// out keeps a path that the wrapper cannot show from being shown.
func (p *mapped) out(canonical string) string {
	if canonical == "" {
		return ""
	}
	path, ok := p.m.Out(canonical)
	if !ok {
		return ""
	}
	return path
}

// fail rewrites an error: the path as the wrapper's caller wrote it, the facts
// translated.
func (p *mapped) fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(Wrap(op, path, err), &e) {
		return err
	}
	e.Target = p.out(e.Target)
	e.MissingDirs = p.paths(e.MissingDirs)
	return e
}

func (p *mapped) info(i FileInfo) FileInfo {
	i.Path = p.out(i.Path)
	if p.m.ID != nil && i.ID != "" {
		i.ID = p.m.ID(i.ID)
	}
	return i
}

func (p *mapped) result(r WriteResult) WriteResult {
	r.Info = p.info(r.Info)
	r.CreatedDirs = p.paths(r.CreatedDirs)
	return r
}

// paths leaves out what cannot be shown.
func (p *mapped) paths(canonical []string) []string {
	var paths []string
	for _, c := range canonical {
		if path := p.out(c); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func (p *mapped) Open(ctx context.Context, path string) (File, error) {
	inner, err := p.enter(ctx, OpOpen, path)
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, p.Forward, inner)
	if err != nil {
		return nil, p.fail(OpOpen, path, err)
	}
	mf := mappedFile{File: f, p: p, path: path}
	if at, ok := f.(io.ReaderAt); ok {
		return &mappedReaderAt{mappedFile: mf, at: at}, nil
	}
	return &mf, nil
}

func (p *mapped) Stat(ctx context.Context, path string) (FileInfo, error) {
	return p.inspect(ctx, OpStat, path, func(inner string) (FileInfo, error) { return p.Forward.Stat(ctx, inner) })
}

func (p *mapped) Lstat(ctx context.Context, path string) (FileInfo, error) {
	return p.inspect(ctx, OpLstat, path, func(inner string) (FileInfo, error) { return p.Forward.Lstat(ctx, inner) })
}

func (p *mapped) inspect(ctx context.Context, op, path string, look func(inner string) (FileInfo, error)) (FileInfo, error) {
	inner, err := p.enter(ctx, op, path)
	if err != nil {
		return FileInfo{}, err
	}
	info, err := look(inner)
	if err != nil {
		return FileInfo{}, p.fail(op, path, err)
	}
	return p.info(info), nil
}

func (p *mapped) ReadLink(ctx context.Context, path string) (string, error) {
	inner, err := p.enter(ctx, OpReadLink, path)
	if err != nil {
		return "", err
	}
	text, err := p.Forward.ReadLink(ctx, inner)
	if err != nil {
		return "", p.fail(OpReadLink, path, err)
	}
	switch {
	case strings.HasPrefix(text, "/"):
		clean, _, err := Resolve("/", text)
		shown := p.out(clean)
		if err != nil || shown == "" {
			return "", Wrap(OpReadLink, path, ErrOutside)
		}
		if shown != clean {
			text = shown
		}
	case p.root != "" && strings.Contains(text, ".."):
		// Where the link lies is asked for this answer alone.
		link, err := lstat(ctx, p.unruled, inner)
		if err != nil {
			return "", p.fail(OpReadLink, path, err)
		}
		if clean, _, err := Resolve(Dir(link.Path), text); err != nil || p.out(clean) == "" {
			return "", Wrap(OpReadLink, path, ErrOutside)
		}
	}
	return text, nil
}

func (p *mapped) List(ctx context.Context, dir string, o *ListOptions) (*Listing, error) {
	inner, err := p.enter(ctx, OpList, dir)
	if err != nil {
		return nil, err
	}
	l, err := list(ctx, p.Forward, inner, o)
	if err != nil {
		return nil, p.fail(OpList, dir, err)
	}
	shown := &Listing{Dir: p.out(l.Dir), Entries: make([]Entry, 0, len(l.Entries)), Next: l.Next}
	for _, e := range l.Entries {
		if info := p.info(e.Info); info.Path != "" {
			shown.Entries = append(shown.Entries, Entry{Name: e.Name, Info: info})
		}
	}
	return shown, nil
}

func (p *mapped) Write(ctx context.Context, path string, content io.Reader, o *WriteOptions) (WriteResult, error) {
	if o != nil && o.Parents && !p.hasRoot(ctx) {
		below := *o
		below.Parents = false
		o = &below
	}
	return p.change(ctx, OpWrite, path, func(inner string) (WriteResult, error) {
		return p.Forward.Write(ctx, inner, content, o)
	})
}

func (p *mapped) Append(ctx context.Context, path string, content io.Reader, o *AppendOptions) (WriteResult, error) {
	if o != nil && o.Parents && !p.hasRoot(ctx) {
		below := *o
		below.Parents = false
		o = &below
	}
	return p.change(ctx, OpAppend, path, func(inner string) (WriteResult, error) {
		return p.Forward.Append(ctx, inner, content, o)
	})
}

// change translates the result beside an error too: not-durable fills both.
func (p *mapped) change(ctx context.Context, op, path string, do func(inner string) (WriteResult, error)) (WriteResult, error) {
	inner, err := p.enter(ctx, op, path)
	if err != nil {
		return WriteResult{}, err
	}
	r, err := do(inner)
	return p.result(r), p.fail(op, path, err)
}

func (p *mapped) Remove(ctx context.Context, path string, o *RemoveOptions) error {
	inner, err := p.enter(ctx, OpRemove, path)
	if err != nil {
		return err
	}
	if err := p.guardRoot(ctx, OpRemove, path, inner, o.Check); err != nil {
		return err
	}
	return p.fail(OpRemove, path, p.Forward.Remove(ctx, inner, o))
}

func (p *mapped) Rename(ctx context.Context, from, to string, o *RenameOptions) (FileInfo, error) {
	innerFrom, err := p.enter(ctx, OpRename, from)
	if err != nil {
		return FileInfo{}, err
	}
	innerTo, err := p.enter(ctx, OpRename, to)
	if err != nil {
		return FileInfo{}, err
	}
	if err := p.guardRoot(ctx, OpRename, from, innerFrom, o.Check); err != nil {
		return FileInfo{}, err
	}
	info, err := p.Forward.Rename(ctx, innerFrom, innerTo, o)
	return p.info(info), p.fail(OpRename, blamed(err, innerFrom, from, innerTo, to), err)
}

// blamed returns which of a rename's two paths, as the caller wrote them, an
// error speaks of.
func blamed(err error, innerFrom, from, innerTo, to string) string {
	var e *Error
	if errors.As(err, &e) && e.Path == innerTo && innerTo != innerFrom {
		return to
	}
	return from
}

func (p *mapped) Mkdir(ctx context.Context, dir string, o *MkdirOptions) ([]string, error) {
	inner, err := p.enter(ctx, OpMkdir, dir)
	if err != nil {
		return nil, err
	}
	if root := p.isRoot(inner); (root || o != nil && o.Parents) && !p.hasRoot(ctx) {
		if root {
			err := p.Capabilities().Refusal(OpMkdir, dir)
			if err == nil {
				_, err = p.Forward.Stat(ctx, p.root)
			}
			if err != nil {
				return nil, p.fail(OpMkdir, dir, err)
			}
		}
		o = nil
	}
	created, err := p.Forward.Mkdir(ctx, inner, o)
	return p.paths(created), p.fail(OpMkdir, dir, err)
}

func (p *mapped) Stage(ctx context.Context, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	inner, err := p.enter(ctx, OpStage, path)
	if err != nil {
		return nil, err
	}
	parents := o != nil && o.Parents
	if parents && !p.hasRoot(ctx) {
		below := *o
		below.Parents = false
		o = &below
	}
	s, err := p.Forward.Stage(ctx, inner, content, o)
	if err != nil {
		return nil, p.fail(OpStage, path, err)
	}
	staged := &mappedStaged{s: s, p: p, path: path, inner: inner}
	if parents && p.root != "" {
		staged.above, staged.cond = true, o.If
	}
	return staged, nil
}

func (p *mapped) Commit(ctx context.Context, changes []Change) ([]WriteResult, error) {
	inner := make([]Change, len(changes))
	written := make(map[string]string, len(changes))
	rootless := slices.ContainsFunc(changes, func(c Change) bool { return c.Parents }) && !p.hasRoot(ctx)
	again := -1 // the first change of a file that one before it names too
	for i, c := range changes {
		path, err := p.enter(ctx, OpCommit, c.Path)
		if err != nil {
			return nil, err
		}
		if _, ok := written[path]; ok && again < 0 {
			again = i
		}
		written[path] = c.Path
		inner[i] = c
		inner[i].Path = path
		if rootless && c.Op == OpWrite {
			inner[i].Parents = false
		}
	}
	if again >= 0 {
		// An error would not tell which of the two it speaks of.
		return nil, p.repeated(ctx, changes, changes[again].Path)
	}
	results, err := p.Forward.Commit(ctx, inner)
	for i := range results {
		results[i] = p.result(results[i])
	}
	path := firstPath(changes)
	var e *Error
	if errors.As(err, &e) {
		if w, ok := written[e.Path]; ok {
			path = w
		}
	}
	return results, p.fail(OpCommit, path, err)
}

// repeated judges changes of which two name one file by their text.
func (p *mapped) repeated(ctx context.Context, changes []Change, path string) error {
	caps := p.Capabilities()
	if err := caps.Refusal(OpCommit, firstPath(changes)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return Wrap(OpCommit, firstPath(changes), contextError(ctx, context.Cause(ctx)))
	}
	if err := CheckChanges(changes, caps); err != nil {
		return err
	}
	return overlap(path, "two changes name this file")
}

func (p *mapped) Glob(ctx context.Context, q GlobQuery, yield func(GlobMatch) bool) (SearchSummary, error) {
	base, keep, err := p.query(ctx, OpGlob, q.Base, q.Keep)
	if err != nil {
		return SearchSummary{}, err
	}
	written := q.Base
	q.Base, q.Keep = base, keep
	sum, err := p.Forward.Glob(ctx, q, func(m GlobMatch) bool {
		if m.Info = p.info(m.Info); m.Info.Path == "" {
			return true
		}
		return yield(m)
	})
	return p.summary(sum), p.fail(OpGlob, written, err)
}

func (p *mapped) Grep(ctx context.Context, q GrepQuery, yield func(GrepMatch) bool) (SearchSummary, error) {
	base, keep, err := p.query(ctx, OpGrep, q.Base, q.Keep)
	if err != nil {
		return SearchSummary{}, err
	}
	written := q.Base
	q.Base, q.Keep = base, keep
	sum, err := p.Forward.Grep(ctx, q, func(m GrepMatch) bool {
		if m.Path = p.out(m.Path); m.Path == "" {
			return true
		}
		return yield(m)
	})
	return p.summary(sum), p.fail(OpGrep, written, err)
}

func (p *mapped) query(ctx context.Context, op, base string, keep func(string, Kind) bool) (string, func(string, Kind) bool, error) {
	written := base
	if base == "" {
		base = "."
	}
	inner, err := p.enter(ctx, op, base)
	if err != nil {
		return "", nil, Wrap(op, written, err)
	}
	if keep == nil {
		return inner, nil, nil
	}
	return inner, func(canonical string, k Kind) bool {
		path := p.out(canonical)
		return path != "" && keep(path, k)
	}, nil
}

func (p *mapped) summary(s SearchSummary) SearchSummary {
	var skipped []Skip
	for _, skip := range s.Skipped {
		if skip.Path = p.out(skip.Path); skip.Path == "" {
			s.MoreSkipped++
			continue
		}
		skipped = append(skipped, skip)
	}
	s.Skipped = skipped
	return s
}

func (p *mapped) Sub(ctx context.Context, dir string) (FileSystem, error) {
	s, ok := p.Base.(Subber)
	if err := p.refusal(OpSub, dir, ok); err != nil {
		return nil, err
	}
	inner, err := p.enter(ctx, OpSub, dir)
	if err != nil {
		return nil, err
	}
	sub, err := s.Sub(ctx, inner)
	if err != nil {
		return nil, p.fail(OpSub, dir, err)
	}
	return sub, nil
}

func (p *mapped) Guard(ask func(ctx context.Context, op Op, canonical string) error) FileSystem {
	g, ok := p.Base.(Guarder)
	if !ok || !p.Capabilities().Guard || ask == nil {
		return closedFileSystem{}
	}
	return mapPaths(g.Guard(func(ctx context.Context, op Op, canonical string) error {
		path := p.out(canonical)
		if path == "" {
			return ErrDenied // no rule can speak of it
		}
		return ask(ctx, op, path)
	}), p.unruled, p.m)
}

type mappedFile struct {
	File
	p    *mapped
	path string // as the caller wrote it
}

func (f *mappedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if err != nil && err != io.EOF {
		err = f.p.fail(OpRead, f.path, err)
	}
	return n, err
}

func (f *mappedFile) Info() FileInfo { return f.p.info(f.File.Info()) }

func (f *mappedFile) Close() error { return f.p.fail(OpRead, f.path, f.File.Close()) }

func (f *mappedFile) Verify(ctx context.Context) error {
	return f.p.fail(OpVerify, f.path, f.File.Verify(ctx))
}

type mappedReaderAt struct {
	mappedFile
	at io.ReaderAt
}

func (f *mappedReaderAt) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.at.ReadAt(b, off)
	if err != nil && err != io.EOF {
		err = f.p.fail(OpRead, f.path, err)
	}
	return n, err
}

type mappedStaged struct {
	s     Staged
	p     *mapped
	path  string // as the caller wrote it
	inner string // for the file system beneath
	above bool   // Publish may make parents, perhaps above the wrapper's "/"
	cond  Precondition
	used  atomic.Bool // published or discarded
}

func (s *mappedStaged) Info() FileInfo { return s.p.info(s.s.Info()) }

func (s *mappedStaged) Publish(ctx context.Context) (WriteResult, error) {
	if first := !s.used.Swap(true); first && s.above && ctx.Err() == nil && !s.p.hasRoot(ctx) {
		if _, err := s.p.Forward.Stat(ctx, s.inner); err != nil {
			s.s.Discard(context.WithoutCancel(ctx))
			if ReasonOf(err) == ErrNotFound {
				err = firstError(s.cond.Check(nil), err)
			}
			return WriteResult{}, s.p.fail(OpPublish, s.path, err)
		}
	}
	r, err := s.s.Publish(ctx)
	return s.p.result(r), s.p.fail(OpPublish, s.path, err)
}

func (s *mappedStaged) Discard(ctx context.Context) error {
	s.used.Store(true)
	return s.p.fail(OpDiscard, s.path, s.s.Discard(ctx))
}
