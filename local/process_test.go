// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Roles that the test binary plays when it starts itself. An argument comes
// beside the role in the environment.
var roles = map[string]func(dir string){}

const (
	roleVariable = "AMBIT_LOCAL_TEST_ROLE"
	dirVariable  = "AMBIT_LOCAL_TEST_DIR"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVariable); name != "" {
		role, ok := roles[name]
		if !ok {
			println("no such role:", name)
			os.Exit(2)
		}
		role(os.Getenv(dirVariable))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start prepares a process in a role.
func start(t testing.TB, role, dir string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), testBinary(t))
	command.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	command.Stderr = os.Stderr
	return command
}

func testBinary(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	return path
}

// fastDir is a folder that costs nothing to sync, where there is one: for
// tests with very many writes.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ambit-local-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	must(t, err)
	return dir
}
