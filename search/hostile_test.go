// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// TestDeadlineHolds searches with what takes long, however it is looked at: by
// itself for many seconds, and not much longer than the caller wants to wait.
func TestDeadlineHolds(t *testing.T) {
	var ab strings.Builder
	for i, x := 0, uint32(1); i < 2<<20; i++ {
		x = x*1664525 + 1013904223
		ab.WriteByte("ab"[x>>31])
	}
	many := map[string]string{".gitignore": strings.Repeat("?*a*b\n", 1<<20/6)}
	for i := range 250 {
		many[fmt.Sprintf("%03d%s", i, strings.Repeat("ab", 118)+"x")] = "text"
	}
	for _, test := range []struct {
		name string
		fsys ambit.FileSystem
		q    ambit.GrepQuery
	}{
		{"states without end", memory.New(map[string]string{"f": ab.String()}, nil), ambit.GrepQuery{Pattern: `[ab]*a[ab]{900}[^ab]`}},
		{"and across lines", memory.New(map[string]string{"f": ab.String()}, nil), ambit.GrepQuery{Pattern: `[ab]*a[ab]{900}[^ab]`, Multiline: true}},
		{"rules without end", memory.New(many, nil), ambit.GrepQuery{Pattern: "text"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		start := time.Now()
		_, err := search.Grep(ctx, test.fsys, test.q)
		took := time.Since(start)
		cancel()
		if ambit.ReasonOf(err) != ambit.ErrTimeout {
			t.Errorf("%s: %v after %v, want timeout: it proves nothing if the search is quick", test.name, err, took)
		}
		if took > 8*time.Second { // a slow machine, with the race detector
			t.Errorf("%s: %v", test.name, took)
		}
	}
}

// TestIgnoreFilesAreBounded nests folders with large ignore files: their rules
// count until there are too many bytes of them, and the rest is told.
func TestIgnoreFilesAreBounded(t *testing.T) {
	files := map[string]string{}
	rules := strings.Repeat("%x/?*/\n", 400<<10/7)
	dir := ""
	for i := range 6 {
		files[dir+".gitignore"] = rules + "*.log\n"
		files[dir+"a.log"], files[dir+"a.txt"] = "", ""
		dir += fmt.Sprintf("d%d/", i)
	}
	files["d0/d1/d2/.gitignore"] = "!*.log\n" // there is room for it
	r, err := search.Glob(t.Context(), memory.New(files, nil), ambit.GlobQuery{Pattern: "**/a.*"})
	if err != nil {
		t.Fatal(err)
	}
	var skipped, found []string
	for _, s := range r.Summary.Skipped {
		skipped = append(skipped, fmt.Sprint(s))
	}
	for _, m := range r.Matches {
		if strings.HasSuffix(m.Info.Path, ".log") {
			found = append(found, m.Info.Path)
		}
	}
	// 400 KiB twice, then a third that does not fit, then a small one that does.
	if want := []string{"{/d0/d1/.gitignore too-large}", "{/d0/d1/d2/d3/.gitignore too-large}", "{/d0/d1/d2/d3/d4/.gitignore too-large}"}; !slices.Equal(skipped, want) {
		// d0/d1's own is the third.
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	if want := []string{"/d0/d1/d2/a.log", "/d0/d1/d2/d3/a.log", "/d0/d1/d2/d3/d4/a.log"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// A lister lists what it likes.
type lister struct {
	ambit.Forward
	names []string
}

func (l lister) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	listing, err := l.Forward.List(ctx, dir, o)
	if err == nil && listing.Dir == "/" {
		for _, name := range l.names {
			listing.Entries = append(listing.Entries, ambit.Entry{Name: name, Info: ambit.FileInfo{Path: "/" + name, Kind: ambit.KindRegular, Size: -1}})
		}
	}
	return listing, err
}

// TestNamesThatAreNone lists what is no name of an entry.
func TestNamesThatAreNone(t *testing.T) {
	base := memory.New(map[string]string{"d/e": "x\n", "f": "x\n"}, nil)
	fsys := lister{ambit.Forward{Base: base, Keep: base.Capabilities().ReadOnly()}, []string{"", ".", "..", "d/e", "f\x00"}}
	for _, q := range []ambit.GlobQuery{{Pattern: "**"}, {Pattern: "**", All: true}} {
		r, err := search.Glob(t.Context(), fsys, q)
		var got []string
		for _, m := range r.Matches {
			got = append(got, m.Info.Path)
		}
		if want := []string{"/d", "/d/e", "/f"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %q %v, want %q", q, got, err, want)
		}
	}
	r, err := search.Grep(t.Context(), fsys, ambit.GrepQuery{Pattern: "x"})
	if err != nil || len(r.Matches) != 2 {
		t.Errorf("%+v %v, want two lines", r.Matches, err)
	}
}

// TestRepositoryByALink has a repository whose .git is a link, as some tools make
// it: rules from above end there, too.
func TestRepositoryByALink(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{".gitignore": "*.log\n", "sub/x.log": "", "y.log": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../elsewhere", filepath.Join(root, "sub", ".git")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	disk, err := local.New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	for name, fsys := range map[string]ambit.FileSystem{"local": disk, "by List": withoutSearch(disk)} {
		for _, base := range []string{"/", "/sub"} {
			r, err := search.Glob(t.Context(), fsys, ambit.GlobQuery{Pattern: "**/*.log", Base: base})
			if err != nil || len(r.Matches) != 1 || r.Matches[0].Info.Path != "/sub/x.log" {
				t.Errorf("%s from %s: %v %v, want /sub/x.log alone", name, base, r.Matches, err)
			}
		}
	}
}
