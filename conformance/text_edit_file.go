// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
)

// escapes is the positive control of links that lead out: through them a file
// beside the root is read and another one created.
func escapes(p *probe) {
	for _, path := range []string{"outward", "outward-folder/secret"} {
		p.holds(path, secret)
	}
	p.write("outward-dangling", written, nil)
	p.holds("outward-folder/none", written)
}

// editFileChecks: what an edit does to a file beside its content.
func editFileChecks() []*check {
	list := []*check{
		{
			id: "text/edit-refused-paths", requires: needsEdit, tree: standard,
			rule: "An edit of what is no file is refused as Open refuses it, creates nothing and changes nothing.",
			run: func(p *probe) {
				for _, c := range []struct {
					path   string
					reason ambit.Reason
				}{
					{"gone", ambit.ErrNotFound},
					{"gone/new", ambit.ErrNotFound},
					{"folder", ambit.ErrNotAFile},
					{"folder/", ambit.ErrNotAFile},
					{"file/x", ambit.ErrNotADirectory},
					{"file/", ambit.ErrNotADirectory},
					{"", ambit.ErrInvalidPath},
					{"fi\x00le", ambit.ErrInvalidPath},
				} {
					p.editRefused(c.path, nil, []ambit.Reason{c.reason}, replaced("alpha", "omega")...)
				}
				// A fault of the ops does not depend on what is there.
				for _, path := range []string{"gone", "folder", "file"} {
					p.editRefused(path, nil, []ambit.Reason{ambit.ErrInvalid}, replaced("", "omega")...)
				}
				p.editRefused("file", nil, []ambit.Reason{ambit.ErrInvalid})
				p.editRefused("file", &edit.Options{If: ambit.IfAbsent()}, []ambit.Reason{ambit.ErrInvalid}, replaced("alpha", "omega")...)
			},
		},
		{
			id: "text/edit-out-of-the-root", requires: needsEdit, tree: standard, machine: true,
			rule: "An edit above the root is outside, and of the root itself not-a-file.",
			run: func(p *probe) {
				for _, path := range []string{"..", "../beside/secret", "folder/../../file"} {
					p.editRefused(path, nil, []ambit.Reason{ambit.ErrOutside}, replaced("SECRET", "x")...)
				}
				p.editRefused("/", nil, []ambit.Reason{ambit.ErrNotAFile}, replaced("alpha", "x")...)
			},
			control: func(p *probe) { p.holds("../beside/secret", secret) },
		},
		{
			id: "text/edit-spellings", requires: needsEdit, tree: standard,
			rule: "An edit takes a path in every spelling and tells the canonical one.",
			run: func(p *probe) {
				want := "alpha\nbeta\n"
				for i, path := range spellings("folder/inner") {
					old := p.read("folder/inner")
					want = strings.Repeat("i", i+1) + "\n"
					p.edits(path, want, nil, replaced(old, want)...)
				}
			},
		},
		{
			id: "text/edit-dry-run", requires: needsEdit, tree: standard,
			rule: "A dry run tells what the edit would do, and does nothing.",
			run: func(p *probe) {
				before, was := p.snapshot(), p.stat("file")
				outcome, err := p.text.Edit(p.ctx, p.fs, "file", replaced("alpha", "omega"), &edit.Options{DryRun: true})
				if err != nil || string(outcome.Content) != "omega\nbeta\n" || outcome.Diff == "" || outcome.After != (ambit.FileInfo{}) {
					p.errorf("a dry run: %q, diff %q, after %+v, %v", outcome.Content, outcome.Diff, outcome.After, err)
				}
				p.agree(was, "the outcome's Before", outcome.Before)
				p.unchanged(before)
				p.untouched("file", was, nil)
				p.editRefused("file", &edit.Options{DryRun: true}, []ambit.Reason{ambit.ErrNoMatch}, replaced("nope", "x")...)
				real := p.edits("file", "omega\nbeta\n", nil, replaced("alpha", "omega")...)
				if real.Diff != outcome.Diff {
					p.errorf("the dry run told the diff %q, and the edit %q", outcome.Diff, real.Diff)
				}
			},
		},
		{
			id: "text/edit-ended", requires: needsEdit, tree: standard,
			rule: "An edit whose context is done is canceled and changes nothing.",
			run: func(p *probe) {
				ctx, cancel := context.WithCancel(p.ctx)
				cancel()
				before, was := p.snapshot(), p.stat("file")
				_, err := p.text.Edit(ctx, p.fs, "file", replaced("alpha", "omega"), nil)
				p.refused(opEdit, "file", err, ambit.ErrCanceled)
				p.unchanged(before)
				p.untouched("file", was, nil)
			},
		},
		{
			id: "text/edit-versions", requires: needsEdit, tree: standard,
			rule: "An edit tells the new version, on which the next change by the same caller succeeds, and the old one holds no more.",
			run: func(p *probe) {
				first := p.stat("file").Version
				second := p.write("file", "one\ntwo\n", &ambit.WriteOptions{If: ambit.IfVersion(first)}).Info.Version
				third := p.write("file", "one\ntwo\nthree\n", &ambit.WriteOptions{If: ambit.IfVersion(second)}).Info.Version
				fourth := p.edits("file", "one\n2\nthree\n", &edit.Options{If: ambit.IfVersion(third)}, replaced("two", "2")...).After.Version
				fifth := p.edits("file", "one\n2\n3\n", &edit.Options{If: ambit.IfVersion(fourth)}, rewritten(3, 3, "3")...).After.Version
				for _, old := range []ambit.Version{first, second, third, fourth, neverIssued} {
					_, err := p.writable().Write(p.ctx, "file", strings.NewReader(written), &ambit.WriteOptions{If: ambit.IfVersion(old)})
					p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
					// Whatever is wrong with the edit besides.
					for _, op := range slices.Concat(replaced("2", "x"), replaced("nope", "x")) {
						p.editRefused("file", &edit.Options{If: ambit.IfVersion(old)}, []ambit.Reason{ambit.ErrChanged}, op)
					}
				}
				p.editRefused("gone", &edit.Options{If: ambit.IfVersion(first)}, []ambit.Reason{ambit.ErrChanged}, replaced("2", "x")...)
				p.write("file", "last\n", &ambit.WriteOptions{If: ambit.IfVersion(fifth)})
			},
		},
		{
			id: "text/edit-keeps-mode", requires: append(slices.Clip(needsEdit), needKeepsMode), tree: modeTree,
			rule: "A file that is edited keeps its mode.",
			run: func(p *probe) {
				for _, n := range p.tree {
					p.edits(n.Path, "#!\n"+n.Data, nil, edit.Insert{After: 0, Text: "#!"})
					p.edits(n.Path, "#!\n", nil, replaced(n.Data, "")...)
					p.edits(n.Path, "rewritten\n", nil, rewritten(1, 0, "rewritten")...)
					if got := p.stat(n.Path).Mode; got != n.Mode {
						p.errorf("%q has the mode %v after edits, want %v", n.Path, got, n.Mode)
					}
				}
			},
		},
		{
			id: "text/edit-read-only-file", requires: append(slices.Clip(needsEdit), needKeepsMode), tree: ParseTree("-- locked 0444 --\nold\n"),
			rule: "An edit of a file whose mode has no write bit is permission and changes nothing.",
			run: func(p *probe) {
				p.editRefused("locked", nil, []ambit.Reason{ambit.ErrPermission}, replaced("old", "new")...)
			},
		},
		{
			id: "text/edit-through-link", requires: append(slices.Clip(needsEdit), needLinks), tree: standard,
			rule: "An edit of a link changes the file that it leads to, and the link stays.",
			run: func(p *probe) {
				p.edits("link-file", "omega\nbeta\n", nil, replaced("alpha", "omega")...)
				p.edits("link-inner", "INNER\n", nil, rewritten(1, 1, "INNER")...)
				p.edits("link-folder/deep/leaf", "leaf\nleaf 2\n", nil, edit.Insert{After: 1, Text: "leaf 2"})
				p.holds("file", "omega\nbeta\n")
			},
		},
		{
			id: "text/edit-broken-links", requires: append(slices.Clip(needsEdit), needLinks), tree: standard, machine: true,
			rule: "An edit of a link that leads to nothing is not-found, and of one that leads out of the root outside: nothing is created or changed on either side.",
			run: func(p *probe) {
				for _, c := range refusedLinks {
					for _, op := range slices.Concat(replaced("SECRET", "x"), rewritten(1, 0, "x")) {
						p.editRefused(c.path, nil, []ambit.Reason{c.reason}, op)
					}
				}
			},
			control: escapes,
		},
		{
			id: "text/edit-fifo", requires: append(slices.Clip(needsEdit), needDisturb), tree: standard.WithoutLinks(),
			rule: "An edit of a FIFO is not-a-file and waits for nobody.",
			run: func(p *probe) {
				p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
				p.promptly("an edit of a FIFO", func() {
					_, err := p.text.Edit(p.ctx, p.fs, "folder/pipe", replaced("alpha", "omega"), nil)
					p.refused(opEdit, "folder/pipe", err, ambit.ErrNotAFile)
					_, err = p.text.Edit(p.ctx, p.fs, "folder/pipe", replaced("alpha", "omega"), &edit.Options{DryRun: true})
					p.refused(opEdit, "folder/pipe", err, ambit.ErrNotAFile)
				})
			},
		},
		{
			id: "text/edit-link-to-fifo", requires: append(slices.Clip(needsEdit), needLinks, needDisturb),
			tree: append(standard.WithoutLinks(), Node{Path: "link-pipe", Kind: ambit.KindSymlink, Target: "folder/pipe"}),
			rule: "An edit of a link to a FIFO is not-a-file and waits for nobody.",
			run: func(p *probe) {
				p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
				p.promptly("an edit of a link to a FIFO", func() {
					_, err := p.text.Edit(p.ctx, p.fs, "link-pipe", replaced("alpha", "omega"), nil)
					p.refused(opEdit, "link-pipe", err, ambit.ErrNotAFile)
				})
			},
		},
	}
	return list
}
