// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

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
		{name: "a read beside another program mixes", check: "hostile/foreign-read", chance: true, breaks: func(f *faulty) {
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
