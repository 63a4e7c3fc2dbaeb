// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"

	"github.com/ambitfs/ambit"
)

// Mkdir makes the folder dir, with Parents also those above it. It makes all
// of them or none.
func (fsys *FileSystem) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	created, err := fsys.mkdir(ctx, dir, o)
	return created, ambit.Wrap(ambit.OpMkdir, dir, err)
}

func (fsys *FileSystem) mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) (created []string, err error) {
	clean, _, err := fsys.resolveChange(ctx, dir)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &ambit.MkdirOptions{}
	}
	c := fsys.newCall(ctx)
	judge := func() (*place, error) {
		p, err := fsys.walk(clean, false)
		if err != nil {
			return nil, c.unlessRefused(ambit.OpMkdir, err)
		}
		if err = fsys.changeable(p); err == nil {
			err = c.askAt(ambit.OpMkdir, p)
		}
		if err == nil {
			err = p.makeable(o.Parents)
		}
		if err != nil {
			p.close()
			return nil, err
		}
		return p, nil
	}
	if p, err := judge(); err != nil || p.info != nil {
		if err == nil {
			p.close() // it is there
		}
		return nil, err
	} else {
		p.close()
	}
	made := parents{machine: fsys.machine}
	defer made.close()
	done := false
	err = c.change(nil, judge, func(p *place, l *lock) (bool, error) {
		if p.info == nil {
			last, err := made.make(p)
			if err != nil || last == nil {
				return false, err
			}
			defer last.close()
			ok, err := made.makeOne(last.parent, last.name)
			if err != nil || !ok {
				made.takeBack()
				return false, err
			}
		}
		done = true
		return true, notDurable(made.sync())
	})
	if !done {
		return nil, err
	}
	return made.paths(), err
}

func (p *place) makeable(parents bool) error {
	if p.info == nil {
		if err := p.parentsMay(parents, ambit.Precondition{}); err != nil {
			return err
		}
		if isHidden(p.name) {
			return reserved(p)
		}
		return nil
	}
	if parents && p.info.isDir() {
		return nil
	}
	return p.fault(ambit.ErrExists, "")
}
