// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/search"
)

// TestOrderOfJudgement has searches that are wrong in several ways.
func TestOrderOfJudgement(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fsys := range backends(t, map[string]string{"a": ""}) {
		for _, c := range []struct {
			ctx  context.Context
			base string
			want ambit.Reason
		}{
			{done, "a\x00b", ambit.ErrCanceled},
			{done, "gone", ambit.ErrCanceled},
			{t.Context(), "a\x00b", ambit.ErrInvalidPath},
			{t.Context(), "gone", ambit.ErrBadPattern},
		} {
			_, err := search.Glob(c.ctx, fsys, ambit.GlobQuery{Pattern: "[", Base: c.base})
			_, grepErr := search.Grep(c.ctx, fsys, ambit.GrepQuery{Pattern: "(", Base: c.base})
			if ambit.ReasonOf(err) != c.want || ambit.ReasonOf(grepErr) != c.want {
				t.Errorf("%s, %q: %v, %v, want %s", name, c.base, err, grepErr, c.want)
			}
		}
	}
}

// TestDeniedNamesAreNotCounted compares what a search counts with what it counts
// where the denied name is not there.
func TestDeniedNamesAreNotCounted(t *testing.T) {
	root := t.TempDir()
	disk, err := local.New(root, &local.Options{Deny: []string{"/secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	open, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	var sums [2]ambit.SearchSummary
	for i, name := range []string{"a.go", "secret"} {
		if _, err := ambit.WriteFile(t.Context(), open, name, nil, nil); err != nil {
			t.Fatal(err)
		}
		r, err := search.Glob(t.Context(), disk, ambit.GlobQuery{Pattern: "*.go"})
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = r.Summary
	}
	if sums[0].Searched != 1 || sums[1].Searched != 1 {
		t.Errorf("%d folders were listed, and with a denied name %d, want 1 each time", sums[0].Searched, sums[1].Searched)
	}
}

// TestLiteralPathsOfIgnoreFiles asks by name for what a search looks up for itself
// too: each is found once.
func TestLiteralPathsOfIgnoreFiles(t *testing.T) {
	for name, fsys := range backends(t, map[string]string{".git/config": "k\n", ".gitignore": "k\n", "sub/.gitignore": "k\n"}) {
		for _, path := range []string{".git/config", ".gitignore", "sub/.gitignore"} {
			r, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: path})
			if err != nil || len(r.Matches) != 1 || r.Summary.Matched != 1 {
				t.Errorf("%s: glob %s: %+v, %v", name, path, r, err)
			}
			g, err := search.Grep(t.Context(), fsys, ambit.GrepQuery{Pattern: "k", Include: []string{"x/y", path}})
			// One without a slash is for names at any depth.
			if err != nil || strings.Contains(path, "/") && len(g.Matches) != 1 {
				t.Errorf("%s: grep in %s: %+v, %v", name, path, g, err)
			}
		}
	}
}
