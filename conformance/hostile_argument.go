// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// argumentChecks are about arguments that make no sense: each has a reason,
// changes nothing, and none is a panic.
func argumentChecks() []*check {
	return []*check{
		{
			id: "hostile/absurd-pages", tree: standard,
			rule:     "Any cursor is a place in the listing, the largest limit is no limit, and a negative one is invalid.",
			requires: []requirement{needList},
			run: func(p *probe) {
				all := p.names("/")
				for _, after := range []string{
					"\x00", "/", "//", "..", "../..", ".", "a/b", "\xff", "\xff\xff", " ", "file\x00", "filea", "zzzz",
					strings.Repeat("\xff", 1<<16), strings.Repeat("f", 1<<16), "folder/", "folder/inner",
				} {
					for _, limit := range []int{0, 1, math.MaxInt, math.MaxInt32} {
						l, err := p.fs.List(p.ctx, "/", &ambit.ListOptions{After: after, Limit: limit})
						if err != nil {
							p.errorf("list after %s with limit %d: %v", brief(after), limit, err)
							continue
						}
						want := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name <= after })
						if limit == 1 {
							want = want[:min(1, len(want))]
						}
						var got []string
						for _, e := range l.Entries {
							got = append(got, e.Name)
						}
						if !slices.Equal(got, want) {
							p.errorf("list after %s with limit %d: %q, want %q", brief(after), limit, got, want)
						}
					}
				}
				for _, limit := range []int{-1, math.MinInt} {
					for _, dir := range []string{"/", "folder"} {
						_, err := p.fs.List(p.ctx, dir, &ambit.ListOptions{Limit: limit})
						p.refused(ambit.OpList, dir, err, ambit.ErrInvalid)
					}
				}
			},
		},
		{
			id: "hostile/absurd-reads", tree: standard,
			rule: "A read into no bytes, at a negative offset or far behind the end returns an answer and never panics.",
			run: func(p *probe) {
				f := p.open("file")
				defer f.Close()
				for _, b := range [][]byte{nil, {}} {
					if n, err := f.Read(b); n != 0 || err != nil && err != io.EOF {
						p.errorf("read into %d bytes: %d, %v", len(b), n, err)
					}
				}
				if at, ok := f.(io.ReaderAt); ok && p.caps.ReadAt {
					for _, off := range []int64{-1, math.MinInt64} {
						_, err := at.ReadAt(make([]byte, 1), off)
						p.refused(ambit.OpRead, "file", err, ambit.ErrInvalid)
					}
					for _, off := range []int64{11, 12, math.MaxInt64, math.MaxInt64 - 1} {
						if n, err := at.ReadAt(make([]byte, 4), off); n != 0 || err != io.EOF {
							p.errorf("read at %d: %d, %v, want io.EOF", off, n, err)
						}
					}
					if n, err := at.ReadAt(nil, 0); n != 0 || err != nil && err != io.EOF {
						p.errorf("read of nothing at 0: %d, %v", n, err)
					}
				}
				for _, limit := range []int64{-1, math.MinInt64} {
					_, _, err := ambit.ReadFileMax(p.ctx, p.fs, "file", limit)
					p.refused(ambit.OpOpen, "file", err, ambit.ErrInvalid)
				}
				if data, _, err := ambit.ReadFileMax(p.ctx, p.fs, "file", math.MaxInt64); err != nil || len(data) != 11 {
					p.errorf("a read of at most MaxInt64 bytes: %d bytes, %v", len(data), err)
				}
				for _, limit := range []int64{0, 1, 10} {
					_, _, err := ambit.ReadFileMax(p.ctx, p.fs, "file", limit)
					p.refused(ambit.OpOpen, "file", err, ambit.ErrTooLarge)
				}
			},
		},
		{
			id: "hostile/absurd-contents", tree: standard,
			rule:     "A nil reader and one that lies about its counts are invalid, and nothing is made or changed.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				before := p.snapshot()
				for _, c := range []struct {
					name    string
					content func() io.Reader
				}{
					{"nil", func() io.Reader { return nil }},
					{"a nil *bytes.Reader", func() io.Reader { return (*bytes.Reader)(nil) }},
					{"a reader of more than there is room", func() io.Reader { return lyingReader(func(b []byte) int { return len(b) + 1 }) }},
					{"a reader of -1 bytes", func() io.Reader { return lyingReader(func([]byte) int { return -1 }) }},
					{"a reader of MinInt bytes", func() io.Reader { return lyingReader(func([]byte) int { return math.MinInt }) }},
				} {
					for _, path := range []string{"file", "new", "made/new"} {
						for op, err := range p.contents(path, c.content) {
							if ambit.ReasonOf(err) != ambit.ErrInvalid {
								p.errorf("%s with %s as content: %v, want invalid", op, c.name, err)
							}
							p.refused(op, path, err, ambit.ErrInvalid)
						}
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/absurd-options", tree: standard,
			rule:     "Options that no file could have are invalid, and nothing is made or changed.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				before := p.snapshot()
				bad := []ambit.WriteOptions{{Mode: fs.ModeDir}, {Mode: fs.ModeSetuid | 0o755}, {Mode: 0o1000}, {Mode: ^fs.FileMode(0)}, {Mode: fs.ModeSymlink | 0o777}}
				if p.caps.Swap >= ambit.SwapChecked {
					for _, v := range badVersions {
						bad = append(bad, ambit.WriteOptions{If: ambit.IfVersion(v)})
					}
				}
				for _, o := range bad {
					for _, path := range []string{"file", "new"} {
						_, err := p.writable().Write(p.ctx, path, strings.NewReader("x"), &o)
						p.refused(ambit.OpWrite, path, err, ambit.ErrInvalid)
						if p.caps.Stage {
							_, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader("x"), &o)
							p.refused(ambit.OpStage, path, err, ambit.ErrInvalid)
						}
						if p.caps.Append {
							_, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader("x"), &ambit.AppendOptions{If: o.If, Mode: o.Mode})
							p.refused(ambit.OpAppend, path, err, ambit.ErrInvalid)
						}
						if p.caps.Commit {
							_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x"), If: o.If, Mode: o.Mode}})
							p.refused(ambit.OpCommit, path, err, ambit.ErrInvalid)
						}
						if p.caps.Remove && !o.If.IsZero() {
							p.refused(ambit.OpRemove, path, p.writable().Remove(p.ctx, path, &ambit.RemoveOptions{If: o.If}), ambit.ErrInvalid)
						}
						if p.caps.Rename && !o.If.IsZero() {
							_, err := implements[ambit.Renamer](p).Rename(p.ctx, path, "moved", &ambit.RenameOptions{If: o.If})
							p.refused(ambit.OpRename, path, err, ambit.ErrInvalid)
						}
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/nil-options", tree: standard,
			rule: "Nil options are the defaults in every method.",
			run: func(p *probe) {
				if p.caps.List {
					p.names("folder")
				}
				if !p.caps.Write {
					return
				}
				p.write("new", "new\n", nil)
				p.holds("new", "new\n")
				if p.caps.Stage {
					s, err := implements[ambit.Stager](p).Stage(p.ctx, "staged", strings.NewReader("x"), nil)
					if err != nil {
						p.fatalf("stage: %v", err)
					}
					if _, err := s.Publish(p.ctx); err != nil {
						p.errorf("publish: %v", err)
					}
				}
				if p.caps.Append {
					if _, err := implements[ambit.Appender](p).Append(p.ctx, "new", strings.NewReader("x"), nil); err != nil {
						p.errorf("append: %v", err)
					}
				}
				if p.caps.Mkdir {
					if _, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, "made", nil); err != nil {
						p.errorf("mkdir: %v", err)
					}
				}
				if p.caps.Rename {
					if _, err := implements[ambit.Renamer](p).Rename(p.ctx, "new", "moved", nil); err != nil {
						p.errorf("rename: %v", err)
					}
				}
				if p.caps.Remove {
					if err := p.writable().Remove(p.ctx, "file", nil); err != nil {
						p.errorf("remove: %v", err)
					}
				}
				if p.caps.Commit {
					for _, none := range [][]ambit.Change{nil, {}} {
						if r, err := implements[ambit.Committer](p).Commit(p.ctx, none); err != nil || len(r) != 0 {
							p.errorf("commit of nothing: %+v, %v", r, err)
						}
					}
				}
			},
		},
		{
			id: "hostile/content-aliased", tree: standard,
			rule:     "Bytes are the caller's own: what is written is not changed by changing the buffer it came from, nor what is stored by changing what was read.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				for _, size := range []int{5, p.atMost(4*4096) / 4, p.atMost(400_000) / 4} { // appended several times
					buffer := bytes.Repeat([]byte("a"), size)
					want := string(buffer)
					for op, err := range p.contents("aliased", func() io.Reader { return bytes.NewReader(buffer) }) {
						if err != nil {
							p.errorf("%s of %d bytes: %v", op, size, err)
							continue
						}
						stored := p.read("aliased")
						for i := range buffer {
							buffer[i] = 'b'
						}
						if now := p.read("aliased"); now != stored {
							p.errorf("after %s of %d bytes the buffer was changed, and the file with it: %s", op, size, brief(now))
						}
						copy(buffer, want)
					}
					p.write("aliased", want, nil)
					data, _, err := ambit.ReadFile(p.ctx, p.fs, "aliased")
					if err != nil {
						p.fatalf("reading: %v", err)
					}
					clear(data)
					f := p.open("aliased")
					part := make([]byte, 3)
					if _, err := io.ReadFull(f, part); err != nil {
						p.errorf("reading: %v", err)
					}
					clear(part)
					if at, ok := f.(io.ReaderAt); ok && p.caps.ReadAt {
						if _, err := at.ReadAt(part, 0); err != nil {
							p.errorf("reading at 0: %v", err)
						}
						clear(part)
					}
					f.Close()
					p.holds("aliased", want)
				}
			},
		},
		{
			id: "hostile/results-aliased", tree: standard,
			rule:     "Results are the caller's own: changing a listing changes no later one.",
			requires: []requirement{needList},
			run: func(p *probe) {
				before := p.snapshot()
				var first []ambit.Entry
				for range 2 {
					l, err := p.fs.List(p.ctx, "/", &ambit.ListOptions{Details: true})
					if err != nil {
						p.fatalf("list: %v", err)
					}
					if first == nil {
						first = slices.Clone(l.Entries)
					}
					if !slices.Equal(l.Entries, first) || l.Dir != "/" || l.Next != "" {
						p.errorf("after a listing was changed the next is %+v", l)
					}
					for i := range l.Entries {
						l.Entries[i].Name, l.Entries[i].Info = "scribbled", ambit.FileInfo{Path: "/scribbled"}
					}
					l.Dir, l.Next = "scribbled", "scribbled"
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/content-fails", tree: standard,
			rule:     "The error of a content reader is io with that error in the chain, or keeps its own reason, and the call leaves nothing behind.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				before := p.snapshot()
				mine := errors.New("the reader's own")
				for _, c := range []struct {
					err    error
					reason ambit.Reason
				}{
					{mine, ambit.ErrIO},
					{fs.ErrNotExist, ambit.ErrIO},
					{fs.ErrPermission, ambit.ErrIO},
					{io.ErrUnexpectedEOF, ambit.ErrIO},
					{ambit.ErrTooLarge, ambit.ErrTooLarge},
					{&ambit.Error{Reason: ambit.ErrChanged}, ambit.ErrChanged},
					{context.Canceled, ambit.ErrCanceled},
				} {
					for _, already := range []int{0, 10, p.atMost(100_000)} {
						for _, path := range []string{"file", "new", "made/new"} {
							for op, err := range p.contents(path, func() io.Reader { return failingReader(strings.Repeat("x", already), c.err) }) {
								if ambit.ReasonOf(err) != c.reason {
									p.errorf("%s of a content that fails with %v: %v, want %s", op, c.err, err, c.reason)
								}
								if c.reason == ambit.ErrIO && c.err == mine && !errors.Is(err, mine) {
									p.errorf("%s: the reader's error is not in the chain of %v", op, err)
								}
							}
						}
					}
				}
				p.unchanged(before)
			},
		},
	}
}

var badVersions = []ambit.Version{
	"", " ", "a b", "\"", "a\"", "\x00", "a\n", "\x7f", "\xff", "\u00e9",
	ambit.Version(strings.Repeat("v", ambit.MaxVersion+1)), ambit.Version(strings.Repeat("v", 1<<20)),
}

// lyingReader reads nothing and says that it read as many bytes.
type lyingReader func(b []byte) int

func (l lyingReader) Read(b []byte) (int, error) { return l(b), nil }

// contents yields the error of each claimed method that takes a content, given
// a fresh one, with its operation.
func (p *probe) contents(path string, content func() io.Reader) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		_, err := p.writable().Write(p.ctx, path, content(), &ambit.WriteOptions{Parents: true})
		if !yield(ambit.OpWrite, err) {
			return
		}
		if p.caps.Stage {
			s, err := implements[ambit.Stager](p).Stage(p.ctx, path, content(), &ambit.WriteOptions{Parents: true})
			if err == nil {
				if _, published := s.Publish(p.ctx); published != nil {
					p.errorf("publish at %q: %v", path, published)
				}
			}
			if !yield(ambit.OpStage, err) {
				return
			}
		}
		if p.caps.Append {
			_, err := implements[ambit.Appender](p).Append(p.ctx, path, content(), &ambit.AppendOptions{Parents: true})
			if !yield(ambit.OpAppend, err) {
				return
			}
		}
		if p.caps.Commit {
			_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: content(), Parents: true}})
			if !yield(ambit.OpCommit, err) {
				return
			}
		}
	}
}
