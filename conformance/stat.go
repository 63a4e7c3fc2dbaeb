// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/ambitfs/ambit"
)

// statChecks: Stat of files and folders.
func statChecks() []*check {
	return slices.Concat(
		methodStat.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone", "hollow/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "file-with-slash", path: "file/", others: []string{"file/.", "file//", "folder/inner/", "file/x/.."}, reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/.", "gone/x/", "folder/gone/", "gone/x/.."}, reason: ambit.ErrNotADirectory},
		),
		[]*check{
			{
				id: "core/stat-file", tree: standard,
				rule: "Stat describes a file: canonical path, kind, size.",
				run: func(p *probe) {
					for path, content := range map[string]string{"file": fileContent, "empty": "", "folder/inner": "inner\n", ".dot": "dot\n"} {
						info := p.stat(path)
						if info.Path != "/"+path || info.Kind != ambit.KindRegular || info.Size != int64(len(content)) && info.Size != -1 {
							p.errorf("%q: %s %q of %d bytes, want a file of %d", path, info.Kind, info.Path, info.Size, len(content))
						}
						if info.Mode != info.Mode.Perm() {
							p.errorf("%q: the mode %v has more than permission bits", path, info.Mode)
						}
						p.agree(info, "Stat again", p.stat(path))
					}
				},
			},
			{
				id: "core/stat-folder", tree: standard,
				rule: "Stat describes a folder, the root and an empty one too, and a folder has no version.",
				run: func(p *probe) {
					for path, canonical := range map[string]string{"folder": "/folder", "folder/deep/": "/folder/deep", "hollow": "/hollow", "/": "/", ".": "/"} {
						info := p.stat(path)
						if info.Path != canonical || info.Kind != ambit.KindDirectory {
							p.errorf("%q: %s %q, want the folder %q", path, info.Kind, info.Path, canonical)
						}
						if info.Version != "" {
							p.errorf("the folder %q has the version %q", path, info.Version)
						}
						if info.Mode != info.Mode.Perm() {
							p.errorf("%q: the mode %v has more than permission bits", path, info.Mode)
						}
					}
				},
			},
			{
				id: "core/mode-of-the-tree", requires: []requirement{needKeepsMode},
				tree: ParseTree("-- run.sh 0755 --\n#!/bin/sh\n-- conf 0640 --\nk = v\n-- folder/open 0666 --\nx\n"),
				rule: "Permission bits are shown, by Open, Stat and List alike.",
				run: func(p *probe) {
					for _, n := range p.tree {
						f := p.open(n.Path)
						f.Close()
						if got := f.Info().Mode; got != n.Mode {
							p.errorf("Open shows %q with the mode %v, want %v", n.Path, got, n.Mode)
						}
						if got := p.stat(n.Path).Mode; got != n.Mode {
							p.errorf("Stat shows %q with the mode %v, want %v", n.Path, got, n.Mode)
						}
						if !p.caps.List {
							continue
						}
						l, err := p.fs.List(p.ctx, ambit.Dir("/"+n.Path), &ambit.ListOptions{Details: true})
						if err != nil {
							p.fatalf("list: %v", err)
						}
						for _, e := range l.Entries {
							if e.Info.Path == "/"+n.Path && e.Info.Mode != n.Mode {
								p.errorf("List shows %q with the mode %v, want %v", n.Path, e.Info.Mode, n.Mode)
							}
						}
					}
				},
			},
		},
	)
}

// lstatChecks: Lstat and ReadLink where no link is.
func lstatChecks() []*check {
	return slices.Concat(
		methodLstat.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "file-with-slash", path: "file/", others: []string{"file/.", "folder/inner/"}, reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
		),
		methodReadLink.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "file", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrInvalid},
			cell{kind: "folder", path: "folder", others: []string{"hollow"}, reason: ambit.ErrInvalid},
			cell{kind: "root", path: "/", reason: ambit.ErrInvalid},
			cell{kind: "folder-with-slash", path: "folder/", others: []string{"hollow/."}, reason: ambit.ErrInvalid},
			cell{kind: "file-with-slash", path: "file/", reason: ambit.ErrNotADirectory},
			cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
		),
		[]*check{{
			id: "core/lstat-is-stat", tree: standard, requires: []requirement{needReadLink},
			rule: "Where no link is, Lstat tells what Stat tells.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty", "folder", "folder/", "folder/deep", "hollow/.", "/", "folder/inner"} {
					info, err := implements[ambit.Linker](p).Lstat(p.ctx, path)
					if err != nil {
						p.errorf("lstat %q: %v", path, err)
						continue
					}
					p.agree(p.stat(path), "Lstat", info)
				}
			},
		}},
	)
}
