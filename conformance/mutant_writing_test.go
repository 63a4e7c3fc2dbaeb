// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

type writeFunc = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error)

// writes replaces Write; base is the correct one.
func writes(write func(f *faulty, base writeFunc) writeFunc) func(f *faulty) {
	return func(f *faulty) {
		f.write = write(f, func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			return f.base.Write(ctx, path, content, &o)
		})
	}
}

// writesWith changes the options of Write.
func writesWith(change func(o *ambit.WriteOptions)) func(f *faulty) {
	return writes(func(_ *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			change(&o)
			return base(ctx, path, content, o)
		}
	})
}

// results changes what Write returns.
func results(change func(f *faulty, path string, r *ambit.WriteResult)) func(f *faulty) {
	return writes(func(f *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			r, err := base(ctx, path, content, o)
			if err == nil {
				change(f, path, &r)
			}
			return r, err
		}
	})
}

// tries keeps what was read of content, and calls failed if Write failed.
func tries(failed func(f *faulty, path string, got []byte, o ambit.WriteOptions, err error)) func(f *faulty) {
	return writes(func(f *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			var got bytes.Buffer
			if content != nil {
				content = io.TeeReader(content, &got)
			}
			r, err := base(ctx, path, content, o)
			if err != nil {
				failed(f, path, got.Bytes(), o, err)
			}
			return r, err
		}
	})
}

// writingMutants have a fault in Write.
func writingMutants() []mutant {
	return []mutant{
		{name: "Write ignores IfAbsent", check: "write/write-if-absent-file", breaks: writesWith(func(o *ambit.WriteOptions) {
			if o.If.Absent() {
				o.If = ambit.Precondition{}
			}
		})},
		{name: "Write ignores IfVersion", check: "write/write-if-version", breaks: writesWith(func(o *ambit.WriteOptions) {
			if v, ok := o.If.Version(); ok && v.Valid() {
				o.If = ambit.Precondition{}
			}
		})},
		{name: "IfVersion of no version means whatever is there", check: "write/write-if-no-version", breaks: writesWith(func(o *ambit.WriteOptions) {
			if v, ok := o.If.Version(); ok && v == "" {
				o.If = ambit.Precondition{}
			}
		})},
		{name: "IfVersion of no version means absent", check: "write/write-if-no-version", breaks: writesWith(func(o *ambit.WriteOptions) {
			if v, ok := o.If.Version(); ok && v == "" {
				o.If = ambit.IfAbsent()
			}
		})},
		{name: "IfVersion creates a missing file", check: "write/write-if-version-missing", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					if v, ok := o.If.Version(); ok && v.Valid() {
						o.If = ambit.Precondition{}
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "IfVersion with Parents leaves the parents of a missing file", check: "write/write-if-version-parents-missing-parent", breaks: tries(func(f *faulty, path string, _ []byte, o ambit.WriteOptions, err error) {
			if _, ok := o.If.Version(); ok && o.Parents && ambit.ReasonOf(err) == ambit.ErrChanged {
				makeParents(f, path)
			}
		})},
		{name: "missing parents are made without being asked", check: "write/write-missing-parent", breaks: writesWith(func(o *ambit.WriteOptions) { o.Parents = true })},
		{name: "Parents is ignored", check: "write/write-parents", breaks: writesWith(func(o *ambit.WriteOptions) { o.Parents = false })},
		{name: "the created folders come innermost first", check: "write/write-parents", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) {
			r.CreatedDirs = slices.Clone(r.CreatedDirs)
			slices.Reverse(r.CreatedDirs)
		})},
		{name: "the created folders tell one that was there", check: "write/write-parents", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) {
			if len(r.CreatedDirs) > 0 {
				r.CreatedDirs = append([]string{ambit.Dir(r.CreatedDirs[0])}, r.CreatedDirs...)
			}
		})},
		{name: "the created folders are not told", check: "write/write-parents", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.CreatedDirs = nil })},
		{name: "Created is never told", check: "write/write-missing", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.Created = false })},
		{name: "Created is always told", check: "write/write-file", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.Created = true })},
		{name: "the result tells the path as written", check: "write/write-missing", breaks: results(func(_ *faulty, path string, r *ambit.WriteResult) { r.Info.Path = path })},
		{name: "the result tells no size", check: "write/write-missing", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.Info.Size = 0 })},
		{name: "the result tells no version", check: "write/write-missing", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.Info.Version = "" })},

		{name: "a shorter content leaves the old tail", check: "write/write-file", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				old, _, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || content == nil {
					return base(ctx, path, content, o)
				}
				var n int64
				counted := &countingReader{content, &n}
				return base(ctx, path, io.MultiReader(counted, lazy(func() io.Reader { return bytes.NewReader(old[min(n, int64(len(old))):]) })), o)
			}
		})},
		{name: "empty content is refused", check: "write/write-empty", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err == nil && len(data) == 0 {
					return ambit.WriteResult{}, &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrInvalid}
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a nil reader panics", check: "write/write-nil-reader", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := io.ReadAll(content)
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a nil reader is empty content", check: "write/write-nil-reader", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					content = strings.NewReader("")
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "a Mode beyond the permission bits is taken", check: "write/write-bad-mode", breaks: writesWith(func(o *ambit.WriteOptions) { o.Mode = o.Mode.Perm() })},
		{name: "content stops after 64 KiB", check: "write/write-large", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content != nil {
					content = io.LimitReader(content, 64<<10)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "line endings are changed", check: "write/write-bytes", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				return base(ctx, path, rest(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err), o)
			}
		})},

		{name: "a failing reader leaves what it gave", check: "write/write-failing-reader", breaks: tries(func(f *faulty, path string, got []byte, _ ambit.WriteOptions, err error) {
			if ambit.ReasonOf(err) == ambit.ErrIO {
				f.base.Write(context.Background(), path, bytes.NewReader(got), nil)
			}
		})},
		{name: "a failing reader empties the file", check: "write/write-failing-reader", breaks: tries(func(f *faulty, path string, got []byte, _ ambit.WriteOptions, err error) {
			if ambit.ReasonOf(err) == ambit.ErrIO {
				f.base.Write(context.Background(), path, strings.NewReader(""), nil)
			}
		})},
		{name: "a failing reader is the end of the content", check: "write/write-failing-reader", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					return base(ctx, path, content, o)
				}
				data, _ := io.ReadAll(content)
				return base(ctx, path, bytes.NewReader(data), o)
			}
		})},
		{name: "a failing reader's error is lost", check: "write/write-failing-reader", breaks: facts(func(e *ambit.Error) {
			if e.Reason == ambit.ErrIO {
				e.Err = errors.New("reading failed")
			}
		})},
		{name: "a failing reader's reason is lost", check: "write/write-failing-reader-reason", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil {
					err = errors.New(err.Error())
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a failed write leaves the parents", check: "write/write-failing-reader", breaks: tries(func(f *faulty, path string, _ []byte, o ambit.WriteOptions, err error) {
			if o.Parents && ambit.ReasonOf(err) == ambit.ErrIO {
				makeParents(f, path)
			}
		})},
		{name: "a cancelled write leaves what it has", check: "write/write-canceled-in-content", breaks: tries(func(f *faulty, path string, got []byte, _ ambit.WriteOptions, err error) {
			if ambit.ReasonOf(err) == ambit.ErrCanceled {
				f.base.Write(context.Background(), path, bytes.NewReader(got), nil)
			}
		})},
		{name: "a cancelled write leaves the parents", check: "write/write-canceled-in-content", breaks: tries(func(f *faulty, path string, _ []byte, o ambit.WriteOptions, err error) {
			if o.Parents && ambit.ReasonOf(err) == ambit.ErrCanceled {
				makeParents(f, path)
			}
		})},
		{name: "Write ignores a cancelled context", check: "write/write-canceled-in-content", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return base(context.WithoutCancel(ctx), path, content, o)
			}
		})},
		{name: "Remove ignores a cancelled context", check: "write/remove-context-done", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				return f.base.Remove(context.WithoutCancel(ctx), path, &o)
			}
		}},
		{name: "Mkdir ignores a cancelled context", check: "write/mkdir-context-done", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				return f.base.Mkdir(context.WithoutCancel(ctx), dir, &o)
			}
		}},
		{name: "Rename ignores a cancelled context", check: "write/rename-context-done", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				return f.base.Rename(context.WithoutCancel(ctx), from, to, &o)
			}
		}},
		{name: "a write leaves a temporary name", check: "write/write-failing-reader", breaks: tries(func(f *faulty, path string, got []byte, _ ambit.WriteOptions, err error) {
			if ambit.ReasonOf(err) == ambit.ErrIO {
				f.base.Write(context.Background(), path+".tmp1234", bytes.NewReader(got), nil)
			}
		})},
		{name: "a refused write has removed the file", check: "write/write-if-version", breaks: tries(func(f *faulty, path string, _ []byte, _ ambit.WriteOptions, err error) {
			if ambit.ReasonOf(err) == ambit.ErrChanged {
				f.base.Remove(context.Background(), path, nil)
			}
		})},

		{name: "Write judges the precondition before it reads the content alone", check: "write/write-changed-meanwhile", breaks: judgesEarly(func(o *ambit.WriteOptions) bool { return !o.If.Absent() })},
		{name: "Write judges absence before it reads the content alone", check: "write/write-created-meanwhile", breaks: judgesEarly(func(o *ambit.WriteOptions) bool { return o.If.Absent() })},
		{name: "Write on a version makes a file again that was removed meanwhile", check: "write/write-removed-meanwhile", breaks: judgesEarly(func(o *ambit.WriteOptions) bool { return !o.If.Absent() })},
		{name: "Write makes a parent again that was removed meanwhile", check: "write/write-parent-removed-meanwhile", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, err := ambit.Resolve("/", path)
				if _, statErr := f.base.Stat(ctx, ambit.Dir(clean)); err != nil || statErr != nil {
					return base(ctx, path, content, o)
				}
				data, err := readAll(content)
				o.Parents = true
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "Write removes a folder that came in its way meanwhile", check: "write/write-folder-meanwhile", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Stat(ctx, path); err == nil && info.IsDir() {
					return base(ctx, path, content, o)
				}
				data, err := readAll(content)
				if info, statErr := f.base.Stat(ctx, path); statErr == nil && info.IsDir() {
					f.base.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true})
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "the bytes that come with the end are lost", check: "write/write-readers", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					return base(ctx, path, content, o)
				}
				return base(ctx, path, readerFunc(func(p []byte) (int, error) {
					n, err := content.Read(p)
					if err == io.EOF {
						n = 0
					}
					return n, err
				}), o)
			}
		})},
		{name: "a read of nothing is the end of the content", check: "write/write-readers", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					return base(ctx, path, content, o)
				}
				return base(ctx, path, readerFunc(func(p []byte) (int, error) {
					n, err := content.Read(p)
					if n == 0 && err == nil {
						err = io.EOF
					}
					return n, err
				}), o)
			}
		})},
		{name: "an unexpected end is an end", check: "write/write-unexpected-end", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if errors.Is(err, io.ErrUnexpectedEOF) {
					err = nil
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "the content is judged before the path", check: "write/order-walk-before-content", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
				}
				return base(ctx, path, bytes.NewReader(data), o)
			}
		})},
		{name: "the content is judged before the precondition", check: "write/order-precondition-before-content", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err != nil && !o.If.IsZero() {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a nil reader is judged before the path", check: "write/order-write-nil-empty-path", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrInvalid)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "a nil reader is judged after the path", check: "write/order-write-nil-missing-parent", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					if _, err := f.base.Stat(ctx, path); err != nil {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "the result's version is that of before", check: "write/version-of-the-result", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				before, _ := f.base.Stat(ctx, path)
				r, err := base(ctx, path, content, o)
				if err == nil && before.Version != "" {
					r.Info.Version = before.Version
				}
				return r, err
			}
		})},
		{name: "one's own version is stale", check: "write/write-own-version", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			var own sync.Map
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if v, ok := o.If.Version(); ok {
					if _, stale := own.Load(v); stale {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrChanged)
					}
				}
				r, err := base(ctx, path, content, o)
				own.Store(r.Info.Version, true)
				return r, err
			}
		})},
		{name: "a file that is made again has its first version again", check: "write/version-after-removal", breaks: func(f *faulty) {
			var mu sync.Mutex
			writes := make(map[string]int)
			versionsAs(func(info ambit.FileInfo) ambit.Version {
				mu.Lock()
				defer mu.Unlock()
				return ambit.Version(fmt.Sprintf("write-%d", writes[info.Path]))
			})(f)
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &o)
				mu.Lock()
				defer mu.Unlock()
				writes[r.Info.Path]++
				return r, err
			}
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				info, _ := f.base.Stat(ctx, path)
				err := f.base.Remove(ctx, path, &o)
				mu.Lock()
				defer mu.Unlock()
				delete(writes, info.Path)
				return err
			}
		}},
		{name: "a version belongs to the name and not to what is moved there", check: "write/version-after-rename-over", breaks: versionsAs(func(info ambit.FileInfo) ambit.Version {
			return ambit.Version(fmt.Sprintf("name-%x", info.Path))
		})},
		{name: "a temporary name stays in the listing", check: "write/write-listed", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if err == nil {
					base(ctx, ambit.Join(ambit.Dir(r.Info.Path), ".tmp-1234"), strings.NewReader(""), ambit.WriteOptions{})
				}
				return r, err
			}
		})},
		{name: "Write changes a neighbour of the file", check: "write/write-file", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if l, listErr := f.base.List(ctx, ambit.Dir(r.Info.Path), nil); err == nil && listErr == nil {
					for _, e := range l.Entries {
						if e.Info.Path != r.Info.Path && e.Info.Kind == ambit.KindRegular {
							base(ctx, e.Info.Path, strings.NewReader("overwritten"), ambit.WriteOptions{})
							break
						}
					}
				}
				return r, err
			}
		})},

		{name: "a replaced file loses its mode", check: "write/write-keeps-mode", on: onDisk, breaks: writesWith(func(o *ambit.WriteOptions) {
			if o.Mode == 0 {
				o.Mode = 0o644
			}
		})},
		{name: "Mode is ignored", check: "write/write-mode", on: onDisk, breaks: writesWith(func(o *ambit.WriteOptions) {
			if o.Mode == o.Mode.Perm() {
				o.Mode = 0
			}
		})},
		{name: "Mode is ignored on a file that is replaced", check: "write/write-mode-of-a-file", on: onDisk, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Stat(ctx, path); err == nil && o.Mode == o.Mode.Perm() {
					o.Mode = 0
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Mode is subject to the umask", check: "write/write-mode", on: onDisk, breaks: writesWith(func(o *ambit.WriteOptions) {
			if o.Mode == o.Mode.Perm() {
				o.Mode &^= 0o022
			}
		})},

		{name: "MaxFileSize is claimed and not kept", check: "write/write-max-file-size", unclaimed: true, breaks: func(f *faulty) {
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities { c.MaxFileSize = 1 << 10; return c }
		}},
		{name: "a file over MaxFileSize is cut off", check: "write/write-max-file-size", on: limited, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content != nil {
					content = io.LimitReader(content, f.inner.Capabilities().MaxFileSize)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "a file of exactly MaxFileSize is refused", check: "write/write-max-file-size", on: limited, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				limit := f.inner.Capabilities().MaxFileSize
				return base(ctx, path, ambit.Content(ctx, content, limit-1), o)
			}
		})},

		{name: "the caller's buffer is kept", check: "write/write-keeps-no-buffer", breaks: func(f *faulty) {
			var kept sync.Map // version to the caller's own bytes
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, ok := content.(*bytes.Reader)
				if !ok {
					return f.base.Write(ctx, path, content, &o)
				}
				var own retaining
				r.WriteTo(&own)
				result, err := f.base.Write(ctx, path, bytes.NewReader(own.p), &o)
				if err == nil {
					kept.Store(result.Info.Version, own.p)
				}
				return result, err
			}
			f.file = func(_ string, file ambit.File) ambit.File {
				p, ok := kept.Load(file.Info().Version)
				if !ok {
					return file
				}
				return &faultyFile{File: file, read: bytes.NewReader(p.([]byte)).Read}
			}
		}},

		{name: "a rewrite of the same size keeps the version", check: "write/version-same-size", breaks: versionsAs(func(info ambit.FileInfo) ambit.Version {
			return ambit.Version(fmt.Sprintf("size-%d", info.Size))
		})},
		{name: "a version is the hash of the bytes", check: "write/version-aba", breaks: versionOfBytes},
		{name: "a version is the time to the second", check: "write/version-same-size", breaks: versionsAs(func(info ambit.FileInfo) ambit.Version {
			return ambit.Version(fmt.Sprintf("%d-%d", info.ModTime.Unix(), info.Size))
		})},
		{name: "a write of the same bytes is none", check: "write/version-same-bytes", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				old, info, oldErr := ambit.ReadFile(ctx, f.base, path)
				if err == nil && oldErr == nil && o.If.IsZero() && o.Mode == 0 && bytes.Equal(data, old) {
					return ambit.WriteResult{Info: info}, nil
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "a version is of no form", check: "core/version-form", breaks: versionsAs(func(info ambit.FileInfo) ambit.Version {
			return ambit.Version(strings.Repeat("v", ambit.MaxVersion)) + info.Version
		})},
	}
}

// judgesEarly judges the preconditions that early picks when the call begins,
// and publishes without them.
func judgesEarly(early func(o *ambit.WriteOptions) bool) func(f *faulty) {
	return writes(func(f *faulty, base writeFunc) writeFunc {
		return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
			if o.If.IsZero() || !early(&o) {
				return base(ctx, path, content, o)
			}
			var now *ambit.FileInfo
			if info, err := f.base.Stat(ctx, path); err == nil {
				now = &info
			}
			if o.If.Check(now) != nil {
				return base(ctx, path, content, o)
			}
			data, err := readAll(content)
			o.If = ambit.Precondition{}
			return base(ctx, path, rest(data, err), o)
		}
	})
}

// versionOfBytes gives files with the same bytes the same version, so that one
// comes back, and understands it in preconditions.
func versionOfBytes(f *faulty) {
	hash := func(info ambit.FileInfo) ambit.Version {
		data, _, err := ambit.ReadFile(context.Background(), f.base, info.Path)
		if err != nil {
			return info.Version
		}
		var sum uint64
		for _, b := range data {
			sum = sum*31 + uint64(b)
		}
		return ambit.Version(fmt.Sprintf("hash-%x", sum))
	}
	versionsAs(hash)(f)
	f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
		if v, ok := o.If.Version(); ok && v.Valid() {
			if info, err := f.base.Stat(ctx, path); err == nil && hash(info) == v {
				o.If = ambit.IfVersion(info.Version)
			}
		}
		return f.base.Write(ctx, path, content, &o)
	}
}

// makeParents leaves the folders above path behind.
func makeParents(f *faulty, path string) {
	if clean, _, err := ambit.Resolve("/", path); err == nil {
		f.base.Mkdir(context.Background(), ambit.Dir(clean), &ambit.MkdirOptions{Parents: true})
	}
}

// readAll is io.ReadAll, but for a nil reader, which is the error that a
// backend would find in it.
func readAll(content io.Reader) ([]byte, error) {
	return io.ReadAll(ambit.Content(context.Background(), content, 0))
}

// rest reads data and then fails with err, if there is one.
func rest(data []byte, err error) io.Reader {
	if err == nil {
		return bytes.NewReader(data)
	}
	return io.MultiReader(bytes.NewReader(data), readerFunc(func([]byte) (int, error) { return 0, err }))
}

type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// lazy makes its reader when it is first read.
func lazy(make func() io.Reader) io.Reader {
	var r io.Reader
	return readerFunc(func(p []byte) (int, error) {
		if r == nil {
			r = make()
		}
		return r.Read(p)
	})
}

type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// retaining keeps the slice that is written to it.
type retaining struct{ p []byte }

func (r *retaining) Write(p []byte) (int, error) {
	r.p = p
	return len(p), nil
}

type appendFunc = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error)

func appends(change func(f *faulty, base appendFunc) appendFunc) func(f *faulty) {
	return func(f *faulty) {
		f.append = change(f, func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
			return f.base.Append(ctx, path, content, &o)
		})
	}
}

// appendMutants have a fault in Append.
func appendMutants() []mutant {
	return []mutant{
		{name: "Append creates nothing", check: "write/append-missing", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if _, err := f.base.Open(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpAppend, path, err)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append replaces", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &ambit.WriteOptions{If: o.If, Parents: o.Parents, Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append puts the bytes in front", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() || content == nil {
					return base(ctx, path, content, o)
				}
				r, err := f.base.Write(ctx, path, io.MultiReader(content, bytes.NewReader(old)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append starts a new line", check: "write/append-file", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if content != nil {
					content = io.MultiReader(content, strings.NewReader("\n"))
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append ignores IfVersion", check: "write/append-if-version", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if v, ok := o.If.Version(); ok && v.Valid() {
					o.If = ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append ignores IfAbsent", check: "write/append-if-absent-file", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if o.If.Absent() {
					o.If = ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append makes missing parents without being asked", check: "write/append-missing-parent", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				o.Parents = true
				return base(ctx, path, content, o)
			}
		})},
		{name: "Append leaves what a failing reader gave", check: "write/append-failing-reader", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if content == nil {
					return base(ctx, path, content, o)
				}
				var got bytes.Buffer
				r, err := base(ctx, path, io.TeeReader(content, &got), o)
				if ambit.ReasonOf(err) == ambit.ErrIO {
					f.base.Append(context.Background(), path, &got, nil)
				}
				return r, err
			}
		})},
		{name: "Append extends a neighbour too", check: "write/append-siblings", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if l, listErr := f.base.List(ctx, ambit.Dir(r.Info.Path), nil); err == nil && listErr == nil {
					for _, e := range l.Entries {
						if e.Info.Path != r.Info.Path && e.Info.Kind == ambit.KindRegular {
							base(ctx, e.Info.Path, strings.NewReader("appended"), ambit.AppendOptions{})
							break
						}
					}
				}
				return r, err
			}
		})},
		{name: "Append of nothing to a missing name makes nothing", check: "write/append-of-nothing", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				data, err := readAll(content)
				if err == nil && len(data) == 0 {
					return ambit.WriteResult{}, nil
				}
				return base(ctx, path, rest(data, err), o)
			}
		})},
		{name: "Append goes to where the file ended first", check: "write/append-many", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			var ends sync.Map
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				end, again := ends.LoadOrStore(info.Path, len(old))
				if !again || end.(int) > len(old) {
					return base(ctx, path, content, o)
				}
				data, err := readAll(content)
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old[:end.(int)]), rest(data, err)), nil)
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
		{name: "Append keeps the version", check: "write/version-after-append", breaks: func(f *faulty) {
			var first sync.Map
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if v, ok := first.Load(info.Path); ok && info.Version != "" {
					info.Version = v.(ambit.Version)
				}
				return info
			}
			f.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Stat(ctx, path); err == nil {
					first.LoadOrStore(info.Path, info.Version)
				}
				return f.base.Append(ctx, path, content, &o)
			}
		}},
		{name: "Append's result tells the size of what was added", check: "write/append-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, _ := f.base.Stat(ctx, path)
				r, err := base(ctx, path, content, o)
				r.Info.Size -= max(old.Size, 0)
				return r, err
			}
		})},
		{name: "Append sets the mode of a file that was there", check: "write/append-mode-of-a-file", breaks: appends(func(f *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				old, info, err := ambit.ReadFile(ctx, f.base, path)
				if err != nil || o.Mode == 0 || o.Mode != o.Mode.Perm() || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				r, err := f.base.Write(ctx, path, io.MultiReader(bytes.NewReader(old), content), &ambit.WriteOptions{If: ambit.IfVersion(info.Version), Mode: o.Mode})
				return r, ambit.Wrap(ambit.OpAppend, path, err)
			}
		})},
	}
}

// removingMutants have a fault in Remove.
func removingMutants() []mutant {
	removes := func(change func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (done bool, err error)) func(f *faulty) {
		return func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if done, err := change(f, ctx, path, &o); done || err != nil {
					return ambit.Wrap(ambit.OpRemove, path, err)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}
	}
	isFolder := func(f *faulty, ctx context.Context, path string) bool {
		info, err := f.base.Stat(ctx, path)
		return err == nil && info.IsDir() && info.Path != "/"
	}
	return []mutant{
		{name: "Remove removes a full folder without Recursive", check: "write/remove-full-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if err := f.base.Remove(ctx, path, o); ambit.ReasonOf(err) == ambit.ErrNotEmpty {
				o.Recursive = true
			} else {
				return true, err
			}
			return false, nil
		})},
		{name: "Remove removes an empty folder without Recursive", check: "write/remove-empty-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if l, err := f.base.List(ctx, path, nil); err == nil && len(l.Entries) == 0 && isFolder(f, ctx, path) && o.If.IsZero() {
				o.Recursive = true
			}
			return false, nil
		})},
		{name: "Remove of a full folder is not-a-file", check: "write/remove-full-folder", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if isFolder(f, ctx, path) && !o.Recursive {
				return false, &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory}
			}
			return false, nil
		})},
		{name: "Remove of the root empties it", check: "write/remove-recursive-root", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			if clean, _, err := ambit.Resolve("/", path); err != nil || clean != "/" || !o.Recursive || !o.If.IsZero() {
				return false, nil
			}
			l, err := f.base.List(ctx, "/", nil)
			if err != nil {
				return false, err
			}
			for _, e := range l.Entries {
				f.base.Remove(ctx, e.Info.Path, &ambit.RemoveOptions{Recursive: true})
			}
			return true, nil
		})},
		{name: "MissingOK is ignored", check: "write/remove-missing-ok", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			o.MissingOK = false
			return false, nil
		})},
		{name: "a missing name is always fine to Remove", check: "write/remove-missing", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			o.MissingOK = true
			return false, nil
		})},
		{name: "MissingOK forgives a file used as a folder", check: "write/remove-missing-ok-file-used-as-folder", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if o.MissingOK && ambit.ReasonOf(err) == ambit.ErrNotADirectory {
					return nil
				}
				return err
			}
		}},
		{name: "MissingOK forgives a lost IfVersion", check: "write/remove-if-version-missing-ok-missing", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if o.MissingOK && ambit.ReasonOf(err) == ambit.ErrChanged {
					return nil
				}
				return err
			}
		}},
		{name: "Remove does nothing", check: "write/remove-file", breaks: removes(func(f *faulty, ctx context.Context, path string, o *ambit.RemoveOptions) (bool, error) {
			_, err := f.base.Stat(ctx, path)
			return err == nil, nil
		})},
		{name: "Remove ignores IfVersion", check: "write/remove-if-version-another-version", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if v, ok := o.If.Version(); ok && v.Valid() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Remove takes IfAbsent", check: "write/remove-if-absent-file", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if o.If.Absent() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Recursive takes a precondition", check: "write/remove-recursive-if-version-file", breaks: removes(func(_ *faulty, _ context.Context, _ string, o *ambit.RemoveOptions) (bool, error) {
			if o.Recursive {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Recursive removes what has the name as a prefix", check: "write/remove-siblings", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				clean, _, resolveErr := ambit.Resolve("/", path)
				if err != nil || !o.Recursive || resolveErr != nil {
					return err
				}
				if l, err := f.base.List(ctx, ambit.Dir(clean), nil); err == nil {
					for _, e := range l.Entries {
						if strings.HasPrefix(e.Info.Path, clean) {
							f.base.Remove(ctx, e.Info.Path, &o)
						}
					}
				}
				return nil
			}
		}},
		{name: "a removed name is not free again", check: "write/remove-and-write-again", breaks: func(f *faulty) {
			var removed sync.Map
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				info, _ := f.base.Stat(ctx, path)
				err := f.base.Remove(ctx, path, &o)
				if err == nil {
					removed.Store(info.Path, true)
				}
				return err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if clean, _, err := ambit.Resolve("/", path); err == nil {
					if _, gone := removed.Load(clean); gone {
						return ambit.WriteResult{}, &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrExists}
					}
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Recursive leaves the folder itself", check: "write/remove-recursive", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				folder := isFolder(f, ctx, path)
				err := f.base.Remove(ctx, path, &o)
				if err == nil && folder {
					f.base.Mkdir(ctx, path, nil)
				}
				return err
			}
		}},
		{name: "Remove takes the parent along when it is empty", check: "write/remove-file", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				clean, _, resolveErr := ambit.Resolve("/", path)
				if err == nil && resolveErr == nil {
					if l, err := f.base.List(ctx, ambit.Dir(clean), nil); err == nil && len(l.Entries) == 0 {
						f.base.Remove(ctx, l.Dir, &ambit.RemoveOptions{Recursive: true})
					}
				}
				return err
			}
		}},
	}
}

// renamingMutants have a fault in Rename.
func renamingMutants() []mutant {
	renames := func(change func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (done bool, err error)) func(f *faulty) {
		return func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				innerFrom, innerTo := from, to
				if done, err := change(f, ctx, &innerFrom, &innerTo, &o); done || err != nil {
					info, _ := f.base.Stat(ctx, innerTo)
					return info, ambit.Wrap(ambit.OpRename, from, err)
				}
				return f.base.Rename(ctx, innerFrom, innerTo, &o)
			}
		}
	}
	// after changes something when a rename has succeeded.
	after := func(change func(f *faulty, ctx context.Context, before ambit.FileInfo, from string, info *ambit.FileInfo)) func(f *faulty) {
		return func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				before, _ := f.base.Stat(ctx, from)
				info, err := f.base.Rename(ctx, from, to, &o)
				if err == nil && before.Path != info.Path {
					change(f, ctx, before, from, &info)
				}
				return info, err
			}
		}
	}
	return []mutant{
		{name: "Rename replaces without Replace", check: "write/rename-onto-file", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Replace = true
			return false, nil
		})},
		{name: "Replace is ignored", check: "write/rename-replace", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Replace = false
			return false, nil
		})},
		{name: "Replace replaces an empty folder", check: "write/rename-replace-folder", breaks: renames(func(f *faulty, ctx context.Context, _, to *string, o *ambit.RenameOptions) (bool, error) {
			if l, err := f.base.List(ctx, *to, nil); err == nil && len(l.Entries) == 0 && o.Replace {
				return false, f.base.Remove(ctx, *to, &ambit.RemoveOptions{Recursive: true})
			}
			return false, nil
		})},
		{name: "Replace replaces a file by a folder", check: "write/rename-folder-replace-file", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.IsDir() && target.Kind == ambit.KindRegular && o.Replace {
				return false, f.base.Remove(ctx, *to, nil)
			}
			return false, nil
		})},
		{name: "Rename onto a folder moves into it", check: "write/rename-onto-folder", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			target, err := f.base.Stat(ctx, *to)
			source, sourceErr := f.base.Stat(ctx, *from)
			if err == nil && sourceErr == nil && target.IsDir() && !ambit.Contains(source.Path, target.Path) {
				*to = ambit.Join(target.Path, ambit.Base(source.Path))
			}
			return false, nil
		})},
		{name: "Rename into itself loses the folder", check: "write/rename-into-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			clean, _, resolveErr := ambit.Resolve("/", *to)
			if err == nil && resolveErr == nil && source.IsDir() && clean != source.Path && ambit.Contains(source.Path, clean) && source.Path != "/" {
				return true, f.base.Remove(ctx, source.Path, &ambit.RemoveOptions{Recursive: true})
			}
			return false, nil
		})},
		{name: "Rename into itself is exists", check: "write/rename-into-itself", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				source, statErr := f.base.Stat(ctx, from)
				if ambit.ReasonOf(err) == ambit.ErrInvalid && statErr == nil && source.Path != "/" && strings.HasPrefix(to, strings.TrimPrefix(from, "/")) {
					err = &ambit.Error{Op: ambit.OpRename, Path: to, Reason: ambit.ErrExists, Kind: ambit.KindDirectory}
				}
				return info, err
			}
		}},
		{name: "a sibling with the name as a prefix counts as inside", check: "write/rename-siblings", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			clean, _, resolveErr := ambit.Resolve("/", *to)
			if err == nil && resolveErr == nil && source.IsDir() && clean != source.Path && strings.HasPrefix(clean, source.Path) {
				return false, &ambit.Error{Reason: ambit.ErrInvalid}
			}
			return false, nil
		})},
		{name: "Rename onto itself deletes", check: "write/rename-onto-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.Path == target.Path && source.Kind == ambit.KindRegular {
				f.base.Remove(ctx, *from, nil)
				return true, nil
			}
			return false, nil
		})},
		{name: "Rename onto itself is exists", check: "write/rename-onto-itself", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, _ *ambit.RenameOptions) (bool, error) {
			source, err := f.base.Stat(ctx, *from)
			target, targetErr := f.base.Stat(ctx, *to)
			if err == nil && targetErr == nil && source.Path == target.Path && source.Path != "/" {
				return false, &ambit.Error{Reason: ambit.ErrExists, Kind: source.Kind}
			}
			return false, nil
		})},
		{name: "Rename leaves the source", check: "write/rename-file", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				old, before, readErr := ambit.ReadFile(ctx, f.base, from)
				info, err := f.base.Rename(ctx, from, to, &o)
				if err == nil && readErr == nil && before.Path != info.Path {
					f.base.Write(ctx, from, bytes.NewReader(old), nil)
				}
				return info, err
			}
		}},
		{name: "Rename leaves the children behind", check: "write/rename-folder", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, info.Path, nil)
			if err != nil || !before.IsDir() {
				return
			}
			f.base.Mkdir(ctx, before.Path, nil)
			for _, e := range l.Entries {
				f.base.Rename(ctx, e.Info.Path, ambit.Join(before.Path, e.Name), nil)
			}
		})},
		{name: "Rename moves the first level alone", check: "write/rename-folder", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, info.Path, nil)
			if err != nil || !before.IsDir() {
				return
			}
			for _, e := range l.Entries {
				if e.Info.IsDir() {
					f.base.Remove(ctx, e.Info.Path, &ambit.RemoveOptions{Recursive: true})
				}
			}
		})},
		{name: "Rename returns what was at the old name", check: "write/rename-file", breaks: after(func(_ *faulty, _ context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			*info = before
		})},
		{name: "Rename makes missing parents without being asked", check: "write/rename-to-missing-parent", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Parents = true
			return false, nil
		})},
		{name: "Rename ignores Parents", check: "write/rename-parents", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			o.Parents = false
			return false, nil
		})},
		{name: "Rename ignores IfVersion", check: "write/rename-if-version-another-version", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			if v, ok := o.If.Version(); ok && v.Valid() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Rename takes IfAbsent", check: "write/rename-if-absent-file", breaks: renames(func(_ *faulty, _ context.Context, _, _ *string, o *ambit.RenameOptions) (bool, error) {
			if o.If.Absent() {
				o.If = ambit.Precondition{}
			}
			return false, nil
		})},
		{name: "Rename blames the source for what is in the way", check: "write/rename-onto-file", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if ambit.ReasonOf(err) == ambit.ErrExists {
					err = ambit.Wrap(ambit.OpRename, from, err)
				}
				return info, err
			}
		}},
		{name: "Rename judges the target first", check: "write/order-first-path-first", breaks: renames(func(f *faulty, ctx context.Context, from, to *string, o *ambit.RenameOptions) (bool, error) {
			if target, err := f.base.Stat(ctx, *to); err == nil && !o.Replace && target.Path != "/" {
				if source, err := f.base.Stat(ctx, *from); err != nil || source.Path != target.Path {
					return false, &ambit.Error{Reason: ambit.ErrExists, Kind: target.Kind}
				}
			}
			return false, nil
		})},
		{name: "a refused Rename leaves the parents", check: "write/rename-parents-refused", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if err != nil && o.Parents {
					makeParents(f, to)
				}
				return info, err
			}
		}},
		{name: "Rename of the root is permission", check: "write/rename-root", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if clean, _, resolveErr := ambit.Resolve("/", from); resolveErr == nil && clean == "/" && ambit.ReasonOf(err) == ambit.ErrInvalid {
					err = ambit.Wrap(ambit.OpRename, from, ambit.ErrPermission)
				}
				return info, err
			}
		}},
		{name: "Rename of a folder moves what begins with its name", check: "write/rename-siblings", breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			l, err := f.base.List(ctx, ambit.Dir(before.Path), nil)
			if err != nil || !before.IsDir() {
				return
			}
			for _, e := range l.Entries {
				if strings.HasPrefix(e.Info.Path, before.Path) && e.Info.Path != info.Path {
					f.base.Rename(ctx, e.Info.Path, info.Path+e.Info.Path[len(before.Path):], nil)
				}
			}
		})},
		{name: "Rename judges the text of its target first", check: "write/order-first-path-first", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if _, _, err := ambit.Resolve("/", to); err != nil {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, to, err)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename loses the mode", check: "write/rename-keeps-mode", on: onDisk, breaks: after(func(f *faulty, ctx context.Context, before ambit.FileInfo, _ string, info *ambit.FileInfo) {
			if before.Kind == ambit.KindRegular {
				data, _, _ := ambit.ReadFile(ctx, f.base, info.Path)
				f.base.Write(ctx, info.Path, bytes.NewReader(data), &ambit.WriteOptions{Mode: 0o640})
			}
		})},
	}
}

// mkdirMutants have a fault in Mkdir.
func mkdirMutants() []mutant {
	return []mutant{
		{name: "Mkdir of a folder that exists is success", check: "write/mkdir-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if info, err := f.base.Stat(ctx, dir); err == nil && info.IsDir() {
					return nil, nil
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir with Parents of a file is success", check: "write/mkdir-parents-file", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if ambit.ReasonOf(err) == ambit.ErrExists && o.Parents {
					return nil, nil
				}
				return created, err
			}
		}},
		{name: "Mkdir with Parents of a folder that exists is exists", check: "write/mkdir-parents-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if info, err := f.base.Stat(ctx, dir); err == nil && info.IsDir() {
					return nil, &ambit.Error{Op: ambit.OpMkdir, Path: dir, Reason: ambit.ErrExists, Kind: ambit.KindDirectory, Target: info.Path}
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir makes parents without being asked", check: "write/mkdir-missing-parent", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if _, err := f.base.Stat(ctx, dir); ambit.ReasonOf(err) == ambit.ErrNotFound {
					o.Parents = true
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir tells the folder alone", check: "write/mkdir-parents", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				return created[max(len(created)-1, 0):], err
			}
		}},
		{name: "Mkdir tells innermost first", check: "write/mkdir-parents", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				slices.Reverse(created)
				return created, err
			}
		}},
		{name: "Mkdir tells the path as written", check: "write/mkdir-missing", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if len(created) > 0 {
					created[len(created)-1] = dir
				}
				return created, err
			}
		}},
		{name: "Mkdir with Parents tells a folder that was there", check: "write/mkdir-parents-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				info, statErr := f.base.Stat(ctx, dir)
				created, err := f.base.Mkdir(ctx, dir, &o)
				if err == nil && statErr == nil {
					created = []string{info.Path}
				}
				return created, err
			}
		}},
		{name: "a made folder takes no files", check: "write/mkdir-is-a-folder", breaks: func(f *faulty) {
			var made sync.Map
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				for _, c := range created {
					made.Store(c, true)
				}
				return created, err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, err := ambit.Resolve("/", path)
				if _, ok := made.Load(ambit.Dir(clean)); ok && err == nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrPermission)
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Mkdir refuses a trailing slash", check: "write/mkdir-with-slash", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if len(dir) > 1 && strings.HasSuffix(dir, "/") {
					return nil, ambit.Wrap(ambit.OpMkdir, dir, ambit.ErrNotADirectory)
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
	}
}

// stagingMutants have a fault in Stage or a Staged.
func stagingMutants() []mutant {
	stages := func(change func(f *faulty, path string, s ambit.Staged) ambit.Staged) func(f *faulty) {
		return func(f *faulty) {
			f.staged = func(path string, s ambit.Staged) ambit.Staged { return change(f, path, s) }
		}
	}
	return []mutant{
		{name: "Publish does not check the precondition again", check: "write/stage-publish-rechecks", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err != nil {
					return nil, err
				}
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					if reason := ambit.ReasonOf(err); reason == ambit.ErrChanged || reason == ambit.ErrExists {
						r, err = f.base.Write(ctx, path, bytes.NewReader(data), nil)
					}
					return r, err
				}}, nil
			}
		}},
		{name: "Stage does not check the precondition", check: "write/stage-if-absent-file", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if reason := ambit.ReasonOf(err); reason == ambit.ErrExists || reason == ambit.ErrChanged {
					return &emptyStaged{}, nil
				}
				return s, err
			}
		}},
		{name: "a second Publish is accepted", check: "write/stage-publish-once", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			var mu sync.Mutex
			var last *ambit.WriteResult
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				if last != nil {
					return *last, nil
				}
				r, err := s.Publish(ctx)
				if err == nil {
					last = &r
				}
				return r, err
			}}
		})},
		{name: "Publish after Discard publishes", check: "write/stage-discard", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, discard: func(context.Context) error { return nil }}
		})},
		{name: "Publish after Discard is not-found", check: "write/stage-discard", breaks: stages(func(_ *faulty, path string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				r, err := s.Publish(ctx)
				if ambit.ReasonOf(err) == ambit.ErrClosed {
					err = ambit.Wrap(ambit.OpPublish, path, ambit.ErrNotFound)
				}
				return r, err
			}}
		})},
		{name: "Discard publishes", check: "write/stage-discard", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, discard: func(ctx context.Context) error {
				s.Publish(ctx)
				return s.Discard(ctx)
			}}
		})},
		{name: "Discard again fails", check: "write/stage-discard", breaks: stages(func(_ *faulty, path string, s ambit.Staged) ambit.Staged {
			var once sync.Once
			return &faultyStaged{Staged: s, discard: func(ctx context.Context) error {
				err := ambit.Wrap(ambit.OpDiscard, path, ambit.ErrClosed)
				once.Do(func() { err = s.Discard(ctx) })
				return err
			}}
		})},
		{name: "Discard after Publish takes the file away", check: "write/stage-discard-after-publish", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			var published bool
			return &faultyStaged{
				Staged: s,
				publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					published = err == nil
					return r, err
				},
				discard: func(ctx context.Context) error {
					if published {
						f.base.Remove(ctx, path, nil)
					}
					return s.Discard(ctx)
				},
			}
		})},
		{name: "a Publish that failed can be tried again", check: "write/stage-publish-rechecks", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err != nil {
					return nil, err
				}
				failed := false
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					if failed {
						return f.base.Write(ctx, path, bytes.NewReader(data), &ambit.WriteOptions{Parents: o.Parents})
					}
					r, err := s.Publish(ctx)
					failed = err != nil
					return r, err
				}}, nil
			}
		}},
		{name: "Stage leaves the parents", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if err == nil && o.Parents {
					makeParents(f, path)
				}
				return s, err
			}
		}},
		{name: "staged content is seen in a listing", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if err != nil {
					return nil, err
				}
				dir := ambit.Dir(s.Info().Path)
				for {
					if _, err := f.base.Stat(ctx, dir); err == nil {
						break
					}
					dir = ambit.Dir(dir)
				}
				name := ambit.Join(dir, ".staged-1")
				f.base.Write(ctx, name, strings.NewReader("staged"), nil)
				clear := func() { f.base.Remove(context.Background(), name, nil) }
				return &faultyStaged{
					Staged:  s,
					publish: func(ctx context.Context) (ambit.WriteResult, error) { clear(); return s.Publish(ctx) },
					discard: func(ctx context.Context) error { clear(); return s.Discard(ctx) },
				}, nil
			}
		}},
		{name: "staged content is there at once", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err == nil {
					f.base.Write(ctx, path, bytes.NewReader(data), &ambit.WriteOptions{Parents: o.Parents})
				}
				return s, err
			}
		}},
		{name: "Stage reads the content when it publishes", check: "write/stage-reads-content", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				checked, err := f.base.Stage(ctx, path, strings.NewReader(""), &o)
				if err != nil || content == nil {
					return checked, err
				}
				return &faultyStaged{Staged: checked, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					checked.Discard(ctx)
					r, err := f.base.Write(ctx, path, content, &o)
					return r, ambit.Wrap(ambit.OpPublish, path, err)
				}}, nil
			}
		}},
		{name: "Publish publishes nothing", check: "write/stage-publish", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				return ambit.WriteResult{Info: s.Info()}, s.Discard(ctx)
			}}
		})},
		{name: "Stage tells a version before it has published", check: "write/stage-info", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, info: func() ambit.FileInfo {
				info := s.Info()
				info.Version = "staged"
				return info
			}}
		})},
		{name: "Stage tells no size", check: "write/stage-info", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, info: func() ambit.FileInfo {
				info := s.Info()
				info.Size = 0
				return info
			}}
		})},
		{name: "Publish ignores its context", check: "write/stage-publish-canceled", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				return s.Publish(context.WithoutCancel(ctx))
			}}
		})},
		{name: "staged content dies with the context of Stage", check: "write/stage-outlives-its-call", breaks: func(f *faulty) {
			f.stage = func(stageCtx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(stageCtx, path, content, &o)
				if err != nil {
					return nil, err
				}
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					if err := stageCtx.Err(); err != nil {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpPublish, path, err)
					}
					return s.Publish(ctx)
				}}, nil
			}
		}},
		{name: "Publish makes a parent again that is gone", check: "write/stage-publish-walks-again", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				makeParents(f, path)
				return s.Publish(ctx)
			}}
		})},
		{name: "Stage takes a folder's path", check: "write/stage-folder", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if ambit.ReasonOf(err) == ambit.ErrNotAFile {
					return &emptyStaged{}, nil
				}
				return s, err
			}
		}},
	}
}

// emptyStaged publishes nothing.
type emptyStaged struct{}

func (*emptyStaged) Info() ambit.FileInfo { return ambit.FileInfo{} }
func (*emptyStaged) Publish(context.Context) (ambit.WriteResult, error) {
	return ambit.WriteResult{}, nil
}
func (*emptyStaged) Discard(context.Context) error { return nil }

// committingMutants have a fault in Commit.
func committingMutants() []mutant {
	commits := func(commit func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error)) func(f *faulty) {
		return func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				return commit(f, ctx, changes)
			}
		}
	}
	// one makes one change by itself.
	one := func(f *faulty, ctx context.Context, c ambit.Change) (ambit.WriteResult, error) {
		results, err := f.base.Commit(ctx, []ambit.Change{c})
		if err != nil {
			return ambit.WriteResult{}, err
		}
		return results[0], nil
	}
	return []mutant{
		{name: "Commit leaves half", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			var results []ambit.WriteResult
			for _, c := range changes {
				r, err := one(f, ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		})},
		{name: "Commit takes a repeated path", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			seen := make(map[string]bool)
			var first []ambit.Change
			for _, c := range changes {
				clean, _, _ := ambit.Resolve("/", c.Path)
				if !seen[clean] {
					first = append(first, c)
				}
				seen[clean] = true
			}
			return f.base.Commit(ctx, first)
		})},
		{name: "Commit compares paths as written", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			written, named := make(map[string]bool), make(map[string]bool)
			var distinct []ambit.Change
			for _, c := range changes {
				if written[c.Path] {
					return f.base.Commit(ctx, changes)
				}
				clean, _, err := ambit.Resolve("/", c.Path)
				if err != nil {
					return f.base.Commit(ctx, changes)
				}
				if written[c.Path] = true; !named[clean] {
					distinct = append(distinct, c)
				}
				named[clean] = true
			}
			results, err := f.base.Commit(ctx, distinct)
			return append(results, make([]ambit.WriteResult, len(changes)-len(distinct))...), err
		})},
		{name: "Commit's results come in reverse", check: "write/commit", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			slices.Reverse(results)
			return results, err
		})},
		{name: "Commit takes a change beneath another's file", check: "write/commit-repeated", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			var apart []ambit.Change
			for _, c := range changes {
				if !slices.ContainsFunc(changes, func(other ambit.Change) bool { return strings.HasPrefix(c.Path, other.Path+"/") }) {
					apart = append(apart, c)
				}
			}
			return f.base.Commit(ctx, apart)
		})},
		{name: "Commit takes names that begin alike for one file", check: "write/commit-siblings", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			for i, c := range changes {
				for _, other := range changes[:i] {
					if strings.HasPrefix(c.Path, other.Path) || strings.HasPrefix(other.Path, c.Path) {
						return nil, ambit.Wrap(ambit.OpCommit, c.Path, ambit.ErrInvalid)
					}
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit takes no more than eight changes", check: "write/commit-many", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) > 8 {
				return nil, ambit.Wrap(ambit.OpCommit, changes[8].Path, ambit.ErrInvalid)
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit judges each change against those before it", check: "write/commit-before-the-first", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if err == nil || ambit.ReasonOf(err) == ambit.ErrInvalid {
				return results, err
			}
			results = nil
			for _, c := range changes {
				r, err := one(f, ctx, c)
				if err != nil {
					return nil, err
				}
				results = append(results, r)
			}
			return results, nil
		})},
		{name: "Commit moves a file and keeps the old name", check: "write/commit-move", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) != 2 || changes[1].Op != ambit.OpRemove || changes[0].Op != ambit.OpWrite {
				return f.base.Commit(ctx, changes)
			}
			info, err := f.base.Stat(ctx, changes[1].Path)
			if err != nil {
				return f.base.Commit(ctx, changes)
			}
			results, err := f.base.Commit(ctx, changes[:1])
			return append(results, ambit.WriteResult{Info: info}), err
		})},
		{name: "Commit removes without looking at the version", check: "write/commit-remove-if-version-another-version", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i, c := range changes {
				if v, ok := c.If.Version(); ok && v.Valid() && c.Op == ambit.OpRemove {
					if _, err := f.base.Stat(ctx, c.Path); err == nil {
						changes[i].If = ambit.Precondition{}
					}
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit of nothing is invalid", check: "write/commit-empty", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) == 0 {
				return nil, ambit.Wrap(ambit.OpCommit, "", ambit.ErrInvalid)
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit blames the first change", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			if err != nil {
				err = ambit.Wrap(ambit.OpCommit, changes[0].Path, err)
			}
			return results, err
		})},
		{name: "Commit removes a folder", check: "write/commit-remove-folder", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			if len(changes) == 1 && changes[0].Op == ambit.OpRemove {
				if info, err := f.base.Stat(ctx, changes[0].Path); err == nil && info.IsDir() {
					return []ambit.WriteResult{{Info: info}}, f.base.Remove(ctx, info.Path, &ambit.RemoveOptions{Recursive: true})
				}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "Commit ignores preconditions", check: "write/commit-refused-precondition", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i := range changes {
				changes[i].If = ambit.Precondition{}
			}
			return f.base.Commit(ctx, changes)
		})},
		{name: "a refused Commit leaves the parents", check: "write/commit-refused", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			results, err := f.base.Commit(ctx, changes)
			for _, c := range changes {
				if err != nil && c.Parents {
					makeParents(f, c.Path)
				}
			}
			return results, err
		})},
		{name: "Commit takes an unknown Op for a removal", check: "write/commit-invalid", breaks: commits(func(f *faulty, ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
			changes = slices.Clone(changes)
			for i, c := range changes {
				if c.Op != ambit.OpWrite {
					changes[i].Op = ambit.OpRemove
				}
			}
			return f.base.Commit(ctx, changes)
		})},
	}
}
