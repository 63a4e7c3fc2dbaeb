// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
)

// mapOf returns what package fstest makes of tree. What lies beside the root
// has no place there.
func mapOf(tree conformance.Tree) fstest.MapFS {
	m := fstest.MapFS{}
	for _, n := range tree {
		if n.Beside() {
			continue
		}
		f := &fstest.MapFile{Data: []byte(n.Data), Mode: n.Mode, ModTime: bridgedTime}
		switch n.Kind {
		case ambit.KindDirectory:
			f.Mode |= fs.ModeDir | 0o755
		case ambit.KindSymlink:
			f.Mode |= fs.ModeSymlink | 0o777
			f.Data = []byte(n.Target)
		default:
			if n.Mode == 0 {
				f.Mode = 0o644
			}
		}
		m[n.Path] = f
	}
	return m
}

// disturbMap makes the change c in m.
func disturbMap(m fstest.MapFS, c conformance.Change) error {
	name := strings.TrimPrefix(c.Path, "/")
	for other := range m {
		if strings.HasPrefix(other, name+"/") {
			delete(m, other)
		}
	}
	switch c.Kind {
	case conformance.DisturbReplace, conformance.DisturbRewrite:
		m[name] = &fstest.MapFile{Data: []byte(c.Data), Mode: 0o644, ModTime: time.Now()}
	case conformance.DisturbLink:
		m[name] = &fstest.MapFile{Data: []byte(c.Target), Mode: fs.ModeSymlink | 0o777, ModTime: time.Now()}
	case conformance.DisturbFIFO:
		m[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe | 0o644, ModTime: time.Now()}
	case conformance.DisturbRemove:
		delete(m, name)
	default:
		return ambit.ErrUnsupported
	}
	return nil
}

// servedFrom is what FromIOFS made, with the storage beneath it at hand.
type servedFrom struct {
	ambit.FileSystem
	ambit.Linker
	storage any
}

func serve(fsys fs.FS, storage any) ambit.FileSystem {
	from := ambit.FromIOFS(fsys)
	return servedFrom{from, from.(ambit.Linker), storage}
}

// mapTarget serves a map of package fstest through open.
func mapTarget(name string, open func(m fstest.MapFS) fs.FS) conformance.Target {
	return conformance.Target{
		Name: name,
		New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			m := mapOf(tree)
			return serve(open(m), m), nil, nil
		},
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			return disturbMap(fsys.(servedFrom).storage.(fstest.MapFS), c)
		},
	}
}

// diskTarget serves a folder of this disk through open.
func diskTarget(name string, open func(root string) (fsys fs.FS, closeFS func() error, err error)) conformance.Target {
	return conformance.Target{
		Name: name,
		New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			top, err := os.MkdirTemp("", "ambit-fromiofs-")
			if err != nil {
				return nil, nil, err
			}
			root := filepath.Join(top, "root")
			if err = os.Mkdir(root, 0o777); err == nil {
				err = tree.LayOut(root)
			}
			var fsys fs.FS
			var closeFS func() error
			if err == nil {
				fsys, closeFS, err = open(root)
			}
			if err != nil {
				return nil, nil, errors.Join(err, os.RemoveAll(top))
			}
			return serve(fsys, root), func() error { return errors.Join(closeFS(), os.RemoveAll(top)) }, nil
		},
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			return conformance.DisturbFolder(fsys.(servedFrom).storage.(string), c)
		},
	}
}

func TestFromIOFSConforms(t *testing.T) {
	targets := []conformance.Target{
		mapTarget("MapFS", func(m fstest.MapFS) fs.FS { return m }),
		mapTarget("MapFS without its methods", func(m fstest.MapFS) fs.FS { return onlyFS{m} }),
		{
			Name: "zip",
			New: func(_ context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
				return ambit.FromIOFS(zipped(t, mapOf(tree))), nil, nil
			},
			// A zip file that is open does not change.
			Disturb: func(context.Context, ambit.FileSystem, conformance.Change) error { return ambit.ErrUnsupported },
		},
	}
	if runtime.GOOS != "windows" {
		targets = append(
			targets,
			diskTarget("os.DirFS", func(root string) (fs.FS, func() error, error) {
				return os.DirFS(root), func() error { return nil }, nil
			}),
			diskTarget("os.Root", func(dir string) (fs.FS, func() error, error) {
				root, err := os.OpenRoot(dir)
				if err != nil {
					return nil, nil, err
				}
				return root.FS(), root.Close, nil
			}),
		)
	}
	for _, target := range targets {
		t.Run(target.Name, func(t *testing.T) { conformance.Test(t, target, nil) })
	}
}

// An embed.FS holds what it was built with, so the suite cannot lay out trees
// in it; what it holds is checked, and so are the others.
func TestFromIOFSConformsAsItStands(t *testing.T) {
	for _, b := range everyBridged(t) {
		fixture := conformance.ReadFixture{
			ExistingFile: "file", Bytes: []byte("alpha\nbeta\n"), MissingPath: "folder/gone", DirectoryPath: "folder", RefusedPath: "../file", ListDirectory: "folder",
		}
		if b.holds["outward"] != nil {
			fixture.RefusedPath = "outward"
		}
		for name, fsys := range map[string]ambit.FileSystem{
			b.name:                     ambit.FromIOFS(b.fsys),
			b.name + " there and back": ambit.FromIOFS(ambit.IOFS(t.Context(), ambit.FromIOFS(b.fsys))),
		} {
			f := fixture
			if name != b.name && !b.caps.ReadLink {
				f.RefusedPath = "../file" // the first bridge hides the link
			}
			report := conformance.CheckFileSystem(t.Context(), fsys, f)
			if report.Err() != nil || report.Count(conformance.Pass) < 10 {
				t.Errorf("%s: %v", name, report)
			}
		}
	}
}
