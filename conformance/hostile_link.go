// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// linked is the standard tree with more links.
var linked = append(slices.Clone(standard), ParseTree(`
-- outward-absolute -> /none/beside/secret --
-- chain-outward -> outward --
-- chain-dangling -> dangling --
-- folder/up -> .. --
-- folder/up-file -> ../file --
`[1:])...)

// linkRows are the rows of docs/contract.md about links and FIFOs, a line for
// each attempt: what it is on a link to a file, to a folder, to nothing, out of
// the root and to itself; the same with a slash behind; with a dangling link
// as an earlier step; on any link where links are refused; on a FIFO. A dot is
// no refusal, and "|" stands between reasons of which the contract leaves the
// choice.
const linkRows = `
#                       file             folder           dangling         outward          loop             file/            folder/          dangling/        outward/         loop/            dangling/x         refused          fifo
open                    .                not-a-file       not-found        outside          loop             not-a-directory  not-a-file       not-a-directory  outside          loop             not-found          denied           not-a-file
stat                    .                .                not-found        outside          loop             not-a-directory  .                not-a-directory  outside          loop             not-found          denied           not-a-file
list                    not-a-directory  .                not-found        outside          loop             not-a-directory  .                not-a-directory  outside          loop             not-found          denied           not-a-directory
sub                     not-a-directory  .                not-found        outside          loop             not-a-directory  .                not-a-directory  outside          loop             not-found          denied           not-a-directory
lstat                   .                .                .                .                .                not-a-directory  .                not-a-directory  outside          loop             not-found          .                .
readlink                .                .                .                outside          .                not-a-directory  invalid          not-a-directory  outside          loop             not-found          .                invalid
write                   .                not-a-file       denied           outside          loop             not-a-directory  not-a-file       not-a-directory  outside          loop             not-found          denied           not-a-file
write-parents           .                not-a-file       denied           outside          loop             not-a-directory  not-a-file       not-a-directory  outside          loop             denied             denied           not-a-file
write-if-absent         exists           exists           exists           exists           exists           not-a-directory  exists           not-a-directory  outside          loop             not-found          exists           exists
write-if-version        changed          not-a-file       denied           outside          loop             not-a-directory  not-a-file       not-a-directory  outside          loop             denied|changed     denied           not-a-file
remove                  .                .                .                .                .                not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found          .                .
remove-recursive        .                .                .                .                .                not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found          .                .
remove-missing-ok       .                .                .                .                .                not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  .                  .                .
remove-if-version       invalid          invalid          invalid          invalid          invalid          not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found|changed  invalid          invalid
rename-from             .                .                .                .                .                not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found          .                .
rename-from-if-version  invalid          invalid          invalid          invalid          invalid          not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found|changed  invalid          invalid
rename-to               exists           exists           exists           exists           exists           not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found          exists           exists
rename-to-replace       .                .                .                .                .                not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-found          .                .
rename-to-parents       exists           exists           exists           exists           exists           not-a-directory  not-a-directory  not-a-directory  not-a-directory  not-a-directory  denied             exists           exists
mkdir                   exists           exists           exists           exists           exists           exists           exists           exists           exists           exists           not-found          exists           exists
mkdir-parents           exists           exists           exists           exists           exists           exists           exists           exists           exists           exists           denied             exists           exists
`

// linkRow is one line of linkRows.
type linkRow struct {
	attempt attempt
	last    map[string][]ambit.Reason // by link: file, folder, dangling, outward, loop
	slash   map[string][]ambit.Reason
	through []ambit.Reason // a dangling link as an earlier step
	refused []ambit.Reason
	fifo    []ambit.Reason
}

// rowOf names the line for an attempt that has none of its own: what makes a
// write in another way is judged as Write is.
func rowOf(id string) string {
	if id == "commit-remove" {
		return "remove"
	}
	for _, method := range []string{"stage", "append", "commit-write"} {
		if rest, ok := strings.CutPrefix(id, method); ok {
			return "write" + rest
		}
	}
	return id
}

// linkTable returns the line of each attempt.
func linkTable() []linkRow {
	lines := make(map[string][][]ambit.Reason)
	var head []string
	for line := range strings.Lines(linkRows) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "#" {
			head = fields
			continue
		}
		if len(fields) != len(head) {
			panic(fmt.Sprintf("conformance: a line of %d columns: %s", len(fields), line))
		}
		cells := make([][]ambit.Reason, len(head))
		for i, f := range fields[1:] {
			if f == "." {
				continue
			}
			for r := range strings.SplitSeq(f, "|") {
				cells[i+1] = append(cells[i+1], ambit.Reason(r))
			}
		}
		lines[fields[0]] = cells
	}
	var rows []linkRow
	for _, a := range attempts() {
		cells, ok := lines[rowOf(a.id)]
		if !ok {
			panic("conformance: no line for the attempt " + a.id)
		}
		row := linkRow{attempt: a, last: make(map[string][]ambit.Reason), slash: make(map[string][]ambit.Reason)}
		for i, column := range head {
			switch kind, slash := strings.CutSuffix(column, "/"); {
			case column == "#":
			case column == "dangling/x":
				row.through = cells[i]
			case column == "refused":
				row.refused = cells[i]
			case column == "fifo":
				row.fifo = cells[i]
			case slash:
				row.slash[kind] = cells[i]
			default:
				row.last[kind] = cells[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// linkKind is a kind of link: its column, how IDs and rules name it, and the
// links of that kind in the tree linked.
type linkKind struct {
	column, id, phrase string
	links              []string
	beneath            []string // paths that have such a link as an earlier step
}

var linkKinds = []linkKind{
	{"file", "link-to-file", "a link to a file", []string{"link-file", "link-inner", "folder/up-file"}, []string{"link-file/x", "link-inner/x/y", "link-folder/up-file/x", "link-file/x/"}},
	{"folder", "link-to-folder", "a link to a folder", []string{"link-folder", "folder/up"}, nil},
	{"dangling", "dangling-link", "a dangling link", []string{"dangling", "dangling-deep", "chain-dangling"}, []string{"dangling/x", "dangling-deep/x/y", "chain-dangling/x"}},
	{
		"outward", "outward-link", "a link that leads out of the root",
		[]string{"outward", "outward-folder", "outward-dangling", "outward-absolute", "chain-outward"},
		[]string{"outward-folder/secret", "outward-folder/none", "outward/x", "outward-dangling/x", "outward-absolute/x", "chain-outward/x/y", "outward-folder/secret/", "folder/up/outward-folder/secret"},
	},
	{"loop", "looping-link", "a link that leads to itself", []string{"loop", "loop-a", "loop-b"}, []string{"loop/x", "loop-a/x/y", "loop/x/"}},
}

// linkSpellings are ways to write the path of a link.
func linkSpellings(link string) []string {
	return []string{link, "/" + link, "./" + link, "folder/../" + link, "link-folder/../" + link, "nowhere/..//" + link}
}

// slashes are ways to write the path of a link so that it asserts a folder.
func slashes(link string) []string {
	return []string{link + "/", link + "//", link + "/.", "./" + link + "/", link + "/nowhere/.."}
}

// expectations returns how the row's attempt is refused on links of a kind.
func (row linkRow) expectations(k linkKind) []expectation {
	var list []expectation
	add := func(paths []string, reasons []ambit.Reason, kinds ...ambit.Kind) {
		for _, path := range paths {
			if len(reasons) > 0 {
				list = append(list, expectation{path: path, reasons: reasons, kinds: kinds, rule: "dangling-link"})
			}
		}
	}
	for _, link := range k.links {
		if link == "chain-outward" && row.attempt.id == "readlink" {
			continue // its own text leads inside
		}
		kinds := []ambit.Kind{ambit.KindSymlink}
		if slices.Contains(row.last[k.column], ambit.ErrNotAFile) {
			kinds = []ambit.Kind{ambit.KindDirectory}
		}
		add(linkSpellings(link), row.last[k.column], kinds...)
		add(slashes(link), row.slash[k.column], ambit.KindDirectory, ambit.KindSymlink)
	}
	switch k.column {
	case "file":
		add(k.beneath, []ambit.Reason{ambit.ErrNotADirectory})
	case "outward":
		add(k.beneath, []ambit.Reason{ambit.ErrOutside})
	case "loop":
		add(k.beneath, []ambit.Reason{ambit.ErrLoop})
	case "dangling":
		add(k.beneath, row.through)
	}
	return list
}

// ruleOf is the rule of a check in words.
func (row linkRow) ruleOf(k linkKind) string {
	var parts []string
	say := func(reasons []ambit.Reason, where string) {
		if len(reasons) > 0 {
			parts = append(parts, oneOf(reasons)+where)
		}
	}
	say(row.last[k.column], " as the last step")
	say(row.slash[k.column], " with a slash behind it")
	switch k.column {
	case "file":
		say([]ambit.Reason{ambit.ErrNotADirectory}, " as an earlier step")
	case "outward":
		say([]ambit.Reason{ambit.ErrOutside}, " as an earlier step")
	case "loop":
		say([]ambit.Reason{ambit.ErrLoop}, " as an earlier step")
	case "dangling":
		say(row.through, " as an earlier step")
	}
	return fmt.Sprintf("%s is %s, and changes nothing.", row.attempt.of(k.phrase), strings.Join(parts, ", "))
}

// oneOf names reasons.
func oneOf(reasons []ambit.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = string(r)
	}
	return strings.Join(names, " or ")
}

// linkChecks makes one check for each attempt on each kind of link, of all
// that is refused there.
func linkChecks() []*check {
	var list []*check
	for _, row := range linkTable() {
		for _, k := range linkKinds {
			expectations := row.expectations(k)
			if len(expectations) == 0 {
				continue
			}
			c := &check{
				id:       "hostile/" + row.attempt.id + "-" + k.id,
				rule:     row.ruleOf(k),
				requires: append([]requirement{needLinks}, row.attempt.requires...),
				tree:     linked,
				machine:  true,
				run: func(p *probe) {
					before := p.snapshot()
					errs := make(map[string]error)
					for _, e := range expectations {
						errs[e.path] = p.meets(row.attempt, e)
					}
					p.unchanged(before)
					// What is there and what is not beside the root must not differ.
					for _, pair := range [][2]string{
						{"outward", "outward-dangling"},
						{"outward/", "outward-dangling/"},
						{"outward-folder/secret", "outward-folder/none"},
					} {
						if _, tried := errs[pair[0]]; tried {
							p.alikeRefusals(row.attempt.op, pair[0], errs[pair[0]], pair[1], errs[pair[1]])
						}
					}
				},
			}
			if k.column == "outward" {
				c.control = row.attempt.escapes(row.attempt.escape)
			}
			list = append(list, c)
		}
	}
	return list
}

// escapes returns a positive control: a made on path must succeed, and what it
// returns must tell of what is beside the root if a only looks.
func (a attempt) escapes(path string) func(p *probe) {
	return func(p *probe) {
		before := p.beside()
		seen, err := a.call(p, path)
		if err != nil {
			p.fatalf("%s %q on a file system that confines nothing: %v", a.op, path, err)
		}
		switch {
		case !a.changes():
			if secretIn("", seen, nil) == "" && !strings.Contains(seen, "secret") && a.id != "stat" && a.id != "lstat" {
				p.errorf("%s %q told nothing of what is beside the root: %s", a.op, path, brief(seen))
			}
		case a.op == ambit.OpStage: // discarded
		default:
			if after := p.beside(); fmt.Sprint(before) == fmt.Sprint(after) {
				p.errorf("%s %q changed nothing beside the root", a.op, path)
			}
		}
	}
}
