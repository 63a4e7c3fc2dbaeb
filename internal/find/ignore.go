// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"context"
	"io"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/ignore"
)

const (
	ignoreFile     = ".gitignore"
	repositoryName = ".git"
	// maxRules bounds the ignore files on the way to a folder together, in bytes:
	// their rules take many times as much. git's own bound for a file is 100 MB.
	maxRules = 1 << 20
)

// rules are those that hold in a folder.
type rules struct {
	*ignore.Chain
	size int // of the files that they are from
}

func (r rules) enter(name string) rules {
	if r.Chain = r.Enter(name); r.Chain == nil {
		r.size = 0
	}
	return r
}

// folderRules adds what a folder says of itself to the rules from above. kind
// tells what has a name there, KindUnknown for nothing.
func (s *search) folderRules(in Folder, path string, r rules, kind func(name string) ambit.Kind, skip func(path string, err error)) rules {
	switch kind(repositoryName) {
	case ambit.KindDirectory:
		own, size := s.excludeFile(in, path, skip)
		r = rules{r.Repository(own), size}
	case ambit.KindRegular, ambit.KindSymlink: // of a linked working tree, or a submodule; what a link leads to is not read
		r = rules{r.Repository(nil), 0}
	}
	if kind(ignoreFile) == ambit.KindRegular {
		if own, size := s.read(in, path, ignoreFile, maxRules-r.size, skip); own != nil {
			r = rules{r.With(own), r.size + size}
		}
	}
	return r
}

// excludeFile reads .git/info/exclude.
func (s *search) excludeFile(in Folder, path string, skip func(path string, err error)) (*ignore.Rules, int) {
	for _, name := range []string{repositoryName, "info"} {
		sub, err := retried(s.folders, func() (Folder, error) { return in.Enter(s.ctx, name) })
		path = ambit.Join(path, name)
		if err != nil {
			skip(path, err)
			return nil, 0
		}
		defer sub.Close()
		in = sub
	}
	return s.read(in, path, "exclude", maxRules, skip)
}

// read reads an ignore file of at most so many bytes, nil where that cannot be.
func (s *search) read(in Folder, path, name string, most int, skip func(path string, err error)) (*ignore.Rules, int) {
	f, err := retried(s.folders, func() (File, error) { return in.Open(s.ctx, name) })
	if err != nil {
		skip(ambit.Join(path, name), err)
		return nil, 0
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(stopping{s.ctx, f}, int64(most)+1))
	if err == nil && len(content) > most {
		err = ambit.ErrTooLarge
	}
	if err != nil {
		skip(ambit.Join(path, name), err)
		return nil, 0
	}
	return ignore.Parse(content), len(content)
}

// rulesAbove returns the rules that the folders above path, a canonical one, have
// for what is in it. Where they ignore path itself, or a folder on the way to it,
// they have no say: what is named is searched.
func (s *search) rulesAbove(ctx context.Context, path string) (r rules) {
	if path == "/" {
		return r
	}
	above := "/"
	for name := range strings.SplitSeq(path[1:], "/") {
		r = s.rulesAt(ctx, above, r)
		if r.Ignored(name, true) {
			r = rules{}
		}
		r = r.enter(name)
		above = ambit.Join(above, name)
	}
	return r
}

// rulesAt adds what the folder at path says of itself, if it can be entered.
func (s *search) rulesAt(ctx context.Context, path string, r rules) rules {
	in, err := retried(s.folders, func() (Folder, error) { return s.folders.tree.Way(ctx, path) })
	if err != nil {
		return r
	}
	defer in.Close()
	return s.folderRules(in, path, r, func(name string) ambit.Kind {
		info, err := in.Lookup(ctx, name)
		if err != nil || !in.Shows(ctx, name, false) {
			return ambit.KindUnknown
		}
		return info.Kind
	}, func(string, error) {})
}
