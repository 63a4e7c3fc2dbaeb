// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

func TestIOFSOverMemory(t *testing.T) {
	fsys := memory.New(map[string]string{
		"file": "alpha\nbeta\n", "empty": "", "folder/inner": "inner", "folder/deep/leaf": "leaf", "hollow/": "", ".dot": "dot",
		"new\nline": "n", "*[?]": "g", `back\slash`: "b", "stray\xff": "s", "stray\xfe/x": "x", "folder/\\": "b",
	}, nil)
	bridge := ambit.IOFS(t.Context(), fsys)
	if err := fstest.TestFS(bridge, "file", "empty", "folder/inner", "folder/deep/leaf", "hollow", ".dot", "new\nline", "*[?]"); err != nil {
		t.Error(err)
	}
	if got := walked(t, bridge); !slices.Equal(got, []string{"*[?]", ".dot", "empty", "file", "folder", "folder/deep", "folder/deep/leaf", "folder/inner", "hollow", "new\nline"}) {
		t.Errorf("a walk found %q", got)
	}
	// The control: all of it is there.
	for _, name := range []string{`back\slash`, "stray\xff", "stray\xfe/x", "folder/\\"} {
		if _, _, err := ambit.ReadFile(t.Context(), fsys, name); err != nil {
			t.Errorf("the file system itself: %v", err)
		}
	}
	if err := fstest.TestFS(ambit.IOFS(t.Context(), memory.New(nil, nil))); err != nil {
		t.Error(err)
	}
}

func TestIOFSOverLocal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("most of these names are no names there")
	}
	top := t.TempDir()
	dir := filepath.Join(top, "root")
	for name, data := range map[string]string{
		"file": "alpha\nbeta\n", "empty": "", "folder/inner": "inner", "folder/deep/leaf": strings.Repeat("leaf\n", 30000), ".dot": "dot", "new\nline": "n", `back\slash`: "b", "folder/end\\": "b", "../beside": "secret",
	} {
		writeOnDisk(t, filepath.Join(dir, name), data)
	}
	for name, text := range map[string]string{
		"link-file": "file", "link-folder": "folder", "folder/up": "../file", "link-link": "link-folder/up", "absolute": filepath.Join(dir, "folder/inner"), "folder/deep/absolute": filepath.Join(dir, "folder"),
		"dangling": "none", "outward": "../beside", "outward-absolute": filepath.Join(top, "beside"), "host": "/etc", "loop": "loop", "folder/self": ".",
	} {
		linkOnDisk(t, text, filepath.Join(dir, name))
	}
	shown := []string{"file", "empty", "folder/inner", "folder/deep/leaf", ".dot", "new\nline", "link-file", "link-folder", "folder/up", "link-link", "absolute", "folder/deep/absolute", "folder/self"}
	// The control, while there is no FIFO that would hold it up for ever.
	if err := fstest.TestFS(os.DirFS(dir), shown...); err == nil {
		t.Error("TestFS finds no fault with an os.DirFS of this tree")
	}
	for _, name := range []string{"fifo", "folder/fifo"} {
		if err := makeFIFO(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	linkOnDisk(t, "fifo", filepath.Join(dir, "link-fifo"))
	stray := "stray\xff"
	if err := os.WriteFile(filepath.Join(dir, stray), []byte("s"), 0o666); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}

	fsys, err := local.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	bridge := ambit.IOFS(t.Context(), fsys)
	if err := fstest.TestFS(bridge, shown...); err != nil {
		t.Error(err)
	}
	want := slices.Concat(shown, []string{"folder", "folder/deep"})
	slices.Sort(want)
	if got := walked(t, bridge); !slices.Equal(got, want) {
		t.Errorf("a walk found %q\nwant %q", got, want)
	}
	if text, err := fs.ReadLink(bridge, "folder/deep/absolute"); text != ".." || err != nil {
		t.Errorf("an absolute link: %q, %v", text, err)
	}
	if data, err := fs.ReadFile(bridge, "absolute"); string(data) != "inner" || err != nil {
		t.Errorf("through an absolute link: %q, %v", data, err)
	}
	for name, reason := range map[string]ambit.Reason{
		"outward": ambit.ErrOutside, "outward-absolute": ambit.ErrOutside, "host": ambit.ErrOutside, "loop": ambit.ErrLoop, "dangling": ambit.ErrNotFound, "fifo": ambit.ErrNotAFile,
		`back\slash`: ambit.ErrInvalidPath, stray: ambit.ErrInvalidPath, "link-fifo": ambit.ErrNotAFile,
	} {
		if _, err := bridge.Open(name); ambit.ReasonOf(err) != reason {
			t.Errorf("Open(%q): %v, want %s", name, err, reason)
		}
	}
	folder, err := fs.Sub(bridge, "link-folder")
	if err != nil {
		t.Fatal(err)
	}
	inFolder := []string{"inner", "deep/leaf", "deep/absolute", "self", "up"}
	if err := fstest.TestFS(folder, inFolder...); err != nil {
		t.Error(err)
	}
	// Behind both bridges it is what the first one shows.
	if err := fstest.TestFS(ambit.IOFS(t.Context(), ambit.FromIOFS(bridge)), shown...); err != nil {
		t.Error(err)
	}

	r := httptest.NewRequest(http.MethodGet, "/folder/deep/leaf", nil)
	r.Header.Set("Range", "bytes=100003-100011")
	w := httptest.NewRecorder()
	http.FileServerFS(bridge).ServeHTTP(w, r)
	if w.Code != http.StatusPartialContent || w.Body.String() != "f\nleaf\nle" {
		t.Errorf("a range: %d %q", w.Code, w.Body)
	}
}

// walked returns the names that a walk finds, sorted.
func walked(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		if name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	slices.Sort(names)
	return names
}
