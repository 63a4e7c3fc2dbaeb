// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

// implementation is what a case is put to: the package, or something that has
// the fault that the case is about.
type implementation struct {
	slice  func(content string, rng lineaddr.Range) (lineaddr.Window, error)
	head   func(content string, n int) (lineaddr.Window, error)
	tail   func(content string, n int) (lineaddr.Window, error)
	splice func(content string, rng lineaddr.Range, text string) (string, error)
}

// streaming is the package over streams that come in pieces of this size.
func streaming(sizes ...byte) implementation {
	return implementation{
		slice: func(content string, rng lineaddr.Range) (lineaddr.Window, error) {
			return lineaddr.Slice(&erratic{content: content, sizes: sizes}, rng)
		},
		head: func(content string, n int) (lineaddr.Window, error) {
			return lineaddr.Head(&erratic{content: content, sizes: sizes}, n)
		},
		tail: func(content string, n int) (lineaddr.Window, error) {
			return lineaddr.Tail(newStreamFile(content, sizes...), n)
		},
		splice: func(content string, rng lineaddr.Range, text string) (string, error) {
			changed, err := lineaddr.Splice([]byte(content), rng, []byte(text))
			return string(changed), err
		},
	}
}

// seeking is the package over files that can be read anywhere.
func seeking() implementation {
	i := streaming()
	i.slice = func(content string, rng lineaddr.Range) (lineaddr.Window, error) {
		x, err := lineaddr.NewIndex(newRandomFile(content))
		if err != nil {
			return lineaddr.Window{}, err
		}
		return x.Slice(rng)
	}
	i.tail = func(content string, n int) (lineaddr.Window, error) { return lineaddr.Tail(newRandomFile(content), n) }
	return i
}

// splitLines has what strings.Split leaves behind the final newline as a line.
func splitLines(content string, rng lineaddr.Range) (lineaddr.Window, error) {
	all := strings.Split(content, "\n")
	end := rng.End
	if end == 0 || end > len(all) {
		end = len(all)
	}
	if rng.Start > end {
		return lineaddr.Window{}, &ambit.Error{Reason: ambit.ErrOutOfRange, Total: len(all)}
	}
	return lineaddr.Window{Text: []byte(strings.Join(all[rng.Start-1:end], "\n")), First: rng.Start, Last: end, Total: len(all)}, nil
}

// lenientLines answers a start behind the end with an empty window.
func lenientLines(content string, rng lineaddr.Range) (lineaddr.Window, error) {
	w, err := streaming().slice(content, rng)
	if errors.Is(err, ambit.ErrOutOfRange) {
		return lineaddr.Window{}, nil
	}
	return w, err
}

// scannedLines uses a bufio.Scanner and does not look at its error.
func scannedLines(content string, rng lineaddr.Range) (lineaddr.Window, error) {
	var text []byte
	n := 0
	for scanner := bufio.NewScanner(strings.NewReader(content)); scanner.Scan(); {
		if n++; n >= rng.Start && (rng.End == 0 || n <= rng.End) {
			text = append(append(text, scanner.Bytes()...), '\n')
		}
	}
	if text == nil {
		return lineaddr.Window{}, &ambit.Error{Reason: ambit.ErrOutOfRange, Total: n}
	}
	return lineaddr.Window{Text: text, First: rng.Start, Last: n, Total: n}, nil
}

// countedLines trusts the numbers that it is given.
func countedLines(content string, rng lineaddr.Range) (lineaddr.Window, error) {
	all := naiveLines(content)
	picked := make([]string, 0, rng.End-rng.Start+1)
	picked = append(picked, all[rng.Start-1:min(rng.Start-1+cap(picked), len(all))]...)
	return lineaddr.Window{Text: []byte(strings.Join(picked, "")), First: rng.Start, Last: rng.Start + len(picked) - 1, Total: -1}, nil
}

// decoded reads chunk by chunk and makes text of each.
func decoded(size int, content string) string {
	var b strings.Builder
	for content != "" {
		n := min(size, len(content))
		b.WriteString(strings.ToValidUTF8(content[:n], "\ufffd\ufffd\ufffd"))
		content = content[n:]
	}
	return b.String()
}

// decodedBackwards does so from the end.
func decodedBackwards(size int, content string) string {
	first := len(content) % size
	return decoded(size, content[:first]) + decoded(size, content[first:])
}

// splitTail counts what is behind the final newline as a line.
func splitTail(content string, n int) (lineaddr.Window, error) {
	all := strings.Split(content, "\n")
	return lineaddr.Window{Text: []byte(strings.Join(all[max(0, len(all)-n):], "\n"))}, nil
}

// frontTail gathers newlines backwards and takes them as if forwards.
func frontTail(content string, n int) (lineaddr.Window, error) {
	var ends []int
	for i := len(content) - 2; i >= 0; i-- {
		if content[i] == '\n' {
			ends = append(ends, i)
		}
	}
	if len(ends) < n {
		return lineaddr.Window{Text: []byte(content)}, nil
	}
	return lineaddr.Window{Text: []byte(content[ends[len(ends)-n]+1:])}, nil
}

// firstByteTail loses a line that starts at byte 0.
func firstByteTail(content string, n int) (lineaddr.Window, error) {
	w, err := streaming().tail(content, n)
	if w.First == 1 {
		w.Text = []byte(strings.Join(naiveLines(content)[1:], ""))
	}
	return w, err
}

// spliced puts text, which finish makes ready, in place of the lines.
func spliced(finish func(text string) string, last func(content string) string) func(string, lineaddr.Range, string) (string, error) {
	return func(content string, rng lineaddr.Range, text string) (string, error) {
		all := naiveLines(content)
		end := rng.End
		if end == 0 {
			end = len(all)
		}
		return last(strings.Join(all[:rng.Start-1], "") + finish(text) + strings.Join(all[end:], "")), nil
	}
}

func asItIs(s string) string { return s }

// ended ends every text with a newline, whatever it is.
func ended(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }

func isInvalid(_ lineaddr.Window, err error) error {
	if !errors.Is(err, ambit.ErrInvalid) {
		return fmt.Errorf("%v, want %s", err, ambit.ErrInvalid)
	}
	return nil
}

func isBehind(total int) func(lineaddr.Window, error) error {
	return func(w lineaddr.Window, err error) error {
		if e, ok := errors.AsType[*ambit.Error](err); !ok || e.Reason != ambit.ErrOutOfRange || e.Total != total {
			return fmt.Errorf("lines %d to %d: %q, %v; want %s of %d lines", w.First, w.Last, shown(string(w.Text)), err, ambit.ErrOutOfRange, total)
		}
		return nil
	}
}

func isText(text string) func(lineaddr.Window, error) error {
	return func(w lineaddr.Window, err error) error {
		if string(w.Text) != text || err != nil {
			return fmt.Errorf("%s, %v; want %s", shown(string(w.Text)), err, shown(text))
		}
		return nil
	}
}

func isTextOf(text string, total int) func(lineaddr.Window, error) error {
	return func(w lineaddr.Window, err error) error {
		if w.Total != total {
			return fmt.Errorf("%d lines in all, want %d", w.Total, total)
		}
		return isText(text)(w, err)
	}
}

func lineRange(start, end int) lineaddr.Range { return lineaddr.Range{Start: start, End: end} }

const (
	threeLines = "line1\nline2\nline3\n"
	tenLines   = "L1\nL2\nL3\nL4\nL5\nL6\nL7\nL8\nL9\nL10\n"
)

// caseOf is a fault that others have had. check returns what is wrong with an
// implementation, and must find something wrong with each that is broken.
type caseOf struct {
	name   string
	check  func(i implementation) error
	broken map[string]func(i *implementation)
}

func cases() []caseOf {
	emptied := func(i implementation) error {
		for _, content := range []string{"abc\n", "a\nb\n"} {
			if got, err := i.splice(content, lineRange(1, 0), ""); got != "" || err != nil {
				return fmt.Errorf("%q emptied: %q, %v", content, got, err)
			}
		}
		return nil
	}
	rewritten := func(content string, first, last int, text, want string) func(i implementation) error {
		return func(i implementation) error {
			if got, err := i.splice(content, lineRange(first, last), text); got != want || err != nil {
				return fmt.Errorf("lines %d to %d of %q rewritten as %q: %q, %v; want %q", first, last, content, text, got, err, want)
			}
			return nil
		}
	}
	all := []caseOf{
		{"READ-01", func(i implementation) error {
			return errors.Join(
				isTextOf(threeLines, 3)(i.slice(threeLines, lineRange(1, 0))),
				isBehind(3)(i.slice(threeLines, lineRange(4, 4))))
		}, map[string]func(*implementation){"split": func(i *implementation) { i.slice = splitLines }}},

		{"READ-02, past the end", func(i implementation) error {
			return isBehind(3)(i.slice("one\ntwo\nthree\n", lineRange(300, 400)))
		}, map[string]func(*implementation){
			"split": func(i *implementation) { i.slice = splitLines }, "lenient": func(i *implementation) { i.slice = lenientLines },
		}},
		{"READ-02, empty", func(i implementation) error {
			w, err := i.slice("", lineRange(1, 0))
			if w.First != 0 || w.Last != 0 {
				return fmt.Errorf("lines %d to %d", w.First, w.Last)
			}
			return isTextOf("", 0)(w, err)
		}, map[string]func(*implementation){
			"split": func(i *implementation) { i.slice = splitLines }, "scanner": func(i *implementation) { i.slice = scannedLines },
		}},

		{"READ-03", func(i implementation) error {
			crlf := strings.ReplaceAll(threeLines, "\n", "\r\n")
			return errors.Join(
				isText("line3\n")(i.tail(threeLines, 1)),
				isText("line2\nline3\n")(i.tail(threeLines, 2)),
				isText("line3\r\n")(i.tail(crlf, 1)),
				isText("line2\r\nline3\r\n")(i.tail(crlf, 2)),
				isText("b")(i.tail("a\nb", 1)))
		}, map[string]func(*implementation){"split": func(i *implementation) { i.tail = splitTail }}},
		{"READ-03, all lines", func(i implementation) error {
			return errors.Join(
				isTextOf(threeLines, 3)(i.tail(threeLines, 5)),
				isTextOf(threeLines, 3)(i.tail(threeLines, 3)))
		}, map[string]func(*implementation){"loses the line at byte 0": func(i *implementation) { i.tail = firstByteTail }}},

		{"READ-05", func(i implementation) error {
			return errors.Join(
				isText("L9\nL10\n")(i.tail(tenLines, 2)),
				isText("L8\nL9\nL10\n")(i.tail(tenLines, 3)),
				isText(strings.TrimPrefix(tenLines, "L1\n"))(i.tail(tenLines, 9)))
		}, map[string]func(*implementation){"from the front": func(i *implementation) { i.tail = frontTail }}},

		{"EDIT-10", emptied, map[string]func(*implementation){
			"ends each file":      func(i *implementation) { i.splice = spliced(asItIs, ended) },
			"ends each rewriting": func(i *implementation) { i.splice = spliced(ended, asItIs) },
		}},
		{
			"EDIT-11 (a)", rewritten("one\ntwo\nthree\n", 2, 2, "TWO", "one\nTWO\nthree\n"),
			map[string]func(*implementation){"as it is": func(i *implementation) { i.splice = spliced(asItIs, asItIs) }},
		},
		{
			"EDIT-11 (b)", rewritten("one\ntwo\n", 2, 2, "NEW\n", "one\nNEW\n"),
			map[string]func(*implementation){"one more newline": func(i *implementation) {
				i.splice = spliced(func(s string) string { return s + "\n" }, asItIs)
			}},
		},
		{
			"EDIT-11 (c)", rewritten("one\ntwo", 2, 2, "TWO", "one\nTWO"),
			map[string]func(*implementation){"ends each file": func(i *implementation) { i.splice = spliced(asItIs, ended) }},
		},
		{
			"EDIT-11 (d)", rewritten("one\r\ntwo\r\n", 1, 1, "ONE", "ONE\r\ntwo\r\n"),
			map[string]func(*implementation){"LF for all": func(i *implementation) { i.splice = spliced(ended, asItIs) }},
		},
		{"EDIT-11 (e)", func(i implementation) error {
			for _, content := range []string{"", threeLines, "a", "a\nb", "a\r\nb", "\n", "\n\n", "a\n\n", "\r", "a\r\n\r\n\r", mark, mark + "a\n", mark + "a"} {
				if err := rewritten(content, 1, 0, content, content)(i); err != nil {
					return err
				}
			}
			return nil
		}, map[string]func(*implementation){
			"ends each file": func(i *implementation) { i.splice = spliced(asItIs, ended) },
			"LF for all": func(i *implementation) {
				i.splice = spliced(func(s string) string { return strings.ReplaceAll(s, "\r", "") }, asItIs)
			},
			"a second mark":    func(i *implementation) { i.splice = secondMark },
			"one more newline": func(i *implementation) { i.splice = spliced(func(s string) string { return s + "\n" }, asItIs) },
		}},
	}

	for _, length := range []int{70_000, 5 << 20} {
		content := strings.Repeat("a", length) + "\nTARGET\n"
		all = append(all, caseOf{fmt.Sprintf("LIMITS-02, %d bytes", length), func(i implementation) error {
			got, err := i.splice(content, lineRange(2, 2), "FOUND")
			if want := content[:length+1] + "FOUND\n"; got != want || err != nil {
				err = fmt.Errorf("line 2 rewritten: %s, %w; want %s", shown(got), err, shown(want))
			}
			return errors.Join(err,
				isText("TARGET\n")(i.slice(content, lineRange(2, 2))),
				isText("TARGET\n")(i.tail(content, 1)),
				isText(content)(i.head(content, 2)))
		}, map[string]func(*implementation){"scanner": func(i *implementation) { i.slice = scannedLines }}})
	}

	wrongNumber := func(start, end int) func(i implementation) error {
		return func(i implementation) error {
			_, err := i.splice(threeLines, lineRange(start, end), "x")
			return errors.Join(isInvalid(i.slice(threeLines, lineRange(start, end))), isInvalid(lineaddr.Window{}, err))
		}
	}
	for _, rng := range []lineaddr.Range{
		lineRange(-1, 2), lineRange(0, 2), lineRange(0, 0), lineRange(math.MinInt, 0), lineRange(math.MinInt, math.MaxInt), lineRange(1, -1),
		lineRange(1, math.MinInt), lineRange(3, 2), lineRange(math.MaxInt, 1),
	} {
		all = append(all, caseOf{"LIMITS-04, lines " + rng.String(), wrongNumber(rng.Start, rng.End), map[string]func(*implementation){
			"counted": func(i *implementation) { i.slice = countedLines },
		}})
	}
	return append(all,
		caseOf{"LIMITS-04, behind the end", func(i implementation) error {
			return errors.Join(
				isBehind(3)(i.slice(threeLines, lineRange(math.MaxInt, 0))),
				isBehind(3)(i.slice(threeLines, lineRange(math.MaxInt, math.MaxInt))),
				isBehind(3)(i.slice(threeLines, lineRange(4, math.MaxInt))))
		}, map[string]func(*implementation){
			"counted": func(i *implementation) { i.slice = countedLines }, "lenient": func(i *implementation) { i.slice = lenientLines },
		}},
		caseOf{"LIMITS-04, to the end", func(i implementation) error {
			return errors.Join(
				isTextOf("line2\nline3\n", 3)(i.slice(threeLines, lineRange(2, math.MaxInt))),
				isTextOf(threeLines, 3)(i.head(threeLines, math.MaxInt)),
				isTextOf(threeLines, 3)(i.tail(threeLines, math.MaxInt)))
		}, map[string]func(*implementation){"counted": func(i *implementation) { i.slice = countedLines }}},
		caseOf{"LIMITS-04, negative counts", func(i implementation) error {
			return errors.Join(
				isInvalid(i.head(threeLines, -1)), isInvalid(i.head(threeLines, math.MinInt)),
				isInvalid(i.tail(threeLines, -1)), isInvalid(i.tail(threeLines, math.MinInt)))
		}, map[string]func(*implementation){
			"split": func(i *implementation) { i.tail = splitTail },
			"all": func(i *implementation) {
				i.head = func(content string, _ int) (lineaddr.Window, error) { return i.slice(content, lineRange(1, 0)) }
			},
		}},
		encodingCase(1024), encodingCase(4096), encodingCase(32768), encodingCase(65536))
}

// secondMark puts a byte order mark before a text that has one.
func secondMark(content string, rng lineaddr.Range, text string) (string, error) {
	got, err := streaming().splice(content, rng, text)
	if strings.HasPrefix(content, mark) && strings.HasPrefix(text, mark) {
		got = mark + got
	}
	return got, err
}

// encodingCase has a character at the edge of chunks of this size.
func encodingCase(size int) caseOf {
	return caseOf{fmt.Sprintf("ENCODING-01, chunks of %d bytes", size), func(i implementation) error {
		var wrong []error
		for shift := range 4 {
			first := strings.Repeat("x", size-1-shift) + "あ\n"
			wrong = append(wrong, isText(first)(i.head(first+"end\n", 1)))
			last := "あ" + strings.Repeat("y", size-2+shift) + "\n"
			wrong = append(wrong, isText(last)(i.tail("start\n"+last, 1)), isText(last)(i.tail(last, 1)))
		}
		return errors.Join(wrong...)
	}, map[string]func(*implementation){
		"decodes chunks, head": func(i *implementation) {
			i.head = func(content string, n int) (lineaddr.Window, error) {
				return streaming().head(decoded(size, content), n)
			}
		},
		"decodes chunks, tail": func(i *implementation) {
			i.tail = func(content string, n int) (lineaddr.Window, error) {
				return streaming().tail(decodedBackwards(size, content), n)
			}
		},
	}}
}

// TestCases puts the cases to the package, in all ways it reads a file, and to
// implementations that have the fault.
func TestCases(t *testing.T) {
	check := func(c caseOf, i implementation) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return c.check(i)
	}
	for _, c := range cases() {
		for name, i := range map[string]implementation{"stream": streaming(), "stream in pieces": streaming(255, 1, 0, 7, 240), "seek": seeking()} {
			if err := check(c, i); err != nil {
				t.Errorf("%s: %s: %v", c.name, name, err)
			}
		}
		for name, breakIt := range c.broken {
			i := streaming()
			breakIt(&i)
			if err := check(c, i); err == nil {
				t.Errorf("%s: nothing is found wrong with the broken implementation %q", c.name, name)
			}
		}
	}
}

// TestBackEnds reads files as they come out of Open.
func TestBackEnds(t *testing.T) {
	content := strings.Repeat("one line of many\r\n", 50_000) + mark + "the last one"
	all := naiveLines(content)
	for name, fsys := range openable(t, content) {
		f, err := fsys.Open(context.Background(), "/file")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := lineaddr.Tail(f, 2)
		if err := isTextOf(strings.Join(all[len(all)-2:], ""), -1)(w, err); err != nil {
			t.Errorf("%s: Tail: %v", name, err)
		}
		x, err := lineaddr.NewIndex(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w, err = x.Slice(lineRange(40_000, 40_001))
		if err := isTextOf(all[39_999]+all[40_000], len(all))(w, err); err != nil {
			t.Errorf("%s: index: %v", name, err)
		}
		var copied bytes.Buffer
		if _, err := lineaddr.Copy(&copied, f, lineRange(2, 0)); err != nil || copied.String() != content[len(all[0]):] {
			t.Errorf("%s: Copy: %s, %v", name, shown(copied.String()), err)
		}
		f.Close()
		if _, err := lineaddr.Tail(f, 1); !errors.Is(err, ambit.ErrClosed) {
			t.Errorf("%s: Tail of a closed file: %v", name, err)
		}
		if _, err := lineaddr.Slice(f, lineRange(1, 1)); !errors.Is(err, ambit.ErrClosed) {
			t.Errorf("%s: Slice of a closed file: %v", name, err)
		}
		if _, err := x.Slice(lineRange(7, 7)); !errors.Is(err, ambit.ErrClosed) {
			t.Errorf("%s: index of a closed file: %v", name, err)
		}
		if _, err := x.Copy(io.Discard, lineRange(7, 0)); !errors.Is(err, ambit.ErrClosed) {
			t.Errorf("%s: index of a closed file: %v", name, err)
		}
	}
}
