// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io"
	"io/fs"
	"runtime"

	"golang.org/x/sys/unix"
)

// reading is an open regular file. It does without what [os.File] has for
// pipes and sockets, which costs as much as to open one.
type reading struct{ counted }

func newReading(fd int) *reading {
	r := &reading{}
	r.fd = fd
	r.users.Store(1)
	runtime.SetFinalizer(r, (*reading).Close)
	return r
}

func (r *reading) Close() error {
	runtime.SetFinalizer(r, nil)
	return r.close()
}

// maxRead is what the system takes at once.
const maxRead = 1 << 30

func (r *reading) Read(b []byte) (int, error) {
	if !r.use() {
		return 0, fs.ErrClosed
	}
	defer r.done()
	for {
		n, err := unix.Read(r.fd, b[:min(len(b), maxRead)])
		if err != unix.EINTR {
			return got(n, err, b)
		}
	}
}

// got returns what Read does where the system has read n bytes into b.
func got(n int, err error, b []byte) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (r *reading) ReadAt(b []byte, off int64) (n int, err error) {
	if !r.use() {
		return 0, fs.ErrClosed
	}
	defer r.done()
	for n < len(b) && err == nil {
		rest := b[n:]
		m, readErr := unix.Pread(r.fd, rest[:min(len(rest), maxRead)], off+int64(n))
		if readErr == unix.EINTR {
			continue
		}
		m, err = got(m, readErr, rest)
		n += m
	}
	return n, err
}

func (r *reading) describe() (*node, error) {
	if !r.use() {
		return nil, fs.ErrClosed
	}
	defer r.done()
	return statAt(r.fd, "")
}

// unwritten reports whether nobody has the file open for writing. Where the
// system does not say, known is false.
func (r *reading) unwritten() (alone, known bool) {
	if !r.use() {
		return false, false
	}
	defer r.done()
	return leased(r.fd)
}
