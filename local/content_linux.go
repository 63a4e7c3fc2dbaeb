// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "os"

// contentOf takes over the open file.
func contentOf(f *os.File) content { return fileContent{f} }

// unwritten reports whether nobody has the file open for writing. Where the
// system does not say, known is false.
func (c fileContent) unwritten() (alone, known bool) {
	_ = withFile(c.File, func(fd int) error {
		alone, known = leased(fd)
		return nil
	})
	return alone, known
}
