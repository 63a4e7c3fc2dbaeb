// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// The changes that checks make on the way. Each ends the check if it fails.

func (p *probe) append(path, content string, o *ambit.AppendOptions) ambit.WriteResult {
	r, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader(content), o)
	if err != nil {
		p.fatalf("append %q: %v", path, err)
	}
	return r
}

func (p *probe) remove(path string, o *ambit.RemoveOptions) {
	if err := implements[ambit.WritableFileSystem](p).Remove(p.ctx, path, o); err != nil {
		p.fatalf("remove %q: %v", path, err)
	}
}

func (p *probe) rename(from, to string, o *ambit.RenameOptions) ambit.FileInfo {
	info, err := implements[ambit.Renamer](p).Rename(p.ctx, from, to, o)
	if err != nil {
		p.fatalf("rename %q to %q: %v", from, to, err)
	}
	return info
}

func (p *probe) mkdir(dir string, o *ambit.MkdirOptions) []string {
	created, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, dir, o)
	if err != nil {
		p.fatalf("mkdir %q: %v", dir, err)
	}
	return created
}

func (p *probe) stage(path, content string, o *ambit.WriteOptions) ambit.Staged {
	s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader(content), o)
	if err != nil {
		p.fatalf("stage %q: %v", path, err)
	}
	if s == nil {
		p.fatalf("stage %q: neither content nor an error", path)
	}
	return s
}

func (p *probe) commit(changes ...ambit.Change) []ambit.WriteResult {
	results, err := implements[ambit.Committer](p).Commit(p.ctx, changes)
	if err != nil {
		p.fatalf("commit: %v", err)
	}
	if len(results) != len(changes) {
		p.fatalf("commit of %d changes returned %d results", len(changes), len(results))
	}
	return results
}
