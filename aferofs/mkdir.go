// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"

	"github.com/ambitfs/ambit"
)

// Mkdir makes the folder dir.
func (v *FileSystem) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	var c call
	var t target
	if err := v.begin(ctx, ambit.OpMkdir, dir, true, &c, &t); err != nil {
		return nil, err
	}
	parents := o != nil && o.Parents
	var created []string
	err := c.decide(true, func() error {
		p, err := c.judgeMkdir(&t, parents)
		if err != nil || p.found {
			return err
		}
		if err := c.last(&t); err != nil {
			return err
		}
		made, err := v.store.makeDirs(append(p.missing, p.path))
		if err != nil {
			return t.foreign(err)
		}
		created = t.outs(made)
		return nil
	})
	return created, err
}

// judgeMkdir returns a place that is found where there is nothing to do.
func (c *call) judgeMkdir(t *target, parents bool) (place, error) {
	if err := c.allowed(ambit.OpMkdir, t.in); err != nil {
		return place{}, t.wrap(err)
	}
	var p place
	err := t.locate(&p)
	switch {
	case err != nil:
		return p, err
	case !p.found:
		return p, c.parents(t, &p, parents)
	case p.look.kind == ambit.KindDirectory && parents:
		return p, nil
	}
	return p, t.kindErr(ambit.ErrExists, p.look.kind, p.path)
}
