// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

type forged struct {
	Inside []byte         `json:"inside,omitempty"`
	Host   []byte         `json:"host,omitempty"`
	Hidden string         `json:"hidden,omitempty"`
	Staged map[string]any `json:"staged,omitempty"`
	Base   map[string]any `json:"base,omitempty"`
}

const digits = "0123456789abcdef0123456789abcdef"

func plant(t *testing.T, root, form string, changes []forged, dirs []forged) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"format": 1, "changes": changes, "dirs": dirs})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, form+digits)
	put(t, name, string(b))
	return name
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func has(path, text string) bool {
	b, err := os.ReadFile(path)
	return err == nil && string(b) == text
}

// A repository that was unpacked holds a journal, which names by "../" what is
// to be put back.
func TestHostileForgedJournalMovesFromOutside(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "repo")
	outside := filepath.Join(top, "home", "id_rsa")
	put(t, filepath.Join(root, "README"), "x")
	put(t, outside, "secret")
	plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/stolen"), Hidden: "../home/id_rsa"}}, nil)
	fsys, err := local.New(root, nil)
	if err != nil {
		t.Logf("New: %v", err)
	} else {
		defer fsys.Close()
		b, _, err := ambit.ReadFile(context.Background(), fsys, "/stolen")
		if err == nil {
			t.Errorf("what lay outside is read through the root: %q", b)
		}
	}
	if !has(outside, "secret") {
		t.Error("New has moved a file from outside the root into it")
	}
}

// The same within the root, where options refuse it.
func TestHostileForgedJournalIgnoresRules(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "denied"), "secret")
	put(t, filepath.Join(root, "vendor", "lib"), "lib")
	if err := os.MkdirAll(filepath.Join(root, "vendor", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	plant(t, root, ".ambit.journal.", []forged{
		{Inside: []byte("/shown"), Hidden: "denied"},
		{Inside: []byte("/vendor/moved"), Hidden: "lib"},
	}, []forged{{Inside: []byte("/vendor/empty")}})
	fsys, err := local.New(root, &local.Options{Deny: []string{"/denied"}, ReadOnly: []string{"/vendor"}})
	if err != nil {
		t.Logf("New: %v", err)
	} else {
		defer fsys.Close()
	}
	if !has(filepath.Join(root, "denied"), "secret") {
		t.Error("New has moved what is denied")
	}
	if !has(filepath.Join(root, "vendor", "lib"), "lib") {
		t.Error("New has moved a file in a read-only folder")
	}
	if _, err := os.Stat(filepath.Join(root, "vendor", "empty")); err != nil {
		t.Error("New has removed a folder in a read-only folder")
	}
	// A second New does not know by identity what was moved before the first.
	if again, err := local.New(root, &local.Options{Deny: []string{"/denied"}}); err == nil {
		defer again.Close()
		if b, _, err := ambit.ReadFile(context.Background(), again, "/shown"); err == nil {
			t.Errorf("what was denied is read: %q", b)
		}
	}
}

// A journal in a root that can be changed reaches another one, which is
// read-only as a whole.
func TestHostileForgedJournalInAnotherRoot(t *testing.T) {
	top := t.TempDir()
	work, kept := filepath.Join(top, "work"), filepath.Join(top, "kept")
	put(t, filepath.Join(work, "x"), "x")
	put(t, filepath.Join(kept, "data"), "data")
	plant(t, work, ".ambit.journal.", []forged{{Host: []byte(filepath.Join(kept, "gone")), Hidden: "data"}}, nil)
	fsys, err := local.Host([]string{work, kept}, &local.Options{ReadOnly: []string{kept}})
	if err != nil {
		t.Logf("Host: %v", err)
	} else {
		defer fsys.Close()
	}
	if !has(filepath.Join(kept, "data"), "data") {
		t.Error("Host has changed a root that is read-only")
	}
}

// One who knows the inode and handle deletes outside.
func TestHostileForgedJournalDeletesOutside(t *testing.T) {
	for _, form := range []string{".ambit.journal.", ".ambit.done."} {
		t.Run(form, func(t *testing.T) {
			top := t.TempDir()
			root, outside := filepath.Join(top, "repo"), filepath.Join(top, "victim")
			put(t, filepath.Join(root, "there"), "x")
			put(t, outside, "secret")
			plant(t, root, form, []forged{{Inside: []byte("/there"), Hidden: "../victim", Base: fileOf(t, outside)}}, nil)
			fsys, err := local.New(root, nil)
			if err != nil {
				t.Logf("New: %v", err)
			} else {
				defer fsys.Close()
			}
			if !has(outside, "secret") {
				t.Error("New has deleted a file outside the root")
			}
		})
	}
}

// What is no journal keeps New from working for ever.
func TestHostileFolderNamedLikeAJournal(t *testing.T) {
	for what, make := range map[string]func(root string) error{
		"folder": func(root string) error { return os.Mkdir(filepath.Join(root, ".ambit.journal."+digits), 0o755) },
		"path through a loop": func(root string) error {
			plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/loop/x"), Hidden: "y"}}, nil)
			return os.Symlink("loop", filepath.Join(root, "loop"))
		},
		"name too long": func(root string) error {
			plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/a"), Hidden: strings.Repeat("y", 300)}}, nil)
			return nil
		},
		"link that leads out": func(root string) error {
			plant(t, root, ".ambit.journal.", []forged{{Inside: []byte("/out/x"), Hidden: "y"}}, nil)
			return os.Symlink("/usr", filepath.Join(root, "out"))
		},
	} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			if err := make(root); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				fsys, err := local.New(root, nil)
				if err != nil {
					t.Errorf("New: %v", err)
					continue
				}
				fsys.Close()
			}
		})
	}
}

var _ = fmt.Sprint
