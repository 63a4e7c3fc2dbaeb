// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// processes are what a process of this program can be instead of a bench, by
// its first argument. It gets the others.
var processes = make(map[string]func(args []string) error)

// runAsProcess is the whole of such a process, which tells on standard error how
// much memory it has taken; ran is false when the arguments ask for none.
func runAsProcess(args []string) (code int, ran bool) {
	if len(args) == 0 || processes[args[0]] == nil {
		return 0, false
	}
	if err := processes[args[0]](args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	fmt.Fprintln(os.Stderr, peakMemory("self"))
	return 0, true
}

// peakMemory is how many KiB of memory a process has had at most, by its number or
// "self": -1 where the system does not say. What wait tells of a child will not do: the child
// begins with the peak of its parent.
func peakMemory(process string) int {
	status, err := os.ReadFile("/proc/" + process + "/status")
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
