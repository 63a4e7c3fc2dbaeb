// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

// soaking says that there is time for all: AMBIT_SOAK is set.
func soaking() bool { return os.Getenv("AMBIT_SOAK") != "" && !testing.Short() }

// A medium is a kind of disk that is made for a test.
type medium struct {
	name string
	// mount mounts a new one at dir; base is a folder for what it needs.
	mount func(t testing.TB, base, dir string)
	// What is claimed on it with the system's own calls. With os.Root alone
	// Swap is exact, and all else is the same.
	swap         ambit.SwapLevel
	atomicRemove bool
}

var media = []medium{
	{"tmpfs", mountTmpfs(""), ambit.SwapForeign, true},
	{"ext4", mountImage(32<<20, "mkfs.ext4", "-q", "-F"), ambit.SwapForeign, true},
	{"ext4 with whole seconds", mountImage(32<<20, "mkfs.ext4", "-q", "-F", "-I", "128"), ambit.SwapForeign, true},
	{"xfs", mountImage(320<<20, "mkfs.xfs", "-q", "-f"), ambit.SwapForeign, true},
	{"btrfs", mountImage(256<<20, "mkfs.btrfs", "-q", "-f"), ambit.SwapForeign, true},
	{"vfat", mountImage(32<<20, "mkfs.vfat"), ambit.SwapExact, true},
	{"ramfs", func(t testing.TB, _, dir string) { mountWith(t, "ramfs", dir, "ramfs", 0, "mode=755") }, ambit.SwapExact, true},
	{"overlay", mountOverlay, ambit.SwapForeign, false},
	{"overlay of two disks", mountOverlayOfTwo, ambit.SwapForeign, false},
}

// mountWith mounts something for this test. The test cannot end well with
// anything on it still open.
func mountWith(t testing.TB, source, dir, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, dir, kind, flags, data); err != nil {
		t.Skipf("no %s can be mounted here: %v", kind, err)
	}
	t.Cleanup(func() { unmount(t, dir) })
}

func unmount(t testing.TB, dir string) {
	t.Helper()
	err := syscall.Unmount(dir, 0)
	for begun := time.Now(); err == syscall.EBUSY && time.Since(begun) < 5*time.Second; err = syscall.Unmount(dir, 0) {
		runtime.GC() // what nobody closes, as a Sub, is closed with it
		time.Sleep(5 * time.Millisecond)
	}
	if err == syscall.EINVAL {
		return // the test has done it
	}
	if err != nil {
		t.Errorf("something on the disk is still in use: %v", err)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	}
}

func mountTmpfs(options string) func(t testing.TB, base, dir string) {
	return func(t testing.TB, _, dir string) { mountWith(t, "tmpfs", dir, "tmpfs", 0, options) }
}

// mountImage mounts a file of this many bytes that the command has formatted.
func mountImage(size int64, format ...string) func(t testing.TB, base, dir string) {
	return func(t testing.TB, base, dir string) {
		t.Helper()
		image := filepath.Join(base, "image")
		must(t, os.WriteFile(image, nil, 0o666))
		must(t, os.Truncate(image, size))
		run(t, append(format, image)...)
		mountLoop(t, image, dir)
	}
}

func mountLoop(t testing.TB, image, dir string) {
	t.Helper()
	run(t, "mount", "-o", "loop", image, dir)
	t.Cleanup(func() { unmount(t, dir) })
}

// mountAgain mounts an image that was mounted before: what the test has
// cleaned up then is cleaned up again.
func mountAgain(image, dir string) ([]byte, error) {
	return exec.Command("mount", "-o", "loop", image, dir).CombinedOutput()
}

// run runs a tool of the system that the test cannot do without.
func run(t testing.TB, command ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v %s", strings.Join(command, " "), err, out)
	}
}

func mountOverlay(t testing.TB, base, dir string) {
	overlayAt(t, filepath.Join(base, "lower"), filepath.Join(base, "over"), dir)
}

// Where the layers lie on two disks, a file that comes up from the lower one
// gets another inode number.
func mountOverlayOfTwo(t testing.TB, base, dir string) {
	lower := filepath.Join(base, "lower")
	must(t, os.Mkdir(lower, 0o777))
	mountImage(32<<20, "mkfs.ext4", "-q", "-F")(t, base, lower)
	overlayAt(t, lower, filepath.Join(base, "over"), dir)
}

func overlayAt(t testing.TB, lower, over, dir string) {
	t.Helper()
	for _, dir := range []string{lower, over + "/upper", over + "/work"} {
		must(t, os.MkdirAll(dir, 0o777))
	}
	mountWith(t, "overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work,redirect_dir=off", lower, over, over))
}

// dir returns a folder on a new disk that everybody may use.
func (m *medium) dir(t testing.TB) string {
	t.Helper()
	base := fastDir(t)
	must(t, os.Chmod(base, 0o755))
	dir := filepath.Join(base, "disk")
	must(t, os.Mkdir(dir, 0o755))
	m.mount(t, base, dir)
	dir = filepath.Join(dir, "top")
	must(t, os.Mkdir(dir, 0o777))
	must(t, os.Chmod(dir, 0o777))
	return dir
}

// openings are the ways to open, with what they make of a level of Swap.
var openings = []struct {
	name string
	o    func(*local.Options) *local.Options
	swap func(ambit.SwapLevel) ambit.SwapLevel
}{
	{"system", func(o *local.Options) *local.Options { return o }, func(l ambit.SwapLevel) ambit.SwapLevel { return l }},
	{"portable", local.Portable, func(l ambit.SwapLevel) ambit.SwapLevel { return min(l, ambit.SwapExact) }},
}

// onMedia runs test once for each disk and each way to open.
func onMedia(t *testing.T, test func(t *testing.T, m *medium, strategy int)) {
	for i := range media {
		for s, strategy := range openings {
			t.Run(media[i].name+"/"+strategy.name, func(t *testing.T) { test(t, &media[i], s) })
		}
	}
}

// The suite holds on every disk. TestConformance has run it on tmpfs; what
// else is run without AMBIT_SOAK is what is likely to differ.
func TestConformanceOnDisks(t *testing.T) {
	usual := map[string][]conformance.Level{
		"ext4/system":    {},
		"overlay/system": {conformance.LevelWrite, conformance.LevelHostile},
		"ramfs/system":   {conformance.LevelWrite},
	}
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		s := openings[strategy]
		levels, ok := usual[m.name+"/"+s.name]
		switch {
		case soaking():
			levels = nil
		case testing.Short():
			t.Skip("not with -short: the suite has been run on tmpfs")
		case !ok:
			t.Skip("only with AMBIT_SOAK=1: the suite has been run on tmpfs, and ext4 and overlays differ most from it")
		}
		conformAt(t, target(m.dir(t), s.o(nil)), levels...)
	})
}

// The same with what is served in the lower layer of an overlay.
func TestConformanceInALowerLayer(t *testing.T) {
	for _, way := range []struct {
		name          string
		two, redirect bool
	}{{"folders move", false, true}, {"folders stay", false, false}, {"two disks", true, true}} {
		for s, strategy := range openings {
			t.Run(way.name+"/"+strategy.name, func(t *testing.T) {
				levels := []conformance.Level{conformance.LevelWrite, conformance.LevelHostile}
				switch {
				case soaking():
					levels = nil
				case testing.Short():
					t.Skip("not with -short: each check mounts an overlay")
				case way.two || !way.redirect || s > 0:
					t.Skip("only with AMBIT_SOAK=1: one disk and the system's calls are what is met most")
				}
				lower := lowerTarget(t, way.two, way.redirect, strategy.o(nil))
				if !way.redirect {
					lower.Waivers = foldersStay
				}
				conformAt(t, lower, levels...)
			})
		}
	}
}

// An overlay that makes no redirections gives a folder of its lower layer no
// other name: Rename of one is cross-device.
var foldersStay = map[string]conformance.Waiver{
	"core/verify-after-rename":     {Why: "it renames a folder of the lower layer"},
	"write/rename-keeps-mode":      {Why: "it renames a folder of the lower layer"},
	"write/rename-folder":          {Why: "it renames a folder of the lower layer"},
	"write/rename-siblings":        {Why: "it renames a folder of the lower layer"},
	"write/rename-parents":         {Why: "it renames a folder of the lower layer"},
	"write/rename-large":           {Why: "it renames a folder of the lower layer"},
	"write/rename-and-write-again": {Why: "it renames a folder of the lower layer"},
	"hostile/guard-asked":          {Why: "it renames a folder of the lower layer"},
}

// lowerTarget lays an overlay over what a check has been given.
func lowerTarget(t *testing.T, two, redirect bool, o *local.Options) conformance.Target {
	base := fastDir(t)
	lower, over := filepath.Join(base, "lower"), filepath.Join(base, "over")
	must(t, errors.Join(os.Mkdir(lower, 0o777), os.Mkdir(over, 0o777)))
	if two {
		mountImage(64<<20, "mkfs.ext4", "-q", "-F")(t, base, lower)
	}
	probe := filepath.Join(base, "probe")
	must(t, os.Mkdir(probe, 0o777))
	overlayAt(t, probe, filepath.Join(base, "probed"), probe) // skips where there are none
	var mu sync.Mutex
	clients := make(map[string]int)
	return conformance.FolderTarget("local in a lower layer", lower, func(root string) (ambit.FileSystem, error) {
		mu.Lock()
		defer mu.Unlock()
		scratch := filepath.Dir(root)
		if clients[root] == 0 {
			own := filepath.Join(over, filepath.Base(scratch))
			err := errors.Join(os.MkdirAll(own+"/upper", 0o777), os.MkdirAll(own+"/work", 0o777))
			if err == nil {
				err = syscall.Mount("overlay", scratch, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work,redirect_dir=%s", scratch, own, own, map[bool]string{true: "on", false: "off"}[redirect]))
			}
			if err != nil {
				return nil, err
			}
		}
		fsys, err := local.New(root, o)
		if err != nil {
			return nil, err
		}
		clients[root]++
		return &mapped{fsys, closer(func() error {
			mu.Lock()
			defer mu.Unlock()
			err := fsys.Close()
			if clients[root]--; clients[root] == 0 {
				err = errors.Join(err, syscall.Unmount(scratch, syscall.MNT_DETACH))
			}
			return err
		})}, nil
	})
}

type closer func() error

func (c closer) Close() error { return c() }

func conformAt(t *testing.T, target conformance.Target, levels ...conformance.Level) {
	t.Helper()
	report := conformance.Test(t, target, &conformance.Options{Levels: levels, Deadline: 2 * time.Minute})
	for _, r := range report.Results {
		if r.Outcome == conformance.Waived && !strings.Contains(r.Detail, "cross-device") || r.Outcome == conformance.NotRun {
			t.Errorf("%s: %v, %s", r.ID, r.Outcome, r.Detail)
		}
	}
	if report.Grade() == conformance.Failed || len(report.Results) == 0 {
		t.Errorf("%s", report)
	}
}

// The suite as a user to whom permission bits mean something.
func TestConformanceOnDisksAsNobody(t *testing.T) {
	usual := map[string]bool{"ext4/system": true, "overlay/system": true}
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		switch {
		case os.Geteuid() != 0:
			t.Skip("only root can mount a disk and start a process of another user")
		case soaking():
		case testing.Short():
			t.Skip("not with -short")
		case !usual[m.name+"/"+openings[strategy].name]:
			t.Skip("only with AMBIT_SOAK=1: the suite has been run as root, and by nobody on tmpfs, ext4 and an overlay")
		}
		levels := "write"
		if soaking() {
			levels = "core write hostile concurrent"
		}
		out, err := asUser(t, nobody, "conform", m.dir(t), "AMBIT_LEVELS="+levels, "AMBIT_STRATEGY="+openings[strategy].name).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte(": full: ")) {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func init() {
	roles["conform"] = func(dir string) {
		o := &conformance.Options{Deadline: 2 * time.Minute}
		for level := range strings.FieldsSeq(os.Getenv("AMBIT_LEVELS")) {
			o.Levels = append(o.Levels, conformance.Level(level))
		}
		report := conformance.Run(ctx, target(dir, roleOptions()), o)
		fmt.Println(report)
		if report.Grade() != conformance.Full {
			os.Exit(1)
		}
	}
}

func roleOptions() *local.Options {
	for _, s := range openings {
		if s.name == os.Getenv("AMBIT_STRATEGY") {
			return s.o(nil)
		}
	}
	panic("no such strategy")
}

// asUser prepares a process of another user in a role.
func asUser(t testing.TB, user uint32, role, dir string, environment ...string) *exec.Cmd {
	t.Helper()
	// The binary lies where only its owner may search, and so does what
	// TempDir returns.
	private := t.TempDir()
	must(t, os.Chmod(filepath.Dir(private), 0o755))
	binary := filepath.Join(private, "test")
	in, err := os.Open(testBinary(t))
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(binary, os.O_WRONLY|os.O_CREATE, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, errors.Join(err, out.Close(), os.Chmod(binary, 0o755)))
	command := start(t, role, dir)
	command.Path, command.Args[0], command.Stderr = binary, binary, nil
	command.Dir = dir
	command.Env = append(append(command.Env, "TMPDIR="+dir), environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	return command
}

// What is claimed on each disk is what is known of it.
func TestClaimsOnDisks(t *testing.T) {
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		s := openings[strategy]
		fsys := serve(t, m.dir(t), s.o(nil))
		c := fsys.Capabilities()
		if want := s.swap(m.swap); c.Swap != want {
			t.Errorf("Swap is %v, want %v", c.Swap, want)
		}
		if c.AtomicRemove != m.atomicRemove {
			t.Errorf("AtomicRemove is %v, want %v", c.AtomicRemove, m.atomicRemove)
		}
		if inMemory := m.name == "tmpfs" || m.name == "ramfs"; c.Durable == inMemory {
			t.Errorf("Durable is %v", c.Durable)
		}
		if !c.Versions || !c.Identity || !c.AtomicReplace || !c.AtomicCommit || !c.KeepsMode || !c.Confined {
			t.Errorf("something is not claimed: %+v", c)
		}
	})
}

// strangeReplacements lets a stranger put one file after another in the place
// of "f" by rename, while this library replaces what it has seen there with the
// same and an L. Each file of the stranger's has to be seen. It returns how many were
// put there, how many were lost, and how often the library was the faster.
func strangeReplacements(t *testing.T, fsys *local.FileSystem, dir string, enough time.Duration) (put, lost, won int) {
	t.Helper()
	var stop atomic.Bool
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("S0 "), 0o666))
	var wins atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			data, info, err := ambit.ReadFile(ctx, fsys, "f")
			if err != nil {
				if ambit.ReasonOf(err) != ambit.ErrChanged {
					t.Errorf("ReadFile: %v", err)
				}
				continue
			}
			text := strings.TrimRight(string(data), "L") + strings.Repeat("L", rand.IntN(40))
			_, err = ambit.WriteFile(ctx, fsys, "f", []byte(text), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
			switch ambit.ReasonOf(err) {
			case "":
				wins.Add(1)
			case ambit.ErrChanged:
			default:
				t.Errorf("WriteFile: %v", err)
			}
		}
	})
	for end := time.Now().Add(enough); time.Now().Before(end); {
		put++
		text := fmt.Sprintf("S%d ", put)
		must(t, os.WriteFile(filepath.Join(dir, "stranger"), []byte(text), 0o666))
		must(t, os.Rename(filepath.Join(dir, "stranger"), filepath.Join(dir, "f")))
		// Until a losing publication is put back others can see it.
		for begun := time.Now(); ; {
			data, err := os.ReadFile(filepath.Join(dir, "f"))
			must(t, err)
			if strings.HasPrefix(string(data), text) {
				break
			}
			if time.Since(begun) > 300*time.Millisecond {
				lost++
				break
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	return put, lost, int(wins.Load())
}

// Where Swap is foreign, no file that another program puts in place is lost.
// Where it is only exact, one can be, or the claim would be too small.
func TestSwapOnDisks(t *testing.T) {
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		dir := m.dir(t)
		fsys := serve(t, dir, openings[strategy].o(&local.Options{Durability: local.NotDurable}))
		enough := 300 * time.Millisecond
		if soaking() {
			enough = 5 * time.Second
		}
		put, lost, won := 0, 0, 0
		// On a busy machine the stranger may be the only one who comes to anything.
		for range 20 {
			p, l, w := strangeReplacements(t, fsys, dir, enough)
			put, lost, won = put+p, lost+l, won+w
			if won > 0 {
				break
			}
		}
		t.Logf("%d files put in place by a stranger, %d lost, %d conditional replacements", put, lost, won)
		if foreign := fsys.Capabilities().Swap == ambit.SwapForeign; foreign && lost > 0 {
			t.Errorf("Swap is foreign, and %d of %d files were lost", lost, put)
		}
		if put == 0 || won == 0 {
			t.Errorf("nothing happened: %d put in place, %d replaced", put, won)
		}
		leftovers(t, dir)
	})
}

// Where AtomicRemove is claimed, a folder is seen whole or not at all.
func TestAtomicRemoveOnDisks(t *testing.T) {
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		dir := m.dir(t)
		fsys := serve(t, dir, openings[strategy].o(&local.Options{Durability: local.NotDurable}))
		parts := partsSeen(t, fsys, filepath.Join(dir, "tree"), func() { fillFolder(t, filepath.Join(dir, "tree")) })
		if parts > 0 {
			t.Errorf("%d times a part of the folder was seen at its name", parts)
		}
		leftovers(t, dir)
	})
	// The control, and why it is not claimed on an overlay.
	t.Run("in a lower layer", func(t *testing.T) {
		base := fastDir(t)
		lower, dir := filepath.Join(base, "lower"), filepath.Join(base, "disk")
		must(t, errors.Join(os.Mkdir(lower, 0o777), os.Mkdir(dir, 0o777)))
		for i := range 20 {
			fillFolder(t, filepath.Join(lower, fmt.Sprint(i)))
		}
		overlayAt(t, lower, filepath.Join(base, "over"), dir)
		fsys := serve(t, dir, &local.Options{Durability: local.NotDurable})
		parts, i := 0, 0
		for ; i < 20 && parts == 0; i++ {
			parts += partsOf(t, fsys, filepath.Join(dir, fmt.Sprint(i)))
		}
		if parts == 0 {
			t.Error("no part was ever seen: the watcher sees nothing")
		}
	})
}

const partsInFolder = 150

func fillFolder(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o777))
	for i := range partsInFolder {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o666))
	}
}

func partsSeen(t *testing.T, fsys *local.FileSystem, tree string, fill func()) (parts int) {
	t.Helper()
	for range 10 {
		fill()
		parts += partsOf(t, fsys, tree)
	}
	return parts
}

// partsOf removes the folder and returns how often a part of it was seen under
// its name.
func partsOf(t *testing.T, fsys *local.FileSystem, tree string) (parts int) {
	t.Helper()
	ready, done := make(chan struct{}), make(chan int)
	go func() {
		n, looks := 0, 0
		for ; ; looks++ {
			if looks == 1 {
				close(ready)
			}
			f, err := os.Open(tree)
			if err != nil {
				break // it is gone
			}
			names, err := f.Readdirnames(-1)
			opened, statErr := f.Stat()
			f.Close()
			if err != nil || statErr != nil || len(names) == partsInFolder {
				continue
			}
			// It may have left its name before it was read.
			if now, err := os.Stat(tree); err == nil && os.SameFile(now, opened) {
				n++
			}
		}
		if looks < 1 {
			close(ready)
		}
		done <- n
	}()
	<-ready
	must(t, fsys.Remove(ctx, filepath.Base(tree), &ambit.RemoveOptions{Recursive: true}))
	return <-done
}

// Every change of a file through the library gives it a version that the path
// never had, however coarse the disk's clock is.
func TestVersionsOnDisks(t *testing.T) {
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		dir := m.dir(t)
		fsys := serve(t, dir, openings[strategy].o(&local.Options{Durability: local.NotDurable, HardLinks: local.HardLinksBroken}))
		random := rand.New(rand.NewPCG(1, 2))
		same := func() io.Reader { return strings.NewReader(string(rune('a' + random.IntN(26)))) } // always one byte
		now := write(t, fsys, "f", "0", nil).Info
		seen := map[ambit.Version]string{now.Version: "the first write"}
		changes := []struct {
			name string
			do   func() (ambit.FileInfo, error)
		}{
			{"write", func() (ambit.FileInfo, error) {
				r, err := fsys.Write(ctx, "f", same(), nil)
				return r.Info, err
			}},
			{"write if version", func() (ambit.FileInfo, error) {
				r, err := fsys.Write(ctx, "f", same(), &ambit.WriteOptions{If: ambit.IfVersion(now.Version)})
				return r.Info, err
			}},
			{"remove and create", func() (ambit.FileInfo, error) {
				if err := fsys.Remove(ctx, "f", nil); err != nil {
					return now, err
				}
				r, err := fsys.Write(ctx, "f", same(), &ambit.WriteOptions{If: ambit.IfAbsent()})
				return r.Info, err
			}},
			{"remove if version and create", func() (ambit.FileInfo, error) {
				if err := fsys.Remove(ctx, "f", &ambit.RemoveOptions{If: ambit.IfVersion(now.Version)}); err != nil {
					return now, err
				}
				r, err := fsys.Write(ctx, "f", same(), &ambit.WriteOptions{If: ambit.IfAbsent()})
				return r.Info, err
			}},
			{"append nothing", func() (ambit.FileInfo, error) {
				r, err := fsys.Append(ctx, "f", strings.NewReader(""), nil)
				return r.Info, err
			}},
			{"append to an empty one", func() (ambit.FileInfo, error) {
				if _, err := fsys.Write(ctx, "f", strings.NewReader(""), nil); err != nil {
					return now, err
				}
				r, err := fsys.Append(ctx, "f", same(), nil)
				return r.Info, err
			}},
			{"append to one with two names", func() (ambit.FileInfo, error) {
				r, err := fsys.Write(ctx, "f", strings.NewReader(""), nil)
				if err != nil {
					return now, err
				}
				_ = os.Remove(filepath.Join(dir, "g"))
				if err := os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")); err != nil {
					return r.Info, nil // the disk has no links
				}
				r, err = fsys.Append(ctx, "f", same(), nil)
				return r.Info, err
			}},
			{"stage and publish after another write", func() (ambit.FileInfo, error) {
				s, err := fsys.Stage(ctx, "f", same(), nil)
				if err != nil {
					return now, err
				}
				if r, err := fsys.Write(ctx, "f", same(), nil); err != nil || seen[r.Info.Version] != "" {
					return r.Info, err
				}
				r, err := s.Publish(ctx)
				return r.Info, err
			}},
			{"commit", func() (ambit.FileInfo, error) {
				r, err := fsys.Commit(ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "f", Content: same(), If: ambit.IfVersion(now.Version)},
					{Op: ambit.OpWrite, Path: "h", Content: same()},
				})
				if err != nil {
					return now, err
				}
				return r[0].Info, nil
			}},
			{"rename another over it", func() (ambit.FileInfo, error) {
				if _, err := fsys.Write(ctx, "h", same(), nil); err != nil {
					return now, err
				}
				return fsys.Rename(ctx, "h", "f", &ambit.RenameOptions{Replace: true})
			}},
		}
		for range 150 {
			c := changes[random.IntN(len(changes))]
			before := now.Version
			info, err := c.do()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if was, ok := seen[info.Version]; ok || info.Version == "" {
				t.Errorf("%s gives the version of %q", c.name, was)
			}
			if _, found := read(t, fsys, "f"); found != info {
				t.Errorf("%s tells %+v, and there is %+v", c.name, info, found)
			}
			if _, err := ambit.WriteFile(ctx, fsys, "f", nil, &ambit.WriteOptions{If: ambit.IfVersion(before)}); ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Fatalf("after %s the version before it is still good: %v", c.name, err)
			}
			seen[info.Version], now = c.name, info
		}
		leftovers(t, dir)
	})
}

// A file of a lower layer is replaced, moved, extended and removed by its
// version, though it comes up to another disk on the way.
func TestConditionsInALowerLayer(t *testing.T) {
	for _, two := range []bool{false, true} {
		for _, s := range openings {
			t.Run(fmt.Sprintf("two disks %v/%s", two, s.name), func(t *testing.T) {
				base := fastDir(t)
				lower, dir := filepath.Join(base, "lower"), filepath.Join(base, "disk")
				must(t, errors.Join(os.Mkdir(lower, 0o777), os.Mkdir(dir, 0o777)))
				if two {
					mountImage(32<<20, "mkfs.ext4", "-q", "-F")(t, base, lower)
				}
				must(t, os.Mkdir(lower+"/d", 0o777))
				for _, name := range []string{"write", "append", "remove", "rename", "over", "commit", "commit-remove", "d/write", "d/rename"} {
					must(t, os.WriteFile(filepath.Join(lower, name), []byte("old"), 0o640))
				}
				overlayAt(t, lower, filepath.Join(base, "over"), dir)
				fsys := serve(t, dir, s.o(nil))
				at := func(path string) ambit.Precondition {
					text, info := read(t, fsys, path)
					if text != "old" {
						t.Errorf("%s has %q", path, text)
					}
					return ambit.IfVersion(info.Version)
				}
				holds := func(path, want string, r ambit.FileInfo) {
					t.Helper()
					if text, info := read(t, fsys, path); text != want || info != r {
						t.Errorf("%s: told %+v, found %q, %+v", path, r, text, info)
					}
					if r.Mode != 0o640 {
						t.Errorf("%s has the mode %v", path, r.Mode)
					}
				}
				for _, path := range []string{"write", "d/write"} {
					r, err := fsys.Write(ctx, path, strings.NewReader("new"), &ambit.WriteOptions{If: at(path)})
					must(t, err)
					holds(path, "new", r.Info)
				}
				r, err := fsys.Append(ctx, "append", strings.NewReader("+"), &ambit.AppendOptions{If: at("append")})
				must(t, err)
				holds("append", "old+", r.Info)
				must(t, fsys.Remove(ctx, "remove", &ambit.RemoveOptions{If: at("remove")}))
				info, err := fsys.Rename(ctx, "rename", "renamed", &ambit.RenameOptions{If: at("rename")})
				must(t, err)
				holds("renamed", "old", info)
				info, err = fsys.Rename(ctx, "d/rename", "over", &ambit.RenameOptions{If: at("d/rename"), Replace: true})
				must(t, err)
				holds("over", "old", info)
				_, err = fsys.Commit(ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "commit", Content: strings.NewReader("new"), If: at("commit")},
					{Op: ambit.OpRemove, Path: "commit-remove", If: at("commit-remove")},
				})
				must(t, err)
				if got, want := slices.DeleteFunc(names(t, fsys, "/"), func(name string) bool { return name == "lost+found" }), []string{"append", "commit", "d", "over", "renamed", "write"}; !slices.Equal(got, want) {
					t.Errorf("there is %q, want %q", got, want)
				}
				nothingHidden(t, dir)
			})
		}
	}
}

// nothingHidden fails when any name of the library's own is beneath dir.
func nothingHidden(t testing.TB, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".ambit.") {
			t.Errorf("left behind: %s", path)
		}
		return err
	}))
}

// cutPower makes the disk forget what it has not written yet, as a power cut
// would (EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN).
func cutPower(t *testing.T, dir string) {
	t.Helper()
	const goingDown, withoutLog = 0x8004587d, 2
	f, err := os.Open(dir)
	must(t, err)
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), goingDown, withoutLog); err != nil {
		t.Skipf("the power of this disk cannot be cut: %v", err)
	}
}

// What is said to be durable is there after a power cut.
func TestPowerCut(t *testing.T) {
	for _, m := range media {
		if m.name != "ext4" && m.name != "xfs" {
			continue
		}
		for _, s := range openings {
			t.Run(m.name+"/"+s.name, func(t *testing.T) {
				for _, durable := range []local.Durability{local.Durable, local.NotDurable} {
					lost := powerCut(t, &m, s.o(&local.Options{Durability: durable}))
					if durable == local.Durable {
						for _, text := range lost {
							t.Error(text)
						}
					} else if len(lost) == 0 {
						t.Error("nothing is ever lost: the power was not cut")
					}
				}
			})
		}
	}
}

// powerCut makes changes of every kind, cuts the power after each, and returns
// what was lost.
func powerCut(t *testing.T, m *medium, o *local.Options) (lost []string) {
	t.Helper()
	old := strings.Repeat("old", 1000)
	base := fastDir(t)
	dir := filepath.Join(base, "disk")
	must(t, os.Mkdir(dir, 0o755))
	m.mount(t, base, dir)
	for _, c := range []struct {
		name string
		do   func(fsys *local.FileSystem, v ambit.Precondition) error
		want map[string]string // "": nothing
	}{
		{"create", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(ambit.WriteFile(ctx, f, "new", []byte("N"), &ambit.WriteOptions{If: ambit.IfAbsent()}))
		}, map[string]string{"new": "N", "f": old}},
		{"create with parents", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(ambit.WriteFile(ctx, f, "a/b/c/new", []byte("N"), &ambit.WriteOptions{Parents: true}))
		}, map[string]string{"a/b/c/new": "N"}},
		{"replace", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(ambit.WriteFile(ctx, f, "f", []byte("N"), nil))
		}, map[string]string{"f": "N"}},
		{"swap", func(f *local.FileSystem, v ambit.Precondition) error {
			return second(ambit.WriteFile(ctx, f, "f", []byte("N"), &ambit.WriteOptions{If: v}))
		}, map[string]string{"f": "N"}},
		{"append", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Append(ctx, "f", strings.NewReader("N"), nil))
		}, map[string]string{"f": old + "N"}},
		{"remove", func(f *local.FileSystem, _ ambit.Precondition) error { return f.Remove(ctx, "f", nil) }, map[string]string{"f": ""}},
		{"remove by version", func(f *local.FileSystem, v ambit.Precondition) error {
			return f.Remove(ctx, "f", &ambit.RemoveOptions{If: v})
		}, map[string]string{"f": ""}},
		{"remove a folder", func(f *local.FileSystem, _ ambit.Precondition) error {
			return f.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true})
		}, map[string]string{"d": "", "d/g": ""}},
		{"rename", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Rename(ctx, "f", "x/y/f", &ambit.RenameOptions{Parents: true}))
		}, map[string]string{"f": "", "x/y/f": old}},
		{"rename by version", func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Rename(ctx, "f", "d/g", &ambit.RenameOptions{If: v, Replace: true}))
		}, map[string]string{"f": "", "d/g": old}},
		{"mkdir", func(f *local.FileSystem, _ ambit.Precondition) error {
			return second(f.Mkdir(ctx, "p/q/r", &ambit.MkdirOptions{Parents: true}))
		}, map[string]string{"p/q/r": "folder"}},
		{"commit", func(f *local.FileSystem, v ambit.Precondition) error {
			return second(f.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "f", Content: strings.NewReader("N"), If: v},
				{Op: ambit.OpRemove, Path: "d/g"},
				{Op: ambit.OpWrite, Path: "k/l/m", Content: strings.NewReader("M"), Parents: true},
			}))
		}, map[string]string{"f": "N", "d/g": "", "k/l/m": "M"}},
	} {
		top := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-"))
		must(t, os.MkdirAll(filepath.Join(top, "d"), 0o777))
		for _, name := range []string{"f", "d/g"} {
			must(t, os.WriteFile(filepath.Join(top, name), []byte(old), 0o666))
		}
		syscall.Sync()
		fsys, err := local.New(top, o)
		must(t, err)
		info, err := fsys.Stat(ctx, "f")
		must(t, err)
		must(t, c.do(fsys, ambit.IfVersion(info.Version)))
		cutPower(t, dir)
		must(t, fsys.Close())
		must(t, syscall.Unmount(dir, 0))
		if out, err := mountAgain(filepath.Join(base, "image"), dir); err != nil {
			t.Fatalf("%s: the disk is broken: %v %s", c.name, err, out)
		}
		for name, want := range c.want {
			got, err := os.ReadFile(filepath.Join(top, name))
			if errors.Is(err, syscall.EISDIR) {
				got, err = []byte("folder"), nil
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				t.Fatal(err)
			}
			if string(got) != want {
				lost = append(lost, fmt.Sprintf("%s: after the power cut %s has %.20q, want %.20q", c.name, name, got, want))
			}
		}
		// Whoever serves it next sees whole files and no more.
		again, err := local.New(top, o)
		must(t, err)
		write(t, again, "after", "A", nil)
		write(t, again, "d/after", "A", &ambit.WriteOptions{Parents: true})
		must(t, again.Close())
	}
	return lost
}

// mountsInside is a root with a disk mounted at "disk", and with "place/x"
// bound to "alias/x" too.
func mountsInside(t *testing.T, o *local.Options) *world {
	t.Helper()
	base := fastDir(t)
	w := newWorldIn(t, base, "f = F\ndisk/\nplace/\nplace/x/\nplace/x/f = 0\nalias/\nalias/x/\nholder/\nholder/disk/")
	must(t, w.fsys.Close())
	mountWith(t, "tmpfs", w.host("disk"), "tmpfs", 0, "")
	mountWith(t, "tmpfs", w.host("holder/disk"), "tmpfs", 0, "")
	mountWith(t, w.host("place/x"), w.host("alias/x"), "", syscall.MS_BIND, "")
	for _, name := range []string{"disk/f", "holder/disk/f"} {
		must(t, os.WriteFile(w.host(name), []byte("D"), 0o666))
	}
	w.fsys = serve(t, w.root, o)
	return w
}

func onMounts(t *testing.T, test func(t *testing.T, w *world)) {
	for _, s := range openings {
		t.Run(s.name, func(t *testing.T) { test(t, mountsInside(t, s.o(nil))) })
	}
}

// What something is mounted at stays where it is, and nothing is moved across.
func TestMountPointsStay(t *testing.T) {
	onMounts(t, func(t *testing.T, w *world) {
		before := w.snapshot(t)
		replace, parents := &ambit.RenameOptions{Replace: true}, &ambit.RenameOptions{Parents: true}
		_, info := read(t, w.fsys, "disk/f")
		for name, err := range map[string]error{
			"rename a mount point":                   second(w.fsys.Rename(ctx, "disk", "other", nil)),
			"rename a mount point with parents":      second(w.fsys.Rename(ctx, "disk", "a/b", parents)),
			"rename a bind":                          second(w.fsys.Rename(ctx, "alias/x", "alias/y", nil)),
			"rename off the disk":                    second(w.fsys.Rename(ctx, "disk/f", "g", nil)),
			"rename off the disk with parents":       second(w.fsys.Rename(ctx, "disk/f", "a/b/g", parents)),
			"rename off the disk by version":         second(w.fsys.Rename(ctx, "disk/f", "g", &ambit.RenameOptions{If: ambit.IfVersion(info.Version)})),
			"rename off the disk over, by version":   second(w.fsys.Rename(ctx, "disk/f", "f", &ambit.RenameOptions{If: ambit.IfVersion(info.Version), Replace: true})),
			"rename onto the disk":                   second(w.fsys.Rename(ctx, "f", "disk/g", nil)),
			"rename onto the disk, over":             second(w.fsys.Rename(ctx, "f", "disk/f", replace)),
			"rename a folder onto the disk":          second(w.fsys.Rename(ctx, "place", "disk/place", nil)),
			"rename through the bind":                second(w.fsys.Rename(ctx, "place/x/f", "alias/x/g", nil)),
			"rename a file onto itself, by the bind": second(w.fsys.Rename(ctx, "place/x/f", "alias/x/f", replace)),
			"remove a mount point":                   w.fsys.Remove(ctx, "disk", &ambit.RemoveOptions{Recursive: true}),
			"remove above a mount point":             w.fsys.Remove(ctx, "holder", &ambit.RemoveOptions{Recursive: true}),
			"remove above a bind":                    w.fsys.Remove(ctx, "alias", &ambit.RemoveOptions{Recursive: true}),
		} {
			if ambit.ReasonOf(err) != ambit.ErrCrossDevice {
				t.Errorf("%s: %v", name, err)
			} else if strings.Contains(err.Error(), filepath.Dir(w.root)) {
				t.Errorf("%s shows the host: %v", name, err)
			}
		}
		for name, c := range map[string]struct {
			err  error
			want ambit.Reason
		}{
			"rename onto a mount point":   {second(w.fsys.Rename(ctx, "place", "disk", replace)), ambit.ErrExists},
			"remove without Recursive":    {w.fsys.Remove(ctx, "disk", nil), ambit.ErrNotEmpty},
			"write to a mount point":      {second(ambit.WriteFile(ctx, w.fsys, "disk", nil, nil)), ambit.ErrNotAFile},
			"the same file, by the bind":  {second(w.fsys.Rename(ctx, "place/x/f", "alias/x/f", nil)), ambit.ErrExists},
			"two changes of one old file": {second(w.fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: "place/x/f"}, {Op: ambit.OpWrite, Path: "alias/x/f", Content: strings.NewReader("N")}})), ambit.ErrInvalid},
		} {
			if ambit.ReasonOf(c.err) != c.want {
				t.Errorf("%s: %v, want %s", name, c.err, c.want)
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("there changed %q", diff)
		}
		// What merely holds a mount point moves with it.
		if _, err := w.fsys.Rename(ctx, "holder", "moved", nil); err != nil {
			t.Errorf("rename above a mount point: %v", err)
		} else if text, _ := read(t, w.fsys, "moved/disk/f"); text != "D" {
			t.Errorf("what was mounted beneath a folder that was moved has %q", text)
		}
		must(t, os.Rename(w.host("moved"), w.host("holder")))
	})
}

// Beneath a mount point everything is as elsewhere.
func TestBeneathMountPoints(t *testing.T) {
	onMounts(t, func(t *testing.T, w *world) {
		if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"alias", "disk", "f", "holder", "place"}) {
			t.Errorf("there is %q", got)
		}
		l, err := w.fsys.List(ctx, "/", &ambit.ListOptions{Details: true})
		must(t, err)
		for _, e := range l.Entries {
			info, err := w.fsys.Stat(ctx, e.Name)
			must(t, err)
			if e.Info.ID != info.ID || e.Info.Kind != info.Kind {
				t.Errorf("%s is listed as %+v and described as %+v", e.Name, e.Info, info)
			}
		}
		for _, dir := range []string{"disk", "alias/x"} {
			want := map[string]string{}
			r := write(t, w.fsys, dir+"/f", "1", nil)
			r = write(t, w.fsys, dir+"/f", "2", &ambit.WriteOptions{If: ambit.IfVersion(r.Info.Version)})
			want["f"] = "2"
			if r := write(t, w.fsys, dir+"/a/b/new", "N", &ambit.WriteOptions{Parents: true, If: ambit.IfAbsent()}); !slices.Equal(r.CreatedDirs, []string{"/" + dir + "/a", "/" + dir + "/a/b"}) {
				t.Errorf("made %q", r.CreatedDirs)
			}
			want["a/b/new"] = "N"
			appended, err := w.fsys.Append(ctx, dir+"/f", strings.NewReader("+"), nil)
			must(t, err)
			want["f"] = "2+"
			if text, info := read(t, w.fsys, dir+"/f"); text != "2+" || info != appended.Info {
				t.Errorf("%s/f has %q, %+v", dir, text, info)
			}
			must(t, second(w.fsys.Rename(ctx, dir+"/a", dir+"/c", nil)))
			delete(want, "a/b/new")
			want["c/b/new"] = "N"
			_, top := read(t, w.fsys, "f")
			must(t, second(w.fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "f", Content: strings.NewReader(dir), If: ambit.IfVersion(top.Version)},
				{Op: ambit.OpWrite, Path: dir + "/k/l", Content: strings.NewReader("L"), Parents: true},
				{Op: ambit.OpRemove, Path: dir + "/c/b/new"},
			})))
			delete(want, "c/b/new")
			want["k/l"], want["c/"], want["c/b/"], want["k/"] = "L", "", "", ""
			if _, err := w.fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "f", Content: strings.NewReader("lost")},
				{Op: ambit.OpWrite, Path: dir + "/k/l", Content: strings.NewReader("lost"), If: ambit.IfVersion(top.Version)},
			}); ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Errorf("Commit: %v", err)
			}
			if text, _ := read(t, w.fsys, "f"); text != dir {
				t.Errorf("f has %q", text)
			}
			sub, err := w.fsys.Sub(ctx, dir)
			must(t, err)
			write(t, sub, "s", "S", nil)
			want["s"] = "S"
			must(t, sub.(io.Closer).Close())
			must(t, w.fsys.Remove(ctx, dir+"/c", &ambit.RemoveOptions{Recursive: true}))
			delete(want, "c/")
			delete(want, "c/b/")
			got := map[string]string{}
			must(t, filepath.WalkDir(w.host(dir), func(path string, d os.DirEntry, err error) error {
				rel, _ := filepath.Rel(w.host(dir), path)
				switch {
				case err != nil:
					return err
				case d.IsDir() && rel != ".":
					got[rel+"/"] = ""
				case !d.IsDir():
					data, err := os.ReadFile(path)
					got[rel] = string(data)
					return err
				}
				return nil
			}))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("beneath %s there is %q, want %q", dir, got, want)
			}
		}
		nothingHidden(t, w.root)
	})
}

// Two paths to one folder have one lock: nothing is lost between them.
func TestOneFolderByTwoPaths(t *testing.T) {
	onMounts(t, func(t *testing.T, w *world) {
		const callers, each = 6, 15
		paths := []string{"place/x/", "alias/x/"}
		var created atomic.Int64
		var wg sync.WaitGroup
		for i := range callers {
			dir := paths[i%2]
			wg.Go(func() {
				for n := range each {
					for {
						data, info, err := ambit.ReadFile(ctx, w.fsys, dir+"f")
						if err == nil {
							_, err = ambit.WriteFile(ctx, w.fsys, dir+"f", append(data, byte('a'+i)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
						}
						if err == nil {
							break
						}
						if r := ambit.ReasonOf(err); r != ambit.ErrChanged {
							t.Errorf("%sf: %v", dir, err)
							return
						}
					}
					if _, err := w.fsys.Append(ctx, dir+"log", strings.NewReader(fmt.Sprintf("<%d %d>", i, n)), nil); err != nil {
						t.Errorf("append: %v", err)
					}
					if _, err := ambit.WriteFile(ctx, w.fsys, fmt.Sprintf("%snew-%d", dir, n), nil, &ambit.WriteOptions{If: ambit.IfAbsent()}); err == nil {
						created.Add(1)
					} else if ambit.ReasonOf(err) != ambit.ErrExists {
						t.Errorf("create: %v", err)
					}
				}
			})
		}
		wg.Wait()
		text, a := read(t, w.fsys, "place/x/f")
		other, b := read(t, w.fsys, "alias/x/f")
		if text != other || a.ID != b.ID || a.Version != b.Version {
			t.Errorf("by the one path it is %+v, by the other %+v", a, b)
		}
		for i := range callers {
			if n := strings.Count(text, string(rune('a'+i))); n != each {
				t.Errorf("%d of the %d changes of caller %d are there", n, each, i)
			}
		}
		log, _ := read(t, w.fsys, "place/x/log")
		for i := range callers {
			for n := range each {
				if strings.Count(log, fmt.Sprintf("<%d %d>", i, n)) != 1 {
					t.Errorf("<%d %d> is not there once", i, n)
				}
			}
		}
		if created.Load() != each {
			t.Errorf("%d files were created, %d times", each, created.Load())
		}
		// Two new files by the two paths are one.
		before := w.snapshot(t)
		_, err := w.fsys.Commit(ctx, []ambit.Change{
			{Op: ambit.OpWrite, Path: "place/x/one", Content: strings.NewReader("1")},
			{Op: ambit.OpWrite, Path: "alias/x/one", Content: strings.NewReader("2")},
		})
		if r := ambit.ReasonOf(err); r != ambit.ErrInvalid && r != ambit.ErrChanged {
			t.Errorf("two changes of one new file: %v", err)
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("there changed %q", diff)
		}
		// What is bound can go at its own place, and then takes nothing more.
		must(t, w.fsys.Remove(ctx, "place/x", &ambit.RemoveOptions{Recursive: true}))
		if _, err := ambit.WriteFile(ctx, w.fsys, "alias/x/f", []byte("N"), nil); err == nil {
			t.Error("a folder that was removed takes a file")
		} else if r := ambit.ReasonOf(err); r != ambit.ErrNotFound && r != ambit.ErrChanged {
			t.Errorf("a write into a folder that was removed: %v", err)
		}
		nothingHidden(t, w.host("place"))
	})
}

// A folder that is removed between the judgement and the act is missing, and
// nothing else: some disks say of what is made in it that it is not permitted.
func TestFolderGoesDuringACall(t *testing.T) {
	onMedia(t, func(t *testing.T, m *medium, strategy int) {
		dir := m.dir(t)
		fsys := serve(t, dir, openings[strategy].o(nil))
		write(t, fsys, "other", "O", nil)
		for name, do := range map[string]func(fsys ambit.FileSystem) error{
			"write": func(f ambit.FileSystem) error { return second(ambit.WriteFile(ctx, f, "d/e/new", []byte("N"), nil)) },
			"write with parents": func(f ambit.FileSystem) error {
				return second(ambit.WriteFile(ctx, f, "d/e/new", []byte("N"), &ambit.WriteOptions{Parents: true}))
			},
			"append": func(f ambit.FileSystem) error {
				return second(ambit.Append(ctx, f, "d/e/new", bytes.NewReader(make([]byte, 2<<20)), nil))
			},
			"stage": func(f ambit.FileSystem) error {
				s, err := ambit.Stage(ctx, f, "d/e/new", readerOf("N"), nil)
				if err != nil {
					return err
				}
				return second(s.Publish(ctx)) // which is the one to judge
			},
			"mkdir":  func(f ambit.FileSystem) error { return second(ambit.Mkdir(ctx, f, "d/e/new", nil)) },
			"rename": func(f ambit.FileSystem) error { return second(ambit.Rename(ctx, f, "other", "d/e/new", nil)) },
			"commit": func(f ambit.FileSystem) error {
				return second(ambit.Commit(ctx, f, []ambit.Change{{Op: ambit.OpWrite, Path: "d/e/new", Content: readerOf("N")}}))
			},
		} {
			must(t, os.MkdirAll(filepath.Join(dir, "d/e"), 0o777))
			gone := false
			err := do(fsys.Guard(func(_ context.Context, _ ambit.Op, path string) error {
				if path == "/d/e/new" && !gone {
					gone = true
					return os.Remove(filepath.Join(dir, "d/e"))
				}
				return nil
			}))
			want := ambit.ErrNotFound
			if name == "write with parents" {
				want = ""
			}
			if got := ambit.ReasonOf(err); got != want || !gone {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			must(t, os.RemoveAll(filepath.Join(dir, "d")))
		}
		nothingHidden(t, dir)
	})
}
