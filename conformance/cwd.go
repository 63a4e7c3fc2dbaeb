// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// storage is the file system that New returned, which is what the functions of
// a target know.
func (p *probe) storage() ambit.FileSystem {
	if p.built != nil {
		return p.built
	}
	return p.fs
}

// workingDirectory is where the relative paths of fsys start: what Stat tells
// of ".", if that is a folder other than the root; else "/". What is wrong with
// the answer is for the checks of Stat to say.
func (p *probe) workingDirectory(fsys ambit.FileSystem) string {
	cwd := "/"
	q := *p
	q.verdict = &verdict{}
	q.run(func(q *probe) {
		info, err := fsys.Stat(q.ctx, ".")
		if err != nil || !info.IsDir() || info.Path == "/" {
			return
		}
		clean, _, err := ambit.Resolve("/", info.Path)
		if err != nil || clean != info.Path {
			return
		}
		// A root that has another path than "/" is no working directory.
		if root, err := fsys.Stat(q.ctx, "/"); err == nil && root.Path == "/" {
			cwd = clean
		}
	})
	return cwd
}

// fromRoot returns fsys with relative paths that start at the root, as the
// checks mean theirs. It is fsys itself where they start there anyway.
func (p *probe) fromRoot(fsys ambit.FileSystem) ambit.FileSystem {
	if p.workingDirectory(fsys) == "/" {
		return fsys
	}
	moved, err := ambit.Chdir(p.ctx, fsys, "/")
	if err != nil {
		p.fatalf("the root cannot be the working directory: %v", err)
	}
	return moved
}

// workingDirectoryChecks: where relative paths start.
func workingDirectoryChecks(level Level) []*check {
	// Names that are in the root, in a folder of the standard tree and nowhere.
	names := []string{"file", "empty", "inner", "deep", "deep/leaf", "leaf", "folder/inner", "hollow", "./deep//leaf", "gone/../inner", "gone"}
	return slices.DeleteFunc([]*check{
		{
			id: "core/relative-paths", tree: standard,
			rule: "Relative paths start at the working directory, and an error has them as they were written.",
			run: func(p *probe) {
				q := p.on(p.storage())
				cwd := q.workingDirectory(q.fs)
				methods := q.claimedOf([]method{methodOpen, methodStat, methodList, methodLstat, methodSub})
				for _, name := range names {
					absolute, _, _ := ambit.Resolve(cwd, name)
					want, wantErr := q.fs.Stat(q.ctx, absolute)
					got, err := q.fs.Stat(q.ctx, name)
					if got.Path != want.Path || ambit.ReasonOf(err) != ambit.ReasonOf(wantErr) {
						q.errorf("in %q, stat %q is %q, %v, and stat %q is %q, %v", cwd, name, got.Path, err, absolute, want.Path, wantErr)
					}
					for _, m := range methods {
						reason := ambit.ReasonOf(m.call(q.ctx, q, absolute))
						err := m.call(q.ctx, q, name)
						switch {
						case reason != "":
							q.refused(m.op, name, err, reason)
						case err != nil:
							q.errorf("in %q, %s %q: %v, and nothing is wrong with %q", cwd, m.op, name, err, absolute)
						}
					}
					if want.Kind == ambit.KindRegular {
						q.holds(name, q.read(absolute))
					}
				}
				if q.caps.List {
					if got, want := q.names("."), q.names(cwd); !slices.Equal(got, want) {
						q.errorf("the working directory %q lists %q, and %q", cwd, got, want)
					}
				}
			},
		},
		{
			id: "write/relative-paths", tree: standard, requires: []requirement{needWrite},
			rule: "What is changed by a relative path is what has that path in the working directory.",
			run: func(p *probe) {
				q := p.on(p.storage())
				cwd := q.workingDirectory(q.fs)
				at := func(name string) string { return ambit.Join(cwd, name) }
				before := p.snapshot()
				q.published(q.write("relative", written, nil), at("relative"), written, true)
				q.published(q.write("./made//by/it", written, &ambit.WriteOptions{Parents: true}), at("made/by/it"), written, true, at("made"), at("made/by"))
				changed := []string{at("relative"), at("made"), at("made/by"), at("made/by/it")}
				if q.caps.Append {
					q.published(q.append("relative", written, nil), at("relative"), written+written, false)
				}
				if q.caps.Stage {
					r, err := q.stage("staged", written, nil).Publish(q.ctx)
					if err != nil {
						q.fatalf("publish: %v", err)
					}
					q.published(r, at("staged"), written, true)
					changed = append(changed, at("staged"))
				}
				if q.caps.Mkdir {
					if got := q.mkdir("folder-made", nil); !slices.Equal(got, []string{at("folder-made")}) {
						q.errorf("in %q, mkdir made %q", cwd, got)
					}
					changed = append(changed, at("folder-made"))
				}
				if q.caps.Commit {
					r := q.commit(ambit.Change{Op: ambit.OpWrite, Path: "committed", Content: strings.NewReader(written)})
					q.published(r[0], at("committed"), written, true)
					changed = append(changed, at("committed"))
				}
				if q.caps.Rename {
					if info := q.rename("relative", "renamed", nil); info.Path != at("renamed") {
						q.errorf("in %q, rename moved to %q", cwd, info.Path)
					}
					p.gone(at("relative"))
					changed = append(changed, at("renamed"))
				}
				if q.caps.Remove {
					q.remove("made/by/it", nil)
					p.gone(at("made/by/it"))
				}
				p.unchangedExcept(before, changed...)
			},
		},
	}, func(c *check) bool { return c.level() != level })
}
