// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io/fs"
	"os"

	"github.com/ambitfs/ambit"
)

// parents are the folders that a call has made on its way, outermost first.
//
// Whoever makes a folder through this library, or is told by a change that it
// is there, holds the lock of the one above. So parents holds the lock of each
// folder that it has made until the call is through: none is taken back that
// somebody builds on.
type parents struct {
	*machine
	made []madeFolder
	kept int // so many of made are not taken back any more
}

type madeFolder struct {
	in   *folder
	name string
	info *node
	dir  *folder  // the folder itself, nil while nothing is made in it
	lock *os.File // its lock, nil if somebody else had it at once
}

// make makes the missing folders above the last name of p, whose folder the
// caller has locked, and returns the place of that name in the last of them.
// It is nil when something has come to be there or was moved away; then what
// it has made is gone again.
func (m *parents) make(p *place) (*place, error) {
	in, name := p.parent, p.name
	for _, next := range p.beyond {
		ok, err := m.makeOne(in, name)
		if ok {
			in, err = m.enter()
		}
		if !ok || err != nil || in == nil {
			m.takeBack()
			return nil, err
		}
		name = next
	}
	return &place{parent: in.retain(), name: name}, nil
}

// makeOne makes the folder name of in. ok is false when something has come to
// be there or was moved away.
func (m *parents) makeOne(in *folder, name string) (ok bool, err error) {
	mode := m.o.NewDirMode
	if mode == 0 {
		mode = 0o777
	}
	if err := in.dir.mkdir(name, mode); err != nil {
		return false, unlessSwapped(err)
	}
	info, err := in.dir.lookup(name)
	if err == nil && info.isDir() && m.o.NewDirMode != 0 && info.mode.Perm() != mode {
		if err = in.dir.chmod(name, mode); err == nil {
			info.mode = fs.ModeDir | mode
		}
	}
	if err != nil {
		_ = in.dir.remove(name, true)
	}
	if err != nil || !info.isDir() {
		return false, unlessSwapped(err)
	}
	m.made = append(m.made, madeFolder{in: in.retain(), name: name, info: info})
	return true, nil
}

// enter opens and locks the folder that was made last. It is nil when
// something else is there by now.
func (m *parents) enter() (*folder, error) {
	f := &m.made[len(m.made)-1]
	dir, ok, err := f.in.enter(f.name, f.info)
	if err != nil || !ok {
		return nil, err
	}
	f.dir = dir
	lock, err := dir.dir.handle()
	if err != nil {
		return nil, unlessSwapped(err)
	}
	// To wait could mean to wait for somebody who waits for this call.
	if ok, err := tryLock(lock); err == nil && ok {
		f.lock = lock
	} else {
		lock.Close()
	}
	return dir, nil
}

// paths are the canonical ones, nil for none.
func (m *parents) paths() []string {
	var paths []string
	for _, f := range m.made {
		paths = append(paths, ambit.Join(f.in.path, f.name))
	}
	return paths
}

// takeBack removes the folders again, except those that somebody else may
// count on. The caller holds the lock that it had for make.
func (m *parents) takeBack() {
	for len(m.made) > m.kept {
		last := len(m.made) - 1
		f := m.made[last]
		alone := last == m.kept || m.made[last-1].lock != nil
		if !alone || f.in.has(f.name, f.info) && f.in.dir.remove(f.name, true) != nil {
			break // those above are not empty either
		}
		f.close()
		m.made = m.made[:last]
	}
	for i := range m.made {
		m.made[i].unlock()
	}
	m.kept = len(m.made)
}

// sync makes the folders survive a power cut.
func (m *parents) sync() error {
	for _, f := range m.made {
		if err := m.syncDir(f.in); err != nil {
			return err
		}
	}
	return nil
}

func (m *parents) close() {
	for i := range m.made {
		m.made[i].close()
	}
	m.made = nil
}

func (f *madeFolder) unlock() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}

func (f *madeFolder) close() {
	f.unlock()
	if f.dir != nil {
		f.dir.close()
	}
	f.in.close()
}
