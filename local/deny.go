// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"runtime"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// deny is a file or folder that is refused.
type deny struct {
	path  string  // canonical; "" for one outside a Sub
	info  *node   // what was there at the time of New; nil for nothing
	folds bool    // its disk takes letters of either case for the same
	pin   *pinned // keeps the inode number of info from being given to another
}

const (
	ruleDeny  = "deny"
	ruleMount = "mount"
	// maxSighted is how many names are looked up on each direct way; with more
	// of them the walk is cheaper.
	maxSighted = 6
)

func refusedBy(rule, path string) error {
	return &ambit.Error{Reason: ambit.ErrDenied, Rule: rule, Target: path}
}

// findDenied looks up what is to be denied.
func (m *machine) findDenied(paths []string) ([]deny, error) {
	var all []deny
	for _, path := range paths {
		clean, _, err := ambit.Resolve(m.cwd, path)
		if err == nil && len(m.roots) > 1 && path[0] != '/' {
			err = &ambit.Error{Reason: ambit.ErrInvalid, Detail: "of several roots it must be said in which one: the path is relative"}
		}
		if err == nil {
			err = checkNames(clean, path)
		}
		if err != nil {
			return nil, optionError("Deny", path, err)
		}
		// A link is denied as a name, and so is what it leads to.
		for _, follow := range []bool{false, true} {
			p, err := m.walk(clean, follow)
			if err != nil {
				if follow && ambit.ReasonOf(err) != ambit.ErrIO {
					continue // it leads nowhere
				}
				return nil, optionError("Deny", path, err)
			}
			d := deny{path: p.path(), info: p.info}
			if d.info != nil && !p.isRoot() {
				if d.pin, err = p.parent.dir.pin(p.name); err != nil {
					p.close()
					return nil, optionError("Deny", path, err)
				}
				runtime.SetFinalizer(d.pin, (*pinned).close)
			}
			isRoot := p.isRoot()
			if !isRoot {
				d.folds = p.parent.root.disk.folds || folds(p)
			}
			p.close()
			if isRoot || m.rootBeneath(d.path) {
				return nil, optionError("Deny", path, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "a root, or a folder above one, cannot be denied"})
			}
			all = append(all, d)
			if d.info == nil || !d.info.isLink() {
				break
			}
		}
	}
	return all, nil
}

// folds reports that the disk at p takes letters of either case for the same.
func folds(p *place) bool {
	if p.info == nil {
		// Nothing is there to be looked up: the folder above may tell.
		return foldsName(p.parent)
	}
	other := swapCase(p.name)
	if other == p.name {
		return foldsName(p.parent)
	}
	info, err := p.parent.dir.lookup(other)
	return err == nil && info.same(p.info)
}

// foldsName asks by any name in d that has letters.
func foldsName(d *folder) bool {
	all, err := d.dir.entries(".")
	if err != nil {
		return false
	}
	for _, e := range all {
		other := swapCase(e.name)
		if other == e.name {
			continue
		}
		a, err := d.dir.lookup(e.name)
		if err != nil {
			continue
		}
		b, err := d.dir.lookup(other)
		return err == nil && a.same(b)
	}
	return false
}

func swapCase(name string) string {
	if upper := strings.ToUpper(name); upper != name {
		return upper
	}
	return strings.ToLower(name)
}

func (d *deny) covers(path string) bool {
	if d.path == "" {
		return false
	}
	if d.folds {
		return containsFold(d.path, path)
	}
	return ambit.Contains(d.path, path)
}

// containsFold is ambit.Contains on a disk that folds letters.
func containsFold(dir, path string) bool {
	if dir == "/" {
		return true
	}
	names, beneath := strings.Split(dir, "/"), strings.Split(path, "/")
	if len(beneath) < len(names) {
		return false
	}
	for i := range names {
		if !strings.EqualFold(names[i], beneath[i]) {
			return false
		}
	}
	return true
}

// judgeText refuses a canonical path that is denied by its text.
func (m *machine) judgeText(path string) error {
	for i := range m.denied {
		if m.denied[i].covers(path) {
			return refusedBy(ruleDeny, path)
		}
	}
	return nil
}

// judgeNode refuses what is denied by its identity, and what is mounted inside
// a root.
func (m *machine) judgeNode(d *folder, name string, info *node) error {
	if len(m.denied) == 0 {
		return nil
	}
	if m.isDenied(info) {
		return refusedBy(ruleDeny, ambit.Join(d.path, name))
	}
	on, err := d.dir.mountOf(name)
	switch {
	case err != nil:
		return unlessSwapped(err)
	case on.crosses(d.root.mount, info.isDir()):
		return refusedBy(ruleMount, ambit.Join(d.path, name))
	}
	return nil
}

func (m *machine) isDenied(info *node) bool {
	for i := range m.denied {
		if was := m.denied[i].info; was != nil && was.same(info) && (was.generation == info.generation || was.generation == "" || info.generation == "") {
			return true
		}
	}
	return false
}

// hides reports that the entry name of d is not to be shown.
func (m *machine) hides(d *folder, path, name string) bool {
	if len(m.denied) == 0 {
		return false
	}
	full := ambit.Join(path, name)
	if m.judgeText(full) != nil {
		return true
	}
	if d == nil {
		return false
	}
	info, err := d.dir.lookup(name)
	return err == nil && m.judgeNode(d, name, info) != nil
}

// holdsDenied refuses a change of what is above something denied.
func (m *machine) holdsDenied(path string) error {
	for i := range m.denied {
		d := &m.denied[i]
		if d.path == "" {
			continue
		}
		if ambit.Contains(path, d.path) || d.folds && containsFold(path, d.path) {
			return refusedBy(ruleDeny, path)
		}
	}
	return nil
}

// sighting is when every denied folder was seen at its place last: the times of
// the last change of each and of the folders above. A move gives what is moved
// another one.
type sighting struct {
	changed [maxSighted]instant
	n       int
}

// restful is how long something must have kept still for its time of change to
// tell a later move, whatever clock the disk has.
const restful = 50 * time.Millisecond

// mayGoDirect reports whether the text of a path may tell alone whether it lies
// in something denied, which it does as long as every denied folder is where it
// was: no link or mount is on a direct way. What was then reached is only good if stayed
// says so afterwards.
func (m *machine) mayGoDirect() (*sighting, bool) {
	if len(m.denied) == 0 {
		return nil, true
	}
	before := m.sighted.Load()
	if before != nil {
		return before, true
	}
	if now := m.sight(); now != nil {
		m.sighted.Store(now)
	}
	return nil, false
}

// stayed reports that everything denied is where it was at the sighting, and
// has not been moved since.
func (m *machine) stayed(before *sighting) bool {
	if before == nil {
		return true
	}
	if now, ok := m.look(); ok && now == *before {
		return true
	}
	m.sighted.CompareAndSwap(before, nil)
	return false
}

// sight is look, unless something has moved just now.
func (m *machine) sight() *sighting {
	s, ok := m.look()
	if !ok {
		return nil
	}
	for _, changed := range s.changed[:s.n] {
		if since := time.Since(changed.time()); since > 0 && since < restful {
			return nil
		}
	}
	return &s
}

// look looks every denied folder up at its place. It is not ok when one is not
// there, or there are too many: the walk is cheaper then.
func (m *machine) look() (s sighting, ok bool) {
	for i := range m.denied {
		d := &m.denied[i]
		if d.info != nil && !d.info.isDir() && !d.folds {
			continue // a file is known by itself, wherever it is
		}
		if d.folds || d.path == "" {
			return s, false
		}
		if d.info == nil {
			continue // no folder that is anywhere else
		}
		in, rest, ok := m.rootOf(d.path)
		if !ok {
			return s, false
		}
		for end := 0; end < len(rest); {
			if next := strings.IndexByte(rest[end+1:], '/'); next < 0 {
				end = len(rest)
			} else {
				end += 1 + next
			}
			now, err := in.top.dir.peek(rest[:end])
			if err != nil || end == len(rest) && !now.same(d.info) || s.n == maxSighted {
				return s, false
			}
			s.changed[s.n] = now.changed
			s.n++
		}
	}
	return s, true
}
