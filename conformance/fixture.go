// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ambitfs/ambit"
)

// ReadFixture tells [CheckFileSystem] where in a file system it finds what.
// Relative paths start at the file system's working directory. What is left
// empty makes the checks that need it read "not run".
type ReadFixture struct {
	ExistingFile  string // a regular file, no link, that nobody changes during the run, Mutate aside
	Bytes         []byte // all that ExistingFile holds; empty but not nil for an empty file
	MissingPath   string // a name that is not there, in a folder that is
	DirectoryPath string // a folder
	RefusedPath   string // what the file system must refuse, such as a link out of it or a denied file
	ListDirectory string // a folder whose entries nobody changes during the run

	// Mutate changes the bytes of ExistingFile behind the file system's back.
	Mutate func(ctx context.Context) error
}

// CheckFileSystem checks a file system that exists already by reading from it:
// the refusals that its fixture can show, and what an open file and a listing
// are. It changes nothing, also where fsys is writable.
func CheckFileSystem(ctx context.Context, fsys ambit.FileSystem, f ReadFixture) *Report {
	r := fixtureRunner(fsys)
	if f.ExistingFile == "" && f.MissingPath == "" && f.DirectoryPath == "" && f.RefusedPath == "" && f.ListDirectory == "" {
		r.problem("the fixture names nothing")
		return r.report
	}
	if err := r.learn(ctx); err != nil {
		r.problem("the file system does not answer: %v", err)
		return r.report
	}
	if err := f.absolute(ctx, fsys); err != nil {
		r.problem("the working directory is not told: %v", err)
		return r.report
	}
	// A walk of the whole machine would be no snapshot.
	r.look = f.look
	for _, c := range f.checks() {
		r.report.Results = append(r.report.Results, r.one(ctx, c))
	}
	return r.report
}

// fixtureRunner returns a runner whose every probe is of fsys itself.
func fixtureRunner(fsys ambit.FileSystem) *runner {
	name := fmt.Sprintf("%T", fsys)
	return &runner{
		target: Target{
			Name: name,
			New: func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
				return fsys, nil, nil
			},
		},
		deadline: defaultDeadline,
		text:     textPackages,
		report:   &Report{Target: name},
		beyond:   func(*check) string { return "" },
	}
}

// absolute makes the fixture's paths absolute, so that they can be spelled in
// other ways.
func (f *ReadFixture) absolute(ctx context.Context, fsys ambit.FileSystem) error {
	paths := []*string{&f.ExistingFile, &f.MissingPath, &f.DirectoryPath, &f.RefusedPath, &f.ListDirectory}
	cwd := "/"
	if slices.ContainsFunc(paths, func(p *string) bool { return *p != "" && (*p)[0] != '/' }) {
		info, err := fsys.Stat(ctx, ".")
		if err != nil {
			return err
		}
		cwd = info.Path
	}
	for _, p := range paths {
		if *p == "" {
			continue
		}
		clean, _, err := ambit.Resolve(cwd, *p)
		if err != nil {
			continue // a RefusedPath may be refused by its text
		}
		*p = clean
	}
	return nil
}

// look is what a check of the fixture sees before and after.
func (f *ReadFixture) look(p *probe) map[string]string {
	seen := make(map[string]string)
	for _, path := range []string{f.ExistingFile, f.DirectoryPath, f.MissingPath} {
		if path == "" {
			continue
		}
		info, err := p.fs.Stat(p.ctx, path)
		seen[path] = fmt.Sprintf("%s of %d bytes, version %q, %v", info.Kind, info.Size, info.Version, ambit.ReasonOf(err))
	}
	if f.ListDirectory != "" && p.caps.List {
		for name, kind := range p.kinds(f.ListDirectory, nil) {
			seen[ambit.Join(f.ListDirectory, name)] = kind.String()
		}
	}
	return seen
}

// inFixture is the requirement of a field of a fixture.
func inFixture(field string, given bool) requirement {
	return requirement{name: field + " in its fixture", notRun: true, met: func(ambit.Capabilities, *Target) bool { return given }}
}

// checks are those of the suite's checks that can be run on the fixture.
func (f *ReadFixture) checks() []*check {
	var list []*check
	rules := make(map[string]string)
	for _, c := range coreChecks() {
		rules[c.id] = c.rule
		switch {
		case c.refusedCell != nil:
			if moved := f.moved(c); moved != nil {
				list = append(list, moved)
			}
		case c.anywhere:
			list = append(list, c)
		}
	}
	for _, c := range f.own() {
		if c.rule == "" {
			c.rule = rules[c.id]
		}
		list = append(list, c)
	}
	return list
}

// moved is a check of refusals, made for the standard tree, on the fixture's
// own paths; nil if it speaks of what a fixture does not name.
func (f *ReadFixture) moved(c *check) *check {
	var paths []string
	var needs []requirement
	for _, path := range append([]string{c.refusedCell.path}, c.refusedCell.others...) {
		if _, _, err := ambit.Resolve("/", path); err != nil || textual(path) == "/" && path == "/" {
			paths = append(paths, path)
			continue
		}
		name, rest, slash := strings.Cut(path, "/")
		if slash {
			rest = "/" + rest
		}
		field, at := "", ""
		switch {
		case name == "file":
			field, at = "ExistingFile", f.ExistingFile
		case name == "gone":
			field, at = "MissingPath", f.MissingPath
		case name == "folder" && strings.Trim(rest, "/.") == "" && !strings.Contains(rest, ".."):
			field, at = "DirectoryPath", f.DirectoryPath
		default:
			continue
		}
		if at == "" {
			needs = append(needs, inFixture(field, false))
			continue
		}
		paths = append(paths, at+rest)
	}
	switch {
	case len(paths) > 0:
		needs = nil
	case len(needs) == 0:
		return nil
	default:
		needs = needs[:1]
		paths = []string{"/"} // never tried
	}
	m := *c
	m.requires = append(needs, c.requires...)
	here := *c.refusedCell
	here.path, here.others = paths[0], paths[1:]
	here.links = true // whether there are links in the fixture's paths is not known
	m.run = here.check
	return &m
}

// own are the checks of what the fixture alone tells. Those without a rule
// have that of the suite's check of the same ID.
func (f *ReadFixture) own() []*check {
	file := inFixture("ExistingFile", f.ExistingFile != "")
	content := inFixture("Bytes", f.ExistingFile != "" && f.Bytes != nil)
	dir := inFixture("DirectoryPath", f.DirectoryPath != "")
	list := inFixture("ListDirectory", f.ListDirectory != "")
	readAt := []requirement{content, needReadAt}
	return []*check{
		{
			id: "core/open-file", requires: []requirement{content},
			run: func(p *probe) {
				for _, path := range []string{f.ExistingFile, "/." + f.ExistingFile, "/" + f.ExistingFile} {
					open := p.open(path)
					data, err := io.ReadAll(open)
					if err != nil || string(data) != string(f.Bytes) {
						p.errorf("%q holds %s, %v, want %s", path, brief(string(data)), err, brief(string(f.Bytes)))
					}
					if n, err := open.Read(make([]byte, 1)); n != 0 || err != io.EOF {
						p.errorf("a read at the end: %d, %v, want plain io.EOF", n, err)
					}
					open.Close()
				}
				p.holds(f.ExistingFile, string(f.Bytes))
			},
		},
		{
			id: "core/file-info", requires: []requirement{file},
			run: func(p *probe) {
				open := p.open(f.ExistingFile)
				info := open.Info()
				p.agree(info, "Stat", p.stat(f.ExistingFile))
				p.agree(info, "Stat of the canonical path", p.stat(info.Path))
				p.canonical("Info's path", info.Path)
				if f.Bytes != nil && info.Size != int64(len(f.Bytes)) && info.Size != -1 {
					p.errorf("the size is %d, want %d", info.Size, len(f.Bytes))
				}
				open.Close()
				if now := open.Info(); now != info {
					p.errorf("Info changed with Close: %+v, was %+v", now, info)
				}
			},
		},
		{
			id: "core/read-at", requires: readAt,
			run: func(p *probe) {
				open := p.open(f.ExistingFile)
				defer open.Close()
				at := open.(io.ReaderAt)
				size := len(f.Bytes)
				for _, off := range []int{0, 1, size / 2, size - 1, size, size + 1} {
					for _, n := range []int{0, 1, 10, size, size + 1} {
						if off < 0 {
							continue
						}
						b := make([]byte, n)
						got, err := at.ReadAt(b, int64(off))
						want := f.Bytes[min(off, size):min(off+n, size)]
						if string(b[:got]) != string(want) || err != nil && err != io.EOF || got < n && err != io.EOF {
							p.errorf("%d bytes at %d: %s, %v, want %s", n, off, brief(string(b[:got])), err, brief(string(want)))
						}
					}
				}
				_, err := at.ReadAt(make([]byte, 1), -1)
				p.refused(ambit.OpRead, f.ExistingFile, err, ambit.ErrInvalid)
			},
		},
		{
			id: "core/positions", requires: []requirement{content},
			run: func(p *probe) {
				a, b := p.open(f.ExistingFile), p.open(f.ExistingFile)
				defer a.Close()
				defer b.Close()
				first := make([]byte, len(f.Bytes)/2)
				if _, err := io.ReadFull(a, first); err != nil {
					p.errorf("reading: %v", err)
				}
				if data, err := io.ReadAll(b); err != nil || string(data) != string(f.Bytes) {
					p.errorf("the second file read %s, %v", brief(string(data)), err)
				}
				if rest, err := io.ReadAll(a); err != nil || string(first)+string(rest) != string(f.Bytes) {
					p.errorf("the first file went on with %s, %v", brief(string(rest)), err)
				}
			},
		},
		{
			id: "core/closed-file", requires: []requirement{file},
			run: func(p *probe) {
				open := p.open(f.ExistingFile)
				for range 2 {
					if err := open.Close(); err != nil {
						p.errorf("close: %v", err)
					}
				}
				_, err := open.Read(make([]byte, 1))
				p.refused(ambit.OpRead, f.ExistingFile, err, ambit.ErrClosed)
				p.refused(ambit.OpVerify, f.ExistingFile, open.Verify(p.ctx), ambit.ErrClosed)
			},
		},
		{
			id: "core/verify", requires: []requirement{file},
			run: func(p *probe) {
				open := p.open(f.ExistingFile)
				defer open.Close()
				for range 2 {
					if err := open.Verify(p.ctx); err != nil {
						p.errorf("verify: %v", err)
					}
					io.CopyN(io.Discard, open, 1)
				}
			},
		},
		{
			id: "core/fixture-too-large", requires: []requirement{content},
			rule: "ReadFileMax gives a file of just the limit whole and refuses a larger one as too-large.",
			run: func(p *probe) {
				size := int64(len(f.Bytes))
				if data, _, err := ambit.ReadFileMax(p.ctx, p.fs, f.ExistingFile, size); err != nil || string(data) != string(f.Bytes) {
					p.errorf("a file of the limit: %s, %v", brief(string(data)), err)
				}
				if size == 0 {
					return
				}
				_, _, err := ambit.ReadFileMax(p.ctx, p.fs, f.ExistingFile, size-1)
				p.refused(ambit.OpOpen, f.ExistingFile, err, ambit.ErrTooLarge)
			},
		},
		{
			id: "core/stat-folder", requires: []requirement{dir},
			run: func(p *probe) {
				for _, path := range []string{f.DirectoryPath, f.DirectoryPath + "/", f.DirectoryPath + "/."} {
					info := p.stat(path)
					p.canonical("the folder's path", info.Path)
					if info.Kind != ambit.KindDirectory || info.Version != "" {
						p.errorf("stat %q: %s with version %q, want a folder without", path, info.Kind, info.Version)
					}
				}
			},
		},
		{
			id: "core/list-sorted", requires: []requirement{list, needList},
			run: func(p *probe) {
				l := p.page(f.ListDirectory, nil)
				if !slices.IsSortedFunc(l.Entries, byName) || l.Next != "" {
					p.errorf("the entries are not sorted by name in byte order, or Next is %q", l.Next)
				}
				for i := 1; i < len(l.Entries); i++ {
					if l.Entries[i].Name == l.Entries[i-1].Name {
						p.errorf("%q is listed twice", l.Entries[i].Name)
					}
				}
			},
		},
		{
			id: "core/list-entries", requires: []requirement{list, needList},
			run: func(p *probe) {
				for _, details := range []bool{false, true} {
					l := p.page(f.ListDirectory, &ambit.ListOptions{Details: details})
					p.canonical("the listing's Dir", l.Dir)
					for _, e := range l.Entries {
						if e.Info.Path != ambit.Join(l.Dir, e.Name) {
							p.errorf("the entry %q has the path %q", e.Name, e.Info.Path)
						}
						if e.Info.Kind != ambit.KindRegular && e.Info.Kind != ambit.KindDirectory {
							continue
						}
						if info, err := p.fs.Stat(p.ctx, e.Info.Path); err == nil && details {
							p.agree(info, "List", e.Info)
						} else if err == nil && info.Kind != e.Info.Kind {
							p.errorf("the entry %q is a %s, Stat says %s", e.Name, e.Info.Kind, info.Kind)
						}
					}
				}
			},
		},
		{
			id: "core/list-pages", requires: []requirement{list, needList},
			run: func(p *probe) {
				whole := p.page(f.ListDirectory, nil).Entries
				for _, limit := range []int{1, 2, 7, max(1, len(whole)-1), max(1, len(whole)), len(whole) + 1} {
					if len(whole)/limit > 200 {
						continue // a page an entry of a huge folder proves no more
					}
					var got []ambit.Entry
					o := &ambit.ListOptions{Limit: limit}
					for {
						l := p.page(f.ListDirectory, o)
						got = append(got, l.Entries...)
						if len(l.Entries) > limit || l.Next == "" || l.Next <= o.After {
							break
						}
						o.After = l.Next
					}
					if !slices.EqualFunc(got, whole, func(a, b ambit.Entry) bool { return a.Name == b.Name }) {
						p.errorf("pages of %d put together have %d entries, the whole listing has %d, or others", limit, len(got), len(whole))
					}
				}
			},
		},
		{
			id:       "core/fixture-refused-path",
			rule:     "What the file system must refuse is outside, denied or permission, for one reason in every method that reads.",
			requires: []requirement{inFixture("RefusedPath", f.RefusedPath != "")},
			run: func(p *probe) {
				var first ambit.Reason
				for _, a := range attempts() {
					// A link itself may be described.
					if a.changes() || !a.claimed(p) || a.op == ambit.OpLstat || a.op == ambit.OpReadLink {
						continue
					}
					_, err := a.call(p, f.RefusedPath)
					p.refused(a.op, f.RefusedPath, err, refusals...)
					if first == "" {
						first = ambit.ReasonOf(err)
					} else if got := ambit.ReasonOf(err); got != first {
						p.errorf("%s %q: %s, and another method said %s", a.op, f.RefusedPath, got, first)
					}
				}
			},
		},
		{
			id:       "core/verify-foreign-replacement",
			requires: []requirement{inFixture("Mutate", f.Mutate != nil && f.ExistingFile != ""), quality("Versions", func(c ambit.Capabilities) bool { return c.Versions })},
			run: func(p *probe) {
				open := p.open(f.ExistingFile)
				defer open.Close()
				if err := open.Verify(p.ctx); err != nil {
					p.errorf("verify before the change: %v", err)
				}
				if err := f.Mutate(p.ctx); err != nil {
					p.fatalf("Mutate failed: %v", err)
				}
				p.refused(ambit.OpVerify, f.ExistingFile, open.Verify(p.ctx), ambit.ErrChanged)
				if now, err := p.fs.Stat(p.ctx, f.ExistingFile); err == nil && now.Version == open.Info().Version {
					p.errorf("the version after the change is the one before: %q", now.Version)
				}
			},
		},
	}
}

// refusals are the reasons for which a place may be out of bounds.
var refusals = []ambit.Reason{ambit.ErrOutside, ambit.ErrDenied, ambit.ErrPermission}

func byName(a, b ambit.Entry) int { return strings.Compare(a.Name, b.Name) }

// page returns a page of dir or ends the check.
func (p *probe) page(dir string, o *ambit.ListOptions) *ambit.Listing {
	l, err := p.fs.List(p.ctx, dir, o)
	if err != nil || l == nil {
		p.fatalf("list %q: %v, %v", dir, l, err)
	}
	return l
}

// WriteFixture tells [CheckWritableFileSystem] where it may work.
type WriteFixture struct {
	// ScratchDirectory is an empty folder. The run works in folders that it
	// makes in it, removes them, and leaves it empty.
	ScratchDirectory string

	// RefusedPath is a name where the file system must refuse every change.
	// Nothing is changed there if it does not. Optional: empty, its check
	// reads "not run".
	RefusedPath string
}

// CheckWritableFileSystem runs the checks of changes, of text and of concurrency
// on a file system that exists already, each in a folder of its own within the
// scratch folder. A folder that is missing or not empty is a problem of the
// report, and is left as it is. The file system needs List, Write and Remove.
//
// A check that is left behind at its deadline may go on to write after its
// folder was removed.
func CheckWritableFileSystem(ctx context.Context, fsys ambit.FileSystem, f WriteFixture) *Report {
	r := fixtureRunner(fsys)
	s := &scratch{fsys: fsys, roots: make(map[string]bool)}
	if err := r.learn(ctx); err != nil {
		r.problem("the file system does not answer: %v", err)
		return r.report
	}
	if err := s.open(ctx, r, f.ScratchDirectory); err != nil {
		r.problem("the scratch folder cannot be used: %v", err)
		return r.report
	}
	r.target.New = s.build
	r.linkless = true
	r.beyond = func(c *check) string {
		if slices.ContainsFunc(c.requires, func(req requirement) bool { return req.name == needLinks.name }) {
			return "links cannot be made in a scratch folder"
		}
		return ""
	}
	for _, c := range slices.Concat(writeChecks(), textChecks(), concurrentChecks()) {
		if !c.machine {
			r.report.Results = append(r.report.Results, r.one(ctx, c))
		}
	}
	r.report.Results = append(r.report.Results, r.one(ctx, f.refusedCheck(fsys)))
	if err := s.close(ctx); err != nil {
		r.problem("the scratch folder is not as clean as it was: %v", err)
	}
	return r.report
}

// refusedCheck tries changes at RefusedPath that change nothing even where
// they are let through.
func (f WriteFixture) refusedCheck(fsys ambit.FileSystem) *check {
	return &check{
		id:       "write/fixture-refused-path",
		rule:     "A change where the file system must refuse it is outside, denied, permission or read-only.",
		requires: []requirement{inFixture("RefusedPath", f.RefusedPath != "")},
		run: func(p *probe) {
			p = p.on(fsys) // not the folder of this check
			reasons := append([]ambit.Reason{ambit.ErrReadOnly}, refusals...)
			for op, err := range p.contents(f.RefusedPath, func() io.Reader { return failingReader("", errors.New("not to be published")) }) {
				p.refused(op, f.RefusedPath, err, reasons...)
			}
			for _, a := range attempts() {
				if slices.Contains([]string{"remove-if-version", "rename-from-if-version"}, a.id) && a.claimed(p) {
					_, err := a.call(p, f.RefusedPath)
					p.refused(a.op, f.RefusedPath, err, reasons...)
				}
			}
		},
	}
}

// scratch is a folder in which each check gets a folder of its own.
type scratch struct {
	fsys ambit.FileSystem
	dir  string // canonical

	mu    sync.Mutex // a check that hung may be at it still
	n     int
	roots map[string]bool // made and not removed yet
}

// open judges the folder without touching it.
func (s *scratch) open(ctx context.Context, r *runner, dir string) error {
	if dir == "" {
		return errors.New("the fixture names none")
	}
	if !r.caps.Write || !r.caps.Remove || !r.caps.List {
		return errors.New("the file system must claim List, Write and Remove")
	}
	outcome, detail := r.on(ctx, nil, func(p *probe) {
		l := p.page(dir, nil)
		if len(l.Entries) > 0 {
			p.fatalf("%q is not empty: it holds %q", dir, l.Entries[0].Name)
		}
		s.dir = l.Dir
	})
	if outcome != Pass {
		return errors.New(detail)
	}
	return nil
}

// build makes a folder with tree in it and returns it as a file system.
func (s *scratch) build(ctx context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
	s.mu.Lock()
	s.n++
	root := ambit.Join(s.dir, fmt.Sprintf("check-%d", s.n))
	s.roots[root] = true
	s.mu.Unlock()
	remove := func() error {
		err := s.remove(ctx, root)
		if err == nil {
			s.mu.Lock()
			delete(s.roots, root)
			s.mu.Unlock()
		}
		return err
	}
	if err := s.fill(ctx, root, tree); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return ambit.MapPaths(s.fsys, beneath(root)), remove, nil
}

// fill makes the folder root with tree in it.
func (s *scratch) fill(ctx context.Context, root string, tree Tree) error {
	if err := s.folder(ctx, root); err != nil {
		return err
	}
	return tree.Build(ctx, ambit.MapPaths(s.fsys, beneath(root)))
}

// folder makes the folder root.
func (s *scratch) folder(ctx context.Context, root string) error {
	return Tree{{Path: root[1:], Kind: ambit.KindDirectory}}.Build(ctx, s.fsys)
}

// remove removes a folder, also after the end of ctx.
func (s *scratch) remove(ctx context.Context, root string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return ambit.Remove(ctx, s.fsys, root, &ambit.RemoveOptions{Recursive: true, MissingOK: true})
}

// close removes what hung checks have left, and looks whether all is gone.
func (s *scratch) close(ctx context.Context) error {
	s.mu.Lock()
	left := slices.Sorted(maps.Keys(s.roots))
	s.mu.Unlock()
	var errs []error
	for _, root := range left {
		errs = append(errs, s.remove(ctx, root))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	l, err := s.fsys.List(ctx, s.dir, nil)
	errs = append(errs, err)
	if err == nil {
		for _, e := range l.Entries {
			errs = append(errs, fmt.Errorf("%q is left", e.Info.Path))
		}
	}
	return errors.Join(errs...)
}

// beneath shows the folder root as "/".
func beneath(root string) ambit.PathMap {
	return ambit.PathMap{
		In: func(path string) (string, error) {
			clean, dir, err := ambit.Resolve("/", path)
			if err != nil {
				return "", err
			}
			inner := root
			if clean != "/" {
				inner += clean
			}
			if dir && clean != "/" {
				inner += "/"
			}
			return inner, nil
		},
		Out: func(canonical string) (string, bool) {
			if !ambit.Contains(root, canonical) {
				return "", false
			}
			return "/" + strings.TrimPrefix(canonical[len(root):], "/"), true
		},
	}
}
