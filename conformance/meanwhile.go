// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"slices"

	"github.com/ambitfs/ambit"
)

// meanwhile is what may happen to a path between the judgement of a call and
// its publication.
type meanwhile struct {
	id, title string
	path      string
	needs     []requirement
	o         func(p *probe) ambit.WriteOptions
	// happen makes the change where content is read, so that it must not end
	// the goroutine.
	happen func(p *probe) error
	reason ambit.Reason
}

// meanwhileChecks: at publication everything is judged again. What changes the
// path is the content reader itself, so that no clock decides.
func meanwhileChecks() []*check {
	plain := func(*probe) ambit.WriteOptions { return ambit.WriteOptions{} }
	absent := func(*probe) ambit.WriteOptions { return ambit.WriteOptions{If: ambit.IfAbsent()} }
	asItIs := func(p *probe) ambit.WriteOptions {
		return ambit.WriteOptions{If: ambit.IfVersion(p.stat("folder/inner").Version)}
	}
	write := func(p *probe, path, content string) error {
		_, err := ambit.WriteFile(p.ctx, p.fs, path, []byte(content), &ambit.WriteOptions{Parents: true})
		return err
	}
	remove := func(p *probe, path string) error {
		return ambit.Remove(p.ctx, p.fs, path, &ambit.RemoveOptions{Recursive: true})
	}
	mkdir := func(p *probe, path string) error {
		_, err := ambit.Mkdir(p.ctx, p.fs, path, nil)
		return err
	}
	events := []meanwhile{
		{
			id: "changed-meanwhile", title: "whose file changes while its content is read", path: "folder/inner",
			needs: []requirement{needWrite, needSwap, needVersions}, o: asItIs, reason: ambit.ErrChanged,
			happen: func(p *probe) error { return write(p, "folder/inner", "INNER\n") },
		},
		{
			id: "removed-meanwhile", title: "on a version of a file that is removed while its content is read", path: "folder/inner",
			needs: []requirement{needWrite, needRemove, needSwap, needVersions}, o: asItIs, reason: ambit.ErrChanged,
			happen: func(p *probe) error { return remove(p, "folder/inner") },
		},
		{
			id: "created-meanwhile", title: "with IfAbsent whose file comes to be while its content is read", path: "folder/new",
			needs: []requirement{needWrite, needSwap}, o: absent, reason: ambit.ErrExists,
			happen: func(p *probe) error { return write(p, "folder/new", "somebody else's\n") },
		},
		{
			id: "folder-meanwhile", title: "whose name is a folder's when its content is read", path: "folder/inner",
			needs: []requirement{needWrite, needRemove, needMkdir}, o: plain, reason: ambit.ErrNotAFile,
			happen: func(p *probe) error {
				if err := remove(p, "folder/inner"); err != nil {
					return err
				}
				return mkdir(p, "folder/inner")
			},
		},
		{
			id: "parent-removed-meanwhile", title: "whose parent is removed while its content is read", path: "folder/deep/new",
			needs: []requirement{needWrite, needRemove}, o: plain, reason: ambit.ErrNotFound,
			happen: func(p *probe) error { return remove(p, "folder/deep") },
		},
		{
			id: "parent-a-file-meanwhile", title: "whose parent is a file when its content is read", path: "folder/deep/new",
			needs: []requirement{needWrite, needRemove}, o: plain, reason: ambit.ErrNotADirectory,
			happen: func(p *probe) error {
				if err := remove(p, "folder/deep"); err != nil {
					return err
				}
				return write(p, "folder/deep", "a file now\n")
			},
		},
	}
	var out []*check
	for _, m := range contentMethods() {
		for _, e := range events {
			out = append(out, &check{
				id: "write/" + m.id + "-" + e.id, tree: standard, requires: slices.Concat(m.needs, e.needs),
				rule: fmt.Sprintf("%s %s is %s, and the change that was made stays.", m.title, e.title, e.reason),
				run:  func(p *probe) { p.judgedAgain(m, e) },
			})
		}
	}
	return out
}

// judgedAgain checks that m is refused for what happens while its content is
// read, and leaves all as that left it.
func (p *probe) judgedAgain(m contentMethod, e meanwhile) {
	var after map[string]string
	o := e.o(p)
	content := interrupted("begun ", func() {
		if err := e.happen(p); err != nil {
			p.errorf("a change of %q while content is read: %v", e.path, err)
		}
		after = p.snapshot()
	}, "done")
	var err error
	switch m.id {
	case methodWrite.id:
		_, err = p.writable().Write(p.ctx, e.path, content, &o)
	case methodAppend.id:
		_, err = implements[ambit.Appender](p).Append(p.ctx, e.path, content, &ambit.AppendOptions{If: o.If})
	case methodStage.id:
		var s ambit.Staged
		if s, err = implements[ambit.Stager](p).Stage(p.ctx, e.path, content, &o); err == nil {
			_, err = s.Publish(p.ctx)
		}
	default:
		_, err = implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: e.path, Content: content, If: o.If}})
	}
	p.refused(m.opOf(err), e.path, err, e.reason)
	if after == nil {
		p.fatalf("the content was not read")
	}
	p.unchanged(after)
}

// openWhileChangedChecks: an open file keeps its bytes.
func openWhileChangedChecks() []*check {
	const path = "folder/kept"
	// during opens a file of many bytes, reads a part, lets change happen, and
	// checks that the rest is what it was.
	during := func(p *probe, change func()) {
		content := pattern(p.atMost(800_000)/2, 7)
		p.write(path, content, nil)
		for _, read := range []int{0, 1, 5000} {
			read = min(read, len(content))
			f := p.open(path)
			head := make([]byte, read)
			if _, err := io.ReadFull(f, head); err != nil {
				p.errorf("reading: %v", err)
			}
			change()
			info := f.Info()
			if info.Size != int64(len(content)) && info.Size != -1 {
				p.errorf("Info of the open file tells %d bytes, want those %d that were opened", info.Size, len(content))
			}
			rest, err := io.ReadAll(f)
			if err != nil {
				p.errorf("reading the rest: %v", err)
			}
			if got := string(head) + string(rest); got != content {
				p.errorf("the open file gave %s, want the bytes that were opened: %s", brief(got), brief(content))
			}
			if p.caps.ReadAt {
				p.readsAt(f, content)
			}
			p.refused(ambit.OpVerify, path, f.Verify(p.ctx), ambit.ErrChanged)
			f.Close()
			p.write(path, content, &ambit.WriteOptions{Parents: true})
		}
	}
	return []*check{
		{
			id: "write/open-file-replaced", tree: standard, requires: []requirement{needWrite},
			rule: "An open file gives the bytes that were opened, to the end, though the name is replaced meanwhile.",
			run: func(p *probe) {
				during(p, func() { p.write(path, "short", nil) })
				during(p, func() { p.write(path, pattern(p.atMost(500_000), 8), nil) })
				during(p, func() { p.write(path, "", nil) })
			},
		},
		{
			id: "write/open-file-removed", tree: standard, requires: []requirement{needWrite, needRemove},
			rule: "An open file gives the bytes that were opened, to the end, though the name is removed meanwhile.",
			run: func(p *probe) {
				during(p, func() { p.remove(path, nil) })
				during(p, func() { p.remove("folder", &ambit.RemoveOptions{Recursive: true}) })
				during(p, func() {
					p.remove(path, nil)
					p.write(path, "another file", nil)
				})
			},
		},
		{
			id: "write/open-file-renamed-over", tree: standard, requires: []requirement{needWrite, needRename},
			rule: "An open file gives the bytes that were opened, to the end, though it is moved away or another is moved over it meanwhile.",
			run: func(p *probe) {
				during(p, func() { p.rename(path, "folder/away", &ambit.RenameOptions{Replace: true}) })
				during(p, func() {
					p.write("folder/other", "other bytes", nil)
					p.rename("folder/other", path, &ambit.RenameOptions{Replace: true})
				})
			},
		},
		{
			id: "write/open-file-does-not-block", tree: standard, requires: []requirement{needWrite, needRemove},
			rule: "A file that is open keeps nobody from changing its name, and its content from being staged and published.",
			run: func(p *probe) {
				for _, path := range []string{"file", "folder/inner"} {
					f := p.open(path)
					f.Read(make([]byte, 1))
					for _, m := range p.claimedOf([]method{methodWrite, methodAppend, methodStage, methodCommitWrite}) {
						if err := m.call(p.ctx, p, path); err != nil {
							p.errorf("%s to an open file: %v", m.title, err)
						}
					}
					p.remove(path, nil)
					f.Close()
					p.gone("/" + path)
				}
			},
		},
	}
}

// readsAt checks that f, an io.ReaderAt, gives content.
func (p *probe) readsAt(f ambit.File, content string) {
	at, ok := f.(io.ReaderAt)
	if !ok {
		p.fatalf("ReadAt is claimed, but %T has not the method", f)
	}
	for _, off := range []int{0, len(content) / 2, max(len(content)-10, 0)} {
		buf := make([]byte, min(100, len(content)-off))
		if n, err := at.ReadAt(buf, int64(off)); n != len(buf) || string(buf) != content[off:off+n] {
			p.errorf("ReadAt %d gave %d bytes, %v: %s, want %s", off, n, err, brief(string(buf)), brief(content[off:off+len(buf)]))
		}
	}
}
