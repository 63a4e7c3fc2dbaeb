// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
)

const (
	lineLength   = 64
	stampedLines = 1 << 12 // every so many lines one has its number in it
	stampedSize  = stampedLines * lineLength
)

// generated is a text of any size that is made as it is read. Each line has
// lineLength bytes, and the first of stampedLines lines has its number.
type generated struct {
	size, at int64
	stamped  []byte
	peak     *peak
}

func newGenerated(size int64, p *peak) *generated {
	return &generated{size: size, stamped: bytes.Repeat([]byte(strings.Repeat("-", lineLength-1)+"\n"), stampedLines), peak: p}
}

// generatedLine is the text of a line, by its 1-based number.
func generatedLine(number int) string {
	stamp := ""
	if (number-1)%stampedLines == 0 {
		stamp = fmt.Sprintf("%020d", number)
	}
	return stamp + strings.Repeat("-", lineLength-1-len(stamp)) + "\n"
}

func (g *generated) Read(p []byte) (int, error) {
	n, err := g.ReadAt(p[:min(len(p), stampedSize)], g.at)
	g.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (g *generated) ReadAt(p []byte, offset int64) (int, error) {
	n := 0
	for n < len(p) && offset < g.size {
		number := uint64(offset/stampedSize*stampedLines + 1)
		for i := 19; i >= 0; i-- {
			g.stamped[i] = byte('0' + number%10)
			number /= 10
		}
		m := copy(p[n:], g.stamped[offset%stampedSize:min(stampedSize, g.size-offset+offset%stampedSize)])
		n += m
		offset += int64(m)
	}
	g.peak.look(int64(n))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// peak sees how far the heap grows while something is read.
type peak struct {
	before   runtime.MemStats
	most     uint64
	between  int64 // bytes that are read between two looks
	lastLook int64
}

func newPeak(between int64) *peak {
	p := &peak{between: between}
	runtime.GC()
	runtime.ReadMemStats(&p.before)
	return p
}

func (p *peak) look(read int64) {
	if p.lastLook += read; p.lastLook < p.between {
		return
	}
	p.lastLook = 0
	p.sample()
}

func (p *peak) sample() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	p.most = max(p.most, m.HeapAlloc)
	return m
}

// flat is what nothing may take more of, whatever it reads: held at once, and
// allocated in all.
const flat = 2 << 20

func (p *peak) check() error {
	m := p.sample()
	held := int64(p.most) - int64(p.before.HeapAlloc)
	allocated := m.TotalAlloc - p.before.TotalAlloc
	if held > flat || allocated > flat {
		return fmt.Errorf("%d KiB are held at once, %d KiB are allocated in all", held>>10, allocated>>10)
	}
	return nil
}

// TestFlatMemory reads more than any machine here holds.
func TestFlatMemory(t *testing.T) {
	const gib = 1 << 30
	size := int64(10 * gib)
	if testing.Short() {
		size = gib
	}
	lines := int(size / lineLength)
	wanted := lineaddr.Range{Start: lines - 5 - stampedLines, End: lines - stampedLines + 5}
	var want strings.Builder
	for number := wanted.Start; number <= wanted.End; number++ {
		want.WriteString(generatedLine(number))
	}
	answer := func(w lineaddr.Window, err error) error {
		if err != nil || string(w.Text) != want.String() || w.First != wanted.Start || w.Last != wanted.End {
			return fmt.Errorf("lines %d to %d: %s, %w", w.First, w.Last, shown(string(w.Text)), err)
		}
		return nil
	}
	counted := func(n, want int, err error) error {
		if n != want || err != nil {
			return fmt.Errorf("%d lines, %w; want %d", n, err, want)
		}
		return nil
	}
	for _, c := range []struct {
		name string
		size int64
		read func(g *generated) error
		grow bool // the control: what is held grows with the size
	}{
		{"Slice", size, func(g *generated) error { return answer(lineaddr.Slice(g, wanted)) }, false},
		{"Copy", size / 10, func(g *generated) error {
			w, err := lineaddr.Copy(io.Discard, g, lineaddr.Range{Start: 2})
			return counted(w.Last, lines/10, err)
		}, false},
		{"Count of lines and then one line without end", size / 10, func(g *generated) error {
			endless := &repeated{left: size / 20, text: bytes.Repeat([]byte("x"), 1<<18)}
			n, err := lineaddr.Count(io.MultiReader(g, endless))
			return counted(n, lines/10+1, err)
		}, false},
		{"Tail forwards", size / 10, func(g *generated) error {
			w, err := lineaddr.Tail(&streamFile{Reader: g, info: ambit.FileInfo{Size: -1}}, stampedLines)
			return sizedText(w, err, stampedLines*lineLength)
		}, false},
		{"Tail backwards", size, func(g *generated) error {
			f := &randomFile{at: g}
			f.info.Size = size
			w, err := lineaddr.Tail(f, stampedLines)
			return sizedText(w, err, stampedLines*lineLength)
		}, false},
		{"Index", size / 10, func(g *generated) error {
			f := &randomFile{at: g}
			f.info.Size = g.size
			x, err := lineaddr.NewIndex(f)
			if err != nil {
				return err
			}
			w, err := x.Copy(io.Discard, lineaddr.Range{Start: 2})
			return counted(w.Last, lines/10, err)
		}, false},
		{"control: reads all", 64 << 20, func(g *generated) error {
			data, err := io.ReadAll(g)
			return counted(bytes.Count(data, []byte("\n")), 1<<20, err)
		}, true},
		{"control: a string for each line", 64 << 20, func(g *generated) error {
			_, err := lineaddr.Copy(stringsOf{}, g, lineaddr.Range{Start: 1})
			return err
		}, true},
	} {
		g := newGenerated(c.size/lineLength*lineLength, nil)
		g.peak = newPeak(c.size / 16)
		if err := c.read(g); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := g.peak.check(); (err != nil) != c.grow {
			t.Errorf("%s: memory: %v", c.name, err)
		}
	}
}

func sizedText(w lineaddr.Window, err error, size int) error {
	if len(w.Text) != size || err != nil {
		return errors.Join(err, fmt.Errorf("a text of %d bytes, want %d", len(w.Text), size))
	}
	return nil
}

// stringsOf makes a string of all that is written.
type stringsOf struct{}

func (stringsOf) Write(p []byte) (int, error) {
	kept = strings.Clone(string(p))
	return len(p), nil
}

var kept string

// repeated is a stream of left bytes: text again and again.
type repeated struct {
	left int64
	text []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(int64(len(r.text)), r.left)])
	r.left -= int64(n)
	return n, nil
}

// TestSmallInputsAreCheap: no block of 256 KiB is for a small file.
func TestSmallInputsAreCheap(t *testing.T) {
	const content = "one\ntwo\nthree\n"
	f := newRandomFile(content)
	r := strings.NewReader("")
	for name, read := range map[string]func(){
		"Slice": func() { r.Reset(content); lineaddr.Slice(r, lineaddr.Range{Start: 2, End: 2}) },
		"Head":  func() { r.Reset(content); lineaddr.Head(r, 10) },
		"Copy":  func() { r.Reset(content); lineaddr.Copy(io.Discard, r, lineaddr.Range{Start: 1}) },
		"Count": func() { r.Reset(content); lineaddr.Count(r) },
		"Tail":  func() { lineaddr.Tail(f, 2) },
		"index": func() { lineaddr.NewIndex(f) },
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // what the pools held is gone
		runtime.ReadMemStats(&before)
		read()
		runtime.ReadMemStats(&after)
		if most := uint64(64 << 10); after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%s of %d bytes allocates %d bytes", name, len(content), after.TotalAlloc-before.TotalAlloc)
		}
		if allocations := testing.AllocsPerRun(20, read); allocations > 8 {
			t.Errorf("%s of %d bytes: %v allocations", name, len(content), allocations)
		}
	}
}
