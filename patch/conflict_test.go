// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// meddled is a file system in which something happens right before a commit.
type meddled struct {
	*local.FileSystem
	meddle func()
}

func (m meddled) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	m.meddle()
	return m.FileSystem.Commit(ctx, changes)
}

type meddledMemory struct {
	*memory.FileSystem
	meddle func()
}

func (m meddledMemory) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	m.meddle()
	return m.FileSystem.Commit(ctx, changes)
}

// slow is one without a commit of its own, in which something happens right
// before the first change is staged.
type slow struct {
	*memory.FileSystem
	meddle func()
}

func (s slow) Capabilities() ambit.Capabilities {
	caps := s.FileSystem.Capabilities()
	caps.Commit = false
	return caps
}

func (s slow) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	s.meddle()
	return s.FileSystem.Stage(ctx, path, content, o)
}

func (s slow) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	s.meddle()
	return s.FileSystem.Remove(ctx, path, o)
}

// TestMeanwhile is CONC-06: a file changes between planning and publishing.
func TestMeanwhile(t *testing.T) {
	files := map[string]string{"first": "1\n", "f": "A\n", "other": "O\n"}
	for name, text := range map[string]string{
		"update":          begin("*** Update File: first", "@@", "-1", "+2", "*** Update File: f", "@@", "-A", "+B"),
		"delete":          begin("*** Update File: first", "@@", "-1", "+2", "*** Delete File: f"),
		"move":            begin("*** Update File: first", "@@", "-1", "+2", "*** Update File: f", "*** Move to: g"),
		"move and change": begin("*** Update File: first", "@@", "-1", "+2", "*** Update File: f", "*** Move to: new/g", "@@", "-A", "+B"),
		"copy":            "diff --git a/first b/first\n--- a/first\n+++ b/first\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/f b/copy\nsimilarity index 100%\ncopy from f\ncopy to copy\n",
		"mode":            "diff --git a/first b/first\n--- a/first\n+++ b/first\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/f b/f\nold mode 100644\nnew mode 100755\n",
	} {
		line := "line 6 of the patch"
		if strings.HasPrefix(text, "diff") {
			line = "line 7 of the patch"
		}
		t.Run(name, func(t *testing.T) {
			want := maps.Clone(files)
			want["f"] = "A\nmeanwhile\n"
			judge := func(t *testing.T, fsys ambit.FileSystem) {
				t.Helper()
				r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
				if ambit.ReasonOf(err) != ambit.ErrChanged || !strings.Contains(err.Error(), line) {
					t.Errorf("%v, want changed, with the line", err)
				}
				judgeReport(t, fsys, parse(t, text), r, err)
				if diff := cmp.Diff(want, snapshot(t, fsys)); diff != "" {
					t.Errorf("something was done or lost:\n%s", diff)
				}
			}
			t.Run("local", func(t *testing.T) {
				dir := t.TempDir()
				fsys := onDisk(t, dir, files, nil)
				judge(t, meddled{fsys, sync.OnceFunc(func() {
					f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_APPEND|os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					f.WriteString("meanwhile\n")
					f.Close()
				})})
			})
			t.Run("memory", func(t *testing.T) {
				if name == "copy" {
					return // what is copied has been read by then
				}
				fsys := memory.New(files, nil)
				judge(t, slow{fsys, sync.OnceFunc(func() { fsys.SetFile("f", "A\nmeanwhile\n") })})
			})
		})
	}
}

// TestKeptMeanwhile: a file changes by which a patch is judged and which it does
// not write, when all contents have been made.
func TestKeptMeanwhile(t *testing.T) {
	copied := "diff --git a/f b/copy\ncopy from f\ncopy to copy\n"
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"copy":                {copied, 1},
		"beside a large copy": {"diff --git a/large b/larger\ncopy from large\ncopy to larger\n" + copied, 4},
		"copy and change":     {copied + "--- a/f\n+++ b/copy\n@@ -1 +1 @@\n-A\n+B\n", 1},
		"a hunk that is done": {begin("*** Update File: f", "@@", "-A", "+A", "*** Update File: other", "@@", "-O", "+P"), 2},
		"beside a deletion":   {begin("*** Update File: f", "@@", "-A", "+A", "*** Delete File: other", "*** Add File: n", "+n"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"f": "A\n", "other": "O\n", "large": strings.Repeat("x\n", 100_000)}
			want := maps.Clone(files)
			want["f"] = "theirs\n"
			judge := func(t *testing.T, fsys ambit.FileSystem) {
				t.Helper()
				r, err := patch.Apply(t.Context(), fsys, parse(t, c.text), nil)
				if ambit.ReasonOf(err) != ambit.ErrChanged || !slices.Equal(problems(r), []string{fmt.Sprintf("%d changed", c.line)}) {
					t.Errorf("%v, problems %q; want changed, with line %d", err, problems(r), c.line)
				}
				judgeReport(t, fsys, parse(t, c.text), r, err)
				if diff := cmp.Diff(want, snapshot(t, fsys)); diff != "" {
					t.Errorf("something was done or lost:\n%s", diff)
				}
			}
			t.Run("local", func(t *testing.T) {
				dir := t.TempDir()
				fsys := onDisk(t, dir, files, nil)
				judge(t, meddled{fsys, func() {
					if err := os.WriteFile(filepath.Join(dir, "f"), []byte("theirs\n"), 0o644); err != nil {
						t.Fatal(err)
					}
				}})
			})
			t.Run("memory", func(t *testing.T) {
				fsys := memory.New(files, nil)
				judge(t, meddledMemory{fsys, func() { fsys.SetFile("f", "theirs\n") }})
			})
		})
	}
}

// TestComesMeanwhile: a new file never takes the place of one that came to be.
func TestComesMeanwhile(t *testing.T) {
	for _, text := range []string{
		begin("*** Update File: a", "@@", "-A", "+B", "*** Add File: n", "+x"),
		begin("*** Update File: a", "@@", "-A", "+B", "*** Update File: b", "*** Move to: n"),
	} {
		dir := t.TempDir()
		fsys := onDisk(t, dir, map[string]string{"a": "A\n", "b": "B\n"}, nil)
		meddling := meddled{fsys, sync.OnceFunc(func() { os.WriteFile(filepath.Join(dir, "n"), []byte("theirs\n"), 0o644) })}
		r, err := patch.Apply(t.Context(), meddling, parse(t, text), nil)
		if ambit.ReasonOf(err) != ambit.ErrExists {
			t.Errorf("%v, want exists", err)
		}
		judgeReport(t, fsys, parse(t, text), r, err)
		if got := snapshot(t, fsys); !cmp.Equal(got, map[string]string{"a": "A\n", "b": "B\n", "n": "theirs\n"}) {
			t.Errorf("%q", got)
		}
	}
}

// failing is a file system whose commit fails after it, with an error and
// results of the test.
type failing struct {
	*memory.FileSystem
	commit func(results []ambit.WriteResult) ([]ambit.WriteResult, error)
}

func (f failing) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	results, err := f.FileSystem.Commit(ctx, changes)
	if err != nil {
		return results, err
	}
	return f.commit(results)
}

// TestStates: what a failed commit leaves is told as it is.
func TestStates(t *testing.T) {
	const applied, unchanged, unknown = patch.StateApplied, patch.StateUnchanged, patch.StateUnknown
	for _, c := range []struct {
		name    string
		commit  func(results []ambit.WriteResult) ([]ambit.WriteResult, error)
		want    ambit.Reason
		applied bool
		states  []patch.State
	}{
		{"not durable", func(r []ambit.WriteResult) ([]ambit.WriteResult, error) {
			return r, &ambit.Error{Op: ambit.OpCommit, Path: "/b", Reason: ambit.ErrNotDurable}
		}, ambit.ErrNotDurable, true, []patch.State{applied, applied, applied}},
		{"partial", func(r []ambit.WriteResult) ([]ambit.WriteResult, error) {
			r[1], r[2] = ambit.WriteResult{}, ambit.WriteResult{}
			return r, &ambit.Error{Op: ambit.OpCommit, Path: "/b", Reason: ambit.ErrPartial}
		}, ambit.ErrPartial, false, []patch.State{applied, unknown, unchanged}},
		{"partial, without results", func([]ambit.WriteResult) ([]ambit.WriteResult, error) {
			return nil, &ambit.Error{Op: ambit.OpCommit, Path: "/b", Reason: ambit.ErrPartial}
		}, ambit.ErrPartial, false, []patch.State{unknown, unknown, unknown}},
		{"outcome unknown", func([]ambit.WriteResult) ([]ambit.WriteResult, error) {
			return nil, &ambit.Error{Op: ambit.OpCommit, Path: "/a", Reason: ambit.ErrOutcomeUnknown}
		}, ambit.ErrOutcomeUnknown, false, []patch.State{unknown, unknown, unknown}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := failing{memory.New(map[string]string{"a": "A\n", "b": "B\n"}, nil), c.commit}
			text := begin("*** Update File: a", "@@", "-A", "+C", "*** Update File: b", "@@", "-B", "+C", "*** Add File: c", "+C")
			r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
			if ambit.ReasonOf(err) != c.want || r.Applied != c.applied {
				t.Errorf("%v (applied: %v), want %s", err, r.Applied, c.want)
			}
			var states []patch.State
			for _, f := range r.Files {
				states = append(states, f.State)
			}
			if !slices.Equal(states, c.states) {
				t.Errorf("states %v, want %v", states, c.states)
			}
		})
	}
}

// TestCommitFails: any other failure of a commit leaves all as it was.
func TestCommitFails(t *testing.T) {
	for _, reason := range []ambit.Reason{ambit.ErrIO, ambit.ErrNoSpace, ambit.ErrCanceled} {
		failing := true
		fsys := memory.New(map[string]string{"a": "A\n", "b": "B\n"}, &memory.Options{Faults: func(op, path string) error {
			if failing && op == ambit.OpCommit {
				return reason
			}
			return nil
		}})
		text := begin("*** Update File: a", "@@", "-A", "+C", "*** Add File: new/n", "+C", "*** Delete File: b")
		r, err := patch.Apply(t.Context(), fsys, parse(t, text), nil)
		if ambit.ReasonOf(err) == "" {
			t.Fatal("the fault was not asked for")
		}
		if ambit.ReasonOf(err) != reason {
			t.Errorf("%v, want %s", err, reason)
		}
		failing = false
		judgeReport(t, fsys, parse(t, text), r, err)
		if got := snapshot(t, fsys); !cmp.Equal(got, map[string]string{"a": "A\n", "b": "B\n"}) {
			t.Errorf("%q", got)
		}
	}
}

// TestSerial has two handles of one folder apply patches to overlapping sets of
// files at the same time, each again and again until it fits: the result is that
// of some order, and each patch is there as a whole.
func TestSerial(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		dir := t.TempDir()
		files := map[string]string{"a": "0\n", "b": "0\n", "c": "0\n", "log": ""}
		handles := []*local.FileSystem{onDisk(t, dir, files, nil), onDisk(t, dir, nil, nil)}
		var wg sync.WaitGroup
		for who, fsys := range handles {
			wg.Go(func() {
				own := [][]string{{"a", "b"}, {"b", "c"}}[who]
				for done := 0; done < 4; {
					// b has what the last one wrote, whoever that was.
					b, _, err := ambit.ReadFile(t.Context(), fsys, "b")
					if ambit.ReasonOf(err) == ambit.ErrChanged {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					last := strings.TrimSuffix(string(b), "\n")
					mine, _, err := ambit.ReadFile(t.Context(), fsys, [2]string{"a", "c"}[who])
					if ambit.ReasonOf(err) == ambit.ErrChanged {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					now := fmt.Sprintf("%d-%d", who, done)
					lines := []string{}
					for _, name := range own {
						old := last
						if name != "b" {
							old = strings.TrimSuffix(string(mine), "\n")
						}
						lines = append(lines, "*** Update File: "+name, "@@", "-"+old, "+"+now)
					}
					lines = append(lines, "*** Update File: log", "@@", "+"+last+">"+now, "*** End of File")
					p, err := patch.Parse(begin(lines...))
					if err != nil {
						t.Error(err)
						return
					}
					_, err = patch.Apply(t.Context(), fsys, p, nil)
					switch ambit.ReasonOf(err) {
					case "":
						done++
					case ambit.ErrChanged, ambit.ErrNoMatch:
					default:
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		got := snapshot(t, handles[0])
		// The log is a chain: each patch was made on what the one before left.
		last := map[string]string{"a": "0", "b": "0", "c": "0"}
		count := 0
		for line := range strings.Lines(got["log"]) {
			before, after, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ">")
			if before != last["b"] {
				t.Fatalf("a patch was made on %s, which was not there: %q", before, got["log"])
			}
			last["b"] = after
			last[[2]string{"a", "c"}[after[0]-'0']] = after
			count++
		}
		for name, text := range last {
			if got[name] != text+"\n" {
				t.Errorf("%s is %q, by the log %q", name, got[name], text)
			}
		}
		if count != 8 {
			t.Errorf("%d patches in the log, want 8: %q", count, got["log"])
		}
	}
}

// TestOneCreates is CONC-04 for patches.
func TestOneCreates(t *testing.T) {
	backends(t, nil, func(t *testing.T, fsys ambit.WritableFileSystem) {
		var wg sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			p := parse(t, begin("*** Add File: new", fmt.Sprintf("+%d", i), fmt.Sprintf("*** Add File: d%d/n", i), "+x"))
			wg.Go(func() { _, errs[i] = patch.Apply(t.Context(), fsys, p, nil) })
		}
		wg.Wait()
		var winners []int
		for i, err := range errs {
			switch ambit.ReasonOf(err) {
			case "":
				winners = append(winners, i)
			case ambit.ErrExists, ambit.ErrChanged:
			default:
				t.Error(err)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("%d have created the file", len(winners))
		}
		w := winners[0]
		want := map[string]string{"new": fmt.Sprintf("%d\n", w), fmt.Sprintf("d%d/", w): "", fmt.Sprintf("d%d/n", w): "x\n"}
		if diff := cmp.Diff(want, snapshot(t, fsys)); diff != "" {
			t.Error(diff)
		}
	})
}
