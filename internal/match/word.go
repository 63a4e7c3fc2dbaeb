// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Word characters are those of \w in Unicode's recommendation for regular expressions: what is alphabetic, marks, digits,
// connector punctuation and joiners.
var wordTables = []*unicode.RangeTable{
	unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control,
}

// isWord reports whether the rune is a word character.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(r)
	}
	return unicode.In(r, wordTables...)
}

// isASCIIWord reports whether the rune is a word character for \b and \w of a pattern.
func isASCIIWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
}

// wordPairs returns the word characters, as sorted pairs of first and last.
var wordPairs = sync.OnceValue(func() []rune {
	type span struct{ first, last rune }
	var spans []span
	add := func(first, last, stride rune) {
		if stride == 1 {
			spans = append(spans, span{first, last})
			return
		}
		for r := first; r <= last; r += stride {
			spans = append(spans, span{r, r})
		}
	}
	for _, table := range wordTables {
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
	var pairs []rune
	for _, s := range spans {
		if n := len(pairs); n > 0 && s.first <= pairs[n-1]+1 {
			pairs[n-1] = max(pairs[n-1], s.last)
		} else {
			pairs = append(pairs, s.first, s.last)
		}
	}
	return pairs
})

// wordAround reports whether a word character is directly before or behind text[start:end].
func wordAround(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	behind, _ := utf8.DecodeRune(text[end:])
	return isWord(before) || isWord(behind)
}
