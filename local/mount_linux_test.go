// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// mountAt mounts something for this test, wherever it is moved to meanwhile.
func mountAt(t *testing.T, source, target, kind string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, ""); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
}

// unmountBeneath undoes what was mounted beneath base.
func unmountBeneath(t *testing.T, base string) {
	t.Cleanup(func() {
		mounts, err := os.ReadFile("/proc/self/mounts")
		must(t, err)
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], base+"/") {
				syscall.Unmount(fields[1], syscall.MNT_DETACH)
			}
		}
	})
}

// A folder with something mounted beneath it is refused as a whole, whatever
// is mounted and however deep.
func TestRemoveRefusesMounts(t *testing.T) {
	deep := "d" + strings.Repeat("/s", 60)
	for name, mounted := range map[string]func(t *testing.T, root, beside string){
		"a bind of a folder": func(t *testing.T, root, beside string) {
			mountAt(t, beside, filepath.Join(root, "d/sub"), "", syscall.MS_BIND)
		},
		"a bind of a folder to itself": func(t *testing.T, root, beside string) {
			mountAt(t, filepath.Join(root, "d/sub"), filepath.Join(root, "d/sub"), "", syscall.MS_BIND)
		},
		"a bind of a file": func(t *testing.T, root, beside string) {
			mountAt(t, filepath.Join(beside, "keep"), filepath.Join(root, "d/file"), "", syscall.MS_BIND)
		},
		"a bind far down": func(t *testing.T, root, beside string) {
			mountAt(t, beside, filepath.Join(root, deep), "", syscall.MS_BIND)
		},
		"another disk": func(t *testing.T, root, beside string) {
			mountAt(t, "tmpfs", filepath.Join(root, "d/sub"), "tmpfs", 0)
			must(t, os.WriteFile(filepath.Join(root, "d/sub/keep"), []byte("K"), 0o666))
		},
		"the folder itself": func(t *testing.T, root, beside string) {
			mountAt(t, beside, filepath.Join(root, "d"), "", syscall.MS_BIND)
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := fastDir(t)
			unmountBeneath(t, base)
			root, beside := filepath.Join(base, "root"), filepath.Join(base, "beside")
			for _, dir := range []string{filepath.Join(root, deep), filepath.Join(root, "d/sub"), beside} {
				must(t, os.MkdirAll(dir, 0o777))
			}
			must(t, os.WriteFile(filepath.Join(root, "d/file"), []byte("F"), 0o666))
			must(t, os.WriteFile(filepath.Join(beside, "keep"), []byte("K"), 0o666))
			mounted(t, root, beside)
			before := everything(t, base)
			fsys := serve(t, root, nil)
			err := fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
			if ambit.ReasonOf(err) != ambit.ErrCrossDevice {
				t.Errorf("Remove: %v", err)
			}
			if after := everything(t, base); !slices.Equal(after, before) {
				t.Errorf("there was\n%q\nthere is\n%q", before, after)
			}
		})
	}
}

// The root itself may be mounted, and so may what it lies in.
func TestRemoveOnAMount(t *testing.T) {
	base := fastDir(t)
	unmountBeneath(t, base)
	for _, dir := range []string{"disk/d/sub", "root"} {
		must(t, os.MkdirAll(filepath.Join(base, dir), 0o777))
	}
	mountAt(t, filepath.Join(base, "disk"), filepath.Join(base, "root"), "", syscall.MS_BIND)
	fsys := serve(t, filepath.Join(base, "root"), nil)
	must(t, fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}))
	leftovers(t, filepath.Join(base, "root"))
}

// What comes to be mounted while a folder is deleted keeps its files.
func TestMountWhileRemoving(t *testing.T) {
	base := fastDir(t)
	unmountBeneath(t, base)
	beside := filepath.Join(base, "beside")
	must(t, os.Mkdir(beside, 0o777))
	must(t, os.WriteFile(filepath.Join(beside, "keep"), []byte("K"), 0o666))
	root := filepath.Join(base, "root")
	must(t, os.Mkdir(root, 0o777))
	fsys := serve(t, root, nil)
	hits := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		for i := range 20 {
			must(t, os.MkdirAll(filepath.Join(root, fmt.Sprintf("d/%d/e", i)), 0o777))
		}
		target, err := os.Open(filepath.Join(root, "d/7/e"))
		must(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			path := fmt.Sprintf("/proc/self/fd/%d", target.Fd())
			if syscall.Mount(beside, path, "", syscall.MS_BIND, "") == nil {
				hits++
			}
		}()
		fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
		<-done
		target.Close()
		if _, err := os.Stat(filepath.Join(beside, "keep")); err != nil {
			t.Fatal(err)
		}
		found := 0
		mounts, err := os.ReadFile("/proc/self/mounts")
		must(t, err)
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); strings.HasPrefix(fields[1], root+"/") {
				syscall.Unmount(fields[1], syscall.MNT_DETACH)
				found++
			}
		}
	}
	if hits == 0 {
		t.Skip("nothing was ever mounted in time")
	}
}

// However deep a tree is, it is removed with few descriptors.
func TestRemoveWithFewDescriptors(t *testing.T) {
	root := fastDir(t)
	must(t, os.MkdirAll(filepath.Join(root, strings.Repeat("d/", 300)), 0o777))
	for depth := 10; depth <= 300; depth += 29 {
		must(t, os.WriteFile(filepath.Join(root, strings.Repeat("d/", depth), "f"), []byte("F"), 0o666))
		must(t, os.MkdirAll(filepath.Join(root, strings.Repeat("d/", depth), "e/e/e"), 0o777))
	}
	fsys := serve(t, root, nil)
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 128, Max: old.Max}))
	err := fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
	must(t, err)
	if left, err := os.ReadDir(root); err != nil || len(left) != 0 {
		t.Errorf("%v, %v are left", err, left)
	}
}

// Without a descriptor to look with nothing is removed, and without more of
// them nothing shows that was.
func TestRemoveWithoutDescriptors(t *testing.T) {
	root := fastDir(t)
	must(t, os.MkdirAll(filepath.Join(root, strings.Repeat("d/", 20)), 0o777))
	fsys := serve(t, root, nil)
	before := everything(t, root)
	for spare := range 30 {
		open, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		var old syscall.Rlimit
		must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(len(open) + spare), Max: old.Max}))
		err = fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
		left := everything(t, root)
		if err == nil {
			// What could not be deleted then is not to be seen, and goes with the
			// next write.
			if got := names(t, fsys, "/"); len(got) != 0 {
				t.Fatalf("with %d descriptors to spare Remove succeeds and shows %q", spare, got)
			}
			write(t, fsys, "f", "F", nil)
			if left := everything(t, root); len(left) != 1 {
				t.Fatalf("with %d descriptors to spare Remove and a write leave %q", spare, left)
			}
			return
		}
		if !slices.Equal(left, before) {
			t.Fatalf("with %d descriptors to spare Remove says %v and leaves %q", spare, err, left)
		}
	}
}

// everything lists all paths beneath base.
func everything(t *testing.T, base string) []string {
	t.Helper()
	var paths []string
	must(t, filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths[1:]
}

// A move that fails in folders that it has made leaves none of them.
func TestFailedMoveTakesParentsBack(t *testing.T) {
	base := fastDir(t)
	unmountBeneath(t, base)
	root := filepath.Join(base, "root")
	must(t, os.MkdirAll(filepath.Join(root, "disk"), 0o777))
	mountAt(t, "tmpfs", filepath.Join(root, "disk"), "tmpfs", 0)
	must(t, os.WriteFile(filepath.Join(root, "disk/f"), []byte("F"), 0o666))
	fsys := serve(t, root, nil)
	before := everything(t, root)
	for _, o := range []*ambit.RenameOptions{{Parents: true}, {Parents: true, Replace: true}} {
		if _, err := fsys.Rename(ctx, "disk/f", "a/b/c/f", o); ambit.ReasonOf(err) != ambit.ErrCrossDevice {
			t.Errorf("Rename: %v", err)
		}
		if after := everything(t, root); !slices.Equal(after, before) {
			t.Errorf("there was %q, there is %q", before, after)
		}
	}
}
