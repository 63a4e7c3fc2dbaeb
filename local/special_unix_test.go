// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"os"
	"path/filepath"
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
	// The address of a socket is shorter than many a path.
	before, err := os.Getwd()
	must(t, err)
	must(t, os.Chdir(filepath.Dir(path)))
	defer os.Chdir(before)
	must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Base(path)}))
}
