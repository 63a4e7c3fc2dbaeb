// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/ambitfs/ambit"
)

// mkdirChecks: Mkdir with and without Parents.
func mkdirChecks() []*check {
	needs := []requirement{needMkdir}
	parents := methodMkdir.with("mkdir-parents", "Mkdir with Parents", mkdirWith(ambit.MkdirOptions{Parents: true}))
	file := cell{kind: "file", path: "file", others: []string{"file/", "folder/inner", "folder/inner/", "empty/."}, reason: ambit.ErrExists}
	makes := func(p *probe, path string, o *ambit.MkdirOptions, dirs ...string) {
		before := p.snapshot()
		made := p.mkdir(path, o)
		if !slices.Equal(made, dirs) {
			p.errorf("mkdir %q made %q, want %q, outermost first", path, made, dirs)
		}
		for _, dir := range dirs {
			if info := p.stat(dir); info.Path != dir || !info.IsDir() {
				p.errorf("mkdir %q made the %s %q, want the folder %q", path, info.Kind, info.Path, dir)
			}
		}
		if len(dirs) > 0 && p.caps.List {
			if names := p.names(dirs[len(dirs)-1]); len(names) != 0 {
				p.errorf("the new folder %q lists %q", path, names)
			}
		}
		p.unchangedExcept(before, dirs...)
	}
	return slices.Concat(
		methodMkdir.refusals(
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/", "hollow/.", "folder/deep"}, reason: ambit.ErrExists},
			cell{kind: "root", path: "/", reason: ambit.ErrExists},
			cell{kind: "missing-parent-with-slash", path: "gone/x/", others: []string{"gone/deep/x/."}, reason: ambit.ErrNotFound},
			file,
		),
		parents.refusals(file),
		[]*check{
			{
				id: "write/mkdir-missing", tree: standard, requires: needs,
				rule: "Mkdir makes a missing folder and names it.",
				run: func(p *probe) {
					makes(p, "made", nil, "/made")
					makes(p, "folder/./deep//made", &ambit.MkdirOptions{}, "/folder/deep/made")
					makes(p, "/made/made", nil, "/made/made")
					makes(p, "gone/../hollow/made", nil, "/hollow/made")
					p.refused(ambit.OpMkdir, "made", methodMkdir.call(p.ctx, p, "made"), ambit.ErrExists)
				},
			},
			{
				id: "write/mkdir-with-slash", tree: standard, requires: needs,
				rule: "A trailing slash changes nothing for Mkdir.",
				run: func(p *probe) {
					makes(p, "made/", nil, "/made")
					makes(p, "made/two//", nil, "/made/two")
					makes(p, "made/three/.", nil, "/made/three")
					makes(p, "a/b/c/", &ambit.MkdirOptions{Parents: true}, "/a", "/a/b", "/a/b/c")
				},
			},
			{
				id: "write/mkdir-parents", tree: standard, requires: needs,
				rule: "Mkdir with Parents makes all that is missing, and names what it made, outermost first.",
				run: func(p *probe) {
					o := &ambit.MkdirOptions{Parents: true}
					makes(p, "a/b/c", o, "/a", "/a/b", "/a/b/c")
					makes(p, "a/b/d/e", o, "/a/b/d", "/a/b/d/e")
					makes(p, "folder/deep/x/y", o, "/folder/deep/x", "/folder/deep/x/y")
					makes(p, "top", o, "/top")
					makes(p, "1/2/3/4/5/6", o, "/1", "/1/2", "/1/2/3", "/1/2/3/4", "/1/2/3/4/5", "/1/2/3/4/5/6")
				},
			},
			{
				id: "write/mkdir-parents-folder", tree: standard, requires: needs,
				rule: "Mkdir with Parents of a folder that is there, the root too, is success and makes nothing.",
				run: func(p *probe) {
					for _, path := range []string{"folder", "folder/", "hollow", "folder/deep/.", "/", ".", "folder/.."} {
						makes(p, path, &ambit.MkdirOptions{Parents: true})
					}
				},
			},
			{
				id: "write/mkdir-is-a-folder", tree: standard, requires: []requirement{needMkdir, needWrite},
				rule: "A made folder takes files and is listed once.",
				run: func(p *probe) {
					p.mkdir("made", nil)
					r := p.write("made/new", written, nil)
					p.published(r, "/made/new", written, true)
					_, err := p.writable().Write(p.ctx, "made", failingReader("", errContent), nil)
					p.refused(ambit.OpWrite, "made", err, ambit.ErrNotAFile)
					if p.caps.List {
						if got := p.names("made"); !slices.Equal(got, []string{"new"}) {
							p.errorf("%q lists %q", "made", got)
						}
						n := 0
						for _, name := range p.names("/") {
							if name == "made" {
								n++
							}
						}
						if n != 1 {
							p.errorf("the root lists the new folder %d times", n)
						}
					}
				},
			},
		},
	)
}
