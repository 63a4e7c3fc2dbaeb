// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/grep"
)

// Base is what the base of a query leads to, links followed.
type Base struct {
	Path string // canonical
	Kind ambit.Kind
}

// Glob searches tree as [ambit.Searcher] has it. base is asked once the query has
// been found good.
func Glob(ctx context.Context, tree Tree, base func() (Base, error), q ambit.GlobQuery, yield func(ambit.GlobMatch) bool) (ambit.SearchSummary, error) {
	c, err := compileGlob(q)
	if err == nil && yield == nil {
		err = invalid("yield is nil")
	}
	if err != nil {
		return ambit.SearchSummary{}, refusal(ctx, base, err)
	}
	t := &Taking{Limit: q.Limit}
	return run(ctx, tree, base, c, t, func(f found, keeping *sync.Mutex) bool {
		for _, h := range f.hits {
			if !t.Hit(h, q.Keep, yield) {
				return false
			}
		}
		return true
	})
}

// Grep is to [Glob] what Grep is to Glob there.
func Grep(ctx context.Context, tree Tree, base func() (Base, error), q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
	c, err := compileGrep(q)
	if err == nil && yield == nil {
		err = invalid("yield is nil")
	}
	if err != nil {
		return ambit.SearchSummary{}, refusal(ctx, base, err)
	}
	t := &Taking{Limit: q.Limit, After: q.After}
	return run(ctx, tree, base, c, t, func(f found, keeping *sync.Mutex) bool {
		if len(f.matches) == 0 {
			return true
		}
		if q.Keep != nil {
			keeping.Lock()
			defer keeping.Unlock()
		}
		for _, m := range f.matches {
			if !t.Match(m, yield) {
				return false
			}
		}
		return true
	})
}

// refusal returns why a query that makes no sense is refused: what is judged
// before it may be wrong as well.
func refusal(ctx context.Context, base func() (Base, error), err error) error {
	_, baseErr := base()
	r := ambit.ReasonOf(baseErr)
	if r == ambit.ErrClosed || r == ambit.ErrUnsupported {
		return baseErr
	}
	if done := ended(ctx); done != nil {
		return done
	}
	if r == ambit.ErrInvalidPath {
		return baseErr
	}
	return err
}

// search is a search that runs.
type search struct {
	*query
	ctx     context.Context
	folders *folders
	queue   *queue
	keeping sync.Mutex // held while the query's Keep runs, and a yield beside it
	broken  broken
}

// worker is what one goroutine uses again from job to job.
type worker struct {
	*search
	searcher *grep.Searcher
}

func run(ctx context.Context, tree Tree, base func() (Base, error), q *query, t *Taking, take func(found, *sync.Mutex) bool) (ambit.SearchSummary, error) {
	at, err := base() // which judges the context in its turn
	if err != nil {
		return t.Summary, err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &search{query: q, ctx: inner, folders: &folders{tree: tree}}
	first := s.begin(at)
	var workers sync.WaitGroup
	start := func() { workers.Go(s.work) }
	s.queue = newQueue(first, min(runtime.GOMAXPROCS(0), 12), start)
	s.queue.workers = 1
	stop := context.AfterFunc(ctx, func() { s.queue.stop(ctx.Err()) })
	start()
	func() {
		defer func() { // also where the caller's yield panics
			stop()
			s.queue.stop(nil)
			cancel(errStopped)
			workers.Wait()
			s.folders.closeIdle(0)
		}()
		err = s.takeAll(t, take)
	}()
	s.broken.again()
	if ctx.Err() != nil && err != nil {
		err = ended(ctx)
	}
	return t.Summary, err
}

var errStopped = errors.New("the search has been stopped")

// begin returns the first job of the search.
func (s *search) begin(at Base) *job {
	d := s.folders.top(at.Path)
	if at.Kind != ambit.KindDirectory {
		d = s.folders.top(ambit.Dir(at.Path))
		d.way = true
		return &job{run: func(w *worker, j *job) { w.file(j, d, ambit.Base(at.Path), at.Kind) }}
	}
	return &job{run: func(w *worker, j *job) {
		p := place{folder: d, view: s.view(), base: true}
		if !s.ignored {
			p.rules = s.rulesAbove(s.ctx, at.Path)
		}
		w.walk(j, p)
	}}
}

// file looks at a base that is a file.
func (w *worker) file(j *job, in *folder, name string, kind ambit.Kind) {
	l := listing{worker: w, place: place{folder: in, view: w.inFile()}}
	open, err := in.use(w.ctx)
	if err != nil {
		w.queue.stop(err)
		return
	}
	defer in.leave()
	l.open = open
	l.own = append(l.own, found{tally: &l.tally})
	if w.query.grep != nil {
		// Named as it is, it is not left out in silence.
		f, err := open.Open(w.ctx, name)
		if err != nil {
			w.queue.stop(err)
			return
		}
		f.Close()
	}
	l.look(Entry{Name: name, Kind: kind})
	l.flushFound()
	l.flushFiles()
	w.queue.end(j, l.own, l.size, l.jobs)
}

// work works until there is nothing left to do.
func (s *search) work() {
	returned := false
	defer func() {
		if !returned {
			s.broken.by(recover())
			s.queue.stop(errStopped)
		}
	}()
	(&worker{search: s}).run()
	returned = true
}

// broken is how a worker has ended that did not return: a Keep, or the file
// system, has panicked or called [runtime.Goexit]. That is for the goroutine of
// the caller, who knows of no other.
type broken struct {
	mu     sync.Mutex
	is     bool
	reason any // nil for Goexit
}

func (b *broken) by(reason any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.is {
		b.is, b.reason = true, reason
	}
}

// again does what the worker did.
func (b *broken) again() {
	switch {
	case !b.is:
	case b.reason == nil:
		runtime.Goexit()
	default:
		panic(b.reason)
	}
}

func (w *worker) run() {
	for {
		j := w.queue.take()
		if j == nil {
			return
		}
		j.run(w, j)
	}
}

// takeAll takes the results in order.
func (s *search) takeAll(t *Taking, take func(found, *sync.Mutex) bool) error {
	for {
		all, err := s.queue.next()
		if err != nil || all == nil {
			return err
		}
		for _, f := range all {
			if f.tally != nil {
				t.add(f.tally)
			}
			if !take(f, &s.keeping) {
				return nil
			}
		}
	}
}

// fails reports that err ends the search.
func (s *search) fails(err error) bool {
	if s.ctx.Err() != nil {
		return true
	}
	return ambit.ReasonOf(err) == ambit.ErrClosed
}

// tells reports that the summary names what could not be searched for reason r.
// The others are of what is not there, what only links lead to, and what a rule
// keeps secret.
func tells(r ambit.Reason) bool {
	switch r {
	case ambit.ErrNotFound, ambit.ErrNotAFile, ambit.ErrNotADirectory, ambit.ErrLoop, ambit.ErrDenied, ambit.ErrOutside:
		return false
	}
	return true
}

// ended returns the error of a context that is done.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	e := &ambit.Error{Reason: ambit.ReasonOf(err), Err: err}
	if cause := context.Cause(ctx); cause != err {
		e.Err = errors.Join(err, cause)
	}
	return e
}
