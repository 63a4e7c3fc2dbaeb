// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Bench measures Ambit against its peers and against bare system calls, and
// prints tables of ratios that hold within one run:
//
//	go run ./bench                  # all contests, about two minutes
//	go run ./bench -only memory     # those whose name contains "memory"
//
// The same operations are Go benchmarks too: go test -bench . ./bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "run the contests whose name contains this")
	rounds := flag.Int("rounds", 11, "rounds of each contest")
	slice := flag.Duration("slice", 100*time.Millisecond, "time of each contender in each round")
	flag.Parse()
	if err := run(*only, *rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(only string, rounds int, slice time.Duration) error {
	if rounds < 1 || slice <= 0 {
		return fmt.Errorf("rounds is %d and slice %v", rounds, slice)
	}
	scratch, err := os.MkdirTemp("", "ambit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	fmt.Printf("%s, %s/%s, %d CPUs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	ran := 0
	for _, c := range contests(scratch) {
		if !strings.Contains(c.name, only) {
			continue
		}
		outcomes, err := c.run(rounds, slice)
		if err != nil {
			return err
		}
		c.print(os.Stdout, outcomes)
		ran++
	}
	if ran == 0 {
		return fmt.Errorf("no contest is named like %q", only)
	}
	return nil
}
