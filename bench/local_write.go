// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// addition is what is appended at once: 100 bytes.
var addition = block[:100]

// committed is how many files are changed at once.
const committed = 10

// localWrites are the contests of changing files with everything synced.
func localWrites(scratch string) []contest {
	durable := &local.Options{}
	return []contest{
		{name: "local: replace 4 KiB, durable", batch: 1, contenders: append(durablePeers(scratch), []contender{
			{name: "ambit", start: startOnDisk(scratch, localReplace(durable, false)), bar: bar{ratio: 1.4}},
			{name: "os.WriteFile (not atomic, not durable)", start: startOnDisk(scratch, osOverwrite)},
		}...)},
		{name: "local: compare and swap 4 KiB, durable", batch: 1, contenders: []contender{
			{name: "without a precondition", start: startOnDisk(scratch, localReplace(durable, false))},
			{name: "IfVersion", start: startOnDisk(scratch, localReplace(durable, true)), bar: bar{ratio: 1.25}},
		}},
		{name: "local: append 100 bytes, durable", batch: 1, contenders: []contender{
			appending(scratch, "os.OpenFile with O_APPEND, Sync (not confined)", osAppend(true)),
			appending(scratch, "ambit.Append", localAppend(durable)),
		}},
		{name: "local: commit 10 files of 4 KiB, durable", batch: 1, contenders: []contender{
			{name: "10 calls of Write", start: startOnDisk(scratch, localTenWrites(durable))},
			{name: "ambit.Commit", start: startOnDisk(scratch, localCommit(durable))},
		}},
	}
}

func osOverwrite(dir string) (func(int) error, func(), error) {
	file := filepath.Join(dir, "file")
	return func(int) error { return os.WriteFile(file, block, 0o644) }, nil, nil
}

// bareReplace replaces the file “file” in dir in one step.
func bareReplace(dir string, sync bool) (err error) {
	f, err := os.CreateTemp(dir, "temporary")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(block)
	if err == nil && sync {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, "file"))
}

// localReplace replaces one file again and again, with swap each time on the
// condition that it is still what the last call has left.
func localReplace(o *local.Options, swap bool) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		if err := makeFiles(dir, block, "file"); err != nil {
			return nil, nil, err
		}
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			op, _, err := writeTo(fsys, "/file", swap)
			return op, err
		})
	}
}

// appending is a contender that appends to the file “log”, which is emptied
// between the slices.
func appending(scratch, name string, start func(dir string) (func(int) error, func(), error)) contender {
	var log string
	return contender{
		name: name,
		start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
			log = filepath.Join(dir, "log")
			if err := makeFiles(dir, nil, "log"); err != nil {
				return nil, nil, err
			}
			return start(dir)
		}),
		reset: func() error { return os.Truncate(log, 0) },
	}
}

func osAppend(sync bool) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		log := filepath.Join(dir, "log")
		return func(int) error {
			f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.Write(addition)
			if err == nil && sync {
				err = f.Sync()
			}
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
			return err
		}, nil, nil
	}
}

func localAppend(o *local.Options) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			return func(int) error {
				_, err := ambit.Append(ctx, fsys, "log", bytes.NewReader(addition), nil)
				return err
			}, nil
		})
	}
}

func localTenWrites(o *local.Options) func(dir string) (func(int) error, func(), error) {
	return inTen(o, func(fsys *local.FileSystem, paths []string) error {
		for _, path := range paths {
			if _, err := fsys.Write(ctx, path, bytes.NewReader(block), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func localCommit(o *local.Options) func(dir string) (func(int) error, func(), error) {
	return inTen(o, func(fsys *local.FileSystem, paths []string) error {
		changes := make([]ambit.Change, len(paths))
		for i, path := range paths {
			changes[i] = ambit.Change{Op: ambit.OpWrite, Path: path, Content: bytes.NewReader(block)}
		}
		_, err := ambit.Commit(ctx, fsys, changes)
		return err
	})
}

// inTen has the same ten files changed again and again.
func inTen(o *local.Options, change func(fsys *local.FileSystem, paths []string) error) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		paths := manyPaths(committed)
		if err := makeFiles(dir, block, paths...); err != nil {
			return nil, nil, err
		}
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			return func(int) error { return change(fsys, paths) }, nil
		})
	}
}
