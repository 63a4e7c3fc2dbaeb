// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/local"
)

// Another user may write into the root, and not into a folder in it: New
// deletes there for him.
func TestHostileForgedJournalOfAnotherUser(t *testing.T) {
	root := t.TempDir()
	must(t, os.Chmod(root, 0o777|os.ModeSticky))
	victim := filepath.Join(root, "sub", "f")
	put(t, victim, "mine")
	onAThreadOfNobody(t, func() {
		if os.Remove(victim) == nil {
			t.Fatal("the attacker can do so anyway")
		}
		plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/sub/f"), Hidden: ".ambit.commit." + digits, Staged: fileOf(t, victim)}}, nil)
	}, root)
	fsys, err := local.New(root, nil)
	must(t, err)
	defer fsys.Close()
	if !has(victim, "mine") {
		t.Error("New has deleted a file for somebody who could not")
	}
}

// A root in a root is moved to a hidden name: the sweep empties it, though it
// is read-only.
func TestHostileSweepEmptiesARoot(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "in")
	put(t, filepath.Join(inner, "f"), "x")
	fsys, err := local.Host([]string{root, inner}, &local.Options{ReadOnly: []string{inner}})
	must(t, err)
	defer fsys.Close()
	moved := filepath.Join(root, ".ambit.tmp."+digits)
	must(t, os.Rename(inner, moved))
	_, err = fsys.Write(ctx, filepath.Join(root, "new"), strings.NewReader("x"), nil)
	must(t, err)
	if !has(filepath.Join(moved, "f"), "x") {
		t.Error("a write has emptied a root that is read-only")
	}
}
