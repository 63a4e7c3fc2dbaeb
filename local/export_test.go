// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

// Portable returns o with os.Root chosen also where the system has better.
func Portable(o *Options) *Options {
	var portable Options
	if o != nil {
		portable = *o
	}
	portable.portable = true
	return &portable
}

// ContainsFold is what rules compare with on a disk that folds letters.
var ContainsFold = containsFold
