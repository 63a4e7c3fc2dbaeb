// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ambitfs/ambit"
)

const (
	maxLinks = 40
	// maxTries bounds how often a step starts again because somebody else
	// moved something away under it: each time needs a change of theirs within
	// microseconds.
	maxTries = 100
)

// folder is an open folder. It is for one goroutine at a time.
type folder struct {
	dir  *os.Root
	root *os.Root    // of the file system
	path string      // canonical, when it was opened
	info fs.FileInfo // of dir itself
	top  bool        // the root of the file system, which Close alone closes
	more int         // owners beyond the first
}

func (d *folder) retain() *folder {
	if !d.top {
		d.more++
	}
	return d
}

func (d *folder) close() {
	if d.top {
		return
	}
	if d.more--; d.more < 0 {
		d.dir.Close()
	}
}

func (d *folder) same(e *folder) bool { return os.SameFile(d.info, e.info) }

// lstat describes what has the name in d, nil for nothing. The library's own
// temporary names are nothing.
func (d *folder) lstat(name string) (fs.FileInfo, error) {
	if isTemporary(name) {
		return nil, nil
	}
	info, err := d.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// enter opens the folder name of d, which info describes. ok is false when
// something else has the name by now.
func (d *folder) enter(name string, info fs.FileInfo) (sub *folder, ok bool, err error) {
	// The step to "." makes the one to name open a folder and nothing else,
	// where an open could wait for the other end of a FIFO.
	dir, err := d.dir.OpenRoot(name + "/.")
	if err != nil {
		if swapped(err) {
			return nil, false, nil
		}
		return nil, false, err
	}
	now, err := dir.Stat(".")
	if err != nil || !os.SameFile(now, info) {
		dir.Close()
		return nil, false, err
	}
	return &folder{dir: dir, root: d.root, path: ambit.Join(d.path, name), info: now}, true, nil
}

// swapped reports that err can come of something having been moved between
// two steps, so that looking again gives a true answer.
func swapped(err error) bool {
	var judged *ambit.Error
	if err == nil || errors.As(err, &judged) || errors.Is(err, fs.ErrClosed) {
		return false
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return true // a link that leads out has no errno in package os
	}
	switch ambit.ReasonOf(err) {
	case ambit.ErrNotFound, ambit.ErrNotADirectory, ambit.ErrNotAFile, ambit.ErrLoop, ambit.ErrExists, ambit.ErrNotEmpty, ambit.ErrInvalid:
		return true
	}
	return false
}

// unlessSwapped returns err if looking again would not help.
func unlessSwapped(err error) error {
	if swapped(err) {
		return nil
	}
	return err
}

func restless() error {
	return &ambit.Error{Reason: ambit.ErrChanged, Detail: "the path never kept still"}
}

// place is where a path leads: a name in an open folder, and what has it.
type place struct {
	parent   *folder     // the deepest folder that exists
	name     string      // in parent; "" is parent itself, the root
	info     fs.FileInfo // nil: nothing has the name
	beyond   []string    // the names that would come after a missing one
	early    bool        // the missing name is not the path's last step
	dangling bool        // the missing name stands in the text of a link
}

func (p *place) close() { p.parent.close() }

func (p *place) isRoot() bool { return p.name == "" }

// path returns the canonical path, for a missing one that which it would have.
func (p *place) path() string {
	path := p.parent.path
	if p.name != "" {
		path = ambit.Join(path, p.name)
	}
	for _, name := range p.beyond {
		path = ambit.Join(path, name)
	}
	return path
}

// dirs returns the missing folders above a missing name.
func (p *place) dirs() []string {
	dirs := make([]string, 0, len(p.beyond))
	path := ambit.Join(p.parent.path, p.name)
	for _, name := range p.beyond {
		dirs = append(dirs, path)
		path = ambit.Join(path, name)
	}
	return dirs
}

func (p *place) kind() ambit.Kind { return ambit.KindOf(p.info.Mode()) }

// fault is an error that speaks of what is at p.
func (p *place) fault(r ambit.Reason, detail string) error {
	e := &ambit.Error{Reason: r, Target: p.path(), Detail: detail}
	if p.info != nil {
		e.Kind = p.kind()
	}
	return e
}

// missing is the error of a name that is not there.
func (p *place) missing(asserted bool) error {
	if asserted {
		return p.fault(ambit.ErrNotADirectory, "nothing is there, and the path asserts a folder")
	}
	e := &ambit.Error{Reason: ambit.ErrNotFound, Target: p.path()}
	if !p.dangling && len(p.beyond) > 0 {
		e.MissingDirs = p.dirs()
	}
	return e
}

func throughDangling(p *place) error {
	return &ambit.Error{
		Reason: ambit.ErrDenied, Rule: "dangling-link", Target: p.path(),
		Detail: "nothing is made through a link that leads to nothing",
	}
}

// walk follows the clean path from the root, step by step, each from the open
// folder of the one before: nothing that is renamed meanwhile leads anywhere
// else than the step has looked at. follow says what to do about a link that
// is the last step.
func (fsys *FileSystem) walk(clean string, follow bool) (*place, error) {
	w := &walker{fsys: fsys, clean: clean, follow: follow}
	return w.walk()
}

type walker struct {
	fsys   *FileSystem
	clean  string
	follow bool

	stack  []*folder  // from the root to where the walk is
	texts  [][]string // the names to go: of the path, and on top of them those of the links on the way
	links  int
	folder bool   // a link's text asserts that the path's last step is a folder
	text   string // of the path's last step, a link: as it is, but as a machine path where it names the host
}

func (w *walker) walk() (*place, error) {
	w.stack = []*folder{w.fsys.top}
	w.texts = [][]string{nil}
	if w.clean != "/" {
		w.texts[0] = strings.Split(w.clean[1:], "/")
	}
	p, err := w.run()
	if err == nil {
		p.parent.retain()
		if len(p.path()) > ambit.MaxPath {
			p.close()
			p, err = nil, &ambit.Error{Reason: ambit.ErrInvalidPath, Detail: "the path is too long with its links resolved"}
		}
	}
	for _, d := range w.stack {
		d.close()
	}
	return p, err
}

func (w *walker) run() (*place, error) {
	tries := 0
	for {
		name, ok := w.next()
		if !ok {
			return w.arrived()
		}
		if name == ".." {
			if err := w.up(); err != nil {
				return nil, err
			}
			continue
		}
		again, p, err := w.step(name)
		if p != nil || err != nil {
			return p, err
		}
		if again {
			if tries++; tries > maxTries {
				return nil, restless()
			}
		}
	}
}

func (w *walker) here() *folder { return w.stack[len(w.stack)-1] }

// next returns the name that the walk is at; it stays until drop.
func (w *walker) next() (string, bool) {
	for len(w.texts) > 0 {
		if names := w.texts[len(w.texts)-1]; len(names) > 0 {
			return names[0], true
		}
		w.texts = w.texts[:len(w.texts)-1]
	}
	return "", false
}

func (w *walker) drop() {
	i := len(w.texts) - 1
	w.texts[i] = w.texts[i][1:]
}

// rest returns the names after the one that the walk is at.
func (w *walker) rest() []string {
	var rest []string
	for i := len(w.texts) - 1; i >= 0; i-- {
		names := w.texts[i]
		if i == len(w.texts)-1 {
			names = names[1:]
		}
		rest = append(rest, names...)
	}
	return rest
}

// step takes one name. A place ends the walk; again means that something was
// moved away under the step.
func (w *walker) step(name string) (again bool, p *place, err error) {
	d, rest := w.here(), w.rest()
	info, err := d.lstat(name)
	if err != nil {
		return false, nil, err
	}
	last := len(rest) == 0
	if info == nil {
		if d.top {
			if _, err := w.rootInfo(); err != nil {
				return false, nil, err
			}
		}
		p := &place{parent: d, name: name, beyond: rest, early: !last}
		if len(w.texts) > 1 {
			p.dangling, p.early = true, len(w.texts[0]) > 0
		}
		if slices.Contains(rest, "..") {
			p.beyond = nil
		}
		return false, p, nil
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink && (!last || w.follow):
		text, err := d.dir.Readlink(name)
		if err != nil {
			if swapped(err) {
				return true, nil, nil
			}
			return false, nil, err
		}
		return false, nil, w.into(text, last)
	case last && w.folder && !info.IsDir():
		return false, nil, &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: ambit.KindOf(info.Mode()), Target: ambit.Join(d.path, name)}
	case last:
		return false, &place{parent: d, name: name, info: info}, nil
	case !info.IsDir():
		return false, nil, &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: ambit.KindOf(info.Mode()), Target: ambit.Join(d.path, name)}
	}
	sub, ok, err := d.enter(name, info)
	if err != nil {
		return false, nil, err
	}
	if ok {
		w.drop()
		w.stack = append(w.stack, sub)
	}
	return !ok, nil, nil
}

// rootInfo describes the root as it is now. One that was removed is not-found:
// its handle stays, and shows an empty folder in which nothing can be made.
func (w *walker) rootInfo() (fs.FileInfo, error) {
	info, err := w.fsys.top.dir.Stat(".")
	if err == nil && removed(info) {
		err = &ambit.Error{Reason: ambit.ErrNotFound, Target: "/", Detail: "the root was removed"}
	}
	return info, err
}

// arrived is the place of a walk whose last step was up or stayed.
func (w *walker) arrived() (*place, error) {
	d := w.here()
	if len(w.stack) == 1 {
		info, err := w.rootInfo()
		return &place{parent: d, info: info}, err
	}
	return &place{parent: w.stack[len(w.stack)-2], name: ambit.Base(d.path), info: d.info}, nil
}

// into goes on with the text of a link.
func (w *walker) into(text string, last bool) error {
	if w.links++; w.links > maxLinks {
		return &ambit.Error{Reason: ambit.ErrLoop, Target: w.clean}
	}
	slashed := filepath.ToSlash(text)
	if last && (strings.HasSuffix(slashed, "/") || strings.HasSuffix(slashed, "/.")) {
		w.folder = true
	}
	w.drop()
	names := hostNames(slashed)
	w.texts = append(w.texts, names)
	if last && len(w.texts) == 2 {
		w.text = slashed
	}
	if filepath.IsAbs(text) || strings.HasPrefix(slashed, "/") {
		return w.land(names)
	}
	return nil
}

// up goes to the folder above. Above the root it reads on in the link's text,
// as the names of the host's folders, and looks at none of them.
func (w *walker) up() error {
	w.drop()
	if len(w.stack) > 1 {
		w.here().close()
		w.stack = w.stack[:len(w.stack)-1]
		return nil
	}
	names, above := w.texts[len(w.texts)-1], w.fsys.above
	above = above[:max(0, len(above)-1)]
	for len(names) > 0 && names[0] == ".." {
		names, above = names[1:], above[:max(0, len(above)-1)]
	}
	return w.land(slices.Concat(above, names))
}

// land goes on where a path of the host lies in the root, if it does.
func (w *walker) land(host []string) error {
	for _, root := range w.fsys.hosts {
		if len(host) < len(root) || !slices.Equal(host[:len(root)], root) {
			continue
		}
		for _, d := range w.stack[1:] {
			d.close()
		}
		w.stack = w.stack[:1]
		w.texts[len(w.texts)-1] = host[len(root):]
		if w.text != "" && len(w.texts) == 2 {
			w.text = "/" + strings.Join(host[len(root):], "/")
		}
		return nil
	}
	return &ambit.Error{Reason: ambit.ErrOutside, Target: w.clean, Detail: "a link leads out of the root"}
}
