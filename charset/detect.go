// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Detect returns what [Classify] returns without all that takes time, for those who
// ask it of every file on their way: the MediaType is "", and the Encoding is that
// of UTF-16 or the zero value, which UTF-8 can be read under as well.
func Detect(head []byte, whole bool) Class {
	if len(head) > HeadSize {
		head, whole = head[:HeadSize], false
	}
	var c Class
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		c.BOM = 3
	}
	text := head[c.BOM:]
	isUTF16 := len(head) > 0 && head[0] >= 0xfe // or nothing known
	if !isUTF16 && bytes.IndexByte(text, 0) < 0 && !hasSignature(text) && (isASCII(text) || !hasForeignControl(text)) {
		c.Text = true
		return c
	}
	c, _ = classify(head, whole)
	switch {
	case !c.Text:
		return Class{}
	case c.Encoding.name == utf8Name:
		c.Encoding = Encoding{}
	}
	return c
}

// Eight bytes are looked at at once: highBits has the highest bit of each.
const (
	ones     = 0x0101010101010101
	highBits = 0x80 * ones
)

func isASCII(text []byte) bool {
	for len(text) >= 16 {
		if (binary.LittleEndian.Uint64(text)|binary.LittleEndian.Uint64(text[8:]))&highBits != 0 {
			return false
		}
		text = text[16:]
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foreignControls has true for the control bytes that no text has.
var foreignControls = func() (table [256]bool) {
	for b := range table {
		table[b] = isForeignControl(rune(b))
	}
	return table
}()

func hasForeignControl(text []byte) bool {
	for len(text) >= 8 {
		x := binary.LittleEndian.Uint64(text)
		// No byte borrows from its neighbour, nor carries to it.
		printable := (x | highBits) - 0x20*ones
		del := (x &^ highBits) + ones
		for controls := (^printable | del) &^ x & highBits; controls != 0; controls &= controls - 1 {
			if foreignControls[text[bits.TrailingZeros64(controls)/8]] {
				return true
			}
		}
		text = text[8:]
	}
	for _, b := range text {
		if foreignControls[b] {
			return true
		}
	}
	return false
}
