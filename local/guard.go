// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"slices"

	"github.com/ambitfs/ambit"
)

// guard is a function given to Guard.
type guard struct {
	ask    func(ctx context.Context, op ambit.Op, canonical string) error
	prefix string // what the paths of a Sub lie beneath for it
}

// Guard returns the file system with a rule of the caller's on top: ask is
// asked with the operation and the canonical path after a path is resolved and
// before anything is done at it or told of it; no lock is held meanwhile. What
// was answered holds for what is then done, on the same handles: a path that
// leads elsewhere by then is asked about anew. Guards add up, the first one is
// asked first. With a nil ask every call is refused. The result is a
// *FileSystem. Both values share their handles: to Close one closes the other.
//
// ask is called from any number of goroutines, by one search from several at
// once.
//
// It is a rule and no log: what is refused before a rule is asked, and what
// became of a call, it does not see. A change may be asked about more than once.
func (fsys *FileSystem) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	if ask == nil {
		ask = func(context.Context, ambit.Op, string) error { return ambit.ErrUnsupported }
	}
	guards := append(fsys.guards[:len(fsys.guards):len(fsys.guards)], guard{ask: ask})
	return &FileSystem{machine: fsys.machine, guards: guards}
}

func (fsys *FileSystem) ask(ctx context.Context, op ambit.Op, path string) error {
	for _, g := range fsys.guards {
		if err := g.ask(ctx, op, beneath(g.prefix, path)); err != nil {
			return ambit.Refused("", "", err)
		}
	}
	return nil
}

// unlessRefused returns err, which a walk has ended with, unless a guard refuses
// the path that the walk would have led to: what is on the way to something
// denied is not told.
func (fsys *FileSystem) unlessRefused(err error, ask func(path string) error) error {
	var b *blocked
	if len(fsys.guards) > 0 && errors.As(err, &b) {
		if refused := ask(b.path); refused != nil {
			return refused
		}
	}
	return err
}

// walkFor walks to what op is to read, and asks the guards.
func (fsys *FileSystem) walkFor(ctx context.Context, op ambit.Op, clean string, follow bool) (*place, error) {
	p, err := fsys.walk(clean, follow)
	if err != nil {
		return nil, fsys.unlessRefused(err, func(path string) error { return fsys.ask(ctx, op, path) })
	}
	kept := false // nor is it when a guard panics
	defer func() {
		if !kept {
			p.close()
		}
	}()
	if err := fsys.ask(ctx, op, p.path()); err != nil {
		return nil, err
	}
	kept = true
	return p, nil
}

// beneath returns the canonical path with what it lies beneath in front.
func beneath(prefix, path string) string {
	switch {
	case prefix == "" || prefix == "/":
		return path
	case path == "/":
		return prefix
	}
	return prefix + path
}

// guardsBeneath returns the guards for a file system that is anchored at dir.
func (fsys *FileSystem) guardsBeneath(dir string) []guard {
	guards := slices.Clone(fsys.guards)
	for i := range guards {
		guards[i].prefix = beneath(guards[i].prefix, dir)
	}
	return guards
}

// call is one call of a method that changes something.
type call struct {
	fsys    *FileSystem
	ctx     context.Context
	answers map[question]error
	locked  bool // no guard may be asked
	pending []question
}

type question struct {
	op   ambit.Op
	path string
}

// errAsk says that a guard has to be asked first.
var errAsk = errors.New("a guard has to be asked")

func (fsys *FileSystem) newCall(ctx context.Context) *call { return &call{fsys: fsys, ctx: ctx} }

func (c *call) ask(op ambit.Op, path string) error {
	if len(c.fsys.guards) == 0 {
		return nil
	}
	q := question{op, path}
	if answer, asked := c.answers[q]; asked {
		return answer
	}
	if c.locked {
		c.pending = append(c.pending, q)
		return errAsk
	}
	answer := c.fsys.ask(c.ctx, op, path)
	if c.answers == nil {
		c.answers = make(map[question]error)
	}
	c.answers[q] = answer
	return answer
}

// askAt asks for op at p, and for the folders that op would make on its way.
func (c *call) askAt(op ambit.Op, p *place) error {
	if err := c.askParents(p); err != nil {
		return err
	}
	return c.ask(op, p.path())
}

func (c *call) askParents(p *place) error {
	if len(c.fsys.guards) == 0 || p.info != nil {
		return nil
	}
	for _, dir := range p.dirs() {
		if err := c.ask(ambit.OpMkdir, dir); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) unlessRefused(op ambit.Op, err error) error {
	return c.fsys.unlessRefused(err, func(path string) error { return c.ask(op, path) })
}

// catchUp asks what could not be asked under a lock.
func (c *call) catchUp() {
	for _, q := range c.pending {
		_ = c.ask(q.op, q.path) // the next judgement sees the answer
	}
	c.pending = nil
}
