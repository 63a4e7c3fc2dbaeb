// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ambitfs/ambit"
)

const (
	nonBlocking = syscall.O_NONBLOCK
	onlyFolder  = syscall.O_DIRECTORY
	canSweep    = true
)

// lock is held on folders. Whoever changes a name through this library holds
// the lock of its folder, in whatever process.
type lock struct {
	files []*os.File
}

// lock waits until it has the lock of all the folders.
func (fsys *FileSystem) lock(ctx context.Context, folders ...*folder) (*lock, error) {
	// One order for all, so that no two wait for each other.
	slices.SortFunc(folders, func(a, b *folder) int { return strings.Compare(identity(a.info), identity(b.info)) })
	folders = slices.CompactFunc(folders, (*folder).same)
	l := &lock{}
	for _, d := range folders {
		f, err := d.dir.Open(".")
		if err == nil {
			l.files = append(l.files, f)
			err = waitForLock(ctx, f)
		}
		if err != nil {
			l.unlock()
			return nil, err
		}
	}
	return l, nil
}

// waitForLock asks again and again instead of waiting in the kernel, where no
// context could end it.
func waitForLock(ctx context.Context, f *os.File) error {
	const longest = 4 * time.Millisecond
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, longest) {
		if err := ended(ctx); err != nil {
			return err
		}
		ok, err := tryLock(f)
		if ok || err != nil {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// tryLock takes the lock of an open file or folder if nobody has it. It is
// gone with the last descriptor of f, however the process ends.
func tryLock(f *os.File) (ok bool, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		for {
			lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if lockErr != syscall.EINTR {
				return
			}
		}
	})
	if err == nil && lockErr != nil && !errors.Is(lockErr, syscall.EWOULDBLOCK) {
		err = lockErr
	}
	return err == nil && lockErr == nil, err
}

func (l *lock) unlock() {
	for _, f := range l.files {
		f.Close()
	}
}

// sync makes what was done in the folders survive a power cut.
func (l *lock) sync() error {
	for _, f := range l.files {
		if err := syncFolder(f); err != nil {
			return err
		}
	}
	return nil
}

// sync makes what was done in d survive a power cut.
func (d *folder) sync() error {
	f, err := d.dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}

// syncFolder takes it for success that a disk has nothing to sync.
func syncFolder(f *os.File) error {
	err := f.Sync()
	if r := ambit.ReasonOf(err); r == ambit.ErrInvalid || r == ambit.ErrUnsupported {
		return nil
	}
	return err
}
