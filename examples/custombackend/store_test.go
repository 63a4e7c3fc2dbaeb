// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Target{
		Name: "store",
		New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			store, err := NewStore(tree.Files())
			return store, nil, err
		},
	}, nil)
}

func Example() {
	main()
	// Output:
	// /notes/done.txt:
	// write a backend
	// run the suite
	// a stale version: changed
	// a file used as a folder: not-a-directory
}
