// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

// manyLines is content with lines of all lengths up to 60, over several blocks
// of whatever size it is read by, as far as there is room for it.
var manyLines = func() string {
	var b strings.Builder
	for i := range 24_000 {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), i%61))
		b.WriteString([]string{"\n", "\r\n", "\n"}[i%3])
	}
	return b.String() + "the last line"
}()

// linesOf splits a text into its lines as docs/contract.md says.
func linesOf(text string) []string { return slices.Collect(strings.Lines(text)) }

// lines is the range from the line first to the line last, 0 for the end.
func lines(first, last int) lineaddr.Range { return lineaddr.Range{Start: first, End: last} }

// absurdRanges are ranges that no file could have.
var absurdRanges = []lineaddr.Range{
	lines(-1, 2), lines(0, 2), lines(0, 0), lines(math.MinInt, 0), lines(math.MinInt, math.MaxInt),
	lines(1, -1), lines(2, math.MinInt), lines(3, 2), lines(math.MaxInt, 1), lines(-1, -1),
}

// withoutReadAt is a File that is no io.ReaderAt.
type withoutReadAt struct{ ambit.File }

// wants is what a window must be: the lines from first to last of a text.
type wants struct {
	lines       []string // of the whole text
	first, last int      // 0: no lines
	total       int      // -1: need not be known
}

// window checks a window.
func (p *probe) window(what string, got lineaddr.Window, err error, want wants) {
	if err != nil {
		p.errorf("%s: %v", what, err)
		return
	}
	text := ""
	if want.first > 0 {
		text = strings.Join(want.lines[want.first-1:want.last], "")
	}
	if string(got.Text) != text {
		p.errorf("%s: %s, want %s", what, brief(string(got.Text)), brief(text))
	}
	p.numbers(what, got, want)
}

// numbers checks the numbers of a window.
func (p *probe) numbers(what string, got lineaddr.Window, want wants) {
	if got.First != want.first || got.Last != want.last {
		p.errorf("%s: lines %d to %d, want %d to %d", what, got.First, got.Last, want.first, want.last)
	}
	if got.Total != want.total && (want.total >= 0 || got.Total != len(want.lines)) {
		p.errorf("%s: %d lines in all, want %d", what, got.Total, want.total)
	}
}

// sliced takes the lines of rng of the file at path, in every way that reads a
// stream, and checks them.
func (p *probe) sliced(path string, rng lineaddr.Range, want wants) {
	f := p.open(path)
	w, err := p.text.Slice(f, rng)
	f.Close()
	p.window("the lines "+rng.String()+" of "+path, w, err, want)
	f = p.open(path)
	var copied bytes.Buffer
	w, err = p.text.Copy(&copied, f, rng)
	f.Close()
	w.Text = copied.Bytes()
	p.window("a copy of the lines "+rng.String()+" of "+path, w, err, want)
}

// tailed takes the last n lines of the file at path, which are those of all, by
// ReadAt and without, and checks them.
func (p *probe) tailed(path string, all []string, n int) {
	start := max(len(all)-n, 0)
	want := strings.Join(all[start:], "")
	for _, plain := range []bool{false, true} {
		f := p.open(path)
		var file ambit.File = f
		if plain {
			file = withoutReadAt{f}
		}
		w, err := p.text.Tail(file, n)
		f.Close()
		if err != nil || string(w.Text) != want {
			p.errorf("the last %d lines of %s (as a plain stream: %v): %s, %v, want %s", n, path, plain, brief(string(w.Text)), err, brief(want))
			continue
		}
		if w.First == 0 && w.Last == 0 && w.Total == -1 && start > 0 {
			continue // not counted
		}
		numbers := wants{total: len(all)}
		if start < len(all) {
			numbers.first, numbers.last = start+1, len(all)
		}
		p.numbers("the last lines of "+path, w, numbers)
	}
}

// outOfRange takes a range that the file has not.
func (p *probe) outOfRange(path string, rng lineaddr.Range, total int) {
	f := p.open(path)
	defer f.Close()
	w, err := p.text.Slice(f, rng)
	p.refusedRange("the lines "+rng.String()+" of "+path, w, err, ambit.ErrOutOfRange, total)
}

// refusedRange checks the refusal of a range: it speaks of no path, since what
// reads lines reads a stream.
func (p *probe) refusedRange(what string, w lineaddr.Window, err error, reason ambit.Reason, total int) {
	var e *ambit.Error
	if !errors.As(err, &e) || e == nil || e.Reason != reason {
		p.errorf("%s: %s, lines %d to %d, %v, want %s", what, brief(string(w.Text)), w.First, w.Last, err, reason)
		return
	}
	if reason == ambit.ErrOutOfRange && e.Total != total {
		p.errorf("%s: the error tells of %d lines, want %d", what, e.Total, total)
	}
	if len(w.Text) > 0 {
		p.errorf("%s: refused, and yet %s", what, brief(string(w.Text)))
	}
}

// lineChecks: lines that are read out of an open file.
func lineChecks() []*check {
	return []*check{
		{
			id: "text/lines-final-newline", tree: textTree("line1\nline2\nline3\n", "line1\nline2\nline3", "\n", "a\n\n", "\r\n"),
			rule: "A final newline ends the last line and starts none, in every way to read lines.",
			run: func(p *probe) {
				for i, total := range []int{3, 3, 1, 2, 1} {
					path := textPath(i)
					all := linesOf(p.tree.content(path))
					p.sliced(path, lines(1, 0), wants{all, 1, total, total})
					p.sliced(path, lines(total, 0), wants{all, total, total, total})
					p.outOfRange(path, lines(total+1, total+1), total)
					f := p.open(path)
					if n, err := p.text.Count(f); n != total || err != nil {
						p.errorf("%q has %d lines, %v, want %d", path, n, err, total)
					}
					f.Close()
					f = p.open(path)
					w, err := p.text.Head(f, total+1)
					f.Close()
					p.window("the first lines of "+path, w, err, wants{all, 1, total, total})
				}
			},
		},
		{
			id: "text/lines-past-the-end", tree: textTree("one\ntwo\nthree\n", ""),
			rule: "Lines behind the last one are out-of-range with the number of lines, and an empty file that is read whole has no lines and is no error.",
			run: func(p *probe) {
				p.outOfRange("f0", lines(300, 400), 3)
				p.outOfRange("f0", lines(4, 0), 3)
				p.outOfRange("f1", lines(2, 2), 0)
				p.outOfRange("f1", lines(1, 1), 0)
				p.sliced("f1", lines(1, 0), wants{total: 0})
				p.tailed("f1", nil, 3)
				f := p.open("f1")
				defer f.Close()
				w, err := p.text.Head(f, 3)
				p.window("the first lines of an empty file", w, err, wants{total: w.Total})
			},
		},
		{
			id: "text/lines-of-a-range", tree: textTree("one\ntwo\nthree\n", manyLines),
			rule: "A range of lines is those lines, whose last one belongs to it, and ends at the last line of the file at the latest.",
			run: func(p *probe) {
				all := linesOf("one\ntwo\nthree\n")
				for first := 1; first <= 3; first++ {
					for last := first; last <= 5; last++ {
						want := wants{all, first, min(last, 3), -1}
						if last > 3 {
							want.total = 3
						}
						p.sliced("f0", lines(first, last), want)
					}
					p.sliced("f0", lines(first, 0), wants{all, first, 3, 3})
					f := p.open("f0")
					w, err := p.text.Head(f, first)
					f.Close()
					p.window("the first lines", w, err, wants{all, 1, first, -1})
				}
				all = linesOf(manyLines)
				total := len(all)
				for _, r := range []lineaddr.Range{lines(1, 10), lines(8_000, 16_000), lines(total-1, total), lines(23_000, 0), lines(total, math.MaxInt)} {
					want := wants{all, r.Start, min(r.End, total), -1}
					if r.End == 0 {
						want.last = total
					}
					p.sliced("f1", r, want)
				}
			},
		},
		{
			id: "text/tail", tree: textTree("line1\nline2\nline3\n", "line1\r\nline2\r\nline3\r\n", "a\nb", "\n", "\n\n", "one", "\r\nx"),
			rule: "The last lines are whole lines, a final newline is none of its own, and a file with fewer gives all it has.",
			run: func(p *probe) {
				for _, n := range p.tree {
					all := linesOf(n.Data)
					for _, count := range []int{0, 1, 2, 3, 5} {
						p.tailed(n.Path, all, count)
					}
				}
			},
		},
		{
			id: "text/tail-long", tree: textTree("L1\nL2\nL3\nL4\nL5\nL6\nL7\nL8\nL9\nL10\n", manyLines, manyLines+"\n"),
			rule: "The last lines are those at the end, however many are before them and however many are asked for.",
			run: func(p *probe) {
				for i := 1; i <= 11; i++ {
					p.tailed("f0", linesOf(p.tree[0].Data), i)
				}
				for _, n := range p.tree[1:] {
					all := linesOf(n.Data)
					for _, count := range []int{1, 2, 500, 11_000, 23_999, 24_000, 24_001, 30_000} {
						p.tailed(n.Path, all, count)
					}
				}
			},
		},
		{
			id: "text/lines-verbatim", tree: textTree(
				"p 10%\rp 50%\rdone\nnext\n", "a\r\nb\nc\r\r\n\r", "\ufeffhello\n中文\n", "stra\xdfe\n\xd6\xd0\xce\xc4\n\xe4\xb8", "a\x00b\n\x00\n", "\x0ca\u0085b\u2028c\u2029d\x0be\n", " \t \n\t\n",
			),
			rule: "Lines end at LF alone and are the bytes of the file: their endings, a byte order mark and stray bytes are as they stand in it.",
			run: func(p *probe) {
				for i, total := range []int{2, 4, 2, 3, 2, 1, 2} {
					path := textPath(i)
					all := linesOf(p.tree.content(path))
					p.sliced(path, lines(1, 0), wants{all, 1, total, total})
					for line := 1; line <= total; line++ {
						p.sliced(path, lines(line, line), wants{all, line, line, -1})
					}
					p.tailed(path, all, 1)
					p.tailed(path, all, total+1)
					f := p.open(path)
					w, err := p.text.Head(f, 1)
					f.Close()
					p.window("the first line of "+path, w, err, wants{all, 1, 1, -1})
				}
			},
		},
		{
			id: "text/lines-long", tree: longLines(),
			rule: "A line of any length is one line: it is read whole, and so is what comes after it.",
			run: func(p *probe) {
				for _, n := range p.tree {
					all := linesOf(n.Data)
					p.sliced(n.Path, lines(2, 2), wants{all, 2, 2, -1})
					p.sliced(n.Path, lines(1, 1), wants{all, 1, 1, -1})
					p.tailed(n.Path, all, 1)
					p.tailed(n.Path, all, 2)
					f := p.open(n.Path)
					w, err := p.text.Head(f, 2)
					f.Close()
					p.window("the first lines of "+n.Path, w, err, wants{all, 1, 2, -1})
				}
			},
		},
		{
			id: "text/lines-characters", tree: charactersAtEdges(),
			rule: "No character is cut or replaced wherever in the file it stands: a line is the same bytes however it is read.",
			run: func(p *probe) {
				for _, n := range p.tree {
					all := linesOf(n.Data)
					f := p.open(n.Path)
					w, err := p.text.Head(f, 1)
					f.Close()
					p.window("the first line of "+n.Path, w, err, wants{all, 1, 1, -1})
					p.tailed(n.Path, all, 1)
				}
			},
		},
		{
			id: "text/lines-absurd-numbers", tree: textTree("one\ntwo\nthree\n"),
			rule: "Numbers of lines that no file could have are invalid, huge ones are what they say, and none takes memory.",
			run: func(p *probe) {
				all := linesOf("one\ntwo\nthree\n")
				for _, rng := range absurdRanges {
					f := p.open("f0")
					w, err := p.text.Slice(f, rng)
					p.refusedRange("the lines "+rng.String(), w, err, ambit.ErrInvalid, 0)
					w, err = p.text.Copy(io.Discard, f, rng)
					p.refusedRange("a copy of the lines "+rng.String(), w, err, ambit.ErrInvalid, 0)
					f.Close()
				}
				p.outOfRange("f0", lines(math.MaxInt, math.MaxInt), 3)
				p.outOfRange("f0", lines(math.MaxInt, 0), 3)
				p.outOfRange("f0", lines(math.MaxInt-1, math.MaxInt), 3)
				p.sliced("f0", lines(2, math.MaxInt), wants{all, 2, 3, 3})
				p.tailed("f0", all, math.MaxInt)
				f := p.open("f0")
				w, err := p.text.Head(f, math.MaxInt)
				f.Close()
				p.window("the first lines", w, err, wants{all, 1, 3, 3})
				for _, n := range []int{-1, math.MinInt} {
					f := p.open("f0")
					w, err := p.text.Head(f, n)
					p.refusedRange("a negative number of first lines", w, err, ambit.ErrInvalid, 0)
					w, err = p.text.Tail(f, n)
					p.refusedRange("a negative number of last lines", w, err, ambit.ErrInvalid, 0)
					f.Close()
				}
			},
		},
	}
}

// longLines is files whose first line is longer than what a scanner takes.
func longLines() Tree {
	return textTree(
		strings.Repeat("a", 70_000)+"\nTARGET\n",
		strings.Repeat("a", 70_000)+"\r\nTARGET",
		strings.Repeat("b", 5<<20)+"\nTARGET\n",
	)
}

// charactersAtEdges is files in which a character stands at the edge of a block
// of bytes, counted from the beginning and from the end, for common sizes of
// blocks and for each part of the character.
func charactersAtEdges() Tree {
	var contents []string
	for _, size := range []int{1 << 10, 4 << 10, 32 << 10, 64 << 10, 256 << 10} {
		for shift := range 4 {
			char := []string{"あ", "é", "\U0001F600", "あ"}[shift]
			after := []int{0, 0, 2, 1}[shift] // how many bytes of it stand before the edge, less one
			contents = append(contents,
				strings.Repeat("x", size-1-shift%2)+char+"\nend\n"+char+strings.Repeat("y", size+after-len(char))+"\n")
		}
	}
	return textTree(contents...)
}

// indexChecks: an Index of an open file.
func indexChecks() []*check {
	// noIndex: where a File cannot be read from the middle there is no index.
	noIndex := func(p *probe) {
		f := p.open("file")
		defer f.Close()
		_, err := p.text.Index(withoutReadAt{f})
		if ambit.ReasonOf(err) != ambit.ErrUnsupported {
			p.errorf("an index without ReadAt: %v, want %s", err, ambit.ErrUnsupported)
		}
	}
	readAt := operation("ReadAt", func(c ambit.Capabilities) bool { return c.ReadAt }, noIndex)
	return []*check{
		{
			id: "text/index", requires: []requirement{readAt},
			tree: textTree("", "\n", "one\ntwo\nthree\n", "one\r\ntwo", manyLines, strings.Repeat("b", 600_000)+"\nTARGET\n"),
			rule: "An index of an open file gives the lines that reading it gives.",
			run: func(p *probe) {
				for _, n := range p.tree {
					p.indexed(n.Path, n.Data)
				}
			},
		},
	}
}

// indexed makes an index of the file at path, which holds text, and checks what
// it says.
func (p *probe) indexed(path, text string) {
	f := p.open(path)
	defer f.Close()
	x, err := p.text.Index(f)
	if err != nil || x == nil {
		p.errorf("an index of %s: %v", path, err)
		return
	}
	all := linesOf(text)
	total := len(all)
	if got := x.Lines(); got != total {
		p.errorf("the index of %s has %d lines, want %d", path, got, total)
	}
	w, err := x.Slice(lines(total+1, total+1))
	p.refusedRange("a line behind the last of "+path, w, err, ambit.ErrOutOfRange, total)
	if total == 0 {
		w, err := x.Slice(lines(1, 0))
		p.window("the whole of an empty file", w, err, wants{})
		return
	}
	for _, rng := range []lineaddr.Range{lines(1, 1), lines(total, total), lines(total, 0), lines(max(total/2, 1), max(total/2, 1)), lines(max(total-9, 1), math.MaxInt)} {
		want := wants{all, rng.Start, min(rng.End, total), total}
		if rng.End == 0 {
			want.last = total
		}
		w, err := x.Slice(rng)
		p.window("the lines "+rng.String()+" by an index", w, err, want)
		var copied bytes.Buffer
		w, err = x.Copy(&copied, rng)
		w.Text = copied.Bytes()
		p.window("a copy of the lines "+rng.String()+" by an index", w, err, want)
	}
}
