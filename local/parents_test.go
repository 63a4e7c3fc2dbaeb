// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// Any number of parents is made.
func TestManyParents(t *testing.T) {
	for _, n := range []int{2, 50, 99, 101, 200} {
		fsys := serve(t, fastDir(t), nil)
		path := strings.Repeat("/d", n)
		recursive := &ambit.RemoveOptions{Recursive: true}
		r, err := fsys.Write(ctx, path+"/f", readerOf("F"), &ambit.WriteOptions{Parents: true})
		if err != nil || len(r.CreatedDirs) != n || r.CreatedDirs[n-1] != path || r.Info.Path != path+"/f" {
			t.Errorf("Write beneath %d: %v, %d folders", n, err, len(r.CreatedDirs))
		}
		must(t, fsys.Remove(ctx, "d", recursive))
		made, err := fsys.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: true})
		if err != nil || len(made) != n || made[n-1] != path {
			t.Errorf("Mkdir of %d: %v, %d folders", n, err, len(made))
		}
		must(t, fsys.Remove(ctx, "d", recursive))
		write(t, fsys, "f", "F", nil)
		info, err := fsys.Rename(ctx, "f", path+"/f", &ambit.RenameOptions{Parents: true})
		if err != nil || info.Path != path+"/f" {
			t.Errorf("Rename beneath %d: %v, %s", n, err, info.Path)
		}
	}
}

// With Parents nothing is missing, whoever removes the folders meanwhile.
func TestParentsBesideRemove(t *testing.T) {
	fsys := serve(t, fastDir(t), nil)
	end := time.Now().Add(2 * time.Second)
	var wait sync.WaitGroup
	run := func(call func() error) {
		wait.Go(func() {
			for time.Now().Before(end) {
				if err := call(); err != nil && ambit.ReasonOf(err) != ambit.ErrChanged {
					t.Error(err)
					return
				}
			}
		})
	}
	run(func() error { _, err := fsys.Mkdir(ctx, "a/b/c", &ambit.MkdirOptions{Parents: true}); return err })
	run(func() error {
		_, err := fsys.Write(ctx, "a/b/c/f", readerOf("F"), &ambit.WriteOptions{Parents: true})
		return err
	})
	for range 2 {
		run(func() error {
			return fsys.Remove(ctx, "a", &ambit.RemoveOptions{Recursive: true, MissingOK: true})
		})
	}
	wait.Wait()
}

// A call that fails takes no folder away that another was told of.
func TestFailedCallLeavesFoldersOfOthers(t *testing.T) {
	root := fastDir(t)
	fsys := serve(t, root, nil)
	other := serve(t, root, nil)
	canceled := 0
	for i := range 400 {
		c, cancel := context.WithCancel(ctx)
		var wait sync.WaitGroup
		var writeErr, mkdirErr error
		wait.Go(func() {
			_, writeErr = fsys.Write(c, "a/b/c/f", readerOf("F"), &ambit.WriteOptions{Parents: true})
		})
		wait.Go(func() {
			_, mkdirErr = other.Mkdir(ctx, "a/b", &ambit.MkdirOptions{Parents: true})
		})
		wait.Go(func() {
			time.Sleep(time.Duration(i%40) * 5 * time.Microsecond)
			cancel()
		})
		wait.Wait()
		if writeErr != nil {
			canceled++
		}
		if mkdirErr != nil {
			t.Fatal(mkdirErr)
		}
		if _, err := os.Stat(filepath.Join(root, "a/b")); err != nil {
			t.Fatalf("round %d: Mkdir succeeded, Write: %v, and the folder is gone", i, writeErr)
		}
		if _, err := os.Stat(filepath.Join(root, "a/b/c")); (err == nil) != (writeErr == nil) {
			t.Fatalf("round %d: Write: %v, and the folder it makes: %v", i, writeErr, err)
		}
		must(t, fsys.Remove(ctx, "a", &ambit.RemoveOptions{Recursive: true}))
	}
	if canceled == 0 {
		t.Error("no Write was ever canceled")
	}
}
