// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

// Barren are states at places of a text from where no match ends any more. A search that has found a match goes on for as
// long as another end would be preferred, maybe to the end of the text, for each match anew: what one such search has learnt
// spares the next ones the same way, so that all of them together take linear time.
type barren struct {
	known  map[uint64]struct{}
	passed []uint64 // what the present search has passed since it last found an end
	drops  int      // to what generation of states they belong
}

const (
	beforeChecks  = 1024 // bytes behind an end before it is worth to remember anything
	betweenChecks = 128
	mostBarren    = 1 << 18
)

func placeAndState(at int, state uint32) uint64 { return uint64(at)<<32 | uint64(state) }

// reset is for another text.
func (b *barren) reset() {
	if len(b.known) > 0 {
		b.known = nil
	}
}

// begin is called before each search.
func (b *barren) begin(drops int) {
	b.passed = b.passed[:0]
	b.current(drops)
}

// current forgets what belongs to states that were dropped.
func (b *barren) current(drops int) {
	if b.drops != drops {
		b.drops, b.passed = drops, b.passed[:0]
		b.reset()
	}
}

// firstCheck returns the first place behind an end at which to ask.
func (b *barren) firstCheck(end int) int {
	if len(b.known) == 0 {
		end += beforeChecks
	}
	return end/betweenChecks*betweenChecks + betweenChecks
}

// has reports whether the state is barren at the place. If it is not known to be, it is passed.
func (b *barren) has(at int, state uint32, drops int) bool {
	b.current(drops)
	key := placeAndState(at, state)
	if _, ok := b.known[key]; ok {
		return true
	}
	b.passed = append(b.passed, key)
	return false
}

// keep remembers what was passed: no end was found since.
func (b *barren) keep(drops int) {
	b.current(drops)
	if len(b.passed) == 0 || len(b.known)+len(b.passed) > mostBarren {
		return
	}
	if b.known == nil {
		b.known = make(map[uint64]struct{})
	}
	for _, key := range b.passed {
		b.known[key] = struct{}{}
	}
}
