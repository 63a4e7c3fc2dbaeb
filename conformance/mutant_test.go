// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
)

// A mutant is a correct file system with exactly one fault.
type mutant struct {
	name   string
	check  string                                       // the check that must fail
	on     *ground                                      // what it stands on; nil: inMemory
	breaks func(f *faulty)                              // sets the fault's hooks
	wraps  func(base ambit.FileSystem) ambit.FileSystem // instead of breaks
	engine func(e *conformance.TextEngine)              // instead of both: the fault is in what the checks of text call
	hangs  bool                                         // the fault is that a call does not return
	panics bool                                         // the fault is a panic, or ends in one

	// chance marks a mutant whose fault shows only if somebody else is quick
	// enough: it gets several runs.
	chance bool

	// unclaimed marks a mutant that claims what its ground does not: there
	// the check holds in its refusal form.
	unclaimed bool
}

// leastMutants is how many the suite must be tested with.
const leastMutants = 70

// patience bounds a check on a slow machine.
const patience = 2 * time.Minute

func mutants() []mutant {
	return slices.Concat(
		errorMutants(), pathMutants(), readingMutants(), listingMutants(), capabilityMutants(),
		writingMutants(), appendMutants(), stagingMutants(), committingMutants(),
		removingMutants(), renamingMutants(), mkdirMutants(),
		linkMutants(), foreignMutants(), absurdMutants(), guardMutants(), subMutants(), concurrentMutants(),
		lineMutants(), editMutants(), patchMutants(), globMutants(), grepMutants(), searchMutants(),
	)
}

// TestMutants proves the suite: the check that names a rule fails on a file
// system that breaks the rule, and holds on the same file system without the
// fault.
func TestMutants(t *testing.T) {
	all := mutants()
	if len(all) < leastMutants {
		t.Errorf("%d mutants, want at least %d", len(all), leastMutants)
	}
	names := make(map[string]bool)
	for _, m := range all {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
	}
	if testing.Short() {
		t.Log("in short mode, which is for the race detector, only the mutants of many callers at once")
		all = concurrentMutants()
	}
	var control controls
	var ran, killed atomic.Int64
	t.Run("kill", func(t *testing.T) {
		for _, m := range all {
			t.Run(m.name, func(t *testing.T) {
				if runtime.GOOS == "windows" && m.on == onDisk {
					t.Skip("a disk of Windows claims too little for the mutants that stand on one")
				}
				ran.Add(1)
				t.Parallel()
				if m.killed(t, &control) {
					killed.Add(1)
				}
			})
		}
	})
	// All of them, unless the test was asked for some.
	t.Logf("%d of %d killed", killed.Load(), ran.Load())
	if survivors := ran.Load() - killed.Load(); survivors > 0 || ran.Load() == 0 {
		t.Errorf("%d mutants survive", survivors)
	}
}

// killed reports whether m is killed for its fault and for nothing else.
func (m mutant) killed(t *testing.T, control *controls) bool {
	if m.on == nil {
		m.on = inMemory
	}
	faults := 0
	for _, has := range []bool{m.breaks != nil, m.wraps != nil, m.engine != nil} {
		if has {
			faults++
		}
	}
	if faults != 1 {
		t.Fatal("a mutant has one fault")
	}
	holds := conformance.Pass
	if m.unclaimed {
		holds = conformance.Refused
	}
	for _, wrapped := range []bool{false, true} {
		if res := control.of(t, m.on, m.check, wrapped); res.Outcome != holds {
			t.Errorf("the check does not hold without the fault, so it proves nothing: %s\n%s", res.Outcome, res.Detail)
			return false
		}
	}
	deadline := patience
	if m.hangs {
		deadline = 500 * time.Millisecond
	}
	res, ok := m.run(t, deadline)
	for runs := 1; m.chance && runs < 20 && ok && res.Outcome == holds; runs++ {
		t.Logf("not seen in run %d", runs)
		res, ok = m.run(t, deadline)
	}
	switch {
	case !ok:
		return false
	case res.Outcome != conformance.Fail:
		t.Errorf("survives %s: %s %s\n%s", m.check, res.Outcome, res.Detail, res.Rule)
		return false
	case strings.HasPrefix(res.Detail, "the positive control"), strings.HasPrefix(res.Detail, "the target cannot be built"):
		t.Errorf("%s failed for another reason: %s", m.check, res.Detail)
		return false
	case m.hangs != strings.Contains(res.Detail, "no answer within"), m.panics != strings.Contains(res.Detail, "panic: "):
		t.Errorf("%s did not fail as it has to, by a hang, by a panic or by neither: %s", m.check, res.Detail)
		return false
	}
	t.Logf("killed by %s: %s\n%s", m.check, res.Rule, res.Detail)
	return true
}

// run runs the check on the mutant.
func (m mutant) run(t *testing.T, deadline time.Duration) (conformance.Result, bool) {
	if m.engine == nil {
		return runOne(t, m.on.target(t, m.broken), m.check, deadline)
	}
	return only(t, conformance.RunWith(t.Context(), m.on.target(t, unchanged), &conformance.Options{Only: []string{m.check}, Deadline: deadline}, m.engine))
}

// broken returns the file system of s with the fault.
func (m mutant) broken(s storage) ambit.FileSystem {
	if m.wraps != nil {
		return m.wraps(s.fsys)
	}
	return fault(s.fsys, s.host, m.breaks)
}

// runOne runs one check on a target.
func runOne(t *testing.T, target conformance.Target, check string, deadline time.Duration) (conformance.Result, bool) {
	return only(t, conformance.Run(t.Context(), target, &conformance.Options{Only: []string{check}, Deadline: deadline}))
}

// only returns the result of a run of one check.
func only(t *testing.T, report *conformance.Report) (conformance.Result, bool) {
	for _, p := range report.Problems {
		t.Errorf("problem of the run: %s", p)
	}
	if len(report.Results) != 1 {
		t.Errorf("%d checks ran, want one", len(report.Results))
		return conformance.Result{}, false
	}
	return report.Results[0], len(report.Problems) == 0
}

// controls remembers what checks say of file systems without a fault: the
// ground itself, and the wrapper that mutants are made of around it.
type controls struct{ results sync.Map }

type controlKey struct {
	on      *ground
	check   string
	wrapped bool
}

func (c *controls) of(t *testing.T, on *ground, check string, wrapped bool) conformance.Result {
	without := unchanged
	if wrapped {
		without = faultless
	}
	once, _ := c.results.LoadOrStore(controlKey{on, check, wrapped}, sync.OnceValue(func() conformance.Result {
		res, _ := runOne(t, on.target(t, without), check, patience)
		return res
	}))
	return once.(func() conformance.Result)()
}

// unchanged is the ground itself.
func unchanged(s storage) ambit.FileSystem { return s.fsys }

// faultless is a mutant without a fault.
func faultless(s storage) ambit.FileSystem { return fault(s.fsys, s.host, func(*faulty) {}) }
