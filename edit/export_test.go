// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/ambitfs/ambit/internal/splice"
)

// Stream does what Apply does as File does it with a large file, looking at no
// more than window bytes together where that is enough.
func Stream(content []byte, ops []Op, o *Options, window int) (Result, error) {
	if o == nil {
		o = &Options{}
	}
	ops, err := checked(ops, o)
	if err != nil {
		return Result{}, err
	}
	s := &source{file: bytes.NewReader(content), size: int64(len(content)), window: window}
	p := &planner{ctx: context.Background(), source: s, ops: ops, o: o}
	head := ""
	if bytes.HasPrefix(content, []byte(bom)) {
		head = bom
		p.hasBOM, s.base = true, int64(len(bom))
		s.size -= s.base
	}
	plan, err := p.resolve()
	if err != nil {
		return Result{}, err
	}
	r, err := plan.result(s, "")
	if err != nil {
		return Result{}, err
	}
	r.Content, err = io.ReadAll(io.MultiReader(strings.NewReader(head), splice.New(plan.parts(s))))
	return r, err
}

// Places returns where old occurs as Replace sees it, found with others in one
// pass over windows of the text.
func Places(content []byte, olds []string, window int) ([][][2]int64, error) {
	s := &source{memory: content, size: int64(len(content)), window: window}
	var searches []*search
	for _, old := range olds {
		searches = append(searches, newSearch(Replace{Old: old, All: true}, false))
	}
	if _, err := scan(context.Background(), s, searches, nil); err != nil {
		return nil, err
	}
	all := make([][][2]int64, len(olds))
	for i, one := range searches {
		all[i] = [][2]int64{}
		for _, p := range one.places {
			all[i] = append(all[i], [2]int64{p.start, p.end})
		}
	}
	return all, nil
}

// Editing is how many files are being edited now.
func Editing() int {
	editing.mu.Lock()
	defer editing.mu.Unlock()
	return len(editing.queue)
}

// Editors is how many calls edit files now, or wait for their turn.
func Editors() int {
	editing.mu.Lock()
	defer editing.mu.Unlock()
	n := 0
	for _, q := range editing.queue {
		n += q.members
	}
	return n
}
