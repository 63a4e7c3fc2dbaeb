// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"math/rand/v2"
	"sync"
)

// A crowdMutex is a sync.RWMutex for many readers: they spread over several
// locks, since on one lock the processors pass its count around for longer than
// a read of memory takes. A writer takes all of them, in one order.
type crowdMutex struct {
	locks [crowdLocks]struct {
		sync.RWMutex
		_ [40]byte // each in a cache line of its own
	}
}

// crowdLocks is a bargain: each costs a writer some nanoseconds.
const crowdLocks = 4

// RLock locks for reading and returns what is to be unlocked.
func (m *crowdMutex) RLock() *sync.RWMutex {
	l := &m.locks[rand.Uint32()%crowdLocks].RWMutex
	l.RLock()
	return l
}

// Lock locks for writing.
func (m *crowdMutex) Lock() {
	for i := range m.locks {
		m.locks[i].Lock()
	}
}

// Unlock ends Lock.
func (m *crowdMutex) Unlock() {
	for i := range m.locks {
		m.locks[i].Unlock()
	}
}
