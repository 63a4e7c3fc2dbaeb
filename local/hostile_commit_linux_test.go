// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// Commits in different folders on one value: -race tells, and without it the
// journal of one would be closed under another after a while.
func TestHostileConcurrentCommits(t *testing.T) {
	root := t.TempDir()
	fsys, err := local.New(root, &local.Options{Durability: local.NotDurable})
	must(t, err)
	defer fsys.Close()
	const workers = 8
	for w := range workers {
		must(t, os.Mkdir(filepath.Join(root, fmt.Sprint(w)), 0o755))
	}
	var wg sync.WaitGroup
	var stand sync.Map // what was reported as made, by worker
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 300 {
				_, err := fsys.Commit(ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: fmt.Sprintf("/%d/new%d", w, i), Content: strings.NewReader("a")},
					{Op: ambit.OpWrite, Path: fmt.Sprintf("/%d/b", w), Content: strings.NewReader(fmt.Sprint(i))},
				})
				if err != nil {
					t.Errorf("commit %d: %v", i, err)
					if ambit.ReasonOf(err) == ambit.ErrNotDurable {
						stand.Store(w, i)
					}
					return
				}
			}
		}()
	}
	wg.Wait()
	if _, err := fsys.Commit(ctx, []ambit.Change{
		{Op: ambit.OpWrite, Path: "/0/a", Content: strings.NewReader("a")},
		{Op: ambit.OpWrite, Path: "/0/b", Content: strings.NewReader("b")},
	}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	again, err := local.New(root, nil)
	must(t, err)
	defer again.Close()
	stand.Range(func(w, i any) bool {
		dir := filepath.Join(root, fmt.Sprint(w))
		_, err := os.Stat(filepath.Join(dir, fmt.Sprint("new", i)))
		if b := bytesOf(t, filepath.Join(dir, "b")); (err == nil) != (b == fmt.Sprint(i)) {
			t.Errorf("commit %v of worker %v is torn by the next New: new%v is there: %v, b is %q", i, w, i, err == nil, b)
		}
		return true
	})
}

// Close during a Commit: what it reports is what the next New finds.
func TestHostileCloseDuringCommit(t *testing.T) {
	reported := make(map[string]int)
	for range 300 {
		root, err := os.MkdirTemp(t.TempDir(), "")
		must(t, err)
		put(t, filepath.Join(root, "d", "old"), "old")
		fsys, err := local.New(root, nil)
		must(t, err)
		done := make(chan error)
		go func() {
			_, err := fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "/d/new", Content: strings.NewReader("new")},
				{Op: ambit.OpWrite, Path: "/d/old", Content: strings.NewReader("new")},
			})
			done <- err
		}()
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		fsys.Close()
		err = <-done
		before := breakTree(root)
		again, errNew := local.New(root, nil)
		must(t, errNew)
		again.Close()
		_, statErr := os.Stat(filepath.Join(root, "d", "new"))
		created, replaced := statErr == nil, bytesOf(t, filepath.Join(root, "d", "old")) == "new"
		what := fmt.Sprintf("%v: created %v, replaced %v", err, created, replaced)
		if reported[what]++; reported[what] > 1 {
			continue
		}
		t.Log(what)
		stands := err == nil || ambit.ReasonOf(err) == ambit.ErrNotDurable
		if created != replaced || stands != created {
			t.Errorf("Commit: %s, after the next New; before it:\n%s", what, before)
		}
	}
	t.Log(reported)
}
