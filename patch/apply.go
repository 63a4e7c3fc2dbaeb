// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"context"
	"slices"

	"github.com/ambitfs/ambit"
)

// Options are the options of [Apply]; nil means the zero value.
type Options struct {
	// DryRun finds out all that Apply would, as far as it can be found out
	// without doing it, and changes nothing. It cannot tell that one commit over
	// all the files is not to be had, as where they lie in several members of a
	// route, that there is no room for them, nor what somebody else does until
	// then.
	DryRun bool

	// MaxBytes is the size in bytes above which a file whose lines the patch
	// names is refused as ErrTooLarge, before the patch or after it; 0: 64 MiB.
	// A file that is only moved, copied or removed may have any size.
	MaxBytes int64
}

const defaultMaxBytes = 64 << 20

// Apply makes all changes of the patch p, or none. It judges every section
// first, each on what the ones before it would leave, and reports all problems
// at once; if there are none it makes the changes by one [ambit.Commit], each on
// the condition that the file is still the one judged: what has changed
// meanwhile is [ambit.ErrChanged] and nothing is done, also where a file is only
// moved or removed. It does not try again. At a file that is judged and not
// written, as the one a copy is made of, no condition holds: it is looked at once
// more right before the commit, and when that has read all new content. What
// happens to it after that is not seen.
//
// The report is there also with an error. The error has the path, reason and
// facts of the first problem, and in its Detail all of them with their lines in
// the patch. Nothing is changed, but for three reasons: with
// [ambit.ErrNotDurable] all is applied, with [ambit.ErrPartial] and
// [ambit.ErrOutcomeUnknown] the report has the state of each file.
//
// # Files
//
// An update follows a link and changes its target. A link cannot be moved or
// copied ([ambit.ErrNotAFile]); Delete removes the link itself where the file
// system has Commit, whatever it is by then, for no precondition speaks of a
// link. Whatever is at the name of a new file is in its way
// ([ambit.ErrExists]): a file, a folder, a link wherever it leads; but not a file
// that the patch moves away, where moves are of files as they were before it
// ([Section].Original). A move onto its own name keeps the file. Folders above a new file are made. A file that a
// patch leaves as it is is not written.
//
// A file that may not be written may be moved or removed where its folder allows
// that, but not moved with another content.
//
// A file that is changed or moved keeps its mode, and a copy gets it. Where the
// patch tells a mode, it sets the rights to execute for all who may read, or
// takes them from all, as git does. A new file has the mode that the file
// system gives, or 0755, whatever the umask is. A file that takes the place of
// one which the same patch deletes keeps the other rights of that.
//
// # Hunks
//
// A hunk fits where the lines that it removes and its context stand, one after
// the other, behind the hunk before it. A hunk of a unified diff goes to its
// line number if it fits there, endings included; otherwise, and always in the
// other format, it must fit in one place: none is [ambit.ErrNoMatch], whose
// Detail tells the nearest, and several are [ambit.ErrAmbiguous], with Lines and
// Total. A hunk without old lines adds behind the line that its number names
// ([ambit.ErrOutOfRange] past the end), behind the line of its last anchor, or
// at the end of the file; one that does not say where is ErrAmbiguous, but in an
// empty file.
//
// Anchors narrow the places to those behind a line that the last of them names,
// which itself comes after one that the anchor before it names, and so on. All
// places further down count, so that two are ambiguous even if one of them is
// nearer. An anchor names the lines that are the same but for white space around
// them; if it is indented, and lines are the same with the indentation, only
// those.
//
// The comparison is of bytes. Endings of lines do not count in the other format,
// nor in a unified diff which fits nowhere with them: then what is added takes
// the ending of the place that it comes to, and the end of the file stays with
// or without one, as it was, unless the diff itself changes that. What a hunk of a
// unified diff without old lines adds comes as it stands in the diff, unless all
// lines of the file end in CR LF, the patch has no CR, and another hunk of the
// section fits without the endings alone. Context lines and all that no hunk names keep their bytes, whatever they are. A byte order
// mark stays, unless a unified diff names it. In a file that is not UTF-8, bytes
// stay as they are; to add text in UTF-8 that is not ASCII to them is
// [ambit.ErrNotText], but for what the patch removes there too. A hunk of Delete must be the whole
// content of the file.
//
// Apply needs the write side ([ambit.ErrReadOnly]), versions and preconditions
// ([ambit.ErrUnsupported]). It may be called by several goroutines, with one
// patch too.
func Apply(ctx context.Context, fsys ambit.FileSystem, p *Patch, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	report := &Report{}
	if err := refusal(ctx, fsys, p, o); err != nil {
		line, path := 0, ""
		if p != nil && len(p.Sections) > 0 {
			line, path = p.Sections[0].Line, p.Sections[0].Path
		}
		report.addProblem(line, path, err)
		return report, report.Problems[0].Err
	}
	limit := o.MaxBytes
	if limit == 0 {
		limit = defaultMaxBytes
	}
	plan := &plan{
		tree: newTree(ctx, fsys, limit), patch: p, report: report,
		effort: &effort{ctx: ctx, hints: maxHints},
	}
	plan.judge()
	if len(report.Problems) > 0 {
		return report, plan.refuse()
	}
	report.Diff, report.DiffClipped = plan.diff()
	changes, of := plan.commit()
	plan.describe()
	if o.DryRun {
		plan.blameMoves()
		plan.probe(changes, of, false)
		if len(report.Problems) > 0 {
			return report, plan.refuse()
		}
		return report, nil
	}
	return report, plan.publish(changes, of)
}

// refusal returns the error of a call that is wrong whatever the sections say.
func refusal(ctx context.Context, fsys ambit.FileSystem, p *Patch, o *Options) error {
	if _, err := ambit.Writable(fsys); err != nil {
		return err
	}
	switch caps := fsys.Capabilities(); {
	case !caps.Versions || caps.Swap == ambit.SwapNone:
		return &ambit.Error{
			Reason: ambit.ErrUnsupported,
			Detail: "a patch needs a file system with versions and preconditions, so that nothing is overwritten that has changed",
		}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p == nil || len(p.Sections) == 0:
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the patch is empty"}
	case o.MaxBytes < 0:
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: "MaxBytes is negative"}
	}
	return nil
}

// refuse returns the error of the problems, and tells in the report that all is
// as it was.
func (p *plan) refuse() error {
	for i := range p.report.Files {
		f := &p.report.Files[i]
		f.After, f.CreatedDirs = ambit.FileInfo{}, nil
		if n := p.at[i].to; n != nil {
			f.After = n.before
		}
	}
	p.report.Diff, p.report.DiffClipped = "", false
	if len(p.report.Problems) == 0 {
		// Nothing was done, and that must not pass for success.
		p.report.addProblem(0, "", &ambit.Error{Reason: ambit.ErrIO, Detail: "the patch was refused, and nothing tells why"})
	}
	return p.report.err()
}

// describe tells in the report what will be there if all goes well.
func (p *plan) describe() {
	made := make(map[string]bool)
	for i := range p.report.Files {
		f, n := &p.report.Files[i], p.at[i].to
		if n.now == nil {
			continue
		}
		if !p.changes(n) {
			f.After = n.before
			continue
		}
		f.After = ambit.FileInfo{Path: n.path, Kind: ambit.KindRegular, Mode: n.now.mode}
		if n.now.known {
			f.After.Size = int64(len(n.now.data))
		} else {
			f.After.Size = n.now.origin.before.Size
		}
		if !n.isFile() {
			for _, dir := range n.missing {
				if !made[dir] {
					made[dir] = true
					f.CreatedDirs = append(f.CreatedDirs, dir)
				}
			}
		}
	}
}

// probe has the file system judge the changes as far as it can without making
// them, but for those that are in the report already. Behind a commit that failed
// it cannot tell what somebody else has changed.
func (p *plan) probe(changes []ambit.Change, of []*node, afterCommit bool) {
	if known := p.report.Problems; len(known) > 0 && stops(known[len(known)-1].Err.Reason) {
		return
	}
	for i, c := range changes {
		if of[i].doubtful {
			continue
		}
		o := &ambit.WriteOptions{If: c.If, Parents: c.Parents, Mode: c.Mode}
		if of[i].gone {
			continue
		}
		err := p.mayWrite(c.Path, o)
		if err == nil {
			continue
		}
		// Who may not write a file may be allowed to remove it.
		r := ambit.ReasonOf(err)
		if r == ambit.ErrChanged && afterCommit {
			continue // or it was made and undone, which is a change too
		}
		if c.Op == ambit.OpWrite || r == ambit.ErrReadOnly || r == ambit.ErrChanged || stops(r) {
			p.blame(of[i], err)
			if stops(r) {
				return
			}
		}
	}
}

// blame reports an error about the node n as a problem of the section that has
// changed it last.
func (p *plan) blame(n *node, err error) {
	var i int
	if len(n.sections) > 0 {
		i = n.sections[len(n.sections)-1]
	} else {
		i = slices.IndexFunc(p.at, func(e endpoints) bool { return e.from == n || e.to == n })
	}
	s := &p.patch.Sections[i]
	path := s.Path
	if p.at[i].to == n && s.To != "" {
		path = s.To
	}
	p.report.addProblem(s.Line, path, err)
	n.doubtful = true
}

// publish makes the changes and tells in the report what became of them.
func (p *plan) publish(changes []ambit.Change, of []*node) error {
	var streams []*stream
	for _, c := range changes {
		if s, ok := c.Content.(*stream); ok {
			streams = append(streams, s)
		}
	}
	verified := p.verified(changes, of)
	if err := verified.check(); err != nil {
		p.blame(verified.stale.Load(), err)
		return p.refuse()
	}
	if p.blameMoves() {
		p.probe(changes, of, false)
		return p.refuse()
	}
	if len(changes) == 0 {
		p.settle(func(*node) State { return StateApplied })
		p.report.Applied = true
		return nil
	}
	results, err := ambit.Commit(p.ctx, p.fsys, changes)
	for _, s := range streams {
		s.close()
	}
	failed := of[0]
	if err != nil {
		e := ambit.Wrap(op, "", err).(*ambit.Error)
		failed = p.failed(changes, of, err)
		if stale := verified.stale.Load(); stale != nil && e.Reason == ambit.ErrChanged {
			failed = stale
		}
		p.blame(failed, e)
	}
	reason := ambit.ReasonOf(err)
	switch reason {
	case "", ambit.ErrNotDurable:
		p.fill(results, of)
		p.settle(func(*node) State { return StateApplied })
		p.report.Applied = true
	case ambit.ErrPartial, ambit.ErrOutcomeUnknown:
		stands := p.fill(results, of)
		p.settle(func(n *node) State {
			i := slices.Index(of, n)
			switch {
			case i < 0, stands[n]:
				return StateApplied
			case len(results) == len(of) && n != failed && reason == ambit.ErrPartial:
				return StateUnchanged
			}
			return StateUnknown
		})
	default:
		p.probe(changes, of, true)
		return p.refuse()
	}
	return p.report.err()
}

// failed returns the node that an error of Commit speaks of.
func (p *plan) failed(changes []ambit.Change, of []*node, err error) *node {
	var path string
	if e, ok := err.(*ambit.Error); ok && e != nil {
		path = e.Path
	}
	for i, c := range changes {
		if c.Path == path {
			return of[i]
		}
	}
	return of[0]
}

// fill takes over what Commit tells of the files, and returns those of which it
// does.
func (p *plan) fill(results []ambit.WriteResult, of []*node) map[*node]bool {
	told := make(map[*node]bool)
	if len(results) != len(of) {
		return told
	}
	for i, r := range results {
		if r.Info.Path == "" {
			continue
		}
		told[of[i]] = true
		if of[i].now == nil {
			continue
		}
		first := true
		for j := range p.report.Files {
			if p.at[j].to != of[i] {
				continue
			}
			f := &p.report.Files[j]
			f.After, f.CreatedDirs = r.Info, nil
			if first {
				f.CreatedDirs = r.CreatedDirs
				first = false
			}
		}
	}
	return told
}

// settle gives every file of the report its state.
func (p *plan) settle(state func(*node) State) {
	for i := range p.report.Files {
		a, b := state(p.at[i].from), state(p.at[i].to)
		if a != b {
			a = StateUnknown
		}
		p.report.Files[i].State = a
	}
}
