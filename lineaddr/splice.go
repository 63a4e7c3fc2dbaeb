// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"bytes"

	"github.com/ambitfs/ambit/internal/lines"
)

// Splice returns the content with text in place of the whole lines of rng. It
// changes neither content nor text, and the result shares no memory with them.
//
//   - Text that does not end with a newline takes the ending of the lines
//     around it: that of the last line replaced, else of the line before, else
//     of the line after, else "\n". Text that does gets no second one. Its inner
//     endings stay as they are.
//   - Empty text deletes the lines, to an empty content if need be.
//   - A content that does not end with a newline does not end with one after
//     it: its last line is the one without, whichever that is then. The one
//     exception is an empty last line, which would vanish with its newline: that
//     stays, so that no line is lost.
//   - A byte order mark at the start of the content is outside the text and
//     survives whatever is replaced; text that comes to stand behind it and
//     begins with one itself brings no second.
//   - {1, 0} of an empty content, also of one that is a byte order mark alone, is
//     the whole of it: text as it is.
//
// So a range that is replaced by its own text, as [Slice] returns it, leaves
// every byte as it was.
//
// A range with lines that the content has not is [ambit.ErrOutOfRange], at its
// end as at its start, with the Total in the error; one that [Range.Check]
// refuses is [ambit.ErrInvalid].
func Splice(content []byte, rng Range, text []byte) ([]byte, error) {
	if err := rng.Check(); err != nil {
		return nil, err
	}
	mark, body := cutMark(content)
	if rng.Start == 1 {
		text = bytes.TrimPrefix(text, mark)
	}
	if len(body) == 0 {
		// A mark alone is a line for who reads it, so it is one here too.
		switch total := lines.Count(content); {
		case rng.whole():
		case rng.Start > total:
			return nil, outOfRange(total, rng.Start)
		case rng.End > total:
			return nil, outOfRange(total, rng.End)
		}
		return join(mark, text), nil
	}
	start, skipped := lines.Skip(body, rng.Start-1)
	if skipped < rng.Start-1 || start == len(body) {
		return nil, outOfRange(skipped, rng.Start)
	}
	end := len(body)
	if rng.End > 0 {
		length, replaced := lines.Skip(body[start:], rng.End-skipped)
		if replaced < rng.End-skipped {
			return nil, outOfRange(skipped+replaced, rng.End)
		}
		end = start + length
	}
	return put(mark, body, start, end, text), nil
}

// Insert returns the content with text as whole lines of their own behind the
// line after; 0 puts them before the first line. Endings and a byte order mark
// are as with [Splice], and so is that neither argument is changed or shared.
// Empty text changes nothing. A line after that the content has not is
// [ambit.ErrOutOfRange] with the Total, a negative one [ambit.ErrInvalid].
func Insert(content []byte, after int, text []byte) ([]byte, error) {
	if after < 0 {
		return nil, invalid("lines are numbered from 1, and the text is to stand behind line %d", after)
	}
	mark, body := cutMark(content)
	if len(body) == 0 {
		if total := lines.Count(content); after > total {
			return nil, outOfRange(total, after)
		}
		text = bytes.TrimPrefix(text, mark)
		return join(mark, text, missingEnding(text, body, 0, 0)), nil
	}
	at, skipped := lines.Skip(body, after)
	if skipped < after {
		return nil, outOfRange(skipped, after)
	}
	if after == 0 {
		text = bytes.TrimPrefix(text, mark)
	}
	if len(text) == 0 {
		return join(content), nil
	}
	return put(mark, body, at, at, text), nil
}

// put puts text in place of the whole lines body[start:end] of a body that is
// not empty.
func put(mark, body []byte, start, end int, text []byte) []byte {
	before, behind := body[:start], body[end:]
	if len(behind) > 0 || body[len(body)-1] == '\n' {
		return join(mark, before, text, missingEnding(text, body, start, end), behind)
	}
	// The last line has no ending, and the new last line shall have none.
	if len(text) == 0 {
		return join(mark, unended(before))
	}
	var between []byte
	if start == end {
		last := bytes.LastIndexByte(body, '\n') + 1
		between = missingEnding(body, body, last, end)
	}
	return join(mark, before, between, unended(text))
}

// missingEnding returns the ending that text lacks in place of the whole lines
// body[start:end]: none if it has one or is empty.
func missingEnding(text, body []byte, start, end int) []byte {
	if len(text) == 0 || lines.Ending(text) != "" {
		return nil
	}
	return []byte(lines.EndingAt(body, start, end))
}

// unended returns the text without its final ending, unless the last line is
// empty: with its ending it would vanish.
func unended(text []byte) []byte {
	without := text[:len(text)-len(lines.Ending(text))]
	if len(without) == 0 || without[len(without)-1] == '\n' {
		return text
	}
	return without
}

// join returns the parts one after the other, in memory of its own.
func join(parts ...[]byte) []byte {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	joined := make([]byte, 0, size)
	for _, p := range parts {
		joined = append(joined, p...)
	}
	return joined
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// cutMark returns the byte order mark at the start of the content, if there is
// one, and the text.
func cutMark(content []byte) (mark, body []byte) {
	if bytes.HasPrefix(content, byteOrderMark) {
		return content[:len(byteOrderMark)], content[len(byteOrderMark):]
	}
	return nil, content
}
