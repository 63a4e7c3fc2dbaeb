// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

func TestRefused(t *testing.T) {
	if err := ambit.Refused(ambit.OpStat, "a", nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	own := errors.New("not today")
	const secret = "/srv/secret"
	host := &fs.PathError{Op: "open", Path: secret, Err: syscall.ENOENT}
	for _, c := range []struct {
		err    error
		reason ambit.Reason
		text   string // of the message
		own    bool   // stays in the chain
	}{
		{own, ambit.ErrDenied, "stat a: denied: not today", true},
		{fmt.Errorf("rule 7: %w", own), ambit.ErrDenied, "stat a: denied: rule 7: not today", true},
		{host, ambit.ErrDenied, "stat a: denied", false},
		{fmt.Errorf("rule 7: %w", host), ambit.ErrDenied, "stat a: denied", false},
		{&fs.PathError{Op: "open", Path: secret, Err: own}, ambit.ErrDenied, "stat a: denied: not today", true},
		{&os.LinkError{Op: "link", Old: secret, New: secret, Err: own}, ambit.ErrDenied, "stat a: denied: not today", true},
		{fs.ErrNotExist, ambit.ErrDenied, "stat a: denied", false},
		{syscall.ENOENT, ambit.ErrDenied, "stat a: denied", false},
		{&ambit.Error{Detail: "no reason"}, ambit.ErrDenied, "", false},
		{(*ambit.Error)(nil), ambit.ErrDenied, "", false},
		{ambit.ErrReadOnly, ambit.ErrReadOnly, "stat a: read-only", false},
		{fmt.Errorf("plan: %w", ambit.ErrReadOnly), ambit.ErrReadOnly, "", false},
		{&ambit.Error{Op: "x", Path: "/y", Reason: ambit.ErrTooLarge, Limit: 7}, ambit.ErrTooLarge, "stat a: too-large (limit 7 bytes)", false},
		{&ambit.Error{Reason: ambit.ErrIO, Err: host}, ambit.ErrIO, "stat a: io", false},
		{fmt.Errorf("%w: %w", ambit.ErrDenied, host), ambit.ErrDenied, "", false},
		{context.Canceled, ambit.ErrCanceled, "", false},
	} {
		err := ambit.Refused(ambit.OpStat, "a", c.err)
		wantReason(t, err, ambit.OpStat, "a", c.reason)
		if c.text != "" && err.Error() != c.text {
			t.Errorf("%#v: %q, want %q", c.err, err, c.text)
		}
		if errors.Is(err, own) != c.own {
			t.Errorf("%#v: the rule's error is in the chain: %v", c.err, !c.own)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%#v: the chain tells %q", c.err, e)
			}
		}
	}
}

// TestGuardErrorNamesNoHostPath: what a rule stumbled over is no fact about the file, on any Guarder of the library.
func TestGuardErrorNamesNoHostPath(t *testing.T) {
	ctx := t.Context()
	m := memory.New(map[string]string{"a": "1"}, nil)
	host := &fs.PathError{Op: "open", Path: "/srv/secret", Err: syscall.ENOENT}
	for name, g := range map[string]ambit.FileSystem{
		"memory":   m,
		"readOnly": ambit.ReadOnly(m),
		"mapped":   chdir(t, m),
	} {
		guarded := g.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return host })
		_, err := guarded.Stat(ctx, "/a")
		wantReason(t, err, ambit.OpStat, "/a", ambit.ErrDenied)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func chdir(t *testing.T, fsys ambit.FileSystem) ambit.FileSystem {
	t.Helper()
	moved, err := ambit.Chdir(t.Context(), fsys, "/")
	if err != nil {
		t.Fatal(err)
	}
	return moved
}

// TestGuardByNothing: a rule that is no function opens nothing.
func TestGuardByNothing(t *testing.T) {
	ctx := t.Context()
	m := memory.New(map[string]string{"a": "1"}, nil)
	for name, g := range map[string]ambit.FileSystem{
		"memory":   m,
		"readOnly": ambit.ReadOnly(m),
		"mapped":   chdir(t, m),
		"Forward":  ambit.Forward{Base: m, Keep: m.Capabilities()},
	} {
		guarded := g.(ambit.Guarder).Guard(nil)
		if c := guarded.Capabilities(); c.Write || c.List || c.Sub || c.Guard {
			t.Errorf("%s: claims %+v", name, c)
		}
		_, err := guarded.Stat(ctx, "/a")
		wantReason(t, err, ambit.OpStat, "/a", ambit.ErrUnsupported)
		_, err = guarded.Open(ctx, "/a")
		wantReason(t, err, ambit.OpOpen, "/a", ambit.ErrUnsupported)
		_, err = guarded.List(ctx, "/", nil)
		wantReason(t, err, ambit.OpList, "/", ambit.ErrUnsupported)
	}
}
