// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
)

// Refused is for authors of a [Guarder]: it returns the error of the operation
// op at path that a rule refused with err; nil stays nil. An [*Error] or
// [Reason] in err's chain, and the context's errors, keep their reason, as
// [Wrap] does. Anything else is [ErrDenied], whatever [ReasonOf] would make of
// it: what a rule stumbled over tells nothing about the file. Of such an error
// the text and the chain are kept where they name no place of the host and
// match nothing that ErrDenied does not stand for.
func Refused(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	var r Reason
	if errors.As(err, &e) && e != nil && e.Reason != "" || errors.As(err, &r) && r != "" ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Wrap(op, path, err)
	}
	denied := &Error{Op: op, Path: path, Reason: ErrDenied, Err: causeFor(ErrDenied, err)}
	if denied.Err != nil {
		denied.Detail = denied.Err.Error()
	}
	return denied
}
