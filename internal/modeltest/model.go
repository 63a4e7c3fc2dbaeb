// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package modeltest runs sequences of operations on a file system and on a
// naive model of the contract beside it, and compares them after every step:
// results, reasons and their facts, contents, names and versions.
//
// A sequence is decoded from bytes, so that a fuzzer can write one and the
// same one can be run on every backend.
package modeltest

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// A node is a file or a folder of the model.
type node struct {
	kids    map[string]*node // nil: a file
	content string
	mode    fs.FileMode
	version ambit.Version // as the file system told it last
}

func newFolder() *node { return &node{kids: map[string]*node{}} }

func (n *node) folder() bool { return n.kids != nil }

func (n *node) kind() ambit.Kind {
	if n.folder() {
		return ambit.KindDirectory
	}
	return ambit.KindRegular
}

// A failure is what the model expects of an error. Facts that are zero are not
// compared, but for the missing folders of not-found.
type failure struct {
	reason  ambit.Reason
	path    string // as written
	target  string
	kind    ambit.Kind
	missing []string
}

// A path is a text, taken apart.
type path struct {
	written string
	names   []string
	slash   bool
}

func (p path) String() string { return "/" + strings.Join(p.names, "/") }

func (p path) fail(r ambit.Reason) *failure { return &failure{reason: r, path: p.written} }

func (p path) failAt(r ambit.Reason, n *node) *failure {
	return &failure{reason: r, path: p.written, target: p.String(), kind: n.kind()}
}

// parse reads a path by its text.
func parse(written string) (path, *failure) {
	p := path{written: written}
	if written == "" || strings.Contains(written, "\x00") {
		return p, p.fail(ambit.ErrInvalidPath)
	}
	for name := range strings.SplitSeq(written, "/") {
		p.slash = name == "" || name == "." || name == ".."
		switch {
		case name == "" || name == ".":
		case name == ".." && len(p.names) == 0:
			return p, p.fail(ambit.ErrOutside)
		case name == "..":
			p.names = p.names[:len(p.names)-1]
		case len(name) > 255:
			return p, p.fail(ambit.ErrInvalidPath)
		default:
			p.names = append(p.names, name)
		}
	}
	return p, nil
}

// A model is a tree that keeps the contract's tables by the letter, without
// links and for one user.
type model struct {
	root *node
}

// A spot is where a path leads.
type spot struct {
	path
	at      *node    // nil: nothing there
	parent  *node    // nil: the root, or missing
	missing []string // missing folders, outermost first
}

func (s *spot) name() string { return s.names[len(s.names)-1] }

func (m *model) find(p path) (*spot, *failure) {
	s := &spot{path: p}
	if len(p.names) == 0 {
		s.at = m.root
		return s, nil
	}
	at, prefix := m.root, ""
	for _, name := range p.names[:len(p.names)-1] {
		prefix += "/" + name
		if at == nil {
			s.missing = append(s.missing, prefix)
			continue
		}
		kid := at.kids[name]
		if kid != nil && !kid.folder() {
			return s, p.fail(ambit.ErrNotADirectory)
		}
		if kid == nil {
			s.missing = append(s.missing, prefix)
		}
		at = kid
	}
	if at != nil {
		s.parent, s.at = at, at.kids[s.name()]
	}
	return s, nil
}

func (s *spot) notFound() *failure {
	return &failure{reason: ambit.ErrNotFound, path: s.written, target: s.String(), missing: s.missing}
}

// reach is the judgement of Open, Stat and List.
func (m *model) reach(p path) (*node, *failure) {
	s, f := m.find(p)
	switch {
	case f != nil:
		return nil, f
	case s.at == nil && p.slash:
		return nil, p.fail(ambit.ErrNotADirectory)
	case s.at == nil:
		return nil, s.notFound()
	case p.slash && !s.at.folder():
		return nil, p.fail(ambit.ErrNotADirectory)
	}
	return s.at, nil
}

// writing judges Write, Stage and Append.
func (m *model) writing(p path, cond ambit.Precondition, parents bool) (*spot, *failure) {
	s, f := m.find(p)
	if f != nil {
		return nil, f
	}
	version, conditional := cond.Version()
	switch {
	case s.at == nil && p.slash:
		return nil, p.fail(ambit.ErrNotADirectory)
	case s.at == nil && conditional:
		return nil, p.fail(ambit.ErrChanged)
	case s.at == nil && len(s.missing) > 0 && !parents:
		return nil, s.notFound()
	case s.at == nil:
		return s, nil
	case s.at.folder() && cond.Absent():
		return nil, p.failAt(ambit.ErrExists, s.at)
	case s.at.folder():
		return nil, p.failAt(ambit.ErrNotAFile, s.at)
	case p.slash:
		return nil, p.fail(ambit.ErrNotADirectory)
	case cond.Absent():
		return nil, p.failAt(ambit.ErrExists, s.at)
	case s.at.mode != 0 && s.at.mode&0o222 == 0:
		return nil, p.fail(ambit.ErrPermission)
	case conditional && version != s.at.version:
		return nil, p.fail(ambit.ErrChanged)
	}
	return s, nil
}

// folders makes the folders above s.
func (m *model) folders(s *spot) {
	at := m.root
	for _, name := range s.names[:len(s.names)-1] {
		kid := at.kids[name]
		if kid == nil {
			kid = newFolder()
			at.kids[name] = kid
		}
		at = kid
	}
	s.parent = at
}

// put replaces the file at s by a new one.
func (m *model) put(s *spot, content string, mode fs.FileMode) *node {
	m.folders(s)
	n := &node{content: content, mode: mode}
	if s.at != nil && mode == 0 {
		n.mode = s.at.mode
	}
	s.parent.kids[s.name()] = n
	return n
}

func (m *model) removing(p path, o ambit.RemoveOptions) (*spot, *failure) {
	if len(p.names) == 0 {
		return nil, p.fail(ambit.ErrInvalid)
	}
	s, f := m.find(p)
	if f != nil {
		return nil, f
	}
	version, conditional := o.If.Version()
	switch {
	case s.at == nil && p.slash && (conditional || !o.MissingOK):
		return nil, p.fail(ambit.ErrNotADirectory)
	case s.at == nil && conditional:
		return nil, p.fail(ambit.ErrChanged)
	case s.at == nil && o.MissingOK:
		return s, nil
	case s.at == nil:
		return nil, s.notFound()
	case !s.at.folder() && p.slash:
		return nil, p.fail(ambit.ErrNotADirectory)
	case s.at.folder() && conditional:
		return nil, p.fail(ambit.ErrInvalid)
	case s.at.folder() && !o.Recursive && len(s.at.kids) > 0:
		return nil, p.fail(ambit.ErrNotEmpty)
	case s.at.folder() && !o.Recursive:
		return nil, p.failAt(ambit.ErrNotAFile, s.at)
	case conditional && version != s.at.version:
		return nil, p.fail(ambit.ErrChanged)
	}
	return s, nil
}

// renaming returns one spot twice for a move onto itself.
func (m *model) renaming(from, to path, o ambit.RenameOptions) (*spot, *spot, *failure) {
	if len(from.names) == 0 {
		return nil, nil, from.fail(ambit.ErrInvalid)
	}
	s, f := m.find(from)
	if f != nil {
		return nil, nil, f
	}
	version, conditional := o.If.Version()
	switch {
	case s.at == nil && from.slash:
		return nil, nil, from.fail(ambit.ErrNotADirectory)
	case s.at == nil && conditional:
		return nil, nil, from.fail(ambit.ErrChanged)
	case s.at == nil:
		return nil, nil, s.notFound()
	case from.slash && !s.at.folder():
		return nil, nil, from.fail(ambit.ErrNotADirectory)
	case conditional && s.at.folder():
		return nil, nil, from.fail(ambit.ErrInvalid)
	case conditional && version != s.at.version:
		return nil, nil, from.fail(ambit.ErrChanged)
	}
	switch {
	case to.slash && !s.at.folder():
		return nil, nil, to.fail(ambit.ErrNotADirectory)
	case len(to.names) == 0:
		return nil, nil, to.failAt(ambit.ErrExists, m.root)
	case to.String() == from.String():
		return s, s, nil
	case s.at.folder() && len(to.names) > len(from.names) && slices.Equal(to.names[:len(from.names)], from.names):
		return nil, nil, to.fail(ambit.ErrInvalid)
	}
	d, f := m.find(to)
	switch {
	case f != nil:
		return nil, nil, f
	case d.at == nil && len(d.missing) > 0 && !o.Parents:
		return nil, nil, d.notFound()
	case d.at == nil:
		return s, d, nil
	case to.slash && !d.at.folder():
		return nil, nil, to.fail(ambit.ErrNotADirectory)
	case d.at.folder() || s.at.folder() || !o.Replace:
		return nil, nil, to.failAt(ambit.ErrExists, d.at)
	}
	return s, d, nil
}

func (m *model) mkdir(p path, parents bool) (created []string, f *failure) {
	s, f := m.find(p)
	switch {
	case f != nil:
		return nil, f
	case s.at != nil && s.at.folder() && parents:
		return nil, nil
	case s.at != nil:
		return nil, p.failAt(ambit.ErrExists, s.at)
	case len(s.missing) > 0 && !parents:
		return nil, s.notFound()
	}
	m.folders(s)
	s.parent.kids[s.name()] = newFolder()
	return append(s.missing, s.String()), nil
}

// each calls f for all nodes beneath n, folders first, names in order.
func (n *node) each(prefix string, f func(path string, n *node)) {
	for _, name := range slices.Sorted(maps.Keys(n.kids)) {
		kid := n.kids[name]
		f(prefix+"/"+name, kid)
		kid.each(prefix+"/"+name, f)
	}
}
