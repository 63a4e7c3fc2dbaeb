// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	lexical "path"
	"slices"
	"strings"
	"sync"
)

// Writable returns the write side of fsys, the one way to it: a type may have
// the methods and not the capability. Without Capabilities.Write it is
// [ErrReadOnly].
func Writable(fsys FileSystem) (WritableFileSystem, error) {
	w, ok := fsys.(WritableFileSystem)
	if !ok || !fsys.Capabilities().Write {
		return nil, &Error{Op: OpWrite, Reason: ErrReadOnly}
	}
	return w, nil
}

// ReadFile reads the whole file at path and verifies once, at the end, that
// the bytes are one version of it: else it is [ErrChanged]. The FileInfo is
// that of the bytes returned.
func ReadFile(ctx context.Context, fsys FileSystem, path string) ([]byte, FileInfo, error) {
	return readFile(ctx, fsys, path, -1)
}

// ReadFileMax is [ReadFile] for a file of at most max bytes. A larger one is
// [ErrTooLarge], never a prefix.
func ReadFileMax(ctx context.Context, fsys FileSystem, path string, max int64) ([]byte, FileInfo, error) {
	if err := judgeCall(ctx, fsys, OpOpen, path); err != nil {
		return nil, FileInfo{}, err
	}
	if max < 0 {
		return nil, FileInfo{}, &Error{Op: OpOpen, Path: path, Reason: ErrInvalid, Detail: fmt.Sprintf("max is %d", max)}
	}
	return readFile(ctx, fsys, path, max)
}

// trustedSize bounds what is allocated for a size that a file system only
// claims.
const trustedSize = 64 << 20

func readFile(ctx context.Context, fsys FileSystem, path string, limit int64) ([]byte, FileInfo, error) {
	f, err := open(ctx, fsys, path)
	if err != nil {
		return nil, FileInfo{}, err
	}
	defer f.Close()
	info := f.Info()
	if limit >= 0 && info.Size > limit {
		return nil, FileInfo{}, Wrap(OpOpen, path, tooLarge(limit, info.Size))
	}
	// One byte more than the size, so that the end shows without growing.
	data := make([]byte, 0, min(max(info.Size, 511), trustedSize)+1)
	for idle := 0; ; {
		n, err := f.Read(data[len(data):cap(data)])
		if n < 0 || n > cap(data)-len(data) || idle >= maxIdleReads {
			return nil, FileInfo{}, &Error{Op: OpRead, Path: path, Reason: ErrIO, Detail: "the file's Read returns impossible counts"}
		}
		data = data[:len(data)+n]
		if limit >= 0 && int64(len(data)) > limit {
			return nil, FileInfo{}, Wrap(OpOpen, path, tooLarge(limit, int64(len(data))))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, FileInfo{}, Wrap(OpRead, path, err)
		}
		if idle++; n > 0 {
			idle = 0
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
	if err := f.Verify(ctx); err != nil {
		return nil, FileInfo{}, Wrap(OpVerify, path, err)
	}
	return data, info, nil
}

// open opens path, and keeps a backend that returns neither a file nor an error from turning
// into a panic of its caller.
func open(ctx context.Context, fsys FileSystem, path string) (File, error) {
	f, err := fsys.Open(ctx, path)
	if err != nil {
		return nil, Wrap(OpOpen, path, err)
	}
	if f == nil {
		return nil, &Error{Op: OpOpen, Path: path, Reason: ErrIO, Detail: "the file system returned neither a file nor an error"}
	}
	return f, nil
}

// list does for List what open does for Open.
func list(ctx context.Context, fsys FileSystem, dir string, o *ListOptions) (*Listing, error) {
	l, err := fsys.List(ctx, dir, o)
	if err != nil {
		return nil, Wrap(OpList, dir, err)
	}
	if l == nil {
		return nil, &Error{Op: OpList, Path: dir, Reason: ErrIO, Detail: "the file system returned neither a listing nor an error"}
	}
	return l, nil
}

// judgeCall judges what comes before the options of a call, for the functions
// that judge those themselves: whether ctx is done, and the texts of paths.
func judgeCall(ctx context.Context, fsys FileSystem, op string, paths ...string) error {
	if ctx.Err() != nil {
		first := ""
		if len(paths) > 0 {
			first = paths[0]
		}
		return Wrap(op, first, contextError(ctx, context.Cause(ctx)))
	}
	for _, path := range paths {
		_, _, err := Resolve("/", path)
		if ReasonOf(err) == ErrOutside && path[0] != '/' {
			// The file system knows where a relative path starts.
			if _, err = fsys.Stat(ctx, path); ReasonOf(err) != ErrOutside {
				err = nil
			}
		}
		if err != nil {
			return Wrap(op, path, err)
		}
	}
	return nil
}

// WriteFile writes data to path as [WritableFileSystem].Write does. The file
// system keeps no reference to data.
func WriteFile(ctx context.Context, fsys FileSystem, path string, data []byte, o *WriteOptions) (WriteResult, error) {
	w, err := Writable(fsys)
	if err != nil {
		return WriteResult{}, Wrap(OpWrite, path, err)
	}
	return w.Write(ctx, path, bytes.NewReader(data), o)
}

// Remove removes the name at path as [WritableFileSystem].Remove does. Without
// the write side it is [ErrReadOnly].
func Remove(ctx context.Context, fsys FileSystem, path string, o *RemoveOptions) error {
	w, err := Writable(fsys)
	if err != nil {
		return Wrap(OpRemove, path, err)
	}
	return w.Remove(ctx, path, o)
}

// Mkdir makes the folder dir as [DirMaker] does. There is no fallback: without
// Capabilities.Mkdir it is [ErrUnsupported], or [ErrReadOnly] without the
// write side.
func Mkdir(ctx context.Context, fsys FileSystem, dir string, o *MkdirOptions) ([]string, error) {
	if m, ok := fsys.(DirMaker); ok && fsys.Capabilities().Mkdir {
		return m.Mkdir(ctx, dir, o)
	}
	if _, err := Writable(fsys); err != nil {
		return nil, Wrap(OpMkdir, dir, err)
	}
	return nil, Unsupported(OpMkdir, dir)
}

// appendTries bounds how often the fallback of Append starts again. Each time
// somebody else's change has succeeded, so only a storm of them exhausts it.
const appendTries = 1000

// Append adds the bytes of content to the end of the file at path as
// [Appender] does.
//
// Without Capabilities.Append it reads the file and writes it whole, on the
// condition that it is still the one read, and starts again when it is not,
// so that concurrent appends all survive. That needs Write, Versions and at
// least [SwapChecked]; without, it is [ErrUnsupported].
func Append(ctx context.Context, fsys FileSystem, path string, content io.Reader, o *AppendOptions) (WriteResult, error) {
	caps := fsys.Capabilities()
	if a, ok := fsys.(Appender); ok && caps.Append {
		return a.Append(ctx, path, content, o)
	}
	w, err := Writable(fsys)
	if err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	if !caps.Versions || caps.Swap == SwapNone {
		return WriteResult{}, Unsupported(OpAppend, path)
	}
	if err := judgeCall(ctx, fsys, OpAppend, path); err != nil {
		return WriteResult{}, err
	}
	if o == nil {
		o = &AppendOptions{}
	}
	if err := firstError(o.Check(caps), CheckContent(content)); err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	create := &WriteOptions{If: o.If, Parents: o.Parents, Mode: o.Mode}
	if _, err := judgeWrite(ctx, w, path, create); err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	added, err := readSpool(Content(ctx, content, caps.MaxFileSize))
	if err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	defer added.close()
	if o.If.Absent() {
		r, err := w.Write(ctx, path, added.reader(), create)
		return r, Wrap(OpAppend, path, err)
	}
	for range appendTries {
		r, err := appendOnce(ctx, w, path, added, o)
		again := err != nil && o.If.IsZero() && (ReasonOf(err) == ErrChanged || ReasonOf(err) == ErrExists)
		if !again {
			return r, Wrap(OpAppend, path, err)
		}
	}
	return WriteResult{}, &Error{Op: OpAppend, Path: path, Reason: ErrChanged, Detail: "the file never kept still"}
}

func appendOnce(ctx context.Context, w WritableFileSystem, path string, added *spool, o *AppendOptions) (WriteResult, error) {
	f, err := open(ctx, w, path)
	if ReasonOf(err) == ErrNotFound {
		if err := o.If.Check(nil); err != nil {
			return WriteResult{}, err
		}
		return w.Write(ctx, path, added.reader(), &WriteOptions{If: IfAbsent(), Parents: o.Parents, Mode: o.Mode})
	}
	if err != nil {
		return WriteResult{}, err
	}
	defer f.Close()
	info := f.Info()
	if err := o.If.Check(&info); err != nil {
		return WriteResult{}, err
	}
	return w.Write(ctx, path, io.MultiReader(&verified{ctx: ctx, f: f}, added.reader()), &WriteOptions{If: IfVersion(info.Version)})
}

// firstError returns the first error that there is.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeWrite judges as a Write with o would, as far as can be seen without
// writing, and describes what it would write: the file that is there, or the
// one to be.
func judgeWrite(ctx context.Context, fsys FileSystem, path string, o *WriteOptions) (FileInfo, error) {
	caps := fsys.Capabilities()
	look := fsys.Stat
	if o.If.Absent() {
		look = func(ctx context.Context, path string) (FileInfo, error) { return lstat(ctx, fsys, path) }
	}
	info, err := look(ctx, path)
	switch {
	case err == nil && o.If.Absent():
		return info, o.If.Check(&info)
	case err == nil && info.Kind != KindRegular:
		return info, &Error{Reason: ErrNotAFile, Kind: info.Kind, Target: info.Path}
	case err == nil && info.Mode != 0 && info.Mode&0o222 == 0:
		return info, &Error{Reason: ErrPermission, Detail: "the file has no write permission"}
	case err == nil:
		return info, o.If.Check(&info)
	case ReasonOf(err) != ErrNotFound:
		return info, err
	}
	if !o.If.Absent() {
		if link, err := lstat(ctx, fsys, path); err == nil && link.Kind == KindSymlink {
			return info, danglingLink(link.Path)
		}
	}
	missing := Wrap(OpStat, path, err).(*Error)
	if len(missing.MissingDirs) == 0 && caps.Links != LinksNone && caps.Links != LinksRefused {
		// No parent is said to be missing: one that is lies behind a link.
		_, err := fsys.Stat(ctx, path+"/..")
		if r := ReasonOf(err); r == ErrNotFound || r == ErrNotADirectory {
			if o.Parents {
				missing = danglingLink(missing.Target)
			}
			return info, missing
		}
	}
	if err := o.If.Check(nil); err != nil {
		return info, err
	}
	if len(missing.MissingDirs) > 0 && !o.Parents {
		return info, missing
	}
	info = FileInfo{Path: missing.Target, Kind: KindRegular}
	if info.Path == "" {
		info.Path, _, _ = Resolve("/", path)
	}
	return info, nil
}

func danglingLink(canonical string) *Error {
	return &Error{Reason: ErrDenied, Rule: "dangling-link", Target: canonical}
}

// verified is a file's bytes with Verify in front of their end: whoever reads
// it whole has read one version.
type verified struct {
	ctx    context.Context
	f      File
	failed error // what ended the reading too early
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.f.Read(p)
	if err == io.EOF {
		if changed := v.f.Verify(v.ctx); changed != nil {
			err = changed
		}
	}
	if err != nil && err != io.EOF {
		v.failed = err
	}
	return n, err
}

// Rename moves what is at from to the name to as [Renamer] does.
//
// Without Capabilities.Rename it can move a regular file, to a name that is
// free or, with Replace, has another regular file: it writes the bytes under
// the new name, removes the old one on the condition that it has not changed,
// and puts back what the new name had if that fails. Others may see both names
// for a moment, a crash may leave both, and folders that were made for a move
// that failed stay. That needs Write, Remove, Versions and at least
// [SwapChecked]; without, and for anything but regular files, it is
// [ErrUnsupported]. It is [ErrPartial] when undoing failed too, and
// [ErrOutcomeUnknown] when it is not known whether the old name is gone: then
// the new one stands.
func Rename(ctx context.Context, fsys FileSystem, from, to string, o *RenameOptions) (FileInfo, error) {
	caps := fsys.Capabilities()
	if r, ok := fsys.(Renamer); ok && caps.Rename {
		return r.Rename(ctx, from, to, o)
	}
	w, err := Writable(fsys)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	if !caps.Versions || caps.Swap == SwapNone || !caps.Remove {
		return FileInfo{}, Unsupported(OpRename, from)
	}
	if err := judgeCall(ctx, fsys, OpRename, from, to); err != nil {
		return FileInfo{}, err
	}
	if o == nil {
		o = &RenameOptions{}
	}
	if err := o.Check(caps); err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	f, err := openToMove(ctx, w, from, o.If)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	defer f.Close()
	info := f.Info()
	target, err := lookToReplace(ctx, w, to, o.Replace, info.Path)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, to, err)
	}
	wo := &WriteOptions{If: IfAbsent(), Parents: o.Parents}
	if caps.KeepsMode {
		wo.Mode = info.Mode.Perm()
	}
	// A replaced file is kept until the source is gone, to be put back.
	var old *spool
	if target != nil {
		if target.Path == info.Path {
			return info, nil
		}
		wo.If = IfVersion(target.Version)
		if old, err = holdFile(ctx, w, to); err != nil {
			return FileInfo{}, Wrap(OpRename, to, err)
		}
		defer old.close()
	}
	source := &verified{ctx: ctx, f: f}
	r, writeErr := w.Write(ctx, to, source, wo)
	if writeErr != nil && ReasonOf(writeErr) != ErrNotDurable {
		if source.failed != nil {
			to = from
		}
		return FileInfo{}, Wrap(OpRename, to, writeErr)
	}
	f.Close()
	err = w.Remove(ctx, from, &RemoveOptions{If: IfVersion(info.Version)})
	switch ReasonOf(err) {
	case "":
		return r.Info, Wrap(OpRename, to, writeErr)
	case ErrNotDurable:
		return r.Info, Wrap(OpRename, from, err)
	case ErrOutcomeUnknown, ErrPartial:
		// The old name may be gone: the new one must not go too.
		return r.Info, Wrap(OpRename, from, err)
	}
	// The caller's context may be what failed; undoing must not fail with it.
	undoing := context.WithoutCancel(ctx)
	var undone error
	if old == nil {
		undone = w.Remove(undoing, to, &RemoveOptions{If: IfVersion(r.Info.Version)})
	} else {
		back := &WriteOptions{If: IfVersion(r.Info.Version)}
		if caps.KeepsMode {
			back.Mode = target.Mode.Perm()
		}
		_, undone = w.Write(undoing, to, old.reader(), back)
	}
	if undone != nil && ReasonOf(undone) != ErrNotDurable {
		return r.Info, partial(OpRename, from, err, "both names stand")
	}
	return FileInfo{}, Wrap(OpRename, from, err)
}

// openToMove opens the regular file at from, which p speaks of.
func openToMove(ctx context.Context, w WritableFileSystem, from string, p Precondition) (File, error) {
	there, err := lstatToTake(ctx, w, from)
	switch {
	case ReasonOf(err) == ErrNotFound && !p.IsZero():
		return nil, p.Check(nil)
	case err != nil:
		return nil, err
	case there.Path == "/":
		return nil, &Error{Reason: ErrInvalid, Kind: KindDirectory, Target: "/", Detail: "the root stays where it is"}
	case there.Kind != KindRegular && !p.IsZero():
		return nil, &Error{Reason: ErrInvalid, Kind: there.Kind, Target: there.Path, Detail: "a precondition speaks of a regular file"}
	case there.Kind != KindRegular:
		return nil, &Error{Reason: ErrUnsupported, Kind: there.Kind, Detail: "only a regular file can be moved by copying"}
	}
	f, err := open(ctx, w, from)
	if err != nil {
		return nil, err
	}
	info := f.Info()
	if err = p.Check(&info); err == nil && info.Path != there.Path {
		err = &Error{Reason: ErrChanged, Target: there.Path, Detail: "the file became a link meanwhile"}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lookToReplace returns the regular file at to, which may be replaced or is
// source itself, and nil where the name is free.
func lookToReplace(ctx context.Context, w WritableFileSystem, to string, replace bool, source string) (*FileInfo, error) {
	target, err := lstatToTake(ctx, w, to)
	switch {
	case ReasonOf(err) == ErrNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case target.Path == source:
	case target.Kind == KindDirectory && assertsFolder(to):
		return nil, &Error{Reason: ErrNotADirectory, Target: source, Detail: "what is to be moved is a file"}
	case target.Kind == KindDirectory || !replace:
		return nil, &Error{Reason: ErrExists, Kind: target.Kind, Target: target.Path}
	case target.Kind != KindRegular:
		return nil, &Error{Reason: ErrUnsupported, Kind: target.Kind, Detail: "only a regular file can be replaced by copying"}
	}
	return &target, nil
}

// holdFile reads one version of the file at path into a spool.
func holdFile(ctx context.Context, fsys FileSystem, path string) (*spool, error) {
	f, err := open(ctx, fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSpool(&verified{ctx: ctx, f: f})
}

// partial is the error of a change that failed with err and could not be
// undone.
func partial(op, path string, err error, stands string) error {
	failed := Wrap(op, path, err).(*Error)
	failed.Detail = fmt.Sprintf("%s; %s", failed.Reason, stands)
	failed.Reason = ErrPartial
	failed.Err = causeFor(ErrPartial, failed.Err)
	return failed
}

// lstat describes what is at path itself. Without ReadLink it looks for the
// name in its folder's listing where Stat may speak of something else.
func lstat(ctx context.Context, fsys FileSystem, path string) (FileInfo, error) {
	caps := fsys.Capabilities()
	if l, ok := fsys.(Linker); ok && caps.ReadLink {
		return l.Lstat(ctx, path)
	}
	info, err := fsys.Stat(ctx, path)
	if assertsFolder(path) || !caps.List {
		return info, err
	}
	links := caps.Links != LinksNone
	switch ReasonOf(err) {
	case "":
		if !links || caps.Links == LinksRefused {
			return info, nil
		}
	case ErrNotFound, ErrLoop, ErrOutside, ErrDenied:
		if !links {
			return info, err
		}
	case ErrNotAFile:
	default:
		return info, err
	}
	// A relative path is asked for with "..": the working directory is the
	// file system's own matter.
	l, listErr := list(ctx, fsys, path+"/..", nil)
	if listErr != nil {
		return info, err
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, e := range l.Entries {
		if e.Name == name && (e.Info.Kind == KindSymlink || err != nil && e.Info.Kind != KindUnknown) {
			return e.Info, nil
		}
	}
	return info, err
}

// lstatToTake is lstat for a removal or a move away, which act on a link itself
// and with a trailing slash want a real folder.
func lstatToTake(ctx context.Context, fsys FileSystem, path string) (FileInfo, error) {
	if name := lexical.Clean(path); assertsFolder(path) && !assertsFolder(name) {
		if link, err := lstat(ctx, fsys, name); err == nil && link.Kind == KindSymlink {
			return link, &Error{Reason: ErrNotADirectory, Kind: KindSymlink, Target: link.Path}
		}
	}
	return lstat(ctx, fsys, path)
}

// assertsFolder reports whether path, as written, asserts a folder.
func assertsFolder(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// Stage prepares a write as [Stager] does.
//
// Without Capabilities.Stage the content is held by this process, in memory up
// to 1 MiB and then in a temporary file, and Publish is a Write: what Stage
// would refuse and a look cannot tell, such as a missing right to write, is
// then found out by Publish. Without the write side it is [ErrReadOnly].
func Stage(ctx context.Context, fsys FileSystem, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	caps := fsys.Capabilities()
	if s, ok := fsys.(Stager); ok && caps.Stage {
		return s.Stage(ctx, path, content, o)
	}
	w, err := Writable(fsys)
	if err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	if err := judgeCall(ctx, fsys, OpStage, path); err != nil {
		return nil, err
	}
	if o == nil {
		o = &WriteOptions{}
	}
	if err := firstError(o.Check(caps), CheckContent(content)); err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	info, err := judgeWrite(ctx, fsys, path, o)
	if err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	info = FileInfo{Path: info.Path, Kind: KindRegular, Mode: info.Mode}
	if o.Mode != 0 {
		info.Mode = o.Mode
	}
	held, err := readSpool(Content(ctx, content, caps.MaxFileSize))
	if err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	info.Size = held.size
	return &spooled{w: w, path: path, o: *o, info: info, held: held}, nil
}

// spooled is the Staged of the fallback.
type spooled struct {
	w    WritableFileSystem
	path string
	o    WriteOptions
	info FileInfo

	mu   sync.Mutex
	held *spool // nil: published or discarded
}

func (s *spooled) Info() FileInfo { return s.info }

func (s *spooled) Publish(ctx context.Context) (WriteResult, error) {
	held := s.take()
	if held == nil {
		return WriteResult{}, &Error{Op: OpPublish, Path: s.path, Reason: ErrClosed}
	}
	defer held.close()
	r, err := s.w.Write(ctx, s.path, held.reader(), &s.o)
	return r, Wrap(OpPublish, s.path, err)
}

func (s *spooled) Discard(context.Context) error {
	s.take().close()
	return nil
}

func (s *spooled) take() *spool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	return held
}

// Copy writes the file at from of src to the path to of dst, streaming, and
// publishes only if the source did not change meanwhile: else it is
// [ErrChanged] and dst is as it was. A new file gets the source's permission
// bits where o has no Mode and dst keeps them. Both may be the same file
// system.
func Copy(ctx context.Context, dst FileSystem, to string, src FileSystem, from string, o *WriteOptions) (WriteResult, error) {
	w, err := Writable(dst)
	if err != nil {
		return WriteResult{}, Wrap(OpCopy, to, err)
	}
	if err := judgeCall(ctx, dst, OpCopy, to); err != nil {
		return WriteResult{}, err
	}
	if err := judgeCall(ctx, src, OpCopy, from); err != nil {
		return WriteResult{}, err
	}
	if err := o.Check(dst.Capabilities()); err != nil {
		return WriteResult{}, Wrap(OpCopy, to, err)
	}
	f, err := open(ctx, src, from)
	if err != nil {
		return WriteResult{}, Wrap(OpCopy, from, err)
	}
	defer f.Close()
	var options WriteOptions
	if o != nil {
		options = *o
	}
	if mode := f.Info().Mode.Perm(); options.Mode == 0 && mode != 0 && dst.Capabilities().KeepsMode {
		if _, err := dst.Stat(ctx, to); ReasonOf(err) == ErrNotFound {
			options.Mode = mode
		}
	}
	source := &verified{ctx: ctx, f: f}
	r, err := w.Write(ctx, to, source, &options)
	if err != nil && source.failed != nil {
		to = from
	}
	return r, Wrap(OpCopy, to, err)
}
