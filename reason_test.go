// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ambitfs/ambit"
)

// reasons is the table of the contract.
var reasons = []struct {
	reason   ambit.Reason
	text     string
	sentinel error // nil: none
	status   int
}{
	{ambit.ErrNotFound, "not-found", fs.ErrNotExist, 404},
	{ambit.ErrNotAFile, "not-a-file", nil, 409},
	{ambit.ErrNotADirectory, "not-a-directory", nil, 409},
	{ambit.ErrOutside, "outside", fs.ErrPermission, 403},
	{ambit.ErrDenied, "denied", fs.ErrPermission, 403},
	{ambit.ErrPermission, "permission", fs.ErrPermission, 403},
	{ambit.ErrReadOnly, "read-only", fs.ErrPermission, 403},
	{ambit.ErrInvalidPath, "invalid-path", fs.ErrInvalid, 400},
	{ambit.ErrInvalid, "invalid", fs.ErrInvalid, 400},
	{ambit.ErrTooLarge, "too-large", nil, 413},
	{ambit.ErrChanged, "changed", nil, 412},
	{ambit.ErrExists, "exists", fs.ErrExist, 409},
	{ambit.ErrNotEmpty, "not-empty", nil, 409},
	{ambit.ErrCrossDevice, "cross-device", nil, 409},
	{ambit.ErrLoop, "loop", nil, 409},
	{ambit.ErrNoSpace, "no-space", nil, 507},
	{ambit.ErrNotDurable, "not-durable", nil, 500},
	{ambit.ErrUnsupported, "unsupported", errors.ErrUnsupported, 501},
	{ambit.ErrNotText, "not-text", nil, 422},
	{ambit.ErrOutOfRange, "out-of-range", nil, 416},
	{ambit.ErrNoMatch, "no-match", nil, 422},
	{ambit.ErrAmbiguous, "ambiguous", nil, 422},
	{ambit.ErrBadPattern, "bad-pattern", fs.ErrInvalid, 400},
	{ambit.ErrNotObserved, "not-observed", fs.ErrPermission, 428},
	{ambit.ErrPartial, "partial", nil, 500},
	{ambit.ErrClosed, "closed", fs.ErrClosed, 0},
	{ambit.ErrUnauthorized, "unauthorized", fs.ErrPermission, 401},
	{ambit.ErrUnreachable, "unreachable", nil, 0},
	{ambit.ErrOutcomeUnknown, "outcome-unknown", nil, 0},
	{ambit.ErrCanceled, "canceled", context.Canceled, 499},
	{ambit.ErrTimeout, "timeout", context.DeadlineExceeded, 504},
	{ambit.ErrIO, "io", nil, 500},
	{"a-reason-of-an-engine", "a-reason-of-an-engine", nil, 500},
}

// others are errors that no error of this library may match unless its reason stands for them.
var others = []error{
	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported,
	context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded, os.ErrProcessDone,
}

func TestReasons(t *testing.T) {
	for _, row := range reasons {
		if row.reason.Error() != row.text {
			t.Errorf("text of %s is %q", row.text, row.reason.Error())
		}
		if got := row.reason.HTTPStatus(); got != row.status {
			t.Errorf("status of %s is %d, want %d", row.text, got, row.status)
		}
		forms := map[string]error{
			"itself":        row.reason,
			"in an Error":   &ambit.Error{Op: "open", Path: "p", Reason: row.reason},
			"wrapped":       fmt.Errorf("more: %w", &ambit.Error{Reason: row.reason}),
			"wrapped twice": fmt.Errorf("more: %w", fmt.Errorf("more: %w", row.reason)),
			"joined":        errors.Join(errors.New("other"), row.reason),
			"by Wrap":       ambit.Wrap("open", "p", row.reason),
			"in io/fs":      &fs.PathError{Op: "open", Path: "p", Err: &ambit.Error{Reason: row.reason}},
		}
		for form, err := range forms {
			if got := ambit.ReasonOf(err); got != row.reason {
				t.Errorf("ReasonOf %s %s is %q", row.text, form, got)
			}
			for _, other := range reasons {
				if got := errors.Is(err, other.reason); got != (other.reason == row.reason) {
					t.Errorf("errors.Is(%s %s, %s) is %t", row.text, form, other.text, got)
				}
			}
			for _, sentinel := range others {
				if got := errors.Is(err, sentinel); got != (row.sentinel == sentinel) {
					t.Errorf("errors.Is(%s %s, %v) is %t", row.text, form, sentinel, got)
				}
			}
		}
		// The other way round it is no match: a sentinel says less than a reason.
		for _, sentinel := range others {
			if errors.Is(sentinel, row.reason) {
				t.Errorf("errors.Is(%v, %s) holds", sentinel, row.text)
			}
		}
	}
	if got := ambit.Reason("").HTTPStatus(); got != 0 {
		t.Errorf("status of no reason is %d", got)
	}
}

// TestReasonsTableIsWhole finds the constant that was added and not told to the table.
func TestReasonsTableIsWhole(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Reason" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		for _, row := range reasons {
			if row.text == text {
				return true
			}
		}
		t.Errorf("%s = %q has no row", spec.Names[0].Name, text)
		return true
	})
	if found != len(reasons)-1 {
		t.Errorf("%d constants, %d rows", found, len(reasons)-1)
	}
}

// stranger is an error type of somebody else's that says which errors it is.
type stranger struct{ is []error }

func (stranger) Error() string { return "stranger" }

func (s stranger) Is(target error) bool { return slices.Contains(s.is, target) }

func TestReasonOf(t *testing.T) {
	var typedNil *ambit.Error
	withReason := &ambit.Error{Reason: ambit.ErrDenied}
	for _, test := range []struct {
		name string
		err  error
		want ambit.Reason
	}{
		{"nil", nil, ""},
		{"a typed nil", typedNil, ambit.ErrIO},
		{"a wrapped typed nil", fmt.Errorf("x: %w", typedNil), ambit.ErrIO},
		{"an unknown error", errors.New("x"), ambit.ErrIO},
		{"EOF", io.EOF, ambit.ErrIO},
		{"an empty Error", &ambit.Error{}, ambit.ErrIO},
		{"an Error with a cause alone", &ambit.Error{Err: fs.ErrNotExist}, ambit.ErrNotFound},
		{"an empty Reason", ambit.Reason(""), ambit.ErrIO},
		{"an Error before a Reason", errors.Join(ambit.ErrChanged, withReason), ambit.ErrDenied},
		{"an Error over an errno-like cause", &ambit.Error{Reason: ambit.ErrDenied, Err: fs.ErrNotExist}, ambit.ErrDenied},
		{"a Reason before a sentinel", errors.Join(fs.ErrNotExist, ambit.ErrChanged), ambit.ErrChanged},
		{"fs.ErrNotExist", fs.ErrNotExist, ambit.ErrNotFound},
		{"fs.ErrExist", fs.ErrExist, ambit.ErrExists},
		{"fs.ErrPermission", fs.ErrPermission, ambit.ErrPermission},
		{"fs.ErrInvalid", fs.ErrInvalid, ambit.ErrInvalid},
		{"fs.ErrClosed", fs.ErrClosed, ambit.ErrClosed},
		{"errors.ErrUnsupported", errors.ErrUnsupported, ambit.ErrUnsupported},
		{"a PathError", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrExist}, ambit.ErrExists},
		{"a LinkError", &os.LinkError{Op: "rename", Old: "x", New: "y", Err: fs.ErrPermission}, ambit.ErrPermission},
		{"a stranger", stranger{is: []error{fs.ErrClosed}}, ambit.ErrClosed},
		{"context.Canceled", context.Canceled, ambit.ErrCanceled},
		{"context.DeadlineExceeded", context.DeadlineExceeded, ambit.ErrTimeout},
		{"a wrapped context.Canceled", fmt.Errorf("x: %w", context.Canceled), ambit.ErrCanceled},
		{"a context's end before a sentinel", errors.Join(fs.ErrNotExist, context.Canceled), ambit.ErrCanceled},
		{"the deadline of a file", os.ErrDeadlineExceeded, ambit.ErrIO},
	} {
		if got := ambit.ReasonOf(test.err); got != test.want {
			t.Errorf("ReasonOf %s is %q, want %q", test.name, got, test.want)
		}
	}
}
