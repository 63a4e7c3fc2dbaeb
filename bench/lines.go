// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/local"
)

const (
	logFile   = "log"
	tailLines = 100
	readSize  = 256 << 10
)

// linesContests are the contests of reading by lines, on a small file.
func linesContests(scratch string) []contest {
	const size = 1 << 20
	dir := logTree(scratch, size)
	return []contest{{
		name: fmt.Sprintf("lines: the last %d lines of 1 MiB", tailLines), contenders: []contender{
			{name: "os.File, blocks from the end, lines copied (not confined)", start: onTree(dir, bareTail(true))},
			{name: "ambit Tail", start: onTree(dir, ambitTail), bar: bar{ratio: 2}},
			{name: "os.File, blocks from the end, lines counted only (not confined)", start: onTree(dir, bareTail(false))},
		},
	}}
}

// largeLinesContests are those on a log of size bytes.
func largeLinesContests(scratch string, size int64) []contest {
	small, large := logTree(scratch, min(1<<20, size)), logTree(scratch, size)
	wanted := wantedOf(size)
	mib := size >> 20
	return []contest{
		{
			name: fmt.Sprintf("lines: %v of %d MiB", wanted, mib), batch: 1, contenders: []contender{
				{name: "os.File, the same bytes, 256 KiB at once (not confined)", start: onTree(large, bareRead(wanted))},
				slicing(large, wanted),
			},
		},
		processContest(large, wanted, mib),
		{
			name: fmt.Sprintf("lines: the last %d lines of %d MiB", tailLines, mib), contenders: []contender{
				{name: "os.File, blocks from the end, lines copied (not confined)", start: onTree(large, bareTail(true))},
				{name: "ambit Tail", start: onTree(large, ambitTail), bar: bar{ratio: 2}},
				{name: "os.File, blocks from the end, lines counted only (not confined)", start: onTree(large, bareTail(false))},
			},
		},
		{
			name: fmt.Sprintf("lines: growth of Tail from 1 MiB to %d MiB", mib), contenders: []contender{
				{name: "1 MiB", start: onTree(small, ambitTail)},
				{name: fmt.Sprintf("%d MiB", mib), start: onTree(large, ambitTail), bar: bar{ratio: 1.2}},
			},
		},
		{
			name: fmt.Sprintf("lines: index of %d MiB", mib), batch: 1, contenders: []contender{
				{name: "os.File, all bytes, 256 KiB at once (not confined)", start: onTree(large, bareRead(lineaddr.Range{Start: 1}))},
				{name: "ambit NewIndex", start: onTree(large, indexing)},
			},
		},
		{
			name: fmt.Sprintf("lines: %d lines anywhere in %d MiB", tailLines, mib), contenders: []contender{
				{name: "os.File, one read of 256 KiB (not confined)", start: onTree(large, bareBlocks)},
				anywhere(large),
			},
		},
	}
}

// wantedOf is the range of a log of size bytes that is asked for: lines
// 5,000,000 to 5,000,050 of 1 GiB.
func wantedOf(size int64) lineaddr.Range {
	start := int(5_000_000 * size >> 30)
	return lineaddr.Range{Start: start, End: start + 50}
}

// logBlock is some lines of a log, of 60 to 155 bytes, 107 on average.
var logBlock = func() []byte {
	var b bytes.Buffer
	for i := range 9600 {
		fmt.Fprintf(&b, "2026-11-30T12:%02d:%02d.%06dZ INFO worker-%02d: %s\n",
			i/60%60, i%60, i*7919%1_000_000, i%16, strings.Repeat("request ", 20)[:14+i*61%96])
	}
	return b.Bytes()
}()

// logTree is a folder with a log of about size bytes, which ends with a
// newline.
func logTree(scratch string, size int64) func() (string, error) {
	return tree(scratch, func(dir string) error {
		f, err := os.Create(filepath.Join(dir, logFile))
		if err != nil {
			return err
		}
		defer f.Close()
		for size > 0 && err == nil {
			block := logBlock
			if size < int64(len(block)) {
				block = block[:bytes.LastIndexByte(block[:size], '\n')+1]
				size = 0
			}
			_, err = f.Write(block)
			size -= int64(len(block))
		}
		return errors.Join(err, f.Close())
	})
}

// logLines returns what the lines of rng are, and where they end, or the end
// of the file for a range to the end.
func logLines(rng lineaddr.Range) (text string, end int64) {
	all := strings.SplitAfter(string(logBlock), "\n")
	all = all[:len(all)-1]
	end = int64((rng.Start-1)/len(all)) * int64(len(logBlock))
	for _, line := range all[:(rng.Start-1)%len(all)] {
		end += int64(len(line))
	}
	for i := rng.Start - 1; i < rng.End; i++ {
		text += all[i%len(all)]
	}
	return text, end + int64(len(text))
}

// openLog opens the log of a folder, and tells its size.
func openLog(dir string) (*os.File, int64, error) {
	f, err := os.Open(filepath.Join(dir, logFile))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// bareRead reads all bytes up to the end of the range.
func bareRead(rng lineaddr.Range) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		f, size, err := openLog(dir)
		if err != nil {
			return nil, nil, err
		}
		if rng.End > 0 {
			_, size = logLines(rng)
		}
		buf := make([]byte, readSize)
		return func(int) error {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			for left := size; left > 0; {
				n, err := f.Read(buf[:min(left, readSize)])
				if err != nil {
					return err
				}
				left -= int64(n)
			}
			return nil
		}, func() { f.Close() }, nil
	}
}

// serveLog starts the operation that makeOp returns for the log of the folder,
// opened through local.
func serveLog(dir string, makeOp func(open func() (ambit.File, error)) (func(int) error, func(), error)) (func(int) error, func(), error) {
	fsys, err := local.New(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	op, stop, err := makeOp(func() (ambit.File, error) { return fsys.Open(ctx, logFile) })
	return op, func() {
		if stop != nil {
			stop()
		}
		fsys.Close()
	}, err
}

// slicing is Slice, and a note of how far the heap grows for it.
func slicing(dir func() (string, error), rng lineaddr.Range) contender {
	var grown uint64
	want, _ := logLines(rng)
	return contender{
		name: "ambit Open, Slice, Close",
		bar:  bar{ratio: 1 / 0.8}, // at least 0.8 of the speed
		start: onTree(dir, func(dir string) (func(int) error, func(), error) {
			return serveLog(dir, func(open func() (ambit.File, error)) (func(int) error, func(), error) {
				slice := func() error {
					f, err := open()
					if err != nil {
						return err
					}
					defer f.Close()
					w, err := lineaddr.Slice(f, rng)
					if err == nil && string(w.Text) != want {
						err = fmt.Errorf("lines %v are %d bytes of other text", rng, len(w.Text))
					}
					return err
				}
				var err error
				grown, err = heapGrowth(slice)
				return func(int) error { return slice() }, nil, err
			})
		}),
		note: func() string { return fmt.Sprintf("the heap grew by at most %d KiB", grown>>10) },
	}
}

// bareTail finds the last lines of a file that stays open in a block before its
// end, which all of them fit in. copied: it returns them in memory of their own,
// as whoever uses them needs them.
func bareTail(copied bool) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		f, size, err := openLog(dir)
		if err != nil {
			return nil, nil, err
		}
		buf := make([]byte, min(size, 16<<10))
		return func(int) error {
			if _, err := f.ReadAt(buf, size-int64(len(buf))); err != nil {
				return err
			}
			text := buf
			for range bytes.Count(text, newline) - tailLines {
				text = text[bytes.IndexByte(text, '\n')+1:]
			}
			if copied {
				text = bytes.Clone(text)
			}
			return counted(bytes.Count(text, newline), tailLines, nil)
		}, func() { f.Close() }, nil
	}
}

var newline = []byte{'\n'}

// ambitTail does so by Tail.
func ambitTail(dir string) (func(int) error, func(), error) {
	return serveLog(dir, func(open func() (ambit.File, error)) (func(int) error, func(), error) {
		f, err := open()
		if err != nil {
			return nil, nil, err
		}
		return func(int) error {
			w, err := lineaddr.Tail(f, tailLines)
			return counted(bytes.Count(w.Text, newline), tailLines, err)
		}, func() { f.Close() }, nil
	})
}

func indexing(dir string) (func(int) error, func(), error) {
	return serveLog(dir, func(open func() (ambit.File, error)) (func(int) error, func(), error) {
		f, err := open()
		if err != nil {
			return nil, nil, err
		}
		return func(int) error {
			_, err := lineaddr.NewIndex(f)
			return err
		}, func() { f.Close() }, nil
	})
}

// places are n places of a file, all over it.
func places(n int) func() int {
	at := 0
	return func() int {
		at = (at + 1_618_033) % n
		return at
	}
}

// bareBlocks reads a block somewhere.
func bareBlocks(dir string) (func(int) error, func(), error) {
	f, size, err := openLog(dir)
	if err != nil {
		return nil, nil, err
	}
	next := places(int(max(1, size/readSize)))
	buf := make([]byte, readSize)
	return func(int) error {
		_, err := f.ReadAt(buf, int64(next())*readSize)
		return err
	}, func() { f.Close() }, nil
}

// anywhere is the slice of an index, and a note of the slowest.
func anywhere(dir func() (string, error)) contender {
	var slowest time.Duration
	slices := 0
	return contender{
		name: "ambit Index.Slice",
		bar:  bar{added: time.Millisecond},
		start: onTree(dir, func(dir string) (func(int) error, func(), error) {
			return serveLog(dir, func(open func() (ambit.File, error)) (func(int) error, func(), error) {
				f, err := open()
				if err != nil {
					return nil, nil, err
				}
				x, err := lineaddr.NewIndex(f)
				if err != nil {
					return nil, func() { f.Close() }, err
				}
				next := places(x.Lines() - tailLines)
				return func(int) error {
					start := next() + 1
					begin := time.Now()
					w, err := x.Slice(lineaddr.Range{Start: start, End: start + tailLines - 1})
					slowest = max(slowest, time.Since(begin))
					slices++
					return counted(bytes.Count(w.Text, newline), tailLines, err)
				}, func() { f.Close() }, nil
			})
		}),
		note: func() string { return fmt.Sprintf("the slowest of %d took %v", slices, slowest) },
	}
}
