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
)

// meddled is a file system in which somebody else does something right before
// the first call that would change anything.
type meddled struct {
	ambit.Forward
	once   sync.Once
	meddle func()
}

// meddling returns the file system of the check in which meddle happens, which
// must not end the goroutine. seen is what there is to see after it.
func (p *probe) meddling(meddle func() error) (fsys *meddled, seen func() map[string]string) {
	keep := p.caps
	keep.Sub, keep.Guard = false, false
	var after map[string]string
	fsys = &meddled{Forward: ambit.Forward{Base: p.fs, Keep: keep}, meddle: func() {
		if err := meddle(); err != nil {
			p.errorf("a change by somebody else: %v", err)
		}
		after = p.snapshot()
	}}
	return fsys, func() map[string]string {
		if after == nil {
			p.fatalf("the file system was not asked to change anything")
		}
		return after
	}
}

func (m *meddled) happen() { m.once.Do(m.meddle) }

func (m *meddled) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	m.happen()
	return m.Forward.Write(ctx, path, content, o)
}

func (m *meddled) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	m.happen()
	return m.Forward.Append(ctx, path, content, o)
}

func (m *meddled) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	m.happen()
	return m.Forward.Stage(ctx, path, content, o)
}

func (m *meddled) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	m.happen()
	return m.Forward.Commit(ctx, changes)
}

func (m *meddled) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	m.happen()
	return m.Forward.Remove(ctx, path, o)
}

func (m *meddled) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	m.happen()
	return m.Forward.Rename(ctx, from, to, o)
}

// somebodyWrites returns a change by somebody else.
func (p *probe) somebodyWrites(path, content string) func() error {
	return func() error {
		_, err := ambit.WriteFile(p.ctx, p.fs, path, []byte(content), nil)
		return err
	}
}

// lineNumbers is the lines 1 to n with their numbers, each of which no other line
// contains.
func lineNumbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, lineNumber(i))
	}
	return b.String()
}

func lineNumber(i int) string { return fmt.Sprintf("line %03d", i+1) }

// editMeanwhileChecks: edits of a file that others change.
func editMeanwhileChecks() []*check {
	exact := append(slices.Clip(needsEdit), needExactSwap)
	return []*check{
		{
			id: "text/edit-meanwhile", requires: needsEdit, tree: textTree("one\ntwo\nthree\n"),
			rule: "An edit of a file that somebody changes before it is written keeps both changes, or is changed where it does not fit any more or was of a version: the other's is never lost.",
			run: func(p *probe) {
				theirs := "zero\none\ntwo\nthree\n"
				fsys, _ := p.meddling(p.somebodyWrites("f0", theirs))
				outcome, err := p.text.Edit(p.ctx, fsys, "f0", replaced("two", "TWO"), nil)
				if err != nil {
					p.errorf("an edit that still fits: %v", err)
				} else {
					p.describes(outcome.After, "/f0", strings.Replace(theirs, "two", "TWO", 1))
				}
				for _, c := range []struct {
					theirs string
					o      *edit.Options
					ops    []edit.Op
				}{
					{"one\nthree\n", nil, replaced("TWO", "2")},
					{"one\n", nil, rewritten(2, 3, "x")},
					{"one\ntwo\none\n", nil, replaced("one", "1")},
					{"ONE\ntwo\none\n", &edit.Options{If: ambit.IfVersion("as it is")}, replaced("one", "1")},
				} {
					p.write("f0", "one\nTWO\nthree\n", nil)
					if c.o != nil {
						c.o.If = ambit.IfVersion(p.stat("f0").Version)
					}
					fsys, seen := p.meddling(p.somebodyWrites("f0", c.theirs))
					_, err := p.text.Edit(p.ctx, fsys, "f0", c.ops, c.o)
					p.refused(opEdit, "f0", err, ambit.ErrChanged)
					p.unchanged(seen())
				}
			},
		},
		{
			id: "text/edit-removed-meanwhile", requires: append(slices.Clip(needsEdit), needRemove), tree: textTree("one\ntwo\nthree\n"),
			rule: "An edit of a file that somebody removes before it is written is changed, and does not bring it back.",
			run: func(p *probe) {
				fsys, seen := p.meddling(func() error { return ambit.Remove(p.ctx, p.fs, "f0", nil) })
				_, err := p.text.Edit(p.ctx, fsys, "f0", replaced("two", "TWO"), nil)
				p.refused(opEdit, "f0", err, ambit.ErrChanged)
				p.unchanged(seen())
				p.gone("/f0")
			},
		},
		{
			id: "text/edit-concurrently", requires: needsEdit, tree: textTree(lineNumbers(60), lineNumbers(60)),
			rule: "Of many concurrent edits of different words of one file all succeed, and all of them are in it.",
			run: func(p *probe) {
				for file, n := range []int{20, 50} {
					path, want := textPath(file), lineNumbers(60)
					outcomes := make([]edit.Outcome, n)
					errs := p.contend(n, func(i int) (err error) {
						op := replaced(lineNumber(i), fmt.Sprintf("word %d", i))
						if i%3 == 2 {
							op = rewritten(i+1, i+1, fmt.Sprintf("word %d", i))
						}
						outcomes[i], err = p.text.Edit(p.ctx, p.fs, path, op, nil)
						return err
					})
					last := p.stat(path).Version
					for i, err := range errs {
						if err != nil {
							p.errorf("edit %d of %d: %v", i, n, err)
						}
						want = strings.Replace(want, lineNumber(i), fmt.Sprintf("word %d", i), 1)
					}
					p.holds(path, want)
					if !slices.ContainsFunc(outcomes, func(o edit.Outcome) bool { return o.After.Version == last }) {
						p.errorf("the file has the version %q, which no edit was told", last)
					}
				}
			},
		},
		{
			id: "text/edit-by-peers", requires: append(slices.Clip(exact), needPeer), tree: textTree(lineNumbers(20)),
			rule: "Of concurrent edits of one file by two clients those are in it that succeeded, and the others are changed.",
			run: func(p *probe) {
				clients := []*probe{p, p.second()}
				p.survivors(opEdit, func(i int) error {
					c := clients[i%2]
					_, err := c.text.Edit(c.ctx, c.fs, "f0", replaced(lineNumber(i), fmt.Sprintf("word %d", i)), nil)
					return err
				})
			},
		},
		{
			id: "text/edit-beside-writes", requires: exact, tree: textTree("0\n"),
			rule: "Of an edit and a write on one version one succeeds, and what it wrote stands.",
			run: func(p *probe) {
				for round := range 6 {
					old := p.write("f0", "base\n", nil).Info.Version
					errs := p.contend(callers, func(i int) error {
						if (i+round)%2 == 0 {
							_, err := p.text.Edit(p.ctx, p.fs, "f0", replaced("base", fmt.Sprint(i)), &edit.Options{If: ambit.IfVersion(old)})
							return err
						}
						_, err := p.writable().Write(p.ctx, "f0", strings.NewReader(fmt.Sprintln(i)), &ambit.WriteOptions{If: ambit.IfVersion(old)})
						return err
					})
					p.holds("f0", fmt.Sprintln(p.winner("", "f0", errs, ambit.ErrChanged)))
				}
			},
		},
	}
}

// survivors makes changes of different lines of f0, which holds lineNumbers(20),
// at once: those that succeed must be in it, and no others.
func (p *probe) survivors(op string, change func(i int) error) {
	want := lineNumbers(20)
	errs := p.contend(10, change)
	n := 0
	for i, err := range errs {
		if err != nil {
			p.refused(op, "f0", err, ambit.ErrChanged)
			continue
		}
		n++
		want = strings.Replace(want, lineNumber(i), fmt.Sprintf("word %d", i), 1)
	}
	if n == 0 {
		p.errorf("none of %d changes succeeded: %v", len(errs), errs[0])
	}
	p.holds("f0", want)
}

// patchMeanwhileChecks: patches of files that others change.
func patchMeanwhileChecks() []*check {
	exact := append(slices.Clip(needsPatch), needExactSwap)
	return []*check{
		{
			id: "text/patch-meanwhile", requires: needsPatch, tree: patchTree,
			rule: "A patch one of whose files somebody changes before it is made is changed, whether it would update, move or remove that file, and no file is changed by it.",
			run: func(p *probe) {
				for _, section := range []string{"*** Update File: u.txt\n@@\n-k\n+K", "*** Delete File: u.txt", "*** Update File: u.txt\n*** Move to: moved.txt"} {
					p.write("u.txt", "k\n", nil)
					fsys, seen := p.meddling(p.somebodyWrites("u.txt", "k\nmore\n"))
					report, err := p.text.Apply(p.ctx, fsys, p.parse(marked("*** Update File: a.txt", "@@", "-A", "+AA", section)), nil)
					p.refused(opPatch, "u.txt", err, ambit.ErrChanged)
					p.unchanged(seen())
					p.reportsRefusal(report)
				}
			},
		},
		{
			id: "text/patch-refused-at-commit", requires: needsPatch, tree: patchTree,
			rule: "A patch that is refused when it is made leaves no name behind: listings are as before.",
			run: func(p *probe) {
				for _, text := range []string{
					marked("*** Add File: dir/n.txt", "+n", "*** Add File: dir/m.txt", "+m", "*** Update File: u.txt", "@@", "-k", "+K"),
					unifiedNew("dir/n.txt", "@@ -0,0 +1 @@", "+n") + unified("a.txt", "@@ -1 +1 @@", "-A", "+AA") + unified("u.txt", "@@ -1 +1 @@", "-k", "+K"),
				} {
					p.write("u.txt", "k\n", nil)
					fsys, seen := p.meddling(p.somebodyWrites("u.txt", "changed\n"))
					report, err := p.text.Apply(p.ctx, fsys, p.parse(text), nil)
					p.refused(opPatch, "u.txt", err, ambit.ErrChanged)
					p.unchanged(seen())
					p.reportsRefusal(report)
				}
				fsys, seen := p.meddling(p.somebodyWrites("dir/n.txt", "somebody else's\n"))
				report, err := p.text.Apply(p.ctx, fsys, p.parse(marked("*** Update File: a.txt", "@@", "-A", "+AA", "*** Add File: dir/n.txt", "+n")), nil)
				p.refused(opPatch, "dir/n.txt", err, ambit.ErrExists)
				p.unchanged(seen())
				p.reportsRefusal(report)
			},
		},
		{
			id: "text/patch-concurrently", requires: exact, tree: textTree(lineNumbers(20)),
			rule: "Of concurrent patches of one file those are in it that succeeded, and the others are changed.",
			run: func(p *probe) {
				p.survivors(opPatch, func(i int) error {
					_, err := p.text.Apply(p.ctx, p.fs, p.parse(marked("*** Update File: f0", "@@", "-"+lineNumber(i), fmt.Sprintf("+word %d", i))), nil)
					return err
				})
			},
		},
		{
			id: "text/patch-add-one-wins", requires: exact, tree: patchTree,
			rule: "Of several patches and writes that create one file exactly one succeeds, and the others are exists.",
			run: func(p *probe) {
				for round := range 6 {
					path := fmt.Sprintf("new-%d", round)
					before := p.snapshot()
					errs := p.contend(callers, func(i int) error {
						if (i+round)%2 == 0 {
							_, err := p.text.Apply(p.ctx, p.fs, p.parse(marked("*** Add File: "+path, fmt.Sprintf("+%d", i))), nil)
							return err
						}
						_, err := p.writable().Write(p.ctx, path, strings.NewReader(fmt.Sprintln(i)), &ambit.WriteOptions{If: ambit.IfAbsent()})
						return err
					})
					p.holds(path, fmt.Sprintln(p.winner("", path, errs, ambit.ErrExists)))
					p.changedOnly(before, "/"+path)
				}
			},
		},
	}
}
