// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

func TestParseRange(t *testing.T) {
	for s, want := range map[string]lineaddr.Range{
		"10-20": {Start: 10, End: 20}, "10-": {Start: 10}, "7": {Start: 7, End: 7}, "1-1": {Start: 1, End: 1}, "1-": {Start: 1}, "007": {Start: 7, End: 7},
		fmt.Sprint(math.MaxInt): {Start: math.MaxInt, End: math.MaxInt}, fmt.Sprintf("1-%d", math.MaxInt): {Start: 1, End: math.MaxInt},
	} {
		got, err := lineaddr.ParseRange(s)
		if got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
		if again, err := lineaddr.ParseRange(got.String()); again != want || err != nil {
			t.Errorf("%q: %v comes back as %v, %v", s, got, again, err)
		}
	}
	for _, s := range []string{
		"", "-", "--", "0", "00", "0-", "0-5", "10-0", "10-00", "20-10", "-5", "+7", "7+", "-7-", "1-2-", "1-2-3", "1--2", " 7", "7 ", "7\n", "1 - 2", "1-+2", "1:2",
		"1,2", "7.", "7.0", "1e3", "0x10", "1_000", "٣", "７", "seven", "\x00", "\xff", "10-x", "x-10",
		"9223372036854775808", "1-9223372036854775808", "99999999999999999999999999", strings.Repeat("9", 1<<20), strings.Repeat("-", 1000),
	} {
		got, err := lineaddr.ParseRange(s)
		if !errors.Is(err, ambit.ErrInvalid) || got != (lineaddr.Range{}) {
			t.Errorf("%s: %v, %v; want %s", shown(s), got, err, ambit.ErrInvalid)
		} else if len(err.Error()) > 200 {
			t.Errorf("%s: the message has %d bytes", shown(s), len(err.Error()))
		}
	}
}

func TestCheck(t *testing.T) {
	numbers := []int{math.MinInt, -1, 0, 1, 2, 3, math.MaxInt - 1, math.MaxInt}
	for _, start := range numbers {
		for _, end := range numbers {
			rng := lineaddr.Range{Start: start, End: end}
			want := naiveSlice("a\n", rng).reason == ambit.ErrInvalid
			if err := rng.Check(); errors.Is(err, ambit.ErrInvalid) != want || (err != nil) != want {
				t.Errorf("{%d, %d}: %v", start, end, err)
			}
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"", "7", "10-20", "10-", "0", "-1", "1-0", "007-8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rng, err := lineaddr.ParseRange(s)
		if err != nil {
			if !errors.Is(err, ambit.ErrInvalid) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if err := rng.Check(); err != nil {
			t.Errorf("%q: %v, which is refused: %v", s, rng, err)
		}
		// What a range is written as, leading zeros aside, is what it was read from.
		var plain []string
		for part := range strings.SplitSeq(s, "-") {
			if n, err := strconv.Atoi(part); err == nil {
				part = strconv.Itoa(n)
			}
			plain = append(plain, part)
		}
		if len(plain) == 2 && plain[0] == plain[1] {
			plain = plain[:1]
		}
		if want := strings.Join(plain, "-"); rng.String() != want {
			t.Errorf("%q: %s, want %s", s, rng, want)
		}
	})
}
