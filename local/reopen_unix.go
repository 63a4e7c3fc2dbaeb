// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"os"
)

func (t *temporary) reopen() (*os.File, error) {
	if t.name == "" {
		return reopenUnnamed(t.file)
	}
	f, err := t.dir.dir.open(t.name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMoved) {
			return nil, errors.ErrUnsupported // as it is, it will do
		}
		return nil, err
	}
	now, err := describeFile(f)
	if err == nil && !now.same(t.info) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
