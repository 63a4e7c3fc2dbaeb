// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
)

// A store is one afero.Fs with what all file systems over it share.
type store struct {
	fsys     afero.Fs
	lstater  afero.Lstater   // nil: there is none
	mem      *afero.MemMapFs // not nil: this process's own tree, and nobody else's
	faults   func(op, path string) error
	limit    int64
	instance string

	exclusive  bool
	readOnly   bool
	relative   bool // fsys wants names without a leading slash
	layered    bool // a removed name may uncover another beneath it
	strange    bool // of no type that is known here
	plainDisk  bool // opening a file for writing changes nothing yet
	inMemory   bool
	keepsMode  bool
	links      ambit.LinkRule
	tempPrefix string
	newFile    fs.FileMode
	newDir     fs.FileMode

	// mu orders the users of this store: a decision and its act are one
	// step. It is never held while content is read or a function of the
	// caller runs.
	mu crowdMutex

	// alone is set while mu is held for writing.
	alone bool

	generation atomic.Uint64
	nodes      map[string]*node // by path; guarded by mu, see nodeOf
	nodesMu    sync.RWMutex     // of those who hold mu for reading

	tempsMu sync.Mutex
	temps   map[*temp]struct{}
}

// A node is what was last seen or made under one path: a file and the version
// that it got for it.
type node struct {
	seen    look
	version ambit.Version
	told    atomic.Pointer[ambit.FileInfo] // of seen, by the storage's own path; nil: nobody has asked yet
	opens   atomic.Int32                   // open Files that read what lies there
}

// describe returns what the file n is at path, of the storage's own root. The
// caller holds mu.
func (n *node) describe(path string) *ambit.FileInfo {
	if info := n.told.Load(); info != nil {
		return info
	}
	info := n.seen.info(path, n.version)
	n.told.Store(&info)
	return &info
}

// name returns the storage's name of a path.
func (s *store) name(path string) string {
	if !s.relative {
		return path
	}
	if path == "/" {
		return "."
	}
	return path[1:]
}

// nextVersion returns a version that nothing has had and nothing will have:
// the instance keeps it apart from other processes and from other guards.
func (s *store) nextVersion() ambit.Version {
	var buf [48]byte
	b := append(buf[:0], s.instance[:16]...)
	b = append(b, '-')
	b = strconv.AppendUint(b, s.generation.Add(1), 36)
	return ambit.Version(b)
}

// nodeOf returns the node of the regular file l at path and its version: the
// known one while l is what was last seen there, else a new one. The caller
// holds mu.
//
// In a tree of this process, where nodes are looked up by every reader, new
// ones are only made by who is alone: for others the node is nil, and what
// they do ends with errAlone.
func (s *store) nodeOf(path string, l *look) (*node, ambit.Version) {
	if s.mem != nil {
		n := s.nodes[path]
		switch {
		case n != nil && n.seen.data == l.data:
		case s.alone:
			n = s.renewed(path, l)
		default:
			return nil, ""
		}
		return n, n.version
	}
	s.nodesMu.RLock()
	n := s.nodes[path]
	if n != nil && n.seen.same(l) {
		v := n.version
		s.nodesMu.RUnlock()
		return n, v
	}
	s.nodesMu.RUnlock()
	s.nodesMu.Lock()
	defer s.nodesMu.Unlock()
	n = s.nodes[path]
	if n == nil || !n.seen.same(l) {
		n = s.renewed(path, l)
	}
	return n, n.version
}

// errAlone ends a step that has to be taken alone.
var errAlone = errors.New("the step has to be taken alone")

// renew gives what was just made at path a new version. The caller holds mu
// alone.
func (s *store) renew(path string, l *look) ambit.Version {
	return s.renewed(path, l).version
}

func (s *store) renewed(path string, l *look) *node {
	n := s.nodes[path]
	if n == nil || !n.seen.sameFile(l) {
		n = &node{}
		s.nodes[path] = n
	}
	n.seen, n.version = *l, s.nextVersion()
	n.told.Store(nil)
	return n
}

// restore gives path back the version that it had before a change that was
// undone. The caller holds mu alone.
func (s *store) restore(path string, l *look, v ambit.Version) {
	s.renewed(path, l).version = v
}

// open reports whether a File may be reading what was found at p. The caller
// holds mu alone.
func (p *place) open() bool { return p.node != nil && p.node.opens.Load() > 0 }

// forget drops what is known of path and of all beneath it. The caller holds
// mu alone.
func (s *store) forget(path string, folder bool) {
	delete(s.nodes, path)
	if !folder {
		return
	}
	for p := range s.nodes {
		if ambit.Contains(path, p) {
			delete(s.nodes, p)
		}
	}
}

// moved carries what is known of from over to to. Every file gets a new
// version: its name has not had the old one. The caller holds mu alone.
func (s *store) moved(from, to string, folder bool) {
	delete(s.nodes, to)
	move := func(old string, n *node) {
		delete(s.nodes, old)
		n.version = s.nextVersion()
		n.told.Store(nil)
		s.nodes[to+old[len(from):]] = n
	}
	if n := s.nodes[from]; n != nil {
		move(from, n)
	}
	if !folder {
		return
	}
	beneath := make(map[string]*node)
	for p, n := range s.nodes {
		if p != from && ambit.Contains(from, p) {
			beneath[p] = n
		}
	}
	for p, n := range beneath {
		move(p, n)
	}
	s.tempsMu.Lock()
	defer s.tempsMu.Unlock()
	for t := range s.temps {
		if ambit.Contains(from, t.path) {
			t.path = to + t.path[len(from):]
		}
	}
}

// tempPrefix begins every reserved name. What has such a name is shown by no
// call and can be named in none.
const tempPrefix = ".ambit-tmp-"

// newTempName returns a reserved name: the prefix and 26 random letters and
// digits, so that nobody has one by chance.
func (s *store) newTempName() string { return s.tempPrefix + strings.ToLower(rand.Text()) }

func (s *store) reserved(name string) bool {
	random, ok := strings.CutPrefix(name, s.tempPrefix)
	return ok && len(random) == 26
}

// holdsReserved reports whether a step of the clean path is a reserved name.
func (s *store) holdsReserved(path string) bool {
	if !strings.Contains(path, tempPrefix) {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if s.reserved(name) {
			return true
		}
	}
	return false
}
