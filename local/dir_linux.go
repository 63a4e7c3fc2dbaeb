// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
)

// descriptor is a dir of a descriptor that only names the folder (O_PATH), so
// that to pass through needs no right but to search.
type descriptor struct{ counted }

// counted is a descriptor that is closed once nobody uses it any more: the
// number may be given to another file right afterwards.
type counted struct {
	fd     int
	users  atomic.Int64 // one more while it is open
	closed atomic.Bool
}

// use reports whether fd may be used until a call of done.
func (c *counted) use() bool {
	for {
		n := c.users.Load()
		if n <= 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (c *counted) done() {
	if c.users.Add(-1) == 0 {
		unix.Close(c.fd)
	}
}

func (c *counted) close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.done()
	return nil
}

func newDescriptor(fd int) *descriptor {
	d := &descriptor{}
	d.fd = fd
	d.users.Store(1)
	return d
}

// openDescriptor opens a folder of the host by its path.
func openDescriptor(path string) (dir, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	// A handle tells nothing of the right to go further.
	if err := unix.Faccessat(fd, ".", unix.X_OK, unix.AT_EACCESS); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return newDescriptor(fd), nil
}

// hasOpenat2 asks the kernel once.
var hasOpenat2 = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH})
	if err == nil {
		unix.Close(fd)
	}
	return err != unix.ENOSYS && err != unix.EPERM && err != unix.EINVAL
})

const folderFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW

// direct resolves a path of plain names in one call: no link, nothing mounted,
// nothing that was moved out meanwhile.
const direct = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

func openat(fd int, name string, flags int, perm fs.FileMode) (int, error) {
	for {
		got, err := unix.Openat(fd, name, flags|unix.O_CLOEXEC, uint32(perm))
		if err != unix.EINTR {
			return got, err
		}
	}
}

func (d *descriptor) openDirectly(path string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: direct}
	for {
		fd, err := unix.Openat2(d.fd, path, &how)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
		case unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EIO:
			return -1, err
		default: // the walk tells why
			return -1, errIndirect
		}
	}
}

func (d *descriptor) reach(path string) (dir, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := d.openDirectly(path, folderFlags)
	if err != nil {
		return nil, err
	}
	return newDescriptor(fd), nil
}

func (d *descriptor) openDirect(path string) (content, *node, error) {
	if !d.use() {
		return nil, nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := d.openDirectly(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, nil, err
	}
	n, err := describeDescriptor(fd)
	if err != nil || !n.isRegular() {
		unix.Close(fd)
		if err == nil {
			err = errIndirect
		}
		return nil, nil, err
	}
	return newReading(fd), n, nil
}

func (d *descriptor) lookupDirect(path string) (*node, error) {
	if !strings.Contains(path, "/") {
		return d.lookup(path)
	}
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := d.openDirectly(path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return describeDescriptor(fd)
}

func (d *descriptor) peek(path string) (*node, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	return statAt(d.fd, path)
}

func (d *descriptor) self() (*node, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	return statAt(d.fd, "")
}

func (d *descriptor) lookup(name string) (*node, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	n, err := statAt(d.fd, name)
	if err == nil && n.isRegular() {
		err = n.generate(func() (string, error) { return generationAt(d.fd, name) })
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (d *descriptor) readlink(name string) (string, error) {
	if !d.use() {
		return "", fs.ErrClosed
	}
	defer d.done()
	for size := 256; ; size *= 2 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(d.fd, name, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", err
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}

func (d *descriptor) enter(name string) (dir, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := openat(d.fd, name, folderFlags, 0)
	if err != nil {
		return nil, err
	}
	return newDescriptor(fd), nil
}

func (d *descriptor) again() (dir, error) { return d.enter(".") }

func (d *descriptor) file(name string, flags int, perm fs.FileMode) (*os.File, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	fd, err := openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NOCTTY, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *descriptor) handle() (*os.File, error) {
	return d.file(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

func (d *descriptor) open(name string) (*os.File, error) {
	return d.file(name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

func (d *descriptor) appendTo(name string) (*os.File, error) {
	var f *os.File
	err := untilUnleased(func() (err error) {
		f, err = d.file(name, unix.O_WRONLY|unix.O_APPEND|unix.O_NONBLOCK, 0)
		return err
	})
	return f, err
}

func (d *descriptor) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.file(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, perm)
}

func (d *descriptor) unnamed(perm fs.FileMode) (*os.File, error) {
	f, err := d.file(".", unix.O_RDWR|unix.O_TMPFILE, perm)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL):
		return nil, errors.ErrUnsupported
	case errors.Is(err, unix.EPERM):
		// So says ext4 of a folder that was removed.
		if n, gone := d.self(); gone == nil && n.links == 0 {
			return nil, unix.ENOENT
		}
	}
	return f, err
}

func (d *descriptor) name(f *os.File, name string) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	return withFile(f, func(fd int) error {
		for {
			err := unix.Linkat(fd, "", d.fd, name, unix.AT_EMPTY_PATH)
			if err == unix.ENOENT {
				// Only some may name a descriptor that way.
				err = unix.Linkat(unix.AT_FDCWD, descriptorPath(fd), d.fd, name, unix.AT_SYMLINK_FOLLOW)
			}
			if err != unix.EINTR {
				return err
			}
		}
	})
}

func (d *descriptor) mkdir(name string, perm fs.FileMode) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	for {
		if err := unix.Mkdirat(d.fd, name, uint32(perm.Perm())); err != unix.EINTR {
			return err
		}
	}
}

func (d *descriptor) remove(name string, folder bool) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	for {
		if err := unix.Unlinkat(d.fd, name, flags); err != unix.EINTR {
			return err
		}
	}
}

// with lends the descriptors of d and of to.
func (d *descriptor) with(to dir, do func(from, to int) error) error {
	t := to.(*descriptor)
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	if !t.use() {
		return fs.ErrClosed
	}
	defer t.done()
	for {
		if err := do(d.fd, t.fd); err != unix.EINTR {
			return err
		}
	}
}

func (d *descriptor) link(name string, to dir, newName string) error {
	return d.with(to, func(a, b int) error { return unix.Linkat(a, name, b, newName, 0) })
}

func (d *descriptor) rename(name string, to dir, newName string, how renameMode) error {
	return d.with(to, func(a, b int) error { return renameAt(a, name, b, newName, how) })
}

func renameAt(a int, name string, b int, newName string, how renameMode) error {
	if how == replacing {
		return unix.Renameat(a, name, b, newName)
	}
	flags := uint(unix.RENAME_NOREPLACE)
	if how == exchanging {
		flags = unix.RENAME_EXCHANGE
	}
	err := unix.Renameat2(a, name, b, newName, flags)
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP:
		return errors.ErrUnsupported
	}
	return err
}

func (d *descriptor) chmod(name string, mode fs.FileMode) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	return chmodAt(d.fd, name, mode)
}

// chmodAt sets the permission bits of the folder called name. It follows no
// link.
func chmodAt(fd int, name string, mode fs.FileMode) error {
	err := unix.Fchmodat(fd, name, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
	if err != unix.EOPNOTSUPP {
		return err
	}
	// Before Linux 6.6 only a handle names it without a look at links.
	handle, err := openat(fd, name, folderFlags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(handle)
	return unix.Chmod(descriptorPath(handle), uint32(mode.Perm()))
}

// To open the file would tell too, but makes an overlay copy it.
func (d *descriptor) mayWrite(name string) error {
	if !d.use() {
		return fs.ErrClosed
	}
	defer d.done()
	return mayWriteAt(d.fd, name)
}

func mayWriteAt(fd int, name string) error {
	return unix.Faccessat(fd, name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
}

func (d *descriptor) attributes(name string, f *os.File) (bool, error) {
	if !d.use() {
		return false, fs.ErrClosed
	}
	defer d.done()
	return copyAttributes(d.fd, name, f)
}

func (d *descriptor) mountOf(name string) (mount, error) {
	if !d.use() {
		return mount{}, fs.ErrClosed
	}
	defer d.done()
	return mountAt(d.fd, name)
}

func (d *descriptor) disk() disk {
	if !d.use() {
		return disk{}
	}
	defer d.done()
	return diskOf(d.fd)
}

func (d *descriptor) entries(name string) ([]entry, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	d.done()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return readEntries(fd)
}

// readEntries reads what is in the folder from where fd is.
func readEntries(fd int) ([]entry, error) {
	buffer := direntBuffers.Get().(*[64 << 10]byte)
	defer direntBuffers.Put(buffer)
	var all []entry
	for {
		n, err := unix.Getdents(fd, buffer[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return all, nil
		}
		if all == nil {
			all = make([]entry, 0, n/24)
		}
		all = appendEntries(all, buffer[:n], string(buffer[:n]))
	}
}

var direntBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// appendEntries reads what getdents64 returns: inode (8 bytes), offset (8),
// length of the record (2), type (1) and the name, which ends with NUL.
// text is b once more: the names are parts of it.
func appendEntries(all []entry, b []byte, text string) []entry {
	const typeAt, nameAt = 18, 19
	for len(b) > nameAt {
		length := int(binary.NativeEndian.Uint16(b[16:]))
		if length <= nameAt || length > len(b) {
			return all
		}
		raw := b[nameAt:length]
		end := max(bytes.IndexByte(raw, 0), 0)
		if name := text[nameAt : nameAt+end]; name != "." && name != ".." && binary.NativeEndian.Uint64(b) != 0 {
			all = append(all, entry{name, kindOfType(b[typeAt])})
		}
		b, text = b[length:], text[length:]
	}
	return all
}

func kindOfType(t byte) ambit.Kind {
	switch t {
	case unix.DT_REG:
		return ambit.KindRegular
	case unix.DT_DIR:
		return ambit.KindDirectory
	case unix.DT_LNK:
		return ambit.KindSymlink
	case unix.DT_FIFO:
		return ambit.KindFIFO
	case unix.DT_SOCK:
		return ambit.KindSocket
	case unix.DT_BLK, unix.DT_CHR:
		return ambit.KindDevice
	}
	return ambit.KindUnknown
}

// descriptorPath is a path to what the descriptor of this process is open at.
func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// statAt describes what has the name in the folder, or the descriptor itself
// where name is "". It has no generation.
func statAt(fd int, name string) (*node, error) {
	var st unix.Stat_t
	for {
		var err error
		if name == "" {
			err = unix.Fstat(fd, &st)
		} else {
			err = unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT)
		}
		if err == nil {
			return nodeOf(&st), nil
		}
		if err != unix.EINTR {
			return nil, err
		}
	}
}

// describeDescriptor describes an open file of any kind.
func describeDescriptor(fd int) (*node, error) {
	n, err := statAt(fd, "")
	if err == nil && n.isRegular() {
		err = n.generate(func() (string, error) { return generationAt(fd, "") })
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func nodeOf(st *unix.Stat_t) *node {
	return &node{
		mode:     modeOf(st.Mode),
		size:     st.Size,
		modified: instant{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
		changed:  instant{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)},
		device:   uint64(st.Dev),
		inode:    st.Ino,
		links:    int(st.Nlink),
		uid:      st.Uid,
		gid:      st.Gid,
	}
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	if mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	}
	return m
}

const (
	maxHandleSize       = 128   // MAX_HANDLE_SZ
	handleForComparison = 0x200 // AT_HANDLE_FID, Linux 6.5: also where a handle cannot be opened
)

// generationAt asks for the disk's own handle of a file, which holds a number
// that a later file with the same inode number does not have.
func generationAt(fd int, name string) (string, error) {
	var handle struct {
		size uint32
		kind int32
		data [maxHandleSize]byte
	}
	var path [maxName + 1]byte
	flags := 0
	if name == "" {
		flags = unix.AT_EMPTY_PATH
	} else if copy(path[:maxName], name) != len(name) {
		return "", unix.ENAMETOOLONG
	}
	extra := 0
	for {
		handle.size = maxHandleSize
		var mountID int32
		_, _, errno := unix.Syscall6(unix.SYS_NAME_TO_HANDLE_AT, uintptr(fd), uintptr(unsafe.Pointer(&path)), uintptr(unsafe.Pointer(&handle)), uintptr(unsafe.Pointer(&mountID)), uintptr(flags|extra), 0)
		switch errno {
		case 0:
			return string(handle.data[:handle.size]), nil
		case unix.EINTR:
		case unix.EOPNOTSUPP:
			if extra != 0 {
				return birthAt(fd, name, flags)
			}
			extra = handleForComparison
		case unix.EINVAL, unix.ENOSYS, unix.EPERM, unix.EACCES, unix.EOVERFLOW:
			// An old kernel, or one told not to answer.
			return birthAt(fd, name, flags)
		default:
			return "", errno
		}
	}
}

// birthAt asks for the time of birth, which is the next best.
func birthAt(fd int, name string, flags int) (string, error) {
	var st unix.Statx_t
	for {
		err := unix.Statx(fd, name, flags|unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BTIME, &st)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ENOSYS, err == nil && st.Mask&unix.STATX_BTIME == 0:
			return "", nil
		case err != nil:
			return "", err
		}
		return strconv.FormatInt(st.Btime.Sec, 36) + "." + strconv.FormatInt(int64(st.Btime.Nsec), 36), nil
	}
}
