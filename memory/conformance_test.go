// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Target{
		Name: "memory",
		New: func(ctx context.Context, tree conformance.Tree) (ambit.FileSystem, func() error, error) {
			fsys := New(tree.Files(), nil)
			for _, n := range tree {
				if n.Mode == 0 || n.Beside() {
					continue
				}
				if _, err := fsys.Write(ctx, n.Path, strings.NewReader(n.Data), &ambit.WriteOptions{Mode: n.Mode}); err != nil {
					return nil, nil, err
				}
			}
			return fsys, nil, nil
		},
		Peer: func(_ context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error) { return fsys, nil },
		Disturb: func(_ context.Context, fsys ambit.FileSystem, c conformance.Change) error {
			f := fsys.(*FileSystem)
			switch c.Kind {
			case conformance.DisturbReplace, conformance.DisturbRewrite:
				f.Disturb(c.Path, func() {
					if info, err := f.tree.Stat(c.Path); err == nil && info.IsDir() {
						f.tree.RemoveAll(c.Path)
					}
				})
				f.SetFile(c.Path, c.Data)
				return nil
			case conformance.DisturbRemove:
				f.Disturb(c.Path, func() { f.tree.RemoveAll(c.Path) })
				return nil
			}
			return &ambit.Error{Reason: ambit.ErrUnsupported, Detail: fmt.Sprintf("no %s in memory", c.Kind)}
		},
	}, nil)
}
