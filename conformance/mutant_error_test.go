// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

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

// pathMutants read a path in another way than the contract does.
func pathMutants() []mutant {
	// reads turns the path that a caller gave into the one that is used.
	reads := func(in func(path string) string) func(ambit.FileSystem) ambit.FileSystem {
		return func(base ambit.FileSystem) ambit.FileSystem {
			return ambit.MapPaths(base, ambit.PathMap{
				In:  func(path string) (string, error) { return in(path), nil },
				Out: func(canonical string) (string, bool) { return canonical, true },
			})
		}
	}
	// names is reads for each name of a path.
	names := func(in func(name string) string) func(ambit.FileSystem) ambit.FileSystem {
		return reads(func(path string) string {
			segments := strings.Split(path, "/")
			for i, s := range segments {
				segments[i] = in(s)
			}
			return strings.Join(segments, "/")
		})
	}
	return []mutant{
		{name: "the empty path is the root", check: "core/stat-empty-path", wraps: reads(func(path string) string {
			if path == "" {
				return "/"
			}
			return path
		})},
		{name: "a path ends at its NUL", check: "core/open-nul-in-path", wraps: reads(func(path string) string {
			path, _, _ = strings.Cut(path, "\x00")
			return path
		})},
		{name: "an over-long name is cut off", check: "core/open-over-long-name", wraps: names(func(name string) string {
			return name[:min(len(name), ambit.MaxName)]
		})},
		{name: "an over-long path is cut off", check: "core/open-over-long-path", wraps: reads(func(path string) string {
			return path[:min(len(path), ambit.MaxPath)]
		})},
		{name: "a path above the root is the root's", check: "core/open-above-the-root", wraps: reads(func(path string) string {
			if _, _, err := ambit.Resolve("/", path); ambit.ReasonOf(err) != ambit.ErrOutside {
				return path
			}
			return strings.ReplaceAll(path, "..", ".")
		})},
		{name: "a/../b requires a", check: "core/path-dots", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if before, _, ok := strings.Cut(path, "/../"); ok {
					if _, err := f.base.Stat(ctx, before); err != nil {
						return nil, ambit.Wrap(ambit.OpOpen, path, err)
					}
				}
				return f.base.Open(ctx, path)
			}
		}},
		{name: "a backslash separates", check: "core/path-ordinary-characters", wraps: reads(func(path string) string { return strings.ReplaceAll(path, `\`, "/") })},
		{name: "case is folded", check: "hostile/odd-names", wraps: reads(strings.ToLower)},
		{name: "names are trimmed", check: "core/path-ordinary-characters", wraps: names(strings.TrimSpace)},
		{name: "trailing dots are trimmed", check: "core/path-ordinary-characters", wraps: names(func(name string) string {
			if strings.Trim(name, ".") == "" {
				return name
			}
			return strings.TrimRight(name, ".")
		})},
		{name: "names are normalised", check: "hostile/look-alike-names", wraps: reads(func(path string) string {
			return strings.ReplaceAll(path, "e\u0301", "\u00e9")
		})},
		{name: "stray bytes are repaired", check: "hostile/odd-names", wraps: reads(func(path string) string {
			return strings.ToValidUTF8(path, "\ufffd")
		})},
		{name: "percent escapes are decoded", check: "core/path-ordinary-characters", wraps: reads(func(path string) string {
			return strings.ReplaceAll(strings.ReplaceAll(path, "%2e", "."), "%2f", "/")
		})},
		{name: "a query is cut off", check: "core/path-ordinary-characters", wraps: reads(func(path string) string {
			path, _, _ = strings.Cut(path, "?")
			return path
		})},
		{name: "three dots climb", check: "core/path-dotted-names", wraps: names(func(name string) string {
			if name == "..." {
				return ".."
			}
			return name
		})},
		{name: "a name with two dots in it is outside", check: "core/path-names-are-kept", breaks: func(f *faulty) {
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if strings.Contains(path, "..") {
					return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, ambit.ErrOutside)
				}
				return f.base.Write(ctx, path, content, &o)
			}
		}},
		{name: "a trailing slash is ignored by Open", check: "core/open-file-with-slash", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				return f.base.Open(ctx, withoutSlash(path))
			}
		}},
		{name: "a trailing slash is ignored by Stat", check: "core/stat-file-with-slash", breaks: func(f *faulty) {
			f.stat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				return f.base.Stat(ctx, withoutSlash(path))
			}
		}},
		{name: "a trailing slash is ignored by Write", check: "write/write-file-with-slash", breaks: func(f *faulty) {
			f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				return f.base.Write(ctx, withoutSlash(path), content, &o)
			}
		}},
		{name: "a trailing slash is ignored by Remove", check: "write/remove-file-with-slash", breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				return f.base.Remove(ctx, withoutSlash(path), &o)
			}
		}},
		{name: "a trailing slash is ignored by Append", check: "write/append-file-with-slash", breaks: func(f *faulty) {
			f.append = func(ctx context.Context, path string, content io.Reader, o ambit.AppendOptions) (ambit.WriteResult, error) {
				return f.base.Append(ctx, withoutSlash(path), content, &o)
			}
		}},
		{name: "a trailing slash is ignored by Rename", check: "write/rename-file-with-slash", breaks: func(f *faulty) {
			f.rename = func(ctx context.Context, from, to string, o ambit.RenameOptions) (ambit.FileInfo, error) {
				return f.base.Rename(ctx, withoutSlash(from), to, &o)
			}
		}},
		{name: "a/. is a file", check: "core/open-file-with-slash", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				return f.base.Open(ctx, strings.TrimSuffix(path, "/."))
			}
		}},
		{name: "a missing name with a trailing slash is not-found", check: "core/open-missing-with-slash", breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				if _, err := f.base.Open(ctx, withoutSlash(path)); ambit.ReasonOf(err) == ambit.ErrNotFound {
					return nil, ambit.Wrap(ambit.OpOpen, path, err)
				}
				return f.base.Open(ctx, path)
			}
		}},
	}
}

// withoutSlash takes the assertion of a folder off a path.
func withoutSlash(path string) string {
	if cut := strings.TrimRight(path, "/"); cut != "" {
		return cut
	}
	return path
}
