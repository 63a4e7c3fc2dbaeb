// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// Options are the options of [New]; nil means the zero value.
type Options struct {
	Cwd string // machine path of the folder that relative paths start at, resolved through links by New; "" is "/"
}

// FileSystem serves a folder of this disk. It is safe for concurrent use.
type FileSystem struct {
	top   *folder
	hosts [][]string // the names of the root's own paths on the host, longest first
	above []string   // the one of them that holds no link
	cwd   string
	caps  ambit.Capabilities

	closed atomic.Bool
	swept  sync.Map      // identities of the folders whose leftovers this value has looked for
	local  chan struct{} // held instead of a lock on a folder where the system has none
}

var (
	_ ambit.WritableFileSystem = (*FileSystem)(nil)
	_ ambit.Renamer            = (*FileSystem)(nil)
	_ ambit.DirMaker           = (*FileSystem)(nil)
	_ ambit.Stager             = (*FileSystem)(nil)
	_ ambit.Linker             = (*FileSystem)(nil)
	_ ambit.Subber             = (*FileSystem)(nil)
)

// New returns the folder dir of the host as a machine of its own, with dir as
// its "/". The folder is opened once: when it is moved, its files stay
// reachable.
//
// A dir that is missing, not a folder or not accessible is refused with the
// reason, and so is an Options.Cwd that is not a folder beneath it. These
// errors alone may show a path of the host: dir, as the caller wrote it.
//
// Close releases what the file system holds.
func New(dir string, o *Options) (*FileSystem, error) {
	if o == nil {
		o = &Options{}
	}
	fsys, err := open(dir)
	if err != nil {
		return nil, ambit.Wrap(opNew, dir, err)
	}
	if o.Cwd != "" {
		info, err := fsys.Stat(context.Background(), o.Cwd)
		if err == nil && !info.IsDir() {
			err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.Kind, Target: info.Path}
		}
		if err != nil {
			fsys.Close()
			return nil, ambit.Wrap(opNew, o.Cwd, err)
		}
		fsys.cwd = info.Path
	}
	return fsys, nil
}

const opNew = "new"

func open(dir string) (*FileSystem, error) {
	given, err := filepath.Abs(dir)
	if err != nil || dir == "" {
		return nil, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the root is not a path"}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		// A path that is not a folder is an error without errno.
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: ambit.KindOf(info.Mode())}
		}
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	fsys := &FileSystem{
		top:   &folder{dir: root, root: root, path: "/", info: info, top: true},
		cwd:   "/",
		local: make(chan struct{}, 1),
	}
	// A name of the root counts only if it leads to the folder that was opened.
	resolved, err := filepath.EvalSymlinks(given)
	if err == nil && !leadsTo(resolved, info) {
		err = &ambit.Error{Reason: ambit.ErrChanged, Detail: "the root was moved while it was opened"}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	fsys.above = hostNames(resolved)
	fsys.hosts = append(fsys.hosts, fsys.above)
	if leadsTo(given, info) {
		fsys.hosts = append(fsys.hosts, hostNames(given))
	}
	slices.SortFunc(fsys.hosts, func(a, b []string) int { return len(b) - len(a) })
	fsys.caps = capabilities(root, info)
	return fsys, nil
}

func leadsTo(path string, want os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, want)
}

// hostNames splits a path of the host into its names; a volume is one of them.
func hostNames(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool {
		return name == "" || name == "."
	})
}

// Close makes every later call fail with [ambit.ErrClosed] and releases the
// handle of the root. Files that are open stay readable; what is staged can
// only be discarded. Close again is nil.
func (fsys *FileSystem) Close() error {
	if fsys.closed.Swap(true) {
		return nil
	}
	return ambit.Wrap("close", "/", fsys.top.dir.Close())
}

// Capabilities tells what holds on this system; see the package's
// documentation.
func (fsys *FileSystem) Capabilities() ambit.Capabilities { return fsys.caps }

// resolve is what every method begins with.
func (fsys *FileSystem) resolve(ctx context.Context, path string) (clean string, dir bool, err error) {
	if fsys.closed.Load() {
		return "", false, ambit.ErrClosed
	}
	if err := ended(ctx); err != nil {
		return "", false, err
	}
	clean, dir, err = ambit.Resolve(fsys.cwd, path)
	if err != nil {
		return "", false, err
	}
	return clean, dir, checkNames(clean, path)
}

// ended returns the error of a context that is done.
func ended(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	e := &ambit.Error{Reason: ambit.ReasonOf(err), Err: err}
	if cause := context.Cause(ctx); cause != err {
		e.Err = errors.Join(err, cause)
	}
	return e
}
