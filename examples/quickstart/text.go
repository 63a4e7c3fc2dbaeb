// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/patch"
)

// draft is a scratch folder with copies of two files of this repository.
func draft(ctx context.Context) (fsys *local.FileSystem, remove func(), err error) {
	scratch, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { os.RemoveAll(scratch) }
	repo, err := local.New(".", nil)
	if err != nil {
		return nil, remove, err
	}
	defer repo.Close()
	if fsys, err = local.New(scratch, nil); err != nil {
		return nil, remove, err
	}
	remove = func() {
		fsys.Close()
		os.RemoveAll(scratch)
	}
	for _, name := range []string{"LICENSE", "CONTRIBUTING.md"} {
		if _, err := ambit.Copy(ctx, fsys, name, repo, name, nil); err != nil {
			return nil, remove, err
		}
	}
	return fsys, remove, nil
}

// text reads lines by their numbers, edits a file exactly, and applies patches
// whole or not at all.
func text(ctx context.Context, out io.Writer) error {
	fsys, remove, err := draft(ctx)
	if remove != nil {
		defer remove()
	}
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, io.Writer, *local.FileSystem) error{lines, edits, patches} {
		if err := step(ctx, out, fsys); err != nil {
			return err
		}
	}
	return nil
}

func lines(ctx context.Context, out io.Writer, fsys *local.FileSystem) error {
	fmt.Fprintln(out, "# Lines have addresses")
	f, err := fsys.Open(ctx, "LICENSE")
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := lineaddr.Slice(f, lineaddr.Range{Start: 2, End: 4})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lines %d to %d of /LICENSE:\n%s", w.First, w.Last, w.Text)
	last, err := lineaddr.Tail(f, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the last one: %s\n", last.Text)
	return nil
}

func edits(ctx context.Context, out io.Writer, fsys *local.FileSystem) error {
	fmt.Fprintln(out, "# Edits are exact")
	outcome, err := edit.File(ctx, fsys, "LICENSE", []edit.Op{
		edit.Replace{Old: "Version 2.0, January 2004", New: "Version 2.0, quickstart edition"},
		edit.Insert{After: 4, Text: "A copy, and not for use."},
	}, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d edits:\n%s\n", len(outcome.Edits), outcome.Diff)
	_, err = edit.File(ctx, fsys, "LICENSE", []edit.Op{edit.Replace{Old: "perpetual", New: "eternal"}}, nil)
	var e *ambit.Error
	if !errors.As(err, &e) || e.Reason != ambit.ErrAmbiguous {
		return fmt.Errorf("an ambiguous edit was not refused as such: %w", err)
	}
	fmt.Fprintf(out, "what stands in several places is refused: %s, lines %v\n", e.Reason, e.Lines)
	_, err = edit.File(ctx, fsys, "LICENSE", []edit.Op{edit.Replace{Old: "TERMS AND CONDITIONS for USE", New: "Terms"}}, nil)
	fmt.Fprintf(out, "what is not there too: %v\n\n", err)
	return nil
}

const (
	good = `*** Begin Patch
*** Update File: LICENSE
@@
-A copy, and not for use.
+A copy.
*** Add File: notes/licenses.txt
+All of it is Apache-2.0.
*** Update File: CONTRIBUTING.md
*** Move to: docs/contributing.md
*** End Patch
`
	bad = `*** Begin Patch
*** Add File: notes/new.txt
+This file does not come to be,
*** Delete File: notes/licenses.txt
*** Update File: LICENSE
@@
-for this line is not there.
+and this one will not be.
*** Update File: gone.txt
@@
-x
+y
*** End Patch
`
)

func patches(ctx context.Context, out io.Writer, fsys *local.FileSystem) error {
	fmt.Fprintln(out, "# Patches are applied whole, or not at all")
	p, err := patch.Parse(good)
	if err != nil {
		return err
	}
	report, err := patch.Apply(ctx, fsys, p, nil)
	if err != nil {
		return err
	}
	for _, f := range report.Files {
		fmt.Fprintln(out, f.State, f.Action, f.Path, f.To)
	}
	if p, err = patch.Parse(bad); err != nil {
		return err
	}
	report, err = patch.Apply(ctx, fsys, p, nil)
	if err == nil {
		return errors.New("a patch that does not fit was applied")
	}
	for _, problem := range report.Problems {
		fmt.Fprintf(out, "line %d of the patch: %s %s\n", problem.Line, problem.Path, problem.Err.Reason)
	}
	list, err := fsys.List(ctx, "notes", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "nothing was done: /notes has %d file, %s\n\n", len(list.Entries), list.Entries[0].Name)
	return nil
}
