// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

// A move in memory makes no path that no call would take; the longest that one does is fine.
func TestRenameIntoPathsTooLong(t *testing.T) {
	ctx := t.Context()
	fsys := memory.New(nil, nil)
	name := strings.Repeat("n", 250)
	deep := strings.Repeat("/"+name, 15)
	if _, err := fsys.Mkdir(ctx, deep, &ambit.MkdirOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	// Under deep + "/x", it is as long as a path may be.
	tail := "/" + strings.Repeat("t", 200) + "/"
	tail += strings.Repeat("u", ambit.MaxPath-len(deep)-len("/x")-len(tail))
	if _, err := ambit.WriteFile(ctx, fsys, "/x"+tail, []byte("1"), &ambit.WriteOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	_, err := fsys.Rename(ctx, "/x", deep+"/xx", nil)
	var e *ambit.Error
	if !errors.As(err, &e) || e.Reason != ambit.ErrInvalidPath || e.Op != ambit.OpRename || e.Path != deep+"/xx" {
		t.Fatalf("%v", err)
	}
	if _, err := fsys.Stat(ctx, "/x"+tail); err != nil {
		t.Errorf("it has not stayed: %v", err)
	}
	if _, err := fsys.Rename(ctx, "/x", deep+"/x", nil); err != nil {
		t.Fatal(err)
	}
	for entry, err := range ambit.Walk(ctx, fsys, "/") {
		if err != nil || len(entry.Info.Path) > ambit.MaxPath {
			t.Errorf("%d bytes, %v", len(entry.Info.Path), err)
		}
	}
	if _, err := fsys.Stat(ctx, deep+"/x"+tail); err != nil {
		t.Errorf("the longest path: %v", err)
	}
	// Back up, and a shorter way.
	if _, err := fsys.Rename(ctx, deep+"/x", "/y", nil); err != nil {
		t.Error(err)
	}
}
