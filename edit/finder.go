// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"hash/maphash"
)

// finder finds the places of several texts in one pass, by the method of Wu and
// Manber: it looks at the last few bytes of where the shortest text could stand,
// and goes on by as much as no text has them further to the front. Where one has
// them right there, a hash of all that the shortest could cover tells which.
type finder struct {
	texts [][]byte
	least int // length of the shortest, or what is looked at of it
	width int // how many bytes are looked at
	shift []uint8

	// Most that looks like the end of a text at first is told from all of them
	// by other bytes, in which they differ most among each other.
	telling int      // where the first of these bytes are, counted from the end of what is looked at
	told    []uint64 // a bit for each hash of theirs

	seed   maphash.Seed
	hashes []uint64 // by text, of what is looked at of it
	first  []int32  // by the end of a hash, index + 1 of the first text
	next   []int32  // index + 1 of another one, by text
}

const (
	shiftBits = 15
	longest   = 250 // of what is looked at of the shortest text: shifts fit into a byte
)

// newFinder returns a finder of the texts, none of which is empty.
func newFinder(texts [][]byte) *finder {
	f := &finder{texts: texts, least: longest, seed: maphash.MakeSeed()}
	for _, text := range texts {
		f.least = min(f.least, len(text))
	}
	f.width = min(3, f.least)
	f.shift = make([]uint8, 1<<shiftBits)
	for i := range f.shift {
		f.shift[i] = uint8(f.least - f.width + 1)
	}
	most := 0
	for back := range f.least - f.width + 1 {
		told := make(map[uint32]bool)
		for _, text := range texts {
			told[f.hash(text, f.least-back)] = true
		}
		if len(told) > most {
			most, f.telling = len(told), back
		}
	}
	f.told = make([]uint64, 1<<shiftBits/64)
	for _, text := range texts {
		h := f.hash(text, f.least-f.telling)
		f.told[h/64] |= 1 << (h % 64)
	}
	slots := 16
	for slots < 4*len(texts) {
		slots *= 2
	}
	f.first, f.next, f.hashes = make([]int32, slots), make([]int32, len(texts)), make([]uint64, len(texts))
	for i, text := range texts {
		for end := f.width; end <= f.least; end++ {
			h := f.hash(text, end)
			f.shift[h] = min(f.shift[h], uint8(f.least-end))
		}
		h := maphash.Bytes(f.seed, text[:f.least])
		slot := h & uint64(slots-1)
		f.hashes[i], f.next[i], f.first[slot] = h, f.first[slot], int32(i+1)
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
	return h * 0x9E3779B1 >> (32 - shiftBits)
}

// find calls yield for each place of each text, in order, until it returns
// false. It gives up, before it
// has called yield, where texts are so much alike that searching for each by
// itself is better.
func (f *finder) find(text []byte, yield func(i, at int) bool) bool {
	type hit struct{ i, at int }
	var hits []hit
	work, limit := 0, 8*len(text)+1024
	mask := uint64(len(f.first) - 1)
	for end := f.least; end <= len(text); {
		if s := f.shift[f.hash(text, end)]; s > 0 {
			end += int(s)
			continue
		}
		if h := f.hash(text, end-f.telling); f.told[h/64]&(1<<(h%64)) == 0 {
			end++
			continue
		}
		at := end - f.least
		h := maphash.Bytes(f.seed, text[at:end])
		for i := f.first[h&mask]; i > 0; i = f.next[i-1] {
			if p := f.texts[i-1]; f.hashes[i-1] == h && len(p) <= len(text)-at {
				work += len(p) / 8
				if bytes.Equal(text[at:at+len(p)], p) {
					hits = append(hits, hit{int(i - 1), at})
				}
			}
			work++
		}
		if work += 2 + f.least/16; work > limit {
			return false
		}
		end++
	}
	for _, h := range hits {
		if !yield(h.i, h.at) {
			break
		}
	}
	return true
}
