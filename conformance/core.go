// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

func coreChecks() []*check {
	return slices.Concat(
		refusalCells(LevelCore, "open", nil, []cell{
			{kind: "missing", path: "gone", reason: ambit.ErrNotFound},
			{kind: "missing-parent", path: "gone/x", reason: ambit.ErrNotFound},
			{kind: "folder", path: "folder", reason: ambit.ErrNotAFile},
			{kind: "root", path: "/", reason: ambit.ErrNotAFile},
			{kind: "file-used-as-folder", path: "file/x", reason: ambit.ErrNotADirectory},
			{kind: "file-with-slash", path: "file/", reason: ambit.ErrNotADirectory},
			{kind: "missing-with-slash", path: "gone/", reason: ambit.ErrNotADirectory},
			{kind: "folder-with-slash", path: "folder/", reason: ambit.ErrNotAFile},
			{kind: "above-the-root", path: "folder/../../file", reason: ambit.ErrOutside},
			{kind: "empty-path", path: "", reason: ambit.ErrInvalidPath},
			{kind: "nul-in-path", path: "fi\x00le", reason: ambit.ErrInvalidPath},
			{kind: "over-long-name", path: strings.Repeat("n", ambit.MaxName+1), reason: ambit.ErrInvalidPath},
		}, func(p *probe, path string) (string, error) {
			f, err := p.fs.Open(p.ctx, path)
			if (f == nil) == (err == nil) {
				p.errorf("open %q: a file and an error, or neither: %v, %v", path, f, err)
			}
			return ambit.OpOpen, err
		}),
		[]*check{
			{
				id: "core/open-file", tree: standard,
				rule: "Open of a file returns a File that reads its bytes to plain io.EOF.",
				run: func(p *probe) {
					f := p.open("file")
					defer f.Close()
					data, err := io.ReadAll(f)
					if err != nil || string(data) != "alpha\nbeta\n" {
						p.errorf("read %q, %v", data, err)
					}
					if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
						p.errorf("a read at the end: %d, %v, want plain io.EOF", n, err)
					}
				},
			},
		},
	)
}
