// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/search"
)

// CheckForwarding compares a wrapper with what it wraps: it claims exactly
// what base claims without what is lost, whatever it claims works as on base,
// whatever it does not claim is refused and changes nothing, and neither an
// optional interface nor a Sub or Guard gets around it. A level of Swap in
// lost is lost with the levels above it.
//
// It is for wrappers that show base under the same paths. It reads from what
// base holds, up to a bound. Changes it tries in a folder that it makes in the
// root of base and removes again; where none can be made they read "not run".
// The results have levels of their own, "forwarding".
func CheckForwarding(base, wrapped ambit.FileSystem, lost ambit.Capabilities) *Report {
	ctx := context.Background()
	r := fixtureRunner(wrapped)
	r.report.Target = fmt.Sprintf("%T over %T", wrapped, base)
	if isNil(base) {
		r.problem("there is no base")
		return r.report
	}
	if err := r.learn(ctx); err != nil {
		r.problem("the wrapper does not answer: %v", err)
		return r.report
	}
	f := &forwarding{base: base, caps: r.caps, want: without(base.Capabilities(), lost)}
	f.name = "/ambit-forwarding-" + strings.ToLower(rand.Text()[:12])
	if _, err := base.Stat(ctx, f.name); ambit.ReasonOf(err) != ambit.ErrNotFound {
		r.problem("base cannot say that %q is not there: %v", f.name, err)
		return r.report
	}
	f.find(ctx)
	for _, c := range f.checks() {
		r.report.Results = append(r.report.Results, r.one(ctx, c))
	}
	f.clean(ctx)
	if _, err := base.Stat(ctx, f.name); ambit.ReasonOf(err) != ambit.ErrNotFound {
		r.problem("%q is left on base: %v", f.name, err)
	}
	return r.report
}

// without returns base without what is lost.
func without(base, lost ambit.Capabilities) ambit.Capabilities {
	left, gone := reflect.ValueOf(&base).Elem(), reflect.ValueOf(lost)
	for i := range gone.NumField() {
		if gone.Field(i).Kind() == reflect.Bool && gone.Field(i).Bool() {
			left.Field(i).SetBool(false)
		}
	}
	if lost.Swap > ambit.SwapNone {
		base.Swap = min(base.Swap, lost.Swap-1)
	}
	if lost.Links != ambit.LinksUnknown && lost.Links == base.Links {
		base.Links = ambit.LinksUnknown
	}
	if lost.ID != "" {
		base.ID = ""
	}
	if lost.MaxFileSize > 0 {
		base.MaxFileSize = 0
	}
	return base
}

// forwarding is what the checks of one wrapper share.
type forwarding struct {
	base ambit.FileSystem
	caps ambit.Capabilities // of the wrapper
	want ambit.Capabilities // that it should claim
	name string             // of the folder in the root that the checks may make

	paths []string // places on base to be read: files, folders, links

	fresh map[string]string // the sandbox as it was made; nil: there is none
}

// The bounds of what is read of base.
const (
	foundPaths = 40
	foundBytes = 1 << 20
)

// find looks for paths to be read.
func (f *forwarding) find(ctx context.Context) {
	f.paths = []string{"/", ".", "", "..", "a/../../b", "\x00", f.name, f.name + "/x", f.name + "/"}
	if !f.base.Capabilities().List {
		return
	}
	kinds := make(map[ambit.Kind]int)
	entries := 0
	for e, err := range ambit.Walk(ctx, f.base, "/") {
		if entries++; entries > 2000 || len(f.paths) > foundPaths {
			return
		}
		if err != nil {
			continue
		}
		if kinds[e.Info.Kind]++; kinds[e.Info.Kind] > 8 {
			continue
		}
		if e.Info.Kind == ambit.KindRegular {
			info, err := f.base.Stat(ctx, e.Info.Path)
			if err != nil || info.Size > foundBytes {
				continue
			}
		}
		f.paths = append(f.paths, e.Info.Path)
		if kinds[e.Info.Kind] == 1 {
			f.paths = append(f.paths, e.Info.Path+"/", e.Info.Path+"/x", "/."+e.Info.Path)
		}
	}
}

// clean removes what the checks have made, whatever has become of it.
func (f *forwarding) clean(ctx context.Context) error {
	f.fresh = nil
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return ambit.Remove(ctx, f.base, f.name, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
}

// sandboxTree is what the folder of a check holds at first.
var sandboxTree = standard.WithoutLinks()

// sandbox makes the folder anew with a tree in it, by base, unless it is still
// as it was made, or ends the check.
func (f *forwarding) sandbox(p *probe) {
	if f.fresh != nil && maps.Equal(f.fresh, f.left(p)) {
		return
	}
	f.fresh = nil
	if err := f.clean(p.ctx); err != nil {
		p.fatalf("base cannot be cleaned: %v", err)
	}
	s := &scratch{fsys: f.base}
	if err := s.fill(p.ctx, f.name, sandboxTree); err != nil {
		p.fatalf("base cannot be filled: %v", err)
	}
	f.fresh = f.left(p)
}

// sandboxed is the requirement of a check that changes something.
func (f *forwarding) sandboxed() requirement {
	caps := f.base.Capabilities()
	able := caps.Write && caps.Remove
	if able {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		able = (&scratch{fsys: f.base}).folder(ctx, f.name) == nil && f.clean(ctx) == nil
	}
	return requirement{
		name: "folder in its root that could be made and removed", notRun: true,
		met: func(ambit.Capabilities, *Target) bool { return able },
	}
}

func (f *forwarding) checks() []*check {
	sandboxed := f.sandboxed()
	list := []*check{
		{
			id:   "forwarding/claims",
			rule: "A wrapper claims exactly what it wraps claims, without what it is said to lose.",
			run: func(p *probe) {
				for _, fault := range differences(f.want, f.caps) {
					p.errorf("%s", fault)
				}
			},
		},
		{
			id:   "forwarding/closed",
			rule: "An operation that a wrapper does not claim is refused and changes nothing, though what it wraps can do it and though the method exists.",
			run:  func(p *probe) { f.closed(p, p.fs, p.caps) },
		},
		{
			id:   "forwarding/facts",
			rule: "A fact that a wrapper does not claim is not shown: no version, no identity, no precondition.",
			run:  f.hidesFacts,
		},
		{
			id:   "forwarding/derived",
			rule: "A Sub and a guarded file system that a wrapper hands out claim nothing that it has lost, and refuse that too.",
			run:  f.derived,
		},
		{
			id: "forwarding/context", rule: "A wrapper passes the context on: one that is done is canceled, and changes nothing.",
			run: func(p *probe) {
				ctx, cancel := context.WithCancel(p.ctx)
				cancel()
				q := *p
				q.ctx = ctx
				for _, a := range attempts() {
					if a.claimed(p) {
						_, err := a.call(q.at(f.name), f.name+"/x")
						p.refused(a.op, blamed(err, f.name+"/x", f.name), err, ambit.ErrCanceled)
					}
				}
				if _, err := f.base.Stat(p.ctx, f.name); ambit.ReasonOf(err) != ambit.ErrNotFound {
					p.errorf("%q came to be", f.name)
				}
			},
		},
		{
			id: "forwarding/search", rule: "Searches of a wrapper, by itself or by listing it, find what those of what it wraps find.",
			requires: []requirement{quality("List or Search", func(c ambit.Capabilities) bool { return c.List || c.Search })},
			run:      f.searches,
		},
		{
			id: "forwarding/pages", rule: "List of a wrapper passes every option on.",
			requires: []requirement{quality("List", func(c ambit.Capabilities) bool { return c.List })},
			run:      f.pages,
		},
		{
			id: "forwarding/file", rule: "A File of a wrapper reads, verifies and closes as one of what it wraps, and tells the path as written.",
			requires: []requirement{sandboxed}, run: f.files,
		},
		{
			id: "forwarding/contents", rule: "A wrapper passes the whole content on, and its error with its reason and chain.",
			requires: []requirement{sandboxed, quality("Write", func(c ambit.Capabilities) bool { return c.Write })}, run: f.contents,
		},
		{
			id: "forwarding/publish", rule: "Publish and Discard of a wrapper work as those of what it wraps.",
			requires: []requirement{sandboxed, quality("Stage", func(c ambit.Capabilities) bool { return c.Stage })}, run: f.publishes,
		},
	}
	for _, a := range attempts() {
		requires := make([]requirement, len(a.requires))
		for i, need := range a.requires {
			requires[i] = requirement{name: need.name, met: need.met} // its refusal is the check "closed"
		}
		if !a.changes() {
			list = append(list, &check{
				id:       "forwarding/" + a.id,
				rule:     a.of("a path") + " by a wrapper gives what it gives on what it wraps.",
				requires: requires,
				run:      func(p *probe) { f.reads(p, a) },
			})
			continue
		}
		list = append(list, &check{
			id:       "forwarding/" + a.id,
			rule:     a.of("a path") + " by a wrapper does what it does on what it wraps, and gives the same answer.",
			requires: append(requires, sandboxed),
			run:      func(p *probe) { f.changes(p, a) },
		})
	}
	return list
}

// differences names the fields in which claims differ.
func differences(want, got ambit.Capabilities) []string {
	var faults []string
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		if !w.Field(i).Equal(g.Field(i)) {
			faults = append(faults, fmt.Sprintf("%s is %v, want %v", w.Type().Field(i).Name, g.Field(i), w.Field(i)))
		}
	}
	return faults
}

// at returns a probe whose attempts have their second path in the folder dir.
func (p *probe) at(dir string) *probe {
	q := *p
	q.dir = dir + "/"
	return &q
}

// blamed returns path, or that of the attempts' own paths in dir which a
// rename speaks of.
func blamed(err error, path, dir string) string {
	var e *ambit.Error
	if errors.As(err, &e) && e != nil && (e.Path == dir+"/file" || e.Path == dir+"/renamed") {
		return e.Path
	}
	return path
}

// same compares what one call gave on both.
func (p *probe) same(what, path, baseSeen string, baseErr error, seen string, err error) {
	if got, want := answer(seen, err), answer(baseSeen, baseErr); got != want {
		p.errorf("%s %q: %s, and on what is wrapped: %s", what, path, brief(got), brief(want))
	}
}

// answer shows what a call gave.
func answer(seen string, err error) string {
	if err == nil {
		return seen
	}
	var e *ambit.Error
	if !errors.As(err, &e) || e == nil {
		return fmt.Sprintf("%T %v", err, err)
	}
	return fmt.Sprintf("error of %s %q: %s, kind %v, target %q, missing %q, rule %q, lines %v, total %d, limit %d, size %d",
		e.Op, e.Path, e.Reason, e.Kind, e.Target, e.MissingDirs, e.Rule, e.Lines, e.Total, e.Limit, e.Size)
}

// fleeting are the parts of a description that are never the same for two
// files.
var fleeting = regexp.MustCompile(`ModTime:.*? Mode:|Version:[^ }]+|ID:[^ }]+`)

// settled leaves out of a description what two equal changes do not share.
func settled(seen string) string {
	return fleeting.ReplaceAllStringFunc(seen, func(part string) string {
		name, _, _ := strings.Cut(part, ":")
		return name + ":… "
	})
}

// reads compares a reading attempt on all that was found. What the wrapper
// does not claim is left out of both descriptions.
func (f *forwarding) reads(p *probe, a attempt) {
	for _, path := range f.paths {
		baseSeen, baseErr := a.call(p.on(f.base), path)
		seen, err := a.call(p, path)
		p.same(a.op, path, f.shown(baseSeen), baseErr, f.shown(seen), err)
		if err != nil {
			p.wellFormed(a.op, path, err)
		}
	}
}

var (
	versionPart  = regexp.MustCompile(`Version:[^ }]+`)
	identityPart = regexp.MustCompile(`ID:[^ }]+`)
)

// shown is a description on base as the wrapper may show it.
func (f *forwarding) shown(seen string) string {
	if !f.caps.Versions {
		seen = versionPart.ReplaceAllString(seen, "Version:")
	}
	if !f.caps.Identity {
		seen = identityPart.ReplaceAllString(seen, "ID:")
	}
	return seen
}

// changes compares a changing attempt in the sandbox, each time in a new one.
func (f *forwarding) changes(p *probe, a attempt) {
	for _, path := range []string{
		"file", "empty", "folder", "hollow", "folder/", "file/", "file/x", "new", "new/", "gone/new", "gone/deep/new", "folder/inner", "folder/deep/new", "..", "", "\x00",
	} {
		if path != "" && path != ".." && path[0] != 0 {
			path = f.name + "/" + path
		} else if path == ".." {
			path = f.name + "/../../x"
		}
		try := func(fsys ambit.FileSystem) (seen string, left map[string]string, err error) {
			f.sandbox(p)
			seen, err = a.call(p.on(fsys).at(f.name), path)
			return settled(f.shown(seen)), f.left(p), err
		}
		baseSeen, baseLeft, baseErr := try(f.base)
		seen, left, err := try(p.fs)
		p.same(a.op, path, baseSeen, baseErr, seen, err)
		p.alike(baseLeft, left, a.of(fmt.Sprintf("%q", path)))
		if err != nil {
			p.wellFormed(a.op, blamed(err, path, f.name), err)
		}
	}
}

// left is what is in the sandbox, seen by base.
func (f *forwarding) left(p *probe) map[string]string {
	seen := make(map[string]string)
	if !f.base.Capabilities().List {
		for _, n := range sandboxTree {
			data, info, err := ambit.ReadFile(p.ctx, f.base, f.name+"/"+n.Path)
			seen[n.Path] = fmt.Sprintf("%q %v %v", data, info.Mode, ambit.ReasonOf(err))
		}
		return seen
	}
	for e, err := range ambit.Walk(p.ctx, f.base, f.name) {
		text := fmt.Sprintf("%s %v", e.Info.Kind, ambit.ReasonOf(err))
		if e.Info.Kind == ambit.KindRegular {
			data, info, err := ambit.ReadFile(p.ctx, f.base, e.Info.Path)
			text = fmt.Sprintf("%q %v %v", data, info.Mode, ambit.ReasonOf(err))
		}
		seen[e.Info.Path] = text
	}
	return seen
}

// closed tries every operation that is not claimed, in a way that changes
// nothing of what base holds even where it is let through.
func (f *forwarding) closed(p *probe, fsys ambit.FileSystem, caps ambit.Capabilities) {
	f.clean(p.ctx)
	failing := func() io.Reader { return failingReader("", errors.New("not to be published")) }
	refused := func(op, path string, err error, changes bool) {
		reasons := []ambit.Reason{ambit.ErrUnsupported}
		if changes {
			reasons = append(reasons, ambit.ErrReadOnly)
		}
		p.refused(op, path, err, reasons...)
	}
	w, writable := fsys.(ambit.WritableFileSystem)
	for _, path := range []string{f.name, f.name + "/x"} {
		if !caps.List {
			_, err := fsys.List(p.ctx, path, nil)
			refused(ambit.OpList, path, err, false)
		}
		if writable && !caps.Write {
			_, err := w.Write(p.ctx, path, failing(), nil)
			refused(ambit.OpWrite, path, err, true)
		}
		if writable && !caps.Remove {
			refused(ambit.OpRemove, path, w.Remove(p.ctx, path, &ambit.RemoveOptions{MissingOK: true}), true)
		}
		if a, ok := fsys.(ambit.Appender); ok && !caps.Append {
			_, err := a.Append(p.ctx, path, failing(), nil)
			refused(ambit.OpAppend, path, err, true)
		}
		if r, ok := fsys.(ambit.Renamer); ok && !caps.Rename {
			_, err := r.Rename(p.ctx, path, path+"-renamed", nil)
			refused(ambit.OpRename, path, err, true)
		}
		if m, ok := fsys.(ambit.DirMaker); ok && !caps.Mkdir {
			_, err := m.Mkdir(p.ctx, path, nil)
			refused(ambit.OpMkdir, path, err, true)
		}
		if s, ok := fsys.(ambit.Stager); ok && !caps.Stage {
			staged, err := s.Stage(p.ctx, path, failing(), nil)
			if err == nil {
				staged.Discard(p.ctx)
			}
			refused(ambit.OpStage, path, err, true)
		}
		if c, ok := fsys.(ambit.Committer); ok && !caps.Commit {
			_, err := c.Commit(p.ctx, []ambit.Change{{Op: ambit.OpRemove, Path: path}})
			refused(ambit.OpCommit, path, err, true)
			if _, err := c.Commit(p.ctx, nil); err == nil {
				p.errorf("commit is not claimed, but one of nothing succeeded")
			}
		}
		if l, ok := fsys.(ambit.Linker); ok && !caps.ReadLink {
			_, err := l.Lstat(p.ctx, path)
			refused(ambit.OpLstat, path, err, false)
			_, err = l.ReadLink(p.ctx, path)
			refused(ambit.OpReadLink, path, err, false)
		}
	}
	if s, ok := fsys.(ambit.Searcher); ok && !caps.Search {
		_, err := s.Glob(p.ctx, ambit.GlobQuery{Pattern: "**", Base: "/"}, func(ambit.GlobMatch) bool {
			p.errorf("Search is not claimed, but Glob finds something")
			return false
		})
		refused(ambit.OpGlob, "/", err, false)
		_, err = s.Grep(p.ctx, ambit.GrepQuery{Pattern: ".", Base: "/"}, func(ambit.GrepMatch) bool {
			p.errorf("Search is not claimed, but Grep finds something")
			return false
		})
		refused(ambit.OpGrep, "/", err, false)
	}
	if s, ok := fsys.(ambit.Subber); ok && !caps.Sub {
		_, err := s.Sub(p.ctx, "/")
		refused(ambit.OpSub, "/", err, false)
	}
	if g, ok := fsys.(ambit.Guarder); ok && !caps.Guard {
		guarded := g.Guard(func(context.Context, ambit.Op, string) error { return nil })
		if isNil(guarded) {
			p.fatalf("Guard returned nil")
		}
		for _, path := range f.paths {
			if textual(path) == "" {
				continue
			}
			_, err := guarded.Open(p.ctx, path)
			refused(ambit.OpOpen, path, err, false)
		}
	}
	if _, err := f.base.Stat(p.ctx, f.name); ambit.ReasonOf(err) != ambit.ErrNotFound {
		p.errorf("%q came to be by an operation that is not claimed", f.name)
	}
}

// hidesFacts looks for what is not claimed in what is shown.
func (f *forwarding) hidesFacts(p *probe) {
	see := func(path string, info ambit.FileInfo) {
		if !p.caps.Versions && info.Version != "" {
			p.errorf("%q has version %q, but Versions is not claimed", path, info.Version)
		}
		if !p.caps.Identity && info.ID != "" {
			p.errorf("%q has ID %q, but Identity is not claimed", path, info.ID)
		}
	}
	for _, path := range f.paths {
		if info, err := p.fs.Stat(p.ctx, path); err == nil {
			see(path, info)
		}
		if file, err := p.fs.Open(p.ctx, path); err == nil {
			see(path, file.Info())
			file.Close()
		}
		if l, err := p.fs.List(p.ctx, path, &ambit.ListOptions{Details: true, Limit: 100}); err == nil {
			for _, e := range l.Entries {
				see(e.Info.Path, e.Info)
			}
		}
	}
	if w, err := ambit.Writable(p.fs); err == nil && p.caps.Swap == ambit.SwapNone {
		for _, precondition := range []ambit.Precondition{ambit.IfAbsent(), ambit.IfVersion(otherVersion)} {
			_, err := w.Write(p.ctx, f.name, failingReader("", errors.New("not to be published")), &ambit.WriteOptions{If: precondition})
			p.refused(ambit.OpWrite, f.name, err, ambit.ErrUnsupported)
		}
	}
}

// derived looks at what the wrapper hands out.
func (f *forwarding) derived(p *probe) {
	look := func(what string, fsys ambit.FileSystem) {
		if isNil(fsys) {
			p.fatalf("%s returned nil", what)
		}
		caps := fsys.Capabilities()
		own, theirs := reflect.ValueOf(p.caps), reflect.ValueOf(caps)
		for i := range own.NumField() {
			if own.Field(i).Kind() == reflect.Bool && theirs.Field(i).Bool() && !own.Field(i).Bool() {
				p.errorf("%s claims %s, which the wrapper does not", what, own.Type().Field(i).Name)
			}
		}
		if caps.Swap > p.caps.Swap {
			p.errorf("%s claims Swap %s, the wrapper %s", what, caps.Swap, p.caps.Swap)
		}
		f.closed(p, fsys, caps)
		f.hidesFacts(&probe{ctx: p.ctx, fs: fsys, caps: caps, target: p.target, tree: p.tree, verdict: p.verdict})
	}
	if p.caps.Sub {
		sub, err := implements[ambit.Subber](p).Sub(p.ctx, "/")
		if err != nil {
			p.errorf("sub of the root: %v", err)
		} else {
			look("the Sub", sub)
		}
	}
	if p.caps.Guard {
		look("the guarded file system", implements[ambit.Guarder](p).Guard(func(context.Context, ambit.Op, string) error { return nil }))
	}
}

// searches compares searches that use every field of a query.
func (f *forwarding) searches(p *probe) {
	find := func(fsys ambit.FileSystem, search func(fsys ambit.FileSystem, yield func(string) bool) (ambit.SearchSummary, error)) (string, error) {
		if _, ok := fsys.(ambit.Searcher); !ok && fsys.Capabilities().Search {
			p.fatalf("Search is claimed, but a %T is no Searcher", fsys)
		}
		var found []string
		sum, err := search(fsys, func(match string) bool {
			found = append(found, match)
			return len(found) < 500
		})
		return fmt.Sprintf("%q %+v", found, sum), err
	}
	onlyFiles := func(_ string, k ambit.Kind) bool { return k == ambit.KindRegular }
	for _, q := range []ambit.GlobQuery{
		{Pattern: "**", Base: "/"},
		{Pattern: "**", Base: "/", All: true, NoIgnore: true, Details: true},
		{Pattern: "*", Base: "/", Limit: 1},
		{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindDirectory}},
		{Pattern: "**", Base: "/", Keep: onlyFiles},
		{Pattern: "[", Base: "/"},
		{Pattern: "*", Base: f.name},
		{Pattern: "*", Base: ".."},
	} {
		search := func(fsys ambit.FileSystem, yield func(string) bool) (ambit.SearchSummary, error) {
			return search.GlobEach(p.ctx, fsys, q, func(m ambit.GlobMatch) bool { return yield(f.shown(fmt.Sprintf("%+v", m))) })
		}
		baseSeen, baseErr := find(f.base, search)
		seen, err := find(p.fs, search)
		p.same(ambit.OpGlob, q.Base, baseSeen, baseErr, seen, err)
	}
	for _, q := range []ambit.GrepQuery{
		{Pattern: "e", Base: "/", Limit: 100},
		{Pattern: "E.", Base: "/", Literal: true, IgnoreCase: true, All: true, NoIgnore: true, Limit: 100},
		{Pattern: "a", Base: "/", Word: true, Before: 1, After: 2, Limit: 3},
		{Pattern: ".", Base: "/", Mode: ambit.GrepFiles, Include: []string{"*.txt"}, Limit: 100},
		{Pattern: ".", Base: "/", Mode: ambit.GrepCount, Exclude: []string{"*.txt"}, Limit: 100},
		{Pattern: ".", Base: "/", MaxLineBytes: 3, Limit: 10, Keep: onlyFiles},
		{Pattern: "(", Base: "/"},
		{Pattern: "x", Base: f.name},
		{Pattern: "x", Base: ".."},
	} {
		search := func(fsys ambit.FileSystem, yield func(string) bool) (ambit.SearchSummary, error) {
			return search.GrepEach(p.ctx, fsys, q, func(m ambit.GrepMatch) bool { return yield(fmt.Sprintf("%+v", m)) })
		}
		baseSeen, baseErr := find(f.base, search)
		seen, err := find(p.fs, search)
		p.same(ambit.OpGrep, q.Base, baseSeen, baseErr, seen, err)
	}
}

// pages compares pages of listings.
func (f *forwarding) pages(p *probe) {
	list := func(fsys ambit.FileSystem, dir string, o *ambit.ListOptions) (string, error) {
		l, err := fsys.List(p.ctx, dir, o)
		if err != nil || l == nil {
			return "", err
		}
		return f.shown(fmt.Sprintf("%+v", *l)), nil
	}
	for _, path := range f.paths {
		for _, o := range []*ambit.ListOptions{nil, {Limit: 1}, {Limit: 2, Details: true}, {After: "a"}, {After: "m", Limit: 1}, {Limit: -1}, {After: "\xff"}} {
			baseSeen, baseErr := list(f.base, path, o)
			seen, err := list(p.fs, path, o)
			p.same(ambit.OpList, path, baseSeen, baseErr, seen, err)
		}
	}
}

// files compares open files.
func (f *forwarding) files(p *probe) {
	path := f.name + "/./file"
	play := func(fsys ambit.FileSystem) string {
		f.sandbox(p)
		var said []string
		say := func(what string, seen any, err error) { said = append(said, what+": "+answer(fmt.Sprint(seen), err)) }
		file, err := fsys.Open(p.ctx, path)
		if err != nil || file == nil {
			p.fatalf("open %q: %v, %v", path, file, err)
		}
		b := make([]byte, 5)
		n, err := file.Read(b)
		say("read", string(b[:n]), err)
		if at, ok := file.(io.ReaderAt); f.caps.ReadAt {
			if !ok {
				p.fatalf("ReadAt is claimed, but a %T is no io.ReaderAt", file)
			}
			n, err := at.ReadAt(b, 6)
			say("read at 6", string(b[:n]), err)
			n, err = at.ReadAt(b, -1)
			say("read at -1", string(b[:n]), err)
		}
		rest, err := io.ReadAll(file)
		say("the rest", string(rest), err)
		say("verify", "", file.Verify(p.ctx))
		if _, err := ambit.WriteFile(p.ctx, f.base, f.name+"/file", []byte("of another size\n"), nil); err != nil {
			p.fatalf("write by base: %v", err)
		}
		say("verify after a write", "", file.Verify(p.ctx))
		say("close", "", file.Close())
		say("close", "", file.Close())
		_, err = file.Read(b)
		say("read after close", "", err)
		say("verify after close", "", file.Verify(p.ctx))
		say("info", settled(f.shown(fmt.Sprintf("%+v", file.Info()))), nil)
		return strings.Join(said, "\n")
	}
	base := strings.Split(play(f.base), "\n")
	for i, line := range strings.Split(play(p.fs), "\n") {
		if i >= len(base) || line != base[i] {
			p.errorf("a File says %s, and one of what is wrapped %s", line, base[min(i, len(base)-1)])
		}
	}
}

// contents compares what becomes of contents.
func (f *forwarding) contents(p *probe) {
	mine := errors.New("the reader's own")
	path := f.name + "/content"
	for _, c := range []struct {
		name    string
		content func() io.Reader
	}{
		{"whole", func() io.Reader { return strings.NewReader(numbered[:p.atMost(len(numbered))]) }},
		{"empty", func() io.Reader { return strings.NewReader("") }},
		{"failing", func() io.Reader { return failingReader("begun", mine) }},
		{"failing for a reason", func() io.Reader { return failingReader("begun", ambit.ErrTooLarge) }},
		{"nil", func() io.Reader { return nil }},
	} {
		play := func(fsys ambit.FileSystem) (said []string, failed map[string]error) {
			failed = make(map[string]error)
			f.sandbox(p)
			q := *p.on(fsys)
			q.caps = f.caps
			for op, err := range q.contents(path, c.content) {
				said = append(said, op+": "+answer("", err)+fmt.Sprint(f.left(p)))
				failed[op] = err
			}
			return said, failed
		}
		want, _ := play(f.base)
		got, failed := play(p.fs)
		if !slices.Equal(got, want) {
			p.errorf("content %s: %s, and on what is wrapped: %s", c.name, brief(strings.Join(got, "; ")), brief(strings.Join(want, "; ")))
		}
		for op, err := range failed {
			if c.name == "failing" && !errors.Is(err, mine) {
				p.errorf("%s of a failing content: the reader's error is not in the chain of %v", op, err)
			}
		}
	}
}

// publishes compares staged content.
func (f *forwarding) publishes(p *probe) {
	path := f.name + "/./file"
	play := func(fsys ambit.FileSystem) string {
		f.sandbox(p)
		var said []string
		say := func(what string, seen any, err error) {
			said = append(said, what+": "+answer(settled(f.shown(fmt.Sprintf("%+v", seen))), err))
		}
		stage := func() ambit.Staged {
			s, err := fsys.(ambit.Stager).Stage(p.ctx, path, strings.NewReader(written), nil)
			if err != nil || s == nil {
				p.fatalf("stage %q: %v, %v", path, s, err)
			}
			return s
		}
		s := stage()
		say("info", s.Info(), nil)
		r, err := s.Publish(p.ctx)
		say("publish", r, err)
		_, err = s.Publish(p.ctx)
		say("publish again", nil, err)
		say("discard", nil, s.Discard(p.ctx))
		s = stage()
		say("discard", nil, s.Discard(p.ctx))
		_, err = s.Publish(p.ctx)
		say("publish after discard", nil, err)
		say("left", f.left(p), nil)
		return strings.Join(said, "\n")
	}
	base := strings.Split(play(f.base), "\n")
	for i, line := range strings.Split(play(p.fs), "\n") {
		if i >= len(base) || line != base[i] {
			p.errorf("a Staged says %s, and one of what is wrapped %s", line, base[min(i, len(base)-1)])
		}
	}
}
