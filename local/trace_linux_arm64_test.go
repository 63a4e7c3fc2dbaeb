// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func registers(request int, tid int, set int, at unsafe.Pointer, size uintptr) error {
	vector := unix.Iovec{Base: (*byte)(at)}
	vector.SetLen(int(size))
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), uintptr(set), uintptr(unsafe.Pointer(&vector)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// skipCall keeps the call at whose entry a thread stands from being run.
func skipCall(tid int) error {
	none := int32(-1)
	return registers(unix.PTRACE_SETREGSET, tid, unix.NT_ARM_SYSTEM_CALL, unsafe.Pointer(&none), unsafe.Sizeof(none))
}

// answerCall puts errno in the place of the result of the call at whose exit a
// thread stands.
func answerCall(tid int, errno syscall.Errno) error {
	var r syscall.PtraceRegs
	if err := registers(unix.PTRACE_GETREGSET, tid, unix.NT_PRSTATUS, unsafe.Pointer(&r), unsafe.Sizeof(r)); err != nil {
		return err
	}
	r.Regs[0] = uint64(-int64(errno))
	return registers(unix.PTRACE_SETREGSET, tid, unix.NT_PRSTATUS, unsafe.Pointer(&r), unsafe.Sizeof(r))
}

// ownCallNames are those of calls that other processors do not have.
var ownCallNames = map[uint64]string{}
