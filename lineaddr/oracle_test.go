// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

// result is an answer of the package, comparable with that of an oracle.
type result struct {
	text               string
	first, last, total int
	reason             ambit.Reason // then total is that of the error
}

func resultOf(w lineaddr.Window, err error) result {
	if err != nil {
		r := result{reason: ambit.ReasonOf(err)}
		if e, ok := err.(*ambit.Error); ok {
			r.total = e.Total
		}
		if w.Text != nil || w.First != 0 || w.Last != 0 || w.Total != 0 {
			r.text = fmt.Sprintf("a window beside an error: %v", w)
		}
		return r
	}
	return result{text: string(w.Text), first: w.First, last: w.Last, total: w.Total}
}

// naiveLines is the whole content cut behind each LF.
func naiveLines(content string) []string {
	all := strings.SplitAfter(content, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

func naiveSlice(content string, rng lineaddr.Range) result {
	all := naiveLines(content)
	n := len(all)
	switch {
	case rng.Start < 1 || rng.End < 0 || rng.End > 0 && rng.End < rng.Start:
		return result{reason: ambit.ErrInvalid}
	case n == 0 && rng.Start == 1 && rng.End == 0:
		return result{}
	case rng.Start > n:
		return result{reason: ambit.ErrOutOfRange, total: n}
	case rng.End == 0 || rng.End > n:
		return result{text: strings.Join(all[rng.Start-1:], ""), first: rng.Start, last: n, total: n}
	}
	r := result{text: strings.Join(all[rng.Start-1:rng.End], ""), first: rng.Start, last: rng.End, total: -1}
	if !strings.HasSuffix(r.text, "\n") {
		r.total = n
	}
	return r
}

func naiveHead(content string, n int) result {
	switch {
	case n < 0:
		return result{reason: ambit.ErrInvalid}
	case n == 0:
		return result{total: -1}
	case content == "":
		return result{}
	}
	return naiveSlice(content, lineaddr.Range{Start: 1, End: n})
}

func naiveTail(content string, n int) result {
	all := naiveLines(content)
	switch {
	case n < 0:
		return result{reason: ambit.ErrInvalid}
	case n == 0:
		return result{total: -1}
	case content == "":
		return result{}
	case n >= len(all):
		return result{text: content, first: 1, last: len(all), total: len(all)}
	}
	return result{text: strings.Join(all[len(all)-n:], ""), total: -1}
}

// naiveLine is a line taken apart.
type naiveLine struct{ text, ending string }

func takeApart(content string) []naiveLine {
	var all []naiveLine
	for _, line := range naiveLines(content) {
		switch {
		case strings.HasSuffix(line, "\r\n"):
			all = append(all, naiveLine{line[:len(line)-2], "\r\n"})
		case strings.HasSuffix(line, "\n"):
			all = append(all, naiveLine{line[:len(line)-1], "\n"})
		default:
			all = append(all, naiveLine{line, ""})
		}
	}
	return all
}

const mark = "\ufeff"

// naiveSplice replaces count lines behind the first after ones: a content
// without a final newline is given one, the work is done on whole lines, and
// the ending of what is last then is taken off again.
func naiveSplice(content string, after, count int, text string) string {
	head := ""
	if strings.HasPrefix(content, mark) {
		head, content = mark, content[len(mark):]
		if after == 0 {
			text = strings.TrimPrefix(text, mark)
		}
	}
	old, put := takeApart(content), takeApart(text)
	unended := len(old) > 0 && old[len(old)-1].ending == ""
	// around is the ending of the place of old[i:j], as far as it has one.
	around := func(i, j int) string {
		if j > i && old[j-1].ending != "" {
			return old[j-1].ending
		}
		if i > 0 && old[i-1].ending != "" {
			return old[i-1].ending
		}
		if j < len(old) && old[j].ending != "" {
			return old[j].ending
		}
		return "\n"
	}
	if n := len(old); unended {
		old[n-1].ending = around(n-1, n)
	}
	if n := len(put); n > 0 && put[n-1].ending == "" {
		put[n-1].ending = around(after, after+count)
	}
	var all []naiveLine
	all = append(all, old[:after]...)
	all = append(all, put...)
	all = append(all, old[after+count:]...)
	if n := len(all); unended && n > 0 && all[n-1].text != "" {
		all[n-1].ending = ""
	}
	var b strings.Builder
	b.WriteString(head)
	for _, line := range all {
		b.WriteString(line.text)
		b.WriteString(line.ending)
	}
	return b.String()
}

// bare is the content without a byte order mark at its start.
func bare(content string) string { return strings.TrimPrefix(content, mark) }

func naiveSpliceRange(content string, rng lineaddr.Range, text string) result {
	n := len(naiveLines(content))
	end := rng.End
	if end == 0 {
		end = n
	}
	switch {
	case rng.Start < 1 || rng.End < 0 || rng.End > 0 && rng.End < rng.Start:
		return result{reason: ambit.ErrInvalid}
	case n == 0 && rng.Start == 1 && rng.End == 0:
		return result{text: text}
	case rng.Start > n || end > n:
		return result{reason: ambit.ErrOutOfRange, total: n}
	case bare(content) == "":
		return result{text: mark + bare(text)}
	}
	return result{text: naiveSplice(content, rng.Start-1, end-rng.Start+1, text)}
}

func naiveInsert(content string, after int, text string) result {
	n := len(naiveLines(content))
	switch {
	case after < 0:
		return result{reason: ambit.ErrInvalid}
	case after > n:
		return result{reason: ambit.ErrOutOfRange, total: n}
	case bare(content) == "":
		return result{text: naiveSplice(content, 0, 0, text)}
	case text == "" || after == 0 && content != bare(content) && bare(text) == "":
		return result{text: content}
	}
	return result{text: naiveSplice(content, after, 0, text)}
}

// erratic reads content in pieces of any size: as the sizes say, again and
// again; 0 is a read that gives nothing.
type erratic struct {
	content string
	sizes   []byte
	at      int
	idle    int
	lateEOF bool // the end comes by itself, after the last bytes
}

func (e *erratic) Read(p []byte) (int, error) {
	if e.content == "" {
		return 0, io.EOF
	}
	size := len(p)
	if len(e.sizes) > 0 {
		size = int(e.sizes[e.at%len(e.sizes)])
		e.at++
		switch {
		case size > 250: // as much as is asked for
			size = len(p)
		case size > 200:
			size *= 100
		}
	}
	if size == 0 && e.idle > 3 {
		size = 1
	}
	if size == 0 {
		e.idle++
		return 0, nil
	}
	e.idle = 0
	n := copy(p[:min(size, len(p))], e.content)
	e.content = e.content[n:]
	if e.content == "" && !e.lateEOF {
		return n, io.EOF
	}
	return n, nil
}

// streamFile is an open file that can only be read from its start.
type streamFile struct {
	io.Reader
	info ambit.FileInfo
}

func (f *streamFile) Close() error                 { return nil }
func (f *streamFile) Info() ambit.FileInfo         { return f.info }
func (f *streamFile) Verify(context.Context) error { return nil }

// randomFile can be read anywhere too, and nowhere else.
type randomFile struct {
	streamFile
	at io.ReaderAt
}

func (f *randomFile) ReadAt(p []byte, offset int64) (int, error) { return f.at.ReadAt(p, offset) }

func newStreamFile(content string, sizes ...byte) *streamFile {
	return &streamFile{Reader: &erratic{content: content, sizes: sizes}, info: ambit.FileInfo{Size: int64(len(content))}}
}

func newRandomFile(content string) *randomFile {
	f := &randomFile{streamFile: *newStreamFile(""), at: strings.NewReader(content)}
	if content != "" { // an empty one may be read as a stream: a size of 0 may be a lie
		f.Reader = unreadable{}
	}
	f.info.Size = int64(len(content))
	return f
}

// unreadable is a stream that must not be read.
type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, fmt.Errorf("read as a stream") }

// haltingReaderAt gives less than is asked for, and no error, which an
// io.ReaderAt must not do.
type haltingReaderAt struct {
	at    io.ReaderAt
	sizes []byte
	calls int
}

func (h *haltingReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	h.calls++
	if len(h.sizes) > 0 {
		p = p[:min(len(p), int(h.sizes[h.calls%len(h.sizes)]))]
	}
	n, err := h.at.ReadAt(p, offset)
	if n == len(p) {
		err = nil
	}
	return n, err
}

// randomContent returns short and, seldom, long lines of all kinds; some
// contents are longer than all blocks that the package reads by.
func randomContent(random *rand.Rand) string {
	pieces := []string{"a", "bc", "\n", "\n", "\r\n", "\r", "\n\n", mark, "あ", "\x80", "\x00", "\f", "\u0085", "\u2028"}
	var b strings.Builder
	if random.IntN(4) == 0 {
		b.WriteString(mark)
	}
	for range random.IntN(12) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	if random.IntN(100) == 0 {
		// What ends near the edge of a block is what can go wrong.
		edge := []int{1 << 10, 16 << 10, 32 << 10, 256 << 10, 272 << 10, 512 << 10}[random.IntN(6)]
		long := strings.Repeat(pieces[random.IntN(len(pieces))], edge)
		b.WriteString(long[:edge-random.IntN(8)])
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
	}
	return b.String()
}

func randomRange(random *rand.Rand, lines int) lineaddr.Range {
	rng := lineaddr.Range{Start: random.IntN(lines+4) - 1}
	switch random.IntN(4) {
	case 0:
	case 1:
		rng.End = random.IntN(lines+4) - 1
	default:
		rng.End = rng.Start + random.IntN(4)
	}
	return rng
}

func randomSizes(random *rand.Rand) []byte {
	sizes := make([]byte, random.IntN(6))
	for i := range sizes {
		sizes[i] = byte(random.IntN(256))
		if random.IntN(2) == 0 {
			sizes[i] %= 4
		}
	}
	return sizes
}

// rounds is how many random inputs a test tries, of the most.
func rounds(most int) int {
	if testing.Short() {
		return most / 10
	}
	return most
}

// shown is a content of any length, for a message.
func shown(content string) string {
	if len(content) > 200 {
		return fmt.Sprintf("%q … %q (%d bytes)", content[:100], content[len(content)-100:], len(content))
	}
	return fmt.Sprintf("%q", content)
}

func (r result) String() string {
	return fmt.Sprintf("%s lines %d to %d of %d, reason %q", shown(r.text), r.first, r.last, r.total, r.reason)
}

// scribble overwrites all of b.
func scribble(b []byte) {
	copy(b, bytes.Repeat([]byte("!"), len(b)))
}
