// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// unchained is the tree linked without the link to a link that leads out:
// whether that one leads out changes with the other.
var unchained = slices.DeleteFunc(slices.Clone(linked), func(n Node) bool { return n.Path == "chain-outward" })

// everyLink are the links in the tree unchained, with their texts.
func everyLink() []Node {
	return slices.DeleteFunc(slices.Clone(unchained), func(n Node) bool { return n.Kind != ambit.KindSymlink })
}

// outward reports that the link n leads out of the root.
func (n Node) outward() bool {
	return strings.HasPrefix(n.Target, "../beside") || strings.HasPrefix(n.Target, "/")
}

// followChecks are about what a link does where it is not refused: it is
// followed, or it is itself what the call is about.
func followChecks() []*check {
	return []*check{
		{
			id: "hostile/links-read-through", tree: linked,
			rule:     "Open and Stat follow a link within the root, as the last step and on the way, and tell the canonical path.",
			requires: []requirement{needLinks},
			run: func(p *probe) {
				for path, canonical := range map[string]string{
					"link-file": "/file", "./link-file": "/file", "link-inner": "/folder/inner",
					"link-folder/inner": "/folder/inner", "link-folder/deep/leaf": "/folder/deep/leaf",
					"link-folder/up-file": "/file", "folder/up-file": "/file", "folder/up/folder/up/file": "/file",
					"folder/up/link-folder/up/link-inner": "/folder/inner",
				} {
					p.leadsTo(path, canonical)
				}
				for path, canonical := range map[string]string{
					"link-folder": "/folder", "link-folder/": "/folder", "link-folder/.": "/folder", "link-folder/deep/": "/folder/deep",
					"folder/up": "/", "folder/up/": "/", "folder/up/folder": "/folder",
				} {
					if info := p.stat(path); info.Path != canonical || info.Kind != ambit.KindDirectory {
						p.errorf("stat %q: %s at %q, want a folder at %q", path, info.Kind, info.Path, canonical)
					}
				}
			},
		},
		{
			id: "hostile/links-dots-by-text", tree: append(slices.Clone(linked), ParseTree("-- link-deep -> folder/deep --\n")...),
			rule:     "After a link \"..\" goes back by text and not to the folder above what the link leads to.",
			requires: []requirement{needLinks},
			run: func(p *probe) {
				p.leadsTo("link-folder/../file", "/file")
				p.leadsTo("link-inner/../file", "/file")
				p.leadsTo("outward-folder/../file", "/file")
				p.leadsTo("loop/../file", "/file")
				p.leadsTo("folder/up/../inner", "/folder/inner")
				p.leadsTo("link-deep/../file", "/file")
				// What the link leads to lies in a folder that has this name.
				_, err := p.fs.Open(p.ctx, "link-deep/../inner")
				p.refused(ambit.OpOpen, "link-deep/../inner", err, ambit.ErrNotFound)
				_, err = p.fs.Stat(p.ctx, "folder/deep/../../../file")
				p.refused(ambit.OpStat, "folder/deep/../../../file", err, ambit.ErrOutside)
			},
		},
		{
			id: "hostile/links-forty", tree: chainOfLinks(),
			rule:     "A path is followed through 40 links, and through 41 it is a loop.",
			requires: []requirement{needLinks},
			run: func(p *probe) {
				p.holds("chain40", "end\n")
				_, err := p.fs.Open(p.ctx, "chain41")
				p.refused(ambit.OpOpen, "chain41", err, ambit.ErrLoop)
				_, err = p.fs.Stat(p.ctx, "folder-chain41/end")
				p.refused(ambit.OpStat, "folder-chain41/end", err, ambit.ErrLoop)
				p.holds("folder-chain40/end", "end\n")
			},
		},
		{
			id: "hostile/links-listed", tree: linked,
			rule:     "List shows every link as a link, wherever it leads, and a link that leads nowhere fails no listing.",
			requires: []requirement{needList, needLinks},
			run: func(p *probe) {
				for _, o := range []*ambit.ListOptions{nil, {Details: true}, {Limit: 3}} {
					seen := p.kinds("/", o)
					for _, n := range everyLink() {
						if strings.Contains(n.Path, "/") {
							continue
						}
						if kind, ok := seen[n.Path]; !ok || kind != ambit.KindSymlink {
							p.errorf("list \"/\" with %+v: %q is %v (there: %v), want a symlink", o, n.Path, kind, ok)
						}
					}
				}
				for _, dir := range []string{"link-folder", "link-folder/", "folder/up/link-folder"} {
					l, err := p.fs.List(p.ctx, dir, nil)
					if err != nil {
						p.fatalf("list %q: %v", dir, err)
					}
					if l.Dir != "/folder" {
						p.errorf("list %q: Dir is %q, want \"/folder\"", dir, l.Dir)
					}
					var paths []string
					for _, e := range l.Entries {
						paths = append(paths, e.Info.Path)
					}
					if want := []string{"/folder/deep", "/folder/inner", "/folder/up", "/folder/up-file"}; !slices.Equal(paths, want) {
						p.errorf("list %q: entries at %q, want %q", dir, paths, want)
					}
				}
			},
		},
		{
			id: "hostile/unreadable-listed", tree: append(slices.Clone(standard.WithoutLinks()), Node{Path: "folder/unreadable", Kind: ambit.KindRegular, Data: "x", Mode: 0o200}),
			rule:     "A file that may not be read fails no listing, and Stat describes it.",
			requires: []requirement{needList},
			run: func(p *probe) {
				for _, o := range []*ambit.ListOptions{nil, {Details: true}, {Limit: 1, Details: true}} {
					if kind := p.kinds("folder", o)["unreadable"]; kind != ambit.KindRegular && kind != ambit.KindUnknown {
						p.errorf("list with %+v: the file is %v", o, kind)
					}
				}
				if info := p.stat("folder/unreadable"); info.Kind != ambit.KindRegular {
					p.errorf("stat: %+v", info)
				}
				if f, err := p.fs.Open(p.ctx, "folder/unreadable"); err == nil {
					f.Close() // who may read everything may read it
				} else {
					p.refused(ambit.OpOpen, "folder/unreadable", err, ambit.ErrPermission)
				}
			},
		},
		{
			id: "hostile/links-walked", tree: linked,
			rule:     "No listing follows a link: a walk of the whole tree ends, and meets each file once.",
			requires: []requirement{needList, needLinks},
			run: func(p *probe) {
				seen := make(map[string]bool)
				for e, err := range ambit.Walk(p.ctx, p.fs, "/") {
					if err != nil {
						p.errorf("walk at %q: %v", e.Info.Path, err)
					}
					if seen[e.Info.Path] {
						p.fatalf("the walk met %q twice", e.Info.Path)
					}
					seen[e.Info.Path] = true
				}
				for _, n := range linked {
					if !n.Beside() && !seen["/"+n.Path] {
						p.errorf("the walk did not meet %q", "/"+n.Path)
					}
				}
				for path := range seen {
					if strings.Contains(path, "secret") {
						p.errorf("the walk met %q, beside the root", path)
					}
				}
			},
			control: func(p *probe) {
				if l, err := p.fs.List(p.ctx, "outward-folder", nil); err != nil || len(l.Entries) != 1 {
					p.errorf("list of a link out of the root: %v, %v", l, err)
				}
			},
		},
		{
			id: "hostile/links-described", tree: unchained,
			rule:     "Lstat describes the link itself, and ReadLink returns its text, wherever the link leads within the root.",
			requires: []requirement{needReadLink, needLinks},
			run: func(p *probe) {
				l := implements[ambit.Linker](p)
				for _, n := range everyLink() {
					for _, path := range []string{n.Path, "/" + n.Path, "./" + n.Path} {
						info, err := l.Lstat(p.ctx, path)
						if err != nil {
							p.errorf("lstat %q: %v", path, err)
						} else if info.Kind != ambit.KindSymlink || info.Path != "/"+n.Path || info.Version != "" {
							p.errorf("lstat %q: %s at %q with version %q, want a symlink at %q without", path, info.Kind, info.Path, info.Version, "/"+n.Path)
						}
						p.keepsSecret(ambit.OpLstat, path, fmt.Sprintf("%+v", info), err)
						if n.outward() {
							continue
						}
						if text, err := l.ReadLink(p.ctx, path); err != nil || text != n.Target {
							p.errorf("readlink %q: %q, %v, want %q", path, text, err, n.Target)
						}
					}
				}
				info, err := l.Lstat(p.ctx, "link-folder/inner")
				if err != nil || info.Path != "/folder/inner" || info.Kind != ambit.KindRegular {
					p.errorf("lstat %q: %+v, %v, want the file /folder/inner", "link-folder/inner", info, err)
				}
				info, err = l.Lstat(p.ctx, "link-folder/")
				if err != nil || info.Path != "/folder" || info.Kind != ambit.KindDirectory {
					p.errorf("lstat %q: %+v, %v, want the folder, as Stat", "link-folder/", info, err)
				}
			},
		},
		{
			id: "hostile/links-sub", tree: linked,
			rule:     "Sub follows a link within the root, and no link leads out of the new root, not even into the old one.",
			requires: []requirement{needSub, needLinks},
			run: func(p *probe) {
				for _, dir := range []string{"link-folder", "folder/up/folder", "link-folder/"} {
					sub, err := implements[ambit.Subber](p).Sub(p.ctx, dir)
					if err != nil {
						p.fatalf("sub %q: %v", dir, err)
					}
					q := p.on(sub)
					q.holds("inner", "inner\n")
					for _, path := range []string{"up", "up/file", "up-file", "../file"} {
						_, err := sub.Open(p.ctx, path)
						q.refused(ambit.OpOpen, path, err, ambit.ErrOutside)
					}
				}
			},
			control: func(p *probe) {
				sub, err := p.fs.(ambit.Subber).Sub(p.ctx, "folder")
				if err != nil {
					p.fatalf("sub: %v", err)
				}
				p.on(sub).holds("up-file", "alpha\nbeta\n")
			},
		},
		{
			id: "hostile/links-written-through", tree: linked,
			rule:     "Write through a link replaces the file that it leads to, and the link stays.",
			requires: []requirement{needWrite, needLinks},
			run: func(p *probe) {
				p.through("link-file", "/file", func(path, content string) (ambit.WriteResult, error) {
					return p.writable().Write(p.ctx, path, strings.NewReader(content), nil)
				})
				p.through("link-folder/inner", "/folder/inner", func(path, content string) (ambit.WriteResult, error) {
					return p.writable().Write(p.ctx, path, strings.NewReader(content), nil)
				})
			},
		},
		{
			id: "hostile/links-swapped-through", tree: linked,
			rule:     "Write through a link with the version of the file that it leads to replaces that file, and the link stays.",
			requires: []requirement{needWrite, needSwap, needLinks},
			run: func(p *probe) {
				p.through("link-inner", "/folder/inner", func(path, content string) (ambit.WriteResult, error) {
					o := &ambit.WriteOptions{If: ambit.IfVersion(p.stat(path).Version)}
					return p.writable().Write(p.ctx, path, strings.NewReader(content), o)
				})
			},
		},
		{
			id: "hostile/links-staged-through", tree: linked,
			rule:     "Publish of content staged through a link replaces the file that the link leads to, and the link stays.",
			requires: []requirement{needStage, needLinks},
			run: func(p *probe) {
				p.through("link-file", "/file", func(path, content string) (ambit.WriteResult, error) {
					s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader(content), nil)
					if err != nil {
						return ambit.WriteResult{}, err
					}
					return s.Publish(p.ctx)
				})
			},
		},
		{
			id: "hostile/links-committed-through", tree: linked,
			rule:     "Commit of a write through a link replaces the file that it leads to, and the link stays.",
			requires: []requirement{needCommit, needLinks},
			run: func(p *probe) {
				p.through("link-file", "/file", func(path, content string) (ambit.WriteResult, error) {
					r, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(content)}})
					if err != nil || len(r) != 1 {
						return ambit.WriteResult{}, fmt.Errorf("%d results, %w", len(r), err)
					}
					return r[0], nil
				})
			},
		},
		{
			id: "hostile/links-commit-one-file", tree: linked,
			rule:     "Two changes of one file are invalid in a Commit, also when one names it through a link.",
			requires: []requirement{needCommit, needLinks},
			run: func(p *probe) {
				before := p.snapshot()
				_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "file", Content: strings.NewReader("1")},
					{Op: ambit.OpWrite, Path: "link-file", Content: strings.NewReader("2")},
				})
				p.refused(ambit.OpCommit, "link-file", err, ambit.ErrInvalid)
				p.unchanged(before)
			},
		},
		{
			id: "hostile/links-appended-through", tree: linked,
			rule:     "Append through a link extends the file that it leads to, and the link stays.",
			requires: []requirement{needAppend, needLinks},
			run: func(p *probe) {
				before := p.snapshot()
				r, err := implements[ambit.Appender](p).Append(p.ctx, "link-file", strings.NewReader("gamma\n"), nil)
				if err != nil {
					p.fatalf("append %q: %v", "link-file", err)
				}
				if r.Info.Path != "/file" || r.Created {
					p.errorf("append %q: result %+v, want the file /file, not created", "link-file", r)
				}
				p.holds("file", "alpha\nbeta\ngamma\n")
				p.changedOnly(before, "/file")
			},
		},
		{
			id: "hostile/links-made-beneath", tree: linked,
			rule:     "Write, Mkdir and Rename through a link to a folder work in the folder that it leads to, missing parents included.",
			requires: []requirement{needWrite, needLinks},
			run: func(p *probe) {
				before := p.snapshot()
				r := p.write("link-folder/new", "new\n", nil)
				if r.Info.Path != "/folder/new" || !r.Created {
					p.errorf("write: result %+v, want the file /folder/new, created", r)
				}
				r = p.write("link-folder/a/b/new", "new\n", &ambit.WriteOptions{Parents: true})
				if want := []string{"/folder/a", "/folder/a/b"}; !slices.Equal(r.CreatedDirs, want) {
					p.errorf("write: CreatedDirs %q, want %q", r.CreatedDirs, want)
				}
				came := []string{"/folder/new", "/folder/a", "/folder/a/b", "/folder/a/b/new"}
				if p.caps.Mkdir {
					made, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, "link-folder/made", nil)
					if err != nil || !slices.Equal(made, []string{"/folder/made"}) {
						p.errorf("mkdir %q: %q, %v, want /folder/made", "link-folder/made", made, err)
					}
					came = append(came, "/folder/made")
				}
				if p.caps.Rename {
					info, err := implements[ambit.Renamer](p).Rename(p.ctx, "link-folder/new", "folder/up/folder/moved", nil)
					if err != nil || info.Path != "/folder/moved" {
						p.errorf("rename: %+v, %v, want the file /folder/moved", info, err)
					}
					came[0] = "/folder/moved"
				}
				p.changedOnly(before, came...)
			},
		},
		{
			id: "hostile/links-removed", tree: unchained,
			rule:     "Remove of a link of any kind removes the link itself and nothing that it leads to.",
			requires: []requirement{needRemove, needLinks},
			run: func(p *probe) {
				for i, n := range everyLink() {
					before := p.snapshot()
					// The options change nothing about a link.
					o := []*ambit.RemoveOptions{nil, {Recursive: true}, {MissingOK: true}}[i%3]
					if err := p.writable().Remove(p.ctx, n.Path, o); err != nil {
						p.errorf("remove %q with %+v: %v", n.Path, o, err)
						continue
					}
					p.changedOnly(before, "/"+n.Path)
					p.missing(n.Path)
				}
			},
			control: func(p *probe) {
				if err := p.writable().Remove(p.ctx, "outward-folder/secret", nil); err != nil || len(p.beside()) != 1 {
					p.errorf("remove beside the root: %v, %v", err, p.beside())
				}
			},
		},
		{
			id: "hostile/links-commit-removed", tree: unchained,
			rule:     "Commit of the removal of a link removes the link itself.",
			requires: []requirement{needCommit, needLinks},
			run: func(p *probe) {
				for _, n := range everyLink() {
					before := p.snapshot()
					if _, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpRemove, Path: n.Path}}); err != nil {
						p.errorf("commit of the removal of %q: %v", n.Path, err)
						continue
					}
					p.changedOnly(before, "/"+n.Path)
					p.missing(n.Path)
				}
			},
		},
		{
			id: "hostile/links-removed-with-folder", tree: append(slices.Clone(linked), ParseTree(`
-- box/out -> ../../beside --
-- box/in -> ../folder --
-- box/round -> .. --
-- box/gone -> nothing --
-- box/deep/out -> ../../../beside/secret --
-- box/deep/file --
x
`[1:])...),
			rule:     "Recursive removal of a folder removes the links in it and nothing that they lead to.",
			requires: []requirement{needRemove, needLinks},
			run: func(p *probe) {
				before := p.snapshot()
				if err := p.writable().Remove(p.ctx, "box", &ambit.RemoveOptions{Recursive: true}); err != nil {
					p.fatalf("remove %q: %v", "box", err)
				}
				p.changedOnly(before, "/box", "/box/out", "/box/in", "/box/round", "/box/gone", "/box/deep", "/box/deep/out", "/box/deep/file")
				p.missing("box")
			},
			control: func(p *probe) {
				if err := p.writable().Remove(p.ctx, "box/out/secret", nil); err != nil || len(p.beside()) != 1 {
					p.errorf("remove beside the root: %v, %v", err, p.beside())
				}
			},
		},
		{
			id: "hostile/links-renamed", tree: unchained,
			rule:     "Rename of a link of any kind moves the link itself, its text unchanged, and nothing that it leads to.",
			requires: []requirement{needRename, needLinks},
			run: func(p *probe) {
				for _, n := range everyLink() {
					before := p.snapshot()
					to := n.Path + "-moved" // beside it, so that it leads where it led
					info, err := implements[ambit.Renamer](p).Rename(p.ctx, n.Path, to, nil)
					if err != nil {
						p.errorf("rename %q: %v", n.Path, err)
						continue
					}
					if info.Kind != ambit.KindSymlink || info.Path != "/"+to {
						p.errorf("rename %q: %s at %q, want a symlink at %q", n.Path, info.Kind, info.Path, "/"+to)
					}
					p.changedOnly(before, "/"+n.Path, "/"+to)
					if after := p.snapshot(); after["/"+to] != before["/"+n.Path] {
						p.errorf("the link %q was %s and is %s under its new name", n.Path, before["/"+n.Path], after["/"+to])
					}
				}
			},
			control: func(p *probe) {
				if _, err := p.fs.(ambit.Renamer).Rename(p.ctx, "outward-folder/secret", "stolen", nil); err != nil {
					p.fatalf("rename from beside the root: %v", err)
				}
				p.holds("stolen", secret)
			},
		},
		{
			id: "hostile/links-replaced", tree: unchained,
			rule:     "Rename with Replace onto a link of any kind replaces the link itself and nothing that it leads to.",
			requires: []requirement{needRename, needWrite, needLinks},
			run: func(p *probe) {
				for i, n := range everyLink() {
					from := fmt.Sprintf("source-%d", i)
					p.write(from, from, nil)
					before := p.snapshot()
					info, err := implements[ambit.Renamer](p).Rename(p.ctx, from, n.Path, &ambit.RenameOptions{Replace: true})
					if err != nil {
						p.errorf("rename onto the link %q: %v", n.Path, err)
						continue
					}
					if info.Kind != ambit.KindRegular || info.Path != "/"+n.Path {
						p.errorf("rename onto the link %q: %s at %q", n.Path, info.Kind, info.Path)
					}
					p.changedOnly(before, "/"+n.Path, "/"+from)
					p.holds(n.Path, from)
				}
			},
			control: func(p *probe) {
				if _, err := p.fs.(ambit.Renamer).Rename(p.ctx, "file", "outward-folder/secret", nil); err != nil || p.beside()["../beside/secret"] == secret {
					p.errorf("rename onto a file beside the root: %v", err)
				}
			},
		},
		{
			id: "hostile/links-folder-not-onto", tree: linked,
			rule:     "Rename with Replace of a folder onto a link is exists, and changes nothing.",
			requires: []requirement{needRename, needLinks},
			run: func(p *probe) {
				before := p.snapshot()
				for _, to := range []string{"link-file", "link-folder", "dangling", "outward-folder", "loop"} {
					_, err := implements[ambit.Renamer](p).Rename(p.ctx, "sib", to, &ambit.RenameOptions{Replace: true})
					p.refused(ambit.OpRename, to, err, ambit.ErrExists)
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/links-one-identity", tree: linked,
			rule:     "A file has one ID and one version, whether it is asked for by its name or through a link.",
			requires: []requirement{needLinks, needVersions},
			run: func(p *probe) {
				for path, canonical := range map[string]string{"link-file": "file", "folder/up-file": "file", "link-folder/inner": "folder/inner"} {
					a, b := p.stat(path), p.stat(canonical)
					if a.ID != b.ID || a.Version != b.Version {
						p.errorf("%q has ID %q and version %q, %q has ID %q and version %q", path, a.ID, a.Version, canonical, b.ID, b.Version)
					}
					f := p.open(path)
					if info := f.Info(); info.Version != b.Version || info.ID != b.ID {
						p.errorf("open %q: ID %q and version %q, want %q and %q", path, info.ID, info.Version, b.ID, b.Version)
					}
					f.Close()
				}
			},
		},
		{
			id: "hostile/links-verified", tree: linked,
			rule:     "Verify of a file that was opened through a link sees the change of the file that the link leads to.",
			requires: []requirement{needLinks, needWrite},
			run: func(p *probe) {
				paths := []string{"link-folder/inner", "link-inner"}
				var files []ambit.File
				for _, path := range paths {
					f := p.open(path)
					defer f.Close()
					if err := f.Verify(p.ctx); err != nil {
						p.errorf("verify %q before the change: %v", path, err)
					}
					files = append(files, f)
				}
				p.write("folder/inner", "something else\n", nil)
				for i, f := range files {
					p.refused(ambit.OpVerify, paths[i], f.Verify(p.ctx), ambit.ErrChanged)
				}
			},
		},
		{
			id: "hostile/links-searched", tree: linked,
			rule:     "Glob and Grep follow no link on their way, end, and tell nothing of what is beside the root.",
			requires: []requirement{textSearch, needLinks},
			run: func(p *probe) {
				var names []string
				sum, err := p.text.Glob(p.ctx, p.fs, ambit.GlobQuery{Pattern: "**", Base: "/", All: true, NoIgnore: true}, func(m ambit.GlobMatch) bool {
					names = append(names, m.Info.Path)
					return len(names) < 10*len(linked)
				})
				p.keepsSecret(ambit.OpGlob, "/", fmt.Sprintf("%q %+v", names, sum), err)
				if err != nil || len(names) >= 10*len(linked) || !slices.Contains(names, "/folder/inner") || slices.Contains(names, "/link-folder/inner") {
					p.errorf("glob **: %d names, among them /folder/inner and not /link-folder/inner, wanted: %q, %v", len(names), names, err)
				}
				var found []string
				sum, err = p.text.Grep(p.ctx, p.fs, ambit.GrepQuery{Pattern: "inner|SECRET", Base: "/", All: true, NoIgnore: true}, func(m ambit.GrepMatch) bool {
					found = append(found, m.Path+":"+m.Text)
					return len(found) < 100
				})
				p.keepsSecret(ambit.OpGrep, "/", fmt.Sprintf("%q %+v", found, sum), err)
				if err != nil || !slices.Equal(found, []string{"/folder/inner:inner"}) {
					p.errorf("grep inner|SECRET: %q, %v, want the one line of /folder/inner", found, err)
				}
			},
			control: func(p *probe) { p.holds("outward", secret) },
		},
	}
}

// chainOfLinks has a chain of 41 links to a file and one to a folder.
func chainOfLinks() Tree {
	t := Tree{{Path: "folder/end", Kind: ambit.KindRegular, Data: "end\n"}}
	for _, c := range []struct{ name, end string }{{"chain", "folder/end"}, {"folder-chain", "folder"}} {
		for i := range 41 {
			target := fmt.Sprintf("%s%d", c.name, i)
			if i == 0 {
				target = c.end
			}
			t = append(t, Node{Path: fmt.Sprintf("%s%d", c.name, i+1), Kind: ambit.KindSymlink, Target: target})
		}
	}
	return t
}

// leadsTo checks that Open and Stat of path see the file at canonical.
func (p *probe) leadsTo(path, canonical string) {
	if info := p.stat(path); info.Path != canonical || info.Kind != ambit.KindRegular {
		p.errorf("stat %q: %s at %q, want the file %q", path, info.Kind, info.Path, canonical)
	}
	f := p.open(path)
	defer f.Close()
	if info := f.Info(); info.Path != canonical {
		p.errorf("open %q: the file at %q, want %q", path, info.Path, canonical)
	}
	got, err := io.ReadAll(f)
	if want := p.read(canonical); err != nil || string(got) != want {
		p.errorf("open %q: read %q, %v, want %q", path, got, err, want)
	}
}

// kinds lists all pages of dir: name to kind.
func (p *probe) kinds(dir string, o *ambit.ListOptions) map[string]ambit.Kind {
	seen := make(map[string]ambit.Kind)
	var page ambit.ListOptions
	if o != nil {
		page = *o
	}
	for {
		l, err := p.fs.List(p.ctx, dir, &page)
		if err != nil {
			p.fatalf("list %q with %+v: %v", dir, page, err)
		}
		for _, e := range l.Entries {
			seen[e.Name] = e.Info.Kind
		}
		if l.Next == "" {
			return seen
		}
		if l.Next <= page.After {
			p.fatalf("list %q with %+v: the cursor went from %q to %q", dir, page, page.After, l.Next)
		}
		page.After = l.Next
	}
}

// through checks that a write through a link or beneath one changes the file
// at canonical, and nothing else.
func (p *probe) through(path, canonical string, write func(path, content string) (ambit.WriteResult, error)) {
	before := p.snapshot()
	r, err := write(path, "through a link\n")
	if err != nil {
		p.fatalf("a write to %q: %v", path, err)
	}
	if r.Info.Path != canonical || r.Created || len(r.CreatedDirs) > 0 {
		p.errorf("a write to %q: result %+v, want the file %q, not created", path, r, canonical)
	}
	p.holds(canonical, "through a link\n")
	p.holds(path, "through a link\n")
	p.changedOnly(before, canonical)
}

// changedOnly checks that each of paths came, went or changed since before,
// and nothing else did.
func (p *probe) changedOnly(before map[string]string, paths ...string) {
	after := p.snapshot()
	for _, path := range paths {
		was, before := before[path]
		is, after := after[path]
		if !before && !after && !p.caps.List {
			continue // it cannot be seen
		}
		if before == after && was == is {
			p.errorf("%q is as before: %s", path, brief(was))
		}
	}
	expected := func(seen map[string]string) map[string]string {
		rest := make(map[string]string, len(seen))
		for path, text := range seen {
			if !slices.Contains(paths, path) {
				rest[path] = text
			}
		}
		return rest
	}
	p.alike(expected(before), expected(after), "")
}
