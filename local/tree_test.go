// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A world is a root with a neighbour that nothing may show or touch.
type world struct {
	root    string // folder that is served
	outside string // folder beside it, with the file "secret"
	fsys    *local.FileSystem
}

const (
	secretName = "secret-name"
	secretText = "SECRET-BYTES"
)

// newWorld makes a root out of lines of text:
//
//	name/            a folder
//	name = text      a file
//	name -> text     a link; $ROOT, $OUT, $BASE and $OUTBASE stand for the two folders and their names
//	name |           a FIFO
//	name !           a socket
func newWorld(t testing.TB, tree string) *world {
	t.Helper()
	return newWorldIn(t, t.TempDir(), tree)
}

func newWorldIn(t testing.TB, base, tree string) *world {
	t.Helper()
	w := &world{root: filepath.Join(base, "root"), outside: filepath.Join(base, "beside")}
	must(t, os.MkdirAll(filepath.Join(w.outside, "folder"), 0o777))
	must(t, os.WriteFile(filepath.Join(w.outside, secretName), []byte(secretText), 0o666))
	must(t, os.WriteFile(filepath.Join(w.outside, "folder", secretName), []byte(secretText), 0o666))
	must(t, os.Mkdir(w.root, 0o777))
	for line := range strings.Lines(tree) {
		if line = strings.TrimSpace(line); line != "" {
			w.add(t, line)
		}
	}
	w.fsys = serve(t, w.root, nil)
	return w
}

func (w *world) add(t testing.TB, line string) {
	t.Helper()
	if name, text, ok := strings.Cut(line, " -> "); ok {
		text = strings.NewReplacer("$ROOT", w.root, "$OUTBASE", filepath.Base(w.outside), "$OUT", w.outside, "$BASE", filepath.Base(w.root)).Replace(text)
		must(t, os.Symlink(text, w.host(name)))
	} else if name, text, ok := strings.Cut(line, " ="); ok {
		must(t, os.WriteFile(w.host(name), []byte(strings.TrimPrefix(text, " ")), 0o666))
	} else if name, ok := strings.CutSuffix(line, "/"); ok {
		must(t, os.MkdirAll(w.host(name), 0o777))
	} else if name, ok := strings.CutSuffix(line, " |"); ok {
		makeFIFO(t, w.host(name))
	} else if name, ok := strings.CutSuffix(line, " !"); ok {
		makeSocket(t, w.host(name))
	} else {
		t.Fatalf("no such line: %q", line)
	}
}

func (w *world) host(name string) string { return filepath.Join(w.root, name) }

func serve(t testing.TB, dir string, o *local.Options) *local.FileSystem {
	t.Helper()
	fsys, err := local.New(dir, o)
	must(t, err)
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot lists everything beneath the root and its neighbour, the temporary
// names included, one line each, in the form of newWorld with the mode.
func (w *world) snapshot(t testing.TB) []string {
	t.Helper()
	var lines []string
	for _, top := range []string{w.root, w.outside} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == top {
				return err
			}
			rel, _ := filepath.Rel(filepath.Dir(top), path)
			rel = strings.TrimPrefix(filepath.ToSlash(rel), filepath.Base(w.root)+"/")
			info, err := d.Info()
			if err != nil {
				return err
			}
			mode := fmt.Sprintf(" (%o)", info.Mode().Perm())
			switch info.Mode().Type() {
			case 0:
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				lines = append(lines, rel+" = "+string(data)+mode)
			case fs.ModeDir:
				lines = append(lines, rel+"/"+mode)
			case fs.ModeSymlink:
				text, err := os.Readlink(path)
				if err != nil {
					return err
				}
				lines = append(lines, rel+" -> "+text)
			default:
				lines = append(lines, rel+" "+info.Mode().Type().String())
			}
			return nil
		})
		must(t, err)
	}
	return lines
}

// difference lists what is gone from before and what has come to after.
func difference(before, after []string) []string {
	in := make(map[string]int)
	for _, line := range before {
		in[line]++
	}
	var diff []string
	for _, line := range after {
		if in[line] > 0 {
			in[line]--
			continue
		}
		diff = append(diff, "+"+line)
	}
	for _, line := range before {
		if in[line] > 0 {
			in[line]--
			diff = append(diff, "-"+line)
		}
	}
	return diff
}

// sketch writes an error down: its reason, and the facts that the contract
// wants for it.
func sketch(err error) string {
	if err == nil {
		return "ok"
	}
	var e *ambit.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("NOT AN *ambit.Error: %v", err)
	}
	s := string(e.Reason)
	switch e.Reason {
	case ambit.ErrNotFound:
		s += " T=" + e.Target
		if len(e.MissingDirs) > 0 {
			s += " M=" + strings.Join(e.MissingDirs, ",")
		}
	case ambit.ErrNotAFile:
		s += fmt.Sprintf(" %v T=%s", e.Kind, e.Target)
	case ambit.ErrExists:
		s += " " + e.Kind.String()
	case ambit.ErrDenied:
		s += " " + e.Rule
	}
	return s
}

// clean fails when an error shows anything of the host, or does not carry what
// every error does.
func (w *world) clean(t testing.TB, err error, op string, paths ...string) {
	t.Helper()
	if err == nil {
		return
	}
	var e *ambit.Error
	if !errors.As(err, &e) {
		t.Errorf("%v is no *ambit.Error", err)
		return
	}
	if e.Op != op {
		t.Errorf("the error's Op is %q, want %q", e.Op, op)
	}
	found := false
	for _, p := range paths {
		found = found || e.Path == p
	}
	if !found {
		t.Errorf("the error's Path is %q, want one of %q", e.Path, paths)
	}
	for link := err; link != nil; link = errors.Unwrap(link) {
		text := fmt.Sprintf("%v %+v", link, link)
		var full *ambit.Error
		if errors.As(link, &full) {
			text += fmt.Sprintf(" %q %q %q %q", full.Target, full.MissingDirs, full.Detail, full.Rule)
		}
		if strings.Contains(text, filepath.Dir(w.root)) || strings.Contains(text, secretName) && !contains(paths, secretName) || strings.Contains(text, secretText) {
			t.Errorf("the error shows the host: %s", text)
		}
	}
}

func contains(paths []string, text string) bool {
	for _, p := range paths {
		if strings.Contains(p, text) {
			return true
		}
	}
	return false
}

var ctx = context.Background()

func write(t testing.TB, fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) ambit.WriteResult {
	t.Helper()
	r, err := ambit.WriteFile(ctx, fsys, path, []byte(text), o)
	must(t, err)
	return r
}

func read(t testing.TB, fsys ambit.FileSystem, path string) (string, ambit.FileInfo) {
	t.Helper()
	data, info, err := ambit.ReadFile(ctx, fsys, path)
	must(t, err)
	return string(data), info
}

func names(t testing.TB, fsys ambit.FileSystem, dir string) []string {
	t.Helper()
	l, err := fsys.List(ctx, dir, nil)
	must(t, err)
	names := make([]string, 0, len(l.Entries))
	for _, e := range l.Entries {
		names = append(names, e.Name)
	}
	return names
}

// leftovers fails when a temporary name is left in a folder of the host.
func leftovers(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".ambit.tmp.") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	must(t, err)
}
