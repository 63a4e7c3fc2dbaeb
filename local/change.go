// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"

	"github.com/ambitfs/ambit"
)

// change judges a path, locks the folder of where it leads, judges again and
// then acts: what act is given cannot be changed through this library while it
// runs. guess is the folder that the path will most likely lead to; nil is
// fine. act returns false to have everything judged anew.
func (fsys *FileSystem) change(ctx context.Context, guess *folder, judge func() (*place, error), act func(p *place, l *lock) (done bool, err error)) error {
	if guess != nil {
		guess.retain()
	} else {
		p, err := judge()
		if err != nil {
			return err
		}
		guess = p.parent
	}
	defer func() { guess.close() }()
	for range maxTries {
		next, done, err := fsys.changeOnce(ctx, guess, judge, act)
		if done || err != nil {
			return err
		}
		guess.close()
		guess = next
	}
	return restless()
}

func (fsys *FileSystem) changeOnce(ctx context.Context, guess *folder, judge func() (*place, error), act func(p *place, l *lock) (done bool, err error)) (next *folder, done bool, err error) {
	l, err := fsys.lock(ctx, guess)
	if err != nil && !swapped(err) {
		return nil, false, err
	}
	locked := err == nil // a folder that was removed cannot be
	if locked {
		defer l.unlock()
	}
	p, err := judge()
	if err != nil {
		return nil, false, err
	}
	if !locked || !p.parent.same(guess) {
		return p.parent, false, nil
	}
	done, err = act(p, l)
	if done || err != nil {
		p.close()
		return nil, done, err
	}
	return p.parent, false, nil
}

// notDurable is the error of a change that is done and that the disk does not
// confirm.
func notDurable(err error) error {
	if err == nil {
		return nil
	}
	e := ambit.Wrap("", "", err).(*ambit.Error)
	return &ambit.Error{Reason: ambit.ErrNotDurable, Detail: string(e.Reason), Err: e.Err}
}
