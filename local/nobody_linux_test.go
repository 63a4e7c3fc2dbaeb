// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

const nobody = 65534

// asNobody runs this test once more, in a process of a user to whom permission
// bits mean something, and reports whether this is that process. prepare is
// called before, as root, with the folder that the process will get.
func asNobody(t *testing.T, prepare func(dir string)) (dir string, here bool) {
	t.Helper()
	if dir := os.Getenv(dirVariable); dir != "" {
		return dir, true
	}
	if os.Geteuid() != 0 {
		// Whoever is not root is such a user already, as far as the fixture
		// needs no other owner.
		t.Skip("only root can start a process of another user")
	}
	// The binary lies where only its owner may search, and so does what
	// TempDir returns.
	private := t.TempDir()
	must(t, os.Chmod(filepath.Dir(private), 0o755))
	dir = fastDir(t)
	must(t, os.Chown(dir, nobody, nobody))
	prepare(dir)
	binary := filepath.Join(private, "test")
	in, err := os.Open(testBinary(t))
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(binary, os.O_WRONLY|os.O_CREATE, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, errors.Join(err, out.Close()))
	command := exec.CommandContext(t.Context(), binary, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=300s")
	command.Env = append(os.Environ(), dirVariable+"="+dir, "TMPDIR="+dir)
	command.Dir = dir
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("as user %d: %v\n%s", nobody, err, output)
	}
	return dir, false
}

func TestPermissions(t *testing.T) {
	file := func(dir, name, text string, mode os.FileMode, owner int) {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.Chown(filepath.Dir(path), owner, owner))
		must(t, os.WriteFile(path, []byte(text), 0o666))
		must(t, os.Chown(path, owner, owner))
		must(t, os.Chmod(path, mode))
	}
	folderMode := func(dir, name string, mode os.FileMode) { must(t, os.Chmod(filepath.Join(dir, name), mode)) }
	dir, here := asNobody(t, func(dir string) {
		file(dir, "open/unreadable", "X", 0, nobody)
		file(dir, "open/readonly", "X", 0o444, nobody)
		file(dir, "open/writeonly", "X", 0o222, nobody)
		file(dir, "shut/f", "X", 0o666, nobody)
		file(dir, "names/f", "X", 0o666, nobody)
		file(dir, "fixed/f", "X", 0o666, nobody)
		file(dir, "fixed/sub/f", "X", 0o666, nobody)
		file(dir, "open/roots", "X", 0o644, nobody)
		must(t, os.Chown(filepath.Join(dir, "open/roots"), 0, 0))
		file(dir, "open/shared", "X", 0o666, nobody)
		must(t, os.Chown(filepath.Join(dir, "open/shared"), 0, 0))
		must(t, os.Mkdir(filepath.Join(dir, "roots"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "roots/f"), []byte("X"), 0o666))
		folderMode(dir, "shut", 0)
		folderMode(dir, "names", 0o444)
		folderMode(dir, "fixed", 0o555)
	})
	if !here {
		return
	}
	fsys := serve(t, dir, nil)
	write := func(path string, o *ambit.WriteOptions) error {
		_, err := fsys.Write(ctx, path, strings.NewReader("N"), o)
		return err
	}
	open := func(path string) error {
		f, err := fsys.Open(ctx, path)
		if err == nil {
			f.Close()
		}
		return err
	}
	stat := func(path string) error { _, err := fsys.Stat(ctx, path); return err }
	list := func(path string) error { _, err := fsys.List(ctx, path, nil); return err }
	rename := func(from, to string) error { _, err := fsys.Rename(ctx, from, to, nil); return err }
	mkdir := func(path string) error { _, err := fsys.Mkdir(ctx, path, nil); return err }
	remove := func(path string) error { return fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}) }
	seen := func(path string) string {
		info, err := fsys.Stat(ctx, path)
		must(t, err)
		return string(info.Version)
	}
	for _, c := range []struct {
		name string
		err  error
		want ambit.Reason
	}{
		{"open an unreadable file", open("open/unreadable"), ambit.ErrPermission},
		{"stat an unreadable file", stat("open/unreadable"), ""},
		{"write a file without write permission", write("open/readonly", nil), ambit.ErrPermission},
		{"write it with its version", write("open/readonly", &ambit.WriteOptions{If: ambit.IfVersion(ambit.Version(seen("open/readonly")))}), ambit.ErrPermission},
		{"write it with another version", write("open/readonly", &ambit.WriteOptions{If: ambit.IfVersion("another")}), ambit.ErrPermission},
		{"create over it", write("open/readonly", &ambit.WriteOptions{If: ambit.IfAbsent()}), ambit.ErrExists},
		{"write a file that another user alone may write", write("open/roots", nil), ambit.ErrPermission},
		{"write a file of another user that all may write", write("open/shared", nil), ""},
		{"write a file that cannot be read", write("open/writeonly", nil), ""},
		{"stat in a folder that may not be searched", stat("shut/f"), ambit.ErrPermission},
		{"stat what is not there in it", stat("shut/nothing"), ambit.ErrPermission},
		{"open in it", open("shut/f"), ambit.ErrPermission},
		{"write in it", write("shut/f", nil), ambit.ErrPermission},
		{"write a new file in it", write("shut/new", &ambit.WriteOptions{Parents: true}), ambit.ErrPermission},
		{"list it", list("shut"), ambit.ErrPermission},
		{"stat it", stat("shut"), ""},
		{"stat in a folder whose names alone may be read", stat("names/f"), ambit.ErrPermission},
		{"list it", list("names"), ""},
		{"write in a folder that may not be changed", write("fixed/f", nil), ambit.ErrPermission},
		{"create in it", write("fixed/new", nil), ambit.ErrPermission},
		{"create beneath it", write("fixed/a/b/new", &ambit.WriteOptions{Parents: true}), ambit.ErrPermission},
		{"remove from it", remove("fixed/f"), ambit.ErrPermission},
		{"remove a folder from it", remove("fixed/sub"), ambit.ErrPermission},
		{"rename out of it", rename("fixed/f", "open/f"), ambit.ErrPermission},
		{"rename into it", rename("open/shared", "fixed/x"), ambit.ErrPermission},
		{"make a folder in it", mkdir("fixed/x"), ambit.ErrPermission},
		{"write in a folder of root", write("roots/f", nil), ambit.ErrPermission},
	} {
		if got := ambit.ReasonOf(c.err); got != c.want {
			t.Errorf("%s: %v, want %s", c.name, c.err, c.want)
		}
		if c.err != nil && strings.Contains(c.err.Error(), dir) {
			t.Errorf("%s shows the host: %v", c.name, c.err)
		}
	}
	l, err := fsys.List(ctx, "names", &ambit.ListOptions{Details: true})
	must(t, err)
	if got := fmt.Sprintf("%s %v", l.Entries[0].Name, l.Entries[0].Info.Kind); len(l.Entries) != 1 || got != "f file" {
		t.Errorf("the names of a folder that may not be searched: %v", l.Entries)
	}
	if info, err := os.Stat(filepath.Join(dir, "open/shared")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the replaced file has %v, %v", info.Mode(), err)
	}
	for _, folder := range []string{"open", "fixed", "roots"} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		must(t, err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".ambit.tmp.") {
				t.Errorf("%s is left in %s", e.Name(), folder)
			}
		}
	}
	if _, err := local.New(filepath.Join(dir, "shut"), nil); ambit.ReasonOf(err) != ambit.ErrPermission {
		t.Errorf("New on a folder that may not be opened: %v", err)
	}
	if got := names(t, fsys, "open"); !slices.Equal(got, []string{"readonly", "roots", "shared", "unreadable", "writeonly"}) {
		t.Errorf("the folder that may be changed has %q", got)
	}
	if got := names(t, fsys, "fixed"); !slices.Equal(got, []string{"f", "sub"}) {
		t.Errorf("the folder that may not be changed has %q", got)
	}
}

// A tree that its owner cannot empty as it is leaves its name all the same.
func TestRemoveReadOnlyFolders(t *testing.T) {
	dir, here := asNobody(t, func(dir string) {
		deep := filepath.Join(dir, "tree/a/b")
		must(t, os.MkdirAll(deep, 0o755))
		must(t, os.WriteFile(filepath.Join(deep, "f"), nil, 0o444))
		for _, sub := range []string{"tree/a/b", "tree/a", "tree"} {
			must(t, os.Chown(filepath.Join(dir, sub), nobody, nobody))
			must(t, os.Chmod(filepath.Join(dir, sub), 0o555))
		}
	})
	if !here {
		return
	}
	fsys := serve(t, dir, nil)
	must(t, fsys.Remove(ctx, "tree", &ambit.RemoveOptions{Recursive: true}))
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if e.Name() == "tree" || strings.HasPrefix(e.Name(), ".ambit.tmp.") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	w := newWorld(t, "f = old")
	must(t, os.Chown(w.host("f"), nobody, nobody))
	must(t, os.Chmod(w.host("f"), 0o640))
	write(t, w.fsys, "f", "new", nil)
	info, err := os.Stat(w.host("f"))
	must(t, err)
	st := info.Sys().(*syscall.Stat_t)
	if st.Uid != nobody || st.Gid != nobody || info.Mode().Perm() != 0o640 {
		t.Errorf("the replaced file belongs to %d:%d, mode %v", st.Uid, st.Gid, info.Mode())
	}
}

// Permission bits mean nothing to root, so the suite is run as somebody else
// too.
func TestConformanceAsNobody(t *testing.T) {
	dir, here := asNobody(t, func(string) {})
	if here {
		conform(t, target(dir, nil))
	}
}
