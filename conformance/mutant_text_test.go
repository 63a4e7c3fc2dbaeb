// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/patch"
)

// without is a ground whose file systems do not keep what take removes.
func without(name string, take func(keep *ambit.Capabilities)) *ground {
	return &ground{name: name, build: func(_ *testing.T, tree conformance.Tree) (storage, error) {
		s, err := inMemoryStorage(tree, nil)
		if err != nil {
			return storage{}, err
		}
		keep := s.fsys.Capabilities()
		keep.Sub, keep.Guard = false, false
		take(&keep)
		s.fsys = ambit.Forward{Base: s.fsys, Keep: keep}
		return s, nil
	}}
}

// Grounds on which the checks of text have their refusal forms.
var (
	withoutReadAt = without("memory without ReadAt", func(keep *ambit.Capabilities) { keep.ReadAt = false })
	withoutSwap   = without("memory without Swap", func(keep *ambit.Capabilities) { keep.Swap = ambit.SwapNone })
	withoutRemove = without("memory without Remove", func(keep *ambit.Capabilities) { keep.Remove, keep.Commit = false, false })
)

// careless is a file system that takes no notice of preconditions: what an
// engine makes of it that gives none.
type careless struct{ ambit.Forward }

func newCareless(fsys ambit.FileSystem) careless {
	keep := fsys.Capabilities()
	keep.Sub, keep.Guard = false, false
	return careless{ambit.Forward{Base: fsys, Keep: keep}}
}

// Capabilities claims what it has not.
func (c careless) Capabilities() ambit.Capabilities {
	caps := c.Forward.Capabilities()
	caps.Swap = max(caps.Swap, ambit.SwapChecked)
	return caps
}

func (c careless) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	free := value(o)
	free.If = ambit.Precondition{}
	return c.Forward.Write(ctx, path, content, &free)
}

func (c careless) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	free := value(o)
	free.If = ambit.Precondition{}
	return c.Forward.Stage(ctx, path, content, &free)
}

func (c careless) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	free := value(o)
	free.If = ambit.Precondition{}
	return c.Forward.Remove(ctx, path, &free)
}

func (c careless) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	free := make([]ambit.Change, len(changes))
	for i, change := range changes {
		change.If = ambit.Precondition{}
		free[i] = change
	}
	time.Sleep(window)
	return c.Forward.Commit(ctx, free)
}

// TestFaultlessEngines proves that what the mutants of the engines have in common
// fails no check by itself.
func TestFaultlessEngines(t *testing.T) {
	same := func(text string) string { return text }
	for _, c := range []struct {
		name   string
		change func(e *conformance.TextEngine)
		checks []string
	}{
		{"edits in memory", saved(same), []string{
			"text/edit-literal", "text/edit-lone-cr", "text/edit-crlf", "text/edit-near-match", "text/edit-look-alikes", "text/edit-which",
			"text/rewrite-to-empty", "text/rewrite-endings", "text/rewrite-own-text", "text/edit-byte-order-mark", "text/edit-stray-bytes",
			"text/edit-utf-16", "text/edit-long-lines", "text/edit-large", "text/edit-empty-text", "text/edit-absurd-numbers",
		}},
		{"other ops", opsBy(newText(same)), []string{"text/rewrite-literal", "text/edit-to-nothing", "text/rewrite-endings", "text/edit-absurd-numbers"}},
		{"windows", shows(same), []string{"text/lines-verbatim", "text/lines-long"}},
		{"other hunks", hunksBy(func(*patch.Hunk) {}), []string{
			"text/patch-literal", "text/patch-end-of-file", "text/patch-anchor", "text/patch-ambiguous", "text/patch-stacked-anchors",
		}},
		{"files that are changed once more", leaves(func(_, content string, _ patch.Section) string { return content }), []string{
			"text/patch-final-newline", "text/patch-end-of-file", "text/patch-crlf", "text/patch-byte-order-mark", "text/patch-stray-bytes",
		}},
		{"plain searches", plainly(rightLines), []string{
			"text/grep-lines", "text/grep-crlf", "text/grep-literal", "text/grep-spans", "text/grep-byte-order-mark", "text/grep-stray-bytes", "text/grep-long-lines",
		}},
		{"names that are told again", tellsGlob(func(_ ambit.GlobQuery, found []ambit.GlobMatch, _ *ambit.SearchSummary) []ambit.GlobMatch {
			return found
		}), []string{
			"text/glob-double-star", "text/glob-order", "text/glob-empty", "text/glob-odd-names", "text/glob-limit", "text/search-dots", "text/search-ignored", "text/search-stops", "text/search-all-created",
		}},
		{"lines that are told again", tellsGrep(func(_ ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			return found
		}), []string{
			"text/grep-spans", "text/grep-multiline", "text/grep-context", "text/grep-modes", "text/grep-binary", "text/grep-clipped", "text/grep-limit", "text/grep-limit-context", "text/search-stops",
		}},
		{"searches by listing", over(func(_ context.Context, fsys ambit.FileSystem) ambit.FileSystem {
			return seenAs(fsys, func(string, *ambit.Listing) error { return nil }, nil)
		}), []string{"text/search-ignored", "text/search-vanishing", "text/search-beside-writers"}},
	} {
		report := conformance.RunWith(t.Context(), inMemory.target(t, unchanged), &conformance.Options{Only: c.checks, Deadline: patience}, c.change)
		if report.Count(conformance.Pass) != len(c.checks) {
			t.Errorf("%s: %s", c.name, report)
		}
	}
}

// TestTextMutants proves that each check of text can fail: there is a mutant for
// every one.
func TestTextMutants(t *testing.T) {
	killed := make(map[string]bool)
	for _, m := range mutants() {
		killed[m.check] = true
	}
	n := 0
	for _, c := range conformance.Checks() {
		if c.Level != conformance.LevelText {
			continue
		}
		n++
		if !killed[c.ID] {
			t.Errorf("no mutant is for %s", c.ID)
		}
	}
	if n < 130 {
		t.Errorf("only %d checks of text", n)
	}
}
