// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"bytes"
	"io"
	"sort"

	"github.com/ambitfs/ambit"
)

// Index finds the lines of one open file without reading what is before them.
// It holds 8 bytes for each 256 KiB of the file. It is safe for concurrent
// use.
type Index struct {
	file   io.ReaderAt
	size   int64
	lines  int
	before []int // newlines before each block of blockSize
}

// NewIndex reads f once to its end, by [io.ReaderAt], and makes an index of
// it. A file that is no io.ReaderAt is [ambit.ErrUnsupported]. One that ends
// before the size that it had when it was opened is [ambit.ErrChanged].
//
// The index reads from f and does not close it: f must stay open while the
// index is in use. Where ReadAt does not mix two versions of the file (see
// [ambit.File]), neither does the index.
func NewIndex(f ambit.File) (*Index, error) {
	if err := checkFile(f); err != nil {
		return nil, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, &ambit.Error{Reason: ambit.ErrUnsupported, Detail: "an index needs a file that can be read at any place"}
	}
	x := &Index{file: r}
	var block buffer
	defer block.free()
	size := f.Info().Size
	known := size > 0 // some systems show files of size 0 that have content
	newlines, open := 0, false
	for !known || x.size < size {
		length := blockSize
		if known {
			length = int(min(blockSize, size-x.size))
		}
		p := block.bytes(length)
		n, err := readUpTo(r, p, x.size)
		if err != nil {
			return nil, err
		}
		if known && n < length {
			return nil, shortened()
		}
		if n > 0 {
			x.before = append(x.before, newlines)
			newlines += bytes.Count(p[:n], newline)
			open = p[n-1] != '\n'
			x.size += int64(n)
		}
		if n < length {
			break
		}
	}
	x.lines = newlines
	if open {
		x.lines++
	}
	return x, nil
}

// Lines returns the number of lines of the file.
func (x *Index) Lines() int {
	if x == nil {
		return 0
	}
	return x.lines
}

// Slice returns the lines of rng as the function [Slice] does, with the Total
// always known. It reads at most two blocks of 256 KiB and the lines.
func (x *Index) Slice(rng Range) (Window, error) {
	var block buffer
	defer block.free()
	s, err := x.find(rng, &block)
	if err != nil {
		return Window{}, err
	}
	w := s.window
	if s.known != nil {
		w.Text = bytes.Clone(s.known)
	} else {
		w.Text, err = textAt(x.file, s.start, s.end, nil)
	}
	if err != nil {
		return Window{}, err
	}
	return w, nil
}

// Copy writes the lines of rng to dst as the function [Copy] does, with the
// Total always known.
func (x *Index) Copy(dst io.Writer, rng Range) (Window, error) {
	if err := checkWriter(dst); err != nil {
		return Window{}, err
	}
	var block buffer
	defer block.free()
	s, err := x.find(rng, &block)
	if err != nil {
		return Window{}, err
	}
	if s.known != nil {
		if err := write(dst, s.known); err != nil {
			return Window{}, err
		}
		return s.window, nil
	}
	for at := s.start; at < s.end; {
		p := block.bytes(int(min(blockSize, s.end-at)))
		if err := readAt(x.file, p, at); err != nil {
			return Window{}, err
		}
		if err := write(dst, p); err != nil {
			return Window{}, err
		}
		at += int64(len(p))
	}
	return s.window, nil
}

// span is where the lines of a range are.
type span struct {
	window     Window // without the Text
	start, end int64
	known      []byte // the text where one block has all of it, else nil
}

func (x *Index) find(rng Range, block *buffer) (span, error) {
	if err := rng.Check(); err != nil {
		return span{}, err
	}
	if x == nil || x.file == nil {
		return span{}, invalid("the index is nil")
	}
	if rng.Start > x.lines {
		if x.lines == 0 && rng.whole() {
			return span{}, nil
		}
		return span{}, outOfRange(x.lines, rng.Start)
	}
	last := x.lines
	if rng.End > 0 {
		last = min(last, rng.End)
	}
	s := span{window: Window{First: rng.Start, Last: last, Total: x.lines}}
	b := indexed{x: x, block: block, number: -1}
	var err error
	if s.start, err = b.behind(rng.Start - 1); err != nil {
		return span{}, err
	}
	if s.end, err = b.behind(last); err != nil {
		return span{}, err
	}
	if s.start >= s.end {
		return span{}, otherLines()
	}
	if b.number >= 0 {
		if first := int64(b.number) * blockSize; s.start >= first && s.end <= first+int64(len(b.text)) {
			s.known = b.text[s.start-first : s.end-first]
		}
	}
	return s, nil
}

// indexed is the block of the file that was looked at last, and the place in
// it that was found last.
type indexed struct {
	x      *Index
	block  *buffer
	number int // -1: none
	text   []byte
	offset int // in text
	lines  int // of the file, before offset
}

// behind returns the offset behind the first n lines of the file, n not being
// less than it was last.
func (b *indexed) behind(n int) (int64, error) {
	switch n {
	case 0:
		return 0, nil
	case b.x.lines:
		return b.x.size, nil
	}
	number := sort.SearchInts(b.x.before, n) - 1
	start := int64(number) * blockSize
	if number != b.number {
		b.number = -1
		b.text = b.block.bytes(int(min(blockSize, b.x.size-start)))
		if err := readAt(b.x.file, b.text, start); err != nil {
			return 0, err
		}
		b.number, b.offset, b.lines = number, 0, b.x.before[number]
	}
	offset, passed := pass(b.text[b.offset:], n-b.lines)
	if passed < n-b.lines {
		return 0, otherLines()
	}
	b.offset += offset
	b.lines = n
	return start + int64(b.offset), nil
}

func otherLines() error {
	return &ambit.Error{Reason: ambit.ErrChanged, Detail: "the file has other lines than when it was indexed"}
}
