// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

// SetScansFirst sets how often a text is searched before an index is made of it,
// and returns what sets it back.
func SetScansFirst(n int) (restore func()) {
	before := scansFirst
	scansFirst = n
	return func() { scansFirst = before }
}
