// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// skipCall keeps the call at whose entry a thread stands from being run.
func skipCall(tid int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Orig_rax = ^uint64(0)
	return syscall.PtraceSetRegs(tid, &r)
}

// answerCall puts errno in the place of the result of the call at whose exit a
// thread stands.
func answerCall(tid int, errno syscall.Errno) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rax = uint64(-int64(errno))
	return syscall.PtraceSetRegs(tid, &r)
}

// ownCallNames are those of calls that other processors do not have.
var ownCallNames = map[uint64]string{
	unix.SYS_ACCESS: "access", unix.SYS_CHMOD: "chmod", unix.SYS_CREAT: "creat", unix.SYS_DUP2: "dup2", unix.SYS_GETDENTS: "getdents",
	unix.SYS_LINK: "link", unix.SYS_LSTAT: "lstat", unix.SYS_MKDIR: "mkdir", unix.SYS_OPEN: "open", unix.SYS_READLINK: "readlink",
	unix.SYS_RENAME: "rename", unix.SYS_RMDIR: "rmdir", unix.SYS_STAT: "stat", unix.SYS_SYMLINK: "symlink", unix.SYS_UNLINK: "unlink",
}
