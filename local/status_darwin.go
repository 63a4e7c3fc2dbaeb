// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "syscall"

func changeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
