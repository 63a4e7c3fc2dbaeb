// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

const (
	listed = 1000   // names in the folder that is listed
	walked = 10_000 // files in the tree that is walked
)

// localLists are the contests of listing a folder and walking a tree.
func localLists(scratch string) []contest {
	folder := tree(scratch, func(dir string) error {
		names := make([]string, listed)
		for i := range names {
			names[i] = fmt.Sprintf("file%04d", i)
		}
		return makeFiles(dir, nil, names...)
	})
	files := tree(scratch, func(dir string) error { return makeFiles(dir, nil, manyPaths(walked)...) })
	return []contest{
		{name: "local: list 1,000 names", batch: 1, contenders: []contender{
			{name: "os.ReadDir (not confined)", start: onTree(folder, readDir)},
			{name: "ambit", start: onTree(folder, localList(nil)), bar: bar{ratio: 1.2}},
		}},
		{name: "local: list 1,000 names, with details", batch: 1, contenders: []contender{
			{name: "os.ReadDir, Info of each (not confined)", start: onTree(folder, readDirInfo)},
			{name: "ambit, Details", start: onTree(folder, localList(&ambit.ListOptions{Details: true}))},
		}},
		{name: "local: walk 10,000 files", batch: 1, contenders: []contender{
			{name: "filepath.WalkDir (not confined)", start: onTree(files, walkDir)},
			{name: "ambit.Walk", start: onTree(files, localWalk)},
		}},
	}
}

func readDir(dir string) (func(int) error, func(), error) {
	return func(int) error {
		entries, err := os.ReadDir(dir)
		return counted(len(entries), listed, err)
	}, nil, nil
}

func readDirInfo(dir string) (func(int) error, func(), error) {
	return func(int) error {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if _, err := e.Info(); err != nil {
				return err
			}
		}
		return counted(len(entries), listed, err)
	}, nil, nil
}

func localList(o *ambit.ListOptions) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		return serve(dir, nil, func(fsys *local.FileSystem) (func(int) error, error) {
			return func(int) error {
				listing, err := fsys.List(ctx, "/", o)
				if err != nil {
					return err
				}
				return counted(len(listing.Entries), listed, nil)
			}, nil
		})
	}
}

func walkDir(dir string) (func(int) error, func(), error) {
	return func(int) error {
		n := 0
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		return counted(n, walked, err)
	}, nil, nil
}

func localWalk(dir string) (func(int) error, func(), error) {
	return serve(dir, nil, func(fsys *local.FileSystem) (func(int) error, error) {
		return walkOver(fsys, walked), nil
	})
}
