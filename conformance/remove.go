// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/ambitfs/ambit"
)

// removeChecks: Remove in all its forms.
func removeChecks() []*check {
	needs := []requirement{needRemove}
	missingOK := methodRemove.with("remove-missing-ok", "Remove with MissingOK", removeWith(ambit.RemoveOptions{MissingOK: true}))
	recursive := methodRemove.with("remove-recursive", "Remove with Recursive", removeWith(ambit.RemoveOptions{Recursive: true}))
	never := ambit.IfVersion(neverIssued)
	ifVersion := methodRemove.with("remove-if-version", "Remove with IfVersion", removeWith(ambit.RemoveOptions{If: never}), needSwap)
	ifVersionMissingOK := methodRemove.with("remove-if-version-missing-ok", "Remove with IfVersion and MissingOK",
		removeWith(ambit.RemoveOptions{If: never, MissingOK: true}), needSwap)
	ifVersionRecursive := methodRemove.with("remove-recursive-if-version", "Remove with Recursive and IfVersion",
		removeWith(ambit.RemoveOptions{If: never, Recursive: true}), needSwap)
	ifAbsent := methodRemove.with("remove-if-absent", "Remove with IfAbsent", removeWith(ambit.RemoveOptions{If: ambit.IfAbsent()}), needSwap)
	fileSlash := cell{kind: "file-with-slash", path: "file/", others: []string{"empty/.", "folder/inner/", "file/x/.."}, reason: ambit.ErrNotADirectory}
	missingSlash := cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/", "folder/gone/."}, reason: ambit.ErrNotADirectory}
	root := cell{kind: "root", path: "/", reason: ambit.ErrInvalid}
	return slices.Concat(
		methodRemove.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone", "hollow/gone"}, reason: ambit.ErrNotFound},
			cell{kind: "empty-folder", path: "hollow", others: []string{"hollow/", "hollow/."}, reason: ambit.ErrNotAFile},
			cell{kind: "full-folder", path: "folder", others: []string{"folder/", "folder/deep", "sib"}, reason: ambit.ErrNotEmpty},
			fileSlash, missingSlash, root,
		),
		missingOK.refusals(
			cell{kind: "empty-folder", path: "hollow", others: []string{"hollow/"}, reason: ambit.ErrNotAFile},
			cell{kind: "full-folder", path: "folder", others: []string{"folder/"}, reason: ambit.ErrNotEmpty},
			fileSlash, root,
		),
		recursive.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrNotFound},
			fileSlash, missingSlash, root,
		),
		ifVersion.refusals(
			cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrChanged},
			cell{kind: "missing-parent", path: "gone/x", others: []string{"gone/deep/x"}, reason: ambit.ErrChanged},
			cell{kind: "another-version", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrChanged},
			cell{kind: "folder", path: "folder", others: []string{"hollow", "folder/", "hollow/"}, reason: ambit.ErrInvalid},
			fileSlash, missingSlash, root,
		),
		ifVersionMissingOK.refusals(
			cell{kind: "missing", path: "gone", others: []string{"gone/x", "folder/gone"}, reason: ambit.ErrChanged},
			cell{kind: "another-version", path: "file", reason: ambit.ErrChanged},
		),
		ifVersionRecursive.refusals(
			cell{kind: "file", path: "file", others: []string{"folder", "hollow", "folder/", "gone"}, reason: ambit.ErrInvalid},
		),
		ifAbsent.refusals(
			cell{kind: "file", path: "file", others: []string{"gone", "folder", "gone/x"}, reason: ambit.ErrInvalid},
		),
		[]*check{
			{
				id: "write/remove-file", tree: standard, requires: needs,
				rule: "Remove of a file takes its name away and nothing else.",
				run: func(p *probe) {
					for _, path := range []string{"file", "/empty", "./folder//deep/leaf", ".dot", "gone/../sib.txt"} {
						canonical, _, _ := ambit.Resolve("/", path)
						before := p.snapshot()
						p.remove(path, nil)
						p.gone(canonical)
						p.unchangedExcept(before, canonical)
						p.refused(ambit.OpRemove, path, methodRemove.call(p.ctx, p, path), ambit.ErrNotFound)
					}
					if info := p.stat("folder/deep"); !info.IsDir() {
						p.errorf("the emptied folder is a %s", info.Kind)
					}
				},
			},
			{
				id: "write/remove-missing-ok", tree: standard, requires: needs,
				rule: "With MissingOK nothing there is success, a missing parent and a trailing slash included, and a file is removed.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, path := range []string{"gone", "gone/x", "gone/deep/x", "folder/gone", "gone/", "gone/x/"} {
						p.remove(path, &ambit.RemoveOptions{MissingOK: true})
						p.remove(path, &ambit.RemoveOptions{MissingOK: true, Recursive: true})
					}
					p.unchanged(before)
					for range 2 {
						p.remove("file", &ambit.RemoveOptions{MissingOK: true})
						p.remove("folder", &ambit.RemoveOptions{MissingOK: true, Recursive: true})
					}
					p.gone("/file")
					p.gone("/folder")
				},
			},
			{
				id: "write/remove-recursive", tree: standard, requires: needs,
				rule: "Remove with Recursive takes a folder with all beneath it, full or empty, and a file.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, path := range []string{"folder/", "hollow", "file", "/sib//.", "empty"} {
						canonical, _, _ := ambit.Resolve("/", path)
						p.remove(path, &ambit.RemoveOptions{Recursive: true})
						p.gone(canonical)
					}
					p.became(before, func(seen map[string]string) {
						for path := range seen {
							for _, removed := range []string{"/folder", "/hollow", "/file", "/sib", "/empty"} {
								if ambit.Contains(removed, path) {
									delete(seen, path)
								}
							}
						}
					})
					for _, path := range []string{"folder/inner", "folder/deep/leaf", "sib/x"} {
						p.missing(path)
					}
				},
			},
			{
				id: "write/remove-crowd", tree: crowdedTree(), requires: needs,
				rule: "Remove with Recursive takes a folder of any number of names, and leaves no rest.",
				run: func(p *probe) {
					p.refused(ambit.OpRemove, "crowd", methodRemove.call(p.ctx, p, "crowd"), ambit.ErrNotEmpty)
					p.remove("crowd", &ambit.RemoveOptions{Recursive: true})
					p.gone("/crowd")
					for i, name := range crowdNames() {
						if i%100 == 0 || i == crowd-1 {
							p.missing("crowd/" + name)
						}
					}
					p.holds("file", fileContent)
				},
			},
			{
				id: "write/remove-siblings", tree: standard, requires: needs,
				rule: "Removing a folder touches no other name that begins with the folder's.",
				run: func(p *probe) {
					before := p.snapshot()
					p.remove("sib", &ambit.RemoveOptions{Recursive: true})
					p.holds("sibling/x", "other x\n")
					p.holds("sib.txt", "sib\n")
					p.unchangedExcept(before, "/sib", "/sib/x")
				},
			},
			{
				id: "write/remove-and-write-again", tree: standard, requires: []requirement{needRemove, needWrite},
				rule: "A name that was removed is free for a file, a folder's name too, and nothing of what was there comes back.",
				run: func(p *probe) {
					p.remove("folder", &ambit.RemoveOptions{Recursive: true})
					r := p.write("folder", written, nil)
					p.published(r, "/folder", written, true)
					_, err := p.fs.Open(p.ctx, "folder/inner")
					p.refused(ambit.OpOpen, "folder/inner", err, ambit.ErrNotADirectory)
					p.remove("folder", nil)
					r = p.write("folder/other", written, &ambit.WriteOptions{Parents: true})
					p.published(r, "/folder/other", written, true, "/folder")
					p.missing("folder/inner")
					p.missing("folder/deep")
					p.remove("file", nil)
					r = p.write("file/beneath", written, &ambit.WriteOptions{Parents: true})
					p.published(r, "/file/beneath", written, true, "/file")
				},
			},
			{
				id: "write/remove-if-version", tree: standard, requires: []requirement{needRemove, needSwap, needVersions},
				rule: "Remove with IfVersion removes the file at that version.",
				run: func(p *probe) {
					before := p.snapshot()
					for _, path := range []string{"file", "empty", "folder/inner"} {
						p.remove(path, &ambit.RemoveOptions{If: ambit.IfVersion(p.stat(path).Version)})
						p.gone("/" + path)
					}
					v := p.stat(".dot").Version
					p.remove(".dot", &ambit.RemoveOptions{If: ambit.IfVersion(v), MissingOK: true})
					p.unchangedExcept(before, "/file", "/empty", "/folder/inner", "/.dot")
				},
			},
			{
				id: "write/remove-if-version-of-before", tree: standard, requires: []requirement{needRemove, needWrite, needSwap, needVersions},
				rule: "Remove on a version before the last write is changed, also when the bytes are the same.",
				run: func(p *probe) {
					v := p.stat("file").Version
					now := p.write("file", fileContent, nil).Info.Version
					before := p.snapshot()
					err := removeWith(ambit.RemoveOptions{If: ambit.IfVersion(v)})(p.ctx, p, "file")
					p.refused(ambit.OpRemove, "file", err, ambit.ErrChanged)
					p.unchanged(before)
					p.remove("file", &ambit.RemoveOptions{If: ambit.IfVersion(now)})
					p.gone("/file")
				},
			},
			{
				id: "write/remove-if-no-version", tree: standard, requires: []requirement{needRemove, needSwap},
				rule: `Remove with IfVersion("") or a malformed version is invalid, and removes nothing.`,
				run: func(p *probe) {
					before := p.snapshot()
					for _, v := range malformed {
						for _, path := range []string{"file", "gone", "folder"} {
							err := removeWith(ambit.RemoveOptions{If: ambit.IfVersion(v), MissingOK: true})(p.ctx, p, path)
							p.refused(ambit.OpRemove, path, err, ambit.ErrInvalid)
						}
					}
					p.unchanged(before)
				},
			},
		},
	)
}
