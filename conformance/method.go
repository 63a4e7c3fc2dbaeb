// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// method is a call of the contract that takes a path, with or without options,
// so that one rule can be proved for all of them.
type method struct {
	id    string // in the IDs of checks
	title string // in the rules of checks
	level Level
	op    string
	needs []requirement
	call  func(ctx context.Context, p *probe, path string) error
	other string // another path of the call, which an error may speak of
}

// refusals makes the checks of cells in which m is refused.
func (m method) refusals(cells ...cell) []*check {
	return refusalChecks(m.level, m.id, m.title, m.needs, cells, func(p *probe, path string) (string, error) {
		return m.op, m.call(p.ctx, p, path)
	})
}

// The methods that read.
var (
	methodOpen = method{
		id: "open", title: "Open", level: LevelCore, op: ambit.OpOpen,
		call: func(ctx context.Context, p *probe, path string) error {
			f, err := p.fs.Open(ctx, path)
			if f != nil && err != nil {
				p.errorf("open %q returned a file beside the error %v", path, err)
			}
			p.answered(ambit.OpOpen, path, f != nil, err)
			if f != nil && err == nil {
				f.Close()
			}
			return err
		},
	}
	methodStat = method{
		id: "stat", title: "Stat", level: LevelCore, op: ambit.OpStat,
		call: func(ctx context.Context, p *probe, path string) error {
			_, err := p.fs.Stat(ctx, path)
			return err
		},
	}
	methodList = method{
		id: "list", title: "List", level: LevelCore, op: ambit.OpList, needs: []requirement{needList},
		call: listWith(ambit.ListOptions{}),
	}
	methodLstat = method{
		id: "lstat", title: "Lstat", level: LevelCore, op: ambit.OpLstat, needs: []requirement{needReadLink},
		call: func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Linker](p).Lstat(ctx, path)
			return err
		},
	}
	methodReadLink = method{
		id: "readlink", title: "ReadLink", level: LevelCore, op: ambit.OpReadLink, needs: []requirement{needReadLink},
		call: func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Linker](p).ReadLink(ctx, path)
			return err
		},
	}
	methodSub = method{
		id: "sub", title: "Sub", level: LevelCore, op: ambit.OpSub, needs: []requirement{needSub},
		call: func(ctx context.Context, p *probe, path string) error {
			sub, err := implements[ambit.Subber](p).Sub(ctx, path)
			p.answered(ambit.OpSub, path, sub != nil, err)
			return err
		},
	}
	methodGlob = method{
		id: "glob", title: "Glob", level: LevelCore, op: ambit.OpGlob, needs: []requirement{needSearch},
		call: func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Searcher](p).Glob(ctx, ambit.GlobQuery{Pattern: "**", Base: path}, func(ambit.GlobMatch) bool { return true })
			return err
		},
	}
	methodGrep = method{
		id: "grep", title: "Grep", level: LevelCore, op: ambit.OpGrep, needs: []requirement{needSearch},
		call: func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Searcher](p).Grep(ctx, ambit.GrepQuery{Pattern: ".", Base: path}, func(ambit.GrepMatch) bool { return true })
			return err
		},
	}
)

// The methods that change something.
var (
	methodWrite = method{
		id: "write", title: "Write", level: LevelWrite, op: ambit.OpWrite, needs: []requirement{needWrite},
		call: writeWith(ambit.WriteOptions{}),
	}
	methodAppend = method{
		id: "append", title: "Append", level: LevelWrite, op: ambit.OpAppend, needs: []requirement{needAppend},
		call: appendWith(ambit.WriteOptions{}),
	}
	methodStage = method{
		id: "stage", title: "Stage", level: LevelWrite, op: ambit.OpStage, needs: []requirement{needStage},
		call: stageWith(ambit.WriteOptions{}),
	}
	methodRemove = method{
		id: "remove", title: "Remove", level: LevelWrite, op: ambit.OpRemove, needs: []requirement{needRemove},
		call: removeWith(ambit.RemoveOptions{}),
	}
	methodRename = method{
		id: "rename", title: "Rename", level: LevelWrite, op: ambit.OpRename, needs: []requirement{needRename},
		call: renameTo("moved", ambit.RenameOptions{}), other: "moved",
	}
	methodRenameTarget = method{
		id: "rename-to", title: "Rename of a file to the name", level: LevelWrite, op: ambit.OpRename, needs: []requirement{needRename},
		call: renameFrom("file", ambit.RenameOptions{}), other: "file",
	}
	methodMkdir = method{
		id: "mkdir", title: "Mkdir", level: LevelWrite, op: ambit.OpMkdir, needs: []requirement{needMkdir},
		call: mkdirWith(ambit.MkdirOptions{}),
	}
	methodCommitWrite = method{
		id: "commit-write", title: "Commit of a write", level: LevelWrite, op: ambit.OpCommit, needs: []requirement{needCommit},
		call: commitWriteWith(ambit.WriteOptions{}),
	}
	methodCommitRemove = method{
		id: "commit-remove", title: "Commit of a removal", level: LevelWrite, op: ambit.OpCommit, needs: []requirement{needCommit},
		call: commitRemoveWith(ambit.RemoveOptions{}),
	}
)

// pathMethods are all methods that take a path of the file system.
func pathMethods() []method {
	return []method{
		methodOpen, methodStat, methodList, methodLstat, methodReadLink, methodSub,
		methodWrite, methodAppend, methodStage, methodRemove, methodRename, methodRenameTarget, methodMkdir,
		methodCommitWrite, methodCommitRemove,
	}
}

// searchMethods take a base, which "" does not make invalid.
func searchMethods() []method { return []method{methodGlob, methodGrep} }

// refusedAtAll checks that err is a proper refusal of m on path for what is
// wrong with the call, not with the path.
func (p *probe) refusedAtAll(m method, path string, err error, reasons ...ambit.Reason) {
	paths := []string{path}
	if m.other != "" {
		paths = append(paths, m.other)
	}
	p.refusedOne(m.op, paths, err, reasons...)
}

// refusedOne checks that err is a proper refusal for one of paths.
func (p *probe) refusedOne(op string, paths []string, err error, reasons ...ambit.Reason) {
	path := paths[0]
	var e *ambit.Error
	if errors.As(err, &e) && e != nil && slices.Contains(paths, e.Path) {
		path = e.Path
	}
	p.refused(op, path, err, reasons...)
}

// atLevel returns those of methods that are of the level.
func atLevel(level Level, methods []method) []method {
	return slices.DeleteFunc(slices.Clone(methods), func(m method) bool { return m.level != level })
}

// creating returns the methods that may create a file, under the precondition.
func creating(precondition ambit.Precondition) []method {
	o := ambit.WriteOptions{If: precondition}
	methods := []method{methodWrite, methodAppend, methodStage, methodCommitWrite}
	methods[0].call = writeWith(o)
	methods[1].call = appendWith(o)
	methods[2].call = stageWith(o)
	methods[3].call = commitWriteWith(o)
	return methods
}

// conditional returns the methods that take a precondition on the version of
// a file, under that precondition.
func conditional(precondition ambit.Precondition) []method {
	methods := []method{methodRemove, methodRename, methodCommitRemove}
	methods[0].call = removeWith(ambit.RemoveOptions{If: precondition})
	methods[1].call = renameTo("moved", ambit.RenameOptions{If: precondition})
	methods[2].call = commitRemoveWith(ambit.RemoveOptions{If: precondition})
	return append(creating(precondition), methods...)
}

// claimedOf returns those of methods whose capabilities are claimed.
func (p *probe) claimedOf(methods []method) []method {
	return slices.DeleteFunc(slices.Clone(methods), func(m method) bool {
		return slices.ContainsFunc(m.needs, func(r requirement) bool { return !r.met(p.caps, p.target) })
	})
}

// with returns m under another name and with other options, needing more.
func (m method) with(id, title string, call func(context.Context, *probe, string) error, needs ...requirement) method {
	m.id, m.title, m.call = id, title, call
	m.needs = slices.Concat(m.needs, needs)
	return m
}

// refusalsOf makes the checks of cells that are the same for several methods.
func refusalsOf(methods []method, cells ...cell) []*check {
	var out []*check
	for _, m := range methods {
		out = append(out, m.refusals(cells...)...)
	}
	return out
}

// written is what the calls of the methods write.
const written = "written by the check\n"

func listWith(o ambit.ListOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		l, err := p.fs.List(ctx, path, &o)
		p.answered(ambit.OpList, path, l != nil, err)
		return err
	}
}

func writeWith(o ambit.WriteOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.WritableFileSystem](p).Write(ctx, path, strings.NewReader(written), &o)
		return err
	}
}

func appendWith(o ambit.WriteOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.Appender](p).Append(ctx, path, strings.NewReader(written),
			&ambit.AppendOptions{If: o.If, Parents: o.Parents, Mode: o.Mode})
		return err
	}
}

func stageWith(o ambit.WriteOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		s, err := implements[ambit.Stager](p).Stage(ctx, path, strings.NewReader(written), &o)
		p.answered(ambit.OpStage, path, s != nil, err)
		if s != nil && err == nil {
			s.Discard(ctx)
		}
		return err
	}
}

func removeWith(o ambit.RemoveOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		return implements[ambit.WritableFileSystem](p).Remove(ctx, path, &o)
	}
}

func renameTo(to string, o ambit.RenameOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.Renamer](p).Rename(ctx, path, to, &o)
		return err
	}
}

func renameFrom(from string, o ambit.RenameOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.Renamer](p).Rename(ctx, from, path, &o)
		return err
	}
}

func mkdirWith(o ambit.MkdirOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.DirMaker](p).Mkdir(ctx, path, &o)
		return err
	}
}

func commitWriteWith(o ambit.WriteOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.Committer](p).Commit(ctx, []ambit.Change{
			{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(written), If: o.If, Parents: o.Parents, Mode: o.Mode},
		})
		return err
	}
}

func commitRemoveWith(o ambit.RemoveOptions) func(context.Context, *probe, string) error {
	return func(ctx context.Context, p *probe, path string) error {
		_, err := implements[ambit.Committer](p).Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: path, If: o.If}})
		return err
	}
}

// answered checks that a call returned a value or an error.
func (p *probe) answered(op, path string, value bool, err error) {
	if !value && err == nil {
		p.errorf("%s %q returned neither a value nor an error", op, path)
	}
}
