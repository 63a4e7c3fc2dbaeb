// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// File is an open regular file: one stream from the first byte.
//
// With [Capabilities].ReadAt it is an [io.ReaderAt] as well, whose reads never
// mix two versions of the file. Read is not for concurrent use, ReadAt is.
// Close is idempotent and allowed after a partial read. After Close, and after
// the end of the context that Open was given, every other method fails with
// [ErrClosed], [ErrCanceled] or [ErrTimeout]. Read ends with plain [io.EOF];
// its other errors are *Error.
type File interface {
	io.ReadCloser

	// Info describes the file as it was when it was opened. It does no I/O
	// and may be called after Close.
	Info() FileInfo

	// Verify returns nil when the file at this path is still the one opened
	// and its bytes are unchanged, else ErrChanged. Without
	// [Capabilities].Versions it compares what the file system knows (size,
	// modification time), which can miss a change.
	Verify(ctx context.Context) error
}

// FileInfo describes a file, a folder or, in a listing and from Lstat,
// anything else that has a name.
type FileInfo struct {
	Path    string      // canonical machine path, links resolved; always valid as an input
	Kind    Kind        // what it is
	Size    int64       // in bytes; -1 unknown; no meaning for a folder
	ModTime time.Time   // zero: unknown
	Mode    fs.FileMode // permission bits only; 0: unknown
	Links   int         // number of hard links; 0: unknown
	Version Version     // validator of the bytes; "" for all but regular files and without Capabilities.Versions
	ID      string      // the same file has the same ID through every path and link; "" without Capabilities.Identity
}

// IsDir reports whether i describes a folder.
func (i FileInfo) IsDir() bool { return i.Kind == KindDirectory }

// FS returns i as package io/fs knows it. The Sys method of the result returns
// i, a FileInfo.
func (i FileInfo) FS() fs.FileInfo { return stdFileInfo{i} }

type stdFileInfo struct{ info FileInfo }

func (s stdFileInfo) Name() string {
	if s.info.Path == "/" {
		return "."
	}
	return Base(s.info.Path)
}

func (s stdFileInfo) Size() int64        { return max(s.info.Size, 0) }
func (s stdFileInfo) Mode() fs.FileMode  { return s.info.Mode.Perm() | s.info.Kind.Mode() }
func (s stdFileInfo) ModTime() time.Time { return s.info.ModTime }
func (s stdFileInfo) IsDir() bool        { return s.info.IsDir() }
func (s stdFileInfo) Sys() any           { return s.info }
func (s stdFileInfo) String() string     { return fs.FormatFileInfo(s) }

// Kind is the kind of thing that has a name.
type Kind uint8

// The kinds. Everything that is none of the others is a device.
const (
	KindUnknown Kind = iota
	KindRegular
	KindDirectory
	KindSymlink
	KindFIFO
	KindSocket
	KindDevice
)

var kindNames = [...]string{"unknown", "file", "directory", "symlink", "fifo", "socket", "device"}

// String returns "unknown", "file", "directory", "symlink", "fifo", "socket"
// or "device".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalJSON writes k as its String.
func (k Kind) MarshalJSON() ([]byte, error) { return json.Marshal(k.String()) }

// UnmarshalJSON reads what MarshalJSON wrote; a kind that this version does
// not know becomes KindUnknown.
func (k *Kind) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*k = KindUnknown
	for i, name := range kindNames {
		if name == s {
			*k = Kind(i)
		}
	}
	return nil
}

// Mode returns the type bits that package io/fs uses for k.
func (k Kind) Mode() fs.FileMode {
	switch k {
	case KindRegular:
		return 0
	case KindDirectory:
		return fs.ModeDir
	case KindSymlink:
		return fs.ModeSymlink
	case KindFIFO:
		return fs.ModeNamedPipe
	case KindSocket:
		return fs.ModeSocket
	case KindDevice:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}

// KindOf returns the kind that the type bits of mode stand for.
func KindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return KindRegular
	case fs.ModeDir:
		return KindDirectory
	case fs.ModeSymlink:
		return KindSymlink
	case fs.ModeNamedPipe:
		return KindFIFO
	case fs.ModeSocket:
		return KindSocket
	}
	return KindDevice
}

// Staged is content that is ready to be published under its name. It holds
// resources until Publish or Discard. It is safe for concurrent use.
type Staged interface {
	// Info describes what would be published: path, size and mode. It has no
	// version before Publish.
	Info() FileInfo

	// Publish gives the content its name. It checks the precondition again
	// and works once: a second call, and one after Discard, is ErrClosed. A
	// call that failed before publishing has discarded the content.
	Publish(ctx context.Context) (WriteResult, error)

	// Discard drops the content. It is idempotent, and does nothing after
	// Publish.
	Discard(ctx context.Context) error
}

// WriteResult tells what a change has published.
type WriteResult struct {
	Info        FileInfo // its version is that of the bytes this call published, never of what came after them
	Created     bool     // the file was not there before
	CreatedDirs []string // canonical paths of the folders made on the way, outermost first
}

// Listing is one page of a folder.
type Listing struct {
	Dir     string  // canonical path of the folder
	Entries []Entry // sorted by name in byte order
	Next    string  // ListOptions.After of the next page; "" at the end
}

// Entry is one name in a folder.
type Entry struct {
	Name string   // one name, bytes unaltered
	Info FileInfo // Path and Kind always; the rest as far as it is known, and all of it with ListOptions.Details
}
