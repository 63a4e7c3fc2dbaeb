// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
}

// contender is one way. start prepares it and returns the operation to be
// measured, and a function that cleans up, which may be nil.
type contender struct {
	name string
	// workers is how many goroutines call the operation at once; 0: one.
	workers int
	start   func() (op func(worker int) error, stop func(), err error)
}

// outcome is what a contender measured in all rounds.
type outcome struct {
	name   string
	time   time.Duration // median, for one operation
	ratios []float64     // to the first contender, in each round
}

// run measures the contenders interleaved: each round measures all of them one
// after the other for slice each, so that a noisy moment meets them alike.
func (c contest) run(rounds int, slice time.Duration) ([]outcome, error) {
	type running struct {
		op      func(worker int) error
		workers int
	}
	started := make([]running, len(c.contenders))
	outcomes := make([]outcome, len(c.contenders))
	for i, contender := range c.contenders {
		op, stop, err := contender.start()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.name, contender.name, err)
		}
		if stop != nil {
			defer stop()
		}
		started[i] = running{op, max(contender.workers, 1)}
		outcomes[i].name = contender.name
	}
	times := make([][]time.Duration, len(started))
	for range rounds {
		for i, r := range started {
			t, err := measure(r.op, r.workers, slice)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c.name, outcomes[i].name, err)
			}
			times[i] = append(times[i], t)
		}
		for i := range started {
			last := len(times[i]) - 1
			outcomes[i].ratios = append(outcomes[i].ratios, float64(times[i][last])/float64(times[0][last]))
		}
	}
	for i := range outcomes {
		slices.Sort(times[i])
		outcomes[i].time = times[i][len(times[i])/2]
		slices.Sort(outcomes[i].ratios)
	}
	return outcomes, nil
}

// measure returns the wall time that one operation takes, with workers at
// work: twice as many operations in the same time is half the time.
func measure(op func(worker int) error, workers int, slice time.Duration) (time.Duration, error) {
	const batch = 16
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

// print writes a table: the median time, and the median, least and greatest
// ratio to the first contender.
func (c contest) print(w io.Writer, outcomes []outcome) {
	fmt.Fprintf(w, "\n## %s\n\n", c.name)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| what\t| median\t| ratio\t| min\t| max\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|")
	for _, o := range outcomes {
		fmt.Fprintf(t, "| %s\t| %v\t| %.2f\t| %.2f\t| %.2f\t|\n",
			o.name, o.time, o.ratios[len(o.ratios)/2], o.ratios[0], o.ratios[len(o.ratios)-1])
	}
	t.Flush()
}
