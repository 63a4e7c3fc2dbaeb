// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

// pile gathers text of any length in blocks of a pool, so that the result can
// be made at its exact length, once.
type pile struct {
	blocks []pileBlock
	size   int    // of all blocks
	spare  buffer // a block that was dropped
}

// pileBlock holds a part of the text. All but the last are full.
type pileBlock struct {
	buffer
	data     []byte // with room to the end of the block
	newlines int
}

// space returns room for what comes next, at least one byte.
func (p *pile) space() []byte {
	if n := len(p.blocks); n > 0 {
		if last := p.blocks[n-1].data; len(last) < cap(last) {
			return last[len(last):cap(last)]
		}
	}
	size := blockSize
	if p.blocks == nil {
		size = firstBlock
	}
	b := pileBlock{buffer: p.spare}
	p.spare = buffer{}
	room := b.bytes(size)
	b.data = room[:0:len(room)]
	p.blocks = append(p.blocks, b)
	return room
}

// grow takes the first n bytes of the space into the text.
func (p *pile) grow(n, newlines int) {
	last := &p.blocks[len(p.blocks)-1]
	last.data = last.data[:len(last.data)+n]
	last.newlines += newlines
	p.size += n
}

// add appends a copy of text.
func (p *pile) add(text []byte) {
	for len(text) > 0 {
		n := copy(p.space(), text)
		p.grow(n, 0)
		text = text[n:]
	}
}

// drop removes the first block.
func (p *pile) drop() {
	p.size -= len(p.blocks[0].data)
	p.spare.free()
	p.spare = p.blocks[0].buffer
	// The rest moves up, so that the list does not grow with all that was ever dropped.
	p.blocks = append(p.blocks[:0], p.blocks[1:]...)
}

// text returns a copy of the text from start on.
func (p *pile) text(start int) []byte {
	text := make([]byte, 0, p.size-start)
	for _, b := range p.blocks {
		skip := min(start, len(b.data))
		start -= skip
		text = append(text, b.data[skip:]...)
	}
	return text
}

// free gives all blocks back.
func (p *pile) free() {
	for i := range p.blocks {
		p.blocks[i].free()
	}
	p.spare.free()
	*p = pile{}
}
