// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
)

// Folders in the lower layer of an overlay cannot be renamed: they are removed
// in place, and a rename of one is refused.
func TestOverlay(t *testing.T) {
	base := fastDir(t)
	for _, dir := range []string{"lower/d/sub", "lower/moved", "upper", "work", "root"} {
		must(t, os.MkdirAll(filepath.Join(base, dir), 0o777))
	}
	must(t, os.WriteFile(filepath.Join(base, "lower/d/sub/f"), []byte("F"), 0o666))
	must(t, os.WriteFile(filepath.Join(base, "lower/f"), []byte("F"), 0o666))
	root := filepath.Join(base, "root")
	options := "lowerdir=" + base + "/lower,upperdir=" + base + "/upper,workdir=" + base + "/work,redirect_dir=off"
	if err := syscall.Mount("overlay", root, "overlay", 0, options); err != nil {
		t.Skipf("no overlay can be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(root, 0)) })
	fsys := serve(t, root, nil)
	if fsys.Capabilities().AtomicRemove {
		t.Error("AtomicRemove is claimed")
	}
	if _, err := fsys.Rename(ctx, "moved", "elsewhere", nil); ambit.ReasonOf(err) != ambit.ErrCrossDevice || strings.Contains(err.Error(), base) {
		t.Errorf("Rename of a folder of the lower layer: %v", err)
	}
	must(t, fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}))
	_, info := read(t, fsys, "f")
	r := write(t, fsys, "f", "N", &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	if text, now := read(t, fsys, "f"); text != "N" || now != r.Info {
		t.Errorf("wrote %+v, read %q, %+v", r.Info, text, now)
	}
	write(t, fsys, "moved/new", "N", &ambit.WriteOptions{If: ambit.IfAbsent()})
	if got := names(t, fsys, "/"); !slices.Equal(got, []string{"f", "moved"}) {
		t.Errorf("there is %q", got)
	}
	leftovers(t, root)
}
