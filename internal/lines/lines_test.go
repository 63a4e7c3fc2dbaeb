// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lines_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit/internal/lines"
)

// TestAgainstSplit compares with the naive way, on random texts of few letters.
func TestAgainstSplit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := make([]byte, random.IntN(12))
		for i := range text {
			text[i] = "a\r\n\n\v\u0085"[random.IntN(7)]
		}
		want := strings.SplitAfter(string(text), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		got := []string{}
		for _, line := range lines.Split(text) {
			got = append(got, string(line))
		}
		if !cmp.Equal(got, want) {
			t.Fatalf("lines of %q: %q, want %q", text, got, want)
		}
		if n := lines.Count(text); n != len(want) {
			t.Fatalf("%q has %d lines, want %d", text, n, len(want))
		}
		for n := range len(want) + 2 {
			offset, skipped := lines.Skip(text, n)
			first := min(n, len(want))
			if skipped != first || string(text[:offset]) != strings.Join(want[:first], "") {
				t.Fatalf("Skip of %d lines of %q: offset %d of %d lines", n, text, offset, skipped)
			}
		}
	}
}

func TestEnding(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "a": "", "\r": "", "a\r": "", "\n": "\n", "a\n": "\n", "\r\n": "\r\n", "a\r\r\n": "\r\n", "a\n\r": "", "\u2028": "",
	} {
		if got := lines.Ending(line); got != want {
			t.Errorf("Ending(%q) = %q, want %q", line, got, want)
		}
		if got := lines.Ending([]byte(line)); got != want {
			t.Errorf("Ending of the bytes %q = %q, want %q", line, got, want)
		}
	}
}

// TestEndingAt: | marks the lines that are replaced.
func TestEndingAt(t *testing.T) {
	for text, want := range map[string]string{
		"||": "\n", "|a|": "\n", "a\r\n|b|": "\r\n", "a\n|b\r\n|c\n": "\r\n", "|a\nb\r\n|": "\r\n", "|a\r\nb|": "\r\n", "a\n|b\r\nc|": "\r\n",
		"||a\r\n": "\r\n", "a\n||b\r\n": "\n", "a\r\n||b\n": "\r\n", "||a": "\n", "a\r\n|b\nc|": "\n",
	} {
		start := strings.IndexByte(text, '|')
		end := strings.LastIndexByte(text, '|') - 1
		content := bytes.ReplaceAll([]byte(text), []byte("|"), nil)
		if got := lines.EndingAt(content, start, end); got != want {
			t.Errorf("EndingAt(%q) = %q, want %q", text, got, want)
		}
	}
}
