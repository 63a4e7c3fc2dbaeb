// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/ambitfs/ambit"
)

// pathChecks: what a path's text means where it is a path.
func pathChecks() []*check {
	return []*check{
		{
			id: "core/path-dots", tree: standard,
			rule: `"." and empty segments vanish, ".." takes the name before it away by text alone, and results carry the canonical path.`,
			run: func(p *probe) {
				for path, canonical := range map[string]string{
					"file": "/file", "/file": "/file", "./file": "/file", "//file": "/file", "/./file": "/file", ".//./file": "/file",
					"folder/../file": "/file", "gone/../file": "/file", "gone/nothing/../../file": "/file", "file/../file": "/file",
					"empty/x/../../file": "/file", "./folder/.././file": "/file",
					"folder//inner": "/folder/inner", "folder/./inner": "/folder/inner", "folder/deep/../inner": "/folder/inner",
					"folder/gone/../inner": "/folder/inner", "/sib/../folder/inner": "/folder/inner",
				} {
					f, err := p.fs.Open(p.ctx, path)
					if err != nil {
						p.errorf("open %q: %v", path, err)
						continue
					}
					if got := f.Info().Path; got != canonical {
						p.errorf("open %q: the path in Info is %q, want %q", path, got, canonical)
					}
					f.Close()
					info, err := p.fs.Stat(p.ctx, path)
					if err != nil || info.Path != canonical || info.Kind != ambit.KindRegular {
						p.errorf("stat %q: %s %q, %v, want the file %q", path, info.Kind, info.Path, err, canonical)
					}
				}
			},
		},
		{
			id: "core/path-to-a-folder", tree: standard,
			rule: `A folder is reached with and without a slash behind it, and "." and ".." assert one.`,
			run: func(p *probe) {
				for path, canonical := range map[string]string{
					"/": "/", ".": "/", "./": "/", "//": "/", "folder/..": "/", "gone/..": "/", "gone/../": "/", "/.": "/",
					"folder": "/folder", "folder/": "/folder", "folder/.": "/folder", "folder//": "/folder", "folder/deep/..": "/folder",
					"folder/deep/../": "/folder", "folder/deep/": "/folder/deep", "hollow/": "/hollow", "/hollow": "/hollow",
				} {
					info, err := p.fs.Stat(p.ctx, path)
					if err != nil || info.Path != canonical || info.Kind != ambit.KindDirectory {
						p.errorf("stat %q: %s %q, %v, want the folder %q", path, info.Kind, info.Path, err, canonical)
					}
				}
			},
		},
		{
			id: "core/path-dotted-names", tree: standard,
			rule: "A name that merely holds dots is an ordinary name.",
			run: func(p *probe) {
				p.holds(".dot", "dot\n")
				for _, path := range []string{"foo..bar", "..x", ".dot.", "...", "....", "folder/...", "file.."} {
					p.ordinary(path)
				}
			},
		},
		{
			id: "core/path-ordinary-characters", tree: standard,
			rule: `Backslash, "~", "%", "#", "?" and all other bytes are ordinary characters: nothing is decoded, expanded or taken for a separator.`,
			run: func(p *probe) {
				for _, path := range []string{
					`folder\inner`, `.\file`, `..\file`, `sib\..\file`, "~", "~/file", "%66ile", "folder%2finner", "%2e/file", "%2e%2e/file",
					"file#", "file?", "file?x=y", "file*", "fil?", "f*", "[f]ile", "file ", " file", "file.", "file\n", "file\t", "file\xff", "$HOME",
					"file::$DATA", "C:file", `\\?\C:\file`, "NUL.txt",
				} {
					p.ordinary(path)
				}
			},
		},
		{
			id: "core/path-look-alikes", tree: ParseTree("-- v\u00a013.png --\nN\n-- caf\u00e9 --\ncomposed\n"),
			rule: "Names are bytes: one that only looks like a file's name is not found.",
			run: func(p *probe) {
				p.holds("v\u00a013.png", "N\n")
				p.holds("caf\u00e9", "composed\n")
				for _, path := range []string{"v 13.png", "v\u200713.png", "cafe", "caf\xe9"} {
					p.ordinary(path)
				}
			},
		},
		{
			id: "core/path-prefix-is-no-parent", tree: standard,
			rule: "Whole names are compared: a name that begins with another one is a path of its own.",
			run: func(p *probe) {
				p.holds("sib/x", "x\n")
				p.holds("sibling/x", "other x\n")
				p.holds("sib.txt", "sib\n")
				for _, path := range []string{"si/x", "sibl/x", "sib/xx", "sib.tx", "si", "folder/inne", "folder/inner2", "fold", "files"} {
					p.ordinary(path)
				}
				if p.caps.List {
					if got := p.names("sib"); !slices.Equal(got, []string{"x"}) {
						p.errorf("the folder %q lists %q", "sib", got)
					}
				}
			},
		},
		{
			id: "core/path-names-are-kept", tree: standard, requires: []requirement{needWrite, needList},
			rule: "A file is created, listed and read back under exactly the name that was given.",
			run: func(p *probe) {
				if err := methodWrite.call(p.ctx, p, "plain.name"); err != nil {
					p.fatalf("write: %v", err)
				}
				held := 0
				for _, name := range []string{
					"foo..bar", "...", "..x", `folder\inner`, `a\b`, "~", "%2e%2e", "file%2fx", "a#b", "a?b", "a*b", "a b", " ", "x ", "x.", ".env.",
					"NUL.txt", "COM1", "C:x", "file::$DATA", "tab\there", "-rf", "caf\u00e9", "v\u00a013.png", "new\nline", `"quoted"`, "$(x)", "[ab]",
				} {
					before := p.snapshot()
					content := "content of " + name
					if !p.writeOrdinary(name, content) {
						p.unchanged(before)
						continue
					}
					held++
					p.holds(name, content)
					p.unchangedExcept(before, "/"+name)
					if names := p.names("/"); !slices.Contains(names, name) {
						p.errorf("%q was written; the root lists %q", name, names)
					}
				}
				if held == 0 {
					p.errorf("every name was refused, ordinary ones such as %q too", "foo..bar")
				}
			},
		},
	}
}

// ordinary checks that path, which only resembles what is there, is an
// ordinary path at which nothing is. A storage that cannot hold such a name,
// as on Windows, may call it invalid.
func (p *probe) ordinary(path string) {
	f, err := p.fs.Open(p.ctx, path)
	if err == nil && f != nil {
		p.errorf("open %q opened %q", path, f.Info().Path)
		f.Close()
		return
	}
	p.refused(ambit.OpOpen, path, err, ambit.ErrNotFound, ambit.ErrInvalidPath)
	_, err = p.fs.Stat(p.ctx, path)
	p.refused(ambit.OpStat, path, err, ambit.ErrNotFound, ambit.ErrInvalidPath)
}

// writeOrdinary creates a file of an ordinary name, and reports whether the
// storage can hold it.
func (p *probe) writeOrdinary(name, content string) bool {
	r, err := ambit.WriteFile(p.ctx, p.fs, name, []byte(content), nil)
	if err != nil {
		p.refused(ambit.OpWrite, name, err, ambit.ErrInvalidPath)
		return false
	}
	p.published(r, "/"+name, content, true)
	return true
}
