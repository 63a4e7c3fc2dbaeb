// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"

	"github.com/ambitfs/ambit"
)

// parents are the folders that a call has made on its way, outermost first.
type parents struct {
	made []madeFolder
}

type madeFolder struct {
	in   *folder
	name string
	info fs.FileInfo
}

// make makes the missing name of p. ok is false when something has come to be
// there.
func (m *parents) make(p *place) (ok bool, err error) {
	err = p.parent.dir.Mkdir(p.name, 0o777)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := p.parent.dir.Lstat(p.name)
	if err != nil || !info.IsDir() {
		return false, err
	}
	m.made = append(m.made, madeFolder{in: p.parent.retain(), name: p.name, info: info})
	return true, nil
}

// paths are the canonical ones, nil for none.
func (m *parents) paths() []string {
	var paths []string
	for _, f := range m.made {
		paths = append(paths, ambit.Join(f.in.path, f.name))
	}
	return paths
}

// takeBack removes the folders again. One that somebody uses by now is not
// empty and stays.
func (m *parents) takeBack() {
	for i := len(m.made) - 1; i >= 0; i-- {
		if f := m.made[i]; f.in.has(f.name, f.info) {
			f.in.dir.Remove(f.name)
		}
	}
}

// sync makes the folders survive a power cut.
func (m *parents) sync() error {
	for _, f := range m.made {
		if err := f.in.sync(); err != nil {
			return err
		}
	}
	return nil
}

func (m *parents) close() {
	for _, f := range m.made {
		f.in.close()
	}
	m.made = nil
}
