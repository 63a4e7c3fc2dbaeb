// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"

	"github.com/ambitfs/ambit/internal/diff"
)

// maxDiff is how long a diff may be, and how much text around a change is looked
// at for it, in bytes.
const maxDiff = 1 << 20

// diff returns the unified diff of the changes of the file at path. It looks at
// the text around them alone.
func (r *plan) diff(s *source, path string) (text string, clipped bool, err error) {
	var regions []diff.Region
	size := 0
	for i := 0; i < len(r.changes); {
		if size > maxDiff {
			clipped = true
			break
		}
		region, n, ok, err := r.region(s, i)
		if err != nil {
			return "", false, err
		}
		if !ok {
			clipped = true
			break
		}
		if !bytes.Equal(region.Before, region.After) {
			regions = append(regions, region)
		}
		size += len(region.Before) + len(region.After)
		i += n
	}
	text, cut := diff.Unified("a"+path, "b"+path, regions, maxDiff)
	return text, clipped || cut, nil
}

// region returns the region of the change i and of those n-1 behind it that are
// close to it; ok is false when it is too large.
func (r *plan) region(s *source, i int) (region diff.Region, n int, ok bool, err error) {
	first := r.changes[i]
	start, ok, err := s.lineStart(first.start, maxDiff)
	context := 0
	for ; ok && err == nil && context < diff.Context && start > 0; context++ {
		start, ok, err = s.lineStart(start-1, maxDiff)
	}
	if !ok || err != nil {
		return region, 0, false, err
	}
	region.Line = first.line - context
	var line, end int64 = -1, first.start // the end of the last change's line, and of what is shown behind it
	for n = 0; i+n < len(r.changes) && r.changes[i+n].start <= end; n++ {
		if at := r.changes[i+n].end; at >= line {
			if line, ok, err = s.lineEnd(at, maxDiff); !ok || err != nil {
				return region, 0, false, err
			}
			end = line
			for range 2 * diff.Context { // what comes next may want as many before it
				if end, ok, err = s.lineEnd(end, maxDiff); !ok || err != nil {
					return region, 0, false, err
				}
			}
		}
		if end-start > maxDiff {
			return region, 0, false, nil
		}
	}
	if region.Before, err = s.span(start, end); err != nil {
		return region, 0, false, err
	}
	at := start
	for _, c := range r.changes[i : i+n] {
		region.After = append(region.After, region.Before[at-start:c.start-start]...)
		region.After = append(region.After, c.text...)
		if at = c.end; len(region.After) > 2*maxDiff {
			return region, 0, false, nil
		}
	}
	region.After = append(region.After, region.Before[at-start:]...)
	return region, n, true, nil
}
