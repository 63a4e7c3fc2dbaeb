// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// plan is what a patch does to a file system, worked out section by section.
type plan struct {
	*tree
	patch  *Patch
	report *Report
	effort *effort

	carriage bool // a line of the patch has a CR

	at []endpoints // of each section

	leaving map[string]int // by canonical path, the last section with Original that moves the file away
	arrived map[*node]int  // names whose file has yet to leave, and the section that has put another there
}

// endpoints are the nodes that a section speaks of, as far as they are known: to
// is that of the new name, or from.
type endpoints struct{ from, to *node }

// stops reports that after an error with reason r nothing more can be found out.
func stops(r ambit.Reason) bool {
	switch r {
	case ambit.ErrCanceled, ambit.ErrTimeout, ambit.ErrClosed, ambit.ErrUnauthorized, ambit.ErrUnreachable:
		return true
	}
	return false
}

// judge works out all sections. It goes on after a problem, to find all.
func (p *plan) judge() {
	p.at = make([]endpoints, len(p.patch.Sections))
	p.carriage = p.patch.hasCarriage()
	p.leaving, p.arrived = make(map[string]int), make(map[*node]int)
	for i := range p.patch.Sections {
		if s := &p.patch.Sections[i]; s.Original && s.Action == Update && s.To != "" {
			clean, err := p.clean(s.Path)
			if to, toErr := p.clean(s.To); err == nil && clean != "" && (toErr != nil || to != clean) {
				p.leaving[clean] = i
			}
		}
	}
	for i := range p.patch.Sections {
		s := &p.patch.Sections[i]
		p.report.Files = append(p.report.Files, File{
			Line: s.Line, Action: s.Action, Path: s.Path, To: s.To, State: StateUnchanged,
		})
		if err := p.ctx.Err(); err != nil {
			p.report.addProblem(s.Line, s.Path, context.Cause(p.ctx))
			return
		}
		known := len(p.report.Problems)
		p.section(i, s)
		if len(p.report.Problems) > known && stops(p.report.Problems[len(p.report.Problems)-1].Err.Reason) {
			return
		}
	}
	p.judgeArrived()
	p.judgeTogether()
}

// judgeArrived refuses what was put in the place of a file that did not leave
// after all: two names of the patch may lead to one file.
func (p *plan) judgeArrived() {
	for _, n := range p.order {
		if i, ok := p.arrived[n]; ok && !n.doubtful {
			s := &p.patch.Sections[i]
			p.report.addProblem(s.Line, s.To, &ambit.Error{Reason: ambit.ErrExists, Kind: ambit.KindRegular, Target: n.path})
		}
	}
}

// section does the section with the index i to the tree.
func (p *plan) section(i int, s *Section) {
	var faults []Problem
	fault := func(line int, path string, err error) {
		r := Report{}
		r.addProblem(line, path, err)
		faults = append(faults, r.Problems...)
	}
	faults = append(faults, s.check()...)
	sound := len(faults) == 0
	file := &p.report.Files[i]
	ends := &p.at[i]

	moves := s.Action == Copy || s.Action == Update && s.To != ""
	var err error
	switch {
	case s.Action == Update && !moves:
		ends.from, err = p.follow(s.Path, len(s.Hunks) > 0)
	case s.Action == Add || s.Action == Delete || moves:
		ends.from, err = p.find(s.Path)
	}
	if err == nil && ends.from != nil {
		file.Path, file.Before = ends.from.path, ends.from.before
		switch n := ends.from; {
		case s.Action == Add:
			err = p.free(n)
		case s.Action == Delete && n.before.Kind == ambit.KindSymlink && !n.gone:
			err = p.removable(s)
		case s.Original && n.isFile():
			if s.Action == Update && moves {
				err = p.unchanged(s, n)
			}
		case s.Original && n.now != nil:
			err = &ambit.Error{Reason: ambit.ErrNotFound, Target: n.path, Detail: "it was not there before the patch"}
		default:
			err = n.file()
		}
	}
	if err != nil {
		fault(s.Line, s.Path, err)
	}
	from, to := ends.from, ends.from
	arrives := false
	if moves && s.To != "" {
		if to, err = p.find(s.To); err == nil {
			file.To = to.path
			switch {
			case to == from && s.Original && s.Action != Copy && to.now != to.disk:
				// What is there now would have to give way to what was.
				if err = p.free(to); err == nil {
					err = to.file()
				}
			case to == from && s.Action != Copy:
			case to != from && s.Original && to.now != nil && to.now == to.disk && p.leaving[to.path] > i:
				arrives = true // and what is there is moved away further down
			default:
				err = p.free(to)
			}
		}
		if err != nil {
			fault(s.Line, s.To, err)
		}
	}
	ends.to = to

	// What could not be looked at, or is in doubt, cannot be judged further.
	var now *content
	if sound && s.Action == Add {
		now = &content{data: added(s.Hunks), known: true, edited: true}
		if err := p.small(now.data); err != nil {
			fault(s.Line, s.Path, err)
		}
	} else if source := s.source(from); sound && source != nil && !from.doubtful {
		var problems []Problem
		now, problems = p.changed(s, source, file)
		faults = append(faults, problems...)
	}
	doubtful := from != nil && from.doubtful || to != nil && to.doubtful
	if len(faults) > 0 || doubtful {
		for _, n := range []*node{from, to} {
			if n != nil && (n.isFile() || n.before.Kind == ambit.KindUnknown) {
				n.doubtful = true
			}
		}
		if !doubtful {
			p.report.Problems = append(p.report.Problems, faults...)
		}
		return
	}
	switch {
	case s.Action == Add:
		if executable := s.Mode&0o111 != 0; from.isFile() && s.Mode != 0 {
			now.mode = withExecution(from.before.Mode.Perm(), executable)
		} else if executable {
			now.mode = 0o755
		}
		p.put(from, now)
	case s.Action == Delete && from.now == nil:
		from.gone = true
	case s.Action == Delete:
		p.take(from)
	default:
		if s.Mode != 0 && now.mode != 0 {
			if mode := withExecution(now.mode, s.Mode&0o111 != 0); mode != now.mode {
				c := *now
				c.mode = mode
				now = &c
			}
		}
		if to != from && s.Action == Update {
			// Another file may have come to the old name already.
			if from.now != nil && (!s.Original || from.now.origin == from) {
				p.take(from)
			}
			if s.Original {
				delete(p.arrived, from)
			}
			from.sections = append(from.sections, i)
		}
		if arrives {
			p.arrived[to] = i
		}
		p.put(to, now)
	}
	to.sections = append(to.sections, i)
}

// unchanged returns the error of a file that the section s moves away as it was
// before the patch, and that the patch has changed further up.
func (p *plan) unchanged(s *Section, n *node) error {
	if n.doubtful || n.now == nil || n.now == n.disk || n.now.origin != n {
		return nil
	}
	above := p.patch.Sections[n.sections[len(n.sections)-1]].Line
	return &ambit.Error{
		Reason: ambit.ErrInvalid, Target: n.path,
		Detail: fmt.Sprintf("line %d of the patch changes the file, and line %d moves it away as it was before the patch: the change would be lost", above, s.Line),
	}
}

// source returns the file of n that the section is about, nil for none.
func (s *Section) source(n *node) *content {
	switch {
	case n == nil:
		return nil
	case s.Original:
		return n.disk
	}
	return n.now
}

// withExecution returns the mode with the right to execute for all who may read,
// or for nobody, as git sets it.
func withExecution(mode fs.FileMode, executable bool) fs.FileMode {
	if !executable {
		return mode &^ 0o111
	}
	return mode | mode&0o444>>2
}

// removable returns the error of the removal of a link.
func (p *plan) removable(s *Section) error {
	switch {
	case len(s.Hunks) > 0:
		return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindSymlink, Detail: "a link has no lines to compare with"}
	case !p.caps.Commit:
		return &ambit.Error{Reason: ambit.ErrUnsupported, Kind: ambit.KindSymlink, Detail: "the removal of a link could not be undone"}
	}
	return nil
}

// added returns the content of a file made of a hunk of added lines.
func added(hunks []Hunk) []byte {
	var data []byte
	for _, h := range hunks {
		for _, l := range h.Lines {
			data = append(data, l.Text...)
		}
	}
	return data
}

// changed returns c with the hunks of the section applied, or what is wrong.
func (p *plan) changed(s *Section, c *content, file *File) (*content, []Problem) {
	if len(s.Hunks) == 0 {
		return c, nil
	}
	r := &Report{}
	data, err := p.load(c)
	if err != nil {
		r.addProblem(s.Line, s.Path, err)
		return c, r.Problems
	}
	d, err := decode(data, s.Hunks)
	if err != nil {
		r.addProblem(s.Line, s.Path, err)
		return c, r.Problems
	}
	var all []placed
	var misfits []misfit
	d.effort = p.effort
	if s.Action == Delete {
		all, misfits = placeWhole(d.text, s.Hunks)
	} else {
		all, misfits = place(d.text, s.Hunks, p.carriage)
	}
	if p.effort.err != nil {
		r.addProblem(s.Line, s.Path, p.effort.err)
		return c, r.Problems
	}
	hint := ""
	if slices.ContainsFunc(misfits, func(m misfit) bool { return m.err.Reason == ambit.ErrNoMatch }) {
		hint = d.hint(data)
	}
	for _, m := range misfits {
		if m.err.Reason == ambit.ErrNoMatch {
			m.err.Detail += hint
		}
		r.addProblem(m.hunk.Line, s.Path, m.err)
	}
	for _, pl := range all {
		file.Hunks = append(file.Hunks, Placement{Line: pl.hunk.Line, At: pl.at + 1})
	}
	if len(misfits) > 0 || s.Action == Delete {
		return c, r.Problems
	}
	content, regions, err := d.rewrite(all)
	if err == nil {
		if h := d.mixes(s.Hunks, content); h != nil {
			r.addProblem(h.Line, s.Path, &ambit.Error{
				Reason: ambit.ErrNotText,
				Detail: "the file is not UTF-8: its bytes stay, but the patch would add text in UTF-8",
			})
			return c, r.Problems
		}
		err = p.small(content)
	}
	if err != nil {
		r.addProblem(s.Line, s.Path, err)
		return c, r.Problems
	}
	if bytes.Equal(content, data) {
		return c, nil
	}
	now := *c
	now.data, now.known, now.edited, now.base, now.regions = content, true, true, nil, nil
	if !c.edited { // else all that was in between would be kept
		now.base, now.regions = c, regions
	}
	return &now, nil
}

// hasCarriage reports whether a line of the patch has a CR.
func (p *Patch) hasCarriage() bool {
	for i := range p.Sections {
		for j := range p.Sections[i].Hunks {
			for _, l := range p.Sections[i].Hunks[j].Lines {
				if strings.Contains(l.Text, "\r") {
					return true
				}
			}
		}
	}
	return false
}

// small returns the error of content that is over a limit.
func (p *plan) small(content []byte) error {
	size, limit := int64(len(content)), p.max
	if p.caps.MaxFileSize > 0 {
		limit = min(limit, p.caps.MaxFileSize)
	}
	if size > limit {
		return &ambit.Error{Reason: ambit.ErrTooLarge, Limit: limit, Size: size}
	}
	return nil
}

// judgeTogether refuses changes of one file under two of its names: it is not to
// be known whether one of them shows in the other.
func (p *plan) judgeTogether() {
	seen := make(map[string]*node)
	for _, n := range p.order {
		if n.before.ID == "" || n.doubtful || !p.changes(n) {
			continue
		}
		first := seen[n.before.ID]
		if first == nil {
			seen[n.before.ID] = n
			continue
		}
		s := &p.patch.Sections[n.sections[0]]
		p.report.addProblem(s.Line, s.Path, &ambit.Error{
			Reason: ambit.ErrInvalid, Target: n.path,
			Detail: fmt.Sprintf("it is the same file as %q, which the patch changes too, by another hard link", first.path),
		})
	}
}

// changes reports whether something has to be done about n.
func (p *plan) changes(n *node) bool {
	switch {
	case n.gone:
		return true
	case !n.isFile() || n.now == nil:
		return n.isFile() != (n.now != nil)
	case n.now == n.disk:
		return false
	case p.caps.KeepsMode && n.now.mode != 0 && n.now.mode != n.disk.mode:
		return true
	case !n.now.edited:
		return n.now.origin != n
	case !n.now.known || int64(len(n.now.data)) != n.before.Size:
		return true
	}
	data, err := p.load(n.disk)
	return err != nil || !bytes.Equal(data, n.now.data)
}

// commit returns the changes that make the file system what the tree is, and
// the node of each.
func (p *plan) commit() (changes []ambit.Change, of []*node) {
	for _, n := range p.order {
		if !p.changes(n) {
			continue
		}
		c := ambit.Change{Op: ambit.OpRemove, Path: n.path}
		if n.isFile() {
			c.If = ambit.IfVersion(n.before.Version)
		}
		if n.now != nil {
			c.Op = ambit.OpWrite
			c.Content = p.reader(n.now)
			if !n.isFile() {
				c.If, c.Parents = ambit.IfAbsent(), true
			}
			if mode := n.now.mode; p.caps.KeepsMode && (!n.isFile() || mode != n.disk.mode) {
				c.Mode = mode
			}
		}
		changes, of = append(changes, c), append(of, n)
	}
	return changes, of
}

// reader returns a reader of the bytes of c.
func (p *plan) reader(c *content) io.Reader {
	if c.known {
		return bytes.NewReader(c.data)
	}
	if c.origin.disk.known {
		return bytes.NewReader(c.origin.disk.data)
	}
	return &stream{ctx: p.ctx, fsys: p.fsys, of: c.origin}
}

// stream reads a file that was looked at and not read, however large it is. It
// opens the file when it is read first, so that of many only one is open.
type stream struct {
	ctx  context.Context
	fsys ambit.FileSystem
	of   *node
	file ambit.File
	err  error
}

func (s *stream) Read(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.file == nil {
		if s.err = s.open(); s.err != nil {
			return 0, s.err
		}
	}
	n, err := s.file.Read(b)
	if err == io.EOF {
		if changed := s.file.Verify(s.ctx); changed != nil {
			err = changed
		}
	}
	if err != nil {
		s.err = err
		s.file.Close()
	}
	return n, err
}

func (s *stream) open() error {
	f, err := s.fsys.Open(s.ctx, s.of.path)
	if err != nil {
		return err
	}
	if f.Info().Version != s.of.before.Version {
		f.Close()
		return &ambit.Error{Reason: ambit.ErrChanged, Target: s.of.path, Detail: "the file has changed since the patch was judged"}
	}
	s.file = f
	return nil
}

// close closes what a refused call has left open.
func (s *stream) close() {
	if s.file != nil {
		s.file.Close()
	}
}
