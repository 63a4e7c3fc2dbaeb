// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// neverIssued is a well-formed version that no file has.
const neverIssued ambit.Version = "never-issued-by-anyone"

// published checks the result of a change that published content at the clean
// path: every field, that all ways to look agree with it, and the bytes.
func (p *probe) published(r ambit.WriteResult, path, content string, created bool, dirs ...string) {
	p.describes(r.Info, path, content)
	if r.Created != created {
		p.errorf("%q: Created is %v, want %v", path, r.Created, created)
	}
	if !slices.Equal(r.CreatedDirs, dirs) {
		p.errorf("%q: CreatedDirs are %q, want %q, outermost first", path, r.CreatedDirs, dirs)
	}
	for _, dir := range r.CreatedDirs {
		if info := p.stat(dir); info.Kind != ambit.KindDirectory || info.Path != dir {
			p.errorf("the created folder %q is described as %s %q", dir, info.Kind, info.Path)
		}
	}
}

// describes checks that info tells of a file at the clean path with content,
// and that all ways to look agree with it.
func (p *probe) describes(info ambit.FileInfo, path, content string) {
	if info.Path != path {
		p.errorf("the result's path is %q, want the canonical %q", info.Path, path)
	}
	if info.Kind != ambit.KindRegular {
		p.errorf("%q: the result's kind is %s, want a file", path, info.Kind)
	}
	if info.Size != int64(len(content)) {
		p.errorf("%q: the result's size is %d, want %d", path, info.Size, len(content))
	}
	p.agree(info, "Stat", p.stat(path))
	f := p.open(path)
	defer f.Close()
	p.agree(info, "Open", f.Info())
	data, err := io.ReadAll(f)
	if err != nil || string(data) != content {
		p.errorf("%q holds %s, %v, want %s", path, brief(string(data)), err, brief(content))
	}
}

// agree checks that two descriptions of one file that did not change in
// between say the same, as far as each says anything.
func (p *probe) agree(want ambit.FileInfo, where string, got ambit.FileInfo) {
	if got.Path != want.Path {
		p.errorf("%s: the path is %q, want %q", where, got.Path, want.Path)
	}
	if got.Kind != want.Kind {
		p.errorf("%s of %q: the kind is %s, want %s", where, want.Path, got.Kind, want.Kind)
	}
	if want.Kind == ambit.KindRegular && got.Size != want.Size && got.Size != -1 && want.Size != -1 {
		p.errorf("%s of %q: the size is %d, want %d", where, want.Path, got.Size, want.Size)
	}
	if got.Mode != want.Mode && got.Mode != 0 && want.Mode != 0 {
		p.errorf("%s of %q: the mode is %v, want %v", where, want.Path, got.Mode, want.Mode)
	}
	if got.Version != want.Version {
		p.errorf("%s of %q: the version is %q, want %q", where, want.Path, got.Version, want.Version)
	}
	if p.caps.Versions && want.Kind == ambit.KindRegular && !got.Version.Valid() {
		p.errorf("%s of %q: Versions is claimed, and the version is %q", where, want.Path, got.Version)
	}
	if got.ID != want.ID {
		p.errorf("%s of %q: the ID is %q, want %q", where, want.Path, got.ID, want.ID)
	}
	if got.Mode != got.Mode.Perm() {
		p.errorf("%s of %q: the mode %v has more than permission bits", where, want.Path, got.Mode)
	}
}

// unchangedExcept checks that all that can be seen is as it was in before,
// except at the clean paths given, which the check looks at itself.
func (p *probe) unchangedExcept(before map[string]string, paths ...string) {
	p.became(before, func(seen map[string]string) {
		for _, path := range paths {
			delete(seen, path)
		}
	})
}

// became checks that all that can be seen is as in before, with edit applied
// to both sides.
func (p *probe) became(before map[string]string, edit func(seen map[string]string)) {
	want, got := maps.Clone(before), p.snapshot()
	edit(want)
	edit(got)
	p.alike(want, got, "")
}

// gone checks that nothing is at the clean path: no Stat, no Open and no
// listing shows it.
func (p *probe) gone(path string) {
	p.missing(path)
	f, err := p.fs.Open(p.ctx, path)
	if f != nil && err == nil {
		f.Close()
	}
	p.refused(ambit.OpOpen, path, err, ambit.ErrNotFound)
	if l, err := p.list(ambit.Dir(path)); err == nil {
		for _, e := range l.Entries {
			if e.Name == ambit.Base(path) {
				p.errorf("%q is gone and still listed", path)
			}
		}
	}
}

// list returns the listing of dir, and an error also where List is not
// claimed.
func (p *probe) list(dir string) (*ambit.Listing, error) {
	if !p.caps.List {
		return nil, ambit.ErrUnsupported
	}
	return p.fs.List(p.ctx, dir, nil)
}

// pattern returns n bytes without a period, the same each time for one seed.
func pattern(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// atMost returns n, or less where the file system does not take files of such a
// size: what a check writes beside it must find room.
func (p *probe) atMost(n int) int {
	const room = 100
	if limit := p.caps.MaxFileSize; limit > 0 {
		return min(n, int(max(limit-room, 1)))
	}
	return n
}

// interrupted gives first, then calls do once, then gives rest. do runs where
// the file system reads its content, so it must not end the goroutine.
func interrupted(first string, do func(), rest string) io.Reader {
	return io.MultiReader(strings.NewReader(first), &interruption{do}, strings.NewReader(rest))
}

type interruption struct{ do func() }

func (i *interruption) Read([]byte) (int, error) {
	if do := i.do; do != nil {
		i.do = nil
		do()
	}
	return 0, io.EOF
}
