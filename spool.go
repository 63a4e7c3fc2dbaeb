// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"bytes"
	"io"
	"os"
)

// spoolInMemory is how many bytes a spool holds before it takes to the disk.
const spoolInMemory = 1 << 20

// spool holds a stream so that it can be read again: a small one in memory, a
// larger one in a temporary file of this process. It is not for concurrent
// use, but any number of its readers are.
type spool struct {
	mem  []byte
	file *os.File
	size int64
}

// readSpool reads r to its end. Errors of r come back as they are.
func readSpool(r io.Reader) (*spool, error) {
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, r, spoolInMemory)
	if err == io.EOF {
		return &spool{mem: buf.Bytes(), size: n}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "ambit-spool-")
	if err != nil {
		return nil, err
	}
	s := &spool{file: f}
	s.size, err = io.Copy(f, io.MultiReader(&buf, r))
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.mem)
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// close takes nil and may be called twice.
func (s *spool) close() {
	if s == nil || s.file == nil {
		return
	}
	s.file.Close()
	os.Remove(s.file.Name())
	s.file, s.mem, s.size = nil, nil, 0
}
