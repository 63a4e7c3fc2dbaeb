// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// fileOf is what a journal says of a file: all may ask who may search its
// folder.
func fileOf(t *testing.T, path string) map[string]any {
	t.Helper()
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		t.Skip(err)
	}
	return map[string]any{"inode": inodeOf(t, path), "generation": h.Bytes()}
}

// onAThreadOfNobody runs do with the rights of nobody, on a thread of its own.
func onAThreadOfNobody(t *testing.T, do func(), root string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	// The folders above are of the test.
	for dir := filepath.Dir(root); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			t.Error(errno)
			return
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, 65534, 65534, 65534); errno != 0 {
			t.Error(errno)
			return
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			t.Error(errno)
			return
		}
		do()
	}()
	<-done
}
