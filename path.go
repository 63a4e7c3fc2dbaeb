// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"fmt"
	"strings"
)

// The longest name and the longest path in bytes that [Resolve] lets through:
// NAME_MAX, and PATH_MAX without its final NUL, as on Linux. A file system
// may refuse shorter ones.
const (
	MaxName = 255
	MaxPath = 4095
)

// Resolve turns a path as a caller wrote it into a clean absolute machine
// path, by text alone: no file system is asked. cwd is the working directory,
// clean and absolute ("" means "/"); an absolute path ignores it. Empty
// segments and "." vanish, ".." takes the segment before it away. dir reports
// that the text asserts a folder: it ends in "/", "/." or "/..", or is "." or
// "..".
//
// The error is an [*Error]: [ErrInvalidPath] for an empty path, one that holds
// a NUL byte or a name over [MaxName] bytes, and one that is over [MaxPath]
// bytes as written or as resolved; else [ErrOutside] for one that climbs above
// "/". Every other byte is an ordinary character, the backslash, "~" and "%"
// included, valid UTF-8 or not.
func Resolve(cwd, path string) (clean string, dir bool, err error) {
	if isClean(path) {
		return path, path == "/", nil
	}
	if path == "" {
		return "", false, pathError(path, ErrInvalidPath, "the path is empty")
	}
	if len(path) > MaxPath {
		return "", false, pathTooLong(path)
	}
	if strings.IndexByte(path, 0) >= 0 {
		return "", false, pathError(path, ErrInvalidPath, "the path holds a NUL byte")
	}
	var buf []byte
	if path[0] != '/' && cwd != "" && cwd != "/" {
		buf = append(make([]byte, 0, len(cwd)+1+len(path)), cwd...)
	} else {
		buf = make([]byte, 0, 1+len(path))
	}
	climbs := false
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
		case "..":
			if len(buf) == 0 {
				climbs = true // a name that is too long, further on, comes first
				continue
			}
			buf = buf[:lastSlash(buf)]
		default:
			if len(name) > MaxName {
				return "", false, pathError(path, ErrInvalidPath, fmt.Sprintf("a name is longer than %d bytes", MaxName))
			}
			buf = append(append(buf, '/'), name...)
		}
	}
	if climbs {
		return "", false, pathError(path, ErrOutside, "the path climbs above the root")
	}
	if len(buf) > MaxPath {
		return "", false, pathTooLong(path)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	dir = last == "" || last == "." || last == ".."
	if len(buf) == 0 {
		return "/", dir, nil
	}
	return string(buf), dir, nil
}

// isClean reports that Resolve has nothing to do, so that the common case
// costs no allocation.
func isClean(path string) bool {
	if len(path) == 0 || path[0] != '/' || len(path) > MaxPath {
		return false
	}
	if len(path) == 1 {
		return true
	}
	start := 1
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			if path[i] == 0 {
				return false
			}
			continue
		}
		name := path[start:i]
		if name == "" || name == "." || name == ".." || len(name) > MaxName {
			return false
		}
		start = i + 1
	}
	return true
}

func lastSlash(b []byte) int {
	i := len(b) - 1
	for i > 0 && b[i] != '/' {
		i--
	}
	return i
}

// textFault returns the fault that the text of path has wherever relative paths
// start: for a file system that does not know where that is.
func textFault(path string) error {
	_, _, err := Resolve("/", path)
	if ReasonOf(err) == ErrOutside && path[0] != '/' {
		return nil
	}
	return err
}

func pathTooLong(path string) error {
	return pathError(path, ErrInvalidPath, fmt.Sprintf("the path is longer than %d bytes", MaxPath))
}

func pathError(path string, r Reason, detail string) error {
	return &Error{Op: opResolve, Path: path, Reason: r, Detail: detail}
}

// Contains reports whether path is dir or lies beneath it. Both are clean
// absolute machine paths, and whole segments are compared: "/a" contains
// "/a/b" and never "/ab".
func Contains(dir, path string) bool {
	if dir == "/" {
		return strings.HasPrefix(path, "/")
	}
	return strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// Join returns the path of the entry name in the folder dir. dir is a clean
// absolute machine path, name one name.
func Join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// Dir returns the folder that the clean absolute machine path lies in, "/" for
// "/" itself.
func Dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// Base returns the last name of the clean absolute machine path, "/" for "/"
// itself.
func Base(path string) string {
	if path == "/" {
		return path
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}
