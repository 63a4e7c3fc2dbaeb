// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

const defaultDeadline = 30 * time.Second

// Run runs the suite on t and reports. It needs no test binary. The end of ctx
// fails the checks that are left.
func Run(ctx context.Context, t Target, o *Options) *Report {
	r := newRunner(ctx, t, o)
	for _, c := range r.selected {
		r.report.Results = append(r.report.Results, r.one(ctx, c))
	}
	return r.report
}

// Test runs the suite on target with one subtest for each check.
func Test(t *testing.T, target Target, o *Options) *Report {
	t.Helper()
	r := newRunner(t.Context(), target, o)
	for _, problem := range r.report.Problems {
		t.Error(problem)
	}
	for _, c := range r.selected {
		t.Run(c.id, func(t *testing.T) {
			res := r.one(t.Context(), c)
			r.report.Results = append(r.report.Results, res)
			if res.Outcome == Fail {
				t.Errorf("%s\n%s", res.Rule, res.Detail)
			} else if res.Outcome != Pass {
				t.Logf("%s: %s", res.Outcome, res.Detail)
			}
		})
	}
	if len(r.report.Results) == 0 {
		t.Error("conformance: no check ran")
	}
	t.Log(strings.TrimSpace(r.report.String()))
	return r.report
}

// runner runs selected checks on one target.
type runner struct {
	target   Target
	caps     ambit.Capabilities
	deadline time.Duration
	selected []*check
	report   *Report
}

func newRunner(ctx context.Context, t Target, o *Options) *runner {
	if o == nil {
		o = &Options{}
	}
	r := &runner{target: t, deadline: time.Duration(o.Deadline), report: &Report{Target: t.Name}}
	if r.deadline <= 0 {
		r.deadline = defaultDeadline
	}
	problem := func(format string, args ...any) {
		r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
	}
	if t.New == nil {
		problem("the target has no New")
		return r
	}
	var known []string
	for _, c := range checks() {
		known = append(known, c.id)
		if len(o.Levels) > 0 && !slices.Contains(o.Levels, c.level()) {
			continue
		}
		if len(o.Only) > 0 && !slices.Contains(o.Only, c.id) {
			continue
		}
		r.selected = append(r.selected, c)
	}
	for _, id := range o.Only {
		if !slices.Contains(known, id) {
			problem("there is no check %q", id)
		}
	}
	for id, w := range t.Waivers {
		if !slices.Contains(known, id) {
			problem("a waiver names no check: %q", id)
		}
		if strings.TrimSpace(w.Why) == "" {
			problem("the waiver of %q does not say why", id)
		}
	}
	fsys, closeFn, err := r.build(ctx, nil)
	if err != nil {
		problem("the target cannot be built: %v", err)
		r.selected = nil
		return r
	}
	r.caps = fsys.Capabilities()
	r.report.Capabilities = r.caps
	if err := closeFn(); err != nil {
		problem("the target cannot be closed: %v", err)
	}
	return r
}

// build returns a file system that holds tree, and never a nil function.
func (r *runner) build(ctx context.Context, tree Tree) (fsys ambit.FileSystem, closeFn func() error, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in New: %v\n%s", v, debug.Stack())
		}
	}()
	fsys, closeFn, err = r.target.New(ctx, tree)
	if closeFn == nil {
		closeFn = func() error { return nil }
	}
	if err == nil && fsys == nil {
		err = fmt.Errorf("New returned neither a file system nor an error")
	}
	return fsys, closeFn, err
}

// one runs one check and applies its waiver.
func (r *runner) one(ctx context.Context, c *check) Result {
	start := time.Now()
	res := Result{ID: c.id, Level: c.level(), Rule: c.rule}
	res.Outcome, res.Detail = r.judge(ctx, c)
	res.Duration = Duration(time.Since(start))
	if w, waived := r.target.Waivers[c.id]; waived {
		switch res.Outcome {
		case Fail:
			res.Outcome, res.Detail = Waived, w.Why+"\n"+res.Detail
		case Pass, Refused:
			res.Outcome, res.Detail = Fail, "waived, but the rule holds: take the waiver out"
		}
	}
	return res
}

func (r *runner) judge(ctx context.Context, c *check) (Outcome, string) {
	for _, req := range c.requires {
		if req.met(r.caps, &r.target) {
			continue
		}
		if req.notRun {
			return NotRun, "the target has no " + req.name
		}
		if req.refusal == nil {
			return Refused, req.name + " is not claimed"
		}
		outcome, detail := r.probe(ctx, standardTree(r.caps), req.refusal)
		if outcome == Pass {
			return Refused, req.name + " is not claimed"
		}
		return outcome, req.name + " is not claimed\n" + detail
	}
	if c.control != nil {
		if outcome, detail := r.controlled(ctx, c); outcome != Pass {
			return Fail, "the positive control did not succeed, so the check proves nothing\n" + detail
		}
	}
	return r.probe(ctx, c.tree, c.run)
}

// probe builds a file system and runs f on it in a goroutine of its own, under
// the deadline.
func (r *runner) probe(ctx context.Context, tree Tree, f func(p *probe)) (Outcome, string) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	if r.caps.Links != ambit.LinksFollowed {
		tree = tree.WithoutLinks()
	}
	fsys, closeFn, err := r.build(ctx, tree)
	if err != nil {
		return Fail, fmt.Sprintf("the target cannot be built: %v", err)
	}
	p := &probe{ctx: ctx, fs: fsys, caps: r.caps, target: &r.target, tree: tree}
	outcome, detail := p.start(f)
	if outcome == Fail && strings.HasPrefix(detail, deadlineDetail) {
		return outcome, detail // whatever hangs may hang Close too
	}
	if err := closeFn(); err != nil && outcome == Pass {
		return Fail, fmt.Sprintf("closing the file system: %v", err)
	}
	return outcome, detail
}

const deadlineDetail = "no answer within the deadline"

// start runs f and waits for it, for the deadline, or for a panic.
func (p *probe) start(f func(p *probe)) (Outcome, string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				p.record("panic: %v\n%s", v, debug.Stack())
			}
		}()
		f(p)
	}()
	select {
	case <-done:
	case <-p.ctx.Done():
		// A check that honours the context ends by itself in a moment.
		select {
		case <-done:
		case <-time.After(2 * time.Second):
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return Fail, strings.Join(append([]string{deadlineDetail}, p.faults...), "\n")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) > 0 {
		return Fail, strings.Join(p.faults, "\n")
	}
	if p.absent != "" {
		return Refused, p.absent
	}
	return Pass, ""
}

// probe is what a check works with: the file system and the means to complain.
// It is safe for concurrent use.
type probe struct {
	ctx    context.Context
	fs     ambit.FileSystem
	caps   ambit.Capabilities
	target *Target
	tree   Tree

	mu     sync.Mutex
	faults []string
	absent string // why the storage cannot hold what the check is about
}

// maxFaults bounds what one check reports; one is enough to fail it.
const maxFaults = 20

func (p *probe) record(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, fmt.Sprintf(format, args...))
	}
}

// errorf records a fault and goes on.
func (p *probe) errorf(format string, args ...any) { p.record(format, args...) }

// fatalf records a fault and ends the goroutine that calls it.
func (p *probe) fatalf(format string, args ...any) {
	p.record(format, args...)
	runtime.Goexit()
}

// cannotHold ends the check: the storage says that it cannot hold what the
// check is about.
func (p *probe) cannotHold(why string) {
	p.mu.Lock()
	p.absent = why
	p.mu.Unlock()
	runtime.Goexit()
}
