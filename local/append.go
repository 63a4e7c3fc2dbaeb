// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/ambitfs/ambit"
)

// Append adds the bytes of content to the end of the file at path, in place,
// and creates the file when it is missing. The content is read to its end
// first, a large one into a temporary file; then all of it is added while the
// folder is locked, so that appends never mix. When that fails the file is cut
// back. A kill in the midst can leave a prefix of it.
func (fsys *FileSystem) Append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (ambit.WriteResult, error) {
	r, err := fsys.append(ctx, path, content, o)
	return r, ambit.Wrap(ambit.OpAppend, path, err)
}

func (fsys *FileSystem) append(ctx context.Context, path string, content io.Reader, o *ambit.AppendOptions) (r ambit.WriteResult, err error) {
	clean, asserted, err := fsys.resolveChange(ctx, path)
	if err != nil {
		return r, err
	}
	if o == nil {
		o = &ambit.AppendOptions{}
	}
	if err := o.Check(fsys.caps); err != nil {
		return r, err
	}
	if err := ambit.CheckContent(content); err != nil {
		return r, err
	}
	a := appending{
		call: fsys.newCall(ctx), path: path, clean: clean, asserted: asserted,
		o: ambit.WriteOptions{If: o.If, Parents: o.Parents, Mode: o.Mode},
	}
	p, err := a.judge()
	if err != nil {
		return r, err
	}
	err = a.read(p, content)
	p.close()
	if err != nil {
		return r, err
	}
	defer a.close()
	for range maxTries {
		if p, err = a.judge(); err != nil {
			return r, err
		}
		missing := p.info == nil
		p.close()
		if !missing {
			done := false
			err = a.change(nil, a.judge, func(p *place, l *lock) (_ bool, err error) {
				if p.info == nil {
					return true, nil // it is to be created now
				}
				done = true
				r, err = a.add(p, l)
				return true, err
			})
			if done || err != nil {
				return r, err
			}
			continue
		}
		r, err = a.create()
		if reason := ambit.ReasonOf(err); !o.If.IsZero() || reason != ambit.ErrExists && reason != ambit.ErrChanged {
			return r, err
		}
	}
	return r, restless()
}

// appending is one call of Append.
type appending struct {
	*call
	path     string
	clean    string
	asserted bool
	o        ambit.WriteOptions

	added []byte
	large *temporary // holds what is too much for memory
	size  int64
}

// appendInMemory is how much content is held in memory.
const appendInMemory = 1 << 20

func (a *appending) judge() (*place, error) {
	return a.judgeWrite(ambit.OpAppend, a.clean, a.asserted, &a.o)
}

// read reads the content to its end.
func (a *appending) read(p *place, content io.Reader) error {
	content = ambit.Content(a.ctx, content, a.fsys.o.MaxFileSize)
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(content, appendInMemory))
	a.added, a.size = b.Bytes(), n
	if err != nil || n < appendInMemory {
		return err
	}
	t, err := p.parent.create(0o600)
	if err != nil {
		return err
	}
	if err = pour(t.file, io.MultiReader(&b, content)); err == nil {
		err = t.look()
	}
	if err != nil {
		t.discard()
		return err
	}
	a.added, a.large, a.size = nil, t, t.info.size
	return nil
}

func (a *appending) reader() io.Reader {
	if a.large != nil {
		return io.NewSectionReader(a.large.file, 0, a.size)
	}
	return bytes.NewReader(a.added)
}

func (a *appending) close() {
	if a.large != nil {
		a.large.discard()
	}
}

// create makes the file of the content alone.
func (a *appending) create() (ambit.WriteResult, error) {
	o := a.o
	o.If = ambit.IfAbsent()
	s, err := a.stage(ambit.OpAppend, a.path, a.reader(), &o)
	if err != nil {
		return ambit.WriteResult{}, err
	}
	return s.publish(a.call)
}

// add adds the content to the file at p.
func (a *appending) add(p *place, l *lock) (r ambit.WriteResult, err error) {
	limit := a.fsys.o.MaxFileSize
	if size := p.info.size + a.size; limit > 0 && size > limit {
		return r, a.fsys.tooLarge(size)
	}
	if p.info.links > 1 {
		return a.rewrite(p, l)
	}
	f, err := p.parent.dir.appendTo(p.name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	before, err := describeFile(f)
	if err != nil {
		return r, err
	}
	now, err := p.parent.lookup(p.name)
	if err != nil {
		return r, err
	}
	if now == nil || !now.same(before) || !before.isRegular() || before.size != p.info.size {
		return r, &ambit.Error{Reason: ambit.ErrChanged, Target: p.path(), Detail: "another program has changed the file meanwhile"}
	}
	if err := pour(f, a.reader()); err != nil {
		a.cutBack(f, before)
		return r, err
	}
	if a.size == 0 {
		// Whoever appends nothing has changed the file too.
		if err := (&temporary{dir: p.parent, name: p.name, file: f}).stamp(before); err != nil {
			return r, err
		}
	}
	var unsure error
	if a.fsys.o.Durability == Durable {
		unsure = f.Sync()
	}
	after, err := describeFile(f)
	if err != nil || after.size != before.size+a.size {
		// Somebody else writes to it too. Of these bytes alone there is no
		// version.
		described := *before
		described.size, described.tokens = described.size+a.size, nil
		after = &described
	}
	return ambit.WriteResult{Info: describe(p.path(), after)}, notDurable(unsure)
}

// cutBack takes away what was added, if nothing was added behind it.
func (a *appending) cutBack(f *os.File, before *node) {
	if now, err := describeFile(f); err == nil && now.size > before.size && now.size <= before.size+a.size {
		_ = f.Truncate(before.size)
	}
}

// rewrite gives the name a file of its own, with the old bytes and the added
// ones: the other names of the old file do not change.
func (a *appending) rewrite(p *place, l *lock) (r ambit.WriteResult, err error) {
	f, err := p.parent.dir.open(p.name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	t, err := p.parent.create(0o600)
	if err != nil {
		return r, err
	}
	s := &staged{owner: a.fsys, call: a.call, op: ambit.OpAppend, path: a.path, clean: a.clean, temporary: t}
	s.o.If = ambit.IfVersion(p.info.version())
	if err := pour(t.file, io.MultiReader(f, a.reader())); err != nil {
		t.discard()
		return r, err
	}
	if err = s.finish(p); err == nil {
		err = t.seal()
	}
	var unsure error
	ok := false
	if err == nil {
		unsure, ok, err = s.place(p, l)
	}
	if err != nil || !ok {
		s.temporary.discard()
		if err == nil {
			err = &ambit.Error{Reason: ambit.ErrChanged, Target: p.path(), Detail: "another program has changed the file meanwhile"}
		}
		return r, err
	}
	defer s.temporary.release()
	return ambit.WriteResult{Info: s.published(p)}, notDurable(unsure)
}
