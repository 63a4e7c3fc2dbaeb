// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// deleteTree deletes the folder name of d, which has left its place in the
// tree, with all beneath it. It follows no link out of it and enters no other
// mount, and leaves what spared reports, and so the folders above it.
func deleteTree(d dir, name string, spared func(*node) bool) error {
	m, err := d.mountOf("")
	if err != nil {
		return err
	}
	top, err := enterDoomed(d, name, m, spared)
	if err != nil || top == nil {
		return err
	}
	defer top.close()
	if err := emptyTree(top, m, spared); err != nil {
		return err
	}
	return d.remove(name, true)
}

// emptyTree deletes what is in top. However deep that is, few folders are open
// at a time: from top the deeper ones are opened anew.
func emptyTree(top dir, m mount, spared func(*node) bool) error {
	type visit struct {
		path  string
		again bool
	}
	visits := []visit{{}}
	var failed error
	for len(visits) > 0 {
		v := &visits[len(visits)-1]
		c := clearance{mount: m, spared: spared}
		err := c.emptyPath(top, v.path)
		if len(c.deeper) > 0 && !v.again && !slices.Contains(c.deeper, v.path) {
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
	spared func(*node) bool
	deeper []string // paths of folders that are too deep to empty in one go
}

func (c *clearance) emptyPath(top dir, path string) error {
	in, err := enterPath(top, path)
	if err != nil {
		return err
	}
	defer in.close()
	return c.empty(in, path, openLevels)
}

// enterPath opens the folder at path beneath d, step by step; "" is d itself.
func enterPath(d dir, path string) (dir, error) {
	in, err := d.again()
	for name := range strings.SplitSeq(path, "/") {
		if err != nil || name == "" {
			break
		}
		var next dir
		next, err = in.enter(name)
		in.close()
		in = next
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

func (c *clearance) empty(in dir, path string, levels int) error {
	// The handle is what counts: something can be mounted over its name.
	if m, err := in.mountOf(""); err != nil {
		return err
	} else if m.crosses(c.mount, true) {
		return errMount
	}
	all, err := in.entries(".")
	if outOfDescriptors(err) {
		c.deeper = append(c.deeper, path)
	}
	if err != nil {
		return err
	}
	var failed error
	for _, e := range all {
		if err := c.delete(in, e.name, path, levels); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

func (c *clearance) delete(in dir, name, path string, levels int) error {
	if path != "" {
		path += "/"
	}
	path += name
	sub, err := enterDoomed(in, name, c.mount, c.spared)
	if outOfDescriptors(err) {
		c.deeper = append(c.deeper, path)
	}
	if err != nil {
		return err
	}
	if sub == nil {
		return in.remove(name, false)
	}
	defer sub.close()
	if levels == 0 {
		if in.remove(name, true) != nil {
			c.deeper = append(c.deeper, path)
			return errDeeper
		}
		return nil
	}
	if err := c.empty(sub, path, levels-1); err != nil {
		return err
	}
	return in.remove(name, true)
}

var errSpared = errors.New("this stays")

var errDeeper = errors.New("the folder is not empty yet")

// enterDoomed opens the folder name of d for its contents to be deleted. It is
// nil for what is no folder.
func enterDoomed(d dir, name string, m mount, spared func(*node) bool) (dir, error) {
	info, err := d.lookup(name)
	if err == nil && spared(info) {
		err = errSpared
	}
	if err != nil || !info.isDir() {
		return nil, err
	}
	if on, err := d.mountOf(name); err != nil {
		return nil, err
	} else if on.crosses(m, true) {
		return nil, errMount
	}
	if info.mode.Perm()&0o700 != 0o700 {
		// Nobody needs the bits any more that keep its owner from emptying it.
		_ = d.chmod(name, 0o700)
	}
	sub, err := d.enter(name)
	if err != nil {
		return nil, err
	}
	now, err := sub.self()
	if err == nil && !now.same(info) {
		err = restless()
	}
	if err != nil {
		sub.close()
		return nil, err
	}
	return sub, nil
}
