// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io"
	"os"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/splice"
)

// largeSpan is from where on a span is worth a system call of its own, in bytes.
const largeSpan = 32 << 10

// fillFrom copies the content into f. Of a content that is spans of files which
// this package has open, the large ones are copied within the kernel.
func (s *staged) fillFrom(f *os.File, content io.Reader) error {
	limit := s.fsys.o.MaxFileSize
	joined, ok := content.(*splice.Content)
	if !ok || joined == nil || limit > 0 && joined.Size() > limit {
		return pour(f, ambit.Content(s.ctx, content, limit))
	}
	parts, ok := joined.Parts()
	if !ok {
		return pour(f, ambit.Content(s.ctx, content, limit))
	}
	var run []splice.Part // of what is not copied so
	for _, part := range parts {
		run = append(run, part)
		source, ok := part.Source.(*file)
		if !ok || part.Length < largeSpan {
			continue
		}
		ranger, ok := source.content.(interface {
			copyRange(dst *os.File, offset, n int64) (int64, error)
		})
		if !ok || source.node.size < part.Offset+part.Length {
			continue
		}
		if err := pour(f, ambit.Content(s.ctx, splice.New(run[:len(run)-1]), 0)); err != nil {
			return err
		}
		run = run[:0]
		for part.Length > 0 {
			if err := ended(s.ctx); err != nil {
				return err
			}
			if source.usable() != nil {
				break // a read has the right words for it
			}
			n, err := ranger.copyRange(f, part.Offset, min(part.Length, copyAtOnce))
			part.Offset, part.Length = part.Offset+n, part.Length-n
			if err != nil || n == 0 {
				break // not between these two disks, or the file is shorter now: reading tells
			}
		}
		if part.Length > 0 {
			run = append(run, part)
		}
	}
	return pour(f, ambit.Content(s.ctx, splice.New(run), 0))
}

// copyAtOnce is how much is copied before a look at whether the call is still
// wanted, in bytes.
const copyAtOnce = 16 << 20
