// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// tokens are what is made of the numbers of one state of a regular file.
type tokens struct {
	state      state
	generation string
	id         string
	version    ambit.Version
}

// state is all that the system tells at once of a file and its content.
type state struct {
	fileKey
	size              int64
	modified, changed instant
}

func (n *node) state() state { return state{n.key(), n.size, n.modified, n.changed} }

// knownTokens keeps those of files that were looked at: the next look at the
// same state needs not ask the disk for the file's generation again. A state
// whose last change lies longer back than any clock ticks can never be that of
// a later file with the same inode number, which would have been made, and so
// changed, after the look.
var knownTokens [1 << 10]atomic.Pointer[tokens]

func (s *state) slot() *atomic.Pointer[tokens] {
	h := (s.inode ^ uint64(s.modified.nsec)<<3) * 0x9e3779b97f4a7c15
	return &knownTokens[h>>54]
}

// generate fills in the generation of a regular file, which ask tells, or what
// is known of it.
func (n *node) generate(ask func() (string, error)) error {
	if !hasVersions {
		return nil // the numbers say nothing
	}
	s := n.state()
	slot := s.slot()
	if t := slot.Load(); t != nil && t.state == s {
		n.generation, n.tokens = t.generation, t
		return nil
	}
	g, err := ask()
	if err != nil {
		return err
	}
	n.generation = g
	if since := time.Since(n.changed.time()); since > youth {
		t := &tokens{state: s, generation: g, id: n.id(), version: n.version()}
		slot.Store(t)
		n.tokens = t
	}
	return nil
}
