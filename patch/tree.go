// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/diff"
)

// tree is the file system as it is after the sections so far: what a section
// does is done here first.
type tree struct {
	ctx  context.Context
	fsys ambit.FileSystem
	caps ambit.Capabilities
	max  int64 // bytes of a file that is read

	asked   bool             // where relative paths start was asked for
	cwd     string           // where they start, "" if that is not known
	nodes   map[string]*node // by canonical path
	order   []*node          // in the order in which sections came to them
	folders map[string]int   // how many new files lie beneath a folder that is not there yet
}

// node is a name in the tree.
type node struct {
	path    string
	before  ambit.FileInfo // what the file system has there; KindUnknown: nothing
	disk    *content       // the file that the file system has there, nil if it has none
	missing []string       // the folders above it that are missing
	behind  bool           // nothing is there, behind a link that leads to nothing
	now     *content       // the file that is there now, nil for none
	gone    bool           // a link that was removed

	sections []int // the indexes of the sections that changed it, in order
	doubtful bool  // a section about it could not be done, so that nothing can be said of later ones
}

// content is the bytes of a file at one moment. It never changes.
type content struct {
	origin *node  // the file on whose bytes and mode it is founded, nil for none
	data   []byte // the bytes, if they are known
	known  bool

	// edited: these are not the bytes of the origin, but were made of those of
	// base, and differ from them in the regions, if base is not nil.
	edited  bool
	base    *content
	regions []diff.Region

	mode fs.FileMode // permission bits; 0: by the file system's own rule
}

// isFile reports that the file system has a regular file at n.
func (n *node) isFile() bool { return n.disk != nil }

func newTree(ctx context.Context, fsys ambit.FileSystem, limit int64) *tree {
	return &tree{
		ctx: ctx, fsys: fsys, caps: fsys.Capabilities(), max: limit,
		nodes: make(map[string]*node), folders: make(map[string]int),
	}
}

// clean returns what path is by its text alone, "" if it is not known where
// relative paths start.
func (t *tree) clean(path string) (string, error) {
	if !t.asked && !strings.HasPrefix(path, "/") {
		t.asked = true
		if info, err := t.fsys.Stat(t.ctx, "."); err == nil && info.IsDir() {
			t.cwd = info.Path
		}
	}
	cwd := t.cwd
	if cwd == "" {
		cwd = "/"
	}
	clean, folder, err := ambit.Resolve(cwd, path)
	if err != nil && (t.cwd != "" || ambit.ReasonOf(err) != ambit.ErrOutside) {
		return "", err
	}
	if t.cwd == "" && !strings.HasPrefix(path, "/") || folder {
		return "", nil
	}
	return clean, nil
}

// find returns the node of the name path itself, of a link where it is one. Where
// the file system has something that is no file, only before tells of it. Nothing
// at the name is no error; the node of a name that cannot be looked at is.
func (t *tree) find(path string) (*node, error) {
	clean, err := t.clean(path)
	if err != nil {
		return nil, err
	}
	if n := t.nodes[clean]; n != nil {
		return n, nil
	}
	info, err := t.lstat(path)
	if ambit.ReasonOf(err) == ambit.ErrNotFound {
		return t.nothing(path, clean, err), nil
	}
	if err != nil {
		return nil, err
	}
	return t.node(info.Path, info), nil
}

// follow returns the node of the file that path leads to, links followed. If
// read is set it reads the file in the same breath. That there is no file is
// an error.
func (t *tree) follow(path string, read bool) (*node, error) {
	clean, err := t.clean(path)
	if err != nil {
		return nil, err
	}
	n := t.nodes[clean]
	if n == nil || n.before.Kind == ambit.KindSymlink && !n.gone {
		if n, err = t.followOnDisk(path, clean, read); err != nil {
			return nil, err
		}
	}
	if n.now == nil && !n.doubtful {
		return nil, n.notFound()
	}
	return n, nil
}

func (t *tree) followOnDisk(path, clean string, read bool) (*node, error) {
	var info ambit.FileInfo
	var data []byte
	var err error
	if read {
		data, info, err = ambit.ReadFileMax(t.ctx, t.fsys, path, t.max)
	} else if info, err = t.fsys.Stat(t.ctx, path); err == nil && info.Kind != ambit.KindRegular {
		err = &ambit.Error{Reason: ambit.ErrNotAFile, Kind: info.Kind, Target: info.Path}
	}
	missing := ambit.ReasonOf(err) == ambit.ErrNotFound
	if err != nil && !missing {
		return nil, err
	}
	canonical := info.Path
	if missing {
		canonical = target(err)
	}
	if canonical != clean {
		if link, err := t.lstat(path); err == nil && link.Kind == ambit.KindSymlink {
			if n := t.nodes[link.Path]; n != nil && n.gone {
				return n, nil
			}
		}
	}
	if missing {
		n := t.nothing(path, clean, err)
		if n.now == nil && len(n.sections) == 0 && !n.doubtful {
			return nil, err
		}
		return n, nil
	}
	n := t.node(info.Path, info)
	if read && n.disk != nil && !n.disk.known && n.before.Version == info.Version {
		n.disk.data, n.disk.known = data, true
	}
	return n, nil
}

// nothing returns the node of a name at which the file system has nothing.
func (t *tree) nothing(path, clean string, err error) *node {
	canonical := target(err)
	if canonical == "" {
		if canonical = clean; canonical == "" {
			canonical, _, _ = ambit.Resolve(t.cwd, path)
		}
	}
	n := t.node(canonical, ambit.FileInfo{})
	if len(n.missing) == 0 {
		if e, ok := ambit.Wrap(op, path, err).(*ambit.Error); ok {
			n.missing = e.MissingDirs
		}
	}
	if canonical != clean && len(n.missing) == 0 {
		// No folder is said to be missing: one that is lies behind a link.
		_, err := t.fsys.Stat(t.ctx, ambit.Dir(canonical))
		n.behind = ambit.ReasonOf(err) == ambit.ErrNotFound
	}
	return n
}

// target returns the canonical path that an error tells, "" for none.
func target(err error) string {
	if e, ok := ambit.Wrap(op, "", err).(*ambit.Error); ok {
		return e.Target
	}
	return ""
}

// node returns the node with the canonical path, made of what the file system
// has there unless it is known already.
func (t *tree) node(path string, info ambit.FileInfo) *node {
	if n := t.nodes[path]; n != nil {
		return n
	}
	n := &node{path: path, before: info}
	if info.Kind == ambit.KindRegular {
		n.disk = &content{origin: n, mode: info.Mode.Perm()}
		n.now = n.disk
	}
	t.nodes[path] = n
	t.order = append(t.order, n)
	return n
}

// lstat describes what is at path itself. Without ReadLink a link is looked for
// in the listing of its folder.
func (t *tree) lstat(path string) (ambit.FileInfo, error) {
	if l, ok := t.fsys.(ambit.Linker); ok && t.caps.ReadLink {
		return l.Lstat(t.ctx, path)
	}
	info, err := t.fsys.Stat(t.ctx, path)
	if e, ok := ambit.Wrap(op, path, err).(*ambit.Error); ok && e.Reason == ambit.ErrNotAFile && e.Kind != ambit.KindUnknown && e.Target != "" {
		// A FIFO, say, which only Lstat describes, is there all the same.
		info, err = ambit.FileInfo{Path: e.Target, Kind: e.Kind}, nil
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	if t.caps.Links == ambit.LinksNone || !t.caps.List || name == "" || name == "." || name == ".." {
		return info, err
	}
	listing, listErr := t.fsys.List(t.ctx, path+"/..", nil)
	if listErr != nil || listing == nil {
		return info, err
	}
	for _, e := range listing.Entries {
		if e.Name == name && e.Info.Kind == ambit.KindSymlink {
			return e.Info, nil
		}
	}
	return info, err
}

// notFound is the error of a name at which nothing is now.
func (n *node) notFound() error {
	e := &ambit.Error{Reason: ambit.ErrNotFound, Target: n.path}
	switch {
	case n.isFile() || n.gone:
		e.Detail = "the patch itself takes it away further up"
	case n.before.Kind != ambit.KindUnknown:
		return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: n.before.Kind, Target: n.path}
	default:
		e.MissingDirs = n.missing
	}
	return e
}

// file returns the error of a name that is to be moved, copied or removed and
// has no file.
func (n *node) file() error {
	if n.now == nil && !n.doubtful {
		return n.notFound()
	}
	return nil
}

// free returns the error of something that is in the way of a new file at n.
func (t *tree) free(n *node) error {
	switch {
	case n.doubtful:
		return nil
	case n.now != nil:
		return &ambit.Error{Reason: ambit.ErrExists, Kind: ambit.KindRegular, Target: n.path}
	case n.gone:
		return &ambit.Error{
			Reason: ambit.ErrExists, Kind: ambit.KindSymlink, Target: n.path,
			Detail: "the link that the patch removes cannot give its name to a file in the same patch",
		}
	case n.before.Kind != ambit.KindUnknown && !n.isFile():
		return &ambit.Error{Reason: ambit.ErrExists, Kind: n.before.Kind, Target: n.path}
	case n.behind:
		return &ambit.Error{Reason: ambit.ErrDenied, Rule: "dangling-link", Target: n.path}
	case t.folders[n.path] > 0:
		return &ambit.Error{Reason: ambit.ErrExists, Kind: ambit.KindDirectory, Target: n.path, Detail: "the patch itself makes a folder there"}
	}
	for dir := ambit.Dir(n.path); dir != "/"; dir = ambit.Dir(dir) {
		if above := t.nodes[dir]; above != nil && above.now != nil {
			return &ambit.Error{Reason: ambit.ErrNotADirectory, Target: dir, Detail: fmt.Sprintf("%q is a file", dir)}
		}
	}
	return nil
}

// put makes c the file at n.
func (t *tree) put(n *node, c *content) {
	if n.now == nil && !n.isFile() {
		t.count(n, 1)
	}
	n.now = c
}

// take takes away the file at n.
func (t *tree) take(n *node) {
	if n.now != nil && !n.isFile() {
		t.count(n, -1)
	}
	n.now = nil
}

func (t *tree) count(n *node, by int) {
	for _, dir := range n.missing {
		t.folders[dir] += by
	}
}

// load returns the bytes of c.
func (t *tree) load(c *content) ([]byte, error) {
	if c.known {
		return c.data, nil
	}
	from := c.origin
	if !from.disk.known {
		data, info, err := ambit.ReadFileMax(t.ctx, t.fsys, from.path, t.max)
		if err != nil {
			return nil, err
		}
		if info.Version != from.before.Version {
			return nil, &ambit.Error{Reason: ambit.ErrChanged, Target: from.path, Detail: "the file has changed while the patch was judged"}
		}
		from.disk.data, from.disk.known = data, true
	}
	return from.disk.data, nil
}
