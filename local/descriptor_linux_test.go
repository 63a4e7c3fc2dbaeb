// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ambitfs/ambit"
)

// No call keeps a descriptor, whether it is done or refused.
func TestDescriptorsAreClosed(t *testing.T) {
	// The collector would close what was forgotten.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(entries)
	}
	w := newWorldIn(t, fastDir(t), tree)
	paths := []string{
		"file", "missing", "dir", "dir/inner", "ldir/inner", "abs/inner", "up/inner", "dangling", "dangling/x", "out", "outdir/x", "climb", "loop", "fifo", "file/x",
		"gone/a/b", "dir/", "file/", "/", "..", "", "absdangling",
	}
	calls := map[string]func(path string){
		"Open": func(path string) {
			if f, err := w.fsys.Open(ctx, path); err == nil {
				f.Verify(ctx)
				f.Close()
			}
		},
		"Stat":     func(path string) { w.fsys.Stat(ctx, path) },
		"Lstat":    func(path string) { w.fsys.Lstat(ctx, path) },
		"ReadLink": func(path string) { w.fsys.ReadLink(ctx, path) },
		"List":     func(path string) { w.fsys.List(ctx, path, nil) },
		"Write": func(path string) {
			w.fsys.Write(ctx, path, readerOf("N"), nil)
			w.fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{Parents: true})
			w.fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true})
			w.fsys.Write(ctx, path, readerOf("N"), &ambit.WriteOptions{If: ambit.IfVersion("another")})
			w.fsys.Write(ctx, path, iotest.ErrReader(os.ErrInvalid), &ambit.WriteOptions{Parents: true})
		},
		"Stage": func(path string) {
			if s, err := w.fsys.Stage(ctx, path, readerOf("N"), &ambit.WriteOptions{Parents: true}); err == nil {
				s.Discard(ctx)
			}
			if s, err := w.fsys.Stage(ctx, path, readerOf("N"), nil); err == nil {
				w.fsys.Remove(ctx, path, nil)
				s.Publish(ctx)
			}
		},
		"Mkdir": func(path string) {
			w.fsys.Mkdir(ctx, path, nil)
			w.fsys.Mkdir(ctx, path+"/sub/sub", &ambit.MkdirOptions{Parents: true})
		},
		"Rename": func(path string) {
			w.fsys.Rename(ctx, path, "x/y", &ambit.RenameOptions{Parents: true})
			w.fsys.Rename(ctx, "x/y", path, &ambit.RenameOptions{Replace: true})
			w.fsys.Rename(ctx, path, path+"/sub", &ambit.RenameOptions{Parents: true})
			w.fsys.Rename(ctx, path, "file", nil)
		},
		"Remove": func(path string) {
			w.fsys.Remove(ctx, path, nil)
			w.fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true})
		},
	}
	for name, call := range calls {
		for _, path := range paths {
			before := count()
			call(path)
			call(path)
			if after := count(); after != before {
				t.Errorf("%s %q: %d descriptors before, %d after", name, path, before, after)
			}
		}
		// Whatever is gone by now comes back.
		for line := range strings.Lines(tree) {
			line = strings.TrimSpace(line)
			name, _, _ := strings.Cut(line, " ")
			if _, err := os.Lstat(w.host(name)); line != "" && err != nil {
				os.MkdirAll(w.host("dir"), 0o777)
				w.add(t, line)
			}
		}
	}
}
