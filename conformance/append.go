// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// appendChecks: what Append does beyond what it shares with Write.
func appendChecks() []*check {
	needs := []requirement{needAppend}
	return []*check{
		{
			id: "write/append-file", tree: standard, requires: needs,
			rule: "Append to a file adds the bytes at its end, and the result tells the whole file.",
			run: func(p *probe) {
				before := p.snapshot()
				for _, path := range []string{"file", "empty", "folder/inner"} {
					content := p.read(path)
					for _, add := range []string{"one", "", "two\n", "\x00", "", strings.Repeat(written, 4), "no newline"} {
						content += add
						r := p.append(path, add, nil)
						p.published(r, "/"+path, content, false)
					}
				}
				p.unchangedExcept(before, "/file", "/empty", "/folder/inner")
			},
		},
		{
			id: "write/append-of-nothing", tree: standard, requires: needs,
			rule: "Append of no bytes leaves the bytes of a file as they are, and creates a missing one empty.",
			run: func(p *probe) {
				before := p.snapshot()
				for range 3 {
					r := p.append("file", "", nil)
					p.published(r, "/file", fileContent, false)
				}
				p.unchanged(before)
				r := p.append("a/new", "", &ambit.AppendOptions{Parents: true})
				p.published(r, "/a/new", "", true, "/a")
				r = p.append("a/new", "", &ambit.AppendOptions{Parents: true})
				p.published(r, "/a/new", "", false)
			},
		},
		{
			id: "write/append-many", tree: standard, requires: needs,
			rule: "Appends one after the other all survive, in order.",
			run: func(p *probe) {
				var want strings.Builder
				for i := range 15 {
					line := strings.Repeat(string(rune('a'+i%26)), i) + "\n"
					want.WriteString(line)
					r := p.append("log", line, nil)
					if r.Created != (i == 0) || r.Info.Size != int64(want.Len()) {
						p.errorf("append %d: Created %v, size %d, want a size of %d", i, r.Created, r.Info.Size, want.Len())
					}
				}
				p.holds("log", want.String())
			},
		},
		{
			id: "write/append-to-large", tree: standard, requires: needs,
			rule: "Append adds to a large file, and adds large content, whole.",
			run: func(p *probe) {
				content := ""
				for i := range 3 {
					add := pattern(p.atMost(2_000_000)/4, uint64(i))
					content += add
					p.append("large", add, nil)
				}
				p.holds("large", content)
			},
		},
		{
			id: "write/append-after-write", tree: standard, requires: []requirement{needAppend, needWrite},
			rule: "Append and Write see each other's bytes.",
			run: func(p *probe) {
				p.write("file", "one ", nil)
				p.append("file", "two ", nil)
				p.append("file", "three", nil)
				p.holds("file", "one two three")
				p.write("file", "", nil)
				p.append("file", "four", nil)
				p.holds("file", "four")
			},
		},
		{
			id: "write/append-siblings", tree: standard, requires: needs,
			rule: "Append changes the file that is named and no other, of whatever name.",
			run: func(p *probe) {
				before := p.snapshot()
				p.append("sib.txt", "more", nil)
				p.append("sib/x", "more", nil)
				p.unchangedExcept(before, "/sib.txt", "/sib/x")
				p.holds("sibling/x", "other x\n")
				if p.caps.List {
					if got := p.names("sib"); !slices.Equal(got, []string{"x"}) {
						p.errorf("the folder lists %q", got)
					}
				}
			},
		},
	}
}
