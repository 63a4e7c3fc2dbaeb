// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/ambitfs/ambit"
)

// A call is one call of a method: its context, and the answers that it got
// from the functions of the caller.
type call struct {
	v       *FileSystem
	ctx     context.Context
	answers map[question]error
	pending []question
	fault   []target // what the fault hook is to be asked about
	faulted bool
}

type question struct {
	op ambit.Op
	in string
}

// A target is one path of a call.
type target struct {
	v       *FileSystem
	op      string
	written string // as the caller wrote it
	in      string // canonical, in the storage
	slash   bool   // asserts a folder
}

// begin judges what comes before the options and the walk, and fills c and t,
// which are empty.
func (v *FileSystem) begin(ctx context.Context, op, path string, change bool, c *call, t *target) error {
	c.v, c.ctx = v, ctx
	if err := v.mayBegin(ctx, op, path, change); err != nil {
		return err
	}
	return v.resolve(op, path, t)
}

func (v *FileSystem) mayBegin(ctx context.Context, op, path string, change bool) error {
	switch {
	case v.store.fsys == nil:
		return ambit.Unsupported(op, path)
	case change && v.store.readOnly:
		return &ambit.Error{Op: op, Path: path, Reason: ambit.ErrReadOnly}
	case ctx.Err() != nil:
		return contextError(ctx, op, path)
	}
	return nil
}

func contextError(ctx context.Context, op, path string) error {
	e := &ambit.Error{Op: op, Path: path, Reason: ambit.ReasonOf(ctx.Err()), Err: ctx.Err()}
	if cause := context.Cause(ctx); cause != nil && cause != ctx.Err() {
		e.Err = errors.Join(ctx.Err(), cause)
	}
	return e
}

// resolve fills t, which is empty, by the text of path.
func (v *FileSystem) resolve(op, path string, t *target) error {
	clean, slash, err := ambit.Resolve("/", path)
	if err == nil {
		err = refuseText(clean)
	}
	if err != nil {
		return ambit.Wrap(op, path, err)
	}
	t.v, t.op, t.written, t.in, t.slash = v, op, path, v.inner(clean), slash
	return nil
}

// errPending ends an attempt that needs an answer first.
var errPending = errors.New("an answer is needed")

// decide runs attempt, a judgement and its act, as one step: alone, or beside
// others that only read. When it turns out that a function of the caller has
// to be asked, the step ends, the function is asked while no lock is held, and
// the step is taken anew with the answer at hand.
func (c *call) decide(alone bool, attempt func() error) error {
	for {
		err := c.v.store.step(alone, attempt)
		switch err {
		case errAlone:
			alone = true
			continue
		case errPending:
			if err := c.settle(); err != nil {
				return err
			}
			continue
		}
		return err
	}
}

func (s *store) step(alone bool, attempt func() error) error {
	if alone {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.alone = true
		defer func() { s.alone = false }()
	} else {
		defer s.mu.RLock().RUnlock()
	}
	return attempt()
}

func (c *call) settle() error {
	if c.answers == nil {
		c.answers = make(map[question]error)
	}
	for _, q := range c.pending {
		if _, asked := c.answers[q]; !asked {
			c.answers[q] = c.v.ask(c.ctx, q)
		}
	}
	c.pending = c.pending[:0]
	for _, t := range c.fault {
		c.faulted = true
		if err := c.v.store.faults(t.op, t.in); err != nil {
			return ambit.Wrap(t.op, t.written, err)
		}
	}
	c.fault = nil
	return nil
}

// ask asks every rule, the outermost first.
func (v *FileSystem) ask(ctx context.Context, q question) error {
	for _, r := range v.rules {
		if err := r.ask(ctx, q.op, outer(r.root, q.in)); err != nil {
			return ambit.Refused(string(q.op), "", err)
		}
	}
	return nil
}

// allowed returns the refusal of the rules, or errPending where they have not
// been asked yet.
func (c *call) allowed(op ambit.Op, in ...string) error {
	if len(c.v.rules) == 0 {
		return nil
	}
	for _, path := range in {
		q := question{op, path}
		err, asked := c.answers[q]
		if err != nil {
			return err
		}
		if !asked {
			c.pending = append(c.pending, q)
		}
	}
	if len(c.pending) > 0 {
		return errPending
	}
	return nil
}

// last is passed when all is judged, just before the act.
func (c *call) last(t *target) error {
	if c.v.store.faults != nil && !c.faulted {
		c.fault = append(c.fault, *t)
		return errPending
	}
	if c.ctx.Err() != nil {
		return contextError(c.ctx, t.op, t.written)
	}
	return nil
}

// out returns the path of the caller's machine.
func (t *target) out(in string) string { return outer(t.v.root, in) }

func (t *target) outs(in []string) []string {
	if t.v.root == "" || len(in) == 0 {
		return in
	}
	paths := make([]string, 0, len(in))
	for _, p := range in {
		if len(p) > len(t.v.root) {
			paths = append(paths, t.out(p))
		}
	}
	return paths
}

func (t *target) isRoot() bool { return len(t.in) == 1 || t.in == t.v.root }

// wrap makes err the error of this target. errPending passes.
func (t *target) wrap(err error) error {
	if err == errPending {
		return err
	}
	return ambit.Wrap(t.op, t.written, err)
}

func (t *target) err(r ambit.Reason, detail string) error {
	return &ambit.Error{Op: t.op, Path: t.written, Reason: r, Detail: detail}
}

func (t *target) kindErr(r ambit.Reason, k ambit.Kind, in string) error {
	return &ambit.Error{Op: t.op, Path: t.written, Reason: r, Kind: k, Target: t.out(in)}
}

func (t *target) notFound(p *place) error {
	return &ambit.Error{
		Op: t.op, Path: t.written, Reason: ambit.ErrNotFound,
		Target: t.out(p.path), MissingDirs: t.outs(p.missing),
	}
}

func (t *target) notADirectory(in string, k ambit.Kind) error {
	return t.kindErr(ambit.ErrNotADirectory, k, in)
}

func (t *target) linkRefused() error {
	return &ambit.Error{
		Op: t.op, Path: t.written, Reason: ambit.ErrDenied, Rule: "links", Target: t.out(t.in),
		Detail: "symbolic links are not followed here",
	}
}

// foreign makes an error of the afero.Fs one of this target. Of the error's
// own text only what names no path is kept: it may name places of the host.
func (t *target) foreign(err error) error {
	var p partial
	if errors.As(err, &p) {
		return t.err(ambit.ErrPartial, string(p))
	}
	if refusesChange(err) {
		return t.err(ambit.ErrReadOnly, "the afero.Fs refuses the change")
	}
	e := &ambit.Error{Reason: ambit.ReasonOf(err), Target: t.out(t.in)}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e = ambit.Wrap(t.op, t.written, errno).(*ambit.Error)
		e.Target = t.out(t.in)
	} else if text := err.Error(); !strings.ContainsAny(text, `/\`) {
		e.Detail = text
	}
	return t.wrap(e)
}
