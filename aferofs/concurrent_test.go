// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
)

// alone runs f over every backend, for which the guard is the only user.
func alone(t *testing.T, f func(t *testing.T, fsys *aferofs.FileSystem)) {
	t.Helper()
	for _, b := range backends {
		if b.new == nil {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			f(t, aferofs.New(b.new(t), &aferofs.Options{Exclusive: true}))
		})
	}
}

// Of many writes on one version one succeeds, and no edit that was told to
// have succeeded is lost.
func TestCompareAndSwap(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		fill(t, fsys, map[string]string{"/f": "0"})
		const writers, rounds = 8, 20
		var wins atomic.Int64
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range rounds {
					data, info, err := ambit.ReadFile(ctx, fsys, "/f")
					if told(err) == "changed" {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					n, err := strconv.Atoi(string(data))
					if err != nil {
						t.Error(err)
						return
					}
					_, err = fsys.Write(ctx, "/f", strings.NewReader(strconv.Itoa(n+1)), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
					switch told(err) {
					case "ok":
						wins.Add(1)
					case "changed":
					default:
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if data, _, err := ambit.ReadFile(ctx, fsys, "/f"); string(data) != fmt.Sprint(wins.Load()) || err != nil {
			t.Errorf("%d writes succeeded, the file counts %s, %v", wins.Load(), data, err)
		}
		if wins.Load() == 0 {
			t.Error("no write succeeded")
		}
	})
}

// Of many creations of one name one succeeds, and the file is its maker's.
func TestCreateOnce(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		for round := range 5 {
			path := fmt.Sprintf("/n%d/new", round)
			var winners, others []int
			var mu sync.Mutex
			var wg sync.WaitGroup
			for id := range 50 {
				wg.Go(func() {
					_, err := fsys.Write(ctx, path, strings.NewReader(strconv.Itoa(id)), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true})
					mu.Lock()
					defer mu.Unlock()
					switch told(err) {
					case "ok":
						winners = append(winners, id)
					case "exists":
						others = append(others, id)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(winners) != 1 || len(others) != 49 {
				t.Fatalf("%d have made the file", len(winners))
			}
			if data, _, err := ambit.ReadFile(ctx, fsys, path); string(data) != strconv.Itoa(winners[0]) || err != nil {
				t.Errorf("it is %s's, made by %d, %v", data, winners[0], err)
			}
			if l, err := fsys.List(ctx, ambit.Dir(path), nil); err != nil || len(l.Entries) != 1 {
				t.Errorf("listed %+v, %v", l, err)
			}
		}
	})
}

// Writers of one file never mix, and readers see one content whole.
func TestWholeContents(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		const size = 256 << 10
		one := func(data []byte) bool {
			return len(data) == size && bytes.Count(data, data[:1]) == size
		}
		fill(t, fsys, map[string]string{"/f": strings.Repeat("a", size)})
		stop := make(chan struct{})
		var readers, writers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					f, err := fsys.Open(ctx, "/f")
					if err != nil {
						t.Error(err)
						return
					}
					data, err := io.ReadAll(f)
					f.Close()
					if err != nil || !one(data) {
						t.Errorf("read %d bytes of several letters, %v", len(data), err)
						return
					}
				}
			})
		}
		for w := range 8 {
			writers.Go(func() {
				content := strings.Repeat(string(rune('a'+w)), size)
				for range 6 {
					if _, err := fsys.Write(ctx, "/f", strings.NewReader(content), nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		close(stop)
		readers.Wait()
		if data, _, err := ambit.ReadFile(ctx, fsys, "/f"); err != nil || !one(data) {
			t.Errorf("it is left with several letters, %v", err)
		}
	})
}

// Appends all survive, none inside another.
func TestAppends(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		var want []string
		var wg sync.WaitGroup
		for w := range 8 {
			for i := range 10 {
				want = append(want, fmt.Sprintf("writer %d line %d", w, i))
			}
			wg.Go(func() {
				for i := range 10 {
					if _, err := fsys.Append(ctx, "/log", strings.NewReader(fmt.Sprintf("writer %d line %d\n", w, i)), nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		data, _, err := ambit.ReadFile(ctx, fsys, "/log")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d lines, want %d", len(got), len(want))
		}
	})
}

// Files made at the same time in folders that are made on the way are all
// listed, and each folder was made once.
func TestEntriesAfterConcurrentCreation(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		const goroutines, files = 20, 10
		var made atomic.Int64
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := range files {
					r, err := fsys.Write(ctx, fmt.Sprintf("/new/dir/%d-%d", g, i), strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
					if err != nil {
						t.Error(err)
					}
					made.Add(int64(len(r.CreatedDirs)))
				}
			})
		}
		wg.Wait()
		l, err := fsys.List(ctx, "/new/dir", nil)
		if err != nil || len(l.Entries) != goroutines*files {
			t.Errorf("%d entries, %v", len(l.Entries), err)
		}
		if made.Load() != 2 {
			t.Errorf("2 folders were made %d times", made.Load())
		}
		var wins atomic.Int64
		for range 8 {
			wg.Go(func() {
				if created, err := fsys.Mkdir(ctx, "/p/q", &ambit.MkdirOptions{Parents: true}); err != nil {
					t.Error(err)
				} else {
					wins.Add(int64(len(created)))
				}
			})
		}
		wg.Wait()
		if wins.Load() != 2 {
			t.Errorf("2 folders were made %d times", wins.Load())
		}
	})
}

// Eight goroutines do everything at once: no panic, no race, and only reasons
// that such company explains.
func TestEverythingAtOnce(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		paths := []string{"/a", "/b", "/d", "/d/a", "/d/b", "/d/d", "/d/d/a", "/e/a"}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 40 {
					path, other := paths[(g*7+i*3)%len(paths)], paths[(g+i*5)%len(paths)]
					var err error
					switch (g + i) % 10 {
					case 0, 1:
						_, err = fsys.Write(ctx, path, strings.NewReader(path), &ambit.WriteOptions{Parents: true})
					case 2:
						_, err = fsys.Append(ctx, path, strings.NewReader("+"), &ambit.AppendOptions{Parents: true})
					case 3:
						_, err = fsys.Rename(ctx, path, other, &ambit.RenameOptions{Replace: true, Parents: true})
					case 4:
						err = fsys.Remove(ctx, path, recursive)
					case 5:
						_, err = fsys.Mkdir(ctx, path, &ambit.MkdirOptions{Parents: true})
					case 6:
						_, err = fsys.List(ctx, path, &ambit.ListOptions{Details: true})
					case 7:
						var s ambit.Staged
						if s, err = fsys.Stage(ctx, path, strings.NewReader("staged"), &ambit.WriteOptions{Parents: true}); err == nil {
							if i%2 == 0 {
								_, err = s.Publish(ctx)
							} else {
								err = s.Discard(ctx)
							}
						}
					case 8:
						_, err = fsys.Commit(ctx, []ambit.Change{
							{Op: ambit.OpWrite, Path: "/c/one", Content: strings.NewReader("x"), Parents: true},
							{Op: ambit.OpWrite, Path: "/c/two", Content: strings.NewReader("x"), Parents: true},
						})
					case 9:
						var f ambit.File
						if f, err = fsys.Open(ctx, path); err == nil {
							if _, readErr := io.ReadAll(f); readErr != nil {
								t.Error(readErr)
							}
							f.Verify(ctx)
							f.Close()
						}
					}
					switch told(err) {
					case "ok", "not-found", "not-a-file", "not-a-directory", "exists", "not-empty", "invalid", "changed":
					default:
						t.Errorf("%v", err)
					}
				}
			})
		}
		wg.Wait()
		contents(t, fsys)
	})
}

// ReadAt of one File from many goroutines, and Close meanwhile.
func TestReadAtConcurrently(t *testing.T) {
	alone(t, func(t *testing.T, fsys *aferofs.FileSystem) {
		ctx := t.Context()
		content := strings.Repeat("0123456789", 1000)
		fill(t, fsys, map[string]string{"/f": content})
		f, err := fsys.Open(ctx, "/f")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				b := make([]byte, 100)
				for i := range 100 {
					off := (g*997 + i*31) % (len(content) - len(b))
					n, err := f.(io.ReaderAt).ReadAt(b, int64(off))
					if told(err) == "closed" {
						return
					}
					if err != nil || n != len(b) || string(b) != content[off:off+len(b)] {
						t.Errorf("at %d: %q, %v", off, b[:n], err)
						return
					}
				}
			})
		}
		wg.Go(func() {
			for range 20 {
				if _, err := fsys.Write(ctx, "/f", strings.NewReader("x"), nil); err != nil {
					t.Error(err)
				}
			}
			f.Close()
			f.Close()
		})
		wg.Wait()
		if _, err := f.Read(nil); told(err) != "closed" {
			t.Errorf("after Close: %v", err)
		}
	})
}
