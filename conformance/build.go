// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"strings"

	"github.com/ambitfs/ambit"
)

// Build makes t in fsys, an empty file system that can write, modes included:
// for targets whose storage has no other way to be filled. Links and what lies
// beside the root are left out. A folder that is empty is made by Mkdir, or
// where that is not claimed by writing a file into it and removing it again.
func (t Tree) Build(ctx context.Context, fsys ambit.FileSystem) error {
	for _, n := range t {
		path := "/" + n.Path
		var err error
		switch {
		case n.Beside(), n.Kind == ambit.KindSymlink:
		case n.Kind == ambit.KindRegular:
			_, err = ambit.WriteFile(ctx, fsys, path, []byte(n.Data), &ambit.WriteOptions{Parents: true, Mode: n.Mode})
		case fsys.Capabilities().Mkdir:
			_, err = ambit.Mkdir(ctx, fsys, path, &ambit.MkdirOptions{Parents: true})
		default:
			first := ambit.Join(path, "first")
			_, err = ambit.WriteFile(ctx, fsys, first, nil, &ambit.WriteOptions{Parents: true})
			if err == nil {
				err = ambit.Remove(ctx, fsys, first, nil)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetModes gives the files of t their modes in fsys, which holds t but for
// them: for targets that are filled by [Tree.Files] and claim KeepsMode.
func (t Tree) SetModes(ctx context.Context, fsys ambit.WritableFileSystem) error {
	for _, n := range t {
		if n.Mode == 0 || n.Beside() {
			continue
		}
		_, err := fsys.Write(ctx, "/"+n.Path, strings.NewReader(n.Data), &ambit.WriteOptions{Mode: n.Mode})
		if err != nil {
			return err
		}
	}
	return nil
}
