// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix && !windows

package ambit

import "syscall"

func reasonOfErrno(syscall.Errno) (Reason, bool) { return "", false }
