// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// disturbed counts the files that DisturbFolder has put beside a root, so that
// no two are the same.
var disturbed atomic.Int64

// aside is the name beside root under which DisturbFolder makes files.
func aside(root string) string { return filepath.Clean(root) + ".disturb-" }

// DisturbFolder makes the change c in a folder of this disk that a target
// serves as its root: the Disturb of targets over a disk. Files that are put
// in place lie for a moment beside root, where no listing shows them.
func DisturbFolder(root string, c Change) error {
	path := filepath.Join(root, filepath.FromSlash(c.Path))
	switch c.Kind {
	case DisturbRewrite:
		return os.WriteFile(path, []byte(c.Data), 0o666)
	case DisturbRemove:
		return os.RemoveAll(path)
	case DisturbReplace:
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
		other := aside(root) + strconv.FormatInt(disturbed.Add(1), 10)
		if err := os.WriteFile(other, []byte(c.Data), 0o666); err != nil {
			return err
		}
		if err := os.Rename(other, path); err != nil {
			os.Remove(other)
			return err
		}
		return nil
	case DisturbLink:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		err := os.Symlink(c.Target, path)
		if err != nil && runtime.GOOS == "windows" {
			return ambit.ErrUnsupported // it takes a privilege there
		}
		return err
	case DisturbFIFO:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return makeFIFO(path)
	}
	return ambit.ErrUnsupported
}

// BesideFolder is the [Target].Beside of a target that serves root, a folder
// of this disk in a folder that holds nothing but what the target has put
// there.
func BesideFolder(root string) (map[string]string, error) {
	root = filepath.Clean(root)
	top := filepath.Dir(root)
	seen := make(map[string]string)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case path == top:
			return err
		case strings.HasPrefix(path, aside(root)):
			return nil
		case err != nil:
			return err
		case path == root:
			return filepath.SkipDir
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		name = "../" + filepath.ToSlash(name)
		switch d.Type() {
		case 0:
			data, err := os.ReadFile(path)
			seen[name] = string(data)
			return err
		case fs.ModeDir:
			seen[name] = ""
		default:
			seen[name] = d.Type().String()
		}
		return nil
	})
	return seen, err
}
