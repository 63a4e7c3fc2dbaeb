// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
)

// cancelled is a change that a check makes under a context that ends at some
// moment of it.
type cancelled struct {
	id, name string
	requires []requirement
	// prepare is not cancelled. change is, and names what it changes.
	prepare func(p *probe, n int)
	change  func(p *probe, ctx context.Context, n int) (paths []string, err error)
}

func cancelledChanges() []cancelled {
	body := func(p *probe, size int) string { return letters(2, p.atMost(size)) }
	nothing := func(*probe, int) {}
	return []cancelled{
		{
			"write", "Write over a file",
			[]requirement{needWrite},
			nothing,
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				_, err := p.writable().Write(ctx, "file", strings.NewReader(fmt.Sprint(n, body(p, 100_000))), nil)
				return []string{"/file"}, err
			},
		},
		{
			"write-parents", "Write of a file beneath missing parents",
			[]requirement{needWrite},
			nothing,
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				top := fmt.Sprintf("/made-%d", n)
				_, err := p.writable().Write(ctx, top+"/deep/file", strings.NewReader(body(p, 20_000)), &ambit.WriteOptions{Parents: true})
				return []string{top, top + "/deep", top + "/deep/file"}, err
			},
		},
		{
			"append", "Append",
			[]requirement{needAppend},
			nothing,
			func(p *probe, ctx context.Context, _ int) ([]string, error) {
				_, err := implements[ambit.Appender](p).Append(ctx, "sib.txt", strings.NewReader(letters(2, max(1, p.atMost(20_000)/20))), nil)
				return []string{"/sib.txt"}, err
			},
		},
		{
			"publish", "Publish",
			[]requirement{needStage},
			nothing,
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				top := fmt.Sprintf("/made-%d", n)
				s, err := implements[ambit.Stager](p).Stage(ctx, top+"/file", strings.NewReader(body(p, 20_000)), &ambit.WriteOptions{Parents: true})
				if err != nil {
					return nil, err
				}
				_, err = s.Publish(ctx)
				return []string{top, top + "/file"}, err
			},
		},
		{
			"rename", "Rename of a folder to missing parents",
			[]requirement{needRename, needWrite},
			func(p *probe, n int) {
				p.write(fmt.Sprintf("from-%d/file", n), "x", &ambit.WriteOptions{Parents: true})
			},
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				from, to := fmt.Sprintf("/from-%d", n), fmt.Sprintf("/to-%d", n)
				_, err := implements[ambit.Renamer](p).Rename(ctx, from, to+"/deep", &ambit.RenameOptions{Parents: true})
				return []string{from, from + "/file", to, to + "/deep", to + "/deep/file"}, err
			},
		},
		{
			"remove", "Remove of a file",
			[]requirement{needRemove, needWrite},
			func(p *probe, n int) { p.write(fmt.Sprintf("hollow/%d", n), "x", nil) },
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				path := fmt.Sprintf("/hollow/%d", n)
				return []string{path}, p.writable().Remove(ctx, path, nil)
			},
		},
		{
			"remove-folder", "Remove of a folder with all beneath it",
			[]requirement{needAtomicRemove, needRemove, needWrite},
			func(p *probe, n int) {
				for i := range 4 {
					p.write(fmt.Sprintf("full-%d/%d/file", n, i), "x", &ambit.WriteOptions{Parents: true})
				}
			},
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				top := fmt.Sprintf("/full-%d", n)
				paths := []string{top}
				for i := range 4 {
					paths = append(paths, fmt.Sprintf("%s/%d", top, i), fmt.Sprintf("%s/%d/file", top, i))
				}
				return paths, p.writable().Remove(ctx, top, &ambit.RemoveOptions{Recursive: true})
			},
		},
		{
			"mkdir", "Mkdir with Parents",
			[]requirement{needMkdir},
			nothing,
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				top := fmt.Sprintf("/made-%d", n)
				_, err := implements[ambit.DirMaker](p).Mkdir(ctx, top+"/a/b/c", &ambit.MkdirOptions{Parents: true})
				return []string{top, top + "/a", top + "/a/b", top + "/a/b/c"}, err
			},
		},
		{
			"commit", "Commit",
			[]requirement{needCommit, needWrite},
			func(p *probe, n int) { p.write(fmt.Sprintf("hollow/%d", n), "x", nil) },
			func(p *probe, ctx context.Context, n int) ([]string, error) {
				gone, made := fmt.Sprintf("/hollow/%d", n), fmt.Sprintf("/made-%d", n)
				_, err := implements[ambit.Committer](p).Commit(ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "file", Content: strings.NewReader(fmt.Sprint(n, body(p, 50_000)))},
					{Op: ambit.OpRemove, Path: gone},
					{Op: ambit.OpWrite, Path: made + "/file", Content: strings.NewReader("x"), Parents: true},
				})
				return []string{"/file", gone, made, made + "/file"}, err
			},
		},
	}
}

// cancellationChecks end the context at many moments of each change.
func cancellationChecks() []*check {
	const moments = 14
	var list []*check
	for _, c := range cancelledChanges() {
		list = append(list, &check{
			id:       "concurrent/cancelled-" + c.id,
			rule:     c.name + " whose context ends beside it has changed all that it changes and succeeded, or nothing.",
			requires: c.requires, tree: standard,
			run: func(p *probe) {
				// How long the change takes on this storage at this moment tells
				// which moments are in it.
				c.prepare(p, -1)
				start := time.Now()
				if _, err := c.change(p, p.ctx, -1); err != nil {
					p.fatalf("%s: %v", c.name, err)
				}
				took := time.Since(start)
				for n := range moments {
					c.prepare(p, n)
					before := p.snapshot()
					after := took * time.Duration(n) / (moments - 2) // the last ones come after it
					want := ambit.Reason(ambit.ErrCanceled)
					ctx, cancel := context.WithCancel(p.ctx)
					if n%2 == 1 {
						want = ambit.ErrTimeout
						ctx, cancel = context.WithTimeout(p.ctx, after)
					} else {
						timer := time.AfterFunc(after, cancel)
						defer timer.Stop()
					}
					paths, err := c.change(p, ctx, n)
					cancel()
					if err == nil {
						p.changedOnly(before, paths...)
						continue
					}
					if got := ambit.ReasonOf(err); got != want {
						p.errorf("%s under a context that ended: %v, want %s", c.name, err, want)
					}
					p.unchanged(before)
				}
			},
		})
	}
	return list
}
