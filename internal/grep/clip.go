// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import "unicode/utf8"

// clip returns which part of the line is shown when that may have most bytes, less
// than the line: its beginning if the match from start to end is in that, else what
// is around the match, and of a match that is longer itself its beginning. No
// character is cut, so that it may be less.
func clip(line []byte, start, end, most int) (from, to int) {
	switch {
	case end <= most:
		return 0, characterEnd(line, most)
	case end-start >= most:
		from = start
	default:
		from = min(start-(most-(end-start))/2, len(line)-most)
	}
	for limit := min(start, from+utf8.UTFMax-1); from < limit && !isBoundary(line, from); {
		from++
	}
	return from, max(from, characterEnd(line, min(from+most, len(line))))
}

// characterEnd returns the largest offset up to at which is not within a
// character.
func characterEnd(line []byte, at int) int {
	for !isBoundary(line, at) {
		at--
	}
	return at
}

// isBoundary reports whether an offset is not within a valid character. Where
// bytes are not UTF-8 each is a character.
func isBoundary(line []byte, at int) bool {
	if at <= 0 || at >= len(line) || utf8.RuneStart(line[at]) {
		return true
	}
	for i := at - 1; i >= 0 && i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(line[i]) {
			_, n := utf8.DecodeRune(line[i:])
			return i+n <= at
		}
	}
	return true
}
