// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
)

const bom = "\ufeff"

// places is the naive search: at each byte it compares what follows.
func places(content, old string) (all [][2]int64) {
	all = [][2]int64{}
	for start := range len(content) {
		if end, ok := matchAt(content, old, start); ok {
			all = append(all, [2]int64{int64(start), int64(end)})
		}
	}
	return all
}

func matchAt(content, old string, start int) (end int, ok bool) {
	if strings.Contains(old, "\r\n") || !strings.Contains(old, "\n") {
		return start + len(old), strings.HasPrefix(content[start:], old)
	}
	if start > 0 && content[start] == '\n' && content[start-1] == '\r' {
		return 0, false // in the middle of an ending
	}
	at := start
	for i := range len(old) {
		switch {
		case strings.HasPrefix(content[at:], old[i:i+1]):
			at++
		case old[i] == '\n' && strings.HasPrefix(content[at:], "\r\n"):
			at += 2
		default:
			return 0, false
		}
	}
	return at, true
}

// model makes ops on the content in the naive way: of newlines it knows LF, so
// that its results are right up to the CRs of endings.
func model(content string, ops []edit.Op) (string, ambit.Reason) {
	head, hasBOM := "", strings.HasPrefix(content, bom)
	if hasBOM {
		head, content = bom, content[len(bom):]
	}
	unterminated := content != "" && !strings.HasSuffix(content, "\n")
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	whole := content
	if unterminated {
		whole += "\n"
	}
	offset := func(lines_ int) int { // behind so many lines
		n := 0
		for i := range lines_ {
			n += len(lines[i])
		}
		if unterminated && lines_ == len(lines) {
			n++
		}
		return n
	}
	type change struct {
		start, end int
		text       string
		whole      bool
	}
	var changes []change
	atEnd := false
	terminate := func(text string) string {
		if text == "" || strings.HasSuffix(text, "\n") || content == "" {
			return text
		}
		if strings.HasSuffix(text, "\r") {
			text += contentCR
		}
		return text + "\n"
	}
	var reason ambit.Reason
	fail := func(r ambit.Reason) {
		if reason == "" {
			reason = r
		}
	}
	for _, op := range ops {
		switch op := op.(type) {
		case edit.Replace:
			found := places(content, op.Old)
			switch {
			case len(found) == 0:
				fail(ambit.ErrNoMatch)
			case op.All:
				end := int64(0)
				for _, p := range found {
					if p[0] >= end {
						changes = append(changes, change{int(p[0]), int(p[1]), op.New, false})
						end = p[1]
					}
				}
				continue
			case op.Occurrence > len(found):
				fail(ambit.ErrNoMatch)
			case op.Occurrence > 0:
				p := found[op.Occurrence-1]
				changes = append(changes, change{int(p[0]), int(p[1]), op.New, false})
			case len(found) > 1:
				fail(ambit.ErrAmbiguous)
			default:
				changes = append(changes, change{int(found[0][0]), int(found[0][1]), op.New, false})
			}
		case edit.Rewrite:
			if hasBOM && content == "" && op.Range.End == 1 {
				op.Range.End = 0
			}
			first, last := op.Range.Start, op.Range.End
			if last == 0 {
				last = len(lines)
			}
			if (first > len(lines) || last > len(lines)) && !(content == "" && op.Range == lineaddr.Range{Start: 1}) {
				fail(ambit.ErrOutOfRange)
				continue
			}
			text := op.Text
			if hasBOM && first == 1 {
				text = strings.TrimPrefix(text, bom)
			}
			atEnd = atEnd || last == len(lines)
			changes = append(changes, change{offset(first - 1), offset(last), terminate(text), true})
		case edit.Insert:
			if hasBOM && content == "" && op.After == 1 {
				op.After = 0
			}
			if op.After > len(lines) {
				fail(ambit.ErrOutOfRange)
				continue
			}
			text := op.Text
			if hasBOM && op.After == 0 {
				text = strings.TrimPrefix(text, bom)
			}
			atEnd = atEnd || op.After == len(lines)
			text = terminate(text)
			if content == "" && text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			changes = append(changes, change{offset(op.After), offset(op.After), text, true})
		}
	}
	if reason != "" {
		return "", reason
	}
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	var b strings.Builder
	at := 0
	for _, c := range changes {
		if c.start < at {
			return "", ambit.ErrInvalid
		}
		kept := whole[at:c.start]
		if c.whole && unterminated && c.start == len(whole) && at == len(content) && (b.Len() == 0 || strings.HasSuffix(b.String(), "\n")) {
			kept = "" // a Replace has given the last line its newline
		}
		b.WriteString(kept)
		if c.whole && c.text != "" && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			return "", ambit.ErrInvalid
		}
		b.WriteString(c.text)
		at = c.end
	}
	b.WriteString(whole[at:])
	result := b.String()
	if unterminated && !atEnd {
		result = strings.TrimSuffix(result, "\n")
	} else if unterminated {
		stripped := withoutEnding(result)
		if stripped != "" && !strings.HasSuffix(stripped, "\n") {
			result = stripped
		}
	}
	return head + strings.ReplaceAll(result, contentCR, ""), ""
}

// contentCR stands behind a CR that is content, before an LF.
const contentCR = "\x00content\x00"

func withoutEnding(text string) string {
	if text, ok := strings.CutSuffix(text, contentCR+"\n"); ok {
		return text
	}
	text, ok := strings.CutSuffix(text, "\n")
	if ok {
		text = strings.TrimSuffix(text, "\r")
	}
	return text
}

// alphabets are the letters of random texts: few, so that much occurs several
// times.
var alphabets = []string{"a\n", "ab\n", "ab\r\n", "abc \n\n", "aaab", "\r\n", "a\u00e9\n"}

func randomText(r *rand.Rand, alphabet string, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// randomCase returns a content and ops that may fit it.
func randomCase(r *rand.Rand) (string, []edit.Op) {
	alphabet := alphabets[r.IntN(len(alphabets))]
	content := randomText(r, alphabet, 24)
	letters := alphabet
	switch r.IntN(4) {
	case 0:
		content = strings.ReplaceAll(strings.ReplaceAll(content, "\r", ""), "\n", "\r\n")
		letters = strings.ReplaceAll(letters, "\r", "")
	case 1:
		content = bom + content
	}
	old := func() string {
		if r.IntN(3) == 0 || content == "" {
			return randomText(r, letters, 3)
		}
		text := strings.TrimPrefix(content, bom)
		if text == "" {
			return "a"
		}
		start := r.IntN(len(text))
		cut := text[start : start+r.IntN(min(6, len(text)-start)+1)]
		if r.IntN(2) == 0 {
			cut = strings.ReplaceAll(cut, "\r\n", "\n")
		}
		return cut
	}
	var ops []edit.Op
	for range 1 + r.IntN(3) {
		switch r.IntN(4) {
		case 0:
			start := 1 + r.IntN(4)
			ops = append(ops, edit.Rewrite{Range: lineaddr.Range{Start: start, End: []int{0, start, start + r.IntN(3)}[r.IntN(3)]}, Text: randomText(r, letters, 5)})
		case 1:
			ops = append(ops, edit.Insert{After: r.IntN(5), Text: "c" + randomText(r, letters, 4)})
		default:
			op := edit.Replace{Old: old(), New: randomText(r, letters, 4)}
			switch r.IntN(4) {
			case 0:
				op.All = true
			case 1:
				op.Occurrence = r.IntN(4)
			}
			ops = append(ops, op)
		}
	}
	return content, ops
}

// foreign reports that the content goes beyond ASCII and has no character in UTF-8,
// while an op would add one.
func foreign(content string, ops []edit.Op) bool {
	stray := false
	for i, r := range content {
		if _, n := utf8.DecodeRuneInString(content[i:]); r == utf8.RuneError && n == 1 {
			stray = true
		} else if r >= utf8.RuneSelf {
			return false
		}
	}
	for _, op := range ops {
		var text string
		switch op := op.(type) {
		case edit.Replace:
			text = op.New
		case edit.Rewrite:
			text = op.Text
		case edit.Insert:
			text = op.Text
		}
		if len(text) > utf8.RuneCountInString(text) && utf8.ValidString(text) {
			return stray
		}
	}
	return false
}

func withoutCR(s string) string { return strings.ReplaceAll(s, "\r", "") }

// checkModel compares what Apply and Stream do with what the model does.
func checkModel(t *testing.T, content string, ops []edit.Op) {
	t.Helper()
	for _, op := range ops {
		if r, ok := op.(edit.Replace); ok && (r.Old == "" || r.Old == r.New) {
			if _, err := edit.Apply([]byte(content), ops, nil); ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Fatalf("Apply(%q, %+v): %v, want invalid", content, ops, err)
			}
			return
		}
	}
	want, reason := model(content, ops)
	if reason == "" && foreign(content, ops) {
		reason = ambit.ErrNotText
	}
	original := []byte(content)
	got, err := edit.Apply(original, ops, nil)
	if string(original) != content {
		t.Fatalf("Apply(%q, %+v) has changed its argument to %q", content, ops, original)
	}
	if ambit.ReasonOf(err) != reason {
		t.Fatalf("Apply(%q, %+v): %v (content %q), want reason %q (content %q)", content, ops, err, got.Content, reason, want)
	}
	for _, window := range []int{1, 7, 64} {
		streamed, streamErr := edit.Stream(original, ops, nil, window)
		if ambit.ReasonOf(streamErr) != reason || reason == "" && !gocmp.Equal(streamed, got) || reason != "" && streamErr.Error() != err.Error() {
			t.Fatalf("Stream(%q, %+v) by %d bytes: %+v, %v\nApply: %+v, %v", content, ops, window, streamed, streamErr, got, err)
		}
	}
	if reason != "" {
		return
	}
	has := string(got.Content)
	if withoutCR(has) != withoutCR(want) {
		t.Fatalf("Apply(%q, %+v) = %q, want %q", content, ops, has, want)
	}
	texts := ""
	for _, op := range ops {
		switch op := op.(type) {
		case edit.Replace:
			texts += op.Old + op.New
		case edit.Rewrite:
			texts += op.Text
		case edit.Insert:
			texts += op.Text
		}
	}
	bare := withoutCR(content)
	switch {
	case strings.Contains(texts, "\r"):
	case content == bare && has != want:
		t.Fatalf("Apply(%q, %+v) = %q, want %q", content, ops, has, want)
	case strings.Contains(content, "\n") && content == strings.ReplaceAll(bare, "\n", "\r\n") && has != strings.ReplaceAll(withoutCR(want), "\n", "\r\n"):
		t.Fatalf("Apply(%q, %+v) = %q, which does not keep to CRLF", content, ops, has)
	}
	checkDiff(t, content, has, got)
}

func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	done := 0
	for range n {
		content, ops := randomCase(r)
		checkModel(t, content, ops)
		if _, reason := model(content, ops); reason == "" {
			done++
		}
	}
	if done < n/10 {
		t.Errorf("%d of %d edits were made: the test proves little", done, n)
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), "b", "x", uint8(0), uint8(1))
	f.Add([]byte("\ufeffa\r\nb"), "a\nb", "x\ny\n", uint8(1), uint8(0))
	f.Add([]byte("aaaa"), "aa", "", uint8(2), uint8(2))
	f.Add([]byte("a\xff\n\n"), "\n", "\r\n", uint8(3), uint8(3))
	f.Fuzz(func(t *testing.T, content []byte, old, text string, kind, n uint8) {
		if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) || strings.HasPrefix(old, bom) || strings.HasPrefix(text, bom) || len(old) > 1<<10 || len(content) > 1<<12 {
			t.Skip("the model knows no UTF-16 and no byte order mark in an op, and takes too long for long texts: TestApply and TestEncodedFile have these")
		}
		var ops []edit.Op
		if kind&1 == 0 {
			ops = append(ops, edit.Replace{Old: old, New: text, All: kind&2 != 0, Occurrence: int(n) * int(kind>>1&1^1)})
		}
		if kind&4 != 0 {
			ops = append(ops, edit.Rewrite{Range: lineaddr.Range{Start: int(n%8) + 1, End: int(n%8) + 1 + int(kind>>4)}, Text: text})
		}
		if kind&8 != 0 || len(ops) == 0 {
			ops = append(ops, edit.Insert{After: int(n / 8), Text: text + "."})
		}
		checkModel(t, string(content), ops)
	})
}

// checkDiff checks that the diff of a result, applied naively, and the lines of
// its edits agree with the two contents.
func checkDiff(t *testing.T, before, after string, r edit.Result) {
	t.Helper()
	if (r.Diff == "") != (before == after) {
		t.Fatalf("of %q and %q the diff is %q", before, after, r.Diff)
	}
	if got := patched(t, before, r.Diff); got != after {
		t.Fatalf("of %q and %q the diff is\n%s\nwhich leads to %q", before, after, r.Diff, got)
	}
}

// patched applies a unified diff, by its line numbers alone. The byte order mark
// is not in the diff's texts.
func patched(t *testing.T, before, diff string) string {
	t.Helper()
	head := ""
	if strings.HasPrefix(before, bom) {
		head, before = bom, before[len(bom):]
	}
	lines := strings.SplitAfter(before, "\n")
	var b strings.Builder
	b.WriteString(head)
	at := 0
	all := strings.SplitAfter(diff, "\n")
	for i, line := range all {
		if i < 2 || line == "" || strings.HasPrefix(line, `\ `) {
			continue
		}
		text := line[1:]
		if i+1 < len(all) && strings.HasPrefix(all[i+1], `\ `) {
			text = strings.TrimSuffix(text, "\n")
		}
		switch line[0] {
		case '@':
			start, count := 0, 1
			from, _, _ := strings.Cut(strings.TrimPrefix(line, "@@ -"), " ")
			for j, part := range strings.Split(from, ",") {
				n := 0
				for _, c := range part {
					n = n*10 + int(c-'0')
				}
				if j == 0 {
					start = n
				} else {
					count = n
				}
			}
			if count == 0 {
				start++
			}
			for ; at < start-1; at++ {
				b.WriteString(lines[at])
			}
		case ' ', '-':
			if at >= len(lines) || lines[at] != text {
				t.Fatalf("the diff\n%s\ndoes not fit %q at line %d", diff, before, at+1)
			}
			if line[0] == ' ' {
				b.WriteString(text)
			}
			at++
		case '+':
			b.WriteString(text)
		}
	}
	for ; at < len(lines); at++ {
		b.WriteString(lines[at])
	}
	return b.String()
}

// TestPlaces compares the search for one and for many texts at once with the
// naive one.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n := 3000
	if testing.Short() {
		n = 500
	}
	for range n {
		alphabet := alphabets[r.IntN(len(alphabets))]
		content := randomText(r, alphabet, 60)
		var olds []string
		for range 1 + r.IntN(9) {
			if old := randomText(r, alphabet, 5); old != "" {
				olds = append(olds, old)
			}
		}
		window := 1 + r.IntN(30)
		got, err := edit.Places([]byte(content), olds, window)
		if err != nil {
			t.Fatal(err)
		}
		for i, old := range olds {
			if want := places(content, old); !gocmp.Equal(got[i], want) {
				t.Fatalf("places of %q (among %q, by %d bytes) in %q: %v, want %v", old, olds, window, content, got[i], want)
			}
		}
	}
}
