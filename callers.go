// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
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
	for {
		n, err := f.Read(data[len(data):cap(data)])
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
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
	}
	if err := f.Verify(ctx); err != nil {
		return nil, FileInfo{}, Wrap(OpVerify, path, err)
	}
	return data, info, nil
}

// open keeps a backend that returns neither a file nor an error from turning
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
// Capabilities.Mkdir it is [ErrUnsupported].
func Mkdir(ctx context.Context, fsys FileSystem, dir string, o *MkdirOptions) ([]string, error) {
	if m, ok := fsys.(DirMaker); ok && fsys.Capabilities().Mkdir {
		return m.Mkdir(ctx, dir, o)
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
	if o == nil {
		o = &AppendOptions{}
	}
	if err := o.Check(caps); err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	added, err := readSpool(Content(ctx, content, caps.MaxFileSize))
	if err != nil {
		return WriteResult{}, Wrap(OpAppend, path, err)
	}
	defer added.close()
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

// verified is a file's bytes with Verify in front of their end: whoever reads
// it whole has read one version.
type verified struct {
	ctx context.Context
	f   File
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.f.Read(p)
	if err == io.EOF {
		if changed := v.f.Verify(v.ctx); changed != nil {
			return n, changed
		}
	}
	return n, err
}

// Rename moves what is at from to the name to as [Renamer] does.
//
// Without Capabilities.Rename it can move a regular file: it writes the bytes
// under the new name, removes the old one on the condition that it has not
// changed, and takes the new one back if that fails. Others may see both names
// for a moment, and a crash may leave both. That needs Write, Remove, Versions
// and at least [SwapChecked]; without, and for anything but a regular file, it
// is [ErrUnsupported].
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
	if o == nil {
		o = &RenameOptions{}
	}
	if err := o.Check(caps); err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	source, err := lstat(ctx, w, from)
	if err == nil && source.Kind != KindRegular {
		err = &Error{Reason: ErrUnsupported, Kind: source.Kind, Detail: "only a regular file can be moved by copying"}
	}
	if err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	f, err := open(ctx, w, from)
	if err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	defer f.Close()
	info := f.Info()
	if err := o.If.Check(&info); err != nil {
		return FileInfo{}, Wrap(OpRename, from, err)
	}
	wo := &WriteOptions{If: IfAbsent(), Parents: o.Parents}
	if caps.KeepsMode {
		wo.Mode = info.Mode
	}
	if target, err := lstat(ctx, w, to); err == nil {
		if target.Path == info.Path {
			return info, nil
		}
		if !o.Replace || target.Kind != KindRegular {
			return FileInfo{}, &Error{Op: OpRename, Path: to, Reason: ErrExists, Kind: target.Kind, Target: target.Path}
		}
		wo.If = IfVersion(target.Version)
	} else if ReasonOf(err) != ErrNotFound {
		return FileInfo{}, Wrap(OpRename, to, err)
	}
	// A replaced file is kept until the source is gone, to be put back.
	var old *spool
	if !wo.If.Absent() {
		t, err := open(ctx, w, to)
		if err != nil {
			return FileInfo{}, Wrap(OpRename, to, err)
		}
		old, err = readSpool(&verified{ctx: ctx, f: t})
		t.Close()
		if err != nil {
			return FileInfo{}, Wrap(OpRename, to, err)
		}
		defer old.close()
	}
	r, err := w.Write(ctx, to, &verified{ctx: ctx, f: f}, wo)
	if err != nil && ReasonOf(err) != ErrNotDurable {
		return FileInfo{}, Wrap(OpRename, to, err)
	}
	if err := w.Remove(ctx, from, &RemoveOptions{If: IfVersion(info.Version)}); err != nil && ReasonOf(err) != ErrNotDurable {
		undoing := context.WithoutCancel(ctx)
		var undone error
		if old == nil {
			undone = w.Remove(undoing, to, &RemoveOptions{If: IfVersion(r.Info.Version)})
		} else {
			_, undone = w.Write(undoing, to, old.reader(), &WriteOptions{If: IfVersion(r.Info.Version)})
		}
		failed := Wrap(OpRename, from, err).(*Error)
		if undone != nil {
			failed.Detail = fmt.Sprintf("%s; both names stand", failed.Reason)
			failed.Reason = ErrPartial
		}
		return FileInfo{}, failed
	}
	return r.Info, nil
}

// lstat describes what is at path itself. Without ReadLink it looks for the
// name in its folder's listing where a link might be there.
func lstat(ctx context.Context, fsys FileSystem, path string) (FileInfo, error) {
	caps := fsys.Capabilities()
	if l, ok := fsys.(Linker); ok && caps.ReadLink {
		return l.Lstat(ctx, path)
	}
	if caps.Links == LinksNone || caps.Links == LinksRefused || !caps.List {
		return fsys.Stat(ctx, path)
	}
	info, err := fsys.Stat(ctx, path)
	if err != nil && ReasonOf(err) != ErrNotFound {
		return info, err
	}
	clean, _, resolveErr := Resolve("/", path)
	if resolveErr != nil || clean == "/" {
		return info, err
	}
	// A relative path is asked for with "..": the working directory is the
	// file system's own matter.
	l, listErr := fsys.List(ctx, path+"/..", nil)
	if listErr != nil {
		return info, err
	}
	name := Base(clean)
	for _, e := range l.Entries {
		if e.Name == name && e.Info.Kind == KindSymlink {
			return e.Info, nil
		}
	}
	return info, err
}

// Stage prepares a write as [Stager] does.
//
// Without Capabilities.Stage the content is held by this process, in memory up
// to 1 MiB and then in a temporary file, and Publish is a Write: what Stage
// refuses is then found out by Publish, except for the precondition, which is
// checked at both. Without the write side it is [ErrReadOnly].
func Stage(ctx context.Context, fsys FileSystem, path string, content io.Reader, o *WriteOptions) (Staged, error) {
	caps := fsys.Capabilities()
	if s, ok := fsys.(Stager); ok && caps.Stage {
		return s.Stage(ctx, path, content, o)
	}
	w, err := Writable(fsys)
	if err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	if o == nil {
		o = &WriteOptions{}
	}
	if err := o.Check(caps); err != nil {
		return nil, Wrap(OpStage, path, err)
	}
	info := FileInfo{Kind: KindRegular, Mode: o.Mode}
	now, err := fsys.Stat(ctx, path)
	switch {
	case err == nil && o.If.Absent():
		err = &Error{Reason: ErrExists, Kind: now.Kind, Target: now.Path}
	case err == nil && now.Kind != KindRegular:
		err = &Error{Reason: ErrNotAFile, Kind: now.Kind, Target: now.Path}
	case err == nil:
		err = o.If.Check(&now)
		info.Path = now.Path
		if info.Mode == 0 {
			info.Mode = now.Mode
		}
	case ReasonOf(err) == ErrNotFound:
		missing := Wrap(OpStage, path, err).(*Error)
		if info.Path = missing.Target; info.Path == "" {
			info.Path, _, _ = Resolve("/", path)
		}
		if err = o.If.Check(nil); err == nil && len(missing.MissingDirs) > 0 && !o.Parents {
			err = missing
		}
	}
	if err != nil {
		return nil, Wrap(OpStage, path, err)
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
	f, err := open(ctx, src, from)
	if err != nil {
		return WriteResult{}, Wrap(OpCopy, from, err)
	}
	defer f.Close()
	var options WriteOptions
	if o != nil {
		options = *o
	}
	if mode := f.Info().Mode & fs.ModePerm; options.Mode == 0 && mode != 0 && dst.Capabilities().KeepsMode {
		if _, err := dst.Stat(ctx, to); ReasonOf(err) == ErrNotFound {
			options.Mode = mode
		}
	}
	r, err := w.Write(ctx, to, &verified{ctx: ctx, f: f}, &options)
	return r, Wrap(OpCopy, to, err)
}
