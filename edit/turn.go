// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"context"
	"sync"
)

// turns lets the edits of one file by this process follow one after the other:
// each that begins with what the other left behind succeeds, where all but one
// of those that begin together would find that the file has changed.
type turns struct {
	mu    sync.Mutex
	queue map[string]*queue
}

type queue struct {
	turn    chan struct{} // holds a token while it is nobody's turn
	members int
}

var editing = turns{queue: make(map[string]*queue)}

// take waits for the turn at key; waited tells that it was somebody else's. The
// caller calls done when err is nil.
func (t *turns) take(ctx context.Context, key string) (done func(), waited bool, err error) {
	t.mu.Lock()
	q := t.queue[key]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		q.turn <- struct{}{}
		t.queue[key] = q
	}
	q.members++
	t.mu.Unlock()

	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.members--; q.members == 0 {
			delete(t.queue, key)
		}
	}
	select {
	case <-q.turn:
	default:
		waited = true
		select {
		case <-q.turn:
		case <-ctx.Done():
			leave()
			return nil, true, ctx.Err()
		}
	}
	return func() {
		q.turn <- struct{}{}
		leave()
	}, waited, nil
}
