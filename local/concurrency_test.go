// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// Of many who create one file exactly one does, and the file is that one's. One
// of them is a stranger, who does not know of this library's locks.
func TestConcurrentCreation(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "d/")
	other := serve(t, w.root, nil)
	const stranger = 1000
	for round := range 30 {
		path := fmt.Sprint("d/new", round)
		var winner atomic.Int64
		var wins atomic.Int32
		var wg sync.WaitGroup
		wg.Go(func() {
			f, err := os.OpenFile(w.host(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return
			}
			defer f.Close()
			fmt.Fprint(f, "writer ", stranger)
			wins.Add(1)
			winner.Store(stranger)
		})
		for id := range 50 {
			wg.Go(func() {
				fsys := w.fsys
				if id%2 == 0 {
					fsys = other
				}
				r, err := ambit.WriteFile(ctx, fsys, path, []byte(fmt.Sprint("writer ", id)), &ambit.WriteOptions{If: ambit.IfAbsent()})
				switch {
				case err == nil:
					wins.Add(1)
					winner.Store(int64(id))
					if !r.Created {
						t.Error("Created is false")
					}
				case sketch(err) != "exists file":
					t.Errorf("a loser got %v", err)
				}
			})
		}
		wg.Wait()
		if text, _ := read(t, w.fsys, path); wins.Load() != 1 || text != fmt.Sprint("writer ", winner.Load()) {
			t.Errorf("%d winners, the last is %d, the file has %q", wins.Load(), winner.Load(), text)
		}
	}
	leftovers(t, w.root)
}

// Edits of one file at the same time, each on the condition that it is as it
// was read: what reports success is in the file, and nothing else.
func TestConcurrentEdits(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprint(i))
	}
	w := newWorldIn(t, fastDir(t), "f =")
	must(t, os.WriteFile(w.host("f"), []byte(strings.Join(lines, "\n")), 0o666))
	other := serve(t, w.root, nil)
	var mu sync.Mutex
	done := map[int]bool{}
	var conflicts atomic.Int32
	var wg, haveRead sync.WaitGroup
	haveRead.Add(20)
	for i := range 20 {
		wg.Go(func() {
			fsys := w.fsys
			if i%2 == 0 {
				fsys = other
			}
			for try := range 3 {
				data, info, err := ambit.ReadFile(ctx, fsys, "f")
				if try == 0 {
					// All have the same version in hand then.
					haveRead.Done()
					haveRead.Wait()
				}
				if ambit.ReasonOf(err) == ambit.ErrChanged {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				now := strings.Split(string(data), "\n")
				now[i*5] = "word"
				_, err = ambit.WriteFile(ctx, fsys, "f", []byte(strings.Join(now, "\n")), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				if err == nil {
					mu.Lock()
					done[i*5] = true
					mu.Unlock()
					return
				}
				if ambit.ReasonOf(err) != ambit.ErrChanged {
					t.Errorf("try %d: %v", try, err)
				}
				conflicts.Add(1)
			}
		})
	}
	wg.Wait()
	text, info := read(t, w.fsys, "f")
	for i, line := range strings.Split(text, "\n") {
		if (line == "word") != done[i] {
			t.Errorf("line %d is %q, success reported: %t", i, line, done[i])
		}
	}
	if len(done) == 0 || conflicts.Load() == 0 {
		t.Errorf("%d successes, %d conflicts: nothing met", len(done), conflicts.Load())
	}
	var wins atomic.Int32
	for i := range 2 {
		wg.Go(func() {
			if _, err := ambit.WriteFile(ctx, w.fsys, "f", []byte(fmt.Sprint(i)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}); err == nil {
				wins.Add(1)
			} else if ambit.ReasonOf(err) != ambit.ErrChanged {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d of two writes over one version succeeded", wins.Load())
	}
}

const (
	counters       = 4
	incrementsEach = 60
)

func init() {
	// count adds to a number in a file, over and over, each time on the
	// condition that it is the number that was read.
	roles["count"] = func(dir string) {
		fsys, err := local.New(dir, nil)
		if err != nil {
			panic(err)
		}
		for done := 0; done < incrementsEach; {
			data, info, err := ambit.ReadFile(ctx, fsys, "counter")
			if err == nil {
				n, convErr := strconv.Atoi(string(data))
				if convErr != nil {
					panic(convErr)
				}
				_, err = ambit.WriteFile(ctx, fsys, "counter", []byte(strconv.Itoa(n+1)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
			}
			switch ambit.ReasonOf(err) {
			case "":
				done++
			case ambit.ErrChanged:
			default:
				panic(err)
			}
		}
	}
}

// No increment of any process is lost, and neither is one of the goroutines
// that count beside them.
func TestCountingProcesses(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "counter = 0")
	var processes []*exec.Cmd
	for range counters {
		p := start(t, "count", w.root)
		must(t, p.Start())
		processes = append(processes, p)
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { roles["count"](w.root) })
	}
	wg.Wait()
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	if text, _ := read(t, w.fsys, "counter"); text != strconv.Itoa((counters+2)*incrementsEach) {
		t.Errorf("the counter is at %s, want %d", text, (counters+2)*incrementsEach)
	}
	leftovers(t, w.root)
}

// Whole writes of one file at the same time never mix, and a reader never sees
// a part of one.
func TestConcurrentReplacement(t *testing.T) {
	const size, rounds = 1 << 18, 12
	w := newWorldIn(t, fastDir(t), "f =")
	whole := func(letter byte) []byte { return bytes.Repeat([]byte{letter}, size) }
	must(t, os.WriteFile(w.host("f"), whole('a'), 0o666))
	check := func(data []byte) {
		if len(data) != size || !bytes.Equal(data, whole(data[0])) {
			t.Errorf("%d bytes, not all the same", len(data))
		}
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		writers.Go(func() {
			for range rounds {
				if _, err := ambit.WriteFile(ctx, w.fsys, "f", whole('a'+byte(i)), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var reads atomic.Int32
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				f, err := w.fsys.Open(ctx, "f")
				if err != nil {
					t.Error(err)
					return
				}
				var b bytes.Buffer
				if _, err := b.ReadFrom(f); err != nil {
					t.Error(err)
				}
				check(b.Bytes())
				reads.Add(1)
				if err := f.Verify(ctx); err != nil && ambit.ReasonOf(err) != ambit.ErrChanged {
					t.Error(err)
				}
				f.Close()
				if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"f"}) {
					t.Errorf("a reader sees %q", got)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	text, _ := read(t, w.fsys, "f")
	check([]byte(text))
	if reads.Load() == 0 {
		t.Error("nobody has read")
	}
	leftovers(t, w.root)
}

// A write tells of the bytes that it has published, though a stranger writes
// into the file as soon as it is there.
func TestResultIsOfItsOwnBytes(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "f = 0123456789")
	stop := make(chan struct{})
	var stranger sync.WaitGroup
	var longer atomic.Int32
	for range 2 {
		stranger.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				f, err := os.OpenFile(w.host("f"), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Error(err)
					return
				}
				f.WriteString("x")
				f.Close()
			}
		})
	}
	for start := time.Now(); time.Since(start) < time.Second || longer.Load() == 0 && time.Since(start) < 10*time.Second; {
		r := write(t, w.fsys, "f", "0123456789", nil)
		if r.Info.Size != 10 {
			t.Errorf("the result has size %d", r.Info.Size)
		}
		now, err := w.fsys.Stat(ctx, "f")
		must(t, err)
		if now.Size != 10 {
			longer.Add(1)
			if now.Version == r.Info.Version {
				t.Error("the stranger's bytes have the version of ours")
			}
		}
	}
	close(stop)
	stranger.Wait()
	if longer.Load() == 0 {
		t.Error("the stranger has never written: the test proves nothing")
	}
}

// Appends at the same time all survive, none inside another.
func TestConcurrentAppends(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	other := serve(t, w.root, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			fsys := w.fsys
			if i%2 == 0 {
				fsys = other
			}
			for j := range 10 {
				if _, err := ambit.Append(ctx, fsys, "d/log", readerOf(fmt.Sprintf("<%d %d %s>\n", i, j, strings.Repeat("x", 500))), &ambit.AppendOptions{Parents: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	text, _ := read(t, w.fsys, "d/log")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if len(line) != len("<0 0 >\n")+500 || seen[line] {
			t.Errorf("a line %q", line)
		}
		seen[line] = true
	}
	if len(seen) != 80 {
		t.Errorf("%d lines of 80", len(seen))
	}
}

// Of several calls that only one can make, exactly one does.
func TestConcurrentNames(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	other := serve(t, w.root, nil)
	for round := range 20 {
		race := func(what string, do func(fsys *local.FileSystem, i int) (won bool, err error), loser ...ambit.Reason) {
			t.Helper()
			var wins atomic.Int32
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					fsys := w.fsys
					if i%2 == 0 {
						fsys = other
					}
					won, err := do(fsys, i)
					if won {
						wins.Add(1)
					}
					if err != nil && !slices.Contains(loser, ambit.ReasonOf(err)) {
						t.Errorf("%s: a loser got %v", what, err)
					}
				})
			}
			wg.Wait()
			if wins.Load() != 1 {
				t.Errorf("%s: %d winners", what, wins.Load())
			}
		}
		at := func(name string) string { return fmt.Sprint(name, round) }
		race("Mkdir", func(fsys *local.FileSystem, _ int) (bool, error) {
			_, err := fsys.Mkdir(ctx, at("m"), nil)
			return err == nil, err
		}, ambit.ErrExists)
		var made sync.Map
		var sum atomic.Int32
		race("Mkdir with Parents", func(fsys *local.FileSystem, _ int) (bool, error) {
			created, err := fsys.Mkdir(ctx, at("p")+"/q/r", &ambit.MkdirOptions{Parents: true})
			for _, dir := range created {
				if _, again := made.LoadOrStore(dir, true); again {
					t.Errorf("%s was made twice", dir)
				}
				sum.Add(1)
			}
			return slices.Contains(created, "/"+at("p")+"/q/r"), err
		})
		if sum.Load() != 3 {
			t.Errorf("%d folders were made", sum.Load())
		}
		r := write(t, w.fsys, at("f"), "F", nil)
		race("Remove", func(fsys *local.FileSystem, _ int) (bool, error) {
			err := fsys.Remove(ctx, at("f"), &ambit.RemoveOptions{If: ambit.IfVersion(r.Info.Version)})
			return err == nil, err
		}, ambit.ErrChanged)
		race("Remove of a folder", func(fsys *local.FileSystem, _ int) (bool, error) {
			err := fsys.Remove(ctx, at("p"), &ambit.RemoveOptions{Recursive: true})
			return err == nil, err
		}, ambit.ErrNotFound)
		for i := range 8 {
			write(t, w.fsys, at("from")+fmt.Sprint(i), fmt.Sprint(i), nil)
		}
		race("Rename to one name", func(fsys *local.FileSystem, i int) (bool, error) {
			_, err := fsys.Rename(ctx, at("from")+fmt.Sprint(i), at("m")+"/to", nil)
			return err == nil, err
		}, ambit.ErrExists)
		race("Rename of one name", func(fsys *local.FileSystem, i int) (bool, error) {
			_, err := fsys.Rename(ctx, at("m")+"/to", at("elsewhere")+fmt.Sprint(i), nil)
			return err == nil, err
		}, ambit.ErrNotFound)
	}
	leftovers(t, w.root)
}

// Calls that need the locks of the same folders in both directions do not wait
// for each other, and no file is lost or doubled.
func TestCrossingRenames(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "a/\nb/\na/0 = 0\nb/1 = 1\na/sub/\n")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			from, to := "a", "b"
			if i%2 == 0 {
				from, to = to, from
			}
			for j := range 60 {
				name := fmt.Sprint("/", j%2)
				_, err := w.fsys.Rename(ctx, from+name, to+name, &ambit.RenameOptions{Replace: j%3 == 0})
				switch ambit.ReasonOf(err) {
				case "", ambit.ErrNotFound, ambit.ErrExists:
				default:
					t.Error(err)
				}
				if i == 0 {
					w.fsys.Rename(ctx, "a/sub", "b/sub", nil)
					w.fsys.Rename(ctx, "b/sub", "a/sub", nil)
				}
			}
		})
	}
	wg.Wait()
	all := slices.Concat(names(t, w.fsys, "a"), names(t, w.fsys, "b"))
	slices.Sort(all)
	if !slices.Equal(all, []string{"0", "1", "sub"}) {
		t.Errorf("there is %q", all)
	}
}

// Writers in a folder that others remove and move: each write is there or
// refused, nothing is left behind.
func TestWritingInVanishingFolders(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	stop := make(chan struct{})
	var wg, removers sync.WaitGroup
	removers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				w.fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true, MissingOK: true})
			} else if _, err := w.fsys.Rename(ctx, "d", fmt.Sprint("e", i), nil); err == nil {
				w.fsys.Remove(ctx, fmt.Sprint("e", i), &ambit.RemoveOptions{Recursive: true})
			}
		}
	})
	var done, refused atomic.Int32
	for i := range 4 {
		wg.Go(func() {
			for j := range 100 {
				_, err := ambit.WriteFile(ctx, w.fsys, fmt.Sprintf("d/sub%d/f%d", j%2, i), []byte("x"), &ambit.WriteOptions{Parents: j%4 != 0})
				switch ambit.ReasonOf(err) {
				case "":
					done.Add(1)
				case ambit.ErrNotFound, ambit.ErrChanged:
					refused.Add(1)
				default:
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	removers.Wait()
	if done.Load() == 0 {
		t.Error("no write was done")
	}
	w.fsys.Remove(ctx, "d", &ambit.RemoveOptions{Recursive: true, MissingOK: true})
	if got := names(t, w.fsys, "/"); len(got) != 0 {
		t.Errorf("there is %q", got)
	}
	leftovers(t, w.root)
	t.Logf("%d done, %d refused", done.Load(), refused.Load())
}
