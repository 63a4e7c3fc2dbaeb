// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"slices"

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

// judgeBeneath judges all that lies beneath the folder at p, which op is to
// take away as a whole: nothing may be denied there, a rule of the caller's is
// asked for each name, and with mounts nothing may be mounted at or beneath
// it. A folder that the caller may not look into is passed over.
func (c *call) judgeBeneath(op ambit.Op, p *place, mounts bool) error {
	if !mounts && len(c.fsys.guards) == 0 && len(c.fsys.denied) == 0 {
		return nil
	}
	s := scan{call: c, op: op, mounts: mounts, top: p.path()}
	var err error
	if s.mount, err = p.parent.dir.mountOf(""); err != nil {
		return err
	}
	s.deeper = []string{p.name}
	base := p.parent.path
	for len(s.deeper) > 0 {
		last := len(s.deeper) - 1
		path := s.deeper[last]
		s.deeper = s.deeper[:last]
		before := len(s.deeper)
		in, err := enterPath(p.parent.dir, path)
		if err == nil {
			err = s.look(in, ambit.Join(base, path), path, openLevels)
			in.close()
		} else {
			err = s.unlessHidden(err)
		}
		switch {
		case errors.Is(err, errMount):
			return p.fault(ambit.ErrCrossDevice, "something is mounted at or beneath the folder")
		case err != nil:
			return err
		case slices.Contains(s.deeper[before:], path):
			return restless()
		}
	}
	return nil
}

// scan looks at all that lies beneath a folder.
type scan struct {
	*call
	op     ambit.Op
	mounts bool
	mount  mount
	top    string
	deeper []string // paths of folders that are too deep to look at in one go
}

// look goes through the open folder in; canonical is its path, and path the
// same from where the scan has begun.
func (s *scan) look(in dir, canonical, path string, levels int) error {
	if err := ended(s.ctx); err != nil {
		return err
	}
	if s.mounts {
		if m, err := in.mountOf(""); err != nil {
			return err
		} else if m.crosses(s.mount, true) {
			return errMount
		}
	}
	all, err := in.entries(".")
	if outOfDescriptors(err) && levels < openLevels {
		s.deeper = append(s.deeper, path)
		return nil
	}
	if err != nil {
		return s.unlessHidden(err)
	}
	for _, e := range all {
		if err := s.lookAt(in, e, ambit.Join(canonical, e.name), path+"/"+e.name, levels); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) lookAt(in dir, e entry, canonical, path string, levels int) error {
	info := &node{}
	if e.kind == ambit.KindUnknown || len(s.fsys.denied) > 0 {
		var err error
		if info, err = in.lookup(e.name); err != nil {
			return s.unlessHidden(err)
		}
		e.kind = info.kind()
	}
	isDir := e.kind == ambit.KindDirectory
	if s.fsys.isDenied(info) {
		return refusedBy(ruleDeny, s.top)
	}
	if s.mounts {
		m, err := in.mountOf(e.name)
		switch {
		case err != nil:
			return s.unlessHidden(err)
		case m.crosses(s.mount, isDir):
			return errMount
		}
	}
	if err := s.ask(s.op, canonical); err != nil {
		return err
	}
	if !isDir {
		return nil
	}
	if levels == 0 {
		s.deeper = append(s.deeper, path)
		return nil
	}
	sub, err := in.enter(e.name)
	if outOfDescriptors(err) {
		s.deeper = append(s.deeper, path)
		return nil
	}
	if err != nil {
		return s.unlessHidden(err)
	}
	defer sub.close()
	return s.look(sub, canonical, path, levels-1)
}

// unlessHidden returns err unless it says that there is nothing to see, or
// nothing that the caller may see and nobody has a rule about.
func (s *scan) unlessHidden(err error) error {
	if ambit.ReasonOf(err) == ambit.ErrPermission && len(s.fsys.guards) == 0 && len(s.fsys.denied) == 0 {
		return nil
	}
	return unlessSwapped(err)
}
