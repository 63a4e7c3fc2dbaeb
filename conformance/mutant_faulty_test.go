// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"sync"

	"github.com/ambitfs/ambit"
)

// faulty is a correct file system with hooks: each method calls its hook where
// one is set, else the file system beneath. A hook gets at the correct answer
// through base.
type faulty struct {
	base   ambit.Forward
	host   string           // the folder of the disk that is the root; "" without a disk
	breaks func(f *faulty)  // sets the hooks, again for each file system that Sub and Guard return
	shared *sync.Map        // what the file systems of one storage remember together
	inner  ambit.FileSystem // base.Base, for Sub and Guard

	capabilities func(c ambit.Capabilities) ambit.Capabilities
	open         func(ctx context.Context, path string) (ambit.File, error)
	stat         func(ctx context.Context, path string) (ambit.FileInfo, error)
	list         func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error)
	write        func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error)
	remove       func(ctx context.Context, path string, o ambit.RemoveOptions) error
	append       func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error)
	rename       func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error)
	mkdir        func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error)
	stage        func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error)
	commit       func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error)
	lstat        func(ctx context.Context, path string) (ambit.FileInfo, error)
	readLink     func(ctx context.Context, path string) (string, error)
	sub          func(ctx context.Context, dir string) (ambit.FileSystem, error)
	guard        func(ask asker) ambit.FileSystem

	file   func(path string, file ambit.File) ambit.File       // around each File
	staged func(path string, staged ambit.Staged) ambit.Staged // around each Staged
	info   func(info ambit.FileInfo) ambit.FileInfo            // over each FileInfo, wherever it is returned
	fail   func(op, path string, err error) error              // over each error
}

type asker = func(ctx context.Context, op ambit.Op, canonical string) error

// fault returns base with one fault in it.
func fault(base ambit.FileSystem, host string, breaks func(f *faulty)) ambit.FileSystem {
	return (&faulty{host: host, breaks: breaks, shared: &sync.Map{}}).around(base)
}

// around returns the same fault around another file system of the storage.
func (f *faulty) around(base ambit.FileSystem) *faulty {
	g := &faulty{
		base: ambit.Forward{Base: base, Keep: base.Capabilities()}, inner: base,
		host: f.host, breaks: f.breaks, shared: f.shared,
	}
	g.breaks(g)
	return g
}

func (f *faulty) failed(op, path string, err error) error {
	if f.fail == nil || err == nil {
		return err
	}
	return f.fail(op, path, err)
}

func (f *faulty) seen(info ambit.FileInfo) ambit.FileInfo {
	if f.info == nil {
		return info
	}
	return f.info(info)
}

func (f *faulty) Capabilities() ambit.Capabilities {
	if f.capabilities != nil {
		return f.capabilities(f.inner.Capabilities())
	}
	return f.inner.Capabilities()
}

func (f *faulty) Open(ctx context.Context, path string) (ambit.File, error) {
	open := f.base.Open
	if f.open != nil {
		open = f.open
	}
	file, err := open(ctx, path)
	if file == nil || err != nil {
		return file, f.failed(ambit.OpOpen, path, err)
	}
	if f.info != nil || f.fail != nil {
		file = &hookedFile{File: file, f: f, path: path}
	}
	if f.file != nil {
		file = f.file(path, file)
	}
	return file, nil
}

func (f *faulty) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	stat := f.base.Stat
	if f.stat != nil {
		stat = f.stat
	}
	info, err := stat(ctx, path)
	return f.seen(info), f.failed(ambit.OpStat, path, err)
}

func (f *faulty) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	var l *ambit.Listing
	var err error
	if f.list != nil {
		l, err = f.list(ctx, dir, value(o))
	} else {
		l, err = f.base.List(ctx, dir, o)
	}
	if l != nil && f.info != nil {
		for i := range l.Entries {
			l.Entries[i].Info = f.info(l.Entries[i].Info)
		}
	}
	return l, f.failed(ambit.OpList, dir, err)
}

func (f *faulty) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	var r ambit.WriteResult
	var err error
	if f.write != nil {
		r, err = f.write(ctx, path, content, value(o))
	} else {
		r, err = f.base.Write(ctx, path, content, o)
	}
	r.Info = f.seen(r.Info)
	return r, f.failed(ambit.OpWrite, path, err)
}

func (f *faulty) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	var err error
	if f.remove != nil {
		err = f.remove(ctx, path, value(o))
	} else {
		err = f.base.Remove(ctx, path, o)
	}
	return f.failed(ambit.OpRemove, path, err)
}

func (f *faulty) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	var r ambit.WriteResult
	var err error
	if f.append != nil {
		r, err = f.append(ctx, path, content, value(o))
	} else {
		r, err = f.base.Append(ctx, path, content, o)
	}
	r.Info = f.seen(r.Info)
	return r, f.failed(ambit.OpAppend, path, err)
}

func (f *faulty) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	var info ambit.FileInfo
	var err error
	if f.rename != nil {
		info, err = f.rename(ctx, from, to, value(o))
	} else {
		info, err = f.base.Rename(ctx, from, to, o)
	}
	return f.seen(info), f.failed(ambit.OpRename, from, err)
}

func (f *faulty) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	var created []string
	var err error
	if f.mkdir != nil {
		created, err = f.mkdir(ctx, dir, value(o))
	} else {
		created, err = f.base.Mkdir(ctx, dir, o)
	}
	return created, f.failed(ambit.OpMkdir, dir, err)
}

func (f *faulty) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	var s ambit.Staged
	var err error
	if f.stage != nil {
		s, err = f.stage(ctx, path, content, value(o))
	} else {
		s, err = f.base.Stage(ctx, path, content, o)
	}
	if s != nil && err == nil {
		s = &hookedStaged{Staged: s, f: f, path: path}
		if f.staged != nil {
			s = f.staged(path, s)
		}
	}
	return s, f.failed(ambit.OpStage, path, err)
}

func (f *faulty) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	commit := f.base.Commit
	if f.commit != nil {
		commit = f.commit
	}
	results, err := commit(ctx, changes)
	for i := range results {
		results[i].Info = f.seen(results[i].Info)
	}
	var path string
	if len(changes) > 0 {
		path = changes[0].Path
	}
	return results, f.failed(ambit.OpCommit, path, err)
}

func (f *faulty) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	lstat := f.base.Lstat
	if f.lstat != nil {
		lstat = f.lstat
	}
	info, err := lstat(ctx, path)
	return f.seen(info), f.failed(ambit.OpLstat, path, err)
}

func (f *faulty) ReadLink(ctx context.Context, path string) (string, error) {
	readLink := f.base.ReadLink
	if f.readLink != nil {
		readLink = f.readLink
	}
	text, err := readLink(ctx, path)
	return text, f.failed(ambit.OpReadLink, path, err)
}

func (f *faulty) Glob(ctx context.Context, q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	return f.base.Glob(ctx, q, yield)
}

func (f *faulty) Grep(ctx context.Context, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	return f.base.Grep(ctx, q, yield)
}

func (f *faulty) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	if f.sub != nil {
		return f.sub(ctx, dir)
	}
	sub, err := f.baseSub(ctx, dir)
	if err != nil {
		return nil, f.failed(ambit.OpSub, dir, err)
	}
	return f.around(sub), nil
}

// baseSub is the correct Sub.
func (f *faulty) baseSub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	if s, ok := f.inner.(ambit.Subber); ok {
		return s.Sub(ctx, dir)
	}
	return f.base.Sub(ctx, dir)
}

func (f *faulty) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	if f.guard != nil {
		return f.guard(ask)
	}
	return f.around(f.baseGuard(ask))
}

// baseGuard is the correct Guard.
func (f *faulty) baseGuard(ask asker) ambit.FileSystem {
	if g, ok := f.inner.(ambit.Guarder); ok {
		return g.Guard(ask)
	}
	return f.base.Guard(ask)
}

func value[T any](o *T) T {
	var zero T
	if o == nil {
		return zero
	}
	return *o
}

// hookedFile applies the hooks over every info and error to a File.
type hookedFile struct {
	ambit.File
	f    *faulty
	path string
}

func (h *hookedFile) Info() ambit.FileInfo { return h.f.seen(h.File.Info()) }

func (h *hookedFile) Read(p []byte) (int, error) {
	n, err := h.File.Read(p)
	if err != io.EOF {
		err = h.f.failed(ambit.OpRead, h.path, err)
	}
	return n, err
}

func (h *hookedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := readerAt(h.File).ReadAt(p, off)
	if err != io.EOF {
		err = h.f.failed(ambit.OpRead, h.path, err)
	}
	return n, err
}

func (h *hookedFile) Verify(ctx context.Context) error {
	return h.f.failed(ambit.OpVerify, h.path, h.File.Verify(ctx))
}

// readerAt is the ReadAt of file, which may not have one.
func readerAt(file ambit.File) io.ReaderAt {
	if at, ok := file.(io.ReaderAt); ok {
		return at
	}
	return noReadAt{}
}

type noReadAt struct{}

func (noReadAt) ReadAt([]byte, int64) (int, error) {
	return 0, ambit.Unsupported(ambit.OpRead, "")
}

// hookedStaged applies the hooks over every info and error to a Staged.
type hookedStaged struct {
	ambit.Staged
	f    *faulty
	path string
}

func (h *hookedStaged) Info() ambit.FileInfo { return h.f.seen(h.Staged.Info()) }

func (h *hookedStaged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	r, err := h.Staged.Publish(ctx)
	r.Info = h.f.seen(r.Info)
	return r, h.f.failed(ambit.OpPublish, h.path, err)
}

// faultyFile is a correct File with hooks.
type faultyFile struct {
	ambit.File
	read   func(p []byte) (int, error)
	readAt func(p []byte, off int64) (int, error)
	closes func() error
	info   func() ambit.FileInfo
	verify func(ctx context.Context) error
}

func (f *faultyFile) Read(p []byte) (int, error) {
	if f.read != nil {
		return f.read(p)
	}
	return f.File.Read(p)
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if f.readAt != nil {
		return f.readAt(p, off)
	}
	return readerAt(f.File).ReadAt(p, off)
}

func (f *faultyFile) Close() error {
	if f.closes != nil {
		return f.closes()
	}
	return f.File.Close()
}

func (f *faultyFile) Info() ambit.FileInfo {
	if f.info != nil {
		return f.info()
	}
	return f.File.Info()
}

func (f *faultyFile) Verify(ctx context.Context) error {
	if f.verify != nil {
		return f.verify(ctx)
	}
	return f.File.Verify(ctx)
}

// faultyStaged is a correct Staged with hooks.
type faultyStaged struct {
	ambit.Staged
	info    func() ambit.FileInfo
	publish func(ctx context.Context) (ambit.WriteResult, error)
	discard func(ctx context.Context) error
}

func (s *faultyStaged) Info() ambit.FileInfo {
	if s.info != nil {
		return s.info()
	}
	return s.Staged.Info()
}

func (s *faultyStaged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	if s.publish != nil {
		return s.publish(ctx)
	}
	return s.Staged.Publish(ctx)
}

func (s *faultyStaged) Discard(ctx context.Context) error {
	if s.discard != nil {
		return s.discard(ctx)
	}
	return s.Staged.Discard(ctx)
}
