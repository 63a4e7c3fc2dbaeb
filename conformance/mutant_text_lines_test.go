// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/lineaddr"
)

type (
	sliceFunc = func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error)
	headFunc  = func(r io.Reader, n int) (lineaddr.Window, error)
	tailFunc  = func(f ambit.File, n int) (lineaddr.Window, error)
)

// slicesBy breaks the reading of ranges.
func slicesBy(f func(right sliceFunc) sliceFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Slice = f(e.Slice) }
}

func headsBy(f func(right headFunc) headFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Head = f(e.Head) }
}

func tailsBy(f func(right tailFunc) tailFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Tail = f(e.Tail) }
}

// shows changes the text of a window.
func shows(change func(text string) string) func(e *conformance.TextEngine) {
	return slicesBy(func(right sliceFunc) sliceFunc {
		return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
			w, err := right(r, rng)
			w.Text = []byte(change(string(w.Text)))
			return w, err
		}
	})
}

// decodedByBlocks turns every block of bytes into text by itself.
func decodedByBlocks(text []byte, size int) []byte {
	var out []byte
	for block := range slices.Chunk(text, size) {
		out = append(out, bytes.ToValidUTF8(block, []byte("\ufffd"))...)
	}
	return out
}

// lineMutants read lines as other programs do.
func lineMutants() []mutant {
	return []mutant{
		{name: "lines are split at every LF", check: "text/lines-final-newline", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				data, err := io.ReadAll(r)
				if err != nil || rng.Check() != nil {
					return right(bytes.NewReader(data), rng)
				}
				all := strings.Split(string(data), "\n")
				if rng.Start > len(all) {
					return right(bytes.NewReader(data), rng)
				}
				last := len(all)
				if rng.End > 0 {
					last = min(rng.End, last)
				}
				return lineaddr.Window{Text: []byte(strings.Join(all[rng.Start-1:last], "\n")), First: rng.Start, Last: last, Total: len(all)}, nil
			}
		})},
		{name: "lines are counted by their LF", check: "text/lines-final-newline", engine: func(e *conformance.TextEngine) {
			e.Count = func(r io.Reader) (int, error) {
				data, err := io.ReadAll(r)
				return bytes.Count(data, []byte("\n")), err
			}
		}},
		{name: "lines past the end are blank", check: "text/lines-past-the-end", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				w, err := right(r, rng)
				if ambit.ReasonOf(err) == ambit.ErrOutOfRange {
					return lineaddr.Window{First: rng.Start, Last: rng.Start, Total: rng.Start}, nil
				}
				return w, err
			}
		})},
		{name: "an empty file is out of range", check: "text/lines-past-the-end", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				w, err := right(r, rng)
				if err == nil && w.Total == 0 {
					return lineaddr.Window{}, &ambit.Error{Reason: ambit.ErrOutOfRange}
				}
				return w, err
			}
		})},
		{name: "the last line of a range does not belong to it", check: "text/lines-of-a-range", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				if rng.End > rng.Start {
					rng.End--
				}
				return right(r, rng)
			}
		})},
		{name: "the last lines are counted by a split", check: "text/tail", engine: tailsBy(func(right tailFunc) tailFunc {
			return func(f ambit.File, n int) (lineaddr.Window, error) {
				data, err := io.ReadAll(f)
				all := strings.SplitAfter(string(data), "\n")
				if err != nil || n < 0 || n > len(all) {
					return right(f, n)
				}
				return lineaddr.Window{Text: []byte(strings.Join(all[len(all)-n:], "")), Total: -1}, nil
			}
		})},
		{name: "the last lines of a plain stream are all its lines", check: "text/tail", engine: tailsBy(func(right tailFunc) tailFunc {
			return func(f ambit.File, n int) (lineaddr.Window, error) {
				if _, ok := f.(io.ReaderAt); ok || n <= 0 {
					return right(f, n)
				}
				return right(f, 1<<30)
			}
		})},
		{name: "the last lines are found backwards and taken forwards", check: "text/tail-long", engine: tailsBy(func(right tailFunc) tailFunc {
			return func(f ambit.File, n int) (lineaddr.Window, error) {
				data, err := io.ReadAll(f)
				all := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
				if err != nil || n <= 0 || 2*n >= len(all) {
					return right(f, n)
				}
				return lineaddr.Window{Text: []byte(strings.Join(all[n:2*n], "")), Total: -1}, nil
			}
		})},
		{name: "a lone CR is shown as a line break", check: "text/lines-verbatim", engine: shows(func(text string) string {
			return strings.NewReplacer("\r\n", "\r\n", "\r", "\n").Replace(text)
		})},
		{name: "CR LF is shown as LF", check: "text/lines-verbatim", engine: shows(func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") })},
		{name: "stray bytes are shown as U+FFFD", check: "text/lines-verbatim", engine: shows(func(text string) string { return strings.ToValidUTF8(text, "\ufffd") })},
		{name: "the byte order mark is not shown", check: "text/lines-verbatim", engine: shows(func(text string) string { return strings.TrimPrefix(text, "\ufeff") })},
		{name: "a scanner ends at a long line", check: "text/lines-long", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				var seen bytes.Buffer
				scanner := bufio.NewScanner(r)
				for scanner.Scan() {
					seen.WriteString(scanner.Text() + "\n")
				}
				return right(&seen, rng)
			}
		})},
		{name: "a long line is cut", check: "text/lines-long", engine: shows(func(text string) string { return text[:min(len(text), 1<<20)] })},
		{name: "the first line is decoded by blocks", check: "text/lines-characters", engine: headsBy(func(right headFunc) headFunc {
			return func(r io.Reader, n int) (lineaddr.Window, error) {
				w, err := right(r, n)
				w.Text = decodedByBlocks(w.Text, 32<<10)
				return w, err
			}
		})},
		{name: "the last line is decoded by blocks from its end", check: "text/lines-characters", engine: tailsBy(func(right tailFunc) tailFunc {
			return func(f ambit.File, n int) (lineaddr.Window, error) {
				w, err := right(f, n)
				size := len(w.Text) % (64 << 10)
				w.Text = append(decodedByBlocks(w.Text[:size], 64<<10), decodedByBlocks(w.Text[size:], 64<<10)...)
				return w, err
			}
		})},
		{name: "room for all lines that are asked for is made first", check: "text/lines-absurd-numbers", panics: true, engine: headsBy(func(right headFunc) headFunc {
			return func(r io.Reader, n int) (lineaddr.Window, error) {
				w, err := right(r, n)
				w.Text = append(make([]byte, 0, max(n, 0)*2), w.Text...)
				return w, err
			}
		})},
		{name: "a negative number of lines is none", check: "text/lines-absurd-numbers", engine: tailsBy(func(right tailFunc) tailFunc {
			return func(f ambit.File, n int) (lineaddr.Window, error) { return right(f, max(n, 0)) }
		})},
		{name: "the end of a range overflows", check: "text/lines-absurd-numbers", engine: slicesBy(func(right sliceFunc) sliceFunc {
			return func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error) {
				if rng.End > 0 && rng.End+1 < 0 {
					rng.End = rng.Start
				}
				return right(r, rng)
			}
		})},
		{name: "an index has the lines of the first block", check: "text/index", engine: func(e *conformance.TextEngine) {
			right := e.Index
			e.Index = func(f ambit.File) (conformance.TextIndex, error) {
				x, err := right(f)
				if err != nil || x.Lines() < 1000 {
					return x, err
				}
				return halfIndex{x}, nil
			}
		}},
		{name: "an index reads what it cannot read from the middle", check: "text/index", on: withoutReadAt, unclaimed: true, engine: func(e *conformance.TextEngine) {
			e.Index = func(f ambit.File) (conformance.TextIndex, error) {
				data, err := io.ReadAll(f)
				return heldIndex(data), err
			}
		}},

		{name: "ReadAt misses the last byte", check: "text/tail", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, err := readerAt(file).ReadAt(p, off)
					if n > 0 && off+int64(n) == file.Info().Size {
						return n - 1, io.EOF
					}
					return n, err
				}}
			}
		}},
		{name: "ReadAt behind the first block gives the first block", check: "text/index", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					return readerAt(file).ReadAt(p, off%(512<<10))
				}}
			}
		}},
	}
}

// halfIndex is an index that does not know the second half of the lines.
type halfIndex struct{ conformance.TextIndex }

func (x halfIndex) Lines() int { return x.TextIndex.Lines() / 2 }

// heldIndex is an index of content that is held in memory.
type heldIndex []byte

func (x heldIndex) Lines() int { n, _ := lineaddr.Count(bytes.NewReader(x)); return n }

func (x heldIndex) Slice(rng lineaddr.Range) (lineaddr.Window, error) {
	return lineaddr.Slice(bytes.NewReader(x), rng)
}

func (x heldIndex) Copy(dst io.Writer, rng lineaddr.Range) (lineaddr.Window, error) {
	return lineaddr.Copy(dst, bytes.NewReader(x), rng)
}
