// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
	return newRunner(ctx, t, o).run(ctx)
}

// run runs the selected checks.
func (r *runner) run(ctx context.Context) *Report {
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
	// The subtests have said what is broken.
	summary, _, _ := strings.Cut(r.report.String(), "\n")
	t.Log(summary)
	return r.report
}

// runner runs selected checks on one target.
type runner struct {
	target   Target
	caps     ambit.Capabilities
	deadline time.Duration
	selected []*check
	report   *Report
	text     textEngine

	// beyond says why a check cannot run on this target at all, "" if it can.
	beyond func(c *check) string
	// linkless says that trees are built without links, whatever is claimed.
	linkless bool
	// look replaces the snapshot, for file systems that are too large for one.
	look func(p *probe) map[string]string

	// refusals are the results of refusal forms, by level and requirement:
	// hundreds of checks may lack the same one.
	refusals map[string]refusalResult
}

type refusalResult struct {
	outcome Outcome
	detail  string
}

func newRunner(ctx context.Context, t Target, o *Options) *runner {
	if o == nil {
		o = &Options{}
	}
	r := &runner{
		target: t, deadline: o.Deadline, report: &Report{Target: t.Name}, text: textPackages,
		beyond: func(*check) string { return "" },
	}
	if r.deadline <= 0 {
		r.deadline = defaultDeadline
	}
	if t.New == nil {
		r.problem("the target has no New")
		return r
	}
	r.choose(checks(), o)
	if err := r.learn(ctx); err != nil {
		r.problem("the target cannot be built: %v", err)
		r.selected = nil
	}
	return r
}

func (r *runner) problem(format string, args ...any) {
	r.report.Problems = append(r.report.Problems, fmt.Sprintf(format, args...))
}

// choose selects those of all that o asks for, and judges what options and
// waivers name.
func (r *runner) choose(all []*check, o *Options) {
	known := make(map[string]bool, len(all))
	for _, c := range all {
		known[c.id] = true
		if len(o.Levels) > 0 && !slices.Contains(o.Levels, c.level()) {
			continue
		}
		if len(o.Only) > 0 && !slices.Contains(o.Only, c.id) {
			continue
		}
		r.selected = append(r.selected, c)
	}
	for _, l := range o.Levels {
		if !slices.Contains(levels, l) {
			r.problem("there is no level %q", l)
		}
	}
	for _, id := range o.Only {
		if !known[id] {
			r.problem("there is no check %q", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.target.Waivers)) {
		if !known[id] {
			r.problem("a waiver names no check: %q", id)
		}
		if strings.TrimSpace(r.target.Waivers[id].Why) == "" {
			r.problem("the waiver of %q does not say why", id)
		}
	}
}

// learn builds the target once, to learn what it claims.
func (r *runner) learn(ctx context.Context) error {
	outcome, detail := r.on(ctx, nil, func(p *probe) {
		r.caps = p.fs.Capabilities()
		p.caps = r.caps
	})
	if outcome != Pass {
		return errors.New(detail)
	}
	r.report.Capabilities = r.caps
	return nil
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

// controlTries is how often a positive control may try.
const controlTries = 3

func (r *runner) judge(ctx context.Context, c *check) (Outcome, string) {
	if why := r.beyond(c); why != "" {
		return NotRun, why
	}
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
		return r.refusal(ctx, c.level(), req)
	}
	if c.control != nil {
		// Where it is a race, a machine at work may keep it from being lost once.
		outcome, detail := r.controlled(ctx, c)
		for range controlTries - 1 {
			if outcome == Pass {
				break
			}
			outcome, detail = r.controlled(ctx, c)
		}
		if outcome != Pass {
			return Fail, "the positive control did not succeed, so the check proves nothing\n" + detail
		}
	}
	return r.probe(ctx, c.tree, c.run)
}

// refusal runs the refusal form that req has at the level, once.
func (r *runner) refusal(ctx context.Context, level Level, req requirement) (Outcome, string) {
	key := string(level) + "/" + req.name
	if done, ok := r.refusals[key]; ok {
		return done.outcome, done.detail
	}
	outcome, detail := r.probe(ctx, standardTree(r.caps), req.refusal)
	switch outcome {
	case Pass:
		outcome, detail = Refused, req.name+" is not claimed"
	default:
		detail = req.name + " is not claimed\n" + detail
	}
	if r.refusals == nil {
		r.refusals = make(map[string]refusalResult)
	}
	r.refusals[key] = refusalResult{outcome, detail}
	return outcome, detail
}

// probe runs f on a file system that holds tree, which must claim what the
// first one claimed and leave what lies beside the root as it was.
func (r *runner) probe(ctx context.Context, tree Tree, f func(p *probe)) (Outcome, string) {
	return r.on(ctx, tree, func(p *probe) {
		now := p.fs.Capabilities()
		now.ID = r.caps.ID
		if now != r.caps {
			p.fatalf("the capabilities are not constant: %+v, and before %+v", now, r.caps)
		}
		if p.target.Beside == nil {
			f(p)
			return
		}
		before := p.beside()
		p.run(f)
		p.alike(before, p.beside(), "beside the root")
	})
}

// on builds a file system that holds tree and runs f on it, under the
// deadline.
func (r *runner) on(ctx context.Context, tree Tree, f func(p *probe)) (Outcome, string) {
	if r.linkless || r.caps.Links != ambit.LinksFollowed {
		tree = tree.WithoutLinks()
	}
	p := &probe{caps: r.caps, target: &r.target, tree: tree, look: r.look, text: r.text, verdict: &verdict{}}
	return p.judged(ctx, r.deadline, func() {
		fsys, closeFn, err := r.target.New(p.ctx, tree)
		if ambit.ReasonOf(err) == ambit.ErrTooLarge && tree.exceeds(r.caps.MaxFileSize) {
			p.cannotHold(tooSmall)
		}
		if err != nil {
			p.fatalf("New: %v", err)
		}
		if isNil(fsys) {
			p.fatalf("New returned neither a file system nor an error")
		}
		p.built, p.fs = fsys, p.fromRoot(fsys)
		p.run(f)
		if closeFn == nil {
			return
		}
		if err := closeFn(); err != nil {
			p.errorf("closing the file system: %v", err)
		}
	})
}

// tooSmall is why a check of large files cannot run on some file systems.
const tooSmall = "MaxFileSize is less than the files of the check have"

// isNil sees a nil pointer inside the interface too.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return rv.IsNil()
	}
	return false
}

// grace is how long a check that is over its deadline has to notice it.
const grace = 2 * time.Second

// judged runs f in a goroutine of its own, with p.ctx set, and waits for its
// end or for the deadline.
func (p *probe) judged(ctx context.Context, deadline time.Duration, f func()) (Outcome, string) {
	if ctx.Err() != nil {
		return Fail, fmt.Sprintf("not run: the run was ended: %v", context.Cause(ctx))
	}
	inner, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	p.ctx = inner
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(func(*probe) { f() })
	}()
	late := ""
	select {
	case <-done:
	case <-inner.Done():
		late = fmt.Sprintf("no answer within %v", deadline)
		timer := time.NewTimer(grace)
		select {
		case <-done:
		case <-timer.C:
		}
		timer.Stop()
	}
	if ctx.Err() != nil { // also where the check has seen it first
		late = fmt.Sprintf("the run was ended: %v", context.Cause(ctx))
	}
	faults, absent := p.verdict.read()
	if late != "" {
		faults = append([]string{late}, faults...)
	}
	switch {
	case len(faults) > 0:
		return Fail, strings.Join(faults, "\n")
	case absent != "":
		return Refused, absent
	}
	return Pass, ""
}

// run runs f to its end, be it a return, a fatalf or a panic, which is a
// fault.
func (p *probe) run(f func(p *probe)) {
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
	<-done
}

// probe is what a check works with: the file system and the means to complain.
// It is safe for concurrent use.
type probe struct {
	ctx    context.Context
	fs     ambit.FileSystem
	built  ambit.FileSystem // what New returned; fs may be around it
	caps   ambit.Capabilities
	target *Target
	tree   Tree
	look   func(p *probe) map[string]string // replaces the snapshot
	text   textEngine
	dir    string // with a slash behind it: where an attempt of two paths has its other one

	*verdict
}

// on returns a probe of another file system over the same storage, such as a
// guarded one, whose faults are p's.
func (p *probe) on(fsys ambit.FileSystem) *probe {
	q := *p
	q.fs = fsys
	return &q
}

// verdict collects what a check finds.
type verdict struct {
	mu     sync.Mutex
	faults []string
	absent string // why the storage cannot hold what the check is about
}

func (v *verdict) read() (faults []string, absent string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.faults), v.absent
}

// maxFaults bounds what one check reports; one is enough to fail it.
const maxFaults = 8

func (v *verdict) record(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, fmt.Sprintf(format, args...))
	}
}

// errorf records a fault and goes on.
func (v *verdict) errorf(format string, args ...any) { v.record(format, args...) }

// fatalf records a fault and ends the goroutine that calls it.
func (v *verdict) fatalf(format string, args ...any) {
	v.record(format, args...)
	runtime.Goexit()
}

// cannotHold ends the check: the storage says that it cannot hold what the
// check is about.
func (v *verdict) cannotHold(why string) {
	v.mu.Lock()
	v.absent = why
	v.mu.Unlock()
	runtime.Goexit()
}
