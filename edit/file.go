// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/splice"
)

const opEdit = "edit"

// held is the size up to which a file is edited in memory although it could be
// streamed: below, that is quicker.
const held = 4 << 20

// File makes all ops on the file at path of fsys, or none: it opens the file,
// looks for what the ops speak of in that one version, and publishes the new
// content only while the file is still at it. The file's permission bits stay,
// and a link is followed and kept, as by Write.
//
// When the file was changed meanwhile, it tries once more with the new version
// if the ops still fit it, else it is [ambit.ErrChanged]; with Options.If there
// is no second try. Edits of one file by one process take turns, so that all of
// them succeed that do not exclude each other. Where the ops leave the content
// as it is, nothing is written.
//
// A large file is edited by streaming, in memory that grows with the number of
// places and not with the file, where fsys has ReadAt and Streams and the text is
// UTF-8 or agrees with ASCII: what stays is copied within the storage where the backend can do that. Any
// other is held in memory and limited by Options.MaxBytes.
//
// It needs the capabilities Versions and Swap, without which somebody else's
// change could be lost: [ambit.ErrUnsupported]. [ambit.ErrNotDurable] comes with
// a filled Outcome. File is safe for concurrent use.
func File(ctx context.Context, fsys ambit.FileSystem, path string, ops []Op, o *Options) (Outcome, error) {
	if o == nil {
		o = &Options{}
	}
	outcome, err := file(ctx, fsys, path, ops, o)
	return outcome, ambit.Wrap(opEdit, path, err)
}

func file(ctx context.Context, fsys ambit.FileSystem, path string, ops []Op, o *Options) (Outcome, error) {
	ops, err := checked(ops, o)
	if err != nil {
		return Outcome{}, err
	}
	caps := fsys.Capabilities()
	switch {
	case o.If.Absent():
		return Outcome{}, invalid("an edit is of a file that is there: If wants none")
	case o.MaxBytes < 0:
		return Outcome{}, invalid(fmt.Sprintf("MaxBytes is %d", o.MaxBytes))
	}
	var w ambit.WritableFileSystem
	if !o.DryRun {
		if w, err = ambit.Writable(fsys); err != nil {
			return Outcome{}, err
		}
		if !caps.Versions || caps.Swap == ambit.SwapNone {
			return Outcome{}, &ambit.Error{Reason: ambit.ErrUnsupported, Detail: "this file system cannot publish a change only where nobody else has made one"}
		}
	}
	if err := (&ambit.WriteOptions{If: o.If}).Check(caps); err != nil {
		return Outcome{}, err
	}
	e := &editor{fsys: fsys, w: w, caps: caps, path: path, ops: ops, o: o}
	f, err := e.open(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { f.Close() }()
	if !o.DryRun {
		// Not by its ID: that may be another one after each write.
		done, waited, err := editing.take(ctx, caps.ID+"\x00"+f.Info().Path)
		if err != nil {
			return Outcome{}, err
		}
		defer done()
		if waited {
			now, err := e.open(ctx)
			if err != nil {
				return Outcome{}, err
			}
			f.Close()
			f = now
		}
	}
	outcome, err := e.edit(ctx, f)
	if ambit.ReasonOf(err) != ambit.ErrChanged || !o.If.IsZero() {
		return outcome, err
	}
	f.Close()
	again, openErr := e.open(ctx)
	if openErr != nil {
		if ambit.ReasonOf(openErr) == ambit.ErrNotFound {
			return Outcome{}, err
		}
		return Outcome{}, openErr
	}
	f = again
	outcome, second := e.edit(ctx, f)
	switch ambit.ReasonOf(second) {
	case ambit.ErrNoMatch, ambit.ErrAmbiguous, ambit.ErrOutOfRange, ambit.ErrInvalid, ambit.ErrNotText, ambit.ErrTooLarge:
		return Outcome{}, &ambit.Error{
			Reason: ambit.ErrChanged, Target: f.Info().Path,
			Detail: "the file was changed meanwhile, and the edit does not fit it any more: " + second.Error(),
		}
	}
	return outcome, second
}

// editor is one call of File.
type editor struct {
	fsys ambit.FileSystem
	w    ambit.WritableFileSystem // nil in a dry run
	caps ambit.Capabilities
	path string
	ops  []Op
	o    *Options
}

// open opens the file, if it is the version that is asked for.
func (e *editor) open(ctx context.Context) (ambit.File, error) {
	f, err := e.fsys.Open(ctx, e.path)
	switch {
	case ambit.ReasonOf(err) == ambit.ErrNotFound && !e.o.If.IsZero():
		return nil, e.o.If.Check(nil)
	case err != nil:
		return nil, err
	case f == nil:
		return nil, &ambit.Error{Reason: ambit.ErrIO, Detail: "the file system returned neither a file nor an error"}
	}
	info := f.Info()
	if err := e.o.If.Check(&info); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// edit edits the version that f has open.
func (e *editor) edit(ctx context.Context, f ambit.File) (Outcome, error) {
	outcome := Outcome{Before: f.Info()}
	r, content, err := e.plan(ctx, f)
	if err != nil {
		// What was read may be of two versions.
		if changed := f.Verify(ctx); ambit.ReasonOf(changed) == ambit.ErrChanged {
			err = changed
		}
		return Outcome{}, err
	}
	outcome.Result = r
	switch {
	case content == nil || e.o.DryRun:
		if err := f.Verify(ctx); err != nil {
			return Outcome{}, err
		}
		if content == nil {
			outcome.After = outcome.Before
		}
		return outcome, nil
	case outcome.Before.Version == "":
		return Outcome{}, &ambit.Error{Reason: ambit.ErrUnsupported, Detail: "the file has no version"}
	}
	written, err := e.w.Write(ctx, e.path, content, &ambit.WriteOptions{If: ambit.IfVersion(outcome.Before.Version)})
	switch reason := ambit.ReasonOf(err); {
	case reason == ambit.ErrIO:
		// What stays may have become shorter while it was copied.
		if changed := f.Verify(ctx); ambit.ReasonOf(changed) == ambit.ErrChanged {
			err = changed
		}
		return Outcome{}, err
	case err != nil && reason != ambit.ErrNotDurable:
		return Outcome{}, err
	}
	outcome.After = written.Info
	return outcome, err
}

// plan works out the new content of f, nil where it is the old one.
func (e *editor) plan(ctx context.Context, f ambit.File) (Result, io.Reader, error) {
	info := f.Info()
	at, ok := f.(io.ReaderAt)
	if ok && e.caps.ReadAt && e.caps.Streams && info.Size > held && e.o.Encoding.IsZero() {
		head := make([]byte, len(bom))
		if n, err := at.ReadAt(head, 0); n < len(head) {
			if err == nil || err == io.EOF {
				err = &ambit.Error{Reason: ambit.ErrChanged}
			}
			return Result{}, nil, err
		}
		if !bytes.HasPrefix(head, []byte{0xff, 0xfe}) && !bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
			return e.stream(ctx, f, at, head)
		}
	}
	limit := e.o.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	content, err := readAll(ctx, f, limit)
	if err != nil {
		return Result{}, nil, err
	}
	r, changed, err := apply(ctx, content, e.ops, e.o, info.Path)
	if err != nil || !changed {
		return r, nil, err
	}
	return r, splice.New([]splice.Part{{Bytes: r.Content}}), nil
}

// stream works out the new content of f, which begins with head, without
// holding it.
func (e *editor) stream(ctx context.Context, f ambit.File, at io.ReaderAt, head []byte) (Result, io.Reader, error) {
	s := &source{file: at, size: f.Info().Size}
	p := &planner{ctx: ctx, source: s, ops: e.ops, o: e.o}
	if string(head) == bom {
		p.hasBOM, s.base = true, int64(len(bom))
		s.size -= s.base
		if _, err := io.ReadFull(f, head); err != nil {
			return Result{}, nil, err
		}
	}
	// One stream costs less than many reads where the file is far away.
	s.stream = ambit.Content(ctx, f, 0)
	plan, err := p.resolve()
	if err != nil {
		return Result{}, nil, err
	}
	r, err := plan.result(s, f.Info().Path)
	if err != nil {
		return Result{}, nil, err
	}
	if same, err := plan.same(s); err != nil || same {
		return r, nil, err
	}
	parts := plan.parts(s)
	if p.hasBOM {
		parts = append([]splice.Part{{Bytes: []byte(bom)}}, parts...)
	}
	return r, splice.New(parts), nil
}

// same reports whether the changes leave the text as it is.
func (r *plan) same(s *source) (bool, error) {
	for _, c := range r.changes {
		if int64(len(c.text)) != c.end-c.start {
			return false, nil
		}
		old, err := s.span(c.start, c.end)
		if err != nil || string(old) != c.text {
			return false, err
		}
	}
	return true, nil
}

// readAll reads f, of at most limit bytes.
func readAll(ctx context.Context, f ambit.File, limit int64) ([]byte, error) {
	size := f.Info().Size
	if size > limit {
		return nil, &ambit.Error{Reason: ambit.ErrTooLarge, Limit: limit, Size: size}
	}
	b := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), held)+bytes.MinRead))
	n, err := b.ReadFrom(ambit.Content(ctx, io.LimitReader(f, min(limit, math.MaxInt64-1)+1), 0))
	if err == nil && n > limit {
		err = &ambit.Error{Reason: ambit.ErrTooLarge, Limit: limit, Size: n}
	}
	return b.Bytes(), err
}
