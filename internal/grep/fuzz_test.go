// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"io"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/match"
)

func FuzzSearch(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nab"), "a|b$", uint64(0), uint8(1), uint8(1), uint8(0), uint8(0), uint8(0))
	f.Add([]byte("\ufeffend\r\nnext\r\n"), "^end$", uint64(1), uint8(0), uint8(1), uint8(1), uint8(3), uint8(8))
	f.Add([]byte("\xff\xfee\x00\n\x00d\x00"), "e\nd", uint64(2), uint8(0), uint8(0), uint8(0), uint8(1), uint8(8))
	f.Add([]byte("aé€😀 tail\n"), "tail", uint64(3), uint8(0), uint8(0), uint8(0), uint8(6), uint8(0))
	f.Add([]byte("a\x00\n"), ".", uint64(4), uint8(0), uint8(0), uint8(0), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, content []byte, pattern string, seed uint64, before, after, limit, most, mode uint8) {
		if len(content) > 1<<16 || len(pattern) > 100 {
			return
		}
		q := Query{
			Before: int(before), After: int(after), Limit: int(limit), MaxLineBytes: int(most),
			Mode: ambit.GrepMode(mode % 3), Multiline: mode&8 != 0,
		}
		source := pattern
		if q.Multiline {
			source = "(?m)" + pattern
		}
		expression, err := regexp.Compile(source)
		if err != nil {
			return
		}
		q.Pattern, err = match.Compile(pattern, match.Options{Multiline: q.Multiline})
		if err != nil {
			if ambit.ReasonOf(err) != ambit.ErrBadPattern {
				t.Fatal(err)
			}
			return
		}
		random := rand.New(rand.NewPCG(seed, 1))
		s := newSearcher(q, 1+random.IntN(64))
		s.batch.full.lines, s.batch.full.text = 1+random.IntN(4), 1+random.IntN(50)
		s.limits.context = random.IntN(100)
		got, err := search(s, &fitful{random, content, io.EOF}, -1)
		want := naive("dir/file", content, q, expression, s.limits)
		if want.Reason == ambit.ErrNotText && want.Matches == nil && got.Reason == ambit.ErrNotText {
			return // UTF-16 that is not valid: some of it may have been searched
		}
		if diff := difference(want, got); diff != "" {
			t.Fatalf("%q, query %+v, %v\n%s", pattern, q, err, diff)
		}
	})
}
