// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/ambitfs/ambit"
)

// verified has the commit find out that a file has changed which the patch was
// judged by and which it does not write: no condition of a change speaks of it.
type verified struct {
	*plan
	kept   []*node      // these files
	unread atomic.Int32 // contents that the commit has yet to read
	stale  atomic.Pointer[node]
}

// verified wraps the contents of the changes, so that the kept files are looked
// at once all of them are read, which is when they are staged.
func (p *plan) verified(changes []ambit.Change, of []*node) *verified {
	v := &verified{plan: p}
	written := make(map[*node]bool, len(of))
	for _, n := range of {
		written[n] = true
	}
	for _, n := range p.order {
		if n.isFile() && !written[n] {
			v.kept = append(v.kept, n)
		}
	}
	if len(v.kept) == 0 {
		return v
	}
	for i := range changes {
		if changes[i].Content != nil {
			v.unread.Add(1)
			changes[i].Content = &verifying{Reader: changes[i].Content, of: v}
		}
	}
	return v
}

// check returns the error of the first file that is not the one judged.
func (v *verified) check() error {
	for _, n := range v.kept {
		info, err := v.fsys.Stat(v.ctx, n.path)
		if ambit.ReasonOf(err) == ambit.ErrNotFound || err == nil && info.Version != n.before.Version {
			err = &ambit.Error{Reason: ambit.ErrChanged, Target: n.path, Detail: "the file has changed since the patch was judged"}
		}
		if err != nil {
			v.stale.Store(n)
			return err
		}
	}
	return nil
}

// verifying is content at whose end, if it is the last that is read, the kept
// files are looked at.
type verifying struct {
	io.Reader
	of   *verified
	read bool
}

func (r *verifying) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF && !r.read {
		r.read = true
		if r.of.unread.Add(-1) == 0 {
			if changed := r.of.check(); changed != nil {
				err = changed
			}
		}
	}
	return n, err
}

// blameMoves reports the files that are moved with other content and may not be
// written: they could be removed, and so be changed all the same. It returns
// whether there are any.
func (p *plan) blameMoves() (found bool) {
	for i := range p.patch.Sections {
		n, to := p.at[i].from, p.at[i].to
		if n == to || p.patch.Sections[i].Action != Update || !n.isFile() || n.now != nil {
			continue
		}
		if to.now == nil || !to.now.edited || to.now.origin != n {
			continue
		}
		err := p.mayWrite(n.path, &ambit.WriteOptions{If: ambit.IfVersion(n.before.Version)})
		if err == nil {
			continue
		}
		p.blame(n, err)
		found = true
		if stops(ambit.ReasonOf(err)) {
			break
		}
	}
	return found
}

// mayWrite has the file system judge a write, and does not make it.
func (p *plan) mayWrite(path string, o *ambit.WriteOptions) error {
	staged, err := ambit.Stage(p.ctx, p.fsys, path, bytes.NewReader(nil), o)
	if err == nil {
		staged.Discard(p.ctx)
	}
	return err
}
