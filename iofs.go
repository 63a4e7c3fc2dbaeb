// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
)

// IOFS returns fsys as package io/fs knows file systems: an [fs.StatFS],
// [fs.ReadDirFS], [fs.ReadFileFS] and [fs.SubFS], and an [fs.ReadLinkFS]
// exactly when [Capabilities].ReadLink is claimed. ctx governs every call on
// it and on its files. It is as safe for concurrent use as fsys, which is its
// root.
//
// Its listings leave out what package io/fs cannot name or open: names that
// are not UTF-8 or hold a backslash, links that do not lead to a file or
// folder within the roots, and anything but files, folders and links. So it
// passes testing/fstest.TestFS on any tree whose files may be read. Such a
// name is refused: [ErrInvalidPath], or the reason that fsys has.
//
// Every error is a [*fs.PathError] with the name as package io/fs writes it,
// whose Err is the [*Error]; a read ends with plain [io.EOF]. ReadFile returns
// bytes that are one version of the file, as [ReadFile] does. Open files are
// an [io.Seeker] and [io.ReaderAt] with Capabilities.ReadAt, which
// [net/http.FileServerFS] needs. Without Capabilities.List, ReadDir is
// [ErrUnsupported].
//
// The text that ReadLink returns is relative, which for package io/fs is the
// only kind that leads anywhere: an absolute one is rewritten.
//
// Sub is a view and no anchor, as with [fs.Sub]: links lead out of the folder,
// though not out of fsys. For an anchor take the IOFS of a [Sub].
func IOFS(ctx context.Context, fsys FileSystem) fs.FS {
	b := ioFS{ctx: ctx, fsys: fsys, root: "/"}
	if l, ok := fsys.(Linker); ok && fsys.Capabilities().ReadLink {
		return ioLinkFS{ioFS: b, linker: l}
	}
	return b
}

var (
	_ fs.StatFS     = ioFS{}
	_ fs.ReadDirFS  = ioFS{}
	_ fs.ReadFileFS = ioFS{}
	_ fs.SubFS      = ioFS{}
	_ fs.SubFS      = ioLinkFS{}
	_ fs.ReadLinkFS = ioLinkFS{}
)

type ioFS struct {
	ctx  context.Context
	fsys FileSystem
	root string // canonical path of the folder that is "." here
}

// path returns the machine path of an io/fs name.
func (b ioFS) path(op, name string) (string, error) {
	switch {
	case !fs.ValidPath(name):
		return "", ioError(op, name, &Error{Reason: ErrInvalidPath, Detail: "this is no name of package io/fs"})
	case strings.Contains(name, `\`):
		return "", ioError(op, name, &Error{Reason: ErrInvalidPath, Detail: "package io/fs has no names with a backslash"})
	case name == ".":
		return b.root, nil
	}
	return Join(b.root, name), nil
}

// ioError returns err as package io/fs wants it.
func ioError(op, name string, err error) error {
	outer := op
	if op == OpList {
		outer = "readdir"
	}
	return &fs.PathError{Op: outer, Path: name, Err: Wrap(op, name, err)}
}

func (b ioFS) Open(name string) (fs.File, error) {
	p, err := b.path(OpOpen, name)
	if err != nil {
		return nil, err
	}
	f, err := open(b.ctx, b.fsys, p)
	if err == nil {
		return newIOFile(f, name, b.fsys.Capabilities().ReadAt), nil
	}
	if ReasonOf(err) != ErrNotAFile {
		return nil, ioError(OpOpen, name, err)
	}
	info, statErr := b.fsys.Stat(b.ctx, p)
	if statErr != nil {
		return nil, ioError(OpOpen, name, statErr)
	}
	if !info.IsDir() {
		return nil, ioError(OpOpen, name, err)
	}
	return &ioDir{fsys: b, name: name, path: p, info: newIOInfo(name, info)}, nil
}

func (b ioFS) Stat(name string) (fs.FileInfo, error) {
	p, err := b.path(OpStat, name)
	if err != nil {
		return nil, err
	}
	info, err := b.fsys.Stat(b.ctx, p)
	if err != nil {
		return nil, ioError(OpStat, name, err)
	}
	return newIOInfo(name, info), nil
}

func (b ioFS) ReadFile(name string) ([]byte, error) {
	p, err := b.path(OpOpen, name)
	if err != nil {
		return nil, err
	}
	data, _, err := ReadFile(b.ctx, b.fsys, p)
	if err != nil {
		op := OpRead
		var e *Error
		if errors.As(err, &e) {
			op = e.Op
		}
		return nil, ioError(op, name, err)
	}
	return data, nil
}

func (b ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := b.path(OpList, name)
	if err != nil {
		return nil, err
	}
	d := ioDir{fsys: b, name: name, path: p}
	return d.ReadDir(-1)
}

func (b ioFS) Sub(dir string) (fs.FS, error) {
	sub, err := b.sub(dir)
	if err != nil {
		return nil, err
	}
	return sub, nil
}

func (b ioFS) sub(dir string) (ioFS, error) {
	p, err := b.path(OpSub, dir)
	if err != nil || dir == "." {
		return b, err
	}
	root, err := folder(b.ctx, b.fsys, OpSub, p)
	if err != nil {
		return b, ioError(OpSub, dir, err)
	}
	b.root = root
	return b, nil
}

// shows reports whether the listing of the folder at dir can show e.
func (b ioFS) shows(dir string, e Entry) (bool, error) {
	p := Join(dir, e.Name)
	if e.Name == "." || !fs.ValidPath(e.Name) || strings.ContainsAny(e.Name, `/\`) || len(p) > MaxPath {
		return false, nil
	}
	if e.Info.Kind != KindSymlink {
		return e.Info.Kind == KindRegular || e.Info.Kind == KindDirectory, nil
	}
	_, err := b.fsys.Stat(b.ctx, p)
	switch ReasonOf(err) {
	case "":
		return true, nil
	case ErrCanceled, ErrTimeout, ErrClosed, ErrUnreachable, ErrUnauthorized:
		// These say nothing of the link.
		return false, err
	}
	return false, nil
}

// ioLinkFS is a type of its own, since package io/fs learns from the type
// whether there are links.
type ioLinkFS struct {
	ioFS
	linker Linker
}

func (b ioLinkFS) Lstat(name string) (fs.FileInfo, error) {
	p, err := b.path(OpLstat, name)
	if err != nil {
		return nil, err
	}
	info, err := b.linker.Lstat(b.ctx, p)
	if err != nil {
		return nil, ioError(OpLstat, name, err)
	}
	return newIOInfo(name, info), nil
}

func (b ioLinkFS) ReadLink(name string) (string, error) {
	p, err := b.path(OpReadLink, name)
	if err != nil {
		return "", err
	}
	text, err := b.linker.ReadLink(b.ctx, p)
	if err != nil {
		return "", ioError(OpReadLink, name, err)
	}
	if !strings.HasPrefix(text, "/") {
		return text, nil
	}
	info, err := b.linker.Lstat(b.ctx, p)
	if err != nil {
		return "", ioError(OpReadLink, name, err)
	}
	return relative(Dir(info.Path), text), nil
}

func (b ioLinkFS) Sub(dir string) (fs.FS, error) {
	sub, err := b.sub(dir)
	if err != nil {
		return nil, err
	}
	return ioLinkFS{ioFS: sub, linker: b.linker}, nil
}

// relative returns the link text that leads from the folder dir, a canonical
// path, to where the absolute text leads.
func relative(dir, text string) string {
	var up []string
	for !Contains(dir, text) {
		dir, up = Dir(dir), append(up, "..")
	}
	if down := strings.TrimLeft(text[len(dir):], "/"); down != "" {
		up = append(up, down)
	}
	if len(up) == 0 {
		return "."
	}
	return strings.Join(up, "/")
}

// ioInfo has the name by which something was asked for: fs.FileInfo knows a
// file behind a link by the link's name.
type ioInfo struct {
	stdFileInfo
	name string
}

func newIOInfo(name string, info FileInfo) ioInfo {
	return ioInfo{stdFileInfo{info}, path.Base(name)}
}

func (i ioInfo) Name() string   { return i.name }
func (i ioInfo) String() string { return fs.FormatFileInfo(i) }

// Size leaves out what a folder's size is, which has no meaning and may differ
// from call to call.
func (i ioInfo) Size() int64 {
	if i.IsDir() {
		return 0
	}
	return i.stdFileInfo.Size()
}

type ioEntry struct{ info ioInfo }

func (e ioEntry) Name() string               { return e.info.name }
func (e ioEntry) IsDir() bool                { return e.info.IsDir() }
func (e ioEntry) Type() fs.FileMode          { return e.info.Mode().Type() }
func (e ioEntry) Info() (fs.FileInfo, error) { return e.info, nil }
func (e ioEntry) String() string             { return fs.FormatDirEntry(e) }

// ioDir is an open folder: it lists what is at its path when it is asked.
type ioDir struct {
	fsys   ioFS
	name   string
	path   string
	info   ioInfo
	read   []fs.DirEntry // not yet returned
	after  string        // cursor of the next page
	atEnd  bool
	closed atomic.Bool
}

func (d *ioDir) Stat() (fs.FileInfo, error) { return d.info, nil }

func (d *ioDir) Read([]byte) (int, error) {
	if d.closed.Load() {
		return 0, ioError(OpRead, d.name, ErrClosed)
	}
	return 0, ioError(OpRead, d.name, &Error{Reason: ErrNotAFile, Kind: KindDirectory, Target: d.info.info.Path})
}

func (d *ioDir) Close() error {
	d.closed.Store(true)
	return nil
}

func (d *ioDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.closed.Load() {
		return nil, ioError(OpList, d.name, ErrClosed)
	}
	var err error
	for err == nil && !d.atEnd && (n <= 0 || len(d.read) < n) {
		err = d.nextPage(n)
	}
	entries := d.read
	if n > 0 && len(entries) > n {
		entries = entries[:n:n]
	}
	d.read = d.read[len(entries):]
	if err != nil {
		return entries, ioError(OpList, d.name, err)
	}
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

func (d *ioDir) nextPage(n int) error {
	o := &ListOptions{After: d.after, Details: true}
	if n > 0 {
		o.Limit = max(n, walkPage)
	}
	l, err := list(d.fsys.ctx, d.fsys.fsys, d.path, o)
	if err != nil {
		return err
	}
	for _, e := range l.Entries {
		shown, err := d.fsys.shows(d.path, e)
		if err != nil {
			return err
		}
		if shown {
			d.read = append(d.read, ioEntry{newIOInfo(e.Name, e.Info)})
		}
	}
	if l.Next != "" && l.Next <= d.after {
		return &Error{Reason: ErrIO, Detail: "the file system returned a cursor that leads backwards"}
	}
	d.after, d.atEnd = l.Next, l.Next == ""
	return nil
}

// ioFile is an open file.
type ioFile struct {
	f      File
	name   string
	closed atomic.Bool
}

func newIOFile(f File, name string, readAt bool) fs.File {
	if at, ok := f.(io.ReaderAt); ok && readAt {
		return &ioSeeker{ioFile: ioFile{f: f, name: name}, at: at}
	}
	return &ioFile{f: f, name: name}
}

func (f *ioFile) Stat() (fs.FileInfo, error) { return newIOInfo(f.name, f.f.Info()), nil }

func (f *ioFile) Read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	return n, f.readError(p, err)
}

// readError: a read of nothing tells nothing of the end.
func (f *ioFile) readError(p []byte, err error) error {
	switch {
	case err == nil || err == io.EOF && len(p) == 0:
		return nil
	case err == io.EOF:
		return err
	}
	return ioError(OpRead, f.name, err)
}

func (f *ioFile) Close() error {
	f.closed.Store(true)
	if err := f.f.Close(); err != nil {
		return ioError("close", f.name, err)
	}
	return nil
}

// ioSeeker is an open file that can be read anywhere. As long as nobody seeks
// it reads the file's own stream, which may be faster than single reads.
type ioSeeker struct {
	ioFile
	at       io.ReaderAt
	offset   int64 // where the next Read starts
	streamed int64 // where the file's stream is
}

func (f *ioSeeker) Read(p []byte) (int, error) {
	if f.offset == f.streamed {
		n, err := f.ioFile.Read(p)
		f.offset += int64(n)
		f.streamed = f.offset
		return n, err
	}
	n, err := f.at.ReadAt(p, f.offset)
	f.offset += int64(n)
	return n, f.readError(p, err)
}

func (f *ioSeeker) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.at.ReadAt(p, off)
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, ioError(OpRead, f.name, err)
}

func (f *ioSeeker) Seek(offset int64, whence int) (int64, error) {
	const op = "seek"
	if f.closed.Load() {
		return 0, ioError(op, f.name, ErrClosed)
	}
	var start int64
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		start = f.offset
	case io.SeekEnd:
		if start = f.f.Info().Size; start < 0 {
			return 0, ioError(op, f.name, &Error{Reason: ErrUnsupported, Detail: "the file's size is not known"})
		}
	default:
		return 0, ioError(op, f.name, &Error{Reason: ErrInvalid, Detail: fmt.Sprintf("whence is %d", whence)})
	}
	if start+offset < 0 {
		return 0, ioError(op, f.name, &Error{Reason: ErrInvalid, Detail: "the offset lies before the file"})
	}
	f.offset = start + offset
	return f.offset, nil
}
