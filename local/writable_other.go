// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package local

import "os"

// mayWrite asks whether the caller may write to the file name of d.
func mayWrite(d *os.Root, name string) error {
	f, err := d.OpenFile(name, os.O_WRONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
