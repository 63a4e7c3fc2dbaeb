// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// climbing are texts that climb above the root, whatever is there.
var climbing = []string{
	"..", "../", "/..", "../..", "../beside/secret", "/../beside/secret", "./../beside/secret", "..//beside///secret",
	"folder/../../beside/secret", "folder/deep/../../../beside/secret", "nowhere/../../beside/secret", "file/../../beside/secret",
	"/./../beside/secret", "//../beside/secret", "../beside", "../beside/", "../beside/none", "../root/file", "../../../../../../etc/passwd",
	"folder/../..", "../file", "a/b/c/../../../../file/../beside/secret",
}

// unmeaning are texts that some program somewhere takes for a way up, a way
// out, or a host path; here they are ordinary names.
var unmeaning = []string{
	`..\beside\secret`, `folder\..\..\..\beside\secret`, "%2e%2e/beside/secret", "..%2fbeside%2fsecret", "..%252fbeside%252fsecret",
	"\u2025/beside/secret", "\uff0e\uff0e/beside/secret", "\xc0\xae\xc0\xae/beside/secret", "..;/beside/secret", ".. /beside/secret", "... /beside/secret",
	".../beside/secret", "..../beside/secret", "~/beside/secret", "~root/beside/secret", "$HOME/beside/secret", "${PWD}/../beside/secret2",
	"file:///beside/secret", "/etc/passwd", "/proc/self/environ", "/proc/self/cwd", "/dev/null", "/dev/fd/0", "//host/beside/secret",
	`\\host\beside\secret`, "C:/beside/secret", "|secret", "secret;ls", "`ls`", "..\n/beside/secret", "..\u200b/beside/secret", "\u202e../beside/secret",
}

// escapeChecks are about texts that mean to leave the root.
func escapeChecks() []*check {
	var list []*check
	for _, a := range attempts() {
		list = append(list, &check{
			id:       "hostile/" + a.id + "-climbing",
			rule:     a.of("a path that climbs above the root") + " is outside by the text alone, the same whether or not anything is there, and changes nothing.",
			requires: a.requires,
			tree:     linked,
			machine:  true,
			run: func(p *probe) {
				before := p.snapshot()
				paths := climbing
				if p.caps.Links == ambit.LinksFollowed {
					paths = append([]string{"link-folder/../../beside/secret", "outward-folder/../../beside/secret", "loop/../.."}, paths...)
				}
				errs := make(map[string]error)
				for _, path := range paths {
					errs[path] = p.meets(a, expectation{path: path, reasons: []ambit.Reason{ambit.ErrOutside}})
				}
				p.alikeRefusals(a.op, "../beside/secret", errs["../beside/secret"], "../beside/none", errs["../beside/none"])
				p.unchanged(before)
			},
			control: a.escapes(a.climb()),
		})
	}
	return append(list,
		&check{
			id: "hostile/names-like-escapes", tree: linked,
			rule: "A text that is a way out only for other programs is an ordinary name: nothing has it, and nothing beside the root is told or made.",
			run: func(p *probe) {
				before := p.snapshot()
				for _, a := range attempts() {
					if !a.claimed(p) || a.changes() {
						continue
					}
					for _, path := range unmeaning {
						// Some hosts cannot have such names.
						p.meets(a, expectation{path: path, reasons: []ambit.Reason{ambit.ErrNotFound, ambit.ErrInvalidPath}})
					}
				}
				p.unchanged(before)
			},
			control: func(p *probe) { p.holds("../beside/secret", secret) },
		},
		&check{
			id: "hostile/write-like-escapes", tree: linked,
			rule:     "Write to a text that is a way out only for other programs makes exactly that name within the root, or is refused.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				for _, path := range unmeaning {
					before := p.snapshot()
					r, err := p.writable().Write(p.ctx, path, strings.NewReader("here\n"), &ambit.WriteOptions{Parents: true})
					p.keepsSecret(ambit.OpWrite, path, "", err)
					if err != nil {
						p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath, ambit.ErrUnsupported)
						p.unchanged(before)
						continue
					}
					want := "/" + strings.TrimPrefix(path, "/")
					for strings.Contains(want, "//") {
						want = strings.ReplaceAll(want, "//", "/")
					}
					if want = textual(want); r.Info.Path != want {
						p.errorf("write %q made %q, want %q", path, r.Info.Path, want)
					}
					p.holds(path, "here\n")
					p.changedOnly(before, append(r.CreatedDirs, r.Info.Path)...)
				}
			},
			control: func(p *probe) {
				if _, err := p.writable().Write(p.ctx, "../beside/secret", strings.NewReader("x"), nil); err != nil || p.beside()["../beside/secret"] != "x" {
					p.errorf("write beside the root: %v", err)
				}
			},
		},
	)
}

// climb returns the text that climbs to where a's escape leads. The control's
// root has the name root, so that there is a link to climb to.
func (a attempt) climb() string {
	switch {
	case a.op == ambit.OpReadLink:
		return "../root/outward"
	case a.escape == "outward":
		return "../beside/secret"
	case a.escape == "outward-dangling":
		return "../beside/none"
	}
	return strings.Replace(a.escape, "outward-folder", "../beside", 1)
}

// textual returns the clean form of a path.
func textual(path string) string {
	clean, _, err := ambit.Resolve("/", path)
	if err != nil {
		return ""
	}
	return clean
}
