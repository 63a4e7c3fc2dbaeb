// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
)

// index tells where a text has a line, white space around it not counted.
type index struct {
	seed   maphash.Seed
	ids    map[uint64]int32 // of the lines with one hash
	first  []int32          // by id, where its lines begin in lines; behind the last one their number
	sorted []int32          // the indexes of all lines, by id and in order
}

// scansFirst is how often a text is searched from its beginning to its end before
// an index is made of it, which takes as long as a few such searches.
var scansFirst = 4

// indexed returns the index of the text, nil while it is not worth one.
func (t *text) indexed() *index {
	if t.index == nil && t.scans >= scansFirst {
		t.index = t.makeIndex()
	}
	return t.index
}

// makeIndex returns an index, nil for none.
func (t *text) makeIndex() *index {
	if t.count() >= math.MaxInt32 {
		return nil
	}
	x := &index{seed: maphash.MakeSeed(), ids: make(map[uint64]int32)}
	of := make([]int32, t.count())
	var counts []int32
	for i := range of {
		if !t.step(2) {
			return nil
		}
		hash := maphash.Bytes(x.seed, bytes.Trim(t.line(i), blank))
		id, ok := x.ids[hash]
		if !ok {
			id = int32(len(counts))
			x.ids[hash] = id
			counts = append(counts, 0)
		}
		of[i] = id
		counts[id]++
	}
	x.first = make([]int32, len(counts)+1)
	for id, n := range counts {
		x.first[id+1] = x.first[id] + n
	}
	next := slices.Clone(x.first)
	x.sorted = make([]int32, len(of))
	for i, id := range of {
		x.sorted[next[id]] = int32(i)
		next[id]++
	}
	return x
}

// lines returns the indexes of the lines like text, from the one with the index
// from on. Very rarely there is another one among them.
func (x *index) lines(text string, from int) []int32 {
	id, ok := x.ids[maphash.String(x.seed, trim(text))]
	if !ok {
		return nil
	}
	all := x.sorted[x.first[id]:x.first[id+1]]
	start, _ := slices.BinarySearch(all, int32(min(max(from, 0), math.MaxInt32)))
	return all[start:]
}

// lookUp returns the indexes of all lines from the one with the index from on
// where the hunk fits. It tries the places that the rarest of the old lines leaves;
// ok is false if that takes longer than a look at all lines.
func (s *search) lookUp(x *index, from int, loose bool) (all []int, ok bool) {
	var rarest []int32
	shift := 0
	for i, old := range s.old {
		if lines := x.lines(old, from+i); i == 0 || len(lines) < len(rarest) {
			rarest, shift = lines, i
		}
		if len(rarest) == 0 {
			return nil, true
		}
		s.text.step(1)
	}
	left := 4*(s.text.count()-from) + 1000
	for _, i := range rarest {
		at := int(i) - shift
		if !s.allowed(at) {
			continue
		}
		n, fits := s.agree(at, loose)
		if left -= n + 1; left < 0 {
			return nil, false
		}
		if !s.text.step(n + 1) {
			return nil, true
		}
		if fits {
			all = append(all, at)
		}
	}
	return all, true
}
