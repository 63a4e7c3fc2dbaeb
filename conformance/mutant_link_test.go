// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// hostPath is where path lies on the disk, joined as a careless program does.
func (f *faulty) hostPath(path string) string { return f.host + "/" + path }

// later opens path on the disk a moment later, without any rule, as a program
// does that looks first and acts then.
func (f *faulty) later(path string, flag int) (*os.File, bool) {
	time.Sleep(window / 20)
	file, err := os.OpenFile(f.hostPath(path), flag, 0)
	return file, err == nil
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
		{name: "Write joins dots to the root's path", check: "hostile/write-climbing", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, path, content, o)
				if _, _, textErr := ambit.Resolve("/", path); textErr != nil && ambit.ReasonOf(err) == ambit.ErrOutside {
					os.WriteFile(f.hostPath(path), []byte("escaped\n"), 0o666)
				}
				return r, err
			}
		})},
		{name: "Remove removes through an outward link", check: "hostile/remove-outward-link", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				err := f.base.Remove(ctx, path, &o)
				if ambit.ReasonOf(err) == ambit.ErrOutside && os.RemoveAll(f.hostPath(path)) == nil {
					return nil
				}
				return err
			}
		}},
		{name: "Mkdir makes through an outward link", check: "hostile/mkdir-outward-link", breaks: func(f *faulty) {
			f.mkdir = func(ctx context.Context, dir string, o ambit.MkdirOptions) ([]string, error) {
				created, err := f.base.Mkdir(ctx, dir, &o)
				if ambit.ReasonOf(err) == ambit.ErrOutside && os.MkdirAll(f.hostPath(dir), 0o777) == nil {
					return []string{ambit.Join("/", dir)}, nil
				}
				return created, err
			}
		}},
		{name: "Rename moves through an outward link", check: "hostile/rename-to-outward-link", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				info, err := f.base.Rename(ctx, from, to, &o)
				if ambit.ReasonOf(err) == ambit.ErrOutside && os.Rename(f.hostPath(from), f.hostPath(to)) == nil {
					return ambit.FileInfo{}, nil
				}
				return info, err
			}
		}},
		{name: "Stage leaves its content beside the root", check: "hostile/stage-outward-link", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if ambit.ReasonOf(err) == ambit.ErrOutside {
					os.WriteFile(filepath.Join(filepath.Dir(f.host), "staged"), []byte("staged\n"), 0o666)
				}
				return s, err
			}
		}},
		{name: "exists tells the kind of what a link leads to", check: "hostile/write-if-absent-link-to-file", breaks: func(f *faulty) {
			facts(func(e *ambit.Error) {
				if e.Reason == ambit.ErrExists && e.Kind == ambit.KindSymlink {
					e.Kind = ambit.KindRegular
				}
			})(f)
		}},
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
		{name: "Write checks first and writes then", check: "hostile/race-changing", chance: true, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				info, err := f.base.Stat(ctx, path)
				if err != nil || info.Kind != ambit.KindRegular || !o.If.IsZero() {
					return base(ctx, path, content, o)
				}
				file, ok := f.later(path, os.O_WRONLY)
				if !ok {
					return base(ctx, path, content, o)
				}
				defer file.Close()
				_, err = io.Copy(file, ambit.Content(ctx, content, 0))
				return ambit.WriteResult{Info: info}, ambit.Wrap(ambit.OpWrite, path, err)
			}
		})},
		{name: "Open checks first and opens then", check: "hostile/race-reading", chance: true, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, path)
				if err != nil {
					return file, err
				}
				info := file.Info()
				raw, ok := f.later(path, os.O_RDONLY)
				if !ok {
					return file, err
				}
				file.Close()
				return &faultyFile{File: rawFile{raw}, info: func() ambit.FileInfo { return info }}, nil
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
