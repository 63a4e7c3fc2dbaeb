// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"syscall"
)

func changeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

func movesFolders(*os.Root) bool { return true }
