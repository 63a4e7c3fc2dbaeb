// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/ambitfs/ambit"
)

// dir is an open folder of the host. Every step of a path and every change of
// a name starts at one and takes one name in it, so that nothing that is moved
// meanwhile leads anywhere else; no method but peek follows a link. There are two: of
// descriptors and the system's own calls on Linux, of [os.Root] elsewhere. A
// dir is safe for concurrent use; after close its methods fail with
// [fs.ErrClosed].
type dir interface {
	self() (*node, error)
	lookup(name string) (*node, error)
	readlink(name string) (string, error)
	enter(name string) (dir, error)       // opens the folder called name
	again() (dir, error)                  // the same folder with a handle of its own
	entries(name string) ([]entry, error) // of the folder called name, in any order; "." is the folder itself
	handle() (*os.File, error)            // of the folder itself, for locks and syncs: the folder must be readable

	open(name string) (*os.File, error)                     // for reading; does not wait
	appendTo(name string) (*os.File, error)                 // for writing at the end; does not wait
	create(name string, perm fs.FileMode) (*os.File, error) // a new file, for reading and writing
	unnamed(perm fs.FileMode) (*os.File, error)             // a new file without a name; errors.ErrUnsupported
	name(f *os.File, name string) error                     // gives a file of unnamed a name that nothing has
	mkdir(name string, perm fs.FileMode) error
	remove(name string, folder bool) error
	link(name string, to dir, newName string) error                   // a second name for what is called name, also for a link
	rename(name string, to dir, newName string, how renameMode) error // both of one kind
	chmod(name string, mode fs.FileMode) error                        // of a folder
	mayWrite(name string) error                                       // asks whether the caller may write to the file
	// attributes gives f the access list and the user's attributes of the file
	// called name, and reports whether f's permission bits may have changed by that.
	attributes(name string, f *os.File) (bool, error)
	mountOf(name string) (mount, error) // "" is the folder itself
	disk() disk
	pin(name string) (*pinned, error) // holds on to the file

	// reach opens the folder at path, some names beneath, with one call where
	// the system can; errIndirect where it cannot, or not for this path.
	reach(path string) (dir, error)
	// openDirect opens the regular file at path for reading and describes it,
	// under the same terms.
	openDirect(path string) (content, *node, error)
	// lookupDirect describes what is at path, under the same terms.
	lookupDirect(path string) (*node, error)
	// peek describes what the system finds at path. A link on the way may have
	// led it out: it is for comparing with what is known to be inside.
	peek(path string) (*node, error)

	close() error
}

// errIndirect says that a path has to be walked name by name.
var errIndirect = errors.New("the path has to be walked")

// renameMode says what rename does about what has the new name.
type renameMode uint8

const (
	replacing  renameMode = iota
	keeping               // fails with EEXIST; errors.ErrUnsupported where the disk has no such rename
	exchanging            // swaps the two; errors.ErrUnsupported where the disk has no such rename
)

// entry is a name in a folder.
type entry struct {
	name string
	kind ambit.Kind // KindUnknown: to be looked up
}

// disk is what is known of the file system that a folder lies on.
type disk struct {
	movesFolders bool // lets every folder have another name
	exchanges    bool // swaps two names in one step
	volatile     bool // nothing on it survives a power cut
	folds        bool // takes letters of either case for the same, or may do so: names have to be looked up
	plain        bool // opening what lies there has no effect but to open it
}

// node is what the system tells of a file or folder.
type node struct {
	mode     fs.FileMode
	size     int64
	modified instant
	changed  instant // of anything about it; zero: not told
	device   uint64
	inode    uint64
	links    int
	uid, gid uint32
	// generation tells files apart that have had one inode number after the
	// other: the disk's file handle, or the time of birth.
	generation string
	tokens     *tokens     // if they are known
	info       fs.FileInfo // where the system gives no numbers
}

func (n *node) isDir() bool     { return n.mode.IsDir() }
func (n *node) isRegular() bool { return n.mode.IsRegular() }
func (n *node) isLink() bool    { return n.mode.Type() == fs.ModeSymlink }
func (n *node) kind() ambit.Kind {
	return ambit.KindOf(n.mode)
}

func (n *node) modTime() time.Time { return n.modified.time() }

// same reports that both describe one file.
func (n *node) same(m *node) bool {
	if n.info != nil && m.info != nil {
		return os.SameFile(n.info, m.info)
	}
	return n.key() == m.key()
}

// unchanged reports that m describes the same file, in the state that n
// describes.
func (n *node) unchanged(m *node) bool {
	return n.same(m) && n.size == m.size && n.modified == m.modified && n.changed == m.changed && n.mode == m.mode
}

// fileKey is the identity of a file among those that exist.
type fileKey struct{ device, inode uint64 }

func (n *node) key() fileKey { return fileKey{n.device, n.inode} }

// content is an open regular file.
type content interface {
	Read(b []byte) (int, error)
	ReadAt(b []byte, off int64) (int, error)
	describe() (*node, error)
	Close() error
}

// instant is a time as disks keep it, which reaches further than nanoseconds
// in one number.
type instant struct{ sec, nsec int64 }

func (i instant) time() time.Time { return time.Unix(i.sec, i.nsec) }

func (i instant) after(j instant) bool {
	return i.sec > j.sec || i.sec == j.sec && i.nsec > j.nsec
}

func instantOf(t time.Time) instant { return instant{t.Unix(), int64(t.Nanosecond())} }
