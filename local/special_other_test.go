// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package local_test

import "testing"

func makeFIFO(t testing.TB, path string) {
	t.Helper()
	t.Skip("this system has no FIFOs")
}

func makeSocket(t testing.TB, path string) {
	t.Helper()
	t.Skip("this system has no sockets with a name")
}
