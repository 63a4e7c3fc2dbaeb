// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package aferofs

import (
	"os"
	"syscall"
)

// readFlags open a file of a disk without following a link that came to be in
// its place meanwhile, and without waiting for the writer of a FIFO.
const readFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// probeFlags ask a disk whether the file may be written.
const probeFlags = os.O_WRONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
