// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
)

// naiveDecode decodes all of raw and encodes it again, and says whether that gave
// raw. It knows nothing of byte order marks.
func naiveDecode(raw []byte, e charset.Encoding) (text []byte, ok bool) {
	if e == charset.UTF8 {
		return raw, utf8.Valid(raw)
	}
	how := codec(e)
	text, err := how.NewDecoder().Bytes(raw)
	if err != nil {
		return nil, false
	}
	again, err := how.NewEncoder().Bytes(text)
	if err != nil || !bytes.Equal(standard(again, e), raw) {
		return nil, false
	}
	if !strings.HasPrefix(e.String(), "utf-16") && e.String() != "gb18030" && bytes.ContainsRune(text, utf8.RuneError) {
		return nil, false
	}
	return text, true
}

// standard returns raw, as package x/text writes it, as the WHATWG's standard wants
// it: of the places that a character has in Big5 and in Shift JIS another one.
func standard(raw []byte, e charset.Encoding) []byte {
	if e.String() != "big5" && e.String() != "shift_jis" {
		return raw
	}
	var out []byte
	for len(raw) > 0 {
		if raw[0] < 0x81 || e.String() == "shift_jis" && 0xa0 <= raw[0] && raw[0] < 0xe0 {
			out, raw = append(out, raw[0]), raw[1:]
			continue
		}
		r, err := codec(e).NewDecoder().String(string(raw[:2]))
		if err != nil {
			panic(err)
		}
		places := placesOf(e)[r]
		switch {
		case e.String() == "big5" && strings.Contains("═╞╡╪十卅", r):
			out = append(out, places[len(places)-1]...)
		case len(places) > 0:
			out = append(out, places[0]...)
		default: // of Hong Kong's additions
			out = append(out, raw[:2]...)
		}
		raw = raw[2:]
	}
	return out
}

var places sync.Map

// placesOf returns the places of each character that the standard writes.
func placesOf(e charset.Encoding) map[string][]string {
	if known, ok := places.Load(e); ok {
		return known.(map[string][]string)
	}
	all := make(map[string][]string)
	for lead := 0x81; lead < 0xff; lead++ {
		if e.String() == "big5" && lead < 0xa1 || e.String() == "shift_jis" && (lead == 0xed || lead == 0xee) {
			continue
		}
		for trail := range 256 {
			pair := string([]byte{byte(lead), byte(trail)})
			if r, err := codec(e).NewDecoder().String(pair); err == nil && utf8.RuneCountInString(r) == 1 {
				all[r] = append(all[r], pair)
			}
		}
	}
	places.Store(e, all)
	return all
}

func codec(e charset.Encoding) encoding.Encoding {
	if how, err := ianaindex.IANA.Encoding(e.String()); err == nil && how != nil {
		return how
	}
	how, err := htmlindex.Get(e.String())
	if err != nil {
		panic(err)
	}
	return how
}

// withoutMarks reports whether raw does not begin with what could be a mark.
func withoutMarks(raw []byte) bool {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x84\x31\x95\x33"} {
		if bytes.HasPrefix(raw, []byte(mark)) {
			return false
		}
	}
	return true
}

// checkDecode holds Decode to all it promises of raw, and returns whether it was
// accepted.
func checkDecode(t testing.TB, raw []byte, e charset.Encoding) bool {
	t.Helper()
	before := bytes.Clone(raw)
	document, err := charset.Decode(raw, e)
	if !bytes.Equal(raw, before) {
		t.Fatalf("Decode(% x, %q) changed its input", before, e)
	}
	if !e.IsZero() && e != charset.UTF16 && withoutMarks(raw) {
		want, ok := naiveDecode(raw, e)
		if ok != (err == nil) || ok && !bytes.Equal(document.Text(), want) {
			t.Fatalf("Decode(% x, %q) = %q, %v; want %q, %t", raw, e, document.Text(), err, want, ok)
		}
	}
	if err != nil {
		var refusal *ambit.Error
		if !errors.As(err, &refusal) || refusal.Reason != ambit.ErrNotText || refusal.Detail == "" || refusal.Op != "" || refusal.Path != "" {
			t.Fatalf("Decode(% x, %q): %#v", raw, e, err)
		}
		var offset int
		_, at, found := strings.Cut(refusal.Detail, "offset ")
		if found {
			if _, err := fmt.Sscan(strings.TrimSuffix(at, ":"), &offset); err != nil || offset < 0 || offset > len(raw) {
				t.Fatalf("Decode(% x, %q): %q", raw, e, refusal.Detail)
			}
			if e.String() != "iso-2022-jp" {
				if _, err := charset.Decode(raw[:offset], e); err != nil {
					t.Fatalf("Decode(% x, %q) complains of offset %d, but what is before it is refused: %v", raw, e, offset, err)
				}
			}
			if !strings.Contains(refusal.Detail, document.Encoding().String()) {
				t.Fatalf("%q does not name the encoding", refusal.Detail)
			}
		}
		return false
	}
	text := document.Text()
	if !e.IsZero() && !utf8.Valid(text) {
		t.Fatalf("Decode(% x, %q): %q is not UTF-8", raw, e, text)
	}
	again, err := document.Encode(text)
	if err != nil || !bytes.Equal(again, raw) {
		t.Fatalf("Decode(% x, %q) = %q, which gives % x, %v", raw, e, text, again, err)
	}
	if !bytes.HasPrefix(raw, document.BOM()) {
		t.Fatalf("Decode(% x, %q): mark % x", raw, e, document.BOM())
	}
	return true
}

// TestDecodeEveryPair tries all contents of one and of two bytes, which is all
// there is to know of most encodings.
func TestDecodeEveryPair(t *testing.T) {
	for _, e := range append(encodings(t), charset.Encoding{}) {
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			accepted := 0
			for i := range 1 << 8 {
				if checkDecode(t, []byte{byte(i)}, e) {
					accepted++
				}
			}
			step := 1
			if e != charset.UTF16 && testing.Short() || accepted > 128 && e.String() != "shift_jis" || e == charset.UTF8 || e == charset.UTF16LE || e == charset.UTF16BE {
				step = 51 // bytes mean the same whatever is beside them, or the standard library's tests have more
			}
			for i := 0; i < 1<<16; i += step {
				if checkDecode(t, []byte{byte(i >> 8), byte(i)}, e) {
					accepted++
				}
			}
			if accepted == 0 {
				t.Error("nothing was accepted")
			}
		})
	}
}

// TestDecodeRandom tries longer contents, made of what is valid and cut, joined
// and disturbed.
func TestDecodeRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	accepted, refused := 0, 0
	for _, e := range append(encodings(t), charset.Encoding{}) {
		for range 300 {
			if checkDecode(t, randomContent(random, e, 40), e) {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d contents accepted, %d refused: too few to tell", accepted, refused)
	}
}

const alphabet = "aZ09 ~\\\n\r\t\x00\x1b\x7f\u0080\u0085éßÄñ€œ–’АяΩאبกあアｱ漢字中文龠한글ｶ\u00a5\u203e￣～—‖−\ufeff\ufffd\ufffe𠀀😀\U0010ffff\ue000Ê\u0304"

var alphabets sync.Map // charset.Encoding to []rune

// randomText returns text of up to that many characters, nearly all of which e has.
func randomText(random *rand.Rand, e charset.Encoding, most int) []byte {
	known, ok := alphabets.Load(e)
	if !ok {
		var has []rune
		for _, r := range alphabet {
			if _, err := charset.EncodeText([]byte(string(r)), e); err == nil {
				has = append(has, r)
			}
		}
		known, _ = alphabets.LoadOrStore(e, has)
	}
	var text []byte
	for range random.IntN(most + 1) {
		from := known.([]rune)
		if random.IntN(500) == 0 {
			from = []rune(alphabet)
		}
		text = utf8.AppendRune(text, from[random.IntN(len(from))])
	}
	return text
}

// randomContent returns content that may well be valid in e.
func randomContent(random *rand.Rand, e charset.Encoding, most int) []byte {
	raw, err := charset.EncodeText(randomText(random, e, most), e)
	if err != nil || random.IntN(20) == 0 {
		raw = make([]byte, random.IntN(most+1))
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
	}
	raw = bytes.Clone(raw)
	switch mark := []string{"", "", "", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\x84\x31\x95\x33"}[random.IntN(7)]; random.IntN(4) {
	case 0:
		raw = append([]byte(mark), raw...)
	}
	escapes := []string{"\x1b(B", "\x1b$B", "\x1b(J", "\x1b(I", "\x1b$@", "\x1b$(D"}
	for random.IntN(2) == 0 {
		at := random.IntN(len(raw) + 1)
		switch random.IntN(5) {
		case 0:
			raw = raw[:at]
		case 1:
			raw = raw[at:]
		case 2:
			if at < len(raw) {
				raw[at] = byte(random.Uint32())
			}
		case 3:
			raw = bytes.Join([][]byte{raw[:at], {byte(random.Uint32())}, raw[at:]}, nil)
		case 4:
			if e.String() == "iso-2022-jp" {
				raw = bytes.Join([][]byte{raw[:at], []byte(escapes[random.IntN(len(escapes))]), raw[at:]}, nil)
			}
		}
	}
	return raw
}

// TestDecodeLong has the first offender at every place around the edges of blocks.
func TestDecodeLong(t *testing.T) {
	for _, c := range []struct {
		encoding, character, offender string
	}{
		{"utf-8", "あ", "\xff"},
		{"gbk", "\xd6\xd0", "\xff"},
		{"gb18030", "\x82\x30\x84\x36", "\x80"},
		{"utf-16le", "\x2d\x4e", "\x00\xd8x\x00"},
		{"utf-16be", "\xd8\x40\xdc\x00", "\xdc\x00\x00x"},
		{"iso-2022-jp", "\x1b$B\x24\x22\x1b(Ba", "\x1b(B"},
		{"windows-1252", "\x80", "\x81"},
	} {
		e, err := charset.Lookup(c.encoding)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int{0, 1, 4096, 8192, 16384} {
			for shift := range 9 {
				n := max(0, length/len(c.character)-4+shift)
				good := strings.Repeat(c.character, n)
				raw := []byte(good + c.offender + good)
				_, err := charset.Decode(raw, e)
				want := fmt.Sprintf("offset %d ", len(good))
				if ambit.ReasonOf(err) != ambit.ErrNotText || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %s", e, err, want)
				}
				if !checkDecode(t, []byte(good), e) {
					t.Errorf("%s: %d times %q is refused", e, n, c.character)
				}
			}
		}
	}
}

// TestUTF16 compares with package unicode/utf16, which knows nothing of refusals.
func TestUTF16(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	accepted, refused := 0, 0
	for range 20_000 {
		units := make([]uint16, random.IntN(6))
		for i := range units {
			units[i] = []uint16{'a', '\n', 0, 0x4e2d, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfffd, 0xfeff, 0xffff}[random.IntN(11)]
		}
		var order binary.AppendByteOrder = binary.LittleEndian
		e := charset.UTF16LE
		if random.IntN(2) == 0 {
			order, e = binary.BigEndian, charset.UTF16BE
		}
		var raw []byte
		for _, unit := range units {
			raw = order.AppendUint16(raw, unit)
		}
		marked := len(units) > 0 && units[0] == 0xfeff
		runes := utf16.Decode(units)
		valid := fmt.Sprint(utf16.Encode(runes)) == fmt.Sprint(units)
		if random.IntN(4) == 0 {
			raw, valid = append(raw, 'x'), false
		}
		document, err := charset.Decode(raw, e)
		if valid != (err == nil) {
			t.Fatalf("Decode(% x, %s): %v, want valid: %t", raw, e, err, valid)
		}
		if !valid {
			refused++
			continue
		}
		accepted++
		want := string(runes)
		if marked {
			want = strings.TrimPrefix(want, "\ufeff")
		}
		if string(document.Text()) != want || marked != (len(document.BOM()) == 2) {
			t.Fatalf("Decode(% x, %s) = % x %q, want %q", raw, e, document.BOM(), document.Text(), want)
		}
		written, err := charset.EncodeText([]byte(string(runes)), e)
		if err != nil || !bytes.Equal(written, raw) {
			t.Fatalf("EncodeText(%q, %s) = % x, %v; want % x", string(runes), e, written, err, raw)
		}
		if marked {
			byMark, err := charset.Decode(raw, charset.Encoding{})
			named, err2 := charset.Decode(raw, charset.UTF16)
			if err != nil || err2 != nil || byMark.Encoding() != e || named.Encoding() != e || string(byMark.Text()) != want || string(named.Text()) != want {
				t.Fatalf("Decode(% x): %q %v, %q %v", raw, byMark.Text(), err, named.Text(), err2)
			}
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("%d contents accepted, %d refused: too few to tell", accepted, refused)
	}
}

func TestDecodeMarks(t *testing.T) {
	gb18030, err := charset.Lookup("gb18030")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		raw     string
		e       charset.Encoding
		text    string
		mark    int
		decided charset.Encoding
		refused string
	}{
		{raw: "", decided: charset.Encoding{}},
		{raw: "abc", text: "abc"},
		{raw: "\xef\xbb\xbfhello\n中文\n", text: "hello\n中文\n", mark: 3, decided: charset.UTF8},
		{raw: "\xef\xbb\xbf\xef\xbb\xbfx", text: "\ufeffx", mark: 3, decided: charset.UTF8},
		{raw: "\xef\xbb\xbfstra\xdfe", text: "stra\xdfe", mark: 3, decided: charset.UTF8},
		{raw: "\xef\xbb", text: "\xef\xbb"},
		{raw: "\xff", text: "\xff"},
		{raw: "\xff\xfe", mark: 2, decided: charset.UTF16LE},
		{raw: "\xff\xfea\x00", text: "a", mark: 2, decided: charset.UTF16LE},
		{raw: "\xfe\xff\x00a\xfe\xff", text: "a\ufeff", mark: 2, decided: charset.UTF16BE},
		{raw: "\xff\xfea", refused: "the content is not utf-16le: offset 2 has 0x61"},
		{raw: "\xff\xfea\x00\x00\xdc", refused: "the content is not utf-16le: offset 4 has 0x00"},

		{raw: "", e: charset.UTF8, decided: charset.UTF8},
		{raw: "é", e: charset.UTF8, text: "é", decided: charset.UTF8},
		{raw: "\xef\xbb\xbfé", e: charset.UTF8, text: "é", mark: 3, decided: charset.UTF8},
		{raw: "\xef\xbb\xbf\xe9", e: charset.UTF8, refused: "the content is not utf-8: offset 3 has 0xe9"},
		{raw: "\xed\xa0\x80", e: charset.UTF8, refused: "the content is not utf-8: offset 0 has 0xed"},
		{raw: "a\xc0\x80", e: charset.UTF8, refused: "the content is not utf-8: offset 1 has 0xc0"},
		{raw: "\xff\xfea\x00", e: charset.UTF8, refused: "asked for as utf-8, the content begins with the byte order mark of utf-16le"},

		{raw: "a\x00", e: charset.UTF16LE, text: "a", decided: charset.UTF16LE},
		{raw: "\xff\xfea\x00", e: charset.UTF16LE, text: "a", mark: 2, decided: charset.UTF16LE},
		{raw: "\xfe\xff\x00a", e: charset.UTF16LE, refused: "asked for as utf-16le, the content begins with the byte order mark of utf-16be"},
		{raw: "\xef\xbb\xbfa", e: charset.UTF16LE, refused: "asked for as utf-16le, the content begins with the byte order mark of utf-8"},

		{raw: "", e: charset.UTF16, decided: charset.UTF16},
		{raw: "\xff\xfea\x00", e: charset.UTF16, text: "a", mark: 2, decided: charset.UTF16LE},
		{raw: "\xfe\xff\x00a", e: charset.UTF16, text: "a", mark: 2, decided: charset.UTF16BE},
		{raw: "a\x00", e: charset.UTF16, refused: "the content has no byte order mark that tells the order of utf-16: ask for utf-16le or utf-16be"},
		{raw: "\xff", e: charset.UTF16, refused: "the content has no byte order mark that tells the order of utf-16: ask for utf-16le or utf-16be"},
		{raw: "\xef\xbb\xbfa", e: charset.UTF16, refused: "asked for as utf-16, the content begins with the byte order mark of utf-8"},

		{raw: "\x84\x31\x95\x33\xd6\xd0", e: gb18030, text: "中", mark: 4, decided: gb18030},
		{raw: "\xd6\xd0", e: gb18030, text: "中", decided: gb18030},
	} {
		document, err := charset.Decode([]byte(c.raw), c.e)
		if c.refused != "" {
			var refusal *ambit.Error
			if !errors.As(err, &refusal) || refusal.Reason != ambit.ErrNotText || refusal.Detail != c.refused {
				t.Errorf("Decode(%q, %q): %v, want %q", c.raw, c.e, err, c.refused)
			}
			continue
		}
		if err != nil || string(document.Text()) != c.text || string(document.BOM()) != c.raw[:c.mark] || document.Encoding() != c.decided {
			t.Errorf("Decode(%q, %q) = %q, mark %q, %q, %v", c.raw, c.e, document.Text(), document.BOM(), document.Encoding(), err)
		}
		checkDecode(t, []byte(c.raw), c.e)
	}
}

// TestDecodeUnchanged: nothing is copied that need not be, and nobody can write
// behind the text into it.
func TestDecodeUnchanged(t *testing.T) {
	backing := []byte("caf\xe9\nsecret")
	raw := backing[:5] // with room behind it
	document, err := charset.Decode(raw, charset.Encoding{})
	if err != nil {
		t.Fatal(err)
	}
	text := document.Text()
	if unsafe.SliceData(text) != unsafe.SliceData(raw) {
		t.Error("the text is a copy")
	}
	_ = append(text, "!!"...)
	_ = append(document.BOM(), "!!"...)
	if string(backing) != "caf\xe9\nsecret" {
		t.Errorf("the content is %q now", backing)
	}
}

// TestEdit is what an editor does: cases ENCODING-03, ENCODING-04 and REMOTE-02.
func TestEdit(t *testing.T) {
	replace := func(raw, from, to string, e charset.Encoding) string {
		t.Helper()
		document, err := charset.Decode([]byte(raw), e)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		edited, err := document.Encode(bytes.ReplaceAll(document.Text(), []byte(from), []byte(to)))
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		return string(edited)
	}
	none := charset.Encoding{}
	for _, c := range []struct {
		raw, from, to string
		e             charset.Encoding
		want          string
	}{
		{"\ufeffhello\n中文\n", "hello", "hello2", none, "\ufeffhello2\n中文\n"},
		{"\ufeffhello\n", "hello\n", "", none, "\ufeff"},
		{"n = 1;\n# stra\xdfe\n", "n = 1", "n = 2", none, "n = 2;\n# stra\xdfe\n"},
		{"n = 1 \xd6\xd0\xce\xc4", "n = 1", "n = 2", none, "n = 2 \xd6\xd0\xce\xc4"},
		{"n = 1 \xe3\x81", "n = 1", "n = 2", none, "n = 2 \xe3\x81"},
		{"\x00\xff\x01\x80caf\xe9", "caf", "CAF", none, "\x00\xff\x01\x80CAF\xe9"},
		{"\ufeff\xff1", "1", "2", none, "\ufeff\xff2"},
		{"\xfe\xff\x00a\x00b", "b", "中", none, "\xfe\xff\x00a\x4e\x2d"},
		{"", "", "é", charset.UTF16, "\xff\xfe\xe9\x00"},
	} {
		if got := replace(c.raw, c.from, c.to, c.e); got != c.want {
			t.Errorf("%q: %q, want %q", c.raw, got, c.want)
		}
	}
}
