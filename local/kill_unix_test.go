// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

const killedSize = 300_000

func killedText(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%20)}, killedSize) }

func init() {
	// change does all that changes a tree, over and over, until it is killed.
	roles["change"] = func(dir string) {
		fsys, err := local.New(dir, local.Portable(nil)) // which gives what is staged a name
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString("begun\n")
		for i := 0; ; i++ {
			steps := []func() error{
				func() error { _, err := ambit.WriteFile(ctx, fsys, "f", killedText(i), nil); return err },
				func() error {
					_, err := ambit.WriteFile(ctx, fsys, "new", killedText(i), &ambit.WriteOptions{If: ambit.IfAbsent()})
					return err
				},
				func() error { _, err := fsys.Rename(ctx, "new", "d/moved", nil); return err },
				func() error { return fsys.Remove(ctx, "d/moved", nil) },
				func() error {
					_, err := ambit.WriteFile(ctx, fsys, "tree/a/f", killedText(i), &ambit.WriteOptions{Parents: true})
					return err
				},
				func() error { return fsys.Remove(ctx, "tree", &ambit.RemoveOptions{Recursive: true}) },
			}
			for _, do := range steps {
				if err := do(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(3)
				}
			}
		}
	}
}

// A process that is killed at any moment leaves old bytes or new ones under
// every name that shows, and what does not show is swept.
func TestKilledWriter(t *testing.T) {
	const limit = 4 * time.Second
	w := newWorldIn(t, fastDir(t), "f =\nd/")
	must(t, os.WriteFile(w.host("f"), killedText(0), 0o666))
	kills, dirty := 0, 0
	for begun := time.Now(); time.Since(begun) < limit; kills++ {
		p := start(t, "change", w.root)
		out, err := p.StdoutPipe()
		must(t, err)
		must(t, p.Start())
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal("the process has not begun")
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		must(t, p.Process.Signal(syscall.SIGKILL))
		if err := p.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the process ended by itself: %v", err)
		}
		entries, err := os.ReadDir(w.root)
		must(t, err)
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".ambit.tmp.") }) {
			dirty++
		}
		// Before anything sweeps: what shows is whole.
		fsys := serve(t, w.root, nil)
		for e, err := range ambit.Walk(ctx, fsys, "/") {
			must(t, err)
			switch e.Info.Path {
			case "/f", "/new", "/d/moved", "/tree/a/f":
				text, _ := read(t, fsys, e.Info.Path)
				if len(text) != killedSize || strings.Trim(text, text[:1]) != "" {
					t.Errorf("%s has %d bytes, not all the same", e.Info.Path, len(text))
				}
			case "/d", "/tree", "/tree/a":
			default:
				t.Errorf("there is %s", e.Info.Path)
			}
		}
		if _, err := os.Stat(w.host("f")); err != nil {
			t.Error("the replaced file is gone")
		}
		// The walk has listed every folder; the next writes take the rest.
		if _, err := os.Stat(w.host("d")); err == nil {
			write(t, fsys, "d/swept", "S", nil)
			must(t, fsys.Remove(ctx, "d/swept", nil))
		}
		write(t, fsys, "swept", "S", nil)
		must(t, fsys.Remove(ctx, "swept", nil))
		leftovers(t, w.root)
		for _, path := range []string{"new", "d/moved", "tree"} {
			must(t, fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true, MissingOK: true}))
		}
	}
	if dirty == 0 {
		t.Errorf("none of %d kills left a temporary name: the test proves nothing", kills)
	}
	t.Logf("%d kills, %d of them left a temporary name", kills, dirty)
}
