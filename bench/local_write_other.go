// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

// durablePeers replace a file so that its content survives a power cut.
// renameio is not among them: it is for systems whose rename replaces in one
// step.
func durablePeers(scratch string) []contender {
	return []contender{{name: "temporary file, Sync, os.Rename", start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
		return func(int) error { return bareReplace(dir, true) }, nil, nil
	})}}
}
