// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// modeTree has files with modes of their own.
var modeTree = ParseTree("-- run.sh 0755 --\n#!/bin/sh\n-- conf 0640 --\nk = v\n-- folder/wide 0666 --\nx\n-- private 0600 --\ny\n")

// modeChecks: permission bits, where they are kept.
func modeChecks() []*check {
	var out []*check
	shows := func(p *probe, path string, want fs.FileMode) {
		if got := p.stat(path).Mode; got != want {
			p.errorf("%q has the mode %v, want %v", path, got, want)
		}
	}
	// All let the owner read and write, so that nothing is refused later.
	modes := []fs.FileMode{0o600, 0o640, 0o644, 0o666, 0o700, 0o755, 0o777, 0o606}
	for _, m := range publishings() {
		needs := slices.Concat(m.needs, []requirement{needKeepsMode})
		out = append(out, &check{
			id: "write/" + m.id + "-mode", tree: modeTree, requires: needs,
			rule: m.title + " sets exactly the Mode that is given on a file that it creates, whatever the umask.",
			run: func(p *probe) {
				for i, mode := range modes {
					path := "new" + string(rune('a'+i))
					r := m.publish(p, path, written, ambit.WriteOptions{Mode: mode})
					if r.Info.Mode != mode {
						p.errorf("%q: the result has the mode %v, want %v", path, r.Info.Mode, mode)
					}
					shows(p, path, mode)
					p.published(r, "/"+path, written, true)
				}
				m.publish(p, "a/b/new", written, ambit.WriteOptions{Mode: 0o600, Parents: true})
				shows(p, "a/b/new", 0o600)
				m.publish(p, "a/b/other", written, ambit.WriteOptions{})
			},
		}, &check{
			id: "write/" + m.id + "-keeps-mode", tree: modeTree, requires: needs,
			rule: m.title + " without a Mode keeps that of the file.",
			run: func(p *probe) {
				for range 2 {
					for _, n := range p.tree {
						r := m.publish(p, n.Path, written, ambit.WriteOptions{})
						if r.Info.Mode != n.Mode {
							p.errorf("%q: the result has the mode %v, want %v", n.Path, r.Info.Mode, n.Mode)
						}
						shows(p, n.Path, n.Mode)
					}
				}
			},
		})
		if m.id == methodAppend.id {
			out = append(out, &check{
				id: "write/append-mode-of-a-file", tree: modeTree, requires: needs,
				rule: "Append sets the Mode only on a file that it creates.",
				run: func(p *probe) {
					for _, n := range p.tree {
						m.publish(p, n.Path, written, ambit.WriteOptions{Mode: 0o777})
						shows(p, n.Path, n.Mode)
					}
				},
			})
			continue
		}
		out = append(out, &check{
			id: "write/" + m.id + "-mode-of-a-file", tree: modeTree, requires: needs,
			rule: m.title + " sets exactly the Mode that is given on a file that it replaces.",
			run: func(p *probe) {
				for _, n := range p.tree {
					for _, mode := range modes {
						r := m.publish(p, n.Path, written, ambit.WriteOptions{Mode: mode})
						if r.Info.Mode != mode {
							p.errorf("%q: the result has the mode %v, want %v", n.Path, r.Info.Mode, mode)
						}
						shows(p, n.Path, mode)
					}
				}
			},
		})
	}
	return append(out,
		&check{
			id: "write/new-files-have-one-mode", tree: modeTree, requires: []requirement{needWrite, needKeepsMode},
			rule: "A new file without a Mode gets the same mode whatever is beside it, and its owner may read and write it.",
			run: func(p *probe) {
				p.write("new", written, nil)
				p.write("folder/new", written, nil)
				p.write("private/../a/new", written, &ambit.WriteOptions{Parents: true})
				mode := p.stat("new").Mode
				if mode&0o600 != 0o600 {
					p.errorf("a new file has the mode %v", mode)
				}
				shows(p, "folder/new", mode)
				shows(p, "a/new", mode)
			},
		},
		&check{
			id: "write/read-only-file", tree: ParseTree("-- a 0444 --\nold\n-- b 0444 --\nold\n-- c 0444 --\nold\n-- d 0444 --\nold\n"),
			requires: []requirement{needWrite, needKeepsMode},
			rule:     "A file whose mode has no write bit is permission for every method that would write it, whoever asks, though its folder would let it be replaced.",
			run: func(p *probe) {
				for i, m := range contentMethods() {
					if len(p.claimedOf([]method{m.method})) == 0 {
						continue
					}
					path, before := string(rune('a'+i)), p.snapshot()
					err := m.give(p.ctx, p, path, strings.NewReader(written), false)
					p.refused(m.opOf(err), path, err, ambit.ErrPermission)
					p.unchanged(before)
				}
			},
		},
		&check{
			id: "write/rename-keeps-mode", tree: modeTree, requires: []requirement{needRename, needKeepsMode},
			rule: "A file that is moved keeps its mode, also over another file.",
			run: func(p *probe) {
				p.rename("run.sh", "moved.sh", nil)
				shows(p, "moved.sh", 0o755)
				p.rename("moved.sh", "conf", &ambit.RenameOptions{Replace: true})
				shows(p, "conf", 0o755)
				p.rename("folder", "elsewhere", nil)
				shows(p, "elsewhere/wide", 0o666)
			},
		},
	)
}
