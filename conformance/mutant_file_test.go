// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// readingMutants have a fault in Open, Stat or a File.
func readingMutants() []mutant {
	return []mutant{
		{name: "Open opens a folder as an empty file", check: "core/open-folder", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrNotAFile {
					info, err := f.base.Stat(ctx, path)
					info.Kind = ambit.KindRegular
					return &emptyFile{info}, err
				}
				return file, err
			}
		}},
		{name: "Open of a missing name gives neither a handle nor an error", check: "core/open-missing", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, nil
				}
				return file, nil
			}
		}},
		{name: "Open of a file gives neither a handle nor an error", check: "core/open-file", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err == nil {
					file.Close()
				}
				return nil, err
			}
		}},
		{name: "Open of a missing name gives a typed nil", check: "core/open-missing", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return (*faultyFile)(nil), err
				}
				return file, nil
			}
		}},
		{name: "Open of a file gives a typed nil", check: "core/open-file", panics: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				file.Close()
				return (*faultyFile)(nil), nil
			}
		}},
		{name: "Open of a missing name gives a handle and an error", check: "core/open-missing", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return &emptyFile{}, err
				}
				return file, nil
			}
		}},
		{name: "Open of a file gives a handle and an error", check: "core/open-file", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				return file, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrNotDurable}
			}
		}},
		{name: "Open panics on a missing name", check: "core/open-missing", panics: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					panic("no such file")
				}
				return file, err
			}
		}},
		{name: "Open of a missing name hangs", check: "core/open-missing", hangs: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					select {}
				}
				return file, err
			}
		}},
		{name: "Stat of a missing folder is the root", check: "core/stat-missing-parent", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					return f.base.Stat(ctx, "/")
				}
				return info, err
			}
		}},
		{name: "Stat tells the path as written", check: "core/path-dots", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if err == nil {
					info.Path = path
				}
				return info, err
			}
		}},
		{name: "a folder has a version", check: "core/version-form", breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.Kind == ambit.KindDirectory {
					info.Version = "folder"
				}
				return info
			}
		}},
		{name: "Stat's size is one less", check: "core/stat-file", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if info.Kind == ambit.KindRegular {
					info.Size--
				}
				return info, err
			}
		}},

		{name: "Verify is blind", check: "core/verify-after-write", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(context.Context) error { return nil }}
			}
		}},
		{name: "Verify always says changed", check: "core/verify", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if err := file.Verify(ctx); err != nil {
						return err
					}
					return &ambit.Error{Op: ambit.OpVerify, Path: path, Reason: ambit.ErrChanged}
				}}
			}
		}},
		{name: "Verify of a removed file is nil", check: "core/verify-after-remove", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify of a removed file is not-found", check: "core/verify-after-remove", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
						return ambit.Wrap(ambit.OpVerify, path, err)
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify compares sizes alone", check: "core/verify-after-write-of-one-size", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if info, err := f.base.Stat(ctx, path); err == nil && info.Size == file.Info().Size {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify after Close is nil", check: "core/closed-file", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					err := file.Verify(ctx)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						return nil
					}
					return err
				}}
			}
		}},

		{name: "Close again fails", check: "core/close", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				var closed atomic.Bool
				return &faultyFile{File: file, closes: func() error {
					if closed.Swap(true) {
						return &ambit.Error{Op: ambit.OpRead, Path: path, Reason: ambit.ErrClosed}
					}
					return file.Close()
				}}
			}
		}},
		{name: "Read after Close reads", check: "core/closed-file", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, closes: func() error { return nil }}
			}
		}},
		{name: "Read after Close is the end", check: "core/closed-file", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						return 0, io.EOF
					}
					return n, err
				}}
			}
		}},
		{name: "Info after Close is empty", check: "core/file-info", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				var closed atomic.Bool
				return &faultyFile{
					File:   file,
					closes: func() error { closed.Store(true); return file.Close() },
					info: func() ambit.FileInfo {
						if closed.Load() {
							return ambit.FileInfo{}
						}
						return file.Info()
					},
				}
			}
		}},
		{name: "Info looks again", check: "write/open-file-replaced", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, info: func() ambit.FileInfo {
					if info, err := f.base.Stat(context.Background(), path); err == nil {
						return info
					}
					return file.Info()
				}}
			}
		}},

		{name: "Read ends with a wrapped io.EOF", check: "core/open-file", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					if err == io.EOF {
						err = fmt.Errorf("reading: %w", err)
					}
					return n, err
				}}
			}
		}},
		{name: "Read leaves out the last byte", check: "core/open-file", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				rest := file.Info().Size - 1
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					if rest <= 0 {
						return 0, io.EOF
					}
					n, err := file.Read(p[:min(int64(len(p)), rest)])
					rest -= int64(n)
					return n, err
				}}
			}
		}},
		{name: "Read stops after 64 KiB", check: "core/large-file", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: io.LimitReader(file, 64<<10).Read}
			}
		}},
		{name: "two handles share a position", check: "core/positions", breaks: func(f *faulty) {
			var mu sync.Mutex
			open := make(map[string]ambit.File)
			f.file = func(path string, file ambit.File) ambit.File {
				mu.Lock()
				defer mu.Unlock()
				first, ok := open[path]
				if !ok {
					first, open[path] = file, file
				}
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					n, err := first.Read(p)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						return file.Read(p)
					}
					return n, err
				}}
			}
		}},
		{name: "Read looks at the file again each time", check: "write/open-file-replaced", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				var at int64
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					now, err := f.base.Open(context.Background(), path)
					if err != nil {
						return file.Read(p)
					}
					defer now.Close()
					if _, err := io.CopyN(io.Discard, now, at); err != nil {
						return 0, err
					}
					n, err := now.Read(p)
					at += int64(n)
					return n, err
				}}
			}
		}},
		{name: "a handle dies with its name", check: "write/open-file-removed", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					if _, err := f.base.Stat(context.Background(), path); err != nil {
						return 0, ambit.Wrap(ambit.OpRead, path, err)
					}
					return file.Read(p)
				}}
			}
		}},

		{name: "ReadAt moves the position", check: "core/read-at-keeps-position", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, err := readerAt(file).ReadAt(p, off)
					io.CopyN(io.Discard, file, int64(n))
					return n, err
				}}
			}
		}},
		{name: "ReadAt starts at the position", check: "core/read-at-keeps-position", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				var at atomic.Int64
				return &faultyFile{
					File: file,
					read: func(p []byte) (int, error) {
						n, err := file.Read(p)
						at.Add(int64(n))
						return n, err
					},
					readAt: func(p []byte, off int64) (int, error) { return readerAt(file).ReadAt(p, off+at.Load()) },
				}
			}
		}},
		{name: "ReadAt(-1) panics", check: "core/read-at-negative", panics: true, breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					if off < 0 {
						panic("slice bounds out of range")
					}
					return readerAt(file).ReadAt(p, off)
				}}
			}
		}},
		{name: "ReadAt(-1) reads from the start", check: "core/read-at-negative", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					return readerAt(file).ReadAt(p, max(off, 0))
				}}
			}
		}},
		{name: "ReadAt beyond the end returns nil", check: "core/read-at", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, err := readerAt(file).ReadAt(p, off)
					if n == 0 && err == io.EOF {
						return 0, nil
					}
					return n, err
				}}
			}
		}},
		{name: "a short ReadAt returns nil", check: "core/read-at", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, err := readerAt(file).ReadAt(p, off)
					if n > 0 && err == io.EOF {
						return n, nil
					}
					return n, err
				}}
			}
		}},
		{name: "ReadAt after Close reads", check: "core/closed-file", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				data, _, err := ambit.ReadFile(context.Background(), f.base, path)
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, readErr := readerAt(file).ReadAt(p, off)
					if ambit.ReasonOf(readErr) == ambit.ErrClosed && err == nil && off >= 0 && off < int64(len(data)) {
						return copy(p, data[off:]), nil
					}
					return n, readErr
				}}
			}
		}},
		{name: "a file is served out of a reader's buffer", check: "core/bytes-not-shared", breaks: func(f *faulty) {
			var buffers sync.Map // version to the buffer that some reader got its bytes in
			f.file = func(_ string, file ambit.File) ambit.File {
				info := file.Info()
				shared, _ := buffers.Load(info.Version)
				first := true
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					if shared != nil && first {
						copy(p[:n], shared.([]byte))
					} else if first && int64(n) == info.Size {
						buffers.Store(info.Version, p[:n])
					}
					first = false
					return n, err
				}}
			}
		}},
		{name: "a read of nothing is the end", check: "core/read-of-nothing", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					if len(p) == 0 {
						return 0, io.EOF
					}
					return file.Read(p)
				}}
			}
		}},
		{name: "Read says that it gave a byte more", check: "core/read-within-the-buffer", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					if n > 0 {
						n++
					}
					return n, err
				}}
			}
		}},
		{name: "a File copies half of itself", check: "core/open-copied", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				return &halfCopied{faultyFile{File: file}}, nil
			}
		}},
		{name: "an empty file is not-found", check: "core/open-empty", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err == nil && file.Info().Size == 0 {
					file.Close()
					return nil, ambit.Wrap(ambit.OpOpen, path, ambit.ErrNotFound)
				}
				return file, err
			}
		}},
		{name: "Verify fails for every change of the file system", check: "core/verify-other-files-change", breaks: func(f *faulty) {
			var writes atomic.Int64
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				writes.Add(1)
				return f.base.Write(ctx, path, content, &o)
			}
			f.file = func(path string, file ambit.File) ambit.File {
				before := writes.Load()
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if writes.Load() != before {
						return &ambit.Error{Op: ambit.OpVerify, Path: path, Reason: ambit.ErrChanged}
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify takes a folder for the file", check: "core/verify-folder-in-its-place", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if info, err := f.base.Stat(ctx, path); err == nil && info.IsDir() {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify sees only the library's own changes", check: "core/verify-foreign-replacement", breaks: func(f *faulty) {
			var writes atomic.Int64
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				writes.Add(1)
				return f.base.Write(ctx, path, content, &o)
			}
			f.file = func(_ string, file ambit.File) ambit.File {
				before := writes.Load()
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if writes.Load() == before {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify does not see the bytes that a stranger wrote", check: "core/verify-foreign-rewrite", on: onDisk, breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if info, err := f.base.Stat(ctx, path); err == nil && info.ID == file.Info().ID {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Verify ignores its context", check: "core/file-verify-context", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					return file.Verify(context.WithoutCancel(ctx))
				}}
			}
		}},
		{name: "a name is found by its beginning", check: "core/path-prefix-is-no-parent", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				clean, _, resolveErr := ambit.Resolve("/", path)
				if ambit.ReasonOf(err) != ambit.ErrNotFound || resolveErr != nil {
					return file, err
				}
				if l, err := f.base.List(ctx, ambit.Dir(clean), nil); err == nil {
					for _, e := range l.Entries {
						if strings.HasPrefix(e.Info.Path, clean) && e.Info.Kind == ambit.KindRegular {
							return f.base.Open(ctx, e.Info.Path)
						}
					}
				}
				return file, err
			}
		}},
		{name: "a folder with a slash behind it is not-a-directory", check: "core/path-to-a-folder", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if withoutSlash(path) != path {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, ambit.ErrNotADirectory)
				}
				return f.base.Stat(ctx, path)
			}
		}},
		{name: "a folder has a version in Stat", check: "core/stat-folder", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if info.IsDir() {
					info.Version = "folder"
				}
				return info, err
			}
		}},
		{name: "a mode has the type bits in it", check: "core/stat-folder", breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.Mode != 0 {
					info.Mode |= info.Kind.Mode()
				}
				return info
			}
		}},
		{name: "every file shows one mode", check: "core/mode-of-the-tree", breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.Kind == ambit.KindRegular {
					info.Mode = 0o644
				}
				return info
			}
		}},
		{name: "Lstat is no Stat where no link is", check: "core/lstat-is-stat", on: onDisk, breaks: func(f *faulty) {
			f.lstat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Lstat(ctx, path)
				info.Version = ""
				return info, err
			}
		}},
		{name: "the fortieth open file is one too many", check: "core/open-many", breaks: func(f *faulty) {
			var open atomic.Int64
			f.file = func(path string, file ambit.File) ambit.File {
				n := open.Add(1)
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					if n >= 40 {
						return 0, ambit.Wrap(ambit.OpRead, path, ambit.ErrIO)
					}
					return file.Read(p)
				}}
			}
		}},
		{name: "a client's ID is its own", check: "core/capabilities-id-of-a-peer", on: onDisk, breaks: func(f *faulty) {
			own := rand.Text()
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities { c.ID = own; return c }
		}},
		{name: "a version is of one client", check: "write/version-shared-with-a-peer", on: onDisk, breaks: func(f *faulty) {
			own := ambit.Version(rand.Text())
			versionsAs(func(info ambit.FileInfo) ambit.Version { return own + info.Version })(f)
		}},
		{name: "a File outlives its context", check: "core/file-context-canceled", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if ctx.Err() != nil {
					return f.base.Open(ctx, path)
				}
				return f.base.Open(context.WithoutCancel(ctx), path)
			}
		}},

		{name: "Open ignores a cancelled context", check: "core/open-context-done", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				return f.base.Open(context.WithoutCancel(ctx), path)
			}
		}},
		{name: "Stat ignores a cancelled context", check: "core/stat-context-done", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				return f.base.Stat(context.WithoutCancel(ctx), path)
			}
		}},
		{name: "List ignores a cancelled context", check: "core/list-context-done", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				return f.base.List(context.WithoutCancel(ctx), dir, &o)
			}
		}},
		{name: "an expired deadline is canceled", check: "core/open-context-done", breaks: rewordAll(ambit.ErrTimeout, ambit.ErrCanceled)},
		{name: "the context is looked at after the path", check: "core/order-context-before-path", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if _, _, err := ambit.Resolve("/", path); err != nil {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, err)
				}
				return f.base.Stat(ctx, path)
			}
		}},

		{name: "the same file has another ID each time", check: "core/identity", on: onDisk, breaks: func(f *faulty) {
			var n atomic.Int64
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.ID != "" {
					info.ID = fmt.Sprint(n.Add(1))
				}
				return info
			}
		}},
		{name: "all files have one ID", check: "core/identity", on: onDisk, breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.ID != "" {
					info.ID = "1"
				}
				return info
			}
		}},
		{name: "Open's version is not Stat's", check: "core/version-agrees", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if info.Version != "" {
					info.Version = "of-stat"
				}
				return info, err
			}
		}},
		{name: "a version holds a blank", check: "core/version-form", breaks: versionsAs(func(info ambit.FileInfo) ambit.Version {
			return "version " + info.Version
		})},
	}
}

// versionsAs shows every file's version as tell says.
func versionsAs(tell func(info ambit.FileInfo) ambit.Version) func(f *faulty) {
	return func(f *faulty) {
		f.info = func(info ambit.FileInfo) ambit.FileInfo {
			if info.Version != "" {
				info.Version = tell(info)
			}
			return info
		}
	}
}

// halfCopied is a File whose WriteTo forgets half.
type halfCopied struct{ faultyFile }

func (h *halfCopied) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.LimitReader(&h.faultyFile, h.Info().Size/2))
}

// emptyFile is a File with nothing in it.
type emptyFile struct{ info ambit.FileInfo }

func (*emptyFile) Read([]byte) (int, error) { return 0, io.EOF }

func (*emptyFile) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

func (*emptyFile) Close() error { return nil }

func (e *emptyFile) Info() ambit.FileInfo { return e.info }

func (*emptyFile) Verify(context.Context) error { return nil }
