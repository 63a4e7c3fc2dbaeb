// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package lines has the one rule for where lines end: at LF. A CR right before
// it belongs to the ending; a CR anywhere else, a form feed, U+0085 and U+2028
// are content. A final newline ends the last line and starts none: an empty
// text has no lines.
package lines

import "bytes"

// Ending returns the ending of the line, "\r\n", "\n" or "", which only the
// last line of a text has.
func Ending[Text ~string | ~[]byte](line Text) string {
	switch n := len(line); {
	case n == 0 || line[n-1] != '\n':
		return ""
	case n > 1 && line[n-2] == '\r':
		return "\r\n"
	}
	return "\n"
}

// Next returns the first line of the text with its ending, and what follows.
func Next(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[: i+1 : i+1], text[i+1:]
	}
	return text, nil
}

// Split returns the lines of the text with their endings.
func Split(text []byte) [][]byte {
	all := make([][]byte, 0, Count(text))
	for len(text) > 0 {
		var line []byte
		line, text = Next(text)
		all = append(all, line)
	}
	return all
}

var newline = []byte{'\n'}

// Count returns the number of lines of the text.
func Count(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Skip returns the offset behind the first n lines of the text, and how many
// there are, up to n.
func Skip(text []byte, n int) (offset, skipped int) {
	for skipped < n && offset < len(text) {
		skipped++
		i := bytes.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text), skipped
		}
		offset += i + 1
	}
	return offset, skipped
}

// EndingAt returns the ending that a line takes which comes to stand in place
// of the whole lines text[start:end]: that of the last of them that has one, else
// that of the line before, else that of the line after, and "\n" where there is
// none.
func EndingAt(text []byte, start, end int) string {
	last := start + bytes.LastIndexByte(text[start:end], '\n') + 1
	if ending := Ending(text[start:last]); ending != "" {
		return ending
	}
	if ending := Ending(text[:start]); ending != "" {
		return ending
	}
	line, _ := Next(text[end:])
	if ending := Ending(line); ending != "" {
		return ending
	}
	return "\n"
}
