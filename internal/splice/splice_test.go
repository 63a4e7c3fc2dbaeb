// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package splice_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ambitfs/ambit/internal/splice"
)

func TestContent(t *testing.T) {
	source := strings.NewReader("0123456789")
	parts := []splice.Part{
		{},
		{Bytes: []byte("new ")},
		{Source: source, Offset: 3, Length: 4},
		{Source: source, Offset: 10},
		{Bytes: []byte(" and ")},
		{Source: source, Length: 10},
		{},
	}
	const want = "new 3456 and 0123456789"
	c := splice.New(parts)
	if n := c.Size(); n != int64(len(want)) {
		t.Errorf("size %d, want %d", n, len(want))
	}
	if got, ok := c.Parts(); !ok || len(got) != len(parts) {
		t.Errorf("%d parts before a read, %v; want %d", len(got), ok, len(parts))
	}
	if err := iotest.TestReader(c, []byte(want)); err != nil {
		t.Error(err)
	}
	if _, ok := c.Parts(); ok {
		t.Error("parts are given away after a read")
	}
	got, err := io.ReadAll(iotest.OneByteReader(splice.New(parts)))
	if string(got) != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestShortSource(t *testing.T) {
	c := splice.New([]splice.Part{{Source: strings.NewReader("0123"), Offset: 2, Length: 3}, {Bytes: []byte("behind")}})
	got, err := io.ReadAll(c)
	if string(got) != "23" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v; want what there is and %v", got, err, io.ErrUnexpectedEOF)
	}
}

func TestFailingSource(t *testing.T) {
	failure := errors.New("broken")
	c := splice.New([]splice.Part{{Source: failing{failure}, Length: 3}})
	if got, err := io.ReadAll(c); len(got) > 0 || err != failure {
		t.Errorf("%q, %v; want %v", got, err, failure)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
