// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/local"
)

// Sizes of the files that are edited, in bytes. The tests make them less.
var (
	editedAtOnce   = int64(10_000_000)
	editedByOne    = int64(100_000_000)
	editsTogether  = 200
	editedFile     = "edited"
	wordAndAnother = [2]string{"the word that is looked for", "the text that comes instead"}
)

// editContests are the contests of editing files.
func editContests(scratch string) []contest {
	of := func(name string, o *local.Options) contest {
		return contest{name: name, batch: 1, contenders: []contender{
			{name: "one", start: startOnDisk(scratch, editing(o, 1))},
			{name: fmt.Sprintf("%d in one call", editsTogether), start: startOnDisk(scratch, editing(o, editsTogether)), bar: bar{ratio: 1.3}},
		}}
	}
	return []contest{
		of("edit: edits of 10 MB, durable", &local.Options{}),
		of("edit: edits of 10 MB, not durable", &local.Options{Durability: local.NotDurable}),
		replaceContest(scratch),
	}
}

// editedText is a text of size bytes with n words of their own, in lines, far
// apart from each other.
func editedText(size int64, n int) (text []byte, words []string) {
	var b bytes.Buffer
	for line := 0; int64(b.Len()) < size; line++ {
		if len(words) < n && int64(b.Len()) >= size*int64(len(words))/int64(n) {
			words = append(words, fmt.Sprintf("%s, number %04d", wordAndAnother[0], len(words)+1))
			fmt.Fprintf(&b, "line %d has %s\n", line, words[len(words)-1])
			continue
		}
		fmt.Fprintf(&b, "line %d of the file, of which nothing is wanted\n", line)
	}
	return b.Bytes(), words
}

// editing replaces n words in one call and puts them back with the next.
func editing(o *local.Options, n int) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		text, words := editedText(editedAtOnce, editsTogether)
		if err := makeFiles(dir, text, editedFile); err != nil {
			return nil, nil, err
		}
		there, back := make([]edit.Op, n), make([]edit.Op, n)
		for i, word := range words[:n] {
			instead := strings.Replace(word, wordAndAnother[0], wordAndAnother[1], 1)
			there[i], back[i] = edit.Replace{Old: word, New: instead}, edit.Replace{Old: instead, New: word}
		}
		return serve(dir, o, func(fsys *local.FileSystem) (func(int) error, error) {
			return func(int) error {
				_, err := edit.File(ctx, fsys, editedFile, there, nil)
				there, back = back, there
				return err
			}, nil
		})
	}
}

// editFile is the first argument of a process of this program that replaces a
// text by another: edit-file FOLDER FILE OLD NEW. Like that of print-lines it
// tells how much memory it has taken.
const editFile = "edit-file"

func init() {
	processes[editFile] = func(args []string) error {
		if len(args) != 4 {
			return fmt.Errorf("%d arguments", len(args))
		}
		fsys, err := local.New(args[0], &local.Options{Durability: local.NotDurable})
		if err != nil {
			return err
		}
		defer fsys.Close()
		_, err = edit.File(ctx, fsys, args[1], []edit.Op{edit.Replace{Old: args[2], New: args[3]}}, nil)
		return err
	}
}

// replaceContest is whole processes that replace the one occurrence of a text
// in a large file, each in its own, and cp, which does no less than copy it.
func replaceContest(scratch string) contest {
	// There and back, so that each time there is something to replace.
	process := func(command func(dir, old, text string) error) starter {
		return startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
			text, words := editedText(editedByOne, 1)
			old, instead := words[0], strings.Replace(words[0], wordAndAnother[0], wordAndAnother[1], 1)
			return func(int) error {
				err := command(dir, old, instead)
				old, instead = instead, old
				return err
			}, nil, makeFiles(dir, text, editedFile)
		})
	}
	run := func(name string, args ...string) error {
		output, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, output)
		}
		return nil
	}
	idle, most := 0, 0
	return contest{
		name: fmt.Sprintf("edit: replace one occurrence in %d MB, whole processes", editedByOne/1_000_000), batch: 1, rounds: 7,
		contenders: []contender{
			{name: "cp", start: process(func(dir, _, _ string) error {
				return run("cp", filepath.Join(dir, editedFile), filepath.Join(dir, "copy"))
			})},
			{
				name: "ambit edit.File", bar: bar{ratio: 2},
				start: func() (func(int) error, func(), error) {
					self, err := os.Executable()
					if err != nil {
						return nil, nil, err
					}
					for range 5 {
						if err := printing("", &idle, self, printLines); err != nil {
							return nil, nil, err
						}
					}
					return process(func(dir, old, text string) error {
						return printing("", &most, self, editFile, dir, editedFile, old, text)
					})()
				},
				note: func() string {
					return fmt.Sprintf("%d KiB of memory at most, %d KiB more than a process that does nothing", most, most-idle)
				},
			},
			{name: "GNU sed -i (does not look whether it is the only one)", start: process(func(dir, old, text string) error {
				return run("sed", "-i", "s/"+old+"/"+text+"/", filepath.Join(dir, editedFile))
			})},
			{name: "in memory: os.ReadFile, bytes.Replace, os.WriteFile, os.Rename (in this process)", start: process(func(dir, old, text string) error {
				file := filepath.Join(dir, editedFile)
				content, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				if n := bytes.Count(content, []byte(old)); n != 1 {
					return fmt.Errorf("%d occurrences", n)
				}
				if err := os.WriteFile(file+".new", bytes.Replace(content, []byte(old), []byte(text), 1), 0o666); err != nil {
					return err
				}
				return os.Rename(file+".new", file)
			})},
		},
	}
}
