// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero/mem"
)

// A look is what one look at a name found, copied: afero's own FileInfo may
// change under the reader.
type look struct {
	kind  ambit.Kind
	real  bool // a disk answered, by an Lstat
	mode  fs.FileMode
	size  int64
	mtime time.Time
	data  *mem.FileData // the file itself, in a tree in memory
	inode os.FileInfo   // knows the file itself, on a disk
}

// same reports whether nothing seems to have happened between two looks at
// one name.
func (l *look) same(m *look) bool {
	return l.size == m.size && l.data == m.data && l.kind == m.kind && l.mtime.Equal(m.mtime) && l.sameFile(m)
}

// sameFile reports whether two looks may have met one and the same file. Where
// the storage cannot tell, they have.
func (l *look) sameFile(m *look) bool {
	if l.data != m.data {
		return false
	}
	return l.inode == nil || m.inode == nil || os.SameFile(l.inode, m.inode)
}

// look looks at path itself. A missing name is found false and no error.
func (s *store) look(path string) (l look, found bool, err error) {
	fi, real, err := s.lstat(path)
	switch {
	case err == nil && fi == nil:
		return look{}, false, errNothing
	case err == nil:
		return lookOf(fi, real), true, nil
	case missing(err):
		return look{}, false, nil
	}
	return look{}, false, err
}

// errNothing is the fault of an afero.Fs that returns neither a result nor an
// error.
var errNothing = errors.New("the afero.Fs returned neither a result nor an error")

// missing also takes a parent that is a file for an answer: the walk finds out
// about that by itself.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s *store) lstat(path string) (fi os.FileInfo, real bool, err error) {
	if s.lstater != nil {
		return s.lstater.LstatIfPossible(s.name(path))
	}
	fi, err = s.fsys.Stat(s.name(path))
	return fi, false, err
}

func lookAt(data *mem.FileData) look {
	fi := mem.FileInfo{FileData: data}
	l := look{kind: ambit.KindRegular, mode: fi.Mode().Perm(), mtime: fi.ModTime(), data: data}
	if fi.IsDir() {
		l.kind = ambit.KindDirectory
		return l
	}
	l.size = fi.Size()
	return l
}

func lookOf(fi os.FileInfo, real bool) look {
	if fi, ok := fi.(*mem.FileInfo); ok {
		return lookAt(fi.FileData)
	}
	l := look{kind: ambit.KindOf(fi.Mode()), real: real, mode: fi.Mode().Perm(), size: fi.Size(), mtime: fi.ModTime()}
	if fi.IsDir() {
		l.kind = ambit.KindDirectory
	}
	// On Windows asking for the identity opens the file again, by its name.
	if runtime.GOOS != "windows" && os.SameFile(fi, fi) {
		l.inode = fi
	}
	return l
}

// info describes what was seen at a path of the caller's machine.
func (l *look) info(path string, v ambit.Version) ambit.FileInfo {
	i := ambit.FileInfo{Path: path, Kind: l.kind, Size: l.size, ModTime: l.mtime.Round(0), Mode: l.mode, Version: v}
	if l.kind != ambit.KindRegular {
		i.Version = ""
	}
	return i
}

// A place is where a path leads: what is there, or what is missing on the way.
type place struct {
	path    string
	found   bool
	missing []string // missing folders above path, outermost first
	look    look
	node    *node         // of a regular file
	version ambit.Version // of a regular file
}

// near is the deepest folder above the place that exists.
func (p *place) near() string {
	if len(p.missing) > 0 {
		return ambit.Dir(p.missing[0])
	}
	return ambit.Dir(p.path)
}

// locate walks to the target, looks at its last step itself and fills p, which
// is empty. The caller holds mu.
func (t *target) locate(p *place) error {
	s := t.v.store
	p.path = t.in
	if s.holdsReserved(t.in) {
		return &ambit.Error{
			Op: t.op, Path: t.written, Reason: ambit.ErrDenied, Rule: "reserved", Target: t.out(t.in),
			Detail: "names of this form are the library's own",
		}
	}
	var err error
	if s.mem != nil {
		if s.locateKnown(p) {
			return nil
		}
		// Nothing but this store makes names here, so what is found has its
		// folders.
		p.look, p.found, err = s.look(t.in)
		if !p.found {
			p.missing, err = t.walk()
		}
	} else {
		p.missing, err = t.walk()
		if err == nil && p.missing == nil {
			p.look, p.found, err = s.look(t.in)
			if err != nil {
				err = t.foreign(err)
			}
		}
	}
	if err != nil {
		return err
	}
	if !p.found && t.isRoot() {
		return t.rootGone()
	}
	if p.found && p.look.kind == ambit.KindRegular {
		if p.node, p.version = s.nodeOf(p.path, &p.look); p.node == nil {
			return errAlone
		}
	}
	return nil
}

// locateKnown fills p with what is known of p.path, and reports whether that
// is a file. In a tree of this process nobody else makes it another one.
func (s *store) locateKnown(p *place) bool {
	n := s.nodes[p.path]
	if n == nil {
		return false
	}
	p.found, p.look, p.node, p.version = true, n.seen, n, n.version
	return true
}

// rootGone is the error of a Sub whose folder is not there any more: it makes
// no new one.
func (t *target) rootGone() error {
	return &ambit.Error{Op: t.op, Path: t.written, Reason: ambit.ErrNotFound, Target: "/", Detail: "the root is gone"}
}

// walk goes through the folders above the target and returns those that are
// missing.
func (t *target) walk() (missing []string, err error) {
	for i := 1; i < len(t.in); i++ {
		if t.in[i] != '/' {
			continue
		}
		dir := t.in[:i]
		if missing != nil {
			missing = append(missing, dir)
			continue
		}
		l, found, err := t.v.store.look(dir)
		switch {
		case err != nil:
			return nil, t.foreign(err)
		case !found && len(dir) <= len(t.v.root):
			return nil, t.rootGone()
		case !found:
			missing = append(missing, dir)
		case l.kind == ambit.KindSymlink:
			return nil, t.linkRefused()
		case l.kind != ambit.KindDirectory:
			return nil, t.notADirectory(dir, l.kind)
		}
	}
	return missing, nil
}
