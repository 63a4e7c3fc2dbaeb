// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import "syscall"

func changeTime(st *syscall.Stat_t) instant {
	return instant{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)}
}
