// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"sync"
)

// concurrentChecks are about many callers at once. Their counts are bounded,
// and nothing is judged by how fast it was.
func concurrentChecks() []*check {
	return slices.Concat[[]*check]()
}

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

// oneLetter checks that text is size bytes of one letter.
func (p *probe) oneLetter(text string, size int) {
	if len(text) != size {
		p.errorf("%d bytes, want %d", len(text), size)
	} else if size > 0 && strings.Trim(text, text[:1]) != "" {
		p.errorf("a mixture of two contents: %s", brief(text))
	}
}
