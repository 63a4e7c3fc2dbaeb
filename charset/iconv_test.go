// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/charset"
)

// TestIconv compares the tables with those of program iconv, over all one-byte
// characters, and the pairs where all tables of an encoding agree.
func TestIconv(t *testing.T) {
	program, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("there is no iconv to compare with")
	}
	iconv := func(name string, raw []byte) (string, bool) {
		command := exec.CommandContext(t.Context(), program, "-f", name, "-t", "UTF-8")
		command.Stdin = bytes.NewReader(raw)
		output, err := command.Output()
		return string(output), err == nil
	}
	pairs := func(first, last, from, to byte) (raw []byte) {
		for a := int(first); a <= int(last); a++ {
			for b := int(from); b <= int(to); b++ {
				raw = append(raw, byte(a), byte(b), '\n')
			}
		}
		return raw
	}
	for label, raw := range map[string][]byte{
		"iso-8859-1": nil, "iso-8859-2": nil, "iso-8859-5": nil, "iso-8859-9": nil, "iso-8859-15": nil,
		"windows-1250": nil, "windows-1251": nil, "windows-1252": nil, "koi8-r": nil, "ibm437": nil, "ibm850": nil, "ibm866": nil, "us-ascii": nil,
		"gbk":       pairs(0xb0, 0xd6, 0xa1, 0xfe), // hanzi of level 1
		"gb18030":   pairs(0xd8, 0xf7, 0xa1, 0xfe), // level 2
		"big5":      append(pairs(0xa4, 0xc5, 0xa1, 0xfe), pairs(0xa4, 0xc5, 0x40, 0x7e)...),
		"shift_jis": pairs(0x89, 0x96, 0x80, 0xfc),
		"cp932":     append(pairs(0xfa, 0xfa, 0x5c, 0x7e), pairs(0xfb, 0xfb, 0x80, 0xfc)...), // names of people
		"cp950":     []byte("\xad\xbb\xb4\xe4\n\xa5\x5d\n"),                                  // Hong Kong
		"euc-jp":    pairs(0xb0, 0xce, 0xa1, 0xfe),
		"euc-kr":    pairs(0xb0, 0xc8, 0xa1, 0xfe),
		"utf-16le":  pairs(0x20, 0x7e, 0x4e, 0x9e)[:9000],
		"utf-16be":  pairs(0x4e, 0x9e, 0x20, 0x7e)[:9000],
	} {
		e, err := charset.Lookup(label)
		if err != nil {
			t.Fatal(err)
		}
		if raw == nil {
			for b := range 256 {
				document, err := charset.Decode([]byte{byte(b)}, e)
				if err == nil && (b >= 0xa0 || e.String() == "iso-8859-1" || !strings.HasPrefix(label, "iso")) {
					raw = append(append(raw, byte(b)), '\n')
				}
				if err == nil && b < 0x80 && string(document.Text()) != string(rune(b)) {
					t.Errorf("%s: 0x%02x is %q", e, b, document.Text())
				}
			}
		}
		document, err := charset.Decode(raw, e)
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		if want, ok := iconv(label, raw); !ok || want != string(document.Text()) {
			t.Errorf("%s: iconv differs in %d bytes", e, len(raw))
		}
	}
}
