// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"fmt"
	"testing"

	"github.com/ambitfs/ambit"
)

// TestWhatCannotBeReadIsNamedBeforeWhatIsNoText adds many files that are no text
// before one that could not be read, and some behind it.
func TestWhatCannotBeReadIsNamedBeforeWhatIsNoText(t *testing.T) {
	var named []ambit.Skip
	more := 0
	add := func(path string, r ambit.Reason) {
		named, more = AddSkip(named, more, ambit.Skip{Path: path, Reason: r})
	}
	for i := range 150 {
		add(fmt.Sprintf("/a%d", i), ambit.ErrNotText)
	}
	add("/b", ambit.ErrPermission)
	add("/c", ambit.ErrNotText)
	if len(named) != maxSkipped || more != 52 {
		t.Fatalf("%d are named and %d are not, want %d and 52", len(named), more, maxSkipped)
	}
	if last := named[maxSkipped-1]; last.Path != "/b" || named[0].Path != "/a0" || named[maxSkipped-2].Path != "/a98" {
		t.Errorf("named %v", named[maxSkipped-3:])
	}
	for i := range 200 {
		add(fmt.Sprintf("/d%d", i), ambit.ErrTooLarge)
	}
	if named[0].Path != "/b" || named[maxSkipped-1].Path != "/d98" || len(named)+more != 352 {
		t.Errorf("named %v and %v, %d more", named[0], named[maxSkipped-1], more)
	}
}
