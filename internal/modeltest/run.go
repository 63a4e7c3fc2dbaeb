// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

// paths are the texts that operations use: a few names, so that they meet, in
// several spellings.
var paths = []string{
	"a", "b", "ab", "a/a", "a/b", "a/ab", "b/a", "b/b", "a/a/a", "a/a/b", "b/a/a",
	"/a", "/a/b", "a/", "a/b/", "b/", "ab/", "./a", "b/../a", "a/.", "a//b", "a/b/c/d", "ab/a/",
	"/", ".", "", "..", "a/../..", "a\x00",
}

// plainPaths is how many of them come first that are clean.
const plainPaths = 11

var contents = []string{"", "x", "y", "xx", "line 1\nline 2\n", "\x00\xff", strings.Repeat("0123456789abcdef", 400)}

var modes = []fs.FileMode{0, 0, 0, 0, 0o600, 0o644, 0o755, 0o444}

// MaxSteps is how many operations of one sequence are run.
const MaxSteps = 60

// Run decodes data into operations and runs them on fsys, which holds nothing
// yet and nobody else uses. It fails t at the first difference from the model,
// with the operations up to there.
func Run(t testing.TB, fsys ambit.WritableFileSystem, data []byte) {
	t.Helper()
	r := &run{
		TB: t, ctx: context.Background(), fsys: fsys, caps: fsys.Capabilities(), data: data,
		model: model{root: newFolder()}, had: map[string]map[ambit.Version]bool{},
	}
	defer r.close()
	for range MaxSteps {
		if len(r.data) == 0 {
			break
		}
		r.step()
		r.compare()
	}
}

type run struct {
	testing.TB
	ctx  context.Context
	fsys ambit.WritableFileSystem
	caps ambit.Capabilities
	data []byte
	log  []string

	model   model
	had     map[string]map[ambit.Version]bool // every version that a path has had
	newMode fs.FileMode                       // of a file made without a mode, once known
	handles [2]*handle
	staged  [2]*stagedWrite
}

// A handle is an open file and what it has to show.
type handle struct {
	file    ambit.File
	path    path
	node    *node
	content string // as it was opened
	added   string // appended since
	version ambit.Version
}

type stagedWrite struct {
	staged  ambit.Staged
	path    path
	content string
	o       ambit.WriteOptions
}

func (r *run) close() {
	for _, h := range r.handles {
		if h != nil {
			h.file.Close()
		}
	}
	for _, s := range r.staged {
		if s != nil {
			s.staged.Discard(r.ctx)
		}
	}
}

// byte takes the next byte; behind the end all are 0.
func (r *run) byte() int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b)
}

func pick[T any](r *run, from []T) T { return from[r.byte()%len(from)] }

func (r *run) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *run) fail(format string, args ...any) {
	r.Helper()
	r.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(r.log, "\n  "))
}

// mode decodes a mode. Where modes are not kept, none is given: then no file
// can be told from one that may be written.
func (r *run) mode() fs.FileMode {
	if mode := pick(r, modes); r.caps.KeepsMode {
		return mode
	}
	return 0
}

// precondition decodes one; a version is often the current one of p.
func (r *run) precondition(p path) ambit.Precondition {
	b := r.byte()
	switch b % 8 {
	case 3:
		return ambit.IfAbsent()
	case 4, 5:
		if n, f := r.model.reach(p); f == nil && !n.folder() {
			return ambit.IfVersion(n.version)
		}
		return ambit.IfVersion("none")
	case 6:
		for _, v := range sorted(r.had[p.String()]) {
			return ambit.IfVersion(v)
		}
		return ambit.IfVersion("none")
	case 7:
		if b > 240 {
			return ambit.IfVersion("")
		}
	}
	return ambit.Precondition{}
}

func sorted(set map[ambit.Version]bool) []ambit.Version {
	var versions []ambit.Version
	for v := range set {
		versions = append(versions, v)
	}
	slices.Sort(versions)
	return versions
}

// text decodes a path, a plain one more often than not.
func (r *run) text() string {
	b := r.byte()
	if b < 170 {
		return paths[b%plainPaths]
	}
	return paths[b%len(paths)]
}

func (r *run) step() {
	kind := r.byte() % 16
	p, bad := parse(r.text())
	switch kind {
	case 0, 1, 2:
		o := ambit.WriteOptions{If: r.precondition(p), Parents: r.byte()%2 == 1, Mode: r.mode()}
		r.write(p, bad, pick(r, contents), o)
	case 3, 4:
		o := ambit.AppendOptions{If: r.precondition(p), Parents: r.byte()%2 == 1, Mode: r.mode()}
		r.append(p, bad, pick(r, contents), o)
	case 5, 6:
		b := r.byte()
		o := ambit.RemoveOptions{Recursive: b&1 != 0, MissingOK: b&2 != 0}
		if b&4 != 0 {
			o.If = r.precondition(p)
		}
		r.remove(p, bad, o)
	case 7, 8:
		to, badTo := parse(r.text())
		b := r.byte()
		o := ambit.RenameOptions{Replace: b&1 != 0, Parents: b&2 != 0}
		if b&4 != 0 {
			o.If = r.precondition(p)
		}
		r.rename(p, to, bad, badTo, o)
	case 9:
		r.mkdir(p, bad, ambit.MkdirOptions{Parents: r.byte()%2 == 1})
	case 10:
		r.commit(p)
	case 11:
		o := ambit.WriteOptions{If: r.precondition(p), Parents: r.byte()%2 == 1, Mode: r.mode()}
		r.stage(p, bad, pick(r, contents), o)
	case 12:
		r.publish()
	case 13:
		r.open(p, bad)
	case 14:
		r.useHandle()
	case 15:
		r.read(p, bad)
	}
}

// badPrecondition is the fault of a precondition itself.
func badPrecondition(p path, cond ambit.Precondition, absent bool) *failure {
	if v, ok := cond.Version(); ok && !v.Valid() || cond.Absent() && !absent {
		return p.fail(ambit.ErrInvalid)
	}
	return nil
}

// first returns the first failure, in the contract's order of judgement.
func first(failures ...*failure) *failure {
	for _, f := range failures {
		if f != nil {
			return f
		}
	}
	return nil
}

// expect compares an error with the failure that the model foresees, and
// reports whether the call succeeded.
func (r *run) expect(op string, err error, f *failure) bool {
	r.Helper()
	if f == nil {
		if err != nil {
			r.fail("%s failed: %v; it should succeed", op, err)
		}
		return true
	}
	if err == nil {
		r.fail("%s succeeded; it should be %s", op, f.reason)
	}
	var e *ambit.Error
	if !errors.As(err, &e) {
		r.fail("%s returned %T, not an *ambit.Error", op, err)
	}
	switch {
	case e.Reason != f.reason:
		r.fail("%s: %v; it should be %s", op, err, f.reason)
	case e.Path != f.path:
		r.fail("%s: %v has the path %q; it should be %q", op, err, e.Path, f.path)
	case f.target != "" && e.Target != f.target:
		r.fail("%s: %v has the target %q; it should be %q", op, err, e.Target, f.target)
	case f.kind != ambit.KindUnknown && e.Kind != f.kind:
		r.fail("%s: %v has the kind %v; it should be %v", op, err, e.Kind, f.kind)
	case f.reason == ambit.ErrNotFound && f.target != "" && !slices.Equal(e.MissingDirs, f.missing):
		r.fail("%s: %v misses the folders %q; it should be %q", op, err, e.MissingDirs, f.missing)
	}
	return false
}

// learn takes the version of the node that came to be at path.
func (r *run) learn(path string, n *node, v ambit.Version) {
	r.Helper()
	if !r.caps.Versions {
		return
	}
	if !v.Valid() {
		r.fail("%s has the version %q, which is none", path, v)
	}
	if r.had[path][v] {
		r.fail("%s has the version %q again", path, v)
	}
	if r.had[path] == nil {
		r.had[path] = map[ambit.Version]bool{}
	}
	r.had[path][v] = true
	n.version = v
}

// published compares the result of a write and takes over what it told.
func (r *run) published(op string, got ambit.WriteResult, s *spot, n *node) {
	r.Helper()
	if got.Created != (s.at == nil) || !slices.Equal(got.CreatedDirs, s.missing) {
		r.fail("%s: created %v and %q; it should be %v and %q", op, got.Created, got.CreatedDirs, s.at == nil, s.missing)
	}
	if got.Info.Path != s.String() || got.Info.Kind != ambit.KindRegular || got.Info.Size != int64(len(n.content)) {
		r.fail("%s: result %+v; it should be %s of %d bytes", op, got.Info, s.path, len(n.content))
	}
	r.learnMode(n, got.Info.Mode)
	r.learn(s.String(), n, got.Info.Version)
}

func (r *run) learnMode(n *node, mode fs.FileMode) {
	r.Helper()
	if !r.caps.KeepsMode {
		return
	}
	if n.mode == 0 && r.newMode == 0 {
		if r.newMode = mode; mode == 0 {
			r.fail("a new file has no mode")
		}
	}
	if n.mode == 0 {
		n.mode = r.newMode
	}
	if mode != n.mode {
		r.fail("a file has the mode %v; it should be %v", mode, n.mode)
	}
}

func (r *run) write(p path, bad *failure, content string, o ambit.WriteOptions) {
	r.note("write %q, %d bytes, %+v", p.written, len(content), o)
	got, err := r.fsys.Write(r.ctx, p.written, strings.NewReader(content), &o)
	if bad = first(bad, badPrecondition(p, o.If, true)); bad != nil {
		r.expect("write", err, bad)
		return
	}
	s, f := r.model.writing(p, o.If, o.Parents)
	if r.expect("write", err, f) {
		r.published("write", got, s, r.model.put(s, content, o.Mode))
	}
}

func (r *run) append(p path, bad *failure, content string, o ambit.AppendOptions) {
	if !r.caps.Append {
		return
	}
	r.note("append %q, %d bytes, %+v", p.written, len(content), o)
	got, err := r.fsys.(ambit.Appender).Append(r.ctx, p.written, strings.NewReader(content), &o)
	if bad = first(bad, badPrecondition(p, o.If, true)); bad != nil {
		r.expect("append", err, bad)
		return
	}
	s, f := r.model.writing(p, o.If, o.Parents)
	if !r.expect("append", err, f) {
		return
	}
	n := s.at
	if n == nil {
		n = r.model.put(s, content, o.Mode)
	} else {
		for _, h := range r.handles {
			if h != nil && h.node == n {
				h.added += content
			}
		}
		n.content += content
	}
	r.published("append", got, s, n)
}

func (r *run) remove(p path, bad *failure, o ambit.RemoveOptions) {
	r.note("remove %q, %+v", p.written, o)
	err := r.fsys.Remove(r.ctx, p.written, &o)
	bad = first(bad, badPrecondition(p, o.If, false))
	if bad == nil && o.Recursive && !o.If.IsZero() {
		bad = p.fail(ambit.ErrInvalid)
	}
	if bad != nil {
		r.expect("remove", err, bad)
		return
	}
	s, f := r.model.removing(p, o)
	if r.expect("remove", err, f) && s.at != nil {
		delete(s.parent.kids, s.name())
	}
}

func (r *run) rename(from, to path, bad, badTo *failure, o ambit.RenameOptions) {
	if !r.caps.Rename {
		return
	}
	r.note("rename %q to %q, %+v", from.written, to.written, o)
	got, err := r.fsys.(ambit.Renamer).Rename(r.ctx, from.written, to.written, &o)
	if bad = first(bad, badTo, badPrecondition(from, o.If, false)); bad != nil {
		r.expect("rename", err, bad)
		return
	}
	s, d, f := r.model.renaming(from, to, o)
	if !r.expect("rename", err, f) {
		return
	}
	if got.Path != d.String() || got.Kind != s.at.kind() {
		r.fail("rename: result %+v; it should be %v at %s", got, s.at.kind(), d.path)
	}
	if s == d {
		return
	}
	delete(s.parent.kids, s.name())
	r.model.folders(d)
	d.parent.kids[d.name()] = s.at
	if !s.at.folder() {
		r.learn(d.String(), s.at, got.Version)
		return
	}
	// What moved along may have new versions, and has never had the old ones
	// under the new name.
	s.at.each(d.String(), func(path string, n *node) {
		if n.folder() {
			return
		}
		info, err := r.fsys.Stat(r.ctx, path)
		if err != nil {
			r.fail("stat %s: %v; it was moved there", path, err)
		}
		r.learn(path, n, info.Version)
	})
}

func (r *run) mkdir(p path, bad *failure, o ambit.MkdirOptions) {
	if !r.caps.Mkdir {
		return
	}
	r.note("mkdir %q, %+v", p.written, o)
	got, err := r.fsys.(ambit.DirMaker).Mkdir(r.ctx, p.written, &o)
	if bad != nil {
		r.expect("mkdir", err, bad)
		return
	}
	created, f := r.model.mkdir(p, o.Parents)
	if r.expect("mkdir", err, f) && !slices.Equal(got, created) {
		r.fail("mkdir: made %q; it should be %q", got, created)
	}
}

// commit decodes up to three changes, the first of them at p.
func (r *run) commit(p path) {
	if !r.caps.Commit {
		return
	}
	var changes []ambit.Change
	var parsed []path
	var contentOf []string
	var bad *failure
	for i := range 1 + r.byte()%3 {
		if i > 0 {
			p, _ = parse(r.text())
		}
		_, f := parse(p.written)
		bad = first(bad, f)
		c := ambit.Change{Op: ambit.OpWrite, Path: p.written, If: r.precondition(p)}
		content := ""
		if r.byte()%3 == 0 {
			c.Op = ambit.OpRemove
		} else {
			content = pick(r, contents)
			c.Content, c.Parents, c.Mode = strings.NewReader(content), r.byte()%2 == 1, r.mode()
		}
		changes, parsed, contentOf = append(changes, c), append(parsed, p), append(contentOf, content)
	}
	for i, c := range changes {
		r.note("commit %d: %s %q, %d bytes, %+v, parents %v, mode %v", i+1, c.Op, c.Path, len(contentOf[i]), c.If, c.Parents, c.Mode)
	}
	got, err := r.fsys.(ambit.Committer).Commit(r.ctx, changes)
	if bad == nil {
		for i, c := range changes {
			bad = first(bad, badPrecondition(parsed[i], c.If, c.Op == ambit.OpWrite))
		}
	}
	if bad == nil && (r.meet(parsed) || removesRoot(changes, parsed)) {
		// Which fault is told first is open here: two changes meet, and one
		// may be wrong by itself too; the root is a folder, and the root.
		if err == nil {
			r.fail("commit succeeded; two changes meet, or the root is removed")
		}
		return
	}
	spots := make([]*spot, len(changes))
	for i, c := range changes {
		if bad != nil {
			break
		}
		if c.Op == ambit.OpWrite {
			spots[i], bad = r.model.writing(parsed[i], c.If, c.Parents)
		} else {
			spots[i], bad = r.model.removing(parsed[i], ambit.RemoveOptions{If: c.If})
			if s, f := r.model.find(parsed[i]); f == nil && s.at != nil && s.at.folder() {
				bad = parsed[i].failAt(ambit.ErrNotAFile, s.at)
			}
		}
	}
	if !r.expect("commit", err, bad) {
		return
	}
	if len(got) != len(changes) {
		r.fail("commit: %d results; it should be %d", len(got), len(changes))
	}
	for i, c := range changes {
		s := spots[i]
		if c.Op == ambit.OpRemove {
			if got[i].Info.Path != s.String() || got[i].Info.Version != s.at.version {
				r.fail("commit: result %+v of a removal; it should be %s at version %q", got[i], s.path, s.at.version)
			}
			delete(s.parent.kids, s.name())
			continue
		}
		// A change before may have made the parents.
		again, _ := r.model.find(s.path)
		s.missing = again.missing
		r.published("commit", got[i], s, r.model.put(s, contentOf[i], c.Mode))
	}
}

func removesRoot(changes []ambit.Change, parsed []path) bool {
	for i, c := range changes {
		if c.Op == ambit.OpRemove && len(parsed[i].names) == 0 {
			return true
		}
	}
	return false
}

// meet reports whether two paths are one, or one lies beneath another.
func (r *run) meet(paths []path) bool {
	for i, p := range paths {
		for _, q := range paths[:i] {
			n := min(len(p.names), len(q.names))
			if slices.Equal(p.names[:n], q.names[:n]) {
				return true
			}
		}
	}
	return false
}

func (r *run) stage(p path, bad *failure, content string, o ambit.WriteOptions) {
	if !r.caps.Stage {
		return
	}
	slot := &r.staged[r.byte()%len(r.staged)]
	if *slot != nil {
		r.note("discard %s", (*slot).path)
		for range 2 {
			if err := (*slot).staged.Discard(r.ctx); err != nil {
				r.fail("discard: %v", err)
			}
		}
		_, err := (*slot).staged.Publish(r.ctx)
		r.expect("publish after discard", err, (*slot).path.fail(ambit.ErrClosed))
		*slot = nil
	}
	r.note("stage %q, %d bytes, %+v", p.written, len(content), o)
	got, err := r.fsys.(ambit.Stager).Stage(r.ctx, p.written, strings.NewReader(content), &o)
	if bad = first(bad, badPrecondition(p, o.If, true)); bad != nil {
		r.expect("stage", err, bad)
		return
	}
	s, f := r.model.writing(p, o.If, o.Parents)
	if !r.expect("stage", err, f) {
		return
	}
	info := got.Info()
	if info.Path != s.String() || info.Size != int64(len(content)) || info.Version != "" {
		r.fail("stage: info %+v; it should be %s of %d bytes without a version", info, s.path, len(content))
	}
	*slot = &stagedWrite{staged: got, path: p, content: content, o: o}
}

func (r *run) publish() {
	slot := &r.staged[r.byte()%len(r.staged)]
	w := *slot
	if w == nil {
		return
	}
	*slot = nil
	r.note("publish %s", w.path)
	got, err := w.staged.Publish(r.ctx)
	s, f := r.model.writing(w.path, w.o.If, w.o.Parents)
	if f == nil && ambit.ReasonOf(err) == ambit.ErrChanged && w.o.Parents {
		// The folder that held the content was removed: nothing is left to
		// publish.
		return
	}
	if r.expect("publish", err, f) {
		r.published("publish", got, s, r.model.put(s, w.content, w.o.Mode))
	}
	_, err = w.staged.Publish(r.ctx)
	r.expect("second publish", err, w.path.fail(ambit.ErrClosed))
}

func (r *run) open(p path, bad *failure) {
	slot := &r.handles[r.byte()%len(r.handles)]
	if *slot != nil {
		r.note("close %s", (*slot).path)
		for range 2 {
			if err := (*slot).file.Close(); err != nil {
				r.fail("close: %v", err)
			}
		}
		err := (*slot).file.Verify(r.ctx)
		r.expect("verify after close", err, (*slot).path.fail(ambit.ErrClosed))
		*slot = nil
	}
	r.note("open %q", p.written)
	file, err := r.fsys.Open(r.ctx, p.written)
	if bad != nil {
		r.expect("open", err, bad)
		return
	}
	n, f := r.model.reach(p)
	if f == nil && n.folder() {
		f = p.failAt(ambit.ErrNotAFile, n)
	}
	if !r.expect("open", err, f) {
		return
	}
	if info := file.Info(); info.Path != p.String() || info.Version != n.version || info.Size != int64(len(n.content)) {
		r.fail("open: info %+v; it should be %s at version %q", info, p, n.version)
	}
	*slot = &handle{file: file, path: p, node: n, content: n.content, version: n.version}
}

// useHandle reads what an open file has left, and verifies it.
func (r *run) useHandle() {
	h := r.handles[r.byte()%len(r.handles)]
	if h == nil {
		return
	}
	r.note("verify and read %s", h.path)
	err := h.file.Verify(r.ctx)
	s, f := r.model.find(h.path)
	if f == nil && s.at == h.node && s.at.version == h.version {
		r.expect("verify", err, nil)
	} else {
		r.expect("verify", err, h.path.fail(ambit.ErrChanged))
	}
	at, ok := h.file.(io.ReaderAt)
	if ok != r.caps.ReadAt {
		r.fail("ReadAt is claimed %v and there %v", r.caps.ReadAt, ok)
	}
	if !ok {
		return
	}
	got, err := io.ReadAll(io.NewSectionReader(at, 0, 1<<40))
	if err != nil {
		r.fail("reading %s: %v", h.path, err)
	}
	if !strings.HasPrefix(string(got), h.content) || !strings.HasPrefix(h.content+h.added, string(got)) {
		r.fail("an open file reads %.60q; it should be %.60q", got, h.content)
	}
}

// read uses the callers' function.
func (r *run) read(p path, bad *failure) {
	r.note("read %q", p.written)
	got, info, err := ambit.ReadFile(r.ctx, r.fsys, p.written)
	if bad != nil {
		r.expect("read", err, bad)
		return
	}
	n, f := r.model.reach(p)
	if f == nil && n.folder() {
		f = p.failAt(ambit.ErrNotAFile, n)
	}
	if r.expect("read", err, f) && (string(got) != n.content || info.Version != n.version) {
		r.fail("read %.60q at version %q; it should be %.60q at %q", got, info.Version, n.content, n.version)
	}
}

// compare walks the file system and the model side by side.
func (r *run) compare() {
	r.compareFolder("/", r.model.root)
}

func (r *run) compareFolder(dir string, n *node) {
	var names []string
	for name := range n.kids {
		names = append(names, name)
	}
	slices.Sort(names)
	limit := 1 + len(r.log)%3
	var entries []ambit.Entry
	for after := ""; ; {
		l, err := r.fsys.List(r.ctx, dir, &ambit.ListOptions{After: after, Limit: limit, Details: true})
		if err != nil {
			r.fail("list %s: %v", dir, err)
		}
		if l.Dir != dir || len(l.Entries) > limit {
			r.fail("list %s: %d entries of %s", dir, len(l.Entries), l.Dir)
		}
		entries = append(entries, l.Entries...)
		if after = l.Next; after == "" {
			break
		}
		if len(entries) > len(names) {
			break
		}
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name)
	}
	if !slices.Equal(got, names) {
		r.fail("list %s: %q; it should be %q", dir, got, names)
	}
	for _, e := range entries {
		kid := n.kids[e.Name]
		in := ambit.Join(dir, e.Name)
		info, err := r.fsys.Stat(r.ctx, in)
		if err != nil {
			r.fail("stat %s: %v", in, err)
		}
		for _, i := range []ambit.FileInfo{e.Info, info} {
			if i.Path != in || i.Kind != kid.kind() || !kid.folder() && i.Size != int64(len(kid.content)) {
				r.fail("%+v is told; it should be a %v of %d bytes at %s", i, kid.kind(), len(kid.content), in)
			}
			if i.Version != kid.version {
				r.fail("%s has the version %q; nothing has changed it since %q", in, i.Version, kid.version)
			}
			if !kid.folder() && r.caps.KeepsMode && i.Mode != kid.mode {
				r.fail("%s has the mode %v; it should be %v", in, i.Mode, kid.mode)
			}
		}
		if kid.folder() {
			r.compareFolder(in, kid)
			continue
		}
		data, _, err := ambit.ReadFile(r.ctx, r.fsys, in)
		if err != nil || string(data) != kid.content {
			r.fail("%s holds %.60q (%v); it should be %.60q", in, data, err, kid.content)
		}
	}
}

// Seeds returns sequences to begin with, the same everywhere.
func Seeds() [][]byte {
	var seeds [][]byte
	state := uint64(1)
	for i := range 64 {
		seq := make([]byte, 40+8*i)
		for j := range seq {
			state = state*6364136223846793005 + 1442695040888963407
			seq[j] = byte(state >> 56)
		}
		seeds = append(seeds, seq)
	}
	return seeds
}
