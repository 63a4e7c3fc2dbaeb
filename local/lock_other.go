// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package local

import (
	"context"
	"os"
)

// What this file leaves out is not claimed: see capabilities.

const (
	nonBlocking = 0
	onlyFolder  = 0
	canSweep    = false // nothing tells whether the owner lives
)

// lock keeps the goroutines that use one value apart.
type lock struct {
	held chan struct{}
}

func (fsys *FileSystem) lock(ctx context.Context, _ ...*folder) (*lock, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	select {
	case fsys.local <- struct{}{}:
		return &lock{held: fsys.local}, nil
	case <-ctx.Done():
		return nil, ended(ctx)
	}
}

func (l *lock) unlock() { <-l.held }

func (l *lock) sync() error { return nil }

func (d *folder) sync() error { return nil }

func tryLock(*os.File) (bool, error) { return true, nil }
