// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit/charset"
)

// TestDetect: it agrees with Classify on heads of all kinds, as far as it goes.
func TestDetect(t *testing.T) {
	pieces := []string{
		"a", "b c", "\n", "é", "€", "😀", "\xe2\x82", "\xff", "\xfe", "\xff\xfe", "\xfe\xff", "\xef\xbb\xbf", "\x00", "a\x00", "\x00a", "\x01", "\x7f", "\x1b[0m",
		"%PDF-", "GIF89a", "\x89PNG\r\n\x1a\n", "PK\x03\x04", "BZh91AY&SY", "\x7fELF", "\xd8\x00", "\x00\xd8", "\x1f\x8b\x08", "SQLite format 3", "{}", "<svg/>",
	}
	random := rand.New(rand.NewPCG(1, 2))
	kinds := map[charset.Class]int{}
	for range 20_000 {
		var b bytes.Buffer
		for range random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if random.IntN(50) == 0 {
			b.Write(bytes.Repeat([]byte(pieces[random.IntN(len(pieces))]), charset.HeadSize/2))
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if random.IntN(2) == 0 {
			b.WriteString("text of some length, to be looked at by words")
			at := random.IntN(b.Len())
			b.Bytes()[at] = byte(random.IntN(256))
			if random.IntN(2) == 0 {
				b.WriteString("\xff")
			}
		}
		whole := random.IntN(2) == 0
		want := charset.Classify(b.Bytes(), whole)
		want.MediaType = ""
		if want.Encoding == charset.UTF8 {
			want.Encoding = charset.Encoding{}
		}
		if got := charset.Detect(b.Bytes(), whole); got != want {
			t.Fatalf("%.100q, whole %v: %+v, Classify says %+v", b.Bytes(), whole, got, want)
		}
		kinds[want]++
	}
	if len(kinds) < 6 {
		t.Errorf("only %v", kinds)
	}
}

func BenchmarkDetect(b *testing.B) {
	ascii := bytes.Repeat([]byte("func main() { return }\n"), 1000)
	for name, head := range map[string][]byte{
		"small": ascii[:1000], "ASCII": ascii, "UTF-8": bytes.Repeat([]byte("Größe der Fläche\n"), 1000), "CJK": bytes.Repeat([]byte("中文字符\n"), 1000),
		"Latin-1": bytes.Repeat([]byte("Gr\xf6\xdfe\n"), 2000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(min(len(head), charset.HeadSize)))
			for b.Loop() {
				charset.Detect(head, len(head) <= charset.HeadSize)
			}
		})
	}
}
