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
		{name: "more than two missing folders come innermost first", check: "write/write-missing-parent", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				var e *ambit.Error
				if errors.As(err, &e) && len(e.MissingDirs) > 2 {
					turned := *e
					turned.MissingDirs = slices.Clone(e.MissingDirs)
					slices.Reverse(turned.MissingDirs)
					err = &turned
				}
				return r, err
			}
		})},
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
		{name: "the result tells no mode", check: "write/write-mode", breaks: results(func(_ *faulty, _ string, r *ambit.WriteResult) { r.Info.Mode = 0 })},
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
		{name: "a nil reader panics", check: "write/write-nil-reader", panics: true, breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
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
				if isNil(content) {
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
				if isNil(content) {
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
				if isNil(content) {
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
