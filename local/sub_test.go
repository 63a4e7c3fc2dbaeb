// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A Sub has its own anchor: what leads out of it is outside, though it is
// inside its parent, absolute texts of the host too; and it outlives its
// parent.
func TestSub(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a/b"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for path, content := range map[string]string{"top": "top", "a/file": "file", "a/b/leaf": "leaf"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"a/up": "../top", "a/in": "b/leaf", "a/abs-in": filepath.Join(root, "a/b/leaf"), "a/abs-out": filepath.Join(root, "top"),
		"a/b/back": "../file", "to-a": "a",
	} {
		if err := os.Symlink(text, filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	parent, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "/a/", "to-a", "."} {
		sub, err := ambit.Sub(t.Context(), parent, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.(*local.FileSystem).Close()
		if dir == "." {
			if data, _, err := ambit.ReadFile(t.Context(), sub, "a/up"); err != nil || string(data) != "top" {
				t.Errorf("the root anew: %q, %v", data, err)
			}
			continue
		}
		for path, want := range map[string]string{"file": "file", "in": "leaf", "abs-in": "leaf", "b/back": "file"} {
			data, info, err := ambit.ReadFile(t.Context(), sub, path)
			if err != nil || string(data) != want {
				t.Errorf("%s: %s holds %q, %v, want %q", dir, path, data, err, want)
			}
			if again, _, err := ambit.ReadFile(t.Context(), sub, info.Path); err != nil || string(again) != want {
				t.Errorf("%s: the canonical %s holds %q, %v", dir, info.Path, again, err)
			}
		}
		for _, path := range []string{"up", "abs-out", "../top", "../a/file"} {
			if _, err := sub.Open(t.Context(), path); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("%s: %s: %v, want outside", dir, path, err)
			}
		}
	}
	sub, err := ambit.Sub(t.Context(), parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ambit.WriteFile(t.Context(), sub, "new", []byte("x"), nil); err != nil {
		t.Errorf("after its parent was closed: %v", err)
	}
	if err := sub.(*local.FileSystem).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Stat(t.Context(), "new"); ambit.ReasonOf(err) != ambit.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}
