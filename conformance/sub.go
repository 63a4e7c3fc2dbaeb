// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// sub opens the folder dir as a file system of its own, or ends the check.
func (p *probe) sub(dir string) ambit.FileSystem {
	sub, err := implements[ambit.Subber](p).Sub(p.ctx, dir)
	if err != nil || sub == nil {
		p.fatalf("sub %q: %v, %v", dir, sub, err)
	}
	return sub
}

// within returns a probe of the folder dir as a file system of its own, which
// shows tree. Its faults are p's.
func (p *probe) within(dir string, tree Tree) *probe {
	q := p.on(p.sub(dir))
	q.caps, q.tree = q.fs.Capabilities(), tree
	return q
}

// folderTree is what the standard tree holds beneath its folder "folder".
var folderTree = ParseTree("-- inner --\ninner\n-- deep/leaf --\nleaf\n")

// subChecks: a folder as a file system of its own.
func subChecks() []*check {
	needs := []requirement{needSub}
	return slices.Concat(
		methodSub.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "file", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrNotADirectory},
			cell{kind: "file-with-slash", path: "file/", reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
		),
		[]*check{
			{
				id: "core/sub-reads", tree: standard, requires: needs,
				rule: `In a Sub the folder is "/", and what is beneath it is what is there, under paths of the Sub.`,
				run: func(p *probe) {
					for _, dir := range []string{"folder", "folder/", "/folder", "gone/../folder//.", "./folder/deep/.."} {
						q := p.within(dir, folderTree)
						for path, want := range map[string]string{
							"inner": "inner\n", "/inner": "inner\n", "deep/../inner": "inner\n", "folder/../inner": "inner\n", "deep/leaf": "leaf\n",
						} {
							q.holds(path, want)
						}
						f := q.open("/deep//leaf")
						if got := f.Info().Path; got != "/deep/leaf" {
							q.errorf("Info tells the path %q, want %q", got, "/deep/leaf")
						}
						f.Close()
						for _, path := range []string{"/", "."} {
							if info := q.stat(path); info.Path != "/" || !info.IsDir() {
								q.errorf("stat %q: the %s %q", path, info.Kind, info.Path)
							}
						}
						q.missing("folder")
						q.missing("file")
					}
				},
			},
			{
				id: "core/sub-lists", tree: standard, requires: []requirement{needSub, needList},
				rule: "A Sub lists its folder as its root, with paths of the Sub.",
				run: func(p *probe) {
					q := p.within("folder", folderTree)
					l, err := q.fs.List(q.ctx, ".", nil)
					if err != nil || l == nil {
						q.fatalf("list: %v, %v", l, err)
					}
					if l.Dir != "/" || len(l.Entries) != 2 || l.Entries[0].Info.Path != "/deep" || l.Entries[1].Info.Path != "/inner" {
						q.errorf("the Sub's root is listed as %+v", l)
					}
					if got := q.names("deep"); !slices.Equal(got, []string{"leaf"}) {
						q.errorf("%q lists %q", "deep", got)
					}
				},
			},
			{
				id: "core/sub-confines", tree: standard, requires: needs,
				rule: `Nothing above the folder is reached through a Sub: ".." at its root is outside, and an absolute path starts at it.`,
				run: func(p *probe) {
					q := p.within("folder/deep", ParseTree("-- leaf --\nleaf\n"))
					for _, path := range []string{"..", "../inner", "/../inner", "leaf/../../inner", "../../file", "../deep/leaf", "../../beside/secret", "/.."} {
						for _, m := range q.claimedOf(pathMethods()) {
							q.refused(m.op, path, m.call(q.ctx, q, path), ambit.ErrOutside)
						}
					}
					for _, path := range []string{"/folder/deep/leaf", "/folder/inner", "/inner", "/file"} {
						f, err := q.fs.Open(q.ctx, path)
						if err == nil && f != nil {
							f.Close()
						}
						q.refused(ambit.OpOpen, path, err, ambit.ErrNotFound)
					}
				},
			},
			{
				id: "core/sub-refuses-as-its-own", tree: standard, requires: needs,
				rule: "What a Sub refuses it tells in paths of the Sub.",
				run: func(p *probe) {
					q := p.within("folder", folderTree)
					for path, reason := range map[string]ambit.Reason{
						"gone": ambit.ErrNotFound, "gone/x": ambit.ErrNotFound, "deep/gone/x": ambit.ErrNotFound, "deep": ambit.ErrNotAFile,
						"/": ambit.ErrNotAFile, ".": ambit.ErrNotAFile, "inner/x": ambit.ErrNotADirectory, "inner/": ambit.ErrNotADirectory, "": ambit.ErrInvalidPath,
					} {
						_, err := q.fs.Open(q.ctx, path)
						q.refused(ambit.OpOpen, path, err, reason)
						q.facts(ambit.OpOpen, path, err, false)
					}
				},
			},
			{
				id: "core/sub-of-a-sub", tree: standard, requires: needs,
				rule: "A Sub of a Sub, and one of the root, are what their folder is.",
				run: func(p *probe) {
					q := p.within("/", p.tree)
					q.holds("file", fileContent)
					q.holds("/folder/inner", "inner\n")
					if q = p.within("folder", folderTree); !q.caps.Sub {
						return
					}
					q = q.within("deep", ParseTree("-- leaf --\nleaf\n"))
					q.holds("leaf", "leaf\n")
					_, err := q.fs.Stat(q.ctx, "../inner")
					q.refused(ambit.OpStat, "../inner", err, ambit.ErrOutside)
				},
			},
			{
				id: "core/sub-outlives-its-call", tree: standard, requires: needs,
				rule: "The context of a call to Sub governs that call alone.",
				run: func(p *probe) {
					ctx, cancel := context.WithCancel(p.ctx)
					defer cancel()
					sub, err := implements[ambit.Subber](p).Sub(ctx, "folder")
					if err != nil || sub == nil {
						p.fatalf("sub: %v, %v", sub, err)
					}
					cancel()
					p.on(sub).holds("inner", "inner\n")
				},
			},
		},
	)
}

// subWriteChecks: changes through a Sub.
func subWriteChecks() []*check {
	return []*check{
		{
			id: "write/sub-writes", tree: standard, requires: []requirement{needSub, needWrite},
			rule: "A write through a Sub is beneath its folder, seen by both, and tells paths of the Sub.",
			run: func(p *probe) {
				before := p.snapshot()
				q := p.within("folder", folderTree)
				if !q.caps.Write {
					return
				}
				r := q.write("a/b/new", written, &ambit.WriteOptions{Parents: true})
				q.published(r, "/a/b/new", written, true, "/a", "/a/b")
				r = q.write("/inner", "", nil)
				q.published(r, "/inner", "", false)
				p.holds("folder/a/b/new", written)
				p.holds("folder/inner", "")
				p.write("folder/deep/leaf", "from above\n", nil)
				q.holds("deep/leaf", "from above\n")
				p.unchangedExcept(before, "/folder/a", "/folder/a/b", "/folder/a/b/new", "/folder/inner", "/folder/deep/leaf")
			},
		},
		{
			id: "write/sub-root-stays", tree: standard, requires: []requirement{needSub, needRemove},
			rule: "The root of a Sub can be neither removed nor renamed through it.",
			run: func(p *probe) {
				before := p.snapshot()
				q := p.within("folder", folderTree)
				for _, path := range []string{"/", ".", "deep/.."} {
					for _, o := range []ambit.RemoveOptions{{}, {Recursive: true}, {MissingOK: true}} {
						if q.caps.Remove {
							q.refused(ambit.OpRemove, path, removeWith(o)(q.ctx, q, path), ambit.ErrInvalid)
						}
					}
					if q.caps.Rename {
						q.refused(ambit.OpRename, path, renameTo("moved", ambit.RenameOptions{})(q.ctx, q, path), ambit.ErrInvalid)
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "write/sub-changes", tree: standard, requires: []requirement{needSub, needWrite},
			rule: "Every change that a Sub claims is made beneath its folder, and told in paths of the Sub.",
			run: func(p *probe) {
				before := p.snapshot()
				var touched []string
				q := p.within("folder", folderTree)
				if q.caps.Remove {
					q.remove("deep", &ambit.RemoveOptions{Recursive: true})
					q.gone("/deep")
					touched = append(touched, "/folder/deep/leaf", "/folder/deep")
				}
				if q.caps.Mkdir {
					if made := q.mkdir("made/two", &ambit.MkdirOptions{Parents: true}); !slices.Equal(made, []string{"/made", "/made/two"}) {
						q.errorf("mkdir made %q", made)
					}
					touched = append(touched, "/folder/made", "/folder/made/two")
				}
				if q.caps.Append {
					q.published(q.append("inner", "more", nil), "/inner", "inner\nmore", false)
					touched = append(touched, "/folder/inner")
				}
				if q.caps.Rename {
					content := q.read("inner")
					q.describes(q.rename("/inner", "moved", nil), "/moved", content)
					touched = append(touched, "/folder/inner", "/folder/moved")
				}
				if q.caps.Stage {
					s := q.stage("staged", written, nil)
					if got := s.Info().Path; got != "/staged" {
						q.errorf("the staged path is %q", got)
					}
					r, err := s.Publish(q.ctx)
					if err != nil {
						q.fatalf("publish: %v", err)
					}
					q.published(r, "/staged", written, true)
					touched = append(touched, "/folder/staged")
				}
				if q.caps.Commit {
					r := q.commit(ambit.Change{Op: ambit.OpWrite, Path: "committed", Content: strings.NewReader(written)})
					q.published(r[0], "/committed", written, true)
					touched = append(touched, "/folder/committed")
				}
				p.unchangedExcept(before, touched...)
			},
		},
	}
}
