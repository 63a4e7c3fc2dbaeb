// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// FileSystem serves folders of this disk. It is safe for concurrent use.
type FileSystem struct {
	*machine
	guards []guard
}

// machine is what a file system shares with its guarded views.
type machine struct {
	roots    []*root // the longest path first
	host     bool    // machine paths are paths of the host
	cwd      string
	caps     ambit.Capabilities
	o        Options // the defaults filled in
	denied   []deny
	sighted  atomic.Pointer[sighting]
	readOnly []string // canonical
	// What was there at the time of New.
	readOnlyNodes []*node

	// The journals of commits lie in this folder of the host. A Sub uses that
	// of the file system that it was made from, where New looks.
	journals *journals

	closed atomic.Bool
	swept  sync.Map // the folders whose leftovers this value has looked for, and the leftovers that it keeps
}

var (
	_ ambit.WritableFileSystem = (*FileSystem)(nil)
	_ ambit.Appender           = (*FileSystem)(nil)
	_ ambit.Renamer            = (*FileSystem)(nil)
	_ ambit.DirMaker           = (*FileSystem)(nil)
	_ ambit.Stager             = (*FileSystem)(nil)
	_ ambit.Committer          = (*FileSystem)(nil)
	_ ambit.Linker             = (*FileSystem)(nil)
	_ ambit.Subber             = (*FileSystem)(nil)
	_ ambit.Guarder            = (*FileSystem)(nil)
)

// New returns the folder dir of the host as a machine of its own, with dir as
// its "/". The folder is opened once: when it is moved, its files stay
// reachable. Commits that a killed process has left unfinished in it are
// undone, or finished, first; see [Options].Recovered.
//
// A dir that is missing, not a folder or not accessible is refused with the
// reason, and so are options that cannot be kept. These errors alone may show
// a path of the host: dir, as the caller wrote it.
//
// Close releases what the file system holds.
func New(dir string, o *Options) (*FileSystem, error) {
	return open([]string{dir}, "/", o)
}

// Host returns several folders of the host under their own absolute paths: a
// machine path is a path of the host, and no other part of the host is ever
// shown. The folders above the roots are there, and list only the way to them;
// nothing can be changed in them, and a path that leads elsewhere is
// [ambit.ErrOutside]. A root may lie in another, and may be "/"; what is said
// of it in the options then holds for it alone. A dir that is relative is made
// absolute. There is no Host on Windows ([ambit.ErrUnsupported]), whose paths
// are no machine paths.
//
// Cwd is the first root unless the options say otherwise. Everything else is
// as with [New].
func Host(dirs []string, o *Options) (*FileSystem, error) {
	if runtime.GOOS == "windows" {
		return nil, &ambit.Error{Op: opNew, Reason: ambit.ErrUnsupported, Detail: "a path of Windows is no machine path"}
	}
	if len(dirs) == 0 {
		return nil, &ambit.Error{Op: opNew, Reason: ambit.ErrInvalid, Detail: "no root is given"}
	}
	return open(dirs, "", o)
}

const opNew = "new"

func open(dirs []string, at string, o *Options) (*FileSystem, error) {
	m := &machine{cwd: "/", host: at == ""}
	if o != nil {
		m.o = *o
	}
	if err := m.o.check(); err != nil {
		return nil, ambit.Wrap(opNew, "", err)
	}
	if m.o.Links == ambit.LinksUnknown {
		m.o.Links = ambit.LinksFollowed
	}
	fsys := &FileSystem{machine: m}
	for _, dir := range dirs {
		r, err := openTopOf(dir, at, m.o.portable)
		if err == nil && slices.ContainsFunc(m.roots, func(other *root) bool { return other.at == r.at || other.top.info.same(r.top.info) }) {
			r.top.dir.close()
			err = &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the root is given twice"}
		}
		if err != nil {
			fsys.Close()
			return nil, ambit.Wrap(opNew, dir, err)
		}
		m.roots = append(m.roots, r)
	}
	first := m.roots[0]
	if at == "" {
		m.cwd = first.at
	}
	slices.SortStableFunc(m.roots, func(a, b *root) int { return len(b.at) - len(a.at) })
	if err := m.apply(fsys); err != nil {
		fsys.Close()
		return nil, err
	}
	m.journals = m.newJournals(first)
	runtime.SetFinalizer(m, (*machine).close)
	if err := m.recoverCommits(); err != nil {
		fsys.Close()
		return nil, ambit.Wrap(opNew, dirs[0], err)
	}
	return fsys, nil
}

// apply makes the options hold.
func (m *machine) apply(fsys *FileSystem) error {
	m.caps = m.capabilities()
	ctx := context.Background()
	for _, path := range m.o.ReadOnly {
		// Before anything is denied: what is denied can be read-only too.
		info, err := fsys.Stat(ctx, path)
		if err == nil && !info.IsDir() {
			err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.Kind, Target: info.Path}
		}
		if err != nil {
			return optionError("ReadOnly", path, err)
		}
		m.readOnly = append(m.readOnly, info.Path)
		p, err := m.walk(info.Path, false)
		if err != nil {
			return optionError("ReadOnly", path, err)
		}
		m.readOnlyNodes = append(m.readOnlyNodes, p.info)
		p.close()
	}
	if !slices.ContainsFunc(m.roots, func(r *root) bool { return !m.isReadOnly(r.at) }) {
		m.caps = m.caps.ReadOnly()
	}
	denied, err := m.findDenied(m.o.Deny)
	if err != nil {
		return err
	}
	m.denied = denied
	if m.o.Cwd == "" {
		return nil
	}
	info, err := fsys.Stat(ctx, m.o.Cwd)
	if err == nil && !info.IsDir() {
		err = &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.Kind, Target: info.Path}
	}
	if err != nil {
		return optionError("Cwd", m.o.Cwd, err)
	}
	m.cwd = info.Path
	return nil
}

// optionError is an error of New about the value of an option.
func optionError(option, value string, err error) error {
	e := ambit.Wrap(opNew, value, err).(*ambit.Error)
	e.Detail = strings.TrimSuffix("Options."+option+": "+e.Detail, ": ")
	return e
}

// isReadOnly reports that nothing may be changed at the canonical path.
func (m *machine) isReadOnly(path string) bool {
	for _, top := range m.readOnly {
		if !ambit.Contains(top, path) {
			continue
		}
		// What is said of a root does not hold for one that lies in it.
		inner, _, _ := m.rootOf(path)
		if inner == nil || ambit.Contains(inner.at, top) {
			return true
		}
	}
	return false
}

// holdsReadOnly reports that there is something beneath the canonical path
// that may not be changed.
func (m *machine) holdsReadOnly(path string) bool {
	return slices.ContainsFunc(m.readOnly, func(top string) bool { return ambit.Contains(path, top) })
}

// identityOf names the storage without telling of the host.
func (m *machine) identityOf() string {
	if !hasVersions {
		return ""
	}
	ids := make([]string, len(m.roots))
	for i, r := range m.roots {
		ids[i] = r.top.info.id()
		if len(m.roots) > 1 || r.at != "/" {
			ids[i] += token(r.at)
		}
	}
	slices.Sort(ids)
	return "local:" + strings.Join(ids, "-")
}

// Close makes every later call fail with [ambit.ErrClosed], also those of
// guarded views, and releases the handles of the roots. Files that are open
// stay readable; what is staged can only be discarded. Close again is nil.
func (fsys *FileSystem) Close() error {
	return ambit.Wrap("close", "/", fsys.machine.close())
}

func (m *machine) close() error {
	if m.closed.Swap(true) {
		return nil
	}
	runtime.SetFinalizer(m, nil)
	var first error
	for _, r := range m.roots {
		if err := r.top.dir.close(); err != nil && first == nil {
			first = err
		}
	}
	m.journals.close()
	return first
}

// Capabilities tells what holds on this system; see the package's
// documentation.
func (fsys *FileSystem) Capabilities() ambit.Capabilities { return fsys.caps }

// resolve is what every method begins with.
func (m *machine) resolve(ctx context.Context, path string) (clean string, dir bool, err error) {
	if m.closed.Load() {
		return "", false, ambit.ErrClosed
	}
	if err := ended(ctx); err != nil {
		return "", false, err
	}
	clean, dir, err = ambit.Resolve(m.cwd, path)
	if err != nil {
		return "", false, err
	}
	return clean, dir, checkNames(clean, path)
}

// resolveChange is what every method begins with that changes something.
func (m *machine) resolveChange(ctx context.Context, path string) (clean string, dir bool, err error) {
	if m.closed.Load() {
		return "", false, ambit.ErrClosed
	}
	if !m.caps.Write {
		return "", false, ambit.ErrReadOnly
	}
	if len(m.readOnly) > 0 {
		if clean, _, err := ambit.Resolve(m.cwd, path); err == nil && m.isReadOnly(clean) {
			return "", false, &ambit.Error{Reason: ambit.ErrReadOnly, Target: clean}
		}
	}
	return m.resolve(ctx, path)
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

func (m *machine) tooLarge(size int64) error {
	return &ambit.Error{Reason: ambit.ErrTooLarge, Limit: m.o.MaxFileSize, Size: size, Detail: fmt.Sprintf("more than %d bytes", m.o.MaxFileSize)}
}
