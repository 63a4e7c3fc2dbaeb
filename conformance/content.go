// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing/iotest"

	"github.com/ambitfs/ambit"
)

// errContent is the error of a content reader of the suite.
var errContent = errors.New("the content broke")

// contentMethod is a method that publishes content.
type contentMethod struct {
	method
	// give publishes the content at path, all the way.
	give func(ctx context.Context, p *probe, path string, content io.Reader, parents bool) error
}

// opOf returns the operation that an error of give may be of: staged content
// fails when it is staged, or when it is published.
func (m contentMethod) opOf(err error) string {
	var e *ambit.Error
	if m.id == methodStage.id && errors.As(err, &e) && e != nil && e.Op == ambit.OpPublish {
		return e.Op
	}
	return m.op
}

// contentMethods are all methods that take content.
func contentMethods() []contentMethod {
	return []contentMethod{
		{methodWrite, func(ctx context.Context, p *probe, path string, content io.Reader, parents bool) error {
			_, err := p.writable().Write(ctx, path, content, &ambit.WriteOptions{Parents: parents})
			return err
		}},
		{methodAppend, func(ctx context.Context, p *probe, path string, content io.Reader, parents bool) error {
			_, err := implements[ambit.Appender](p).Append(ctx, path, content, &ambit.AppendOptions{Parents: parents})
			return err
		}},
		{methodStage, func(ctx context.Context, p *probe, path string, content io.Reader, parents bool) error {
			s, err := implements[ambit.Stager](p).Stage(ctx, path, content, &ambit.WriteOptions{Parents: parents})
			p.answered(ambit.OpStage, path, s != nil, err)
			if err != nil || s == nil {
				return err
			}
			_, err = s.Publish(ctx)
			return err
		}},
		{methodCommitWrite, func(ctx context.Context, p *probe, path string, content io.Reader, parents bool) error {
			_, err := implements[ambit.Committer](p).Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: content, Parents: parents}})
			return err
		}},
	}
}

// contentChecks: content is taken as it is, or not at all.
func contentChecks() []*check {
	var out []*check
	for _, m := range contentMethods() {
		// given gives content to the new name of each round and checks what is
		// there then.
		given := func(p *probe, path, want string, content io.Reader) {
			if err := m.give(p.ctx, p, path, content, false); err != nil {
				p.errorf("%s of %s: %v", m.title, brief(want), err)
				return
			}
			p.holds(path, want)
			if size := p.stat(path).Size; size != int64(len(want)) && size != -1 {
				p.errorf("%q has the size %d, want %d", path, size, len(want))
			}
		}
		out = append(out,
			&check{
				id: "write/" + m.id + "-nil-reader", tree: standard, requires: m.needs,
				rule: m.title + " of a nil reader is invalid, wherever it is to go, and changes nothing.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, path := range []string{"file", "new", "gone/deep/new", "folder"} {
						p.refused(m.op, path, m.give(p.ctx, p, path, nil, true), ambit.ErrInvalid)
					}
					p.unchanged(before)
				},
			},
			&check{
				id: "write/" + m.id + "-bytes", tree: standard, requires: m.needs,
				rule: m.title + " publishes exactly the bytes of the content: nothing is decoded, converted, added or dropped.",
				run: func(p *probe) {
					every := make([]byte, 256)
					for i := range every {
						every[i] = byte(i)
					}
					for i, content := range []string{
						"", "\n", "\x00", "no newline at the end", "\r\n", "a\r\nb\nc\r", "\ufeffwith a mark\n", `print('hello\nworld')`, `\title{x}`,
						`'\0' '\''` + "\\\n", string(every), "stra\xdfe \xff\xfe", "don\u2019t \u201c\u2014\u2026", "%s %d %!", "$1 ${name} $$",
						strings.Repeat("\x00", 5000), "-- file --\n", "trailing  \t\n\n\n", "\x1a", "\u0000\u2028",
					} {
						content = content[:p.atMost(len(content))]
						given(p, "new"+string(rune('a'+i)), content, strings.NewReader(content))
					}
				},
			},
			&check{
				id: "write/" + m.id + "-large", tree: standard, requires: m.needs,
				rule: m.title + " publishes content of any length whole.",
				run: func(p *probe) {
					for i, size := range []int{1, 511, 512, 513, 4095, 4096, 4097, 32 << 10, 32<<10 + 1, 64<<10 - 1, 64<<10 + 1, 1 << 20, 1<<20 + 1, 3<<20 + 7} {
						content := pattern(p.atMost(size), uint64(size))
						given(p, "new"+string(rune('a'+i)), content, strings.NewReader(content))
					}
				},
			},
			&check{
				id: "write/" + m.id + "-readers", tree: standard, requires: m.needs,
				rule: m.title + " takes content from any reader that keeps the rules of io.Reader.",
				run: func(p *probe) {
					content := pattern(p.atMost(3000), 3)
					for i, r := range []io.Reader{
						iotest.OneByteReader(strings.NewReader(content)),
						iotest.HalfReader(strings.NewReader(content)),
						iotest.DataErrReader(strings.NewReader(content)),
						io.MultiReader(strings.NewReader(content[:1]), strings.NewReader(""), strings.NewReader(content[1:])),
						&hesitant{r: strings.NewReader(content)},
						&scribbler{r: strings.NewReader(content)},
						bytes.NewBufferString(content),
						io.LimitReader(strings.NewReader(content+"more"), int64(len(content))),
					} {
						given(p, "new"+string(rune('a'+i)), content, r)
					}
				},
			},
			&check{
				id: "write/" + m.id + "-keeps-no-buffer", tree: standard, requires: m.needs,
				rule: m.title + " keeps no reference to a buffer of the caller.",
				run: func(p *probe) {
					for i, size := range []int{1, 100, 5000, 100_000} {
						content := pattern(p.atMost(size), 4)
						for j, wrap := range []func([]byte) io.Reader{
							func(b []byte) io.Reader { return bytes.NewReader(b) },
							func(b []byte) io.Reader { return bytes.NewBuffer(b) },
							func(b []byte) io.Reader { return &lender{rest: b} },
						} {
							path, own := "new"+string(rune('a'+3*i+j)), []byte(content)
							if err := m.give(p.ctx, p, path, wrap(own), false); err != nil {
								p.errorf("%s: %v", m.title, err)
								continue
							}
							for i := range own {
								own[i] ^= 0xff
							}
							p.holds(path, content)
						}
					}
				},
			},
			&check{
				id: "write/" + m.id + "-failing-reader", tree: standard, requires: m.needs,
				rule: m.title + " of content that fails is io with that error in the chain, and leaves every name and byte as it was.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, begun := range []string{"", "begun", pattern(p.atMost(100_000), 5), pattern(p.atMost(1<<20+10), 6)} {
						for _, path := range []string{"file", "empty", "new", "folder/new", "gone/deep/new"} {
							err := m.give(p.ctx, p, path, failingReader(begun, errContent), true)
							p.refused(m.op, path, err, ambit.ErrIO)
							if err != nil && !errors.Is(err, errContent) {
								p.errorf("%s %q: the content's error is not in the chain: %v", m.op, path, err)
							}
						}
					}
					p.unchanged(before)
				},
			},
			&check{
				id: "write/" + m.id + "-failing-reader-reason", tree: standard, requires: m.needs,
				rule: m.title + " of content that fails with a reason keeps that reason.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, reason := range []ambit.Reason{ambit.ErrNotText, ambit.ErrChanged, "a-reason-of-its-own"} {
						for _, err := range []error{reason, &ambit.Error{Op: "decode", Path: "elsewhere", Reason: reason}} {
							for _, path := range []string{"file", "new"} {
								p.refused(m.op, path, m.give(p.ctx, p, path, failingReader("begun", err), false), reason)
							}
						}
					}
					p.unchanged(before)
				},
			},
			&check{
				id: "write/" + m.id + "-unexpected-end", tree: standard, requires: m.needs,
				rule: m.title + " of content that is cut short with an error other than io.EOF publishes no prefix.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, cut := range []error{io.ErrUnexpectedEOF, io.ErrClosedPipe, io.ErrNoProgress} {
						for _, path := range []string{"file", "new"} {
							err := m.give(p.ctx, p, path, failingReader("a prefix", cut), false)
							p.refused(m.op, path, err, ambit.ErrIO)
							if err != nil && !errors.Is(err, cut) {
								p.errorf("%s %q: %v is not in the chain: %v", m.op, path, cut, err)
							}
						}
					}
					p.unchanged(before)
				},
			},
			&check{
				id: "write/" + m.id + "-content-uses-the-file-system", tree: standard, requires: m.needs,
				rule: m.title + " holds no lock while its content is read: the reader may use the same file system.",
				run: func(p *probe) {
					for _, path := range []string{"file", "new"} {
						before, old := p.snapshot(), ""
						if path == "file" {
							old = fileContent
						}
						err := m.give(p.ctx, p, path, interrupted("begun ", func() {
							// Nothing is published yet.
							p.unchanged(before)
							for _, other := range p.claimedOf([]method{methodWrite, methodAppend}) {
								if err := other.call(p.ctx, p, "folder/inner"); err != nil {
									p.errorf("%s while content is read: %v", other.title, err)
								}
							}
							if old != "" {
								p.holds(path, old)
							}
						}, "done"), false)
						if err != nil {
							p.errorf("%s %q: %v", m.op, path, err)
						}
						if m.id != "append" {
							old = ""
						}
						p.holds(path, old+"begun done")
					}
				},
			},
			&check{
				id: "write/" + m.id + "-content-from-the-file-system", tree: standard, requires: m.needs,
				rule: m.title + " takes a file of the same file system as its content, also the one that it is to replace.",
				run: func(p *probe) {
					for _, path := range []string{"new", "folder/inner", "file"} {
						f, want := p.open("file"), fileContent
						if m.id == "append" && path != "new" {
							want = p.read(path) + fileContent
						}
						if err := m.give(p.ctx, p, path, f, false); err != nil {
							p.errorf("%s %q: %v", m.op, path, err)
						}
						f.Close()
						p.holds(path, want)
					}
				},
			},
		)
	}
	return out
}

// hesitant gives nothing, without an error, before each byte.
type hesitant struct {
	r    io.Reader
	give bool
}

func (h *hesitant) Read(b []byte) (int, error) {
	if h.give = !h.give; h.give {
		return 0, nil
	}
	return h.r.Read(b[:min(len(b), 100)])
}

// scribbler uses all of the buffer as scratch space, which a Reader may.
type scribbler struct{ r io.Reader }

func (s *scribbler) Read(b []byte) (int, error) {
	n, err := s.r.Read(b[:min(len(b), 100)])
	for i := range b[n:] {
		b[n+i] = '!'
	}
	return n, err
}

// lender writes its own bytes to whoever asks for them.
type lender struct{ rest []byte }

func (l *lender) Read(b []byte) (int, error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lender) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(l.rest)
	l.rest = l.rest[n:]
	return int64(n), err
}
