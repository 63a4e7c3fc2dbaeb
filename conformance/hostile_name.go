// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// oddNames are ordinary names that some program somewhere would alter, fold,
// hide or trip over.
var oddNames = []string{
	" ", "  lead", "trail ", "two  spaces", "tab\there", "new\nline", "carriage\rreturn", "\x01\x1b[31mred", "bell\x07", "\x7f",
	"back\\slash", "dots..in..it", "..x", "...", ".hidden", "x.", "x..", "-rf", "--help", "-", "*", "?", "[ab]", "{a,b}", "**", "!x", "~", "~root",
	"$HOME", "`id`", "$(id)", "a;b", "a&b", "a|b", "<a>", "'quoted'", "\"double\"", "#comment", "%2e%2e", "%00", "100%", "a:b", "C:", "a=b", "@x", "^x", "NUL", "con", "aux.txt",
	"\xff", "\xfe\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "caf\u00e9", "\u00a0", "v\u00a013.png", "v 13.png", "\u2028", "\u200b", "\ufeff", "\u202etxt.exe", "\U0001f600", "\uff0e\uff0e",
	"file.tmp", ".tmp123", ".file.swp", "file~", "#file#", ".#lock", ".nfs0001", ".~lock.x#", "tmp", ".ambit", "ambit-tmp", ".fuse_hidden01",
	"index.html", "desktop.ini", ".git", ".gitignore", "CON", "a_b64", "__proto__", "null", "0", "-1", "1e5", "NaN", "true",
}

// longNames are as long as a name may be.
var longNames = []string{
	strings.Repeat("n", ambit.MaxName),
	strings.Repeat("\u00e9", ambit.MaxName/2) + "x",
	strings.Repeat("\xff", ambit.MaxName),
	strings.Repeat(".", ambit.MaxName),
	strings.Repeat(" ", ambit.MaxName-1) + "x",
}

// lookAlikes are groups of different names that look the same, or that some
// disk takes for the same.
var lookAlikes = [][]string{
	{"v\u00a013.png", "v 13.png", "v\u202f13.png"},
	{"caf\u00e9", "cafe\u0301"},
	{"\u212b", "\u00c5", "A\u030a"},
	{"\ufb01le", "file-not"},
	{"\u0430", "a"},
	{"Readme", "readme", "README"},
	{"x", "x ", "x."},
	{"stra\u00dfe", "strasse", "STRASSE"},
	{"\u0130", "i\u0307", "\u0131", "i"},
}

// folding are the hosts whose disks take some different names for one.
var folding = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// nameChecks are about names.
func nameChecks() []*check {
	return []*check{
		{
			id: "hostile/odd-names", tree: standard,
			rule:     "A name is bytes: it is stored, listed, described and read back unaltered, or refused before anything changes.",
			requires: []requirement{needWrite},
			run:      func(p *probe) { p.keepsNames(slices.Concat(oddNames, longNames)) },
		},
		{
			id: "hostile/odd-folders", tree: standard,
			rule:     "A folder's name is bytes too: what is made in it is found under exactly that name.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				for i, name := range slices.Concat(oddNames, longNames) {
					if i%3 != 0 {
						continue // the other check has them all
					}
					path, content := name+"/"+name, fmt.Sprint("in folder ", i)
					before := p.snapshot()
					r, err := p.writable().Write(p.ctx, path, strings.NewReader(content), &ambit.WriteOptions{Parents: true})
					if err != nil {
						p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath, ambit.ErrUnsupported)
						p.unchanged(before)
						continue
					}
					if want := []string{"/" + name}; r.Info.Path != "/"+path || !slices.Equal(r.CreatedDirs, want) {
						p.errorf("write %q: path %q and folders %q, want %q and %q", path, r.Info.Path, r.CreatedDirs, "/"+path, want)
					}
					p.holds(r.Info.Path, content)
					if p.caps.List {
						if names := p.names("/" + name + "/"); !slices.Equal(names, []string{name}) {
							p.errorf("list %q: %q, want %q alone", name, names, name)
						}
					}
					if !p.caps.Remove {
						continue
					}
					if err := p.writable().Remove(p.ctx, name, &ambit.RemoveOptions{Recursive: true}); err != nil {
						p.errorf("remove %q: %v", name, err)
					}
					p.unchanged(before)
				}
			},
		},
		{
			id:   "hostile/look-alike-names",
			rule: "Names that look the same are different files, and asking for one never reaches another.",
			tree: standard, requires: []requirement{needWrite},
			run: func(p *probe) {
				for i, group := range lookAlikes {
					dir := fmt.Sprintf("group%d", i)
					stored := make(map[string]string)
					for _, name := range group {
						path := dir + "/" + name
						_, err := p.fs.Open(p.ctx, path)
						if err == nil && !folding {
							p.errorf("open %q succeeded, though only %q was written", path, slices.Sorted(maps.Keys(stored)))
						}
						if err == nil {
							continue // the disk folds
						}
						if _, err := p.writable().Write(p.ctx, path, strings.NewReader(name), &ambit.WriteOptions{Parents: true}); err != nil {
							p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath, ambit.ErrUnsupported)
							continue
						}
						stored[name] = name
					}
					for name, content := range stored {
						p.holds(dir+"/"+name, content)
					}
					if !p.caps.List || len(stored) == 0 {
						continue
					}
					if names, want := p.names(dir), slices.Sorted(maps.Keys(stored)); !slices.Equal(names, want) {
						p.errorf("list: %q, want %q", names, want)
					}
				}
			},
		},
		{
			id: "hostile/deep-path", tree: standard,
			rule:     "A path of up to 4095 bytes works in every method, or is refused as invalid-path before anything changes.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				name := strings.Repeat("d", 99)
				for _, length := range []int{1000, 3000, ambit.MaxPath} {
					path := strings.Repeat("/"+name, length/100)
					if rest := length - len(path); rest > 1 {
						path += "/" + strings.Repeat("f", rest-1)
					}
					before := p.snapshot()
					r, err := p.writable().Write(p.ctx, path, strings.NewReader("deep\n"), &ambit.WriteOptions{Parents: true})
					if err != nil {
						p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath)
						p.unchanged(before)
						continue
					}
					if r.Info.Path != path {
						p.errorf("a path of %d bytes came back with %d", len(path), len(r.Info.Path))
					}
					p.holds(path, "deep\n")
					if info := p.stat(path); info.Size != 5 {
						p.errorf("stat of a path of %d bytes: size %d, want 5", len(path), info.Size)
					}
					if p.caps.List {
						if names := p.names(ambit.Dir(path)); !slices.Contains(names, ambit.Base(path)) {
							p.errorf("list of a path of %d bytes: %q", len(ambit.Dir(path)), names)
						}
					}
					if p.caps.Remove {
						if err := p.writable().Remove(p.ctx, r.CreatedDirs[0], &ambit.RemoveOptions{Recursive: true}); err != nil {
							p.errorf("remove of a path of %d bytes from its top: %v", len(path), err)
						}
						p.unchanged(before)
					}
				}
				long := strings.Repeat("/"+name, 41)
				_, err := p.fs.Stat(p.ctx, long)
				p.refused(ambit.OpStat, long, err, ambit.ErrInvalidPath)
			},
		},
	}
}

// keepsNames writes a file of each name and looks at it in every way.
func (p *probe) keepsNames(names []string) {
	stored := make(map[string]string)
	for i, name := range names {
		content := fmt.Sprintf("%d\n", i)
		path := "hollow/" + name
		var before map[string]string
		if i%8 == 0 { // a refusal is rare and a snapshot is not cheap
			before = p.snapshot()
		}
		r, err := p.writable().Write(p.ctx, path, strings.NewReader(content), nil)
		if err != nil {
			p.refused(ambit.OpWrite, path, err, ambit.ErrInvalidPath, ambit.ErrUnsupported)
			if before != nil {
				p.unchanged(before)
			}
			continue
		}
		stored[name] = content
		if want := "/" + path; r.Info.Path != want {
			p.errorf("write %q: path %q, want %q", path, r.Info.Path, want)
		}
	}
	if len(stored) == 0 {
		p.fatalf("not one of %d names was taken", len(names))
	}
	if folding {
		// Which of two names a disk took for one has the content is not said.
		return
	}
	for name, content := range stored {
		path := "hollow/" + name
		p.holds(path, content)
		p.holds("/"+path, content)
		if info := p.stat(path); info.Path != "/"+path || info.Size != int64(len(content)) {
			p.errorf("stat %q: %q of %d bytes", path, info.Path, info.Size)
		}
	}
	if !p.caps.List {
		return
	}
	want := slices.Sorted(maps.Keys(stored))
	if got := p.names("hollow"); !slices.Equal(got, want) {
		p.errorf("list: %q, want %q", got, want)
	}
	var paged []string
	o := &ambit.ListOptions{Limit: 7, Details: true}
	for {
		l, err := p.fs.List(p.ctx, "hollow", o)
		if err != nil {
			p.fatalf("list with %+v: %v", *o, err)
		}
		for _, e := range l.Entries {
			paged = append(paged, e.Name)
			if e.Info.Path != "/hollow/"+e.Name || e.Info.Size != int64(len(stored[e.Name])) {
				p.errorf("list: the entry %q is at %q with %d bytes", e.Name, e.Info.Path, e.Info.Size)
			}
		}
		if l.Next == "" || l.Next <= o.After {
			break
		}
		o.After = l.Next
	}
	if !slices.Equal(paged, want) {
		p.errorf("list in pages: %q, want %q", paged, want)
	}
	if p.caps.Rename {
		for _, name := range want {
			if _, err := implements[ambit.Renamer](p).Rename(p.ctx, "hollow/"+name, "sib/"+name, &ambit.RenameOptions{Replace: true}); err != nil {
				p.errorf("rename of %q: %v", name, err)
				continue
			}
			p.holds("sib/"+name, stored[name])
			if _, err := implements[ambit.Renamer](p).Rename(p.ctx, "sib/"+name, "hollow/"+name, nil); err != nil {
				p.errorf("rename of %q back: %v", name, err)
			}
		}
	}
	if p.caps.Remove {
		for i, name := range want {
			if err := p.writable().Remove(p.ctx, "hollow/"+name, nil); err != nil {
				p.errorf("remove of %q: %v", name, err)
			}
			if i == len(want)/2 {
				if got := p.names("hollow"); !slices.Equal(got, want[i+1:]) {
					p.errorf("list after half is removed: %q, want %q", got, want[i+1:])
				}
			}
		}
	}
}
