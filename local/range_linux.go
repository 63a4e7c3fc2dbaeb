// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// copyRange copies n bytes from offset on to where dst stands, and returns how
// many it has copied.
func (r *reading) copyRange(dst *os.File, offset, n int64) (copied int64, err error) {
	if !r.use() {
		return 0, fs.ErrClosed
	}
	defer r.done()
	err = withFile(dst, func(to int) (err error) {
		copied, err = copyRange(to, r.fd, offset, n)
		return err
	})
	return copied, err
}

func (c fileContent) copyRange(dst *os.File, offset, n int64) (copied int64, err error) {
	err = withFile(c.File, func(from int) error {
		return withFile(dst, func(to int) (err error) {
			copied, err = copyRange(to, from, offset, n)
			return err
		})
	})
	return copied, err
}

func copyRange(to, from int, offset, n int64) (int64, error) {
	for {
		copied, err := unix.CopyFileRange(from, &offset, to, nil, int(n), 0)
		if err != unix.EINTR {
			return int64(max(copied, 0)), err
		}
	}
}
