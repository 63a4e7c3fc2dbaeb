// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

var (
	firstSeed = flag.Uint64("seed", 1, "where TestOracle begins")
	seeds     = flag.Uint64("seeds", 0, "how many seeds TestOracle tries; 0: few")
)

// An oracle says what package regexp finds in a text.
type oracle func(text []byte) [][2]int

func newOracle(pattern string, o Options) (oracle, error) {
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := ""
	if o.IgnoreCase {
		flags += "i"
	}
	if o.Multiline {
		flags += "m"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	exp, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, err
	}
	if !o.Word {
		return func(text []byte) [][2]int {
			var spans [][2]int
			for _, span := range exp.FindAllIndex(text, -1) {
				spans = append(spans, [2]int{span[0], span[1]})
			}
			return spans
		}, nil
	}
	return wordOracle(flags, pattern), nil
}

// wordOracle asks for the first match behind so many runes by a pattern that begins with them, takes the runes around the
// match, and has the match in a group.
func wordOracle(flags, pattern string) oracle {
	const other = `[^\pL\pM\p{Nd}\p{Nl}\p{Pc}\p{Other_Alphabetic}\p{Join_Control}]`
	noWord := strings.NewReplacer(`\p{Other_Alphabetic}`, "", `\p{Join_Control}`, `\x{200c}\x{200d}`).Replace(other)
	firstBehind := func(text []byte, runes, at int) []int {
		skip := `\A(?s:.*?)(?:\A|` + noWord + `)`
		if runes > 0 {
			skip = fmt.Sprintf(`\A(?s:.{%d})(?s:.*?)%s`, runes-1, noWord)
		}
		found := regexp.MustCompile(skip + "(" + flags + "(?:" + pattern + "))(?:" + noWord + `|\z)`).FindSubmatchIndex(text)
		if found == nil {
			return nil
		}
		return found[2:4]
	}
	return func(text []byte) [][2]int {
		var spans [][2]int
		for at, previous := 0, -1; at <= len(text); {
			span := firstBehind(text, utf8.RuneCount(text[:at]), at)
			if span == nil {
				break
			}
			counts := true
			if span[1] == at {
				counts = span[0] != previous
				_, width := utf8.DecodeRune(text[at:])
				at += max(width, 1)
			} else {
				at = span[1]
			}
			if previous = span[1]; counts {
				spans = append(spans, [2]int{span[0], span[1]})
			}
		}
		return spans
	}
}

// A line of a text, without its ending.
type line struct{ start, end, next int }

func linesOf(text []byte) []line {
	var all []line
	for at := 0; at < len(text); {
		l := line{at, len(text), len(text)}
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			l.end, l.next = at+i, at+i+1
			if i > 0 && text[l.end-1] == '\r' {
				l.end--
			}
		}
		all, at = append(all, l), l.next
	}
	return all
}

// check compares all that a matcher says of a text with the oracle.
func check(t testing.TB, pattern string, o Options, m *Matcher, find oracle, text []byte) {
	t.Helper()
	if o.Multiline {
		var got [][2]int
		m.FindAll(text, func(start, end int) bool {
			got = append(got, [2]int{start, end})
			return true
		})
		if want := find(text); !slices.Equal(got, want) {
			t.Fatalf("%q %+v in %q: matches %v, want %v", pattern, o, text, got, want)
		}
		return
	}
	lines := linesOf(text)
	next := -1 // index of the next line that matches
	for i := len(lines); i >= 0; i-- {
		from := len(text)
		if i < len(lines) {
			l := lines[i]
			from = l.start
			want := find(text[l.start:l.end])
			if got := m.Spans(text[l.start:l.end], nil); !slices.Equal(got, want) {
				t.Fatalf("%q %+v in line %q: spans %v, want %v", pattern, o, text[l.start:l.end], got, want)
			}
			if len(want) > 0 {
				next = i
			}
		}
		start, end, ok := m.Next(text, from)
		switch {
		case ok != (next >= 0):
			t.Fatalf("%q %+v in %q from %d: found %v, want %v", pattern, o, text, from, ok, next >= 0)
		case ok && (start != lines[next].start || end != lines[next].end):
			t.Fatalf("%q %+v in %q from %d: line %d to %d, want %+v", pattern, o, text, from, start, end, lines[next])
		}
	}
}

// A sampler makes patterns and texts of the same few things, so that they meet.
type sampler struct{ *rand.Rand }

func (s sampler) of(choices ...string) string { return choices[s.IntN(len(choices))] }

var pieces = []string{
	"a", "b", "ab", "abc", "foo", "bar", "err", "k", "K", "\u212A", "s", "S", "ſ", "é", "É", "ß", "日本", "σ", "ς", "Σ", "x", "0", "42", "_", "-", " ",
	"\t", "\r", "\x00", "\uFFFD", "😀", "\u0301", "ǅ", "func", "DeadlineExceeded", "task", ".", "z", "q", "\u200d", "\u2028",
}

func (s sampler) text() []byte {
	var b []byte
	bias := make([]string, 1+s.IntN(6))
	for i := range bias {
		bias[i] = s.of(pieces...)
	}
	for range s.IntN(1 + 1<<s.IntN(7)) {
		switch s.IntN(12) {
		case 0:
			b = append(b, s.of("\n", "\n", "\n\n", "\r\n", "\r\r\n")...)
		case 1:
			b = append(b, s.of(pieces...)...)
		case 2:
			b = append(b, s.of("\xff", "\xe2\x84", "\xc3", "\x80", "\xf0\x9f\x98", "\xed\xa0\x80")...)
		case 3:
			b = append(b, strings.ToUpper(s.of(bias...))...)
		case 4:
			b = append(b, strings.Repeat(s.of(bias...), s.IntN(12))...)
		default:
			b = append(b, s.of(bias...)...)
		}
	}
	return b
}

func (s sampler) pattern(depth int) string {
	if depth == 0 {
		return s.atom()
	}
	sub := func() string { return s.pattern(s.IntN(depth)) }
	switch s.IntN(14) {
	case 0, 1, 2, 3:
		return sub() + sub()
	case 4:
		return "(?:" + sub() + "|" + sub() + ")"
	case 5:
		return "(" + sub() + "|" + sub() + "|" + sub() + ")"
	case 6:
		return "(?:" + sub() + ")" + s.of("*", "+", "?", "*?", "+?", "??")
	case 7:
		return "(?:" + sub() + ")" + s.of("{2}", "{1,3}", "{0,2}?", "{3,}", "{0}", "{2,5}?")
	case 8:
		return "(?" + s.of("i", "s", "m", "U", "is", "-m", "m-s") + ":" + sub() + ")"
	case 9:
		return s.of("^", `\b`, `\B`, `\A`, "(?m:^)") + sub()
	case 10:
		return sub() + s.of("$", `\b`, `\B`, `\z`, "(?m:$)")
	case 11:
		return s.of(".*", ".*?", ".+", ".") + sub()
	case 12:
		return s.atom() + s.atom() + s.atom()
	default:
		return s.atom()
	}
}

func (s sampler) atom() string {
	switch s.IntN(8) {
	case 0:
		return s.of("[ab]", "[^a]", "[a-z]", "[^\\n]", "[A-Z]{2,}", "[0-9]+", `[\s\S]`, "[^k]", "[aA]", "[kK]", "[\u00e9-\u00ff]", "[xyz]", `[\r\n]`, "[\uFFFDa]", "[^\u0000-\u007f]")
	case 1:
		return s.of(`\w`, `\W`, `\d`, `\s`, `\S`, `\D`, `\pL`, `\PL`, `\p{Greek}`, `\p{Lu}`, `[[:alpha:]]`, `[[:^space:]]`, `\w+`)
	case 2:
		return s.of(".", "(?s:.)", "", "$", "^", `\b`, `\B`)
	case 3:
		return s.of("foo", "foo|bar", "(?i:task)", "(?i:kiss)", "err", "abc|ab|a", "func|err|foo|bar|z|42|日本", "(?i)deadline", "a|e|i|o|q|z", "abca|bcab|cabc|foob|baar|funcf")
	default:
		return regexp.QuoteMeta(s.of(pieces...))
	}
}

func (s sampler) options() Options {
	return Options{IgnoreCase: s.IntN(4) == 0, Word: s.IntN(5) == 0, Multiline: s.IntN(6) == 0, Literal: s.IntN(10) == 0}
}

// TestOracle compares random patterns on random texts with package regexp, one time in three with caches so small that they
// are always full.
func TestOracle(t *testing.T) {
	n := *seeds
	if n == 0 {
		n = 1500
		if testing.Short() {
			n = 200
		}
	}
	patterns, matched, long := 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		s := sampler{rand.New(rand.NewPCG(seed, 5))}
		o := s.options()
		pattern := s.pattern(1 + s.IntN(4))
		if o.Literal {
			pattern = s.of(pieces...) + s.of(append(pieces, "", "", "")...)
			if pattern = strings.ReplaceAll(pattern, "\uFFFD", "?"); o.IgnoreCase {
				pattern = strings.ToValidUTF8(pattern, "")
			}
		}
		find, wantErr := newOracle(pattern, o)
		p, err := Compile(pattern, o)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("seed %d: %q %+v: error %v, regexp has %v", seed, pattern, o, err, wantErr)
		}
		if err != nil {
			continue
		}
		patterns++
		m := p.NewMatcher()
		if s.IntN(3) == 0 {
			m.boundCaches(s.IntN(4000))
		}
		if s.IntN(4) == 0 && p.ahead != nil {
			m.without = 1 << 30
		}
		for range 4 {
			text := s.text()
			check(t, pattern, o, m, find, text)
			if o.Multiline || o.Word {
				continue
			}
			if _, _, ok := m.Next(text, 0); ok {
				matched++
			}
			if text = slices.Repeat(text, 1+s.IntN(4)); s.IntN(20) == 0 {
				text = slices.Repeat(text, 1+3000/(1+len(text)))
				text = append(bytes.ReplaceAll(text, []byte("\n"), []byte(s.of("a", "z", "_"))), s.of(pieces...)...)
				if spans := find(text); len(spans) > 0 && len(spans) < 3000 {
					long++
				}
			}
			check(t, pattern, o, m, find, text)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if long < patterns/40 || matched < patterns/2 || patterns < int(n)/2 {
		t.Errorf("of %d patterns %d compiled, and %d texts and %d long lines matched: too few to say anything", n, patterns, matched, long)
	}
}

// TestFarAhead has patterns that look for a preferred end far behind each match.
func TestFarAhead(t *testing.T) {
	known, seeds := 0, uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, pattern := range []string{`a.*z|a`, `(?:aa)*z|a`, `(?:ab|a.*q|b)`, `a(?:.*?z)??\b|b`, `a.{500,1000}z|a|b`, `[ab](?:.*[yz])?`, `(?:aaa|b)+z|a|b`} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		find, err := newOracle(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMatcher()
		for seed := range seeds {
			s := sampler{rand.New(rand.NewPCG(seed, 6))}
			var line []byte
			for len(line) < 2500 {
				line = append(line, s.of("a", "aa", "ab", "aaaaaaaa", "é", "_")...)
				if s.IntN(1000) == 0 {
					line = append(line, s.of("z", "q", "y")...)
				}
			}
			check(t, pattern, Options{}, m, find, line)
			known += len(m.ends.barren.known)
		}
	}
	if known < 25 {
		t.Errorf("only %d states were known to be barren", known)
	}
	p, err := Compile(`a.*z|a`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	matches := 0
	p.NewMatcher().FindAll(bytes.Repeat([]byte("a"), 1<<16), func(int, int) bool { // long, if each match looked to the end
		matches++
		return true
	})
	if matches != 1<<16 {
		t.Errorf("%d matches", matches)
	}
}

// TestBounded has patterns whose states do not fit into any cache.
func TestBounded(t *testing.T) {
	text := make([]byte, 1<<16)
	if testing.Short() {
		text = text[:1<<14]
	}
	r := rand.New(rand.NewPCG(1, 7))
	for i := range text {
		text[i] = "abababababababababab \n"[r.IntN(22)]
	}
	dropped := 0
	for _, pattern := range []string{`[ab]*a[ab]{40}[c ]`, `(?:a.{1,200}){3}[c-e]`, `\b(?:[ab]?){60}[^ab]`} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		find, err := newOracle(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMatcher()
		var got, want [][2]int
		for from := 0; ; {
			start, end, ok := m.Next(text, from)
			if !ok {
				break
			}
			got, from = append(got, [2]int{start, end}), min(end+1, len(text))
		}
		for _, l := range linesOf(text) {
			spans := find(text[l.start:l.end])
			if len(spans) > 0 {
				want = append(want, [2]int{l.start, l.end})
			}
			if got := m.Spans(text[l.start:l.end], nil); !slices.Equal(got, spans) {
				t.Fatalf("%q in %q: %v, want %v", pattern, text[l.start:l.end], got, spans)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d lines, want %d, or other ones", pattern, len(got), len(want))
		}
		for _, a := range []*automaton{m.lines, m.ends, m.start} {
			if a == nil {
				t.Fatalf("%q: searched without an automaton", pattern)
			}
			if size := 4 * (cap(a.table) + cap(a.memory) + cap(a.begins) + cap(a.hashes)); size > 2*cacheBytes {
				t.Errorf("%q: %d bytes", pattern, size)
			}
		}
		dropped += m.lines.drops - 1
	}
	if dropped == 0 {
		t.Error("no cache was ever full")
	}
}

// boundCaches makes the caches of a matcher small.
func (m *Matcher) boundCaches(size int) {
	if m.ahead != nil {
		m.lines, m.ends, m.start = newAutomaton(m.ahead, modeLines, nil), newAutomaton(m.ahead, modeFirst, nil), newAutomaton(m.behind, modeLongest, nil)
		for _, a := range []*automaton{m.lines, m.ends, m.start} {
			a.bound(size)
		}
	}
}

func hasSurrogate(tree *syntax.Regexp) bool {
	return slices.ContainsFunc(tree.Rune, func(r rune) bool { return 0xD800 <= r && r <= 0xDFFF }) || slices.ContainsFunc(tree.Sub, hasSurrogate)
}

func FuzzOracle(f *testing.F) {
	f.Add(`\b[a-z]+[0-9]{4,}\b`, []byte("abc12345 x\r\n\xff\nab1"), uint8(0))
	f.Add(`(?i)kiss|ſ`, []byte("KI\u017Fs\n\u212Aiss"), uint8(2))
	f.Add(`a.*z|a`, []byte("aaz\naa\r\n"), uint8(4))
	f.Add(`^x$\n?`, []byte("x\nx\n"), uint8(8))
	f.Fuzz(func(t *testing.T, pattern string, text []byte, bits uint8) {
		o := Options{Literal: bits&1 != 0, IgnoreCase: bits&2 != 0, Word: bits&4 != 0, Multiline: bits&8 != 0}
		if len(pattern) > 100 || len(text) > 300 || o.Literal && (strings.Contains(pattern, "\uFFFD") || !utf8.ValidString(pattern) || strings.Contains(pattern, "\r\n")) {
			t.Skip()
		}
		// Package regexp takes surrogates for U+FFFD, but not always.
		if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil && hasSurrogate(tree) {
			t.Skip()
		}
		find, wantErr := newOracle(pattern, o)
		p, err := Compile(pattern, o)
		if wantErr != nil && err == nil {
			t.Fatalf("%q %+v: no error, regexp has %v", pattern, o, wantErr)
		}
		if err != nil {
			return
		}
		if o.Word { // a pattern such as "a)(b" is one only by itself
			if _, err := regexp.Compile("(?:" + pattern + ")"); err != nil && !o.Literal {
				t.Skip()
			}
		}
		m := p.NewMatcher()
		check(t, pattern, o, m, find, text)
		m.boundCaches(int(bits) * 4)
		check(t, pattern, o, m, find, text)
	})
}

func TestWordPairs(t *testing.T) {
	pairs := wordPairs()
	last := rune(utf8.MaxRune)
	if testing.Short() {
		last = 0x20000
	}
	for r := range last + 1 {
		if contains(pairs, r) != isWord(r) {
			t.Fatalf("%U is a word character: %v and %v", r, contains(pairs, r), isWord(r))
		}
	}
	if !slices.IsSorted(pairs) {
		t.Error("not sorted")
	}
}

func TestBadPatterns(t *testing.T) {
	for _, test := range []struct {
		pattern string
		o       Options
		detail  string
	}{
		{"(", Options{}, "missing closing ): `(` (a parenthesis that is text has a backslash before it)"},
		{"[", Options{}, "missing closing ]: `[`"},
		{"a{2,1}", Options{}, "invalid repeat count: `{2,1}`"},
		{"(?P<x", Options{}, "invalid named capture: `(?P<x`"},
		{"(?=a)", Options{}, "invalid or unsupported Perl syntax: `(?=` (there is no lookahead and no lookbehind)"},
		{"(?<=a)b", Options{}, "invalid named capture: `(?<=a)b` (there is no lookahead and no lookbehind)"},
		{`(a)\1`, Options{}, "invalid escape sequence: `\\1` (there are no back references)"},
		{`a\`, Options{}, "trailing backslash at end of expression (a backslash that is text has another before it)"},
		{"a\nb", Options{}, needsMultiline},
		{`a\nb`, Options{}, needsMultiline},
		{"a\nb", Options{Literal: true}, needsMultiline},
		{"a{1001}", Options{}, "invalid repeat count: `{1001}`"},
		{"((a{100}){100}){100}", Options{}, "invalid repeat count: `{100}`"},
		{"\xff", Options{}, "invalid UTF-8: `\xff`"},
		{"\xff", Options{Literal: true, IgnoreCase: true}, "invalid UTF-8: `\xff`"},
	} {
		_, err := Compile(test.pattern, test.o)
		e, ok := errors.AsType[*ambit.Error](err)
		if !ok || e.Reason != ambit.ErrBadPattern || e.Detail != test.detail {
			t.Errorf("%q %+v: %v", test.pattern, test.o, err)
		}
	}
	for _, test := range []struct {
		pattern string
		o       Options
	}{
		{`a\nb`, Options{Multiline: true}},
		{`[^\n]`, Options{}},
		{`\n`, Options{Literal: true}},
		{"\xff\xfe", Options{Literal: true}},
		{"", Options{}},
		{"", Options{Literal: true, Word: true}},
	} {
		if _, err := Compile(test.pattern, test.o); err != nil {
			t.Errorf("%q %+v: %v", test.pattern, test.o, err)
		}
	}
}
