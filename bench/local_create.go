// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// creating has a file of a fresh name created with each call. None is removed
// meanwhile: to create right after a removal is another matter; see spread.
func creating(start func(dir string) (create func(name string) error, stop func(), err error)) func(dir string) (func(int) error, func(), error) {
	return func(dir string) (func(int) error, func(), error) {
		create, stop, err := start(dir)
		made := 0
		return func(int) error {
			made++
			return create(fmt.Sprintf("file%d", made))
		}, stop, err
	}
}

func localCreate(o *local.Options) func(dir string) (func(string) error, func(), error) {
	return func(dir string) (func(string) error, func(), error) {
		fsys, err := local.New(dir, o)
		if err != nil {
			return nil, nil, err
		}
		write := &ambit.WriteOptions{If: ambit.IfAbsent()}
		return func(name string) error {
			_, err := fsys.Write(ctx, name, bytes.NewReader(block), write)
			return err
		}, func() { fsys.Close() }, nil
	}
}

func osCreate(dir string) (func(string) error, func(), error) {
	return func(name string) error {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		if _, err := f.Write(block); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}, nil, nil
}
