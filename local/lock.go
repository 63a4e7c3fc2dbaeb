// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/ambitfs/ambit"
)

// lock is held on folders. Whoever changes a name through this library holds
// the lock of its folder: a turn in this process, and an advisory lock of the
// system on the folder itself, which is gone with the process however it ends.
type lock struct {
	keys  []fileKey
	files []*os.File
}

// lockFolders waits until it has the lock of all the folders.
func lockFolders(ctx context.Context, folders ...*folder) (*lock, error) {
	// One order for all, so that no two wait for each other.
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b *folder) int {
		x, y := a.info.key(), b.info.key()
		return cmp.Or(cmp.Compare(x.device, y.device), cmp.Compare(x.inode, y.inode))
	})
	l := &lock{}
	for _, d := range folders {
		key := d.info.key()
		if slices.Contains(l.keys, key) {
			continue
		}
		err := folderQueues.enter(ctx, key)
		if err == nil {
			l.keys = append(l.keys, key)
			err = l.lockFolder(ctx, d)
		}
		if err != nil {
			l.unlock()
			return nil, err
		}
	}
	return l, nil
}

func (l *lock) lockFolder(ctx context.Context, d *folder) error {
	if !locksFolders {
		return nil
	}
	f, err := d.dir.handle()
	if err != nil {
		if ambit.ReasonOf(err) == ambit.ErrPermission {
			return &ambit.Error{Reason: ambit.ErrPermission, Target: d.path, Detail: "a folder that may not be read cannot be locked, which a change needs"}
		}
		return err
	}
	l.files = append(l.files, f)
	return waitForLock(ctx, f)
}

// waitForLock asks again and again instead of waiting in the kernel, where no
// context could end it.
func waitForLock(ctx context.Context, f *os.File) error {
	const longest = 4 * time.Millisecond
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, longest) {
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

func (l *lock) unlock() {
	for _, f := range l.files {
		f.Close()
	}
	for _, key := range l.keys {
		folderQueues.leave(key)
	}
}

// sync makes what was done in the folders survive a power cut, if m wants it
// to.
func (m *machine) sync(l *lock) error {
	if m.o.Durability == NotDurable {
		return nil
	}
	for _, f := range l.files {
		if err := syncFolder(f); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes what was done in d survive a power cut, if m wants it to.
func (m *machine) syncDir(d *folder) error {
	if m.o.Durability == NotDurable || !locksFolders {
		return nil
	}
	f, err := d.dir.handle()
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
