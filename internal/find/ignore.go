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
	// maxRules bounds an ignore file, in bytes: its rules take many times as much.
	// git's own bound is 100 MB.
	maxRules = 1 << 20
)

// folderRules adds what a folder says of itself to the rules from above. kind
// tells what has a name there, KindUnknown for nothing.
func (s *search) folderRules(in Folder, path string, rules *ignore.Chain, kind func(name string) ambit.Kind, skip func(path string, err error)) *ignore.Chain {
	switch kind(repositoryName) {
	case ambit.KindDirectory:
		rules = rules.Repository(s.excludeFile(in, path, skip))
	case ambit.KindRegular: // of a linked working tree, or a submodule
		rules = rules.Repository(nil)
	}
	if kind(ignoreFile) == ambit.KindRegular {
		if own := s.read(in, path, ignoreFile, skip); own != nil {
			rules = rules.With(own)
		}
	}
	return rules
}

// excludeFile reads .git/info/exclude.
func (s *search) excludeFile(in Folder, path string, skip func(path string, err error)) *ignore.Rules {
	for _, name := range []string{repositoryName, "info"} {
		sub, err := retried(s.folders, func() (Folder, error) { return in.Enter(s.ctx, name) })
		path = ambit.Join(path, name)
		if err != nil {
			skip(path, err)
			return nil
		}
		defer sub.Close()
		in = sub
	}
	return s.read(in, path, "exclude", skip)
}

// read reads an ignore file, nil where that cannot be.
func (s *search) read(in Folder, path, name string, skip func(path string, err error)) *ignore.Rules {
	f, err := retried(s.folders, func() (File, error) { return in.Open(s.ctx, name) })
	if err != nil {
		skip(ambit.Join(path, name), err)
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	if err == nil && len(content) > maxRules {
		err = ambit.ErrTooLarge
	}
	if err != nil {
		skip(ambit.Join(path, name), err)
		return nil
	}
	return ignore.Parse(content)
}

// rulesAbove returns the rules that the folders above path, a canonical one, have
// for what is in it. Where they ignore path itself, or a folder on the way to it,
// they have no say: what is named is searched.
func (s *search) rulesAbove(ctx context.Context, path string) *ignore.Chain {
	if path == "/" {
		return nil
	}
	names := strings.Split(path[1:], "/")
	var rules *ignore.Chain
	above := "/"
	for _, name := range names {
		rules = s.rulesAt(ctx, above, rules)
		if rules.Ignored(name, true) {
			rules = nil
		}
		rules = rules.Enter(name)
		above = ambit.Join(above, name)
	}
	return rules
}

// rulesAt adds what the folder at path says of itself, if it can be entered.
func (s *search) rulesAt(ctx context.Context, path string, rules *ignore.Chain) *ignore.Chain {
	in, err := retried(s.folders, func() (Folder, error) { return s.folders.tree.Way(ctx, path) })
	if err != nil {
		return rules
	}
	defer in.Close()
	return s.folderRules(in, path, rules, func(name string) ambit.Kind {
		info, err := in.Lookup(ctx, name)
		if err != nil || !in.Shows(ctx, name, false) {
			return ambit.KindUnknown
		}
		return info.Kind
	}, func(string, error) {})
}
