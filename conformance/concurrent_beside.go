// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// besideChecks are about callers beside others who change what they look at.
func besideChecks() []*check {
	return []*check{
		{
			id: "concurrent/replaced-whole", tree: standard,
			rule:     "Readers beside writers see one content whole: never a mixture, a prefix or nothing.",
			requires: []requirement{needAtomicReplace, needWrite},
			run: func(p *probe) {
				size := p.atMost(256 << 10)
				p.write("file", letters(0, size), nil)
				var writers atomic.Int32
				var tasks []func(p *probe)
				for w := range 3 {
					writers.Add(1)
					tasks = append(tasks, func(p *probe) {
						defer writers.Add(-1)
						for n := range 12 {
							if n%3 == 2 && p.caps.Stage {
								s, err := implements[ambit.Stager](p).Stage(p.ctx, "file", strings.NewReader(letters(w*7+n, size)), nil)
								if err == nil {
									_, err = s.Publish(p.ctx)
								}
								if err != nil {
									p.errorf("stage and publish: %v", err)
								}
								continue
							}
							p.write("file", letters(w*7+n, size), nil)
						}
					})
				}
				for range 2 {
					tasks = append(tasks, func(p *probe) {
						for once := true; once || writers.Load() > 0; once = false {
							f := p.open("file")
							data, err := io.ReadAll(f)
							if err != nil {
								p.errorf("read: %v", err)
							}
							p.oneLetter(string(data), size)
							for _, info := range []ambit.FileInfo{f.Info(), p.stat("file")} {
								if info.Size != int64(size) {
									p.errorf("the size is %d, want %d", info.Size, size)
								}
							}
							f.Close()
						}
					})
				}
				p.together(tasks...)
				p.oneLetter(p.read("file"), size)
			},
		},
		{
			id: "concurrent/handle-keeps-its-bytes", tree: standard,
			rule:     "A File gives the bytes of the file that was opened to the end, though the name is replaced and removed meanwhile.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				size := p.atMost(256 << 10)
				p.write("file", letters(0, size), nil)
				open := make([]ambit.File, 4)
				part := make([]byte, size/3)
				for i := range open {
					open[i] = p.open("file")
					if i > 0 {
						if _, err := io.ReadFull(open[i], part); err != nil {
							p.fatalf("read: %v", err)
						}
					}
				}
				var changed atomic.Bool
				change := func(p *probe) {
					defer changed.Store(true)
					for n := range 4 {
						p.write("file", letters(n+1, size-n*size/300), nil)
					}
					if p.caps.Remove {
						if err := p.writable().Remove(p.ctx, "file", nil); err != nil {
							p.errorf("remove: %v", err)
						}
					}
				}
				tasks := []func(p *probe){change}
				for i, f := range open {
					tasks = append(tasks, func(p *probe) {
						rest := size
						if i > 0 {
							rest -= len(part)
						}
						small, got := make([]byte, 8<<10), 0
						for {
							if i == 3 && got > rest/2 && !changed.Load() {
								continue // the rest is read after all changes
							}
							n, err := f.Read(small)
							p.oneLetter(string(small[:n]), n)
							if n > 0 && small[0] != 'a' {
								p.errorf("read %q of a file of \"a\"", small[0])
							}
							if got += n; err == io.EOF {
								break
							}
							if err != nil {
								p.fatalf("read: %v", err)
							}
						}
						if got != rest {
							p.errorf("read %d bytes to the end, want %d", got, rest)
						}
					})
				}
				p.together(tasks...)
				for _, f := range open {
					p.refused(ambit.OpVerify, "file", f.Verify(p.ctx), ambit.ErrChanged)
					if err := f.Close(); err != nil {
						p.errorf("close: %v", err)
					}
				}
			},
		},
		{
			id: "concurrent/read-at", tree: numberedTree,
			rule:     "Parallel ReadAt on one File return the right bytes, and do not move Read.",
			requires: []requirement{needReadAt},
			run: func(p *probe) {
				want := numbered
				f := p.open("numbered")
				defer f.Close()
				at, ok := f.(io.ReaderAt)
				if !ok {
					p.fatalf("ReadAt is claimed, but a %T is no io.ReaderAt", f)
				}
				var tasks []func(p *probe)
				for seed := range callers {
					random := rand.New(rand.NewPCG(1, uint64(seed)))
					tasks = append(tasks, func(p *probe) {
						for range 60 {
							off, n := random.IntN(len(want)), 1+random.IntN(5000)
							b := make([]byte, n)
							got, err := at.ReadAt(b, int64(off))
							end := min(off+n, len(want))
							if string(b[:got]) != want[off:end] || (got < n) != (err == io.EOF) || err != nil && err != io.EOF {
								p.errorf("read of %d bytes at %d: %d bytes, %v: %s, want %s", n, off, got, err, brief(string(b[:got])), brief(want[off:end]))
							}
						}
					})
				}
				tasks = append(tasks, func(p *probe) {
					if data, err := io.ReadAll(f); err != nil || string(data) != want {
						p.errorf("Read beside ReadAt: %s, %v", brief(string(data)), err)
					}
				})
				p.together(tasks...)
			},
		},
		{
			id: "concurrent/own-positions", tree: numberedTree,
			rule: "Every File has a position of its own: parallel reads of one path each give the whole content.",
			run: func(p *probe) {
				errs := p.contend(callers, func(i int) error {
					f, err := p.fs.Open(p.ctx, "numbered")
					if err != nil {
						return err
					}
					defer f.Close()
					var got strings.Builder
					if _, err := io.CopyBuffer(&got, struct{ io.Reader }{f}, make([]byte, 500+i*311)); err != nil {
						return err
					}
					if got.String() != numbered {
						return fmt.Errorf("read %s, want %s", brief(got.String()), brief(numbered))
					}
					return f.Verify(p.ctx)
				})
				for i, err := range errs {
					if err != nil {
						p.errorf("caller %d: %v", i, err)
					}
				}
			},
		},
		{
			id: "concurrent/close-beside-reads", tree: numberedTree,
			rule:     "Close beside ReadAt and Verify ends them with an answer or closed, and every one after it is closed.",
			requires: []requirement{needReadAt},
			run: func(p *probe) {
				for range 10 {
					f := p.open("numbered")
					at, ok := f.(io.ReaderAt)
					if !ok {
						p.fatalf("ReadAt is claimed, but a %T is no io.ReaderAt", f)
					}
					var tasks []func(p *probe)
					for range 3 {
						tasks = append(tasks, func(p *probe) {
							b := make([]byte, 1000)
							for {
								n, err := at.ReadAt(b, 1000)
								if err != nil {
									p.refused(ambit.OpRead, "numbered", err, ambit.ErrClosed)
									return
								}
								if string(b[:n]) != numbered[1000:2000] {
									p.errorf("beside Close: read %s", brief(string(b[:n])))
								}
							}
						})
					}
					tasks = append(tasks, func(p *probe) {
						for {
							if err := f.Verify(p.ctx); err != nil {
								p.refused(ambit.OpVerify, "numbered", err, ambit.ErrClosed)
								return
							}
						}
					}, func(p *probe) {
						for range 2 {
							if err := f.Close(); err != nil {
								p.errorf("close: %v", err)
							}
						}
					})
					p.together(tasks...)
				}
			},
		},
		{
			id: "concurrent/appends-all-survive", tree: standard,
			rule:     "Concurrent appends all survive, in each caller's order, and none is inside another.",
			requires: []requirement{needAppend},
			run:      func(p *probe) { p.appends(func(int) ambit.FileSystem { return p.fs }) },
		},
		{
			id: "concurrent/large-appends-whole", tree: standard,
			rule:     "Large appends at the same time all survive, each in one piece.",
			requires: []requirement{needAppend},
			run: func(p *probe) {
				const each = 3
				for round := range 4 {
					path := fmt.Sprintf("log-%d", round)
					size := p.atMost(callers*each*150_000) / (callers * each)
					errs := p.contend(callers, func(i int) error {
						for n := range each {
							add := letters(i*each+n, size)
							if _, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader(add), nil); err != nil {
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
					got := p.read(path)
					if len(got) != callers*each*size {
						p.errorf("the file has %d bytes, want %d appends of %d", len(got), callers*each, size)
					}
					seen := make(map[byte]int)
					for part := range slices.Chunk([]byte(got), max(size, 1)) {
						seen[part[0]]++
						p.oneLetter(string(part), size)
					}
					for letter, times := range seen {
						if times != 1 {
							p.errorf("%q begins %d pieces, and one append was of it", letter, times)
						}
					}
				}
			},
		},
		{
			id: "concurrent/append-beside-rename", tree: standard,
			rule:     "An append beside a Rename of the file adds to it before it goes or creates another after, and never brings the old bytes back under the old name.",
			requires: []requirement{needAppend, needRename, needWrite, needExactSwap},
			run: func(p *probe) {
				p.appendsBeside(ambit.OpRename, func(path string) error {
					_, err := implements[ambit.Renamer](p).Rename(p.ctx, path, path+"-moved", nil)
					return err
				}, func(path string, appended bool) {
					switch moved := p.read(path + "-moved"); {
					case moved == "old\nnew\n" || moved == "old\n" && !appended:
						p.missing(path)
					case moved == "old\n":
						p.holds(path, "new\n")
					default:
						p.errorf("what was moved holds %s", brief(moved))
					}
				})
			},
		},
		{
			id: "concurrent/append-beside-removal", tree: standard,
			rule:     "An append beside a Remove of the file goes with it or creates another, and never brings the old bytes back.",
			requires: []requirement{needAppend, needRemove, needWrite, needExactSwap},
			run: func(p *probe) {
				p.appendsBeside(ambit.OpRemove, func(path string) error {
					return p.writable().Remove(p.ctx, path, nil)
				}, func(path string, appended bool) {
					if _, err := p.fs.Stat(p.ctx, path); appended && err == nil {
						p.holds(path, "new\n")
					} else {
						p.missing(path)
					}
				})
			},
		},
		{
			id: "concurrent/one-version-one-content", tree: standard,
			rule:     "Every change gives a new version, and no version ever stands for two contents.",
			requires: []requirement{needVersions, needWrite},
			run: func(p *probe) {
				var mu sync.Mutex
				contents := make(map[ambit.Version]string)
				published := make(map[ambit.Version]string)
				saw := func(v ambit.Version, content string) {
					mu.Lock()
					defer mu.Unlock()
					if was, ok := contents[v]; ok && was != content {
						p.errorf("version %q stands for %q and for %q", v, was, content)
					}
					contents[v] = content
				}
				var writers atomic.Int32
				writers.Store(4)
				errs := p.contend(6, func(i int) error {
					if i < 4 {
						defer writers.Add(-1)
						for n := range 15 {
							text := fmt.Sprintf("%d-%02d", i, n) // all of one size
							r, err := p.writable().Write(p.ctx, "file", strings.NewReader(text), nil)
							if err != nil {
								return err
							}
							mu.Lock()
							if other, ok := published[r.Info.Version]; ok {
								p.errorf("the writes %q and %q were both told version %q", other, text, r.Info.Version)
							}
							published[r.Info.Version] = text
							mu.Unlock()
							saw(r.Info.Version, text)
						}
						return nil
					}
					for writers.Load() > 0 {
						data, info, err := ambit.ReadFile(p.ctx, p.fs, "file")
						switch ambit.ReasonOf(err) {
						case "":
							saw(info.Version, string(data))
						case ambit.ErrChanged:
						default:
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
				if last, info := p.read("file"), p.stat("file"); published[info.Version] != last {
					p.errorf("in the end version %q is of %q, and its writer wrote %q", info.Version, last, published[info.Version])
				}
			},
		},
		{
			id: "concurrent/listing-beside-changes", tree: standard,
			rule:     "A listing beside changes never fails, stays sorted, has every name that is not changed, and shows no name that nobody gave.",
			requires: []requirement{needList, needWrite},
			run: func(p *probe) {
				still := make(map[string]bool)
				for i := range 10 {
					name := fmt.Sprintf("still-%d", i)
					p.write("hollow/"+name, "x", nil)
					still[name] = true
				}
				var changers atomic.Int32
				changers.Store(3)
				look := func(p *probe, o ambit.ListOptions) {
					got := make(map[string]bool)
					last := ""
					for {
						l, err := p.fs.List(p.ctx, "hollow", &o)
						if err != nil {
							p.fatalf("list beside changes with %+v: %v", o, err)
						}
						for _, e := range l.Entries {
							if e.Name <= last {
								p.errorf("list beside changes: %q comes after %q", e.Name, last)
							}
							last = e.Name
							got[e.Name] = true
							if !strings.HasPrefix(e.Name, "still-") && !strings.HasPrefix(e.Name, "moving-") {
								p.errorf("list beside changes shows %q, a name that nobody gave", e.Name)
							}
						}
						if l.Next == "" {
							break
						}
						if l.Next <= o.After {
							p.fatalf("list beside changes: the cursor went from %q to %q", o.After, l.Next)
						}
						o.After = l.Next
					}
					for name := range still {
						if !got[name] {
							p.errorf("list beside changes lacks %q, which nobody changed", name)
						}
					}
				}
				var tasks []func(p *probe)
				for c := range 3 {
					tasks = append(tasks, func(p *probe) {
						defer changers.Add(-1)
						for n := range 12 {
							path := fmt.Sprintf("hollow/moving-%d-%d", c, n%4)
							p.write(path, strings.Repeat("x", p.atMost(20_000)), nil)
							p.write(path, "y", nil)
							if p.caps.Rename {
								if _, err := implements[ambit.Renamer](p).Rename(p.ctx, path, path+"-on", &ambit.RenameOptions{Replace: true}); err != nil {
									p.errorf("rename: %v", err)
								}
								path += "-on"
							}
							if p.caps.Remove && n%2 == 0 {
								if err := p.writable().Remove(p.ctx, path, nil); err != nil {
									p.errorf("remove: %v", err)
								}
							}
						}
					})
				}
				for _, o := range []ambit.ListOptions{{}, {Limit: 3, Details: true}} {
					tasks = append(tasks, func(p *probe) {
						for once := true; once || changers.Load() > 0; once = false {
							look(p, o)
						}
					})
				}
				p.together(tasks...)
			},
		},
		{
			id: "concurrent/folder-leaves-at-once", tree: standard,
			rule:     "A folder that is removed leaves its name in one step: when something in it is gone, so is the folder.",
			requires: []requirement{needAtomicRemove, needRemove, needWrite},
			run: func(p *probe) {
				for round := range 5 {
					dir := fmt.Sprintf("leaving-%d", round)
					var inside []string
					for i := range 12 {
						inside = append(inside, fmt.Sprintf("%s/%d/file", dir, i))
						p.write(inside[i], "x", &ambit.WriteOptions{Parents: true})
					}
					look := func(p *probe) {
						for n := 0; ; n++ {
							path := inside[n%len(inside)]
							_, err := p.fs.Stat(p.ctx, path)
							if err == nil {
								continue
							}
							p.refused(ambit.OpStat, path, err, ambit.ErrNotFound)
							if _, err := p.fs.Stat(p.ctx, dir); err == nil {
								p.errorf("%q was gone before its folder %q was", path, dir)
							}
							return
						}
					}
					p.together(look, look, func(p *probe) {
						if err := p.writable().Remove(p.ctx, dir, &ambit.RemoveOptions{Recursive: true}); err != nil {
							p.fatalf("remove: %v", err)
						}
					})
				}
			},
		},
		{
			id: "concurrent/content-uses-file-system", tree: standard,
			rule:     "A content reader may use the same file system and the same file: no lock is held while content is read.",
			requires: []requirement{needWrite},
			run: func(p *probe) {
				nested := func() io.Reader {
					return interrupted("outer ", func() {
						for _, path := range []string{"file", "other"} {
							if _, err := p.writable().Write(p.ctx, path, strings.NewReader("inner\n"), nil); err != nil {
								p.errorf("write of %q within a content reader: %v", path, err)
							}
							p.holds(path, "inner\n")
						}
						if _, err := p.list("/"); err != nil && p.caps.List {
							p.errorf("list within a content reader: %v", err)
						}
					}, "end\n")
				}
				for op, err := range p.contents("file", nested) {
					if err != nil {
						p.errorf("%s of a content that writes the same file: %v", op, err)
						continue
					}
					want := "outer end\n"
					if op == ambit.OpAppend {
						want = "inner\n" + want
					}
					p.holds("file", want)
				}
			},
		},
		{
			id: "concurrent/content-changes-the-file", tree: standard,
			rule:     "A file that changes while the content for it is read is changed when it is published with IfVersion.",
			requires: []requirement{needWrite, needSwap, needVersions},
			run: func(p *probe) {
				version := p.stat("file").Version
				nested := func(path string) io.Reader {
					return interrupted("outer\n", func() {
						if _, err := p.writable().Write(p.ctx, path, strings.NewReader("inner\n"), nil); err != nil {
							p.errorf("write of %q within a content reader: %v", path, err)
						}
					}, "")
				}
				_, err := p.writable().Write(p.ctx, "file", nested("file"), &ambit.WriteOptions{If: ambit.IfVersion(version)})
				p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
				p.holds("file", "inner\n")
				_, err = p.writable().Write(p.ctx, "new", nested("new"), &ambit.WriteOptions{If: ambit.IfAbsent()})
				p.refused(ambit.OpWrite, "new", err, ambit.ErrExists)
				p.holds("new", "inner\n")
			},
		},
		{
			id: "concurrent/every-method", tree: standard,
			rule: "Every method may be called from any number of goroutines on one value.",
			run: func(p *probe) {
				list := slices.DeleteFunc(attempts(), func(a attempt) bool { return !a.claimed(p) })
				var tasks []func(p *probe)
				for c := range callers {
					tasks = append(tasks, func(p *probe) {
						for n := range list {
							a := list[(n+c*5)%len(list)]
							path := []string{"sibling/x", "sib.txt", "new", "folder", "sib/new", "gone/new"}[(n+c)%6]
							seen, err := a.call(p, path)
							p.keepsSecret(a.op, path, seen, err)
							var e *ambit.Error
							if errors.As(err, &e) && a.op == ambit.OpRename {
								path = e.Path // one of two
							}
							if err != nil {
								p.wellFormed(a.op, path, err)
							}
						}
					})
				}
				p.together(tasks...)
				p.snapshot()
			},
		},
	}
}

// numbered is a content in which no two places look alike.
var numbered = func() string {
	var b strings.Builder
	for n := 0; b.Len() < 200_000; n++ {
		fmt.Fprintf(&b, "%d,", n)
	}
	return b.String()
}()

var numberedTree = Tree{{Path: "numbered", Kind: ambit.KindRegular, Data: numbered}}

// letters returns size bytes of one letter, the i-th.
func letters(i, size int) string { return strings.Repeat(string(rune('a'+i%26)), size) }

// appendsBeside appends "new\n" to files that hold "old\n", while another
// caller takes their names away. An append that finds its file gone while it
// works may say so. after looks at each path.
func (p *probe) appendsBeside(op string, takeAway func(path string) error, after func(path string, appended bool)) {
	for round := range 30 {
		path := fmt.Sprintf("hollow/%d", round)
		p.write(path, "old\n", nil)
		errs := p.contend(2, func(i int) error {
			if i == round%2 {
				return takeAway(path)
			}
			_, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader("new\n"), nil)
			return err
		})
		if err := errs[round%2]; err != nil {
			p.fatalf("%s %q beside an append: %v", op, path, err)
		}
		err := errs[1-round%2]
		if err != nil {
			p.refused(ambit.OpAppend, path, err, ambit.ErrChanged, ambit.ErrNotFound)
		}
		after(path, err == nil)
	}
}

// appends lets callers add chunks of many sizes to one file, which is not
// there at first; client returns the file system that a caller uses.
func (p *probe) appends(client func(caller int) ambit.FileSystem) {
	const each = 6
	most := 70_000
	if limit := p.caps.MaxFileSize; limit > 0 {
		most = min(most, max(0, int(limit)/(callers*each)-20))
	}
	chunk := func(caller, n int) string {
		body := letters(caller, min(most, []int{1, 100, 5000, 70_000, 10, 0}[n%6]))
		return fmt.Sprintf("<%d %d %s>", caller, n, body)
	}
	errs := p.contend(callers, func(i int) error {
		for n := range each {
			if _, err := client(i).(ambit.Appender).Append(p.ctx, "log", strings.NewReader(chunk(i, n)), nil); err != nil {
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
	rest := p.read("log")
	next := make(map[int]int)
	for rest != "" {
		var caller, n int
		if _, err := fmt.Sscanf(rest, "<%d %d ", &caller, &n); err != nil {
			p.fatalf("no chunk begins with %s: one is inside another, or cut off", brief(rest))
		}
		whole := chunk(caller, n)
		after, ok := strings.CutPrefix(rest, whole)
		if !ok {
			p.fatalf("the chunk %d of caller %d is not whole: %s", n, caller, brief(rest[:min(len(rest), len(whole))]))
		}
		if next[caller] != n {
			p.errorf("chunk %d of caller %d comes where chunk %d is due", n, caller, next[caller])
		}
		next[caller]++
		rest = after
	}
	for _, caller := range slices.Sorted(maps.Keys(next)) {
		if next[caller] != each {
			p.errorf("%d chunks of caller %d, want %d", next[caller], caller, each)
		}
	}
	if len(next) != callers {
		p.errorf("chunks of %d callers, want of %d", len(next), callers)
	}
}
