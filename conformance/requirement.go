// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// What checks require. An operation that is not claimed has a refusal: it is
// unsupported, or read-only for a change, and nothing changes. A fact that is
// not claimed is not there.
var (
	needList     = operation("List", func(c ambit.Capabilities) bool { return c.List }, refuseList)
	needWrite    = operation("Write", func(c ambit.Capabilities) bool { return c.Write }, refuseWrite)
	needRemove   = operation("Remove", func(c ambit.Capabilities) bool { return c.Remove }, refuseRemove)
	needAppend   = operation("Append", func(c ambit.Capabilities) bool { return c.Append }, refuseAppend)
	needRename   = operation("Rename", func(c ambit.Capabilities) bool { return c.Rename }, refuseRename)
	needMkdir    = operation("Mkdir", func(c ambit.Capabilities) bool { return c.Mkdir }, refuseMkdir)
	needStage    = operation("Stage", func(c ambit.Capabilities) bool { return c.Stage }, refuseStage)
	needCommit   = operation("Commit", func(c ambit.Capabilities) bool { return c.Commit }, refuseCommit)
	needReadLink = operation("ReadLink", func(c ambit.Capabilities) bool { return c.ReadLink }, refuseReadLink)
	needSearch   = operation("Search", func(c ambit.Capabilities) bool { return c.Search }, refuseSearch)
	needSub      = operation("Sub", func(c ambit.Capabilities) bool { return c.Sub }, refuseSub)
	needGuard    = operation("Guard", func(c ambit.Capabilities) bool { return c.Guard }, refuseGuard)

	needVersions = operation("Versions", func(c ambit.Capabilities) bool { return c.Versions }, noVersions)
	needIdentity = operation("Identity", func(c ambit.Capabilities) bool { return c.Identity }, noIdentity)
	needSwap     = operation("Swap", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapChecked }, refuseIf)

	needExactSwap     = quality("Swap exact", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapExact })
	needForeignSwap   = quality("Swap foreign", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapForeign })
	needReadAt        = quality("ReadAt", func(c ambit.Capabilities) bool { return c.ReadAt })
	needLinks         = quality("Links followed", func(c ambit.Capabilities) bool { return c.Links == ambit.LinksFollowed })
	needConfined      = quality("Confined", func(c ambit.Capabilities) bool { return c.Confined })
	needAtomicReplace = quality("AtomicReplace", func(c ambit.Capabilities) bool { return c.AtomicReplace })
	needAtomicRemove  = quality("AtomicRemove", func(c ambit.Capabilities) bool { return c.AtomicRemove })
	needKeepsMode     = quality("KeepsMode", func(c ambit.Capabilities) bool { return c.KeepsMode })
	needMaxFileSize   = quality("MaxFileSize", func(c ambit.Capabilities) bool { return c.MaxFileSize > 0 })

	needDisturb = requirement{name: "Disturb", notRun: true, met: func(_ ambit.Capabilities, t *Target) bool { return t.Disturb != nil }}
	needPeer    = requirement{name: "Peer", notRun: true, met: func(_ ambit.Capabilities, t *Target) bool { return t.Peer != nil }}
)

func operation(name string, claimed func(ambit.Capabilities) bool, refusal func(*probe)) requirement {
	return requirement{
		name: name, refusal: refusal,
		met: func(c ambit.Capabilities, _ *Target) bool { return claimed(c) },
	}
}

// quality is a claim that says nothing where it is absent.
func quality(name string, claimed func(ambit.Capabilities) bool) requirement {
	return operation(name, claimed, nil)
}

// refusal runs f and checks that it was refused and changed nothing.
func (p *probe) refusal(op, path string, f func() error, reasons ...ambit.Reason) {
	before := p.snapshot()
	p.refused(op, path, f(), reasons...)
	p.unchanged(before)
}

func refuseList(p *probe) {
	_, err := p.fs.List(p.ctx, "/", nil)
	p.refused(ambit.OpList, "/", err, ambit.ErrUnsupported)
}

func refuseWrite(p *probe) {
	w, ok := p.fs.(ambit.WritableFileSystem)
	if !ok {
		return
	}
	for _, path := range []string{"file", "new"} {
		p.refusal(ambit.OpWrite, path, func() error {
			_, err := w.Write(p.ctx, path, strings.NewReader("x"), nil)
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseRemove(p *probe) {
	w, ok := p.fs.(ambit.WritableFileSystem)
	if !ok {
		return
	}
	p.refusal(ambit.OpRemove, "file", func() error { return w.Remove(p.ctx, "file", nil) }, ambit.ErrUnsupported, ambit.ErrReadOnly)
}

func refuseAppend(p *probe) {
	if a, ok := p.fs.(ambit.Appender); ok {
		p.refusal(ambit.OpAppend, "file", func() error {
			_, err := a.Append(p.ctx, "file", strings.NewReader("x"), nil)
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseRename(p *probe) {
	if r, ok := p.fs.(ambit.Renamer); ok {
		p.refusal(ambit.OpRename, "file", func() error {
			_, err := r.Rename(p.ctx, "file", "moved", nil)
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseMkdir(p *probe) {
	if m, ok := p.fs.(ambit.DirMaker); ok {
		p.refusal(ambit.OpMkdir, "made", func() error {
			_, err := m.Mkdir(p.ctx, "made", nil)
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseStage(p *probe) {
	if s, ok := p.fs.(ambit.Stager); ok {
		p.refusal(ambit.OpStage, "file", func() error {
			_, err := s.Stage(p.ctx, "file", strings.NewReader("x"), nil)
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseCommit(p *probe) {
	if c, ok := p.fs.(ambit.Committer); ok {
		p.refusal(ambit.OpCommit, "file", func() error {
			_, err := c.Commit(p.ctx, []ambit.Change{{Op: ambit.OpRemove, Path: "file"}})
			return err
		}, ambit.ErrUnsupported, ambit.ErrReadOnly)
	}
}

func refuseReadLink(p *probe) {
	if l, ok := p.fs.(ambit.Linker); ok {
		_, err := l.Lstat(p.ctx, "file")
		p.refused(ambit.OpLstat, "file", err, ambit.ErrUnsupported)
		_, err = l.ReadLink(p.ctx, "file")
		p.refused(ambit.OpReadLink, "file", err, ambit.ErrUnsupported)
	}
}

func refuseSearch(p *probe) {
	if s, ok := p.fs.(ambit.Searcher); ok {
		_, err := s.Glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/"}, func(m ambit.GlobMatch) bool {
			p.errorf("glob found %q", m.Info.Path)
			return true
		})
		p.refused(ambit.OpGlob, "/", err, ambit.ErrUnsupported)
		_, err = s.Grep(p.ctx, ambit.GrepQuery{Pattern: ".", Base: "/"}, func(m ambit.GrepMatch) bool {
			p.errorf("grep found %q", m.Path)
			return true
		})
		p.refused(ambit.OpGrep, "/", err, ambit.ErrUnsupported)
	}
}

func refuseSub(p *probe) {
	if s, ok := p.fs.(ambit.Subber); ok {
		_, err := s.Sub(p.ctx, "folder")
		p.refused(ambit.OpSub, "folder", err, ambit.ErrUnsupported)
	}
}

// refuseGuard: a rule that cannot be kept must open nothing.
func refuseGuard(p *probe) {
	g, ok := p.fs.(ambit.Guarder)
	if !ok {
		return
	}
	guarded := g.Guard(nil)
	if guarded == nil {
		p.fatalf("Guard returned nil")
	}
	_, err := guarded.Open(p.ctx, "file")
	p.refused(ambit.OpOpen, "file", err, ambit.ErrUnsupported)
}

func noVersions(p *probe) {
	if v := p.stat("file").Version; v != "" {
		p.errorf("Versions is not claimed, but a file has version %q", v)
	}
}

func noIdentity(p *probe) {
	if id := p.stat("file").ID; id != "" {
		p.errorf("Identity is not claimed, but a file has ID %q", id)
	}
}

func refuseIf(p *probe) {
	w, err := ambit.Writable(p.fs)
	if err != nil {
		return
	}
	p.refusal(ambit.OpWrite, "new", func() error {
		_, err := w.Write(p.ctx, "new", strings.NewReader("x"), &ambit.WriteOptions{If: ambit.IfAbsent()})
		return err
	}, ambit.ErrUnsupported)
}
