// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// fileContent is what "file" of the standard tree holds.
const fileContent = "alpha\nbeta\n"

// openChecks: Open and what a File gives.
func openChecks() []*check {
	long := pattern(300_000, 2)
	longTree := Tree{{Path: "long", Kind: ambit.KindRegular, Data: long}, {Path: "empty", Kind: ambit.KindRegular}}
	return slices.Concat(
		methodOpen.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone", "hollow/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/deep"}, reason: ambit.ErrNotAFile},
			cell{kind: "root", path: "/", reason: ambit.ErrNotAFile},
			cell{kind: "file-with-slash", path: "file/", others: []string{"file/.", "file//", "folder/inner/", "file/x/.."}, reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/.", "gone/x/", "folder/gone/", "gone/x/.."}, reason: ambit.ErrNotADirectory},
			cell{kind: "folder-with-slash", path: "folder/", others: []string{"hollow/", "folder/.", "folder/deep/.."}, reason: ambit.ErrNotAFile},
		),
		[]*check{
			{
				id: "core/open-not-a-file-target", tree: standard,
				rule: "The refusal of a folder where a file is needed tells its Kind and its canonical path.",
				run: func(p *probe) {
					_, err := p.fs.Open(p.ctx, "gone/../folder//deep")
					p.refused(ambit.OpOpen, "gone/../folder//deep", err, ambit.ErrNotAFile)
					if e, ok := err.(*ambit.Error); ok && (e.Target != "/folder/deep" || e.Kind != ambit.KindDirectory) {
						p.errorf("Target is %q and Kind %s, want %q and a directory", e.Target, e.Kind, "/folder/deep")
					}
				},
			},
			{
				id: "core/open-file", tree: standard,
				rule: "Open of a file returns a File that reads its bytes to plain io.EOF.",
				run: func(p *probe) {
					f := p.open("file")
					defer f.Close()
					data, err := io.ReadAll(f)
					if err != nil || string(data) != fileContent {
						p.errorf("read %q, %v", data, err)
					}
					for range 3 {
						if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
							p.errorf("a read at the end: %d, %v, want plain io.EOF", n, err)
						}
					}
				},
			},
			{
				id: "core/open-empty", tree: standard,
				rule: "An empty file reads as no bytes and plain io.EOF.",
				run: func(p *probe) {
					f := p.open("empty")
					defer f.Close()
					if n, err := f.Read(make([]byte, 10)); n != 0 || err != io.EOF {
						p.errorf("a read: %d, %v, want plain io.EOF", n, err)
					}
					if size := f.Info().Size; size > 0 {
						p.errorf("the size is %d", size)
					}
				},
			},
			{
				id: "core/file-info", tree: standard,
				rule: "Info describes the opened file as Stat does, and answers after Close too.",
				run: func(p *probe) {
					for path, content := range map[string]string{"file": fileContent, "empty": "", "folder/deep/leaf": "leaf\n", ".dot": "dot\n"} {
						f := p.open(path)
						info := f.Info()
						if info.Path != "/"+path || info.Kind != ambit.KindRegular || info.Size != int64(len(content)) && info.Size != -1 {
							p.errorf("Info of %q: %s %q of %d bytes, want a file of %d", path, info.Kind, info.Path, info.Size, len(content))
						}
						p.agree(info, "Stat", p.stat(path))
						io.Copy(io.Discard, f)
						if now := f.Info(); now != info {
							p.errorf("Info of %q changed while it was read: %+v, was %+v", path, now, info)
						}
						f.Close()
						if now := f.Info(); now != info {
							p.errorf("Info of %q changed with Close: %+v, was %+v", path, now, info)
						}
					}
				},
			},
			{
				id: "core/large-file", tree: longTree,
				rule: "A File gives all bytes of the file, in reads of any length.",
				run: func(p *probe) {
					for _, length := range []int{1, 7, 511, 4096, 70_000, len(long), len(long) + 1} {
						f := p.open("long")
						var got strings.Builder
						buf := make([]byte, length)
						for {
							n, err := f.Read(buf)
							if n < 0 || n > length {
								p.fatalf("a read into %d bytes returned %d", length, n)
							}
							got.Write(buf[:n])
							if err == io.EOF {
								break
							}
							if err != nil || got.Len() > len(long) {
								p.fatalf("reading %d bytes at a time failed after %d: %v", length, got.Len(), err)
							}
						}
						f.Close()
						if got.String() != long {
							p.errorf("reading %d bytes at a time gave %s, want %s", length, brief(got.String()), brief(long))
						}
					}
				},
			},
			{
				id: "core/open-copied", tree: longTree,
				rule: "A File gives the same bytes however it is read.",
				run: func(p *probe) {
					f := p.open("long")
					defer f.Close()
					var got bytes.Buffer
					if n, err := io.Copy(&got, f); err != nil || n != int64(len(long)) || got.String() != long {
						p.errorf("io.Copy gave %d bytes, %v: %s", n, err, brief(got.String()))
					}
				},
			},
			{
				id: "core/read-of-nothing", tree: standard,
				rule: "A read into an empty buffer gives nothing and is not the end.",
				run: func(p *probe) {
					f := p.open("file")
					defer f.Close()
					for _, empty := range [][]byte{nil, {}} {
						if n, err := f.Read(empty); n != 0 || err != nil {
							p.errorf("a read into no bytes: %d, %v", n, err)
						}
					}
					if data, err := io.ReadAll(f); err != nil || string(data) != fileContent {
						p.errorf("then read %q, %v", data, err)
					}
				},
			},
			{
				id: "core/read-within-the-buffer", tree: standard,
				rule: "A read writes into its buffer and nowhere else.",
				run: func(p *probe) {
					f := p.open("file")
					defer f.Close()
					room := bytes.Repeat([]byte{'#'}, 64)
					n, err := f.Read(room[8:12:12])
					if n < 1 || n > 4 || err != nil && err != io.EOF {
						p.fatalf("a read into 4 bytes: %d, %v", n, err)
					}
					if got := string(room[8 : 8+n]); got != fileContent[:n] {
						p.errorf("read %q, want %q", got, fileContent[:n])
					}
					if strings.Trim(string(room[:8])+string(room[12:]), "#") != "" {
						p.errorf("a read into 4 bytes wrote beside them: %q", room)
					}
				},
			},
			{
				id: "core/close", tree: standard,
				rule: "Close is allowed after a partial read, and Close again is nil.",
				run: func(p *probe) {
					for _, read := range []int64{0, 3, int64(len(fileContent)), 100} {
						f := p.open("file")
						io.CopyN(io.Discard, f, read)
						for i := range 3 {
							if err := f.Close(); err != nil {
								p.errorf("Close number %d after reading %d bytes: %v", i+1, read, err)
							}
						}
					}
				},
			},
			{
				id: "core/closed-file", tree: standard,
				rule: "After Close, Read, ReadAt and Verify are closed.",
				run: func(p *probe) {
					for _, read := range []int64{0, 3, 100} {
						for _, path := range []string{"file", "empty", "./folder//inner"} {
							f := p.open(path)
							io.CopyN(io.Discard, f, read)
							f.Close()
							n, err := f.Read(make([]byte, 4))
							if n != 0 {
								p.errorf("a read of a closed file gave %d bytes", n)
							}
							p.refused(ambit.OpRead, path, err, ambit.ErrClosed)
							if at, ok := f.(io.ReaderAt); ok && p.caps.ReadAt {
								n, err := at.ReadAt(make([]byte, 4), 0)
								if n != 0 {
									p.errorf("ReadAt of a closed file gave %d bytes", n)
								}
								p.refused(ambit.OpRead, path, err, ambit.ErrClosed)
							}
							p.refused(ambit.OpVerify, path, f.Verify(p.ctx), ambit.ErrClosed)
						}
					}
				},
			},
			{
				id: "core/positions", tree: standard,
				rule: "Each open file has a position of its own.",
				run: func(p *probe) {
					a, b := p.open("file"), p.open("file")
					defer a.Close()
					defer b.Close()
					first := make([]byte, 6)
					if _, err := io.ReadFull(a, first); err != nil || string(first) != "alpha\n" {
						p.errorf("the first file: %q, %v", first, err)
					}
					if data, err := io.ReadAll(b); err != nil || string(data) != fileContent {
						p.errorf("the second file: %q, %v", data, err)
					}
					b.Close()
					if data, err := io.ReadAll(a); err != nil || string(data) != "beta\n" {
						p.errorf("the rest of the first file: %q, %v", data, err)
					}
				},
			},
			{
				id: "core/bytes-not-shared", tree: standard,
				rule: "Bytes that a caller got are its own: changing them changes no file.",
				run: func(p *probe) {
					f := p.open("file")
					defer f.Close()
					data, err := io.ReadAll(f)
					if err != nil {
						p.fatalf("reading: %v", err)
					}
					for i := range data {
						data[i] = '!'
					}
					p.holds("file", fileContent)
					if at, ok := f.(io.ReaderAt); ok && p.caps.ReadAt {
						again := make([]byte, len(fileContent))
						if n, _ := at.ReadAt(again, 0); string(again[:n]) != fileContent {
							p.errorf("ReadAt gives %q", again[:n])
						}
					}
				},
			},
			{
				id: "core/open-many", tree: standard,
				rule: "Files may be left partly read and closed in any order, any number of times.",
				run: func(p *probe) {
					ctx, cancel := context.WithCancel(p.ctx)
					defer cancel()
					var open []ambit.File
					for range 100 {
						f, err := p.fs.Open(ctx, "file")
						if err != nil {
							p.fatalf("open: %v", err)
						}
						io.CopyN(io.Discard, f, 2)
						open = append(open, f)
					}
					slices.Reverse(open)
					for _, f := range open[:50] {
						f.Close()
					}
					for _, f := range open[50:] {
						if data, err := io.ReadAll(f); err != nil || string(data) != fileContent[2:] {
							p.errorf("read %q, %v", data, err)
						}
						f.Close()
					}
				},
			},
		},
	)
}

// readAtChecks: ReadAt, where it is claimed.
func readAtChecks() []*check {
	readerAt := func(p *probe, f ambit.File) io.ReaderAt {
		at, ok := f.(io.ReaderAt)
		if !ok {
			p.fatalf("ReadAt is claimed, but %T is no io.ReaderAt", f)
		}
		return at
	}
	return []*check{
		{
			id: "core/read-at", tree: standard, requires: []requirement{needReadAt},
			rule: "ReadAt gives the bytes at the offset; a short read comes with io.EOF, and so does one at the end or behind it.",
			run: func(p *probe) {
				f := p.open("file")
				defer f.Close()
				at, size := readerAt(p, f), int64(len(fileContent))
				for _, offset := range []int64{0, 1, 5, size - 1, size, size + 1, size + 1000, 1 << 40, 1<<63 - 1} {
					for _, length := range []int{1, 3, 11, 12, 1000} {
						buf := bytes.Repeat([]byte{'#'}, length)
						want := fileContent[min(offset, size):min(size, min(offset, size)+int64(length))]
						n, err := at.ReadAt(buf, offset)
						if n != len(want) || string(buf[:max(n, 0)]) != want {
							p.errorf("ReadAt of %d bytes at %d gave %d: %q, want %q", length, offset, n, buf[:max(n, 0)], want)
							continue
						}
						if n < length && err != io.EOF {
							p.errorf("ReadAt of %d bytes at %d gave %d and %v, want plain io.EOF", length, offset, n, err)
						}
						if n == length && err != nil && (err != io.EOF || offset+int64(n) < size) {
							p.errorf("ReadAt of %d bytes at %d: %v", length, offset, err)
						}
					}
				}
			},
		},
		{
			id: "core/read-at-negative", tree: standard, requires: []requirement{needReadAt},
			rule: "ReadAt at a negative offset is invalid.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty"} {
					f := p.open(path)
					at := readerAt(p, f)
					for _, offset := range []int64{-1, -1 << 63} {
						n, err := at.ReadAt(make([]byte, 4), offset)
						if n != 0 {
							p.errorf("ReadAt at %d gave %d bytes", offset, n)
						}
						p.refused(ambit.OpRead, path, err, ambit.ErrInvalid)
					}
					f.Close()
				}
			},
		},
		{
			id: "core/read-at-keeps-position", tree: standard, requires: []requirement{needReadAt},
			rule: "ReadAt neither moves the position of Read nor depends on it.",
			run: func(p *probe) {
				f := p.open("file")
				defer f.Close()
				at := readerAt(p, f)
				whole := func() {
					buf := make([]byte, len(fileContent))
					if n, err := at.ReadAt(buf, 0); string(buf[:n]) != fileContent || err != nil && err != io.EOF {
						p.errorf("ReadAt gave %q, %v", buf[:n], err)
					}
				}
				first := make([]byte, 6)
				whole()
				if _, err := io.ReadFull(f, first); err != nil || string(first) != "alpha\n" {
					p.errorf("read %q, %v after ReadAt", first, err)
				}
				whole()
				if data, err := io.ReadAll(f); err != nil || string(data) != "beta\n" {
					p.errorf("read %q, %v after ReadAt", data, err)
				}
				whole()
			},
		},
	}
}
