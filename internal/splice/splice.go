// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package splice describes the new content of a file by what of it is new and
// what stays as it is in an open file, so that a backend which can copy within
// its storage need not move the bytes through this process.
package splice

import "io"

// Part is a run of bytes: new ones, or where Source is set a span of an open
// file.
type Part struct {
	Bytes []byte

	Source io.ReaderAt
	Offset int64
	Length int64
}

// Size returns the number of bytes of the part.
func (p Part) Size() int64 {
	if p.Source != nil {
		return p.Length
	}
	return int64(len(p.Bytes))
}

// Content is an [io.Reader] over its parts. It is not for concurrent use.
type Content struct {
	parts []Part
	begun bool
}

// New returns the content made of parts, in order. What a Source holds must not
// change until it is read, or the reader of the content must find that out.
func New(parts []Part) *Content {
	return &Content{parts: append([]Part(nil), parts...)}
}

// Parts returns the parts of a content of which nothing has been read; else ok
// is false.
func (c *Content) Parts() (parts []Part, ok bool) {
	return c.parts, !c.begun
}

// Size returns the number of bytes that are left to read.
func (c *Content) Size() int64 {
	var n int64
	for _, p := range c.parts {
		n += p.Size()
	}
	return n
}

// Read reads on. A source that is shorter than its part says is
// [io.ErrUnexpectedEOF].
func (c *Content) Read(b []byte) (n int, err error) {
	c.begun = true
	for n < len(b) && err == nil {
		if len(c.parts) == 0 {
			if n == 0 {
				err = io.EOF
			}
			return n, err
		}
		var m int
		m, err = c.parts[0].read(b[n:])
		n += m
		if c.parts[0].Size() == 0 {
			c.parts = c.parts[1:]
		}
	}
	return n, err
}

// read takes bytes from the beginning of the part.
func (p *Part) read(b []byte) (int, error) {
	if p.Source == nil {
		n := copy(b, p.Bytes)
		p.Bytes = p.Bytes[n:]
		return n, nil
	}
	b = b[:min(int64(len(b)), p.Length)]
	if len(b) == 0 {
		return 0, nil
	}
	n, err := p.Source.ReadAt(b, p.Offset)
	p.Offset += int64(n)
	p.Length -= int64(n)
	switch {
	case n == len(b):
		err = nil
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
