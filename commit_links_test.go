// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// TestCommitOfHardLinks: two names of one file are one file, as long as the file system can tell.
func TestCommitOfHardLinks(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, name := range []string{"a", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	fsys, err := local.New(dir, &local.Options{HardLinks: local.HardLinksBroken})
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if !fsys.Capabilities().Identity {
		t.Fatal("no Identity to tell hard links by")
	}
	over := withFallbacks(fsys)
	write := func(path, content string) ambit.Change {
		return ambit.Change{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(content)}
	}
	remove := func(path string) ambit.Change { return ambit.Change{Op: ambit.OpRemove, Path: path} }
	for _, second := range []ambit.Change{write("b", "3"), remove("b")} {
		for _, first := range []ambit.Change{write("a", "2"), remove("a")} {
			_, err := over.Commit(ctx, []ambit.Change{first, write("other", "2"), second})
			wantReason(t, err, ambit.OpCommit, "b", ambit.ErrInvalid)
			for _, name := range []string{"a", "b", "other"} {
				if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != "1" {
					t.Fatalf("%s is %q, %v", name, data, err)
				}
			}
		}
	}
	// One of the two names alone may be changed, beside another file.
	if _, err := over.Commit(ctx, []ambit.Change{write("a", "2"), write("other", "2")}); err != nil {
		t.Error(err)
	}
}
