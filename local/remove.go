// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"

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
	clean, asserted, err := fsys.resolve(ctx, path)
	if err != nil {
		return err
	}
	if err := o.Check(fsys.caps); err != nil {
		return err
	}
	if o == nil {
		o = &ambit.RemoveOptions{}
	}
	judge := func() (*place, error) {
		p, err := fsys.walk(clean, false)
		if err != nil {
			return nil, err
		}
		if err := p.removable(asserted, o); err != nil {
			p.close()
			return nil, err
		}
		return p, nil
	}
	err = fsys.change(ctx, nil, judge, func(p *place, l *lock) (bool, error) {
		if p.info.IsDir() {
			return fsys.removeFolder(ctx, p, l)
		}
		if err := p.parent.dir.Remove(p.name); err != nil {
			return false, unlessSwapped(err)
		}
		return true, notDurable(l.sync())
	})
	if o.MissingOK && o.If.IsZero() && nothingThere(err) {
		return nil
	}
	return err
}

// gone is what removable says of a path with nothing at its end.
type gone struct{ error }

func (g gone) Unwrap() error { return g.error }

func nothingThere(err error) bool {
	_, ok := err.(gone)
	return ok
}

func (p *place) removable(asserted bool, o *ambit.RemoveOptions) error {
	_, conditional := o.If.Version()
	switch {
	case p.isRoot():
		return p.fault(ambit.ErrInvalid, "the root cannot be removed")
	case p.info == nil && conditional && !asserted && !p.dangling:
		return o.If.Check(nil)
	case p.info == nil:
		return gone{p.missing(asserted)}
	case asserted && !p.info.IsDir():
		return p.fault(ambit.ErrNotADirectory, "")
	case conditional && !p.info.Mode().IsRegular():
		return p.fault(ambit.ErrInvalid, "a precondition speaks of a regular file")
	case conditional:
		info := describe(p.path(), p.info)
		return o.If.Check(&info)
	case p.info.IsDir() && !o.Recursive:
		return p.notRemovedAlone()
	}
	return nil
}

// notRemovedAlone is the error of a folder that is not removed without
// Recursive.
func (p *place) notRemovedAlone() error {
	d, names, err := p.names()
	if err != nil {
		return err
	}
	if d != nil {
		d.close()
	}
	if names == nil {
		return restless()
	}
	for _, name := range names {
		if !isTemporary(name) {
			return p.fault(ambit.ErrNotEmpty, "")
		}
	}
	return p.fault(ambit.ErrNotAFile, "an empty folder is removed with Recursive")
}

func (fsys *FileSystem) removeFolder(ctx context.Context, p *place, l *lock) (bool, error) {
	switch err := refuseMounts(ctx, p.parent.dir, p.name); {
	case errors.Is(err, errMount):
		return false, p.fault(ambit.ErrCrossDevice, "something is mounted at or beneath the folder")
	case err != nil:
		return false, err
	}
	name := temporaryName()
	err := p.parent.dir.Rename(p.name, name)
	if ambit.ReasonOf(err) == ambit.ErrCrossDevice {
		return removeInPlace(p, l)
	}
	if err != nil {
		return false, unlessSwapped(err)
	}
	err = l.sync()
	var left error
	for range deleteTries {
		// Somebody who has the folder open can still put a name into it.
		if left = deleteTree(p.parent.dir, name); left == nil {
			break
		}
	}
	if left != nil {
		fsys.swept.Delete(identity(p.parent.info))
	}
	return true, notDurable(err)
}

// removeInPlace is for folders that the disk does not let go from their names,
// as those in the lower layer of an overlay. AtomicRemove is not claimed there.
func removeInPlace(p *place, l *lock) (bool, error) {
	if err := deleteTree(p.parent.dir, p.name); err != nil {
		e := ambit.Wrap("", "", err).(*ambit.Error)
		return false, &ambit.Error{Reason: ambit.ErrPartial, Target: p.path(), Detail: "a part of the folder could not be removed: " + string(e.Reason), Err: e.Err}
	}
	return true, notDurable(l.sync())
}
