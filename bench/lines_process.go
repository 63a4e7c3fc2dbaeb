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
	"strconv"
	"strings"

	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/local"
)

// printLines is the first argument of a process of this program that prints
// lines of a file and tells on standard error how much memory it has taken:
// print-lines FOLDER FILE RANGE. Without a FOLDER it does nothing and tells the
// same.
const printLines = "print-lines"

// runPrintLines does what the arguments of this process say, if they are about
// printing lines.
func runPrintLines(args []string) (code int, ran bool) {
	if len(args) == 0 || args[0] != printLines {
		return 0, false
	}
	var err error
	if len(args) == 4 {
		err = printLinesOf(args[1], args[2], args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	fmt.Fprintln(os.Stderr, peakMemory())
	return 0, true
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

// peakMemory is how many KiB of memory this process has had at most: -1 where
// the system does not say. What wait tells of a child will not do: the child
// begins with the peak of its parent.
func peakMemory() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kib), " kB")); err == nil {
				return n
			}
		}
	}
	return -1
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
		{name: "GNU sed -n, ends behind the lines", start: sed(fmt.Sprintf("%s;%dq", lines, rng.End))},
		process,
		{name: "GNU sed -n", start: sed(lines)},
	}
	return c
}

func wantedText(rng lineaddr.Range) string {
	text, _ := logLines(rng)
	return text
}

// printing runs a process, checks what it prints, and keeps in peak, which may
// be nil, the most memory that it tells to have taken.
func printing(want string, peak *int, name string, args ...string) error {
	command := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%v: %w: %s", command.Args, err, stderr.Bytes())
	}
	if stdout.String() != want {
		return fmt.Errorf("%v prints %d bytes of other text", command.Args, stdout.Len())
	}
	if peak == nil {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(stderr.String()))
	*peak = max(*peak, n)
	return err
}
