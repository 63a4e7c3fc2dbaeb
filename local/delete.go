// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
)

// deleteTree deletes the folder name of d, which has left its place in the
// tree, with all beneath it. It follows no link and enters no other device.
func deleteTree(d *os.Root, name string) error {
	info, err := d.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		// Nobody needs the bits any more that keep its owner from emptying it.
		_ = d.Chmod(name, 0o700)
	}
	sub, err := d.OpenRoot(name + "/.")
	if err != nil {
		return err
	}
	defer sub.Close()
	now, err := sub.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(now, info) {
		return restless()
	}
	if err := empty(sub, now); err != nil {
		return err
	}
	return d.Remove(name)
}

func empty(d *os.Root, info fs.FileInfo) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		entry, err := d.Lstat(name)
		switch {
		case err != nil:
		case !entry.IsDir():
			err = d.Remove(name)
		case otherDevice(info, entry):
			err = errMount
		default:
			err = deleteTree(d, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

var errMount = errors.New("something is mounted here")
