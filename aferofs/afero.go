// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
)

// Afero returns fsys as an [afero.Fs], for code that wants one. Errors are
// those of package os: a [os.PathError] or [os.LinkError] around an errno,
// and around the [ambit.Reason] where no errno means the same, such as
// ambit.ErrChanged. The result is safe for concurrent use, its files are as
// far as those of package os are.
//
// Handles of one file share its bytes, as they do on a disk; each has a
// position of its own. What differs from a disk, since the contract knows
// whole files only:
//
//   - What is written shows to other users of fsys at Sync and Close, all of
//     it at once, and only over what was there when the file was opened: if
//     somebody else has changed it meanwhile, Sync and Close fail with
//     ambit.ErrChanged and nothing is lost but what this handle wrote. A new
//     file shows at once, empty.
//   - A file that is written is held in memory, and can be 1 GiB large.
//   - What somebody else changes through fsys shows when the file is opened
//     anew.
//   - Permission bits of a new file are perm less 022, where fsys keeps them;
//     those of a folder are fsys's own. Chmod, Chown and Chtimes are
//     unsupported ([errors.ErrUnsupported]).
//   - Rename replaces nothing by a folder (EEXIST). A missing name with a
//     slash at its end is no folder (ENOTDIR).
//   - Without Capabilities.Guard, Remove of a folder may take away a file that
//     is made in it at the same moment.
//   - Without Versions or preconditions, what somebody else has written
//     meanwhile is written over.
func Afero(fsys ambit.FileSystem) afero.Fs {
	return &osLike{fsys: fsys, caps: fsys.Capabilities(), open: make(map[string]*openFile)}
}

// osLike is a contract as package os would show it.
type osLike struct {
	fsys ambit.FileSystem
	caps ambit.Capabilities

	// mu orders what changes names or publishes. It is taken before the mu
	// of an openFile.
	mu   sync.Mutex
	open map[string]*openFile // by canonical path
}

var (
	_ afero.Lstater    = (*osLike)(nil)
	_ afero.LinkReader = (*osLike)(nil)
)

func (o *osLike) Name() string { return "ambit" }

// pathError makes err one of package os. nil stays nil.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: sentinel(err)}
}

func linkError(op, old, new string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: old, New: new, Err: sentinel(err)}
}

// sentinel returns the errno for the reason of err, or the reason itself.
func sentinel(err error) error {
	switch r := ambit.ReasonOf(err); r {
	case ambit.ErrNotFound:
		return syscall.ENOENT
	case ambit.ErrExists:
		return syscall.EEXIST
	case ambit.ErrNotADirectory:
		return syscall.ENOTDIR
	case ambit.ErrNotAFile:
		return syscall.EISDIR
	case ambit.ErrNotEmpty:
		return syscall.ENOTEMPTY
	case ambit.ErrDenied, ambit.ErrOutside, ambit.ErrPermission, ambit.ErrUnauthorized, ambit.ErrNotObserved:
		return syscall.EACCES
	case ambit.ErrReadOnly:
		return syscall.EROFS
	case ambit.ErrInvalid, ambit.ErrInvalidPath:
		return syscall.EINVAL
	case ambit.ErrTooLarge:
		return syscall.EFBIG
	case ambit.ErrNoSpace:
		return syscall.ENOSPC
	case ambit.ErrCrossDevice:
		return syscall.EXDEV
	case ambit.ErrLoop:
		return syscall.ELOOP
	case ambit.ErrUnsupported:
		return syscall.ENOTSUP
	case ambit.ErrClosed:
		return os.ErrClosed
	case ambit.ErrIO:
		return syscall.EIO
	default:
		return r
	}
}

// machinePath returns the path that name means. A name of the host's syntax
// becomes one of the machine's.
func machinePath(name string) string { return filepath.ToSlash(name) }

func (o *osLike) Create(name string) (afero.File, error) {
	return o.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (o *osLike) Open(name string) (afero.File, error) {
	return o.OpenFile(name, os.O_RDONLY, 0)
}

func (o *osLike) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	h, err := o.openFile(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return h, nil
}

// The bits of a flag that say what a handle may do.
const accessBits = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

func (o *osLike) openFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if name == "" {
		return nil, ambit.ErrNotFound
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ctx := context.Background()
	path := machinePath(name)
	writes := flag&accessBits != os.O_RDONLY
	if writes && !o.caps.Write {
		return nil, ambit.ErrReadOnly
	}
	var f ambit.File
	var err error
	if flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL {
		if err := o.create(path, perm); err != nil {
			return nil, err
		}
	}
	f, err = o.fsys.Open(ctx, path)
	if ambit.ReasonOf(err) == ambit.ErrNotFound && flag&os.O_CREATE != 0 {
		if err = o.create(path, perm); err == nil || ambit.ReasonOf(err) == ambit.ErrExists {
			f, err = o.fsys.Open(ctx, path)
		}
	}
	if ambit.ReasonOf(err) == ambit.ErrNotAFile && !writes && flag&os.O_CREATE == 0 {
		info, statErr := o.fsys.Stat(ctx, path)
		if statErr == nil && info.IsDir() {
			return &osFolder{o: o, name: name, path: info.Path, info: info}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	n, err := o.share(f)
	if err != nil {
		return nil, err
	}
	if writes && flag&os.O_TRUNC != 0 {
		n.mu.Lock()
		n.take([]byte{})
		n.mu.Unlock()
	}
	return &osFile{o: o, name: name, n: n, flag: flag}, nil
}

// create makes an empty file.
func (o *osLike) create(path string, perm os.FileMode) error {
	w, err := ambit.Writable(o.fsys)
	if err != nil {
		return err
	}
	wo := &ambit.WriteOptions{}
	if o.caps.Swap != ambit.SwapNone {
		wo.If = ambit.IfAbsent()
	}
	if mode := perm.Perm() &^ 0o022; o.caps.KeepsMode {
		wo.Mode = mode
	}
	_, err = w.Write(context.Background(), path, strings.NewReader(""), wo)
	return err
}

// share returns the openFile of f's path: the one that is there, unless the
// file has changed behind it.
func (o *osLike) share(f ambit.File) (*openFile, error) {
	info := f.Info()
	if n := o.open[info.Path]; n != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		same := n.version == info.Version
		if !o.caps.Versions && !n.dirty {
			same = n.info.Size == info.Size && n.info.ModTime.Equal(info.ModTime)
		}
		if same {
			f.Close()
			n.handles++
			return n, nil
		}
	}
	n := &openFile{path: info.Path, handles: 1}
	if err := n.rest(f); err != nil {
		return nil, err
	}
	o.open[info.Path] = n
	return n, nil
}

// release drops a handle of n. The caller holds mu.
func (o *osLike) release(n *openFile) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handles--
	if n.handles > 0 {
		return
	}
	if o.open[n.path] == n {
		delete(o.open, n.path)
	}
	if n.file != nil {
		n.file.Close()
		n.file = nil
	}
}

// publish writes what is only held here. The caller holds mu.
func (o *osLike) publish(n *openFile) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.dirty || n.path == "" {
		return nil
	}
	w, err := ambit.Writable(o.fsys)
	if err != nil {
		return err
	}
	wo := &ambit.WriteOptions{}
	if o.caps.Versions && o.caps.Swap != ambit.SwapNone {
		wo.If = ambit.IfVersion(n.version)
	}
	r, err := w.Write(context.Background(), n.path, bytes.NewReader(n.data), wo)
	if err != nil && ambit.ReasonOf(err) != ambit.ErrNotDurable {
		return err
	}
	n.dirty, n.version, n.info = false, r.Info.Version, r.Info
	return err
}

// detach makes the open files at path and beneath it files without a name,
// which show their bytes and are published no more.
func (o *osLike) detach(path string) {
	for p, n := range o.open {
		if ambit.Contains(path, p) {
			n.mu.Lock()
			n.path = ""
			n.mu.Unlock()
			delete(o.open, p)
		}
	}
}

// lstat describes what is at name itself, as far as fsys can tell.
func (o *osLike) lstat(path string) (ambit.FileInfo, error) {
	if l, ok := o.fsys.(ambit.Linker); ok && o.caps.ReadLink {
		return l.Lstat(context.Background(), path)
	}
	return o.fsys.Stat(context.Background(), path)
}

func (o *osLike) Stat(name string) (os.FileInfo, error) {
	return o.stat("stat", name, func(path string) (ambit.FileInfo, error) {
		return o.fsys.Stat(context.Background(), path)
	})
}

// LstatIfPossible describes a link itself where fsys can.
func (o *osLike) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := o.stat("lstat", name, o.lstat)
	return info, o.caps.ReadLink, err
}

// ReadlinkIfPossible returns the text of a link where fsys can.
func (o *osLike) ReadlinkIfPossible(name string) (string, error) {
	l, ok := o.fsys.(ambit.Linker)
	if !ok || !o.caps.ReadLink {
		return "", &os.PathError{Op: "readlink", Path: name, Err: afero.ErrNoReadlink}
	}
	text, err := l.ReadLink(context.Background(), machinePath(name))
	return text, pathError("readlink", name, err)
}

func (o *osLike) stat(op, name string, look func(path string) (ambit.FileInfo, error)) (os.FileInfo, error) {
	if name == "" {
		return nil, pathError(op, name, ambit.ErrNotFound)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	info, err := look(machinePath(name))
	if err != nil {
		return nil, pathError(op, name, err)
	}
	return o.current(info), nil
}

// current describes a file as its open handles see it. The caller holds mu.
func (o *osLike) current(info ambit.FileInfo) os.FileInfo {
	if n := o.open[info.Path]; n != nil && info.Kind == ambit.KindRegular {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.dirty {
			return n.stat(ambit.Base(info.Path))
		}
	}
	return info.FS()
}

func (o *osLike) Mkdir(name string, _ os.FileMode) error {
	return pathError("mkdir", name, o.mkdir(name, nil))
}

func (o *osLike) MkdirAll(name string, _ os.FileMode) error {
	err := o.mkdir(name, &ambit.MkdirOptions{Parents: true})
	if ambit.ReasonOf(err) == ambit.ErrExists {
		err = ambit.ErrNotADirectory // a file is in the way
	}
	return pathError("mkdir", name, err)
}

func (o *osLike) mkdir(name string, mo *ambit.MkdirOptions) error {
	if name == "" {
		return ambit.ErrNotFound
	}
	_, err := ambit.Mkdir(context.Background(), o.fsys, machinePath(name), mo)
	return err
}

func (o *osLike) Remove(name string) error {
	return pathError("remove", name, o.remove(name, nil))
}

func (o *osLike) RemoveAll(name string) error {
	err := o.remove(name, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
	return pathError("unlinkat", name, err)
}

func (o *osLike) remove(name string, ro *ambit.RemoveOptions) error {
	if name == "" {
		if ro != nil {
			return nil
		}
		return ambit.ErrNotFound
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	path := machinePath(name)
	info, lookErr := o.lstat(path)
	err := ambit.Remove(context.Background(), o.fsys, path, ro)
	if ro == nil && ambit.ReasonOf(err) == ambit.ErrNotAFile && lookErr == nil && info.IsDir() {
		err = o.removeEmpty(info.Path)
	}
	if err == nil && lookErr == nil {
		o.detach(info.Path)
	}
	return err
}

// removeEmpty removes a folder that has no entries, judged by fsys in the
// same step where it has rules.
func (o *osLike) removeEmpty(path string) error {
	ctx := context.Background()
	whole := &ambit.RemoveOptions{Recursive: true}
	if g, ok := o.fsys.(ambit.Guarder); ok && o.caps.Guard {
		only := g.Guard(func(_ context.Context, _ ambit.Op, canonical string) error {
			if canonical != path {
				return ambit.ErrNotEmpty
			}
			return nil
		})
		return ambit.Remove(ctx, only, path, whole)
	}
	l, err := o.fsys.List(ctx, path, &ambit.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if len(l.Entries) > 0 {
		return ambit.ErrNotEmpty
	}
	return ambit.Remove(ctx, o.fsys, path, whole)
}

func (o *osLike) Rename(oldname, newname string) error {
	return linkError("rename", oldname, newname, o.rename(oldname, newname))
}

func (o *osLike) rename(oldname, newname string) error {
	if oldname == "" || newname == "" {
		return ambit.ErrNotFound
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ctx := context.Background()
	before, err := o.lstat(machinePath(oldname))
	if err != nil {
		before = ambit.FileInfo{}
	}
	// What is only held here moves along: it is published first, and what was
	// moved is opened anew, since it may have another version there.
	var along []*openFile
	if before.Path != "" {
		for p, n := range o.open {
			if ambit.Contains(before.Path, p) {
				along = append(along, n)
				if err := o.publish(n); err != nil {
					return err
				}
			}
		}
	}
	after, err := ambit.Rename(ctx, o.fsys, machinePath(oldname), machinePath(newname), &ambit.RenameOptions{Replace: true})
	if err != nil || after.Path == before.Path {
		return err
	}
	o.detach(after.Path)
	for _, n := range along {
		delete(o.open, n.path)
		path := after.Path + n.path[len(before.Path):]
		f, err := o.fsys.Open(ctx, path)
		n.mu.Lock()
		n.path = path
		if err == nil {
			err = n.rest(f)
		}
		if err != nil {
			n.path = ""
		} else {
			o.open[path] = n
		}
		n.mu.Unlock()
	}
	return nil
}

// unsupported fails for what the contract has no word for; a missing file is
// told first.
func (o *osLike) unsupported(op, name string) error {
	if _, err := o.fsys.Stat(context.Background(), machinePath(name)); err != nil {
		return pathError(op, name, err)
	}
	return pathError(op, name, ambit.ErrUnsupported)
}

func (o *osLike) Chmod(name string, _ os.FileMode) error { return o.unsupported("chmod", name) }

func (o *osLike) Chown(name string, _, _ int) error { return o.unsupported("chown", name) }

func (o *osLike) Chtimes(name string, _, _ time.Time) error { return o.unsupported("chtimes", name) }

var _ fs.FileInfo = heldInfo{}

// heldInfo is a file as its handles see it before it is published.
type heldInfo struct {
	fs.FileInfo
	name string
	size int64
	time time.Time
}

func (i heldInfo) Name() string       { return i.name }
func (i heldInfo) Size() int64        { return i.size }
func (i heldInfo) ModTime() time.Time { return i.time }
