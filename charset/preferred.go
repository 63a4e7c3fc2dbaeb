// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"sync"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Some characters stand twice in Big5 and in Shift JIS, and package x/text writes
// other bytes for them than Windows, iconv and the WHATWG's standard do: a Big5
// file that has the second character of "Hong Kong" would not come back. So these
// encodings write what the standard prefers.
var (
	preferredBig5 = sync.OnceValue(func() encoding.Encoding {
		// By the standard the first place counts, outside of what Hong Kong has
		// added before it, but for these characters the last.
		last := map[rune]bool{'═': true, '╞': true, '╡': true, '╪': true, '十': true, '卅': true}
		leads := func(b byte) bool { return b >= 0x81 }
		return prefer(traditionalchinese.Big5, leads, func(r rune, lead byte, known bool) bool {
			return lead >= 0xa1 && (!known || last[r])
		})
	})
	preferredShiftJIS = sync.OnceValue(func() encoding.Encoding {
		// By the standard the first place counts, but for the rows 0xed and 0xee
		// of NEC, whose characters IBM has in the rows from 0xfa on.
		leads := func(b byte) bool { return 0x81 <= b && b <= 0x9f || b >= 0xe0 }
		return prefer(japanese.ShiftJIS, leads, func(_ rune, lead byte, known bool) bool {
			return !known && lead != 0xed && lead != 0xee
		})
	})
)

// preferring is an encoding of characters of one and two bytes that writes some
// of the latter differently.
type preferring struct {
	encoding.Encoding
	leads   func(byte) bool // whether a byte is the first of two
	instead map[[2]byte][2]byte
}

// prefer goes through all pairs of bytes in order. Better tells whether one with
// that lead byte is to be written for r, for which another is known already or
// not.
func prefer(how encoding.Encoding, leads func(byte) bool, better func(r rune, lead byte, known bool) bool) encoding.Encoding {
	preferred := make(map[rune][2]byte)
	decoder := how.NewDecoder()
	for pair := range 0x1_0000 {
		var text [8]byte
		raw := [2]byte{byte(pair >> 8), byte(pair)}
		if !leads(raw[0]) {
			continue
		}
		n, _, err := decoder.Transform(text[:], raw[:], true)
		if err != nil {
			continue
		}
		characters := []rune(string(text[:n]))
		if len(characters) != 1 || characters[0] == '\ufffd' {
			continue
		}
		r := characters[0]
		if _, known := preferred[r]; better(r, raw[0], known) {
			preferred[r] = raw
		}
	}
	p := &preferring{how, leads, make(map[[2]byte][2]byte)}
	encoder := how.NewEncoder()
	for r, want := range preferred {
		var raw [8]byte
		n, _, err := encoder.Transform(raw[:], []byte(string(r)), true)
		if written := [2]byte(raw[:2]); err == nil && n == 2 && written != want {
			p.instead[written] = want
		}
	}
	return p
}

func (p *preferring) NewEncoder() *encoding.Encoder {
	return &encoding.Encoder{Transformer: preferringEncoder{p.Encoding.NewEncoder(), p}}
}

type preferringEncoder struct {
	*encoding.Encoder
	*preferring
}

func (p preferringEncoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = p.Encoder.Transform(dst, src, atEOF)
	for i := 0; i < nDst; i++ {
		if i+1 == nDst || !p.leads(dst[i]) {
			continue
		}
		if want, ok := p.instead[[2]byte(dst[i:])]; ok {
			copy(dst[i:], want[:])
		}
		i++
	}
	return nDst, nSrc, err
}
