// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"path/filepath"

	"github.com/google/renameio/v2"
)

func renameioContenders(scratch string) []contender {
	return []contender{{name: "renameio.WriteFile", start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
		file := filepath.Join(dir, "file")
		return func(int) error { return renameio.WriteFile(file, block, 0o644) }, nil, nil
	})}}
}
