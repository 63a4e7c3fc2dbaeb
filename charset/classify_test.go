// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"mime"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambitfs/ambit/charset"
)

func TestClassify(t *testing.T) {
	text := func(e charset.Encoding, bom int, mediaType string) charset.Class {
		return charset.Class{Text: true, Encoding: e, BOM: bom, MediaType: mediaType}
	}
	binary := func(mediaType string) charset.Class { return charset.Class{MediaType: mediaType} }
	const (
		plain8  = "text/plain; charset=utf-8"
		plainLE = "text/plain; charset=utf-16le"
		plainBE = "text/plain; charset=utf-16be"
		unknown = "application/octet-stream"
	)
	none := charset.Encoding{}
	for _, c := range []struct {
		head string
		want charset.Class // of the whole file
	}{
		{"", text(charset.UTF8, 0, plain8)},
		{"hello\r\n", text(charset.UTF8, 0, plain8)},
		{"中文\n", text(charset.UTF8, 0, plain8)},
		{"\ufeffhello", text(charset.UTF8, 3, plain8)},
		{"\ufeffstra\xdfe", text(none, 3, "text/plain")},
		{"stra\xdfe\n", text(none, 0, "text/plain")},
		{"\xd6\xd0\xce\xc4\n", text(none, 0, "text/plain")},
		{"\x93\xfa\x96\x7b\n", text(none, 0, "text/plain")},
		{"cut \xe4\xb8", text(none, 0, "text/plain")},
		{"\x1b[1mbold\x1b[0m\r50%\r100%\b\b\a\f\v\n", text(charset.UTF8, 0, plain8)},
		{"\x1b[1mstra\xdfe\x1b[0m\r50%\r100%\b\b\a\f\v\x0e\x0f\x1a", text(none, 0, "text/plain")},
		{"8=FIX.4.2\x019=12\x0135=0\x01", text(charset.UTF8, 0, plain8)},
		{"8=FIX.4.2\x0158=stra\xdfe\x01", binary(unknown)},
		{"\x7f\xff", binary(unknown)},

		{"a\x00b", binary(unknown)},
		{"\x00\xff\x01\x80", binary(unknown)},
		{"\x00", binary(unknown)},
		{"a\x00", binary(unknown)},
		{"key\x00value\x00", binary(unknown)},
		{"\ufeffa\x00b", binary(unknown)},

		{"\xff\xfe", text(charset.UTF16LE, 2, plainLE)},
		{"\xff\xfea\x00", text(charset.UTF16LE, 2, plainLE)},
		{"\xfe\xff\x4e\x2d", text(charset.UTF16BE, 2, plainBE)},
		{"\xff\xfe\x01\x00", text(charset.UTF16LE, 2, plainLE)},
		{"\xff\xfea", binary(unknown)},
		{"\xff\xfea\x00\x00\x00", binary(unknown)}, // UTF-32, or no text
		{"\xff\xfe\x00\xd8", binary(unknown)},
		{"\xff\xfe\x00\xdca\x00", binary(unknown)},
		{"h\x00i\x00\n\x00", text(charset.UTF16LE, 0, plainLE)},
		{"\x00h\x00i\x00\n", text(charset.UTF16BE, 0, plainBE)},
		{"#\x00\x2d\x4e\x3d\xd8\x00\xde", text(charset.UTF16LE, 0, plainLE)},
		{"h\x00i\x00\n", binary(unknown)},
		{"h\x00\x01\x00", binary(unknown)},
		{"h\x00\x00\xe0", binary(unknown)},
		{"h\x00\xff\xff", binary(unknown)},
		{"h\x00\x3d\xd8", binary(unknown)},

		{`{"a": [1, 2]}`, text(charset.UTF8, 0, "application/json")},
		{"\ufeff" + `{"a": [1, 2]}`, text(charset.UTF8, 3, "application/json")},
		{"<!DOCTYPE html><html></html>", text(charset.UTF8, 0, "text/html; charset=utf-8")},
		{"\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00\n\x00", text(charset.UTF16LE, 2, "text/html; charset=utf-16le")},
		{"<html><meta charset=\"iso-8859-1\">stra\xdfe</html>", text(none, 0, "text/html")},
		{`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>`, text(charset.UTF8, 0, "image/svg+xml")},
		{"#!/bin/sh\necho\n", text(charset.UTF8, 0, "text/x-shellscript; charset=utf-8")},
		{"%!PS-Adobe-3.0\nshowpage\n", text(charset.UTF8, 0, "application/postscript")},

		// What begins texts as well, or is mentioned in them.
		{"MZ is a short name\n", text(charset.UTF8, 0, plain8)},
		{"icns: see below\n", text(charset.UTF8, 0, plain8)},
		{"PAR1, PAR2\n", text(charset.UTF8, 0, plain8)},
		{"Files begin with %PDF-1.7\n", text(charset.UTF8, 0, plain8)},
		{"BZh, said the bee\n", text(charset.UTF8, 0, plain8)},
		{"This is about the GIMP.\n", text(charset.UTF8, 0, plain8)},

		{"%PDF-1.7\n1 0 obj\n", binary("application/pdf")},
		{"GIF89a", binary("image/gif")},
		{"\x89PNG\r\n\x1a\n", binary("image/png")},
		{"\xff\xd8\xff\xe0", binary("image/jpeg")},
		{"PK\x03\x04", binary("application/zip")},
		{"\x1f\x8b\x08", binary("application/gzip")},
		{"\x7fELF", binary("application/x-elf")},
		{"!<arch>\n", binary("application/x-archive")},
	} {
		got := charset.Classify([]byte(c.head), true)
		if got != c.want {
			t.Errorf("Classify(%q, true) = %+v, want %+v", c.head, got, c.want)
		}
		checkClass(t, []byte(c.head))
	}
}

// TestClassifyBeginning has what no continuation can make a text.
func TestClassifyBeginning(t *testing.T) {
	for _, head := range []string{"\xff\xfea\x00\x00\xdc", "\xfe\xff\xdc\x00", "\xff\xfe\x00\xd8a\x00", "h\x00\x00\xdc", "a\x00\x01\x00", "\x00\x00", "ab\x00", "\x00\xff"} {
		if class := charset.Classify([]byte(head), false); class.Text {
			t.Errorf("Classify(%q, false) = %+v", head, class)
		}
	}
}

// checkClass holds Classify to all it promises of a file that is head.
func checkClass(t testing.TB, head []byte) charset.Class {
	t.Helper()
	before := bytes.Clone(head)
	class := charset.Classify(head, true)
	beginning := charset.Classify(head, false)
	if !bytes.Equal(head, before) {
		t.Fatalf("Classify(% x) changed its input", before)
	}
	for _, class := range []charset.Class{class, beginning} {
		name, parameters, err := mime.ParseMediaType(class.MediaType)
		_, given := parameters["charset"]
		switch {
		case err != nil:
			t.Fatalf("Classify(% x): media type %q: %v", head, class.MediaType, err)
		case !class.Text && (class.BOM != 0 || !class.Encoding.IsZero() || strings.HasPrefix(name, "text/") || given):
			t.Fatalf("Classify(% x): binary, and %+v", head, class)
		case class.Text && given != (strings.HasPrefix(name, "text/") && !class.Encoding.IsZero()):
			t.Fatalf("Classify(% x): text, and %+v", head, class)
		case class.Text && name == "application/octet-stream":
			t.Fatalf("Classify(% x): text, and %+v", head, class)
		}
	}
	if !class.Text {
		return class
	}
	if !beginning.Text {
		t.Fatalf("% x is text, but not as the beginning of a text", head)
	}
	if len(head) <= charset.HeadSize {
		for _, e := range []charset.Encoding{class.Encoding, {}} {
			document, err := charset.Decode(head, e)
			if err != nil {
				t.Fatalf("Classify(% x) = %+v, but Decode(%q): %v", head, class, e, err)
			}
			if len(document.BOM()) != class.BOM {
				t.Fatalf("Classify(% x) = %+v, but the mark is % x", head, class, document.BOM())
			}
		}
	}
	return class
}

// checkCuts: the beginning of a text is text, wherever it ends.
func checkCuts(t testing.TB, text []byte, step int) {
	t.Helper()
	for k := 0; k <= len(text); k += step {
		if class := charset.Classify(text[:k], false); !class.Text {
			t.Fatalf("%d bytes of % x are %+v", k, text, class)
		}
	}
}

func TestClassifyCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	count := map[bool]int{}
	for _, e := range append(encodings(t), charset.Encoding{}) {
		for range 60 {
			raw := randomContent(random, e, 12)
			class := checkClass(t, raw)
			if count[class.Text]++; class.Text {
				checkCuts(t, raw, 1)
			}
		}
	}
	if count[true] < 300 || count[false] < 300 {
		t.Errorf("%d texts, %d others: too few to tell", count[true], count[false])
	}
	// Without what makes a text doubtful every text is one, also in UTF-16 without
	// a mark, if it begins with ASCII.
	plain := []rune("aZ09 ~\\\n\r\t\fé€АяΩאあ漢字한😀\ufffd")
	for range 300 {
		text := "#"
		for range random.IntN(20) {
			text += string(plain[random.IntN(len(plain))])
		}
		for _, mark := range []string{"", "\ufeff"} {
			for _, e := range []charset.Encoding{charset.UTF8, charset.UTF16LE, charset.UTF16BE} {
				raw, err := charset.EncodeText([]byte(mark+text+"\n"), e)
				if err != nil {
					t.Fatal(err)
				}
				if class := checkClass(t, raw); class.Encoding != e {
					t.Fatalf("Classify(% x) = %+v, want %s", raw, class, e)
				}
				checkCuts(t, raw, 1)
			}
		}
	}
}

// TestClassifyLong: no more than HeadSize is looked at, and a character that is cut
// there is not held against a text.
func TestClassifyLong(t *testing.T) {
	for shift := range 5 {
		for _, e := range []charset.Encoding{charset.UTF8, charset.UTF16LE, charset.UTF16BE} {
			raw, err := charset.EncodeText([]byte(strings.Repeat("x", charset.HeadSize-shift)+strings.Repeat("😀", 20)), e)
			if err != nil {
				t.Fatal(err)
			}
			for _, whole := range []bool{true, false} {
				class := charset.Classify(raw, whole)
				if !class.Text || class.Encoding != e || class.MediaType != "text/plain; charset="+e.String() {
					t.Errorf("%s, shift %d: %+v", e, shift, class)
				}
			}
		}
	}
	behind := append(bytes.Repeat([]byte("x"), charset.HeadSize), 0, 1, 2)
	if class := charset.Classify(behind, true); !class.Text {
		t.Errorf("what lies behind HeadSize was looked at: %+v", class)
	}
}

// TestClassifyFiles has the real thing: images as they are made, programs, sources.
func TestClassifyFiles(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{color.Black, color.White})
	var files [4]bytes.Buffer
	if err := png.Encode(&files[0], picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&files[1], picture, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&files[2], picture, nil); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&files[3])
	if _, err := z.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"image/png", "image/jpeg", "image/gif", "application/gzip"} {
		if class := checkClass(t, files[i].Bytes()); class.Text || class.MediaType != want {
			t.Errorf("%s: %+v", want, class)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if class := checkClass(t, program); class.Text || class.MediaType == "application/octet-stream" {
		t.Errorf("a program: %+v", class)
	}
	source, err := os.ReadFile("classify_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if class := checkClass(t, source); !class.Text || class.Encoding != charset.UTF8 {
		t.Errorf("a source: %+v", class)
	}
	checkCuts(t, source[:charset.HeadSize], 97)
}

// TestClassifyNoise: random bytes are not text, as soon as there are some.
func TestClassifyNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	texts := 0
	for range 1000 {
		noise := make([]byte, 200)
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		if class := checkClass(t, noise); class.Text {
			texts++
		}
		if utf8.Valid(noise) {
			t.Fatal("not noise")
		}
	}
	if texts > 2 {
		t.Errorf("%d of 1000 are text", texts)
	}
}
