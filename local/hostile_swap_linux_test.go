// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ambitfs/ambit/local"
)

// A process was killed after its exchange had taken out what another program
// had just put there. That program saves twice more; its second save gets the
// inode number that the killed process's file had.
func TestHostileSweepTakesAnotherFileForItsOwn(t *testing.T) {
	for _, name := range []string{"ext4", "xfs", "btrfs"} {
		for _, m := range media {
			if m.name != name {
				continue
			}
			t.Run(name, func(t *testing.T) {
				base := t.TempDir()
				dir := filepath.Join(base, "m")
				must(t, os.Mkdir(dir, 0o755))
				m.mount(t, base, dir)
				f := filepath.Join(dir, "f")
				save := func(text string) {
					must(t, os.WriteFile(f+"~", []byte(text), 0o644))
					must(t, os.Rename(f+"~", f))
				}
				put(t, f, "ours") // what the killed process has put in
				staged := inodeOf(t, f)
				put(t, filepath.Join(dir, fmt.Sprintf(".ambit.swap.%016x%016x.f", staged, staged+1000)), "save 1")
				save("save 2")
				for i := 3; i < 6 && inodeOf(t, f) != staged; i++ {
					save(fmt.Sprint("save ", i))
				}
				t.Logf("%d %d", staged, inodeOf(t, f))
				if inodeOf(t, f) != staged {
					t.Skip("this disk does not give the number again at once")
				}
				last := bytesOf(t, f)
				fsys, err := local.New(dir, nil)
				must(t, err)
				defer fsys.Close()
				_, err = fsys.List(ctx, "/", nil)
				must(t, err)
				if now := bytesOf(t, f); now != last {
					t.Errorf("%q was replaced by %q, and is lost", last, now)
				}
			})
		}
	}
}
