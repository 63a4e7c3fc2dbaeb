// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit/charset"
)

// contents seeds the fuzz targets.
var contents = []string{
	"", "a", "\xef\xbb\xbfa\r\n", "\xff\xfea\x00", "\xfe\xff\xd8\x3d\xde\x00", "caf\xe9", "\x00\xff\x01\x80", "h\x00i\x00",
	"\xd6\xd0\xce\xc4", "\x84\x31\x95\x33\x81\x30\x81\x30", "\x1b$B$\"\x1b(Ba", "\x8f\xb0\xa1\x8e\xb1", "\x88\x62\x87\x90",
	"%PDF-1.7", "<html><meta charset=", `{"a":`, "MZ", "\x7fELF",
}

func FuzzDecode(f *testing.F) {
	all := encodings(f)
	for i, raw := range contents {
		f.Add([]byte(raw), "utf-16le", uint64(i))
		f.Add([]byte(raw), "iso-2022-jp", uint64(i))
		f.Add([]byte(raw), "gb18030", uint64(i))
		f.Add([]byte(raw), "", uint64(i))
	}
	f.Fuzz(func(t *testing.T, raw []byte, name string, seed uint64) {
		e, err := charset.Lookup(name)
		if err != nil {
			e = all[seed%uint64(len(all))]
		}
		checkDecode(t, raw, e)
		random := rand.New(rand.NewPCG(seed, 1))
		checkReader(t, raw, e, random, 1+random.IntN(2*len(raw)+2))
	})
}

func FuzzEncodeText(f *testing.F) {
	all := encodings(f)
	for i, text := range append(contents, alphabet) {
		f.Add([]byte(text), "utf-16", uint64(i))
		f.Add([]byte(text), "iso-2022-jp", uint64(i))
		f.Add([]byte(text), "", uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, name string, seed uint64) {
		e, err := charset.Lookup(name)
		if err != nil {
			e = all[seed%uint64(len(all))]
		}
		checkEncode(t, text, e)
	})
}

func FuzzClassify(f *testing.F) {
	for _, head := range contents {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if class := checkClass(t, head); class.Text {
			checkCuts(t, head, 1+len(head)/512)
		}
	})
}
