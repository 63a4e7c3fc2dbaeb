// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import (
	"errors"
	"os"
	"time"
)

// setTime sets the modification time by name: package os has no way to set
// that of an open file.
func setTime(t *temporary, at time.Time) error {
	d, ok := t.dir.dir.(*rootDir)
	if !ok {
		return errors.ErrUnsupported
	}
	return d.root.Chtimes(t.name, time.Time{}, at)
}

func (t *temporary) reopen() (*os.File, error) { return nil, errors.ErrUnsupported }
