// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// Duration is a time.Duration that JSON shows as text, such as "1.5s".
type Duration time.Duration

// MarshalJSON writes d as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Outcome is how one check ended.
type Outcome string

// The outcomes.
const (
	Pass    Outcome = "pass"    // the rule holds
	Fail    Outcome = "fail"    // the rule is broken
	Refused Outcome = "refused" // not claimed, and rightly refused
	Waived  Outcome = "waived"  // broken, and known to be
	NotRun  Outcome = "not run" // the target lacks what the check needs (Disturb, Peer)
)

// Grade is the result of a whole run.
type Grade string

// The grades.
const (
	Full    Grade = "full"    // every check ran and none failed
	Partial Grade = "partial" // none failed, but some were waived or could not run
	Failed  Grade = "failed"
)

// Result is the outcome of one check.
type Result struct {
	ID       string   `json:"id"`
	Level    Level    `json:"level"`
	Rule     string   `json:"rule"`
	Outcome  Outcome  `json:"outcome"`
	Detail   string   `json:"detail,omitempty"` // what broke the rule, or why it was not run
	Duration Duration `json:"duration"`
}

// Report is the result of a run.
type Report struct {
	Target       string             `json:"target"`
	Capabilities ambit.Capabilities `json:"capabilities"`
	Results      []Result           `json:"results"`
	Problems     []string           `json:"problems,omitempty"` // faults of the run itself, such as a waiver that names no check; each fails it
}

// cannotHold begins the detail of a check that Disturb has declined.
const cannotHold = "the storage cannot hold it: "

// Count returns how many checks ended in o.
func (r *Report) Count(o Outcome) int {
	n := 0
	for _, res := range r.Results {
		if res.Outcome == o {
			n++
		}
	}
	return n
}

// Grade returns the grade of the run. A run of no checks has failed.
func (r *Report) Grade() Grade {
	switch {
	case r.Count(Fail) > 0, len(r.Problems) > 0, len(r.Results) == 0, r.Count(Pass)+r.Count(Refused) == 0:
		return Failed
	case r.Count(Waived)+r.Count(NotRun) > 0:
		return Partial
	}
	return Full
}

// Err returns nil if the run did not fail, else an error that tells the rules
// that are broken.
func (r *Report) Err() error {
	if r.Grade() != Failed {
		return nil
	}
	return fmt.Errorf("conformance: %s", r)
}

// String returns the report for people: one line of counts, then each rule
// that is broken or waived, and at the end why checks were not run, and which.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %d checks: %d passed, %d refused, %d failed, %d waived, %d not run\n",
		r.Target, r.Grade(), len(r.Results), r.Count(Pass), r.Count(Refused), r.Count(Fail), r.Count(Waived), r.Count(NotRun))
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  problem: %s\n", p)
	}
	for _, res := range r.Results {
		if res.Outcome != Fail && res.Outcome != Waived {
			continue
		}
		fmt.Fprintf(&b, "  %s %s: %s\n", res.Outcome, res.ID, res.Rule)
		for line := range strings.Lines(res.Detail) {
			fmt.Fprintf(&b, "      %s\n", strings.TrimRight(line, "\n"))
		}
	}
	r.writeAbsent(&b)
	r.writeNotRun(&b)
	return b.String()
}

// writeAbsent tells what Disturb has declined as impossible: whoever reads a
// grade can judge whether it is.
func (r *Report) writeAbsent(b *strings.Builder) {
	counts := make(map[string]int)
	for _, res := range r.Results {
		if kind, ok := strings.CutPrefix(res.Detail, cannotHold); ok && res.Outcome == Refused {
			counts[kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(b, "  refused by Disturb, as the storage cannot hold it: %s (%d checks)\n", kind, counts[kind])
	}
}

// writeNotRun groups what was not run by the reason: a target without Disturb
// leaves out dozens of checks, which must not bury those that failed.
func (r *Report) writeNotRun(b *strings.Builder) {
	var reasons []string
	ids := make(map[string][]string)
	for _, res := range r.Results {
		if res.Outcome != NotRun {
			continue
		}
		if ids[res.Detail] == nil {
			reasons = append(reasons, res.Detail)
		}
		ids[res.Detail] = append(ids[res.Detail], res.ID)
	}
	for _, reason := range reasons {
		fmt.Fprintf(b, "  not run, as %s:\n      %s\n", reason, strings.Join(ids[reason], " "))
	}
}

// MarshalJSON adds the grade to the fields.
func (r Report) MarshalJSON() ([]byte, error) {
	if r.Results == nil {
		r.Results = []Result{}
	}
	type plain Report
	return json.Marshal(struct {
		Grade Grade `json:"grade"`
		plain
	}{r.Grade(), plain(r)})
}
