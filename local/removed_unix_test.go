// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

// When the root was removed, nothing is there and nothing can be made.
func TestRootRemoved(t *testing.T) {
	w := newWorld(t, "f = F")
	must(t, os.RemoveAll(w.root))
	parents := &ambit.WriteOptions{Parents: true}
	for name, call := range map[string]func() error{
		"Stat":               func() error { _, err := w.fsys.Stat(ctx, "/"); return err },
		"Stat of a file":     func() error { _, err := w.fsys.Stat(ctx, "f"); return err },
		"List":               func() error { _, err := w.fsys.List(ctx, "/", nil); return err },
		"Sub":                func() error { _, err := w.fsys.Sub(ctx, "/"); return err },
		"Write":              func() error { _, err := w.fsys.Write(ctx, "f", readerOf("N"), nil); return err },
		"Write with Parents": func() error { _, err := w.fsys.Write(ctx, "a/b/f", readerOf("N"), parents); return err },
		"Mkdir":              func() error { _, err := w.fsys.Mkdir(ctx, "d", nil); return err },
		"Mkdir with Parents": func() error { _, err := w.fsys.Mkdir(ctx, "a/b", &ambit.MkdirOptions{Parents: true}); return err },
		"Remove":             func() error { return w.fsys.Remove(ctx, "f", nil) },
		"Rename":             func() error { _, err := w.fsys.Rename(ctx, "f", "g", nil); return err },
	} {
		if err := call(); ambit.ReasonOf(err) != ambit.ErrNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A listing deletes no tree, whatever its name; a write through a new value
// does.
func TestListSweepsNoFolder(t *testing.T) {
	const name = ".ambit.tmp.00112233445566778899aabbccddeeff"
	w := newWorld(t, name+"/sub/\n"+name+"/sub/f = F")
	w.fsys.List(ctx, "/", nil)
	ambit.ReadOnly(w.fsys).List(ctx, "/", nil)
	if _, err := os.Stat(filepath.Join(w.root, name, "sub/f")); err != nil {
		t.Error(err)
	}
	write(t, w.fsys, "new", "N", nil)
	leftovers(t, w.root)
}

// A dangling link whose text never leaves the root tells its text.
func TestReadLinkBeyondWhatIsMissing(t *testing.T) {
	w := newWorld(t, `
		d/
		up -> missing/../b
		deep -> missing/a/../../b
		d/beside -> ../missing/x
		d/climbs -> ../missing/../../secret
		climbs -> missing/../../secret
		far -> missing/../../../etc
		missinglink -> nowhere
		through -> missinglink/../../secret`)
	for path, want := range map[string]string{"up": "missing/../b", "deep": "missing/a/../../b", "d/beside": "../missing/x"} {
		if text, err := w.fsys.ReadLink(ctx, path); err != nil || text != want {
			t.Errorf("ReadLink(%q) = %q, %v", path, text, err)
		}
	}
	for _, path := range []string{"climbs", "far", "through", "d/climbs"} {
		if text, err := w.fsys.ReadLink(ctx, path); err == nil || text != "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("ReadLink(%q) = %q, %v", path, text, err)
		}
	}
}
