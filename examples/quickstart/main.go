// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Quickstart opens this repository's own folder as a machine, reads from it,
// is refused with reasons, changes files in a scratch folder by compare and
// swap, searches, changes files by exact edits and by patches, and runs the
// conformance suite on the memory and local backends.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
)

func main() {
	ctx := context.Background()
	for _, step := range []func(context.Context, io.Writer) error{read, refuse, change, find, text, prove} {
		if err := step(ctx, os.Stdout); err != nil {
			log.Fatal(err)
		}
	}
}

// read opens a file of this repository, reads it and verifies that it is still
// what was opened.
func read(ctx context.Context, out io.Writer) error {
	repo, err := local.New(".", nil)
	if err != nil {
		return err
	}
	defer repo.Close()
	fmt.Fprintln(out, "# Open returns a handle or a reason")
	f, err := repo.Open(ctx, "LICENSE")
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(io.Discard, f)
	if err != nil {
		return err
	}
	if err := f.Verify(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d bytes read, verified as one version\n", f.Info().Path, n)

	var files, folders int
	for entry, err := range ambit.Walk(ctx, repo, "docs") {
		switch {
		case err != nil:
			return err
		case entry.Info.IsDir():
			folders++
		default:
			files++
		}
	}
	fmt.Fprintf(out, "/docs: %d files, %d folders\n\n", files, folders)
	return nil
}

// refuse asks for what a file system must not give.
func refuse(ctx context.Context, out io.Writer) error {
	scratch, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	root := filepath.Join(scratch, "root")
	if err := os.MkdirAll(filepath.Join(root, "src"), 0o777); err != nil {
		return err
	}
	if err := os.Symlink("/etc", filepath.Join(root, "etc")); err != nil {
		return err
	}
	fsys, err := local.New(root, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	fmt.Fprintln(out, "# What is refused has a reason, and no host path")
	for _, path := range []string{"gone.txt", "src", "../secret", "etc/passwd", "src/gone/x.go", ""} {
		_, err := fsys.Open(ctx, path)
		fmt.Fprintf(out, "%-14q %-13s %v\n", path, ambit.ReasonOf(err), err)
	}
	fmt.Fprintln(out)
	return nil
}

// change replaces a file only if it is still what was read.
func change(ctx context.Context, out io.Writer) error {
	scratch, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	fsys, err := local.New(scratch, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	fmt.Fprintln(out, "# A change is atomic, and conditional on what it replaces")
	r, err := ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("one\n"), &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "created %s and %v\n", r.Info.Path, r.CreatedDirs)
	mine := ambit.IfVersion(r.Info.Version)
	if _, err := ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("two\n"), &ambit.WriteOptions{If: mine}); err != nil {
		return err
	}
	_, err = ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("three\n"), &ambit.WriteOptions{If: mine})
	fmt.Fprintln(out, "a second write with the same version:", ambit.ReasonOf(err))
	data, _, err := ambit.ReadFile(ctx, fsys, "notes/todo.txt")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the file holds %q\n\n", data)
	return nil
}

// prove runs the conformance suite on two backends. On the disk, for time, only
// what tries to get out or to get in between; "go test ./local" runs it all.
func prove(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "# One suite proves it of any backend")
	for _, run := range []struct {
		target conformance.Target
		levels []conformance.Level
	}{
		{memoryTarget(), nil},
		{localTarget(), []conformance.Level{conformance.LevelHostile}},
	} {
		report := conformance.Run(ctx, run.target, &conformance.Options{Levels: run.levels})
		fmt.Fprint(out, report)
		if err := report.Err(); err != nil {
			return err
		}
	}
	return nil
}
