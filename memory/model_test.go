// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"testing"

	"github.com/ambitfs/ambit/internal/modeltest"
	"github.com/ambitfs/ambit/memory"
)

func TestModel(t *testing.T) {
	for _, seed := range modeltest.Seeds() {
		modeltest.Run(t, memory.New(nil, nil), seed)
	}
}

func FuzzModel(f *testing.F) {
	for _, seed := range modeltest.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		modeltest.Run(t, memory.New(nil, nil), data)
	})
}
