// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// versionChecks: the form of versions, and that all ways to look tell the same.
func versionChecks() []*check {
	return []*check{
		{
			id: "core/version-form", tree: standard, requires: []requirement{needVersions},
			rule: `A regular file has a version of 1 to 128 bytes out of "!" and "#" to "~", and nothing else has one.`,
			run: func(p *probe) {
				for _, path := range []string{"file", "empty", "folder/inner", ".dot"} {
					if v := p.stat(path).Version; !v.Valid() {
						p.errorf("%q has the version %q", path, v)
					}
				}
				for _, path := range []string{"folder", "hollow", "/"} {
					if v := p.stat(path).Version; v != "" {
						p.errorf("the folder %q has the version %q", path, v)
					}
				}
				if !p.caps.List {
					return
				}
				l, err := p.fs.List(p.ctx, "/", &ambit.ListOptions{Details: true})
				if err != nil {
					p.fatalf("list: %v", err)
				}
				for _, e := range l.Entries {
					if regular := e.Info.Kind == ambit.KindRegular; regular != e.Info.Version.Valid() || !regular && e.Info.Version != "" {
						p.errorf("List tells the version %q of the %s %q", e.Info.Version, e.Info.Kind, e.Name)
					}
				}
			},
		},
		{
			id: "core/version-agrees", tree: standard, requires: []requirement{needVersions},
			rule: "While nothing changes, Open, Stat and List tell the same version, through every spelling of the path.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty", "folder/inner"} {
					v := p.stat(path).Version
					for _, spelling := range spellings(path) {
						f := p.open(spelling)
						p.read(spelling)
						if got := f.Info().Version; got != v {
							p.errorf("Open of %q tells the version %q, Stat of %q told %q", spelling, got, path, v)
						}
						f.Close()
						if got := p.stat(spelling).Version; got != v {
							p.errorf("Stat of %q tells the version %q, of %q it told %q", spelling, got, path, v)
						}
					}
					if !p.caps.List {
						continue
					}
					l, err := p.fs.List(p.ctx, ambit.Dir("/"+path), &ambit.ListOptions{Details: true})
					if err != nil {
						p.fatalf("list: %v", err)
					}
					for _, e := range l.Entries {
						if e.Info.Path == "/"+path && e.Info.Version != v {
							p.errorf("List tells the version %q of %q, Stat told %q", e.Info.Version, path, v)
						}
					}
				}
			},
		},
	}
}

// newVersionChecks: every change through the library gives a new version.
func newVersionChecks() []*check {
	return []*check{
		{
			id: "write/version-of-the-result", tree: standard, requires: []requirement{needWrite, needVersions},
			rule: "A result tells the version of the bytes that the call published, as Open and Stat then do.",
			run: func(p *probe) {
				for i, path := range []string{"file", "new", "folder/inner", "file"} {
					content := strings.Repeat("x", i)
					r := p.write(path, content, nil)
					p.describes(r.Info, "/"+path, content)
				}
			},
		},
		{
			id: "write/version-same-size", tree: standard, requires: []requirement{needWrite, needVersions},
			rule: "A write of other bytes of the same size gives a new version, however soon.",
			run: func(p *probe) {
				last := p.stat("file").Version
				for _, content := range []string{"ALPHA\nbeta\n", "alpha\nBETA\n", "ALPHA\nBETA\n"} {
					if v := p.write("file", content, nil).Info.Version; v == last {
						p.errorf("the version %q stayed", v)
					} else {
						last = v
					}
				}
			},
		},
		{
			id: "write/version-same-bytes", tree: standard, requires: []requirement{needWrite, needVersions},
			rule: "A write of the bytes that are there already gives a new version.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty"} {
					content, before := p.read(path), p.stat(path).Version
					if v := p.write(path, content, nil).Info.Version; v == before {
						p.errorf("the version %q of %q stayed", v, path)
					}
				}
			},
		},
		{
			id: "write/version-aba", tree: standard, requires: []requirement{needWrite, needVersions},
			rule: "A version never comes back, though the bytes do.",
			run: func(p *probe) {
				seen := map[ambit.Version]int{p.stat("file").Version: -1}
				for i := range 24 {
					content := []string{fileContent, strings.ToUpper(fileContent)}[i%2]
					v := p.write("file", content, nil).Info.Version
					if earlier, ok := seen[v]; ok {
						p.errorf("write %d gives the version %q, which write %d gave", i, v, earlier)
					}
					seen[v] = i
				}
			},
		},
		{
			id: "write/version-after-removal", tree: standard, requires: []requirement{needWrite, needRemove, needVersions},
			rule: "A file that is removed and made again has another version than before.",
			run: func(p *probe) {
				seen := map[ambit.Version]bool{p.stat("file").Version: true}
				for range 6 {
					p.remove("file", nil)
					v := p.write("file", fileContent, nil).Info.Version
					if seen[v] {
						p.errorf("the version %q came back", v)
					}
					seen[v] = true
				}
			},
		},
		{
			id: "write/version-after-rename-over", tree: standard, requires: []requirement{needRename, needVersions},
			rule: "A file that is moved over another gives the name another version, which the result tells.",
			run: func(p *probe) {
				before := p.stat("sib/x").Version
				info := p.rename("sibling/x", "sib/x", &ambit.RenameOptions{Replace: true})
				if info.Version == before {
					p.errorf("the version %q stayed", before)
				}
				p.describes(info, "/sib/x", "other x\n")
			},
		},
		{
			id: "write/version-after-append", tree: standard, requires: []requirement{needAppend, needVersions},
			rule: "An append gives a new version, which the result tells.",
			run: func(p *probe) {
				seen := map[ambit.Version]bool{p.stat("file").Version: true}
				for i := range 6 {
					r := p.append("file", "x", nil)
					if seen[r.Info.Version] {
						p.errorf("the version %q came back", r.Info.Version)
					}
					seen[r.Info.Version] = true
					p.describes(r.Info, "/file", fileContent+strings.Repeat("x", i+1))
				}
			},
		},
		{
			id: "write/version-shared-with-a-peer", tree: standard, requires: []requirement{needWrite, needVersions, needPeer},
			rule: "A change through one client of a storage is seen by another, under the version that the first was told.",
			run: func(p *probe) {
				peer := p.peer()
				r := p.write("file", "from one client\n", nil)
				data, info, err := ambit.ReadFile(p.ctx, peer, "file")
				if err != nil || string(data) != "from one client\n" || info.Version != r.Info.Version {
					p.errorf("the other client reads %q of version %q, %v, want version %q", data, info.Version, err, r.Info.Version)
				}
			},
		},
	}
}
