// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/patch"
	"github.com/ambitfs/ambit/search"
)

// textChecks are about what the packages for text make of a file system: lines
// are read as they stand in it, an edit or a patch changes what it names and
// nothing else, one that is refused changes nothing, and a search finds what is
// there. They hold megabytes of content, so that they are made once.
var textChecks = sync.OnceValue(func() []*check {
	return slices.Concat(
		lineChecks(),
		indexChecks(),
		editChecks(),
		editFileChecks(),
		editMeanwhileChecks(),
		patchChecks(),
		patchFileChecks(),
		patchMeanwhileChecks(),
		searchChecks(),
	)
})

// textEngine is the functions that the checks of the level text call, so that
// the checks can be tried on others than those of the packages.
type textEngine struct {
	Slice func(r io.Reader, rng lineaddr.Range) (lineaddr.Window, error)
	Copy  func(dst io.Writer, r io.Reader, rng lineaddr.Range) (lineaddr.Window, error)
	Head  func(r io.Reader, n int) (lineaddr.Window, error)
	Tail  func(f ambit.File, n int) (lineaddr.Window, error)
	Count func(r io.Reader) (int, error)
	Index func(f ambit.File) (textIndex, error)
	Edit  func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error)
	Parse func(text string) (*patch.Patch, error)
	Apply func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error)
	Glob  globFunc
	Grep  grepFunc
}

// textIndex is what a *lineaddr.Index has.
type textIndex interface {
	Lines() int
	Slice(rng lineaddr.Range) (lineaddr.Window, error)
	Copy(dst io.Writer, rng lineaddr.Range) (lineaddr.Window, error)
}

// textPackages are the functions of the packages.
var textPackages = textEngine{
	Slice: lineaddr.Slice,
	Copy:  lineaddr.Copy,
	Head:  lineaddr.Head,
	Tail:  lineaddr.Tail,
	Count: lineaddr.Count,
	Index: func(f ambit.File) (textIndex, error) {
		x, err := lineaddr.NewIndex(f)
		if err != nil {
			return nil, err
		}
		return x, nil
	},
	Edit:  edit.File,
	Parse: patch.Parse,
	Apply: patch.Apply,
	Glob:  search.GlobEach,
	Grep:  search.GrepEach,
}

// The operations of the packages' errors.
const (
	opEdit  = "edit"
	opPatch = "patch"
)

// What an edit and a patch require. Without it they are refused.
var (
	textWrite    = operation("Write", func(c ambit.Capabilities) bool { return c.Write }, refuseText)
	textVersions = operation("Versions", func(c ambit.Capabilities) bool { return c.Versions }, refuseText)
	textSwap     = operation("Swap", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapChecked }, refuseText)
	textRemove   = operation("Remove or Commit", func(c ambit.Capabilities) bool { return c.Remove || c.Commit }, refusePatch)

	needsEdit  = []requirement{textWrite, textVersions, textSwap}
	needsPatch = append(slices.Clip(needsEdit), textRemove)
)

// refuseText: where an edit could lose somebody else's change it is refused, and
// a patch is.
func refuseText(p *probe) {
	p.refusesCalls(opEdit, p.changeRefused(), func(ctx context.Context, path string) error {
		_, err := p.text.Edit(ctx, p.fs, path, []edit.Op{edit.Replace{Old: "alpha", New: "omega"}}, nil)
		return err
	}, "file", "folder/inner", "gone", "folder")
	p.refusesCalls(opEdit, p.changeRefused(), func(ctx context.Context, path string) error {
		_, err := p.text.Edit(ctx, p.fs, path, []edit.Op{edit.Rewrite{Range: lineaddr.Range{Start: 1}}}, nil)
		return err
	}, "file", "empty")
	refusePatch(p)
}

func refusePatch(p *probe) {
	added := []patch.Hunk{{Line: 3, Lines: []patch.Line{{Kind: patch.Added, Text: written}}}}
	update := []patch.Hunk{{Line: 3, Lines: []patch.Line{{Kind: patch.Removed, Text: "alpha\n"}}}}
	for _, s := range []patch.Section{
		{Line: 2, Action: patch.Update, Path: "file", Hunks: update},
		{Line: 2, Action: patch.Update, Path: "file", To: "moved"},
		{Line: 2, Action: patch.Add, Path: "new", Hunks: added},
		{Line: 2, Action: patch.Add, Path: "gone/new", Hunks: added},
		{Line: 2, Action: patch.Delete, Path: "file"},
	} {
		before := p.snapshot()
		report, err := p.text.Apply(p.ctx, p.fs, &patch.Patch{Sections: []patch.Section{s}}, nil)
		p.refused(opPatch, s.Path, err, p.changeRefused()...)
		if report != nil && report.Applied {
			p.errorf("patch %q is refused, and the report says that it is applied", s.Path)
		}
		p.unchanged(before)
	}
}

// textTree holds contents at the paths f0, f1 and so on.
func textTree(contents ...string) Tree {
	var t Tree
	for i, content := range contents {
		t = append(t, Node{Path: textPath(i), Kind: ambit.KindRegular, Data: content})
	}
	return t
}

func textPath(i int) string { return fmt.Sprintf("f%d", i) }

// content returns what the tree of the check has at the path.
func (t Tree) content(path string) string {
	return t[slices.IndexFunc(t, func(n Node) bool { return n.Path == path })].Data
}

// rows runs a check of many files, each of which run is about on its own: there
// the snapshots are of that file alone, and of all others there is one at the
// beginning and one at the end.
func (p *probe) rows(paths []string, run func(q *probe, i int)) {
	before := p.snapshot()
	for i, path := range paths {
		q := p.on(p.fs)
		q.look = func(q *probe) map[string]string {
			data, info, err := ambit.ReadFile(q.ctx, q.fs, path)
			return map[string]string{"/" + path: fmt.Sprintf("%s %v %v", data, info.Mode, ambit.ReasonOf(err))}
		}
		run(q, i)
	}
	canonical := make([]string, len(paths))
	for i, path := range paths {
		canonical[i] = "/" + path
	}
	p.unchangedExcept(before, canonical...)
}

// fits reports whether the file system may hold files of these contents.
func (p *probe) fits(contents ...string) bool {
	limit := p.caps.MaxFileSize
	return limit <= 0 || !slices.ContainsFunc(contents, func(s string) bool { return int64(len(s)) > limit })
}

// edits makes ops on the file at path, which must succeed: the file holds want
// then, the outcome describes it as everything else does, and no other file is
// another. It reports the outcome.
func (p *probe) edits(path, want string, o *edit.Options, ops ...edit.Op) edit.Outcome {
	seen, was, old := p.snapshot(), p.stat(path), p.read(path)
	outcome, err := p.text.Edit(p.ctx, p.fs, path, ops, o)
	if err != nil {
		p.errorf("edit %q by %+v: %v", path, ops, err)
		return outcome
	}
	p.unchangedExcept(seen, was.Path)
	p.agree(was, "the outcome's Before", outcome.Before)
	p.describes(outcome.After, was.Path, want)
	if now := outcome.After.Mode; now != was.Mode {
		p.errorf("edit %q: the mode was %v and is %v", path, was.Mode, now)
	}
	if outcome.Content != nil && string(outcome.Content) != want {
		p.errorf("edit %q: the outcome has the content %s, want %s", path, brief(string(outcome.Content)), brief(want))
	}
	if changed := want != old; changed != (outcome.Diff != "" || outcome.DiffClipped) || changed != (outcome.After.Version != was.Version) {
		p.errorf("edit %q: changed: %v, and the diff is %s, the version was %q and is %q",
			path, changed, brief(outcome.Diff), was.Version, outcome.After.Version)
	}
	return outcome
}

// editRefused makes ops on the file at path, which must be refused for one of
// reasons and leave everything as it was, times and versions included.
func (p *probe) editRefused(path string, o *edit.Options, reasons []ambit.Reason, ops ...edit.Op) *ambit.Error {
	before := p.snapshot()
	was, wasErr := p.fs.Stat(p.ctx, path)
	_, err := p.text.Edit(p.ctx, p.fs, path, ops, o)
	p.refused(opEdit, path, err, reasons...)
	p.unchanged(before)
	p.untouched(path, was, wasErr)
	e, _ := ambit.Wrap(opEdit, path, err).(*ambit.Error)
	if e == nil {
		e = &ambit.Error{}
	}
	return e
}

// untouched checks that path is described as it was.
func (p *probe) untouched(path string, was ambit.FileInfo, wasErr error) {
	now, err := p.fs.Stat(p.ctx, path)
	if ambit.ReasonOf(err) != ambit.ReasonOf(wasErr) {
		p.errorf("stat %q: %v, and before %v", path, err, wasErr)
	} else if now.Version != was.Version || !now.ModTime.Equal(was.ModTime) || now.ID != was.ID || now.Mode != was.Mode {
		p.errorf("%q was refused to be changed, and is described as %+v, before as %+v", path, now, was)
	}
}

// parse reads a patch or ends the check.
func (p *probe) parse(text string) *patch.Patch {
	parsed, err := p.text.Parse(text)
	if err != nil || parsed == nil {
		p.fatalf("the patch cannot be read: %v\n%s", err, text)
	}
	return parsed
}

// patched applies a patch, which must succeed: the files of want hold what it
// says then, those of gone are not there, all others are as they were, and the
// report describes the files as everything else does.
func (p *probe) patched(text string, want map[string]string, gone ...string) *patch.Report {
	before := p.snapshot()
	report, err := p.text.Apply(p.ctx, p.fs, p.parse(text), nil)
	if err != nil || report == nil {
		p.errorf("patch: %v\n%s", err, text)
		return &patch.Report{}
	}
	if !report.Applied || len(report.Problems) > 0 {
		p.errorf("the patch is applied, and the report says %v, with problems %+v\n%s", report.Applied, report.Problems, text)
	}
	changed := slices.Clone(gone)
	for path, content := range want {
		p.holds(path, content)
		changed = append(changed, path)
	}
	for _, path := range gone {
		p.gone(path)
	}
	for _, f := range report.Files {
		changed = append(changed, f.CreatedDirs...)
		for _, dir := range f.CreatedDirs {
			if info := p.stat(dir); !info.IsDir() {
				p.errorf("%q is said to be a new folder, and is a %s", dir, info.Kind)
			}
		}
		if f.State != patch.StateApplied {
			p.errorf("the patch is applied, and the report says of %q that it is %s", f.Path, f.State)
		}
		if f.After.Path != "" {
			p.agree(f.After, "Stat", p.stat(f.After.Path))
		}
	}
	p.unchangedExcept(before, changed...)
	return report
}

// patchRefused applies a patch, which must be refused for one of reasons, with
// the path of the first section that is at fault, and leave everything as it
// was. paths are further ones whose times and versions are looked at.
func (p *probe) patchRefused(text, path string, reasons []ambit.Reason, paths ...string) {
	before := p.snapshot()
	type look struct {
		info ambit.FileInfo
		err  error
	}
	was := make(map[string]look)
	for _, path := range append(paths, path) {
		info, err := p.fs.Stat(p.ctx, path)
		was[path] = look{info, err}
	}
	report, err := p.text.Apply(p.ctx, p.fs, p.parse(text), nil)
	p.refused(opPatch, path, err, reasons...)
	p.unchanged(before)
	for path, l := range was {
		p.untouched(path, l.info, l.err)
	}
	p.reportsRefusal(report)
}

// reportsRefusal checks that a report says that nothing was done, and why.
func (p *probe) reportsRefusal(report *patch.Report) {
	if report == nil {
		p.errorf("a refused patch has no report")
		return
	}
	if report.Applied || report.Diff != "" || len(report.Problems) == 0 {
		p.errorf("the patch is refused, and the report says: applied %v, %d problems, diff %s", report.Applied, len(report.Problems), brief(report.Diff))
	}
	for _, f := range report.Files {
		if f.State != patch.StateUnchanged {
			p.errorf("the patch is refused, and the report says of %q that it is %s", f.Path, f.State)
		}
	}
}

// marked returns a patch between "*** Begin Patch" and "*** End Patch".
func marked(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// unified returns the unified diff of one file, as git writes it.
func unified(path string, lines ...string) string {
	return "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path + "\n" + strings.Join(lines, "\n") + "\n"
}

// noNewline says in a unified diff that the line before has none.
const noNewline = `\ No newline at end of file`

// literals are texts that a program may take for more than they are.
var literals = []string{
	"$$5", "$&", "$'", "$`", "$1", "${name}", `\1`, "%s", "%!d(MISSING)", "&", `\n`, `\0`, "~", "{{.}}",
	`print('hello\nworld')`, `\title{x}`, `'\0'`, `'\''`, "ends in one backslash \\",
}

// refusedLinks are those of the standard tree through which no text can be
// changed, and why.
var refusedLinks = []struct {
	path   string
	reason ambit.Reason
}{
	{"dangling", ambit.ErrNotFound},
	{"dangling-deep", ambit.ErrNotFound},
	{"loop", ambit.ErrLoop},
	{"loop-a", ambit.ErrLoop},
	{"outward", ambit.ErrOutside},
	{"outward-dangling", ambit.ErrOutside},
	{"outward-folder/secret", ambit.ErrOutside},
}
