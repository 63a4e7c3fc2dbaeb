// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io/fs"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func changeTime(st *syscall.Stat_t) instant { return instant{st.Ctimespec.Sec, st.Ctimespec.Nsec} }

func birth(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatInt(st.Birthtimespec.Nano(), 36)
}

// mountOf tells devices only.
func (d *rootDir) mountOf(name string) (mount, error) {
	var n *node
	var err error
	if name == "" {
		n, err = d.self()
	} else {
		n, err = d.lookup(name)
	}
	if err != nil {
		return mount{}, err
	}
	return mount{id: n.device, device: true}, nil
}

func (d *rootDir) disk() disk { return disk{movesFolders: true, folds: true} }

const errCrossRoots = unix.EXDEV
