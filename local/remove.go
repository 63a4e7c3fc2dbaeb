// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"

	"github.com/ambitfs/ambit"
)

// deleteTries is how often the deletion of what has left its name is begun.
const deleteTries = 3

// Remove removes the name at path. A folder gets a temporary name first, in
// one step, and is then deleted with all beneath it; what cannot be deleted
// stays under that name, which nobody sees, until a later write into the folder
// above tries again. A folder with something mounted at or beneath it is
// [ambit.ErrCrossDevice] and stays as it is; what comes to be mounted during
// the call is not touched. Where the disk cannot give a folder another name, AtomicRemove is
// not claimed; then it is emptied in place, and [ambit.ErrPartial] says that a
// part is left.
func (fsys *FileSystem) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	return ambit.Wrap(ambit.OpRemove, path, fsys.remove(ctx, path, o))
}

func (fsys *FileSystem) remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	clean, asserted, err := fsys.resolveChange(ctx, path)
	if err != nil {
		return err
	}
	if err := o.Check(fsys.caps); err != nil {
		return err
	}
	if o == nil {
		o = &ambit.RemoveOptions{}
	}
	c := fsys.newCall(ctx)
	judge := func() (*place, error) { return c.judgeRemove(clean, asserted, o, false) }
	var p *place
	if p, err = judge(); err == nil {
		err = c.change(p.parent, judge, func(p *place, l *lock) (bool, error) {
			if p.info.isDir() {
				return c.removeFolder(p, l)
			}
			return c.removeFile(p, l, o)
		})
		p.close()
	}
	if o.MissingOK && o.If.IsZero() && nothingThere(err) {
		return nil
	}
	return err
}

// judgeRemove finds what is to be removed and says whether it may; filesOnly
// that it must be a file or a link.
func (c *call) judgeRemove(clean string, asserted bool, o *ambit.RemoveOptions, filesOnly bool) (*place, error) {
	p, err := c.fsys.walk(clean, false)
	if err != nil {
		return nil, c.unlessRefused(ambit.OpRemove, err)
	}
	if err = c.fsys.takeable(p); err == nil {
		err = c.ask(ambit.OpRemove, p.path())
	}
	if err == nil && p.info != nil && p.info.isDir() && !p.isRoot() {
		err = c.judgeBeneath(ambit.OpRemove, p, false)
	}
	if err == nil {
		err = c.fsys.removable(p, asserted, o, filesOnly)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// takeable refuses to take away what is read-only, or holds something that is
// read-only, denied or a root.
func (m *machine) takeable(p *place) error {
	if err := m.changeable(p); err != nil || p.info == nil || !p.info.isDir() || p.isRoot() {
		return err
	}
	path := p.path()
	switch {
	case m.holdsReadOnly(path):
		return &ambit.Error{Reason: ambit.ErrReadOnly, Target: path, Detail: "something in the folder is read-only"}
	case m.rootBeneath(path):
		return p.fault(ambit.ErrInvalid, "the folder holds a root")
	}
	return m.holdsDenied(path)
}

func (c *call) removeFile(p *place, l *lock, o *ambit.RemoveOptions) (bool, error) {
	version, conditional := o.If.Version()
	if !conditional {
		if err := p.parent.dir.remove(p.name, false); err != nil {
			return false, unlessSwapped(err)
		}
		return true, notDurable(c.fsys.sync(l))
	}
	s, err := newSwap(p, nil, func(n *node) bool { return n.version() == version })
	if s == nil || err != nil {
		return false, err
	}
	defer s.release()
	_ = s.prepare(swapName(nil, s.was, p.name))
	if ok, err := s.make(); !ok || err != nil {
		return false, err
	}
	s.settle()
	return true, notDurable(c.fsys.sync(l))
}

// gone is what removable says of a path with nothing at its end.
type gone struct{ error }

func (g gone) Unwrap() error { return g.error }

func nothingThere(err error) bool {
	_, ok := err.(gone)
	return ok
}

func (m *machine) removable(p *place, asserted bool, o *ambit.RemoveOptions, filesOnly bool) error {
	_, conditional := o.If.Version()
	switch {
	case p.isRoot():
		return p.fault(ambit.ErrInvalid, "the root cannot be removed")
	case p.info == nil && conditional && !asserted && !p.dangling:
		return o.If.Check(nil)
	case p.info == nil:
		return gone{p.missing(asserted)}
	case asserted && !p.info.isDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case filesOnly && !p.info.isRegular() && !p.info.isLink():
		return p.fault(ambit.ErrNotAFile, "")
	case conditional && !p.info.isRegular():
		return p.fault(ambit.ErrInvalid, "a precondition speaks of a regular file")
	case conditional:
		info := describe(p.path(), p.info)
		return o.If.Check(&info)
	case p.info.isDir() && !o.Recursive:
		return m.notRemovedAlone(p)
	}
	return nil
}

// notRemovedAlone is the error of a folder that is not removed without
// Recursive.
func (m *machine) notRemovedAlone(p *place) error {
	d, names, err := m.names(p)
	if err != nil {
		return err
	}
	if d != nil {
		d.close()
	}
	if names == nil {
		return restless()
	}
	for _, e := range names {
		if !isHidden(e.name) {
			return p.fault(ambit.ErrNotEmpty, "")
		}
	}
	return p.fault(ambit.ErrNotAFile, "an empty folder is removed with Recursive")
}

func (c *call) removeFolder(p *place, l *lock) (bool, error) {
	// Nothing of the tree was locked while it was looked at.
	c.locked = true
	err := c.judgeBeneath(ambit.OpRemove, p, true)
	c.locked = false
	if err != nil {
		return false, err
	}
	name := temporaryName()
	err = p.parent.dir.rename(p.name, p.parent.dir, name, replacing)
	if ambit.ReasonOf(err) == ambit.ErrCrossDevice {
		return c.removeInPlace(p, l)
	}
	if err != nil {
		return false, unlessSwapped(err)
	}
	err = c.fsys.sync(l)
	var left error
	for range deleteTries {
		// Somebody who has the folder open can still put a name into it.
		if left = deleteTree(p.parent.dir, name, c.fsys.spares); left == nil {
			break
		}
	}
	if left != nil {
		c.fsys.swept.Delete(p.parent.info.key())
	}
	return true, notDurable(err)
}

// removeInPlace is for folders that the disk does not let go from their names,
// as those in the lower layer of an overlay. AtomicRemove is not claimed there.
func (c *call) removeInPlace(p *place, l *lock) (bool, error) {
	if err := deleteTree(p.parent.dir, p.name, c.fsys.spares); err != nil {
		e := ambit.Wrap("", "", err).(*ambit.Error)
		return false, &ambit.Error{Reason: ambit.ErrPartial, Target: p.path(), Detail: "a part of the folder could not be removed: " + string(e.Reason), Err: e.Err}
	}
	return true, notDurable(c.fsys.sync(l))
}
