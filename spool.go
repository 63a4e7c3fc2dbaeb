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
	mem    []byte
	file   *os.File
	remove string // the file's name, where it has to be closed before it can go
	size   int64
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
		return nil, spoolError(err)
	}
	s := &spool{file: f}
	if os.Remove(f.Name()) != nil {
		s.remove = f.Name()
	}
	source := &failureNoted{r: io.MultiReader(&buf, r)}
	s.size, err = io.Copy(f, source)
	if err != nil {
		s.close()
		if source.err == nil {
			err = spoolError(err)
		}
		return nil, err
	}
	return s, nil
}

// failureNoted tells a reader's error from a writer's in io.Copy.
type failureNoted struct {
	r   io.Reader
	err error
}

func (f *failureNoted) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// spoolError: a failure of the temporary file is none of the file system that
// the call was made on.
func spoolError(err error) error {
	e := &Error{Reason: ErrIO, Detail: "no temporary file could be written"}
	if ReasonOf(err) == ErrNoSpace {
		e.Reason = ErrNoSpace
	}
	e.Err = causeFor(e.Reason, err)
	return e
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
	if s.remove != "" {
		os.Remove(s.remove)
	}
	s.file, s.mem, s.size = nil, nil, 0
}
