// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import "syscall"

// reasonOfErrno covers the few codes that package syscall's own sentinels
// leave open or read differently from the contract.
func reasonOfErrno(errno syscall.Errno) (Reason, bool) {
	switch errno {
	case syscall.ENOTDIR:
		return ErrNotADirectory, true
	case syscall.EISDIR:
		return ErrNotAFile, true
	case syscall.ENOTEMPTY, errorDirNotEmpty:
		return ErrNotEmpty, true
	case syscall.ENAMETOOLONG:
		return ErrInvalidPath, true
	case syscall.ENOSPC, errorDiskFull:
		return ErrNoSpace, true
	case syscall.EXDEV, errorNotSameDevice:
		return ErrCrossDevice, true
	case syscall.EROFS, errorWriteProtect:
		return ErrReadOnly, true
	case syscall.ELOOP:
		return ErrLoop, true
	case syscall.EINVAL:
		return ErrInvalid, true
	}
	return "", false
}

// System error codes that package syscall does not name.
const (
	errorNotSameDevice syscall.Errno = 17
	errorWriteProtect  syscall.Errno = 19
	errorDiskFull      syscall.Errno = 112
	errorDirNotEmpty   syscall.Errno = 145
)
