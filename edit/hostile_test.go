// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/memory"
)

// TestHostileMaxBytes: the largest limit there is limits nothing.
func TestHostileMaxBytes(t *testing.T) {
	for _, op := range []edit.Op{
		edit.Insert{After: 0, Text: "new"},
		edit.Rewrite{Range: lineaddr.Range{Start: 1}, Text: "new"},
		edit.Replace{Old: "a", New: "c"},
	} {
		ctx := context.Background()
		fsys := memory.New(map[string]string{"x": "a\nb\n"}, nil)
		want, err := edit.Apply([]byte("a\nb\n"), []edit.Op{op}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = edit.File(ctx, fsys, "x", []edit.Op{op}, &edit.Options{MaxBytes: math.MaxInt64})
		got, _, readErr := ambit.ReadFile(ctx, fsys, "x")
		if err != nil || readErr != nil || string(got) != string(want.Content) {
			t.Errorf("%+v: the file is %q, %v; want %q", op, got, err, want.Content)
		}
	}
}

// TestHostileAllInOneLine: the time for many places in one long line grows with
// the line, not with its square.
func TestHostileAllInOneLine(t *testing.T) {
	fsys := memory.New(map[string]string{"x": strings.Repeat("a", 1<<20)}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := edit.File(ctx, fsys, "x", []edit.Op{edit.Replace{Old: "a", New: "b", All: true}}, nil)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("1 MiB: %v after a deadline of 100ms (%v)", took, err)
	}
}

// TestHostileContextWhileSearching: the context is looked at also between many
// places of many ops in one window.
func TestHostileContextWhileSearching(t *testing.T) {
	var ops []edit.Op
	for i := range 4000 {
		ops = append(ops, edit.Replace{Old: strings.Repeat("a", i+1), New: "b"})
	}
	fsys := memory.New(map[string]string{"x": strings.Repeat("a", 256<<10)}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := edit.File(ctx, fsys, "x", ops, nil)
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("4000 ops on 256 KiB: %v after a deadline of 100ms (%s)", took, ambit.ReasonOf(err))
	}
}

// TestHostileTolerantTakesBytes: an Old that begins or ends within a character
// takes no byte with it that it has not.
func TestHostileTolerantTakesBytes(t *testing.T) {
	for _, test := range []struct{ content, old string }{
		{"\u00e9\"x\n", "\xa9\u201cx"}, // the byte C3 is not in Old
		{"x\u201c\u00e9\n", "x\"\xc3"}, // the byte A9 is not in Old
	} {
		r, err := edit.Apply([]byte(test.content), []edit.Op{edit.Replace{Old: test.old, New: "N"}}, &edit.Options{Match: edit.Tolerant})
		if ambit.ReasonOf(err) == ambit.ErrNoMatch {
			continue
		}
		if string(r.Content) == "N\n" {
			t.Errorf("%q, Old %q: becomes %q: a byte is gone that no op names", test.content, test.old, r.Content)
		}
	}
}

// TestHostileFinalNewline: a file without a final newline gets none where the last
// line is removed by number and a Replace stands right before it.
func TestHostileFinalNewline(t *testing.T) {
	for _, test := range []struct {
		content string
		ops     []edit.Op
		want    string
	}{
		{"ab\nc", []edit.Op{edit.Replace{Old: "b\n", New: "\n"}, edit.Rewrite{Range: lineaddr.Range{Start: 2, End: 2}}}, "a"},
		{"ab\r\nc", []edit.Op{edit.Replace{Old: "b\r", New: "x\r"}, edit.Rewrite{Range: lineaddr.Range{Start: 2, End: 2}}}, "ax"},
	} {
		r, err := edit.Apply([]byte(test.content), test.ops, nil)
		if err != nil || string(r.Content) != test.want {
			t.Errorf("%q: %q, %v; want %q", test.content, r.Content, err, test.want)
		}
	}
}

// TestHostileWholeLines: text that is whole lines is not glued to what another op
// leaves before it, and has no empty line before it where that op has ended the
// last line.
func TestHostileWholeLines(t *testing.T) {
	for _, test := range []struct {
		content string
		ops     []edit.Op
		want    string // "": a refusal
	}{
		{"a\nb\n", []edit.Op{edit.Replace{Old: "a\n", New: "x"}, edit.Insert{After: 1, Text: "new"}}, ""},
		{"a\nb\n", []edit.Op{edit.Replace{Old: "a\n", New: "x"}, edit.Rewrite{Range: lineaddr.Range{Start: 2, End: 2}, Text: "new"}}, ""},
		{"a\nb", []edit.Op{edit.Replace{Old: "b", New: "b\n"}, edit.Insert{After: 2, Text: "c"}}, "a\nb\nc"},
	} {
		r, err := edit.Apply([]byte(test.content), test.ops, nil)
		switch {
		case test.want == "" && err == nil:
			t.Errorf("%q: %q, where the new text is no whole line; edits %+v", test.content, r.Content, r.Edits)
		case test.want != "" && string(r.Content) != test.want:
			t.Errorf("%q: %q, %v; want %q", test.content, r.Content, err, test.want)
		}
	}
}

// TestHostileManyMisses: help for many texts that are not there does not take many
// times as long as for one.
func TestHostileManyMisses(t *testing.T) {
	content := []byte(strings.Repeat("some line of a file, in which nothing is found\n", 20_000))
	took := func(n int) time.Duration {
		var ops []edit.Op
		for range n {
			ops = append(ops, edit.Replace{Old: "Some lime of a file in which", New: "x"})
		}
		start := time.Now()
		if _, err := edit.Apply(content, ops, nil); ambit.ReasonOf(err) != ambit.ErrNoMatch {
			t.Errorf("%v, want no-match", err)
		}
		return time.Since(start)
	}
	if one, many := took(1), took(300); many > 60*one {
		t.Errorf("300 misses take %v, one %v", many, one)
	}
}
