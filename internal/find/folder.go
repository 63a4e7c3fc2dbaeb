// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"syscall"
)

// maxOpen is how many folders a search holds open that nobody works in. Beyond it
// the one that was left longest ago is closed, and entered again when it is
// needed, step by step from above.
const maxOpen = 64

// folders holds the open folders of a search.
type folders struct {
	tree   Tree
	mu     sync.Mutex
	idle   list.List // of *folder, open and not in use; the one left last in front
	closed int       // how many were closed
}

// folder is a folder that a search has come to.
type folder struct {
	*folders
	above *folder // nil: the tree opens it by its path
	way   bool    // and it is not listed
	name  string
	path  string

	opening sync.Mutex // held while it is opened
	open    Folder
	users   int
	place   *list.Element // in idle
}

func (fs *folders) top(path string) *folder { return &folder{folders: fs, path: path} }

func (d *folder) beneath(name, path string) *folder {
	return &folder{folders: d.folders, above: d, name: name, path: path}
}

// use opens the folder, if it is not open, until as many calls of leave.
func (d *folder) use(ctx context.Context) (Folder, error) {
	d.opening.Lock()
	defer d.opening.Unlock()
	d.mu.Lock()
	if d.open != nil {
		d.users++
		if d.place != nil {
			d.idle.Remove(d.place)
			d.place = nil
		}
		d.mu.Unlock()
		return d.open, nil
	}
	d.mu.Unlock()
	opened, err := d.openNow(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.open, d.users = opened, 1
	d.mu.Unlock()
	return opened, nil
}

func (d *folder) openNow(ctx context.Context) (Folder, error) {
	if d.above == nil {
		return retried(d.folders, func() (Folder, error) {
			if d.way {
				return d.tree.Way(ctx, d.path)
			}
			return d.tree.Folder(ctx, d.path)
		})
	}
	above, err := d.above.use(ctx)
	if err != nil {
		return nil, err
	}
	defer d.above.leave()
	// Only with the one above in use does each step come closer.
	return retried(d.folders, func() (Folder, error) { return above.Enter(ctx, d.name) })
}

func (d *folder) leave() {
	d.mu.Lock()
	if d.users--; d.users == 0 {
		d.place = d.idle.PushFront(d)
	}
	d.mu.Unlock()
	d.closeIdle(maxOpen)
}

// closeIdle closes folders that are not in use, but for so many, and returns how
// many have been closed so far.
func (fs *folders) closeIdle(most int) int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for fs.idle.Len() > most {
		d := fs.idle.Remove(fs.idle.Back()).(*folder)
		d.open.Close()
		d.open, d.place = nil, nil
		fs.closed++
	}
	return fs.closed
}

// retried is what do returns. Where the process has run out of descriptors, do is
// done again after all folders that are not in use were closed, until that closes
// none.
func retried[T any](fs *folders, do func() (T, error)) (T, error) {
	for before := -1; ; {
		v, err := do()
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
			return v, err
		}
		closed := fs.closeIdle(0)
		if closed == before {
			return v, err
		}
		before = closed
	}
}
