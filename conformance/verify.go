// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"io"
	"strings"

	"github.com/ambitfs/ambit"
)

// verifyChecks: Verify says whether the file at the path is still the one that
// was opened.
func verifyChecks() []*check {
	// after opens path, lets change happen, and checks that Verify sees it,
	// before and after the file was read.
	after := func(p *probe, path string, change func()) {
		unread, read := p.open(path), p.open(path)
		defer unread.Close()
		defer read.Close()
		io.Copy(io.Discard, read)
		change()
		for range 2 {
			p.refused(ambit.OpVerify, path, unread.Verify(p.ctx), ambit.ErrChanged)
			p.refused(ambit.OpVerify, path, read.Verify(p.ctx), ambit.ErrChanged)
		}
	}
	return []*check{
		{
			id: "core/verify", tree: standard,
			rule: "Verify is nil while the file is what it was when it was opened, however much of it has been read.",
			run: func(p *probe) {
				for _, path := range []string{"file", "empty", "folder/inner", "gone/..//file"} {
					f := p.open(path)
					for range 3 {
						if err := f.Verify(p.ctx); err != nil {
							p.errorf("verify %q: %v", path, err)
						}
						io.CopyN(io.Discard, f, 4)
					}
					f.Close()
				}
			},
		},
		{
			id: "core/verify-other-files-change", tree: standard, requires: []requirement{needWrite},
			rule: "Verify is nil while only other files change.",
			run: func(p *probe) {
				f := p.open("folder/inner")
				defer f.Close()
				p.write("file", "other\n", nil)
				p.write("folder/new", "beside it\n", nil)
				p.write("folder/deep/leaf", "beneath\n", nil)
				if err := f.Verify(p.ctx); err != nil {
					p.errorf("verify: %v", err)
				}
				if data, err := io.ReadAll(f); err != nil || string(data) != "inner\n" {
					p.errorf("read %q, %v", data, err)
				}
			},
		},
		{
			id: "core/verify-after-write", tree: standard, requires: []requirement{needWrite},
			rule: "Verify is changed after a write of other bytes.",
			run: func(p *probe) {
				after(p, "file", func() { p.write("file", "longer than it was before\n", nil) })
				after(p, "folder//inner", func() { p.write("folder/inner", "", nil) })
				f := p.open("file")
				defer f.Close()
				if err := f.Verify(p.ctx); err != nil {
					p.errorf("verify of a file opened after the write: %v", err)
				}
			},
		},
		{
			id: "core/verify-after-write-of-one-size", tree: standard, requires: []requirement{needWrite, needVersions},
			rule: "Verify is changed after a write of other bytes of the same size.",
			run: func(p *probe) {
				for range 5 {
					after(p, "file", func() { p.write("file", strings.ToUpper(fileContent), nil) })
					after(p, "file", func() { p.write("file", fileContent, nil) })
				}
			},
		},
		{
			id: "core/verify-after-append", tree: standard, requires: []requirement{needAppend},
			rule: "Verify is changed after bytes were appended.",
			run: func(p *probe) {
				after(p, "file", func() { p.append("file", "more", nil) })
				after(p, "empty", func() { p.append("empty", "more", nil) })
			},
		},
		{
			id: "core/verify-after-remove", tree: standard, requires: []requirement{needRemove},
			rule: "Verify is changed when the name is gone.",
			run: func(p *probe) {
				after(p, "file", func() { p.remove("file", nil) })
				after(p, "folder/inner", func() { p.remove("folder", &ambit.RemoveOptions{Recursive: true}) })
			},
		},
		{
			id: "core/verify-after-rename", tree: standard, requires: []requirement{needRename},
			rule: "Verify is changed when the file was moved away, or another was moved over it.",
			run: func(p *probe) {
				after(p, "file", func() { p.rename("file", "moved", nil) })
				after(p, "folder/inner", func() { p.rename("folder", "other", nil) })
				after(p, "sib/x", func() { p.rename("sib.txt", "sib/x", &ambit.RenameOptions{Replace: true}) })
			},
		},
		{
			id: "core/verify-folder-in-its-place", tree: standard, requires: []requirement{needRemove, needMkdir},
			rule: "Verify is changed when a folder has the file's name now.",
			run: func(p *probe) {
				after(p, "file", func() {
					p.remove("file", nil)
					p.mkdir("file", nil)
				})
			},
		},
		{
			id: "core/verify-foreign-replacement", tree: standard, requires: []requirement{needVersions, needDisturb},
			rule: "Verify is changed, and the version another, after another program put another file in place.",
			run: func(p *probe) {
				v := p.stat("file").Version
				after(p, "file", func() {
					p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: strings.ToUpper(fileContent)})
				})
				if now := p.stat("file").Version; now == v {
					p.errorf("the version %q stayed", v)
				}
				p.holds("file", strings.ToUpper(fileContent))
			},
		},
		{
			// The file comes from the library: a storage that keeps times in
			// coarse ticks need not tell two foreign changes within one.
			id: "core/verify-foreign-rewrite", tree: standard, requires: []requirement{needVersions, needWrite, needDisturb},
			rule: "Verify is changed, and the version another, after another program wrote into the file, the same number of bytes too.",
			run: func(p *probe) {
				v := p.write("file", fileContent, nil).Info.Version
				after(p, "file", func() {
					p.disturb(Change{Kind: DisturbRewrite, Path: "/file", Data: strings.ToUpper(fileContent)})
				})
				if now := p.stat("file").Version; now == v {
					p.errorf("the version %q stayed", v)
				}
				p.holds("file", strings.ToUpper(fileContent))
			},
		},
		{
			id: "core/verify-foreign-removal", tree: standard, requires: []requirement{needDisturb},
			rule: "Verify is changed after another program removed the file.",
			run: func(p *probe) {
				after(p, "file", func() { p.disturb(Change{Kind: DisturbRemove, Path: "/file"}) })
				after(p, "folder/inner", func() { p.disturb(Change{Kind: DisturbRemove, Path: "/folder"}) })
				p.gone("/file")
				p.gone("/folder")
			},
		},
	}
}
