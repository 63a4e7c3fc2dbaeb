// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit/lineaddr"
)

// checkSplice compares Splice and Insert with the oracle.
func checkSplice(t *testing.T, content string, rng lineaddr.Range, after int, text string) {
	t.Helper()
	for _, call := range []struct {
		name string
		do   func(content, text []byte) ([]byte, error)
		want result
	}{
		{"Splice " + rng.String(), func(content, text []byte) ([]byte, error) {
			return lineaddr.Splice(content, rng, text)
		}, naiveSpliceRange(content, rng, text)},
		{"Insert", func(content, text []byte) ([]byte, error) {
			return lineaddr.Insert(content, after, text)
		}, naiveInsert(content, after, text)},
	} {
		// With room behind both, an append to one of them would be seen.
		givenContent := append(make([]byte, 0, len(content)+8), content...)
		givenText := append(make([]byte, 0, len(text)+8), text...)
		got, err := call.do(givenContent, givenText)
		if err == nil && got == nil {
			t.Fatalf("%s of %s: nil", call.name, shown(content))
		}
		if string(givenContent) != content || string(givenText) != text {
			t.Fatalf("%s of %s with %s changes them to %s and %s", call.name, shown(content), shown(text), shown(string(givenContent)), shown(string(givenText)))
		}
		for _, given := range [][]byte{givenContent, givenText} {
			if behind := string(given[len(given):cap(given)]); behind != string(make([]byte, len(behind))) {
				t.Fatalf("%s of %s with %s writes behind them", call.name, shown(content), shown(text))
			}
			scribble(given)
		}
		answer := resultOf(lineaddr.Window{}, err)
		answer.text = string(got)
		if answer != call.want {
			t.Fatalf("%s of %s with %s, after %d: %v\nwant %v", call.name, shown(content), shown(text), after, answer, call.want)
		}
	}

	// A range that is replaced by its own text is what it was.
	if own := naiveSlice(content, rng); own.reason == "" && rng.End <= len(naiveLines(content)) {
		got, err := lineaddr.Splice([]byte(content), rng, []byte(own.text))
		if string(got) != content || err != nil {
			t.Fatalf("lines %v of %s replaced by themselves: %s, %v", rng, shown(content), shown(string(got)), err)
		}
	}
}

func TestSpliceAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range rounds(40_000) {
		content := randomContent(random)
		if len(content) > 1000 && random.IntN(20) > 0 {
			continue
		}
		lines := len(naiveLines(content))
		text := randomContent(random)
		if len(text) > 1000 {
			text = text[:1000]
		}
		checkSplice(t, content, randomRange(random, lines), random.IntN(lines+4)-1, text)
	}
}

// TestSpliceEnds has what the rule of the final newline comes to, by example.
func TestSpliceEnds(t *testing.T) {
	for _, c := range []struct {
		content    string
		start, end int
		text, want string
	}{
		{"a\nb", 1, 1, "x", "x\nb"},
		{"a\nb", 2, 2, "x", "a\nx"},
		{"a\nb", 2, 2, "x\n", "a\nx"},
		{"a\nb", 2, 2, "x\r\n", "a\nx"},
		{"a\nb", 2, 2, "x\ny", "a\nx\ny"},
		{"a\r\nb", 1, 2, "x\ny", "x\ny"},
		{"a\r\nb\n", 1, 1, "x\ny", "x\ny\r\nb\n"},
		{"a\nb", 2, 2, "", "a"},
		{"a\r\nb", 2, 2, "", "a"},
		{"a\nb", 1, 1, "", "b"},
		{"a\nb\n", 2, 2, "", "a\n"},
		{"a", 1, 1, "", ""},
		{"a\n\nb", 3, 3, "", "a\n\n"}, // the lines "a" and "": without its newline the second were none
		{"\r\nb", 2, 2, "", "\r\n"},
		{"a\nb", 2, 2, "\n", "a\n\n"},
		{"a", 1, 1, "\n", "\n"},
		{"a\nb\r", 2, 2, "b\r", "a\nb\r"}, // a lone CR is content
		{"", 1, 0, "x", "x"},
		{"", 1, 0, "x\n", "x\n"},
		{"", 1, 0, "", ""},
		{mark, 1, 0, "x\n", mark + "x\n"},
		{mark, 1, 1, mark, mark},
		{mark + "a\n", 1, 1, "x", mark + "x\n"},
		{mark + "a\n", 1, 1, mark + "x", mark + "x\n"},
		{mark + "a\n", 1, 0, "", mark},
		{mark + "a\nb\n", 2, 2, mark + "x", mark + "a\n" + mark + "x\n"},
		{"a\n", 1, 1, mark + "x", mark + "x\n"},
	} {
		got, err := lineaddr.Splice([]byte(c.content), lineaddr.Range{Start: c.start, End: c.end}, []byte(c.text))
		if string(got) != c.want || err != nil {
			t.Errorf("Splice %q %d-%d %q: %q, %v; want %q", c.content, c.start, c.end, c.text, got, err, c.want)
		}
	}
	for _, c := range []struct {
		content    string
		after      int
		text, want string
	}{
		{"a\nb\n", 0, "x", "x\na\nb\n"},
		{"a\nb\n", 1, "x", "a\nx\nb\n"},
		{"a\nb\n", 2, "x", "a\nb\nx\n"},
		{"a\r\nb", 2, "x", "a\r\nb\r\nx"},
		{"a\r\nb", 2, "x\n", "a\r\nb\r\nx"},
		{"b", 0, "x", "x\nb"},
		{"b", 1, "x", "b\nx"},
		{"b", 1, "\n", "b\n\n"},
		{"b", 1, "", "b"},
		{"", 0, "x", "x\n"},
		{"", 0, "x\r\n", "x\r\n"},
		{"", 0, "", ""},
		{mark + "a\r\n", 0, "x", mark + "x\r\na\r\n"},
		{mark + "a\r\n", 0, mark + "x", mark + "x\r\na\r\n"},
		{mark + "a\r\n", 0, mark, mark + "a\r\n"},
		{mark, 0, "x", mark + "x\n"},
		{mark, 1, mark + "x", mark + "x\n"},
	} {
		got, err := lineaddr.Insert([]byte(c.content), c.after, []byte(c.text))
		if string(got) != c.want || err != nil {
			t.Errorf("Insert %q after %d %q: %q, %v; want %q", c.content, c.after, c.text, got, err, c.want)
		}
	}
}
