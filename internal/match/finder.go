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
// One to a few are found by two of their bytes each, eight places of the text at a time in the lanes of a word; many by three
// successive bytes of each, which have to be those of the same literal, or nearly so. What looks right then is compared.
type finder struct {
	literals []literal
	pairs    []pair
	rare     int // of a sole literal, the place of a byte that is worth to be searched for by itself, or -1

	windows []int       // by literal, where the bytes begin that are looked up
	before  int         // the largest of windows
	sets    [256]uint64 // for each byte of a window, 16 bits: the literals, by index modulo 16, that have the byte there
	short   bool        // some literal is of one byte
	single  [256]bool   // the bytes with which literals begin
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

	windowWidth = 3
	rareBits    = 8
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
	width := windowWidth
	for _, l := range literals {
		width = min(width, len(l.text))
	}
	f.short = width == 1
	for b := range f.sets {
		f.sets[b] = ^uint64(0) << (16 * width)
	}
	for i, l := range literals {
		at := l.window(width)
		f.windows = append(f.windows, at)
		f.before = max(f.before, at)
		for d := range width {
			for _, b := range []byte{l.text[at+d], l.text[at+d] &^ l.fold[at+d]} {
				f.sets[b] |= 1 << (16*d + i%16)
			}
		}
		f.single[l.text[0]] = true
		f.single[l.text[0]&^l.fold[0]] = true
	}
	return f
}

// window returns where the rarest part of so many bytes begins.
func (l literal) window(width int) int {
	best, most := 0, -1
	for at := 0; at+width <= len(l.text); at++ {
		rarity := 0
		for i := range width {
			rarity += l.rarity(at + i)
		}
		if rarity > most {
			best, most = at, rarity
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
	case f.short:
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

// byWindows finds literals by a few successive bytes of each, which are looked up one by one.
func (f *finder) byWindows(text []byte, from int) (at, length int) {
	sets := &f.sets
	rest := text[from:]
	for len(rest) >= 10 {
		t := rest[:10:10]
		s0, s1, s2, s3, s4 := sets[t[0]], sets[t[1]], sets[t[2]], sets[t[3]], sets[t[4]]
		s5, s6, s7, s8, s9 := sets[t[5]], sets[t[6]], sets[t[7]], sets[t[8]], sets[t[9]]
		any := s0&(s1>>16)&(s2>>32) | s1&(s2>>16)&(s3>>32) | s2&(s3>>16)&(s4>>32) | s3&(s4>>16)&(s5>>32) |
			s4&(s5>>16)&(s6>>32) | s5&(s6>>16)&(s7>>32) | s6&(s7>>16)&(s8>>32) | s7&(s8>>16)&(s9>>32)
		if any&0xFFFF != 0 {
			base := len(text) - len(rest)
			for i := range 8 {
				set := uint16(sets[t[i]] & (sets[t[i+1]] >> 16) & (sets[t[i+2]] >> 32))
				if set != 0 {
					if at, length := f.around(text, from, base+i, set); at >= 0 {
						return at, length
					}
				}
			}
		}
		rest = rest[8:]
	}
	return f.plainly(text, max(from, len(text)-len(rest)-f.before))
}

// plainly tries each literal at each place.
func (f *finder) plainly(text []byte, from int) (at, length int) {
	for at := from; at < len(text); at++ {
		for _, l := range f.literals {
			if l.at(text[at:]) {
				return at, len(l.text)
			}
		}
	}
	return -1, 0
}

// around finds a literal of this set whose window is at a place.
func (f *finder) around(text []byte, from, at int, set uint16) (start, length int) {
	start = -1
	for ; set != 0; set &= set - 1 {
		for i := bits.TrailingZeros16(set); i < len(f.literals); i += 16 {
			l, s := f.literals[i], at-f.windows[i]
			if s >= from && (start < 0 || s < start) && l.at(text[s:]) {
				start, length = s, len(l.text)
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
