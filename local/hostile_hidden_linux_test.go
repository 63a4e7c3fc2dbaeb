// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// What lies beneath a hidden name is reached by a path of three names and
// more.
func TestHostileBeneathAHiddenName(t *testing.T) {
	for _, form := range []string{".ambit.tmp.", ".ambit.commit.", ".ambit.swap."} {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprint(form, portable), func(t *testing.T) {
				root := t.TempDir()
				hidden := form + digits
				put(t, filepath.Join(root, hidden, "a", "f"), "removed")
				put(t, filepath.Join(root, hidden, "g"), "removed")
				var o *local.Options
				if portable {
					o = local.Portable(nil)
				}
				fsys, err := local.New(root, o)
				if err != nil {
					t.Fatal(err)
				}
				defer fsys.Close()
				ctx := context.Background()
				for _, path := range []string{"/a/f", "/a", "/g", ""} {
					path = "/" + hidden + path
					if info, err := fsys.Stat(ctx, path); ambit.ReasonOf(err) != ambit.ErrNotFound {
						t.Errorf("Stat %s: %v %v", path, info.Kind, err)
					}
					if info, err := fsys.Lstat(ctx, path); ambit.ReasonOf(err) != ambit.ErrNotFound {
						t.Errorf("Lstat %s: %v %v", path, info.Kind, err)
					}
					if b, _, err := ambit.ReadFile(ctx, fsys, path); ambit.ReasonOf(err) != ambit.ErrNotFound {
						t.Errorf("Open %s: %q %v", path, b, err)
					}
					if l, err := fsys.List(ctx, path, nil); ambit.ReasonOf(err) != ambit.ErrNotFound {
						t.Errorf("List %s: %v %v", path, l, err)
					}
				}
				if _, err := fsys.Write(ctx, "/"+hidden+"/a/new", strings.NewReader("x"), nil); err == nil {
					t.Error("Write beneath a hidden name succeeds")
				}
				if s, err := fsys.Sub(ctx, "/"+hidden+"/a"); err == nil {
					t.Error("Sub beneath a hidden name succeeds")
					s.(*local.FileSystem).Close()
				}
			})
		}
	}
}

// A program moves what is denied to a hidden name: the next write deletes it.
func TestHostileSweepDeletesWhatIsDenied(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "secret", "key"), "KEY")
	put(t, filepath.Join(root, "env"), "ENV")
	fsys, err := local.New(root, &local.Options{Deny: []string{"/secret", "/env"}})
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	folder, file := filepath.Join(root, ".ambit.tmp."+digits), filepath.Join(root, ".ambit.tmp."+strings.Repeat("1", 32))
	if err := os.Rename(filepath.Join(root, "secret"), folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "env"), file); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := fsys.List(ctx, "/", nil); err != nil {
		t.Fatal(err)
	}
	if !has(file, "ENV") {
		t.Error("a listing has deleted a file that is denied by its identity")
	}
	if _, err := fsys.Write(ctx, "/new", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	if !has(filepath.Join(folder, "key"), "KEY") {
		t.Error("a write has deleted a folder that is denied by its identity")
	}
}

// In a folder with the sticky bit nobody can replace the file of another.
func TestHostileSwapNamePlantedInAStickyFolder(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(root, "config")
	put(t, victim, "trusted")
	onAThreadOfNobody(t, func() {
		hidden := filepath.Join(root, fmt.Sprintf(".ambit.swap.%016x%016x.config", inodeOf(t, victim), 0))
		put(t, hidden, "forged")
		if err := os.Rename(hidden, victim); err == nil {
			t.Fatal("the attacker can do so anyway")
		}
	}, root)
	fsys, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.List(context.Background(), "/", nil); err != nil {
		t.Fatal(err)
	}
	if !has(victim, "trusted") {
		b, _ := os.ReadFile(victim)
		t.Errorf("a listing has replaced a file by that of somebody who could not: %q", b)
	}
}

// One who may write into a folder can rename a folder of somebody else in it,
// but not delete what is in there.
func TestHostileSweepDeletesTheTreeOfAnother(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "mine", "data"), "data")
	if err := os.Chmod(filepath.Join(root, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	hidden := filepath.Join(root, ".ambit.tmp."+digits)
	onAThreadOfNobody(t, func() {
		if err := os.RemoveAll(filepath.Join(root, "mine")); err == nil {
			t.Fatal("the attacker can do so anyway")
		}
		if err := os.Rename(filepath.Join(root, "mine"), hidden); err != nil {
			t.Fatal(err)
		}
	}, root)
	fsys, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.Write(context.Background(), "/new", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	if !has(filepath.Join(hidden, "data"), "data") {
		t.Error("a write has deleted a tree for somebody who could not")
	}
}

// A name that is not there and denied is made by a listing.
func TestHostileSwapNameMakesWhatIsDenied(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, ".ambit.swap."+strings.Repeat("0", 32)+".env"), "FORGED=1")
	fsys, err := local.New(root, &local.Options{Deny: []string{"/env"}})
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if _, err := fsys.List(context.Background(), "/", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, "env")); err == nil {
		t.Error("a listing has made a name that is denied")
	}
}

// The journal of another user, who is alive, in a folder for all.
func TestHostileJournalOfAnotherUser(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	name := plant(t, root, ".ambit.journal.", nil, nil)
	if err := os.Chmod(name, 0o600); err != nil { // as a commit makes it
		t.Fatal(err)
	}
	onAThreadOfNobody(t, func() {
		fsys, err := local.New(root, nil)
		if err != nil {
			t.Errorf("New: %v", err)
			return
		}
		fsys.Close()
	}, root)
}
