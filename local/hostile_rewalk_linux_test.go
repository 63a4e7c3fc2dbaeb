// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A commit removes a link that the path of a later change goes through: that
// one is made where nobody has judged it.
func TestHostileCommitWalksAgain(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
	must(t, os.Symlink("d", filepath.Join(root, "l")))
	fsys, err := local.New(root, nil)
	must(t, err)
	defer fsys.Close()
	var asked []string
	g := fsys.Guard(func(_ context.Context, op ambit.Op, path string) error {
		asked = append(asked, string(op)+" "+path)
		if op != ambit.OpRemove && ambit.Contains("/l", path) {
			return ambit.ErrDenied
		}
		return nil
	}).(*local.FileSystem)
	r, err := g.Commit(ctx, []ambit.Change{
		{Op: ambit.OpRemove, Path: "/l"},
		{Op: ambit.OpWrite, Path: "/l/new/f", Content: strings.NewReader("x"), Parents: true},
	})
	t.Logf("%+v %v", r, err)
	if _, statErr := os.Lstat(filepath.Join(root, "l", "new", "f")); statErr == nil {
		t.Errorf("written to /l/new/f, of which the guard was asked nothing: %q", asked)
	}
	if err == nil && !has(filepath.Join(root, "d", "new", "f"), "x") {
		t.Error("not written to where the path led before the first change")
	}
}

// The same by a program that swaps the link while a commit is at work: it
// writes into what is read-only.
func TestHostileCommitIntoReadOnly(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "ro"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "open"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "other"), 0o755))
	fsys, err := local.New(root, &local.Options{ReadOnly: []string{"/ro"}, Durability: local.NotDurable})
	must(t, err)
	defer fsys.Close()
	link := filepath.Join(root, "l")
	must(t, os.Symlink("open", link))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink([]string{"open", "ro"}[i%2], link+"~")
			_ = os.Rename(link+"~", link)
			for begun := time.Now(); time.Since(begun) < 50*time.Microsecond; {
			}
		}
	}()
	commits, done := 0, 0
	for begun := time.Now(); time.Since(begun) < time.Second; commits++ {
		os.RemoveAll(filepath.Join(root, "open", "new"))
		_, err := fsys.Commit(ctx, []ambit.Change{
			{Op: ambit.OpWrite, Path: "/other/f", Content: strings.NewReader("x")},
			{Op: ambit.OpWrite, Path: "/l/new/f", Content: strings.NewReader("x"), Parents: true},
		})
		if err == nil {
			done++
		}
		if _, statErr := os.Lstat(filepath.Join(root, "ro", "new")); statErr == nil {
			t.Errorf("commit %d (%d done) has written into what is read-only (%v)", commits, done, err)
			break
		}
	}
	t.Log(commits, done)
	close(stop)
	<-stopped
}
