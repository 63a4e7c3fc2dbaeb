// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ambitfs/ambit"
)

// renameChecks: Rename, by what is at its first path and at its second.
func renameChecks() []*check {
	needs := []requirement{needRename}
	swap := needSwap
	to := func(id, title, from string, o ambit.RenameOptions) method {
		return methodRename.with(id, title, renameFrom(from, o))
	}
	replace := ambit.RenameOptions{Replace: true}
	never := methodRename.with("rename-if-version", "Rename with IfVersion", renameTo("moved", ambit.RenameOptions{If: ambit.IfVersion(neverIssued)}), swap)
	absent := methodRename.with("rename-if-absent", "Rename with IfAbsent", renameTo("moved", ambit.RenameOptions{If: ambit.IfAbsent()}), swap)
	fromSlash := []cell{
		{kind: "file-with-slash", path: "file/", others: []string{"empty/.", "folder/inner/", "file/x/.."}, reason: ambit.ErrNotADirectory},
		{kind: "missing-with-slash", path: "gone/", others: []string{"folder/gone/."}, reason: ambit.ErrNotADirectory},
	}
	folderThere := cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/deep"}, reason: ambit.ErrExists}
	fileToSlash := []cell{
		{kind: "file-with-slash", path: "empty/", others: []string{"folder/inner/", "sib.txt/."}, reason: ambit.ErrNotADirectory},
		{kind: "folder-with-slash", path: "hollow/", others: []string{"folder/", "folder/."}, reason: ambit.ErrNotADirectory},
		{kind: "missing-with-slash", path: "moved/", others: []string{"folder/moved/"}, reason: ambit.ErrNotADirectory},
	}
	moved := func(p *probe, from, to string, o *ambit.RenameOptions, newFrom, newTo string) {
		before := p.snapshot()
		info := p.rename(from, to, o)
		p.gone(newFrom)
		if info.Path != newTo {
			p.errorf("rename %q to %q: the result's path is %q, want %q", from, to, info.Path, newTo)
		}
		p.agree(info, "Stat", p.stat(newTo))
		if !p.caps.List {
			return // no names to compare
		}
		p.became(before, func(seen map[string]string) {
			// One side has the old names, the other the new.
			for _, path := range slices.Collect(maps.Keys(seen)) {
				if ambit.Contains(newFrom, path) {
					seen[newTo+path[len(newFrom):]] = seen[path]
					delete(seen, path)
				}
			}
			for dir := ambit.Dir(newTo); dir != "/"; dir = ambit.Dir(dir) {
				delete(seen, dir)
			}
		})
	}
	return slices.Concat(
		methodRename.refusals(append(fromSlash,
			cell{kind: "missing", path: "gone", others: []string{"folder/gone", "hollow/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "root", path: "/", reason: ambit.ErrInvalid},
		)...),
		never.refusals(
			cell{kind: "missing", path: "gone", others: []string{"gone/x", "folder/gone"}, reason: ambit.ErrChanged},
			cell{kind: "another-version", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrChanged},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/"}, reason: ambit.ErrInvalid},
			cell{kind: "root", path: "/", reason: ambit.ErrInvalid},
			fromSlash[0],
		),
		absent.refusals(cell{kind: "file", path: "file", others: []string{"folder", "gone", "gone/x"}, reason: ambit.ErrInvalid}),

		to("rename-onto", "Rename of a file onto", "file", ambit.RenameOptions{}).refusals(append(fileToSlash,
			cell{kind: "file", path: "empty", others: []string{"folder/inner", "sib/x"}, reason: ambit.ErrExists},
			folderThere,
		)...),
		to("rename-replace", "Rename with Replace of a file onto", "file", replace).refusals(append(fileToSlash, folderThere)...),
		to("rename-folder-onto", "Rename of a folder onto", "sib", ambit.RenameOptions{}).refusals(
			cell{kind: "file", path: "file", others: []string{"folder/inner"}, reason: ambit.ErrExists},
			cell{kind: "file-with-slash", path: "file/", others: []string{"folder/inner/."}, reason: ambit.ErrNotADirectory},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "hollow/", "folder/"}, reason: ambit.ErrExists},
		),
		to("rename-folder-replace", "Rename with Replace of a folder onto", "sib", replace).refusals(
			cell{kind: "file", path: "file", others: []string{"folder/inner"}, reason: ambit.ErrExists},
			cell{kind: "file-with-slash", path: "file/", others: []string{"folder/inner/."}, reason: ambit.ErrNotADirectory},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "hollow/", "folder/"}, reason: ambit.ErrExists},
		),
		[]*check{
			{
				id: "write/rename-file", tree: standard, requires: needs,
				rule: "Rename moves a file, and the result describes what has the new name.",
				run: func(p *probe) {
					content := p.read("file")
					moved(p, "file", "moved", nil, "/file", "/moved")
					moved(p, "./moved", "folder//deep/../deep/moved", &ambit.RenameOptions{}, "/moved", "/folder/deep/moved")
					p.holds("folder/deep/moved", content)
					moved(p, "/empty", "gone/../hollow/empty", nil, "/empty", "/hollow/empty")
					moved(p, "folder/inner", "file", &ambit.RenameOptions{Replace: true}, "/folder/inner", "/file")
					p.describes(p.rename("file", "last", nil), "/last", "inner\n")
				},
			},
			{
				id: "write/rename-folder", tree: standard, requires: needs,
				rule: "Rename moves a folder with all beneath it, and nothing stays behind.",
				run: func(p *probe) {
					moved(p, "folder", "moved", nil, "/folder", "/moved")
					for _, path := range []string{"folder/inner", "folder/deep", "folder/deep/leaf"} {
						p.missing(path)
					}
					p.holds("moved/inner", "inner\n")
					p.holds("moved/deep/leaf", "leaf\n")
					moved(p, "moved/", "hollow/again/", nil, "/moved", "/hollow/again")
					moved(p, "hollow/again/deep/.", "deep", nil, "/hollow/again/deep", "/deep")
					moved(p, "hollow", "full", &ambit.RenameOptions{Replace: true}, "/hollow", "/full")
					p.holds("deep/leaf", "leaf\n")
					p.holds("full/again/inner", "inner\n")
				},
			},
			{
				id: "write/rename-onto-root", tree: standard, requires: needs,
				rule: "The root is never replaced, by a file neither.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, path := range spellings("/") {
						for _, o := range []ambit.RenameOptions{{}, {Replace: true}, {Parents: true}} {
							// Every text of the root asserts a folder, which a file cannot be.
							p.refused(ambit.OpRename, path, renameFrom("file", o)(p.ctx, p, path), ambit.ErrExists, ambit.ErrNotADirectory)
							p.refused(ambit.OpRename, path, renameFrom("sib", o)(p.ctx, p, path), ambit.ErrExists)
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-siblings", tree: standard, requires: needs,
				rule: "Moving a folder touches no other name that begins with the folder's.",
				run: func(p *probe) {
					moved(p, "sib", "si", nil, "/sib", "/si")
					moved(p, "si", "sibli", nil, "/si", "/sibli")
					moved(p, "sibli", "sibling-too", nil, "/sibli", "/sibling-too")
					p.holds("sibling/x", "other x\n")
					p.holds("sib.txt", "sib\n")
				},
			},
			{
				id: "write/rename-replace", tree: standard, requires: needs,
				rule: "Rename with Replace puts a file in the place of another.",
				run: func(p *probe) {
					before := p.snapshot()
					info := p.rename("file", "sib/x", &ambit.RenameOptions{Replace: true})
					p.describes(info, "/sib/x", fileContent)
					p.gone("/file")
					p.unchangedExcept(before, "/file", "/sib/x")
					info = p.rename("sib/x", "new", &ambit.RenameOptions{Replace: true})
					p.describes(info, "/new", fileContent)
				},
			},
			{
				id: "write/rename-parents", tree: standard, requires: needs,
				rule: "Rename with Parents makes the missing parents of the new name.",
				run: func(p *probe) {
					o := &ambit.RenameOptions{Parents: true}
					moved(p, "file", "a/b/moved", o, "/file", "/a/b/moved")
					moved(p, "folder", "a/c/moved", o, "/folder", "/a/c/moved")
					moved(p, "empty", "top", o, "/empty", "/top")
					p.holds("a/b/moved", fileContent)
					p.holds("a/c/moved/deep/leaf", "leaf\n")
				},
			},
			{
				id: "write/rename-parents-refused", tree: standard, requires: needs,
				rule: "A Rename with Parents that is refused makes no parent.",
				run: func(p *probe) {
					before := p.snapshot()
					o := ambit.RenameOptions{Parents: true, Replace: true}
					for from, reason := range map[string]ambit.Reason{
						"gone": ambit.ErrNotFound, "gone/x": ambit.ErrNotFound, "file/x": ambit.ErrNotADirectory, "file/": ambit.ErrNotADirectory, "/": ambit.ErrInvalid,
					} {
						p.refused(ambit.OpRename, from, renameTo("a/b/moved", o)(p.ctx, p, from), reason)
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-onto-itself", tree: standard, requires: needs,
				rule: "Rename of a name onto itself does nothing, and is success.",
				run: func(p *probe) {
					before := p.snapshot()
					for from, names := range map[string][]string{
						"file": {"file", "/file", "./folder/../file"}, "folder": {"folder", "folder/", "/folder/deep/.."}, "hollow/": {"hollow"}, "folder/inner": {"folder/deep/../inner"},
					} {
						for _, to := range names {
							for _, o := range []*ambit.RenameOptions{nil, {Replace: true}, {Parents: true}} {
								was := p.stat(from)
								p.agree(was, "Rename", p.rename(from, to, o))
								p.agree(was, "Stat", p.stat(from))
							}
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-large", tree: standard, requires: []requirement{needRename, needWrite},
				rule: "Rename of a large file, and of a large folder, loses nothing, onto itself neither.",
				run: func(p *probe) {
					content := pattern(p.atMost(2_000_000), 1)
					p.write("hollow/large", content, nil)
					for i := range 60 {
						p.write(fmt.Sprintf("hollow/%d", i), written, nil)
					}
					for _, path := range []string{"hollow/large", "hollow"} {
						for _, o := range []*ambit.RenameOptions{nil, {Replace: true}, {Parents: true}} {
							p.rename(path, "/"+path, o)
							p.holds("hollow/large", content)
						}
					}
					p.describes(p.rename("hollow/large", "sib/x", &ambit.RenameOptions{Replace: true}), "/sib/x", content)
					p.rename("sib/x", "hollow/large", nil)
					p.rename("hollow", "moved", nil)
					p.holds("moved/large", content)
					for i := range 60 {
						p.holds(fmt.Sprintf("moved/%d", i), written)
					}
				},
			},
			{
				id: "write/rename-into-itself", tree: standard, requires: needs,
				rule: "Rename of a folder to a name beneath it is invalid, and changes nothing.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, c := range [][2]string{
						{"folder", "folder/moved"},
						{"folder", "folder/deep/moved"},
						{"folder/", "/folder/./deep/../moved"},
						{"folder/deep", "folder/deep/moved"},
						{"hollow", "hollow/moved"},
						{"hollow", "hollow/moved/"},
					} {
						for _, o := range []ambit.RenameOptions{{}, {Replace: true}, {Parents: true}} {
							p.refusedOne(ambit.OpRename, c[:], renameTo(c[1], o)(p.ctx, p, c[0]), ambit.ErrInvalid)
						}
					}
					p.refusedOne(ambit.OpRename, []string{"folder", "folder/new/moved"},
						renameTo("folder/new/moved", ambit.RenameOptions{Parents: true})(p.ctx, p, "folder"), ambit.ErrInvalid)
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-if-version", tree: standard, requires: []requirement{needRename, needSwap, needVersions},
				rule: "Rename with IfVersion moves the file at that version.",
				run: func(p *probe) {
					v := p.stat("file").Version
					info := p.rename("file", "moved", &ambit.RenameOptions{If: ambit.IfVersion(v)})
					p.describes(info, "/moved", fileContent)
					p.gone("/file")
					info = p.rename("moved", "sib/x", &ambit.RenameOptions{If: ambit.IfVersion(info.Version), Replace: true})
					p.describes(info, "/sib/x", fileContent)
				},
			},
			{
				id: "write/rename-if-version-of-before", tree: standard, requires: []requirement{needRename, needWrite, needSwap, needVersions},
				rule: "Rename on a version before the last write is changed, also when the bytes are the same.",
				run: func(p *probe) {
					v := p.stat("file").Version
					p.write("file", fileContent, nil)
					before := p.snapshot()
					for _, to := range []string{"moved", "sib/x", "empty", "a/b/moved"} {
						for _, o := range []ambit.RenameOptions{{Parents: true}, {Parents: true, Replace: true}} {
							o.If = ambit.IfVersion(v)
							p.refused(ambit.OpRename, "file", renameTo(to, o)(p.ctx, p, "file"), ambit.ErrChanged)
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-if-no-version", tree: standard, requires: []requirement{needRename, needSwap},
				rule: `Rename with IfVersion("") or a malformed version is invalid, and moves nothing.`,
				run: func(p *probe) {
					before := p.snapshot()
					for _, v := range malformed {
						for _, path := range []string{"file", "gone", "folder"} {
							err := renameTo("moved", ambit.RenameOptions{If: ambit.IfVersion(v)})(p.ctx, p, path)
							p.refused(ambit.OpRename, path, err, ambit.ErrInvalid)
						}
					}
					p.unchanged(before)
				},
			},
			{
				id: "write/rename-and-write-again", tree: standard, requires: []requirement{needRename, needWrite},
				rule: "The old name is free afterwards, and the two names are of two files.",
				run: func(p *probe) {
					p.rename("file", "moved", nil)
					r := p.write("file", written, nil)
					p.published(r, "/file", written, true)
					p.holds("moved", fileContent)
					p.rename("folder", "elsewhere", nil)
					r = p.write("folder/inner", written, &ambit.WriteOptions{Parents: true})
					p.published(r, "/folder/inner", written, true, "/folder")
					p.holds("elsewhere/inner", "inner\n")
				},
			},
			{
				id: "write/rename-context-of-both", tree: standard, requires: needs,
				rule: "Rename with a context that is done is canceled, whatever the two paths are.",
				run: func(p *probe) {
					before := p.snapshot()
					done, cancel := context.WithCancel(p.ctx)
					cancel()
					for _, to := range []string{"moved", "file", "folder/x", "gone/x", "..", ""} {
						p.refusedOne(ambit.OpRename, []string{"file", to}, renameTo(to, ambit.RenameOptions{Parents: true})(done, p, "file"), ambit.ErrCanceled)
					}
					p.unchanged(before)
				},
			},
		},
	)
}
