// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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
	"github.com/ambitfs/ambit/local"
)

// searchTime is how long one contest of a search lasts.
func searchTime() time.Duration {
	if os.Getenv("AMBIT_SOAK") != "" {
		return raceTime()
	}
	return raceTime() / 4
}

// besides runs the others until do has run for a while.
func besides(do func(), others ...func()) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, other := range others {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					other()
				}
			}
		})
	}
	for end := time.Now().Add(searchTime()); time.Now().Before(end); {
		do()
	}
	close(stop)
	wg.Wait()
}

// Whatever is put in the place of what is searched, nothing from outside shows,
// and nobody waits.
func TestSearchContest(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), `
			a/
			a/f = INSIDE
			a/sub/
			a/sub/g = INSIDE
			b/
			b/f = INSIDE
			b/sub/
			b/sub/g = INSIDE
			file = INSIDE
			other = INSIDE
			link -> $OUT
			file.link -> $OUT/secret-name
			fifo |
			moved/
			moved/h = INSIDE
			denied/
			denied/deep/
			denied/deep/secret-name = SECRET-BYTES
		`)
		must(t, os.MkdirAll(filepath.Join(w.outside, "sub"), 0o777))
		must(t, os.WriteFile(filepath.Join(w.outside, "sub", secretName), []byte(secretText), 0o666))
		fsys := serve(t, w.root, with(&local.Options{Deny: []string{"denied"}}))
		others := []func(){
			func() { exchange(w.host("a"), w.host("link")); pause(); exchange(w.host("a"), w.host("link")) },
			func() { exchange(w.host("b/sub"), w.host("b/f")); pause() },
			func() { exchange(w.host("file"), w.host("file.link")); pause() },
			func() { exchange(w.host("other"), w.host("fifo")); pause() },
			func() {
				os.Rename(w.host("moved"), filepath.Join(w.outside, "moved"))
				pause()
				os.Rename(filepath.Join(w.outside, "moved"), w.host("moved"))
			},
			func() {
				os.Rename(w.host("denied"), w.host("moved/denied"))
				pause()
				os.Rename(w.host("moved/denied"), w.host("denied"))
			},
		}
		var searched int
		besides(func() {
			begun := time.Now()
			for _, base := range []string{"/", "a", "a/sub", "b/sub", "moved", "file", "other"} {
				text := found(fsys, base)
				if strings.Contains(text, secretName) || strings.Contains(text, secretText) || strings.Contains(text, w.outside) || strings.Contains(text, "deep") {
					t.Errorf("in %q a search shows\n%s", base, text)
				}
				for _, bad := range []ambit.Reason{ambit.ErrIO, ambit.ErrPermission, ambit.ErrClosed, ambit.ErrInvalidPath} {
					if strings.Contains(text, "Reason:"+string(bad)) || strings.Contains(text, "} "+string(bad)) {
						t.Errorf("in %q a search fails with %s", base, bad)
					}
				}
				searched += strings.Count(text, "INSIDE")
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("searches took %v", took)
			}
		}, others...)
		if searched == 0 {
			t.Error("nothing was found")
		}
	})
}

// The control: one that walks by paths is led out.
func TestSearchContestControl(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "a/\na/secret-name = INSIDE\nlink -> $OUT\n")
	leaks := 0
	for end := time.Now().Add(10 * time.Second); leaks == 0 && time.Now().Before(end); {
		besides(func() {
			filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					if data, err := os.ReadFile(path); err == nil && string(data) == secretText {
						leaks++
					}
				}
				return nil
			})
		}, func() { exchange(w.host("a"), w.host("link")); pause(); exchange(w.host("a"), w.host("link")) })
	}
	if leaks == 0 {
		t.Error("a walk by paths does not leak here: the contest shows nothing")
	}
}

// What changes, comes and goes beside a search is found as it was at some time.
func TestSearchBesideWriters(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		root := fastDir(t)
		fsys := serve(t, root, with(nil))
		write(t, fsys, "still/f", "line 0 of still\n", &ambit.WriteOptions{Parents: true})
		var n atomic.Int64
		text := func(name string) string {
			return strings.Repeat(fmt.Sprintf("line %d of %s\n", n.Add(1), name), 1+rand.N(200))
		}
		host := func(name string) string { return filepath.Join(root, name) }
		others := []func(){
			func() { ambit.WriteFile(ctx, fsys, "library", []byte(text("library")), nil) },
			func() { os.WriteFile(host("rewritten"), []byte(text("rewritten")), 0o666); pause() },
			func() {
				if f, err := os.OpenFile(host("appended"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err == nil {
					f.WriteString(fmt.Sprintf("line %d of appended\n", n.Add(1)))
					if rand.N(500) == 0 {
						f.Truncate(0)
					}
					f.Close()
				}
			},
			func() {
				ambit.Commit(ctx, fsys, []ambit.Change{
					{Op: ambit.OpWrite, Path: "new/a/b", Content: strings.NewReader(text("committed")), Parents: true},
					{Op: ambit.OpWrite, Path: "new/c", Content: strings.NewReader(text("committed"))},
				})
				fsys.Remove(ctx, "new", &ambit.RemoveOptions{Recursive: true})
			},
			func() {
				os.MkdirAll(host("vanishing/x/y"), 0o777)
				os.WriteFile(host("vanishing/x/y/f"), []byte(text("vanishing")), 0o666)
				os.RemoveAll(host("vanishing"))
			},
		}
		line := regexp.MustCompile(`^line \d+ of [a-z]+$`)
		seen := map[string]int{}
		besides(func() {
			still := false
			sum, err := fsys.Grep(ctx, ambit.GrepQuery{Pattern: "line", All: true}, func(m ambit.GrepMatch) bool {
				seen[m.Path]++
				still = still || m.Path == "/still/f" && m.Text == "line 0 of still"
				// What is written in place may be read while half of it is there.
				if !line.MatchString(m.Text) && m.Path != "/rewritten" && m.Path != "/vanishing/x/y/f" {
					t.Errorf("%s has the line %q", m.Path, m.Text)
				}
				return true
			})
			if err != nil || sum.Skipped != nil || !still {
				t.Errorf("%+v, %v, what keeps still is found: %v", sum, err, still)
			}
			sum, err = fsys.Glob(ctx, ambit.GlobQuery{Pattern: "**", All: true, Details: true}, func(m ambit.GlobMatch) bool {
				if strings.Contains(m.Info.Path, ".ambit") || m.Info.Kind == ambit.KindUnknown {
					t.Errorf("found %+v", m.Info)
				}
				return true
			})
			if err != nil || sum.Skipped != nil {
				t.Errorf("%+v, %v", sum, err)
			}
		}, others...)
		for _, path := range []string{"/library", "/appended", "/rewritten"} {
			if seen[path] == 0 {
				t.Errorf("%s was never searched", path)
			}
		}
	})
}

// held is what a process holds: descriptors and goroutines.
func held(t *testing.T) (fds, goroutines int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all), runtime.NumGoroutine()
}

// However a search ends, nothing of it stays.
func TestSearchLeavesNothing(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		root := fastDir(t)
		for i := range 40 {
			dir := filepath.Join(root, fmt.Sprintf("d%d/e/f", i))
			must(t, os.MkdirAll(dir, 0o777))
			for k := range 12 {
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", k)), []byte(strings.Repeat("line\n", 500)), 0o666))
			}
		}
		fsys := serve(t, root, with(nil))
		type boom struct{}
		var in context.Context
		var cancel context.CancelFunc
		for name, c := range map[string]struct {
			on    func() ambit.FileSystem
			limit int
			keep  func() bool
			yield func() bool
			want  ambit.Reason
			ends  string // "" returns
		}{
			"success":        {},
			"limit":          {limit: 5},
			"yield false":    {yield: func() bool { return false }},
			"cancel":         {yield: func() bool { cancel(); time.Sleep(time.Millisecond); return true }, want: ambit.ErrCanceled},
			"panic in yield": {yield: func() bool { panic(boom{}) }, ends: "panic"},
			"panic in Keep":  {keep: func() bool { panic(boom{}) }, ends: "panic"},
			"exit in yield":  {yield: func() bool { runtime.Goexit(); return true }, ends: "exit"},
			"exit in Keep":   {keep: func() bool { runtime.Goexit(); return true }, ends: "exit"},
			"panic in a guard": {on: func() ambit.FileSystem {
				return fsys.Guard(func(_ context.Context, op ambit.Op, path string) error {
					if path == "/d9/e" || path == "/d7/e/f/f3" {
						panic(boom{})
					}
					return nil
				})
			}, ends: "panic"},
			"cancel in Keep": {keep: func() bool { cancel(); time.Sleep(time.Millisecond); return true }, want: ambit.ErrCanceled},
		} {
			for _, grep := range []bool{false, true} {
				fds, goroutines := held(t)
				in, cancel = context.WithCancel(ctx)
				var s ambit.Searcher = fsys
				if c.on != nil {
					s = c.on().(ambit.Searcher)
				}
				yield := func() bool { return c.yield == nil || c.yield() }
				var keep func(string, ambit.Kind) bool
				if c.keep != nil {
					keep = func(string, ambit.Kind) bool { return c.keep() }
				}
				ends := "exit"
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() {
						if v := recover(); v == any(boom{}) {
							ends = "panic"
						} else if v != nil {
							panic(v)
						}
					}()
					if grep {
						_, err = s.Grep(in, ambit.GrepQuery{Limit: c.limit, Keep: keep}, func(ambit.GrepMatch) bool { return yield() })
					} else {
						_, err = s.Glob(in, ambit.GlobQuery{Pattern: "**", Limit: c.limit, Keep: keep}, func(ambit.GlobMatch) bool { return yield() })
					}
					ends = ""
				}()
				select {
				case <-done:
				case <-time.After(30 * time.Second):
					t.Fatalf("%s: the search does not end", name)
				}
				cancel()
				if ends != c.ends || ambit.ReasonOf(err) != c.want {
					t.Errorf("%s, grep %v: ends by %q, want %q; %v, want %q", name, grep, ends, c.ends, err, c.want)
				}
				nowFDs, now := held(t)
				for end := time.Now().Add(5 * time.Second); (nowFDs > fds || now > goroutines) && time.Now().Before(end); nowFDs, now = held(t) {
					if nowFDs > fds {
						break // a search closes before it returns
					}
					time.Sleep(time.Millisecond)
				}
				if nowFDs > fds || now > goroutines {
					t.Errorf("%s, grep %v: leaves %d descriptors and %d goroutines", name, grep, nowFDs-fds, now-goroutines)
				}
			}
		}
	})
}

func TestSearchClose(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		root := fastDir(t)
		must(t, os.MkdirAll(filepath.Join(root, strings.Repeat("d/", 200)), 0o777))
		for depth := range 200 {
			must(t, os.WriteFile(filepath.Join(root, strings.Repeat("d/", depth), "f"), []byte("F"), 0o666))
		}
		for i, a := range searches() {
			fsys := serve(t, root, with(nil))
			fds, _ := held(t)
			var once sync.Once
			guarded := fsys.Guard(func(_ context.Context, _ ambit.Op, path string) error {
				if strings.HasPrefix(path, "/d/d/d/") {
					once.Do(func() { must(t, fsys.Close()) })
				}
				return nil
			})
			if err := a.do(guarded, "/"); ambit.ReasonOf(err) != ambit.ErrClosed {
				t.Errorf("%s while Close: %v", a.name, err)
			}
			if err := searches()[i].do(fsys, "/"); ambit.ReasonOf(err) != ambit.ErrClosed {
				t.Errorf("%s after Close: %v", a.name, err)
			}
			if now, _ := held(t); now > fds {
				t.Errorf("%s leaves %d descriptors", a.name, now-fds)
			}
		}
	})
}

// A tree deeper than a path can name is searched as far as one can, with few
// descriptors, and the summary tells.
func TestSearchDeepWithFewDescriptors(t *testing.T) {
	const levels, most = 3000, (ambit.MaxPath - 1) / 2
	base := fastDir(t)
	root := filepath.Join(base, "root")
	must(t, os.Mkdir(root, 0o777))
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY, 0)
	must(t, err)
	for depth := range levels {
		if depth%50 == 0 {
			file, err := unix.Openat(fd, "f", unix.O_CREAT|unix.O_WRONLY, 0o666)
			must(t, err)
			unix.Write(file, []byte("F\n"))
			unix.Close(file)
		}
		must(t, unix.Mkdirat(fd, "d", 0o777))
		next, err := unix.Openat(fd, "d", unix.O_PATH|unix.O_DIRECTORY, 0)
		must(t, err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		fsys := serve(t, root, with(nil))
		var old syscall.Rlimit
		must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
		fds, _ := held(t)
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(fds + 24), Max: old.Max}))
		files, folders := 0, 0
		sum, err := fsys.Grep(ctx, ambit.GrepQuery{}, func(ambit.GrepMatch) bool { files++; return true })
		globbed, globErr := fsys.Glob(ctx, ambit.GlobQuery{Pattern: "**/d"}, func(ambit.GlobMatch) bool { folders++; return true })
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
		deepest := []ambit.Skip{{Path: strings.Repeat("/d", most), Reason: ambit.ErrInvalidPath}}
		if err != nil || files != most/50+1 || !slices.Equal(sum.Skipped, deepest) {
			t.Errorf("a grep finds %d files, %v; %d skipped, %v", files, err, len(sum.Skipped), reasons(sum))
		}
		if globErr != nil || folders != most || !slices.Equal(globbed.Skipped, deepest) {
			t.Errorf("a glob finds %d folders, %v; %d skipped, %v", folders, globErr, len(globbed.Skipped), reasons(globbed))
		}
	})
}

// reasons tells why things were skipped, and how deep they lie.
func reasons(sum ambit.SearchSummary) []string {
	var all []string
	for _, s := range sum.Skipped {
		all = append(all, fmt.Sprint(s.Reason, " at level ", strings.Count(s.Path, "/")))
	}
	return all
}

func TestSearchOddNames(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		root := fastDir(t)
		long := strings.Repeat("n", 255)
		for _, name := range []string{"new\nline", "stray\xff\xfebytes", long, " ", "-", "$x", `back\slash`, "[a]", "{b,c}", "\x01", "é", "..."} {
			must(t, os.MkdirAll(filepath.Join(root, name), 0o777))
			must(t, os.WriteFile(filepath.Join(root, name, name), []byte("N\n"), 0o666))
		}
		fsys := serve(t, root, with(nil))
		n := 0
		sum, err := fsys.Grep(ctx, ambit.GrepQuery{All: true}, func(m ambit.GrepMatch) bool {
			n++
			if text, _ := read(t, fsys, m.Path); text != "N\n" || ambit.Base(m.Path) != ambit.Base(ambit.Dir(m.Path)) {
				t.Errorf("%q holds %q", m.Path, text)
			}
			return true
		})
		if err != nil || n != 12 || sum.Skipped != nil {
			t.Errorf("found %d, %+v, %v", n, sum, err)
		}
		n = 0
		sum, err = fsys.Glob(ctx, ambit.GlobQuery{Pattern: "**", All: true, Details: true}, func(m ambit.GlobMatch) bool {
			n++
			if info, err := fsys.Lstat(ctx, m.Info.Path); err != nil || info != m.Info {
				t.Errorf("%q: %+v, %+v, %v", m.Info.Path, m.Info, info, err)
			}
			return true
		})
		if err != nil || n != 24 || sum.Skipped != nil {
			t.Errorf("found %d, %+v, %v", n, sum, err)
		}
	})
}

func TestSearchWideFolder(t *testing.T) {
	const width = 20000
	root := fastDir(t)
	for i := range width {
		fd, err := unix.Open(filepath.Join(root, fmt.Sprintf("%05d", i)), unix.O_CREAT|unix.O_WRONLY, 0o666)
		must(t, err)
		unix.Close(fd)
	}
	must(t, os.WriteFile(filepath.Join(root, "19999"), []byte("last"), 0o666))
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		fsys := serve(t, root, with(nil))
		n := 0
		_, err := fsys.Glob(ctx, ambit.GlobQuery{Pattern: "*"}, func(m ambit.GlobMatch) bool {
			if m.Info.Path != fmt.Sprintf("/%05d", n) {
				t.Fatalf("name %d is %s", n, m.Info.Path)
			}
			n++
			return true
		})
		if err != nil || n != width {
			t.Errorf("found %d, %v", n, err)
		}
		n = 0
		sum, err := fsys.Grep(ctx, ambit.GrepQuery{Pattern: "last"}, func(ambit.GrepMatch) bool { n++; return true })
		if err != nil || n != 1 || sum.Searched != width {
			t.Errorf("found %d, %+v, %v", n, sum, err)
		}
	})
}

// What the system refuses is told, and the rest is found.
func TestSearchPermissions(t *testing.T) {
	tree := map[string]os.FileMode{
		"shut/f": 0o666, "names/f": 0o666, "names/sub/f": 0o666, "pass/.gitignore": 0o666, "pass/in/f": 0o666, "pass/in/x.log": 0o666, "free/unreadable": 0, "free/f": 0o666,
	}
	dir, here := asNobody(t, func(dir string) {
		for name, mode := range tree {
			path := filepath.Join(dir, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, []byte("*.log\n"), 0o666))
			must(t, os.Chmod(path, mode))
		}
		must(t, os.Chmod(filepath.Join(dir, "shut"), 0))
		must(t, os.Chmod(filepath.Join(dir, "names"), 0o444))
		must(t, os.Chmod(filepath.Join(dir, "pass"), 0o111))
	})
	if !here {
		return
	}
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		fsys := serve(t, dir, with(nil))
		var got []string
		grep := func(base string) (ambit.SearchSummary, error) {
			got = nil
			return fsys.Grep(ctx, ambit.GrepQuery{Base: base}, func(m ambit.GrepMatch) bool { got = append(got, m.Path); return true })
		}
		sum, err := grep("/")
		var skipped []string
		for _, s := range sum.Skipped {
			skipped = append(skipped, s.Path+" "+string(s.Reason))
		}
		want := []string{"/free/unreadable permission", "/names/f permission", "/names/sub permission", "/pass permission", "/shut permission"}
		native := t.Name() == "TestSearchPermissions/native"
		if !native { // os.Root enters no folder that it may not read, nor reads one that it may not enter
			want = []string{"/free/unreadable permission", "/names permission", "/pass permission", "/shut permission"}
		}
		if err != nil || !slices.Equal(got, []string{"/free/f"}) || !slices.Equal(skipped, want) {
			t.Errorf("found %q, skipped %q, %v", got, skipped, err)
		}
		bases := map[string][]string{"free/f": {"/free/f"}}
		if native {
			bases["pass/in"], bases["pass/in/x.log"] = []string{"/pass/in/f"}, []string{"/pass/in/x.log"}
			bases["pass/in/f"] = []string{"/pass/in/f"}
			if err := searches()[0].do(fsys, "names"); err != nil {
				t.Errorf("glob in a folder of names: %v", err)
			}
		}
		for base, files := range bases {
			if sum, err := grep(base); err != nil || !slices.Equal(got, files) || sum.Skipped != nil {
				t.Errorf("in %q: found %q, %+v, %v", base, got, sum, err)
			}
		}
		for _, base := range []string{"shut", "shut/f", "names/sub", "names/f", "pass"} {
			for _, a := range searches() {
				if err := a.do(fsys, base); ambit.ReasonOf(err) != ambit.ErrPermission {
					t.Errorf("%s in %q: %v", a.name, base, err)
				}
			}
		}
		if err := searches()[1].do(fsys, "free/unreadable"); ambit.ReasonOf(err) != ambit.ErrPermission {
			t.Errorf("grep in an unreadable file: %v", err)
		}
	})
}

// Both strategies, with rules or without, find the same in random trees.
func TestSearchStrategiesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", ".c", "d.log", "e\n", "\xff", ".git", ".gitignore", "key", "secret"}
	for range 6 {
		root := filepath.Join(fastDir(t), "root")
		must(t, os.Mkdir(root, 0o777))
		dirs := []string{root}
		for range 40 {
			path := filepath.Join(dirs[r.IntN(len(dirs))], names[r.IntN(len(names))])
			switch r.IntN(4) {
			case 0:
				if os.Mkdir(path, 0o777) == nil {
					dirs = append(dirs, path)
				}
			case 1:
				os.Symlink(names[r.IntN(len(names))], path)
			case 2:
				os.Link(filepath.Join(root, "key"), path)
			default:
				if _, err := os.Lstat(path); err != nil {
					os.WriteFile(path, []byte([]string{"*.log\n", "a\n!b\n", "KEY\n", "bin\x00ary", ""}[r.IntN(5)]), 0o666)
				}
			}
		}
		for _, o := range []*local.Options{nil, {Deny: []string{"secret", "key", "/b"}}} {
			native, portable := serve(t, root, o), serve(t, root, local.Portable(o))
			var bases []string
			for _, dir := range dirs {
				bases = append(bases, "/"+strings.TrimPrefix(strings.TrimPrefix(dir, root), "/"))
			}
			sameFound(t, "by os.Root", portable, native, bases...)
			sameFound(t, "with a guard", native.Guard(allow), native, bases...)
		}
	}
}
