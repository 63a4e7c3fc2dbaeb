// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"bytes"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// signatures begin files of binary formats that can go on without a NUL byte as
// far as a head reaches. None of them begins a text that anybody would write:
// shorter ones, such as "MZ" or "BM", are not here, since these formats are known
// by their NUL bytes.
var signatures = [][]byte{
	[]byte("%PDF-"),
	[]byte("%FDF-"),
	[]byte("GIF87a"),
	[]byte("GIF89a"),
	[]byte("\x89PNG\r\n\x1a\n"),
	[]byte("\xff\xd8\xff"),          // JPEG
	[]byte("PK\x03\x04"),            // zip
	[]byte("PK\x05\x06"),            // zip without entries
	[]byte("PK\x07\x08"),            // zip in several parts
	[]byte("\x1f\x8b\x08"),          // gzip
	[]byte("\x28\xb5\x2f\xfd"),      // Zstandard
	[]byte("\x04\x22\x4d\x18"),      // LZ4
	[]byte("\xfd7zXZ"),              // xz
	[]byte("7z\xbc\xaf\x27\x1c"),    // 7-Zip
	[]byte("Rar!\x1a\x07"),          // RAR
	[]byte("LZIP\x01"),              // lzip
	[]byte("\x7fELF"),               // ELF
	[]byte("!<arch>\n"),             // ar, static libraries
	[]byte("d8:announce"),           // BitTorrent
	[]byte("SIMPLE  =            "), // FITS
	[]byte("SQLite format 3"),
}

// beginsSignature has the first byte of each signature.
var beginsSignature = func() (table [256]bool) {
	table['B'] = true // bzip2
	for _, signature := range signatures {
		table[signature[0]] = true
	}
	return table
}()

func hasSignature(head []byte) bool {
	if len(head) == 0 || !beginsSignature[head[0]] {
		return false
	}
	for _, signature := range signatures {
		if bytes.HasPrefix(head, signature) {
			return true
		}
	}
	return isBzip2(head)
}

// isBzip2: "BZh" alone begins words.
func isBzip2(head []byte) bool {
	const blockMagic = "1AY&SY"
	return len(head) >= 4+len(blockMagic) && string(head[:3]) == "BZh" && string(head[4:4+len(blockMagic)]) == blockMagic
}

const (
	plainText = "text/plain"
	unknown   = "application/octet-stream"
)

// textFormats are types of text that package mimetype does not know for such.
var textFormats = map[string]bool{
	"application/postscript":        true,
	"application/vnd.apple.mpegurl": true,
	"image/vnd.dxf":                 true,
	"image/x-xpixmap":               true,
}

// textMediaType returns the media type of text, which is UTF-8 if e is not the
// zero value, and e in the file.
func textMediaType(text []byte, e Encoding) string {
	name := plainText
	if len(text) > 0 {
		if detected, isText := detect(text); isText {
			name = detected
		}
	}
	if strings.HasPrefix(name, "text/") && !e.IsZero() {
		name += "; charset=" + e.String()
	}
	return name
}

func binaryMediaType(head []byte) string {
	if detected, isText := detect(head); !isText {
		return detected
	}
	return unknown
}

// detect returns the media type that package mimetype sees, without parameters,
// and whether that is one of text.
func detect(head []byte) (name string, isText bool) {
	found := mimetype.Detect(head)
	name, _, _ = strings.Cut(found.String(), ";")
	for m := found; m != nil && !isText; m = m.Parent() {
		base, _, _ := strings.Cut(m.String(), ";")
		isText = base == plainText || textFormats[base]
	}
	return name, isText
}
