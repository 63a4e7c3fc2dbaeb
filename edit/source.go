// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/lines"
)

// source is a text that is edited, without its byte order mark: in memory or in
// an open file.
type source struct {
	memory []byte

	file   io.ReaderAt // nil: the text is in memory
	base   int64       // where the text begins in the file
	stream io.Reader   // what follows base, for the first pass; then nil

	recent   []byte // the last block read, never changed
	recentAt int64

	size   int64
	window int // how much is looked at together at least; 0: windowSize
}

const windowSize = 1 << 20

// window is a piece of a text. Each place of the text begins in exactly one
// window's share, and the window reaches overlap bytes behind the share.
type window struct {
	text     []byte
	offset   int64 // of text[0] in the whole text
	from, to int   // the share; text[from-1] is there where the whole text has it
	last     bool  // the whole text ends with this one
}

// windows calls each with one window after the other.
func (s *source) windows(ctx context.Context, overlap int, each func(w window) error) error {
	size := max(cmp.Or(s.window, windowSize), 4*overlap)
	if s.file == nil {
		for from := 0; ; {
			if err := ctx.Err(); err != nil {
				return err
			}
			begin := max(from-1, 0)
			end := min(from+size, len(s.memory))
			w := window{text: s.memory[begin:end], offset: int64(begin), from: from - begin, last: end == len(s.memory)}
			w.to = len(w.text)
			if !w.last {
				w.to -= overlap
			}
			if err := each(w); err != nil || w.last {
				return err
			}
			from = begin + w.to
		}
	}
	stream := s.stream
	s.stream = nil
	if stream == nil {
		stream = io.NewSectionReader(s.file, s.base, s.size)
	}
	buffer := make([]byte, 0, size+1)
	var offset int64
	from := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(stream, buffer[len(buffer):min(int64(cap(buffer)), s.size-offset)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return &ambit.Error{Reason: ambit.ErrChanged, Detail: "the file became shorter while it was read"}
		} else if err != nil {
			return err
		}
		w := window{text: buffer, offset: offset, from: from, to: len(buffer), last: offset+int64(len(buffer)) == s.size}
		if !w.last {
			w.to -= overlap
		}
		if err := each(w); err != nil || w.last {
			return err
		}
		kept := w.to - 1
		from = 1
		offset += int64(kept)
		buffer = buffer[:copy(buffer, buffer[kept:])]
	}
}

// span returns text[from:to], which the caller does not change.
func (s *source) span(from, to int64) ([]byte, error) {
	if s.file == nil {
		return s.memory[from:to:to], nil
	}
	if to-from > block {
		return s.read(from, to)
	}
	if from < s.recentAt || to > s.recentAt+int64(len(s.recent)) {
		// Most looks are at what follows, some at what is just before.
		at := max(from-block, 0)
		b, err := s.read(at, min(from+3*block, s.size))
		if err != nil {
			return nil, err
		}
		s.recent, s.recentAt = b, at
	}
	return s.recent[from-s.recentAt : to-s.recentAt : to-s.recentAt], nil
}

func (s *source) read(from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	n, err := s.file.ReadAt(b, s.base+from)
	if n == len(b) {
		return b, nil
	}
	if err == nil || err == io.EOF {
		err = &ambit.Error{Reason: ambit.ErrChanged, Detail: "the file became shorter while it was read"}
	}
	return nil, err
}

// lines returns the lines text[start:end] and how many they are; of very many no
// more than the ending of the last.
func (s *source) lines(start, end int64) (text string, count int, err error) {
	if s.file == nil || end-start <= windowSize {
		b, err := s.span(start, end)
		return string(b), lines.Count(b), err
	}
	for at := start; at < end; {
		b, err := s.span(at, min(at+windowSize, end))
		if err != nil {
			return "", 0, err
		}
		count += bytes.Count(b, []byte{'\n'})
		at += int64(len(b))
	}
	text, err = s.endingBefore(end)
	if text == "" {
		count++
	}
	return text, count, err
}

// block is how much is read at once in search of the next newline.
const block = 16 << 10

// lineEnd returns the offset behind the next newline at or behind from, and the
// size of the text where there is none; ok is false when it would have to look
// at more than limit bytes.
func (s *source) lineEnd(from, limit int64) (end int64, ok bool, err error) {
	for at := from; at < s.size; {
		if at-from >= limit {
			return 0, false, nil
		}
		b, err := s.span(at, min(at+block, s.size))
		if err != nil {
			return 0, false, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return at + int64(i) + 1, true, nil
		}
		at += int64(len(b))
	}
	return s.size, true, nil
}

// lineStart returns the offset behind the last newline before end, 0 where there
// is none; ok as for lineEnd.
func (s *source) lineStart(end, limit int64) (start int64, ok bool, err error) {
	for at := end; at > 0; {
		if end-at >= limit {
			return 0, false, nil
		}
		from := max(at-block, 0)
		b, err := s.span(from, at)
		if err != nil {
			return 0, false, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return from + int64(i) + 1, true, nil
		}
		at = from
	}
	return 0, true, nil
}

// endingBefore returns the ending that text[:end] ends with, "" for none.
func (s *source) endingBefore(end int64) (string, error) {
	b, err := s.span(max(end-2, 0), end)
	if err != nil {
		return "", err
	}
	return endingOf(b), nil
}
