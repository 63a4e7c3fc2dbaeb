// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package grep searches one stream of text for the lines that match a pattern.
//
// # Lines
//
// A line ends at LF; a CR right before it is part of the ending; the end after
// the last LF is no line. A byte order mark is outside the text. UTF-16 behind
// its mark is searched as UTF-8; other text is searched as the bytes that it is,
// and nothing is repaired.
//
// # What is not text
//
// What [charset.Classify] takes for binary is not searched, and neither is UTF-16
// without a mark. Further on in a text, a matching line with a NUL byte is left
// out, also where it would be context; the search goes on, and ends with
// [ambit.ErrNotText].
//
// # Memory
//
// It is bounded whatever the input: no line is longer than 16 MiB, no text that is
// matched across lines larger than 64 MiB, no context before a match larger than
// 16 MiB (of more, the lines nearest to the match are reported). Of the matches in
// one line the first 65,536 are told.
package grep

import (
	"bytes"
	"io"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/match"
)

const (
	bufferSize = 256 << 10 // more is not faster
	maxLine    = 16 << 20  // bytes without the ending
	maxText    = 64 << 20  // bytes of a text that is matched as a whole
	maxContext = 16 << 20  // bytes of the lines before a match
	batchText  = 64 << 10  // bytes of text that make a batch full
	batchLines = 512
	batchSpans = 8 << 10
	maxLeftOut = 64 << 10 // lines that context passes over
	maxSpans   = 64 << 10 // of one line
)

// Query is what to look for, and what to tell of it. The numbers are not
// negative.
type Query struct {
	Pattern       *match.Pattern
	Multiline     bool // Pattern is one for whole texts
	Before, After int  // lines of context, with GrepContent
	Mode          ambit.GrepMode

	// MaxLineBytes is how much is shown of a line, with GrepContent; 0: all. Of
	// a longer one that is its beginning, if the first match is in that; else
	// what is around the first match, as much before it as behind it where
	// there is; else the beginning of the match. No character is cut, so that
	// it may be less. Spans tell what of the matches is shown, Column is that
	// of the whole line. Of a line of context it is the beginning.
	MaxLineBytes int

	// Limit ends what is reported of a stream with GrepContent: after so many
	// matching lines and the After lines that follow the last of them, which
	// are context whether they match or not. 0: all.
	Limit int
}

// Result tells what a search did beyond its matches.
type Result struct {
	Lines   int  // matching lines, without what is beyond Limit; at most 1 with GrepFiles
	More    bool // another line would have matched, but for Limit
	Stopped bool // emit did not want more
}

// Searcher searches one stream after the other with the same buffers. It is for
// one goroutine at a time.
type Searcher struct {
	query   Query
	matcher *match.Matcher
	limits  limits
	window  window
	batch   batch

	// Of the stream that is searched:
	next     int   // offset in the window: up to here it has been searched
	reported int   // offset: up to here lines have been reported, or passed over for good
	counted  int   // offset: up to here lines have been counted
	line     int   // lines before counted
	after    int   // lines still to be reported behind the last match
	beyond   bool  // a match beyond the limit has been met
	notText  bool  // a match was left out
	leftOut  []int // offsets of such lines that context may reach
	result   Result
}

// limits are the constants above, which tests make small.
type limits struct {
	line, text, context int
}

// New returns a Searcher for q.
func New(q Query) *Searcher {
	return newSearcher(q, bufferSize)
}

// StopWhen makes the search of a stream end soon once stop returns true, which is
// asked now and then. What it has found is then not all.
func (s *Searcher) StopWhen(stop func() bool) { s.matcher.Stop = stop }

func newSearcher(q Query, buffer int) *Searcher {
	s := &Searcher{
		query:   q,
		matcher: q.Pattern.NewMatcher(),
		limits:  limits{line: maxLine, text: maxText, context: maxContext},
		window:  window{base: make([]byte, 0, buffer), most: maxLine / 2},
	}
	s.batch.full.text, s.batch.full.lines, s.batch.full.spans = batchText, batchLines, batchSpans
	s.batch.spans.take = s.batch.spans.add
	return s
}

// Search reads r, of which size bytes are expected (-1: not known), and passes
// what it finds to emit, in order and in batches that become emit's own. It ends
// early when emit returns false.
//
// With GrepContent that is each matching line and each line of context, once.
// With GrepFiles it is one match with the path, and with GrepCount one with the
// path and the number of matching lines, if there are any.
//
// It fails with [ambit.ErrNotText] for content that is not searched, or in which a
// match was left out, with [ambit.ErrTooLarge] at a line or for a text that is
// larger than the package says, and with r's own error as it is; what was found
// before has been emitted. A line whose end could not be read is not searched.
func (s *Searcher) Search(path string, r io.Reader, size int64, emit func([]ambit.GrepMatch) bool) (Result, error) {
	s.next, s.reported, s.counted, s.line, s.after = 0, 0, 0, 0, 0
	s.beyond, s.notText, s.result = false, false, Result{}
	s.leftOut = s.leftOut[:0]
	s.window.open(r, size)
	s.batch.open(path, emit)
	defer s.close()

	err := s.search()
	switch {
	case s.result.Lines == 0:
	case s.query.Mode == ambit.GrepFiles:
		s.result.Stopped = !emit([]ambit.GrepMatch{{Path: path}})
	case s.query.Mode == ambit.GrepCount:
		s.result.Stopped = !emit([]ambit.GrepMatch{{Path: path, Count: s.result.Lines}})
	}
	switch {
	case s.result.Stopped:
		return s.result, nil
	case err == nil && s.notText:
		err = notText("a matching line has a NUL byte")
	}
	return s.result, err
}

func (s *Searcher) close() {
	s.window.close()
	s.batch.close()
}

// search returns when the stream is at its end, when nothing more is wanted, or
// with the error that ends the search.
func (s *Searcher) search() error {
	source, err := s.begin()
	if err != nil {
		return err
	}
	if s.query.Multiline {
		err = s.searchText()
	} else {
		err = s.searchLines()
	}
	if err != nil && source != nil && source.err != nil && source.err != io.EOF && ambit.ReasonOf(err) != ambit.ErrNotText {
		return source.err // the decoder has wrapped it
	}
	return err
}

// begin reads the head of the stream and finds out what it is. For a stream that
// has to be decoded it returns the source.
func (s *Searcher) begin() (*source, error) {
	w := &s.window
	for len(w.data) < charset.HeadSize && w.err == nil {
		if w.isFull() {
			w.makeRoom(0)
		}
		w.fill()
	}
	class := charset.Detect(w.data, w.err == io.EOF)
	isUTF16 := class.Encoding == charset.UTF16LE || class.Encoding == charset.UTF16BE
	switch {
	case class.Text && !isUTF16:
		s.next, s.reported, s.counted = class.BOM, class.BOM, class.BOM
		return nil, nil
	case class.Text && class.BOM > 0:
	case w.failed() != nil:
		return nil, w.err
	case class.Text:
		return nil, notText("the content looks like UTF-16 without a byte order mark")
	default:
		return nil, notText("the content is binary")
	}
	src := &source{head: bytes.Clone(w.data), r: w.r, err: w.err}
	w.open(charset.NewReader(src, charset.Encoding{}), -1)
	return src, nil
}

// A source gives what has been read of a stream, and then the rest.
type source struct {
	head []byte
	r    io.Reader
	err  error // of r
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.err = err
	return n, err
}

func notText(detail string) error {
	return &ambit.Error{Reason: ambit.ErrNotText, Detail: detail}
}
