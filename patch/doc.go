// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package patch applies patches to several files at once, all or none.
//
// [Parse] reads a patch in one of two formats; the text tells which.
//
// # Begin Patch
//
//	*** Begin Patch
//	*** Add File: docs/new.txt
//	+every line of a new file
//	*** Delete File: docs/old.txt
//	*** Update File: src/shape.py
//	*** Move to: src/shapes.py
//	@@ class Circle:
//	@@     def area():
//	         r = self.r
//	-        return r
//	+        return r * r * pi
//	*** End Patch
//
// A hunk begins with "@@", alone or with a space and a line that comes before it
// in the file, an anchor. Several such lines in a row are the anchors of one
// hunk, and narrow its place step by step. The first hunk of a file may lack its
// "@@". The lines of a hunk begin with a space (context, in the file before and
// after), "-" (removed) or "+" (added), and are content whatever stands behind
// the sign; at least one is removed or added. "*** End of File" behind them says
// that they are the last ones of the file.
//
// An empty line in a hunk is an empty line of context, also before "*** End of
// File". Only empty lines right before "@@", another section or "*** End Patch"
// separate, and are no lines of the file. A new file has no other lines than
// such with "+", and none at all if it is empty. A file that is updated has a
// hunk, or a new name, or both.
//
// The patch is the whole text. Around it may stand nothing but empty lines, a
// code fence (``` or ~~~), and within that a here-document of the shell
// ("apply_patch <<'EOF'" and "EOF"), whose text is taken as it is.
//
// # Unified diff
//
// These are the diffs of git, and those of program diff (-u, -r, -N). Other text
// may stand before, between and behind them, a commit message or a code fence:
// it is not looked at, except that nothing that looks like more lines of a hunk
// may stand behind the hunk. Each hunk has exactly the lines that its "@@" line
// counts. A line that begins with a backslash and a space says that the one
// before it has no newline.
//
// Which file is meant is never guessed. Of git's names the prefixes are taken
// off ("a/" and "b/", those of diff.mnemonicPrefix, in either order) if both
// names carry them and are the same without; names that are the same as they are
// stand as they are. In lines that program diff writes the names may also differ
// by the end that a copy beside the file has ("~", ".orig", ".old", ".bak",
// ".new"). A name beside "/dev/null" loses a prefix ("b/" of a new file, "a/" of a
// deleted one), but where another name of the text has none it is refused, as
// all others are. Names in quotes are bytes, not UTF-8 alone.
//
// A file that program diff -N compares to a missing one is new or deleted. Of
// modes only 100644 and 100755 are known. Binary files, symbolic links,
// submodules and the combined diffs of merges are refused.
//
// # Line ends
//
// Where the format's own lines end in CR LF (those that name a file, or "***
// Begin Patch") one CR is taken off every line. Else a CR belongs to the content,
// as in a diff of a file with such line ends.
package patch
