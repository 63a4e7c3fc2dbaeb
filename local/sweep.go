// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/ambitfs/ambit"
)

// sweep clears up what processes that died have left under hidden names in d;
// folders only if told so: deleting a tree is not what a caller who only looks
// should cause. It is housekeeping: nothing depends on its success.
func (m *machine) sweep(d *folder, names []string, folders bool) {
	if !locksFolders || !m.caps.Write || m.isReadOnly(d.path) {
		return // or nothing tells whether the owner lives
	}
	for _, name := range names {
		switch {
		case hasPrefixFold(name, temporaryPrefix):
			sweepTemporary(d, name, folders)
		case hasPrefixFold(name, swapPrefix):
			m.sweepSwap(d, name)
		}
	}
}

func hasPrefixFold(name, prefix string) bool {
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// sweepOnce looks for leftovers in d unless this value has done so before: it
// costs a listing.
func (m *machine) sweepOnce(d *folder) {
	if !locksFolders {
		return
	}
	if _, done := m.swept.LoadOrStore(d.info.key(), struct{}{}); done {
		return
	}
	all, err := d.dir.entries(".")
	if err != nil {
		return
	}
	var left []string
	for _, e := range all {
		if isHidden(e.name) {
			left = append(left, e.name)
		}
	}
	m.sweep(d, left, true)
}

// sweepTemporary deletes what nobody holds the lock of any more.
func sweepTemporary(d *folder, name string, folders bool) {
	info, err := d.dir.lookup(name)
	if err != nil || !info.isRegular() && !(folders && info.isDir()) {
		return
	}
	if info.isDir() {
		lock, ok := lockLeftover(d, name, info)
		if !ok {
			return
		}
		defer lock.Close()
		_ = deleteTree(d.dir, name)
		return
	}
	lock, ok := lockLeftover(d, name, info)
	if !ok {
		return
	}
	defer lock.Close()
	_ = d.dir.remove(name, false)
}

// lockLeftover takes the lock of what is called name, which only works when
// its owner is dead.
func lockLeftover(d *folder, name string, info *node) (*os.File, bool) {
	f, err := openLeftover(d, name, info)
	if err != nil {
		return nil, false
	}
	now, err := describeFile(f)
	if ok, lockErr := tryLock(f); err != nil || lockErr != nil || !ok || !now.same(info) || !d.has(name, info) {
		f.Close()
		return nil, false
	}
	return f, true
}

func openLeftover(d *folder, name string, info *node) (*os.File, error) {
	if !info.isDir() {
		return d.dir.open(name)
	}
	sub, err := d.dir.enter(name)
	if err != nil {
		return nil, err
	}
	defer sub.close()
	return sub.handle()
}

// sweepSwap finishes or takes back a conditional change of a process that
// died: it deletes what that process had made, or had seen and replaced. A file
// that is neither was put there by another program between, and must not get
// lost.
func (m *machine) sweepSwap(d *folder, hidden string) {
	staged, expected, place, ok := parseSwapName(hidden)
	if !ok {
		return
	}
	// The folder's lock is held by every swap that is at work.
	f, err := d.dir.handle()
	if err != nil {
		return
	}
	defer f.Close()
	if ok, err := tryLock(f); err != nil || !ok {
		return
	}
	info, err := d.dir.lookup(hidden)
	if err != nil || info.isDir() {
		return
	}
	if d.info.mode&fs.ModeSticky != 0 && !isOwn(info) {
		return // others may make names here, and must not move ours by them
	}
	if info.isRegular() && (info.inode == staged || info.inode == expected) {
		_ = d.dir.remove(hidden, false)
		return
	}
	if place == "" {
		place = d.nameOf(staged)
	}
	m.putBack(d, hidden, place, staged)
}

// nameOf returns the name that the file has in d, "" for none.
func (d *folder) nameOf(inode uint64) string {
	all, err := d.dir.entries(".")
	if err != nil || inode == 0 {
		return ""
	}
	for _, e := range all {
		if isHidden(e.name) {
			continue
		}
		if info, err := d.dir.lookup(e.name); err == nil && info.inode == inode {
			return e.name
		}
	}
	return ""
}

// putBack gives another program's file its place again, unless that program,
// or yet another, has put a newer one there.
func (m *machine) putBack(d *folder, hidden, place string, staged uint64) {
	action := RecoveryKept
	if place != "" {
		now, err := d.dir.lookup(place)
		switch {
		case err == nil && staged != 0 && now.inode == staged:
			if d.dir.rename(hidden, d.dir, place, exchanging) == nil {
				_ = d.dir.remove(hidden, false)
				action = RecoveryPutBack
			}
		case ambit.ReasonOf(err) == ambit.ErrNotFound && staged == 0:
			err = d.dir.rename(hidden, d.dir, place, keeping)
			if errors.Is(err, errors.ErrUnsupported) {
				err = d.dir.link(hidden, d.dir, place)
				if err == nil {
					_ = d.dir.remove(hidden, false)
				}
			}
			if err == nil {
				action = RecoveryPutBack
			}
		}
	}
	if action == RecoveryKept {
		type kept struct {
			folder fileKey
			name   string
		}
		if _, told := m.swept.LoadOrStore(kept{d.info.key(), hidden}, struct{}{}); told {
			return
		}
	}
	if place == "" {
		place = hidden
	}
	m.recovered(ambit.Join(d.path, place), action)
}

func (m *machine) recovered(path string, action RecoveryAction) {
	if m.o.Recovered != nil {
		m.o.Recovered(Recovery{Path: path, Action: action})
	}
}
