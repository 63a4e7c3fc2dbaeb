// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"testing/fstest"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/memfs"
	"github.com/spf13/afero"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

const (
	blockSize  = 4096
	memoryTree = 1000
	perFolder  = 50
)

var (
	ctx   = context.Background()
	block = bytes.Repeat([]byte("0123456789abcde\n"), blockSize/16)
)

// buffers holds one read buffer for each worker, as a program that reads many
// files would.
type buffers [8][blockSize + 1]byte

// contests returns all contests. scratch is a folder for their files.
func contests(scratch string) []contest {
	return append([]contest{
		{name: "memory: open, read 4 KiB, close", contenders: []contender{
			{name: "afero MemMapFs (bare)", start: startBareRead},
			{name: "ambit memory", start: startMemoryRead, bar: bar{ratio: 2.5}},
			{name: "ambit memory, ReadOnly", start: startReadOnlyMemoryRead},
			{name: "fstest.MapFS", start: startMapRead},
			{name: "go-billy memfs", start: startBillyRead},
		}},
		{name: "memory: read a whole file of 4 KiB", contenders: []contender{
			{name: "afero.ReadFile", start: startAferoReadFile},
			{name: "ambit.ReadFile (verified)", start: startMemoryReadFile},
			{name: "fs.ReadFile on MapFS", start: startMapReadFile},
		}},
		{name: "memory: replace a file of 4 KiB", contenders: []contender{
			{name: "afero MemMapFs (bare, in place)", start: startBareWrite},
			{name: "ambit memory", start: startMemoryWrite},
			{name: "ambit memory, IfVersion", start: startMemorySwap, bar: bar{ratio: 3}},
			{name: "afero.WriteFile", start: startAferoWriteFile},
			{name: "go-billy memfs", start: startBillyWrite},
		}},
		{name: "memory: parallel readers of a file each", contenders: []contender{
			{name: "1 goroutine", workers: 1, start: startMemoryReadOwn},
			{name: "2 goroutines", workers: 2, start: startMemoryReadOwn},
			{name: "8 goroutines", workers: 8, start: startMemoryReadOwn},
			{name: "2 goroutines, bare MemMapFs", workers: 2, start: startBareReadOwn},
		}},
		{name: "memory: parallel readers of one file", contenders: []contender{
			{name: "1 goroutine", workers: 1, start: startMemoryRead},
			{name: "2 goroutines", workers: 2, start: startMemoryRead},
			{name: "2 goroutines, bare MemMapFs", workers: 2, start: startBareRead},
		}},
		{name: "memory: walk 1,000 files", contenders: []contender{
			{name: "afero.Walk", start: startAferoWalk},
			{name: "ambit.Walk", start: startMemoryWalk},
		}},
	}, slices.Concat(localContests(scratch), linesContests(scratch), searchContests(scratch))...)
}

// drain reads r to its end and checks that it had a whole block.
func drain(r io.Reader, buf []byte) error {
	n := 0
	for {
		m, err := r.Read(buf[n:])
		n += m
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if n != blockSize {
		return fmt.Errorf("read %d bytes, want %d", n, blockSize)
	}
	return nil
}

// reading opens a file again and again and reads it to its end.
func reading(open func() (io.ReadCloser, error)) func(int) error {
	bufs := new(buffers)
	return func(worker int) error {
		f, err := open()
		if err != nil {
			return err
		}
		defer f.Close()
		return drain(f, bufs[worker][:])
	}
}

func bareMemory() (afero.Fs, error) {
	fsys := afero.NewMemMapFs()
	return fsys, afero.WriteFile(fsys, "/file", block, 0o644)
}

func startBareRead() (func(int) error, func(), error) {
	fsys, err := bareMemory()
	return reading(func() (io.ReadCloser, error) { return fsys.Open("/file") }), nil, err
}

// readFrom reads the same file again and again.
func readFrom(fsys ambit.FileSystem, path string) func(int) error {
	return reading(func() (io.ReadCloser, error) { return fsys.Open(ctx, path) })
}

func startMemoryRead() (func(int) error, func(), error) {
	return readFrom(memory.New(map[string]string{"file": string(block)}, nil), "/file"), nil, nil
}

// startMemoryReadOwn gives each worker a file of its own.
func startMemoryReadOwn() (func(int) error, func(), error) {
	var bufs buffers
	files := map[string]string{}
	for i := range bufs {
		files[ownPath(i)] = string(block)
	}
	fsys := memory.New(files, nil)
	return func(worker int) error {
		f, err := fsys.Open(ctx, ownPaths[worker])
		if err != nil {
			return err
		}
		defer f.Close()
		return drain(f, bufs[worker][:])
	}, nil, nil
}

func startBareReadOwn() (func(int) error, func(), error) {
	var bufs buffers
	fsys := afero.NewMemMapFs()
	for i := range bufs {
		if err := afero.WriteFile(fsys, ownPath(i), block, 0o644); err != nil {
			return nil, nil, err
		}
	}
	return func(worker int) error {
		f, err := fsys.Open(ownPaths[worker])
		if err != nil {
			return err
		}
		defer f.Close()
		return drain(f, bufs[worker][:])
	}, nil, nil
}

func ownPath(worker int) string { return fmt.Sprintf("/file%d", worker) }

var ownPaths = func() (paths [len(buffers{})]string) {
	for i := range paths {
		paths[i] = ownPath(i)
	}
	return paths
}()

func startReadOnlyMemoryRead() (func(int) error, func(), error) {
	fsys := memory.New(map[string]string{"file": string(block)}, nil)
	return readFrom(ambit.ReadOnly(fsys), "/file"), nil, nil
}

func startMapRead() (func(int) error, func(), error) {
	fsys := fstest.MapFS{"file": {Data: block}}
	return reading(func() (io.ReadCloser, error) { return fsys.Open("file") }), nil, nil
}

func startBillyRead() (func(int) error, func(), error) {
	fsys := memfs.New()
	err := billyWrite(fsys)
	return reading(func() (io.ReadCloser, error) { return fsys.Open("file") }), nil, err
}

func startAferoReadFile() (func(int) error, func(), error) {
	fsys, err := bareMemory()
	return func(int) error {
		_, err := afero.ReadFile(fsys, "/file")
		return err
	}, nil, err
}

func startMemoryReadFile() (func(int) error, func(), error) {
	fsys := memory.New(map[string]string{"file": string(block)}, nil)
	return func(int) error {
		_, _, err := ambit.ReadFile(ctx, fsys, "/file")
		return err
	}, nil, nil
}

func startMapReadFile() (func(int) error, func(), error) {
	fsys := fstest.MapFS{"file": {Data: block}}
	return func(int) error {
		_, err := fs.ReadFile(fsys, "file")
		return err
	}, nil, nil
}

func startBareWrite() (func(int) error, func(), error) {
	fsys, err := bareMemory()
	return func(int) error {
		f, err := fsys.OpenFile("/file", os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		if _, err := f.Write(block); err != nil {
			return err
		}
		return f.Close()
	}, nil, err
}

func startMemoryWrite() (func(int) error, func(), error) {
	return writeTo(memory.New(map[string]string{"file": string(block)}, nil), "/file", false)
}

func startMemorySwap() (func(int) error, func(), error) {
	return writeTo(memory.New(map[string]string{"file": string(block)}, nil), "/file", true)
}

// writeTo replaces the same file again and again, with swap each time on the
// condition that it is still what the last call has left.
func writeTo(fsys ambit.WritableFileSystem, path string, swap bool) (func(int) error, func(), error) {
	info, err := fsys.Stat(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	version := info.Version
	return func(int) error {
		var o *ambit.WriteOptions
		if swap {
			o = &ambit.WriteOptions{If: ambit.IfVersion(version)}
		}
		r, err := fsys.Write(ctx, path, bytes.NewReader(block), o)
		version = r.Info.Version
		return err
	}, nil, nil
}

func startAferoWriteFile() (func(int) error, func(), error) {
	fsys, err := bareMemory()
	return func(int) error { return afero.WriteFile(fsys, "/file", block, 0o644) }, nil, err
}

func billyWrite(fsys billy.Filesystem) error {
	f, err := fsys.OpenFile("file", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(block); err != nil {
		return err
	}
	return f.Close()
}

func startBillyWrite() (func(int) error, func(), error) {
	fsys := memfs.New()
	return func(int) error { return billyWrite(fsys) }, nil, nil
}

// manyPaths are the relative paths of n files, perFolder in each folder.
func manyPaths(n int) []string {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("folder%03d/file%02d", i/perFolder, i%perFolder)
	}
	return paths
}

func startAferoWalk() (func(int) error, func(), error) {
	fsys := afero.NewMemMapFs()
	for _, path := range manyPaths(memoryTree) {
		if err := afero.WriteFile(fsys, "/"+path, nil, 0o644); err != nil {
			return nil, nil, err
		}
	}
	return func(int) error {
		n := 0
		err := afero.Walk(fsys, "/", func(_ string, info fs.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				n++
			}
			return err
		})
		return counted(n, memoryTree, err)
	}, nil, nil
}

// counted checks that n files were met.
func counted(n, want int, err error) error {
	if err == nil && n != want {
		err = fmt.Errorf("met %d files, want %d", n, want)
	}
	return err
}

func startMemoryWalk() (func(int) error, func(), error) {
	files := map[string]string{}
	for _, path := range manyPaths(memoryTree) {
		files[path] = ""
	}
	return walkOver(memory.New(files, nil), memoryTree), nil, nil
}

func walkOver(fsys ambit.FileSystem, files int) func(int) error {
	return func(int) error {
		n := 0
		for e, err := range ambit.Walk(ctx, fsys, "/") {
			if err != nil {
				return err
			}
			if e.Info.Kind == ambit.KindRegular {
				n++
			}
		}
		return counted(n, files, nil)
	}
}
