// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// contestChecks are about callers that want the same thing, of which one gets
// it.
func contestChecks() []*check {
	return []*check{
		{
			id: "concurrent/swap-one-wins", tree: standard,
			rule:     "Of several writes with the same IfVersion exactly one succeeds, and what it wrote stands.",
			requires: []requirement{needExactSwap, needVersions, needWrite},
			run: func(p *probe) {
				for range 15 {
					version := p.stat("file").Version
					results := make([]ambit.WriteResult, callers)
					errs := p.contend(callers, func(i int) (err error) {
						results[i], err = p.writable().Write(p.ctx, "file", strings.NewReader(strconv.Itoa(i)), &ambit.WriteOptions{If: ambit.IfVersion(version)})
						return err
					})
					won := p.winner(ambit.OpWrite, "file", errs, ambit.ErrChanged)
					p.holds("file", strconv.Itoa(won))
					if now := p.stat("file").Version; now != results[won].Info.Version || now == version {
						p.errorf("the version is %q, and the winner was told %q", now, results[won].Info.Version)
					}
				}
			},
		},
		{
			id: "concurrent/swap-any-method", tree: standard,
			rule:     "Of several changes with the same IfVersion exactly one succeeds, by whatever method each is made.",
			requires: []requirement{needExactSwap, needVersions, needWrite},
			run: func(p *probe) {
				for round := range 15 {
					path := fmt.Sprintf("hollow/%d", round)
					version := p.write(path, "base\n", nil).Info.Version
					changes := changesIf(p, path, version)
					errs := p.contend(len(changes), func(i int) error { return changes[i].make() })
					won := p.winner("", path, errs, ambit.ErrChanged)
					if got := p.stateOf(path); got != changes[won].state {
						p.errorf("after %s had won, %q is %q, want %q", changes[won].name, path, got, changes[won].state)
					}
				}
			},
		},
		{
			id: "concurrent/swap-two-methods", tree: standard,
			rule:     "Of several writes and several changes by one other method, all with the same IfVersion, exactly one succeeds.",
			requires: []requirement{needExactSwap, needVersions, needWrite},
			run: func(p *probe) {
				others := len(changesIf(p, "hollow/0", neverIssued)) - 2
				for other := range others {
					for round := range 8 {
						path := fmt.Sprintf("hollow/%d-%d", other, round)
						version := p.write(path, "base\n", nil).Info.Version
						all := changesIf(p, path, version)
						changes := []conditionalChange{all[0], all[2+other]}
						of := func(i int) conditionalChange {
							if changes[1].once && i > 1 {
								return changes[0]
							}
							return changes[(i+round)%2]
						}
						errs := p.contend(callers, func(i int) error { return of(i).make() })
						won := of(p.winner("", path, errs, ambit.ErrChanged))
						if got := p.stateOf(path); got != won.state {
							p.errorf("after %s had won, %q is %q, want %q", won.name, path, got, won.state)
						}
					}
				}
			},
		},
		{
			id: "concurrent/updates-all-survive", tree: standard,
			rule:     "Of concurrent updates that read, change and write with IfVersion none that succeeded is lost, and none that failed is there.",
			requires: []requirement{needExactSwap, needVersions, needWrite},
			run:      func(p *probe) { p.updates(func(int) ambit.FileSystem { return p.fs }) },
		},
		{
			id: "concurrent/create-one-wins", tree: standard,
			rule:     "Of several creations with IfAbsent exactly one succeeds, what it wrote stands, and nothing is left of the others.",
			requires: []requirement{needExactSwap, needWrite},
			run: func(p *probe) {
				for round := range 10 {
					path, parents := fmt.Sprintf("made-%d", round), []string(nil)
					if round%2 == 1 {
						parents = []string{"/" + path, "/" + path + "/deep"}
						path += "/deep/file"
					}
					before := p.snapshot()
					lists := make([][]string, 2*callers)
					errs := p.contend(2*callers, func(i int) error {
						r, err := p.create(i, path, strconv.Itoa(i))
						lists[i] = r.CreatedDirs
						if err == nil && !r.Created {
							p.errorf("the winner was not told that it created %q", path)
						}
						return err
					})
					won := p.winner("", path, errs, ambit.ErrExists)
					p.holds(path, strconv.Itoa(won))
					// A loser may have made a parent that the winner then used.
					for _, dir := range lists[won] {
						if !slices.Contains(parents, dir) {
							p.errorf("the winner was told that it made %q", dir)
						}
					}
					p.changedOnly(before, append(parents, "/"+path)...)
				}
			},
		},
		{
			id: "concurrent/mkdir-one-makes", tree: standard,
			rule:     "Of several Mkdir of one folder exactly one has made it.",
			requires: []requirement{needMkdir},
			run: func(p *probe) {
				for round := range 10 {
					path := fmt.Sprintf("made-%d", round)
					lists := make([][]string, callers)
					errs := p.contend(callers, func(i int) (err error) {
						lists[i], err = implements[ambit.DirMaker](p).Mkdir(p.ctx, path, nil)
						return err
					})
					won := p.winner(ambit.OpMkdir, path, errs, ambit.ErrExists)
					p.apart("mkdir", [][]string{lists[won]}, "/"+path)
				}
			},
		},
		{
			id: "concurrent/mkdir-parents-apart", tree: standard,
			rule:     "Of several Mkdir with Parents of one folder all succeed, and each folder was made by exactly one of them.",
			requires: []requirement{needMkdir},
			run: func(p *probe) {
				for round := range 10 {
					top := fmt.Sprintf("/made-%d", round)
					lists := make([][]string, callers)
					errs := p.contend(callers, func(i int) (err error) {
						lists[i], err = implements[ambit.DirMaker](p).Mkdir(p.ctx, fmt.Sprintf("%s/deep/%d", top, i%3), &ambit.MkdirOptions{Parents: true})
						return err
					})
					for i, err := range errs {
						if err != nil {
							p.errorf("mkdir by caller %d: %v", i, err)
						}
					}
					p.apart("mkdir", lists, top, top+"/deep", top+"/deep/0", top+"/deep/1", top+"/deep/2")
				}
			},
		},
		{
			id: "concurrent/parents-made-once", tree: standard,
			rule:     "Of many files that are created beneath missing parents at the same time all are listed, and each folder was made by exactly one call.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				const files = 6
				lists := make([][]string, 2*callers)
				errs := p.contend(2*callers, func(i int) error {
					for n := range files {
						path := fmt.Sprintf("new/dir/%d/%d-%d", i%3, i, n)
						r, err := p.writable().Write(p.ctx, path, strings.NewReader(path), &ambit.WriteOptions{Parents: true})
						if err != nil {
							return err
						}
						lists[i] = append(lists[i], r.CreatedDirs...)
					}
					return nil
				})
				var want []string
				for i, err := range errs {
					if err != nil {
						p.errorf("the writes of caller %d: %v", i, err)
					}
					for n := range files {
						path := fmt.Sprintf("new/dir/%d/%d-%d", i%3, i, n)
						p.holds(path, path)
						want = append(want, "/"+path)
					}
				}
				p.apart("writes", lists, "/new", "/new/dir", "/new/dir/0", "/new/dir/1", "/new/dir/2")
				if !p.caps.List {
					return
				}
				var got []string
				for e, err := range ambit.Walk(p.ctx, p.fs, "/new") {
					if err != nil {
						p.errorf("walk: %v", err)
					}
					if e.Info.Kind == ambit.KindRegular {
						got = append(got, e.Info.Path)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					p.errorf("%d files are listed, want %d: %q", len(got), len(want), got)
				}
			},
		},
		{
			id: "concurrent/rename-one-moves", tree: standard,
			rule:     "Of several Rename of one file or folder exactly one moves it, and the others do not find it.",
			requires: []requirement{needRename, needWrite},
			run: func(p *probe) {
				for round := range 10 {
					from, inner := fmt.Sprintf("from-%d", round), ""
					if round%2 == 1 {
						inner = "/deep/file"
					}
					p.write(from+inner, from, &ambit.WriteOptions{Parents: true})
					to := func(i int) string { return fmt.Sprintf("to-%d-%d", round, i) }
					errs := p.contend(callers, func(i int) error {
						_, err := implements[ambit.Renamer](p).Rename(p.ctx, from, to(i), nil)
						return err
					})
					won := p.winner(ambit.OpRename, from, errs, ambit.ErrNotFound)
					p.missing(from)
					for i := range callers {
						if i == won {
							p.holds(to(i)+inner, from)
						} else {
							p.missing(to(i))
						}
					}
				}
			},
		},
		{
			id: "concurrent/rename-one-arrives", tree: standard,
			rule:     "Of several files that are renamed to one name without Replace exactly one arrives, and the others stay where they were.",
			requires: []requirement{needRename, needWrite, needExactSwap},
			run: func(p *probe) {
				for round := range 10 {
					to := fmt.Sprintf("to-%d", round)
					from := func(i int) string { return fmt.Sprintf("from-%d-%d", round, i) }
					for i := range callers {
						p.write(from(i), from(i), nil)
					}
					errs := p.contend(callers, func(i int) error {
						_, err := implements[ambit.Renamer](p).Rename(p.ctx, from(i), to, nil)
						return err
					})
					won := p.winner(ambit.OpRename, to, errs, ambit.ErrExists)
					p.holds(to, from(won))
					for i := range callers {
						if i == won {
							p.missing(from(i))
						} else {
							p.holds(from(i), from(i))
						}
					}
				}
			},
		},
		{
			id: "concurrent/rename-replaces", tree: standard,
			rule:     "Files that are renamed to one name with Replace at the same time all arrive, the last one stays, and the name is never gone.",
			requires: []requirement{needRename, needWrite, needAtomicReplace},
			run: func(p *probe) {
				for round := range 5 {
					to := fmt.Sprintf("to-%d", round)
					p.write(to, "before", nil)
					from := func(i int) string { return fmt.Sprintf("from-%d-%d", round, i) }
					var want []string
					for i := range callers {
						p.write(from(i), from(i), nil)
						want = append(want, from(i))
					}
					var moving atomic.Int32
					moving.Store(callers)
					errs := p.contend(callers+2, func(i int) error {
						if i < callers {
							defer moving.Add(-1)
							_, err := implements[ambit.Renamer](p).Rename(p.ctx, from(i), to, &ambit.RenameOptions{Replace: true})
							return err
						}
						for once := true; once || moving.Load() > 0; once = false {
							if _, _, err := ambit.ReadFile(p.ctx, p.fs, to); err != nil && ambit.ReasonOf(err) != ambit.ErrChanged {
								return err
							}
						}
						return nil
					})
					for i, err := range errs {
						if err != nil {
							p.errorf("caller %d of %d, who moves or else reads: %v", i, len(errs), err)
						}
					}
					if got := p.read(to); !slices.Contains(want, got) {
						p.errorf("%q holds %q, want one of those moved there", to, got)
					}
					for i := range callers {
						p.missing(from(i))
					}
				}
			},
		},
		{
			id: "concurrent/remove-one-removes", tree: standard,
			rule:     "Of several Remove of one file exactly one removes it, and with MissingOK all succeed.",
			requires: []requirement{needRemove, needWrite},
			run: func(p *probe) {
				for round := range 10 {
					path := fmt.Sprintf("hollow/%d", round)
					p.write(path, "x", nil)
					errs := p.contend(callers, func(int) error { return p.writable().Remove(p.ctx, path, nil) })
					p.winner(ambit.OpRemove, path, errs, ambit.ErrNotFound)
					p.missing(path)
					p.write(path, "x", nil)
					for i, err := range p.contend(callers, func(int) error {
						return p.writable().Remove(p.ctx, path, &ambit.RemoveOptions{MissingOK: true})
					}) {
						if err != nil {
							p.errorf("remove with MissingOK by caller %d: %v", i, err)
						}
					}
					p.missing(path)
				}
			},
		},
		{
			id: "concurrent/publish-once", tree: standard,
			rule:     "Of several Publish of one Staged exactly one succeeds, and the others are closed, as they are beside a Discard that came first.",
			requires: []requirement{needStage},
			run: func(p *probe) {
				stage := func(content string) ambit.Staged {
					s, err := implements[ambit.Stager](p).Stage(p.ctx, "file", strings.NewReader(content), nil)
					if err != nil {
						p.fatalf("stage: %v", err)
					}
					return s
				}
				for round := range 10 {
					content := fmt.Sprintf("published %d\n", round)
					s := stage(content)
					errs := p.contend(callers, func(int) error {
						_, err := s.Publish(p.ctx)
						return err
					})
					p.winner(ambit.OpPublish, "file", errs, ambit.ErrClosed)
					p.holds("file", content)

					before := p.snapshot()
					s = stage("discarded, or not\n")
					var published error = errNoAnswer
					p.together(
						func(p *probe) { _, published = s.Publish(p.ctx) },
						func(p *probe) {
							if err := s.Discard(p.ctx); err != nil {
								p.errorf("discard: %v", err)
							}
						},
					)
					if published == nil {
						p.holds("file", "discarded, or not\n")
					} else {
						p.refused(ambit.OpPublish, "file", published, ambit.ErrClosed)
						p.unchanged(before)
					}
				}
			},
		},
		{
			id: "concurrent/commits-all-survive", tree: standard,
			rule:     "Concurrent commits over the same files with IfVersion are each made as a whole or not at all, and none is lost.",
			requires: []requirement{needCommit, needExactSwap, needVersions, needWrite},
			run: func(p *probe) {
				const each, start = 5, 1000
				p.write("giver", strconv.Itoa(start), nil)
				p.write("taker", "0", nil)
				read := func(path string) (int, ambit.Version, error) {
					data, info, err := ambit.ReadFile(p.ctx, p.fs, path)
					if err != nil {
						return 0, "", err
					}
					n, err := strconv.Atoi(string(data))
					return n, info.Version, err
				}
				moved := make([]int, callers)
				errs := p.contend(callers, func(i int) error {
					for try := 0; moved[i] < each && try < 1000; try++ {
						giver, giverVersion, err := read("giver")
						if err == nil {
							var taker int
							var takerVersion ambit.Version
							if taker, takerVersion, err = read("taker"); err == nil {
								_, err = implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{
									{Op: ambit.OpWrite, Path: "giver", Content: strings.NewReader(strconv.Itoa(giver - 1)), If: ambit.IfVersion(giverVersion)},
									{Op: ambit.OpWrite, Path: "taker", Content: strings.NewReader(strconv.Itoa(taker + 1)), If: ambit.IfVersion(takerVersion)},
								})
							}
						}
						switch ambit.ReasonOf(err) {
						case "":
							moved[i]++
						case ambit.ErrChanged:
						default:
							return err
						}
					}
					return nil
				})
				total := 0
				for i, err := range errs {
					if err != nil {
						p.errorf("caller %d: %v", i, err)
					}
					total += moved[i]
				}
				giver, _, err1 := read("giver")
				taker, _, err2 := read("taker")
				if err1 != nil || err2 != nil || giver != start-total || taker != total || total == 0 {
					p.errorf("after %d commits the files hold %d and %d, want %d and %d (%v, %v)", total, giver, taker, start-total, total, err1, err2)
				}
			},
		},
	}
}

// create creates path with IfAbsent by one of the methods that are claimed.
func (p *probe) create(i int, path, content string) (ambit.WriteResult, error) {
	o := &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true}
	switch {
	case i%4 == 1 && p.caps.Stage:
		s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader(content), o)
		if err != nil {
			return ambit.WriteResult{}, err
		}
		return s.Publish(p.ctx)
	case i%4 == 2 && p.caps.Append:
		return implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader(content), &ambit.AppendOptions{If: o.If, Parents: true})
	case i%4 == 3 && p.caps.Commit:
		r, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(content), If: o.If, Parents: true}})
		if err != nil || len(r) != 1 {
			return ambit.WriteResult{}, err
		}
		return r[0], nil
	}
	return p.writable().Write(p.ctx, path, strings.NewReader(content), o)
}

// conditionalChange is a change of one file that a precondition guards.
type conditionalChange struct {
	name  string
	make  func() error
	state string // of the path, once it is made
	once  bool   // a second one at the same time may be refused for what the first has made
}

// changesIf returns a change of the file at path, which holds "base\n" at
// version v, by each method that is claimed, and by Write twice.
func changesIf(p *probe, path string, v ambit.Version) []conditionalChange {
	write := func(text string) conditionalChange {
		return conditionalChange{"a write", func() error {
			_, err := p.writable().Write(p.ctx, path, strings.NewReader(text), &ambit.WriteOptions{If: ambit.IfVersion(v)})
			return err
		}, text, false}
	}
	changes := []conditionalChange{write("write 1\n"), write("write 2\n")}
	if p.caps.Append {
		changes = append(changes, conditionalChange{"an append", func() error {
			_, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader("append\n"), &ambit.AppendOptions{If: ambit.IfVersion(v)})
			return err
		}, "base\nappend\n", false})
	}
	if p.caps.Stage {
		changes = append(changes, conditionalChange{"a publish", func() error {
			s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader("stage\n"), &ambit.WriteOptions{If: ambit.IfVersion(v)})
			if err != nil {
				return err
			}
			_, err = s.Publish(p.ctx)
			return err
		}, "stage\n", false})
	}
	if p.caps.Commit {
		changes = append(changes, conditionalChange{"a commit", func() error {
			_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("commit\n"), If: ambit.IfVersion(v)}})
			return err
		}, "commit\n", false})
	}
	if p.caps.Remove {
		changes = append(changes, conditionalChange{"a removal", func() error {
			return p.writable().Remove(p.ctx, path, &ambit.RemoveOptions{If: ambit.IfVersion(v)})
		}, "nothing", false})
	}
	if p.caps.Rename {
		changes = append(changes, conditionalChange{"a rename", func() error {
			_, err := implements[ambit.Renamer](p).Rename(p.ctx, path, path+"-moved", &ambit.RenameOptions{If: ambit.IfVersion(v)})
			return err
		}, "nothing, but moved", true})
	}
	return changes
}

// stateOf is the content of path, or "nothing", and where it was moved.
func (p *probe) stateOf(path string) string {
	data, _, err := ambit.ReadFile(p.ctx, p.fs, path)
	if err == nil {
		return string(data)
	}
	if ambit.ReasonOf(err) != ambit.ErrNotFound {
		return err.Error()
	}
	if _, err := p.fs.Stat(p.ctx, path+"-moved"); err == nil {
		p.holds(path+"-moved", "base\n")
		return "nothing, but moved"
	}
	return "nothing"
}

// updates lets callers add lines to one file by reading it and writing it
// whole on the condition that it is still the one read; client returns the
// file system that a caller uses.
func (p *probe) updates(client func(caller int) ambit.FileSystem) {
	const each = 5
	p.write("shared", "", nil)
	added := make([][]string, callers)
	errs := p.contend(callers, func(i int) error {
		fsys := client(i)
		for try := 0; len(added[i]) < each && try < 1000; try++ {
			data, info, err := ambit.ReadFile(p.ctx, fsys, "shared")
			if err == nil {
				line := fmt.Sprintf("caller %d, line %d", i, len(added[i]))
				_, err = ambit.WriteFile(p.ctx, fsys, "shared", append(data, line+"\n"...), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				if err == nil {
					added[i] = append(added[i], line)
				}
			}
			if r := ambit.ReasonOf(err); r != "" && r != ambit.ErrChanged {
				return err
			}
		}
		return nil
	})
	for i, err := range errs {
		if err != nil {
			p.errorf("caller %d: %v", i, err)
		}
	}
	want := make(map[string]int)
	for _, line := range slices.Concat(added...) {
		want[line]++
	}
	got := make(map[string]int)
	for line := range strings.Lines(p.read("shared")) {
		got[strings.TrimSuffix(line, "\n")]++
	}
	if len(want) == 0 {
		p.errorf("not one update succeeded")
	}
	if !maps.Equal(got, want) {
		p.errorf("the file holds %d lines, and %d updates succeeded: %v, want %v", len(got), len(want), got, want)
	}
}
