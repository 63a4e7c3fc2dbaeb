// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"fmt"
	"io/fs"
)

// ListOptions are the options of List; nil means the zero value. An After that
// names nothing is fine: the page starts at the first name behind it.
type ListOptions struct {
	After   string // only names behind this one in byte order
	Limit   int    // at most this many entries; 0: all
	Details bool   // fill size, times, mode, version and identity of each entry, as far as they are known
}

// WriteOptions are the options of Write and Stage; nil means the zero value.
type WriteOptions struct {
	If      Precondition
	Parents bool        // make missing parents
	Mode    fs.FileMode // permission bits of the file; 0: a new file by the file system's own rule (umask), an existing one keeps its own
}

// RemoveOptions are the options of Remove; nil means the zero value.
type RemoveOptions struct {
	If        Precondition // IfVersion only: speaks of a regular file
	Recursive bool         // remove folders, with everything beneath them; links are not followed
	MissingOK bool         // nothing there is success
}

// AppendOptions are the options of Append; nil means the zero value.
type AppendOptions struct {
	If      Precondition
	Parents bool        // make missing parents
	Mode    fs.FileMode // permission bits of a file that is created; 0: by the file system's own rule
}

// RenameOptions are the options of Rename; nil means the zero value.
type RenameOptions struct {
	If      Precondition // IfVersion only: speaks of the source, a regular file
	Replace bool         // replace a file or link at the target
	Parents bool         // make missing parents of the target
}

// MkdirOptions are the options of Mkdir; nil means the zero value.
type MkdirOptions struct {
	Parents bool // make missing parents, and take a folder that exists for success
}

// Check is for authors of backends: it returns the fault of the options
// themselves, ErrInvalid, to be passed through [Wrap]. It takes nil.
func (o *ListOptions) Check() error {
	if o != nil && o.Limit < 0 {
		return &Error{Reason: ErrInvalid, Detail: fmt.Sprintf("Limit is %d", o.Limit)}
	}
	return nil
}

// Check is for authors of backends: it returns the fault of the options
// themselves, or that caps cannot keep them: ErrInvalid or ErrUnsupported, to
// be passed through [Wrap]. It takes nil.
func (o *WriteOptions) Check(caps Capabilities) error {
	if o == nil {
		return nil
	}
	return checkWrite(o.If, o.Mode, caps)
}

// Check is for authors of backends, as [WriteOptions.Check] is.
func (o *AppendOptions) Check(caps Capabilities) error {
	if o == nil {
		return nil
	}
	return checkWrite(o.If, o.Mode, caps)
}

// Check is for authors of backends, as [WriteOptions.Check] is.
func (o *RemoveOptions) Check(caps Capabilities) error {
	if o == nil {
		return nil
	}
	if o.Recursive && !o.If.IsZero() {
		return &Error{Reason: ErrInvalid, Detail: "a precondition speaks of a regular file; it does not go with Recursive"}
	}
	return checkVersionOnly(o.If, caps)
}

// Check is for authors of backends, as [WriteOptions.Check] is.
func (o *RenameOptions) Check(caps Capabilities) error {
	if o == nil {
		return nil
	}
	return checkVersionOnly(o.If, caps)
}

func checkWrite(p Precondition, mode fs.FileMode, caps Capabilities) error {
	if mode != mode.Perm() {
		return &Error{Reason: ErrInvalid, Detail: fmt.Sprintf("Mode %v has more than permission bits", mode)}
	}
	return checkPrecondition(p, caps)
}

func checkVersionOnly(p Precondition, caps Capabilities) error {
	if p.Absent() {
		return &Error{Reason: ErrInvalid, Detail: "IfAbsent speaks of a file to be created; nothing is created here"}
	}
	return checkPrecondition(p, caps)
}

func checkPrecondition(p Precondition, caps Capabilities) error {
	if err := p.valid(); err != nil {
		return err
	}
	if !p.IsZero() && caps.Swap == SwapNone {
		return &Error{Reason: ErrUnsupported, Detail: "this file system cannot check a precondition"}
	}
	return nil
}
