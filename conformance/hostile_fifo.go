// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// patience is how long a call on a FIFO may take before the check takes it for
// one that waits for a writer.
const patience = 10 * time.Second

// promptly runs f, which the check goes on without if it does not return.
func (p *probe) promptly(what string, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run(func(*probe) { f() })
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-p.ctx.Done():
	case <-timer.C:
		p.fatalf("%s did not return within %v", what, patience)
	}
}

// fifoChecks are about FIFOs that another program makes: no call waits for a
// writer.
func fifoChecks() []*check {
	var list []*check
	for _, row := range linkTable() {
		a := row.attempt
		if len(row.fifo) > 0 {
			list = append(list, &check{
				id:       "hostile/" + a.id + "-fifo",
				rule:     a.of("a FIFO") + " is " + oneOf(row.fifo) + ", with a slash behind it " + oneOf(row.slash["file"]) + ", as an earlier step not-a-directory, changes nothing and waits for nobody.",
				requires: append([]requirement{needDisturb}, a.requires...),
				tree:     standard.WithoutLinks(),
				run: func(p *probe) {
					p.disturb(Change{Kind: DisturbFIFO, Path: "/pipe"})
					p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
					before := p.snapshot()
					for _, pipe := range []string{"pipe", "./folder/pipe"} {
						p.promptly(a.of(pipe), func() {
							p.meets(a, expectation{path: pipe, reasons: row.fifo, kinds: []ambit.Kind{ambit.KindFIFO}})
							p.meets(a, expectation{path: pipe + "/", reasons: row.slash["file"], kinds: []ambit.Kind{ambit.KindFIFO}})
							p.meets(a, expectation{path: pipe + "/x", reasons: []ambit.Reason{ambit.ErrNotADirectory}})
						})
					}
					p.unchanged(before)
				},
			})
		}
		if follows := row.last["loop"]; len(follows) == 1 && follows[0] == ambit.ErrLoop {
			list = append(list, &check{
				id:       "hostile/" + a.id + "-link-to-fifo",
				rule:     a.of("a link to a FIFO") + " is " + oneOf(row.fifo) + ", with a slash behind it " + oneOf(row.slash["file"]) + ", changes nothing and waits for nobody.",
				requires: append([]requirement{needLinks, needDisturb}, a.requires...),
				tree:     append(standard.WithoutLinks(), Node{Path: "link-pipe", Kind: ambit.KindSymlink, Target: "folder/pipe"}),
				run: func(p *probe) {
					p.disturb(Change{Kind: DisturbFIFO, Path: "/folder/pipe"})
					before := p.snapshot()
					p.promptly(a.of("link-pipe"), func() {
						p.meets(a, expectation{path: "link-pipe", reasons: row.fifo, kinds: []ambit.Kind{ambit.KindFIFO}})
						p.meets(a, expectation{path: "link-pipe/", reasons: row.slash["file"]})
						p.meets(a, expectation{path: "link-pipe/x", reasons: []ambit.Reason{ambit.ErrNotADirectory}})
					})
					p.unchanged(before)
				},
			})
		}
	}
	fifo := func(p *probe) map[string]string {
		p.disturb(Change{Kind: DisturbFIFO, Path: "/pipe"})
		return p.snapshot()
	}
	return append(list,
		&check{
			id: "hostile/fifo-listed", tree: standard.WithoutLinks(),
			rule:     "A FIFO fails no listing, and Lstat describes it.",
			requires: []requirement{needDisturb, needList},
			run: func(p *probe) {
				fifo(p)
				p.promptly("list of a folder with a FIFO", func() {
					for _, o := range []*ambit.ListOptions{nil, {Details: true}, {Limit: 1}} {
						if kind, ok := p.kinds("/", o)["pipe"]; !ok || kind != ambit.KindFIFO && kind != ambit.KindUnknown {
							p.errorf("list with %+v: the FIFO is %v (there: %v)", o, kind, ok)
						}
					}
					if !p.caps.ReadLink {
						return
					}
					if info, err := implements[ambit.Linker](p).Lstat(p.ctx, "pipe"); err != nil || info.Kind != ambit.KindFIFO || info.Path != "/pipe" {
						p.errorf("lstat of a FIFO: %+v, %v", info, err)
					}
				})
			},
		},
		&check{
			id: "hostile/fifo-removed", tree: standard.WithoutLinks(),
			rule:     "Remove removes a FIFO, with Recursive and without, and with the folder that holds it.",
			requires: []requirement{needDisturb, needRemove},
			run: func(p *probe) {
				for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true}, {MissingOK: true}} {
					before := fifo(p)
					if err := p.writable().Remove(p.ctx, "pipe", o); err != nil {
						p.errorf("remove of a FIFO with %+v: %v", o, err)
					}
					p.changedOnly(before, "/pipe")
				}
				p.disturb(Change{Kind: DisturbFIFO, Path: "/sib/pipe"})
				before := p.snapshot()
				if err := p.writable().Remove(p.ctx, "sib", &ambit.RemoveOptions{Recursive: true}); err != nil {
					p.errorf("remove of a folder with a FIFO: %v", err)
				}
				p.changedOnly(before, "/sib", "/sib/x", "/sib/pipe")
			},
		},
		&check{
			id: "hostile/fifo-renamed", tree: standard.WithoutLinks(),
			rule:     "Rename moves a FIFO, and with Replace a file takes the place of one.",
			requires: []requirement{needDisturb, needRename},
			run: func(p *probe) {
				before := fifo(p)
				info, err := implements[ambit.Renamer](p).Rename(p.ctx, "pipe", "moved", nil)
				if err != nil || info.Kind != ambit.KindFIFO || info.Path != "/moved" {
					p.errorf("rename of a FIFO: %+v, %v", info, err)
				}
				p.changedOnly(before, "/pipe", "/moved")
				before = fifo(p)
				if _, err := implements[ambit.Renamer](p).Rename(p.ctx, "file", "pipe", &ambit.RenameOptions{Replace: true}); err != nil {
					p.errorf("rename of a file onto a FIFO: %v", err)
				}
				p.changedOnly(before, "/pipe", "/file")
				p.holds("pipe", "alpha\nbeta\n")
			},
		},
		&check{
			id: "hostile/fifo-searched", tree: standard.WithoutLinks(),
			rule:     "Grep over a folder with a FIFO waits for nobody and finds what is in the files.",
			requires: []requirement{needDisturb, textSearch},
			run: func(p *probe) {
				fifo(p)
				p.promptly("grep over a FIFO", func() {
					var found []string
					_, err := p.text.Grep(p.ctx, p.fs, ambit.GrepQuery{Pattern: "beta", Base: "/"}, func(m ambit.GrepMatch) bool {
						found = append(found, m.Path)
						return true
					})
					if err != nil || strings.Join(found, " ") != "/file" {
						p.errorf("grep: %q, %v, want /file alone", found, err)
					}
				})
			},
		},
	)
}
