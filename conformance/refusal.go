// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"strings"

	"github.com/ambitfs/ambit"
)

// The refusal forms of operations that are not claimed: each call that would
// work if it were is refused, and nothing changes. A type without the method
// at all is refused by the compiler. A capability is judged before the context
// and the path, so that a call which is wrong in those ways as well is refused
// for the same reason.

// refusesCalls runs call, which makes the operation op on path, as it is, with
// a context that is done, and on a path that is none.
func (p *probe) refusesCalls(op string, reasons []ambit.Reason, call func(ctx context.Context, path string) error, paths ...string) {
	done, cancel := context.WithCancel(p.ctx)
	cancel()
	before := p.snapshot()
	for _, path := range append(paths, "", "..") {
		p.refused(op, path, call(p.ctx, path), reasons...)
		p.refused(op, path, call(done, path), reasons...)
	}
	p.unchanged(before)
}

var unsupported = []ambit.Reason{ambit.ErrUnsupported}

// changeRefused are the reasons for a change that is not claimed. One that has
// Write is no read-only file system.
func (p *probe) changeRefused() []ambit.Reason {
	if p.caps.Write {
		return unsupported
	}
	return []ambit.Reason{ambit.ErrUnsupported, ambit.ErrReadOnly}
}

func refuseList(p *probe) {
	p.refusesCalls(ambit.OpList, unsupported, func(ctx context.Context, path string) error {
		_, err := p.fs.List(ctx, path, nil)
		return err
	}, "/", "folder", "gone")
}

func refuseWrite(p *probe) {
	w, ok := p.fs.(ambit.WritableFileSystem)
	if !ok {
		return
	}
	for _, o := range []*ambit.WriteOptions{nil, {Parents: true}} {
		p.refusesCalls(ambit.OpWrite, p.changeRefused(), func(ctx context.Context, path string) error {
			_, err := w.Write(ctx, path, strings.NewReader(written), o)
			return err
		}, "file", "new", "folder/new", "gone/new")
	}
}

func refuseRemove(p *probe) {
	w, ok := p.fs.(ambit.WritableFileSystem)
	if !ok {
		return
	}
	for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true, MissingOK: true}} {
		p.refusesCalls(ambit.OpRemove, p.changeRefused(), func(ctx context.Context, path string) error {
			return w.Remove(ctx, path, o)
		}, "file", "folder/inner", "folder", "hollow", "gone")
	}
}

func refuseAppend(p *probe) {
	a, ok := p.fs.(ambit.Appender)
	if !ok {
		return
	}
	for _, o := range []*ambit.AppendOptions{nil, {Parents: true}} {
		p.refusesCalls(ambit.OpAppend, p.changeRefused(), func(ctx context.Context, path string) error {
			_, err := a.Append(ctx, path, strings.NewReader(written), o)
			return err
		}, "file", "new", "gone/new")
	}
}

func refuseRename(p *probe) {
	r, ok := p.fs.(ambit.Renamer)
	if !ok {
		return
	}
	for to, o := range map[string]*ambit.RenameOptions{"moved": nil, "empty": {Replace: true}, "gone/moved": {Parents: true}} {
		p.refusesCalls(ambit.OpRename, p.changeRefused(), func(ctx context.Context, path string) error {
			_, err := r.Rename(ctx, path, to, o)
			return err
		}, "file", "folder", "folder/inner")
	}
}

func refuseMkdir(p *probe) {
	m, ok := p.fs.(ambit.DirMaker)
	if !ok {
		return
	}
	for _, o := range []*ambit.MkdirOptions{nil, {Parents: true}} {
		p.refusesCalls(ambit.OpMkdir, p.changeRefused(), func(ctx context.Context, path string) error {
			_, err := m.Mkdir(ctx, path, o)
			return err
		}, "made", "made/", "gone/made", "folder")
	}
}

func refuseStage(p *probe) {
	s, ok := p.fs.(ambit.Stager)
	if !ok {
		return
	}
	for _, o := range []*ambit.WriteOptions{nil, {Parents: true}} {
		p.refusesCalls(ambit.OpStage, p.changeRefused(), func(ctx context.Context, path string) error {
			staged, err := s.Stage(ctx, path, strings.NewReader(written), o)
			if err == nil && staged != nil {
				staged.Discard(p.ctx)
			}
			return err
		}, "file", "new", "gone/new")
	}
}

func refuseCommit(p *probe) {
	c, ok := p.fs.(ambit.Committer)
	if !ok {
		return
	}
	p.refusesCalls(ambit.OpCommit, p.changeRefused(), func(ctx context.Context, path string) error {
		_, err := c.Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: path}})
		return err
	}, "file", "folder/inner")
	p.refusesCalls(ambit.OpCommit, p.changeRefused(), func(ctx context.Context, path string) error {
		_, err := c.Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(written), Parents: true}})
		return err
	}, "file", "new", "gone/new")
	_, err := c.Commit(p.ctx, nil)
	p.refused(ambit.OpCommit, "", err, p.changeRefused()...)
}

func refuseReadLink(p *probe) {
	l, ok := p.fs.(ambit.Linker)
	if !ok {
		return
	}
	paths := []string{"file", "folder", "gone"}
	if p.caps.Links == ambit.LinksFollowed {
		paths = append(paths, "link-file", "dangling")
	}
	p.refusesCalls(ambit.OpLstat, unsupported, func(ctx context.Context, path string) error {
		_, err := l.Lstat(ctx, path)
		return err
	}, paths...)
	p.refusesCalls(ambit.OpReadLink, unsupported, func(ctx context.Context, path string) error {
		_, err := l.ReadLink(ctx, path)
		return err
	}, paths...)
}

func refuseSearch(p *probe) {
	s, ok := p.fs.(ambit.Searcher)
	if !ok {
		return
	}
	for _, base := range []string{"/", "folder", "file", "gone"} {
		_, err := s.Glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: base}, func(m ambit.GlobMatch) bool {
			p.errorf("glob found %q", m.Info.Path)
			return true
		})
		p.refused(ambit.OpGlob, base, err, ambit.ErrUnsupported)
		_, err = s.Grep(p.ctx, ambit.GrepQuery{Pattern: ".", Base: base}, func(m ambit.GrepMatch) bool {
			p.errorf("grep found %q", m.Path)
			return true
		})
		p.refused(ambit.OpGrep, base, err, ambit.ErrUnsupported)
	}
}

func refuseSub(p *probe) {
	s, ok := p.fs.(ambit.Subber)
	if !ok {
		return
	}
	p.refusesCalls(ambit.OpSub, unsupported, func(ctx context.Context, path string) error {
		_, err := s.Sub(ctx, path)
		return err
	}, "/", "folder", "gone")
}

// refuseGuard: a rule that cannot be kept must open nothing.
func refuseGuard(p *probe) {
	g, ok := p.fs.(ambit.Guarder)
	if !ok {
		return
	}
	guarded := g.Guard(func(context.Context, ambit.Op, string) error { return nil })
	if guarded == nil {
		p.fatalf("Guard returned nil")
	}
	_, err := guarded.Open(p.ctx, "file")
	p.refused(ambit.OpOpen, "file", err, ambit.ErrUnsupported)
	_, err = guarded.Stat(p.ctx, "file")
	p.refused(ambit.OpStat, "file", err, ambit.ErrUnsupported)
	_, err = guarded.List(p.ctx, "/", nil)
	p.refused(ambit.OpList, "/", err, ambit.ErrUnsupported)
	if w, ok := guarded.(ambit.WritableFileSystem); ok {
		before := p.snapshot()
		_, err = w.Write(p.ctx, "new", strings.NewReader(written), nil)
		p.refused(ambit.OpWrite, "new", err, ambit.ErrUnsupported, ambit.ErrReadOnly)
		err = w.Remove(p.ctx, "file", nil)
		p.refused(ambit.OpRemove, "file", err, ambit.ErrUnsupported, ambit.ErrReadOnly)
		p.unchanged(before)
	}
}

func noVersions(p *probe) {
	p.eachInfo("file", func(where string, i ambit.FileInfo) {
		if i.Version != "" {
			p.errorf("Versions is not claimed, but %s tells the version %q", where, i.Version)
		}
	})
}

func noIdentity(p *probe) {
	p.eachInfo("file", func(where string, i ambit.FileInfo) {
		if i.ID != "" {
			p.errorf("Identity is not claimed, but %s tells the ID %q", where, i.ID)
		}
	})
}

// eachInfo passes on what every way to look tells of the file name in the root,
// the result of a write that does not change it included.
func (p *probe) eachInfo(name string, look func(where string, i ambit.FileInfo)) {
	f := p.open(name)
	f.Close()
	look("Open", f.Info())
	look("Stat", p.stat(name))
	if p.caps.List {
		l, err := p.fs.List(p.ctx, "/", &ambit.ListOptions{Details: true})
		if err != nil {
			p.fatalf("list: %v", err)
		}
		for _, e := range l.Entries {
			if e.Name == name {
				look("List", e.Info)
			}
		}
	}
	if p.caps.Write {
		look("Write", p.write(name, p.read(name), nil).Info)
	}
}

// refuseIf: a precondition that nobody checks must not be taken.
func refuseIf(p *probe) {
	before := p.snapshot()
	for _, m := range p.claimedOf(creating(ambit.IfAbsent())) {
		p.refused(m.op, "new", m.call(p.ctx, p, "new"), ambit.ErrUnsupported)
	}
	for _, m := range p.claimedOf(conditional(ambit.IfVersion(neverIssued))) {
		p.refused(m.op, "file", m.call(p.ctx, p, "file"), ambit.ErrUnsupported)
	}
	p.unchanged(before)
}
