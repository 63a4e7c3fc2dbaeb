// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// target serves folders beneath dir to the conformance suite.
func target(dir string, o *local.Options) conformance.Target {
	return conformance.FolderTarget("local", dir, func(root string) (ambit.FileSystem, error) {
		return local.New(root, o)
	})
}

// hostTarget serves folders beneath dir as one of three roots of a host, under
// the paths of a machine of their own.
func hostTarget(dir string, o *local.Options) conformance.Target {
	return conformance.FolderTarget("local host", dir, func(root string) (ambit.FileSystem, error) {
		before, after := root+"-before", filepath.Join(filepath.Dir(root), "z", "after")
		if err := errors.Join(os.MkdirAll(before, 0o777), os.MkdirAll(after, 0o777)); err != nil {
			return nil, err
		}
		fsys, err := local.Host([]string{root, before, after}, o)
		if err != nil {
			return nil, err
		}
		return mapped{ambit.MapPaths(fsys, ambit.PathMap{
			In: func(path string) (string, error) {
				clean, dir, err := ambit.Resolve("/", path)
				if err != nil {
					return "", err
				}
				if clean = strings.TrimSuffix(root+clean, "/"); dir {
					clean += "/"
				}
				return clean, nil
			},
			Out: func(canonical string) (string, bool) {
				if canonical == root {
					return "/", true
				}
				return strings.CutPrefix(canonical, root)
			},
		}).(fileSystem), fsys}, nil
	})
}

// fileSystem is all that local.FileSystem is.
type fileSystem interface {
	ambit.WritableFileSystem
	ambit.Appender
	ambit.Renamer
	ambit.DirMaker
	ambit.Stager
	ambit.Committer
	ambit.Linker
	ambit.Subber
	ambit.Guarder
	ambit.Searcher
}

// mapped lets the suite release what is beneath.
type mapped struct {
	fileSystem
	io.Closer
}

func TestConformance(t *testing.T) {
	conform(t, target(fastDir(t), nil))
}

// The other ways to serve a folder differ at some levels; the rest of them
// waits for a test that is not short.
func conformShort(t *testing.T, target conformance.Target, levels ...conformance.Level) {
	t.Helper()
	if !testing.Short() {
		levels = nil
	}
	conform(t, target, levels...)
}

// On os.Root, as on systems without openat2, the same holds.
func TestConformancePortable(t *testing.T) {
	conformShort(t, target(fastDir(t), local.Portable(nil)), conformance.LevelWrite, conformance.LevelText, conformance.LevelConcurrent)
}

func TestConformanceOfHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no Host on Windows")
	}
	conformShort(t, hostTarget(fastDir(t), nil), conformance.LevelHostile)
}

func TestConformanceRefusingLinks(t *testing.T) {
	conformShort(t, target(fastDir(t), &local.Options{Links: ambit.LinksRefused}), conformance.LevelHostile)
}

// Neither what is denied elsewhere nor what waits for no disk changes an answer.
func TestConformanceWithOptions(t *testing.T) {
	conformShort(t, target(fastDir(t), &local.Options{
		Deny:        []string{"/never/there"},
		Durability:  local.NotDurable,
		HardLinks:   local.HardLinksBroken,
		MaxFileSize: 256 << 20,
	}), conformance.LevelWrite)
}

func conform(t *testing.T, target conformance.Target, levels ...conformance.Level) {
	t.Helper()
	report := conformance.Test(t, target, &conformance.Options{Levels: levels})
	for _, r := range report.Results {
		if r.Outcome != conformance.Pass && r.Outcome != conformance.Refused {
			t.Errorf("%s: %v", r.ID, r.Outcome)
		}
	}
}
