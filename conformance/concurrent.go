// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// concurrentChecks are about many callers at once. Their counts are bounded,
// and nothing is judged by how fast it was.
func concurrentChecks() []*check {
	return slices.Concat(
		contestChecks(),
		besideChecks(),
		cancellationChecks(),
		peerChecks(),
	)
}

// callers is how many goroutines contend for one thing.
const callers = 8

// together runs all tasks at the same time, each in a goroutine of its own,
// and waits for their end. A task may end itself by fatalf, and a panic of one
// is a fault.
func (p *probe) together(tasks ...func(p *probe)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for _, task := range tasks {
		group.Go(func() {
			<-start
			p.run(task)
		})
	}
	close(start)
	group.Wait()
}

// contend runs f in n goroutines at the same time and returns their errors.
func (p *probe) contend(n int, f func(i int) error) []error {
	errs := make([]error, n)
	tasks := make([]func(*probe), n)
	for i := range n {
		errs[i] = errNoAnswer
		tasks[i] = func(*probe) { errs[i] = f(i) }
	}
	p.together(tasks...)
	return errs
}

// errNoAnswer stands for a call that panicked or ended its check.
const errNoAnswer = ambit.Reason("no-answer")

// opOf returns op, or the operation that err names where op is "" as callers
// used several.
func opOf(op string, err error) string {
	var e *ambit.Error
	if op == "" && errors.As(err, &e) && e != nil {
		return e.Op
	}
	return op
}

// winner checks that exactly one of errs is nil and each other a refusal of op
// on path for one of reasons; op is "" where callers used several. It returns
// which one won, or ends the check.
func (p *probe) winner(op, path string, errs []error, reasons ...ambit.Reason) int {
	won := -1
	for i, err := range errs {
		switch {
		case err != nil:
			p.refused(opOf(op, err), path, err, reasons...)
		case won >= 0:
			p.fatalf("%s %q: callers %d and %d of %d succeeded both", op, path, won, i, len(errs))
		default:
			won = i
		}
	}
	if won < 0 {
		p.fatalf("%s %q: none of %d callers succeeded: %v", op, path, len(errs), errs[0])
	}
	return won
}

// apart checks that no folder is in two of lists, and that all together are
// want.
func (p *probe) apart(what string, lists [][]string, want ...string) {
	all := slices.Concat(lists...)
	slices.Sort(all)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		p.errorf("%s: the callers say that they have made %q, want each of %q once", what, all, want)
	}
}

// oneLetter checks that text is size bytes of one letter.
func (p *probe) oneLetter(text string, size int) {
	if len(text) != size {
		p.errorf("%d bytes, want %d", len(text), size)
	} else if size > 0 && strings.Trim(text, text[:1]) != "" {
		p.errorf("a mixture of two contents: %s", brief(text))
	}
}
