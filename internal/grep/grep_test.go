// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/match"
)

// search collects what a searcher emits.
func search(s *Searcher, r io.Reader, size int64) (answer, error) {
	var a answer
	result, err := s.Search("dir/file", r, size, func(batch []ambit.GrepMatch) bool {
		if len(batch) == 0 {
			panic("an empty batch")
		}
		a.Matches = append(a.Matches, batch...)
		return true
	})
	a.Result, a.Reason = result, ambit.ReasonOf(err)
	return a, err
}

// difference is cmp.Diff, made fast for what is equal.
func difference[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got) + "."
}

func compile(t testing.TB, pattern string, o match.Options) *match.Pattern {
	t.Helper()
	p, err := match.Compile(pattern, o)
	if err != nil {
		t.Fatalf("pattern %q: %v", pattern, err)
	}
	return p
}

// A fitful reader gives what it has in pieces of all sizes, nothing now and then,
// and its error with the last of it or behind.
type fitful struct {
	random *rand.Rand
	rest   []byte
	err    error
}

func (f *fitful) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		return 0, f.err
	}
	n := min(len(p), len(f.rest))
	switch f.random.IntN(8) {
	case 0:
		return 0, nil
	case 1:
		n = min(n, 1)
	case 2, 3, 4:
		n = f.random.IntN(n + 1)
	}
	copy(p, f.rest[:n])
	f.rest = f.rest[n:]
	if len(f.rest) == 0 && f.random.IntN(2) == 0 {
		return n, f.err
	}
	return n, nil
}

var errBroken = errors.New("the disk has a hole")

var patterns = []string{
	"a", "ab", "b+", "^", "$", "^$", "a*", ".", "é", "a.*b", "x", "^a", "b$", `\bab\b`, "a|b", "[^a]", "€€", `\x00`, "zzz", `\r`,
}

var textPatterns = []string{
	"a", "a\nb", "\n", "\n\n", "^", "$", "^$", "a*", "(?s)a.*?b", `b\n+a`, `\na`, `a\n`, `\s+`, `\z`, `\A`, "é\n", `a[^b]*b`, `\x00\n`, "zzz",
}

// randomContent is made of few letters, so that all kinds of lines occur.
func randomContent(random *rand.Rand) []byte {
	letters := []string{"a", "b", "ab", "\n", "\n", "\r\n", "\r", "é", "€", "😀", "\xff", "\xe2\x82", " ", "\ufeff"}
	if random.IntN(3) == 0 {
		letters = append(letters, "\x00")
	}
	if random.IntN(3) == 0 {
		letters = append(letters, strings.Repeat("ab€", random.IntN(200)))
	}
	var b bytes.Buffer
	n := random.IntN(60)
	if random.IntN(4) == 0 {
		// What is not text shall not be in the head.
		b.WriteString(strings.Repeat("ab\nxé\r\n\n", 1100))
		n *= 5
	}
	for range n {
		b.WriteString(letters[random.IntN(len(letters))])
	}
	content := b.Bytes()
	switch random.IntN(8) {
	case 0:
		return append([]byte("\ufeff"), content...)
	case 1:
		return inUTF16(bytes.ReplaceAll(bytes.ToValidUTF8(content, nil), []byte{0}, nil))
	}
	return content
}

func inUTF16(text []byte) []byte {
	content := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(string(text))) {
		content = append(content, byte(unit), byte(unit>>8))
	}
	return content
}

func randomNumber(random *rand.Rand) int {
	return []int{0, 0, 0, 1, 1, 2, 3, 7, 1000, math.MaxInt}[random.IntN(10)]
}

// TestAgainstNaive searches random contents with random queries, in small buffers.
func TestAgainstNaive(t *testing.T) {
	rounds := 800
	if testing.Short() {
		rounds /= 10
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range rounds {
		q := Query{
			Before: randomNumber(random), After: randomNumber(random), Limit: randomNumber(random), MaxLineBytes: randomNumber(random),
			Mode: []ambit.GrepMode{ambit.GrepContent, ambit.GrepContent, ambit.GrepContent, ambit.GrepFiles, ambit.GrepCount}[random.IntN(5)],
		}
		if 0 < q.MaxLineBytes && q.MaxLineBytes < 10 && random.IntN(2) == 0 {
			q.MaxLineBytes += random.IntN(40)
		}
		pattern, expression := patterns[random.IntN(len(patterns))], ""
		if q.Multiline = random.IntN(3) == 0; q.Multiline {
			pattern = textPatterns[random.IntN(len(textPatterns))]
			expression = "(?m)"
		}
		q.Pattern = compile(t, pattern, match.Options{Multiline: q.Multiline})
		s := newSearcher(q, 1+random.IntN(40))
		if random.IntN(3) == 0 {
			s.limits = limits{line: 20_000 + random.IntN(5), text: 9_000 + random.IntN(100), context: random.IntN(40)}
			s.window.most = 10_000
		}
		if random.IntN(4) == 0 {
			s.window.base = make([]byte, 0, 100_000) // more than is read at once
		}
		s.batch.full.lines, s.batch.full.text, s.batch.full.spans = 1+random.IntN(5), 1+random.IntN(100), 1+random.IntN(30)
		for range 2 { // the second stream in the buffers of the first
			content := randomContent(random)
			if s.limits.line < maxLine && random.IntN(3) == 0 && !bytes.HasPrefix(content, []byte{0xff, 0xfe}) {
				line := bytes.Repeat([]byte("a"), s.limits.line-2+random.IntN(5))
				content = append(content, line...)
				content = append(content, []string{"", "\n", "\r\n", "\r", "\nab\n"}[random.IntN(5)]...)
			}
			want := naive("dir/file", content, q, regexp.MustCompile(expression+pattern), s.limits)
			size := int64(len(content))
			switch random.IntN(4) {
			case 0:
				size = -1
			case 1:
				size = size + 1 + random.Int64N(100)
			}
			if size > int64(s.limits.text) && q.Multiline {
				size = -1 // it would be believed
			}
			got, err := search(s, &fitful{random, content, io.EOF}, size)
			if diff := difference(want, got); diff != "" {
				q.Pattern = nil
				t.Fatalf("%q in %.300q\nquery %+v, limits %+v, error %v\n%s", pattern, content, q, s.limits, err, diff)
			}
			found += len(got.Matches)
		}
	}
	if found < rounds {
		t.Errorf("%d matches in %d searches are too few to tell anything", found, rounds)
	}
}

// TestBrokenReader: what is before the error of a reader is found, and the error is
// the reader's own.
func TestBrokenReader(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		content := randomContent(random)
		q := Query{Pattern: compile(t, "a", match.Options{}), Before: random.IntN(3), After: random.IntN(3)}
		s := newSearcher(q, 1+random.IntN(40))
		got, err := search(s, &fitful{random, content, errBroken}, -1)
		if err != errBroken {
			t.Fatalf("%q: error %v, want the reader's", content, err)
		}
		head := content[:min(len(content), charset.HeadSize)]
		if class := charset.Classify(head, false); !class.Text || class.Encoding == charset.UTF16LE {
			continue // nothing of it is searched; of UTF-16 below
		}
		whole := content[:bytes.LastIndexByte(content, '\n')+1]
		want := naive("dir/file", whole, q, regexp.MustCompile("a"), s.limits)
		if diff := difference(want.Matches, got.Matches); diff != "" {
			t.Fatalf("%q:\n%s", content, diff)
		}
	}

	// In UTF-16, in a count, and across lines.
	text := strings.Repeat("ab\nx\n", 3000)
	for name, content := range map[string][]byte{"UTF-8": []byte(text), "UTF-16": inUTF16([]byte(text))} {
		for _, q := range []Query{{}, {Mode: ambit.GrepCount}, {Multiline: true}} {
			q.Pattern = compile(t, "a", match.Options{Multiline: q.Multiline})
			s := New(q)
			got, err := search(s, io.MultiReader(bytes.NewReader(content), &fitful{random, nil, errBroken}), -1)
			n := 3000
			if q.Multiline {
				n = 0
			}
			if err != errBroken || got.Result.Lines != n {
				t.Errorf("%s, %+v: %d lines and %v, want %d and the reader's error", name, q, got.Result.Lines, err, n)
			}
			if q.Mode == ambit.GrepCount && (len(got.Matches) != 1 || got.Matches[0].Count != n) {
				t.Errorf("%s: count %+v, want %d", name, got.Matches, n)
			}
		}
	}
}

// TestBrokenReaderOfUTF16: what is wrong first is told.
func TestBrokenReaderOfUTF16(t *testing.T) {
	for _, bad := range []bool{false, true} {
		content := inUTF16([]byte(strings.Repeat("ab\nx\n", 3000)))
		if bad {
			content = append(content, 0x00, 0xdc, 'a', 0)
		}
		r := iotest.DataErrReader(io.MultiReader(bytes.NewReader(content), &fitful{err: errBroken, random: rand.New(rand.NewPCG(1, 1))}))
		got, err := search(New(Query{Pattern: compile(t, "a", match.Options{})}), r, -1)
		if got.Result.Lines != 3000 || (err == errBroken) == bad || (got.Reason == ambit.ErrNotText) != bad {
			t.Errorf("bad content %v: %d lines, %v", bad, got.Result.Lines, err)
		}
	}
}

// TestLargeUTF16: text that takes more room as UTF-8 than it had.
func TestLargeUTF16(t *testing.T) {
	line := strings.Repeat("中文字符", 20) + "a"
	content := inUTF16([]byte(strings.Repeat(line+"\n", 1000)))
	got, err := search(New(Query{Pattern: compile(t, "a", match.Options{})}), bytes.NewReader(content), int64(len(content)))
	if err != nil || len(got.Matches) != 1000 {
		t.Fatalf("%d lines, %v", len(got.Matches), err)
	}
	for i, m := range got.Matches {
		if m.Text != line || m.Line != i+1 {
			t.Fatalf("line %d: %+v", i+1, m)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestImpossibleReaders: they are errors, no panic and no hang.
func TestImpossibleReaders(t *testing.T) {
	for name, test := range map[string]struct {
		read readerFunc
		err  error
	}{
		"nothing for ever": {func([]byte) (int, error) { return 0, nil }, io.ErrNoProgress},
		"negative":         {func([]byte) (int, error) { return -1, nil }, ambit.ErrIO},
		"too much":         {func(p []byte) (int, error) { return len(p) + 1, nil }, ambit.ErrIO},
		"too much and end": {func(p []byte) (int, error) { return math.MaxInt, io.EOF }, ambit.ErrIO},
	} {
		for _, multiline := range []bool{false, true} {
			for _, before := range []string{"", "ab\n", "\xff\xfea\x00\n\x00"} {
				q := Query{Pattern: compile(t, "a", match.Options{Multiline: multiline}), Multiline: multiline}
				for _, size := range []int64{-1, 0, 1, 1 << 20, math.MaxInt64} {
					_, err := search(New(q), io.MultiReader(strings.NewReader(before), test.read), size)
					if multiline && size == math.MaxInt64 {
						continue // too large by what was said
					}
					if size == 1 && before != "" {
						continue
					}
					if !errors.Is(err, test.err) {
						t.Errorf("%s behind %q, size %d: error %v, want %v", name, before, size, err, test.err)
					}
				}
			}
		}
	}
}

// A counting reader counts the calls.
type counting struct {
	r     io.Reader
	reads int
}

func (c *counting) Read(p []byte) (int, error) {
	c.reads++
	return c.r.Read(p)
}

// TestReads: a file whose size is known is read at once, without a second read for
// the end; a size that is wrong does no harm.
func TestReads(t *testing.T) {
	content := strings.Repeat("ab\n", 10_000)
	for _, test := range []struct {
		name    string
		size    int64
		content string
		most    int // reads
		lines   int
	}{
		{"known", 30_000, content, 1, 10_000},
		{"not known", -1, content, 2, 10_000},
		{"has grown", 20_000, content, 2, 10_000},
		{"has shrunk", 40_000, content, 2, 10_000},
		{"wrongly empty, as in /proc", 0, content, 2, 10_000},
		{"empty", 0, "", 1, 0},
		{"small", 3, "ab\n", 1, 1},
		{"larger than the buffer", 3_000_000, strings.Repeat(content, 100), 13, 1_000_000},
	} {
		s := New(Query{Pattern: compile(t, "a", match.Options{}), Mode: ambit.GrepCount})
		for range 2 {
			r := &counting{r: strings.NewReader(test.content)}
			got, err := search(s, r, test.size)
			if err != nil || got.Result.Lines != test.lines || r.reads > test.most {
				t.Errorf("%s: %d lines, %v, %d reads; want %d lines in at most %d reads", test.name, got.Result.Lines, err, r.reads, test.lines, test.most)
			}
		}
	}
}

// TestStop: emit is not called again once it has returned false.
func TestStop(t *testing.T) {
	content := strings.Repeat("ab\nx\n", 100_000)
	for _, q := range []Query{{}, {Before: 2}, {After: 5}, {Mode: ambit.GrepFiles}, {Mode: ambit.GrepCount}, {Multiline: true}, {Multiline: true, After: math.MaxInt}, {After: math.MaxInt}} {
		q.Pattern = compile(t, "a", match.Options{Multiline: q.Multiline})
		s := New(q)
		for most := range 3 {
			calls := 0
			result, err := s.Search("f", strings.NewReader(content), -1, func([]ambit.GrepMatch) bool {
				calls++
				return calls <= most
			})
			single := q.Mode != ambit.GrepContent
			if err != nil || calls != most+1 && !single || single && calls != 1 || result.Stopped != (calls > most) {
				t.Errorf("%+v: %d calls, %+v, %v; want to be stopped at call %d", q, calls, result, err, most+1)
			}
		}
	}
}

// TestBatches: a batch is emit's own, spans cannot grow into each other, and one
// match that is kept keeps little.
func TestBatches(t *testing.T) {
	content := strings.Repeat("a line with an a in it\n", 50_000)
	s := New(Query{Pattern: compile(t, "a", match.Options{})})
	var all []ambit.GrepMatch
	for range 2 {
		all = all[:0]
		_, err := s.Search("f", strings.NewReader(content), int64(len(content)), func(batch []ambit.GrepMatch) bool {
			n := 0
			for i := range batch {
				n += len(batch[i].Text)
				_ = append(batch[i].Spans, [2]int{-1, -1})
			}
			if n > 2*batchText || len(batch) > batchLines {
				t.Errorf("a batch of %d lines and %d bytes", len(batch), n)
			}
			all = append(all, batch...)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 50_000 {
		t.Fatalf("%d lines", len(all))
	}
	for i, m := range all {
		want := ambit.GrepMatch{Path: "f", Line: i + 1, Column: 1, Text: "a line with an a in it", Spans: [][2]int{{0, 1}, {12, 13}, {15, 16}}}
		if !reflect.DeepEqual(m, want) {
			t.Fatalf("line %d: %+v, want %+v", i+1, m, want)
		}
	}
}

// TestLimitOfLines: at most 16 MiB, with the ending left out of the count.
func TestLimitOfLines(t *testing.T) {
	if testing.Short() {
		t.Log("only with small limits: see TestAgainstNaive")
		return
	}
	for _, test := range []struct {
		n      int
		ending string
		lines  int
		reason ambit.Reason
	}{
		{maxLine, "\nab\n", 3, ""},
		{maxLine, "\r\nab\n", 3, ""},
		{maxLine, "", 2, ""},
		{maxLine, "\r", 1, ambit.ErrTooLarge},
		{maxLine + 1, "\nab\n", 1, ambit.ErrTooLarge},
		{maxLine + 1, "\r\n", 1, ambit.ErrTooLarge},
		{maxLine + 1, "", 1, ambit.ErrTooLarge},
		{5 * maxLine, "", 1, ambit.ErrTooLarge},
	} {
		s := New(Query{Pattern: compile(t, "a", match.Options{}), MaxLineBytes: 10, Before: math.MaxInt})
		content := "ab\n" + strings.Repeat("x", test.n-1) + "a" + test.ending
		s.query.Mode = ambit.GrepCount
		got, err := search(s, strings.NewReader(content), -1)
		if got.Result.Lines != test.lines || got.Reason != test.reason {
			t.Errorf("a line of %d bytes and %q: %d lines, %v, want %d, %v", test.n, test.ending, got.Result.Lines, err, test.lines, test.reason)
		}
		if cap(s.window.base) != bufferSize || s.window.data != nil {
			t.Error("the large buffer is kept")
		}
	}
}

// TestFlatMemory: contexts without bounds over an endless stream.
func TestFlatMemory(t *testing.T) {
	if testing.Short() {
		t.Log("only with small limits: see TestAgainstNaive")
		return
	}
	line := strings.Repeat("x", 99) + "\n"
	content := []byte(strings.Repeat(line, 10_000))
	s := New(Query{Pattern: compile(t, "a", match.Options{}), Before: math.MaxInt})
	readers := []io.Reader{}
	for range 50 {
		readers = append(readers, bytes.NewReader(content))
	}
	readers = append(readers, strings.NewReader("a\n"))
	largest, context, next := 0, 0, 0
	_, err := s.Search("f", io.MultiReader(readers...), -1, func(batch []ambit.GrepMatch) bool {
		largest = max(largest, cap(s.window.data))
		for _, m := range batch {
			if m.Context {
				context += len(m.Text) + 1
			}
			if next != 0 && m.Line != next {
				t.Fatalf("line %d, want %d", m.Line, next)
			}
			next = m.Line + 1
		}
		return true
	})
	if err != nil || next != 50*10_000+2 {
		t.Errorf("error %v, last line %d", err, next-1)
	}
	if want := maxContext / len(line) * len(line); context != want {
		t.Errorf("%d bytes of context, want %d", context, want)
	}
	if largest > 3*maxContext {
		t.Errorf("a buffer of %d bytes", largest)
	}
}

// TestManyLeftOut: as many lines between a match and its context as one likes.
func TestManyLeftOut(t *testing.T) {
	const n = 200_000
	content := strings.Repeat("text\n", 2000) + strings.Repeat("\x00k\nx\n", n) + "k\n"
	for _, before := range []int{3, math.MaxInt} {
		s := New(Query{Pattern: compile(t, "k", match.Options{}), Before: before})
		got, _ := search(s, strings.NewReader(content), -1)
		if cap(s.leftOut) > 2*maxLeftOut {
			t.Errorf("%d of them are remembered", cap(s.leftOut))
		}
		last := len(got.Matches) - 1
		if got.Reason != ambit.ErrNotText || got.Result.Lines != 1 || got.Matches[last].Line != 2000+2*n+1 {
			t.Fatalf("%+v, %v", got.Result, got.Reason)
		}
		for i, m := range got.Matches[:last] {
			if want := 2000 + 2*n - 2*(last-1-i); m.Text != "x" || !m.Context || m.Line != want {
				t.Fatalf("context %d is line %d, %q; want line %d", i, m.Line, m.Text, want)
			}
		}
		if want := min(before-1, maxLeftOut/2); last < want {
			t.Errorf("%d lines of context, want %d at least", last, want)
		}
	}

	// Nothing of one stream is left out of the next.
	s := New(Query{Pattern: compile(t, "k", match.Options{}), Before: 1})
	text := strings.Repeat("text\n", 2000)
	for _, test := range []struct {
		content string
		want    []string
	}{{text + "\x00k\n", nil}, {text + "x x\nk\n", []string{"2001-x x", "2002:1:k"}}} {
		got, _ := search(s, strings.NewReader(test.content), -1)
		if want := test.want; !slices.Equal(shown(got), want) {
			t.Errorf("%q, want %q", shown(got), want)
		}
	}
}

func ExampleSearcher() {
	pattern, _ := match.Compile("TODO", match.Options{Literal: true})
	s := New(Query{Pattern: pattern, After: 1})
	_, _ = s.Search("notes.txt", strings.NewReader("first\nTODO: second\nthird\nfourth\n"), -1, func(batch []ambit.GrepMatch) bool {
		for _, m := range batch {
			fmt.Println(m.Line, m.Context, m.Text)
		}
		return true
	})
	// Output:
	// 2 false TODO: second
	// 3 true third
}
