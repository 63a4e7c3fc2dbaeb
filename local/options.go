// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"io/fs"

	"github.com/ambitfs/ambit"
)

// Options are the options of [New] and [Host]; nil means the zero value. All
// paths are machine paths, relative ones from the root, with Host from the
// first one. A value that cannot be kept is an error of New.
type Options struct {
	// Cwd is the folder that relative paths start at, resolved through links
	// by New; "" is the root, with [Host] the first one.
	Cwd string
	// Deny names files and folders that are refused ([ambit.ErrDenied], Rule
	// "deny"), whether they exist or not. Each is one path and no pattern: ".git"
	// is that of the root alone, which a rule for every depth is given to Guard
	// for; with several roots the paths must be absolute. They are refused by their paths, whatever links lead
	// there, and what is there at the time of New also by its identity, so that
	// it stays refused after it was moved, under another hard link, and through
	// a second mount. What lies above cannot be moved or removed. While anything
	// is denied, nothing that is mounted inside a root is entered (Rule
	// "mount"). Other hard links to files beneath a denied folder are not seen.
	Deny []string
	// ReadOnly names folders, which must be there, in which nothing can be
	// changed ([ambit.ErrReadOnly]); a root named here is read-only as a whole.
	ReadOnly []string
	// Links is [ambit.LinksFollowed], which the zero value means too, or
	// [ambit.LinksRefused].
	Links ambit.LinkRule
	// HardLinks says what happens to a write to a file that has several names.
	HardLinks HardLinks
	// Durability says what a call waits for before it returns.
	Durability Durability
	// NewFileMode and NewDirMode are the permission bits of new files whose
	// call names none, and of new folders, set exactly. 0: 0666 and 0777 less
	// the umask, or what the folder's default access list says.
	NewFileMode, NewDirMode fs.FileMode
	// MaxFileSize is the size in bytes that no file may grow beyond
	// ([ambit.ErrTooLarge]); 0: as the disk allows.
	MaxFileSize int64
	// Recovered, if not nil, is told what has been done about the changes that
	// a killed process was in the midst of. New calls it before it returns, once
	// for each file of an unfinished Commit that had been replaced, made or
	// removed; later calls that come across another program's file, which a
	// conditional change had taken from its place, call it for that. What is
	// merely deleted is not told. It may be called from several goroutines at
	// once and must not call the file system.
	Recovered func(Recovery)

	portable bool // on os.Root also where the system has better
}

// HardLinks says what happens to a write to a file that has several names,
// other than its removal: the other names may lie outside the roots.
type HardLinks uint8

// The rules for hard links.
const (
	HardLinksRefused HardLinks = iota // ErrDenied, Rule "hard-links"
	HardLinksBroken                   // the written name gets a file of its own, with FileInfo.Links 1; the others keep the old one
)

// Durability says what a call waits for.
type Durability uint8

// The kinds of durability.
const (
	Durable    Durability = iota // file and folder are synced: what was published survives a power cut
	NotDurable                   // nothing is synced; a kill still leaves the old bytes or the new
)

// Recovery is something that a process left behind when it was killed in the
// midst of a change, and what was done about it.
type Recovery struct {
	Path   string         // canonical machine path of the file
	Action RecoveryAction // what was done
}

// RecoveryAction says what was done about a trace of a killed process.
type RecoveryAction string

// The actions.
const (
	RecoveryUndone   RecoveryAction = "undone"   // a change of an unfinished Commit was taken back
	RecoveryFinished RecoveryAction = "finished" // a Commit had been made as a whole; what it had replaced was deleted
	RecoveryPutBack  RecoveryAction = "put-back" // another program's file, taken away for a moment by a conditional change, is at its place again
	RecoveryKept     RecoveryAction = "kept"     // another program's file that could not be put back stays under a hidden name beside Path
)

func (o *Options) check() error {
	invalid := func(format string, args ...any) error {
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case o.Links != ambit.LinksUnknown && o.Links != ambit.LinksFollowed && o.Links != ambit.LinksRefused:
		return invalid("Links is %q, not followed or refused", o.Links)
	case o.HardLinks > HardLinksBroken:
		return invalid("HardLinks is %d", o.HardLinks)
	case o.Durability > NotDurable:
		return invalid("Durability is %d", o.Durability)
	case o.NewFileMode&^fs.ModePerm != 0:
		return invalid("NewFileMode is %v: permission bits alone can be kept", o.NewFileMode)
	case o.NewDirMode&^fs.ModePerm != 0:
		return invalid("NewDirMode is %v: permission bits alone can be kept", o.NewDirMode)
	case o.NewDirMode != 0 && o.NewDirMode&0o300 != 0o300:
		return invalid("NewDirMode is %v: its owner could not make anything in such a folder", o.NewDirMode)
	case (o.NewFileMode != 0 || o.NewDirMode != 0) && !hasModes:
		return invalid("this system keeps no permission bits")
	case o.MaxFileSize < 0:
		return invalid("MaxFileSize is %d", o.MaxFileSize)
	}
	return nil
}
