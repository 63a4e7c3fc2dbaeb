// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/ambitfs/ambit"

// change judges a path, locks the folder of where it leads, judges again and
// then acts: what act is given cannot be changed through this library while it
// runs. guess is the folder that the path will most likely lead to; nil is
// fine. act returns false to have everything judged anew.
func (c *call) change(guess *folder, judge func() (*place, error), act func(p *place, l *lock) (done bool, err error)) error {
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
		next, done, err := c.changeOnce(guess, judge, act)
		if err == errAsk {
			c.catchUp()
			continue
		}
		if done || err != nil {
			return err
		}
		guess.close()
		guess = next
	}
	return restless()
}

func (c *call) changeOnce(guess *folder, judge func() (*place, error), act func(p *place, l *lock) (done bool, err error)) (next *folder, done bool, err error) {
	l, err := lockFolders(c.ctx, guess)
	if err != nil && !swapped(err) {
		return nil, false, err
	}
	isLocked := err == nil // a folder that was removed cannot be
	if isLocked {
		defer l.unlock()
	}
	c.locked = true
	p, err := judge()
	c.locked = false
	if err != nil {
		return nil, false, err
	}
	if !isLocked || !p.parent.same(guess) {
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
