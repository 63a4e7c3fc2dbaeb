// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"bytes"
	"io"
)

// Window is some lines that stand together in a file.
type Window struct {
	// Text is the lines verbatim: with their endings, and with the byte order
	// mark where the first line begins with one. It is the caller's own. To show
	// it to somebody who will quote it in an edit, take off the mark and the CRs
	// of endings: package edit knows both.
	Text []byte

	// First and Last are the 1-based numbers of the lines. Both are 0 when the
	// window has no lines and, from Tail, when the numbers were not counted.
	First, Last int

	// Total is the number of lines of the whole file, -1 if they were not
	// counted. Whether they are counted depends on the content and on what is
	// asked for, never on how the content comes in.
	Total int
}

// Slice returns the lines of rng. End is clamped to the last line. A range
// that starts behind the last line is [ambit.ErrOutOfRange], the error having
// the Total; only an empty content read whole, by {1, 0}, is an empty window. For
// a first page of lines, of which an empty content has none, there is [Head].
// A range that [Range.Check] refuses is [ambit.ErrInvalid].
//
// Slice stops reading when it has the lines. It reads by blocks, so that up to
// 256 KiB behind them may have been taken from r. The window has a Total when
// the end of the content had to be seen: when End is 0 or more than there are
// lines, and when the last line asked for has no ending.
func Slice(r io.Reader, rng Range) (Window, error) {
	return gather(r, rng, rng.whole())
}

// gather is scan with the Text.
func gather(r io.Reader, rng Range, mayBeEmpty bool) (Window, error) {
	var gathered pile
	defer gathered.free()
	w, err := scan(r, rng, mayBeEmpty, func(text []byte) error {
		gathered.add(text)
		return nil
	})
	if err == nil {
		w.Text = gathered.text(0)
	}
	return w, err
}

// Copy writes the lines that [Slice] returns to dst, as they come in, and
// returns their window without the Text. It takes the same memory for lines of
// any length and any number. Nothing is written when the range is refused; when
// r or dst fails, some of the lines may have been written.
func Copy(dst io.Writer, r io.Reader, rng Range) (Window, error) {
	if err := checkWriter(dst); err != nil {
		return Window{}, err
	}
	return scan(r, rng, rng.whole(), func(text []byte) error { return write(dst, text) })
}

// Head returns the first n lines, or all where there are fewer. It is [Slice]
// of {1, n}, except that 0 lines are an empty window, for which nothing is
// read, and so are the lines of an empty content. A negative n is
// [ambit.ErrInvalid].
func Head(r io.Reader, n int) (Window, error) {
	if err := checkLines(n); err != nil {
		return Window{}, err
	}
	if n == 0 {
		_, err := newSource(r)
		return uncounted(err)
	}
	return gather(r, Range{Start: 1, End: n}, true)
}

// Count returns the number of lines. It reads r to its end.
func Count(r io.Reader) (int, error) {
	w, err := scan(r, Range{Start: 1}, true, func([]byte) error { return nil })
	return w.Total, err
}

// checkLines refuses a negative number of lines.
func checkLines(n int) error {
	if n < 0 {
		return invalid("%d lines are asked for", n)
	}
	return nil
}

// uncounted returns the window of no lines for which nothing was read.
func uncounted(err error) (Window, error) {
	if err != nil {
		return Window{}, err
	}
	return Window{Total: -1}, nil
}

// scan reads the lines of rng and gives them to take, block by block, which
// must not keep them. An empty content is an empty window if it may be empty,
// else out of range.
func scan(r io.Reader, rng Range, mayBeEmpty bool, take func(text []byte) error) (Window, error) {
	if err := rng.Check(); err != nil {
		return Window{}, err
	}
	src, err := newSource(r)
	if err != nil {
		return Window{}, err
	}
	var block buffer
	defer block.free()
	var (
		length   = firstBlock
		before   = rng.Start - 1 // lines to pass over, still
		wanted   = -1            // lines to take, still; -1: all
		newlines = 0
		open     = false // the content does not end with a newline so far
		taken    = false
	)
	if rng.End > 0 {
		wanted = rng.End - before
	}
	for {
		p := block.bytes(length)
		n, err := src.Read(p)
		if n == len(p) {
			length = min(2*length, blockSize)
		}
		text := p[:n]
		if n > 0 {
			open = text[n-1] != '\n'
		}
		if before > 0 {
			offset, passed := pass(text, before)
			before -= passed
			newlines += passed
			text = text[offset:]
		}
		if before == 0 && len(text) > 0 {
			taken = true
			var passed int
			if wanted < 0 {
				passed = bytes.Count(text, newline)
			} else {
				var offset int
				offset, passed = pass(text, wanted)
				text = text[:offset]
				wanted -= passed
			}
			newlines += passed
			if err := take(text); err != nil {
				return Window{}, err
			}
			if wanted == 0 {
				return Window{First: rng.Start, Last: rng.End, Total: -1}, nil
			}
		}
		if err == io.EOF {
			total := newlines
			if open {
				total++
			}
			switch {
			case taken:
				return Window{First: rng.Start, Last: total, Total: total}, nil
			case total == 0 && mayBeEmpty:
				return Window{}, nil
			}
			return Window{}, outOfRange(total, rng.Start)
		}
		if err != nil {
			return Window{}, err
		}
	}
}

var newline = []byte{'\n'}

// pass returns the offset behind the first n newlines of the text and n; where
// there are fewer, the end of the text and how many there are.
func pass(text []byte, n int) (offset, passed int) {
	if n > len(text) {
		return len(text), bytes.Count(text, newline)
	}
	// By pieces, so that a newline near the start costs no look at all the rest.
	const piece = 8 << 10
	for passed < n && offset < len(text) {
		next := text[offset:min(offset+piece, len(text))]
		count := bytes.Count(next, newline)
		if more := n - passed; count >= more {
			return offset + behind(next, more), n
		}
		passed += count
		offset += len(next)
	}
	return offset, passed
}

// behind returns the offset behind the first n newlines of a text that has so
// many.
func behind(text []byte, n int) int {
	offset := 0
	// Halving needs fewer looks than going from newline to newline.
	const few = 256
	for len(text) > few {
		half := len(text) / 2
		if count := bytes.Count(text[:half], newline); count < n {
			offset += half
			n -= count
			text = text[half:]
		} else {
			text = text[:half]
		}
	}
	for ; n > 0; n-- {
		i := bytes.IndexByte(text, '\n') + 1
		offset += i
		text = text[i:]
	}
	return offset
}
