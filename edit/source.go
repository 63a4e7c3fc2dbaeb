// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"sort"

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

	recent   piece   // the last block read
	passages []piece // what is around places that were found, in order

	size   int64
	window int // how much is looked at together at least; 0: windowSize
}

const windowSize = 1 << 20

// piece is a part of a text, which nobody changes.
type piece struct {
	text   []byte
	offset int64
}

func (p piece) end() int64 { return p.offset + int64(len(p.text)) }

func (p piece) holds(from, to int64) bool { return p.offset <= from && to <= p.end() }

func (p piece) span(from, to int64) []byte { return p.text[from-p.offset : to-p.offset : to-p.offset] }

const (
	maxPassages = 1000
	around      = 1 << 10 // how much of a passage is before and behind a place, in bytes
)

// remember keeps what is around a place that was found in the window, so that
// it need not be read again.
func (s *source) remember(w window, from, to int) {
	if s.file == nil || len(s.passages) == maxPassages || to-from > block {
		return
	}
	from, to = max(from-around, 0), min(to+around, len(w.text))
	s.passages = append(s.passages, piece{text: bytes.Clone(w.text[from:to]), offset: w.offset + int64(from)})
}

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
	if s.recent.holds(from, to) {
		return s.recent.span(from, to), nil
	}
	i := sort.Search(len(s.passages), func(i int) bool { return s.passages[i].end() >= to })
	if i < len(s.passages) && s.passages[i].holds(from, to) {
		return s.passages[i].span(from, to), nil
	}
	// Most looks are at what follows, some at what is just before.
	at := max(from-block, 0)
	b, err := s.read(at, min(from+3*block, s.size))
	if err != nil {
		return nil, err
	}
	s.recent = piece{text: b, offset: at}
	return s.recent.span(from, to), nil
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
const block = 4 << 10

// step is how much is looked at next in search of a newline when so much was
// looked at in vain: most lines are short.
func step(vain int64) int64 { return min(max(vain, 128), block) }

// lineEnd returns the offset behind the next newline at or behind from, and the
// size of the text where there is none; ok is false when it would have to look
// at more than limit bytes.
func (s *source) lineEnd(from, limit int64) (end int64, ok bool, err error) {
	for at := from; at < s.size; {
		if at-from >= limit {
			return 0, false, nil
		}
		b, err := s.span(at, min(at+step(at-from), s.size))
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
		from := max(at-step(end-at), 0)
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
