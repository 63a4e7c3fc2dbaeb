// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
)

// checkEncode holds EncodeText to all it promises, and returns whether text was
// accepted.
func checkEncode(t testing.TB, text []byte, e charset.Encoding) bool {
	t.Helper()
	before := bytes.Clone(text)
	raw, err := charset.EncodeText(text, e)
	if !bytes.Equal(text, before) {
		t.Fatalf("EncodeText(%q, %q) changed its input", before, e)
	}
	if err != nil {
		var refusal *ambit.Error
		if !errors.As(err, &refusal) || refusal.Reason != ambit.ErrNotText || len(refusal.Lines) != 1 || !strings.Contains(refusal.Detail, e.String()) {
			t.Fatalf("EncodeText(%q, %q): %#v", text, e, err)
		}
		return false
	}
	if e.IsZero() {
		if !bytes.Equal(raw, text) {
			t.Fatalf("EncodeText(%q, %q) = %q", text, e, raw)
		}
		return true
	}
	if !utf8.Valid(text) {
		t.Fatalf("EncodeText(%q, %q) took it", text, e)
	}
	document, err := charset.Decode(raw, e)
	want := text
	if len(document.BOM()) > 0 {
		want = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if err != nil || !bytes.Equal(document.Text(), want) {
		t.Fatalf("EncodeText(%q, %q) = % x, which is %q, %v", text, e, raw, document.Text(), err)
	}
	return true
}

// TestEncodeEveryCharacter: a text is refused for the first character that is
// refused alone, whatever is around it.
func TestEncodeEveryCharacter(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, e := range encodings(t) {
		var good, bad []rune
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if r > 0x200 && random.IntN(2000) > 0 || testing.Short() && r > 0x80 && random.IntN(4) > 0 || !utf8.ValidRune(r) {
				continue
			}
			if checkEncode(t, []byte("a"+string(r)), e) {
				good = append(good, r)
			} else {
				bad = append(bad, r)
			}
		}
		if len(good) < 64 {
			t.Errorf("%s: %d characters can be written", e, len(good))
		}
		for range 50 {
			var text []rune
			for range random.IntN(30) {
				text = append(text, good[random.IntN(len(good))])
			}
			if !checkEncode(t, []byte(string(text)), e) {
				t.Errorf("%s has each character of %q, and not the text", e, string(text))
			}
			if len(bad) == 0 {
				continue
			}
			line := 1
			for _, r := range text {
				if r == '\n' {
					line++
				}
			}
			r := bad[random.IntN(len(bad))]
			all := append(slices.Clone(text), r, '\n', r)
			_, err := charset.EncodeText([]byte(string(all)), e)
			want := fmt.Sprintf("%#U on line %d of the text cannot be written in %s", r, line, e)
			var refusal *ambit.Error
			if !errors.As(err, &refusal) || refusal.Detail != want || !slices.Equal(refusal.Lines, []int{line}) {
				t.Fatalf("EncodeText(%q, %s): %v, want %s", string(all), e, err, want)
			}
		}
	}
}

func TestEncodeText(t *testing.T) {
	lookup := func(name string) charset.Encoding {
		e, err := charset.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []struct {
		text    string
		e       charset.Encoding
		want    string
		refused string
	}{
		{text: "a\xff", want: "a\xff"},
		{text: "a\nb\xff", e: charset.UTF8, refused: "the byte 0xff, which is not UTF-8, on line 2 of the text cannot be written in utf-8"},
		{text: "é", e: charset.UTF8, want: "é"},
		{text: "\ufeffé", e: charset.UTF8, want: "\ufeffé"},
		{text: "", e: charset.UTF16},
		{text: "a", e: charset.UTF16, want: "\xff\xfea\x00"},
		{text: "\ufeffa", e: charset.UTF16, want: "\xff\xfea\x00"},
		{text: "\ufeff", e: charset.UTF16, want: "\xff\xfe"},
		{text: "a", e: charset.UTF16LE, want: "a\x00"},
		{text: "\ufeffa", e: charset.UTF16LE, want: "\xff\xfea\x00"},
		{text: "😀\ufffd", e: charset.UTF16BE, want: "\xd8\x3d\xde\x00\xff\xfd"},
		{text: "\xed\xa0\x80", e: charset.UTF16BE, refused: "the byte 0xed, which is not UTF-8, on line 1 of the text cannot be written in utf-16be"},
		{text: "\ufffea", e: charset.UTF16BE, refused: "U+FFFE on line 1 of the text cannot be written in utf-16be"},
		{text: "a\ufffe", e: charset.UTF16BE, want: "\x00a\xff\xfe"},
		{text: "\ufffea", e: charset.UTF16, want: "\xff\xfe\xfe\xffa\x00"},
		{text: "\ubbef\ua0bf", e: charset.UTF16LE, refused: "U+BBEF '믯' on line 1 of the text cannot be written in utf-16le"},
		{text: "\u0092\u00ff", e: lookup("latin1"), want: "\x92\xff"},
		{text: "’", e: lookup("windows-1252"), want: "\x92"},
		{text: "\n\n’", e: lookup("latin1"), refused: "U+2019 '’' on line 3 of the text cannot be written in iso-8859-1"},
		{text: "a\ufffd", e: lookup("iso-8859-3"), refused: "U+FFFD '�' on line 1 of the text cannot be written in iso-8859-3"},
		{text: "中", e: lookup("gbk"), want: "\xd6\xd0"},
		{text: "あ\nx", e: lookup("iso-2022-jp"), want: "\x1b$B\x24\x22\x1b(B\nx"},
		{text: "あ\x1b(Bx", e: lookup("iso-2022-jp"), refused: "U+001B on line 1 of the text cannot be written in iso-2022-jp"},
	} {
		got, err := charset.EncodeText([]byte(c.text), c.e)
		var refusal *ambit.Error
		if c.refused != "" {
			if !errors.As(err, &refusal) || refusal.Detail != c.refused {
				t.Errorf("EncodeText(%q, %q): %v, want %s", c.text, c.e, err, c.refused)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("EncodeText(%q, %q) = %q, %v; want %q", c.text, c.e, got, err, c.want)
		}
	}
}
