// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"strings"

	"github.com/ambitfs/ambit"
)

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
		{name: "relative paths of Open start at the root", check: "core/relative-paths", on: inFolder, breaks: func(f *faulty) {
			f.open = func(ctx context.Context, path string) (ambit.File, error) {
				file, err := f.base.Open(ctx, fromRoot(path))
				return file, ambit.Wrap(ambit.OpOpen, path, err)
			}
		}},
		{name: "relative paths of Write start at the root", check: "write/relative-paths", on: inFolder, breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base(ctx, fromRoot(path), content, o)
				return r, ambit.Wrap(ambit.OpWrite, path, err)
			}
		})},
		{name: "a relative Remove is made at the root", check: "write/relative-paths", on: inFolder, breaks: func(f *faulty) {
			f.remove = func(ctx context.Context, path string, o ambit.RemoveOptions) error {
				o.MissingOK = true
				return ambit.Wrap(ambit.OpRemove, path, f.base.Remove(ctx, fromRoot(path), &o))
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

// fromRoot makes a relative path absolute, as if it started at the root.
func fromRoot(path string) string {
	if path == "" || path[0] == '/' {
		return path
	}
	return "/" + path
}

// withoutSlash takes the assertion of a folder off a path.
func withoutSlash(path string) string {
	if cut := strings.TrimRight(path, "/"); cut != "" {
		return cut
	}
	return path
}
