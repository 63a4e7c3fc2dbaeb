// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/ambitfs/ambit/local"
)

// localContests returns the contests about the disk. Their files are made
// beneath scratch.
func localContests(scratch string) []contest {
	var all []contest
	all = append(all, localReads(scratch)...)
	all = append(all, localDenials(scratch)...)
	all = append(all, localLists(scratch)...)
	all = append(all, localWrites(scratch)...)
	all = append(all, localLooseWrites(scratch)...)
	all = append(all, editContests(scratch)...)
	all = append(all, patchContests(scratch)...)
	return all
}

// newFolder makes a folder in scratch.
func newFolder(scratch string) (string, error) {
	spread(scratch)
	return os.MkdirTemp(scratch, "bench")
}

// startOnDisk gives start a folder of its own.
func startOnDisk(scratch string, start func(dir string) (func(int) error, func(), error)) starter {
	return func() (func(int) error, func(), error) {
		dir, err := newFolder(scratch)
		if err != nil {
			return nil, nil, err
		}
		return start(dir)
	}
}

// tree is a folder that several contenders share, so that all of them meet the
// same files. fill makes it when the first of them starts.
func tree(scratch string, fill func(dir string) error) func() (dir string, err error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := newFolder(scratch)
		if err != nil {
			return "", err
		}
		return dir, fill(dir)
	})
}

// onTree gives start the folder of a tree.
func onTree(tree func() (string, error), start func(dir string) (func(int) error, func(), error)) starter {
	return func() (func(int) error, func(), error) {
		dir, err := tree()
		if err != nil {
			return nil, nil, err
		}
		return start(dir)
	}
}

// makeFiles makes files with this content at slash-separated paths beneath
// dir.
func makeFiles(dir string, content []byte, paths ...string) error {
	for _, path := range paths {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the operation that makeOp returns for the folder dir, served by
// local.
func serve(dir string, o *local.Options, makeOp func(*local.FileSystem) (func(int) error, error)) (func(int) error, func(), error) {
	fsys, err := local.New(dir, o)
	if err != nil {
		return nil, nil, err
	}
	op, err := makeOp(fsys)
	return op, func() { fsys.Close() }, err
}
