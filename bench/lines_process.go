// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/local"
)

// printLines is the first argument of a process of this program that prints
// lines of a file and tells on standard error how much memory it has taken:
// print-lines FOLDER FILE RANGE. Without a FOLDER it does nothing and tells the
// same.
const printLines = "print-lines"

func init() {
	processes[printLines] = func(args []string) error {
		if len(args) != 3 {
			return nil
		}
		return printLinesOf(args[0], args[1], args[2])
	}
}

func printLinesOf(dir, file, text string) error {
	rng, err := lineaddr.ParseRange(text)
	if err != nil {
		return err
	}
	fsys, err := local.New(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	f, err := fsys.Open(ctx, file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = lineaddr.Copy(os.Stdout, f, rng)
	return err
}

// processContest is whole processes that print the lines.
func processContest(dir func() (string, error), rng lineaddr.Range, mib int64) contest {
	var idle, most int
	process := contender{
		name: "ambit Open, Copy, Close",
		start: onTree(dir, func(dir string) (func(int) error, func(), error) {
			self, err := os.Executable()
			if err != nil {
				return nil, nil, err
			}
			// Of several that do nothing the largest.
			for range 5 {
				err = errors.Join(err, printing("", &idle, self, printLines))
			}
			return func(int) error {
				return printing(wantedText(rng), &most, self, printLines, dir, logFile, rng.String())
			}, nil, err
		}),
		note: func() string {
			if idle <= 0 {
				return "this system does not tell how much memory a process takes"
			}
			return fmt.Sprintf("%d KiB of memory at most, %d KiB more than a process that does nothing", most, most-idle)
		},
	}
	c := contest{name: fmt.Sprintf("lines: %v of %d MiB, whole processes", rng, mib), batch: 1, rounds: 5}
	sed := func(script string) starter {
		return onTree(dir, func(dir string) (func(int) error, func(), error) {
			file := filepath.Join(dir, logFile)
			return func(int) error { return printing(wantedText(rng), nil, "sed", "-n", script, file) }, nil, nil
		})
	}
	if version, err := exec.Command("sed", "--version").Output(); err != nil || !bytes.Contains(version, []byte("GNU")) {
		c.name += " (there is no GNU sed here)"
		c.contenders = []contender{process}
		return c
	}
	lines := fmt.Sprintf("%d,%dp", rng.Start, rng.End)
	process.bar = bar{ratio: 0.2}
	c.contenders = []contender{
		{name: "GNU sed -n", start: sed(lines)},
		process,
		{name: "GNU sed -n, told to end behind the lines", start: sed(fmt.Sprintf("%s;%dq", lines, rng.End))},
	}
	return c
}

func wantedText(rng lineaddr.Range) string {
	text, _ := logLines(rng)
	return text
}
