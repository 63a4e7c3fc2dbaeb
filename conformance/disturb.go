// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"os"
	"path/filepath"

	"github.com/ambitfs/ambit"
)

// DisturbFolder makes the change c in a folder of this disk that a target
// serves as its root: the Disturb of targets over a disk.
func DisturbFolder(root string, c Change) error {
	path := filepath.Join(root, filepath.FromSlash(c.Path))
	switch c.Kind {
	case DisturbRewrite:
		return os.WriteFile(path, []byte(c.Data), 0o666)
	case DisturbRemove:
		return os.RemoveAll(path)
	case DisturbReplace:
		// Beside the root, so that no listing shows it in between.
		other := filepath.Clean(root) + ".disturb"
		if err := os.WriteFile(other, []byte(c.Data), 0o666); err != nil {
			return err
		}
		return os.Rename(other, path)
	case DisturbLink:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.Symlink(c.Target, path)
	case DisturbFIFO:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return makeFIFO(path)
	}
	return ambit.ErrUnsupported
}
