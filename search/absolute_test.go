// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"slices"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// TestPatternsFromTheRoot gives patterns as results give paths.
func TestPatternsFromTheRoot(t *testing.T) {
	files := map[string]string{"a/x.go": "", "a/.b/y.go": "", "a/b/z.go": "", "x.go": "", "[c]/w.go": ""}
	root := backends(t, files)
	chdir, err := ambit.Chdir(t.Context(), memory.New(files, nil), "/a")
	if err != nil {
		t.Fatal(err)
	}
	root["in another folder"] = chdir
	for name, fsys := range root {
		for _, test := range []struct {
			pattern, base string
			want          []string // nil: bad-pattern
		}{
			{"/a/*.go", "", []string{"/a/x.go"}},
			{"/a/*.go", "/", []string{"/a/x.go"}},
			{"/a/*.go", "/a", []string{"/a/x.go"}},
			{"/**/*.go", "/a", []string{"/a/b/z.go", "/a/x.go"}},
			{"/{a,b}/b/*", "/a/", []string{"/a/b/z.go"}},
			{"/a/.b/*.go", "/a/.b", []string{"/a/.b/y.go"}},
			{"/a/*/*.go", "/a/.b", []string{"/a/.b/y.go"}},
			{"/\\[c\\]/*.go", "/[c]", []string{"/[c]/w.go"}},
			{"/a/x.go", "/a/x.go", []string{"/a/x.go"}},
			{"/*.go", "/a", nil},
			{"/b/*.go", "/a", nil},
		} {
			r, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: test.pattern, Base: test.base})
			var got []string
			for _, m := range r.Matches {
				got = append(got, m.Info.Path)
			}
			if test.want == nil != (ambit.ReasonOf(err) == ambit.ErrBadPattern) || test.want != nil && err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %q from %q: %q %v, want %q", name, test.pattern, test.base, got, err, test.want)
			}
		}
	}
	host := t.TempDir()
	disk, err := local.Host([]string{host}, nil)
	if err != nil {
		t.Skip("there is no Host here:", err)
	}
	defer disk.Close()
	if _, err := ambit.WriteFile(t.Context(), disk, host+"/f.go", nil, nil); err != nil {
		t.Fatal(err)
	}
	r, err := search.Glob(t.Context(), disk, ambit.GlobQuery{Pattern: host + "/*.go"})
	if err != nil || len(r.Matches) != 1 {
		t.Errorf("by the path of the host: %v %v", r.Matches, err)
	}
}
