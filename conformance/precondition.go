// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// malformed are texts that no version can have.
var malformed = []ambit.Version{"", `"quoted"`, "two words", "caf\u00e9", "tab\t", "line\n", "\x00", "\x7f", ambit.Version(strings.Repeat("v", ambit.MaxVersion+1))}

// preconditionChecks: IfAbsent and IfVersion for Write, Append, Stage and a
// write of Commit.
func preconditionChecks() []*check {
	var out []*check
	for _, m := range publishings() {
		swap := []requirement{needSwap}
		versions := []requirement{needSwap, needVersions}
		absent := ambit.WriteOptions{If: ambit.IfAbsent()}
		absentParents := ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true}
		never := ambit.WriteOptions{If: ambit.IfVersion(neverIssued)}
		neverParents := ambit.WriteOptions{If: ambit.IfVersion(neverIssued), Parents: true}
		out = slices.Concat(out,
			m.method.with(m.id+"-if-absent", m.title+" with IfAbsent", m.with(absent), swap...).refusals(
				cell{kind: "file", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrExists},
				cell{kind: "folder", path: "folder", others: []string{"hollow"}, reason: ambit.ErrExists},
				cell{kind: "folder-with-slash", path: "folder/", others: []string{"hollow/", "folder/."}, reason: ambit.ErrExists},
				cell{kind: "root", path: "/", reason: ambit.ErrExists},
				cell{kind: "missing-parent", path: "gone/x", others: []string{"gone/deep/x", "gone/b/a/c/x"}, reason: ambit.ErrNotFound},
				cell{kind: "file-used-as-folder", path: "file/x", others: []string{"file/deep/x"}, reason: ambit.ErrNotADirectory},
				cell{kind: "file-with-slash", path: "file/", reason: ambit.ErrNotADirectory},
				cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
			),
			m.method.with(m.id+"-if-version", m.title+" with IfVersion", m.with(never), swap...).refusals(
				cell{kind: "missing", path: "gone", others: []string{"folder/gone"}, reason: ambit.ErrChanged},
				cell{kind: "missing-parent", path: "gone/x", others: []string{"gone/deep/x"}, reason: ambit.ErrChanged},
				cell{kind: "another-version", path: "file", others: []string{"empty", "folder/inner"}, reason: ambit.ErrChanged},
				cell{kind: "folder", path: "folder", others: []string{"hollow"}, reason: ambit.ErrNotAFile},
				cell{kind: "root", path: "/", reason: ambit.ErrNotAFile},
				cell{kind: "folder-with-slash", path: "folder/", others: []string{"hollow/."}, reason: ambit.ErrNotAFile},
				cell{kind: "file-used-as-folder", path: "file/x", others: []string{"file/deep/x"}, reason: ambit.ErrNotADirectory},
				cell{kind: "file-with-slash", path: "file/", reason: ambit.ErrNotADirectory},
				cell{kind: "missing-with-slash", path: "gone/", others: []string{"gone/x/"}, reason: ambit.ErrNotADirectory},
			),
			m.method.with(m.id+"-if-version-parents", m.title+" with IfVersion and Parents", m.with(neverParents), swap...).refusals(
				cell{kind: "missing-parent", path: "gone/x", others: []string{"gone/deep/x", "gone"}, reason: ambit.ErrChanged},
			),
			m.method.with(m.id+"-if-absent-parents", m.title+" with IfAbsent and Parents", m.with(absentParents), swap...).refusals(
				cell{kind: "file", path: "folder/inner", others: []string{"file"}, reason: ambit.ErrExists},
				cell{kind: "file-used-as-folder", path: "file/x", others: []string{"file/deep/x"}, reason: ambit.ErrNotADirectory},
			),
			[]*check{
				{
					id: "write/" + m.id + "-if-absent", tree: standard, requires: slices.Concat(m.needs, swap),
					rule: m.title + " with IfAbsent creates a file where nothing is, and once only.",
					run: func(p *probe) {
						before := p.snapshot()
						r := m.publish(p, "new", written, absent)
						p.published(r, "/new", written, true)
						p.refused(m.op, "new", m.with(absent)(p.ctx, p, "new"), ambit.ErrExists)
						r = m.publish(p, "a/b/new", written, absentParents)
						p.published(r, "/a/b/new", written, true, "/a", "/a/b")
						p.refused(m.op, "a/b/new", m.with(absentParents)(p.ctx, p, "a/b/new"), ambit.ErrExists)
						p.unchangedExcept(before, "/new", "/a", "/a/b", "/a/b/new")
						p.holds("new", written)
					},
				},
				{
					id: "write/" + m.id + "-if-version", tree: standard, requires: slices.Concat(m.needs, versions),
					rule: m.title + " with IfVersion works on the version that Stat, Open and List tell, and on no earlier one.",
					run: func(p *probe) {
						before := p.snapshot()
						content := fileContent
						for i := range 4 {
							old := p.stat("file").Version
							now := content
							content = m.after(content, strings.Repeat("x", i+1))
							r := m.publish(p, "file", strings.Repeat("x", i+1), ambit.WriteOptions{If: ambit.IfVersion(old)})
							p.published(r, "/file", content, false)
							err := m.with(ambit.WriteOptions{If: ambit.IfVersion(old)})(p.ctx, p, "file")
							p.refused(m.op, "file", err, ambit.ErrChanged)
							p.holds("file", content)
							if now == content {
								p.errorf("nothing was written")
							}
						}
						f := p.open("folder/inner")
						f.Close()
						r := m.publish(p, "/folder//inner", written, ambit.WriteOptions{If: ambit.IfVersion(f.Info().Version), Parents: true})
						p.published(r, "/folder/inner", m.after("inner\n", written), false)
						p.unchangedExcept(before, "/file", "/folder/inner")
					},
				},
				{
					id: "write/" + m.id + "-own-version", tree: standard, requires: slices.Concat(m.needs, versions),
					rule: m.title + " gives the version for the next change: one's own change makes nobody stale but those before it.",
					run: func(p *probe) {
						_, info, err := ambit.ReadFile(p.ctx, p.fs, "file")
						if err != nil {
							p.fatalf("reading: %v", err)
						}
						v0, content := info.Version, fileContent
						chain := []ambit.Version{v0}
						for i := range 6 {
							add := string(rune('a' + i))
							content = m.after(content, add)
							r := m.publish(p, "file", add, ambit.WriteOptions{If: ambit.IfVersion(chain[i])})
							chain = append(chain, r.Info.Version)
						}
						p.holds("file", content)
						for _, stale := range chain[:6] {
							err := m.with(ambit.WriteOptions{If: ambit.IfVersion(stale)})(p.ctx, p, "file")
							p.refused(m.op, "file", err, ambit.ErrChanged)
						}
						p.holds("file", content)
					},
				},
				{
					id: "write/" + m.id + "-if-no-version", tree: standard, requires: slices.Concat(m.needs, swap),
					rule: m.title + ` with IfVersion("") or a malformed version is invalid: a missing version is not "whatever is there".`,
					run: func(p *probe) {
						before := p.snapshot()
						for _, v := range malformed {
							for _, path := range []string{"file", "empty", "new", "gone/x", "folder"} {
								err := m.with(ambit.WriteOptions{If: ambit.IfVersion(v), Parents: true})(p.ctx, p, path)
								p.refused(m.op, path, err, ambit.ErrInvalid)
							}
						}
						p.unchanged(before)
					},
				},
			},
		)
	}
	return append(out,
		&check{
			id: "write/if-version-after-foreign-change", tree: standard, requires: []requirement{needWrite, needVersions, needSwap, needDisturb},
			rule: "A version that was read before another program changed the file fits no more.",
			run: func(p *probe) {
				for _, kind := range []ChangeKind{DisturbReplace, DisturbRewrite, DisturbRemove} {
					v := p.write("file", fileContent, nil).Info.Version
					p.disturb(Change{Kind: kind, Path: "/file", Data: strings.ToUpper(fileContent)})
					before := p.snapshot()
					for _, m := range p.claimedOf(conditional(ambit.IfVersion(v))) {
						p.refused(m.op, "file", m.call(p.ctx, p, "file"), ambit.ErrChanged)
					}
					p.unchanged(before)
				}
			},
		},
		&check{
			id: "write/if-version-of-a-peer", tree: standard, requires: []requirement{needWrite, needVersions, needSwap, needPeer},
			rule: "A version works for every client of the storage, and fits no more once any of them has changed the file.",
			run: func(p *probe) {
				peer := p.peer()
				first := p.stat("file").Version
				r, err := ambit.WriteFile(p.ctx, peer, "file", []byte("from the other client\n"), &ambit.WriteOptions{If: ambit.IfVersion(first)})
				if err != nil {
					p.fatalf("the other client's write on the version that this one tells: %v", err)
				}
				_, err = ambit.WriteFile(p.ctx, p.fs, "file", []byte(written), &ambit.WriteOptions{If: ambit.IfVersion(first)})
				p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
				p.holds("file", "from the other client\n")
				if _, err := ambit.WriteFile(p.ctx, p.fs, "file", []byte(written), &ambit.WriteOptions{If: ambit.IfVersion(r.Info.Version)}); err != nil {
					p.errorf("a write on the version that the other client was told: %v", err)
				}
			},
		},
	)
}
