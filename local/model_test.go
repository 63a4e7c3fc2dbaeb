// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit/internal/modeltest"
)

// FuzzModel runs sequences of operations beside a model of the contract.
func FuzzModel(f *testing.F) {
	for _, seed := range modeltest.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		modeltest.Run(t, serve(t, fastDir(t), nil), data)
	})
}

// The same with many sequences that nobody has thought of.
func TestModel(t *testing.T) {
	random := rand.New(rand.NewChaCha8([32]byte{'l', 'o', 'c', 'a', 'l'}))
	for range 100 {
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		modeltest.Run(t, serve(t, fastDir(t), nil), data)
		if t.Failed() {
			return
		}
	}
}
