// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"io"
	"strings"
)

// PathMap translates between the paths of a wrapper and those of the file
// system beneath it. Both functions are safe for concurrent use.
type PathMap struct {
	// In turns a path as the wrapper's caller wrote it into a path for the
	// file system beneath; a trailing slash keeps its meaning. Its error goes
	// to the caller through [Wrap].
	In func(path string) (string, error)
	// Out turns a canonical path of the file system beneath into a canonical
	// path of the wrapper. ok is false where there is none.
	Out func(canonical string) (path string, ok bool)
}

// MapPaths is for authors of wrappers that show a file system under other
// paths: it returns fsys with every path translated, in arguments, results,
// errors, open files and callbacks. It keeps every optional interface that
// fsys has.
func MapPaths(fsys FileSystem, m PathMap) FileSystem {
	return &mapped{Forward: Forward{Base: fsys, Keep: fsys.Capabilities()}, m: m}
}

type mapped struct {
	Forward
	m PathMap
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
	if len(e.MissingDirs) > 0 {
		dirs := make([]string, 0, len(e.MissingDirs))
		for _, dir := range e.MissingDirs {
			if dir = p.out(dir); dir != "" {
				dirs = append(dirs, dir)
			}
		}
		e.MissingDirs = dirs
	}
	return e
}

func (p *mapped) info(i FileInfo) FileInfo {
	i.Path = p.out(i.Path)
	return i
}

func (p *mapped) result(r WriteResult) WriteResult {
	r.Info = p.info(r.Info)
	r.CreatedDirs = p.paths(r.CreatedDirs)
	return r
}

func (p *mapped) paths(canonical []string) []string {
	if canonical == nil {
		return nil
	}
	paths := make([]string, len(canonical))
	for i, c := range canonical {
		paths[i] = p.out(c)
	}
	return paths
}

func (p *mapped) Open(ctx context.Context, path string) (File, error) {
	inner, err := p.m.In(path)
	if err != nil {
		return nil, Wrap(OpOpen, path, err)
	}
	f, err := p.Forward.Open(ctx, inner)
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
	return p.inspect(OpStat, path, func(inner string) (FileInfo, error) { return p.Forward.Stat(ctx, inner) })
}

func (p *mapped) Lstat(ctx context.Context, path string) (FileInfo, error) {
	return p.inspect(OpLstat, path, func(inner string) (FileInfo, error) { return p.Forward.Lstat(ctx, inner) })
}

func (p *mapped) inspect(op, path string, look func(inner string) (FileInfo, error)) (FileInfo, error) {
	inner, err := p.m.In(path)
	if err != nil {
		return FileInfo{}, Wrap(op, path, err)
	}
	info, err := look(inner)
	if err != nil {
		return FileInfo{}, p.fail(op, path, err)
	}
	return p.info(info), nil
}

func (p *mapped) ReadLink(ctx context.Context, path string) (string, error) {
	inner, err := p.m.In(path)
	if err != nil {
		return "", Wrap(OpReadLink, path, err)
	}
	text, err := p.Forward.ReadLink(ctx, inner)
	if err != nil {
		return "", p.fail(OpReadLink, path, err)
	}
	if strings.HasPrefix(text, "/") {
		shown, ok := p.m.Out(text)
		if !ok {
			return "", Wrap(OpReadLink, path, ErrOutside)
		}
		return shown, nil
	}
	return text, nil
}

func (p *mapped) List(ctx context.Context, dir string, o *ListOptions) (*Listing, error) {
	inner, err := p.m.In(dir)
	if err != nil {
		return nil, Wrap(OpList, dir, err)
	}
	l, err := p.Forward.List(ctx, inner, o)
	if err != nil {
		return nil, p.fail(OpList, dir, err)
	}
	shown := &Listing{Dir: p.out(l.Dir), Entries: make([]Entry, len(l.Entries)), Next: l.Next}
	for i, e := range l.Entries {
		shown.Entries[i] = Entry{Name: e.Name, Info: p.info(e.Info)}
	}
	return shown, nil
}

func (p *mapped) Write(ctx context.Context, path string, content io.Reader, o *WriteOptions) (WriteResult, error) {
	return p.change(OpWrite, path, func(inner string) (WriteResult, error) {
		return p.Forward.Write(ctx, inner, content, o)
	})
}

func (p *mapped) Append(ctx context.Context, path string, content io.Reader, o *AppendOptions) (WriteResult, error) {
	return p.change(OpAppend, path, func(inner string) (WriteResult, error) {
		return p.Forward.Append(ctx, inner, content, o)
	})
}

// change translates the result beside an error too: not-durable fills both.
func (p *mapped) change(op, path string, do func(inner string) (WriteResult, error)) (WriteResult, error) {
	inner, err := p.m.In(path)
	if err != nil {
		return WriteResult{}, Wrap(op, path, err)
	}
	r, err := do(inner)
	return p.result(r), p.fail(op, path, err)
}

func (p *mapped) Remove(ctx context.Context, path string, o *RemoveOptions) error {
	inner, err := p.m.In(path)
	if err != nil {
		return Wrap(OpRemove, path, err)
	}
	return p.fail(OpRemove, path, p.Forward.Remove(ctx, inner, o))
}

func (p *mapped) Rename(ctx context.Context, from, to string, o *RenameOptions) (FileInfo, error) {
	innerFrom, err := p.m.In(from)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	innerTo, err := p.m.In(to)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, to, err)
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
	inner, err := p.m.In(dir)
	if err != nil {
		return nil, Wrap(OpMkdir, dir, err)
	}
	created, err := p.Forward.Mkdir(ctx, inner, o)
	return p.paths(created), p.fail(OpMkdir, dir, err)
}

func (p *mapped) Stage(ctx context.Context, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	inner, err := p.m.In(path)
	if err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	s, err := p.Forward.Stage(ctx, inner, content, o)
	if err != nil {
		return nil, p.fail(OpStage, path, err)
	}
	return &mappedStaged{s: s, p: p, path: path}, nil
}

func (p *mapped) Commit(ctx context.Context, changes []Change) ([]WriteResult, error) {
	inner := make([]Change, len(changes))
	written := make(map[string]string, len(changes))
	for i, c := range changes {
		path, err := p.m.In(c.Path)
		if err != nil {
			return nil, Wrap(OpCommit, c.Path, err)
		}
		written[path] = c.Path
		inner[i] = c
		inner[i].Path = path
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

func (p *mapped) Glob(ctx context.Context, q GlobQuery, yield func(GlobMatch) bool) (SearchSummary, error) {
	base, keep, err := p.query(q.Base, q.Keep)
	if err != nil {
		return SearchSummary{}, Wrap(OpGlob, q.Base, err)
	}
	written := q.Base
	q.Base, q.Keep = base, keep
	sum, err := p.Forward.Glob(ctx, q, func(m GlobMatch) bool {
		m.Info = p.info(m.Info)
		return yield(m)
	})
	return p.summary(sum), p.fail(OpGlob, written, err)
}

func (p *mapped) Grep(ctx context.Context, q GrepQuery, yield func(GrepMatch) bool) (SearchSummary, error) {
	base, keep, err := p.query(q.Base, q.Keep)
	if err != nil {
		return SearchSummary{}, Wrap(OpGrep, q.Base, err)
	}
	written := q.Base
	q.Base, q.Keep = base, keep
	sum, err := p.Forward.Grep(ctx, q, func(m GrepMatch) bool {
		m.Path = p.out(m.Path)
		return yield(m)
	})
	return p.summary(sum), p.fail(OpGrep, written, err)
}

func (p *mapped) query(base string, keep func(string, Kind) bool) (string, func(string, Kind) bool, error) {
	if base == "" {
		base = "."
	}
	inner, err := p.m.In(base)
	if err != nil || keep == nil {
		return inner, nil, err
	}
	return inner, func(canonical string, k Kind) bool { return keep(p.out(canonical), k) }, nil
}

func (p *mapped) summary(s SearchSummary) SearchSummary {
	skipped := make([]Skip, len(s.Skipped))
	for i, skip := range s.Skipped {
		skipped[i] = Skip{Path: p.out(skip.Path), Reason: skip.Reason}
	}
	s.Skipped = skipped
	return s
}

func (p *mapped) Sub(ctx context.Context, dir string) (FileSystem, error) {
	s, ok := p.Base.(Subber)
	if !ok || !p.Capabilities().Sub {
		return nil, Unsupported(OpSub, dir)
	}
	inner, err := p.m.In(dir)
	if err != nil {
		return nil, Wrap(OpSub, dir, err)
	}
	sub, err := s.Sub(ctx, inner)
	if err != nil {
		return nil, p.fail(OpSub, dir, err)
	}
	return sub, nil
}

func (p *mapped) Guard(ask func(ctx context.Context, op Op, canonical string) error) FileSystem {
	g, ok := p.Base.(Guarder)
	if !ok || !p.Capabilities().Guard {
		return closedFileSystem{}
	}
	return MapPaths(g.Guard(func(ctx context.Context, op Op, canonical string) error {
		return ask(ctx, op, p.out(canonical))
	}), p.m)
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
	s    Staged
	p    *mapped
	path string
}

func (s *mappedStaged) Info() FileInfo { return s.p.info(s.s.Info()) }

func (s *mappedStaged) Publish(ctx context.Context) (WriteResult, error) {
	r, err := s.s.Publish(ctx)
	return s.p.result(r), s.p.fail(OpPublish, s.path, err)
}

func (s *mappedStaged) Discard(ctx context.Context) error {
	return s.p.fail(OpDiscard, s.path, s.s.Discard(ctx))
}
