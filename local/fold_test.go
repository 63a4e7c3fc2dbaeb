// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"

	"github.com/ambitfs/ambit/local"
)

// What a disk takes for the same letters a rule takes for the same, whatever
// their length in bytes, and whole names only.
func TestContainsFold(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/secret", "/SECRET", true},
		{"/secret", "/Secret/f", true},
		{"/secret", "/secrets", false},
		{"/secret", "/other/secret", false},
		{"/a/key", "/A/\u212aey/x", true}, // the Kelvin sign, of three bytes
		{"/a/key", "/a", false},
		{"/", "/anything", true},
	} {
		if got := local.ContainsFold(c.dir, c.path); got != c.want {
			t.Errorf("ContainsFold(%q, %q) is %v", c.dir, c.path, got)
		}
	}
}
