// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// A task is a job of a random tree: what it says, then what its parts say.
type task struct {
	says  int // pieces that it puts while it runs
	size  int // of each
	last  int // pieces that it ends with
	parts []*task
	ready bool // it does not run
	slow  bool
}

func randomTask(rng *rand.Rand, depth int) *task {
	t := &task{says: rng.IntN(4), last: rng.IntN(3), size: 1 + rng.IntN(1000), slow: rng.IntN(20) == 0}
	if rng.IntN(50) == 0 {
		t.size = maxWaiting / 2
	}
	if depth == 0 {
		t.ready = rng.IntN(3) == 0
		return t
	}
	for range rng.IntN(6) {
		t.parts = append(t.parts, randomTask(rng, rng.IntN(depth)))
	}
	return t
}

func piece(name string, i int) found {
	return found{hits: []ambit.GlobMatch{{Info: ambit.FileInfo{Path: fmt.Sprintf("%s:%d", name, i)}}}}
}

// want is what t and its parts say, in order.
func (t *task) want(name string, into []string) []string {
	n := t.says + t.last
	if t.ready {
		n = t.last
	}
	for i := range n {
		into = append(into, fmt.Sprintf("%s:%d", name, i))
	}
	for i, p := range t.parts {
		into = p.want(fmt.Sprintf("%s.%d", name, i), into)
	}
	return into
}

func (t *task) job(q func() *queue, name string) *job {
	var last []found
	from := t.says
	if t.ready {
		from = 0
	}
	for i := range t.last {
		last = append(last, piece(name, from+i))
	}
	if t.ready {
		return &job{found: last, size: t.size}
	}
	return &job{run: func(_ *worker, j *job) {
		for i := range t.says {
			if t.slow {
				time.Sleep(100 * time.Microsecond)
			}
			if !q().put(j, piece(name, i), t.size) {
				return
			}
		}
		var then []*job
		for i, p := range t.parts {
			then = append(then, p.job(q, fmt.Sprintf("%s.%d", name, i)))
		}
		q().end(j, last, t.size, then)
	}}
}

// startTask starts a queue for t. wait waits for all workers.
func startTask(t *task, workers int) (q *queue, wait func()) {
	var group sync.WaitGroup
	q = newQueue(t.job(func() *queue { return q }, "t"), workers, func() {
		group.Go(func() {
			for {
				j := q.take()
				if j == nil {
					return
				}
				j.run(nil, j)
			}
		})
	})
	q.workers = 1
	q.start()
	return q, group.Wait
}

func TestResultsComeInOrder(t *testing.T) {
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		all := randomTask(rng, 4)
		all.ready = false
		q, wait := startTask(all, 1+rng.IntN(5))
		var got []string
		for {
			fs, err := q.next()
			if err != nil {
				t.Fatal(err)
			}
			if fs == nil {
				break
			}
			for _, f := range fs {
				got = append(got, f.hits[0].Info.Path)
			}
			if rng.IntN(30) == 0 {
				time.Sleep(200 * time.Microsecond)
			}
		}
		wait()
		if want := all.want("t", nil); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q\nwant %q", seed, got, want)
		}
		if q.waiting != 0 {
			t.Fatalf("seed %d: %d bytes wait at the end", seed, q.waiting)
		}
	}
}

// TestStopEndsAll stops at any place: every worker leaves.
func TestStopEndsAll(t *testing.T) {
	cause := errors.New("enough")
	for seed := range 300 {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		all := randomTask(rng, 4)
		all.ready = false
		want := all.want("t", nil)
		q, wait := startTask(all, 1+rng.IntN(5))
		stopAt := rng.IntN(len(want) + 1)
		n := 0
		for n < stopAt {
			fs, err := q.next()
			if err != nil || fs == nil {
				break
			}
			n += len(fs)
		}
		q.stop(cause)
		q.stop(nil)
		wait()
		if fs, err := q.next(); err != cause || fs != nil {
			t.Fatalf("seed %d: %v %v after the stop", seed, fs, err)
		}
	}
}

// TestNobodyRunsFarAhead has a first job that takes its time before many large
// ones.
func TestNobodyRunsFarAhead(t *testing.T) {
	const size = 1 << 20
	release := make(chan struct{})
	var q *queue
	var made atomic.Int64
	first := &job{run: func(_ *worker, j *job) {
		then := []*job{{run: func(_ *worker, j *job) {
			<-release
			q.end(j, []found{piece("first", 0)}, size, nil)
		}}}
		for i := range 200 {
			then = append(then, &job{run: func(_ *worker, j *job) {
				for k := range 3 {
					made.Add(size)
					if !q.put(j, piece(fmt.Sprint(i), k), size) {
						return
					}
				}
				q.end(j, nil, 0, nil)
			}})
		}
		q.end(j, nil, 0, then)
	}}
	var group sync.WaitGroup
	q = newQueue(first, 4, func() {
		group.Go(func() {
			for j := q.take(); j != nil; j = q.take() {
				j.run(nil, j)
			}
		})
	})
	q.workers = 1
	q.start()
	var before int64 = -1
	for made.Load() != before {
		before = made.Load()
		time.Sleep(50 * time.Millisecond)
	}
	if before < maxWaiting/2 || before > maxWaiting+8*size {
		t.Errorf("%d bytes were made ahead, of which %d may wait", before, maxWaiting)
	}
	close(release)
	n := 0
	for {
		fs, err := q.next()
		if err != nil {
			t.Fatal(err)
		}
		if fs == nil {
			break
		}
		n += len(fs)
	}
	group.Wait()
	if n != 601 {
		t.Errorf("%d results, want 601", n)
	}
}
