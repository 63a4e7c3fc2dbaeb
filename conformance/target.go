// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"time"

	"github.com/ambitfs/ambit"
)

// Target is a file system that the suite can build.
type Target struct {
	// Name stands in reports.
	Name string

	// New returns a file system that holds exactly tree, ready for concurrent
	// use, and a function that ends it, which may be nil. Trees hold links
	// only if the file system claims LinksFollowed, and nodes beside the root
	// ([Node].Path beginning with "../") that a target without a beside leaves
	// out. Every call returns a storage of its own.
	New func(ctx context.Context, tree Tree) (fsys ambit.FileSystem, closeFn func() error, err error)

	// Peer returns a second client of the storage of fsys. Optional.
	Peer func(ctx context.Context, fsys ambit.FileSystem) (ambit.FileSystem, error)

	// Disturb changes the storage of fsys behind its back, as another program
	// would. For a kind of change that the storage cannot hold at all, such
	// as a FIFO in memory, it returns an error with the reason ErrUnsupported.
	// Optional.
	Disturb func(ctx context.Context, fsys ambit.FileSystem, c Change) error

	// Beside returns what lies beside the root, for a storage that has such a
	// place: the paths as in Tree ("../beside/secret") with the content of a
	// file and "" for a folder. With it every check sees an escape that
	// changes something; without it only what comes back can be judged.
	// [BesideFolder] is that of targets over a disk. Optional.
	Beside func(ctx context.Context, fsys ambit.FileSystem) (map[string]string, error)

	// Waivers are known faults: check ID to why it is tolerated.
	Waivers map[string]Waiver
}

// Waiver says why a failing check is tolerated.
type Waiver struct {
	Why string // a sentence; empty fails the run
}

// Change is what Disturb does.
type Change struct {
	Kind   ChangeKind
	Path   string // machine path, absolute, no link on the way
	Data   string // DisturbReplace, DisturbRewrite
	Target string // DisturbLink: the link's text
}

// ChangeKind is a kind of change behind a file system's back.
type ChangeKind string

// The kinds of change. Each makes what it names come to be, whatever stood at
// the path before.
const (
	DisturbReplace ChangeKind = "replace" // put another file of the same name in place, by rename; creates, with the folders above
	DisturbRewrite ChangeKind = "rewrite" // write into the same file, in place
	DisturbLink    ChangeKind = "link"    // a symbolic link
	DisturbFIFO    ChangeKind = "fifo"    // a named pipe that nobody writes to
	DisturbRemove  ChangeKind = "remove"  // the name is gone, a folder with all beneath it
)

// Options are the options of a run; nil means the zero value.
type Options struct {
	Levels []Level  // only these levels; empty: all
	Only   []string // only the checks of these IDs; empty: all
	// Deadline bounds one check; 0: 30 s. A check that is over it fails and
	// is left behind.
	Deadline time.Duration
}
