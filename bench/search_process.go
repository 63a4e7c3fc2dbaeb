// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
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

// searchGrep and searchGlob are the first arguments of processes of this program
// that search as ripgrep and fd do, and print what they find like them:
//
//	search-grep [-i] [-F] [-limit N] FOLDER PATTERN
//	search-glob [-files] [-limit N] FOLDER PATTERN
//
// With -profile FILE they write where the time went.
const (
	searchGrep = "search-grep"
	searchGlob = "search-glob"
)

func init() {
	processes[searchGrep] = func(args []string) error {
		var q ambit.GrepQuery
		flags := flag.NewFlagSet(searchGrep, flag.ExitOnError)
		flags.BoolVar(&q.IgnoreCase, "i", false, "ignore case")
		flags.BoolVar(&q.Literal, "F", false, "the pattern is a text")
		flags.IntVar(&q.Limit, "limit", 0, "so many lines")
		return searching(flags, args, func(fsys ambit.FileSystem, pattern string, out *results) error {
			q.Pattern = pattern
			var line []byte
			_, err := search.GrepEach(ctx, fsys, q, func(m ambit.GrepMatch) bool {
				line = append(append(line[:0], m.Path[1:]...), ':')
				line = append(strconv.AppendInt(line, int64(m.Line), 10), ':')
				return out.put(append(append(line, m.Text...), '\n'))
			})
			return err
		})
	}
	processes[searchGlob] = func(args []string) error {
		var q ambit.GlobQuery
		flags := flag.NewFlagSet(searchGlob, flag.ExitOnError)
		flags.IntVar(&q.Limit, "limit", 0, "so many names")
		flags.BoolFunc("files", "no folders and links", func(string) error {
			q.Kinds = []ambit.Kind{ambit.KindRegular}
			return nil
		})
		return searching(flags, args, func(fsys ambit.FileSystem, pattern string, out *results) error {
			q.Pattern = pattern
			var line []byte
			_, err := search.GlobEach(ctx, fsys, q, func(m ambit.GlobMatch) bool {
				line = append(append(line[:0], m.Info.Path[1:]...), '\n')
				return out.put(line)
			})
			return err
		})
	}
}

// searching is the whole of such a process.
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
