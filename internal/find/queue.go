// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"sync"
	"time"

	"github.com/ambitfs/ambit"
)

// job is a part of a search. Its results come after those of the jobs before it
// and before those of the jobs behind it, whoever is done first.
type job struct {
	run   func(*worker, *job) // nil: it is only what it has found
	state state
	found []found
	size  int // of what is in found

	// All jobs whose results have not been taken yet, and those of them that are
	// not done.
	order, active links
}

type state uint8

const (
	pending state = iota
	running
	done
)

type links struct{ prev, next *job }

// found is a piece of what a search has found.
type found struct {
	hits    []ambit.GlobMatch
	matches []ambit.GrepMatch
	tally   *tally // counts when it is taken
}

const (
	// maxWaiting bounds the results of jobs that are done before their turn, in
	// bytes: whoever is ahead of it waits.
	maxWaiting = 8 << 20
	// maxAhead bounds what the job whose turn it is leaves for the one who takes.
	maxAhead = 1 << 20
)

// queue holds jobs in the order of their results. Workers take the first one that
// nobody works at; one goroutine takes the results.
type queue struct {
	mu      sync.Mutex
	idle    sync.Cond // workers wait for a job, or for their turn
	ready   sync.Cond // for results
	order   job       // the ends of the lists
	active  job
	waiting int // bytes of results
	asleep  int // workers that wait for a job
	workers int // that were started
	most    int
	start   func()
	stopped bool
	err     error
	waits   bool // somebody waits in next
	soon    bool // and is woken in a moment
}

const (
	// ripe is how many bytes of results are worth waking the one who takes them at
	// once: to wake costs more than to list a folder.
	ripe = 32 << 10
	// moment is how long fewer may wait.
	moment = time.Millisecond
)

// newQueue returns a queue with one job. start starts a worker, at most so many.
func newQueue(first *job, most int, start func()) *queue {
	q := &queue{most: most, start: start}
	q.idle.L, q.ready.L = &q.mu, &q.mu
	q.order.order = links{&q.order, &q.order}
	q.active.active = links{&q.active, &q.active}
	q.insert(&q.order, &q.active, []*job{first})
	return q
}

// insert puts jobs behind where, and those that are to be done behind active.
func (q *queue) insert(where, active *job, jobs []*job) {
	for _, j := range jobs {
		j.order = links{where, where.order.next}
		where.order.next.order.prev = j
		where.order.next = j
		where = j
		q.waiting += j.size
		if j.run == nil {
			j.state = done
			continue
		}
		j.active = links{active, active.active.next}
		active.active.next.active.prev = j
		active.active.next = j
		active = j
	}
}

// take returns the next job, nil when there will be no more.
func (q *queue) take() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.stopped || q.active.active.next == &q.active {
			return nil
		}
		j := q.active.active.next
		for j != &q.active && j.state == running {
			j = j.active.next
		}
		if j != &q.active && (q.waiting < maxWaiting || q.isFirst(j)) {
			j.state = running
			if j.active.next != &q.active && q.asleep == 0 && q.workers < q.most {
				q.workers++
				q.start()
			}
			return j
		}
		q.asleep++
		q.idle.Wait()
		q.asleep--
	}
}

// isFirst reports that the results of j are those to be taken next.
func (q *queue) isFirst(j *job) bool {
	for at := q.order.order.next; at != &q.order; at = at.order.next {
		if at == j {
			return true
		}
		if at.state != done || len(at.found) > 0 {
			return false
		}
	}
	return false
}

// put adds to the results of j while it runs. It waits as long as too many
// results wait, and reports whether to go on.
func (q *queue) put(j *job, f found, size int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && j.size > 0 {
		if first := q.isFirst(j); first && j.size < maxAhead || !first && q.waiting < maxWaiting {
			break
		}
		q.idle.Wait()
	}
	if q.stopped {
		return false
	}
	j.found = append(j.found, f)
	j.size += size
	q.waiting += size
	q.wake()
	return true
}

// wake sees to it that who waits in next goes on.
func (q *queue) wake() {
	first := q.order.order.next
	switch {
	case !q.waits || len(first.found) == 0 && first.state != done:
	case q.waiting >= ripe || q.active.active.next == &q.active:
		q.ready.Signal()
	case !q.soon:
		q.soon = true
		time.AfterFunc(moment, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.soon = false
			q.ready.Signal()
		})
	}
}

// end says that j is done. f is the last of its results, then what comes in its
// place behind them.
func (q *queue) end(j *job, f []found, size int, then []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.found = append(j.found, f...)
	j.size += size
	q.waiting += size
	q.insert(j, j, then)
	j.active.prev.active.next, j.active.next.active.prev = j.active.next, j.active.prev
	j.state = done
	q.wake()
	if q.asleep > 0 {
		q.idle.Broadcast()
	}
}

// stop makes everybody leave. The first error is kept.
func (q *queue) stop(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.stopped {
		q.stopped, q.err = true, err
	}
	q.idle.Broadcast()
	q.ready.Broadcast()
}

// next returns the next results, none at the end.
func (q *queue) next() ([]found, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.stopped {
			return nil, q.err
		}
		j := q.order.order.next
		switch {
		case j == &q.order:
			return nil, nil
		case len(j.found) > 0:
			f := j.found
			q.waiting -= j.size
			j.found, j.size = nil, 0
			q.idle.Broadcast()
			return f, nil
		case j.state == done:
			q.waiting -= j.size
			j.order.prev.order.next, j.order.next.order.prev = j.order.next, j.order.prev
			// Whose turn it is now may be waiting for it.
			q.idle.Broadcast()
		default:
			q.waits = true
			q.ready.Wait()
			q.waits = false
		}
	}
}
