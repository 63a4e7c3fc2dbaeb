// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// window is how long the mutants that look and then act wait in between, so
// that a run of a moment meets what would take hours by chance.
const window = 2 * time.Millisecond

// concurrentMutants fail when several callers act at once.
func concurrentMutants() []mutant {
	// lookThenAct checks the precondition and writes without it.
	lookThenAct := writes(func(f *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			if o.If.IsZero() {
				return base(ctx, path, content, o)
			}
			data, err := readAll(content)
			if err != nil {
				return base(ctx, path, rest(data, err), o)
			}
			info, err := f.base.Stat(ctx, path)
			switch {
			case err == nil && o.If.Check(&info) == nil, ambit.ReasonOf(err) == ambit.ErrNotFound && o.If.Check(nil) == nil:
				time.Sleep(window)
				o.If = ambit.Precondition{}
			}
			return base(ctx, path, bytes.NewReader(data), o)
		}
	})
	// ownLock is exact among the callers of one client alone.
	ownLock := func(f *faulty) {
		var mu sync.Mutex
		lookThenAct(f)
		look := f.write
		f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			data, err := readAll(content)
			mu.Lock()
			defer mu.Unlock()
			return look(ctx, path, rest(data, err), o)
		}
	}
	// bringsBack appends by reading, and by writing where the file is gone.
	bringsBack := appends(func(f *faulty, base appendFunc) appendFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
			old, _, err := ambit.ReadFile(ctx, f.base, path)
			if err != nil || !o.If.IsZero() {
				return base(ctx, path, content, o)
			}
			add, err := readAll(content)
			time.Sleep(window)
			if _, statErr := f.base.Stat(ctx, path); err == nil && ambit.ReasonOf(statErr) == ambit.ErrNotFound {
				r, err := f.base.Write(ctx, path, bytes.NewReader(append(old, add...)), nil)
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
			return base(ctx, path, rest(add, err), o)
		}
	})
	mutants := []mutant{
		{name: "updates with one IfVersion are lost", check: "concurrent/updates-all-survive", breaks: lookThenAct},
		{name: "two writes on one version succeed", check: "concurrent/swap-one-wins", breaks: lookThenAct},
		{name: "a removal on a version succeeds beside a write on it", check: "concurrent/swap-any-method", breaks: func(f *faulty) {
			slow(f)
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); err == nil && !o.Recursive && !o.If.IsZero() && o.If.Check(&info) == nil {
					time.Sleep(window)
					return f.base.Remove(ctx, path, nil)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "a removal on a version removes what is there by then", check: "concurrent/swap-two-methods", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); err == nil && !o.Recursive && !o.If.IsZero() && o.If.Check(&info) == nil {
					time.Sleep(window)
					return f.base.Remove(ctx, path, nil)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "an Append on a version adds to what is there by then", check: "concurrent/swap-two-methods", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Stat(ctx, path); err == nil && !o.If.IsZero() && o.If.Check(&info) == nil {
					time.Sleep(window)
					o.If = ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "a large Append is made in two", check: "concurrent/large-appends-whole", chance: true, breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil || len(data) <= 64<<10 {
					return base(ctx, path, rest(data, err), o)
				}
				if r, err := base(ctx, path, bytes.NewReader(data[:64<<10]), o); err != nil {
					return r, err
				}
				time.Sleep(window)
				return base(ctx, path, bytes.NewReader(data[64<<10:]), ambit.AppendOptions{})
			}
		})},
		{name: "an Append makes a file again that was moved away", check: "concurrent/append-beside-rename", breaks: bringsBack},
		{name: "an Append makes a file again that was removed", check: "concurrent/append-beside-removal", breaks: bringsBack},
		{name: "two commits on one version succeed", check: "concurrent/commits-all-survive", breaks: func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				free := slices.Clone(changes)
				for i, c := range changes {
					info, err := f.base.Stat(ctx, c.Path)
					if err != nil || c.If.Check(&info) != nil {
						return f.base.Commit(ctx, changes)
					}
					free[i].If = ambit.Precondition{}
				}
				time.Sleep(window)
				return f.base.Commit(ctx, free)
			}
		}},
		{name: "two Mkdir of one folder succeed", check: "concurrent/mkdir-one-makes", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				_, err := f.base.Lstat(ctx, dir)
				if !f.inner.Capabilities().ReadLink {
					_, err = f.base.Stat(ctx, dir)
				}
				missing := ambit.ReasonOf(err) == ambit.ErrNotFound
				time.Sleep(window)
				created, err := f.base.Mkdir(ctx, dir, &o)
				if missing && ambit.ReasonOf(err) == ambit.ErrExists {
					return nil, nil
				}
				return created, err
			}
		}},
		{name: "two Rename of one file move it", check: "concurrent/rename-one-moves", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				data, _, err := ambit.ReadFile(ctx, f.base, from)
				if err != nil || !o.If.IsZero() {
					return f.base.Rename(ctx, from, to, &o)
				}
				time.Sleep(window)
				r, err := f.base.Write(ctx, to, bytes.NewReader(data), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: o.Parents})
				if err == nil {
					err = f.base.Remove(ctx, from, &ambit.RemoveOptions{MissingOK: true})
				}
				return r.Info, ambit.Wrap(ambit.OpRename, from, err)
			}
		}},
		{name: "a Rename replaces what came to its target meanwhile", check: "concurrent/rename-one-arrives", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if _, err := f.base.Stat(ctx, to); ambit.ReasonOf(err) == ambit.ErrNotFound {
					time.Sleep(window)
					o.Replace = true
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "a name is gone while a Rename replaces it", check: "concurrent/rename-replaces", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				source, err := f.base.Stat(ctx, from)
				target, targetErr := f.base.Stat(ctx, to)
				if err == nil && targetErr == nil && o.Replace && source.Path != target.Path && target.Kind == ambit.KindRegular {
					f.base.Remove(ctx, to, nil)
					time.Sleep(window)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "two Remove of one file remove it", check: "concurrent/remove-one-removes", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if _, err := f.base.Stat(ctx, path); err == nil && o.If.IsZero() {
					time.Sleep(window)
					o.MissingOK = true
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "IfAbsent has two winners", check: "concurrent/create-one-wins", breaks: func(f *faulty) {
			slow(f)
			lookThenAct(f)
		}},
		{name: "the result's version is what a later look finds", check: "concurrent/one-version-one-content", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if err == nil {
					time.Sleep(window)
					if info, err := f.base.Stat(ctx, path); err == nil {
						r.Info = info
					}
				}
				return r, err
			}
		})},
		{name: "a replaced file is empty for a moment", check: "concurrent/replaced-whole", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if _, statErr := f.base.Stat(ctx, path); err == nil && statErr == nil && o.If.IsZero() {
					base(ctx, path, strings.NewReader(""), o)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a replaced file is gone for a moment", check: "concurrent/replaced-whole", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if info, statErr := f.base.Stat(ctx, path); err == nil && statErr == nil && info.Kind == ambit.KindRegular && o.If.IsZero() {
					f.base.Remove(ctx, path, nil)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a replaced file is half new for a moment", check: "concurrent/replaced-whole", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				old, _, oldErr := ambit.ReadFile(ctx, f.base, path)
				if err == nil && oldErr == nil && o.If.IsZero() {
					base(ctx, path, bytes.NewReader(append(slices.Clone(data[:len(data)/2]), old[min(len(old), len(data)/2):]...)), o)
					time.Sleep(window)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a handle reads old and new bytes", check: "concurrent/handle-keeps-its-bytes", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				var at int64
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					now, err := f.base.Open(context.Background(), path)
					if err != nil {
						return file.Read(p)
					}
					defer now.Close()
					n, err := readerAt(now).ReadAt(p[:min(len(p), 512)], at)
					at += int64(n)
					if n > 0 {
						err = nil
					}
					return n, err
				}}
			}
		}},
		{name: "ReadAt mixes two versions", check: "write/open-file-replaced", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					now, err := f.base.Open(context.Background(), path)
					if err != nil {
						return readerAt(file).ReadAt(p, off)
					}
					defer now.Close()
					return readerAt(now).ReadAt(p, off)
				}}
			}
		}},
		{name: "parallel ReadAt share an offset", check: "concurrent/read-at", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				var at atomic.Int64
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					at.Store(off)
					runtime.Gosched()
					return readerAt(file).ReadAt(p, at.Load())
				}}
			}
		}},
		{name: "a File starts where the last one of its path stands", check: "concurrent/own-positions", breaks: func(f *faulty) {
			var stands sync.Map // path to the position
			f.file = func(path string, file ambit.File) ambit.File {
				at, _ := stands.LoadOrStore(path, new(atomic.Int64))
				position := at.(*atomic.Int64)
				io.CopyN(io.Discard, file, position.Load())
				return &faultyFile{File: file, read: func(p []byte) (int, error) {
					n, err := file.Read(p)
					position.Add(int64(n))
					return n, err
				}}
			}
		}},
		{name: "ReadAt of a file that was closed beside it is io", check: "concurrent/close-beside-reads", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					n, err := readerAt(file).ReadAt(p, off)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						err = ambit.Wrap(ambit.OpRead, path, ambit.ErrIO)
					}
					return n, err
				}}
			}
		}},
		{name: "a temporary name is listed while a file is written", check: "concurrent/listing-beside-changes", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, dir, err := ambit.Resolve("/", path)
				if info, statErr := f.base.Stat(ctx, path); err != nil || dir || !o.If.IsZero() || o.Parents || statErr == nil && info.Kind != ambit.KindRegular {
					return base(ctx, path, content, o)
				}
				temporary := ambit.Join(ambit.Dir(clean), ".tmp-"+ambit.Base(clean))
				r, err := base(ctx, temporary, content, o)
				if err == nil {
					time.Sleep(window)
					r.Info, err = f.base.Rename(ctx, temporary, clean, &ambit.RenameOptions{Replace: true})
				}
				return r, ambit.Wrap(ambit.OpWrite, path, err)
			}
		})},
		{name: "two calls at once panic", check: "concurrent/every-method", panics: true, breaks: func(f *faulty) {
			var calls atomic.Int64
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if calls.Add(1) > 1 {
					panic("two calls at once")
				}
				defer calls.Add(-1)
				time.Sleep(window)
				return f.base.Stat(ctx, path)
			}
		}},
		{name: "Append loses an append at the same time", check: "concurrent/appends-all-survive", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, _, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				time.Sleep(window)
				data, err := readAll(content)
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old), rest(data, err)), nil)
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append mixes the bytes of two appends", check: "concurrent/appends-all-survive", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil || !o.If.IsZero() || len(data) < 2 {
					return base(ctx, path, rest(data, err), o)
				}
				if r, err := base(ctx, path, bytes.NewReader(data[:len(data)/2]), o); err != nil {
					return r, err
				}
				time.Sleep(window)
				return base(ctx, path, bytes.NewReader(data[len(data)/2:]), o)
			}
		})},
		{name: "Append loses an append to a file that is created at the same time", check: "concurrent/appends-all-survive", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) != ambit.ErrNotFound || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				time.Sleep(window)
				r, err := f.base.Write(ctx, path, content, &ambit.WriteOptions{Parents: o.Parents, Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Mkdir has two makers of one folder", check: "concurrent/mkdir-parents-apart", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				_, err := f.base.Stat(ctx, dir)
				missing := ambit.ReasonOf(err) == ambit.ErrNotFound
				time.Sleep(window)
				created, err := f.base.Mkdir(ctx, dir, &o)
				if clean, _, resolveErr := ambit.Resolve("/", dir); missing && len(created) == 0 && resolveErr == nil && o.Parents && err == nil {
					created = []string{clean}
				}
				return created, err
			}
		}},
		{name: "two writes tell that they made one parent", check: "concurrent/parents-made-once", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, resolveErr := ambit.Resolve("/", path)
				_, err := f.base.Stat(ctx, ambit.Dir(clean))
				missing := resolveErr == nil && ambit.ReasonOf(err) == ambit.ErrNotFound
				time.Sleep(window)
				r, err := base(ctx, path, content, o)
				if missing && err == nil && len(r.CreatedDirs) == 0 {
					r.CreatedDirs = []string{ambit.Dir(clean)}
				}
				return r, err
			}
		})},
		{name: "two calls of Publish publish", check: "concurrent/publish-once", breaks: func(f *faulty) {
			f.staged = func(_ string, s ambit.Staged) ambit.Staged {
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					if ambit.ReasonOf(err) == ambit.ErrClosed {
						return ambit.WriteResult{Info: s.Info()}, nil
					}
					return r, err
				}}
			}
		}},
		{name: "a lock is held while content is read", check: "write/write-content-uses-the-file-system", hangs: true, breaks: func(f *faulty) {
			var mu sync.Mutex
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Open(ctx, path)
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a lock is held while a reader is slow", check: "concurrent/content-uses-file-system", hangs: true, breaks: func(f *faulty) {
			var mu sync.Mutex
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a folder is removed piece by piece", check: "concurrent/folder-leaves-at-once", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); o.Recursive && err == nil && info.IsDir() && info.Path != "/" {
					for e, err := range ambit.Walk(ctx, f.base, info.Path) {
						if err == nil && e.Info.Kind == ambit.KindRegular {
							f.base.Remove(ctx, e.Info.Path, nil)
							time.Sleep(window)
						}
					}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "a write that was published is told as canceled", check: "concurrent/cancelled-write", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if ctx.Err() != nil {
					return base(ctx, path, content, o)
				}
				r, err := base(context.WithoutCancel(ctx), path, content, o)
				return r, lateError(ctx, ambit.OpWrite, path, err)
			}
		})},
		{name: "the parents of a cancelled write stay", check: "concurrent/cancelled-write-parents", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				time.Sleep(window)
				r, err := base(ctx, path, content, o)
				if ctx.Err() != nil && err != nil && o.Parents {
					makeParents(f, path)
				}
				return r, err
			}
		})},
		{name: "an append that was published is told as canceled", check: "concurrent/cancelled-append", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if ctx.Err() != nil {
					return base(ctx, path, content, o)
				}
				r, err := base(context.WithoutCancel(ctx), path, content, o)
				return r, lateError(ctx, ambit.OpAppend, path, err)
			}
		})},
		{name: "a Publish that published is told as canceled", check: "concurrent/cancelled-publish", breaks: func(f *faulty) {
			f.staged = func(path string, s ambit.Staged) ambit.Staged {
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					if ctx.Err() != nil {
						return s.Publish(ctx)
					}
					r, err := s.Publish(context.WithoutCancel(ctx))
					return r, lateError(ctx, ambit.OpPublish, path, err)
				}}
			}
		}},
		{name: "a removal that is done is told as canceled", check: "concurrent/cancelled-remove", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if ctx.Err() != nil {
					return f.base.Remove(ctx, path, &o)
				}
				return lateError(ctx, ambit.OpRemove, path, f.base.Remove(context.WithoutCancel(ctx), path, &o))
			}
		}},
		{name: "a removal of a folder stops half-way when it is cancelled", check: "concurrent/cancelled-remove-folder", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); o.Recursive && err == nil && info.IsDir() && info.Path != "/" {
					for e, err := range ambit.Walk(ctx, f.base, info.Path) {
						if err == nil && e.Info.Kind == ambit.KindRegular {
							f.base.Remove(ctx, e.Info.Path, nil)
							time.Sleep(window / 4)
						}
					}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "a cancelled Rename leaves the parents", check: "concurrent/cancelled-rename", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if _, err := f.base.Stat(ctx, from); err == nil && o.Parents {
					makeParents(f, to)
					time.Sleep(window)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "a cancelled Mkdir leaves the outer folders", check: "concurrent/cancelled-mkdir", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				var created []string
				if clean, _, err := ambit.Resolve("/", dir); err == nil && o.Parents && ctx.Err() == nil {
					for i := 1; i < len(clean); i++ {
						if clean[i] == '/' {
							made, _ := f.base.Mkdir(ctx, clean[:i], &o)
							created = append(created, made...)
							time.Sleep(window / 4)
						}
					}
				}
				made, err := f.base.Mkdir(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				return append(created, made...), nil
			}
		}},
		{name: "a cancelled Commit leaves half", check: "concurrent/cancelled-commit", breaks: func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				var results []ambit.WriteResult
				for _, c := range changes {
					r, err := f.base.Commit(ctx, []ambit.Change{c})
					if err != nil {
						return nil, err
					}
					results = append(results, r...)
					time.Sleep(window / 4)
				}
				return results, nil
			}
		}},
		{name: "a client sees the other's change late", check: "concurrent/peer-sees-changes", on: onDisk, breaks: func(f *faulty) {
			var cache sync.Map
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if info, ok := cache.Load(path); ok && ctx.Err() == nil {
					return info.(ambit.FileInfo), nil
				}
				info, err := f.base.Stat(ctx, path)
				if err == nil {
					cache.Store(path, info)
				}
				return info, err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				cache.Clear()
				defer cache.Clear()
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "clients give a file different IDs", check: "concurrent/peer-agrees", on: onDisk, breaks: func(f *faulty) {
			own := rand.Text()
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.ID != "" {
					info.ID += own
				}
				return info
			}
		}},
		{name: "a version that another client was told is refused", check: "concurrent/peer-version-travels", on: onDisk, breaks: func(f *faulty) {
			var told sync.Map
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				told.Store(info.Version, true)
				return info
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if v, ok := o.If.Version(); ok && v.Valid() {
					if _, known := told.Load(v); !known {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrChanged)
					}
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a version is checked under a lock of the client's own", check: "concurrent/peer-swap-one-wins", on: onDisk, breaks: ownLock},
		{name: "updates are lost between two clients", check: "concurrent/peer-updates-all-survive", on: onDisk, breaks: ownLock},
		{name: "Verify sees a replacement late", check: "core/verify-after-write", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				opened := time.Now()
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if time.Since(opened) < 20*time.Millisecond {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "a page is of the listing as it was", check: "core/list-after-changes", breaks: func(f *faulty) {
			var cache sync.Map
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &ambit.ListOptions{Details: o.Details})
				if err != nil {
					return l, err
				}
				first, _ := cache.LoadOrStore(l.Dir, l)
				return ambit.Page(l.Dir, slices.Clone(first.(*ambit.Listing).Entries), &o), nil
			}
		}},
	}
	for i := range mutants {
		mutants[i].chance = true
	}
	return mutants
}

// slow makes every change wait before it begins, which is no fault: with it a
// fault beside meets the others before they are done.
func slow(f *faulty) {
	f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
		time.Sleep(window)
		return f.base.Write(ctx, path, content, &o)
	}
	f.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
		time.Sleep(window)
		return f.base.Append(ctx, path, content, &o)
	}
	f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
		time.Sleep(window)
		return f.base.Rename(ctx, from, to, &o)
	}
	f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
		time.Sleep(window)
		return f.base.Stage(ctx, path, content, &o)
	}
	f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
		time.Sleep(window)
		return f.base.Commit(ctx, changes)
	}
}

// lateError tells of a context that ended, though the call has succeeded.
func lateError(ctx context.Context, op, path string, err error) error {
	time.Sleep(window)
	if err == nil && ctx.Err() != nil {
		return ambit.Wrap(op, path, ctx.Err())
	}
	return err
}
