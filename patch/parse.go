// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"fmt"
	"strings"

	"github.com/ambitfs/ambit"
)

// Parse reads a patch in either of the two formats that the package comment
// describes; the text tells which.
//
// Every error is an [*ambit.Error] whose Detail begins with the 1-based number
// of a line of the text ("line 12: "). Its reason is [ambit.ErrInvalid] for a
// text that is no whole patch, or that leaves open which file it means;
// [ambit.ErrNotText] for a patch of a binary file; and [ambit.ErrUnsupported]
// for a symbolic link, a submodule or the combined diff of a merge. Parse takes
// time and memory in proportion to the text.
func Parse(text string) (*Patch, error) {
	c := newCursor(text)
	closings := c.openWrapping()
	if strings.HasPrefix(c.line, "***") {
		return parseMarked(c, closings)
	}
	return parseUnified(text)
}

// fault is the error of a line of the text.
func fault(reason ambit.Reason, line int, format string, args ...any) *ambit.Error {
	return &ambit.Error{Reason: reason, Detail: fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, args...)}
}

func invalid(line int, format string, args ...any) *ambit.Error {
	return fault(ambit.ErrInvalid, line, format, args...)
}

// A cursor stands at a line of a text. A copy of it looks ahead.
type cursor struct {
	line   string // without its LF
	whole  string // with its LF, which the last line of a text gets if it has none
	number int    // 1-based; one more than there are lines at the end
	end    bool   // behind the last line
	crlf   bool   // the format's own lines end in CR LF
	rest   string
}

func newCursor(text string) cursor {
	c := cursor{rest: text}
	c.advance()
	return c
}

func (c *cursor) advance() {
	if c.end {
		return
	}
	c.number++
	if c.rest == "" {
		c.line, c.whole, c.end = "", "", true
		return
	}
	if n := strings.IndexByte(c.rest, '\n'); n >= 0 {
		c.line, c.whole, c.rest = c.rest[:n], c.rest[:n+1], c.rest[n+1:]
		return
	}
	c.line, c.whole, c.rest = c.rest, c.rest+"\n", ""
}

// own returns the line as one of the format's own, of which a CR at the end is
// never a part.
func (c *cursor) own() string { return strings.TrimSuffix(c.line, "\r") }

// text returns the line with its ending as it stands in the patched file, behind
// the sign: a CR belongs to the file unless the format's own lines have one too.
func (c *cursor) text() string {
	if c.crlf && strings.HasSuffix(c.line, "\r") {
		return c.own() + "\n"
	}
	return c.whole
}

// blank tells whether the cursor stands at an empty line.
func (c *cursor) blank() bool { return !c.end && c.own() == "" }

func (c *cursor) skipBlank() {
	for c.blank() {
		c.advance()
	}
}

// found says what is at the cursor, for an error.
func (c *cursor) found() string {
	const most = 60
	if c.end {
		return "the end of the text"
	}
	if line := c.own(); len(line) > most {
		return fmt.Sprintf("%q...", line[:most])
	}
	return fmt.Sprintf("%q", c.own())
}
