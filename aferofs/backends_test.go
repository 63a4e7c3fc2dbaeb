// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/ambitfs/ambit/internal/modeltest"
	"github.com/spf13/afero"
)

// A backend is an afero.Fs that the guard is tested over.
type backend struct {
	name  string
	new   func(t testing.TB) afero.Fs
	links ambit.LinkRule
	disk  bool // the operating system's rules show through
	// layered: what base holds cannot be removed or renamed
	layered bool
}

func memoryFs() afero.Fs { return afero.NewMemMapFs() }

// made is a BasePathFs over a folder that it makes.
func made(t testing.TB, fsys afero.Fs, dir string) afero.Fs {
	t.Helper()
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return afero.NewBasePathFs(fsys, dir)
}

func diskFs(t testing.TB) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) }

var backends = []backend{
	{name: "MemMapFs", new: func(testing.TB) afero.Fs { return memoryFs() }, links: ambit.LinksNone},
	{name: "BasePathFs(MemMapFs)", new: func(t testing.TB) afero.Fs { return made(t, memoryFs(), "/in/here") }, links: ambit.LinksNone},
	{name: "BasePathFs(OsFs)", new: diskFs, links: ambit.LinksRefused, disk: true},
	{name: "CopyOnWriteFs(MemMapFs, MemMapFs)", new: func(testing.TB) afero.Fs {
		return afero.NewCopyOnWriteFs(memoryFs(), memoryFs())
	}, links: ambit.LinksNone, layered: true},
	{name: "CopyOnWriteFs(ReadOnlyFs(OsFs), MemMapFs)", new: func(t testing.TB) afero.Fs {
		return afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(diskFs(t)), memoryFs())
	}, links: ambit.LinksRefused, layered: true},
	{name: "CopyOnWriteFs(OsFs, OsFs)", new: func(t testing.TB) afero.Fs {
		return afero.NewCopyOnWriteFs(diskFs(t), diskFs(t))
	}, links: ambit.LinksRefused, layered: true, disk: true},
	{name: "CacheOnReadFs(OsFs, MemMapFs)", new: func(t testing.TB) afero.Fs {
		return afero.NewCacheOnReadFs(diskFs(t), memoryFs(), 0)
	}, links: ambit.LinksUnknown, layered: true, disk: true},
	// One folder of the host's whole tree.
	{name: "OsFs", links: ambit.LinksRefused, disk: true},
}

// fresh returns the guard over a new file system of the kind of b.
func (b backend) fresh(t testing.TB) ambit.WritableFileSystem {
	t.Helper()
	if b.name != "OsFs" {
		return aferofs.New(b.new(t), nil)
	}
	sub, err := aferofs.New(afero.NewOsFs(), nil).Sub(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return sub.(ambit.WritableFileSystem)
}

// each runs f over a new file system on every backend, and over one folder of
// the host's whole tree.
func each(t *testing.T, f func(t *testing.T, b backend, fsys ambit.WritableFileSystem)) {
	t.Helper()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) { f(t, b, b.fresh(t)) })
	}
}

func TestModel(t *testing.T) {
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			for i, seed := range modeltest.Seeds() {
				if b.disk && i%4 != 0 {
					continue // a disk takes its time
				}
				modeltest.Run(t, b.fresh(t), seed)
			}
		})
	}
}
