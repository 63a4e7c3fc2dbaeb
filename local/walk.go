// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
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

// folder is an open folder with what is known of it. It is for one goroutine
// at a time.
type folder struct {
	dir  dir
	root *root  // that it lies in
	path string // canonical, when it was opened
	info *node  // of dir itself
	top  bool   // the handle of a root, which Close alone closes
	more int    // owners beyond the first
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
		d.dir.close()
	}
}

func (d *folder) same(e *folder) bool { return d.info.same(e.info) }

// lookup describes what has the name in d, nil for nothing. The library's own
// hidden names are nothing.
func (d *folder) lookup(name string) (*node, error) {
	if isHidden(name) {
		return nil, nil
	}
	info, err := d.dir.lookup(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// stored returns the name as the disk has it, where that takes letters of either
// case for the same, and the name itself where nothing has it: rules speak of
// what is there and not of how somebody writes it.
func (d *folder) stored(name string) (string, error) {
	info, err := d.lookup(name)
	if err != nil || info == nil {
		return name, err
	}
	all, err := d.dir.entries(".")
	if err != nil {
		return name, nil // what may not be listed has no other names to tell
	}
	found := name
	for _, e := range all {
		if e.name == name {
			return name, nil
		}
		if found != name && !strings.EqualFold(e.name, name) {
			continue
		}
		if other, err := d.lookup(e.name); err == nil && other != nil && other.same(info) {
			found = e.name
		}
	}
	return found, nil
}

// has reports that name is still what info describes, hidden names too.
func (d *folder) has(name string, info *node) bool {
	now, err := d.dir.lookup(name)
	return err == nil && now.same(info)
}

// enter opens the folder name of d, which info describes. ok is false when
// something else has the name by now.
func (d *folder) enter(name string, info *node) (sub *folder, ok bool, err error) {
	opened, err := d.dir.enter(name)
	if err != nil {
		if swapped(err) {
			return nil, false, nil
		}
		return nil, false, err
	}
	now, err := opened.self()
	if err != nil || !now.same(info) {
		opened.close()
		return nil, false, err
	}
	return &folder{dir: opened, root: d.root, path: ambit.Join(d.path, name), info: now}, true, nil
}

// swapped reports that err can come of something having been moved between
// two steps, so that looking again gives a true answer.
func swapped(err error) bool {
	var judged *ambit.Error
	if err == nil || errors.As(err, &judged) || errors.Is(err, fs.ErrClosed) || errors.Is(err, errors.ErrUnsupported) {
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
	parent   *folder  // the deepest folder that exists; nil above the roots
	name     string   // in parent; "" is parent itself, a root
	info     *node    // nil: nothing has the name
	beyond   []string // the names that would come after a missing one
	early    bool     // the missing name is not the path's last step
	dangling bool     // the missing name stands in the text of a link
	above    string   // the path of a folder above the roots
}

func (p *place) close() {
	if p.parent != nil {
		p.parent.close()
	}
}

// isRoot reports that p is a root or lies above one: it stays where it is.
func (p *place) isRoot() bool { return p.name == "" }

// path returns the canonical path, for a missing one that which it would have.
func (p *place) path() string {
	if p.parent == nil {
		return p.above
	}
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

func (p *place) kind() ambit.Kind { return p.info.kind() }

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

// walk follows the clean path from the root that it lies in, step by step, each
// from the open folder of the one before: nothing that is renamed meanwhile
// leads anywhere else than the step has looked at. follow says what to do about
// a link that is the last step.
func (m *machine) walk(clean string, follow bool) (*place, error) {
	w := &walker{machine: m, clean: clean, follow: follow}
	return w.walk()
}

type walker struct {
	*machine
	clean  string
	follow bool
	tell   bool // a link that is the last step is followed to see where it leads

	stack  []*folder  // from the root to where the walk is
	direct bool       // the stack lacks folders between the root and the last one
	texts  [][]string // the names to go: of the path, and on top of them those of the links on the way
	links  int
	folder bool   // a link's text asserts that the path's last step is a folder
	text   string // of the path's last step, a link: as it is, but as a machine path where it names the host
}

// errNotDirect says that the walk has to begin anew, with all folders.
var errNotDirect = errors.New("a link, or a step that cannot be taken")

func (w *walker) walk() (*place, error) {
	p, err := w.begin(true)
	if err == errNotDirect {
		tell := w.tell
		*w = walker{machine: w.machine, clean: w.clean, follow: w.follow, tell: tell}
		p, err = w.begin(false)
	}
	var refused *ambit.Error
	if errors.As(err, &refused) && refused.Reason == ambit.ErrDenied {
		// Where a link led is not told.
		refused.Target = w.clean
	}
	return p, err
}

// begin walks; direct says that the folders before the last name may be
// stepped through in one go.
func (w *walker) begin(direct bool) (*place, error) {
	r, rest, ok := w.rootOf(w.clean)
	if !ok && w.host {
		// By another name of a root.
		var names []string
		if r, names, ok = w.land(hostNames(w.clean)); ok {
			rest = strings.Join(names, "/")
			w.clean = strings.TrimSuffix(ambit.Join(r.at, rest), "/")
		}
	}
	if !ok {
		if w.rootBeneath(w.clean) {
			return w.aboveRoots(w.clean), nil
		}
		return nil, &ambit.Error{Reason: ambit.ErrOutside, Target: w.clean, Detail: "no root holds the path"}
	}
	if err := w.judgeText(w.clean); err != nil {
		return nil, err
	}
	w.stack = []*folder{r.top}
	w.texts = [][]string{nil}
	if rest != "" {
		w.texts[0] = strings.Split(rest, "/")
	}
	if cut := strings.LastIndexByte(rest, '/'); direct && cut > 0 && !r.disk.folds && !holdsHidden(rest) {
		d, info, err := w.reach(r, rest[:cut])
		if err != nil {
			return nil, err
		}
		if d != nil {
			w.direct = true
			w.stack = append(w.stack, &folder{dir: d, root: r, path: ambit.Join(r.at, rest[:cut]), info: info})
			w.texts[0] = w.texts[0][len(w.texts[0])-1:]
		}
	}
	p, err := w.run()
	if err == nil {
		if p.parent != nil {
			p.parent.retain()
		}
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

// reach opens the folder at path beneath r in one go. It is nil when the path
// has to be walked.
func (m *machine) reach(r *root, path string) (dir, *node, error) {
	before, ok := m.mayGoDirect()
	if !ok {
		return nil, nil, nil
	}
	d, err := r.top.dir.reach(path)
	if err != nil {
		if err == errIndirect {
			err = nil
		}
		return nil, nil, err
	}
	info, err := d.self()
	if err != nil || m.isDenied(info) || !m.stayed(before) {
		d.close()
		return nil, nil, err
	}
	return d, info, nil
}

// aboveRoots is the place of a folder that leads to roots.
func (m *machine) aboveRoots(path string) *place {
	return &place{above: path, info: &node{mode: fs.ModeDir, size: -1}}
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
		if err != nil {
			return nil, w.blockedAt(name, err)
		}
		if p != nil {
			return p, nil
		}
		if again {
			if tries++; tries > maxTries {
				return nil, restless()
			}
		}
	}
}

// blocked is the error of a walk that cannot go on at a step; path is where it
// would have led.
type blocked struct {
	error
	path string
}

func (b *blocked) Unwrap() error { return b.error }

func (w *walker) blockedAt(name string, err error) error {
	if r := ambit.ReasonOf(err); r != ambit.ErrNotADirectory && r != ambit.ErrPermission {
		return err
	}
	rest := w.rest()
	if slices.Contains(rest, "..") {
		return err
	}
	path := ambit.Join(w.here().path, name)
	for _, name := range rest {
		path = ambit.Join(path, name)
	}
	return &blocked{err, path}
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
	if d.root.disk.folds {
		if name, err = d.stored(name); err != nil {
			return false, nil, err
		}
	}
	path := ambit.Join(d.path, name)
	if r := w.rootAt(path); r != nil {
		w.drop()
		w.turnTo(r)
		return false, nil, nil
	}
	if err := w.judgeText(path); err != nil {
		return false, nil, err
	}
	info, err := d.lookup(name)
	if err != nil {
		return false, nil, err
	}
	if r := w.rootOn(d, info); r != nil {
		w.drop()
		w.turnTo(r)
		return false, nil, nil
	}
	last := len(rest) == 0
	if info == nil {
		p, err := w.nothing(d, name, rest)
		return false, p, err
	}
	if err := w.judgeNode(d, name, info); err != nil {
		return false, nil, err
	}
	switch {
	case info.isLink() && (!last || w.follow):
		if w.o.Links == ambit.LinksRefused && !(last && w.tell) {
			return false, nil, &ambit.Error{Reason: ambit.ErrDenied, Rule: "links", Kind: ambit.KindSymlink, Target: path}
		}
		if w.direct {
			return false, nil, errNotDirect
		}
		text, err := d.dir.readlink(name)
		if err != nil {
			if swapped(err) {
				return true, nil, nil
			}
			return false, nil, err
		}
		return false, nil, w.into(text, last)
	case last && w.folder && !info.isDir():
		return false, nil, &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.kind(), Target: path}
	case last:
		return false, &place{parent: d, name: name, info: info}, nil
	case !info.isDir():
		return false, nil, &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: info.kind(), Target: path}
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

// nothing is the place of a name that is missing in d.
func (w *walker) nothing(d *folder, name string, rest []string) (*place, error) {
	if d.top || d.info.links == 0 {
		if _, err := rootInfo(d); err != nil {
			return nil, err
		}
	}
	p := &place{parent: d, name: name, beyond: rest, early: len(rest) > 0}
	if len(w.texts) > 1 {
		p.dangling, p.early = true, len(w.texts[0]) > 0
	}
	if slices.Contains(rest, "..") {
		p.beyond = nil
	}
	if err := w.judgeText(p.path()); err != nil {
		return nil, err
	}
	return p, nil
}

// rootInfo describes the folder as it is now. One that was removed is
// not-found: its handle stays, and shows an empty folder in which nothing can
// be made.
func rootInfo(d *folder) (*node, error) {
	info, err := d.dir.self()
	if err == nil && d.top && hasVersions && info.links == 0 {
		err = &ambit.Error{Reason: ambit.ErrNotFound, Target: d.path, Detail: "the root was removed"}
	}
	return info, err
}

// turnTo goes on at a root.
func (w *walker) turnTo(r *root) {
	for _, d := range w.stack {
		d.close()
	}
	w.stack = []*folder{r.top}
	w.direct = false
}

// arrived is the place of a walk whose last step was up or stayed.
func (w *walker) arrived() (*place, error) {
	d := w.here()
	if len(w.stack) == 1 {
		info, err := rootInfo(d)
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
		return w.goTo(names)
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
	names, above := w.texts[len(w.texts)-1], w.here().root.above
	above = above[:max(0, len(above)-1)]
	for len(names) > 0 && names[0] == ".." {
		names, above = names[1:], above[:max(0, len(above)-1)]
	}
	return w.goTo(slices.Concat(above, names))
}

// goTo goes on where a path of the host lies in a root, if it does.
func (w *walker) goTo(host []string) error {
	r, rest, ok := w.land(host)
	if !ok {
		return &ambit.Error{Reason: ambit.ErrOutside, Target: w.clean, Detail: "a link leads out of the root"}
	}
	w.turnTo(r)
	w.texts[len(w.texts)-1] = rest
	if w.text != "" && len(w.texts) == 2 {
		w.text = ambit.Join(r.at, strings.Join(rest, "/"))
	}
	return w.judgeText(r.at)
}
