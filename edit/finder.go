// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import "bytes"

// finder finds the places of several texts in one pass, by the method of Wu and
// Manber: it looks at the last few bytes of where the shortest text could stand,
// and goes on by as much as no text has them further to the front.
type finder struct {
	texts [][]byte
	least int // length of the shortest, or what is looked at of it
	width int // how many bytes are looked at
	shift []uint8
	first []int32 // index + 1 of the first text that may stand where shift is 0
	next  []int32 // index + 1 of another one, by text
}

const (
	hashBits = 15
	longest  = 250 // of what is looked at of the shortest text: shifts fit into a byte
)

// newFinder returns a finder of the texts, none of which is empty.
func newFinder(texts [][]byte) *finder {
	f := &finder{texts: texts, least: longest}
	for _, text := range texts {
		f.least = min(f.least, len(text))
	}
	f.width = min(3, f.least)
	f.shift = make([]uint8, 1<<hashBits)
	for i := range f.shift {
		f.shift[i] = uint8(f.least - f.width + 1)
	}
	f.first, f.next = make([]int32, 1<<hashBits), make([]int32, len(texts))
	for i, text := range texts {
		for end := f.width; end <= f.least; end++ {
			h := f.hash(text, end)
			f.shift[h] = min(f.shift[h], uint8(f.least-end))
			if end == f.least {
				f.next[i], f.first[h] = f.first[h], int32(i+1)
			}
		}
	}
	return f
}

// hash is that of the bytes before end.
func (f *finder) hash(text []byte, end int) uint32 {
	h := uint32(text[end-1])
	if f.width > 1 {
		h |= uint32(text[end-2]) << 8
	}
	if f.width > 2 {
		h |= uint32(text[end-3]) << 16
	}
	return h * 0x9E3779B1 >> (32 - hashBits)
}

// find calls yield for each place of each text, in order. It gives up, before it
// has called yield, where texts are so much alike that searching for each by
// itself is better.
func (f *finder) find(text []byte, yield func(i, at int)) bool {
	type hit struct{ i, at int }
	var hits []hit
	work, limit := 0, 8*len(text)+1024
	for end := f.least; end <= len(text); {
		h := f.hash(text, end)
		if s := f.shift[h]; s > 0 {
			end += int(s)
			continue
		}
		at := end - f.least
		for i := f.first[h]; i > 0; i = f.next[i-1] {
			if p := f.texts[i-1]; len(p) <= len(text)-at {
				work += 4 + len(p)/8
				if bytes.Equal(text[at:at+len(p)], p) {
					hits = append(hits, hit{int(i - 1), at})
				}
			}
			work++
		}
		if work > limit {
			return false
		}
		end++
	}
	for _, h := range hits {
		yield(h.i, h.at)
	}
	return true
}
