// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ambit_test

import "syscall"

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o644) }
