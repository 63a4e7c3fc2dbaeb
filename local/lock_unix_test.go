// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// holdLock takes the lock of a folder as another process would.
func holdLock(t *testing.T, dir string) (release func()) {
	t.Helper()
	f, err := os.Open(dir)
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	return func() { f.Close() }
}

// A change waits for the lock of its folder, and no longer than its context
// lets it; then nothing has changed.
func TestWaitingForALock(t *testing.T) {
	w := newWorld(t, "d/\nd/f = F\nf = F\nd/sub/")
	before := w.snapshot(t)
	release := holdLock(t, w.host("d"))
	for name, do := range map[string]func(c context.Context) error{
		"write": func(c context.Context) error { return second(ambit.WriteFile(c, w.fsys, "d/f", nil, nil)) },
		"create": func(c context.Context) error {
			return second(ambit.WriteFile(c, w.fsys, "d/new", nil, &ambit.WriteOptions{If: ambit.IfAbsent()}))
		},
		"create beneath": func(c context.Context) error {
			return second(ambit.WriteFile(c, w.fsys, "d/a/new", nil, &ambit.WriteOptions{Parents: true}))
		},
		"remove":      func(c context.Context) error { return w.fsys.Remove(c, "d/f", nil) },
		"remove all":  func(c context.Context) error { return w.fsys.Remove(c, "d/sub", &ambit.RemoveOptions{Recursive: true}) },
		"rename to":   func(c context.Context) error { return second(w.fsys.Rename(c, "f", "d/new", nil)) },
		"rename from": func(c context.Context) error { return second(w.fsys.Rename(c, "d/f", "new", nil)) },
		"mkdir":       func(c context.Context) error { return second(w.fsys.Mkdir(c, "d/new", nil)) },
	} {
		c, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		start := time.Now()
		err := do(c)
		cancel()
		if ambit.ReasonOf(err) != ambit.ErrTimeout || time.Since(start) > 2*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(start))
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("%s changed %q", name, diff)
		}
	}
	// Reading waits for nobody.
	if text, _ := read(t, w.fsys, "d/f"); text != "F" {
		t.Errorf("read %q", text)
	}
	time.AfterFunc(20*time.Millisecond, release)
	write(t, w.fsys, "d/f", "N", nil)
}

// The lock that counts is that of the folder in which the name is, and not of
// the one that the path led to when the content was staged.
func TestLockOfAnotherFolder(t *testing.T) {
	w := newWorld(t, "d/\nd/f = F")
	s, err := w.fsys.Stage(ctx, "d/f", readerOf("staged"), nil)
	must(t, err)
	must(t, os.Rename(w.host("d"), w.host("e")))
	must(t, os.Mkdir(w.host("d"), 0o777))
	release := holdLock(t, w.host("d"))
	defer release()
	c, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if _, err := s.Publish(c); ambit.ReasonOf(err) != ambit.ErrTimeout {
		t.Errorf("Publish into a locked folder: %v", err)
	}
	if got := names(t, w.fsys, "d"); len(got) != 0 {
		t.Errorf("there is %q", got)
	}
}
