// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/patch"
)

// patched is how many files one patch changes. The tests make it less.
var patched = 1000

// patchContests are the contests of changing many files by one patch. Each file
// has 4 KiB, of which one line is changed.
func patchContests(scratch string) []contest {
	durable := &local.Options{}
	loose := &local.Options{Durability: local.NotDurable}
	of := func(name string, o *local.Options) contest {
		return contest{name: name, batch: 1, contenders: []contender{
			{name: "as many calls of WriteFile", start: startOnDisk(scratch, patchedByWrites(o))},
			{name: "patch.Apply", start: startOnDisk(scratch, patchedByApply(o, false)), bar: bar{ratio: 1.4}},
			{name: "patch.Parse and patch.Apply", start: startOnDisk(scratch, patchedByApply(o, true))},
		}}
	}
	return []contest{of("patch: 1,000 files, durable", durable), of("patch: 1,000 files, not durable", loose)}
}

// version returns the content of the file with the index i before the patch and
// after it.
func version(i int, after bool) []byte {
	var b strings.Builder
	for line := 0; b.Len() < blockSize-32; line++ {
		word := "kept"
		if line == 60 && after {
			word = "changed"
		}
		fmt.Fprintf(&b, "file %d, line %d, %s\n", i, line, word)
	}
	return []byte(b.String())
}

// patchText returns the patch of all paths, and the one that takes it back.
func patchText(paths []string) (there, back string) {
	var texts [2]strings.Builder
	for i, path := range paths {
		for way := range texts {
			b := &texts[way]
			words := [2]string{"kept", "changed"}
			fmt.Fprintf(b, "--- a/%s\n+++ b/%s\n@@ -58,7 +58,7 @@\n", path, path)
			for line := 57; line < 64; line++ {
				if line != 60 {
					fmt.Fprintf(b, " file %d, line %d, kept\n", i, line)
					continue
				}
				fmt.Fprintf(b, "-file %d, line %d, %s\n+file %d, line %d, %s\n", i, line, words[way], i, line, words[1-way])
			}
		}
	}
	return texts[0].String(), texts[1].String()
}

// inPatched has the same thousand files changed and changed back, again and
// again.
func inPatched(o *local.Options, makeOp func(fsys *local.FileSystem, paths []string) (func(after bool) error, error)) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		paths := manyPaths(patched)
		for i, path := range paths {
			if err := makeFiles(dir, version(i, false), path); err != nil {
				return nil, nil, err
			}
		}
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			change, err := makeOp(fsys, paths)
			after := false
			return func(int) error {
				after = !after
				return change(after)
			}, err
		})
	}
}

func patchedByWrites(o *local.Options) func(dir string) (func(int) error, func(), error) {
	return inPatched(o, func(fsys *local.FileSystem, paths []string) (func(bool) error, error) {
		contents := make([][2][]byte, len(paths))
		for i := range contents {
			contents[i] = [2][]byte{version(i, false), version(i, true)}
		}
		return func(after bool) error {
			way := 0
			if after {
				way = 1
			}
			for i, path := range paths {
				if _, err := ambit.WriteFile(ctx, fsys, path, contents[i][way], nil); err != nil {
					return err
				}
			}
			return nil
		}, nil
	})
}

func patchedByApply(o *local.Options, parse bool) func(dir string) (func(int) error, func(), error) {
	return inPatched(o, func(fsys *local.FileSystem, paths []string) (func(bool) error, error) {
		there, back := patchText(paths)
		patches := make(map[bool]*patch.Patch)
		texts := map[bool]string{true: there, false: back}
		for after, text := range texts {
			var err error
			if patches[after], err = patch.Parse(text); err != nil {
				return nil, err
			}
		}
		return func(after bool) error {
			p := patches[after]
			if parse {
				var err error
				if p, err = patch.Parse(texts[after]); err != nil {
					return err
				}
			}
			_, err := patch.Apply(ctx, fsys, p, nil)
			return err
		}, nil
	})
}
