// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// writes returns a change that writes content to path.
func writes(path, content string) ambit.Change {
	return ambit.Change{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(content)}
}

// removes returns a change that removes path.
func removes(path string) ambit.Change { return ambit.Change{Op: ambit.OpRemove, Path: path} }

// commitChecks: Commit, where it is native.
func commitChecks() []*check {
	needs := []requirement{needCommit}
	removeIfVersion := methodCommitRemove.with("commit-remove-if-version", "Commit of a removal with IfVersion",
		commitRemoveWith(ambit.RemoveOptions{If: ambit.IfVersion(neverIssued)}), needSwap)
	removeIfAbsent := methodCommitRemove.with("commit-remove-if-absent", "Commit of a removal with IfAbsent",
		commitRemoveWith(ambit.RemoveOptions{If: ambit.IfAbsent()}), needSwap)
	return slices.Concat(
		methodCommitRemove.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/deep"}, reason: ambit.ErrNotAFile},
			cell{kind: "file-with-slash", path: "file/", others: []string{"folder/inner/."}, reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
		),
		removeIfVersion.refusals(
			cell{kind: "missing", path: "gone", others: []string{"gone/x"}, reason: ambit.ErrChanged},
			cell{kind: "another-version", path: "file", others: []string{"folder/inner"}, reason: ambit.ErrChanged},
		),
		removeIfAbsent.refusals(cell{kind: "file", path: "file", others: []string{"gone"}, reason: ambit.ErrInvalid}),
		[]*check{
			{
				id: "write/commit", tree: standard, requires: needs,
				rule: "Commit makes all changes and returns one result for each, in order.",
				run: func(p *probe) {
					before := p.snapshot()
					created := ambit.Change{Op: ambit.OpWrite, Path: "a/b/new", Content: strings.NewReader("created\n"), Parents: true}
					r := p.commit(writes("./file", "replaced\n"), removes("folder//inner"), created, writes("empty", ""), removes(".dot"), writes("top", "new\n"))
					p.published(r[0], "/file", "replaced\n", false)
					p.published(r[2], "/a/b/new", "created\n", true, "/a", "/a/b")
					p.published(r[3], "/empty", "", false)
					p.published(r[5], "/top", "new\n", true)
					for i, path := range map[int]string{1: "/folder/inner", 4: "/.dot"} {
						if r[i].Info.Path != path || r[i].Info.Kind != ambit.KindRegular || r[i].Created || len(r[i].CreatedDirs) != 0 {
							p.errorf("the result of the removal of %q is %+v, want what was removed", path, r[i])
						}
						p.gone(path)
					}
					p.unchangedExcept(before, "/file", "/folder/inner", "/a", "/a/b", "/a/b/new", "/empty", "/.dot", "/top")
				},
			},
			{
				id: "write/commit-empty", tree: standard, requires: needs,
				rule: "Commit of no changes is success with no results.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, none := range [][]ambit.Change{nil, {}} {
						if r := p.commit(none...); len(r) != 0 {
							p.errorf("%d results", len(r))
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/commit-many", tree: standard, requires: needs,
				rule: "Commit takes any number of changes.",
				run: func(p *probe) {
					before := p.snapshot()
					var changes []ambit.Change
					var paths []string
					for i := range 60 {
						name := "many/" + string(rune('a'+i%26)) + "/" + strings.Repeat("n", i/26+1)
						changes = append(changes, ambit.Change{Op: ambit.OpWrite, Path: name, Content: strings.NewReader(name), Parents: true})
						paths = append(paths, "/"+name)
					}
					results := p.commit(changes...)
					for i, r := range results {
						if r.Info.Path != paths[i] || !r.Created {
							p.errorf("result %d is of %q, Created %v, want %q", i, r.Info.Path, r.Created, paths[i])
						}
						p.holds(paths[i], paths[i][1:])
					}
					made := map[string]int{}
					for _, r := range results {
						for _, dir := range r.CreatedDirs {
							made[dir]++
						}
					}
					for _, dir := range []string{"/many", "/many/a", "/many/z"} {
						if made[dir] == 0 {
							p.errorf("no result names the made folder %q", dir)
						}
					}
					all := append(paths, "/many")
					for c := 'a'; c <= 'z'; c++ {
						all = append(all, "/many/"+string(c))
					}
					p.unchangedExcept(before, all...)
				},
			},
			{
				id: "write/commit-move", tree: standard, requires: []requirement{needCommit, needSwap, needVersions},
				rule: "A Commit moves a file by writing it under the new name with IfAbsent and removing the old name with IfVersion.",
				run: func(p *probe) {
					before := p.snapshot()
					f := p.open("file")
					defer f.Close()
					write := ambit.Change{Op: ambit.OpWrite, Path: "a/moved", Content: f, If: ambit.IfAbsent(), Parents: true}
					remove := removes("file")
					remove.If = ambit.IfVersion(f.Info().Version)
					r := p.commit(write, remove)
					p.published(r[0], "/a/moved", fileContent, true, "/a")
					p.gone("/file")
					p.unchangedExcept(before, "/file", "/a", "/a/moved")
				},
			},
			{
				id: "write/commit-refused", tree: standard, requires: needs,
				rule: "A Commit with one change that is refused changes nothing and makes no folder, and its error has that change's path.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, c := range []struct {
						bad    ambit.Change
						reason ambit.Reason
					}{
						{writes("gone/x", "x"), ambit.ErrNotFound},
						{writes("sib", "x"), ambit.ErrNotAFile},
						{writes("file/x", "x"), ambit.ErrNotADirectory},
						{writes("sib.txt/", "x"), ambit.ErrNotADirectory},
						{writes("..", "x"), ambit.ErrOutside},
						{writes("", "x"), ambit.ErrInvalidPath},
						{removes("gone"), ambit.ErrNotFound},
						{removes("hollow"), ambit.ErrNotAFile},
						{removes("sib"), ambit.ErrNotAFile},
						{removes("../x"), ambit.ErrOutside},
						{ambit.Change{Op: ambit.OpWrite, Path: "new", Content: failingReader("begun", errContent)}, ambit.ErrIO},
						{ambit.Change{Op: ambit.OpWrite, Path: "sib/x", Content: failingReader("begun", errContent)}, ambit.ErrIO},
					} {
						for at := range 4 {
							good := []ambit.Change{
								{Op: ambit.OpWrite, Path: "made/for/it", Content: strings.NewReader("made"), Parents: true},
								writes("empty", "changed"),
								removes("folder/inner"),
							}
							_, err := implements[ambit.Committer](p).Commit(p.ctx, slices.Insert(good, at, c.bad))
							p.refused(ambit.OpCommit, c.bad.Path, err, c.reason)
							if c.reason == ambit.ErrIO && err != nil && !errors.Is(err, errContent) {
								p.errorf("the content's error is not in the chain: %v", err)
							}
							if r, ok := c.bad.Content.(*strings.Reader); ok {
								r.Seek(0, io.SeekStart)
							} else if c.bad.Content != nil {
								c.bad.Content = failingReader("begun", errContent)
							}
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/commit-refused-precondition", tree: standard, requires: []requirement{needCommit, needSwap},
				rule: "A Commit with one precondition that does not hold changes nothing and makes no folder.",
				run: func(p *probe) {
					before := p.snapshot()
					absent, stale, staleRemoval, noVersion := writes("sib.txt", "x"), writes("sib.txt", "x"), removes("sib.txt"), writes("sib.txt", "x")
					absent.If, stale.If, staleRemoval.If, noVersion.If = ambit.IfAbsent(), ambit.IfVersion(neverIssued), ambit.IfVersion(neverIssued), ambit.IfVersion("")
					for _, c := range []struct {
						bad    ambit.Change
						reason ambit.Reason
					}{{absent, ambit.ErrExists}, {stale, ambit.ErrChanged}, {staleRemoval, ambit.ErrChanged}, {noVersion, ambit.ErrInvalid}} {
						for at := range 4 {
							for first := range 3 {
								good := []ambit.Change{
									{Op: ambit.OpWrite, Path: "made/for/it", Content: strings.NewReader("made"), Parents: true},
									writes("empty", "changed"),
									removes("folder/inner"),
								}
								good = append(good[first:], good[:first]...)
								_, err := implements[ambit.Committer](p).Commit(p.ctx, slices.Insert(good, at, c.bad))
								p.refused(ambit.OpCommit, "sib.txt", err, c.reason)
								if r, ok := c.bad.Content.(*strings.Reader); ok {
									r.Seek(0, io.SeekStart)
								}
							}
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/commit-repeated", tree: standard, requires: needs,
				rule: "Two changes of one file, by whatever path, and one beneath another's file, are invalid, and change nothing.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, pair := range [][2]func() ambit.Change{
						{func() ambit.Change { return writes("file", "1") }, func() ambit.Change { return writes("file", "2") }},
						{func() ambit.Change { return writes("file", "1") }, func() ambit.Change { return writes("/folder/../file", "2") }},
						{func() ambit.Change { return writes("file", "1") }, func() ambit.Change { return removes("./file") }},
						{func() ambit.Change { return removes("/file") }, func() ambit.Change { return writes("file", "2") }},
						{func() ambit.Change { return removes("file") }, func() ambit.Change { return removes("gone/../file") }},
						{func() ambit.Change { return writes("new", "1") }, func() ambit.Change { return writes("gone/../new", "2") }},
						{
							func() ambit.Change { return writes("new", "1") },
							func() ambit.Change {
								return ambit.Change{Op: ambit.OpWrite, Path: "new/x", Content: strings.NewReader("2"), Parents: true}
							},
						},
						{
							func() ambit.Change {
								return ambit.Change{Op: ambit.OpWrite, Path: "new/deep/x", Content: strings.NewReader("1"), Parents: true}
							},
							func() ambit.Change { return writes("new", "2") },
						},
					} {
						a, b := pair[0](), pair[1]()
						_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{a, writes("empty", "changed"), b})
						p.refusedOne(ambit.OpCommit, []string{a.Path, b.Path}, err, ambit.ErrInvalid)
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/commit-siblings", tree: standard, requires: needs,
				rule: "Changes of names that only begin alike are of different files.",
				run: func(p *probe) {
					before := p.snapshot()
					r := p.commit(writes("new", "1"), writes("new.txt", "2"), writes("sib/x", "3"), writes("sibling/x", "4"), writes("sib.txt", "5"))
					for i, path := range []string{"/new", "/new.txt", "/sib/x", "/sibling/x", "/sib.txt"} {
						p.published(r[i], path, string(rune('1'+i)), i < 2)
					}
					p.unchangedExcept(before, "/new", "/new.txt", "/sib/x", "/sibling/x", "/sib.txt")
				},
			},
			{
				id: "write/commit-invalid", tree: standard, requires: needs,
				rule: "An Op that is neither write nor remove, and Content, Parents or Mode with a removal, are invalid, and change nothing.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, bad := range []ambit.Change{
						{Path: "file"},
						{Op: "append", Path: "file", Content: strings.NewReader("x")},
						{Op: ambit.OpMkdir, Path: "made"},
						{Op: "Write", Path: "file", Content: strings.NewReader("x")},
						{Op: ambit.OpWrite, Path: "file"},
						{Op: ambit.OpRemove, Path: "file", Content: strings.NewReader("x")},
						{Op: ambit.OpRemove, Path: "file", Parents: true},
						{Op: ambit.OpRemove, Path: "file", Mode: 0o644},
						{Op: ambit.OpWrite, Path: "file", Content: strings.NewReader("x"), Mode: 1 << 20},
					} {
						_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{writes("new", "x"), bad})
						p.refused(ambit.OpCommit, bad.Path, err, ambit.ErrInvalid)
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/commit-before-the-first", tree: standard, requires: needs,
				rule: "Each change is judged against the state before the first.",
				run: func(p *probe) {
					before := p.snapshot()
					made := ambit.Change{Op: ambit.OpWrite, Path: "made/one", Content: strings.NewReader("1"), Parents: true}
					_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{made, writes("made/two", "2")})
					p.refused(ambit.OpCommit, "made/two", err, ambit.ErrNotFound)
					p.unchanged(before)
					one, two := made, made
					one.Content, two.Content, two.Path = strings.NewReader("1"), strings.NewReader("2"), "made/two"
					r := p.commit(one, two)
					if !r[0].Created || !r[1].Created {
						p.errorf("Created is %v and %v", r[0].Created, r[1].Created)
					}
					p.holds("made/one", "1")
					p.holds("made/two", "2")
					p.unchangedExcept(before, "/made", "/made/one", "/made/two")
				},
			},
			{
				id: "write/commit-remove-if-version", tree: standard, requires: []requirement{needCommit, needSwap, needVersions},
				rule: "A Commit removes and replaces on the versions that Stat tells.",
				run: func(p *probe) {
					before := p.snapshot()
					gone, replaced := removes("file"), writes("folder/inner", written)
					gone.If, replaced.If = ambit.IfVersion(p.stat("file").Version), ambit.IfVersion(p.stat("folder/inner").Version)
					r := p.commit(gone, replaced)
					p.gone("/file")
					p.published(r[1], "/folder/inner", written, false)
					p.unchangedExcept(before, "/file", "/folder/inner")
				},
			},
		},
	)
}
