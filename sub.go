// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import "context"

// Sub returns the folder dir of fsys as a file system of its own, with dir as
// its "/". Nothing above dir can be reached through it, by ".." or by a link.
//
// It asks fsys itself where [Capabilities].Sub is claimed. Elsewhere it puts
// the prefix in front of every path, which keeps the promise only where no
// link is followed: where links are followed, or nothing is known of them, it
// is [ErrUnsupported]. That Sub follows the name: while nothing has it, every
// call is [ErrNotFound], and none brings it back, but for the window that
// [MapPaths] tells of.
func Sub(ctx context.Context, fsys FileSystem, dir string) (FileSystem, error) {
	caps := fsys.Capabilities()
	if s, ok := fsys.(Subber); ok && caps.Sub {
		return s.Sub(ctx, dir)
	}
	if caps.Links != LinksNone && caps.Links != LinksRefused {
		return nil, &Error{
			Op: OpSub, Path: dir, Reason: ErrUnsupported,
			Detail: "a prefix in front of a path does not confine where links are followed",
		}
	}
	root, err := folder(ctx, fsys, OpSub, dir)
	if err != nil {
		return nil, err
	}
	return MapPaths(fsys, prefixMap(root)), nil
}

// Chdir returns fsys with dir as the working directory: relative paths start
// there. dir is resolved once, through links; it must be a folder.
func Chdir(ctx context.Context, fsys FileSystem, dir string) (FileSystem, error) {
	cwd, err := folder(ctx, fsys, "chdir", dir)
	if err != nil {
		return nil, err
	}
	return MapPaths(fsys, PathMap{
		In:  func(path string) (string, error) { return absolute(cwd, path) },
		Out: func(canonical string) (string, bool) { return canonical, true },
	}), nil
}

// folder returns the canonical path of the folder at dir.
func folder(ctx context.Context, fsys FileSystem, op, dir string) (string, error) {
	info, err := fsys.Stat(ctx, dir)
	if err != nil {
		return "", Wrap(op, dir, err)
	}
	if !info.IsDir() {
		return "", &Error{Op: op, Path: dir, Reason: ErrNotADirectory, Kind: info.Kind, Target: info.Path}
	}
	return info.Path, nil
}

// prefixMap shows what lies beneath root as if root were "/".
func prefixMap(root string) PathMap {
	return PathMap{
		In: func(path string) (string, error) {
			inner, err := absolute("/", path)
			if err != nil || root == "/" {
				return inner, err
			}
			return root + inner, nil
		},
		Out: func(canonical string) (string, bool) {
			switch {
			case !Contains(root, canonical):
				return "", false
			case root == "/":
				return canonical, true
			case len(canonical) == len(root):
				return "/", true
			}
			return canonical[len(root):], true
		},
	}
}

// absolute resolves path by text and keeps what it asserts: a folder.
func absolute(cwd, path string) (string, error) {
	clean, dir, err := Resolve(cwd, path)
	if err == nil && dir && clean != "/" {
		clean += "/"
	}
	return clean, err
}
