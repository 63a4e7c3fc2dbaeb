// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// asker is what a check gives to Guard. It is safe for concurrent use.
type asker struct {
	mu    sync.Mutex
	asked map[string]bool // "operation path"
	rule  func(op ambit.Op, path string) error
}

// guard returns a probe of p's file system under a rule.
func (p *probe) guard(rule func(op ambit.Op, path string) error) (*probe, *asker) {
	a := &asker{asked: make(map[string]bool), rule: rule}
	guarded := implements[ambit.Guarder](p).Guard(func(_ context.Context, op ambit.Op, path string) error {
		a.mu.Lock()
		a.asked[string(op)+" "+path] = true
		rule := a.rule
		a.mu.Unlock()
		if clean := textual(path); clean != path {
			p.errorf("Guard's function was asked %s for %q, which is no canonical path", op, path)
		}
		return rule(op, path)
	})
	if isNil(guarded) {
		p.fatalf("Guard returned nil")
	}
	now := guarded.Capabilities()
	if now.ID = p.caps.ID; now != p.caps {
		p.errorf("a guarded file system claims %+v, and unguarded %+v", now, p.caps)
	}
	return p.on(guarded), a
}

// set changes the rule.
func (a *asker) set(rule func(op ambit.Op, path string) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rule = rule
}

// take returns what was asked since the last take, sorted.
func (a *asker) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := make([]string, 0, len(a.asked))
	for question := range a.asked {
		asked = append(asked, question)
	}
	clear(a.asked)
	slices.Sort(asked)
	return asked
}

var errRule = errors.New("a rule of the check refuses this")

// denying is a rule that refuses the folders and files given, and everything
// beneath them.
func denying(paths ...string) func(ambit.Op, string) error {
	return func(_ ambit.Op, path string) error {
		if slices.ContainsFunc(paths, func(denied string) bool { return ambit.Contains(denied, path) }) {
			return errRule
		}
		return nil
	}
}

func allowing(ambit.Op, string) error { return nil }

// deniedPaths are paths that the rule denying("/folder", "/empty", "/none")
// refuses, what is there and what is not.
var deniedPaths = []string{
	"folder", "folder/", "folder/inner", "folder/deep", "folder/deep/leaf", "folder/none", "folder/none/x", "folder/inner/x",
	"empty", "empty/", "empty/x", "none", "none/", "none/x", "./folder/../none", "/folder//deep/../inner",
}

// guardChecks are about rules.
func guardChecks() []*check {
	var list []*check
	for _, a := range attempts() {
		list = append(list, &check{
			id:       "hostile/" + a.id + "-denied",
			rule:     a.of("a path that a rule refuses") + " is denied, the same whether or not anything is there, and changes nothing.",
			requires: append([]requirement{needGuard}, a.requires...),
			tree:     standard,
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/folder", "/empty", "/none"))
				before := p.snapshot()
				errs := make(map[string]error)
				for _, path := range deniedPaths {
					errs[path] = guarded.meets(a, expectation{path: path, reasons: []ambit.Reason{ambit.ErrDenied}})
				}
				for _, pair := range [][2]string{{"folder/inner", "folder/none"}, {"folder/deep/leaf", "folder/none/x"}, {"empty", "none"}, {"empty/", "none/"}, {"folder", "none"}} {
					p.alikeRefusals(a.op, pair[0], errs[pair[0]], pair[1], errs[pair[1]])
				}
				p.unchanged(before)
			},
		})
	}
	return append(list, guardRuleChecks()...)
}

func guardRuleChecks() []*check {
	return []*check{
		{
			id: "hostile/guard-asked", tree: standard,
			rule:     "The function given to Guard is asked for exactly the operations and canonical paths that the contract's table names.",
			requires: []requirement{needGuard},
			run: func(p *probe) {
				guarded, a := p.guard(allowing)
				for _, q := range questions() {
					q.asks(guarded, a)
				}
			},
		},
		{
			id: "hostile/guard-asked-through-links", tree: linked,
			rule:     "The function given to Guard is asked for what a link leads to where it is followed, and for the link itself where it is not.",
			requires: []requirement{needGuard, needLinks},
			run: func(p *probe) {
				guarded, a := p.guard(allowing)
				for _, q := range linkQuestions() {
					q.asks(guarded, a)
				}
			},
		},
		{
			id: "hostile/guard-through-links", tree: linked,
			rule:     "A rule holds through every link to what it refuses, and a link to it may still be described, moved and removed.",
			requires: []requirement{needGuard, needLinks},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/file", "/folder"))
				before := p.snapshot()
				for _, row := range linkTable() {
					if follows := row.last["loop"]; len(follows) != 1 || follows[0] != ambit.ErrLoop || !row.attempt.claimed(p) {
						continue
					}
					for _, path := range []string{"link-file", "link-inner", "link-folder", "link-folder/", "link-folder/inner", "link-folder/none"} {
						guarded.meets(row.attempt, expectation{path: path, reasons: []ambit.Reason{ambit.ErrDenied}})
					}
				}
				p.unchanged(before)
				if p.caps.ReadLink {
					if text, err := implements[ambit.Linker](guarded).ReadLink(p.ctx, "link-file"); err != nil || text != "file" {
						p.errorf("readlink of a link to a denied file: %q, %v", text, err)
					}
				}
				if p.caps.Remove {
					if err := guarded.writable().Remove(p.ctx, "link-folder", &ambit.RemoveOptions{Recursive: true}); err != nil {
						p.errorf("remove of a link to a denied folder: %v", err)
					}
					p.changedOnly(before, "/link-folder")
				}
			},
		},
		{
			id: "hostile/guard-reason", tree: standard,
			rule:     "A refusal of a rule has the reason and the facts that the rule gave, and denied if it gave none.",
			requires: []requirement{needGuard},
			run: func(p *probe) {
				for _, c := range []struct {
					answer error
					reason ambit.Reason
					rule   string
				}{
					{errors.New("no"), ambit.ErrDenied, ""},
					{ambit.ErrDenied, ambit.ErrDenied, ""},
					{ambit.ErrReadOnly, ambit.ErrReadOnly, ""},
					{ambit.ErrNotObserved, ambit.ErrNotObserved, ""},
					{ambit.Reason("of-the-check"), "of-the-check", ""},
					{&ambit.Error{Reason: ambit.ErrDenied, Rule: "of the check", Detail: "ask somebody"}, ambit.ErrDenied, "of the check"},
					{fmt.Errorf("wrapped: %w", &ambit.Error{Reason: ambit.ErrNotObserved, Rule: "of the check"}), ambit.ErrNotObserved, "of the check"},
				} {
					guarded, _ := p.guard(func(ambit.Op, string) error { return c.answer })
					for _, path := range []string{"file", "none"} {
						_, err := guarded.fs.Open(p.ctx, path)
						p.refused(ambit.OpOpen, path, err, c.reason)
						var e *ambit.Error
						if errors.As(err, &e) && e.Rule != c.rule {
							p.errorf("open %q: Rule is %q, want the rule's own %q", path, e.Rule, c.rule)
						}
						_, err = guarded.fs.Stat(p.ctx, path)
						p.refused(ambit.OpStat, path, err, c.reason)
						if w, err := ambit.Writable(guarded.fs); err == nil {
							_, err := w.Write(p.ctx, path, strings.NewReader("x"), nil)
							p.refused(ambit.OpWrite, path, err, c.reason)
						}
					}
				}
			},
		},
		{
			id: "hostile/guard-context", tree: standard,
			rule:     "The function given to Guard gets the context of the call that it is asked about.",
			requires: []requirement{needGuard},
			run: func(p *probe) {
				type key struct{}
				guarded := implements[ambit.Guarder](p).Guard(func(ctx context.Context, _ ambit.Op, path string) error {
					if ctx.Value(key{}) != "mine" {
						p.errorf("asked about %q with a context that is not the call's", path)
					}
					return nil
				})
				ctx := context.WithValue(p.ctx, key{}, "mine")
				if _, err := guarded.Stat(ctx, "file"); err != nil {
					p.errorf("stat: %v", err)
				}
				f, err := guarded.Open(ctx, "file")
				if err != nil {
					p.fatalf("open: %v", err)
				}
				f.Close()
			},
		},
		{
			id: "hostile/guard-listing", tree: standard,
			rule:     "List leaves out what a rule refuses, in pages too, and never shows it as a cursor.",
			requires: []requirement{needGuard, needList},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/empty", "/folder", "/sib"))
				var want []string
				for _, name := range p.names("/") {
					if name != "empty" && name != "folder" && name != "sib" {
						want = append(want, name)
					}
				}
				if got := guarded.names("/"); !slices.Equal(got, want) {
					p.errorf("list: %q, want %q", got, want)
				}
				for limit := 1; limit <= 4; limit++ {
					var got []string
					o := &ambit.ListOptions{Limit: limit, Details: limit%2 == 0}
					for {
						l, err := guarded.fs.List(p.ctx, "/", o)
						if err != nil {
							p.fatalf("list with %+v: %v", *o, err)
						}
						for _, e := range l.Entries {
							got = append(got, e.Name)
						}
						if l.Next == "" {
							break
						}
						if l.Next == "empty" || l.Next == "folder" || l.Next == "sib" || l.Next <= o.After {
							p.fatalf("list with %+v: the cursor is %q", *o, l.Next)
						}
						o.After = l.Next
					}
					if !slices.Equal(got, want) {
						p.errorf("list in pages of %d: %q, want %q", limit, got, want)
					}
				}
				l, err := guarded.fs.List(p.ctx, "/", &ambit.ListOptions{After: "empty", Limit: 1})
				if err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "file" {
					p.errorf("list after a denied name: %+v, %v, want the entry file", l, err)
				}
			},
		},
		{
			id: "hostile/guard-siblings", tree: standard,
			rule:     "A rule on a name covers whole names: a name that only begins with it is free.",
			requires: []requirement{needGuard},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/sib"))
				free := func() {
					guarded.holds("sibling/x", "other x\n")
					guarded.holds("sib.txt", "sib\n")
				}
				free()
				_, err := guarded.fs.Stat(p.ctx, "sib")
				p.refused(ambit.OpStat, "sib", err, ambit.ErrDenied)
				_, err = guarded.fs.Open(p.ctx, "sib/x")
				p.refused(ambit.OpOpen, "sib/x", err, ambit.ErrDenied)
				free() // whatever is remembered of the refusals
				if p.caps.Write {
					guarded.write("sib.txt", "new\n", nil)
					guarded.write("sibling/x", "new\n", nil)
					p.holds("sib/x", "x\n")
				}
			},
		},
		{
			id: "hostile/guard-removal-above", tree: standard,
			rule:     "A folder with something denied beneath it is not removed, and neither is anything else in it.",
			requires: []requirement{needGuard, needRemove},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/folder/deep/leaf"))
				before := p.snapshot()
				for _, path := range []string{"folder", "folder/deep", "folder/", "folder/deep/leaf"} {
					for _, o := range []*ambit.RemoveOptions{nil, {Recursive: true}, {Recursive: true, MissingOK: true}} {
						p.refused(ambit.OpRemove, path, guarded.writable().Remove(p.ctx, path, o), ambit.ErrDenied)
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/guard-rename-above", tree: standard,
			rule:     "A folder with something denied beneath it is not renamed, and nothing is renamed to what a rule refuses.",
			requires: []requirement{needGuard, needRename},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/folder/deep/leaf", "/hollow/x"))
				before := p.snapshot()
				for _, from := range []string{"folder", "folder/deep", "folder/", "folder/deep/leaf"} {
					_, err := implements[ambit.Renamer](guarded).Rename(p.ctx, from, "moved", nil)
					p.refused(ambit.OpRename, from, err, ambit.ErrDenied)
				}
				for _, o := range []*ambit.RenameOptions{nil, {Replace: true}, {Parents: true}} {
					for _, to := range []string{"hollow/x", "hollow/x/y", "folder/deep/leaf"} {
						_, err := implements[ambit.Renamer](guarded).Rename(p.ctx, "file", to, o)
						p.refused(ambit.OpRename, to, err, ambit.ErrDenied)
					}
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/guard-parents", tree: standard,
			rule:     "Each missing parent is asked for, and when a rule refuses one of them none is made.",
			requires: []requirement{needGuard, needWrite},
			run: func(p *probe) {
				guarded, _ := p.guard(func(op ambit.Op, path string) error {
					if op == ambit.OpMkdir && path == "/made/b" {
						return errRule
					}
					return nil
				})
				before := p.snapshot()
				for _, a := range attempts() {
					if !a.claimed(p) || !slices.Contains([]string{"write-parents", "append-parents", "stage-parents", "commit-write-parents", "rename-to-parents", "mkdir-parents"}, a.id) {
						continue
					}
					guarded.meets(a, expectation{path: "made/b/c", reasons: []ambit.Reason{ambit.ErrDenied}})
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/guard-publish", tree: standard,
			rule:     "Publish asks again: what a rule refuses by then is denied, and changes nothing.",
			requires: []requirement{needGuard, needStage},
			run: func(p *probe) {
				guarded, a := p.guard(allowing)
				before := p.snapshot()
				s, err := implements[ambit.Stager](guarded).Stage(p.ctx, "file", strings.NewReader("staged\n"), nil)
				if err != nil {
					p.fatalf("stage: %v", err)
				}
				a.set(denying("/file"))
				_, err = s.Publish(p.ctx)
				p.refused(ambit.OpPublish, "file", err, ambit.ErrDenied)
				p.unchanged(before)
			},
		},
		{
			id: "hostile/guard-commit", tree: standard,
			rule:     "A Commit of which a rule refuses one change makes none.",
			requires: []requirement{needGuard, needCommit},
			run: func(p *probe) {
				guarded, _ := p.guard(denying("/empty"))
				before := p.snapshot()
				for _, last := range []ambit.Change{
					{Op: ambit.OpWrite, Path: "empty", Content: strings.NewReader("x")},
					{Op: ambit.OpRemove, Path: "empty"},
				} {
					_, err := implements[ambit.Committer](guarded).Commit(p.ctx, []ambit.Change{
						{Op: ambit.OpWrite, Path: "file", Content: strings.NewReader("x")},
						{Op: ambit.OpWrite, Path: "made/x", Content: strings.NewReader("x"), Parents: true},
						{Op: ambit.OpRemove, Path: "sib.txt"},
						last,
					})
					p.refused(ambit.OpCommit, "empty", err, ambit.ErrDenied)
				}
				p.unchanged(before)
			},
		},
		{
			id: "hostile/guard-sub", tree: standard,
			rule:     "A Sub of a guarded file system is guarded too, by the paths of the parent.",
			requires: []requirement{needGuard, needSub},
			run: func(p *probe) {
				guarded, a := p.guard(denying("/folder/inner"))
				sub, err := implements[ambit.Subber](guarded).Sub(p.ctx, "folder")
				if err != nil {
					p.fatalf("sub: %v", err)
				}
				a.take()
				q := p.on(sub)
				_, err = sub.Open(p.ctx, "inner")
				q.refused(ambit.OpOpen, "inner", err, ambit.ErrDenied)
				q.holds("deep/leaf", "leaf\n")
				if asked := a.take(); !slices.Contains(asked, "open /folder/inner") || !slices.Contains(asked, "open /folder/deep/leaf") {
					p.errorf("in the Sub the function was asked %q, want the paths of the parent", asked)
				}
				if p.caps.List {
					if names := q.names("/"); !slices.Equal(names, []string{"deep"}) {
						p.errorf("the Sub lists %q, want deep alone", names)
					}
				}
				if w, err := ambit.Writable(sub); err == nil {
					_, err := w.Write(p.ctx, "inner", strings.NewReader("x"), nil)
					q.refused(ambit.OpWrite, "inner", err, ambit.ErrDenied)
				}
			},
		},
		{
			id: "hostile/guard-twice", tree: standard,
			rule:     "A guarded file system that is guarded again keeps both rules.",
			requires: []requirement{needGuard},
			run: func(p *probe) {
				once, _ := p.guard(denying("/file"))
				twice, _ := once.guard(denying("/empty"))
				for _, path := range []string{"file", "empty"} {
					_, err := twice.fs.Open(p.ctx, path)
					p.refused(ambit.OpOpen, path, err, ambit.ErrDenied)
				}
				twice.holds("folder/inner", "inner\n")
				once.holds("empty", "")
				p.holds("file", "alpha\nbeta\n")
			},
		},
		{
			id: "hostile/guard-search", tree: standard,
			rule:     "Glob and Grep ask for each folder entered, each name reported and each file searched, and leave out what a rule refuses.",
			requires: []requirement{needGuard, textSearch},
			run: func(p *probe) {
				guarded, a := p.guard(denying("/folder/deep", "/sib"))
				var names []string
				sum, err := p.text.Glob(p.ctx, guarded.fs, ambit.GlobQuery{Pattern: "**", Base: "/", All: true}, func(m ambit.GlobMatch) bool {
					names = append(names, m.Info.Path)
					return true
				})
				if err != nil {
					p.errorf("glob: %v", err)
				}
				asked := a.take()
				for _, want := range []string{"list /", "list /folder", "stat /folder", "stat /folder/inner"} {
					if !slices.Contains(asked, want) {
						p.errorf("glob: the function was not asked %q, only %q", want, asked)
					}
				}
				if !slices.Contains(names, "/folder/inner") || !slices.Contains(names, "/sibling/x") {
					p.errorf("glob left out what no rule refuses: %q", names)
				}
				var found []string
				grepped, err := p.text.Grep(p.ctx, guarded.fs, ambit.GrepQuery{Pattern: ".", Base: "/", All: true}, func(m ambit.GrepMatch) bool {
					found = append(found, m.Path)
					return true
				})
				if err != nil {
					p.errorf("grep: %v", err)
				}
				asked = a.take()
				for _, want := range []string{"list /", "list /folder", "open /folder/inner", "open /file"} {
					if !slices.Contains(asked, want) {
						p.errorf("grep: the function was not asked %q, only %q", want, asked)
					}
				}
				for _, path := range append(names, found...) {
					if ambit.Contains("/folder/deep", path) || ambit.Contains("/sib", path) {
						p.errorf("the search tells of %q, which a rule refuses", path)
					}
				}
				for _, skip := range append(sum.Skipped, grepped.Skipped...) {
					if ambit.Contains("/folder/deep", skip.Path) && skip.Path != "/folder/deep" || ambit.Contains("/sib", skip.Path) && skip.Path != "/sib" {
						p.errorf("the search tells of %q, beneath what a rule refuses", skip.Path)
					}
				}
			},
		},
	}
}

// question is a call, and what the function given to Guard is asked for it.
type question struct {
	name  string
	needs []requirement
	call  func(p *probe) error
	fails ambit.Reason // of the call itself, "" for success
	want  []string
}

// asks makes the call if its capabilities are claimed.
func (q question) asks(p *probe, a *asker) {
	if !(attempt{requires: q.needs}).claimed(p) {
		return
	}
	a.take()
	if err := q.call(p); ambit.ReasonOf(err) != q.fails {
		p.errorf("%s under a rule that refuses nothing: %v, want reason %q", q.name, err, q.fails)
	}
	asked := a.take()
	slices.Sort(q.want)
	if !slices.Equal(asked, q.want) {
		p.errorf("%s: asked %q, want %q", q.name, asked, q.want)
	}
}

func openQuestion(path string, fails ambit.Reason, want ...string) question {
	return question{name: "open " + path, fails: fails, want: want, call: func(p *probe) error {
		f, err := p.fs.Open(p.ctx, path)
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		return err
	}}
}

func statQuestion(path string, fails ambit.Reason, want ...string) question {
	return question{name: "stat " + path, fails: fails, want: want, call: func(p *probe) error {
		_, err := p.fs.Stat(p.ctx, path)
		return err
	}}
}

func listQuestion(path string, want ...string) question {
	return question{name: "list " + path, needs: []requirement{needList}, want: want, call: func(p *probe) error {
		_, err := p.fs.List(p.ctx, path, nil)
		return err
	}}
}

func lstatQuestion(path string, want ...string) question {
	return question{name: "lstat " + path, needs: []requirement{needReadLink}, want: want, call: func(p *probe) error {
		_, err := implements[ambit.Linker](p).Lstat(p.ctx, path)
		return err
	}}
}

func readLinkQuestion(path string, fails ambit.Reason, want ...string) question {
	return question{name: "readlink " + path, needs: []requirement{needReadLink}, fails: fails, want: want, call: func(p *probe) error {
		_, err := implements[ambit.Linker](p).ReadLink(p.ctx, path)
		return err
	}}
}

func subQuestion(path string, want ...string) question {
	return question{name: "sub " + path, needs: []requirement{needSub}, want: want, call: func(p *probe) error {
		_, err := implements[ambit.Subber](p).Sub(p.ctx, path)
		return err
	}}
}

func writeQuestion(path string, o *ambit.WriteOptions, want ...string) question {
	return question{name: "write " + path, needs: []requirement{needWrite}, want: want, call: func(p *probe) error {
		_, err := p.writable().Write(p.ctx, path, strings.NewReader("x"), o)
		return err
	}}
}

func removeQuestion(path string, o *ambit.RemoveOptions, fails ambit.Reason, want ...string) question {
	return question{name: "remove " + path, needs: []requirement{needRemove}, fails: fails, want: want, call: func(p *probe) error {
		return p.writable().Remove(p.ctx, path, o)
	}}
}

func renameQuestion(from, to string, o *ambit.RenameOptions, want ...string) question {
	return question{name: "rename " + from, needs: []requirement{needRename}, want: want, call: func(p *probe) error {
		_, err := implements[ambit.Renamer](p).Rename(p.ctx, from, to, o)
		return err
	}}
}

func mkdirQuestion(path string, o *ambit.MkdirOptions, fails ambit.Reason, want ...string) question {
	return question{name: "mkdir " + path, needs: []requirement{needMkdir}, fails: fails, want: want, call: func(p *probe) error {
		_, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, path, o)
		return err
	}}
}

// questions are asked one after the other in the standard tree.
func questions() []question {
	return []question{
		openQuestion("./file", "", "open /file"),
		openQuestion("folder/../file", "", "open /file"),
		openQuestion("none", ambit.ErrNotFound, "open /none"),
		openQuestion("none/x", ambit.ErrNotFound, "open /none/x"),
		openQuestion("folder", ambit.ErrNotAFile, "open /folder"),
		statQuestion("folder/", "", "stat /folder"),
		statQuestion("/", "", "stat /"),
		statQuestion("none", ambit.ErrNotFound, "stat /none"),
		listQuestion("folder", "list /folder", "stat /folder/deep", "stat /folder/inner"),
		lstatQuestion("file", "lstat /file"),
		readLinkQuestion("file", ambit.ErrInvalid, "readlink /file"),
		subQuestion("folder", "sub /folder"),
		writeQuestion("file", nil, "write /file"),
		writeQuestion("new", nil, "write /new"),
		writeQuestion("folder/new", &ambit.WriteOptions{Parents: true}, "write /folder/new"),
		writeQuestion("made/b/c", &ambit.WriteOptions{Parents: true}, "mkdir /made", "mkdir /made/b", "write /made/b/c"),
		{
			name: "append file", needs: []requirement{needAppend}, want: []string{"append /file"},
			call: func(p *probe) error {
				_, err := implements[ambit.Appender](p).Append(p.ctx, "file", strings.NewReader("x"), nil)
				return err
			},
		},
		{
			name: "stage staged/x", needs: []requirement{needStage}, want: []string{"write /staged/x", "mkdir /staged"},
			call: func(p *probe) error {
				s, err := implements[ambit.Stager](p).Stage(p.ctx, "staged/x", strings.NewReader("x"), &ambit.WriteOptions{Parents: true})
				if err != nil {
					return err
				}
				return s.Discard(p.ctx)
			},
		},
		mkdirQuestion("m1", nil, "", "mkdir /m1"),
		mkdirQuestion("m1/m2/m3", &ambit.MkdirOptions{Parents: true}, "", "mkdir /m1/m2", "mkdir /m1/m2/m3"),
		mkdirQuestion("m1", nil, ambit.ErrExists, "mkdir /m1"),
		mkdirQuestion("m1/", &ambit.MkdirOptions{Parents: true}, "", "mkdir /m1"),
		renameQuestion("new", "moved", nil, "rename /new", "rename /moved"),
		renameQuestion("sibling", "in/sibling", &ambit.RenameOptions{Parents: true}, "rename /sibling", "rename /sibling/x", "rename /in/sibling", "mkdir /in"),
		{
			name: "commit", needs: []requirement{needCommit}, want: []string{"write /c/d", "mkdir /c", "remove /sib.txt"},
			call: func(p *probe) error {
				_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{
					{Op: ambit.OpWrite, Path: "c/d", Content: strings.NewReader("x"), Parents: true},
					{Op: ambit.OpRemove, Path: "sib.txt"},
				})
				return err
			},
		},
		removeQuestion("empty", nil, "", "remove /empty"),
		removeQuestion("none", &ambit.RemoveOptions{MissingOK: true}, "", "remove /none"),
		removeQuestion("sib", &ambit.RemoveOptions{Recursive: true}, "", "remove /sib", "remove /sib/x"),
	}
}

// linkQuestions are asked one after the other in the tree linked.
func linkQuestions() []question {
	return []question{
		openQuestion("link-file", "", "open /file"),
		openQuestion("link-folder/inner", "", "open /folder/inner"),
		statQuestion("link-folder", "", "stat /folder"),
		statQuestion("link-folder/none", ambit.ErrNotFound, "stat /folder/none"),
		listQuestion("link-folder/deep", "list /folder/deep", "stat /folder/deep/leaf"),
		lstatQuestion("link-file", "lstat /link-file"),
		lstatQuestion("link-folder/", "lstat /folder"),
		lstatQuestion("link-folder/inner", "lstat /folder/inner"),
		readLinkQuestion("link-folder/up", "", "readlink /folder/up"),
		subQuestion("link-folder", "sub /folder"),
		writeQuestion("link-file", nil, "write /file"),
		writeQuestion("link-folder/new", nil, "write /folder/new"),
		writeQuestion("link-folder/a/b", &ambit.WriteOptions{Parents: true}, "mkdir /folder/a", "write /folder/a/b"),
		mkdirQuestion("link-folder/made", nil, "", "mkdir /folder/made"),
		renameQuestion("link-inner", "link-folder/moved", nil, "rename /link-inner", "rename /folder/moved"),
		removeQuestion("link-file", nil, "", "remove /link-file"),
		removeQuestion("link-folder", &ambit.RemoveOptions{Recursive: true}, "", "remove /link-folder"),
	}
}
