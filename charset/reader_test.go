// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
)

// pieces gives content in pieces of random sizes, with the error of the end now
// together with the last one and now behind it.
type pieces struct {
	content []byte
	random  *rand.Rand
	largest int
	end     error
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.random.IntN(p.largest+1))], p.content)
	p.content = p.content[n:]
	if len(p.content) == 0 && p.random.IntN(2) == 0 {
		return n, p.end
	}
	return n, nil
}

// readAll reads with buffers of random sizes.
func readAll(r io.Reader, random *rand.Rand, largest int) (text []byte, err error) {
	for {
		p := make([]byte, random.IntN(largest+1))
		n, err := r.Read(p)
		text = append(text, p[:n]...)
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// checkReader compares a reader with Decode, content cut anyhow.
func checkReader(t testing.TB, raw []byte, e charset.Encoding, random *rand.Rand, largest int) {
	t.Helper()
	document, errWhole := charset.Decode(raw, e)
	r := charset.NewReader(&pieces{content: raw, random: random, largest: largest, end: io.EOF}, e)
	text, err := readAll(r, random, largest)
	if errWhole == nil {
		if err != nil || !bytes.Equal(text, document.Text()) {
			t.Fatalf("reader of % x, %q: %q, %v; want %q", raw, e, text, err, document.Text())
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Fatalf("behind the end: %d, %v", n, err)
		}
		return
	}
	if err == nil || err.Error() != errWhole.Error() {
		t.Fatalf("reader of % x, %q: %q, %v; want %v", raw, e, text, err, errWhole)
	}
	var refusal *ambit.Error
	if !errors.As(err, &refusal) || refusal.Reason != ambit.ErrNotText {
		t.Fatalf("reader of % x, %q: %#v", raw, e, err)
	}
	if n, again := r.Read(make([]byte, 1)); n != 0 || again != err {
		t.Fatalf("after %v: %d, %v", err, n, again)
	}
}

func TestReader(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, e := range append(encodings(t), charset.Encoding{}) {
		for range 100 {
			checkReader(t, randomContent(random, e, 40), e, random, 1+random.IntN(8))
		}
		var long []byte
		for len(long) < 40<<10 {
			part, err := charset.EncodeText(randomText(random, e, 400), e)
			if err == nil {
				long = append(long, part...)
			}
			long = append(long, make([]byte, len(long)%2)...) // UTF-16 goes on in step
		}
		if random.IntN(2) == 0 {
			long[random.IntN(len(long))] ^= byte(random.Uint32())
		}
		checkReader(t, long, e, random, 64<<random.IntN(10))
	}
}

// TestReaderEdges is case ENCODING-01: a character across the edge of a buffer of
// whatever size.
func TestReaderEdges(t *testing.T) {
	for _, size := range []int{1024, 4096, 16384, 32768} {
		for shift := -3; shift <= 3; shift++ {
			for _, text := range []string{
				strings.Repeat("x", size-1+shift) + "あ\nend\n",
				"あ" + strings.Repeat("y", size-2+shift) + "\n",
				"\ufeff" + strings.Repeat("x", size-1+shift) + "😀",
			} {
				want := strings.TrimPrefix(text, "\ufeff")
				for _, e := range []charset.Encoding{{}, charset.UTF8, charset.UTF16, charset.UTF16LE, charset.UTF16BE} {
					raw, err := charset.EncodeText([]byte(text), e)
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range []io.Reader{bytes.NewReader(raw), iotest.HalfReader(bytes.NewReader(raw)), iotest.DataErrReader(bytes.NewReader(raw))} {
						got, err := io.ReadAll(charset.NewReader(r, e))
						if err != nil || string(got) != want {
							t.Fatalf("%d%+d, %q: %d bytes, %v", size, shift, e, len(got), err)
						}
					}
				}
			}
		}
	}
}

// TestReaderSourceFails: what the source gave before it failed is not lost, and its
// error is not taken for the content's.
func TestReaderSourceFails(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	broken := errors.New("the line is dead")
	for _, e := range append(encodings(t), charset.Encoding{}) {
		for range 40 {
			raw, err := charset.EncodeText(randomText(random, e, 20), e)
			if err != nil {
				continue
			}
			document, err := charset.Decode(raw, e)
			if err != nil {
				t.Fatal(err)
			}
			cut := random.IntN(len(raw) + 1)
			text, err := readAll(charset.NewReader(&pieces{raw[:cut], random, 5, broken}, e), random, 5)
			if !errors.Is(err, broken) || ambit.ReasonOf(err) != ambit.ErrIO {
				t.Fatalf("reader of % x, %q: %v", raw[:cut], e, err)
			}
			if !bytes.HasPrefix(document.Text(), text) || cut == len(raw) && !bytes.Equal(text, document.Text()) {
				t.Fatalf("reader of % x, %q: %q of %q", raw[:cut], e, text, document.Text())
			}
		}
	}
	gone := &ambit.Error{Op: ambit.OpOpen, Path: "/f", Reason: ambit.ErrChanged}
	_, err := io.ReadAll(charset.NewReader(iotest.ErrReader(gone), charset.UTF16LE))
	if ambit.ReasonOf(err) != ambit.ErrChanged {
		t.Errorf("the reason of the source is lost: %v", err)
	}
	for _, e := range []charset.Encoding{{}, charset.UTF8, charset.UTF16} {
		if _, err := io.ReadAll(charset.NewReader(nil, e)); ambit.ReasonOf(err) != ambit.ErrInvalid {
			t.Errorf("a nil source: %v", err)
		}
	}
}

// TestReaderEager: bytes that cannot be part of a mark are not held back until
// more come.
func TestReaderEager(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go w.Write([]byte("x"))
	text := charset.NewReader(r, charset.Encoding{})
	if n, err := text.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := text.Read(nil); n != 0 || err != nil {
		t.Errorf("an empty read: %d, %v", n, err)
	}
}

// TestReaderFlat reads 16 MiB in less than 512 KiB.
func TestReaderFlat(t *testing.T) {
	const size = 16 << 20
	for name, line := range map[string]string{
		"": "stra\xdfe\n", "utf-8": "straße\n", "utf-16be": "\x4e\x2d\x00\n", "gbk": "\xd6\xd0\n", "windows-1252": "stra\xdfe\n",
	} {
		e, err := charset.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		length := size
		if testing.Short() || name == "gbk" || name == "windows-1252" {
			length /= 8
		}
		source := &repeat{line: line, left: length / len(line)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := charset.NewReader(source, e)
		first := make([]byte, 3)
		if _, err := io.ReadFull(text, first); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, text)
		runtime.ReadMemStats(&after)
		if err != nil || n < int64(length)/2 {
			t.Errorf("%q: %d bytes, %v", name, n, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<10 {
			t.Errorf("%q: %d bytes allocated", name, used)
		}
	}
}

// repeat is a line, left times.
type repeat struct {
	line string
	at   int
	left int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) && r.left > 0 {
		m := copy(p[n:], r.line[r.at:])
		n += m
		if r.at += m; r.at == len(r.line) {
			r.at = 0
			r.left--
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestConcurrent(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				e, err := charset.Lookup([]string{"gbk", "iso-2022-jp", "utf-16le", "latin1"}[i%4])
				if err != nil {
					t.Error(err)
					return
				}
				raw, err := charset.EncodeText([]byte("<p>\u00a7</p>\n"), e)
				if err != nil {
					t.Error(err)
					return
				}
				document, err := charset.Decode(raw, e)
				if err != nil || string(document.Text()) != "<p>\u00a7</p>\n" {
					t.Errorf("%s: %q, %v", e, document.Text(), err)
				}
				if class := charset.Classify(raw, true); !class.Text {
					t.Errorf("%s: %+v", e, class)
				}
			}
		})
	}
	group.Wait()
}
