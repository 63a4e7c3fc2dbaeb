// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// triedLimit is the largest MaxFileSize that is tried out.
const triedLimit = 64 << 20

// endless gives n bytes.
func endless(n int64) io.Reader { return io.LimitReader(zeros{}, n) }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// sizeLimitChecks: MaxFileSize, where it is claimed.
func sizeLimitChecks() []*check {
	limit := func(p *probe) int64 {
		if p.caps.MaxFileSize > triedLimit {
			p.cannotHold(fmt.Sprintf("MaxFileSize is over %d bytes, too much to try", triedLimit))
		}
		return p.caps.MaxFileSize
	}
	var out []*check
	for _, m := range contentMethods() {
		tooLarge := func(p *probe, path string, content io.Reader) {
			err := m.give(p.ctx, p, path, content, true)
			p.refused(m.opOf(err), path, err, ambit.ErrTooLarge)
			var e *ambit.Error
			if errors.As(err, &e) && e.Reason == ambit.ErrTooLarge && e.Limit != p.caps.MaxFileSize {
				p.errorf("%s %q: too-large with Limit %d, want %d", m.op, path, e.Limit, p.caps.MaxFileSize)
			}
		}
		out = append(out, &check{
			id: "write/" + m.id + "-max-file-size", tree: standard, requires: slices.Concat(m.needs, []requirement{needMaxFileSize}),
			rule: m.title + " of a file larger than MaxFileSize is too-large with the Limit, and changes nothing; one of just that size is taken whole.",
			run: func(p *probe) {
				max := limit(p)
				before := p.snapshot()
				for _, path := range []string{"empty", "new", "gone/deep/new"} {
					tooLarge(p, path, endless(max+1))
					tooLarge(p, path, endless(2*max+10))
				}
				p.unchanged(before)
				if err := m.give(p.ctx, p, "new", endless(max), false); err != nil {
					p.errorf("%s of %d bytes: %v", m.title, max, err)
				} else if size := p.stat("new").Size; size != max && size != -1 {
					p.errorf("%d bytes were given, and the file has %d", max, size)
				}
			},
		})
	}
	return append(out, &check{
		id: "write/append-over-max-file-size", tree: standard, requires: []requirement{needAppend, needMaxFileSize},
		rule: "Append of what would make the file larger than MaxFileSize is too-large, and changes nothing.",
		run: func(p *probe) {
			max := limit(p)
			before := p.snapshot()
			room := max - int64(len(fileContent))
			for _, n := range []int64{room + 1, max} {
				err := appendOf(p, "file", endless(n))
				p.refused(ambit.OpAppend, "file", err, ambit.ErrTooLarge)
			}
			p.unchanged(before)
			if err := appendOf(p, "file", endless(room)); err != nil {
				p.errorf("append up to the limit: %v", err)
			}
			if err := appendOf(p, "file", strings.NewReader("x")); err == nil {
				p.errorf("append over the limit, byte by byte, succeeded")
			} else {
				p.refused(ambit.OpAppend, "file", err, ambit.ErrTooLarge)
			}
			if err := appendOf(p, "file", strings.NewReader("")); err != nil {
				p.errorf("append of nothing to a file of the limit: %v", err)
			}
		},
	})
}

func appendOf(p *probe, path string, content io.Reader) error {
	_, err := implements[ambit.Appender](p).Append(p.ctx, path, content, nil)
	return err
}
