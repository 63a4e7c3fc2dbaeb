// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// swapper is a reader that ends with a call of swap.
type swapper struct{ swap func() }

func (s swapper) Read([]byte) (int, error) {
	s.swap()
	return 0, io.EOF
}

// A link that a stranger puts in the place of a temporary file leads no change
// to what it points to.
func TestTemporarySwappedForALink(t *testing.T) {
	w := newWorld(t, "victim = V")
	old := time.Unix(1000, 0)
	must(t, os.Chtimes(w.host("victim"), old, old))
	must(t, os.Chmod(w.host("victim"), 0o600))
	swapped := 0
	w.fsys = serve(t, w.root, local.Portable(nil)) // which gives what is staged a name
	w.fsys.Write(ctx, "f", io.MultiReader(strings.NewReader("N"), swapper{func() {
		entries, err := os.ReadDir(w.root)
		must(t, err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".ambit.tmp.") {
				must(t, os.Remove(w.host(e.Name())))
				must(t, os.Symlink("victim", w.host(e.Name())))
				swapped++
			}
		}
	}}), &ambit.WriteOptions{Mode: 0o640})
	info, err := os.Stat(w.host("victim"))
	must(t, err)
	if swapped != 1 || !info.ModTime().Equal(old) || info.Mode().Perm() != 0o600 {
		t.Errorf("%d links were put there; victim has the time %v and the mode %v", swapped, info.ModTime(), info.Mode())
	}
}

// On a disk that keeps whole seconds every replacement has a version of its
// own.
func TestVersionsOnACoarseDisk(t *testing.T) {
	for name, format := range map[string][]string{
		"ext4": {"mkfs.ext4", "-q", "-F", "-I", "128"},
		"vfat": {"mkfs.vfat"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			image, disk := filepath.Join(base, "image"), filepath.Join(base, "disk")
			must(t, os.WriteFile(image, nil, 0o666))
			must(t, os.Truncate(image, 16<<20))
			must(t, os.Mkdir(disk, 0o777))
			for _, command := range [][]string{append(format, image), {"mount", "-o", "loop", image, disk}} {
				if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
					t.Skipf("%s: %v %s", command[0], err, out)
				}
			}
			t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
			fsys := serve(t, disk, nil)
			seen := map[ambit.Version]bool{}
			var first ambit.Version
			for i := range 8 {
				r := write(t, fsys, "f", string(rune('0'+i)), nil)
				if seen[r.Info.Version] {
					t.Errorf("write %d has the version of another", i)
				}
				seen[r.Info.Version] = true
				if i == 0 {
					first = r.Info.Version
				}
				if _, info := read(t, fsys, "f"); info != r.Info {
					t.Errorf("wrote %+v, read %+v", r.Info, info)
				}
			}
			_, err := ambit.WriteFile(ctx, fsys, "f", []byte("N"), &ambit.WriteOptions{If: ambit.IfVersion(first)})
			if ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Errorf("a write over the first version: %v", err)
			}
			staged, err := fsys.Stage(ctx, "f", strings.NewReader("S"), nil)
			must(t, err)
			before := write(t, fsys, "f", "B", nil)
			after, err := staged.Publish(ctx)
			must(t, err)
			if after.Info.Version == before.Info.Version || seen[after.Info.Version] {
				t.Error("what was staged before has the version of another")
			}
		})
	}
}
