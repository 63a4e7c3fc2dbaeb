// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io/fs"
	"os"
	"syscall"

	"github.com/ambitfs/ambit"
)

func capabilities(root *os.Root, info fs.FileInfo) ambit.Capabilities {
	return ambit.Capabilities{
		ID:       "local:" + identity(info),
		Links:    ambit.LinksFollowed,
		Swap:     ambit.SwapExact,
		Identity: true,
		Versions: true,
		ReadAt:   true,
		Streams:  true,
		Confined: true,

		Write:    true,
		List:     true,
		Remove:   true,
		Rename:   true,
		Mkdir:    true,
		Stage:    true,
		ReadLink: true,
		Sub:      true,

		AtomicReplace: true,
		AtomicRemove:  movesFolders(root),
		Durable:       true,
		KeepsMode:     true,
	}
}

// token folds numbers of the host into something that tells none of them.
func token(numbers ...uint64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// identity is the same for the same file, through whatever name.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return token(uint64(st.Dev), st.Ino)
}

// identify fills what this system tells of a file beyond package io/fs.
func identify(i *ambit.FileInfo, info fs.FileInfo) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	i.ID = identity(info)
	i.Links = int(st.Nlink)
	if i.Kind == ambit.KindRegular {
		i.Version = ambit.Version(token(st.Ino, uint64(st.Size), uint64(info.ModTime().UnixNano()), uint64(changeTime(st))))
	}
}

// removed reports that an open folder has no name any more.
func removed(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}

// keepOwner gives f the owner and group of the file that it replaces, as far
// as the caller may.
func keepOwner(f *os.File, old fs.FileInfo) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	now, nowOK := info.Sys().(*syscall.Stat_t)
	want, wantOK := old.Sys().(*syscall.Stat_t)
	if !nowOK || !wantOK || now.Uid == want.Uid && now.Gid == want.Gid {
		return
	}
	if f.Chown(int(want.Uid), int(want.Gid)) != nil {
		_ = f.Chown(-1, int(want.Gid))
	}
}
