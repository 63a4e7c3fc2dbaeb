// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ambitfs/ambit"
)

// second returns a probe of a second client of p's storage.
func (p *probe) second() *probe {
	fsys := p.peer()
	if a, b := p.fs.Capabilities(), fsys.Capabilities(); a != b {
		p.errorf("two clients of one storage claim %+v and %+v", a, b)
	}
	return p.on(fsys)
}

// peerChecks are about two clients of one storage.
func peerChecks() []*check {
	return []*check{
		{
			id: "concurrent/peer-agrees", tree: standard,
			rule:     "Two clients of one storage see the same names, bytes, versions and identities.",
			requires: []requirement{needPeer},
			run: func(p *probe) {
				q := p.second()
				p.alike(p.snapshot(), q.snapshot(), "seen by the second client")
				for _, path := range []string{"file", "empty", "folder/inner"} {
					a, b := p.stat(path), q.stat(path)
					if a.Version != b.Version || a.ID != b.ID || a.Size != b.Size || a.Path != b.Path {
						p.errorf("two clients describe %q as %+v and %+v", path, a, b)
					}
				}
			},
		},
		{
			id: "concurrent/peer-sees-changes", tree: standard,
			rule:     "A change by one client is seen by the other as soon as the call has returned, and by its open files.",
			requires: []requirement{needPeer, needWrite},
			run: func(p *probe) {
				q := p.second()
				for i, c := range []struct{ by, seen *probe }{{p, q}, {q, p}} {
					f := c.seen.open("file")
					c.seen.stat("file") // whatever is remembered of it
					content := fmt.Sprintf("by client %d, of a size of its own%s\n", i, strings.Repeat("!", i))
					r := c.by.write("file", content, nil)
					c.seen.holds("file", content)
					if now := c.seen.stat("file").Version; now != r.Info.Version {
						p.errorf("the writer was told version %q, the other client sees %q", r.Info.Version, now)
					}
					if p.caps.Versions {
						p.refused(ambit.OpVerify, "file", f.Verify(p.ctx), ambit.ErrChanged)
					}
					f.Close()
					path := fmt.Sprintf("made-%d/new", i)
					c.seen.missing(path)
					c.by.write(path, "new\n", &ambit.WriteOptions{Parents: true})
					c.seen.holds(path, "new\n")
					if p.caps.Rename {
						if _, err := implements[ambit.Renamer](c.by).Rename(p.ctx, path, path+"-moved", nil); err != nil {
							p.errorf("rename: %v", err)
						}
						c.seen.missing(path)
						path += "-moved"
						c.seen.holds(path, "new\n")
					}
					if p.caps.Remove {
						if err := c.by.writable().Remove(p.ctx, path, nil); err != nil {
							p.errorf("remove: %v", err)
						}
						c.seen.missing(path)
					}
				}
				p.alike(p.snapshot(), q.snapshot(), "seen by the second client")
			},
		},
		{
			id: "concurrent/peer-version-travels", tree: standard,
			rule:     "A version that one client was told holds for the other, and is changed there once it is outdated.",
			requires: []requirement{needPeer, needWrite, needVersions, needSwap},
			run: func(p *probe) {
				q := p.second()
				first := p.stat("file").Version
				second := q.write("file", "second\n", &ambit.WriteOptions{If: ambit.IfVersion(first)}).Info.Version
				p.write("file", "third\n", &ambit.WriteOptions{If: ambit.IfVersion(second)})
				for _, c := range []*probe{p, q} {
					for _, old := range []ambit.Version{first, second} {
						_, err := c.writable().Write(p.ctx, "file", strings.NewReader("lost?\n"), &ambit.WriteOptions{If: ambit.IfVersion(old)})
						p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
					}
					_, err := c.writable().Write(p.ctx, "file", strings.NewReader("lost?\n"), &ambit.WriteOptions{If: ambit.IfAbsent()})
					p.refused(ambit.OpWrite, "file", err, ambit.ErrExists)
					c.holds("file", "third\n")
				}
			},
		},
		{
			id: "concurrent/peer-swap-one-wins", tree: standard,
			rule:     "Of several writes with the same IfVersion, and of several with IfAbsent, exactly one succeeds across two clients.",
			requires: []requirement{needPeer, needWrite, needVersions, needExactSwap},
			run: func(p *probe) {
				clients := []*probe{p, p.second()}
				for round := range 10 {
					version := p.stat("file").Version
					errs := p.contend(callers, func(i int) error {
						_, err := clients[i%2].writable().Write(p.ctx, "file", strings.NewReader(strconv.Itoa(i)), &ambit.WriteOptions{If: ambit.IfVersion(version)})
						return err
					})
					won := p.winner(ambit.OpWrite, "file", errs, ambit.ErrChanged)
					for _, c := range clients {
						c.holds("file", strconv.Itoa(won))
					}
					path := fmt.Sprintf("made-%d", round)
					errs = p.contend(callers, func(i int) error {
						_, err := clients[i%2].create(i/2, path, strconv.Itoa(i))
						return err
					})
					won = p.winner("", path, errs, ambit.ErrExists)
					for _, c := range clients {
						c.holds(path, strconv.Itoa(won))
					}
				}
			},
		},
		{
			id: "concurrent/peer-updates-all-survive", tree: standard,
			rule:     "Of concurrent updates with IfVersion across two clients none that succeeded is lost.",
			requires: []requirement{needPeer, needWrite, needVersions, needExactSwap},
			run: func(p *probe) {
				clients := []*probe{p, p.second()}
				p.updates(func(caller int) ambit.FileSystem { return clients[caller%2].fs })
			},
		},
		{
			id: "concurrent/peer-appends-all-survive", tree: standard,
			rule:     "Concurrent appends across two clients all survive, and none is inside another.",
			requires: []requirement{needPeer, needAppend},
			run: func(p *probe) {
				clients := []*probe{p, p.second()}
				p.appends(func(caller int) ambit.FileSystem { return clients[caller%2].fs })
			},
		},
	}
}
