// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"syscall"
	"testing"
)

func makeFIFO(t testing.TB, path string) {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o666))
}

func makeSocket(t testing.TB, path string) {
	t.Helper()
	// The name stays, which is all that a test needs.
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	defer syscall.Close(fd)
	must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}))
}
