// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/ambitfs/ambit"
)

// Names of this form belong to the library: what a call prepares, and what it
// has taken away and not yet deleted. They are long and fixed so that nobody
// has one by accident. Letters of either case count, since some disks take
// them for the same.
const (
	temporaryPrefix = ".ambit.tmp."
	temporaryBytes  = 16
)

func isTemporary(name string) bool {
	if len(name) != len(temporaryPrefix)+hex.EncodedLen(temporaryBytes) || !strings.EqualFold(name[:len(temporaryPrefix)], temporaryPrefix) {
		return false
	}
	_, err := hex.DecodeString(name[len(temporaryPrefix):])
	return err == nil
}

func temporaryName() string {
	b := make([]byte, temporaryBytes)
	rand.Read(b) // never fails
	return temporaryPrefix + hex.EncodeToString(b)
}

// reserved is the error of a call that would make a name of that form.
func reserved(p *place) error {
	return &ambit.Error{
		Reason: ambit.ErrDenied, Rule: "temporary-name", Target: p.path(),
		Detail: "names of this form are kept for the file system itself",
	}
}

// temporary is a file under a temporary name. The lock on it tells that its
// owner lives.
type temporary struct {
	dir     *folder
	name    string
	file    *os.File
	natural fs.FileMode // the permission bits that the system gives a new file; 0: not known
}

// create makes an empty temporary file in d. A private one is for its owner
// alone until it gets other bits.
func (d *folder) create(private bool) (*temporary, error) {
	perm := fs.FileMode(0o666)
	if private {
		perm = 0o600
	}
	d = d.retain()
	defer func() { d.close() }()
	if d.top {
		// What is staged may have to be discarded after Close.
		own, err := d.dir.OpenRoot(".")
		if err != nil {
			return nil, err
		}
		d = &folder{dir: own, root: d.root, path: d.path, info: d.info}
	}
	for range maxTries {
		t := &temporary{dir: d, name: temporaryName()}
		f, err := d.dir.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return nil, err
		}
		t.file = f
		info, err := f.Stat()
		if err == nil {
			var ok bool
			if ok, err = tryLock(f); err == nil && ok && d.has(t.name, info) {
				if !private {
					t.natural = info.Mode().Perm()
				}
				t.dir = d.retain()
				return t, nil
			}
		}
		// A sweep that came between took it for a leftover.
		f.Close()
		if err != nil {
			d.dir.Remove(t.name)
			return nil, err
		}
	}
	return nil, restless()
}

// has reports that name is still what info describes, temporary names too.
func (d *folder) has(name string, info fs.FileInfo) bool {
	now, err := d.dir.Lstat(name)
	return err == nil && os.SameFile(now, info)
}

// discard removes the file and releases what t holds.
func (t *temporary) discard() {
	t.dir.dir.Remove(t.name)
	t.release()
}

// release leaves the name alone.
func (t *temporary) release() {
	t.file.Close()
	t.dir.close()
}

// move takes the file along into another folder.
func (t *temporary) move(to *folder) error {
	name := temporaryName()
	if err := renameBetween(t.dir, t.name, to, name); err != nil {
		return err
	}
	t.dir.close()
	t.dir, t.name = to.retain(), name
	return nil
}

// sweep removes those of the temporary names in d whose owners are dead,
// folders only if told so: deleting a tree is not what a caller who only looks
// should cause. It is housekeeping: nothing depends on its success.
func sweep(d *folder, names []string, folders bool) {
	if !canSweep {
		return
	}
	for _, name := range names {
		if isTemporary(name) {
			sweepOne(d, name, folders)
		}
	}
}

func sweepOne(d *folder, name string, folders bool) {
	info, err := d.dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !(folders && info.IsDir()) {
		return
	}
	f, err := d.dir.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if ok, err := tryLock(f); err != nil || !ok || !opened(f, info) || !d.has(name, info) {
		return
	}
	if info.IsDir() {
		_ = deleteTree(d.dir, name)
		return
	}
	d.dir.Remove(name)
}

func opened(f *os.File, info fs.FileInfo) bool {
	now, err := f.Stat()
	return err == nil && os.SameFile(now, info)
}

// sweepOnce looks for leftovers in d unless this value has done so before: it
// costs a listing.
func (fsys *FileSystem) sweepOnce(d *folder) {
	if !canSweep {
		return
	}
	if _, done := fsys.swept.LoadOrStore(identity(d.info), struct{}{}); done {
		return
	}
	f, err := d.dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err == nil || !errors.Is(err, fs.ErrClosed) {
		sweep(d, names, true)
	}
}
