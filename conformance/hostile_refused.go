// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

var (
	needLinksRefused = quality("Links refused", func(c ambit.Capabilities) bool { return c.Links == ambit.LinksRefused })
	needLinksKnown   = quality("Links known", func(c ambit.Capabilities) bool { return c.Links != ambit.LinksUnknown })
)

// planted are the links that are put into a file system behind its back.
var planted = []Node{
	{Path: "to-file", Target: "file"},
	{Path: "to-folder", Target: "folder"},
	{Path: "to-nothing", Target: "nothing"},
	{Path: "to-outside", Target: "../beside/secret"},
	{Path: "to-outside-folder", Target: "../beside"},
	{Path: "to-outside-nothing", Target: "../beside/none"},
	{Path: "to-itself", Target: "to-itself"},
	{Path: "folder/to-file", Target: "../file"},
}

// plant makes the planted links.
func (p *probe) plant() {
	for _, n := range planted {
		p.disturb(Change{Kind: DisturbLink, Path: "/" + n.Path, Target: n.Target})
	}
}

// refusedLinkChecks make one check for each attempt where links are refused,
// and one for any file system whose storage can be given a link.
func refusedLinkChecks() []*check {
	var list []*check
	for _, row := range linkTable() {
		a := row.attempt
		rule := "as an earlier step is denied by the rule \"links\""
		if len(row.refused) > 0 {
			rule = "is " + oneOf(row.refused) + ", " + rule
		}
		list = append(list, &check{
			id:       "hostile/" + a.id + "-refused-link",
			rule:     "Where links are refused, " + a.of("a link") + " " + rule + ", and changes nothing.",
			requires: append([]requirement{needLinksRefused, needDisturb}, a.requires...),
			tree:     linked.WithoutLinks(),
			run: func(p *probe) {
				p.plant()
				before := p.snapshot()
				for _, n := range planted {
					if len(row.refused) > 0 {
						p.meets(a, expectation{path: n.Path, reasons: row.refused, kinds: []ambit.Kind{ambit.KindSymlink}, rule: "links"})
					}
					p.meets(a, expectation{path: n.Path + "/x", reasons: []ambit.Reason{ambit.ErrDenied}, rule: "links"})
				}
				p.unchanged(before)
			},
			control: planting(a),
		})
	}
	return append(list,
		&check{
			id: "hostile/refused-links-themselves", tree: linked.WithoutLinks(),
			rule:     "Where links are refused they are still listed, described, moved and removed themselves.",
			requires: []requirement{needLinksRefused, needDisturb, needList},
			run: func(p *probe) {
				p.plant()
				seen := p.kinds("/", nil)
				for _, n := range planted {
					if kind := seen[n.Path]; !strings.Contains(n.Path, "/") && kind != ambit.KindSymlink {
						p.errorf("list: %q is %v, want a symlink", n.Path, kind)
					}
					if p.caps.ReadLink {
						l := implements[ambit.Linker](p)
						info, err := l.Lstat(p.ctx, n.Path)
						if err != nil || info.Kind != ambit.KindSymlink || info.Path != "/"+n.Path {
							p.errorf("lstat %q: %+v, %v, want the link", n.Path, info, err)
						}
						text, err := l.ReadLink(p.ctx, n.Path)
						p.keepsSecret(ambit.OpReadLink, n.Path, text, err)
						if strings.Contains(n.Target, "beside") {
							p.refused(ambit.OpReadLink, n.Path, err, ambit.ErrOutside)
						} else if err != nil || text != n.Target {
							p.errorf("readlink %q: %q, %v, want %q", n.Path, text, err, n.Target)
						}
					}
					name := n.Path
					if p.caps.Rename {
						before := p.snapshot()
						if _, err := implements[ambit.Renamer](p).Rename(p.ctx, name, name+"-moved", nil); err != nil {
							p.errorf("rename of the link %q: %v", name, err)
							continue
						}
						p.changedOnly(before, "/"+name, "/"+name+"-moved")
						name += "-moved"
					}
					if p.caps.Remove {
						before := p.snapshot()
						if err := p.writable().Remove(p.ctx, name, nil); err != nil {
							p.errorf("remove of the link %q: %v", name, err)
							continue
						}
						p.changedOnly(before, "/"+name)
					}
				}
			},
		},
		&check{
			id: "hostile/links-appearing", tree: linked.WithoutLinks(),
			rule:     "A link out of the root that another program makes leads no call out of it, whatever the file system does with links.",
			requires: []requirement{needLinksKnown, needDisturb},
			run: func(p *probe) {
				p.stat("file")
				p.stat("folder")
				p.disturb(Change{Kind: DisturbLink, Path: "/file", Target: "../beside/secret"})
				p.disturb(Change{Kind: DisturbLink, Path: "/folder", Target: "../beside"})
				for _, a := range attempts() {
					if !a.claimed(p) {
						continue
					}
					for _, path := range []string{"file", "folder/secret", "folder/new", "folder/"} {
						seen, err := a.call(p, path)
						p.keepsSecret(a.op, path, seen, err)
						if err == nil && path != "file" && a.id != "mkdir" {
							p.errorf("%s %q succeeded through a link out of the root: %s", a.op, path, seen)
						}
						if a.changes() {
							// A link itself may have been moved or removed.
							p.disturb(Change{Kind: DisturbLink, Path: "/file", Target: "../beside/secret"})
							p.disturb(Change{Kind: DisturbLink, Path: "/folder", Target: "../beside"})
							p.disturb(Change{Kind: DisturbRemove, Path: "/renamed"})
						}
					}
				}
			},
			control: func(p *probe) {
				p.disturb(Change{Kind: DisturbLink, Path: "/file", Target: "../beside/secret"})
				p.holds("file", secret)
			},
		},
	)
}

// planting returns a control: a link is planted, and a made through it must
// get out.
func planting(a attempt) func(p *probe) {
	return func(p *probe) {
		p.plant()
		path := strings.Replace(a.escape, "outward", "to-outside", 1)
		path = strings.Replace(path, "-dangling", "-nothing", 1)
		a.escapes(path)(p)
	}
}
