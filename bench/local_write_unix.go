// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// durablePeers replace a file so that its content survives a power cut. The
// first is what local is measured against; it does not sync the folder.
func durablePeers(scratch string) []contender {
	return []contender{
		{name: "renameio.WriteFile (the folder not synced)", start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
			file := filepath.Join(dir, "file")
			return func(int) error { return renameio.WriteFile(file, block, 0o644) }, nil, nil
		})},
		{name: "temporary file, Sync, os.Rename, Sync of the folder", start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
			return func(int) error {
				if err := bareReplace(dir, true); err != nil {
					return err
				}
				folder, err := os.Open(dir)
				if err != nil {
					return err
				}
				defer folder.Close()
				return folder.Sync()
			}, nil, nil
		})},
	}
}
