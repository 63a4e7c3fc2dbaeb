// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ambitfs/ambit"
)

// Tree is what a file system holds at the start of a check: its nodes, parents
// before children. Folders above a node are implied.
type Tree []Node

// Node is one file, folder or link.
type Node struct {
	// Path is relative to the root, slash-separated and clean. One that
	// begins with "../" lies beside the root, where nothing may reach it; such
	// a node is a file.
	Path   string
	Kind   ambit.Kind  // KindRegular, KindDirectory or KindSymlink
	Data   string      // of a file
	Mode   fs.FileMode // permission bits of a file; 0: by the storage's own rule
	Target string      // text of a link
}

// ParseTree reads a tree from its text form: a line "-- path --" starts a
// file whose lines follow; "-- path/ --" is a folder, "-- path -> text --" a
// link, and "-- path 0755 --" a file with that mode. It panics on a text that
// is none, as it is meant for constants.
func ParseTree(text string) Tree {
	var t Tree
	for line := range strings.Lines(text) {
		head, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
		if ok {
			head, ok = strings.CutSuffix(head, " --")
		}
		if !ok {
			if len(t) == 0 || t[len(t)-1].Kind != ambit.KindRegular {
				panic(fmt.Sprintf("conformance: content without a file: %q", line))
			}
			t[len(t)-1].Data += line
			continue
		}
		n := Node{Path: head, Kind: ambit.KindRegular}
		if path, target, ok := strings.Cut(head, " -> "); ok {
			n = Node{Path: path, Kind: ambit.KindSymlink, Target: target}
		} else if path, ok := strings.CutSuffix(head, "/"); ok {
			n = Node{Path: path, Kind: ambit.KindDirectory}
		} else if path, mode, ok := strings.Cut(head, " "); ok {
			bits, err := strconv.ParseUint(mode, 8, 9)
			if err != nil {
				panic(fmt.Sprintf("conformance: no mode in %q", line))
			}
			n.Path, n.Mode = path, fs.FileMode(bits)
		}
		t = append(t, n)
	}
	return t
}

// String returns the text form of t.
func (t Tree) String() string {
	var b strings.Builder
	for _, n := range t {
		switch {
		case n.Kind == ambit.KindSymlink:
			fmt.Fprintf(&b, "-- %s -> %s --\n", n.Path, n.Target)
		case n.Kind == ambit.KindDirectory:
			fmt.Fprintf(&b, "-- %s/ --\n", n.Path)
		case n.Mode != 0:
			fmt.Fprintf(&b, "-- %s %04o --\n%s", n.Path, n.Mode, n.Data)
		default:
			fmt.Fprintf(&b, "-- %s --\n%s", n.Path, n.Data)
		}
	}
	return b.String()
}

// Files returns the files and folders of t within the root, as many storages
// want them: path to content, and for a folder its path with a slash behind it
// and "". It leaves out links, modes ([Tree.SetModes]) and what lies beside the root.
func (t Tree) Files() map[string]string {
	files := make(map[string]string, len(t))
	for _, n := range t {
		switch {
		case n.Beside():
		case n.Kind == ambit.KindRegular:
			files[n.Path] = n.Data
		case n.Kind == ambit.KindDirectory:
			files[n.Path+"/"] = ""
		}
	}
	return files
}

// Beside reports that n lies beside the root.
func (n Node) Beside() bool { return strings.HasPrefix(n.Path, "../") }

// HasLinks reports that t holds a link.
func (t Tree) HasLinks() bool {
	return slices.ContainsFunc(t, func(n Node) bool { return n.Kind == ambit.KindSymlink })
}

// WithoutLinks returns t without its links.
func (t Tree) WithoutLinks() Tree {
	return slices.DeleteFunc(slices.Clone(t), func(n Node) bool { return n.Kind == ambit.KindSymlink })
}

// exceeds reports whether a file of t is larger than a MaxFileSize, 0 for none.
func (t Tree) exceeds(limit int64) bool {
	return limit > 0 && slices.ContainsFunc(t, func(n Node) bool { return int64(len(n.Data)) > limit })
}

// LayOut makes t on this disk with root as its root, a folder that exists
// already; nodes beside the root are made beside it. For targets that serve a
// folder of the disk.
func (t Tree) LayOut(root string) error {
	for _, n := range t {
		path := filepath.Join(root, filepath.FromSlash(n.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		var err error
		switch n.Kind {
		case ambit.KindDirectory:
			err = os.MkdirAll(path, 0o777)
		case ambit.KindSymlink:
			err = os.Symlink(n.Target, path)
		default:
			err = os.WriteFile(path, []byte(n.Data), 0o666)
			if err == nil && n.Mode != 0 {
				err = os.Chmod(path, n.Mode)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
