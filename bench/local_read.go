// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// deepest is the depth of the deepest file that is read.
const deepest = 10

// depthPath is the relative path of a file of 4 KiB; depth counts its names.
func depthPath(depth int) string {
	return strings.Repeat("folder/", depth-1) + "file"
}

// reader prepares to read the file at the relative path again and again, in
// the folder dir of this disk.
type reader func(dir, path string) (op func(worker int) error, stop func(), err error)

// localReads are the contests of reading one file, and of describing it.
func localReads(scratch string) []contest {
	dir := tree(scratch, func(dir string) error {
		for depth := 1; depth <= deepest; depth++ {
			if err := makeFiles(dir, block, depthPath(depth)); err != nil {
				return err
			}
		}
		return nil
	})
	at := func(depth int, read reader) starter {
		return onTree(dir, func(dir string) (func(int) error, func(), error) { return read(dir, depthPath(depth)) })
	}
	var all []contest
	for _, depth := range []int{1, 5, 10} {
		all = append(all, contest{
			name: fmt.Sprintf("local: open, read 4 KiB, close, depth %d", depth),
			contenders: append([]contender{
				{name: "os.ReadFile (not confined)", start: at(depth, osReadFile)},
				{name: "ambit.ReadFile (verified)", start: at(depth, localReadFile(nil)), bar: bar{ratio: 0.8}},
				{name: "ambit, reused buffer", start: at(depth, localOpen(nil)), bar: bar{ratio: 0.6}},
				{name: "os.Root.ReadFile", start: at(depth, rootReadFile)},
				{name: "os.Root, reused buffer", start: at(depth, rootOpen)},
				{name: "os.Open, reused buffer (not confined)", start: at(depth, osOpen)},
				{name: "afero BasePathFs, ReadFile (links not confined)", start: at(depth, basePathReadFile)},
			}, bareReaders(depth, at)...),
		})
	}
	for _, way := range []struct {
		name string
		read reader
		bar  bar
	}{
		{"ambit.ReadFile", localReadFile(nil), bar{ratio: 1.3}},
		{"ambit, reused buffer", localOpen(nil), bar{ratio: 1.3}},
		{"os.Root, reused buffer", rootOpen, bar{}},
	} {
		all = append(all, contest{name: "local: growth with depth, " + way.name, contenders: []contender{
			{name: "depth 1", start: at(1, way.read)},
			{name: "depth 5", start: at(5, way.read)},
			{name: "depth 10", start: at(10, way.read), bar: way.bar},
		}})
	}
	for _, depth := range []int{1, 5} {
		all = append(all, contest{
			name: fmt.Sprintf("local: through ReadOnly, depth %d", depth),
			contenders: []contender{
				{name: "ambit, reused buffer", start: at(depth, localOpen(nil))},
				{name: "the same through ReadOnly", start: at(depth, readOnlyOpen), bar: bar{ratio: 1.05}},
			},
		})
	}
	return append(all, contest{name: "local: stat, depth 5", contenders: []contender{
		{name: "os.Stat (not confined)", start: at(5, osStat)},
		{name: "ambit", start: at(5, localStat), bar: bar{ratio: 2}},
		{name: "os.Root.Stat", start: at(5, rootStat)},
	}})
}

// wholeBlock checks that a whole file was read.
func wholeBlock(data []byte, err error) error {
	if err == nil && len(data) != blockSize {
		err = fmt.Errorf("read %d bytes, want %d", len(data), blockSize)
	}
	return err
}

func hostPath(dir, path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }

func osReadFile(dir, path string) (func(int) error, func(), error) {
	file := hostPath(dir, path)
	return func(int) error { return wholeBlock(os.ReadFile(file)) }, nil, nil
}

func osOpen(dir, path string) (func(int) error, func(), error) {
	file := hostPath(dir, path)
	return reading(func() (io.ReadCloser, error) { return os.Open(file) }), nil, nil
}

func localReadFile(o *local.Options) reader {
	return func(dir, path string) (func(int) error, func(), error) {
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			return func(int) error {
				data, _, err := ambit.ReadFile(ctx, fsys, path)
				return wholeBlock(data, err)
			}, nil
		})
	}
}

func localOpen(o *local.Options) reader {
	return func(dir, path string) (func(int) error, func(), error) {
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			return readFrom(fsys, path), nil
		})
	}
}

func readOnlyOpen(dir, path string) (func(int) error, func(), error) {
	return serve(dir, nil, func(fsys *local.FileSystem) (func(int) error, error) {
		return readFrom(ambit.ReadOnly(fsys), path), nil
	})
}

// inRoot starts the operation that makeOp returns for dir as an os.Root.
func inRoot(dir string, makeOp func(*os.Root) func(int) error) (func(int) error, func(), error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return makeOp(root), func() { root.Close() }, nil
}

func rootReadFile(dir, path string) (func(int) error, func(), error) {
	return inRoot(dir, func(root *os.Root) func(int) error {
		return func(int) error { return wholeBlock(root.ReadFile(path)) }
	})
}

func rootOpen(dir, path string) (func(int) error, func(), error) {
	return inRoot(dir, func(root *os.Root) func(int) error {
		return reading(func() (io.ReadCloser, error) { return root.Open(path) })
	})
}

func basePathReadFile(dir, path string) (func(int) error, func(), error) {
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	return func(int) error { return wholeBlock(afero.ReadFile(fsys, path)) }, nil, nil
}

func osStat(dir, path string) (func(int) error, func(), error) {
	file := hostPath(dir, path)
	return func(int) error {
		_, err := os.Stat(file)
		return err
	}, nil, nil
}

func localStat(dir, path string) (func(int) error, func(), error) {
	return serve(dir, nil, func(fsys *local.FileSystem) (func(int) error, error) {
		return func(int) error {
			_, err := fsys.Stat(ctx, path)
			return err
		}, nil
	})
}

func rootStat(dir, path string) (func(int) error, func(), error) {
	return inRoot(dir, func(root *os.Root) func(int) error {
		return func(int) error {
			_, err := root.Stat(path)
			return err
		}
	})
}
