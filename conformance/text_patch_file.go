// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/patch"
)

// patchTree is what the patches of several files start from.
var patchTree = append(ParseTree(`
-- a.txt --
A
-- b.txt --
B
-- u.txt --
k
-- del.txt --
d
-- dir/inner --
inner
`[1:]), Node{Path: "latin", Kind: ambit.KindRegular, Data: "stra\xdfe\n"}, Node{Path: "void", Kind: ambit.KindDirectory})

// The sections of unified diffs, as git writes them.
func unifiedNew(path string, lines ...string) string {
	return "diff --git a/" + path + " b/" + path + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + path + "\n" + strings.Join(lines, "\n") + "\n"
}

func unifiedDeleted(path string, lines ...string) string {
	return "diff --git a/" + path + " b/" + path + "\ndeleted file mode 100644\n--- a/" + path + "\n+++ /dev/null\n" + strings.Join(lines, "\n") + "\n"
}

func unifiedMoved(from, to string, lines ...string) string {
	text := "diff --git a/" + from + " b/" + to + "\nsimilarity index 90%\nrename from " + from + "\nrename to " + to + "\n"
	if len(lines) == 0 {
		return strings.Replace(text, "90%", "100%", 1)
	}
	return text + "--- a/" + from + "\n+++ b/" + to + "\n" + strings.Join(lines, "\n") + "\n"
}

// patchFileChecks: what a patch does to files beside their content, and to
// several at once.
func patchFileChecks() []*check {
	return []*check{
		{
			id: "text/patch-files", requires: needsPatch, tree: patchTree,
			rule: "A patch adds, changes, moves and removes files, and makes the folders above a new one.",
			run: func(p *probe) {
				r := p.patched(marked(
					"*** Add File: new/deep/n.txt", "+one", "+two", "*** Delete File: del.txt",
					"*** Update File: u.txt", "@@", "-k", "+K", "*** Update File: a.txt", "*** Move to: moved.txt", "@@", "-A", "+AA",
					"*** Add File: blank",
				), map[string]string{"/new/deep/n.txt": "one\ntwo\n", "/u.txt": "K\n", "/moved.txt": "AA\n", "/blank": ""}, "/del.txt", "/a.txt")
				if len(r.Files) != 5 || !slices.Equal(r.Files[0].CreatedDirs, []string{"/new", "/new/deep"}) {
					p.errorf("the report tells of the files %+v", r.Files)
				}
				p.patched(
					unifiedNew("other/n.txt", "@@ -0,0 +1,2 @@", "+one", "+two", noNewline)+unifiedDeleted("u.txt", "@@ -1 +0,0 @@", "-K")+
						unified("b.txt", "@@ -1 +1 @@", "-B", "+BB")+unifiedMoved("moved.txt", "dir/again.txt"),
					map[string]string{"/other/n.txt": "one\ntwo", "/b.txt": "BB\n", "/dir/again.txt": "AA\n"}, "/u.txt", "/moved.txt")
			},
		},
		{
			id: "text/patch-name-in-use", requires: needsPatch, tree: patchTree,
			rule: "A file that a patch adds, or moves, to a name in use is exists, and everything stays as it was.",
			run: func(p *probe) {
				for _, to := range []string{"b.txt", "void", "dir"} {
					p.nameInUse(to)
				}
			},
		},
		{
			id: "text/patch-link-in-the-way", requires: append(slices.Clip(needsPatch), needLinks), tree: append(slices.Clone(standard), patchTree...), machine: true,
			rule: "A file that a patch adds, or moves, to the name of a link is exists wherever the link leads: nothing is created behind it, and the link stays.",
			run: func(p *probe) {
				for _, to := range []string{"link-file", "link-folder", "dangling", "dangling-deep", "outward-dangling", "outward", "loop"} {
					p.nameInUse(to)
				}
			},
			control: escapes,
		},
		{
			id: "text/patch-all-or-none", requires: needsPatch, tree: patchTree,
			rule: "A patch of several files of which one cannot be changed changes none, makes no folder, and says which.",
			run: func(p *probe) {
				for _, c := range []struct {
					path    string
					section string
					unified string
					reason  ambit.Reason
				}{
					{"u.txt", "*** Update File: u.txt\n@@\n-not there\n+K", unified("u.txt", "@@ -1 +1 @@", "-not there", "+K"), ambit.ErrNoMatch},
					{"gone.txt", "*** Update File: gone.txt\n@@\n-k\n+K", unified("gone.txt", "@@ -1 +1 @@", "-k", "+K"), ambit.ErrNotFound},
					{"../u.txt", "*** Update File: ../u.txt\n@@\n-k\n+K", "", ambit.ErrOutside},
					{"latin", "*** Update File: latin\n@@\n-strasse\n+x", unified("latin", "@@ -1 +1 @@", "-strasse", "+x"), ambit.ErrNoMatch},
					{"void", "*** Update File: void\n@@\n-k\n+K", unified("void", "@@ -1 +1 @@", "-k", "+K"), ambit.ErrNotAFile},
					{"gone.txt", "*** Delete File: gone.txt", unifiedDeleted("gone.txt", "@@ -1 +0,0 @@", "-k"), ambit.ErrNotFound},
					{"dir", "*** Delete File: dir", "", ambit.ErrNotAFile},
					{"u.txt/x", "*** Add File: u.txt/x\n+x", unifiedNew("u.txt/x", "@@ -0,0 +1 @@", "+x"), ambit.ErrNotADirectory},
				} {
					p.patchRefused(
						marked("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: a.txt", "@@", "-A", "+AA", c.section),
						c.path, []ambit.Reason{c.reason}, "a.txt", "del.txt", "u.txt")
					if c.unified != "" {
						p.patchRefused(
							unifiedNew("new/n.txt", "@@ -0,0 +1 @@", "+n")+unifiedDeleted("del.txt", "@@ -1 +0,0 @@", "-d")+unified("a.txt", "@@ -1 +1 @@", "-A", "+AA")+c.unified,
							c.path, []ambit.Reason{c.reason}, "a.txt", "del.txt", "u.txt")
					}
				}
				p.missing("new")
			},
			control: func(p *probe) { p.write("../u.txt", written, nil) },
		},
		{
			id: "text/patch-sections-of-one-file", requires: needsPatch, tree: append(slices.Clone(patchTree), textTree("one\ntwo\n", "one\ntwo\n")...),
			rule: "Each section of a patch sees what the ones before it leave: none of several for one file is lost.",
			run: func(p *probe) {
				p.patched(marked("*** Update File: f0", "@@", "-one", "+ONE", "*** Update File: f0", "@@", "-two", "+TWO"),
					map[string]string{"/f0": "ONE\nTWO\n"})
				p.patched(unified("f1", "@@ -1 +1 @@", "-one", "+ONE")+unified("f1", "@@ -2 +2 @@", "-two", "+TWO"),
					map[string]string{"/f1": "ONE\nTWO\n"})
				p.patched(marked("*** Add File: added", "+one", "*** Update File: added", "@@", "-one", "+ONE"),
					map[string]string{"/added": "ONE\n"})
				p.patched(marked("*** Delete File: f0", "*** Add File: f0", "+anew"), map[string]string{"/f0": "anew\n"})
				p.patched(marked("*** Update File: a.txt", "*** Move to: c.txt", "*** Update File: c.txt", "@@", "-A", "+C"),
					map[string]string{"/c.txt": "C\n"}, "/a.txt")
			},
		},
		{
			id: "text/patch-dry-run", requires: needsPatch, tree: patchTree,
			rule: "A dry run tells what the patch would do or why it cannot, and does nothing.",
			run: func(p *probe) {
				text := marked("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt", "*** Update File: a.txt", "*** Move to: c.txt", "@@", "-A", "+C")
				before, was := p.snapshot(), p.stat("a.txt")
				report, err := p.text.Apply(p.ctx, p.fs, p.parse(text), &patch.Options{DryRun: true})
				if err != nil || report == nil || report.Applied || report.Diff == "" || len(report.Files) != 3 {
					p.errorf("a dry run: %+v, %v", report, err)
				}
				p.unchanged(before)
				p.untouched("a.txt", was, nil)
				refused, err := p.text.Apply(p.ctx, p.fs, p.parse(marked("*** Add File: b.txt", "+n")), &patch.Options{DryRun: true})
				p.refused(opPatch, "b.txt", err, ambit.ErrExists)
				p.reportsRefusal(refused)
				p.unchanged(before)
				if real := p.patched(text, map[string]string{"/new/n.txt": "n\n", "/c.txt": "C\n"}, "/del.txt", "/a.txt"); report != nil && real.Diff != report.Diff {
					p.errorf("the dry run told the diff %q, and the patch %q", report.Diff, real.Diff)
				}
			},
		},
		{
			id: "text/patch-ended", requires: needsPatch, tree: patchTree,
			rule: "A patch whose context is done is canceled and changes nothing.",
			run: func(p *probe) {
				ctx, cancel := context.WithCancel(p.ctx)
				cancel()
				before := p.snapshot()
				report, err := p.text.Apply(ctx, p.fs, p.parse(marked("*** Add File: new/n.txt", "+n", "*** Delete File: del.txt")), nil)
				p.refused(opPatch, "new/n.txt", err, ambit.ErrCanceled)
				p.unchanged(before)
				p.reportsRefusal(report)
			},
		},
		{
			id: "text/patch-max-bytes", requires: needsPatch, tree: textTree(strings.Repeat("a", 98)+"\nb\n", strings.Repeat("a", 99)+"\nb\n", strings.Repeat("a", 100)+"\nb\n"),
			rule: "A file of as many bytes as MaxBytes is patched whole, and a larger one, before the patch or after it, is too-large with the limit.",
			run: func(p *probe) {
				for i, reason := range []ambit.Reason{"", "", ambit.ErrTooLarge} {
					path := textPath(i)
					before := p.snapshot()
					_, err := p.text.Apply(p.ctx, p.fs, p.parse(marked("*** Update File: "+path, "@@", "-b", "+c")), &patch.Options{MaxBytes: 102})
					if reason == "" {
						if err != nil {
							p.errorf("patch of a file within the limit: %v", err)
						}
						p.holds(path, strings.Repeat("a", 98+i)+"\nc\n")
						before = p.snapshot()
						_, err = p.text.Apply(p.ctx, p.fs, p.parse(marked("*** Update File: "+path, "@@", "-c", "+long")), &patch.Options{MaxBytes: 102})
					}
					p.refused(opPatch, path, err, ambit.ErrTooLarge)
					if e, ok := err.(*ambit.Error); ok && e.Limit != 102 {
						p.errorf("too-large with the limit %d, want 102", e.Limit)
					}
					p.unchanged(before)
				}
			},
		},
		{
			id: "text/patch-keeps-mode", requires: append(slices.Clip(needsPatch), needKeepsMode), tree: modeTree,
			rule: "A file that is patched keeps its mode, also where it is moved, and a new one has that of any new file, unless the patch tells another.",
			run: func(p *probe) {
				p.write("plain", written, nil)
				plain := p.stat("plain").Mode
				p.patched(marked(
					"*** Update File: run.sh", "@@", "-#!/bin/sh", "+#!/bin/bash", "*** Update File: conf", "*** Move to: folder/conf", "@@", "-k = v", "+k = w",
					"*** Update File: private", "*** Move to: hidden", "*** Add File: new", "+new",
				), map[string]string{"/run.sh": "#!/bin/bash\n", "/folder/conf": "k = w\n", "/hidden": "y\n", "/new": "new\n"}, "/conf", "/private")
				for path, mode := range map[string]fs.FileMode{"run.sh": 0o755, "folder/conf": 0o640, "hidden": 0o600, "folder/wide": 0o666, "new": plain} {
					if got := p.stat(path).Mode; got != mode {
						p.errorf("%q has the mode %v after the patch, want %v", path, got, mode)
					}
				}
				p.patched(
					unifiedMoved("run.sh", "ran.sh")+"diff --git a/hidden b/hidden\nold mode 100644\nnew mode 100755\n",
					map[string]string{"/ran.sh": "#!/bin/bash\n", "/hidden": "y\n"}, "/run.sh")
				for path, mode := range map[string]fs.FileMode{"ran.sh": 0o755, "hidden": 0o700} {
					if got := p.stat(path).Mode; got != mode {
						p.errorf("%q has the mode %v after the patch, want %v", path, got, mode)
					}
				}
			},
		},
		{
			id: "text/patch-through-link", requires: append(slices.Clip(needsPatch), needLinks), tree: standard,
			rule: "An update of a link changes the file that it leads to, and the link stays; a link itself is neither moved nor copied.",
			run: func(p *probe) {
				p.patched(marked("*** Update File: link-file", "@@", "-alpha", "+omega"), map[string]string{"/file": "omega\nbeta\n"})
				p.patched(unified("link-folder/inner", "@@ -1 +1 @@", "-inner", "+INNER"), map[string]string{"/folder/inner": "INNER\n"})
				p.patchRefused(marked("*** Update File: link-file", "*** Move to: moved"), "link-file", []ambit.Reason{ambit.ErrNotAFile}, "file")
				p.patchRefused(unifiedMoved("link-inner", "moved", "@@ -1 +1 @@", "-INNER", "+x"), "link-inner", []ambit.Reason{ambit.ErrNotAFile}, "folder/inner")
			},
		},
		{
			id: "text/patch-broken-links", requires: append(slices.Clip(needsPatch), needLinks), tree: standard, machine: true,
			rule: "An update of a link that leads to nothing is not-found, and of one that leads out of the root outside: nothing is created or changed on either side.",
			run: func(p *probe) {
				for _, c := range refusedLinks {
					p.patchRefused(marked("*** Update File: "+c.path, "@@", "-"+strings.TrimSuffix(secret, "\n"), "+x"), c.path, []ambit.Reason{c.reason})
					p.patchRefused(unified(c.path, "@@ -1 +1 @@", "-"+strings.TrimSuffix(secret, "\n"), "+x"), c.path, []ambit.Reason{c.reason})
				}
				p.patchRefused(marked("*** Add File: outward-folder/new", "+x"), "outward-folder/new", []ambit.Reason{ambit.ErrOutside})
			},
			control: escapes,
		},
		{
			id: "text/patch-fifo", requires: append(slices.Clip(needsPatch), needDisturb), tree: standard.WithoutLinks(),
			rule: "A patch of a FIFO is not-a-file, of a new file in its place exists, changes nothing and waits for nobody.",
			run: func(p *probe) {
				p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
				p.promptly("a patch of a FIFO", func() {
					p.patchRefused(marked("*** Update File: folder/pipe", "@@", "-alpha", "+omega"), "folder/pipe", []ambit.Reason{ambit.ErrNotAFile})
					p.patchRefused(marked("*** Update File: folder/pipe", "*** Move to: moved"), "folder/pipe", []ambit.Reason{ambit.ErrNotAFile})
					p.patchRefused(marked("*** Delete File: folder/pipe"), "folder/pipe", []ambit.Reason{ambit.ErrNotAFile})
					p.patchRefused(marked("*** Add File: folder/pipe", "+x"), "folder/pipe", []ambit.Reason{ambit.ErrExists})
					p.patchRefused(unified("folder/pipe", "@@ -1 +1 @@", "-alpha", "+omega"), "folder/pipe", []ambit.Reason{ambit.ErrNotAFile})
				})
			},
		},
		{
			id: "text/patch-link-to-fifo", requires: append(slices.Clip(needsPatch), needLinks, needDisturb),
			tree: append(standard.WithoutLinks(), Node{Path: "link-pipe", Kind: ambit.KindSymlink, Target: "folder/pipe"}),
			rule: "An update of a link to a FIFO is not-a-file and waits for nobody.",
			run: func(p *probe) {
				p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
				p.promptly("a patch of a link to a FIFO", func() {
					p.patchRefused(marked("*** Update File: link-pipe", "@@", "-alpha", "+omega"), "link-pipe", []ambit.Reason{ambit.ErrNotAFile})
				})
			},
		},
	}
}

// nameInUse tries to put a file where something is already, in each way that a
// patch has.
func (p *probe) nameInUse(to string) {
	exists := []ambit.Reason{ambit.ErrExists}
	p.patchRefused(marked("*** Update File: u.txt", "@@", "-k", "+K", "*** Add File: "+to, "+new"), to, exists, "u.txt")
	p.patchRefused(marked("*** Update File: a.txt", "*** Move to: "+to), to, exists, "a.txt")
	p.patchRefused(marked("*** Update File: a.txt", "*** Move to: "+to, "@@", "-A", "+AA"), to, exists, "a.txt")
	p.patchRefused(unifiedNew(to, "@@ -0,0 +1 @@", "+new"), to, exists)
	p.patchRefused(unifiedMoved("a.txt", to, "@@ -1 +1 @@", "-A", "+AA"), to, exists, "a.txt")
}
