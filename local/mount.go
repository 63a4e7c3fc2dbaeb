// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"os"

	"github.com/ambitfs/ambit"
)

// mount names a mount of this system. Two binds of one disk are two mounts.
type mount struct {
	id     uint64
	device bool // the system tells devices only: id is one, and a bind of one disk is not seen
}

// crosses reports that something on m lies on another mount than what it was
// found in. Files can have a device of their own on one mount, as in an
// overlay.
func (m mount) crosses(from mount, dir bool) bool { return m != from && (dir || !m.device) }

var errMount = errors.New("something is mounted here")

// openLevels is how many folders are held open, one in another, by what goes
// through a tree.
const openLevels = 24

// refuseMounts is an error if something is mounted at or beneath the folder
// name of d, or if that cannot be known. A folder that the caller may not look
// into is passed over.
func refuseMounts(ctx context.Context, d *os.Root, name string) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	m, _, err := mountOf(d, f, "")
	if err != nil {
		return err
	}
	s := mountSearch{ctx: ctx, mount: m, deeper: []string{name}}
	for len(s.deeper) > 0 {
		last := len(s.deeper) - 1
		path := s.deeper[last]
		s.deeper = s.deeper[:last]
		if err := s.look(d, path, path, openLevels); err != nil {
			return err
		}
	}
	return nil
}

// mountSearch looks for something that is not on mount.
type mountSearch struct {
	ctx    context.Context
	mount  mount
	deeper []string // paths of folders that are too deep to look at in one go
}

// look goes through the folder name of d; path is the same one, from where the
// search has begun.
func (s *mountSearch) look(d *os.Root, name, path string, levels int) error {
	if err := ended(s.ctx); err != nil {
		return err
	}
	dir, err := d.OpenRoot(name + "/.")
	if err != nil {
		return s.unlessHidden(err)
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return s.unlessHidden(err)
	}
	defer f.Close()
	m, _, err := mountOf(dir, f, "")
	if err == nil && m.crosses(s.mount, true) {
		err = errMount
	}
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return s.unlessHidden(err)
	}
	for _, name := range names {
		m, isDir, err := mountOf(dir, f, name)
		switch {
		case err != nil:
			err = s.unlessHidden(err)
		case m.crosses(s.mount, isDir):
			err = errMount
		case isDir && levels == 0:
			s.deeper = append(s.deeper, path+"/"+name)
		case isDir:
			err = s.look(dir, name, path+"/"+name, levels-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unlessHidden returns err unless it says that there is nothing to see, or
// nothing that the caller may see.
func (s *mountSearch) unlessHidden(err error) error {
	if ambit.ReasonOf(err) == ambit.ErrPermission {
		return nil
	}
	return unlessSwapped(err)
}
