// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A finder finds literals in texts. It does not change and may be used by several goroutines at once.
//
// One to a few are found by two of their bytes each, eight places of the text at a time in the lanes of a word; many by the
// pairs of bytes of which a part of each consists, every few places. What looks right then is compared.
type finder struct {
	literals []literal
	pairs    []pair
	rare     int // of a sole literal, the place of a byte that is worth to be searched for by itself, or -1

	stride  int
	windows []int         // by literal, where the part of stride + 1 bytes begins
	buckets [1 << 12]byte // by hash of two bytes, a bit for each eighth of the literals that have them
	single  [256]bool     // the bytes with which literals begin, when one has no second
}

// A pair is two bytes of a literal.
type pair struct {
	first, second int    // where they are
	text1, text2  uint64 // in all lanes
	fold1, fold2  uint64
	literal
}

const (
	lanes    = 0x0101010101010101
	signs    = 0x8080808080808080
	fewPairs = 3
	rareBits = 8
)

func newFinder(literals []literal) *finder {
	f := &finder{literals: literals, rare: -1}
	if len(literals) <= fewPairs {
		for _, l := range literals {
			first, second := l.rarest()
			f.pairs = append(f.pairs, pair{
				first: first, second: second, literal: l,
				text1: uint64(l.text[first]) * lanes, fold1: uint64(l.fold[first]) * lanes,
				text2: uint64(l.text[second]) * lanes, fold2: uint64(l.fold[second]) * lanes,
			})
		}
		if len(literals) == 1 {
			l := literals[0]
			f.rare = f.pairs[0].first
			if second := f.pairs[0].second; l.rarity(second) > l.rarity(f.rare) {
				f.rare = second
			}
			if l.fold[f.rare] != 0 || l.rarity(f.rare) < rareBits {
				f.rare = -1
			}
		}
		return f
	}
	f.stride = 4
	for _, l := range literals {
		f.stride = min(f.stride, len(l.text)-1)
	}
	for i, l := range literals {
		if f.stride == 0 {
			f.single[l.text[0]] = true
			f.single[l.text[0]&^l.fold[0]] = true
			continue
		}
		f.windows = append(f.windows, l.window(f.stride+1))
		for d := range f.stride {
			at := f.windows[i] + d
			for _, a := range []byte{l.text[at], l.text[at] &^ l.fold[at]} {
				for _, b := range []byte{l.text[at+1], l.text[at+1] &^ l.fold[at+1]} {
					f.buckets[hashPair(uint(a)|uint(b)<<8)] |= 1 << (i % 8)
				}
			}
		}
	}
	return f
}

// hashPair is the hash of two bytes, the first in the low bits.
func hashPair(two uint) uint { return two&0x3F | two>>2&0xFC0 }

// window returns where the rarest part of so many bytes begins.
func (l literal) window(width int) int {
	best, most := 0, -1
	for at := 0; at+width <= len(l.text); at++ {
		least := 1 << 10
		for i := at; i+1 < at+width; i++ {
			least = min(least, l.rarity(i)+l.rarity(i+1))
		}
		if least > most {
			best, most = at, least
		}
	}
	return best
}

// index finds the first line at or after from, a place in the text, in which a literal begins, and one such literal in it,
// by where it begins and its length. Of a sole literal that is the first. It returns -1 when there is none.
func (f *finder) index(text []byte, from int) (at, length int) {
	switch {
	case f.rare >= 0:
		return f.byRareByte(text, from), len(f.literals[0].text)
	case len(f.pairs) == 1:
		return f.byPair(text, &f.pairs[0], from, len(text)), len(f.literals[0].text)
	case len(f.pairs) > 0:
		return f.byPairs(text, from)
	case f.stride == 0:
		return f.byFirstByte(text, from)
	}
	return f.byWindows(text, from)
}

// byRareByte finds a sole literal by its rarest byte, as long as that is rare.
func (f *finder) byRareByte(text []byte, from int) int {
	l := f.literals[0]
	c := l.text[f.rare]
	for at, tries := from+f.rare, 0; at < len(text); at++ {
		i := bytes.IndexByte(text[at:], c)
		if i < 0 {
			break
		}
		at += i
		if l.at(text[at-f.rare:]) {
			return at - f.rare
		}
		if tries++; tries > 8 && (at-from)>>6 < tries {
			return f.byPair(text, &f.pairs[0], at-f.rare+1, len(text))
		}
	}
	return -1
}

// byPair finds the first place of a literal that begins in text[from:limit] by two of its bytes.
func (f *finder) byPair(text []byte, p *pair, from, limit int) int {
	limit = min(limit, len(text)-len(p.text)+1)
	if from >= limit {
		return -1
	}
	text1, text2, fold1, fold2 := p.text1, p.text2, p.fold1, p.fold2
	firsts, seconds := text[from+p.first:limit+p.first], text[from+p.second:limit+p.second]
	for len(firsts) >= 32 && len(seconds) >= 32 {
		x, y := firsts[:32:32], seconds[:32:32]
		v0 := ((binary.LittleEndian.Uint64(x) | fold1) ^ text1) | ((binary.LittleEndian.Uint64(y) | fold2) ^ text2)
		v1 := ((binary.LittleEndian.Uint64(x[8:]) | fold1) ^ text1) | ((binary.LittleEndian.Uint64(y[8:]) | fold2) ^ text2)
		v2 := ((binary.LittleEndian.Uint64(x[16:]) | fold1) ^ text1) | ((binary.LittleEndian.Uint64(y[16:]) | fold2) ^ text2)
		v3 := ((binary.LittleEndian.Uint64(x[24:]) | fold1) ^ text1) | ((binary.LittleEndian.Uint64(y[24:]) | fold2) ^ text2)
		v0, v1, v2, v3 = (v0-lanes)&^v0, (v1-lanes)&^v1, (v2-lanes)&^v2, (v3-lanes)&^v3
		if (v0|v1|v2|v3)&signs != 0 {
			// One bit for each lane. Lanes above a zero may seem to be zero too.
			lane := v0&signs>>7 | v1&signs>>6 | v2&signs>>5 | v3&signs>>4
			if at := p.firstOf(text, limit-len(firsts), lane); at >= 0 {
				return at
			}
		}
		firsts, seconds = firsts[32:], seconds[32:]
	}
	for at := limit - len(firsts); at < limit; at++ {
		if p.at(text[at:]) {
			return at
		}
	}
	return -1
}

// firstOf returns the first of 32 places at which the literal really is. Bits has one for each place that seems right: that
// of place 8*i+j is 8*j+i.
func (p *pair) firstOf(text []byte, base int, lane uint64) int {
	first := -1
	for ; lane != 0; lane &= lane - 1 {
		bit := bits.TrailingZeros64(lane)
		at := base + bit%8*8 + bit/8
		if (first < 0 || at < first) && p.at(text[at:]) {
			first = at
		}
	}
	return first
}

// byPairs finds a few literals by two bytes of each, piece by piece of the text: one that is far away must not be searched
// for again and again when another one is near.
func (f *finder) byPairs(text []byte, from int) (at, length int) {
	for piece := 256; from < len(text); piece *= 2 {
		at, limit := -1, min(from+piece, len(text))
		for i := range f.pairs {
			if found := f.byPair(text, &f.pairs[i], from, limit); found >= 0 {
				at, limit, length = found, found, len(f.pairs[i].text)
			}
		}
		if at >= 0 {
			return at, length
		}
		from = limit
	}
	return -1, 0
}

// byFirstByte finds literals by the byte with which they begin.
func (f *finder) byFirstByte(text []byte, from int) (at, length int) {
	for at := from; at < len(text); at++ {
		if !f.single[text[at]] {
			continue
		}
		for _, l := range f.literals {
			if l.at(text[at:]) {
				return at, len(l.text)
			}
		}
	}
	return -1, 0
}

// byWindows finds literals by a part of each: wherever it is, a pair of its bytes is at a place that is looked at.
func (f *finder) byWindows(text []byte, from int) (at, length int) {
	stride := f.stride
	at = from
	for at+1 < len(text) {
		rest := text[at:]
		for len(rest) >= 3*stride+2 {
			a, b := uint(binary.LittleEndian.Uint16(rest)), uint(binary.LittleEndian.Uint16(rest[stride:]))
			c, d := uint(binary.LittleEndian.Uint16(rest[2*stride:])), uint(binary.LittleEndian.Uint16(rest[3*stride:]))
			if f.buckets[hashPair(a)]|f.buckets[hashPair(b)]|f.buckets[hashPair(c)]|f.buckets[hashPair(d)] != 0 {
				break
			}
			if len(rest) < 4*stride {
				break
			}
			rest = rest[4*stride:]
		}
		at = len(text) - len(rest)
		for range 4 {
			if at+1 >= len(text) {
				return -1, 0
			}
			if set := f.buckets[hashPair(uint(text[at])|uint(text[at+1])<<8)]; set != 0 {
				if start, length := f.around(text, from, at, set); start >= 0 {
					return start, length
				}
			}
			at += stride
		}
	}
	return -1, 0
}

// around finds a literal of these buckets whose window has a pair at a place.
func (f *finder) around(text []byte, from, at int, set byte) (start, length int) {
	start = -1
	for ; set != 0; set &= set - 1 {
		for i := bits.TrailingZeros8(set); i < len(f.literals); i += 8 {
			l := f.literals[i]
			for d := range f.stride {
				s := at - f.windows[i] - d
				if s >= from && (start < 0 || s < start) && l.at(text[s:]) {
					start, length = s, len(l.text)
				}
			}
		}
	}
	return start, length
}

// unique returns the literals without doubles.
func unique(literals []literal) []literal {
	var kept []literal
	for _, l := range literals {
		if !slices.Contains(kept, l) {
			kept = append(kept, l)
		}
	}
	return kept
}
