// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package aferofs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// disks are the ways to a folder of the disk that may hold links.
var disks = map[string]func(root string) afero.Fs{
	"BasePathFs": func(root string) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), root) },
	"CopyOnWriteFs": func(root string) afero.Fs {
		return afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(afero.NewBasePathFs(afero.NewOsFs(), root)), afero.NewMemMapFs())
	},
	"CopyOnWriteFs, layer": func(root string) afero.Fs {
		return afero.NewCopyOnWriteFs(afero.NewMemMapFs(), afero.NewBasePathFs(afero.NewOsFs(), root))
	},
	"ReadOnlyFs": func(root string) afero.Fs {
		return afero.NewReadOnlyFs(afero.NewBasePathFs(afero.NewOsFs(), root))
	},
}

// linked makes a root with links of every kind, and a secret beside it.
func linked(t *testing.T) (root string) {
	t.Helper()
	outside := t.TempDir()
	root = filepath.Join(outside, "root")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "folder"), 0o755),
		os.WriteFile(filepath.Join(outside, "secret"), []byte("SECRET"), 0o644),
		os.WriteFile(filepath.Join(root, "file"), []byte("F"), 0o644),
		os.WriteFile(filepath.Join(root, "folder/inner"), []byte("I"), 0o644),
		os.Symlink("file", filepath.Join(root, "to-file")),
		os.Symlink("folder", filepath.Join(root, "to-folder")),
		os.Symlink("nowhere", filepath.Join(root, "dangling")),
		os.Symlink("../secret", filepath.Join(root, "outward")),
		os.Symlink("..", filepath.Join(root, "up")),
		os.Symlink("loop", filepath.Join(root, "loop")),
		syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var everyLink = []string{"/to-file", "/to-folder", "/dangling", "/outward", "/up", "/loop"}

// No link is followed, wherever it leads and whether or not anything is there.
func TestLinksAreRefused(t *testing.T) {
	for name, open := range disks {
		t.Run(name, func(t *testing.T) {
			root := linked(t)
			fsys := aferofs.New(open(root), nil)
			ctx := t.Context()
			if c := fsys.Capabilities(); c.Links != ambit.LinksRefused {
				t.Fatalf("links are claimed %v", c.Links)
			}
			refused := func(what string, err error) {
				t.Helper()
				e, ok := err.(*ambit.Error)
				if !ok || e.Reason != ambit.ErrDenied || e.Rule != "links" {
					t.Errorf("%s: %v, want denied by the rule links", what, err)
				}
			}
			for _, link := range everyLink {
				for _, path := range []string{link, link + "/", link + "/secret", link + "/inner", link + "/no/where"} {
					_, err := fsys.Open(ctx, path)
					refused("open "+path, err)
					_, err = fsys.Stat(ctx, path)
					refused("stat "+path, err)
					_, err = fsys.List(ctx, path, nil)
					refused("list "+path, err)
					_, err = fsys.Sub(ctx, path)
					refused("sub "+path, err)
					if !fsys.Capabilities().Write {
						continue
					}
					_, err = fsys.Write(ctx, path, strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
					refused("write "+path, err)
					_, err = fsys.Append(ctx, path, strings.NewReader("x"), nil)
					refused("append "+path, err)
					_, err = fsys.Stage(ctx, path, strings.NewReader("x"), nil)
					refused("stage "+path, err)
					_, err = fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("x")}})
					refused("commit "+path, err)
					if path == link || path == link+"/" {
						continue
					}
					refused("remove "+path, fsys.Remove(ctx, path, recursive))
					_, err = fsys.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: true})
					refused("mkdir "+path, err)
					_, err = fsys.Rename(ctx, path, "/x", nil)
					refused("rename "+path, err)
					_, err = fsys.Rename(ctx, "/file", path, &ambit.RenameOptions{Parents: true})
					refused("rename to "+path, err)
				}
			}
			l, err := fsys.List(ctx, "/", &ambit.ListOptions{Details: true})
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]ambit.Kind{}
			for _, e := range l.Entries {
				kinds["/"+e.Name] = e.Info.Kind
			}
			for _, link := range everyLink {
				if kinds[link] != ambit.KindSymlink {
					t.Errorf("%s is listed as %v", link, kinds[link])
				}
			}
			if kinds["/pipe"] != ambit.KindFIFO || kinds["/file"] != ambit.KindRegular || kinds["/folder"] != ambit.KindDirectory {
				t.Errorf("listed %v", kinds)
			}
			if secret, err := os.ReadFile(filepath.Join(root, "../secret")); string(secret) != "SECRET" || err != nil {
				t.Errorf("the secret is %q, %v", secret, err)
			}
		})
	}
}

// The control: what the guard refuses, the bare file system follows.
func TestLinksControl(t *testing.T) {
	for name, open := range disks {
		bare := open(linked(t))
		if data, err := afero.ReadFile(bare, "/outward"); string(data) != "SECRET" {
			t.Errorf("%s alone reads %q, %v", name, data, err)
		}
	}
}

// The link itself is a name like any other.
func TestLinksThemselves(t *testing.T) {
	root := linked(t)
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	ctx := t.Context()
	for _, link := range everyLink {
		if _, err := fsys.Write(ctx, link, strings.NewReader("x"), &ambit.WriteOptions{If: ambit.IfAbsent()}); told(err) != "exists" {
			t.Errorf("create over %s: %v", link, err)
		}
		if _, err := fsys.Mkdir(ctx, link, &ambit.MkdirOptions{Parents: true}); told(err) != "exists" {
			t.Errorf("mkdir of %s: %v", link, err)
		}
		if err := fsys.Remove(ctx, link+"/", recursive); told(err) != "not-a-directory" {
			t.Errorf("remove of %s/: %v", link, err)
		}
		if _, err := fsys.Rename(ctx, "/file", link, nil); told(err) != "exists" {
			t.Errorf("rename over %s: %v", link, err)
		}
		before, err := os.Readlink(root + link)
		if err != nil {
			t.Fatal(err)
		}
		info, err := fsys.Rename(ctx, link, "/moved", nil)
		if err != nil || info.Kind != ambit.KindSymlink || info.Version != "" {
			t.Errorf("rename of %s: %+v, %v", link, info, err)
		}
		if after, err := os.Readlink(root + "/moved"); after != before || err != nil {
			t.Errorf("%s was moved and leads to %q, %v", link, after, err)
		}
		if err := fsys.Remove(ctx, "/moved", nil); err != nil {
			t.Errorf("remove of %s: %v", link, err)
		}
	}
	if _, err := fsys.Rename(ctx, "/file", "/pipe", &ambit.RenameOptions{Replace: true}); err != nil {
		t.Errorf("rename over a FIFO: %v", err)
	}
	if got := contents(t, fsys); got != "/folder/ /folder/inner=I /pipe=F" {
		t.Errorf("it holds %s", got)
	}
}

// A link in a folder that is removed is removed, not what it leads to; a
// commit can remove one too, and puts it back.
func TestLinksInFolders(t *testing.T) {
	root := linked(t)
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	ctx := t.Context()
	if err := os.Symlink("../..", filepath.Join(root, "folder/out")); err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove(ctx, "/folder", recursive); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "../secret")); err != nil {
		t.Error("the removal went through a link")
	}
	_, err := fsys.Commit(ctx, []ambit.Change{
		{Op: ambit.OpRemove, Path: "/outward"},
		{Op: ambit.OpWrite, Path: "/none/x", Content: strings.NewReader("x")},
	})
	if told(err) != "not-found" {
		t.Errorf("commit: %v", err)
	}
	if _, err := os.Readlink(root + "/outward"); err != nil {
		t.Errorf("a commit that failed has removed a link: %v", err)
	}
	r, err := fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: "/outward"}})
	if err != nil || r[0].Info.Kind != ambit.KindSymlink {
		t.Errorf("commit: %+v, %v", r, err)
	}
	if _, err := os.Readlink(root + "/outward"); err == nil {
		t.Error("the link is still there")
	}
}

// Nothing waits for the other end of a FIFO.
func TestFIFO(t *testing.T) {
	root := linked(t)
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	done := make(chan error)
	go func() {
		_, err := fsys.Open(t.Context(), "/pipe")
		done <- err
		_, err = fsys.Write(t.Context(), "/pipe", strings.NewReader("x"), nil)
		done <- err
		_, err = fsys.Append(t.Context(), "/pipe", strings.NewReader("x"), nil)
		done <- err
	}()
	for range 3 {
		select {
		case err := <-done:
			if told(err) != "not-a-file" {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it waits")
		}
	}
}

// Two names of one file are one file: a move of one over the other leaves one.
func TestHardLinks(t *testing.T) {
	root := t.TempDir()
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	fill(t, fsys, map[string]string{"/a": "A"})
	if err := os.Link(root+"/a", root+"/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Rename(t.Context(), "/a", "/b", &ambit.RenameOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, fsys); got != "/b=A" {
		t.Errorf("it holds %s", got)
	}
}

// What the system does not let its user do is permission.
func TestPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		// The bits alone, which the guard judges itself: nothing is refused
		// to this user.
		root := t.TempDir()
		fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
		fill(t, fsys, map[string]string{"/a": "A"})
		for _, mode := range []os.FileMode{0o444, 0o000} {
			if err := os.Chmod(root+"/a", mode); err != nil {
				t.Fatal(err)
			}
			if _, err := fsys.Write(t.Context(), "/a", strings.NewReader("x"), nil); told(err) != "permission" {
				t.Errorf("writing a file of mode %v: %v", mode, err)
			}
		}
		return
	}
	root := t.TempDir()
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), root), nil)
	fill(t, fsys, map[string]string{"/locked/f": "F"})
	if err := os.Chmod(root+"/locked", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(root+"/locked", 0o755)
	if _, err := fsys.Open(t.Context(), "/locked/f"); told(err) != "permission" {
		t.Errorf("opening in a locked folder: %v", err)
	}
	if _, err := fsys.Write(t.Context(), "/locked/g", strings.NewReader("x"), nil); told(err) != "permission" {
		t.Errorf("writing in a locked folder: %v", err)
	}
}
