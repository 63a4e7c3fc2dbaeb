// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// batch is how many files of a folder are one job: their results are handed over
// together.
const batch = 8

// place is a folder that is to be walked.
type place struct {
	*folder
	view
	rules rules
	base  bool // its failure is that of the search
}

func walking(p place) *job {
	return &job{run: func(w *worker, j *job) { w.walk(j, p) }}
}

// walk looks at what is in a folder.
func (w *worker) walk(j *job, p place) {
	l := listing{worker: w, place: p}
	if err := l.list(); err != nil {
		if w.fails(err) || p.base {
			w.queue.stop(err)
			return
		}
		l.skip(p.path, err)
	}
	l.flushFound()
	l.flushFiles()
	w.queue.end(j, l.own, l.size, l.jobs)
}

// listing makes of the entries of a folder what is found and what is to be done.
type listing struct {
	*worker
	place
	open  Folder
	tally tally

	own   []found // before the first of jobs
	size  int
	jobs  []*job
	found []ambit.GlobMatch
	files []string

	beyond bool // a name here makes a path over the limit
}

func (l *listing) list() error {
	l.own = append(l.own, found{tally: &l.tally}) // a failure counts too
	open, err := l.use(l.ctx)
	if err != nil {
		return err
	}
	defer l.leave()
	l.open = open
	names := l.names()
	asked := names
	if names != nil && !l.ignored {
		asked = append(slices.Clip(names), repositoryName, ignoreFile)
		slices.Sort(asked)
		asked = slices.Compact(asked)
	}
	entries, err := retried(l.worker.folders, func() ([]Entry, error) { return open.Entries(l.ctx, asked) })
	if err != nil {
		return err
	}
	if l.grep == nil {
		l.tally.searched++
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if !l.ignored {
		l.rules = l.folderRules(open, l.path, l.rules, func(name string) ambit.Kind {
			i, ok := slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
			if !ok || !open.Shows(l.ctx, name, false) {
				return ambit.KindUnknown
			}
			kind, _ := l.kind(entries[i])
			return kind
		}, l.skip)
	}
	for i, e := range entries {
		if i%256 == 255 || l.rules.Chain != nil { // rules may take their time for each name
			if err := l.ctx.Err(); err != nil {
				return err
			}
		}
		if names != nil {
			if _, ok := slices.BinarySearch(names, e.Name); !ok {
				continue
			}
		}
		l.look(e)
	}
	return nil
}

// kind is the kind of e, asked for where the listing does not tell.
func (l *listing) kind(e Entry) (ambit.Kind, error) {
	if e.Kind != ambit.KindUnknown {
		return e.Kind, nil
	}
	info, err := retried(l.worker.folders, func() (ambit.FileInfo, error) { return l.open.Lookup(l.ctx, e.Name) })
	return info.Kind, err
}

// look decides what becomes of an entry.
func (l *listing) look(e Entry) {
	kind, unknown := l.kind(e)
	if r := ambit.ReasonOf(unknown); r == ambit.ErrNotFound || r == ambit.ErrDenied {
		return
	}
	j, ok := l.judge(l.view, e.Name, kind)
	if !ok && unknown != nil { // it may be a folder
		j, ok = l.judge(l.view, e.Name, ambit.KindDirectory)
		j.hit, j.in = false, view{}
	}
	if !ok {
		return
	}
	ignored := l.rules.Ignored(e.Name, kind == ambit.KindDirectory)
	told := ignored || j.byDot || unknown != nil || j.hit && l.grep == nil
	if !l.open.Shows(l.ctx, e.Name, !told) {
		return
	}
	switch {
	case ignored:
		l.tally.ignored++
		return
	case j.byDot:
		l.tally.hidden++
		return
	}
	if len(l.path)+len("/")+len(e.Name) > ambit.MaxPath {
		// No path leads there: the folder stands for it.
		if !l.beyond {
			l.beyond = true
			l.skip(l.path, ambit.ErrInvalidPath)
		}
		return
	}
	if unknown != nil {
		l.skip(ambit.Join(l.path, e.Name), unknown)
	}
	switch {
	case !j.hit:
	case l.grep == nil:
		l.report(e.Name, kind)
	default:
		if l.files = append(l.files, e.Name); len(l.files) == batch {
			l.flushFiles()
		}
	}
	if !j.in.dead() {
		l.flushFound()
		l.flushFiles()
		l.jobs = append(l.jobs, walking(place{folder: l.beneath(e.Name, ambit.Join(l.path, e.Name)), view: j.in, rules: l.rules.enter(e.Name)}))
	}
}

// report leaves the path to flushFound, which makes all of them at once.
func (l *listing) report(name string, kind ambit.Kind) {
	info := ambit.FileInfo{Kind: kind, Size: -1}
	if l.details {
		full, err := retried(l.worker.folders, func() (ambit.FileInfo, error) { return l.open.Lookup(l.ctx, name) })
		switch {
		case err == nil:
			info = full
		case !tells(ambit.ReasonOf(err)):
			return
		}
	}
	info.Path = name
	l.found = append(l.found, ambit.GlobMatch{Info: info})
}

func (l *listing) flushFound() {
	if len(l.found) == 0 {
		return
	}
	prefix := ambit.Join(l.path, "")
	size := 0
	for i := range l.found {
		size += len(prefix) + len(l.found[i].Info.Path)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range l.found {
		b.WriteString(prefix)
		b.WriteString(l.found[i].Info.Path)
	}
	all := b.String()
	for i := range l.found {
		end := len(prefix) + len(l.found[i].Info.Path)
		l.found[i].Info.Path, all = all[:end], all[end:]
	}
	size += 128 * len(l.found)
	f := found{hits: l.found}
	if l.found = nil; len(l.jobs) == 0 {
		l.own = append(l.own, f)
		l.size += size
		return
	}
	l.jobs = append(l.jobs, &job{found: []found{f}, size: size})
}

func (l *listing) flushFiles() {
	if len(l.files) == 0 {
		return
	}
	names := l.files
	l.files = nil
	in := l.folder
	l.jobs = append(l.jobs, &job{run: func(w *worker, j *job) { w.grepFiles(j, in, names) }})
}

func (l *listing) skip(path string, err error) {
	if r := ambit.ReasonOf(err); tells(r) {
		l.tally.skip(path, r)
	}
}
