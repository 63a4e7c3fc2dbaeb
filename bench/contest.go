// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// contest measures several ways to do one thing against the first of them.
type contest struct {
	name       string
	contenders []contender
	// batch is how many operations run between two looks at the clock, and so
	// the fewest in one slice; 0: 16. An operation of milliseconds needs 1.
	batch int
	// rounds is the most rounds that the contest is run; 0: as many as asked.
	rounds int
}

// starter prepares the operation to be measured and returns it, and a function
// that cleans up, which may be nil. A system that has no such operation answers
// with an error that is errors.ErrUnsupported, from here or from the operation.
type starter func() (op func(worker int) error, stop func(), err error)

// contender is one way.
type contender struct {
	name string
	// workers is how many goroutines call the operation at once; 0: one.
	workers int
	start   starter
	// reset, which may be nil, runs before each slice, and is not measured.
	reset func() error
	// note, which may be nil, tells after all rounds what else was seen.
	note func() string
	bar  bar
}

// bar is what a contender is to reach. The zero value asks for nothing.
type bar struct {
	ratio float64       // at most this many times as long as the first contender; 0: no bar
	added time.Duration // at most this much longer than the first contender; 0: no bar
}

// outcome is what a contender measured in all rounds.
type outcome struct {
	name   string
	time   time.Duration   // median, for one operation
	ratios []float64       // to the first contender, in each round, sorted; none: not to be had on this system
	added  []time.Duration // the time beyond that of the first contender, in each round, sorted
	note   string          // "": nothing
	bar    bar
}

// run measures the contenders interleaved: each round measures all of them one
// after the other for slice each, so that a noisy moment meets them alike.
func (c contest) run(rounds int, slice time.Duration) ([]outcome, error) {
	type running struct {
		contender
		outcome *outcome
		op      func(worker int) error
		times   []time.Duration
	}
	if c.rounds > 0 {
		rounds = min(rounds, c.rounds)
	}
	batch := c.batch
	if batch == 0 {
		batch = 16
	}
	var started []*running
	outcomes := make([]outcome, len(c.contenders))
	for i, contender := range c.contenders {
		outcomes[i] = outcome{name: contender.name, bar: contender.bar}
		op, stop, err := contender.start()
		if stop != nil {
			defer stop()
		}
		if err == nil {
			err = op(0)
		}
		if i > 0 && errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.name, contender.name, err)
		}
		started = append(started, &running{contender: contender, outcome: &outcomes[i], op: op})
	}
	for range rounds {
		for _, r := range started {
			t, err := r.measure(r.op, batch, slice)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c.name, r.name, err)
			}
			first := t
			if len(r.times) < len(started[0].times) {
				first = started[0].times[len(r.times)]
			}
			r.times = append(r.times, t)
			r.outcome.ratios = append(r.outcome.ratios, float64(t)/float64(first))
			r.outcome.added = append(r.outcome.added, t-first)
		}
	}
	for _, r := range started {
		slices.Sort(r.times)
		r.outcome.time = middle(r.times)
		slices.Sort(r.outcome.ratios)
		slices.Sort(r.outcome.added)
		if r.note != nil {
			r.outcome.note = r.note()
		}
	}
	return outcomes, nil
}

// middle returns the median of what is sorted and not empty.
func middle[T any](sorted []T) T { return sorted[len(sorted)/2] }

// measure returns the wall time that one operation takes, with all workers at
// work: twice as many operations in the same time is half the time.
func (c contender) measure(op func(worker int) error, batch int, slice time.Duration) (time.Duration, error) {
	if c.reset != nil {
		if err := c.reset(); err != nil {
			return 0, err
		}
	}
	workers := max(c.workers, 1)
	var wg sync.WaitGroup
	counts := make([]int, workers)
	errs := make([]error, workers)
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			for counts[w] == 0 || time.Since(start) < slice {
				for range batch {
					if errs[w] = op(w); errs[w] != nil {
						return
					}
				}
				counts[w] += batch
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	total := 0
	for w := range workers {
		if errs[w] != nil {
			return 0, errs[w]
		}
		total += counts[w]
	}
	return max(elapsed/time.Duration(total), 1), nil
}

// verdict tells the bar and whether the outcome has reached it; "" where there
// is no bar.
func (o outcome) verdict() string {
	var text string
	switch {
	case len(o.ratios) == 0 || o.bar == bar{}:
		return ""
	case o.bar.added > 0:
		text = fmt.Sprintf("at most %v more; %v:", o.bar.added, middle(o.added))
	default:
		text = fmt.Sprintf("at most %.2f:", o.bar.ratio)
	}
	if o.missed() {
		return text + " missed"
	}
	return text + " reached"
}

// missed reports whether the outcome, by its medians, has not reached its bar.
func (o outcome) missed() bool {
	if len(o.ratios) == 0 {
		return false
	}
	return o.bar.ratio > 0 && middle(o.ratios) > o.bar.ratio || o.bar.added > 0 && middle(o.added) > o.bar.added
}

// print writes a table: the median time, the median, least and greatest ratio
// to the first contender, and the bar.
func (c contest) print(w io.Writer, outcomes []outcome) {
	fmt.Fprintf(w, "\n## %s\n\n", c.name)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| what\t| median\t| ratio\t| min\t| max\t| bar\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, o := range outcomes {
		if len(o.ratios) == 0 {
			fmt.Fprintf(t, "| %s\t| not on this system\t|\t|\t|\t|\t|\n", o.name)
			continue
		}
		fmt.Fprintf(t, "| %s\t| %v\t| %.2f\t| %.2f\t| %.2f\t| %s\t|\n",
			o.name, o.time, middle(o.ratios), o.ratios[0], o.ratios[len(o.ratios)-1], o.verdict())
	}
	t.Flush()
	for _, o := range outcomes {
		if o.note != "" {
			fmt.Fprintf(w, "\n%s: %s\n", o.name, o.note)
		}
	}
}
