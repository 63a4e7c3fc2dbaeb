// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

import (
	"errors"
	"io/fs"
	"os"
)

// pinned is a file that is held open so that its number stays its own. These
// systems do not tell whether somebody writes to it.
type pinned struct {
	file *os.File
	info *node // of what could not be opened
}

func (d *rootDir) pin(name string) (*pinned, error) {
	f, err := d.file(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errMoved) {
		info, err := d.lookup(name)
		return &pinned{info: info}, err
	}
	if err != nil {
		return nil, err
	}
	return &pinned{file: f}, nil
}

func (p *pinned) describe() (*node, error) {
	if p.info != nil {
		return p.info, nil
	}
	return describeFile(p.file)
}

func (p *pinned) lease() (alone, known bool) { return false, false }

func (p *pinned) kept() bool { return true }

func (p *pinned) drop() {}

func (p *pinned) close() {
	if p.file != nil {
		p.file.Close()
	}
}
