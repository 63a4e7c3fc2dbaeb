// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"strings"

	"github.com/ambitfs/ambit"
)

// stageChecks: what Stage does beyond what it shares with Write.
func stageChecks() []*check {
	needs := []requirement{needStage}
	publish := func(p *probe, s ambit.Staged) ambit.WriteResult {
		r, err := s.Publish(p.ctx)
		if err != nil {
			p.fatalf("publish: %v", err)
		}
		return r
	}
	closed := func(p *probe, path string, s ambit.Staged) {
		r, err := s.Publish(p.ctx)
		p.refused(ambit.OpPublish, path, err, ambit.ErrClosed)
		if r.Info.Path != "" && err == nil {
			p.errorf("publish again published %q", r.Info.Path)
		}
	}
	discarded := func(p *probe, s ambit.Staged) {
		for range 3 {
			if err := s.Discard(p.ctx); err != nil {
				p.errorf("discard: %v", err)
			}
		}
	}
	paths := []string{"file", "new", "folder/inner", "gone/deep/new"}
	return []*check{
		{
			id: "write/stage-invisible", tree: standard, requires: needs,
			rule: "Stage changes nothing that a listing, a Stat or an Open can see, missing parents included.",
			run: func(p *probe) {
				before := p.snapshot()
				var version ambit.Version
				if p.caps.Versions {
					version = p.stat("file").Version
				}
				for _, path := range paths {
					s := p.stage(path, written, &ambit.WriteOptions{Parents: true})
					p.unchanged(before)
					discarded(p, s)
				}
				p.missing("new")
				p.missing("gone")
				if p.caps.Versions && p.stat("file").Version != version {
					p.errorf("the version changed")
				}
			},
		},
		{
			id: "write/stage-info", tree: standard, requires: needs,
			rule: "A Staged describes what would be published: path, size and mode, and no version.",
			run: func(p *probe) {
				for path, canonical := range map[string]string{
					"file": "/file", "./new": "/new", "gone/../folder//inner": "/folder/inner", "gone/deep/new": "/gone/deep/new",
				} {
					o := &ambit.WriteOptions{Parents: true}
					if p.caps.KeepsMode {
						o.Mode = 0o640
					}
					s := p.stage(path, written, o)
					info := s.Info()
					if info.Mode != o.Mode && p.caps.KeepsMode {
						p.errorf("stage %q describes the mode %v, want %v", path, info.Mode, o.Mode)
					}
					if info.Path != canonical || info.Size != int64(len(written)) && info.Size != -1 || info.Version != "" {
						p.errorf("stage %q describes %q of %d bytes and version %q, want %q of %d bytes", path, info.Path, info.Size, info.Version, canonical, len(written))
					}
					discarded(p, s)
				}
			},
		},
		{
			id: "write/stage-publish", tree: standard, requires: needs,
			rule: "Publish gives the staged content its name, in any order and beside other staged content.",
			run: func(p *probe) {
				before := p.snapshot()
				one := p.stage("file", "one", nil)
				two := p.stage("gone/deep/new", "two", &ambit.WriteOptions{Parents: true})
				three := p.stage("file", "three", nil)
				p.published(publish(p, three), "/file", "three", false)
				p.published(publish(p, two), "/gone/deep/new", "two", true, "/gone", "/gone/deep")
				p.published(publish(p, one), "/file", "one", false)
				p.unchangedExcept(before, "/file", "/gone", "/gone/deep", "/gone/deep/new")
			},
		},
		{
			id: "write/stage-publish-once", tree: standard, requires: needs,
			rule: "Publish works once: then it is closed, and changes nothing.",
			run: func(p *probe) {
				for _, path := range paths {
					s := p.stage(path, written, &ambit.WriteOptions{Parents: true})
					publish(p, s)
					before := p.snapshot()
					for range 3 {
						closed(p, path, s)
					}
					p.unchanged(before)
				}
			},
		},
		{
			id: "write/stage-discard", tree: standard, requires: needs,
			rule: "Discard leaves nothing, and is nil every time; Publish after it is closed.",
			run: func(p *probe) {
				before := p.snapshot()
				for _, path := range paths {
					s := p.stage(path, written, &ambit.WriteOptions{Parents: true})
					discarded(p, s)
					p.unchanged(before)
					closed(p, path, s)
					discarded(p, s)
				}
				p.unchanged(before)
			},
		},
		{
			id: "write/stage-discard-after-publish", tree: standard, requires: needs,
			rule: "Discard after Publish is nil and takes nothing back.",
			run: func(p *probe) {
				for _, path := range paths {
					s := p.stage(path, written, &ambit.WriteOptions{Parents: true})
					publish(p, s)
					before := p.snapshot()
					discarded(p, s)
					p.unchanged(before)
					p.holds(path, written)
				}
			},
		},
		{
			id: "write/stage-discard-with-context-done", tree: standard, requires: needs,
			rule: "Discard is nil also with a context that is done.",
			run: func(p *probe) {
				before := p.snapshot()
				done, cancel := context.WithCancel(p.ctx)
				cancel()
				s := p.stage("new", written, nil)
				if err := s.Discard(done); err != nil {
					p.errorf("discard: %v", err)
				}
				closed(p, "new", s)
				p.unchanged(before)
			},
		},
		{
			id: "write/stage-publish-canceled", tree: standard, requires: needs,
			rule: "Publish with a context that is done is canceled, publishes nothing and has discarded the content.",
			run: func(p *probe) {
				before := p.snapshot()
				done, cancel := context.WithCancel(p.ctx)
				cancel()
				for _, path := range paths {
					s := p.stage(path, written, &ambit.WriteOptions{Parents: true})
					_, err := s.Publish(done)
					p.refused(ambit.OpPublish, path, err, ambit.ErrCanceled)
					p.unchanged(before)
					closed(p, path, s)
					discarded(p, s)
				}
				p.unchanged(before)
			},
		},
		{
			id: "write/stage-outlives-its-call", tree: standard, requires: needs,
			rule: "The context of Stage governs that call: content stays staged when it ends.",
			run: func(p *probe) {
				ctx, cancel := context.WithCancel(p.ctx)
				defer cancel()
				s, err := implements[ambit.Stager](p).Stage(ctx, "new", strings.NewReader(written), nil)
				if err != nil || s == nil {
					p.fatalf("stage: %v, %v", s, err)
				}
				cancel()
				p.published(publish(p, s), "/new", written, true)
			},
		},
		{
			id: "write/stage-reads-content", tree: standard, requires: needs,
			rule: "Stage reads the content to its end: what happens to it later changes nothing.",
			run: func(p *probe) {
				own := []byte(written)
				r := bytes.NewReader(own)
				s, err := implements[ambit.Stager](p).Stage(p.ctx, "new", r, nil)
				if err != nil || s == nil {
					p.fatalf("stage: %v, %v", s, err)
				}
				if r.Len() != 0 {
					p.errorf("%d bytes of the content are unread", r.Len())
				}
				for i := range own {
					own[i] = '!'
				}
				r.Reset([]byte("something else"))
				p.published(publish(p, s), "/new", written, true)
			},
		},
		{
			id: "write/stage-publish-rechecks", tree: standard, requires: []requirement{needStage, needWrite, needSwap, needVersions},
			rule: "Publish judges the precondition again, and a Publish that failed has discarded the content.",
			run: func(p *probe) {
				v := p.stat("file").Version
				changed := p.stage("file", written, &ambit.WriteOptions{If: ambit.IfVersion(v)})
				created := p.stage("new", written, &ambit.WriteOptions{If: ambit.IfAbsent()})
				p.write("file", strings.ToUpper(fileContent), nil)
				p.write("new", "somebody else's\n", nil)
				before := p.snapshot()
				_, err := changed.Publish(p.ctx)
				p.refused(ambit.OpPublish, "file", err, ambit.ErrChanged)
				_, err = created.Publish(p.ctx)
				p.refused(ambit.OpPublish, "new", err, ambit.ErrExists)
				p.unchanged(before)
				closed(p, "file", changed)
				closed(p, "new", created)
				discarded(p, changed)
				discarded(p, created)
				p.unchanged(before)
			},
		},
		{
			id: "write/stage-publish-walks-again", tree: standard, requires: []requirement{needStage, needWrite, needRemove},
			rule: "Publish walks the path again: a parent that is gone is not-found, or made with Parents, and a file that is gone is created.",
			run: func(p *probe) {
				plain := p.stage("folder/deep/new", written, nil)
				parents := p.stage("folder/deep/other", written, &ambit.WriteOptions{Parents: true})
				file := p.stage("file", written, nil)
				created := p.stage("new", written, nil)
				p.remove("folder", &ambit.RemoveOptions{Recursive: true})
				p.remove("file", nil)
				p.write("new", "somebody else's\n", nil)
				before := p.snapshot()
				_, err := plain.Publish(p.ctx)
				p.refused(ambit.OpPublish, "folder/deep/new", err, ambit.ErrNotFound)
				p.unchanged(before)
				closed(p, "folder/deep/new", plain)
				p.published(publish(p, parents), "/folder/deep/other", written, true, "/folder", "/folder/deep")
				p.published(publish(p, file), "/file", written, true)
				p.published(publish(p, created), "/new", written, false)
				p.unchangedExcept(before, "/folder", "/folder/deep", "/folder/deep/other", "/file", "/new")
			},
		},
	}
}
