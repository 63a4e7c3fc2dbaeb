// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/glob"
)

// relative returns q with a pattern that begins at its base. One with a slash in
// front is a path of the machine, as those of results are: it begins at "/".
func relative(ctx context.Context, fsys ambit.FileSystem, q ambit.GlobQuery) (ambit.GlobQuery, error) {
	if !strings.HasPrefix(q.Pattern, "/") {
		return q, nil
	}
	if q.Base == "" {
		q.Base = "/"
		return q, nil
	}
	p, err := glob.Compile(q.Pattern)
	if err != nil {
		return q, nil // the search says so in its turn
	}
	info, err := fsys.Stat(ctx, q.Base)
	if err != nil || info.Path == "/" {
		return q, nil // as above
	}
	dir := info.Path
	if !info.IsDir() {
		dir = ambit.Dir(dir)
	}
	s := p.Start(true)
	for name := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if name != "" {
			s = s.Enter(name)
		}
	}
	if s.Dead() {
		return q, &ambit.Error{
			Op: ambit.OpGlob, Path: q.Base, Reason: ambit.ErrBadPattern,
			Detail: "a pattern that begins with a slash is a path from /, and this one does not lead beneath the base",
		}
	}
	q.Pattern = s.Rest()
	return q, nil
}
