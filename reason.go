// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Reason says why a call failed. It is the one thing about a failure that a
// program should branch on:
//
//	switch ambit.ReasonOf(err) {
//	case ambit.ErrNotFound: …
//	case ambit.ErrChanged: …
//	}
//
// A Reason is an error itself, as [syscall.Errno] is, so that
// errors.Is(err, ambit.ErrNotFound) holds as well; and where the standard
// library has a sentinel of the same meaning, errors.Is(err, fs.ErrNotExist)
// holds too. Engines and backends may add reasons of their own; a program
// treats one that it does not know as [ErrIO].
type Reason string

// The reasons of the contract. In brackets: the standard sentinel that
// errors.Is matches as well.
const (
	ErrNotFound       Reason = "not-found"       // nothing there, or a parent is missing [fs.ErrNotExist]
	ErrNotAFile       Reason = "not-a-file"      // a folder, FIFO, socket or device where a file is needed
	ErrNotADirectory  Reason = "not-a-directory" // a file where a folder is needed; a trailing slash on a non-folder
	ErrOutside        Reason = "outside"         // leaves the roots, by text or through a link [fs.ErrPermission]
	ErrDenied         Reason = "denied"          // a rule refused [fs.ErrPermission]
	ErrPermission     Reason = "permission"      // the operating system refused [fs.ErrPermission]
	ErrReadOnly       Reason = "read-only"       // a read-only file system, wrapper or mount [fs.ErrPermission]
	ErrInvalidPath    Reason = "invalid-path"    // a path that is empty, holds a NUL or has an over-long name [fs.ErrInvalid]
	ErrInvalid        Reason = "invalid"         // a bad argument [fs.ErrInvalid]
	ErrTooLarge       Reason = "too-large"       // over a limit
	ErrChanged        Reason = "changed"         // a precondition failed, or Verify saw a change
	ErrExists         Reason = "exists"          // something is in the way [fs.ErrExist]
	ErrNotEmpty       Reason = "not-empty"       // a folder with entries, without Recursive
	ErrCrossDevice    Reason = "cross-device"    // a rename between mounts or devices
	ErrLoop           Reason = "loop"            // too many links
	ErrNoSpace        Reason = "no-space"        // disk or quota full
	ErrNotDurable     Reason = "not-durable"     // published, but the disk would not confirm it
	ErrUnsupported    Reason = "unsupported"     // this file system cannot [errors.ErrUnsupported]
	ErrNotText        Reason = "not-text"        // not text in the encoding asked for
	ErrOutOfRange     Reason = "out-of-range"    // lines beyond the file
	ErrNoMatch        Reason = "no-match"        // the text of an edit or hunk is absent
	ErrAmbiguous      Reason = "ambiguous"       // the text of an edit or hunk was found several times
	ErrBadPattern     Reason = "bad-pattern"     // a pattern that does not compile [fs.ErrInvalid]
	ErrNotObserved    Reason = "not-observed"    // changed without having been read [fs.ErrPermission]
	ErrPartial        Reason = "partial"         // several changes failed half-way and undoing them failed too
	ErrClosed         Reason = "closed"          // a closed File or file system; a second Publish [fs.ErrClosed]
	ErrUnauthorized   Reason = "unauthorized"    // the remote side wants a (better) token [fs.ErrPermission]
	ErrUnreachable    Reason = "unreachable"     // no answer from the remote side, and nothing was done
	ErrOutcomeUnknown Reason = "outcome-unknown" // sent, but the answer was lost: done, or not
	ErrCanceled       Reason = "canceled"        // the context was cancelled [context.Canceled]
	ErrTimeout        Reason = "timeout"         // the context's deadline passed [context.DeadlineExceeded]
	ErrIO             Reason = "io"              // anything else
)

// Error returns the reason's text, such as "not-found".
func (r Reason) Error() string { return string(r) }

// Is reports whether target is the standard library's sentinel for r, so that
// errors.Is(err, fs.ErrNotExist) works on every error of this library.
func (r Reason) Is(target error) bool {
	switch r {
	case ErrNotFound:
		return target == fs.ErrNotExist
	case ErrExists:
		return target == fs.ErrExist
	case ErrOutside, ErrDenied, ErrPermission, ErrReadOnly, ErrNotObserved, ErrUnauthorized:
		return target == fs.ErrPermission
	case ErrInvalidPath, ErrInvalid, ErrBadPattern:
		return target == fs.ErrInvalid
	case ErrClosed:
		return target == fs.ErrClosed
	case ErrUnsupported:
		return target == errors.ErrUnsupported
	case ErrCanceled:
		return target == context.Canceled
	case ErrTimeout:
		return target == context.DeadlineExceeded
	}
	return false
}

// HTTPStatus returns the status with which an HTTP server answers a call that
// failed for r, and 0 for the reasons that no server sends: those that speak
// of the caller's own handle or connection.
func (r Reason) HTTPStatus() int {
	switch r {
	case ErrNotFound:
		return 404
	case ErrNotAFile, ErrNotADirectory, ErrExists, ErrNotEmpty, ErrCrossDevice, ErrLoop:
		return 409
	case ErrOutside, ErrDenied, ErrPermission, ErrReadOnly:
		return 403
	case ErrInvalidPath, ErrInvalid, ErrBadPattern:
		return 400
	case ErrTooLarge:
		return 413
	case ErrChanged:
		return 412
	case ErrNoSpace:
		return 507
	case ErrUnsupported:
		return 501
	case ErrNotText, ErrNoMatch, ErrAmbiguous:
		return 422
	case ErrOutOfRange:
		return 416
	case ErrNotObserved:
		return 428
	case ErrUnauthorized:
		return 401
	case ErrCanceled:
		return 499
	case ErrTimeout:
		return 504
	case ErrClosed, ErrUnreachable, ErrOutcomeUnknown, "":
		return 0
	}
	return 500
}

// ReasonOf returns the reason of err: "" for nil, the reason that an [*Error]
// or [Reason] in err's chain carries, else what the context package's errors,
// an errno or one of io/fs's sentinels stands for, and [ErrIO] for all the
// rest.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) && e != nil && e.Reason != "" {
		return e.Reason
	}
	var r Reason
	if errors.As(err, &r) && r != "" {
		return r
	}
	return classify(err)
}

// classify asks for an errno before it asks for sentinels: several errno match
// a sentinel that means something else here (ENOTEMPTY matches fs.ErrExist).
func classify(err error) Reason {
	switch {
	case errors.Is(err, context.Canceled):
		return ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if r, ok := reasonOfErrno(errno); ok {
			return r
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case errors.Is(err, fs.ErrInvalid):
		return ErrInvalid
	case errors.Is(err, fs.ErrClosed):
		return ErrClosed
	case errors.Is(err, errors.ErrUnsupported):
		return ErrUnsupported
	}
	return ErrIO
}

// sentinels are all that [Reason.Is] can match.
var sentinels = []error{
	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed,
	errors.ErrUnsupported, context.Canceled, context.DeadlineExceeded,
}

// contradicts reports whether err matches a sentinel that r does not stand
// for, as ENOTEMPTY does with fs.ErrExist, or carries another reason. Kept in
// the chain, it would make errors.Is answer differently from backend to
// backend.
func contradicts(r Reason, err error) bool {
	for _, s := range sentinels {
		if errors.Is(err, s) && !r.Is(s) {
			return true
		}
	}
	var e *Error
	if errors.As(err, &e) && e != nil && e.Reason != r {
		return true
	}
	var other Reason
	return errors.As(err, &other) && other != r
}
