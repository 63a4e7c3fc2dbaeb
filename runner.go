// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"time"
)

// Runner runs commands on a machine. It is a value of its own and never part
// of a file system: no wrapper could keep its promises over a shell. This
// version has no implementation.
type Runner interface {
	// Run runs one command line to its end. A non-zero exit code is an
	// answer, not an error.
	Run(ctx context.Context, c Command) (CommandResult, error)
}

// Command is one command line.
type Command struct {
	Line        string            // a shell's command line
	Dir         string            // machine path of the working directory; "" is the runner's own
	Timeout     time.Duration     // 0: the runner's own
	MaxOutput   int64             // bytes kept of each stream; 0: the runner's own
	Env         map[string]string // added to the runner's own environment
	NoCreateDir bool              // do not make a missing Dir
}

// CommandResult is how a command ended.
type CommandResult struct {
	Code      int    // exit code; -1 when a signal ended it
	Signal    string // the signal that ended it, such as "SIGKILL"; else ""
	Stdout    []byte
	Stderr    []byte
	TimedOut  bool
	Truncated bool // a stream was longer than MaxOutput; its middle is missing
	Duration  time.Duration
	Confined  string // how the command was confined, for people; "" when it was not
}
