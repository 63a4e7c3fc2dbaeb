// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// withFIFO is a file system without Lstat that has a FIFO named pipe.
type withFIFO struct{ ambit.Forward }

func newWithFIFO() withFIFO {
	fsys := memory.New(map[string]string{"f": "a\n"}, nil)
	keep := fsys.Capabilities()
	keep.ReadLink, keep.Sub, keep.Guard = false, false, false
	return withFIFO{ambit.Forward{Base: fsys, Keep: keep}}
}

func (f withFIFO) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if path == "pipe" {
		return ambit.FileInfo{}, &ambit.Error{Op: ambit.OpStat, Path: path, Reason: ambit.ErrNotAFile, Kind: ambit.KindFIFO, Target: "/pipe"}
	}
	return f.Forward.Stat(ctx, path)
}

func (f withFIFO) Open(ctx context.Context, path string) (ambit.File, error) {
	if path == "pipe" {
		return nil, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrNotAFile, Kind: ambit.KindFIFO, Target: "/pipe"}
	}
	return f.Forward.Open(ctx, path)
}

// TestFIFOWithoutLstat: what is no file is in the way of a new one, also where
// the file system cannot describe it.
func TestFIFOWithoutLstat(t *testing.T) {
	for text, want := range map[string]ambit.Reason{
		begin("*** Add File: pipe", "+x"):                        ambit.ErrExists,
		begin("*** Update File: f", "*** Move to: pipe"):         ambit.ErrExists,
		begin("*** Update File: pipe", "@@", "-a", "+b"):         ambit.ErrNotAFile,
		begin("*** Update File: pipe", "*** Move to: elsewhere"): ambit.ErrNotAFile,
		begin("*** Delete File: pipe"):                           ambit.ErrNotAFile,
	} {
		_, err := patch.Apply(t.Context(), newWithFIFO(), parse(t, text), nil)
		if ambit.ReasonOf(err) != want {
			t.Errorf("%v, want %s\n%s", err, want, text)
		}
	}
}
