// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

import (
	"os"

	"github.com/ambitfs/ambit"
)

// Package os moves names only within one handle. From the root the path is
// looked up again: a folder that a stranger swaps for a link meanwhile can lead
// the name to another place within the root, which is seen and undone.

func renameBetween(from *folder, name string, to *folder, newName string) error {
	if from.same(to) {
		return from.dir.Rename(name, newName)
	}
	return between(from, name, to, newName, (*os.Root).Rename, func(root *os.Root, old, made string) { root.Rename(made, old) })
}

func linkBetween(from *folder, name string, to *folder, newName string) error {
	if from.same(to) {
		return from.dir.Link(name, newName)
	}
	return between(from, name, to, newName, (*os.Root).Link, func(root *os.Root, _, made string) { root.Remove(made) })
}

func between(from *folder, name string, to *folder, newName string, do func(root *os.Root, old, made string) error, undo func(root *os.Root, old, made string)) error {
	info, err := from.dir.Lstat(name)
	if err != nil {
		return err
	}
	old, made := ambit.Join(from.path, name)[1:], ambit.Join(to.path, newName)[1:]
	if err := do(from.root, old, made); err != nil {
		return err
	}
	if !to.has(newName, info) {
		undo(from.root, old, made)
		return restless()
	}
	return nil
}
