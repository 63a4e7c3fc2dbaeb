// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"runtime"

	"github.com/ambitfs/ambit"
)

// capabilities claims what holds on the disks of all roots; what is mounted
// inside a root is not looked at. Where there is no lock that all
// processes see and no time of the last change, nothing is claimed that rests
// on them, and nothing is known of what survives a power cut. On Windows a
// folder can be made outside the root through a junction before Go 1.26.9
// (GO-2026-6604).
func (m *machine) capabilities() ambit.Capabilities {
	c := ambit.Capabilities{
		ID:       m.identityOf(),
		Links:    m.o.Links,
		ReadAt:   true,
		Streams:  true,
		Confined: runtime.GOOS != "js" && runtime.GOOS != "plan9" && runtime.GOOS != "windows",

		Write:    true,
		List:     true,
		Remove:   true,
		Rename:   true,
		Mkdir:    true,
		Stage:    true,
		ReadLink: true,
		Search:   true,
		Sub:      true,
		Guard:    true,

		MaxFileSize: m.o.MaxFileSize,
	}
	if !hasVersions {
		return c
	}
	c.Swap = ambit.SwapForeign
	c.Identity, c.Versions = true, true
	c.Append, c.Commit = true, true
	c.AtomicReplace, c.AtomicRemove, c.AtomicCommit = true, true, true
	c.Durable = m.o.Durability == Durable
	c.KeepsMode = true
	for _, r := range m.roots {
		if !r.disk.exchanges {
			c.Swap = ambit.SwapExact
		}
		if !r.disk.movesFolders {
			c.AtomicRemove = false
		}
		if r.disk.volatile {
			c.Durable = false
		}
	}
	return c
}

// token folds numbers of the host into something that tells none of them.
func token(text string, numbers ...uint64) string {
	var array [256]byte
	b := array[:0]
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, text...)
	sum := sha256.Sum256(b)
	var encoded [22]byte
	base64.RawURLEncoding.Encode(encoded[:], sum[:16])
	return string(encoded[:])
}

// id is the same for the same file, through whatever name.
func (n *node) id() string {
	if n.tokens != nil {
		return n.tokens.id
	}
	if !hasVersions {
		return ""
	}
	return token("", n.device, n.inode)
}
