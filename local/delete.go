// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"os"
)

// deleteTree deletes the folder name of d, which has left its place in the
// tree, with all beneath it. It follows no link out of it and enters no other
// mount.
func deleteTree(d *os.Root, name string) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	m, _, err := mountOf(d, f, "")
	if err != nil {
		return err
	}
	top, err := enterDoomed(d, f, name, m)
	if err != nil || top == nil {
		return err
	}
	defer top.Close()
	if err := emptyTree(top, m); err != nil {
		return err
	}
	return d.Remove(name)
}

// emptyTree deletes what is in top. However deep that is, few folders are open
// at a time: from top the deeper ones are opened anew.
func emptyTree(top *os.Root, m mount) error {
	type visit struct {
		path  string
		again bool
	}
	visits := []visit{{path: "."}}
	var failed error
	for len(visits) > 0 {
		v := &visits[len(visits)-1]
		c := clearance{mount: m}
		err := c.emptyPath(top, v.path)
		if len(c.deeper) > 0 && !v.again {
			v.again = true
			for _, path := range c.deeper {
				visits = append(visits, visit{path: path})
			}
			continue
		}
		if err != nil {
			failed = err
		}
		visits = visits[:len(visits)-1]
	}
	return failed
}

// clearance deletes the contents of folders that lie on mount.
type clearance struct {
	mount  mount
	deeper []string // paths of folders that are too deep to empty in one go
}

func (c *clearance) emptyPath(top *os.Root, path string) error {
	dir, err := top.OpenRoot(path + "/.")
	if err != nil {
		return err
	}
	defer dir.Close()
	return c.empty(dir, path, openLevels)
}

func (c *clearance) empty(dir *os.Root, path string, levels int) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	// The handle is what counts: something can be mounted over its name.
	if m, _, err := mountOf(dir, f, ""); err != nil {
		return err
	} else if m.crosses(c.mount, true) {
		return errMount
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		if err := c.delete(dir, f, name, path, levels); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

func (c *clearance) delete(dir *os.Root, f *os.File, name, path string, levels int) error {
	sub, err := enterDoomed(dir, f, name, c.mount)
	if err != nil {
		return err
	}
	if sub == nil {
		return dir.Remove(name)
	}
	defer sub.Close()
	path += "/" + name
	if levels == 0 {
		if dir.Remove(name) != nil {
			c.deeper = append(c.deeper, path)
			return errDeeper
		}
		return nil
	}
	if err := c.empty(sub, path, levels-1); err != nil {
		return err
	}
	return dir.Remove(name)
}

var errDeeper = errors.New("the folder is not empty yet")

// enterDoomed opens the folder name of d, of which f is a handle, for its
// contents to be deleted. It is nil for what is no folder.
func enterDoomed(d *os.Root, f *os.File, name string, m mount) (*os.Root, error) {
	info, err := d.Lstat(name)
	if err != nil || !info.IsDir() {
		return nil, err
	}
	if on, _, err := mountOf(d, f, name); err != nil {
		return nil, err
	} else if on.crosses(m, true) {
		return nil, errMount
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		// Nobody needs the bits any more that keep its owner from emptying it.
		_ = chmodFolder(d, f, name, 0o700)
	}
	sub, err := d.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(now, info) {
		err = restless()
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}
