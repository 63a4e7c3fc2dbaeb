// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ambitfs/ambit"
)

// contextChecks: a call whose context is done does nothing.
func contextChecks(level Level) []*check {
	var out []*check
	for _, m := range atLevel(level, slices.Concat(pathMethods(), searchMethods())) {
		out = append(out, &check{
			id: string(level) + "/" + m.id + "-context-done", tree: standard, requires: m.needs, anywhere: true,
			rule: m.title + " with a context that is done is canceled or timeout, and changes nothing.",
			run: func(p *probe) {
				canceled, cancel := context.WithCancel(p.ctx)
				cancel()
				late, cancelLate := context.WithDeadline(p.ctx, time.Unix(1, 0))
				defer cancelLate()
				before := p.snapshot()
				for _, path := range []string{"folder/inner", "file", "folder", "new", "gone/new", "file/x", "/"} {
					err := m.call(canceled, p, path)
					p.refusedAtAll(m, path, err, ambit.ErrCanceled)
					if err != nil && !errors.Is(err, context.Canceled) {
						p.errorf("%s %q: errors.Is(err, context.Canceled) is false: %v", m.op, path, err)
					}
					err = m.call(late, p, path)
					p.refusedAtAll(m, path, err, ambit.ErrTimeout)
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						p.errorf("%s %q: errors.Is(err, context.DeadlineExceeded) is false: %v", m.op, path, err)
					}
				}
				p.unchanged(before)
			},
		})
	}
	if level == LevelCore {
		return append(out, fileContextChecks()...)
	}
	return append(out, contentContextChecks()...)
}

// fileContextChecks: the context of Open governs the File until it is closed.
func fileContextChecks() []*check {
	afterEnd := func(p *probe, f ambit.File, info ambit.FileInfo, reason ambit.Reason) {
		n, err := f.Read(make([]byte, 4))
		if n != 0 {
			p.errorf("a read after the end of the context gave %d bytes", n)
		}
		p.refused(ambit.OpRead, "file", err, reason)
		if at, ok := f.(io.ReaderAt); ok && p.caps.ReadAt {
			_, err = at.ReadAt(make([]byte, 4), 0)
			p.refused(ambit.OpRead, "file", err, reason)
		}
		p.refused(ambit.OpVerify, "file", f.Verify(p.ctx), reason)
		if f.Info() != info {
			p.errorf("Info changed with the end of the context: %+v, was %+v", f.Info(), info)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				p.errorf("Close after the end of the context: %v", err)
			}
		}
		_, err = f.Read(make([]byte, 4))
		p.refused(ambit.OpRead, "file", err, ambit.ErrClosed, reason)
	}
	return []*check{
		{
			id: "core/file-context-canceled", tree: standard,
			rule: "After its context was cancelled a File reads and verifies no more, and says canceled.",
			run: func(p *probe) {
				ctx, cancel := context.WithCancel(p.ctx)
				defer cancel()
				f, err := p.fs.Open(ctx, "file")
				if err != nil {
					p.fatalf("open: %v", err)
				}
				if _, err := io.ReadFull(f, make([]byte, 3)); err != nil {
					p.errorf("reading: %v", err)
				}
				info := f.Info()
				cancel()
				afterEnd(p, f, info, ambit.ErrCanceled)
			},
		},
		{
			id: "core/file-context-timeout", tree: standard,
			rule: "After its context's deadline a File reads and verifies no more, and says timeout.",
			run: func(p *probe) {
				for patience := 20 * time.Millisecond; ; patience *= 8 {
					ctx, cancel := context.WithTimeout(p.ctx, patience)
					defer cancel()
					f, err := p.fs.Open(ctx, "file")
					if err != nil && ctx.Err() != nil && p.ctx.Err() == nil {
						continue // too slow for this deadline
					}
					if err != nil {
						p.fatalf("open: %v", err)
					}
					info := f.Info()
					<-ctx.Done()
					afterEnd(p, f, info, ambit.ErrTimeout)
					return
				}
			},
		},
		{
			id: "core/file-verify-context", tree: standard,
			rule: "Verify with a context that is done is canceled or timeout, and the file goes on to work.",
			run: func(p *probe) {
				f := p.open("file")
				defer f.Close()
				canceled, cancel := context.WithCancel(p.ctx)
				cancel()
				late, cancelLate := context.WithDeadline(p.ctx, time.Unix(1, 0))
				defer cancelLate()
				p.refused(ambit.OpVerify, "file", f.Verify(canceled), ambit.ErrCanceled)
				p.refused(ambit.OpVerify, "file", f.Verify(late), ambit.ErrTimeout)
				if data, err := io.ReadAll(f); err != nil || string(data) != fileContent {
					p.errorf("read %q, %v", data, err)
				}
				if err := f.Verify(p.ctx); err != nil {
					p.errorf("verify: %v", err)
				}
			},
		},
	}
}

// contentContextChecks: a context that ends while content is read.
func contentContextChecks() []*check {
	var out []*check
	for _, m := range contentMethods() {
		out = append(out, &check{
			id: "write/" + m.id + "-canceled-in-content", tree: standard, requires: m.needs,
			rule: m.title + " whose context ends before publication is canceled, with every name and byte as before.",
			run: func(p *probe) {
				before := p.snapshot()
				for _, rest := range []string{"", "the rest", pattern(p.atMost(100_000), 1)} {
					for _, path := range []string{"file", "new", "gone/deep/new"} {
						ctx, cancel := context.WithCancel(p.ctx)
						err := m.give(ctx, p, path, interrupted("begun ", cancel, rest), true)
						cancel()
						p.refused(m.opOf(err), path, err, ambit.ErrCanceled)
						if err != nil && !errors.Is(err, context.Canceled) {
							p.errorf("%s %q: errors.Is(err, context.Canceled) is false: %v", m.op, path, err)
						}
					}
				}
				p.unchanged(before)
			},
		})
	}
	return out
}
