// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A scarce disk is one on which something runs out.
type scarce struct {
	name  string
	mount func(t testing.TB, base, dir string)
	// fill uses up what is there of it in dir. What give takes away again is
	// enough for one small file.
	fill func(t testing.TB, dir string)
	// What needs the one or the other has to fail.
	bytes, files, folders bool
}

const filler = "filler"

var scarceDisks = []scarce{
	{"tmpfs without room", mountTmpfs("size=1m"), fillBytes, true, false, false},
	{"ext4 without room", mountImage(1<<20, "mkfs.ext4", "-q", "-F", "-m", "0", "-b", "1024", "-N", "64"), fillBytes, true, false, true},
	{"ext4 with a journal without room", mountImage(4<<20, "mkfs.ext4", "-q", "-F", "-m", "0", "-J", "size=1"), fillBytes, true, false, true},
	{"tmpfs without inodes", mountTmpfs("nr_inodes=40"), fillInodes, false, true, true},
	{"ext4 without inodes", mountImage(1<<20, "mkfs.ext4", "-q", "-F", "-m", "0", "-N", "48"), fillInodes, false, true, true},
	{"btrfs beyond a quota", mountSubvolume, fillBytes, true, false, false},
}

// mountSubvolume mounts a disk that gives 1 MiB to everybody together, root
// too.
func mountSubvolume(t testing.TB, base, dir string) {
	mountImage(256<<20, "mkfs.btrfs", "-q", "-f")(t, base, dir)
	run(t, "btrfs", "quota", "enable", dir)
	run(t, "btrfs", "qgroup", "limit", "2M", dir)
}

// fillBytes makes the filler as large as the disk lets it be.
func fillBytes(t testing.TB, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, filler), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	must(t, err)
	defer f.Close()
	for _, size := range []int{64 << 10, 4096, 1024, 1} {
		for {
			_, err := f.Write(make([]byte, size))
			if err == nil {
				err = f.Sync()
			}
			if err != nil {
				if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
					t.Fatal(err)
				}
				break
			}
		}
	}
	// What the disk keeps for more of one file may do for another one.
	for i := range 30 {
		name := filepath.Join(dir, fmt.Sprintf("small-%d", i))
		if os.WriteFile(name, []byte("x"), 0o666) != nil {
			_ = os.Remove(name)
			break
		}
	}
	for i := range 30 {
		if os.Mkdir(filepath.Join(dir, fmt.Sprintf("folder-%d", i)), 0o777) != nil {
			break
		}
	}
}

// fillInodes makes empty files until there can be no more.
func fillInodes(t testing.TB, dir string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "fillers"), 0o777))
	for i := range 1000 {
		err := os.WriteFile(filepath.Join(dir, "fillers", fmt.Sprint(i)), nil, 0o666)
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		must(t, err)
	}
	t.Fatal("the inodes never ran out")
}

const scarceTree = "f = old\ng = other\nd/\nd/deep/\nd/deep/h = H\ntwo = T\nempty/"

// A needy call is one that may find no room.
type needy struct {
	name                  string
	bytes, files, folders bool // what it cannot do without
	do                    func(fsys *local.FileSystem, v ambit.Precondition) error
	want                  string // when it succeeds "f" has this text; "": another file is what counts
}

var needyCalls = func() []needy {
	// Much is more than the disk has.
	const much = 5 << 20
	some, large := strings.Repeat("N", 9000), func() io.Reader { return bytes.NewReader(make([]byte, much)) }
	write := func(path, text string, o func(v ambit.Precondition) *ambit.WriteOptions) func(*local.FileSystem, ambit.Precondition) error {
		return func(f *local.FileSystem, v ambit.Precondition) error {
			return second(ambit.WriteFile(ctx, f, path, []byte(text), o(v)))
		}
	}
	plain := func(ambit.Precondition) *ambit.WriteOptions { return nil }
	version := func(v ambit.Precondition) *ambit.WriteOptions { return &ambit.WriteOptions{If: v} }
	absent := func(ambit.Precondition) *ambit.WriteOptions { return &ambit.WriteOptions{If: ambit.IfAbsent()} }
	parents := func(ambit.Precondition) *ambit.WriteOptions { return &ambit.WriteOptions{Parents: true, Mode: 0o600} }
	return []needy{
		{"replace", true, true, false, write("f", some, plain), some},
		{"replace if version", true, true, false, write("f", some, version), some},
		{"create", true, true, false, write("new", some, absent), ""},
		{"create beneath new folders", true, true, true, write("d/a/b/c/new", some, parents), ""},
		{"create an empty file", false, true, false, write("new", "", absent), ""},
		{"create an empty file beneath new folders", false, true, true, write("a/b/c/new", "", parents), ""},
		{"write a large file", true, true, false, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Write(ctx, "f", large(), nil))
		}, ""},
		{"append", true, false, false, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Append(ctx, "f", strings.NewReader(some), nil))
		}, "old" + some},
		{"append if version", true, false, false, func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Append(ctx, "f", strings.NewReader(some), &ambit.AppendOptions{If: v}))
		}, "old" + some},
		{"append a large file", true, true, false, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Append(ctx, "f", large(), nil))
		}, ""},
		{"append to nothing", true, true, false, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Append(ctx, "new", strings.NewReader(some), nil))
		}, ""},
		{"stage", true, true, false, func(f *local.FileSystem, _ ambit.Precondition) error {
			s, err := f.Stage(ctx, "f", strings.NewReader(some), nil)
			if err != nil {
				return err
			}
			return second(s.Publish(ctx))
		}, some},
		{"mkdir", false, true, true, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Mkdir(ctx, "new", nil))
		}, ""},
		{"mkdir with parents", false, true, true, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Mkdir(ctx, "d/a/b/c", &ambit.MkdirOptions{Parents: true}))
		}, ""},
		{"rename beneath new folders", false, true, true, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Rename(ctx, "f", "a/b/f", &ambit.RenameOptions{Parents: true}))
		}, ""},
		{"rename if version beneath new folders", false, true, true, func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Rename(ctx, "f", "a/b/f", &ambit.RenameOptions{Parents: true, If: v}))
		}, ""},
		{"rename a folder beneath new ones", false, true, true, func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Rename(ctx, "d", "a/b/d", &ambit.RenameOptions{Parents: true}))
		}, ""},
		{"commit of two writes", true, true, false, func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "f", Content: strings.NewReader(some), If: v},
				{Op: ambit.OpWrite, Path: "g", Content: strings.NewReader(some)},
			}))
		}, some},
		{"commit of a write", true, true, false, func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: "f", Content: strings.NewReader(some), If: v}}))
		}, some},
		{"commit of removals and an empty file beneath new folders", false, true, true, func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Commit(ctx, []ambit.Change{
				{Op: ambit.OpRemove, Path: "f", If: v},
				{Op: ambit.OpRemove, Path: "d/deep/h"},
				{Op: ambit.OpWrite, Path: "a/b/c", Content: strings.NewReader(""), Parents: true},
			}))
		}, ""},
	}
}()

// A call for which there is no room says so and leaves all as it was; what
// needs none of what ran out succeeds; and after a removal there is room.
func TestNoSpace(t *testing.T) {
	for _, d := range scarceDisks {
		for _, s := range openings {
			t.Run(d.name+"/"+s.name, func(t *testing.T) {
				if testing.Short() && s.name != "system" {
					t.Skip("not with -short: the system's own calls are tested")
				}
				var w *world
				for _, c := range needyCalls {
					// What succeeds uses what is to be scarce.
					if w == nil {
						w = d.world(t, s.o(nil))
					}
					if !w.lacks(t, &d, &c) {
						w = nil
					}
				}
				d.world(t, s.o(nil)).relieve(t)
			})
		}
	}
}

// world returns a root on a new disk that is used up.
func (d *scarce) world(t *testing.T, o *local.Options) *world {
	t.Helper()
	base := fastDir(t)
	disk := filepath.Join(base, "disk")
	must(t, os.Mkdir(disk, 0o755))
	d.mount(t, base, disk)
	w := newWorldIn(t, disk, scarceTree)
	must(t, w.fsys.Close())
	w.fsys = serve(t, w.root, o)
	d.fill(t, w.outside)
	return w
}

// lacks makes the call, and reports that it was refused.
func (w *world) lacks(t *testing.T, d *scarce, c *needy) bool {
	t.Helper()
	_, was := read(t, w.fsys, "f")
	before := w.snapshot(t)
	err := c.do(w.fsys, ambit.IfVersion(was.Version))
	needs := d.bytes && c.bytes || d.files && c.files || d.folders && c.folders
	if err == nil {
		if needs {
			t.Errorf("%s succeeds: %q", c.name, clip(difference(before, w.snapshot(t))))
		}
		if text, err := os.ReadFile(w.host("f")); c.want != "" && (err != nil || string(text) != c.want) {
			t.Errorf("%s succeeds, and f has %.30q, %v", c.name, text, err)
		}
		nothingHidden(t, w.root)
		return false
	}
	if ambit.ReasonOf(err) != ambit.ErrNoSpace {
		t.Errorf("%s: %v, want no-space", c.name, err)
	}
	if strings.Contains(err.Error(), filepath.Dir(w.root)) {
		t.Errorf("%s shows the host: %v", c.name, err)
	}
	if diff := difference(before, w.snapshot(t)); diff != nil {
		t.Errorf("%s is refused (%v) and changes %q", c.name, err, clip(diff))
	}
	nothingHidden(t, w.root)
	return true
}

func clip(lines []string) []string {
	short := slices.Clone(lines)
	for i, line := range short {
		if len(line) > 80 {
			short[i] = line[:80] + "…"
		}
	}
	return short
}

// relieve removes something of the disk that is used up, through the library,
// and writes to it.
func (w *world) relieve(t *testing.T) {
	t.Helper()
	fill := serve(t, w.outside, nil)
	_, was := read(t, w.fsys, "g")
	all := &ambit.RemoveOptions{Recursive: true, MissingOK: true}
	for _, c := range []struct {
		name string
		// To leave its name at once it takes another one, for which there may
		// be no room.
		another bool
		do      func() error
	}{
		{"a folder", true, func() error { return w.fsys.Remove(ctx, "d", all) }},
		{"an empty folder", true, func() error { return w.fsys.Remove(ctx, "empty", all) }},
		{"a file by version", true, func() error {
			return w.fsys.Remove(ctx, "g", &ambit.RemoveOptions{If: ambit.IfVersion(was.Version)})
		}},
		{"a file", false, func() error { return w.fsys.Remove(ctx, "two", nil) }},
		{"the filler", false, func() error { return fill.Remove(ctx, filler, &ambit.RemoveOptions{MissingOK: true}) }},
		{"the folder of fillers", false, func() error { return fill.Remove(ctx, "fillers", all) }},
	} {
		before := w.snapshot(t)
		err := c.do()
		if err == nil {
			continue
		}
		if t.Logf("the removal of %s: %v", c.name, err); !c.another || ambit.ReasonOf(err) != ambit.ErrNoSpace {
			t.Errorf("the removal of %s: %v", c.name, err)
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("the removal of %s: %v, and it changes %q", c.name, err, clip(diff))
		}
	}
	text := strings.Repeat("N", 9000)
	_, info := read(t, w.fsys, "f")
	write(t, w.fsys, "f", text, &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	write(t, w.fsys, "d/x/new", text, &ambit.WriteOptions{Parents: true})
	for _, path := range []string{"f", "d/x/new"} {
		if got, _ := read(t, w.fsys, path); got != text {
			t.Errorf("after the removals %s has %.30q", path, got)
		}
	}
	nothingHidden(t, w.root)
	nothingHidden(t, w.outside)
}

// An append for a part of which there is room is cut back.
func TestAppendIsCutBack(t *testing.T) {
	for _, d := range scarceDisks {
		if !d.bytes {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			if d.name == "btrfs beyond a quota" {
				t.Skip("there a file cannot even be made smaller any more")
			}
			if d.name == "btrfs beyond a quota" {
				t.Skip("there a file cannot even be made smaller any more")
			}
			w := d.world(t, nil)
			must(t, os.Truncate(filepath.Join(w.outside, filler), max(0, size(t, filepath.Join(w.outside, filler))-3*4096)))
			before := w.snapshot(t)
			_, err := w.fsys.Append(ctx, "f", bytes.NewReader(make([]byte, 200_000)), nil)
			if ambit.ReasonOf(err) != ambit.ErrNoSpace {
				t.Errorf("Append: %v", err)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("it changes %q", clip(diff))
			}
			// The positive control: there was room for a part.
			_, err = w.fsys.Append(ctx, "f", bytes.NewReader(make([]byte, 2000)), nil)
			must(t, err)
		})
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// What was staged while there was room is published without any.
func TestPublishWithoutSpace(t *testing.T) {
	for _, d := range scarceDisks {
		t.Run(d.name, func(t *testing.T) {
			base := fastDir(t)
			disk := filepath.Join(base, "disk")
			must(t, os.Mkdir(disk, 0o755))
			d.mount(t, base, disk)
			w := newWorldIn(t, disk, scarceTree)
			_, was := read(t, w.fsys, "f")
			stage := func(path string, o *ambit.WriteOptions) ambit.Staged {
				s, err := w.fsys.Stage(ctx, path, strings.NewReader("N"), o)
				must(t, err)
				return s
			}
			replaced := stage("f", &ambit.WriteOptions{If: ambit.IfVersion(was.Version)})
			simply := stage("g", nil)
			beneath := stage("a/b/new", &ambit.WriteOptions{Parents: true})
			d.fill(t, w.outside)
			before := w.snapshot(t)
			_, err := beneath.Publish(ctx)
			switch reason := ambit.ReasonOf(err); {
			case err == nil && d.folders:
				t.Error("Publish makes folders of nothing")
			case err != nil && reason != ambit.ErrNoSpace:
				t.Errorf("Publish beneath new folders: %v", err)
			case err != nil:
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("Publish beneath new folders: %v, and changes %q", err, clip(diff))
				}
			}
			for path, s := range map[string]ambit.Staged{"f": replaced, "g": simply} {
				before := w.snapshot(t)
				_, err := s.Publish(ctx)
				if err != nil {
					t.Logf("%s: %v", path, err)
					if ambit.ReasonOf(err) != ambit.ErrNoSpace {
						t.Errorf("Publish of %s: %v", path, err)
					}
					if diff := difference(before, w.snapshot(t)); diff != nil {
						t.Errorf("Publish of %s: %v, and changes %q", path, err, clip(diff))
					}
					continue
				}
				if text, _ := read(t, w.fsys, path); text != "N" {
					t.Errorf("%s has %q", path, text)
				}
			}
			nothingHidden(t, w.root)
		})
	}
}

// treeOf lists the files and folders beneath root, hidden ones too.
func treeOf(root string) (lines []string) {
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			lines = append(lines, err.Error())
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				data = []byte(err.Error())
			}
			lines = append(lines, fmt.Sprintf("%s = %.60s", path[len(root)+1:], data))
		case path != root:
			lines = append(lines, path[len(root)+1:]+"/")
		}
		return nil
	})
	return lines
}

// Of a disk that is mounted for reading alone all can be read and nothing
// changed: by one that is opened on it, and by one that was open before.
func TestReadOnlyDisk(t *testing.T) {
	for _, m := range media {
		for _, s := range openings {
			t.Run(m.name+"/"+s.name, func(t *testing.T) {
				base := fastDir(t)
				disk := filepath.Join(base, "disk")
				must(t, os.Mkdir(disk, 0o755))
				m.mount(t, base, disk)
				w := newWorldIn(t, disk, scarceTree+"\nlink -> f\nout -> $OUT/x")
				must(t, w.fsys.Close())
				w.fsys = serve(t, w.root, s.o(nil))
				// A leftover is nothing to complain of.
				must(t, os.WriteFile(w.host(".ambit.tmp.0123456789abcdef0123456789abcdef"), nil, 0o666))
				staged, err := w.fsys.Stage(ctx, "f", strings.NewReader("N"), nil)
				must(t, err)
				must(t, staged.Discard(ctx)) // nothing can be mounted anew that is being written to
				must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
				before := w.snapshot(t)
				fresh, err := local.New(w.root, s.o(nil))
				must(t, err)
				t.Cleanup(func() { fresh.Close() })
				for which, fsys := range map[string]*local.FileSystem{"before": w.fsys, "after": fresh} {
					info, err := fsys.Stat(ctx, "f")
					must(t, err)
					v := ambit.IfVersion(info.Version)
					for _, c := range needyCalls {
						if err := c.do(fsys, v); ambit.ReasonOf(err) != ambit.ErrReadOnly {
							t.Errorf("opened %s, %s: %v", which, c.name, err)
						}
					}
					for name, err := range map[string]error{
						"remove":             fsys.Remove(ctx, "f", nil),
						"remove if version":  fsys.Remove(ctx, "f", &ambit.RemoveOptions{If: v}),
						"remove a link":      fsys.Remove(ctx, "out", nil),
						"remove a folder":    fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}),
						"remove and missing": fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true, MissingOK: true}),
						"rename":             second(fsys.Rename(ctx, "f", "h", nil)),
						"rename over":        second(fsys.Rename(ctx, "f", "g", &ambit.RenameOptions{Replace: true})),
						"rename if version":  second(fsys.Rename(ctx, "f", "h", &ambit.RenameOptions{If: v})),
						"rename a folder":    second(fsys.Rename(ctx, "d", "e", nil)),
						"append nothing":     second(fsys.Append(ctx, "f", strings.NewReader(""), nil)),
						"commit a removal":   second(fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: "f"}})),
						"write over a link":  second(ambit.WriteFile(ctx, fsys, "link", nil, nil)),
					} {
						if ambit.ReasonOf(err) != ambit.ErrReadOnly {
							t.Errorf("opened %s, %s: %v", which, name, err)
						} else if strings.Contains(err.Error(), base) {
							t.Errorf("opened %s, %s shows the host: %v", which, name, err)
						}
					}
					// What is wrong anyhow is told, as everywhere.
					for name, c := range map[string]struct {
						err  error
						want ambit.Reason
					}{
						"create over":       {second(ambit.WriteFile(ctx, fsys, "f", nil, &ambit.WriteOptions{If: ambit.IfAbsent()})), ambit.ErrExists},
						"out of the root":   {second(ambit.WriteFile(ctx, fsys, "../x", nil, nil)), ambit.ErrOutside},
						"mkdir that exists": {second(fsys.Mkdir(ctx, "d", nil)), ambit.ErrExists},
					} {
						if got := ambit.ReasonOf(c.err); got != c.want && got != ambit.ErrReadOnly {
							t.Errorf("opened %s, %s: %v", which, name, c.err)
						}
					}
					if text, _ := read(t, fsys, "link"); text != "old" {
						t.Errorf("opened %s, f has %q", which, text)
					}
					if got := names(t, fsys, "/"); !slices.Equal(got, []string{"d", "empty", "f", "g", "link", "out", "two"}) {
						t.Errorf("opened %s, there is %q", which, got)
					}
				}
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("there changed %q", diff)
				}
				must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT, ""))
				write(t, w.fsys, "f", "N", nil)
				nothingHidden(t, w.root)
			})
		}
	}
}

// A process that may not write more than some bytes to a file is told so, and
// lives.
func TestFileSizeLimit(t *testing.T) {
	for _, s := range openings {
		t.Run(s.name, func(t *testing.T) {
			command := start(t, "filesize", t.TempDir())
			command.Stderr = nil
			command.Env = append(command.Env, "AMBIT_STRATEGY="+s.name)
			out, err := command.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("filesize: done")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func init() {
	roles["filesize"] = func(dir string) {
		root := filepath.Join(dir, "root")
		if err := errors.Join(os.Mkdir(root, 0o755), os.WriteFile(filepath.Join(root, "f"), []byte("old"), 0o666), os.WriteFile(filepath.Join(root, "g"), []byte("other"), 0o666)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fsys, err := local.New(root, roleOptions())
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5000, Max: 5000})
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		failed := false
		for _, c := range needyCalls {
			if !c.bytes {
				continue
			}
			info, err := fsys.Stat(ctx, "f")
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			before := treeOf(root)
			err = c.do(fsys, ambit.IfVersion(info.Version))
			reason := ambit.ReasonOf(err)
			if reason != ambit.ErrTooLarge && !(reason == ambit.ErrNotFound && strings.Contains(c.name, "folders")) {
				failed = true
				fmt.Printf("%s: %v\n", c.name, err)
			}
			if after := treeOf(root); !slices.Equal(before, after) {
				failed = true
				fmt.Printf("%s: %v, and there is %q\n", c.name, err, after)
			}
		}
		if _, err := ambit.WriteFile(ctx, fsys, "f", make([]byte, 5000), nil); err != nil {
			failed = true
			fmt.Printf("a file as large as may be: %v\n", err)
		}
		if failed {
			os.Exit(1)
		}
		fmt.Println("filesize: done")
	}
}

// A disk that is taken away while it is in use ends nothing but its own calls:
// one that is unmounted lazily works for whoever has it open, and one that is
// shut down answers io.
func TestDiskGoesAway(t *testing.T) {
	for _, s := range openings {
		t.Run("unmounted/"+s.name, func(t *testing.T) {
			m := &media[1]
			base := fastDir(t)
			disk := filepath.Join(base, "disk")
			must(t, os.Mkdir(disk, 0o755))
			m.mount(t, base, disk)
			w := newWorldIn(t, disk, scarceTree)
			must(t, w.fsys.Close())
			w.fsys = serve(t, w.root, s.o(nil))
			staged, err := w.fsys.Stage(ctx, "d/new", strings.NewReader("N"), nil)
			must(t, err)
			open, err := w.fsys.Open(ctx, "g")
			must(t, err)
			defer open.Close()
			must(t, syscall.Unmount(disk, syscall.MNT_DETACH))
			if _, err := os.Stat(w.root); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("it is still there: %v", err)
			}
			for name, err := range map[string]error{
				"verify":  open.Verify(ctx),
				"publish": second(staged.Publish(ctx)),
				"write":   second(ambit.WriteFile(ctx, w.fsys, "a/b/f", []byte("N"), &ambit.WriteOptions{Parents: true})),
				"append":  second(w.fsys.Append(ctx, "f", strings.NewReader("+"), nil)),
				"rename":  second(w.fsys.Rename(ctx, "two", "d/two", nil)),
				"mkdir":   second(w.fsys.Mkdir(ctx, "x/y", &ambit.MkdirOptions{Parents: true})),
				"commit": second(w.fsys.Commit(ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "g", Content: strings.NewReader("G")},
					{Op: ambit.OpWrite, Path: "k/l", Content: strings.NewReader("L"), Parents: true},
				})),
				"remove": w.fsys.Remove(ctx, "empty", &ambit.RemoveOptions{Recursive: true}),
				"list":   second(w.fsys.List(ctx, "/", nil)),
			} {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if text, _ := read(t, w.fsys, "f"); text != "old+" {
				t.Errorf("f has %q", text)
			}
			if err := open.Verify(ctx); ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Errorf("Verify after a commit: %v", err)
			}
			if _, err := local.New(w.root, s.o(nil)); ambit.ReasonOf(err) != ambit.ErrNotFound {
				t.Errorf("New: %v", err)
			}
			// All of it is on the disk.
			must(t, w.fsys.Close())
			open.Close()
			for begun := time.Now(); ; {
				// It is free once the kernel has let go of it.
				if out, err := mountAgain(filepath.Join(base, "image"), disk); err == nil {
					break
				} else if time.Since(begun) > 5*time.Second {
					t.Fatalf("%v %s", err, out)
				}
				time.Sleep(20 * time.Millisecond)
			}
			nothingHidden(t, w.root)
			again := serve(t, w.root, s.o(nil))
			for path, want := range map[string]string{"f": "old+", "g": "G", "k/l": "L", "d/new": "N", "a/b/f": "N", "d/two": "T"} {
				if text, _ := read(t, again, path); text != want {
					t.Errorf("%s has %q", path, text)
				}
			}
		})
		for _, m := range media {
			if m.name != "ext4" && m.name != "xfs" {
				continue
			}
			t.Run("shut down/"+m.name+"/"+s.name, func(t *testing.T) {
				base := fastDir(t)
				disk := filepath.Join(base, "disk")
				must(t, os.Mkdir(disk, 0o755))
				m.mount(t, base, disk)
				w := newWorldIn(t, disk, scarceTree)
				must(t, w.fsys.Close())
				w.fsys = serve(t, w.root, s.o(nil))
				_, info := read(t, w.fsys, "f")
				staged, err := w.fsys.Stage(ctx, "g", strings.NewReader("N"), nil)
				must(t, err)
				open, err := w.fsys.Open(ctx, "g")
				must(t, err)
				defer open.Close()
				syscall.Sync()
				cutPower(t, disk)
				for _, c := range needyCalls {
					if err := c.do(w.fsys, ambit.IfVersion(info.Version)); ambit.ReasonOf(err) != ambit.ErrIO {
						t.Errorf("%s: %v", c.name, err)
					} else if strings.Contains(err.Error(), base) {
						t.Errorf("%s shows the host: %v", c.name, err)
					}
				}
				for name, err := range map[string]error{
					"publish":         second(staged.Publish(ctx)),
					"rename":          second(w.fsys.Rename(ctx, "two", "x", nil)),
					"remove":          w.fsys.Remove(ctx, "two", nil),
					"remove a folder": w.fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true}),
				} {
					if ambit.ReasonOf(err) != ambit.ErrIO {
						t.Errorf("%s: %v", name, err)
					}
				}
				// What is in memory may still be read; nothing else is made up.
				if data, _, err := ambit.ReadFile(ctx, w.fsys, "f"); err != nil && ambit.ReasonOf(err) != ambit.ErrIO || err == nil && string(data) != "old" {
					t.Errorf("read: %q, %v", data, err)
				}
				if _, err := w.fsys.List(ctx, "/", nil); err != nil && ambit.ReasonOf(err) != ambit.ErrIO {
					t.Errorf("list: %v", err)
				}
			})
		}
	}
}
