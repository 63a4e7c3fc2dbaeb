// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// What the caller may not look into is deleted without a rule being asked.
func TestHostileGuardIsNotAskedOfWhatIsShut(t *testing.T) {
	root := t.TempDir()
	must(t, os.Chown(root, 65534, 65534))
	onAThreadOfNobody(t, func() {
		put(t, filepath.Join(root, "box", "shut", "keep"), "K")
		must(t, os.Chmod(filepath.Join(root, "box", "shut"), 0))
		fsys, err := local.New(root, nil)
		must(t, err)
		defer fsys.Close()
		var asked []string
		g := fsys.Guard(func(_ context.Context, op ambit.Op, path string) error {
			asked = append(asked, string(op)+" "+path)
			if strings.HasSuffix(path, "/keep") {
				return ambit.ErrDenied
			}
			return nil
		})
		err = ambit.Remove(context.Background(), g, "/box", &ambit.RemoveOptions{Recursive: true})
		if _, statErr := os.Lstat(filepath.Join(root, "box")); os.IsNotExist(statErr) {
			t.Errorf("keep was removed (%v); asked was only %q", err, asked)
		}
	}, root)
}

// The same for what is denied by its identity.
func TestHostileDeniedInWhatIsShut(t *testing.T) {
	root := t.TempDir()
	must(t, os.Chown(root, 65534, 65534))
	onAThreadOfNobody(t, func() {
		put(t, filepath.Join(root, "secret"), "S")
		must(t, os.MkdirAll(filepath.Join(root, "box", "shut"), 0o755))
		fsys, err := local.New(root, &local.Options{Deny: []string{"/secret"}})
		must(t, err)
		defer fsys.Close()
		must(t, os.Rename(filepath.Join(root, "secret"), filepath.Join(root, "box", "shut", "s")))
		must(t, os.Chmod(filepath.Join(root, "box", "shut"), 0))
		err = fsys.Remove(context.Background(), "/box", &ambit.RemoveOptions{Recursive: true})
		if _, statErr := os.Lstat(filepath.Join(root, "box")); os.IsNotExist(statErr) {
			t.Errorf("what was denied is removed (%v)", err)
		}
	}, root)
}

// HostPath and MachinePath tell of what a rule refuses.
func TestHostileHostPathIsAnOracle(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "secret", "file"), "S")
	fsys, err := local.New(root, nil)
	must(t, err)
	defer fsys.Close()
	g := fsys.Guard(func(_ context.Context, _ ambit.Op, path string) error {
		if ambit.Contains("/secret", path) {
			return ambit.ErrDenied
		}
		return nil
	}).(*local.FileSystem)
	_, there := g.HostPath("/secret/file/x")
	_, missing := g.HostPath("/secret/none/x")
	if ambit.ReasonOf(there) != ambit.ReasonOf(missing) {
		t.Errorf("HostPath: a file is there: %v; nothing is there: %v", there, missing)
	}
	_, there = g.MachinePath(root + "/secret/file/x")
	_, missing = g.MachinePath(root + "/secret/none/x")
	if ambit.ReasonOf(there) != ambit.ReasonOf(missing) {
		t.Errorf("MachinePath: a file is there: %v; nothing is there: %v", there, missing)
	}
	_, there = g.Stat(context.Background(), "/secret/file/x")
	_, missing = g.Stat(context.Background(), "/secret/none/x")
	if ambit.ReasonOf(there) != ambit.ReasonOf(missing) {
		t.Errorf("Stat: a file is there: %v; nothing is there: %v", there, missing)
	}
}

// New waits for a lock without end.
func TestHostileNewHangs(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
	plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/sub/x"), Hidden: ".ambit.commit." + digits}}, nil)
	f, err := os.Open(filepath.Join(root, "sub")) // for reading alone
	must(t, err)
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	done := make(chan error, 1)
	go func() {
		fsys, err := local.New(root, nil)
		if err == nil {
			fsys.Close()
		}
		done <- err
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("New has not returned after 5 s")
	}
	f.Close()
	<-done
}

// A journal that says nothing, at great length.
func TestHostileJournalFillsMemory(t *testing.T) {
	root := t.TempDir()
	const size = 6 << 20
	put(t, filepath.Join(root, ".ambit.journal."+digits), `{"format":1,"changes":[{}`+strings.Repeat(`,{}`, size/3)+`]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	fsys, err := local.New(root, nil)
	if err == nil {
		fsys.Close()
	}
	runtime.ReadMemStats(&after)
	t.Logf("%v, %v, %d MiB allocated, %d MiB of the system", err, time.Since(begun), (after.TotalAlloc-before.TotalAlloc)>>20, (after.Sys-before.Sys)>>20)
	if grown := after.Sys - before.Sys; grown > 10*size {
		t.Errorf("a journal of %d MiB takes %d MiB", size>>20, grown>>20)
	}
}

// Times at the ends of what the disk keeps.
func TestHostileTimesAtTheEnd(t *testing.T) {
	for _, sec := range []int64{-1 << 31, -1, 0, 1<<31 - 1, 1 << 31, 9223372036, 9223372037, 15032385534, 15032385535, 1 << 40} {
		root := t.TempDir()
		f := filepath.Join(root, "f")
		put(t, f, "a")
		must(t, unix.UtimesNanoAt(unix.AT_FDCWD, f, []unix.Timespec{{Sec: sec, Nsec: 999999999}, {Sec: sec, Nsec: 999999999}}, 0))
		fsys, err := local.New(root, nil)
		must(t, err)
		ctx := context.Background()
		old, err := fsys.Stat(ctx, "/f")
		must(t, err)
		r, err := fsys.Write(ctx, "/f", strings.NewReader("b"), &ambit.WriteOptions{If: ambit.IfVersion(old.Version)})
		if err != nil {
			t.Errorf("%d: %v", sec, err)
		} else if !r.Info.ModTime.After(old.ModTime) {
			t.Logf("%d: %v is not after %v", sec, r.Info.ModTime, old.ModTime)
			if r.Info.Version == old.Version {
				t.Errorf("%d: the same version", sec)
			}
		}
		fsys.Close()
	}
}

// Commit with few descriptors.
func TestHostileCommitWithFewDescriptors(t *testing.T) {
	root := t.TempDir()
	changes := func(text string) []ambit.Change {
		var all []ambit.Change
		for i := range 6 {
			all = append(all, ambit.Change{Op: ambit.OpWrite, Path: fmt.Sprintf("/d%d/f", i), Content: strings.NewReader(text), Parents: true})
		}
		return append(all, ambit.Change{Op: ambit.OpRemove, Path: "/gone"})
	}
	put(t, filepath.Join(root, "gone"), "old")
	for i := range 4 {
		put(t, filepath.Join(root, fmt.Sprintf("d%d", i), "f"), "old")
	}
	tree := func() string {
		var b strings.Builder
		_ = filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			text := ""
			if info != nil && info.Mode().IsRegular() {
				raw, _ := os.ReadFile(path)
				text = string(raw)
			}
			fmt.Fprintln(&b, strings.TrimPrefix(path, root), text, err)
			return nil
		})
		return b.String()
	}
	before := tree()
	fsys, err := local.New(root, nil)
	must(t, err)
	defer fsys.Close()
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for n := len(open) - 1; n < len(open)+80; n++ {
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(n), Max: old.Max}))
		_, err := fsys.Commit(context.Background(), changes("new"))
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
		now := tree()
		if ambit.ReasonOf(err) == ambit.ErrNotDurable {
			return // it stands, and the disk was not asked
		}
		if err != nil && now != before {
			t.Fatalf("%d: %v\n%s", n-len(open), err, now)
		}
		if err == nil {
			t.Logf("%d: done\n%s", n-len(open), now)
			return
		}
		if n%8 == 0 {
			t.Log(n-len(open), err)
		}
	}
}
