// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"strings"
	"unicode/utf8"
)

// Header returns the name of a file as it stands behind "--- " and "+++ ":
// quoted where it must be, else with a tab behind it where it has a space, at
// which GNU patch would take it to end.
func Header(name string) string {
	q := Quote(name)
	if q == name && strings.Contains(name, " ") {
		q += "\t"
	}
	return q
}

// Quote returns the name of a file as git writes it in other headers: quoted
// where it would not be read back.
func Quote(name string) string {
	odd := !utf8.ValidString(name) || strings.HasSuffix(name, " ")
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			odd = true
		}
	}
	if !odd {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.Write([]byte{'\\', c})
		case c < ' ' || c >= 0x7f:
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
