// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ambitfs/ambit"
)

// maxHeld is how large a file can be that is held in memory to be written.
const maxHeld = 1 << 30

// An openFile is what the handles of one file share.
type openFile struct {
	mu      sync.Mutex
	path    string // canonical; "" once it has lost its name; changes under osLike.mu too
	handles int
	info    ambit.FileInfo
	version ambit.Version // of the bytes that data or file hold, dirty ones aside

	file  ambit.File // until data is taken
	at    io.ReaderAt
	data  []byte // nil: in file
	dirty bool
	time  time.Time // of the last change that is only held here
}

// rest makes n show f, and nothing else. The caller holds mu, or n is new.
func (n *openFile) rest(f ambit.File) error {
	if n.file != nil {
		n.file.Close()
	}
	n.file, n.data, n.dirty = f, nil, false
	n.info, n.version = f.Info(), f.Info().Version
	n.at, _ = f.(io.ReaderAt)
	if n.at != nil {
		return nil
	}
	return n.load()
}

// load takes the whole file into memory. The caller holds mu.
func (n *openFile) load() error {
	if n.data != nil {
		return nil
	}
	if n.file == nil {
		return ambit.ErrClosed
	}
	var r io.Reader = n.file
	if n.at != nil {
		r = io.NewSectionReader(n.at, 0, maxHeld+1)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxHeld+1))
	if err == nil && len(data) > maxHeld {
		err = ambit.ErrTooLarge
	}
	if err == nil && n.path != "" {
		// A file without a name has changed for that alone, and is published
		// no more.
		err = n.file.Verify(context.Background())
	}
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte{}
	}
	n.keep(data)
	return nil
}

func (n *openFile) keep(data []byte) {
	n.data = data
	if n.file != nil {
		n.file.Close()
		n.file, n.at = nil, nil
	}
}

// take makes data, which is not nil, the content that is to be published. The
// caller holds mu.
func (n *openFile) take(data []byte) {
	n.keep(data)
	n.dirty, n.time = true, time.Now()
}

// size is in bytes. The caller holds mu.
func (n *openFile) size() int64 {
	if n.data != nil {
		return int64(len(n.data))
	}
	return n.info.Size
}

// stat describes n under the name that it is asked by. The caller holds mu.
func (n *openFile) stat(name string) os.FileInfo {
	i := heldInfo{FileInfo: n.info.FS(), name: name, size: n.size(), time: n.info.ModTime}
	if n.dirty {
		i.time = n.time
	}
	return i
}

// readAt is an io.ReaderAt. The caller holds mu.
func (n *openFile) readAt(p []byte, off int64) (int, error) {
	if n.data == nil {
		if n.at == nil {
			return 0, ambit.ErrClosed
		}
		return n.at.ReadAt(p, off)
	}
	if off >= int64(len(n.data)) {
		return 0, io.EOF
	}
	m := copy(p, n.data[off:])
	if m < len(p) {
		return m, io.EOF
	}
	return m, nil
}

// writeAt writes p at off, with zeros between the end and there. The caller
// holds mu.
func (n *openFile) writeAt(p []byte, off int64) error {
	if off > maxHeld-int64(len(p)) {
		return syscall.EFBIG
	}
	if err := n.load(); err != nil {
		return err
	}
	data := n.data
	if end := off + int64(len(p)); end > int64(len(data)) {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	copy(data[off:], p)
	n.take(data)
	return nil
}

// truncate cuts or extends with zeros. The caller holds mu.
func (n *openFile) truncate(size int64) error {
	if size == 0 {
		n.take([]byte{})
		return nil
	}
	if size > maxHeld {
		return syscall.EFBIG
	}
	if err := n.load(); err != nil {
		return err
	}
	data := n.data
	if old := int64(len(data)); size <= old {
		data = data[:size:size]
	} else {
		data = append(data, make([]byte, size-old)...)
	}
	n.take(data)
	return nil
}

// osFile is one handle.
type osFile struct {
	o    *osLike
	name string
	n    *openFile
	flag int

	mu     sync.Mutex // taken before the openFile's
	pos    int64
	closed bool
}

func (f *osFile) Name() string { return f.name }

// fail makes err one of package os: an errno stays, io.EOF too.
func (f *osFile) fail(op string, err error) error {
	var errno syscall.Errno
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.As(err, &errno):
		return &os.PathError{Op: op, Path: f.name, Err: errno}
	case errors.Is(err, os.ErrClosed) && f.closed:
		return &os.PathError{Op: op, Path: f.name, Err: os.ErrClosed}
	}
	return pathError(op, f.name, err)
}

// anyAccess denies nobody.
const anyAccess = -1

// with runs act on the shared file if this handle is open, and not with the
// access that is denied.
func (f *osFile) with(op string, denied int, act func(n *openFile) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.fail(op, os.ErrClosed)
	}
	if f.flag&accessBits == denied {
		return f.fail(op, syscall.EBADF)
	}
	f.n.mu.Lock()
	defer f.n.mu.Unlock()
	return f.fail(op, act(f.n))
}

// unreadable is the access that may not read into p: as package os does, it
// lets nothing be read from everything.
func (f *osFile) unreadable(p []byte) int {
	if len(p) == 0 {
		return anyAccess
	}
	return os.O_WRONLY
}

func (f *osFile) Read(p []byte) (n int, err error) {
	err = f.with("read", f.unreadable(p), func(file *openFile) error {
		if len(p) == 0 {
			return nil
		}
		n, err = file.readAt(p, f.pos)
		f.pos += int64(n)
		if n > 0 && err == io.EOF {
			err = nil
		}
		return err
	})
	return n, err
}

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, &os.PathError{Op: "readat", Path: f.name, Err: errNegative}
	}
	err = f.with("read", f.unreadable(p), func(file *openFile) error {
		if len(p) == 0 {
			return nil
		}
		n, err = file.readAt(p, off)
		return err
	})
	return n, err
}

func (f *osFile) Seek(offset int64, whence int) (int64, error) {
	var at int64
	err := f.with("seek", anyAccess, func(n *openFile) error {
		switch whence {
		case io.SeekStart:
			at = offset
		case io.SeekCurrent:
			at = f.pos + offset
		case io.SeekEnd:
			at = n.size() + offset
		default:
			return syscall.EINVAL
		}
		if at < 0 {
			return syscall.EINVAL
		}
		f.pos = at
		return nil
	})
	if err != nil {
		return 0, err
	}
	return at, nil
}

func (f *osFile) Write(p []byte) (int, error) {
	err := f.with("write", os.O_RDONLY, func(n *openFile) error {
		if len(p) == 0 {
			return nil
		}
		if f.flag&os.O_APPEND != 0 {
			f.pos = n.size()
		}
		if err := n.writeAt(p, f.pos); err != nil {
			return err
		}
		f.pos += int64(len(p))
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Errors of package os, which does not export them.
var (
	errAppend   = errors.New("os: invalid use of WriteAt on file opened with O_APPEND")
	errNegative = errors.New("negative offset")
)

func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	if f.flag&os.O_APPEND != 0 {
		return 0, errAppend
	}
	if off < 0 {
		return 0, &os.PathError{Op: "writeat", Path: f.name, Err: errNegative}
	}
	err := f.with("write", os.O_RDONLY, func(n *openFile) error {
		if len(p) == 0 {
			return nil
		}
		return n.writeAt(p, off)
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *osFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *osFile) Truncate(size int64) error {
	return f.with("truncate", anyAccess, func(n *openFile) error {
		if size < 0 || f.flag&accessBits == os.O_RDONLY {
			return syscall.EINVAL
		}
		return n.truncate(size)
	})
}

func (f *osFile) Stat() (info os.FileInfo, err error) {
	err = f.with("stat", anyAccess, func(n *openFile) error {
		info = n.stat(filepath.Base(f.name))
		return nil
	})
	return info, err
}

func (f *osFile) Readdir(int) ([]os.FileInfo, error) {
	return nil, f.with("readdirent", anyAccess, func(*openFile) error { return syscall.ENOTDIR })
}

func (f *osFile) Readdirnames(int) ([]string, error) {
	return nil, f.with("readdirent", anyAccess, func(*openFile) error { return syscall.ENOTDIR })
}

// Sync publishes what was written.
func (f *osFile) Sync() error {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.fail("sync", os.ErrClosed)
	}
	return f.fail("sync", f.o.publish(f.n))
}

// Close publishes what was written, and closes the handle whether or not that
// went well.
func (f *osFile) Close() error {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.fail("close", os.ErrClosed)
	}
	var err error
	if f.flag&accessBits != os.O_RDONLY {
		err = f.fail("close", f.o.publish(f.n))
	}
	f.closed = true
	f.o.release(f.n)
	return err
}

// osFolder is a handle of a folder. It lists what is there at the first
// Readdir.
type osFolder struct {
	o    *osLike
	name string
	path string
	info ambit.FileInfo

	mu      sync.Mutex
	closed  bool
	listed  bool
	entries []os.FileInfo // not returned yet
}

func (d *osFolder) Name() string { return d.name }

func (d *osFolder) fail(op string, errno error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		errno = os.ErrClosed
	}
	return &os.PathError{Op: op, Path: d.name, Err: errno}
}

func (d *osFolder) Read([]byte) (int, error) { return 0, d.fail("read", syscall.EISDIR) }

func (d *osFolder) ReadAt(_ []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &os.PathError{Op: "readat", Path: d.name, Err: errNegative}
	}
	return 0, d.fail("read", syscall.EISDIR)
}

func (d *osFolder) Write([]byte) (int, error) { return 0, d.fail("write", syscall.EBADF) }

func (d *osFolder) WriteAt(_ []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &os.PathError{Op: "writeat", Path: d.name, Err: errNegative}
	}
	return 0, d.fail("write", syscall.EBADF)
}

func (d *osFolder) WriteString(string) (int, error) { return 0, d.fail("write", syscall.EBADF) }

func (d *osFolder) Truncate(int64) error { return d.fail("truncate", syscall.EINVAL) }

// Seek to the start makes the listing begin anew.
func (d *osFolder) Seek(offset int64, whence int) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return 0, &os.PathError{Op: "seek", Path: d.name, Err: os.ErrClosed}
	case offset != 0 || whence != io.SeekStart:
		return 0, &os.PathError{Op: "seek", Path: d.name, Err: syscall.EINVAL}
	}
	d.listed, d.entries = false, nil
	return 0, nil
}

func (d *osFolder) Stat() (os.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &os.PathError{Op: "stat", Path: d.name, Err: os.ErrClosed}
	}
	return heldInfo{FileInfo: d.info.FS(), name: filepath.Base(d.name), size: d.info.Size, time: d.info.ModTime}, nil
}

func (d *osFolder) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &os.PathError{Op: "sync", Path: d.name, Err: os.ErrClosed}
	}
	return nil
}

func (d *osFolder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return &os.PathError{Op: "close", Path: d.name, Err: os.ErrClosed}
	}
	d.closed = true
	return nil
}

// Readdir returns the entries sorted by name.
func (d *osFolder) Readdir(count int) ([]os.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &os.PathError{Op: "readdirent", Path: d.name, Err: os.ErrClosed}
	}
	if !d.listed {
		if err := d.list(); err != nil {
			return nil, pathError("readdirent", d.name, err)
		}
	}
	if count <= 0 {
		rest := d.entries
		d.entries = nil
		return rest, nil
	}
	if len(d.entries) == 0 {
		return nil, io.EOF
	}
	count = min(count, len(d.entries))
	page := d.entries[:count:count]
	d.entries = d.entries[count:]
	return page, nil
}

func (d *osFolder) list() error {
	l, err := d.o.fsys.List(context.Background(), d.path, &ambit.ListOptions{Details: true})
	if err != nil {
		return err
	}
	d.o.mu.Lock()
	defer d.o.mu.Unlock()
	d.entries = make([]os.FileInfo, 0, len(l.Entries))
	for _, e := range l.Entries {
		d.entries = append(d.entries, d.o.current(e.Info))
	}
	d.listed = true
	return nil
}

func (d *osFolder) Readdirnames(count int) ([]string, error) {
	infos, err := d.Readdir(count)
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Name()
	}
	return names, err
}

// ReadDir makes it an [fs.ReadDirFile].
func (d *osFolder) ReadDir(count int) ([]fs.DirEntry, error) {
	infos, err := d.Readdir(count)
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, err
}
