// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/ambitfs/ambit"
)

// rewordAll tells reason from as another, in every method.
func rewordAll(from, to ambit.Reason) func(f *faulty) {
	return rewordOp("", from, to)
}

// rewordOp tells reason from as another, in one method.
func rewordOp(in string, from, to ambit.Reason) func(f *faulty) {
	return facts(func(e *ambit.Error) {
		if e.Reason == from && (in == "" || e.Op == in) {
			e.Reason, e.Err = to, nil
		}
	})
}

// facts changes every error.
func facts(change func(e *ambit.Error)) func(f *faulty) {
	return func(f *faulty) {
		f.fail = func(op, path string, err error) error {
			var e *ambit.Error
			if !errors.As(err, &e) {
				return err
			}
			c := *e
			c.MissingDirs = slices.Clone(e.MissingDirs)
			change(&c)
			return &c
		}
	}
}

// errorMutants tell a wrong reason, or tell it wrongly.
func errorMutants() []mutant {
	return []mutant{
		{name: "not-found is told as io", check: "core/open-missing", breaks: rewordAll(ambit.ErrNotFound, ambit.ErrIO)},
		{name: "not-a-directory is told as not-found", check: "core/open-file-used-as-folder", breaks: rewordAll(ambit.ErrNotADirectory, ambit.ErrNotFound)},
		{name: "not-found is told as not-a-directory", check: "core/open-missing-parent", breaks: rewordAll(ambit.ErrNotFound, ambit.ErrNotADirectory)},
		{name: "outside is told as denied", check: "core/open-above-the-root", breaks: rewordAll(ambit.ErrOutside, ambit.ErrDenied)},
		{name: "outside is told as not-found", check: "core/stat-above-the-root", breaks: rewordAll(ambit.ErrOutside, ambit.ErrNotFound)},
		{name: "not-a-file is told as invalid", check: "core/open-folder", breaks: rewordAll(ambit.ErrNotAFile, ambit.ErrInvalid)},
		{name: "invalid-path is told as invalid", check: "core/open-nul-in-path", breaks: rewordAll(ambit.ErrInvalidPath, ambit.ErrInvalid)},
		{name: "invalid-path is told as not-found", check: "core/open-empty-path", breaks: rewordAll(ambit.ErrInvalidPath, ambit.ErrNotFound)},
		{name: "exists is told as changed", check: "write/write-if-absent-file", breaks: rewordAll(ambit.ErrExists, ambit.ErrChanged)},
		{name: "changed is told as exists", check: "write/write-if-version", breaks: rewordAll(ambit.ErrChanged, ambit.ErrExists)},
		{name: "changed is told as not-found where the file is gone", check: "write/write-if-version-missing", breaks: rewordAll(ambit.ErrChanged, ambit.ErrNotFound)},
		{name: "not-empty is told as exists", check: "write/remove-full-folder", breaks: rewordAll(ambit.ErrNotEmpty, ambit.ErrExists)},
		{name: "closed is told as io", check: "core/closed-file", breaks: rewordAll(ambit.ErrClosed, ambit.ErrIO)},
		{name: "canceled is told as io", check: "core/open-context-done", breaks: rewordAll(ambit.ErrCanceled, ambit.ErrIO)},
		{name: "invalid is told as unsupported", check: "write/remove-root", breaks: rewordAll(ambit.ErrInvalid, ambit.ErrUnsupported)},
		{name: "loop is told as not-found", check: "hostile/open-looping-link", on: onDisk, breaks: rewordAll(ambit.ErrLoop, ambit.ErrNotFound)},
		{name: "denied is told as not-found", check: "hostile/open-denied", breaks: rewordAll(ambit.ErrDenied, ambit.ErrNotFound)},
		{name: "too-large is told as no-space", check: "write/write-max-file-size", on: limited, breaks: rewordAll(ambit.ErrTooLarge, ambit.ErrNoSpace)},
		{name: "too-large does not tell the limit", check: "write/write-max-file-size", on: limited, breaks: facts(func(e *ambit.Error) { e.Limit = 0 })},

		{name: "an error's detail shows the path of the host", check: "core/open-missing", breaks: facts(func(e *ambit.Error) {
			e.Detail = "open /srv/data/roots/17" + e.Target + ": no such file or directory"
		})},
		{name: "an error's chain holds the path of the host", check: "core/open-missing", breaks: facts(func(e *ambit.Error) {
			e.Err = &fs.PathError{Op: "open", Path: "/srv/data/roots/17" + e.Target, Err: errors.New("no such file")}
		})},
		{name: "an error's target is the path of the host", check: "core/open-missing", on: onDisk, breaks: func(f *faulty) {
			facts(func(e *ambit.Error) {
				if e.Target != "" {
					e.Target = f.host + e.Target
				}
			})(f)
		}},
		{name: "an error's path is the canonical one", check: "core/open-missing", breaks: facts(func(e *ambit.Error) {
			if e.Target != "" {
				e.Path = e.Target
			}
		})},
		{name: "an error has no path", check: "core/open-missing", breaks: facts(func(e *ambit.Error) { e.Path = "" })},
		{name: "an error is none of the library's", check: "core/open-missing", breaks: func(f *faulty) {
			f.fail = func(_, _ string, err error) error { return errors.New(err.Error()) }
		}},
		{name: "an error is a bare reason", check: "core/open-missing", breaks: func(f *faulty) {
			f.fail = func(_, _ string, err error) error { return ambit.ReasonOf(err) }
		}},
		{name: "an error matches a sentinel that its reason does not stand for", check: "core/open-file-used-as-folder", breaks: facts(func(e *ambit.Error) {
			if e.Reason == ambit.ErrNotADirectory {
				e.Err = fs.ErrNotExist
			}
		})},
		{name: "not-found has no target", check: "core/open-missing", breaks: facts(func(e *ambit.Error) {
			if e.Reason == ambit.ErrNotFound {
				e.Target = ""
			}
		})},
		{name: "not-found tells no missing folders", check: "core/open-missing-parent", breaks: facts(func(e *ambit.Error) { e.MissingDirs = nil })},
		{name: "the missing folders come innermost first", check: "core/open-missing-parent", breaks: facts(func(e *ambit.Error) { slices.Reverse(e.MissingDirs) })},
		{name: "a missing name itself is told as a missing folder", check: "core/open-missing", breaks: facts(func(e *ambit.Error) {
			if e.Reason == ambit.ErrNotFound && !slices.Contains(e.MissingDirs, e.Target) {
				e.MissingDirs = append(e.MissingDirs, e.Target)
			}
		})},
		{name: "not-a-file does not tell the kind", check: "core/open-folder", breaks: facts(func(e *ambit.Error) { e.Kind = ambit.KindUnknown })},
		{name: "exists does not tell the kind", check: "write/write-if-absent-file", breaks: facts(func(e *ambit.Error) {
			if e.Reason == ambit.ErrExists {
				e.Kind = ambit.KindUnknown
			}
		})},
		{name: "an error names another operation", check: "core/open-missing", breaks: facts(func(e *ambit.Error) { e.Op = "syscall" })},
	}
}
