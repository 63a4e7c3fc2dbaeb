// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// pathTextChecks: what the text of a path alone decides, and the walk to its
// last step, are one rule for all methods.
func pathTextChecks(level Level) []*check {
	longName := strings.Repeat("n", ambit.MaxName+1)
	longPath := strings.Repeat("segment/", ambit.MaxPath/8+1) + "x"
	inEveryMethod := []cell{
		{kind: "empty-path", path: "", reason: ambit.ErrInvalidPath},
		{kind: "nul-in-path", path: "fi\x00le", others: []string{"\x00", "file\x00", "folder\x00/inner", "file\x00.txt"}, reason: ambit.ErrInvalidPath},
		{kind: "over-long-name", path: longName, others: []string{longName + "/x", "folder/" + longName}, reason: ambit.ErrInvalidPath},
		{
			kind: "over-long-path", path: longPath, reason: ambit.ErrInvalidPath,
			others: []string{"/" + longPath, strings.Repeat("./", ambit.MaxPath/2) + "file"},
		},
		{
			kind: "above-the-root", path: "..", reason: ambit.ErrOutside,
			others: []string{"../", "/..", "../file", "a/../../b", "folder/../../file", "folder/./../..", "../beside/secret", "/../file", "../../.."},
		},
	}
	walk := []cell{
		{kind: "missing-parent", path: "gone/x", others: []string{"gone/deep/x", "folder/gone/x", "gone/b/a/c/x"}, reason: ambit.ErrNotFound},
		{kind: "file-used-as-folder", path: "file/x", others: []string{"file/deep/x", "folder/inner/x"}, reason: ambit.ErrNotADirectory},
	}
	out := refusalsOf(atLevel(level, pathMethods()), slices.Concat(inEveryMethod, walk)...)
	if level == LevelCore {
		return out
	}
	// What could make parents, or take a missing name for success, must not
	// make a folder out of a file.
	throughFile := cell{kind: "file-used-as-folder", path: "file/x", others: []string{"file/deep/x", "folder/inner/x"}, reason: ambit.ErrNotADirectory}
	return slices.Concat(out, refusalsOf([]method{
		methodWrite.with("write-parents", "Write with Parents", writeWith(ambit.WriteOptions{Parents: true})),
		methodAppend.with("append-parents", "Append with Parents", appendWith(ambit.WriteOptions{Parents: true})),
		methodStage.with("stage-parents", "Stage with Parents", stageWith(ambit.WriteOptions{Parents: true})),
		methodRenameTarget.with("rename-to-parents", "Rename with Parents of a file to the name", renameFrom("file", ambit.RenameOptions{Parents: true})),
		methodMkdir.with("mkdir-parents", "Mkdir with Parents", mkdirWith(ambit.MkdirOptions{Parents: true})),
		methodCommitWrite.with("commit-write-parents", "Commit of a write with Parents", commitWriteWith(ambit.WriteOptions{Parents: true})),
		methodRemove.with("remove-missing-ok", "Remove with MissingOK", removeWith(ambit.RemoveOptions{MissingOK: true})),
		methodRemove.with("remove-recursive", "Remove with Recursive", removeWith(ambit.RemoveOptions{Recursive: true, MissingOK: true})),
	}, throughFile))
}

// orderChecks: a call that is wrong in several ways fails for the first of
// them in the order of judgement.
func orderChecks(level Level) []*check {
	out := []*check{{
		id: string(level) + "/order-context-before-path", tree: standard,
		rule: "A context that is done is judged before the path's text.",
		run: func(p *probe) {
			done, cancel := context.WithCancel(p.ctx)
			cancel()
			for _, m := range p.claimedOf(atLevel(level, pathMethods())) {
				for _, path := range []string{"", "..", "file\x00"} {
					p.refusedAtAll(m, path, m.call(done, p, path), ambit.ErrCanceled)
				}
			}
		},
	}}
	if level == LevelCore {
		return append(out, refusalChecks(LevelCore, "order-list-limit", "List with a negative Limit", []requirement{needList}, []cell{
			{kind: "empty-path", path: "", reason: ambit.ErrInvalidPath},
			{kind: "above-the-root", path: "..", reason: ambit.ErrOutside},
			{kind: "missing", path: "gone", reason: ambit.ErrInvalid},
			{kind: "file", path: "file", reason: ambit.ErrInvalid},
		}, func(p *probe, path string) (string, error) {
			return ambit.OpList, listWith(ambit.ListOptions{Limit: -1})(p.ctx, p, path)
		})...)
	}
	nilReader := []method{
		methodWrite.with("order-write-nil", "Write of a nil reader", func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.WritableFileSystem](p).Write(ctx, path, nil, nil)
			return err
		}),
		methodAppend.with("order-append-nil", "Append of a nil reader", func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Appender](p).Append(ctx, path, nil, nil)
			return err
		}),
		methodStage.with("order-stage-nil", "Stage of a nil reader", func(ctx context.Context, p *probe, path string) error {
			_, err := implements[ambit.Stager](p).Stage(ctx, path, nil, nil)
			return err
		}),
	}
	out = append(out, refusalsOf(nilReader,
		cell{kind: "empty-path", path: "", reason: ambit.ErrInvalidPath},
		cell{kind: "above-the-root", path: "..", reason: ambit.ErrOutside},
		cell{kind: "missing-parent", path: "gone/x", reason: ambit.ErrInvalid},
		cell{kind: "folder", path: "folder", reason: ambit.ErrInvalid},
	)...)
	return append(out,
		&check{
			id: "write/order-first-path-first", tree: standard, requires: []requirement{needRename},
			rule: "Of the texts of two paths the first given is judged first, and both before anything else.",
			run: func(p *probe) {
				r, before := implements[ambit.Renamer](p), p.snapshot()
				for _, c := range []struct {
					from, to, blamed string
					reason           ambit.Reason
				}{
					{"", "..", "", ambit.ErrInvalidPath},
					{"..", "", "..", ambit.ErrOutside},
					{"gone", "..", "..", ambit.ErrOutside},
					{"gone", "", "", ambit.ErrInvalidPath},
					{"file/x", "folder\x00", "folder\x00", ambit.ErrInvalidPath},
					{"gone", "file/x", "gone", ambit.ErrNotFound},
					{"gone", "folder", "gone", ambit.ErrNotFound},
					{"file/x", "gone/x", "file/x", ambit.ErrNotADirectory},
				} {
					_, err := r.Rename(p.ctx, c.from, c.to, nil)
					p.refused(ambit.OpRename, c.blamed, err, c.reason)
					_, err = r.Rename(p.ctx, c.from, c.to, &ambit.RenameOptions{Replace: true, Parents: true})
					p.refused(ambit.OpRename, c.blamed, err, c.reason)
				}
				p.unchanged(before)
			},
		},
		&check{
			id: "write/order-walk-before-content", tree: standard, requires: []requirement{needWrite},
			rule: "What the path refuses is told, and not what is wrong with the content.",
			run: func(p *probe) {
				before := p.snapshot()
				for path, reason := range map[string]ambit.Reason{
					"gone/x": ambit.ErrNotFound, "folder": ambit.ErrNotAFile, "file/x": ambit.ErrNotADirectory,
					"file/": ambit.ErrNotADirectory,
				} {
					_, err := p.writable().Write(p.ctx, path, failingReader("x", errContent), nil)
					p.refused(ambit.OpWrite, path, err, reason)
				}
				p.unchanged(before)
			},
		},
		&check{
			id: "write/order-precondition-before-content", tree: standard, requires: []requirement{needWrite, needSwap},
			rule: "What the precondition refuses is told, and not what is wrong with the content.",
			run: func(p *probe) {
				before := p.snapshot()
				_, err := p.writable().Write(p.ctx, "file", failingReader("x", errContent), &ambit.WriteOptions{If: ambit.IfAbsent()})
				p.refused(ambit.OpWrite, "file", err, ambit.ErrExists)
				_, err = p.writable().Write(p.ctx, "file", failingReader("x", errContent), &ambit.WriteOptions{If: ambit.IfVersion(neverIssued)})
				p.refused(ambit.OpWrite, "file", err, ambit.ErrChanged)
				p.unchanged(before)
			},
		},
	)
}
