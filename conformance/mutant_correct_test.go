// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/route"
	"github.com/spf13/afero"
)

// inside is the folder that the targets of Sub have their tree in.
const inside = "inside"

// beneath returns tree moved into the folder inside; what was beside the root
// is beside that folder then.
func beneath(tree conformance.Tree) conformance.Tree {
	moved := conformance.Tree{{Path: inside, Kind: ambit.KindDirectory}}
	for _, n := range tree {
		if n.Beside() {
			n.Path = n.Path[len("../"):]
		} else {
			n.Path = inside + "/" + n.Path
		}
		moved = append(moved, n)
	}
	return moved
}

// TestCorrect proves that the suite raises no false alarm: every correct
// backend and wrapper passes every check, and none needs a waiver.
func TestCorrect(t *testing.T) {
	readOnly := func(s storage) ambit.FileSystem { return ambit.ReadOnly(s.fsys) }
	chdir := func(s storage) ambit.FileSystem {
		fsys, err := ambit.Chdir(t.Context(), s.fsys, "/")
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	}
	guarded := func(s storage) ambit.FileSystem {
		return s.fsys.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return nil })
	}
	// sub is a Sub of on, by its own method or by the prefix.
	sub := func(on *ground, prefix bool) *ground {
		return &ground{name: on.name, build: func(t *testing.T, tree conformance.Tree) (storage, error) {
			s, err := on.build(t, beneath(tree))
			if err != nil {
				return storage{}, err
			}
			if prefix {
				keep := s.fsys.Capabilities()
				keep.Sub, keep.Guard = false, false
				s.fsys = ambit.Forward{Base: s.fsys, Keep: keep}
			}
			fsys, err := ambit.Sub(t.Context(), s.fsys, inside)
			return storage{fsys: fsys, close: s.close}, err
		}}
	}
	options := &conformance.Options{Deadline: patience}
	if testing.Short() {
		t.Log("in short mode, which is for the race detector, only the checks with many callers at once")
		options.Levels = []conformance.Level{conformance.LevelConcurrent}
	}
	overAfero := &ground{name: "aferofs", build: func(_ *testing.T, tree conformance.Tree) (storage, error) { return aferoStorage(tree) }}
	for _, c := range []struct {
		name   string
		on     *ground
		change func(s storage) ambit.FileSystem
	}{
		{"memory", inMemory, unchanged},
		{"memory with a limit", limited, unchanged},
		{"afero in memory", overAfero, unchanged},
		{"local", onDisk, unchanged},

		{"a faultless mutant of memory", inMemory, faultless},

		{"ReadOnly of memory", inMemory, readOnly},
		{"ReadOnly of local", onDisk, readOnly},
		{"Chdir of memory", inMemory, chdir},
		{"Chdir of memory to a folder", inFolder, unchanged},
		{"local that starts in a folder", onDiskInFolder, unchanged},
		{"Guard of memory", inMemory, guarded},
		{"Sub of memory", sub(inMemory, false), unchanged},
		{"Sub of memory by its prefix", sub(inMemory, true), unchanged},
		{"Forward of memory", inMemory, func(s storage) ambit.FileSystem {
			keep := s.fsys.Capabilities()
			keep.Sub, keep.Guard = false, false
			return ambit.Forward{Base: s.fsys, Keep: keep}
		}},
		{"Forward of memory that keeps little", inMemory, func(s storage) ambit.FileSystem {
			return ambit.Forward{Base: s.fsys, Keep: ambit.Capabilities{Write: true, Remove: true}}
		}},

		{"route of memory", inMemory, func(s storage) ambit.FileSystem { return routed(t, s.fsys, nil) }},
		{"Sub of a route at a mount", &ground{name: "route", build: func(t *testing.T, tree conformance.Tree) (storage, error) {
			s, err := inMemory.build(t, tree)
			if err != nil {
				return storage{}, err
			}
			fsys, err := ambit.Sub(t.Context(), routed(t, memory.New(nil, nil), map[string]ambit.FileSystem{"/" + inside: s.fsys}), inside)
			return storage{fsys: fsys}, err
		}}, unchanged},

		{"FromIOFS of a map", fromIOFS("fstest.MapFS", func(_ *testing.T, tree conformance.Tree) (fs.FS, error) { return mapOf(tree), nil }), unchanged},
		{"FromIOFS of a zip file", fromIOFS("zip.Reader", func(_ *testing.T, tree conformance.Tree) (fs.FS, error) { return zipOf(tree) }), unchanged},
		{"FromIOFS of os.DirFS", fromIOFS("os.DirFS", func(t *testing.T, tree conformance.Tree) (fs.FS, error) {
			dir, err := diskFolder(t)
			if err != nil {
				return nil, err
			}
			return os.DirFS(dir), layOut(tree, dir)
		}), unchanged},
		{"FromIOFS of an os.Root", fromIOFS("os.Root", func(t *testing.T, tree conformance.Tree) (fs.FS, error) {
			dir, err := diskFolder(t)
			if err != nil {
				return nil, err
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { root.Close() })
			return root.FS(), layOut(tree, dir)
		}), unchanged},
		{"FromIOFS of IOFS of memory", fromIOFS("ambit.IOFS", func(t *testing.T, tree conformance.Tree) (fs.FS, error) {
			s, err := inMemory.build(t, tree)
			return ambit.IOFS(t.Context(), s.fsys), err
		}), unchanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := *options
			if c.on == onDiskInFolder && len(options.Levels) == 0 {
				// The rest has nothing new to see there, and is slow on a disk.
				options.Levels = []conformance.Level{conformance.LevelCore, conformance.LevelWrite}
			}
			report := conformance.Run(t.Context(), c.on.target(t, c.change), &options)
			for _, p := range report.Problems {
				t.Errorf("problem of the run: %s", p)
			}
			for _, res := range report.Results {
				if res.Outcome == conformance.Fail {
					t.Errorf("false alarm: %s: %s\n%s", res.ID, res.Rule, res.Detail)
				}
			}
			if report.Count(conformance.Pass) == 0 {
				t.Error("no check passed")
			}
			t.Logf("%d passed, %d refused, %d not run", report.Count(conformance.Pass), report.Count(conformance.Refused), report.Count(conformance.NotRun))
		})
	}
}

// routed returns the machine of a fallback and mounts.
func routed(t *testing.T, fallback ambit.FileSystem, at map[string]ambit.FileSystem) ambit.FileSystem {
	fsys, err := route.New(fallback, at)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func aferoStorage(tree conformance.Tree) (storage, error) {
	inner := afero.NewMemMapFs()
	for _, n := range tree {
		if n.Beside() {
			continue
		}
		path := "/" + n.Path
		if n.Kind == ambit.KindDirectory {
			if err := inner.MkdirAll(path, 0o755); err != nil {
				return storage{}, err
			}
			continue
		}
		if err := inner.MkdirAll(ambit.Dir(path), 0o755); err != nil {
			return storage{}, err
		}
		mode := n.Mode
		if mode == 0 {
			mode = 0o644
		}
		if err := afero.WriteFile(inner, path, []byte(n.Data), mode); err != nil {
			return storage{}, err
		}
	}
	return storage{fsys: aferofs.New(inner, nil)}, nil
}

// fromIOFS is a ground of what package io/fs can hold of a tree: all of it but
// what is beside its root, and links where the fs.FS has none.
func fromIOFS(name string, of func(t *testing.T, tree conformance.Tree) (fs.FS, error)) *ground {
	return &ground{name: name, build: func(t *testing.T, tree conformance.Tree) (storage, error) {
		fsys, err := of(t, tree)
		if err != nil {
			return storage{}, err
		}
		return storage{fsys: ambit.FromIOFS(fsys)}, nil
	}}
}

func mapOf(tree conformance.Tree) fstest.MapFS {
	m := fstest.MapFS{}
	for _, n := range tree {
		switch {
		case n.Beside():
		case n.Kind == ambit.KindDirectory:
			m[n.Path] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		case n.Kind == ambit.KindRegular:
			m[n.Path] = &fstest.MapFile{Data: []byte(n.Data), Mode: 0o644}
		case n.Kind == ambit.KindSymlink:
			m[n.Path] = &fstest.MapFile{Data: []byte(n.Target), Mode: fs.ModeSymlink | 0o777}
		}
	}
	return m
}

func zipOf(tree conformance.Tree) (fs.FS, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for path, data := range tree.Files() {
		f, err := w.Create(path)
		if err == nil && data != "" {
			_, err = f.Write([]byte(data))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// layOut makes what of tree is within the root.
func layOut(tree conformance.Tree, dir string) error {
	var within conformance.Tree
	for _, n := range tree {
		if !n.Beside() {
			within = append(within, n)
		}
	}
	return within.LayOut(dir)
}
