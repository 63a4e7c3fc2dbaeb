// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"fmt"
	"io"

	"github.com/ambitfs/ambit"
)

// A window is the part of a stream that is in memory. Its buffer serves one
// stream after the other: what has grown for one is not kept for the next.
type window struct {
	base []byte // the buffer that every stream begins with
	data []byte // what is in the window; the capacity is the room for more
	most int    // how many bytes to read at once at most

	r    io.Reader
	size int64 // how much r is expected to have, not known unless positive
	read int64
	err  error // io.EOF at the end
}

// open begins a stream.
func (w *window) open(r io.Reader, size int64) {
	w.data = w.base[:0]
	w.r, w.size, w.read, w.err = r, size, 0, nil
}

func (w *window) close() {
	w.data, w.r = nil, nil
}

// maxIdleReads is the patience of package io with a reader that returns neither
// bytes nor an error.
const maxIdleReads = 100

// fill reads once behind what there is, at least one byte unless it sets err.
// There has to be room.
func (w *window) fill() {
	room := w.data[len(w.data):cap(w.data)]
	room = room[:min(len(room), w.most)]
	for range maxIdleReads {
		n, err := w.r.Read(room)
		if n < 0 || n > len(room) {
			w.err = &ambit.Error{Reason: ambit.ErrIO, Detail: fmt.Sprintf("a read returned %d of %d bytes", n, len(room))}
			return
		}
		w.data = w.data[:len(w.data)+n]
		w.read += int64(n)
		if err == nil && n > 0 && w.read == w.size {
			// What a file has grown by since it was opened is left alone, as it
			// would be if it had grown a moment later: most files are thus read
			// in one call.
			err = io.EOF
		}
		w.err = err
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// failed returns the error that has ended the stream, nil at its end.
func (w *window) failed() error {
	if w.err == io.EOF {
		return nil
	}
	return w.err
}

// free is the part of the buffer that has to be free before a read: one in so
// many bytes. So a byte is moved a few times at most, however it is read.
const free = 4

// isFull reports whether there is too little room to read.
func (w *window) isFull() bool {
	return cap(w.data)-len(w.data) < max(cap(w.data)/free, 1)
}

// makeRoom forgets the first bytes, and takes a larger buffer where that is not
// enough.
func (w *window) makeRoom(forget int) {
	kept := w.data[forget:]
	w.data = w.data[:copy(w.data, kept)]
	if w.isFull() {
		larger := make([]byte, len(kept), 2*cap(w.data))
		copy(larger, w.data)
		w.data = larger
	}
}
