// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local

import (
	"io/fs"
	"os"
	"syscall"
)

// hasVersions says that the system tells enough of a file to see every change.
const hasVersions = true

func nodeOfInfo(info fs.FileInfo) *node {
	n := &node{mode: info.Mode(), size: info.Size(), modified: instantOf(info.ModTime())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		n.device, n.inode, n.links = uint64(st.Dev), st.Ino, int(st.Nlink)
		n.uid, n.gid = st.Uid, st.Gid
		n.changed = changeTime(st)
	}
	return n
}

// isOwn reports that the file belongs to the user of this process, or to root.
func isOwn(n *node) bool { return n.uid == uint32(os.Geteuid()) || n.uid == 0 }

// keepOwner gives f the owner and group of the file that it replaces, as far
// as the caller may.
func keepOwner(f *os.File, now, want *node) {
	if now.uid == want.uid && now.gid == want.gid {
		return
	}
	if f.Chown(int(want.uid), int(want.gid)) != nil {
		_ = f.Chown(-1, int(want.gid))
	}
}
