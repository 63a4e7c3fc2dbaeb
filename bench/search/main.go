// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Search searches as ripgrep and fd do, and prints what it finds like them, so
// that whole processes can be compared:
//
//	search grep [-i] [-F] [-limit N] FOLDER PATTERN
//	search glob [-files] [-limit N] FOLDER PATTERN
//
// With -profile FILE it writes where the time of the processor went.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/search"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("neither grep nor glob")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	limit := flags.Int("limit", 0, "so many lines or names")
	var line []byte
	switch args[0] {
	case "grep":
		var q ambit.GrepQuery
		flags.BoolVar(&q.IgnoreCase, "i", false, "ignore case")
		flags.BoolVar(&q.Literal, "F", false, "the pattern is a text")
		return searching(flags, args[1:], func(fsys ambit.FileSystem, pattern string, out *results) error {
			q.Pattern, q.Limit = pattern, *limit
			_, err := search.GrepEach(context.Background(), fsys, q, func(m ambit.GrepMatch) bool {
				line = append(append(line[:0], m.Path[1:]...), ':')
				line = append(strconv.AppendInt(line, int64(m.Line), 10), ':')
				return out.put(append(append(line, m.Text...), '\n'))
			})
			return err
		})
	case "glob":
		files := flags.Bool("files", false, "no folders and links")
		return searching(flags, args[1:], func(fsys ambit.FileSystem, pattern string, out *results) error {
			q := ambit.GlobQuery{Pattern: pattern, Limit: *limit}
			if *files {
				q.Kinds = []ambit.Kind{ambit.KindRegular}
			}
			_, err := search.GlobEach(context.Background(), fsys, q, func(m ambit.GlobMatch) bool {
				line = append(append(line[:0], m.Info.Path[1:]...), '\n')
				return out.put(line)
			})
			return err
		})
	}
	return fmt.Errorf("neither grep nor glob but %q", args[0])
}

// searching is what both have in common.
func searching(flags *flag.FlagSet, args []string, find func(fsys ambit.FileSystem, pattern string, out *results) error) (err error) {
	profile := flags.String("profile", "", "write a profile of the processor's time to this `file`")
	flags.Parse(args)
	if flags.NArg() != 2 {
		return fmt.Errorf("%d arguments", flags.NArg())
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fsys, err := local.New(flags.Arg(0), nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	out := &results{w: bufio.NewWriterSize(os.Stdout, 64<<10)}
	return errors.Join(find(fsys, flags.Arg(1), out), out.w.Flush())
}

// results are printed in large pieces, but for the first, which is awaited.
type results struct {
	w     *bufio.Writer
	begun bool
}

func (r *results) put(line []byte) bool {
	_, err := r.w.Write(line)
	if err == nil && !r.begun {
		r.begun = true
		err = r.w.Flush()
	}
	return err == nil
}
