// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ambitfs/ambit"
)

// double is a file system in a map, for the tests of this package: the base of docs/contract.md (Open, Stat, List, Write,
// Remove, Mkdir, Lstat, ReadLink) with followed links and exact preconditions, and none of the optional interfaces that
// have a fallback. Its capabilities are a field, so that any can be taken away, and its hooks let any call fail.
type double struct {
	caps ambit.Capabilities
	// before is asked when a call is about to act: its error fails the call and nothing is done. after is asked when it has
	// acted: its error is returned though everything is done. Both may be nil; both are called without the lock.
	before, after func(op, canonical string) error

	mu    sync.Mutex
	nodes map[string]*doubleNode
	clock int // the last version given out
}

type doubleNode struct {
	kind    ambit.Kind
	data    []byte // never changed in place
	text    string // of a link
	mode    fs.FileMode
	version int
}

// newDouble makes a double that holds tree: a key that ends in "/" is a folder, a value that begins with "-> " a link, the
// value "|" a FIFO. Parents are made.
func newDouble(tree map[string]string) *double {
	d := &double{
		caps: ambit.Capabilities{
			Versions: true, ReadAt: true, Write: true, List: true, Remove: true, Mkdir: true, ReadLink: true,
			Links: ambit.LinksFollowed, Swap: ambit.SwapExact, KeepsMode: true, AtomicReplace: true,
		},
		nodes: map[string]*doubleNode{"/": {kind: ambit.KindDirectory, mode: 0o755}},
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		value := tree[name]
		path := strings.TrimSuffix(name, "/")
		for dir := ambit.Dir(path); dir != "/"; dir = ambit.Dir(dir) {
			d.nodes[dir] = &doubleNode{kind: ambit.KindDirectory, mode: 0o755}
		}
		n := &doubleNode{kind: ambit.KindRegular, data: []byte(value), mode: 0o644}
		switch text, link := strings.CutPrefix(value, "-> "); {
		case path != name:
			n = &doubleNode{kind: ambit.KindDirectory, mode: 0o755}
		case link:
			n = &doubleNode{kind: ambit.KindSymlink, text: text, mode: 0o777}
		case value == "|":
			n = &doubleNode{kind: ambit.KindFIFO, mode: 0o644}
		}
		d.clock++
		n.version = d.clock
		d.nodes[path] = n
	}
	return d
}

// dump returns what d holds, in the form that newDouble takes.
func (d *double) dump() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	tree := make(map[string]string)
	for path, n := range d.nodes {
		switch n.kind {
		case ambit.KindDirectory:
			if path != "/" {
				tree[path+"/"] = ""
			}
		case ambit.KindSymlink:
			tree[path] = "-> " + n.text
		case ambit.KindFIFO:
			tree[path] = "|"
		default:
			tree[path] = string(n.data)
		}
	}
	return tree
}

// modes returns the permission bits of every file.
func (d *double) modes() map[string]fs.FileMode {
	d.mu.Lock()
	defer d.mu.Unlock()
	modes := make(map[string]fs.FileMode)
	for path, n := range d.nodes {
		modes[path] = n.mode
	}
	return modes
}

func (d *double) info(path string, n *doubleNode) ambit.FileInfo {
	i := ambit.FileInfo{Path: path, Kind: n.kind, Size: int64(len(n.data)), Mode: n.mode, Links: 1}
	if n.kind == ambit.KindRegular && d.caps.Versions {
		i.Version = ambit.Version(fmt.Sprintf("v%d", n.version))
	}
	return i
}

// place is where the walk along a path ended.
type place struct {
	path string      // canonical
	node *doubleNode // nil: missing
	dir  bool        // the text asserts a folder
	link *doubleNode // the dangling link that led here
	deep bool        // it was an earlier step
}

// find is walk for the methods whose rows "with a trailing slash" say that what is no folder is not-a-directory.
func (d *double) find(path string, follow bool) (place, error) {
	_, dir, _ := ambit.Resolve("/", path)
	p, err := d.walk(path, follow || dir)
	if err == nil && dir && (p.node == nil || p.node.kind != ambit.KindDirectory) {
		err = &ambit.Error{Reason: ambit.ErrNotADirectory, Target: p.path}
	}
	return p, err
}

// walk follows docs/contract.md, section 3. With the lock held.
func (d *double) walk(path string, follow bool) (place, error) {
	clean, dir, err := ambit.Resolve("/", path)
	if err != nil {
		return place{}, err
	}
	p := place{path: "/", node: d.nodes["/"], dir: dir}
	steps := strings.Split(strings.Trim(clean, "/"), "/")
	if clean == "/" {
		steps = nil
	}
	for links := 0; len(steps) > 0; {
		step := steps[0]
		switch {
		case p.node == nil: // a parent is missing
			p.path, steps = ambit.Join(p.path, step), steps[1:]
			continue
		case p.node.kind != ambit.KindDirectory:
			return place{}, &ambit.Error{Reason: ambit.ErrNotADirectory, Target: p.path}
		}
		steps = steps[1:]
		if step == ".." {
			p.path = ambit.Dir(p.path)
			p.node = d.nodes[p.path]
			continue
		}
		child := ambit.Join(p.path, step)
		n := d.nodes[child]
		if n == nil || n.kind != ambit.KindSymlink || len(steps) == 0 && !follow {
			p.path, p.node = child, n
			continue
		}
		if d.caps.Links == ambit.LinksRefused {
			return place{}, &ambit.Error{Reason: ambit.ErrDenied, Rule: "links"}
		}
		if links++; links > 40 {
			return place{}, &ambit.Error{Reason: ambit.ErrLoop}
		}
		to, _, err := ambit.Resolve(p.path, n.text)
		if err != nil {
			return place{}, &ambit.Error{Reason: ambit.ErrOutside}
		}
		p.link, p.deep = n, len(steps) > 0
		if d.nodes[to] != nil {
			p.link = nil
		}
		p.path, p.node = "/", d.nodes["/"]
		if to != "/" {
			steps = append(strings.Split(to[1:], "/"), steps...)
		}
	}
	if p.node != nil {
		p.link = nil
	}
	return p, nil
}

// missing is the error of a place where nothing is.
func (d *double) missing(p place) *ambit.Error {
	e := &ambit.Error{Reason: ambit.ErrNotFound, Target: p.path}
	for dir := ambit.Dir(p.path); d.nodes[dir] == nil; dir = ambit.Dir(dir) {
		e.MissingDirs = slices.Insert(e.MissingDirs, 0, dir)
	}
	return e
}

// call judges what every call is judged by and runs act with the lock held. canonical is told to the hooks.
func (d *double) call(ctx context.Context, op, path string, claimed bool, act func() error) error {
	err := func() error {
		if !claimed {
			return ambit.ErrUnsupported
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		clean, _, err := ambit.Resolve("/", path)
		if err != nil {
			return err
		}
		if d.before != nil {
			if err := d.before(op, clean); err != nil {
				return err
			}
		}
		d.mu.Lock()
		err = act()
		d.mu.Unlock()
		if err == nil && d.after != nil {
			err = d.after(op, clean)
		}
		return err
	}()
	return ambit.Wrap(op, path, err)
}

func (d *double) Capabilities() ambit.Capabilities { return d.caps }

func (d *double) Open(ctx context.Context, path string) (ambit.File, error) {
	f := &doubleFile{d: d, ctx: ctx, written: path}
	err := d.call(ctx, ambit.OpOpen, path, true, func() error {
		p, err := d.find(path, true)
		switch {
		case err != nil:
			return err
		case p.node == nil:
			return d.missing(p)
		case p.node.kind != ambit.KindRegular:
			return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: p.node.kind, Target: p.path}
		}
		f.node, f.info = p.node, d.info(p.path, p.node)
		f.r = bytes.NewReader(p.node.data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

type doubleFile struct {
	r       *bytes.Reader
	d       *double
	ctx     context.Context
	written string
	node    *doubleNode
	info    ambit.FileInfo
	closed  atomic.Bool
}

// ready returns why there is nothing to be read any more.
func (f *doubleFile) ready(ctx context.Context, op string) error {
	err := ctx.Err()
	if f.closed.Load() {
		err = ambit.ErrClosed
	}
	if err == nil && f.d.before != nil {
		err = f.d.before(op, f.info.Path)
	}
	return ambit.Wrap(op, f.written, err)
}

func (f *doubleFile) Read(p []byte) (int, error) {
	if err := f.ready(f.ctx, ambit.OpRead); err != nil {
		return 0, err
	}
	return f.r.Read(p)
}

func (f *doubleFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ready(f.ctx, ambit.OpRead); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, ambit.Wrap(ambit.OpRead, f.written, ambit.ErrInvalid)
	}
	return f.r.ReadAt(p, off)
}

func (f *doubleFile) Info() ambit.FileInfo { return f.info }
func (f *doubleFile) Close() error         { f.closed.Store(true); return nil }

func (f *doubleFile) Verify(ctx context.Context) error {
	if err := f.ready(ctx, ambit.OpVerify); err != nil {
		return err
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.nodes[f.info.Path] != f.node {
		return ambit.Wrap(ambit.OpVerify, f.written, &ambit.Error{Reason: ambit.ErrChanged, Target: f.info.Path})
	}
	return nil
}

func (d *double) Stat(ctx context.Context, path string) (info ambit.FileInfo, err error) {
	err = d.call(ctx, ambit.OpStat, path, true, func() error {
		p, err := d.find(path, true)
		switch {
		case err != nil:
			return err
		case p.node == nil:
			return d.missing(p)
		case p.node.kind != ambit.KindRegular && p.node.kind != ambit.KindDirectory:
			return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: p.node.kind, Target: p.path}
		}
		info = d.info(p.path, p.node)
		return nil
	})
	return info, err
}

func (d *double) Lstat(ctx context.Context, path string) (info ambit.FileInfo, err error) {
	err = d.call(ctx, ambit.OpLstat, path, d.caps.ReadLink, func() error {
		p, err := d.find(path, false)
		if err == nil && p.node == nil {
			err = d.missing(p)
		}
		if err == nil {
			info = d.info(p.path, p.node)
		}
		return err
	})
	return info, err
}

func (d *double) ReadLink(ctx context.Context, path string) (text string, err error) {
	err = d.call(ctx, ambit.OpReadLink, path, d.caps.ReadLink, func() error {
		p, err := d.find(path, false)
		switch {
		case err != nil:
			return err
		case p.node == nil:
			return d.missing(p)
		case p.node.kind != ambit.KindSymlink:
			return ambit.ErrInvalid
		}
		if _, _, err := ambit.Resolve(ambit.Dir(p.path), p.node.text); err != nil {
			return ambit.ErrOutside
		}
		text = p.node.text
		return nil
	})
	return text, err
}

func (d *double) List(ctx context.Context, dir string, o *ambit.ListOptions) (l *ambit.Listing, err error) {
	err = d.call(ctx, ambit.OpList, dir, d.caps.List, func() error {
		if err := o.Check(); err != nil {
			return err
		}
		p, err := d.find(dir, true)
		switch {
		case err != nil:
			return err
		case p.node == nil:
			return d.missing(p)
		case p.node.kind != ambit.KindDirectory:
			return &ambit.Error{Reason: ambit.ErrNotADirectory, Target: p.path}
		}
		var entries []ambit.Entry
		for path, n := range d.nodes {
			if path != "/" && ambit.Dir(path) == p.path {
				entries = append(entries, ambit.Entry{Name: ambit.Base(path), Info: d.info(path, n)})
			}
		}
		l = ambit.Page(p.path, entries, o)
		return nil
	})
	return l, err
}

func (d *double) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (r ambit.WriteResult, err error) {
	if o == nil {
		o = &ambit.WriteOptions{}
	}
	var data []byte
	judge := func() (place, error) {
		p, err := d.find(path, !o.If.Absent())
		if err != nil {
			return p, err
		}
		switch {
		case p.node == nil:
			dangling := &ambit.Error{Reason: ambit.ErrDenied, Rule: "dangling-link"}
			if p.link != nil && !p.deep {
				return p, dangling
			}
			if err := o.If.Check(nil); err != nil {
				return p, err
			}
			e := d.missing(p)
			if e.MissingDirs != nil && !o.Parents || p.deep && p.link != nil && !o.Parents {
				return p, e
			}
			if p.link != nil {
				return p, dangling
			}
		case o.If.Absent():
			return p, &ambit.Error{Reason: ambit.ErrExists, Kind: p.node.kind, Target: p.path}
		case p.node.kind != ambit.KindRegular:
			return p, &ambit.Error{Reason: ambit.ErrNotAFile, Kind: p.node.kind, Target: p.path}
		case p.node.mode&0o222 == 0:
			return p, ambit.ErrPermission
		default:
			info := d.info(p.path, p.node)
			return p, o.If.Check(&info)
		}
		return p, nil
	}
	err = d.call(ctx, "judge", path, d.caps.Write, func() error {
		if err := o.Check(d.caps); err != nil {
			return err
		}
		_, err := judge()
		return err
	})
	if err == nil {
		data, err = io.ReadAll(ambit.Content(ctx, content, d.caps.MaxFileSize))
	}
	if err != nil {
		return r, ambit.Wrap(ambit.OpWrite, path, err)
	}
	err = d.call(ctx, ambit.OpWrite, path, d.caps.Write, func() error {
		p, err := judge()
		if err != nil {
			return err
		}
		r = ambit.WriteResult{Created: p.node == nil, CreatedDirs: d.makeParents(p.path)}
		mode := o.Mode
		if mode == 0 && p.node != nil {
			mode = p.node.mode
		} else if mode == 0 {
			mode = 0o644
		}
		d.clock++
		n := &doubleNode{kind: ambit.KindRegular, data: data, mode: mode, version: d.clock}
		d.nodes[p.path] = n
		r.Info = d.info(p.path, n)
		return nil
	})
	return r, err
}

func (d *double) makeParents(path string) (made []string) {
	for dir := ambit.Dir(path); d.nodes[dir] == nil; dir = ambit.Dir(dir) {
		d.nodes[dir] = &doubleNode{kind: ambit.KindDirectory, mode: 0o755}
		made = slices.Insert(made, 0, dir)
	}
	return made
}

func (d *double) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if o == nil {
		o = &ambit.RemoveOptions{}
	}
	return d.call(ctx, ambit.OpRemove, path, d.caps.Remove, func() error {
		if err := o.Check(d.caps); err != nil {
			return err
		}
		p, err := d.walk(path, false)
		_, conditional := o.If.Version()
		gone := p.node == nil || p.dir && p.node.kind != ambit.KindDirectory
		switch {
		case err != nil:
			return err
		case p.path == "/":
			return ambit.ErrInvalid
		case gone && o.MissingOK && p.node == nil && !conditional:
			return nil
		case gone && p.dir:
			return ambit.ErrNotADirectory
		case gone && conditional:
			return ambit.ErrChanged
		case gone:
			return d.missing(p)
		case p.node.kind == ambit.KindRegular:
			info := d.info(p.path, p.node)
			if err := o.If.Check(&info); err != nil {
				return err
			}
		case conditional:
			return ambit.ErrInvalid
		case p.node.kind == ambit.KindDirectory && !o.Recursive:
			for path := range d.nodes {
				if path != p.path && ambit.Contains(p.path, path) {
					return ambit.ErrNotEmpty
				}
			}
			return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: p.path}
		}
		maps.DeleteFunc(d.nodes, func(path string, _ *doubleNode) bool { return ambit.Contains(p.path, path) })
		return nil
	})
}

func (d *double) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) (created []string, err error) {
	if o == nil {
		o = &ambit.MkdirOptions{}
	}
	err = d.call(ctx, ambit.OpMkdir, dir, d.caps.Mkdir, func() error {
		p, err := d.walk(dir, false)
		switch {
		case err != nil:
			return err
		case p.node != nil && o.Parents && p.node.kind == ambit.KindDirectory:
			return nil
		case p.node != nil:
			return &ambit.Error{Reason: ambit.ErrExists, Kind: p.node.kind, Target: p.path}
		}
		if e := d.missing(p); len(e.MissingDirs) > 0 && !o.Parents {
			return e
		}
		created = append(d.makeParents(p.path), p.path)
		d.nodes[p.path] = &doubleNode{kind: ambit.KindDirectory, mode: 0o755}
		return nil
	})
	return created, err
}

// fieldsOf yields the fields of a struct, so that a test is not blind to one that comes later.
func fieldsOf[T any]() iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		s := reflect.TypeFor[T]()
		for i := range s.NumField() {
			if !yield(s.Field(i)) {
				return
			}
		}
	}
}

// wantReason fails the test unless err is an *Error with that reason, of that operation and path.
func wantReason(t *testing.T, err error, op, path string, reason ambit.Reason) *ambit.Error {
	t.Helper()
	e, ok := err.(*ambit.Error)
	if !ok || e == nil {
		t.Errorf("error %#v, want an *ambit.Error of reason %q", err, reason)
		return &ambit.Error{}
	}
	if e.Op != op || e.Path != path || e.Reason != reason {
		t.Errorf("error %q, want %s %q: %s", e, op, path, reason)
	}
	return e
}
