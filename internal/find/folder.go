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
	tree Tree
	mu   sync.Mutex
	idle list.List // of *folder, open and not in use; the one left last in front
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
	opened, err := retried(d.folders, func() (Folder, error) {
		switch {
		case d.way:
			return d.tree.Way(ctx, d.path)
		case d.above == nil:
			return d.tree.Folder(ctx, d.path)
		}
		above, err := d.above.use(ctx)
		if err != nil {
			return nil, err
		}
		defer d.above.leave()
		return above.Enter(ctx, d.name)
	})
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.open, d.users = opened, 1
	d.mu.Unlock()
	return opened, nil
}

func (d *folder) leave() {
	d.mu.Lock()
	if d.users--; d.users == 0 {
		d.place = d.idle.PushFront(d)
	}
	d.mu.Unlock()
	d.closeIdle(maxOpen)
}

// closeIdle closes folders that are not in use, but for so many, and reports
// whether it has closed any.
func (fs *folders) closeIdle(most int) (any bool) {
	for ; ; any = true {
		fs.mu.Lock()
		if fs.idle.Len() <= most {
			fs.mu.Unlock()
			return any
		}
		d := fs.idle.Remove(fs.idle.Back()).(*folder)
		opened := d.open
		d.open, d.place = nil, nil
		fs.mu.Unlock()
		opened.Close()
	}
}

// retried is what do returns. Where the process has run out of descriptors, do is
// done again after all folders that are not in use were closed, as long as there
// are any.
func retried[T any](fs *folders, do func() (T, error)) (T, error) {
	for {
		v, err := do()
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) || !fs.closeIdle(0) {
			return v, err
		}
	}
}
