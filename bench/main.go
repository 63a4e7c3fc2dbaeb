// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Bench measures Ambit against its peers and against bare system calls, and
// prints tables of ratios that hold within one run, each beside its bar where
// there is one:
//
//	go run ./bench                    # all contests, some minutes
//	go run ./bench -run '^local: '    # those whose name matches
//	go run ./bench -run stream -large # also what writes gigabytes, or many files
//	go run ./bench -scratch /mnt/disk # files are made there, and removed
//
// The same operations are Go benchmarks too: go test -bench . ./bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// largeStream is the size of the streams and files that -large writes, in
// bytes.
const largeStream = 1 << 30

func main() {
	if code, ran := runAsProcess(os.Args[1:]); ran {
		os.Exit(code)
	}
	pattern := flag.String("run", "", "run the contests whose name matches this regular expression")
	rounds := flag.Int("rounds", 11, "rounds of each contest")
	slice := flag.Duration("slice", 100*time.Millisecond, "time of each contender in each round")
	scratch := flag.String("scratch", "", "make files in a new folder beneath this `folder`, on the disk to be measured (default: that of temporary files)")
	large := flag.Bool("large", false, "also run the contests that write gigabytes, or many files")
	flag.Parse()
	if err := run(*pattern, *scratch, *large, *rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(pattern, scratch string, large bool, rounds int, slice time.Duration) error {
	if rounds < 1 || slice <= 0 {
		return fmt.Errorf("rounds is %d and slice %v", rounds, slice)
	}
	selected, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	scratch, err = os.MkdirTemp(scratch, "ambit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if scratch, err = filepath.Abs(scratch); err != nil {
		return err
	}
	all := contests(scratch)
	if large {
		all = append(all, largeContests(scratch, largeStream)...)
		all = append(all, largeLinesContests(scratch, largeStream)...)
		all = append(all, largeSearchContests(scratch)...)
	}
	fmt.Printf("%s, %s/%s, %d CPUs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	ran := 0
	var missed []string
	for _, c := range all {
		if !selected.MatchString(c.name) {
			continue
		}
		outcomes, err := c.run(rounds, slice)
		if err != nil {
			return err
		}
		c.print(os.Stdout, outcomes)
		for _, o := range outcomes {
			if o.missed() {
				missed = append(missed, fmt.Sprintf("%s: %s: %s", c.name, o.name, o.verdict()))
			}
		}
		ran++
	}
	if ran == 0 {
		return fmt.Errorf("no contest has a name that matches %q", pattern)
	}
	fmt.Printf("\n%d contests; bars missed: %d\n", ran, len(missed))
	for _, m := range missed {
		fmt.Println("-", m)
	}
	return nil
}
