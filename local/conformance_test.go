// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// target serves folders beneath dir to the conformance suite.
func target(dir string) conformance.Target {
	return conformance.FolderTarget("local", dir, func(root string) (ambit.FileSystem, error) {
		return local.New(root, nil)
	})
}

func TestConformance(t *testing.T) {
	conform(t, fastDir(t))
}

// conform wants every check to pass, with none waived or left out.
func conform(t *testing.T, dir string) {
	t.Helper()
	report := conformance.Test(t, target(dir), nil)
	for _, r := range report.Results {
		if r.Outcome != conformance.Pass && r.Outcome != conformance.Refused {
			t.Errorf("%s: %v", r.ID, r.Outcome)
		}
	}
}
