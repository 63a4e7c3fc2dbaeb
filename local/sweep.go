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
			m.sweepTemporary(d, name, folders)
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
func (m *machine) sweepTemporary(d *folder, name string, folders bool) {
	info, err := d.dir.lookup(name)
	if err != nil || !info.isRegular() && !(folders && info.isDir()) || !mayClear(d, info) || m.spares(info) {
		return
	}
	if info.isDir() {
		lock, ok := lockLeftover(d, name, info)
		if !ok {
			return
		}
		defer lock.Close()
		_ = deleteTree(d.dir, name, m.spares)
		return
	}
	lock, ok := lockLeftover(d, name, info)
	if !ok {
		return
	}
	defer lock.Close()
	_ = d.dir.remove(name, false)
}

// mayClear reports that what has a hidden name in d can only have got it from
// this user, or from root: whoever may make names in d could give one to a tree
// that he may not delete.
func mayClear(d *folder, info *node) bool {
	return isOwn(info) && info.isRegular() || isOwn(d.info) && d.info.mode.Perm()&0o002 == 0
}

// spares reports that what info describes stays, under whatever name somebody
// has put it.
func (m *machine) spares(info *node) bool {
	if m.isDenied(info) {
		return true
	}
	for _, r := range m.roots {
		if r.top.info.same(info) {
			return true
		}
	}
	for _, n := range m.readOnlyNodes {
		if n.same(info) {
			return true
		}
	}
	return false
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
	if !ok || isHidden(place) || place != "" && m.judgeText(ambit.Join(d.path, place)) != nil {
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
	if err != nil || info.isDir() || m.spares(info) || d.info.mode&fs.ModeSticky != 0 && !isOwn(info) {
		return // in a sticky folder others must not move by a name what they may not
	}
	if key := info.swapKey(); info.isRegular() && (key == staged || key == expected) {
		_ = d.dir.remove(hidden, false)
		return
	}
	if place == "" {
		place = d.nameOf(staged)
	}
	m.putBack(d, hidden, place, staged)
}

// nameOf returns the name that the file has in d, "" for none.
func (d *folder) nameOf(key string) string {
	all, err := d.dir.entries(".")
	if err != nil || key == noFile {
		return ""
	}
	for _, e := range all {
		if isHidden(e.name) {
			continue
		}
		if info, err := d.dir.lookup(e.name); err == nil && info.swapKey() == key {
			return e.name
		}
	}
	return ""
}

// putBack gives another program's file its place again, unless that program,
// or yet another, has put a newer one there.
func (m *machine) putBack(d *folder, hidden, place, staged string) {
	action := RecoveryKept
	if place != "" {
		now, err := d.dir.lookup(place)
		switch {
		case err == nil && staged != noFile && now.swapKey() == staged:
			if d.dir.rename(hidden, d.dir, place, exchanging) == nil {
				_ = d.dir.remove(hidden, false)
				action = RecoveryPutBack
			}
		case ambit.ReasonOf(err) == ambit.ErrNotFound && staged == noFile:
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
