// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

func breakTree(root string) string {
	var b strings.Builder
	_ = filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		text := ""
		if info != nil && info.Mode().IsRegular() {
			raw, _ := os.ReadFile(path)
			text = string(raw)
			if len(text) > 40 {
				text = fmt.Sprintf("%s…%d", text[:40], len(text))
			}
		}
		fmt.Fprintln(&b, strings.TrimPrefix(path, root), text, err)
		return nil
	})
	return b.String()
}

// Every call with every number of descriptors: all or nothing.
func TestHostileFewDescriptors(t *testing.T) {
	v := func(fsys *local.FileSystem, path string) ambit.Version {
		info, err := fsys.Stat(ctx, path)
		must(t, err)
		return info.Version
	}
	for name, do := range map[string]func(fsys *local.FileSystem, v ambit.Version) error{
		"write": func(fsys *local.FileSystem, _ ambit.Version) error {
			_, err := fsys.Write(ctx, "/n1/n2/n3/f", strings.NewReader("new"), &ambit.WriteOptions{Parents: true})
			return err
		},
		"swap": func(fsys *local.FileSystem, v ambit.Version) error {
			_, err := fsys.Write(ctx, "/f", strings.NewReader("new"), &ambit.WriteOptions{If: ambit.IfVersion(v)})
			return err
		},
		"append": func(fsys *local.FileSystem, v ambit.Version) error {
			_, err := fsys.Append(ctx, "/f", strings.NewReader(strings.Repeat("x", 2<<20)), &ambit.AppendOptions{If: ambit.IfVersion(v)})
			return err
		},
		"append new": func(fsys *local.FileSystem, _ ambit.Version) error {
			_, err := fsys.Append(ctx, "/n1/n2/f", strings.NewReader("x"), &ambit.AppendOptions{Parents: true})
			return err
		},
		"remove": func(fsys *local.FileSystem, v ambit.Version) error {
			return fsys.Remove(ctx, "/f", &ambit.RemoveOptions{If: ambit.IfVersion(v)})
		},
		"remove all": func(fsys *local.FileSystem, _ ambit.Version) error {
			return fsys.Remove(ctx, "/d", &ambit.RemoveOptions{Recursive: true})
		},
		"rename": func(fsys *local.FileSystem, v ambit.Version) error {
			_, err := fsys.Rename(ctx, "/f", "/n1/n2/g", &ambit.RenameOptions{If: ambit.IfVersion(v), Parents: true})
			return err
		},
		"rename over": func(fsys *local.FileSystem, v ambit.Version) error {
			_, err := fsys.Rename(ctx, "/f", "/d/e/f", &ambit.RenameOptions{If: ambit.IfVersion(v), Replace: true})
			return err
		},
		"mkdir": func(fsys *local.FileSystem, _ ambit.Version) error {
			_, err := fsys.Mkdir(ctx, "/n1/n2/n3/n4", &ambit.MkdirOptions{Parents: true})
			return err
		},
		"commit": func(fsys *local.FileSystem, v ambit.Version) error {
			_, err := fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "/n1/a", Content: strings.NewReader("new"), Parents: true},
				{Op: ambit.OpWrite, Path: "/n2/a", Content: strings.NewReader("new"), Parents: true},
				{Op: ambit.OpWrite, Path: "/f", Content: strings.NewReader("new"), If: ambit.IfVersion(v)},
				{Op: ambit.OpRemove, Path: "/d/e/f"},
				{Op: ambit.OpWrite, Path: "/d/g", Content: strings.NewReader("new")},
			})
			return err
		},
	} {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprint(name, portable), func(t *testing.T) {
				var old syscall.Rlimit
				must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
				defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
				runtime.GC()
				for n := range 60 {
					root := t.TempDir()
					put(t, filepath.Join(root, "f"), "old")
					put(t, filepath.Join(root, "d", "e", "f"), "old")
					put(t, filepath.Join(root, "d", "g"), "old")
					var o *local.Options
					if portable {
						o = local.Portable(nil)
					}
					fsys, err := local.New(root, o)
					must(t, err)
					version := v(fsys, "/f")
					before := breakTree(root)
					open, err := os.ReadDir("/proc/self/fd")
					must(t, err)
					must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(len(open) + n), Max: old.Max}))
					err = do(fsys, version)
					must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
					now := breakTree(root)
					fsys.Close()
					if err != nil && ambit.ReasonOf(err) != ambit.ErrNotDurable && now != before {
						t.Errorf("with %d descriptors: %v; %d hidden files are left", n, err, strings.Count(now, ".ambit."))
					}
					if err == nil {
						return
					}
				}
			})
		}
	}
}
