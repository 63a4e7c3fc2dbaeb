// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"slices"
	"sync"
)

// queues let the goroutines of this process take turns at a folder, in the
// order in which they came. The system's lock on a folder knows of processes
// only as those who try again and again, where the luckiest wins.
type queues struct {
	mu    sync.Mutex
	heads map[fileKey]*queue
}

// queue is that of one folder; it exists while somebody has the turn.
type queue struct{ waiting []chan struct{} }

var folderQueues = queues{heads: make(map[fileKey]*queue)}

// enter waits for the turn at key, which leave ends.
func (q *queues) enter(ctx context.Context, key fileKey) error {
	q.mu.Lock()
	head := q.heads[key]
	if head == nil {
		q.heads[key] = &queue{}
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	head.waiting = append(head.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(head.waiting, turn)
	if i >= 0 {
		head.waiting = slices.Delete(head.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 { // the turn came at the same time
		q.leave(key)
	}
	return ended(ctx)
}

func (q *queues) leave(key fileKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	head := q.heads[key]
	if len(head.waiting) == 0 {
		delete(q.heads, key)
		return
	}
	close(head.waiting[0])
	head.waiting = head.waiting[1:]
}
