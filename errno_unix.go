// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ambit

import "syscall"

func reasonOfErrno(errno syscall.Errno) (Reason, bool) {
	switch errno {
	case syscall.ENOENT:
		return ErrNotFound, true
	case syscall.EISDIR, syscall.ENXIO:
		return ErrNotAFile, true
	case syscall.ENOTDIR:
		return ErrNotADirectory, true
	case syscall.EXDEV:
		return ErrCrossDevice, true
	case syscall.EACCES, syscall.EPERM:
		return ErrPermission, true
	case syscall.EROFS:
		return ErrReadOnly, true
	case syscall.ENAMETOOLONG, syscall.EILSEQ:
		return ErrInvalidPath, true
	case syscall.EINVAL:
		return ErrInvalid, true
	case syscall.EFBIG:
		return ErrTooLarge, true
	case syscall.EEXIST:
		return ErrExists, true
	case syscall.ENOTEMPTY:
		return ErrNotEmpty, true
	case syscall.ELOOP:
		return ErrLoop, true
	case syscall.ENOSPC, syscall.EDQUOT:
		return ErrNoSpace, true
	case syscall.ENOSYS, syscall.ENOTSUP:
		return ErrUnsupported, true
	}
	if errno == syscall.EOPNOTSUPP { // on some systems the same number as ENOTSUP
		return ErrUnsupported, true
	}
	return "", false
}
