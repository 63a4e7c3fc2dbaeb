// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

// A FIFO that is swapped in for a file or a folder between look and open makes
// no call wait for its other end. The control, look and then open, must.
func TestSwappedFIFODoesNotBlock(t *testing.T) {
	const limit = 2 * time.Second
	w := newWorldIn(t, fastDir(t), `
		f = F
		d/
		d/inner = I
		plain = F
		fifo |
	`)
	stop := make(chan struct{})
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// The names never miss for long, and each is a FIFO half of the time.
			for _, step := range [][2]string{{"f", "f-parked"}, {"fifo", "f"}, {"f", "fifo"}, {"f-parked", "f"}, {"d", "d-parked"}, {"fifo", "d"}, {"d", "fifo"}, {"d-parked", "d"}} {
				if err := os.Rename(w.host(step[0]), w.host(step[1])); err != nil {
					t.Error(err)
				}
			}
		}
	}()

	// The control runs until it hangs.
	var since atomic.Int64
	controlDone := make(chan struct{})
	go func() {
		defer close(controlDone)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(w.host("f")); err != nil || !info.Mode().IsRegular() {
				continue
			}
			since.Store(time.Now().UnixNano())
			if f, err := os.Open(w.host("f")); err == nil {
				f.Close()
			}
			since.Store(0)
		}
	}()

	done := make(chan map[string]int)
	go func() {
		counts := map[string]int{}
		for start := time.Now(); time.Since(start) < limit; {
			for _, path := range []string{"f", "d/inner"} {
				f, err := w.fsys.Open(ctx, path)
				if err == nil {
					f.Close()
				}
				counts["open "+path+" "+string(ambit.ReasonOf(err))]++
			}
			_, err := w.fsys.List(ctx, "d", nil)
			counts["list d "+string(ambit.ReasonOf(err))]++
			_, err = ambit.WriteFile(ctx, w.fsys, "d/inner", []byte("I"), nil)
			counts["write d/inner "+string(ambit.ReasonOf(err))]++
		}
		done <- counts
	}()
	select {
	case counts := <-done:
		for _, want := range []string{"open f ", "open f not-a-file", "open d/inner ", "open d/inner not-a-directory", "list d ", "list d not-a-directory", "write d/inner "} {
			if counts[want] == 0 {
				t.Errorf("never met: %q in %v", want, counts)
			}
		}
		for what := range counts {
			switch ambit.Reason(what[lastSpace(what)+1:]) {
			case "", ambit.ErrNotAFile, ambit.ErrNotADirectory, ambit.ErrNotFound, ambit.ErrChanged:
			default:
				t.Errorf("an answer that nothing explains: %s", what)
			}
		}
		t.Log(counts)
	case <-time.After(limit + 20*time.Second):
		t.Fatal("a call hangs")
	}

	// Let the control hang, and then let it go.
	hung := func() bool {
		at := since.Load()
		return at != 0 && time.Since(time.Unix(0, at)) > 200*time.Millisecond
	}
	for start := time.Now(); !hung() && time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
	}
	if !hung() {
		t.Error("the control has never hung: the test proves nothing")
	}
	close(stop)
	<-swapped
	for {
		select {
		case <-controlDone:
			return
		case <-time.After(time.Millisecond):
			for _, name := range []string{"fifo", "f", "d"} {
				if fd, err := syscall.Open(w.host(name), syscall.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
					syscall.Close(fd)
				}
			}
		}
	}
}

func lastSpace(s string) int {
	i := len(s) - 1
	for i >= 0 && s[i] != ' ' {
		i--
	}
	return i
}

func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	w := newWorld(t, `
		run.sh = old
		conf = old
		odd = old
	`)
	must(t, os.Chmod(w.host("run.sh"), 0o755))
	must(t, os.Chmod(w.host("conf"), 0o640))
	must(t, os.Chmod(w.host("odd"), 0o601|os.ModeSetuid))
	mode := func(name string) os.FileMode {
		info, err := os.Stat(w.host(name))
		must(t, err)
		return info.Mode()
	}
	expect := func(name string, want os.FileMode) {
		t.Helper()
		if got := mode(name); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	write(t, w.fsys, "run.sh", "new", nil)
	write(t, w.fsys, "conf", "new", nil)
	write(t, w.fsys, "odd", "new", nil)
	if r := write(t, w.fsys, "new", "new", nil); r.Info.Mode != 0o644 {
		t.Errorf("a new file is shown with mode %v", r.Info.Mode)
	}
	write(t, w.fsys, "created", "new", &ambit.WriteOptions{If: ambit.IfAbsent()})
	write(t, w.fsys, "exact", "new", &ambit.WriteOptions{Mode: 0o777})
	expect("run.sh", 0o755)
	expect("conf", 0o640)
	expect("odd", 0o601) // set-uid does not survive other bytes
	expect("new", 0o644)
	expect("created", 0o644)
	expect("exact", 0o777)
	write(t, w.fsys, "exact", "new", &ambit.WriteOptions{Mode: 0o606})
	expect("exact", 0o606)
	write(t, w.fsys, "exact", "newer", nil)
	expect("exact", 0o606)
	if _, err := ambit.WriteFile(ctx, w.fsys, "exact", nil, &ambit.WriteOptions{Mode: 0o10755}); ambit.ReasonOf(err) != ambit.ErrInvalid {
		t.Errorf("Mode 010755: %v", err)
	}
	if _, err := ambit.WriteFile(ctx, w.fsys, "exact", nil, &ambit.WriteOptions{Mode: os.ModeSetuid | 0o755}); ambit.ReasonOf(err) != ambit.ErrInvalid {
		t.Errorf("Mode with set-uid: %v", err)
	}
	syscall.Umask(0o077)
	write(t, w.fsys, "narrow", "new", nil)
	expect("narrow", 0o600)
	made, err := w.fsys.Mkdir(ctx, "a/b", &ambit.MkdirOptions{Parents: true})
	if err != nil || len(made) != 2 {
		t.Errorf("Mkdir: %q, %v", made, err)
	}
	expect("a/b", os.ModeDir|0o700)
	syscall.Umask(0o022)

	// What changes between staging and publishing decides.
	stage := func(path string) ambit.Staged {
		s, err := ambit.Stage(ctx, w.fsys, path, readerOf("staged"), nil)
		must(t, err)
		return s
	}
	over, fresh := stage("conf"), stage("fresh")
	must(t, os.Chmod(w.host("conf"), 0o751))
	must(t, os.WriteFile(w.host("fresh"), nil, 0o600))
	for _, s := range []ambit.Staged{over, fresh} {
		if _, err := s.Publish(ctx); err != nil {
			t.Error(err)
		}
	}
	expect("conf", 0o751)
	expect("fresh", 0o600)
	gone := stage("conf")
	must(t, os.Remove(w.host("conf")))
	if _, err := gone.Publish(ctx); err != nil {
		t.Error(err)
	}
	expect("conf", 0o644)

	// A file that nobody may write is not replaced, not even by root, whom the
	// system lets write everything.
	must(t, os.Chmod(w.host("conf"), 0o444))
	_, info := read(t, w.fsys, "conf")
	for _, o := range []*ambit.WriteOptions{nil, {If: ambit.IfVersion(info.Version)}, {Mode: 0o666}} {
		if _, err := ambit.WriteFile(ctx, w.fsys, "conf", []byte("X"), o); ambit.ReasonOf(err) != ambit.ErrPermission {
			t.Errorf("a read-only file: %v", err)
		}
	}
	if text, _ := read(t, w.fsys, "conf"); text != "staged" {
		t.Errorf("the read-only file has %q", text)
	}
	leftovers(t, w.root)
}
