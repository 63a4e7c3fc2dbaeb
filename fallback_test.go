// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/modeltest"
	"github.com/ambitfs/ambit/memory"
)

// fallbacks claims what Base lacks or Forward closes, and does it by the functions of this package: so a fallback can be
// judged as if it were native.
type fallbacks struct {
	ambit.Forward
	by ambit.Capabilities // the bits that are done by fallbacks
}

// withFallbacks takes Append, Stage and Commit from base and puts the fallbacks in their place.
func withFallbacks(base ambit.FileSystem) fallbacks {
	f := fallbacks{by: ambit.Capabilities{Append: true, Stage: true, Commit: true}}
	f.Base, f.Keep = base, base.Capabilities()
	f.Keep.Append, f.Keep.Stage, f.Keep.Commit = false, false, false
	return f
}

func (f fallbacks) Capabilities() ambit.Capabilities {
	c := f.Forward.Capabilities()
	c.Append, c.Stage, c.Commit, c.Rename = c.Append || f.by.Append, c.Stage || f.by.Stage, c.Commit || f.by.Commit, c.Rename || f.by.Rename
	return c
}

func (f fallbacks) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	return ambit.Append(ctx, f.Forward, path, content, o)
}

func (f fallbacks) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	return ambit.Stage(ctx, f.Forward, path, content, o)
}

func (f fallbacks) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	return ambit.Commit(ctx, f.Forward, changes)
}

func (f fallbacks) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	return ambit.Rename(ctx, f.Forward, from, to, o)
}

// sequences returns operations for modeltest: its seeds and n more.
func sequences(n int) [][]byte {
	all := modeltest.Seeds()
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		all = append(all, data)
	}
	return all
}

// TestFallbacksKeepTheModel runs sequences of operations on the fallbacks and on the model of the contract beside them; and
// on the double, on which the other tests of fallbacks stand.
func TestFallbacksKeepTheModel(t *testing.T) {
	for _, data := range sequences(150) {
		modeltest.Run(t, withFallbacks(memory.New(nil, nil)), data)
		modeltest.Run(t, withFallbacks(newDouble(nil)), data)
		modeltest.Run(t, newDouble(nil), data)
	}
}
