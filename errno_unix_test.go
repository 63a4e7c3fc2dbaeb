// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ambit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
)

func TestReasonOfErrno(t *testing.T) {
	for _, test := range []struct {
		errno syscall.Errno
		want  ambit.Reason
		kept  bool // in the chain: it matches nothing that the reason does not stand for
	}{
		{syscall.ENOENT, ambit.ErrNotFound, true},
		{syscall.ENOTDIR, ambit.ErrNotADirectory, true},
		{syscall.EISDIR, ambit.ErrNotAFile, true},
		{syscall.ENXIO, ambit.ErrNotAFile, true},
		{syscall.EACCES, ambit.ErrPermission, true},
		{syscall.EPERM, ambit.ErrPermission, true},
		{syscall.EROFS, ambit.ErrReadOnly, true},
		{syscall.EINVAL, ambit.ErrInvalid, true},
		{syscall.ENAMETOOLONG, ambit.ErrInvalidPath, true},
		{syscall.EILSEQ, ambit.ErrInvalidPath, true},
		{syscall.EFBIG, ambit.ErrTooLarge, true},
		{syscall.EEXIST, ambit.ErrExists, true},
		{syscall.ENOTEMPTY, ambit.ErrNotEmpty, false}, // it matches fs.ErrExist
		{syscall.EXDEV, ambit.ErrCrossDevice, true},
		{syscall.ELOOP, ambit.ErrLoop, true},
		{syscall.ENOSPC, ambit.ErrNoSpace, true},
		{syscall.EDQUOT, ambit.ErrNoSpace, true},
		{syscall.ENOSYS, ambit.ErrUnsupported, true},
		{syscall.ENOTSUP, ambit.ErrUnsupported, true},
		{syscall.EOPNOTSUPP, ambit.ErrUnsupported, true},
		{syscall.EIO, ambit.ErrIO, true},
		{syscall.EBUSY, ambit.ErrIO, true},
		{syscall.EAGAIN, ambit.ErrIO, true},
		{syscall.EMFILE, ambit.ErrIO, true},
	} {
		forms := map[string]error{
			"itself":          test.errno,
			"wrapped":         fmt.Errorf("x: %w", test.errno),
			"joined":          errors.Join(errors.New("x"), test.errno),
			"in a PathError":  &fs.PathError{Op: "open", Path: "/host", Err: test.errno},
			"in a LinkError":  &os.LinkError{Op: "rename", Old: "/host/a", New: "/host/b", Err: test.errno},
			"in two of them":  &fs.PathError{Op: "open", Path: "/host", Err: os.NewSyscallError("openat", test.errno)},
			"beneath a third": fmt.Errorf("/host: %w", &fs.PathError{Op: "open", Path: "/host", Err: test.errno}),
		}
		for form, err := range forms {
			if got := ambit.ReasonOf(err); got != test.want {
				t.Errorf("ReasonOf %v %s is %q, want %q", test.errno, form, got, test.want)
			}
			wrapped := ambit.Wrap("open", "p", err)
			wantReason(t, wrapped, "open", "p", test.want)
			if got := errors.Is(wrapped, test.errno); got != test.kept {
				t.Errorf("%v %s is in the chain of its Wrap: %t, want %t", test.errno, form, got, test.kept)
			}
			for _, sentinel := range others {
				if got := errors.Is(wrapped, sentinel); got != test.want.Is(sentinel) {
					t.Errorf("errors.Is(Wrap(%v %s), %v) is %t", test.errno, form, sentinel, got)
				}
			}
		}
	}
}
