// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import "sync"

const (
	firstBlock = 16 << 10  // what is read first: most files are not larger
	blockSize  = 256 << 10 // what is read at once in the end
)

// The blocks that are read into. The memory of a block is used as far as
// something is read into it: fresh pages are dear.
var (
	firstBlocks = sync.Pool{New: func() any { return new([firstBlock]byte) }}
	blocks      = sync.Pool{New: func() any { return new([blockSize]byte) }}
)

// buffer is a block of a pool, the small one at first.
type buffer struct {
	small *[firstBlock]byte
	large *[blockSize]byte
}

// bytes returns at least one and at most limit bytes of the buffer, and never
// more than blockSize. What it returned before is lost.
func (b *buffer) bytes(limit int) []byte {
	if limit <= firstBlock && b.large == nil {
		if b.small == nil {
			b.small = firstBlocks.Get().(*[firstBlock]byte)
		}
		return b.small[:limit]
	}
	if b.large == nil {
		b.large = blocks.Get().(*[blockSize]byte)
	}
	return b.large[:min(limit, blockSize)]
}

// free gives the blocks back. What bytes returned is no longer the caller's.
func (b *buffer) free() {
	if b.small != nil {
		firstBlocks.Put(b.small)
	}
	if b.large != nil {
		blocks.Put(b.large)
	}
	*b = buffer{}
}
