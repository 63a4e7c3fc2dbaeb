// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// TestFailureThatPasses: what fails once, and not again when it is asked for the
// reasons, is a failure all the same.
func TestFailureThatPasses(t *testing.T) {
	files := map[string]string{"a": "x\n", "b": "x\n", "c": "x\n"}
	text := begin("*** Update File: a", "*** Move to: new/a", "@@", "-x", "+y", "*** Update File: b", "@@", "-x", "+y", "*** Delete File: c")
	asked, refused := 0, 0
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
		want := files
		if err == nil { // it can do without what failed
			want = map[string]string{"new/a": "y\n", "b": "y\n"}
		} else {
			refused++
		}
		if reason := ambit.ReasonOf(err); reason != "" && reason != ambit.ErrNoSpace || r.Applied != (err == nil) || (len(r.Problems) == 0) != (err == nil) {
			t.Errorf("call %d fails: %v, applied %v, %d problems", at, err, r.Applied, len(r.Problems))
		}
		got := snapshot(t, fsys)
		delete(got, "new/")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("call %d fails: %v\n%s", at, err, diff)
		}
	}
	if refused < 5 {
		t.Errorf("of %d calls that fail, %d fail the patch: the test proves little", asked, refused)
	}
}
