// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/ambitfs/ambit"
)

// Encoding is a character encoding of file content. It is comparable with ==:
// [Lookup] returns equal values for all labels of one encoding.
//
// The zero value means "by its byte order mark": content that begins with the
// one of UTF-8 is UTF-8, content that begins with one of UTF-16 is UTF-16 of that
// byte order, and anything else is UTF-8 or whatever contains ASCII as itself,
// taken unchanged, stray bytes allowed.
type Encoding struct {
	name string // canonical, in lower case
}

// The Unicode encodings. Asked for by name they are strict: content that is not
// valid is [ambit.ErrNotText].
var (
	UTF8    = Encoding{utf8Name}
	UTF16LE = Encoding{utf16leName}
	UTF16BE = Encoding{utf16beName}

	// UTF16 is UTF-16 whose byte order mark tells the order. Content without
	// one is refused: RFC 2781 takes it for big-endian, the WHATWG for
	// little-endian, and a wrong guess would write text in the wrong order. New
	// files get a mark and are little-endian, as nearly all UTF-16 on disks is.
	UTF16 = Encoding{utf16Name}
)

const (
	utf8Name    = "utf-8"
	utf16leName = "utf-16le"
	utf16beName = "utf-16be"
	utf16Name   = "utf-16"
	gb18030Name = "gb18030"
)

// String returns the canonical name in lower case, which [Lookup] accepts, and ""
// for the zero value.
func (e Encoding) String() string { return e.name }

// IsZero reports whether e is the zero value.
func (e Encoding) IsZero() bool { return e.name == "" }

// synonyms are labels that neither registry has, or that one has for another
// encoding than all its other spellings.
var synonyms = map[string]string{
	"ascii":     "us-ascii",
	"latin-1":   "iso-8859-1",
	"iso8859-1": "iso-8859-1",
	"iso88591":  "iso-8859-1",
	"iso8859-9": "iso-8859-9",
	"iso88599":  "iso-8859-9",
	"cp932":     "shift_jis",
	"cp949":     "euc-kr",
	"cp950":     "big5",
}

// Lookup returns the encoding that name is a label of, in whatever case. It knows
// the registry of the IANA and, for what that lacks, the labels of the WHATWG.
// Where they differ the IANA's meaning holds: "iso-8859-1" and "latin1" are ISO
// 8859-1, which has a character for each of the 256 bytes and so gives back any
// content, and not windows-1252, which leaves five undefined; "ascii" is ASCII
// and refuses other bytes. "" is the zero value.
//
// A name that is unknown is [ambit.ErrInvalid], and so is one that stands for no
// encoding of text, as the WHATWG's "replacement" and "x-user-defined" do.
func Lookup(name string) (Encoding, error) {
	if name == "" {
		return Encoding{}, nil
	}
	label := strings.ToLower(strings.TrimSpace(name))
	if known, ok := synonyms[label]; ok {
		label = known
	}
	known, err := ianaindex.IANA.Encoding(label)
	whatwg, errWHATWG := htmlindex.Get(label)
	switch {
	case errWHATWG == nil && (whatwg == encoding.Replacement || whatwg == charmap.XUserDefined):
		return Encoding{}, invalid("%s is not an encoding of text that can be read and written", quote(name))
	case err == nil && known != nil:
	case errWHATWG == nil:
		known = whatwg
	case err == nil:
		return Encoding{}, invalid("the encoding %s is not supported", quote(name))
	default:
		return Encoding{}, invalid("there is no encoding %s", quote(name))
	}
	canonical, err := htmlindex.Name(known)
	if err != nil {
		canonical, err = ianaindex.MIME.Name(known)
	}
	if err != nil {
		return Encoding{}, invalid("the encoding %s is not supported", quote(name))
	}
	return Encoding{strings.ToLower(canonical)}, nil
}

// implementation returns what converts e, which is neither the zero value nor
// UTF16.
func (e Encoding) implementation() encoding.Encoding {
	switch e.name {
	case "big5":
		return preferredBig5()
	case "shift_jis":
		return preferredShiftJIS()
	}
	if known, err := ianaindex.IANA.Encoding(e.name); err == nil && known != nil {
		return known
	}
	known, err := htmlindex.Get(e.name)
	if err != nil {
		panic("charset: no implementation of " + e.name) // every Encoding comes from Lookup
	}
	return known
}

// isStateful reports whether bytes of e mean different characters after
// different escape sequences.
func (e Encoding) isStateful() bool { return e.name == "iso-2022-jp" }

// quote keeps a caller's name short in a message.
func quote(name string) string {
	const most = 40
	if len(name) > most {
		return fmt.Sprintf("%.*q…", most, name)
	}
	return fmt.Sprintf("%q", name)
}

func invalid(format string, args ...any) error {
	return &ambit.Error{Reason: ambit.ErrInvalid, Detail: fmt.Sprintf(format, args...)}
}

func notText(format string, args ...any) error {
	return &ambit.Error{Reason: ambit.ErrNotText, Detail: fmt.Sprintf(format, args...)}
}
