// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/ambitfs/ambit"
)

// capabilityChecks: what a file system says of itself.
func capabilityChecks() []*check {
	return []*check{
		{
			id: "core/capabilities-constant", tree: standard,
			rule: "Capabilities are constant for the life of a file system.",
			run: func(p *probe) {
				first := p.fs.Capabilities()
				p.read("file")
				p.missing("gone")
				for _, m := range p.claimedOf(append(pathMethods(), searchMethods()...)) {
					m.call(p.ctx, p, "folder/inner")
					if now := p.fs.Capabilities(); now != first {
						p.errorf("after %s the capabilities changed from %+v to %+v", m.title, first, now)
					}
				}
			},
		},
		{
			id: "core/capabilities-have-methods", tree: standard,
			rule: "An operation that is claimed has its method.",
			run: func(p *probe) {
				for _, c := range []struct {
					bit     string
					claimed bool
					has     bool
				}{
					{"Write", p.caps.Write, has[ambit.WritableFileSystem](p)},
					{"Remove", p.caps.Remove, has[ambit.WritableFileSystem](p)},
					{"Append", p.caps.Append, has[ambit.Appender](p)},
					{"Rename", p.caps.Rename, has[ambit.Renamer](p)},
					{"Mkdir", p.caps.Mkdir, has[ambit.DirMaker](p)},
					{"Stage", p.caps.Stage, has[ambit.Stager](p)},
					{"Commit", p.caps.Commit, has[ambit.Committer](p)},
					{"ReadLink", p.caps.ReadLink, has[ambit.Linker](p)},
					{"Search", p.caps.Search, has[ambit.Searcher](p)},
					{"Sub", p.caps.Sub, has[ambit.Subber](p)},
					{"Guard", p.caps.Guard, has[ambit.Guarder](p)},
				} {
					if c.claimed && !c.has {
						p.errorf("%s is claimed, but %T has no method for it", c.bit, p.fs)
					}
				}
				if p.caps.Links > ambit.LinksFollowed || p.caps.Swap > ambit.SwapForeign || p.caps.MaxFileSize < 0 {
					p.errorf("Links %d, Swap %d or MaxFileSize %d is no value of the contract", p.caps.Links, p.caps.Swap, p.caps.MaxFileSize)
				}
			},
		},
		{
			id: "core/capabilities-id-of-a-peer", tree: standard, requires: []requirement{needPeer},
			rule: "Clients of one storage tell the same ID, and a version that one of them tells is the other's too.",
			run: func(p *probe) {
				peer := p.peer()
				if ours, theirs := p.fs.Capabilities().ID, peer.Capabilities().ID; ours != theirs {
					p.errorf("one client tells the ID %q, another %q", ours, theirs)
				}
				theirs, err := peer.Stat(p.ctx, "file")
				if err != nil {
					p.fatalf("the other client: %v", err)
				}
				if ours := p.stat("file"); p.caps.Versions && peer.Capabilities().Versions && theirs.Version != ours.Version {
					p.errorf("one client tells the version %q, another %q", ours.Version, theirs.Version)
				}
			},
		},
		{
			id: "core/identity", tree: standard, requires: []requirement{needIdentity},
			rule: "The same file has the same ID through every path, and another file has another.",
			run: func(p *probe) {
				id := p.stat("file").ID
				if id == "" {
					p.fatalf("Identity is claimed, but a file has none")
				}
				for _, path := range spellings("file") {
					if got := p.stat(path).ID; got != id {
						p.errorf("%q has the ID %q, want %q", path, got, id)
					}
				}
				p.eachInfo("file", func(where string, i ambit.FileInfo) {
					if where != "Write" && i.ID != id {
						p.errorf("%s tells the ID %q, Stat %q", where, i.ID, id)
					}
				})
				for _, path := range []string{"empty", "sib.txt", "folder/inner", "sib/x", "sibling/x"} {
					if other := p.stat(path).ID; other == id || other == "" {
						p.errorf("%q has the ID %q, and %q has %q", path, other, "file", id)
					}
				}
			},
		},
	}
}

func has[T any](p *probe) bool {
	_, ok := p.fs.(T)
	return ok
}

// peer returns a second client of the storage or ends the check.
func (p *probe) peer() ambit.FileSystem {
	peer, err := p.target.Peer(p.ctx, p.storage())
	if err != nil || peer == nil {
		p.fatalf("Peer failed: %v", err)
	}
	return p.fromRoot(peer)
}
