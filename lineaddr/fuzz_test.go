// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"strings"
	"testing"

	"github.com/ambitfs/ambit/lineaddr"
)

// stretched is the content with a long run in place of each \xfe, so that a
// fuzzer comes to the edges of blocks.
func stretched(content []byte, length uint32) string {
	run := strings.Repeat("x", int(length%300_000))
	if len(content) > 4096 {
		content = content[:4096]
	}
	const most = 3 // runs, to be quick
	return strings.Replace(string(content), "\xfe", run, most)
}

func FuzzSlice(f *testing.F) {
	f.Add([]byte("a\r\nb\xfe\n\nc"), uint32(16<<10), 2, 3, 1, []byte{1, 0, 250}, true)
	f.Add([]byte("\xef\xbb\xbfa\xfe\n\xfe"), uint32(256<<10), 1, 0, 2, []byte{255, 3}, false)
	f.Add([]byte("\n\r\n\r"), uint32(0), 3, 9, 0, []byte{}, false)
	f.Add([]byte(""), uint32(0), 1, 0, 1, []byte{2}, true)
	f.Fuzz(func(t *testing.T, content []byte, length uint32, start, end, n int, sizes []byte, lateEOF bool) {
		checkReading(t, stretched(content, length), lineaddr.Range{Start: start, End: end}, n, sizes, lateEOF)
	})
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("a\r\nb\xfe\n\nc"), uint32(16<<10), 2, 3, 2, []byte{1, 0, 250})
	f.Add([]byte("\xef\xbb\xbfa\xfe\n\xfe\n"), uint32(256<<10), 1, 0, 2, []byte{255, 3})
	f.Add([]byte("\n\r\n\r"), uint32(0), 3, 9, 1, []byte{})
	f.Add([]byte(""), uint32(0), 1, 0, 1, []byte{2})
	f.Fuzz(func(t *testing.T, content []byte, length uint32, start, end, n int, sizes []byte) {
		checkTail(t, stretched(content, length), lineaddr.Range{Start: start, End: end}, n, sizes)
	})
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte("one\r\ntwo\r\nthree"), 2, 3, 3, []byte("x"))
	f.Add([]byte("\xef\xbb\xbfone\n\n"), 1, 1, 0, []byte("\xef\xbb\xbfx\r\ny"))
	f.Add([]byte("a\n\nb\r"), 3, 3, 3, []byte("\r\n"))
	f.Add([]byte("\xef\xbb\xbf"), 1, 0, 1, []byte("x\n"))
	f.Add([]byte(""), 1, 0, 0, []byte("x"))
	f.Fuzz(func(t *testing.T, content []byte, start, end, after int, text []byte) {
		checkSplice(t, string(content), lineaddr.Range{Start: start, End: end}, after, string(text))
	})
}
