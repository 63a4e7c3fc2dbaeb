// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import "time"

// setTime sets the modification time by name: package os has no way to set
// that of an open file.
func setTime(t *temporary, at time.Time) error {
	return t.dir.dir.Chtimes(t.name, time.Time{}, at)
}
