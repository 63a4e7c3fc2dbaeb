// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

// foreign are the changes that another program makes to a file of 11 bytes
// before a call. Each is over when the call begins, so that no level of Swap
// excuses not seeing it.
var foreign = []struct {
	name   string
	change Change
	slow   bool // the same size in the same file: a clock has to tick first
}{
	{"a replacement of another size", Change{Kind: DisturbReplace, Data: "by another program\n"}, false},
	{"a replacement of the same size", Change{Kind: DisturbReplace, Data: "same size!\n"}, true},
	{"a rewrite in place to another size", Change{Kind: DisturbRewrite, Data: "rewritten by another program\n"}, false},
	{"a rewrite in place to the same size", Change{Kind: DisturbRewrite, Data: "in place!!\n"}, true},
	{"a rewrite in place to nothing", Change{Kind: DisturbRewrite, Data: ""}, false},
	{"a removal", Change{Kind: DisturbRemove}, false},
	{"a removal and a new file of the same size", Change{Kind: DisturbRemove}, true},
}

// byAnother makes the change number i at path. For one that a size does not
// show it waits until the clock of the storage has ticked, as no promise is
// made of two changes within a tick.
func (p *probe) byAnother(i int, path string) (content string, gone bool) {
	f := foreign[i]
	if f.slow {
		tick := 50 * time.Millisecond
		if info, err := p.fs.Stat(p.ctx, path); err == nil && !info.ModTime.IsZero() && info.ModTime.Nanosecond() == 0 {
			tick = 2100 * time.Millisecond // a storage that counts whole seconds
		}
		time.Sleep(tick)
	}
	c := f.change
	c.Path = path
	p.disturb(c)
	if c.Kind == DisturbRemove && f.slow {
		p.disturb(Change{Kind: DisturbReplace, Path: path, Data: "once again\n"})
		return "once again\n", false
	}
	return c.Data, c.Kind == DisturbRemove
}

// foreignChecks are about changes behind the file system's back.
func foreignChecks() []*check {
	conditional := func(name string, needs []requirement, call func(p *probe, path string, v ambit.Version) (op string, err error)) *check {
		return &check{
			id:       "hostile/foreign-" + name,
			rule:     "A change by another program that is over before " + name + " with IfVersion begins makes it changed, and is not lost.",
			requires: append([]requirement{needDisturb, needSwap, needVersions}, needs...),
			tree:     standard,
			run: func(p *probe) {
				for i, f := range foreign {
					path := fmt.Sprintf("hollow/%d", i)
					p.disturb(Change{Kind: DisturbReplace, Path: "/" + path, Data: "alpha\nbeta\n"})
					version := p.stat(path).Version
					content, gone := p.byAnother(i, "/"+path)
					before := p.snapshot()
					op, err := call(p, path, version)
					if err == nil {
						p.errorf("after %s: %s with the version before it succeeded", f.name, op)
						continue
					}
					p.refused(op, path, err, ambit.ErrChanged)
					p.unchanged(before)
					if gone {
						p.missing(path)
					} else {
						p.holds(path, content)
					}
				}
			},
		}
	}
	return []*check{
		{
			id: "hostile/foreign-seen", tree: standard,
			rule:     "Open, Stat, List and ReadFile see a change by another program that is over before they begin.",
			requires: []requirement{needDisturb},
			run: func(p *probe) {
				p.stat("file")
				p.holds("file", "alpha\nbeta\n")
				for i, f := range foreign {
					p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: "alpha\nbeta\n"})
					p.holds("file", "alpha\nbeta\n")
					content, gone := p.byAnother(i, "/file")
					if p.caps.List {
						if _, ok := p.kinds("/", nil)["file"]; ok == gone {
							p.errorf("after %s the listing has the file: %v", f.name, ok)
						}
					}
					if gone {
						p.missing("file")
						_, err := p.fs.Open(p.ctx, "file")
						p.refused(ambit.OpOpen, "file", err, ambit.ErrNotFound)
						continue
					}
					p.holds("file", content)
					if size := p.stat("file").Size; size != int64(len(content)) {
						p.errorf("after %s the size is %d, want %d", f.name, size, len(content))
					}
				}
				p.disturb(Change{Kind: DisturbReplace, Path: "/folder/fresh", Data: "fresh\n"})
				p.holds("folder/fresh", "fresh\n")
				p.disturb(Change{Kind: DisturbRemove, Path: "/folder"})
				p.missing("folder")
				_, err := p.fs.Stat(p.ctx, "folder/fresh")
				p.refused(ambit.OpStat, "folder/fresh", err, ambit.ErrNotFound)
				p.disturb(Change{Kind: DisturbReplace, Path: "/folder", Data: "a file now\n"})
				p.holds("folder", "a file now\n")
				_, err = p.fs.Stat(p.ctx, "folder/inner")
				p.refused(ambit.OpStat, "folder/inner", err, ambit.ErrNotADirectory)
			},
		},
		{
			id: "hostile/foreign-verified", tree: standard,
			rule:     "Verify sees a change by another program since the file was opened, whatever was read before it.",
			requires: []requirement{needDisturb, needVersions},
			run: func(p *probe) {
				for i, f := range foreign {
					for _, reads := range []int{0, 11} {
						p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: "alpha\nbeta\n"})
						file := p.open("file")
						if _, err := io.ReadFull(file, make([]byte, reads)); err != nil {
							p.errorf("reading %d bytes: %v", reads, err)
						}
						if err := file.Verify(p.ctx); err != nil {
							p.errorf("verify before %s: %v", f.name, err)
						}
						p.byAnother(i, "/file")
						if err := file.Verify(p.ctx); err == nil {
							p.errorf("verify after %s and a read of %d bytes saw no change", f.name, reads)
						} else {
							p.refused(ambit.OpVerify, "file", err, ambit.ErrChanged)
						}
						file.Close()
					}
				}
			},
		},
		{
			id: "hostile/foreign-version", tree: standard,
			rule:     "A change by another program gives a file another version.",
			requires: []requirement{needDisturb, needVersions},
			run: func(p *probe) {
				for i, f := range foreign {
					p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: "alpha\nbeta\n"})
					before := p.stat("file").Version
					if _, gone := p.byAnother(i, "/file"); gone {
						continue
					}
					if now := p.stat("file").Version; now == before || !now.Valid() {
						p.errorf("after %s the version is %q, and was %q", f.name, now, before)
					}
				}
			},
		},
		{
			id: "hostile/foreign-read", tree: standard,
			rule:     "ReadFile beside another program that replaces the file returns one version of it or changed, never a mixture.",
			requires: []requirement{needDisturb, needVersions},
			run: func(p *probe) {
				size := p.atMost(64 << 10)
				p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: strings.Repeat("a", size)})
				var stop atomic.Bool
				p.together(
					func(p *probe) {
						defer stop.Store(true)
						for i := range 100 {
							letter := string(rune('a' + i%26))
							if err := p.target.Disturb(p.ctx, p.storage(), Change{Kind: DisturbReplace, Path: "/file", Data: strings.Repeat(letter, max(size-i, 0))}); err != nil {
								p.fatalf("Disturb failed: %v", err)
							}
						}
					},
					func(p *probe) {
						for !stop.Load() {
							data, info, err := ambit.ReadFile(p.ctx, p.fs, "file")
							if err != nil {
								p.refused(opOf("", err), "file", err, ambit.ErrChanged)
								continue
							}
							p.oneLetter(string(data), int(info.Size))
						}
					},
				)
			},
		},
		conditional("write", []requirement{needWrite}, func(p *probe, path string, v ambit.Version) (string, error) {
			_, err := p.writable().Write(p.ctx, path, strings.NewReader("lost?\n"), &ambit.WriteOptions{If: ambit.IfVersion(v)})
			return ambit.OpWrite, err
		}),
		conditional("append", []requirement{needAppend}, func(p *probe, path string, v ambit.Version) (string, error) {
			_, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader("lost?\n"), &ambit.AppendOptions{If: ambit.IfVersion(v)})
			return ambit.OpAppend, err
		}),
		conditional("stage", []requirement{needStage}, func(p *probe, path string, v ambit.Version) (string, error) {
			_, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader("lost?\n"), &ambit.WriteOptions{If: ambit.IfVersion(v)})
			return ambit.OpStage, err
		}),
		conditional("remove", []requirement{needRemove}, func(p *probe, path string, v ambit.Version) (string, error) {
			return ambit.OpRemove, p.writable().Remove(p.ctx, path, &ambit.RemoveOptions{If: ambit.IfVersion(v)})
		}),
		conditional("rename", []requirement{needRename}, func(p *probe, path string, v ambit.Version) (string, error) {
			_, err := implements[ambit.Renamer](p).Rename(p.ctx, path, path+"-moved", &ambit.RenameOptions{If: ambit.IfVersion(v)})
			return ambit.OpRename, err
		}),
		conditional("commit", []requirement{needCommit}, func(p *probe, path string, v ambit.Version) (string, error) {
			_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "new", Content: strings.NewReader("new\n")},
				{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("lost?\n"), If: ambit.IfVersion(v)},
			})
			return ambit.OpCommit, err
		}),
		{
			id: "hostile/foreign-publish", tree: standard,
			rule:     "Publish judges again: a change by another program between Stage and Publish makes it changed, exists or not-found, and is not lost.",
			requires: []requirement{needDisturb, needSwap, needVersions, needStage},
			run: func(p *probe) {
				stage := func(path string, o *ambit.WriteOptions) ambit.Staged {
					s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader("staged\n"), o)
					if err != nil {
						p.fatalf("stage for %q: %v", path, err)
					}
					return s
				}
				refused := func(s ambit.Staged, path string, reasons ...ambit.Reason) {
					before := p.snapshot()
					_, err := s.Publish(p.ctx)
					p.refused(ambit.OpPublish, path, err, reasons...)
					p.unchanged(before)
					_, err = s.Publish(p.ctx)
					p.refused(ambit.OpPublish, path, err, ambit.ErrClosed)
				}
				for i := range foreign {
					p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: "alpha\nbeta\n"})
					s := stage("file", &ambit.WriteOptions{If: ambit.IfVersion(p.stat("file").Version)})
					p.byAnother(i, "/file")
					refused(s, "file", ambit.ErrChanged)
				}
				s := stage("came", &ambit.WriteOptions{If: ambit.IfAbsent()})
				p.disturb(Change{Kind: DisturbReplace, Path: "/came", Data: "by another program\n"})
				refused(s, "came", ambit.ErrExists)
				p.holds("came", "by another program\n")
				s = stage("folder/new", nil)
				p.disturb(Change{Kind: DisturbRemove, Path: "/folder"})
				refused(s, "folder/new", ambit.ErrNotFound)
				s = stage("sib/new", nil)
				p.disturb(Change{Kind: DisturbRemove, Path: "/sib"})
				p.disturb(Change{Kind: DisturbReplace, Path: "/sib", Data: "a file now\n"})
				refused(s, "sib/new", ambit.ErrNotADirectory)
			},
		},
		{
			id: "hostile/foreign-absent", tree: standard,
			rule:     "A file that another program has made before the call is in the way of IfAbsent, and is not lost.",
			requires: []requirement{needDisturb, needSwap, needWrite},
			run: func(p *probe) {
				p.missing("came")
				p.disturb(Change{Kind: DisturbReplace, Path: "/came", Data: "by another program\n"})
				before := p.snapshot()
				for _, a := range attempts() {
					if strings.HasSuffix(a.id, "-if-absent") && a.claimed(p) {
						p.meets(a, expectation{path: "came", reasons: []ambit.Reason{ambit.ErrExists}, kinds: []ambit.Kind{ambit.KindRegular}})
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/foreign-update-kept", tree: standard,
			rule:     "No update of a program that replaces the file by rename is lost to a write with IfVersion at the same time.",
			requires: []requirement{needForeignSwap, needDisturb, needWrite},
			run:      keepsForeignUpdates,
		},
	}
}

// keepsForeignUpdates lets a foreign program put one content after the other
// in place, while writers replace what they have read on the condition that it
// is still there, and write down which foreign content theirs descends from.
// After a replacement nothing may descend from an earlier one for long.
func keepsForeignUpdates(p *probe) {
	const rounds, writers = 60, 2
	foreignText := func(round int) string { return fmt.Sprintf("foreign %d\n", round) }
	descends := func(text string) string { return text[max(0, strings.LastIndex(text, "foreign")):] }
	p.disturb(Change{Kind: DisturbReplace, Path: "/file", Data: foreignText(0)})
	var stop atomic.Bool
	tasks := []func(p *probe){func(p *probe) {
		defer stop.Store(true)
		start := time.Now()
		for round := 1; round <= rounds && time.Since(start) < 3*time.Second; round++ {
			if err := p.target.Disturb(p.ctx, p.storage(), Change{Kind: DisturbReplace, Path: "/file", Data: foreignText(round)}); err != nil {
				p.fatalf("Disturb failed: %v", err)
			}
			// A losing publication may be seen until it is put back; a lost
			// update never comes back, and all later writes build on what
			// overwrote it.
			deadline := time.Now().Add(5 * time.Second)
			for {
				data, _, err := ambit.ReadFile(p.ctx, p.fs, "file")
				if err == nil && descends(string(data)) == foreignText(round) && string(data) != foreignText(round) {
					break // a writer has built on it
				}
				if time.Now().After(deadline) {
					p.fatalf("the update %q is lost: %q, %v", foreignText(round), data, err)
				}
			}
		}
	}}
	for w := range writers {
		tasks = append(tasks, func(p *probe) {
			for n := 0; !stop.Load(); n++ {
				data, info, err := ambit.ReadFile(p.ctx, p.fs, "file")
				if err != nil {
					continue
				}
				text := fmt.Sprintf("write %d of %d after %s", n, w, descends(string(data)))
				_, err = p.writable().Write(p.ctx, "file", strings.NewReader(text), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
				if err != nil {
					p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
				}
			}
		})
	}
	p.together(tasks...)
}
