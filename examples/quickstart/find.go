// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/search"
)

// find looks for names and for lines in this repository.
func find(ctx context.Context, out io.Writer) error {
	repo, err := local.New(".", &local.Options{Deny: []string{"/go.sum"}})
	if err != nil {
		return err
	}
	defer repo.Close()
	fmt.Fprintln(out, "# Searches are sorted, and tell what they left out")
	names, err := search.Glob(ctx, repo, ambit.GlobQuery{Pattern: "{go.*,examples/**/main.go}"})
	if err != nil {
		return err
	}
	for _, m := range names.Matches {
		fmt.Fprintln(out, m.Info.Path) // go.sum is denied: nothing tells of it
	}

	lines, err := search.Grep(ctx, repo, ambit.GrepQuery{
		Pattern: `^func New\(`, Types: []string{"go"}, Exclude: []string{"*_test.go", "examples"}, Limit: 3, MaxLineBytes: 60,
	})
	if err != nil {
		return err
	}
	for _, m := range lines.Matches {
		fmt.Fprintf(out, "%s:%d:%s\n", m.Path, m.Line, m.Text)
	}
	fmt.Fprintf(out, "more: %v\n", lines.Summary.Truncated)

	_, err = search.Grep(ctx, repo, ambit.GrepQuery{Pattern: "New("})
	fmt.Fprintf(out, "%v\n\n", err)
	return nil
}
