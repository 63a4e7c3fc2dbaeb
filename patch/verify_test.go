// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"sync/atomic"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// TestFailureThatPasses: what fails once, and not again when it is asked for the
// reasons, is a failure all the same.
func TestFailureThatPasses(t *testing.T) {
	files := map[string]string{"a": "x\n", "b": "x\n", "c": "x\n"}
	text := begin("*** Update File: a", "*** Move to: new/a", "@@", "-x", "+y", "*** Update File: b", "@@", "-x", "+y", "*** Delete File: c")
	asked := 0
	for at := 1; ; at++ {
		var calls atomic.Int64
		fsys := memory.New(files, &memory.Options{Faults: func(op, _ string) error {
			if calls.Add(1) == int64(at) {
				return ambit.ErrNoSpace
			}
			return nil
		}})
		r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
		if calls.Load() < int64(at) {
			asked = at - 1
			break
		}
		if ambit.ReasonOf(err) != ambit.ErrNoSpace || r.Applied || len(r.Problems) == 0 {
			t.Errorf("call %d fails: %v, applied %v, %d problems", at, err, r.Applied, len(r.Problems))
		}
		for path, want := range files {
			if got, _ := fsys.Peek(path); got != want {
				t.Errorf("call %d fails: %s is %q", at, path, got)
			}
		}
	}
	if asked < 5 {
		t.Errorf("the file system was asked %d times: the test proves little", asked)
	}
}
