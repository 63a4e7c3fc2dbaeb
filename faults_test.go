// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

// faultScenarios are changes by fallbacks over the tree of newFaulty, whose end is known.
var faultScenarios = []struct {
	name string
	call func(ctx context.Context, fsys ambit.FileSystem) error
	done map[string]string // what differs then; "-" is gone
}{
	{"append", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Append(ctx, fsys, "a", strings.NewReader("+"), nil)
		return err
	}, map[string]string{"/a": "A+"}},
	{"append to a new file", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Append(ctx, fsys, "new", strings.NewReader("+"), nil)
		return err
	}, map[string]string{"/new": "+"}},
	{"rename", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Rename(ctx, fsys, "a", "new", nil)
		return err
	}, map[string]string{"/a": "-", "/new": "A"}},
	{"rename over a file", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Rename(ctx, fsys, "a", "b", &ambit.RenameOptions{Replace: true})
		return err
	}, map[string]string{"/a": "-", "/b": "A"}},
	{"stage and publish", func(ctx context.Context, fsys ambit.FileSystem) error {
		s, err := ambit.Stage(ctx, fsys, "a", strings.NewReader("new"), nil)
		if err != nil {
			return err
		}
		_, err = s.Publish(ctx)
		return err
	}, map[string]string{"/a": "new"}},
	{"copy", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Copy(ctx, fsys, "b", fsys, "a", nil)
		return err
	}, map[string]string{"/b": "A"}},
	{"commit", func(ctx context.Context, fsys ambit.FileSystem) error {
		_, err := ambit.Commit(ctx, fsys, []ambit.Change{
			{Op: ambit.OpWrite, Path: "a", Content: strings.NewReader("A2"), Mode: 0o640},
			{Op: ambit.OpWrite, Path: "new", Content: strings.NewReader("N"), If: ambit.IfAbsent()},
			{Op: ambit.OpRemove, Path: "b"},
			{Op: ambit.OpWrite, Path: "c", Content: strings.NewReader("C2")},
		})
		return err
	}, map[string]string{"/a": "A2", "/new": "N", "/b": "-", "/c": "C2"}},
}

func newFaulty() *double {
	d := newDouble(map[string]string{"/a": "A", "/b": "B", "/c": "C"})
	d.nodes["/a"].mode, d.nodes["/b"].mode = 0o600, 0o755
	return d
}

// faultsAt lets the calls of these numbers fail, counted from 0, before they have done anything or, for changes, after.
type faultsAt struct {
	err   error
	after bool
	hits  []int
	from  int // this call and all after it fail too; -1: none
	count int
	hit   bool
}

func (f *faultsAt) put(d *double) {
	hook := func(op, _ string) error {
		n := f.count
		f.count++
		if slices.Contains(f.hits, n) || f.from >= 0 && n >= f.from {
			f.hit = true
			return f.err
		}
		return nil
	}
	if f.after {
		d.after = func(op, canonical string) error {
			if op == ambit.OpWrite || op == ambit.OpRemove {
				return hook(op, canonical)
			}
			return nil
		}
		return
	}
	d.before = hook
}

// TestFallbackFaults lets every call that a fallback makes fail, each alone, each with every other, and each with all that
// follow. Either all is done, or all is as it was, or the reason is partial: and that exactly when something stands.
func TestFallbackFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, s := range faultScenarios {
		t.Run(s.name, func(t *testing.T) {
			d := newFaulty()
			count := &faultsAt{from: -1}
			count.put(d)
			before, modes := newFaulty().dump(), newFaulty().modes()
			if err := s.call(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			done := maps.Clone(before)
			for path, content := range s.done {
				if done[path] = content; content == "-" {
					delete(done, path)
				}
			}
			if diff := cmp.Diff(done, d.dump()); diff != "" {
				t.Fatalf("without a fault (-want +got):\n%s", diff)
			}
			outcomes := make(map[string]int)
			run := func(f *faultsAt) {
				t.Helper()
				what := fmt.Sprintf("faults %+v", *f)
				d := newFaulty()
				f.put(d)
				err := s.call(t.Context(), d)
				got := d.dump()
				reason := ambit.ReasonOf(err)
				switch {
				case !f.hit || err == nil:
					outcomes["done"]++
					if err != nil {
						t.Errorf("%s: %v without a fault", what, err)
					}
					if diff := cmp.Diff(done, got); diff != "" {
						t.Errorf("%s: done (-want +got):\n%s", what, diff)
					}
				case maps.Equal(before, got):
					outcomes["undone"]++
					if reason != ambit.ErrIO || !errors.Is(err, broken) {
						t.Errorf("%s: all is as before, and the error is %v", what, err)
					}
					if diff := cmp.Diff(modes, d.modes()); diff != "" {
						t.Errorf("%s: modes (-want +got):\n%s", what, diff)
					}
				default:
					outcomes["partial"]++
					if reason != ambit.ErrPartial {
						t.Errorf("%s: %q, and the error is %v", what, got, err)
					}
				}
			}
			for n := range count.count {
				run(&faultsAt{err: broken, hits: []int{n}, from: -1})
				run(&faultsAt{err: broken, from: n})
				for m := n + 1; m < 2*count.count; m++ {
					run(&faultsAt{err: broken, hits: []int{n, m}, from: -1})
				}
			}
			if outcomes["undone"] == 0 {
				t.Errorf("outcomes %v", outcomes)
			}
			if several := s.name == "commit" || strings.HasPrefix(s.name, "rename"); several != (outcomes["partial"] > 0) {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	}
}

// TestFallbackFaultsAfter lets every change that a fallback makes be done and answered with an error. One that is done
// though not durable is done; after an answer that was lost nothing is lost.
func TestFallbackFaultsAfter(t *testing.T) {
	for _, s := range faultScenarios {
		for _, reason := range []ambit.Reason{ambit.ErrNotDurable, ambit.ErrOutcomeUnknown} {
			for n := range 12 {
				what := fmt.Sprintf("%s, %s at %d", s.name, reason, n)
				d := newFaulty()
				f := &faultsAt{err: reason, after: true, hits: []int{n}, from: -1}
				f.put(d)
				err := s.call(t.Context(), d)
				got := d.dump()
				done := newFaulty().dump()
				for path, content := range s.done {
					if done[path] = content; content == "-" {
						delete(done, path)
					}
				}
				switch {
				case !f.hit:
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
				case reason == ambit.ErrNotDurable:
					if ambit.ReasonOf(err) != reason {
						t.Errorf("%s: %v", what, err)
					}
				default:
					if r := ambit.ReasonOf(err); r != ambit.ErrOutcomeUnknown && r != ambit.ErrPartial {
						t.Errorf("%s: %v", what, err)
					}
					if strings.HasPrefix(s.name, "rename") && !strings.Contains(got["/a"]+got["/b"]+got["/new"], "A") {
						t.Errorf("%s: the file is lost: %q", what, got)
					}
					continue
				}
				if diff := cmp.Diff(done, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		}
	}
}

// TestFallbacksUndoWithoutTheContext: the end of the context that failed a change does not keep it from being undone.
func TestFallbacksUndoWithoutTheContext(t *testing.T) {
	for _, s := range faultScenarios {
		count := &faultsAt{from: -1}
		d := newFaulty()
		count.put(d)
		if err := s.call(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for n := range count.count {
			ctx, cancel := context.WithCancel(t.Context())
			d := newFaulty()
			calls := 0
			d.before = func(string, string) error {
				defer func() { calls++ }()
				if calls == n {
					cancel()
					return ctx.Err()
				}
				return nil
			}
			err := s.call(ctx, d)
			cancel()
			if ambit.ReasonOf(err) != ambit.ErrCanceled {
				t.Errorf("%s, cancelled at %d: %v", s.name, n, err)
			}
			if diff := cmp.Diff(newFaulty().dump(), d.dump()); diff != "" {
				t.Errorf("%s, cancelled at %d (-want +got):\n%s", s.name, n, diff)
			}
		}
	}
}

// TestFallbacksMeetOthers lets somebody else replace a file before any call of a fallback. What they wrote is not lost,
// unless it was there when the fallback first looked, or the fallback overwrites whatever is there.
func TestFallbacksMeetOthers(t *testing.T) {
	outcomes := make(map[string]int)
	for _, s := range faultScenarios {
		for _, path := range []string{"/a", "/b", "/c", "/new"} {
			for n := 0; ; n++ {
				what := fmt.Sprintf("%s, %s replaced before call %d", s.name, path, n)
				d := newFaulty()
				calls, looked := 0, false
				d.before = func(op, canonical string) error {
					if calls < n && canonical == path && (op == ambit.OpOpen || op == ambit.OpLstat && s.name != "commit") {
						looked = true
					}
					if calls == n {
						d.mu.Lock()
						d.clock++
						d.nodes[path] = &doubleNode{kind: ambit.KindRegular, data: []byte("other"), mode: 0o644, version: d.clock}
						d.mu.Unlock()
					}
					calls++
					return nil
				}
				err := s.call(t.Context(), d)
				if calls <= n {
					if n < 3 {
						t.Errorf("%s: there is no such call", what)
					}
					break
				}
				there := false
				for _, content := range d.dump() {
					there = there || strings.Contains(content, "other")
				}
				overwrites := s.name == "stage and publish" || s.name == "copy"
				if !there && (err != nil || looked && !overwrites) {
					t.Errorf("%s: what the other wrote is lost: %q, %v", what, d.dump(), err)
				}
				switch reason := ambit.ReasonOf(err); reason {
				case "", ambit.ErrChanged, ambit.ErrExists:
					outcomes[string(reason)]++
				default:
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
	if outcomes[""] == 0 || outcomes["changed"] == 0 || outcomes["exists"] == 0 {
		t.Errorf("outcomes %v", outcomes)
	}
}
