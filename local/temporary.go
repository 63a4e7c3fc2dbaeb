// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// temporary is a file on its way to a name: without one where the disk can do
// that, so that nothing is left of it if this process dies, else under a
// hidden one. The lock on it tells that its owner lives.
type temporary struct {
	dir     *folder
	name    string // "" while it has none
	file    *os.File
	info    *node       // as it was when it was looked at last
	natural fs.FileMode // the permission bits that the system gives a new file; 0: not known
	gone    bool        // it had a name, which was taken from it: only its bytes are left
}

// create makes an empty temporary file in d, which will get the permission bits
// perm; 0 is those that the system gives a new file. Until then one with a name
// is for its owner alone.
func (d *folder) create(perm fs.FileMode) (*temporary, error) {
	natural := perm == 0
	if natural {
		perm = 0o666
	}
	if d.top {
		// What is staged may have to be discarded after Close.
		own, err := d.dir.again()
		if err != nil {
			return nil, err
		}
		d = &folder{dir: own, root: d.root, path: d.path, info: d.info}
		defer func() { d.close() }()
	}
	t := &temporary{}
	f, err := d.dir.unnamed(perm | 0o600)
	switch {
	case err == nil:
		t.file = f
		t.info, err = describeFile(f)
	case errors.Is(err, errors.ErrUnsupported):
		if !natural {
			perm = 0o600
		}
		err = t.createNamed(d, perm)
	}
	if err != nil {
		if t.file != nil {
			t.file.Close()
		}
		return nil, err
	}
	if natural {
		t.natural = t.info.mode.Perm()
	}
	t.dir = d.retain()
	runtime.SetFinalizer(t, (*temporary).release) // of what nobody publishes or discards
	return t, nil
}

func (t *temporary) createNamed(d *folder, perm fs.FileMode) error {
	for range maxTries {
		name := temporaryName()
		f, err := d.dir.create(name, perm)
		if err != nil {
			return err
		}
		info, err := describeFile(f)
		if err == nil {
			var ok bool
			ok, err = shareLock(f)
			var now *node
			if err == nil {
				now, err = lookupOrNone(d, name)
			}
			if err == nil && ok && now != nil && now.same(info) {
				t.name, t.file, t.info = name, f, info
				return nil
			}
		}
		// A sweep that came between took it for a leftover.
		f.Close()
		if err != nil {
			_ = d.dir.remove(name, false)
			return err
		}
	}
	return restless()
}

// seal exchanges the descriptor for one that cannot write, where the system
// lets a file be opened anew: one that can write keeps others from running the
// file, and from knowing that nobody writes to it.
func (t *temporary) seal() error {
	f, err := t.reopen()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil && locksFolders {
		_, err = shareLock(f)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return err
	}
	t.file.Close()
	t.file = f
	return nil
}

// called gives the file the hidden name in d.
func (t *temporary) called(d *folder, name string) error {
	var err error
	if t.name == "" {
		err = d.dir.name(t.file, name)
	} else {
		err = t.dir.dir.rename(t.name, d.dir, name, replacing)
	}
	if err != nil {
		return err
	}
	if t.dir != d {
		t.dir.close()
		t.dir = d.retain()
	}
	t.name = name
	return nil
}

// lost reports that the file has no name any more, and can get none.
func (t *temporary) lost() bool { return t.gone || t.name != "" && !t.dir.has(t.name, t.info) }

// discard removes the file and releases what t holds.
func (t *temporary) discard() {
	if t.name != "" && !t.gone {
		_ = t.dir.dir.remove(t.name, false)
	}
	t.release()
}

// release leaves the name alone.
func (t *temporary) release() {
	runtime.SetFinalizer(t, nil)
	t.file.Close()
	t.dir.close()
}

// look notes what the file is like now.
func (t *temporary) look() error {
	info, err := describeFile(t.file)
	if err == nil {
		t.info = info
	}
	return err
}

// stamp gives the file a modification time that the file that old describes
// did not have: the clock that the kernel stamps with may stand still between
// the two, and a disk may keep whole seconds only, or even ones.
func (t *temporary) stamp(old *node) error {
	now := time.Now()
	if old == nil {
		if err := setTime(t, now); err != nil {
			return err
		}
		return t.look()
	}
	before := old.modTime()
	if !now.After(before) {
		now = before.Add(1)
	}
	second := before.Truncate(time.Second)
	for _, at := range []time.Time{now, before.Add(time.Microsecond), second.Add(time.Second), second.Add(2 * time.Second)} {
		if err := setTime(t, at); err != nil {
			return err
		}
		if err := t.look(); err != nil || t.info.modified.after(old.modified) {
			return err
		}
	}
	return nil
}
