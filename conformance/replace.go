// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// publishing is one of the three methods that section 5 of docs/contract.md
// judges alike.
type publishing struct {
	method
	with    func(o ambit.WriteOptions) func(context.Context, *probe, string) error
	publish func(p *probe, path, content string, o ambit.WriteOptions) ambit.WriteResult
}

func publishings() []publishing {
	return []publishing{
		{methodWrite, writeWith, func(p *probe, path, content string, o ambit.WriteOptions) ambit.WriteResult {
			return p.write(path, content, &o)
		}},
		{methodAppend, appendWith, func(p *probe, path, content string, o ambit.WriteOptions) ambit.WriteResult {
			return p.append(path, content, &ambit.AppendOptions{If: o.If, Parents: o.Parents, Mode: o.Mode})
		}},
		{methodStage, stageWith, func(p *probe, path, content string, o ambit.WriteOptions) ambit.WriteResult {
			r, err := p.stage(path, content, &o).Publish(p.ctx)
			if err != nil {
				p.fatalf("publish %q: %v", path, err)
			}
			return r
		}},
		{methodCommitWrite, commitWriteWith, func(p *probe, path, content string, o ambit.WriteOptions) ambit.WriteResult {
			return p.commit(ambit.Change{
				Op: ambit.OpWrite, Path: path, Content: strings.NewReader(content), If: o.If, Parents: o.Parents, Mode: o.Mode,
			})[0]
		}},
	}
}

// after returns what m leaves of the file's old content and the new.
func (m publishing) after(old, content string) string {
	if m.id == methodAppend.id {
		return old + content
	}
	return content
}

// creationChecks: a file that comes to be.
func creationChecks() []*check {
	var out []*check
	for _, m := range publishings() {
		out = append(out, m.refusals(
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/.", "gone/x/", "folder/gone/"}, reason: ambit.ErrNotADirectory},
		)...)
		out = append(out, m.method.with(m.id+"-parents", m.title+" with Parents", m.with(ambit.WriteOptions{Parents: true})).refusals(
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/", "folder/gone/."}, reason: ambit.ErrNotADirectory},
		)...)
		out = append(out,
			&check{
				id: "write/" + m.id + "-missing", tree: standard, requires: m.needs,
				rule: m.title + " to a missing name creates the file, and the result tells all of it.",
				run: func(p *probe) {
					for path, canonical := range map[string]string{
						"new": "/new", "/other": "/other", "folder/../third": "/third", ".//folder/./new": "/folder/new", "gone/../hollow//new": "/hollow/new",
					} {
						before := p.snapshot()
						r := m.publish(p, path, written, ambit.WriteOptions{})
						p.published(r, canonical, written, true)
						p.unchangedExcept(before, canonical)
					}
				},
			},
			&check{
				id: "write/" + m.id + "-nil-options", tree: standard, requires: m.needs,
				rule: "Nil options are the zero value.",
				run: func(p *probe) {
					var err error
					switch m.id {
					case methodWrite.id:
						_, err = p.writable().Write(p.ctx, "new", strings.NewReader(written), nil)
					case methodAppend.id:
						_, err = implements[ambit.Appender](p).Append(p.ctx, "new", strings.NewReader(written), nil)
					case methodStage.id:
						var s ambit.Staged
						if s, err = implements[ambit.Stager](p).Stage(p.ctx, "new", strings.NewReader(written), nil); err == nil {
							_, err = s.Publish(p.ctx)
						}
					default:
						err = m.call(p.ctx, p, "new")
					}
					if err != nil {
						p.errorf("%s with nil options: %v", m.title, err)
					}
					p.holds("new", written)
				},
			},
			&check{
				id: "write/" + m.id + "-parents", tree: standard, requires: m.needs,
				rule: m.title + " with Parents makes the missing parents, and the result names them, outermost first.",
				run: func(p *probe) {
					for _, c := range []struct {
						path, canonical string
						dirs            []string
					}{
						{"a/b/c/new", "/a/b/c/new", []string{"/a", "/a/b", "/a/b/c"}},
						{"a/b/other/new", "/a/b/other/new", []string{"/a/b/other"}},
						{"folder/deep//new/./x", "/folder/deep/new/x", []string{"/folder/deep/new"}},
						{"hollow/x/../y/new", "/hollow/y/new", []string{"/hollow/y"}},
						{"a/new", "/a/new", nil},
						{"top", "/top", nil},
					} {
						before := p.snapshot()
						r := m.publish(p, c.path, written, ambit.WriteOptions{Parents: true})
						p.published(r, c.canonical, written, true, c.dirs...)
						p.unchangedExcept(before, append(c.dirs, c.canonical)...)
					}
				},
			},
			&check{
				id: "write/" + m.id + "-empty", tree: standard, requires: m.needs,
				rule: m.title + " of no bytes is no special case: a missing file is created empty.",
				run: func(p *probe) {
					before := p.snapshot()
					r := m.publish(p, "new", "", ambit.WriteOptions{})
					p.published(r, "/new", "", true)
					r = m.publish(p, "folder/inner", "", ambit.WriteOptions{})
					p.published(r, "/folder/inner", m.after("inner\n", ""), false)
					p.unchangedExcept(before, "/new", "/folder/inner")
				},
			},
		)
	}
	return out
}

// replaceChecks: a file that is there already.
func replaceChecks() []*check {
	var out []*check
	for _, m := range publishings() {
		out = append(out, m.refusals(
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/deep"}, reason: ambit.ErrNotAFile},
			cell{kind: "root", path: "/", reason: ambit.ErrNotAFile},
			cell{kind: "file-with-slash", path: "file/", others: []string{"file/.", "folder/inner/", "file/x/.."}, reason: ambit.ErrNotADirectory},
			cell{kind: "folder-with-slash", path: "folder/", others: []string{"hollow/", "folder/."}, reason: ambit.ErrNotAFile},
		)...)
		out = append(out,
			&check{
				id: "write/" + m.id + "-bad-mode", tree: standard, requires: m.needs,
				rule: m.title + " with a Mode that has more than permission bits is invalid, and changes nothing.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, mode := range []fs.FileMode{fs.ModeDir | 0o755, fs.ModeSetuid | 0o755, fs.ModeSticky, fs.ModeSymlink | 0o777, 1 << 9} {
						for _, path := range []string{"file", "new", "gone/new", "folder"} {
							err := m.with(ambit.WriteOptions{Mode: mode, Parents: true})(p.ctx, p, path)
							p.refused(m.op, path, err, ambit.ErrInvalid)
						}
					}
					p.unchanged(before)
				},
			},
		)
		if m.id == methodAppend.id {
			continue
		}
		out = append(out, &check{
			id: "write/" + m.id + "-file", tree: standard, requires: m.needs,
			rule: m.title + " to a file replaces it whole, by longer bytes, shorter ones and none, and changes nothing else.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty", "folder/deep/leaf", "sib/x", ".dot"} {
					before := p.snapshot()
					for _, content := range []string{strings.Repeat(written, 5), "short", "", written, "x"} {
						r := m.publish(p, path, content, ambit.WriteOptions{})
						p.published(r, "/"+path, content, false)
					}
					p.unchangedExcept(before, "/"+path)
				}
				before := p.snapshot()
				r := m.publish(p, "gone/../folder/.//inner", written, ambit.WriteOptions{Parents: true})
				p.published(r, "/folder/inner", written, false)
				p.unchangedExcept(before, "/folder/inner")
			},
		})
	}
	return append(out, &check{
		id: "write/write-listed", tree: standard, requires: []requirement{needWrite, needList},
		rule: "A written file is listed once, and nothing else is listed that was not there.",
		run: func(p *probe) {
			before := p.names("/")
			for range 3 {
				p.write("new", written, nil)
				p.write("file", written, nil)
			}
			want := append(slices.Clone(before), "new")
			slices.Sort(want)
			if got := p.names("/"); !slices.Equal(got, want) {
				p.errorf("the root lists %q, want %q", got, want)
			}
		},
	})
}
