// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
)

// FromIOFS returns fsys as a read-only file system: an [embed.FS], a
// [zip.Reader], the FS of an [os.Root], a [testing/fstest.MapFS] or any other.
// Its root is "." of fsys. It is as safe for concurrent use as fsys.
//
// Links: where fsys is an [fs.ReadLinkFS] (os.Root's FS, [os.DirFS], MapFS),
// links are followed step by step within the root; one that leads out of it,
// and one whose text is absolute, is [ErrOutside]. Elsewhere (a zip file) a
// link is listed as a link, and a path through it is [ErrDenied].
//
// Names that package io/fs or the contract does not know, such as those that
// are not UTF-8, are [ErrNotFound] and absent from listings. A FIFO or device
// is described without being opened, as far as fsys can describe it or its
// folder can be listed.
//
// Verify compares size and modification time, and on a disk the identity of
// the file. An embed.FS has no times, but does not change either. Versions are
// not claimed, and ReadAt only for kinds of fs.FS whose files are known to be
// an [io.ReaderAt]. A folder that fsys cannot list is [ErrUnsupported].
//
// Nor is [Capabilities].Confined: package io/fs knows only paths, so a path
// can be swapped between the look at its links and the opening. An os.Root
// still keeps that within its root, an os.DirFS does not: serve a folder that
// others change through os.Root, or through package local.
//
// With a nil fsys, or a nil pointer in one, every call is [ErrUnsupported].
//
// [embed.FS]: https://pkg.go.dev/embed#FS
// [zip.Reader]: https://pkg.go.dev/archive/zip#Reader
func FromIOFS(fsys fs.FS) FileSystem {
	if v := reflect.ValueOf(fsys); fsys == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return closedFileSystem{}
	}
	s := &foreign{fsys: fsys, caps: Capabilities{Links: LinksRefused, List: true}}
	kind, known := concreteType(fsys)
	if l, ok := fsys.(fs.ReadLinkFS); ok && kind != nil && kind.Implements(readLinkFS) {
		s.links = l
		s.caps.Links, s.caps.ReadLink = LinksFollowed, true
	}
	s.statsLinks = known.statsLinks
	s.caps.ReadAt = known.readAt
	s.caps.Streams = known.streams
	return s
}

// knownType is what is known of one of the standard library's types.
type knownType struct {
	streams    bool // Open does not read the whole file
	readAt     bool // every file is an io.ReaderAt
	statsLinks bool // without ReadLinkFS: Stat describes a link as a link, and nothing in it blocks
}

// knownTypes has types that a file system has anywhere beneath fs.Sub, by
// package and name. One that a later Go calls otherwise is claimed less for.
var knownTypes = map[string]knownType{
	"archive/zip.Reader":     {streams: true, statsLinks: true},
	"archive/zip.ReadCloser": {streams: true, statsLinks: true},
	"embed.FS":               {streams: true, statsLinks: true, readAt: true},
	"os.dirFS":               {streams: true, readAt: true},
	"os.rootFS":              {streams: true, readAt: true},
	"testing/fstest.MapFS":   {streams: true, readAt: true},
}

var (
	readLinkFS = reflect.TypeFor[fs.ReadLinkFS]()
	ioFSType   = reflect.TypeFor[fs.FS]()
	subFS      = typeOfSub()
)

// typeOfSub returns the type that fs.Sub has for a file system without a Sub
// of its own.
func typeOfSub() reflect.Type {
	sub, err := fs.Sub(struct{ fs.FS }{}, "x")
	if err != nil {
		return nil
	}
	return reflect.TypeOf(sub)
}

// concreteType returns the type that answers for fsys. The result of fs.Sub
// has every method, whatever the file system beneath it has, so its own type
// tells nothing. nil: not known.
func concreteType(fsys fs.FS) (reflect.Type, knownType) {
	v := reflect.ValueOf(fsys)
	for v.IsValid() && v.Type() == subFS {
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct || v.NumField() == 0 || v.Field(0).Type() != ioFSType {
			return nil, knownType{}
		}
		v = v.Field(0).Elem()
	}
	if !v.IsValid() {
		return nil, knownType{}
	}
	t := v.Type()
	named := t
	if t.Kind() == reflect.Pointer {
		named = t.Elem()
	}
	return t, knownTypes[named.PkgPath()+"."+named.Name()]
}

type foreign struct {
	fsys       fs.FS
	links      fs.ReadLinkFS // nil: links are refused
	statsLinks bool          // see knownType
	caps       Capabilities
}

func (s *foreign) Capabilities() Capabilities { return s.caps }

// openTries bounds how often Open starts again because the file that it found
// has been replaced before it was opened.
const openTries = 100

func (s *foreign) Open(ctx context.Context, path string) (File, error) {
	for range openTries {
		at, err := s.find(ctx, path, true, nil)
		if err == nil && at.kind != KindRegular {
			err = at.notAFile()
		}
		if err != nil {
			return nil, Wrap(OpOpen, path, err)
		}
		f, err := s.openFile(ctx, path, at)
		if err != nil || f != nil {
			return f, Wrap(OpOpen, path, err)
		}
	}
	return nil, Wrap(OpOpen, path, &Error{Reason: ErrChanged, Detail: "the file never kept still"})
}

// openFile returns neither a file nor an error when there is another file now.
func (s *foreign) openFile(ctx context.Context, path string, at place) (File, error) {
	f, err := s.openForeign(ctx, at.path)
	if err != nil {
		return nil, at.fault(err)
	}
	info, err := f.Stat()
	if err == nil && info == nil {
		err = noAnswer("a description")
	}
	if err != nil {
		f.Close()
		return nil, at.fault(err)
	}
	now := place{path: at.path, info: info, kind: KindOf(info.Mode())}
	if now.kind != KindRegular {
		f.Close()
		return nil, now.notAFile()
	}
	if isAnotherFile(at.info, info) {
		f.Close()
		return nil, nil
	}
	opened := &foreignFile{s: s, ctx: ctx, path: path, f: f, std: info, info: now.fileInfo()}
	if !s.caps.ReadAt {
		return opened, nil
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		f.Close()
		return nil, noAnswer("an io.ReaderAt")
	}
	return &foreignReaderAt{foreignFile: opened, at: r}, nil
}

// isAnotherFile reports that a and b are certainly not the same file. Only
// files of a disk have an identity.
func isAnotherFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, a) && os.SameFile(b, b) && !os.SameFile(a, b)
}

func (s *foreign) Stat(ctx context.Context, path string) (FileInfo, error) {
	at, err := s.find(ctx, path, true, nil)
	if err == nil && at.kind != KindRegular && at.kind != KindDirectory {
		err = at.notAFile()
	}
	if err != nil {
		return FileInfo{}, Wrap(OpStat, path, err)
	}
	return at.fileInfo(), nil
}

func (s *foreign) Lstat(ctx context.Context, path string) (FileInfo, error) {
	if s.links == nil {
		return FileInfo{}, Unsupported(OpLstat, path)
	}
	at, err := s.find(ctx, path, false, nil)
	if err != nil {
		return FileInfo{}, Wrap(OpLstat, path, err)
	}
	return at.fileInfo(), nil
}

func (s *foreign) ReadLink(ctx context.Context, path string) (string, error) {
	if s.links == nil {
		return "", Unsupported(OpReadLink, path)
	}
	at, err := s.find(ctx, path, false, nil)
	if err != nil {
		return "", Wrap(OpReadLink, path, err)
	}
	if at.kind != KindSymlink {
		return "", Wrap(OpReadLink, path, &Error{Reason: ErrInvalid, Kind: at.kind, Target: at.path, Detail: "this is not a link"})
	}
	text, err := s.readLink(ctx, at.path)
	if err != nil {
		return "", Wrap(OpReadLink, path, at.fault(err))
	}
	// Whether it leads out is known only once it has been followed to its end.
	switch _, err := s.find(ctx, path, true, nil); ReasonOf(err) {
	case ErrOutside, ErrCanceled, ErrTimeout:
		return "", Wrap(OpReadLink, path, err)
	}
	return text, nil
}

func (s *foreign) List(ctx context.Context, dir string, o *ListOptions) (*Listing, error) {
	at, err := s.find(ctx, dir, true, o.Check())
	if err == nil && at.kind != KindDirectory {
		err = at.notADirectory()
	}
	if err != nil {
		return nil, Wrap(OpList, dir, err)
	}
	found, err := s.readDir(ctx, at.path)
	if err != nil {
		return nil, Wrap(OpList, dir, at.fault(err))
	}
	byName := func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }
	found = slices.DeleteFunc(slices.Clone(found), func(e fs.DirEntry) bool { return e == nil || !expressible(at.path, e.Name()) })
	slices.SortStableFunc(found, byName)
	found = slices.CompactFunc(found, func(a, b fs.DirEntry) bool { return byName(a, b) == 0 })
	entries := make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{Name: e.Name(), Info: FileInfo{Path: Join(at.path, e.Name()), Kind: KindOf(e.Type()), Size: -1}}
	}
	l := Page(at.path, entries, o)
	if o == nil || !o.Details || len(l.Entries) == 0 {
		return l, nil
	}
	first := slices.IndexFunc(found, func(e fs.DirEntry) bool { return e.Name() == l.Entries[0].Name })
	for i := range l.Entries {
		if err := alive(ctx); err != nil {
			return nil, Wrap(OpList, dir, err)
		}
		info, err := found[first+i].Info()
		// The description of what is there by now is none of what was listed.
		if listed := l.Entries[i].Info; err == nil && info != nil && KindOf(info.Mode()) == listed.Kind {
			l.Entries[i].Info = place{listed.Path, info, listed.Kind}.fileInfo()
		}
	}
	return l, nil
}

// find judges the path's text, then invalid, the fault of the other arguments,
// then walks.
func (s *foreign) find(ctx context.Context, path string, follow bool, invalid error) (place, error) {
	if err := alive(ctx); err != nil {
		return place{}, err
	}
	clean, dir, err := Resolve("/", path)
	if err != nil {
		return place{}, err
	}
	if invalid != nil {
		return place{}, invalid
	}
	at, err := s.walk(ctx, clean, follow || dir)
	var e *Error
	switch {
	case dir && errors.As(err, &e) && e.Reason == ErrNotFound:
		return at, &Error{Reason: ErrNotADirectory, Target: e.Target, Detail: "nothing is there, and the path asserts a folder"}
	case err == nil && dir && at.kind != KindDirectory:
		return at, at.notADirectory()
	}
	return at, err
}

// place is where a walk ended.
type place struct {
	path string // canonical
	info fs.FileInfo
	kind Kind
}

func (p place) fileInfo() FileInfo {
	return FileInfo{
		Path: p.path, Kind: p.kind,
		Size: max(p.info.Size(), -1), ModTime: p.info.ModTime(), Mode: p.info.Mode().Perm(),
	}
}

func (p place) notAFile() error {
	return &Error{Reason: ErrNotAFile, Kind: p.kind, Target: p.path}
}

func (p place) notADirectory() error {
	return &Error{Reason: ErrNotADirectory, Kind: p.kind, Target: p.path}
}

// fault returns the error of a call on fsys, without paths of another machine
// that an error of this library may carry there.
func (p place) fault(err error) error {
	var e *Error
	if !errors.As(Wrap("", "", err), &e) {
		return err
	}
	return &Error{Reason: e.Reason, Kind: e.Kind, Rule: e.Rule, Detail: e.Detail, Err: e.Err, Target: p.path}
}

// maxLinks is how many links one path may lead through.
const maxLinks = 40

// walk finds what the clean path leads to. It goes step by step, because only
// that tells which step is at fault: what fsys answers to a path with a file
// as a folder, or a link, in it is its own matter.
func (s *foreign) walk(ctx context.Context, clean string, follow bool) (place, error) {
	at := place{path: "/", kind: KindDirectory}
	steps := strings.Split(clean[1:], "/")
	if clean == "/" {
		steps = nil
	}
	ofLinks := 0 // how many of the first steps are out of the text of a link
	links := 0
	for len(steps) > 0 {
		step := steps[0]
		if at.kind != KindDirectory {
			return place{}, at.notADirectory()
		}
		if step == "." || step == ".." {
			if step == ".." && at.path == "/" {
				return place{}, outside(clean)
			}
			if step == ".." {
				at = place{path: Dir(at.path), kind: KindDirectory}
			}
			steps, ofLinks = steps[1:], ofLinks-1
			continue
		}
		next := place{path: Join(at.path, step)}
		if len(next.path) > MaxPath {
			return place{}, &Error{Reason: ErrInvalidPath, Detail: "the path is too long with its links resolved"}
		}
		if !expressible(at.path, step) {
			return place{}, missing(at.path, steps, ofLinks)
		}
		var err error
		next.info, err = s.examine(ctx, next.path)
		switch ReasonOf(err) {
		case "":
		case ErrNotFound:
			return place{}, missing(at.path, steps, ofLinks)
		default:
			return place{}, next.fault(err)
		}
		next.kind = KindOf(next.info.Mode())
		if next.kind != KindSymlink || len(steps) == 1 && !follow {
			at, steps, ofLinks = next, steps[1:], max(ofLinks-1, 0)
			continue
		}
		if s.links == nil {
			return place{}, refusedLink(clean)
		}
		if links++; links > maxLinks {
			return place{}, &Error{Reason: ErrLoop, Target: clean}
		}
		text, err := s.readLink(ctx, next.path)
		switch ReasonOf(err) {
		case "":
		case ErrInvalid, ErrUnsupported:
			// A type that has the method, over one that has not.
			return place{}, refusedLink(clean)
		case ErrOutside:
			return place{}, outside(clean)
		default:
			return place{}, next.fault(err)
		}
		if isAbsolute(text) {
			return place{}, outside(clean)
		}
		if text == "" {
			return place{}, missing(at.path, steps, 1)
		}
		beyond := strings.Split(filepath.ToSlash(text), "/")
		for i, b := range beyond {
			if b == "" {
				beyond[i] = "." // it asserts a folder, at the end too
			}
		}
		steps, ofLinks = append(beyond, steps[1:]...), len(beyond)+max(ofLinks-1, 0)
	}
	if at.info != nil {
		return at, nil
	}
	info, err := s.examine(ctx, at.path)
	if err != nil {
		return place{}, at.fault(err)
	}
	at.info = info
	if at.path != "/" {
		at.kind = KindOf(info.Mode())
	}
	return at, nil
}

// isAbsolute knows what is absolute on the system that fsys may stand on too.
func isAbsolute(text string) bool {
	return strings.HasPrefix(filepath.ToSlash(text), "/") || filepath.VolumeName(text) != ""
}

func outside(target string) error {
	return &Error{Reason: ErrOutside, Target: target}
}

func refusedLink(target string) error {
	return &Error{Reason: ErrDenied, Rule: "links", Target: target}
}

// missing returns the error of a walk that came to the folder at and did not
// find the first of steps.
func missing(at string, steps []string, ofLinks int) error {
	e := &Error{Reason: ErrNotFound, Target: at}
	for i, step := range steps {
		switch step {
		case ".":
		case "..":
			e.Target = Dir(e.Target)
		default:
			// What a link does not lead to is nothing that a caller could make.
			if i > 0 && ofLinks <= 0 {
				e.MissingDirs = append(e.MissingDirs, e.Target)
			}
			e.Target = Join(e.Target, step)
		}
	}
	return e
}

// expressible reports whether package io/fs and the contract have a path for
// the entry name of dir.
func expressible(dir, name string) bool {
	return name != "." && fs.ValidPath(name) && !strings.ContainsAny(name, "/\x00") &&
		len(name) <= MaxName && len(dir)+1+len(name) <= MaxPath
}

// ioName returns the name that package io/fs has for a canonical path.
func ioName(canonical string) string {
	if canonical == "/" {
		return "."
	}
	return canonical[1:]
}

// alive returns the error of a context that is done.
func alive(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return contextError(ctx, context.Cause(ctx))
}

func noAnswer(what string) error {
	return &Error{Reason: ErrIO, Detail: "the fs.FS returned neither " + what + " nor an error"}
}

// examine describes what is at the canonical path itself, a link as a link,
// without opening anything that might block. Its folder is known to be one.
func (s *foreign) examine(ctx context.Context, canonical string) (fs.FileInfo, error) {
	info, err := s.lstat(ctx, canonical)
	if ReasonOf(err) == ErrInvalid || errors.Is(err, fs.ErrInvalid) {
		// A name that this kind of fs.FS cannot have.
		return nil, ErrNotFound
	}
	return info, err
}

func (s *foreign) lstat(ctx context.Context, canonical string) (fs.FileInfo, error) {
	if s.links != nil {
		if err := alive(ctx); err != nil {
			return nil, err
		}
		return answer(s.links.Lstat(ioName(canonical)))
	}
	if canonical != "/" && !s.statsLinks {
		// Stat may follow a link, or open a FIFO. The folder tells, if it can
		// be listed.
		found, err := s.readDir(ctx, Dir(canonical))
		if err := alive(ctx); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(found, func(e fs.DirEntry) bool { return e != nil && e.Name() == Base(canonical) })
		if err == nil && i >= 0 && found[i].Type() != 0 && found[i].Type() != fs.ModeDir {
			info, err := found[i].Info()
			if err != nil || info == nil || KindOf(info.Mode()) != KindOf(found[i].Type()) {
				info = stdFileInfo{FileInfo{Path: canonical, Kind: KindOf(found[i].Type()), Size: -1}}
			}
			return info, nil
		}
	}
	info, err := s.stat(ctx, canonical)
	var e *Error
	if errors.As(err, &e) && e.Reason == ErrNotAFile && e.Kind != KindUnknown {
		// A file system of this library, by way of IOFS.
		return stdFileInfo{FileInfo{Path: canonical, Kind: e.Kind, Size: -1}}, nil
	}
	return info, err
}

func answer(info fs.FileInfo, err error) (fs.FileInfo, error) {
	if err == nil && info == nil {
		err = noAnswer("a description")
	}
	return info, err
}

// The following do what functions of package io/fs do, with an error where
// those would panic.

func (s *foreign) stat(ctx context.Context, canonical string) (fs.FileInfo, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	if fsys, ok := s.fsys.(fs.StatFS); ok {
		return answer(fsys.Stat(ioName(canonical)))
	}
	f, err := s.openForeign(ctx, canonical)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return answer(f.Stat())
}

func (s *foreign) openForeign(ctx context.Context, canonical string) (fs.File, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	f, err := s.fsys.Open(ioName(canonical))
	if err == nil && f == nil {
		err = noAnswer("a file")
	}
	return f, err
}

func (s *foreign) readDir(ctx context.Context, canonical string) ([]fs.DirEntry, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	if fsys, ok := s.fsys.(fs.ReadDirFS); ok {
		return fsys.ReadDir(ioName(canonical))
	}
	f, err := s.openForeign(ctx, canonical)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &Error{Reason: ErrUnsupported, Detail: "this fs.FS cannot list the folder"}
	}
	return dir.ReadDir(-1)
}

func (s *foreign) readLink(ctx context.Context, canonical string) (string, error) {
	if err := alive(ctx); err != nil {
		return "", err
	}
	return s.links.ReadLink(ioName(canonical))
}

// foreignFile is an open file of fsys.
type foreignFile struct {
	s      *foreign
	ctx    context.Context
	path   string // as the caller wrote it
	f      fs.File
	std    fs.FileInfo // as of Open; some kinds change as the file does
	info   FileInfo
	idle   int // reads in a row that gave nothing
	closed atomic.Bool
}

func (f *foreignFile) Info() FileInfo { return f.info }

// usable returns the error of a file that is closed or whose context is done.
func (f *foreignFile) usable() error {
	if f.closed.Load() {
		return ErrClosed
	}
	return alive(f.ctx)
}

func (f *foreignFile) Read(p []byte) (int, error) {
	if err := f.usable(); err != nil {
		return 0, Wrap(OpRead, f.path, err)
	}
	n, err := f.f.Read(p)
	n, err = f.judge(p, n, err)
	if n > 0 || len(p) == 0 || err != nil {
		f.idle = 0
		return n, err
	}
	if f.idle++; f.idle >= maxIdleReads {
		return 0, Wrap(OpRead, f.path, io.ErrNoProgress)
	}
	return 0, nil
}

// judge keeps wrong counts and foreign errors from the caller.
func (f *foreignFile) judge(p []byte, n int, err error) (int, error) {
	switch {
	case n < 0 || n > len(p):
		return 0, Wrap(OpRead, f.path, &Error{Reason: ErrIO, Detail: fmt.Sprintf("the fs.FS read %d of %d bytes", n, len(p))})
	case err == nil || err == io.EOF:
		return n, err
	}
	return n, Wrap(OpRead, f.path, place{path: f.info.Path}.fault(err))
}

func (f *foreignFile) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	if err := f.f.Close(); err != nil {
		return Wrap(OpRead, f.path, place{path: f.info.Path}.fault(err))
	}
	return nil
}

func (f *foreignFile) Verify(ctx context.Context) error {
	err := f.usable()
	if err == nil {
		err = alive(ctx)
	}
	if err != nil {
		return Wrap(OpVerify, f.path, err)
	}
	now, err := f.s.walk(ctx, f.info.Path, false)
	switch ReasonOf(err) {
	case "":
		i := now.fileInfo()
		if i.Path == f.info.Path && i.Kind == f.info.Kind && i.Size == f.info.Size &&
			i.ModTime.Equal(f.info.ModTime) && !isAnotherFile(f.std, now.info) {
			return nil
		}
	case ErrNotFound, ErrNotADirectory, ErrOutside, ErrDenied, ErrLoop:
	default:
		return Wrap(OpVerify, f.path, err)
	}
	return Wrap(OpVerify, f.path, &Error{Reason: ErrChanged, Target: f.info.Path})
}

// foreignReaderAt is an open file of an fs.FS whose files are all known to be
// an io.ReaderAt.
type foreignReaderAt struct {
	*foreignFile
	at io.ReaderAt
}

func (f *foreignReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if err := f.usable(); err != nil {
		return 0, Wrap(OpRead, f.path, err)
	}
	if off < 0 {
		return 0, Wrap(OpRead, f.path, &Error{Reason: ErrInvalid, Detail: fmt.Sprintf("the offset is %d", off)})
	}
	n, err := f.at.ReadAt(p, off)
	if off >= f.info.Size && n == 0 && ReasonOf(err) == ErrInvalid {
		return 0, io.EOF // an offset far behind the end, to some
	}
	return f.judge(p, n, err)
}
