// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"bytes"
	"io"

	"github.com/ambitfs/ambit"
)

// Tail returns the last n lines, or all where there are fewer. 0 lines, for
// which nothing is read, and the lines of an empty file are an empty window; a
// negative n is [ambit.ErrInvalid]. The numbers of the lines and the Total are
// known when the window is the whole file, and not counted otherwise.
//
// Where f is an [io.ReaderAt], Tail reads backwards from the end that the file
// had when it was opened, whatever has been read of it, and takes the same
// time for a file of any size. A file that has become shorter is
// [ambit.ErrChanged]. Elsewhere, and where the size is unknown or 0, Tail reads
// f to its end, from where it stands, and keeps no more than the last n lines.
func Tail(f ambit.File, n int) (Window, error) {
	if err := checkLines(n); err != nil {
		return Window{}, err
	}
	if err := checkFile(f); err != nil {
		return Window{}, err
	}
	if n == 0 {
		return uncounted(nil)
	}
	if r, ok := f.(io.ReaderAt); ok {
		// Some systems show files of size 0 that have content.
		if size := f.Info().Size; size > 0 {
			w, err := tailAt(r, size, n)
			if ambit.ReasonOf(err) != ambit.ErrUnsupported {
				return w, err
			}
		}
	}
	return tailOf(f, n)
}

// tailAt reads backwards from size.
func tailAt(r io.ReaderAt, size int64, n int) (Window, error) {
	var block buffer
	defer block.free()
	var (
		end    = size
		length = firstBlock
		ends   = 0 // newlines met that end a line before the last one
	)
	for end > 0 {
		p := block.bytes(int(min(int64(length), end)))
		start := end - int64(len(p))
		if err := readAt(r, p, start); err != nil {
			return Window{}, err
		}
		text := p
		if end == size {
			text = bytes.TrimSuffix(text, newline)
		}
		count := bytes.Count(text, newline)
		if more := n - ends; count >= more {
			offset := behind(text, count-more+1)
			found, err := textAt(r, start+int64(offset), size, p[offset:])
			return Window{Text: found, Total: -1}, err
		}
		ends += count
		if start == 0 {
			found, err := textAt(r, 0, size, p)
			return Window{Text: found, First: 1, Last: ends + 1, Total: ends + 1}, err
		}
		end = start
		length = min(2*length, blockSize)
	}
	return Window{}, nil
}

// textAt returns the bytes from start to end, of which the first are known.
func textAt(r io.ReaderAt, start, end int64, known []byte) ([]byte, error) {
	length, err := lengthOf(start, end)
	if err != nil {
		return nil, err
	}
	if length == len(known) {
		text := make([]byte, len(known))
		copy(text, known)
		return text, nil
	}
	text := make([]byte, length)
	n := copy(text, known)
	return text, readAt(r, text[n:], start+int64(n))
}

// lengthOf returns the length of a span as an int, which has 32 bits on some
// machines.
func lengthOf(start, end int64) (int, error) {
	if length := int(end - start); int64(length) == end-start {
		return length, nil
	}
	return 0, &ambit.Error{Reason: ambit.ErrTooLarge, Size: end - start, Limit: int64(^uint(0) >> 1)}
}

// tailOf reads to the end of f.
func tailOf(f io.Reader, n int) (Window, error) {
	src, err := newSource(f)
	if err != nil {
		return Window{}, err
	}
	var (
		kept pile
		ends = 0 // newlines in kept
		last = byte('\n')
	)
	defer kept.free()
	// final is the newline that ends the last line, if there is one.
	final := func() int {
		if last == '\n' {
			return 1
		}
		return 0
	}
	for {
		p := kept.space()
		m, err := src.Read(p)
		if m > 0 {
			last = p[m-1]
			count := bytes.Count(p[:m], newline)
			kept.grow(m, count)
			ends += count
			for len(kept.blocks) > 1 && ends-kept.blocks[0].newlines-final() >= n {
				ends -= kept.blocks[0].newlines
				kept.drop()
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Window{}, err
		}
	}
	if kept.size == 0 {
		return Window{}, nil
	}
	before := ends - final() // newlines that end a line before the last one
	if before < n {
		return Window{Text: kept.text(0), First: 1, Last: before + 1, Total: before + 1}, nil
	}
	start, passing := 0, before-n+1
	for _, b := range kept.blocks {
		offset, passed := pass(b.data, passing)
		start += offset
		if passing -= passed; passing == 0 {
			break
		}
	}
	return Window{Text: kept.text(start), Total: -1}, nil
}
