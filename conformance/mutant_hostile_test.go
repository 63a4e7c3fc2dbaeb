// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// hostPath is where path lies on the disk, joined as a careless program does.
func (f *faulty) hostPath(path string) string { return f.host + "/" + path }

// awaitSwap waits a little for a link to come to be at path or above it: the
// window of a program that looks first and acts then, at its worst.
func (f *faulty) awaitSwap(path string) {
	for range 200 {
		for host := f.hostPath(path); len(host) > len(f.host); host = filepath.Dir(host) {
			if info, err := os.Lstat(host); err == nil && info.Mode().Type() == os.ModeSymlink {
				return
			}
		}
		time.Sleep(window / 100)
	}
}

// link describes a link at path itself.
func (f *faulty) link(ctx context.Context, path string) (info ambit.FileInfo, ok bool) {
	info, err := f.base.Lstat(ctx, path)
	return info, err == nil && info.Kind == ambit.KindSymlink
}

// target is where the link at path leads by its text.
func (f *faulty) target(ctx context.Context, path string) (string, bool) {
	info, ok := f.link(ctx, path)
	if !ok {
		return "", false
	}
	text, err := f.base.ReadLink(ctx, path)
	if err != nil {
		return "", false
	}
	clean, _, err := ambit.Resolve(ambit.Dir(info.Path), text)
	return clean, err == nil
}

// linkMutants have a fault about links; they stand on a disk.
func linkMutants() []mutant {
	// opensOutside is a mutant's Open that opens what is refused as outside.
	opensOutside := func(f *faulty) {
		f.open = func(ctx context.Context, path string) (ambit.File, error) {
			file, err := f.base.Open(ctx, path)
			if ambit.ReasonOf(err) == ambit.ErrOutside {
				if raw, err := openRaw(f.hostPath(path)); err == nil {
					return raw, nil
				}
			}
			return file, err
		}
	}
	mutants := []mutant{
		{name: "Open follows a link out of the root", check: "hostile/open-outward-link", breaks: opensOutside},
		{name: "Open joins dots to the root's path", check: "hostile/open-climbing", breaks: opensOutside},
		{name: "Stat follows a link out of the root", check: "hostile/stat-outward-link", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrOutside {
					if raw, err := openRaw(f.hostPath(path)); err == nil {
						raw.Close()
						return raw.Info(), nil
					}
				}
				return info, err
			}
		}},
		{name: "List follows a link out of the root", check: "hostile/list-outward-link", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if ambit.ReasonOf(err) != ambit.ErrOutside {
					return l, err
				}
				raw, rawErr := os.ReadDir(f.hostPath(dir))
				if rawErr != nil {
					return l, err
				}
				var entries []ambit.Entry
				for _, e := range raw {
					entries = append(entries, ambit.Entry{Name: e.Name(), Info: ambit.FileInfo{Path: ambit.Join("/", e.Name()), Kind: ambit.KindOf(e.Type())}})
				}
				return ambit.Page("/", entries, &o), nil
			}
		}},
		{name: "Write follows a link out of the root", check: "hostile/write-outward-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if ambit.ReasonOf(err) == ambit.ErrOutside {
					if data, err := readAll(content); err == nil && os.WriteFile(f.hostPath(path), data, 0o666) == nil {
						return ambit.WriteResult{Info: ambit.FileInfo{Path: ambit.Join("/", path), Kind: ambit.KindRegular, Size: int64(len(data))}}, nil
					}
				}
				return r, err
			}
		})},
		{name: "Write follows an outward link and says that it did not", check: "hostile/write-outward-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if ambit.ReasonOf(err) == ambit.ErrOutside {
					os.WriteFile(f.hostPath(path), []byte("escaped\n"), 0o666)
				}
				return r, err
			}
		})},
		{name: "an outward link tells whether something is there", check: "hostile/open-outward-link", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if _, hostErr := os.Stat(f.hostPath(path)); ambit.ReasonOf(err) == ambit.ErrOutside && os.IsNotExist(hostErr) {
					err = ambit.Wrap(ambit.OpOpen, path, ambit.ErrNotFound)
				}
				return file, err
			}
		}},
		{name: "the refusal of an outward link shows where it leads", check: "hostile/open-outward-link", breaks: func(f *faulty) {
			f.fail = func(_, path string, err error) error {
				text, linkErr := os.Readlink(f.hostPath(path))
				if linkErr != nil || ambit.ReasonOf(err) != ambit.ErrOutside {
					return err
				}
				e := *err.(*ambit.Error)
				e.Target = filepath.Join(f.host, text)
				return &e
			}
		}},
		{name: "ReadLink tells an outward text", check: "hostile/readlink-outward-link", breaks: func(f *faulty) {
			f.readLink = func(ctx context.Context, path string) (string, error) {
				text, err := f.base.ReadLink(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrOutside {
					if raw, err := os.Readlink(f.hostPath(path)); err == nil {
						return raw, nil
					}
				}
				return text, err
			}
		}},
		{name: "ReadLink of a file is empty", check: "core/readlink-file", breaks: func(f *faulty) {
			f.readLink = func(ctx context.Context, path string) (string, error) {
				text, err := f.base.ReadLink(ctx, path)
				if ambit.ReasonOf(err) == ambit.ErrInvalid {
					return "", nil
				}
				return text, err
			}
		}},
		{name: "ReadLink tells where the link leads in the end", check: "hostile/links-described", breaks: func(f *faulty) {
			f.readLink = func(ctx context.Context, path string) (string, error) {
				text, err := f.base.ReadLink(ctx, path)
				if info, statErr := f.base.Stat(ctx, path); err == nil && statErr == nil {
					return info.Path, nil
				}
				return text, err
			}
		}},
		{name: "Lstat follows a link", check: "hostile/links-described", breaks: func(f *faulty) {
			f.lstat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if info, err := f.base.Stat(ctx, path); err == nil {
					return info, nil
				}
				return f.base.Lstat(ctx, path)
			}
		}},
		{name: "Lstat of a dangling link is not-found", check: "hostile/links-described", breaks: func(f *faulty) {
			f.lstat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return ambit.FileInfo{}, ambit.Wrap(ambit.OpLstat, path, err)
				}
				return f.base.Lstat(ctx, path)
			}
		}},
		{name: "Open of a loop hangs", check: "hostile/open-looping-link", hangs: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				for {
					file, err := f.base.Open(ctx, path)
					if ambit.ReasonOf(err) != ambit.ErrLoop {
						return file, err
					}
					time.Sleep(time.Millisecond)
					ctx = context.WithoutCancel(ctx)
				}
			}
		}},
		{name: "Stat of a link tells the link's path", check: "hostile/links-read-through", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if link, ok := f.link(ctx, path); ok && err == nil {
					info.Path = link.Path
				}
				return info, err
			}
		}},
		{name: "dots go back from where a link leads", check: "hostile/links-dots-by-text", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if before, after, ok := strings.Cut(path, "/../"); ok {
					if info, err := f.base.Stat(ctx, before); err == nil && info.IsDir() {
						return f.base.Open(ctx, ambit.Join(ambit.Dir(info.Path), after))
					}
				}
				return f.base.Open(ctx, path)
			}
		}},
		{name: "eight links are too many", check: "hostile/links-forty", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				to := path
				for range 8 {
					next, ok := f.target(ctx, to)
					if !ok {
						return f.base.Open(ctx, path)
					}
					to = next
				}
				return nil, ambit.Wrap(ambit.OpOpen, path, ambit.ErrLoop)
			}
		}},
		{name: "forty-one links are followed", check: "hostile/links-forty", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				to := path
				for range 100 {
					next, ok := f.target(ctx, to)
					if !ok {
						return f.base.Open(ctx, to)
					}
					to = next
				}
				return f.base.Open(ctx, path)
			}
		}},
		{name: "a link gives the file another ID", check: "hostile/links-one-identity", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				if _, ok := f.link(ctx, path); ok && info.ID != "" {
					info.ID += "-by-link"
				}
				return info, err
			}
		}},
		{name: "Verify looks at the link", check: "hostile/links-verified", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				before, _ := f.link(context.Background(), path)
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if now, ok := f.link(ctx, path); ok && now == before {
						return nil
					}
					return file.Verify(ctx)
				}}
			}
		}},
		{name: "Open refuses links", check: "hostile/links-read-through", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if _, ok := f.link(ctx, path); ok {
					return nil, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrDenied, Rule: "links"}
				}
				return f.base.Open(ctx, path)
			}
		}},
		{name: "Write replaces a link", check: "hostile/links-written-through", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				_, link := f.link(ctx, path)
				if info, err := f.base.Stat(ctx, path); link && err == nil && info.Kind == ambit.KindRegular && o.If.IsZero() {
					f.base.Remove(ctx, path, nil)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Write through a dangling link creates", check: "hostile/write-dangling-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if to, ok := f.target(ctx, path); ok && o.If.IsZero() {
					if _, err := f.base.Lstat(ctx, to); ambit.ReasonOf(err) == ambit.ErrNotFound {
						return base(ctx, to, content, o)
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "IfVersion speaks of a link itself", check: "hostile/links-swapped-through", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if _, ok := o.If.Version(); ok {
					if _, link := f.link(ctx, path); link {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrChanged)
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Publish replaces a link", check: "hostile/links-staged-through", breaks: func(f *faulty) {
			f.staged = func(path string, s ambit.Staged) ambit.Staged {
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					if link, ok := f.link(ctx, path); ok && err == nil {
						f.base.Rename(ctx, r.Info.Path, link.Path, &ambit.RenameOptions{Replace: true})
					}
					return r, err
				}}
			}
		}},
		{name: "Write replaces a dangling link", check: "hostile/write-dangling-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				_, link := f.link(ctx, path)
				if _, err := f.base.Stat(ctx, path); link && ambit.ReasonOf(err) == ambit.ErrNotFound && o.If.IsZero() {
					f.base.Remove(ctx, path, nil)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "IfAbsent looks through a dangling link", check: "hostile/write-if-absent-dangling-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if to, ok := f.target(ctx, path); ok && o.If.Absent() {
					if _, err := f.base.Lstat(ctx, to); ambit.ReasonOf(err) == ambit.ErrNotFound {
						return base(ctx, to, content, o)
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Parents makes the folder that a dangling link leads to", check: "hostile/write-parents-dangling-link", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				clean, _, err := ambit.Resolve("/", path)
				if to, ok := f.target(ctx, ambit.Dir(clean)); ok && err == nil && o.Parents {
					return base(ctx, ambit.Join(to, ambit.Base(clean)), content, o)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Remove follows a link", check: "hostile/links-removed", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); err == nil && info.Kind == ambit.KindRegular {
					return ambit.Wrap(ambit.OpRemove, path, f.base.Remove(ctx, info.Path, &o))
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Remove of a link takes its target along", check: "hostile/links-removed", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				info, statErr := f.base.Stat(ctx, path)
				err := f.base.Remove(ctx, path, &o)
				if err == nil && statErr == nil && info.Kind == ambit.KindRegular {
					f.base.Remove(ctx, info.Path, nil)
				}
				return err
			}
		}},
		{name: "Remove of an outward link is refused", check: "hostile/links-removed", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrOutside {
					return ambit.Wrap(ambit.OpRemove, path, err)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Recursive follows a link to a folder", check: "hostile/links-removed-with-folder", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Stat(ctx, path); o.Recursive && err == nil && info.IsDir() && info.Path != "/" {
					for e, err := range ambit.Walk(ctx, f.base, info.Path) {
						if err == nil && e.Info.Kind == ambit.KindSymlink {
							empty(f.hostPath(e.Info.Path))
						}
					}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Recursive on a link to a folder empties the folder", check: "hostile/links-removed", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if _, ok := f.link(ctx, path); ok && o.Recursive {
					empty(f.hostPath(path))
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "a trailing slash lets Remove take a link", check: "hostile/remove-link-to-file", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if _, ok := f.link(ctx, withoutSlash(path)); ok {
					path = withoutSlash(path)
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Rename follows a link", check: "hostile/links-renamed", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if info, err := f.base.Stat(ctx, from); err == nil && info.Kind == ambit.KindRegular && !strings.HasSuffix(from, "/") {
					return f.base.Rename(ctx, info.Path, to, &o)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename replaces what a link at the target leads to", check: "hostile/links-replaced", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if info, err := f.base.Stat(ctx, to); err == nil && info.Kind == ambit.KindRegular && o.Replace {
					to = info.Path
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename through a dangling link at the target", check: "hostile/rename-to-dangling-link", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if through, ok := f.target(ctx, to); ok {
					if _, err := f.base.Lstat(ctx, through); ambit.ReasonOf(err) == ambit.ErrNotFound {
						to = through
					}
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Rename puts a folder in the place of a link", check: "hostile/links-folder-not-onto", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if _, ok := f.link(ctx, to); ok && ambit.ReasonOf(err) == ambit.ErrExists && o.Replace {
					f.base.Remove(ctx, to, nil)
					return f.base.Rename(ctx, from, to, &o)
				}
				return info, err
			}
		}},
		{name: "Mkdir makes nothing beneath a link", check: "hostile/links-made-beneath", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if clean, _, err := ambit.Resolve("/", dir); err == nil {
					if _, ok := f.link(ctx, ambit.Dir(clean)); ok {
						return nil, ambit.Wrap(ambit.OpMkdir, dir, ambit.ErrNotADirectory)
					}
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir makes what a dangling link leads to", check: "hostile/mkdir-dangling-link", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				if through, ok := f.target(ctx, dir); ok {
					if _, err := f.base.Lstat(ctx, through); ambit.ReasonOf(err) == ambit.ErrNotFound {
						dir = through
					}
				}
				return f.base.Mkdir(ctx, dir, &o)
			}
		}},
		{name: "Mkdir with Parents takes a link to a folder for the folder", check: "hostile/mkdir-parents-link-to-folder", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if info, statErr := f.base.Stat(ctx, dir); ambit.ReasonOf(err) == ambit.ErrExists && o.Parents && statErr == nil && info.IsDir() {
					return nil, nil
				}
				return created, err
			}
		}},
		{name: "Open of a FIFO blocks", check: "hostile/open-fifo", hangs: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindFIFO {
					if pipe, err := os.Open(f.hostPath(path)); err == nil {
						pipe.Close()
					}
				}
				return f.base.Open(ctx, path)
			}
		}},
		{name: "Write blocks on a FIFO", check: "hostile/write-fifo", hangs: true, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindFIFO {
					if pipe, err := os.OpenFile(f.hostPath(path), os.O_WRONLY, 0); err == nil {
						pipe.Close()
					}
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "Write replaces a FIFO", check: "hostile/write-fifo", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindFIFO && o.If.IsZero() {
					f.base.Remove(ctx, path, nil)
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "a FIFO is listed as a file", check: "hostile/fifo-listed", breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo {
				if info.Kind == ambit.KindFIFO {
					info.Kind = ambit.KindRegular
				}
				return info
			}
		}},
		{name: "Remove refuses a FIFO", check: "hostile/fifo-removed", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindFIFO {
					return &ambit.Error{Op: ambit.OpRemove, Path: path, Reason: ambit.ErrNotAFile, Kind: ambit.KindFIFO}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Rename refuses a FIFO", check: "hostile/fifo-renamed", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if info, err := f.base.Lstat(ctx, from); err == nil && info.Kind == ambit.KindFIFO {
					return ambit.FileInfo{}, &ambit.Error{Op: ambit.OpRename, Path: from, Reason: ambit.ErrNotAFile, Kind: ambit.KindFIFO}
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Stat describes a FIFO", check: "hostile/stat-fifo", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindFIFO {
					return info, nil
				}
				return f.base.Stat(ctx, path)
			}
		}},
		{name: "a walk goes through links", check: "hostile/links-walked", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return nil, err
				}
				for i, e := range l.Entries {
					if info, err := f.base.Stat(ctx, e.Info.Path); err == nil && info.IsDir() {
						l.Entries[i].Info.Kind = ambit.KindDirectory
					}
				}
				return l, nil
			}
		}},
		{name: "Write checks first and writes then", check: "hostile/race-changing", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				info, err := f.base.Stat(ctx, path)
				data, readErr := readAll(content)
				if err != nil || info.Kind != ambit.KindRegular || readErr != nil || !o.If.IsZero() {
					return base(ctx, path, rest(data, readErr), o)
				}
				f.awaitSwap(path)
				if err := os.WriteFile(f.hostPath(path), data, 0o666); err != nil {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
				}
				info.Size = int64(len(data))
				return ambit.WriteResult{Info: info}, nil
			}
		})},
		{name: "Open checks first and opens then", check: "hostile/race-reading", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return file, err
				}
				f.awaitSwap(path)
				raw, rawErr := openRaw(f.hostPath(path))
				if rawErr != nil {
					return file, err
				}
				info := file.Info()
				file.Close()
				return &faultyFile{File: raw, info: func() ambit.FileInfo { return info }}, nil
			}
		}},
	}
	for i := range mutants {
		mutants[i].on = onDisk
	}
	return mutants
}

// empty removes all that is in the folder of the disk that name leads to.
func empty(name string) {
	entries, _ := os.ReadDir(name)
	for _, e := range entries {
		os.RemoveAll(filepath.Join(name, e.Name()))
	}
}

// rawFile is a file of the disk with no rule about it.
type rawFile struct{ *os.File }

func openRaw(name string) (rawFile, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return rawFile{}, os.ErrInvalid
	}
	file, err := os.Open(name)
	return rawFile{file}, err
}

func (r rawFile) Verify(context.Context) error { return nil }

func (r rawFile) Info() ambit.FileInfo {
	info, err := r.Stat()
	if err != nil {
		return ambit.FileInfo{}
	}
	return ambit.FileInfo{Path: "/" + info.Name(), Kind: ambit.KindRegular, Size: info.Size(), ModTime: info.ModTime(), Mode: info.Mode().Perm()}
}

// foreignMutants do not see what other programs do.
func foreignMutants() []mutant {
	// knowledge is what was told of versions, once.
	type knowledge struct{ infos sync.Map }
	learn := func(f *faulty, k *knowledge) {
		f.info = func(info ambit.FileInfo) ambit.FileInfo {
			if info.Kind == ambit.KindRegular {
				k.infos.Store(info.Version, info.Path)
			}
			return info
		}
	}
	// trusted reports that the version was once told: all that a file system
	// knows that does not look.
	trusted := func(k *knowledge, p ambit.Precondition) bool {
		v, ok := p.Version()
		if !ok {
			return false
		}
		_, ok = k.infos.Load(v)
		return ok
	}
	mutants := []mutant{
		{name: "Open serves what it has read before", check: "hostile/foreign-seen", breaks: func(f *faulty) {
			var cache sync.Map
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return file, err
				}
				data, _, readErr := ambit.ReadFile(ctx, f.base, path)
				first, _ := cache.LoadOrStore(path, data)
				if readErr != nil {
					return file, nil
				}
				return &faultyFile{File: file, read: bytes.NewReader(first.([]byte)).Read}, nil
			}
		}},
		{name: "a version counts the own changes", check: "hostile/foreign-version", breaks: func(f *faulty) {
			var own atomic.Int64
			versionsAs(func(ambit.FileInfo) ambit.Version { return ambit.Version(fmt.Sprintf("own-%d", own.Load())) })(f)
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				own.Add(1)
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Verify remembers that it saw no change", check: "hostile/foreign-verified", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				var fine atomic.Bool
				return &faultyFile{File: file, verify: func(ctx context.Context) error {
					if fine.Load() {
						return nil
					}
					err := file.Verify(ctx)
					fine.Store(err == nil)
					return err
				}}
			}
		}},
		{name: "a read beside another program mixes", check: "hostile/foreign-read", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				var at int64
				return &faultyFile{
					File: file,
					read: func(p []byte) (int, error) {
						now, err := f.base.Open(context.Background(), path)
						if err != nil {
							return file.Read(p)
						}
						defer now.Close()
						n, err := readerAt(now).ReadAt(p[:min(len(p), 16)], at)
						at += int64(n)
						if n > 0 {
							err = nil
						}
						return n, err
					},
					verify: func(context.Context) error { return nil },
				}
			}
		}},
		{name: "Write on a version trusts what it was told once", check: "hostile/foreign-write", breaks: func(f *faulty) {
			var k knowledge
			learn(f, &k)
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if trusted(&k, o.If) {
					o.If = ambit.Precondition{}
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "Remove on a version trusts what it was told once", check: "hostile/foreign-remove", breaks: func(f *faulty) {
			var k knowledge
			learn(f, &k)
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if trusted(&k, o.If) {
					o.If = ambit.Precondition{}
				}
				return f.base.Remove(ctx, path, &o)
			}
		}},
		{name: "Rename on a version trusts what it was told once", check: "hostile/foreign-rename", breaks: func(f *faulty) {
			var k knowledge
			learn(f, &k)
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				if trusted(&k, o.If) {
					o.If = ambit.Precondition{}
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		}},
		{name: "Publish does not look for a stranger's change", check: "hostile/foreign-publish", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, strings.NewReader(""), &o)
				if err != nil {
					return nil, err
				}
				s.Discard(ctx)
				return f.base.Stage(ctx, path, content, &ambit.WriteOptions{Parents: o.Parents, Mode: o.Mode})
			}
		}},
		{name: "IfAbsent remembers that nothing was there", check: "hostile/foreign-absent", breaks: func(f *faulty) {
			var absent sync.Map
			note := func(path string, err error) {
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					absent.Store(path, true)
				}
			}
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Stat(ctx, path)
				note(path, err)
				return info, err
			}
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				note(path, err)
				return file, err
			}
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if _, ok := absent.Load(path); ok && o.If.Absent() {
					o.If = ambit.Precondition{}
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
	}
	for i := range mutants {
		mutants[i].on = onDisk
	}
	return mutants
}

// absurdMutants fail for arguments that nobody would give.
func absurdMutants() []mutant {
	return []mutant{
		{name: "the largest Limit overflows", check: "hostile/absurd-pages", breaks: func(f *faulty) {
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err == nil && o.Limit+1 < 0 {
					return &ambit.Listing{Dir: l.Dir}, nil
				}
				return l, err
			}
		}},
		{name: "ReadAt overflows far behind the end", check: "hostile/absurd-reads", breaks: func(f *faulty) {
			f.file = func(path string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					if off > 0 && off+int64(len(p)) < 0 {
						return 0, ambit.Wrap(ambit.OpRead, path, ambit.ErrInvalid)
					}
					return readerAt(file).ReadAt(p, off)
				}}
			}
		}},
		{name: "a reader that lies about its count is believed", check: "hostile/absurd-contents", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if content == nil {
					return base(ctx, path, content, o)
				}
				return base(ctx, path, readerFunc(func(p []byte) (int, error) {
					n, err := content.Read(p)
					return min(max(n, 0), len(p)), err
				}), o)
			}
		})},
		{name: "Append takes a mode that no file could have", check: "hostile/absurd-options", breaks: appends(func(_ *faulty, base appendFunc) appendFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				o.Mode = o.Mode.Perm()
				return base(ctx, path, content, o)
			}
		})},
		{name: "a path over 1024 bytes is io", check: "hostile/deep-path", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				if info, err := f.base.Stat(ctx, path); err != nil || len(path) <= 1024 {
					return info, err
				}
				return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, ambit.ErrIO)
			}
		}},
		{name: "the names of folders are trimmed", check: "hostile/odd-folders", wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return ambit.MapPaths(base, ambit.PathMap{
				In: func(path string) (string, error) {
					names := strings.Split(path, "/")
					for i, name := range names[:len(names)-1] {
						names[i] = strings.TrimSpace(name)
					}
					return strings.Join(names, "/"), nil
				},
				Out: func(canonical string) (string, bool) { return canonical, true },
			})
		}},
		{name: "a backslash climbs", check: "hostile/names-like-escapes", on: onDisk, wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return ambit.MapPaths(base, ambit.PathMap{
				In:  func(path string) (string, error) { return strings.ReplaceAll(path, `\`, "/"), nil },
				Out: func(canonical string) (string, bool) { return canonical, true },
			})
		}},
		{name: "Write decodes a percent", check: "hostile/write-like-escapes", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return base(ctx, strings.ReplaceAll(path, "%2e", "."), content, o)
			}
		})},
		{name: "a listing is the file system's own", check: "hostile/results-aliased", breaks: func(f *faulty) {
			var cache sync.Map
			f.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := f.base.List(ctx, dir, &o)
				if err != nil {
					return l, err
				}
				shared, _ := cache.LoadOrStore(fmt.Sprint(dir, o, len(l.Entries)), l)
				return shared.(*ambit.Listing), nil
			}
		}},
		{name: "a second File reads out of the first one's buffer", check: "hostile/content-aliased", breaks: func(f *faulty) {
			var buffers sync.Map
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
	}
}

// guardMutants have a fault in Guard or Sub.
func guardMutants() []mutant {
	// guards changes the guarded file system; f is the unguarded one.
	guards := func(change func(g, f *faulty, ask asker)) func(f *faulty) {
		return func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem {
				g := &faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}
				g = g.around(f.baseGuard(ask))
				change(g, f, ask)
				return g
			}
		}
	}
	// asks changes what is asked.
	asks := func(change func(ask asker) asker) func(f *faulty) {
		return func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem { return f.baseGuard(change(ask)) }
		}
	}
	subs := func(change func(f *faulty, root string) ambit.PathMap) func(f *faulty) {
		return func(f *faulty) {
			f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				if _, err := f.baseSub(ctx, dir); err != nil {
					return nil, err
				}
				info, err := f.base.Stat(ctx, dir)
				if err != nil {
					return nil, err
				}
				return ambit.MapPaths(f.inner, change(f, info.Path)), nil
			}
		}
	}
	out := func(root string) func(string) (string, bool) {
		return func(canonical string) (string, bool) {
			switch {
			case canonical == root:
				return "/", true
			case ambit.Contains(root, canonical):
				return canonical[len(root):], true
			}
			return "", false
		}
	}
	return []mutant{
		{name: "Guard never asks", check: "hostile/open-denied", breaks: func(f *faulty) {
			f.guard = func(asker) ambit.FileSystem { return f.inner }
		}},
		{name: "Guard asks by the path as written", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, ask asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				if err := ask(ctx, ambit.OpOpen, path); err != nil {
					return nil, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrDenied}
				}
				return f.base.Open(ctx, path)
			}
		})},
		{name: "Guard asks when it has acted", check: "hostile/write-denied", breaks: guards(func(g, f *faulty, ask asker) {
			g.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := f.base.Write(ctx, path, content, &o)
				if err == nil && ask(ctx, ambit.OpWrite, r.Info.Path) != nil {
					return ambit.WriteResult{}, &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrDenied}
				}
				return r, err
			}
		})},
		{name: "Guard lists what is refused", check: "hostile/guard-listing", breaks: guards(func(g, f *faulty, _ asker) {
			g.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				if l, err := g.base.List(ctx, dir, &o); err != nil {
					return l, err
				}
				return f.base.List(ctx, dir, &o)
			}
		})},
		{name: "Guard fails the listing for one refused entry", check: "hostile/guard-listing", breaks: guards(func(g, f *faulty, _ asker) {
			g.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				l, err := g.base.List(ctx, dir, &o)
				if all, allErr := f.base.List(ctx, dir, &o); err == nil && allErr == nil && len(all.Entries) != len(l.Entries) {
					return nil, ambit.Wrap(ambit.OpList, dir, ambit.ErrDenied)
				}
				return l, err
			}
		})},
		{name: "a refused name that does not exist is not-found", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				if _, err := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return nil, ambit.Wrap(ambit.OpOpen, path, err)
				}
				return g.base.Open(ctx, path)
			}
		})},
		{name: "a refused name counts as a prefix", check: "hostile/guard-siblings", breaks: asks(func(ask asker) asker {
			var refused sync.Map
			return func(ctx context.Context, op ambit.Op, canonical string) error {
				err := ask(ctx, op, canonical)
				if err != nil {
					refused.Store(canonical, err)
				}
				refused.Range(func(path, earlier any) bool {
					if strings.HasPrefix(canonical, path.(string)) {
						err = earlier.(error)
					}
					return err == nil
				})
				return err
			}
		})},
		{name: "Guard loses the reason of a refusal", check: "hostile/guard-reason", breaks: asks(func(ask asker) asker {
			return func(ctx context.Context, op ambit.Op, canonical string) error {
				if ask(ctx, op, canonical) != nil {
					return ambit.ErrDenied
				}
				return nil
			}
		})},
		{name: "Guard does not ask for the parents that are made", check: "hostile/guard-parents", breaks: guards(func(g, f *faulty, ask asker) {
			g.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if clean, _, err := ambit.Resolve("/", path); err != nil || ask(ctx, ambit.OpWrite, clean) != nil {
					return g.base.Write(ctx, path, content, &o)
				}
				return f.base.Write(ctx, path, content, &o)
			}
		})},
		{name: "Guard does not ask for what is beneath a removed folder", check: "hostile/guard-removal-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if clean, _, err := ambit.Resolve("/", path); err != nil || ask(ctx, ambit.OpRemove, clean) != nil {
					return g.base.Remove(ctx, path, &o)
				}
				return f.base.Remove(ctx, path, &o)
			}
		})},
		{name: "Guard does not ask for what is beneath a moved folder", check: "hostile/guard-rename-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				clean, _, err := ambit.Resolve("/", from)
				if err != nil || ask(ctx, ambit.OpRename, clean) != nil {
					return g.base.Rename(ctx, from, to, &o)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		})},
		{name: "Guard removes what is allowed of a folder", check: "hostile/guard-removal-above", breaks: guards(func(g, f *faulty, _ asker) {
			g.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := g.base.Remove(ctx, path, &o)
				if l, listErr := g.base.List(ctx, path, nil); ambit.ReasonOf(err) == ambit.ErrDenied && o.Recursive && listErr == nil {
					for _, e := range l.Entries {
						g.base.Remove(ctx, e.Info.Path, &o)
					}
				}
				return err
			}
		})},
		{name: "Guard forgets Stage", check: "hostile/stage-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				return f.base.Stage(ctx, path, content, &o)
			}
		})},
		{name: "Guard forgets Commit", check: "hostile/guard-commit", breaks: guards(func(g, f *faulty, _ asker) { g.commit = f.base.Commit })},
		{name: "Guard forgets Append", check: "hostile/append-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				return f.base.Append(ctx, path, content, &o)
			}
		})},
		{name: "Guard forgets the target of a rename", check: "hostile/guard-rename-above", breaks: guards(func(g, f *faulty, ask asker) {
			g.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				source, _, err := ambit.Resolve("/", from)
				if err != nil || ask(ctx, ambit.OpRename, source) != nil {
					return g.base.Rename(ctx, from, to, &o)
				}
				return f.base.Rename(ctx, from, to, &o)
			}
		})},
		{name: "a Sub is free of its Guard", check: "hostile/guard-sub", breaks: guards(func(g, f *faulty, ask asker) {
			g.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				if _, err := g.baseSub(ctx, dir); err != nil {
					return nil, err
				}
				return f.baseSub(ctx, dir)
			}
		})},
		{name: "the refusal of a rule tells the kind of what is there", check: "hostile/open-denied", breaks: guards(func(g, f *faulty, _ asker) {
			g.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := g.base.Open(ctx, path)
				if info, statErr := f.base.Stat(ctx, path); ambit.ReasonOf(err) == ambit.ErrDenied && statErr == nil {
					e := *err.(*ambit.Error)
					e.Kind = info.Kind
					return nil, &e
				}
				return file, err
			}
		})},
		{name: "Publish does not ask again", check: "hostile/guard-publish", breaks: guards(func(g, f *faulty, _ asker) {
			g.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				asked, err := g.base.Stage(ctx, path, strings.NewReader(""), &o)
				if err != nil {
					return nil, err
				}
				asked.Discard(ctx)
				return f.base.Stage(ctx, path, content, &o)
			}
		})},
		{name: "a second Guard takes the place of the first", check: "hostile/guard-twice", breaks: func(f *faulty) {
			f.guard = func(ask asker) ambit.FileSystem {
				g := &faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}
				g = g.around(f.baseGuard(ask))
				g.guard = func(ask asker) ambit.FileSystem { return f.baseGuard(ask) }
				return g
			}
		}},
		{name: "Guard asks with a context of its own", check: "hostile/guard-context", breaks: asks(func(ask asker) asker {
			return func(_ context.Context, op ambit.Op, canonical string) error {
				return ask(context.Background(), op, canonical)
			}
		})},
		{name: "Guard calls everything a stat", check: "hostile/guard-asked", breaks: asks(func(ask asker) asker {
			return func(ctx context.Context, _ ambit.Op, canonical string) error {
				return ask(ctx, ambit.OpStat, canonical)
			}
		})},

		{name: "Sub lets dots out", check: "core/sub-confines", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In:  func(path string) (string, error) { return root + "/" + path, nil },
				Out: func(canonical string) (string, bool) { return canonical, true },
			}
		})},
		{name: "a Sub shows the paths of its parent", check: "core/sub-reads", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In: func(path string) (string, error) {
					clean, dir, err := ambit.Resolve("/", path)
					if dir && err == nil && clean != "/" {
						clean += "/"
					}
					return root + clean, err
				},
				Out: func(canonical string) (string, bool) { return canonical, true },
			}
		})},
		{name: "a Sub starts one folder above", check: "core/sub-confines", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			above := ambit.Dir(root)
			return ambit.PathMap{
				In: func(path string) (string, error) {
					clean, _, err := ambit.Resolve("/", path)
					return strings.TrimSuffix(above, "/") + clean, err
				},
				Out: out(above),
			}
		})},
		{name: "a Sub takes the empty path for its root", check: "core/sub-refuses-as-its-own", breaks: subs(func(_ *faulty, root string) ambit.PathMap {
			return ambit.PathMap{
				In: func(path string) (string, error) {
					if path == "" {
						return root, nil
					}
					clean, dir, err := ambit.Resolve("/", path)
					if dir && err == nil && clean != "/" {
						clean += "/"
					}
					return root + clean, err
				},
				Out: out(root),
			}
		})},
		{name: "a Sub lists its parent", check: "core/sub-lists", breaks: subFault(func(sub, f *faulty, _ string) {
			sub.list = func(ctx context.Context, dir string, o ambit.ListOptions) (*ambit.Listing, error) {
				if clean, _, err := ambit.Resolve("/", dir); err == nil && clean == "/" {
					return f.base.List(ctx, "/", &o)
				}
				return sub.base.List(ctx, dir, &o)
			}
		})},
		{name: "a Sub of a Sub starts at the top", check: "core/sub-of-a-sub", breaks: subFault(func(sub, f *faulty, _ string) { sub.sub = f.baseSub })},
		{name: "a Sub dies with the context of its call", check: "core/sub-outlives-its-call", breaks: func(f *faulty) {
			f.sub = func(subCtx context.Context, dir string) (ambit.FileSystem, error) {
				sub, err := f.baseSub(subCtx, dir)
				if err != nil {
					return nil, err
				}
				g := (&faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}).around(sub)
				g.open = func(ctx context.Context, path string) (ambit.File, error) {
					if err := subCtx.Err(); err != nil {
						return nil, ambit.Wrap(ambit.OpOpen, path, err)
					}
					return g.base.Open(ctx, path)
				}
				return g, nil
			}
		}},
		{name: "the root of a Sub can be removed through it", check: "write/sub-root-stays", breaks: subFault(func(sub, f *faulty, root string) {
			sub.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				if clean, _, err := ambit.Resolve("/", path); err == nil && clean == "/" {
					return ambit.Wrap(ambit.OpRemove, path, f.base.Remove(ctx, root, &o))
				}
				return sub.base.Remove(ctx, path, &o)
			}
		})},
		{name: "a Sub writes into its parent", check: "write/sub-writes", breaks: subFault(func(sub, f *faulty, _ string) {
			sub.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return f.base.Write(ctx, path, content, &o)
			}
		})},
		{name: "a Sub tells the made folders in paths of its parent", check: "write/sub-changes", breaks: subFault(func(sub, f *faulty, root string) {
			sub.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := sub.base.Mkdir(ctx, dir, &o)
				for i, c := range created {
					created[i] = root + c
				}
				return created, err
			}
		})},
		{name: "a Sub's refusals name the parent's paths", check: "core/sub-refuses-as-its-own", breaks: subFault(func(sub, _ *faulty, root string) {
			facts(func(e *ambit.Error) {
				if e.Target != "" {
					e.Target = root + e.Target
				}
			})(sub)
		})},
		{name: "Sub of a file is a file system", check: "core/sub-file", breaks: func(f *faulty) {
			f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
				sub, err := f.baseSub(ctx, dir)
				if ambit.ReasonOf(err) == ambit.ErrNotADirectory {
					return f.baseSub(ctx, "/")
				}
				return sub, err
			}
		}},
	}
}

// subFault changes each Sub of f, whose folder is root.
func subFault(change func(sub, f *faulty, root string)) func(f *faulty) {
	return func(f *faulty) {
		f.sub = func(ctx context.Context, dir string) (ambit.FileSystem, error) {
			base, err := f.baseSub(ctx, dir)
			if err != nil {
				return nil, err
			}
			info, err := f.base.Stat(ctx, dir)
			if err != nil {
				return nil, err
			}
			sub := (&faulty{host: f.host, shared: f.shared, breaks: func(*faulty) {}}).around(base)
			change(sub, f, strings.TrimSuffix(info.Path, "/"))
			return sub, nil
		}
	}
}

// capabilityMutants claim too much or too little.
func capabilityMutants() []mutant {
	claims := func(change func(c *ambit.Capabilities)) func(f *faulty) {
		return func(f *faulty) {
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities {
				change(&c)
				return c
			}
		}
	}
	no := func(op string) error { return ambit.Unsupported(op, "") }
	refuses := func(op string, change func(f *faulty, refuse func(path string) error)) func(f *faulty) {
		return func(f *faulty) {
			change(f, func(path string) error { return ambit.Wrap(op, path, no(op)) })
		}
	}
	return []mutant{
		{name: "Append is claimed and refused", check: "write/append-file", breaks: refuses(ambit.OpAppend, func(f *faulty, refuse func(string) error) {
			f.append = func(_ context.Context, path string, _ io.Reader, _ ambit.AppendOptions) (ambit.WriteResult, error) {
				return ambit.WriteResult{}, refuse(path)
			}
		})},
		{name: "Stage is claimed and refused", check: "write/stage-publish", breaks: refuses(ambit.OpStage, func(f *faulty, refuse func(string) error) {
			f.stage = func(_ context.Context, path string, _ io.Reader, _ ambit.WriteOptions) (ambit.Staged, error) {
				return nil, refuse(path)
			}
		})},
		{name: "Rename is claimed and refused", check: "write/rename-file", breaks: refuses(ambit.OpRename, func(f *faulty, refuse func(string) error) {
			f.rename = func(_ context.Context, from, _ string, _ ambit.RenameOptions) (ambit.FileInfo, error) {
				return ambit.FileInfo{}, refuse(from)
			}
		})},
		{name: "Mkdir is claimed and refused", check: "write/mkdir-missing", breaks: refuses(ambit.OpMkdir, func(f *faulty, refuse func(string) error) {
			f.mkdir = func(_ context.Context, dir string, _ ambit.MkdirOptions) ([]string, error) { return nil, refuse(dir) }
		})},
		{name: "Commit is claimed and refused", check: "write/commit", breaks: refuses(ambit.OpCommit, func(f *faulty, refuse func(string) error) {
			f.commit = func(_ context.Context, _ []ambit.Change) ([]ambit.WriteResult, error) { return nil, refuse("") }
		})},
		{name: "Sub is claimed and refused", check: "core/sub-reads", breaks: refuses(ambit.OpSub, func(f *faulty, refuse func(string) error) {
			f.sub = func(_ context.Context, dir string) (ambit.FileSystem, error) { return nil, refuse(dir) }
		})},
		{name: "Write is claimed without its methods", check: "write/write-file", wraps: func(base ambit.FileSystem) ambit.FileSystem { return bare{base} }},
		{name: "ReadAt is claimed and a File has none", check: "core/read-at", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				return struct{ ambit.File }{file}, nil
			}
		}},
		{name: "ReadLink is claimed where there is none", check: "core/readlink-file", unclaimed: true, breaks: claims(func(c *ambit.Capabilities) { c.ReadLink = true })},
		{name: "Search is claimed where there is none", check: "hostile/links-searched", on: onDisk, unclaimed: true, breaks: claims(func(c *ambit.Capabilities) { c.Search = true })},
		{name: "Versions are claimed and empty", check: "core/version-form", breaks: versionsAs(func(ambit.FileInfo) ambit.Version { return "" })},
		{name: "Identity is claimed and empty", check: "core/identity", on: onDisk, breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo { info.ID = ""; return info }
		}},
		{name: "KeepsMode is claimed and no mode is shown", check: "write/write-mode", on: onDisk, breaks: func(f *faulty) {
			f.info = func(info ambit.FileInfo) ambit.FileInfo { info.Mode = 0; return info }
		}},

		{name: "Append is kept and not claimed", check: "write/append-file", breaks: claims(func(c *ambit.Capabilities) { c.Append = false })},
		{name: "Stage is kept and not claimed", check: "write/stage-publish", breaks: claims(func(c *ambit.Capabilities) { c.Stage = false })},
		{name: "Rename is kept and not claimed", check: "write/rename-file", breaks: claims(func(c *ambit.Capabilities) { c.Rename = false })},
		{name: "Mkdir is kept and not claimed", check: "write/mkdir-missing", breaks: claims(func(c *ambit.Capabilities) { c.Mkdir = false })},
		{name: "Commit is kept and not claimed", check: "write/commit", breaks: claims(func(c *ambit.Capabilities) { c.Commit = false })},
		{name: "Remove is kept and not claimed", check: "write/remove-file", breaks: claims(func(c *ambit.Capabilities) { c.Remove = false })},
		{name: "Write is kept and not claimed", check: "write/write-file", breaks: claims(func(c *ambit.Capabilities) { c.Write = false })},
		{name: "List is kept and not claimed", check: "core/list-sorted", breaks: claims(func(c *ambit.Capabilities) { c.List = false })},
		{name: "Sub is kept and not claimed", check: "core/sub-reads", breaks: claims(func(c *ambit.Capabilities) { c.Sub = false })},
		{name: "Guard is kept and not claimed", check: "hostile/guard-asked", breaks: claims(func(c *ambit.Capabilities) { c.Guard = false })},
		{name: "Versions are filled and not claimed", check: "core/version-form", breaks: claims(func(c *ambit.Capabilities) { c.Versions = false })},
		{name: "Identity is filled and not claimed", check: "core/identity", on: onDisk, breaks: claims(func(c *ambit.Capabilities) { c.Identity = false })},
		{name: "ReadLink is kept and not claimed", check: "core/readlink-file", on: onDisk, breaks: claims(func(c *ambit.Capabilities) { c.ReadLink = false })},
		{name: "preconditions hold and Swap is none", check: "write/write-if-absent-file", breaks: claims(func(c *ambit.Capabilities) { c.Swap = ambit.SwapNone })},

		{name: "capabilities change", check: "core/capabilities-constant", breaks: func(f *faulty) {
			var asked atomic.Int64
			f.capabilities = func(c ambit.Capabilities) ambit.Capabilities {
				c.Streams = asked.Add(1)%2 == 0
				return c
			}
		}},
		{name: "nil options panic", check: "write/write-nil-options", wraps: func(base ambit.FileSystem) ambit.FileSystem {
			return &needsOptions{fault(base, "", func(*faulty) {}).(*faulty)}
		}},
	}
}

// bare has the methods of a FileSystem and claims what its base claims.
type bare struct{ ambit.FileSystem }

// needsOptions looks into its options.
type needsOptions struct{ *faulty }

func (n *needsOptions) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	plain := *o
	return n.faulty.Write(ctx, path, content, &plain)
}
