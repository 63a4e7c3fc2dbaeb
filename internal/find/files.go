// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"context"
	"io"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/grep"
)

// grepFiles looks for lines in files of one folder.
func (w *worker) grepFiles(j *job, in *folder, names []string) {
	open, err := in.use(w.ctx)
	t := &tally{}
	if err != nil {
		if w.fails(err) {
			w.queue.stop(err)
			return
		}
		if r := ambit.ReasonOf(err); tells(r) {
			t.skip(in.path, r)
		}
		w.queue.end(j, []found{{tally: t}}, 0, nil)
		return
	}
	defer in.leave()
	if w.searcher == nil {
		w.searcher = grep.New(*w.query.grep)
		w.searcher.StopWhen(func() bool { return w.ctx.Err() != nil })
	}
	for _, name := range names {
		path := ambit.Join(in.path, name)
		if err := w.grepFile(j, open, name, path, t); err != nil {
			if w.fails(err) {
				w.queue.stop(err)
				return
			}
			if r := ambit.ReasonOf(err); tells(r) {
				t.skip(path, r)
			}
		}
	}
	w.queue.end(j, []found{{tally: t}}, 0, nil)
}

func (w *worker) keeps(path string) bool {
	w.keeping.Lock()
	defer w.keeping.Unlock()
	return w.keep(path, ambit.KindRegular)
}

func (w *worker) grepFile(j *job, in Folder, name, path string, t *tally) error {
	if w.keep != nil && !w.keeps(path) {
		return nil
	}
	f, err := retried(w.folders, func() (File, error) { return in.Open(w.ctx, name) })
	if err != nil {
		return err
	}
	defer f.Close()
	opened := &tally{searched: 1} // counts with the first of what is found
	_, err = w.searcher.Search(path, stopping{w.ctx, f}, f.Size(), func(batch []ambit.GrepMatch) bool {
		size := 0
		for i := range batch {
			size += 128 + len(batch[i].Text) + 16*len(batch[i].Spans)
		}
		f := found{matches: batch, tally: opened}
		opened = nil
		return w.queue.put(j, f, size)
	})
	if opened != nil {
		t.searched++
	}
	if err == nil {
		err = w.ctx.Err() // it may not have been searched to its end
	}
	return err
}

// stopping is a reader that ends with the search.
type stopping struct {
	ctx context.Context
	r   io.Reader
}

func (s stopping) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}
